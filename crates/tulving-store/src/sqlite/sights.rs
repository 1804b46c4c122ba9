//! A cache of viewers' sights, valid until anything is written: memberships change rarely, and every
//! recall needs one.

use std::sync::{Mutex, PoisonError};

use tulving_core::model::search::Sight;
use tulving_core::model::space::Viewer;

/// The most viewers that are remembered.
const MOST: usize = 64;

/// Sights at one pulse of the store.
#[derive(Default)]
pub(super) struct SightCache(Mutex<CachedSights>);

#[derive(Default)]
struct CachedSights {
    change_counter: u64,
    sights: Vec<(Viewer, Sight)>,
}

impl SightCache {
    /// The viewer's sight, if it was read since the last write to the store.
    pub(super) fn known(&self, change_counter: u64, viewer: &Viewer) -> Option<Sight> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            kept.sights.iter().filter(|_| kept.change_counter == change_counter).find(|(of, _)| of == viewer);
        known.map(|(_, sight)| sight.clone())
    }

    /// Keeps a sight that was read after the pulse.
    pub(super) fn keep(&self, change_counter: u64, viewer: &Viewer, sight: &Sight) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.change_counter != change_counter || kept.sights.len() >= MOST {
            kept.sights.clear();
        }
        kept.change_counter = change_counter;
        kept.sights.push((viewer.clone(), sight.clone()));
    }
}
