//! Notes in the home of what is being done to files, so that others can finish or undo it where the process dies.
//!
//! A note appears whole and locked, and is locked for as long as its process lives. Who can lock one has that of a dead
//! process in their hands, alone.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tulving_core::file::{FilePath, Folder};

use super::trouble::Trouble;
use crate::draft::Draft;
use crate::{files, home};

/// Which file a note is about.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subject {
    /// The workspace, whose path need not be text.
    root: String,
    folder: String,
    name: String,
}

impl Subject {
    pub(super) fn new(root: &Path, path: &FilePath) -> Self {
        Self {
            root: HEXLOWER.encode(root.as_os_str().as_bytes()),
            folder: path.folder().as_str().to_owned(),
            name: path.name().to_owned(),
        }
    }

    /// The file, if it is one of this workspace.
    pub(super) fn path(&self, root: &Path) -> Option<FilePath> {
        let here = self.root == HEXLOWER.encode(root.as_os_str().as_bytes());
        let folder = Folder::parse(&self.folder).filter(|_| here)?;
        FilePath::new(&folder, &self.name).ok()
    }
}

/// A note that nobody else has. It stays when this is dropped, and then is that of a dead process.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    file: File,
}

impl Note {
    /// Writes a note, whose name is durable once it is [synced](Self::synced). [`Trouble::Exists`] where there is one of
    /// that name.
    pub(super) fn write(
        folder: &Path,
        name: &str,
        head: &impl Serialize,
        body: &[u8],
    ) -> Result<Self, Trouble> {
        let path = folder.join(name);
        if !folder.is_dir() {
            home::make_folder(folder)?;
        }
        let failed = |error: io::Error| Trouble::from(files::unwritten(&path, "written", &error));
        let mut text = serde_json::to_vec(head).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        text.extend_from_slice(body);
        let mut draft = Draft::beside(&path, "")?;
        draft.write_all(&text).map_err(failed)?;
        draft.sync().map_err(failed)?;
        match draft.hold(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(Trouble::Exists),
            Err(error) => Err(failed(error)),
        }
    }

    /// Makes its name durable. Where that fails, there is no note.
    pub(super) fn synced(self, folder: &Path) -> Result<Self, Trouble> {
        match files::sync_folder(folder) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.remove();
                Err(error.into())
            }
        }
    }

    /// The notes of dead processes in a folder.
    pub(super) fn of_the_dead(folder: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| Self::take(folder, &name)).collect()
    }

    /// The note of this name, unless there is none or a living process has it.
    pub(super) fn take(folder: &Path, name: &str) -> Option<Self> {
        if name.starts_with('.') {
            return None;
        }
        let path = folder.join(name);
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?;
        let file = File::options().read(true).custom_flags(flags).open(&path).ok()?;
        file.try_lock().ok()?;
        // Whoever had it before may have removed it just now.
        let (named, open) = (path.symlink_metadata().ok()?, file.metadata().ok()?);
        (open.is_file() && (named.dev(), named.ino()) == (open.dev(), open.ino()))
            .then_some(Self { path, file })
    }

    /// What it says; `None` where it is no note.
    pub(super) fn read<T: for<'a> Deserialize<'a>>(&self) -> Result<Option<(T, Vec<u8>)>, Trouble> {
        let failed = |error: io::Error| Trouble::from(files::unwritten(&self.path, "read", &error));
        let mut text = Vec::new();
        (&self.file).rewind().map_err(failed)?;
        (&self.file).read_to_end(&mut text).map_err(failed)?;
        let Some(end) = memchr::memchr(b'\n', &text) else {
            return Ok(None);
        };
        let head = serde_json::from_slice(&text[..end]).ok();
        Ok(head.map(|head| (head, text.split_off(end + 1))))
    }

    /// Removes it. One that cannot be removed is looked at again and found to be done.
    pub(super) fn remove(self) {
        drop(fs::remove_file(&self.path));
        drop(self.file);
    }
}

#[cfg(test)]
impl Note {
    /// A note that cannot be read, as where the disk fails.
    pub(super) fn unreadable(path: &Path) -> Self {
        let file = File::options().write(true).open(path).expect("opened");
        Self { path: path.to_owned(), file }
    }
}
