//! The graph lane: follows associations from the best hits of the other lanes, at most two hops.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::association::Association;
use crate::model::id::MemoryId;
use crate::model::vocabulary::{LinkedBy, Relation};

/// Maximum number of hops.
pub(crate) const HOPS: usize = 2;
/// Maximum number of hits of each other lane from which the walk begins. The best hits are used.
pub(crate) const SEEDS: usize = 10;
/// Maximum number of memories from which one hop continues.
const FRONTIER: usize = 100;
/// The factor by which each hop after the first reduces the score.
const HOP: f64 = 0.5;

/// Returns the factor of a relation on the score.
fn factor(relation: Relation) -> f64 {
    match relation {
        Relation::Updates => 1.5,
        Relation::CausedBy | Relation::ResultOf => 1.3,
        Relation::RelatedTo => 1.0,
        Relation::PartOf => 0.8,
        Relation::Contradicts => 0.5,
    }
}

/// The factor of an automatic link, whatever its relation: such a link only states that two memories are similar. It counts
/// less than a relation such as `caused_by` (0.65 with the usual weight of 0.5), because that relation was made on
/// purpose.
const AUTOMATIC: f64 = 0.5;

/// A walk in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphWalk {
    scores: BTreeMap<MemoryId, f64>,
    inside: BTreeSet<MemoryId>,
    frontier: BTreeMap<MemoryId, f64>,
}

impl GraphWalk {
    /// Starts a walk from these memories, each with its score.
    pub(crate) fn from(seeds: impl IntoIterator<Item = (MemoryId, f64)>) -> Self {
        let frontier: BTreeMap<MemoryId, f64> = seeds.into_iter().collect();
        Self { scores: BTreeMap::new(), inside: frontier.keys().copied().collect(), frontier }
    }

    /// Returns the memories whose associations the next hop needs.
    pub(crate) fn frontier(&self) -> Vec<MemoryId> {
        self.frontier.keys().copied().collect()
    }

    /// Walks one hop along these associations of the frontier, in both directions. A memory gets the score of its best path.
    pub(crate) fn hop(&mut self, associations: &[Association]) {
        let mut reached: BTreeMap<MemoryId, f64> = BTreeMap::new();
        let first = self.scores.is_empty();
        for edge in associations {
            for (near, far) in [(edge.source, edge.target), (edge.target, edge.source)] {
                let Some(carried) = self.frontier.get(&near) else {
                    continue;
                };
                // A link between two seeds gives both seeds a score from the better seed.
                let own = self.frontier.get(&far).filter(|_| first).copied().unwrap_or(0.0);
                let counts = match edge.linked_by {
                    LinkedBy::Caller => factor(edge.relation),
                    _ => AUTOMATIC,
                };
                let score = carried.max(own) * edge.weight.get() * counts;
                let known = self.scores.entry(far).or_insert(0.0);
                *known = known.max(score);
                if self.inside.contains(&far) {
                    continue;
                }
                let next = reached.entry(far).or_insert(0.0);
                *next = next.max(score * HOP);
            }
        }
        self.inside.extend(reached.keys());
        let mut best: Vec<(MemoryId, f64)> = reached.into_iter().collect();
        best.sort_by(|a, b| super::descending((a.1, a.0), (b.1, b.0)));
        best.truncate(FRONTIER);
        self.frontier = best.into_iter().collect();
    }

    /// Returns the memories that the walk reached, with their scores. A seed is included only if an association leads to the
    /// seed.
    pub(crate) fn scores(self) -> impl Iterator<Item = (MemoryId, f64)> {
        self.scores.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::score::Weight;
    use crate::model::time::Timestamp;

    fn id(n: u8) -> MemoryId {
        MemoryId::from_bytes([n; 16])
    }

    fn edge(source: u8, target: u8, relation: Relation, weight: f64) -> Association {
        Association {
            source: id(source),
            target: id(target),
            relation,
            weight: Weight::new(weight).expect("a weight"),
            linked_by: LinkedBy::Caller,
            created_at: Timestamp::from_micros(0),
        }
    }

    #[test]
    fn an_edge_counts_by_weight_and_relation_and_a_hop_halves() {
        let mut walk = GraphWalk::from([(id(1), 1.0)]);
        walk.hop(&[edge(1, 2, Relation::Updates, 0.8)]);
        walk.hop(&[edge(3, 2, Relation::RelatedTo, 0.5)]);
        let scores: Vec<(MemoryId, f64)> = walk.scores().collect();
        assert_eq!(scores, [(id(2), 0.8 * 1.5), (id(3), 0.8 * 1.5 * 0.5 * 0.5)]);
    }

    #[test]
    fn a_link_that_somebody_made_at_the_best_hit_beats_automatic_ones() {
        let mut walk = GraphWalk::from([(id(1), 1.0), (id(2), 0.5)]);
        let automatic = |source: u8, target: u8| Association {
            linked_by: LinkedBy::Auto,
            ..edge(source, target, Relation::Updates, 0.99)
        };
        walk.hop(&[automatic(1, 3), automatic(2, 4), edge(1, 5, Relation::CausedBy, 0.5)]);
        let mut scores: Vec<(MemoryId, f64)> = walk.scores().collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        let order: Vec<MemoryId> = scores.into_iter().map(|(memory, _)| memory).collect();
        assert_eq!(order, [id(5), id(3), id(4)]);
    }

    #[test]
    fn two_seeds_that_are_linked_find_each_other() {
        let mut walk = GraphWalk::from([(id(1), 1.0), (id(2), 1.0)]);
        walk.hop(&[edge(1, 2, Relation::PartOf, 1.0)]);
        assert_eq!(walk.frontier(), []);
        assert_eq!(walk.scores().collect::<Vec<_>>(), [(id(1), 0.8), (id(2), 0.8)]);
    }
}
