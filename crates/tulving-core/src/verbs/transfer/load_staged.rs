//! Loads the staged records of a dump into this store, in one transaction: maps ids that differ here, and records the
//! outcome of each line.

use std::mem;

use crate::model::audit::AuditEntry;
use crate::model::change::Write;
use crate::model::error::{Error, Invalid};
use crate::model::id::MemoryId;
use crate::model::memory::Attachment;
use crate::model::record::{FileRecord, LoadOutcome, MemoryRecord, Record};
use crate::model::request::Caller;
use crate::model::space::{MemberOf, Membership};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, Role, SpaceKind};
use crate::ports::{ApplyLoad, Stage};
use crate::verbs::access::{self, Ports};

use super::loading::LoadOptions;
use super::names::DumpIdMap;
use super::parts::{self, LoadedFile};
use super::report::{DumpMembership, LoadReport, SkippedDumpLine};

/// Maximum number of records, and maximum number of bytes of records, that are written as one set.
const SET: usize = 1_000;
const SET_BYTES: usize = 8 << 20;

/// The subject of a line of the dump. The report names it after the line is written.
enum DumpLineSubject {
    Place(MemberOf),
    Principal(crate::model::id::PrincipalId),
    Role(DumpMembership, MemberOf),
    Memory(MemoryId, Option<Attachment>),
    Other,
}

/// The second half of a load: writes the staged records.
pub(super) struct StagedLoader<'a> {
    parts: &'a Ports,
    caller: &'a Caller,
    options: LoadOptions,
    now: Timestamp,
    names: DumpIdMap,
    audits: Vec<AuditEntry>,
    /// The parts of a file so far.
    parts_of_file: Vec<u8>,
    report: LoadReport,
}

impl<'a> StagedLoader<'a> {
    pub(super) fn new(parts: &'a Ports, caller: &'a Caller, options: LoadOptions) -> Result<Self, Error> {
        let (now, names) = (parts.clock.now(), DumpIdMap::read(parts, caller)?);
        Ok(Self {
            parts,
            caller,
            options,
            now,
            names,
            audits: Vec::new(),
            parts_of_file: Vec::new(),
            report: LoadReport::default(),
        })
    }

    /// Writes all staged records, and the audit entries.
    pub(super) fn run(
        mut self,
        stage: &mut dyn Stage,
        apply: &mut ApplyLoad<'_>,
        made: &mut Vec<LoadedFile>,
    ) -> Result<LoadReport, Error> {
        let (mut set, mut bytes) = (Vec::new(), 0);
        while let Some((line, record)) = stage.next()? {
            // The store does not write files. All records before a file are written first.
            if let Record::File(part) = record {
                self.take(mem::take(&mut set), apply)?;
                self.take_file(line, &part, made)?;
                continue;
            }
            // A set contains only one kind of record, because a record may depend on the outcome of records of an
            // earlier kind.
            let sort = mem::discriminant(&record);
            let ends = set.last().is_some_and(|(_, last): &(u64, Record)| mem::discriminant(last) != sort);
            if ends || set.len() == SET || bytes >= SET_BYTES {
                self.take(mem::take(&mut set), apply)?;
                bytes = 0;
            }
            bytes += weight(&record);
            set.push((line, record));
        }
        self.take(set, apply)?;
        let detail = format!(
            "{} lines added, {} present, {} roles taken over, {} left out",
            self.report.added,
            self.report.present,
            self.report.roles.len(),
            self.report.roles_left_out.len()
        );
        let own = access::audit(self.caller, self.now, AuditAct::Loaded);
        self.audits.push(AuditEntry { detail: Some(detail), ..own });
        let writes = self.audits.drain(..).map(Write::Audit).collect();
        apply(&access::changes(self.caller, self.now, Vec::new(), writes))?;
        Ok(self.report)
    }

    /// Writes records of one kind, and records the outcome of each.
    fn take(&mut self, set: Vec<(u64, Record)>, apply: &mut ApplyLoad<'_>) -> Result<(), Error> {
        let (mut writes, mut subjects) = (Vec::with_capacity(set.len()), Vec::with_capacity(set.len()));
        for (line, record) in set {
            if let Some((record, subject)) = self.fitted(line, record)? {
                writes.push(Write::Load(Box::new(record)));
                subjects.push((line, subject));
            }
        }
        if writes.is_empty() {
            return Ok(());
        }
        let applied = apply(&access::changes(self.caller, self.now, Vec::new(), writes))?;
        for (loaded, (line, subject)) in applied.loaded.into_iter().zip(subjects) {
            self.note(loaded, line, subject);
        }
        Ok(())
    }

    /// Returns a record with its references mapped to this store, or `None` if the record itself is not stored.
    fn fitted(&mut self, line: u64, record: Record) -> Result<Option<(Record, DumpLineSubject)>, Error> {
        let fitted = match record {
            Record::Dump { .. } | Record::End { .. } | Record::Attachment(_) | Record::File(_) => None,
            Record::Missing { what, why } => {
                self.report.missing.push((what, why));
                None
            }
            Record::Org(org) => {
                self.names.came_org(&org);
                let place = DumpLineSubject::Place(MemberOf::Org(org.id));
                Some((Record::Org(org), place))
            }
            Record::Team(team) => match self.names.team_named_alike(&team) {
                true => self.is_here(),
                false => {
                    let place = DumpLineSubject::Place(MemberOf::Team(team.id));
                    Some((Record::Team(team), place))
                }
            },
            Record::Principal(principal) => match self.names.principal_named_alike(self.parts, &principal)? {
                true => self.is_here(),
                false => {
                    let subject = DumpLineSubject::Principal(principal.id);
                    Some((Record::Principal(principal), subject))
                }
            },
            Record::Space { mut space, next_number, next_turn } => {
                space.team = self.names.team(space.team);
                match self.names.space_named_alike(line, &space)? {
                    true => self.is_here(),
                    false => {
                        let place = DumpLineSubject::Place(MemberOf::Space(space.id));
                        Some((Record::Space { space, next_number, next_turn }, place))
                    }
                }
            }
            Record::Member(member) => self.fitted_member(line, member)?,
            Record::Memory(memory) => {
                let memory = self.fitted_memory(line, memory)?;
                let subject =
                    DumpLineSubject::Memory(memory.memory.id, memory.memory.provenance.attachment.clone());
                Some((Record::Memory(memory), subject))
            }
            Record::Association(mut edge) => {
                edge.source = self.names.memory(edge.source);
                edge.target = self.names.memory(edge.target);
                // The source and the target may become the same memory in this store.
                match edge.source == edge.target {
                    true => self.is_here(),
                    false => Some((Record::Association(edge), DumpLineSubject::Other)),
                }
            }
            Record::Turn(mut turn) => {
                turn.space = self.names.space(turn.space);
                turn.logged_by = self.names.principal(turn.logged_by);
                Some((Record::Turn(turn), DumpLineSubject::Other))
            }
            Record::Audit(mut entry) => {
                entry.by = self.names.principal(entry.by);
                entry.space = entry.space.map(|id| self.names.space(id));
                entry.private_to = entry.private_to.map(|id| self.names.principal(id));
                Some((Record::Audit(entry), DumpLineSubject::Other))
            }
        };
        Ok(fitted)
    }

    fn is_here(&mut self) -> Option<(Record, DumpLineSubject)> {
        self.report.present += 1;
        None
    }

    fn fitted_memory(&self, line: u64, mut record: Box<MemoryRecord>) -> Result<Box<MemoryRecord>, Error> {
        record.memory.space = self.names.space(record.memory.space);
        record.memory.owner = self.names.principal(record.memory.owner);
        record.current.by = self.names.principal(record.current.by);
        for version in &mut record.versions {
            version.by = self.names.principal(version.by);
        }
        // A dump must not open a sealed space either.
        let boundary = record.memory.fields.boundary;
        if boundary > Boundary::Hub && self.names.kind(record.memory.space) == Some(SpaceKind::Group) {
            let why = Invalid::BoundaryTooWide { boundary }.to_string();
            return Err(Invalid::DumpLine { line, why }.into());
        }
        Ok(record)
    }

    /// Adds a part of a file, and writes the file after its last part.
    fn take_file(&mut self, line: u64, file: &FileRecord, made: &mut Vec<LoadedFile>) -> Result<(), Error> {
        let Some(content) = parts::joined(&mut self.parts_of_file, line, &file.part)? else { return Ok(()) };
        let Some(space) = self.names.whole_space(self.names.space(file.space)) else {
            self.report.dangling += 1;
            self.report.left_out.push(SkippedDumpLine { line, memory: None, loaded: LoadOutcome::Dangling });
            return Ok(());
        };
        parts::write(self.parts, space, (line, &file.path), &content, made, &mut self.report)
    }

    /// Returns the name of an attachment that is missing in this store.
    fn lost(&self, attachment: Attachment) -> Option<String> {
        let is_here = matches!(self.parts.objects.get(&attachment.object_key), Ok(Some(_)));
        (!is_here).then(|| attachment.name.unwrap_or(attachment.object_key))
    }

    /// Returns a membership if it must be loaded.
    fn fitted_member(
        &mut self,
        line: u64,
        member: Membership,
    ) -> Result<Option<(Record, DumpLineSubject)>, Error> {
        let of = match member.of {
            MemberOf::Space(id) => MemberOf::Space(self.names.space(id)),
            MemberOf::Team(id) => MemberOf::Team(self.names.team(id)),
            org @ MemberOf::Org(_) => org,
        };
        let member = Membership { principal: self.names.principal(member.principal), of, ..member };
        if self.parts.store.role(member.principal, of)?.is_some() {
            return Ok(self.is_here());
        }
        let Some(principal) = self.names.of_principal(self.parts, member.principal)? else {
            self.note(LoadOutcome::Dangling, line, DumpLineSubject::Other);
            return Ok(None);
        };
        let described = DumpMembership {
            line,
            principal,
            realm: of.realm().as_str(),
            of: self.names.of_place(of),
            role: member.role,
        };
        if self.gives_no_right(&member) {
            Ok(Some((Record::Member(member), DumpLineSubject::Role(described, of))))
        } else {
            self.report.roles_left_out.push(described);
            Ok(None)
        }
    }

    /// Returns true if a membership may be loaded without an explicit request, because it gives nobody a right over
    /// existing content. Its space, team or org must come with this load. Its principal must also come with this load,
    /// or must be the caller, who would otherwise not see its own spaces after a transfer to another home. An admin of
    /// an org has rights over everything, so a membership with that role is never loaded in this way.
    fn gives_no_right(&self, member: &Membership) -> bool {
        let rules_org = matches!(member.of, MemberOf::Org(_)) && member.role == Role::Admin;
        let own = member.principal == self.caller.viewer.principal;
        let is_new = self.names.came(member.of) && (own || self.names.principal_came(member.principal));
        self.options.with_roles || (is_new && !rules_org)
    }

    fn note(&mut self, loaded: LoadOutcome, line: u64, subject: DumpLineSubject) {
        let memory = match &subject {
            DumpLineSubject::Memory(id, _) => Some(*id),
            _ => None,
        };
        match loaded {
            LoadOutcome::Added => {
                self.report.added += 1;
                self.note_new(subject);
            }
            LoadOutcome::Renumbered { .. } => {
                self.report.added += 1;
                self.report.renumbered.push(loaded);
                self.note_new(subject);
            }
            LoadOutcome::Present => self.report.present += 1,
            LoadOutcome::Duplicate { of } => {
                self.report.duplicates += 1;
                self.report.left_out.push(SkippedDumpLine { line, memory, loaded });
                if let Some(id) = memory {
                    self.names.memory_is(id, of);
                }
            }
            LoadOutcome::Dangling => {
                self.report.dangling += 1;
                self.report.left_out.push(SkippedDumpLine { line, memory, loaded });
            }
        }
    }

    fn note_new(&mut self, subject: DumpLineSubject) {
        match subject {
            DumpLineSubject::Place(place) => self.names.place_came(place),
            DumpLineSubject::Principal(id) => self.names.principal_added(id),
            DumpLineSubject::Role(role, of) => {
                let space = match of {
                    MemberOf::Space(id) => Some(id),
                    MemberOf::Team(_) | MemberOf::Org(_) => None,
                };
                let detail =
                    format!("{} {} of the {} {}, by a load", role.principal, role.role, role.realm, role.of);
                let own = access::audit(self.caller, self.now, AuditAct::MemberSet);
                self.audits.push(AuditEntry { space, detail: Some(detail), ..own });
                self.report.roles.push(role);
            }
            DumpLineSubject::Memory(_, attachment) => {
                let lost = attachment.and_then(|object| self.lost(object));
                self.report.memories += 1;
                self.report.attachments_missing.extend(lost);
            }
            DumpLineSubject::Other => {}
        }
    }
}

/// Returns the approximate size of a record in bytes.
fn weight(record: &Record) -> usize {
    match record {
        Record::Memory(record) => {
            let past = record.versions.iter().map(|version| version.fields.text.content.len());
            record.memory.fields.text.content.len() + past.sum::<usize>()
        }
        Record::Turn(turn) => turn.content.len(),
        _ => 0,
    }
}
