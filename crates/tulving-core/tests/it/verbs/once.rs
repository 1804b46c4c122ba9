//! begin_once, answer_once and drop_once: a request is done once.

use std::time::Duration;

use tulving_core::model::answer::IdempotencyDecision;
use tulving_core::model::change::Write;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::SpaceId;
use tulving_core::model::limits;
use tulving_core::model::request::{Caller, ForgetMode, SaveRequest};
use tulving_core::model::vocabulary::Role;
use tulving_core::ports::{Claims, Store};
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::NoEmbedder;

use crate::bed::{Bed, refused, within};

const ASKED: [u8; 32] = [1; 32];
const HOUR: Duration = Duration::from_secs(3_600);

/// Creates a bed whose clock stands still until it is moved.
fn still() -> (Bed, Caller) {
    let bed = Bed::with(ManualClock::new(), std::sync::Arc::new(NoEmbedder));
    let user = bed.user();
    (bed, user)
}

fn begin(bed: &Bed, caller: &Caller, key: &str) -> IdempotencyDecision {
    bed.engine.begin_once(caller, key, ASKED).expect("an answer")
}

/// Returns a request begun at this moment.
fn begun(bed: &Bed) -> IdempotencyDecision {
    IdempotencyDecision::Begun(bed.engine.now())
}

/// Answers the request begun at this moment.
fn answer(bed: &Bed, caller: &Caller, key: &str, answer: &str) {
    bed.engine.answer_once(caller, key, bed.engine.now(), answer).expect("kept");
}

/// Drops the request begun at this moment.
fn drop_it(bed: &Bed, caller: &Caller, key: &str) {
    bed.engine.drop_once(caller, key, bed.engine.now()).expect("dropped");
}

#[test]
fn what_was_answered_is_answered_the_same_again() {
    let (bed, user) = still();
    assert_eq!(begin(&bed, &user, "k"), begun(&bed));
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Running);
    answer(&bed, &user, "k", "{\"id\": 1}");
    let answered = IdempotencyDecision::Answered("{\"id\": 1}".to_owned());
    assert_eq!(begin(&bed, &user, "k"), answered);
    assert_eq!(bed.engine.begin_once(&user, "k", [2; 32]).unwrap(), IdempotencyDecision::Differs);
    assert_eq!(begin(&bed, &user, "another"), begun(&bed));
    answer(&bed, &user, "k", "later");
    drop_it(&bed, &user, "k");
    assert_eq!(begin(&bed, &user, "k"), answered, "what was done stays done");
    let elsewhere = bed.beside();
    assert_eq!(elsewhere.begin_once(&user, "k", ASKED).unwrap(), answered, "in every process");
}

#[test]
fn what_failed_may_be_tried_anew_with_another_request_too() {
    let (bed, user) = still();
    begin(&bed, &user, "k");
    assert_eq!(bed.engine.begin_once(&user, "k", [2; 32]).unwrap(), IdempotencyDecision::Differs);
    drop_it(&bed, &user, "k");
    assert_eq!(bed.engine.begin_once(&user, "k", [2; 32]).unwrap(), begun(&bed));
}

#[test]
fn two_principals_and_two_reaches_of_one_never_meet() {
    let (bed, user) = still();
    let hub = bed.hub("hub");
    let ann = bed.member("ann", hub, Role::Writer);
    begin(&bed, &user, "k");
    answer(&bed, &user, "k", "for the user");
    assert_eq!(begin(&bed, &ann, "k"), begun(&bed));
    drop_it(&bed, &ann, "k");
    let confined = |within: &[SpaceId]| Caller {
        viewer: build::confined(user.viewer.principal, within),
        ..user.clone()
    };
    let lowered = Caller { ceiling: Role::Reader, ..user.clone() };
    for other in [lowered, confined(&[]), confined(&[hub]), within(&user, hub)] {
        assert_eq!(begin(&bed, &other, "k"), IdempotencyDecision::Differs, "{other:?}");
    }
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Answered("for the user".to_owned()));
}

#[test]
fn a_request_whose_process_died_is_taken_over_by_one() {
    let (bed, user) = still();
    begin(&bed, &user, "k");
    bed.clock.advance(Duration::from_secs(119));
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Running);
    bed.clock.advance(Duration::from_secs(1));
    assert_eq!(bed.engine.begin_once(&user, "k", [2; 32]).unwrap(), IdempotencyDecision::Differs);
    let by = user.viewer.principal;
    let (at, sooner) = (bed.engine.now(), bed.store.claim(by, "k").unwrap().expect("there"));
    bed.store.before_next_apply(move |store| {
        let write =
            Write::Claim { key: "k".to_owned(), fingerprint: sooner.fingerprint, from: Some(sooner.at) };
        let by = tulving_core::model::change::Actor { principal: by, agent: None };
        let set = tulving_core::model::change::ChangeSet { by, at, rights: Vec::new(), writes: vec![write] };
        store.apply(&set).expect("somebody else is faster");
    });
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Running, "somebody else has taken it over");
    bed.clock.advance(Duration::from_secs(120));
    assert_eq!(begin(&bed, &user, "k"), begun(&bed));
}

#[test]
fn a_day_after_its_last_write_a_key_is_free() {
    let (bed, user) = still();
    let began = bed.engine.now();
    begin(&bed, &user, "k");
    bed.clock.advance(Duration::from_secs(60));
    bed.engine.answer_once(&user, "k", began, "done").unwrap();
    bed.clock.advance(24 * HOUR - Duration::from_secs(1));
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Answered("done".to_owned()));
    bed.clock.advance(Duration::from_secs(1));
    assert_eq!(bed.engine.begin_once(&user, "k", [2; 32]).unwrap(), begun(&bed));
    for n in 0..30 {
        begin(&bed, &user, &format!("old-{n}"));
    }
    bed.clock.advance(25 * HOUR);
    let left = || {
        let known = |n: &i32| bed.store.claim(user.viewer.principal, &format!("old-{n}")).unwrap().is_some();
        (0..30).filter(known).count()
    };
    begin(&bed, &user, "new-0");
    assert!((1..30).contains(&left()), "some of the old ones go with each new one: {}", left());
    for n in 1..4 {
        begin(&bed, &user, &format!("new-{n}"));
    }
    assert_eq!(left(), 0);
}

#[test]
fn a_key_is_visible_ascii() {
    let (bed, user) = still();
    let longest = "x".repeat(255);
    for good in ["1", "!~", "8e03978e-40d5-43e8-bc93-6894a57f9324", longest.as_str()] {
        assert_eq!(begin(&bed, &user, good), begun(&bed), "{good}");
    }
    let too_long = "x".repeat(256);
    for wrong in ["", " ", "a b", "tab\t", "ünï", "\u{7f}", too_long.as_str()] {
        let begun = bed.engine.begin_once(&user, wrong, ASKED);
        refused!(begun, Error::Invalid(Invalid::OnceKey { .. }));
        let now = bed.engine.now();
        refused!(bed.engine.answer_once(&user, wrong, now, ""), Error::Invalid(Invalid::OnceKey { .. }));
        refused!(bed.engine.drop_once(&user, wrong, now), Error::Invalid(Invalid::OnceKey { .. }));
    }
}

#[test]
fn an_answer_that_is_too_long_or_may_tell_of_what_is_erased_is_empty() {
    let (bed, user) = still();
    let answered = |key: &str, said: &str| {
        answer(&bed, &user, key, said);
        begin(&bed, &user, key)
    };
    let longest = "x".repeat(limits::KEPT_ANSWER_BYTES);
    begin(&bed, &user, "long");
    assert_eq!(answered("long", &longest), IdempotencyDecision::Answered(longest.clone()));
    begin(&bed, &user, "longer");
    assert_eq!(answered("longer", &(longest + "x")), IdempotencyDecision::Answered(String::new()));
    begin(&bed, &user, "save");
    let id = bed.save(&user, "unutterable").memory.id;
    assert_eq!(answered("save", "unutterable"), IdempotencyDecision::Answered("unutterable".to_owned()));
    begin(&bed, &user, "erase");
    let gone = bed.forget(&user, id, ForgetMode::Hard);
    assert_eq!(answered("erase", &gone.fields.text.content), IdempotencyDecision::Answered(String::new()));
    assert_eq!(begin(&bed, &user, "save"), IdempotencyDecision::Answered(String::new()));
    let store: &dyn Store = &*bed.store;
    assert!(!format!("{:?}", build::dump(store, 100)).contains("unutterable"));
}

#[test]
fn who_is_late_neither_answers_nor_drops_what_another_took_over() {
    let (bed, user) = still();
    let late = bed.engine.now();
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Begun(late));
    bed.clock.advance(Duration::from_secs(120));
    assert_eq!(begin(&bed, &user, "k"), begun(&bed));
    bed.engine.drop_once(&user, "k", late).unwrap();
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Running);
    bed.engine.answer_once(&user, "k", late, "late").unwrap();
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Running);
    answer(&bed, &user, "k", "in time");
    assert_eq!(begin(&bed, &user, "k"), IdempotencyDecision::Answered("in time".to_owned()));
}

#[test]
fn one_principal_fills_no_disk() {
    let (bed, user) = still();
    let longest = "x".repeat(limits::KEPT_ANSWER_BYTES);
    let kept = limits::KEPT_ANSWERS_BYTES / limits::KEPT_ANSWER_BYTES;
    for n in 0..=kept {
        begin(&bed, &user, &format!("long-{n}"));
        answer(&bed, &user, &format!("long-{n}"), &longest);
        bed.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(
        begin(&bed, &user, "long-0"),
        IdempotencyDecision::Answered(String::new()),
        "done, and not told"
    );
    assert_eq!(begin(&bed, &user, "long-1"), IdempotencyDecision::Answered(longest));
    let running = (0..limits::CLAIMS - kept).map(|n| Write::Claim {
        key: format!("running-{n}"),
        fingerprint: ASKED,
        from: None,
    });
    let world = bed.world();
    world.apply_as(user.viewer.principal, Vec::new(), running.collect()).expect("applied");
    begin(&bed, &user, "new");
    let known = |key: &str| bed.store.claim(user.viewer.principal, key).unwrap().is_some();
    assert_eq!(
        ["long-0", "long-1", "long-2", "running-0", "new"].map(known),
        [false, false, true, true, true]
    );
}

#[test]
fn who_was_removed_is_not_told_what_was_answered() {
    let (bed, user) = still();
    let hub = bed.hub("hub");
    let ann = bed.member("ann", hub, Role::Writer);
    begin(&bed, &ann, "k");
    answer(&bed, &ann, "k", "what the hub knows");
    bed.engine.remove_member(&user, "hub", "ann").unwrap();
    let refused = bed.engine.begin_once(&ann, "k", ASKED).unwrap_err();
    let elsewhere = bed.engine.save(&ann, SaveRequest::new("anything")).unwrap_err();
    assert_eq!((refused.code(), refused.to_string()), (elsewhere.code(), elsewhere.to_string()));
    bed.engine.set_member(&user, "hub", "ann", Role::Reader).unwrap();
    assert_eq!(begin(&bed, &ann, "k"), IdempotencyDecision::Answered("what the hub knows".to_owned()));
}

#[test]
fn who_is_in_no_space_of_the_call_is_answered_the_same_again() {
    let (bed, _) = still();
    let stranger = bed.person("stranger");
    begin(&bed, &stranger, "k");
    answer(&bed, &stranger, "k", "about a memory named by its id");
    let answered = IdempotencyDecision::Answered("about a memory named by its id".to_owned());
    assert_eq!(begin(&bed, &stranger, "k"), answered);
    bed.engine.set_member(&bed.user(), "default", "stranger", Role::Reader).unwrap();
    assert_eq!(begin(&bed, &stranger, "k"), answered);
}
