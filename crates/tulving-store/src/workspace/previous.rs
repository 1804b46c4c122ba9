//! The previous texts of replaced files, stored in the home.
//!
//! Each file has a folder in the home, which contains a file for each previous text. The names are based on the time of
//! the replacement and always ascend, even if the clock is set back. Only the newest texts are kept.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use tulving_core::model::file::PreviousFile;
use tulving_core::model::time::Timestamp;

use super::errors::WorkspaceFileError;
use super::read;
use crate::draft::{self, DraftFile};
use crate::{files, home};

/// Maximum number of previous texts of a file.
const KEPT: usize = 50;
const SUFFIX: &str = ".md";

/// Stores the rest of an open file durably, unless it equals the newest previous text.
pub(super) fn keep(folder: &Path, mut old: &File, now: Timestamp) -> Result<(), WorkspaceFileError> {
    if !folder.is_dir() {
        home::make_folder(folder)?;
    }
    let failed = |error: io::Error| WorkspaceFileError::from(files::unwritten(folder, "written", &error));
    let mut draft = DraftFile::beside(&folder.join("text"), "")?;
    io::copy(&mut old, &mut draft).map_err(failed)?;
    draft.flush().map_err(failed)?;
    let kept = list(folder)?;
    let newest = kept.first();
    if let Some(newest) = newest
        && same_bytes(&folder.join(file_name(&newest.id)), draft.path()).map_err(failed)?
    {
        return Ok(());
    }
    draft.sync().map_err(failed)?;
    let mut at = newest.map_or(now, |newest| now.max(later(newest.at)));
    while let Err((back, error)) = draft.place(&folder.join(file_name(&id_of(at)))) {
        if error.kind() != io::ErrorKind::AlreadyExists {
            return Err(failed(error));
        }
        (draft, at) = (back, later(at));
    }
    files::sync_folder(folder)?;
    for old in kept.iter().skip(KEPT - 1) {
        drop(fs::remove_file(folder.join(file_name(&old.id))));
    }
    Ok(())
}

/// Returns the previous texts in a folder, newest first.
pub(super) fn list(folder: &Path) -> Result<Vec<PreviousFile>, WorkspaceFileError> {
    let failed = |error: io::Error| WorkspaceFileError::from(files::unwritten(folder, "read", &error));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)) else {
            continue;
        };
        match (time_of(id), entry.metadata()) {
            (Some(at), Ok(file)) if file.is_file() => {
                found.push(PreviousFile { id: id.to_owned(), at, size: file.len() });
            }
            _ => {}
        }
    }
    found.sort_unstable_by_key(|text| Reverse(text.at));
    Ok(found)
}

/// Returns the text with this id; `None` if it does not exist.
pub(super) fn content(folder: &Path, id: &str) -> Result<Option<Vec<u8>>, WorkspaceFileError> {
    if time_of(id).is_none() {
        return Ok(None);
    }
    let path = folder.join(file_name(id));
    match fs::read(&path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(files::unwritten(&path, "read", &error).into()),
    }
}

/// Removes all previous texts and abandoned drafts durably, and returns the number of removed texts. The folder stays,
/// because it may contain the folders of other files.
pub(super) fn forget(folder: &Path) -> Result<usize, WorkspaceFileError> {
    draft::sweep(folder);
    let kept = list(folder)?;
    for text in &kept {
        let path = folder.join(file_name(&text.id));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(files::unwritten(&path, "removed", &error).into());
            }
            Ok(()) | Err(_) => {}
        }
    }
    if !kept.is_empty() {
        files::sync_folder(folder)?;
    }
    Ok(kept.len())
}

fn file_name(id: &str) -> String {
    format!("{id}{SUFFIX}")
}

fn later(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(at.as_micros().saturating_add(1))
}

/// Returns the id of a text that was replaced at this time. Every file system allows the characters of an id.
fn id_of(at: Timestamp) -> String {
    at.to_string().replace(':', "-")
}

/// Returns the time in an id; `None` if the text is not an id.
fn time_of(id: &str) -> Option<Timestamp> {
    let (day, time) = id.split_once('T')?;
    let at: Timestamp = format!("{day}T{}", time.replace('-', ":")).parse().ok()?;
    (id_of(at) == id).then_some(at)
}

/// Returns true if two files have the same bytes.
fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    Ok(read::digest(&one)? == read::digest(&other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_time() {
        let at: Timestamp = "2026-05-27T09:30:00Z".parse().expect("a time");
        assert_eq!(id_of(at), "2026-05-27T09-30-00.000000Z");
        assert_eq!(time_of("2026-05-27T09-30-00.000000Z"), Some(at));
        for wrong in ["", "T", "../../api-token", "2026-05-27T09-30-00Z", "2026-05-27T09:30:00.000000Z"] {
            assert_eq!(time_of(wrong), None, "{wrong}");
        }
    }
}
