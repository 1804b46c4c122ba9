//! Imports the journals of another workspace. No existing text is lost, and no entry is imported twice.
//!
//! If this workspace has no journal for a day, the file is copied. If this workspace has a journal for the day, the
//! missing entries are appended to that journal. `MEMORY.md` is imported only if this workspace has none; otherwise a
//! person has to merge the two files.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Range;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::model::answer::Warning;
use crate::model::error::{Error, FileError, Invalid};
use crate::model::file::{FilePath, Folder};
use crate::model::foreign::{ForeignWorkspace, SkippedItem};
use crate::model::limits;
use crate::model::request::Caller;
use crate::ports::From;
use crate::text::redact::{RedactionCounts, Redactor};
use crate::verbs::access::{self, Ports};

use super::format::{self, EntryLayout};
use super::{Day, long_term, path};

/// Maximum number of retries for a file that other processes write to at the same time.
const ROUNDS: usize = 5;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JournalImportReport {
    /// The number of new journals.
    pub new: u64,
    /// The number of journals with additional entries.
    pub extended: u64,
    /// The number of entries added to extended journals.
    pub entries: u64,
    /// The number of journals that already had all entries.
    pub known: u64,
    /// The outcome for `MEMORY.md`, if the other workspace has this file.
    pub long_term: Option<LongTermImportOutcome>,
    /// Files that could not be imported, each with the reason.
    pub skipped: Vec<SkippedItem>,
    /// The names of the new and the extended journal files.
    pub journals: Vec<String>,
    /// The number of other files and folders next to the journals, which were ignored.
    pub beside: usize,
    /// Warnings about parts that were removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// The outcome for `MEMORY.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LongTermImportOutcome {
    /// The file did not exist in this workspace and was imported.
    New,
    /// Both workspaces have the same text.
    Known,
    /// The texts differ. The file in this workspace was not changed.
    Left,
}

/// Imports journals. With `dry_run`, only reports what the import would do.
pub(crate) fn take_over(
    ports: &Ports,
    caller: &Caller,
    diary: ForeignWorkspace,
    dry_run: bool,
) -> Result<JournalImportReport, Error> {
    let (space, _) = access::file_workplace(ports, caller)?;
    let folder = Folder::of(&space);
    let mut taken =
        JournalImportReport { skipped: diary.unread, beside: diary.beside, ..JournalImportReport::default() };
    let mut withheld = RedactionCounts::default();
    for (name, bytes) in diary.journals {
        let Some(day) = Day::of_journal(&name) else {
            taken.skipped.push(SkippedItem { what: name, why: "it is not named for a day".to_owned() });
            continue;
        };
        let file = path(&folder, &day.journal());
        let (bytes, of_it) = match public(&bytes, ports.redactor(&space)) {
            Ok(public) => public,
            Err(refused) => {
                taken.skipped.push(SkippedItem { what: name, why: refused.to_string() });
                continue;
            }
        };
        match journal(ports, &file, &bytes, dry_run)? {
            JournalImportOutcome::New => taken.new += 1,
            JournalImportOutcome::Longer(entries) => {
                taken.extended += 1;
                taken.entries += entries;
            }
            JournalImportOutcome::Known => {
                taken.known += 1;
                continue;
            }
            JournalImportOutcome::Skipped(why) => {
                taken.skipped.push(SkippedItem { what: name, why });
                continue;
            }
        }
        taken.journals.push(name);
        withheld.add(&of_it);
    }
    match diary.long_term.as_deref().map(|bytes| public(bytes, ports.redactor(&space))) {
        None => {}
        Some(Err(refused)) => {
            taken.skipped.push(SkippedItem { what: long_term::FILE.to_owned(), why: refused.to_string() });
        }
        Some(Ok((bytes, of_it))) => match known(ports, &long_term::file(&folder), &bytes, dry_run) {
            Ok(became) => {
                if became == LongTermImportOutcome::New {
                    withheld.add(&of_it);
                }
                taken.long_term = Some(became);
            }
            Err(error) if is_of_file(&error) => {
                taken.skipped.push(SkippedItem { what: long_term::FILE.to_owned(), why: error.to_string() });
            }
            Err(error) => return Err(error.into()),
        },
    }
    taken.warnings = withheld.warnings();
    Ok(taken)
}

/// Removes text that must not be stored from a file. Bytes that are not text stay unchanged.
fn public(bytes: &[u8], mut redactor: Redactor) -> Result<(Cow<'_, [u8]>, RedactionCounts), Invalid> {
    let public = match std::str::from_utf8(bytes) {
        Err(_) => Cow::Borrowed(bytes),
        Ok(text) => match redactor.file(text)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
    };
    Ok((public, redactor.withheld()))
}

/// The outcome for the journal of a day.
enum JournalImportOutcome {
    /// The day had no journal in this workspace.
    New,
    /// The journal was extended by this number of entries.
    Longer(u64),
    /// The journal in this workspace already has all entries.
    Known,
    /// The journal was not imported, for this reason.
    Skipped(String),
}

/// Imports the journal of a day.
fn journal(
    ports: &Ports,
    file: &FilePath,
    theirs: &[u8],
    dry_run: bool,
) -> Result<JournalImportOutcome, Error> {
    for _ in 0..ROUNDS {
        let here = match ports.files.read(file, limits::JOURNAL_SEARCHED_BYTES) {
            Ok(here) => here,
            Err(error) if is_of_file(&error) => return Ok(JournalImportOutcome::Skipped(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let Some(here) = here else {
            if dry_run {
                return Ok(JournalImportOutcome::New);
            }
            match ports.files.create(file, theirs) {
                Ok(()) => return Ok(JournalImportOutcome::New),
                // Another process has created the file meanwhile.
                Err(FileError::Exists { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
        };
        if here.bytes == theirs {
            return Ok(JournalImportOutcome::Known);
        }
        let (Ok(ours), Ok(theirs)) = (std::str::from_utf8(&here.bytes), std::str::from_utf8(theirs)) else {
            return Ok(JournalImportOutcome::Skipped(
                "it is not UTF-8, and there is another one of that day here".to_owned(),
            ));
        };
        let missing = missing(ours, theirs);
        if missing.is_empty() {
            return Ok(JournalImportOutcome::Known);
        }
        if !dry_run {
            let from = From::Digest(Sha256::digest(&here.bytes).into());
            match ports.files.replace(file, longer(ours, &missing).as_bytes(), from, None) {
                Ok(()) => {}
                Err(FileError::Changed { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        return Ok(JournalImportOutcome::Longer(missing.len() as u64));
    }
    Err(FileError::Busy { path: file.to_string().into() }.into())
}

/// Returns true if an error concerns only one file in this workspace, so that the other files can still be imported.
fn is_of_file(error: &FileError) -> bool {
    matches!(error, FileError::TooLarge { .. } | FileError::Refused { .. })
}

/// Imports `MEMORY.md` if this workspace has none.
fn known(
    ports: &Ports,
    file: &FilePath,
    theirs: &[u8],
    dry_run: bool,
) -> Result<LongTermImportOutcome, FileError> {
    let here = ports.files.read(file, limits::JOURNAL_SHOWN_BYTES)?;
    match here {
        Some(here) if here.bytes == theirs => Ok(LongTermImportOutcome::Known),
        Some(_) => Ok(LongTermImportOutcome::Left),
        None if dry_run => Ok(LongTermImportOutcome::New),
        None => match ports.files.create(file, theirs) {
            Ok(()) => Ok(LongTermImportOutcome::New),
            Err(FileError::Exists { .. }) => Ok(LongTermImportOutcome::Left),
            Err(error) => Err(error),
        },
    }
}

/// Appends entries to a text. Each entry starts on a new line and has the line breaks of the text.
fn longer(text: &str, entries: &[String]) -> String {
    let crlf = text.rfind('\n').is_some_and(|at| text[..at].ends_with('\r'));
    let line_break = if crlf { "\r\n" } else { "\n" };
    let mut longer = text.to_owned();
    if !matches!(text, "" | "\u{feff}") && !text.ends_with('\n') {
        longer.push_str(line_break);
    }
    for line in entries.iter().flat_map(|entry| entry.split('\n')) {
        longer.push_str(line);
        longer.push_str(line_break);
    }
    longer
}

/// Returns the entries of `theirs` that `ours` lacks, in order. An entry that occurs several times in `theirs` must occur as
/// often in `ours`.
fn missing(ours: &str, theirs: &str) -> Vec<String> {
    let (mut lines, those) = (bare(ours), bare(theirs));
    let ours = 0..lines.len();
    lines.extend(&those);
    let entries: Vec<Range<usize>> = format::entries(theirs, EntryLayout::Journal)
        .into_iter()
        .map(|entry| {
            let start = ours.end + entry.line as usize - 1;
            start..start + theirs[entry.range].lines().count()
        })
        .collect();
    let runs = LineRunCounter::of(&lines, &entries);
    let (mut wanted, mut here) = (runs.none(&entries), runs.none(&entries));
    for entry in &entries {
        runs.count(entry.clone(), &mut wanted);
    }
    runs.count(ours, &mut here);
    let mut missing = Vec::new();
    for entry in entries {
        let run = runs.run(entry.start, entry.len());
        if here[&run].count < wanted[&run].count {
            runs.count(entry.clone(), &mut here);
            missing.push(lines[entry].join("\n"));
        }
    }
    missing
}

/// Returns the lines of a text without trailing white space and without carriage returns.
fn bare(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().map(str::trim_end).collect()
}

/// A run of consecutive lines: its length, and the numbers of the longest runs with a power-of-two length at its start and
/// at its end. Equal runs have equal values.
type LineRun = (usize, u32, u32);

/// The number of occurrences of a run in some lines.
#[derive(Clone, Copy, Default)]
struct LineRunCount {
    count: usize,
    /// The end of the last counted occurrence, because occurrences do not overlap.
    end: usize,
}

/// Counts occurrences of runs that have the length of an entry. Supports any number and any length of entries.
struct LineRunCounter {
    /// For each run length (one, two, four… lines) and each first line, the number of the run. Equal runs have the same
    /// number.
    names: Vec<Vec<u32>>,
    lengths: BTreeSet<usize>,
}

impl LineRunCounter {
    fn of(lines: &[&str], entries: &[Range<usize>]) -> Self {
        let lengths: BTreeSet<usize> = entries.iter().map(Range::len).collect();
        let longest = lengths.last().copied().unwrap_or_default();
        let mut last = named(lines.iter());
        let (mut names, mut length) = (Vec::new(), 1);
        while 2 * length <= longest {
            let next = named(last.iter().zip(&last[length..]));
            names.push(std::mem::replace(&mut last, next));
            length *= 2;
        }
        names.push(last);
        Self { names, lengths }
    }

    fn run(&self, start: usize, length: usize) -> LineRun {
        let level = length.ilog2() as usize;
        let names = &self.names[level];
        (length, names[start], names[start + length - (1 << level)])
    }

    /// Returns a count of zero for the run of each entry.
    fn none(&self, entries: &[Range<usize>]) -> HashMap<LineRun, LineRunCount> {
        entries.iter().map(|entry| (self.run(entry.start, entry.len()), LineRunCount::default())).collect()
    }

    /// Counts the runs in these lines, which must come after all lines already counted.
    fn count(&self, lines: Range<usize>, counts: &mut HashMap<LineRun, LineRunCount>) {
        for length in self.lengths.iter().copied().take_while(|length| *length <= lines.len()) {
            for start in lines.start..=lines.end - length {
                if let Some(stands) = counts.get_mut(&self.run(start, length))
                    && stands.end <= start
                {
                    *stands = LineRunCount { count: stands.count + 1, end: start + length };
                }
            }
        }
    }
}

/// Returns a number for each item. Equal items have equal numbers.
fn named<T: Eq + Hash>(all: impl Iterator<Item = T>) -> Vec<u32> {
    let mut known = HashMap::new();
    all.map(|one| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(one).or_insert(next)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_missing_is_given() {
        let ours = "tea at nine\r\nplan:\n  one\n  two\n";
        let theirs = "tea at nine\nplan:\n  one\n  three\nmilk\nmilk\n";
        assert_eq!(missing(ours, theirs), ["plan:\n  one\n  three", "milk", "milk"]);
        assert!(missing(theirs, theirs).is_empty());
        assert!(missing("a\nb\nb", "b").is_empty());
        assert!(missing("", "").is_empty());
        let inside = "```\nmilk\n```\nplan:\n  one\n\nmilk\n";
        assert_eq!(missing("milk\nplan:\n  one\n", inside), ["```\nmilk\n```"]);
        assert_eq!(missing("```\nmilk\n```\n", inside), ["plan:\n  one", "milk"]);
    }

    #[test]
    fn long_days_of_many_lines_are_brought_together_in_no_time() {
        let day = |from: usize| -> String {
            (from..from + 10_000).map(|n| format!("entry {n}\n  goes on\n  and on {}\n", n % 7)).collect()
        };
        let began = Instant::now();
        assert_eq!(missing(&day(0), &day(5_000)).len(), 5_000);
        let repeated = format!("start\n{}", "  the same\n".repeat(20_000));
        assert_eq!(missing(&repeated, &format!("{repeated}start\n  the same\n")), ["start\n  the same"]);
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    }

    #[test]
    fn entries_are_added_with_the_breaks_of_the_file() {
        let entries = ["one".to_owned(), "two\n  three".to_owned()];
        for (text, expected) in [
            ("", "one\ntwo\n  three\n"),
            ("\u{feff}", "\u{feff}one\ntwo\n  three\n"),
            ("a", "a\none\ntwo\n  three\n"),
            ("a\r\n", "a\r\none\r\ntwo\r\n  three\r\n"),
            ("a\r\nb", "a\r\nb\r\none\r\ntwo\r\n  three\r\n"),
        ] {
            assert_eq!(longer(text, &entries), expected);
        }
    }

    proptest! {
        #[test]
        fn what_was_added_is_not_missing_again(ours in "[ab \\n`]{0,30}", theirs in "[ab \\n`]{0,30}") {
            let added = missing(&ours, &theirs);
            let both = longer(&ours, &added);
            prop_assert_eq!(missing(&both, &theirs), Vec::<String>::new());
        }
    }
}
