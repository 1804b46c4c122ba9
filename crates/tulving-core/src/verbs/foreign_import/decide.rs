//! Decides the outcome for each memory of another system, from the record of earlier imports and from the memories in
//! this store.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::model::change::{ForeignItem, ImportRecord, ImportedRecord, RequiredRole, Revision, Write};
use crate::model::error::{Error, Field, Invalid};
use crate::model::foreign::{self, ForeignMemory, ForeignStatus};
use crate::model::id::MemoryId;
use crate::model::limits;
use crate::model::memory::{Chunk, Memory, Status, Usage, VersionFields};
use crate::model::record::{CurrentVersion, MemoryRecord};
use crate::model::request::ForgottenFilter;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, Role, SpaceKind, State, VersionAct};
use crate::text::chunk;
use crate::text::redact::RedactionCounts;
use crate::verbs::access;
use crate::verbs::save::dedupe::{self, UniqueSlot};
use crate::verbs::save::{assemble, intake};
use crate::verbs::status;

use super::{ForeignImport, RenumberedMemory};

/// A valid memory of another system.
pub(super) struct ForeignCandidate<'a> {
    pub(super) there: &'a ForeignMemory,
    item: ForeignItem,
    /// The hash from which the id is derived if the memory has no id of its own.
    made_of: [u8; 32],
    /// The ids that the memory may get in this store, best first: its own id, then an id derived from its name, the
    /// space and the owner.
    ids: Vec<MemoryId>,
    draft: intake::Draft,
    agent: Option<String>,
    /// The chunks of the resulting memory, computed on first use.
    chunks: OnceCell<Vec<Chunk>>,
}

impl ForeignCandidate<'_> {
    /// Returns the numbers of redactions in the memory.
    pub(super) fn withheld(&self) -> &RedactionCounts {
        &self.draft.withheld
    }

    /// Returns the content of the resulting memory.
    pub(super) fn says(&self) -> &str {
        self.draft.content()
    }
}

/// The outcome for a candidate.
pub(super) enum ForeignImportOutcome {
    /// The memory is new.
    New { id: MemoryId, forgotten: bool, renumbered: Option<RenumberedMemory> },
    /// The memory has another content than at the last import.
    Updated { id: MemoryId },
    /// The memory was forgotten in the other system.
    Forgotten { id: MemoryId },
    /// The memory is active again in the other system, after it was archived or forgotten.
    Restored { id: MemoryId },
    /// The memory is unchanged, or a memory in this store has the same content.
    Known { id: MemoryId },
    /// The imported memory is now in another space.
    Elsewhere,
    /// The memory in this store is not changed, for the given reason.
    Left { id: Option<MemoryId>, why: String },
}

impl ForeignImportOutcome {
    /// Returns true if this outcome changes the store.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::New { .. } | Self::Updated { .. } | Self::Forgotten { .. } | Self::Restored { .. } => true,
            Self::Known { .. } | Self::Elsewhere | Self::Left { .. } => false,
        }
    }

    /// Returns the memory in this space that represents the candidate.
    pub(super) fn imported_as(&self) -> Option<MemoryId> {
        match self {
            Self::New { id, .. }
            | Self::Updated { id }
            | Self::Forgotten { id }
            | Self::Restored { id }
            | Self::Known { id } => Some(*id),
            Self::Elsewhere => None,
            Self::Left { id, .. } => *id,
        }
    }
}

/// The writes of an import, and the rights that they need.
pub(super) struct ForeignImportWrites {
    pub(super) writes: Vec<Write>,
    pub(super) rights: Vec<RequiredRole>,
}

/// The existing data about some candidates.
struct ForeignImportContext {
    space: Space,
    now: Timestamp,
    known: HashMap<[u8; 32], ImportRecord>,
    /// Memories that have one of the candidates' ids.
    by_id: HashMap<MemoryId, Memory>,
}

impl ForeignImport<'_> {
    /// Builds a candidate from a memory of the other system, with the options of the import.
    pub(super) fn candidate<'a>(
        &self,
        there: &'a ForeignMemory,
        space: &Space,
    ) -> Result<ForeignCandidate<'a>, Invalid> {
        let owner = self.caller.viewer.principal;
        let name = foreign::name(&[there.name.as_bytes()]);
        let item = ForeignItem { space: space.id, system: self.system, name, says: there.says() };
        let mut request = there.request.clone();
        if !self.options.tags.is_empty() {
            request.tags.get_or_insert_default().extend(self.options.tags.iter().cloned());
        }
        request.boundary = self.options.boundary.or_else(|| fitting(space, request.boundary));
        let made = there.times.created_at.unwrap_or(Timestamp::from_micros(0));
        let made_of = foreign::name(&[
            space.id.as_bytes(),
            owner.as_bytes(),
            self.system.as_str().as_bytes(),
            there.name.as_bytes(),
        ]);
        let ids = there.id.into_iter().chain([MemoryId::derived(made, &made_of)]).collect();
        let agent = intake::given(Field::Agent, there.agent.as_deref(), limits::NOTE_CHARS)?;
        let draft = intake::read(request, space, self.ports.limits)?;
        let draft = draft.withhold(self.ports.redactor(space), self.ports.limits)?;
        Ok(ForeignCandidate { there, item, made_of, ids, draft, agent, chunks: OnceCell::new() })
    }

    /// Returns the known memories whose content differs from that of the last import.
    pub(super) fn known_to_differ<'a>(
        &self,
        space: &Space,
        batch: Vec<&'a ForeignMemory>,
    ) -> Result<Vec<&'a ForeignMemory>, Error> {
        let names: Vec<[u8; 32]> =
            batch.iter().map(|there| foreign::name(&[there.name.as_bytes()])).collect();
        let known = self.ports.store.adopted(space.id, self.caller.viewer.principal, self.system, &names)?;
        let known: HashMap<[u8; 32], [u8; 32]> =
            known.into_iter().map(|item| (item.name, item.says)).collect();
        let differs = |(there, name): (&'a ForeignMemory, [u8; 32])| {
            known.get(&name).is_some_and(|says| *says != there.says()).then_some(there)
        };
        Ok(batch.into_iter().zip(names).filter_map(differs).collect())
    }

    /// Decides the outcome for each candidate, and builds the writes for it.
    pub(super) fn decide(
        &mut self,
        candidates: &[ForeignCandidate<'_>],
    ) -> Result<(Vec<ForeignImportOutcome>, ForeignImportWrites), Error> {
        let (space, right) = access::workplace(self.ports, self.caller)?;
        if !self.options.dry_run {
            self.pending = dedupe::PendingMemories::default();
        }
        let here = self.look(candidates, space)?;
        let mut act = ForeignImportWrites { writes: Vec::new(), rights: vec![right] };
        let outcomes = candidates.iter().map(|candidate| self.decide_one(candidate, &here, &mut act));
        let outcomes = outcomes.collect::<Result<Vec<ForeignImportOutcome>, Error>>()?;
        Ok((outcomes, act))
    }

    fn look(&self, candidates: &[ForeignCandidate<'_>], space: Space) -> Result<ForeignImportContext, Error> {
        let names: Vec<[u8; 32]> = candidates.iter().map(|candidate| candidate.item.name).collect();
        let owner = self.caller.viewer.principal;
        let known = self.ports.store.adopted(space.id, owner, self.system, &names)?;
        let known: HashMap<[u8; 32], ImportRecord> =
            known.into_iter().map(|item| (item.name, item)).collect();
        let own = |candidate: &&ForeignCandidate<'_>| {
            known.get(&candidate.item.name).is_some_and(|item| candidate.owns(item.memory))
        };
        let others = candidates.iter().filter(|candidate| !own(candidate));
        let ids: Vec<MemoryId> = others.flat_map(|candidate| candidate.ids.iter().copied()).collect();
        let entries = self.ports.store.entries(&ids, None)?;
        let by_id = entries.into_iter().map(|entry| (entry.memory.id, entry.memory)).collect();
        Ok(ForeignImportContext { space, now: self.ports.clock.now(), known, by_id })
    }

    fn decide_one(
        &mut self,
        candidate: &ForeignCandidate<'_>,
        here: &ForeignImportContext,
        act: &mut ForeignImportWrites,
    ) -> Result<ForeignImportOutcome, Error> {
        let forgotten_there = candidate.there.stands == ForeignStatus::Forgotten;
        let Some(known) = here.known.get(&candidate.item.name) else {
            return self.unknown(candidate, here, act);
        };
        let (id, same) = (known.memory, known.says == candidate.item.says);
        if known.space != here.space.id {
            return Ok(if same {
                ForeignImportOutcome::Elsewhere
            } else {
                left(None, "it is now in another space")
            });
        }
        if known.status.forgotten_at.is_some() {
            if same || forgotten_there {
                return Ok(ForeignImportOutcome::Known { id });
            }
            return match candidate.owns(id) && candidate.said_as(known, ForeignStatus::Forgotten) {
                true => self.restored(candidate, here, id, act),
                false => Ok(left(Some(id), "it is forgotten here")),
            };
        }
        if candidate.owns(id) {
            if same {
                return Ok(ForeignImportOutcome::Known { id });
            }
        } else if !same || self.edited.contains(&id) {
            // The candidate shared a memory with another candidate of the same content, and one of the two contents has
            // changed.
            return self.unknown(candidate, here, act);
        } else {
            return Ok(ForeignImportOutcome::Known { id });
        }
        if known.current != known.version {
            return Ok(left(Some(id), "it has been edited here since"));
        }
        let (viewer, space) = (&self.caller.viewer, here.space.id);
        match self.ports.store.memory(viewer, space, id.into(), ForgottenFilter::Without)? {
            Some(memory) if memory.owner == viewer.principal => {
                let from = match candidate.said_as(known, ForeignStatus::Archived) {
                    true => ForeignStatus::Archived,
                    false => ForeignStatus::Active,
                };
                self.edited(candidate, here, &memory, from, act)
            }
            // The id is the same, but another principal imported the memory.
            _ => Ok(left(Some(id), "you may not change it here")),
        }
    }

    /// Decides on a candidate that has no memory in this store yet, or that now needs a separate memory.
    fn unknown(
        &mut self,
        candidate: &ForeignCandidate<'_>,
        here: &ForeignImportContext,
        act: &mut ForeignImportWrites,
    ) -> Result<ForeignImportOutcome, Error> {
        let owner = self.caller.viewer.principal;
        for id in &candidate.ids {
            match here.by_id.get(id) {
                None => return self.fresh(candidate, here, *id, act),
                // The memory came into this store in another way, perhaps with a dump.
                Some(memory) if memory.space == here.space.id && memory.owner == owner => {
                    let as_it_was = memory.status.forgotten_at.is_some()
                        || candidate.onto(&memory.fields) == memory.fields;
                    if as_it_was {
                        act.writes.push(candidate.noted(*id));
                        return Ok(ForeignImportOutcome::Known { id: *id });
                    }
                    if memory.version != crate::model::id::Version::FIRST {
                        return Ok(left(Some(*id), "it has been edited here since"));
                    }
                    return self.edited(candidate, here, memory, ForeignStatus::Active, act);
                }
                Some(_) => {}
            }
        }
        Ok(left(None, "another memory has its id"))
    }

    fn fresh(
        &mut self,
        candidate: &ForeignCandidate<'_>,
        here: &ForeignImportContext,
        id: MemoryId,
        act: &mut ForeignImportWrites,
    ) -> Result<ForeignImportOutcome, Error> {
        let memory = candidate.memory(self, here, id);
        let forgotten = memory.status.forgotten_at.is_some();
        if !forgotten {
            for slot in dedupe::slots(&memory) {
                let viewer = &self.caller.viewer;
                let found = dedupe::holder(self.ports, viewer, here.space.id, &self.pending, &slot)?;
                let Some(other) = found else { continue };
                if other.fields.text.content_hash == memory.fields.text.content_hash {
                    act.writes.push(candidate.noted(other.id));
                    let id = other.id;
                    self.share_path(&memory, other, act);
                    return Ok(ForeignImportOutcome::Known { id });
                }
                return Ok(left(None, held(&slot, &other)));
            }
            self.pending.note(memory.clone());
        }
        let current = CurrentVersion {
            act: VersionAct::Created,
            by: self.caller.viewer.principal,
            agent: self.caller.agent.clone(),
        };
        if forgotten {
            act.writes.push(self.forgetting(here, &memory));
        }
        if !self.options.dry_run {
            let chunks = candidate.chunks.get_or_init(|| chunk::of(&memory.fields.text)).clone();
            let record = MemoryRecord { memory, versions: Vec::new(), current };
            let (item, above) = (candidate.item, self.above);
            act.writes.push(Write::Adopt(Box::new(ImportedRecord { item, record, chunks, above })));
        }
        Ok(ForeignImportOutcome::New { id, forgotten, renumbered: None })
    }

    /// Adds the path to the caller's own memory, because one more file has the same content.
    fn share_path(&mut self, memory: &Memory, mut other: Memory, act: &mut ForeignImportWrites) {
        let Some(path) = memory.provenance.source_path.as_deref() else { return };
        let from = other.provenance.sources();
        let to = from.clone().with(Some(path));
        if from == to || other.owner != self.caller.viewer.principal || !dedupe::is_plain(&other) {
            return;
        }
        act.rights.push(RequiredRole { space: other.space, role: Role::Writer, over: Some(other.id) });
        act.writes.push(Write::SetSources { id: other.id, from, to: to.clone() });
        other.provenance.set_sources(to);
        self.pending.note(other);
    }

    /// Restores a memory that an import forgot because it was forgotten in the other system, and that now exists there
    /// again.
    fn restored(
        &mut self,
        candidate: &ForeignCandidate<'_>,
        here: &ForeignImportContext,
        id: MemoryId,
        act: &mut ForeignImportWrites,
    ) -> Result<ForeignImportOutcome, Error> {
        let (viewer, space) = (&self.caller.viewer, here.space.id);
        let found = self.ports.store.memory(viewer, space, id.into(), ForgottenFilter::Only)?;
        let Some(memory) = found.filter(|memory| memory.owner == viewer.principal) else {
            return Ok(left(Some(id), "you may not change it here"));
        };
        let stood = memory.status;
        let state =
            if candidate.there.stands == ForeignStatus::Archived { State::Archived } else { stood.state };
        let to = Status { forgotten_at: None, state, ..stood };
        let future = Memory { status: to, ..memory };
        if let Some(why) = self.taken(&[], &future)? {
            return Ok(left(Some(id), why));
        }
        let reason = Some(format!("restored in {}", self.system));
        let noted = status::audit(self.caller, here.now, AuditAct::Restored, &future, reason, None);
        act.rights.push(RequiredRole { space, role: Role::Writer, over: Some(id) });
        act.writes.push(Write::Move { id, from: stood, to });
        act.writes.push(Write::Audit(noted));
        act.writes.push(candidate.noted(id));
        self.pending.note(future);
        Ok(ForeignImportOutcome::Restored { id })
    }

    /// Updates a memory of the caller that changed in the other system. At the last import its status there was `from`.
    fn edited(
        &mut self,
        candidate: &ForeignCandidate<'_>,
        here: &ForeignImportContext,
        memory: &Memory,
        from: ForeignStatus,
        act: &mut ForeignImportWrites,
    ) -> Result<ForeignImportOutcome, Error> {
        let (id, stood) = (memory.id, memory.status);
        let mut right = RequiredRole { space: here.space.id, role: Role::Writer, over: Some(id) };
        if candidate.there.stands == ForeignStatus::Forgotten {
            let to = Status { forgotten_at: Some(here.now), ..stood };
            act.rights.push(right);
            act.writes.push(Write::Move { id, from: stood, to });
            act.writes.push(self.forgetting(here, memory));
            act.writes.push(candidate.noted(id));
            return Ok(ForeignImportOutcome::Forgotten { id });
        }
        let fields = candidate.onto(&memory.fields);
        let status = candidate.status(stood, from, here.now);
        let same = fields == memory.fields;
        if same && status == stood {
            // The memory was archived in this store for another reason. It must stay archived if the other system
            // unarchives its copy later. So the archive status of the other system is not recorded.
            if candidate.there.stands != ForeignStatus::Archived || from == ForeignStatus::Archived {
                act.writes.push(candidate.noted(id));
            }
            return Ok(ForeignImportOutcome::Known { id });
        }
        let future = Memory { fields: fields.clone(), status, ..memory.clone() };
        if let Some(why) = self.taken(&dedupe::taken_up(memory), &future)? {
            return Ok(left(Some(id), why));
        }
        if fields.boundary != memory.fields.boundary {
            right = access::require_over(self.ports, self.caller, id.into(), memory)?;
        }
        act.rights.push(right);
        act.writes.push(match same {
            true => Write::Move { id, from: stood, to: status },
            false => revised(memory, fields, status),
        });
        act.writes.push(candidate.noted(id));
        self.pending.note(future);
        Ok(if same && status.state == State::Active {
            ForeignImportOutcome::Restored { id }
        } else {
            ForeignImportOutcome::Updated { id }
        })
    }

    /// Returns the reason why a memory cannot become `future`: another memory has its key, path or content.
    fn taken(&self, held: &[UniqueSlot], future: &Memory) -> Result<Option<String>, Error> {
        match dedupe::refuse_taken(self.ports, &self.caller.viewer, &self.pending, held, future) {
            Ok(()) => Ok(None),
            Err(error @ Error::Held { .. }) => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Builds the audit entry for a memory that was forgotten in the other system, with the name of that system.
    fn forgetting(&self, here: &ForeignImportContext, memory: &Memory) -> Write {
        let reason = Some(format!("forgotten in {}", self.system));
        Write::Audit(status::audit(self.caller, here.now, AuditAct::Forgot, memory, reason, None))
    }
}

impl ForeignCandidate<'_> {
    /// Returns true if the memory was created for this candidate; false if the memory only has the same content.
    fn owns(&self, id: MemoryId) -> bool {
        self.there.id == Some(id) || id.is_derived_from(&self.made_of)
    }

    /// Applies the candidate to an existing version, but keeps the source note of that version.
    fn onto(&self, old: &VersionFields) -> VersionFields {
        VersionFields { source_note: old.source_note.clone(), ..self.draft.onto(old) }
    }

    /// Returns true if the candidate had the same content and the status `stood` in the other system at the last
    /// import.
    fn said_as(&self, known: &ImportRecord, stood: ForeignStatus) -> bool {
        ForeignMemory { stands: stood, ..self.there.clone() }.says() == known.says
    }

    /// Returns the new status of a memory. `stood` is its status in this store; `from` was its status in the other
    /// system at the last import.
    fn status(&self, stood: Status, from: ForeignStatus, now: Timestamp) -> Status {
        match stood.state {
            _ if self.there.stands == ForeignStatus::Archived => stood.moved(State::Archived),
            State::Archived if from == ForeignStatus::Archived => stood.ruled(State::Active, now),
            _ => stood,
        }
    }

    fn noted(&self, memory: MemoryId) -> Write {
        Write::Adopted { item: self.item, memory }
    }

    /// Builds a memory of the caller from the candidate, with the times of the other system.
    fn memory(&self, taking: &ForeignImport<'_>, here: &ForeignImportContext, id: MemoryId) -> Memory {
        let now = here.now;
        let times = &self.there.times;
        let created_at = times.created_at.map_or(now, |at| at.min(now));
        let later = |at: Option<Timestamp>| at.map_or(created_at, |at| at.clamp(created_at, now));
        let usage = Usage {
            created_at,
            updated_at: later(times.updated_at),
            accessed_at: later(times.accessed_at),
            access_count: times.access_count,
        };
        let mut memory = assemble::fresh(&self.draft, &here.space, taking.caller, now);
        let (state, forgotten_at) = match self.there.stands {
            ForeignStatus::Active => (State::Active, None),
            ForeignStatus::Cooling => (State::Cooling, None),
            ForeignStatus::Archived => (State::Archived, None),
            ForeignStatus::Forgotten => (State::Active, Some(usage.updated_at)),
        };
        memory.status = Status { state, forgotten_at, ..memory.status };
        memory.provenance.source_agent = self.agent.clone().or(memory.provenance.source_agent);
        Memory { id, number: self.there.number, usage, ..memory }
    }
}

/// Builds the write that stores these fields as the next version of a memory.
fn revised(memory: &Memory, fields: VersionFields, status: Status) -> Write {
    let changed = fields.differs_in_meaning(&memory.fields);
    Write::Revise(Box::new(Revision {
        id: memory.id,
        from: memory.version,
        act: VersionAct::Updated,
        chunks: changed.then(|| chunk::of(&fields.text)),
        fields,
        stood: memory.status,
        status,
        attachment: None,
        confirmed: None,
    }))
}

/// Returns the boundary that the other system gave, narrowed to what this space allows.
fn fitting(space: &Space, boundary: Option<Boundary>) -> Option<Boundary> {
    let sealed = space.kind == SpaceKind::Group;
    boundary.map(|boundary| if sealed { boundary.min(Boundary::Hub) } else { boundary })
}

fn left(id: Option<MemoryId>, why: impl Into<String>) -> ForeignImportOutcome {
    ForeignImportOutcome::Left { id, why: why.into() }
}

/// Describes the conflict with a memory that has the same slot but another content.
fn held(slot: &UniqueSlot, other: &Memory) -> String {
    let (what, which) = (slot.what(), other.reference());
    format!("memory {which} here has the same {what} and another text")
}
