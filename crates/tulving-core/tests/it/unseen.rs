//! Memories that somebody may not see do not change their answers: no score, no order, no count.

use std::sync::Arc;

use tulving_core::Engine;
use tulving_core::model::answer::{Answer, Cursor, NearMemory, SaveOutcome, Strength};
use tulving_core::model::id::{ListingId, MemoryId, Seq};
use tulving_core::model::request::{
    Caller, ForgetMode, Fusion, ListRequest, RecallQuestion, SaveRequest, Sort, UpdateRequest,
};
use tulving_core::model::vocabulary::{Boundary, ChangeKind, Role};
use tulving_core::ports::Log;
use tulving_testkit::build::{self};
use tulving_testkit::embedder::FakeEmbedder;
use tulving_testkit::seed::{RandomSeed, SeedPanicGuard};

use crate::bed::{Bed, listing, said};
use crate::isolation::{asking, described, pick};

/// A hub with Ann and Bob, and another with Eve, which Bob does not know.
struct UnseenFixture {
    bed: Bed,
    ann: Caller,
    bob: Caller,
    eve: Caller,
    /// One with the plain index, one with the production index.
    engines: [Engine; 2],
}

impl UnseenFixture {
    fn new() -> Self {
        let bed = Bed::embedding(Arc::new(FakeEmbedder));
        let [hub, elsewhere] = ["hub", "elsewhere"].map(|name| bed.hub(name));
        let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
        let eve = bed.member("eve", elsewhere, Role::Writer);
        let embedder = || Arc::new(FakeEmbedder);
        let engines = [bed.beside_with(embedder(), Vec::new()), bed.shipped(embedder())];
        Self { bed, ann, bob, eve, engines }
    }

    /// Returns all answers that Bob gets, at the same time in every run.
    fn described(&self, questions: &[String]) -> Vec<Answer> {
        let mut answers = Vec::new();
        for question in questions {
            for (fusion, abstain_below) in
                [(Fusion::Measured, None), (Fusion::Ranks, None), (Fusion::Measured, Some(Strength::Strong))]
            {
                let ask = RecallQuestion { fusion, abstain_below, ..RecallQuestion::new(question.clone()) };
                for engine in &self.engines {
                    self.bed.clock.set(build::second(5_000));
                    answers.push(engine.recall(&self.bob, &asking(ask.clone())).expect("an answer"));
                }
            }
        }
        answers
    }

    /// Returns the memories that Bob's receipts name as near duplicates. His saves are erased afterwards.
    fn near(&self, contents: &[String]) -> Vec<Vec<NearMemory>> {
        let mut named = Vec::new();
        for content in contents {
            for engine in &self.engines {
                let receipt = engine.save(&self.bob, SaveRequest::new(content.clone())).expect("saved");
                assert_eq!(receipt.outcome, SaveOutcome::Created, "{content}");
                self.bed.forget(&self.bob, receipt.memory.id, ForgetMode::Hard);
                named.push(receipt.near);
            }
        }
        named
    }
}

const SAID: [&str; 16] = [
    "deployment",
    "runs",
    "friday",
    "zebra",
    "stripes",
    "kitchen",
    "budget",
    "zorblatqk",
    "harbour",
    "violin",
    "gears",
    "turbine",
    "ledger",
    "orchard",
    "signal",
    "lantern",
];

/// Words that others have saved and that resemble some of the words above.
const BAIT: [&str; 8] = ["deploy", "zorblat", "zorbla", "stripe", "submarine", "turb", "orchards", "sign"];

fn words(random: &mut fastrand::Rng, from: &[&str], count: usize) -> String {
    (0..count).map(|_| pick(random, from)).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_hidden_changes_nothing_of_an_answer() {
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut random = seed.random();
    let all: Vec<&str> = SAID.into_iter().chain(BAIT).collect();
    let (mut found, mut near) = (0, 0);
    for _ in 0..2 {
        let town = UnseenFixture::new();
        let saying = |random: &mut fastrand::Rng, n: i64, from: &[&str], by: &[&str], boundary| {
            let count = random.usize(2..9);
            let talk = random.bool().then(|| format!("talk {}", random.u8(..2)));
            SaveRequest {
                boundary: Some(boundary),
                speaker: talk.is_some().then(|| pick(random, by).to_owned()),
                position: talk.is_some().then_some(n),
                conversation: talk,
                ..SaveRequest::new(format!("{} {n}", words(random, from, count)))
            }
        };
        let mut said = Vec::new();
        for n in 0..24 {
            let who = if n % 2 == 0 { &town.ann } else { &town.bob };
            let boundary = if n % 5 == 1 { Boundary::Private } else { Boundary::Hub };
            let request = saying(&mut random, n, &SAID, &["Ada", "Grace"], boundary);
            said.push(request.content.clone());
            town.bed.save(who, request);
        }
        let mut questions: Vec<String> =
            ["what did Zelda say about the deployment?", "who repairs nuclear submarines beside a zebra"]
                .map(str::to_owned)
                .to_vec();
        questions.extend((0..6).map(|n| words(&mut random, &all, n % 4 + 1)));
        // Repeats of saved texts, with one word more.
        let probes: Vec<String> = said.iter().step_by(6).map(|said| format!("{said} {said} again")).collect();
        let before = (town.described(&questions), town.near(&probes));
        for n in 0..30 {
            let (who, boundary) =
                if n % 2 == 0 { (&town.ann, Boundary::Private) } else { (&town.eve, Boundary::Hub) };
            let from = if n % 3 == 0 { &BAIT[..] } else { &all };
            let request = saying(&mut random, n, from, &["Zelda", "Ada"], boundary);
            town.bed.save(who, request);
        }
        // And exactly the same texts.
        for content in said.iter().chain(&probes) {
            let private =
                SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new(content.clone()) };
            town.bed.save(&town.ann, private);
            town.bed.save(&town.eve, content.as_str());
        }
        let after = (town.described(&questions), town.near(&probes));
        for (before, after) in before.0.iter().zip(&after.0) {
            assert_eq!(before, after);
            found += before.hits.len();
        }
        assert_eq!(before.1, after.1);
        near += before.1.iter().map(Vec::len).sum::<usize>();
    }
    assert!(found > 250 && near > 5, "the run was about something: {found} hits, {near} near ones");
}

#[test]
fn a_private_zorblat_of_anothers_does_not_hide_ones_own_zorblatqk() {
    let town = UnseenFixture::new();
    let private = |content: &str| SaveRequest {
        boundary: Some(Boundary::Private),
        ..SaveRequest::new(content.to_owned())
    };
    town.bed.save(&town.bob, private("zorblatqk"));
    let asked = ["zorblat".to_owned()];
    let before = town.described(&asked);
    assert!(before.iter().take(4).all(|answer| answer.hits.len() == 1), "{before:?}");
    town.bed.save(&town.ann, private("zorblat"));
    town.bed.save(&town.eve, "zorblat zorblat");
    assert_eq!(town.described(&asked), before);
}

#[test]
fn a_frozen_order_is_of_no_use_to_others() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    for n in 0..9 {
        for who in [&ann, &bob] {
            let request =
                SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new(format!("thought {n}")) };
            bed.save(who, request);
        }
    }
    let first = |who: &Caller| {
        let page = bed.engine.list(who, &listing(Sort::Updated, 3)).unwrap();
        page.next.expect("there is more")
    };
    let (hers, his) = (first(&ann), first(&bob));
    let next = |who: &Caller, cursor: Cursor| {
        let request = ListRequest { cursor: Some(cursor), ..listing(Sort::Updated, 3) };
        described(bed.engine.list(who, &request), cursor)
    };
    assert!(next(&bob, hers).contains("invalid_cursor"));
    // With her position in a cursor of his own, as somebody who knows the format could forge it.
    let forged = Cursor { position: hers.position, ..his };
    let made_up = Cursor {
        position: tulving_core::model::answer::Position::Frozen(ListingId::mint(build::second(5)), 3),
        ..his
    };
    assert_eq!(next(&bob, forged), next(&bob, made_up));
    assert!(next(&bob, his).contains("found"));
}

#[test]
fn a_frozen_order_does_not_show_what_was_hidden_since() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    let ids: Vec<MemoryId> =
        (0..6).map(|n| bed.save(&ann, format!("thought {n}").as_str()).memory.id).collect();
    let first = bed.engine.list(&bob, &listing(Sort::Updated, 3)).unwrap();
    let hide = UpdateRequest { boundary: Some(Boundary::Private), ..UpdateRequest::default() };
    bed.update(&ann, ids[1], &hide);
    bed.forget(&ann, ids[0], ForgetMode::Soft);
    let rest = ListRequest { cursor: first.next, ..listing(Sort::Updated, 3) };
    let rest = bed.engine.list(&bob, &rest).unwrap();
    let left: Vec<MemoryId> = rest.memories.iter().map(|memory| memory.id).collect();
    assert_eq!(left, [ids[2]]);
}

#[test]
fn the_log_of_changes_holds_no_content() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "unutterable");
    bed.update(&user, memory.memory.id, &said("unutterable, edited"));
    bed.forget(&user, memory.memory.id, ForgetMode::Hard);
    let changes = Log::changes(&*bed.store, Seq(0), 100).unwrap();
    assert_eq!(changes.last().map(|change| change.kind), Some(ChangeKind::Erased));
    let everything = format!("{changes:?} {:?}", bed.dump());
    assert!(!everything.contains("unutterable"));
}
