//! What of a part is within a scope. Settled before anything is scored.
//!
//! Docs of one class (space, owner, facets, speaker) are alike to almost every filter, so each class is judged once and
//! a doc costs one look at its class. Only where a time or a list of memories is asked for is each doc judged by
//! itself.

use std::ops::Range;

use tulving_core::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::request::Filter;
use tulving_core::search::Scope;
use tulving_core::vocabulary::State;

use super::dead::Dead;
use super::segment::{Details as _, Postings, Tally, View};
use super::trouble::Damaged;

/// Up to so many memories asked for by name, only their docs are walked; with more, walking all is as good.
const FEW: usize = 2_048;

/// A part, and what of it is within the scope.
pub(super) struct Visible<'a> {
    pub(super) view: View<'a>,
    dead: &'a Dead,
    /// Ascending and apart from each other. What is outside is not visible.
    pub(super) ranges: Vec<Range<u32>>,
    /// Whether docs of a class are visible, as far as that decides it.
    classes: Vec<bool>,
    judged: Judged,
    /// Whether all that lives in the part is visible.
    whole: bool,
    /// How much is visible.
    pub(super) tally: Tally,
}

enum Judged {
    /// All in the ranges.
    All,
    /// By class, without the dead.
    Classes,
    /// A bit for each doc.
    Docs(Vec<u64>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    No,
    Yes,
    /// It depends on the doc.
    Maybe,
}

impl<'a> Visible<'a> {
    pub(super) fn of(view: View<'a>, dead: &'a Dead, scope: &Scope) -> Result<Self, Damaged> {
        let mut verdicts = vec![Verdict::No; view.class_count()];
        let mut ranges: Vec<Range<u32>> = Vec::new();
        let mut tally = Tally::default();
        let mut refused = false;
        for space in view.spaces() {
            let id = SpaceId::from_bytes(space.id);
            if !scope.sight.spaces.contains_key(&id) || scope.filter.space.is_some_and(|only| only != id) {
                continue;
            }
            for class in space.classes {
                let verdict = judge(&view, class, id, scope);
                verdicts[class as usize] = verdict;
                match verdict {
                    Verdict::Yes => tally.add(view.tally(class).less(dead.tally(class))),
                    Verdict::No => refused = true,
                    Verdict::Maybe => {}
                }
            }
            match ranges.last_mut() {
                Some(last) if last.end == space.docs.start => last.end = space.docs.end,
                _ => ranges.push(space.docs),
            }
        }
        let classes = verdicts.iter().map(|verdict| *verdict == Verdict::Yes).collect();
        let judged = if refused || !dead.is_empty() { Judged::Classes } else { Judged::All };
        let all = 0..view.segment.docs();
        let whole = !refused && matches!(&ranges[..], [only] if *only == all);
        let mut made = Self { view, dead, ranges, classes, judged, whole, tally };
        if scope.among.is_some() || verdicts.contains(&Verdict::Maybe) {
            made.judge_docs(&verdicts, scope)?;
        }
        Ok(made)
    }

    fn judge_docs(&mut self, verdicts: &[Verdict], scope: &Scope) -> Result<(), Damaged> {
        let mut bits = vec![0_u64; self.view.ids.len().div_ceil(64)];
        (self.tally, self.whole) = (Tally::default(), false);
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
                        Verdict::No => false,
                        Verdict::Yes => true,
                        Verdict::Maybe => self.in_time(first, created[first as usize], &scope.filter),
                    };
                if seen {
                    (first..end).for_each(|doc| bits[doc as usize / 64] |= 1 << (doc % 64));
                    self.tally.add(self.view.memory_tally(&(first..end)));
                }
                first = end;
            }
        }
        if scope.among.as_ref().is_some_and(|among| among.len() <= FEW) {
            self.ranges = runs;
        }
        self.judged = Judged::Docs(bits);
        Ok(())
    }

    /// The docs of these memories, ascending.
    fn named(&self, ids: &[MemoryId]) -> Result<Vec<Range<u32>>, Damaged> {
        let found = ids.iter().map(|id| self.view.docs_of(id.as_bytes()));
        let mut found = found.collect::<Result<Vec<_>, _>>()?;
        found.retain(|docs| !docs.is_empty());
        found.sort_unstable_by_key(|docs| docs.start);
        found.dedup();
        Ok(found)
    }

    /// Whether a doc fits the times that are asked for.
    fn in_time(&self, doc: u32, created: i64, filter: &Filter) -> bool {
        let times = self.view.times(doc);
        let fits = |asked: Option<tulving_core::time::Timestamp>, holds: &dyn Fn(i64) -> bool| {
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

    /// Whether a doc within the ranges is visible.
    pub(super) fn sees(&self, doc: u32) -> bool {
        match &self.judged {
            Judged::All => true,
            Judged::Classes => self.classes[self.view.classes[doc as usize] as usize] && !self.dead.has(doc),
            Judged::Docs(bits) => bits[doc as usize / 64] >> (doc % 64) & 1 == 1,
        }
    }

    /// How many visible docs have a term.
    pub(super) fn count(&self, postings: Postings<'_>) -> usize {
        if self.whole {
            return self.dead.living(postings);
        }
        let docs = self.ranges.iter().map(|range| postings.docs_within(range));
        match self.judged {
            Judged::All => docs.map(<[u32]>::len).sum(),
            Judged::Classes | Judged::Docs(_) => {
                docs.map(|docs| docs.iter().filter(|doc| self.sees(**doc)).count()).sum()
            }
        }
    }

    /// Whether a visible doc has a term.
    pub(super) fn has_any(&self, postings: Postings<'_>) -> bool {
        self.ranges.iter().any(|range| postings.docs_within(range).iter().any(|doc| self.sees(*doc)))
    }

    /// Which of the up to 64 docs from `first`, a multiple of 64, on are visible. Says nothing about docs outside of
    /// the ranges.
    pub(super) fn word(&self, first: u32) -> u64 {
        match &self.judged {
            Judged::All => u64::MAX,
            Judged::Docs(bits) => bits[first as usize / 64],
            Judged::Classes => {
                let docs = &self.view.classes[first as usize..];
                let bits = docs.iter().take(64).enumerate();
                let bits =
                    bits.fold(0, |bits, (n, &class)| bits | u64::from(self.classes[class as usize]) << n);
                bits & !self.dead.word(first as usize / 64)
            }
        }
    }

    /// Each class that a visible doc is of, at least once.
    pub(super) fn classes(&self) -> Vec<u32> {
        match &self.judged {
            Judged::Docs(_) => {
                let docs = self.ranges.iter().cloned().flatten().filter(|&doc| self.sees(doc));
                let mut classes: Vec<u32> = docs.map(|doc| self.view.classes[doc as usize]).collect();
                classes.dedup();
                classes
            }
            Judged::All | Judged::Classes => {
                let lives = |class: u32| self.view.tally(class).items > self.dead.tally(class).items;
                let classes = (0_u32..).zip(&self.classes).filter(|(class, seen)| **seen && lives(*class));
                classes.map(|(class, _)| class).collect()
            }
        }
    }
}

fn judge(view: &View<'_>, class: u32, space: SpaceId, scope: &Scope) -> Verdict {
    let (facets, filter) = (view.facets(class), &scope.filter);
    let owner = PrincipalId::from_bytes(view.class_owner(class));
    // Those of the class that have expired count as archived.
    let expires = facets.timed() && filter.states_at.is_some() && !filter.states.is_empty();
    let wanted = scope.sight.sees(space, owner, facets.boundary())
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
        false => Verdict::No,
        true if dated || expires => Verdict::Maybe,
        true => Verdict::Yes,
    }
}

fn among<T: PartialEq + Copy>(wanted: &[T], word: T) -> bool {
    wanted.is_empty() || wanted.contains(&word)
}
