//! Follows the associations of a memory over several hops, as far as the caller may see them.

use std::collections::{HashMap, HashSet};

use crate::model::answer::RelatedMemory;
use crate::model::association::Association;
use crate::model::error::{Error, Field};
use crate::model::id::{MemoryId, MemoryRef};
use crate::model::limits;
use crate::model::request::Caller;
use crate::verbs::access::{self, Ports};
use crate::verbs::read;
use crate::verbs::succession::{self, PointInTime};

/// Returns the memories within `depth` hops, until their contents fill an answer. Nearer memories come first; at the
/// same distance, memories with stronger links come first. Paths through a memory that the caller may not see are not
/// followed.
pub(crate) fn related(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    depth: usize,
) -> Result<Vec<RelatedMemory>, Error> {
    let depth = read::bounded(Field::Depth, depth, limits::DEPTH)?;
    let start = access::find(ports, caller, which)?;
    let mut seen = HashSet::from([start.id]);
    let mut frontier = vec![start.id];
    let mut reached: Vec<(usize, MemoryId, Vec<Association>)> = Vec::new();
    for distance in 1..=depth {
        let edges = ports.store.associations(&caller.viewer, &frontier)?;
        let inside: HashSet<MemoryId> = frontier.drain(..).collect();
        let mut places: HashMap<MemoryId, usize> = HashMap::new();
        for edge in edges {
            let far = if inside.contains(&edge.source) { edge.target } else { edge.source };
            if let Some(place) = places.get(&far) {
                reached[*place].2.push(edge);
            } else if reached.len() < limits::RELATED && seen.insert(far) {
                places.insert(far, reached.len());
                reached.push((distance, far, vec![edge]));
                frontier.push(far);
            }
        }
        if frontier.is_empty() {
            break;
        }
    }
    let ids: Vec<MemoryId> = reached.iter().map(|(_, id, _)| *id).collect();
    let mut memories = read::nearest(ports, caller, &ids)?;
    succession::settle(ports, caller, &mut memories, PointInTime::Now(ports.clock.now()))?;
    let mut by_id: HashMap<MemoryId, _> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
    let relatives = reached.into_iter().filter_map(|(distance, id, via)| {
        by_id.remove(&id).map(|memory| RelatedMemory { memory, distance, via })
    });
    Ok(relatives.collect())
}
