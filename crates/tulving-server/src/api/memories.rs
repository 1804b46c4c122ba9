//! `/v1/memories`: reading, moving and forgetting.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::model::answer::{Cursor, Foreseen};
use tulving_core::model::error::{Error, Field, Invalid};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{
    Filter, ForgetRequest, ForgetWhere, Forgotten, ListRequest, Manner, Quarantined, Sort,
};
use tulving_core::model::vocabulary::State;

use super::editing::{UpdateMemoryReply, changed};
use super::operation::{
    CombinedInput, Operation, OperationInput, OperationMethod, OperationOutput, SingleInput, names_of,
    refuse_unknown,
};
use super::recall::MemoryFilterArguments;
use super::shown::{MemoryReply, shown};
use tulving_dialects::argument::{MemoryRefArgument, WholeNumber, limited, named};
use tulving_dialects::finding::{MemoryOrder, total_of};
use tulving_dialects::memax;
use tulving_dialects::tool::{self, ToolContext, ToolError};
use tulving_dialects::words;

/// Maximum and default number of memories on a page.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/memories", "listMemories", "List memories", list).saying(
            "Page by page: following `next_cursor` neither skips nor repeats. Archived ones are left out unless \
             `states` names them or `include_archived` is true.",
        ),
        Operation::new(OperationMethod::Get, "/v1/memories/{id}", "getMemory", "Read a memory", get)
            .saying("`ETag` is its version. Reading it here does not count as access."),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}", "deleteMemory", "Delete a memory for good", delete)
            .saying(
                "Row, versions, sections and vectors go. With `soft=true` it can be restored. One that was softly forgotten \
                 is not found, and stays for the audit, unless `forgotten=true`.",
            ),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/access", "accessMemory", "Count an access", access),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/restore", "restoreMemory", "Restore a memory", restore)
            .saying("One that was softly forgotten; one that was not is given as it is."),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/archive", "archiveMemory", "Archive a memory", archive)
            .saying("Recall no longer finds it; it can be read and taken back."),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}/archive", "unarchiveMemory", "Take it back", unarchive)
            .saying("Out of the archive: recall finds it again."),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/pin", "pinMemory", "Pin a memory", pin)
            .saying("It does not decay, and is told at the start of a session."),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}/pin", "unpinMemory", "Unpin a memory", unpin),
        Operation::new(OperationMethod::Post, "/v1/memories/batch-delete", "deleteMemories", "Delete many for good", delete_many)
            .saying(
                "Up to 100, as one act. What does not exist, was softly forgotten or may not be seen, is in `not_found`.",
            ),
        Operation::new(
            OperationMethod::Post,
            "/v1/memories/forget-where",
            "forgetWhere",
            "Forget all that a condition holds of",
            forget_where,
        )
        .saying(
            "Within the space of the call, up to 10,000, as one act. With `dry_run` they are only counted. Without, `expect` is \
             their count, and where it is another by now nothing is forgotten. What files say is not meant, and archived ones \
             only where `states` names them or `include_archived` is true.",
        ),
        Operation::new(OperationMethod::Post, "/v1/memories/batch-move", "moveMemories", "Move many into another space", move_many)
            .saying(
                "Up to 100, as one act. They keep their ids and get new numbers. It takes the right to say who sees \
                 them, and to write in the other space.",
            ),
    ]
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
struct MemoryPageArguments {
    /// Most memories of the page, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
    /// Where the last page ended: its `next_cursor`. With the same filters and order.
    cursor: Option<String>,
    /// In which order (default: newest).
    sort: Option<MemoryOrder>,
    /// Only in these states; what has expired counts as archived.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<State>")]
    states: Vec<State>,
    /// Archived ones too, where no states are named.
    #[serde(default)]
    include_archived: bool,
    /// Only softly forgotten ones, which are yours to restore.
    #[serde(default)]
    forgotten: bool,
}

/// A page of memories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryPage")]
struct MemoryPageReply {
    /// The memories, in order.
    memories: Vec<MemoryReply>,
    /// How many there are on all pages; null where other backends than the built-in one are asked.
    total: Option<u64>,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
    /// What could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn list(
    desk: &ToolContext<'_>,
    CombinedInput(paged, which): CombinedInput<MemoryPageArguments, MemoryFilterArguments>,
) -> Result<OperationOutput<MemoryPageReply>, ToolError> {
    let mut filter = which.filter(desk);
    filter.states = match (paged.states.is_empty(), paged.include_archived || paged.forgotten) {
        (false, _) => paged.states,
        (true, true) => Vec::new(),
        (true, false) => State::unarchived(),
    };
    if paged.forgotten {
        filter.forgotten = Forgotten::Only;
        filter.quarantined = Quarantined::Either;
    }
    let cursor = paged.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
    let sort = paged.sort.map_or(Sort::default(), Sort::from);
    let limit = limited(desk, paged.limit, USUAL_PAGE, PAGE)?;
    let request = ListRequest { filter, sort, limit, cursor };
    let page = desk.engine.list(&desk.caller, &request)?;
    let total = total_of(desk, &request, &page)?;
    let now = desk.engine.now();
    let memories = page.memories.iter().map(|memory| shown(memory, now)).collect();
    let warnings = tool::failed(&page.failed_backends);
    Ok(MemoryPageReply { memories, total, next_cursor: page.next.map(|cursor| cursor.to_string()), warnings }
        .into())
}

/// Which memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryIdArguments {
    /// The memory: its id, or its number in the space.
    #[schemars(schema_with = "words::memory")]
    id: String,
}

impl MemoryIdArguments {
    pub(super) fn which(&self) -> Result<MemoryRef, ToolError> {
        named("id", &self.id)
    }
}

pub(super) fn one(desk: &ToolContext<'_>, memory: &Memory) -> OperationOutput<MemoryReply> {
    OperationOutput::from(shown(memory, desk.engine.now())).of(memory.version)
}

fn get(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.get(&desk.caller, this.which()?)?))
}

fn access(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    desk.catch_up();
    Ok(one(desk, &desk.engine.count_access(&desk.caller, this.which()?)?))
}

fn restore(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<UpdateMemoryReply>, ToolError> {
    Ok(changed(desk, &desk.engine.restore(&desk.caller, this.which()?)?))
}

fn archive(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.archive(&desk.caller, this.which()?)?))
}

fn unarchive(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.unarchive(&desk.caller, this.which()?)?))
}

fn pin(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.pin(&desk.caller, this.which()?)?))
}

fn unpin(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.unpin(&desk.caller, this.which()?)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteMemoryArguments {
    /// Whether it shall be possible to restore it.
    #[serde(default)]
    soft: bool,
    /// Whether one that was softly forgotten before goes too; it is kept for the audit otherwise.
    #[serde(default)]
    forgotten: bool,
    /// Why, for the record.
    reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedMemory")]
struct DeleteMemoryReply {
    /// The memory.
    id: String,
    /// That it is gone.
    deleted: bool,
    /// What was held back of the reason, and what it was noted of and stays, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn delete(
    desk: &ToolContext<'_>,
    CombinedInput(this, how): CombinedInput<MemoryIdArguments, DeleteMemoryArguments>,
) -> Result<OperationOutput<DeleteMemoryReply>, ToolError> {
    let manner = match (how.soft, how.forgotten) {
        (true, _) => Manner::Soft,
        (false, true) => Manner::Hard,
        (false, false) => Manner::Delete,
    };
    let request = ForgetRequest { manner, reason: how.reason };
    let gone = desk.engine.forget(&desk.caller, this.which()?, &request)?;
    let warnings = tool::warnings(&gone.warnings);
    Ok(DeleteMemoryReply { id: memax::id(gone.memory.id), deleted: true, warnings }.into())
}

/// Which memories.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryIdsArguments {
    /// The memories, by id.
    #[schemars(schema_with = "words::memories")]
    ids: Vec<MemoryRefArgument>,
}

impl MemoryIdsArguments {
    fn which(&self) -> Result<Vec<MemoryRef>, ToolError> {
        self.ids.iter().map(|id| named("ids", &id.0)).collect()
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedMemories")]
struct DeleteMemoriesReply {
    /// Those that are gone.
    deleted: Vec<String>,
    /// Those that there were none of.
    not_found: Vec<String>,
}

fn delete_many(
    desk: &ToolContext<'_>,
    SingleInput(several): SingleInput<MemoryIdsArguments>,
) -> Result<OperationOutput<DeleteMemoriesReply>, ToolError> {
    let request = ForgetRequest { manner: Manner::Delete, reason: None };
    let (which, limit) = (several.which()?, limits::MOVES);
    if which.len() > limit {
        let invalid = Invalid::TooMany { field: Field::Memories, got: which.len(), limit };
        return Err(Error::from(invalid).into());
    }
    let gone = desk.engine.forget_many(&desk.caller, &which, &request)?;
    let deleted = gone.forgotten.iter().map(|memory| memax::id(memory.id)).collect();
    Ok(DeleteMemoriesReply { deleted, not_found: names(&gone.missing) }.into())
}

/// Which memories of the space are forgotten, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetWhereArguments {
    /// What holds of them, in the words of a list; at least one thing.
    #[serde(rename = "where")]
    #[schemars(with = "MemoryFilterSchema")]
    condition: Map<String, Value>,
    /// Only count them, and show the newest 20.
    #[serde(default)]
    dry_run: bool,
    /// How many they are, as a dry run counted them.
    #[schemars(range(min = 0))]
    expect: Option<WholeNumber>,
    /// For good; else they can be restored.
    #[serde(default)]
    hard: bool,
    /// Why, for the record.
    reason: Option<String>,
}

/// In which states.
#[derive(Deserialize, JsonSchema)]
struct StateFilterArguments {
    /// Only in these states; what has expired counts as archived.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<State>")]
    states: Vec<State>,
    /// Archived ones too, where no states are named.
    #[serde(default)]
    include_archived: bool,
}

/// An argument of a list that a condition lacks, because a condition applies to one space.
const ALL_SPACES: &str = "all_spaces";

/// The schema of a condition on memories.
struct MemoryFilterSchema;

impl JsonSchema for MemoryFilterSchema {
    fn schema_name() -> Cow<'static, str> {
        "MemoryFilter".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        condition(generator)
    }
}

fn condition(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = CombinedInput::<StateFilterArguments, MemoryFilterArguments>::schema_from(generator);
    schema.remove("description");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove(ALL_SPACES);
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    Schema::from(schema)
}

impl ForgetWhereArguments {
    fn filter(&self, desk: &ToolContext<'_>) -> Result<Filter, ToolError> {
        let mut known = names_of(&CombinedInput::<StateFilterArguments, MemoryFilterArguments>::schema());
        known.retain(|name| name != ALL_SPACES);
        if self.condition.contains_key(ALL_SPACES) {
            let message = "memories are forgotten within one space, and never across";
            return Err(ToolError::invalid("unknown_argument", ALL_SPACES, message));
        }
        refuse_unknown(&known, &self.condition)?;
        let CombinedInput(standing, which) =
            CombinedInput::<StateFilterArguments, MemoryFilterArguments>::reader()(self.condition.clone())?;
        let mut filter = which.filter(desk);
        filter.states = match standing.states.is_empty() && standing.include_archived {
            true => State::ALL.to_vec(),
            false => standing.states,
        };
        Ok(filter)
    }

    fn expected(&self) -> Result<Option<u64>, ToolError> {
        let wrong = |number| format!("expect is {number}; a count is 0 or more");
        match self.expect {
            Some(WholeNumber(number)) => u64::try_from(number)
                .map(Some)
                .map_err(|_| ToolError::invalid("out_of_range", "expect", wrong(number))),
            None if self.dry_run => Ok(None),
            None => Err(ToolError::invalid("missing_argument", "expect", "`expect` is missing")
                .hinting("count them with `dry_run` first, and say that count")),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ForgetReport")]
struct ForgetWhereReply {
    /// How many they are.
    count: u64,
    /// Those that are forgotten, newest first; not with `dry_run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<Vec<String>>,
    /// The newest of them; only with `dry_run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories: Option<Vec<MemoryReply>>,
    /// What was held back of the reason, and what they were noted of and stays, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn forget_where(
    desk: &ToolContext<'_>,
    SingleInput(sweep): SingleInput<ForgetWhereArguments>,
) -> Result<OperationOutput<ForgetWhereReply>, ToolError> {
    let (filter, expect) = (sweep.filter(desk)?, sweep.expected()?);
    let manner = if sweep.hard { Manner::Hard } else { Manner::Soft };
    let asked = ForgetWhere { filter, request: ForgetRequest { manner, reason: sweep.reason }, expect };
    if sweep.dry_run {
        let Foreseen { count, newest } = desk.engine.foresee_forget_where(&desk.caller, &asked)?;
        let now = desk.engine.now();
        let memories = newest.iter().map(|memory| shown(memory, now)).collect();
        return Ok(ForgetWhereReply {
            count,
            forgotten: None,
            memories: Some(memories),
            warnings: Vec::new(),
        }
        .into());
    }
    let gone = desk.engine.forget_where(&desk.caller, &asked)?;
    let forgotten: Vec<String> = gone.forgotten.iter().map(|gone| memax::id(gone.id)).collect();
    let (count, warnings) = (forgotten.len() as u64, tool::warnings(&gone.warnings));
    Ok(ForgetWhereReply { count, forgotten: Some(forgotten), memories: None, warnings }.into())
}

/// Where to.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MoveMemoriesArguments {
    /// The space to move them into, by id or name.
    hub_id: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MovedMemories")]
struct MoveMemoriesReply {
    /// The memories as they are now.
    moved: Vec<MemoryReply>,
    /// Those that there were none of.
    not_found: Vec<String>,
}

fn move_many(
    desk: &ToolContext<'_>,
    CombinedInput(several, to): CombinedInput<MemoryIdsArguments, MoveMemoriesArguments>,
) -> Result<OperationOutput<MoveMemoriesReply>, ToolError> {
    let done = desk.engine.move_to(&desk.caller, &several.which()?, &to.hub_id)?;
    let now = desk.engine.now();
    let moved = done.moved.iter().map(|memory| shown(memory, now)).collect();
    Ok(MoveMemoriesReply { moved, not_found: names(&done.missing) }.into())
}

fn names(which: &[MemoryRef]) -> Vec<String> {
    let name = |which: &MemoryRef| match which {
        MemoryRef::Id(id) => memax::id(*id),
        other @ (MemoryRef::Number(_) | MemoryRef::Foreign(_)) => other.to_string(),
    };
    which.iter().map(name).collect()
}
