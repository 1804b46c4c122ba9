//! The rules of every verb over a plain map: what the engine must answer, decided without it.

use std::collections::{BTreeMap, BTreeSet};

use tulving_core::model::answer::SaveOutcome;
use tulving_core::model::association::Association;
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef, PrincipalId, SpaceId, Version};
use tulving_core::model::memory::{Memory, Sources, Status, VersionFields};
use tulving_core::model::request::{
    AssociationRequest, Caller, Filter, ForgetMode, ForgetWhere, ForgottenFilter, SaveRequest, Sort,
    UpdateRequest,
};
use tulving_core::model::score::{Importance, Weight};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{
    Boundary, Derivable, LinkedBy, MemoryType, Relation, Role, SpaceKind, State,
};
use tulving_testkit::build;
use tulving_text::classify;

/// The expected answer of a verb: a value, or the code of an error.
pub(super) type ExpectedResult<T> = Result<T, &'static str>;

#[derive(Clone)]
pub(super) struct ModelEntry {
    /// As it is, without what supersedes it, which depends on the viewer.
    pub(super) memory: Memory,
    /// All its editions, oldest first, the current one last.
    pub(super) editions: Vec<VersionFields>,
}

#[derive(Clone, Copy)]
pub(super) struct ModelSpace {
    pub(super) id: SpaceId,
    pub(super) kind: SpaceKind,
}

/// The rules, over a plain map.
pub(super) struct Model {
    pub(super) entries: BTreeMap<MemoryId, ModelEntry>,
    pub(super) edges: BTreeMap<(MemoryId, MemoryId, Relation), Association>,
    pub(super) numbers: BTreeMap<SpaceId, u64>,
    pub(super) touches: BTreeMap<MemoryId, (u64, Timestamp)>,
    pub(super) rooms: Vec<ModelSpace>,
    pub(super) roles: BTreeMap<(PrincipalId, SpaceId), Role>,
    pub(super) now: Timestamp,
}

/// The outcome for a draft, before anything is written.
pub(super) struct Saved {
    pub(super) id: MemoryId,
    pub(super) outcome: SaveOutcome,
    pub(super) revived: bool,
    pub(super) skipped: usize,
    pub(super) related_only: usize,
}

impl Model {
    pub(super) fn role(&self, who: PrincipalId, space: SpaceId) -> Option<Role> {
        self.roles.get(&(who, space)).copied()
    }

    pub(super) fn room(&self, id: SpaceId) -> ModelSpace {
        *self.rooms.iter().find(|room| room.id == id).expect("a known room")
    }

    /// Everybody here is in some hub, so everybody is of the org; only the user is of the team.
    pub(super) fn may_see(
        &self,
        who: PrincipalId,
        boundary: Boundary,
        owner: PrincipalId,
        space: SpaceId,
    ) -> bool {
        let member = self.role(who, space).is_some();
        let user = who == PrincipalId::USER;
        match boundary {
            Boundary::Private => owner == who,
            Boundary::Hub => member,
            Boundary::Team => member || user,
            Boundary::Org => true,
        }
    }

    pub(super) fn sees(&self, who: PrincipalId, memory: &Memory) -> bool {
        self.may_see(who, memory.fields.boundary, memory.owner, memory.space)
    }

    pub(super) fn alive(&self, who: PrincipalId, id: MemoryId) -> Option<&Memory> {
        let memory = &self.entries.get(&id)?.memory;
        (memory.status.forgotten_at.is_none() && self.sees(who, memory)).then_some(memory)
    }

    pub(super) fn id_of(&self, caller: &Caller, which: MemoryRef) -> Option<MemoryId> {
        match which {
            MemoryRef::Id(id) => Some(id),
            MemoryRef::Number(number) => self
                .entries
                .values()
                .find(|entry| entry.memory.space == caller.space && entry.memory.number == Some(number))
                .map(|entry| entry.memory.id),
            MemoryRef::Foreign(_) => None,
        }
    }

    pub(super) fn find(&self, caller: &Caller, which: MemoryRef) -> ExpectedResult<MemoryId> {
        let id = self.id_of(caller, which).ok_or("not_found")?;
        match self.alive(caller.viewer.principal, id) {
            Some(memory) => Ok(memory.id),
            None if self.find_forgotten(caller, which).is_some() => Err("already_forgotten"),
            None => Err("not_found"),
        }
    }

    pub(super) fn find_forgotten(&self, caller: &Caller, which: MemoryRef) -> Option<MemoryId> {
        let who = caller.viewer.principal;
        let memory = &self.entries.get(&self.id_of(caller, which)?)?.memory;
        let admin = self.role(who, memory.space) == Some(Role::Admin);
        let reaches = memory.owner == who || (admin && memory.fields.boundary != Boundary::Private);
        let forgotten = memory.status.forgotten_at.is_some();
        (forgotten && reaches && self.sees(who, memory)).then_some(memory.id)
    }

    /// Irreversible changes, and changes of the boundary, need an owner who may write, or an admin.
    pub(super) fn rules_over(&self, caller: &Caller, memory: &Memory) -> ExpectedResult<()> {
        let who = caller.viewer.principal;
        if memory.owner == who {
            return self.writes(caller, memory.space);
        }
        if self.role(who, memory.space) == Some(Role::Admin) { Ok(()) } else { Err("owner_or_admin") }
    }

    pub(super) fn writes(&self, caller: &Caller, space: SpaceId) -> ExpectedResult<()> {
        let role = self.role(caller.viewer.principal, space);
        if role >= Some(Role::Writer) { Ok(()) } else { Err("no_write_access") }
    }

    pub(super) fn editable(&self, caller: &Caller, which: MemoryRef) -> ExpectedResult<MemoryId> {
        let id = self.find(caller, which)?;
        self.writes(caller, self.entries[&id].memory.space)?;
        Ok(id)
    }

    pub(super) fn memory(&mut self, id: MemoryId) -> &mut Memory {
        &mut self.entries.get_mut(&id).expect("a known memory").memory
    }

    /// As the viewer sees it who has changed it: with the newest that a caller said updates it.
    pub(super) fn said(&self, who: PrincipalId, id: MemoryId) -> Memory {
        let newest = self.updating(who, id).max_by_key(|memory| (memory.usage.created_at, memory.id));
        Memory { superseded_by: newest.map(|memory| memory.id), ..self.entries[&id].memory.clone() }
    }

    /// As the viewer sees it who looks at it: of what updates it the newest that nobody archived; where all of them are, of what
    /// updates those.
    pub(super) fn shown(&self, who: PrincipalId, id: MemoryId) -> Memory {
        let said = self.said(who, id);
        if said.status.forgotten_at.is_some() {
            return said;
        }
        let updates = self.updates(who);
        let (mut met, mut nearest) = (BTreeSet::from([id]), vec![id]);
        while !nearest.is_empty() {
            let next = updates.iter().filter(|edge| nearest.contains(&edge.target));
            let next = next.filter(|edge| met.insert(edge.source));
            let next: Vec<&Memory> = next.map(|edge| &self.entries[&edge.source].memory).collect();
            let counting = next.iter().filter(|memory| memory.status.state != State::Archived);
            if let Some(newest) = counting.max_by_key(|memory| (memory.usage.created_at, memory.id)) {
                return Memory { superseded_by: Some(newest.id), ..said };
            }
            nearest = next.into_iter().map(|memory| memory.id).collect();
        }
        Memory { superseded_by: None, ..said }
    }

    /// The updates that count: of those that close a ring, which others that cannot be seen may leave, the newest.
    fn updates(&self, who: PrincipalId) -> Vec<Association> {
        let seen = |id: MemoryId| self.alive(who, id).is_some();
        let mut edges: Vec<Association> = self.edges.values().copied().collect();
        edges.retain(|edge| edge.relation == Relation::Updates && seen(edge.source) && seen(edge.target));
        edges.sort_by_key(|edge| std::cmp::Reverse((edge.created_at, edge.source, edge.target)));
        for newest in edges.clone() {
            if edges.contains(&newest) {
                let over = overtaken(&edges, newest.source, newest.target);
                edges.retain(|edge| edge.target != newest.source || !over.contains(&edge.source));
            }
        }
        edges
    }

    /// A memory that is true again is no longer updated by the memory that it now updates.
    fn retract(&mut self, who: PrincipalId, source: MemoryId, target: MemoryId) {
        let seen = |id: MemoryId| self.alive(who, id).is_some();
        let mut edges: Vec<Association> = self.edges.values().copied().collect();
        edges.retain(|edge| edge.relation == Relation::Updates && seen(edge.source) && seen(edge.target));
        for by in overtaken(&edges, source, target) {
            self.edges.remove(&(by, source, Relation::Updates));
        }
    }

    fn updating(&self, who: PrincipalId, id: MemoryId) -> impl Iterator<Item = &Memory> {
        let updates = move |edge: &&Association| edge.target == id && edge.relation == Relation::Updates;
        self.edges.values().filter(updates).filter_map(move |edge| self.alive(who, edge.source))
    }

    /// Another memory that already has the key, the path, or else the content of this one.
    pub(super) fn held(&self, future: &Memory) -> bool {
        let side = |memory: &Memory| {
            let private = memory.fields.boundary == Boundary::Private;
            (private, private.then_some(memory.owner))
        };
        let others = self.entries.values().map(|entry| &entry.memory).filter(|other| {
            other.id != future.id
                && other.space == future.space
                && other.status.forgotten_at.is_none()
                && side(other) == side(future)
        });
        others.into_iter().any(|other| {
            let key = future.fields.key.is_some() && other.fields.key == future.fields.key;
            let path = future.provenance.paths().iter().any(|path| other.provenance.paths().contains(path));
            let content = plain(future)
                && plain(other)
                && other.fields.boundary == future.fields.boundary
                && other.fields.text.content == future.fields.text.content;
            key || path || content
        })
    }

    /// The memory that a save repeats.
    pub(super) fn duplicate(
        &self,
        caller: &Caller,
        request: &SaveRequest,
    ) -> Option<(MemoryId, &'static str)> {
        let who = caller.viewer.principal;
        let boundary = request.boundary.unwrap_or(default_boundary(caller.space));
        let private = boundary == Boundary::Private;
        let sides = if request.boundary.is_some() { vec![private] } else { vec![true, false] };
        let here = |side: bool| {
            self.entries.values().map(|entry| &entry.memory).filter(move |memory| {
                let is_private = memory.fields.boundary == Boundary::Private;
                memory.space == caller.space
                    && memory.status.forgotten_at.is_none()
                    && is_private == side
                    && (!side || memory.owner == who)
                    && (request.boundary.is_some()
                        || memory.owner == who
                        || default_boundary(caller.space) != Boundary::Private)
            })
        };
        for side in &sides {
            if let Some(key) = &request.key
                && let Some(memory) = here(*side).find(|memory| memory.fields.key.as_ref() == Some(key))
            {
                return Some((memory.id, "key"));
            }
        }
        for side in &sides {
            if let Some(path) = &request.source_path
                && let Some(memory) = here(*side).find(|memory| memory.provenance.paths().contains(path))
            {
                return Some((memory.id, "path"));
            }
        }
        if request.key.is_some() || request.conversation.is_some() {
            return None;
        }
        let own_alone = request.boundary.is_none() && default_boundary(caller.space) == Boundary::Private;
        let fits = |memory: &Memory| !own_alone || memory.owner == who;
        self.saying(caller, request, boundary, fits).map(|id| (id, "content"))
    }

    /// The memory that says what a save says, among those of a boundary that may stand for it.
    fn saying(
        &self,
        caller: &Caller,
        request: &SaveRequest,
        boundary: Boundary,
        fits: impl Fn(&Memory) -> bool,
    ) -> Option<MemoryId> {
        let who = caller.viewer.principal;
        let mut memories = self.entries.values().map(|entry| &entry.memory);
        let found = memories.find(|memory| {
            memory.space == caller.space
                && memory.status.forgotten_at.is_none()
                && memory.fields.boundary == boundary
                && (boundary != Boundary::Private || memory.owner == who)
                && fits(memory)
                && plain(memory)
                && memory.fields.text.content == request.content
        });
        found.map(|memory| memory.id)
    }

    /// Decides about the path of a save that a memory has: it stays there, or goes to the memory that says what the file says by
    /// now, or leaves those that say what the memory says, for a memory that begins as this edition.
    fn leave(
        &mut self,
        caller: &Caller,
        request: &SaveRequest,
        id: MemoryId,
    ) -> (Option<(MemoryId, &'static str)>, Option<VersionFields>) {
        let holder = self.entries[&id].memory.clone();
        let path = request.source_path.as_ref().expect("found by its path");
        let paths: Vec<String> =
            holder.provenance.paths().iter().filter(|other| *other != path).cloned().collect();
        let shared = !paths.is_empty() || holder.provenance.also_without_path;
        let says = holder.fields.text.content == request.content;
        let stays = Some((id, "path"));
        if !plain(&holder) || (says && request.key.is_none()) || (request.key.is_some() && !shared) {
            return (stays, None);
        }
        let boundary = request.boundary.unwrap_or(holder.fields.boundary);
        let other = self.saying(caller, request, boundary, |_| true).filter(|_| request.key.is_none());
        if other.is_none() && !shared {
            return (stays, None);
        }
        let memory = self.memory(id);
        let sources = Sources { paths, without_path: memory.provenance.also_without_path };
        memory.provenance.set_sources(sources);
        if !shared {
            memory.status = memory.status.moved(State::Archived);
        }
        match other {
            Some(other) => (Some((other, "content")), None),
            None => (None, Some(holder.fields)),
        }
    }

    /// Saves one request; `id` names it where it is new.
    pub(super) fn save(
        &mut self,
        caller: &Caller,
        request: &SaveRequest,
        id: MemoryId,
        before: &BTreeSet<MemoryId>,
    ) -> ExpectedResult<Saved> {
        let (duplicate, forked) = match self.duplicate(caller, request) {
            Some((id, "path")) => self.leave(caller, request, id),
            found => (found, None),
        };
        let (id, outcome, revived) = match duplicate {
            None => {
                self.create(caller, request, id, forked)?;
                (id, SaveOutcome::Created, false)
            }
            Some((id, by)) => {
                let now = self.now;
                let duplicate = &self.entries[&id].memory;
                let wanted = onto(request, &duplicate.fields);
                if by == "key" && wanted.boundary != duplicate.fields.boundary
                    || by == "path"
                        && duplicate.fields.text.content != request.content
                        && wanted.boundary != duplicate.fields.boundary
                {
                    self.rules_over(caller, duplicate)?;
                }
                let memory = self.memory(id);
                if by == "content" {
                    share(memory, request.source_path.as_ref());
                }
                let revived = memory.status.state == State::Archived;
                if revived {
                    memory.status = memory.status.ruled(State::Active, now);
                }
                memory.status.pinned |= request.pinned;
                let fields = onto(request, &memory.fields);
                let same_file = by == "path" && memory.fields.text.content == request.content;
                let outcome = if by == "content" {
                    SaveOutcome::Duplicate
                } else if same_file || fields == memory.fields {
                    SaveOutcome::Unchanged
                } else {
                    let future = Memory { fields: fields.clone(), ..memory.clone() };
                    if self.held(&future) {
                        return Err("duplicate");
                    }
                    self.revise(id, fields, now);
                    SaveOutcome::Updated
                };
                (id, outcome, revived)
            }
        };
        let (mut skipped, mut related_only) = (0, 0);
        for link in &request.associations {
            let target = self.find(caller, link.target).ok().filter(|target| before.contains(target));
            let Some(target) = target else {
                skipped += 1;
                continue;
            };
            if target == id {
                return Err("self_association");
            }
            let mut relation = link.relation.unwrap_or(Relation::RelatedTo);
            if relation == Relation::Updates
                && self.writes(caller, self.entries[&target].memory.space).is_err()
            {
                related_only += 1;
                relation = Relation::RelatedTo;
            }
            if relation == Relation::Updates {
                self.retract(caller.viewer.principal, id, target);
            }
            self.link(id, target, relation, link.weight);
        }
        Ok(Saved { id, outcome, revived, skipped, related_only })
    }

    pub(super) fn create(
        &mut self,
        caller: &Caller,
        request: &SaveRequest,
        id: MemoryId,
        forked: Option<VersionFields>,
    ) -> ExpectedResult<()> {
        let number = self.numbers.entry(caller.space).or_insert(0);
        *number += 1;
        let mut memory = build::memory(self.now, caller.space, caller.viewer.principal, "");
        memory.id = id;
        memory.number = Some(MemoryNumber(*number));
        memory.fields.boundary = default_boundary(caller.space);
        let memory_type = request.memory_type.unwrap_or(MemoryType::Fact);
        memory.fields.class.memory_type = memory_type;
        memory.fields.class.kind = classify::kind_of(memory_type);
        memory.fields.class.stability = classify::stability_of(memory_type);
        memory.fields.class.importance = Importance::of(memory_type);
        let is_forked = forked.is_some();
        memory.fields = onto(request, &forked.unwrap_or(memory.fields));
        memory.status.pinned = request.pinned;
        memory.provenance.source_path.clone_from(&request.source_path);
        memory.place.conversation.clone_from(&request.conversation);
        memory.provenance.origin = caller.origin;
        // A fork keeps the boundary of the memory that it leaves, where another principal may have the key.
        if is_forked && self.held(&memory) {
            return Err("key_taken");
        }
        let editions = vec![memory.fields.clone()];
        self.entries.insert(id, ModelEntry { memory, editions });
        Ok(())
    }

    pub(super) fn revise(&mut self, id: MemoryId, fields: VersionFields, now: Timestamp) {
        let entry = self.entries.get_mut(&id).expect("a known memory");
        entry.editions.push(fields.clone());
        entry.memory.fields = fields;
        entry.memory.version = entry.memory.version.next();
        entry.memory.usage.updated_at = now;
    }

    pub(super) fn update(
        &mut self,
        caller: &Caller,
        which: MemoryRef,
        request: &UpdateRequest,
    ) -> ExpectedResult<Memory> {
        let id = self.editable(caller, which)?;
        let who = caller.viewer.principal;
        let memory = &self.entries[&id].memory;
        if request.if_version.is_some_and(|version| version != memory.version) {
            return Err("version_mismatch");
        }
        if let Some(boundary) = request.boundary
            && boundary != memory.fields.boundary
        {
            if self.room(memory.space).kind == SpaceKind::Group && boundary > Boundary::Hub {
                return Err("boundary_too_wide");
            }
            if boundary == Boundary::Private && memory.owner != who {
                return Err("owner_only");
            }
            self.rules_over(caller, memory)?;
        }
        let fields = patched(request, &memory.fields);
        self.replace(caller, id, fields)
    }

    pub(super) fn replace(
        &mut self,
        caller: &Caller,
        id: MemoryId,
        fields: VersionFields,
    ) -> ExpectedResult<Memory> {
        let memory = &self.entries[&id].memory;
        if fields != memory.fields {
            let future = Memory { fields: fields.clone(), ..memory.clone() };
            if self.held(&future) {
                return Err("duplicate");
            }
            self.revise(id, fields, self.now);
        }
        Ok(self.shown(caller.viewer.principal, id))
    }

    pub(super) fn revert(
        &mut self,
        caller: &Caller,
        which: MemoryRef,
        version: Version,
    ) -> ExpectedResult<Memory> {
        let id = self.editable(caller, which)?;
        let entry = &self.entries[&id];
        let past = self
            .history(caller.viewer.principal, id)
            .into_iter()
            .find(|(at, _)| *at == version)
            .ok_or("version_not_found")?;
        let fields = VersionFields { boundary: entry.memory.fields.boundary, ..past.1 };
        self.replace(caller, id, fields)
    }

    /// The versions that somebody may see.
    pub(super) fn history(&self, who: PrincipalId, id: MemoryId) -> Vec<(Version, VersionFields)> {
        let entry = &self.entries[&id];
        let (owner, space) = (entry.memory.owner, entry.memory.space);
        (1..)
            .map(Version)
            .zip(entry.editions.iter().cloned())
            .filter(|(version, fields)| {
                *version == entry.memory.version
                    || owner == who
                    || self.may_see(who, fields.boundary, owner, space)
            })
            .collect()
    }

    pub(super) fn forget(
        &mut self,
        caller: &Caller,
        which: MemoryRef,
        mode: ForgetMode,
    ) -> ExpectedResult<MemoryId> {
        let forgotten = self.find_forgotten(caller, which);
        match mode {
            ForgetMode::Soft => {
                let id = self.editable(caller, which)?;
                self.memory(id).status.forgotten_at = Some(self.now);
                Ok(id)
            }
            ForgetMode::Hard | ForgetMode::Delete => {
                let forgotten = forgotten.filter(|_| mode == ForgetMode::Hard);
                let id =
                    forgotten.map_or_else(|| self.find(caller, which), Ok).map_err(|code| match code {
                        "already_forgotten" => "not_found",
                        code => code,
                    })?;
                self.rules_over(caller, &self.entries[&id].memory)?;
                self.entries.remove(&id);
                self.edges.retain(|(source, target, _), _| *source != id && *target != id);
                self.touches.remove(&id);
                Ok(id)
            }
        }
    }

    /// Resolves names for a caller, each memory once; also returns the names without a memory.
    fn several(
        which: &[MemoryRef],
        look: impl Fn(MemoryRef) -> ExpectedResult<MemoryId>,
    ) -> ExpectedResult<(Vec<MemoryId>, Vec<MemoryRef>)> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for which in which {
            match look(*which) {
                Ok(id) if !found.contains(&id) => found.push(id),
                Err("not_found" | "already_forgotten") if !missing.contains(which) => missing.push(*which),
                Ok(_) | Err("not_found" | "already_forgotten") => {}
                Err(code) => return Err(code),
            }
        }
        Ok((found, missing))
    }

    pub(super) fn forget_many(
        &mut self,
        caller: &Caller,
        which: &[MemoryRef],
        mode: ForgetMode,
    ) -> ExpectedResult<(Vec<MemoryId>, Vec<MemoryRef>)> {
        let (found, missing) = Self::several(which, |which| match mode {
            ForgetMode::Soft => self.editable(caller, which),
            ForgetMode::Hard | ForgetMode::Delete => {
                let forgotten = self.find_forgotten(caller, which).filter(|_| mode == ForgetMode::Hard);
                let id =
                    forgotten.map_or_else(|| self.find(caller, which), Ok).map_err(|code| match code {
                        "already_forgotten" => "not_found",
                        code => code,
                    })?;
                self.rules_over(caller, &self.entries[&id].memory).map(|()| id)
            }
        })?;
        for id in &found {
            self.forget(caller, (*id).into(), mode)?;
        }
        Ok((found, missing))
    }

    /// The memories that a condition selects for a caller who forgets them, newest first.
    pub(super) fn matching(&self, caller: &Caller, asked: &ForgetWhere) -> ExpectedResult<Vec<MemoryId>> {
        let mut filter = asked.filter.clone();
        if filter == Filter::default() {
            return Err("missing_condition");
        }
        self.writes(caller, caller.space)?;
        filter.space = Some(caller.space);
        if filter.states.is_empty() {
            filter.states = vec![State::Processing, State::Active, State::Cooling];
        }
        let found = self.list(caller.viewer.principal, &filter, Sort::Newest);
        if asked.expect.is_some_and(|expect| expect != found.len() as u64) {
            return Err("count_mismatch");
        }
        if asked.request.mode != ForgetMode::Soft {
            found.iter().try_for_each(|id| self.rules_over(caller, &self.entries[id].memory))?;
        }
        Ok(found)
    }

    /// Moves memories as far as it can; where one may not go, the maps are to be put back.
    pub(super) fn relocate(
        &mut self,
        caller: &Caller,
        which: &[MemoryRef],
        to: ModelSpace,
    ) -> ExpectedResult<(Vec<Memory>, Vec<MemoryRef>)> {
        let who = caller.viewer.principal;
        if self.role(who, to.id).is_none() && who != PrincipalId::USER {
            return Err("space_not_found");
        }
        self.writes(caller, to.id)?;
        let (found, missing) = Self::several(which, |which| self.find(caller, which))?;
        for id in &found {
            let memory = self.entries[id].memory.clone();
            if memory.space == to.id {
                continue;
            }
            self.rules_over(caller, &memory)?;
            if to.kind == SpaceKind::Group && memory.fields.boundary > Boundary::Hub {
                return Err("boundary_too_wide");
            }
            let mut future = Memory { space: to.id, ..memory };
            if self.held(&future) {
                return Err("duplicate");
            }
            let number = self.numbers.entry(to.id).or_insert(0);
            *number += 1;
            future.number = Some(MemoryNumber(*number));
            *self.memory(*id) = future;
        }
        Ok((found.into_iter().map(|id| self.said(who, id)).collect(), missing))
    }

    pub(super) fn restore(&mut self, caller: &Caller, which: MemoryRef) -> ExpectedResult<MemoryId> {
        let Some(id) = self.find_forgotten(caller, which) else {
            return self.find(caller, which);
        };
        let mut memory = self.entries[&id].memory.clone();
        self.writes(caller, memory.space)?;
        // A path that another memory has by now stays there.
        for path in memory.provenance.paths().to_vec() {
            let mut alone = memory.clone();
            (alone.fields.key, alone.place.conversation) = (None, Some("of no content".to_owned()));
            alone.provenance.set_sources(Sources { paths: vec![path.clone()], without_path: false });
            if self.held(&alone) {
                memory
                    .provenance
                    .set_sources(memory.provenance.sources().without(&path).unwrap_or(Sources::NONE));
            }
        }
        if self.held(&memory) {
            return Err("duplicate");
        }
        memory.status.forgotten_at = None;
        *self.memory(id) = memory;
        Ok(id)
    }

    pub(super) fn shift(
        &mut self,
        caller: &Caller,
        which: MemoryRef,
        step: impl FnOnce(&mut Status, Timestamp),
    ) -> ExpectedResult<Status> {
        let id = self.editable(caller, which)?;
        let now = self.now;
        let memory = self.memory(id);
        step(&mut memory.status, now);
        Ok(memory.status)
    }

    pub(super) fn link(
        &mut self,
        source: MemoryId,
        target: MemoryId,
        relation: Relation,
        weight: Option<f64>,
    ) -> Association {
        let weight = weight.map_or(Weight::DEFAULT, |weight| Weight::new(weight).expect("within bounds"));
        let now = self.now;
        let edge = self.edges.entry((source, target, relation)).or_insert(Association {
            source,
            target,
            relation,
            weight,
            linked_by: LinkedBy::Caller,
            created_at: now,
        });
        edge.weight = weight;
        *edge
    }

    pub(super) fn associate(
        &mut self,
        caller: &Caller,
        source: MemoryRef,
        request: &AssociationRequest,
    ) -> ExpectedResult<Association> {
        let from = self.editable(caller, source)?;
        let to = self.find(caller, request.target)?;
        if from == to {
            return Err("self_association");
        }
        let relation = request.relation.unwrap_or(Relation::RelatedTo);
        if relation == Relation::Updates {
            self.writes(caller, self.entries[&to].memory.space)?;
            self.retract(caller.viewer.principal, from, to);
        }
        Ok(self.link(from, to, relation, request.weight))
    }

    pub(super) fn dissociate(
        &mut self,
        caller: &Caller,
        source: MemoryRef,
        target: MemoryRef,
    ) -> ExpectedResult<usize> {
        let from = self.editable(caller, source)?;
        let to = self.find(caller, target)?;
        let before = self.edges.len();
        self.edges.retain(|(a, b, _), _| (*a, *b) != (from, to));
        match before - self.edges.len() {
            0 => Err("association_not_found"),
            gone => Ok(gone),
        }
    }

    pub(super) fn note(&mut self, id: MemoryId) {
        let now = self.now;
        let touch = self.touches.entry(id).or_insert((0, now));
        *touch = (touch.0 + 1, now);
    }

    pub(super) fn flush(&mut self) {
        for (id, (count, at)) in std::mem::take(&mut self.touches) {
            let usage = &mut self.memory(id).usage;
            usage.access_count += count;
            usage.accessed_at = usage.accessed_at.max(at);
        }
    }

    /// The ids that a list must give, in order.
    pub(super) fn list(&self, who: PrincipalId, filter: &Filter, sort: Sort) -> Vec<MemoryId> {
        let forgotten = filter.forgotten == ForgottenFilter::Only;
        let mut found: Vec<&Memory> = self
            .entries
            .values()
            .map(|entry| &entry.memory)
            .filter(|memory| {
                self.sees(who, memory)
                    && memory.status.forgotten_at.is_some() == forgotten
                    && (!forgotten || memory.owner == who)
                    && filter.space.is_none_or(|space| space == memory.space)
                    && filter.pinned.is_none_or(|pinned| pinned == memory.status.pinned)
                    && (filter.types.is_empty() || filter.types.contains(&memory.fields.class.memory_type))
                    && (filter.states.is_empty() || filter.states.contains(&memory.status.state))
                    && filter.key.as_ref().is_none_or(|key| memory.fields.key.as_ref() == Some(key))
                    && filter.substring.as_ref().is_none_or(|text| {
                        let fields = &memory.fields;
                        [Some(&fields.text.content), fields.text.title.as_ref(), fields.key.as_ref()]
                            .into_iter()
                            .flatten()
                            .any(|field| field.to_lowercase().contains(&text.to_lowercase()))
                    })
            })
            .collect();
        found.sort_by(|a, b| {
            let (one, two) = (&a.usage, &b.usage);
            let by = match sort {
                Sort::Newest | Sort::Oldest => one.created_at.cmp(&two.created_at),
                Sort::Updated => one.updated_at.cmp(&two.updated_at),
                Sort::Accessed => one.accessed_at.cmp(&two.accessed_at),
                Sort::MostAccessed => one.access_count.cmp(&two.access_count),
                Sort::Importance => {
                    let [x, y] = [a, b].map(|memory| memory.fields.class.importance.get());
                    x.total_cmp(&y)
                }
                Sort::Happened => {
                    let [x, y] = [a, b].map(|m| m.fields.span.occurred_at.unwrap_or(m.usage.created_at));
                    x.cmp(&y)
                }
                Sort::Agenda => agenda(a, b),
            };
            let rising = by.then(a.id.cmp(&b.id));
            if sort == Sort::Oldest { rising } else { rising.reverse() }
        });
        found.into_iter().map(|memory| memory.id).collect()
    }
}

/// Returns true if later saves of the same content may be merged into this memory.
fn plain(memory: &Memory) -> bool {
    memory.fields.key.is_none() && memory.place.conversation.is_none()
}

/// Notes that one more file says what a memory says, or somebody without a file.
fn share(memory: &mut Memory, path: Option<&String>) {
    let mut paths = memory.provenance.paths().to_vec();
    let left_behind = paths.is_empty() && memory.status.state == State::Archived;
    let mut without_path = memory.provenance.also_without_path || paths.is_empty();
    match path {
        None => without_path = true,
        Some(path) => {
            without_path &= !left_behind;
            paths.push(path.clone());
        }
    }
    memory.provenance.set_sources(Sources { paths, without_path });
}

/// Orders two memories as the list of open todos does.
fn agenda(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    let stands = |memory: &Memory| {
        let (span, done) = (&memory.fields.span, memory.status.done_at);
        let can_be_done = matches!(memory.fields.class.memory_type, MemoryType::Todo | MemoryType::Goal);
        let ahead = span.occurred_at.filter(|at| *at > memory.usage.created_at);
        let due = span.valid_until.or(span.expires_at).or(ahead).filter(|_| can_be_done);
        (done.is_none(), done, due.map(std::cmp::Reverse))
    };
    let matters = |memory: &Memory| memory.fields.class.importance.get();
    let by = stands(a).cmp(&stands(b)).then(matters(a).total_cmp(&matters(b)));
    by.then(a.usage.created_at.cmp(&b.usage.created_at))
}

pub(super) fn default_boundary(space: SpaceId) -> Boundary {
    if space == SpaceId::DEFAULT { Boundary::Private } else { Boundary::Hub }
}

pub(super) fn importance(value: f64) -> Importance {
    Importance::new(value).expect("within bounds")
}

/// The version that a save makes of an existing one.
pub(super) fn onto(request: &SaveRequest, old: &VersionFields) -> VersionFields {
    patched(
        &UpdateRequest {
            content: Some(request.content.clone()),
            key: request.key.clone().map(Some),
            title: request.title.clone().map(Some),
            importance: request.importance,
            boundary: request.boundary,
            memory_type: request.memory_type,
            ..UpdateRequest::default()
        },
        old,
    )
}

pub(super) fn patched(request: &UpdateRequest, old: &VersionFields) -> VersionFields {
    let mut new = old.clone();
    if let Some(content) = &request.content {
        new.text =
            tulving_core::model::memory::MemoryText { title: old.text.title.clone(), ..build::text(content) };
    }
    if let Some(key) = &request.key {
        new.key.clone_from(key);
    }
    if let Some(title) = &request.title {
        new.text.title.clone_from(title);
        new.auto = new.auto.given(Derivable::Title, true);
    }
    if let Some(memory_type) = request.memory_type {
        let (had, class) = (old.class.memory_type, &mut new.class);
        class.memory_type = memory_type;
        if old.class.kind == classify::kind_of(had) {
            class.kind = classify::kind_of(memory_type);
        }
        if old.class.stability == classify::stability_of(had) {
            class.stability = classify::stability_of(memory_type);
        }
        if old.class.importance == Importance::of(had) {
            class.importance = Importance::of(memory_type);
        }
    }
    if let Some(value) = request.importance {
        new.class.importance = importance(value);
    }
    if let Some(boundary) = request.boundary {
        new.boundary = boundary;
    }
    new
}

/// The memories that update `first` and lead to `last` by what updates them.
fn overtaken(edges: &[Association], first: MemoryId, last: MemoryId) -> Vec<MemoryId> {
    let leads = |from: MemoryId| {
        let (mut met, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(id) = open.pop() {
            let next = edges.iter().filter(|edge| edge.target == id).map(|edge| edge.source);
            open.extend(next.filter(|id| met.insert(*id)));
        }
        met.contains(&last)
    };
    let direct = edges.iter().filter(|edge| edge.target == first).map(|edge| edge.source);
    direct.filter(|by| leads(*by)).collect()
}
