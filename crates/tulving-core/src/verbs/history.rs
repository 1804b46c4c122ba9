//! The versions of a memory, with author and time.

use std::collections::HashMap;

use crate::model::answer::HistoryEntry;
use crate::model::error::Error;
use crate::model::id::{MemoryRef, PrincipalId};
use crate::model::request::Caller;
use crate::verbs::access::{self, Ports};

/// Returns the versions of a memory that the caller may see, newest first. Once the contents of newer versions fill an
/// answer, older versions are returned without their content.
pub(crate) fn history(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Vec<HistoryEntry>, Error> {
    let memory = access::find(ports, caller, which)?;
    let mut entries: Vec<HistoryEntry> = Vec::new();
    let mut bytes = 0;
    ports.store.each_version(&caller.viewer, memory.id, &mut |record| {
        // The comparison needs the content of this version, so it must run before the content may be dropped.
        if let Some(newer) = entries.last_mut() {
            newer.changed = record.fields.differences(&newer.fields);
            shorten(newer);
        }
        bytes += record.fields.text.content.len();
        entries.push(HistoryEntry {
            version: record.version,
            current: record.version == memory.version,
            act: record.act,
            at: record.at,
            by: record.by,
            by_name: record.by.to_string(),
            agent: record.agent,
            changed: Vec::new(),
            left_out: bytes > ports.limits.answer_bytes && !entries.is_empty(),
            fields: record.fields,
        });
    })?;
    if let Some(oldest) = entries.last_mut() {
        shorten(oldest);
    }
    let names = names(ports, &entries.iter().map(|entry| entry.by).collect::<Vec<_>>())?;
    for entry in &mut entries {
        if let Some(name) = names.get(&entry.by) {
            entry.by_name.clone_from(name);
        }
    }
    Ok(entries)
}

fn shorten(entry: &mut HistoryEntry) {
    if entry.left_out {
        entry.fields.text.content = String::new();
    }
}

/// Returns the names of principals.
pub(crate) fn names(ports: &Ports, ids: &[PrincipalId]) -> Result<HashMap<PrincipalId, String>, Error> {
    let principals = ports.store.principals(ids)?;
    Ok(principals.into_iter().map(|principal| (principal.id, principal.name)).collect())
}
