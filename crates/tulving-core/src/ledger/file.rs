//! The files that passes wrote: what of them still is as the pass left it, and how it is taken back.

use sha2::{Digest, Sha256};

use super::space;
use crate::access::Parts;
use crate::error::{Error, FileError};
use crate::file::{FilePath, Folder, digest};
use crate::id::SpaceId;
use crate::journal::format;
use crate::limits;
use crate::pass::PassAct;
use crate::ports::From;
use crate::request::Caller;
use crate::text::diff;

const EDITED: &str = "the file was edited since";

/// What became of taking an act back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Back {
    /// It was taken back, or could be.
    Taken,
    /// The file is as it was before the act: an undo that was cut off took it back, or it was never done.
    FoundDone,
}

/// Takes what was done to this file back, or only tells whether it could be; why it stays where it does.
pub(super) fn take_back(
    parts: &Parts,
    caller: &Caller,
    of: SpaceId,
    (name, act): (&str, &PassAct),
    dry_run: bool,
) -> Result<Result<Back, String>, Error> {
    let path = FilePath::new(&Folder::of(&space(parts, caller, of)?), name)?;
    let found = parts.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?;
    if is_back(parts, &path, found.as_ref().map(|found| found.bytes.as_slice()), act)? {
        return Ok(Ok(Back::FoundDone));
    }
    let Some(found) = found else { return Ok(Err("the file is gone".to_owned())) };
    let before = match act {
        PassAct::Noted { entry, .. } => without(&found.bytes, entry),
        // It was about to be removed when something came between.
        PassAct::Replaced { from: None, .. } if found.bytes.is_empty() => Ok(Vec::new()),
        PassAct::Replaced { to, .. } if digest(&found.bytes) != *to => Err(EDITED.to_owned()),
        PassAct::Replaced { from, .. } => kept(parts, &path, from.as_deref())?,
        _ => return Ok(Err("it is about no file".to_owned())),
    };
    let before = match before {
        Ok(before) if !dry_run => before,
        foreseen => return Ok(foreseen.map(|_| Back::Taken)),
    };
    let from = From::Digest(Sha256::digest(&found.bytes).into());
    match parts.files.replace(&path, &before, from, Some(parts.clock.now())) {
        Err(FileError::Changed { .. }) => return Ok(Err(EDITED.to_owned())),
        done => done?,
    }
    if matches!(act, PassAct::Replaced { from: None, .. }) {
        remove_empty(parts, &path)?;
    }
    Ok(Ok(Back::Taken))
}

/// Whether a file, by what stands in it, is as it was before an act.
fn is_back(parts: &Parts, path: &FilePath, stands: Option<&[u8]>, act: &PassAct) -> Result<bool, Error> {
    match (act, stands) {
        (PassAct::Replaced { from, .. }, stands) => Ok(stands.map(digest) == *from),
        (PassAct::Noted { entry, .. }, Some(stands)) => taken_out(parts, path, stands, entry),
        _ => Ok(false),
    }
}

/// Whether an entry that a journal has no more was taken out by an undo, which keeps the text before. What was edited by hand
/// is told by that: no text is kept.
fn taken_out(parts: &Parts, path: &FilePath, stands: &[u8], entry: &str) -> Result<bool, Error> {
    if without(stands, entry).is_ok() {
        return Ok(false);
    }
    let mut after = stands.to_vec();
    for previous in parts.files.previous(path)? {
        let Some(before) = parts.files.previous_content(path, &previous.id)? else { continue };
        // More may have been noted since.
        if without(&before, entry).is_ok_and(|rest| after.starts_with(&rest)) {
            return Ok(true);
        }
        after = before;
    }
    Ok(false)
}

/// Removes a file that says nothing any more. Its texts before are kept. Who has written to it meanwhile keeps it.
fn remove_empty(parts: &Parts, path: &FilePath) -> Result<(), Error> {
    match parts.files.remove(path, From::Digest(Sha256::digest([]).into())) {
        Err(FileError::Changed { .. }) => Ok(()),
        removed => removed.map(|_| ()).map_err(Error::from),
    }
}

/// The lines that a file lost and got by an act, where both texts are still kept.
pub(super) fn diff(
    parts: &Parts,
    caller: &Caller,
    of: SpaceId,
    act: &PassAct,
) -> Result<Option<String>, Error> {
    let PassAct::Replaced { file, from, to, .. } = act else { return Ok(None) };
    let path = FilePath::new(&Folder::of(&space(parts, caller, of)?), file)?;
    let stands = parts.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?.map(|found| found.bytes);
    let new = match stands.filter(|stands| digest(stands) == *to) {
        Some(stands) => Ok(stands),
        None => kept(parts, &path, Some(to))?,
    };
    let (Ok(old), Ok(new)) = (kept(parts, &path, from.as_deref())?, new) else { return Ok(None) };
    let (old, new) = (crate::file::text(&old), crate::file::text(&new));
    Ok(Some(diff::told(&diff::lines(&old, &new))))
}

/// The text that a file had before, by its digest; nothing where there was no such file.
fn kept(parts: &Parts, path: &FilePath, wanted: Option<&str>) -> Result<Result<Vec<u8>, String>, Error> {
    let Some(wanted) = wanted else { return Ok(Ok(Vec::new())) };
    for previous in parts.files.previous(path)? {
        if let Some(text) = parts.files.previous_content(path, &previous.id)?
            && digest(&text) == wanted
        {
            return Ok(Ok(text));
        }
    }
    Ok(Err("what the file said before is kept no longer".to_owned()))
}

/// A journal without its last entry that says this.
fn without(bytes: &[u8], entry: &str) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the file is no text".to_owned())?;
    let entries = format::entries(text, format::Form::Journal);
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
