//! Checks what a caller may do: the first step of every path.
//!
//! A memory that the caller may not see gets the same answer as one that does not exist.

use std::collections::HashSet;
use std::sync::Arc;

use crate::model::audit::AuditEntry;
use crate::model::change::{Actor, ChangeSet, RequiredRole, Write};
use crate::model::error::{Error, Field, Invalid, StoreError};
use crate::model::id::{AuditId, MemoryId, MemoryRef, OrgId, PrincipalId, SpaceId};
use crate::model::limits::Limits;
use crate::model::memory::Memory;
use crate::model::request::{Caller, ForgottenFilter};
use crate::model::space::{MemberOf, Space, Viewer};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, Role};
use crate::ports::{Clock, Embedder, Extractor, Files, Index, Objects, Store};
use crate::text::redact::{Redactor, SecretPolicies};

/// The adapters and settings that the engine works with.
pub struct Ports {
    /// Stores everything durable.
    pub store: Arc<dyn Store>,
    /// Computes vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Embedders of earlier models whose vectors may still be in the store. They serve queries until every memory has
    /// vectors of the new model.
    pub former: Vec<Arc<dyn Embedder>>,
    /// Finds candidates for a question.
    pub index: Arc<dyn Index>,
    /// Stores the files that people can read.
    pub files: Arc<dyn Files>,
    /// Stores the files that memories describe.
    pub objects: Arc<dyn Objects>,
    /// Extracts the text of the files that memories describe.
    pub extractor: Arc<dyn Extractor>,
    /// Returns the current time.
    pub clock: Arc<dyn Clock>,
    /// Limits on input.
    pub limits: Limits,
    /// Policy for secrets in the input.
    pub secret_policies: SecretPolicies,
}

impl Ports {
    /// Returns the redactor that applies the space's secrets policy.
    pub(crate) fn redactor(&self, space: &Space) -> Redactor {
        Redactor::new(self.secret_policies.of(space))
    }

    /// Returns the redactor for a space given by its id.
    pub(crate) fn redactor_for(&self, viewer: &Viewer, space: SpaceId) -> Result<Redactor, StoreError> {
        let found = self.store.space(viewer, space)?;
        Ok(Redactor::new(
            found.map_or(self.secret_policies.usual, |(space, _)| self.secret_policies.of(&space)),
        ))
    }
}

/// Maximum number of attempts at a change before the caller gets the conflict error. An attempt fails only if another
/// writer committed first, so only data with many concurrent writers reaches this limit.
const ROUNDS: usize = 20;

/// Runs `act`, and runs it again if another writer committed a conflicting change first.
pub(crate) fn decide_again<T>(mut act: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..ROUNDS {
        match act() {
            Err(Error::Store(StoreError::Conflict(_))) => {}
            done => return done,
        }
    }
    act()
}

/// Builds a set of writes by this caller at this time.
pub(crate) fn changes(
    caller: &Caller,
    at: Timestamp,
    rights: Vec<RequiredRole>,
    writes: Vec<Write>,
) -> ChangeSet {
    let by = Actor { principal: caller.viewer.principal, agent: caller.agent.clone() };
    ChangeSet { by, at, rights, writes }
}

/// Builds a set of writes by the engine itself. The engine needs no rights.
pub(crate) fn own_changes(at: Timestamp, writes: Vec<Write>) -> ChangeSet {
    let by = Actor { principal: PrincipalId::USER, agent: None };
    ChangeSet { by, at, rights: Vec::new(), writes }
}

/// Builds an audit entry for an act of this caller, with no subject yet.
pub(crate) fn audit(caller: &Caller, at: Timestamp, act: AuditAct) -> AuditEntry {
    AuditEntry {
        id: AuditId::mint(at),
        at,
        by: caller.viewer.principal,
        agent: caller.agent.clone(),
        act,
        space: None,
        memory: None,
        private_to: None,
        reason: None,
        detail: None,
    }
}

/// Returns the space of the call.
pub(crate) fn space_of_call(ports: &Ports, caller: &Caller) -> Result<Space, Error> {
    space_by_id(ports, caller, caller.space)?.ok_or_else(|| Error::NoSpace { name: caller.space.to_string() })
}

/// Returns the space of the call, and the right to write in the space.
pub(crate) fn workplace(ports: &Ports, caller: &Caller) -> Result<(Space, RequiredRole), Error> {
    let (space, held) = ports
        .store
        .space(&caller.viewer, caller.space)?
        .ok_or_else(|| Error::NoSpace { name: caller.space.to_string() })?;
    let right = check(caller, Some(&space), space.id, held, Role::Writer)?;
    Ok((space, right))
}

/// Returns true if the caller may read the files, journals and turns of a space. Their boundary is the default boundary
/// of memories in the space: private to the user of the home in the space `default`, open to all members in other
/// spaces. All code that reads files, journals or turns calls this function; for turns and passes, the store repeats
/// the rule in SQL.
pub(crate) fn shares_files(caller: &Caller, space: &Space) -> bool {
    space.default_boundary() != Boundary::Private || caller.viewer.principal == PrincipalId::USER
}

/// Returns the space of the call, and the right to write files in the space.
pub(crate) fn file_workplace(ports: &Ports, caller: &Caller) -> Result<(Space, RequiredRole), Error> {
    let (space, right) = workplace(ports, caller)?;
    if !shares_files(caller, &space) {
        return Err(Error::PrivateFiles { space: space.name });
    }
    Ok((space, right))
}

/// Returns the caller with the identity of the owner of the space's files. A pass needs this to write the statements of
/// other principals into these files.
pub(crate) fn as_file_owner(caller: &Caller, space: &Space) -> Caller {
    let mut caller = caller.clone();
    if space.default_boundary() == Boundary::Private {
        caller.viewer.principal = PrincipalId::USER;
    }
    caller
}

/// Returns a space if it exists and the caller may see it.
pub(crate) fn space_by_id(ports: &Ports, caller: &Caller, id: SpaceId) -> Result<Option<Space>, Error> {
    Ok(ports.store.space(&caller.viewer, id)?.map(|(space, _)| space))
}

/// Finds a space by name or id. If several spaces have the name, a space of the caller's own team comes first.
pub(crate) fn space_named(ports: &Ports, caller: &Caller, name: &str) -> Result<Space, Error> {
    let unknown = || Error::NoSpace { name: crate::model::preview::short(name) };
    // A space cannot have a name in the form of an id, so an id is never ambiguous.
    if let Ok(id) = name.parse() {
        return space_by_id(ports, caller, id)?.ok_or_else(unknown);
    }
    let spaces = ports.store.spaces(&caller.viewer)?;
    let team = spaces.iter().find(|space| space.id == caller.space).map(|space| space.team);
    let named = spaces.into_iter().filter(|space| space.name == name);
    named.min_by_key(|space| Some(space.team) != team).ok_or_else(unknown)
}

/// Returns the right to act in a space with at least `role`, or the error that refuses it.
pub(crate) fn require(
    ports: &Ports,
    caller: &Caller,
    space: SpaceId,
    role: Role,
) -> Result<RequiredRole, Error> {
    let found = ports.store.space(&caller.viewer, space)?;
    let held = found.as_ref().and_then(|(_, held)| *held);
    check(caller, found.as_ref().map(|(found, _)| found), space, held, role)
}

fn check(
    caller: &Caller,
    known: Option<&Space>,
    space: SpaceId,
    held: Option<Role>,
    role: Role,
) -> Result<RequiredRole, Error> {
    if held.is_some_and(|held| held.min(caller.ceiling) >= role) {
        return Ok(RequiredRole { space, role, over: None });
    }
    let place = known.map_or_else(|| "its space".to_owned(), |known| format!("the space `{}`", known.name));
    Err(Error::Denied { need: role, place })
}

/// Returns true if the caller may act on the whole store: an admin of the org with an unrestricted token.
pub(crate) fn is_org_admin(ports: &Ports, caller: &Caller) -> Result<bool, Error> {
    let role = ports.store.role(caller.viewer.principal, MemberOf::Org(OrgId::LOCAL))?;
    Ok(role == Some(Role::Admin) && caller.ceiling == Role::Admin && caller.viewer.within.is_none())
}

/// Returns an error unless the caller is an admin of the org.
pub(crate) fn require_org_admin(ports: &Ports, caller: &Caller) -> Result<(), Error> {
    if is_org_admin(ports, caller)? {
        Ok(())
    } else {
        Err(Error::Denied { need: Role::Admin, place: "the org".to_owned() })
    }
}

/// Finds a memory that the caller may see and that is not forgotten. Only callers who may restore a forgotten memory
/// learn that it is forgotten.
pub(crate) fn find(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    // A memory may be restored between the two lookups, so both lookups are tried twice.
    for _ in 0..2 {
        if let Some(memory) =
            ports.store.memory(&caller.viewer, caller.space, which, ForgottenFilter::Without)?
        {
            return Ok(memory);
        }
        if find_forgotten(ports, caller, which)?.is_some() {
            return Err(Error::Forgotten { which });
        }
    }
    Err(absent(ports, caller, which)?)
}

/// Finds a forgotten memory that the caller may still reach.
pub(crate) fn find_forgotten(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
) -> Result<Option<Memory>, Error> {
    Ok(ports.store.memory(&caller.viewer, caller.space, which, ForgottenFilter::Only)?)
}

/// Builds the error for a missing memory. If the reference is a number, the error names the space in which the number
/// was looked up.
pub(crate) fn absent(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Error, Error> {
    let space = match which {
        MemoryRef::Number(_) => space_by_id(ports, caller, caller.space)?.map(|space| space.name),
        MemoryRef::Id(_) | MemoryRef::Foreign(_) => None,
    };
    Ok(Error::NoMemory { which, space })
}

/// Looks up several memories, and returns each memory once even if several references name it. Also returns the
/// references without a memory. A forgotten memory counts as missing unless `look` finds it.
pub(crate) fn several<T>(
    which: &[MemoryRef],
    limit: usize,
    mut look: impl FnMut(MemoryRef) -> Result<(MemoryId, T), Error>,
) -> Result<(Vec<T>, Vec<MemoryRef>), Error> {
    let got = which.len();
    if got > limit {
        return Err(Invalid::TooMany { field: Field::Memories, got, limit }.into());
    }
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for which in which {
        match look(*which) {
            Ok((id, memory)) if seen.insert(id) => found.push(memory),
            Ok(_) => {}
            Err(Error::NoMemory { .. } | Error::Forgotten { .. }) if missing.contains(which) => {}
            Err(Error::NoMemory { .. } | Error::Forgotten { .. }) => missing.push(*which),
            Err(error) => return Err(error),
        }
    }
    Ok((found, missing))
}

/// Returns a memory that the caller may change, and the right to change the memory. Refuses a mirror, because the
/// content of a mirror always comes from its file.
pub(crate) fn find_editable(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
) -> Result<(Memory, RequiredRole), Error> {
    let memory = find(ports, caller, which)?;
    let right = require_in_place(ports, caller, &memory, Role::Writer)?;
    refuse_mirror(&memory)?;
    Ok((memory, right))
}

/// Returns the right to act on a memory with at least `role`. The right is valid only while the memory stays in its
/// space.
pub(crate) fn require_in_place(
    ports: &Ports,
    caller: &Caller,
    memory: &Memory,
    role: Role,
) -> Result<RequiredRole, Error> {
    let right = require(ports, caller, memory.space, role)?;
    Ok(RequiredRole { over: Some(memory.id), ..right })
}

/// Returns the right to do something irreversible to a memory, or to change who sees it. The right belongs to the owner
/// of the memory, who must be a writer in the space, and to admins of the space.
pub(crate) fn require_over(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    memory: &Memory,
) -> Result<RequiredRole, Error> {
    let role = if memory.owner == caller.viewer.principal { Role::Writer } else { Role::Admin };
    require_in_place(ports, caller, memory, role).map_err(|error| match error {
        Error::Denied { need: Role::Admin, .. } => Error::OwnerOrAdmin { which },
        error => error,
    })
}

/// Refuses a memory that mirrors a file.
pub(crate) fn refuse_mirror(memory: &Memory) -> Result<(), Error> {
    match memory.provenance.mirror {
        None => Ok(()),
        Some(mirror) => Err(Error::Mirrored {
            id: memory.id,
            path: memory.provenance.source_path.clone().unwrap_or_default(),
            line: mirror.line,
        }),
    }
}
