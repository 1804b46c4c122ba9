//! Makes, replaces and removes files as a whole.
//!
//! What is new is written beside its place and renamed, so that a reader sees the old content or the new one, and a crash
//! leaves one of the two. A link that stays inside is kept and what it leads to is replaced; a link is never removed.

use std::io::Seek as _;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, Stat, fstat, unlinkat};
use sha2::{Digest as _, Sha256};
use tulving_core::file::FilePath;
use tulving_core::ports::From as Basis;
use tulving_core::time::Timestamp;

use super::beneath::{self, Missing, Space, Spot};
use super::draft::{self, Draft};
use super::trouble::Trouble;
use super::{Workspace, lock, mend, previous, read};

/// How often a replacement is begun again because an editor, which does not lock, was faster.
const ATTEMPTS: usize = 20;

/// Makes a file.
pub(super) fn create(files: &Workspace, path: &FilePath, content: &[u8]) -> Result<(), Trouble> {
    let spot = unlinked(files, path, Missing::Make)?;
    Draft::write(&spot.folder, content)?.create(&spot)
}

/// Puts a content in the place of a file; see [`Files::replace`](tulving_core::ports::Files::replace).
pub(super) fn replace(
    files: &Workspace,
    path: &FilePath,
    content: &[u8],
    basis: Basis,
    keep: Option<Timestamp>,
) -> Result<(), Trouble> {
    let missing = if matches!(basis, Basis::Digest(_)) { Missing::Leave } else { Missing::Make };
    let spot = Space::open(&files.root, path.folder(), missing)
        .and_then(|space| space.spot(path.name(), missing))
        .map_err(|trouble| if trouble.is_absent() { Trouble::Changed } else { trouble })?;
    lock::lock(&spot.folder)?;
    mend::within(files, &spot.folder)?;
    draft::sweep_all(&spot.folder);
    let kept = files.previous_of(path);
    let keep = keep.map(|now| (kept.as_path(), now));
    for _ in 0..ATTEMPTS {
        if attempt(&spot, content, basis, keep)? {
            return Ok(());
        }
    }
    Err(Trouble::Changed)
}

/// Replaces a file, and keeps in a folder what it said until now; `false` where somebody changed it meanwhile.
fn attempt(
    spot: &Spot,
    content: &[u8],
    basis: Basis,
    keep: Option<(&Path, Timestamp)>,
) -> Result<bool, Trouble> {
    let Some(mut file) = spot.file(OFlags::RDONLY)? else {
        if matches!(basis, Basis::Digest(_)) {
            return Err(Trouble::Changed);
        }
        return match Draft::write(&spot.folder, content)?.create(spot) {
            Err(Trouble::Exists) if basis == Basis::Any => Ok(false),
            Err(Trouble::Exists) => Err(Trouble::Changed),
            done => done.map(|()| true),
        };
    };
    let old = fstat(&file)?;
    let digest = read::digest(&file)?;
    match basis {
        Basis::Nothing => return Err(Trouble::Changed),
        Basis::Digest(expected) if expected != digest => return Err(Trouble::Changed),
        Basis::Digest(_) | Basis::Any => {}
    }
    if digest == <[u8; 32]>::from(Sha256::digest(content)) {
        return Ok(true);
    }
    if let Some((folder, now)) = keep {
        file.rewind()?;
        previous::keep(folder, &file, now)?;
    }
    let draft = Draft::write(&spot.folder, content)?;
    draft.resemble(&old)?;
    if !unchanged(spot, &old)? {
        return Ok(false);
    }
    draft.replace(spot)?;
    Ok(true)
}

/// Whether a name still is of the very same state of the very same file.
fn unchanged(spot: &Spot, old: &Stat) -> Result<bool, Trouble> {
    Ok(spot.stat()?.is_some_and(|now| beneath::unchanged(old, &now)))
}

/// Removes a file that there is, where it is what this was decided on.
pub(super) fn remove(files: &Workspace, path: &FilePath, basis: Basis) -> Result<(), Trouble> {
    let spot = unlinked(files, path, Missing::Leave)?;
    lock::lock(&spot.folder)?;
    mend::within(files, &spot.folder)?;
    match spot.stat()?.as_ref().map(beneath::why_not) {
        None => Err(Trouble::Absent),
        Some(Some(why)) => Err(Trouble::Refused(why)),
        Some(None) if is_still(&spot, basis)? => unlink(&spot),
        Some(None) => Err(Trouble::Changed),
    }
}

/// Whether a file is what something was decided on, and was not changed while that was looked at.
fn is_still(spot: &Spot, basis: Basis) -> Result<bool, Trouble> {
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
) -> Result<(), Trouble> {
    let spot = unlinked(files, path, Missing::Leave)?;
    lock::lock(&spot.folder)?;
    let Some(file) = spot.file(OFlags::RDONLY)? else {
        return Ok(());
    };
    let found = fstat(&file)?;
    let ours = beneath::stamp(&found).inode == inode && read::digest(&file)? == digest;
    if ours && unchanged(&spot, &found)? { unlink(&spot) } else { Ok(()) }
}

fn unlink(spot: &Spot) -> Result<(), Trouble> {
    unlinkat(&spot.folder, &spot.name, AtFlags::empty())?;
    beneath::sync_folder(&spot.folder)
}

/// Where a file is or is to be, by its own name. The last part of it may be a link, which is not followed.
pub(super) fn unlinked(files: &Workspace, path: &FilePath, missing: Missing) -> Result<Spot, Trouble> {
    let (parent, name) = beneath::split(path.name());
    let folder = Space::open(&files.root, path.folder(), missing)?.folder(parent, missing)?;
    Ok(Spot { folder, name: name.into() })
}
