//! Who may do what: the first step of every path.
//!
//! What a caller may not see is answered exactly as what does not exist.

use std::collections::HashSet;
use std::sync::Arc;

use crate::audit::AuditEntry;
use crate::change::{Actor, ChangeSet, Right, Write};
use crate::error::{Error, Field, Invalid, StoreError};
use crate::id::{AuditId, MemoryId, MemoryRef, OrgId, PrincipalId, SpaceId};
use crate::limits::Limits;
use crate::memory::Memory;
use crate::ports::{Clock, Embedder, Extractor, Files, Index, Objects, Store};
use crate::request::{Caller, Forgotten};
use crate::space::{MemberOf, Space, Viewer};
use crate::text::withhold::{Secrecy, Sieve};
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Boundary, Role};

/// What the engine is made of.
pub struct Parts {
    /// Keeps what is true.
    pub store: Arc<dyn Store>,
    /// Makes vectors.
    pub embedder: Arc<dyn Embedder>,
    /// Makes vectors of models that the store may still hold, so that they answer until the last was made anew.
    pub former: Vec<Arc<dyn Embedder>>,
    /// Finds what a question may be about.
    pub index: Arc<dyn Index>,
    /// Keeps the files that people can read.
    pub files: Arc<dyn Files>,
    /// Keeps the files that memories describe.
    pub objects: Arc<dyn Objects>,
    /// Reads the text out of them.
    pub extractor: Arc<dyn Extractor>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Bounds what is taken in.
    pub limits: Limits,
    /// Says what is done with secrets in it.
    pub secrecy: Secrecy,
}

impl Parts {
    /// What holds back what must not be stored in this space.
    pub(crate) fn sieve(&self, space: &Space) -> Sieve {
        Sieve::new(self.secrecy.of(space))
    }

    /// The same where the space is known by its id.
    pub(crate) fn sieve_of(&self, viewer: &Viewer, space: SpaceId) -> Result<Sieve, StoreError> {
        let found = self.store.space(viewer, space)?;
        Ok(Sieve::new(found.map_or(self.secrecy.usual, |(space, _)| self.secrecy.of(&space))))
    }
}

/// How often an act is decided again before its conflict is the answer. Each round means that somebody else got
/// through, so only a hot spot of many writers reaches it.
const ROUNDS: usize = 20;

/// Decides and applies; decides again where somebody else was faster.
pub(crate) fn decide_again<T>(mut act: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..ROUNDS {
        match act() {
            Err(Error::Store(StoreError::Conflict(_))) => {}
            done => return done,
        }
    }
    act()
}

/// A set of writes by this caller at this moment.
pub(crate) fn changes(caller: &Caller, at: Timestamp, rights: Vec<Right>, writes: Vec<Write>) -> ChangeSet {
    let by = Actor { principal: caller.viewer.principal, agent: caller.agent.clone() };
    ChangeSet { by, at, rights, writes }
}

/// A set of writes of the engine's own, for which nobody needs a right.
pub(crate) fn own_changes(at: Timestamp, writes: Vec<Write>) -> ChangeSet {
    let by = Actor { principal: PrincipalId::USER, agent: None };
    ChangeSet { by, at, rights: Vec::new(), writes }
}

/// The audit entry of an act of this caller, about nothing in particular yet.
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

/// The space of the call.
pub(crate) fn space_of_call(parts: &Parts, caller: &Caller) -> Result<Space, Error> {
    space_by_id(parts, caller, caller.space)?.ok_or_else(|| Error::NoSpace { name: caller.space.to_string() })
}

/// The space of the call and the right to write in it.
pub(crate) fn workplace(parts: &Parts, caller: &Caller) -> Result<(Space, Right), Error> {
    let (space, held) = parts
        .store
        .space(&caller.viewer, caller.space)?
        .ok_or_else(|| Error::NoSpace { name: caller.space.to_string() })?;
    let right = check(caller, Some(&space), space.id, held, Role::Writer)?;
    Ok((space, right))
}

/// Returns whether the caller shares the files, journals and turns of a space. They have the boundary that memories get
/// there by default: private to the user of the home in `default`, for all members elsewhere. This is the one rule that
/// every way to them asks; the store has it as SQL for turns and passes.
pub(crate) fn shares_files(caller: &Caller, space: &Space) -> bool {
    space.default_boundary() != Boundary::Private || caller.viewer.principal == PrincipalId::USER
}

/// The space of the call and the right to write files in it.
pub(crate) fn file_workplace(parts: &Parts, caller: &Caller) -> Result<(Space, Right), Error> {
    let (space, right) = workplace(parts, caller)?;
    if !shares_files(caller, &space) {
        return Err(Error::PrivateFiles { space: space.name });
    }
    Ok((space, right))
}

/// The same caller as the one whose files they are, for a pass that writes into them what others said.
pub(crate) fn as_file_owner(caller: &Caller, space: &Space) -> Caller {
    let mut caller = caller.clone();
    if space.default_boundary() == Boundary::Private {
        caller.viewer.principal = PrincipalId::USER;
    }
    caller
}

/// A space that the caller may know of.
pub(crate) fn space_by_id(parts: &Parts, caller: &Caller, id: SpaceId) -> Result<Option<Space>, Error> {
    Ok(parts.store.space(&caller.viewer, id)?.map(|(space, _)| space))
}

/// The space that a caller names, by name or id. Of several with one name, the caller's own team comes first.
pub(crate) fn space_named(parts: &Parts, caller: &Caller, name: &str) -> Result<Space, Error> {
    let unknown = || Error::NoSpace { name: crate::preview::short(name) };
    // A name cannot look like an id, so an id is never somebody's name.
    if let Ok(id) = name.parse() {
        return space_by_id(parts, caller, id)?.ok_or_else(unknown);
    }
    let spaces = parts.store.spaces(&caller.viewer)?;
    let team = spaces.iter().find(|space| space.id == caller.space).map(|space| space.team);
    let named = spaces.into_iter().filter(|space| space.name == name);
    named.min_by_key(|space| Some(space.team) != team).ok_or_else(unknown)
}

/// The right to act in a space as at least `role`, or why not.
pub(crate) fn require(parts: &Parts, caller: &Caller, space: SpaceId, role: Role) -> Result<Right, Error> {
    let found = parts.store.space(&caller.viewer, space)?;
    let held = found.as_ref().and_then(|(_, held)| *held);
    check(caller, found.as_ref().map(|(found, _)| found), space, held, role)
}

fn check(
    caller: &Caller,
    known: Option<&Space>,
    space: SpaceId,
    held: Option<Role>,
    role: Role,
) -> Result<Right, Error> {
    if held.is_some_and(|held| held.min(caller.ceiling) >= role) {
        return Ok(Right { space, role, over: None });
    }
    let place = known.map_or_else(|| "its space".to_owned(), |known| format!("the space `{}`", known.name));
    Err(Error::Denied { need: role, place })
}

/// Whether the caller may act on the whole store: an admin of the org, with a token that is not confined.
pub(crate) fn is_org_admin(parts: &Parts, caller: &Caller) -> Result<bool, Error> {
    let role = parts.store.role(caller.viewer.principal, MemberOf::Org(OrgId::LOCAL))?;
    Ok(role == Some(Role::Admin) && caller.ceiling == Role::Admin && caller.viewer.within.is_none())
}

/// Lets only an admin of the org pass.
pub(crate) fn require_org_admin(parts: &Parts, caller: &Caller) -> Result<(), Error> {
    if is_org_admin(parts, caller)? {
        Ok(())
    } else {
        Err(Error::Denied { need: Role::Admin, place: "the org".to_owned() })
    }
}

/// The memory of that name, where the caller may see it and it is not forgotten. That it is forgotten is said only to
/// those who may restore it.
pub(crate) fn find(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    // Looked at again where it came back between the two looks.
    for _ in 0..2 {
        if let Some(memory) = parts.store.memory(&caller.viewer, caller.space, which, Forgotten::Without)? {
            return Ok(memory);
        }
        if find_forgotten(parts, caller, which)?.is_some() {
            return Err(Error::Forgotten { which });
        }
    }
    Err(absent(parts, caller, which)?)
}

/// The forgotten memory of that name, where the caller may still reach it.
pub(crate) fn find_forgotten(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
) -> Result<Option<Memory>, Error> {
    Ok(parts.store.memory(&caller.viewer, caller.space, which, Forgotten::Only)?)
}

/// The error that says there is no such memory, naming the space where a number was looked up.
pub(crate) fn absent(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Error, Error> {
    let space = match which {
        MemoryRef::Number(_) => space_by_id(parts, caller, caller.space)?.map(|space| space.name),
        MemoryRef::Id(_) => None,
    };
    Ok(Error::NoMemory { which, space })
}

/// Looks at several memories, each once however often and by whatever names it is meant: what was found, and the names of
/// what is not there. What is forgotten is not there either, unless `look` finds it.
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

/// A memory that the caller may change, and the right to do so. A mirror follows its file and is refused.
pub(crate) fn find_editable(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
) -> Result<(Memory, Right), Error> {
    let memory = find(parts, caller, which)?;
    let right = require_in_place(parts, caller, &memory, Role::Writer)?;
    refuse_mirror(&memory)?;
    Ok((memory, right))
}

/// The right to act on a memory as at least `role` where it is, then as now.
pub(crate) fn require_in_place(
    parts: &Parts,
    caller: &Caller,
    memory: &Memory,
    role: Role,
) -> Result<Right, Error> {
    let right = require(parts, caller, memory.space, role)?;
    Ok(Right { over: Some(memory.id), ..right })
}

/// The right to do what cannot be undone to a memory, or to change who sees it: for its owner who may write there, and
/// for an admin of its space.
pub(crate) fn require_over(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    memory: &Memory,
) -> Result<Right, Error> {
    let role = if memory.owner == caller.viewer.principal { Role::Writer } else { Role::Admin };
    require_in_place(parts, caller, memory, role).map_err(|error| match error {
        Error::Denied { need: Role::Admin, .. } => Error::OwnerOrAdmin { which },
        error => error,
    })
}

/// Refuses what follows a file.
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
