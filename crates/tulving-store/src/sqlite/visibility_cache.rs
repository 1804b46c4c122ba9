//! A cache of what each viewer may see, valid until the next write to the store. Memberships change rarely, and every
//! recall needs the [`VisibilityScope`] of its viewer.

use std::sync::{Mutex, PoisonError};

use tulving_core::model::search::VisibilityScope;
use tulving_core::model::space::Viewer;

/// Maximum number of cached viewers.
const MOST: usize = 64;

/// The visibility of each viewer at one value of the store's change counter.
#[derive(Default)]
pub(super) struct SightCache(Mutex<CachedSights>);

#[derive(Default)]
struct CachedSights {
    change_counter: u64,
    visibilities: Vec<(Viewer, VisibilityScope)>,
}

impl SightCache {
    /// The viewer's visibility, if it was read since the last write to the store.
    pub(super) fn known(&self, change_counter: u64, viewer: &Viewer) -> Option<VisibilityScope> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept
            .visibilities
            .iter()
            .filter(|_| kept.change_counter == change_counter)
            .find(|(of, _)| of == viewer);
        known.map(|(_, visibility)| visibility.clone())
    }

    /// Caches a visibility that was read after the change counter.
    pub(super) fn keep(&self, change_counter: u64, viewer: &Viewer, visibility: &VisibilityScope) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.change_counter != change_counter || kept.visibilities.len() >= MOST {
            kept.visibilities.clear();
        }
        kept.change_counter = change_counter;
        kept.visibilities.push((viewer.clone(), visibility.clone()));
    }
}
