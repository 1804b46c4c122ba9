//! Proposals about memories with nearly the same statement. A judge decides on them; then they are carried out in one
//! transaction.
//!
//! [`cases`] uses the same scan as all findings. [`settle`] carries out each decision if the memories have not changed
//! since, and records the pass.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::scan::QualityScan;
use crate::model::association::Association;
use crate::model::change::{RequiredRole, Revision, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryId, ProposalId};
use crate::model::memory::Memory;
use crate::model::pass::{Pass, PassAct};
use crate::model::request::{Caller, UpdateRequest};
use crate::model::score::Weight;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{
    AuditAct, FindingKind, LinkedBy, MemoryType, PassOutcome, Relation, Role, Verdict, VersionAct,
};
use crate::verbs::access::{self, Ports};
use crate::verbs::save::derive::DraftContext;
use crate::verbs::save::intake;
use crate::verbs::status;

/// The kinds of findings that a judge decides on.
const KINDS: &[FindingKind] =
    &[FindingKind::NearDuplicate, FindingKind::Differs, FindingKind::CompetingValues, FindingKind::Repeated];

/// Maximum number of cases found, from which the cases to decide are chosen.
const LOOKED_AT: usize = 200;

/// Memories with nearly the same statement, newest first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SimilarMemoryGroup {
    /// The memories in the state in which the scan read them.
    pub(crate) memories: Vec<Memory>,
}

impl SimilarMemoryGroup {
    /// Returns a digest of the case, which changes once one of its memories is edited, pinned or unpinned.
    pub(crate) fn digest(&self) -> String {
        let one = |memory: &Memory| format!("{}@{} {}", memory.id, memory.version, memory.status.pinned);
        let mut said: Vec<String> = self.memories.iter().map(one).collect();
        said.sort_unstable();
        ProposalId::of(&said.join(" ")).to_string()
    }
}

/// A case, the decision about it and the reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MergeDecision {
    /// The case.
    pub(crate) case: SimilarMemoryGroup,
    /// The decision.
    pub(crate) verdict: Verdict,
    /// The reason.
    pub(crate) reason: String,
}

/// Finds some cases among the private or the shared memories of the caller's space that the caller may see. Cases that
/// were `judged` before are left out.
pub(crate) fn cases(
    ports: &Ports,
    caller: &Caller,
    private: bool,
    judged: &HashSet<String>,
    most: usize,
) -> Result<Vec<SimilarMemoryGroup>, Error> {
    let mut cases: Vec<SimilarMemoryGroup> = Vec::new();
    QualityScan::new(ports, caller, KINDS).run(&mut |_| {}, &mut |found| {
        if found.memories.iter().any(|memory| status::private_to(memory).is_some()) == private {
            let mut memories: Vec<Memory> = found.memories.iter().map(|memory| (*memory).clone()).collect();
            memories.sort_by_key(|memory| std::cmp::Reverse((memory.usage.created_at, memory.id)));
            cases.extend(
                Some(SimilarMemoryGroup { memories }).filter(|case| !judged.contains(&case.digest())),
            );
        }
        if cases.len() < LOOKED_AT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    // The choice is random, so that cases without a decision do not block the cases after them.
    fastrand::shuffle(&mut cases);
    cases.truncate(most);
    Ok(cases)
}

/// Carries out the decisions in one transaction, and returns the recorded pass. If `write` is false, only returns the
/// pass that would be recorded. The given pass already contains the judged cases.
pub(crate) fn settle(
    ports: &Ports,
    caller: &Caller,
    pass: &Pass,
    decided: &[MergeDecision],
    write: bool,
) -> Result<Pass, Error> {
    access::decide_again(|| {
        let now = ports.clock.now();
        let mut act = MergeTransaction {
            ports,
            caller,
            now,
            rights: Vec::new(),
            writes: Vec::new(),
            pass: pass.clone(),
        };
        for one in decided {
            act.add(one)?;
        }
        let MergeTransaction { rights, mut writes, pass, .. } = act;
        let done = pass.acts.iter().any(PassAct::is_deed);
        let pass = pass.ended(if done { PassOutcome::Done } else { PassOutcome::Nothing }, now);
        if !write {
            return Ok(pass);
        }
        writes.push(Write::Pass { from: None, to: Box::new(pass.clone()) });
        ports.store.apply(&access::changes(caller, now, rights, writes))?;
        Ok(pass)
    })
}

/// A transaction under construction.
struct MergeTransaction<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    now: Timestamp,
    rights: Vec<RequiredRole>,
    writes: Vec<Write>,
    pass: Pass,
}

impl MergeTransaction<'_> {
    /// Adds the decision about a case, unless one of the memories has changed since the scan or was already handled.
    fn add(&mut self, decided: &MergeDecision) -> Result<(), Error> {
        let ids: Vec<_> = decided.case.memories.iter().map(|memory| memory.id).collect();
        let dealt_with = |act: &PassAct| act.memories().iter().any(|id| ids.contains(id));
        let now = self.ports.store.memories(&self.caller.viewer, &ids)?;
        let same = |(then, now): (&Memory, &Memory)| {
            (then.id, then.version, then.status) == (now.id, now.version, now.status)
        };
        let unchanged = now.len() == ids.len() && decided.case.memories.iter().zip(&now).all(same);
        if !unchanged || self.pass.acts.iter().any(dealt_with) {
            return Ok(());
        }
        let [newest, others @ ..] = now.as_slice() else { return Ok(()) };
        match decided.verdict {
            // A pinned memory is not superseded automatically.
            Verdict::Updates | Verdict::Fact if others.iter().any(|other| other.status.pinned) => Ok(()),
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
        let right = access::require_in_place(self.ports, self.caller, memory, Role::Writer)?;
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
        let edges = self.ports.store.associations(&self.caller.viewer, &[newest.id])?;
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
            let mut entry = status::audit(self.caller, self.now, act, newest, reason, detail);
            entry.private_to = entry.private_to.or_else(|| status::private_to(other));
            self.writes.push(Write::Audit(entry));
            self.pass.acts.push(PassAct::Linked { source, target, relation, weight, was });
        }
        Ok(())
    }

    fn promote(&mut self, memory: &Memory) -> Result<(), Error> {
        self.require(memory)?;
        let fact = UpdateRequest { memory_type: Some(MemoryType::Fact), ..UpdateRequest::default() };
        let patch = intake::read_update(&fact, self.ports.limits)?;
        let (from, to) = (memory.version, memory.version.next());
        self.writes.push(Write::Revise(Box::new(Revision {
            id: memory.id,
            from,
            act: VersionAct::Updated,
            fields: patch.onto(&memory.fields, DraftContext::memory(memory)),
            stood: memory.status,
            status: memory.status,
            chunks: None,
            attachment: None,
            confirmed: None,
        })));
        self.pass.acts.push(PassAct::Edited { memory: memory.id, from, to });
        Ok(())
    }

    /// Removes the automatic links between the newest memory and the other memories.
    fn part(&mut self, newest: &Memory, others: &[Memory]) -> Result<(), Error> {
        self.require(newest)?;
        let edges = self.ports.store.associations(&self.caller.viewer, &[newest.id])?;
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

/// Returns the similarity of two memories, from the links between them. The weight of the automatic `updates` link,
/// created when the newer memory was saved, is the similarity. The weight of any other link has another meaning, and is
/// used only if there is no automatic `updates` link.
fn weight_between(edges: &[Association], other: MemoryId) -> Weight {
    let between = || edges.iter().filter(|edge| edge.source == other || edge.target == other);
    let alike = |edge: &&Association| (edge.relation, edge.linked_by) == (Relation::Updates, LinkedBy::Auto);
    between().find(alike).or_else(|| between().next()).map_or(Weight::DEFAULT, |edge| edge.weight)
}
