//! Reads the data for lifecycle rules: the [`LifecycleData`] of each memory, without its content.

use std::sync::LazyLock;

use rusqlite::{Row, params};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use tulving_core::model::life::LifecycleData;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::Aging;

use super::rows::{self, ColumnReader, MEMORIES};
use super::{SqliteStore, visible};

impl Aging for SqliteStore {
    fn lives(
        &self,
        spaces: &[SpaceId],
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<LifecycleData>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT m.id, m.space, m.owner, m.boundary, m.version, m.type, m.kind, m.stability, m.importance, m.tags, \
                 m.state, m.forgotten_at, m.quarantined_at, m.pinned, m.ruled_at, m.done_at, m.created_at, m.updated_at, \
                 coalesce(u.accessed_at, m.created_at), coalesce(u.access_count, 0), m.expires_at FROM {MEMORIES} \
                 WHERE m.id > ?1 AND m.mirror_line IS NULL AND m.quarantined_at IS NULL AND m.state <> 'processing' \
                 AND (m.state <> 'archived' OR m.ruled_at IS NOT NULL OR m.forgotten_at IS NOT NULL) \
                 AND +m.space IN (SELECT unhex(value) FROM json_each(?2)) ORDER BY m.id LIMIT ?3"
            )
        });
        // An empty blob sorts before every id, so it represents the start of the list.
        let after: &[u8] = after.as_ref().map_or(&[], |id| id.as_bytes());
        let spaces = visible::hex_array(spaces.iter().map(SpaceId::as_bytes));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let found = statement.query_map(params![after, spaces, rows::limit(limit)], life)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn audited_before(&self, space: Option<SpaceId>, before: Timestamp) -> Result<u64, StoreError> {
        self.read(|reader| {
            let mut statement =
                reader.prepare_cached("SELECT count(*) FROM audit WHERE at < ?1 AND space IS ?2")?;
            let key = params![before.as_micros(), space.as_ref().map(SpaceId::as_bytes)];
            Ok(statement.query_row(key, |row| ColumnReader::of(row).count())?)
        })
    }
}

fn life(row: &Row<'_>) -> rusqlite::Result<LifecycleData> {
    let mut columns = ColumnReader::of(row);
    Ok(LifecycleData {
        id: columns.id(MemoryId::from_bytes)?,
        space: columns.id(SpaceId::from_bytes)?,
        owner: columns.id(PrincipalId::from_bytes)?,
        boundary: columns.word()?,
        version: Version(columns.small()?),
        class: rows::classification(&mut columns)?,
        tags: columns.texts()?,
        status: rows::status(&mut columns)?,
        usage: rows::usage(&mut columns)?,
        expires_at: columns.time_or_none()?,
    })
}
