//! The plain index of the test kit, which the engine's tests use, finds the same as this one, without segments, bits or
//! windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use tulving_core::model::id::MemoryId;
use tulving_core::model::search::{
    self, IndexEntry, Item, QueryVector, SearchQuery, SearchResults, SearchScope, Session,
};
use tulving_core::model::time::Timestamp;
use tulving_core::ports::Index;
use tulving_store::SearchIndex;
use tulving_testkit::index::PlainIndex;

use super::ask::{any_question, any_scope, words};
use super::fake::{Fake, any_act};

/// The tolerance for equal scores.
const SAME: f32 = 1e-4;
/// The largest error in closeness from storing vectors as bytes.
const COARSE: f32 = 0.006;

fn same(one: f32, other: f32, what: &str) {
    assert!((one - other).abs() <= SAME, "{what}: {one} and {other}");
}

fn same_option(one: Option<f32>, other: Option<f32>, what: &str) {
    assert_eq!(one.is_some(), other.is_some(), "{what}");
    same(one.unwrap_or(0.0), other.unwrap_or(0.0), what);
}

fn by_name(found: &SearchResults) -> BTreeMap<(MemoryId, u32), &Item> {
    found.items.iter().map(|item| ((item.memory, item.chunk), item)).collect()
}

fn session<'a>(found: &'a SearchResults, item: &Item) -> Option<&'a Session> {
    item.session.map(|session| &found.sessions[session as usize])
}

fn assert_same(one: &SearchResults, other: &SearchResults) {
    let counts =
        |found: &SearchResults| (found.with_terms, found.with_meaning, found.unembedded, found.within);
    assert_eq!(counts(one), counts(other));
    assert_eq!(one.sessions.len(), other.sessions.len());
    assert_eq!(one.rarities.len(), other.rarities.len());
    one.rarities.iter().zip(&other.rarities).for_each(|(one, other)| same(*one, *other, "rarity"));
    assert_eq!(one.worth.len(), other.worth.len());
    one.worth.iter().zip(&other.worth).for_each(|(one, other)| same(*one, *other, "worth"));
    let (items, others) = (by_name(one), by_name(other));
    assert!(items.keys().eq(others.keys()), "{:?} {:?}", items.keys(), others.keys());
    for (item, like) in items.values().zip(others.values()) {
        same(item.lexical, like.lexical, "lexical");
        same(item.coverage, like.coverage, "coverage");
        same_option(item.whole, like.whole, "whole");
        same_option(item.sentence, like.sentence, "sentence");
        let plain =
            |item: &Item| (item.candidate, item.terms, item.order, item.at, item.properties, item.weights);
        assert_eq!(plain(item), plain(like));
        let speaker =
            |found: &SearchResults, item: &Item| item.speaker.map(|at| found.speakers[at as usize].clone());
        assert_eq!(speaker(one, item), speaker(other, like));
        match (session(one, item), session(other, like)) {
            (Some(talk), Some(same_talk)) => {
                let plain =
                    |session: &Session| (session.document, session.items, session.speakers, session.people);
                assert_eq!(plain(talk), plain(same_talk));
                same(talk.lexical, same_talk.lexical, "lexical of a session");
                same(talk.closeness, same_talk.closeness, "closeness of a session");
            }
            (talk, same_talk) => assert_eq!(talk, same_talk),
        }
    }
}

/// True if another item scores the same as the last candidate: then rounding decides which of them is one.
fn undecided(plain: &PlainIndex, scope: &SearchScope, question: &SearchQuery) -> bool {
    let all = plain.search(scope, &SearchQuery { depth: 10_000, ..question.clone() }).expect("an answer");
    let lanes: [fn(&Item) -> Option<f32>; 2] =
        [|item| Some(item.lexical).filter(|score| *score > 0.0), |item| item.whole.map(|_| item.closeness())];
    lanes.into_iter().any(|score| {
        let mut scores: Vec<f32> = all.items.iter().filter_map(score).collect();
        scores.sort_by(|one, other| other.total_cmp(one));
        let edge = question.depth.checked_sub(1).and_then(|last| scores.get(last..question.depth + 1));
        edge.is_some_and(|edge| edge[0] - edge[1] <= 2.0 * SAME)
    })
}

#[test]
fn the_index_and_the_plain_one_find_the_same() {
    let (mut asked, mut cut_off) = (0, 0);
    for seed in 300..360 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let store = Fake::new(Some("m1"));
        let (index, plain) =
            (SearchIndex::in_memory(Arc::clone(&store)), PlainIndex::new(Arc::clone(&store)));
        (0..random.usize(..60)).for_each(|_| any_act(&store, &mut random));
        for _ in 0..6 {
            // Changes since the last question are followed.
            (0..random.usize(..8)).for_each(|_| any_act(&store, &mut random));
            let (scope, mut question) = (any_scope(&store, &mut random), any_question(&mut random));
            if undecided(&plain, &scope, &question) {
                question.depth = 10_000;
            } else {
                cut_off += 1;
            }
            let found = index.search(&scope, &question).expect("an answer");
            assert_same(&found, &plain.search(&scope, &question).expect("an answer"));
            let items: Vec<(MemoryId, u32)> =
                found.items.iter().map(|item| (item.memory, item.chunk)).collect();
            let uses = |index: &dyn Index| index.uses(&scope, &question.terms, &items).expect("uses");
            assert_eq!(uses(&index), uses(&plain));
            assert_eq!(index.speakers(&scope).expect("names"), plain.speakers(&scope).expect("names"));
            asked += 1;
        }
    }
    assert!(asked == 360 && cut_off > 150, "{cut_off} of {asked}");
}

/// Returns the closeness of an item from its exact vectors.
fn exact(entries: &[IndexEntry], item: &Item, meaning: &QueryVector) -> f32 {
    let entry = entries.iter().find(|entry| entry.memory.id == item.memory).expect("it is there");
    let dot = |vector: &Vec<f32>| vector.iter().zip(&meaning.vector).map(|(a, b)| a * b).sum::<f32>();
    entry.chunks[item.chunk as usize].embedding.as_ref().map_or(0.0, |embedding| {
        search::closeness(Some(dot(&embedding.vector)), embedding.sentences.iter().map(dot).reduce(f32::max))
    })
}

#[test]
fn vectors_that_are_kept_as_bytes_are_hardly_nearer_or_farther() {
    let mut compared = 0;
    for seed in 100..115 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let store = Fake::new(Some("m1"));
        let index = SearchIndex::in_memory(Arc::clone(&store));
        (0..random.usize(40..120)).for_each(|_| any_act(&store, &mut random));
        let entries = store.all(Some("m1"));
        for _ in 0..12 {
            let (scope, question) = (any_scope(&store, &mut random), any_question(&mut random));
            let Some(meaning) = &question.meaning else { continue };
            for item in index.search(&scope, &question).expect("an answer").items {
                let (near, exact) = (item.closeness(), exact(&entries, &item, meaning));
                assert!((near - exact).abs() <= COARSE, "{near} and {exact}");
                compared += usize::from(exact > 0.0);
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn what_is_of_a_time_is_a_candidate_for_both_and_no_more_than_were_asked_for() {
    let mut found_some = 0;
    for seed in 400..440 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let store = Fake::new(Some("m1"));
        let (index, plain) =
            (SearchIndex::in_memory(Arc::clone(&store)), PlainIndex::new(Arc::clone(&store)));
        (0..random.usize(..60)).for_each(|_| any_act(&store, &mut random));
        let scope = any_scope(&store, &mut random);
        let all = plain.search(&scope, &any_time(0)).expect("an answer");
        assert!(all.items.iter().all(|item| !item.candidate), "nothing was asked for");
        for depth in [1, 3, 10_000] {
            let found = index.search(&scope, &any_time(depth)).expect("an answer");
            assert_same(&found, &plain.search(&scope, &any_time(depth)).expect("an answer"));
            let candidates = found.items.iter().filter(|item| item.candidate).count();
            assert!(candidates <= depth);
            found_some += usize::from(candidates > 0);
        }
    }
    assert!(found_some > 60, "{found_some}");
}

/// Returns a question about some of the times in the fake store.
fn any_time(depth: usize) -> SearchQuery {
    let at = |seconds: i64| Timestamp::from_micros(1_700_000_000_000_000 + seconds * 1_000_000);
    SearchQuery { depth, times: vec![at(0)..at(150), at(300)..at(100_000)], ..SearchQuery::default() }
}

#[test]
fn letters_of_several_bytes_and_many_unknown_terms_are_the_same_for_both() {
    let store = Fake::new(None);
    let (index, plain) = (SearchIndex::in_memory(Arc::clone(&store)), PlainIndex::new(Arc::clone(&store)));
    for content in ["größenwahnsinnig", "наизусть", "unbelievable alpha", "alpha beta gamma", "beta beta"]
    {
        store.say(content);
    }
    let many = "liev alp bet gam öß ößen изу аизу qa qb qc qd qe qf qg qh unbel alpha alpha";
    for asked in ["öß", "ößen", "изу", "аизу", "liev", "alp bet alp", many] {
        let found = index.search(&super::ask::everything(), &words(asked)).expect("an answer");
        assert_same(&found, &plain.search(&super::ask::everything(), &words(asked)).expect("an answer"));
    }
}
