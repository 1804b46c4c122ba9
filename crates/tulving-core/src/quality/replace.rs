//! Saves a memory anew without its secrets and erases the old one with all its versions, as one act.
//!
//! An edit would not do: the version before it would still hold the secret. Links stay, also those to memories that the caller does
//! not see: they are moved in the store, and nothing of them is told.

use super::look;
use crate::access::{self, Parts};
use crate::change::{NewMemory, Write};
use crate::embedding::Source;
use crate::error::Error;
use crate::id::{MemoryId, ProposalId, Version};
use crate::limits;
use crate::memory::{Edition, Memory, Place, Provenance, Usage};
use crate::request::Caller;
use crate::save::derive::About;
use crate::save::{dedupe, embed, intake};
use crate::standing;
use crate::text::{normalize, secrets};
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Derivable};

/// Why, for the audit.
const REASON: &str = "a copy without its secrets took its place";

/// Puts a memory without secrets in the place of one, where that still has the version that was looked at.
pub(super) fn replace(
    parts: &Parts,
    caller: &Caller,
    proposal: ProposalId,
    (id, version): (MemoryId, Version),
) -> Result<Memory, Error> {
    access::decide_again(|| {
        let old = access::find(parts, caller, id.into())?;
        let right = access::require_over(parts, caller, old.reference(), &old)?;
        access::refuse_mirror(&old)?;
        if old.version != version {
            return Err(Error::NoProposal { id: proposal });
        }
        let now = parts.clock.now();
        let new = copy(&old, now);
        refuse_held(parts, caller, &old, &new)?;
        let (mut chunks, _) = embed::embed(parts, &[Source::of(&new.edition)]);
        let chunks = chunks.pop().unwrap_or_default();
        let audit = standing::audit(caller, now, AuditAct::Erased, &old, Some(REASON.to_owned()), None);
        let copy = Box::new(NewMemory { memory: new.clone(), chunks });
        let writes = vec![Write::Replace { id, from: version, new: copy }, Write::Audit(audit)];
        let applied = parts.store.apply(&access::changes(caller, now, vec![right], writes))?;
        Ok(Memory { number: applied.numbers.first().copied().flatten(), ..new })
    })
}

/// The memory without its secrets: new, and for the rest as it was.
fn copy(old: &Memory, now: Timestamp) -> Memory {
    let clean = |text: &Option<String>| text.as_deref().map(|text| secrets::redacted(text).into_owned());
    let provenance =
        Provenance { assisted_by_agent: clean(&old.provenance.assisted_by_agent), ..old.provenance.clone() };
    let place = Place {
        conversation: clean(&old.place.conversation),
        speaker: clean(&old.place.speaker),
        ..old.place.clone()
    };
    Memory {
        id: MemoryId::mint(now),
        number: None,
        version: Version::FIRST,
        edition: redacted(old),
        provenance,
        place,
        usage: Usage { updated_at: now, ..old.usage },
        superseded_by: None,
        ..old.clone()
    }
}

fn redacted(old: &Memory) -> Edition {
    let (edition, text) = (&old.edition, &old.edition.text);
    let clean = |text: &str| secrets::redacted(text).into_owned();
    // The kind of a secret may be longer than the secret.
    let line = |text: &str, limit: usize| normalize::left_of_line(&clean(text), limit);
    let given = |field: Derivable, text: &Option<String>, limit: usize| {
        text.as_deref().filter(|_| !edition.auto.has(field)).map(|text| line(text, limit))
    };
    let tag = |tag: &String| line(tag, limits::TAG_CHARS);
    let patch = intake::Patch {
        content: Some(clean(&text.content)),
        title: given(Derivable::Title, &text.title, limits::TITLE_CHARS),
        summary: given(Derivable::Summary, &text.summary, limits::SUMMARY_CHARS),
        tags: (!edition.auto.has(Derivable::Tags)).then(|| text.tags.iter().filter_map(tag).collect()),
        key: edition.key.as_deref().map(|key| line(key, limits::KEY_CHARS)),
        source_note: edition.source_note.as_deref().map(|note| line(note, limits::NOTE_CHARS)),
        ..intake::Patch::default()
    };
    let mut new = patch.onto(edition, About::memory(old));
    new.text.language = new.text.language.and_then(|language| line(&language, limits::TAG_CHARS));
    if !look::is_clean(&new) {
        // What was made from the content by rules may show a secret where the content shows none.
        new.text.title = new.text.title.and_then(|title| line(&title, limits::TITLE_CHARS));
        new.text.summary = new.text.summary.and_then(|summary| line(&summary, limits::SUMMARY_CHARS));
        new.text.tags.retain(|tag| secrets::find(tag).is_empty());
    }
    new
}

/// Refuses what another memory than the old one has already.
fn refuse_held(parts: &Parts, caller: &Caller, old: &Memory, new: &Memory) -> Result<(), Error> {
    for slot in dedupe::slots(new) {
        let pending = dedupe::Pending::default();
        let found = dedupe::holder(parts, &caller.viewer, new.space, &pending, &slot)?;
        if let Some(other) = found.filter(|other| other.id != old.id) {
            return Err(Error::Held { other: other.reference(), what: slot.what() });
        }
    }
    Ok(())
}
