//! Associations of a memory, and what lies near it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::answer::Relative;
use tulving_core::association::Association;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{LinkedBy, Relation};

use super::memories::This;
use super::operation::{Made, Method, One, Operation, Two};
use super::saving::NewLink;
use super::shown::{Shown, shown};
use crate::argument::{Whole, named, within};
use crate::memax;
use crate::tool::{self, Desk, Refusal};
use crate::words;

/// Most hops.
const DEPTH: i64 = 5;

pub(super) fn operations() -> Vec<Operation> {
    let path = "/v1/memories/{id}/associations";
    vec![
        Operation::new(Method::Get, path, "listAssociations", "The associations of a memory", list)
            .saying("Both those that begin there and those that end there, strongest first."),
        Operation::new(Method::Post, path, "associate", "Link a memory to another", link).creating().saying(
            "A link that is there gets the new weight. `updates` says that this memory replaces the target. Where that \
             had replaced this one, this one holds again, and `warnings` says so.",
        ),
        Operation::new(Method::Delete, path, "dissociate", "Remove links", unlink),
        Operation::new(
            Method::Get,
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
struct Link {
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

impl From<&Association> for Link {
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
struct Links {
    /// The associations, strongest first.
    associations: Vec<Link>,
}

fn list(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Links>, Refusal> {
    let near = desk.engine.related(&desk.caller, this.which()?, 1)?;
    let mut made: Vec<&Association> = near.iter().flat_map(|relative| &relative.via).collect();
    made.sort_by(|a, b| b.weight.get().total_cmp(&a.weight.get()));
    Ok(Links { associations: made.into_iter().map(Link::from).collect() }.into())
}

#[derive(Serialize, JsonSchema)]
struct Linked {
    #[serde(flatten)]
    link: Link,
    /// What it has taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn link(desk: &Desk<'_>, Two(this, new): Two<This, NewLink>) -> Result<Made<Linked>, Refusal> {
    let made = desk.engine.associate(&desk.caller, this.which()?, &new.request()?)?;
    let linked = Linked { link: Link::from(&made.link), warnings: tool::warnings(&made.warnings) };
    Ok(Made::from(linked).new_if(true))
}

/// Which link.
#[derive(Deserialize, JsonSchema)]
struct End {
    /// The memory that the link leads to.
    #[schemars(schema_with = "words::memory")]
    target: String,
    /// Which relation (default: every one).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Relation>")]
    relation: Option<Relation>,
}

#[derive(Serialize, JsonSchema)]
struct Unlinked {
    /// The links that are gone.
    deleted: Vec<Link>,
}

fn unlink(desk: &Desk<'_>, Two(this, end): Two<This, End>) -> Result<Made<Unlinked>, Refusal> {
    let target = named("target", &end.target)?;
    let gone = desk.engine.dissociate(&desk.caller, this.which()?, target, end.relation)?;
    Ok(Unlinked { deleted: gone.iter().map(Link::from).collect() }.into())
}

/// How far.
#[derive(Deserialize, JsonSchema)]
struct Far {
    /// How many hops, 1 to 5 (default 1).
    #[schemars(range(min = 1, max = 5))]
    depth: Option<Whole>,
}

#[derive(Serialize, JsonSchema)]
struct Near {
    #[serde(flatten)]
    memory: Shown,
    /// How many hops away.
    distance: usize,
    /// The associations by which it was reached, strongest first.
    via: Vec<Link>,
}

#[derive(Serialize, JsonSchema)]
struct Related {
    /// The memories, nearest first.
    memories: Vec<Near>,
}

fn related(desk: &Desk<'_>, Two(this, far): Two<This, Far>) -> Result<Made<Related>, Refusal> {
    let depth = within("depth", far.depth, 1, 1..=DEPTH)?;
    let found = desk.engine.related(&desk.caller, this.which()?, depth)?;
    let now = desk.engine.now();
    let near = |relative: &Relative| Near {
        memory: shown(&relative.memory, now),
        distance: relative.distance,
        via: relative.via.iter().map(Link::from).collect(),
    };
    Ok(Related { memories: found.iter().map(near).collect() }.into())
}
