//! `/v1/memories`: reads, moves and forgets memories.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::model::answer::{EditedMemory, ForgetWherePreview, Page, WarningMessage};
use tulving_core::model::error::{Error, Field, Invalid};
use tulving_core::model::id::{MemoryId, MemoryRef};
use tulving_core::model::limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Filter, ForgetMode, ForgetRequest, ForgetWhere, ListQuery, MemoryFilter};
use tulving_core::model::vocabulary::State;
use tulving_dialects::argument::WholeNumber;
use tulving_dialects::finding::{self, total_of};
use tulving_dialects::tool::{ToolContext, ToolError};

use super::editing::changed;
use super::messages;
use tulving_dialects::argument::MemoryIdArguments;
use tulving_dialects::operation::{
    CombinedInput, Operation, OperationInput, OperationMethod, OperationOutput, SingleInput, names_of,
    refuse_unknown,
};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/memories", "listMemories", "List memories", list).saying(
            "Returns one page at a time; following `next_cursor` neither skips nor repeats memories. Archived memories are \
             left out unless `states` names them or `include_archived` is true.",
        ),
        Operation::new(OperationMethod::Get, "/v1/memories/{id}", "getMemory", "Read a memory", get)
            .saying("`ETag` is the version of the memory. This does not count as an access."),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}", "deleteMemory", "Delete a memory for good", delete)
            .saying(
                "Deletes the row, the versions, the sections and the vectors. With `soft=true` the memory can be restored. A \
                 memory that was softly forgotten before is kept for the audit and gives 404, unless `forgotten=true`.",
            ),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/access", "accessMemory", "Count an access", access),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/restore", "restoreMemory", "Restore a memory", restore)
            .saying("Restores a memory that was softly forgotten. Any other memory is returned unchanged."),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/archive", "archiveMemory", "Archive a memory", archive)
            .saying("Recall no longer finds the memory. It can still be read and unarchived."),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}/archive", "unarchiveMemory", "Unarchive a memory", unarchive)
            .saying("Recall finds the memory again."),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/pin", "pinMemory", "Pin a memory", pin)
            .saying("A pinned memory does not decay, and is part of the context at the start of a session."),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}/pin", "unpinMemory", "Unpin a memory", unpin),
        Operation::new(OperationMethod::Post, "/v1/memories/batch-delete", "deleteMemories", "Delete many for good", delete_many)
            .saying(
                "Deletes up to 100 memories in one change. `not_found` lists ids that do not exist, were softly forgotten or \
                 are not visible to you.",
            ),
        Operation::new(
            OperationMethod::Post,
            "/v1/memories/forget-where",
            "forgetWhere",
            "Forget all memories that match a condition",
            forget_where,
        )
        .saying(
            "Forgets up to 10,000 memories in the space of the call, in one change. `dry_run` only counts them. Otherwise \
             `expect` must be their count; if the count has changed, nothing is forgotten. Memories that mirror files are never \
             included. Archived memories are included only if `states` names them or `include_archived` is true.",
        ),
        Operation::new(OperationMethod::Post, "/v1/memories/batch-move", "moveMemories", "Move many into another space", move_many)
            .saying(
                "Moves up to 100 memories in one change. They keep their ids and get new numbers. You need the right to change \
                 their boundary, and to write in the other space.",
            ),
    ]
}

fn list(
    context: &ToolContext<'_>,
    CombinedInput(query, filter): CombinedInput<ListQuery, MemoryFilter>,
) -> Result<OperationOutput<Page>, ToolError> {
    let request = finding::list_request(context, query, filter)?;
    let page = context.engine.list(&context.caller, &request)?;
    Ok(Page { total: total_of(context, &request, &page)?, ..page }.into())
}

/// Returns a memory, tagged with its version.
pub(super) fn one(memory: Memory) -> OperationOutput<Memory> {
    let version = memory.version;
    OperationOutput::from(memory).of(version)
}

fn get(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.get(&context.caller, this.id)?))
}

fn access(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    context.catch_up();
    Ok(one(context.engine.count_access(&context.caller, this.id)?))
}

fn restore(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<EditedMemory>, ToolError> {
    Ok(changed(context.engine.restore(&context.caller, this.id)?))
}

fn archive(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.archive(&context.caller, this.id)?))
}

fn unarchive(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.unarchive(&context.caller, this.id)?))
}

fn pin(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.pin(&context.caller, this.id)?))
}

fn unpin(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.unpin(&context.caller, this.id)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteMemoryArguments {
    /// True to make it possible to restore the memory (default false).
    #[serde(default)]
    soft: bool,
    /// True to delete it even if it was softly forgotten before; else such a memory is kept for the audit.
    #[serde(default)]
    forgotten: bool,
    /// The reason, for the audit.
    reason: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedMemory")]
struct DeleteMemoryReply {
    /// The memory as it was.
    #[serde(flatten)]
    edited: EditedMemory,
    /// False if the memory was only forgotten and may be restored.
    deleted: bool,
}

fn delete(
    context: &ToolContext<'_>,
    CombinedInput(this, how): CombinedInput<MemoryIdArguments, DeleteMemoryArguments>,
) -> Result<OperationOutput<DeleteMemoryReply>, ToolError> {
    let mode = match (how.soft, how.forgotten) {
        (true, _) => ForgetMode::Soft,
        (false, true) => ForgetMode::Hard,
        (false, false) => ForgetMode::Delete,
    };
    let request = ForgetRequest { mode, reason: how.reason };
    let edited = context.engine.forget(&context.caller, this.id, &request)?;
    Ok(DeleteMemoryReply { edited, deleted: mode != ForgetMode::Soft }.into())
}

/// Names several memories.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryIdsArguments {
    /// The memories, by id.
    #[schemars(length(min = 1, max = 100))]
    ids: Vec<MemoryRef>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedMemories")]
struct DeleteMemoriesReply {
    /// The memories that were deleted.
    deleted: Vec<MemoryId>,
    /// The memories that were not found.
    not_found: Vec<MemoryRef>,
}

fn delete_many(
    context: &ToolContext<'_>,
    SingleInput(several): SingleInput<MemoryIdsArguments>,
) -> Result<OperationOutput<DeleteMemoriesReply>, ToolError> {
    let request = ForgetRequest { mode: ForgetMode::Delete, reason: None };
    let (which, limit) = (several.ids, limits::MOVES);
    if which.len() > limit {
        let invalid = Invalid::TooMany { field: Field::Memories, got: which.len(), limit };
        return Err(Error::from(invalid).into());
    }
    let gone = context.engine.forget_many(&context.caller, &which, &request)?;
    let deleted = gone.forgotten.iter().map(|memory| memory.id).collect();
    Ok(DeleteMemoriesReply { deleted, not_found: gone.missing }.into())
}

/// Selects the memories of the space to forget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgetWhereArguments {
    /// The condition: the filters of `GET /v1/memories`, at least one of them.
    #[serde(rename = "where")]
    #[schemars(with = "MemoryFilterSchema")]
    condition: Map<String, Value>,
    /// True to only count them and return the newest 20.
    #[serde(default)]
    dry_run: bool,
    /// Their number, as a dry run counted them. Required without `dry_run`.
    #[schemars(range(min = 0))]
    expect: Option<WholeNumber>,
    /// True to delete them for good; else they can be restored.
    #[serde(default)]
    hard: bool,
    /// The reason, for the audit.
    reason: Option<String>,
}

/// The arguments of a condition that are not part of the filter.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct ArchivedArguments {
    /// True if archived memories are included. Not needed if `states` names them.
    include_archived: bool,
}

/// The list argument that a condition does not accept, because a condition applies to one space.
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
    let mut schema = CombinedInput::<ArchivedArguments, MemoryFilter>::schema_from(generator);
    schema.remove("description");
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove(ALL_SPACES);
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    Schema::from(schema)
}

impl ForgetWhereArguments {
    fn filter(&self, context: &ToolContext<'_>) -> Result<Filter, ToolError> {
        let mut known = names_of(&CombinedInput::<ArchivedArguments, MemoryFilter>::schema());
        known.retain(|name| name != ALL_SPACES);
        if self.condition.contains_key(ALL_SPACES) {
            let message = "`all_spaces` is not supported here: memories are forgotten in one space at a time";
            return Err(ToolError::invalid("unknown_argument", ALL_SPACES, message));
        }
        refuse_unknown(&known, &self.condition)?;
        let CombinedInput(archived, filter) =
            CombinedInput::<ArchivedArguments, MemoryFilter>::reader()(self.condition.clone())?;
        let mut filter = filter.resolve(&context.caller, context.engine.now());
        if filter.states.is_empty() && archived.include_archived {
            filter.states = State::ALL.to_vec();
        }
        Ok(filter)
    }

    fn expected(&self) -> Result<Option<u64>, ToolError> {
        let wrong = |number| format!("expect is {number}; give 0 or more");
        match self.expect {
            Some(WholeNumber(number)) => u64::try_from(number)
                .map(Some)
                .map_err(|_| ToolError::invalid("out_of_range", "expect", wrong(number))),
            None if self.dry_run => Ok(None),
            None => Err(ToolError::invalid("missing_argument", "expect", "`expect` is missing")
                .hinting("count the memories with `dry_run` first, and send that count")),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ForgetReport")]
struct ForgetWhereReply {
    /// Number of memories that match.
    count: u64,
    /// The forgotten memories, newest first; absent with `dry_run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<Vec<MemoryId>>,
    /// The newest memories that match; only with `dry_run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories: Option<Vec<Memory>>,
    /// Parts of the reason that were redacted, and turns of the memories that are still in the conversation log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningMessage>,
}

fn forget_where(
    context: &ToolContext<'_>,
    SingleInput(sweep): SingleInput<ForgetWhereArguments>,
) -> Result<OperationOutput<ForgetWhereReply>, ToolError> {
    let (filter, expect) = (sweep.filter(context)?, sweep.expected()?);
    let mode = if sweep.hard { ForgetMode::Hard } else { ForgetMode::Soft };
    let asked = ForgetWhere { filter, request: ForgetRequest { mode, reason: sweep.reason }, expect };
    if sweep.dry_run {
        let ForgetWherePreview { count, newest } =
            context.engine.foresee_forget_where(&context.caller, &asked)?;
        return Ok(
            ForgetWhereReply { count, forgotten: None, memories: Some(newest), warnings: Vec::new() }.into()
        );
    }
    let gone = context.engine.forget_where(&context.caller, &asked)?;
    let forgotten: Vec<MemoryId> = gone.forgotten.iter().map(|gone| gone.id).collect();
    let (count, warnings) = (forgotten.len() as u64, messages(gone.warnings));
    Ok(ForgetWhereReply { count, forgotten: Some(forgotten), memories: None, warnings }.into())
}

/// The target of a move.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MoveMemoriesArguments {
    /// The space to move them into, by id or name.
    hub_id: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MovedMemories")]
struct MoveMemoriesReply {
    /// The moved memories, in their new state.
    moved: Vec<Memory>,
    /// The memories that were not found.
    not_found: Vec<MemoryRef>,
}

fn move_many(
    context: &ToolContext<'_>,
    CombinedInput(several, to): CombinedInput<MemoryIdsArguments, MoveMemoriesArguments>,
) -> Result<OperationOutput<MoveMemoriesReply>, ToolError> {
    let done = context.engine.move_to(&context.caller, &several.ids, &to.hub_id)?;
    Ok(MoveMemoriesReply { moved: done.moved, not_found: done.missing }.into())
}
