//! Takes in trees of files, again and again, so that each file is a memory once.
//!
//! What is known of a file is how it was and what it said. A file that is as it was is not even read; one that says the same
//! is not written; one that says the same elsewhere has moved.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::answer::{Fate, Receipt, Warning};
use crate::change::{Right, Write};
use crate::error::{Class, Error, Invalid, StoreError};
use crate::file::{ImportedFile, Stamp};
use crate::id::{MemoryId, SpaceId};
use crate::memory::Memory;
use crate::push::{self, Document, Seen};
use crate::request::{Caller, SaveRequest};
use crate::save::intake::Imported;
use crate::save::{self, Order};
use crate::standing;
use crate::vocabulary::{Boundary, State};

/// How many memories are looked at together.
const MEMORIES: usize = 500;

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// What it is known by.
    pub path: String,
    /// How it is now.
    pub stamp: Stamp,
}

/// What is to be done about the files of some trees.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Those that have to be read.
    pub read: Vec<SeenFile>,
    /// How many are as they were.
    pub unchanged: usize,
    /// Those whose memory was forgotten; they are let be.
    pub forgotten: Vec<String>,
    /// The memories of those that say what they said.
    same: Vec<MemoryId>,
    known: HashMap<String, ImportedFile>,
    /// By path.
    vanished: BTreeMap<String, ImportedFile>,
    /// Those that vanished elsewhere.
    elsewhere: HashMap<String, ImportedFile>,
    /// The paths of those that said this, the first one last.
    said: HashMap<[u8; 32], Vec<String>>,
}

/// Compares what is there with what is known. Of what is known and was not seen, those `within` the trees have vanished, and
/// those that are `gone` from elsewhere may have moved to here.
pub fn plan(
    known: Vec<ImportedFile>,
    seen: Vec<SeenFile>,
    within: impl Fn(&str) -> bool,
    gone: impl Fn(&str) -> bool,
) -> Plan {
    let mut known: HashMap<String, ImportedFile> =
        known.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut plan = Plan::default();
    for file in seen {
        match known.remove(&file.path) {
            Some(old) if old.standing.forgotten_at.is_some() => plan.forgotten.push(file.path),
            Some(old) if old.settled && old.stamp == file.stamp => {
                plan.unchanged += 1;
                plan.same.push(old.memory);
            }
            old => {
                plan.known.extend(old.map(|old| (file.path.clone(), old)));
                plan.read.push(file);
            }
        }
    }
    let stands =
        |old: &ImportedFile| old.standing.forgotten_at.is_none() && old.standing.state != State::Archived;
    for (path, old) in known.into_iter().filter(|(_, old)| stands(old)) {
        if within(&path) {
            plan.vanished.insert(path, old);
        } else if !plan.read.is_empty() && gone(&path) {
            plan.elsewhere.insert(path, old);
        }
    }
    for (path, old) in plan.elsewhere.iter().chain(plan.vanished.iter().rev()) {
        plan.said.entry(old.digest).or_default().push(path.clone());
    }
    plan
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct ReadFile {
    /// Which, and how it was before it was read.
    pub seen: SeenFile,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// What is said of it.
    pub about: SaveRequest,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is new.
    Created,
    /// It says something else than before.
    Updated,
    /// It says what it said.
    Unchanged,
    /// It was archived, and is there again.
    Revived,
    /// It was known under another path.
    Moved {
        /// Which.
        from: String,
    },
    /// It was not taken in.
    Skipped {
        /// Why.
        why: String,
    },
}

/// A file that was taken in, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenFile {
    /// Its path.
    pub path: String,
    /// What became of it.
    pub became: Taken,
    /// What is to be told of it.
    pub warnings: Vec<String>,
}

/// Takes in files that were read. One that cannot be taken in costs only itself.
pub(crate) fn take(
    parts: &Parts,
    caller: &Caller,
    plan: &mut Plan,
    files: Vec<ReadFile>,
) -> Result<Vec<TakenFile>, Error> {
    let (space, right) = access::workplace(parts, caller)?;
    let (mut taken, mut known, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    let now = parts.clock.now();
    for read in files {
        let SeenFile { path, stamp } = &read.seen;
        let file = Imported {
            stamp: *stamp,
            digest: Sha256::digest(&read.bytes).into(),
            settled: stamp.is_settled(now),
        };
        match plan.foresee(path, &file.digest) {
            Foreseen::Same(old) => {
                let same = Known::same(space.id, right, &read.seen, &file, old);
                let memory = old.memory;
                known.extend(same.map(|same| (same, None)));
                taken.push(taken_as(path.clone(), Taken::Unchanged));
                plan.same.push(memory);
            }
            Foreseen::Moved(old) => {
                let moved = Known::moved(space.id, right, &read.seen, &file, &old);
                known.push((moved, Some((read, file, old))));
            }
            Foreseen::Changed | Foreseen::New => waiting.push((read, file)),
        }
    }
    for (moved, became) in settle_known(parts, caller, known)? {
        let Some((read, file, old)) = moved else { continue };
        if became {
            taken.push(taken_as(read.seen.path, Taken::Moved { from: old.path }));
        } else {
            plan.has_not_moved(old);
            waiting.push((read, file));
        }
    }
    let mut seen = Vec::with_capacity(waiting.len());
    for (read, file) in waiting {
        let path = read.seen.path;
        if let Err(why) = refuse_secret(&read.bytes) {
            taken.push(taken_as(path, why));
            continue;
        }
        let about = SaveRequest { source_path: Some(path.clone()), ..read.about };
        match push::look(parts, Document { name: Some(path.clone()), bytes: read.bytes, about }) {
            Ok(document) => seen.push(Waiting { path, document, file }),
            Err(error) => taken.push(skipped(path, error)?),
        }
    }
    save_all(parts, caller, seen, &mut taken)?;
    Ok(taken)
}

fn taken_as(path: String, became: Taken) -> TakenFile {
    TakenFile { path, became, warnings: Vec::new() }
}

/// What is written about a file whose memory says what it says.
struct Known {
    right: Right,
    writes: Vec<Write>,
}

impl Known {
    /// The file is as it was but for its stamp.
    fn same(
        space: SpaceId,
        right: Right,
        seen: &SeenFile,
        file: &Imported,
        old: &ImportedFile,
    ) -> Option<Self> {
        let to = now_known(seen, file, old);
        let write = Write::Imported { space, path: seen.path.clone(), to: Some(to.clone()) };
        (to != *old).then(|| Self { right, writes: vec![write] })
    }

    /// The file has another path.
    fn moved(space: SpaceId, right: Right, seen: &SeenFile, file: &Imported, old: &ImportedFile) -> Self {
        let to = Some(now_known(seen, file, old));
        let writes = vec![
            Write::Repath { id: old.memory, from: old.path.clone(), to: seen.path.clone() },
            Write::Imported { space, path: old.path.clone(), to: None },
            Write::Imported { space, path: seen.path.clone(), to },
        ];
        Self { right: Right { over: Some(old.memory), ..right }, writes }
    }
}

fn now_known(seen: &SeenFile, file: &Imported, old: &ImportedFile) -> ImportedFile {
    ImportedFile {
        path: seen.path.clone(),
        stamp: file.stamp,
        digest: file.digest,
        settled: file.settled,
        memory: old.memory,
        standing: old.standing,
    }
}

/// A file that is saved.
struct Waiting {
    path: String,
    document: Seen,
    file: Imported,
}

impl Waiting {
    fn order(&self) -> Order {
        let Seen { request, told, .. } = &self.document;
        Order { imported: Some(self.file), told: *told, later: true, ..Order::of(request.clone()) }
    }

    fn settle(self, parts: &Parts, saved: Result<Receipt, Error>) -> Result<TakenFile, Error> {
        let Self { path, document, .. } = self;
        match push::settle(parts, saved, document.warning, document.kept) {
            Ok(receipt) => {
                let warnings = receipt.warnings.iter().map(ToString::to_string).collect();
                Ok(TakenFile { path, became: became(&receipt), warnings })
            }
            Err(error) => skipped(path, error),
        }
    }
}

/// What is going to become of a file.
enum Foreseen<'a> {
    Same(&'a ImportedFile),
    /// It was this one, which vanished.
    Moved(ImportedFile),
    Changed,
    New,
}

impl Plan {
    /// Those that are known, active and no longer there.
    pub fn vanished(&self) -> impl ExactSizeIterator<Item = &ImportedFile> {
        self.vanished.values()
    }

    fn foresee(&mut self, path: &str, digest: &[u8; 32]) -> Foreseen<'_> {
        match self.known.get(path) {
            // What was archived with its file comes back with it; what somebody archived stays.
            Some(old) if old.digest == *digest && old.stamp != Stamp::GONE => Foreseen::Same(old),
            Some(_) => Foreseen::Changed,
            None => {
                let from = self.said.get_mut(digest).and_then(Vec::pop);
                let old = from.and_then(|from| {
                    self.vanished.remove(&from).or_else(|| self.elsewhere.get(&from).cloned())
                });
                old.map_or(Foreseen::New, Foreseen::Moved)
            }
        }
    }

    /// What a file was thought to have been has vanished all the same, where that is asked.
    fn has_not_moved(&mut self, old: ImportedFile) {
        if !self.elsewhere.contains_key(&old.path) {
            self.vanished.insert(old.path.clone(), old);
        }
    }
}

/// What would become of a file that was read, as far as it can be told. Nothing is written.
pub(crate) fn foresee(
    parts: &Parts,
    caller: &Caller,
    plan: &mut Plan,
    read: ReadFile,
) -> Result<TakenFile, Error> {
    let ReadFile { seen: SeenFile { path, .. }, bytes, about } = read;
    let file_became = match plan.foresee(&path, &Sha256::digest(&bytes).into()) {
        Foreseen::Same(old) => {
            let memory = old.memory;
            plan.same.push(memory);
            return Ok(taken_as(path, Taken::Unchanged));
        }
        Foreseen::Moved(old) => return Ok(taken_as(path, Taken::Moved { from: old.path })),
        Foreseen::Changed => Taken::Updated,
        Foreseen::New => Taken::Created,
    };
    if let Err(why) = refuse_secret(&bytes) {
        return Ok(taken_as(path, why));
    }
    let about = SaveRequest { source_path: Some(path.clone()), ..about };
    let told = |warnings: Vec<Warning>| warnings.iter().map(ToString::to_string).collect();
    match push::foresee(Document { name: Some(path.clone()), bytes, about }) {
        Err(warning) => {
            Ok(TakenFile { path, became: file_became, warnings: told(warning.into_iter().collect()) })
        }
        Ok(Seen { request, warning, told: itself, .. }) => {
            let order = Order { told: itself, ..Order::of(request) };
            match save::foresee(parts, caller, order) {
                Ok(receipt) => {
                    let became = became(&receipt);
                    let warnings = receipt.warnings.into_iter().chain(warning).collect();
                    Ok(TakenFile { path, became, warnings: told(warnings) })
                }
                Err(error) => skipped(path, error),
            }
        }
    }
}

/// Of how many files that are as they were the memory lacks one of these labels, or has another boundary than this.
pub(crate) fn differing(
    parts: &Parts,
    caller: &Caller,
    plan: &Plan,
    tags: &[String],
    boundary: Option<Boundary>,
) -> Result<usize, Error> {
    let mut differing = 0;
    for ids in plan.same.chunks(MEMORIES) {
        let memories = parts.store.memories(&caller.viewer, ids)?;
        let differs = |memory: &&Memory| {
            let edition = &memory.edition;
            boundary.is_some_and(|boundary| boundary != edition.boundary)
                || tags.iter().any(|tag| !edition.text.tags.iter().any(|has| has == tag.trim()))
        };
        differing += memories.iter().filter(differs).count();
    }
    Ok(differing)
}

/// Whether a file is nothing but a private key, whatever its name is.
fn refuse_secret(bytes: &[u8]) -> Result<(), Taken> {
    let first = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.starts_with(b"-----BEGIN ") && first.trim_ascii_end().ends_with(b"PRIVATE KEY-----") {
        return Err(Taken::Skipped { why: "it is a private key".to_owned() });
    }
    Ok(())
}

/// Writes what is known of files as one act; where one of them stands in the way, each by itself. Says of each whether it was
/// written: what somebody else has changed since is not.
fn settle_known<T>(parts: &Parts, caller: &Caller, known: Vec<(Known, T)>) -> Result<Vec<(T, bool)>, Error> {
    let now = parts.clock.now();
    let apply = |rights: Vec<Right>, writes: Vec<Write>| match parts
        .store
        .apply(&access::changes(caller, now, rights, writes))
    {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(_)) => Ok(false),
        Err(error) => Err(Error::from(error)),
    };
    let rights = known.iter().map(|(known, _)| known.right).collect();
    let writes = known.iter().flat_map(|(known, _)| known.writes.clone()).collect();
    if known.is_empty() || apply(rights, writes)? {
        return Ok(known.into_iter().map(|(_, of)| (of, true)).collect());
    }
    known.into_iter().map(|(Known { right, writes }, of)| Ok((of, apply(vec![right], writes)?))).collect()
}

/// Saves documents as one act, without those that are refused; where one of them stands in the way, each by itself.
fn save_all(
    parts: &Parts,
    caller: &Caller,
    mut waiting: Vec<Waiting>,
    taken: &mut Vec<TakenFile>,
) -> Result<(), Error> {
    while !waiting.is_empty() {
        let saved = save::save_orders(parts, caller, waiting.iter().map(Waiting::order).collect());
        match saved {
            Ok(receipts) => {
                for (one, receipt) in std::mem::take(&mut waiting).into_iter().zip(receipts) {
                    taken.push(one.settle(parts, Ok(receipt))?);
                }
            }
            Err(Error::Invalid(Invalid::InBatch { index, source })) if index < waiting.len() => {
                let refused = Err(Error::Invalid(*source));
                taken.push(waiting.remove(index).settle(parts, refused)?);
            }
            Err(error) if is_about_one(&error) => {
                for one in std::mem::take(&mut waiting) {
                    let saved = save::only(save::save_orders(parts, caller, vec![one.order()]));
                    taken.push(one.settle(parts, saved)?);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn became(receipt: &Receipt) -> Taken {
    match receipt.fate {
        _ if receipt.revived => Taken::Revived,
        Fate::Created => Taken::Created,
        Fate::Updated => Taken::Updated,
        Fate::Unchanged | Fate::Duplicate => Taken::Unchanged,
    }
}

/// Whether a failure is about one file, and not about all that may come.
fn is_about_one(error: &Error) -> bool {
    matches!(error.class(), Class::Caller | Class::Conflict)
}

fn skipped(path: String, error: Error) -> Result<TakenFile, Error> {
    if is_about_one(&error) {
        Ok(taken_as(path, Taken::Skipped { why: error.to_string() }))
    } else {
        Err(error)
    }
}

/// Archives the memories of files that vanished, and says how many. That they were archived with their file is noted first,
/// so that they come back with it.
pub(crate) fn prune(parts: &Parts, caller: &Caller, plan: &Plan) -> Result<usize, Error> {
    let (space, right) = access::workplace(parts, caller)?;
    let mut archived = 0;
    for file in plan.vanished() {
        let to = Some(ImportedFile { stamp: Stamp::GONE, settled: false, ..file.clone() });
        let gone = Write::Imported { space: space.id, path: file.path.clone(), to };
        let over = Right { over: Some(file.memory), ..right };
        match parts.store.apply(&access::changes(caller, parts.clock.now(), vec![over], vec![gone])) {
            Err(StoreError::Conflict(_)) => continue,
            applied => applied?,
        };
        match standing::archive(parts, caller, file.memory.into(), None) {
            Ok(_) => archived += 1,
            Err(Error::NoMemory { .. } | Error::Forgotten { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(archived)
}
