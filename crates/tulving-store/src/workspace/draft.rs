//! A file in the making in an open folder: written under a name of its own and put in its place when it is whole.
//!
//! The same as [`crate::Draft`], with the same sort of names, where no path may be followed twice. One that was left behind
//! is swept by whoever lists its folder or replaces a file there next.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::beneath::{self, Spot};
use super::lock::{self, Tried};
use super::trouble::Trouble;
use crate::draft::PREFIX;

/// How often a draft is begun again because a sweep took it for one that was left behind.
const ATTEMPTS: usize = 100;

/// A file that is nobody's yet, 0600. It goes when it is dropped, unless it was put in its place.
pub(super) struct Draft<'a> {
    folder: &'a OwnedFd,
    name: Option<String>,
    file: File,
}

impl<'a> Draft<'a> {
    /// A draft with this content in the folder where it is to be. It is durable once it was put in its place.
    pub(super) fn write(folder: &'a OwnedFd, content: &[u8]) -> Result<Self, Trouble> {
        let draft = Self::begin(folder)?;
        (&draft.file).write_all(content)?;
        Ok(draft)
    }

    fn begin(folder: &'a OwnedFd) -> Result<Self, Trouble> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let name = format!("{PREFIX}{:016x}", fastrand::u64(..));
            let file = match openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => file,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            let locked = lock::try_lock(&file) != Tried::Busy;
            let named = statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW);
            if locked && named.is_ok_and(|named| fstat(&file).is_ok_and(|open| beneath::same(&named, &open)))
            {
                return Ok(Self { folder, name: Some(name), file: file.into() });
            }
        }
        Err(Trouble::System(io::ErrorKind::ResourceBusy.into()))
    }

    /// Which file it is.
    pub(super) fn stat(&self) -> Result<Stat, Trouble> {
        Ok(fstat(&self.file)?)
    }

    /// Gives it the owner and the group, as far as that is allowed, and the mode of the file that it takes the place of.
    pub(super) fn resemble(&self, old: &Stat) -> Result<(), Trouble> {
        let new = self.stat()?;
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
            let (user, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            // Only root gives files away, and both at once are refused as one: a group can be kept by who is in it.
            if fchown(&self.file, Some(user), Some(group)).is_err() {
                let _ = fchown(&self.file, None, Some(group));
            }
        }
        Ok(fchmod(&self.file, Mode::from_raw_mode(old.st_mode & 0o777))?)
    }

    /// Puts it in its place, where another file may be, durably.
    pub(super) fn replace(mut self, spot: &Spot) -> Result<(), Trouble> {
        self.file.sync_all()?;
        if let Some(name) = &self.name {
            renameat(self.folder, name, &spot.folder, &spot.name)?;
        }
        self.name = None;
        beneath::sync_folder(&spot.folder)
    }

    /// Puts it in its place, durably; [`Trouble::Exists`] where something is there.
    pub(super) fn create(mut self, spot: &Spot) -> Result<(), Trouble> {
        self.file.sync_all()?;
        if let Some(name) = &self.name {
            match rename_unless_there(self.folder, name, spot) {
                Ok(()) => self.name = None,
                // A second name, where it cannot be renamed so: the first one goes with the draft.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    rustix::fs::linkat(self.folder, name, &spot.folder, &spot.name, AtFlags::empty())?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        beneath::sync_folder(&spot.folder)
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_unless_there(folder: &OwnedFd, name: &str, spot: &Spot) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, name, &spot.folder, &spot.name, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn rename_unless_there(_: &OwnedFd, _: &str, _: &Spot) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// Whether a name is one of a draft.
pub(super) fn is_draft(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes())
}

/// Removes a draft that nobody uses.
pub(super) fn sweep(folder: impl AsFd, name: &std::ffi::CStr) {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(folder.as_fd(), name, flags, Mode::empty()) else {
        return;
    };
    let regular = fstat(&file).is_ok_and(|found| beneath::is(&found, FileType::RegularFile));
    // Where nothing can be locked, nothing tells whether it is in use.
    if regular && lock::try_lock(&file) == Tried::Locked {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}

/// Removes the drafts in a folder that nobody uses.
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
