//! Filters for memories.
//!
//! The store evaluates a filter as SQL; [`Filter::admits`] does the same for a loaded memory.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Caller;
use crate::model::id::SpaceId;
use crate::model::memory::Memory;
use crate::model::time::{Period, TimeInput, Timestamp};
use crate::model::vocabulary::{Author, ContentType, Kind, MemoryType, Stability, State};

/// The filter of a list, a recall or a forget, as every surface of our own takes it. [`resolve`](Self::resolve) makes it a
/// [`Filter`].
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
    /// Only about this project.
    pub project: Option<String>,
    /// Only from this channel.
    pub conversation: Option<String>,
    /// Only by this author.
    pub author: Option<Author>,
    /// Only saved by this agent.
    pub source_agent: Option<String>,
    /// Only pinned memories (true), or only others (false).
    pub pinned: Option<bool>,
    /// Only done todos and goals (true), or only open ones (false).
    pub done: Option<bool>,
    /// Only saved at or after this: a time, a day such as 2026-05-27, or yesterday.
    pub since: Option<TimeInput>,
    /// Only saved before this.
    pub until: Option<TimeInput>,
    /// Only with this text in content, title or key, ignoring case.
    pub contains: Option<String>,
    /// True for every space that you may see, not only that of the call.
    pub all_spaces: bool,
}

impl MemoryFilter {
    /// Returns the filter for this caller. Days are those of the caller's time zone.
    pub fn resolve(self, caller: &Caller, now: Timestamp) -> Filter {
        let instant = |moment: Option<TimeInput>| moment.map(|moment| moment.instant(&caller.zone, now));
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
            substring: self.contains,
            ..Filter::default()
        }
    }
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
    /// The channel.
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
    /// The period in which it happened, was done or is due.
    pub timed: Option<TimeCondition>,
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
            && self.timed.is_none_or(|timed| timed.admits(memory))
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
            && self.timed.is_none()
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
