//! Moves memories to another space, in one transaction.
//!
//! A memory keeps its boundary, versions, links and times. After the move, members of the new space may see the memory
//! and its earlier versions if the boundary of each version allows it; members of only the old space no longer see the
//! memory. So a move needs the right to change who sees the memory, and the right to write in the new space.

use tulving_text::secrets;

use crate::model::answer::MovedMemories;
use crate::model::change::{RequiredRole, Write};
use crate::model::error::{Error, Invalid};
use crate::model::id::MemoryRef;
use crate::model::limits;
use crate::model::memory::{Memory, VersionFields};
use crate::model::request::Caller;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Role, SecretPolicy};
use crate::verbs::access::{self, Ports};
use crate::verbs::save::{dedupe, intake};
use crate::verbs::status;

/// Moves memories to a space. Memories that do not exist are skipped. If one memory may not be moved, none is moved. A
/// memory that is already in the space does not change, and needs no right.
pub(crate) fn move_to(
    ports: &Ports,
    caller: &Caller,
    which: &[MemoryRef],
    space: &str,
) -> Result<MovedMemories, Error> {
    access::decide_again(|| {
        let target = access::space_named(ports, caller, space)?;
        let right = access::require(ports, caller, target.id, Role::Writer)?;
        let (found, missing) = access::several(which, limits::MOVES, |which| {
            let memory = access::find(ports, caller, which)?;
            Ok((memory.id, (which, memory)))
        })?;
        let mut act = MoveBatch::new(ports, caller, &target, right);
        for (which, memory) in found {
            act.take(which, memory)?;
        }
        Ok(MovedMemories { moved: act.apply()?, missing })
    })
}

/// Returns the writes that move a memory back to its earlier space, and the rights that the writes need.
pub(crate) fn back(
    ports: &Ports,
    caller: &Caller,
    now: Timestamp,
    memory: &Memory,
    space: &Space,
) -> Result<(Vec<RequiredRole>, Vec<Write>), Error> {
    let right = access::require(ports, caller, space.id, Role::Writer)?;
    let mut act = MoveBatch { now, ..MoveBatch::new(ports, caller, space, right) };
    act.take(memory.id.into(), memory.clone())?;
    Ok((act.rights, act.writes))
}

/// A transaction under construction.
struct MoveBatch<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    target: &'a Space,
    now: Timestamp,
    rights: Vec<RequiredRole>,
    writes: Vec<Write>,
    pending: dedupe::PendingMemories,
    /// The memories in their future state, each with true if the memory must move.
    memories: Vec<(Memory, bool)>,
}

impl<'a> MoveBatch<'a> {
    fn new(ports: &'a Ports, caller: &'a Caller, target: &'a Space, right: RequiredRole) -> Self {
        Self {
            ports,
            caller,
            target,
            now: ports.clock.now(),
            rights: vec![right],
            writes: Vec::new(),
            pending: dedupe::PendingMemories::default(),
            memories: Vec::new(),
        }
    }

    /// Adds a memory to the transaction.
    fn take(&mut self, which: MemoryRef, memory: Memory) -> Result<(), Error> {
        if memory.space == self.target.id {
            self.memories.push((memory, false));
            return Ok(());
        }
        self.rights.push(access::require_over(self.ports, self.caller, which, &memory)?);
        access::refuse_mirror(&memory)?;
        intake::refuse_opening(self.target, memory.fields.boundary)?;
        self.refuse_secrets(&memory)?;
        let from = (memory.space, memory.version);
        let left = status::audit(self.caller, self.now, AuditAct::MovedOut, &memory, None, None);
        let future = Memory { space: self.target.id, number: None, ..memory };
        self.refuse_held(&future)?;
        let came = status::audit(self.caller, self.now, AuditAct::MovedIn, &future, None, None);
        self.writes.push(Write::Relocate { id: future.id, from, to: self.target.id });
        self.writes.extend([left, came].map(Write::Audit));
        self.pending.note(future.clone());
        self.memories.push((future, true));
        Ok(())
    }

    /// Refuses a memory if any of its versions contains a secret that the old space allowed and the new space does not.
    fn refuse_secrets(&self, memory: &Memory) -> Result<(), Error> {
        let (ports, viewer) = (self.ports, &self.caller.viewer);
        let there = ports.secret_policies.of(self.target);
        let here =
            ports.store.space(viewer, memory.space)?.map(|(space, _)| ports.secret_policies.of(&space));
        let narrower = there == SecretPolicy::Strict || here == Some(SecretPolicy::Off);
        if there == SecretPolicy::Off || !narrower {
            return Ok(());
        }
        let versions = ports.store.versions(viewer, memory.id)?;
        let editions = versions.iter().map(|version| &version.fields).chain([&memory.fields]);
        for (field, text) in editions.flat_map(VersionFields::texts).chain(memory.texts_beside()) {
            if let Some(secret) = secrets::find(text).first() {
                return Err(Invalid::Secret { field, what: secret.what }.into());
            }
        }
        Ok(())
    }

    /// Refuses a memory if another memory has the same slot in the new space, or gets the slot in this transaction.
    fn refuse_held(&self, future: &Memory) -> Result<(), Error> {
        for slot in dedupe::slots(future) {
            let (ports, viewer) = (self.ports, &self.caller.viewer);
            let Some(other) = dedupe::holder(ports, viewer, future.space, &self.pending, &slot)? else {
                continue;
            };
            // A number is looked up in the space of the call, so for a memory in another space the id is shown.
            let number = other.number.filter(|_| other.space == self.caller.space);
            return Err(Error::Held { other: MemoryRef::of(number, other.id), what: slot.what() });
        }
        Ok(())
    }

    /// Moves the memories, and returns them in their new state.
    fn apply(self) -> Result<Vec<Memory>, Error> {
        let Self { ports, caller, now, rights, writes, mut memories, .. } = self;
        if !writes.is_empty() {
            let applied = ports.store.apply(&access::changes(caller, now, rights, writes))?;
            let going = memories.iter_mut().filter(|(_, moves)| *moves);
            for ((memory, _), number) in going.zip(applied.numbers) {
                memory.number = number;
            }
        }
        Ok(memories.into_iter().map(|(memory, _)| memory).collect())
    }
}
