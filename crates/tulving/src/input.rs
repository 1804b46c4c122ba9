//! Input besides flags: standard input and the files that a command names. `-` is standard input.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use tulving_core::model::error::{Field, Invalid};
use tulving_store::tree::TreeError;

use crate::failure::{Failure, InputError};

const STANDARD_INPUT: &str = "standard input";

/// The mark that some editors write at the start of UTF-8 text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The start of every SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// The start of every backup: the name of its first entry.
const BACKUP: &[u8] = b"tulving-backup.json\0";

/// Joins the words of a command with spaces; a single `-` reads standard input. A `-` may stand between other words, as in
/// `Berlin - Paris`. A `-` as the first or last word is an error, because the user meant standard input.
///
/// Reads at most four times `limit` bytes of standard input, so that endless input ends in an error instead of filling memory.
pub(crate) fn text(words: &[OsString], limit: usize) -> Result<String, Failure> {
    if let [word] = words
        && word == "-"
    {
        return standard_text(Field::Content, limit);
    }
    if [words.first(), words.last()].into_iter().flatten().any(|word| word == "-") {
        let failure = Failure::usage("`-` reads standard input and must be the only word");
        return Err(failure.hinted("put the text into quotes if the dash is a part of it"));
    }
    let words: Result<Vec<String>, Failure> = words.iter().map(word).collect();
    Ok(words?.join(" "))
}

/// Reads the text of a file; `-` is standard input. Stops reading a file once it is known to be too long.
pub(crate) fn file(path: &Path, field: Field, limit: usize) -> Result<String, Failure> {
    if path == Path::new("-") {
        return standard_text(field, limit);
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| InputError::Unreadable { name: name.clone(), source })?;
    let bytes = beginning(file, &name, limit)?;
    if bytes.len() > limit {
        return Err(Invalid::TooLong { field, got: bytes.len(), limit, unit: "bytes" }.into());
    }
    utf8(bytes, &name)
}

/// Returns the name of a file in messages; `-` is standard input.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") { STANDARD_INPUT.to_owned() } else { path.display().to_string() }
}

/// Reads all bytes of standard input, at most `most`.
pub(crate) fn standard_input(most: u64) -> Result<Vec<u8>, Failure> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    let bytes = beginning(io::stdin().lock(), STANDARD_INPUT, limit)?;
    if bytes.len() > limit {
        return Err(Invalid::TooLong { field: Field::File, got: bytes.len(), limit, unit: "bytes" }.into());
    }
    Ok(bytes)
}

/// Reads the text of standard input.
fn standard_text(field: Field, limit: usize) -> Result<String, Failure> {
    let most = limit.saturating_mul(4);
    let bytes = beginning(io::stdin().lock(), STANDARD_INPUT, most)?;
    if bytes.len() > most {
        return Err(Invalid::TooLong { field, got: bytes.len(), limit, unit: "bytes" }.into());
    }
    utf8(bytes, STANDARD_INPUT)
}

/// Reads all bytes, or `most` plus one if there are more.
fn beginning(reader: impl Read, name: &str, most: usize) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    let read = reader.take(most.saturating_add(1) as u64).read_to_end(&mut bytes);
    match read {
        Ok(_) => Ok(bytes),
        Err(source) => Err(InputError::Unreadable { name: name.to_owned(), source }),
    }
}

/// Returns the canonical path of a file or a folder, as text.
pub(crate) fn full_path(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let full = path.canonicalize().map_err(|source| InputError::Unreadable { name: name.clone(), source })?;
    match full.into_os_string().into_string() {
        Ok(text) => Ok(text),
        Err(text) => utf8(text.into_encoded_bytes(), &format!("the path of {name}")),
    }
}

/// Returns the full path that a file or folder had before it was removed.
pub(crate) fn missing_path(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let above = match path.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    let last = path.file_name().and_then(|last| last.to_str());
    let last = last.ok_or_else(|| Failure::usage(format!("{name} is not the path of a file or folder")))?;
    Ok(format!("{}/{last}", full_path(above)?.trim_end_matches('/')))
}

/// Returns the failure for a file that was not read.
pub(crate) fn unread(path: &Path, error: TreeError) -> Failure {
    let name = path.display().to_string();
    match error {
        TreeError::Unreadable(source) => InputError::Unreadable { name, source }.into(),
        TreeError::TooLarge { size, limit } => {
            let [got, limit] = [size, limit].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            Invalid::TooLong { field: Field::File, got, limit, unit: "bytes" }.into()
        }
        _ if path.is_dir() => {
            Failure::usage(format!("{name} is a folder")).hinted("`tulving import` takes whole folders")
        }
        _ => Failure::usage(format!("{name} is not a regular file")).hinted("`-` is standard input"),
    }
}

fn word(word: &OsString) -> Result<String, Failure> {
    match word.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => utf8(word.as_encoded_bytes().to_vec(), "the text on the command line"),
    }
}

fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(at).copied().unwrap_or_default();
        InputError::NotUtf8 { name: name.to_owned(), at, byte }.into()
    })
}

/// A file, or standard input, read line by line.
pub(crate) struct InputLines {
    name: String,
    size: Option<u64>,
    reader: Box<dyn BufRead>,
    read: u64,
    line: u64,
}

impl InputLines {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let name = name(path);
        if path == Path::new("-") {
            let reader = Box::new(BufReader::new(io::stdin()));
            return Ok(Self { name, size: None, reader, read: 0, line: 0 });
        }
        let unreadable = |source| InputError::Unreadable { name: name.clone(), source };
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if about.is_dir() {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()).into());
        }
        let size = about.is_file().then_some(about.len());
        Ok(Self { name, size, reader: Box::new(BufReader::with_capacity(1 << 16, file)), read: 0, line: 0 })
    }

    /// The size in bytes, if it is known.
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// Number of bytes read.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// The number of the line read last, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// True if it is a SQLite file or a backup. Consumes nothing.
    pub(crate) fn is_database(&mut self) -> bool {
        self.begins_as(SQLITE) || self.begins_as(BACKUP)
    }

    fn begins_as(&mut self, mark: &[u8]) -> bool {
        // A read error is reported by the next read.
        self.reader.fill_buf().is_ok_and(|start| start.starts_with(mark))
    }

    /// Returns the failure for an input without any line.
    pub(crate) fn empty(&self) -> Failure {
        InputError::Empty { name: self.name.clone() }.into()
    }

    /// Returns the failure for a SQLite file or a backup.
    pub(crate) fn database(&mut self) -> Failure {
        let what = if self.begins_as(BACKUP) { "a backup" } else { "a SQLite database" };
        InputError::Database { name: self.name.clone(), what }.into()
    }

    /// Returns the next line that is not blank, with its number from 1; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, String)>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let got = self
                .reader
                .read_until(b'\n', &mut bytes)
                .map_err(|source| InputError::Unreadable { name: self.name.clone(), source })?;
            if got == 0 {
                return Ok(None);
            }
            self.read += u64::try_from(got).unwrap_or_default();
            self.line += 1;
            let text = utf8(bytes, &format!("line {} of {}", self.line, self.name))?;
            let text = text.strip_prefix(BYTE_ORDER_MARK).filter(|_| self.line == 1).unwrap_or(&text).trim();
            if !text.is_empty() {
                return Ok(Some((self.line, text.to_owned())));
            }
        }
    }

    /// Returns the failure for a line that cannot be accepted.
    pub(crate) fn wrong(&self, line: u64, why: String) -> Failure {
        InputError::Line { line, name: self.name.clone(), why, invalid: None }.into()
    }

    /// Returns the failure for a line that the engine refuses.
    pub(crate) fn refused(&self, line: u64, invalid: Invalid) -> Failure {
        let why = invalid.to_string();
        InputError::Line { line, name: self.name.clone(), why, invalid: Some(Box::new(invalid)) }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined() {
        let words = ["prefers".into(), "dark roast".into()];
        assert_eq!(text(&words, 100).expect("text"), "prefers dark roast");
    }

    #[test]
    fn a_dash_at_either_end_is_no_word() {
        for words in [["-".into(), "extra".into()], ["extra".into(), "-".into()]] {
            let error = text(&words, 100).expect_err("a dash among words");
            assert_eq!(error.message(), "`-` reads standard input and must be the only word");
        }
        let between = ["Berlin".into(), "-".into(), "Paris".into()];
        assert_eq!(text(&between, 100).expect("text"), "Berlin - Paris");
    }

    #[cfg(unix)]
    #[test]
    fn the_first_wrong_byte_is_named() {
        use std::os::unix::ffi::OsStringExt;
        let error = text(&[OsString::from_vec(b"abc\xffd".to_vec())], 100).expect_err("not UTF-8");
        assert_eq!(error.message(), "the text on the command line is not UTF-8: byte 3 is 0xFF");
    }
}
