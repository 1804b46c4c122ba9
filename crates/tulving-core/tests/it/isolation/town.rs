//! The people, the spaces and the memories, and the visibility rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tulving_core::model::change::Write;
use tulving_core::model::id::{MemoryId, OrgId, PrincipalId, SpaceId, TeamId, Version};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::Caller;
use tulving_core::model::space::{MemberOf, Membership, Principal, Space};
use tulving_core::model::vocabulary::{
    AuditAct, Boundary, MemoryType, PrincipalKind, Relation, Role, SpaceKind,
};
use tulving_testkit::build::{self, StoreFixture};

use super::pick;
use crate::bed::Bed;

const PEOPLE: usize = 1_000;
const SPACES: usize = 60;
pub(super) const MEMORIES: usize = 1_200;

pub(super) struct TownSpace {
    pub(super) id: SpaceId,
    pub(super) team: TeamId,
    pub(super) org: OrgId,
    pub(super) kind: SpaceKind,
}

#[derive(Default)]
pub(super) struct TownPerson {
    pub(super) spaces: BTreeMap<SpaceId, Role>,
    pub(super) teams: BTreeSet<TeamId>,
    pub(super) orgs: BTreeMap<OrgId, Role>,
    /// The teams that the person administers.
    pub(super) leads: BTreeSet<TeamId>,
}

/// Everything in the store, as plain data, and the visibility rule.
pub(super) struct Town {
    pub(super) rooms: HashMap<SpaceId, TownSpace>,
    pub(super) teams: HashMap<TeamId, OrgId>,
    pub(super) people: BTreeMap<PrincipalId, TownPerson>,
    pub(super) memories: HashMap<MemoryId, Memory>,
    /// The boundaries of each memory's versions, oldest first.
    pub(super) versions: HashMap<MemoryId, Vec<Boundary>>,
    pub(super) edges: Vec<(MemoryId, MemoryId)>,
    /// Spaces with turns.
    pub(super) talking: Vec<SpaceId>,
}

impl Town {
    /// The rule, in words: private, the owner; hub, members of the space; team, also the space's team; org, also
    /// everybody in the org: its members and those of its teams and hubs. A confinement restricts all of it.
    pub(super) fn may_see(
        &self,
        asking: &Caller,
        boundary: Boundary,
        owner: PrincipalId,
        space: SpaceId,
    ) -> bool {
        let who = asking.viewer.principal;
        if asking.viewer.within.as_ref().is_some_and(|within| !within.contains(&space)) {
            return false;
        }
        let (person, room) = (&self.people[&who], &self.rooms[&space]);
        let member = person.spaces.contains_key(&space);
        let teammate = person.teams.contains(&room.team);
        let of_the_org = person.orgs.contains_key(&room.org)
            || person.teams.iter().any(|team| self.teams[team] == room.org)
            || person.spaces.keys().any(|space| {
                let own = &self.rooms[space];
                own.kind == SpaceKind::Hub && own.org == room.org
            });
        match boundary {
            Boundary::Private => owner == who,
            Boundary::Hub => member,
            Boundary::Team => member || teammate,
            Boundary::Org => member || teammate || of_the_org,
        }
    }

    pub(super) fn sees(&self, asking: &Caller, id: MemoryId) -> bool {
        self.memories.get(&id).is_some_and(|memory| {
            memory.status.forgotten_at.is_none()
                && self.may_see(asking, memory.fields.boundary, memory.owner, memory.space)
        })
    }

    pub(super) fn sees_forgotten(&self, asking: &Caller, memory: &Memory) -> bool {
        let role = self.people[&asking.viewer.principal].spaces.get(&memory.space);
        let admin = role == Some(&Role::Admin) && memory.fields.boundary != Boundary::Private;
        memory.status.forgotten_at.is_some()
            && (memory.owner == asking.viewer.principal || admin)
            && self.may_see(asking, memory.fields.boundary, memory.owner, memory.space)
    }

    pub(super) fn role(&self, asking: &Caller, space: SpaceId) -> Option<Role> {
        let inside = asking.viewer.within.as_ref().is_none_or(|within| within.contains(&space));
        let role = self.people[&asking.viewer.principal].spaces.get(&space).copied();
        role.filter(|_| inside)
    }

    pub(super) fn sees_space(&self, asking: &Caller, space: SpaceId) -> bool {
        let inside = asking.viewer.within.as_ref().is_none_or(|within| within.contains(&space));
        let (person, room) = (&self.people[&asking.viewer.principal], &self.rooms[&space]);
        inside
            && (person.spaces.contains_key(&space)
                || person.leads.contains(&room.team)
                || person.orgs.get(&room.org) == Some(&Role::Admin))
    }
}

/// Creates a town full of people and memories, in few large acts.
pub(super) fn settle(bed: &Bed, random: &mut fastrand::Rng) -> Town {
    let world = bed.world();
    let abroad = world.org("abroad");
    let mut teams = HashMap::from([(TeamId::LOCAL, OrgId::LOCAL)]);
    for n in 0..5 {
        let org = if n < 3 { OrgId::LOCAL } else { abroad };
        teams.insert(world.team(org, &format!("team-{n}")), org);
    }
    let mut all_teams: Vec<TeamId> = teams.keys().copied().collect();
    all_teams.sort();
    let mut rooms = HashMap::from([(
        SpaceId::DEFAULT,
        TownSpace { id: SpaceId::DEFAULT, team: TeamId::LOCAL, org: OrgId::LOCAL, kind: SpaceKind::Hub },
    )]);
    let mut writes = Vec::new();
    for n in 0..SPACES {
        let (team, kind) = (pick(random, &all_teams), pick(random, SpaceKind::ALL));
        let id = SpaceId::mint(world.now());
        writes.push(Write::AddSpace(Space {
            id,
            team,
            name: format!("space-{n}"),
            kind,
            created_at: world.now(),
        }));
        let org = teams[&team];
        rooms.insert(id, TownSpace { id, team, org, kind });
    }
    let mut spaces: Vec<SpaceId> = rooms.keys().copied().collect();
    spaces.sort();
    let mut people = BTreeMap::new();
    for n in 0..PEOPLE {
        let (id, person) = new_memory(&world, random, n, &spaces, &all_teams, abroad, &mut writes);
        people.insert(id, person);
    }
    people.insert(PrincipalId::USER, the_user());
    world.apply(writes);
    let mut town = Town {
        rooms,
        teams,
        people,
        memories: HashMap::new(),
        versions: HashMap::new(),
        edges: Vec::new(),
        talking: Vec::new(),
    };
    remember(&world, random, &mut town, &spaces);
    town
}

/// Returns the user of a home, who is an admin of everything that it starts with.
fn the_user() -> TownPerson {
    TownPerson {
        spaces: BTreeMap::from([(SpaceId::DEFAULT, Role::Admin)]),
        teams: BTreeSet::from([TeamId::LOCAL]),
        orgs: BTreeMap::from([(OrgId::LOCAL, Role::Admin)]),
        leads: BTreeSet::from([TeamId::LOCAL]),
    }
}

fn new_memory(
    world: &StoreFixture,
    random: &mut fastrand::Rng,
    n: usize,
    spaces: &[SpaceId],
    teams: &[TeamId],
    abroad: OrgId,
    writes: &mut Vec<Write>,
) -> (PrincipalId, TownPerson) {
    let now = world.now();
    let principal = PrincipalId::mint(now);
    writes.push(Write::AddPrincipal(Principal {
        id: principal,
        name: format!("person-{n}"),
        kind: pick(random, PrincipalKind::ALL),
        created_at: now,
    }));
    let mut person = TownPerson::default();
    let mut join = |of, role| writes.push(Write::SetMember(Membership { principal, of, role }));
    for _ in 0..random.usize(..4) {
        let (space, role) = (pick(random, spaces), pick(random, Role::ALL));
        person.spaces.insert(space, role);
        join(MemberOf::Space(space), role);
    }
    if random.u8(..5) == 0 {
        let (team, role) = (pick(random, teams), pick(random, Role::ALL));
        person.teams.insert(team);
        person.leads.extend((role == Role::Admin).then_some(team));
        join(MemberOf::Team(team), role);
    }
    if random.u8(..12) == 0 {
        let (org, role) = (pick(random, &[OrgId::LOCAL, abroad]), pick(random, Role::ALL));
        person.orgs.insert(org, role);
        join(MemberOf::Org(org), role);
    }
    (principal, person)
}

/// Fills the town with memories, each with a unique word.
fn remember(world: &StoreFixture, random: &mut fastrand::Rng, town: &mut Town, spaces: &[SpaceId]) {
    let writers: Vec<(PrincipalId, SpaceId)> =
        town.people.iter().flat_map(|(id, person)| person.spaces.keys().map(|space| (*id, *space))).collect();
    let mut made: Vec<Memory> = Vec::new();
    let mut writes = Vec::new();
    for n in 0..MEMORIES {
        let (owner, space) = pick(random, &writers);
        let mut memory = world.draft(space, owner, &format!("Secret{n}end"));
        let sealed = town.rooms[&space].kind == SpaceKind::Group;
        memory.fields.boundary =
            if sealed { pick(random, &Boundary::ALL[..2]) } else { pick(random, Boundary::ALL) };
        memory.fields.class.memory_type = pick(random, MemoryType::ALL);
        memory.fields.key = (n % 4 == 1).then(|| format!("key-{n}"));
        memory.provenance.source_path = (n % 5 == 2).then(|| format!("/path-{n}"));
        writes.push(build::insert(&memory));
        let mut versions = vec![memory.fields.boundary];
        if n % 6 == 0 {
            // The first version was private, with words that only the owner may read.
            let Some(Write::Insert(first)) = writes.last_mut() else {
                unreachable!("it was pushed just now")
            };
            first.memory.fields.boundary = Boundary::Private;
            first.memory.fields.text = build::text(&format!("Earlier{n}end"));
            let earlier = first.memory.clone();
            writes.push(build::revise(&earlier, memory.fields.clone()));
            memory.version = Version(2);
            versions.insert(0, Boundary::Private);
        }
        if n % 9 == 8 {
            let now = world.now();
            writes.push(build::shift(&memory, |status| {
                status.forgotten_at = Some(now);
            }));
            memory.status.forgotten_at = Some(now);
        }
        town.versions.insert(memory.id, versions);
        made.push(memory);
    }
    for _ in 0..MEMORIES {
        let (source, target) = (&made[random.usize(..made.len())], &made[random.usize(..made.len())]);
        if source.id != target.id {
            let relation = pick(random, &[Relation::Updates, Relation::RelatedTo]);
            writes.push(Write::Link(build::link(world.now(), source.id, target.id, relation)));
            town.edges.push((source.id, target.id));
        }
    }
    for space in spaces.iter().step_by(3) {
        writes.push(Write::LogTurn(world.turn(*space, PrincipalId::USER, "overheard")));
        town.talking.push(*space);
    }
    for memory in &made {
        let entry = world.audit(AuditAct::Pinned, Some(memory.space), Some(memory.id));
        writes.push(Write::Audit(entry));
    }
    let applied = world.apply(writes);
    for (memory, number) in made.iter_mut().zip(applied.numbers) {
        memory.number = number;
    }
    town.memories = made.into_iter().map(|memory| (memory.id, memory)).collect();
}
