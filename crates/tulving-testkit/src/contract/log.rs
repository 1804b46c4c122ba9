//! The change log, which all derived data follows, and the audit.

use tulving_core::model::audit::{AuditEntry, WrittenVersion};
use tulving_core::model::change::{Actor, Change, ChangeSet, RecallCount, Write};
use tulving_core::model::id::{OrgId, Seq, SpaceId, TeamId};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::AuditFilter;
use tulving_core::model::space::{MemberOf, Viewer};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{
    AuditAct, Boundary, ChangeKind, Relation, Role, SpaceKind, VersionAct,
};

use super::{StoreFactory, conflict, good, world};
use crate::build::{StoreFixture, confined, eyes, fields, insert, revise};

fn since(world: &StoreFixture, after: Seq) -> Vec<Change> {
    good(world.store.changes(after, 1_000))
}

/// Each change of a memory or association has one entry, with the kind, the memory, its space, owner and boundary
/// after the change.
pub fn every_change_has_its_entry(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("logged");
    let start = good(world.store.head());
    let a = world.put(space, owner, "a", |_| ());
    let b = world.put(space, owner, "b", |m| m.fields.boundary = Boundary::Private);
    let b = world.edit(&b, |e| e.boundary = Boundary::Team);
    world.shift(&a, |s| s.pinned = true);
    let edge = world.link(&a, &b, Relation::PartOf);
    world.apply(vec![Write::Unlink { source: edge.source, target: edge.target, relation: edge.relation }]);
    world.erase(b.id);
    let described: Vec<_> = since(&world, start)
        .into_iter()
        .map(|change| {
            assert_eq!((change.space, change.owner), (space, owner));
            (change.kind, change.memory, change.boundary)
        })
        .collect();
    assert_eq!(
        described,
        [
            (ChangeKind::Saved, a.id, Boundary::Hub),
            (ChangeKind::Saved, b.id, Boundary::Private),
            (ChangeKind::Revised, b.id, Boundary::Team),
            (ChangeKind::Moved, a.id, Boundary::Hub),
            (ChangeKind::Linked, a.id, Boundary::Hub),
            (ChangeKind::Unlinked, a.id, Boundary::Hub),
            (ChangeKind::Erased, b.id, Boundary::Team),
        ]
    );
}

/// If a memory becomes invisible to a reader, the log first contains the removal of its old state, and then its new
/// state.
pub fn who_sees_a_memory_no_more_is_told(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("told");
    let (there, _) = world.hub_with_writer("there");
    let memory = world.put(space, owner, "a memory", |_| ());
    let start = good(world.store.head());
    let memory = world.edit(&memory, |e| e.boundary = Boundary::Org);
    let memory = world.edit(&memory, |e| e.boundary = Boundary::Team);
    let memory = world.edit(&memory, |e| e.text.title = Some("the same audience".to_owned()));
    let memory = world.edit(&memory, |e| e.boundary = Boundary::Private);
    let memory = world.edit(&memory, |e| e.boundary = Boundary::Hub);
    let applied = world.apply(vec![crate::build::relocate(&memory, there)]);
    assert_eq!(applied.seq, Some(good(world.store.head())));
    let now = world.now();
    let mut moved = memory;
    moved.space = there;
    world.shift(&moved, |s| s.forgotten_at = Some(now));
    let described: Vec<_> = since(&world, start)
        .into_iter()
        .map(|change| {
            assert_eq!((change.memory, change.owner), (moved.id, owner));
            (change.kind, change.space, change.boundary)
        })
        .collect();
    assert_eq!(
        described,
        [
            (ChangeKind::Revised, space, Boundary::Org),
            (ChangeKind::Erased, space, Boundary::Org),
            (ChangeKind::Revised, space, Boundary::Team),
            (ChangeKind::Revised, space, Boundary::Team),
            (ChangeKind::Erased, space, Boundary::Team),
            (ChangeKind::Revised, space, Boundary::Private),
            (ChangeKind::Revised, space, Boundary::Hub),
            (ChangeKind::Erased, space, Boundary::Hub),
            (ChangeKind::Saved, there, Boundary::Hub),
            (ChangeKind::Moved, there, Boundary::Hub),
        ]
    );
}

/// Touches, turns, jobs, members, tokens, listings, audit entries and refused sets are not in the log.
pub fn what_is_no_change_of_a_memory_is_not_logged(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("quiet");
    let memory = world.put(space, owner, "memory", |_| ());
    let head = good(world.store.head());
    let applied = world.apply(vec![
        Write::Touch(vec![RecallCount { id: memory.id, count: 1, at: world.now() }]),
        Write::LogTurn(world.turn(space, owner, "hello")),
        Write::PruneTurns { space, keep: 0 },
        Write::Enqueue(world.job("work")),
        Write::Audit(world.audit(AuditAct::Forgot, Some(space), Some(memory.id))),
    ]);
    assert_eq!(applied.seq, None, "nothing was logged");
    world.hub("another");
    conflict(world.try_apply(vec![insert(&world.draft(space, owner, "never")), insert(&memory)]));
    assert_eq!(good(world.store.head()), head);
    assert_eq!(since(&world, head), []);
}

/// Entries ascend, `apply` returns its last entry, `head` is the last of all entries, and pages contain every entry.
pub fn the_log_ascends_and_can_be_paged(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("pages");
    assert_eq!(since(&world, Seq::default()), []);
    let start = good(world.store.head());
    for n in 0..20 {
        let pair = ["a", "b"].map(|half| insert(&world.draft(space, owner, &format!("{half}{n}"))));
        let applied = world.apply(pair.to_vec());
        assert_eq!(applied.seq, Some(good(world.store.head())));
    }
    let all = since(&world, start);
    assert_eq!(all.len(), 40);
    assert!(all.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(all.last().map(|change| change.seq), Some(good(world.store.head())));
    let mut paged = Vec::new();
    let mut after = start;
    loop {
        let page = good(world.store.changes(after, 7));
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 7);
        after = last.seq;
        paged.extend(page);
    }
    assert_eq!(paged, all);
}

/// The oldest entries are removed in batches, but never the newest entry. A reader that follows the log from an earlier
/// position sees the gap.
pub fn a_trimmed_log_keeps_its_numbers_and_its_newest_entry(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("trimmed");
    for n in 0..9 {
        world.put(space, owner, &format!("memory {n}"), |_| ());
    }
    let Seq(head) = good(world.store.head());
    let first = |after| since(&world, Seq(after)).first().map(|change| change.seq.0);
    let oldest = first(0).expect("there are entries");
    assert_eq!(good(world.store.trim(Seq(head - 4), 2)), 2);
    assert_eq!(first(0), Some(oldest + 2));
    good(world.store.trim(Seq(head - 4), 1_000));
    assert_eq!(first(0), Some(head - 3));
    assert_eq!(first(head - 2), Some(head - 1), "what is there is followed as before");
    assert_eq!(good(world.store.trim(Seq(head - 4), 1_000)), 0);
    assert_eq!(good(world.store.trim(Seq(u64::MAX >> 1), 1_000)), 3);
    assert_eq!((first(0), good(world.store.head())), (Some(head), Seq(head)));
    world.put(space, owner, "one more", |_| ());
    assert_eq!(good(world.store.head()), Seq(head + 1));
}

/// A caller that reads the counter twice learns whether something was committed in between.
pub fn every_commit_moves_the_pulse(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("pulse");
    let mut last = good(world.store.change_counter());
    for n in 0..5 {
        world.put(space, owner, &format!("memory {n}"), |_| ());
        let now = good(world.store.change_counter());
        assert_ne!(now, last, "commit {n}");
        last = now;
    }
}

/// Writes do not change the epoch, and two stores have different epochs.
pub fn the_epoch_stays(fresh: StoreFactory<'_>) {
    let (one, two) = (world(fresh), world(fresh));
    let epoch = good(one.store.epoch());
    let (space, owner) = one.hub_with_writer("epoch");
    one.put(space, owner, "memory", |_| ());
    assert_eq!(good(one.store.epoch()), epoch);
    assert_ne!(good(two.store.epoch()), epoch);
}

fn acts(world: &StoreFixture, viewer: &Viewer, filter: &AuditFilter) -> Vec<AuditAct> {
    good(world.store.audit(viewer, filter)).into_iter().map(|entry| entry.act).collect()
}

/// Admins of a space see its audit. Admins of the org also see the audit of the org's spaces and of the whole store.
pub fn the_audit_is_for_admins(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let abroad = world.org("abroad");
    let foreign = world.team(abroad, "foreign");
    let (space, writer) = world.hub_with_writer("audited");
    let other = world.hub("other");
    let embassy = world.space_of(foreign, "embassy", SpaceKind::Hub);
    let person = |name: &str, of: MemberOf, role| {
        let id = world.principal(name);
        world.join(id, of, role);
        eyes(id)
    };
    let admin = person("admin", MemberOf::Space(space), Role::Admin);
    let team_admin = person("team-admin", MemberOf::Team(TeamId::LOCAL), Role::Admin);
    let org_admin = person("org-admin", MemberOf::Org(OrgId::LOCAL), Role::Admin);
    let org_writer = person("org-writer", MemberOf::Org(OrgId::LOCAL), Role::Writer);
    for (act, of) in [
        (AuditAct::Forgot, Some(space)),
        (AuditAct::Erased, Some(other)),
        (AuditAct::Pinned, Some(embassy)),
        (AuditAct::Loaded, None),
    ] {
        world.apply(vec![Write::Audit(world.audit(act, of, None))]);
    }
    let all = AuditFilter { last: 99, ..AuditFilter::default() };
    assert_eq!(acts(&world, &admin, &all), [AuditAct::Forgot]);
    assert_eq!(
        acts(&world, &org_admin, &all),
        [AuditAct::Loaded, AuditAct::Erased, AuditAct::Forgot],
        "newest first, and nothing of another org"
    );
    for nobody in [&eyes(writer), &team_admin, &org_writer] {
        assert_eq!(acts(&world, nobody, &all), []);
    }
    let mut private = world.audit(AuditAct::Archived, Some(space), None);
    private.private_to = Some(writer);
    world.apply(vec![Write::Audit(private)]);
    assert_eq!(
        acts(&world, &admin, &all),
        [AuditAct::Forgot],
        "an admin of the space is told of a private memory"
    );
    assert_eq!(acts(&world, &org_admin, &all)[0], AuditAct::Archived);
    let elsewhere = confined(admin.principal, &[other]);
    assert_eq!(acts(&world, &elsewhere, &all), []);
    let inside = confined(org_admin.principal, &[space]);
    assert_eq!(acts(&world, &inside, &all), [], "a confined token has no say over the org");
    let inside = confined(admin.principal, &[space]);
    assert_eq!(acts(&world, &inside, &all), [AuditAct::Forgot]);
}

/// The audit can be filtered by space and by memory, and limited to the newest.
pub fn the_audit_can_be_filtered(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("filtered");
    world.join(owner, MemberOf::Space(space), Role::Admin);
    let memory = world.put(space, owner, "memory", |_| ());
    let entries: Vec<_> = [AuditAct::Forgot, AuditAct::Restored, AuditAct::Pinned]
        .into_iter()
        .map(|act| world.audit(act, Some(space), (act != AuditAct::Pinned).then_some(memory.id)))
        .collect();
    for entry in &entries {
        world.apply(vec![Write::Audit(entry.clone())]);
    }
    let find = |filter: AuditFilter| good(world.store.audit(&eyes(owner), &filter));
    let newest = find(AuditFilter { last: 1, ..AuditFilter::default() });
    assert_eq!(newest, [entries[2].clone()], "an entry reads back as it was written");
    let of_memory = find(AuditFilter { memory: Some(memory.id), last: 9, ..AuditFilter::default() });
    assert_eq!(of_memory, [entries[1].clone(), entries[0].clone()]);
    let here = find(AuditFilter { space: Some(space), last: 9, ..AuditFilter::default() });
    assert_eq!(here.len(), 3);
    let there = find(AuditFilter { space: Some(world.hub("there")), last: 9, ..AuditFilter::default() });
    assert_eq!(there, []);
}

/// The last change of an actor is found by the versions and the audit entries of its instant, even if others have made
/// changes since.
pub fn the_last_change_of_an_actor_is_known_by_its_traces(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("mine");
    let (elsewhere, stranger) = world.hub_with_writer("other");
    let me = Actor { principal: owner, agent: None };
    let apply = |by: &Actor, at: Timestamp, writes: Vec<Write>| {
        good(world.store.apply(&ChangeSet { by: by.clone(), at, rights: Vec::new(), writes }));
    };
    let action = |by: &Actor, space: SpaceId| good(world.store.last_change(by, space));
    assert_eq!(action(&me, space), None);
    let memory = world.draft(space, owner, "a");
    let saved_at = memory.usage.updated_at;
    apply(&me, saved_at, vec![insert(&memory)]);
    let written = |version, act| [WrittenVersion { memory: memory.id, version, act }];
    let saved = action(&me, space).expect("a deed");
    assert_eq!((saved.at, saved.audited.len(), saved.since.len()), (saved_at, 0, 0));
    assert_eq!(saved.versions, written(memory.version, VersionAct::Created));
    assert_eq!(action(&me, elsewhere), None, "it was in another space");
    let agent = Actor { agent: Some("kit".to_owned()), ..me };
    assert_eq!(action(&agent, space), None, "no agent did it");
    // An agent's change is also the last change of its principal. The change of another agent is not its own.
    let (of_agent, other) =
        (world.draft(space, owner, "of an agent"), Actor { agent: Some("other".to_owned()), ..me });
    apply(&agent, of_agent.usage.updated_at, vec![insert(&of_agent)]);
    for by in [&agent, &me] {
        let last = action(by, space).expect("a deed");
        assert_eq!((last.at, last.agent.as_deref()), (of_agent.usage.updated_at, Some("kit")));
        assert_eq!(last.versions.iter().map(|one| one.memory).collect::<Vec<_>>(), [of_agent.id]);
    }
    assert_eq!(action(&other, space), None);
    // An edit is found even after somebody else has edited the memory.
    let edited_at = world.now();
    apply(&me, edited_at, vec![revise(&memory, fields("b"))]);
    let edited = Memory { version: memory.version.next(), fields: fields("b"), ..memory.clone() };
    apply(&Actor { principal: stranger, agent: None }, world.now(), vec![revise(&edited, fields("c"))]);
    let last = action(&me, space).expect("a deed");
    assert_eq!(last.at, edited_at);
    assert_eq!(last.versions, written(edited.version, VersionAct::Updated));
    // So is an audited act, with the later acts of others on the memory; rules do not count.
    let audit = |by, act, reason: Option<&str>| AuditEntry {
        by,
        agent: None,
        reason: reason.map(str::to_owned),
        ..world.audit(act, Some(space), Some(memory.id))
    };
    let pinned = audit(owner, AuditAct::Pinned, None);
    apply(&me, pinned.at, vec![Write::Audit(pinned.clone())]);
    let ruled = audit(owner, AuditAct::Archived, Some("by rule: it has aged"));
    apply(&me, ruled.at, vec![Write::Audit(ruled.clone())]);
    let last = action(&me, space).expect("a deed");
    assert_eq!((last.at, last.audited, last.versions), (pinned.at, vec![pinned], Vec::new()));
    assert_eq!(last.since, [ruled]);
}
