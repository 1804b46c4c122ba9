//! Undoes the effects of a pass that still exist. Effects that somebody has changed since are not undone, and the answer
//! lists them.
//!
//! The undo first restores files, one at a time. It then writes the changes to all memories and its own record in one
//! transaction. If the undo is interrupted between these two steps, a repeated undo finds the files restored and counts them
//! as undone.

use super::file::{self, FileUndoOutcome};
use super::{find_all, found, text};
use crate::model::association::Association;
use crate::model::change::{RequiredRole, Revision, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryId, PassId, Version};
use crate::model::memory::{Memory, Status, VersionFields};
use crate::model::pass::{Pass, PassAct, PassUndoResult, UndoStep};
use crate::model::request::Caller;
use crate::model::score::Weight;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, LinkedBy, PassOutcome, Relation, Role, VersionAct};
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::Source;
use crate::verbs::save::{dedupe, embed};
use crate::verbs::status;

/// The writes that undo an act and the rights that the writes need, or the reason why the act is not undone.
type UndoDecision = Result<(Vec<RequiredRole>, Vec<Write>), String>;

/// Undoes a pass, or previews the undo.
pub(crate) fn undo(
    ports: &Ports,
    caller: &Caller,
    id: PassId,
    dry_run: bool,
) -> Result<PassUndoResult, Error> {
    let pass = found(ports, caller, id)?;
    if pass.outcome == PassOutcome::Undone {
        return Err(Error::PassUndone { id });
    }
    access::require(ports, caller, pass.space, Role::Writer)?;
    let under_way = pass.outcome == PassOutcome::Begun && !pass.is_interrupted(ports.clock.now());
    let mut files = Vec::new();
    for act in pass.acts.iter().rev() {
        if let Some(name) = act.file() {
            let stays = match file::take_back(ports, caller, pass.space, (name, act), dry_run)? {
                // An act is recorded before it is executed, so the running pass may still execute this act.
                Ok(FileUndoOutcome::FoundDone) if under_way => Some("the pass is still running".to_owned()),
                back => back.err(),
            };
            files.push(UndoStep { text: text(act, &[]), stays });
        }
    }
    let mut undone = access::decide_again(|| {
        let pass = found(ports, caller, id)?;
        if pass.outcome == PassOutcome::Undone {
            return Err(Error::PassUndone { id });
        }
        PassUndo { ports, caller, now: ports.clock.now(), pass }.write(files.clone(), dry_run)
    })?;
    undone.pass.acts.retain(PassAct::is_deed);
    Ok(undone)
}

/// The part of an undo that changes the store.
struct PassUndo<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    now: Timestamp,
    pass: Pass,
}

impl PassUndo<'_> {
    fn write(self, mut steps: Vec<UndoStep>, dry_run: bool) -> Result<PassUndoResult, Error> {
        let Self { ports, caller, now, .. } = self;
        let space = RequiredRole { space: self.pass.space, role: Role::Writer, over: None };
        let (mut rights, mut writes) = (vec![space], Vec::new());
        for act in self.pass.acts.iter().rev().filter(|act| act.is_deed() && act.file().is_none()) {
            // The answer does not mention a memory that no longer exists or that the caller may not see.
            let Some(memories) = find_all(ports, caller, act)? else { continue };
            let decided = match self.decide(act, &memories) {
                Err(error @ (Error::Denied { .. } | Error::Held { .. })) => Err(error.to_string()),
                decided => decided?,
            };
            let stays = match decided {
                Ok((needed, due)) => {
                    rights.extend(needed);
                    writes.extend(due);
                    None
                }
                Err(why) => Some(why),
            };
            steps.push(UndoStep { text: text(act, &memories), stays });
        }
        let undone = PassUndoResult { pass: self.pass.clone(), steps };
        let (back, all) = (undone.taken_back(), undone.steps.len());
        if dry_run || back == 0 {
            return Ok(undone);
        }
        let from = Some(self.pass.outcome);
        let pass = self.pass.ended(PassOutcome::Undone, now);
        let mut entry = access::audit(caller, now, AuditAct::Undone);
        (entry.space, entry.private_to) = (Some(pass.space), pass.private_to);
        entry.detail = Some(format!("the pass {} ({}): {back} of {all} acts", pass.id, pass.kind));
        writes.push(Write::Audit(entry));
        writes.push(Write::Pass { from, to: Box::new(pass.clone()) });
        ports.store.apply(&access::changes(caller, now, rights, writes))?;
        Ok(PassUndoResult { pass, ..undone })
    }

    fn decide(&self, act: &PassAct, memories: &[Memory]) -> Result<UndoDecision, Error> {
        match (act, memories) {
            (PassAct::Saved { version, aside, .. }, [memory]) => {
                let status = &memory.status;
                match () {
                    () if status.forgotten_at.is_some() => stays("it has been forgotten since"),
                    () if memory.version != *version => stays("it has been edited since"),
                    () if status.pinned => stays("it has been pinned since"),
                    () if status.done_at.is_some() => stays("it has been marked as done since"),
                    () if *aside && status.quarantined_at.is_none() => stays("it has been accepted since"),
                    () => {
                        let to = Status { forgotten_at: Some(self.now), ..*status };
                        self.moved(memory, to, AuditAct::Forgot)
                    }
                }
            }
            (PassAct::Forgot { .. }, [memory]) if memory.status.forgotten_at.is_none() => {
                stays("it has been restored since")
            }
            (PassAct::Forgot { .. }, [memory]) => {
                dedupe::refuse_held(self.ports, &self.caller.viewer, memory, &memory.fields)?;
                self.moved(memory, Status { forgotten_at: None, ..memory.status }, AuditAct::Restored)
            }
            (PassAct::Edited { to, .. }, [memory]) if memory.version != *to => {
                stays("it has been edited since")
            }
            (PassAct::Edited { from, .. }, [memory]) => self.reverted(memory, *from),
            (PassAct::Unlinked { relation, weight, .. }, [source, target]) => {
                self.relinked(source, target, *relation, *weight)
            }
            (PassAct::Linked { relation, weight, was, .. }, [source, target]) => {
                self.unlinked((source, target), *relation, *weight, *was)
            }
            _ => stays("it no longer exists"),
        }
    }

    fn moved(&self, memory: &Memory, to: Status, act: AuditAct) -> Result<UndoDecision, Error> {
        let right = access::require_in_place(self.ports, self.caller, memory, Role::Writer)?;
        let reason = Some(format!("undo of the pass {}", self.pass.id));
        let entry = status::audit(self.caller, self.now, act, memory, reason, None);
        let shift = Write::Move { id: memory.id, from: memory.status, to };
        Ok(Ok((vec![right], vec![shift, Write::Audit(entry)])))
    }

    /// Restores the earlier content as a new version.
    fn reverted(&self, memory: &Memory, version: Version) -> Result<UndoDecision, Error> {
        if memory.status.forgotten_at.is_some() {
            return stays("it has been forgotten since");
        }
        let versions = self.ports.store.versions(&self.caller.viewer, memory.id)?;
        let Some(past) = versions.into_iter().find(|record| record.version == version) else {
            return stays("the previous version is no longer kept");
        };
        let fields = VersionFields { boundary: memory.fields.boundary, ..past.fields };
        dedupe::refuse_held(self.ports, &self.caller.viewer, memory, &fields)?;
        let differs = fields.differs_in_meaning(&memory.fields);
        let chunks = differs.then(|| embed::embed(self.ports, &[Source::of(&fields)]).0.pop()).flatten();
        let right = access::require_in_place(self.ports, self.caller, memory, Role::Writer)?;
        let revision = Revision {
            id: memory.id,
            from: memory.version,
            act: VersionAct::Reverted,
            fields,
            stood: memory.status,
            status: memory.status,
            chunks,
            attachment: None,
            confirmed: None,
        };
        Ok(Ok((vec![right], vec![Write::Revise(Box::new(revision))])))
    }

    /// Restores the automatic link between two memories.
    fn relinked(
        &self,
        from: &Memory,
        to: &Memory,
        relation: Relation,
        weight: Weight,
    ) -> Result<UndoDecision, Error> {
        let gone = |memory: &Memory| memory.status.forgotten_at.is_some();
        let edges = self.ports.store.associations(&self.caller.viewer, &[from.id])?;
        match edges.iter().any(|edge| (edge.target, edge.relation) == (to.id, relation)) {
            _ if gone(from) || gone(to) => stays("one of the two is forgotten"),
            true => stays("they have been linked again since"),
            false => {
                let right = access::require_in_place(self.ports, self.caller, from, Role::Writer)?;
                let link = self.automatic((from.id, to.id), relation, weight);
                Ok(Ok((vec![right], vec![link])))
            }
        }
    }

    /// Removes the link that the act made between two memories, and restores the automatic link that it replaced.
    fn unlinked(
        &self,
        (from, to): (&Memory, &Memory),
        relation: Relation,
        weight: Weight,
        was: Option<Weight>,
    ) -> Result<UndoDecision, Error> {
        let (source, target) = (from.id, to.id);
        let edges = self.ports.store.associations(&self.caller.viewer, &[source])?;
        let made = |edge: &&Association| {
            (edge.source, edge.target, edge.relation, edge.linked_by)
                == (source, target, relation, LinkedBy::Caller)
        };
        match edges.iter().find(made) {
            None => return stays("the link has been removed since, or one of the two is forgotten"),
            Some(edge) if edge.weight != weight => return stays("the weight of the link was changed later"),
            Some(_) => {}
        }
        let right = access::require_in_place(self.ports, self.caller, from, Role::Writer)?;
        let reason = Some(format!("undo of the pass {}", self.pass.id));
        let detail = Some(format!("{relation} {target}"));
        let mut entry = status::audit(self.caller, self.now, AuditAct::Dissociated, from, reason, detail);
        entry.private_to = entry.private_to.or_else(|| status::private_to(to));
        let mut writes = vec![Write::Unlink { source, target, relation }, Write::Audit(entry)];
        writes.extend(was.map(|weight| self.automatic((source, target), relation, weight)));
        Ok(Ok((vec![right], writes)))
    }

    fn automatic(&self, (source, target): (MemoryId, MemoryId), relation: Relation, weight: Weight) -> Write {
        let (linked_by, created_at) = (LinkedBy::Auto, self.now);
        Write::Link(Association { source, target, relation, weight, linked_by, created_at })
    }
}

fn stays(why: &str) -> Result<UndoDecision, Error> {
    Ok(Err(why.to_owned()))
}
