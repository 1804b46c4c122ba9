//! Memories that a viewer may not see do not change a bit of their answers: no score, no rarity, no count, no word
//! that replaces another.

use std::collections::HashMap;
use std::sync::Arc;

use tulving_core::model::id::SpaceId;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::Filter;
use tulving_core::model::search::{SearchResults, SearchScope, VisibilityScope};
use tulving_core::model::vocabulary::{Boundary, ChangeKind};
use tulving_core::ports::Index;
use tulving_store::SearchIndex;

use super::ask::{any_question, any_scope, words};
use super::fake::{Fake, any_act, cut, memory, person, space, text};

/// Words of questions that only hidden memories have, or that sort before those that others have.
const BAIT: [&str; 10] =
    ["deploy", "deployer", "ploym", "xyzzy", "de", "al", "alp", "omegas", "deployments", "employment"];

/// Returns a store with only the memories that this sight shows.
fn shown(store: &Fake, visibility: &VisibilityScope) -> Arc<Fake> {
    let bare = Fake::new(Some("m1"));
    let sees = |memory: &Memory| visibility.sees(memory.space, memory.owner, memory.fields.boundary);
    for kept in store.inner().kept.values().filter(|kept| sees(&kept.memory)) {
        bare.keep(ChangeKind::Saved, kept.clone());
    }
    bare
}

/// Saves a memory that none of the askers may see.
fn hide(store: &Fake, random: &mut fastrand::Rng) {
    let count = random.usize(1..30);
    let content = format!("{} {}", BAIT[random.usize(..BAIT.len())], text(random, count));
    let mut made = memory(store.now(), &content);
    made.owner = person(9);
    made.place.speaker = random.bool().then(|| "Mallory".to_owned());
    made.place.conversation = random.bool().then(|| format!("talk {}", random.u8(..3)));
    if random.bool() {
        // Private, in a space of the askers.
        made.space = space(random.u8(..3));
        made.fields.boundary = Boundary::Private;
    } else {
        made.space = space(7);
    }
    let parts = random.usize(1..3);
    let id = store.save(made, cut(&content, parts));
    if random.bool() {
        store.embed(id, "m1", 96);
    }
}

#[test]
fn answers_are_the_same_with_and_without_what_is_hidden() {
    for seed in 200..216 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let store = Fake::new(Some("m1"));
        let mut index = SearchIndex::open(Arc::clone(&store), folder.path());
        for _ in 0..6 {
            for _ in 0..random.usize(..25) {
                any_act(&store, &mut random);
            }
            (0..random.usize(..12)).for_each(|_| hide(&store, &mut random));
            // All in the tail, all in the base, or some in each.
            match random.u8(..4) {
                0 => index = SearchIndex::open(Arc::clone(&store), folder.path()),
                1 | 2 => drop(index.tend_now().expect("folded")),
                _ => {}
            }
            for _ in 0..6 {
                let (scope, question) = (any_scope(&store, &mut random), any_question(&mut random));
                let alone = SearchIndex::in_memory(shown(&store, &scope.visibility));
                let found = index.search(&scope, &question).expect("an answer");
                assert_eq!(
                    found,
                    alone.search(&scope, &question).expect("an answer"),
                    "{scope:?} {question:?}"
                );
                let names = index.speakers(&scope).expect("names");
                assert_eq!(names, alone.speakers(&scope).expect("names"), "{scope:?}");
            }
        }
    }
}

/// Returns the scope of Bob, who sees everything that is shared in the first space.
fn bob() -> SearchScope {
    let spaces: HashMap<SpaceId, Boundary> = [(space(0), Boundary::Hub)].into();
    SearchScope {
        visibility: VisibilityScope { principal: person(1), spaces },
        filter: Filter::default(),
        among: None,
    }
}

fn saved(store: &Fake, owner: u8, boundary: Boundary, content: &str) {
    let mut made = memory(store.now(), content);
    made.owner = person(owner);
    made.fields.boundary = boundary;
    store.save(made, cut(content, 1));
}

fn asked(index: &SearchIndex, question: &str) -> SearchResults {
    index.search(&bob(), &words(question)).expect("an answer")
}

#[test]
fn zorblat_of_another_does_not_hide_ones_own_zorblatqk() {
    for folds in [[false, false], [true, false], [false, true], [true, true]] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Fake::new(Some("m1"));
        let index = SearchIndex::open(Arc::clone(&store), folder.path());
        let fold = |now: bool| now.then(|| index.tend_now().expect("folded"));
        saved(&store, 1, Boundary::Private, "zorblatqk");
        fold(folds[0]);
        let before = asked(&index, "zorblat");
        assert_eq!((before.items.len(), before.with_terms), (1, 1));
        saved(&store, 0, Boundary::Private, "zorblat");
        // More terms than one term may expand to, and shorter ones.
        (0..60)
            .for_each(|n| saved(&store, 0, Boundary::Private, &format!("zorblat{} long and longer", n + 10)));
        fold(folds[1]);
        assert_eq!(asked(&index, "zorblat"), before, "{folds:?}");
        // It counts as soon as the viewer may see it.
        saved(&store, 0, Boundary::Hub, "zorblat");
        assert_eq!(asked(&index, "zorblat").with_terms, 1);
        assert_ne!(asked(&index, "zorblat").items[0].memory, before.items[0].memory);
    }
}

#[test]
fn what_nobody_has_lowers_coverage() {
    let store = Fake::new(None);
    let index = SearchIndex::in_memory(Arc::clone(&store));
    saved(&store, 1, Boundary::Private, "zebra stripes");
    saved(&store, 1, Boundary::Private, "lions sleep");
    let coverage = |question: &str| asked(&index, question).items[0].coverage;
    assert_eq!(coverage("zebra"), 1.0);
    assert_eq!(coverage("zebra stripes"), 1.0);
    let far = coverage("who repairs nuclear submarines beside a zebra");
    assert!(far < 0.25, "{far}");
    assert_eq!(asked(&index, "zebra submarines").rarities[1], 0.0);
}
