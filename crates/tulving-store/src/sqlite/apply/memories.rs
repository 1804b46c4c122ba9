//! Writes memories, their versions, chunks and associations.

use std::collections::hash_map::Entry;

use rusqlite::{OptionalExtension, params};
use tulving_core::association::Association;
use tulving_core::change::{NewMemory, Revision, Touch};
use tulving_core::error::Conflict;
use tulving_core::id::{MemoryId, Number, PassId, PrincipalId, SpaceId, Version};
use tulving_core::memory::{Attachment, Chunk, Edition, Memory, Standing, VersionRecord};
use tulving_core::record::CurrentVersion;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{ChangeKind, Relation, State, VersionAct};

use super::super::failure::Fault;
use super::super::feed::is_live;
use super::super::rows::{self, CURRENT, Columns, EDITION, LARGEST, bounded, micros, signed};
use super::{Act, Whereabouts, impossible};

/// A memory as it is before it is changed.
pub(super) struct Before {
    pub(super) row: i64,
    pub(super) at: Whereabouts,
    standing: Standing,
    mirror: bool,
    pub(super) version: VersionRecord,
}

/// A memory as its row shall be.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) row: i64,
    pub(super) edition: &'a Edition,
    pub(super) standing: &'a Standing,
    pub(super) version: Version,
    pub(super) act: VersionAct,
    pub(super) by: PrincipalId,
    pub(super) agent: Option<&'a str>,
    pub(super) at: Timestamp,
}

impl Act<'_> {
    pub(super) fn insert(&mut self, new: &NewMemory) -> Result<(), Fault> {
        let memory = &new.memory;
        let number = match memory.provenance.mirror {
            Some(_) => None,
            None => Some(self.next_number(memory.space)?),
        };
        let written = CurrentVersion {
            act: VersionAct::Created,
            by: self.changes.by.principal,
            agent: self.changes.by.agent.clone(),
        };
        let row = self.insert_row(memory, number, &written)?;
        self.insert_chunks(row, &new.chunks)?;
        self.settle_new(row, &memory.standing, &new.chunks)?;
        if new.chunks.iter().any(|chunk| chunk.embedding.is_none()) {
            self.transaction.prepare_cached("INSERT INTO unlinked (memory) VALUES (?1)")?.execute([row])?;
        }
        self.applied.numbers.push(number);
        self.log(ChangeKind::Saved, memory.id, whereabouts(memory))
    }

    /// The number of the space's next memory, which nobody else will get.
    pub(super) fn next_number(&mut self, space: SpaceId) -> Result<Number, Fault> {
        let next = self.number_counter(space)?;
        *next += 1;
        Ok(Number(*next - 1))
    }

    /// The counter of a space's numbers, for as long as this act lasts.
    pub(super) fn number_counter(&mut self, space: SpaceId) -> Result<&mut u64, Fault> {
        match self.next_numbers.entry(space) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let mut statement =
                    self.transaction.prepare_cached("SELECT next_number FROM spaces WHERE id = ?1")?;
                let next =
                    statement.query_row([space.as_bytes()], |row| Columns::of(row).count()).optional()?;
                Ok(unknown.insert(next.ok_or_else(|| impossible(format!("there is no space {space}")))?))
            }
        }
    }

    /// Writes the counters back.
    pub(super) fn keep_next_numbers(&mut self) -> Result<(), Fault> {
        for (space, next) in &self.next_numbers {
            self.transaction
                .prepare_cached("UPDATE spaces SET next_number = ?2 WHERE id = ?1")?
                .execute(params![space.as_bytes(), signed(*next)])?;
        }
        Ok(())
    }

    pub(super) fn insert_row(
        &mut self,
        memory: &Memory,
        number: Option<Number>,
        written: &CurrentVersion,
    ) -> Result<i64, Fault> {
        let Edition { key, boundary, text, class, span, source_note, auto } = &memory.edition;
        let (standing, provenance, place) = (&memory.standing, &memory.provenance, &memory.place);
        let attachment = provenance.attachment.as_ref();
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO memories (id, number, space, owner, boundary, state, forgotten_at, quarantined_at, pinned, \
             type, kind, stability, importance, content_type, content_hash, author, origin, trust, created_at, \
             updated_at, version, version_act, updated_by, updated_agent, occurred_at, valid_from, valid_until, \
             expires_at, source_agent, assisted_by_agent, pass, mirror_line, mirror_occurrence, attachment_key, \
             attachment_media_type, attachment_size, attachment_hash, position, conversation, speaker, key, \
             source_path, title, tags, source_note, summary, content, auto, language, attachment_name, attachment_trouble, \
             ruled_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, \
             ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40, ?41, ?42, \
             ?43, ?44, ?45, ?46, ?47, ?48, ?49, ?50, ?51, ?52)",
        )?;
        let row = statement.insert(params![
            memory.id.as_bytes(),
            number.map(|number| signed(number.0)),
            memory.space.as_bytes(),
            memory.owner.as_bytes(),
            boundary.as_str(),
            standing.state.as_str(),
            micros(standing.forgotten_at),
            micros(standing.quarantined_at),
            standing.pinned,
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
            tags(&text.tags)?,
            source_note,
            text.summary,
            text.content,
            auto.bits(),
            text.language,
            attachment.and_then(|object| object.name.as_ref()),
            attachment.and_then(|object| object.trouble.as_ref()),
            micros(standing.ruled_at),
        ])?;
        drop(statement);
        self.insert_usage(row, memory)?;
        Ok(row)
    }

    fn insert_usage(&mut self, row: i64, memory: &Memory) -> Result<(), Fault> {
        let usage = &memory.usage;
        if usage.access_count == 0 && usage.accessed_at == usage.created_at {
            return Ok(());
        }
        self.transaction
            .prepare_cached("INSERT INTO usage (memory, accessed_at, access_count) VALUES (?1, ?2, ?3)")?
            .execute(params![row, usage.accessed_at.as_micros(), bounded(usage.access_count)])?;
        Ok(())
    }

    pub(super) fn insert_chunks(&mut self, row: i64, chunks: &[Chunk]) -> Result<(), Fault> {
        if let Some(embedding) = chunks.iter().find_map(|chunk| chunk.embedding.as_ref()) {
            self.adopt_model(&embedding.model)?;
        }
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO chunks (memory, ordinal, start, end, heading_path) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for (ordinal, chunk) in chunks.iter().enumerate() {
            let ordinal = rows::limit(ordinal);
            let (start, end) = (rows::limit(chunk.start), rows::limit(chunk.end));
            statement.execute(params![row, ordinal, start, end, tags(&chunk.heading_path)?])?;
            if let Some(embedding) = &chunk.embedding {
                self.put_vector(row, ordinal, embedding)?;
            }
        }
        Ok(())
    }

    pub(super) fn insert_version(&mut self, row: i64, version: &VersionRecord) -> Result<(), Fault> {
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
            version.edition.boundary.as_str(),
            serde_json::to_string(&version.edition)?,
        ])?;
        Ok(())
    }

    pub(super) fn revise(&mut self, revision: &Revision) -> Result<(), Fault> {
        let id = revision.id;
        let before = self.expected(id, revision.from, &revision.stood)?;
        if !before.mirror {
            self.insert_version(before.row, &before.version)?;
        }
        self.update_row(Row {
            row: before.row,
            edition: &revision.edition,
            standing: &revision.standing,
            version: revision.from.next(),
            act: revision.act,
            by: self.changes.by.principal,
            agent: self.changes.by.agent.as_deref(),
            at: self.changes.at,
        })?;
        if let Some(attachment) = &revision.attachment {
            self.attach(before.row, attachment.as_ref())?;
        }
        if let Some(chunks) = &revision.chunks {
            self.replace_chunks(before.row, chunks)?;
        }
        if revision.chunks.is_some() || is_live(&revision.stood) != is_live(&revision.standing) {
            self.settle(before.row)?;
        }
        let at = Whereabouts { boundary: revision.edition.boundary, ..before.at };
        if at.boundary < before.at.boundary {
            self.log(ChangeKind::Erased, id, before.at)?;
        }
        self.log(ChangeKind::Revised, id, at)
    }

    /// A memory that is as it was when what is to be written was decided.
    pub(super) fn expected(&self, id: MemoryId, from: Version, stood: &Standing) -> Result<Before, Fault> {
        let before = self
            .before(id)?
            .filter(|before| before.standing.forgotten_at.is_none())
            .ok_or(Conflict::Gone { id })?;
        Self::unmoved(before, id, from, stood)
    }

    /// The same, also of what is forgotten.
    pub(super) fn kept(&self, id: MemoryId, from: Version, stood: &Standing) -> Result<Before, Fault> {
        let before = self.before(id)?.ok_or(Conflict::Gone { id })?;
        Self::unmoved(before, id, from, stood)
    }

    fn unmoved(before: Before, id: MemoryId, from: Version, stood: &Standing) -> Result<Before, Fault> {
        let found = before.version.version;
        if found != from {
            return Err(Conflict::Stale { id, expected: from, found }.into());
        }
        if before.standing != *stood {
            return Err(Conflict::Moved { id }.into());
        }
        Ok(before)
    }

    pub(super) fn replace_chunks(&mut self, row: i64, chunks: &[Chunk]) -> Result<(), Fault> {
        self.transaction.prepare_cached("DELETE FROM chunks WHERE memory = ?1")?.execute([row])?;
        self.insert_chunks(row, chunks)
    }

    /// Another file for a memory, or none.
    pub(super) fn attach(&mut self, row: i64, attachment: Option<&Attachment>) -> Result<(), Fault> {
        self.transaction
            .prepare_cached(
                "UPDATE memories SET attachment_key = ?2, attachment_media_type = ?3, attachment_size = ?4, \
                 attachment_hash = ?5, attachment_name = ?6, attachment_trouble = ?7 WHERE row = ?1",
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

    fn before(&self, id: MemoryId) -> Result<Option<Before>, Fault> {
        let mut statement = self.transaction.prepare_cached(&format!(
            "SELECT m.row, m.space, m.owner, m.boundary, m.state, m.forgotten_at, m.quarantined_at, m.pinned, \
             m.ruled_at, m.mirror_line IS NOT NULL, m.version, m.updated_at, {CURRENT}, {EDITION} FROM memories m WHERE m.id = ?1"
        ))?;
        let before = statement.query_row([id.as_bytes()], |row| {
            let mut columns = Columns::of(row);
            let (row, at) = (columns.take()?, Whereabouts::read(&mut columns)?);
            let (standing, mirror) = (rows::standing(&mut columns)?, columns.take()?);
            let (version, written_at) = (Version(columns.take()?), columns.time()?);
            let CurrentVersion { act, by, agent } = rows::current(&mut columns)?;
            let edition = rows::edition(&mut columns)?;
            let version = VersionRecord { version, act, at: written_at, by, agent, edition };
            Ok(Before { row, at, standing, mirror, version })
        });
        Ok(before.optional()?)
    }

    pub(super) fn update_row(&mut self, to: Row<'_>) -> Result<(), Fault> {
        let Edition { key, boundary, text, class, span, source_note, auto } = to.edition;
        let standing = to.standing;
        let mut statement = self.transaction.prepare_cached(
            "UPDATE memories SET version = ?2, version_act = ?3, updated_by = ?4, updated_agent = ?5, \
             updated_at = ?6, state = ?7, forgotten_at = ?8, quarantined_at = ?9, pinned = ?10, key = ?11, \
             boundary = ?12, content = ?13, content_type = ?14, content_hash = ?15, title = ?16, summary = ?17, \
             tags = ?18, type = ?19, kind = ?20, stability = ?21, importance = ?22, occurred_at = ?23, \
             valid_from = ?24, valid_until = ?25, expires_at = ?26, source_note = ?27, auto = ?28, language = ?29, \
             ruled_at = ?30 WHERE row = ?1",
        )?;
        statement.execute(params![
            to.row,
            to.version.0,
            to.act.as_str(),
            to.by.as_bytes(),
            to.agent,
            to.at.as_micros(),
            standing.state.as_str(),
            micros(standing.forgotten_at),
            micros(standing.quarantined_at),
            standing.pinned,
            key,
            boundary.as_str(),
            text.content,
            text.content_type.as_str(),
            text.content_hash.0,
            text.title,
            text.summary,
            tags(&text.tags)?,
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
            micros(standing.ruled_at),
        ])?;
        Ok(())
    }

    /// A move of a memory from one standing to another.
    pub(super) fn shift(&mut self, id: MemoryId, from: &Standing, to: &Standing) -> Result<(), Fault> {
        let mut statement = self.transaction.prepare_cached(
            "UPDATE memories SET state = ?2, forgotten_at = ?3, quarantined_at = ?4, pinned = ?5, ruled_at = ?6 \
             WHERE id = ?1 AND state = ?7 AND forgotten_at IS ?8 AND quarantined_at IS ?9 AND pinned = ?10 \
             AND ruled_at IS ?11 RETURNING row, space, owner, boundary",
        )?;
        let values = params![
            id.as_bytes(),
            to.state.as_str(),
            micros(to.forgotten_at),
            micros(to.quarantined_at),
            to.pinned,
            micros(to.ruled_at),
            from.state.as_str(),
            micros(from.forgotten_at),
            micros(from.quarantined_at),
            from.pinned,
            micros(from.ruled_at),
        ];
        let moved = statement.query_row(values, located).optional()?;
        drop(statement);
        let Some((row, at)) = moved else {
            let there = self.locate(id)?.is_some();
            return Err(if there { Conflict::Moved { id } } else { Conflict::Gone { id } }.into());
        };
        if is_live(from) != is_live(to) {
            self.settle(row)?;
        }
        self.log(ChangeKind::Moved, id, at)
    }

    /// A move of a memory from one space to another.
    pub(super) fn relocate(
        &mut self,
        id: MemoryId,
        (space, version): (SpaceId, Version),
        to: SpaceId,
    ) -> Result<(), Fault> {
        let found = self
            .transaction
            .prepare_cached(
                "SELECT row, space, owner, boundary, version, number IS NOT NULL FROM memories \
                 WHERE id = ?1 AND forgotten_at IS NULL",
            )?
            .query_row([id.as_bytes()], |row| {
                let mut columns = Columns::of(row);
                let (row, at): (i64, _) = (columns.take()?, Whereabouts::read(&mut columns)?);
                Ok((row, at, Version(columns.take()?), columns.take::<bool>()?))
            })
            .optional()?;
        let (row, at, found, numbered) = found.ok_or(Conflict::Gone { id })?;
        if at.space != space {
            return Err(Conflict::Moved { id }.into());
        }
        if found != version {
            return Err(Conflict::Stale { id, expected: version, found }.into());
        }
        let number = if numbered { Some(self.next_number(to)?) } else { None };
        self.transaction
            .prepare_cached("UPDATE memories SET space = ?2, number = ?3 WHERE row = ?1")?
            .execute(params![row, to.as_bytes(), number.map(|number| signed(number.0))])?;
        self.applied.numbers.push(number);
        self.log(ChangeKind::Erased, id, at)?;
        self.log(ChangeKind::Saved, id, Whereabouts { space: to, ..at })
    }

    pub(super) fn erase(&mut self, id: MemoryId, from: Option<Version>) -> Result<(), Fault> {
        let (row, at) = self.locate(id)?.ok_or(Conflict::Gone { id })?;
        if let Some(expected) = from {
            let found = self.version(row)?;
            if found != expected {
                return Err(Conflict::Stale { id, expected, found }.into());
            }
        }
        let mut statement = self
            .transaction
            .prepare_cached("DELETE FROM memories WHERE row = ?1 RETURNING mirror_line IS NOT NULL")?;
        match statement.query_row([row], |row| row.get(0))? {
            true => self.erased.mirrors += 1,
            false => self.erased.records = true,
        }
        drop(statement);
        self.log(ChangeKind::Erased, id, at)
    }

    pub(super) fn link(&mut self, association: &Association) -> Result<(), Fault> {
        let Association { source, target, .. } = *association;
        let (source_row, at) = self.locate(source)?.ok_or(Conflict::Gone { id: source })?;
        let (target_row, _) = self.locate(target)?.ok_or(Conflict::Gone { id: target })?;
        self.insert_association(source_row, target_row, association)?;
        self.log(ChangeKind::Linked, source, at)
    }

    /// Writes an association, or the weight and maker of one that is there.
    pub(super) fn insert_association(
        &mut self,
        source: i64,
        target: i64,
        association: &Association,
    ) -> Result<(), Fault> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO associations (source, target, relation, weight, linked_by, created_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (source, target, relation) \
             DO UPDATE SET weight = excluded.weight, linked_by = excluded.linked_by \
             WHERE excluded.linked_by = 'caller' OR associations.linked_by = 'auto'",
        )?;
        statement.execute(params![
            source,
            target,
            association.relation.as_str(),
            association.weight.get(),
            association.linked_by.as_str(),
            association.created_at.as_micros(),
        ])?;
        Ok(())
    }

    pub(super) fn unlink(
        &mut self,
        source: MemoryId,
        target: MemoryId,
        relation: Relation,
    ) -> Result<(), Fault> {
        let (Some((source_row, at)), Some((target_row, _))) = (self.locate(source)?, self.locate(target)?)
        else {
            return Ok(());
        };
        let removed = self
            .transaction
            .prepare_cached("DELETE FROM associations WHERE source = ?1 AND target = ?2 AND relation = ?3")?
            .execute(params![source_row, target_row, relation.as_str()])?;
        if removed > 0 { self.log(ChangeKind::Unlinked, source, at) } else { Ok(()) }
    }

    pub(super) fn touch(&mut self, touch: &Touch) -> Result<(), Fault> {
        let found = self
            .transaction
            .prepare_cached(
                "SELECT row, space, owner, boundary, state = 'cooling' AND forgotten_at IS NULL \
                 FROM memories WHERE id = ?1",
            )?
            .query_row([touch.id.as_bytes()], |row| {
                let mut columns = Columns::of(row);
                let (row, at): (i64, _) = (columns.take()?, Whereabouts::read(&mut columns)?);
                Ok((row, at, columns.take::<bool>()?))
            })
            .optional()?;
        let Some((row, at, cooling)) = found else {
            return Ok(());
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO usage (memory, accessed_at, access_count) \
                 SELECT row, max(created_at, ?2), ?3 FROM memories WHERE row = ?1 \
                 ON CONFLICT (memory) DO UPDATE SET accessed_at = max(accessed_at, excluded.accessed_at), \
                 access_count = min(min(access_count, ?4) + excluded.access_count, ?4)",
            )?
            .execute(params![row, touch.at.as_micros(), bounded(touch.count), signed(LARGEST)])?;
        if !cooling {
            return Ok(());
        }
        self.transaction
            .prepare_cached("UPDATE memories SET state = ?2, ruled_at = NULL WHERE row = ?1")?
            .execute(params![row, State::Active.as_str()])?;
        self.log(ChangeKind::Moved, touch.id, at)
    }

    pub(super) fn version(&self, row: i64) -> Result<Version, Fault> {
        let mut statement = self.transaction.prepare_cached("SELECT version FROM memories WHERE row = ?1")?;
        Ok(Version(statement.query_row([row], |row| row.get(0))?))
    }

    /// The row of a memory and what the log says of it.
    pub(super) fn locate(&self, id: MemoryId) -> Result<Option<(i64, Whereabouts)>, Fault> {
        let mut statement = self
            .transaction
            .prepare_cached("SELECT row, space, owner, boundary FROM memories WHERE id = ?1")?;
        Ok(statement.query_row([id.as_bytes()], located).optional()?)
    }
}

/// Reads `row, space, owner, boundary` of a memory.
pub(super) fn located(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, Whereabouts)> {
    let mut columns = Columns::of(row);
    Ok((columns.take()?, Whereabouts::read(&mut columns)?))
}

/// What the change log says of a memory.
pub(super) fn whereabouts(memory: &Memory) -> Whereabouts {
    Whereabouts { space: memory.space, owner: memory.owner, boundary: memory.edition.boundary }
}

/// A list of texts as JSON. Most are empty.
fn tags(texts: &[String]) -> Result<String, Fault> {
    if texts.is_empty() { Ok("[]".to_owned()) } else { Ok(serde_json::to_string(texts)?) }
}
