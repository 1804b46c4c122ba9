//! Moves the whole content from one store to another: dump and load.

use std::collections::HashMap;

use serde::Serialize;

use crate::access::{self, Parts};
use crate::audit::AuditEntry;
use crate::change::Write;
use crate::error::{Error, Invalid};
use crate::id::{AuditId, MemoryId, PrincipalId, SpaceId, TeamId};
use crate::preview;
use crate::record::{DUMP_FORMAT, DumpPosition, Loaded, MemoryRecord, Record};
use crate::request::Caller;
use crate::space::MemberOf;
use crate::text::normalize;
use crate::vocabulary::AuditAct;

/// A page of a dump, and where the next one begins.
pub(crate) fn dump(
    parts: &Parts,
    caller: &Caller,
    position: DumpPosition,
    limit: usize,
) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
    access::require_org_admin(parts, caller)?;
    Ok(parts.store.dump(position, limit)?)
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
    #[serde(skip)]
    principals: HashMap<PrincipalId, PrincipalId>,
    #[serde(skip)]
    teams: HashMap<TeamId, TeamId>,
    #[serde(skip)]
    spaces: HashMap<SpaceId, SpaceId>,
    #[serde(skip)]
    memories: HashMap<MemoryId, MemoryId>,
}

/// Takes in some lines of a dump, each with its line number. What is there already stays as it is, so a load that was
/// cut off can be run again from the start.
pub(crate) fn load(
    parts: &Parts,
    caller: &Caller,
    loading: &mut Loading,
    lines: Vec<(u64, Record)>,
) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    let mut lines = lines.into_iter().peekable();
    while let Some((line, record)) = lines.next() {
        let sort = std::mem::discriminant(&record);
        let mut run = vec![loading.adopted(parts, caller, line, record)?];
        while let Some((line, record)) = lines.next_if(|(_, next)| std::mem::discriminant(next) == sort) {
            run.push(loading.adopted(parts, caller, line, record)?);
        }
        loading.take(parts, caller, run.into_iter().flatten().collect())?;
    }
    Ok(())
}

/// Records in the audit that a load came to its end.
pub(crate) fn finish(parts: &Parts, caller: &Caller, loading: &Loading) -> Result<(), Error> {
    let detail = format!("{} lines added, {} present", loading.added, loading.present);
    note(parts, caller, AuditAct::Loaded, detail)
}

/// Records in the audit that a backup took the place of what was there.
pub(crate) fn note_restore(parts: &Parts, caller: &Caller, file: &str) -> Result<(), Error> {
    note(parts, caller, AuditAct::BackupRestored, preview::short(file))
}

fn note(parts: &Parts, caller: &Caller, act: AuditAct, detail: String) -> Result<(), Error> {
    access::require_org_admin(parts, caller)?;
    let now = parts.clock.now();
    let entry = AuditEntry {
        id: AuditId::mint(now),
        at: now,
        by: caller.viewer.principal,
        agent: caller.agent.clone(),
        act,
        space: None,
        memory: None,
        private_to: None,
        reason: None,
        detail: Some(detail),
    };
    parts.store.apply(&access::changes(caller, now, Vec::new(), vec![Write::Audit(entry)]))?;
    Ok(())
}

impl Loading {
    /// A record with its references as they are here, or nothing where the record itself is not to be stored.
    fn adopted(
        &mut self,
        parts: &Parts,
        caller: &Caller,
        line: u64,
        record: Record,
    ) -> Result<Option<Record>, Error> {
        Ok(Some(match record {
            Record::Dump { format, .. } if format > DUMP_FORMAT => {
                return Err(Invalid::DumpFormat { got: format, known: DUMP_FORMAT }.into());
            }
            Record::Dump { .. } => return Ok(None),
            Record::Team(team) => {
                let known = parts.store.teams(&caller.viewer)?;
                let named = known.iter().find(|other| other.org == team.org && other.name == team.name);
                if let Some(other) = named.filter(|other| other.id != team.id) {
                    self.teams.insert(team.id, other.id);
                    self.present += 1;
                    return Ok(None);
                }
                Record::Team(team)
            }
            Record::Principal(principal) => {
                if let Some(known) = parts.store.principal_named(&principal.name)? {
                    self.principals.insert(principal.id, known.id);
                    self.present += 1;
                    return Ok(None);
                }
                Record::Principal(principal)
            }
            Record::Space { mut space, next_number, next_turn } => {
                space.team = self.team(space.team);
                let known = parts.store.spaces(&caller.viewer)?;
                let same = known.iter().find(|other| other.id == space.id);
                let named =
                    || known.iter().find(|other| other.team == space.team && other.name == space.name);
                if let (None, Some(other)) = (same, named()) {
                    self.spaces.insert(space.id, other.id);
                    self.present += 1;
                    return Ok(None);
                }
                Record::Space { space, next_number, next_turn }
            }
            Record::Member(mut member) => {
                member.principal = self.principal(member.principal);
                member.of = match member.of {
                    MemberOf::Space(id) => MemberOf::Space(self.space(id)),
                    MemberOf::Team(id) => MemberOf::Team(self.team(id)),
                    MemberOf::Org(id) => MemberOf::Org(id),
                };
                Record::Member(member)
            }
            Record::Memory(memory) => Record::Memory(self.adopted_memory(line, memory)?),
            Record::Association(mut edge) => {
                edge.source = self.memory(edge.source);
                edge.target = self.memory(edge.target);
                Record::Association(edge)
            }
            Record::Turn(mut turn) => {
                turn.space = self.space(turn.space);
                turn.logged_by = self.principal(turn.logged_by);
                Record::Turn(turn)
            }
            Record::Audit(mut entry) => {
                entry.by = self.principal(entry.by);
                entry.space = entry.space.map(|id| self.space(id));
                Record::Audit(entry)
            }
            Record::Org(org) => Record::Org(org),
        }))
    }

    fn adopted_memory(&self, line: u64, mut record: Box<MemoryRecord>) -> Result<Box<MemoryRecord>, Error> {
        let text = &record.memory.edition.text;
        let normal = normalize::content(&text.content)?;
        if normal.is_empty() || normal != text.content || normalize::hash(&normal) != text.content_hash {
            let why = format!("the content of memory {} is not what its hash says", record.memory.id);
            return Err(Invalid::DumpLine { line, why }.into());
        }
        record.memory.space = self.space(record.memory.space);
        record.memory.owner = self.principal(record.memory.owner);
        record.current.by = self.principal(record.current.by);
        for version in &mut record.versions {
            version.by = self.principal(version.by);
        }
        Ok(record)
    }

    fn take(&mut self, parts: &Parts, caller: &Caller, run: Vec<Record>) -> Result<(), Error> {
        if run.is_empty() {
            return Ok(());
        }
        let ids: Vec<Option<MemoryId>> = run.iter().map(memory_id).collect();
        let writes = run.into_iter().map(|record| Write::Load(Box::new(record))).collect();
        let set = access::changes(caller, parts.clock.now(), Vec::new(), writes);
        let applied = access::decide_again(|| Ok(parts.store.apply(&set)?))?;
        for (loaded, id) in applied.loaded.into_iter().zip(ids) {
            match loaded {
                Loaded::Added => self.added += 1,
                Loaded::Renumbered { .. } => {
                    self.added += 1;
                    self.renumbered.push(loaded);
                }
                Loaded::Present => self.present += 1,
                Loaded::Duplicate { of } => {
                    self.duplicates += 1;
                    self.memories.extend(id.map(|id| (id, of)));
                }
                Loaded::Dangling => self.dangling += 1,
            }
        }
        Ok(())
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

fn memory_id(record: &Record) -> Option<MemoryId> {
    match record {
        Record::Memory(record) => Some(record.memory.id),
        _ => None,
    }
}
