//! Associations of a memory, and its neighbours.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{CreatedAssociation, RelatedMemory};
use tulving_core::model::association::Association;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::AssociationRequest;
use tulving_core::model::vocabulary::Relation;
use tulving_dialects::argument::{WholeNumber, within};
use tulving_dialects::tool::{ToolContext, ToolError};

use tulving_dialects::argument::MemoryIdArguments;
use tulving_dialects::operation::{CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput};

/// Maximum number of hops.
const DEPTH: i64 = 5;

pub(super) fn operations() -> Vec<Operation> {
    let path = "/v1/memories/{id}/associations";
    vec![
        Operation::new(OperationMethod::Get, path, "listAssociations", "List the associations of a memory", list)
            .saying("Includes those that start from it and those that point to it, strongest first."),
        Operation::new(OperationMethod::Post, path, "associate", "Link a memory to another", link).creating().saying(
            "An existing link gets the new weight. `updates` means that this memory replaces the target. If the target had \
             replaced this memory, this memory is valid again, and `warnings` says so.",
        ),
        Operation::new(OperationMethod::Delete, path, "dissociate", "Remove links", unlink),
        Operation::new(
            OperationMethod::Get,
            "/v1/memories/{id}/related",
            "listRelated",
            "List the neighbours of a memory",
            related,
        )
        .saying("Follows associations over up to five hops. Nearest first."),
    ]
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AssociationList")]
struct AssociationListReply {
    /// The associations, strongest first.
    associations: Vec<Association>,
}

fn list(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<AssociationListReply>, ToolError> {
    let near = context.engine.related(&context.caller, this.id, 1)?;
    let mut made: Vec<Association> = near.into_iter().flat_map(|relative| relative.via).collect();
    made.sort_by(|a, b| b.weight.get().total_cmp(&a.weight.get()));
    Ok(AssociationListReply { associations: made }.into())
}

/// Creates an association.
fn link(
    context: &ToolContext<'_>,
    CombinedInput(this, new): CombinedInput<MemoryIdArguments, AssociationRequest>,
) -> Result<OperationOutput<CreatedAssociation>, ToolError> {
    let made = context.engine.associate(&context.caller, this.id, &new)?;
    Ok(OperationOutput::from(made).new_if(true))
}

/// Names a link.
#[derive(Deserialize, JsonSchema)]
struct DissociateArguments {
    /// The memory that the link points to.
    target: MemoryRef,
    /// The relation (default: all).
    #[serde(default)]
    relation: Option<Relation>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedAssociations")]
struct DissociateReply {
    /// The links that were removed.
    deleted: Vec<Association>,
}

fn unlink(
    context: &ToolContext<'_>,
    CombinedInput(this, end): CombinedInput<MemoryIdArguments, DissociateArguments>,
) -> Result<OperationOutput<DissociateReply>, ToolError> {
    let deleted = context.engine.dissociate(&context.caller, this.id, end.target, end.relation)?;
    Ok(DissociateReply { deleted }.into())
}

/// The range of the search.
#[derive(Deserialize, JsonSchema)]
struct ListRelatedArguments {
    /// Maximum number of hops, 1 to 5 (default 1).
    #[schemars(range(min = 1, max = 5))]
    depth: Option<WholeNumber>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RelatedMemories")]
struct ListRelatedReply {
    /// The memories, nearest first.
    memories: Vec<RelatedMemory>,
}

fn related(
    context: &ToolContext<'_>,
    CombinedInput(this, far): CombinedInput<MemoryIdArguments, ListRelatedArguments>,
) -> Result<OperationOutput<ListRelatedReply>, ToolError> {
    let depth = within("depth", far.depth, 1, 1..=DEPTH)?;
    Ok(ListRelatedReply { memories: context.engine.related(&context.caller, this.id, depth)? }.into())
}
