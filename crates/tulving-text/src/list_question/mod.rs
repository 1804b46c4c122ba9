//! Questions that only name a type of memory: "what are my open todos?", "all decisions from the last two weeks", "people".
//!
//! Uses English rules over words. A question matches only if this module knows every word and no word is a subject. So
//! "what did we decide about Redis?" is ranked like any other question. In doubt, a question is ranked, because a
//! list could hide the answer. `questions.txt` contains the expected results.

mod forms;
mod words;

use crate::time::{Timestamp, Zone};
use crate::vocabulary::MemoryType;
use crate::when::{self, QuestionInterval};

/// Maximum length of a question that is checked, in bytes. A longer question has a subject.
const LONGEST: usize = 200;

/// The list that a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuestion {
    /// The memory types, in the order of the question.
    pub types: Vec<MemoryType>,
    /// `true` for only todos and goals that are done, `false` for only open todos and goals.
    pub done: Option<bool>,
    /// True if the question asks for the number of memories.
    pub counts: bool,
    /// The time that the list covers.
    pub time: Option<ListTime>,
    /// True if the question asks for the most important memories first.
    pub by_importance: bool,
}

/// The role of a time in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListTime {
    /// Memories that happened within the interval. A memory without a time of its own counts by the time of its save.
    Happened(QuestionInterval),
    /// Memories that were done within the interval.
    Done(QuestionInterval),
    /// Open work up to the end of the interval: memories without a due date, or with a due date before the end.
    Due(QuestionInterval),
}

impl ListTime {
    /// Returns the interval of the time.
    pub fn interval(&self) -> &QuestionInterval {
        match self {
            Self::Happened(interval) | Self::Done(interval) | Self::Due(interval) => interval,
        }
    }
}

/// Reads a question, relative to `now` in a zone. Returns `None` if the question does not ask for a list of a type.
pub fn read(question: &str, now: Timestamp, zone: &Zone) -> Option<ListQuestion> {
    if question.len() > LONGEST {
        return None;
    }
    let apart = when::apart(question, now, zone);
    let (words, time) = match apart.times.as_slice() {
        [] => (apart.words, None),
        [(interval, at)] => {
            let (words, lead) = without_lead(apart.words, *at);
            (words, Some(NamedTime { interval: *interval, lead }))
        }
        _ => return None,
    };
    let words = words::spelled_out(&words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (words, by_importance) = words::without_order(words::without_courtesy(&words));
    let form = forms::read(words)?;
    let today = *when::intervals("today", now, zone).first()?;
    let list = form.at(time, &today)?;
    Some(ListQuestion { by_importance, ..list })
}

/// Words that lead to the name of a project.
const LEADS_TO_A_PROJECT: [&str; 5] = ["for", "in", "of", "on", "about"];
/// Words that are never the name of a project.
const NO_PROJECT: [&str; 12] =
    ["me", "us", "you", "mine", "now", "today", "general", "total", "all", "it", "there", "here"];

/// Splits the name of a project from the end of a question: "my todos for gantry" becomes "my todos" and "gantry". The
/// name is not checked.
pub fn without_project(question: &str) -> Option<(&str, &str)> {
    let question = question.trim().trim_end_matches(['?', '!', '.', ' ']);
    let question = question.strip_suffix(" project").unwrap_or(question);
    let (rest, name) = question.rsplit_once(' ')?;
    let rest = rest.trim_end().strip_suffix(" the").unwrap_or(rest).trim_end();
    let (rest, lead) = rest.rsplit_once(' ')?;
    let names = LEADS_TO_A_PROJECT.contains(&lead.to_lowercase().as_str())
        && !NO_PROJECT.contains(&name.to_lowercase().as_str());
    (names && !rest.is_empty()).then_some((rest.trim_end(), name))
}

/// A time as written in the question.
#[derive(Clone, Debug)]
struct NamedTime {
    interval: QuestionInterval,
    /// The preposition before the time.
    lead: Option<String>,
}

/// Removes the words before the time at this position that lead to it ("from the"). Returns the remaining words and the
/// preposition.
fn without_lead(mut words: Vec<String>, at: usize) -> (Vec<String>, Option<String>) {
    let rest = words.split_off(at);
    if words.last().is_some_and(|word| word == "the") {
        words.pop();
    }
    let lead = words.pop_if(|word| words::leads_to_time(word));
    words.extend(rest);
    (words, lead)
}

/// A question whose time was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ListQuestionForm {
    types: Vec<MemoryType>,
    done: Option<bool>,
    counts: bool,
    /// True if the question asks for all memories of the type, open or not.
    all: bool,
    /// True if the question asks for open work, which is never about the past.
    to_do: bool,
}

impl ListQuestionForm {
    fn of(memory_type: MemoryType) -> Self {
        Self { types: vec![memory_type], done: None, counts: false, all: false, to_do: false }
    }

    /// Returns the list for a time. Returns `None` if the question and the time do not fit together.
    fn at(self, time: Option<NamedTime>, today: &QuestionInterval) -> Option<ListQuestion> {
        let Self { types, done, counts, all, to_do } = self;
        let can_be_done = types.iter().all(|memory_type| memory_type.can_be_done());
        if done.is_some() && !can_be_done {
            return None;
        }
        let is_ahead = time.as_ref().is_some_and(|time| time.is_ahead(today));
        let open_unsaid = can_be_done && done.is_none() && !all && (time.is_none() || is_ahead);
        let done = if open_unsaid { Some(false) } else { done };
        let time = match (time, done) {
            (None, _) => None,
            (Some(time), Some(true)) => Some(ListTime::Done(time.interval)),
            (Some(time), Some(false)) if is_ahead => Some(ListTime::Due(time.interval)),
            // "by Friday" would be read as the last Friday, but the next Friday is meant.
            (Some(time), Some(false)) if to_do || time.has_no_start() => return None,
            (Some(time), _) => Some(ListTime::Happened(time.interval)),
        };
        Some(ListQuestion { types, done, counts, time, by_importance: false })
    }
}

impl NamedTime {
    /// Returns true if the time is in the present or in the future: true for "today", "this week" and "tomorrow", false
    /// for "since May" and "from this week".
    fn is_ahead(&self, today: &QuestionInterval) -> bool {
        let whole = self.lead.as_deref().is_none_or(|lead| !matches!(lead, "from" | "of"));
        let begins = self.interval.from >= today.from;
        whole && !self.has_no_end() && !self.has_no_start() && (begins || self.interval.until > today.until)
    }

    fn has_no_end(&self) -> bool {
        self.interval.until >= Timestamp::from_micros(i64::MAX).plus_millis(-MILLIS_OF_TWO_DAYS)
    }

    fn has_no_start(&self) -> bool {
        self.interval.from <= Timestamp::from_micros(i64::MIN).plus_millis(MILLIS_OF_TWO_DAYS)
    }
}

/// Maximum number of milliseconds by which the conversion to a time zone may move an open end.
const MILLIS_OF_TWO_DAYS: i64 = 2 * 86_400_000;

#[cfg(test)]
mod tests;
