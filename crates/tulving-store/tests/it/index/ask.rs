//! Scopes and questions, plain and random.

use std::collections::HashMap;

use tulving_core::model::id::MemoryId;
use tulving_core::model::request::Filter;
use tulving_core::model::search::{QueryVector, SearchQuery, SearchScope, VisibilityScope};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Author, Boundary, ContentType, Kind, MemoryType, Stability, State};
use tulving_text::terms::{self, BegunTerms};

use super::fake::{Fake, WORDS, person, space, text, vector};

/// Returns the scope of the first person, who sees everything that is shared in all spaces.
pub(super) fn everything() -> SearchScope {
    let spaces = (0..3).map(|n| (space(n), Boundary::Hub)).collect();
    SearchScope {
        visibility: VisibilityScope { principal: person(0), spaces },
        filter: Filter::default(),
        among: None,
    }
}

/// Returns a question by words alone.
pub(super) fn words(text: &str) -> SearchQuery {
    SearchQuery { terms: terms::terms(text), depth: 50, ..SearchQuery::default() }
}

/// Returns a question by words and meaning.
pub(super) fn question(text: &str, model: &str, dimensions: usize) -> SearchQuery {
    let meaning = QueryVector { model: model.to_owned(), vector: vector(text, dimensions) };
    SearchQuery { meaning: Some(meaning), ..words(text) }
}

pub(super) fn any_question(random: &mut fastrand::Rng) -> SearchQuery {
    let count = random.usize(0..6);
    let mut asked = text(random, count);
    // Unknown words: the beginning of one, the inside of one, nothing at all.
    match random.u8(..6) {
        0 => asked.push_str(" deploy"),
        1 => asked.push_str(" ploym"),
        2 => asked.push_str(" xyzzy"),
        3 => asked.push_str(&format!(" {}", &WORDS[random.usize(..WORDS.len())][..2])),
        _ => {}
    }
    let mut question = if random.u8(..4) == 0 { words(&asked) } else { question(&asked, "m1", 96) };
    question.depth = random.usize(0..12);
    question.exact = random.u8(..4) == 0;
    if random.u8(..4) == 0 {
        let BegunTerms { terms, last } = terms::begun_terms(&asked);
        (question.terms, question.beginning) = (terms, last);
    }
    question
}

pub(super) fn any_scope(store: &Fake, random: &mut fastrand::Rng) -> SearchScope {
    let mut spaces = HashMap::new();
    for n in 0..3 {
        if random.u8(..4) > 0 {
            spaces.insert(space(n), Boundary::ALL[random.usize(..4)]);
        }
    }
    let mut filter = Filter::default();
    for _ in 0..random.usize(..3) {
        narrow(&mut filter, random);
    }
    let ids: Vec<MemoryId> = store.inner().kept.keys().copied().collect();
    let among = (random.u8(..6) == 0).then(|| ids.into_iter().filter(|_| random.bool()).collect());
    SearchScope { visibility: VisibilityScope { principal: person(random.u8(..2)), spaces }, filter, among }
}

fn narrow(filter: &mut Filter, random: &mut fastrand::Rng) {
    let time = Some(Timestamp::from_micros(1_700_000_000_000_000 + random.i64(0..400) * 1_000_000));
    match random.u8(..13) {
        0 => filter.space = Some(space(random.u8(..3))),
        1 => filter.types = MemoryType::ALL[random.usize(..6)..].to_vec(),
        2 => filter.kinds = Kind::ALL[random.usize(..3)..].to_vec(),
        3 => filter.stabilities = Stability::ALL[random.usize(..2)..].to_vec(),
        4 => filter.states = State::ALL[..=random.usize(..4)].to_vec(),
        5 => filter.content_types = ContentType::ALL[random.usize(..5)..].to_vec(),
        6 => filter.author = Some(Author::ALL[random.usize(..2)]),
        7 => filter.pinned = Some(random.bool()),
        8 => filter.since = time,
        9 => filter.until = time,
        10 => filter.records_only = true,
        11 => {
            filter.states_at = time;
            filter.states = State::ALL.iter().copied().filter(|_| random.bool()).collect();
        }
        _ => filter.valid_at = time,
    }
}
