//! Undoes the changes that passes made to files. A change is undone only if the file still contains what the pass wrote.

use sha2::{Digest, Sha256};
use tulving_text::diff;

use super::space;
use crate::files::format;
use crate::model::error::{Error, FileError};
use crate::model::file::{FilePath, Folder, digest};
use crate::model::id::SpaceId;
use crate::model::limits;
use crate::model::pass::PassAct;
use crate::model::request::Caller;
use crate::ports::From;
use crate::verbs::access::Ports;

const EDITED: &str = "the file has been edited since";

/// The result of undoing an act on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileUndoOutcome {
    /// The act was undone, or, in a preview, can be undone.
    Taken,
    /// The file already has the content from before the act: an interrupted undo restored it, or the act never happened.
    FoundDone,
}

/// Undoes an act on a file, or only checks whether that is possible. The inner error is the reason why the file stays
/// unchanged.
pub(super) fn take_back(
    ports: &Ports,
    caller: &Caller,
    of: SpaceId,
    (name, act): (&str, &PassAct),
    dry_run: bool,
) -> Result<Result<FileUndoOutcome, String>, Error> {
    let path = FilePath::new(&Folder::of(&space(ports, caller, of)?), name)?;
    let found = ports.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?;
    if is_back(ports, &path, found.as_ref().map(|found| found.bytes.as_slice()), act)? {
        return Ok(Ok(FileUndoOutcome::FoundDone));
    }
    let Some(found) = found else { return Ok(Err("the file is gone".to_owned())) };
    let before = match act {
        PassAct::Noted { entry, .. } => without(&found.bytes, entry),
        // An earlier undo was interrupted before it removed the file.
        PassAct::Replaced { from: None, .. } if found.bytes.is_empty() => Ok(Vec::new()),
        PassAct::Replaced { to, .. } if digest(&found.bytes) != *to => Err(EDITED.to_owned()),
        PassAct::Replaced { from, .. } => kept(ports, &path, from.as_deref())?,
        _ => return Ok(Err("it does not name a file".to_owned())),
    };
    let before = match before {
        Ok(before) if !dry_run => before,
        predicted => return Ok(predicted.map(|_| FileUndoOutcome::Taken)),
    };
    let from = From::Digest(Sha256::digest(&found.bytes).into());
    match ports.files.replace(&path, &before, from, Some(ports.clock.now())) {
        Err(FileError::Changed { .. }) => return Ok(Err(EDITED.to_owned())),
        done => done?,
    }
    if matches!(act, PassAct::Replaced { from: None, .. }) {
        remove_empty(ports, &path)?;
    }
    Ok(Ok(FileUndoOutcome::Taken))
}

/// Returns true if a file has the content from before an act.
fn is_back(ports: &Ports, path: &FilePath, stands: Option<&[u8]>, act: &PassAct) -> Result<bool, Error> {
    match (act, stands) {
        (PassAct::Replaced { from, .. }, stands) => Ok(stands.map(digest) == *from),
        (PassAct::Noted { entry, .. }, Some(stands)) => taken_out(ports, path, stands, entry),
        _ => Ok(false),
    }
}

/// Returns true if an undo removed an entry that is missing from a journal. An undo keeps the earlier text of the journal; a
/// manual edit does not.
fn taken_out(ports: &Ports, path: &FilePath, stands: &[u8], entry: &str) -> Result<bool, Error> {
    if without(stands, entry).is_ok() {
        return Ok(false);
    }
    let mut after = stands.to_vec();
    for previous in ports.files.previous(path)? {
        let Some(before) = ports.files.previous_content(path, &previous.id)? else { continue };
        // Other writers may have added entries after the undo.
        if without(&before, entry).is_ok_and(|rest| after.starts_with(&rest)) {
            return Ok(true);
        }
        after = before;
    }
    Ok(false)
}

/// Removes a file that is now empty, and keeps its earlier texts. If somebody has written to the file meanwhile, it is not
/// removed.
fn remove_empty(ports: &Ports, path: &FilePath) -> Result<(), Error> {
    match ports.files.remove(path, From::Digest(Sha256::digest([]).into())) {
        Err(FileError::Changed { .. }) => Ok(()),
        removed => removed.map(|_| ()).map_err(Error::from),
    }
}

/// Returns the lines that an act removed and added, if the texts before and after the act still exist.
pub(super) fn diff(
    ports: &Ports,
    caller: &Caller,
    of: SpaceId,
    act: &PassAct,
) -> Result<Option<String>, Error> {
    let PassAct::Replaced { file, from, to, .. } = act else { return Ok(None) };
    let path = FilePath::new(&Folder::of(&space(ports, caller, of)?), file)?;
    let stands = ports.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?.map(|found| found.bytes);
    let new = match stands.filter(|stands| digest(stands) == *to) {
        Some(stands) => Ok(stands),
        None => kept(ports, &path, Some(to))?,
    };
    let (Ok(old), Ok(new)) = (kept(ports, &path, from.as_deref())?, new) else { return Ok(None) };
    let (old, new) = (crate::model::file::text(&old), crate::model::file::text(&new));
    Ok(Some(diff::described(&diff::lines(&old, &new))))
}

/// Returns the earlier text of a file with this digest; empty if the file did not exist.
fn kept(ports: &Ports, path: &FilePath, wanted: Option<&str>) -> Result<Result<Vec<u8>, String>, Error> {
    let Some(wanted) = wanted else { return Ok(Ok(Vec::new())) };
    for previous in ports.files.previous(path)? {
        if let Some(text) = ports.files.previous_content(path, &previous.id)?
            && digest(&text) == wanted
        {
            return Ok(Ok(text));
        }
    }
    Ok(Err("the earlier text of the file is no longer kept".to_owned()))
}

/// Returns a journal without the last entry that has this digest.
fn without(bytes: &[u8], entry: &str) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the file is not text".to_owned())?;
    let entries = format::entries(text, format::EntryLayout::Journal);
    let found = entries.into_iter().rev().find(|one| format::digest(&text[one.range.clone()]) == entry);
    let range = found.ok_or_else(|| "the entry was edited or removed since".to_owned())?.range;
    let rest = &text[range.end..];
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    Ok(format!("{}{rest}", &text[..range.start]).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_goes_with_its_lines_and_the_others_stay() {
        let text = "one\ntwo\n  more of it\nthree\n";
        let left = |entry: &str| {
            without(text.as_bytes(), &format::digest(entry))
                .map(|left| String::from_utf8(left).expect("text"))
        };
        assert_eq!(left("two\n  more of it").as_deref(), Ok("one\nthree\n"));
        assert_eq!(left("three").as_deref(), Ok("one\ntwo\n  more of it\n"));
        assert!(left("four").is_err());
        let twice = without("same\r\nother\r\nsame\r\n".as_bytes(), &format::digest("same"));
        assert_eq!(twice.as_deref(), Ok("same\r\nother\r\n".as_bytes()), "the last of them");
    }
}
