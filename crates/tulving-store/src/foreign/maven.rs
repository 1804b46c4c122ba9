//! Maven: the folder `memory` of its workspace, which contains `MEMORY.md` and a journal for each day.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tulving_core::files::{Day, long_term};
use tulving_core::model::foreign::{ForeignWorkspace, SkippedItem};
use tulving_core::model::limits;
use tulving_core::model::vocabulary::System;

use super::error::ForeignError;
use crate::tree;

/// The name of the folder with the journals in a workspace.
const FOLDER: &str = "memory";

/// Returns the folder with the journals, if the path is a workspace of Maven or that folder itself.
pub(super) fn folder(path: &Path) -> Option<PathBuf> {
    let within = path.join(FOLDER);
    if holds_memory(&within) {
        return Some(within);
    }
    let itself = path.file_name().is_some_and(|name| name == FOLDER);
    (itself && holds_memory(path)).then(|| path.to_owned())
}

fn holds_memory(folder: &Path) -> bool {
    if !folder.is_dir() {
        return false;
    }
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    folder.join(long_term::FILE).is_file()
        || entries.any(|entry| entry.file_name().to_str().is_some_and(|name| Day::of_journal(name).is_some()))
}

pub(super) fn read(path: &Path) -> Result<ForeignWorkspace, ForeignError> {
    let folder = folder(path).ok_or_else(|| ForeignError::NotOf {
        path: path.to_owned(),
        system: System::Maven,
        why: "there is neither memory/MEMORY.md nor a journal such as memory/2026-05-27.md".to_owned(),
    })?;
    let unreadable =
        |path: &Path, source: io::Error| ForeignError::Unreadable { path: path.to_owned(), source };
    let mut diary = ForeignWorkspace::default();
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))? {
        let name = entry.map_err(|error| unreadable(&folder, error))?.file_name();
        let Some(name) = name.to_str() else { continue };
        if Day::of_journal(name).is_some() {
            names.push(name.to_owned());
        } else if name != long_term::FILE && name.ends_with(".md") && !name.starts_with('.') {
            let why =
                "its name is not that of a day, such as 2026-05-27.md; --as files takes it as a document";
            diary.unread.push(SkippedItem { what: name.to_owned(), why: why.to_owned() });
        }
    }
    diary.unread.sort_by(|one, other| one.what.cmp(&other.what));
    names.sort_unstable();
    for name in names {
        match tree::read(&folder.join(&name), limits::JOURNAL_SHOWN_BYTES) {
            Ok((_, bytes)) => diary.journals.push((name, bytes)),
            Err(error) => diary.unread.push(SkippedItem { what: name, why: error.to_string() }),
        }
    }
    if folder != path {
        let hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
        let entries = fs::read_dir(path).map_err(|error| unreadable(path, error))?.flatten();
        let names = entries.map(|entry| entry.file_name());
        diary.beside = names.filter(|name| name != FOLDER && !hidden(name)).count();
    }
    let known = folder.join(long_term::FILE);
    if known.exists() {
        match tree::read(&known, limits::LONG_TERM_BYTES as u64) {
            Ok((_, bytes)) => diary.long_term = Some(bytes),
            Err(error) => {
                diary.unread.push(SkippedItem { what: long_term::FILE.to_owned(), why: error.to_string() });
            }
        }
    }
    Ok(diary)
}
