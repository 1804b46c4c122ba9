//! Filters for memories.
//!
//! The store evaluates a filter as SQL; [`Filter::admits`] does the same for a loaded memory.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_text::when::TimeInput;

use super::Caller;
use crate::model::id::SpaceId;
use crate::model::memory::Memory;
use crate::model::time::{Period, Timestamp, Zone};
use crate::model::vocabulary::{Author, ContentType, Kind, MemoryType, Stability, State};

/// The filter of a list, a recall or a forget. Every surface takes it in this form, except for dialects.
/// [`resolve`](Self::resolve) converts it to a [`Filter`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MemoryFilter {
    /// Only these types.
    pub types: Vec<MemoryType>,
    /// Only these kinds.
    pub kinds: Vec<Kind>,
    /// Only these stabilities.
    pub stabilities: Vec<Stability>,
    /// Only these states (default: all but archived). An expired memory counts as archived.
    pub states: Vec<State>,
    /// Only these forms.
    pub content_types: Vec<ContentType>,
    /// Only with all of these tags.
    pub tags: Vec<String>,
    /// Only with this key.
    pub key: Option<String>,
    /// Only from this file.
    pub source_path: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// Only from this conversation.
    pub conversation: Option<String>,
    /// Only by this author.
    pub author: Option<Author>,
    /// Only saved by this agent.
    pub source_agent: Option<String>,
    /// Only pinned memories (true), or only others (false).
    pub pinned: Option<bool>,
    /// Only done todos and goals (true), or only open ones (false).
    pub done: Option<bool>,
    /// Only saved at or after this: a time, a day such as 2026-05-27, or words such as yesterday.
    pub since: Option<TimeInput>,
    /// Only saved before this.
    pub until: Option<TimeInput>,
    /// Only happened at or after this. Without a time of its own, a memory happened when it was saved.
    pub happened_since: Option<TimeInput>,
    /// Only happened before this.
    pub happened_until: Option<TimeInput>,
    /// Only with this text in content, title or key, ignoring case.
    pub contains: Option<String>,
    /// True for every space that you may see, not only that of the call.
    pub all_spaces: bool,
}

impl MemoryFilter {
    /// Returns the filter for this caller. Days are those of the caller's time zone.
    pub fn resolve(self, caller: &Caller, now: Timestamp) -> Filter {
        let instant = |moment: Option<TimeInput>| moment.map(|moment| moment.instant(&caller.zone, now));
        let happened =
            happened(self.happened_since.as_ref(), self.happened_until.as_ref(), &caller.zone, now);
        Filter {
            space: (!self.all_spaces).then_some(caller.space),
            types: self.types,
            kinds: self.kinds,
            stabilities: self.stabilities,
            states: self.states,
            content_types: self.content_types,
            tags: self.tags,
            key: self.key,
            source_path: self.source_path,
            project: self.project,
            conversation: self.conversation,
            author: self.author,
            source_agent: self.source_agent,
            pinned: self.pinned,
            done: self.done,
            since: instant(self.since),
            until: instant(self.until),
            timed: happened.into_iter().collect(),
            substring: self.contains,
            ..Filter::default()
        }
    }
}

/// Returns the condition that a memory happened in the period between two times. `None` if neither is given.
pub fn happened(
    since: Option<&TimeInput>,
    until: Option<&TimeInput>,
    zone: &Zone,
    now: Timestamp,
) -> Option<TimeCondition> {
    if since.is_none() && until.is_none() {
        return None;
    }
    let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    let end = |input: Option<&TimeInput>, open: Timestamp| {
        input.map_or((open, open), |input| (input.instant(zone, now), input.day(zone, now)))
    };
    let ((from, first_day), (until, last_day)) = (end(since, first), end(until, last));
    Some(TimeCondition::Happened(Period { from, until, days: (first_day, last_day) }))
}

/// A filter for memories. An empty filter matches all memories that the viewer may see and that are not forgotten or
/// quarantined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// The space; `None` means every visible one.
    pub space: Option<SpaceId>,
    /// Any of these types.
    pub types: Vec<MemoryType>,
    /// Any of these kinds.
    pub kinds: Vec<Kind>,
    /// Any of these stabilities.
    pub stabilities: Vec<Stability>,
    /// Any of these states, as evaluated at [`states_at`](Self::states_at).
    pub states: Vec<State>,
    /// Any of these forms.
    pub content_types: Vec<ContentType>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// Exactly this key.
    pub key: Option<String>,
    /// The source file.
    pub source_path: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// The conversation.
    pub conversation: Option<String>,
    /// The author.
    pub author: Option<Author>,
    /// The agent that saved it.
    pub source_agent: Option<String>,
    /// True for pinned memories, false for the others.
    pub pinned: Option<bool>,
    /// True for todos and goals that are done, false for open ones. Memories of other types match neither.
    pub done: Option<bool>,
    /// Saved at or after this.
    pub since: Option<Timestamp>,
    /// Saved before this.
    pub until: Option<Timestamp>,
    /// The periods in which it happened, was done or is due: all of them.
    pub timed: Vec<TimeCondition>,
    /// Text that content, title or key contains verbatim, ignoring case.
    pub substring: Option<String>,
    /// True if the substring is searched only in the content.
    pub content_only: bool,
    /// The treatment of forgotten memories.
    pub forgotten: ForgottenFilter,
    /// The treatment of quarantined memories.
    pub quarantined: Quarantined,
    /// True if mirrors of files are left out.
    pub records_only: bool,
    /// The time at which states are evaluated: a memory that has expired by then counts as archived. By default, the verbs
    /// use the current time. If `None`, a store uses only the stored state.
    pub states_at: Option<Timestamp>,
    /// Only memories that were [valid](Memory::held_at) at this instant.
    pub valid_at: Option<Timestamp>,
}

impl Filter {
    /// Returns true if a memory matches all conditions except the substring. The memory must not be forgotten or
    /// quarantined.
    pub fn admits(&self, memory: &Memory) -> bool {
        let (fields, provenance) = (&memory.fields, &memory.provenance);
        let (text, class) = (&fields.text, &fields.class);
        let created = memory.usage.created_at;
        among(&self.types, class.memory_type)
            && among(&self.kinds, class.kind)
            && among(&self.stabilities, class.stability)
            && among(&self.states, self.states_at.map_or(memory.status.state, |at| memory.state_at(at)))
            && among(&self.content_types, text.content_type)
            && self.space.is_none_or(|space| space == memory.space)
            && self.tags.iter().all(|tag| text.tags.contains(tag))
            && same(self.key.as_ref(), fields.key.as_ref())
            && self.source_path.as_ref().is_none_or(|path| provenance.paths().contains(path))
            && same(self.project.as_ref(), fields.project.as_ref())
            && same(self.conversation.as_ref(), memory.place.conversation.as_ref())
            && same(self.source_agent.as_ref(), provenance.source_agent.as_ref())
            && self.author.is_none_or(|author| author == provenance.author)
            && self.pinned.is_none_or(|pinned| pinned == memory.status.pinned)
            && self.done.is_none_or(|done| match done {
                true => memory.status.done_at.is_some(),
                false => memory.is_open(),
            })
            && self.since.is_none_or(|since| created >= since)
            && self.until.is_none_or(|until| created < until)
            && self.timed.iter().all(|timed| timed.admits(memory))
            && !(self.records_only && provenance.mirror.is_some())
            && self.valid_at.is_none_or(|at| memory.held_at(at))
    }

    /// Returns the fields whose values must match exactly, each with its name in JSON and in the database. The path is left
    /// out, because a memory can have several paths.
    pub fn exact(&self) -> [(&'static str, Option<&str>); 4] {
        [
            ("key", self.key.as_deref()),
            ("project", self.project.as_deref()),
            ("conversation", self.conversation.as_deref()),
            ("source_agent", self.source_agent.as_deref()),
        ]
    }

    /// Returns mutable references to the fields of [`exact`](Self::exact).
    pub fn exact_mut(&mut self) -> [(&'static str, &mut Option<String>); 4] {
        [
            ("key", &mut self.key),
            ("project", &mut self.project),
            ("conversation", &mut self.conversation),
            ("source_agent", &mut self.source_agent),
        ]
    }

    /// Returns the filter for browsing: mirrors of files are left out unless a file is named.
    #[must_use]
    pub(crate) fn of_records(mut self) -> Self {
        self.records_only |= self.source_path.is_none();
        self
    }

    /// Returns true if it sets no condition on a memory. The space, the evaluation time, the treatment of forgotten
    /// memories and of mirrors, and a list of all states do not count as conditions.
    pub fn is_empty(&self) -> bool {
        let mut bare = Self {
            space: self.space,
            content_only: self.content_only,
            forgotten: self.forgotten,
            records_only: self.records_only,
            states_at: self.states_at,
            ..Self::default()
        };
        if State::ALL.iter().all(|state| self.states.contains(state)) {
            bare.states.clone_from(&self.states);
        }
        *self == bare
    }

    /// Returns true if the filter uses only fields that the index contains: space, type, kind, stability, state, form,
    /// author, pin, done or open, save time, validity, and whether it is a record.
    pub fn is_plain(&self) -> bool {
        self.tags.is_empty()
            && self.exact().iter().all(|(_, value)| value.is_none())
            && self.source_path.is_none()
            && self.timed.is_empty()
            && self.substring.is_none()
            && self.forgotten == ForgottenFilter::Without
            && self.quarantined == Quarantined::Without
    }
}

fn among<T: PartialEq + Copy>(wanted: &[T], value: T) -> bool {
    wanted.is_empty() || wanted.contains(&value)
}

fn same(wanted: Option<&String>, value: Option<&String>) -> bool {
    wanted.is_none() || wanted == value
}

/// A condition on a time of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeCondition {
    /// The memory happened, or else was saved, within the period.
    Happened(Period),
    /// The memory was done within the period.
    Done(Period),
    /// The memory is due before the end of the period, or has no due time.
    Due(Period),
}

impl TimeCondition {
    /// Returns true if a memory matches.
    pub fn admits(&self, memory: &Memory) -> bool {
        match self {
            Self::Happened(period) => period.has(memory.happened_at()),
            Self::Done(period) => memory.status.done_at.is_some_and(|at| period.has(at)),
            Self::Due(period) => memory.due_at().is_none_or(|at| period.ends_after(at)),
        }
    }
}

/// The treatment of forgotten memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ForgottenFilter {
    /// Leaves forgotten memories out.
    #[default]
    Without,
    /// Only forgotten memories; in a list, only the viewer's own.
    Only,
}

/// The treatment of quarantined memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quarantined {
    /// Leaves quarantined memories out.
    #[default]
    Without,
    /// Only quarantined memories.
    Only,
    /// Quarantined and other memories.
    Either,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_between_two_times_may_have_an_open_end() {
        let input = |text: &str| text.parse::<TimeInput>().expect(text);
        let at = |text: &str| text.parse::<Timestamp>().expect(text);
        let (zone, now) = (Zone::named("Europe/Vienna").expect("a zone"), at("2026-05-27T12:00:00Z"));
        let period = |since: Option<&str>, until: Option<&str>| {
            let (since, until) = (since.map(input), until.map(input));
            match happened(since.as_ref(), until.as_ref(), &zone, now) {
                Some(TimeCondition::Happened(period)) => Some(period),
                other => {
                    assert_eq!(other, None);
                    None
                }
            }
        };
        assert_eq!(period(None, None), None);
        let both = period(Some("last week"), Some("2026-05-25")).expect("a period");
        assert_eq!((both.from, both.until), (at("2026-05-17T22:00:00Z"), at("2026-05-24T22:00:00Z")));
        assert_eq!(both.days, (at("2026-05-18"), at("2026-05-25")), "a day is the same in every zone");
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        let since = period(Some("yesterday"), None).expect("a period");
        assert_eq!((since.from, since.until, since.days.1), (at("2026-05-25T22:00:00Z"), last, last));
        let until = period(None, Some("2026-05-25T08:00:00Z")).expect("a period");
        assert_eq!((until.from, until.days.0, until.until), (first, first, at("2026-05-25T08:00:00Z")));
        assert!(since.has(at("2026-05-26")) && !since.has(at("2026-05-25")) && until.has(at("1970-01-01")));
    }
}
