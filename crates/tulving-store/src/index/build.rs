//! Makes the index anew from the whole store: page by page, with a bounded part of it in memory.
//!
//! Of several processes one does so and writes the base; the others wait for it, and make their own in memory where
//! that takes too long.

use std::time::{Duration, Instant};

use tulving_core::id::Seq;

use super::fold::{LONG_TAIL, MANY_ITEMS};
use super::folder::{Folder, Lock, named};
use super::follow::Basis;
use super::manifest::{DeadFile, Manifest, epoch_text, fingerprint};
use super::segment::Merged;
use super::snapshot::{Part, Snapshot, views};
use super::trouble::Trouble;
use super::{SearchIndex, State};

/// How many memories are read at once. Each may have megabytes.
pub(super) const ENTRIES: usize = 64;
/// What is in memory goes into a file whenever it has so many docs: some 200 MB.
pub(super) const SPILL: usize = 128 * 1024;
/// How long a process waits for another that makes the base.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(20);

/// Who makes the base.
enum Builder {
    /// We do, with the lock.
    Us(Lock),
    /// We do, for ourselves alone.
    UsInMemory,
    /// Somebody else has.
    Another,
}

impl SearchIndex {
    /// Makes the index anew, whatever was known before.
    pub(super) fn build(&self, state: &mut State, lock: Option<&Lock>) -> Result<(), Trouble> {
        if lock.is_some() {
            *state = self.built(lock)?;
            return Ok(());
        }
        match self.builder(state)? {
            Builder::Another => {}
            Builder::UsInMemory => *state = self.built(None)?,
            Builder::Us(lock) => {
                *state = self.built(Some(&lock))?;
                if let Some(folder) = &self.folder {
                    folder.sweep(&lock);
                }
            }
        }
        Ok(())
    }

    fn builder(&self, state: &mut State) -> Result<Builder, Trouble> {
        let Some(folder) = &self.folder else {
            return Ok(Builder::UsInMemory);
        };
        // A store with so short a log has few memories; reading them takes less than finding out who else does.
        if folder.stamp().is_none() && self.source.head()?.0 < LONG_TAIL as u64 {
            return Ok(Builder::UsInMemory);
        }
        let began = Instant::now();
        let void = state.basis.as_ref().map_or(0, |basis| basis.generation);
        loop {
            match self.unless_unwritable(folder.lock())? {
                None => return Ok(Builder::UsInMemory),
                Some(None) if self.is_tending() || began.elapsed() > PATIENCE => {
                    return Ok(Builder::UsInMemory);
                }
                Some(None) => std::thread::sleep(LOOK),
                Some(Some(lock)) => {
                    return if self.another_did(folder, state, void)? {
                        Ok(Builder::Another)
                    } else {
                        Ok(Builder::Us(lock))
                    };
                }
            }
        }
    }

    /// Opens what another process has made while we waited for the lock, where it is not what is void.
    fn another_did(&self, folder: &Folder, state: &mut State, void: u64) -> Result<bool, Trouble> {
        let Some(theirs) = folder.manifest().ok().flatten() else {
            return Ok(false);
        };
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        Ok(theirs.generation != void && theirs.model == model && self.load(state, epoch).unwrap_or(false))
    }

    /// The store as it is, read as a whole; in the folder, where we may write there and it is worth it.
    ///
    /// Until the new manifest is there the old one counts, so that a crash leaves what was.
    pub(super) fn built(&self, lock: Option<&Lock>) -> Result<State, Trouble> {
        let (epoch, model, seq) = (self.source.epoch()?, self.source.model()?, self.source.head()?);
        let stamp = self.folder.as_ref().and_then(Folder::stamp);
        let (mut snapshot, mut memories, mut after) = (Snapshot::default(), 0, None);
        loop {
            let entries = self.source.entries_after(after, ENTRIES, model.as_deref())?;
            let Some(last) = entries.last() else {
                break;
            };
            (after, memories) = (Some(last.memory.id), memories + entries.len());
            snapshot.absorb(&entries, model.as_deref())?;
            if snapshot.tail_items() >= SPILL {
                self.move_tail(&mut snapshot, lock, model.as_deref())?;
            }
        }
        // What is in no manifest is as good as a tail.
        let mut basis = Basis { pending: memories, ..Basis::at(epoch, model, stamp, seq) };
        if let (Some(folder), Some(lock)) = (&self.folder, lock) {
            // A few memories with a long history are worth it too: the log need not be read again.
            let worth_it =
                seq.0 >= LONG_TAIL as u64 || !snapshot.base.is_empty() || snapshot.tail_items() >= MANY_ITEMS;
            if worth_it {
                self.move_tail(&mut snapshot, Some(lock), basis.model.as_deref())?;
            }
            let manifest = self.manifest(&basis, &snapshot.base, None);
            let written = worth_it
                && snapshot.tail.is_empty()
                && self.unless_unwritable(folder.write_manifest(lock, &manifest))?.is_some();
            if written {
                (basis.pending, basis.generation) = (0, manifest.generation);
            } else {
                // What is there does not fit and must not be opened again.
                self.unless_unwritable(folder.forget_manifest(lock))?;
            }
            basis.stamp = folder.stamp();
        }
        Ok(State { snapshot, basis: Some(basis), damaged: false })
    }

    /// The manifest that names these parts.
    pub(super) fn manifest(&self, basis: &Basis, base: &[Part], dead: Option<DeadFile>) -> Manifest {
        let there = self.folder.as_ref().and_then(|folder| folder.manifest().ok().flatten());
        let Seq(watermark) = basis.seq;
        Manifest {
            fingerprint: fingerprint(),
            generation: there.map_or(0, |manifest| manifest.generation).max(basis.generation) + 1,
            epoch: epoch_text(&basis.epoch),
            watermark,
            model: basis.base_model.clone(),
            segments: base.iter().map(named).collect(),
            dead,
        }
    }

    /// Moves the tail of a snapshot into a file. Where that cannot be done, it stays in memory.
    fn move_tail(
        &self,
        snapshot: &mut Snapshot,
        lock: Option<&Lock>,
        model: Option<&str>,
    ) -> Result<(), Trouble> {
        let (Some(folder), Some(lock)) = (&self.folder, lock) else {
            return Ok(());
        };
        if snapshot.tail_items() == 0 {
            snapshot.tail.clear();
            return Ok(());
        }
        let written = {
            let merged = Merged::of(&views(&snapshot.tail)?, model)?;
            self.unless_unwritable(folder.write_segment(lock, &merged))?
        };
        if let Some(part) = written {
            snapshot.base.push(part);
            snapshot.tail.clear();
        }
        Ok(())
    }
}
