//! Reads memories, their versions, links and turns. Each read takes its visibility condition from [`visible`].

use std::collections::HashMap;
use std::sync::LazyLock;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, ToSql, params, params_from_iter};
use tulving_core::model::association::Association;
use tulving_core::model::change::FrozenOrder;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{ListingId, MemoryId, MemoryRef, PrincipalId, SpaceId, TurnId};
use tulving_core::model::memory::{Memory, VersionRecord};
use tulving_core::model::request::{Filter, ForgottenFilter, Sort, TurnFilter};
use tulving_core::model::search::Section;
use tulving_core::model::space::Viewer;
use tulving_core::model::time::Timestamp;
use tulving_core::model::turn::Turn;
use tulving_core::ports::{DuplicateQuery, Memories, ReadLimit};

use super::failure::SqliteError;
use super::filter::{self, SqlConditions};
use super::rows::{self, AROUND, ASSOCIATION, CURRENT, ColumnReader, FIELDS, MEMORIES, TURN, VERSION};
use super::{SqliteStore, visible};

/// The `SELECT` for whole memories as the viewer sees them, without a condition.
static WHOLE: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {AROUND}, {FIELDS}, {} FROM ", visible::superseded_by()));

/// Maximum number of links that are followed in a succession of memories: one update each hour for a year.
const SUCCESSION: usize = 10_000;

impl Memories for SqliteStore {
    fn memory(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        which: MemoryRef,
        forgotten: ForgottenFilter,
    ) -> Result<Option<Memory>, StoreError> {
        static BY_ID: LazyLock<[String; 2]> = LazyLock::new(|| one_memory("m.id = ?3"));
        static BY_NUMBER: LazyLock<[String; 2]> =
            LazyLock::new(|| one_memory("m.space = ?3 AND m.number = ?4"));
        let at = usize::from(forgotten == ForgottenFilter::Only);
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| match which {
            MemoryRef::Id(id) => one(reader, &BY_ID[at], params![me, within, id.as_bytes()]),
            MemoryRef::Number(number) => {
                let number = rows::signed(number.0);
                one(reader, &BY_NUMBER[at], params![me, within, space.as_bytes(), number])
            }
            MemoryRef::Foreign(_) => Ok(None),
        })
    }

    fn memories_within(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
        bytes: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "{} json_each(?3) j CROSS JOIN memories m ON m.id = unhex(j.value) \
                 LEFT JOIN usage u ON u.memory = m.row WHERE m.forgotten_at IS NULL AND {} ORDER BY j.key",
                *WHOLE,
                visible::memory("m")
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| many(reader, &SQL, params![me, within, visible::memory_ids(ids)], bytes))
    }

    fn list_within(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        extent: ReadLimit,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError> {
        let mut conditions = SqlConditions::of(viewer, filter);
        if let Some(last) = after {
            conditions.follow(sort, last);
        }
        let limit = conditions.bind(Value::Integer(rows::limit(extent.limit)));
        // SQLite truncates the contents, so that only one of them is in memory at a time.
        let whole = match extent.each {
            usize::MAX => WHOLE.clone(),
            each => {
                let each = conditions.bind(Value::Integer(rows::limit(each)));
                WHOLE.replacen("m.content,", &format!("substr(m.content, 1, {each}),"), 1)
            }
        };
        // The inner query selects the page, so that only the rows of the page are read completely, with their
        // replacements.
        let sql = format!(
            "{whole} (SELECT m.row AS picked FROM {tables} WHERE {wanted} ORDER BY {order} LIMIT {limit}) \
             CROSS JOIN memories m ON m.row = picked LEFT JOIN usage u ON u.memory = m.row ORDER BY {order}",
            tables = filter::tables(sort),
            wanted = conditions.sql(),
            order = filter::order(sort),
        );
        self.read(|reader| many(reader, &sql, params_from_iter(conditions.values()), extent.bytes))
    }

    fn ids(&self, viewer: &Viewer, filter: &Filter, sort: Sort) -> Result<Vec<MemoryId>, StoreError> {
        let conditions = SqlConditions::of(viewer, filter);
        let sql = format!(
            "SELECT m.id FROM {} WHERE {} ORDER BY {}",
            filter::tables(sort),
            conditions.sql(),
            filter::order(sort)
        );
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&sql)?;
            let ids = statement.query_map(params_from_iter(conditions.values()), |row| {
                ColumnReader::of(row).id(MemoryId::from_bytes)
            })?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    fn count_up_to(&self, viewer: &Viewer, filter: &Filter, most: u64) -> Result<u64, StoreError> {
        let mut conditions = SqlConditions::of(viewer, filter);
        let sql = match most {
            u64::MAX => format!("SELECT count(*) FROM memories m WHERE {}", conditions.sql()),
            most => {
                let most = conditions.bind(Value::Integer(rows::signed(most)));
                let wanted = conditions.sql();
                format!("SELECT count(*) FROM (SELECT 1 FROM memories m WHERE {wanted} LIMIT {most})")
            }
        };
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&sql)?;
            Ok(statement
                .query_row(params_from_iter(conditions.values()), |row| ColumnReader::of(row).count())?)
        })
    }

    fn projects(&self, viewer: &Viewer, names: &[&str]) -> Result<Vec<String>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT EXISTS (SELECT 1 FROM memories m INDEXED BY memories_by_project WHERE m.project = ?3 AND {})",
                visible::shown("m")
            )
        });
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let mut found: Vec<String> = Vec::new();
            for name in names {
                // Projects are mostly written in small letters, and questions with a capital.
                for written in [(*name).to_owned(), name.to_lowercase()] {
                    if found.contains(&written) {
                        continue;
                    }
                    let key = params![viewer.principal.as_bytes(), visible::within(viewer), written];
                    if statement.query_row(key, |row| row.get(0))? {
                        found.push(written);
                        break;
                    }
                }
            }
            Ok(found)
        })
    }

    fn listing(
        &self,
        viewer: &Viewer,
        id: ListingId,
        now: Timestamp,
    ) -> Result<Option<FrozenOrder>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT expires_at, ids FROM listings WHERE id = ?1 AND principal = ?2 AND expires_at > ?3",
            )?;
            let key = params![id.as_bytes(), viewer.principal.as_bytes(), now.as_micros()];
            let found = statement.query_row(key, |row| {
                let mut columns = ColumnReader::of(row);
                let (expires_at, blob): (_, Vec<u8>) = (columns.time()?, columns.take()?);
                let ids = rows::ids(&blob).map(MemoryId::from_bytes).collect();
                Ok(FrozenOrder { id, principal: viewer.principal, expires_at, ids })
            });
            Ok(found.optional()?)
        })
    }

    fn duplicate(
        &self,
        viewer: &Viewer,
        duplicate_query: &DuplicateQuery<'_>,
    ) -> Result<Option<Memory>, StoreError> {
        static BY_KEY: LazyLock<String> =
            LazyLock::new(|| duplicate("m.space = ?3 AND m.audience = ?4 AND m.key = ?5"));
        static BY_PATH: LazyLock<String> =
            LazyLock::new(|| duplicate("m.space = ?3 AND m.audience = ?4 AND m.source_path = ?5"));
        static BY_OTHER_PATH: LazyLock<String> = LazyLock::new(|| {
            duplicate(
                "m.row IN (SELECT memory FROM source_paths WHERE path = ?5) AND +m.space = ?3 AND +m.audience = ?4",
            )
        });
        static BY_CONTENT: LazyLock<String> = LazyLock::new(|| {
            duplicate(
                "m.space = ?3 AND m.audience = ?4 AND m.content_hash = ?5 AND m.boundary = ?6 AND m.key IS NULL \
                 AND m.conversation IS NULL AND m.attachment_name IS NULL",
            )
        });
        static BY_FILE: LazyLock<String> = LazyLock::new(|| {
            duplicate(
                "m.space = ?3 AND m.audience = ?4 AND m.attachment_hash = ?5 AND m.boundary = ?6 AND m.key IS NULL \
                 AND m.conversation IS NULL AND m.attachment_name IS NOT NULL",
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        let space = duplicate_query.space.as_bytes();
        let audience = rows::audience(duplicate_query.boundary, &duplicate_query.owner);
        self.read_steadily(|reader| {
            let look =
                |sql: &str, text: &dyn ToSql| one(reader, sql, params![me, within, space, audience, text]);
            if let Some(key) = &duplicate_query.key
                && let Some(found) = look(&BY_KEY, key)?
            {
                return Ok(Some(found));
            }
            if let Some(path) = &duplicate_query.source_path {
                let found =
                    look(&BY_PATH, path)?.map_or_else(|| look(&BY_OTHER_PATH, path), |one| Ok(Some(one)))?;
                if found.is_some() {
                    return Ok(found);
                }
            }
            let boundary = duplicate_query.boundary.as_str();
            if let Some(hash) = &duplicate_query.attachment_hash
                && let Some(found) =
                    one(reader, &BY_FILE, params![me, within, space, audience, hash, boundary])?
            {
                return Ok(Some(found));
            }
            let Some(hash) = &duplicate_query.content_hash else {
                return Ok(None);
            };
            one(reader, &BY_CONTENT, params![me, within, space, audience, hash.0, boundary])
        })
    }

    fn versions(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<VersionRecord>, StoreError> {
        let mut versions = Vec::new();
        self.each_version(viewer, id, &mut |version| versions.push(version))?;
        versions.reverse();
        Ok(versions)
    }

    fn each_version(
        &self,
        viewer: &Viewer,
        id: MemoryId,
        show: &mut dyn FnMut(VersionRecord),
    ) -> Result<(), StoreError> {
        let current = format!(
            "SELECT m.version, m.updated_at, {CURRENT}, {FIELDS} FROM memories m \
             WHERE m.id = ?3 AND m.forgotten_at IS NULL AND {}",
            visible::memory("m")
        );
        let past = format!(
            "SELECT {VERSION} FROM versions v JOIN memories m ON m.row = v.memory \
             WHERE m.id = ?3 AND (m.owner = ?1 OR {}) ORDER BY v.version DESC",
            visible::visible("v.boundary", "m.owner", "m.space")
        );
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read_steadily(|reader| {
            let key = params![me, within, id.as_bytes()];
            let mut statement = reader.prepare_cached(&current)?;
            let now = statement.query_row(key, |row| rows::current_version(&mut ColumnReader::of(row)));
            let Some(now) = now.optional()? else {
                return Ok(());
            };
            show(now);
            for version in reader.prepare_cached(&past)?.query_map(key, rows::version)? {
                show(version?);
            }
            Ok(())
        })
    }

    fn writers(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, PrincipalId>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT m.id, m.updated_by FROM json_each(?3) j CROSS JOIN memories m ON m.id = unhex(j.value) \
                 WHERE m.forgotten_at IS NULL AND {}",
                visible::memory("m")
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let found = statement.query_map(params![me, within, visible::memory_ids(ids)], |row| {
                let mut columns = ColumnReader::of(row);
                Ok((columns.id(MemoryId::from_bytes)?, columns.id(PrincipalId::from_bytes)?))
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn associations(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Association>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "WITH asked (row) AS MATERIALIZED (\
                   SELECT m.row FROM json_each(?3) j CROSS JOIN memories m ON m.id = unhex(j.value)) \
                 SELECT {ASSOCIATION} FROM (\
                   SELECT row AS picked FROM associations WHERE source IN (SELECT row FROM asked) \
                   UNION SELECT row FROM associations WHERE target IN (SELECT row FROM asked)) \
                 CROSS JOIN associations a ON a.row = picked \
                 JOIN memories s ON s.row = a.source JOIN memories t ON t.row = a.target \
                 WHERE {} AND {} ORDER BY a.weight DESC, s.id, t.id, a.relation",
                visible::shown("s"),
                visible::shown("t")
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let found = statement.query_map(params![me, within, visible::memory_ids(ids)], |row| {
                rows::association(&mut ColumnReader::of(row))
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn succession(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<(MemoryId, MemoryId)>, StoreError> {
        // A union drops repeated rows, so the recursion ends even if the links form a cycle.
        static SQL: LazyLock<String> = LazyLock::new(|| {
            let newer = format!(
                "JOIN memories n ON n.row = a.source \
                 WHERE a.relation = 'updates' AND a.linked_by = 'caller' AND {}",
                visible::shown("n")
            );
            format!(
                "WITH RECURSIVE asked (row) AS MATERIALIZED (\
                   SELECT m.row FROM json_each(?3) j CROSS JOIN memories m ON m.id = unhex(j.value) WHERE {}), \
                 chain (old, new) AS (\
                   SELECT a.target, a.source FROM asked CROSS JOIN associations a ON a.target = asked.row {newer} \
                   UNION SELECT a.target, a.source FROM chain CROSS JOIN associations a ON a.target = chain.new {newer} \
                   LIMIT {SUCCESSION}) \
                 SELECT o.id, n.id FROM chain JOIN memories o ON o.row = chain.old JOIN memories n ON n.row = chain.new",
                visible::shown("m")
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let found = statement.query_map(params![me, within, visible::memory_ids(ids)], |row| {
                let mut columns = ColumnReader::of(row);
                Ok((columns.id(MemoryId::from_bytes)?, columns.id(MemoryId::from_bytes)?))
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn sections(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<Section>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT c.start, c.end, c.heading_path FROM memories m JOIN chunks c ON c.memory = m.row \
                 WHERE m.id = ?3 AND m.forgotten_at IS NULL AND {} ORDER BY c.ordinal",
                visible::memory("m")
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let found = statement.query_map(params![me, within, id.as_bytes()], |row| {
                let mut columns = ColumnReader::of(row);
                let range = columns.size()?..columns.size()?;
                Ok(Section { range, heading_path: columns.texts()? })
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn turn(&self, viewer: &Viewer, id: TurnId) -> Result<Option<Turn>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!("SELECT {TURN} FROM turns WHERE id = ?3 AND {}", visible::shares("space", "logged_by"))
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let found = statement
                .query_row(params![me, within, id.as_bytes()], |row| rows::turn(&mut ColumnReader::of(row)));
            Ok(found.optional()?)
        })
    }

    fn turns(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        filter: &TurnFilter,
        bytes: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {TURN} FROM turns WHERE space = ?3 AND (?4 IS NULL OR channel = ?4) AND position < ?5 \
                 AND {} ORDER BY position DESC LIMIT ?6",
                visible::shares("space", "logged_by")
            )
        });
        let (me, within) = (viewer.principal.as_bytes(), visible::within(viewer));
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&SQL)?;
            let before = filter.before.map_or(i64::MAX, rows::signed);
            let last = rows::limit(filter.last);
            let found = statement
                .query_map(params![me, within, space.as_bytes(), filter.channel, before, last], |row| {
                    rows::turn(&mut ColumnReader::of(row))
                })?;
            let mut turns: Vec<Turn> = Vec::new();
            let mut taken = 0;
            for turn in found {
                let turn = turn?;
                taken += turn.content.len();
                if taken > bytes && !turns.is_empty() {
                    break;
                }
                turns.push(turn);
            }
            turns.reverse();
            Ok(turns)
        })
    }
}

/// The two statements for one memory: for a memory that is not forgotten, and for a forgotten one.
fn one_memory(name: &str) -> [String; 2] {
    let base = format!("{} {MEMORIES} WHERE {name} AND {}", *WHOLE, visible::memory("m"));
    let admin = "m.boundary <> 'private' AND EXISTS (SELECT 1 FROM members \
         WHERE principal = ?1 AND realm = 'space' AND of = m.space AND role = 'admin')";
    [
        format!("{base} AND m.forgotten_at IS NULL"),
        format!("{base} AND m.forgotten_at IS NOT NULL AND (m.owner = ?1 OR ({admin}))"),
    ]
}

/// The statement for a memory that conflicts with a new one. The last conditions are those of the unique indexes. If
/// several memories have the same content, it returns the one whose `apart` is 0.
fn duplicate(same: &str) -> String {
    format!(
        "{} {MEMORIES} WHERE {same} AND m.forgotten_at IS NULL AND m.mirror_line IS NULL AND {} \
         ORDER BY m.apart LIMIT 1",
        *WHOLE,
        visible::memory("m")
    )
}

fn one(reader: &Connection, sql: &str, values: impl Params) -> Result<Option<Memory>, SqliteError> {
    Ok(reader.prepare_cached(sql)?.query_row(values, rows::memory).optional()?)
}

/// The memories that a statement returns, until their contents reach this many bytes. No further row is read.
fn many(
    reader: &Connection,
    sql: &str,
    values: impl Params,
    bytes: usize,
) -> Result<Vec<Memory>, SqliteError> {
    let mut statement = reader.prepare_cached(sql)?;
    let (mut memories, mut read) = (Vec::new(), 0_usize);
    for memory in statement.query_map(values, rows::memory)? {
        let memory = memory?;
        read = read.saturating_add(memory.fields.text.content.len());
        memories.push(memory);
        if read >= bytes {
            break;
        }
    }
    Ok(memories)
}
