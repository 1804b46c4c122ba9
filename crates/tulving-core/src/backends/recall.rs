//! Recall from several backends: all are asked in parallel, each with its own timeout.

use crate::model::answer::{Answer, Hit, Strength};
use crate::model::backend::{BackendRecallMode, BackendRecallQuery};
use crate::model::error::{BackendError, Error};
use crate::model::memory::Memory;
use crate::model::request::{Caller, Mode, RecallQuestion, RecallRequest};
use crate::model::score::Score;
use crate::ports::Backend;
use crate::verbs::access::Ports;
use crate::verbs::recall::filtered;
use crate::verbs::recall::plan::{self, RecallPlan};

use super::merge::{self, MergeOrder};
use super::registry::{BackendEntry, BackendLocation, Backends};
use super::screen::BackendScreen;
use super::{each, failure, settled};

/// Finds memories in all backends.
pub(crate) fn recall(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    request: &RecallRequest,
) -> Result<Answer, Error> {
    let plan = crate::verbs::recall::planned_for(ports, caller, request)?;
    let answer = planned(ports, backends, caller, &plan)?;
    match plan.ranking() {
        // No backend counts memories by type, so an empty list is the only sign that there are none.
        Some(ranking) if answer.total_found == 0 => {
            Ok(filtered::ranked_instead(answer, planned(ports, backends, caller, &ranking)?))
        }
        _ => Ok(answer),
    }
}

fn planned(ports: &Ports, backends: &Backends, caller: &Caller, plan: &RecallPlan) -> Result<Answer, Error> {
    if plan.filter.states.is_empty() {
        return Ok(Answer::default());
    }
    let said = each(&backends.all(), |entry| match &entry.keeps {
        BackendLocation::BuiltIn => crate::verbs::recall::planned(ports, caller, plan),
        BackendLocation::Elsewhere(backend) => {
            let screen = BackendScreen::new(ports, backends, caller, entry, &plan.filter)?;
            ask(&**backend, entry, &screen, plan)
        }
    });
    let (answers, failed) = settled(said)?;
    let (order, budget) = match &plan.way {
        plan::RecallMethod::Asked(ask) => (MergeOrder::Ranks, ask.token_budget),
        plan::RecallMethod::Listed { sort, .. } => (MergeOrder::By(*sort, plan.now), None),
        plan::RecallMethod::Filtered(list) => (MergeOrder::By(list.sort, plan.now), list.bounds.token_budget),
    };
    let superseded = answers.iter().flat_map(|answer| &answer.listed).map(|list| list.superseded).sum();
    let mut answer = merge::answers(answers, order, plan.limit, budget);
    if let plan::RecallMethod::Filtered(list) = &plan.way {
        filtered::describe(&mut answer, list, plan, superseded, &caller.zone);
    }
    answer.failed_backends.splice(0..0, failed);
    Ok(answer)
}

fn ask(
    backend: &dyn Backend,
    entry: &BackendEntry,
    screen: &BackendScreen<'_>,
    plan: &RecallPlan,
) -> Result<Answer, Error> {
    let (asked, as_of) = match &plan.way {
        plan::RecallMethod::Asked(ask) => (Some(ask), ask.as_of),
        plan::RecallMethod::Listed { .. } => (None, None),
        plan::RecallMethod::Filtered(list) => {
            (list.asked.as_ref().map(|asked| &asked.ask), list.bounds.as_of)
        }
    };
    if as_of.is_some() {
        return Err(failure(entry, BackendError::NotOffered { what: "recall as of an earlier time" }));
    }
    if screen.is_empty() {
        return Ok(Answer::default());
    }
    let (way, query) = match (&plan.way, &plan.filter.substring) {
        (plan::RecallMethod::Asked(ask), _) => (BackendRecallMode::Question, Some(ask.question.clone())),
        (_, Some(text)) => (BackendRecallMode::Text, Some(text.clone())),
        (plan::RecallMethod::Listed { mode: Mode::Important, .. }, None) => {
            (BackendRecallMode::Important, None)
        }
        (plan::RecallMethod::Listed { .. } | plan::RecallMethod::Filtered(_), None) => {
            (BackendRecallMode::Recent, None)
        }
    };
    let query = BackendRecallQuery { scope: screen.scope(), way, query, limit: plan.limit };
    let given = backend.recall(&query, entry.within).map_err(|error| failure(entry, error))?;
    let passed = screen.pass(given, plan.limit)?;
    let failed_backends = passed.failed(entry);
    let total = passed.memories.len() as u64;
    let hits = (1..).zip(passed.memories);
    let hits: Vec<Hit> = hits.map(|(rank, (memory, score))| hit(entry, memory, score, rank, total)).collect();
    Ok(Answer { failed_backends, ..weighed(hits, total, asked) })
}

/// Builds the answer from a backend's hits. They count as weak evidence, because nothing else supports them.
fn weighed(hits: Vec<Hit>, total_found: u64, asked: Option<&RecallQuestion>) -> Answer {
    let strength = if hits.is_empty() { Strength::None } else { Strength::Weak };
    let evidence = asked.map(|_| strength);
    let least = asked.and_then(|ask| ask.abstain_below);
    if least.is_some_and(|least| strength < least) {
        return Answer { evidence, withheld: total_found, ..Answer::default() };
    }
    Answer { hits, total_found, evidence, ..Answer::default() }
}

fn hit(entry: &BackendEntry, memory: Memory, score: Option<Score>, rank: u64, total: u64) -> Hit {
    Hit {
        memory,
        relevance_score: score.unwrap_or_else(|| Score::by_rank(rank, total)),
        why: format!("#{rank} of the results of the backend {}", entry.name),
        section: None,
        further: Vec::new(),
        cut: false,
        explanation: None,
    }
}
