//! What was erased and may still be in files: when the files are rewritten, and rewriting them.

use std::time::Instant;

use tulving_store::{Folded, SearchIndex, SqliteStore};

use super::Pace;
use super::troubles::Troubles;

/// After files were rewritten, they are not for so many times as long as that took: it holds writers up.
const REST: u32 = 10;

/// What was erased and may still be in files.
pub(super) struct Erased {
    pace: Pace,
    /// Since when there is any.
    since: Option<Instant>,
    /// Until then the files are left alone.
    not_before: Instant,
}

impl Erased {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, since: None, not_before: Instant::now() }
    }

    /// Looks whether there is any.
    pub(super) fn look(&mut self, store: &SqliteStore) {
        if self.since.is_none() && store.erased_lingers().unwrap_or(false) {
            self.since = Some(Instant::now());
        }
    }

    /// When the files are rewritten, where calls have been quiet since then; `None` where they need not be.
    pub(super) fn due(&self, quiet_since: Instant) -> Option<Instant> {
        self.since.map(|_| (quiet_since + self.pace.calm).max(self.not_before))
    }

    pub(super) fn is_overdue(&self) -> bool {
        let now = Instant::now();
        self.since.is_some_and(|since| now >= (since + self.pace.patience).max(self.not_before))
    }

    /// Rewrites the files. Where that fails or others still read them, it is tried again after the same rest.
    pub(super) fn rewrite(&mut self, store: &SqliteStore, index: &SearchIndex, troubles: &mut Troubles) {
        let began = Instant::now();
        let scrubbed = store.scrub().map_err(|error| error.code());
        let rewritten = troubles.note("what was erased is still in the database", scrubbed).is_some();
        let purged = troubles.note("what was erased is still in the index", index.purge());
        let purged =
            matches!(purged, Some(Folded::NoNeed | Folded::Done { left: 0, .. } | Folded::Unwritable(_)));
        let now = Instant::now();
        self.not_before = now + self.pace.apart.max((now - began) * REST);
        self.since = (!rewritten || !purged).then_some(now);
    }
}
