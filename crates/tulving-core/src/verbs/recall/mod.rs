//! The recall path: plan, find, rank, answer. It writes nothing; accesses are noted and counted soon after.

mod answer;
mod archived;
mod asked;
pub(crate) mod filtered;
mod further;
mod lanes;
mod listed;
mod matched;
mod past;
mod phrase;
pub(crate) mod plan;
mod weighing;

use crate::model::answer::Answer;
use crate::model::error::Error;
use crate::model::request::{Caller, RecallRequest};
use crate::model::vocabulary::State;
use crate::verbs::access::Parts;

use plan::{Plan, Way};

/// Finds memories.
pub(crate) fn recall(parts: &Parts, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    let plan = plan::read(request, parts.clock.now(), &caller.zone)?;
    let answer = planned(parts, caller, &plan)?;
    match plan.ranking() {
        Some(ranking) if answer.total_found == 0 && !filtered::knows_such(parts, caller, &plan)? => {
            Ok(filtered::ranked_instead(answer, planned(parts, caller, &ranking)?))
        }
        _ => Ok(answer),
    }
}

/// Finds memories by a plan.
pub(crate) fn planned(parts: &Parts, caller: &Caller, plan: &Plan) -> Result<Answer, Error> {
    let mut answer = found(parts, caller, plan)?;
    if let Way::Asked(ask) = &plan.way {
        answer.archived = archived::mentioned(parts, caller, plan, ask)?;
    }
    Ok(answer)
}

/// Finds memories, including archived ones, for a look at the past.
pub(crate) fn recall_with_archived(
    parts: &Parts,
    caller: &Caller,
    request: &RecallRequest,
) -> Result<Answer, Error> {
    let mut plan = plan::read(request, parts.clock.now(), &caller.zone)?;
    plan.filter.states = State::ALL.to_vec();
    found(parts, caller, &plan)
}

fn found(parts: &Parts, caller: &Caller, plan: &Plan) -> Result<Answer, Error> {
    if plan.filter.states.is_empty() {
        return Ok(Answer::default());
    }
    match &plan.way {
        Way::Listed { mode, sort } => listed::listed(parts, caller, plan, mode, *sort),
        Way::Filtered(list) => filtered::answer(parts, caller, plan, list),
        Way::Asked(ask) => asked::answer(parts, caller, plan, ask),
    }
}
