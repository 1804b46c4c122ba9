//! Memories similar to a new one, as a receipt names them.

use std::collections::HashSet;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Receipt, SaveOutcome};
use crate::model::id::{MemoryId, MemoryNumber, MemoryRef};

/// Maximum number of pairs that are named on one line.
const NAMED: usize = 20;

/// A memory that states the same thing as a new one, with another value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PossibleUpdate {
    /// Its id.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<MemoryNumber>,
    /// The beginning of its content, on one line.
    pub preview: String,
    /// The value that it states.
    pub old: String,
    /// The value that the new one states.
    pub new: String,
}

/// The memories of one save that resemble other memories, collected for the whole save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NearPairs {
    /// Pairs of a new memory and an existing memory that it may update.
    pub updates: Vec<(MemoryRef, MemoryRef)>,
    /// Pairs of a new memory and another memory that says nearly the same.
    pub duplicates: Vec<(MemoryRef, MemoryRef)>,
}

impl NearPairs {
    /// Collects the new memories that resemble other memories; `None` if there are none. Memories of the same call are
    /// never updates of each other: if their values differ, they are different items of a list.
    pub fn of(receipts: &[Receipt]) -> Option<Self> {
        let here: HashSet<MemoryId> = receipts.iter().map(|receipt| receipt.memory.id).collect();
        let mut pairs = Self::default();
        for receipt in receipts.iter().filter(|receipt| receipt.outcome == SaveOutcome::Created) {
            let own = receipt.memory.reference();
            let updates = receipt.possible_updates.iter().filter(|other| !here.contains(&other.id));
            let updates: Vec<_> = updates.map(|other| (own, MemoryRef::of(other.number, other.id))).collect();
            if updates.is_empty() {
                let same = receipt.near.iter().find(|near| near.duplicate);
                pairs.duplicates.extend(same.map(|near| (own, MemoryRef::of(near.number, near.id))));
            }
            pairs.updates.extend(updates);
        }
        (!pairs.updates.is_empty() || !pairs.duplicates.is_empty()).then_some(pairs)
    }
}

/// Shows the pairs by number, on one line.
impl fmt::Display for NearPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |pairs: &[(MemoryRef, MemoryRef)], link: &str| {
            let named = pairs.iter().take(NAMED).map(|(new, old)| format!("{new} {link} {old}"));
            let more = pairs.len().checked_sub(NAMED).filter(|more| *more > 0);
            named.chain(more.map(|more| format!("{more} more"))).collect::<Vec<_>>().join(", ")
        };
        let updates =
            (!self.updates.is_empty()).then(|| format!("possible updates: {}", list(&self.updates, "of")));
        let same = (!self.duplicates.is_empty())
            .then(|| format!("nearly the same: {}", list(&self.duplicates, "as")));
        f.write_str(&[updates, same].into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}
