//! Lists the files of a folder and its subfolders.
//!
//! Only folders are opened; each file is examined once. The requested number of files limits the use of memory. Folders
//! are first walked under their own names, then through links that stay inside, and each folder at most once.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;
use tulving_core::model::file::{FileEntry, FileList, FilePath, FileStamp, Folder};

use super::errors::{WorkspaceFileError, escaped, printable};
use super::folder_access::{self, MissingFolderPolicy, SpaceFolder};
use super::{Workspace, draft};

/// Maximum depth of folders that are searched for files.
const DEPTH: usize = 16;
/// Maximum number of refused entries that the result names.
const NAMED: usize = 20;

/// Returns at most `most` files below `below` in the folder of a space, sorted by name.
pub(super) fn list(
    files: &Workspace,
    folder: &Folder,
    below: &str,
    most: usize,
) -> Result<FileList, WorkspaceFileError> {
    let space = SpaceFolder::open(&files.root, folder, MissingFolderPolicy::Leave)?;
    let top = space.folder(below, MissingFolderPolicy::Leave)?;
    let mut walk = ListingWalk {
        space: &space,
        folder,
        most,
        found: BinaryHeap::new(),
        more: false,
        refused: BTreeMap::new(),
        links: BTreeSet::new(),
        seen: HashSet::new(),
    };
    walk.enter(top, below, depth_of(below))?;
    while let Some(link) = walk.links.pop_first() {
        walk.enter_link(&link);
    }
    let found = walk.found.into_sorted_vec().into_iter();
    Ok(FileList {
        files: found.map(|ListedFile { path, stamp }| FileEntry { path, stamp }).collect(),
        more: walk.more,
        refused: walk.refused.into_iter().collect(),
        absent: false,
    })
}

/// A file that is among the first `most` files so far.
struct ListedFile {
    path: FilePath,
    stamp: FileStamp,
}

struct ListingWalk<'a> {
    space: &'a SpaceFolder,
    folder: &'a Folder,
    most: usize,
    /// The files so far. The last one by name is at the top of the heap.
    found: BinaryHeap<ListedFile>,
    more: bool,
    refused: BTreeMap<String, String>,
    /// Links to folders.
    links: BTreeSet<String>,
    /// The folders that were walked, as device and inode.
    seen: HashSet<(u64, u64)>,
}

impl ListingWalk<'_> {
    /// Walks an open folder. `here` is the path of the folder.
    fn enter(&mut self, folder: OwnedFd, here: &str, depth: usize) -> Result<(), WorkspaceFileError> {
        if depth > DEPTH {
            self.refuse(here, "it is too many folders deep");
            return Ok(());
        }
        if !self.seen.insert(identity(&fstat(&folder)?)) {
            return Ok(());
        }
        let mut entries = Dir::new(folder)?;
        let mut deeper = Vec::new();
        while let Some(entry) = entries.read() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if draft::is_draft(name) {
                draft::sweep(entries.fd()?, entry.file_name());
            }
            if name.starts_with(b".") {
                continue;
            }
            let Some(path) = self.named(here, name) else {
                continue;
            };
            match sort(&entries, &entry)? {
                Some(FileType::Directory) => deeper.push(path),
                Some(FileType::RegularFile) => {
                    self.take(path, || look(&entries, &entry))?;
                }
                Some(FileType::Symlink) => self.link(path)?,
                Some(_) => {
                    if let Some(why) = look(&entries, &entry)?.as_ref().and_then(folder_access::why_not) {
                        self.refuse(path.name(), why);
                    }
                }
                None => {}
            }
        }
        for path in deeper {
            self.descend(&entries, path.name(), depth)?;
        }
        Ok(())
    }

    /// Walks a subfolder of a folder that is being walked.
    fn descend(&mut self, above: &Dir, path: &str, depth: usize) -> Result<(), WorkspaceFileError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(above.fd()?, name, flags, Mode::empty()) {
            Ok(folder) => self.enter(folder, path, depth + 1),
            // The entry was a folder before, but has been removed or replaced in the meantime.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
            Err(error) => {
                self.refuse(path, &std::io::Error::from(error).to_string());
                Ok(())
            }
        }
    }

    /// Returns the path of an entry, unless its name is refused.
    fn named(&mut self, here: &str, name: &[u8]) -> Option<FilePath> {
        let Ok(text) = std::str::from_utf8(name) else {
            self.refuse(&joined(here, &escaped(name)), "its name is not text");
            return None;
        };
        let path = joined(here, text);
        match FilePath::new(self.folder, &path) {
            Ok(found) => Some(found),
            Err(_) => {
                self.refuse(&path, "its name cannot be used");
                None
            }
        }
    }

    /// Adds a file if it is among the first `most` files.
    fn take(
        &mut self,
        path: FilePath,
        look: impl FnOnce() -> Result<Option<Stat>, WorkspaceFileError>,
    ) -> Result<(), WorkspaceFileError> {
        let full = self.found.len() >= self.most;
        if full && self.found.peek().is_none_or(|last| path.name() > last.path.name()) {
            self.more = true;
            return Ok(());
        }
        let Some(found) = look()? else {
            return Ok(());
        };
        if let Some(why) = folder_access::why_not(&found) {
            self.refuse(path.name(), why);
            return Ok(());
        }
        if full {
            self.found.pop();
            self.more = true;
        }
        self.found.push(ListedFile { path, stamp: folder_access::stamp(&found) });
        Ok(())
    }

    /// Adds the target of a link, if the target is inside the folder.
    fn link(&mut self, path: FilePath) -> Result<(), WorkspaceFileError> {
        match self.space.stat(path.name()) {
            Ok(found) if folder_access::is(&found, FileType::Directory) => {
                self.links.insert(path.name().to_owned());
                Ok(())
            }
            Ok(found) => self.take(path, || Ok(Some(found))),
            Err(trouble) => {
                self.refuse_for(path.name(), trouble);
                Ok(())
            }
        }
    }

    fn enter_link(&mut self, path: &str) {
        let entered = self
            .space
            .folder(path, MissingFolderPolicy::Leave)
            .and_then(|folder| self.enter(folder, path, depth_of(path)));
        if let Err(trouble) = entered {
            self.refuse_for(path, trouble);
        }
    }

    fn refuse_for(&mut self, path: &str, trouble: WorkspaceFileError) {
        match trouble {
            WorkspaceFileError::Absent => self.refuse(path, "it is a symbolic link that leads nowhere"),
            WorkspaceFileError::Refused(why) => self.refuse(path, why),
            WorkspaceFileError::System(error) => self.refuse(path, &error.to_string()),
            _ => {}
        }
    }

    fn refuse(&mut self, path: &str, why: &str) {
        let path = printable(self.folder.join(path).as_ref()).to_string_lossy().into_owned();
        self.refused.insert(path, why.to_owned());
        if self.refused.len() > NAMED {
            self.refused.pop_last();
        }
    }
}

/// Returns the kind of an entry; `None` if it no longer exists.
fn sort(entries: &Dir, entry: &DirEntry) -> Result<Option<FileType>, WorkspaceFileError> {
    Ok(match entry.file_type() {
        // Some file systems do not return the kind in the listing.
        FileType::Unknown => look(entries, entry)?.map(|found| FileType::from_raw_mode(found.st_mode)),
        known => Some(known),
    })
}

/// Returns the state of an entry; `None` if it no longer exists.
fn look(entries: &Dir, entry: &DirEntry) -> Result<Option<Stat>, WorkspaceFileError> {
    match statat(entries.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn joined(here: &str, name: &str) -> String {
    if here.is_empty() { name.to_owned() } else { format!("{here}/{name}") }
}

fn depth_of(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.split('/').count() }
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev as u64, found.st_ino as u64)
}

impl Ord for ListedFile {
    fn cmp(&self, other: &Self) -> Ordering {
        self.path.name().cmp(other.path.name())
    }
}

impl PartialOrd for ListedFile {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ListedFile {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ListedFile {}
