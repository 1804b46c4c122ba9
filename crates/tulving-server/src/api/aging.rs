//! Lifecycle rules for memories that have aged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::{TendRequest, TendingResult};
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
pub struct TendReply {
    /// True if nothing was written.
    pub dry_run: bool,
    /// The steps.
    #[serde(flatten)]
    pub tended: TendingResult,
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
    let tended = context.engine.tend(&context.caller, &request)?;
    Ok(TendReply { dry_run: asked.dry_run, tended }.into())
}
