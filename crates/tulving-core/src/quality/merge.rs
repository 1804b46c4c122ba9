//! What is proposed about memories that say nearly the same, decided by somebody else than who proposed it, and done as one act.
//!
//! [`cases`] are found by the same look as every finding. [`settle`] does what was decided about each, where the memories are still
//! as they were looked at, and notes the pass that it is.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::scan::Scan;
use crate::access::{self, Parts};
use crate::association::Association;
use crate::change::{Revision, Right, Write};
use crate::error::Error;
use crate::id::{MemoryId, ProposalId};
use crate::memory::Memory;
use crate::pass::{Pass, PassAct};
use crate::request::{Caller, UpdateRequest};
use crate::save::derive::About;
use crate::save::intake;
use crate::score::Weight;
use crate::standing;
use crate::time::Timestamp;
use crate::vocabulary::{
    AuditAct, FindingKind, LinkedBy, MemoryType, PassOutcome, Relation, Role, Verdict, VersionAct,
};

/// The findings that are decided here.
const KINDS: &[FindingKind] = &[FindingKind::NearDuplicate, FindingKind::Differs, FindingKind::Repeated];

/// Among so many cases are those chosen that are decided.
const LOOKED_AT: usize = 200;

/// Memories that say nearly the same: the newest first, then the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    /// The memories, as they were looked at.
    pub(crate) memories: Vec<Memory>,
}

impl Case {
    /// What tells it from others, and from itself once one of its memories was edited, or pinned or not.
    pub(crate) fn digest(&self) -> String {
        let one = |memory: &Memory| format!("{}@{} {}", memory.id, memory.version, memory.standing.pinned);
        let mut said: Vec<String> = self.memories.iter().map(one).collect();
        said.sort_unstable();
        ProposalId::of(&said.join(" ")).to_string()
    }
}

/// A case and what was decided about it, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decided {
    /// The case.
    pub(crate) case: Case,
    /// What was decided.
    pub(crate) verdict: Verdict,
    /// Why.
    pub(crate) reason: String,
}

/// Some cases of the caller's space, of those whose memories the caller may see, with private ones or with shared ones. Those that
/// were `judged` before are not among them.
pub(crate) fn cases(
    parts: &Parts,
    caller: &Caller,
    private: bool,
    judged: &HashSet<String>,
    most: usize,
) -> Result<Vec<Case>, Error> {
    let mut cases: Vec<Case> = Vec::new();
    Scan::new(parts, caller, KINDS).run(&mut |_| {}, &mut |found| {
        if found.memories.iter().any(|memory| standing::private_to(memory).is_some()) == private {
            let mut memories: Vec<Memory> = found.memories.iter().map(|memory| (*memory).clone()).collect();
            memories.sort_by_key(|memory| std::cmp::Reverse((memory.usage.created_at, memory.id)));
            cases.extend(Some(Case { memories }).filter(|case| !judged.contains(&case.digest())));
        }
        if cases.len() < LOOKED_AT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    // Others each time: what nobody could decide must not stand before all that follows it.
    fastrand::shuffle(&mut cases);
    cases.truncate(most);
    Ok(cases)
}

/// Does what was decided, as one act, and gives the pass as it was noted; without `write`, as it would be. The pass comes with the
/// cases that were judged.
pub(crate) fn settle(
    parts: &Parts,
    caller: &Caller,
    pass: &Pass,
    decided: &[Decided],
    write: bool,
) -> Result<Pass, Error> {
    access::decide_again(|| {
        let now = parts.clock.now();
        let mut act = Act { parts, caller, now, rights: Vec::new(), writes: Vec::new(), pass: pass.clone() };
        for one in decided {
            act.add(one)?;
        }
        let Act { rights, mut writes, pass, .. } = act;
        let done = pass.acts.iter().any(PassAct::is_deed);
        let pass = pass.ended(if done { PassOutcome::Done } else { PassOutcome::Nothing }, now);
        if !write {
            return Ok(pass);
        }
        writes.push(Write::Pass { from: None, to: Box::new(pass.clone()) });
        parts.store.apply(&access::changes(caller, now, rights, writes))?;
        Ok(pass)
    })
}

/// One act in the making.
struct Act<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    now: Timestamp,
    rights: Vec<Right>,
    writes: Vec<Write>,
    pass: Pass,
}

impl Act<'_> {
    /// Adds what was decided about a case, unless one of its memories has changed since or was dealt with before.
    fn add(&mut self, decided: &Decided) -> Result<(), Error> {
        let ids: Vec<_> = decided.case.memories.iter().map(|memory| memory.id).collect();
        let dealt_with = |act: &PassAct| act.memories().iter().any(|id| ids.contains(id));
        let now = self.parts.store.memories(&self.caller.viewer, &ids)?;
        let same = |(then, now): (&Memory, &Memory)| {
            (then.id, then.version, then.standing) == (now.id, now.version, now.standing)
        };
        let unchanged = now.len() == ids.len() && decided.case.memories.iter().zip(&now).all(same);
        if !unchanged || self.pass.acts.iter().any(dealt_with) {
            return Ok(());
        }
        let [newest, others @ ..] = now.as_slice() else { return Ok(()) };
        match decided.verdict {
            // What somebody pinned is not set aside for them.
            Verdict::Updates | Verdict::Fact if others.iter().any(|other| other.standing.pinned) => Ok(()),
            Verdict::Updates => self.link_all(newest, others, Relation::Updates, &decided.reason),
            Verdict::Contradicts => self.link_all(newest, others, Relation::Contradicts, &decided.reason),
            Verdict::Fact => {
                self.promote(newest)?;
                self.link_all(newest, others, Relation::Updates, &decided.reason)
            }
            Verdict::Distinct => self.part(newest, others),
        }
    }

    fn require(&mut self, memory: &Memory) -> Result<(), Error> {
        let right = access::require_in_place(self.parts, self.caller, memory, Role::Writer)?;
        self.rights.push(right);
        Ok(())
    }

    fn link_all(
        &mut self,
        newest: &Memory,
        others: &[Memory],
        relation: Relation,
        reason: &str,
    ) -> Result<(), Error> {
        self.require(newest)?;
        let edges = self.parts.store.associations(&self.caller.viewer, &[newest.id])?;
        for other in others {
            self.require(other)?;
            let known = edges
                .iter()
                .find(|edge| (edge.source, edge.target, edge.relation) == (newest.id, other.id, relation));
            let was = known.filter(|edge| edge.linked_by == LinkedBy::Auto).map(|edge| edge.weight);
            let weight = weight_between(&edges, other.id);
            let (source, target) = (newest.id, other.id);
            let (linked_by, created_at) = (LinkedBy::Caller, self.now);
            self.writes.push(Write::Link(Association {
                source,
                target,
                relation,
                weight,
                linked_by,
                created_at,
            }));
            let detail = Some(format!("{relation} {target}; the pass {}", self.pass.id));
            let (act, reason) = (AuditAct::Associated, Some(reason.to_owned()));
            let mut entry = standing::audit(self.caller, self.now, act, newest, reason, detail);
            entry.private_to = entry.private_to.or_else(|| standing::private_to(other));
            self.writes.push(Write::Audit(entry));
            self.pass.acts.push(PassAct::Linked { source, target, relation, weight, was });
        }
        Ok(())
    }

    fn promote(&mut self, memory: &Memory) -> Result<(), Error> {
        self.require(memory)?;
        let fact = UpdateRequest { memory_type: Some(MemoryType::Fact), ..UpdateRequest::default() };
        let patch = intake::read_update(&fact, self.parts.limits)?;
        let (from, to) = (memory.version, memory.version.next());
        self.writes.push(Write::Revise(Box::new(Revision {
            id: memory.id,
            from,
            act: VersionAct::Updated,
            edition: patch.onto(&memory.edition, About::memory(memory)),
            stood: memory.standing,
            standing: memory.standing,
            chunks: None,
            attachment: None,
            vouched: None,
        })));
        self.pass.acts.push(PassAct::Edited { memory: memory.id, from, to });
        Ok(())
    }

    /// Removes the links that were made by themselves.
    fn part(&mut self, newest: &Memory, others: &[Memory]) -> Result<(), Error> {
        self.require(newest)?;
        let edges = self.parts.store.associations(&self.caller.viewer, &[newest.id])?;
        let auto = edges.iter().filter(|edge| {
            edge.linked_by == LinkedBy::Auto
                && others.iter().any(|other| edge.source == other.id || edge.target == other.id)
        });
        for Association { source, target, relation, weight, .. } in auto.copied() {
            self.writes.push(Write::Unlink { source, target, relation });
            self.pass.acts.push(PassAct::Unlinked { source, target, relation, weight });
        }
        Ok(())
    }
}

/// How alike two memories are, by the links between one of them and the other: the link that says so was made when the newer was
/// saved. What else links them is weighed for another reason, and counts where there is no such link.
fn weight_between(edges: &[Association], other: MemoryId) -> Weight {
    let between = || edges.iter().filter(|edge| edge.source == other || edge.target == other);
    let alike = |edge: &&Association| (edge.relation, edge.linked_by) == (Relation::Updates, LinkedBy::Auto);
    between().find(alike).or_else(|| between().next()).map_or(Weight::DEFAULT, |edge| edge.weight)
}
