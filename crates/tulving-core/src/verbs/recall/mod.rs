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
use crate::model::request::{Caller, Filter, RecallRequest, Sort};
use crate::model::vocabulary::State;
use crate::verbs::access::Ports;

use plan::{RecallMethod, RecallPlan};

/// Finds memories.
pub(crate) fn recall(ports: &Ports, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    let plan = planned_for(ports, caller, request)?;
    let answer = planned(ports, caller, &plan)?;
    match plan.ranking() {
        Some(ranking) if answer.total_found == 0 && !filtered::knows_such(ports, caller, &plan)? => {
            Ok(filtered::ranked_instead(answer, planned(ports, caller, &ranking)?))
        }
        _ => Ok(answer),
    }
}

/// Returns the plan for a request. A question for a list of a project that the store knows becomes a list of that
/// project.
pub(crate) fn planned_for(
    ports: &Ports,
    caller: &Caller,
    request: &RecallRequest,
) -> Result<RecallPlan, Error> {
    let now = ports.clock.now();
    let knows =
        |filter: &Filter| Ok(!ports.store.list(&caller.viewer, filter, Sort::Newest, 1, None)?.is_empty());
    let of_project = plan::of_project(request, (now, &caller.zone), knows)?;
    Ok(plan::read(of_project.as_ref().unwrap_or(request), now, &caller.zone)?)
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
