//! Lifecycle rules for memories that have aged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::{TendRequest, TendedStep};

use super::operation::{Operation, OperationMethod, OperationOutput, SingleInput};
use super::shown::{MemoryReply, shown};
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of steps in the report.
const STEPS: i64 = 1_000;
const USUAL_STEPS: i64 = 100;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/tend", "tend", "Apply the rules for what has aged", tend).saying(
            "In the space of the call, for its admins. With `dry_run` it says what would be done, and why, and writes nothing.",
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TendArguments {
    /// Only say what would be done (default: false).
    #[serde(default)]
    dry_run: bool,
    /// Most steps to tell, 1 to 1000 (default 100).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// What rules did, or would do.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TendReport")]
struct TendReply {
    /// Whether nothing was written.
    dry_run: bool,
    /// How many memories were looked at.
    looked_at: u64,
    /// How many began to cool.
    cooled: u64,
    /// How many are active again.
    revived: u64,
    /// How many were archived.
    archived: u64,
    /// How many that were forgotten went for good.
    erased: u64,
    /// How many entries of the audit went.
    audit_removed: u64,
    /// How many would go for good once the clock has been steady for a day.
    held_back: u64,
    /// The first of these steps.
    steps: Vec<TendStepReply>,
}

/// One step.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TendStep")]
struct TendStepReply {
    /// What is done: cool, revive, archive or erase.
    step: &'static str,
    /// Why.
    why: String,
    /// The memory.
    memory: MemoryReply,
}

fn tend(
    desk: &ToolContext<'_>,
    SingleInput(asked): SingleInput<TendArguments>,
) -> Result<OperationOutput<TendReply>, ToolError> {
    let request = TendRequest {
        space: Some(desk.caller.space),
        dry_run: asked.dry_run,
        shown: limited(desk, asked.limit, USUAL_STEPS, STEPS)?,
    };
    let now = desk.engine.now();
    let taken = |TendedStep { step, why, memory }: TendedStep| TendStepReply {
        step: step.as_str(),
        why,
        memory: shown(&memory, now),
    };
    let tended = desk.engine.tend(&desk.caller, &request)?;
    Ok(TendReply {
        dry_run: asked.dry_run,
        looked_at: tended.looked_at,
        cooled: tended.cooled,
        revived: tended.revived,
        archived: tended.archived,
        erased: tended.erased,
        audit_removed: tended.audit_removed,
        held_back: tended.held_back,
        steps: tended.steps.into_iter().map(taken).collect(),
    }
    .into())
}
