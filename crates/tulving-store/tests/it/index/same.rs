//! The same content gives the same answer, however it came into the index: saved, changed, folded, merged,
//! reopened.

use std::sync::Arc;

use tulving_core::ports::Index;
use tulving_store::SearchIndex;

use super::ask::{any_question, any_scope};
use super::fake::{Fake, any_act};

/// Asserts that two indexes give the same answers, to the last bit.
pub(super) fn assert_alike(store: &Fake, one: &SearchIndex, other: &SearchIndex, random: &mut fastrand::Rng) {
    for _ in 0..6 {
        let (scope, question) = (any_scope(store, random), any_question(random));
        let found = one.search(&scope, &question).expect("an answer");
        assert_eq!(found, other.search(&scope, &question).expect("an answer"), "{scope:?} {question:?}");
        assert_eq!(one.speakers(&scope).expect("names"), other.speakers(&scope).expect("names"));
    }
}

#[test]
fn base_and_tail_answer_like_a_base_made_from_scratch() {
    for seed in 0..20 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let folder = tempfile::tempdir().expect("a folder");
        let store = Fake::new(Some("m1"));
        let mut index = SearchIndex::open(Arc::clone(&store), folder.path());
        for _ in 0..12 {
            for _ in 0..random.usize(..40) {
                any_act(&store, &mut random);
            }
            match random.u8(..5) {
                0 => index = SearchIndex::open(Arc::clone(&store), folder.path()),
                1 | 2 => drop(index.tend_now().expect("folded")),
                3 => drop(index.purge().expect("purged")),
                _ => {}
            }
            let scratch = SearchIndex::in_memory(Arc::clone(&store));
            assert_alike(&store, &index, &scratch, &mut random);
        }
        assert_eq!(index.status().expect("a status").damage, Vec::<String>::new());
    }
}
