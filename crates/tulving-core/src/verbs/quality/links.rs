//! Finds problems of linked memories: near-duplicates, contradictions, repetitions and forks.
//!
//! A save already links memories with nearly the same statement, so this code reads those links instead of searching
//! for near-duplicates.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tulving_text::secrets;

use super::scan::{FindingCallback, QualityScan};
use super::{ProposedChange, ScanFinding};
use crate::model::association::Association;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::preview;
use crate::model::score::Weight;
use crate::model::vocabulary::{FindingKind, LinkedBy, MemoryType, ProposedAct, Relation};
use crate::rank::duplicates::{self, TextSimilarity};
use crate::rank::ties::ConflictCandidate;

/// Number of links that are checked at a time. The memories at the far ends of these links are read together.
const BESIDE: usize = 32;
/// Minimum similarity of two memories with different words that counts as the same statement.
const SAME: f64 = 0.95;
/// Minimum number of similar observations that counts as a repetition.
const OBSERVED: usize = 3;

/// Reports the problems in the links of a page. A link is checked with the page that contains its source; a fork is
/// checked with the page that contains the updated memory.
pub(super) fn look_at(
    scan: &QualityScan<'_>,
    page: &[Memory],
    hear: &mut FindingCallback<'_>,
) -> Result<ControlFlow<()>, Error> {
    let wanted = [
        FindingKind::NearDuplicate,
        FindingKind::Differs,
        FindingKind::Repeated,
        FindingKind::Contradiction,
        FindingKind::Fork,
    ];
    if !wanted.into_iter().any(|kind| scan.wants(kind)) {
        return Ok(ControlFlow::Continue(()));
    }
    let here: HashMap<MemoryId, &Memory> = page.iter().map(|memory| (memory.id, memory)).collect();
    let ids: Vec<MemoryId> = page.iter().map(|memory| memory.id).collect();
    let edges = scan.ports.store.associations(&scan.caller.viewer, &ids)?;
    for some in edges.chunks(BESIDE) {
        let beside = beside(scan, some, &here)?;
        let known = |id: MemoryId| here.get(&id).copied().or_else(|| beside.get(&id));
        for edge in some.iter().filter(|edge| here.contains_key(&edge.source)) {
            let (Some(source), Some(target)) = (known(edge.source), known(edge.target)) else { continue };
            if let Some(found) = between(scan, edge, &edges, source, target)
                && hear(&found).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    if repeated(scan, page, &edges, hear)?.is_break() {
        return Ok(ControlFlow::Break(()));
    }
    forks(scan, page, &edges, hear)
}

/// Returns the memories at the far ends of edges.
fn beside(
    scan: &QualityScan<'_>,
    edges: &[Association],
    here: &HashMap<MemoryId, &Memory>,
) -> Result<HashMap<MemoryId, Memory>, Error> {
    let ends = edges.iter().filter(|edge| here.contains_key(&edge.source)).map(|edge| edge.target);
    let mut ids: Vec<MemoryId> = ends.filter(|id| !here.contains_key(id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let memories = scan.ports.store.memories(&scan.caller.viewer, &ids)?;
    Ok(memories.into_iter().map(|memory| (memory.id, memory)).collect())
}

/// Returns the problem of two linked memories, if any.
fn between<'a>(
    scan: &QualityScan<'_>,
    edge: &Association,
    edges: &[Association],
    source: &'a Memory,
    target: &'a Memory,
) -> Option<ScanFinding<'a>> {
    let stands = |memory: &Memory| {
        memory.space == scan.caller.space && scan.is_alive(memory) && memory.superseded_by.is_none()
    };
    if !stands(source) || !stands(target) {
        return None;
    }
    match (edge.relation, edge.linked_by) {
        (Relation::Contradicts, _) if scan.wants(FindingKind::Contradiction) => {
            Some(contradiction(source, target))
        }
        (Relation::Updates, LinkedBy::Auto) => {
            let comparable = scan.is_comparable(source) && scan.is_comparable(target);
            let same_type = source.fields.class.memory_type == target.fields.class.memory_type;
            let found = (comparable && same_type).then(|| near(edge.weight, source, target)).flatten();
            found.filter(|found| scan.wants(found.kind) && !is_said(found.kind, edges, source, target))
        }
        _ => None,
    }
}

fn contradiction<'a>(source: &'a Memory, target: &'a Memory) -> ScanFinding<'a> {
    let keep = |kept: &Memory, other: &Memory| {
        ProposedChange::new(
            ProposedAct::Supersede,
            &[kept, other],
            "it was chosen from two memories that contradict each other",
        )
    };
    ScanFinding {
        kind: FindingKind::Contradiction,
        memories: vec![source, target],
        why: format!("a link says that {} contradicts {}", source.label(), target.label()),
        advice: Some("choose the one that is true".to_owned()),
        actions: vec![keep(source, target), keep(target, source)],
    }
}

/// Returns true if a link already states that the two memories contradict each other.
fn is_said(kind: FindingKind, edges: &[Association], one: &Memory, other: &Memory) -> bool {
    let between = |edge: &Association| {
        (edge.source, edge.target) == (one.id, other.id) || (edge.source, edge.target) == (other.id, one.id)
    };
    kind == FindingKind::Differs
        && edges.iter().any(|edge| edge.relation == Relation::Contradicts && between(edge))
}

/// Returns the problem of two memories with high similarity, if any.
fn near<'a>(weight: Weight, source: &'a Memory, target: &'a Memory) -> Option<ScanFinding<'a>> {
    let (newer, older) = match began(source) >= began(target) {
        true => (source, target),
        false => (target, source),
    };
    let both = format!("if both are true, `tulving dissociate {} {}`", name(source), name(target));
    let contenders = ConflictCandidate::of(source).zip(ConflictCandidate::of(target));
    // Another finding already reports two values for the same thing. Different labels, as in ticket 12 and ticket 13,
    // mean different things.
    if contenders.is_some_and(|(one, other)| one.rivalry(&other).is_some() || one.differs_by_label(&other)) {
        return None;
    }
    match duplicates::likeness(&source.fields.text.content, &target.fields.text.content) {
        // Exact duplicates were reported when they were read.
        TextSimilarity::Same => None,
        TextSimilarity::Apart => Some(differs(weight, newer, older, both)),
        likeness => Some(near_duplicate(weight, newer, older, likeness, both)),
    }
}

fn differs<'a>(weight: Weight, newer: &'a Memory, older: &'a Memory, both: String) -> ScanFinding<'a> {
    let updates = ProposedChange {
        weight: Some(weight),
        ..ProposedChange::new(ProposedAct::Supersede, &[newer, older], "it now says something else")
    };
    let contradicts =
        ProposedChange::new(ProposedAct::Contradict, &[newer, older], "they cannot both be true");
    let described = |memory: &Memory| {
        let words = duplicates::telling_words(&secrets::redacted(&memory.fields.text.content));
        preview::short(&words.join(" "))
    };
    let (new, old) = (described(newer), described(older));
    ScanFinding {
        kind: FindingKind::Differs,
        memories: vec![older, newer],
        why: format!("they are {:.2} alike, and one says `{old}` where the other says `{new}`", weight.get()),
        advice: Some(both),
        actions: (!older.status.pinned).then_some(updates).into_iter().chain([contradicts]).collect(),
    }
}

fn near_duplicate<'a>(
    weight: Weight,
    newer: &'a Memory,
    older: &'a Memory,
    likeness: TextSimilarity,
    both: String,
) -> ScanFinding<'a> {
    let names = duplicates::same_names(&newer.fields.text.content, &older.fields.text.content);
    let sure = names && (likeness == TextSimilarity::Alike || weight.get() >= SAME);
    let action = ProposedChange {
        weight: Some(weight),
        ..ProposedChange::new(ProposedAct::Supersede, &[newer, older], "it says nearly the same and is newer")
    };
    let proposed = sure && !older.status.pinned;
    let (new, old) = (name(newer), name(older));
    let advice = match proposed {
        true => both,
        false => format!(
            "if the newer one replaces the other, `tulving associate {new} {old} --relation updates`; {both}"
        ),
    };
    ScanFinding {
        kind: FindingKind::NearDuplicate,
        memories: vec![older, newer],
        why: format!("they are {:.2} alike", weight.get()),
        advice: Some(advice),
        actions: proposed.then_some(action).into_iter().collect(),
    }
}

/// Reports the newest of several observations with nearly the same statement, if the newest is on the page.
fn repeated(
    scan: &QualityScan<'_>,
    page: &[Memory],
    edges: &[Association],
    hear: &mut FindingCallback<'_>,
) -> Result<ControlFlow<()>, Error> {
    if !scan.wants(FindingKind::Repeated) {
        return Ok(ControlFlow::Continue(()));
    }
    let observed = |memory: &Memory| {
        memory.fields.class.memory_type == MemoryType::Observation
            && memory.space == scan.caller.space
            && scan.is_comparable(memory)
    };
    for memory in page.iter().filter(|memory| observed(memory)) {
        let near = edges.iter().filter(|edge| {
            edge.relation == Relation::Updates
                && edge.linked_by == LinkedBy::Auto
                && (edge.source == memory.id || edge.target == memory.id)
        });
        let ends: Vec<MemoryId> =
            near.map(|edge| if edge.source == memory.id { edge.target } else { edge.source }).collect();
        if ends.len() + 1 < OBSERVED {
            continue;
        }
        let mut same = scan.ports.store.memories(&scan.caller.viewer, &ends)?;
        same.retain(|one| observed(one) && is_repeated(memory, one));
        // Only the newest of the similar observations is reported.
        if same.len() + 1 < OBSERVED || same.iter().any(|one| began(one) > began(memory)) {
            continue;
        }
        let of: Vec<&Memory> = std::iter::once(memory).chain(&same).collect();
        let found = ScanFinding {
            kind: FindingKind::Repeated,
            why: format!("it was observed {} times", of.len()),
            advice: None,
            actions: vec![ProposedChange::new(ProposedAct::Promote, &of, "it was observed several times")],
            memories: of,
        };
        if hear(&found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn is_repeated(one: &Memory, other: &Memory) -> bool {
    let (here, there) = (&one.fields.text.content, &other.fields.text.content);
    one.fields.boundary == other.fields.boundary
        && !other.status.pinned
        && duplicates::likeness(here, there) != TextSimilarity::Apart
        && duplicates::same_names(here, there)
}

/// Returns the name of a memory for a command line, where `#` would begin a comment.
pub(super) fn name(memory: &Memory) -> String {
    memory.label().replace('#', "")
}

fn began(memory: &Memory) -> (crate::model::time::Timestamp, MemoryId) {
    (memory.usage.created_at, memory.id)
}

/// Reports a memory of the page that several memories update, if none of these memories updates another of them.
fn forks(
    scan: &QualityScan<'_>,
    page: &[Memory],
    edges: &[Association],
    hear: &mut FindingCallback<'_>,
) -> Result<ControlFlow<()>, Error> {
    if !scan.wants(FindingKind::Fork) {
        return Ok(ControlFlow::Continue(()));
    }
    for memory in page.iter().filter(|memory| scan.is_alive(memory) && memory.superseded_by.is_some()) {
        let updates = |edge: &&Association| {
            edge.target == memory.id
                && edge.relation == Relation::Updates
                && edge.linked_by == LinkedBy::Caller
        };
        let sources: Vec<MemoryId> = edges.iter().filter(updates).map(|edge| edge.source).collect();
        if sources.len() < 2 {
            continue;
        }
        let mut newer = scan.ports.store.memories(&scan.caller.viewer, &sources)?;
        newer.retain(|one| {
            one.space == scan.caller.space && scan.is_alive(one) && one.superseded_by.is_none()
        });
        if newer.len() < 2 {
            continue;
        }
        let names: Vec<String> = newer.iter().map(Memory::label).collect();
        let found = ScanFinding {
            kind: FindingKind::Fork,
            memories: std::iter::once(memory).chain(&newer).collect(),
            why: format!(
                "{} each update {}, and none of them updates another",
                names.join(" and "),
                memory.label()
            ),
            advice: Some(
                "link the true one with `tulving associate NEWER OLDER --relation updates`".to_owned(),
            ),
            actions: Vec::new(),
        };
        if hear(&found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
