//! Requests that are done only once: each claim belongs to its principal, and only one caller starts the request.

use tulving_core::model::change::Write;
use tulving_core::model::claim::Claim;
use tulving_core::model::error::{Conflict, StoreError};
use tulving_core::model::id::PrincipalId;
use tulving_core::model::time::Timestamp;

use super::{StoreFactory, conflict, good, world};
use crate::build::StoreFixture;

const ASKED: [u8; 32] = [7; 32];

fn begin(
    world: &StoreFixture,
    who: PrincipalId,
    key: &str,
    fingerprint: [u8; 32],
    from: Option<Timestamp>,
) -> Result<(), StoreError> {
    let key = key.to_owned();
    world.apply_as(who, Vec::new(), vec![Write::Claim { key, fingerprint, from }]).map(drop)
}

/// Answers the present claim.
fn answer(world: &StoreFixture, who: PrincipalId, key: &str, answer: &str) {
    let begun = known(world, who, key).map_or_else(|| world.now(), |claim| claim.at);
    answer_begun(world, who, key, begun, answer);
}

fn answer_begun(world: &StoreFixture, who: PrincipalId, key: &str, begun: Timestamp, answer: &str) {
    let (key, answer) = (key.to_owned(), answer.to_owned());
    good(world.apply_as(who, Vec::new(), vec![Write::Answer { key, begun, answer }]));
}

fn drop_begun(world: &StoreFixture, who: PrincipalId, key: &str, begun: Timestamp) {
    let key = key.to_owned();
    good(world.apply_as(who, Vec::new(), vec![Write::DropClaim { key, begun }]));
}

fn known(world: &StoreFixture, who: PrincipalId, key: &str) -> Option<Claim> {
    good(world.store.claim(who, key))
}

/// The answer of the present claim.
#[track_caller]
fn answered(world: &StoreFixture, who: PrincipalId, key: &str) -> Option<String> {
    known(world, who, key).expect("it is known").answer
}

/// The same key of two principals is two independent claims. Neither claim is in the log or in a dump.
pub fn a_claim_is_its_principals(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let [ann, bob] = ["ann", "bob"].map(|name| world.principal(name));
    let (head, dump) = (good(world.store.head()), world.dump());
    assert_eq!(known(&world, ann, "k"), None);
    good(begin(&world, ann, "k", ASKED, None));
    assert_eq!(known(&world, bob, "k"), None);
    good(begin(&world, bob, "k", [8; 32], None));
    answer(&world, bob, "k", "his");
    let hers = known(&world, ann, "k").expect("it is known");
    assert_eq!((hers.fingerprint, hers.answer), (ASKED, None));
    let his = known(&world, bob, "k").expect("it is known");
    assert_eq!((his.fingerprint, his.answer.as_deref()), ([8; 32], Some("his")));
    assert!(his.at > hers.at, "each is as old as its last write");
    assert_eq!(known(&world, bob, "K"), None, "keys are told apart by every byte");
    assert_eq!((good(world.store.head()), world.dump()), (head, dump));
}

/// If two callers start the same request, only one of them succeeds. A claim is replaced only by a caller that knows
/// its current state.
pub fn a_claim_is_made_on_what_is_so(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let who = world.principal("ann");
    assert_eq!(conflict(begin(&world, who, "k", ASKED, Some(world.now()))), Conflict::Claimed);
    good(begin(&world, who, "k", ASKED, None));
    assert_eq!(conflict(begin(&world, who, "k", ASKED, None)), Conflict::Claimed);
    let first = known(&world, who, "k").expect("it is known");
    answer(&world, who, "k", "done");
    assert_eq!(conflict(begin(&world, who, "k", ASKED, Some(first.at))), Conflict::Claimed);
    let second = known(&world, who, "k").expect("it is known");
    good(begin(&world, who, "k", [8; 32], Some(second.at)));
    let third = known(&world, who, "k").expect("it is known");
    assert_eq!((third.fingerprint, third.answer), ([8; 32], None));
    assert!(third.at > second.at);
}

/// The first answer counts, however long it is. An answer to an unknown claim is ignored.
pub fn an_answer_stays(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let who = world.principal("ann");
    answer(&world, who, "k", "too early");
    assert_eq!(known(&world, who, "k"), None);
    good(begin(&world, who, "k", ASKED, None));
    assert_eq!(answered(&world, who, "k"), None);
    let long = "π\0\n".repeat(200_000);
    answer(&world, who, "k", &long);
    answer(&world, who, "k", "another");
    assert_eq!(answered(&world, who, "k"), Some(long));
}

/// A failed request can be started again, a finished one cannot.
pub fn only_what_was_not_answered_is_dropped(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let [ann, bob] = ["ann", "bob"].map(|name| world.principal(name));
    let drop = |who| {
        let hers = known(&world, ann, "k").map_or_else(|| world.now(), |claim| claim.at);
        drop_begun(&world, who, "k", hers);
    };
    drop(ann);
    good(begin(&world, ann, "k", ASKED, None));
    drop(bob);
    assert_eq!(answered(&world, ann, "k"), None, "it is hers");
    drop(ann);
    assert_eq!(known(&world, ann, "k"), None);
    good(begin(&world, ann, "k", ASKED, None));
    answer(&world, ann, "k", "done");
    drop(ann);
    assert_eq!(answered(&world, ann, "k").as_deref(), Some("done"));
}

/// An answer may contain the text of a memory that is erased later. So an erasure removes all answers that were given
/// or begun before it.
pub fn an_erasure_empties_answers(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("erasing");
    let other = world.principal("other");
    let memory = world.put(space, owner, "unutterable", |_| ());
    good(begin(&world, owner, "answered", ASKED, None));
    answer(&world, owner, "answered", "unutterable");
    good(begin(&world, other, "running", ASKED, None));
    world.erase(memory.id);
    answer(&world, other, "running", "unutterable");
    good(begin(&world, owner, "later", ASKED, None));
    answer(&world, owner, "later", "something else");
    assert_eq!(answered(&world, owner, "answered").as_deref(), Some(""), "it was done, and is not told");
    assert_eq!(answered(&world, other, "running").as_deref(), Some(""));
    assert_eq!(answered(&world, owner, "later").as_deref(), Some("something else"));
}

/// Old claims are removed in batches, and newer claims stay.
pub fn old_claims_go_oldest_first(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let [ann, bob] = ["ann", "bob"].map(|name| world.principal(name));
    for (who, key) in [(ann, "1"), (bob, "2"), (ann, "3"), (ann, "4")] {
        good(begin(&world, who, key, ASKED, None));
    }
    answer(&world, ann, "1", "late");
    let before = known(&world, ann, "4").expect("it is known").at;
    let left = |most| {
        world.apply(vec![Write::PruneClaims { before, most }]);
        [(ann, "1"), (bob, "2"), (ann, "3"), (ann, "4")].map(|(who, key)| known(&world, who, key).is_some())
    };
    assert_eq!(left(1), [true, false, true, true]);
    assert_eq!(left(9), [true, false, false, true], "an answer is a write too");
}

/// A late caller whose claim another caller has taken over changes nothing.
pub fn a_claim_is_answered_and_dropped_by_who_began_it(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let who = world.principal("ann");
    let begun = || known(&world, who, "k").expect("it is known").at;
    good(begin(&world, who, "k", ASKED, None));
    let first = begun();
    good(begin(&world, who, "k", ASKED, Some(first)));
    let second = begun();
    answer_begun(&world, who, "k", first, "late");
    drop_begun(&world, who, "k", first);
    assert_eq!((begun(), answered(&world, who, "k")), (second, None));
    answer_begun(&world, who, "k", second, "in time");
    assert_eq!(answered(&world, who, "k").as_deref(), Some("in time"));
}

/// Answered claims are removed before unanswered ones, the oldest first, and only those of the actor.
pub fn a_principal_has_so_many_claims(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let [ann, bob] = ["ann", "bob"].map(|name| world.principal(name));
    let keys = ["1", "2", "3", "4", "5"];
    for key in keys {
        good(begin(&world, ann, key, ASKED, None));
        good(begin(&world, bob, key, ASKED, None));
    }
    for key in ["4", "2"] {
        answer(&world, ann, key, "done");
    }
    let left = |keep| {
        good(world.apply_as(ann, Vec::new(), vec![Write::BoundClaims { keep }]));
        keys.into_iter().filter(|key| known(&world, ann, key).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(left(5), keys);
    assert_eq!(left(4), ["1", "2", "3", "5"], "answered first");
    assert_eq!(left(2), ["3", "5"]);
    assert!(keys.into_iter().all(|key| known(&world, bob, key).is_some()), "they are his");
}

/// The oldest answers become empty and the claims stay, so that a finished request is not done again.
pub fn a_principal_has_so_many_bytes_of_answers(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let [ann, bob] = ["ann", "bob"].map(|name| world.principal(name));
    for (who, key) in [(ann, "1"), (ann, "2"), (ann, "3"), (ann, "4"), (bob, "1")] {
        good(begin(&world, who, key, ASKED, None));
    }
    for (who, key) in [(bob, "1"), (ann, "3"), (ann, "2"), (ann, "1")] {
        answer(&world, who, key, "ππ");
    }
    let left = |keep| {
        good(world.apply_as(ann, Vec::new(), vec![Write::BoundAnswers { keep }]));
        ["1", "2", "3", "4"].map(|key| answered(&world, ann, key))
    };
    let (kept, empty) = (Some("ππ".to_owned()), Some(String::new()));
    assert_eq!(left(12), [kept.clone(), kept.clone(), kept.clone(), None]);
    assert_eq!(left(11), [kept.clone(), kept.clone(), empty.clone(), None], "bytes, not characters");
    assert_eq!(left(4), [kept.clone(), empty.clone(), empty, None]);
    assert_eq!(answered(&world, bob, "1"), kept, "it is his");
}
