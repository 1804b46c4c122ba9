//! Texts as they were.

use crate::access::Parts;
use crate::error::Error;
use crate::id::Version;
use crate::memory::Memory;
use crate::request::Caller;
use crate::time::Timestamp;

/// Each memory that was edited since with the text that it had then; what was saved later with its first. Where the
/// caller may see no such version, the memory is left out.
pub(super) fn brought_back(
    parts: &Parts,
    caller: &Caller,
    memories: Vec<Memory>,
    then: Timestamp,
) -> Result<Vec<Memory>, Error> {
    let mut back = Vec::with_capacity(memories.len());
    for mut memory in memories {
        if memory.version > Version::FIRST && memory.usage.updated_at > then {
            let mut versions = parts.store.versions(&caller.viewer, memory.id)?;
            versions.retain(|version| version.at <= then || version.version == Version::FIRST);
            let Some(version) = versions.pop() else {
                continue;
            };
            (memory.version, memory.edition) = (version.version, version.edition);
        }
        back.push(memory);
    }
    Ok(back)
}
