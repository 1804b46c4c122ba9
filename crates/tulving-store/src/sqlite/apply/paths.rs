//! Writes the source paths of memories: the first path into the memory's row, the others into a separate table.
//!
//! A path is unique among the memories of one audience. A unique index ensures this for the first paths only. Code that
//! writes a path, or moves a memory with paths to another audience, therefore calls
//! [`refuse_taken_paths`](ChangeSetWriter::refuse_taken_paths) inside the same transaction.

use rusqlite::{OptionalExtension, params};
use tulving_core::model::error::{Conflict, Unique};
use tulving_core::model::id::MemoryId;
use tulving_core::model::memory::Sources;
use tulving_core::model::vocabulary::ChangeKind;

use super::super::failure::SqliteError;
use super::super::rows::ColumnReader;
use super::{ChangeLogScope, ChangeSetWriter};

impl ChangeSetWriter<'_> {
    /// Writes all paths of a memory except the first. The memory must not have any of these paths yet.
    pub(super) fn insert_paths(&mut self, row: i64, paths: &[String]) -> Result<(), SqliteError> {
        let mut statement =
            self.transaction.prepare_cached("INSERT INTO source_paths (memory, path) VALUES (?1, ?2)")?;
        for path in paths.iter().skip(1) {
            statement.execute(params![row, path])?;
        }
        Ok(())
    }

    pub(super) fn set_sources(
        &mut self,
        id: MemoryId,
        from: &Sources,
        to: &Sources,
    ) -> Result<(), SqliteError> {
        let (row, at, sources) = self.sources(id)?.ok_or(Conflict::Gone { id })?;
        if sources != *from {
            return Err(Conflict::Moved { id }.into());
        }
        self.write_sources(row, to)?;
        self.log(ChangeKind::Revised, id, at)
    }

    pub(super) fn repath(&mut self, id: MemoryId, from: &str, to: &str) -> Result<(), SqliteError> {
        let found = self.sources(id)?.filter(|(_, _, sources)| sources.paths.iter().any(|path| path == from));
        let (row, at, mut sources) = found.ok_or(Conflict::Moved { id })?;
        if sources.paths.iter().any(|path| path == to) {
            sources.paths.retain(|path| path != from);
        } else if let Some(path) = sources.paths.iter_mut().find(|path| *path == from) {
            to.clone_into(path);
        }
        self.write_sources(row, &sources)?;
        self.log(ChangeKind::Revised, id, at)
    }

    /// The source paths of a memory. A mirrored memory has none that could be changed.
    fn sources(&self, id: MemoryId) -> Result<Option<(i64, ChangeLogScope, Sources)>, SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT row, space, owner, boundary, source_path, also_without_path FROM memories \
             WHERE id = ?1 AND mirror_line IS NULL",
        )?;
        let found = statement.query_row([id.as_bytes()], |row| {
            let mut columns = ColumnReader::of(row);
            let (row, at): (i64, _) = (columns.take()?, ChangeLogScope::read(&mut columns)?);
            let (first, also): (Option<String>, bool) = (columns.take()?, columns.take()?);
            Ok((row, at, first, also))
        });
        let Some((row, at, first, also)) = found.optional()? else {
            return Ok(None);
        };
        let mut paths = Vec::from_iter(first);
        let mut statement = self
            .transaction
            .prepare_cached("SELECT path FROM source_paths WHERE memory = ?1 ORDER BY row")?;
        for path in statement.query_map([row], |row| row.get(0))? {
            paths.push(path?);
        }
        Ok(Some((row, at, Sources { without_path: also || paths.is_empty(), paths })))
    }

    fn write_sources(&mut self, row: i64, to: &Sources) -> Result<(), SqliteError> {
        self.transaction.prepare_cached("DELETE FROM source_paths WHERE memory = ?1")?.execute([row])?;
        self.transaction
            .prepare_cached("UPDATE memories SET source_path = ?2, also_without_path = ?3 WHERE row = ?1")?
            .execute(params![row, to.paths.first(), to.without_path && !to.paths.is_empty()])?;
        self.insert_paths(row, &to.paths)?;
        self.refuse_taken_paths(row)
    }

    /// Returns a conflict if another memory of the same audience has one of the paths of this memory. The unique index
    /// detects equal first paths.
    pub(super) fn refuse_taken_paths(&self, row: i64) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "WITH own (path) AS (SELECT source_path FROM memories WHERE row = ?1 AND source_path IS NOT NULL \
               UNION ALL SELECT path FROM source_paths WHERE memory = ?1), \
             others (row) AS (SELECT s.memory FROM own CROSS JOIN source_paths s ON s.path = own.path \
               UNION ALL SELECT o.row FROM source_paths s CROSS JOIN memories o ON o.source_path = s.path \
               WHERE s.memory = ?1) \
             SELECT 1 FROM memories m CROSS JOIN others CROSS JOIN memories o ON o.row = others.row \
             WHERE m.row = ?1 AND o.row <> m.row AND m.forgotten_at IS NULL AND m.mirror_line IS NULL \
             AND o.forgotten_at IS NULL AND o.mirror_line IS NULL AND o.space = m.space AND o.audience = m.audience",
        )?;
        match statement.exists([row])? {
            true => Err(Conflict::Taken { what: Unique::SourcePath }.into()),
            false => Ok(()),
        }
    }
}
