//! Reads records of mirrored files.

use rusqlite::{Row, params};
use tulving_core::model::error::StoreError;
use tulving_core::model::file::{MirroredEntry, MirroredFile};
use tulving_core::model::id::{MemoryId, SpaceId};
use tulving_core::model::memory::ContentHash;
use tulving_core::ports::Mirrors;

use super::SqliteStore;
use super::rows::{self, ColumnReader};

/// The columns of a mirrored file, in the order that [`file()`] reads them.
pub(super) const FILE: &str = "path, size, modified, inode, digest, settled";

impl Mirrors for SqliteStore {
    fn mirrored(&self, space: SpaceId) -> Result<Vec<MirroredFile>, StoreError> {
        self.read(|reader| {
            let sql = format!("SELECT {FILE} FROM mirrored WHERE space = ?1 ORDER BY path");
            let mut statement = reader.prepare_cached(&sql)?;
            let found = statement.query_map([space.as_bytes()], file)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn mirrors(&self, space: SpaceId, path: &str) -> Result<Vec<MirroredEntry>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT id, content_hash, mirror_occurrence, mirror_line, title FROM memories \
                 WHERE space = ?1 AND source_path = ?2 AND mirror_line IS NOT NULL",
            )?;
            let found = statement.query_map(params![space.as_bytes(), path], |row| {
                let mut columns = ColumnReader::of(row);
                Ok(MirroredEntry {
                    id: columns.id(MemoryId::from_bytes)?,
                    hash: ContentHash(columns.take()?),
                    occurrence: columns.small()?,
                    line: columns.small()?,
                    title: columns.take()?,
                })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

/// Reads a mirrored file.
pub(super) fn file(row: &Row<'_>) -> rusqlite::Result<MirroredFile> {
    let mut columns = ColumnReader::of(row);
    Ok(MirroredFile {
        path: columns.take()?,
        stamp: rows::stamp(&mut columns)?,
        digest: columns.take()?,
        settled: columns.take()?,
    })
}
