//! `/v1/memories/{id}/done`: closing a todo or a goal, and opening it again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::Completed;
use tulving_core::model::time::Timestamp;

use super::memories::MemoryIdArguments;
use super::operation::{CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput};
use super::shown::{MemoryReply, shown};
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/done", "completeMemory", "Close a todo or a goal", done)
            .saying(
                "It is no longer open, and ages like an event from then on; rules leave alone what is open. One that is \
                 done already stays as it is, unless `at` names another time. Other types are refused.",
            ),
        Operation::new(OperationMethod::Delete, "/v1/memories/{id}/done", "reopenMemory", "Open it again", reopen)
            .saying("One that is open is given as it is."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompleteMemoryArguments {
    /// When it was done (default: now).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    at: Option<Timestamp>,
}

/// A todo or a goal that was closed, or opened again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompletedMemory")]
struct CompleteMemoryReply {
    #[serde(flatten)]
    memory: MemoryReply,
    /// Whether anything changed; it was so already where not.
    changed: bool,
}

fn closed(desk: &ToolContext<'_>, completed: &Completed) -> OperationOutput<CompleteMemoryReply> {
    let memory = shown(&completed.memory, desk.engine.now());
    OperationOutput::from(CompleteMemoryReply { memory, changed: completed.changed })
        .of(completed.memory.version)
}

fn done(
    desk: &ToolContext<'_>,
    CombinedInput(this, when): CombinedInput<MemoryIdArguments, CompleteMemoryArguments>,
) -> Result<OperationOutput<CompleteMemoryReply>, ToolError> {
    Ok(closed(desk, &desk.engine.done(&desk.caller, this.which()?, when.at)?))
}

fn reopen(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<CompleteMemoryReply>, ToolError> {
    Ok(closed(desk, &desk.engine.reopen(&desk.caller, this.which()?)?))
}
