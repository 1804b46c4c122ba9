//! Every read answers as if memories that the viewer may not see did not exist.

use std::collections::HashMap;

use tulving_core::model::change::{FrozenOrder, Write};
use tulving_core::model::id::{ListingId, MemoryId, MemoryRef, OrgId, PrincipalId, SpaceId, TeamId};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Filter, ForgottenFilter, Quarantined, Sort};
use tulving_core::model::space::{MemberOf, Viewer};
use tulving_core::model::vocabulary::{Boundary, Relation, Role, SpaceKind, State};
use tulving_core::ports::DuplicateQuery;

use super::{StoreFactory, good, world};
use crate::build::{StoreFixture, confined, eyes};
use crate::seed::{RandomSeed, SeedPanicGuard};

/// A fixture with one principal for each possible relation to a memory of a hub.
struct VisibilityFixture {
    world: StoreFixture,
    hub: SpaceId,
    next_door: SpaceId,
    group: SpaceId,
    people: HashMap<&'static str, PrincipalId>,
}

impl VisibilityFixture {
    fn new(fresh: StoreFactory<'_>) -> Self {
        let world = world(fresh);
        let abroad = world.org("abroad");
        let second = world.team(OrgId::LOCAL, "second");
        let foreign = world.team(abroad, "foreign");
        let hub = world.hub("hub");
        let next_door = world.hub("next-door");
        let far = world.space_of(second, "far", SpaceKind::Hub);
        let group = world.space_of(TeamId::LOCAL, "group", SpaceKind::Group);
        let embassy = world.space_of(foreign, "embassy", SpaceKind::Hub);
        let memberships: [(&str, &[(MemberOf, Role)]); 13] = [
            ("owner", &[(MemberOf::Space(hub), Role::Writer)]),
            ("reader", &[(MemberOf::Space(hub), Role::Reader)]),
            ("admin", &[(MemberOf::Space(hub), Role::Admin)]),
            ("team reader", &[(MemberOf::Team(TeamId::LOCAL), Role::Reader)]),
            ("team admin", &[(MemberOf::Team(TeamId::LOCAL), Role::Admin)]),
            ("second team", &[(MemberOf::Team(second), Role::Writer)]),
            ("org reader", &[(MemberOf::Org(OrgId::LOCAL), Role::Reader)]),
            ("org admin", &[(MemberOf::Org(OrgId::LOCAL), Role::Admin)]),
            ("neighbour", &[(MemberOf::Space(next_door), Role::Admin)]),
            ("far hub", &[(MemberOf::Space(far), Role::Reader)]),
            ("sealed", &[(MemberOf::Space(group), Role::Admin)]),
            (
                "foreigner",
                &[
                    (MemberOf::Space(embassy), Role::Admin),
                    (MemberOf::Team(foreign), Role::Admin),
                    (MemberOf::Org(abroad), Role::Admin),
                ],
            ),
            ("stranger", &[]),
        ];
        let mut people = HashMap::new();
        for (name, of) in memberships {
            let id = world.principal(&name.replace(' ', "-"));
            for (of, role) in of {
                world.join(id, *of, *role);
            }
            people.insert(name, id);
        }
        Self { world, hub, next_door, group, people }
    }

    fn who(&self, name: &str) -> PrincipalId {
        self.people[name]
    }

    /// Creates a pair of linked memories that every read can find.
    fn pair(&self, space: SpaceId, owner: PrincipalId, boundary: Boundary) -> (Memory, Memory) {
        let word = format!("secret-{boundary}");
        let memory = self.world.put(space, owner, &word, |m| m.fields.boundary = boundary);
        let named = self.world.put(space, owner, &format!("{word} too"), |m| {
            m.fields.boundary = boundary;
            m.fields.key = Some(format!("key {word}"));
            m.provenance.source_path = Some(format!("path {word}"));
        });
        self.world.link(&memory, &named, Relation::RelatedTo);
        (memory, named)
    }
}

/// A read of a pair: its name, the number of memories that it returned, and the number for a viewer who sees both.
type PairReadCount = (&'static str, usize, usize);

/// Returns, for each read, the number of memories of a pair that it returns.
fn reads(world: &StoreFixture, viewer: &Viewer, (memory, named): &(Memory, Memory)) -> Vec<PairReadCount> {
    let store = &*world.store;
    let find = |which| {
        let found = good(store.memory(viewer, memory.space, which, ForgottenFilter::Without));
        usize::from(found.is_some())
    };
    let filter = |change: fn(&mut Filter, &Memory)| {
        let mut filter = Filter { substring: Some(memory.fields.text.content.clone()), ..Filter::default() };
        change(&mut filter, named);
        filter
    };
    let nothing = DuplicateQuery::new(memory.space, memory.owner, memory.fields.boundary);
    let duplicate = |duplicate_query: DuplicateQuery<'_>| {
        usize::from(good(store.duplicate(viewer, &duplicate_query)).is_some())
    };
    let list = |filter: &Filter, sort| good(store.list(viewer, filter, sort, 9, None)).len();
    let count = |filter: &Filter| usize::try_from(good(store.count(viewer, filter))).expect("few");
    let by_text = filter(|_, _| ());
    let here = filter(|f, m| f.space = Some(m.space));
    let by_key = filter(|f, m| f.key.clone_from(&m.fields.key));
    let by_path = filter(|f, m| f.source_path.clone_from(&m.provenance.source_path));
    let (key, path) = (named.fields.key.as_deref(), named.provenance.source_path.as_deref());
    let hash = Some(memory.fields.text.content_hash);
    let mut shown = vec![
        ("memory by id", find(MemoryRef::Id(memory.id)), 1),
        ("memory by number", find(MemoryRef::Number(memory.number.expect("a record"))), 1),
        ("memories", good(store.memories(viewer, &[memory.id, named.id])).len(), 2),
        ("ids", good(store.ids(viewer, &by_text, Sort::Accessed)).len(), 2),
        ("count", count(&by_text), 2),
        ("count in its space", count(&here), 2),
        ("list by key", list(&by_key, Sort::Newest), 1),
        ("list by path", list(&by_path, Sort::Newest), 1),
        ("twin by key", duplicate(DuplicateQuery { key, ..nothing }), 1),
        ("twin by path", duplicate(DuplicateQuery { source_path: path, ..nothing }), 1),
        ("twin by content", duplicate(DuplicateQuery { content_hash: hash, ..nothing }), 1),
        ("versions", good(store.versions(viewer, memory.id)).len(), 1),
        ("sections", good(store.sections(viewer, memory.id)).len(), 1),
        ("associations", good(store.associations(viewer, &[memory.id])).len(), 1),
        ("associations from afar", good(store.associations(viewer, &[named.id])).len(), 1),
    ];
    for sort in
        [Sort::Newest, Sort::Oldest, Sort::Updated, Sort::Accessed, Sort::Importance, Sort::MostAccessed]
    {
        shown.push(("list", list(&by_text, sort), 2));
    }
    shown
}

/// Asserts that every read shows the whole pair if this is expected, and nothing of it otherwise.
#[track_caller]
fn assert_reads(world: &StoreFixture, viewer: &Viewer, pair: &(Memory, Memory), expected: bool, who: &str) {
    for (read, shown, all) in reads(world, viewer, pair) {
        let expected = if expected { all } else { 0 };
        assert_eq!(shown, expected, "{read}: a {} memory and {who}", pair.0.fields.boundary);
    }
}

/// Private: the owner. Hub: members of the space. Team: also its direct members. Org: also all its people.
pub fn a_boundary_is_kept_by_every_read(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let members = ["owner", "reader", "admin"];
    let team = ["team reader", "team admin"];
    let org = ["second team", "org reader", "org admin", "neighbour", "far hub"];
    for boundary in Boundary::ALL {
        let pair = town.pair(town.hub, town.who("owner"), *boundary);
        let seen_by = |name: &str| match boundary {
            Boundary::Private => name == "owner",
            Boundary::Hub => members.contains(&name),
            Boundary::Team => members.contains(&name) || team.contains(&name),
            Boundary::Org => members.contains(&name) || team.contains(&name) || org.contains(&name),
        };
        for (name, id) in &town.people {
            assert_reads(&town.world, &eyes(*id), &pair, seen_by(name), name);
        }
    }
}

/// A memory in a group is visible only to the members of the group. A member of a group is not automatically a member
/// of the org.
pub fn a_group_is_sealed(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let sealed = town.who("sealed");
    let inside = town.pair(town.group, sealed, Boundary::Hub);
    let private = town.pair(town.group, sealed, Boundary::Private);
    for (name, id) in &town.people {
        let expected = *name == "sealed";
        assert_reads(&town.world, &eyes(*id), &inside, expected, name);
        assert_reads(&town.world, &eyes(*id), &private, expected, name);
    }
}

/// A confined viewer sees inside its spaces what it would see without confinement, and nothing elsewhere.
pub fn a_confined_viewer_sees_only_inside(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let owner = town.who("owner");
    town.world.join(owner, MemberOf::Space(town.next_door), Role::Admin);
    for boundary in Boundary::ALL {
        let pair = town.pair(town.hub, owner, *boundary);
        for (name, id) in &town.people {
            let free = town.world.seen(&eyes(*id), pair.0.id).is_some();
            let inside = confined(*id, &[town.next_door, town.hub]);
            assert_reads(&town.world, &inside, &pair, free, name);
            for outside in [confined(*id, &[town.next_door]), confined(*id, &[])] {
                assert_reads(&town.world, &outside, &pair, false, name);
            }
        }
    }
}

/// After a membership ends, the viewer no longer sees the shared memories, even the viewer's own. Private memories stay
/// visible.
pub fn leaving_takes_the_sight_away(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let owner = town.who("owner");
    let shared = town.pair(town.hub, owner, Boundary::Hub);
    let private = town.pair(town.hub, owner, Boundary::Private);
    for name in ["owner", "reader"] {
        assert_reads(&town.world, &eyes(town.who(name)), &shared, true, name);
        town.world.leave(town.who(name), MemberOf::Space(town.hub));
        assert_reads(&town.world, &eyes(town.who(name)), &shared, false, name);
    }
    assert_reads(&town.world, &eyes(owner), &private, true, "its owner");
}

/// A number means nothing outside its space.
pub fn a_number_belongs_to_its_space(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (one, owner) = world.hub_with_writer("one");
    let two = world.hub("two");
    world.join(owner, MemberOf::Space(two), Role::Writer);
    let first = world.put(one, owner, "first", |_| ());
    let second = world.put(two, owner, "second", |_| ());
    assert_eq!(first.number, second.number);
    let number = MemoryRef::Number(first.number.expect("a record"));
    let find = |space| good(world.store.memory(&eyes(owner), space, number, ForgottenFilter::Without));
    assert_eq!(find(one).map(|m| m.id), Some(first.id));
    assert_eq!(find(two).map(|m| m.id), Some(second.id));
    assert_eq!(find(SpaceId::DEFAULT), None);
}

/// `memories` returns the memories in the requested order, and leaves out missing ones.
pub fn memories_come_in_the_order_of_their_ids(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("ordered");
    let made: Vec<Memory> =
        (0..40).map(|n| world.put(space, owner, &format!("memory {n}"), |_| ())).collect();
    world.forget(&made[7]);
    let mut ids: Vec<MemoryId> = made.iter().map(|memory| memory.id).collect();
    let mut random = fastrand::Rng::with_seed(7);
    random.shuffle(&mut ids);
    ids.insert(3, MemoryId::mint(world.now()));
    let expected: Vec<MemoryId> = ids
        .iter()
        .copied()
        .filter(|id| made.iter().any(|memory| memory.id == *id) && *id != made[7].id)
        .collect();
    let found = good(world.store.memories(&eyes(owner), &ids));
    assert_eq!(found.iter().map(|memory| memory.id).collect::<Vec<_>>(), expected);
    assert_eq!(good(world.store.memories(&eyes(owner), &[])), []);
}

/// A forgotten memory is visible only to its owner. If it was shared, an admin of its space can read it too, but only by
/// name.
pub fn forgotten_memories_are_for_owner_and_admin(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let world = &town.world;
    for boundary in Boundary::ALL {
        let pair = town.pair(town.hub, town.who("owner"), *boundary);
        for memory in [&pair.0, &pair.1] {
            world.forget(memory);
        }
        for (name, id) in &town.people {
            let viewer = eyes(*id);
            assert_reads(world, &viewer, &pair, false, name);
            let reaches = *name == "owner" || (*name == "admin" && *boundary != Boundary::Private);
            for which in [MemoryRef::Id(pair.0.id), MemoryRef::Number(pair.0.number.expect("a record"))] {
                let find = |viewer: &Viewer| {
                    good(world.store.memory(viewer, town.hub, which, ForgottenFilter::Only)).is_some()
                };
                assert_eq!(find(&viewer), reaches, "{name} and a forgotten {boundary} memory");
                assert!(!find(&confined(*id, &[town.next_door])), "{name}, confined elsewhere");
            }
            let filter = Filter {
                substring: Some(pair.0.fields.text.content.clone()),
                forgotten: ForgottenFilter::Only,
                ..Filter::default()
            };
            let listed = good(world.store.list(&viewer, &filter, Sort::Newest, 9, None));
            let expected = if *name == "owner" { 2 } else { 0 };
            assert_eq!(listed.len(), expected, "{name} lists forgotten {boundary} memories");
            assert_eq!(listed.len() as u64, good(world.store.count(&viewer, &filter)));
            assert_eq!(listed.len(), good(world.store.ids(&viewer, &filter, Sort::Oldest)).len());
        }
        let alive = world.put(town.hub, town.who("owner"), &format!("alive {boundary}"), |m| {
            m.fields.boundary = *boundary;
        });
        let only = good(world.store.memory(
            &eyes(alive.owner),
            town.hub,
            MemoryRef::Id(alive.id),
            ForgottenFilter::Only,
        ));
        assert_eq!(only, None, "what is not forgotten is not among the forgotten");
    }
}

/// A quarantined memory can be read by its name. It is in no list and in no count, and no visible edge ends at it.
pub fn quarantined_memories_are_in_no_list(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let world = &town.world;
    let owner = town.who("owner");
    let (memory, named) = town.pair(town.hub, owner, Boundary::Hub);
    let now = world.now();
    let memory = world.shift(&memory, |s| s.quarantined_at = Some(now));
    let viewer = eyes(owner);
    assert_eq!(world.seen(&viewer, memory.id), Some(memory.clone()));
    let all = Filter::default();
    assert_eq!(good(world.store.ids(&viewer, &all, Sort::Newest)), [named.id]);
    assert_eq!(good(world.store.count(&viewer, &all)), 1);
    let listed = good(world.store.list(&viewer, &all, Sort::Importance, 9, None));
    assert_eq!(listed.iter().map(|m| m.id).collect::<Vec<_>>(), [named.id]);
    let only = Filter { quarantined: Quarantined::Only, ..Filter::default() };
    assert_eq!(good(world.store.ids(&viewer, &only, Sort::Newest)), [memory.id]);
    assert_eq!(good(world.store.ids(&eyes(world.principal("outside")), &only, Sort::Newest)), []);
    let either = Filter { quarantined: Quarantined::Either, ..Filter::default() };
    assert_eq!(good(world.store.count(&viewer, &either)), 2);
    for ids in [[memory.id], [named.id]] {
        assert_eq!(good(world.store.associations(&viewer, &ids)), []);
    }
    let archived = world.shift(&named, |s| s.state = State::Archived);
    assert_eq!(good(world.store.ids(&viewer, &all, Sort::Newest)), [archived.id]);
}

/// A frozen order is returned whole to its owner until it expires.
pub fn a_listing_is_its_owners_until_it_expires(fresh: StoreFactory<'_>) {
    let town = VisibilityFixture::new(fresh);
    let world = &town.world;
    let owner = town.who("owner");
    let (memory, named) = town.pair(town.hub, owner, Boundary::Hub);
    let now = world.now();
    let listing = FrozenOrder {
        id: ListingId::mint(now),
        principal: owner,
        expires_at: now.plus_millis(1_000),
        ids: vec![named.id, memory.id, MemoryId::mint(now)],
    };
    world.apply(vec![Write::FreezeListing(listing.clone())]);
    let find = |who, at| good(world.store.listing(&eyes(who), listing.id, at));
    assert_eq!(find(owner, now), Some(listing.clone()));
    assert_eq!(find(owner, now.plus_millis(999)), Some(listing.clone()));
    assert_eq!(find(owner, now.plus_millis(1_001)), None, "it has expired");
    for name in ["reader", "admin", "org admin", "stranger"] {
        assert_eq!(find(town.who(name), now), None, "{name} has no business there");
    }
    assert_eq!(good(world.store.listing(&eyes(owner), ListingId::mint(now), now)), None);
}

/// In random worlds, `visibility` agrees with `memories` about every memory, also for confined viewers.
pub fn sight_says_what_every_read_says(fresh: StoreFactory<'_>) {
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut random = seed.random();
    let world = world(fresh);
    let orgs = [OrgId::LOCAL, world.org("abroad")];
    let teams: Vec<TeamId> = (0..4).map(|n| world.team(orgs[n % 2], &format!("team {n}"))).collect();
    let spaces: Vec<SpaceId> = (0..8)
        .map(|n| {
            let kind = if n < 5 { SpaceKind::Hub } else { SpaceKind::Group };
            world.space_of(teams[n % 4], &format!("space {n}"), kind)
        })
        .collect();
    let people: Vec<PrincipalId> = (0..6).map(|n| world.principal(&format!("person {n}"))).collect();
    let memories: Vec<Memory> = (0..96)
        .map(|n| {
            let owner = people[random.usize(..people.len())];
            world.put(spaces[n % 8], owner, &format!("memory {n}"), |m| {
                m.fields.boundary = Boundary::ALL[n / 8 % 4];
            })
        })
        .collect();
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    for round in 0..12 {
        for _ in 0..4 {
            let who = people[random.usize(..people.len())];
            let of = match random.u8(..6) {
                0 => MemberOf::Org(orgs[random.usize(..orgs.len())]),
                1 | 2 => MemberOf::Team(teams[random.usize(..teams.len())]),
                _ => MemberOf::Space(spaces[random.usize(..spaces.len())]),
            };
            if random.u8(..3) == 0 {
                world.leave(who, of);
            } else {
                world.join(who, of, Role::ALL[random.usize(..Role::ALL.len())]);
            }
        }
        let some: Vec<SpaceId> = spaces.iter().copied().filter(|_| random.bool()).collect();
        let nowhere = SpaceId::mint(world.now());
        for who in &people {
            for viewer in [eyes(*who), confined(*who, &some), confined(*who, &[nowhere]), confined(*who, &[])]
            {
                let visibility = good(world.store.visibility(&viewer));
                assert_eq!(visibility.principal, *who);
                let shown = good(world.store.memories(&viewer, &ids));
                for memory in &memories {
                    assert_eq!(
                        visibility.sees(memory.space, memory.owner, memory.fields.boundary),
                        shown.iter().any(|one| one.id == memory.id),
                        "round {round}: {viewer:?} and {memory:?}"
                    );
                }
            }
        }
    }
}
