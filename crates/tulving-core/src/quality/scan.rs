//! Reads the memories of a space page by page and says what is wrong with each, and with two that are linked.
//!
//! One page is held at a time with its contents; of all others only a digest, to know again what was said before.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sha2::{Digest, Sha256};

use super::{Deed, Found, links, look};
use crate::access::Parts;
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::rank::twins;
use crate::request::{Caller, Filter, Sort};
use crate::time::Timestamp;
use crate::vocabulary::{Boundary, FindingKind, ProposedAct, State};

/// How many memories are read at a time.
const PAGE: usize = 32;

/// Hears of each finding, and says whether to go on.
pub(super) type Hear<'a> = dyn FnMut(&Found<'_>) -> ControlFlow<()> + 'a;

/// One look through a space.
pub(super) struct Scan<'a> {
    pub(super) parts: &'a Parts,
    pub(super) caller: &'a Caller,
    pub(super) now: Timestamp,
    /// What is looked for.
    kinds: &'a [FindingKind],
    /// How old what was never recalled has to be.
    pub(super) older_than_days: u32,
    /// What was said so far, and by which memory first.
    said: HashMap<[u8; 16], MemoryId>,
}

impl<'a> Scan<'a> {
    /// A look for findings of these kinds, of memories of any age.
    pub(super) fn new(parts: &'a Parts, caller: &'a Caller, kinds: &'a [FindingKind]) -> Self {
        let now = parts.clock.now();
        Self { parts, caller, now, kinds, older_than_days: 0, said: HashMap::new() }
    }

    /// The same, where what was never recalled counts only once it is older than so many days.
    pub(super) fn older_than(self, days: u32) -> Self {
        Self { older_than_days: days, ..self }
    }

    /// Looks at all memories, and says how many they were. `progress` hears of how many more were looked at.
    pub(super) fn run(mut self, progress: &mut dyn FnMut(usize), hear: &mut Hear<'_>) -> Result<u64, Error> {
        let (parts, caller) = (self.parts, self.caller);
        let filter = Filter { space: Some(caller.space), states_at: Some(self.now), ..Filter::default() };
        let (mut looked_at, mut after) = (0, None);
        loop {
            let page = parts.store.list(&caller.viewer, &filter, Sort::Oldest, PAGE, after)?;
            let Some(last) = page.last() else { return Ok(looked_at) };
            after = Some((last.usage.created_at, last.id));
            looked_at += page.len() as u64;
            if self.look_at(&page, hear)?.is_break() {
                return Ok(looked_at);
            }
            progress(page.len());
        }
    }

    /// Whether findings of this kind are asked for.
    pub(super) fn wants(&self, kind: FindingKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether a memory is a record that recall may give.
    pub(super) fn is_alive(&self, memory: &Memory) -> bool {
        memory.provenance.mirror.is_none() && memory.state_at(self.now) != State::Archived
    }

    fn look_at(&mut self, page: &[Memory], hear: &mut Hear<'_>) -> Result<ControlFlow<()>, Error> {
        for memory in page {
            for found in look::at(self, memory)? {
                if hear(&found).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if self.repeats(memory, hear)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        links::look_at(self, page, hear)
    }

    /// Says where a memory says just what another has said before it.
    fn repeats(&mut self, memory: &Memory, hear: &mut Hear<'_>) -> Result<ControlFlow<()>, Error> {
        if !self.wants(FindingKind::NearDuplicate) || !self.is_comparable(memory) {
            return Ok(ControlFlow::Continue(()));
        }
        let first = *self.said.entry(digest(memory)).or_insert(memory.id);
        if first == memory.id {
            return Ok(ControlFlow::Continue(()));
        }
        let found = self.parts.store.memories(&self.caller.viewer, &[first])?;
        let Some(first) = found.first() else { return Ok(ControlFlow::Continue(())) };
        let found = Found {
            kind: FindingKind::NearDuplicate,
            memories: vec![first, memory],
            why: "they say the same but for case, marks and white space".to_owned(),
            advice: None,
            deeds: Vec::new(),
        };
        Ok(hear(&match needless(first, memory) {
            Some(one) => {
                let deed = Deed::new(ProposedAct::Forget, &[one], "another memory says the same");
                Found { deeds: vec![deed], ..found }
            }
            None => Found {
                advice: Some(
                    "each is pinned or has a key or a file of its own; forget one by hand".to_owned(),
                ),
                ..found
            },
        }))
    }

    /// Whether a memory can be a duplicate of another. A line of a conversation has its place there, whatever it says.
    pub(super) fn is_comparable(&self, memory: &Memory) -> bool {
        self.is_alive(memory)
            && memory.superseded_by.is_none()
            && memory.place.position.is_none()
            && memory.standing.state != State::Processing
    }
}

/// What a memory says, of what type it is and for whom, as a digest.
fn digest(memory: &Memory) -> [u8; 16] {
    let edition = &memory.edition;
    let mut digest = Sha256::new();
    digest.update(edition.class.memory_type.as_str());
    digest.update(edition.boundary.as_str());
    if edition.boundary == Boundary::Private {
        digest.update(memory.owner.as_bytes());
    }
    let mut letters = twins::plain(&edition.text.content).peekable();
    if letters.peek().is_none() {
        // Marks alone are the same only where they are the same.
        digest.update(edition.text.content_hash.0);
    }
    letters.for_each(|letter| digest.update(letter.encode_utf8(&mut [0; 4])));
    digest.finalize()[..16].try_into().expect("a digest has 32 bytes")
}

/// The one of two that can go: the one that was used less, else the newer one.
fn needless<'a>(one: &'a Memory, other: &'a Memory) -> Option<&'a Memory> {
    let can_go = |memory: &&Memory| {
        let provenance = &memory.provenance;
        !memory.standing.pinned
            && memory.edition.key.is_none()
            && provenance.source_path.is_none()
            && provenance.attachment.is_none()
    };
    let order = |memory: &&Memory| (memory.usage.access_count, std::cmp::Reverse(memory.usage.created_at));
    [one, other].into_iter().filter(can_go).min_by_key(order)
}
