//! Fits the staged records of a dump into this store, as one transaction: finds what is called otherwise here, and notes
//! what came of each line.

use std::mem;

use crate::access::{self, Parts};
use crate::audit::AuditEntry;
use crate::change::Write;
use crate::error::{Error, Invalid};
use crate::id::MemoryId;
use crate::memory::Attachment;
use crate::ports::{ApplyLoad, Stage};
use crate::record::{FileRecord, Loaded, MemoryRecord, Record};
use crate::request::Caller;
use crate::space::{MemberOf, Membership};
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Boundary, Role, SpaceKind};

use super::loading::LoadOptions;
use super::names::Names;
use super::parts::{self, MadeFile};
use super::report::{LeftOut, LoadReport, LoadedRole};

/// The most records, and bytes of records, that are written as one set.
const SET: usize = 1_000;
const SET_BYTES: usize = 8 << 20;

/// What a line is about, for what is noted of it once it is written.
enum Subject {
    Place(MemberOf),
    Principal(crate::id::PrincipalId),
    Role(LoadedRole, MemberOf),
    Memory(MemoryId, Option<Attachment>),
    Other,
}

/// The second half of a load.
pub(super) struct Fit<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    options: LoadOptions,
    now: Timestamp,
    names: Names,
    audits: Vec<AuditEntry>,
    /// The parts of a file that have come so far.
    parts_of_file: Vec<u8>,
    report: LoadReport,
}

impl<'a> Fit<'a> {
    pub(super) fn new(parts: &'a Parts, caller: &'a Caller, options: LoadOptions) -> Result<Self, Error> {
        let (now, names) = (parts.clock.now(), Names::read(parts, caller)?);
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

    /// Writes everything that was staged, and the entries of the audit.
    pub(super) fn run(
        mut self,
        stage: &mut dyn Stage,
        apply: &mut ApplyLoad<'_>,
        made: &mut Vec<MadeFile>,
    ) -> Result<LoadReport, Error> {
        let (mut set, mut bytes) = (Vec::new(), 0);
        while let Some((line, record)) = stage.next()? {
            // Files are written when everything before them is, and not by the store.
            if let Record::File(part) = record {
                self.take(mem::take(&mut set), apply)?;
                self.take_file(line, &part, made)?;
                continue;
            }
            // Of one sort only: a record may refer to what became of those before it.
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

    /// Writes records of one sort, and notes what came of each.
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

    /// A record with its references as they are here, or nothing where the record itself is not to be stored.
    fn fitted(&mut self, line: u64, record: Record) -> Result<Option<(Record, Subject)>, Error> {
        let fitted = match record {
            Record::Dump { .. } | Record::End { .. } | Record::Attachment(_) | Record::File(_) => None,
            Record::Missing { what, why } => {
                self.report.missing.push((what, why));
                None
            }
            Record::Org(org) => {
                self.names.came_org(&org);
                let place = Subject::Place(MemberOf::Org(org.id));
                Some((Record::Org(org), place))
            }
            Record::Team(team) => match self.names.team_named_alike(&team) {
                true => self.is_here(),
                false => {
                    let place = Subject::Place(MemberOf::Team(team.id));
                    Some((Record::Team(team), place))
                }
            },
            Record::Principal(principal) => match self.names.principal_named_alike(self.parts, &principal)? {
                true => self.is_here(),
                false => {
                    let subject = Subject::Principal(principal.id);
                    Some((Record::Principal(principal), subject))
                }
            },
            Record::Space { mut space, next_number, next_turn } => {
                space.team = self.names.team(space.team);
                match self.names.space_named_alike(line, &space)? {
                    true => self.is_here(),
                    false => {
                        let place = Subject::Place(MemberOf::Space(space.id));
                        Some((Record::Space { space, next_number, next_turn }, place))
                    }
                }
            }
            Record::Member(member) => self.fitted_member(line, member)?,
            Record::Memory(memory) => {
                let memory = self.fitted_memory(line, memory)?;
                let subject = Subject::Memory(memory.memory.id, memory.memory.provenance.attachment.clone());
                Some((Record::Memory(memory), subject))
            }
            Record::Association(mut edge) => {
                edge.source = self.names.memory(edge.source);
                edge.target = self.names.memory(edge.target);
                // Both ends may turn out to be one memory here.
                match edge.source == edge.target {
                    true => self.is_here(),
                    false => Some((Record::Association(edge), Subject::Other)),
                }
            }
            Record::Turn(mut turn) => {
                turn.space = self.names.space(turn.space);
                turn.logged_by = self.names.principal(turn.logged_by);
                Some((Record::Turn(turn), Subject::Other))
            }
            Record::Audit(mut entry) => {
                entry.by = self.names.principal(entry.by);
                entry.space = entry.space.map(|id| self.names.space(id));
                entry.private_to = entry.private_to.map(|id| self.names.principal(id));
                Some((Record::Audit(entry), Subject::Other))
            }
        };
        Ok(fitted)
    }

    fn is_here(&mut self) -> Option<(Record, Subject)> {
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
        // A dump cannot open a sealed space either.
        let boundary = record.memory.edition.boundary;
        if boundary > Boundary::Hub && self.names.kind(record.memory.space) == Some(SpaceKind::Group) {
            let why = Invalid::BoundaryTooWide { boundary }.to_string();
            return Err(Invalid::DumpLine { line, why }.into());
        }
        Ok(record)
    }

    /// Takes a part of a file in, and writes the file once its last part has come.
    fn take_file(&mut self, line: u64, file: &FileRecord, made: &mut Vec<MadeFile>) -> Result<(), Error> {
        let Some(content) = parts::joined(&mut self.parts_of_file, line, &file.part)? else { return Ok(()) };
        let Some(space) = self.names.whole_space(self.names.space(file.space)) else {
            self.report.dangling += 1;
            self.report.left_out.push(LeftOut { line, memory: None, loaded: Loaded::Dangling });
            return Ok(());
        };
        parts::write(self.parts, space, (line, &file.path), &content, made, &mut self.report)
    }

    /// The name of an attachment that is not here.
    fn lost(&self, attachment: Attachment) -> Option<String> {
        let is_here = matches!(self.parts.objects.get(&attachment.object_key), Ok(Some(_)));
        (!is_here).then(|| attachment.name.unwrap_or(attachment.object_key))
    }

    /// A membership, where it is to be taken over.
    fn fitted_member(&mut self, line: u64, member: Membership) -> Result<Option<(Record, Subject)>, Error> {
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
            self.note(Loaded::Dangling, line, Subject::Other);
            return Ok(None);
        };
        let told = LoadedRole {
            line,
            principal,
            realm: of.realm().as_str(),
            of: self.names.of_place(of),
            role: member.role,
        };
        if self.gives_no_right(&member) {
            Ok(Some((Record::Member(member), Subject::Role(told, of))))
        } else {
            self.report.roles_left_out.push(told);
            Ok(None)
        }
    }

    /// Whether a membership may be taken over without being asked for: it gives nobody a right over what was here before.
    /// Both its principal and its place came with this load; or it is a place of this load and the principal is the one who
    /// loads, who would else not see its own spaces after a move. An admin of an org is over everything, so it never is.
    fn gives_no_right(&self, member: &Membership) -> bool {
        let rules_org = matches!(member.of, MemberOf::Org(_)) && member.role == Role::Admin;
        let own = member.principal == self.caller.viewer.principal;
        let is_new = self.names.came(member.of) && (own || self.names.principal_came(member.principal));
        self.options.with_roles || (is_new && !rules_org)
    }

    fn note(&mut self, loaded: Loaded, line: u64, subject: Subject) {
        let memory = match &subject {
            Subject::Memory(id, _) => Some(*id),
            _ => None,
        };
        match loaded {
            Loaded::Added => {
                self.report.added += 1;
                self.note_new(subject);
            }
            Loaded::Renumbered { .. } => {
                self.report.added += 1;
                self.report.renumbered.push(loaded);
                self.note_new(subject);
            }
            Loaded::Present => self.report.present += 1,
            Loaded::Duplicate { of } => {
                self.report.duplicates += 1;
                self.report.left_out.push(LeftOut { line, memory, loaded });
                if let Some(id) = memory {
                    self.names.memory_is(id, of);
                }
            }
            Loaded::Dangling => {
                self.report.dangling += 1;
                self.report.left_out.push(LeftOut { line, memory, loaded });
            }
        }
    }

    fn note_new(&mut self, subject: Subject) {
        match subject {
            Subject::Place(place) => self.names.place_came(place),
            Subject::Principal(id) => self.names.principal_added(id),
            Subject::Role(role, of) => {
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
            Subject::Memory(_, attachment) => {
                let lost = attachment.and_then(|object| self.lost(object));
                self.report.memories += 1;
                self.report.attachments_missing.extend(lost);
            }
            Subject::Other => {}
        }
    }
}

/// About how many bytes a record has.
fn weight(record: &Record) -> usize {
    match record {
        Record::Memory(record) => {
            let past = record.versions.iter().map(|version| version.edition.text.content.len());
            record.memory.edition.text.content.len() + past.sum::<usize>()
        }
        Record::Turn(turn) => turn.content.len(),
        _ => 0,
    }
}
