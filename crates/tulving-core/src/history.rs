//! Who wrote what, and when: the versions of a memory.

use std::collections::HashMap;

use crate::access::{self, Parts};
use crate::answer::HistoryEntry;
use crate::error::Error;
use crate::id::{MemoryRef, PrincipalId};
use crate::request::Caller;

/// The versions of a memory that the caller may see, newest first.
pub(crate) fn history(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Vec<HistoryEntry>, Error> {
    let memory = access::find(parts, caller, which)?;
    let versions = parts.store.versions(&caller.viewer, memory.id)?;
    let names = names(parts, &versions.iter().map(|record| record.by).collect::<Vec<_>>())?;
    let mut entries: Vec<HistoryEntry> = Vec::with_capacity(versions.len());
    for record in versions {
        let changed = entries.last().map(|before| before.edition.differences(&record.edition));
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
