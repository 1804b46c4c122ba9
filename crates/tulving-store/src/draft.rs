//! Drafts: files that are written under a temporary name in their folder, and renamed when they are complete. Folders can
//! be drafts too.
//!
//! A draft may contain a copy of all data, so no draft may be left behind. A draft is locked while it is in use. If its
//! process was killed, the lock is free, and the next process that opens the home or writes into the folder removes the
//! draft.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::{TempDir, TempPath};
use tulving_core::model::error::StoreError;

use crate::files;

/// The prefix of the names of all drafts.
pub(crate) const PREFIX: &str = ".tulving-draft-";
/// Maximum number of attempts to create a draft. An attempt fails if a sweep removes the new draft as an abandoned one.
const ATTEMPTS: usize = 100;

/// A temporary file with mode 0600. The file is deleted when this value is dropped, unless the file was renamed to its
/// target.
pub struct DraftFile {
    // The fields are dropped in this order, so that the file stays locked until its name is removed.
    path: TempPath,
    file: File,
}

impl DraftFile {
    /// Creates an empty draft in the folder of `path`. Abandoned drafts in that folder are removed first.
    pub fn beside(path: &Path, suffix: &str) -> Result<Self, StoreError> {
        let folder = files::folder_of(path);
        Self::within(folder, suffix).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let why = format!("there is no folder {}", folder.display());
                StoreError::Unusable { path: path.to_owned(), verb: "written", why }
            }
            _ => files::unwritten(path, "written", &plain(error)),
        })
    }

    /// Creates an empty draft in a folder. Abandoned drafts in that folder are removed first.
    pub(crate) fn within(folder: &Path, suffix: &str) -> io::Result<Self> {
        begun(folder, || {
            let draft = tempfile::Builder::new().prefix(PREFIX).suffix(suffix).tempfile_in(folder)?;
            let (file, path) = draft.into_parts();
            keep_from_sweeps(&file, &path)?;
            Ok(Self { path, file })
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the content of the draft durable, including content that was written through other file handles.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Renames the draft to `path`, and replaces any file at `path`.
    pub fn replace(self, path: &Path) -> io::Result<()> {
        self.path.persist(path).map_err(|failed| failed.error)
    }

    /// Renames the draft to `path`, unless a file exists at `path`. On failure the draft is returned with the error.
    pub(crate) fn place(self, path: &Path) -> Result<(), (Self, io::Error)> {
        let file = self.file;
        self.path.persist_noclobber(path).map_err(|failed| (Self { path: failed.path, file }, failed.error))
    }

    /// Renames the draft to `path`, unless a file exists at `path`. The file stays locked until the returned handle is
    /// dropped.
    pub(crate) fn hold(self, path: &Path) -> io::Result<File> {
        let Self { path: draft, file } = self;
        draft.persist_noclobber(path).map_err(|failed| failed.error)?;
        Ok(file)
    }
}

impl Write for DraftFile {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.file.write(content)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Replaces or creates a file, with mode 0600.
///
/// A reader sees either the old content or the new content, and so does a reader after a crash. A symbolic link is
/// replaced by a file.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let failed = |error: io::Error| files::unwritten(path, "written", &error);
    let mut draft = DraftFile::beside(path, "")?;
    draft.write_all(content).map_err(failed)?;
    draft.sync().map_err(failed)?;
    draft.replace(path).map_err(failed)?;
    files::sync_folder(files::folder_of(path))
}

/// A temporary folder with mode 0700. The folder and its content are deleted when this value is dropped.
pub(crate) struct DraftFolder {
    // The fields are dropped in this order, so that the folder stays locked until its name is removed.
    folder: TempDir,
    _lock: File,
}

impl DraftFolder {
    /// Creates an empty draft folder in a folder. Abandoned drafts in that folder are removed first.
    pub(crate) fn within(folder: &Path) -> io::Result<Self> {
        begun(folder, || {
            let private = Permissions::from_mode(0o700);
            let draft = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(folder)?;
            let lock = File::open(draft.path())?;
            keep_from_sweeps(&lock, draft.path())?;
            Ok(Self { folder: draft, _lock: lock })
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Calls `make` again as long as sweeps remove the new draft as an abandoned one.
fn begun<T>(folder: &Path, mut make: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    sweep(folder);
    let mut made = Err(io::Error::from(io::ErrorKind::ResourceBusy));
    for _ in 0..ATTEMPTS {
        made = make();
        if !matches!(&made, Err(error) if error.kind() == io::ErrorKind::ResourceBusy) {
            break;
        }
    }
    made
}

/// Locks a new draft. Returns `ResourceBusy` if a sweep has locked or removed the draft first.
fn keep_from_sweeps(draft: &File, path: &Path) -> io::Result<()> {
    let swept = match draft.try_lock() {
        Err(TryLockError::WouldBlock) => true,
        // If the file system has no locks, sweeps remove nothing.
        Ok(()) | Err(TryLockError::Error(_)) => match path.metadata() {
            Ok(found) => found.ino() != draft.metadata()?.ino(),
            Err(_) => true,
        },
    };
    if swept { Err(io::ErrorKind::ResourceBusy.into()) } else { Ok(()) }
}

/// Removes the name of the draft from the error, because that name means nothing to a user.
fn plain(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((why, _)) => io::Error::new(error.kind(), why.to_owned()),
        None => error,
    }
}

/// Removes the abandoned drafts in a folder. A draft that cannot be removed stays.
pub(crate) fn sweep(folder: &Path) {
    each_left_behind(folder, |path| {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        drop(removed);
    });
}

/// Returns the abandoned drafts in a folder.
pub(crate) fn left_behind(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    each_left_behind(folder, |path| found.push(path.to_owned()));
    found
}

/// Calls `work` with each file or folder of every abandoned draft. A draft that still exists is locked during the
/// calls, so that nobody can use it.
fn each_left_behind(folder: &Path, mut work: impl FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut drafts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        if name.starts_with(PREFIX) {
            let draft = ["-journal", "-wal", "-shm"].iter().find_map(|suffix| name.strip_suffix(suffix));
            drafts.entry(draft.unwrap_or(&name).to_owned()).or_default().push(name);
        }
    }
    for (draft, mut names) in drafts {
        let Some(lock) = unused(&folder.join(draft)) else {
            continue;
        };
        // Removes SQLite's companion files before the draft itself: without the draft, nothing shows which draft they
        // belong to.
        names.sort_unstable_by(|one, other| other.cmp(one));
        for path in names.iter().map(|name| folder.join(name)) {
            if path.symlink_metadata().is_ok_and(|found| found.is_file() || found.is_dir()) {
                work(&path);
            }
        }
        drop(lock);
    }
}

/// Locks an unused draft and returns its lock. Returns `Some(None)` if only the companion files of the draft are left,
/// and `None` if the draft is in use or cannot be locked.
fn unused(draft: &Path) -> Option<Option<File>> {
    let writes = match draft.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(None),
        Ok(found) if found.is_file() => true,
        // A folder cannot be opened for writing.
        Ok(found) if found.is_dir() => false,
        _ => return None,
    };
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).expect("flags of the system are a C int");
    match File::options().read(true).write(writes).custom_flags(flags).open(draft) {
        Ok(file) => file.try_lock().is_ok().then_some(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_replaced_file_is_whole_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        replace(&path, b"one").expect("written");
        replace(&path, b"two").expect("replaced");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        assert_eq!(files::mode(&path), Some(0o600));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no draft is left");
    }

    #[test]
    fn a_draft_left_behind_by_a_killed_process_goes_with_the_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join(".tulving-draft-killed.db");
        fs::write(&left, "everything").expect("written");
        fs::write(files::beside(&left, "-journal"), "some of it").expect("written");
        fs::write(folder.path().join(".tulving-draft-gone.db-wal"), "some of it").expect("written");
        fs::write(folder.path().join("mine.db"), "mine").expect("written");
        assert_eq!(left_behind(folder.path()).len(), 3);
        let draft = DraftFile::beside(&folder.path().join("copy.db"), ".db").expect("begun");
        let name = draft.path().file_name().expect("a name").to_string_lossy().into_owned();
        assert_eq!(names(folder.path()), [name, "mine.db".to_owned()]);
    }

    #[test]
    fn a_draft_in_use_is_not_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("copy");
        let mut first = DraftFile::beside(&target, "").expect("begun");
        first.write_all(b"whole").expect("written");
        drop(DraftFile::beside(&target, "").expect("begun"));
        sweep(folder.path());
        assert_eq!(left_behind(folder.path()), Vec::<PathBuf>::new());
        first.replace(&target).expect("put in its place");
        assert_eq!(names(folder.path()), ["copy"]);
        assert_eq!(fs::read(&target).expect("there"), b"whole");
    }

    #[test]
    fn a_folder_left_behind_by_a_killed_process_goes_and_one_in_use_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join(".tulving-draft-killed");
        fs::create_dir_all(left.join("home")).expect("made");
        fs::write(left.join("home/tulving.db"), "everything").expect("written");
        assert_eq!(left_behind(folder.path()), [left]);
        let used = DraftFolder::within(folder.path()).expect("begun");
        assert_eq!(files::mode(used.path()), Some(0o700));
        let name = used.path().file_name().expect("a name").to_string_lossy().into_owned();
        assert_eq!(names(folder.path()), [name.as_str()]);
        sweep(folder.path());
        assert_eq!(names(folder.path()), [name.as_str()]);
        assert_eq!(left_behind(folder.path()), Vec::<PathBuf>::new());
        drop(used);
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn drafts_and_sweeps_at_once_do_not_lose_a_draft() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let folder = folder.path();
                threads.spawn(move || {
                    for n in 0..50 {
                        let target = folder.join(format!("{thread}-{n}"));
                        let draft = DraftFile::beside(&target, ".db").expect("begun");
                        assert!(draft.place(&target).is_ok(), "it was still there");
                    }
                });
            }
        });
        assert_eq!(names(folder.path()).len(), 200);
    }
}
