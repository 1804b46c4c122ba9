//! Reciprocal rank fusion: the sum of 1/(60 + rank) over the lanes, exactly as the spacebot vocabulary promises.

use std::collections::{BTreeMap, HashSet};

use crate::answer::{Lane, LaneMark, Part, PartName};
use crate::id::MemoryId;

/// The constant of the promise.
const K: f64 = 60.0;

/// The memories that one lane found, best first, each with the lane's own score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranking {
    /// Which lane.
    pub(crate) lane: Lane,
    /// What it found.
    pub(crate) memories: Vec<(MemoryId, f64)>,
}

impl Ranking {
    /// Orders what a lane found: best first, each memory once, by its best score.
    pub(crate) fn of(lane: Lane, found: impl IntoIterator<Item = (MemoryId, f64)>) -> Self {
        let mut memories: Vec<(MemoryId, f64)> = found.into_iter().collect();
        memories.sort_unstable_by(|a, b| super::descending((a.1, a.0), (b.1, b.0)));
        let mut known = HashSet::with_capacity(memories.len());
        memories.retain(|(memory, _)| known.insert(*memory));
        Self { lane, memories }
    }

    /// Each memory with its rank from 1.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (MemoryId, LaneMark)> {
        let ranked = (1..).zip(&self.memories);
        ranked.map(|(rank, (memory, raw))| (*memory, LaneMark { lane: self.lane, rank, raw: *raw }))
    }
}

/// A memory with its fused score, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fused {
    /// The memory.
    pub(crate) memory: MemoryId,
    /// Its place in each lane that found it, in the order of the lanes.
    pub(crate) marks: Vec<LaneMark>,
    /// What each of these places is worth.
    pub(crate) parts: Vec<Part>,
}

/// Fuses lanes. The order in which they are given does not matter.
pub(crate) fn fuse(rankings: &[Ranking]) -> Vec<Fused> {
    let mut lanes: Vec<&Ranking> = rankings.iter().collect();
    lanes.sort_by_key(|ranking| ranking.lane);
    let mut marks: BTreeMap<MemoryId, Vec<LaneMark>> = BTreeMap::new();
    for (memory, mark) in lanes.into_iter().flat_map(Ranking::marks) {
        marks.entry(memory).or_default().push(mark);
    }
    let mut fused: Vec<Fused> = marks
        .into_iter()
        .map(|(memory, marks)| {
            let worth = |mark: &LaneMark| Part::new(PartName::of(mark.lane), worth(mark.rank), 1.0);
            Fused { memory, parts: marks.iter().map(worth).collect(), marks }
        })
        .collect();
    fused.sort_by(|a, b| {
        let score = |fused: &Fused| super::recipe::sum(&fused.parts);
        super::descending((score(a), a.memory), (score(b), b.memory))
    });
    fused
}

/// What a rank is worth.
fn worth(rank: u32) -> f64 {
    1.0 / (K + f64::from(rank))
}

/// The most that so many lanes can give.
pub(crate) fn most(lanes: usize) -> f64 {
    (0..lanes).map(|_| worth(1)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(n: u8) -> MemoryId {
        MemoryId::from_bytes([n; 16])
    }

    fn ranking(lane: Lane, ids: &[u8]) -> Ranking {
        let falling = ids.iter().enumerate().map(|(at, n)| (id(*n), 1.0 / (1.0 + at as f64)));
        Ranking::of(lane, falling)
    }

    #[test]
    fn a_score_is_the_sum_over_the_lanes() {
        let fused = fuse(&[
            ranking(Lane::Vector, &[1, 2]),
            ranking(Lane::Keyword, &[2, 3]),
            ranking(Lane::Graph, &[2]),
        ]);
        let first = &fused[0];
        assert_eq!(first.memory, id(2));
        assert_eq!(super::super::recipe::sum(&first.parts), 1.0 / 61.0 + 1.0 / 62.0 + 1.0 / 61.0);
        assert_eq!(fused.len(), 3);
    }

    #[test]
    fn a_memory_found_twice_in_a_lane_counts_once_by_its_best() {
        let ranking = Ranking::of(Lane::Keyword, [(id(1), 0.2), (id(2), 0.5), (id(1), 0.9)]);
        assert_eq!(ranking.memories, [(id(1), 0.9), (id(2), 0.5)]);
    }

    proptest! {
        #[test]
        fn the_order_of_the_lanes_does_not_matter(
            a in proptest::collection::vec(0u8..20, 0..12),
            b in proptest::collection::vec(0u8..20, 0..12),
        ) {
            let (a, b) = (ranking(Lane::Keyword, &a), ranking(Lane::Vector, &b));
            prop_assert_eq!(fuse(&[a.clone(), b.clone()]), fuse(&[b, a]));
        }
    }
}
