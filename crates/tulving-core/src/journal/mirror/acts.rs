//! Makes the mirrors of one file those of what it says, in acts of a size that holds nobody up.
//!
//! What is known of the file is written with every act and is another each time, so that of two processes at work on one file
//! the slower one notices at its next act and decides again. What was begun and not finished is gone on with by whoever comes
//! next: what is there already is found by its hash.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::change::{Revision, Write};
use crate::error::Error;
use crate::file::{self, MirroredEntry, MirroredFile, Stamp};
use crate::id::{MemoryId, SpaceId};
use crate::limits;
use crate::memory::{ContentHash, Edition, Memory, Text};
use crate::space::Space;
use crate::text::{chunk, withhold};
use crate::vocabulary::{Boundary, VersionAct};

use super::entry::{self, Source, Wanted};

/// How many writes are one act.
const WRITES: usize = 500;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It says what it said.
    Same,
    /// Its mirrors are those of what it says now.
    Done,
    /// The same, and it has more entries than are mirrored.
    Capped,
    /// There is more to do than there was room for.
    Begun,
    /// It is gone.
    Gone,
}

/// How many acts may still be done in this go.
pub(super) struct Room {
    pub(super) acts: usize,
}

/// Makes the mirrors of a file those of what it says now. One that is not `readable` has none.
pub(super) fn mirror(
    parts: &Parts,
    source: &Source<'_>,
    readable: bool,
    known: Option<MirroredFile>,
    room: &mut Room,
) -> Result<Outcome, Error> {
    let path = source.file.path.to_string();
    let mut known = Some(known);
    access::decide_again(|| {
        let known = match known.take() {
            Some(known) => known,
            None => parts.store.mirrored(source.space.id)?.into_iter().find(|file| file.path == path),
        };
        let found = match readable {
            true => parts.files.read(&source.file.path, limits::MIRRORED_BYTES)?,
            false => None,
        };
        if readable && found.is_none() {
            return Ok(Outcome::Gone);
        }
        let bytes = found.as_ref().map_or(&[][..], |found| found.bytes.as_slice());
        let stamp = found.as_ref().map_or(source.file.stamp, |found| found.stamp);
        let to = MirroredFile {
            path: path.clone(),
            stamp,
            digest: digest(source.space, bytes),
            settled: stamp.is_settled(source.now),
        };
        let rebound = known.as_ref().is_some_and(|known| !has_right_boundary(source.space, known));
        let mut acts = Acts::new(parts, source.space.id, &path, known, room);
        if rebound && !acts.rebound(source.space, stamp)? {
            return Ok(Outcome::Begun);
        }
        if acts.known.as_ref().is_some_and(|known| known.digest == to.digest) {
            acts.note(&to)?;
            return Ok(Outcome::Same);
        }
        let text = if file::is_binary(bytes) { String::new() } else { super::super::text(bytes) };
        // The file is whoever wrote it; what is kept of it here has no secrets and nothing private in it.
        let text = withhold::in_lines(&text, parts.secrecy.of(source.space));
        let (wanted, capped) = entry::wanted(&source.file.path, &text);
        if !acts.write(source, &text, &wanted, stamp)? {
            return Ok(Outcome::Begun);
        }
        acts.finish(Some(to))?;
        Ok(if capped { Outcome::Capped } else { Outcome::Done })
    })
}

/// Ends the digest of a file whose mirrors are private. Mirrors that were made before they were so have another end, which
/// tells that they are to be mended; what is left of the hash tells files apart as well as before.
const PRIVATE: &[u8; 4] = b"priv";

/// The digest that is noted of a file in a space.
fn digest(space: &Space, bytes: &[u8]) -> [u8; 32] {
    let mut digest: [u8; 32] = Sha256::digest(bytes).into();
    if space.default_boundary() == Boundary::Private {
        digest[28..].copy_from_slice(PRIVATE);
    }
    digest
}

/// Returns whether the mirrors of a file have the boundary that the space gives its files.
pub(super) fn has_right_boundary(space: &Space, known: &MirroredFile) -> bool {
    space.default_boundary() != Boundary::Private || known.digest.ends_with(PRIVATE)
}

/// The mirrors of a file go with it. Says whether all of them did.
pub(super) fn unmirror(
    parts: &Parts,
    space: SpaceId,
    gone: &MirroredFile,
    room: &mut Room,
) -> Result<bool, Error> {
    let mut acts = Acts::new(parts, space, &gone.path, Some(gone.clone()), room);
    for old in parts.store.mirrors(space, &gone.path)? {
        if !acts.push(Write::Erase { id: old.id, from: None }, gone.stamp)? {
            return Ok(false);
        }
    }
    acts.finish(None)?;
    Ok(true)
}

/// The acts on one file.
struct Acts<'a> {
    parts: &'a Parts,
    space: SpaceId,
    path: &'a str,
    /// What is known of the file by now.
    known: Option<MirroredFile>,
    /// What is written with the next act.
    writes: Vec<Write>,
    room: &'a mut Room,
}

impl<'a> Acts<'a> {
    fn new(
        parts: &'a Parts,
        space: SpaceId,
        path: &'a str,
        known: Option<MirroredFile>,
        room: &'a mut Room,
    ) -> Self {
        Self { parts, space, path, known, writes: Vec::new(), room }
    }

    /// Writes what has to be written so that the mirrors are those that are wanted. What is not wanted goes first. False where
    /// there was no room for all of it.
    fn write(
        &mut self,
        source: &Source<'_>,
        text: &str,
        wanted: &[Wanted],
        stamp: Stamp,
    ) -> Result<bool, Error> {
        let have = self.parts.store.mirrors(self.space, self.path)?.into_iter();
        let mut have: Known = have.map(|entry| ((entry.hash, entry.occurrence), entry)).collect();
        let mut kept: Known = HashMap::with_capacity(wanted.len().min(have.len()));
        for entry in wanted {
            if let Some(old) = have.remove(&(entry.hash, entry.occurrence)) {
                kept.insert((entry.hash, entry.occurrence), old);
            }
        }
        for old in have.into_values() {
            if !self.push(Write::Erase { id: old.id, from: None }, stamp)? {
                return Ok(false);
            }
        }
        for entry in wanted {
            let write = match kept.remove(&(entry.hash, entry.occurrence)) {
                None => Some(Write::Insert(Box::new(entry::made(source, text, entry)))),
                Some(old) if old.title.as_deref() != entry.title.as_deref() => self.retitled(&old, entry)?,
                Some(old) if old.line != entry.line => Some(Write::Reline { id: old.id, line: entry.line }),
                Some(_) => None,
            };
            if let Some(write) = write
                && !self.push(write, stamp)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives all mirrors of the file the boundary of the space's files. False where there was no room for all of them.
    fn rebound(&mut self, space: &Space, stamp: Stamp) -> Result<bool, Error> {
        let boundary = space.default_boundary();
        let ids: Vec<MemoryId> =
            self.parts.store.mirrors(self.space, self.path)?.into_iter().map(|entry| entry.id).collect();
        for ids in ids.chunks(WRITES) {
            for found in self.parts.store.entries(ids, None)? {
                let Memory { id, version, edition, standing, .. } = found.memory;
                if edition.boundary == boundary {
                    continue;
                }
                let edition = Edition { boundary, ..edition };
                let (act, chunks, attachment) = (VersionAct::Updated, None, None);
                let (stood, from) = (standing, version);
                let revision =
                    Revision { id, from, act, edition, stood, standing, chunks, attachment, vouched: None };
                if !self.push(Write::Revise(Box::new(revision)), stamp)? {
                    return Ok(false);
                }
            }
        }
        // An act of its own: what follows goes by the versions that it makes.
        if self.writes.is_empty() { Ok(true) } else { self.flush(stamp) }
    }

    /// The same entry below another heading: it is embedded anew and keeps its use.
    fn retitled(&mut self, old: &MirroredEntry, entry: &Wanted) -> Result<Option<Write>, Error> {
        let Some(found) = self.parts.store.entries(&[old.id], None)?.pop() else {
            return Ok(None);
        };
        if old.line != entry.line {
            self.writes.push(Write::Reline { id: old.id, line: entry.line });
        }
        let Memory { id, version, edition, standing, .. } = found.memory;
        let title = entry.title.as_deref().map(str::to_owned);
        let chunks = Some(chunk::of(&edition.text));
        let edition = Edition { text: Text { title, ..edition.text }, ..edition };
        let act = VersionAct::Updated;
        Ok(Some(Write::Revise(Box::new(Revision {
            id,
            from: version,
            act,
            edition,
            stood: standing,
            standing,
            chunks,
            attachment: None,
            vouched: None,
        }))))
    }

    /// Adds a write, and does an act where there are enough. False where there is no room for another.
    fn push(&mut self, write: Write, stamp: Stamp) -> Result<bool, Error> {
        self.writes.push(write);
        if self.writes.len() < WRITES { Ok(true) } else { self.flush(stamp) }
    }

    /// Does what was added as an act of its own. False where there is no room for it.
    fn flush(&mut self, stamp: Stamp) -> Result<bool, Error> {
        if self.room.acts == 0 {
            return Ok(false);
        }
        self.room.acts -= 1;
        // No other state has this digest, so that the next act finds out whether anybody else came between.
        let mut digest = [0; 32];
        digest[..16].copy_from_slice(MemoryId::mint(self.parts.clock.now()).as_bytes());
        let begun = MirroredFile { path: self.path.to_owned(), stamp, digest, settled: false };
        self.apply(Some(begun))?;
        Ok(true)
    }

    /// Notes that a file says what it said, where something else is known of it.
    fn note(&mut self, to: &MirroredFile) -> Result<(), Error> {
        if self.known.as_ref() == Some(to) { Ok(()) } else { self.apply(Some(to.clone())) }
    }

    fn finish(mut self, to: Option<MirroredFile>) -> Result<(), Error> {
        self.apply(to)
    }

    fn apply(&mut self, to: Option<MirroredFile>) -> Result<(), Error> {
        let mut writes = std::mem::take(&mut self.writes);
        let (space, path) = (self.space, self.path.to_owned());
        writes.push(Write::Mirrored { space, path, from: self.known.take(), to: to.clone() });
        self.parts.store.apply(&access::own_changes(self.parts.clock.now(), writes))?;
        self.known = to;
        Ok(())
    }
}

/// Mirrors by what they are known by.
type Known = HashMap<(ContentHash, u32), MirroredEntry>;
