//! What is wrong with memories that are linked: near-duplicates, contradictions, repetitions, forks.
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
use crate::preview;
use crate::rank::twins::{self, Likeness};
use crate::score::Weight;
use crate::text::secrets;
use crate::vocabulary::{FindingKind, LinkedBy, MemoryType, ProposedAct, Relation};

/// How many links are looked at at a time, with the memories that they lead to.
const BESIDE: usize = 32;
/// From this similarity on, two memories say the same though their words differ.
const SAME: f64 = 0.95;
/// How often something must have been observed.
const OBSERVED: usize = 3;

/// Says what is wrong with the links of a page. Each is looked at on the page of the memory that it begins at, and forks on
/// that of the memory they begin at.
pub(super) fn look_at(
    scan: &Scan<'_>,
    page: &[Memory],
    hear: &mut Hear<'_>,
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
    let edges = scan.parts.store.associations(&scan.caller.viewer, &ids)?;
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
    edges: &[Association],
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
        (Relation::Updates, LinkedBy::Auto) => {
            let comparable = scan.is_comparable(source) && scan.is_comparable(target);
            let same_type = source.edition.class.memory_type == target.edition.class.memory_type;
            let found = (comparable && same_type).then(|| near(edge.weight, source, target)).flatten();
            found.filter(|found| scan.wants(found.kind) && !is_said(found.kind, edges, source, target))
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

/// Whether it is said already that two memories contradict each other.
fn is_said(kind: FindingKind, edges: &[Association], one: &Memory, other: &Memory) -> bool {
    let between = |edge: &Association| {
        (edge.source, edge.target) == (one.id, other.id) || (edge.source, edge.target) == (other.id, one.id)
    };
    kind == FindingKind::Differs
        && edges.iter().any(|edge| edge.relation == Relation::Contradicts && between(edge))
}

/// What two memories that are nearly alike have to do with each other.
fn near<'a>(weight: Weight, source: &'a Memory, target: &'a Memory) -> Option<Found<'a>> {
    let (newer, older) = match began(source) >= began(target) {
        true => (source, target),
        false => (target, source),
    };
    let both = format!("where both hold, `tulving dissociate {} {}`", name(source), name(target));
    match twins::likeness(&source.edition.text.content, &target.edition.text.content) {
        // What says just the same was told when it was read.
        Likeness::Same => None,
        Likeness::Apart => Some(differs(weight, newer, older, both)),
        likeness => Some(near_duplicate(weight, newer, older, likeness, both)),
    }
}

fn differs<'a>(weight: Weight, newer: &'a Memory, older: &'a Memory, both: String) -> Found<'a> {
    let updates = Deed {
        weight: Some(weight),
        ..Deed::new(ProposedAct::Supersede, &[newer, older], "it says something else by now")
    };
    let contradicts = Deed::new(ProposedAct::Contradict, &[newer, older], "they cannot both hold");
    let told = |memory: &Memory| {
        let words = twins::telling_words(&secrets::redacted(&memory.edition.text.content));
        preview::short(&words.join(" "))
    };
    let (new, old) = (told(newer), told(older));
    Found {
        kind: FindingKind::Differs,
        memories: vec![older, newer],
        why: format!("they are {:.2} alike, and one says `{old}` where the other says `{new}`", weight.get()),
        advice: Some(both),
        deeds: (!older.standing.pinned).then_some(updates).into_iter().chain([contradicts]).collect(),
    }
}

fn near_duplicate<'a>(
    weight: Weight,
    newer: &'a Memory,
    older: &'a Memory,
    likeness: Likeness,
    both: String,
) -> Found<'a> {
    let names = twins::same_names(&newer.edition.text.content, &older.edition.text.content);
    let sure = names && (likeness == Likeness::Alike || weight.get() >= SAME);
    let deed = Deed {
        weight: Some(weight),
        ..Deed::new(ProposedAct::Supersede, &[newer, older], "it says nearly the same and is newer")
    };
    let proposed = sure && !older.standing.pinned;
    let (new, old) = (name(newer), name(older));
    let advice = match proposed {
        true => both,
        false => format!(
            "where the newer one replaces the other, `tulving associate {new} {old} --relation updates`; {both}"
        ),
    };
    Found {
        kind: FindingKind::NearDuplicate,
        memories: vec![older, newer],
        why: format!("they are {:.2} alike", weight.get()),
        advice: Some(advice),
        deeds: proposed.then_some(deed).into_iter().collect(),
    }
}

/// Says where a page holds the newest of several observations that say nearly the same.
fn repeated(
    scan: &Scan<'_>,
    page: &[Memory],
    edges: &[Association],
    hear: &mut Hear<'_>,
) -> Result<ControlFlow<()>, Error> {
    if !scan.wants(FindingKind::Repeated) {
        return Ok(ControlFlow::Continue(()));
    }
    let observed = |memory: &Memory| {
        memory.edition.class.memory_type == MemoryType::Observation
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
        let mut same = scan.parts.store.memories(&scan.caller.viewer, &ends)?;
        same.retain(|one| observed(one) && is_repeated(memory, one));
        // The newest of them tells.
        if same.len() + 1 < OBSERVED || same.iter().any(|one| began(one) > began(memory)) {
            continue;
        }
        let of: Vec<&Memory> = std::iter::once(memory).chain(&same).collect();
        let found = Found {
            kind: FindingKind::Repeated,
            why: format!("it was observed {} times", of.len()),
            advice: None,
            deeds: vec![Deed::new(ProposedAct::Promote, &of, "it was observed several times")],
            memories: of,
        };
        if hear(&found).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn is_repeated(one: &Memory, other: &Memory) -> bool {
    let (here, there) = (&one.edition.text.content, &other.edition.text.content);
    one.edition.boundary == other.edition.boundary
        && !other.standing.pinned
        && twins::likeness(here, there) != Likeness::Apart
        && twins::same_names(here, there)
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
