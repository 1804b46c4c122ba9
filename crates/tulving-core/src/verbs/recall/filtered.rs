//! Recall of all memories that match a filter: the answer to a question that only names a type, and to a recall without
//! a question.
//!
//! The store sorts and counts the memories; only the returned memories are read. With a question, superseded memories
//! are left out and counted, because they are not valid answers. Without a question, they come last.

use tulving_text::list_question::ListTime;

use crate::model::answer::{Answer, Hit, ListAnswer, Strength};
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::limits::BYTES_PER_TOKEN;
use crate::model::memory::Memory;
use crate::model::preview;
use crate::model::request::{Caller, Filter, Sort};
use crate::model::score::Score;
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::{MemoryType, State};
use crate::rank::order;
use crate::verbs::access::Ports;
use crate::verbs::read;
use crate::verbs::succession::{self, PointInTime};

use super::past;
use super::plan::{FilteredList, RecallPlan};

/// Number of memories read at a time to reconstruct their past state.
const SLICE: usize = 16;

/// Returns the first memories that match the filter, in order.
pub(super) fn answer(
    ports: &Ports,
    caller: &Caller,
    plan: &RecallPlan,
    list: &FilteredList,
) -> Result<Answer, Error> {
    let chosen = match list.bounds.as_of {
        None => chosen_now(ports, caller, plan, list)?,
        Some(then) => chosen_then(ports, caller, plan, list.sort, then)?,
    };
    let given = chosen.total.min(plan.limit as u64);
    let mut left = list.bounds.token_budget;
    let mut fits = |memory: &Memory| match &mut left {
        None => true,
        Some(left) => {
            let rest = left.checked_sub(memory.fields.text.content.len().div_ceil(BYTES_PER_TOKEN));
            *left = rest.unwrap_or(*left);
            rest.is_some()
        }
    };
    let hits: Vec<Hit> = chosen
        .memories
        .into_iter()
        .filter(|memory| fits(memory))
        .map(|memory| hit(memory, list, caller))
        .collect();
    // The memories that do not fit into the token budget or the size limit of an answer.
    let left_out = given.saturating_sub(hits.len() as u64);
    let mut answer = Answer { hits, total_found: chosen.total, left_out, ..Answer::default() };
    describe(&mut answer, list, plan, chosen.superseded, &caller.zone);
    Ok(answer)
}

/// The returned memories of a list, the total number of the list, and the number of memories left out because they are
/// superseded.
struct FilteredSelection {
    memories: Vec<Memory>,
    total: u64,
    superseded: u64,
}

fn chosen_now(
    ports: &Ports,
    caller: &Caller,
    plan: &RecallPlan,
    list: &FilteredList,
) -> Result<FilteredSelection, Error> {
    let ids = ports.store.ids(&caller.viewer, &plan.filter, list.sort)?;
    let replaced = succession::superseded(ports, caller, &ids, PointInTime::Now(plan.now))?;
    let (last, mut ids): (Vec<MemoryId>, Vec<MemoryId>) =
        ids.into_iter().partition(|id| replaced.contains(id));
    let superseded = match list.asked {
        Some(_) => last.len() as u64,
        None => {
            ids.extend(last);
            0
        }
    };
    let total = ids.len() as u64;
    ids.truncate(plan.limit);
    let mut memories = read::nearest(ports, caller, &ids)?;
    succession::settle(ports, caller, &mut memories, PointInTime::Now(plan.now))?;
    Ok(FilteredSelection { memories, total, superseded })
}

/// Returns the list for a past time: with the texts of that time, and with the todos and goals that were open then.
fn chosen_then(
    ports: &Ports,
    caller: &Caller,
    plan: &RecallPlan,
    sort: Sort,
    then: Timestamp,
) -> Result<FilteredSelection, Error> {
    // A memory may have been completed, or archived by a rule, after the past time. The store filters by the current
    // status, so the past status is checked after loading.
    let mut wide = Filter { done: None, timed: Vec::new(), ..plan.filter.clone() };
    wide.states.push(State::Archived);
    let ids: Vec<MemoryId> = ports.store.ids(&caller.viewer, &wide, Sort::Newest)?;
    let moment = PointInTime::Then(then);
    let superseded = succession::superseded(ports, caller, &ids, moment)?;
    let mut chosen = FilteredSelection { memories: Vec::new(), total: 0, superseded: 0 };
    for slice in ids.chunks(SLICE) {
        let memories = ports.store.memories(&caller.viewer, slice)?;
        let back =
            past::brought_back(ports, caller, memories, then)?.into_iter().map(|memory| stood(memory, then));
        for memory in back.filter(|memory| plan.filter.admits(memory)) {
            if superseded.contains(&memory.id) {
                chosen.superseded += 1;
            } else {
                chosen.total += 1;
                chosen.memories.push(memory);
            }
        }
        chosen.memories.sort_by(|a, b| order::compare(a, b, sort, then));
        chosen.memories.truncate(plan.limit);
    }
    let mut bytes = 0;
    let most = ports.limits.answer_bytes;
    let end = chosen.memories.iter().position(|memory| {
        bytes += memory.fields.text.content.len();
        bytes >= most
    });
    chosen.memories.truncate(end.map_or(plan.limit, |last| last + 1));
    Ok(chosen)
}

/// Returns a memory with the status that it had at the past time.
fn stood(mut memory: Memory, then: Timestamp) -> Memory {
    memory.status.done_at = memory.status.done_at.filter(|at| *at <= then);
    if memory.status.state == State::Archived && memory.stood_at(then) != State::Archived {
        memory.status = memory.status.moved(State::Active);
    }
    memory.superseded_by = None;
    memory
}

fn hit(memory: Memory, list: &FilteredList, caller: &Caller) -> Hit {
    let why = why(&memory, list.sort, &caller.zone);
    Hit {
        memory,
        // Each memory of a list matches the request fully.
        relevance_score: Score::share(1.0, 1.0),
        why,
        section: None,
        further: Vec::new(),
        cut: false,
        explanation: None,
    }
}

/// Returns the reason why a memory is in the list, and its position.
fn why(memory: &Memory, sort: Sort, zone: &Zone) -> String {
    let word = memory.fields.class.memory_type.as_str();
    let stands = match (memory.status.done_at, memory.is_open()) {
        (Some(at), _) => format!("is a done {word}, done {}", zone.date(at)),
        (None, true) => format!("is an open {word}"),
        (None, false) => format!("is {} {word}", preview::article(word)),
    };
    let place = match sort {
        Sort::Agenda if memory.status.done_at.is_some() => String::new(),
        Sort::Agenda => match memory.due_at() {
            Some(at) => format!(", due {}", zone.date(at)),
            None => format!(", importance {}", memory.fields.class.importance.get()),
        },
        Sort::Happened if memory.fields.span.occurred_at.is_some() => {
            format!(", of {}", zone.date(memory.happened_at()))
        }
        Sort::Happened | Sort::Newest | Sort::Oldest => {
            format!(", saved {}", zone.date(memory.usage.created_at))
        }
        Sort::Updated => format!(", edited {}", zone.date(memory.usage.updated_at)),
        Sort::Accessed => format!(", used {}", zone.date(memory.usage.accessed_at)),
        Sort::Importance => format!(", importance {}", memory.fields.class.importance.get()),
        Sort::MostAccessed => format!(", used {} times", memory.usage.access_count),
    };
    format!("{stands}{place}")
}

/// Describes the list of an answer, and sets the evidence of the answer. Each memory of the list counts as evidence,
/// because it matches the question.
pub(crate) fn describe(
    answer: &mut Answer,
    list: &FilteredList,
    plan: &RecallPlan,
    superseded: u64,
    zone: &Zone,
) {
    let asked = list.asked.as_ref();
    let question = asked.map(|asked| &asked.list);
    let time = question.and_then(|question| question.time);
    let period = time.map(|time| time.interval().period());
    let (far_back, far_on) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    answer.listed = Some(ListAnswer {
        what: in_words(answer.total_found, &plan.filter, time, zone),
        types: plan.filter.types.clone(),
        done: plan.filter.done,
        from: period.map(|period| period.from).filter(|from| from.date() != far_back.date()),
        until: period.map(|period| period.until).filter(|until| until.date() != far_on.date()),
        counted: question.is_some_and(|question| question.counts),
        superseded,
        ranked: false,
    });
    if asked.is_some() {
        answer.evidence = Some(if answer.hits.is_empty() { Strength::None } else { Strength::Strong });
    }
}

/// Returns true if the store has any memory of the list's types, of any time, completed or not.
pub(crate) fn knows_such(ports: &Ports, caller: &Caller, plan: &RecallPlan) -> Result<bool, Error> {
    let wide = Filter { done: None, timed: Vec::new(), ..plan.filter.clone() };
    Ok(!ports.store.list(&caller.viewer, &wide, Sort::Newest, 1, None)?.is_empty())
}

/// Returns the ranked answer for a question whose list is empty. The answer states that it is not the list.
pub(crate) fn ranked_instead(listed: Answer, ranked: Answer) -> Answer {
    let listed = listed.listed.map(|list| ListAnswer { ranked: true, ..list });
    Answer { listed, ..ranked }
}

/// Describes a list: `6 open todos`, `no decisions from 2026-11-04 to 2026-11-18`.
fn in_words(total: u64, filter: &Filter, time: Option<ListTime>, zone: &Zone) -> String {
    let count = if total == 0 { "no".to_owned() } else { total.to_string() };
    let stands = match filter.done {
        Some(true) => "done ",
        Some(false) => "open ",
        None => "",
    };
    let named = |word: &MemoryType| if total == 1 { word.as_str() } else { plural(*word) };
    let names: Vec<&str> = filter.types.iter().map(named).collect();
    let names = match names.as_slice() {
        [] => if total == 1 { "memory" } else { "memories" }.to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => {
            let (join, first) = (if total == 1 { "or" } else { "and" }, first.join(", "));
            format!("{first} {join} {last}")
        }
    };
    let when = time.map_or_else(String::new, |time| days_in_words(time, zone));
    format!("{count} {stands}{names}{when}")
}

fn days_in_words(time: ListTime, zone: &Zone) -> String {
    let interval = time.interval();
    let (first, last) = (zone.date(interval.from), zone.date(interval.until.plus_millis(-1)));
    let is_far = |date: &str, far: i64| date == zone.date(Timestamp::from_micros(far));
    let no_start = is_far(&first, i64::MIN);
    let no_end = is_far(&zone.date(interval.until), i64::MAX);
    match time {
        ListTime::Due(_) => format!(" to do by {last}"),
        _ if no_end => format!(" since {first}"),
        _ if no_start => format!(" up to {last}"),
        _ if first == last => format!(" of {first}"),
        _ => format!(" from {first} to {last}"),
    }
}

const fn plural(word: MemoryType) -> &'static str {
    match word {
        MemoryType::Fact => "facts",
        MemoryType::Preference => "preferences",
        MemoryType::Decision => "decisions",
        MemoryType::Identity => "identity memories",
        MemoryType::Event => "events",
        MemoryType::Observation => "observations",
        MemoryType::Goal => "goals",
        MemoryType::Todo => "todos",
        MemoryType::Project => "projects",
        MemoryType::Person => "people",
        MemoryType::Routine => "routines",
    }
}
