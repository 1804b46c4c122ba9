//! Records of passes.

use tulving_core::model::change::Write;
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{MemoryId, PassId, PrincipalId, SpaceId, Version};
use tulving_core::model::pass::{KEPT_DAYS, Pass, PassAct, PassFilter};
use tulving_core::model::score::Weight;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{PassKind, PassOutcome, Relation};

use super::{StoreFactory, conflict, good, world};
use crate::build::{confined, eyes};

fn pass(at: i64, kind: PassKind, space: SpaceId, by: PrincipalId) -> Pass {
    let now = Timestamp::from_micros(1_780_000_000_000_000 + at * 1_000_000);
    Pass::begun(PassId::mint(now), kind, space, by, now)
}

fn first(pass: &Pass) -> Vec<Write> {
    vec![Write::Pass { from: None, to: Box::new(pass.clone()) }]
}

fn all(limit: usize) -> PassFilter {
    PassFilter { limit, ..PassFilter::default() }
}

/// A read returns a pass with all its acts. A change of a pass succeeds only if the writer saw its current state.
/// Passes write nothing to the change log.
pub fn a_pass_reads_back_and_moves_on_from_what_it_was(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("passes");
    let head = good(world.store.head());
    let begun = pass(1, PassKind::Consolidate, space, owner);
    world.apply(first(&begun));
    assert_eq!(conflict(world.try_apply(first(&begun))), Conflict::PassMoved, "it is known");
    let memory = MemoryId::mint(begun.began_at);
    let weight = Weight::new(0.5).expect("a weight");
    let done = Pass {
        model: Some("small".to_owned()),
        note: Some("2 journals".to_owned()),
        acts: vec![
            PassAct::Saved { memory, version: Version::FIRST, aside: true },
            PassAct::Forgot { memory },
            PassAct::Linked {
                source: memory,
                target: memory,
                relation: Relation::Updates,
                weight,
                was: Some(weight),
            },
            PassAct::Noted { file: "memory/2026-05-27.md".to_owned(), entry: "ab".to_owned() },
            PassAct::Replaced {
                file: "memory/MEMORY.md".to_owned(),
                from: None,
                to: "cd".to_owned(),
                added: 1,
                removed: 0,
            },
        ],
        ..begun.clone().ended(PassOutcome::Done, begun.began_at)
    };
    let on = |from| vec![Write::Pass { from: Some(from), to: Box::new(done.clone()) }];
    assert_eq!(conflict(world.try_apply(on(PassOutcome::Nothing))), Conflict::PassMoved);
    world.apply(on(PassOutcome::Begun));
    assert_eq!(good(world.store.pass(&eyes(owner), begun.id)), Some(done));
    assert_eq!(good(world.store.head()), head, "it is no change of a memory");
}

/// Passes are returned newest first, by space and kind, and only to members of their space. Private passes are returned
/// only to their owner.
pub fn a_pass_is_told_to_members_and_of_private_memories_to_their_owner(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("told");
    let (other, stranger) = world.hub_with_writer("elsewhere");
    let member = world.principal("member");
    world.join(
        member,
        tulving_core::model::space::MemberOf::Space(space),
        tulving_core::model::vocabulary::Role::Reader,
    );
    let shared = pass(1, PassKind::Consolidate, space, owner);
    let private = Pass { private_to: Some(owner), ..pass(2, PassKind::Proactive, space, owner) };
    let theirs = pass(3, PassKind::Shadow, other, stranger);
    for one in [&shared, &private, &theirs] {
        world.apply(first(one));
    }
    let ids = |who: PrincipalId, filter: &PassFilter| -> Vec<PassId> {
        good(world.store.passes(&eyes(who), filter)).into_iter().map(|pass| pass.id).collect()
    };
    assert_eq!(ids(owner, &all(9)), [private.id, shared.id]);
    assert_eq!(ids(owner, &all(1)), [private.id]);
    assert_eq!(ids(owner, &PassFilter { before: Some(private.id), ..all(9) }), [shared.id]);
    assert_eq!(ids(owner, &PassFilter { kind: Some(PassKind::Shadow), ..all(9) }), []);
    assert_eq!(ids(owner, &PassFilter { space: Some(other), ..all(9) }), []);
    assert_eq!(ids(member, &all(9)), [shared.id]);
    assert_eq!(ids(stranger, &all(9)), [theirs.id]);
    for (who, of) in [(member, private.id), (stranger, shared.id)] {
        assert_eq!(good(world.store.pass(&eyes(who), of)), None);
    }
    assert_eq!(good(world.store.passes(&confined(owner, &[other]), &all(9))), [], "a confined token");
    assert_eq!(good(world.store.pass(&confined(owner, &[other]), shared.id)), None);
}

/// A new pass removes old passes of the same space. Passes of other spaces stay, however old they are.
pub fn passes_are_kept_for_half_a_year(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("kept");
    let (other, stranger) = world.hub_with_writer("elsewhere");
    let day = 24 * 3_600;
    let old = pass(0, PassKind::Shadow, space, owner);
    let theirs = pass(0, PassKind::Shadow, other, stranger);
    let edge = pass(2 * day, PassKind::Shadow, space, owner);
    for one in [&old, &theirs, &edge] {
        world.apply(first(one));
    }
    let new = pass((KEPT_DAYS + 1) * day, PassKind::Consolidate, space, owner);
    world.apply(first(&new));
    let kept = |who| -> Vec<PassId> {
        good(world.store.passes(&eyes(who), &all(9))).into_iter().map(|pass| pass.id).collect()
    };
    assert_eq!(kept(owner), [new.id, edge.id]);
    assert_eq!(kept(stranger), [theirs.id]);
}
