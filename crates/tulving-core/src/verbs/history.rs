//! The versions of a memory, with author and time.

use std::collections::HashMap;

use crate::model::answer::HistoryEntry;
use crate::model::error::Error;
use crate::model::id::{MemoryRef, PrincipalId};
use crate::model::request::Caller;
use crate::verbs::access::{self, Parts};

/// Returns the versions of a memory that the caller may see, newest first. Older ones come without their content once the
/// newer ones fill an answer.
pub(crate) fn history(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Vec<HistoryEntry>, Error> {
    let memory = access::find(parts, caller, which)?;
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let mut bytes = 0;
    parts.store.each_version(&caller.viewer, memory.id, &mut |record| {
        // Done here because the content of this version is needed for the comparison.
        if let Some(newer) = entries.last_mut() {
            newer.changed = record.edition.differences(&newer.edition);
            shorten(newer);
        }
        bytes += record.edition.text.content.len();
        entries.push(HistoryEntry {
            version: record.version,
            current: record.version == memory.version,
            act: record.act,
            at: record.at,
            by: record.by,
            by_name: record.by.to_string(),
            agent: record.agent,
            changed: Vec::new(),
            left_out: bytes > parts.limits.answer_bytes && !entries.is_empty(),
            edition: record.edition,
        });
    })?;
    if let Some(oldest) = entries.last_mut() {
        shorten(oldest);
    }
    let names = names(parts, &entries.iter().map(|entry| entry.by).collect::<Vec<_>>())?;
    for entry in &mut entries {
        if let Some(name) = names.get(&entry.by) {
            entry.by_name.clone_from(name);
        }
    }
    Ok(entries)
}

fn shorten(entry: &mut HistoryEntry) {
    if entry.left_out {
        entry.edition.text.content = String::new();
    }
}

/// Returns the names of principals.
pub(crate) fn names(parts: &Parts, ids: &[PrincipalId]) -> Result<HashMap<PrincipalId, String>, Error> {
    let principals = parts.store.principals(ids)?;
    Ok(principals.into_iter().map(|principal| (principal.id, principal.name)).collect())
}
