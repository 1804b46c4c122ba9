//! Writes claims, which ensure that a request is done only once. All claims in a set belong to its actor.

use rusqlite::{Connection, OptionalExtension, params};
use tulving_core::model::error::Conflict;
use tulving_core::model::time::Timestamp;

use super::super::failure::SqliteError;
use super::super::rows::{self, ColumnReader};
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn claim(
        &mut self,
        key: &str,
        fingerprint: [u8; 32],
        from: Option<Timestamp>,
    ) -> Result<(), SqliteError> {
        let (principal, now) = (self.changes.by.principal, self.now());
        let found = self
            .transaction
            .prepare_cached("SELECT at FROM claims WHERE principal = ?1 AND key = ?2")?
            .query_row(params![principal.as_bytes(), key], |row| ColumnReader::of(row).time())
            .optional()?;
        if found != from {
            return Err(Conflict::Claimed.into());
        }
        self.transaction
            .prepare_cached(
                "INSERT INTO claims (principal, key, fingerprint, at, kept) VALUES (?1, ?2, ?3, ?4, 1) \
                 ON CONFLICT (principal, key) DO UPDATE SET fingerprint = excluded.fingerprint, at = excluded.at, \
                 kept = 1, answer = NULL",
            )?
            .execute(params![principal.as_bytes(), key, fingerprint, now.as_micros()])?;
        Ok(())
    }

    pub(super) fn answer(&mut self, key: &str, begun: Timestamp, answer: &str) -> Result<(), SqliteError> {
        let (principal, now) = (self.changes.by.principal, self.now());
        self.transaction
            .prepare_cached(
                "UPDATE claims SET answer = iif(kept, ?4, ''), at = ?5 \
                 WHERE principal = ?1 AND key = ?2 AND at = ?3 AND answer IS NULL",
            )?
            .execute(params![principal.as_bytes(), key, begun.as_micros(), answer, now.as_micros()])?;
        Ok(())
    }

    pub(super) fn drop_claim(&mut self, key: &str, begun: Timestamp) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached(
                "DELETE FROM claims WHERE principal = ?1 AND key = ?2 AND at = ?3 AND answer IS NULL",
            )?
            .execute(params![self.changes.by.principal.as_bytes(), key, begun.as_micros()])?;
        Ok(())
    }

    pub(super) fn bound_claims(&mut self, keep: usize) -> Result<(), SqliteError> {
        let principal = self.changes.by.principal;
        // This count reads only the index, and there are nearly always fewer claims than the limit.
        let known: u64 = self
            .transaction
            .prepare_cached("SELECT count(*) FROM claims WHERE principal = ?1")?
            .query_row([principal.as_bytes()], |row| ColumnReader::of(row).count())?;
        if known <= keep as u64 {
            return Ok(());
        }
        // SQLite reads the length in bytes from the head of the row, so no answer is read.
        self.transaction
            .prepare_cached(
                "DELETE FROM claims WHERE row IN (SELECT row FROM claims WHERE principal = ?1 \
                 ORDER BY octet_length(answer) IS NOT NULL, at DESC LIMIT -1 OFFSET ?2)",
            )?
            .execute(params![principal.as_bytes(), rows::limit(keep)])?;
        Ok(())
    }

    pub(super) fn bound_answers(&mut self, keep: usize) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached(
                "UPDATE claims SET answer = '' WHERE row IN (SELECT row FROM (\
                   SELECT row, octet_length(answer) AS own, \
                   sum(octet_length(answer)) OVER (ORDER BY at DESC, row DESC) AS total \
                   FROM claims WHERE principal = ?1) \
                 WHERE own > 0 AND total > ?2)",
            )?
            .execute(params![self.changes.by.principal.as_bytes(), rows::limit(keep)])?;
        Ok(())
    }

    pub(super) fn prune_claims(&mut self, before: Timestamp, most: usize) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached(
                "DELETE FROM claims WHERE row IN (SELECT row FROM claims WHERE at < ?1 ORDER BY at LIMIT ?2)",
            )?
            .execute(params![before.as_micros(), rows::limit(most)])?;
        Ok(())
    }
}

/// Clears the answers that may contain text erased in this transaction, including answers that are not written yet.
pub(super) fn forget_answers(transaction: &Connection) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("UPDATE claims SET kept = 0, answer = iif(answer IS NULL, NULL, '') WHERE kept = 1")?
        .execute([])
        .map(drop)
}
