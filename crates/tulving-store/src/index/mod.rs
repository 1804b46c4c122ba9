//! The search index: a base in immutable files, a tail in memory, one way to score both.
//!
//! It is derived. It follows the change log of whatever store is beneath it, and can be deleted at any time: what is
//! missing, torn or of another store is noticed and made anew.
//!
//! The base is [segments](segment) that one [manifest] names; the tail is small segments in memory that hold what the
//! log says since the manifest's watermark. A memory that changed is dead wherever it was before. [`follow`] keeps up
//! with the store, [`fold`] moves the tail into the base, [`answer`] searches.

mod answer;
mod build;
mod dead;
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
mod manifest;
mod meanwhile;
mod quantise;
mod segment;
mod sessions;
mod simd;
mod snapshot;
mod source;
mod status;
mod top;
mod trouble;
mod vector;
mod visible;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tulving_core::error::IndexError;
use tulving_core::ports::{Feed, Index, Log};
use tulving_core::search::{Found, Question, Scope};

use self::fold::Care;
use self::folder::Folder;
use self::follow::Basis;
use self::snapshot::Snapshot;
use self::source::Source;
use self::status::Notes;
use self::trouble::{Damaged, Trouble};

pub use self::fold::{Chore, Folded};
pub use self::status::IndexStatus;

/// How often a search is begun again because a file was found to be damaged.
const ATTEMPTS: usize = 3;

/// An index over a store.
///
/// Opening it costs nothing; the first search opens the base. Where there is none it reads the whole store, and of a
/// large store only what changed last, until the index was [tended](Self::tend). Any number of processes may use one
/// folder. Where the folder cannot be written, the index is in memory alone and [`status`](Self::status) says so.
pub struct SearchIndex {
    source: Arc<dyn Source>,
    folder: Option<Folder>,
    /// Held by who follows or folds.
    state: Mutex<State>,
    /// What searches use, and the pulse of the store that it is of.
    current: RwLock<Option<(u64, Arc<Snapshot>)>>,
    notes: Mutex<Notes>,
    /// How many threads fold.
    tending: AtomicUsize,
}

/// What was opened and followed.
#[derive(Default)]
struct State {
    snapshot: Snapshot,
    /// `None` before the first search.
    basis: Option<Basis>,
    /// Whether a file was found to be damaged.
    damaged: bool,
}

/// That a thread folds, until it is dropped.
struct Tending<'a>(&'a AtomicUsize);

impl Drop for Tending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SearchIndex {
    /// The index of a store, with its files in `folder`, which is made when it is needed.
    pub fn open<S>(store: Arc<S>, folder: &Path) -> Self
    where
        S: Log + Feed + Send + Sync + 'static,
    {
        Self::new(store, Some(Folder::new(folder)))
    }

    /// The index of a store in memory alone.
    pub fn in_memory<S>(store: Arc<S>) -> Self
    where
        S: Log + Feed + Send + Sync + 'static,
    {
        Self::new(store, None)
    }

    fn new(source: Arc<dyn Source>, folder: Option<Folder>) -> Self {
        Self {
            source,
            folder,
            state: Mutex::default(),
            current: RwLock::default(),
            notes: Mutex::default(),
            tending: AtomicUsize::new(0),
        }
    }

    /// What [`tend`](Self::tend) would do, and whether it takes long. Costs a look at the manifest and the log.
    pub fn chore(&self) -> Result<Chore, IndexError> {
        Ok(self.chore_now()?)
    }

    /// Whether [`tend`](Self::tend) would do something, as far as is known without looking at the store.
    pub fn wants_tending(&self) -> bool {
        self.wants(&self.state(), Care::Usual)
    }

    /// Folds the tail into the base where it is long, and makes the base anew where there is none, its vectors are of an
    /// old model or something is damaged. Searches go on meanwhile, in this process and in others.
    pub fn tend(&self) -> Result<Folded, IndexError> {
        Ok(self.fold(Care::Usual)?)
    }

    /// Does what [`tend`](Self::tend) does, however short the tail is.
    pub fn tend_now(&self) -> Result<Folded, IndexError> {
        Ok(self.fold(Care::Now)?)
    }

    /// Rewrites the files that still hold what was erased, after which it is in none. Files that another process
    /// still reads are counted in [`Folded::Done`] and go when it has caught up and this is called again.
    pub fn purge(&self) -> Result<Folded, IndexError> {
        Ok(self.fold(Care::Thorough)?)
    }

    /// The index as the store is now.
    fn snapshot(&self) -> Result<Arc<Snapshot>, Trouble> {
        let pulse = self.source.pulse()?;
        match self.current_at(pulse) {
            Some(snapshot) => Ok(snapshot),
            None => self.update(&mut self.state()),
        }
    }

    fn current_at(&self, pulse: u64) -> Option<Arc<Snapshot>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        // Another process may have completed what is partial, which is no commit.
        let fits = |(of, snapshot): &&(u64, Arc<Snapshot>)| *of == pulse && !snapshot.partial;
        current.as_ref().filter(fits).map(|(_, snapshot)| Arc::clone(snapshot))
    }

    /// Brings the state up to the store, where it is not.
    fn update(&self, state: &mut State) -> Result<Arc<Snapshot>, Trouble> {
        let pulse = self.source.pulse()?;
        match self.current_at(pulse) {
            Some(snapshot) => Ok(snapshot),
            None => self.update_anew(state),
        }
    }

    /// Brings the state up to the store and lets searches use it.
    fn update_anew(&self, state: &mut State) -> Result<Arc<Snapshot>, Trouble> {
        // Asked before reading, so that what is written meanwhile is looked at again.
        let pulse = self.source.pulse()?;
        if let Err(trouble) = self.follow(state, None) {
            let Trouble::Damaged(damaged) = trouble else {
                return Err(trouble);
            };
            self.notice(state, &damaged);
            self.renew(state, None)?;
            self.follow(state, None)?;
        }
        let snapshot = Arc::new(state.snapshot.clone());
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some((pulse, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// Does something with the index, again where a file turns out to be damaged.
    fn with<T>(&self, work: impl Fn(&Snapshot) -> Result<T, Damaged>) -> Result<T, IndexError> {
        for _ in 1..ATTEMPTS {
            let snapshot = self.snapshot()?;
            match work(&snapshot) {
                Ok(done) => return Ok(done),
                Err(damaged) => self.mend(&damaged)?,
            }
        }
        Ok(work(&*self.snapshot()?).map_err(Trouble::from)?)
    }

    /// Makes the index anew, unless another thread was quicker and the damaged file is no longer used.
    fn mend(&self, damaged: &Damaged) -> Result<(), Trouble> {
        let mut state = self.state();
        if state.snapshot.base.iter().any(|part| part.segment.name() == damaged.file) {
            self.notice(&mut state, damaged);
            self.renew(&mut state, None)?;
            self.update_anew(&mut state)?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            // Whoever panicked may have left half of something; it is opened again.
            let mut state = poisoned.into_inner();
            *state = State::default();
            self.state.clear_poison();
            state
        })
    }

    fn notes(&self) -> Notes {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with_notes(&self, change: impl FnOnce(&mut Notes)) {
        change(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn tending(&self) -> Tending<'_> {
        self.tending.fetch_add(1, Ordering::SeqCst);
        Tending(&self.tending)
    }

    fn is_tending(&self) -> bool {
        self.tending.load(Ordering::SeqCst) > 0
    }
}

impl Index for SearchIndex {
    fn search(&self, scope: &Scope, question: &Question) -> Result<Found, IndexError> {
        if self.snapshot()?.partial {
            let model = self.source.model()?;
            let model = model.as_deref();
            let held = self.held(scope, question, model)?;
            return self.with(|snapshot| answer::search(&snapshot.and(&held, model)?, scope, question));
        }
        self.with(|snapshot| answer::search(snapshot, scope, question))
    }

    fn speakers(&self, scope: &Scope) -> Result<Vec<String>, IndexError> {
        self.with(|snapshot| answer::speakers(snapshot, scope))
    }
}

impl fmt::Debug for SearchIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.as_ref().map(Folder::path);
        f.debug_struct("SearchIndex").field("folder", &folder).finish_non_exhaustive()
    }
}
