//! Turns drafts into the writes of one act, and what came of them into receipts.

use std::collections::HashMap;

use crate::access::{self, Parts};
use crate::answer::{Fate, Near, Receipt, Warning};
use crate::association::Association;
use crate::change::{NewMemory, Revision, Right, Settled, Vouched, Write};
use crate::embedding::{self, Newcomer};
use crate::error::{Error, Invalid};
use crate::file::ImportedFile;
use crate::id::{MemoryId, Seq, Version};
use crate::job::Job;
use crate::jobs;
use crate::memory::{Chunk, Embedding, Memory, Provenance, Standing, Usage};
use crate::objects;
use crate::pass::{Pass, PassAct};
use crate::request::{Caller, Forgotten};
use crate::retract::{named, retract};
use crate::space::Space;
use crate::standing;
use crate::succession;
use crate::text::{commands, normalize};
use crate::time::Timestamp;
use crate::vocabulary::{
    AuditAct, Author, Boundary, LinkedBy, PassOutcome, Relation, Role, State, Trust, VersionAct,
};

use super::dedupe::{self, Pending, Slot};
use super::derive::About;
use super::intake::{Draft, Imported, Link, Patch};
use super::vouch::{self, vouched};

/// One act in the making.
pub(crate) struct Act<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    space: &'a Space,
    now: Timestamp,
    rights: Vec<Right>,
    writes: Vec<Write>,
    pending: Pending,
    receipts: Vec<Receipt>,
    /// The memories inserted, in the order of their writes.
    inserted: Vec<MemoryId>,
    /// The last entry of the log before anything was compared.
    seen: Option<Seq>,
    /// The new memories that were compared with others.
    compared: Vec<Compared>,
    /// The pass that it is, where it is one.
    pass: Option<Pass>,
}

/// A new memory that is linked to those that say nearly the same.
struct Compared {
    /// Which of the receipts is its.
    receipt: usize,
    id: MemoryId,
    newcomer: Newcomer,
    embedding: Embedding,
    /// Whether others may be linked to it.
    stays: bool,
}

impl<'a> Act<'a> {
    /// An act with nothing in it.
    pub(crate) fn new(
        parts: &'a Parts,
        caller: &'a Caller,
        space: &'a Space,
        right: Right,
        now: Timestamp,
    ) -> Self {
        Self {
            parts,
            caller,
            space,
            now,
            rights: vec![right],
            writes: Vec::new(),
            pending: Pending::default(),
            receipts: Vec::new(),
            inserted: Vec::new(),
            seen: None,
            compared: Vec::new(),
            pass: None,
        }
    }

    /// The same as what a pass does, which is noted with it.
    pub(crate) fn of(self, pass: Option<Pass>) -> Self {
        Self { pass, ..self }
    }

    /// Decides what becomes of a draft.
    pub(crate) fn add(&mut self, draft: &Draft, chunks: &[Chunk]) -> Result<(), Error> {
        let mut warnings = draft.withheld.warnings();
        let mut near = Vec::new();
        let twin = self.twin(draft)?;
        if let (Some(_), Some((slot, other))) = (draft.id, &twin) {
            // What is named elsewhere by its id has to be a memory of its own.
            return Err(Error::Held { other: other.reference(), what: slot.what() });
        }
        let before = twin.as_ref().map(|(_, twin)| twin.clone());
        let (fate, memory, revived) = match twin {
            None => {
                let created = self.create(draft, chunks);
                near = self.relate(&created.1, chunks)?;
                created
            }
            Some((Slot::Content(..), twin)) if vouched(draft, &twin, self.caller).is_some() => {
                warnings.extend(said(&twin, unmoved(draft, &twin)));
                self.revise(draft, chunks, twin)?
            }
            Some((Slot::Content(..) | Slot::Attachment(..), twin)) => {
                warnings.extend(kept(draft, &twin));
                self.reuse(Fate::Duplicate, draft, chunks, twin)?
            }
            Some((Slot::SourcePath(..), twin))
                if draft.repeats(&twin) && vouched(draft, &twin, self.caller).is_none() =>
            {
                warnings.extend(kept(draft, &twin));
                self.reuse(Fate::Unchanged, draft, chunks, twin)?
            }
            Some((_, twin)) => {
                warnings.extend(said(&twin, unmoved(draft, &twin)));
                self.revise(draft, chunks, twin)?
            }
        };
        warnings.extend(before.as_ref().and_then(|before| reopened(self.caller, before, &memory)));
        let is_vouched = |before: &Memory| before.provenance.author != memory.provenance.author;
        let changed = before.filter(is_vouched).map(|before| vouch::changes(&before, &memory));
        warnings.extend(Warning::marked(commands::marks(&memory.edition)));
        warnings.extend(expired(&memory, self.now));
        warnings.extend(self.link(&memory, &draft.links)?);
        if fate != Fate::Created && draft.imported.is_none() {
            warnings.extend(self.over(draft, &memory)?);
        }
        self.note_import(draft, &memory);
        self.receipts.push(Receipt {
            id: memory.id,
            number: memory.number,
            space: memory.space,
            fate,
            revived,
            version: memory.version,
            state: memory.standing.state,
            changed: changed.unwrap_or_default(),
            near,
            warnings,
        });
        Ok(())
    }

    /// That what was said again is no longer what holds, and what it was that ended it.
    fn over(&self, draft: &Draft, memory: &Memory) -> Result<Vec<Warning>, Error> {
        let successor = succession::successor(self.parts, self.caller, memory, self.now, &self.writes)?;
        let superseded = successor.map(|by| Warning::Superseded {
            memory: named(self.caller, memory),
            by: named(self.caller, &by),
        });
        let until = memory.edition.span.valid_until.filter(|until| *until <= self.now);
        let until = until.filter(|_| draft.patch.valid_until.is_none());
        let ended = until.map(|at| Warning::NoLongerValid { memory: named(self.caller, memory), at });
        Ok(superseded.into_iter().chain(ended).collect())
    }

    /// The memory that the draft repeats, and by what. Where the caller named no boundary, a key or path is looked
    /// for on both sides of the wall around the caller's private memories, inside it first: what was private is not
    /// published because somebody else took the same key.
    fn twin(&self, draft: &Draft) -> Result<Option<(Slot, Memory)>, Error> {
        let boundary = draft.patch.boundary.unwrap_or(self.space.default_boundary());
        let private = boundary == Boundary::Private;
        let sides = if draft.patch.boundary.is_some() { vec![private] } else { vec![true, false] };
        let key = draft.patch.key.iter().flatten();
        let path = draft.provenance.source_path.iter();
        let mut slots: Vec<Slot> = Vec::new();
        slots.extend(key.flat_map(|key| sides.iter().map(|side| Slot::Key(*side, key.clone()))));
        slots.extend(path.flat_map(|path| sides.iter().map(|side| Slot::SourcePath(*side, path.clone()))));
        if slots.is_empty() && draft.place.conversation.is_none() {
            let hash = normalize::hash(draft.content());
            slots.push(dedupe::said(boundary, &draft.provenance, hash));
        }
        for slot in slots {
            let viewer = &self.caller.viewer;
            let found = dedupe::holder(self.parts, viewer, self.space.id, &self.pending, &slot)?;
            if let Some(memory) = found.filter(|memory| self.fits(draft, memory)) {
                return Ok(Some((slot, memory)));
            }
        }
        Ok(None)
    }

    /// Where a memory is private unless said otherwise, what others share is not what a caller means who says nothing.
    fn fits(&self, draft: &Draft, found: &Memory) -> bool {
        draft.patch.boundary.is_some()
            || self.space.default_boundary() != Boundary::Private
            || found.owner == self.caller.viewer.principal
    }

    fn create(&mut self, draft: &Draft, chunks: &[Chunk]) -> (Fate, Memory, bool) {
        let memory = fresh(draft, self.space, self.caller, self.now);
        self.inserted.push(memory.id);
        if let Some(pass) = &mut self.pass {
            let aside = draft.quarantined;
            pass.acts.push(PassAct::Saved { memory: memory.id, version: memory.version, aside });
            pass.private_to = pass
                .private_to
                .or_else(|| (memory.edition.boundary == Boundary::Private).then_some(memory.owner));
        }
        self.writes
            .push(Write::Insert(Box::new(NewMemory { memory: memory.clone(), chunks: chunks.to_vec() })));
        self.pending.note(memory.clone());
        self.ask_for_work(draft, &memory);
        (Fate::Created, memory, false)
    }

    /// Asks for the work that the memory waits for, in the same act, so that neither is there without the other.
    fn ask_for_work(&mut self, draft: &Draft, memory: &Memory) {
        if let Some(kind) = draft.work() {
            self.writes.push(Write::Enqueue(Job::about(kind, memory.id, self.now)));
        }
    }

    fn note_import(&mut self, draft: &Draft, memory: &Memory) {
        let (Some(file), Some(path)) = (draft.imported, &memory.provenance.source_path) else { return };
        let Imported { stamp, digest, settled } = file;
        let (path, standing) = (path.clone(), memory.standing);
        let to = ImportedFile { path: path.clone(), stamp, digest, settled, memory: memory.id, standing };
        self.writes.push(Write::Imported { space: self.space.id, path, to: Some(to) });
    }

    /// The right to write here, for as long as the twin is here.
    fn in_place(&self, twin: &Memory) -> Right {
        Right { space: self.space.id, role: Role::Writer, over: Some(twin.id) }
    }

    fn reuse(
        &mut self,
        fate: Fate,
        draft: &Draft,
        chunks: &[Chunk],
        mut twin: Memory,
    ) -> Result<(Fate, Memory, bool), Error> {
        let (to, revived) = stands(draft, &twin, self.now);
        if could_not_be_read(&twin) && draft.provenance.attachment.is_some() {
            let memory = self.read_anew(draft, chunks, to.moved(State::Processing), twin)?;
            return Ok((fate, memory, revived));
        }
        if to != twin.standing {
            self.rights.push(self.in_place(&twin));
            self.writes.push(Write::Move { id: twin.id, from: twin.standing, to });
            twin.standing = to;
            self.pending.note(twin.clone());
        }
        Ok((fate, twin, revived))
    }

    /// Asks once more for the text of a file that could not be read: it may be known by now what it is, or who reads it may be
    /// there.
    fn read_anew(
        &mut self,
        draft: &Draft,
        chunks: &[Chunk],
        standing: Standing,
        twin: Memory,
    ) -> Result<Memory, Error> {
        self.rights.push(self.in_place(&twin));
        let provenance = Provenance { attachment: draft.provenance.attachment.clone(), ..twin.provenance };
        let about = About { waits: true, ..About::of(&provenance, &twin.place) };
        let patch = Patch { content: draft.patch.content.clone(), ..Patch::default() };
        let edition = patch.onto(&twin.edition, about);
        self.writes.push(Write::Settle(Box::new(Settled {
            id: twin.id,
            from: twin.version,
            edition: edition.clone(),
            stood: twin.standing,
            standing,
            attachment: provenance.attachment.clone(),
            chunks: edition.differs_in_meaning(&twin.edition).then(|| chunks.to_vec()),
        })));
        let memory = Memory { edition, standing, provenance, ..twin };
        match jobs::given_up(self.parts, memory.id)? {
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
        twin: Memory,
    ) -> Result<(Fate, Memory, bool), Error> {
        draft.patch.check_span(&twin.edition.span)?;
        let vouched = vouched(draft, &twin, self.caller);
        let mut edition = draft.onto(&twin.edition);
        if vouched.is_some() && edition.text.content_hash == twin.edition.text.content_hash {
            // The same words may be composed otherwise; the sections are those of the text that is there.
            edition.text.content.clone_from(&twin.edition.text.content);
        }
        let attachment = draft.provenance.attachment.clone();
        let other_file = attachment.as_ref().map(|one| &one.hash)
            != twin.provenance.attachment.as_ref().map(|other| &other.hash);
        if edition == twin.edition && !other_file && vouched.is_none() {
            return self.reuse(Fate::Unchanged, draft, chunks, twin);
        }
        if edition.boundary != twin.edition.boundary {
            self.rights.push(access::require_over(self.parts, self.caller, twin.reference(), &twin)?);
        }
        self.rights.push(self.in_place(&twin));
        let (mut standing, revived) = stands(draft, &twin, self.now);
        if draft.work().is_some() {
            standing = standing.moved(State::Processing);
        } else if standing.state == State::Processing {
            standing = standing.moved(State::Active);
        }
        let standing = standing.of_type(edition.class.memory_type);
        let changed = edition.differs_in_meaning(&twin.edition);
        self.writes.push(Write::Revise(Box::new(Revision {
            id: twin.id,
            from: twin.version,
            act: VersionAct::Updated,
            edition: edition.clone(),
            stood: twin.standing,
            standing,
            chunks: changed.then(|| chunks.to_vec()),
            attachment: other_file.then(|| attachment.clone()),
            vouched,
        })));
        if twin.standing.quarantined_at.is_some() && standing.quarantined_at.is_none() {
            let accepted = standing::audit(self.caller, self.now, AuditAct::Accepted, &twin, None, None);
            self.writes.push(Write::Audit(accepted));
        }
        if let Some(old) = twin.provenance.attachment.as_ref().filter(|_| other_file) {
            self.writes.push(objects::leaves(old, self.now).0);
        }
        let Vouched { author, trust } =
            vouched.unwrap_or(Vouched { author: twin.provenance.author, trust: twin.provenance.trust });
        let provenance = Provenance { attachment, author, trust, ..twin.provenance };
        let memory = Memory { version: twin.version.next(), edition, standing, provenance, ..twin };
        // A key and a path may name two memories: the one that was found cannot take what the other has.
        dedupe::refuse_taken(self.parts, &self.caller.viewer, &self.pending, &memory)?;
        self.pending.note(memory.clone());
        self.ask_for_work(draft, &memory);
        Ok((Fate::Updated, memory, revived))
    }

    /// Links a new memory to those that say nearly the same, there or in this act.
    fn relate(&mut self, memory: &Memory, chunks: &[Chunk]) -> Result<Vec<Near>, Error> {
        let [Chunk { embedding: Some(embedding), .. }] = chunks else {
            return Ok(Vec::new());
        };
        if self.seen.is_none() {
            self.seen = Some(self.parts.store.head()?);
        }
        let newcomer = Newcomer::of(memory);
        let found = embedding::near(self.parts, newcomer, embedding, None)?.into_iter();
        let mut near: Vec<Near> =
            found.map(|(old, similarity)| Near { id: old.id, number: old.number, similarity }).collect();
        let before = self.compared.iter().filter(|other| other.stays && other.newcomer == newcomer);
        near.extend(before.filter_map(|other| {
            let similarity = embedding::alike(embedding, &other.embedding)?;
            Some(Near { id: other.id, number: None, similarity })
        }));
        near.sort_by(|a, b| b.similarity.get().total_cmp(&a.similarity.get()));
        near.truncate(embedding::LINKS);
        let links = near.iter().map(|near| embedding::link(memory.id, near.id, near.similarity, self.now));
        self.writes.extend(links);
        self.compared.push(Compared {
            receipt: self.receipts.len(),
            id: memory.id,
            newcomer,
            embedding: embedding.clone(),
            stays: memory.state_at(self.now) != State::Archived,
        });
        Ok(near)
    }

    fn link(&mut self, memory: &Memory, links: &[Link]) -> Result<Vec<Warning>, Error> {
        let mut warnings = Vec::new();
        for link in links {
            let (viewer, space) = (&self.caller.viewer, self.space.id);
            let found = self.parts.store.memory(viewer, space, link.target, Forgotten::Without)?;
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
                let (taken_back, told) = retract(self.parts, self.caller, self.now, pair, &self.writes)?;
                if !taken_back.is_empty() {
                    self.rights.push(self.in_place(memory));
                }
                self.writes.extend(taken_back);
                warnings.extend(told);
            }
            self.writes.push(Write::Link(Association {
                source: memory.id,
                target: target.id,
                relation,
                weight: link.weight,
                linked_by: LinkedBy::Caller,
                created_at: self.now,
            }));
        }
        Ok(warnings)
    }

    /// To mark a memory as superseded is to change what others see of it, so it takes the right to write there, then
    /// as now.
    fn may_supersede(&mut self, target: &Memory) -> Result<bool, Error> {
        match access::require_in_place(self.parts, self.caller, target, Role::Writer) {
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

    /// The receipts that there would be.
    pub(crate) fn foreseen(self) -> Vec<Receipt> {
        self.receipts
    }

    /// Writes the act and gives the receipts.
    pub(crate) fn apply(self, trouble: Option<&Warning>) -> Result<Vec<Receipt>, Error> {
        let Self {
            parts, caller, now, rights, mut writes, mut receipts, inserted, seen, compared, pass, ..
        } = self;
        if let Some(pass) = pass.filter(|pass| !pass.acts.is_empty()) {
            writes.push(Write::Pass { from: None, to: Box::new(pass.ended(PassOutcome::Done, now)) });
        }
        if !writes.is_empty() {
            let applied = parts.store.apply(&access::changes(caller, now, rights, writes))?;
            let numbers: HashMap<_, _> = inserted.into_iter().zip(applied.numbers).collect();
            let number = |id: MemoryId| numbers.get(&id).copied().flatten();
            for receipt in &mut receipts {
                receipt.number = number(receipt.id).or(receipt.number);
                receipt.near.iter_mut().for_each(|near| near.number = number(near.id).or(near.number));
            }
            // What was saved is saved: that these links fail costs only themselves.
            if let Some((seen, last)) = seen.zip(applied.seq) {
                let _ = relate_late(parts, seen, last, &compared, &mut receipts);
            }
        }
        if let Some(trouble) = trouble {
            for receipt in
                receipts.iter_mut().filter(|receipt| matches!(receipt.fate, Fate::Created | Fate::Updated))
            {
                receipt.warnings.push(trouble.clone());
            }
        }
        Ok(receipts)
    }
}

/// A new memory, as the draft says, in this space.
pub(crate) fn fresh(draft: &Draft, space: &Space, caller: &Caller, now: Timestamp) -> Memory {
    let mut provenance = draft.provenance.clone();
    provenance.origin = caller.origin;
    provenance.source_agent.clone_from(&caller.agent);
    Memory {
        id: draft.id.unwrap_or_else(|| MemoryId::mint(now)),
        number: None,
        space: space.id,
        owner: caller.viewer.principal,
        version: Version::FIRST,
        edition: draft.fresh(space.default_boundary()),
        standing: Standing {
            pinned: draft.pinned,
            quarantined_at: draft.quarantined.then_some(now),
            ..Standing::new(draft.first_state())
        },
        provenance,
        place: draft.place.clone(),
        usage: Usage { created_at: now, updated_at: now, accessed_at: now, access_count: 0 },
        superseded_by: None,
        backend: None,
        commands: Vec::new(),
    }
}

/// Links new memories to those that others committed after they were compared and before they were written. Of two that are
/// saved at once, this is for the later one to do: the earlier cannot know of it.
fn relate_late(
    parts: &Parts,
    seen: Seq,
    last: Seq,
    compared: &[Compared],
    receipts: &mut [Receipt],
) -> Result<(), Error> {
    let Some(first) = compared.first() else {
        return Ok(());
    };
    let mut ids = embedding::written_between(parts, first.newcomer.space, seen, last)?;
    ids.retain(|id| compared.iter().all(|own| own.id != *id));
    if ids.is_empty() {
        return Ok(());
    }
    let now = parts.clock.now();
    let entries = parts.store.entries(&ids, Some(&first.embedding.model))?;
    let (mut writes, mut found) = (Vec::new(), Vec::new());
    for own in compared {
        let known = &receipts[own.receipt].near;
        let near = embedding::near_among(own.newcomer, &own.embedding, &entries, now).into_iter();
        let new = near.filter(|(id, ..)| known.iter().all(|near| near.id != *id));
        for (id, number, similarity) in new.take(embedding::LINKS.saturating_sub(known.len())) {
            writes.push(embedding::link(own.id, id, similarity, now));
            found.push((own.receipt, Near { id, number, similarity }));
        }
    }
    if !writes.is_empty() {
        parts.store.apply(&access::own_changes(now, writes))?;
    }
    found.into_iter().for_each(|(receipt, near)| receipts[receipt].near.push(near));
    Ok(())
}

/// Whether a memory is one of a file whose text was looked for in vain.
fn could_not_be_read(memory: &Memory) -> bool {
    let trouble = memory.provenance.attachment.as_ref().and_then(|attachment| attachment.trouble.as_ref());
    trouble.is_some() && memory.is_unread() && memory.standing.state != State::Processing
}

/// How a memory stands once it was saved again, and whether that brought it back: active if it was archived, pinned if
/// that was asked, and no longer put aside for review where somebody says it on purpose.
fn stands(draft: &Draft, twin: &Memory, now: Timestamp) -> (Standing, bool) {
    let revived = twin.standing.state == State::Archived;
    let stood = if revived { twin.standing.ruled(State::Active, now) } else { twin.standing };
    let to = Standing {
        pinned: stood.pinned || draft.pinned,
        quarantined_at: stood.quarantined_at.filter(|_| draft.provenance.author == Author::Auto),
        done_at: stood.done_at.filter(|_| !reopens(draft)),
        ..stood
    };
    (to, revived)
}

/// Tells whether to say it again opens a todo that was done. A pass that hears it again, and a file that is read again, do not
/// mean that.
fn reopens(draft: &Draft) -> bool {
    let read = draft.imported.is_some() || draft.provenance.source_path.is_some();
    draft.provenance.author != Author::Auto && !read
}

/// That a todo or a goal which was done is open again.
fn reopened(caller: &Caller, before: &Memory, after: &Memory) -> Option<Warning> {
    let done_at = before.standing.done_at.filter(|_| after.is_open())?;
    Some(Warning::Reopened { memory: named(caller, after), done_at })
}

/// What was said and is not taken over, because the content is known already.
fn kept(draft: &Draft, twin: &Memory) -> Option<Warning> {
    let mut fields = twin.edition.differences(&draft.onto(&twin.edition));
    // Of a file that is known, the content is what was read from it.
    fields.retain(|field| draft.work().is_none() || *field != "content");
    fields.extend(unmoved(draft, twin));
    said(twin, fields)
}

fn said(twin: &Memory, fields: Vec<&'static str>) -> Option<Warning> {
    (!fields.is_empty()).then(|| Warning::Kept { memory: twin.reference(), fields })
}

/// What was said of where it comes from, which is set once, and is not so.
fn unmoved(draft: &Draft, twin: &Memory) -> Vec<&'static str> {
    let (said, is) = (&draft.provenance, &twin.provenance);
    let (place, was) = (&draft.place, &twin.place);
    let fields = [
        ("source_path", said.source_path.is_some() && said.source_path != is.source_path),
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

/// That recall will not find what was saved.
pub(crate) fn expired(memory: &Memory, now: Timestamp) -> Option<Warning> {
    memory.edition.span.expires_at.filter(|at| *at <= now).map(|at| Warning::Expired { at })
}
