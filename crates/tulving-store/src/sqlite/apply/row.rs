//! Writes the row of a memory and its dependent rows: usage, chunks, past versions.
//!
//! The callers decide which dependent rows a write changes. No function in this module writes to the change log.

use std::sync::LazyLock;

use rusqlite::{ToSql, params, params_from_iter};
use tulving_core::model::id::{MemoryNumber, PassId, PrincipalId, Version};
use tulving_core::model::memory::{Attachment, Chunk, Memory, Status, VersionFields, VersionRecord};
use tulving_core::model::record::CurrentVersion;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::VersionAct;

use super::super::failure::SqliteError;
use super::super::rows::{self, bounded, micros, signed};
use super::ChangeSetWriter;

/// The new values of a memory's row.
#[derive(Clone, Copy)]
pub(super) struct MemoryRowUpdate<'a> {
    pub(super) row: i64,
    pub(super) fields: &'a VersionFields,
    pub(super) status: &'a Status,
    pub(super) version: Version,
    pub(super) act: VersionAct,
    pub(super) by: PrincipalId,
    pub(super) agent: Option<&'a str>,
    pub(super) at: Timestamp,
}

/// The columns that [`ChangeSetWriter::insert_row`] writes before those of the version.
const AROUND: &str = "id, number, space, owner, state, forgotten_at, quarantined_at, pinned, ruled_at, done_at, author, \
     origin, trust, source_agent, assisted_by_agent, pass, mirror_line, mirror_occurrence, source_path, also_without_path, \
     attachment_key, attachment_media_type, attachment_size, attachment_hash, attachment_name, attachment_trouble, position, \
     conversation, speaker, created_at, updated_at, version, version_act, updated_by, updated_agent, apart";

/// The statement of [`ChangeSetWriter::insert_row`].
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let columns = format!("{AROUND}, {}", rows::FIELDS.replace("m.", ""));
    format!("INSERT INTO memories ({columns}) VALUES ({})", placeholders(1, columns.split(',').count()))
});

/// The statement of [`ChangeSetWriter::update_row`].
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let fields = rows::FIELDS.replace("m.", "");
    format!(
        "UPDATE memories SET apart = CASE WHEN content_hash = ?2 OR attachment_name IS NOT NULL THEN apart ELSE 0 END, \
         version = ?3, version_act = ?4, updated_by = ?5, updated_agent = ?6, updated_at = ?7, state = ?8, \
         forgotten_at = ?9, quarantined_at = ?10, pinned = ?11, ruled_at = ?12, done_at = ?13, \
         ({fields}) = ({}) WHERE row = ?1",
        placeholders(14, fields.split(',').count())
    )
});

/// `count` placeholders, numbered from `first`, for a list of values.
fn placeholders(first: usize, count: usize) -> String {
    (first..first + count).map(|at| format!("?{at}")).collect::<Vec<_>>().join(", ")
}

impl ChangeSetWriter<'_> {
    /// Writes a new row. `apart` is 0, or a unique number for a memory that may have the same content as another one.
    pub(super) fn insert_row(
        &mut self,
        memory: &Memory,
        number: Option<MemoryNumber>,
        written: &CurrentVersion,
        apart: i64,
    ) -> Result<i64, SqliteError> {
        let (status, provenance, place) = (&memory.status, &memory.provenance, &memory.place);
        let attachment = provenance.attachment.as_ref();
        let mut statement = self.transaction.prepare_cached(&INSERT)?;
        let around = params![
            memory.id.as_bytes(),
            number.map(|number| signed(number.0)),
            memory.space.as_bytes(),
            memory.owner.as_bytes(),
            status.state.as_str(),
            micros(status.forgotten_at),
            micros(status.quarantined_at),
            status.pinned,
            micros(status.ruled_at),
            micros(status.done_at),
            provenance.author.as_str(),
            provenance.origin.as_str(),
            provenance.trust.as_str(),
            provenance.source_agent,
            provenance.assisted_by_agent,
            provenance.pass.as_ref().map(PassId::as_bytes),
            provenance.mirror.map(|mirror| mirror.line),
            provenance.mirror.map(|mirror| mirror.occurrence),
            provenance.source_path,
            provenance.also_without_path && provenance.source_path.is_some(),
            attachment.map(|object| &object.object_key),
            attachment.map(|object| &object.media_type),
            attachment.map(|object| signed(object.size)),
            attachment.map(|object| &object.hash),
            attachment.and_then(|object| object.name.as_ref()),
            attachment.and_then(|object| object.trouble.as_ref()),
            place.position,
            place.conversation,
            place.speaker,
            memory.usage.created_at.as_micros(),
            memory.usage.updated_at.as_micros(),
            memory.version.0,
            written.act.as_str(),
            written.by.as_bytes(),
            written.agent,
            apart,
        ];
        let fields = rows::field_values(&memory.fields)?;
        let values = around.iter().copied().chain(fields.iter().map(|value| value as &dyn ToSql));
        let row = statement.insert(params_from_iter(values))?;
        drop(statement);
        if provenance.source_path.is_some() && provenance.mirror.is_none() {
            self.insert_paths(row, provenance.paths())?;
            self.refuse_taken_paths(row)?;
        }
        self.insert_usage(row, memory)?;
        Ok(row)
    }

    fn insert_usage(&mut self, row: i64, memory: &Memory) -> Result<(), SqliteError> {
        let usage = &memory.usage;
        if usage.access_count == 0 && usage.accessed_at == usage.created_at {
            return Ok(());
        }
        self.transaction
            .prepare_cached("INSERT INTO usage (memory, accessed_at, access_count) VALUES (?1, ?2, ?3)")?
            .execute(params![row, usage.accessed_at.as_micros(), bounded(usage.access_count)])?;
        Ok(())
    }

    pub(super) fn update_row(&mut self, to: MemoryRowUpdate<'_>) -> Result<(), SqliteError> {
        let status = to.status;
        let mut statement = self.transaction.prepare_cached(&UPDATE)?;
        let around = params![
            to.row,
            to.fields.text.content_hash.0,
            to.version.0,
            to.act.as_str(),
            to.by.as_bytes(),
            to.agent,
            to.at.as_micros(),
            status.state.as_str(),
            micros(status.forgotten_at),
            micros(status.quarantined_at),
            status.pinned,
            micros(status.ruled_at),
            micros(status.done_at),
        ];
        let fields = rows::field_values(to.fields)?;
        let values = around.iter().copied().chain(fields.iter().map(|value| value as &dyn ToSql));
        statement.execute(params_from_iter(values))?;
        Ok(())
    }

    pub(super) fn insert_chunks(&mut self, row: i64, chunks: &[Chunk]) -> Result<(), SqliteError> {
        if let Some(embedding) = chunks.iter().find_map(|chunk| chunk.embedding.as_ref()) {
            self.adopt_model(&embedding.model)?;
        }
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO chunks (memory, ordinal, start, end, heading_path) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for (ordinal, chunk) in chunks.iter().enumerate() {
            let ordinal = rows::limit(ordinal);
            let (start, end) = (rows::limit(chunk.start), rows::limit(chunk.end));
            statement.execute(params![row, ordinal, start, end, rows::list(&chunk.heading_path)?])?;
            if let Some(embedding) = &chunk.embedding {
                self.put_vector(row, ordinal, embedding)?;
            }
        }
        Ok(())
    }

    pub(super) fn replace_chunks(&mut self, row: i64, chunks: &[Chunk]) -> Result<(), SqliteError> {
        self.transaction.prepare_cached("DELETE FROM chunks WHERE memory = ?1")?.execute([row])?;
        self.insert_chunks(row, chunks)
    }

    pub(super) fn insert_version(&mut self, row: i64, version: &VersionRecord) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO versions (memory, version, act, at, by, agent, boundary, edition) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        statement.execute(params![
            row,
            version.version.0,
            version.act.as_str(),
            version.at.as_micros(),
            version.by.as_bytes(),
            version.agent,
            version.fields.boundary.as_str(),
            serde_json::to_string(&version.fields)?,
        ])?;
        Ok(())
    }

    /// Replaces or removes the file of a memory.
    pub(super) fn attach(&mut self, row: i64, attachment: Option<&Attachment>) -> Result<(), SqliteError> {
        self.transaction
            .prepare_cached(
                "UPDATE memories SET attachment_key = ?2, attachment_media_type = ?3, attachment_size = ?4, \
                 attachment_hash = ?5, attachment_name = ?6, attachment_trouble = ?7, \
                 apart = CASE WHEN attachment_hash IS ?5 THEN apart ELSE 0 END WHERE row = ?1",
            )?
            .execute(params![
                row,
                attachment.map(|object| &object.object_key),
                attachment.map(|object| &object.media_type),
                attachment.map(|object| signed(object.size)),
                attachment.map(|object| &object.hash),
                attachment.and_then(|object| object.name.as_ref()),
                attachment.and_then(|object| object.trouble.as_ref()),
            ])?;
        Ok(())
    }
}
