//! The recall path: plan, find, rank, answer. It writes nothing; what was found is noted and counted soon after.

mod answer;
mod asked;
mod further;
mod lanes;
mod listed;
mod past;
pub(crate) mod plan;
mod weighing;

use crate::access::Parts;
use crate::answer::Answer;
use crate::error::Error;
use crate::request::{Caller, RecallRequest};

/// Finds memories.
pub(crate) fn recall(parts: &Parts, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    let plan = plan::read(request, parts.clock.now())?;
    if plan.filter.states.is_empty() {
        return Ok(Answer::default());
    }
    match &plan.way {
        plan::Way::Listed { .. } => listed::answer(parts, caller, &plan),
        plan::Way::Asked(ask) => asked::answer(parts, caller, &plan, ask),
    }
}
