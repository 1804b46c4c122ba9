//! Keeps up with the store: opens the base, and takes in what the log says since.
//!
//! Who searches does not wait for a long work: where there is no base of a large store, or one that is far behind, only
//! what changed last is taken in, the answer says so, and the rest comes when the index is tended.

use std::collections::HashMap;

use tulving_core::change::Change;
use tulving_core::id::{MemoryId, Seq};
use tulving_core::vocabulary::ChangeKind;

use super::build::{ENTRIES, SPILL};
use super::folder::{Folder, Lock, Stamp};
use super::snapshot::Snapshot;
use super::trouble::Trouble;
use super::{SearchIndex, State};

/// How many entries of the log are read at once.
const CHANGES: usize = 4_096;
/// So many memories or changes are read before answering, which takes some half a second; more when the index is tended.
pub(super) const SOON: u64 = 5_000;

/// What a snapshot was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Basis {
    pub(super) epoch: [u8; 16],
    /// The model whose vectors the base has.
    pub(super) base_model: Option<String>,
    /// The model whose vectors the store answers with.
    pub(super) model: Option<String>,
    /// The manifest's number; 0 where there is none.
    pub(super) generation: u64,
    /// The manifest that was looked at last.
    pub(super) stamp: Option<Stamp>,
    /// How far the log was followed.
    pub(super) seq: Seq,
    /// How far the base has followed it.
    pub(super) watermark: Seq,
    /// How many changes the tail has taken in.
    pub(super) pending: usize,
}

impl Basis {
    /// A basis without a manifest, from which the log is followed after this entry, with vectors of this model.
    pub(super) fn at(epoch: [u8; 16], model: Option<String>, stamp: Option<Stamp>, seq: Seq) -> Self {
        Self {
            epoch,
            base_model: model.clone(),
            model,
            generation: 0,
            stamp,
            seq,
            watermark: seq,
            pending: 0,
        }
    }

    /// How many entries of the log were followed that the base does not have.
    pub(super) fn behind(&self) -> u64 {
        self.seq.0.saturating_sub(self.watermark.0)
    }

    /// Whether the base has vectors of another model than the store answers with.
    pub(super) fn is_outdated(&self) -> bool {
        self.base_model != self.model
    }
}

impl SearchIndex {
    /// Makes the snapshot that of the store as it is now.
    /// Who holds the lock already gives it along.
    pub(super) fn follow(&self, state: &mut State, lock: Option<&Lock>) -> Result<(), Trouble> {
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        let stamp = self.folder.as_ref().and_then(Folder::stamp);
        let known = state.basis.as_ref().is_some_and(|basis| basis.epoch == epoch && basis.stamp == stamp);
        if !known && !self.opened(state, epoch)? {
            self.renew(state, lock)?;
        }
        if let Some(basis) = &mut state.basis {
            basis.model = model;
            if basis.is_outdated() && !state.snapshot.partial && state.snapshot.items() <= SOON {
                self.build(state, lock)?;
            }
        }
        if !self.catch_up(state, lock)? {
            self.renew(state, lock)?;
            self.catch_up(state, lock)?;
        }
        Ok(())
    }

    /// Makes the index anew; of a large store, who only searches begins with what changed last.
    pub(super) fn renew(&self, state: &mut State, lock: Option<&Lock>) -> Result<(), Trouble> {
        // Each memory has an entry of the log, so a short one need not be counted.
        let large = self.source.head()?.0 > SOON && self.source.size()? > SOON;
        if !large || !self.is_hurried(lock)? {
            return self.build(state, lock);
        }
        if state.damaged {
            self.void_base()?;
        }
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        let stamp = self.folder.as_ref().and_then(Folder::stamp);
        let Seq(head) = self.source.head()?;
        let first = self.source.changes(Seq(head.saturating_sub(SOON)), 1)?;
        let seq = Seq(first.first().map_or(head, |change| change.seq.0 - 1));
        state.snapshot = Snapshot { partial: true, ..Snapshot::default() };
        state.basis = Some(Basis::at(epoch, model, stamp, seq));
        Ok(())
    }

    /// Lets nobody open a base again that was found to be damaged: who tends next may not come across the place.
    fn void_base(&self) -> Result<(), Trouble> {
        if let Some(folder) = &self.folder
            && let Some(lock) = self.unless_unwritable(folder.lock())?.flatten()
        {
            self.unless_unwritable(folder.forget_manifest(&lock))?;
        }
        Ok(())
    }

    /// Whether a long work is better left to who tends. Where nobody could write what comes of it, it has to be done
    /// here and now.
    fn is_hurried(&self, lock: Option<&Lock>) -> Result<bool, Trouble> {
        match &self.folder {
            Some(folder) if lock.is_none() => Ok(self.unless_unwritable(folder.lock())?.is_some()),
            _ => Ok(false),
        }
    }

    /// Opens the base. Says whether there is one that fits the store and is whole.
    fn opened(&self, state: &mut State, epoch: [u8; 16]) -> Result<bool, Trouble> {
        match self.load(state, epoch) {
            Err(Trouble::Damaged(damaged)) => {
                self.notice(state, &damaged);
                Ok(false)
            }
            done => Ok(self.unless_unwritable(done)?.unwrap_or(false)),
        }
    }

    /// Opens the base that the manifest names. Says whether there is one that fits the store.
    pub(super) fn load(&self, state: &mut State, epoch: [u8; 16]) -> Result<bool, Trouble> {
        let Some(folder) = &self.folder else {
            return Ok(false);
        };
        loop {
            let stamp = folder.stamp();
            let Some(manifest) = folder.manifest()? else {
                return Ok(false);
            };
            if !manifest.fits(&epoch) {
                return Ok(false);
            }
            match folder.parts(&manifest) {
                Ok(base) => {
                    state.damaged = false;
                    state.snapshot = Snapshot { base, ..Snapshot::default() };
                    state.basis = Some(Basis {
                        generation: manifest.generation,
                        ..Basis::at(epoch, manifest.model, stamp, Seq(manifest.watermark))
                    });
                    return Ok(true);
                }
                // Another process may have folded in between; then there is a newer manifest to open.
                Err(_) if folder.stamp() != stamp => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes in what the log says since. Says whether it could: a log that was cut off before is of no help.
    fn catch_up(&self, state: &mut State, lock: Option<&Lock>) -> Result<bool, Trouble> {
        loop {
            let Some(Basis { seq, model, .. }) = state.basis.clone() else {
                return Ok(false);
            };
            let page = self.source.changes(seq, CHANGES)?;
            let Some(last) = page.last() else {
                // A log that ends before what was followed is another one. One that has gone on since the page was read is
                // not: that is for the next look, which the pulse asks for.
                return Ok(self.source.head()? >= seq);
            };
            if page[0].seq.0 != seq.0 + 1 {
                return Ok(false);
            }
            let mut changed: HashMap<MemoryId, bool> = HashMap::new();
            for (at, change) in page.iter().enumerate() {
                if !matches!(change.kind, ChangeKind::Linked | ChangeKind::Unlinked) {
                    *changed.entry(change.memory).or_default() |= is_erased(change, page.get(at + 1));
                }
            }
            if page.len() == CHANGES && last.seq.0 + SOON <= self.source.head()?.0 && self.is_hurried(lock)? {
                // What they say now is read later; what they said before must not be found.
                state.snapshot.partial = true;
                for (id, erased) in &changed {
                    state.snapshot.kill(id.as_bytes(), *erased)?;
                }
            } else {
                self.take_in(&mut state.snapshot, &changed, model.as_deref())?;
            }
            if let Some(basis) = &mut state.basis {
                basis.seq = last.seq;
                basis.pending += changed.len();
            }
            if state.snapshot.tail_items() >= SPILL {
                self.spill(state, lock)?;
            }
            if page.len() < CHANGES {
                return Ok(true);
            }
        }
    }

    /// Takes in memories that changed, each with whether it was erased.
    fn take_in(
        &self,
        snapshot: &mut Snapshot,
        changed: &HashMap<MemoryId, bool>,
        model: Option<&str>,
    ) -> Result<(), Trouble> {
        let mut ids: Vec<MemoryId> = changed.keys().copied().collect();
        ids.sort_unstable();
        for some in ids.chunks(ENTRIES) {
            let entries = self.source.entries(some, model)?;
            for id in some {
                snapshot.kill(id.as_bytes(), changed[id])?;
            }
            snapshot.absorb(&entries, model)?;
        }
        Ok(())
    }
}

/// Whether a memory is gone for good. One that some only see no more is told of by the next entry as it is now, and its words
/// need not leave the files.
fn is_erased(change: &Change, next: Option<&Change>) -> bool {
    let goes_on = next.is_some_and(|next| {
        next.memory == change.memory
            && match next.kind {
                ChangeKind::Revised => true,
                // One that was erased and came back with a dump is where it was.
                ChangeKind::Saved => next.space != change.space,
                _ => false,
            }
    });
    change.kind == ChangeKind::Erased && !goes_on
}
