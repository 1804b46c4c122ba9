//! Reads the memories of a space page by page, and reports the problems of each memory and of linked memories.
//!
//! Only the contents of one page are in RAM at a time. For the other pages only digests are in RAM, to recognise
//! repeated contents.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sha2::{Digest, Sha256};

use super::competing::{self, MemoriesBySubject};
use super::{ProposedChange, ScanFinding, links, single};
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::request::{Caller, Filter, Sort};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, FindingKind, ProposedAct, State};
use crate::rank::duplicates;
use crate::verbs::access::Ports;

/// Number of memories read at a time.
const PAGE: usize = 32;

/// Receives each finding, and decides whether to go on.
pub(super) type FindingCallback<'a> = dyn FnMut(&ScanFinding<'_>) -> ControlFlow<()> + 'a;

/// A scan of a space.
pub(super) struct QualityScan<'a> {
    pub(super) ports: &'a Ports,
    pub(super) caller: &'a Caller,
    pub(super) now: Timestamp,
    /// The kinds of findings to look for.
    kinds: &'a [FindingKind],
    /// Minimum age of memories that were never recalled.
    pub(super) older_than_days: u32,
    /// The digests of the contents read so far, each with the first memory that has the content.
    said: HashMap<[u8; 16], MemoryId>,
    /// The subjects read so far, with their memories.
    subjects: MemoriesBySubject,
}

impl<'a> QualityScan<'a> {
    /// Creates a scan for findings of these kinds, in memories of any age.
    pub(super) fn new(ports: &'a Ports, caller: &'a Caller, kinds: &'a [FindingKind]) -> Self {
        let now = ports.clock.now();
        Self {
            ports,
            caller,
            now,
            kinds,
            older_than_days: 0,
            said: HashMap::new(),
            subjects: MemoriesBySubject::default(),
        }
    }

    /// Sets the age from which a memory that was never recalled is reported.
    pub(super) fn older_than(self, days: u32) -> Self {
        Self { older_than_days: days, ..self }
    }

    /// Scans all memories, and returns their number. `progress` receives the number of memories checked since the last
    /// call.
    pub(super) fn run(
        mut self,
        progress: &mut dyn FnMut(usize),
        hear: &mut FindingCallback<'_>,
    ) -> Result<u64, Error> {
        let (ports, caller) = (self.ports, self.caller);
        let filter = Filter { space: Some(caller.space), states_at: Some(self.now), ..Filter::default() };
        let (mut looked_at, mut after) = (0, None);
        loop {
            let page = ports.store.list(&caller.viewer, &filter, Sort::Oldest, PAGE, after)?;
            let Some(last) = page.last() else { return Ok(looked_at) };
            after = Some((last.usage.created_at, last.id));
            looked_at += page.len() as u64;
            if self.look_at(&page, hear)?.is_break() {
                return Ok(looked_at);
            }
            progress(page.len());
        }
    }

    /// Returns true if findings of this kind are wanted.
    pub(super) fn wants(&self, kind: FindingKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns true if a memory is a record that recall may return.
    pub(super) fn is_alive(&self, memory: &Memory) -> bool {
        memory.provenance.mirror.is_none() && memory.state_at(self.now) != State::Archived
    }

    fn look_at(&mut self, page: &[Memory], hear: &mut FindingCallback<'_>) -> Result<ControlFlow<()>, Error> {
        for memory in page {
            for found in single::at(self, memory)? {
                if hear(&found).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if self.repeats(memory, hear)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let mut subjects = std::mem::take(&mut self.subjects);
            let heard = competing::look_at(self, &mut subjects, memory, hear);
            self.subjects = subjects;
            if heard?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        links::look_at(self, page, hear)
    }

    /// Reports a memory with the same content as an earlier memory, except for case, marks and white space.
    fn repeats(&mut self, memory: &Memory, hear: &mut FindingCallback<'_>) -> Result<ControlFlow<()>, Error> {
        if !self.wants(FindingKind::NearDuplicate) || !self.is_comparable(memory) {
            return Ok(ControlFlow::Continue(()));
        }
        let first = *self.said.entry(digest(memory)).or_insert(memory.id);
        if first == memory.id {
            return Ok(ControlFlow::Continue(()));
        }
        let found = self.ports.store.memories(&self.caller.viewer, &[first])?;
        let Some(first) = found.first() else { return Ok(ControlFlow::Continue(())) };
        let found = ScanFinding {
            kind: FindingKind::NearDuplicate,
            memories: vec![first, memory],
            why: "they are equal except for case, punctuation and white space".to_owned(),
            advice: None,
            actions: Vec::new(),
        };
        Ok(hear(&match needless(first, memory) {
            Some(one) => {
                let action = ProposedChange::new(ProposedAct::Forget, &[one], "another memory says the same");
                ScanFinding { actions: vec![action], ..found }
            }
            None => ScanFinding {
                advice: Some(
                    "each is pinned or has a key or a file of its own; forget one by hand".to_owned(),
                ),
                ..found
            },
        }))
    }

    /// Returns true if a memory can be a duplicate of another memory. A memory with a position in a conversation is never
    /// a duplicate, whatever its content is.
    pub(super) fn is_comparable(&self, memory: &Memory) -> bool {
        self.is_alive(memory)
            && memory.superseded_by.is_none()
            && memory.place.position.is_none()
            && memory.status.state != State::Processing
    }
}

/// Returns a digest of a memory's content, type and audience.
fn digest(memory: &Memory) -> [u8; 16] {
    let fields = &memory.fields;
    let mut digest = Sha256::new();
    digest.update(fields.class.memory_type.as_str());
    digest.update(fields.boundary.as_str());
    if fields.boundary == Boundary::Private {
        digest.update(memory.owner.as_bytes());
    }
    let mut letters = duplicates::plain(&fields.text.content).peekable();
    if letters.peek().is_none() {
        // Contents that consist only of marks have no words, so only identical contents count as the same.
        digest.update(fields.text.content_hash.0);
    }
    letters.for_each(|letter| digest.update(letter.encode_utf8(&mut [0; 4])));
    digest.finalize()[..16].try_into().expect("a digest has 32 bytes")
}

/// Returns which of two memories can be forgotten: the memory used less or, if both are used equally, the newer memory.
fn needless<'a>(one: &'a Memory, other: &'a Memory) -> Option<&'a Memory> {
    let can_go = |memory: &&Memory| {
        let provenance = &memory.provenance;
        !memory.status.pinned
            && memory.fields.key.is_none()
            && provenance.source_path.is_none()
            && provenance.attachment.is_none()
    };
    let order = |memory: &&Memory| (memory.usage.access_count, std::cmp::Reverse(memory.usage.created_at));
    [one, other].into_iter().filter(can_go).min_by_key(order)
}
