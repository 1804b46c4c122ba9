//! Reads files and their states.

use std::fs::File;
use std::io::{self, Read as _};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::fstat;
use sha2::{Digest as _, Sha256};
use tulving_core::model::file::{FileContent, FilePath, FileStamp};

use super::Workspace;
use super::errors::WorkspaceFileError;
use super::folder_access::{self, MissingFolderPolicy, SpaceFolder};

/// Maximum number of attempts to read a file that changes in the meantime. The last attempt is used even if the file
/// has changed: its stamp is from before the read, so that a comparison of stamps leads to another read.
const ATTEMPTS: usize = 5;
/// The pause for a writer before the next attempt.
const PAUSE: Duration = Duration::from_millis(1);

/// Returns the current state of a file.
pub(super) fn stamp(files: &Workspace, path: &FilePath) -> Result<FileStamp, WorkspaceFileError> {
    let space = SpaceFolder::open(&files.root, path.folder(), MissingFolderPolicy::Leave)?;
    let found = space.stat(path.name())?;
    match folder_access::why_not(&found) {
        None => Ok(folder_access::stamp(&found)),
        Some(why) => Err(WorkspaceFileError::Refused(why)),
    }
}

/// Reads a file of at most `most` bytes.
pub(super) fn read(files: &Workspace, path: &FilePath, most: u64) -> Result<FileContent, WorkspaceFileError> {
    let space = SpaceFolder::open(&files.root, path.folder(), MissingFolderPolicy::Leave)?;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let file = space.file(path.name())?;
        let before = fstat(&file)?;
        let stamp = folder_access::stamp(&before);
        let bytes = whole(&file, stamp.size, most)?;
        let still = folder_access::unchanged(&before, &fstat(&file)?);
        if attempt >= ATTEMPTS || (still && bytes.len() as u64 == stamp.size) {
            return Ok(FileContent { bytes, stamp });
        }
        sleep(PAUSE);
    }
}

/// Reads the whole content of an open file. `size` is its last known size; the file may have grown a little since then.
fn whole(file: &File, size: u64, most: u64) -> Result<Vec<u8>, WorkspaceFileError> {
    if size > most {
        return Err(WorkspaceFileError::TooLarge { size, limit: most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let size = file.metadata()?.len().max(bytes.len() as u64);
        return Err(WorkspaceFileError::TooLarge { size, limit: most });
    }
    Ok(bytes)
}

/// Returns the SHA-256 of the rest of an open file.
pub(super) fn digest(mut file: &File) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut part = vec![0; 64 * 1024];
    loop {
        match file.read(&mut part) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(more) => hash.update(&part[..more]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
