//! move_to: moves memories to another space, as one act.

use tulving_core::model::error::{Error, Field, Invalid, Unique};
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef, SpaceId, Version};
use tulving_core::model::limits;
use tulving_core::model::memory::{Memory, Mirror};
use tulving_core::model::request::{
    AuditFilter, Caller, ForgetMode, Mode, RecallQuestion, SaveRequest, Sort, UpdateRequest,
};
use tulving_core::model::vocabulary::{AuditAct, Boundary, Relation, Role, SpaceKind};
use tulving_testkit::build;
use tulving_testkit::embedder::NoEmbedder;

use crate::bed::{Bed, keyed, listing, recall, refused, said, within, words};

/// Two hubs, `here` and `there`. Ann writes in both, Bob only in the first, Eve only in the second.
struct Two {
    bed: Bed,
    here: SpaceId,
    there: SpaceId,
    ann: Caller,
    bob: Caller,
    eve: Caller,
}

impl Two {
    fn new() -> Self {
        let bed = Bed::new();
        let [here, there] = ["here", "there"].map(|name| bed.hub(name));
        let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, here, Role::Writer));
        let eve = bed.member("eve", there, Role::Writer);
        bed.engine.set_member(&bed.user(), "there", "ann", Role::Writer).expect("a member");
        Self { bed, here, there, ann, bob, eve }
    }

    fn go(&self, caller: &Caller, ids: &[MemoryId]) -> Result<Vec<Memory>, Error> {
        let which: Vec<MemoryRef> = ids.iter().copied().map(MemoryRef::from).collect();
        let done = self.bed.engine.move_to(caller, &which, "there")?;
        assert_eq!(done.missing, []);
        Ok(done.moved)
    }
}

fn shared(content: &str, boundary: Boundary) -> SaveRequest {
    SaveRequest { boundary: Some(boundary), ..SaveRequest::new(content) }
}

#[test]
fn a_memory_goes_as_it_is_and_gets_the_next_number() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    bed.save(&two.eve, "was there before");
    let id = bed.save(ann, keyed("k", "first words")).memory.id;
    bed.update(ann, id, &said("second words"));
    let friend = bed.save(ann, "friend").memory.id;
    bed.link(ann, id, friend, Relation::PartOf);
    bed.engine.touch(ann, id.into()).unwrap();
    bed.engine.flush().unwrap();
    let before = bed.get(ann, id);
    let number = MemoryRef::Number(before.number.expect("a record"));
    let done = bed.engine.move_to(ann, &[number], "there").unwrap();
    let expected = Memory {
        space: two.there,
        space_name: Some("there".to_owned()),
        number: Some(MemoryNumber(2)),
        ..before
    };
    assert_eq!(done.moved, std::slice::from_ref(&expected));
    assert_eq!(bed.get(ann, id), expected);
    assert_eq!(bed.engine.history(ann, id.into()).unwrap().len(), 2);
    assert_eq!(bed.engine.related(ann, id.into(), 1).unwrap()[0].memory.id, friend);
    refused!(bed.engine.get(ann, number), Error::NoMemory { .. });
    assert_eq!(bed.get(&within(ann, two.there), id).number, Some(MemoryNumber(2)));
    let next = bed.save(ann, "next").memory.number;
    assert_eq!(next, Some(MemoryNumber(3)), "the number that it had is not given again");
    let reverted = bed.engine.revert(&two.eve, id.into(), Version(1)).unwrap();
    assert_eq!(reverted.memory.fields.text.content, "first words", "who is there works with it");
}

#[test]
fn who_is_there_sees_it_and_who_is_not_does_not() {
    let two = Two::new();
    let bed = &two.bed;
    let id = bed.save(&two.ann, "walrus").memory.id;
    let private = bed.save(&two.ann, shared("narwhal", Boundary::Private)).memory.id;
    assert_eq!(bed.contents(&two.bob), ["walrus"]);
    two.go(&two.ann, &[id, private]).unwrap();
    assert_eq!(bed.contents(&two.bob), [] as [&str; 0]);
    assert_eq!(bed.contents(&two.eve), ["walrus"], "what is private stays so");
    assert_eq!(bed.contents(&two.ann), ["narwhal", "walrus"]);
    refused!(bed.engine.get(&two.bob, id.into()), Error::NoMemory { .. });
    let asked = bed.shipped(std::sync::Arc::new(NoEmbedder));
    let found = |caller: &Caller| {
        let request = recall(Mode::Hybrid(Box::new(RecallQuestion::new("walrus"))));
        asked.recall(caller, &request).unwrap().hits.len()
    };
    assert_eq!((found(&two.bob), found(&two.eve), found(&two.ann)), (0, 1, 1));
}

#[test]
fn it_takes_the_owner_or_an_admin_and_a_writer_there() {
    let two = Two::new();
    let (bed, bob) = (&two.bed, &two.bob);
    let (hers, his) = (bed.save(&two.ann, "hers").memory.id, bed.save(bob, "his").memory.id);
    refused!(two.go(bob, &[his]), Error::NoSpace { .. });
    bed.engine.set_member(&bed.user(), "there", "bob", Role::Reader).unwrap();
    refused!(two.go(bob, &[his]), Error::Denied { need: Role::Writer, .. });
    bed.engine.set_member(&bed.user(), "there", "bob", Role::Writer).unwrap();
    refused!(two.go(bob, &[his, hers]), Error::OwnerOrAdmin { .. });
    assert_eq!(bed.get(bob, his).space, two.here, "one that may not go holds all of them back");
    let lowered = Caller { ceiling: Role::Reader, ..bob.clone() };
    refused!(two.go(&lowered, &[his]), Error::Denied { .. });
    two.go(bob, &[his]).unwrap();
    bed.engine.set_member(&bed.user(), "here", "bob", Role::Reader).unwrap();
    let left = bed.save(&two.ann, "left").memory.id;
    refused!(two.go(bob, &[left]), Error::OwnerOrAdmin { .. });
    bed.engine.set_member(&bed.user(), "here", "bob", Role::Admin).unwrap();
    let moved = two.go(bob, &[left, hers]).unwrap();
    assert!(moved.iter().all(|memory| memory.owner == two.ann.viewer.principal), "it stays hers");
    let confined =
        Caller { viewer: build::confined(two.ann.viewer.principal, &[two.here]), ..two.ann.clone() };
    let more = bed.save(&two.ann, "more").memory.id;
    refused!(two.go(&confined, &[more]), Error::NoSpace { .. });
}

#[test]
fn what_is_not_there_is_named_and_the_rest_goes() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    let [one, hidden, gone] = ["one", "hidden", "gone"].map(|content| bed.save(ann, content).memory.id);
    bed.update(ann, hidden, &UpdateRequest { boundary: Some(Boundary::Private), ..UpdateRequest::default() });
    bed.forget(ann, gone, ForgetMode::Soft);
    let number = MemoryRef::Number(MemoryNumber(1));
    let nothing = MemoryRef::Number(MemoryNumber(99));
    bed.engine.set_member(&bed.user(), "here", "bob", Role::Admin).unwrap();
    bed.engine.set_member(&bed.user(), "there", "bob", Role::Writer).unwrap();
    let which = [nothing, one.into(), hidden.into(), number, nothing, gone.into(), one.into()];
    let done = bed.engine.move_to(&two.bob, &which, "there").unwrap();
    assert_eq!(done.moved.iter().map(|memory| memory.id).collect::<Vec<_>>(), [one], "once");
    assert_eq!(done.missing, [nothing, hidden.into(), gone.into()]);
    let none = bed.engine.move_to(ann, &[], "there").unwrap();
    assert_eq!((none.moved, none.missing), (vec![], vec![]));
    let many = vec![nothing; limits::MOVES + 1];
    refused!(
        bed.engine.move_to(ann, &many, "there"),
        Error::Invalid(Invalid::TooMany { field: Field::Memories, got: 101, limit: 100 })
    );
    bed.engine.move_to(ann, &many[1..], "there").unwrap();
}

#[test]
fn what_is_there_already_stays_as_it_is() {
    let two = Two::new();
    let bed = &two.bed;
    let hers = bed.save(&two.eve, "hers").memory.id;
    let before = (bed.get(&two.eve, hers), bed.dump(), bed.engine.head().unwrap());
    assert_eq!(two.go(&two.ann, &[hers]).unwrap(), [before.0]);
    assert_eq!((bed.dump(), bed.engine.head().unwrap()), (before.1, before.2), "nothing is written");
}

#[test]
fn what_is_held_there_is_named_and_nothing_goes() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    for (request, held) in [
        (SaveRequest::new("content"), Unique::Content),
        (keyed("k", "keyed"), Unique::Key),
        (SaveRequest { source_path: Some("p".to_owned()), ..SaveRequest::new("file") }, Unique::SourcePath),
    ] {
        let theirs = bed.save(&two.eve, request.clone());
        let free = bed.save(ann, format!("free of {held}").as_str()).memory.id;
        let mine = bed.save(ann, request.clone()).memory.id;
        refused!(
            two.go(ann, &[free, mine]),
            Error::Held { other: MemoryRef::Id(other), what } if other == theirs.memory.id && what == held
        );
        assert_eq!(bed.get(ann, free).space, two.here);
        refused!(
            two.go(&within(ann, two.there), &[mine]),
            Error::Held { other: MemoryRef::Number(other), .. } if Some(other) == theirs.memory.number
        );
        // A private memory has another audience, and so has a key or path that another's private memory uses.
        let private = SaveRequest { boundary: Some(Boundary::Private), ..request };
        bed.save(&two.eve, private.clone());
        let own = bed.save(ann, private).memory.id;
        two.go(ann, &[own]).unwrap();
    }
}

#[test]
fn two_that_say_the_same_cannot_both_go() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    let third = bed.hub("third");
    bed.engine.set_member(&bed.user(), "third", "ann", Role::Writer).unwrap();
    let [one, other] = [ann, &within(ann, third)].map(|caller| bed.save(caller, "twin").memory.id);
    refused!(two.go(ann, &[one, other]), Error::Held { other: MemoryRef::Id(held), .. } if held == one);
    assert_eq!((bed.get(ann, one).space, bed.get(ann, other).space), (two.here, third));
}

#[test]
fn a_sealed_space_is_not_opened_and_a_mirror_follows_its_file() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    let sealed = bed.space("sealed", SpaceKind::Group);
    bed.engine.set_member(&bed.user(), "sealed", "ann", Role::Writer).unwrap();
    let wide = bed.save(ann, shared("wide", Boundary::Team)).memory.id;
    refused!(
        bed.engine.move_to(ann, &[wide.into()], "sealed"),
        Error::Invalid(Invalid::BoundaryTooWide { boundary: Boundary::Team })
    );
    let narrow = bed.save(ann, "narrow").memory.id;
    let moved = bed.engine.move_to(ann, &[narrow.into()], &sealed.to_string()).unwrap().moved;
    assert_eq!(moved[0].space, sealed);
    let mirror = bed.world().put(two.here, ann.viewer.principal, "a line", |memory| {
        memory.provenance.source_path = Some("notes.md".to_owned());
        memory.provenance.mirror = Some(Mirror { line: 3, occurrence: 0 });
    });
    assert!(words(two.go(ann, &[mirror.id])).contains("mirrors line 3 of notes.md"));
}

#[test]
fn it_is_audited_in_both_spaces() {
    let two = Two::new();
    let bed = &two.bed;
    let id = bed.save(&two.ann, "walrus").memory.id;
    two.go(&two.ann, &[id]).unwrap();
    let described = |space| {
        let filter = AuditFilter { space: Some(space), memory: Some(id), last: 10 };
        let entries = bed.engine.audit(&bed.user(), &filter).unwrap();
        assert!(entries.iter().all(|entry| entry.by == two.ann.viewer.principal && entry.detail.is_none()));
        entries.into_iter().map(|entry| entry.act).collect::<Vec<_>>()
    };
    assert_eq!(described(two.here), [AuditAct::MovedOut]);
    assert_eq!(described(two.there), [AuditAct::MovedIn]);
}

#[test]
fn an_edit_decided_before_a_memory_went_is_decided_again() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    let id = bed.save(ann, "walrus").memory.id;
    let (there, version) = (two.there, Version::FIRST);
    let leaves = move |from: SpaceId, to: SpaceId| {
        let write = tulving_core::model::change::Write::Relocate { id, from: (from, version), to };
        move |store: std::sync::Arc<dyn tulving_core::ports::Store>| {
            build::StoreFixture::new(store).apply(vec![write]);
        }
    };
    // Bob could edit it in the old space, and does not see it in the new one.
    bed.store.before_next_apply(leaves(two.here, there));
    refused!(bed.engine.update(&two.bob, id.into(), &said("his words")), Error::NoMemory { .. });
    bed.store.before_next_apply(leaves(there, two.here));
    refused!(bed.engine.pin(&two.eve, id.into()), Error::NoMemory { .. });
    bed.store.before_next_apply(leaves(two.here, there));
    let forgotten =
        bed.engine.forget(ann, id.into(), &tulving_core::model::request::ForgetRequest::default());
    assert_eq!(forgotten.unwrap().memory.space, there, "who may there too does it there");
}

#[test]
fn of_two_who_move_a_memory_one_does_and_the_other_finds_it_there() {
    let two = Two::new();
    let (bed, ann) = (&two.bed, &two.ann);
    let id = bed.save(ann, "walrus").memory.id;
    let (here, there) = (two.here, two.there);
    bed.store.before_next_apply(move |store| {
        let from = (here, Version::FIRST);
        let write = tulving_core::model::change::Write::Relocate { id, from, to: there };
        build::StoreFixture::new(store).apply(vec![write]);
    });
    assert_eq!(two.go(ann, &[id]).unwrap()[0].number, Some(MemoryNumber(1)));
    let page = bed.engine.list(&two.eve, &listing(Sort::Newest, 10)).unwrap();
    assert_eq!(page.memories.len(), 1);
}
