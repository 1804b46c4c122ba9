//! Writes the row of a memory and its dependent rows: usage, chunks, past versions.
//!
//! The callers decide the effect of each write on them; nothing here goes into the change log.

use rusqlite::params;
use tulving_core::model::id::{Number, PassId, PrincipalId, Version};
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

impl ChangeSetWriter<'_> {
    /// Writes a new row. `apart` is 0, or a unique number for a memory that may repeat the content of another.
    pub(super) fn insert_row(
        &mut self,
        memory: &Memory,
        number: Option<Number>,
        written: &CurrentVersion,
        apart: i64,
    ) -> Result<i64, SqliteError> {
        let VersionFields { key, boundary, text, class, span, source_note, auto } = &memory.fields;
        let (status, provenance, place) = (&memory.status, &memory.provenance, &memory.place);
        let attachment = provenance.attachment.as_ref();
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO memories (id, number, space, owner, boundary, state, forgotten_at, quarantined_at, pinned, \
             type, kind, stability, importance, content_type, content_hash, author, origin, trust, created_at, \
             updated_at, version, version_act, updated_by, updated_agent, occurred_at, valid_from, valid_until, \
             expires_at, source_agent, assisted_by_agent, pass, mirror_line, mirror_occurrence, attachment_key, \
             attachment_media_type, attachment_size, attachment_hash, position, conversation, speaker, key, \
             source_path, title, tags, source_note, summary, content, auto, language, attachment_name, attachment_trouble, \
             ruled_at, done_at, also_without_path, apart) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
             ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, \
             ?43, ?44, ?45, ?46, ?47, ?48, ?49, ?50, ?51, ?52, ?53, ?54, ?55)",
        )?;
        let row = statement.insert(params![
            memory.id.as_bytes(),
            number.map(|number| signed(number.0)),
            memory.space.as_bytes(),
            memory.owner.as_bytes(),
            boundary.as_str(),
            status.state.as_str(),
            micros(status.forgotten_at),
            micros(status.quarantined_at),
            status.pinned,
            class.memory_type.as_str(),
            class.kind.as_str(),
            class.stability.as_str(),
            class.importance.get(),
            text.content_type.as_str(),
            text.content_hash.0,
            provenance.author.as_str(),
            provenance.origin.as_str(),
            provenance.trust.as_str(),
            memory.usage.created_at.as_micros(),
            memory.usage.updated_at.as_micros(),
            memory.version.0,
            written.act.as_str(),
            written.by.as_bytes(),
            written.agent,
            micros(span.occurred_at),
            micros(span.valid_from),
            micros(span.valid_until),
            micros(span.expires_at),
            provenance.source_agent,
            provenance.assisted_by_agent,
            provenance.pass.as_ref().map(PassId::as_bytes),
            provenance.mirror.map(|mirror| mirror.line),
            provenance.mirror.map(|mirror| mirror.occurrence),
            attachment.map(|object| &object.object_key),
            attachment.map(|object| &object.media_type),
            attachment.map(|object| signed(object.size)),
            attachment.map(|object| &object.hash),
            place.position,
            place.conversation,
            place.speaker,
            key,
            provenance.source_path,
            text.title,
            texts(&text.tags)?,
            source_note,
            text.summary,
            text.content,
            auto.bits(),
            text.language,
            attachment.and_then(|object| object.name.as_ref()),
            attachment.and_then(|object| object.trouble.as_ref()),
            micros(status.ruled_at),
            micros(status.done_at),
            provenance.also_without_path && provenance.source_path.is_some(),
            apart,
        ])?;
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
        let VersionFields { key, boundary, text, class, span, source_note, auto } = to.fields;
        let status = to.status;
        let mut statement = self.transaction.prepare_cached(
            "UPDATE memories SET version = ?2, version_act = ?3, updated_by = ?4, updated_agent = ?5, \
             updated_at = ?6, state = ?7, forgotten_at = ?8, quarantined_at = ?9, pinned = ?10, key = ?11, \
             boundary = ?12, content = ?13, content_type = ?14, content_hash = ?15, title = ?16, summary = ?17, \
             tags = ?18, type = ?19, kind = ?20, stability = ?21, importance = ?22, occurred_at = ?23, \
             valid_from = ?24, valid_until = ?25, expires_at = ?26, source_note = ?27, auto = ?28, language = ?29, \
             ruled_at = ?30, done_at = ?31, \
             apart = CASE WHEN content_hash = ?15 OR attachment_name IS NOT NULL THEN apart ELSE 0 END \
             WHERE row = ?1",
        )?;
        statement.execute(params![
            to.row,
            to.version.0,
            to.act.as_str(),
            to.by.as_bytes(),
            to.agent,
            to.at.as_micros(),
            status.state.as_str(),
            micros(status.forgotten_at),
            micros(status.quarantined_at),
            status.pinned,
            key,
            boundary.as_str(),
            text.content,
            text.content_type.as_str(),
            text.content_hash.0,
            text.title,
            text.summary,
            texts(&text.tags)?,
            class.memory_type.as_str(),
            class.kind.as_str(),
            class.stability.as_str(),
            class.importance.get(),
            micros(span.occurred_at),
            micros(span.valid_from),
            micros(span.valid_until),
            micros(span.expires_at),
            source_note,
            auto.bits(),
            text.language,
            micros(status.ruled_at),
            micros(status.done_at),
        ])?;
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
            statement.execute(params![row, ordinal, start, end, texts(&chunk.heading_path)?])?;
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

/// A list of texts as JSON. Most are empty.
fn texts(list: &[String]) -> Result<String, SqliteError> {
    if list.is_empty() { Ok("[]".to_owned()) } else { Ok(serde_json::to_string(list)?) }
}
