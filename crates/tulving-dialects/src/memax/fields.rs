//! A memory with all the fields of the memax dialect and the memax service.

use schemars::JsonSchema;
use serde::Serialize;
use tulving_core::model::id::MemoryId;
use tulving_core::model::memory::Memory;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, ContentType, Kind, Origin, Stability, State};
use tulving_core::text::shown;

use crate::words;

/// Formats the id of a memory in the form of this dialect. Every surface accepts this form.
pub fn id(id: MemoryId) -> String {
    format!("mem_{}", id.to_string().replace('-', ""))
}

/// A memory with all its fields.
#[derive(Serialize, JsonSchema)]
pub struct MemaxMemory {
    /// Unique identifier.
    id: String,
    /// The hub this memory lives in.
    hub_id: String,
    /// Who pushed it.
    owner_id: String,
    /// Server-derived or user-provided title.
    title: String,
    /// Short summary; for a short memory, its content.
    summary: String,
    /// The content; in an answer to a query, the best section of a long document.
    content: String,
    /// Its form.
    #[schemars(schema_with = "words::word::<ContentType>")]
    content_type: ContentType,
    /// Hash of the content; used for dedup.
    content_hash: String,
    /// Labels.
    tags: Vec<String>,
    /// The kind: what the content is for.
    #[schemars(schema_with = "words::word::<Kind>")]
    kind: Kind,
    /// The stability: how soon the content goes stale.
    #[schemars(schema_with = "words::word::<Stability>")]
    stability: Stability,
    /// The boundary: who may see it.
    #[schemars(schema_with = "words::word::<Boundary>")]
    boundary: Boundary,
    /// Its lifecycle state.
    #[schemars(schema_with = "words::word::<State>")]
    state: State,
    /// Origin.
    #[schemars(schema_with = "words::word::<Origin>")]
    source: Origin,
    /// Agent that pushed, if any.
    source_agent: Option<String>,
    /// Collaborator agent, for human-authored pushes.
    assisted_by_agent: Option<String>,
    /// The file it comes from.
    source_path: Option<String>,
    /// The line of that file, if it mirrors one.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// How many times the memory has been retrieved.
    access_count: u64,
    /// Incremented on edits.
    version: u32,
    /// Time of the push.
    created_at: String,
    /// Time of the last edit.
    updated_at: String,
    /// Time of the last retrieval.
    accessed_at: String,
}

impl MemaxMemory {
    /// Replaces the content with another text.
    pub fn with_content(self, content: &str) -> Self {
        Self { content: content.to_owned(), ..self }
    }
}

/// Returns all fields of a memory. A memory whose time to live has passed is returned as archived, according to its
/// lifecycle.
pub fn fields(memory: &Memory, now: Timestamp) -> MemaxMemory {
    let (fields, provenance, usage) = (&memory.fields, &memory.provenance, &memory.usage);
    MemaxMemory {
        id: id(memory.id),
        hub_id: memory.space.to_string(),
        owner_id: memory.owner.to_string(),
        title: shown::shown_title(memory),
        summary: shown::shown_summary(memory),
        content: fields.text.content.clone(),
        content_type: fields.text.content_type,
        content_hash: fields.text.content_hash.to_string(),
        tags: fields.text.tags.clone(),
        kind: fields.class.kind,
        stability: fields.class.stability,
        boundary: fields.boundary,
        state: memory.state_at(now),
        source: provenance.origin,
        source_agent: provenance.source_agent.clone(),
        assisted_by_agent: provenance.assisted_by_agent.clone(),
        source_path: provenance.source_path.clone(),
        line: provenance.mirror.map(|mirror| mirror.line),
        access_count: usage.access_count,
        version: memory.version.0,
        created_at: usage.created_at.to_string(),
        updated_at: usage.updated_at.to_string(),
        accessed_at: usage.accessed_at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use tulving_core::model::id::MemoryRef;

    use super::*;

    #[test]
    fn a_memax_id_names_its_memory() {
        let memory = MemoryId::mint(Timestamp::from_micros(1_700_000_000_000_000));
        assert!(id(memory).starts_with("mem_"));
        assert_eq!(id(memory).parse(), Ok(MemoryRef::Id(memory)));
    }
}
