//! The files that passes wrote: what of them still is as the pass left it, and how it is taken back.

use sha2::{Digest, Sha256};

use super::space;
use crate::access::Parts;
use crate::error::{Error, FileError};
use crate::file::{FilePath, Folder};
use crate::id::SpaceId;
use crate::journal::format;
use crate::limits;
use crate::pass::PassAct;
use crate::ports::From;
use crate::request::Caller;
use crate::text::diff;

const EDITED: &str = "the file was edited since";

/// Takes what was done to this file back, or only tells whether it could be; why it stays where it does.
pub(super) fn take_back(
    parts: &Parts,
    caller: &Caller,
    of: SpaceId,
    (name, act): (&str, &PassAct),
    dry_run: bool,
) -> Result<Result<(), String>, Error> {
    let path = FilePath::new(&Folder::of(&space(parts, caller, of)?), name)?;
    let Some(found) = parts.files.read(&path, limits::JOURNAL_SHOWN_BYTES)? else {
        return Ok(Err("the file is gone".to_owned()));
    };
    let before = match act {
        PassAct::Noted { entry, .. } => without(&found.bytes, entry),
        // It was about to be removed when something came between.
        PassAct::Replaced { from: None, .. } if found.bytes.is_empty() => Ok(Vec::new()),
        PassAct::Replaced { from, to, .. } => before(parts, &path, &found.bytes, from.as_deref(), to)?,
        _ => return Ok(Err("it is about no file".to_owned())),
    };
    let before = match before {
        Ok(before) if !dry_run => before,
        foreseen => return Ok(foreseen.map(drop)),
    };
    let from = From::Digest(Sha256::digest(&found.bytes).into());
    match parts.files.replace(&path, &before, from, Some(parts.clock.now())) {
        Err(FileError::Changed { .. }) => return Ok(Err(EDITED.to_owned())),
        done => done?,
    }
    match act {
        PassAct::Replaced { from: None, .. } => remove_empty(parts, &path).map(Ok),
        _ => Ok(Ok(())),
    }
}

/// Removes a file that says nothing any more. Its texts before are kept. Who has written to it meanwhile keeps it.
fn remove_empty(parts: &Parts, path: &FilePath) -> Result<(), Error> {
    match parts.files.remove(path, From::Digest(Sha256::digest([]).into())) {
        Err(FileError::Changed { .. }) => Ok(()),
        removed => removed.map(|_| ()).map_err(Error::from),
    }
}

/// What a file said before it was replaced, where it still says what it was replaced by.
fn before(
    parts: &Parts,
    path: &FilePath,
    stands: &[u8],
    from: Option<&str>,
    to: &str,
) -> Result<Result<Vec<u8>, String>, Error> {
    let stands = digest(stands);
    match stands == to {
        true => kept(parts, path, from),
        false if Some(stands.as_str()) == from => Ok(Err("the file says what it said before".to_owned())),
        false => Ok(Err(EDITED.to_owned())),
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

/// SHA-256, hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
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
