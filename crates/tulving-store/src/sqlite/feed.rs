//! Reads the input for derived data: whole memories with their chunks and vectors, and the memories that wait for
//! vectors.
//!
//! A page takes two statements, however many memories it has, because rebuilding an index may read 1,000,000 memories.

use std::sync::LazyLock;

use rusqlite::types::Value;
use rusqlite::{Connection, Params, params, params_from_iter};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, SpaceId};
use tulving_core::model::memory::{Chunk, Embedding, Status};
use tulving_core::model::search::IndexEntry;
use tulving_core::model::vocabulary::State;
use tulving_core::ports::Feed;
use tulving_text::fold;

use super::failure::SqliteError;
use super::rows::{self, AROUND_UNUSED, ColumnReader, FIELDS};
use super::{SqliteStore, vectors, visible};

/// True if the memory `m` needs vectors at all; [`is_live`] checks the same for a status.
pub(super) const LIVE: &str = "m.forgotten_at IS NULL AND m.quarantined_at IS NULL AND m.state <> 'archived'";

/// True if the memory `m` has a chunk without a vector of the model `?1`.
pub(super) const LACKS: &str = "EXISTS (SELECT 1 FROM chunks c WHERE c.memory = m.row AND NOT EXISTS (\
       SELECT 1 FROM vectors v WHERE v.memory = c.memory AND v.ordinal = c.ordinal AND v.model = ?1))";

/// Returns true if a memory with this status needs vectors at all.
pub(super) fn is_live(status: &Status) -> bool {
    status.forgotten_at.is_none() && status.quarantined_at.is_none() && status.state != State::Archived
}

/// The models whose vectors are stored.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorModels {
    /// The current model.
    pub(super) answers: Option<String>,
    /// The next model, while memories are being embedded with it.
    pub(super) next: Option<String>,
}

impl VectorModels {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT (SELECT value FROM meta WHERE name = 'model'), \
             (SELECT value FROM meta WHERE name = 'next_model')",
        )?;
        statement.query_row([], |row| Ok(Self { answers: row.get(0)?, next: row.get(1)? }))
    }

    /// Each model, with the table of the memories that wait for its vectors.
    pub(super) fn with_tables(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let both = [(&self.answers, "unembedded"), (&self.next, "unembedded_next")];
        both.into_iter().filter_map(|(model, table)| Some((model.as_deref()?, table)))
    }

    /// The table of the memories that wait for vectors of this model.
    pub(super) fn table(&self, model: &str) -> Option<&'static str> {
        self.with_tables().find_map(|(name, table)| (name == model).then_some(table))
    }
}

impl Feed for SqliteStore {
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<IndexEntry>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT m.row, {AROUND_UNUSED}, {FIELDS}, NULL FROM json_each(?1) j \
                 CROSS JOIN memories m ON m.id = unhex(j.value) ORDER BY j.key"
            )
        });
        self.read_steadily(|reader| entries(reader, &SQL, [visible::memory_ids(ids)], model))
    }

    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        static SQL: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT m.row, {AROUND_UNUSED}, {FIELDS}, NULL FROM memories m \
                 WHERE m.id > ?1 ORDER BY m.id LIMIT ?2"
            )
        });
        // An empty blob sorts before every id, so it represents the start of the list.
        let after: &[u8] = after.as_ref().map_or(&[], |id| id.as_bytes());
        self.read_steadily(|reader| entries(reader, &SQL, params![after, rows::limit(limit)], model))
    }

    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut values: Vec<Value> =
            vec![space.map(|space| space.as_bytes().to_vec()).into(), rows::limit(limit).into()];
        values.extend(texts.iter().map(|text| Value::Text(fold::folded(text))));
        let held: Vec<String> = (3..=values.len()).map(|at| format!("holds(m.content, ?{at})")).collect();
        let sql = format!(
            "SELECT id FROM (SELECT m.id, m.row, {} AS held FROM memories m \
             WHERE {LIVE} AND (?1 IS NULL OR m.space = ?1)) WHERE held > 0 ORDER BY held DESC, row DESC LIMIT ?2",
            held.join(" + ")
        );
        self.read(|reader| {
            let mut statement = reader.prepare(&sql)?;
            let ids = statement
                .query_map(params_from_iter(&values), |row| ColumnReader::of(row).id(MemoryId::from_bytes))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    fn size(&self) -> Result<u64, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached("SELECT count(*) FROM memories")?;
            Ok(statement.query_row([], |row| ColumnReader::of(row).count())?)
        })
    }

    fn model(&self) -> Result<Option<String>, StoreError> {
        self.read(|reader| Ok(VectorModels::read(reader)?.answers))
    }

    fn next_model(&self) -> Result<Option<String>, StoreError> {
        self.read(|reader| Ok(VectorModels::read(reader)?.next))
    }

    fn embedded(&self, model: &str) -> Result<u64, StoreError> {
        self.read(|reader| {
            let mut statement =
                reader.prepare_cached("SELECT count(DISTINCT memory) FROM vectors WHERE model = ?1")?;
            Ok(statement.query_row([model], |row| ColumnReader::of(row).count())?)
        })
    }

    fn unembedded(&self, model: &str) -> Result<u64, StoreError> {
        self.read_steadily(|reader| {
            let count = match VectorModels::read(reader)?.table(model) {
                Some(table) => reader
                    .prepare_cached(&format!("SELECT count(*) FROM {table}"))?
                    .query_row([], |row| ColumnReader::of(row).count()),
                None => reader
                    .prepare_cached(&format!("SELECT count(*) FROM memories m WHERE {LIVE} AND {LACKS}"))?
                    .query_row([model], |row| ColumnReader::of(row).count()),
            };
            Ok(count?)
        })
    }

    fn unembedded_ids(&self, model: &str, tried: u32, limit: usize) -> Result<Vec<MemoryId>, StoreError> {
        self.read_steadily(|reader| {
            let sql = match VectorModels::read(reader)?.table(model) {
                Some(table) => format!(
                    "SELECT m.id FROM {table} w CROSS JOIN memories m ON m.row = w.memory \
                     WHERE ?1 IS NOT NULL AND w.attempts < ?3 ORDER BY w.attempts, w.memory LIMIT ?2"
                ),
                None => format!(
                    "SELECT m.id FROM memories m WHERE {LIVE} AND {LACKS} AND ?3 > 0 ORDER BY m.row LIMIT ?2"
                ),
            };
            let mut statement = reader.prepare_cached(&sql)?;
            let ids = statement.query_map(params![model, rows::limit(limit), tried], |row| {
                ColumnReader::of(row).id(MemoryId::from_bytes)
            })?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    fn unlinked(&self, ids: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT m.id FROM json_each(?1) j CROSS JOIN memories m ON m.id = unhex(j.value) \
                 WHERE EXISTS (SELECT 1 FROM unlinked u WHERE u.memory = m.row) ORDER BY j.key",
            )?;
            let found = statement.query_map([visible::memory_ids(ids)], |row| {
                ColumnReader::of(row).id(MemoryId::from_bytes)
            })?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

/// The whole memories from a statement whose first column is the row number.
fn entries(
    reader: &Connection,
    sql: &str,
    values: impl Params,
    model: Option<&str>,
) -> Result<Vec<IndexEntry>, SqliteError> {
    let mut statement = reader.prepare_cached(sql)?;
    let mut found = statement.query(values)?;
    let (mut entries, mut picked) = (Vec::new(), String::from("["));
    while let Some(row) = found.next()? {
        let mut columns = ColumnReader::of(row);
        let number: i64 = columns.take()?;
        if picked.len() > 1 {
            picked.push(',');
        }
        picked.push_str(&number.to_string());
        entries.push(IndexEntry { memory: rows::memory_from(&mut columns)?, chunks: Vec::new() });
    }
    picked.push(']');
    add_chunks(reader, &mut entries, &picked, model)?;
    Ok(entries)
}

/// Adds the chunks to each entry. `picked` contains the row numbers of the entries, in their order, as a JSON array.
fn add_chunks(
    reader: &Connection,
    entries: &mut [IndexEntry],
    picked: &str,
    model: Option<&str>,
) -> Result<(), SqliteError> {
    const BARE: &str = "SELECT j.key, c.start, c.end, c.heading_path \
         FROM json_each(?1) j CROSS JOIN chunks c ON c.memory = j.value WHERE ?2 IS NULL \
         ORDER BY j.key, c.ordinal";
    const WITH_VECTORS: &str = "SELECT j.key, c.start, c.end, c.heading_path, v.vector, v.sentences \
         FROM json_each(?1) j CROSS JOIN chunks c ON c.memory = j.value \
         LEFT JOIN vectors v ON v.memory = c.memory AND v.ordinal = c.ordinal AND v.model = ?2 \
         ORDER BY j.key, c.ordinal";
    let mut statement = reader.prepare_cached(if model.is_some() { WITH_VECTORS } else { BARE })?;
    let mut found = statement.query(params![picked, model])?;
    while let Some(row) = found.next()? {
        let mut columns = ColumnReader::of(row);
        let at = columns.size()?;
        let chunk = chunk(&mut columns, model)?;
        if let Some(entry) = entries.get_mut(at) {
            entry.chunks.push(chunk);
        }
    }
    Ok(())
}

/// Reads `start, end, heading_path` and, if a model is given, `vector, sentences`.
fn chunk(columns: &mut ColumnReader<'_>, model: Option<&str>) -> rusqlite::Result<Chunk> {
    let (start, end, heading_path) = (columns.size()?, columns.size()?, columns.texts()?);
    let embedding = match model {
        Some(model) => embedding(columns, model)?,
        None => None,
    };
    Ok(Chunk { start, end, heading_path, embedding })
}

fn embedding(columns: &mut ColumnReader<'_>, model: &str) -> rusqlite::Result<Option<Embedding>> {
    let Some(whole) = columns.blob_or_none()? else {
        return Ok(None);
    };
    let vector = vectors::unpack(whole).map_err(|error| columns.broken(error))?;
    let sentences = columns.blob_or_none()?.unwrap_or_default();
    let sentences =
        vectors::unpack_sentences(sentences, vector.len()).map_err(|error| columns.broken(error))?;
    Ok(Some(Embedding { model: model.to_owned(), vector, sentences }))
}
