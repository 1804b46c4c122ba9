//! Reads the change log and the audit, and detects any write to the store.

use std::collections::BTreeSet;
use std::sync::{LazyLock, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use tulving_core::model::audit::{AuditEntry, HOME_AGENT, LastChange, WrittenVersion};
use tulving_core::model::change::{Actor, Change};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, PrincipalId, Seq, SpaceId, Version};
use tulving_core::model::request::AuditFilter;
use tulving_core::model::space::Viewer;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::Log;

use super::directory::ADMINISTERED_ORGS;
use super::rows::{self, AUDIT, ColumnReader};
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
            // The newest entry is never trimmed, so the largest number is that of the last entry written.
            let mut statement = reader.prepare_cached("SELECT coalesce(max(seq), 0) FROM changes")?;
            Ok(Seq(statement.query_row([], |row| ColumnReader::of(row).count())?))
        })
    }

    fn change_counter(&self) -> Result<u64, StoreError> {
        self.attached(|live| {
            // The follower never writes, so it detects the commits of this process in the same way as those of other
            // processes.
            let follower = live.follower.lock().unwrap_or_else(PoisonError::into_inner);
            let mut statement = follower.prepare_cached("PRAGMA data_version")?;
            let version = statement.query_row([], |row| ColumnReader::of(row).count())?;
            // Each connection has its own counter of 32 bits, so the generation forms the upper half.
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
            let found = statement.query_map(key, |row| rows::audit(&mut ColumnReader::of(row)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn last_change(&self, by: &Actor, space: SpaceId) -> Result<Option<LastChange>, StoreError> {
        self.read(|reader| {
            let Some((at, agent)) = last_traced(reader, by, space)? else { return Ok(None) };
            let (principal, micros) = (by.principal.as_bytes(), at.as_micros());
            let mut statement = reader.prepare_cached(&format!(
                "SELECT {AUDIT} FROM audit a WHERE a.at = ?1 AND a.by = ?2 AND a.agent IS ?3 ORDER BY a.row"
            ))?;
            let found = statement.query_map(params![micros, principal, agent], |row| {
                rows::audit(&mut ColumnReader::of(row))
            })?;
            let audited: Vec<AuditEntry> = found.collect::<Result<_, _>>()?;
            let mut statement = reader.prepare_cached(&format!(
                "SELECT DISTINCT m.id, {WRITTEN_VERSION}, {WRITTEN_ACT} FROM changes c {WRITTEN} AND c.at = ?4 \
                 AND {WRITTEN_AGENT} IS ?5 ORDER BY c.seq"
            ))?;
            let key = params![principal, by.agent, space.as_bytes(), micros, agent];
            let found = statement.query_map(key, |row| {
                let mut columns = ColumnReader::of(row);
                Ok(WrittenVersion {
                    memory: columns.id(MemoryId::from_bytes)?,
                    version: Version(columns.small()?),
                    act: columns.word()?,
                })
            })?;
            let versions: Vec<WrittenVersion> = found.collect::<Result<_, _>>()?;
            let about: BTreeSet<MemoryId> =
                audited.iter().filter_map(|entry| entry.memory).chain(versions.iter().map(|one| one.memory)).collect();
            let mut statement = reader.prepare_cached(&format!(
                "SELECT {AUDIT} FROM audit a WHERE a.memory = ?1 AND a.at > ?2 ORDER BY a.at DESC, a.row DESC"
            ))?;
            let mut since = Vec::new();
            for memory in about {
                let key = params![memory.as_bytes(), micros];
                let found = statement.query_map(key, |row| rows::audit(&mut ColumnReader::of(row)))?;
                since.extend(found.collect::<Result<Vec<_>, _>>()?);
            }
            Ok(Some(LastChange { at, agent, audited, versions, since }))
        })
    }
}

/// Joins each entry `c` of the change log with the version that the entry created. Selects the entries in the space
/// `?3` for changes to the content of a memory by the actor `?1`, with the agent `?2` or, if `?2` is null, with any
/// agent.
const WRITTEN: &str = "JOIN memories m ON m.id = c.memory LEFT JOIN versions v ON v.memory = m.row AND v.at = c.at \
     WHERE c.space = ?3 AND (c.kind = 'saved' OR c.kind = 'revised') AND m.mirror_line IS NULL \
     AND ((m.updated_at = c.at AND m.updated_by = ?1 AND (?2 IS NULL OR m.updated_agent = ?2) AND (m.version > 1 OR m.pass IS NULL)) \
       OR (v.by = ?1 AND (?2 IS NULL OR v.agent = ?2) AND (v.version > 1 OR m.pass IS NULL)))";
/// The columns of the version that [`WRITTEN`] has found: its number, its agent and its reason.
const WRITTEN_VERSION: &str = "CASE WHEN m.updated_at = c.at THEN m.version ELSE v.version END";
const WRITTEN_AGENT: &str = "CASE WHEN m.updated_at = c.at THEN m.updated_agent ELSE v.agent END";
const WRITTEN_ACT: &str = "CASE WHEN m.updated_at = c.at THEN m.version_act ELSE v.act END";

/// The last act of an actor that left a trace in a space or that concerned the whole store: its time and its agent.
fn last_traced(
    reader: &Connection,
    by: &Actor,
    space: SpaceId,
) -> rusqlite::Result<Option<(Timestamp, Option<String>)>> {
    let key = params![by.principal.as_bytes(), by.agent, space.as_bytes()];
    let trace = |row: &Row<'_>| {
        let mut columns = ColumnReader::of(row);
        Ok((columns.time()?, columns.take()?))
    };
    let mut audited = reader.prepare_cached(&format!(
        "SELECT at, agent FROM audit WHERE by = ?1 AND (?2 IS NULL OR agent = ?2) \
         AND (space = ?3 OR act = 'space_created' OR (space IS NULL AND agent IS NOT '{HOME_AGENT}')) \
         AND (reason IS NULL OR substr(reason, 1, 9) <> 'by rule: ') ORDER BY at DESC, row DESC LIMIT 1",
    ))?;
    let audited = audited.query_row(key, trace).optional()?;
    let mut written = reader.prepare_cached(&format!(
        "SELECT c.at, {WRITTEN_AGENT} FROM changes c {WRITTEN} ORDER BY c.seq DESC LIMIT 1"
    ))?;
    let written = written.query_row(key, trace).optional()?;
    Ok([audited, written].into_iter().flatten().max_by_key(|(at, _): &(Timestamp, _)| *at))
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    let mut columns = ColumnReader::of(row);
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
