//! update, history and revert.

use std::sync::Arc;

use tulving_core::model::answer::Warning;
use tulving_core::model::error::{Error, Invalid, Unique};
use tulving_core::model::id::{MemoryNumber, MemoryRef, SpaceId, Version};
use tulving_core::model::memory::{Memory, Mirror};
use tulving_core::model::request::{Caller, ForgetMode, ForgetRequest, SaveRequest, UpdateRequest};
use tulving_core::model::vocabulary::{
    Boundary, Kind, MemoryType, Relation, Role, SpaceKind, Stability, State, VersionAct,
};
use tulving_testkit::build;
use tulving_testkit::embedder::BrokenEmbedder;

use crate::bed::{Bed, keyed, link, refused, said, within, words};

pub(super) fn bounded(boundary: Boundary) -> UpdateRequest {
    UpdateRequest { boundary: Some(boundary), ..UpdateRequest::default() }
}

fn titled(title: &str) -> UpdateRequest {
    UpdateRequest { title: Some(Some(title.to_owned())), ..UpdateRequest::default() }
}

#[test]
fn an_update_changes_what_it_says_and_keeps_the_rest() {
    let bed = Bed::new();
    let user = bed.user();
    let request = SaveRequest {
        title: Some("title".to_owned()),
        tags: Some(vec!["a".to_owned()]),
        ..keyed("k", "one")
    };
    let before = bed.get(&user, bed.save(&user, request).memory.id);
    let after = bed.update(&user, before.id, &said("two"));
    assert_eq!((after.version, after.number), (Version(2), before.number));
    assert!(after.usage.updated_at > before.usage.updated_at);
    let mut expected = before;
    expected.fields.text.content = "two".to_owned();
    expected.fields.text.content_hash = build::text("two").content_hash;
    expected.version = after.version;
    expected.usage.updated_at = after.usage.updated_at;
    assert_eq!(after, expected);
    assert_eq!(bed.get(&user, after.id), after, "the answer is what is stored");
}

#[test]
fn an_update_that_changes_nothing_makes_no_version() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.get(&user, bed.save(&user, "same").memory.id);
    assert_eq!(bed.update(&user, memory.id, &said(" same\n")), memory);
    refused!(
        bed.engine.update(&user, memory.id.into(), &UpdateRequest::default()),
        Error::Invalid(Invalid::NothingToUpdate)
    );
}

#[test]
fn an_update_can_clear_a_field() {
    let bed = Bed::new();
    let user = bed.user();
    let request = SaveRequest {
        title: Some("title".to_owned()),
        summary: Some("summary".to_owned()),
        tags: Some(vec!["a".to_owned()]),
        source_note: Some("note".to_owned()),
        expires_at: Some(build::second(9)),
        ..keyed("k", "content")
    };
    let saved = bed.save(&user, request);
    let clear = UpdateRequest {
        key: Some(None),
        title: Some(None),
        summary: Some(Some("  ".to_owned())),
        tags: Some(Vec::new()),
        source_note: Some(None),
        expires_at: Some(None),
        ..UpdateRequest::default()
    };
    let fields = bed.update(&user, saved.memory.id, &clear).fields;
    assert_eq!((fields.key, fields.text.title, fields.text.summary), (None, None, None));
    assert_eq!((fields.text.tags.len(), fields.source_note), (0, None));
    assert_eq!(fields.span.expires_at, None);
}

#[test]
fn a_new_type_brings_its_own_defaults_unless_they_were_set() {
    let bed = Bed::new();
    let user = bed.user();
    let plain = bed.save(&user, "plain");
    let set = bed.save(
        &user,
        SaveRequest {
            importance: Some(0.9),
            stability: Some(Stability::Evolving),
            ..SaveRequest::new("set")
        },
    );
    let todo = UpdateRequest { memory_type: Some(MemoryType::Todo), ..UpdateRequest::default() };
    let class = bed.update(&user, plain.memory.id, &todo).fields.class;
    assert_eq!((class.kind, class.stability), (Kind::Episodic, Stability::Volatile));
    assert_eq!(class.importance.get(), 0.3);
    let class = bed.update(&user, set.memory.id, &todo).fields.class;
    assert_eq!((class.kind, class.stability), (Kind::Episodic, Stability::Evolving));
    assert_eq!(class.importance.get(), 0.9);
}

#[test]
fn an_update_of_another_version_than_the_caller_saw_is_refused() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "one");
    let on = |version, content| UpdateRequest { if_version: Some(Version(version)), ..said(content) };
    bed.update(&user, memory.memory.id, &on(1, "two"));
    refused!(
        bed.engine.update(&user, memory.memory.id.into(), &on(1, "three")),
        Error::Changed { expected: Version(1), found: Version(2), .. }
    );
    assert_eq!(bed.contents(&user), ["two"]);
}

#[test]
fn an_update_onto_what_another_memory_holds_names_that_one() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "held");
    bed.save(&user, keyed("k", "keyed"));
    let third = bed.save(&user, "third");
    assert_eq!(
        words(bed.engine.update(&user, third.memory.id.into(), &said("held"))),
        "memory #1 already has this content"
    );
    let with_key = UpdateRequest { key: Some(Some("k".to_owned())), ..UpdateRequest::default() };
    refused!(
        bed.engine.update(&user, third.memory.id.into(), &with_key),
        Error::Held { other: MemoryRef::Number(MemoryNumber(2)), what: Unique::Key }
    );
    assert_eq!(bed.get(&user, third.memory.id).version, Version(1));
}

#[test]
fn a_validity_that_ends_before_it_begins_is_refused_also_in_two_steps() {
    let bed = Bed::new();
    let user = bed.user();
    let memory =
        bed.save(&user, SaveRequest { valid_from: Some(build::second(10)), ..SaveRequest::new("lease") });
    let ends = UpdateRequest { valid_until: Some(Some(build::second(9))), ..UpdateRequest::default() };
    refused!(
        bed.engine.update(&user, memory.memory.id.into(), &ends),
        Error::Invalid(Invalid::EndsBeforeStart { .. })
    );
}

#[test]
fn only_its_owner_may_take_a_memory_away_from_the_others() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [owner, other] = ["owner", "other"].map(|name| bed.member(name, hub, Role::Writer));
    let memory = bed.save(&owner, "shared");
    refused!(
        bed.engine.update(&other, memory.memory.id.into(), &bounded(Boundary::Private)),
        Error::OwnerOnly { .. }
    );
    refused!(
        bed.engine.update(&other, memory.memory.id.into(), &bounded(Boundary::Team)),
        Error::OwnerOrAdmin { .. }
    );
    let admin = bed.member("admin", hub, Role::Admin);
    bed.update(&admin, memory.memory.id, &bounded(Boundary::Team));
    bed.update(&owner, memory.memory.id, &bounded(Boundary::Private));
    refused!(bed.engine.get(&other, memory.memory.id.into()), Error::NoMemory { .. });
}

#[test]
fn nobody_may_open_a_group() {
    let bed = Bed::new();
    let group = within(&bed.user(), bed.space("group", SpaceKind::Group));
    let memory = bed.save(&group, "sealed");
    refused!(
        bed.engine.update(&group, memory.memory.id.into(), &bounded(Boundary::Org)),
        Error::Invalid(Invalid::BoundaryTooWide { .. })
    );
    let from_outside = within(&group, SpaceId::DEFAULT);
    refused!(
        bed.engine.update(&from_outside, memory.memory.id.into(), &bounded(Boundary::Team)),
        Error::Invalid(Invalid::BoundaryTooWide { .. })
    );
}

#[test]
fn editing_takes_the_role_of_a_writer_where_the_memory_lives() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let owner = bed.member("owner", hub, Role::Writer);
    let reader = bed.member("reader", hub, Role::Reader);
    let memory = bed.save(&owner, "shared");
    let which = MemoryRef::Id(memory.memory.id);
    let denied = [
        bed.engine.update(&reader, which, &said("x")).map(drop),
        bed.engine.revert(&reader, which, Version(1)).map(drop),
        bed.engine.archive(&reader, which).map(drop),
        bed.engine.unarchive(&reader, which).map(drop),
        bed.engine.pin(&reader, which).map(drop),
        bed.engine.forget(&reader, which, &ForgetRequest::default()).map(drop),
        bed.engine.associate(&reader, which, &link(memory.memory.id, Relation::RelatedTo)).map(drop),
    ];
    for result in denied {
        assert_eq!(words(result), "this needs the role writer in the space `hub`");
    }
    let org_wide = bed.update(&owner, memory.memory.id, &bounded(Boundary::Org));
    let elsewhere = bed.member("elsewhere", bed.hub("next-door"), Role::Admin);
    assert_eq!(
        words(bed.engine.update(&elsewhere, org_wide.id.into(), &said("x"))),
        "this needs the role writer in its space"
    );
}

fn mirror(bed: &Bed, user: &Caller) -> Memory {
    bed.world().put(user.space, user.viewer.principal, "an entry", |m| {
        m.fields.boundary = Boundary::Private;
        m.provenance.source_path = Some("MEMORY.md".to_owned());
        m.provenance.mirror = Some(Mirror { line: 7, occurrence: 0 });
    })
}

#[test]
fn a_mirror_follows_its_file_and_says_so() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = mirror(&bed, &user);
    let record = bed.save(&user, "a record");
    let which = MemoryRef::Id(memory.id);
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    let refused = [
        bed.engine.update(&user, which, &said("x")).map(drop),
        bed.engine.revert(&user, which, Version(1)).map(drop),
        bed.engine.archive(&user, which).map(drop),
        bed.engine.pin(&user, which).map(drop),
        bed.engine.forget(&user, which, &ForgetRequest::default()).map(drop),
        bed.engine.forget(&user, which, &hard).map(drop),
    ];
    for result in refused {
        let text = words(result);
        assert!(text.ends_with("mirrors line 7 of MEMORY.md"), "{text}");
    }
    bed.link(&user, record.memory.id, memory.id, Relation::RelatedTo);
}

#[test]
fn history_tells_who_changed_what_newest_first() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let owner = bed.member("owner", hub, Role::Writer);
    let editor = Caller { agent: Some("scribe".to_owned()), ..bed.member("editor", hub, Role::Writer) };
    let memory = bed.save(&owner, "one");
    bed.update(
        &editor,
        memory.memory.id,
        &UpdateRequest { importance: Some(1.0), tags: Some(vec!["t".to_owned()]), ..said("two") },
    );
    bed.engine.revert(&owner, memory.memory.id.into(), Version(1)).unwrap();
    let history = bed.engine.history(&owner, memory.memory.id.into()).unwrap();
    let described: Vec<_> = history
        .iter()
        .map(|entry| (entry.version.0, entry.act, entry.by_name.as_str(), entry.agent.as_deref()))
        .collect();
    assert_eq!(
        described,
        [
            (3, VersionAct::Reverted, "owner", None),
            (2, VersionAct::Updated, "editor", Some("scribe")),
            (1, VersionAct::Created, "owner", None),
        ]
    );
    assert_eq!(history[1].changed, ["content", "tags", "importance"]);
    assert_eq!(history[0].changed, ["content", "tags", "importance"]);
    assert_eq!(history[2].changed, [""; 0]);
    assert_eq!(history.iter().map(|entry| entry.current).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn the_history_of_long_contents_leaves_the_older_ones_out_and_says_so() {
    let bed = Bed::new();
    let user = bed.user();
    let long = |n: u32| format!("{n} ").repeat(400_000).trim().to_owned();
    let id = bed.save(&user, long(1).as_str()).memory.id;
    for n in 2..=7 {
        bed.update(&user, id, &said(&long(n)));
    }
    let history = bed.engine.history(&user, id.into()).unwrap();
    assert_eq!(history.iter().map(|entry| entry.version.0).collect::<Vec<_>>(), [7, 6, 5, 4, 3, 2, 1]);
    let described: Vec<bool> = history.iter().map(|entry| !entry.left_out).collect();
    assert_eq!(described, [true, true, true, true, true, false, false]);
    for entry in &history {
        assert_eq!(entry.fields.text.content.is_empty(), entry.left_out);
        assert_eq!(entry.changed.contains(&"content"), entry.version > Version(1), "{}", entry.version);
    }
    let back = bed.engine.revert(&user, id.into(), Version(1)).unwrap();
    assert_eq!(back.memory.fields.text.content, long(1));
}

#[test]
fn history_does_not_tell_what_was_private() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [owner, other] = ["owner", "other"].map(|name| bed.member(name, hub, Role::Writer));
    let memory =
        bed.save(&owner, SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("secret") });
    bed.update(&owner, memory.memory.id, &UpdateRequest { boundary: Some(Boundary::Hub), ..said("shared") });
    let history = bed.engine.history(&other, memory.memory.id.into()).unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].changed, [""; 0], "not even what changed");
    refused!(bed.engine.revert(&other, memory.memory.id.into(), Version(1)), Error::NoVersion { .. });
    assert_eq!(bed.engine.history(&owner, memory.memory.id.into()).unwrap().len(), 2);
}

#[test]
fn a_revert_is_a_new_version_and_keeps_the_boundary() {
    let bed = Bed::new();
    let hub = within(&bed.user(), bed.hub("hub"));
    let memory = bed.save(&hub, keyed("k", "one"));
    bed.update(
        &hub,
        memory.memory.id,
        &UpdateRequest { boundary: Some(Boundary::Team), key: Some(None), ..said("two") },
    );
    let back = bed.engine.revert(&hub, memory.memory.id.into(), Version(1)).unwrap().memory;
    assert_eq!(back.version, Version(3));
    assert_eq!(back.fields.text.content, "one");
    assert_eq!(back.fields.key.as_deref(), Some("k"));
    assert_eq!(back.fields.boundary, Boundary::Team, "who may see it stays");
    let again = bed.engine.revert(&hub, memory.memory.id.into(), Version(3)).unwrap().memory;
    assert_eq!(again.version, Version(3), "to what it says already is nothing");
    refused!(
        bed.engine.revert(&hub, memory.memory.id.into(), Version(9)),
        Error::NoVersion { version: Version(9), .. }
    );
}

#[test]
fn a_revert_cannot_take_back_a_key_that_another_holds_by_now() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, keyed("k", "first"));
    bed.update(&user, first.memory.id, &UpdateRequest { key: Some(None), ..UpdateRequest::default() });
    bed.save(&user, keyed("k", "second"));
    refused!(
        bed.engine.revert(&user, first.memory.id.into(), Version(1)),
        Error::Held { what: Unique::Key, .. }
    );
}

#[test]
fn an_edit_made_meanwhile_is_kept() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "content");
    let (other, theirs, id) = (bed.beside(), user.clone(), memory.memory.id);
    bed.store.before_next_apply(move |_| {
        other.update(&theirs, id.into(), &titled("their title")).expect("the other was faster");
    });
    let after = bed.update(&user, memory.memory.id, &said("my content"));
    assert_eq!(after.version, Version(3));
    assert_eq!(after.fields.text.content, "my content");
    assert_eq!(after.fields.text.title.as_deref(), Some("their title"));
}

#[test]
fn an_edit_does_not_undo_a_pin_or_an_archiving_made_meanwhile() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, keyed("k", "content"));
    let acts: [fn(&Bed, &Caller, MemoryRef) -> Memory; 2] = [
        |bed, user, which| bed.engine.update(user, which, &titled("title")).expect("an edit").memory,
        |bed, user, _| {
            let receipt = bed.save(user, keyed("k", "other content"));
            bed.get(user, receipt.memory.id)
        },
    ];
    for act in acts {
        let (other, theirs, id) = (bed.beside(), user.clone(), memory.memory.id);
        bed.store.before_next_apply(move |_| {
            other.pin(&theirs, id.into()).expect("the other was faster");
        });
        let after = act(&bed, &user, memory.memory.id.into());
        assert!(after.status.pinned, "the pin was acknowledged");
        bed.engine.unpin(&user, memory.memory.id.into()).unwrap();
    }
    let (other, theirs, id) = (bed.beside(), user.clone(), memory.memory.id);
    bed.store.before_next_apply(move |_| {
        other.archive(&theirs, id.into()).expect("the other was faster");
    });
    let after = bed.update(&user, memory.memory.id, &said("third content"));
    assert_eq!(after.status.state, State::Archived);
}

#[test]
fn an_edit_that_could_not_be_embedded_says_so_as_a_save_does() {
    let bed = Bed::embedding(Arc::new(BrokenEmbedder));
    let user = bed.user();
    let saved = bed.save(&user, "first");
    assert!(matches!(saved.warnings.as_slice(), [Warning::NotEmbedded { .. }]));
    let edited = bed.engine.update(&user, saved.memory.id.into(), &said("second")).expect("an edit");
    assert_eq!(edited.warnings, saved.warnings);
    let reverted = bed.engine.revert(&user, saved.memory.id.into(), Version(1)).expect("a revert");
    assert_eq!(reverted.warnings, saved.warnings);
    // An edit that keeps the text needs no vectors, and an engine without a model is meant to have none.
    let pinned = UpdateRequest { importance: Some(0.9), ..UpdateRequest::default() };
    assert_eq!(bed.engine.update(&user, saved.memory.id.into(), &pinned).expect("an edit").warnings, []);
    let without = bed.beside();
    assert_eq!(without.update(&user, saved.memory.id.into(), &said("third")).expect("an edit").warnings, []);
}
