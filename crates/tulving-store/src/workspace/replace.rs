//! Creates, replaces and removes files as a whole.
//!
//! New content is written to a temporary file, which is then renamed. So a reader sees either the old content or the
//! new content, and so does a reader after a crash. If the path is a link that stays inside, the link stays and its
//! target is replaced. A link is never removed.

use std::io::Seek as _;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, Stat, fstat, unlinkat};
use sha2::{Digest as _, Sha256};
use tulving_core::model::file::FilePath;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::From as Basis;

use super::draft::{self, WorkspaceDraftFile};
use super::errors::WorkspaceFileError;
use super::folder_access::{self, FileLocation, MissingFolderPolicy, SpaceFolder};
use super::{Workspace, append_recovery, lock, previous, read};

/// Maximum number of attempts at a replacement. An attempt fails if an editor, which takes no lock, changes the file at
/// the same time.
const ATTEMPTS: usize = 20;

/// Creates a file.
pub(super) fn create(files: &Workspace, path: &FilePath, content: &[u8]) -> Result<(), WorkspaceFileError> {
    let spot = unlinked(files, path, MissingFolderPolicy::Make)?;
    WorkspaceDraftFile::write(&spot.folder, content)?.create(&spot)
}

/// Replaces the content of a file; see [`Files::replace`](tulving_core::ports::Files::replace).
pub(super) fn replace(
    files: &Workspace,
    path: &FilePath,
    content: &[u8],
    basis: Basis,
    keep: Option<Timestamp>,
) -> Result<(), WorkspaceFileError> {
    let missing = if matches!(basis, Basis::Digest(_)) {
        MissingFolderPolicy::Leave
    } else {
        MissingFolderPolicy::Make
    };
    let spot = SpaceFolder::open(&files.root, path.folder(), missing)
        .and_then(|space| space.spot(path.name(), missing))
        .map_err(|trouble| if trouble.is_absent() { WorkspaceFileError::Changed } else { trouble })?;
    lock::lock(&spot.folder)?;
    append_recovery::within(files, &spot.folder)?;
    draft::sweep_all(&spot.folder);
    let kept = files.previous_of(path);
    let keep = keep.map(|now| (kept.as_path(), now));
    for _ in 0..ATTEMPTS {
        if attempt(&spot, content, basis, keep)? {
            return Ok(());
        }
    }
    Err(WorkspaceFileError::Changed)
}

/// Replaces a file, and stores its previous text in a folder. Returns `false` if the file has changed in the meantime.
fn attempt(
    spot: &FileLocation,
    content: &[u8],
    basis: Basis,
    keep: Option<(&Path, Timestamp)>,
) -> Result<bool, WorkspaceFileError> {
    let Some(mut file) = spot.file(OFlags::RDONLY)? else {
        if matches!(basis, Basis::Digest(_)) {
            return Err(WorkspaceFileError::Changed);
        }
        return match WorkspaceDraftFile::write(&spot.folder, content)?.create(spot) {
            Err(WorkspaceFileError::Exists) if basis == Basis::Any => Ok(false),
            Err(WorkspaceFileError::Exists) => Err(WorkspaceFileError::Changed),
            done => done.map(|()| true),
        };
    };
    let old = fstat(&file)?;
    let digest = read::digest(&file)?;
    match basis {
        Basis::Nothing => return Err(WorkspaceFileError::Changed),
        Basis::Digest(expected) if expected != digest => return Err(WorkspaceFileError::Changed),
        Basis::Digest(_) | Basis::Any => {}
    }
    if digest == <[u8; 32]>::from(Sha256::digest(content)) {
        return Ok(true);
    }
    if let Some((folder, now)) = keep {
        file.rewind()?;
        previous::keep(folder, &file, now)?;
    }
    let draft = WorkspaceDraftFile::write(&spot.folder, content)?;
    draft.resemble(&old)?;
    if !unchanged(spot, &old)? {
        return Ok(false);
    }
    draft.replace(spot)?;
    Ok(true)
}

/// Returns true if the name still refers to the same file in the same state.
fn unchanged(spot: &FileLocation, old: &Stat) -> Result<bool, WorkspaceFileError> {
    Ok(spot.stat()?.is_some_and(|now| folder_access::unchanged(old, &now)))
}

/// Removes a file, if it is still in the state that the decision was based on.
pub(super) fn remove(files: &Workspace, path: &FilePath, basis: Basis) -> Result<(), WorkspaceFileError> {
    let spot = unlinked(files, path, MissingFolderPolicy::Leave)?;
    lock::lock(&spot.folder)?;
    append_recovery::within(files, &spot.folder)?;
    match spot.stat()?.as_ref().map(folder_access::why_not) {
        None => Err(WorkspaceFileError::Absent),
        Some(Some(why)) => Err(WorkspaceFileError::Refused(why)),
        Some(None) if is_still(&spot, basis)? => unlink(&spot),
        Some(None) => Err(WorkspaceFileError::Changed),
    }
}

/// Returns true if a file is in the state that a decision was based on, and did not change during the check.
fn is_still(spot: &FileLocation, basis: Basis) -> Result<bool, WorkspaceFileError> {
    let digest = match basis {
        Basis::Any => return Ok(true),
        Basis::Nothing => return Ok(false),
        Basis::Digest(digest) => digest,
    };
    let Some(file) = spot.file(OFlags::RDONLY)? else { return Ok(false) };
    let found = fstat(&file)?;
    Ok(read::digest(&file)? == digest && unchanged(spot, &found)?)
}

/// Removes a file if it is the one with this inode and these bytes.
pub(super) fn remove_exactly(
    files: &Workspace,
    path: &FilePath,
    inode: u64,
    digest: [u8; 32],
) -> Result<(), WorkspaceFileError> {
    let spot = unlinked(files, path, MissingFolderPolicy::Leave)?;
    lock::lock(&spot.folder)?;
    let Some(file) = spot.file(OFlags::RDONLY)? else {
        return Ok(());
    };
    let found = fstat(&file)?;
    let ours = folder_access::stamp(&found).inode == inode && read::digest(&file)? == digest;
    if ours && unchanged(&spot, &found)? { unlink(&spot) } else { Ok(()) }
}

fn unlink(spot: &FileLocation) -> Result<(), WorkspaceFileError> {
    unlinkat(&spot.folder, &spot.name, AtFlags::empty())?;
    folder_access::sync_folder(&spot.folder)
}

/// Returns the location of a file by its own name; the file need not exist. If the last part of the path is a link, it
/// is not followed.
pub(super) fn unlinked(
    files: &Workspace,
    path: &FilePath,
    missing: MissingFolderPolicy,
) -> Result<FileLocation, WorkspaceFileError> {
    let (parent, name) = folder_access::split(path.name());
    let folder = SpaceFolder::open(&files.root, path.folder(), missing)?.folder(parent, missing)?;
    Ok(FileLocation { folder, name: name.into() })
}
