//! Finds the memory that a save would repeat: by key, by source path, by content.
//!
//! `apply` checks the decision again, so two processes cannot both insert the same memory.

use std::collections::HashMap;

use crate::model::error::{Error, Unique};
use crate::model::id::{MemoryId, PrincipalId, SpaceId};
use crate::model::memory::{Attachment, ContentHash, Memory, Provenance, VersionFields};
use crate::model::space::Viewer;
use crate::model::vocabulary::Boundary;
use crate::ports::DuplicateQuery;
use crate::verbs::access::Ports;

/// A unique value, and the memories among which it is unique: the private memories of an owner, or the shared memories.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UniqueSlot {
    /// A key. The flag is true among the private memories of the owner.
    Key(bool, String),
    /// A source path. The flag is true among the private memories of the owner.
    SourcePath(bool, String),
    /// A content by its hash, among memories of exactly this boundary.
    Content(Boundary, ContentHash),
    /// A file, by the hash of its bytes, among memories of exactly this boundary.
    Attachment(Boundary, String),
}

impl UniqueSlot {
    /// Returns the kind of value that must be unique.
    pub(crate) fn what(&self) -> Unique {
        match self {
            Self::Key(..) => Unique::Key,
            Self::SourcePath(..) => Unique::SourcePath,
            Self::Content(..) => Unique::Content,
            Self::Attachment(..) => Unique::Attachment,
        }
    }
}

/// Returns the slots that a memory occupies.
pub(crate) fn slots(memory: &Memory) -> Vec<UniqueSlot> {
    let private = memory.fields.boundary == Boundary::Private;
    let mut slots = Vec::new();
    if let Some(key) = &memory.fields.key {
        slots.push(UniqueSlot::Key(private, key.clone()));
    }
    slots.extend(memory.provenance.paths().iter().map(|path| UniqueSlot::SourcePath(private, path.clone())));
    if is_plain(memory) {
        slots.push(said(memory.fields.boundary, &memory.provenance, memory.fields.text.content_hash));
    }
    slots
}

/// Returns true if a memory may represent all memories with the same content. A memory with a key or in a conversation
/// never does.
pub(crate) fn is_plain(memory: &Memory) -> bool {
    memory.fields.key.is_none() && memory.place.conversation.is_none()
}

/// Returns the slots that a memory currently occupies. A forgotten memory occupies no slot.
pub(crate) fn taken_up(memory: &Memory) -> Vec<UniqueSlot> {
    if memory.status.forgotten_at.is_some() { Vec::new() } else { slots(memory) }
}

/// Returns the slot of a content. If the memory has a file, the slot is that of the file, because different files may
/// have the same extracted text.
pub(crate) fn said(boundary: Boundary, provenance: &Provenance, content_hash: ContentHash) -> UniqueSlot {
    match &provenance.attachment {
        // Older versions stored attachments without a name and did not compare files by hash.
        Some(Attachment { name: Some(_), hash, .. }) => UniqueSlot::Attachment(boundary, hash.clone()),
        _ => UniqueSlot::Content(boundary, content_hash),
    }
}

/// The memories that a transaction has written so far.
#[derive(Default)]
pub(crate) struct PendingMemories {
    memories: HashMap<MemoryId, Memory>,
    slots: HashMap<UniqueSlot, MemoryId>,
}

impl PendingMemories {
    /// Records the future state of a memory.
    pub(crate) fn note(&mut self, memory: Memory) {
        if let Some(old) = self.memories.remove(&memory.id) {
            for slot in taken_up(&old) {
                self.slots.remove(&slot);
            }
        }
        for slot in taken_up(&memory) {
            self.slots.insert(slot, memory.id);
        }
        self.memories.insert(memory.id, memory);
    }

    /// Returns the future state of a memory that the transaction has written.
    pub(crate) fn get(&self, id: MemoryId) -> Option<&Memory> {
        self.memories.get(&id)
    }

    fn holder(&self, slot: &UniqueSlot) -> Option<&Memory> {
        self.slots.get(slot).and_then(|id| self.memories.get(id))
    }
}

/// Finds the memory that already occupies a slot, in the transaction so far and in the store.
pub(crate) fn holder(
    ports: &Ports,
    viewer: &Viewer,
    space: SpaceId,
    pending: &PendingMemories,
    slot: &UniqueSlot,
) -> Result<Option<Memory>, Error> {
    held_by(ports, viewer, (space, viewer.principal), pending, slot)
}

/// Finds the memory that occupies a slot of a space and an owner.
fn held_by(
    ports: &Ports,
    viewer: &Viewer,
    (space, owner): (SpaceId, PrincipalId),
    pending: &PendingMemories,
    slot: &UniqueSlot,
) -> Result<Option<Memory>, Error> {
    if let Some(memory) = pending.holder(slot).filter(|memory| memory.space == space) {
        return Ok(Some(memory.clone()));
    }
    let found = ports.store.duplicate(viewer, &duplicate_query(slot, space, owner))?;
    // If the transaction has changed the stored memory, that memory no longer occupies the slot.
    Ok(found.filter(|stored| !pending.memories.contains_key(&stored.id)))
}

fn duplicate_query(slot: &UniqueSlot, space: SpaceId, owner: PrincipalId) -> DuplicateQuery<'_> {
    let audience = |private| if private { Boundary::Private } else { Boundary::Hub };
    let none = DuplicateQuery::new(space, owner, Boundary::Hub);
    match slot {
        UniqueSlot::Key(private, key) => {
            DuplicateQuery { boundary: audience(*private), key: Some(key), ..none }
        }
        UniqueSlot::SourcePath(private, path) => {
            DuplicateQuery { boundary: audience(*private), source_path: Some(path), ..none }
        }
        UniqueSlot::Content(boundary, hash) => {
            DuplicateQuery { boundary: *boundary, content_hash: Some(*hash), ..none }
        }
        UniqueSlot::Attachment(boundary, hash) => {
            DuplicateQuery { boundary: *boundary, attachment_hash: Some(hash), ..none }
        }
    }
}

/// Finds another memory that has a path of `memory`.
pub(crate) fn path_holder(
    ports: &Ports,
    viewer: &Viewer,
    memory: &Memory,
    path: &str,
) -> Result<Option<Memory>, Error> {
    let slot = UniqueSlot::SourcePath(memory.fields.boundary == Boundary::Private, path.to_owned());
    let found = held_by(ports, viewer, (memory.space, memory.owner), &PendingMemories::default(), &slot)?;
    Ok(found.filter(|other| other.id != memory.id))
}

/// Refuses a version of `memory` that conflicts with another memory. The error names the other memory.
pub(crate) fn refuse_held(
    ports: &Ports,
    viewer: &Viewer,
    memory: &Memory,
    fields: &VersionFields,
) -> Result<(), Error> {
    refuse_held_after(ports, viewer, &PendingMemories::default(), memory, fields)
}

/// Like [`refuse_held`], but includes the earlier writes of the transaction.
pub(crate) fn refuse_held_after(
    ports: &Ports,
    viewer: &Viewer,
    pending: &PendingMemories,
    memory: &Memory,
    fields: &VersionFields,
) -> Result<(), Error> {
    let future = Memory { fields: fields.clone(), ..memory.clone() };
    let held = taken_up(memory);
    for slot in slots(&future).into_iter().filter(|slot| !held.contains(slot)) {
        let found = held_by(ports, viewer, (memory.space, memory.owner), pending, &slot)?;
        refuse(&slot, &future, found)?;
    }
    Ok(())
}

/// Like [`refuse_held_after`], but for the future state of a memory that already occupies the slots `held`. Older
/// versions stored several memories with one content in a home; these memories are accepted.
pub(crate) fn refuse_taken(
    ports: &Ports,
    viewer: &Viewer,
    pending: &PendingMemories,
    held: &[UniqueSlot],
    future: &Memory,
) -> Result<(), Error> {
    for slot in slots(future).into_iter().filter(|slot| !held.contains(slot)) {
        refuse(&slot, future, holder(ports, viewer, future.space, pending, &slot)?)?;
    }
    Ok(())
}

fn refuse(slot: &UniqueSlot, future: &Memory, found: Option<Memory>) -> Result<(), Error> {
    match found.filter(|other| other.id != future.id) {
        None => Ok(()),
        Some(other) => Err(Error::Held { other: other.reference(), what: slot.what() }),
    }
}
