//! The groups dialect: memories with keys, in groups isolated from each other.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use tulving_core::model::answer::{Lane, SaveOutcome};
use tulving_core::model::error::Class;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{
    Filter, ForgetMode, ForgetRequest, Fusion, ListRequest, Mode, RecallQuestion, RecallRequest, SaveRequest,
    Sort,
};
use tulving_core::model::vocabulary::{ContentType, Stability, State};
use tulving_core::{model::limits, model::preview};

use crate::argument::{WholeNumber, limited};
use crate::document::Excerpt;
use crate::tool::{self, DialectTool, ToolContext, ToolEffect, ToolError};
use crate::words;

/// Default and maximum number of memories in a recall.
const USUAL: i64 = 10;
const MOST: i64 = 50;

/// A category of the groups dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Permanent facts.
    Core,
    /// Notes for the current work.
    Daily,
    /// Archived conversations.
    Conversation,
}

impl Category {
    const ALL: [Self; 3] = [Self::Core, Self::Daily, Self::Conversation];

    /// The category under which a memory is shown.
    pub fn of(content_type: ContentType, stability: Stability) -> Self {
        match (content_type, stability) {
            (ContentType::Transcript, _) => Self::Conversation,
            (_, Stability::Volatile) => Self::Daily,
            _ => Self::Core,
        }
    }

    /// Restricts a filter to the memories shown under this category.
    fn narrow(self, filter: Filter) -> Filter {
        let pick = |transcript: bool| {
            let types =
                ContentType::ALL.iter().filter(|form| (**form == ContentType::Transcript) == transcript);
            types.copied().collect()
        };
        let stabilities = match self {
            Self::Conversation => Vec::new(),
            Self::Daily => vec![Stability::Volatile],
            Self::Core => {
                Stability::ALL.iter().copied().filter(|stability| *stability != Stability::Volatile).collect()
            }
        };
        Filter { content_types: pick(self == Self::Conversation), stabilities, ..filter }
    }

    /// Returns the values that a save under this category sets, even if the key had another category; `None` leaves the
    /// default.
    pub fn sets(self) -> (Option<ContentType>, Option<Stability>) {
        match self {
            Self::Core => (Some(ContentType::Text), Some(Stability::Stable)),
            Self::Daily => (Some(ContentType::Text), Some(Stability::Volatile)),
            Self::Conversation => (Some(ContentType::Transcript), None),
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Core => "core",
            Self::Daily => "daily",
            Self::Conversation => "conversation",
        })
    }
}

impl FromStr for Category {
    type Err = ToolError;

    fn from_str(name: &str) -> Result<Self, ToolError> {
        let found = Self::ALL.into_iter().find(|category| category.to_string() == name);
        found.ok_or_else(|| {
            let message = format!("unknown category `{}`", preview::short(name));
            ToolError::invalid("unknown_category", "category", message)
                .hinting("use one of core, daily, conversation")
        })
    }
}

pub(crate) fn tools() -> Vec<DialectTool> {
    vec![
        DialectTool::text(
            "save_memory",
            "Save a memory",
            ToolEffect::Writes,
            "Store a fact with a key and content. Saving under a key that exists updates it. Categories: core for \
             permanent facts (default), daily for notes of the current work, conversation for archived summaries.",
            save,
        ),
        DialectTool::text(
            "recall_memories",
            "Recall memories",
            ToolEffect::Reads,
            "Search memories by keyword, best match first, optionally of one category; if no word matches, by any piece of \
             text such as a URL or part of a word.",
            recall,
        ),
        DialectTool::text(
            "forget_memory",
            "Forget a memory",
            ToolEffect::Removes,
            "Remove a memory by key.",
            forget,
        ),
        DialectTool::text(
            "list_memories",
            "List memories",
            ToolEffect::Reads,
            "List all saved memory keys, newest first, optionally of one category.",
            list,
        ),
    ]
}

fn categories(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": Category::ALL.map(|category| category.to_string()) })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GroupsSaveArguments {
    /// Unique identifier, such as "favorite-color".
    key: String,
    /// The content to remember.
    content: String,
    /// core (default), daily or conversation.
    #[serde(default)]
    #[schemars(schema_with = "categories", extend("default" = "core"))]
    category: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GroupsRecallArguments {
    /// The text to search for.
    query: String,
    /// Only this category.
    #[serde(default)]
    #[schemars(schema_with = "categories")]
    category: Option<String>,
    /// Maximum number of memories (default 10, at most 50).
    #[serde(default)]
    #[schemars(with = "WholeNumber", range(min = 1, max = 50))]
    limit: Option<WholeNumber>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GroupsForgetArguments {
    /// The memory's key.
    key: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GroupsListArguments {
    /// Only this category.
    #[serde(default)]
    #[schemars(schema_with = "categories")]
    category: Option<String>,
}

/// Returns the name of a memory in this dialect: its key, or its number if the memory has no key, or the file and line for a
/// memory from a file.
fn key(memory: &Memory) -> String {
    memory.fields.key.clone().unwrap_or_else(|| memory.label())
}

/// Parses a key such as `#12` as the number of a memory.
fn number(key: &str) -> Option<MemoryRef> {
    let key = key.trim();
    key.strip_prefix('#').and_then(|_| key.parse().ok())
}

fn shown(memory: &Memory) -> Category {
    Category::of(memory.fields.text.content_type, memory.fields.class.stability)
}

fn save(context: &ToolContext<'_>, said: GroupsSaveArguments) -> Result<String, ToolError> {
    let category = said.category.as_deref().map_or(Ok(Category::Core), str::parse)?;
    if number(&said.key).is_some() {
        let message = format!("`{}` is the number of a memory, not a key", preview::short(&said.key));
        return Err(ToolError::invalid("invalid_key", "key", message)
            .hinting("choose a name, such as favorite-color"));
    }
    let (content_type, stability) = category.sets();
    let request =
        SaveRequest { key: Some(said.key), content_type, stability, ..SaveRequest::new(said.content) };
    let receipt = context.engine.save(&context.caller, request)?;
    let memory = &receipt.memory;
    let what = match receipt.outcome {
        SaveOutcome::Created => "Saved",
        SaveOutcome::Updated => "Updated",
        SaveOutcome::Unchanged | SaveOutcome::Duplicate => "Already saved",
    };
    let changes: Vec<String> = receipt.changed.iter().map(ToString::to_string).collect();
    let changed =
        if changes.is_empty() { String::new() } else { format!(" Changed: {}.", changes.join(", ")) };
    Ok(format!("{what} memory \"{}\" ({}).{changed}", key(memory), shown(memory)))
}

fn recall(context: &ToolContext<'_>, asked: GroupsRecallArguments) -> Result<String, ToolError> {
    let limit = limited(context, asked.limit, USUAL, MOST)?;
    if asked.query.trim().is_empty() {
        return Err(ToolError::invalid("missing_query", "query", "`query` is empty"));
    }
    let category = asked.category.as_deref().map(str::parse::<Category>).transpose()?;
    let filter = Filter { space: Some(context.caller.space), ..Filter::default() };
    let filter = category.map_or_else(|| filter.clone(), |category| category.narrow(filter.clone()));
    let by = |mode: Mode| {
        let request = RecallRequest { mode, filter: filter.clone(), sort: None, limit };
        context.engine.recall(&context.caller, &request)
    };
    let words = RecallQuestion {
        lanes: vec![Lane::Keyword],
        exact_words: true,
        fusion: Fusion::Ranks,
        ..RecallQuestion::new(&asked.query)
    };
    let mut answer = by(Mode::Hybrid(Box::new(words)))?;
    if answer.hits.is_empty() {
        answer = by(Mode::Substring(asked.query))?;
    }
    let aside = tool::aside(answer.troubles());
    let hits = answer.hits;
    if hits.is_empty() {
        return Ok(format!("No memories found.{aside}"));
    }
    let what = preview::plural(hits.len(), "memory", "memories");
    let lines = hits.iter().map(|hit| {
        let memory = &hit.memory;
        let content = words::hanging(&Excerpt::of_hit(hit).written(), "  ");
        format!("\n- {} [{}]: {content}", key(memory), shown(memory))
    });
    Ok(format!("Found {} {what}:{}{aside}", hits.len(), lines.collect::<String>()))
}

fn forget(context: &ToolContext<'_>, asked: GroupsForgetArguments) -> Result<String, ToolError> {
    let none = format!("No memory with key \"{}\".", preview::short(&asked.key));
    let filter = Filter {
        space: Some(context.caller.space),
        key: Some(asked.key.trim().to_owned()),
        ..Filter::default()
    };
    let request = ListRequest { filter, sort: Sort::Newest, limit: 1, cursor: None };
    let found = context.engine.list(&context.caller, &request)?.memories.pop();
    let which = match found {
        Some(memory) => MemoryRef::Id(memory.id),
        // A memory without a key is listed by its number. A memory with a key has no other name.
        None => match number(&asked.key).map(|which| context.engine.get(&context.caller, which)) {
            Some(Ok(memory)) if memory.fields.key.is_none() => MemoryRef::Id(memory.id),
            Some(Err(error)) if error.class() != Class::Absent => return Err(error.into()),
            _ => return Ok(file_meant(context, &asked.key)?.unwrap_or(none)),
        },
    };
    match context.engine.forget(
        &context.caller,
        which,
        &ForgetRequest { mode: ForgetMode::Delete, reason: None },
    ) {
        Ok(gone) => Ok(format!("Removed memory \"{}\".", key(&gone.memory))),
        Err(error) if error.class() == Class::Absent => Ok(none),
        Err(error) => Err(error.into()),
    }
}

/// Returns an explanation if a key refers to a file by its path or its name in the folder of the group, with or without a
/// line. Recall uses such keys for memories from files, and only an edit of the file can remove these memories.
fn file_meant(context: &ToolContext<'_>, key: &str) -> Result<Option<String>, ToolError> {
    let key = key.trim();
    let bare = key.rsplit_once(':').filter(|(_, line)| line.parse::<u32>().is_ok()).map(|(path, _)| path);
    let is_meant = |name: &str| name == key || Some(name) == bare;
    let file_list = context.engine.files(&context.caller)?;
    let Some(file) = file_list.files.iter().find(|file| is_meant(&file.path) || is_meant(&file.name)) else {
        return Ok(None);
    };
    Ok(Some(format!(
        "\"{}\" is not a saved memory: it comes from the file {}. Nothing was removed. To forget it, edit or remove the \
         file.",
        preview::short(key),
        file.name
    )))
}

fn list(context: &ToolContext<'_>, asked: GroupsListArguments) -> Result<String, ToolError> {
    let category = asked.category.as_deref().map(str::parse::<Category>).transpose()?;
    // Archived and expired memories are not listed, because recall does not find them.
    let filter = Filter {
        space: Some(context.caller.space),
        states: State::unarchived(),
        records_only: true,
        ..Filter::default()
    };
    let mut request = ListRequest { filter, sort: Sort::Newest, limit: limits::PAGE, cursor: None };
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    loop {
        let page = context.engine.list(&context.caller, &request)?;
        let meant = page.memories.iter().filter(|memory| category.is_none_or(|only| only == shown(memory)));
        lines.extend(meant.map(|memory| format!("\n- {} [{}]", key(memory), shown(memory))));
        failed.extend(page.failed_backends);
        match page.next {
            Some(next) => request.cursor = Some(next),
            None => break,
        }
    }
    failed.dedup();
    let aside = tool::aside(failed.iter().map(ToString::to_string));
    Ok(match lines.len() {
        0 => format!("No memories saved.{aside}"),
        1 => format!("1 memory:{}{aside}", lines.concat()),
        count => format!("{count} memories:{}{aside}", lines.concat()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_shows_under_the_category_it_was_saved_under() {
        for category in Category::ALL {
            let (content_type, stability) = category.sets();
            let shown = Category::of(
                content_type.unwrap_or(ContentType::Text),
                stability.unwrap_or(Stability::Stable),
            );
            assert_eq!(shown, category);
        }
    }
}
