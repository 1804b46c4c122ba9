//! The recall path: plan, find, answer. It writes nothing; what was found is noted and counted soon after.

use crate::access::Parts;
use crate::answer::{Answer, Hit};
use crate::error::{Error, Field, Invalid};
use crate::limits;
use crate::memory::Memory;
use crate::request::{Caller, Filter, Mode, RecallRequest, Sort};
use crate::score::Score;
use crate::time::Timestamp;
use crate::vocabulary::State;

/// What a recall comes to, once it was found good.
struct Plan {
    filter: Filter,
    sort: Sort,
    limit: usize,
    mode: Mode,
}

/// Finds memories.
pub(crate) fn recall(parts: &Parts, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
    let plan = plan(request, parts.clock.now())?;
    if plan.filter.states.is_empty() {
        return Ok(Answer { hits: Vec::new(), total_found: 0 });
    }
    let (memories, total_found) = find(parts, caller, &plan)?;
    let hits = (1..).zip(memories).map(|(rank, memory)| hit(memory, rank, total_found, &plan)).collect();
    Ok(Answer { hits, total_found })
}

/// The first memories in order, and how many there are. A text is looked for in every content, so once must do.
fn find(parts: &Parts, caller: &Caller, plan: &Plan) -> Result<(Vec<Memory>, u64), Error> {
    let (store, viewer) = (&parts.store, &caller.viewer);
    if plan.filter.substring.is_some() {
        let ids = store.ids(viewer, &plan.filter, plan.sort)?;
        let first = &ids[..ids.len().min(plan.limit)];
        return Ok((store.memories(viewer, first)?, ids.len() as u64));
    }
    let memories = store.list(viewer, &plan.filter, plan.sort, plan.limit, None)?;
    let total = match memories.len() < plan.limit {
        true => memories.len() as u64,
        false => store.count(viewer, &plan.filter)?,
    };
    Ok((memories, total))
}

fn plan(request: &RecallRequest, now: Timestamp) -> Result<Plan, Invalid> {
    let limit = crate::read::bounded(Field::Limit, request.limit, limits::RECALL)?;
    let mut filter = crate::read::fitted(&request.filter)?;
    filter.alive_at = Some(now);
    if filter.states.is_empty() {
        filter.states = State::ALL.to_vec();
    }
    filter.states.retain(|state| *state != State::Archived);
    let sort = match &request.mode {
        Mode::Recent => Sort::Newest,
        Mode::Important => Sort::Importance,
        Mode::Typed if filter.types.is_empty() => return Err(Invalid::TypeMissing),
        Mode::Typed => Sort::Newest,
        Mode::Substring(text) if text.trim().is_empty() => return Err(Invalid::Empty { field: Field::Text }),
        Mode::Substring(text) => {
            filter.substring = Some(text.clone());
            Sort::Accessed
        }
    };
    Ok(Plan { filter, sort: request.sort.unwrap_or(sort), limit, mode: request.mode.clone() })
}

fn hit(memory: Memory, rank: u64, total: u64, plan: &Plan) -> Hit {
    let order = match plan.sort {
        Sort::Newest => "newest first".to_owned(),
        Sort::Oldest => "oldest first".to_owned(),
        Sort::Updated => "last edited first".to_owned(),
        Sort::Accessed => "last used first".to_owned(),
        Sort::Importance => format!("importance {}", memory.edition.class.importance.get()),
        Sort::MostAccessed => format!("used {} times", memory.usage.access_count),
    };
    let why = match &plan.mode {
        Mode::Recent | Mode::Important => order,
        Mode::Typed => format!("is a {}, {order}", memory.edition.class.memory_type),
        Mode::Substring(text) => format!("holds “{}”, {order}", crate::preview::short(text)),
    };
    Hit { memory, relevance_score: Score::by_rank(rank, total), why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::MemoryType;

    fn request(mode: Mode) -> RecallRequest {
        RecallRequest { mode, filter: Filter::default(), sort: None, limit: 10 }
    }

    #[test]
    fn the_mode_decides_the_order_unless_a_sort_is_given() {
        let now = Timestamp::from_micros(0);
        let plan_of = |request: &RecallRequest| plan(request, now).map(|plan| plan.sort);
        assert_eq!(plan_of(&request(Mode::Recent)), Ok(Sort::Newest));
        assert_eq!(plan_of(&request(Mode::Important)), Ok(Sort::Importance));
        let sorted = RecallRequest { sort: Some(Sort::MostAccessed), ..request(Mode::Important) };
        assert_eq!(plan_of(&sorted), Ok(Sort::MostAccessed));
    }

    #[test]
    fn typed_needs_a_type_and_text_needs_text() {
        let now = Timestamp::from_micros(0);
        assert_eq!(plan(&request(Mode::Typed), now).err(), Some(Invalid::TypeMissing));
        let mut typed = request(Mode::Typed);
        typed.filter.types = vec![MemoryType::Decision];
        assert!(plan(&typed, now).is_ok());
        assert!(plan(&request(Mode::Substring(" ".to_owned())), now).is_err());
    }

    #[test]
    fn archived_memories_are_never_asked_for() {
        let mut asked = request(Mode::Recent);
        asked.filter.states = vec![State::Archived];
        let plan = plan(&asked, Timestamp::from_micros(0)).expect("good");
        assert_eq!(plan.filter.states, []);
        let plan = super::plan(&request(Mode::Recent), Timestamp::from_micros(0)).expect("good");
        assert_eq!(plan.filter.states, [State::Processing, State::Active, State::Cooling]);
    }
}
