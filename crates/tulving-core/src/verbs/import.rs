//! Imports directory trees of files, so that each file is one memory. An import can be repeated.
//!
//! The record of a file contains its stamp and its digest. A file is not read if its stamp shows that it is unchanged.
//! A file that is read and has the same content causes no new version. If a file vanished and another path has the same
//! content, the file has moved. Files with the same content are one memory with several paths.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::model::answer::{Receipt, SaveOutcome};
use crate::model::change::{RequiredRole, Write};
use crate::model::error::{Class, Error, Invalid, StoreError};
use crate::model::file::{FileStamp, ImportedFile};
use crate::model::id::{MemoryId, SpaceId};
use crate::model::memory::{Memory, Sources};
use crate::model::request::{Caller, SaveRequest};
use crate::model::vocabulary::{Boundary, State};
use crate::verbs::access::{self, Ports};
use crate::verbs::push::{self, Document, ExaminedDocument};
use crate::verbs::save::assemble::SaveBatch;
use crate::verbs::save::intake::Imported;
use crate::verbs::save::sources::{self, SourceChange};
use crate::verbs::save::{self, SaveOptions};
use crate::verbs::status;

/// Number of memories read together.
const MEMORIES: usize = 500;

/// A file that exists on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// The path of the file.
    pub path: String,
    /// The current stamp of the file.
    pub stamp: FileStamp,
}

/// The plan for importing the files of some trees.
#[derive(Clone, Debug, Default)]
pub struct ImportPlan {
    /// Files that must be read.
    pub read: Vec<SeenFile>,
    /// Number of unchanged files.
    pub unchanged: usize,
    /// Files whose memory was forgotten; they are skipped.
    pub forgotten: Vec<String>,
    /// The memories of unchanged files.
    same: Vec<MemoryId>,
    known: HashMap<String, ImportedFile>,
    /// Files that vanished from the trees, by path.
    vanished: BTreeMap<String, ImportedFile>,
    /// Files that vanished outside the trees.
    elsewhere: HashMap<String, ImportedFile>,
    /// The paths of vanished files by digest. The last path of each list is used first.
    said: HashMap<[u8; 32], Vec<String>>,
    /// The digests of files that would become memories, as predicted so far.
    predicted: HashSet<[u8; 32]>,
    /// The memory that each path would belong to, as predicted so far.
    foreseen_at: HashMap<String, MemoryId>,
}

/// Compares the files found with the recorded files. Recorded files `within` the trees that were not found have
/// vanished. Recorded files outside the trees that are `gone` may have moved into the trees.
pub fn plan(
    known: Vec<ImportedFile>,
    seen: Vec<SeenFile>,
    within: impl Fn(&str) -> bool,
    gone: impl Fn(&str) -> bool,
) -> ImportPlan {
    let mut known: HashMap<String, ImportedFile> =
        known.into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut plan = ImportPlan::default();
    for file in seen {
        match known.remove(&file.path) {
            Some(old) if old.status.forgotten_at.is_some() => plan.forgotten.push(file.path),
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
        |old: &ImportedFile| old.status.forgotten_at.is_none() && old.status.state != State::Archived;
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

/// A file with its content.
#[derive(Clone, Debug)]
pub struct ReadFile {
    /// The path of the file, and its stamp before it was read.
    pub seen: SeenFile,
    /// The content of the file in bytes.
    pub bytes: Vec<u8>,
    /// The fields of the save, except the content.
    pub about: SaveRequest,
}

/// The outcome of the import for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileImportOutcome {
    /// The file is new.
    Created,
    /// An existing memory has the same content; the memory gets one more path.
    Known,
    /// The content has changed.
    Updated,
    /// The content is unchanged.
    Unchanged,
    /// The memory was archived and is active again.
    Revived,
    /// The file was known under another path.
    Moved {
        /// The old path.
        from: String,
    },
    /// The file was not imported.
    Skipped {
        /// The reason.
        why: String,
    },
}

/// A file with its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenFile {
    /// The path of the file.
    pub path: String,
    /// The outcome.
    pub became: FileImportOutcome,
    /// Warnings about the file.
    pub warnings: Vec<String>,
}

/// Imports files that were read. If the import of a file fails, the other files are still imported.
pub(crate) fn take(
    ports: &Ports,
    caller: &Caller,
    plan: &mut ImportPlan,
    files: Vec<ReadFile>,
) -> Result<Vec<TakenFile>, Error> {
    let (space, right) = access::workplace(ports, caller)?;
    let (mut taken, mut known, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    let now = ports.clock.now();
    for read in files {
        let SeenFile { path, stamp } = &read.seen;
        let file = Imported {
            stamp: *stamp,
            digest: Sha256::digest(&read.bytes).into(),
            settled: stamp.is_settled(now),
        };
        match plan.predict(path, &file.digest) {
            ExpectedOutcome::Same(old) => {
                let same = KnownFile::same(space.id, right, &read.seen, &file, old);
                let memory = old.memory;
                known.extend(same.map(|same| (same, None)));
                taken.push(taken_as(path.clone(), FileImportOutcome::Unchanged));
                plan.same.push(memory);
            }
            ExpectedOutcome::Moved(old) => {
                let moved = KnownFile::moved(space.id, right, &read.seen, &file, &old);
                known.push((moved, Some((read, file, old))));
            }
            ExpectedOutcome::Changed | ExpectedOutcome::New => waiting.push((read, file)),
        }
    }
    for (moved, became) in settle_known(ports, caller, known)? {
        let Some((read, file, old)) = moved else { continue };
        if became {
            taken.push(taken_as(read.seen.path, FileImportOutcome::Moved { from: old.path }));
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
        match push::look(ports, Document { name: Some(path.clone()), bytes: read.bytes, about }) {
            Ok(document) => seen.push(WaitingFile { path, document, file }),
            Err(error) => taken.push(skipped(path, error)?),
        }
    }
    save_all(ports, |orders| save::save_with_options(ports, caller, orders), seen, &mut taken)?;
    Ok(taken)
}

fn taken_as(path: String, became: FileImportOutcome) -> TakenFile {
    TakenFile { path, became, warnings: Vec::new() }
}

/// The writes for a file whose memory has the same content.
struct KnownFile {
    right: RequiredRole,
    writes: Vec<Write>,
}

impl KnownFile {
    /// Builds the writes for a file that changed only its stamp.
    fn same(
        space: SpaceId,
        right: RequiredRole,
        seen: &SeenFile,
        file: &Imported,
        old: &ImportedFile,
    ) -> Option<Self> {
        let to = now_known(seen, file, old);
        let write = Write::Imported { space, path: seen.path.clone(), to: Some(to.clone()) };
        (to != *old).then(|| Self { right, writes: vec![write] })
    }

    /// Builds the writes for a file that has another path.
    fn moved(
        space: SpaceId,
        right: RequiredRole,
        seen: &SeenFile,
        file: &Imported,
        old: &ImportedFile,
    ) -> Self {
        let to = Some(now_known(seen, file, old));
        let writes = vec![
            Write::Repath { id: old.memory, from: old.path.clone(), to: seen.path.clone() },
            Write::Imported { space, path: old.path.clone(), to: None },
            Write::Imported { space, path: seen.path.clone(), to },
        ];
        Self { right: RequiredRole { over: Some(old.memory), ..right }, writes }
    }
}

fn now_known(seen: &SeenFile, file: &Imported, old: &ImportedFile) -> ImportedFile {
    ImportedFile {
        path: seen.path.clone(),
        stamp: file.stamp,
        digest: file.digest,
        settled: file.settled,
        memory: old.memory,
        status: old.status,
    }
}

/// A file to be saved.
struct WaitingFile {
    path: String,
    document: ExaminedDocument,
    file: Imported,
}

impl WaitingFile {
    fn order(&self) -> SaveOptions {
        let ExaminedDocument { request, note, described, .. } = &self.document;
        let note = note.clone();
        SaveOptions {
            imported: Some(self.file),
            described: *described,
            later: true,
            note,
            ..SaveOptions::of(request.clone())
        }
    }

    fn settle(self, ports: &Ports, saved: Result<Receipt, Error>) -> Result<TakenFile, Error> {
        let Self { path, document, .. } = self;
        match push::settle(ports, saved, document.kept) {
            Ok(receipt) => {
                let warnings = receipt.warnings.iter().map(ToString::to_string).collect();
                Ok(TakenFile { path, became: became(&receipt), warnings })
            }
            Err(error) => skipped(path, error),
        }
    }
}

/// The expected outcome for a file.
enum ExpectedOutcome<'a> {
    Same(&'a ImportedFile),
    /// The file moved from the path of this vanished file.
    Moved(ImportedFile),
    Changed,
    New,
}

impl ImportPlan {
    /// Returns the recorded files that vanished and whose memories are active.
    pub fn vanished(&self) -> impl ExactSizeIterator<Item = &ImportedFile> {
        self.vanished.values()
    }

    fn predict(&mut self, path: &str, digest: &[u8; 32]) -> ExpectedOutcome<'_> {
        match self.known.get(path) {
            // A memory archived because its file vanished becomes active again with the file. A memory archived by hand
            // stays archived.
            Some(old) if old.digest == *digest && old.stamp != FileStamp::GONE => ExpectedOutcome::Same(old),
            Some(_) => ExpectedOutcome::Changed,
            None => {
                let from = self.said.get_mut(digest).and_then(Vec::pop);
                let old = from.and_then(|from| {
                    self.vanished.remove(&from).or_else(|| self.elsewhere.get(&from).cloned())
                });
                old.map_or(ExpectedOutcome::New, ExpectedOutcome::Moved)
            }
        }
    }

    /// Marks a file as vanished again after its expected move did not happen.
    fn has_not_moved(&mut self, old: ImportedFile) {
        if !self.elsewhere.contains_key(&old.path) {
            self.vanished.insert(old.path.clone(), old);
        }
    }
}

/// Returns the outcome that an import of these files would have. Decides on all files together, as the import does, so
/// that the prediction is also correct for files that exchange their contents. Writes nothing.
pub(crate) fn predict(
    ports: &Ports,
    caller: &Caller,
    plan: &mut ImportPlan,
    files: Vec<ReadFile>,
) -> Result<Vec<TakenFile>, Error> {
    let now = ports.clock.now();
    let (mut taken, mut waiting) = (Vec::new(), Vec::new());
    let mut digests: HashMap<String, [u8; 32]> = HashMap::new();
    let order: HashMap<String, usize> =
        files.iter().enumerate().map(|(at, file)| (file.seen.path.clone(), at)).collect();
    for ReadFile { seen: SeenFile { path, stamp }, bytes, about } in files {
        let digest = Sha256::digest(&bytes).into();
        match plan.predict(&path, &digest) {
            ExpectedOutcome::Same(old) => {
                let memory = old.memory;
                plan.same.push(memory);
                taken.push(taken_as(path, FileImportOutcome::Unchanged));
                continue;
            }
            ExpectedOutcome::Moved(old) => {
                plan.foreseen_at.insert(path.clone(), old.memory);
                taken.push(taken_as(path, FileImportOutcome::Moved { from: old.path }));
                continue;
            }
            ExpectedOutcome::Changed | ExpectedOutcome::New => {}
        }
        if let Err(why) = refuse_secret(&bytes) {
            taken.push(taken_as(path, why));
            continue;
        }
        digests.insert(path.clone(), digest);
        let about = SaveRequest { source_path: Some(path.clone()), ..about };
        let file = Imported { stamp, digest, settled: stamp.is_settled(now) };
        match push::predict(ports, Document { name: Some(path.clone()), bytes, about }) {
            Ok(document) => waiting.push(WaitingFile { path, document, file }),
            Err(error) => taken.push(skipped(path, error)?),
        }
    }
    let mut placed = HashMap::new();
    let predict = |orders: Vec<SaveOptions>| {
        let paths: Vec<_> = orders.iter().map(|order| order.request.source_path.clone()).collect();
        let receipts = preview_saves(ports, caller, orders)?;
        let ids = receipts.iter().map(|receipt| receipt.memory.id);
        placed.extend(paths.into_iter().zip(ids).filter_map(|(path, id)| Some((path?, id))));
        Ok(receipts)
    };
    save_all(ports, predict, waiting, &mut taken)?;
    plan.foreseen_at.extend(placed);
    for file in &mut taken {
        let before = digests.get(&file.path).is_some_and(|digest| plan.predicted.contains(digest));
        if file.became == FileImportOutcome::Created && before {
            file.became = FileImportOutcome::Known;
        }
    }
    plan.predicted.extend(digests.into_values());
    taken.sort_by_key(|file| order.get(&file.path).copied());
    Ok(taken)
}

/// Returns the receipts that these saves would get in one transaction. Writes and embeds nothing.
fn preview_saves(ports: &Ports, caller: &Caller, orders: Vec<SaveOptions>) -> Result<Vec<Receipt>, Error> {
    let ((space, right), drafts) = save::read_all(ports, caller, orders)?;
    let mut act = SaveBatch::new(ports, caller, &space, right, ports.clock.now());
    for (index, draft) in drafts.iter().enumerate() {
        act.add(draft, &[]).map_err(|error| match error {
            Error::Invalid(source) => Invalid::InBatch { index, source: Box::new(source) }.into(),
            error => error,
        })?;
    }
    Ok(act.predicted())
}

/// Counts the unchanged files whose memory lacks one of these labels or has another boundary.
pub(crate) fn differing(
    ports: &Ports,
    caller: &Caller,
    plan: &ImportPlan,
    tags: &[String],
    boundary: Option<Boundary>,
) -> Result<usize, Error> {
    let mut differing = 0;
    for ids in plan.same.chunks(MEMORIES) {
        let memories = ports.store.memories(&caller.viewer, ids)?;
        let differs = |memory: &&Memory| {
            let fields = &memory.fields;
            boundary.is_some_and(|boundary| boundary != fields.boundary)
                || tags.iter().any(|tag| !fields.text.tags.iter().any(|has| has == tag.trim()))
        };
        differing += memories.iter().filter(differs).count();
    }
    Ok(differing)
}

/// Refuses a file whose beginning is that of a private key, whatever its name is.
fn refuse_secret(bytes: &[u8]) -> Result<(), FileImportOutcome> {
    let first = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    if first.starts_with(b"-----BEGIN ") && first.trim_ascii_end().ends_with(b"PRIVATE KEY-----") {
        return Err(FileImportOutcome::Skipped { why: "it is a private key".to_owned() });
    }
    Ok(())
}

/// Writes the records of files in one transaction or, if a record conflicts, one by one. Returns for each record
/// whether it was written. A record that has been changed since is not written.
fn settle_known<T>(
    ports: &Ports,
    caller: &Caller,
    known: Vec<(KnownFile, T)>,
) -> Result<Vec<(T, bool)>, Error> {
    let now = ports.clock.now();
    let apply = |rights: Vec<RequiredRole>, writes: Vec<Write>| match ports
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
    known.into_iter().map(|(KnownFile { right, writes }, of)| Ok((of, apply(vec![right], writes)?))).collect()
}

/// Saves documents in one transaction, without the refused documents. If a document conflicts, saves them one by one.
fn save_all(
    ports: &Ports,
    mut save: impl FnMut(Vec<SaveOptions>) -> Result<Vec<Receipt>, Error>,
    mut waiting: Vec<WaitingFile>,
    taken: &mut Vec<TakenFile>,
) -> Result<(), Error> {
    while !waiting.is_empty() {
        match save(waiting.iter().map(WaitingFile::order).collect()) {
            Ok(receipts) => {
                for (one, receipt) in std::mem::take(&mut waiting).into_iter().zip(receipts) {
                    taken.push(one.settle(ports, Ok(receipt))?);
                }
            }
            Err(Error::Invalid(Invalid::InBatch { index, source })) if index < waiting.len() => {
                let refused = Err(Error::Invalid(*source));
                taken.push(waiting.remove(index).settle(ports, refused)?);
            }
            Err(error) if is_about_one(&error) => {
                for one in std::mem::take(&mut waiting) {
                    let saved = save::only(save(vec![one.order()]));
                    taken.push(one.settle(ports, saved)?);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn became(receipt: &Receipt) -> FileImportOutcome {
    match receipt.outcome {
        _ if receipt.revived => FileImportOutcome::Revived,
        SaveOutcome::Created => FileImportOutcome::Created,
        SaveOutcome::Updated => FileImportOutcome::Updated,
        SaveOutcome::Unchanged => FileImportOutcome::Unchanged,
        SaveOutcome::Duplicate => FileImportOutcome::Known,
    }
}

/// Returns true if an error concerns only one file and not also the files after it.
fn is_about_one(error: &Error) -> bool {
    matches!(error.class(), Class::Caller | Class::Conflict)
}

fn skipped(path: String, error: Error) -> Result<TakenFile, Error> {
    if is_about_one(&error) {
        Ok(taken_as(path, FileImportOutcome::Skipped { why: error.to_string() }))
    } else {
        Err(error)
    }
}

/// Archives the memories of files that vanished, and returns the ids of the archived memories. First records that each
/// memory was archived because its file vanished, so that the memory becomes active again if the file returns. A memory
/// with another source, a second file or a save without a file, only loses the path.
pub(crate) fn prune(ports: &Ports, caller: &Caller, plan: &ImportPlan) -> Result<HashSet<MemoryId>, Error> {
    let (space, right) = access::workplace(ports, caller)?;
    let mut archived = HashSet::new();
    for file in plan.vanished() {
        if drop_path(ports, caller, (space.id, right), file)? {
            continue;
        }
        let to = Some(ImportedFile { stamp: FileStamp::GONE, settled: false, ..file.clone() });
        let gone = Write::Imported { space: space.id, path: file.path.clone(), to };
        let over = RequiredRole { over: Some(file.memory), ..right };
        match ports.store.apply(&access::changes(caller, ports.clock.now(), vec![over], vec![gone])) {
            Err(StoreError::Conflict(_)) => continue,
            applied => applied?,
        };
        match status::archive(ports, caller, file.memory.into(), Some(sources::BY_IMPORT)) {
            Ok(_) => drop(archived.insert(file.memory)),
            Err(Error::NoMemory { .. } | Error::Forgotten { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(archived)
}

/// Returns the memories that [`prune`] would archive after the predicted import. Writes nothing.
pub(crate) fn foresee_prune(
    ports: &Ports,
    caller: &Caller,
    plan: &ImportPlan,
) -> Result<HashSet<MemoryId>, Error> {
    let vanished: HashSet<MemoryId> = plan.vanished().map(|file| file.memory).collect();
    let vanished: Vec<MemoryId> = vanished.into_iter().collect();
    let mut sources: HashMap<MemoryId, Sources> = HashMap::new();
    for ids in vanished.chunks(MEMORIES) {
        let memories = ports.store.memories(&caller.viewer, ids)?;
        sources.extend(memories.iter().map(|memory| (memory.id, memory.provenance.sources())));
    }
    for (id, of) in &mut sources {
        of.paths.retain(|path| plan.foreseen_at.get(path).is_none_or(|at| at == id));
    }
    for (path, at) in &plan.foreseen_at {
        if let Some(of) = sources.get_mut(at) {
            *of = of.clone().with(Some(path));
        }
    }
    let mut archived = HashSet::new();
    for file in plan.vanished() {
        let Some(from) = sources.get_mut(&file.memory) else { continue };
        match left_without(from, &file.path) {
            Some(left) => *from = left,
            None => drop(archived.insert(file.memory)),
        }
    }
    Ok(archived)
}

/// Returns the sources of a memory without this path; `None` if the path is not one of the sources or is the only
/// source.
fn left_without(sources: &Sources, path: &str) -> Option<Sources> {
    sources.clone().without(path).filter(|left| left != sources)
}

/// Removes the path of a vanished file from its memory if the memory has other sources. Returns true if the memory has
/// other sources.
fn drop_path(
    ports: &Ports,
    caller: &Caller,
    (space, right): (SpaceId, RequiredRole),
    file: &ImportedFile,
) -> Result<bool, Error> {
    let found = ports.store.memories(&caller.viewer, &[file.memory])?;
    let Some(memory) = found.first() else { return Ok(false) };
    let from = memory.provenance.sources();
    let Some(to) = left_without(&from, &file.path) else { return Ok(false) };
    let now = ports.clock.now();
    let mut audit = SourceChange::PathRemoved(file.path.clone(), None).audit(caller, now, memory);
    audit.reason = Some(sources::BY_IMPORT.to_owned());
    let over = RequiredRole { over: Some(file.memory), ..right };
    let writes = vec![
        Write::SetSources { id: file.memory, from, to },
        Write::Audit(audit),
        Write::Imported { space, path: file.path.clone(), to: None },
    ];
    match ports.store.apply(&access::changes(caller, now, vec![over], writes)) {
        // Another process was faster; the next import checks again.
        Err(StoreError::Conflict(_)) => Ok(true),
        applied => applied.map(|_| true).map_err(Error::from),
    }
}
