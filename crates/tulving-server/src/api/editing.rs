//! Operations that edit a memory, and that list or restore its earlier versions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{EditedMemory, HistoryEntry};
use tulving_core::model::id::Version;
use tulving_core::model::request::UpdateRequest;
use tulving_dialects::argument::WholeNumber;
use tulving_dialects::tool::{ToolContext, ToolError};

use tulving_dialects::argument::MemoryIdArguments;
use tulving_dialects::operation::{
    Audience, CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput,
};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Patch, "/v1/memories/{id}", "updateMemory", "Edit a memory", update).matching("if_version").saying(
            "Fields that are not named stay unchanged; null clears a field. The old version is kept. With `If-Match`, or \
             `if_version`, the memory is edited only if it still has that version.",
        ),
        Operation::new(OperationMethod::Get, "/v1/memories/{id}/history", "getHistory", "List the versions of a memory", history).read_by(Audience::Relays),
        Operation::new(OperationMethod::Post, "/v1/memories/{id}/revert", "revertMemory", "Restore a version of a memory", revert)
            .saying("The restored state becomes a new version; all versions are kept."),
    ]
}

/// Returns an edited memory, tagged with its version.
pub(super) fn changed(edited: EditedMemory) -> OperationOutput<EditedMemory> {
    let version = edited.memory.version;
    OperationOutput::from(edited).of(version)
}

fn update(
    context: &ToolContext<'_>,
    CombinedInput(this, edit): CombinedInput<MemoryIdArguments, UpdateRequest>,
) -> Result<OperationOutput<EditedMemory>, ToolError> {
    if edit.if_version == Some(Version(0)) {
        return Err(ToolError::invalid(
            "out_of_range",
            "if_version",
            "if_version is 0; versions begin with 1",
        ));
    }
    Ok(changed(context.engine.update(&context.caller, this.id, &edit)?))
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemoryHistory")]
struct MemoryHistoryReply {
    /// The versions, newest first.
    versions: Vec<HistoryEntry>,
}

fn history(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryHistoryReply>, ToolError> {
    Ok(MemoryHistoryReply { versions: context.engine.history(&context.caller, this.id)? }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RevertMemoryArguments {
    /// The version to restore.
    #[schemars(range(min = 1))]
    version: WholeNumber,
}

/// Parses a version number.
fn version(field: &str, number: WholeNumber) -> Result<Version, ToolError> {
    let fits = u32::try_from(number.0).ok().filter(|number| *number > 0);
    fits.map(Version).ok_or_else(|| {
        ToolError::invalid("out_of_range", field, format!("{field} is {}; versions begin with 1", number.0))
    })
}

fn revert(
    context: &ToolContext<'_>,
    CombinedInput(this, wanted): CombinedInput<MemoryIdArguments, RevertMemoryArguments>,
) -> Result<OperationOutput<EditedMemory>, ToolError> {
    Ok(changed(context.engine.revert(&context.caller, this.id, version("version", wanted.version)?)?))
}
