//! The files that people can read, on disk.
//!
//! [`Workspace`] implements the [`Files`] port below a folder, which may be an agent's own folder. Every path is
//! resolved below the folder of its space, through open folders ([`folder_access`]). [`append`] and [`replace`] write, both
//! with a [`lock`] on the containing folder. [`notes`] in the home record unfinished work. If a process dies,
//! [`append_recovery`] and [`pending_file`] complete that work. Nothing is read or written before the first call.

mod append;
mod append_recovery;
mod change_counter;
mod draft;
mod errors;
mod folder_access;
mod list;
mod lock;
mod notes;
mod pending_file;
mod previous;
mod read;
mod replace;
#[cfg(target_os = "linux")]
mod watch;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tulving_core::model::error::FileError;
use tulving_core::model::file::{
    AppendResult, FileContent, FileList, FilePath, FileStamp, Folder, PendingFile, PreviousFile,
};
use tulving_core::model::id::MemoryId;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{Files, From as Basis};

use self::change_counter::WorkspaceChangeCounter;
use self::errors::{WorkspaceFileError, or_none};
use self::folder_access::{MissingFolderPolicy, SpaceFolder};
use self::notes::RecoveryNote;
use crate::home::Home;
use crate::pending;

/// Maximum number of listings that are cached until a file changes.
const LISTINGS: usize = 64;

/// The files of a workspace, on the disk.
pub struct Workspace {
    home: Home,
    root: PathBuf,
    change_counter: WorkspaceChangeCounter,
    listings: Mutex<HashMap<ListingKey, CachedListing>>,
    /// The pending files of this process. The locks on their notes show other processes that this process is alive.
    pledged: Mutex<HashMap<MemoryId, RecoveryNote>>,
}

/// The key of a cached listing: the folder, the path below it, and the limit.
type ListingKey = (Folder, String, usize);

/// A cached listing, and the change counter at the time it was made.
struct CachedListing {
    change_counter: u64,
    found: FileList,
}

impl Workspace {
    /// Creates the workspace for `folder`, which need not exist. Notes and previous texts are stored in `home`. This
    /// call reads and writes nothing.
    pub fn open(home: &Home, folder: &Path) -> Self {
        Self {
            home: home.clone(),
            root: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
            change_counter: WorkspaceChangeCounter::default(),
            listings: Mutex::default(),
            pledged: Mutex::default(),
        }
    }

    /// The folder of the workspace.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// Starts watching the files, so that [`change_counter`](Files::change_counter) can detect changes. Watching has a cost,
    /// which pays off only in a process that serves more than one call.
    pub fn watch(&self) {
        self.change_counter.begin();
    }

    /// Finishes the writes of dead processes.
    pub(crate) fn mend(&self) {
        pending::settle(&self.home);
        append_recovery::all(self);
    }

    /// Keeps restores from replacing the files until the returned lock is dropped. Every call that writes takes this
    /// lock.
    fn writing(&self) -> Result<Option<File>, WorkspaceFileError> {
        self.home.require_writable()?;
        pending::settle(&self.home);
        match pending::hold_off_restores(&self.home) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Err(WorkspaceFileError::Busy),
            held => Ok(held.unwrap_or_default()),
        }
    }

    /// Returns a function that converts an error of a file. `verb` names the operation that failed.
    fn described(&self, path: &FilePath, verb: &'static str) -> impl Fn(WorkspaceFileError) -> FileError {
        move |trouble| trouble.described(&path.to_string(), path.name(), self.home.path(), verb)
    }

    /// Returns a function that converts an error of a folder of a space, or of a path below that folder.
    fn told_of(
        &self,
        folder: &Folder,
        below: &str,
        verb: &'static str,
    ) -> impl Fn(WorkspaceFileError) -> FileError {
        let name = if below.is_empty() { folder.as_str().to_owned() } else { folder.join(below) };
        move |trouble| trouble.described(&name, &name, self.home.path(), verb)
    }

    /// Returns the folder with the previous texts of a file.
    fn previous_of(&self, path: &FilePath) -> PathBuf {
        self.home.previous().join(path.to_string())
    }

    fn pledged(&self) -> MutexGuard<'_, HashMap<MemoryId, RecoveryNote>> {
        self.pledged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listings(&self) -> MutexGuard<'_, HashMap<ListingKey, CachedListing>> {
        self.listings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Caches a listing until a file in its folder changes.
    fn keep(&self, asked: ListingKey, change_counter: u64, found: &FileList) {
        let mut listings = self.listings();
        listings.retain(|(folder, ..), kept| *folder != asked.0 || kept.change_counter == change_counter);
        if listings.len() >= LISTINGS {
            listings.retain(|(folder, ..), kept| {
                self.change_counter.last_known(folder) == Some(kept.change_counter)
            });
        }
        if listings.len() < LISTINGS {
            listings.insert(asked, CachedListing { change_counter, found: found.clone() });
        }
    }
}

/// Keeps processes of Tulving from writing to an open folder for as long as the folder stays open.
pub(crate) fn lock_folder(folder: impl AsFd) -> io::Result<()> {
    lock::lock(folder).map_err(|_| io::ErrorKind::ResourceBusy.into())
}

impl Files for Workspace {
    fn list(&self, folder: &Folder, below: &str, most: usize) -> Result<FileList, FileError> {
        let described = self.told_of(folder, below, "read");
        if !below.is_empty() && FilePath::new(folder, below).is_err() {
            return Err(described(WorkspaceFileError::Refused("no folder has this name")));
        }
        self.mend();
        let asked = (folder.clone(), below.to_owned(), most);
        let change_counter = self.change_counter(folder).filter(|_| change_counter::covers(folder, below));
        if let Some(kept) =
            self.listings().get(&asked).filter(|kept| Some(kept.change_counter) == change_counter)
        {
            return Ok(kept.found.clone());
        }
        let found = match list::list(self, folder, below, most) {
            Err(WorkspaceFileError::NoWorkspace) => {
                return Ok(FileList { absent: true, ..FileList::default() });
            }
            found => or_none(found).map_err(described)?.unwrap_or_default(),
        };
        if let Some(change_counter) = change_counter {
            self.keep(asked, change_counter, &found);
        }
        Ok(found)
    }

    fn stamp(&self, path: &FilePath) -> Result<Option<FileStamp>, FileError> {
        self.mend();
        or_none(read::stamp(self, path)).map_err(self.described(path, "read"))
    }

    fn read(&self, path: &FilePath, most: u64) -> Result<Option<FileContent>, FileError> {
        self.mend();
        or_none(read::read(self, path, most)).map_err(self.described(path, "read"))
    }

    fn append(&self, path: &FilePath, entry: &str) -> Result<AppendResult, FileError> {
        let described = self.described(path, "written");
        let _writing = self.writing().map_err(&described)?;
        append::append(self, path, entry).map_err(described)
    }

    fn create(&self, path: &FilePath, content: &[u8]) -> Result<(), FileError> {
        let described = self.described(path, "created");
        let _writing = self.writing().map_err(&described)?;
        replace::create(self, path, content).map_err(described)
    }

    fn replace(
        &self,
        path: &FilePath,
        content: &[u8],
        from: Basis,
        keep: Option<Timestamp>,
    ) -> Result<(), FileError> {
        let described = self.described(path, "written");
        let _writing = self.writing().map_err(&described)?;
        replace::replace(self, path, content, from, keep).map_err(described)
    }

    fn remove(&self, path: &FilePath, from: Basis) -> Result<bool, FileError> {
        let described = self.described(path, "removed");
        // If there is no workspace, the call must not create files, so it takes no lock.
        let _writing = self.root.exists().then(|| self.writing()).transpose().map_err(&described)?;
        let removed = or_none(replace::remove(self, path, from)).map_err(described)?;
        Ok(removed.is_some())
    }

    fn previous(&self, path: &FilePath) -> Result<Vec<PreviousFile>, FileError> {
        previous::list(&self.previous_of(path)).map_err(self.described(path, "read"))
    }

    fn previous_content(&self, path: &FilePath, id: &str) -> Result<Option<Vec<u8>>, FileError> {
        previous::content(&self.previous_of(path), id).map_err(self.described(path, "read"))
    }

    fn forget_previous(&self, path: &FilePath) -> Result<usize, FileError> {
        let described = self.described(path, "removed");
        let _writing = self.writing().map_err(&described)?;
        previous::forget(&self.previous_of(path)).map_err(described)
    }

    fn add_pending_file(&self, pending_file: &PendingFile, content: &[u8]) -> Result<(), FileError> {
        let described = self.described(&pending_file.path, "created");
        let _writing = self.writing().map_err(&described)?;
        pending_file::create(self, pending_file, content).map_err(described)
    }

    fn pending_files(&self) -> Result<Vec<PendingFile>, FileError> {
        Ok(pending_file::of_dead_processes(self))
    }

    fn settle(&self, pending_file: &PendingFile, saved: bool) -> Result<(), FileError> {
        let described = self.described(&pending_file.path, "removed");
        let _writing = self.writing().map_err(&described)?;
        pending_file::settle(self, pending_file, saved).map_err(described)
    }

    fn make_folder(&self, folder: &Folder) -> Result<(), FileError> {
        let described = self.told_of(folder, "", "created");
        let _writing = self.writing().map_err(&described)?;
        SpaceFolder::open(&self.root, folder, MissingFolderPolicy::Make).map(drop).map_err(described)
    }

    fn change_counter(&self, folder: &Folder) -> Option<u64> {
        self.change_counter.number(&self.root, folder)
    }
}
