//! `/v1/memories/{id}/done`: closes a todo or a goal, or opens it again.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::model::answer::CompletedMemory;
use tulving_core::model::time::Timestamp;
use tulving_dialects::tool::{ToolContext, ToolError};

use tulving_dialects::argument::MemoryIdArguments;
use tulving_dialects::operation::{CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/done", "completeMemory", "Close a todo or a goal", done)
            .saying(
                "The memory is no longer open, and ages like an event from then on; lifecycle rules never archive open ones. If it \
                 is done already, nothing changes, unless `at` names another time. Memories of other types are refused.",
            ),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}/done", "reopenMemory", "Reopen a todo or a goal", reopen)
            .saying("A memory that is open already is returned unchanged."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompleteMemoryArguments {
    /// Time at which it was done (default: now).
    #[serde(default)]
    at: Option<Timestamp>,
}

/// Returns a closed or reopened memory, tagged with its version.
fn tagged(completed: CompletedMemory) -> OperationOutput<CompletedMemory> {
    let version = completed.memory.version;
    OperationOutput::from(completed).of(version)
}

fn done(
    context: &ToolContext<'_>,
    CombinedInput(this, when): CombinedInput<MemoryIdArguments, CompleteMemoryArguments>,
) -> Result<OperationOutput<CompletedMemory>, ToolError> {
    Ok(tagged(context.engine.done(&context.caller, this.id, when.at)?))
}

fn reopen(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<CompletedMemory>, ToolError> {
    Ok(tagged(context.engine.reopen(&context.caller, this.id)?))
}
