//! Files in memory, for tests of decisions about files. They are watched, and fail on command.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use sha2::{Digest, Sha256};
use tulving_core::model::error::FileError;
use tulving_core::model::file::{
    AppendResult, FileContent, FileEntry, FileList, FilePath, FileStamp, Folder, PendingFile, PreviousFile,
};
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{Files, From};

/// Files in memory.
#[derive(Default)]
pub struct InMemoryFiles {
    kept: Mutex<InMemoryFilesState>,
    unwatched: AtomicBool,
    broken: AtomicBool,
    absent: AtomicBool,
}

#[derive(Default)]
struct InMemoryFilesState {
    files: BTreeMap<FilePath, (Vec<u8>, FileStamp)>,
    previous: BTreeMap<FilePath, Vec<(PreviousFile, Vec<u8>)>>,
    pending_files: Vec<PendingFile>,
    /// The pending files that a caller is about to settle.
    begun: Vec<PendingFile>,
    written: i64,
    /// Number of changes so far.
    changes: u64,
    /// The number of the last change in each folder.
    changed: BTreeMap<Folder, u64>,
    /// The number of the last change to all folders at once.
    all_changed: u64,
    /// Files that are listed and cannot be read.
    unreadable: BTreeSet<FilePath>,
    /// Entries that exist and are not usable files.
    refused: BTreeSet<FilePath>,
}

impl InMemoryFilesState {
    fn change(&mut self, folder: &Folder) {
        self.changes += 1;
        self.changed.insert(folder.clone(), self.changes);
    }

    fn change_all(&mut self) {
        self.changes += 1;
        self.all_changed = self.changes;
    }

    fn put(&mut self, path: &FilePath, bytes: Vec<u8>) {
        self.written += 1;
        self.unreadable.remove(path);
        let size = bytes.len() as u64;
        let stamp = FileStamp { size, modified: self.written * 1_000, inode: 1 };
        self.files.insert(path.clone(), (bytes, stamp));
    }
}

impl InMemoryFiles {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a file unnoticed, as an editor would.
    pub fn edit(&self, path: &FilePath, content: impl AsRef<[u8]>) {
        self.change(path, |kept| kept.put(path, content.as_ref().to_vec()));
    }

    /// Removes a file unnoticed.
    pub fn delete(&self, path: &FilePath) {
        self.change(path, |kept| drop(kept.files.remove(path)));
    }

    /// All files, by path, with their contents.
    pub fn all(&self) -> Vec<(String, String)> {
        let kept = self.kept();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        kept.files.iter().map(|(path, (bytes, _))| (path.to_string(), said(bytes))).collect()
    }

    /// The content of a file.
    pub fn content(&self, path: &FilePath) -> Option<String> {
        let kept = self.kept();
        kept.files.get(path).map(|(bytes, _)| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Stops watching.
    pub fn stop_watching(&self) {
        self.unwatched.store(true, Ordering::Relaxed);
    }

    /// Makes all reads and writes fail, or work again.
    pub fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::Relaxed);
        self.kept().change_all();
    }

    /// Makes one file unreadable, though still listed, until it is edited.
    pub fn make_unreadable(&self, path: &FilePath) {
        self.change(path, |kept| kept.unreadable.insert(path.clone()));
    }

    /// Adds an entry that is refused, such as a link that leads out.
    pub fn make_refused(&self, path: &FilePath) {
        self.change(path, |kept| kept.refused.insert(path.clone()));
    }

    /// Makes the workspace disappear, or brings it back with all its files.
    pub fn set_absent(&self, absent: bool) {
        self.absent.store(absent, Ordering::Relaxed);
        self.kept().change_all();
    }

    /// Leaves a pending file behind, as a killed process does.
    pub fn leave(&self, pending_file: PendingFile) {
        let path = pending_file.path.clone();
        self.change(&path, |kept| kept.pending_files.push(pending_file));
    }

    /// Leaves all unsettled pending files behind, as if their processes had died.
    pub fn abandon(&self) {
        let mut kept = self.kept();
        let begun = std::mem::take(&mut kept.begun);
        kept.pending_files.extend(begun);
        kept.change_all();
    }

    /// The names of all files.
    pub fn names(&self) -> Vec<String> {
        self.kept().files.keys().map(ToString::to_string).collect()
    }

    fn kept(&self) -> MutexGuard<'_, InMemoryFilesState> {
        self.kept.lock().expect("nobody panicked")
    }

    fn change<T>(&self, path: &FilePath, change: impl FnOnce(&mut InMemoryFilesState) -> T) -> T {
        let mut kept = self.kept();
        kept.change(path.folder());
        change(&mut kept)
    }

    fn is_absent(&self) -> bool {
        self.absent.load(Ordering::Relaxed)
    }

    fn usable(&self, path: &str, verb: &'static str) -> Result<(), FileError> {
        match self.broken.load(Ordering::Relaxed) {
            true => Err(broken(path, verb)),
            false => Ok(()),
        }
    }
}

fn broken(path: &str, verb: &'static str) -> FileError {
    FileError::Unusable { path: path.into(), verb, why: "it is broken on command".to_owned() }
}

impl Files for InMemoryFiles {
    fn list(&self, folder: &Folder, below: &str, most: usize) -> Result<FileList, FileError> {
        self.usable(folder.as_str(), "read")?;
        if self.is_absent() {
            return Ok(FileList { absent: true, ..FileList::default() });
        }
        let kept = self.kept();
        let inside = |path: &&FilePath| {
            path.folder() == folder
                && (below.is_empty()
                    || path.name().strip_prefix(below).is_some_and(|rest| rest.starts_with('/')))
        };
        let mut files = kept.files.iter().filter(|(path, _)| inside(path));
        let listed: Vec<FileEntry> = files
            .by_ref()
            .take(most)
            .map(|(path, (_, stamp))| FileEntry { path: path.clone(), stamp: *stamp })
            .collect();
        let refused = kept.refused.iter().filter(inside);
        let refused = refused.map(|path| (path.to_string(), "the test refuses it".to_owned())).collect();
        Ok(FileList { files: listed, more: files.next().is_some(), refused, ..FileList::default() })
    }

    fn stamp(&self, path: &FilePath) -> Result<Option<FileStamp>, FileError> {
        self.usable(path.name(), "read")?;
        let kept = self.kept();
        Ok(kept.files.get(path).filter(|_| !self.is_absent()).map(|(_, stamp)| *stamp))
    }

    fn read(&self, path: &FilePath, most: u64) -> Result<Option<FileContent>, FileError> {
        self.usable(path.name(), "read")?;
        let kept = self.kept();
        match kept.files.get(path).filter(|_| !self.is_absent()) {
            None => Ok(None),
            Some(_) if kept.unreadable.contains(path) => Err(broken(path.name(), "read")),
            Some((_, stamp)) if stamp.size > most => {
                Err(FileError::TooLarge { path: path.to_string().into(), size: stamp.size, limit: most })
            }
            Some((bytes, stamp)) => Ok(Some(FileContent { bytes: bytes.clone(), stamp: *stamp })),
        }
    }

    fn append(&self, path: &FilePath, entry: &str) -> Result<AppendResult, FileError> {
        self.usable(path.name(), "written")?;
        self.change(path, |kept| {
            let old = kept.files.get(path).map(|(bytes, _)| bytes.clone());
            let created = old.is_none();
            let mut bytes = old.unwrap_or_default();
            if !bytes.is_empty() && !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            let start = bytes.len() as u64;
            bytes.extend_from_slice(entry.as_bytes());
            bytes.push(b'\n');
            kept.put(path, bytes);
            Ok(AppendResult { start, created })
        })
    }

    fn create(&self, path: &FilePath, content: &[u8]) -> Result<(), FileError> {
        self.usable(path.name(), "created")?;
        self.change(path, |kept| match kept.files.contains_key(path) {
            true => Err(FileError::Exists { name: path.name().to_owned() }),
            false => {
                kept.put(path, content.to_vec());
                Ok(())
            }
        })
    }

    fn replace(
        &self,
        path: &FilePath,
        content: &[u8],
        from: From,
        keep: Option<Timestamp>,
    ) -> Result<(), FileError> {
        self.usable(path.name(), "written")?;
        self.change(path, |kept| {
            let old = kept.files.get(path).map(|(bytes, _)| bytes.clone());
            require(path, from, old.as_deref())?;
            if let (Some(at), Some(old)) = (keep, old) {
                let id = at.to_string().replace(':', "-");
                let size = old.len() as u64;
                kept.previous
                    .entry(path.clone())
                    .or_default()
                    .insert(0, (PreviousFile { id, at, size }, old));
            }
            kept.put(path, content.to_vec());
            Ok(())
        })
    }

    fn remove(&self, path: &FilePath, from: From) -> Result<bool, FileError> {
        self.usable(path.name(), "removed")?;
        self.change(path, |kept| {
            let Some((old, _)) = kept.files.get(path) else { return Ok(false) };
            require(path, from, Some(old))?;
            Ok(kept.files.remove(path).is_some())
        })
    }

    fn previous(&self, path: &FilePath) -> Result<Vec<PreviousFile>, FileError> {
        let kept = self.kept();
        Ok(kept.previous.get(path).into_iter().flatten().map(|(previous, _)| previous.clone()).collect())
    }

    fn previous_content(&self, path: &FilePath, id: &str) -> Result<Option<Vec<u8>>, FileError> {
        let kept = self.kept();
        let mut all = kept.previous.get(path).into_iter().flatten();
        Ok(all.find(|(previous, _)| previous.id == id).map(|(_, bytes)| bytes.clone()))
    }

    fn forget_previous(&self, path: &FilePath) -> Result<usize, FileError> {
        self.usable(path.name(), "removed")?;
        let mut kept = self.kept();
        Ok(kept.previous.remove(path).map_or(0, |texts| texts.len()))
    }

    fn add_pending_file(&self, pending_file: &PendingFile, content: &[u8]) -> Result<(), FileError> {
        self.create(&pending_file.path, content)?;
        self.change(&pending_file.path, |kept| kept.begun.push(pending_file.clone()));
        Ok(())
    }

    fn pending_files(&self) -> Result<Vec<PendingFile>, FileError> {
        self.usable("", "read")?;
        Ok(self.kept().pending_files.clone())
    }

    fn settle(&self, pending_file: &PendingFile, saved: bool) -> Result<(), FileError> {
        self.change(&pending_file.path, |kept| {
            kept.pending_files.retain(|one| one != pending_file);
            kept.begun.retain(|one| one != pending_file);
            if !saved {
                kept.files.remove(&pending_file.path);
            }
        });
        Ok(())
    }

    fn make_folder(&self, _: &Folder) -> Result<(), FileError> {
        Ok(())
    }

    fn change_counter(&self, folder: &Folder) -> Option<u64> {
        let kept = self.kept();
        let number = kept.changed.get(folder).copied().unwrap_or(0).max(kept.all_changed);
        (!self.unwatched.load(Ordering::Relaxed)).then_some(number)
    }
}

/// Checks that a file is still in the state that the decision was based on.
fn require(path: &FilePath, from: From, old: Option<&[u8]>) -> Result<(), FileError> {
    let fits = match from {
        From::Any => true,
        From::Nothing => old.is_none(),
        From::Digest(digest) => old.is_some_and(|old| digest == *Sha256::digest(old)),
    };
    if fits { Ok(()) } else { Err(FileError::Changed { name: path.name().to_owned() }) }
}
