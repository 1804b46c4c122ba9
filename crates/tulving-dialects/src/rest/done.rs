//! `/v1/memories/{id}/done`: closing a todo or a goal, and opening it again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::answer::Completed;
use tulving_core::time::Timestamp;

use super::memories::This;
use super::operation::{Made, Method, One, Operation, Two};
use super::shown::{Shown, shown};
use crate::tool::{Desk, Refusal};
use crate::words;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Post, "/v1/memories/{id}/done", "completeMemory", "Close a todo or a goal", done)
            .saying(
                "It is no longer open, and ages like an event from then on; rules leave alone what is open. One that is \
                 done already stays as it is, unless `at` names another time. Other types are refused.",
            ),
        Operation::new(Method::Delete, "/v1/memories/{id}/done", "reopenMemory", "Open it again", reopen)
            .saying("One that is open is given as it is."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct When {
    /// When it was done (default: now).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    at: Option<Timestamp>,
}

/// A todo or a goal that was closed, or opened again.
#[derive(Serialize, JsonSchema)]
struct Closed {
    #[serde(flatten)]
    memory: Shown,
    /// Whether anything changed; it was so already where not.
    changed: bool,
}

fn closed(desk: &Desk<'_>, completed: &Completed) -> Made<Closed> {
    let memory = shown(&completed.memory, desk.engine.now());
    Made::from(Closed { memory, changed: completed.changed }).of(completed.memory.version)
}

fn done(desk: &Desk<'_>, Two(this, when): Two<This, When>) -> Result<Made<Closed>, Refusal> {
    Ok(closed(desk, &desk.engine.done(&desk.caller, this.which()?, when.at)?))
}

fn reopen(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Closed>, Refusal> {
    Ok(closed(desk, &desk.engine.reopen(&desk.caller, this.which()?)?))
}
