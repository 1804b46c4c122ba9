//! Fits the records of a dump into this store: what is called otherwise here, and what came of each line.

use std::collections::HashMap;

use serde::Serialize;

use crate::access::{self, Parts};
use crate::change::Write;
use crate::error::{Error, Invalid};
use crate::id::{MemoryId, PrincipalId, SpaceId, TeamId};
use crate::record::{DUMP_FORMAT, FORMAT_WITH_END, Loaded, MemoryRecord, Record};
use crate::request::Caller;
use crate::space::{MemberOf, Membership, Space};
use crate::vocabulary::{Boundary, SpaceKind};

use super::check;

/// A line that was left out of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Which line.
    pub line: u64,
    /// The memory it is of, where it is one.
    pub memory: Option<MemoryId>,
    /// Why.
    pub loaded: Loaded,
}

/// A load under way: what came of it so far, and what is called otherwise here.
#[derive(Debug, Default, Serialize)]
pub struct Loading {
    /// How many lines were new.
    pub added: u64,
    /// How many were there already.
    pub present: u64,
    /// Memories that got another number, because theirs was taken.
    pub renumbered: Vec<Loaded>,
    /// How many memories were left out, because one with the same content, key or path is here.
    pub duplicates: u64,
    /// How many lines were left out, because they refer to what is not here.
    pub dangling: u64,
    /// Which lines were left out, and why.
    pub left_out: Vec<LeftOut>,
    /// How many records came since the first line of a dump whose last line is still to come.
    #[serde(skip)]
    awaited: Option<u64>,
    #[serde(skip)]
    principals: HashMap<PrincipalId, PrincipalId>,
    #[serde(skip)]
    teams: HashMap<TeamId, TeamId>,
    #[serde(skip)]
    spaces: HashMap<SpaceId, SpaceId>,
    #[serde(skip)]
    kinds: HashMap<SpaceId, Option<SpaceKind>>,
    #[serde(skip)]
    memories: HashMap<MemoryId, MemoryId>,
}

impl Loading {
    /// A record with its references as they are here, or nothing where the record itself is not to be stored.
    pub(super) fn fitted(
        &mut self,
        parts: &Parts,
        caller: &Caller,
        line: u64,
        mut record: Record,
    ) -> Result<Option<Record>, Error> {
        check::record(&mut record).map_err(|invalid| Invalid::DumpLine { line, why: invalid.to_string() })?;
        if let Some(records) = self.awaited.as_mut().filter(|_| !record.is_frame()) {
            *records += 1;
        }
        Ok(match record {
            Record::Dump { format, .. } => {
                self.begin(format)?;
                None
            }
            Record::End { records } => {
                self.end(records)?;
                None
            }
            Record::Org(org) => Some(Record::Org(org)),
            Record::Team(team) => {
                let known = parts.store.teams(&caller.viewer)?;
                let named = known.iter().find(|other| other.org == team.org && other.name == team.name);
                match named.filter(|other| other.id != team.id) {
                    Some(other) => {
                        self.teams.insert(team.id, other.id);
                        self.present += 1;
                        None
                    }
                    None => Some(Record::Team(team)),
                }
            }
            Record::Principal(principal) => {
                let named = parts.store.principal_named(&principal.name)?;
                match named.filter(|other| other.id != principal.id) {
                    Some(other) => {
                        self.principals.insert(principal.id, other.id);
                        self.present += 1;
                        None
                    }
                    None => Some(Record::Principal(principal)),
                }
            }
            Record::Space { mut space, next_number, next_turn } => {
                space.team = self.team(space.team);
                match named_alike(parts, caller, line, &space)? {
                    Some(other) => {
                        self.spaces.insert(space.id, other);
                        self.present += 1;
                        None
                    }
                    None => Some(Record::Space { space, next_number, next_turn }),
                }
            }
            Record::Member(member) => Some(Record::Member(self.fitted_member(member))),
            Record::Memory(memory) => {
                let memory = self.fitted_memory(memory);
                self.refuse_open_group(parts, caller, line, &memory)?;
                Some(Record::Memory(memory))
            }
            Record::Association(mut edge) => {
                edge.source = self.memory(edge.source);
                edge.target = self.memory(edge.target);
                // Both ends may turn out to be one memory here.
                let is_one = edge.source == edge.target;
                self.present += u64::from(is_one);
                (!is_one).then_some(Record::Association(edge))
            }
            Record::Turn(mut turn) => {
                turn.space = self.space(turn.space);
                turn.logged_by = self.principal(turn.logged_by);
                Some(Record::Turn(turn))
            }
            Record::Audit(mut entry) => {
                entry.by = self.principal(entry.by);
                entry.space = entry.space.map(|id| self.space(id));
                entry.private_to = entry.private_to.map(|id| self.principal(id));
                Some(Record::Audit(entry))
            }
        })
    }

    /// The first line of a dump.
    fn begin(&mut self, format: u32) -> Result<(), Invalid> {
        if format > DUMP_FORMAT {
            return Err(Invalid::DumpFormat { got: format, known: DUMP_FORMAT });
        }
        self.require_end()?;
        self.awaited = (format >= FORMAT_WITH_END).then_some(0);
        Ok(())
    }

    /// The last line, which says how many there were before it.
    fn end(&mut self, stated: u64) -> Result<(), Invalid> {
        match self.awaited.take() {
            Some(got) if got != stated => Err(Invalid::DumpCount { got, stated }),
            _ => Ok(()),
        }
    }

    /// Refuses to go on where a dump has begun and its last line has not come.
    pub(super) fn require_end(&self) -> Result<(), Invalid> {
        self.awaited.map_or(Ok(()), |got| Err(Invalid::DumpCut { got }))
    }

    fn fitted_member(&self, member: Membership) -> Membership {
        let of = match member.of {
            MemberOf::Space(id) => MemberOf::Space(self.space(id)),
            MemberOf::Team(id) => MemberOf::Team(self.team(id)),
            MemberOf::Org(id) => MemberOf::Org(id),
        };
        Membership { principal: self.principal(member.principal), of, ..member }
    }

    fn fitted_memory(&self, mut record: Box<MemoryRecord>) -> Box<MemoryRecord> {
        record.memory.space = self.space(record.memory.space);
        record.memory.owner = self.principal(record.memory.owner);
        record.current.by = self.principal(record.current.by);
        for version in &mut record.versions {
            version.by = self.principal(version.by);
        }
        record
    }

    /// A dump cannot open a sealed space either.
    fn refuse_open_group(
        &mut self,
        parts: &Parts,
        caller: &Caller,
        line: u64,
        record: &MemoryRecord,
    ) -> Result<(), Error> {
        let (space, boundary) = (record.memory.space, record.memory.edition.boundary);
        if boundary <= Boundary::Hub {
            return Ok(());
        }
        let kind = match self.kinds.get(&space) {
            Some(kind) => *kind,
            None => parts.store.space(&caller.viewer, space)?.map(|(space, _)| space.kind),
        };
        self.kinds.insert(space, kind);
        if kind == Some(SpaceKind::Group) {
            let why = Invalid::BoundaryTooWide { boundary }.to_string();
            return Err(Invalid::DumpLine { line, why }.into());
        }
        Ok(())
    }

    /// Writes a run of records of one sort, and notes what came of each.
    pub(super) fn take(
        &mut self,
        parts: &Parts,
        caller: &Caller,
        run: Vec<(u64, Record)>,
    ) -> Result<(), Error> {
        if run.is_empty() {
            return Ok(());
        }
        let lines: Vec<(u64, Option<MemoryId>)> =
            run.iter().map(|(line, record)| (*line, memory_id(record))).collect();
        let writes = run.into_iter().map(|(_, record)| Write::Load(Box::new(record))).collect();
        let set = access::changes(caller, parts.clock.now(), Vec::new(), writes);
        let applied = access::decide_again(|| Ok(parts.store.apply(&set)?))?;
        for (loaded, (line, id)) in applied.loaded.into_iter().zip(lines) {
            self.note(loaded, line, id);
        }
        Ok(())
    }

    fn note(&mut self, loaded: Loaded, line: u64, id: Option<MemoryId>) {
        match loaded {
            Loaded::Added => self.added += 1,
            Loaded::Renumbered { .. } => {
                self.added += 1;
                self.renumbered.push(loaded);
            }
            Loaded::Present => self.present += 1,
            Loaded::Duplicate { of } => {
                self.duplicates += 1;
                self.left_out.push(LeftOut { line, memory: id, loaded });
                self.memories.extend(id.map(|id| (id, of)));
            }
            Loaded::Dangling => {
                self.dangling += 1;
                self.left_out.push(LeftOut { line, memory: id, loaded });
            }
        }
    }

    fn principal(&self, id: PrincipalId) -> PrincipalId {
        self.principals.get(&id).copied().unwrap_or(id)
    }

    fn team(&self, id: TeamId) -> TeamId {
        self.teams.get(&id).copied().unwrap_or(id)
    }

    fn space(&self, id: SpaceId) -> SpaceId {
        self.spaces.get(&id).copied().unwrap_or(id)
    }

    fn memory(&self, id: MemoryId) -> MemoryId {
        self.memories.get(&id).copied().unwrap_or(id)
    }
}

/// Another space that is called as this one here, where this one is not here itself. One of another kind is refused.
fn named_alike(parts: &Parts, caller: &Caller, line: u64, space: &Space) -> Result<Option<SpaceId>, Error> {
    let known = parts.store.spaces(&caller.viewer)?;
    if known.iter().any(|other| other.id == space.id) {
        return Ok(None);
    }
    let named = known.iter().find(|other| other.team == space.team && other.name == space.name);
    let Some(other) = named else { return Ok(None) };
    if other.kind != space.kind {
        let why = format!("`{}` is a {} here and a {} there", space.name, other.kind, space.kind);
        return Err(Invalid::DumpLine { line, why }.into());
    }
    Ok(Some(other.id))
}

fn memory_id(record: &Record) -> Option<MemoryId> {
    match record {
        Record::Memory(record) => Some(record.memory.id),
        _ => None,
    }
}
