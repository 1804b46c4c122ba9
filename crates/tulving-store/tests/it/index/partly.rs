//! A large store without a whole base: searches do not wait for it, and report that they are partial.

use std::fs;
use std::sync::{Arc, Barrier};

use tulving_core::model::id::MemoryId;
use tulving_core::model::search::SearchResults;
use tulving_core::ports::{Index, Log};
use tulving_store::{FoldOutcome, PendingIndexWork, SearchIndex};

use super::ask::{everything, words};
use super::fake::Fake;
use super::files::{assert_right, files, flip, index_of, store_of};

/// More than is read before answering.
const MANY: usize = 6_000;

fn find(index: &SearchIndex, asked: &str) -> SearchResults {
    index.search(&everything(), &words(asked)).expect("an answer")
}

/// Returns a large store with a base, and its folder.
fn based() -> (Arc<Fake>, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(MANY);
    let index = index_of(&store, folder.path());
    assert!(matches!(index.tend().expect("made"), FoldOutcome::Done { .. }));
    (store, folder)
}

#[test]
fn a_large_store_without_a_base_answers_from_what_changed_last_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Fake::new(None);
    let first = store.say("an old xylophone");
    let forgotten = store.say("a broken xylophone");
    for n in 0..MANY {
        store.say(&format!("beta {n}"));
    }
    let last = store.say("a new xylophone");
    let index = index_of(&store, folder.path());
    assert_eq!(index.chore().expect("known"), PendingIndexWork::Long, "before anybody has searched");
    store.erase(forgotten);
    // The last changes are found with all their data; the others by their letters.
    let found = find(&index, "xylophones");
    let memories = |found: &SearchResults| found.items.iter().map(|item| item.memory).collect::<Vec<_>>();
    assert!(found.partial && found.within <= 5_001, "{} items", found.within);
    assert_eq!(memories(&found), [first, last]);
    assert!(files(folder.path(), "segment-").is_empty(), "who only searches writes nothing");
    let status = index.status().expect("a status");
    assert!(status.partial && status.items <= 5_000, "{status:?}");
    assert_eq!(index.chore().expect("known"), PendingIndexWork::Long);
    // Changes made meanwhile are seen, and forgotten memories are not found.
    let newest = store.say("another xylophone");
    assert_eq!(memories(&find(&index, "xylophone")), [first, last, newest]);
    store.erase(last);
    assert_eq!(memories(&find(&index, "xylophone")), [first, newest]);
    assert!(matches!(index.tend().expect("made"), FoldOutcome::Done { .. }));
    let found = find(&index, "xylophone");
    assert!(!found.partial);
    assert_eq!(memories(&found), [first, newest]);
    assert_eq!(index.chore().expect("known"), PendingIndexWork::None);
    assert_right(&store, &index);
    assert_right(&store, &index_of(&store, folder.path()));
}

#[test]
fn damage_to_a_large_base_does_not_make_a_search_wait() {
    for damage in 0..3 {
        let (store, folder) = based();
        let segment = files(folder.path(), "segment-").remove(0);
        match damage {
            0 => fs::remove_file(&segment).expect("removed"),
            1 => fs::write(folder.path().join("manifest"), "").expect("written"),
            _ => {
                // Somewhere in the middle, where damage is noticed only when it is read.
                let bytes = fs::metadata(&segment).expect("there").len();
                (1..40).for_each(|n| flip(&segment, usize::try_from(bytes).expect("small") * n / 40));
            }
        }
        let index = index_of(&store, folder.path());
        let found = find(&index, "alpha beta");
        assert!(found.partial, "damage {damage}");
        assert!(!index.status().expect("a status").damage.is_empty(), "damage {damage}");
        assert_eq!(index.chore().expect("known"), PendingIndexWork::Long);
        // The index that is asked to tend the folder has not seen the damage.
        assert!(matches!(index_of(&store, folder.path()).tend().expect("made"), FoldOutcome::Done { .. }));
        assert_right(&store, &index);
        assert_eq!(index.chore().expect("known"), PendingIndexWork::None);
        let next = index_of(&store, folder.path());
        assert_right(&store, &next);
        assert!(next.status().expect("a status").damage.is_empty(), "damage {damage}");
    }
}

#[test]
fn a_base_of_another_store_or_model_is_made_anew_by_who_has_not_searched() {
    let (store, folder) = based();
    store.inner().epoch = [9; 16];
    store.beat();
    let index = index_of(&store, folder.path());
    assert_eq!(index.chore().expect("known"), PendingIndexWork::Long);
    assert!(matches!(index.tend().expect("made"), FoldOutcome::Done { .. }));
    assert_right(&store, &index);
    store.inner().model = Some("m2".to_owned());
    store.beat();
    let index = index_of(&store, folder.path());
    assert_eq!(index.chore().expect("known"), PendingIndexWork::Long);
    assert!(matches!(index.tend().expect("made"), FoldOutcome::Done { .. }));
    assert_eq!(index_of(&store, folder.path()).chore().expect("known"), PendingIndexWork::None);
    assert_right(&store, &index);
}

#[test]
fn a_base_that_is_far_behind_gives_nothing_that_has_changed_since() {
    let (store, folder) = based();
    let revised = store.say("a xylophone");
    let index = index_of(&store, folder.path());
    index.tend_now().expect("folded");
    drop(index);
    let ids: Vec<MemoryId> = store.inner().kept.keys().copied().filter(|id| *id != revised).collect();
    store.erase(revised);
    // Enough changes follow that the erasure is in the part that is not read at once.
    (0..3).for_each(|_| ids.iter().for_each(|id| store.embed(*id, "m1", 8)));
    let index = index_of(&store, folder.path());
    let found = find(&index, "xylophone");
    assert_eq!((found.partial, found.items.len()), (true, 0));
    assert!(matches!(index.tend().expect("folded"), FoldOutcome::Done { .. }));
    assert_right(&store, &index);
}

#[test]
fn a_save_between_two_looks_at_the_log_does_not_make_the_index_anew() {
    let (store, folder) = based();
    let index = index_of(&store, folder.path());
    assert!(!find(&index, "alpha").partial);
    store.inner().meanwhile = Some("a xylophone".to_owned());
    // A commit that logs nothing, for example access counts.
    store.beat();
    assert!(!find(&index, "alpha").partial);
    assert!(store.inner().meanwhile.is_none(), "it came in between");
    assert_eq!(find(&index, "xylophone").items.len(), 1);
}

#[test]
fn another_process_that_completes_the_index_completes_the_answers_of_all() {
    let (store, folder) = based();
    fs::remove_dir_all(folder.path()).expect("removed");
    let (one, other) = (index_of(&store, folder.path()), index_of(&store, folder.path()));
    assert!(find(&one, "alpha").partial);
    assert!(matches!(other.tend().expect("made"), FoldOutcome::Done { .. }));
    assert!(!find(&one, "alpha").partial, "without any commit in between");
    assert_eq!(one.chore().expect("known"), PendingIndexWork::None);
}

#[test]
fn searches_of_the_same_process_go_on_while_the_index_is_made_anew() {
    let (store, folder) = based();
    fs::remove_dir_all(folder.path()).expect("removed");
    let index = index_of(&store, folder.path());
    assert!(find(&index, "alpha").partial);
    let begun = Barrier::new(2);
    let partly = std::thread::scope(|scope| {
        let making = scope.spawn(|| {
            begun.wait();
            index.tend().expect("made")
        });
        begun.wait();
        let mut partly = 0;
        while !making.is_finished() {
            partly += usize::from(find(&index, "alpha").partial);
        }
        assert!(matches!(making.join().expect("no panic"), FoldOutcome::Done { .. }));
        partly
    });
    assert!(partly > 3, "only {partly} searches came through meanwhile");
    assert_right(&store, &index);
}

#[test]
fn a_folder_that_cannot_be_written_gives_whole_answers() {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("index");
    fs::write(&file, "not a folder").expect("written");
    let index = index_of(&store_of(MANY), &file);
    assert!(!find(&index, "alpha").partial);
    assert_ne!(index.chore().expect("known"), PendingIndexWork::Long, "nobody else could write it either");
}

#[test]
fn folding_trims_the_log_and_nobody_loses_the_thread() {
    let (store, folder) = based();
    let reader = index_of(&store, folder.path());
    assert!(!find(&reader, "alpha").partial);
    let folding = index_of(&store, folder.path());
    for _ in 0..3 {
        let ids: Vec<MemoryId> = store.inner().kept.keys().copied().collect();
        ids.iter().for_each(|id| store.embed(*id, "m1", 96));
        let before = store.inner().trimmed;
        folding.tend().expect("folded");
        assert!(store.inner().trimmed - before <= 5_000, "a bounded part at a time");
    }
    assert!(store.inner().trimmed > 5_000, "it is trimmed");
    assert!(store.inner().log.len() >= 10_000, "the newest entries stay");
    let head = Log::head(&*store).expect("known");
    assert_eq!(folding.status().expect("a status").watermark, head);
    // A reader whose position was trimmed from the log finds the newer base.
    assert!(!find(&reader, "alpha").partial);
    assert_right(&store, &reader);
    assert_right(&store, &index_of(&store, folder.path()));
}
