//! Finds problems in the memories of a space, and carries out its proposals.
//!
//! [`scan`] reads the memories page by page and reports its findings. [`quality`] counts the findings and returns the
//! first findings of each kind; [`apply`] searches for the finding with the given proposal. The usual verbs carry out a
//! proposal, so a proposal needs the same rights, and is audited and undone in the same way.

mod act;
mod competing;
mod links;
pub(crate) mod merge;
mod replace;
mod scan;
mod single;

use std::ops::ControlFlow;

use tulving_text::{secrets, visible};

use self::scan::QualityScan;
use crate::model::answer::{AppliedProposal, FindingMemory, QualityFinding, QualityProposal, QualityReport};
use crate::model::error::{Error, Field};
use crate::model::id::{MemoryId, ProposalId, Version};
use crate::model::memory::Memory;
use crate::model::preview;
use crate::model::request::{Caller, QualityRequest};
use crate::model::score::Weight;
use crate::model::vocabulary::{FindingKind, ProposedAct};
use crate::verbs::access::{self, Ports};
use crate::verbs::read;

/// Maximum number of characters of a memory that a report quotes.
const PREVIEW: usize = 100;

/// A finding, before it is reported.
struct ScanFinding<'a> {
    kind: FindingKind,
    memories: Vec<&'a Memory>,
    why: String,
    advice: Option<String>,
    actions: Vec<ProposedChange>,
}

/// A proposed action, and the state on which it was decided.
#[derive(Clone, Debug, PartialEq)]
struct ProposedChange {
    act: ProposedAct,
    /// The memories that the action changes. If there are two, the memory that remains is first.
    of: Vec<MemoryAtVersion>,
    /// The similarity of two memories, if one is to supersede the other.
    weight: Option<Weight>,
    /// The reason, for the audit.
    reason: &'static str,
}

/// A memory at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MemoryAtVersion {
    id: MemoryId,
    version: Version,
    label: String,
}

impl MemoryAtVersion {
    fn of(memory: &Memory) -> Self {
        Self { id: memory.id, version: memory.version, label: memory.label() }
    }
}

impl ProposedChange {
    fn new(act: ProposedAct, of: &[&Memory], reason: &'static str) -> Self {
        Self { act, of: of.iter().map(|memory| MemoryAtVersion::of(memory)).collect(), weight: None, reason }
    }

    fn id(&self, kind: FindingKind) -> ProposalId {
        let mut said = format!("{kind} {}", self.act);
        for MemoryAtVersion { id, version, .. } in &self.of {
            said += &format!(" {id}@{version}");
        }
        ProposalId::of(&said)
    }

    fn does(&self) -> String {
        let name = |place: usize| self.of.get(place).map_or("", |subject| subject.label.as_str());
        match self.act {
            ProposedAct::Supersede => format!("{} updates {}", name(0), name(1)),
            ProposedAct::Contradict => format!("{} contradicts {}", name(0), name(1)),
            ProposedAct::Promote => {
                let others: Vec<&str> = self.of.iter().skip(1).map(|one| one.label.as_str()).collect();
                format!("make {} a fact that updates {}", name(0), others.join(" and "))
            }
            ProposedAct::Forget => format!("forget {}; it can be restored", name(0)),
            ProposedAct::Archive => format!("archive {}; it can be brought back", name(0)),
            ProposedAct::ReplaceRedacted => {
                format!("save a copy of {} without its secrets, and erase it with its versions", name(0))
            }
        }
    }
}

/// Finds problems in the memories of the caller's space that the caller may see. `progress` receives the number of
/// memories checked since the last call.
pub(crate) fn quality(
    ports: &Ports,
    caller: &Caller,
    request: &QualityRequest,
    progress: &mut dyn FnMut(usize),
) -> Result<QualityReport, Error> {
    read::bounded(Field::Limit, request.limit, usize::MAX)?;
    access::space_of_call(ports, caller)?;
    let kinds = if request.kinds.is_empty() { FindingKind::ALL } else { request.kinds.as_slice() };
    let mut report = QualityReport::default();
    report.counts.extend(kinds.iter().map(|kind| (*kind, 0)));
    let mut findings: Vec<QualityFinding> = Vec::new();
    let scan = QualityScan::new(ports, caller, kinds).older_than(request.older_than_days);
    let looked_at = scan.run(progress, &mut |found| {
        let count = report.counts.entry(found.kind).or_default();
        *count += 1;
        if *count <= request.limit as u64 {
            findings.push(described(found));
        }
        ControlFlow::Continue(())
    })?;
    findings.sort_by_key(|finding| finding.kind);
    Ok(QualityReport { looked_at, findings, ..report })
}

/// Carries out the proposal with this id, if the proposal is still valid.
pub(crate) fn apply(ports: &Ports, caller: &Caller, id: ProposalId) -> Result<AppliedProposal, Error> {
    access::space_of_call(ports, caller)?;
    let mut action = None;
    // The age limit does not apply here, because the id of a proposal does not include the limit.
    QualityScan::new(ports, caller, FindingKind::ALL).run(&mut |_| {}, &mut |found| {
        action = found.actions.iter().find(|action| action.id(found.kind) == id).cloned();
        if action.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let action = action.ok_or(Error::NoProposal { id })?;
    act::act(ports, caller, id, &action)
}

fn described(found: &ScanFinding<'_>) -> QualityFinding {
    let proposal = |action: &ProposedChange| QualityProposal {
        id: action.id(found.kind),
        act: action.act,
        does: action.does(),
    };
    QualityFinding {
        kind: found.kind,
        memories: found.memories.iter().map(|memory| concerned(memory)).collect(),
        why: found.why.clone(),
        advice: found.advice.clone(),
        proposals: found.actions.iter().map(proposal).collect(),
    }
}

fn concerned(memory: &Memory) -> FindingMemory {
    FindingMemory {
        id: memory.id,
        number: memory.number,
        label: memory.label(),
        version: memory.version,
        preview: shown(&memory.fields.text.content, PREVIEW),
        created_at: memory.usage.created_at,
        access_count: memory.usage.access_count,
    }
}

/// Returns the beginning of a text on one line, without secrets and hidden characters.
fn shown(text: &str, limit: usize) -> String {
    preview::cut(&visible::plain(&secrets::redacted(text)), limit)
}
