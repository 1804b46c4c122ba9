//! Decides what becomes of memories of another system, on what is known of them and on what is here.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::access;
use crate::change::{AdoptedItem, Adoption, ForeignItem, Revision, Right, Write};
use crate::error::{Error, Field, Invalid};
use crate::foreign::{self, ForeignMemory, Stands};
use crate::id::MemoryId;
use crate::limits;
use crate::memory::{Chunk, Edition, Memory, Standing, Usage};
use crate::record::{CurrentVersion, MemoryRecord};
use crate::request::Forgotten;
use crate::save::dedupe::{self, Slot};
use crate::save::{assemble, intake};
use crate::space::Space;
use crate::standing;
use crate::text::chunk;
use crate::text::withhold::Withheld;
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Boundary, Role, SpaceKind, State, VersionAct};

use super::{Renumbered, Taking};

/// A memory of another system that was found good.
pub(super) struct Candidate<'a> {
    pub(super) there: &'a ForeignMemory,
    item: ForeignItem,
    /// What its id is made of, where it has none of its own.
    made_of: [u8; 32],
    /// What it may be called here, the best first: its own id, then one that is made of its name, the space and the owner.
    ids: Vec<MemoryId>,
    draft: intake::Draft,
    agent: Option<String>,
    /// The chunks of a memory that is made of it, once they were asked for.
    chunks: OnceCell<Vec<Chunk>>,
}

impl Candidate<'_> {
    /// What was held back of it.
    pub(super) fn withheld(&self) -> &Withheld {
        &self.draft.withheld
    }

    /// What a memory of it says.
    pub(super) fn says(&self) -> &str {
        self.draft.content()
    }
}

/// What becomes of a candidate.
pub(super) enum Fate {
    /// It is new.
    New { id: MemoryId, forgotten: bool, renumbered: Option<Renumbered> },
    /// It says something else than before.
    Updated { id: MemoryId },
    /// It was forgotten there.
    Forgotten { id: MemoryId },
    /// It is back there from the archive, or from what was forgotten.
    Restored { id: MemoryId },
    /// It is as it was, or a memory that is here says the same.
    Known { id: MemoryId },
    /// The memory that stands for it is in another space by now.
    Elsewhere,
    /// It is let be.
    Left { id: Option<MemoryId>, why: String },
}

impl Fate {
    /// The memory that stands for it in this space.
    pub(super) fn stands_for(&self) -> Option<MemoryId> {
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

/// Writes, and what they need.
pub(super) struct Act {
    pub(super) writes: Vec<Write>,
    pub(super) rights: Vec<Right>,
}

/// What is here already of some candidates.
struct Here {
    space: Space,
    now: Timestamp,
    known: HashMap<[u8; 32], AdoptedItem>,
    /// Whatever has one of their ids.
    by_id: HashMap<MemoryId, Memory>,
}

impl Taking<'_> {
    /// A memory of theirs as it would be saved, with what is said of all.
    pub(super) fn candidate<'a>(
        &self,
        there: &'a ForeignMemory,
        space: &Space,
    ) -> Result<Candidate<'a>, Invalid> {
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
        let draft = intake::read(request, space, self.parts.limits)?;
        let draft = draft.withhold(self.parts.sieve(space), self.parts.limits)?;
        Ok(Candidate { there, item, made_of, ids, draft, agent, chunks: OnceCell::new() })
    }

    /// Those of these memories that are known and say something else than when they were last taken in.
    pub(super) fn known_to_differ<'a>(
        &self,
        space: &Space,
        batch: Vec<&'a ForeignMemory>,
    ) -> Result<Vec<&'a ForeignMemory>, Error> {
        let names: Vec<[u8; 32]> =
            batch.iter().map(|there| foreign::name(&[there.name.as_bytes()])).collect();
        let known = self.parts.store.adopted(space.id, self.caller.viewer.principal, self.system, &names)?;
        let known: HashMap<[u8; 32], [u8; 32]> =
            known.into_iter().map(|item| (item.name, item.says)).collect();
        let differs = |(there, name): (&'a ForeignMemory, [u8; 32])| {
            known.get(&name).is_some_and(|says| *says != there.says()).then_some(there)
        };
        Ok(batch.into_iter().zip(names).filter_map(differs).collect())
    }

    /// What becomes of each, and what is to be written for it.
    pub(super) fn decide(&mut self, candidates: &[Candidate<'_>]) -> Result<(Vec<Fate>, Act), Error> {
        let (space, right) = access::workplace(self.parts, self.caller)?;
        if !self.options.dry_run {
            self.pending = dedupe::Pending::default();
        }
        let here = self.look(candidates, space)?;
        let mut act = Act { writes: Vec::new(), rights: vec![right] };
        let fates = candidates.iter().map(|candidate| self.decide_one(candidate, &here, &mut act));
        let fates = fates.collect::<Result<Vec<Fate>, Error>>()?;
        Ok((fates, act))
    }

    fn look(&self, candidates: &[Candidate<'_>], space: Space) -> Result<Here, Error> {
        let names: Vec<[u8; 32]> = candidates.iter().map(|candidate| candidate.item.name).collect();
        let owner = self.caller.viewer.principal;
        let known = self.parts.store.adopted(space.id, owner, self.system, &names)?;
        let known: HashMap<[u8; 32], AdoptedItem> = known.into_iter().map(|item| (item.name, item)).collect();
        let own = |candidate: &&Candidate<'_>| {
            known.get(&candidate.item.name).is_some_and(|item| candidate.owns(item.memory))
        };
        let others = candidates.iter().filter(|candidate| !own(candidate));
        let ids: Vec<MemoryId> = others.flat_map(|candidate| candidate.ids.iter().copied()).collect();
        let entries = self.parts.store.entries(&ids, None)?;
        let by_id = entries.into_iter().map(|entry| (entry.memory.id, entry.memory)).collect();
        Ok(Here { space, now: self.parts.clock.now(), known, by_id })
    }

    fn decide_one(&mut self, candidate: &Candidate<'_>, here: &Here, act: &mut Act) -> Result<Fate, Error> {
        let forgotten_there = candidate.there.stands == Stands::Forgotten;
        let Some(known) = here.known.get(&candidate.item.name) else {
            return self.unknown(candidate, here, act);
        };
        let (id, same) = (known.memory, known.says == candidate.item.says);
        if known.space != here.space.id {
            return Ok(if same { Fate::Elsewhere } else { left(None, "it is in another space by now") });
        }
        if known.standing.forgotten_at.is_some() {
            if same || forgotten_there {
                return Ok(Fate::Known { id });
            }
            return match candidate.owns(id) && candidate.said_as(known, Stands::Forgotten) {
                true => self.restored(candidate, here, id, act),
                false => Ok(left(Some(id), "it is forgotten here")),
            };
        }
        if candidate.owns(id) {
            if same {
                return Ok(Fate::Known { id });
            }
        } else if !same || self.edited.contains(&id) {
            // Another memory said what this one says, and one of the two no longer does.
            return self.unknown(candidate, here, act);
        } else {
            return Ok(Fate::Known { id });
        }
        if known.current != known.version {
            return Ok(left(Some(id), "it was edited here since"));
        }
        let (viewer, space) = (&self.caller.viewer, here.space.id);
        match self.parts.store.memory(viewer, space, id.into(), Forgotten::Without)? {
            Some(memory) if memory.owner == viewer.principal => {
                let from = match candidate.said_as(known, Stands::Archived) {
                    true => Stands::Archived,
                    false => Stands::Active,
                };
                self.edited(candidate, here, &memory, from, act)
            }
            // It has the same id, and somebody else has taken it in.
            _ => Ok(left(Some(id), "it is not yours to change here")),
        }
    }

    /// One that nothing is known of, or that is to be a memory of its own by now.
    fn unknown(&mut self, candidate: &Candidate<'_>, here: &Here, act: &mut Act) -> Result<Fate, Error> {
        let owner = self.caller.viewer.principal;
        for id in &candidate.ids {
            match here.by_id.get(id) {
                None => return self.fresh(candidate, here, *id, act),
                // It came here in another way, with a dump perhaps.
                Some(memory) if memory.space == here.space.id && memory.owner == owner => {
                    let as_it_was = memory.standing.forgotten_at.is_some()
                        || candidate.onto(&memory.edition) == memory.edition;
                    if as_it_was {
                        act.writes.push(candidate.noted(*id));
                        return Ok(Fate::Known { id: *id });
                    }
                    if memory.version != crate::id::Version::FIRST {
                        return Ok(left(Some(*id), "it was edited here since"));
                    }
                    return self.edited(candidate, here, memory, Stands::Active, act);
                }
                Some(_) => {}
            }
        }
        Ok(left(None, "its id is taken by another memory"))
    }

    fn fresh(
        &mut self,
        candidate: &Candidate<'_>,
        here: &Here,
        id: MemoryId,
        act: &mut Act,
    ) -> Result<Fate, Error> {
        let memory = candidate.memory(self, here, id);
        let forgotten = memory.standing.forgotten_at.is_some();
        if !forgotten {
            for slot in dedupe::slots(&memory) {
                let viewer = &self.caller.viewer;
                let found = dedupe::holder(self.parts, viewer, here.space.id, &self.pending, &slot)?;
                let Some(other) = found else { continue };
                if other.edition.text.content_hash == memory.edition.text.content_hash {
                    act.writes.push(candidate.noted(other.id));
                    return Ok(Fate::Known { id: other.id });
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
            let chunks = candidate.chunks.get_or_init(|| chunk::of(&memory.edition.text)).clone();
            let record = MemoryRecord { memory, versions: Vec::new(), current };
            let (item, above) = (candidate.item, self.above);
            act.writes.push(Write::Adopt(Box::new(Adoption { item, record, chunks, above })));
        }
        Ok(Fate::New { id, forgotten, renumbered: None })
    }

    /// One that was forgotten here because it was there, and is there again.
    fn restored(
        &mut self,
        candidate: &Candidate<'_>,
        here: &Here,
        id: MemoryId,
        act: &mut Act,
    ) -> Result<Fate, Error> {
        let (viewer, space) = (&self.caller.viewer, here.space.id);
        let found = self.parts.store.memory(viewer, space, id.into(), Forgotten::Only)?;
        let Some(memory) = found.filter(|memory| memory.owner == viewer.principal) else {
            return Ok(left(Some(id), "it is not yours to change here"));
        };
        let stood = memory.standing;
        let state = if candidate.there.stands == Stands::Archived { State::Archived } else { stood.state };
        let to = Standing { forgotten_at: None, state, ..stood };
        let future = Memory { standing: to, ..memory };
        if let Some(why) = self.taken(&future)? {
            return Ok(left(Some(id), why));
        }
        let reason = Some(format!("restored in {}", self.system));
        let noted = standing::audit(self.caller, here.now, AuditAct::Restored, &future, reason, None);
        act.rights.push(Right { space, role: Role::Writer, over: Some(id) });
        act.writes.push(Write::Move { id, from: stood, to });
        act.writes.push(Write::Audit(noted));
        act.writes.push(candidate.noted(id));
        self.pending.note(future);
        Ok(Fate::Restored { id })
    }

    /// One of the caller's that says something else there than it did when it stood so.
    fn edited(
        &mut self,
        candidate: &Candidate<'_>,
        here: &Here,
        memory: &Memory,
        from: Stands,
        act: &mut Act,
    ) -> Result<Fate, Error> {
        let (id, stood) = (memory.id, memory.standing);
        let mut right = Right { space: here.space.id, role: Role::Writer, over: Some(id) };
        if candidate.there.stands == Stands::Forgotten {
            let to = Standing { forgotten_at: Some(here.now), ..stood };
            act.rights.push(right);
            act.writes.push(Write::Move { id, from: stood, to });
            act.writes.push(self.forgetting(here, memory));
            act.writes.push(candidate.noted(id));
            return Ok(Fate::Forgotten { id });
        }
        let edition = candidate.onto(&memory.edition);
        let standing = candidate.standing(stood, from, here.now);
        let same = edition == memory.edition;
        if same && standing == stood {
            // Who has archived it here has not done so because it was there, and it does not come back with that.
            if candidate.there.stands != Stands::Archived || from == Stands::Archived {
                act.writes.push(candidate.noted(id));
            }
            return Ok(Fate::Known { id });
        }
        let future = Memory { edition: edition.clone(), standing, ..memory.clone() };
        if let Some(why) = self.taken(&future)? {
            return Ok(left(Some(id), why));
        }
        if edition.boundary != memory.edition.boundary {
            right = access::require_over(self.parts, self.caller, id.into(), memory)?;
        }
        act.rights.push(right);
        act.writes.push(match same {
            true => Write::Move { id, from: stood, to: standing },
            false => revised(memory, edition, standing),
        });
        act.writes.push(candidate.noted(id));
        self.pending.note(future);
        Ok(if same && standing.state == State::Active { Fate::Restored { id } } else { Fate::Updated { id } })
    }

    /// Why a memory cannot become this, where another one holds what it would hold.
    fn taken(&self, future: &Memory) -> Result<Option<String>, Error> {
        match dedupe::refuse_taken(self.parts, &self.caller.viewer, &self.pending, future) {
            Ok(()) => Ok(None),
            Err(error @ Error::Held { .. }) => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// The entry of the audit that says where a memory was forgotten.
    fn forgetting(&self, here: &Here, memory: &Memory) -> Write {
        let reason = Some(format!("forgotten in {}", self.system));
        Write::Audit(standing::audit(self.caller, here.now, AuditAct::Forgot, memory, reason, None))
    }
}

impl Candidate<'_> {
    /// Whether a memory was made for it, and is not one that only says the same.
    fn owns(&self, id: MemoryId) -> bool {
        self.there.id == Some(id) || id.is_derived_from(&self.made_of)
    }

    /// What it leaves of an edition that is here. Where that came from is not said anew.
    fn onto(&self, old: &Edition) -> Edition {
        Edition { source_note: old.source_note.clone(), ..self.draft.onto(old) }
    }

    /// Whether it said just this when it was last taken in, and stood so there.
    fn said_as(&self, known: &AdoptedItem, stood: Stands) -> bool {
        ForeignMemory { stands: stood, ..self.there.clone() }.says() == known.says
    }

    /// How a memory stands that stood so here, where its one there stood so before.
    fn standing(&self, stood: Standing, from: Stands, now: Timestamp) -> Standing {
        match stood.state {
            _ if self.there.stands == Stands::Archived => stood.moved(State::Archived),
            State::Archived if from == Stands::Archived => stood.ruled(State::Active, now),
            _ => stood,
        }
    }

    fn noted(&self, memory: MemoryId) -> Write {
        Write::Adopted { item: self.item, memory }
    }

    /// It as a memory of the caller's, with the times that it has there.
    fn memory(&self, taking: &Taking<'_>, here: &Here, id: MemoryId) -> Memory {
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
            Stands::Active => (State::Active, None),
            Stands::Cooling => (State::Cooling, None),
            Stands::Archived => (State::Archived, None),
            Stands::Forgotten => (State::Active, Some(usage.updated_at)),
        };
        memory.standing = Standing { state, forgotten_at, ..memory.standing };
        memory.provenance.source_agent = self.agent.clone().or(memory.provenance.source_agent);
        Memory { id, number: self.there.number, usage, ..memory }
    }
}

/// The write that makes an edition the next version of a memory.
fn revised(memory: &Memory, edition: Edition, standing: Standing) -> Write {
    let changed = edition.differs_in_meaning(&memory.edition);
    Write::Revise(Box::new(Revision {
        id: memory.id,
        from: memory.version,
        act: VersionAct::Updated,
        chunks: changed.then(|| chunk::of(&edition.text)),
        edition,
        stood: memory.standing,
        standing,
        attachment: None,
        vouched: None,
    }))
}

/// The boundary that another system gave, as wide as this space allows.
fn fitting(space: &Space, boundary: Option<Boundary>) -> Option<Boundary> {
    let sealed = space.kind == SpaceKind::Group;
    boundary.map(|boundary| if sealed { boundary.min(Boundary::Hub) } else { boundary })
}

fn left(id: Option<MemoryId>, why: impl Into<String>) -> Fate {
    Fate::Left { id, why: why.into() }
}

/// What stands in the way of a memory that says something else.
fn held(slot: &Slot, other: &Memory) -> String {
    let (what, which) = (slot.what(), other.reference());
    format!("memory {which} here has the same {what} and says something else")
}
