//! What is wrong with memories that are linked: near-duplicates, contradictions, forks.
//!
//! Near-duplicates are not looked for anew: a save links what says nearly the same, and those links are read here.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::scan::{Hear, Scan};
use super::{Deed, Found};
use crate::association::Association;
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::rank::twins::{self, Likeness};
use crate::score::Weight;
use crate::vocabulary::{FindingKind, LinkedBy, ProposedAct, Relation};

/// How many links are looked at at a time, with the memories that they lead to.
const BESIDE: usize = 32;
/// From this similarity on, two memories say the same though their words differ.
const SAME: f64 = 0.95;

/// Says what is wrong with the links of a page. Each is looked at on the page of the memory that it begins at, and forks on
/// that of the memory they begin at.
pub(super) fn look_at(
    scan: &Scan<'_>,
    page: &[Memory],
    hear: &mut Hear<'_>,
) -> Result<ControlFlow<()>, Error> {
    let wanted = [FindingKind::NearDuplicate, FindingKind::Contradiction, FindingKind::Fork];
    if !wanted.into_iter().any(|kind| scan.wants(kind)) {
        return Ok(ControlFlow::Continue(()));
    }
    let here: HashMap<MemoryId, &Memory> = page.iter().map(|memory| (memory.id, memory)).collect();
    let ids: Vec<MemoryId> = page.iter().map(|memory| memory.id).collect();
    let edges = scan.parts.store.associations(&scan.caller.viewer, &ids)?;
    for edges in edges.chunks(BESIDE) {
        let beside = beside(scan, edges, &here)?;
        let known = |id: MemoryId| here.get(&id).copied().or_else(|| beside.get(&id));
        for edge in edges.iter().filter(|edge| here.contains_key(&edge.source)) {
            let (Some(source), Some(target)) = (known(edge.source), known(edge.target)) else { continue };
            if let Some(found) = between(scan, edge, source, target)
                && hear(&found).is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    forks(scan, page, &edges, hear)
}

/// The memories at the far ends of edges.
fn beside(
    scan: &Scan<'_>,
    edges: &[Association],
    here: &HashMap<MemoryId, &Memory>,
) -> Result<HashMap<MemoryId, Memory>, Error> {
    let ends = edges.iter().filter(|edge| here.contains_key(&edge.source)).map(|edge| edge.target);
    let mut ids: Vec<MemoryId> = ends.filter(|id| !here.contains_key(id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let memories = scan.parts.store.memories(&scan.caller.viewer, &ids)?;
    Ok(memories.into_iter().map(|memory| (memory.id, memory)).collect())
}

/// What is wrong with two memories and the link from one to the other.
fn between<'a>(
    scan: &Scan<'_>,
    edge: &Association,
    source: &'a Memory,
    target: &'a Memory,
) -> Option<Found<'a>> {
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
        (Relation::Updates, LinkedBy::Auto) if scan.wants(FindingKind::NearDuplicate) => {
            let comparable = scan.is_comparable(source) && scan.is_comparable(target);
            let same_type = source.edition.class.memory_type == target.edition.class.memory_type;
            (comparable && same_type).then(|| near_duplicate(edge.weight, source, target)).flatten()
        }
        _ => None,
    }
}

fn contradiction<'a>(source: &'a Memory, target: &'a Memory) -> Found<'a> {
    let keep = |kept: &Memory, other: &Memory| {
        Deed::new(ProposedAct::Supersede, &[kept, other], "it was chosen of two that contradict each other")
    };
    Found {
        kind: FindingKind::Contradiction,
        memories: vec![source, target],
        why: format!("{} is said to contradict {}", source.label(), target.label()),
        advice: Some("choose the one that is true".to_owned()),
        deeds: vec![keep(source, target), keep(target, source)],
    }
}

fn near_duplicate<'a>(weight: Weight, source: &'a Memory, target: &'a Memory) -> Option<Found<'a>> {
    let (one, other) = (&source.edition.text.content, &target.edition.text.content);
    let likeness = twins::likeness(one, other);
    // What says just the same was told when it was read.
    if matches!(likeness, Likeness::Apart | Likeness::Same) {
        return None;
    }
    let (newer, older) = match began(source) >= began(target) {
        true => (source, target),
        false => (target, source),
    };
    let sure = twins::same_names(one, other) && (likeness == Likeness::Alike || weight.get() >= SAME);
    let deed = Deed {
        weight: Some(weight),
        ..Deed::new(ProposedAct::Supersede, &[newer, older], "it says nearly the same and is newer")
    };
    let proposed = sure && !older.standing.pinned;
    let (new, old) = (name(newer), name(older));
    let both = format!("where both hold, `tulving dissociate {} {}`", name(source), name(target));
    let advice = match proposed {
        true => both,
        false => format!(
            "where the newer one replaces the other, `tulving associate {new} {old} --relation updates`; {both}"
        ),
    };
    Some(Found {
        kind: FindingKind::NearDuplicate,
        memories: vec![older, newer],
        why: format!("they are {:.2} alike", weight.get()),
        advice: Some(advice),
        deeds: proposed.then_some(deed).into_iter().collect(),
    })
}

/// What a memory is called on a command line, where `#` would begin a comment.
fn name(memory: &Memory) -> String {
    memory.label().replace('#', "")
}

fn began(memory: &Memory) -> (crate::time::Timestamp, MemoryId) {
    (memory.usage.created_at, memory.id)
}

/// Says where several memories update one of the page and none of them another.
fn forks(
    scan: &Scan<'_>,
    page: &[Memory],
    edges: &[Association],
    hear: &mut Hear<'_>,
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
        let mut newer = scan.parts.store.memories(&scan.caller.viewer, &sources)?;
        newer.retain(|one| {
            one.space == scan.caller.space && scan.is_alive(one) && one.superseded_by.is_none()
        });
        if newer.len() < 2 {
            continue;
        }
        let names: Vec<String> = newer.iter().map(Memory::label).collect();
        let found = Found {
            kind: FindingKind::Fork,
            memories: std::iter::once(memory).chain(&newer).collect(),
            why: format!("{} each update {}, and none of them another", names.join(" and "), memory.label()),
            advice: Some(
                "say which of them holds with `tulving associate NEWER OLDER --relation updates`".to_owned(),
            ),
            deeds: Vec::new(),
        };
        if hear(&found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
