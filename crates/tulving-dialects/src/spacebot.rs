//! The spacebot dialect: typed memories, associations, and recall by reciprocal rank fusion.

use std::fmt::Write as _;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::Hit;
use tulving_core::model::error::{Class, Error};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{
    AssociationRequest, Filter, ForgetMode, ForgetRequest, Fusion, Mode, RecallQuestion, RecallRequest,
    SaveRequest, Sort,
};
use tulving_core::model::time::{Timestamp, Zone};
use tulving_core::model::vocabulary::{MemoryType, Relation};
use tulving_core::rank::decay;
use tulving_core::{model::limits, model::preview};

use crate::argument::{MemoryRefArgument, WholeNumber, within};
use crate::document::Excerpt;
use crate::tool::{self, DialectTool, ToolContext, ToolEffect, ToolError};
use crate::words;

/// Maximum length of a content, in bytes.
const CONTENT_BYTES: usize = limits::SAVED_BYTES;
/// Default and maximum number of memories in a recall.
const USUAL: i64 = 10;
const MOST: i64 = 50;
/// Maximum number of characters of a content that the summary repeats.
const SUMMARISED: usize = 300;

/// The types, in the order in which the tools list them.
pub const TYPES: [MemoryType; 8] = [
    MemoryType::Fact,
    MemoryType::Preference,
    MemoryType::Decision,
    MemoryType::Identity,
    MemoryType::Event,
    MemoryType::Observation,
    MemoryType::Goal,
    MemoryType::Todo,
];

/// Returns the type under which a memory is shown.
pub fn shown_type(memory_type: MemoryType) -> MemoryType {
    if TYPES.contains(&memory_type) { memory_type } else { MemoryType::Fact }
}

/// Returns the memory types that this dialect shows as the given type.
fn types(of: MemoryType) -> Vec<MemoryType> {
    MemoryType::ALL.iter().copied().filter(|memory_type| shown_type(*memory_type) == of).collect()
}

pub(crate) fn tools() -> Vec<DialectTool> {
    vec![
        DialectTool::data(
            "memory_save",
            "Save a memory",
            ToolEffect::Writes,
            "Write a new memory to the store. Memories are automatically embedded, indexed for search, and linked to \
             similar existing memories. Be concise but complete.",
            save,
        ),
        DialectTool::data(
            "memory_recall",
            "Recall memories",
            ToolEffect::Reads,
            "Search and retrieve memories using hybrid search that combines semantic similarity, full-text keyword \
             matching, and graph traversal. Modes: hybrid (needs a query), recent, important, typed (needs a \
             memory_type).",
            recall,
        ),
        DialectTool::data(
            "memory_delete",
            "Forget a memory",
            ToolEffect::Removes,
            "Soft-delete a memory by marking it as forgotten: it is excluded from all search and recall. Use it when \
             information is outdated and updates associations are not sufficient, when a memory is incorrect, when a \
             user explicitly asks to forget something, or when a memory contradicts newer, more authoritative \
             information.",
            delete,
        ),
    ]
}

fn type_words(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": TYPES.map(MemoryType::as_str) })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpacebotSaveArguments {
    /// The memory content to save. Be concise but complete. Maximum 50,000 bytes.
    content: String,
    /// The type of memory being saved: fact, factual information; preference, user preferences or style choices;
    /// decision, decisions made during conversations; identity, core identity information (exempt from decay); event,
    /// specific events or happenings; observation, patterns or insights observed; goal, goals or objectives; todo, action
    /// items or tasks.
    #[serde(default)]
    #[schemars(schema_with = "type_words", extend("default" = "fact"))]
    memory_type: Option<String>,
    /// Importance score (0.0-1.0). Higher values are recalled more easily. If not provided, uses type-specific
    /// defaults: identity 1.0, decision 0.8, preference 0.7, goal 0.7, fact 0.5, event 0.5, observation 0.4, todo 0.3.
    #[serde(default)]
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// Source information describing where this memory came from, such as "user stated explicitly", "inferred from
    /// conversation", "system observation" or "external research".
    #[serde(default)]
    #[schemars(with = "String")]
    source: Option<String>,
    /// Channel ID of the conversation it came from. Helps with context-aware recall.
    #[serde(default)]
    #[schemars(with = "String")]
    channel_id: Option<String>,
    /// Links to other memories in the graph.
    #[serde(default)]
    #[schemars(with = "Vec<SpacebotAssociation>")]
    associations: Option<Vec<SpacebotAssociation>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpacebotAssociation {
    /// The memory ID to link to.
    target_id: MemoryRefArgument,
    /// Type of relationship: related_to, general relationship; updates, this memory updates or supersedes the target;
    /// contradicts, this memory contradicts the target; caused_by, this memory resulted from the target; result_of, this
    /// memory is a result of the target; part_of, this memory is part of a larger target memory.
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Relation>", extend("default" = "related_to"))]
    relation_type: Option<String>,
    /// Strength of association 0.0-1.0.
    #[serde(default)]
    #[schemars(with = "f64", range(min = 0.0, max = 1.0), extend("default" = 0.5))]
    weight: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct SpacebotSaveReply {
    /// The UUID of the saved memory.
    memory_id: String,
    /// Whether the save was successful.
    success: bool,
    /// Status message.
    message: String,
    /// Parts of the request that were not carried out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn known_type(name: &str) -> Result<MemoryType, ToolError> {
    let found = TYPES.into_iter().find(|known| known.as_str() == name);
    found.ok_or_else(|| {
        let message = format!("unknown memory_type `{}`", preview::short(name));
        let known = TYPES.map(MemoryType::as_str).join(", ");
        ToolError::invalid("unknown_type", "memory_type", message).hinting(format!("use one of {known}"))
    })
}

fn save(context: &ToolContext<'_>, said: SpacebotSaveArguments) -> Result<SpacebotSaveReply, ToolError> {
    if said.content.len() > CONTENT_BYTES {
        let message = format!("content is {} bytes; the maximum is {CONTENT_BYTES}", said.content.len());
        return Err(ToolError::invalid("content_too_long", "content", message)
            .hinting("save the part that matters, or several memories"));
    }
    let links = said.associations.unwrap_or_default();
    if links.len() > limits::ASSOCIATIONS {
        let message =
            format!("there are {} associations; the maximum is {}", links.len(), limits::ASSOCIATIONS);
        return Err(ToolError::invalid("too_many", "associations", message));
    }
    let mut warnings = Vec::new();
    let mut associations = Vec::new();
    for link in links {
        let relation = link.relation_type.as_deref().map(known_relation).transpose()?;
        if let Some(weight) = link.weight.filter(|weight| !(0.0..=1.0).contains(weight)) {
            let message = format!("weight is {weight}; give 0.0 to 1.0");
            return Err(ToolError::invalid("out_of_range", "associations", message));
        }
        match link.target_id.0.parse() {
            Ok(target) => associations.push(AssociationRequest { target, relation, weight: link.weight }),
            Err(_) => warnings.push(format!(
                "the association with {} was left out: there is no such memory",
                preview::short(&link.target_id.0)
            )),
        }
    }
    let request = SaveRequest {
        memory_type: said.memory_type.as_deref().map(known_type).transpose()?,
        importance: said.importance,
        source_note: said.source,
        conversation: said.channel_id,
        associations,
        ..SaveRequest::new(said.content)
    };
    let receipt = context.engine.save(&context.caller, request)?;
    warnings.extend(tool::warnings(&receipt.warnings));
    Ok(SpacebotSaveReply {
        memory_id: receipt.memory.id.to_string(),
        success: true,
        message: match receipt.changed.as_slice() {
            [] => "Memory saved successfully".to_owned(),
            changes => {
                let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
                format!("Memory saved successfully: it was known, and is updated ({})", changes.join(", "))
            }
        },
        warnings,
    })
}

fn known_relation(name: &str) -> Result<Relation, ToolError> {
    let found = Relation::ALL.iter().copied().find(|known| known.as_str() == name);
    found.ok_or_else(|| {
        let message = format!("unknown relation_type `{}`", preview::short(name));
        ToolError::invalid("unknown_relation", "associations", message)
            .hinting(format!("use one of {}", Relation::WORDS.join(", ")))
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpacebotRecallArguments {
    /// Search query for hybrid mode. Required for hybrid mode, ignored for other modes.
    #[serde(default)]
    #[schemars(with = "String")]
    query: Option<String>,
    /// Maximum number of memories to return (1-50, default 10).
    #[serde(default)]
    #[schemars(with = "WholeNumber", range(min = 1, max = 50), extend("default" = 10))]
    max_results: Option<WholeNumber>,
    /// Filter to a specific memory type. Required for "typed" mode, optional filter for other modes.
    #[serde(default)]
    #[schemars(schema_with = "type_words")]
    memory_type: Option<String>,
    /// Search mode: hybrid combines semantic similarity, keyword matching and graph traversal and requires a query; recent,
    /// most recent memories by creation time; important, highest importance scores; typed, filter by memory_type, which it
    /// requires.
    #[serde(default)]
    #[schemars(schema_with = "modes", extend("default" = "hybrid"))]
    mode: Option<String>,
    /// Sort order for non-hybrid modes: recent, most recent first; importance, highest importance first; most_accessed,
    /// most frequently accessed first.
    #[serde(default)]
    #[schemars(schema_with = "orders", extend("default" = "recent"))]
    sort_by: Option<String>,
}

const MODES: [&str; 4] = ["hybrid", "recent", "important", "typed"];
const ORDERS: [&str; 3] = ["recent", "importance", "most_accessed"];

fn modes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": MODES })
}

fn orders(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ORDERS })
}

#[derive(Serialize, JsonSchema)]
struct SpacebotRecallReply {
    /// The memories, best first.
    memories: Vec<SpacebotRecallHit>,
    /// Total number of results found before curation and max_results limit.
    total_found: u64,
    /// Formatted markdown summary of the memories.
    summary: String,
    /// Parts of the store that could not be searched, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct SpacebotRecallHit {
    /// Memory UUID.
    id: String,
    /// Memory content.
    content: String,
    /// Type of memory.
    memory_type: String,
    /// Importance score 0.0-1.0.
    importance: f64,
    /// ISO 8601 timestamp.
    created_at: String,
    /// Relevance to the query (0.0-1.0).
    relevance_score: f64,
}

fn recall(
    context: &ToolContext<'_>,
    asked: SpacebotRecallArguments,
) -> Result<SpacebotRecallReply, ToolError> {
    let limit = within("max_results", asked.max_results, USUAL, 1..=MOST)?;
    let memory_type = asked.memory_type.as_deref().map(known_type).transpose()?;
    let types = memory_type.map(types).unwrap_or_default();
    let filter = Filter { space: Some(context.caller.space), types, ..Filter::default() };
    let sort = asked.sort_by.as_deref().map(order).transpose()?;
    let mode = asked.mode.as_deref().unwrap_or("hybrid");
    let query = asked.query.filter(|query| !query.trim().is_empty());
    let mode = match (mode, query) {
        ("hybrid", Some(query)) => {
            Mode::Hybrid(Box::new(RecallQuestion { fusion: Fusion::Ranks, ..RecallQuestion::new(query) }))
        }
        ("hybrid", None) => {
            return Err(ToolError::invalid("missing_query", "query", "hybrid mode needs a query")
                .hinting("give a query, or use mode recent, important or typed"));
        }
        ("recent", _) => Mode::Recent,
        ("important", _) => Mode::Important,
        ("typed", _) if memory_type.is_none() => {
            return Err(ToolError::invalid("missing_type", "memory_type", "typed mode needs a memory_type")
                .hinting(format!("use one of {}", TYPES.map(MemoryType::as_str).join(", "))));
        }
        ("typed", _) => Mode::Typed,
        (other, _) => {
            let message = format!("unknown mode `{}`", preview::short(other));
            return Err(ToolError::invalid("unknown_mode", "mode", message)
                .hinting(format!("use one of {}", MODES.join(", "))));
        }
    };
    context.catch_up();
    let answer = context.engine.recall(&context.caller, &RecallRequest { mode, filter, sort, limit })?;
    let now = context.engine.now();
    Ok(SpacebotRecallReply {
        summary: summary(&answer.hits, now, &context.caller.zone),
        memories: answer.hits.iter().map(|hit| shown(hit, now)).collect(),
        total_found: answer.total_found,
        warnings: answer.troubles().collect(),
    })
}

fn order(name: &str) -> Result<Sort, ToolError> {
    match name {
        "recent" => Ok(Sort::Newest),
        "importance" => Ok(Sort::Importance),
        "most_accessed" => Ok(Sort::MostAccessed),
        other => {
            let message = format!("unknown sort_by `{}`", preview::short(other));
            Err(ToolError::invalid("unknown_sort", "sort_by", message)
                .hinting(format!("use one of {}", ORDERS.join(", "))))
        }
    }
}

/// Returns the current importance of a memory: it decreases while the memory is unused and increases with use. The value is
/// rounded, so that a difference of a second does not change it.
fn importance(memory: &Memory, now: Timestamp) -> f64 {
    (decay::importance_at(memory, now) * 1e4).round() / 1e4
}

fn shown(hit: &Hit, now: Timestamp) -> SpacebotRecallHit {
    let memory = &hit.memory;
    SpacebotRecallHit {
        id: memory.id.to_string(),
        content: Excerpt::of_hit(hit).written().into_owned(),
        memory_type: shown_type(memory.fields.class.memory_type).to_string(),
        importance: importance(memory, now),
        created_at: memory.usage.created_at.to_string(),
        relevance_score: hit.relevance_score.get(),
    }
}

/// Formats the memories as Markdown, for a model. The contents are in `memories`: the summary repeats short contents,
/// and the beginning of longer contents.
fn summary(hits: &[Hit], now: Timestamp, zone: &Zone) -> String {
    if hits.is_empty() {
        return "No memories found.".to_owned();
    }
    let mut summary = format!("## Memories ({})\n", hits.len());
    for (place, hit) in (1..).zip(hits) {
        let memory = &hit.memory;
        let superseded = if memory.superseded_by.is_some() { ", superseded" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            summary,
            "\n{place}. **{}** {} (importance {:.2}, relevance {:.2}, {}{superseded}): {}",
            memory.label(),
            shown_type(memory.fields.class.memory_type),
            importance(memory, now),
            hit.relevance_score.get(),
            zone.date(memory.usage.created_at),
            brief(hit),
        );
    }
    summary
}

/// Returns a content for the summary: the complete content if it is short, otherwise its beginning on one line.
fn brief(hit: &Hit) -> String {
    let text = Excerpt::of_hit(hit).text;
    match text.chars().nth(SUMMARISED).is_some() {
        true => preview::cut(text, SUMMARISED),
        false => words::hanging(text, "   "),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SpacebotDeleteArguments {
    /// The ID of the memory to forget (from memory_recall results).
    memory_id: MemoryRefArgument,
    /// Brief reason for forgetting this memory (for audit purposes).
    #[serde(default)]
    #[schemars(with = "String")]
    reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct SpacebotDeleteReply {
    /// Whether the memory was found and forgotten.
    forgotten: bool,
    /// Description of what happened, including a preview of the forgotten memory.
    message: String,
}

fn delete(
    context: &ToolContext<'_>,
    asked: SpacebotDeleteArguments,
) -> Result<SpacebotDeleteReply, ToolError> {
    let missing = |id: &str| SpacebotDeleteReply {
        forgotten: false,
        message: format!("No memory found with ID {}", preview::short(id)),
    };
    let Ok(which) = asked.memory_id.0.parse::<MemoryRef>() else {
        return Ok(missing(&asked.memory_id.0));
    };
    let request = ForgetRequest { mode: ForgetMode::Soft, reason: asked.reason };
    match context.engine.forget(&context.caller, which, &request) {
        Ok(gone) => {
            let said = preview::cut(&gone.memory.fields.text.content, 100);
            let held_back: String =
                tool::warnings(&gone.warnings).iter().map(|why| format!(" ({why})")).collect();
            Ok(SpacebotDeleteReply {
                forgotten: true,
                message: format!("Memory forgotten: \"{said}\"{held_back}"),
            })
        }
        Err(Error::Forgotten { .. }) => Ok(SpacebotDeleteReply {
            forgotten: false,
            message: format!("Memory {} was already forgotten", preview::short(&asked.memory_id.0)),
        }),
        Err(error) if error.class() == Class::Absent => Ok(missing(&asked.memory_id.0)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spacebot_does_not_know_shows_as_fact() {
        for own in TYPES {
            assert_eq!(shown_type(own), own);
        }
        for other in [MemoryType::Project, MemoryType::Person, MemoryType::Routine] {
            assert_eq!(shown_type(other), MemoryType::Fact);
        }
    }
}
