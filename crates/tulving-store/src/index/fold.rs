//! Folding: the tail becomes a segment of the base, segments of a size become one, what is dead goes.
//!
//! Whoever takes the lock does it, for all. Nothing that readers use is touched: new files get names of their own, one
//! new manifest makes them count, and a crash before that leaves the old base with a longer tail.

use std::thread;
use std::time::Duration;

use tulving_core::id::Seq;

use super::folder::{Folder, Lock};
use super::follow::{Basis, SOON};
use super::manifest::Manifest;
use super::segment::Merged;
use super::snapshot::{Part, Snapshot, views};
use super::trouble::Trouble;
use super::{SearchIndex, State};

/// A tail of so many changes is worth folding: a process that starts reads it within some 20 ms.
pub(super) const LONG_TAIL: usize = 500;
/// So is one of so many items, however few the memories that they are sections of.
pub(super) const MANY_ITEMS: usize = 2_000;
/// So many segments of a size become one.
const TIER: usize = 4;
/// A merged segment has at the most so many docs, so that merging never takes long.
const LARGEST: usize = 256 * 1024;
/// A segment is written anew where more than one of so many docs is dead.
const DEAD_SHARE: usize = 4;
/// So many of the newest entries of the change log stay although the base has them, for whoever else follows it. More than
/// a search reads where there is no base.
const KEPT: u64 = 10_000;
/// So many entries go with one fold, at the most: writers wait for some ten milliseconds.
const TRIMMED: usize = 5_000;

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// What keeps searches quick.
    Usual,
    /// The same, however short the tail is.
    Now,
    /// What was erased leaves every file.
    Thorough,
}

/// What there is to do for who tends the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Nothing, or another process is doing it.
    None,
    /// A fraction of a second.
    Short,
    /// Some ten seconds for 100,000 memories.
    Long,
}

/// What became of an attempt to fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Folded {
    /// There was no need.
    NoNeed,
    /// Another process folds.
    Busy,
    /// It was done.
    Done {
        /// How many segments the base has now.
        segments: usize,
        /// How many files that no longer count are still read by somebody, and go with the next fold.
        left: usize,
    },
    /// The folder cannot be written, and why. The tail stays in memory.
    Unwritable(String),
}

/// Segments that become one, or one that stays as it is.
struct Unit {
    parts: Vec<Part>,
    stays: bool,
}

impl Unit {
    fn living(&self) -> usize {
        self.parts.iter().map(Part::living).sum()
    }

    /// Sizes within a factor of four are of one tier.
    fn tier(&self) -> u32 {
        (self.living() / LONG_TAIL).max(1).ilog2() / 2
    }
}

/// What the base shall be made of.
fn plan(snapshot: &Snapshot, care: Care) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for part in snapshot.base.iter().filter(|part| part.living() > 0) {
        let rotten = part.dead.docs().len() * DEAD_SHARE > part.segment.docs() as usize;
        let goes = care == Care::Thorough && part.erased;
        let stays = !rotten && !goes;
        units.push(Unit { parts: vec![part.clone()], stays });
    }
    if snapshot.tail_items() > 0 {
        let parts = snapshot.tail.iter().filter(|part| part.living() > 0).cloned().collect();
        units.push(Unit { parts, stays: false });
    }
    while let Some(tier) = crowded(&units) {
        let (alike, others): (Vec<Unit>, Vec<Unit>) = units.into_iter().partition(|unit| unit.tier() == tier);
        units = others;
        units.push(Unit { parts: alike.into_iter().flat_map(|unit| unit.parts).collect(), stays: false });
    }
    units
}

/// Removes what no longer counts, and says how much is still read by somebody.
fn cleared(folder: &Folder, lock: &Lock, care: Care) -> usize {
    // A search that is under way lets go of its files within milliseconds.
    let rounds = if care == Care::Thorough { 50 } else { 1 };
    let mut left = folder.sweep(lock);
    for _ in 1..rounds {
        if left == 0 {
            break;
        }
        thread::sleep(Duration::from_millis(20));
        left = folder.sweep(lock);
    }
    left
}

/// A tier with too many segments, which together are not too large.
fn crowded(units: &[Unit]) -> Option<u32> {
    let of = |tier: u32| units.iter().filter(move |unit| unit.tier() == tier);
    let mut tiers = units.iter().map(Unit::tier);
    tiers.find(|&tier| of(tier).count() >= TIER && of(tier).map(Unit::living).sum::<usize>() <= LARGEST)
}

impl SearchIndex {
    /// Whether folding is worth it.
    pub(super) fn wants(&self, state: &State, care: Care) -> bool {
        let Some(basis) = &state.basis else {
            return false;
        };
        let worth_it = match care {
            Care::Usual => {
                basis.pending >= LONG_TAIL
                    || basis.behind() >= LONG_TAIL as u64
                    || state.snapshot.tail_items() >= MANY_ITEMS
            }
            Care::Now => basis.pending > 0,
            Care::Thorough => state.snapshot.base.iter().any(|part| part.erased),
        };
        (worth_it && self.folder.is_some()) || basis.is_outdated() || state.damaged || state.snapshot.partial
    }

    /// What there is to do, also where nobody in this process has searched yet.
    pub(super) fn chore_now(&self) -> Result<Chore, Trouble> {
        let Some(folder) = &self.folder else {
            return Ok(Chore::None);
        };
        let state = self.state();
        let (wanted, long) = match &state.basis {
            Some(basis) => {
                let anew = basis.is_outdated() || state.damaged || state.snapshot.partial;
                (self.wants(&state, Care::Usual), anew && self.source.size()? > SOON)
            }
            None => {
                let fitting = self.fitting(folder)?;
                let outdated = fitting.as_ref().is_some_and(|(_, outdated)| *outdated);
                let watermark = fitting.map_or(0, |(manifest, _)| manifest.watermark);
                let behind = self.source.head()?.0.saturating_sub(watermark);
                (outdated || behind >= LONG_TAIL as u64, outdated || behind > SOON)
            }
        };
        drop(state);
        Ok(match (wanted, long) {
            (false, _) => Chore::None,
            (true, false) => Chore::Short,
            // Nobody need begin what another process is about.
            (true, true) if self.unless_unwritable(folder.lock())?.flatten().is_none() => Chore::None,
            (true, true) => Chore::Long,
        })
    }

    /// The manifest of a base that fits the store, and whether its vectors are of another model. One that cannot be read
    /// is no help.
    fn fitting(&self, folder: &Folder) -> Result<Option<(Manifest, bool)>, Trouble> {
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        let manifest = folder.manifest().ok().flatten().filter(|manifest| manifest.fits(&epoch));
        Ok(manifest.map(|manifest| {
            let outdated = manifest.model != model;
            (manifest, outdated)
        }))
    }

    /// Folds, where it is worth it and nobody else does.
    pub(super) fn fold(&self, care: Care) -> Result<Folded, Trouble> {
        let _tending = self.tending();
        if care == Care::Usual && self.has_nothing()? {
            // Whoever begins with everything does not begin with a part.
            if self.chore_now()? == Chore::None {
                return Ok(Folded::NoNeed);
            }
        } else {
            self.update(&mut self.state())?;
            if !self.wants(&self.state(), care) {
                return Ok(Folded::NoNeed);
            }
        }
        let Some(folder) = &self.folder else {
            // Without a folder only the model can be outdated.
            let built = self.built(None)?;
            return self.adopt(built).map(|segments| Folded::Done { segments, left: 0 });
        };
        let lock = match folder.lock() {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(Folded::Busy),
            Err(error) => return self.unwritable(error),
        };
        match self.fold_locked(folder, &lock, care) {
            Ok(Some(segments)) => {
                let left = cleared(folder, &lock, care);
                // Where the store is busy, the next fold does it.
                let _ = self.trim_log();
                Ok(Folded::Done { segments, left })
            }
            Ok(None) => Ok(Folded::NoNeed),
            Err(error) => self.unwritable(error),
        }
    }

    /// Whether nobody in this process has searched yet and there is no base that could be opened.
    fn has_nothing(&self) -> Result<bool, Trouble> {
        let fresh = self.state().basis.is_none();
        Ok(match &self.folder {
            Some(folder) if fresh => self.fitting(folder)?.is_none(),
            _ => false,
        })
    }

    /// Folds and says how many segments there are; `None` where another process had just done so.
    fn fold_locked(&self, folder: &Folder, lock: &Lock, care: Care) -> Result<Option<usize>, Trouble> {
        let completed = self.completed(lock)?;
        // With the lock in hand, what others did meanwhile comes first.
        let (snapshot, basis, anew) = {
            let mut state = self.state();
            match self.follow(&mut state, Some(lock)) {
                Err(Trouble::Damaged(damaged)) => self.notice(&mut state, &damaged),
                followed => followed?,
            }
            if !self.wants(&state, care) {
                return Ok(completed.then_some(state.snapshot.base.len()));
            }
            let Some(basis) = state.basis.clone() else {
                return Ok(None);
            };
            let anew = state.damaged || basis.is_outdated() || state.snapshot.partial;
            (state.snapshot.clone(), basis, anew)
        };
        // The others of this process go on searching meanwhile, and following.
        if anew {
            let built = self.built(Some(lock))?;
            return self.adopt(built).map(Some);
        }
        if let Err(trouble) = self.write(folder, lock, &snapshot, &basis, care) {
            let Trouble::Damaged(damaged) = trouble else {
                return Err(trouble);
            };
            self.notice(&mut self.state(), &damaged);
            return self.adopt(self.built(Some(lock))?).map(Some);
        }
        drop(snapshot);
        let mut state = self.state();
        self.update_anew(&mut state)?;
        Ok(Some(state.snapshot.base.len()))
    }

    /// Reads what searches did not wait for. That is done aside, and they go on meanwhile. Says whether there was any.
    fn completed(&self, lock: &Lock) -> Result<bool, Trouble> {
        {
            let state = self.state();
            let whole = state.basis.is_some() && !state.snapshot.partial;
            // What is damaged is made anew anyway.
            if whole || state.damaged {
                return Ok(false);
            }
        }
        let mut whole = State::default();
        match self.follow(&mut whole, Some(lock)) {
            Ok(()) => self.adopt(whole).map(|_| true),
            Err(Trouble::Damaged(damaged)) => {
                self.notice(&mut self.state(), &damaged);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the new segments and the manifest that names them.
    fn write(
        &self,
        folder: &Folder,
        lock: &Lock,
        snapshot: &Snapshot,
        basis: &Basis,
        care: Care,
    ) -> Result<(), Trouble> {
        let mut base = Vec::new();
        for unit in plan(snapshot, care) {
            if unit.stays {
                base.extend(unit.parts);
                continue;
            }
            let merged = Merged::of(&views(&unit.parts)?, basis.model.as_deref())?;
            base.push(folder.write_segment(lock, &merged)?);
        }
        let dead = folder.write_dead(lock, &base)?;
        folder.write_manifest(lock, &self.manifest(basis, &base, dead))
    }

    /// Folds a tail that has become too large for memory, where nobody else does.
    pub(super) fn spill(&self, state: &mut State, lock: Option<&Lock>) -> Result<(), Trouble> {
        let (Some(folder), Some(basis)) = (&self.folder, state.basis.clone()) else {
            return Ok(());
        };
        // A part is no base.
        if state.snapshot.partial {
            return Ok(());
        }
        let taken;
        let lock = match lock {
            Some(lock) => lock,
            None => match self.unless_unwritable(folder.lock())?.flatten() {
                Some(lock) => {
                    taken = lock;
                    &taken
                }
                None => return Ok(()),
            },
        };
        // Where another process has folded, its base is opened next time; ours must not come back.
        if folder.stamp() != basis.stamp {
            return Ok(());
        }
        let written = self.write(folder, lock, &state.snapshot, &basis, Care::Usual);
        if self.unless_unwritable(written)?.is_some() && self.load(state, basis.epoch)? {
            if let Some(opened) = &mut state.basis {
                opened.model = basis.model;
            }
            folder.sweep(lock);
        }
        Ok(())
    }

    /// Takes over a state that was made aside.
    fn adopt(&self, built: State) -> Result<usize, Trouble> {
        let mut state = self.state();
        *state = built;
        self.update_anew(&mut state)?;
        Ok(state.snapshot.base.len())
    }

    /// Lets entries of the log go that the base has and that are old. Whoever still follows from before them finds a newer
    /// base.
    fn trim_log(&self) -> Result<(), Trouble> {
        let Some(Seq(watermark)) = self.state().basis.as_ref().map(|basis| basis.watermark) else {
            return Ok(());
        };
        let up_to = watermark.min(self.source.head()?.0.saturating_sub(KEPT));
        if up_to > 0 {
            self.source.trim(Seq(up_to), TRIMMED)?;
        }
        Ok(())
    }

    fn unwritable(&self, error: Trouble) -> Result<Folded, Trouble> {
        match error {
            Trouble::Disk(path, error) => {
                self.excuse(&path, &error);
                Ok(Folded::Unwritable(format!("{}: {error}", path.display())))
            }
            error => Err(error),
        }
    }
}
