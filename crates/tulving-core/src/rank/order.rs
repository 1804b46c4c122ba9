//! Compares two memories in a sort order. The store sorts its own lists; this file sorts memories that are already loaded.

use std::cmp::{Ordering, Reverse};

use super::descending;
use crate::model::memory::Memory;
use crate::model::request::Sort;
use crate::model::time::Timestamp;
use crate::rank::decay;

/// Compares two memories by a sort order, as of the time `now`.
pub(crate) fn compare(a: &Memory, b: &Memory, sort: Sort, now: Timestamp) -> Ordering {
    let (used, other) = (&a.usage, &b.usage);
    match sort {
        Sort::Newest => (other.created_at, b.id).cmp(&(used.created_at, a.id)),
        Sort::Oldest => (used.created_at, a.id).cmp(&(other.created_at, b.id)),
        Sort::Updated => other.updated_at.cmp(&used.updated_at),
        Sort::Accessed => other.accessed_at.cmp(&used.accessed_at),
        Sort::MostAccessed => other.access_count.cmp(&used.access_count),
        Sort::Importance => {
            descending((decay::importance_at(a, now), ()), (decay::importance_at(b, now), ()))
        }
        Sort::Happened => (b.happened_at(), b.id).cmp(&(a.happened_at(), a.id)),
        Sort::Agenda => agenda(a, b),
    }
}

fn agenda(a: &Memory, b: &Memory) -> Ordering {
    // An open memory has no completion time. A memory without a due date comes after memories with a due date.
    let stands = |memory: &Memory| {
        let done = memory.status.done_at;
        let due = memory.due_at();
        (done.is_some(), Reverse(done), due.is_none(), due)
    };
    let importance = |memory: &Memory| memory.fields.class.importance.get();
    stands(a)
        .cmp(&stands(b))
        .then_with(|| importance(b).total_cmp(&importance(a)))
        .then_with(|| (b.usage.created_at, b.id).cmp(&(a.usage.created_at, a.id)))
}
