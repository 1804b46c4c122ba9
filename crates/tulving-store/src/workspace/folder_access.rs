//! Opens files below the folder of a space, and never files outside it.
//!
//! All calls use open folders, so that a name that is replaced by a link between two calls cannot lead outside. On
//! Linux the system keeps a path inside its folder, and follows links that stay inside. On systems that cannot do this,
//! each part of a path is opened separately, and links are refused. The folder of a space is never opened through a
//! link. Only the workspace itself may be a link, because the user chose it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, fsync, mkdirat, openat, statat};
use rustix::io::Errno;
use tulving_core::model::error::StoreError;
use tulving_core::model::file::{FileStamp, Folder};

use super::errors::WorkspaceFileError;
use crate::home;

const A_LINK: &str = "it is a symbolic link";
#[cfg(target_os = "linux")]
const LEADS_OUT: &str = "it leads out of its folder";
#[cfg(target_os = "linux")]
const LEADS_NOWHERE: &str = "it is a symbolic link that leads nowhere";
#[cfg(target_os = "linux")]
const MOVED_ABOUT: &str = "a folder in its path is being moved";
/// Maximum number of attempts to resolve a path, if a folder in the path is renamed at the same time.
#[cfg(target_os = "linux")]
const ATTEMPTS: usize = 32;

/// The flags for opening a folder.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags for opening a file. With them, a pipe does not block, and a terminal does not take control of this
/// process.
const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The handling of missing folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFolderPolicy {
    Make,
    Leave,
}

/// The way in which a path is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathResolution {
    /// The system resolves the path, and follows links that stay inside.
    #[cfg(target_os = "linux")]
    Resolve,
    /// Each part of the path is opened separately, without links.
    Walk,
}

/// The open folder of a space.
pub(super) struct SpaceFolder {
    folder: OwnedFd,
    way: PathResolution,
}

/// An open folder of a space, and the name of a file in that folder. The name is not a link.
pub(super) struct FileLocation {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}

impl SpaceFolder {
    /// Opens the folder of a space below the workspace at `root`.
    pub(super) fn open(
        root: &Path,
        folder: &Folder,
        missing: MissingFolderPolicy,
    ) -> Result<Self, WorkspaceFileError> {
        let top = match openat(CWD, root, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if missing == MissingFolderPolicy::Make => {
                home::make_folder(root).map_err(unmade)?;
                openat(CWD, root, FOLDER, Mode::empty())
            }
            opened => opened,
        };
        let top = top.map_err(|error| match error {
            Errno::NOENT => WorkspaceFileError::NoWorkspace,
            error => WorkspaceFileError::Workspace(std::io::Error::from(error).to_string()),
        })?;
        let walking = Self { folder: top, way: PathResolution::Walk };
        let found = walking.folder(folder.as_str(), missing)?;
        Ok(Self::at(found))
    }

    fn at(folder: OwnedFd) -> Self {
        #[cfg(target_os = "linux")]
        let way = PathResolution::Resolve;
        #[cfg(not(target_os = "linux"))]
        let way = PathResolution::Walk;
        Self { folder, way }
    }

    /// Opens a folder below this one. An empty path returns this folder itself.
    pub(super) fn folder(
        &self,
        below: &str,
        missing: MissingFolderPolicy,
    ) -> Result<OwnedFd, WorkspaceFileError> {
        match self.opened(below, FOLDER) {
            Err(trouble) if trouble.is_absent() && missing == MissingFolderPolicy::Make => self.made(below),
            opened => opened,
        }
    }

    /// Creates a folder below this one and its missing parents, durably. Existing folders do not change.
    fn made(&self, below: &str) -> Result<OwnedFd, WorkspaceFileError> {
        let mut above = self.opened("", FOLDER)?;
        let ends = below.match_indices('/').map(|(at, _)| at).chain([below.len()]);
        for end in ends {
            let path = &below[..end];
            let here = match self.opened(path, FOLDER) {
                Err(trouble) if trouble.is_absent() => {
                    let name = path.rsplit('/').next().unwrap_or(path);
                    match mkdirat(&above, name, Mode::RWXU) {
                        Ok(()) => sync_folder(&above)?,
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    // A link without a target exists, but cannot be opened.
                    self.opened(path, FOLDER).map_err(|trouble| match trouble {
                        WorkspaceFileError::Absent => {
                            WorkspaceFileError::Refused("a part of its path is a link that leads nowhere")
                        }
                        other => other,
                    })?
                }
                opened => opened?,
            };
            above = here;
        }
        Ok(above)
    }

    /// Opens a regular file for reading. Other kinds of files are refused before they are opened, unless one replaces
    /// the file at that moment.
    pub(super) fn file(&self, name: &str) -> Result<File, WorkspaceFileError> {
        if let Some(why) = why_not(&self.stat(name)?) {
            return Err(WorkspaceFileError::Refused(why));
        }
        regular(self.opened(name, FILE | OFlags::RDONLY)?)
    }

    /// Returns the state of the file with this name, without opening it.
    pub(super) fn stat(&self, name: &str) -> Result<Stat, WorkspaceFileError> {
        #[cfg(target_os = "linux")]
        {
            Ok(fstat(self.opened(name, OFlags::PATH | OFlags::CLOEXEC)?)?)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let (parent, last) = split(name);
            Ok(statat(self.opened(parent, FOLDER)?, last, AtFlags::SYMLINK_NOFOLLOW)?)
        }
    }

    /// Returns the actual location of the file with this name. A link that stays inside is followed.
    pub(super) fn spot(
        &self,
        name: &str,
        missing: MissingFolderPolicy,
    ) -> Result<FileLocation, WorkspaceFileError> {
        let (parent, last) = split(name);
        let folder = self.folder(parent, missing)?;
        match statat(&folder, last, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if is(&found, FileType::Symlink) => self.followed(name),
            Ok(_) | Err(Errno::NOENT) => Ok(FileLocation { folder, name: last.into() }),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the target of a link. The system returns the real path, which is then opened without following links.
    #[cfg(target_os = "linux")]
    fn followed(&self, name: &str) -> Result<FileLocation, WorkspaceFileError> {
        if self.way == PathResolution::Walk {
            return Err(WorkspaceFileError::Refused(A_LINK));
        }
        let target = match self.opened(name, OFlags::PATH | OFlags::CLOEXEC) {
            Err(WorkspaceFileError::Absent) => return Err(WorkspaceFileError::Refused(LEADS_NOWHERE)),
            opened => opened?,
        };
        let wanted = fstat(&target)?;
        let (Some(here), Some(there)) = (real_path(&self.folder), real_path(&target)) else {
            return Err(WorkspaceFileError::Refused(A_LINK));
        };
        let below = there.strip_prefix(&here).map_err(|_| WorkspaceFileError::Refused(LEADS_OUT))?;
        let name = below.file_name().ok_or(WorkspaceFileError::Refused("it is a folder"))?;
        let parent = below.parent().unwrap_or(Path::new(""));
        let spot = FileLocation { folder: walk(&self.folder, parent, FOLDER)?, name: name.into() };
        match statat(&spot.folder, &spot.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if same(&found, &wanted) => Ok(spot),
            _ => Err(WorkspaceFileError::Refused(MOVED_ABOUT)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn followed(&self, _: &str) -> Result<FileLocation, WorkspaceFileError> {
        Err(WorkspaceFileError::Refused(A_LINK))
    }

    fn opened(&self, path: &str, flags: OFlags) -> Result<OwnedFd, WorkspaceFileError> {
        match self.way {
            #[cfg(target_os = "linux")]
            PathResolution::Resolve => resolve(&self.folder, path, flags),
            PathResolution::Walk => walk(&self.folder, Path::new(path), flags),
        }
    }
}

impl FileLocation {
    /// Opens the file if it is a regular file; `None` if it does not exist.
    pub(super) fn file(&self, flags: OFlags) -> Result<Option<File>, WorkspaceFileError> {
        if let Some(why) = self.stat()?.as_ref().and_then(why_not) {
            return Err(WorkspaceFileError::Refused(why));
        }
        match openat(&self.folder, &self.name, FILE | OFlags::NOFOLLOW | flags, Mode::empty()) {
            Ok(file) => regular(file).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(refusal(&self.folder, &self.name, error)),
        }
    }

    /// Creates the file with mode 0600.
    pub(super) fn create(&self) -> Result<File, WorkspaceFileError> {
        let flags = FILE | OFlags::NOFOLLOW | OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        Ok(openat(&self.folder, &self.name, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Returns the current state of the file with this name; `None` if it does not exist.
    pub(super) fn stat(&self) -> Result<Option<Stat>, WorkspaceFileError> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the reason why the workspace could not be created.
fn unmade(error: StoreError) -> WorkspaceFileError {
    match error {
        StoreError::DiskFull { .. } => WorkspaceFileError::System(std::io::ErrorKind::StorageFull.into()),
        StoreError::Unusable { why, .. } => WorkspaceFileError::Workspace(why),
        other => WorkspaceFileError::Workspace(other.code().to_owned()),
    }
}

/// Splits the path of a file into its folder and its name.
pub(super) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

/// Opens `path` below `folder`, and follows links that stay inside.
#[cfg(target_os = "linux")]
fn resolve(folder: &OwnedFd, path: &str, flags: OFlags) -> Result<OwnedFd, WorkspaceFileError> {
    use rustix::fs::ResolveFlags;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let path = if path.is_empty() { "." } else { path };
    for _ in 0..ATTEMPTS {
        match rustix::fs::openat2(folder, path, flags, Mode::empty(), beneath) {
            Ok(opened) => return Ok(opened),
            Err(Errno::AGAIN | Errno::INTR) => {}
            // Old systems do not have this call, and some containers forbid it.
            Err(Errno::NOSYS | Errno::PERM) => return walk(folder, Path::new(path), flags),
            Err(Errno::XDEV) => return Err(WorkspaceFileError::Refused(LEADS_OUT)),
            Err(Errno::LOOP) => {
                return Err(WorkspaceFileError::Refused("its links form a loop or lead out of its folder"));
            }
            Err(error) => return Err(refused(error)),
        }
    }
    Err(WorkspaceFileError::Refused(MOVED_ABOUT))
}

/// Opens `path` below `folder` if no part of the path is a link.
fn walk(folder: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, WorkspaceFileError> {
    let parts: Vec<&OsStr> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            // No other kind of part is accepted, so the path cannot lead outside.
            _ => None,
        })
        .collect();
    let Some((last, above)) = parts.split_last() else {
        return Ok(openat(folder, ".", flags, Mode::empty())?);
    };
    let mut here = None;
    for part in above {
        let from = here.as_ref().unwrap_or(folder);
        let next = openat(from, *part, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        here = Some(next.map_err(|error| refusal(from, part, error))?);
    }
    let from = here.as_ref().unwrap_or(folder);
    openat(from, *last, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| refusal(from, last, error))
}

/// Returns the reason why a name cannot be opened without following links.
fn refusal(folder: &OwnedFd, name: &OsStr, error: Errno) -> WorkspaceFileError {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if is(&found, FileType::Symlink) => WorkspaceFileError::Refused(A_LINK),
        _ => refused(error),
    }
}

fn refused(error: Errno) -> WorkspaceFileError {
    match error {
        Errno::NOTDIR => WorkspaceFileError::Refused("a part of its path is not a folder"),
        Errno::ISDIR => WorkspaceFileError::Refused("it is a folder"),
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
            WorkspaceFileError::Refused("it is not a regular file")
        }
        Errno::LOOP => WorkspaceFileError::Refused(A_LINK),
        other => other.into(),
    }
}

/// Returns the open file if it is a regular file.
fn regular(file: OwnedFd) -> Result<File, WorkspaceFileError> {
    let found = fstat(&file)?;
    match why_not(&found) {
        None => Ok(file.into()),
        Some(why) => Err(WorkspaceFileError::Refused(why)),
    }
}

/// Returns the reason why a path cannot be used as a file; `None` if it is a regular file.
pub(super) fn why_not(found: &Stat) -> Option<&'static str> {
    Some(match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => return None,
        FileType::Directory => "it is a folder",
        FileType::Symlink => A_LINK,
        FileType::Fifo => "it is a pipe",
        FileType::Socket => "it is a socket",
        _ => "it is a device",
    })
}

/// Returns true if the file is of this kind.
pub(super) fn is(found: &Stat, sort: FileType) -> bool {
    FileType::from_raw_mode(found.st_mode) == sort
}

/// Returns true if both states belong to the same file.
pub(super) fn same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Returns true if both states belong to the same file and are equal.
pub(super) fn unchanged(before: &Stat, now: &Stat) -> bool {
    same(before, now)
        && stamp(before) == stamp(now)
        && (before.st_ctime, before.st_ctime_nsec) == (now.st_ctime, now.st_ctime_nsec)
}

/// Returns the values that distinguish two states of a file.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the types differ between systems")]
pub(super) fn stamp(found: &Stat) -> FileStamp {
    let nanos = i128::from(found.st_mtime) * 1_000_000_000 + i128::from(found.st_mtime_nsec);
    let ends = (i128::from(i64::MIN), i128::from(i64::MAX));
    FileStamp {
        size: u64::try_from(found.st_size).unwrap_or(0),
        modified: nanos.clamp(ends.0, ends.1) as i64,
        inode: found.st_ino as u64,
    }
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: impl AsFd) -> Result<(), WorkspaceFileError> {
    match fsync(folder) {
        // Some file systems cannot sync a folder, and there is no other way to make its names durable.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the path of an open file, as the system knows it.
#[cfg(target_os = "linux")]
fn real_path(file: &OwnedFd) -> Option<std::path::PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn space(root: &Path, way: PathResolution) -> SpaceFolder {
        let folder = Folder::parse("").expect("a folder");
        SpaceFolder { way, ..SpaceFolder::open(root, &folder, MissingFolderPolicy::Leave).expect("opened") }
    }

    #[test]
    fn without_the_help_of_the_system_every_link_is_refused() {
        let (root, out) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("memory/deep")).expect("made");
        fs::write(at("memory/deep/a.md"), "mine").expect("written");
        fs::write(out.path().join("a.md"), "theirs").expect("written");
        symlink(out.path(), at("out")).expect("linked");
        symlink("memory", at("inside")).expect("linked");
        symlink("deep/a.md", at("memory/b.md")).expect("linked");
        let walking = space(root.path(), PathResolution::Walk);
        assert!(walking.file("memory/deep/a.md").is_ok());
        assert!(walking.file("memory/c.md").is_err_and(|trouble| trouble.is_absent()));
        for name in ["out/a.md", "inside/deep/a.md", "memory/b.md", "memory/deep/a.md/x", "memory/deep"] {
            assert!(matches!(walking.file(name), Err(WorkspaceFileError::Refused(_))), "{name}");
            let spot = walking.spot(name, MissingFolderPolicy::Make).and_then(|spot| spot.file(OFlags::RDWR));
            assert!(matches!(spot, Err(WorkspaceFileError::Refused(_))), "{name}");
        }
        let stat = walking.stat("memory/b.md").expect("it is there");
        assert!(why_not(&stat).is_some());
        walking.folder("new/deep", MissingFolderPolicy::Make).expect("made");
        assert!(at("new/deep").is_dir());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_that_stays_inside_leads_to_where_the_file_is() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("memory/deep")).expect("made");
        fs::write(at("memory/deep/a.md"), "mine").expect("written");
        symlink("memory", at("inside")).expect("linked");
        symlink("../inside/deep/a.md", at("memory/b.md")).expect("linked");
        let resolving = space(root.path(), PathResolution::Resolve);
        let spot = resolving.spot("inside/b.md", MissingFolderPolicy::Leave).expect("found");
        assert_eq!(spot.name, "a.md");
        let deep = fs::metadata(at("memory/deep")).expect("there");
        let found = fstat(&spot.folder).expect("open");
        assert_eq!(found.st_ino, std::os::unix::fs::MetadataExt::ino(&deep));
    }
}
