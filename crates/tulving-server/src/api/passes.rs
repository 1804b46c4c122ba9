//! `/v1/passes`: lists the records of background work, and undoes the work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::id::PassId;
use tulving_core::model::pass::{
    DescribedAct, DescribedPass, LastUndoOutcome, Pass, PassFilter, PassUndoResult, UndoStep, UndoneChange,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{PassKind, PassOutcome};
use tulving_core::{ConsolidationSummary, DroppedLine, RejectedLine};

use tulving_core::model::answer::UnreadableFile;
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of passes on a page.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/passes", "listPasses", "List passes", list).read_by(Audience::Relays).saying(
            "A pass is a piece of background work in the space of the call: it read turns, or consolidated journals. Newest \
             first. Passes about other people's private memories are left out.",
        ),
        Operation::new(OperationMethod::Get, "/v1/passes/{pass_id}", "getPass", "Read a pass, with all its acts", get).read_by(Audience::Relays),
        Operation::new(OperationMethod::Post, "/v1/passes/{pass_id}/undo", "undoPass", "Undo a pass", undo)
            .saying(
                "Reverses each act whose result is still as the pass left it. Later changes by others stay, and `steps` says so. \
                 You need the right to write in the space. A pass that was undone before gives 409.",
            ),
        Operation::new(OperationMethod::Post, "/v1/undo", "undoLast", "Undo the newest change", undo_last)
            .saying(
                "Reverses the newest change in the space of the call: the caller's own, one that an agent made for the caller, or \
                 that of a pass. A caller with an agent reverses only what that agent did. The change is reversed as a whole, and a \
                 second call redoes it if `redoable` is true. If the change cannot be undone, or a later change depends on it, the \
                 answer is 409 and names it; no older change is undone instead.",
            ),
        Operation::new(
            OperationMethod::Post,
            "/v1/consolidate",
            "consolidate",
            "Consolidate journals into MEMORY.md",
            consolidate,
        )
        .saying(
            "Searches the journals of the last 7 days for facts to keep in MEMORY.md: with the configured language model, else by \
             rules. Results of rules are written only with `apply`. The previous text of the file is kept.",
        ),
    ]
}

/// The options of a consolidation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConsolidateArguments {
    /// True to only report what would change (default false).
    #[serde(default)]
    dry_run: bool,
    /// True to write the result even if no language model was asked (default false).
    #[serde(default)]
    apply: bool,
}

/// The result of a consolidation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsolidationReport")]
pub struct ConsolidateReply {
    /// True if the file was written.
    written: bool,
    /// The id of the pass; null if nothing was written.
    pass_id: Option<String>,
    /// The language model that was asked; null if rules did it.
    model: Option<String>,
    /// Number of journals that were read.
    journals: usize,
    /// The journals that could not be read.
    unread: Vec<UnreadableFile>,
    /// Number of lines added to the file.
    added: usize,
    /// Number of lines removed from it.
    removed: usize,
    /// The lines that the file loses (`-`) and gains (`+`).
    diff: String,
    /// Proposed lines that were not added, each with the reason.
    left_out: Vec<RejectedLine>,
    /// The pass that saved the doubtful ones among them as memories that wait for review.
    held: Option<String>,
    /// Lines whose proposed removal was refused.
    put_back: Vec<String>,
    /// Lines that were removed, each with its replacement.
    gone: Vec<DroppedLine>,
    /// The model's reason for removing lines.
    dropped: Option<String>,
    /// The reason why the file stays unchanged.
    stays: Option<String>,
    /// The passes that carried out proposals about memories, if that is configured.
    records: Vec<String>,
    /// The changes of memories that would be made; only with `dry_run`, if that is configured.
    predicted: Vec<String>,
}

fn consolidate(
    context: &ToolContext<'_>,
    SingleInput(how): SingleInput<ConsolidateArguments>,
) -> Result<OperationOutput<ConsolidateReply>, ToolError> {
    let write = !how.dry_run && (how.apply || context.engine.llm().is_some());
    let described = context.engine.consolidate(&context.caller, write)?;
    Ok(ConsolidateReply::from(described).into())
}

impl From<ConsolidationSummary> for ConsolidateReply {
    fn from(described: ConsolidationSummary) -> Self {
        Self {
            left_out: described.left_out,
            held: described.held.map(|pass| pass.to_string()),
            put_back: described.put_back,
            gone: described.gone,
            predicted: described.predicted,
            written: described.pass.is_some(),
            pass_id: described.pass.map(|pass| pass.to_string()),
            model: described.model,
            journals: described.journals,
            unread: described.unread,
            added: described.added,
            removed: described.removed,
            diff: described.diff,
            dropped: described.dropped,
            stays: described.stays,
            records: described.records.iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct ListPassesArguments {
    /// Only passes of this kind.
    #[serde(default)]
    kind: Option<PassKind>,
    /// Only passes before this one.
    before: Option<String>,
    /// Maximum number of passes, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// A pass.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Pass")]
pub struct PassReply {
    /// Its id.
    id: String,
    /// The kind of work.
    kind: PassKind,
    /// Its space.
    space: String,
    /// Time at which it began.
    began_at: Timestamp,
    /// Time at which it ended; null if it is still running or was interrupted.
    ended_at: Option<Timestamp>,
    /// Its outcome.
    outcome: PassOutcome,
    /// The language model that was asked; null if rules did it.
    model: Option<String>,
    /// Further facts.
    note: Option<String>,
    /// Number of its acts that you may see.
    acts: usize,
    /// True if it was interrupted and will not end.
    interrupted: bool,
}

impl PassReply {
    /// Describes a pass at this time.
    pub fn of(pass: Pass, now: Timestamp) -> Self {
        Self {
            interrupted: pass.is_interrupted(now),
            id: pass.id.to_string(),
            kind: pass.kind,
            space: pass.space.to_string(),
            began_at: pass.began_at,
            ended_at: pass.ended_at,
            outcome: pass.outcome,
            model: pass.model,
            note: pass.note,
            acts: pass.acts.len(),
        }
    }
}

/// A page of passes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PassList")]
pub struct PassListReply {
    /// The passes, newest first.
    pub passes: Vec<PassReply>,
}

fn list(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<ListPassesArguments>,
) -> Result<OperationOutput<PassListReply>, ToolError> {
    let filter = PassFilter {
        space: Some(context.caller.space),
        kind: which.kind,
        before: which.before.as_deref().map(|id| named("before", id)).transpose()?,
        limit: limited(context, which.limit, USUAL_PAGE, PAGE)?,
    };
    let passes = context.engine.passes(&context.caller, &filter)?;
    let now = context.engine.now();
    Ok(PassListReply { passes: passes.into_iter().map(|pass| PassReply::of(pass, now)).collect() }.into())
}

/// Names a pass.
#[derive(Deserialize, JsonSchema)]
struct GetPassArguments {
    /// The pass.
    #[schemars(extend("format" = "uuid"))]
    pass_id: String,
}

/// A pass, with all its acts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PassDetails")]
pub struct PassDetailsReply {
    /// The pass.
    #[serde(flatten)]
    pass: PassReply,
    /// Its acts, in order.
    described: Vec<DescribedAct>,
}

fn get(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<GetPassArguments>,
) -> Result<OperationOutput<PassDetailsReply>, ToolError> {
    let described = context.engine.pass(&context.caller, named("pass_id", &this.pass_id)?)?;
    Ok(PassDetailsReply::of(described, context.engine.now()).into())
}

impl PassDetailsReply {
    /// Describes a pass with its acts at this time.
    pub fn of(described: DescribedPass, now: Timestamp) -> Self {
        Self { pass: PassReply::of(described.pass, now), described: described.described }
    }
}

/// Names a pass to undo.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoPassArguments {
    /// The pass.
    #[schemars(extend("format" = "uuid"))]
    pass_id: String,
    /// True to only report what would be undone (default false).
    #[serde(default)]
    dry_run: bool,
}

/// The result of undoing a pass.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UndoReport")]
pub struct UndoPassReply {
    /// The pass in its new state.
    pass: PassReply,
    /// The acts that were undone and those that stay, the last act first.
    steps: Vec<UndoStep>,
}

fn undo(
    context: &ToolContext<'_>,
    SingleInput(back): SingleInput<UndoPassArguments>,
) -> Result<OperationOutput<UndoPassReply>, ToolError> {
    let undone = context.engine.undo(&context.caller, named("pass_id", &back.pass_id)?, back.dry_run)?;
    Ok(UndoPassReply::of(undone, context.engine.now()).into())
}

impl UndoPassReply {
    /// Describes an undone pass at this time.
    pub fn of(undone: PassUndoResult, now: Timestamp) -> Self {
        Self { pass: PassReply::of(undone.pass, now), steps: undone.steps }
    }
}

/// The options of an undo.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoLastArguments {
    /// True to only report what would be undone (default false).
    #[serde(default)]
    dry_run: bool,
}

/// The last change, which was undone.
#[derive(Serialize, JsonSchema)]
pub struct UndoLastReply {
    /// The pass that made it; null if no pass did.
    pass: Option<PassReply>,
    /// Time of the change.
    at: Timestamp,
    /// The agent that made it; null for a pass and for a change without an agent.
    agent: Option<String>,
    /// True if another undo redoes it. Passes and notes in a journal cannot be redone.
    redoable: bool,
    /// The acts that were undone and, for a pass, those that stay.
    steps: Vec<UndoStep>,
}

fn undo_last(
    context: &ToolContext<'_>,
    SingleInput(back): SingleInput<UndoLastArguments>,
) -> Result<OperationOutput<UndoLastReply>, ToolError> {
    let undone = context.engine.undo_last(&context.caller, back.dry_run)?;
    Ok(UndoLastReply::of(undone, context.engine.now()).into())
}

impl UndoLastReply {
    /// Describes the last change at this time.
    pub fn of(undone: LastUndoOutcome, now: Timestamp) -> Self {
        match undone {
            LastUndoOutcome::Pass(undone) => {
                let at = undone.pass.began_at;
                let UndoPassReply { pass, steps } = UndoPassReply::of(undone, now);
                Self { pass: Some(pass), at, agent: None, redoable: false, steps }
            }
            LastUndoOutcome::Change(UndoneChange { at, agent, redoable, steps }) => {
                Self { pass: None, at, agent, redoable, steps }
            }
        }
    }
}

fn named(field: &'static str, id: &str) -> Result<PassId, ToolError> {
    id.parse().map_err(|_| {
        ToolError::invalid("invalid_argument", field, format!("`{field}` is not the id of a pass"))
    })
}
