//! Finds the memory that a save would repeat: by key, by source path, by content.
//!
//! What is decided here is checked again inside `apply`, so two processes cannot both insert.

use std::collections::HashMap;

use crate::access::Parts;
use crate::error::{Error, Unique};
use crate::id::{MemoryId, PrincipalId, SpaceId};
use crate::memory::{Attachment, ContentHash, Edition, Memory, Provenance};
use crate::ports::Probe;
use crate::space::Viewer;
use crate::vocabulary::Boundary;

/// What must be unique, and among whom: the owner's private memories, or the shared ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// A key.
    Key(bool, String),
    /// A source path.
    SourcePath(bool, String),
    /// A content, among memories of the very same boundary.
    Content(Boundary, ContentHash),
    /// A file, likewise, by the hash of its bytes.
    Attachment(Boundary, String),
}

impl Slot {
    /// What it is that must be unique.
    pub(crate) fn what(&self) -> Unique {
        match self {
            Self::Key(..) => Unique::Key,
            Self::SourcePath(..) => Unique::SourcePath,
            Self::Content(..) => Unique::Content,
            Self::Attachment(..) => Unique::Attachment,
        }
    }
}

/// The slots that a record takes up.
pub(crate) fn slots(memory: &Memory) -> Vec<Slot> {
    let private = memory.edition.boundary == Boundary::Private;
    let mut slots = Vec::new();
    if let Some(key) = &memory.edition.key {
        slots.push(Slot::Key(private, key.clone()));
    }
    if let Some(path) = &memory.provenance.source_path {
        slots.push(Slot::SourcePath(private, path.clone()));
    }
    if slots.is_empty() && memory.place.conversation.is_none() {
        slots.push(said(memory.edition.boundary, &memory.provenance, memory.edition.text.content_hash));
    }
    slots
}

/// The slot of what is said: by the file where there is one, because what was read from it may be what others say too.
pub(crate) fn said(boundary: Boundary, provenance: &Provenance, content_hash: ContentHash) -> Slot {
    match &provenance.attachment {
        // Those without a name are from before files were told apart.
        Some(Attachment { name: Some(_), hash, .. }) => Slot::Attachment(boundary, hash.clone()),
        _ => Slot::Content(boundary, content_hash),
    }
}

/// What an act has written so far, before it is applied.
#[derive(Default)]
pub(crate) struct Pending {
    memories: HashMap<MemoryId, Memory>,
    slots: HashMap<Slot, MemoryId>,
}

impl Pending {
    /// Remembers a memory as it will be.
    pub(crate) fn note(&mut self, memory: Memory) {
        if let Some(old) = self.memories.remove(&memory.id) {
            for slot in slots(&old) {
                self.slots.remove(&slot);
            }
        }
        for slot in slots(&memory) {
            self.slots.insert(slot, memory.id);
        }
        self.memories.insert(memory.id, memory);
    }

    fn holder(&self, slot: &Slot) -> Option<&Memory> {
        self.slots.get(slot).and_then(|id| self.memories.get(id))
    }
}

/// The memory that already takes up a slot, as the act so far and the store know it.
pub(crate) fn holder(
    parts: &Parts,
    viewer: &Viewer,
    space: SpaceId,
    pending: &Pending,
    slot: &Slot,
) -> Result<Option<Memory>, Error> {
    if let Some(memory) = pending.holder(slot) {
        return Ok(Some(memory.clone()));
    }
    let found = parts.store.twin(viewer, &probe(slot, space, viewer.principal))?;
    // One that the act has changed before and that no longer takes up the slot has given it free.
    Ok(found.filter(|stored| !pending.memories.contains_key(&stored.id)))
}

fn probe(slot: &Slot, space: SpaceId, owner: PrincipalId) -> Probe<'_> {
    let audience = |private| if private { Boundary::Private } else { Boundary::Hub };
    let none = Probe::new(space, owner, Boundary::Hub);
    match slot {
        Slot::Key(private, key) => Probe { boundary: audience(*private), key: Some(key), ..none },
        Slot::SourcePath(private, path) => {
            Probe { boundary: audience(*private), source_path: Some(path), ..none }
        }
        Slot::Content(boundary, hash) => Probe { boundary: *boundary, content_hash: Some(*hash), ..none },
        Slot::Attachment(boundary, hash) => {
            Probe { boundary: *boundary, attachment_hash: Some(hash), ..none }
        }
    }
}

/// Refuses an edition for `memory` that another memory stands in the way of, and names that one.
pub(crate) fn refuse_held(
    parts: &Parts,
    viewer: &Viewer,
    memory: &Memory,
    edition: &Edition,
) -> Result<(), Error> {
    let future = Memory { edition: edition.clone(), ..memory.clone() };
    for slot in slots(&future) {
        let probe = probe(&slot, memory.space, memory.owner);
        refuse(&slot, &future, parts.store.twin(viewer, &probe)?)?;
    }
    Ok(())
}

/// The same in the middle of an act, for a memory as it will be.
pub(crate) fn refuse_taken(
    parts: &Parts,
    viewer: &Viewer,
    pending: &Pending,
    future: &Memory,
) -> Result<(), Error> {
    for slot in slots(future) {
        refuse(&slot, future, holder(parts, viewer, future.space, pending, &slot)?)?;
    }
    Ok(())
}

fn refuse(slot: &Slot, future: &Memory, found: Option<Memory>) -> Result<(), Error> {
    match found.filter(|other| other.id != future.id) {
        None => Ok(()),
        Some(other) => Err(Error::Held { other: other.reference(), what: slot.what() }),
    }
}
