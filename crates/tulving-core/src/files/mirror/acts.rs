//! Updates the mirrors of one file to match its content, in transactions small enough not to block other callers.
//!
//! Every transaction also writes a new state of the file. If two processes work on the same file, the slower one detects
//! this at its next transaction and starts again from the new state. Any process can continue unfinished work, because it
//! finds existing mirrors by their hash.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::model::change::{Revision, Write};
use crate::model::error::Error;
use crate::model::file::{self, FileStamp, MirroredEntry, MirroredFile};
use crate::model::id::{MemoryId, SpaceId};
use crate::model::limits;
use crate::model::memory::{ContentHash, Memory, MemoryText, VersionFields};
use crate::model::space::Space;
use crate::model::vocabulary::{Boundary, VersionAct};
use crate::text::{chunk, redact};
use crate::verbs::access::{self, Ports};

use super::entry::{self, MirrorSource, PlannedMirror};

/// Maximum number of writes in one transaction.
const WRITES: usize = 500;

/// The outcome of updating the mirrors of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MirrorOutcome {
    /// The content of the file is unchanged.
    Same,
    /// The mirrors match the content of the file.
    Done,
    /// The mirrors match the content of the file, but the file has more entries than the maximum number of mirrors.
    Capped,
    /// The update is incomplete, because the limit was reached.
    Begun,
    /// The file no longer exists.
    Gone,
}

/// The number of transactions still allowed in this run.
pub(super) struct TransactionBudget {
    pub(super) acts: usize,
}

/// Updates the mirrors of a file to its current content. A file that is not `readable` has no mirrors.
pub(super) fn mirror(
    ports: &Ports,
    source: &MirrorSource<'_>,
    readable: bool,
    known: Option<MirroredFile>,
    room: &mut TransactionBudget,
) -> Result<MirrorOutcome, Error> {
    let path = source.file.path.to_string();
    let mut known = Some(known);
    access::decide_again(|| {
        let known = match known.take() {
            Some(known) => known,
            None => ports.store.mirrored(source.space.id)?.into_iter().find(|file| file.path == path),
        };
        let found = match readable {
            true => ports.files.read(&source.file.path, limits::MIRRORED_BYTES)?,
            false => None,
        };
        if readable && found.is_none() {
            return Ok(MirrorOutcome::Gone);
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
        let mut acts = MirrorWriter::new(ports, source.space.id, &path, known, room);
        if rebound && !acts.rebound(source.space, stamp)? {
            return Ok(MirrorOutcome::Begun);
        }
        if acts.known.as_ref().is_some_and(|known| known.digest == to.digest) {
            acts.note(&to)?;
            return Ok(MirrorOutcome::Same);
        }
        let text = if file::is_binary(bytes) { String::new() } else { super::super::text(bytes) };
        // The file belongs to its author and is not changed; its copy in the store contains no secrets and no private
        // passages.
        let text = redact::in_lines(&text, ports.secret_policies.of(source.space));
        let (wanted, capped) = entry::wanted(&source.file.path, &text);
        if !acts.write(source, &text, &wanted, stamp)? {
            return Ok(MirrorOutcome::Begun);
        }
        acts.finish(Some(to))?;
        Ok(if capped { MirrorOutcome::Capped } else { MirrorOutcome::Done })
    })
}

/// The last bytes of the digest of a file whose mirrors are private. The digests of older mirrors end in other bytes, which
/// shows that these mirrors need an update. The rest of the digest still distinguishes files.
const PRIVATE: &[u8; 4] = b"priv";

/// Returns the digest that the store contains for a file in a space.
fn digest(space: &Space, bytes: &[u8]) -> [u8; 32] {
    let mut digest: [u8; 32] = Sha256::digest(bytes).into();
    if space.default_boundary() == Boundary::Private {
        digest[28..].copy_from_slice(PRIVATE);
    }
    digest
}

/// Returns true if the mirrors of a file have the space's default boundary.
pub(super) fn has_right_boundary(space: &Space, known: &MirroredFile) -> bool {
    space.default_boundary() != Boundary::Private || known.digest.ends_with(PRIVATE)
}

/// Removes the mirrors of a file. Returns true if all mirrors were removed.
pub(super) fn unmirror(
    ports: &Ports,
    space: SpaceId,
    gone: &MirroredFile,
    room: &mut TransactionBudget,
) -> Result<bool, Error> {
    let mut acts = MirrorWriter::new(ports, space, &gone.path, Some(gone.clone()), room);
    for old in ports.store.mirrors(space, &gone.path)? {
        if !acts.push(Write::Erase { id: old.id, from: None }, gone.stamp)? {
            return Ok(false);
        }
    }
    acts.finish(None)?;
    Ok(true)
}

/// The transactions on one file.
struct MirrorWriter<'a> {
    ports: &'a Ports,
    space: SpaceId,
    path: &'a str,
    /// The last known state of the file.
    known: Option<MirroredFile>,
    /// The writes of the next transaction.
    writes: Vec<Write>,
    room: &'a mut TransactionBudget,
}

impl<'a> MirrorWriter<'a> {
    fn new(
        ports: &'a Ports,
        space: SpaceId,
        path: &'a str,
        known: Option<MirroredFile>,
        room: &'a mut TransactionBudget,
    ) -> Self {
        Self { ports, space, path, known, writes: Vec::new(), room }
    }

    /// Writes the changes from the current mirrors to the wanted mirrors, removals first. Returns false if the limit was
    /// reached.
    fn write(
        &mut self,
        source: &MirrorSource<'_>,
        text: &str,
        wanted: &[PlannedMirror],
        stamp: FileStamp,
    ) -> Result<bool, Error> {
        let have = self.ports.store.mirrors(self.space, self.path)?.into_iter();
        let mut have: MirrorsByContent = have.map(|entry| ((entry.hash, entry.occurrence), entry)).collect();
        let mut kept: MirrorsByContent = HashMap::with_capacity(wanted.len().min(have.len()));
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

    /// Sets the boundary of all mirrors of the file to the space's default boundary. Returns false if the limit was reached.
    fn rebound(&mut self, space: &Space, stamp: FileStamp) -> Result<bool, Error> {
        let boundary = space.default_boundary();
        let ids: Vec<MemoryId> =
            self.ports.store.mirrors(self.space, self.path)?.into_iter().map(|entry| entry.id).collect();
        for ids in ids.chunks(WRITES) {
            for found in self.ports.store.entries(ids, None)? {
                let Memory { id, version, fields, status, .. } = found.memory;
                if fields.boundary == boundary {
                    continue;
                }
                let fields = VersionFields { boundary, ..fields };
                let (act, chunks, attachment) = (VersionAct::Updated, None, None);
                let (stood, from) = (status, version);
                let revision =
                    Revision { id, from, act, fields, stood, status, chunks, attachment, confirmed: None };
                if !self.push(Write::Revise(Box::new(revision)), stamp)? {
                    return Ok(false);
                }
            }
        }
        // This is a separate transaction, because the next writes depend on the versions that it creates.
        if self.writes.is_empty() { Ok(true) } else { self.flush(stamp) }
    }

    /// Moves an entry below another heading. The entry is embedded again and keeps its access counts.
    fn retitled(&mut self, old: &MirroredEntry, entry: &PlannedMirror) -> Result<Option<Write>, Error> {
        let Some(found) = self.ports.store.entries(&[old.id], None)?.pop() else {
            return Ok(None);
        };
        if old.line != entry.line {
            self.writes.push(Write::Reline { id: old.id, line: entry.line });
        }
        let Memory { id, version, fields, status, .. } = found.memory;
        let title = entry.title.as_deref().map(str::to_owned);
        let chunks = Some(chunk::of(&fields.text));
        let fields = VersionFields { text: MemoryText { title, ..fields.text }, ..fields };
        let act = VersionAct::Updated;
        Ok(Some(Write::Revise(Box::new(Revision {
            id,
            from: version,
            act,
            fields,
            stood: status,
            status,
            chunks,
            attachment: None,
            confirmed: None,
        }))))
    }

    /// Adds a write, and commits the transaction if it is full. Returns false if the limit was reached.
    fn push(&mut self, write: Write, stamp: FileStamp) -> Result<bool, Error> {
        self.writes.push(write);
        if self.writes.len() < WRITES { Ok(true) } else { self.flush(stamp) }
    }

    /// Commits the added writes as a transaction. Returns false if the limit was reached.
    fn flush(&mut self, stamp: FileStamp) -> Result<bool, Error> {
        if self.room.acts == 0 {
            return Ok(false);
        }
        self.room.acts -= 1;
        // This digest is unique, so the next transaction detects a concurrent change.
        let mut digest = [0; 32];
        digest[..16].copy_from_slice(MemoryId::mint(self.ports.clock.now()).as_bytes());
        let begun = MirroredFile { path: self.path.to_owned(), stamp, digest, settled: false };
        self.apply(Some(begun))?;
        Ok(true)
    }

    /// Records that the content of a file is unchanged, if its stored state differs.
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
        self.ports.store.apply(&access::own_changes(self.ports.clock.now(), writes))?;
        self.known = to;
        Ok(())
    }
}

/// Mirrors, by the hash of their content and their number among entries with the same content.
type MirrorsByContent = HashMap<(ContentHash, u32), MirroredEntry>;
