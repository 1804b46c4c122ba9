//! `/v1/passes`: what work in the background did, and taking it back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::id::PassId;
use tulving_core::model::pass::{LastUndone, Pass, PassFilter, ToldAct, UndoStep, UndoneChange};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{PassKind, PassOutcome};
use tulving_core::{DroppedLine, RejectedLine};

use super::journals::UnreadFileReply;
use super::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;

/// Most passes of a page, and how many where it is not said.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/passes", "listPasses", "What passes did", list).read_by(Audience::Relays).saying(
            "Work in the background in the space of the call, newest first: turns that were looked at, journals that were \
             consolidated. Those about private memories of others are not told.",
        ),
        Operation::new(OperationMethod::Get, "/v1/passes/{pass_id}", "getPass", "One pass, with all that it did", get).read_by(Audience::Relays),
        Operation::new(OperationMethod::Post, "/v1/passes/{pass_id}/undo", "undoPass", "Take back what a pass did", undo)
            .saying(
                "As far as it still stands as the pass left it; what somebody changed since stays, and is said. With the right \
                 to write there. One that was undone before is 409.",
            ),
        Operation::new(OperationMethod::Post, "/v1/undo", "undoLast", "Undo the newest change", undo_last)
            .saying(
                "Reverses the newest change in the space of the call: the caller's own, one that an agent made for the caller, or \
                 that of a pass. A caller with an agent reverses only what that agent did. The change is reversed as a whole, and a \
                 second call redoes it where `redoable` is true. A change that cannot be undone, or that somebody has built on \
                 since, is 409 and named; nothing older is undone in its place.",
            ),
        Operation::new(
            OperationMethod::Post,
            "/v1/consolidate",
            "consolidate",
            "Take journals over into MEMORY.md",
            consolidate,
        )
        .saying(
            "Looks at the journals of the last 7 days for what shall always be known: by the language model that is set up, else by \
             rules, which are written only with `apply`. What the file said before is kept.",
        ),
    ]
}

/// How journals are taken over.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConsolidateArguments {
    /// Only say what would change (default false).
    #[serde(default)]
    dry_run: bool,
    /// Write it also where no language model was asked (default false).
    #[serde(default)]
    apply: bool,
}

/// What came of journals.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsolidationReport")]
struct ConsolidateReply {
    /// Whether the file was written.
    written: bool,
    /// The pass that it was; null where nothing was written.
    pass_id: Option<String>,
    /// The language model that was asked; null where rules did it.
    model: Option<String>,
    /// How many journals were looked at.
    journals: usize,
    /// The journals that could not be read.
    unread: Vec<UnreadFileReply>,
    /// How many lines of the file are new.
    added: usize,
    /// How many are gone.
    removed: usize,
    /// The lines that the file loses (`-`) and gets (`+`).
    diff: String,
    /// Lines that were to be added and are not, each with why.
    left_out: Vec<DeclinedLineReply>,
    /// The pass that saved those of them that are in doubt, as memories that wait for review.
    held: Option<String>,
    /// Lines that were to go and stay.
    put_back: Vec<String>,
    /// Lines that are gone, each with what took its place.
    gone: Vec<RemovedLineReply>,
    /// Why lines are gone, in the words of the model.
    dropped: Option<String>,
    /// Why the file stays as it is.
    stays: Option<String>,
    /// The passes that did what was proposed about memories, where that is set up.
    records: Vec<String>,
    /// What would be done about memories, with `dry_run`, where that is set up.
    foreseen: Vec<String>,
}

/// A line that was to be added and is not.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeclinedLine")]
struct DeclinedLineReply {
    /// How it begins.
    line: String,
    /// Why it is left out.
    why: &'static str,
}

/// A line that is gone.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedLine")]
struct RemovedLineReply {
    /// How it began.
    line: String,
    /// What says the same, or something else about it.
    by: String,
}

fn consolidate(
    desk: &ToolContext<'_>,
    SingleInput(how): SingleInput<ConsolidateArguments>,
) -> Result<OperationOutput<ConsolidateReply>, ToolError> {
    let write = !how.dry_run && (how.apply || desk.engine.llm().is_some());
    let told = desk.engine.consolidate(&desk.caller, write)?;
    let left_out = |RejectedLine { line, why }: RejectedLine| DeclinedLineReply { line, why };
    let gone = |DroppedLine { line, by }: DroppedLine| RemovedLineReply { line, by };
    Ok(ConsolidateReply {
        left_out: told.left_out.into_iter().map(left_out).collect(),
        held: told.held.map(|pass| pass.to_string()),
        put_back: told.put_back,
        gone: told.gone.into_iter().map(gone).collect(),
        foreseen: told.foreseen,
        written: told.pass.is_some(),
        pass_id: told.pass.map(|pass| pass.to_string()),
        model: told.model,
        journals: told.journals,
        unread: told.unread.into_iter().map(UnreadFileReply::from).collect(),
        added: told.added,
        removed: told.removed,
        diff: told.diff,
        dropped: told.dropped,
        stays: told.stays,
        records: told.records.iter().map(ToString::to_string).collect(),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
struct ListPassesArguments {
    /// Only of this kind.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<PassKind>")]
    kind: Option<PassKind>,
    /// Only those before this one.
    before: Option<String>,
    /// Most passes to give, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// A pass.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Pass")]
struct PassReply {
    /// Its id.
    id: String,
    /// What sort of work it was.
    #[schemars(schema_with = "words::word::<PassKind>")]
    kind: PassKind,
    /// The space that it was in.
    space: String,
    /// When it began.
    #[schemars(schema_with = "words::time")]
    began_at: Timestamp,
    /// When it came to its end; null where it is under way or was interrupted.
    #[schemars(schema_with = "words::maybe_time")]
    ended_at: Option<Timestamp>,
    /// What became of it.
    #[schemars(schema_with = "words::word::<PassOutcome>")]
    outcome: PassOutcome,
    /// The language model that was asked; null where rules did it.
    model: Option<String>,
    /// Further facts.
    note: Option<String>,
    /// How many things it did, of those that you may see.
    acts: usize,
    /// Whether it has begun and will come to no end.
    interrupted: bool,
}

impl PassReply {
    fn of(pass: Pass, now: Timestamp) -> Self {
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

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PassList")]
struct PassListReply {
    /// The passes, newest first.
    passes: Vec<PassReply>,
}

fn list(
    desk: &ToolContext<'_>,
    SingleInput(which): SingleInput<ListPassesArguments>,
) -> Result<OperationOutput<PassListReply>, ToolError> {
    let filter = PassFilter {
        space: Some(desk.caller.space),
        kind: which.kind,
        before: which.before.as_deref().map(|id| named("before", id)).transpose()?,
        limit: limited(desk, which.limit, USUAL_PAGE, PAGE)?,
    };
    let passes = desk.engine.passes(&desk.caller, &filter)?;
    let now = desk.engine.now();
    Ok(PassListReply { passes: passes.into_iter().map(|pass| PassReply::of(pass, now)).collect() }.into())
}

/// Which pass.
#[derive(Deserialize, JsonSchema)]
struct GetPassArguments {
    /// The pass.
    #[schemars(extend("format" = "uuid"))]
    pass_id: String,
}

/// Something that a pass did.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PassAct")]
struct PassActReply {
    /// In words.
    text: String,
    /// The lines that a file lost (`-`) and got (`+`), where what it said is still kept.
    diff: Option<String>,
}

/// A pass, with all that it did.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PassDetails")]
struct PassDetailsReply {
    /// The pass.
    #[serde(flatten)]
    pass: PassReply,
    /// What it did, in order.
    told: Vec<PassActReply>,
}

fn get(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<GetPassArguments>,
) -> Result<OperationOutput<PassDetailsReply>, ToolError> {
    let told = desk.engine.pass(&desk.caller, named("pass_id", &this.pass_id)?)?;
    let deed = |ToldAct { text, diff }: ToldAct| PassActReply { text, diff };
    let pass = PassReply::of(told.pass, desk.engine.now());
    Ok(PassDetailsReply { told: told.told.into_iter().map(deed).collect(), pass }.into())
}

/// Which pass, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoPassArguments {
    /// The pass.
    #[schemars(extend("format" = "uuid"))]
    pass_id: String,
    /// Only say what would be taken back (default false).
    #[serde(default)]
    dry_run: bool,
}

/// Something that was taken back, or stays.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UndoStep")]
struct UndoStepReply {
    /// What had been done.
    text: String,
    /// Why it stays; null where it was taken back.
    stays: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UndoReport")]
struct UndoPassReply {
    /// The pass, as it is now.
    pass: PassReply,
    /// What was taken back and what stays, the last act first.
    steps: Vec<UndoStepReply>,
}

fn undo(
    desk: &ToolContext<'_>,
    SingleInput(back): SingleInput<UndoPassArguments>,
) -> Result<OperationOutput<UndoPassReply>, ToolError> {
    let undone = desk.engine.undo(&desk.caller, named("pass_id", &back.pass_id)?, back.dry_run)?;
    let step = |UndoStep { text, stays }: UndoStep| UndoStepReply { text, stays };
    let pass = PassReply::of(undone.pass, desk.engine.now());
    Ok(UndoPassReply { pass, steps: undone.steps.into_iter().map(step).collect() }.into())
}

/// How the last change is taken back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UndoLastArguments {
    /// Only say what would be taken back (default false).
    #[serde(default)]
    dry_run: bool,
}

/// The last change, taken back.
#[derive(Serialize, JsonSchema)]
struct UndoLastReply {
    /// The pass that made it; null where it was made by hand.
    pass: Option<PassReply>,
    /// When it was made.
    #[schemars(schema_with = "words::time")]
    at: Timestamp,
    /// The agent that made it; null for a pass and for a change without an agent.
    agent: Option<String>,
    /// Whether another undo does it again. Passes and notes in a journal stay undone.
    redoable: bool,
    /// What was taken back and, of a pass, what stays.
    steps: Vec<UndoStepReply>,
}

fn undo_last(
    desk: &ToolContext<'_>,
    SingleInput(back): SingleInput<UndoLastArguments>,
) -> Result<OperationOutput<UndoLastReply>, ToolError> {
    let step = |UndoStep { text, stays }: UndoStep| UndoStepReply { text, stays };
    Ok(match desk.engine.undo_last(&desk.caller, back.dry_run)? {
        LastUndone::Pass(undone) => {
            let at = undone.pass.began_at;
            let pass = Some(PassReply::of(undone.pass, desk.engine.now()));
            let steps = undone.steps.into_iter().map(step).collect();
            UndoLastReply { pass, at, agent: None, redoable: false, steps }
        }
        LastUndone::Change(undone) => {
            let UndoneChange { at, agent, redoable, steps } = undone;
            UndoLastReply { pass: None, at, agent, redoable, steps: steps.into_iter().map(step).collect() }
        }
    }
    .into())
}

fn named(field: &'static str, id: &str) -> Result<PassId, ToolError> {
    id.parse().map_err(|_| {
        ToolError::invalid("invalid_argument", field, format!("`{field}` is not the id of a pass"))
    })
}
