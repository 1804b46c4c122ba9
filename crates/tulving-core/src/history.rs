//! Who wrote what, and when: the versions of a memory.

use std::collections::HashMap;

use crate::access::{self, Parts};
use crate::answer::HistoryEntry;
use crate::error::Error;
use crate::id::{MemoryRef, PrincipalId};
use crate::memory::Edition;
use crate::request::Caller;

/// The versions of a memory that the caller may see, newest first.
pub(crate) fn history(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Vec<HistoryEntry>, Error> {
    let memory = access::find(parts, caller, which)?;
    let versions = parts.store.versions(&caller.viewer, memory.id)?;
    let names = names(parts, &versions.iter().map(|record| record.by).collect::<Vec<_>>())?;
    let mut entries: Vec<HistoryEntry> = Vec::with_capacity(versions.len());
    for record in versions {
        let changed = entries.last().map(|before| differences(&before.edition, &record.edition));
        entries.push(HistoryEntry {
            version: record.version,
            current: record.version == memory.version,
            act: record.act,
            at: record.at,
            by: record.by,
            by_name: names.get(&record.by).cloned().unwrap_or_else(|| record.by.to_string()),
            agent: record.agent,
            changed: changed.unwrap_or_default(),
            edition: record.edition,
        });
    }
    entries.reverse();
    Ok(entries)
}

/// The names of principals.
pub(crate) fn names(parts: &Parts, ids: &[PrincipalId]) -> Result<HashMap<PrincipalId, String>, Error> {
    let principals = parts.store.principals(ids)?;
    Ok(principals.into_iter().map(|principal| (principal.id, principal.name)).collect())
}

/// The fields in which two editions differ, as they are written in JSON.
fn differences(before: &Edition, after: &Edition) -> Vec<&'static str> {
    let fields = [
        ("content", before.text.content != after.text.content),
        ("content_type", before.text.content_type != after.text.content_type),
        ("title", before.text.title != after.text.title),
        ("summary", before.text.summary != after.text.summary),
        ("tags", before.text.tags != after.text.tags),
        ("key", before.key != after.key),
        ("type", before.class.memory_type != after.class.memory_type),
        ("kind", before.class.kind != after.class.kind),
        ("stability", before.class.stability != after.class.stability),
        ("importance", before.class.importance != after.class.importance),
        ("boundary", before.boundary != after.boundary),
        ("source_note", before.source_note != after.source_note),
        ("occurred_at", before.span.occurred_at != after.span.occurred_at),
        ("valid_from", before.span.valid_from != after.span.valid_from),
        ("valid_until", before.span.valid_until != after.span.valid_until),
        ("expires_at", before.span.expires_at != after.span.expires_at),
    ];
    fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}
