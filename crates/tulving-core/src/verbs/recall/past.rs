//! Restores the past texts of memories.

use crate::model::error::Error;
use crate::model::id::Version;
use crate::model::memory::Memory;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::verbs::access::Ports;

/// Replaces the text of each memory that was edited after `then` by the text that it had at that time. A memory that
/// was saved after that time gets its first text. If the caller may not see the version with this text, the memory is
/// left out.
pub(super) fn brought_back(
    ports: &Ports,
    caller: &Caller,
    memories: Vec<Memory>,
    then: Timestamp,
) -> Result<Vec<Memory>, Error> {
    let mut back = Vec::with_capacity(memories.len());
    for mut memory in memories {
        if memory.version > Version::FIRST && memory.usage.updated_at > then {
            let mut versions = ports.store.versions(&caller.viewer, memory.id)?;
            versions.retain(|version| version.at <= then || version.version == Version::FIRST);
            let Some(version) = versions.pop() else {
                continue;
            };
            (memory.version, memory.fields) = (version.version, version.fields);
        }
        back.push(memory);
    }
    Ok(back)
}
