//! Rewrites files that may still contain erased data, and decides when to do so.

use std::time::Instant;

use tulving_core::ports::Upkeep;
use tulving_store::{FoldOutcome, SearchIndex};

use super::MaintenanceTiming;
use super::failures::LoggedFailures;

/// After a rewrite, no rewrite begins for this many times its duration, because a rewrite blocks writers.
const REST: u32 = 10;

/// Erased data that may still be in files.
pub(super) struct ErasedData {
    pace: MaintenanceTiming,
    /// The time at which such data was first noticed; `None` if there is none.
    since: Option<Instant>,
    /// The earliest time of the next rewrite.
    not_before: Instant,
}

impl ErasedData {
    pub(super) fn new(pace: MaintenanceTiming) -> Self {
        Self { pace, since: None, not_before: Instant::now() }
    }

    /// Checks whether files may contain erased data.
    pub(super) fn look(&mut self, store: &dyn Upkeep) {
        if self.since.is_none() && store.erased_lingers().unwrap_or(false) {
            self.since = Some(Instant::now());
        }
    }

    /// Returns the time to rewrite the files if there have been no calls since `quiet_since`; `None` if no rewrite is
    /// needed.
    pub(super) fn due(&self, quiet_since: Instant) -> Option<Instant> {
        self.since.map(|_| (quiet_since + self.pace.calm).max(self.not_before))
    }

    pub(super) fn is_overdue(&self) -> bool {
        let now = Instant::now();
        self.since.is_some_and(|since| now >= (since + self.pace.patience).max(self.not_before))
    }

    /// Rewrites the files. If this fails, or other processes still read the old files, tries again after the same
    /// pause.
    pub(super) fn rewrite(&mut self, store: &dyn Upkeep, index: &SearchIndex, troubles: &mut LoggedFailures) {
        let began = Instant::now();
        let scrubbed = store.scrub().map_err(|error| error.code());
        let rewritten = troubles.note("erased data is still in the database", scrubbed).is_some();
        let purged = troubles.note("erased data is still in the index", index.purge());
        let purged = matches!(
            purged,
            Some(FoldOutcome::NoNeed | FoldOutcome::Done { left: 0, .. } | FoldOutcome::Unwritable(_))
        );
        let now = Instant::now();
        self.not_before = now + self.pace.apart.max((now - began) * REST);
        self.since = (!rewritten || !purged).then_some(now);
    }
}
