//! `apply` is one transaction: it writes everything or nothing, checks each write, and is durable when it returns.

use tulving_core::model::change::{RecallCount, RequiredRole, Write};
use tulving_core::model::error::{Conflict, Unique};
use tulving_core::model::id::{
    MemoryId, MemoryNumber, MemoryRef, PassId, PrincipalId, SpaceId, TeamId, Version,
};
use tulving_core::model::memory::{Attachment, ConversationPlace, MemoryTimes, Mirror, Provenance};
use tulving_core::model::request::{Filter, ForgottenFilter, Sort};
use tulving_core::model::score::Importance;
use tulving_core::model::space::{MemberOf, Principal, Space};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{
    AuditAct, Author, Boundary, ChangeKind, ContentType, Kind, MemoryType, Origin, PrincipalKind, Relation,
    Role, SpaceKind, Stability, State, Trust,
};

use super::{StoreFactory, conflict, good, world};
use crate::build::{self, StoreFixture, eyes};

/// If the last write of a set conflicts, none of the writes before it take effect, whatever the conflict is.
pub fn a_set_is_whole_or_absent(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("whole");
    let keyed = world.put(space, owner, "keyed", |m| m.fields.key = Some("k".to_owned()));
    let spare = world.put(space, owner, "spare", |_| ());
    let gone = world.put(space, owner, "gone", |_| ());
    world.erase(gone.id);
    let job = world.job("work");
    world.apply(vec![Write::Enqueue(job.clone())]);
    let mut stale = keyed.clone();
    stale.version = Version(7);
    let mut elsewhere = keyed.clone();
    elsewhere.status.pinned = true;
    let mut second_key = world.draft(space, owner, "second");
    second_key.fields.key = Some("k".to_owned());
    let mut other_job = job.clone();
    other_job.attempts = 2;
    let now = world.now();
    let bad: Vec<(&str, Write)> = vec![
        ("a stale revision", build::revise(&stale, build::fields("new"))),
        ("a move from elsewhere", build::shift(&elsewhere, |s| s.state = State::Archived)),
        ("a revision of what was moved", build::revise(&elsewhere, build::fields("new"))),
        ("an erasure of another version", Write::Erase { id: keyed.id, from: Some(Version(7)) }),
        ("a relocation of another version", build::relocate(&stale, SpaceId::DEFAULT)),
        ("an erasure of nothing", Write::Erase { id: gone.id, from: None }),
        ("a taken key", build::insert(&second_key)),
        ("a taken id", build::insert(&keyed)),
        ("a link to nothing", Write::Link(build::link(now, keyed.id, gone.id, Relation::PartOf))),
        ("a job that moved", Write::MoveJob { from: Box::new(other_job), to: Box::new(job) }),
        (
            "a taken name of a space",
            Write::AddSpace(Space {
                id: SpaceId::mint(now),
                team: TeamId::LOCAL,
                name: "whole".to_owned(),
                kind: SpaceKind::Hub,
                created_at: now,
            }),
        ),
        (
            "a taken name of a principal",
            Write::AddPrincipal(Principal {
                id: PrincipalId::mint(now),
                name: "writer-of-whole".to_owned(),
                kind: PrincipalKind::Agent,
                created_at: now,
            }),
        ),
    ];
    let before = world.dump();
    let head = good(world.store.head());
    for (what, last) in bad {
        let fine = world.draft(space, owner, "fine");
        let writes = vec![
            build::insert(&fine),
            build::revise(&spare, build::fields("edited")),
            Write::Link(build::link(now, fine.id, keyed.id, Relation::RelatedTo)),
            Write::LogTurn(world.turn(space, owner, "hello")),
            Write::Audit(world.audit(AuditAct::Forgot, Some(space), Some(fine.id))),
            Write::Enqueue(world.job("never")),
            Write::Touch(vec![RecallCount { id: spare.id, count: 3, at: now }]),
            last,
        ];
        conflict(world.try_apply(writes));
        assert!(world.dump() == before, "{what} left something behind");
        assert_eq!(good(world.store.head()), head, "{what} left an entry in the log");
        assert_eq!(good(world.store.jobs(&[], &["never"], 9)), [], "{what} left a job behind");
    }
}

/// A right is a direct membership of the space at the moment of the write.
pub fn rights_are_checked_where_they_are_used(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let space = world.hub("rights");
    let actor = world.principal("actor");
    let attempt = |content: &str, role: Role| {
        let memory = world.draft(space, actor, content);
        let right = RequiredRole { space, role, over: None };
        world.apply_as(actor, vec![right], vec![build::insert(&memory)])
    };
    assert_eq!(conflict(attempt("no member", Role::Reader)), Conflict::RightLost);
    world.join(actor, MemberOf::Team(TeamId::LOCAL), Role::Admin);
    assert_eq!(conflict(attempt("an admin of the team", Role::Writer)), Conflict::RightLost);
    world.join(actor, MemberOf::Space(space), Role::Reader);
    assert_eq!(conflict(attempt("a reader", Role::Writer)), Conflict::RightLost);
    world.join(actor, MemberOf::Space(space), Role::Writer);
    good(attempt("a writer", Role::Writer));
    good(attempt("a writer reads too", Role::Reader));
    assert_eq!(conflict(attempt("a writer is no admin", Role::Admin)), Conflict::RightLost);
    world.join(actor, MemberOf::Space(space), Role::Admin);
    good(attempt("an admin", Role::Writer));
    let elsewhere = world.hub("elsewhere");
    let memory = world.draft(space, actor, "one of two");
    let rights = [space, elsewhere].map(|space| RequiredRole { space, role: Role::Writer, over: None });
    let both = world.apply_as(actor, rights.to_vec(), vec![build::insert(&memory)]);
    assert_eq!(conflict(both), Conflict::RightLost, "every right must hold");
    world.leave(actor, MemberOf::Space(space));
    assert_eq!(conflict(attempt("after leaving", Role::Writer)), Conflict::RightLost);
    assert_eq!(
        good(world.store.count(&eyes(PrincipalId::USER), &Filter::default())),
        0,
        "the user is no member of the space"
    );
}

/// An actor without the right learns nothing about the memory.
pub fn a_lost_right_is_said_before_anything_else(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("first");
    let mut memory = world.put(space, owner, "there", |_| ());
    memory.version = Version(9);
    let stranger = world.principal("stranger");
    let writes = vec![
        build::revise(&memory, build::fields("x")),
        build::insert(&world.draft(space, owner, "there")),
        Write::Erase { id: MemoryId::mint(world.now()), from: None },
    ];
    let right = RequiredRole { space, role: Role::Writer, over: None };
    assert_eq!(conflict(world.apply_as(stranger, vec![right], writes)), Conflict::RightLost);
}

/// An edit that is based on an older version returns a conflict with both versions.
pub fn a_stale_revision_conflicts(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("stale");
    let first = world.put(space, owner, "one", |_| ());
    world.edit(&first, |e| e.text.content = "two".to_owned());
    let late = build::revise(&first, build::fields("three"));
    assert_eq!(
        conflict(world.try_apply(vec![late])),
        Conflict::Stale { id: first.id, expected: Version(1), found: Version(2) }
    );
    let seen = world.seen(&eyes(owner), first.id).expect("it is there");
    assert_eq!((seen.version, seen.fields.text.content.as_str()), (Version(2), "two"));
}

/// If a memory was moved after an edit was decided, the edit is refused, because it would undo the move.
pub fn a_revision_of_what_moved_conflicts(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("moved");
    let memory = world.put(space, owner, "here", |_| ());
    let moved = world.shift(&memory, |s| s.pinned = true);
    assert_eq!(
        conflict(world.try_apply(vec![build::revise(&memory, build::fields("edited"))])),
        Conflict::Moved { id: memory.id }
    );
    assert_eq!(world.seen(&eyes(owner), memory.id), Some(moved.clone()));
    world.edit(&moved, |e| e.text.content = "edited".to_owned());
}

/// A move that was decided on another status is refused, whichever part of the status differs.
pub fn a_move_from_elsewhere_conflicts(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("moved");
    let memory = world.put(space, owner, "here", |_| ());
    let now = world.now();
    let mut others = [memory.status; 6];
    others[0].state = State::Cooling;
    others[1].forgotten_at = Some(now);
    others[2].quarantined_at = Some(now);
    others[3].pinned = true;
    others[4].ruled_at = Some(now);
    others[5].done_at = Some(now);
    for from in others {
        let mut to = from;
        to.state = State::Archived;
        let write = Write::Move { id: memory.id, from, to };
        assert_eq!(conflict(world.try_apply(vec![write])), Conflict::Moved { id: memory.id });
    }
    world.shift(&memory, |s| s.state = State::Archived);
}

/// The conflict names the missing memory, even if the write only links to that memory.
pub fn what_is_gone_conflicts(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("gone");
    let here = world.put(space, owner, "here", |_| ());
    let gone = world.put(space, owner, "gone", |_| ());
    world.erase(gone.id);
    let now = world.now();
    let writes = [
        build::revise(&gone, build::fields("x")),
        build::shift(&gone, |s| s.pinned = true),
        Write::Erase { id: gone.id, from: None },
        Write::Link(build::link(now, here.id, gone.id, Relation::RelatedTo)),
        Write::Link(build::link(now, gone.id, here.id, Relation::RelatedTo)),
    ];
    for write in writes {
        let what = format!("{write:?}");
        assert_eq!(conflict(world.try_apply(vec![write])), Conflict::Gone { id: gone.id }, "{what}");
    }
}

/// Later writes of a set see the earlier ones.
pub fn writes_of_a_set_build_on_each_other(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("order");
    let holder = world.put(space, owner, "holder", |m| m.fields.key = Some("k".to_owned()));
    let heir = world.draft(space, owner, "heir");
    let mut second = heir.clone();
    second.version = Version(2);
    let mut keyed = build::fields("heir, edited");
    keyed.key = Some("k".to_owned());
    let writes = vec![
        build::insert(&heir),
        build::revise(&holder, build::fields("holder without a key")),
        build::revise(&heir, build::fields("heir once")),
        build::revise(&second, keyed),
        build::shift(&heir, |s| s.pinned = true),
        Write::Link(build::link(world.now(), heir.id, holder.id, Relation::Updates)),
    ];
    world.apply(writes);
    let viewer = eyes(owner);
    let heir = world.seen(&viewer, heir.id).expect("it was inserted");
    assert_eq!((heir.version, heir.fields.key.as_deref()), (Version(3), Some("k")));
    assert!(heir.status.pinned);
    let holder = world.seen(&viewer, holder.id).expect("it is there");
    assert_eq!((holder.fields.key, holder.superseded_by), (None, Some(heir.id)));
    assert_eq!(good(world.store.versions(&viewer, heir.id)).len(), 3);
}

/// Each space has its own ascending numbers. Neither erasing nor a refused set reuses a number. Mirrors have none.
pub fn numbers_ascend_and_are_never_reused(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (one, owner) = world.hub_with_writer("one");
    let (two, _) = world.hub_with_writer("two");
    let number = |space: SpaceId, content: &str| {
        let memory = world.put(space, owner, content, |m| m.number = Some(MemoryNumber(99)));
        (memory.id, memory.number.expect("a record has a number").0)
    };
    let mut given = vec![number(one, "a").1, number(one, "b").1];
    assert_eq!(given, [1, 2], "the first memory of a space is #1, whatever the writer says");
    assert_eq!(number(two, "a").1, 1, "each space counts for itself");
    let (last, highest) = number(one, "c");
    given.push(highest);
    world.erase(last);
    given.push(number(one, "d").1);
    conflict(world.try_apply(vec![
        build::insert(&world.draft(one, owner, "e")),
        Write::Erase { id: last, from: None },
    ]));
    given.push(number(one, "f").1);
    let mirror = world.put(one, owner, "a line", |m| {
        m.provenance.source_path = Some("notes.md".to_owned());
        m.provenance.mirror = Some(Mirror { line: 1, occurrence: 0 });
    });
    assert_eq!(mirror.number, None, "a mirror has no number");
    let batch = ["g", "h", "i"].map(|content| build::insert(&world.draft(one, owner, content)));
    let numbers = world.apply(batch.to_vec()).numbers;
    given.extend(numbers.iter().map(|number| number.expect("a record has a number").0));
    assert!(
        given.windows(2).all(|pair| pair[0] < pair[1]),
        "numbers ascend and none is given twice: {given:?}"
    );
    for id in good(world.store.ids(&eyes(owner), &Filter::default(), Sort::Oldest)) {
        let memory = world.seen(&eyes(owner), id).expect("listed");
        if let Some(number) = memory.number {
            let found = good(world.store.memory(
                &eyes(owner),
                memory.space,
                MemoryRef::Number(number),
                ForgottenFilter::Without,
            ));
            assert_eq!(found, Some(memory), "a number leads back to its memory");
        }
    }
}

/// An id belongs to one memory across all spaces.
pub fn an_id_is_given_once(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("once");
    let memory = world.put(space, owner, "first", |_| ());
    let mut second = world.draft(SpaceId::DEFAULT, owner, "second");
    second.id = memory.id;
    assert_eq!(conflict(world.try_apply(vec![build::insert(&second)])), Conflict::Taken { what: Unique::Id });
}

/// A memory does not lose or change any field on the way through the store.
pub fn a_memory_reads_back_as_it_was_written(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("whole");
    let plain = world.put(space, owner, "nothing but content", |_| ());
    let full = full(&world, space, owner);
    let mirror = world.put(space, owner, "an entry", |m| {
        m.provenance.source_path = Some("2026-01-01.md".to_owned());
        m.provenance.mirror = Some(Mirror { line: 12, occurrence: 3 });
    });
    for written in [plain, full, mirror] {
        let read = world.seen(&eyes(owner), written.id);
        assert_eq!(read.as_ref(), Some(&written));
        assert_eq!(good(world.store.memories(&eyes(owner), &[written.id])), [written]);
    }
}

fn full(world: &StoreFixture, space: SpaceId, owner: PrincipalId) -> tulving_core::model::memory::Memory {
    let now = world.now();
    let far = |micros: i64| Some(Timestamp::from_micros(micros));
    world.put(
        space,
        owner,
        "Γειά, 世界 👩‍👩‍👧‍👦\n\tשלום \"quoted\" \\ %_'; DROP",
        |m| {
            m.fields.key = Some("kéy/with:signs".to_owned());
            m.fields.boundary = Boundary::Team;
            m.fields.text.content_type = ContentType::Markdown;
            m.fields.text.title = Some("a ‘title’".to_owned());
            m.fields.text.summary = Some("in short".to_owned());
            m.fields.text.tags = vec!["b".to_owned(), "a\"b,c".to_owned(), "ü".to_owned()];
            m.fields.class.memory_type = MemoryType::Routine;
            m.fields.class.kind = Kind::Rationale;
            m.fields.class.stability = Stability::Volatile;
            m.fields.class.importance = Importance::new(0.123_456_789).expect("within bounds");
            m.fields.span = MemoryTimes {
                occurred_at: far(-1),
                valid_from: far(i64::MIN),
                valid_until: far(i64::MAX),
                expires_at: Some(now),
            };
            m.fields.source_note = Some("a note".to_owned());
            m.status.state = State::Processing;
            m.status.pinned = true;
            m.status.quarantined_at = Some(now);
            m.provenance = Provenance {
                author: Author::Auto,
                origin: Origin::Extraction,
                source_agent: Some("agent".to_owned()),
                assisted_by_agent: Some("helper".to_owned()),
                trust: Trust::Untrusted,
                pass: Some(PassId::mint(now)),
                source_path: Some("/a/path with spaces".to_owned()),
                source_paths: ["/a/path with spaces", "/b", "/a"].map(str::to_owned).to_vec(),
                also_without_path: true,
                mirror: None,
                attachment: Some(Attachment {
                    object_key: "objects/1".to_owned(),
                    media_type: "image/png".to_owned(),
                    size: u64::from(u32::MAX) + 1,
                    hash: "00ff".to_owned(),
                    name: Some("plan.pdf".to_owned()),
                    trouble: Some("it is encrypted".to_owned()),
                }),
            };
            m.place = ConversationPlace {
                conversation: Some("channel".to_owned()),
                position: Some(-5),
                speaker: Some("Ada".to_owned()),
            };
        },
    )
}

/// An edit replaces the fields, advances `updated_at` and the version, and changes nothing else.
pub fn a_revision_keeps_what_is_not_its_own(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("revised");
    let before = full(&world, space, owner);
    world.apply(vec![Write::Touch(vec![RecallCount { id: before.id, count: 4, at: world.now() }])]);
    let touched = world.seen(&eyes(owner), before.id).expect("there");
    let after = world.edit(&before, |e| {
        e.text.content = "other words".to_owned();
        e.key = None;
        e.text.tags.clear();
        e.span = MemoryTimes::default();
    });
    assert_eq!(after.version, Version(2));
    assert!(after.usage.updated_at > before.usage.updated_at);
    assert_eq!(after.fields.text.content, "other words");
    assert_eq!((&after.fields.key, after.fields.span), (&None, MemoryTimes::default()));
    let mut expected = touched;
    expected.version = after.version;
    expected.fields = after.fields.clone();
    expected.usage.updated_at = after.usage.updated_at;
    assert_eq!(after, expected, "owner, number, standing, provenance, place, access stay");
}

/// Moving changes the status and nothing else.
pub fn a_move_makes_no_version(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("move");
    let memory = world.put(space, owner, "still", |_| ());
    let moved = world.shift(&memory, |s| {
        s.state = State::Cooling;
        s.pinned = true;
    });
    let seen = world.seen(&eyes(owner), memory.id).expect("there");
    assert_eq!(seen, moved, "only the standing changes");
    assert_eq!(good(world.store.versions(&eyes(owner), memory.id)).len(), 1);
}

/// A memory that moves to another space keeps everything except its number. It gets the next number of the new space,
/// and its old number is not reused. A mirror has no number in either space.
pub fn a_memory_goes_to_another_space_whole(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (here, owner) = world.hub_with_writer("here");
    let there = world.hub("there");
    world.join(owner, MemberOf::Space(there), Role::Writer);
    let viewer = eyes(owner);
    let first = full(&world, here, owner);
    let friend = world.put(here, owner, "friend", |_| ());
    let resident = world.put(there, owner, "resident", |_| ());
    let memory = world.edit(&first, |e| e.text.content = "said anew".to_owned());
    world.link(&friend, &memory, Relation::Updates);
    world.link(&memory, &resident, Relation::PartOf);
    world.apply(vec![Write::Touch(vec![RecallCount { id: memory.id, count: 4, at: world.now() }])]);
    let before = world.seen(&viewer, memory.id).expect("there");
    let (entry, edges) = (
        good(world.store.entries(&[memory.id], None)).remove(0),
        good(world.store.associations(&viewer, &[memory.id])),
    );
    let versions = good(world.store.versions(&viewer, memory.id));
    let applied = world.apply(vec![build::relocate(&memory, there)]);
    assert_eq!(applied.numbers, [Some(MemoryNumber(2))], "the next one there");
    let after = world.seen(&viewer, memory.id).expect("there");
    let mut expected = before.clone();
    (expected.space, expected.number) = (there, Some(MemoryNumber(2)));
    assert_eq!(after, expected, "nothing else changes");
    assert_eq!(good(world.store.entries(&[memory.id], None))[0].chunks, entry.chunks);
    assert_eq!(good(world.store.associations(&viewer, &[memory.id])), edges);
    assert_eq!(good(world.store.versions(&viewer, memory.id)), versions);
    let old = MemoryRef::Number(before.number.expect("a record"));
    assert_eq!(good(world.store.memory(&viewer, here, old, ForgottenFilter::Without)), None);
    let filter = Filter { space: Some(here), ..Filter::default() };
    assert_eq!(good(world.store.ids(&viewer, &filter, Sort::Oldest)), [friend.id]);
    let back = world.apply(vec![build::relocate(&after, here)]);
    assert_eq!(back.numbers, [Some(MemoryNumber(3))], "its old number is not its own any more");
    assert_eq!(world.put(there, owner, "next", |_| ()).number, Some(MemoryNumber(3)));
    let mirror = world.put(here, owner, "a line", |m| {
        m.provenance.source_path = Some("notes.md".to_owned());
        m.provenance.mirror = Some(Mirror { line: 1, occurrence: 0 });
    });
    assert_eq!(world.apply(vec![build::relocate(&mirror, there)]).numbers, [None]);
}

/// A memory is not moved if it was edited, moved, forgotten or erased in the meantime.
pub fn a_memory_that_is_no_longer_so_stays_where_it_is(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (here, owner) = world.hub_with_writer("here");
    let [there, elsewhere] = ["there", "elsewhere"].map(|name| world.hub(name));
    let made = |content: &str| world.put(here, owner, content, |_| ());
    let refused = |memory: &tulving_core::model::memory::Memory| {
        conflict(world.try_apply(vec![build::relocate(memory, there)]))
    };
    let edited = made("edited");
    world.edit(&edited, |e| e.text.content = "anew".to_owned());
    assert_eq!(refused(&edited), Conflict::Stale { id: edited.id, expected: Version(1), found: Version(2) });
    let moved = made("moved");
    world.apply(vec![build::relocate(&moved, elsewhere)]);
    assert_eq!(refused(&moved), Conflict::Moved { id: moved.id });
    let [forgotten, erased] = ["forgotten", "erased"].map(made);
    world.forget(&forgotten);
    world.erase(erased.id);
    for gone in [forgotten, erased] {
        assert_eq!(refused(&gone), Conflict::Gone { id: gone.id });
    }
    let pinned = made("pinned");
    world.shift(&pinned, |s| s.pinned = true);
    world.apply(vec![build::relocate(&pinned, there)]);
}

/// A right for a memory ends when the memory moves to another space, whatever rights the actor has in that space.
pub fn a_right_holds_where_its_memory_is(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (here, owner) = world.hub_with_writer("here");
    let (there, _) = world.hub_with_writer("there");
    let memory = world.put(here, owner, "a memory", |_| ());
    let right = |space, over| RequiredRole { space, role: Role::Writer, over };
    let attempt = |rights: Vec<RequiredRole>| {
        let pinned = world.seen(&eyes(PrincipalId::USER), memory.id).is_some_and(|m| m.status.pinned);
        let mut before = memory.clone();
        before.status.pinned = pinned;
        world.apply_as(owner, rights, vec![build::shift(&before, |s| s.pinned = !pinned)])
    };
    world.join(PrincipalId::USER, MemberOf::Space(here), Role::Reader);
    world.join(PrincipalId::USER, MemberOf::Space(there), Role::Reader);
    good(attempt(vec![right(here, Some(memory.id))]));
    world.apply(vec![build::relocate(&memory, there)]);
    assert_eq!(conflict(attempt(vec![right(here, Some(memory.id))])), Conflict::Moved { id: memory.id });
    world.join(owner, MemberOf::Space(there), Role::Writer);
    assert_eq!(
        conflict(attempt(vec![right(there, None), right(here, Some(memory.id))])),
        Conflict::Moved { id: memory.id },
        "it was decided elsewhere"
    );
    good(attempt(vec![right(there, Some(memory.id))]));
    world.leave(owner, MemberOf::Space(there));
    assert_eq!(
        conflict(attempt(vec![right(here, Some(memory.id)), right(there, None)])),
        Conflict::RightLost,
        "who may not act learns nothing of what stands there"
    );
    let nothing = MemoryId::mint(world.now());
    let erase = Write::Erase { id: nothing, from: None };
    let gone = world.apply_as(owner, vec![right(here, Some(nothing))], vec![erase]);
    assert_eq!(conflict(gone), Conflict::Gone { id: nothing }, "the write says so");
}

/// No read returns an erased memory, its versions or its edges. Its key, path and content may be used again.
pub fn an_erased_memory_leaves_nothing(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("erased");
    let viewer = eyes(owner);
    let doomed = world.put(space, owner, "doomed", |m| {
        m.fields.key = Some("k".to_owned());
        m.provenance.source_path = Some("p".to_owned());
    });
    let doomed = world.edit(&doomed, |e| e.text.content = "doomed again".to_owned());
    let friend = world.put(space, owner, "friend", |_| ());
    world.link(&doomed, &friend, Relation::Updates);
    world.link(&friend, &doomed, Relation::RelatedTo);
    world.forget(&friend);
    world.erase(doomed.id);
    world.erase(friend.id);
    for (memory, content) in [(&doomed, "doomed"), (&friend, "friend")] {
        for forgotten in [ForgottenFilter::Without, ForgottenFilter::Only] {
            let number = MemoryRef::Number(memory.number.expect("a record"));
            for which in [MemoryRef::Id(memory.id), number] {
                assert_eq!(good(world.store.memory(&viewer, space, which, forgotten)), None);
            }
            let filter = Filter { substring: Some(content.to_owned()), forgotten, ..Filter::default() };
            assert_eq!(good(world.store.count(&viewer, &filter)), 0, "{content}");
        }
        assert_eq!(good(world.store.versions(&viewer, memory.id)), []);
    }
    let ids = [doomed.id, friend.id];
    assert_eq!(good(world.store.associations(&viewer, &ids)), []);
    assert_eq!(good(world.store.memories(&viewer, &ids)), []);
    let text = format!("{:?}", world.dump());
    assert!(!text.contains("doomed"), "nothing of the content is dumped");
    world.put(space, owner, "doomed", |m| {
        m.fields.key = Some("k".to_owned());
        m.provenance.source_path = Some("p".to_owned());
    });
    let again = conflict(world.try_apply(vec![Write::Erase { id: doomed.id, from: None }]));
    assert_eq!(again, Conflict::Gone { id: doomed.id });
}

/// Counts add up, times only move forward, and a memory that was erased in the meantime is skipped.
pub fn touches_are_counted_and_never_go_back(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("touched");
    let memory = world.put(space, owner, "touched", |_| ());
    let gone = world.put(space, owner, "gone", |_| ());
    world.erase(gone.id);
    let (earlier, later) = (world.now(), world.now());
    let touch = |id, count, at| RecallCount { id, count, at };
    world.apply(vec![Write::Touch(vec![touch(memory.id, 2, later), touch(gone.id, 1, later)])]);
    world.apply(vec![Write::Touch(vec![touch(memory.id, 3, earlier)])]);
    let seen = world.seen(&eyes(owner), memory.id).expect("there");
    let mut expected = memory;
    expected.usage.access_count = 5;
    expected.usage.accessed_at = later;
    assert_eq!(seen, expected, "nothing else is touched");
    let listed = good(world.store.list(&eyes(owner), &Filter::default(), Sort::MostAccessed, 9, None));
    assert_eq!(listed, [expected]);
}

/// A cooling memory becomes active when it is recalled, and the log contains this move.
pub fn a_touch_warms_what_was_cooling(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("warmed");
    let viewer = eyes(owner);
    let made = State::ALL.iter().map(|state| {
        let memory = world.put(space, owner, state.as_str(), |m| m.status.state = *state);
        (*state, memory.id)
    });
    let made: Vec<_> = made.collect();
    let head = good(world.store.head());
    let at = world.now();
    let touches = made.iter().map(|(_, id)| RecallCount { id: *id, count: 1, at });
    world.apply(vec![Write::Touch(touches.collect())]);
    for (state, id) in &made {
        let seen = world.seen(&viewer, *id).expect("there");
        let expected = if *state == State::Cooling { State::Active } else { *state };
        assert_eq!((seen.status.state, seen.version), (expected, Version(1)), "{state}");
    }
    let logged: Vec<_> =
        good(world.store.changes(head, 9)).into_iter().map(|change| (change.kind, change.memory)).collect();
    let cooling = made.iter().find(|(state, _)| *state == State::Cooling).map(|(_, id)| *id);
    assert_eq!(logged, [(ChangeKind::Moved, cooling.expect("one was cooling"))]);
}
