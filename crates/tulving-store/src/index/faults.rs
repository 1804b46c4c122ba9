//! Makes each step of a fold fail in turn, to test the state after a crash at that step.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::errors::IndexStepError;

/// Counts steps, and fails at a chosen step.
#[derive(Default)]
pub(super) struct FailingSteps {
    taken: AtomicUsize,
    /// The number of the step that fails, from 1; 0 if no step fails.
    fails_at: AtomicUsize,
}

impl FailingSteps {
    /// Makes the step fail that comes this many steps after the current one.
    fn fail_in(&self, steps: usize) {
        self.fails_at.store(self.taken.load(Ordering::SeqCst) + steps, Ordering::SeqCst);
    }

    pub(super) fn take(&self, path: &Path) -> Result<(), IndexStepError> {
        let step = self.taken.fetch_add(1, Ordering::SeqCst) + 1;
        if step == self.fails_at.load(Ordering::SeqCst) {
            return Err(IndexStepError::Disk(path.to_owned(), io::Error::other("it was told to fail")));
        }
        Ok(())
    }
}

mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use tulving_core::model::id::MemoryId;
    use tulving_core::model::request::Filter;
    use tulving_core::model::search::{QueryVector, SearchQuery, SearchScope, VisibilityScope};
    use tulving_core::model::vocabulary::Boundary;
    use tulving_core::ports::Index;
    use tulving_text::terms;

    use crate::index::fake::{Fake, any_act, person, space, text, vector};
    use crate::index::fold::LONG_TAIL;
    use crate::index::{FoldOutcome, SearchIndex};

    fn store(memories: usize) -> Arc<Fake> {
        let store = Fake::new(Some("m1"));
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..memories {
            let id = store.say(&text(&mut random, 5));
            store.embed(id, "m1", 96);
        }
        store
    }

    fn change(store: &Fake, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..30).for_each(|_| any_act(store, &mut random));
        let some: MemoryId = *store.inner().kept.keys().nth(7).expect("there are more");
        store.erase(some);
    }

    fn assert_right(store: &Arc<Fake>, index: &SearchIndex) {
        let spaces: HashMap<_, _> = (0..3).map(|n| (space(n), Boundary::Hub)).collect();
        let visibility = VisibilityScope { principal: person(0), spaces };
        let scope = SearchScope { visibility, filter: Filter::default(), among: None };
        let scratch = SearchIndex::in_memory(Arc::clone(store));
        for asked in ["alpha beta", "omega deploy", "psi"] {
            let meaning = Some(QueryVector { model: "m1".to_owned(), vector: vector(asked, 96) });
            let question =
                SearchQuery { terms: terms::terms(asked), meaning, depth: 20, ..SearchQuery::default() };
            let found = index.search(&scope, &question).expect("an answer");
            assert_eq!(found, scratch.search(&scope, &question).expect("an answer"));
        }
    }

    fn steps(index: &SearchIndex) -> &super::FailingSteps {
        &index.folder.as_ref().expect("it has a folder").steps
    }

    /// Makes `work` fail at each of its steps and returns the number of steps. After each failure, this index and a
    /// newly opened index must answer correctly, and the next attempt must succeed.
    fn fail_at_each_step(work: impl Fn(&SearchIndex) -> FoldOutcome) -> usize {
        for step in 1.. {
            let folder = tempfile::tempdir().expect("a folder");
            let store = store(60);
            let index = SearchIndex::open(Arc::clone(&store), folder.path());
            assert_right(&store, &index);
            change(&store, 1);
            index.tend_now().expect("folded");
            change(&store, 2);
            steps(&index).fail_in(step);
            let done = work(&index);
            assert_right(&store, &index);
            let reopened = SearchIndex::open(Arc::clone(&store), folder.path());
            assert_right(&store, &reopened);
            change(&store, 3);
            assert!(matches!(reopened.purge().expect("purged"), FoldOutcome::Done { .. }));
            assert_right(&store, &reopened);
            assert_right(&store, &index);
            assert!(reopened.status().expect("a status").damage.is_empty());
            if matches!(done, FoldOutcome::Done { .. }) {
                return step - 1;
            }
            assert!(matches!(done, FoldOutcome::Unwritable(_)), "step {step}: {done:?}");
        }
        unreachable!("the steps come to an end")
    }

    #[test]
    fn a_fold_that_fails_at_any_step_leaves_what_was() {
        assert!(fail_at_each_step(|index| index.tend_now().expect("no error")) >= 8);
    }

    #[test]
    fn a_purge_that_fails_at_any_step_leaves_what_was() {
        assert!(fail_at_each_step(|index| index.purge().expect("no error")) >= 5);
    }

    #[test]
    fn a_first_base_that_cannot_be_written_at_any_step_is_in_memory() {
        for step in 1..6 {
            let folder = tempfile::tempdir().expect("a folder");
            let store = store(LONG_TAIL);
            let index = SearchIndex::open(Arc::clone(&store), folder.path());
            steps(&index).fail_in(step);
            assert_right(&store, &index);
            assert!(index.status().expect("a status").unwritable.is_some(), "step {step}");
            change(&store, 1);
            assert_right(&store, &index);
            let reopened = SearchIndex::open(Arc::clone(&store), folder.path());
            assert_right(&store, &reopened);
            index.tend_now().expect("folded");
            assert_right(&store, &index);
            assert_right(&store, &reopened);
        }
    }
}
