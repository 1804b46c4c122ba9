//! Reciprocal rank fusion: the sum of 1/(60 + rank) over the lanes, exactly as the spacebot dialect promises.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashSet};

use crate::model::answer::{Lane, LaneMark, PartName, ScorePart};
use crate::model::id::MemoryId;

/// The constant of the formula.
const K: f64 = 60.0;

/// The memories that one lane found, best first, each with the score of the lane.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LaneRanking {
    /// The lane.
    pub(crate) lane: Lane,
    /// The memories with their scores.
    pub(crate) memories: Vec<(MemoryId, f64)>,
}

impl LaneRanking {
    /// Creates a ranking from the results of a lane, best first. A memory that was found several times appears once, with
    /// its best score.
    pub(crate) fn of(lane: Lane, found: impl IntoIterator<Item = (MemoryId, f64)>) -> Self {
        let mut memories: Vec<(MemoryId, f64)> = found.into_iter().collect();
        memories.sort_unstable_by(|a, b| super::descending((a.1, a.0), (b.1, b.0)));
        let mut known = HashSet::with_capacity(memories.len());
        memories.retain(|(memory, _)| known.insert(*memory));
        Self { lane, memories }
    }

    /// Sorts the memories again: preferred memories first, then by the score of the lane, then by importance.
    pub(crate) fn prefer(&mut self, place: impl Fn(&MemoryId) -> (bool, f64)) {
        self.memories.sort_by_cached_key(|(memory, score)| {
            let (preferred, importance) = place(memory);
            (Reverse((preferred, SortableFloat(*score), SortableFloat(importance))), *memory)
        });
    }

    /// Returns each memory with its rank. The first rank is 1.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (MemoryId, LaneMark)> {
        let ranked = (1..).zip(&self.memories);
        ranked.map(|(rank, (memory, raw))| (*memory, LaneMark { lane: self.lane, rank, raw: *raw }))
    }
}

/// A memory with the parts of its fused score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FusedMemory {
    /// The memory.
    pub(crate) memory: MemoryId,
    /// The rank of the memory in each lane that found it, in the order of the lanes.
    pub(crate) marks: Vec<LaneMark>,
    /// The contribution of each rank to the score.
    pub(crate) parts: Vec<ScorePart>,
}

/// Fuses the rankings of several lanes. The order of the lanes does not matter.
pub(crate) fn fuse(rankings: &[LaneRanking]) -> Vec<FusedMemory> {
    let mut lanes: Vec<&LaneRanking> = rankings.iter().collect();
    lanes.sort_by_key(|ranking| ranking.lane);
    let mut marks: BTreeMap<MemoryId, Vec<LaneMark>> = BTreeMap::new();
    for (memory, mark) in lanes.into_iter().flat_map(LaneRanking::marks) {
        marks.entry(memory).or_default().push(mark);
    }
    let mut fused: Vec<FusedMemory> = marks
        .into_iter()
        .map(|(memory, marks)| {
            let worth = |mark: &LaneMark| ScorePart::new(PartName::of(mark.lane), worth(mark.rank), 1.0);
            FusedMemory { memory, parts: marks.iter().map(worth).collect(), marks }
        })
        .collect();
    fused.sort_by(|a, b| {
        let score = |fused: &FusedMemory| super::scoring::sum(&fused.parts);
        super::descending((score(a), a.memory), (score(b), b.memory))
    });
    fused
}

/// Orders memories with equal scores by importance.
pub(crate) fn settle_ties(fused: &mut [FusedMemory], importance: impl Fn(&MemoryId) -> f64) {
    fused.sort_by_cached_key(|fused| {
        let score = super::scoring::sum(&fused.parts);
        (Reverse((SortableFloat(score), SortableFloat(importance(&fused.memory)))), fused.memory)
    });
}

/// A floating-point number that can be sorted.
#[derive(PartialEq)]
struct SortableFloat(f64);

impl Eq for SortableFloat {}

impl PartialOrd for SortableFloat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SortableFloat {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Returns the contribution of a rank to the score.
fn worth(rank: u32) -> f64 {
    1.0 / (K + f64::from(rank))
}

/// Returns the maximum score that this number of lanes can give.
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

    fn ranking(lane: Lane, ids: &[u8]) -> LaneRanking {
        let falling = ids.iter().enumerate().map(|(at, n)| (id(*n), 1.0 / (1.0 + at as f64)));
        LaneRanking::of(lane, falling)
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
        assert_eq!(super::super::scoring::sum(&first.parts), 1.0 / 61.0 + 1.0 / 62.0 + 1.0 / 61.0);
        assert_eq!(fused.len(), 3);
    }

    #[test]
    fn a_memory_found_twice_in_a_lane_counts_once_by_its_best() {
        let ranking = LaneRanking::of(Lane::Keyword, [(id(1), 0.2), (id(2), 0.5), (id(1), 0.9)]);
        assert_eq!(ranking.memories, [(id(1), 0.9), (id(2), 0.5)]);
    }

    #[test]
    fn equal_matches_are_ordered_by_importance_and_what_is_preferred_comes_first() {
        let mut ranking =
            LaneRanking::of(Lane::Keyword, [(id(1), 0.5), (id(2), 0.5), (id(3), 0.9), (id(4), 0.1)]);
        ranking.prefer(|memory| (*memory == id(4), if *memory == id(1) { 0.8 } else { 0.3 }));
        let order: Vec<MemoryId> = ranking.memories.iter().map(|(memory, _)| *memory).collect();
        assert_eq!(order, [id(4), id(3), id(1), id(2)]);
        let mut fused = fuse(&[ranking_of_one(Lane::Keyword, 1), ranking_of_one(Lane::Vector, 2)]);
        settle_ties(&mut fused, |memory| if *memory == id(2) { 0.9 } else { 0.1 });
        assert_eq!(fused.iter().map(|fused| fused.memory).collect::<Vec<_>>(), [id(2), id(1)]);
        settle_ties(&mut fused, |_| 0.5);
        assert_eq!(fused[0].memory, id(1), "then by id, so that no order is left to chance");
    }

    fn ranking_of_one(lane: Lane, n: u8) -> LaneRanking {
        ranking(lane, &[n])
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
