//! Writes records of passes.

use rusqlite::params;
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{PassId, PrincipalId};
use tulving_core::model::pass::{KEPT_DAYS, Pass};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::PassOutcome;

use super::super::failure::SqliteError;
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn note_pass(&mut self, from: Option<PassOutcome>, to: &Pass) -> Result<(), SqliteError> {
        let acts = serde_json::to_string(&to.acts)?;
        let private_to = to.private_to.as_ref().map(PrincipalId::as_bytes);
        let ended_at = to.ended_at.map(Timestamp::as_micros);
        let written = match from {
            None => self
                .transaction
                .prepare_cached(
                    "INSERT INTO passes (id, kind, space, by, private_to, began_at, ended_at, outcome, model, note, acts) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO NOTHING",
                )?
                .execute(params![
                    to.id.as_bytes(),
                    to.kind.as_str(),
                    to.space.as_bytes(),
                    to.by.as_bytes(),
                    private_to,
                    to.began_at.as_micros(),
                    ended_at,
                    to.outcome.as_str(),
                    to.model,
                    to.note,
                    acts,
                ])?,
            Some(from) => self
                .transaction
                .prepare_cached(
                    "UPDATE passes SET private_to = ?2, ended_at = ?3, outcome = ?4, model = ?5, note = ?6, acts = ?7 \
                     WHERE id = ?1 AND outcome = ?8",
                )?
                .execute(params![
                    to.id.as_bytes(),
                    private_to,
                    ended_at,
                    to.outcome.as_str(),
                    to.model,
                    to.note,
                    acts,
                    from.as_str(),
                ])?,
        };
        match (written, from) {
            (1, None) => self.drop_passes(to),
            (1, Some(_)) => Ok(()),
            _ => Err(Conflict::PassMoved.into()),
        }
    }

    /// Deletes the passes of a space that are too old, whenever a new pass is written. Ids begin with the creation
    /// time, so recent passes are not read.
    fn drop_passes(&mut self, new: &Pass) -> Result<(), SqliteError> {
        let before = new.began_at.plus_millis(-KEPT_DAYS * 86_400_000);
        self.transaction
            .prepare_cached("DELETE FROM passes WHERE space = ?1 AND id < ?2 AND began_at < ?3")?
            .execute(params![new.space.as_bytes(), PassId::mint(before).as_bytes(), before.as_micros(),])?;
        Ok(())
    }
}
