//! Editing a memory, and its earlier versions.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tulving_core::model::answer::{Edited, HistoryEntry};
use tulving_core::model::id::Version;
use tulving_core::model::request::UpdateRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, ContentType, Kind, MemoryType, Stability, VersionAct};

use super::memories::MemoryIdArguments;
use super::operation::{Audience, CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput};
use super::shown::{MemoryReply, shown};
use tulving_dialects::argument::WholeNumber;
use tulving_dialects::tool::{self, ToolContext, ToolError};
use tulving_dialects::words;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Patch, "/v1/memories/{id}", "updateMemory", "Edit a memory", update).matching("if_version").saying(
            "What is not named stays; null clears. The old version is kept. With `If-Match`, or `if_version`, it is \
             edited only where it still has that version.",
        ),
        Operation::new(OperationMethod::Get, "/v1/memories/{id}/history", "getHistory", "The versions of a memory", history).read_by(Audience::Relays),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/revert", "revertMemory", "Bring back a version", revert)
            .saying("As a new version; nothing is lost."),
    ]
}

/// What an edit changes. What is not named stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateMemoryArguments {
    /// The version that you saw, where an edit in between shall be an error.
    #[schemars(range(min = 1))]
    if_version: Option<WholeNumber>,
    /// The new content.
    #[schemars(length(min = 1))]
    content: Option<String>,
    /// Its new form.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<ContentType>")]
    content_type: Option<ContentType>,
    /// The language of code, such as rust; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    language: Option<Option<String>>,
    /// Its new key; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    key: Option<Option<String>>,
    /// Its new title; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    title: Option<Option<String>>,
    /// Its new summary; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    summary: Option<Option<String>>,
    /// The new labels, instead of the old.
    tags: Option<Vec<String>>,
    /// Its new type.
    #[serde(default, rename = "type")]
    #[schemars(schema_with = "words::maybe::<MemoryType>")]
    memory_type: Option<MemoryType>,
    /// Its new kind.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Kind>")]
    kind: Option<Kind>,
    /// Its new stability.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Stability>")]
    stability: Option<Stability>,
    /// How much it matters now, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    importance: Option<f64>,
    /// Who may see it from now on.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Boundary>")]
    boundary: Option<Boundary>,
    /// Where it came from; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    source_note: Option<Option<String>>,
    /// When it happened; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(schema_with = "words::maybe_time")]
    occurred_at: Option<Option<Timestamp>>,
    /// From when on it holds; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(schema_with = "words::maybe_time")]
    valid_from: Option<Option<Timestamp>>,
    /// Until when it holds; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(schema_with = "words::maybe_time")]
    valid_until: Option<Option<Timestamp>>,
    /// From when on recall no longer finds it; null takes it away.
    #[serde(default, deserialize_with = "given")]
    #[schemars(schema_with = "words::maybe_time")]
    expires_at: Option<Option<Timestamp>>,
}

/// Distinguishes null, which clears a field, from a missing field.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(input: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

/// A memory after an edit, or one that was restored.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UpdatedMemory")]
pub(super) struct UpdateMemoryReply {
    #[serde(flatten)]
    memory: MemoryReply,
    /// What was asked and not done.
    warnings: Vec<String>,
}

pub(super) fn changed(desk: &ToolContext<'_>, edited: &Edited) -> OperationOutput<UpdateMemoryReply> {
    let memory = shown(&edited.memory, desk.engine.now());
    OperationOutput::from(UpdateMemoryReply { memory, warnings: tool::warnings(&edited.warnings) })
        .of(edited.memory.version)
}

fn update(
    desk: &ToolContext<'_>,
    CombinedInput(this, edit): CombinedInput<MemoryIdArguments, UpdateMemoryArguments>,
) -> Result<OperationOutput<UpdateMemoryReply>, ToolError> {
    let request = UpdateRequest {
        if_version: edit.if_version.map(|number| version("if_version", number)).transpose()?,
        content: edit.content,
        content_type: edit.content_type,
        language: edit.language,
        key: edit.key,
        title: edit.title,
        summary: edit.summary,
        tags: edit.tags,
        memory_type: edit.memory_type,
        kind: edit.kind,
        stability: edit.stability,
        importance: edit.importance,
        boundary: edit.boundary,
        source_note: edit.source_note,
        occurred_at: edit.occurred_at,
        valid_from: edit.valid_from,
        valid_until: edit.valid_until,
        expires_at: edit.expires_at,
    };
    Ok(changed(desk, &desk.engine.update(&desk.caller, this.which()?, &request)?))
}

/// A version of a memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryVersion")]
struct MemoryVersionReply {
    /// Which version.
    version: u32,
    /// Whether it is the one that holds now.
    current: bool,
    /// Why it was written.
    #[schemars(schema_with = "words::word::<VersionAct>")]
    act: VersionAct,
    /// When.
    #[schemars(schema_with = "words::time")]
    at: Timestamp,
    /// By whom, by name.
    by: String,
    /// With which agent.
    agent: Option<String>,
    /// The fields in which it differs from the one before.
    changed: Vec<&'static str>,
    /// What it said.
    content: String,
    /// Whether the content is left out, because those of newer versions fill the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
    /// Its title.
    title: Option<String>,
    /// Its labels.
    tags: Vec<String>,
    /// Its type.
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::word::<MemoryType>")]
    memory_type: MemoryType,
    /// Who could see it.
    #[schemars(schema_with = "words::word::<Boundary>")]
    boundary: Boundary,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryHistory")]
struct MemoryHistoryReply {
    /// The versions, newest first.
    versions: Vec<MemoryVersionReply>,
}

fn history(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryHistoryReply>, ToolError> {
    let entries = desk.engine.history(&desk.caller, this.which()?)?;
    let told = |entry: HistoryEntry| MemoryVersionReply {
        version: entry.version.0,
        current: entry.current,
        act: entry.act,
        at: entry.at,
        by: entry.by_name,
        agent: entry.agent,
        changed: entry.changed,
        content: entry.edition.text.content,
        left_out: entry.left_out,
        title: entry.edition.text.title,
        tags: entry.edition.text.tags,
        memory_type: entry.edition.class.memory_type,
        boundary: entry.edition.boundary,
    };
    Ok(MemoryHistoryReply { versions: entries.into_iter().map(told).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RevertMemoryArguments {
    /// The version to bring back.
    #[schemars(range(min = 1))]
    version: WholeNumber,
}

/// Parses a version number.
fn version(field: &str, number: WholeNumber) -> Result<Version, ToolError> {
    let fits = u32::try_from(number.0).ok().filter(|number| *number > 0);
    fits.map(Version).ok_or_else(|| {
        ToolError::invalid("out_of_range", field, format!("{field} is {}; versions begin with 1", number.0))
    })
}

fn revert(
    desk: &ToolContext<'_>,
    CombinedInput(this, wanted): CombinedInput<MemoryIdArguments, RevertMemoryArguments>,
) -> Result<OperationOutput<UpdateMemoryReply>, ToolError> {
    let edited = desk.engine.revert(&desk.caller, this.which()?, version("version", wanted.version)?)?;
    Ok(changed(desk, &edited))
}
