//! Saves a copy of a memory without its secrets, and erases the old memory with all its versions, in one transaction.
//!
//! An edit is not enough, because the version before the edit would still contain the secret. The store moves all links
//! to the copy, even links to memories that the caller may not see, and reveals nothing about them.

use tulving_text::secrets;

use super::single;
use crate::model::change::{NewMemory, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryId, ProposalId, Version};
use crate::model::limits;
use crate::model::memory::{ConversationPlace, Memory, Provenance, Usage, VersionFields};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Derivable};
use crate::text::normalize;
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::Source;
use crate::verbs::save::derive::DraftContext;
use crate::verbs::save::{dedupe, embed, intake};
use crate::verbs::status;

/// The reason, for the audit.
const REASON: &str = "a copy without its secrets took its place";

/// Replaces a memory by a copy without secrets, if the memory still has the version that was checked.
pub(super) fn replace(
    ports: &Ports,
    caller: &Caller,
    proposal: ProposalId,
    (id, version): (MemoryId, Version),
) -> Result<Memory, Error> {
    access::decide_again(|| {
        let old = access::find(ports, caller, id.into())?;
        let right = access::require_over(ports, caller, old.reference(), &old)?;
        access::refuse_mirror(&old)?;
        if old.version != version {
            return Err(Error::NoProposal { id: proposal });
        }
        let now = ports.clock.now();
        let new = copy(&old, now);
        refuse_held(ports, caller, &old, &new)?;
        let (mut chunks, _) = embed::embed(ports, &[Source::of(&new.fields)]);
        let chunks = chunks.pop().unwrap_or_default();
        let audit = status::audit(caller, now, AuditAct::Erased, &old, Some(REASON.to_owned()), None);
        let copy = Box::new(NewMemory { memory: new.clone(), chunks });
        let writes = vec![Write::Replace { id, from: version, new: copy }, Write::Audit(audit)];
        let applied = ports.store.apply(&access::changes(caller, now, vec![right], writes))?;
        Ok(Memory { number: applied.numbers.first().copied().flatten(), ..new })
    })
}

/// Returns a new memory without the secrets, otherwise unchanged.
fn copy(old: &Memory, now: Timestamp) -> Memory {
    let clean = |text: &Option<String>| text.as_deref().map(|text| secrets::redacted(text).into_owned());
    let provenance = Provenance {
        source_agent: clean(&old.provenance.source_agent),
        assisted_by_agent: clean(&old.provenance.assisted_by_agent),
        ..old.provenance.clone()
    };
    let place = ConversationPlace {
        conversation: clean(&old.place.conversation),
        speaker: clean(&old.place.speaker),
        ..old.place.clone()
    };
    Memory {
        id: MemoryId::mint(now),
        number: None,
        version: Version::FIRST,
        fields: redacted(old),
        provenance,
        place,
        usage: Usage { updated_at: now, ..old.usage },
        superseded_by: None,
        ..old.clone()
    }
}

fn redacted(old: &Memory) -> VersionFields {
    let (fields, text) = (&old.fields, &old.fields.text);
    let clean = |text: &str| secrets::redacted(text).into_owned();
    // The placeholder of a secret may be longer than the secret.
    let line = |text: &str, limit: usize| normalize::left_of_line(&clean(text), limit);
    let given = |field: Derivable, text: &Option<String>, limit: usize| {
        text.as_deref().filter(|_| !fields.auto.has(field)).map(|text| line(text, limit))
    };
    let tag = |tag: &String| line(tag, limits::TAG_CHARS);
    let patch = intake::Patch {
        content: Some(clean(&text.content)),
        title: given(Derivable::Title, &text.title, limits::TITLE_CHARS),
        summary: given(Derivable::Summary, &text.summary, limits::SUMMARY_CHARS),
        tags: (!fields.auto.has(Derivable::Tags)).then(|| text.tags.iter().filter_map(tag).collect()),
        ..intake::Patch::default()
    };
    let mut new = patch.onto(fields, DraftContext::memory(old));
    for (_, text, limit) in new.lines_mut() {
        *text = text.take().and_then(|text| line(&text, limit));
    }
    if !single::is_clean(&new) {
        // A derived tag may contain a secret even if the content contains none.
        new.text.tags.retain(|tag| secrets::find(tag).is_empty());
    }
    new
}

/// Refuses the copy if a memory other than the old memory already has one of its slots.
fn refuse_held(ports: &Ports, caller: &Caller, old: &Memory, new: &Memory) -> Result<(), Error> {
    for slot in dedupe::slots(new) {
        let pending = dedupe::PendingMemories::default();
        let found = dedupe::holder(ports, &caller.viewer, new.space, &pending, &slot)?;
        if let Some(other) = found.filter(|other| other.id != old.id) {
            return Err(Error::Held { other: other.reference(), what: slot.what() });
        }
    }
    Ok(())
}
