//! The folder of the index: folding, several users of one folder, and damaged or missing files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tulving_core::model::id::MemoryId;
use tulving_core::ports::Index;
use tulving_store::{FoldOutcome, SearchIndex};

use super::ask::{any_question, any_scope, everything, question, words};
use super::fake::{Fake, any_act, cut, memory, text};
use super::same::assert_alike;

/// A store with so many memories, half of them with vectors.
pub(super) fn store_of(memories: usize) -> Arc<Fake> {
    let store = Fake::new(Some("m1"));
    let mut random = fastrand::Rng::with_seed(5);
    for n in 0..memories {
        let id = store.say(&text(&mut random, 8));
        if n % 2 == 0 {
            store.embed(id, "m1", 96);
        }
    }
    store
}

pub(super) fn index_of(store: &Arc<Fake>, folder: &Path) -> SearchIndex {
    SearchIndex::open(Arc::clone(store), folder)
}

pub(super) fn files(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start)))
        .collect();
    found.sort();
    found
}

/// Checks that an index answers like one that is built from scratch.
pub(super) fn assert_right(store: &Arc<Fake>, index: &SearchIndex) {
    let scratch = SearchIndex::in_memory(Arc::clone(store));
    assert_alike(store, index, &scratch, &mut fastrand::Rng::with_seed(9));
}

#[test]
fn an_empty_store_has_an_empty_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Fake::new(None);
    let index = index_of(&store, &folder.path().join("index"));
    let found = index.search(&everything(), &question("alpha", "m1", 96)).expect("an answer");
    assert_eq!((found.items.len(), found.within, found.rarities), (0, 0, vec![0.0]));
    assert_eq!(index.speakers(&everything()).expect("names"), Vec::<String>::new());
    assert_eq!(index.tend_now().expect("nothing to do"), FoldOutcome::NoNeed);
    assert!(!index.wants_tending());
    store.say("alpha");
    assert_eq!(index.search(&everything(), &words("alpha")).expect("an answer").items.len(), 1);
}

#[test]
fn a_memory_is_found_by_the_next_search_and_a_deleted_one_is_not() {
    let store = store_of(3);
    let index = SearchIndex::in_memory(Arc::clone(&store));
    let found = || index.search(&everything(), &words("xylophone")).expect("an answer").items.len();
    assert_eq!(found(), 0);
    let id = store.say("a xylophone");
    assert_eq!(found(), 1);
    store.erase(id);
    assert_eq!(found(), 0);
}

#[test]
fn a_small_store_has_no_files_and_a_large_one_a_base() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = index_of(&store_of(20), &folder.path().join("small"));
    small.search(&everything(), &words("alpha")).expect("an answer");
    assert_eq!(small.status().expect("a status").segments, 0);
    let large = index_of(&store_of(700), &folder.path().join("large"));
    large.search(&everything(), &words("alpha")).expect("an answer");
    let status = large.status().expect("a status");
    assert_eq!((status.segments, status.tail, status.items), (1, 0, 700));
    assert!(status.bytes > 100_000 && status.damage.is_empty() && status.unwritable.is_none());
}

#[test]
fn tending_folds_a_long_tail_and_merges_segments_of_a_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let index = index_of(&store, folder.path());
    index.search(&everything(), &words("alpha")).expect("an answer");
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..12 {
        for _ in 0..600 {
            store.say(&text(&mut random, 6));
        }
        index.search(&everything(), &words("alpha")).expect("an answer");
        assert!(index.wants_tending(), "round {round}");
        let folded = index.tend().expect("folded");
        assert!(matches!(folded, FoldOutcome::Done { segments: 1..=6, left: 0 }), "{folded:?}");
        assert!(!index.wants_tending());
        assert_eq!(index.tend().expect("nothing to do"), FoldOutcome::NoNeed);
        assert_eq!(files(folder.path(), "segment-").len(), index.status().expect("a status").segments);
    }
    assert_eq!(index.status().expect("a status").items, 13 * 600);
    assert_right(&store, &index);
}

#[test]
fn a_few_documents_of_many_sections_are_folded_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Fake::new(None);
    let content = text(&mut fastrand::Rng::with_seed(2), 2_000);
    for _ in 0..3 {
        let document = memory(store.now(), &content);
        store.save(document, cut(&content, 1_000));
    }
    let index = index_of(&store, folder.path());
    index.search(&everything(), &words("alpha")).expect("an answer");
    assert!(index.wants_tending());
    assert!(matches!(index.tend().expect("folded"), FoldOutcome::Done { .. }));
    assert!(!index.wants_tending());
    let again = index_of(&store, folder.path());
    again.search(&everything(), &words("alpha")).expect("an answer");
    assert_eq!(again.status().expect("a status").tail, 0, "nobody has to read them again");
    assert_right(&store, &again);
}

#[test]
fn what_was_erased_leaves_every_file_with_a_purge() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let secret = store.say("alpha xylophonist");
    for n in 0..600 {
        store.say(&format!("beta {n}"));
    }
    let index = index_of(&store, folder.path());
    let holds = || {
        let all = files(folder.path(), "");
        all.iter().any(|path| fs::read(path).expect("read").windows(9).any(|some| some == b"xylophoni"))
    };
    index.search(&everything(), &words("alpha")).expect("an answer");
    assert!(holds());
    store.erase(secret);
    assert_eq!(index.search(&everything(), &words("xylophonist")).expect("an answer").items.len(), 0);
    assert!(index.status().expect("a status").holds_erased && holds());
    // Folding what is dead into a file does not forget that it has to go.
    store.say("gamma");
    index.tend_now().expect("folded");
    assert!(index.status().expect("a status").holds_erased && holds());
    assert!(matches!(index.purge().expect("purged"), FoldOutcome::Done { left: 0, .. }));
    assert!(!index.status().expect("a status").holds_erased && !holds());
    assert_eq!(index.purge().expect("nothing to do"), FoldOutcome::NoNeed);
    assert_right(&store, &index);
}

#[test]
fn what_a_reader_kept_a_purge_from_removing_goes_with_the_next_purge() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let secret = store.say("alpha xylophonist");
    for n in 0..600 {
        store.say(&format!("beta {n}"));
    }
    let index = index_of(&store, folder.path());
    let holds = || {
        let all = files(folder.path(), "");
        all.iter().any(|path| fs::read(path).expect("read").windows(9).any(|some| some == b"xylophoni"))
    };
    index.search(&everything(), &words("alpha")).expect("an answer");
    let reader = index_of(&store, folder.path());
    reader.search(&everything(), &words("alpha")).expect("an answer");
    store.erase(secret);
    for _ in 0..2 {
        let purged = index.purge().expect("purged");
        assert!(matches!(purged, FoldOutcome::Done { left: 1.., .. }), "the reader has it open: {purged:?}");
        assert!(holds());
    }
    drop(reader);
    assert_eq!(index.purge().expect("purged"), FoldOutcome::NoNeed);
    assert!(!holds());
}

#[test]
fn every_sort_of_damage_is_noticed_and_made_good() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 9] = [
        ("the folder is gone", |folder| fs::remove_dir_all(folder).expect("removed")),
        ("the manifest is gone", |folder| fs::remove_file(folder.join("manifest")).expect("removed")),
        ("the manifest is empty", |folder| fs::write(folder.join("manifest"), "").expect("written")),
        ("the manifest is cut short", |folder| cut_short(&folder.join("manifest"))),
        ("a bit of the manifest is flipped", |folder| flip(&folder.join("manifest"), 40)),
        ("a segment is gone", |folder| fs::remove_file(&files(folder, "segment-")[0]).expect("removed")),
        ("a segment is cut short", |folder| cut_short(&files(folder, "segment-")[0])),
        ("the dead are gone", |folder| fs::remove_file(&files(folder, "dead-")[0]).expect("removed")),
        ("a bit of the dead is flipped", |folder| flip(&files(folder, "dead-")[0], 5)),
    ];
    for (what, harm) in harms {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("index");
        let store = store_of(600);
        let index = index_of(&store, &folder);
        index.search(&everything(), &words("alpha")).expect("an answer");
        let first: MemoryId = *store.inner().kept.keys().next().expect("some");
        store.erase(first);
        index.tend_now().expect("folded");
        drop(index);
        harm(&folder);
        let index = index_of(&store, &folder);
        assert_right(&store, &index);
        let status = index.status().expect("a status");
        assert_eq!((status.items, status.segments), (599, 1), "{what}");
        let gone = what.contains("folder is gone") || what.contains("manifest is gone");
        assert_eq!(status.damage.is_empty(), gone, "{what}: {:?}", status.damage);
        // Whoever opens it next finds it whole.
        let next = index_of(&store, &folder);
        assert_right(&store, &next);
        assert!(next.status().expect("a status").damage.is_empty(), "{what}");
    }
}

fn cut_short(path: &Path) {
    let bytes = fs::read(path).expect("read");
    fs::write(path, &bytes[..bytes.len() * 2 / 3]).expect("written");
}

pub(super) fn flip(path: &Path, place: usize) {
    let mut bytes = fs::read(path).expect("read");
    bytes[place] ^= 16;
    fs::write(path, bytes).expect("written");
}

#[test]
fn a_flipped_bit_anywhere_in_a_segment_never_gives_a_wrong_answer() {
    let home = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let whole = home.path().join("whole");
    drop(index_of(&store, &whole).search(&everything(), &words("alpha")).expect("an answer"));
    let segment = files(&whole, "segment-").remove(0);
    let bytes = fs::read(&segment).expect("read").len();
    let mut random = fastrand::Rng::with_seed(3);
    let scratch = SearchIndex::in_memory(Arc::clone(&store));
    let mut noticed = 0;
    for round in 0..60 {
        let folder = home.path().join(format!("{round}"));
        fs::create_dir(&folder).expect("made");
        for path in files(&whole, "") {
            fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("copied");
        }
        flip(&files(&folder, "segment-")[0], random.usize(..bytes));
        let index = index_of(&store, &folder);
        for _ in 0..4 {
            let (scope, question) = (any_scope(&store, &mut random), any_question(&mut random));
            let found = index.search(&scope, &question).expect("an answer");
            assert_eq!(found, scratch.search(&scope, &question).expect("an answer"));
        }
        let found = index.verify().expect("verified");
        let damage = index.status().expect("a status").damage;
        // A gap between sections belongs to nobody.
        noticed += usize::from(!damage.is_empty());
        if !found.is_empty() {
            assert!(index.wants_tending());
            index.tend().expect("made anew");
            assert_eq!(index.verify().expect("verified"), Vec::<String>::new());
        }
    }
    assert!(noticed >= 55, "{noticed} of 60");
}

#[test]
fn a_fold_that_opens_a_damaged_base_makes_it_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let index = index_of(&store, folder.path());
    index.search(&everything(), &words("alpha")).expect("an answer");
    store.say("a xylophone");
    index.search(&everything(), &words("alpha")).expect("an answer");
    // The ids come first in a segment. A manifest that was replaced is opened again, though nobody has committed.
    flip(&files(folder.path(), "segment-")[0], 5);
    let [manifest, copy] = ["manifest", "copy"].map(|name| folder.path().join(name));
    fs::copy(&manifest, &copy).expect("copied");
    fs::rename(&copy, &manifest).expect("replaced");
    assert!(matches!(index.tend_now().expect("made anew"), FoldOutcome::Done { .. }));
    assert!(!index.status().expect("a status").damage.is_empty());
    assert_right(&store, &index);
    assert_right(&store, &index_of(&store, folder.path()));
}

/// Writes another fingerprint into a manifest, as an engine of another version has.
fn of_another_version(manifest: &Path) {
    let text = fs::read_to_string(manifest).expect("read");
    let (_, json) = text.split_once('\n').expect("two lines at least");
    let mut said: serde_json::Value = serde_json::from_str(json).expect("JSON");
    said["fingerprint"] = 7.into();
    let json = serde_json::to_string_pretty(&said).expect("JSON");
    fs::write(manifest, format!("{:08x}\n{json}\n", crc32fast::hash(json.as_bytes()))).expect("written");
}

#[test]
fn an_index_of_an_older_version_is_made_anew_by_itself() {
    for known_by in ["its manifest", "its segment"] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store_of(600);
        index_of(&store, folder.path()).search(&everything(), &words("alpha")).expect("an answer");
        // The trailer is 32 bytes and begins with the version.
        let segment = files(folder.path(), "segment-").remove(0);
        let mut bytes = fs::read(&segment).expect("read");
        let version = bytes.len() - 32 + 7;
        let now = bytes[version];
        bytes[version] = b'1';
        assert_ne!(now, b'1', "the version went up");
        fs::write(&segment, bytes).expect("written");
        if known_by == "its manifest" {
            of_another_version(&folder.path().join("manifest"));
        }
        let index = index_of(&store, folder.path());
        assert_right(&store, &index);
        let status = index.status().expect("a status");
        assert_eq!((status.items, status.segments), (600, 1), "{known_by}");
        // An upgrade is not damage; an old file that a new manifest names is.
        assert_eq!(status.damage.is_empty(), known_by == "its manifest", "{:?}", status.damage);
        let made = files(folder.path(), "segment-");
        assert_eq!(made.len(), 1, "{known_by}: the old one is gone");
        let bytes = fs::read(&made[0]).expect("read");
        assert_eq!(bytes[bytes.len() - 32 + 7], now, "{known_by}");
        drop(index);
        let next = index_of(&store, folder.path());
        assert_right(&store, &next);
        assert!(next.status().expect("a status").damage.is_empty(), "{known_by}");
    }
}

#[test]
fn another_epoch_makes_everything_void() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let index = index_of(&store, folder.path());
    index.search(&everything(), &words("alpha")).expect("an answer");
    // A backup is restored: the log says less than before, and the same numbers mean something else.
    let restored = store_of(30);
    {
        let (mut inner, from) = (store.inner(), restored.inner());
        inner.kept.clone_from(&from.kept);
        inner.log.clone_from(&from.log);
        inner.epoch = [9; 16];
    }
    store.beat();
    assert_right(&store, &index);
    assert_right(&store, &index_of(&store, folder.path()));
    assert_eq!(index.status().expect("a status").items, 30);
}

#[test]
fn a_log_that_was_cut_off_is_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let index = index_of(&store, folder.path());
    index.search(&everything(), &words("alpha")).expect("an answer");
    let mut random = fastrand::Rng::with_seed(2);
    (0..50).for_each(|_| any_act(&store, &mut random));
    {
        let mut inner = store.inner();
        let gone = inner.log.len() - 1;
        inner.trimmed = gone as u64;
        inner.log.drain(..gone);
    }
    assert_right(&store, &index);
    assert_right(&store, &index_of(&store, folder.path()));
}

#[test]
fn another_model_answers_with_its_own_vectors_alone() {
    for memories in [40, 600, 5_500] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store_of(memories);
        let index = index_of(&store, folder.path());
        index.search(&everything(), &words("alpha")).expect("an answer");
        index.tend().expect("made");
        let ids: Vec<MemoryId> = store.inner().kept.keys().copied().collect();
        ids.iter().take(20).for_each(|id| store.embed(*id, "m2", 40));
        let asked = question("alpha beta", "m2", 40);
        assert_eq!(index.search(&everything(), &asked).expect("an answer").with_meaning, 0);
        store.inner().model = Some("m2".to_owned());
        store.beat();
        let id = store.say("alpha");
        store.embed(id, "m2", 40);
        let found = index.search(&everything(), &asked).expect("an answer");
        assert_eq!(found.within, memories as u64 + 1);
        // A large store is read again when it is tended; what came since is compared already.
        assert_eq!(found.with_meaning, if memories > 5_000 { 1 } else { 21 });
        assert_eq!(found.with_meaning + found.unembedded, found.within);
        assert_eq!(index.status().expect("a status").outdated, memories > 5_000);
        assert_eq!(index.wants_tending(), memories > 5_000);
        index.tend().expect("made anew");
        assert_right(&store, &index);
        assert_eq!(index.search(&everything(), &asked).expect("an answer").with_meaning, 21);
        assert_eq!(
            index.search(&everything(), &question("alpha", "m1", 96)).expect("an answer").with_meaning,
            0
        );
        assert_right(&store, &index_of(&store, folder.path()));
    }
}

#[test]
fn two_indexes_on_one_folder_see_each_others_changes_and_folds() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let (one, other) = (index_of(&store, folder.path()), index_of(&store, folder.path()));
    let scratch = SearchIndex::in_memory(Arc::clone(&store));
    let mut random = fastrand::Rng::with_seed(8);
    for round in 0..30 {
        (0..random.usize(..30)).for_each(|_| any_act(&store, &mut random));
        let folding = if random.bool() { &one } else { &other };
        match random.u8(..4) {
            0 => drop(folding.tend_now().expect("folded")),
            1 => drop(folding.purge().expect("purged")),
            _ => {}
        }
        println!("round {round}");
        assert_alike(&store, &one, &scratch, &mut random);
        assert_alike(&store, &other, &scratch, &mut random);
    }
    for index in [&one, &other] {
        let status = index.status().expect("a status");
        assert!(status.damage.is_empty() && status.unwritable.is_none(), "{status:?}");
    }
}

#[test]
fn a_file_that_another_still_reads_stays_until_it_has_caught_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let (reader, folder_of_both) = (index_of(&store, folder.path()), folder.path());
    reader.search(&everything(), &words("alpha")).expect("an answer");
    let old = files(folder_of_both, "segment-");
    let first: MemoryId = *store.inner().kept.keys().next().expect("some");
    store.erase(first);
    let folding = index_of(&store, folder_of_both);
    assert!(matches!(folding.purge().expect("purged"), FoldOutcome::Done { left: 1, .. }));
    assert!(old[0].exists());
    // The reader sees the next change, and with it the new base.
    store.say("alpha");
    assert_right(&store, &reader);
    store.say("alpha");
    assert!(matches!(folding.tend_now().expect("folded"), FoldOutcome::Done { .. }));
    assert!(!old[0].exists());
}

#[test]
fn many_threads_search_while_others_save_and_fold() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = store_of(600);
    let indexes = [index_of(&store, folder.path()), index_of(&store, folder.path())];
    std::thread::scope(|threads| {
        for (n, index) in indexes.iter().enumerate() {
            let store = &store;
            threads.spawn(move || {
                for round in 0..25 {
                    let word = format!("unique{n}x{round}");
                    let made = memory(store.now(), &word);
                    let id = store.save(made, cut(&word, 1));
                    let found = index.search(&everything(), &words(&word)).expect("an answer");
                    assert!(found.items.iter().any(|item| item.memory == id && item.lexical > 0.0), "{word}");
                    if round % 3 == 0 {
                        store.erase(id);
                        let found = index.search(&everything(), &words(&word)).expect("an answer");
                        assert!(found.items.iter().all(|item| item.memory != id), "{word}");
                    }
                }
            });
            threads.spawn(move || (0..12).for_each(|_| drop(index.tend_now().expect("folded or busy"))));
        }
    });
    assert_right(&store, &indexes[0]);
    assert_right(&store, &indexes[1]);
    assert!(indexes.iter().all(|index| index.status().expect("a status").damage.is_empty()));
}

#[test]
fn a_folder_that_cannot_be_written_leaves_the_index_in_memory() {
    let home = tempfile::tempdir().expect("a folder");
    // A file stands where the folder should be: also root cannot write there.
    let folder = home.path().join("index");
    fs::write(&folder, "mine").expect("written");
    let store = store_of(600);
    let index = index_of(&store, &folder);
    assert_right(&store, &index);
    store.say("alpha");
    assert_right(&store, &index);
    let status = index.status().expect("a status");
    assert!(status.unwritable.is_some() && status.segments == 0, "{status:?}");
    assert!(matches!(index.tend_now().expect("no error"), FoldOutcome::Unwritable(_)));
    assert_eq!(fs::read_to_string(&folder).expect("still there"), "mine");
}
