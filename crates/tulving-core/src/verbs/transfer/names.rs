//! Maps the ids of orgs, teams, principals and spaces while a dump is loaded, and records which of them this load has
//! added.

use std::collections::{HashMap, HashSet};

use crate::model::error::{Error, Invalid};
use crate::model::id::{MemoryId, OrgId, PrincipalId, SpaceId, TeamId};
use crate::model::request::Caller;
use crate::model::space::{MemberOf, Org, Principal, Space, Team};
use crate::model::vocabulary::SpaceKind;
use crate::verbs::access::Ports;

/// The known names, from this store and from the lines read so far.
pub(super) struct DumpIdMap {
    orgs: HashMap<OrgId, String>,
    teams: HashMap<TeamId, Team>,
    spaces: HashMap<SpaceId, Space>,
    principals: HashMap<PrincipalId, String>,
    by_name: HashMap<String, PrincipalId>,
    /// Ids of the dump that are mapped to other ids in this store.
    other_teams: HashMap<TeamId, TeamId>,
    other_spaces: HashMap<SpaceId, SpaceId>,
    other_principals: HashMap<PrincipalId, PrincipalId>,
    other_memories: HashMap<MemoryId, MemoryId>,
    /// Ids that this load has added.
    new_orgs: HashSet<OrgId>,
    new_teams: HashSet<TeamId>,
    new_spaces: HashSet<SpaceId>,
    new_principals: HashSet<PrincipalId>,
}

impl DumpIdMap {
    /// Reads the existing names.
    pub(super) fn read(parts: &Ports, caller: &Caller) -> Result<Self, Error> {
        let teams = parts.store.teams(&caller.viewer)?;
        let spaces = parts.store.spaces(&caller.viewer)?;
        Ok(Self {
            orgs: HashMap::from([(OrgId::LOCAL, "local".to_owned())]),
            teams: teams.into_iter().map(|team| (team.id, team)).collect(),
            spaces: spaces.into_iter().map(|space| (space.id, space)).collect(),
            principals: HashMap::new(),
            by_name: HashMap::new(),
            other_teams: HashMap::new(),
            other_spaces: HashMap::new(),
            other_principals: HashMap::new(),
            other_memories: HashMap::new(),
            new_orgs: HashSet::new(),
            new_teams: HashSet::new(),
            new_spaces: HashSet::new(),
            new_principals: HashSet::new(),
        })
    }

    pub(super) fn came_org(&mut self, org: &Org) {
        self.orgs.entry(org.id).or_insert_with(|| org.name.clone());
    }

    /// Returns true if another team in this store has the same name. From then on, references to `team` are mapped to
    /// that team.
    pub(super) fn team_named_alike(&mut self, team: &Team) -> bool {
        if self.teams.contains_key(&team.id) {
            return false;
        }
        let named = self.teams.values().find(|other| other.org == team.org && other.name == team.name);
        match named.map(|other| other.id) {
            Some(other) => self.other_teams.insert(team.id, other),
            None => {
                self.teams.insert(team.id, team.clone());
                return false;
            }
        };
        true
    }

    /// Returns true if another principal in this store has the same name. From then on, references to the principal of
    /// the dump are mapped to that principal.
    pub(super) fn principal_named_alike(
        &mut self,
        parts: &Ports,
        principal: &Principal,
    ) -> Result<bool, Error> {
        let named = match self.by_name.get(&principal.name) {
            Some(id) => Some(*id),
            None => parts.store.principal_named(&principal.name)?.map(|other| other.id),
        };
        let stands = named.unwrap_or(principal.id);
        self.principals.insert(stands, principal.name.clone());
        self.by_name.insert(principal.name.clone(), stands);
        if stands != principal.id {
            self.other_principals.insert(principal.id, stands);
        }
        Ok(stands != principal.id)
    }

    /// Returns true if `space` does not exist in this store but another space has the same name. From then on,
    /// references to `space` are mapped to that space. If that space is of another kind, returns an error.
    pub(super) fn space_named_alike(&mut self, line: u64, space: &Space) -> Result<bool, Invalid> {
        if self.spaces.contains_key(&space.id) {
            return Ok(false);
        }
        let named = self.spaces.values().find(|other| other.team == space.team && other.name == space.name);
        let Some(other) = named else {
            self.spaces.insert(space.id, space.clone());
            return Ok(false);
        };
        if other.kind != space.kind {
            let why = format!("`{}` is a {} here and a {} there", space.name, other.kind, space.kind);
            return Err(Invalid::DumpLine { line, why });
        }
        self.other_spaces.insert(space.id, other.id);
        Ok(true)
    }

    pub(super) fn memory_is(&mut self, id: MemoryId, here: MemoryId) {
        self.other_memories.insert(id, here);
    }

    pub(super) fn principal_added(&mut self, id: PrincipalId) {
        self.new_principals.insert(id);
    }

    pub(super) fn place_came(&mut self, place: MemberOf) {
        match place {
            MemberOf::Space(id) => self.new_spaces.insert(id),
            MemberOf::Team(id) => self.new_teams.insert(id),
            MemberOf::Org(id) => self.new_orgs.insert(id),
        };
    }

    pub(super) fn principal_came(&self, id: PrincipalId) -> bool {
        self.new_principals.contains(&id)
    }

    pub(super) fn came(&self, place: MemberOf) -> bool {
        match place {
            MemberOf::Space(id) => self.new_spaces.contains(&id),
            MemberOf::Team(id) => self.new_teams.contains(&id),
            MemberOf::Org(id) => self.new_orgs.contains(&id),
        }
    }

    /// Returns a space, if known.
    pub(super) fn whole_space(&self, id: SpaceId) -> Option<&Space> {
        self.spaces.get(&id)
    }

    /// Returns the kind of a space, if known.
    pub(super) fn kind(&self, id: SpaceId) -> Option<SpaceKind> {
        self.spaces.get(&id).map(|space| space.kind)
    }

    /// Returns the name of a principal that exists here or came with the load. An existing principal keeps its name,
    /// even if the dump has another name for it.
    pub(super) fn of_principal(&self, parts: &Ports, id: PrincipalId) -> Result<Option<String>, Error> {
        let here = parts.store.principals(&[id])?.pop().map(|principal| principal.name);
        Ok(here.or_else(|| self.principals.get(&id).cloned()))
    }

    /// Returns the name of a space, team or org, or its id.
    pub(super) fn of_place(&self, place: MemberOf) -> String {
        let (name, id) = match place {
            MemberOf::Space(id) => (self.spaces.get(&id).map(|space| &space.name), id.to_string()),
            MemberOf::Team(id) => (self.teams.get(&id).map(|team| &team.name), id.to_string()),
            MemberOf::Org(id) => (self.orgs.get(&id), id.to_string()),
        };
        name.cloned().unwrap_or(id)
    }

    pub(super) fn principal(&self, id: PrincipalId) -> PrincipalId {
        self.other_principals.get(&id).copied().unwrap_or(id)
    }

    pub(super) fn team(&self, id: TeamId) -> TeamId {
        self.other_teams.get(&id).copied().unwrap_or(id)
    }

    pub(super) fn space(&self, id: SpaceId) -> SpaceId {
        self.other_spaces.get(&id).copied().unwrap_or(id)
    }

    pub(super) fn memory(&self, id: MemoryId) -> MemoryId {
        self.other_memories.get(&id).copied().unwrap_or(id)
    }
}
