//! Tulving's own tools: eight for everyday work, and two for hosts that keep conversations.
//!
//! Arguments and answers are the request and answer types of the core. A tool offers a model only the arguments that the
//! model needs; the other arguments are available in the HTTP service and on the command line.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value};
use tulving_core::model::answer::{
    Answer, CompletedMemory, CreatedAssociation, EditedMemory, Page, SavedMemories,
};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::{
    AssociationRequest, BriefingRequest, ForgetMode, ForgetRequest, ListQuery, MemoryFilter, RecallQuery,
    SaveRequest, Sort, UpdateRequest, WholeNumber,
};
use tulving_core::model::time::Timestamp;

use crate::argument::{MemoryIdArguments, block_budget};
use crate::context::SessionContext;
use crate::finding::{self, total_of};
use crate::input::{ArgumentReader, CombinedInput, SingleInput, ToolInput};
use crate::reading::deserialize;
use crate::tool::{DialectTool, ToolContext, ToolEffect, ToolError};
use crate::{Dialect, context, conversation};

/// Maximum number of memories in one save.
const BATCH: usize = 100;

/// The arguments of `save` for each memory.
const SAVED: [&str; 8] =
    ["content", "type", "importance", "tags", "project", "key", "occurred_at", "updates"];
/// The arguments of `recall`.
const RECALLED: [&str; 13] = [
    "query",
    "limit",
    "types",
    "tags",
    "project",
    "done",
    "since",
    "until",
    "happened_since",
    "happened_until",
    "as_of",
    "token_budget",
    "explain",
];
/// The arguments of `list`.
const LISTED: [&str; 14] = [
    "types",
    "tags",
    "project",
    "done",
    "states",
    "pinned",
    "since",
    "until",
    "happened_since",
    "happened_until",
    "contains",
    "sort",
    "limit",
    "cursor",
];
/// The arguments of `update`.
const UPDATED: [&str; 7] = ["id", "content", "type", "importance", "tags", "project", "valid_until"];

pub(crate) fn tools() -> Vec<DialectTool> {
    vec![
        DialectTool::own(
            "save",
            "Save memories",
            ToolEffect::Writes,
            "Remember for later sessions: preferences, decisions, facts about people and projects, routines, goals, todos. Save \
             when the user asks for it, and when you learn something lasting. One statement per memory, clear without this \
             conversation. Example: {\"memories\": [{\"content\": \"Deploys go through `make ship`\", \"type\": \"decision\"}]}",
            save,
        )
        .showing("{\"memories\": [{\"content\": \"Standup is at 9:30\", \"type\": \"routine\"}]}"),
        DialectTool::own(
            "recall",
            "Recall memories",
            ToolEffect::Reads,
            "Look up what was remembered, before you answer from your own knowledge or ask the user again. Ask in plain \
             words: {\"query\": \"how do we deploy?\"}. Times such as \"last week\" are understood. If `evidence` is none, say \
             that you do not know.",
            recall,
        )
        .offering(&RECALLED),
        DialectTool::own(
            "list",
            "List memories",
            ToolEffect::Reads,
            "List memories by type, tag, time or state, page by page, with their total: {\"types\": [\"todo\"], \"done\": \
             false}. Use it to get all memories of a type; use recall to find memories about a subject.",
            list,
        )
        .offering(&LISTED),
        DialectTool::own(
            "update",
            "Update a memory",
            ToolEffect::Writes,
            "Correct or complete a memory. Give its id and only what changes. The old version is kept.",
            update,
        )
        .offering(&UPDATED),
        DialectTool::own(
            "forget",
            "Forget a memory",
            ToolEffect::Removes,
            "Forget a memory that is wrong or no longer wanted. Its owner can restore it, unless `hard` is true.",
            forget,
        ),
        DialectTool::own(
            "done",
            "Close a todo or a goal",
            ToolEffect::Writes,
            "Close a todo or a goal that is done. `undo` opens it again.",
            done,
        ),
        DialectTool::own(
            "associate",
            "Link memories",
            ToolEffect::Writes,
            "Link a memory to another. `updates` means that it replaces the target.",
            associate,
        ),
        DialectTool::own(
            "context",
            "Session context",
            ToolEffect::Reads,
            "Get the memories for the start of a session: the user, preferences, projects, people, open todos, recent \
             decisions, and what is relevant to `about`.",
            context_tool,
        ),
        conversation::log_turn(),
        conversation::archive(),
    ]
}

/// The memories to save.
struct SaveToolInput(Vec<SaveRequest>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SaveToolArguments {
    /// The memories, one statement each.
    #[schemars(length(min = 1, max = 100))]
    memories: Vec<SaveRequest>,
}

impl ToolInput for SaveToolInput {
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut schema = SingleInput::<SaveToolArguments>::schema_from(generator);
        let memory = schema.get_mut("properties").and_then(|own| own.get_mut("memories"));
        if let Some(Value::Object(memory)) = memory.and_then(|memories| memories.get_mut("items")) {
            if let Some(Value::Object(own)) = memory.get_mut("properties") {
                own.retain(|name, _| SAVED.contains(&name.as_str()));
            }
            memory.insert("required".to_owned(), serde_json::json!(["content"]));
        }
        schema
    }

    fn reader() -> ArgumentReader<Self> {
        let fields = SAVED.join("`, `");
        Box::new(move |said| {
            let memories = said.get("memories").and_then(Value::as_array).into_iter().flatten();
            for name in memories.filter_map(Value::as_object).flat_map(Map::keys) {
                if !SAVED.contains(&name.as_str()) {
                    let message =
                        format!("there is no argument `{}`", tulving_core::model::preview::short(name));
                    return Err(ToolError::invalid("unknown_argument", name, message)
                        .hinting(format!("a memory has `{fields}`")));
                }
            }
            let SaveToolArguments { memories } = deserialize(Value::Object(said))?;
            Ok(Self(memories))
        })
    }
}

fn save(
    context: &ToolContext<'_>,
    SaveToolInput(memories): SaveToolInput,
) -> Result<SavedMemories, ToolError> {
    if memories.is_empty() || memories.len() > BATCH {
        let message = format!("{} memories were given; give 1 to {BATCH}", memories.len());
        return Err(ToolError::invalid("out_of_range", "memories", message));
    }
    let receipts = match <[SaveRequest; 1]>::try_from(memories) {
        Ok([one]) => vec![context.engine.save(&context.caller, one)?],
        Err(many) => context.engine.save_many(&context.caller, many)?,
    };
    Ok(SavedMemories::of(receipts))
}

fn recall(
    context: &ToolContext<'_>,
    CombinedInput(query, filter): CombinedInput<RecallQuery, MemoryFilter>,
) -> Result<Answer, ToolError> {
    let explain = query.explain;
    let mut answer = finding::recall(context, query, filter, "query")?;
    if !explain {
        answer.hits.iter_mut().for_each(|hit| hit.why.clear());
    }
    Ok(answer)
}

fn list(
    context: &ToolContext<'_>,
    CombinedInput(query, filter): CombinedInput<ListQuery, MemoryFilter>,
) -> Result<Page, ToolError> {
    // Todos and goals are listed as an agenda, unless the request names another order.
    let can_be_done = !filter.types.is_empty() && filter.types.iter().all(|word| word.can_be_done());
    let sort = query.sort.or_else(|| can_be_done.then_some(Sort::Agenda));
    let request = finding::list_request(context, ListQuery { sort, ..query }, filter)?;
    let page = context.engine.list(&context.caller, &request)?;
    Ok(Page { total: total_of(context, &request, &page)?, ..page })
}

fn update(
    context: &ToolContext<'_>,
    CombinedInput(this, edit): CombinedInput<MemoryIdArguments, UpdateRequest>,
) -> Result<EditedMemory, ToolError> {
    Ok(context.engine.update(&context.caller, this.id, &edit)?)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetToolArguments {
    /// Its id, or its number such as 12.
    id: MemoryRef,
    /// The reason, for the audit.
    #[serde(default)]
    reason: Option<String>,
    /// Erase it with all its versions.
    #[serde(default)]
    hard: bool,
}

fn forget(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ForgetToolArguments>,
) -> Result<EditedMemory, ToolError> {
    let mode = if asked.hard { ForgetMode::Hard } else { ForgetMode::Soft };
    Ok(context.engine.forget(&context.caller, asked.id, &ForgetRequest { mode, reason: asked.reason })?)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DoneToolArguments {
    /// The todo or goal: its id, or its number such as 12.
    id: MemoryRef,
    /// The time at which it was done (default: now).
    #[serde(default)]
    at: Option<Timestamp>,
    /// Open it again.
    #[serde(default)]
    undo: bool,
}

fn done(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<DoneToolArguments>,
) -> Result<CompletedMemory, ToolError> {
    match (asked.undo, asked.at) {
        (true, Some(_)) => {
            let message = "`at` and `undo` cannot be combined";
            Err(ToolError::invalid("conflicting_arguments", "at", message))
        }
        (true, None) => Ok(context.engine.reopen(&context.caller, asked.id)?),
        (false, at) => Ok(context.engine.done(&context.caller, asked.id, at)?),
    }
}

fn associate(
    context: &ToolContext<'_>,
    CombinedInput(this, link): CombinedInput<MemoryIdArguments, AssociationRequest>,
) -> Result<CreatedAssociation, ToolError> {
    Ok(context.engine.associate(&context.caller, this.id, &link)?)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextToolArguments {
    /// The subject of the session, if known.
    #[serde(default)]
    about: Option<String>,
    /// Maximum tokens (default: 2000).
    #[serde(default)]
    #[schemars(range(min = 50, max = 100_000))]
    token_budget: Option<WholeNumber>,
}

fn context_tool(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ContextToolArguments>,
) -> Result<SessionContext, ToolError> {
    let request = BriefingRequest { about: asked.about, token_budget: block_budget(asked.token_budget)? };
    context::as_block(context, Dialect::Native, &request)
}
