//! Looks for what is wrong with the memories of a space, and does what it proposes about it.
//!
//! [`scan`] reads them page by page and gives what it finds to whoever asked: [`quality`] counts it and keeps the first
//! of each kind, [`apply`] waits for the one whose proposal it was told. What is done goes through the verbs, so it takes
//! their rights, and is audited and undone like what they do.

mod act;
mod links;
mod look;
pub(crate) mod merge;
mod replace;
mod scan;

use std::ops::ControlFlow;

use self::scan::Scan;
use crate::access::{self, Parts};
use crate::answer::{Concerned, Done, Finding, Proposal, Report};
use crate::error::{Error, Field};
use crate::id::{MemoryId, ProposalId, Version};
use crate::memory::Memory;
use crate::preview;
use crate::read;
use crate::request::{Caller, QualityRequest};
use crate::score::Weight;
use crate::text::{secrets, visible};
use crate::vocabulary::{FindingKind, ProposedAct};

/// Most characters of a memory that a report repeats.
const PREVIEW: usize = 100;

/// Something that was found, before it is told.
struct Found<'a> {
    kind: FindingKind,
    memories: Vec<&'a Memory>,
    why: String,
    advice: Option<String>,
    deeds: Vec<Deed>,
}

/// Something that may be done, and what it was decided on.
#[derive(Clone, Debug, PartialEq)]
struct Deed {
    act: ProposedAct,
    /// What it changes: the one that stays first, where there are two.
    of: Vec<Subject>,
    /// How alike two memories are, where one shall supersede the other.
    weight: Option<Weight>,
    /// Why, for the audit.
    reason: &'static str,
}

/// A memory at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Subject {
    id: MemoryId,
    version: Version,
    label: String,
}

impl Subject {
    fn of(memory: &Memory) -> Self {
        Self { id: memory.id, version: memory.version, label: memory.label() }
    }
}

impl Deed {
    fn new(act: ProposedAct, of: &[&Memory], reason: &'static str) -> Self {
        Self { act, of: of.iter().map(|memory| Subject::of(memory)).collect(), weight: None, reason }
    }

    fn id(&self, kind: FindingKind) -> ProposalId {
        let mut said = format!("{kind} {}", self.act);
        for Subject { id, version, .. } in &self.of {
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
                format!("save {} anew without its secrets, and erase it with its versions", name(0))
            }
        }
    }
}

/// What is wrong with the memories of the caller's space, of those that the caller may see. `progress` hears of how many
/// more were looked at.
pub(crate) fn quality(
    parts: &Parts,
    caller: &Caller,
    request: &QualityRequest,
    progress: &mut dyn FnMut(usize),
) -> Result<Report, Error> {
    read::bounded(Field::Limit, request.limit, usize::MAX)?;
    access::space_of_call(parts, caller)?;
    let kinds = if request.kinds.is_empty() { FindingKind::ALL } else { request.kinds.as_slice() };
    let mut report = Report::default();
    report.counts.extend(kinds.iter().map(|kind| (*kind, 0)));
    let mut findings: Vec<Finding> = Vec::new();
    let scan = Scan::new(parts, caller, kinds).older_than(request.older_than_days);
    let looked_at = scan.run(progress, &mut |found| {
        let count = report.counts.entry(found.kind).or_default();
        *count += 1;
        if *count <= request.limit as u64 {
            findings.push(told(found));
        }
        ControlFlow::Continue(())
    })?;
    findings.sort_by_key(|finding| finding.kind);
    Ok(Report { looked_at, findings, ..report })
}

/// Does what is proposed under this id, where that still stands.
pub(crate) fn apply(parts: &Parts, caller: &Caller, id: ProposalId) -> Result<Done, Error> {
    access::space_of_call(parts, caller)?;
    let mut deed = None;
    // Of any age, because the id does not say how old a memory had to be.
    Scan::new(parts, caller, FindingKind::ALL).run(&mut |_| {}, &mut |found| {
        deed = found.deeds.iter().find(|deed| deed.id(found.kind) == id).cloned();
        if deed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let deed = deed.ok_or(Error::NoProposal { id })?;
    act::act(parts, caller, id, &deed)
}

fn told(found: &Found<'_>) -> Finding {
    let proposal = |deed: &Deed| Proposal { id: deed.id(found.kind), act: deed.act, does: deed.does() };
    Finding {
        kind: found.kind,
        memories: found.memories.iter().map(|memory| concerned(memory)).collect(),
        why: found.why.clone(),
        advice: found.advice.clone(),
        proposals: found.deeds.iter().map(proposal).collect(),
    }
}

fn concerned(memory: &Memory) -> Concerned {
    Concerned {
        id: memory.id,
        number: memory.number,
        label: memory.label(),
        version: memory.version,
        preview: shown(&memory.edition.text.content, PREVIEW),
        created_at: memory.usage.created_at,
        access_count: memory.usage.access_count,
    }
}

/// The beginning of a text on one line, without secrets and without what is hidden in it.
fn shown(text: &str, limit: usize) -> String {
    preview::cut(&visible::plain(&secrets::redacted(text)), limit)
}
