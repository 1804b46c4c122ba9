//! Lifecycle rules for memories that have aged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::memory::Memory;
use tulving_core::{TendRequest, TendedStep};
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{ToolContext, ToolError};

use tulving_dialects::operation::{Operation, OperationMethod, OperationOutput, SingleInput};

/// Maximum and default number of steps in the report.
const STEPS: i64 = 1_000;
const USUAL_STEPS: i64 = 100;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/tend", "tend", "Apply lifecycle rules", tend).saying(
            "Applies the lifecycle rules to the space of the call. For its admins. With `dry_run` it reports what would be done, and \
             why, and writes nothing.",
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TendArguments {
    /// True to only report what would be done (default false).
    #[serde(default)]
    dry_run: bool,
    /// Maximum number of steps in the report, 1 to 1000 (default 100).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// The steps that the rules took, or would take.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TendReport")]
struct TendReply {
    /// True if nothing was written.
    dry_run: bool,
    /// Number of memories that were checked.
    looked_at: u64,
    /// Number of memories that became cooling.
    cooled: u64,
    /// Number of memories that became active again.
    revived: u64,
    /// Number of memories that were archived.
    archived: u64,
    /// Number of forgotten memories that were deleted for good.
    erased: u64,
    /// Number of audit entries that were deleted.
    audit_removed: u64,
    /// Number of memories whose deletion waits until the clock has been steady for a day.
    held_back: u64,
    /// The first steps, up to the limit.
    steps: Vec<TendStepReply>,
}

/// One step.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TendStep")]
struct TendStepReply {
    /// The action: cool, revive, archive or erase.
    step: &'static str,
    /// The reason.
    why: String,
    /// The memory.
    memory: Memory,
}

fn tend(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<TendArguments>,
) -> Result<OperationOutput<TendReply>, ToolError> {
    let request = TendRequest {
        space: Some(context.caller.space),
        dry_run: asked.dry_run,
        shown: limited(context, asked.limit, USUAL_STEPS, STEPS)?,
    };
    let taken =
        |TendedStep { step, why, memory }: TendedStep| TendStepReply { step: step.as_str(), why, memory };
    let tended = context.engine.tend(&context.caller, &request)?;
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
