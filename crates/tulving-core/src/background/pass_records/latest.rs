//! Undoes the newest change in a space. The caller, an agent acting for the caller, or a pass made this change.
//!
//! Each act leaves traces: audit entries and versions with the principal, the agent and the timestamp. All traces with the
//! same timestamp belong to one act, which is undone completely or not at all. An undo leaves traces too, so undoing an undo
//! redoes the change. If the newest change cannot be undone, the error names it; an older change is never undone instead.

use super::file::{self, FileUndoOutcome};
use super::{find, shown, undo};
use crate::model::association::Association;
use crate::model::audit::{AuditEntry, LastChange, WrittenVersion};
use crate::model::change::{Actor, RequiredRole, Revision, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryId, Version};
use crate::model::memory::{Memory, Status, VersionFields};
use crate::model::pass::{LastUndoOutcome, Pass, PassAct, PassFilter, UndoStep, UndoneChange};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, LinkedBy, Origin, PassOutcome, Relation, Role, State, VersionAct};
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::Source;
use crate::verbs::retract::{self, Edge};
use crate::verbs::save::dedupe::{self, PendingMemories};
use crate::verbs::save::embed;
use crate::verbs::save::sources::{self, SourceChange};
use crate::verbs::status;

/// The audit reason of an undo.
const REASON: &str = "undo";
/// Maximum number of passes to search for one that is not undone.
const PASSES: usize = 100;

/// Undoes the last change, or previews the undo.
pub(crate) fn undo_last(ports: &Ports, caller: &Caller, dry_run: bool) -> Result<LastUndoOutcome, Error> {
    access::require(ports, caller, caller.space, Role::Writer)?;
    let by = Actor { principal: caller.viewer.principal, agent: caller.agent.clone() };
    let action = ports.store.last_change(&by, caller.space)?;
    let pass = last_pass(ports, caller)?;
    match (action, pass) {
        // The writes of a pass are among the traces of the principal it acted for. A pass ends when its writes are
        // committed, or later.
        (action, Some(pass)) if action.as_ref().is_none_or(|action| ended(&pass) >= action.at) => {
            Ok(LastUndoOutcome::Pass(undo(ports, caller, pass.id, dry_run)?))
        }
        (Some(_), _) => access::decide_again(|| {
            // Reads the last change again, because another process may have undone it meanwhile.
            let action = ports.store.last_change(&by, caller.space)?.ok_or(Error::NothingToUndo)?;
            Ok(LastUndoOutcome::Change(take_back(ports, caller, &action, dry_run)?))
        }),
        (None, _) => Err(Error::NothingToUndo),
    }
}

/// Returns the newest pass of the space that did something and was not undone.
fn last_pass(ports: &Ports, caller: &Caller) -> Result<Option<Pass>, Error> {
    let filter = PassFilter { space: Some(caller.space), kind: None, before: None, limit: PASSES };
    let passes = super::list(ports, caller, &filter)?;
    let stands = |pass: &Pass| pass.outcome != PassOutcome::Undone && !pass.acts.is_empty();
    Ok(passes.into_iter().filter(stands).max_by_key(ended))
}

fn ended(pass: &Pass) -> Timestamp {
    pass.ended_at.unwrap_or(pass.began_at)
}

/// Undoes everything done at the timestamp of a change.
fn take_back(
    ports: &Ports,
    caller: &Caller,
    action: &LastChange,
    dry_run: bool,
) -> Result<UndoneChange, Error> {
    let now = ports.clock.now();
    let mut act = LastChangeUndo {
        ports,
        caller,
        now,
        action,
        pending: PendingMemories::default(),
        rights: Vec::new(),
        writes: Vec::new(),
        steps: Vec::new(),
        redoable: true,
    };
    for written in &action.versions {
        act.version(written)?;
    }
    let versions = act.steps.len();
    // Undoes the entries in reverse order: a later entry may use something that an earlier entry released, such as a path.
    for entry in action.audited.iter().rev() {
        act.entry(entry, dry_run)?;
    }
    act.steps[versions..].reverse();
    let LastChangeUndo { rights, writes, steps, redoable, .. } = act;
    if !dry_run && !writes.is_empty() {
        ports.store.apply(&access::changes(caller, now, rights, writes))?;
    }
    let steps = steps.into_iter().map(|text| UndoStep { text, stays: None }).collect();
    Ok(UndoneChange { at: action.at, agent: action.agent.clone(), redoable, steps })
}

/// An undo under construction.
struct LastChangeUndo<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    now: Timestamp,
    action: &'a LastChange,
    /// The memories in their state after the undo.
    pending: PendingMemories,
    rights: Vec<RequiredRole>,
    writes: Vec<Write>,
    /// Descriptions of the undone steps.
    steps: Vec<String>,
    /// True if a second undo redoes the change.
    redoable: bool,
}

impl LastChangeUndo<'_> {
    /// Undoes a version: forgets a saved memory, or restores the earlier content of an edited one.
    fn version(&mut self, written: &WrittenVersion) -> Result<(), Error> {
        let did = match written.act {
            VersionAct::Created => "saved",
            VersionAct::Updated => "edited",
            VersionAct::Reverted => "reverted",
        };
        let memory = self.memory(written.memory, did)?;
        let text = format!("{did} {}", shown(&memory));
        if memory.version != written.version {
            return Err(since(&text, "it has been edited since"));
        }
        self.refuse_moved(&text, memory.id)?;
        if memory.status.forgotten_at.is_some() {
            return Err(since(&text, "it has been forgotten since"));
        }
        match written.act {
            VersionAct::Created if memory.provenance.origin == Origin::Import => {
                return Err(cannot(&text, "an import saves its files one by one", FORGET_WHERE));
            }
            VersionAct::Created => {
                let to = Status { forgotten_at: Some(self.now), ..memory.status };
                self.shift(&memory, to, AuditAct::Forgot, None)?;
            }
            VersionAct::Updated | VersionAct::Reverted => self.revert(&memory, written.version, &text)?,
        }
        self.steps.push(text);
        Ok(())
    }

    /// Restores the earlier content and boundary as a new version, and removes the links that the same act made.
    fn revert(&mut self, memory: &Memory, version: Version, text: &str) -> Result<(), Error> {
        let versions = self.ports.store.versions(&self.caller.viewer, memory.id)?;
        let past = versions.into_iter().rfind(|record| record.version < version);
        let Some(past) = past else {
            return Err(since(text, "the previous version is no longer kept"));
        };
        let fields = past.fields;
        if memory.provenance.attachment.is_some()
            && fields.text.content_hash != memory.fields.text.content_hash
        {
            let hint =
                "`tulving push` the file of that version again; `tulving revert` restores only the text";
            return Err(cannot(text, "its file is not kept with the versions", hint));
        }
        self.refuse_held(memory, &fields)?;
        let right = match fields.boundary == memory.fields.boundary {
            true => access::require_in_place(self.ports, self.caller, memory, Role::Writer)?,
            false => access::require_over(self.ports, self.caller, memory.reference(), memory)?,
        };
        let differs = fields.differs_in_meaning(&memory.fields);
        let chunks = differs.then(|| embed::embed(self.ports, &[Source::of(&fields)]).0.pop()).flatten();
        let status = memory.status.of_type(fields.class.memory_type);
        self.rights.push(right);
        self.writes.push(Write::Revise(Box::new(Revision {
            id: memory.id,
            from: memory.version,
            act: VersionAct::Reverted,
            fields,
            stood: memory.status,
            status,
            chunks,
            attachment: None,
            confirmed: None,
        })));
        for edge in self.ports.store.associations(&self.caller.viewer, &[memory.id])? {
            if (edge.source, edge.created_at, edge.linked_by) == (memory.id, self.action.at, LinkedBy::Caller)
            {
                let target = self.memory(edge.target, "linked")?;
                self.unlink(memory, &target, edge, None)?;
            }
        }
        Ok(())
    }

    /// Undoes the act of an audit entry.
    fn entry(&mut self, entry: &AuditEntry, dry_run: bool) -> Result<(), Error> {
        let Some(id) = entry.memory else { return self.general(entry, dry_run) };
        if entry.act == AuditAct::Erased {
            return Err(cannot(
                "a memory was forgotten for good",
                "no file of the home contains its text any more",
                "",
            ));
        }
        // The `MovedOut` entry handles both halves of a move.
        if entry.act == AuditAct::MovedIn {
            return Ok(());
        }
        let did = past(entry.act);
        let memory = self.memory(id, did)?;
        if entry.reason.as_deref() == Some(sources::BY_IMPORT) {
            let text = format!("{did} {}", shown(&memory));
            return Err(cannot(&text, "an import did it, and the memory follows its file", IMPORT_AGAIN));
        }
        match entry.act {
            AuditAct::Associated | AuditAct::Dissociated => return self.edge(entry, &memory),
            AuditAct::MovedOut => return self.relocate(entry, &memory),
            AuditAct::SourcesChanged => return self.sources(entry, &memory),
            // This entry is part of a save. Undoing the save undoes it too.
            AuditAct::Accepted if self.action.versions.iter().any(|written| written.memory == id) => {
                return Ok(());
            }
            _ => {}
        }
        let (text, stood) = (format!("{did} {}", shown(&memory)), memory.status);
        self.refuse_moved(&text, id)?;
        let (back, to) = match entry.act {
            AuditAct::Forgot | AuditAct::Rejected if stood.forgotten_at.is_some() => {
                self.refuse_held(&memory, &memory.fields)?;
                (AuditAct::Restored, Status { forgotten_at: None, ..stood })
            }
            AuditAct::Restored if memory.usage.updated_at > self.action.at => {
                return Err(since(&text, "it has been edited since"));
            }
            AuditAct::Restored => (AuditAct::Forgot, Status { forgotten_at: Some(self.now), ..stood }),
            AuditAct::Archived => (AuditAct::Unarchived, stood.ruled(State::Active, self.now)),
            AuditAct::Unarchived => (AuditAct::Archived, stood.moved(State::Archived)),
            AuditAct::Pinned => (AuditAct::Unpinned, Status { pinned: false, ..stood }),
            AuditAct::Unpinned => (AuditAct::Pinned, Status { pinned: true, ..stood }),
            AuditAct::Done => {
                let done_at = entry.detail.as_deref().and_then(status::done_before);
                let act = if done_at.is_some() { AuditAct::Done } else { AuditAct::Reopened };
                (act, Status { done_at, ..stood })
            }
            AuditAct::Reopened => match entry.detail.as_deref().and_then(status::done_before) {
                None => {
                    return Err(cannot(
                        &text,
                        "the time when it was done is unknown",
                        "`tulving done` closes it",
                    ));
                }
                done_at => (AuditAct::Done, Status { done_at, ..stood }),
            },
            AuditAct::Accepted => {
                self.redoable = false;
                (AuditAct::Undone, Status { quarantined_at: Some(self.now), ..stood })
            }
            AuditAct::Undone => return Err(cannot(&text, NOT_AGAIN, "`tulving review accept` accepts it")),
            _ => return Err(since(&text, "its state has changed")),
        };
        if to == stood {
            return Err(since(&text, "its state has changed"));
        }
        self.shift(&memory, to, back, status::done_then(stood, to))?;
        self.steps.push(text);
        Ok(())
    }

    /// Undoes an act that concerns no memory: removes a journal note, and refuses any other act.
    fn general(&mut self, entry: &AuditEntry, dry_run: bool) -> Result<(), Error> {
        let detail = entry.detail.as_deref().unwrap_or_default();
        let what = match entry.act {
            AuditAct::Noted => return self.note(entry, dry_run),
            AuditAct::Undone => {
                return Err(cannot(&format!("undid {detail}"), NOT_AGAIN, ""));
            }
            AuditAct::FileWritten => format!("wrote the file {detail}"),
            AuditAct::FileRemoved => format!("removed the file {detail}"),
            act => format!("{} {detail}", act.as_str().replace('_', " ")),
        };
        let hint = match entry.act {
            AuditAct::FileWritten if detail.ends_with("MEMORY.md") => {
                "`tulving long-term history` lists what it said before, `tulving long-term restore` brings one back"
            }
            AuditAct::MemberSet | AuditAct::MemberRemoved => "`tulving space` changes who is in it",
            AuditAct::TokenCreated => "`tulving token revoke` revokes it",
            _ => "",
        };
        Err(cannot(what.trim_end(), "undo does not support this", hint))
    }

    fn note(&mut self, entry: &AuditEntry, dry_run: bool) -> Result<(), Error> {
        let detail = entry.detail.as_deref().unwrap_or_default();
        let (file, digest) = detail.rsplit_once(' ').unwrap_or((detail, ""));
        let text = format!("noted an entry in {file}");
        let act = PassAct::Noted { file: file.to_owned(), entry: digest.to_owned() };
        match file::take_back(self.ports, self.caller, self.caller.space, (file, &act), dry_run)? {
            Ok(FileUndoOutcome::Taken) => {}
            Ok(FileUndoOutcome::FoundDone) => return Err(since(&text, "the entry has been removed since")),
            Err(why) => return Err(since(&text, &why)),
        }
        let mut undone = access::audit(self.caller, self.now, AuditAct::Undone);
        (undone.space, undone.private_to) = (entry.space, entry.private_to);
        undone.detail = Some(format!("the note in {file}"));
        self.rights.push(access::require(self.ports, self.caller, self.caller.space, Role::Writer)?);
        self.writes.push(Write::Audit(undone));
        self.steps.push(text);
        self.redoable = false;
        Ok(())
    }

    /// Gives a memory back its earlier sources, unless another memory has them now.
    fn sources(&mut self, entry: &AuditEntry, memory: &Memory) -> Result<(), Error> {
        let shown = shown(memory);
        let change = entry.detail.as_deref().and_then(SourceChange::parse);
        let text = match &change {
            Some(SourceChange::PathAdded(path)) => format!("added the path {path} to {shown}"),
            Some(SourceChange::PathRemoved(path, _)) => format!("removed the path {path} from {shown}"),
            Some(SourceChange::PlainAdded) => format!("saved {shown} without a path as well"),
            None => format!("changed the paths of {shown}"),
        };
        if entry.reason.as_deref() == Some(sources::BY_IMPORT) {
            return Err(cannot(&text, "an import saves its files one by one", FORGET_WHERE));
        }
        let change = change.ok_or_else(|| cannot(&text, "the details are unknown", ""))?;
        let from = memory.provenance.sources();
        let Some(to) = change.reversed(&from) else {
            return Err(since(&text, "its paths have been changed since"));
        };
        let mut future = memory.clone();
        future.provenance.set_sources(to.clone());
        if future.status.forgotten_at.is_none() {
            let held = dedupe::taken_up(memory);
            dedupe::refuse_taken(self.ports, &self.caller.viewer, &self.pending, &held, &future)?;
        }
        self.rights.push(access::require_in_place(self.ports, self.caller, memory, Role::Writer)?);
        if let Some(back) = SourceChange::between(&from, &to) {
            let mut audit = back.audit(self.caller, self.now, memory);
            audit.reason = Some(REASON.to_owned());
            self.writes.push(Write::Audit(audit));
        }
        self.writes.push(Write::SetSources { id: memory.id, from, to });
        self.pending.note(future);
        self.steps.push(text);
        Ok(())
    }

    /// Refuses a version that would conflict with another memory after the writes of this undo.
    fn refuse_held(&self, memory: &Memory, fields: &VersionFields) -> Result<(), Error> {
        dedupe::refuse_held_after(self.ports, &self.caller.viewer, &self.pending, memory, fields)
    }

    /// Undoes a change of a link: removes a new link or restores its old weight, and creates a removed link again.
    fn edge(&mut self, entry: &AuditEntry, source: &Memory) -> Result<(), Error> {
        let made = entry.act == AuditAct::Associated;
        let did = if made { "linked" } else { "removed a link of" };
        let named = entry.detail.as_deref().and_then(retract::named_edge);
        let Some((relation, target, edge)) = named else {
            return Err(cannot(&format!("{did} {}", shown(source)), "the other memory is unknown", RELATED));
        };
        let target = self.memory(target, did)?;
        let text = match made {
            true => format!("linked {} {relation} {}", shown(source), shown(&target)),
            false => format!("removed the link from {} to {}", shown(source), shown(&target)),
        };
        let edges = self.ports.store.associations(&self.caller.viewer, &[source.id])?;
        let is = |edge: &Association| {
            (edge.source, edge.target, edge.relation) == (source.id, target.id, relation)
        };
        let stands = edges.into_iter().find(is);
        match (made, stands, edge) {
            (true, Some(stands), was) if stands.linked_by == LinkedBy::Caller => {
                self.unlink(source, &target, stands, was)?;
            }
            (true, ..) => {
                return Err(since(&text, "the link has been removed since, or one of the two is forgotten"));
            }
            (false, Some(_), _) => return Err(since(&text, "they have been linked again since")),
            (false, None, None) => return Err(cannot(&text, "its weight is not known", RELATED)),
            (false, None, Some(edge)) => self.link(source, &target, relation, edge)?,
        }
        self.steps.push(text);
        Ok(())
    }

    fn unlink(
        &mut self,
        source: &Memory,
        target: &Memory,
        stands: Association,
        was: Option<Edge>,
    ) -> Result<(), Error> {
        self.over_link(source, target, stands.relation)?;
        let Association { relation, .. } = stands;
        self.writes.push(Write::Unlink { source: source.id, target: target.id, relation });
        match was {
            None => {
                let mut entry = retract::audit(
                    self.caller,
                    self.now,
                    AuditAct::Dissociated,
                    (source, target),
                    (relation, Some(Edge::of(&stands))),
                );
                entry.reason = Some(REASON.to_owned());
                self.writes.push(Write::Audit(entry));
                Ok(())
            }
            Some(was) => self.linked(source, target, relation, was, Some(Edge::of(&stands))),
        }
    }

    fn link(
        &mut self,
        source: &Memory,
        target: &Memory,
        relation: Relation,
        edge: Edge,
    ) -> Result<(), Error> {
        self.over_link(source, target, relation)?;
        self.linked(source, target, relation, edge, None)
    }

    fn linked(
        &mut self,
        source: &Memory,
        target: &Memory,
        relation: Relation,
        edge: Edge,
        was: Option<Edge>,
    ) -> Result<(), Error> {
        let Edge { weight, linked_by } = edge;
        let (source_id, target_id, created_at) = (source.id, target.id, self.now);
        self.writes.push(Write::Link(Association {
            source: source_id,
            target: target_id,
            relation,
            weight,
            linked_by,
            created_at,
        }));
        let mut entry =
            retract::audit(self.caller, self.now, AuditAct::Associated, (source, target), (relation, was));
        entry.reason = Some(REASON.to_owned());
        self.writes.push(Write::Audit(entry));
        Ok(())
    }

    fn over_link(&mut self, source: &Memory, target: &Memory, relation: Relation) -> Result<(), Error> {
        self.rights.push(access::require_in_place(self.ports, self.caller, source, Role::Writer)?);
        if relation == Relation::Updates {
            self.rights.push(access::require_in_place(self.ports, self.caller, target, Role::Writer)?);
        }
        Ok(())
    }

    /// Moves a memory back to its previous space. The memory gets a new number there.
    fn relocate(&mut self, entry: &AuditEntry, memory: &Memory) -> Result<(), Error> {
        let text = format!("moved {}", shown(memory));
        let arrived = |other: &&AuditEntry| (other.act, other.memory) == (AuditAct::MovedIn, entry.memory);
        let went = self.action.audited.iter().find(arrived).and_then(|other| other.space);
        let Some((from, came)) = entry.space.zip(went) else {
            return Err(cannot(&text, "its former space is unknown", "`tulving move` moves it"));
        };
        if memory.space != came {
            return Err(since(&text, "it has been moved again since"));
        }
        if memory.status.forgotten_at.is_some() {
            return Err(since(&text, "it has been forgotten since"));
        }
        let Some(back) = access::space_by_id(self.ports, self.caller, from)? else {
            return Err(cannot(&text, "it came from a space that is not visible here", OTHER_SPACE));
        };
        let (rights, writes) =
            crate::verbs::relocate::back(self.ports, self.caller, self.now, memory, &back)?;
        self.rights.extend(rights);
        self.writes.extend(writes);
        self.steps.push(format!("{text}; it has a new number in `{}`", back.name));
        Ok(())
    }

    fn shift(
        &mut self,
        memory: &Memory,
        to: Status,
        act: AuditAct,
        detail: Option<String>,
    ) -> Result<(), Error> {
        self.rights.push(access::require_in_place(self.ports, self.caller, memory, Role::Writer)?);
        let reason = Some(REASON.to_owned());
        let entry = status::audit(self.caller, self.now, act, memory, reason, detail);
        self.writes.push(Write::Move { id: memory.id, from: memory.status, to });
        self.writes.push(Write::Audit(entry));
        self.pending.note(Memory { status: to, ..memory.clone() });
        Ok(())
    }

    /// Returns a memory, forgotten or not. Returns an error if the memory no longer exists for the caller.
    fn memory(&self, id: MemoryId, did: &str) -> Result<Memory, Error> {
        if let Some(memory) = self.pending.get(id) {
            return Ok(memory.clone());
        }
        let found = find(self.ports, self.caller, id)?;
        found.ok_or_else(|| match self.caller.viewer.within {
            Some(_) => {
                cannot(&format!("{did} a memory"), "it is in a space that is not visible here", OTHER_SPACE)
            }
            None => since(&format!("{did} a memory"), "it no longer exists, or you may not see it"),
        })
    }

    /// Refuses a memory that somebody has changed in another way since the act.
    fn refuse_moved(&self, text: &str, id: MemoryId) -> Result<(), Error> {
        // Links and paths have separate checks.
        let moves = |act: AuditAct| {
            !matches!(act, AuditAct::Associated | AuditAct::Dissociated | AuditAct::SourcesChanged)
        };
        let later = self.action.since.iter().find(|entry| entry.memory == Some(id) && moves(entry.act));
        let Some(entry) = later else { return Ok(()) };
        let names = self.ports.store.principals(&[entry.by])?;
        let mut by = names.into_iter().next().map_or_else(|| "somebody".to_owned(), |one| one.name);
        if let Some(agent) = &entry.agent {
            by = format!("{by} with the agent {agent}");
        }
        let did = match entry.act {
            AuditAct::Forgot | AuditAct::Rejected => "forgotten",
            act => past(act),
        };
        Err(since(text, &format!("it has since been {did} by {by}")))
    }
}

/// Returns the past-tense verb for an act.
fn past(act: AuditAct) -> &'static str {
    match act {
        AuditAct::MovedIn | AuditAct::MovedOut => "moved",
        AuditAct::SourcesChanged => "changed the paths of",
        act => act.as_str(),
    }
}

/// The hint if another space takes part in the change.
const OTHER_SPACE: &str = "run `tulving undo` without `--space`";
/// The hint if an import made the change.
const IMPORT_AGAIN: &str = "change the file and import it again";

/// The reason why some acts are not redone.
const NOT_AGAIN: &str = "undo cannot redo it";
/// The hint for links.
const RELATED: &str = "`tulving related` shows what it is linked with";
/// The hint for an import.
const FORGET_WHERE: &str = "`tulving forget --where source-path=PATH --dry-run` shows what would go with it";

fn since(what: &str, why: &str) -> Error {
    cannot(what, why, "`tulving history` and `tulving audit` show what was done since")
}

fn cannot(what: &str, why: &str, hint: &str) -> Error {
    Error::CannotUndo { what: what.to_owned(), why: why.to_owned(), hint: hint.to_owned() }
}
