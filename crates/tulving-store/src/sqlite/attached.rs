//! Reads the memories that have an attachment and those that are mirrored, to check that their files exist.

use rusqlite::Connection;
use tulving_core::model::id::{MemoryId, MemoryNumber};
use tulving_core::model::integrity::{MemoryAttachment, MemoryName, MirroredMemory};

use super::failure::SqliteError;
use super::rows::ColumnReader;

/// The memories that have an attachment, by space and number.
pub(super) fn with_attachments(reader: &Connection) -> Result<Vec<MemoryAttachment>, SqliteError> {
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
}

/// The memories that mirror entries of files, by space and number.
pub(super) fn mirrored(reader: &Connection) -> Result<Vec<MirroredMemory>, SqliteError> {
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
}

fn name(columns: &mut ColumnReader<'_>) -> rusqlite::Result<MemoryName> {
    let number: Option<i64> = columns.take()?;
    let number = number.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
    Ok(MemoryName {
        number: number.map(MemoryNumber),
        space: columns.take()?,
        id: columns.id(MemoryId::from_bytes)?,
    })
}
