//! `MEMORY.md`: what is always known, in one file that its people and agents curate.
//!
//! It is read when it is asked for. A replacement is whole, and what it replaces is kept.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::error::{Error, Field, FileError, Invalid};
use crate::file::{FilePath, Folder, Previous};
use crate::limits;
use crate::ports::From;
use crate::request::Caller;
use crate::time::Timestamp;

use super::readable;

/// The name of the file in the folder of journals.
pub const FILE: &str = "MEMORY.md";
/// What it stands under in a prompt.
pub const HEADING: &str = "# Long-term Memory";
/// Most characters of it in a prompt.
pub const SHOWN: usize = 12_288;

/// What is always known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongTerm {
    /// The path of the file below the workspace.
    pub path: String,
    /// What it says; empty where there is no such file. Bytes that are no text show as `�`.
    pub content: String,
    /// SHA-256 of its bytes, hexadecimal; `None` where there is no such file. Who replaces it says what they saw.
    pub digest: Option<String>,
    /// When it was last written.
    pub modified_at: Option<Timestamp>,
}

impl LongTerm {
    /// What stands in a prompt: the heading and what the file says, cut where it is long. Empty where it says nothing.
    pub fn prompt(&self) -> String {
        let said = self.content.trim();
        if said.is_empty() { String::new() } else { format!("{HEADING}\n\n{}\n", capped(said)) }
    }
}

/// At most [`SHOWN`] characters, and `…` where there are more.
fn capped(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What is always known in the caller's space.
pub(crate) fn read(parts: &Parts, caller: &Caller) -> Result<LongTerm, Error> {
    Ok(load(parts, &file(&readable(parts, caller)?))?)
}

/// Replaces it, where it is still what the caller saw: the digest that [`read`] gave, empty for no file; without one, whatever it is
/// by now.
pub(crate) fn replace(
    parts: &Parts,
    caller: &Caller,
    content: &str,
    seen: Option<&str>,
) -> Result<LongTerm, Error> {
    let (got, limit) = (content.len(), limits::LONG_TERM_BYTES);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::File, got, limit, unit: "bytes" }.into());
    }
    let (space, _) = access::workplace(parts, caller)?;
    let path = file(&Folder::of(&space));
    let from = match seen {
        None => From::Any,
        Some(digest) => seen_as(digest).ok_or_else(|| changed(&path))?,
    };
    parts.files.replace(&path, content.as_bytes(), from, Some(parts.clock.now()))?;
    Ok(load(parts, &path)?)
}

/// The texts that it had before, newest first.
pub(crate) fn previous(parts: &Parts, caller: &Caller) -> Result<Vec<Previous>, Error> {
    Ok(parts.files.previous(&file(&readable(parts, caller)?))?)
}

/// One of them.
pub(crate) fn previous_text(parts: &Parts, caller: &Caller, id: &str) -> Result<String, Error> {
    let found = parts.files.previous_content(&file(&readable(parts, caller)?), id)?;
    let found = found
        .ok_or_else(|| FileError::Absent { name: format!("{FILE} of {}", crate::preview::short(id)) })?;
    Ok(super::text(&found))
}

/// Brings one of them back, in the place of what is there, which is kept in turn.
pub(crate) fn restore(parts: &Parts, caller: &Caller, id: &str) -> Result<LongTerm, Error> {
    let (space, _) = access::workplace(parts, caller)?;
    let path = file(&Folder::of(&space));
    let found = parts.files.previous_content(&path, id)?;
    let found = found
        .ok_or_else(|| FileError::Absent { name: format!("{FILE} of {}", crate::preview::short(id)) })?;
    parts.files.replace(&path, &found, From::Any, Some(parts.clock.now()))?;
    Ok(load(parts, &path)?)
}

pub(crate) fn file(folder: &Folder) -> FilePath {
    super::path(folder, FILE)
}

pub(crate) fn load(parts: &Parts, path: &FilePath) -> Result<LongTerm, FileError> {
    let found = parts.files.read(path, limits::JOURNAL_SHOWN_BYTES)?;
    let digest = found.as_ref().map(|found| data_encoding::HEXLOWER.encode(&Sha256::digest(&found.bytes)));
    let modified_at = found.as_ref().map(|found| found.stamp.modified_at());
    let content = found.map(|found| super::text(&found.bytes)).unwrap_or_default();
    Ok(LongTerm { path: path.to_string(), content, digest, modified_at })
}

/// The state of the file that has this digest; empty is no file.
pub(crate) fn seen_as(digest: &str) -> Option<From> {
    if digest.is_empty() {
        return Some(From::Nothing);
    }
    let digest = data_encoding::HEXLOWER_PERMISSIVE.decode(digest.as_bytes()).ok()?;
    digest.try_into().ok().map(From::Digest)
}

fn changed(path: &FilePath) -> FileError {
    FileError::Changed { name: path.name().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saying(content: &str) -> LongTerm {
        LongTerm { path: String::new(), content: content.to_owned(), digest: None, modified_at: None }
    }

    #[test]
    fn a_long_file_is_cut_by_characters_and_says_so() {
        let exact = "é".repeat(SHOWN);
        assert_eq!(saying(&exact).prompt(), format!("# Long-term Memory\n\n{exact}\n"));
        let longer = format!("{exact}x");
        assert_eq!(saying(&longer).prompt(), format!("# Long-term Memory\n\n{exact}…\n"));
    }

    #[test]
    fn an_empty_file_adds_nothing() {
        assert_eq!(saying("").prompt(), "");
        assert_eq!(saying(" \n\t\n").prompt(), "");
    }
}
