//! Writes associations between memories.

use rusqlite::params;
use tulving_core::model::association::Association;
use tulving_core::model::error::Conflict;
use tulving_core::model::id::MemoryId;
use tulving_core::model::vocabulary::{ChangeKind, Relation};

use super::super::failure::SqliteError;
use super::super::rows::{self, ASSOCIATION, ColumnReader};
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn link(&mut self, association: &Association) -> Result<(), SqliteError> {
        let Association { source, target, .. } = *association;
        let (source_row, at) = self.locate(source)?.ok_or(Conflict::Gone { id: source })?;
        let (target_row, _) = self.locate(target)?.ok_or(Conflict::Gone { id: target })?;
        self.insert_association(source_row, target_row, association)?;
        self.log(ChangeKind::Linked, source, at)
    }

    /// Writes an association, or updates the weight and origin of an existing one.
    pub(super) fn insert_association(
        &mut self,
        source: i64,
        target: i64,
        association: &Association,
    ) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO associations (source, target, relation, weight, linked_by, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (source, target, relation) \
             DO UPDATE SET weight = excluded.weight, linked_by = excluded.linked_by \
             WHERE excluded.linked_by = 'caller' OR associations.linked_by = 'auto'",
        )?;
        statement.execute(params![
            source,
            target,
            association.relation.as_str(),
            association.weight.get(),
            association.linked_by.as_str(),
            association.created_at.as_micros(),
        ])?;
        Ok(())
    }

    /// All associations that begin or end at a memory, visible or not.
    pub(super) fn associations_at(&self, id: MemoryId) -> Result<Vec<Association>, SqliteError> {
        let Some((row, _)) = self.locate(id)? else { return Ok(Vec::new()) };
        let mut statement = self.transaction.prepare_cached(&format!(
            "SELECT {ASSOCIATION} FROM associations a \
             JOIN memories s ON s.row = a.source JOIN memories t ON t.row = a.target \
             WHERE a.source = ?1 OR a.target = ?1 ORDER BY a.row",
        ))?;
        let found = statement.query_map([row], |row| rows::association(&mut ColumnReader::of(row)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    pub(super) fn unlink(
        &mut self,
        source: MemoryId,
        target: MemoryId,
        relation: Relation,
    ) -> Result<(), SqliteError> {
        let (Some((source_row, at)), Some((target_row, _))) = (self.locate(source)?, self.locate(target)?)
        else {
            return Ok(());
        };
        let removed = self
            .transaction
            .prepare_cached("DELETE FROM associations WHERE source = ?1 AND target = ?2 AND relation = ?3")?
            .execute(params![source_row, target_row, relation.as_str()])?;
        if removed > 0 { self.log(ChangeKind::Unlinked, source, at) } else { Ok(()) }
    }
}
