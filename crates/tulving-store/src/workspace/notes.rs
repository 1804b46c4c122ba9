//! Notes in the home about work on files, so that others can finish or undo it if the process dies.
//!
//! A note appears whole and locked, and stays locked for as long as its process lives. A process that can lock a note
//! has the note of a dead process, exclusively.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tulving_core::model::file::{FilePath, Folder};

use super::trouble::WorkspaceFileError;
use crate::draft::DraftFile;
use crate::{files, home};

/// The file that a note is about.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecoveryNoteFile {
    /// The workspace. Its path need not be text.
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

    /// The file, if it is one of this workspace.
    pub(super) fn path(&self, root: &Path) -> Option<FilePath> {
        let here = self.root == HEXLOWER.encode(root.as_os_str().as_bytes());
        let folder = Folder::parse(&self.folder).filter(|_| here)?;
        FilePath::new(&folder, &self.name).ok()
    }
}

/// A note that nobody else has. It stays when this is dropped, and is then that of a dead process.
#[derive(Debug)]
pub(super) struct RecoveryNote {
    path: PathBuf,
    file: File,
}

impl RecoveryNote {
    /// Writes a note. Its name is durable once it is [synced](Self::synced). [`WorkspaceFileError::Exists`] if there is one with
    /// that name.
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

    /// Makes its name durable. If that fails, there is no note.
    pub(super) fn synced(self, folder: &Path) -> Result<Self, WorkspaceFileError> {
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
        // The previous holder may have removed it just now.
        let (named, open) = (path.symlink_metadata().ok()?, file.metadata().ok()?);
        (open.is_file() && (named.dev(), named.ino()) == (open.dev(), open.ino()))
            .then_some(Self { path, file })
    }

    /// Its content; `None` if it is not a valid note.
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

    /// Removes it. One that cannot be removed is found again later, with its work done.
    pub(super) fn remove(self) {
        drop(fs::remove_file(&self.path));
        drop(self.file);
    }
}

#[cfg(test)]
impl RecoveryNote {
    /// A note that cannot be read, as with a failing disk.
    pub(super) fn unreadable(path: &Path) -> Self {
        let file = File::options().write(true).open(path).expect("opened");
        Self { path: path.to_owned(), file }
    }
}
