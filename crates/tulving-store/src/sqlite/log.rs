//! Reads of the change log and of the audit, and whether anything was written at all.

use std::sync::{LazyLock, PoisonError};

use rusqlite::{Row, params};
use tulving_core::audit::AuditEntry;
use tulving_core::change::Change;
use tulving_core::error::StoreError;
use tulving_core::id::{MemoryId, PrincipalId, Seq, SpaceId};
use tulving_core::ports::Log;
use tulving_core::request::AuditFilter;
use tulving_core::space::Viewer;

use super::directory::ADMINISTERED_ORGS;
use super::rows::{self, AUDIT, Columns};
use super::{SqliteStore, apply, visible};

impl Log for SqliteStore {
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT seq, at, kind, memory, space, owner, boundary FROM changes WHERE seq > ?1 \
                 ORDER BY seq LIMIT ?2",
            )?;
            let found = statement.query_map([rows::signed(after.0), rows::limit(limit)], change)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError> {
        self.write(|writer, allowed| apply::trim_log(writer, allowed, up_to, most))
    }

    fn head(&self) -> Result<Seq, StoreError> {
        self.read(|reader| {
            // The newest entry is never trimmed, so it is the last that was written.
            let mut statement = reader.prepare_cached("SELECT coalesce(max(seq), 0) FROM changes")?;
            Ok(Seq(statement.query_row([], |row| Columns::of(row).count())?))
        })
    }

    fn pulse(&self) -> Result<u64, StoreError> {
        self.attached(|live| {
            // The follower never writes, so it sees the commits of this process as those of any other.
            let follower = live.follower.lock().unwrap_or_else(PoisonError::into_inner);
            let mut statement = follower.prepare_cached("PRAGMA data_version")?;
            let version = statement.query_row([], |row| Columns::of(row).count())?;
            // Each connection counts for itself, in 32 bits.
            Ok((live.generation << 32) | version)
        })
    }

    fn epoch(&self) -> Result<[u8; 16], StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached("SELECT value FROM meta WHERE name = 'epoch'")?;
            Ok(statement.query_row([], |row| row.get(0))?)
        })
    }

    fn audit(&self, viewer: &Viewer, filter: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {AUDIT} FROM audit a WHERE {confined} AND (\
                   (a.space IN (SELECT of FROM members WHERE principal = ?1 AND realm = 'space' AND role = 'admin') \
                     AND (a.private_to IS NULL OR a.private_to = ?1)) \
                   OR (?2 IS NULL AND a.space IN (SELECT s.id FROM spaces s JOIN teams t ON t.id = s.team \
                     WHERE t.org IN ({ADMINISTERED_ORGS}))) \
                   OR (?2 IS NULL AND a.space IS NULL AND EXISTS ({ADMINISTERED_ORGS}))) \
                 AND (?3 IS NULL OR a.space = ?3) AND (?4 IS NULL OR a.memory = ?4) \
                 ORDER BY a.at DESC, a.row DESC LIMIT ?5",
                confined = visible::confined("a.space"),
            )
        });
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let space = filter.space.as_ref().map(SpaceId::as_bytes);
            let memory = filter.memory.as_ref().map(MemoryId::as_bytes);
            let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
            let key = params![me, within, space, memory, rows::limit(filter.last)];
            let found = statement.query_map(key, |row| rows::audit(&mut Columns::of(row)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    let mut columns = Columns::of(row);
    Ok(Change {
        seq: Seq(columns.count()?),
        at: columns.time()?,
        kind: columns.word()?,
        memory: columns.id(MemoryId::from_bytes)?,
        space: columns.id(SpaceId::from_bytes)?,
        owner: columns.id(PrincipalId::from_bytes)?,
        boundary: columns.word()?,
    })
}
