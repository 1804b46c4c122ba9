//! Reads records of imported files, and of memories imported from other systems.

use rusqlite::{OptionalExtension, Row, params};
use tulving_core::model::change::ImportRecord;
use tulving_core::model::error::StoreError;
use tulving_core::model::file::ImportedFile;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use tulving_core::model::vocabulary::System;
use tulving_core::ports::Imports;

use super::SqliteStore;
use super::rows::{self, ColumnReader};

impl Imports for SqliteStore {
    fn imported(&self, space: SpaceId, owner: PrincipalId) -> Result<Vec<ImportedFile>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT i.path, i.size, i.modified, i.inode, i.digest, i.settled, m.id, m.state, m.forgotten_at, \
                 m.quarantined_at, m.pinned, m.ruled_at, m.done_at FROM imported i JOIN memories m ON m.row = i.memory \
                 WHERE i.space = ?1 AND i.owner = ?2 AND m.space = i.space \
                 AND (m.source_path = i.path OR EXISTS (\
                   SELECT 1 FROM source_paths s WHERE s.memory = m.row AND s.path = i.path)) \
                 AND (m.forgotten_at IS NULL OR NOT EXISTS (\
                   SELECT 1 FROM memories o WHERE o.source_path = i.path AND o.space = i.space AND o.owner = i.owner \
                   AND o.forgotten_at IS NULL AND o.mirror_line IS NULL) AND NOT EXISTS (\
                   SELECT 1 FROM source_paths s JOIN memories o ON o.row = s.memory WHERE s.path = i.path \
                   AND o.space = i.space AND o.owner = i.owner AND o.forgotten_at IS NULL)) \
                 ORDER BY i.path",
            )?;
            let found = statement.query_map(params![space.as_bytes(), owner.as_bytes()], file)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn adopted(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        system: System,
        names: &[[u8; 32]],
    ) -> Result<Vec<ImportRecord>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT a.name, a.says, m.id, a.version, m.version, m.space, m.state, m.forgotten_at, m.quarantined_at, \
                 m.pinned, m.ruled_at, m.done_at FROM adopted a JOIN memories m ON m.row = a.memory \
                 WHERE a.space = ?1 AND a.owner = ?2 AND a.system = ?3 AND a.name = ?4",
            )?;
            let mut found = Vec::new();
            for name in names {
                let key = params![space.as_bytes(), owner.as_bytes(), system.as_str(), name];
                found.extend(statement.query_row(key, item).optional()?);
            }
            Ok(found)
        })
    }

    fn is_attached(&self, object_key: &str) -> Result<bool, StoreError> {
        self.read(|reader| {
            let mut statement =
                reader.prepare_cached("SELECT 1 FROM memories WHERE attachment_key = ?1 LIMIT 1")?;
            Ok(statement.exists([object_key])?)
        })
    }
}

fn item(row: &Row<'_>) -> rusqlite::Result<ImportRecord> {
    let mut columns = ColumnReader::of(row);
    Ok(ImportRecord {
        name: columns.take()?,
        says: columns.take()?,
        memory: columns.id(MemoryId::from_bytes)?,
        version: Version(columns.take()?),
        current: Version(columns.take()?),
        space: columns.id(SpaceId::from_bytes)?,
        status: rows::status(&mut columns)?,
    })
}

fn file(row: &Row<'_>) -> rusqlite::Result<ImportedFile> {
    let mut columns = ColumnReader::of(row);
    Ok(ImportedFile {
        path: columns.take()?,
        stamp: rows::stamp(&mut columns)?,
        digest: columns.take()?,
        settled: columns.take()?,
        memory: columns.id(MemoryId::from_bytes)?,
        status: rows::status(&mut columns)?,
    })
}
