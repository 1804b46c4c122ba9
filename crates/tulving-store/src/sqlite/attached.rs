//! Reads the memories that have an attachment and those that are mirrors, to check that both are
//! there.

use std::fmt;

use tulving_core::model::error::StoreError;
use tulving_core::model::id::MemoryId;

use super::SqliteStore;
use super::rows::ColumnReader;

/// The name of a memory for the maintainer of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryName {
    /// Entries of files have none.
    number: Option<i64>,
    space: String,
    id: MemoryId,
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number.filter(|number| *number > 0) {
            Some(number) => write!(f, "#{number} of {} ({})", self.space, self.id),
            None => write!(f, "memory {} of {}", self.id, self.space),
        }
    }
}

/// A memory that has an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryAttachment {
    pub(crate) memory: MemoryName,
    pub(crate) key: String,
    /// The size of the attachment when it was saved.
    pub(crate) size: u64,
}

/// A memory that is an entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MirroredMemory {
    pub(crate) memory: MemoryName,
    /// The path of the file below the workspace.
    pub(crate) path: String,
}

impl SqliteStore {
    /// The memories that have an attachment, by space and number.
    pub(crate) fn memories_with_files(&self) -> Result<Vec<MemoryAttachment>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare(
                "SELECT m.number, s.name, m.id, m.attachment_key, coalesce(m.attachment_size, 0) \
                 FROM memories m JOIN spaces s ON s.id = m.space \
                 WHERE m.attachment_key IS NOT NULL ORDER BY s.name, m.number",
            )?;
            let found = statement.query_map([], |row| {
                let mut columns = ColumnReader::of(row);
                let memory = name(&mut columns)?;
                let (key, size): (_, i64) = (columns.take()?, columns.take()?);
                Ok(MemoryAttachment { memory, key, size: size.unsigned_abs() })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// The memories that are entries of files, by space and number.
    pub(crate) fn mirrored_memories(&self) -> Result<Vec<MirroredMemory>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare(
                "SELECT m.number, s.name, m.id, m.source_path \
                 FROM memories m JOIN spaces s ON s.id = m.space \
                 WHERE m.mirror_line IS NOT NULL AND m.source_path IS NOT NULL AND m.forgotten_at IS NULL \
                 ORDER BY s.name, m.number",
            )?;
            let found = statement.query_map([], |row| {
                let mut columns = ColumnReader::of(row);
                Ok(MirroredMemory { memory: name(&mut columns)?, path: columns.take()? })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

fn name(columns: &mut ColumnReader<'_>) -> rusqlite::Result<MemoryName> {
    Ok(MemoryName { number: columns.take()?, space: columns.take()?, id: columns.id(MemoryId::from_bytes)? })
}
