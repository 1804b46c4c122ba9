//! Spaces, teams, principals, members and tokens.

use tulving_core::model::change::Write;
use tulving_core::model::error::{Conflict, Unique};
use tulving_core::model::id::{OrgId, PrincipalId, SpaceId, TeamId, TokenId};
use tulving_core::model::space::{MemberOf, Membership, Principal, Space, Token, TokenHash, Viewer};
use tulving_core::model::vocabulary::{PrincipalKind, Role, SpaceKind};

use super::{StoreFactory, conflict, good, world};
use crate::build::{StoreFixture, confined, eyes};

fn names(world: &StoreFixture, viewer: &Viewer) -> Vec<String> {
    good(world.store.spaces(viewer)).into_iter().map(|space| space.name).collect()
}

/// A new store has one org, one team, the space `default`, and the user, who is admin of all three.
pub fn a_fresh_store_is_the_users(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let user = eyes(PrincipalId::USER);
    let spaces = good(world.store.spaces(&user));
    assert_eq!(spaces.len(), 1);
    assert_eq!((spaces[0].id, spaces[0].name.as_str()), (SpaceId::DEFAULT, "default"));
    assert_eq!((spaces[0].team, spaces[0].kind), (TeamId::LOCAL, SpaceKind::Hub));
    let teams = good(world.store.teams(&user));
    assert_eq!(
        teams.iter().map(|team| (team.id, team.org)).collect::<Vec<_>>(),
        [(TeamId::LOCAL, OrgId::LOCAL)]
    );
    for of in [MemberOf::Space(SpaceId::DEFAULT), MemberOf::Team(TeamId::LOCAL), MemberOf::Org(OrgId::LOCAL)]
    {
        assert_eq!(good(world.store.role(PrincipalId::USER, of)), Some(Role::Admin), "{of:?}");
        let members = good(world.store.members(of));
        assert_eq!(members.len(), 1, "{of:?}");
        assert_eq!(members[0].0.id, PrincipalId::USER);
    }
    assert_eq!(good(world.store.principals(&[PrincipalId::USER])).len(), 1);
    assert_eq!(good(world.store.tokens(None)), []);
}

/// A space is visible to its members and to admins of its team or org, sorted by name.
pub fn spaces_are_shown_to_members_and_to_admins_above(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let second = world.team(OrgId::LOCAL, "second");
    let [zoo, ark] = ["zoo", "ark"].map(|name| world.hub(name));
    let far = world.space_of(second, "far", SpaceKind::Hub);
    let group = world.space_of(TeamId::LOCAL, "group", SpaceKind::Group);
    let person = |name: &str, of: &[(MemberOf, Role)]| {
        let id = world.principal(name);
        for (of, role) in of {
            world.join(id, *of, *role);
        }
        id
    };
    let reader =
        person("reader", &[(MemberOf::Space(zoo), Role::Reader), (MemberOf::Space(ark), Role::Reader)]);
    let team_reader = person("team-reader", &[(MemberOf::Team(TeamId::LOCAL), Role::Writer)]);
    let team_admin = person("team-admin", &[(MemberOf::Team(TeamId::LOCAL), Role::Admin)]);
    let org_reader = person("org-reader", &[(MemberOf::Org(OrgId::LOCAL), Role::Writer)]);
    let org_admin = person("org-admin", &[(MemberOf::Org(OrgId::LOCAL), Role::Admin)]);
    assert_eq!(names(&world, &eyes(reader)), ["ark", "zoo"]);
    assert_eq!(names(&world, &eyes(team_reader)), [""; 0]);
    assert_eq!(names(&world, &eyes(team_admin)), ["ark", "default", "group", "zoo"]);
    assert_eq!(names(&world, &eyes(org_reader)), [""; 0]);
    assert_eq!(names(&world, &eyes(org_admin)), ["ark", "default", "far", "group", "zoo"]);
    assert_eq!(names(&world, &confined(reader, &[ark])), ["ark"]);
    assert_eq!(names(&world, &confined(reader, &[far])), [""; 0]);
    assert_eq!(names(&world, &confined(org_admin, &[group, far])), ["far", "group"]);
    assert_eq!(names(&world, &confined(org_admin, &[])), [""; 0]);
    for who in [reader, team_reader, team_admin, org_reader, org_admin] {
        for viewer in [eyes(who), confined(who, &[ark, group])] {
            let shown = good(world.store.spaces(&viewer));
            for id in [zoo, ark, far, group, SpaceId::DEFAULT, SpaceId::mint(world.now())] {
                let expected = shown.iter().find(|space| space.id == id).map(|space| {
                    let role = good(world.store.role(who, MemberOf::Space(id)));
                    (space.clone(), role)
                });
                assert_eq!(good(world.store.space(&viewer, id)), expected, "one is as all are");
            }
        }
    }
    let found = good(world.store.spaces(&confined(team_admin, &[group])));
    assert_eq!((found[0].id, found[0].kind, found[0].team), (group, SpaceKind::Group, TeamId::LOCAL));
}

/// A team is visible to its direct members and to the members of its org.
pub fn teams_are_shown_to_their_people(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let second = world.team(OrgId::LOCAL, "second");
    let abroad = world.org("abroad");
    let third = world.team(abroad, "third");
    let ids = |who: PrincipalId| -> Vec<TeamId> {
        let mut ids: Vec<_> = good(world.store.teams(&eyes(who))).into_iter().map(|team| team.id).collect();
        ids.sort();
        ids
    };
    let [member, org_member, stranger] =
        ["member", "org-member", "stranger"].map(|name| world.principal(name));
    world.join(member, MemberOf::Team(second), Role::Reader);
    world.join(org_member, MemberOf::Org(OrgId::LOCAL), Role::Reader);
    assert_eq!(ids(member), [second]);
    assert_eq!(ids(org_member), [TeamId::LOCAL, second]);
    assert_eq!(ids(stranger), []);
    world.join(stranger, MemberOf::Org(abroad), Role::Reader);
    assert_eq!(ids(stranger), [third]);
}

/// A role is the last role that was set for exactly that space, team or org.
pub fn a_role_is_by_direct_membership(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let space = world.hub("roles");
    let who = world.principal("who");
    let of = MemberOf::Space(space);
    let role = |of| good(world.store.role(who, of));
    assert_eq!(role(of), None);
    world.join(who, MemberOf::Team(TeamId::LOCAL), Role::Admin);
    world.join(who, MemberOf::Org(OrgId::LOCAL), Role::Writer);
    assert_eq!(role(of), None, "what is above is not direct");
    assert_eq!(role(MemberOf::Team(TeamId::LOCAL)), Some(Role::Admin));
    assert_eq!(role(MemberOf::Org(OrgId::LOCAL)), Some(Role::Writer));
    for given in [Role::Writer, Role::Admin, Role::Reader] {
        world.join(who, of, given);
        assert_eq!(role(of), Some(given));
    }
    world.leave(who, of);
    assert_eq!(role(of), None);
    assert_eq!(role(MemberOf::Team(TeamId::LOCAL)), Some(Role::Admin), "the others stay");
}

/// Members are returned with their names and roles, sorted by name.
pub fn members_come_by_name(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let space = world.hub("crew");
    let of = MemberOf::Space(space);
    for (name, role) in [("mel", Role::Reader), ("zoe", Role::Admin), ("abe", Role::Writer)] {
        let id = world.principal(name);
        world.join(id, of, role);
    }
    let members = good(world.store.members(of));
    let described: Vec<(&str, Role)> =
        members.iter().map(|(principal, member)| (principal.name.as_str(), member.role)).collect();
    assert_eq!(described, [("abe", Role::Writer), ("mel", Role::Reader), ("zoe", Role::Admin)]);
    for (principal, member) in members {
        let expected = Membership { principal: principal.id, of, role: member.role };
        assert_eq!(member, expected);
    }
}

/// A space's name is unique in its team, a principal's in the store, an id everywhere.
pub fn names_cannot_be_taken_twice(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let second = world.team(OrgId::LOCAL, "second");
    let now = world.now();
    let space = |team, name: &str| {
        Write::AddSpace(Space {
            id: SpaceId::mint(now),
            team,
            name: name.to_owned(),
            kind: SpaceKind::Group,
            created_at: now,
        })
    };
    let principal = |name: &str| {
        Write::AddPrincipal(Principal {
            id: PrincipalId::mint(now),
            name: name.to_owned(),
            kind: PrincipalKind::Agent,
            created_at: now,
        })
    };
    world.apply(vec![space(TeamId::LOCAL, "twice"), principal("twice")]);
    world.apply(vec![space(second, "twice")]);
    let taken = |write| match conflict(world.try_apply(vec![write])) {
        Conflict::Taken { what } => what,
        other => panic!("{other}"),
    };
    assert_eq!(taken(space(TeamId::LOCAL, "twice")), Unique::SpaceName);
    assert_eq!(taken(space(TeamId::LOCAL, "default")), Unique::SpaceName);
    assert_eq!(taken(principal("twice")), Unique::PrincipalName);
}

/// A read returns a principal exactly as it was written.
pub fn principals_are_found_by_name_and_id(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let created_at = world.now();
    let agent = Principal {
        id: PrincipalId::mint(created_at),
        name: "robot".to_owned(),
        kind: PrincipalKind::Agent,
        created_at,
    };
    world.apply(vec![Write::AddPrincipal(agent.clone())]);
    assert_eq!(good(world.store.principal_named("robot")), Some(agent.clone()));
    assert_eq!(good(world.store.principal_named("Robot")), None);
    assert_eq!(good(world.store.principal_named("nobody")), None);
    let unknown = PrincipalId::mint(created_at);
    assert_eq!(good(world.store.principals(&[unknown, agent.id])), [agent]);
    assert_eq!(good(world.store.principals(&[])), []);
}

/// A token is found only by its hash. A revoked one is still found, with the time of its
/// revocation.
pub fn tokens_are_found_by_hash_until_forever(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let owner = world.principal("owner");
    let [one, two] = ["one", "two"].map(|name| world.hub(name));
    let make = |n: u8, principal, spaces: &[SpaceId]| {
        let created_at = world.now();
        let token = Token {
            id: TokenId::mint(created_at),
            label: format!("token {n}"),
            principal,
            spaces: spaces.to_vec(),
            role: Role::ALL[usize::from(n) % 3],
            created_at,
            revoked_at: None,
        };
        world.apply(vec![Write::AddToken(token.clone(), TokenHash([n; 32]))]);
        token
    };
    let made = [make(1, owner, &[]), make(2, owner, &[two, one]), make(3, PrincipalId::USER, &[])];
    let find = |n| good(world.store.token_by_hash(&TokenHash([n; 32])));
    assert_eq!(find(2), Some(made[1].clone()), "its spaces keep their order");
    assert_eq!(find(9), None);
    let listed = |of| good(world.store.tokens(of));
    assert_eq!(listed(Some(owner)), [made[1].clone(), made[0].clone()], "newest first");
    assert_eq!(listed(None).len(), 3);
    world.apply(vec![Write::RevokeToken(made[0].id)]);
    let revoked = find(1).expect("a revoked token is still known");
    assert!(revoked.revoked_at.is_some_and(|at| at > made[0].created_at));
    assert_eq!(find(2).and_then(|token| token.revoked_at), None, "the other is not");
    assert_eq!(listed(None).len(), 3);
}
