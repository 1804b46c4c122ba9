//! Converts drafts into the writes of one transaction, and the results of the writes into receipts.

use std::cmp::Reverse;
use std::collections::HashMap;

use tulving_text::classify::competing::ConflictingValues;

use crate::model::answer::{NearMemory, PossibleUpdate, Receipt, SaveOutcome, Warning};
use crate::model::association::Association;
use crate::model::change::{BackgroundResult, ConfirmedOrigin, NewMemory, RequiredRole, Revision, Write};
use crate::model::error::{Error, Invalid};
use crate::model::file::ImportedFile;
use crate::model::id::{MemoryId, MemoryRef, Seq, Version};
use crate::model::job::Job;
use crate::model::memory::{
    Attachment, Chunk, Embedding, Memory, Provenance, Sources, Status, Usage, VersionFields,
};
use crate::model::pass::{Pass, PassAct};
use crate::model::preview;
use crate::model::request::{Caller, ForgottenFilter};
use crate::model::score::Weight;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{
    AuditAct, Author, Boundary, LinkedBy, PassOutcome, Relation, Role, State, Trust, VersionAct,
};
use crate::rank::duplicates;
use crate::rank::ties::{self, ConflictCandidate};
use crate::text::{commands, normalize};
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::{self, LinkCandidate};
use crate::verbs::jobs;
use crate::verbs::objects;
use crate::verbs::retract::{self, Edge, named, retract};
use crate::verbs::status;
use crate::verbs::succession::{self, PointInTime};

use super::confirm::{self, confirmed};
use super::dedupe::{self, PendingMemories, UniqueSlot};
use super::derive::DraftContext;
use super::intake::{Draft, Imported, Patch, ValidatedLink};
use super::sources::{self, SourceChange};

/// A transaction under construction.
pub(crate) struct SaveBatch<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    space: &'a Space,
    now: Timestamp,
    rights: Vec<RequiredRole>,
    writes: Vec<Write>,
    pending: PendingMemories,
    receipts: Vec<Receipt>,
    /// The memories inserted, in the order of their writes.
    inserted: Vec<MemoryId>,
    /// The last entry of the change log before the first comparison.
    seen: Option<Seq>,
    /// The new memories that were compared with others.
    compared: Vec<ComparedMemory>,
    /// The pass to which the transaction belongs, if any.
    pass: Option<Pass>,
}

/// First, the memory that a draft repeats, if any, with the slot by which the memory was found. Second, the fields with
/// which the new memory starts, if the path of the draft was taken from another memory.
type ResolvedDraft = (Option<(UniqueSlot, Memory)>, Option<VersionFields>);

/// A new memory that is linked to memories with nearly the same statement.
struct ComparedMemory {
    /// The index of the memory's receipt.
    receipt: usize,
    id: MemoryId,
    new_memory: LinkCandidate,
    embedding: Embedding,
    content: String,
    /// True if other memories may be linked to this memory.
    stays: bool,
}

/// Memories that are similar to a new memory.
#[derive(Default)]
struct SimilarMemories {
    /// Memories with nearly the same statement.
    near: Vec<NearMemory>,
    /// Memories that state another value for the same thing.
    updates: Vec<PossibleUpdate>,
}

impl<'a> SaveBatch<'a> {
    /// Creates an empty transaction.
    pub(crate) fn new(
        ports: &'a Ports,
        caller: &'a Caller,
        space: &'a Space,
        right: RequiredRole,
        now: Timestamp,
    ) -> Self {
        Self {
            ports,
            caller,
            space,
            now,
            rights: vec![right],
            writes: Vec::new(),
            pending: PendingMemories::default(),
            receipts: Vec::new(),
            inserted: Vec::new(),
            seen: None,
            compared: Vec::new(),
            pass: None,
        }
    }

    /// Makes the transaction part of a pass. The same transaction records the pass.
    pub(crate) fn of(self, pass: Option<Pass>) -> Self {
        Self { pass, ..self }
    }

    /// Decides the outcome for a draft.
    pub(crate) fn add(&mut self, draft: &Draft, chunks: &[Chunk]) -> Result<(), Error> {
        let mut warnings = draft.warnings();
        let mut related = SimilarMemories::default();
        let (duplicate, forked) = match self.duplicate(draft)? {
            Some((UniqueSlot::SourcePath(side, path), duplicate)) if self.leaves(draft, &duplicate) => {
                self.leave(draft, UniqueSlot::SourcePath(side, path), duplicate)?
            }
            found => (found, None),
        };
        if let (Some(_), Some((slot, other))) = (draft.id, &duplicate) {
            // Data stored elsewhere refers to this id, so the draft needs a new memory and must not repeat an existing
            // one.
            return Err(Error::Held { other: other.reference(), what: slot.what() });
        }
        let before = duplicate.as_ref().map(|(_, duplicate)| duplicate.clone());
        let (outcome, mut memory, revived) = match duplicate {
            None => {
                let created = self.create(draft, chunks, forked.as_ref());
                related = self.relate(&created.1, chunks, &draft.links)?;
                created
            }
            Some((UniqueSlot::Content(..), duplicate))
                if confirmed(draft, &duplicate, self.caller).is_some() =>
            {
                let duplicate = self.share(draft, duplicate);
                warnings.extend(said(&duplicate, unmoved(draft, &duplicate)));
                self.revise(draft, chunks, duplicate)?
            }
            Some((UniqueSlot::Content(..) | UniqueSlot::Attachment(..), duplicate)) => {
                let duplicate = self.share(draft, duplicate);
                warnings.extend(kept(draft, &duplicate));
                self.reuse(SaveOutcome::Duplicate, draft, chunks, duplicate)?
            }
            Some((UniqueSlot::SourcePath(..), duplicate))
                if (draft.repeats(&duplicate)
                    || (says(draft, &duplicate) && is_shared(draft, &duplicate)))
                    && confirmed(draft, &duplicate, self.caller).is_none() =>
            {
                warnings.extend(kept(draft, &duplicate));
                self.reuse(SaveOutcome::Unchanged, draft, chunks, duplicate)?
            }
            Some((_, duplicate)) => {
                warnings.extend(said(&duplicate, unmoved(draft, &duplicate)));
                self.revise(draft, chunks, duplicate)?
            }
        };
        warnings.extend(before.as_ref().and_then(|before| reopened(self.caller, before, &memory)));
        let is_confirmed = |before: &Memory| before.provenance.author != memory.provenance.author;
        let changed = before.filter(is_confirmed).map(|before| confirm::changes(&before, &memory));
        memory.commands = commands::marks(&memory.fields);
        warnings.extend(Warning::marked(memory.commands.clone()));
        warnings.extend(expired(&memory, self.now));
        warnings.extend(self.link(&memory, &draft.links)?);
        if outcome != SaveOutcome::Created {
            let successor = succession::successor(self.ports, self.caller, &memory, self.now, &self.writes)?;
            memory.superseded_by = successor.as_ref().map(|by| by.id);
            if draft.imported.is_none() {
                warnings.extend(self.over(draft, &memory, successor));
            }
        }
        if outcome == SaveOutcome::Updated && draft.imported.is_some() {
            let (act, reason) = (AuditAct::Imported, Some(sources::BY_IMPORT.to_owned()));
            let path = draft.provenance.source_path.clone();
            let entry = status::audit(self.caller, self.now, act, &memory, reason, path);
            self.writes.push(Write::Audit(entry));
        }
        self.note_import(draft, &memory);
        self.receipts.push(Receipt {
            memory,
            outcome,
            revived,
            changed: changed.unwrap_or_default(),
            near: related.near,
            possible_updates: related.updates,
            warnings,
        });
        Ok(())
    }

    /// Returns warnings if the repeated statement is no longer valid: another memory superseded it, or its validity has
    /// ended.
    fn over(&self, draft: &Draft, memory: &Memory, successor: Option<Memory>) -> Vec<Warning> {
        let superseded = successor.map(|by| Warning::Superseded {
            memory: named(self.caller, memory),
            by: named(self.caller, &by),
        });
        let until = memory.fields.span.valid_until.filter(|until| *until <= self.now);
        let until = until.filter(|_| draft.patch.valid_until.is_none());
        let ended = until.map(|at| Warning::NoLongerValid { memory: named(self.caller, memory), at });
        superseded.into_iter().chain(ended).collect()
    }

    /// Finds the memory that the draft repeats, and the slot. If the caller named no boundary, searches a key or path
    /// among the caller's private memories first, then among the shared memories. Otherwise a private memory could
    /// become public when another principal uses the same key.
    fn duplicate(&self, draft: &Draft) -> Result<Option<(UniqueSlot, Memory)>, Error> {
        let boundary = draft.patch.boundary.unwrap_or(self.space.default_boundary());
        let private = boundary == Boundary::Private;
        let sides = if draft.patch.boundary.is_some() { vec![private] } else { vec![true, false] };
        let key = draft.patch.key.iter().flatten();
        let path = draft.provenance.source_path.iter();
        let mut slots: Vec<UniqueSlot> = Vec::new();
        slots.extend(key.flat_map(|key| sides.iter().map(|side| UniqueSlot::Key(*side, key.clone()))));
        slots.extend(
            path.flat_map(|path| sides.iter().map(|side| UniqueSlot::SourcePath(*side, path.clone()))),
        );
        if draft.patch.key.is_none() && draft.place.conversation.is_none() {
            slots.push(said_by(draft, boundary));
        }
        for slot in slots {
            let viewer = &self.caller.viewer;
            let found = dedupe::holder(self.ports, viewer, self.space.id, &self.pending, &slot)?;
            if let Some(memory) = found.filter(|memory| self.fits(draft, memory)) {
                return Ok(Some((slot, memory)));
            }
        }
        Ok(None)
    }

    /// Returns true if the file of a draft no longer belongs to the memory with its path: the contents differ, or the
    /// draft has a key and the memory has other sources.
    fn leaves(&self, draft: &Draft, holder: &Memory) -> bool {
        dedupe::is_plain(holder)
            && (draft.patch.key.is_some() && is_shared(draft, holder)
                || draft.patch.key.is_none() && !says(draft, holder))
    }

    /// Removes the path of a draft from `holder`, if another memory has the new content of the file or if `holder` has
    /// other sources. Returns the memory that the draft repeats, or the fields with which its new memory starts.
    fn leave(&mut self, draft: &Draft, slot: UniqueSlot, holder: Memory) -> Result<ResolvedDraft, Error> {
        let boundary = draft.patch.boundary.unwrap_or(holder.fields.boundary);
        let said = said_by(draft, boundary);
        let other = match draft.patch.key {
            Some(_) => None,
            None => dedupe::holder(self.ports, &self.caller.viewer, self.space.id, &self.pending, &said)?,
        };
        // If the draft names no boundary, `other` was searched with the boundary of `holder`. So `other` may be a
        // memory that another principal shares.
        let other = other.filter(|other| other.id != holder.id);
        if other.is_none() && !is_shared(draft, &holder) {
            return Ok((Some((slot, holder)), None));
        }
        let fields = holder.fields.clone();
        self.release(draft, holder);
        Ok(match other {
            Some(other) => (Some((said, other)), None),
            None => (None, Some(fields)),
        })
    }

    /// Removes the path of a draft from a memory. If no source remains, archives the memory, because its file now has
    /// another content.
    fn release(&mut self, draft: &Draft, mut holder: Memory) {
        let path = draft.provenance.source_path.as_deref().unwrap_or_default();
        let from = holder.provenance.sources();
        let left = from.clone().without(path);
        self.rights.push(self.in_place(&holder));
        let to = left.clone().unwrap_or(Sources::NONE);
        self.set_sources(draft, &holder, from, to.clone());
        holder.provenance.set_sources(to);
        if left.is_none() && holder.status.state != State::Archived {
            let to = holder.status.moved(State::Archived);
            self.writes.push(Write::Move { id: holder.id, from: holder.status, to });
            holder.status = to;
            let reason = Some("its file says something else".to_owned());
            let archived = status::audit(self.caller, self.now, AuditAct::Archived, &holder, reason, None);
            self.writes.push(Write::Audit(archived));
        }
        self.pending.note(holder);
    }

    /// Adds the source of a draft to a memory with the same content: one more file, or a save without one.
    fn share(&mut self, draft: &Draft, mut duplicate: Memory) -> Memory {
        let path = draft.provenance.source_path.as_deref();
        let from = duplicate.provenance.sources();
        let mut to = from.clone().with(path);
        if from.paths.is_empty() && path.is_some() && duplicate.status.state == State::Archived {
            // The memory has lost its last file. Its sources state a save without a file only because no file was left.
            to.without_path = false;
        }
        if from != to {
            self.rights.push(self.in_place(&duplicate));
            self.set_sources(draft, &duplicate, from, to.clone());
            duplicate.provenance.set_sources(to);
            self.pending.note(duplicate.clone());
        }
        duplicate
    }

    /// Writes the sources of a memory and the audit entry that undo needs.
    fn set_sources(&mut self, draft: &Draft, memory: &Memory, from: Sources, to: Sources) {
        if let Some(change) = SourceChange::between(&from, &to) {
            let mut entry = change.audit(self.caller, self.now, memory);
            entry.reason = draft.imported.is_some().then(|| sources::BY_IMPORT.to_owned());
            self.writes.push(Write::Audit(entry));
        }
        self.writes.push(Write::SetSources { id: memory.id, from, to });
    }

    /// Returns true if the draft may repeat the found memory. In a space that is private by default, a draft without a
    /// boundary does not repeat a memory that another principal shares.
    fn fits(&self, draft: &Draft, found: &Memory) -> bool {
        draft.patch.boundary.is_some()
            || self.space.default_boundary() != Boundary::Private
            || found.owner == self.caller.viewer.principal
    }

    /// Creates a memory, which keeps the given fields that the draft does not set.
    fn create(
        &mut self,
        draft: &Draft,
        chunks: &[Chunk],
        forked: Option<&VersionFields>,
    ) -> (SaveOutcome, Memory, bool) {
        let mut memory = fresh(draft, self.space, self.caller, self.now);
        if let Some(fields) = forked {
            memory.fields = draft.onto(fields);
        }
        self.inserted.push(memory.id);
        if let Some(pass) = &mut self.pass {
            let aside = draft.quarantined;
            pass.acts.push(PassAct::Saved { memory: memory.id, version: memory.version, aside });
            pass.private_to = pass
                .private_to
                .or_else(|| (memory.fields.boundary == Boundary::Private).then_some(memory.owner));
        }
        self.writes
            .push(Write::Insert(Box::new(NewMemory { memory: memory.clone(), chunks: chunks.to_vec() })));
        self.pending.note(memory.clone());
        self.ask_for_work(draft, &memory);
        (SaveOutcome::Created, memory, false)
    }

    /// Enqueues the job that the memory waits for, in the same transaction, so that the memory and the job are stored
    /// together.
    fn ask_for_work(&mut self, draft: &Draft, memory: &Memory) {
        if let Some(kind) = draft.work() {
            self.writes.push(Write::Enqueue(Job::about(kind, memory.id, self.now)));
        }
    }

    fn note_import(&mut self, draft: &Draft, memory: &Memory) {
        let (Some(file), Some(path)) = (draft.imported, &draft.provenance.source_path) else { return };
        let Imported { stamp, digest, settled } = file;
        let (path, status) = (path.clone(), memory.status);
        let to = ImportedFile { path: path.clone(), stamp, digest, settled, memory: memory.id, status };
        self.writes.push(Write::Imported { space: self.space.id, path, to: Some(to) });
    }

    /// Returns the right to write in this space, valid only while the duplicate stays in the space.
    fn in_place(&self, duplicate: &Memory) -> RequiredRole {
        RequiredRole { space: self.space.id, role: Role::Writer, over: Some(duplicate.id) }
    }

    fn reuse(
        &mut self,
        outcome: SaveOutcome,
        draft: &Draft,
        chunks: &[Chunk],
        mut duplicate: Memory,
    ) -> Result<(SaveOutcome, Memory, bool), Error> {
        let (to, revived) = stands(draft, &duplicate, self.now);
        if could_not_be_read(&duplicate) && draft.provenance.attachment.is_some() {
            let memory = self.read_anew(draft, chunks, to.moved(State::Processing), duplicate)?;
            return Ok((outcome, memory, revived));
        }
        if to != duplicate.status {
            self.rights.push(self.in_place(&duplicate));
            self.writes.push(Write::Move { id: duplicate.id, from: duplicate.status, to });
            let act = if revived { AuditAct::Unarchived } else { AuditAct::Reopened };
            if revived || to.done_at != duplicate.status.done_at {
                let was = status::done_then(duplicate.status, to);
                let entry = status::audit(self.caller, self.now, act, &duplicate, None, was);
                self.writes.push(Write::Audit(entry));
            }
            duplicate.status = to;
            self.pending.note(duplicate.clone());
        }
        Ok((outcome, duplicate, revived))
    }

    /// Requests the text of an unreadable file again, because its format may be supported now or an extractor may be
    /// available.
    fn read_anew(
        &mut self,
        draft: &Draft,
        chunks: &[Chunk],
        status: Status,
        duplicate: Memory,
    ) -> Result<Memory, Error> {
        self.rights.push(self.in_place(&duplicate));
        // A memory of a file keeps the name of that file. Another file with the same bytes only adds one more path.
        let path = draft.provenance.source_path.as_ref();
        let is_named = duplicate.provenance.paths().iter().any(|known| Some(known) != path);
        let name =
            duplicate.provenance.attachment.as_ref().and_then(|old| old.name.clone()).filter(|_| is_named);
        let new = draft.provenance.attachment.clone();
        let attachment = new.map(|new| Attachment { name: name.or(new.name), ..new });
        let provenance = Provenance { attachment, ..duplicate.provenance };
        let about = DraftContext { waits: true, ..DraftContext::of(&provenance, &duplicate.place) };
        let content = draft.patch.content.clone().filter(|_| !is_named);
        let fields = Patch { content, ..Patch::default() }.onto(&duplicate.fields, about);
        self.writes.push(Write::Settle(Box::new(BackgroundResult {
            id: duplicate.id,
            from: duplicate.version,
            fields: fields.clone(),
            stood: duplicate.status,
            status,
            attachment: provenance.attachment.clone(),
            chunks: fields.differs_in_meaning(&duplicate.fields).then(|| chunks.to_vec()),
        })));
        let memory = Memory { fields, status, provenance, ..duplicate };
        match jobs::given_up(self.ports, memory.id)? {
            Some(job) => self.writes.push(jobs::anew(job, self.now)),
            None => self.ask_for_work(draft, &memory),
        }
        self.pending.note(memory.clone());
        Ok(memory)
    }

    fn revise(
        &mut self,
        draft: &Draft,
        chunks: &[Chunk],
        duplicate: Memory,
    ) -> Result<(SaveOutcome, Memory, bool), Error> {
        draft.patch.check_span(&duplicate.fields.span)?;
        let confirmed = confirmed(draft, &duplicate, self.caller);
        let mut fields = draft.onto(&duplicate.fields);
        if confirmed.is_some() && fields.text.content_hash == duplicate.fields.text.content_hash {
            // Contents with the same hash may differ in Unicode composition. The stored content stays, because the
            // sections are positions in it.
            fields.text.content.clone_from(&duplicate.fields.text.content);
        }
        let held = dedupe::taken_up(&duplicate);
        let attachment = draft.provenance.attachment.clone();
        let other_file = attachment.as_ref().map(|one| &one.hash)
            != duplicate.provenance.attachment.as_ref().map(|other| &other.hash);
        if fields == duplicate.fields && !other_file && confirmed.is_none() {
            return self.reuse(SaveOutcome::Unchanged, draft, chunks, duplicate);
        }
        if fields.boundary != duplicate.fields.boundary {
            self.rights.push(access::require_over(
                self.ports,
                self.caller,
                duplicate.reference(),
                &duplicate,
            )?);
        }
        self.rights.push(self.in_place(&duplicate));
        let (mut status, revived) = stands(draft, &duplicate, self.now);
        if draft.work().is_some() {
            status = status.moved(State::Processing);
        } else if status.state == State::Processing {
            status = status.moved(State::Active);
        }
        let status = status.of_type(fields.class.memory_type);
        let changed = fields.differs_in_meaning(&duplicate.fields);
        self.writes.push(Write::Revise(Box::new(Revision {
            id: duplicate.id,
            from: duplicate.version,
            act: VersionAct::Updated,
            fields: fields.clone(),
            stood: duplicate.status,
            status,
            chunks: changed.then(|| chunks.to_vec()),
            attachment: other_file.then(|| attachment.clone()),
            confirmed,
        })));
        if duplicate.status.quarantined_at.is_some() && status.quarantined_at.is_none() {
            let accepted = status::audit(self.caller, self.now, AuditAct::Accepted, &duplicate, None, None);
            self.writes.push(Write::Audit(accepted));
        }
        if let Some(old) = duplicate.provenance.attachment.as_ref().filter(|_| other_file) {
            self.writes.push(objects::leaves(old, self.now).0);
        }
        let ConfirmedOrigin { author, trust } = confirmed.unwrap_or(ConfirmedOrigin {
            author: duplicate.provenance.author,
            trust: duplicate.provenance.trust,
        });
        let provenance = Provenance { attachment, author, trust, ..duplicate.provenance };
        let usage = Usage { updated_at: self.now, ..duplicate.usage };
        let memory =
            Memory { version: duplicate.version.next(), fields, status, provenance, usage, ..duplicate };
        // The key and the path of a draft may belong to two memories. The memory found by one of them cannot take the
        // slot of the other memory.
        dedupe::refuse_taken(self.ports, &self.caller.viewer, &self.pending, &held, &memory)?;
        self.pending.note(memory.clone());
        self.ask_for_work(draft, &memory);
        Ok((SaveOutcome::Updated, memory, revived))
    }

    /// Links a new memory to memories with nearly the same statement, in the store or in this transaction. Also lists
    /// stored memories that state another value for the same thing. Skips memories that the caller links explicitly.
    fn relate(
        &mut self,
        memory: &Memory,
        chunks: &[Chunk],
        links: &[ValidatedLink],
    ) -> Result<SimilarMemories, Error> {
        let [Chunk { embedding: Some(embedding), .. }] = chunks else {
            return Ok(SimilarMemories::default());
        };
        if self.seen.is_none() {
            self.seen = Some(self.ports.store.head()?);
        }
        let content = memory.fields.text.content.as_str();
        let new_memory = LinkCandidate::of(memory);
        let contender = ConflictCandidate::of(memory);
        let least = if contender.is_some() { embedding::ABOUT } else { embedding::SAME };
        let mut found = embedding::resembling(self.ports, new_memory, embedding, least)?;
        let memories = found.iter_mut().map(|(old, _)| old);
        succession::settle(self.ports, self.caller, memories, PointInTime::Now(self.now))?;
        let is_linked = |old: &Memory| {
            let names = [Some(MemoryRef::Id(old.id)), old.number.map(MemoryRef::Number)];
            links.iter().any(|link| names.contains(&Some(link.target)))
        };
        let stands = |old: &Memory| old.superseded_by.is_none() && !is_linked(old);
        let is_older = |old: &Memory| ties::said_at(old) < ties::said_at(memory);
        let updates = contender
            .map_or_else(Vec::new, |new| possible_updates(&new, &found, |old| stands(old) && is_older(old)));
        let close = found.iter().filter(|(_, similarity)| embedding::is_near(*similarity));
        let mut near: Vec<NearMemory> = close
            .take(embedding::LINKS)
            .map(|(old, similarity)| NearMemory {
                id: old.id,
                number: old.number,
                similarity: *similarity,
                duplicate: stands(old) && duplicates::may_be_same(content, &old.fields.text.content),
            })
            .collect();
        let before = self.compared.iter().filter(|other| other.stays && other.new_memory == new_memory);
        near.extend(before.filter_map(|other| {
            let similarity = embedding::alike(embedding, &other.embedding)?;
            let duplicate = duplicates::may_be_same(content, &other.content);
            Some(NearMemory { id: other.id, number: None, similarity, duplicate })
        }));
        near.sort_by(|a, b| b.similarity.get().total_cmp(&a.similarity.get()));
        near.truncate(embedding::LINKS);
        let links = near.iter().map(|near| embedding::link(memory.id, near.id, near.similarity, self.now));
        self.writes.extend(links);
        self.compared.push(ComparedMemory {
            receipt: self.receipts.len(),
            id: memory.id,
            new_memory,
            embedding: embedding.clone(),
            content: content.to_owned(),
            stays: memory.state_at(self.now) != State::Archived,
        });
        Ok(SimilarMemories { near, updates })
    }

    fn link(&mut self, memory: &Memory, links: &[ValidatedLink]) -> Result<Vec<Warning>, Error> {
        let mut warnings = Vec::new();
        for link in links {
            let (viewer, space) = (&self.caller.viewer, self.space.id);
            let found = self.ports.store.memory(viewer, space, link.target, ForgottenFilter::Without)?;
            let Some(target) = found else {
                warnings.push(Warning::AssociationSkipped { target: link.target });
                continue;
            };
            if target.id == memory.id {
                return Err(Invalid::SelfAssociation.into());
            }
            let relation = match link.relation {
                Relation::Updates if !self.may_supersede(&target)? => {
                    warnings.push(Warning::NotSuperseded { target: link.target });
                    Relation::RelatedTo
                }
                relation => relation,
            };
            if relation == Relation::Updates && !self.inserted.contains(&memory.id) {
                let pair = (memory, target.id);
                let (taken_back, described) = retract(self.ports, self.caller, self.now, pair, &self.writes)?;
                if !taken_back.is_empty() {
                    self.rights.push(self.in_place(memory));
                }
                self.writes.extend(taken_back);
                warnings.extend(described);
            }
            self.writes.push(Write::Link(Association {
                source: memory.id,
                target: target.id,
                relation,
                weight: link.weight,
                linked_by: LinkedBy::Caller,
                created_at: self.now,
            }));
            // A memory inserted by this transaction already has its links.
            if !self.inserted.contains(&memory.id) {
                let edges = self.ports.store.associations(viewer, &[memory.id])?;
                let ends = (memory.id, target.id, relation);
                let known = edges.iter().find(|edge| (edge.source, edge.target, edge.relation) == ends);
                let (act, edge) = (AuditAct::Associated, (relation, known.map(Edge::of)));
                let entry = retract::audit(self.caller, self.now, act, (memory, &target), edge);
                self.writes.push(Write::Audit(entry));
            }
        }
        Ok(warnings)
    }

    /// Checks the right to supersede a memory. Superseding changes how others see the memory, so it needs the right to
    /// write in the memory's space, now and at commit.
    fn may_supersede(&mut self, target: &Memory) -> Result<bool, Error> {
        match access::require_in_place(self.ports, self.caller, target, Role::Writer) {
            Ok(right) => {
                if !self.rights.contains(&right) {
                    self.rights.push(right);
                }
                Ok(true)
            }
            Err(Error::Denied { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the receipts that [`apply`](Self::apply) would return.
    pub(crate) fn predicted(self) -> Vec<Receipt> {
        self.receipts
    }

    /// Writes the transaction and returns the receipts.
    pub(crate) fn apply(self, trouble: Option<&Warning>) -> Result<Vec<Receipt>, Error> {
        let Self {
            ports, caller, now, rights, mut writes, mut receipts, inserted, seen, compared, pass, ..
        } = self;
        if let Some(pass) = pass.filter(|pass| !pass.acts.is_empty()) {
            writes.push(Write::Pass { from: None, to: Box::new(pass.ended(PassOutcome::Done, now)) });
        }
        if !writes.is_empty() {
            let applied = ports.store.apply(&access::changes(caller, now, rights, writes))?;
            let numbers: HashMap<_, _> = inserted.into_iter().zip(applied.numbers).collect();
            let number = |id: MemoryId| numbers.get(&id).copied().flatten();
            for receipt in &mut receipts {
                receipt.memory.number = number(receipt.memory.id).or(receipt.memory.number);
                receipt.near.iter_mut().for_each(|near| near.number = number(near.id).or(near.number));
            }
            // The save is committed: a failure of these links affects nothing else.
            if let Some((seen, last)) = seen.zip(applied.seq) {
                let _ = relate_late(ports, seen, last, &compared, &mut receipts);
            }
        }
        if let Some(trouble) = trouble {
            for receipt in receipts
                .iter_mut()
                .filter(|receipt| matches!(receipt.outcome, SaveOutcome::Created | SaveOutcome::Updated))
            {
                receipt.warnings.push(trouble.clone());
            }
        }
        Ok(receipts)
    }
}

/// Builds a new memory from the draft in this space.
pub(crate) fn fresh(draft: &Draft, space: &Space, caller: &Caller, now: Timestamp) -> Memory {
    let mut provenance = draft.provenance.clone();
    provenance.origin = draft.origin.unwrap_or(caller.origin);
    provenance.source_agent = provenance.source_agent.or_else(|| caller.agent.clone());
    Memory {
        id: draft.id.unwrap_or_else(|| MemoryId::mint(now)),
        number: None,
        space: space.id,
        owner: caller.viewer.principal,
        version: Version::FIRST,
        fields: draft.fresh(space.default_boundary()),
        status: Status {
            pinned: draft.pinned,
            quarantined_at: draft.quarantined.then_some(now),
            ..Status::new(draft.first_state())
        },
        provenance,
        place: draft.place.clone(),
        usage: Usage { created_at: now, updated_at: now, accessed_at: now, access_count: 0 },
        superseded_by: None,
        backend: None,
        commands: Vec::new(),
        importance_now: None,
        space_name: None,
    }
}

/// Links new memories to memories that others committed after the comparison and before the write. Of two
/// concurrent saves, the later save must do this, because the earlier save cannot know the later memory.
fn relate_late(
    ports: &Ports,
    seen: Seq,
    last: Seq,
    compared: &[ComparedMemory],
    receipts: &mut [Receipt],
) -> Result<(), Error> {
    let Some(first) = compared.first() else {
        return Ok(());
    };
    let mut ids = embedding::written_between(ports, first.new_memory.space, seen, last)?;
    ids.retain(|id| compared.iter().all(|own| own.id != *id));
    if ids.is_empty() {
        return Ok(());
    }
    let now = ports.clock.now();
    let entries = ports.store.entries(&ids, Some(&first.embedding.model))?;
    let (mut writes, mut found) = (Vec::new(), Vec::new());
    for own in compared {
        let known = &receipts[own.receipt].near;
        let near = embedding::near_among(own.new_memory, &own.embedding, &entries, now).into_iter();
        let new = near.filter(|(id, ..)| known.iter().all(|near| near.id != *id));
        for (id, number, similarity) in new.take(embedding::LINKS.saturating_sub(known.len())) {
            writes.push(embedding::link(own.id, id, similarity, now));
            let said = entries.iter().find(|entry| entry.memory.id == id).map(|entry| &entry.memory);
            let same = |old: &Memory| duplicates::may_be_same(&own.content, &old.fields.text.content);
            let duplicate = said.is_some_and(same);
            found.push((own.receipt, NearMemory { id, number, similarity, duplicate }));
        }
    }
    if !writes.is_empty() {
        ports.store.apply(&access::own_changes(now, writes))?;
    }
    found.into_iter().for_each(|(receipt, near)| receipts[receipt].near.push(near));
    Ok(())
}

/// Returns the slot of a draft's content.
fn said_by(draft: &Draft, boundary: Boundary) -> UniqueSlot {
    dedupe::said(boundary, &draft.provenance, normalize::hash(draft.content()))
}

/// Returns true if a memory has the content of a draft, whatever its other fields.
fn says(draft: &Draft, memory: &Memory) -> bool {
    let boundary = memory.fields.boundary;
    let said = dedupe::said(boundary, &memory.provenance, memory.fields.text.content_hash);
    said_by(draft, boundary) == said
}

/// Returns true if a memory has a source other than the file of the draft.
fn is_shared(draft: &Draft, memory: &Memory) -> bool {
    let path = draft.provenance.source_path.as_deref().unwrap_or_default();
    memory.provenance.sources().without(path).is_some()
}

/// Returns the memories that state another value for the same thing as a new memory, newest first.
fn possible_updates(
    new: &ConflictCandidate<'_>,
    found: &[(Memory, Weight)],
    stands: impl Fn(&Memory) -> bool,
) -> Vec<PossibleUpdate> {
    let status = found.iter().map(|(old, _)| old).filter(|old| stands(old));
    let mut rivals: Vec<(&Memory, ConflictingValues)> =
        status.filter_map(|old| Some((old, new.rivalry(&ConflictCandidate::of(old)?)?))).collect();
    rivals.sort_by_key(|(old, _)| Reverse(ties::said_at(old)));
    let update = |(old, rivalry): (&Memory, ConflictingValues)| PossibleUpdate {
        id: old.id,
        number: old.number,
        preview: preview::short(&old.fields.text.content),
        old: rivalry.other,
        new: rivalry.one,
    };
    rivals.into_iter().take(embedding::LINKS).map(update).collect()
}

/// Returns true if the text of a memory's file could not be extracted.
fn could_not_be_read(memory: &Memory) -> bool {
    let trouble = memory.provenance.attachment.as_ref().and_then(|attachment| attachment.trouble.as_ref());
    trouble.is_some() && memory.is_unread() && memory.status.state != State::Processing
}

/// Returns the status after a repeated save, and true if that revived the memory. The memory becomes active if it was
/// archived. It is pinned if the draft requests this. It leaves quarantine if the draft was not captured automatically.
fn stands(draft: &Draft, duplicate: &Memory, now: Timestamp) -> (Status, bool) {
    let revived = duplicate.status.state == State::Archived;
    let stood = if revived { duplicate.status.ruled(State::Active, now) } else { duplicate.status };
    let to = Status {
        pinned: stood.pinned || draft.pinned,
        quarantined_at: stood.quarantined_at.filter(|_| draft.provenance.author == Author::Auto),
        done_at: stood.done_at.filter(|_| !reopens(draft)),
        ..stood
    };
    (to, revived)
}

/// Returns true if a repeated save reopens a completed todo. A save by a pass or a repeated import of a file does not
/// reopen it.
fn reopens(draft: &Draft) -> bool {
    let read = draft.imported.is_some() || draft.provenance.source_path.is_some();
    draft.provenance.author != Author::Auto && !read
}

/// Returns a warning if a completed todo or goal is open again.
fn reopened(caller: &Caller, before: &Memory, after: &Memory) -> Option<Warning> {
    let done_at = before.status.done_at.filter(|_| after.is_open())?;
    Some(Warning::Reopened { memory: named(caller, after), done_at })
}

/// Returns a warning about given fields that are ignored because the content is already known.
fn kept(draft: &Draft, duplicate: &Memory) -> Option<Warning> {
    let mut fields = duplicate.fields.differences(&draft.onto(&duplicate.fields));
    // The content of a known file is the text extracted from it.
    fields.retain(|field| draft.work().is_none() || *field != "content");
    fields.extend(unmoved(draft, duplicate));
    said(duplicate, fields)
}

fn said(duplicate: &Memory, fields: Vec<&'static str>) -> Option<Warning> {
    (!fields.is_empty()).then(|| Warning::Kept { memory: duplicate.reference(), fields })
}

/// Returns the provenance fields of the draft that differ from the memory and are ignored, because provenance is set
/// only once.
fn unmoved(draft: &Draft, duplicate: &Memory) -> Vec<&'static str> {
    let (said, is) = (&draft.provenance, &duplicate.provenance);
    let (place, was) = (&draft.place, &duplicate.place);
    let fields = [
        ("source_path", said.source_path.as_ref().is_some_and(|path| !is.paths().contains(path))),
        (
            "assisted_by_agent",
            said.assisted_by_agent.is_some() && said.assisted_by_agent != is.assisted_by_agent,
        ),
        ("author", said.author != Author::User && said.author != is.author),
        ("trust", said.trust != Trust::Own && said.trust != is.trust),
        ("conversation", place.conversation.is_some() && place.conversation != was.conversation),
        ("position", place.position.is_some() && place.position != was.position),
        ("speaker", place.speaker.is_some() && place.speaker != was.speaker),
    ];
    fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}

/// Returns a warning if recall will not find the saved memory.
pub(crate) fn expired(memory: &Memory, now: Timestamp) -> Option<Warning> {
    memory.fields.span.expires_at.filter(|at| *at <= now).map(|at| Warning::Expired { at })
}
