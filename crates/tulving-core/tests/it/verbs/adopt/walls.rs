//! The owner of an imported memory, who may import, and that nobody learns of hidden memories by it.

use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::foreign::{ForeignMemory, ForeignStatus};
use tulving_core::model::id::{MemoryId, Version};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{Boundary, Role, SpaceKind};
use tulving_core::verbs::foreign_import::ForeignImportOptions;

use super::{adopt, adopt_as, collection, counts, item, only};
use crate::bed::{Bed, caller, refused, within};

#[test]
fn every_space_and_every_person_has_their_own() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("hub");
    let friend = bed.member("friend", hub, Role::Writer);
    let id: MemoryId = "550e8400-e29b-41d4-a716-446655440000".parse().expect("an id");
    let theirs = || {
        collection(vec![
            ForeignMemory { id: Some(id), ..item("u", "with an id of its own") },
            item("1", "with none"),
        ])
    };
    assert_eq!(adopt(&bed, &user, theirs()).new, 2);
    assert_eq!(only(&bed, &user, "with an id of its own").id, id, "a free id is kept");
    assert_eq!(adopt(&bed, &within(&user, hub), theirs()).new, 2);
    let private =
        ForeignImportOptions { boundary: Some(Boundary::Private), ..ForeignImportOptions::default() };
    assert_eq!(adopt_as(&bed, &friend, theirs(), &private).new, 2);
    for who in [&user, &within(&user, hub)] {
        assert_eq!(counts(&adopt(&bed, who, theirs())), (0, 0, 2, 0));
    }
    assert_eq!(counts(&adopt_as(&bed, &friend, theirs(), &private)), (0, 0, 2, 0));
}

#[test]
fn what_another_person_took_in_stays_theirs() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let (one, other) = (bed.member("one", hub, Role::Writer), bed.member("other", hub, Role::Writer));
    let id: MemoryId = "550e8400-e29b-41d4-a716-446655440000".parse().expect("an id");
    let theirs = |boundary: Option<Boundary>, content: &str| ForeignMemory {
        id: Some(id),
        ..ForeignMemory::new("u", SaveRequest { boundary, ..SaveRequest::new(content) })
    };
    adopt(&bed, &one, collection(vec![theirs(None, "tea at nine")]));
    assert_eq!(counts(&adopt(&bed, &other, collection(vec![theirs(None, "tea at nine")]))), (0, 0, 1, 0));
    let before = bed.dump();
    let forgotten = ForeignMemory { stands: ForeignStatus::Forgotten, ..theirs(None, "tea at nine") };
    for changed in [
        theirs(Some(Boundary::Org), "tea at nine"),
        theirs(Some(Boundary::Private), "tea at nine"),
        theirs(None, "tea at ten"),
        forgotten,
    ] {
        let adopted = adopt(&bed, &other, collection(vec![changed]));
        assert_eq!(counts(&adopted), (0, 0, 0, 0));
        assert_eq!(adopted.left[0].why, "you may not change it here");
        assert_eq!(bed.dump(), before);
    }
    let published = adopt(&bed, &one, collection(vec![theirs(Some(Boundary::Org), "tea at nine")]));
    assert_eq!(counts(&published), (0, 1, 0, 0), "its owner may");
    assert_eq!(bed.get(&one, id).fields.boundary, Boundary::Org);
}

#[test]
fn it_takes_the_right_to_write_and_no_more() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let writer = bed.member("writer", hub, Role::Writer);
    let reader = bed.member("reader", hub, Role::Reader);
    let denied = bed.engine.adopt(
        &reader,
        collection(vec![item("1", "x")]),
        &ForeignImportOptions::default(),
        &mut |_| {},
    );
    refused!(denied, Error::Denied { need: Role::Writer, .. });
    let adopted = adopt(&bed, &writer, collection(vec![item("1", "x")]));
    assert_eq!(adopted.new, 1);
    let memory = only(&bed, &writer, "x");
    assert_eq!((memory.owner, memory.fields.boundary), (writer.viewer.principal, Boundary::Hub));
    let outsider = caller(bed.person("outsider").viewer.principal, hub);
    let denied = bed.engine.adopt(
        &outsider,
        collection(vec![item("1", "x")]),
        &ForeignImportOptions::default(),
        &mut |_| {},
    );
    refused!(denied, Error::NoSpace { .. });
}

#[test]
fn a_group_stays_sealed_whatever_was_said_there() {
    let bed = Bed::new();
    let group = bed.space("group", SpaceKind::Group);
    let user = within(&bed.user(), group);
    let open = SaveRequest { boundary: Some(Boundary::Org), ..SaveRequest::new("open there") };
    adopt(&bed, &user, collection(vec![ForeignMemory::new("1", open)]));
    assert_eq!(only(&bed, &user, "open there").fields.boundary, Boundary::Hub);
    let options = ForeignImportOptions { boundary: Some(Boundary::Org), ..ForeignImportOptions::default() };
    let refused = bed.engine.adopt(&user, collection(vec![item("2", "x")]), &options, &mut |_| {});
    refused!(refused, Error::Invalid(Invalid::BoundaryTooWide { .. }));
}

#[test]
fn nobody_learns_whose_an_id_is() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let (one, other) = (bed.member("one", hub, Role::Writer), bed.member("other", hub, Role::Writer));
    let secret = SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("a secret of one") };
    let theirs = bed.save(&one, secret);
    let guess = ForeignMemory { id: Some(theirs.memory.id), ..item("x", "a guess") };
    let adopted = adopt(&bed, &other, collection(vec![guess]));
    assert_eq!((counts(&adopted), adopted.left.len(), adopted.skipped.len()), ((1, 0, 0, 0), 0, 0));
    assert_ne!(only(&bed, &other, "a guess").id, theirs.memory.id);
    let memory = bed.get(&one, theirs.memory.id);
    assert_eq!((memory.fields.text.content.as_str(), memory.version), ("a secret of one", Version::FIRST));
}
