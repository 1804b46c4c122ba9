//! changes: which entries of the change log each person sees.

use tulving_core::model::answer::Changes;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryId, Seq, SpaceId};
use tulving_core::model::limits;
use tulving_core::model::request::{Caller, ForgetMode, SaveRequest};
use tulving_core::model::vocabulary::{Boundary, ChangeKind, Relation, Role};
use tulving_core::ports::Log;
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::FakeEmbedder;

use super::edit::bounded;
use crate::bed::{Bed, caller, refused, said, within};

/// A hub with Ann and Bob, and another with Ann and Eve.
struct FollowFixture {
    bed: Bed,
    elsewhere: SpaceId,
    ann: Caller,
    bob: Caller,
    eve: Caller,
}

impl FollowFixture {
    fn new() -> Self {
        let bed = Bed::new();
        let [hub, elsewhere] = ["hub", "elsewhere"].map(|name| bed.hub(name));
        let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
        let eve = bed.member("eve", elsewhere, Role::Writer);
        bed.engine.set_member(&bed.user(), "elsewhere", "ann", Role::Writer).expect("a member");
        Self { bed, elsewhere, ann, bob, eve }
    }

    fn described(&self, caller: &Caller, after: Seq) -> Vec<(ChangeKind, MemoryId)> {
        let described = self.bed.engine.changes(caller, after, 100).expect("an answer");
        assert!(!described.gap);
        assert_eq!(described.read_to, self.bed.engine.head().expect("a head"), "read to the end");
        described.changes.into_iter().map(|change| (change.kind, change.memory)).collect()
    }
}

#[test]
fn everybody_is_told_of_what_they_may_see() {
    let town = FollowFixture::new();
    let (bed, ann) = (&town.bed, &town.ann);
    let shared = bed.save(ann, "shared").memory.id;
    let request = SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("her own") };
    let own = bed.save(ann, request).memory.id;
    bed.update(&town.bob, shared, &said("shared, edited"));
    bed.link(ann, own, shared, Relation::PartOf);
    let hers = bed.save(&town.eve, "hers").memory.id;
    let saved = |id| (ChangeKind::Saved, id);
    let edited = (ChangeKind::Revised, shared);
    assert_eq!(
        town.described(ann, Seq(0)),
        [saved(shared), saved(own), edited, (ChangeKind::Linked, own), saved(hers)]
    );
    assert_eq!(town.described(&town.bob, Seq(0)), [saved(shared), edited]);
    assert_eq!(town.described(&town.eve, Seq(0)), [saved(hers)]);
    let confined = Caller { viewer: build::confined(ann.viewer.principal, &[town.elsewhere]), ..ann.clone() };
    assert_eq!(town.described(&confined, Seq(0)), [saved(hers)]);
    let stranger = caller(bed.world().principal("stranger"), SpaceId::DEFAULT);
    assert_eq!(town.described(&stranger, Seq(0)), []);
    bed.engine.remove_member(&bed.user(), "hub", "bob").unwrap();
    assert_eq!(town.described(&town.bob, Seq(0)), [], "whoever left sees no more");
}

#[test]
fn who_loses_sight_of_a_memory_is_told_that_it_is_gone() {
    let town = FollowFixture::new();
    let (bed, ann) = (&town.bed, &town.ann);
    let id = bed.save(ann, "walrus").memory.id;
    let described = |caller: &Caller, after: Seq| -> Vec<ChangeKind> {
        town.described(caller, after).into_iter().map(|(kind, _)| kind).collect()
    };
    let mut after = bed.engine.head().unwrap();
    bed.update(ann, id, &bounded(Boundary::Private));
    assert_eq!(described(&town.bob, after), [ChangeKind::Erased]);
    assert_eq!(described(ann, after), [ChangeKind::Erased, ChangeKind::Revised]);
    after = bed.engine.head().unwrap();
    bed.update(ann, id, &bounded(Boundary::Hub));
    assert_eq!(described(&town.bob, after), [ChangeKind::Revised], "and that it is there again");
    after = bed.engine.head().unwrap();
    bed.engine.move_to(ann, &[id.into()], "elsewhere").unwrap();
    assert_eq!(described(&town.bob, after), [ChangeKind::Erased]);
    assert_eq!(described(&town.eve, after), [ChangeKind::Saved]);
    assert_eq!(described(ann, after), [ChangeKind::Erased, ChangeKind::Saved]);
    after = bed.engine.head().unwrap();
    bed.forget(&within(ann, town.elsewhere), id, ForgetMode::Soft);
    assert_eq!(described(&town.eve, after), [ChangeKind::Moved], "softly too");
    after = bed.engine.head().unwrap();
    bed.engine.restore(ann, id.into()).unwrap();
    bed.forget(ann, id, ForgetMode::Hard);
    assert_eq!(described(&town.eve, after), [ChangeKind::Moved, ChangeKind::Erased]);
}

#[test]
fn pages_follow_each_other_over_what_is_hidden() {
    let town = FollowFixture::new();
    let bed = &town.bed;
    let world = bed.world();
    let start = bed.engine.head().unwrap();
    let mut due = Vec::new();
    for n in 0..40 {
        let (who, space) = match n % 10 {
            3 => (&town.bob, town.bob.space),
            _ => (&town.eve, town.eve.space),
        };
        let memory = world.put(space, who.viewer.principal, &format!("thought {n}"), |_| ());
        if n % 10 == 3 {
            due.push(memory.id);
        }
    }
    let (mut after, mut found) = (start, Vec::new());
    loop {
        let described = bed.engine.changes(&town.bob, after, 1).unwrap();
        assert!(described.changes.len() <= 1 && !described.gap && described.read_to >= after);
        if described.read_to == after {
            break;
        }
        after = described.read_to;
        found.extend(described.changes.iter().map(|change| change.memory));
    }
    assert_eq!((found, after), (due, bed.engine.head().unwrap()));
    for wrong in [0, limits::CHANGES + 1] {
        let error = bed.engine.changes(&town.bob, start, wrong);
        refused!(error, Error::Invalid(Invalid::OutsideRange { .. }));
    }
}

#[test]
fn a_long_stretch_of_what_is_hidden_is_read_in_several_answers() {
    let town = FollowFixture::new();
    let world = town.bed.world();
    for batch in 0..11 {
        let writes = (0..1_000).map(|n| {
            let content = format!("thought {batch} {n}");
            build::insert(&world.draft(town.eve.space, town.eve.viewer.principal, &content))
        });
        world.apply(writes.collect());
    }
    let engine = &town.bed.engine;
    let first = engine.changes(&town.bob, Seq(0), 10).unwrap();
    let head = engine.head().unwrap();
    assert_eq!((first.changes.len(), first.gap), (0, false));
    assert!(first.read_to > Seq(0) && first.read_to < head);
    let second = engine.changes(&town.bob, first.read_to, 10).unwrap();
    assert_eq!(second, Changes { changes: Vec::new(), read_to: head, gap: false });
}

#[test]
fn who_follows_from_before_what_is_there_learns_of_the_gap() {
    let bed = Bed::new();
    let user = bed.user();
    let empty = bed.engine.changes(&user, Seq(0), 10).unwrap();
    assert_eq!(empty, Changes { changes: Vec::new(), read_to: Seq(0), gap: false });
    for n in 0..9 {
        bed.save(&user, format!("thought {n}").as_str());
    }
    bed.store.trim(Seq(4), 100).unwrap();
    let described = |after: u64| {
        let described = bed.engine.changes(&user, Seq(after), 100).unwrap();
        (described.changes.len(), described.read_to.0, described.gap)
    };
    assert_eq!(described(0), (5, 9, true));
    assert_eq!(described(3), (5, 9, true));
    assert_eq!(described(4), (5, 9, false));
    assert_eq!(described(9), (0, 9, false));
    assert_eq!(described(10), (0, 9, true), "of another content, which was here before");
    assert_eq!(described(u64::MAX), (0, 9, true));
}

#[test]
fn vectors_are_nothing_that_anybody_sees() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, "walrus").memory.id;
    let after = bed.engine.head().unwrap();
    let embedding = bed.beside_with(std::sync::Arc::new(FakeEmbedder), Vec::new());
    assert_eq!(embedding.embed_waiting(10).unwrap().left, 0);
    assert!(bed.engine.head().unwrap() > after, "it is in the log");
    let described = bed.engine.changes(&user, Seq(0), 10).unwrap();
    let kinds: Vec<_> = described.changes.iter().map(|change| (change.kind, change.memory)).collect();
    assert_eq!(kinds, [(ChangeKind::Saved, id)]);
    assert_eq!(described.read_to, bed.engine.head().unwrap());
}

#[test]
fn a_change_reads_the_same_in_every_surface() {
    let bed = Bed::with(ManualClock::new(), std::sync::Arc::new(FakeEmbedder));
    let user = bed.user();
    let id = bed.save(&user, "walrus").memory.id;
    let change = bed.engine.changes(&user, Seq(0), 1).unwrap().changes.remove(0);
    let json = serde_json::to_value(&change).unwrap();
    assert_eq!((json["kind"].as_str(), json["seq"].as_u64()), (Some("saved"), Some(1)));
    assert_eq!(json["memory"], serde_json::json!(id));
    assert_eq!(serde_json::from_value::<tulving_core::model::change::Change>(json).unwrap(), change);
}
