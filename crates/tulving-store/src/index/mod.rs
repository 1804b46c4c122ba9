//! The search index: a base in immutable files, a tail in memory, and one way to score both.
//!
//! The index is derived data. It follows the change log of any store, and can be deleted at any time. An index that is
//! missing, incomplete or made from another store is noticed and rebuilt.
//!
//! The base is a list of [segments](segment) in one [manifest]. The tail is small segments in memory with the changes
//! since the manifest's watermark. The old docs of a changed memory are dead. [`follow`] applies the changes of the
//! store, [`fold`] moves the tail into the base, and [`answer`] searches.

mod answer;
mod build;
mod dead;
mod errors;
mod expand;
#[cfg(test)]
#[path = "../../tests/it/index/fake.rs"]
#[expect(dead_code, reason = "the integration tests use the rest")]
mod fake;
#[cfg(test)]
mod faults;
mod fold;
mod folder;
mod follow;
mod grow;
mod keyword;
mod literal_scan;
mod manifest;
mod quantise;
mod segment;
mod sessions;
mod simd;
mod snapshot;
mod source;
mod status;
mod top;
mod vector;
mod visible;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tulving_core::model::error::IndexError;
use tulving_core::model::id::MemoryId;
use tulving_core::model::search::{SearchQuery, SearchResults, SearchScope, TermUse};
use tulving_core::ports::{Feed, Index, Log};

use self::errors::{DamagedIndexFile, IndexStepError};
use self::fold::FoldEffort;
use self::folder::IndexFolder;
use self::follow::SnapshotBasis;
use self::snapshot::IndexSnapshot;
use self::source::IndexSource;
use self::status::IndexProblems;

pub use self::fold::{FoldOutcome, PendingIndexWork};
pub use self::status::IndexStatus;

/// Maximum number of attempts of a search if it finds damaged files.
const ATTEMPTS: usize = 3;

/// An index of a store.
///
/// Opening the index costs nothing; the first search opens the base. If there is no base, the first search reads the
/// whole store. If the store is large, searches read only the latest changes until [`tend`](Self::tend) has read the
/// rest. Any number of processes may use one folder. If the folder cannot be written, the index is only in memory and
/// [`status`](Self::status) reports it.
pub struct SearchIndex {
    source: Arc<dyn IndexSource>,
    folder: Option<IndexFolder>,
    /// Locked while a thread follows the log or folds.
    state: Mutex<IndexState>,
    /// The snapshot for searches, and the store's change counter at that snapshot.
    current: RwLock<Option<(u64, Arc<IndexSnapshot>)>>,
    notes: Mutex<IndexProblems>,
    /// Number of threads that are folding.
    tending: AtomicUsize,
}

/// The opened data of the index, up to the last change that was applied.
#[derive(Default)]
struct IndexState {
    snapshot: IndexSnapshot,
    /// `None` before the first search.
    basis: Option<SnapshotBasis>,
    /// True if a file was found to be damaged.
    damaged: bool,
}

/// Counts a thread as folding until the guard is dropped.
struct FoldingGuard<'a>(&'a AtomicUsize);

impl Drop for FoldingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SearchIndex {
    /// Opens the index of a store, with its files in `folder`. The folder is created when it is needed.
    pub fn open<S>(store: Arc<S>, folder: &Path) -> Self
    where
        S: Log + Feed + Send + Sync + 'static,
    {
        Self::new(store, Some(IndexFolder::new(folder)))
    }

    /// Opens an index of a store that is only in memory.
    pub fn in_memory<S>(store: Arc<S>) -> Self
    where
        S: Log + Feed + Send + Sync + 'static,
    {
        Self::new(store, None)
    }

    fn new(source: Arc<dyn IndexSource>, folder: Option<IndexFolder>) -> Self {
        Self {
            source,
            folder,
            state: Mutex::default(),
            current: RwLock::default(),
            notes: Mutex::default(),
            tending: AtomicUsize::new(0),
        }
    }

    /// Returns the work that [`tend`](Self::tend) would do. Reads only the manifest and the log.
    pub fn chore(&self) -> Result<PendingIndexWork, IndexError> {
        Ok(self.chore_now()?)
    }

    /// Returns true if [`tend`](Self::tend) has work, as far as this can be determined without reading the store.
    pub fn wants_tending(&self) -> bool {
        self.wants(&self.state(), FoldEffort::Usual)
    }

    /// Folds a long tail into the base. Rebuilds the base if it is missing or damaged, or if its vectors are of an old
    /// model. Searches continue meanwhile, in this process and in others.
    pub fn tend(&self) -> Result<FoldOutcome, IndexError> {
        Ok(self.fold(FoldEffort::Usual)?)
    }

    /// Does the same as [`tend`](Self::tend), however short the tail is.
    pub fn tend_now(&self) -> Result<FoldOutcome, IndexError> {
        Ok(self.fold(FoldEffort::Now)?)
    }

    /// Rewrites the files that still contain erased text. If another process still reads an old file, the file stays
    /// and is counted in [`FoldOutcome::Done`]. A call after that process has switched to the new files removes it.
    pub fn purge(&self) -> Result<FoldOutcome, IndexError> {
        Ok(self.fold(FoldEffort::Thorough)?)
    }

    /// Returns the index of the store's present content.
    fn snapshot(&self) -> Result<Arc<IndexSnapshot>, IndexStepError> {
        let change_counter = self.source.change_counter()?;
        match self.current_at(change_counter) {
            Some(snapshot) => Ok(snapshot),
            None => self.update(&mut self.state()),
        }
    }

    fn current_at(&self, change_counter: u64) -> Option<Arc<IndexSnapshot>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        // A partial index is not reused: another process may have completed it, and that does not change the store's
        // counter.
        let fits = |(of, snapshot): &&(u64, Arc<IndexSnapshot>)| *of == change_counter && !snapshot.partial;
        current.as_ref().filter(fits).map(|(_, snapshot)| Arc::clone(snapshot))
    }

    /// Applies new changes of the store to the state, if there are any.
    fn update(&self, state: &mut IndexState) -> Result<Arc<IndexSnapshot>, IndexStepError> {
        let change_counter = self.source.change_counter()?;
        match self.current_at(change_counter) {
            Some(snapshot) => Ok(snapshot),
            None => self.update_anew(state),
        }
    }

    /// Applies new changes of the store to the state, and lets searches use the result.
    fn update_anew(&self, state: &mut IndexState) -> Result<Arc<IndexSnapshot>, IndexStepError> {
        // The counter is read before the changes, so that the next search notices later writes.
        let change_counter = self.source.change_counter()?;
        if let Err(trouble) = self.follow(state, None) {
            let IndexStepError::Damaged(damaged) = trouble else {
                return Err(trouble);
            };
            self.notice(state, &damaged);
            self.renew(state, None)?;
            self.follow(state, None)?;
        }
        let snapshot = Arc::new(state.snapshot.clone());
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some((change_counter, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// Runs `work` on the index, and repeats it if a file turns out to be damaged.
    fn with<T>(&self, work: impl Fn(&IndexSnapshot) -> Result<T, DamagedIndexFile>) -> Result<T, IndexError> {
        for _ in 1..ATTEMPTS {
            let snapshot = self.snapshot()?;
            match work(&snapshot) {
                Ok(done) => return Ok(done),
                Err(damaged) => self.mend(&damaged)?,
            }
        }
        Ok(work(&*self.snapshot()?).map_err(IndexStepError::from)?)
    }

    /// Rebuilds the index, unless another thread has already replaced the damaged file.
    fn mend(&self, damaged: &DamagedIndexFile) -> Result<(), IndexStepError> {
        let mut state = self.state();
        if state.snapshot.base.iter().any(|part| part.segment.name() == damaged.file) {
            self.notice(&mut state, damaged);
            self.renew(&mut state, None)?;
            self.update_anew(&mut state)?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(|poisoned| {
            // A panic may have left an incomplete state, so the index is opened again.
            let mut state = poisoned.into_inner();
            *state = IndexState::default();
            self.state.clear_poison();
            state
        })
    }

    fn notes(&self) -> IndexProblems {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with_notes(&self, change: impl FnOnce(&mut IndexProblems)) {
        change(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn tending(&self) -> FoldingGuard<'_> {
        self.tending.fetch_add(1, Ordering::SeqCst);
        FoldingGuard(&self.tending)
    }

    fn is_tending(&self) -> bool {
        self.tending.load(Ordering::SeqCst) > 0
    }
}

impl Index for SearchIndex {
    fn search(&self, scope: &SearchScope, question: &SearchQuery) -> Result<SearchResults, IndexError> {
        if self.snapshot()?.partial {
            let model = self.source.model()?;
            let model = model.as_deref();
            let held = self.held(scope, question, model)?;
            return self.with(|snapshot| answer::search(&snapshot.and(&held, model)?, scope, question));
        }
        self.with(|snapshot| answer::search(snapshot, scope, question))
    }

    fn uses(
        &self,
        scope: &SearchScope,
        terms: &[String],
        items: &[(MemoryId, u32)],
    ) -> Result<Vec<TermUse>, IndexError> {
        self.with(|snapshot| answer::uses(snapshot, scope, terms, items))
    }

    fn speakers(&self, scope: &SearchScope) -> Result<Vec<String>, IndexError> {
        self.with(|snapshot| answer::speakers(snapshot, scope))
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.as_ref().map(IndexFolder::path);
        f.debug_struct("SearchIndex").field("folder", &folder).finish_non_exhaustive()
    }
}
