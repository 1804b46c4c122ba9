//! Which memories are meant, by what holds of them.
//!
//! The store filters by it in its own words; [`Filter::admits`] says the same of a memory that is at hand.

use crate::id::SpaceId;
use crate::memory::Memory;
use crate::time::Timestamp;
use crate::vocabulary::{Author, ContentType, Kind, MemoryType, Stability, State};

/// Which memories are meant. Empty means all that the viewer may see and that are neither forgotten nor quarantined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// In this space; `None` is every visible one.
    pub space: Option<SpaceId>,
    /// Of one of these types.
    pub types: Vec<MemoryType>,
    /// Of one of these kinds.
    pub kinds: Vec<Kind>,
    /// Of one of these stabilities.
    pub stabilities: Vec<Stability>,
    /// In one of these states, as they are judged at [`states_at`](Self::states_at).
    pub states: Vec<State>,
    /// Of one of these forms.
    pub content_types: Vec<ContentType>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// With exactly this key.
    pub key: Option<String>,
    /// From this file.
    pub source_path: Option<String>,
    /// From this channel.
    pub conversation: Option<String>,
    /// By this author.
    pub author: Option<Author>,
    /// Saved by this agent.
    pub source_agent: Option<String>,
    /// Pinned, or not.
    pub pinned: Option<bool>,
    /// Todos and goals that are done, or those that are open. Memories of other types are neither.
    pub done: Option<bool>,
    /// Saved at or after this.
    pub since: Option<Timestamp>,
    /// Saved before this.
    pub until: Option<Timestamp>,
    /// Whose content, title or key holds this text, as it is, in any case.
    pub substring: Option<String>,
    /// Whether that text is looked for in the content alone.
    pub content_only: bool,
    /// Whether forgotten ones are meant.
    pub forgotten: Forgotten,
    /// Whether those that were put aside for review are meant.
    pub quarantined: Quarantined,
    /// Whether mirrors of files are left out.
    pub records_only: bool,
    /// When states are judged: what has expired by then counts as archived. The verbs say now where this is not said; a
    /// store that is not told goes by what was set alone.
    pub states_at: Option<Timestamp>,
    /// Only what [held](Memory::held_at) at this instant.
    pub valid_at: Option<Timestamp>,
}

impl Filter {
    /// Whether a memory that is neither forgotten nor quarantined is meant, as far as it can be told from the memory
    /// alone: everything but the substring.
    pub fn admits(&self, memory: &Memory) -> bool {
        let (edition, provenance) = (&memory.edition, &memory.provenance);
        let (text, class) = (&edition.text, &edition.class);
        let created = memory.usage.created_at;
        among(&self.types, class.memory_type)
            && among(&self.kinds, class.kind)
            && among(&self.stabilities, class.stability)
            && among(&self.states, self.states_at.map_or(memory.standing.state, |at| memory.state_at(at)))
            && among(&self.content_types, text.content_type)
            && self.space.is_none_or(|space| space == memory.space)
            && self.tags.iter().all(|tag| text.tags.contains(tag))
            && same(self.key.as_ref(), edition.key.as_ref())
            && same(self.source_path.as_ref(), provenance.source_path.as_ref())
            && same(self.conversation.as_ref(), memory.place.conversation.as_ref())
            && same(self.source_agent.as_ref(), provenance.source_agent.as_ref())
            && self.author.is_none_or(|author| author == provenance.author)
            && self.pinned.is_none_or(|pinned| pinned == memory.standing.pinned)
            && self.done.is_none_or(|done| match done {
                true => memory.standing.done_at.is_some(),
                false => memory.is_open(),
            })
            && self.since.is_none_or(|since| created >= since)
            && self.until.is_none_or(|until| created < until)
            && !(self.records_only && provenance.mirror.is_some())
            && self.valid_at.is_none_or(|at| memory.held_at(at))
    }

    /// The same for who looks through memories without saying what they say: what files say is in their files, and left out
    /// unless a file is named.
    #[must_use]
    pub(crate) fn of_records(mut self) -> Self {
        self.records_only |= self.source_path.is_none();
        self
    }

    /// Whether it names nothing that a memory has to be like. Where, when and how it looks is no such thing, and neither is
    /// every state that there is.
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

    /// Whether it asks for nothing but what the index knows of a memory: space, type, kind, stability, state, form,
    /// author, pin, done or open, times, and whether it is a record.
    pub fn is_plain(&self) -> bool {
        self.tags.is_empty()
            && self.key.is_none()
            && self.source_path.is_none()
            && self.conversation.is_none()
            && self.source_agent.is_none()
            && self.substring.is_none()
            && self.forgotten == Forgotten::Without
            && self.quarantined == Quarantined::Without
    }
}

fn among<T: PartialEq + Copy>(wanted: &[T], value: T) -> bool {
    wanted.is_empty() || wanted.contains(&value)
}

fn same(wanted: Option<&String>, value: Option<&String>) -> bool {
    wanted.is_none() || wanted == value
}

/// Whether forgotten memories are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Forgotten {
    /// Leave them out.
    #[default]
    Without,
    /// Only them, and only the viewer's own.
    Only,
}

/// Whether memories that were put aside for review are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quarantined {
    /// Leave them out.
    #[default]
    Without,
    /// Only them.
    Only,
    /// Them too.
    Either,
}
