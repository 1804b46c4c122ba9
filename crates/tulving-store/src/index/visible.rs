//! Determines the docs of a part that are within a scope, before any doc is scored.
//!
//! Almost every filter treats all docs of a class (space, owner, facets, speaker) alike. So each class is checked once,
//! and the check of a doc only reads the result for its class. Each doc is checked separately only if the filter has a
//! time or a list of memories.

use std::ops::Range;

use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::request::Filter;
use tulving_core::model::search::SearchScope;
use tulving_core::model::vocabulary::State;

use super::dead::DeadDocs;
use super::errors::DamagedIndexFile;
use super::segment::{DocCounts, DocDetailFields as _, Postings, SegmentView};

/// Maximum number of listed memories for which only their own docs are read. With more memories, reading all docs is as
/// fast.
const FEW: usize = 2_048;

/// A part, and its docs within the scope.
pub(super) struct VisibleDocs<'a> {
    pub(super) view: SegmentView<'a>,
    dead: &'a DeadDocs,
    /// Ascending ranges that do not touch. Docs outside these ranges are not visible.
    pub(super) ranges: Vec<Range<u32>>,
    /// For each class, true if its docs can be visible. Other rules may still hide a doc.
    classes: Vec<bool>,
    judged: DocVisibility,
    /// True if all living docs of the part are visible.
    whole: bool,
    /// The counts of the visible docs and memories.
    pub(super) counts: DocCounts,
}

enum DocVisibility {
    /// All docs in the ranges are visible.
    All,
    /// A doc is visible if its class is visible and the doc is not dead.
    Classes,
    /// A doc is visible if its bit is set.
    Docs(Vec<u64>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassVisibility {
    No,
    Yes,
    /// The result depends on the doc.
    Maybe,
}

impl<'a> VisibleDocs<'a> {
    pub(super) fn of(
        view: SegmentView<'a>,
        dead: &'a DeadDocs,
        scope: &SearchScope,
    ) -> Result<Self, DamagedIndexFile> {
        let mut verdicts = vec![ClassVisibility::No; view.class_count()];
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let mut counts = DocCounts::default();
        let mut refused = false;
        for space in view.spaces() {
            let id = SpaceId::from_bytes(space.id);
            if !scope.visibility.spaces.contains_key(&id) || scope.filter.space.is_some_and(|only| only != id)
            {
                continue;
            }
            for class in space.classes {
                let verdict = judge(&view, class, id, scope);
                verdicts[class as usize] = verdict;
                match verdict {
                    ClassVisibility::Yes => counts.add(view.counts(class).less(dead.counts(class))),
                    ClassVisibility::No => refused = true,
                    ClassVisibility::Maybe => {}
                }
            }
            match ranges.last_mut() {
                Some(last) if last.end == space.docs.start => last.end = space.docs.end,
                _ => ranges.push(space.docs),
            }
        }
        let classes = verdicts.iter().map(|verdict| *verdict == ClassVisibility::Yes).collect();
        let judged = if refused || !dead.is_empty() { DocVisibility::Classes } else { DocVisibility::All };
        let all = 0..view.segment.docs();
        let whole = !refused && matches!(&ranges[..], [only] if *only == all);
        let mut made = Self { view, dead, ranges, classes, judged, whole, counts };
        if scope.among.is_some() || verdicts.contains(&ClassVisibility::Maybe) {
            made.judge_docs(&verdicts, scope)?;
        }
        Ok(made)
    }

    fn judge_docs(
        &mut self,
        verdicts: &[ClassVisibility],
        scope: &SearchScope,
    ) -> Result<(), DamagedIndexFile> {
        let mut bits = vec![0_u64; self.view.ids.len().div_ceil(64)];
        (self.counts, self.whole) = (DocCounts::default(), false);
        let created = self.view.created()?;
        let runs = match &scope.among {
            Some(among) => self.named(among)?,
            None => self.ranges.clone(),
        };
        for run in &runs {
            let mut first = run.start;
            while first < run.end {
                let end = self.view.memory_end(first).min(run.end);
                let class = self.view.classes[first as usize];
                let seen = !self.dead.has(first)
                    && match verdicts[class as usize] {
                        ClassVisibility::No => false,
                        ClassVisibility::Yes => true,
                        ClassVisibility::Maybe => self.in_time(first, created[first as usize], &scope.filter),
                    };
                if seen {
                    (first..end).for_each(|doc| bits[doc as usize / 64] |= 1 << (doc % 64));
                    self.counts.add(self.view.memory_counts(&(first..end)));
                }
                first = end;
            }
        }
        if scope.among.as_ref().is_some_and(|among| among.len() <= FEW) {
            self.ranges = runs;
        }
        self.judged = DocVisibility::Docs(bits);
        Ok(())
    }

    /// The docs of these memories, in ascending order.
    fn named(&self, ids: &[MemoryId]) -> Result<Vec<Range<u32>>, DamagedIndexFile> {
        let found = ids.iter().map(|id| self.view.docs_of(id.as_bytes()));
        let mut found = found.collect::<Result<Vec<_>, _>>()?;
        found.retain(|docs| !docs.is_empty());
        found.sort_unstable_by_key(|docs| docs.start);
        found.dedup();
        Ok(found)
    }

    /// Returns true if a doc matches the times of the filter.
    fn in_time(&self, doc: u32, created: i64, filter: &Filter) -> bool {
        let times = self.view.times(doc);
        let fits = |asked: Option<tulving_core::model::time::Timestamp>, holds: &dyn Fn(i64) -> bool| {
            asked.is_none_or(|time| holds(time.as_micros()))
        };
        fits(filter.since, &|since| created >= since)
            && fits(filter.until, &|until| created < until)
            && fits(filter.states_at, &|at| {
                let set = self.view.facets(self.view.classes[doc as usize]).state();
                among(&filter.states, if times.expires <= at { State::Archived } else { set })
            })
            && fits(filter.valid_at, &|then| times.held(then, self.view.details[doc as usize].at()))
    }

    /// Returns true if a doc within the ranges is visible.
    pub(super) fn sees(&self, doc: u32) -> bool {
        match &self.judged {
            DocVisibility::All => true,
            DocVisibility::Classes => {
                self.classes[self.view.classes[doc as usize] as usize] && !self.dead.has(doc)
            }
            DocVisibility::Docs(bits) => bits[doc as usize / 64] >> (doc % 64) & 1 == 1,
        }
    }

    /// Number of visible docs that contain a term.
    pub(super) fn count(&self, postings: Postings<'_>) -> usize {
        if self.whole {
            return self.dead.living(postings);
        }
        let docs = self.ranges.iter().map(|range| postings.docs_within(range));
        match self.judged {
            DocVisibility::All => docs.map(<[u32]>::len).sum(),
            DocVisibility::Classes | DocVisibility::Docs(_) => {
                docs.map(|docs| docs.iter().filter(|doc| self.sees(**doc)).count()).sum()
            }
        }
    }

    /// Returns true if a visible doc contains a term.
    pub(super) fn has_any(&self, postings: Postings<'_>) -> bool {
        self.ranges.iter().any(|range| postings.docs_within(range).iter().any(|doc| self.sees(*doc)))
    }

    /// A word of bits, set for the visible docs among the 64 docs from `first` on. `first` is a multiple of 64. Bits of
    /// docs outside the ranges have no meaning.
    pub(super) fn word(&self, first: u32) -> u64 {
        match &self.judged {
            DocVisibility::All => u64::MAX,
            DocVisibility::Docs(bits) => bits[first as usize / 64],
            DocVisibility::Classes => {
                let docs = &self.view.classes[first as usize..];
                let bits = docs.iter().take(64).enumerate();
                let bits =
                    bits.fold(0, |bits, (n, &class)| bits | u64::from(self.classes[class as usize]) << n);
                bits & !self.dead.word(first as usize / 64)
            }
        }
    }

    /// The classes of the visible docs. A class may occur more than once.
    pub(super) fn classes(&self) -> Vec<u32> {
        match &self.judged {
            DocVisibility::Docs(_) => {
                let docs = self.ranges.iter().cloned().flatten().filter(|&doc| self.sees(doc));
                let mut classes: Vec<u32> = docs.map(|doc| self.view.classes[doc as usize]).collect();
                classes.dedup();
                classes
            }
            DocVisibility::All | DocVisibility::Classes => {
                let lives = |class: u32| self.view.counts(class).items > self.dead.counts(class).items;
                let classes = (0_u32..).zip(&self.classes).filter(|(class, seen)| **seen && lives(*class));
                classes.map(|(class, _)| class).collect()
            }
        }
    }
}

fn judge(view: &SegmentView<'_>, class: u32, space: SpaceId, scope: &SearchScope) -> ClassVisibility {
    let (facets, filter) = (view.facets(class), &scope.filter);
    let owner = PrincipalId::from_bytes(view.class_owner(class));
    // Expired docs of the class count as archived, so the state depends on the doc.
    let expires = facets.timed() && filter.states_at.is_some() && !filter.states.is_empty();
    let wanted = scope.visibility.sees(space, owner, facets.boundary())
        && (filter.types.is_empty() || facets.memory_type().is_some_and(|word| filter.types.contains(&word)))
        && among(&filter.kinds, facets.kind())
        && among(&filter.stabilities, facets.stability())
        && (among(&filter.states, facets.state()) || (expires && filter.states.contains(&State::Archived)))
        && among(&filter.content_types, facets.content_type())
        && filter.author.is_none_or(|author| author == facets.author())
        && filter.pinned.is_none_or(|pinned| pinned == facets.pinned())
        && filter.done.is_none_or(|done| if done { facets.done() } else { facets.open() })
        && !(filter.records_only && facets.mirror());
    let dated = filter.since.is_some() || filter.until.is_some() || filter.valid_at.is_some();
    match wanted {
        false => ClassVisibility::No,
        true if dated || expires => ClassVisibility::Maybe,
        true => ClassVisibility::Yes,
    }
}

fn among<T: PartialEq + Copy>(wanted: &[T], word: T) -> bool {
    wanted.is_empty() || wanted.contains(&word)
}
