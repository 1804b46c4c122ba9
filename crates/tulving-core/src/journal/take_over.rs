//! Takes over the journals of another workspace: nothing that is here goes, and what was taken over is there once.
//!
//! A day that is not here becomes a file like theirs. One that is gets the entries that it lacks, at its end. `MEMORY.md` is taken
//! where there is none; two of them are for a person to bring together.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Range;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::answer::Warning;
use crate::error::{Error, FileError, Invalid};
use crate::file::{FilePath, Folder};
use crate::foreign::{Diary, Skipped};
use crate::limits;
use crate::ports::From;
use crate::request::Caller;
use crate::text::withhold::{Sieve, Withheld};

use super::format::{self, Form};
use super::{Day, long_term, path};

/// How often a file that others write to at the same time is looked at again.
const ROUNDS: usize = 5;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TakenOver {
    /// How many journals are new.
    pub new: u64,
    /// How many have more entries than before.
    pub extended: u64,
    /// How many entries these got.
    pub entries: u64,
    /// How many had all of it.
    pub known: u64,
    /// What became of `MEMORY.md`, where there is one.
    pub long_term: Option<LongTermTaken>,
    /// What could not be taken over, and why.
    pub skipped: Vec<Skipped>,
    /// The journals that are new or longer, by the names of their files.
    pub journals: Vec<String>,
    /// How many files and folders are beside the journals; they were let be.
    pub beside: usize,
    /// What was held back of what was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// What became of `MEMORY.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LongTermTaken {
    /// There was none here.
    New,
    /// Both say the same.
    Known,
    /// The one that is here says something else, and was let be.
    Left,
}

/// Takes over journals, or only says what would be done.
pub(crate) fn take_over(
    parts: &Parts,
    caller: &Caller,
    diary: Diary,
    dry_run: bool,
) -> Result<TakenOver, Error> {
    let (space, _) = access::file_workplace(parts, caller)?;
    let folder = Folder::of(&space);
    let mut taken = TakenOver { skipped: diary.unread, beside: diary.beside, ..TakenOver::default() };
    let mut withheld = Withheld::default();
    for (name, bytes) in diary.journals {
        let Some(day) = Day::of_journal(&name) else {
            taken.skipped.push(Skipped { what: name, why: "it is not named for a day".to_owned() });
            continue;
        };
        let file = path(&folder, &day.journal());
        let (bytes, of_it) = match public(&bytes, parts.sieve(&space)) {
            Ok(public) => public,
            Err(refused) => {
                taken.skipped.push(Skipped { what: name, why: refused.to_string() });
                continue;
            }
        };
        match journal(parts, &file, &bytes, dry_run)? {
            Became::New => taken.new += 1,
            Became::Longer(entries) => {
                taken.extended += 1;
                taken.entries += entries;
            }
            Became::Known => {
                taken.known += 1;
                continue;
            }
            Became::Skipped(why) => {
                taken.skipped.push(Skipped { what: name, why });
                continue;
            }
        }
        taken.journals.push(name);
        withheld.add(&of_it);
    }
    match diary.long_term.as_deref().map(|bytes| public(bytes, parts.sieve(&space))) {
        None => {}
        Some(Err(refused)) => {
            taken.skipped.push(Skipped { what: long_term::FILE.to_owned(), why: refused.to_string() });
        }
        Some(Ok((bytes, of_it))) => match known(parts, &long_term::file(&folder), &bytes, dry_run) {
            Ok(became) => {
                if became == LongTermTaken::New {
                    withheld.add(&of_it);
                }
                taken.long_term = Some(became);
            }
            Err(error) if is_of_file(&error) => {
                taken.skipped.push(Skipped { what: long_term::FILE.to_owned(), why: error.to_string() });
            }
            Err(error) => return Err(error.into()),
        },
    }
    taken.warnings = withheld.warnings();
    Ok(taken)
}

/// What a file says without what must not be stored. What is no text stays as it is.
fn public(bytes: &[u8], mut sieve: Sieve) -> Result<(Cow<'_, [u8]>, Withheld), Invalid> {
    let public = match std::str::from_utf8(bytes) {
        Err(_) => Cow::Borrowed(bytes),
        Ok(text) => match sieve.file(text)? {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
    };
    Ok((public, sieve.withheld()))
}

/// What became of the journal of a day.
enum Became {
    /// There was none here.
    New,
    /// It has so many entries more.
    Longer(u64),
    /// It had all of theirs.
    Known,
    /// It could not be taken over, and why.
    Skipped(String),
}

/// Takes over the journal of a day.
fn journal(parts: &Parts, file: &FilePath, theirs: &[u8], dry_run: bool) -> Result<Became, Error> {
    for _ in 0..ROUNDS {
        let here = match parts.files.read(file, limits::JOURNAL_SEARCHED_BYTES) {
            Ok(here) => here,
            Err(error) if is_of_file(&error) => return Ok(Became::Skipped(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let Some(here) = here else {
            if dry_run {
                return Ok(Became::New);
            }
            match parts.files.create(file, theirs) {
                Ok(()) => return Ok(Became::New),
                // Somebody else was faster.
                Err(FileError::Exists { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
        };
        if here.bytes == theirs {
            return Ok(Became::Known);
        }
        let (Ok(ours), Ok(theirs)) = (std::str::from_utf8(&here.bytes), std::str::from_utf8(theirs)) else {
            return Ok(Became::Skipped(
                "it is not UTF-8, and there is another one of that day here".to_owned(),
            ));
        };
        let missing = missing(ours, theirs);
        if missing.is_empty() {
            return Ok(Became::Known);
        }
        if !dry_run {
            let from = From::Digest(Sha256::digest(&here.bytes).into());
            match parts.files.replace(file, longer(ours, &missing).as_bytes(), from, None) {
                Ok(()) => {}
                Err(FileError::Changed { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        return Ok(Became::Longer(missing.len() as u64));
    }
    Err(FileError::Busy { path: file.to_string().into() }.into())
}

/// Whether an error is about one file that is here, so that all others can be taken over.
fn is_of_file(error: &FileError) -> bool {
    matches!(error, FileError::TooLarge { .. } | FileError::Refused { .. })
}

/// Takes over what is always known, where nothing is known here.
fn known(parts: &Parts, file: &FilePath, theirs: &[u8], dry_run: bool) -> Result<LongTermTaken, FileError> {
    let here = parts.files.read(file, limits::JOURNAL_SHOWN_BYTES)?;
    match here {
        Some(here) if here.bytes == theirs => Ok(LongTermTaken::Known),
        Some(_) => Ok(LongTermTaken::Left),
        None if dry_run => Ok(LongTermTaken::New),
        None => match parts.files.create(file, theirs) {
            Ok(()) => Ok(LongTermTaken::New),
            Err(FileError::Exists { .. }) => Ok(LongTermTaken::Left),
            Err(error) => Err(error),
        },
    }
}

/// A text with entries at its end, each on lines of its own and with the line breaks that it has.
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

/// The entries of their text that ours lacks, in order. What they say several times is there as often.
fn missing(ours: &str, theirs: &str) -> Vec<String> {
    let (mut lines, those) = (bare(ours), bare(theirs));
    let ours = 0..lines.len();
    lines.extend(&those);
    let entries: Vec<Range<usize>> = format::entries(theirs, Form::Journal)
        .into_iter()
        .map(|entry| {
            let start = ours.end + entry.line as usize - 1;
            start..start + theirs[entry.range].lines().count()
        })
        .collect();
    let runs = Runs::of(&lines, &entries);
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

/// The lines of a text without what is white at their ends, and without breaks of another system.
fn bare(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().map(str::trim_end).collect()
}

/// Some lines that follow one another: how many, and the names of as many as a power of two at their start and at their end.
/// Two that say the same are the same.
type Run = (usize, u32, u32);

/// How often a run stands in lines.
#[derive(Clone, Copy, Default)]
struct Stands {
    count: usize,
    /// Where the last one ended: none lies over another.
    end: usize,
}

/// Lines in which runs of the lengths of some entries are counted, however many and however long they are.
struct Runs {
    /// For each line, the name of the run of one, two, four… lines that begins there.
    names: Vec<Vec<u32>>,
    lengths: BTreeSet<usize>,
}

impl Runs {
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

    fn run(&self, start: usize, length: usize) -> Run {
        let level = length.ilog2() as usize;
        let names = &self.names[level];
        (length, names[start], names[start + length - (1 << level)])
    }

    /// None of these counted yet.
    fn none(&self, entries: &[Range<usize>]) -> HashMap<Run, Stands> {
        entries.iter().map(|entry| (self.run(entry.start, entry.len()), Stands::default())).collect()
    }

    /// Counts further lines, which come after those that were counted before.
    fn count(&self, lines: Range<usize>, counts: &mut HashMap<Run, Stands>) {
        for length in self.lengths.iter().copied().take_while(|length| *length <= lines.len()) {
            for start in lines.start..=lines.end - length {
                if let Some(stands) = counts.get_mut(&self.run(start, length))
                    && stands.end <= start
                {
                    *stands = Stands { count: stands.count + 1, end: start + length };
                }
            }
        }
    }
}

/// A number for each, the same for the same.
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
