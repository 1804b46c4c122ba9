//! The recall path: plan, find, rank, answer. It writes nothing; what was found is noted and counted soon after.

mod answer;
mod asked;
mod further;
mod lanes;
mod listed;
mod past;
pub(crate) mod plan;
mod weighing;

use std::collections::{HashMap, HashSet};

use crate::access::Parts;
use crate::answer::Answer;
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::request::{Caller, RecallRequest};
use crate::time::Timestamp;
use crate::vocabulary::State;

use plan::Plan;

/// Finds memories.
pub(crate) fn recall(parts: &Parts, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    found(parts, caller, &plan::read(request, parts.clock.now())?)
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

/// Those of these memories that another one has replaced by now, by the rule of every recall.
pub(crate) fn superseded_now(
    parts: &Parts,
    caller: &Caller,
    memories: &[Memory],
    now: Timestamp,
) -> Result<HashSet<MemoryId>, Error> {
    let said = memories.iter().filter(|memory| memory.superseded_by.is_some());
    let said: HashMap<MemoryId, Memory> = said.map(|memory| (memory.id, memory.clone())).collect();
    if said.is_empty() {
        return Ok(HashSet::new());
    }
    Ok(past::superseded(parts, caller, &said, past::Moment::Now(now))?.into_keys().collect())
}

fn found(parts: &Parts, caller: &Caller, plan: &Plan) -> Result<Answer, Error> {
    if plan.filter.states.is_empty() {
        return Ok(Answer::default());
    }
    match &plan.way {
        plan::Way::Listed { .. } => listed::answer(parts, caller, plan),
        plan::Way::Asked(ask) => asked::answer(parts, caller, plan, ask),
    }
}
