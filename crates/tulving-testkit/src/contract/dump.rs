//! A dump contains the whole content of a store, in an order that can be loaded. After a load, the content is the same.

use std::collections::HashSet;

use tulving_core::model::change::{RecallCount, Write};
use tulving_core::model::id::{MemoryId, MemoryNumber, OrgId, PrincipalId, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::model::record::{LoadOutcome, Record};
use tulving_core::model::space::MemberOf;
use tulving_core::model::vocabulary::{AuditAct, Boundary, Relation, Role, SpaceKind, State};

use super::{StoreFactory, good, world};
use crate::build::{self, StoreFixture, eyes};

/// Returns a store with at least one record of every kind.
fn filled(fresh: StoreFactory<'_>) -> StoreFixture {
    let world = world(fresh);
    let abroad = world.org("abroad");
    let team = world.team(abroad, "team");
    world.team(OrgId::LOCAL, "second");
    let embassy = world.space_of(team, "embassy", SpaceKind::Group);
    let (space, owner) = world.hub_with_writer("filled");
    world.join(owner, MemberOf::Space(embassy), Role::Admin);
    world.join(owner, MemberOf::Team(team), Role::Reader);
    world.join(owner, MemberOf::Org(abroad), Role::Writer);
    let plain = world.put(space, owner, "plain", |_| ());
    let edited = world.put(space, owner, "edited", |m| m.fields.key = Some("k".to_owned()));
    let edited = world.edit(&edited, |e| e.text.content = "edited once".to_owned());
    let edited = world.edit(&edited, |e| e.boundary = Boundary::Private);
    let forgotten = world.put(embassy, owner, "forgotten", |_| ());
    world.link(&edited, &plain, Relation::Updates);
    world.link(&plain, &forgotten, Relation::CausedBy);
    world.forget(&forgotten);
    let archived = world.put(embassy, owner, "archived", |_| ());
    world.shift(&archived, |s| s.state = State::Archived);
    let gone = world.put(embassy, owner, "gone", |_| ());
    world.erase(gone.id);
    world.apply(vec![
        Write::LogTurn(world.turn(space, owner, "first")),
        Write::LogTurn(world.turn(space, owner, "second")),
        Write::PruneTurns { space, keep: 1 },
        Write::Audit(world.audit(AuditAct::Forgot, Some(embassy), Some(forgotten.id))),
        Write::Audit(world.audit(AuditAct::Loaded, None, None)),
        Write::Touch(vec![RecallCount { id: plain.id, count: 5, at: world.now() }]),
    ]);
    world
}

fn memories(records: &[Record]) -> Vec<&Memory> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Memory(record) => Some(&record.memory),
            _ => None,
        })
        .collect()
}

fn load(world: &StoreFixture, records: &[Record]) -> Vec<LoadOutcome> {
    let writes = records.iter().map(|record| Write::Load(Box::new(record.clone())));
    world.apply(writes.collect()).loaded
}

/// A dump contains orgs, teams, principals, spaces, members, memories with all versions, edges, turns and audit
/// entries. Each record follows the records that it refers to.
pub fn a_dump_is_complete_and_refers_backwards(fresh: StoreFactory<'_>) {
    let world = filled(fresh);
    let records = world.dump();
    let count = |of: fn(&Record) -> bool| records.iter().filter(|record| of(record)).count();
    assert_eq!(count(|r| matches!(r, Record::Org(_))), 2);
    assert_eq!(count(|r| matches!(r, Record::Team(_))), 3);
    assert_eq!(count(|r| matches!(r, Record::Principal(_))), 2);
    assert_eq!(count(|r| matches!(r, Record::Space { .. })), 3);
    assert_eq!(count(|r| matches!(r, Record::Member(_))), 7);
    assert_eq!(count(|r| matches!(r, Record::Memory(_))), 4);
    assert_eq!(count(|r| matches!(r, Record::Association(_))), 2);
    assert_eq!(count(|r| matches!(r, Record::Turn(_))), 1);
    assert_eq!(count(|r| matches!(r, Record::Audit(_))), 2);
    let mut orgs = HashSet::new();
    let mut teams = HashSet::new();
    let mut people = HashSet::new();
    let mut spaces = HashSet::new();
    let mut known = HashSet::new();
    for record in &records {
        match record {
            Record::Dump { .. }
            | Record::End { .. }
            | Record::Attachment(_)
            | Record::File(_)
            | Record::Missing { .. } => {}
            Record::Org(org) => assert!(orgs.insert(org.id)),
            Record::Team(team) => assert!(teams.insert(team.id) && orgs.contains(&team.org)),
            Record::Principal(principal) => assert!(people.insert(principal.id)),
            Record::Space { space, .. } => assert!(spaces.insert(space.id) && teams.contains(&space.team)),
            Record::Member(member) => {
                assert!(people.contains(&member.principal));
                match member.of {
                    MemberOf::Space(id) => assert!(spaces.contains(&id)),
                    MemberOf::Team(id) => assert!(teams.contains(&id)),
                    MemberOf::Org(id) => assert!(orgs.contains(&id)),
                }
            }
            Record::Memory(record) => {
                assert!(known.insert(record.memory.id));
                assert!(spaces.contains(&record.memory.space) && people.contains(&record.memory.owner));
                let versions: Vec<u32> = record.versions.iter().map(|version| version.version.0).collect();
                let expected: Vec<u32> = (1..record.memory.version.0).collect();
                assert_eq!(versions, expected, "all past versions, oldest first");
            }
            Record::Association(edge) => {
                assert!(known.contains(&edge.source) && known.contains(&edge.target));
            }
            Record::Turn(turn) => assert!(spaces.contains(&turn.space)),
            Record::Audit(entry) => assert!(entry.space.is_none_or(|space| spaces.contains(&space))),
        }
    }
    let described: Vec<(&str, u64)> = memories(&records)
        .into_iter()
        .map(|memory| (memory.fields.text.content.as_str(), memory.usage.access_count))
        .collect();
    for expected in [("plain", 5), ("edited once", 0), ("forgotten", 0), ("archived", 0)] {
        assert!(described.contains(&expected), "{expected:?} is not in {described:?}");
    }
}

/// The size of the pages makes no difference.
pub fn pages_of_any_size_hold_the_same(fresh: StoreFactory<'_>) {
    let world = filled(fresh);
    let whole = world.dump();
    for limit in [1, 2, 3, 5, 1_000] {
        assert!(build::dump(&*world.store, limit) == whole, "pages of {limit}");
    }
}

/// A dump loaded into a fresh store is dumped again unchanged.
pub fn a_loaded_dump_is_the_same_store(fresh: StoreFactory<'_>) {
    let (from, to) = (filled(fresh), world(fresh));
    let records = from.dump();
    let loaded = load(&to, &records);
    assert_eq!(loaded.len(), records.len(), "each line has its answer");
    for (record, loaded) in records.iter().zip(loaded) {
        assert!(matches!(loaded, LoadOutcome::Added | LoadOutcome::Present), "{record:?} became {loaded:?}");
    }
    let copy = to.dump();
    for (record, copied) in records.iter().zip(&copy) {
        assert_eq!(record, copied);
    }
    assert_eq!(records.len(), copy.len());
    for memory in memories(&records) {
        let viewer = eyes(memory.owner);
        assert_eq!(from.seen(&viewer, memory.id), to.seen(&viewer, memory.id));
        assert_eq!(
            good(from.store.versions(&viewer, memory.id)),
            good(to.store.versions(&viewer, memory.id))
        );
        assert_eq!(
            good(from.store.associations(&viewer, &[memory.id])),
            good(to.store.associations(&viewer, &[memory.id]))
        );
    }
}

/// A record that already exists changes nothing, even if the line differs.
pub fn loading_again_changes_nothing(fresh: StoreFactory<'_>) {
    let world = filled(fresh);
    let records = world.dump();
    let loaded = load(&world, &records);
    assert!(loaded.iter().all(|loaded| *loaded == LoadOutcome::Present), "{loaded:?}");
    assert!(world.dump() == records, "the store is as it was");
}

fn one_memory(
    fresh: StoreFactory<'_>,
    content: &str,
    change: impl FnOnce(&mut Memory),
) -> (StoreFixture, Memory, Record) {
    let world = world(fresh);
    let memory = world.put(SpaceId::DEFAULT, PrincipalId::USER, content, change);
    let record = world
        .dump()
        .into_iter()
        .find(|record| matches!(record, Record::Memory(_)))
        .expect("the memory is dumped");
    (world, memory, record)
}

/// A memory keeps its number if the number is free. Otherwise the memory gets the next number, and the answer reports
/// the change.
pub fn a_taken_number_is_replaced(fresh: StoreFactory<'_>) {
    let (_, memory, record) = one_memory(fresh, "from there", |_| ());
    let to = world(fresh);
    let here = to.put(SpaceId::DEFAULT, PrincipalId::USER, "from here", |_| ());
    assert_eq!(here.number, memory.number);
    let loaded = load(&to, &[record]);
    let LoadOutcome::Renumbered { from, to: given } = loaded[0] else {
        panic!("{loaded:?}");
    };
    assert_eq!((Some(from), given), (memory.number, MemoryNumber(2)));
    let seen = to.seen(&eyes(PrincipalId::USER), memory.id).expect("it is loaded");
    assert_eq!(seen.number, Some(given));
    let next = to.put(SpaceId::DEFAULT, PrincipalId::USER, "next", |_| ());
    assert_eq!(next.number, Some(MemoryNumber(3)));
}

/// A memory is left out if another memory of its audience has the same key, path or content. The outcome names that
/// memory.
pub fn a_repeated_memory_is_left_out(fresh: StoreFactory<'_>) {
    let changes: [fn(&mut Memory); 3] = [
        |_| (),
        |m| m.fields.key = Some("k".to_owned()),
        |m| m.provenance.source_path = Some("p".to_owned()),
    ];
    for change in changes {
        let (_, memory, record) = one_memory(fresh, "the same", change);
        let to = world(fresh);
        let here = to.put(SpaceId::DEFAULT, PrincipalId::USER, "the same", change);
        assert_eq!(load(&to, &[record]), [LoadOutcome::Duplicate { of: here.id }]);
        assert_eq!(to.seen(&eyes(PrincipalId::USER), memory.id), None);
        assert_eq!(memories(&to.dump()).len(), 1);
    }
}

/// An edge with a missing end is left out.
pub fn an_edge_to_nowhere_is_left_out(fresh: StoreFactory<'_>) {
    let (world, memory, _) = one_memory(fresh, "here", |_| ());
    let before = world.dump();
    let edge = build::link(world.now(), memory.id, MemoryId::mint(world.now()), Relation::PartOf);
    assert_eq!(load(&world, &[Record::Association(edge)]), [LoadOutcome::Dangling]);
    assert!(world.dump() == before);
}

/// A number or position of the dumped store is not reused in the loaded one, not even after erasing.
pub fn numbers_and_positions_go_on_after_a_load(fresh: StoreFactory<'_>) {
    let from = world(fresh);
    let (space, owner) = from.hub_with_writer("counted");
    for n in 0..5 {
        let memory = from.put(space, owner, &format!("memory {n}"), |_| ());
        from.apply(vec![Write::LogTurn(from.turn(space, owner, "line"))]);
        if n > 1 {
            from.erase(memory.id);
        }
    }
    from.apply(vec![Write::PruneTurns { space, keep: 0 }]);
    let to = world(fresh);
    load(&to, &from.dump());
    assert_eq!(to.put(space, owner, "next", |_| ()).number, Some(MemoryNumber(6)));
    let applied = to.apply(vec![Write::LogTurn(to.turn(space, owner, "next"))]);
    assert_eq!(applied.positions, [6]);
}
