//! Screens the results of a backend: accepts only well-formed memories within the limits, from allowed spaces.
//!
//! Invalid memories are dropped and reported. Valid memories that the caller may not see or that do not match the filter are
//! dropped silently, because naming them would reveal that they exist.

use std::collections::HashSet;

use crate::model::answer::FailedBackend;
use crate::model::backend::{BackendItem, BackendMemory, BackendScope};
use crate::model::error::{BackendError, Error};
use crate::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::model::memory::{Memory, Status, Usage};
use crate::model::request::{Caller, Filter};
use crate::model::score::Score;
use crate::model::space::Space;
use crate::model::vocabulary::{Boundary, State, Trust};
use crate::verbs::access::Ports;
use crate::verbs::save::intake;

use super::registry::BackendEntry;
use super::{BackendLocation, Backends};

/// The owner id of memories without an owner.
const NOBODY: PrincipalId = PrincipalId::from_bytes([0; 16]);

/// Screens one backend's answer to one query.
pub(super) struct BackendScreen<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    entry: &'a BackendEntry,
    spaces: Vec<Space>,
    filter: &'a Filter,
    /// True if only the store may use the ids of its memories.
    store_is_primary: bool,
}

/// The results that passed the screen.
#[derive(Default)]
pub(super) struct ScreenedResults {
    /// The memories in the order of the backend, each with the backend's score.
    pub(super) memories: Vec<(Memory, Option<Score>)>,
    /// The number of invalid results, and the reason why the first one is invalid.
    wrong: Option<(usize, String)>,
}

impl ScreenedResults {
    fn blame(&mut self, why: impl FnOnce() -> String) {
        match &mut self.wrong {
            Some((count, _)) => *count += 1,
            none => *none = Some((1, why())),
        }
    }

    /// Returns the error for the invalid results.
    pub(super) fn error(&self) -> Option<BackendError> {
        self.wrong.as_ref().map(|(count, why)| {
            let what = if *count == 1 { "a memory was" } else { "memories were" };
            let count = if *count == 1 { String::new() } else { format!("{count} ") };
            BackendError::Wrong { why: format!("{count}{what} left out: {why}") }
        })
    }

    /// Returns the same error as an entry for an answer.
    pub(super) fn failed(&self, entry: &BackendEntry) -> Vec<FailedBackend> {
        self.error().iter().map(|error| super::failed(&entry.name, error)).collect()
    }
}

impl<'a> BackendScreen<'a> {
    /// Creates a screen for a backend and a filter, limited to the spaces that the caller is a member of. A wider boundary
    /// has no effect: if a backend states that a memory is open to non-members, the statement is not trusted.
    pub(super) fn new(
        ports: &'a Ports,
        backends: &Backends,
        caller: &'a Caller,
        entry: &'a BackendEntry,
        filter: &'a Filter,
    ) -> Result<Self, Error> {
        let visibility = ports.store.visibility(&caller.viewer)?;
        let mut spaces = ports.store.spaces(&caller.viewer)?;
        spaces.retain(|space| {
            visibility.spaces.get(&space.id) == Some(&Boundary::Hub)
                && filter.space.is_none_or(|wanted| wanted == space.id)
        });
        let store_is_primary = matches!(backends.primary().keeps, BackendLocation::BuiltIn);
        Ok(Self { ports, caller, entry, spaces, filter, store_is_primary })
    }

    /// Returns true if the query has no space.
    pub(super) fn is_empty(&self) -> bool {
        self.spaces.is_empty()
    }

    /// Returns the scope of the query.
    pub(super) fn scope(&self) -> BackendScope {
        let spaces = self.spaces.iter().map(|space| space.id).collect();
        BackendScope { spaces, viewer: self.caller.viewer.principal, filter: self.filter.clone() }
    }

    /// Returns the valid memories among the first `limit` that match the filter.
    pub(super) fn pass(&self, given: Vec<BackendItem>, limit: usize) -> Result<ScreenedResults, Error> {
        let mut passed = ScreenedResults::default();
        let mut seen = HashSet::new();
        for given in given.into_iter().take(limit) {
            match given.and_then(|claimed| self.one(*claimed, &mut seen)) {
                Ok(Some(good)) => passed.memories.push(good),
                Ok(None) => {}
                Err(why) => passed.blame(|| why),
            }
        }
        self.drop_the_stores(&mut passed)?;
        Ok(passed)
    }

    /// Drops memories with an id that the store uses: such an id always identifies the store's memory.
    fn drop_the_stores(&self, passed: &mut ScreenedResults) -> Result<(), Error> {
        if !self.store_is_primary || passed.memories.is_empty() {
            return Ok(());
        }
        let ids: Vec<MemoryId> = passed.memories.iter().map(|(memory, _)| memory.id).collect();
        let held = self.ports.store.memories(&self.caller.viewer, &ids)?;
        let held: HashSet<MemoryId> = held.into_iter().map(|memory| memory.id).collect();
        for id in &held {
            passed.blame(|| format!("the id {id} is that of a memory of the primary"));
        }
        passed.memories.retain(|(memory, _)| !held.contains(&memory.id));
        Ok(())
    }

    /// Returns a memory if it is valid and matches the filter; `None` if it is valid but does not match.
    fn one(
        &self,
        claimed: BackendMemory,
        seen: &mut HashSet<MemoryId>,
    ) -> Result<Option<(Memory, Option<Score>)>, String> {
        let space = self.space(claimed.space)?;
        if !seen.insert(claimed.id) {
            return Err(format!("the id {} was given twice", claimed.id));
        }
        let score = claimed.score.map(Score::new).transpose().map_err(|error| error.to_string())?;
        let memory = self.memory(claimed, space).map_err(|error| error.to_string())?;
        Ok((self.is_for_the_caller(&memory) && self.is_meant(&memory)).then_some((memory, score)))
    }

    fn space(&self, id: SpaceId) -> Result<&Space, String> {
        let asked = self.spaces.iter().find(|space| space.id == id);
        asked.ok_or_else(|| "its space was not asked for".to_owned())
    }

    /// Builds a memory from a backend's data, which is parsed like a save request.
    fn memory(&self, claimed: BackendMemory, space: &Space) -> Result<Memory, crate::model::error::Invalid> {
        let mut said = claimed.said;
        let boundary = said.boundary.unwrap_or(Boundary::Hub);
        said.boundary = Some(boundary);
        said.trust = Some(said.trust.unwrap_or(Trust::Shared));
        said.associations.clear();
        let draft = intake::read(said, space, self.ports.limits)?;
        Ok(Memory {
            id: claimed.id,
            number: None,
            space: space.id,
            owner: claimed.owner.unwrap_or(NOBODY),
            version: claimed.version.unwrap_or(Version::FIRST),
            fields: draft.fresh(boundary),
            status: Status { pinned: draft.pinned, ..Status::new(claimed.state.unwrap_or(State::Active)) },
            provenance: draft.provenance,
            place: draft.place,
            usage: Usage {
                created_at: claimed.created_at,
                updated_at: claimed.updated_at.unwrap_or(claimed.created_at),
                accessed_at: claimed.accessed_at.unwrap_or(claimed.created_at),
                access_count: claimed.access_count.unwrap_or(0),
            },
            superseded_by: None,
            backend: Some(self.entry.name.clone()),
            commands: Vec::new(),
            importance_now: None,
            space_name: None,
        })
    }

    fn is_for_the_caller(&self, memory: &Memory) -> bool {
        memory.fields.boundary != Boundary::Private || memory.owner == self.caller.viewer.principal
    }

    fn is_meant(&self, memory: &Memory) -> bool {
        let text = self.filter.substring.as_deref();
        self.filter.admits(memory) && text.is_none_or(|text| holds(memory, text, self.filter.content_only))
    }
}

/// Returns true if a memory contains a text verbatim, ignoring case.
fn holds(memory: &Memory, text: &str, content_only: bool) -> bool {
    let wanted = text.to_lowercase();
    let fields = &memory.fields;
    let beside = [fields.text.title.as_ref(), fields.key.as_ref()].into_iter().flatten();
    let beside = beside.filter(|_| !content_only);
    std::iter::once(&fields.text.content).chain(beside).any(|text| text.to_lowercase().contains(&wanted))
}
