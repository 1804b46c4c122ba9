//! A temporary file in an open folder. It is written under a temporary name and renamed when it is complete.
//!
//! It works like [`crate::DraftFile`] and uses the same kind of names, but it is for code that must not resolve a path
//! twice. An abandoned draft is removed when its folder is listed or when a file in that folder is replaced.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::errors::WorkspaceFileError;
use super::folder_access::{self, FileLocation};
use super::lock::{self, LockAttempt};
use crate::draft::PREFIX;

/// Maximum number of attempts to create a draft. An attempt fails if a sweep removes the new draft as an abandoned one.
const ATTEMPTS: usize = 100;

/// A temporary file with mode 0600. The file is deleted when this value is dropped, unless the file was renamed to its
/// target.
pub(super) struct WorkspaceDraftFile<'a> {
    folder: &'a OwnedFd,
    name: Option<String>,
    file: File,
}

impl<'a> WorkspaceDraftFile<'a> {
    /// Writes a draft with this content to its target folder. The draft becomes durable when it is renamed to its
    /// target.
    pub(super) fn write(folder: &'a OwnedFd, content: &[u8]) -> Result<Self, WorkspaceFileError> {
        let draft = Self::begin(folder)?;
        (&draft.file).write_all(content)?;
        Ok(draft)
    }

    fn begin(folder: &'a OwnedFd) -> Result<Self, WorkspaceFileError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let name = format!("{PREFIX}{:016x}", fastrand::u64(..));
            let file = match openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => file,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            let locked = lock::try_lock(&file) != LockAttempt::Busy;
            let named = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW);
            if locked
                && named.is_ok_and(|named| fstat(&file).is_ok_and(|open| folder_access::same(&named, &open)))
            {
                return Ok(Self { folder, name: Some(name), file: file.into() });
            }
        }
        Err(WorkspaceFileError::System(io::ErrorKind::ResourceBusy.into()))
    }

    /// Returns the state of the draft.
    pub(super) fn stat(&self) -> Result<Stat, WorkspaceFileError> {
        Ok(fstat(&self.file)?)
    }

    /// Gives the draft the mode of the file that it replaces and, as far as the system allows, its owner and group.
    pub(super) fn resemble(&self, old: &Stat) -> Result<(), WorkspaceFileError> {
        let new = self.stat()?;
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
            let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            // Only root may change the owner, and a call that sets owner and group fails as a whole. A member of a
            // group may still set the group.
            if fchown(&self.file, Some(user), Some(group)).is_err() {
                let _ = fchown(&self.file, None, Some(group));
            }
        }
        Ok(fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o777))?)
    }

    /// Renames the draft to its target durably, and replaces any file there.
    pub(super) fn replace(mut self, spot: &FileLocation) -> Result<(), WorkspaceFileError> {
        self.file.sync_all()?;
        if let Some(name) = &self.name {
            renameat(self.folder, name, &spot.folder, &spot.name)?;
        }
        self.name = None;
        folder_access::sync_folder(&spot.folder)
    }

    /// Renames the draft to its target durably. Returns [`WorkspaceFileError::Exists`] if the target exists.
    pub(super) fn create(mut self, spot: &FileLocation) -> Result<(), WorkspaceFileError> {
        self.file.sync_all()?;
        if let Some(name) = &self.name {
            match rename_unless_there(self.folder, name, spot) {
                Ok(()) => self.name = None,
                // If this kind of rename is not supported, the file gets a second name. The first name is removed with
                // the draft.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    rustix::fs::linkat(self.folder, name, &spot.folder, &spot.name, AtFlags::empty())?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        folder_access::sync_folder(&spot.folder)
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_unless_there(folder: &OwnedFd, name: &str, spot: &FileLocation) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, name, &spot.folder, &spot.name, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_unless_there(_: &OwnedFd, _: &str, _: &FileLocation) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

impl Drop for WorkspaceDraftFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// Returns true if this is the name of a draft.
pub(super) fn is_draft(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes())
}

/// Removes a draft that no process uses.
pub(super) fn sweep(folder: impl AsFd, name: &std::ffi::CStr) {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(folder.as_fd(), name, flags, Mode::empty()) else {
        return;
    };
    let regular = fstat(&file).is_ok_and(|found| folder_access::is(&found, FileType::RegularFile));
    // If locks are not supported, it is unknown whether the draft is in use.
    if regular && lock::try_lock(&file) == LockAttempt::Locked {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}

/// Removes the drafts in a folder that no process uses.
pub(super) fn sweep_all(folder: &OwnedFd) {
    let Ok(mut entries) = rustix::fs::Dir::read_from(folder) else {
        return;
    };
    while let Some(Ok(entry)) = entries.read() {
        if is_draft(entry.file_name().to_bytes()) {
            sweep(folder, entry.file_name());
        }
    }
}
