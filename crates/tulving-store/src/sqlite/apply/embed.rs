//! Writes vectors, the current and the next model, and the memories that wait for vectors.
//!
//! The list of waiting memories is correct after every write: the table of a model contains a memory exactly if the
//! memory is live and has a chunk without a vector of that model.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{MemoryId, Version};
use tulving_core::model::memory::{Chunk, Embedding, Status};
use tulving_core::model::vocabulary::ChangeKind;

use super::super::failure::SqliteError;
use super::super::feed::{LACKS, LIVE, VectorModels, is_live};
use super::super::{TransactionCheck, rows, vectors};
use super::{ChangeSetWriter, impossible};

/// The key in `meta` for the last row of `vectors` that was checked for vectors of other models. It is missing if all
/// rows were checked.
const STALE_AFTER: &str = "stale_vectors_after";

impl ChangeSetWriter<'_> {
    pub(super) fn embed(
        &mut self,
        id: MemoryId,
        expected: Version,
        embeddings: &[(u32, Embedding)],
    ) -> Result<(), SqliteError> {
        let (row, at) = self.locate(id)?.ok_or(Conflict::Gone { id })?;
        let found = self.version(row)?;
        if found != expected {
            return Err(Conflict::Stale { id, expected, found }.into());
        }
        let Some((_, first)) = embeddings.first() else {
            return Ok(());
        };
        self.adopt_model(&first.model)?;
        self.prepare_model(&first.model)?;
        for (ordinal, embedding) in embeddings {
            if !self.has_chunk(row, *ordinal)? {
                return Err(Conflict::NoChunk { id, ordinal: *ordinal }.into());
            }
            self.put_vector(row, i64::from(*ordinal), embedding)?;
        }
        self.settle(row)?;
        self.transaction.prepare_cached("DELETE FROM unlinked WHERE memory = ?1")?.execute([row])?;
        self.log(ChangeKind::Embedded, id, at)
    }

    /// Counts a failed attempt, so that other memories are embedded first. Records nothing for a model that no memory
    /// waits for.
    pub(super) fn not_embedded(&mut self, id: MemoryId, model: &str) -> Result<(), SqliteError> {
        if let Some(table) = self.models()?.table(model) {
            let sql = format!(
                "UPDATE {table} SET attempts = attempts + 1 WHERE memory = (SELECT row FROM memories WHERE id = ?1)"
            );
            self.transaction.prepare_cached(&sql)?.execute([id.as_bytes()])?;
        }
        Ok(())
    }

    fn has_chunk(&self, row: i64, ordinal: u32) -> Result<bool, SqliteError> {
        let mut statement =
            self.transaction.prepare_cached("SELECT 1 FROM chunks WHERE memory = ?1 AND ordinal = ?2")?;
        Ok(statement.exists(params![row, ordinal])?)
    }

    /// Writes the vectors of a chunk, and replaces its vectors of the same model.
    pub(super) fn put_vector(
        &self,
        row: i64,
        ordinal: i64,
        embedding: &Embedding,
    ) -> Result<(), SqliteError> {
        let dimensions = embedding.vector.len();
        if dimensions == 0 || embedding.sentences.iter().any(|sentence| sentence.len() != dimensions) {
            return Err(impossible(format!("vectors of {} differ in their dimensions", embedding.model)));
        }
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO vectors (memory, ordinal, model, vector, sentences) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (memory, ordinal, model) \
             DO UPDATE SET vector = excluded.vector, sentences = excluded.sentences",
        )?;
        let (whole, sentences) =
            (vectors::pack(&embedding.vector), vectors::pack_sentences(&embedding.sentences));
        statement.execute(params![row, ordinal, embedding.model, whole, sentences])?;
        Ok(())
    }

    /// Changes the current model. This is fast if the model was prepared; otherwise it reads the whole store to find
    /// the waiting memories.
    pub(super) fn choose_model(&mut self, from: Option<&str>, to: &str) -> Result<(), SqliteError> {
        let VectorModels { answers: found, next } = self.models()?.clone();
        if found.as_deref() != from {
            return Err(Conflict::OtherModel { found }.into());
        }
        set(self.transaction, "model", to)?;
        if next.as_deref() == Some(to) {
            self.transaction.execute_batch(
                "DELETE FROM unembedded; INSERT INTO unembedded (memory, attempts) \
                 SELECT memory, attempts FROM unembedded_next ORDER BY memory",
            )?;
        } else {
            fill(self.transaction, "unembedded", to)?;
        }
        forget_next(self.transaction)?;
        self.models = Some(VectorModels { answers: Some(to.to_owned()), next: None });
        look_for_stale(self.transaction)
    }

    /// Makes this model the current one if there is none yet: the first model that writes vectors is used for answers.
    pub(super) fn adopt_model(&mut self, model: &str) -> Result<(), SqliteError> {
        if self.models()?.answers.is_some() {
            return Ok(());
        }
        set(self.transaction, "model", model)?;
        fill(self.transaction, "unembedded", model)?;
        self.models = Some(VectorModels { answers: Some(model.to_owned()), next: None });
        Ok(())
    }

    /// Prepares a model on request, and cancels the request for another one.
    pub(super) fn request_model(&mut self, model: &str) -> Result<(), SqliteError> {
        let VectorModels { answers, next } = self.models()?.clone();
        if answers.is_none() {
            return Ok(());
        }
        if next.is_some() && next.as_deref() != Some(model) {
            forget_next(self.transaction)?;
            look_for_stale(self.transaction)?;
            self.models = Some(VectorModels { answers, next: None });
        }
        self.prepare_model(model)
    }

    /// Prepares a model that is not current but already embeds memories: it will become the current model. From now on,
    /// the memories that wait for it are recorded. Only one model can be prepared at a time.
    fn prepare_model(&mut self, model: &str) -> Result<(), SqliteError> {
        let models = self.models()?;
        if [&models.answers, &models.next].into_iter().any(|known| known.as_deref() == Some(model)) {
            return Ok(());
        }
        let answers = models.answers.clone();
        set(self.transaction, "next_model", model)?;
        fill(self.transaction, "unembedded_next", model)?;
        self.models = Some(VectorModels { answers, next: Some(model.to_owned()) });
        Ok(())
    }

    /// The current and the next model, read once per change set.
    fn models(&mut self) -> Result<&VectorModels, SqliteError> {
        if self.models.is_none() {
            self.models = Some(VectorModels::read(self.transaction)?);
        }
        Ok(self.models.get_or_insert_default())
    }

    /// Records that a new memory waits for vectors. Writes nothing if its chunks already have vectors.
    pub(super) fn settle_new(
        &mut self,
        row: i64,
        status: &Status,
        chunks: &[Chunk],
    ) -> Result<(), SqliteError> {
        if !is_live(status) {
            return Ok(());
        }
        self.models()?;
        for (model, table) in self.models.iter().flat_map(VectorModels::with_tables) {
            let has = |chunk: &Chunk| chunk.embedding.as_ref().is_some_and(|made| made.model == model);
            if !chunks.iter().all(has) {
                wait(self.transaction, table, row)?;
            }
        }
        Ok(())
    }

    /// Records whether a memory waits for vectors, determined from its present state and chunks.
    pub(super) fn settle(&mut self, row: i64) -> Result<(), SqliteError> {
        self.models()?;
        for (model, table) in self.models.iter().flat_map(VectorModels::with_tables) {
            let sql = format!("SELECT 1 FROM memories m WHERE m.row = ?2 AND {LIVE} AND {LACKS}");
            if self.transaction.prepare_cached(&sql)?.exists(params![model, row])? {
                wait(self.transaction, table, row)?;
            } else {
                let sql = format!("DELETE FROM {table} WHERE memory = ?1");
                self.transaction.prepare_cached(&sql)?.execute([row])?;
            }
        }
        Ok(())
    }
}

/// Records that a memory waits for vectors. Its content may have changed, so its attempts are counted from zero again.
fn wait(transaction: &Connection, table: &str, row: i64) -> Result<(), SqliteError> {
    let sql =
        format!("INSERT INTO {table} (memory) VALUES (?1) ON CONFLICT (memory) DO UPDATE SET attempts = 0");
    transaction.prepare_cached(&sql)?.execute([row])?;
    Ok(())
}

/// Records every memory that waits for a model. Reads the whole store, which takes seconds for 1,000,000 memories.
fn fill(transaction: &Connection, table: &str, model: &str) -> Result<(), SqliteError> {
    transaction.prepare_cached(&format!("DELETE FROM {table}"))?.execute([])?;
    let sql = format!(
        "INSERT INTO {table} (memory) SELECT m.row FROM memories m WHERE {LIVE} AND {LACKS} ORDER BY m.row"
    );
    transaction.prepare_cached(&sql)?.execute([model])?;
    Ok(())
}

fn set(transaction: &Connection, name: &str, value: &str) -> Result<(), SqliteError> {
    let mut statement =
        transaction.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?;
    statement.execute([name, value])?;
    Ok(())
}

fn forget_next(transaction: &Connection) -> Result<(), SqliteError> {
    Ok(transaction
        .execute_batch("DELETE FROM unembedded_next; DELETE FROM meta WHERE name = 'next_model'")?)
}

fn look_for_stale(transaction: &Connection) -> Result<(), SqliteError> {
    let mut statement =
        transaction.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, 0)")?;
    statement.execute([STALE_AFTER])?;
    Ok(())
}

fn stale_after(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    statement.query_row([STALE_AFTER], |row| row.get(0)).optional()
}

/// Checks the next `limit` vectors and removes those of models that are neither current nor next. Returns true if there
/// may be more to check.
pub(in super::super) fn drop_stale_vectors(
    connection: &mut Connection,
    allowed: &TransactionCheck<'_>,
    chosen: Option<&str>,
    limit: usize,
) -> Result<bool, SqliteError> {
    let given_up = |connection: &Connection| -> rusqlite::Result<bool> {
        let next = VectorModels::read(connection)?.next;
        Ok(next.zip(chosen).is_some_and(|(next, chosen)| next != chosen))
    };
    if stale_after(connection)?.is_none() && !given_up(connection)? {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    allowed()?;
    if given_up(&transaction)? {
        forget_next(&transaction)?;
        look_for_stale(&transaction)?;
    }
    let VectorModels { answers, next } = VectorModels::read(&transaction)?;
    let (Some(after), Some(model)) = (stale_after(&transaction)?, answers) else {
        return Ok(false);
    };
    let other = chosen.or(next.as_deref()).unwrap_or(&model);
    // The last row of the page, if the page is full.
    let last: Option<i64> = transaction
        .prepare_cached("SELECT row FROM vectors WHERE row > ?1 ORDER BY row LIMIT 1 OFFSET ?2")?
        .query_row(params![after, rows::limit(limit.max(1) - 1)], |row| row.get(0))
        .optional()?;
    transaction
        .prepare_cached("DELETE FROM vectors WHERE row > ?1 AND row <= ?2 AND model <> ?3 AND model <> ?4")?
        .execute(params![after, last.unwrap_or(i64::MAX), model, other])?;
    match last {
        Some(last) => transaction
            .prepare_cached("UPDATE meta SET value = ?2 WHERE name = ?1")?
            .execute(params![STALE_AFTER, last])?,
        None => transaction.prepare_cached("DELETE FROM meta WHERE name = ?1")?.execute([STALE_AFTER])?,
    };
    transaction.commit()?;
    Ok(last.is_some())
}
