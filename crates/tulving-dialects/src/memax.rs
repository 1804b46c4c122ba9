//! The memax dialect: hubs, kinds, stabilities and lifecycle states. Every answer contains all fields of a memory.

mod fields;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{Hit, SaveOutcome};
use tulving_core::model::error::Class;
use tulving_core::model::preview;
use tulving_core::model::request::{
    Caller, Filter, ForgetMode, ForgetRequest, ListRequest, Mode, RecallQuestion, RecallRequest, SaveRequest,
    Sort,
};
use tulving_core::model::space::{Space, Viewer};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, ContentType, Kind, Origin, Role, Stability, State};

pub use self::fields::{MemaxMemory, fields, id};
use crate::argument::{MemoryRefArgument, WholeNumber, limited, named};
use crate::tool::{self, DialectTool, ToolContext, ToolEffect, ToolError};
use crate::words;

/// Default and maximum number of memories.
const USUAL: i64 = 10;
const MOST: i64 = 100;

pub(crate) fn tools() -> Vec<DialectTool> {
    vec![
        DialectTool::data(
            "memax_push",
            "Push a memory",
            ToolEffect::Writes,
            "Save a piece of knowledge: a doc, decision, snippet or link. The same content is stored once; a push with \
             a source_path that exists updates that memory.",
            push,
        ),
        DialectTool::data(
            "memax_recall",
            "Recall memories",
            ToolEffect::Reads,
            "Search memories by meaning and by word. For a long document the most relevant section is returned.",
            recall,
        ),
        DialectTool::data(
            "memax_get",
            "Get a memory",
            ToolEffect::Reads,
            "Get one memory with all its fields, by id.",
            get,
        ),
        DialectTool::data(
            "memax_list",
            "List memories",
            ToolEffect::Reads,
            "List memories page by page, newest first, filtered by kind, stability, state or tags.",
            list,
        ),
        DialectTool::data(
            "memax_hubs",
            "List hubs",
            ToolEffect::Reads,
            "List the hubs that you can reach.",
            hubs,
        ),
        DialectTool::data(
            "memax_hub_members",
            "List members",
            ToolEffect::Reads,
            "List the members of a hub.",
            hub_members,
        ),
        DialectTool::data(
            "memax_forget",
            "Delete a memory",
            ToolEffect::Removes,
            "Delete a memory for good, with its sections and versions.",
            forget,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemaxPushArguments {
    /// The content to remember: text, Markdown, code or a URL.
    content: String,
    /// A title.
    #[serde(default)]
    #[schemars(with = "String")]
    title: Option<String>,
    /// The form of the content (default: detected from the path and the content).
    #[serde(default)]
    #[schemars(schema_with = "words::word::<ContentType>")]
    content_type: Option<ContentType>,
    /// Labels.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    tags: Option<Vec<String>>,
    /// The kind: what the content is for (default: detected from the content).
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Kind>")]
    kind: Option<Kind>,
    /// The stability: how soon the content goes stale (default: detected from the content).
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Stability>")]
    stability: Option<Stability>,
    /// The boundary: who may see it (default: from the hub).
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Boundary>")]
    boundary: Option<Boundary>,
    /// The file it comes from. A push of a path that exists updates that memory.
    #[serde(default)]
    #[schemars(with = "String")]
    source_path: Option<String>,
    /// Origin (default: from the channel of the push).
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Origin>")]
    source: Option<Origin>,
    /// The agent that pushes, such as claude-code (default: the client's name).
    #[serde(default)]
    #[schemars(with = "String")]
    source_agent: Option<String>,
    /// The agent that helped a person to write it.
    #[serde(default)]
    #[schemars(with = "String")]
    assisted_by_agent: Option<String>,
    /// Seconds until recall no longer finds it.
    #[serde(default)]
    #[schemars(with = "WholeNumber", range(min = 0))]
    ttl: Option<WholeNumber>,
    /// Hub id or name (default: the current hub).
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemaxRecallArguments {
    /// The text to search for.
    query: String,
    /// Maximum number of memories (1-100, default 10).
    #[serde(default)]
    #[schemars(with = "WholeNumber", range(min = 1, max = 100))]
    limit: Option<WholeNumber>,
    /// Only these kinds.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<Kind>")]
    kinds: Vec<Kind>,
    /// Only with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Hub id or name (default: the current hub).
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemaxIdArguments {
    /// The memory's id, such as mem_a1b2….
    id: MemoryRefArgument,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemaxListArguments {
    /// Maximum number of memories on a page (1-100, default 10).
    #[serde(default)]
    #[schemars(with = "WholeNumber", range(min = 1, max = 100))]
    limit: Option<WholeNumber>,
    /// The next_cursor of the last page.
    #[serde(default)]
    #[schemars(with = "String")]
    cursor: Option<String>,
    /// Only these kinds.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<Kind>")]
    kinds: Vec<Kind>,
    /// Only these stabilities.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<Stability>")]
    stabilities: Vec<Stability>,
    /// Only these states (default: all but archived, or all with include_archived).
    #[serde(default)]
    #[schemars(schema_with = "words::several::<State>")]
    states: Vec<State>,
    /// True to include archived memories. Ignored if states are named.
    #[serde(default)]
    include_archived: bool,
    /// Only with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Hub id or name (default: the current hub).
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemaxHubsArguments {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemaxMembersArguments {
    /// Hub id or name (default: the current hub).
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxPushReply {
    /// The memory in its new state.
    memory: MemaxMemory,
    /// created, updated, unchanged or duplicate.
    status: &'static str,
    /// The changed fields of a memory that was noted automatically before, such as `author auto → user`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
    /// Parts of the request that were not carried out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxRecallReply {
    /// The memories, best first.
    memories: Vec<MemaxRecallHit>,
    /// Number of memories found, before the limit.
    total: u64,
    /// Parts of the store that could not be searched, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxRecallHit {
    #[serde(flatten)]
    memory: MemaxMemory,
    /// Relevance to the query, 0 to 1.
    relevance_score: f64,
    /// The headings above the returned section, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heading_path: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxListReply {
    /// The memories, newest first.
    memories: Vec<MemaxMemory>,
    /// The cursor of the next page; null at the end.
    next_cursor: Option<String>,
    /// Backends that could not be read, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxHubsReply {
    hubs: Vec<MemaxHub>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxHub {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// True if calls that name no hub use it.
    current: bool,
    /// Time of creation.
    created_at: String,
}

#[derive(Serialize, JsonSchema)]
struct MemaxMembersReply {
    members: Vec<MemaxHubMember>,
}

#[derive(Serialize, JsonSchema)]
struct MemaxHubMember {
    /// The id of the member.
    id: String,
    /// The name of the member.
    name: String,
    /// The role in the hub.
    #[schemars(schema_with = "words::word::<Role>")]
    role: Role,
}

#[derive(Serialize, JsonSchema)]
struct MemaxForgetReply {
    /// The memory's id.
    id: String,
    /// True if the memory was deleted.
    deleted: bool,
}

/// Returns the caller confined to a hub, given by its id or name.
fn within(context: &ToolContext<'_>, hub: Option<&str>) -> Result<Caller, ToolError> {
    let caller = match hub.map(str::trim).filter(|hub| !hub.is_empty()) {
        Some(hub) => context.engine.enter(&context.caller, hub).map_err(|error| ToolError {
            field: Some("hub_id".to_owned()),
            hint: Some("memax_hubs lists them".to_owned()),
            ..ToolError::from(error)
        })?,
        None => context.caller.clone(),
    };
    let viewer = Viewer { within: Some(vec![caller.space]), ..caller.viewer };
    Ok(Caller { viewer, ..caller })
}

/// Returns the status word for the outcome of a push.
pub const fn status(outcome: SaveOutcome) -> &'static str {
    match outcome {
        SaveOutcome::Created => "created",
        SaveOutcome::Updated => "updated",
        SaveOutcome::Unchanged => "unchanged",
        SaveOutcome::Duplicate => "duplicate",
    }
}

/// Returns the time at which a time to live that begins now ends.
pub(crate) fn alive_for(seconds: i64, now: Timestamp) -> Result<Timestamp, ToolError> {
    match seconds {
        0.. => Ok(now.plus_millis(seconds.saturating_mul(1_000))),
        _ => Err(ToolError::invalid(
            "out_of_range",
            "ttl",
            format!("ttl is {seconds}; give 0 or more seconds"),
        )),
    }
}

fn push(context: &ToolContext<'_>, said: MemaxPushArguments) -> Result<MemaxPushReply, ToolError> {
    let caller = within(context, said.hub_id.as_deref())?;
    let now = context.engine.now();
    let expires_at = said.ttl.map(|seconds| alive_for(seconds.0, now)).transpose()?;
    let request = SaveRequest {
        title: said.title,
        content_type: said.content_type,
        tags: said.tags,
        kind: said.kind,
        stability: said.stability,
        boundary: said.boundary,
        source_path: said.source_path,
        origin: said.source,
        source_agent: said.source_agent,
        assisted_by_agent: said.assisted_by_agent,
        expires_at,
        ..SaveRequest::new(said.content)
    };
    context.catch_up();
    let receipt = context.engine.save(&caller, request)?;
    let status = status(receipt.outcome);
    let changed = receipt.changed.iter().map(ToString::to_string).collect();
    Ok(MemaxPushReply {
        memory: fields(&receipt.memory, now),
        status,
        changed,
        warnings: tool::warnings(&receipt.warnings),
    })
}

fn recall(context: &ToolContext<'_>, asked: MemaxRecallArguments) -> Result<MemaxRecallReply, ToolError> {
    let caller = within(context, asked.hub_id.as_deref())?;
    if asked.query.trim().is_empty() {
        return Err(ToolError::invalid("missing_query", "query", "`query` is empty"));
    }
    let filter =
        Filter { space: Some(caller.space), kinds: asked.kinds, tags: asked.tags, ..Filter::default() };
    let mode = Mode::Hybrid(Box::new(RecallQuestion::new(asked.query)));
    let request =
        RecallRequest { mode, filter, sort: None, limit: limited(context, asked.limit, USUAL, MOST)? };
    context.catch_up();
    let answer = context.engine.recall(&caller, &request)?;
    let now = context.engine.now();
    let memories = answer.hits.iter().map(|hit| recalled(hit, now)).collect();
    Ok(MemaxRecallReply { memories, total: answer.total_found, warnings: answer.troubles().collect() })
}

/// Returns a hit. The best section replaces a long content.
fn recalled(hit: &Hit, now: Timestamp) -> MemaxRecallHit {
    let memory = fields(&hit.memory, now).with_content(hit.shown());
    let heading_path = hit.heading_path().to_owned();
    MemaxRecallHit { memory, relevance_score: hit.relevance_score.get(), heading_path }
}

fn get(context: &ToolContext<'_>, asked: MemaxIdArguments) -> Result<MemaxMemory, ToolError> {
    let which = named("id", &asked.id.0)?;
    context.catch_up();
    Ok(fields(&context.engine.touch(&context.caller, which)?, context.engine.now()))
}

fn list(context: &ToolContext<'_>, asked: MemaxListArguments) -> Result<MemaxListReply, ToolError> {
    let caller = within(context, asked.hub_id.as_deref())?;
    let now = context.engine.now();
    let mut states = asked.states;
    if states.is_empty() && !asked.include_archived {
        states = State::unarchived();
    }
    let filter = Filter {
        space: Some(caller.space),
        kinds: asked.kinds,
        stabilities: asked.stabilities,
        states,
        tags: asked.tags,
        ..Filter::default()
    };
    let cursor = asked.cursor.as_deref().map(str::parse).transpose()?;
    let request = ListRequest {
        filter,
        sort: Sort::Newest,
        limit: limited(context, asked.limit, USUAL, MOST)?,
        cursor,
    };
    context.catch_up();
    let page = context.engine.list(&caller, &request)?;
    Ok(MemaxListReply {
        memories: page.memories.iter().map(|memory| fields(memory, now)).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        warnings: tool::failed(&page.failed_backends),
    })
}

fn hubs(context: &ToolContext<'_>, _: MemaxHubsArguments) -> Result<MemaxHubsReply, ToolError> {
    let hub = |space: Space| MemaxHub {
        current: space.id == context.caller.space,
        id: space.id.to_string(),
        name: space.name,
        created_at: space.created_at.to_string(),
    };
    Ok(MemaxHubsReply { hubs: context.engine.spaces(&context.caller)?.into_iter().map(hub).collect() })
}

fn hub_members(
    context: &ToolContext<'_>,
    asked: MemaxMembersArguments,
) -> Result<MemaxMembersReply, ToolError> {
    let caller = within(context, asked.hub_id.as_deref())?;
    let space = context.engine.space(&caller)?;
    let members = context.engine.members(&caller, &space.id.to_string())?.into_iter();
    let member = members.map(|(principal, membership)| MemaxHubMember {
        id: principal.id.to_string(),
        name: principal.name,
        role: membership.role,
    });
    Ok(MemaxMembersReply { members: member.collect() })
}

fn forget(context: &ToolContext<'_>, asked: MemaxIdArguments) -> Result<MemaxForgetReply, ToolError> {
    let request = ForgetRequest { mode: ForgetMode::Delete, reason: None };
    match context.engine.forget(&context.caller, named("id", &asked.id.0)?, &request) {
        Ok(gone) => Ok(MemaxForgetReply { id: id(gone.memory.id), deleted: true }),
        Err(error) if error.class() == Class::Absent => {
            Ok(MemaxForgetReply { id: preview::short(&asked.id.0), deleted: false })
        }
        Err(error) => Err(error.into()),
    }
}
