//! The recall path: plan, find, rank, answer. Recall writes nothing; accesses are counted in memory and written soon
//! after.

mod answer;
mod archived;
pub(crate) mod filtered;
mod further;
mod lanes;
mod listed;
mod matched;
mod past;
mod phrase;
pub(crate) mod plan;
mod query_context;
mod weighing;

use crate::model::answer::Answer;
use crate::model::error::Error;
use crate::model::request::{Caller, RecallRequest};
use crate::model::vocabulary::State;
use crate::verbs::access::Ports;

use plan::{RecallMethod, RecallPlan};

/// Finds memories.
pub(crate) fn recall(ports: &Ports, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    let plan = plan::read(request, ports.clock.now(), &caller.zone)?;
    let answer = planned(ports, caller, &plan)?;
    match plan.ranking() {
        Some(ranking) if answer.total_found == 0 && !filtered::knows_such(ports, caller, &plan)? => {
            Ok(filtered::ranked_instead(answer, planned(ports, caller, &ranking)?))
        }
        _ => Ok(answer),
    }
}

/// Finds memories by a plan.
pub(crate) fn planned(ports: &Ports, caller: &Caller, plan: &RecallPlan) -> Result<Answer, Error> {
    let mut answer = found(ports, caller, plan)?;
    if let RecallMethod::Asked(ask) = &plan.way {
        answer.archived = archived::mentioned(ports, caller, plan, ask)?;
    }
    Ok(answer)
}

/// Finds memories, including archived memories, for a question about the past.
pub(crate) fn recall_with_archived(
    ports: &Ports,
    caller: &Caller,
    request: &RecallRequest,
) -> Result<Answer, Error> {
    let mut plan = plan::read(request, ports.clock.now(), &caller.zone)?;
    plan.filter.states = State::ALL.to_vec();
    found(ports, caller, &plan)
}

fn found(ports: &Ports, caller: &Caller, plan: &RecallPlan) -> Result<Answer, Error> {
    if plan.filter.states.is_empty() {
        return Ok(Answer::default());
    }
    match &plan.way {
        RecallMethod::Listed { mode, sort } => listed::listed(ports, caller, plan, mode, *sort),
        RecallMethod::Filtered(list) => filtered::answer(ports, caller, plan, list),
        RecallMethod::Asked(ask) => query_context::answer(ports, caller, plan, ask),
    }
}
