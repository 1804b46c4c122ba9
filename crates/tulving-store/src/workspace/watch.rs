//! Watches the folders that memories are made of, with inotify on Linux.
//!
//! A folder is watched before it is read, so that later additions are noticed. Any change of the folders themselves
//! restarts all watches. No folder is watched through a link, or on a file system that other machines can change
//! unnoticed. If a file has a second name (a hard link) in an unwatched folder or in the folder of another space,
//! writes through that name are not noticed.

use std::collections::{HashMap, HashSet};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, fstatfs, openat, readlinkat, statat};
use rustix::io::Errno;
use tulving_core::model::file::Folder;

use super::change_counter::CONTENT;

/// Maximum number of watched folders.
const MOST_FOLDERS: usize = 4_096;
/// Maximum depth that is searched for content. It is larger than the depth to which files are listed.
const DEPTH: usize = 24;
/// The `statfs(2)` numbers of local file systems: ext, btrfs, xfs, tmpfs, ramfs, f2fs, zfs, bcachefs, overlay, vfat,
/// exfat, ntfs3, jfs, nilfs, reiserfs. On other file systems, changes by another machine are not reported.
const LOCAL: [u64; 15] = [
    0xef53,
    0x9123_683e,
    0x5846_5342,
    0x0102_1994,
    0x8584_58f6,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
    0x794c_7630,
    0x4d44,
    0x2011_bab0,
    0x7366_746e,
    0x3153_464a,
    0x3434,
    0x5265_4973,
];

/// The kind of a watched folder.
#[derive(Debug)]
enum WatchedFolder {
    /// The workspace, or the folder of a team or of a space. Only entries with these names matter.
    Above(&'static [&'static str]),
    /// The folder `spaces`, `groups` or `teams`. Every folder in it matters.
    Between,
    /// A folder with content of a space. Every entry in the folder matters to that space.
    Content(WatchedPath),
}

/// A path in the folder of a space.
#[derive(Clone, Debug)]
struct WatchedPath {
    folder: Folder,
    path: PathBuf,
}

impl WatchedPath {
    fn below(&self, name: &str) -> Self {
        Self { folder: self.folder.clone(), path: self.path.join(name) }
    }
}

/// The changes since the last check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChangedFolders {
    /// Files were changed in the folders of these spaces.
    Of(HashSet<Folder>),
    /// Unknown changes: the folders differ from the watched ones.
    Lost,
}

/// The meaning of an event.
enum WatchEvent<'a> {
    Nothing,
    /// A file of the folder was changed.
    Changed(&'a Folder),
    /// The folders have changed.
    Lost,
}

/// A folder cannot be watched.
#[derive(Debug)]
pub(super) struct WatchError;

/// The watched folders of a workspace.
pub(super) struct WorkspaceWatcher {
    events: OwnedFd,
    root: (u64, u64),
    places: HashMap<i32, WatchedFolder>,
    /// The spaces with links that may lead to unwatched files.
    links: HashSet<Folder>,
}

impl WorkspaceWatcher {
    /// Watches a workspace; `None` if the workspace does not exist.
    pub(super) fn begin(root: &Path) -> Result<Option<Self>, WatchError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = match openat(CWD, root, flags, Mode::empty()) {
            Ok(top) => top,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(_) => return Err(WatchError),
        };
        let found = fstat(&top).map_err(|_| WatchError)?;
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|_| WatchError)?;
        let mut watch = Self {
            events,
            root: (found.st_dev, found.st_ino),
            places: HashMap::new(),
            links: HashSet::new(),
        };
        watch.add(&top, WatchedFolder::Above(&["memory", "conversations", "groups", "spaces", "teams"]))?;
        if let Some(folder) = Folder::parse("") {
            watch.content_of(&top, &WatchedPath { folder, path: root.to_owned() })?;
        }
        watch.spaces_of(&top, root, "")?;
        if let Some(teams) = watch.entered(&top, "teams", WatchedFolder::Between)? {
            for team in folders(&teams)? {
                if let Some(spaces) =
                    watch.entered(&teams, &team, WatchedFolder::Above(&["groups", "spaces"]))?
                {
                    watch.spaces_of(&spaces, root, &format!("teams/{team}/"))?;
                }
            }
        }
        Ok(Some(watch))
    }

    /// Watches the folders of the spaces of a team. `of_team` is the path below which the workspace contains them.
    fn spaces_of(&mut self, above: &OwnedFd, root: &Path, of_team: &str) -> Result<(), WatchError> {
        for among in ["groups", "spaces"] {
            let Some(between) = self.entered(above, among, WatchedFolder::Between)? else {
                continue;
            };
            for name in folders(&between)? {
                let Some(folder) = Folder::parse(&format!("{of_team}{among}/{name}")) else {
                    continue;
                };
                let path = root.join(folder.as_str());
                let inside = WatchedPath { folder, path };
                if inside.folder.is_of_group() {
                    self.content(&between, &name, &inside, 0)?;
                } else if let Some(space) = self.entered(&between, &name, WatchedFolder::Above(&CONTENT))? {
                    self.content_of(&space, &inside)?;
                }
            }
        }
        Ok(())
    }

    /// Returns true if every change in the folder of a space is noticed.
    pub(super) fn is_exact(&self, folder: &Folder) -> bool {
        !self.links.contains(folder)
    }

    /// Returns the changes since the last check.
    pub(super) fn news(&mut self, root: &Path) -> ChangedFolders {
        let same = rustix::fs::stat(root).is_ok_and(|found| (found.st_dev, found.st_ino) == self.root);
        if !same {
            return ChangedFolders::Lost;
        }
        let mut space = [MaybeUninit::uninit(); 8 * 1024];
        let mut events = Reader::new(&self.events, &mut space);
        let (mut changed, mut lost) = (HashSet::new(), false);
        // All events are read, because otherwise the rest would be reported as new changes later.
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::WOULDBLOCK) => break,
                Err(Errno::INTR) => continue,
                Err(_) => return ChangedFolders::Lost,
            };
            let name = event.file_name().map(std::ffi::CStr::to_bytes);
            // An event without a known folder means that there were too many events.
            let place = self.places.get(&event.wd());
            match place.map_or(WatchEvent::Lost, |place| place.meaning(event.events(), name)) {
                WatchEvent::Changed(folder) if !changed.contains(folder) => {
                    changed.insert(folder.clone());
                }
                WatchEvent::Nothing | WatchEvent::Changed(_) => {}
                WatchEvent::Lost => lost = true,
            }
        }
        // A changed folder with links may have lost one of them, so the folders must be watched again.
        if lost || !changed.is_disjoint(&self.links) {
            ChangedFolders::Lost
        } else {
            ChangedFolders::Of(changed)
        }
    }

    /// Watches the folders that memories are made of in the folder of a space.
    fn content_of(&mut self, space: &OwnedFd, inside: &WatchedPath) -> Result<(), WatchError> {
        CONTENT.iter().try_for_each(|name| self.content(space, name, &inside.below(name), 0))
    }

    /// Watches a folder and its subfolders.
    fn content(
        &mut self,
        above: &OwnedFd,
        name: &str,
        inside: &WatchedPath,
        depth: usize,
    ) -> Result<(), WatchError> {
        let Some(folder) = self.entered(above, name, WatchedFolder::Content(inside.clone()))? else {
            return Ok(());
        };
        if depth >= DEPTH {
            return Err(WatchError);
        }
        let mut entries = Dir::read_from(&folder).map_err(|_| WatchError)?;
        while let Some(entry) = entries.read() {
            let entry = entry.map_err(|_| WatchError)?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            let sort = match entry.file_type() {
                FileType::Unknown => sort(&folder, name),
                known => known,
            };
            match sort {
                FileType::Directory => self.content(&folder, name, &inside.below(name), depth + 1)?,
                FileType::Symlink => self.link(&folder, name, &inside.folder),
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens and watches a folder; `None` if the folder does not exist or cannot be read. Its parent folder reports a
    /// later change.
    fn entered(
        &mut self,
        above: &OwnedFd,
        name: &str,
        place: WatchedFolder,
    ) -> Result<Option<OwnedFd>, WatchError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(above, name, flags, Mode::empty()) {
            Ok(folder) => {
                self.add(&folder, place)?;
                Ok(Some(folder))
            }
            Err(Errno::NOTDIR | Errno::LOOP) => {
                // The folder of a space itself is never opened through a link.
                if let WatchedFolder::Content(inside) = &place
                    && sort(above, name) == FileType::Symlink
                {
                    self.link(above, name, &inside.folder);
                }
                Ok(None)
            }
            Err(Errno::NOENT | Errno::ACCESS) => Ok(None),
            Err(_) => Err(WatchError),
        }
    }

    /// Records a link in the folder of a space, unless it leads out.
    fn link(&mut self, above: &OwnedFd, name: &str, of: &Folder) {
        if may_stay_inside(above, name) {
            self.links.insert(of.clone());
        }
    }

    fn add(&mut self, folder: &OwnedFd, place: WatchedFolder) -> Result<(), WatchError> {
        let system = fstatfs(folder).map_err(|_| WatchError)?;
        #[allow(
            clippy::cast_sign_loss,
            clippy::unnecessary_cast,
            reason = "a magic number, as wide as it may be"
        )]
        let sort = u64::from(system.f_type as u32);
        if self.places.len() >= MOST_FOLDERS || !LOCAL.contains(&sort) {
            return Err(WatchError);
        }
        let names = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        let flags = match place {
            WatchedFolder::Content(_) => {
                names | WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB
            }
            WatchedFolder::Above(_) | WatchedFolder::Between => names | WatchFlags::ATTRIB,
        };
        // This path leads to the open folder, even if its name now refers to something else.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let watch = inotify::add_watch(&self.events, path, flags).map_err(|_| WatchError)?;
        match self.places.insert(watch, place) {
            None => Ok(()),
            // The folder is mounted twice, and events at the two locations could not be distinguished.
            Some(_) => Err(WatchError),
        }
    }
}

impl WatchedFolder {
    /// Returns the meaning of an event in this folder.
    fn meaning(&self, event: ReadFlags, name: Option<&[u8]>) -> WatchEvent<'_> {
        let arrived = event.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        let is_folder = event.contains(ReadFlags::ISDIR);
        let Some(name) = name else {
            // The event is about the folder itself: it was moved, removed, unmounted, or got other permissions.
            return WatchEvent::Lost;
        };
        match self {
            // Hidden files are ignored, including Tulving's own drafts.
            _ if name.starts_with(b".") => WatchEvent::Nothing,
            Self::Above(names) if !names.iter().any(|known| known.as_bytes() == name) => WatchEvent::Nothing,
            Self::Above(_) | Self::Between => WatchEvent::Lost,
            Self::Content(_) if is_folder => WatchEvent::Lost,
            Self::Content(inside) if arrived && is_link(&inside.path, name) => WatchEvent::Lost,
            Self::Content(inside) => WatchEvent::Changed(&inside.folder),
        }
    }
}

fn is_link(folder: &Path, name: &[u8]) -> bool {
    let path = folder.join(std::os::unix::ffi::OsStrExt::from_bytes(name) as &std::ffi::OsStr);
    rustix::fs::lstat(path).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// Returns true if a link may lead to a path inside the folder. Links with an absolute path are always refused.
fn may_stay_inside(folder: &OwnedFd, name: &str) -> bool {
    readlinkat(folder, name, Vec::new()).map_or(true, |target| !target.to_bytes().starts_with(b"/"))
}

fn sort(folder: &OwnedFd, name: &str) -> FileType {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileType::Unknown, |found| FileType::from_raw_mode(found.st_mode))
}

/// Returns the names of the subfolders of a folder.
fn folders(folder: &OwnedFd) -> Result<Vec<String>, WatchError> {
    let mut found = Vec::new();
    let mut entries = Dir::read_from(folder).map_err(|_| WatchError)?;
    while let Some(entry) = entries.read() {
        let entry = entry.map_err(|_| WatchError)?;
        let known = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
        match entry.file_name().to_str() {
            Ok(name) if known && !name.starts_with('.') => found.push(name.to_owned()),
            _ => {}
        }
    }
    Ok(found)
}
