//! More items than are compared one by one: signs choose the candidates, and a small space is still searched
//! completely.

use std::sync::Arc;

use tulving_core::model::search::SearchScope;
use tulving_core::ports::Index;
use tulving_store::SearchIndex;

use super::ask::{everything, question};
use super::fake::{Fake, cut, memory, space, text};

/// More than the number of items up to which all are compared.
const MANY: usize = 10_400;

#[test]
fn many_items_are_found_alike_in_base_and_tail_and_a_small_space_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Fake::new(Some("m1"));
    let mut random = fastrand::Rng::with_seed(6);
    let index = SearchIndex::open(Arc::clone(&store), folder.path());
    for n in 0..MANY {
        let mut made = memory(store.now(), &text(&mut random, 4));
        // One of a hundred is in a space of its own.
        made.space = space(u8::from(n % 100 == 0));
        let chunks = cut(&made.fields.text.content, 1);
        let id = store.save(made, chunks);
        store.embed(id, "m1", 64);
        if n == MANY / 2 {
            index.tend().expect("made");
        } else if n % (MANY / 8) == 0 {
            // Keeps the index up to date, because a long backlog is not read before answering.
            index.search(&everything(), &question("alpha", "m1", 64)).expect("an answer");
        }
    }
    let scratch = SearchIndex::in_memory(Arc::clone(&store));
    for asked in ["alpha beta", "psi omega deployment", "rho"] {
        let question = question(asked, "m1", 64);
        let found = index.search(&everything(), &question).expect("an answer");
        assert_eq!(found, scratch.search(&everything(), &question).expect("an answer"));
        assert_eq!((found.with_meaning, found.within), (MANY as u64, MANY as u64));
        // A text equal to the question is nearest, among all and within its space.
        let mut only: SearchScope = everything();
        only.filter.space = Some(space(1));
        let within = index.search(&only, &question).expect("an answer");
        assert_eq!(within.within, MANY as u64 / 100);
        assert_eq!(within, scratch.search(&only, &question).expect("an answer"));
        let nearest = found.items.iter().map(|item| item.closeness()).fold(0.0, f32::max);
        let exact = within.items.iter().map(|item| item.closeness()).fold(0.0, f32::max);
        assert!(nearest >= exact, "{asked}: {nearest} {exact}");
    }
    index.tend_now().expect("folded");
    let question = question("alpha beta", "m1", 64);
    let found = index.search(&everything(), &question).expect("an answer");
    assert_eq!(found, scratch.search(&everything(), &question).expect("an answer"));
}
