//! Associations of a memory, and its neighbours.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::Relative;
use tulving_core::model::association::Association;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{LinkedBy, Relation};

use super::memories::MemoryIdArguments;
use super::operation::{CombinedInput, Operation, OperationMethod, OperationOutput, SingleInput};
use super::saving::NewAssociation;
use super::shown::{MemoryReply, shown};
use tulving_dialects::argument::{WholeNumber, named, within};
use tulving_dialects::memax;
use tulving_dialects::tool::{self, ToolContext, ToolError};
use tulving_dialects::words;

/// Most hops.
const DEPTH: i64 = 5;

pub(super) fn operations() -> Vec<Operation> {
    let path = "/v1/memories/{id}/associations";
    vec![
        Operation::new(OperationMethod::Get, path, "listAssociations", "The associations of a memory", list)
            .saying("Both those that begin there and those that end there, strongest first."),
        Operation::new(OperationMethod::Post, path, "associate", "Link a memory to another", link).creating().saying(
            "A link that is there gets the new weight. `updates` says that this memory replaces the target. Where that \
             had replaced this one, this one holds again, and `warnings` says so.",
        ),
        Operation::new(OperationMethod::Delete, path, "dissociate", "Remove links", unlink),
        Operation::new(
            OperationMethod::Get,
            "/v1/memories/{id}/related",
            "listRelated",
            "What lies near a memory",
            related,
        )
        .saying("By its associations, over up to five hops, nearest first."),
    ]
}

/// A link between two memories.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Association")]
struct AssociationReply {
    /// The memory that says it.
    source: String,
    /// The memory it is about.
    target: String,
    /// How they relate, read from source to target.
    #[schemars(schema_with = "words::word::<Relation>")]
    relation: Relation,
    /// How strongly, 0 to 1.
    weight: f64,
    /// Who made it.
    #[schemars(schema_with = "words::word::<LinkedBy>")]
    linked_by: LinkedBy,
    /// When.
    #[schemars(schema_with = "words::time")]
    created_at: Timestamp,
}

impl From<&Association> for AssociationReply {
    fn from(made: &Association) -> Self {
        Self {
            source: memax::id(made.source),
            target: memax::id(made.target),
            relation: made.relation,
            weight: made.weight.get(),
            linked_by: made.linked_by,
            created_at: made.created_at,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AssociationList")]
struct AssociationListReply {
    /// The associations, strongest first.
    associations: Vec<AssociationReply>,
}

fn list(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<AssociationListReply>, ToolError> {
    let near = desk.engine.related(&desk.caller, this.which()?, 1)?;
    let mut made: Vec<&Association> = near.iter().flat_map(|relative| &relative.via).collect();
    made.sort_by(|a, b| b.weight.get().total_cmp(&a.weight.get()));
    Ok(AssociationListReply { associations: made.into_iter().map(AssociationReply::from).collect() }.into())
}

/// An association that was made.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SavedAssociation")]
struct AssociateReply {
    #[serde(flatten)]
    link: AssociationReply,
    /// What it has taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn link(
    desk: &ToolContext<'_>,
    CombinedInput(this, new): CombinedInput<MemoryIdArguments, NewAssociation>,
) -> Result<OperationOutput<AssociateReply>, ToolError> {
    let made = desk.engine.associate(&desk.caller, this.which()?, &new.request()?)?;
    let linked =
        AssociateReply { link: AssociationReply::from(&made.link), warnings: tool::warnings(&made.warnings) };
    Ok(OperationOutput::from(linked).new_if(true))
}

/// Which link.
#[derive(Deserialize, JsonSchema)]
struct DissociateArguments {
    /// The memory that the link leads to.
    #[schemars(schema_with = "words::memory")]
    target: String,
    /// Which relation (default: every one).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Relation>")]
    relation: Option<Relation>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedAssociations")]
struct DissociateReply {
    /// The links that are gone.
    deleted: Vec<AssociationReply>,
}

fn unlink(
    desk: &ToolContext<'_>,
    CombinedInput(this, end): CombinedInput<MemoryIdArguments, DissociateArguments>,
) -> Result<OperationOutput<DissociateReply>, ToolError> {
    let target = named("target", &end.target)?;
    let gone = desk.engine.dissociate(&desk.caller, this.which()?, target, end.relation)?;
    Ok(DissociateReply { deleted: gone.iter().map(AssociationReply::from).collect() }.into())
}

/// How far.
#[derive(Deserialize, JsonSchema)]
struct ListRelatedArguments {
    /// How many hops, 1 to 5 (default 1).
    #[schemars(range(min = 1, max = 5))]
    depth: Option<WholeNumber>,
}

/// A memory near another, and the associations that lead there.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RelatedMemory")]
struct RelatedMemoryReply {
    #[serde(flatten)]
    memory: MemoryReply,
    /// How many hops away.
    distance: usize,
    /// The associations by which it was reached, strongest first.
    via: Vec<AssociationReply>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RelatedMemories")]
struct ListRelatedReply {
    /// The memories, nearest first.
    memories: Vec<RelatedMemoryReply>,
}

fn related(
    desk: &ToolContext<'_>,
    CombinedInput(this, far): CombinedInput<MemoryIdArguments, ListRelatedArguments>,
) -> Result<OperationOutput<ListRelatedReply>, ToolError> {
    let depth = within("depth", far.depth, 1, 1..=DEPTH)?;
    let found = desk.engine.related(&desk.caller, this.which()?, depth)?;
    let now = desk.engine.now();
    let near = |relative: &Relative| RelatedMemoryReply {
        memory: shown(&relative.memory, now),
        distance: relative.distance,
        via: relative.via.iter().map(AssociationReply::from).collect(),
    };
    Ok(ListRelatedReply { memories: found.iter().map(near).collect() }.into())
}
