//! Moves memories into another space, as one act.
//!
//! A memory goes as it is: with its boundary, versions, links and times. Who is in the new space may then see it as far as
//! its boundary lets them, and its earlier versions as far as theirs did; who is only in the old one sees it no more. So it
//! takes what changing who sees it takes, and the right to write where it goes.

use crate::access::{self, Parts};
use crate::answer::Relocated;
use crate::change::{Right, Write};
use crate::error::{Error, Invalid};
use crate::id::MemoryRef;
use crate::limits;
use crate::memory::{Edition, Memory};
use crate::request::Caller;
use crate::save::{dedupe, intake};
use crate::space::Space;
use crate::standing;
use crate::text::secrets;
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Role, SecretPolicy};

/// Moves memories into a space: all that are there, or none where one may not go. One that is in the space already stays as
/// it is, and takes no right over it.
pub(crate) fn move_to(
    parts: &Parts,
    caller: &Caller,
    which: &[MemoryRef],
    space: &str,
) -> Result<Relocated, Error> {
    access::decide_again(|| {
        let target = access::space_named(parts, caller, space)?;
        let right = access::require(parts, caller, target.id, Role::Writer)?;
        let (found, missing) = access::several(which, limits::MOVES, |which| {
            let memory = access::find(parts, caller, which)?;
            Ok((memory.id, (which, memory)))
        })?;
        let mut act = Act::new(parts, caller, &target, right);
        for (which, memory) in found {
            act.take(which, memory)?;
        }
        Ok(Relocated { moved: act.apply()?, missing })
    })
}

/// One act in the making.
struct Act<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    target: &'a Space,
    now: Timestamp,
    rights: Vec<Right>,
    writes: Vec<Write>,
    pending: dedupe::Pending,
    /// All of them as they will be, each with whether it has to move.
    memories: Vec<(Memory, bool)>,
}

impl<'a> Act<'a> {
    fn new(parts: &'a Parts, caller: &'a Caller, target: &'a Space, right: Right) -> Self {
        Self {
            parts,
            caller,
            target,
            now: parts.clock.now(),
            rights: vec![right],
            writes: Vec::new(),
            pending: dedupe::Pending::default(),
            memories: Vec::new(),
        }
    }

    /// Decides on one more memory.
    fn take(&mut self, which: MemoryRef, memory: Memory) -> Result<(), Error> {
        if memory.space == self.target.id {
            self.memories.push((memory, false));
            return Ok(());
        }
        self.rights.push(access::require_over(self.parts, self.caller, which, &memory)?);
        access::refuse_mirror(&memory)?;
        intake::refuse_opening(self.target, memory.edition.boundary)?;
        self.refuse_secrets(&memory)?;
        let from = (memory.space, memory.version);
        let left = standing::audit(self.caller, self.now, AuditAct::MovedOut, &memory, None, None);
        let future = Memory { space: self.target.id, number: None, ..memory };
        self.refuse_held(&future)?;
        let came = standing::audit(self.caller, self.now, AuditAct::MovedIn, &future, None, None);
        self.writes.push(Write::Relocate { id: future.id, from, to: self.target.id });
        self.writes.extend([left, came].map(Write::Audit));
        self.pending.note(future.clone());
        self.memories.push((future, true));
        Ok(())
    }

    /// Refuses a secret, of any version, that was kept where they are and is not where it would go.
    fn refuse_secrets(&self, memory: &Memory) -> Result<(), Error> {
        let (parts, viewer) = (self.parts, &self.caller.viewer);
        let there = parts.secrecy.of(self.target);
        let here = parts.store.space(viewer, memory.space)?.map(|(space, _)| parts.secrecy.of(&space));
        let narrower = there == SecretPolicy::Strict || here == Some(SecretPolicy::Off);
        if there == SecretPolicy::Off || !narrower {
            return Ok(());
        }
        let versions = parts.store.versions(viewer, memory.id)?;
        let editions = versions.iter().map(|version| &version.edition).chain([&memory.edition]);
        for (field, text) in editions.flat_map(Edition::texts).chain(memory.texts_beside()) {
            if let Some(secret) = secrets::find(text).first() {
                return Err(Invalid::Secret { field, what: secret.what }.into());
            }
        }
        Ok(())
    }

    /// Refuses what another memory has there already, or will have.
    fn refuse_held(&self, future: &Memory) -> Result<(), Error> {
        for slot in dedupe::slots(future) {
            let (parts, viewer) = (self.parts, &self.caller.viewer);
            let Some(other) = dedupe::holder(parts, viewer, future.space, &self.pending, &slot)? else {
                continue;
            };
            // A number would be looked up in the space of the call.
            let number = other.number.filter(|_| other.space == self.caller.space);
            return Err(Error::Held { other: MemoryRef::of(number, other.id), what: slot.what() });
        }
        Ok(())
    }

    /// Moves them and gives them as they are then.
    fn apply(self) -> Result<Vec<Memory>, Error> {
        let Self { parts, caller, now, rights, writes, mut memories, .. } = self;
        if !writes.is_empty() {
            let applied = parts.store.apply(&access::changes(caller, now, rights, writes))?;
            let going = memories.iter_mut().filter(|(_, moves)| *moves);
            for ((memory, _), number) in going.zip(applied.numbers) {
                memory.number = number;
            }
        }
        Ok(memories.into_iter().map(|(memory, _)| memory).collect())
    }
}
