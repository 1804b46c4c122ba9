//! The log of turns, one for each space.

use tulving_core::model::change::Write;
use tulving_core::model::id::{OrgId, PrincipalId, SpaceId, TeamId, TurnId};
use tulving_core::model::request::TurnFilter;
use tulving_core::model::space::{MemberOf, Viewer};
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::{Role, TurnRole};

use super::{StoreFactory, good, world};
use crate::build::{StoreFixture, confined, eyes};

fn log(world: &StoreFixture, space: SpaceId, by: PrincipalId, content: &str) -> Turn {
    let mut turn = world.turn(space, by, content);
    turn.position = world.apply(vec![Write::LogTurn(turn.clone())]).positions[0];
    turn
}

fn last(world: &StoreFixture, viewer: &Viewer, space: SpaceId, last: usize) -> Vec<Turn> {
    good(world.store.turns(viewer, space, &TurnFilter { last, ..TurnFilter::default() }, usize::MAX))
}

/// Each space numbers its turns from 1, whatever position the writer sets.
pub fn positions_ascend_within_a_space(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (one, owner) = world.hub_with_writer("one");
    let (two, _) = world.hub_with_writer("two");
    let turns = ["a", "b", "c"].map(|content| {
        let mut turn = world.turn(one, owner, content);
        turn.position = 77;
        Write::LogTurn(turn)
    });
    assert_eq!(world.apply(turns.to_vec()).positions, [1, 2, 3]);
    assert_eq!(log(&world, two, owner, "a").position, 1);
    assert_eq!(log(&world, one, owner, "d").position, 4);
}

/// A read returns the newest turns up to a limit, of all channels or of one, oldest first, each with its full text.
pub fn the_newest_turns_come_oldest_first(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("talk");
    let logged: Vec<Turn> = (0..10)
        .map(|n| {
            let mut turn = world.turn(space, owner, &format!("line {n}\nand more"));
            turn.channel = (n % 3 > 0).then(|| format!("channel {}", n % 3));
            turn.role = TurnRole::ALL[n % 3];
            turn.speaker = (n % 2 == 0).then(|| "Ada".to_owned());
            turn.position = world.apply(vec![Write::LogTurn(turn.clone())]).positions[0];
            turn
        })
        .collect();
    let viewer = eyes(owner);
    assert_eq!(last(&world, &viewer, space, 100), logged);
    assert_eq!(last(&world, &viewer, space, 3), logged[7..]);
    let filter = TurnFilter { channel: Some("channel 1".to_owned()), before: None, last: 2 };
    let found = good(world.store.turns(&viewer, space, &filter, usize::MAX));
    assert_eq!(found, [logged[4].clone(), logged[7].clone()]);
    let earlier =
        TurnFilter { channel: Some("channel 1".to_owned()), before: Some(logged[7].position), last: 9 };
    let found = good(world.store.turns(&viewer, space, &earlier, usize::MAX));
    assert_eq!(found, [logged[1].clone(), logged[4].clone()]);
    let nowhere = TurnFilter { channel: Some("nowhere".to_owned()), before: None, last: 2 };
    assert_eq!(good(world.store.turns(&viewer, space, &nowhere, usize::MAX)), []);
}

/// A read returns the newest turns within a limit of bytes, but at least one turn.
pub fn turns_end_where_they_are_long(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("long");
    let logged = ["a", "ππ", "ccc"].map(|content| log(&world, space, owner, content));
    let fitting = |bytes| {
        let filter = TurnFilter { last: 9, ..TurnFilter::default() };
        good(world.store.turns(&eyes(owner), space, &filter, bytes))
    };
    for (bytes, first) in [(0, 2), (6, 2), (7, 1), (8, 0)] {
        assert_eq!(fitting(bytes), logged[first..], "{bytes} bytes");
    }
}

/// Turns have no boundary of their own: they are visible to the members of the space, and to nobody above it.
pub fn only_members_see_turns(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("closed");
    let other = world.hub("other");
    world.join(owner, MemberOf::Space(other), Role::Admin);
    let logged = log(&world, space, owner, "hello");
    let person = |name: &str, of: MemberOf, role| {
        let id = world.principal(name);
        world.join(id, of, role);
        id
    };
    let reader = person("reader", MemberOf::Space(space), Role::Reader);
    let outside = [
        person("team-admin", MemberOf::Team(TeamId::LOCAL), Role::Admin),
        person("org-admin", MemberOf::Org(OrgId::LOCAL), Role::Admin),
        person("neighbour", MemberOf::Space(other), Role::Admin),
        world.principal("stranger"),
        PrincipalId::USER,
    ];
    assert_eq!(last(&world, &eyes(reader), space, 9).len(), 1);
    assert_eq!(last(&world, &confined(owner, &[space]), space, 9).len(), 1);
    assert_eq!(last(&world, &confined(owner, &[other]), space, 9), []);
    let one = |viewer: &Viewer| good(world.store.turn(viewer, logged.id));
    assert_eq!(one(&eyes(reader)), Some(logged.clone()));
    assert_eq!(one(&confined(owner, &[other])), None);
    assert_eq!(good(world.store.turn(&eyes(reader), TurnId::mint(world.now()))), None);
    for who in outside {
        assert_eq!(last(&world, &eyes(who), space, 9), []);
        assert_eq!(one(&eyes(who)), None);
    }
    world.leave(owner, MemberOf::Space(space));
    assert_eq!(one(&eyes(owner)), None);
    assert_eq!(last(&world, &eyes(owner), space, 9), [], "not even one's own, after leaving");
}

/// Pruning keeps the newest turns of the space, and the numbers continue.
pub fn pruned_positions_are_not_given_again(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("pruned");
    let (other, stranger) = world.hub_with_writer("other");
    log(&world, other, stranger, "elsewhere");
    for n in 0..8 {
        log(&world, space, owner, &format!("line {n}"));
    }
    let prune = |keep| {
        world.apply(vec![Write::PruneTurns { space, keep }]);
        last(&world, &eyes(owner), space, 99).iter().map(|turn| turn.position).collect::<Vec<_>>()
    };
    assert_eq!(prune(10), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(prune(3), [6, 7, 8]);
    assert_eq!(log(&world, space, owner, "next").position, 9);
    assert_eq!(prune(0), [0; 0]);
    assert_eq!(log(&world, space, owner, "after all").position, 10);
    assert_eq!(last(&world, &eyes(stranger), other, 9).len(), 1, "other spaces are left alone");
}

/// In the space `default`, where memories are private by default, turns are private too: only the user of the home and
/// the principal who logged them see them.
pub fn turns_of_the_default_space_are_for_the_user_and_who_logged_them(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let space = SpaceId::DEFAULT;
    let [logger, admin] = [("logger", Role::Writer), ("admin", Role::Admin)].map(|(name, role)| {
        let id = world.principal(name);
        world.join(id, MemberOf::Space(space), role);
        id
    });
    let of_user = log(&world, space, PrincipalId::USER, "mine");
    let of_logger = log(&world, space, logger, "theirs");
    assert_eq!(last(&world, &eyes(PrincipalId::USER), space, 9), [of_user.clone(), of_logger.clone()]);
    assert_eq!(last(&world, &eyes(logger), space, 9), std::slice::from_ref(&of_logger));
    assert_eq!(last(&world, &eyes(admin), space, 9), []);
    let one = |who: PrincipalId, turn: &Turn| good(world.store.turn(&eyes(who), turn.id)).is_some();
    assert!(one(PrincipalId::USER, &of_logger) && one(logger, &of_logger));
    assert!(!one(logger, &of_user) && !one(admin, &of_user) && !one(admin, &of_logger));
}
