//! save and save_many.

use std::sync::Arc;

use tulving_core::model::answer::{Receipt, SaveOutcome, Warning};
use tulving_core::model::change::Write;
use tulving_core::model::error::{Conflict, Error, Invalid, StoreError};
use tulving_core::model::id::{MemoryNumber, MemoryRef, SpaceId, Version};
use tulving_core::model::memory::{Attachment, Memory, Status};
use tulving_core::model::request::{AssociationRequest, AuditFilter, Caller, ForgetMode, Mode, SaveRequest};
use tulving_core::model::space::MemberOf;
use tulving_core::model::vocabulary::{
    AuditAct, Author, Boundary, ContentType, Kind, MemoryType, Origin, Relation, Role, SpaceKind, Stability,
    State, Trust,
};
use tulving_core::ports::Clock as _;
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::{BrokenEmbedder, FakeEmbedder};

use crate::bed::{Bed, caller, keyed, link, recall, refused, within, words};

fn at_path(path: &str, content: &str) -> SaveRequest {
    SaveRequest { source_path: Some(path.to_owned()), ..SaveRequest::new(content) }
}

fn bounded(boundary: Boundary, request: SaveRequest) -> SaveRequest {
    SaveRequest { boundary: Some(boundary), ..request }
}

fn versions(bed: &Bed, caller: &Caller, memory: &Memory) -> usize {
    bed.engine.history(caller, memory.id.into()).expect("a history").len()
}

#[test]
fn what_was_saved_is_found_by_the_very_next_read() {
    let bed = Bed::new();
    let user = bed.user();
    let receipt = bed.save(&user, "the sky is blue");
    assert_eq!((receipt.outcome, receipt.memory.number), (SaveOutcome::Created, Some(MemoryNumber(1))));
    let memory = bed.get(&user, receipt.memory.id);
    assert_eq!(memory.fields.text.content, "the sky is blue");
    assert_eq!(bed.engine.get(&user, MemoryRef::Number(MemoryNumber(1))).unwrap(), memory);
    assert_eq!(bed.contents(&user), ["the sky is blue"]);
    let found = bed.engine.recall(&user, &recall(Mode::Substring("SKY".to_owned()))).unwrap();
    assert_eq!((found.total_found, found.hits[0].memory.id), (1, receipt.memory.id));
    let elsewhere = bed.beside();
    assert_eq!(elsewhere.get(&user, receipt.memory.id.into()).unwrap(), memory);
}

#[test]
fn what_is_not_said_has_its_default() {
    let bed = Bed::new();
    let user = Caller { agent: Some("scribe".to_owned()), ..bed.user() };
    let bare = bed.save(&user, "bare");
    let memory = bed.get(&user, bare.memory.id);
    assert_eq!(memory.fields.boundary, Boundary::Private);
    assert_eq!(memory.fields.text.content_type, ContentType::Text);
    assert_eq!(memory.fields.class.memory_type, MemoryType::Fact);
    assert_eq!(memory.fields.class.kind, Kind::Semantic);
    assert_eq!(memory.fields.class.stability, Stability::Stable);
    assert_eq!(memory.fields.class.importance.get(), 0.5);
    assert_eq!(memory.status.state, State::Active);
    assert_eq!(memory.provenance.author, Author::User);
    assert_eq!(memory.provenance.trust, Trust::Own);
    assert_eq!(memory.provenance.origin, Origin::Cli);
    assert_eq!(memory.provenance.source_agent.as_deref(), Some("scribe"));
    assert_eq!(memory.version, Version::FIRST);
    assert_eq!(memory.usage.accessed_at, memory.usage.created_at);
    assert_eq!(memory.usage.access_count, 0);
    let hub = within(&user, bed.hub("hub"));
    let shared = bed.save(&hub, "bare");
    assert_eq!(shared.outcome, SaveOutcome::Created, "another space knows nothing of the first");
    assert_eq!(bed.get(&hub, shared.memory.id).fields.boundary, Boundary::Hub);
    assert_eq!(shared.memory.number, Some(MemoryNumber(1)), "each space has its own numbers");
}

#[test]
fn the_same_content_is_saved_once() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, "caf\u{e9}\ncr\u{e8}me");
    for same in ["caf\u{e9}\ncr\u{e8}me", "  caf\u{e9}\r\ncr\u{e8}me\n", "\u{feff}cafe\u{301}\ncr\u{e8}me"] {
        let again = bed.save(&user, SaveRequest { importance: Some(0.9), ..SaveRequest::new(same) });
        assert_eq!(
            (again.outcome, again.memory.id, again.memory.number),
            (SaveOutcome::Duplicate, first.memory.id, first.memory.number)
        );
        assert!(!again.revived);
    }
    let memory = bed.get(&user, first.memory.id);
    assert_eq!(memory.fields.class.importance.get(), 0.5, "the one that is there stands");
    assert_eq!(versions(&bed, &user, &memory), 1);
    let upper = bed.save(&user, "Caf\u{e9}\ncr\u{e8}me");
    assert_eq!(upper.outcome, SaveOutcome::Created);
    let hub_wide = bounded(Boundary::Hub, SaveRequest::new("caf\u{e9}\ncr\u{e8}me"));
    assert_eq!(bed.save(&user, hub_wide).outcome, SaveOutcome::Created, "another boundary is another memory");
}

#[test]
fn a_duplicate_of_an_archived_memory_brings_it_back() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, "old news");
    bed.engine.archive(&user, first.memory.id.into()).unwrap();
    let again = bed.save(&user, "old news");
    assert_eq!((again.outcome, again.memory.id), (SaveOutcome::Duplicate, first.memory.id));
    assert!(again.revived);
    assert_eq!(again.memory.status.state, State::Active);
    assert_eq!(bed.get(&user, first.memory.id).status.state, State::Active);
    assert_eq!(bed.engine.recall(&user, &recall(Mode::Recent)).unwrap().total_found, 1);
}

#[test]
fn a_duplicate_is_pinned_where_that_was_asked() {
    let bed = Bed::new();
    let user = bed.user();
    let pinned = |request| SaveRequest { pinned: true, ..request };
    for request in [SaveRequest::new("by content"), keyed("k", "by key"), at_path("p", "by path")] {
        let first = bed.save(&user, request.clone());
        let again = bed.save(&user, pinned(request.clone()));
        assert_eq!(again.memory.id, first.memory.id);
        let memory = bed.get(&user, first.memory.id);
        assert!(memory.status.pinned, "{}", request.content);
        assert_eq!(memory.version, Version(1));
        bed.save(&user, request);
        assert!(bed.get(&user, first.memory.id).status.pinned, "and stays so");
    }
}

#[test]
fn saving_onto_a_key_updates_and_keeps_id_number_and_creation() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, SaveRequest { title: Some("editor".to_owned()), ..keyed("editor", "vim") });
    let before = bed.get(&user, first.memory.id);
    let again = bed.save(&user, keyed("editor", "helix"));
    assert_eq!(
        (again.outcome, again.memory.id, again.memory.number),
        (SaveOutcome::Updated, first.memory.id, first.memory.number)
    );
    assert_eq!(again.memory.version, Version(2));
    let after = bed.get(&user, first.memory.id);
    assert_eq!(after.fields.text.content, "helix");
    assert_eq!(after.fields.text.title.as_deref(), Some("editor"), "what was not said stays");
    assert_eq!(after.usage.created_at, before.usage.created_at);
    assert!(after.usage.updated_at > before.usage.updated_at);
    assert_eq!(versions(&bed, &user, &after), 2);
}

#[test]
fn saving_the_same_onto_a_key_makes_no_version() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, keyed("k", "same"));
    let head = tulving_core::ports::Log::head(&*bed.store).unwrap();
    let again = bed.save(&user, keyed("k", " same "));
    assert_eq!(
        (again.outcome, again.memory.id, again.memory.version),
        (SaveOutcome::Unchanged, first.memory.id, Version(1))
    );
    assert_eq!(tulving_core::ports::Log::head(&*bed.store).unwrap(), head, "nothing was written");
}

#[test]
fn saving_onto_an_archived_key_brings_the_memory_back() {
    let bed = Bed::new();
    let user = bed.user();
    for content in ["same", "other"] {
        let first = bed.save(&user, keyed("k", "same"));
        bed.engine.archive(&user, first.memory.id.into()).unwrap();
        let again = bed.save(&user, keyed("k", content));
        assert!(again.revived && again.memory.status.state == State::Active, "{content}");
        assert_eq!(bed.get(&user, first.memory.id).status.state, State::Active);
    }
}

#[test]
fn a_key_is_looked_for_on_both_sides_unless_a_boundary_is_named() {
    let bed = Bed::new();
    let user = within(&bed.user(), bed.hub("hub"));
    let private = bed.save(&user, bounded(Boundary::Private, keyed("k", "mine")));
    let found = bed.save(&user, keyed("k", "mine, edited"));
    assert_eq!((found.outcome, found.memory.id), (SaveOutcome::Updated, private.memory.id));
    assert_eq!(bed.get(&user, private.memory.id).fields.boundary, Boundary::Private, "its boundary stays");
    let shared = bed.save(&user, bounded(Boundary::Hub, keyed("k", "ours")));
    assert_eq!(shared.outcome, SaveOutcome::Created, "a named boundary looks on its own side only");
    let found = bed.save(&user, keyed("k", "mine again"));
    assert_eq!(found.memory.id, private.memory.id, "what is private is not published by somebody else's key");
    let found = bed.save(&user, bounded(Boundary::Hub, keyed("k", "ours, edited")));
    assert_eq!(found.memory.id, shared.memory.id);
}

#[test]
fn a_path_with_the_same_content_is_skipped_and_with_another_updated() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, at_path("/notes/a.md", "text"));
    let same =
        bed.save(&user, SaveRequest { title: Some("ignored".to_owned()), ..at_path("/notes/a.md", "text") });
    assert_eq!((same.outcome, same.memory.id), (SaveOutcome::Unchanged, first.memory.id));
    let changed = bed.save(&user, at_path("/notes/a.md", "new text"));
    assert_eq!(
        (changed.outcome, changed.memory.id, changed.memory.version),
        (SaveOutcome::Updated, first.memory.id, Version(2))
    );
    let other = bed.save(&user, at_path("/notes/b.md", "new text"));
    assert_eq!(
        (other.outcome, other.memory.id),
        (SaveOutcome::Duplicate, first.memory.id),
        "another file says the same"
    );
    let plain = bed.save(&user, "new text");
    assert_eq!(
        (plain.outcome, plain.memory.id),
        (SaveOutcome::Duplicate, first.memory.id),
        "and so does somebody without a file"
    );
}

#[test]
fn lines_of_a_conversation_may_repeat() {
    let bed = Bed::new();
    let user = bed.user();
    let line = SaveRequest { conversation: Some("chat".to_owned()), ..SaveRequest::new("yes") };
    let outcomes = [line.clone(), line, SaveRequest::new("yes"), SaveRequest::new("yes")]
        .map(|request| bed.save(&user, request).outcome);
    assert_eq!(
        outcomes,
        [SaveOutcome::Created, SaveOutcome::Created, SaveOutcome::Created, SaveOutcome::Duplicate]
    );
}

#[test]
fn a_batch_is_saved_as_a_whole_or_not_at_all() {
    let bed = Bed::new();
    let user = bed.user();
    let bad = ["one", "", "three"].map(SaveRequest::new).to_vec();
    refused!(bed.engine.save_many(&user, bad), Error::Invalid(Invalid::InBatch { index: 1, .. }));
    assert_eq!(bed.contents(&user), [""; 0]);
    let good = ["one", "two", "three"].map(SaveRequest::new).to_vec();
    let receipts = bed.engine.save_many(&user, good).unwrap();
    let numbers: Vec<_> = receipts.iter().map(|receipt| receipt.memory.number).collect();
    assert_eq!(
        numbers,
        [Some(MemoryNumber(1)), Some(MemoryNumber(2)), Some(MemoryNumber(3))],
        "in the order of the requests"
    );
    assert!(bed.engine.save_many(&user, Vec::new()).unwrap().is_empty());
}

#[test]
fn a_batch_sees_what_it_says_itself() {
    let bed = Bed::new();
    let user = bed.user();
    let requests = vec![
        SaveRequest::new("twice"),
        keyed("k", "first"),
        SaveRequest::new("twice"),
        keyed("k", "second"),
        keyed("k", "second"),
        at_path("p", "file"),
        at_path("p", "file, edited"),
    ];
    let receipts = bed.engine.save_many(&user, requests).unwrap();
    let outcomes: Vec<_> = receipts.iter().map(|receipt| receipt.outcome).collect();
    use SaveOutcome::{Created, Duplicate, Unchanged, Updated};
    assert_eq!(outcomes, [Created, Created, Duplicate, Updated, Unchanged, Created, Updated]);
    for (one, other) in [(0, 2), (1, 3), (1, 4), (5, 6)] {
        assert_eq!(receipts[one].memory.id, receipts[other].memory.id);
        assert_eq!(receipts[one].memory.number, receipts[other].memory.number, "each receipt has the number");
    }
    assert_eq!(receipts[4].memory.version, Version(2));
    assert_eq!(bed.contents(&user).len(), 3);
    let keyed = bed.get(&user, receipts[1].memory.id);
    assert_eq!(keyed.fields.text.content, "second");
}

#[test]
fn a_key_that_a_batch_gave_away_is_free_for_the_rest_of_it() {
    let bed = Bed::new();
    let user = bed.user();
    let file = SaveRequest { key: Some("old".to_owned()), ..at_path("p", "file") };
    let first = bed.save(&user, file);
    let requests = vec![
        SaveRequest { key: Some("new".to_owned()), ..at_path("p", "file, renamed") },
        keyed("old", "another memory"),
    ];
    let receipts = bed.engine.save_many(&user, requests).unwrap();
    assert_eq!((receipts[0].outcome, receipts[0].memory.id), (SaveOutcome::Updated, first.memory.id));
    assert_eq!(receipts[1].outcome, SaveOutcome::Created);
    assert_ne!(receipts[1].memory.id, first.memory.id);
    assert_eq!(bed.get(&user, first.memory.id).fields.key.as_deref(), Some("new"));
}

#[test]
fn a_link_to_nothing_is_left_out_and_said() {
    let bed = Bed::new();
    let user = bed.user();
    let target = bed.save(&user, "target");
    let missing: MemoryRef = "#99".parse().unwrap();
    let receipt = bed.save(
        &user,
        SaveRequest {
            associations: vec![
                link(target.memory.id, Relation::PartOf),
                AssociationRequest { target: missing, relation: None, weight: None },
            ],
            ..SaveRequest::new("source")
        },
    );
    assert_eq!(receipt.warnings, [Warning::AssociationSkipped { target: missing }]);
    let related = bed.engine.related(&user, receipt.memory.id.into(), 1).unwrap();
    assert_eq!(related.len(), 1);
    assert_eq!(related[0].via[0].relation, Relation::PartOf);
}

#[test]
fn a_memory_cannot_be_linked_to_itself_by_its_key() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, keyed("k", "one"));
    let request =
        SaveRequest { associations: vec![link(first.memory.id, Relation::RelatedTo)], ..keyed("k", "two") };
    refused!(bed.engine.save(&user, request), Error::Invalid(Invalid::SelfAssociation));
    assert_eq!(bed.contents(&user), ["one"], "the whole act is refused");
}

/// Creates two hubs. The caller writes in the first and reads an org-wide memory of the other.
fn visitor(bed: &Bed) -> (Caller, SpaceId, Memory) {
    let own = bed.hub("own");
    let other = bed.hub("other");
    let host = within(&bed.user(), other);
    let target = bed.save(&host, bounded(Boundary::Org, SaveRequest::new("the old way")));
    let visitor = bed.member("visitor", own, Role::Writer);
    let target = bed.get(&visitor, target.memory.id);
    (visitor, other, target)
}

fn updating(target: &Memory) -> SaveRequest {
    SaveRequest { associations: vec![link(target.id, Relation::Updates)], ..SaveRequest::new("the new way") }
}

#[test]
fn updates_marks_the_target_as_superseded() {
    let bed = Bed::new();
    let user = bed.user();
    let old = bed.save(&user, "the old way");
    let target = bed.get(&user, old.memory.id);
    let new = bed.save(&user, updating(&target));
    assert_eq!(new.warnings, []);
    let seen = bed.get(&user, old.memory.id);
    assert_eq!(seen.superseded_by, Some(new.memory.id));
    assert_eq!(seen.version, Version(1), "a link makes no version");
}

#[test]
fn what_no_longer_holds_was_taken_for_known_without_a_word() {
    let bed = Bed::new();
    let user = bed.user();
    let old = bed.save(&user, "the old way");
    let new = bed.save(&user, updating(&bed.get(&user, old.memory.id)));
    let [first, second] = [1, 2].map(|number| MemoryRef::Number(MemoryNumber(number)));
    let superseded = Warning::Superseded { memory: first, by: second };
    assert_eq!(
        superseded.to_string(),
        "#1 was superseded by #2; if it is true again, save it with `--updates 2`"
    );
    let again = bed.save(&user, "the old way");
    assert_eq!((again.outcome, again.warnings), (SaveOutcome::Duplicate, vec![superseded]));
    bed.engine.archive(&user, new.memory.id.into()).unwrap();
    assert_eq!(bed.save(&user, "the old way").warnings, [], "what was archived replaces nothing");
    let ended = bed.clock.now();
    let until = SaveRequest { valid_until: Some(ended), ..SaveRequest::new("the way of last year") };
    assert_eq!(bed.save(&user, until.clone()).warnings, []);
    assert_eq!(bed.save(&user, until).warnings, [], "it is said how long it held");
    let memory = MemoryRef::Number(MemoryNumber(3));
    let again = bed.save(&user, "the way of last year");
    assert_eq!(again.warnings, [Warning::NoLongerValid { memory, at: ended }]);
}

#[test]
fn who_may_not_write_there_relates_instead_of_superseding() {
    let bed = Bed::new();
    let (visitor, _, target) = visitor(&bed);
    let new = bed.save(&visitor, updating(&target));
    let which = MemoryRef::Id(target.id);
    assert_eq!(new.warnings, [Warning::NotSuperseded { target: which }]);
    assert_eq!(bed.get(&visitor, target.id).superseded_by, None);
    let related = bed.engine.related(&visitor, new.memory.id.into(), 1).unwrap();
    assert_eq!(related[0].via[0].relation, Relation::RelatedTo);
}

#[test]
fn the_right_to_supersede_is_checked_when_it_is_used() {
    let bed = Bed::new();
    let (visitor, other, target) = visitor(&bed);
    let who = visitor.viewer.principal;
    bed.world().join(who, MemberOf::Space(other), Role::Writer);
    bed.store.before_next_apply(move |store| {
        let world = build::StoreFixture::new(store);
        world.leave(who, MemberOf::Space(other));
    });
    let new = bed.save(&visitor, updating(&target));
    assert_eq!(new.warnings.len(), 1, "it was decided again");
    assert_eq!(bed.get(&visitor, target.id).superseded_by, None);
}

#[test]
fn two_who_save_the_same_at_once_make_one_memory() {
    let bed = Bed::new();
    let user = bed.user();
    let other = bed.beside();
    let theirs = user.clone();
    bed.store.before_next_apply(move |_| {
        other.save(&theirs, SaveRequest::new("at once")).expect("the other was faster");
    });
    let receipt = bed.save(&user, "at once");
    assert_eq!((receipt.outcome, receipt.memory.number), (SaveOutcome::Duplicate, Some(MemoryNumber(1))));
    let other = bed.beside();
    let theirs = user.clone();
    bed.store.before_next_apply(move |_| {
        other.save(&theirs, keyed("k", "theirs")).expect("the other was faster");
    });
    let receipt = bed.save(&user, keyed("k", "mine"));
    assert_eq!((receipt.outcome, receipt.memory.version), (SaveOutcome::Updated, Version(2)));
    assert_eq!(bed.contents(&user).len(), 2);
}

#[test]
fn many_threads_and_stores_save_each_content_once() {
    let bed = Bed::new();
    let user = bed.user();
    let engines: Vec<_> = (0..4).map(|_| bed.beside()).collect();
    let created: usize = std::thread::scope(|scope| {
        let workers = engines.iter().map(|engine| {
            scope.spawn(|| {
                let contents = (0..40).map(|n| SaveRequest::new(format!("memory {n}")));
                contents
                    .map(|request| engine.save(&user, request).expect("nobody is turned away"))
                    .filter(|receipt| receipt.outcome == SaveOutcome::Created)
                    .count()
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    });
    assert_eq!(created, 40);
    assert_eq!(bed.contents(&user).len(), 40);
}

#[test]
fn a_model_that_fails_costs_the_vectors_and_never_the_memory() {
    let broken = Bed::with(ManualClock::new(), Arc::new(BrokenEmbedder));
    let user = broken.user();
    let receipt = broken.save(&user, "still saved");
    assert!(matches!(receipt.warnings[..], [Warning::NotEmbedded { .. }]), "{receipt:?}");
    assert_eq!(broken.save(&user, "still saved").warnings, []);
    assert_eq!(broken.contents(&user), ["still saved"]);
    let working = Bed::with(ManualClock::new(), Arc::new(FakeEmbedder));
    assert_eq!(working.save(&working.user(), "saved").warnings, []);
    let none = Bed::new();
    assert_eq!(none.save(&none.user(), "saved").warnings, [], "no model at all is normal");
}

#[test]
fn saving_takes_the_role_of_a_writer() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let reader = bed.member("reader", hub, Role::Reader);
    assert_eq!(
        words(bed.engine.save(&reader, SaveRequest::new("x"))),
        "this needs the role writer in the space `hub`"
    );
    let writer = bed.member("writer", hub, Role::Writer);
    let with_a_readers_token = Caller { ceiling: Role::Reader, ..writer.clone() };
    refused!(
        bed.engine.save(&with_a_readers_token, SaveRequest::new("x")),
        Error::Denied { need: Role::Writer, .. }
    );
    let stranger = within(&bed.person("stranger"), hub);
    refused!(bed.engine.save(&stranger, SaveRequest::new("x")), Error::NoSpace { .. });
    bed.save(&writer, "x");
}

#[test]
fn a_right_lost_on_the_way_stops_the_save() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let writer = bed.member("writer", hub, Role::Writer);
    let who = writer.viewer.principal;
    bed.store.before_next_apply(move |store| {
        let world = build::StoreFixture::new(store);
        world.join(who, MemberOf::Space(hub), Role::Reader);
    });
    refused!(
        bed.engine.save(&writer, SaveRequest::new("too late")),
        Error::Denied { .. } | Error::Store(StoreError::Conflict(Conflict::RightLost))
    );
    assert_eq!(bed.contents(&writer), [""; 0]);
}

#[test]
fn a_group_takes_nothing_that_would_be_seen_outside() {
    let bed = Bed::new();
    let group = bed.space("group", SpaceKind::Group);
    let user = within(&bed.user(), group);
    for boundary in [Boundary::Team, Boundary::Org] {
        refused!(
            bed.engine.save(&user, bounded(boundary, SaveRequest::new("out"))),
            Error::Invalid(Invalid::BoundaryTooWide { .. })
        );
    }
    let inside = bed.save(&user, "inside");
    assert_eq!(bed.get(&user, inside.memory.id).fields.boundary, Boundary::Hub);
    bed.save(&user, bounded(Boundary::Private, SaveRequest::new("mine")));
}

#[test]
fn private_contents_of_two_people_are_two_memories() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    let diary = || bounded(Boundary::Private, keyed("diary", "dear diary"));
    let hers = bed.save(&ann, diary());
    let his = bed.save(&bob, diary());
    assert_eq!((hers.outcome, his.outcome), (SaveOutcome::Created, SaveOutcome::Created));
    refused!(bed.engine.get(&ann, his.memory.id.into()), Error::NoMemory { .. });
    assert_eq!(bed.save(&bob, diary()).outcome, SaveOutcome::Unchanged);
}

#[test]
fn a_forgotten_memory_is_not_in_the_way_of_a_new_one() {
    let bed = Bed::new();
    let user = bed.user();
    for request in [SaveRequest::new("content"), keyed("k", "key"), at_path("p", "path")] {
        let first = bed.save(&user, request.clone());
        bed.forget(&user, first.memory.id, ForgetMode::Soft);
        let again = bed.save(&user, request);
        assert_eq!(again.outcome, SaveOutcome::Created);
        assert_ne!(again.memory.number, first.memory.number, "numbers are not given twice");
    }
}

#[test]
fn the_same_person_saves_for_each_space_apart() {
    let bed = Bed::new();
    let one = within(&bed.user(), bed.hub("one"));
    let two = within(&bed.user(), bed.hub("two"));
    bed.save(&one, keyed("k", "in one"));
    let second = bed.save(&two, keyed("k", "in two"));
    assert_eq!(second.outcome, SaveOutcome::Created);
    let anywhere = caller(one.viewer.principal, SpaceId::DEFAULT);
    assert_eq!(bed.contents(&anywhere), ["in two", "in one"]);
}

#[test]
fn what_a_known_memory_keeps_is_said() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "known");
    let said = SaveRequest {
        tags: Some(vec!["new".to_owned()]),
        importance: Some(1.0),
        ..SaveRequest::new("known")
    };
    let receipt = bed.save(&user, said);
    assert_eq!(receipt.outcome, SaveOutcome::Duplicate);
    let kept =
        Warning::Kept { memory: MemoryRef::Number(MemoryNumber(1)), fields: vec!["tags", "importance"] };
    assert_eq!(receipt.warnings, [kept]);
    assert_eq!(bed.save(&user, "known").warnings, [], "nothing was said, so nothing is kept");
}

#[test]
fn what_has_expired_already_is_said() {
    let bed = Bed::new();
    let past = SaveRequest { expires_at: Some(build::second(-9)), ..SaveRequest::new("milk") };
    let receipt = bed.save(&bed.user(), past);
    assert!(matches!(receipt.warnings[..], [Warning::Expired { .. }]), "{:?}", receipt.warnings);
}

#[test]
fn who_may_see_a_keyed_memory_is_not_changed_by_whoever_saves_it() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [owner, other] = ["owner", "other"].map(|name| bed.member(name, hub, Role::Writer));
    bed.save(&owner, keyed("k", "ours"));
    let wider = bounded(Boundary::Org, keyed("k", "everybody's"));
    refused!(bed.engine.save(&other, wider.clone()), Error::OwnerOrAdmin { .. });
    assert_eq!(bed.save(&owner, wider).outcome, SaveOutcome::Updated);
}

#[test]
fn a_key_that_others_share_does_not_publish_what_is_private_by_default() {
    let bed = Bed::new();
    let user = bed.user();
    let other = bed.member("other", SpaceId::DEFAULT, Role::Writer);
    bed.save(&other, bounded(Boundary::Hub, keyed("diary", "a trap")));
    let mine = bed.save(&user, keyed("diary", "for nobody else"));
    assert_eq!(mine.outcome, SaveOutcome::Created);
    assert_eq!(bed.get(&user, mine.memory.id).fields.boundary, Boundary::Private);
    let own = bed.save(&user, bounded(Boundary::Hub, keyed("plan", "ours")));
    assert_eq!(
        bed.save(&user, keyed("plan", "ours, edited")).memory.id,
        own.memory.id,
        "what one shared oneself is meant"
    );
}

#[test]
fn a_batch_says_which_request_was_wrong_also_when_that_shows_late() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, keyed("k", "mine"));
    let requests = vec![
        SaveRequest::new("good"),
        SaveRequest {
            associations: vec![link(first.memory.id, Relation::RelatedTo)],
            ..keyed("k", "to itself")
        },
    ];
    assert_eq!(
        words(bed.engine.save_many(&user, requests)),
        "memory 2 of the batch: a memory cannot be associated with itself"
    );
}

#[test]
fn what_is_set_once_is_said_to_be_kept() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, keyed("k", "first"));
    let moved = SaveRequest { conversation: Some("chat".to_owned()), ..keyed("k", "second") };
    let receipt = bed.save(&user, moved);
    assert_eq!(receipt.outcome, SaveOutcome::Updated);
    assert!(
        matches!(&receipt.warnings[..], [Warning::Kept { fields, .. }] if fields == &["conversation"]),
        "{:?}",
        receipt.warnings
    );
}

#[test]
fn an_attachment_that_is_none_is_refused() {
    let bed = Bed::new();
    let good = Attachment {
        object_key: "a/b".to_owned(),
        media_type: "image/png".to_owned(),
        size: 3,
        hash: "0".repeat(64),
        name: Some("plan.pdf".to_owned()),
        trouble: None,
    };
    let said = |attachment| SaveRequest { attachment: Some(attachment), ..SaveRequest::new("a picture") };
    for wrong in [
        Attachment { object_key: "a\u{1b}".to_owned(), ..good.clone() },
        Attachment { media_type: String::new(), ..good.clone() },
        Attachment { hash: "0".repeat(63), ..good.clone() },
        Attachment { size: u64::MAX, ..good.clone() },
    ] {
        refused!(bed.engine.save(&bed.user(), said(wrong)), Error::Invalid(Invalid::Attachment { .. }));
    }
    bed.save(&bed.user(), said(good));
}

fn heard(content: &str) -> SaveRequest {
    SaveRequest { author: Some(Author::Auto), ..SaveRequest::new(content) }
}

fn changes(receipt: &Receipt) -> Vec<String> {
    receipt.changed.iter().map(ToString::to_string).collect()
}

#[test]
fn an_explicit_save_of_what_was_noted_by_itself_takes_over_what_was_said() {
    let bed = Bed::new();
    let user = bed.user();
    let noted = bed.save(&user, heard("prefers tea"));
    let said = SaveRequest {
        memory_type: Some(MemoryType::Preference),
        importance: Some(0.9),
        tags: Some(vec!["drinks".to_owned()]),
        pinned: true,
        ..SaveRequest::new("prefers tea")
    };
    let receipt = bed.save(&user, said.clone());
    assert_eq!(
        (receipt.memory.id, receipt.outcome, receipt.memory.version.0),
        (noted.memory.id, SaveOutcome::Updated, 2)
    );
    let changes = changes(&receipt);
    for change in ["author auto → user", "type fact → preference", "importance 0.5 → 0.9", "pinned no → yes"]
    {
        assert!(changes.iter().any(|described| described == change), "{change} is not among {changes:?}");
    }
    assert!(
        changes.iter().any(|described| described.starts_with("tags ") && described.ends_with("→ drinks")),
        "{changes:?}"
    );
    assert!(receipt.warnings.is_empty(), "{:?}", receipt.warnings);
    let memory = bed.get(&user, noted.memory.id);
    assert_eq!((memory.provenance.author, memory.status.pinned), (Author::User, true));
    assert_eq!(memory.fields.class.memory_type, MemoryType::Preference);
    let again = bed.save(&user, said);
    assert_eq!((again.outcome, again.memory.version.0, again.changed.len()), (SaveOutcome::Duplicate, 2, 0));
}

#[test]
fn a_save_by_itself_never_takes_back_what_somebody_said() {
    let bed = Bed::new();
    let user = bed.user();
    let said = SaveRequest { memory_type: Some(MemoryType::Preference), ..SaveRequest::new("prefers tea") };
    let id = bed.save(&user, said).memory.id;
    let receipt = bed.save(&user, heard("prefers tea"));
    assert_eq!((receipt.memory.id, receipt.outcome), (id, SaveOutcome::Duplicate));
    let memory = bed.get(&user, id);
    assert_eq!(memory.provenance.author, Author::User);
    assert_eq!(memory.fields.class.memory_type, MemoryType::Preference);
    let kept = bed.save(&user, SaveRequest { importance: Some(0.9), ..SaveRequest::new("prefers tea") });
    assert_eq!(
        (kept.outcome, kept.changed.len()),
        (SaveOutcome::Duplicate, 0),
        "what somebody said is edited by an update"
    );
}

#[test]
fn only_the_author_changes_where_nothing_else_was_said_and_keys_do_the_same() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, heard("prefers tea"));
    assert_eq!(changes(&bed.save(&user, "prefers tea")), ["author auto → user"]);
    let keyed = |request: SaveRequest| SaveRequest { key: Some("drink".to_owned()), ..request };
    bed.save(&user, keyed(heard("drinks water")));
    let receipt = bed.save(&user, keyed(SaveRequest::new("drinks water")));
    assert_eq!(
        (receipt.outcome, changes(&receipt)),
        (SaveOutcome::Updated, vec!["author auto → user".to_owned()])
    );
}

#[test]
fn an_explicit_save_accepts_what_was_put_aside_and_brings_back_what_was_archived() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, heard("prefers tea")).memory.id;
    bed.engine.archive(&user, id.into()).expect("archived");
    let receipt = bed.save(&user, "prefers tea");
    assert!(receipt.revived && receipt.memory.status.state == State::Active, "{receipt:?}");
    let aside =
        bed.save(&user, SaveRequest { trust: Some(Trust::Untrusted), ..heard("prefers mate") }).memory.id;
    let status = bed.get(&user, aside).status;
    let to = Status { quarantined_at: Some(bed.engine.now()), ..status };
    bed.world().apply(vec![Write::Move { id: aside, from: status, to }]);
    let receipt = bed.save(&user, "prefers mate");
    assert_eq!(changes(&receipt), ["author auto → user", "trust untrusted → own", "quarantined yes → no"]);
    assert_eq!(bed.get(&user, aside).status.quarantined_at, None);
    let audit = bed.engine.audit(&user, &AuditFilter { space: None, memory: Some(aside), last: 9 });
    assert!(audit.expect("an audit").iter().any(|entry| entry.act == AuditAct::Accepted));
    bed.forget(&user, aside, ForgetMode::Soft);
    assert_eq!(
        bed.save(&user, "prefers mate").outcome,
        SaveOutcome::Created,
        "what was forgotten is not brought back"
    );
}
