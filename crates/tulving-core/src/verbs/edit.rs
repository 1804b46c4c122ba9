//! Changes the content of a memory: update and revert. Each makes a new version; the old one stays readable.

use crate::model::answer::{Edited, Warning};
use crate::model::change::{Revision, Right, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryRef, Version};
use crate::model::memory::{Edition, Memory, Standing, Usage};
use crate::model::request::{Caller, UpdateRequest};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, ContentType, State, VersionAct};
use crate::verbs::access::{self, Parts};
use crate::verbs::embedding::Source;
use crate::verbs::save::derive::About;
use crate::verbs::save::{dedupe, embed, intake};
use crate::verbs::succession::{self, Moment};

/// Edits a memory. An edit that changes nothing makes no version.
pub(crate) fn update(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    request: &UpdateRequest,
) -> Result<Edited, Error> {
    let patch = intake::read_update(request, parts.limits)?;
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        let mut sieve = parts.sieve_of(&caller.viewer, memory.space)?;
        let mut patch = patch.clone();
        patch.withhold(&mut sieve, parts.limits)?;
        if let Some(expected) = request.if_version.filter(|version| *version != memory.version) {
            return Err(Error::Changed { which, expected, found: memory.version });
        }
        patch.check_span(&memory.edition.span)?;
        let right = match patch.boundary {
            Some(boundary) if boundary != memory.edition.boundary => {
                check_audience(parts, caller, which, &memory, &patch)?
            }
            _ => right,
        };
        let edition = patch.onto(&memory.edition, About::memory(&memory));
        let mut edited = revise(parts, caller, right, memory, edition, VersionAct::Updated)?;
        edited.warnings.splice(0..0, sieve.withheld().warnings());
        Ok(edited)
    })
}

/// Restores an earlier version as a new one. The boundary stays as it is now.
pub(crate) fn revert(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    version: Version,
) -> Result<Edited, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        let versions = parts.store.versions(&caller.viewer, memory.id)?;
        let past = versions
            .into_iter()
            .find(|record| record.version == version)
            .ok_or(Error::NoVersion { which, version })?;
        let edition = Edition { boundary: memory.edition.boundary, ..past.edition };
        let stays = file_stays(&memory, &edition);
        let mut reverted = revise(parts, caller, right, memory, edition, VersionAct::Reverted)?;
        reverted.warnings.extend(stays);
        Ok(reverted)
    })
}

/// Returns a warning if text and file may no longer belong together, because versions do not include the file.
fn file_stays(memory: &Memory, edition: &Edition) -> Option<Warning> {
    let attachment = memory.provenance.attachment.as_ref();
    let of_file = attachment.is_some() || edition.text.content_type == ContentType::File;
    let name = attachment.and_then(|attachment| attachment.name.clone());
    (of_file && edition.text.content_hash != memory.edition.text.content_hash)
        .then_some(Warning::FileStays { name })
}

/// Checks a change of the boundary. Only the owner may make a shared memory private, only the owner or an admin may
/// show it to more people, and nobody may open a sealed space.
fn check_audience(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    memory: &Memory,
    patch: &intake::Patch,
) -> Result<Right, Error> {
    if let Some(space) = access::space_by_id(parts, caller, memory.space)? {
        patch.check_boundary(&space)?;
    }
    if patch.boundary == Some(Boundary::Private) && memory.owner != caller.viewer.principal {
        return Err(Error::OwnerOnly { which });
    }
    access::require_over(parts, caller, which, memory)
}

/// Returns the status after an edit: a cooling memory becomes active, and one archived by expiry comes back if it no
/// longer is expired.
fn stands(memory: &Memory, edition: &Edition, now: Timestamp) -> Standing {
    let standing = memory.standing.of_type(edition.class.memory_type);
    match standing.state {
        State::Cooling => standing.moved(State::Active),
        State::Archived
            if standing.ruled_at.is_some()
                && memory.edition.span.has_expired(now)
                && !edition.span.has_expired(now) =>
        {
            standing.ruled(State::Active, now)
        }
        _ => standing,
    }
}

fn revise(
    parts: &Parts,
    caller: &Caller,
    right: Right,
    mut memory: Memory,
    edition: Edition,
    act: VersionAct,
) -> Result<Edited, Error> {
    succession::settle(parts, caller, [&mut memory], Moment::Now(parts.clock.now()))?;
    if edition == memory.edition {
        return Ok(Edited { memory, warnings: Vec::new() });
    }
    dedupe::refuse_held(parts, &caller.viewer, &memory, &edition)?;
    let changed = edition.differs_in_meaning(&memory.edition);
    let source = Source::of(&edition);
    let (chunks, trouble) = match changed.then(|| embed::embed(parts, &[source])) {
        None => (None, None),
        Some((mut chunks, trouble)) => (chunks.pop(), trouble),
    };
    let now = parts.clock.now();
    let standing = stands(&memory, &edition, now);
    let revision = Revision {
        id: memory.id,
        from: memory.version,
        act,
        edition: edition.clone(),
        stood: memory.standing,
        standing,
        chunks,
        attachment: None,
        vouched: None,
    };
    let writes = vec![Write::Revise(Box::new(revision))];
    parts.store.apply(&access::changes(caller, now, vec![right], writes))?;
    let usage = Usage { updated_at: now, ..memory.usage };
    let memory = Memory { version: memory.version.next(), edition, standing, usage, ..memory };
    Ok(Edited { memory, warnings: trouble.into_iter().collect() })
}
