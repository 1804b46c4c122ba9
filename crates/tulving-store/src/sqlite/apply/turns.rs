//! Writes turns of conversations, and the stored orders of listings.

use rusqlite::{OptionalExtension, params};
use tulving_core::model::change::FrozenOrder;
use tulving_core::model::id::{MemoryId, SpaceId};
use tulving_core::model::turn::Turn;

use super::super::failure::SqliteError;
use super::super::rows::{ColumnReader, signed};
use super::{ChangeSetWriter, impossible};

/// Maximum number of stored orders for one principal. If there would be more, a new order replaces the order that
/// expires first.
const LISTINGS_KEPT: i64 = 16;

impl ChangeSetWriter<'_> {
    pub(super) fn log_turn(&mut self, turn: &Turn) -> Result<(), SqliteError> {
        let position = self.next_position(turn.space)?;
        self.insert_turn(turn, position)?;
        self.applied.positions.push(position);
        Ok(())
    }

    /// Takes the position for the next turn of the space. A position is never used twice.
    pub(super) fn next_position(&mut self, space: SpaceId) -> Result<u64, SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "UPDATE spaces SET next_turn = next_turn + 1 WHERE id = ?1 RETURNING next_turn - 1",
        )?;
        let position =
            statement.query_row([space.as_bytes()], |row| ColumnReader::of(row).count()).optional()?;
        position.ok_or_else(|| impossible(format!("there is no space {space}")))
    }

    pub(super) fn insert_turn(&mut self, turn: &Turn, position: u64) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO turns (id, space, logged_by, channel, position, role, speaker, source, at, content) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        statement.execute(params![
            turn.id.as_bytes(),
            turn.space.as_bytes(),
            turn.logged_by.as_bytes(),
            turn.channel,
            signed(position),
            turn.role.as_str(),
            turn.speaker,
            turn.source,
            turn.at.as_micros(),
            turn.content,
        ])?;
        Ok(())
    }

    pub(super) fn prune_turns(&mut self, space: SpaceId, keep: u64) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "DELETE FROM turns WHERE space = ?1 AND position <= \
             (SELECT position FROM turns WHERE space = ?1 ORDER BY position DESC LIMIT 1 OFFSET ?2)",
        )?;
        statement.execute(params![space.as_bytes(), signed(keep)])?;
        Ok(())
    }

    pub(super) fn freeze_listing(&mut self, listing: &FrozenOrder) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached("DELETE FROM listings WHERE expires_at <= ?1")?
            .execute([self.now().as_micros()])?;
        self.transaction
            .prepare_cached(
                "DELETE FROM listings WHERE principal = ?1 AND id NOT IN (SELECT id FROM listings \
                 WHERE principal = ?1 ORDER BY expires_at DESC, id DESC LIMIT ?2)",
            )?
            .execute(params![listing.principal.as_bytes(), LISTINGS_KEPT - 1])?;
        let ids: Vec<u8> = listing.ids.iter().flat_map(MemoryId::as_bytes).copied().collect();
        self.transaction
            .prepare_cached("INSERT INTO listings (id, principal, expires_at, ids) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                listing.id.as_bytes(),
                listing.principal.as_bytes(),
                listing.expires_at.as_micros(),
                ids
            ])?;
        Ok(())
    }
}
