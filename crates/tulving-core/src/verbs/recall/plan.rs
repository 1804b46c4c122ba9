//! Validates a recall request once. Errors are reported in this step, and later steps do not check the request again.

use tulving_text::list_question::{self, ListQuestion, ListTime};

use crate::model::answer::Lane;
use crate::model::error::{Error, Field, Invalid};
use crate::model::limits;
use crate::model::request::{
    Filter, Fusion, ListBounds, Mode, RecallQuestion, RecallRequest, Sort, TimeCondition,
};
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::{MemoryType, State};

/// Minimum number of candidates from each lane. docs/benchmarks.md lists the cost of this number.
pub(super) const BEST: usize = 200;

/// A validated recall.
pub(crate) struct RecallPlan {
    pub(crate) filter: Filter,
    pub(crate) limit: usize,
    pub(crate) way: RecallMethod,
    pub(crate) now: Timestamp,
}

/// The way in which memories are found.
pub(crate) enum RecallMethod {
    /// The first memories that match the filter, in a given order.
    Listed { mode: Mode, sort: Sort },
    /// All memories that match the filter, in a given order.
    Filtered(Box<FilteredList>),
    /// The memories that a question is about.
    Asked(RecallQuestion),
}

/// A list of all memories that match a filter.
pub(crate) struct FilteredList {
    pub(crate) sort: Sort,
    pub(crate) bounds: ListBounds,
    /// The question that asks for the list, if any.
    pub(crate) asked: Option<RequestedList>,
}

/// A list that a question asks for.
pub(crate) struct RequestedList {
    pub(crate) ask: RecallQuestion,
    pub(crate) list: ListQuestion,
    /// Filter and limit for ranking by the question if there is nothing to list.
    ranked: (Filter, usize),
}

impl RecallPlan {
    /// Returns the plan that ranks memories by the question of the list instead of listing them.
    pub(crate) fn ranking(&self) -> Option<Self> {
        let RecallMethod::Filtered(list) = &self.way else { return None };
        let RequestedList { ask, ranked: (filter, limit), .. } = list.asked.as_ref()?;
        Some(Self {
            filter: filter.clone(),
            limit: *limit,
            way: RecallMethod::Asked(ask.clone()),
            now: self.now,
        })
    }
}

/// Validates a recall request, for a caller in this time zone.
pub(crate) fn read(request: &RecallRequest, now: Timestamp, zone: &Zone) -> Result<RecallPlan, Invalid> {
    let limit = crate::verbs::read::bounded(Field::Limit, request.limit, limits::RECALL)?;
    let mut filter = crate::verbs::read::fitted(&request.filter, now)?;
    filter.states_at = Some(now);
    if filter.states.is_empty() {
        filter.states = State::ALL.to_vec();
    }
    filter.states.retain(|state| *state != State::Archived);
    let way = match &request.mode {
        Mode::Hybrid(ask) => {
            let ask = question(ask)?;
            if let Some(then) = ask.as_of {
                filter.states_at = Some(then);
                filter.valid_at = Some(then);
            }
            if let Some(plan) = list_of(&ask, &filter, limit, (now, zone)) {
                return Ok(plan);
            }
            RecallMethod::Asked(ask)
        }
        Mode::Filtered(bounds) => {
            if let Some(then) = bounds.as_of {
                filter.states_at = Some(then);
                filter.valid_at = Some(then);
            }
            let sort = request.sort.unwrap_or_else(|| order_of(&filter.types));
            filter = filter.of_records();
            RecallMethod::Filtered(Box::new(FilteredList { sort, bounds: *bounds, asked: None }))
        }
        mode => {
            let sort = listed(mode, &mut filter)?;
            RecallMethod::Listed { mode: mode.clone(), sort: request.sort.unwrap_or(sort) }
        }
    };
    Ok(RecallPlan { filter, limit, way, now })
}

/// Returns the request for a list of the memories of a project: "my todos for gantry". `None` if the question does not
/// end with the name of a project that `knows` knows, or if the rest of the question does not ask for a list.
pub(super) fn of_project(
    request: &RecallRequest,
    (now, zone): (Timestamp, &Zone),
    knows: impl Fn(&Filter) -> Result<bool, Error>,
) -> Result<Option<RecallRequest>, Error> {
    let Mode::Hybrid(ask) = &request.mode else { return Ok(None) };
    let Some((question, project)) = list_question::without_project(&ask.question) else { return Ok(None) };
    let asked_at = ask.asked_at.or(ask.as_of).unwrap_or(now);
    let is_list = ask.list_limit.is_some()
        && request.filter.project.is_none()
        && list_question::read(&ask.question, asked_at, zone).is_none()
        && list_question::read(question, asked_at, zone).is_some();
    let filter = Filter { project: Some(project.to_owned()), ..request.filter.clone() };
    if !is_list
        || !knows(&Filter { space: filter.space, project: filter.project.clone(), ..Filter::default() })?
    {
        return Ok(None);
    }
    let ask = RecallQuestion { question: question.to_owned(), ..(**ask).clone() };
    Ok(Some(RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter, ..request.clone() }))
}

/// Returns the list that answers a question which only names a type; `None` if the filter contradicts the question.
fn list_of(
    ask: &RecallQuestion,
    filter: &Filter,
    limit: usize,
    (now, zone): (Timestamp, &Zone),
) -> Option<RecallPlan> {
    // A caller who chooses the lanes or the fusion expects ranked results instead of a list.
    let at_most = ask.list_limit.filter(|_| ask.fusion == Fusion::Measured && ask.lanes == Lane::ALL)?;
    let list = list_question::read(&ask.question, ask.asked_at.or(ask.as_of).unwrap_or(now), zone)?;
    let mut types = list.types.clone();
    types.retain(|word| filter.types.is_empty() || filter.types.contains(word));
    let agree = filter.done.is_none() || list.done.is_none() || filter.done == list.done;
    if types.is_empty() || !agree {
        return None;
    }
    let list = ListQuestion { types, done: filter.done.or(list.done), ..list };
    let timed = list.time.map(|time| match time {
        ListTime::Happened(interval) => TimeCondition::Happened(interval.period()),
        ListTime::Done(interval) => TimeCondition::Done(interval.period()),
        ListTime::Due(interval) => TimeCondition::Due(interval.period()),
    });
    let timed = filter.timed.iter().copied().chain(timed).collect();
    // A fact or a preference that is no longer valid is not in its list. A todo that is overdue is.
    let can_be_done = list.types.iter().all(|word| word.can_be_done());
    let valid_at = filter.valid_at.or((!can_be_done && list.time.is_none()).then_some(now));
    let listed =
        Filter { types: list.types.clone(), done: list.done, timed, valid_at, ..filter.clone() }.of_records();
    let bounds = ListBounds { as_of: ask.as_of, token_budget: ask.token_budget };
    let sort = if list.by_importance { Sort::Importance } else { order_of(&listed.types) };
    let asked = RequestedList { ask: ask.clone(), list, ranked: (filter.clone(), limit) };
    let way = FilteredList { sort, bounds, asked: Some(asked) };
    Some(RecallPlan {
        filter: listed,
        limit: at_most.min(limits::RECALL),
        way: RecallMethod::Filtered(Box::new(way)),
        now,
    })
}

/// Returns the sort order for a list of these types.
fn order_of(types: &[MemoryType]) -> Sort {
    let is_agenda = !types.is_empty() && types.iter().all(|word| word.can_be_done());
    if is_agenda { Sort::Agenda } else { Sort::Happened }
}

fn question(ask: &RecallQuestion) -> Result<RecallQuestion, Invalid> {
    let text = ask.question.trim();
    if text.is_empty() {
        return Err(Invalid::Empty { field: Field::Question });
    }
    if text.len() > limits::QUESTION_BYTES {
        let (got, limit) = (text.len(), limits::QUESTION_BYTES);
        return Err(Invalid::TooLong { field: Field::Question, got, limit, unit: "bytes" });
    }
    let mut lanes = ask.lanes.clone();
    lanes.sort_unstable();
    lanes.dedup();
    if !lanes.iter().any(|lane| *lane != Lane::Graph) {
        return Err(Invalid::LaneMissing);
    }
    let prefix = ask.prefix && !ask.question.ends_with(char::is_whitespace);
    Ok(RecallQuestion { question: text.to_owned(), lanes, prefix, ..ask.clone() })
}

fn listed(mode: &Mode, filter: &mut Filter) -> Result<Sort, Invalid> {
    if !matches!(mode, Mode::Substring(_)) {
        *filter = std::mem::take(filter).of_records();
    }
    Ok(match mode {
        Mode::Recent | Mode::Hybrid(_) | Mode::Filtered(_) => Sort::Newest,
        Mode::Important => Sort::Importance,
        Mode::Typed if filter.types.is_empty() => return Err(Invalid::TypeMissing),
        Mode::Typed => Sort::Newest,
        Mode::Substring(text) if text.trim().is_empty() => return Err(Invalid::Empty { field: Field::Text }),
        Mode::Substring(text) => {
            filter.substring = Some(text.clone());
            Sort::Accessed
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::vocabulary::MemoryType;

    fn request(mode: Mode) -> RecallRequest {
        RecallRequest { mode, filter: Filter::default(), sort: None, limit: 10 }
    }

    #[test]
    fn the_mode_decides_the_order_unless_a_sort_is_given() {
        let now = Timestamp::from_micros(0);
        let plan_of = |request: &RecallRequest| match read(request, now, &Zone::default()).expect("good").way
        {
            RecallMethod::Listed { sort, .. } => sort,
            _ => panic!("no question was asked"),
        };
        assert_eq!(plan_of(&request(Mode::Recent)), Sort::Newest);
        assert_eq!(plan_of(&request(Mode::Important)), Sort::Importance);
        let sorted = RecallRequest { sort: Some(Sort::MostAccessed), ..request(Mode::Important) };
        assert_eq!(plan_of(&sorted), Sort::MostAccessed);
    }

    #[test]
    fn typed_needs_a_type_text_needs_text_and_a_question_needs_words() {
        let now = Timestamp::from_micros(0);
        assert_eq!(read(&request(Mode::Typed), now, &Zone::default()).err(), Some(Invalid::TypeMissing));
        let mut typed = request(Mode::Typed);
        typed.filter.types = vec![MemoryType::Decision];
        assert!(read(&typed, now, &Zone::default()).is_ok());
        assert!(read(&request(Mode::Substring(" ".to_owned())), now, &Zone::default()).is_err());
        let asked = |text: &str| {
            read(&request(Mode::Hybrid(Box::new(RecallQuestion::new(text)))), now, &Zone::default())
        };
        assert_eq!(asked(" \n").err(), Some(Invalid::Empty { field: Field::Question }));
        assert!(asked(&"x".repeat(limits::QUESTION_BYTES + 1)).is_err());
        assert!(asked("\"AND (*").is_ok());
        let lanes = |lanes: &[Lane]| {
            let ask = RecallQuestion { lanes: lanes.to_vec(), ..RecallQuestion::new("anything") };
            read(&request(Mode::Hybrid(Box::new(ask))), now, &Zone::default()).map(|plan| match plan.way {
                RecallMethod::Asked(ask) => ask.lanes,
                _ => panic!("a question was asked"),
            })
        };
        assert_eq!(lanes(&[Lane::Graph]), Err(Invalid::LaneMissing));
        assert_eq!(
            lanes(&[Lane::Vector, Lane::Keyword, Lane::Vector]),
            Ok(vec![Lane::Keyword, Lane::Vector])
        );
    }

    #[test]
    fn archived_memories_are_never_asked_for() {
        let mut asked = request(Mode::Recent);
        asked.filter.states = vec![State::Archived];
        let plan = read(&asked, Timestamp::from_micros(0), &Zone::default()).expect("good");
        assert_eq!(plan.filter.states, []);
        let plan = read(&request(Mode::Recent), Timestamp::from_micros(0), &Zone::default()).expect("good");
        assert_eq!(plan.filter.states, [State::Processing, State::Active, State::Cooling]);
    }
}
