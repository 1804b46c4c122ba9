//! Takes back what a pass did, as far as that still stands. What somebody changed since stays, and is said.
//!
//! Files first, each by itself; then all memories and the note that it was undone, as one act. Where it is interrupted between
//! the two, what was done to files is found done when it is undone again, and counts as taken back.

use super::file::{self, Back};
use super::{find_all, found, text};
use crate::access::{self, Parts};
use crate::association::Association;
use crate::change::{Revision, Right, Write};
use crate::embedding::Source;
use crate::error::Error;
use crate::id::{MemoryId, PassId, Version};
use crate::memory::{Edition, Memory, Standing};
use crate::pass::{Pass, PassAct, UndoStep, Undone};
use crate::request::Caller;
use crate::save::{dedupe, embed};
use crate::score::Weight;
use crate::standing;
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, LinkedBy, PassOutcome, Relation, Role, VersionAct};

/// The writes that take an act back, with the rights that they need; or why it stays.
type Decided = Result<(Vec<Right>, Vec<Write>), String>;

/// Takes a pass back, or tells what would be.
pub(crate) fn undo(parts: &Parts, caller: &Caller, id: PassId, dry_run: bool) -> Result<Undone, Error> {
    let pass = found(parts, caller, id)?;
    if pass.outcome == PassOutcome::Undone {
        return Err(Error::PassUndone { id });
    }
    access::require(parts, caller, pass.space, Role::Writer)?;
    let under_way = pass.outcome == PassOutcome::Begun && !pass.is_interrupted(parts.clock.now());
    let mut files = Vec::new();
    for act in pass.acts.iter().rev() {
        if let Some(name) = act.file() {
            let stays = match file::take_back(parts, caller, pass.space, (name, act), dry_run)? {
                // It is noted before it is done, and may be done yet.
                Ok(Back::FoundDone) if under_way => Some("the pass is still under way".to_owned()),
                back => back.err(),
            };
            files.push(UndoStep { text: text(act, &[]), stays });
        }
    }
    let mut undone = access::decide_again(|| {
        let pass = found(parts, caller, id)?;
        if pass.outcome == PassOutcome::Undone {
            return Err(Error::PassUndone { id });
        }
        Act { parts, caller, now: parts.clock.now(), pass }.write(files.clone(), dry_run)
    })?;
    undone.pass.acts.retain(PassAct::is_deed);
    Ok(undone)
}

/// The part of it that is in the store.
struct Act<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    now: Timestamp,
    pass: Pass,
}

impl Act<'_> {
    fn write(self, mut steps: Vec<UndoStep>, dry_run: bool) -> Result<Undone, Error> {
        let Self { parts, caller, now, .. } = self;
        let space = Right { space: self.pass.space, role: Role::Writer, over: None };
        let (mut rights, mut writes) = (vec![space], Vec::new());
        for act in self.pass.acts.iter().rev().filter(|act| act.is_deed() && act.file().is_none()) {
            // What is gone, or not for the caller, is not told of either.
            let Some(memories) = find_all(parts, caller, act)? else { continue };
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
        let undone = Undone { pass: self.pass.clone(), steps };
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
        parts.store.apply(&access::changes(caller, now, rights, writes))?;
        Ok(Undone { pass, ..undone })
    }

    fn decide(&self, act: &PassAct, memories: &[Memory]) -> Result<Decided, Error> {
        match (act, memories) {
            (PassAct::Saved { version, aside, .. }, [memory]) => {
                let standing = &memory.standing;
                match () {
                    () if standing.forgotten_at.is_some() => stays("it was forgotten since"),
                    () if memory.version != *version => stays("it was edited since"),
                    () if standing.pinned => stays("it was pinned since"),
                    () if standing.done_at.is_some() => stays("it was done since"),
                    () if *aside && standing.quarantined_at.is_none() => stays("it was accepted since"),
                    () => {
                        let to = Standing { forgotten_at: Some(self.now), ..*standing };
                        self.moved(memory, to, AuditAct::Forgot)
                    }
                }
            }
            (PassAct::Forgot { .. }, [memory]) if memory.standing.forgotten_at.is_none() => {
                stays("it was restored since")
            }
            (PassAct::Forgot { .. }, [memory]) => {
                dedupe::refuse_held(self.parts, &self.caller.viewer, memory, &memory.edition)?;
                self.moved(memory, Standing { forgotten_at: None, ..memory.standing }, AuditAct::Restored)
            }
            (PassAct::Edited { to, .. }, [memory]) if memory.version != *to => stays("it was edited since"),
            (PassAct::Edited { from, .. }, [memory]) => self.reverted(memory, *from),
            (PassAct::Unlinked { relation, weight, .. }, [source, target]) => {
                self.relinked(source, target, *relation, *weight)
            }
            (PassAct::Linked { relation, weight, was, .. }, [source, target]) => {
                self.unlinked((source, target), *relation, *weight, *was)
            }
            _ => stays("it is no more"),
        }
    }

    fn moved(&self, memory: &Memory, to: Standing, act: AuditAct) -> Result<Decided, Error> {
        let right = access::require_in_place(self.parts, self.caller, memory, Role::Writer)?;
        let reason = Some(format!("undo of the pass {}", self.pass.id));
        let entry = standing::audit(self.caller, self.now, act, memory, reason, None);
        let shift = Write::Move { id: memory.id, from: memory.standing, to };
        Ok(Ok((vec![right], vec![shift, Write::Audit(entry)])))
    }

    /// What it said before, as a new version.
    fn reverted(&self, memory: &Memory, version: Version) -> Result<Decided, Error> {
        if memory.standing.forgotten_at.is_some() {
            return stays("it was forgotten since");
        }
        let versions = self.parts.store.versions(&self.caller.viewer, memory.id)?;
        let Some(past) = versions.into_iter().find(|record| record.version == version) else {
            return stays("the version before is kept no longer");
        };
        let edition = Edition { boundary: memory.edition.boundary, ..past.edition };
        dedupe::refuse_held(self.parts, &self.caller.viewer, memory, &edition)?;
        let differs = edition.differs_in_meaning(&memory.edition);
        let chunks = differs.then(|| embed::embed(self.parts, &[Source::of(&edition)]).0.pop()).flatten();
        let right = access::require_in_place(self.parts, self.caller, memory, Role::Writer)?;
        let revision = Revision {
            id: memory.id,
            from: memory.version,
            act: VersionAct::Reverted,
            edition,
            stood: memory.standing,
            standing: memory.standing,
            chunks,
            attachment: None,
            vouched: None,
        };
        Ok(Ok((vec![right], vec![Write::Revise(Box::new(revision))])))
    }

    /// The automatic link again that was between two memories.
    fn relinked(
        &self,
        from: &Memory,
        to: &Memory,
        relation: Relation,
        weight: Weight,
    ) -> Result<Decided, Error> {
        let gone = |memory: &Memory| memory.standing.forgotten_at.is_some();
        let edges = self.parts.store.associations(&self.caller.viewer, &[from.id])?;
        match edges.iter().any(|edge| (edge.target, edge.relation) == (to.id, relation)) {
            _ if gone(from) || gone(to) => stays("one of the two is forgotten"),
            true => stays("they were linked again since"),
            false => {
                let right = access::require_in_place(self.parts, self.caller, from, Role::Writer)?;
                let link = self.automatic((from.id, to.id), relation, weight);
                Ok(Ok((vec![right], vec![link])))
            }
        }
    }

    /// Two memories without the link that was made between them, and with the automatic one that was in its place.
    fn unlinked(
        &self,
        (from, to): (&Memory, &Memory),
        relation: Relation,
        weight: Weight,
        was: Option<Weight>,
    ) -> Result<Decided, Error> {
        let (source, target) = (from.id, to.id);
        let edges = self.parts.store.associations(&self.caller.viewer, &[source])?;
        let made = |edge: &&Association| {
            (edge.source, edge.target, edge.relation, edge.linked_by)
                == (source, target, relation, LinkedBy::Caller)
        };
        match edges.iter().find(made) {
            None => return stays("the link was removed since, or one of the two is forgotten"),
            Some(edge) if edge.weight != weight => return stays("the link was given another weight since"),
            Some(_) => {}
        }
        let right = access::require_in_place(self.parts, self.caller, from, Role::Writer)?;
        let reason = Some(format!("undo of the pass {}", self.pass.id));
        let detail = Some(format!("{relation} {target}"));
        let mut entry = standing::audit(self.caller, self.now, AuditAct::Dissociated, from, reason, detail);
        entry.private_to = entry.private_to.or_else(|| standing::private_to(to));
        let mut writes = vec![Write::Unlink { source, target, relation }, Write::Audit(entry)];
        writes.extend(was.map(|weight| self.automatic((source, target), relation, weight)));
        Ok(Ok((vec![right], writes)))
    }

    fn automatic(&self, (source, target): (MemoryId, MemoryId), relation: Relation, weight: Weight) -> Write {
        let (linked_by, created_at) = (LinkedBy::Auto, self.now);
        Write::Link(Association { source, target, relation, weight, linked_by, created_at })
    }
}

fn stays(why: &str) -> Result<Decided, Error> {
    Ok(Err(why.to_owned()))
}
