//! Automatic links between memories that say nearly the same.

use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::answer::{NearMemory, NearPairs, PossibleUpdate, Receipt};
use tulving_core::model::id::{MemoryNumber, MemoryRef};
use tulving_core::model::record::Record;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, LinkedBy, Relation};
use tulving_testkit::embedder::FakeEmbedder;

use super::ask::bed;
use super::embed::Other;
use crate::bed::{Bed, link};

/// A text that differs by one word is nearly the same.
pub(super) const WORDS: &str = "one two three four five six seven eight nine ten eleven twelve";

#[test]
fn a_new_memory_is_linked_to_those_that_say_nearly_the_same() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, WORDS);
    let new = bed.save(&user, format!("{WORDS} thirteen").as_str());
    assert_eq!(new.near.len(), 1);
    assert_eq!((new.near[0].id, new.near[0].number), (old.memory.id, old.memory.number));
    assert!(new.near[0].similarity.get() > 0.9);
    let related = bed.engine.related(&user, new.memory.id.into(), 1).expect("relatives");
    let edge = related[0].via[0];
    assert_eq!((edge.relation, edge.linked_by), (Relation::Updates, LinkedBy::Auto));
    assert_eq!((edge.source, edge.weight), (new.memory.id, new.near[0].similarity));
    assert_eq!(bed.get(&user, old.memory.id).superseded_by, None, "it relates and does not demote");
    assert_eq!(bed.save(&user, "something else entirely").near, []);
    let wider =
        SaveRequest { boundary: Some(Boundary::Hub), ..SaveRequest::new(format!("{WORDS} fourteen")) };
    assert_eq!(bed.save(&user, wider).near, [], "another boundary");
}

#[test]
fn memories_of_one_act_are_linked_as_if_each_were_saved_by_itself() {
    let requests = || -> Vec<SaveRequest> {
        let alike = (0..8).map(|n| SaveRequest::new(format!("{WORDS} {n}")));
        let wider = SaveRequest { boundary: Some(Boundary::Hub), ..SaveRequest::new(WORDS) };
        let expired = SaveRequest {
            expires_at: Some(Timestamp::from_micros(1)),
            ..SaveRequest::new(format!("{WORDS} gone"))
        };
        [SaveRequest::new("something else entirely"), expired, wider].into_iter().chain(alike).collect()
    };
    let (together, apart) = (bed(), bed());
    let user = together.user();
    let receipts = together.engine.save_many(&user, requests()).expect("saved");
    let singly: Vec<Receipt> = requests().into_iter().map(|one| apart.save(&apart.user(), one)).collect();
    // The index keeps vectors coarser than they are compared here.
    let described = |receipts: &[Receipt]| -> Vec<Vec<u64>> {
        let number = |near: &NearMemory| near.number.expect("a number").0;
        receipts.iter().map(|receipt| receipt.near.iter().map(number).collect()).collect()
    };
    assert_eq!(described(&receipts), described(&singly));
    let counts: Vec<usize> = receipts.iter().map(|receipt| receipt.near.len()).collect();
    assert_eq!(counts, [0, 0, 0, 0, 1, 2, 3, 4, 5, 5, 5]);
    for receipt in &receipts {
        let related = together.engine.related(&user, receipt.memory.id.into(), 1).expect("relatives");
        let out =
            related.iter().flat_map(|relative| &relative.via).filter(|edge| edge.source == receipt.memory.id);
        assert_eq!(out.count(), receipt.near.len());
    }
}

#[test]
fn what_was_committed_while_a_save_was_decided_is_linked_too() {
    let bed = bed();
    let user = bed.user();
    let (other, caller) = (bed.beside_with(Arc::new(FakeEmbedder), Vec::new()), user.clone());
    bed.store.before_next_apply(move |_| {
        other.save(&caller, SaveRequest::new(WORDS)).expect("saved");
        let unlike = SaveRequest { boundary: Some(Boundary::Hub), ..SaveRequest::new(WORDS) };
        other.save(&caller, unlike).expect("saved");
        other.save(&caller, SaveRequest::new("something else entirely")).expect("saved");
    });
    let late = bed.save(&user, format!("{WORDS} thirteen").as_str());
    let near: Vec<_> = late.near.iter().map(|near| near.number.expect("a number").0).collect();
    assert_eq!((late.memory.number.expect("a number").0, near), (4, vec![1]));
    let related = bed.engine.related(&user, late.memory.id.into(), 1).expect("relatives");
    assert_eq!(related.len(), 1);
    assert_eq!((related[0].memory.id, related[0].via[0].source), (late.near[0].id, late.memory.id));
}

#[test]
fn of_memories_that_are_saved_at_once_every_two_are_linked() {
    const THREADS: usize = 6;
    let bed = bed();
    let user = bed.user();
    std::thread::scope(|scope| {
        for n in 0..THREADS {
            let (engine, user) = (bed.beside_with(Arc::new(FakeEmbedder), Vec::new()), &user);
            scope.spawn(move || engine.save(user, SaveRequest::new(format!("{WORDS} {n}"))).expect("saved"));
        }
    });
    let edges = bed.dump().into_iter().filter(|record| matches!(record, Record::Association(_))).count();
    assert_eq!(edges, THREADS * (THREADS - 1) / 2);
}

#[test]
fn what_is_embedded_once_more_is_not_linked_once_more() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, WORDS).memory.id;
    let new = bed.save(&user, format!("{WORDS} thirteen").as_str()).memory.id;
    bed.engine.dissociate(&user, new.into(), old.into(), None).expect("unlinked");
    let to = Bed::embedding(Arc::new(FakeEmbedder));
    to.load(bed.dump());
    assert_eq!(to.engine.embed_waiting(100).expect("embedded").done, 2);
    assert_eq!(to.engine.related(&to.user(), new.into(), 1).expect("relatives"), []);
    // A new one is linked to what was loaded.
    assert_eq!(to.save(&to.user(), format!("{WORDS} fourteen").as_str()).near.len(), 2);
    let other = bed.beside_with(Arc::new(Other), vec![Arc::new(FakeEmbedder)]);
    other.change_model(100).expect("taken over");
    assert_eq!(other.related(&user, new.into(), 1).expect("relatives"), []);
}

#[test]
fn a_link_is_made_later_where_the_vectors_come_later() {
    let bed = bed();
    let user = bed.user();
    let words = "red orange yellow green blue indigo violet black white grey brown pink";
    let mut many: Vec<SaveRequest> =
        (0..20).map(|n| SaveRequest::new(format!("filler{n} word{n} thing{n} other{n}"))).collect();
    many.push(SaveRequest::new(words));
    many.push(SaveRequest::new(format!("{words} gold")));
    let receipts = bed.engine.save_many(&user, many).expect("saved");
    let (old, new) = (receipts[20].memory.id, receipts[21].memory.id);
    assert!(receipts.iter().all(|receipt| receipt.near.is_empty()));
    bed.engine.embed_waiting(100).expect("embedded");
    let related = bed.engine.related(&user, new.into(), 1).expect("relatives");
    assert_eq!(related.len(), 1);
    assert_eq!((related[0].memory.id, related[0].via[0].source), (old, new));
}

fn updates(receipt: &Receipt) -> Vec<(u64, &str, &str)> {
    let one = |update: &'_ PossibleUpdate| update.number.expect("a number").0;
    receipt
        .possible_updates
        .iter()
        .map(|update| (one(update), update.old.as_str(), update.new.as_str()))
        .collect()
}

#[test]
fn another_value_of_the_same_thing_is_named_as_a_possible_update() {
    let bed = bed();
    let user = bed.user();
    assert_eq!(updates(&bed.save(&user, "The shop closes at 18:00")), []);
    assert_eq!(updates(&bed.save(&user, "The shop closes at 19:00")), [(1, "18:00", "19:00")]);
    bed.clock.advance(Duration::from_secs(60));
    let third = bed.save(&user, "The shop closes at 20:30");
    assert_eq!(updates(&third), [(2, "19:00", "20:30"), (1, "18:00", "20:30")], "the newest first");
    let pairs = NearPairs::of(&[third]).expect("pairs");
    assert_eq!(pairs.to_string(), "possible updates: #3 of #2, #3 of #1");
    // A memory that the save replaces, or that was replaced before, is not named as a possible update.
    let link = link(MemoryRef::Number(MemoryNumber(3)), Relation::Updates);
    let fourth = SaveRequest { associations: vec![link], ..SaveRequest::new("The shop closes at 21:00") };
    assert_eq!(updates(&bed.save(&user, fourth)), [(2, "19:00", "21:00"), (1, "18:00", "21:00")]);
    assert_eq!(updates(&bed.save(&user, "The shop closes at 22:00"))[0].0, 4);
    assert_eq!(updates(&bed.save(&user, "The bakery closes at 20:30")), []);
}

#[test]
fn an_older_value_that_is_saved_later_is_no_possible_update() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The shop closes at 19:00");
    let past = SaveRequest {
        occurred_at: Some("2015-05-10".parse().expect("a day")),
        ..SaveRequest::new("The shop closes at 18:00")
    };
    assert_eq!(updates(&bed.save(&user, past)), [], "it was said before");
    assert_eq!(updates(&bed.save(&user, "The shop closes at 20:30")).len(), 2);
}

#[test]
fn a_number_that_names_something_is_no_duplicate_and_no_update() {
    let bed = bed();
    let user = bed.user();
    let ticket = |number: u32| {
        format!("Ticket {number} is about the login page that does not load on old phones and tablets")
    };
    bed.save(&user, ticket(1041).as_str());
    let second = bed.save(&user, ticket(1042).as_str());
    assert_eq!((second.near.len(), second.near[0].duplicate), (1, false), "linked, and not worth a word");
    assert_eq!((updates(&second), NearPairs::of(std::slice::from_ref(&second))), (vec![], None));
    let third = bed.save(&user, format!("{} too", ticket(1042)).as_str());
    assert!(third.near.iter().any(|near| near.duplicate), "{:?}", third.near);
}

#[test]
fn what_is_saved_together_is_named_once_and_its_own_values_do_not_compete() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The shop closes at 18:00");
    bed.save(&user, "Marta looks after the staging database and its backups every week");
    let several = [
        "The shop closes at 19:00",
        "The shop closes at 20:00",
        "note 1",
        "note 2",
        "Marta looks after the staging database and all its backups every week",
    ];
    let receipts = bed.engine.save_many(&user, several.map(SaveRequest::new).to_vec()).expect("saved");
    let pairs = NearPairs::of(&receipts).expect("pairs");
    assert_eq!(pairs.to_string(), "possible updates: #3 of #1, #4 of #1; nearly the same: #7 as #2");
}
