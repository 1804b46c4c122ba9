//! `/v1/memories`: reading, moving about and forgetting.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::answer::{Cursor, Foreseen};
use tulving_core::error::{Error, Field, Invalid};
use tulving_core::id::MemoryRef;
use tulving_core::limits;
use tulving_core::memory::Memory;
use tulving_core::request::{
    Filter, ForgetRequest, ForgetWhere, Forgotten, ListRequest, Manner, Quarantined, Sort,
};
use tulving_core::vocabulary::State;

use super::operation::{Input, Made, Method, One, Operation, Two, names_of, refuse_unknown};
use super::recall::Which;
use super::shown::{Shown, shown};
use crate::argument::{Name, Whole, limited, named};
use crate::memax;
use crate::tool::{self, Desk, Refusal};
use crate::words;

/// Most memories of a page, and how many where it is not said.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Get, "/v1/memories", "listMemories", "List memories", list).saying(
            "Page by page: following `next_cursor` neither skips nor repeats. Archived ones are left out unless \
             `states` names them or `include_archived` is true.",
        ),
        Operation::new(Method::Get, "/v1/memories/{id}", "getMemory", "Read a memory", get)
            .saying("`ETag` is its version. Reading it here does not count as access."),
        Operation::new(Method::Delete, "/v1/memories/{id}", "deleteMemory", "Delete a memory for good", delete)
            .saying(
                "Row, versions, sections and vectors go. With `soft=true` it can be restored. One that was softly forgotten \
                 is not found, and stays for the audit, unless `forgotten=true`.",
            ),
        Operation::new(Method::Post, "/v1/memories/{id}/access", "accessMemory", "Count an access", access),
        Operation::new(Method::Post, "/v1/memories/{id}/restore", "restoreMemory", "Restore a memory", restore)
            .saying("One that was softly forgotten; one that was not is given as it is."),
        Operation::new(Method::Post, "/v1/memories/{id}/archive", "archiveMemory", "Archive a memory", archive)
            .saying("Recall no longer finds it; it can be read and taken back."),
        Operation::new(Method::Delete, "/v1/memories/{id}/archive", "unarchiveMemory", "Take it back", unarchive)
            .saying("Out of the archive: recall finds it again."),
        Operation::new(Method::Post, "/v1/memories/{id}/pin", "pinMemory", "Pin a memory", pin)
            .saying("It does not decay, and is told at the start of a session."),
        Operation::new(Method::Delete, "/v1/memories/{id}/pin", "unpinMemory", "Unpin a memory", unpin),
        Operation::new(Method::Post, "/v1/memories/batch-delete", "deleteMemories", "Delete many for good", delete_many)
            .saying(
                "Up to 100, as one act. What does not exist, was softly forgotten or may not be seen, is in `not_found`.",
            ),
        Operation::new(
            Method::Post,
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
        Operation::new(Method::Post, "/v1/memories/batch-move", "moveMemories", "Move many into another space", move_many)
            .saying(
                "Up to 100, as one act. They keep their ids and get new numbers. It takes the right to say who sees \
                 them, and to write in the other space.",
            ),
    ]
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
struct Paged {
    /// Most memories of the page, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<Whole>,
    /// Where the last page ended: its `next_cursor`. With the same filters and order.
    cursor: Option<String>,
    /// In which order (default: newest).
    sort: Option<Order>,
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

/// An order of a list.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Order {
    Newest,
    Oldest,
    Updated,
    Accessed,
    Importance,
    MostAccessed,
}

impl From<Order> for Sort {
    fn from(order: Order) -> Self {
        match order {
            Order::Newest => Self::Newest,
            Order::Oldest => Self::Oldest,
            Order::Updated => Self::Updated,
            Order::Accessed => Self::Accessed,
            Order::Importance => Self::Importance,
            Order::MostAccessed => Self::MostAccessed,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Page {
    /// The memories, in order.
    memories: Vec<Shown>,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
    /// What could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn list(desk: &Desk<'_>, Two(paged, which): Two<Paged, Which>) -> Result<Made<Page>, Refusal> {
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
    let page = desk.engine.list(&desk.caller, &ListRequest { filter, sort, limit, cursor })?;
    let now = desk.engine.now();
    let memories = page.memories.iter().map(|memory| shown(memory, now)).collect();
    let warnings = tool::failed(&page.failed_backends);
    Ok(Page { memories, next_cursor: page.next.map(|cursor| cursor.to_string()), warnings }.into())
}

/// Which memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct This {
    /// The memory: its id, or its number in the space.
    #[schemars(schema_with = "words::memory")]
    id: String,
}

impl This {
    pub(super) fn which(&self) -> Result<MemoryRef, Refusal> {
        named("id", &self.id)
    }
}

pub(super) fn one(desk: &Desk<'_>, memory: &Memory) -> Made<Shown> {
    Made::from(shown(memory, desk.engine.now())).of(memory.version)
}

fn get(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.get(&desk.caller, this.which()?)?))
}

fn access(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    desk.catch_up();
    Ok(one(desk, &desk.engine.touch(&desk.caller, this.which()?)?))
}

fn restore(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.restore(&desk.caller, this.which()?)?))
}

fn archive(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.archive(&desk.caller, this.which()?)?))
}

fn unarchive(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.unarchive(&desk.caller, this.which()?)?))
}

fn pin(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.pin(&desk.caller, this.which()?)?))
}

fn unpin(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.unpin(&desk.caller, this.which()?)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deletion {
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
struct Deleted {
    /// The memory.
    id: String,
    /// That it is gone.
    deleted: bool,
    /// What was held back of the reason, and what it was noted of and stays, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn delete(desk: &Desk<'_>, Two(this, how): Two<This, Deletion>) -> Result<Made<Deleted>, Refusal> {
    let manner = match (how.soft, how.forgotten) {
        (true, _) => Manner::Soft,
        (false, true) => Manner::Hard,
        (false, false) => Manner::Delete,
    };
    let request = ForgetRequest { manner, reason: how.reason };
    let gone = desk.engine.forget(&desk.caller, this.which()?, &request)?;
    let warnings = tool::warnings(&gone.warnings);
    Ok(Deleted { id: memax::id(gone.memory.id), deleted: true, warnings }.into())
}

/// Which memories.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Several {
    /// The memories, by id.
    #[schemars(schema_with = "words::memories")]
    ids: Vec<Name>,
}

impl Several {
    fn which(&self) -> Result<Vec<MemoryRef>, Refusal> {
        self.ids.iter().map(|id| named("ids", &id.0)).collect()
    }
}

#[derive(Serialize, JsonSchema)]
struct DeletedMany {
    /// Those that are gone.
    deleted: Vec<String>,
    /// Those that there were none of.
    not_found: Vec<String>,
}

fn delete_many(desk: &Desk<'_>, One(several): One<Several>) -> Result<Made<DeletedMany>, Refusal> {
    let request = ForgetRequest { manner: Manner::Delete, reason: None };
    let (which, limit) = (several.which()?, limits::MOVES);
    if which.len() > limit {
        let invalid = Invalid::TooMany { field: Field::Memories, got: which.len(), limit };
        return Err(Error::from(invalid).into());
    }
    let gone = desk.engine.forget_many(&desk.caller, &which, &request)?;
    let deleted = gone.forgotten.iter().map(|memory| memax::id(memory.id)).collect();
    Ok(DeletedMany { deleted, not_found: names(&gone.missing) }.into())
}

/// Which memories of the space are forgotten, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sweep {
    /// What holds of them, in the words of a list; at least one thing.
    #[serde(rename = "where")]
    #[schemars(schema_with = "condition")]
    condition: Map<String, Value>,
    /// Only count them, and show the newest 20.
    #[serde(default)]
    dry_run: bool,
    /// How many they are, as a dry run counted them.
    #[schemars(range(min = 0))]
    expect: Option<Whole>,
    /// For good; else they can be restored.
    #[serde(default)]
    hard: bool,
    /// Why, for the record.
    reason: Option<String>,
}

/// In which states.
#[derive(Deserialize, JsonSchema)]
struct Standing {
    /// Only in these states; what has expired counts as archived.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<State>")]
    states: Vec<State>,
    /// Archived ones too, where no states are named.
    #[serde(default)]
    include_archived: bool,
}

/// The argument of a list that a condition does not have: it is within one space.
const ALL_SPACES: &str = "all_spaces";

/// The schema of a condition.
fn condition(_: &mut SchemaGenerator) -> Schema {
    let mut schema = Two::<Standing, Which>::schema();
    for part in ["description", "title", "$schema"] {
        schema.remove(part);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove(ALL_SPACES);
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    Schema::from(schema)
}

impl Sweep {
    fn filter(&self, desk: &Desk<'_>) -> Result<Filter, Refusal> {
        let mut known = names_of(&Two::<Standing, Which>::schema());
        known.retain(|name| name != ALL_SPACES);
        if self.condition.contains_key(ALL_SPACES) {
            let message = "memories are forgotten within one space, and never across";
            return Err(Refusal::invalid("unknown_argument", ALL_SPACES, message));
        }
        refuse_unknown(&known, &self.condition)?;
        let Two(standing, which) = Two::<Standing, Which>::reader()(self.condition.clone())?;
        let mut filter = which.filter(desk);
        filter.states = match standing.states.is_empty() && standing.include_archived {
            true => State::ALL.to_vec(),
            false => standing.states,
        };
        Ok(filter)
    }

    fn expected(&self) -> Result<Option<u64>, Refusal> {
        let wrong = |number| format!("expect is {number}; a count is 0 or more");
        match self.expect {
            Some(Whole(number)) => u64::try_from(number)
                .map(Some)
                .map_err(|_| Refusal::invalid("out_of_range", "expect", wrong(number))),
            None if self.dry_run => Ok(None),
            None => Err(Refusal::invalid("missing_argument", "expect", "`expect` is missing")
                .hinting("count them with `dry_run` first, and say that count")),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Swept {
    /// How many they are.
    count: u64,
    /// Those that are forgotten, newest first; not with `dry_run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten: Option<Vec<String>>,
    /// The newest of them; only with `dry_run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memories: Option<Vec<Shown>>,
    /// What was held back of the reason, and what they were noted of and stays, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn forget_where(desk: &Desk<'_>, One(sweep): One<Sweep>) -> Result<Made<Swept>, Refusal> {
    let (filter, expect) = (sweep.filter(desk)?, sweep.expected()?);
    let manner = if sweep.hard { Manner::Hard } else { Manner::Soft };
    let asked = ForgetWhere { filter, request: ForgetRequest { manner, reason: sweep.reason }, expect };
    if sweep.dry_run {
        let Foreseen { count, newest } = desk.engine.foresee_forget_where(&desk.caller, &asked)?;
        let now = desk.engine.now();
        let memories = newest.iter().map(|memory| shown(memory, now)).collect();
        return Ok(Swept { count, forgotten: None, memories: Some(memories), warnings: Vec::new() }.into());
    }
    let gone = desk.engine.forget_where(&desk.caller, &asked)?;
    let forgotten: Vec<String> = gone.forgotten.iter().map(|gone| memax::id(gone.id)).collect();
    let (count, warnings) = (forgotten.len() as u64, tool::warnings(&gone.warnings));
    Ok(Swept { count, forgotten: Some(forgotten), memories: None, warnings }.into())
}

/// Where to.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Destination {
    /// The space to move them into, by id or name.
    hub_id: String,
}

#[derive(Serialize, JsonSchema)]
struct MovedMany {
    /// The memories as they are now.
    moved: Vec<Shown>,
    /// Those that there were none of.
    not_found: Vec<String>,
}

fn move_many(
    desk: &Desk<'_>,
    Two(several, to): Two<Several, Destination>,
) -> Result<Made<MovedMany>, Refusal> {
    let done = desk.engine.move_to(&desk.caller, &several.which()?, &to.hub_id)?;
    let now = desk.engine.now();
    let moved = done.moved.iter().map(|memory| shown(memory, now)).collect();
    Ok(MovedMany { moved, not_found: names(&done.missing) }.into())
}

fn names(which: &[MemoryRef]) -> Vec<String> {
    let name = |which: &MemoryRef| match which {
        MemoryRef::Id(id) => memax::id(*id),
        number @ MemoryRef::Number(_) => number.to_string(),
    };
    which.iter().map(name).collect()
}
