//! The files in the folder of a space: made, read, listed and removed by its members.

use serde::Serialize;

use crate::access::{self, Parts};
use crate::answer::Warning;
use crate::error::{Error, Field, FileError, Invalid};
use crate::file::{self, FileEntry, FilePath, Folder};
use crate::limits;
use crate::ports::From;
use crate::request::Caller;
use crate::time::Timestamp;

use super::readable;

/// A file in the folder of a space.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShelfFile {
    /// Its path below the folder.
    pub name: String,
    /// Its path below the workspace.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When it was last written.
    pub modified_at: Timestamp,
    /// What was held back of a text that was just written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl ShelfFile {
    fn of(file: &FileEntry) -> Self {
        Self {
            name: file.path.name().to_owned(),
            path: file.path.to_string(),
            size: file.stamp.size,
            modified_at: file.stamp.modified_at(),
            warnings: Vec::new(),
        }
    }
}

/// The files of a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shelf {
    /// The path of the folder below the workspace; empty for the workspace itself.
    pub folder: String,
    /// The files, by name; in the workspace itself those below `memory` come first.
    pub files: Vec<ShelfFile>,
    /// Whether there are more.
    pub more: bool,
    /// What is there and is not used, and why.
    pub refused: Vec<(String, String)>,
}

/// A file and what it says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShelfText {
    /// The file.
    #[serde(flatten)]
    pub file: ShelfFile,
    /// What it says. Bytes that are no text show as `�`.
    pub content: String,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// It must not be there.
    New,
    /// It may be there, and is replaced.
    Any,
}

/// The files in the folder of the caller's space. Of the workspace itself only what is kept there for memory: it may be
/// somebody's own folder, with much else in it.
pub(crate) fn list(parts: &Parts, caller: &Caller) -> Result<Shelf, Error> {
    let readable = readable(parts, caller)?;
    let name = readable.as_ref().map_or("", Folder::as_str).to_owned();
    let mut shelf = Shelf { folder: name, files: Vec::new(), more: false, refused: Vec::new() };
    let Some(folder) = readable else { return Ok(shelf) };
    for below in folder.kept_below() {
        let listed = parts.files.list(&folder, below, limits::FILES_LISTED)?;
        shelf.files.extend(listed.files.iter().map(ShelfFile::of));
        shelf.more |= listed.more;
        shelf.refused.extend(listed.refused);
    }
    Ok(shelf)
}

/// What a file says.
pub(crate) fn get(parts: &Parts, caller: &Caller, name: &str) -> Result<ShelfText, Error> {
    let folder = readable(parts, caller)?.ok_or_else(|| absent(name))?;
    let path = named(&folder, name)?;
    let found = parts.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?;
    let found = found.ok_or_else(|| absent(name))?;
    if file::is_binary(&found.bytes) {
        return Err(FileError::NotText { name: crate::preview::short(name) }.into());
    }
    let content = super::text(&found.bytes);
    Ok(ShelfText { file: ShelfFile::of(&FileEntry { path, stamp: found.stamp }), content })
}

/// Makes a file, or replaces it.
pub(crate) fn put(
    parts: &Parts,
    caller: &Caller,
    name: &str,
    content: &str,
    writing: Writing,
) -> Result<ShelfFile, Error> {
    let (got, limit) = (content.len(), limits::FILE_BYTES);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::File, got, limit, unit: "bytes" }.into());
    }
    let (space, _) = access::file_workplace(parts, caller)?;
    let path = named(&Folder::of(&space), name)?;
    let mut sieve = parts.sieve(&space);
    let content = sieve.file(content)?;
    match writing {
        Writing::New => parts.files.create(&path, content.as_bytes())?,
        Writing::Any => parts.files.replace(&path, content.as_bytes(), From::Any, Some(parts.clock.now()))?,
    }
    let stamp = parts.files.stamp(&path)?.ok_or_else(|| absent(name))?;
    let warnings = sieve.withheld().warnings();
    Ok(ShelfFile { warnings, ..ShelfFile::of(&FileEntry { path, stamp }) })
}

/// Removes a file, and what it said before: what was erased is in no file of the home. One that is gone already has its previous
/// texts removed all the same.
pub(crate) fn remove(parts: &Parts, caller: &Caller, name: &str) -> Result<(), Error> {
    let (space, _) = access::file_workplace(parts, caller)?;
    let path = named(&Folder::of(&space), name)?;
    let removed = parts.files.remove(&path, From::Any)?;
    let forgotten = parts.files.forget_previous(&path)?;
    if removed || forgotten > 0 { Ok(()) } else { Err(absent(name)) }
}

/// A file that members reach by name. In the workspace itself that is only what is kept there for memory.
fn named(folder: &Folder, name: &str) -> Result<FilePath, Error> {
    Ok(FilePath::kept(folder, name)?)
}

fn absent(name: &str) -> Error {
    FileError::Absent { name: crate::preview::short(name) }.into()
}
