//! What viewers see, kept until anything is written: memberships change rarely, and every recall asks.

use std::sync::{Mutex, PoisonError};

use tulving_core::search::Sight;
use tulving_core::space::Viewer;

/// So many viewers are remembered.
const MOST: usize = 64;

/// Sights as of one pulse of the store.
#[derive(Default)]
pub(super) struct Sights(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    pulse: u64,
    sights: Vec<(Viewer, Sight)>,
}

impl Sights {
    /// What the viewer sees, where it was asked for since the store was last written.
    pub(super) fn known(&self, pulse: u64, viewer: &Viewer) -> Option<Sight> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.sights.iter().filter(|_| kept.pulse == pulse).find(|(of, _)| of == viewer);
        known.map(|(_, sight)| sight.clone())
    }

    /// Keeps what was read after the pulse was.
    pub(super) fn keep(&self, pulse: u64, viewer: &Viewer, sight: &Sight) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.pulse != pulse || kept.sights.len() >= MOST {
            kept.sights.clear();
        }
        kept.pulse = pulse;
        kept.sights.push((viewer.clone(), sight.clone()));
    }
}
