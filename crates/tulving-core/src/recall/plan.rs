//! Reads a recall once: what is wrong with it is said here, and what follows does not look again.

use crate::answer::Lane;
use crate::error::{Field, Invalid};
use crate::limits;
use crate::request::{Ask, Filter, Mode, RecallRequest, Sort};
use crate::time::Timestamp;
use crate::vocabulary::State;

/// How many candidates each lane gives, at least. What it costs is in docs/benchmarks.md.
pub(super) const BEST: usize = 200;

/// What a recall comes to, once it was found good.
pub(crate) struct Plan {
    pub(crate) filter: Filter,
    pub(crate) limit: usize,
    pub(crate) way: Way,
    pub(crate) now: Timestamp,
}

/// How the memories are found.
pub(crate) enum Way {
    /// All that the filter lets through, in an order.
    Listed { mode: Mode, sort: Sort },
    /// What a question is about.
    Asked(Ask),
}

/// Reads a recall of this moment.
pub(crate) fn read(request: &RecallRequest, now: Timestamp) -> Result<Plan, Invalid> {
    let limit = crate::read::bounded(Field::Limit, request.limit, limits::RECALL)?;
    let mut filter = crate::read::fitted(&request.filter, now)?;
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
            Way::Asked(ask)
        }
        mode => {
            let sort = listed(mode, &mut filter)?;
            Way::Listed { mode: mode.clone(), sort: request.sort.unwrap_or(sort) }
        }
    };
    Ok(Plan { filter, limit, way, now })
}

fn question(ask: &Ask) -> Result<Ask, Invalid> {
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
    Ok(Ask { question: text.to_owned(), lanes, ..ask.clone() })
}

fn listed(mode: &Mode, filter: &mut Filter) -> Result<Sort, Invalid> {
    if !matches!(mode, Mode::Substring(_)) {
        *filter = std::mem::take(filter).of_records();
    }
    Ok(match mode {
        Mode::Recent | Mode::Hybrid(_) => Sort::Newest,
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
    use crate::vocabulary::MemoryType;

    fn request(mode: Mode) -> RecallRequest {
        RecallRequest { mode, filter: Filter::default(), sort: None, limit: 10 }
    }

    #[test]
    fn the_mode_decides_the_order_unless_a_sort_is_given() {
        let now = Timestamp::from_micros(0);
        let plan_of = |request: &RecallRequest| match read(request, now).expect("good").way {
            Way::Listed { sort, .. } => sort,
            Way::Asked(_) => panic!("no question was asked"),
        };
        assert_eq!(plan_of(&request(Mode::Recent)), Sort::Newest);
        assert_eq!(plan_of(&request(Mode::Important)), Sort::Importance);
        let sorted = RecallRequest { sort: Some(Sort::MostAccessed), ..request(Mode::Important) };
        assert_eq!(plan_of(&sorted), Sort::MostAccessed);
    }

    #[test]
    fn typed_needs_a_type_text_needs_text_and_a_question_needs_words() {
        let now = Timestamp::from_micros(0);
        assert_eq!(read(&request(Mode::Typed), now).err(), Some(Invalid::TypeMissing));
        let mut typed = request(Mode::Typed);
        typed.filter.types = vec![MemoryType::Decision];
        assert!(read(&typed, now).is_ok());
        assert!(read(&request(Mode::Substring(" ".to_owned())), now).is_err());
        let asked = |text: &str| read(&request(Mode::Hybrid(Box::new(Ask::new(text)))), now);
        assert_eq!(asked(" \n").err(), Some(Invalid::Empty { field: Field::Question }));
        assert!(asked(&"x".repeat(limits::QUESTION_BYTES + 1)).is_err());
        assert!(asked("\"AND (*").is_ok());
        let lanes = |lanes: &[Lane]| {
            let ask = Ask { lanes: lanes.to_vec(), ..Ask::new("anything") };
            read(&request(Mode::Hybrid(Box::new(ask))), now).map(|plan| match plan.way {
                Way::Asked(ask) => ask.lanes,
                Way::Listed { .. } => panic!("a question was asked"),
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
        let plan = read(&asked, Timestamp::from_micros(0)).expect("good");
        assert_eq!(plan.filter.states, []);
        let plan = read(&request(Mode::Recent), Timestamp::from_micros(0)).expect("good");
        assert_eq!(plan.filter.states, [State::Processing, State::Active, State::Cooling]);
    }
}
