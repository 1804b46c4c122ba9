//! associate, dissociate and related.

use tulving_core::model::answer::{SaveOutcome, Warning};
use tulving_core::model::association::Association;
use tulving_core::model::change::Write;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef};
use tulving_core::model::request::{
    AssociationRequest, AuditFilter, BriefingRequest, Caller, SaveRequest, Sort, TimelineRequest,
    TimelineSubject,
};
use tulving_core::model::score::Weight;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{AuditAct, Boundary, LinkedBy, Relation, Role};

use crate::bed::{Bed, link, listing, refused, within, words};

fn weighted(target: MemoryId, weight: f64) -> AssociationRequest {
    AssociationRequest { target: target.into(), relation: None, weight: Some(weight) }
}

fn save_all<const N: usize>(bed: &Bed, caller: &Caller, contents: [&str; N]) -> [MemoryId; N] {
    contents.map(|content| bed.save(caller, content).memory.id)
}

fn near(bed: &Bed, caller: &Caller, from: MemoryId, depth: usize) -> Vec<(String, usize)> {
    let found = bed.engine.related(caller, from.into(), depth).expect("relatives");
    found.into_iter().map(|relative| (relative.memory.fields.text.content, relative.distance)).collect()
}

#[test]
fn a_link_relates_at_half_weight_unless_said_otherwise() {
    let bed = Bed::new();
    let user = bed.user();
    let [a, b] = save_all(&bed, &user, ["a", "b"]);
    let plain = AssociationRequest { target: b.into(), relation: None, weight: None };
    let edge = bed.engine.associate(&user, a.into(), &plain).unwrap().link;
    assert_eq!((edge.relation, edge.weight.get()), (Relation::RelatedTo, 0.5));
    assert_eq!(edge.linked_by, LinkedBy::Caller);
    let again = bed.engine.associate(&user, a.into(), &weighted(b, 0.9)).unwrap().link;
    assert_eq!(again.weight.get(), 0.9);
    let related = bed.engine.related(&user, a.into(), 1).unwrap();
    assert_eq!(related.len(), 1, "one edge for each pair and relation");
    assert_eq!(related[0].via[0].weight.get(), 0.9);
    refused!(
        bed.engine.associate(&user, a.into(), &weighted(b, 1.1)),
        Error::Invalid(Invalid::OutsideUnit { .. })
    );
    refused!(
        bed.engine.associate(&user, a.into(), &weighted(a, 0.5)),
        Error::Invalid(Invalid::SelfAssociation)
    );
}

#[test]
fn a_link_to_nothing_names_what_is_missing() {
    let bed = Bed::new();
    let user = bed.user();
    let [a] = save_all(&bed, &user, ["a"]);
    let nothing = link(MemoryRef::Number(MemoryNumber(7)), Relation::PartOf);
    assert_eq!(
        words(bed.engine.associate(&user, a.into(), &nothing)),
        "there is no memory #7 in the space `default`"
    );
}

#[test]
fn to_supersede_takes_the_right_to_write_where_the_target_lives() {
    let bed = Bed::new();
    let host = within(&bed.user(), bed.hub("host"));
    let target =
        bed.save(&host, SaveRequest { boundary: Some(Boundary::Org), ..SaveRequest::new("org-wide") });
    let visitor = bed.member("visitor", bed.hub("own"), Role::Writer);
    let [mine] = save_all(&bed, &visitor, ["mine"]);
    refused!(
        bed.engine.associate(&visitor, mine.into(), &link(target.memory.id, Relation::Updates)),
        Error::Denied { .. }
    );
    bed.link(&visitor, mine, target.memory.id, Relation::Contradicts);
    assert_eq!(bed.get(&visitor, target.memory.id).superseded_by, None);
}

#[test]
fn an_update_stops_superseding_when_it_is_unlinked_or_forgotten() {
    let bed = Bed::new();
    let user = bed.user();
    let [old, new] = save_all(&bed, &user, ["old", "new"]);
    bed.link(&user, new, old, Relation::Updates);
    assert_eq!(bed.get(&user, old).superseded_by, Some(new));
    bed.forget(&user, new, tulving_core::model::request::ForgetMode::Soft);
    assert_eq!(bed.get(&user, old).superseded_by, None);
    bed.engine.restore(&user, new.into()).unwrap();
    assert_eq!(bed.get(&user, old).superseded_by, Some(new));
    bed.engine.dissociate(&user, new.into(), old.into(), None).unwrap();
    assert_eq!(bed.get(&user, old).superseded_by, None);
}

/// Returns for each of these the one that supersedes it, from 1.
fn replaced(bed: &Bed, caller: &Caller, ids: &[MemoryId]) -> Vec<usize> {
    let place = |by: MemoryId| ids.iter().position(|id| *id == by).map_or(usize::MAX, |at| at + 1);
    ids.iter().map(|id| bed.get(caller, *id).superseded_by.map_or(0, place)).collect()
}

fn holds_again(memory: u64, by: u64) -> Warning {
    let [memory, by] = [memory, by].map(|number| MemoryRef::Number(MemoryNumber(number)));
    Warning::HoldsAgain { memory, by }
}

/// Returns the texts in the block of a session.
fn briefed(bed: &Bed, caller: &Caller) -> Vec<String> {
    let briefing = bed.engine.briefing(caller, &BriefingRequest::default()).expect("a briefing");
    let described = briefing.sections.into_iter().flat_map(|section| section.memories);
    described.map(|memory| memory.text).collect()
}

#[test]
fn a_fact_that_changed_back_was_lost() {
    let bed = Bed::new();
    let user = bed.user();
    let office = |town: &str, updates: Option<MemoryId>| {
        let associations = updates.map(|id| link(id, Relation::Updates)).into_iter().collect();
        let said = format!("The office is in {town}");
        bed.save(&user, SaveRequest { associations, ..SaveRequest::new(said) })
    };
    let berlin = office("Berlin", None).memory.id;
    let hamburg = office("Hamburg", Some(berlin)).memory.id;
    let ids = [berlin, hamburg];
    assert_eq!(replaced(&bed, &user, &ids), [2, 0]);
    let back = office("Berlin", Some(hamburg));
    assert_eq!(
        (back.memory.id, back.outcome, back.warnings),
        (berlin, SaveOutcome::Duplicate, vec![holds_again(1, 2)])
    );
    assert_eq!(replaced(&bed, &user, &ids), [0, 1]);
    assert_eq!(briefed(&bed, &user), ["The office is in Berlin"]);
    let again = office("Berlin", Some(hamburg));
    assert_eq!(again.warnings, [], "it holds already");
    let forth = office("Hamburg", Some(berlin));
    assert_eq!(forth.warnings, [holds_again(2, 1)]);
    assert_eq!(replaced(&bed, &user, &ids), [2, 0]);
    let made = bed.engine.associate(&user, berlin.into(), &link(hamburg, Relation::Updates)).unwrap();
    assert_eq!(made.warnings, [holds_again(1, 2)]);
    assert_eq!(replaced(&bed, &user, &ids), [0, 1]);
    let related = bed.engine.related(&user, berlin.into(), 1).unwrap();
    assert_eq!(related[0].via.len(), 1, "no ring is stored: {related:?}");
}

#[test]
fn what_closes_a_chain_of_updates_holds_again() {
    let bed = Bed::new();
    let user = bed.user();
    let ids = save_all(&bed, &user, ["first", "second", "third", "beside"]);
    for (new, old) in [(1, 0), (2, 1), (3, 0)] {
        bed.link(&user, ids[new], ids[old], Relation::Updates);
    }
    let made = bed.engine.associate(&user, ids[0].into(), &link(ids[2], Relation::Updates)).unwrap();
    assert_eq!(made.warnings, [holds_again(1, 2)]);
    assert_eq!(replaced(&bed, &user, &ids), [4, 3, 1, 0], "what does not lead there still counts");
    let acts = bed.engine.audit(&user, &AuditFilter { last: 10, ..AuditFilter::default() }).unwrap();
    assert!(acts.iter().any(|entry| entry.act == AuditAct::Dissociated && entry.memory == Some(ids[1])));
}

#[test]
fn of_several_that_close_a_ring_in_one_act_the_last_counts() {
    let bed = Bed::new();
    let user = bed.user();
    let ids = save_all(&bed, &user, ["first", "second", "third"]);
    let say = |content: &str, updates: usize| SaveRequest {
        associations: vec![link(ids[updates], Relation::Updates)],
        ..SaveRequest::new(content)
    };
    let acts = vec![say("second", 0), say("third", 1), say("first", 2), say("third", 0)];
    let receipts = bed.engine.save_many(&user, acts).unwrap();
    assert_eq!(receipts[2].warnings, [holds_again(1, 2)]);
    assert_eq!(receipts[3].warnings, [holds_again(3, 1)]);
    assert_eq!(replaced(&bed, &user, &ids), [3, 3, 0]);
}

#[test]
fn of_a_ring_that_is_stored_all_the_same_the_newest_link_counts() {
    let bed = Bed::new();
    let user = bed.user();
    let ids = save_all(&bed, &user, ["the first town", "the second town", "the third town"]);
    let before = save_all(&bed, &user, ["the town before"])[0];
    let updates = |(source, target, second): (MemoryId, MemoryId, i64)| {
        Write::Link(Association {
            source,
            target,
            relation: Relation::Updates,
            weight: Weight::DEFAULT,
            linked_by: LinkedBy::Caller,
            created_at: Timestamp::from_micros(second * 1_000_000),
        })
    };
    let ring = [(ids[1], ids[0], 7), (ids[2], ids[1], 9), (ids[0], ids[2], 8), (ids[0], before, 1)];
    bed.world().apply(ring.into_iter().map(updates).collect());
    assert_eq!(replaced(&bed, &user, &ids), [2, 3, 0]);
    assert_eq!(bed.get(&user, before).superseded_by, Some(ids[0]));
    assert_eq!(briefed(&bed, &user), ["the third town"]);
    let page = bed.engine.list(&user, &listing(Sort::Newest, 10)).unwrap().memories;
    let holding: Vec<MemoryId> =
        page.iter().filter(|memory| memory.superseded_by.is_none()).map(|memory| memory.id).collect();
    assert_eq!(holding, [ids[2]]);
    let timeline =
        bed.engine.timeline(&user, &TimelineRequest::new(TimelineSubject::Memory(before.into()))).unwrap();
    let described = timeline.entries.iter().filter(|entry| entry.holds).map(|entry| entry.memory.id);
    assert_eq!(described.collect::<Vec<_>>(), [ids[2]]);
    // Naming the current memory breaks the ring.
    let made = bed.engine.associate(&user, ids[0].into(), &link(ids[2], Relation::Updates)).unwrap();
    assert_eq!(made.warnings, [holds_again(1, 2)]);
    assert_eq!(replaced(&bed, &user, &ids), [0, 3, 1]);
}

#[test]
fn dissociating_takes_one_relation_or_all_of_one_direction() {
    let bed = Bed::new();
    let user = bed.user();
    let [a, b] = save_all(&bed, &user, ["a", "b"]);
    for relation in [Relation::PartOf, Relation::CausedBy, Relation::RelatedTo] {
        bed.link(&user, a, b, relation);
    }
    bed.link(&user, b, a, Relation::ResultOf);
    let one = bed.engine.dissociate(&user, a.into(), b.into(), Some(Relation::CausedBy)).unwrap();
    assert_eq!(one.len(), 1);
    let rest = bed.engine.dissociate(&user, a.into(), b.into(), None).unwrap();
    assert_eq!(rest.len(), 2);
    assert_eq!(near(&bed, &user, a, 1), [("b".to_owned(), 1)], "the other direction stays");
    refused!(bed.engine.dissociate(&user, a.into(), b.into(), None), Error::NoAssociation { .. });
}

#[test]
fn relatives_come_nearest_and_strongest_first_and_each_once() {
    let bed = Bed::new();
    let user = bed.user();
    let [a, b, c, d, e] = save_all(&bed, &user, ["a", "b", "c", "d", "e"]);
    for (from, to, weight) in [(a, b, 0.2), (c, a, 0.9), (b, d, 1.0), (c, d, 0.1), (d, e, 0.5), (e, a, 0.4)] {
        bed.engine.associate(&user, from.into(), &weighted(to, weight)).unwrap();
    }
    let described = |depth| near(&bed, &user, a, depth);
    let expected = [("c", 1), ("e", 1), ("b", 1), ("d", 2)].map(|(content, far)| (content.to_owned(), far));
    assert_eq!(described(1), expected[..3]);
    assert_eq!(described(2), expected);
    assert_eq!(described(5), expected, "a ring ends");
    for depth in [0, 6] {
        refused!(bed.engine.related(&user, a.into(), depth), Error::Invalid(Invalid::OutsideRange { .. }));
    }
}

#[test]
fn nobody_is_led_through_a_memory_they_may_not_see() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [owner, reader] =
        [("owner", Role::Writer), ("reader", Role::Reader)].map(|(name, role)| bed.member(name, hub, role));
    let [near_one, far_one] = save_all(&bed, &owner, ["near", "far"]);
    let between =
        bed.save(&owner, SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("between") });
    bed.link(&owner, near_one, between.memory.id, Relation::RelatedTo);
    bed.link(&owner, between.memory.id, far_one, Relation::RelatedTo);
    assert_eq!(near(&bed, &owner, near_one, 2).len(), 2);
    assert_eq!(near(&bed, &reader, near_one, 5), []);
}

#[test]
fn a_relative_counted_as_superseded_by_what_was_archived() {
    let bed = Bed::new();
    let user = bed.user();
    let [old, new, beside] = save_all(&bed, &user, ["old", "new", "beside"]);
    bed.link(&user, new, old, Relation::Updates);
    bed.link(&user, beside, old, Relation::RelatedTo);
    let described = || {
        let related = bed.engine.related(&user, beside.into(), 1).expect("relatives");
        assert_eq!(related[0].memory.id, old);
        (related[0].memory.superseded_by, bed.get(&user, old).superseded_by)
    };
    assert_eq!(described(), (Some(new), Some(new)));
    bed.engine.archive(&user, new.into()).expect("archived");
    assert_eq!(described(), (None, None));
}

#[test]
fn relatives_end_where_they_are_long() {
    let bed = Bed::new();
    let user = bed.user();
    let [start] = save_all(&bed, &user, ["start"]);
    for n in 0..7_u32 {
        let far = bed.save(&user, format!("{n} ").repeat(1_450_000).as_str()).memory.id;
        bed.engine.associate(&user, start.into(), &weighted(far, 0.9 - f64::from(n) / 10.0)).unwrap();
    }
    let described: Vec<String> =
        near(&bed, &user, start, 1).iter().map(|(text, _)| text[..1].to_owned()).collect();
    assert_eq!(described, ["0", "1"], "the strongest");
}
