//! Changes the content of a memory: update and revert. Each change creates a new version; the old version stays
//! readable.

use crate::model::answer::{EditedMemory, Warning};
use crate::model::change::{RequiredRole, Revision, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryRef, Version};
use crate::model::memory::{Memory, Status, Usage, VersionFields};
use crate::model::request::{Caller, UpdateRequest};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, ContentType, State, VersionAct};
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::Source;
use crate::verbs::save::derive::DraftContext;
use crate::verbs::save::{dedupe, embed, intake};
use crate::verbs::succession::{self, PointInTime};

/// Edits a memory. An edit that changes nothing creates no version.
pub(crate) fn update(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    request: &UpdateRequest,
) -> Result<EditedMemory, Error> {
    let patch = intake::read_update(request, ports.limits)?;
    access::decide_again(|| {
        let (memory, right) = access::find_editable(ports, caller, which)?;
        let mut redactor = ports.redactor_for(&caller.viewer, memory.space)?;
        let mut patch = patch.clone();
        patch.withhold(&mut redactor, ports.limits)?;
        if let Some(expected) = request.if_version.filter(|version| *version != memory.version) {
            return Err(Error::Changed { which, expected, found: memory.version });
        }
        patch.check_span(&memory.fields.span)?;
        let right = match patch.boundary {
            Some(boundary) if boundary != memory.fields.boundary => {
                check_audience(ports, caller, which, &memory, &patch)?
            }
            _ => right,
        };
        let fields = patch.onto(&memory.fields, DraftContext::memory(&memory));
        let mut edited = revise(ports, caller, right, memory, fields, VersionAct::Updated)?;
        edited.warnings.splice(0..0, redactor.withheld().warnings());
        Ok(edited)
    })
}

/// Restores an earlier version as a new version. The boundary of the memory does not change.
pub(crate) fn revert(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    version: Version,
) -> Result<EditedMemory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(ports, caller, which)?;
        let versions = ports.store.versions(&caller.viewer, memory.id)?;
        let past = versions
            .into_iter()
            .find(|record| record.version == version)
            .ok_or(Error::NoVersion { which, version })?;
        let fields = VersionFields { boundary: memory.fields.boundary, ..past.fields };
        let stays = file_stays(&memory, &fields);
        let mut reverted = revise(ports, caller, right, memory, fields, VersionAct::Reverted)?;
        reverted.warnings.extend(stays);
        Ok(reverted)
    })
}

/// Returns a warning if the text may no longer match the attached file, because versions do not include the file.
fn file_stays(memory: &Memory, fields: &VersionFields) -> Option<Warning> {
    let attachment = memory.provenance.attachment.as_ref();
    let of_file = attachment.is_some() || fields.text.content_type == ContentType::File;
    let name = attachment.and_then(|attachment| attachment.name.clone());
    (of_file && fields.text.content_hash != memory.fields.text.content_hash)
        .then_some(Warning::FileStays { name })
}

/// Checks a change of the boundary. Only the owner may make a shared memory private, only the owner or an admin may
/// show it to more people, and nobody may open a sealed space.
fn check_audience(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    memory: &Memory,
    patch: &intake::Patch,
) -> Result<RequiredRole, Error> {
    if let Some(space) = access::space_by_id(ports, caller, memory.space)? {
        patch.check_boundary(&space)?;
    }
    if patch.boundary == Some(Boundary::Private) && memory.owner != caller.viewer.principal {
        return Err(Error::OwnerOnly { which });
    }
    access::require_over(ports, caller, which, memory)
}

/// Returns the status after an edit: a cooling memory becomes active, and a memory archived because it expired becomes
/// active if it is no longer expired.
fn stands(memory: &Memory, fields: &VersionFields, now: Timestamp) -> Status {
    let status = memory.status.of_type(fields.class.memory_type);
    match status.state {
        State::Cooling => status.moved(State::Active),
        State::Archived
            if status.ruled_at.is_some()
                && memory.fields.span.has_expired(now)
                && !fields.span.has_expired(now) =>
        {
            status.ruled(State::Active, now)
        }
        _ => status,
    }
}

fn revise(
    ports: &Ports,
    caller: &Caller,
    right: RequiredRole,
    mut memory: Memory,
    fields: VersionFields,
    act: VersionAct,
) -> Result<EditedMemory, Error> {
    succession::settle(ports, caller, [&mut memory], PointInTime::Now(ports.clock.now()))?;
    if fields == memory.fields {
        return Ok(EditedMemory { memory, warnings: Vec::new() });
    }
    dedupe::refuse_held(ports, &caller.viewer, &memory, &fields)?;
    let changed = fields.differs_in_meaning(&memory.fields);
    let source = Source::of(&fields);
    let (chunks, trouble) = match changed.then(|| embed::embed(ports, &[source])) {
        None => (None, None),
        Some((mut chunks, trouble)) => (chunks.pop(), trouble),
    };
    let now = ports.clock.now();
    let status = stands(&memory, &fields, now);
    let revision = Revision {
        id: memory.id,
        from: memory.version,
        act,
        fields: fields.clone(),
        stood: memory.status,
        status,
        chunks,
        attachment: None,
        confirmed: None,
    };
    let writes = vec![Write::Revise(Box::new(revision))];
    ports.store.apply(&access::changes(caller, now, vec![right], writes))?;
    let usage = Usage { updated_at: now, ..memory.usage };
    let memory = Memory { version: memory.version.next(), fields, status, usage, ..memory };
    Ok(EditedMemory { memory, warnings: trouble.into_iter().collect() })
}
