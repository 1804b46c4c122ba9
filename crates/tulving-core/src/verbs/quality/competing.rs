//! Finds memories that state different values for the same thing: the demo is on Thursday, the demo is on Friday.
//!
//! The memories are compared by subject, whether or not a save linked them. Once a caller links two such memories,
//! their relation is stated and they are no longer reported.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tulving_text::classify::competing::ConflictingValues;
use tulving_text::secrets;

use super::links::name;
use super::scan::{FindingCallback, QualityScan};
use super::{ProposedChange, ScanFinding};
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::preview;
use crate::model::vocabulary::{FindingKind, LinkedBy, ProposedAct};
use crate::rank::ties::{self, ConflictCandidate};

/// Maximum number of memories about the same thing with which a memory is compared. The latest memories are used.
const COMPARED: usize = 16;

/// The memories read so far, by subject.
#[derive(Default)]
pub(super) struct MemoriesBySubject(HashMap<u64, Vec<MemoryId>>);

impl MemoriesBySubject {
    /// Adds a memory, and returns the earlier memories about the same thing.
    fn note(&mut self, contender: &ConflictCandidate<'_>) -> Vec<MemoryId> {
        let mut others = Vec::new();
        for key in contender.keys() {
            let about = self.0.entry(*key).or_default();
            others.extend(about.iter().rev().take(COMPARED));
            about.push(contender.memory.id);
        }
        others.sort_unstable();
        others.dedup();
        others
    }
}

/// Reports a memory that states another value than a memory read before.
pub(super) fn look_at(
    scan: &QualityScan<'_>,
    subjects: &mut MemoriesBySubject,
    memory: &Memory,
    hear: &mut FindingCallback<'_>,
) -> Result<ControlFlow<()>, Error> {
    let wanted = scan.wants(FindingKind::CompetingValues) && scan.is_comparable(memory);
    let Some(contender) = ConflictCandidate::of(memory).filter(|_| wanted) else {
        return Ok(ControlFlow::Continue(()));
    };
    let others = subjects.note(&contender);
    if others.is_empty() {
        return Ok(ControlFlow::Continue(()));
    }
    // Each value is reported with the value before it, so three different closing times give two findings.
    let others = scan.ports.store.memories(&scan.caller.viewer, &others)?;
    let alike = others.iter().filter(|other| other.fields.boundary == memory.fields.boundary);
    let rivals = alike.filter_map(|other| Some((other, ConflictCandidate::of(other)?.rivalry(&contender)?)));
    let Some((other, rivalry)) = rivals.max_by_key(|(other, _)| ties::said_at(other)) else {
        return Ok(ControlFlow::Continue(()));
    };
    if is_settled(scan, other, memory)? {
        return Ok(ControlFlow::Continue(()));
    }
    Ok(hear(&found(scan, other, memory, rivalry)))
}

/// Returns true if a caller has linked the two memories.
fn is_settled(scan: &QualityScan<'_>, one: &Memory, other: &Memory) -> Result<bool, Error> {
    let edges = scan.ports.store.associations(&scan.caller.viewer, &[one.id])?;
    Ok(edges.iter().any(|edge| {
        let ends = [edge.source, edge.target];
        edge.linked_by == LinkedBy::Caller && ends.contains(&one.id) && ends.contains(&other.id)
    }))
}

fn found<'a>(
    scan: &QualityScan<'_>,
    one: &'a Memory,
    other: &'a Memory,
    rivalry: ConflictingValues,
) -> ScanFinding<'a> {
    let ConflictingValues { one: here, other: there } = rivalry;
    let (older, newer, old, new) = match ties::said_at(one) <= ties::said_at(other) {
        true => (one, other, here, there),
        false => (other, one, there, here),
    };
    let described = |value: &str| preview::short(&secrets::redacted(value));
    let updates =
        ProposedChange::new(ProposedAct::Supersede, &[newer, older], "it states another value and is newer");
    let contradicts =
        ProposedChange::new(ProposedAct::Contradict, &[newer, older], "they cannot both be true");
    ScanFinding {
        kind: FindingKind::CompetingValues,
        memories: vec![older, newer],
        why: format!(
            "{} says `{}`, and {} says `{}` since {}",
            older.label(),
            described(&old),
            newer.label(),
            described(&new),
            scan.caller.zone.date(ties::said_at(newer).0)
        ),
        advice: Some(format!(
            "if both are true, `tulving associate {} {} --relation related_to`",
            name(newer),
            name(older)
        )),
        actions: (!older.status.pinned).then_some(updates).into_iter().chain([contradicts]).collect(),
    }
}
