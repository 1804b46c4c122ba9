//! The memax dialect: hubs, kinds, stabilities and lifecycle states, with the whole table of fields in every answer.

mod fields;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::answer::{Fate, Hit};
use tulving_core::error::Class;
use tulving_core::id::MemoryRef;
use tulving_core::preview;
use tulving_core::request::{
    Ask, Caller, Filter, ForgetRequest, ListRequest, Manner, Mode, RecallRequest, SaveRequest, Sort,
};
use tulving_core::space::{Space, Viewer};
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{Boundary, ContentType, Kind, Role, Stability, State};

pub use self::fields::{Fields, fields, id};
use crate::argument::{Name, Whole, limited, named};
use crate::tool::{self, Desk, Effect, Refusal, Tool};
use crate::words;

/// How many memories are given where it is not said, and at the most.
const USUAL: i64 = 10;
const MOST: i64 = 100;

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::data(
            "memax_push",
            "Push a memory",
            Effect::Writes,
            "Save a piece of knowledge: a doc, decision, snippet or link. The same content is stored once; a push with \
             a source_path that exists updates that memory.",
            push,
        ),
        Tool::data(
            "memax_recall",
            "Recall memories",
            Effect::Reads,
            "Search memories by meaning and by word. Of a long document the most relevant section is returned.",
            recall,
        ),
        Tool::data("memax_get", "Get a memory", Effect::Reads, "One memory with all its fields, by id.", get),
        Tool::data(
            "memax_list",
            "List memories",
            Effect::Reads,
            "Memories page by page, newest first, filtered by kind, stability, state or tags.",
            list,
        ),
        Tool::data("memax_hubs", "List hubs", Effect::Reads, "The hubs that you can reach.", hubs),
        Tool::data("memax_hub_members", "List members", Effect::Reads, "Who belongs to a hub.", hub_members),
        Tool::data(
            "memax_forget",
            "Delete a memory",
            Effect::Removes,
            "Delete a memory for good, with its sections and versions.",
            forget,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Push {
    /// What to remember: text, Markdown, code or a URL.
    content: String,
    /// A title.
    #[serde(default)]
    #[schemars(with = "String")]
    title: Option<String>,
    /// The form of the content (default: told by the path and the content).
    #[serde(default)]
    #[schemars(schema_with = "words::word::<ContentType>")]
    content_type: Option<ContentType>,
    /// Labels.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    tags: Option<Vec<String>>,
    /// What it is for; told by the content where not given.
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Kind>")]
    kind: Option<Kind>,
    /// How soon it goes stale; told by the content where not given.
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Stability>")]
    stability: Option<Stability>,
    /// Who may see it; from the hub where not given.
    #[serde(default)]
    #[schemars(schema_with = "words::word::<Boundary>")]
    boundary: Option<Boundary>,
    /// The file it comes from. A push of a path that exists updates that memory.
    #[serde(default)]
    #[schemars(with = "String")]
    source_path: Option<String>,
    /// The agent that helped, where a person wrote it.
    #[serde(default)]
    #[schemars(with = "String")]
    assisted_by_agent: Option<String>,
    /// Seconds until it is no longer found.
    #[serde(default)]
    #[schemars(with = "Whole", range(min = 0))]
    ttl: Option<Whole>,
    /// Hub id or name; the current one where not given.
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Recall {
    /// What to look for.
    query: String,
    /// Most memories to return (1-100, default 10).
    #[serde(default)]
    #[schemars(with = "Whole", range(min = 1, max = 100))]
    limit: Option<Whole>,
    /// Only these kinds.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<Kind>")]
    kinds: Vec<Kind>,
    /// Only with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Hub id or name; the current one where not given.
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// The memory's id, such as mem_a1b2….
    id: Name,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Most memories of a page (1-100, default 10).
    #[serde(default)]
    #[schemars(with = "Whole", range(min = 1, max = 100))]
    limit: Option<Whole>,
    /// Where the last page ended: its next_cursor.
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
    /// Only these states; where none is named, all but archived ones, or all with include_archived.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<State>")]
    states: Vec<State>,
    /// Archived ones too, where no states are named.
    #[serde(default)]
    include_archived: bool,
    /// Only with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Hub id or name; the current one where not given.
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfHub {
    /// Hub id or name; the current one where not given.
    #[serde(default)]
    #[schemars(with = "String")]
    hub_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Pushed {
    /// The memory as it is now.
    memory: Fields,
    /// created, updated, unchanged or duplicate.
    status: &'static str,
    /// What changed of a memory that was noted by itself before, such as `author auto → user`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
    /// What was asked and not done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// The memories, best first.
    memories: Vec<Recalled>,
    /// How many there were before the limit.
    total: u64,
    /// What could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Recalled {
    #[serde(flatten)]
    memory: Fields,
    /// How well it fits, 0 to 1.
    relevance_score: f64,
    /// The headings above the section that is shown, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    heading_path: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Page {
    /// The memories, newest first.
    memories: Vec<Fields>,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
    /// The backends that could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Hubs {
    hubs: Vec<Hub>,
}

#[derive(Serialize, JsonSchema)]
struct Hub {
    /// Its id.
    id: String,
    /// Its name.
    name: String,
    /// Whether it is the one that is meant where none is named.
    current: bool,
    /// When it was made.
    created_at: String,
}

#[derive(Serialize, JsonSchema)]
struct Members {
    members: Vec<Member>,
}

#[derive(Serialize, JsonSchema)]
struct Member {
    /// Who.
    id: String,
    /// By name.
    name: String,
    /// What they may do.
    #[schemars(schema_with = "words::word::<Role>")]
    role: Role,
}

#[derive(Serialize, JsonSchema)]
struct Gone {
    /// The memory's id.
    id: String,
    /// Whether something was deleted.
    deleted: bool,
}

/// The caller in a hub, by its id or name, with eyes for nothing else.
fn within(desk: &Desk<'_>, hub: Option<&str>) -> Result<Caller, Refusal> {
    let caller = match hub.map(str::trim).filter(|hub| !hub.is_empty()) {
        Some(hub) => desk.engine.enter(&desk.caller, hub).map_err(|error| Refusal {
            field: Some("hub_id".to_owned()),
            hint: Some("memax_hubs lists them".to_owned()),
            ..Refusal::from(error)
        })?,
        None => desk.caller.clone(),
    };
    let viewer = Viewer { within: Some(vec![caller.space]), ..caller.viewer };
    Ok(Caller { viewer, ..caller })
}

/// What became of a push.
pub(crate) const fn status(fate: Fate) -> &'static str {
    match fate {
        Fate::Created => "created",
        Fate::Updated => "updated",
        Fate::Unchanged => "unchanged",
        Fate::Duplicate => "duplicate",
    }
}

/// When a time to live that begins now is over.
pub(crate) fn alive_for(seconds: i64, now: Timestamp) -> Result<Timestamp, Refusal> {
    match seconds {
        0.. => Ok(now.plus_millis(seconds.saturating_mul(1_000))),
        _ => {
            Err(Refusal::invalid("out_of_range", "ttl", format!("ttl is {seconds}; give 0 or more seconds")))
        }
    }
}

fn push(desk: &Desk<'_>, said: Push) -> Result<Pushed, Refusal> {
    let caller = within(desk, said.hub_id.as_deref())?;
    let now = desk.engine.now();
    let expires_at = said.ttl.map(|seconds| alive_for(seconds.0, now)).transpose()?;
    let request = SaveRequest {
        title: said.title,
        content_type: said.content_type,
        tags: said.tags,
        kind: said.kind,
        stability: said.stability,
        boundary: said.boundary,
        source_path: said.source_path,
        assisted_by_agent: said.assisted_by_agent,
        expires_at,
        ..SaveRequest::new(said.content)
    };
    desk.catch_up();
    let receipt = desk.engine.push_text(&caller, request)?;
    let memory = desk.engine.get(&caller, MemoryRef::Id(receipt.id))?;
    let status = status(receipt.fate);
    let changed = receipt.changed.iter().map(ToString::to_string).collect();
    Ok(Pushed { memory: fields(&memory, now), status, changed, warnings: tool::warnings(&receipt.warnings) })
}

fn recall(desk: &Desk<'_>, asked: Recall) -> Result<Found, Refusal> {
    let caller = within(desk, asked.hub_id.as_deref())?;
    if asked.query.trim().is_empty() {
        return Err(Refusal::invalid("missing_query", "query", "`query` is empty"));
    }
    let filter =
        Filter { space: Some(caller.space), kinds: asked.kinds, tags: asked.tags, ..Filter::default() };
    let mode = Mode::Hybrid(Box::new(Ask::new(asked.query)));
    let request = RecallRequest { mode, filter, sort: None, limit: limited(desk, asked.limit, USUAL, MOST)? };
    desk.catch_up();
    let answer = desk.engine.recall(&caller, &request)?;
    let now = desk.engine.now();
    let memories = answer.hits.iter().map(|hit| recalled(hit, now)).collect();
    Ok(Found { memories, total: answer.total_found, warnings: answer.troubles().collect() })
}

/// A hit with its best section in the place of a long content.
fn recalled(hit: &Hit, now: Timestamp) -> Recalled {
    let memory = fields(&hit.memory, now).with_content(hit.shown());
    let heading_path = hit.heading_path().to_owned();
    Recalled { memory, relevance_score: hit.relevance_score.get(), heading_path }
}

fn get(desk: &Desk<'_>, asked: Get) -> Result<Fields, Refusal> {
    let which = named("id", &asked.id.0)?;
    desk.catch_up();
    Ok(fields(&desk.engine.touch(&desk.caller, which)?, desk.engine.now()))
}

fn list(desk: &Desk<'_>, asked: List) -> Result<Page, Refusal> {
    let caller = within(desk, asked.hub_id.as_deref())?;
    let now = desk.engine.now();
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
    let request =
        ListRequest { filter, sort: Sort::Newest, limit: limited(desk, asked.limit, USUAL, MOST)?, cursor };
    desk.catch_up();
    let page = desk.engine.list(&caller, &request)?;
    Ok(Page {
        memories: page.memories.iter().map(|memory| fields(memory, now)).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        warnings: tool::failed(&page.failed_backends),
    })
}

fn hubs(desk: &Desk<'_>, _: Nothing) -> Result<Hubs, Refusal> {
    let hub = |space: Space| Hub {
        current: space.id == desk.caller.space,
        id: space.id.to_string(),
        name: space.name,
        created_at: space.created_at.to_string(),
    };
    Ok(Hubs { hubs: desk.engine.spaces(&desk.caller)?.into_iter().map(hub).collect() })
}

fn hub_members(desk: &Desk<'_>, asked: OfHub) -> Result<Members, Refusal> {
    let caller = within(desk, asked.hub_id.as_deref())?;
    let space = desk.engine.space(&caller)?;
    let members = desk.engine.members(&caller, &space.id.to_string())?.into_iter();
    let member = members.map(|(principal, membership)| Member {
        id: principal.id.to_string(),
        name: principal.name,
        role: membership.role,
    });
    Ok(Members { members: member.collect() })
}

fn forget(desk: &Desk<'_>, asked: Get) -> Result<Gone, Refusal> {
    let request = ForgetRequest { manner: Manner::Delete, reason: None };
    match desk.engine.forget(&desk.caller, named("id", &asked.id.0)?, &request) {
        Ok(gone) => Ok(Gone { id: id(gone.memory.id), deleted: true }),
        Err(error) if error.class() == Class::Absent => {
            Ok(Gone { id: preview::short(&asked.id.0), deleted: false })
        }
        Err(error) => Err(error.into()),
    }
}
