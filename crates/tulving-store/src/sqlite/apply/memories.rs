//! Saves, revises, moves, erases and touches memories, and records these changes in the change log.
//!
//! [`row`](super::row) writes their rows.

use std::collections::hash_map::Entry;

use rusqlite::{OptionalExtension, params};
use tulving_core::model::association::Association;
use tulving_core::model::change::{ConfirmedOrigin, NewMemory, RecallCount, Revision};
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{MemoryId, MemoryNumber, SpaceId, Version};
use tulving_core::model::memory::{Memory, Status, VersionRecord};
use tulving_core::model::record::CurrentVersion;
use tulving_core::model::vocabulary::{ChangeKind, State, VersionAct};

use super::super::failure::SqliteError;
use super::super::feed::is_live;
use super::super::rows::{self, CURRENT, ColumnReader, FIELDS, LARGEST, bounded, micros, signed};
use super::row::MemoryRowUpdate;
use super::{ChangeLogScope, ChangeSetWriter, impossible};

/// A memory before its change.
pub(super) struct PreviousMemoryRow {
    pub(super) row: i64,
    pub(super) at: ChangeLogScope,
    status: Status,
    mirror: bool,
    pub(super) version: VersionRecord,
}

impl ChangeSetWriter<'_> {
    pub(super) fn insert(&mut self, new: &NewMemory) -> Result<(), SqliteError> {
        let memory = &new.memory;
        let number = match memory.provenance.mirror {
            Some(_) => None,
            None => Some(self.next_number(memory.space)?),
        };
        let written = CurrentVersion {
            act: VersionAct::Created,
            by: self.changes.by.principal,
            agent: self.changes.by.agent.clone(),
        };
        let row = self.insert_row(memory, number, &written, 0)?;
        self.insert_chunks(row, &new.chunks)?;
        self.settle_new(row, &memory.status, &new.chunks)?;
        if new.chunks.iter().any(|chunk| chunk.embedding.is_none()) {
            self.transaction.prepare_cached("INSERT INTO unlinked (memory) VALUES (?1)")?.execute([row])?;
        }
        self.applied.numbers.push(number);
        self.log(ChangeKind::Saved, memory.id, whereabouts(memory))
    }

    /// Takes the number for the next memory of the space. A number is never used twice.
    pub(super) fn next_number(&mut self, space: SpaceId) -> Result<MemoryNumber, SqliteError> {
        let next = self.number_counter(space)?;
        *next += 1;
        Ok(MemoryNumber(*next - 1))
    }

    /// The counter of a space's numbers, cached for this change set.
    pub(super) fn number_counter(&mut self, space: SpaceId) -> Result<&mut u64, SqliteError> {
        match self.next_numbers.entry(space) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let mut statement =
                    self.transaction.prepare_cached("SELECT next_number FROM spaces WHERE id = ?1")?;
                let next = statement
                    .query_row([space.as_bytes()], |row| ColumnReader::of(row).count())
                    .optional()?;
                Ok(unknown.insert(next.ok_or_else(|| impossible(format!("there is no space {space}")))?))
            }
        }
    }

    /// Writes the cached counters to the database.
    pub(super) fn keep_next_numbers(&mut self) -> Result<(), SqliteError> {
        for (space, next) in &self.next_numbers {
            self.transaction
                .prepare_cached("UPDATE spaces SET next_number = ?2 WHERE id = ?1")?
                .execute(params![space.as_bytes(), signed(*next)])?;
        }
        Ok(())
    }

    pub(super) fn revise(&mut self, revision: &Revision) -> Result<(), SqliteError> {
        let id = revision.id;
        let before = self.expected(id, revision.from, &revision.stood)?;
        if !before.mirror {
            self.insert_version(before.row, &before.version)?;
        }
        self.update_row(MemoryRowUpdate {
            row: before.row,
            fields: &revision.fields,
            status: &revision.status,
            version: revision.from.next(),
            act: revision.act,
            by: self.changes.by.principal,
            agent: self.changes.by.agent.as_deref(),
            at: self.changes.at,
        })?;
        if let Some(attachment) = &revision.attachment {
            self.attach(before.row, attachment.as_ref())?;
        }
        if let Some(ConfirmedOrigin { author, trust }) = revision.confirmed {
            self.transaction
                .prepare_cached("UPDATE memories SET author = ?2, trust = ?3 WHERE row = ?1")?
                .execute(params![before.row, author.as_str(), trust.as_str()])?;
        }
        if let Some(chunks) = &revision.chunks {
            self.replace_chunks(before.row, chunks)?;
        }
        if revision.chunks.is_some() || is_live(&revision.stood) != is_live(&revision.status) {
            self.settle(before.row)?;
        }
        let at = ChangeLogScope { boundary: revision.fields.boundary, ..before.at };
        if at.boundary != before.at.boundary {
            self.refuse_taken_paths(before.row)?;
        }
        if at.boundary < before.at.boundary {
            self.log(ChangeKind::Erased, id, before.at)?;
        }
        self.log(ChangeKind::Revised, id, at)
    }

    /// The memory, if its version and status are still those for which the write was decided.
    fn expected(
        &self,
        id: MemoryId,
        from: Version,
        stood: &Status,
    ) -> Result<PreviousMemoryRow, SqliteError> {
        let before = self
            .before(id)?
            .filter(|before| before.status.forgotten_at.is_none())
            .ok_or(Conflict::Gone { id })?;
        Self::unmoved(before, id, from, stood)
    }

    /// Does the same as [`expected`](Self::expected), and also returns forgotten memories.
    pub(super) fn kept(
        &self,
        id: MemoryId,
        from: Version,
        stood: &Status,
    ) -> Result<PreviousMemoryRow, SqliteError> {
        let before = self.before(id)?.ok_or(Conflict::Gone { id })?;
        Self::unmoved(before, id, from, stood)
    }

    fn unmoved(
        before: PreviousMemoryRow,
        id: MemoryId,
        from: Version,
        stood: &Status,
    ) -> Result<PreviousMemoryRow, SqliteError> {
        let found = before.version.version;
        if found != from {
            return Err(Conflict::Stale { id, expected: from, found }.into());
        }
        if before.status != *stood {
            return Err(Conflict::Moved { id }.into());
        }
        Ok(before)
    }

    fn before(&self, id: MemoryId) -> Result<Option<PreviousMemoryRow>, SqliteError> {
        let mut statement = self.transaction.prepare_cached(&format!(
            "SELECT m.row, m.space, m.owner, m.boundary, m.state, m.forgotten_at, m.quarantined_at, m.pinned, \
             m.ruled_at, m.done_at, m.mirror_line IS NOT NULL, m.version, m.updated_at, {CURRENT}, {FIELDS} FROM memories m WHERE m.id = ?1"
        ))?;
        let before = statement.query_row([id.as_bytes()], |row| {
            let mut columns = ColumnReader::of(row);
            let (row, at) = (columns.take()?, ChangeLogScope::read(&mut columns)?);
            let (status, mirror) = (rows::status(&mut columns)?, columns.take()?);
            let version = rows::current_version(&mut columns)?;
            Ok(PreviousMemoryRow { row, at, status, mirror, version })
        });
        Ok(before.optional()?)
    }

    /// Changes the status of a memory.
    pub(super) fn shift(&mut self, id: MemoryId, from: &Status, to: &Status) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "UPDATE memories SET state = ?2, forgotten_at = ?3, quarantined_at = ?4, pinned = ?5, ruled_at = ?6, \
             done_at = ?12 WHERE id = ?1 AND state = ?7 AND forgotten_at IS ?8 AND quarantined_at IS ?9 \
             AND pinned = ?10 AND ruled_at IS ?11 AND done_at IS ?13 RETURNING row, space, owner, boundary",
        )?;
        let values = params![
            id.as_bytes(),
            to.state.as_str(),
            micros(to.forgotten_at),
            micros(to.quarantined_at),
            to.pinned,
            micros(to.ruled_at),
            from.state.as_str(),
            micros(from.forgotten_at),
            micros(from.quarantined_at),
            from.pinned,
            micros(from.ruled_at),
            micros(to.done_at),
            micros(from.done_at),
        ];
        let moved = statement.query_row(values, located).optional()?;
        drop(statement);
        let Some((row, at)) = moved else {
            let there = self.locate(id)?.is_some();
            return Err(if there { Conflict::Moved { id } } else { Conflict::Gone { id } }.into());
        };
        if is_live(from) != is_live(to) {
            self.settle(row)?;
        }
        if from.forgotten_at.is_some() && to.forgotten_at.is_none() {
            self.refuse_taken_paths(row)?;
        }
        self.log(ChangeKind::Moved, id, at)
    }

    /// Moves a memory from one space to another.
    pub(super) fn relocate(
        &mut self,
        id: MemoryId,
        (space, version): (SpaceId, Version),
        to: SpaceId,
    ) -> Result<(), SqliteError> {
        let found = self
            .transaction
            .prepare_cached(
                "SELECT row, space, owner, boundary, version, number IS NOT NULL FROM memories \
                 WHERE id = ?1 AND forgotten_at IS NULL",
            )?
            .query_row([id.as_bytes()], |row| {
                let mut columns = ColumnReader::of(row);
                let (row, at): (i64, _) = (columns.take()?, ChangeLogScope::read(&mut columns)?);
                Ok((row, at, Version(columns.take()?), columns.take::<bool>()?))
            })
            .optional()?;
        let (row, at, found, numbered) = found.ok_or(Conflict::Gone { id })?;
        if at.space != space {
            return Err(Conflict::Moved { id }.into());
        }
        if found != version {
            return Err(Conflict::Stale { id, expected: version, found }.into());
        }
        let number = if numbered { Some(self.next_number(to)?) } else { None };
        self.transaction
            .prepare_cached("UPDATE memories SET space = ?2, number = ?3 WHERE row = ?1")?
            .execute(params![row, to.as_bytes(), number.map(|number| signed(number.0))])?;
        self.refuse_taken_paths(row)?;
        self.applied.numbers.push(number);
        self.log(ChangeKind::Erased, id, at)?;
        self.log(ChangeKind::Saved, id, ChangeLogScope { space: to, ..at })
    }

    pub(super) fn erase(&mut self, id: MemoryId, from: Option<Version>) -> Result<(), SqliteError> {
        let (row, at) = self.locate(id)?.ok_or(Conflict::Gone { id })?;
        if let Some(expected) = from {
            let found = self.version(row)?;
            if found != expected {
                return Err(Conflict::Stale { id, expected, found }.into());
            }
        }
        let mut statement = self
            .transaction
            .prepare_cached("DELETE FROM memories WHERE row = ?1 RETURNING mirror_line IS NOT NULL")?;
        match statement.query_row([row], |row| row.get(0))? {
            true => self.erased.mirrors += 1,
            false => self.erased.records = true,
        }
        drop(statement);
        self.log(ChangeKind::Erased, id, at)
    }

    /// Replaces a memory with another, which takes over its associations.
    pub(super) fn replace(
        &mut self,
        id: MemoryId,
        from: Version,
        new: &NewMemory,
    ) -> Result<(), SqliteError> {
        let associations = self.associations_at(id)?;
        self.erase(id, Some(from))?;
        self.insert(new)?;
        let end = |at: MemoryId| if at == id { new.memory.id } else { at };
        for edge in associations {
            self.link(&Association { source: end(edge.source), target: end(edge.target), ..edge })?;
        }
        Ok(())
    }

    pub(super) fn touch(&mut self, touch: &RecallCount) -> Result<(), SqliteError> {
        let found = self
            .transaction
            .prepare_cached(
                "SELECT row, space, owner, boundary, state = 'cooling' AND forgotten_at IS NULL \
                 FROM memories WHERE id = ?1",
            )?
            .query_row([touch.id.as_bytes()], |row| {
                let mut columns = ColumnReader::of(row);
                let (row, at): (i64, _) = (columns.take()?, ChangeLogScope::read(&mut columns)?);
                Ok((row, at, columns.take::<bool>()?))
            })
            .optional()?;
        let Some((row, at, cooling)) = found else {
            return Ok(());
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO usage (memory, accessed_at, access_count) \
                 SELECT row, max(created_at, ?2), ?3 FROM memories WHERE row = ?1 \
                 ON CONFLICT (memory) DO UPDATE SET accessed_at = max(accessed_at, excluded.accessed_at), \
                 access_count = min(min(access_count, ?4) + excluded.access_count, ?4)",
            )?
            .execute(params![row, touch.at.as_micros(), bounded(touch.count), signed(LARGEST)])?;
        if !cooling {
            return Ok(());
        }
        self.transaction
            .prepare_cached("UPDATE memories SET state = ?2, ruled_at = NULL WHERE row = ?1")?
            .execute(params![row, State::Active.as_str()])?;
        self.log(ChangeKind::Moved, touch.id, at)
    }

    pub(super) fn version(&self, row: i64) -> Result<Version, SqliteError> {
        let mut statement = self.transaction.prepare_cached("SELECT version FROM memories WHERE row = ?1")?;
        Ok(Version(statement.query_row([row], |row| row.get(0))?))
    }

    /// The row of a memory and its values for the change log.
    pub(super) fn locate(&self, id: MemoryId) -> Result<Option<(i64, ChangeLogScope)>, SqliteError> {
        let mut statement = self
            .transaction
            .prepare_cached("SELECT row, space, owner, boundary FROM memories WHERE id = ?1")?;
        Ok(statement.query_row([id.as_bytes()], located).optional()?)
    }
}

/// Reads `row, space, owner, boundary` of a memory.
pub(super) fn located(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, ChangeLogScope)> {
    let mut columns = ColumnReader::of(row);
    Ok((columns.take()?, ChangeLogScope::read(&mut columns)?))
}

/// The values of a memory for the change log.
pub(super) fn whereabouts(memory: &Memory) -> ChangeLogScope {
    ChangeLogScope { space: memory.space, owner: memory.owner, boundary: memory.fields.boundary }
}
