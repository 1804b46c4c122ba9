//! The recall path: plan, find, rank, answer. It writes nothing; what was found is noted and counted soon after.

mod answer;
mod archived;
mod asked;
mod further;
mod lanes;
mod listed;
mod past;
mod phrase;
pub(crate) mod plan;
mod weighing;

use crate::access::Parts;
use crate::answer::Answer;
use crate::error::Error;
use crate::request::{Caller, RecallRequest};
use crate::vocabulary::State;

use plan::{Plan, Way};

/// Finds memories.
pub(crate) fn recall(parts: &Parts, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    let plan = plan::read(request, parts.clock.now())?;
    let mut answer = found(parts, caller, &plan)?;
    if let Way::Asked(ask) = &plan.way {
        answer.archived = archived::mentioned(parts, caller, &plan, ask)?;
    }
    Ok(answer)
}

/// Finds memories, archived ones too, for who looks at how things were.
pub(crate) fn recall_with_archived(
    parts: &Parts,
    caller: &Caller,
    request: &RecallRequest,
) -> Result<Answer, Error> {
    let mut plan = plan::read(request, parts.clock.now())?;
    plan.filter.states = State::ALL.to_vec();
    found(parts, caller, &plan)
}

fn found(parts: &Parts, caller: &Caller, plan: &Plan) -> Result<Answer, Error> {
    if plan.filter.states.is_empty() {
        return Ok(Answer::default());
    }
    match &plan.way {
        Way::Listed { mode, sort } => listed::answer(parts, caller, plan, mode, *sort),
        Way::Asked(ask) => asked::answer(parts, caller, plan, ask),
    }
}
