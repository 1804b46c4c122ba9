//! Notes in the home about work on files, so that another process can finish or undo the work if this process dies.
//!
//! A note appears only when it is complete and locked, and stays locked while its process lives. If a process can lock
//! a note, the owner of the note is dead, and the process has the note exclusively.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tulving_core::model::file::{FilePath, Folder};

use super::errors::WorkspaceFileError;
use crate::draft::DraftFile;
use crate::{files, home};

/// The file that a note is about.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecoveryNoteFile {
    /// The path of the workspace, encoded, because it need not be text.
    root: String,
    folder: String,
    name: String,
}

impl RecoveryNoteFile {
    pub(super) fn new(root: &Path, path: &FilePath) -> Self {
        Self {
            root: HEXLOWER.encode(root.as_os_str().as_bytes()),
            folder: path.folder().as_str().to_owned(),
            name: path.name().to_owned(),
        }
    }

    /// Returns the path of the file, if the file is in this workspace.
    pub(super) fn path(&self, root: &Path) -> Option<FilePath> {
        let here = self.root == HEXLOWER.encode(root.as_os_str().as_bytes());
        let folder = Folder::parse(&self.folder).filter(|_| here)?;
        FilePath::new(&folder, &self.name).ok()
    }
}

/// A locked note. If it is dropped without being removed, the file of the note stays, and counts as the note of a dead
/// process.
#[derive(Debug)]
pub(super) struct RecoveryNote {
    path: PathBuf,
    file: File,
}

impl RecoveryNote {
    /// Writes a note. The name of the note is durable after a call of [`synced`](Self::synced). Returns
    /// [`WorkspaceFileError::Exists`] if a note with that name exists.
    pub(super) fn write(
        folder: &Path,
        name: &str,
        head: &impl Serialize,
        body: &[u8],
    ) -> Result<Self, WorkspaceFileError> {
        let path = folder.join(name);
        if !folder.is_dir() {
            home::make_folder(folder)?;
        }
        let failed = |error: io::Error| WorkspaceFileError::from(files::unwritten(&path, "written", &error));
        let mut text = serde_json::to_vec(head).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        text.extend_from_slice(body);
        let mut draft = DraftFile::beside(&path, "")?;
        draft.write_all(&text).map_err(failed)?;
        draft.sync().map_err(failed)?;
        match draft.hold(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(WorkspaceFileError::Exists),
            Err(error) => Err(failed(error)),
        }
    }

    /// Makes the name of the note durable. If this fails, the note is removed.
    pub(super) fn synced(self, folder: &Path) -> Result<Self, WorkspaceFileError> {
        match files::sync_folder(folder) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.remove();
                Err(error.into())
            }
        }
    }

    /// Returns the notes of dead processes in a folder.
    pub(super) fn of_the_dead(folder: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(folder) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter_map(|name| Self::take(folder, &name)).collect()
    }

    /// Returns the note with this name; `None` if it does not exist or a living process has it.
    pub(super) fn take(folder: &Path, name: &str) -> Option<Self> {
        if name.starts_with('.') {
            return None;
        }
        let path = folder.join(name);
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?;
        let file = File::options().read(true).custom_flags(flags).open(&path).ok()?;
        file.try_lock().ok()?;
        // The previous owner may have removed the note in the meantime.
        let (named, open) = (path.symlink_metadata().ok()?, file.metadata().ok()?);
        (open.is_file() && (named.dev(), named.ino()) == (open.dev(), open.ino()))
            .then_some(Self { path, file })
    }

    /// Returns the content of the note; `None` if the note is not valid.
    pub(super) fn read<T: for<'a> Deserialize<'a>>(
        &self,
    ) -> Result<Option<(T, Vec<u8>)>, WorkspaceFileError> {
        let failed =
            |error: io::Error| WorkspaceFileError::from(files::unwritten(&self.path, "read", &error));
        let mut text = Vec::new();
        (&self.file).rewind().map_err(failed)?;
        (&self.file).read_to_end(&mut text).map_err(failed)?;
        let Some(end) = memchr::memchr(b'\n', &text) else {
            return Ok(None);
        };
        let head = serde_json::from_slice(&text[..end]).ok();
        Ok(head.map(|head| (head, text.split_off(end + 1))))
    }

    /// Removes the note. If this fails, a process finds the note later, sees that its work is done, and tries again to
    /// remove it.
    pub(super) fn remove(self) {
        drop(fs::remove_file(&self.path));
        drop(self.file);
    }
}

#[cfg(test)]
impl RecoveryNote {
    /// Opens the file of a note in a way that makes every read fail, like a disk error.
    pub(super) fn unreadable(path: &Path) -> Self {
        let file = File::options().write(true).open(path).expect("opened");
        Self { path: path.to_owned(), file }
    }
}
