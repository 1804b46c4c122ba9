//! Journals: what was noted on a day, in a file that people can read and edit.
//!
//! One Markdown file for each UTC day, in the folder `memory` of the space. The file is the truth: every call reads it, and what
//! an editor did before the call counts. Who is a member of the space may read, who may write there may append.

pub mod archive;
pub mod day;
pub mod format;
pub mod long_term;
pub(crate) mod mirror;
mod search;
pub mod shelf;
pub mod take_over;
pub mod transcript;

use serde::Serialize;

use crate::access::{self, Parts};
use crate::answer::{Unread, Warning};
use crate::error::{Error, Field, FileError};
use crate::file::{FileEntry, FileList, FilePath, Folder, Stamp};
use crate::limits;
use crate::request::Caller;
use crate::space::Space;
use crate::text::normalize;
use crate::vocabulary::Role;

pub use self::day::Day;
pub use self::mirror::Followed;
pub use self::search::{JournalHit, JournalHits};
pub(crate) use self::search::{Memo, search};
pub(crate) use crate::file::{JOURNALS as FOLDER, text};

/// A journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Journal {
    /// Its day.
    pub date: Day,
    /// Its path below the workspace.
    pub path: String,
    /// What it says. Bytes that are no text show as `�`.
    pub content: String,
}

/// That a journal is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JournalFile {
    /// Its day.
    pub date: Day,
    /// Its path below the workspace.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    #[serde(skip)]
    pub(crate) stamp: Stamp,
}

/// The journals of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Journals {
    /// The journals, newest first.
    pub journals: Vec<JournalFile>,
    /// What is there and is not listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// What the journals of the last days say.
pub(crate) struct Recent {
    /// What each of them says.
    pub(crate) said: Vec<(Day, String)>,
    /// Those that could not be read.
    pub(crate) unread: Vec<Unread>,
}

/// What was noted, and where.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noted {
    /// The day.
    pub date: Day,
    /// The path of its journal below the workspace.
    pub path: String,
    /// What was written, as it stands in the file.
    pub entry: String,
    /// Whether the journal was made for it.
    pub created: bool,
    /// What was held back of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Journal {
    /// What its entries say, in order.
    pub(crate) fn entries(&self) -> Vec<String> {
        let said = |entry: format::Entry| format::said(&self.content[entry.range]);
        format::entries(&self.content, format::Form::Journal).into_iter().map(said).collect()
    }
}

/// Appends an entry to the journal of today.
pub(crate) fn remember(parts: &Parts, caller: &Caller, content: &str) -> Result<Noted, Error> {
    let content = normalize::content(content)?;
    let (space, _) = access::file_workplace(parts, caller)?;
    let mut sieve = parts.sieve(&space);
    let content = sieve.content(Field::Content, content)?;
    let entry = format::entry(&content, parts.limits.content_bytes)?;
    let noted = append(parts, caller, Day::of(parts.clock.now()), &entry)?;
    Ok(Noted { warnings: sieve.withheld().warnings(), ..noted })
}

/// Appends lines as they are to the journal of a day, all of them or none. What must not be stored was left out before.
pub(crate) fn append(parts: &Parts, caller: &Caller, date: Day, lines: &str) -> Result<Noted, Error> {
    let (space, _) = access::file_workplace(parts, caller)?;
    let path = path(&Folder::of(&space), &date.journal());
    let appended = parts.files.append(&path, lines)?;
    let (path, entry, created) = (path.to_string(), lines.to_owned(), appended.created);
    Ok(Noted { date, path, entry, created, warnings: Vec::new() })
}

/// The journal of a day; `None` where there is none.
pub(crate) fn get(parts: &Parts, caller: &Caller, date: Day) -> Result<Option<Journal>, Error> {
    let Some(folder) = readable(parts, caller)? else { return Ok(None) };
    let path = path(&folder, &date.journal());
    let found = parts.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?;
    Ok(found.map(|found| Journal { date, path: path.to_string(), content: text(&found.bytes) }))
}

/// The journals of the caller's space, newest first.
pub(crate) fn list(parts: &Parts, caller: &Caller) -> Result<Journals, Error> {
    let Some(folder) = readable(parts, caller)? else { return Ok(Journals::default()) };
    Ok(journals(parts, &folder)?)
}

/// What the journals of the last days say, today among them, newest first; and what of them is not known.
pub(crate) fn recent(parts: &Parts, folder: &Folder, days: usize) -> Result<Recent, FileError> {
    let today = Day::of(parts.clock.now());
    let days: Vec<Day> = std::iter::successors(Some(today), |day| Some(day.before())).take(days).collect();
    let Journals { journals, mut unread } = journals(parts, folder)?;
    // Of all that is there, what matters is what may be one of these.
    let names: Vec<String> = days.iter().map(|day| path(folder, &day.journal()).to_string()).collect();
    unread.retain(|one| one.path == folder.join(FOLDER) || names.contains(&one.path));
    let mut recent = Recent { said: Vec::new(), unread };
    for journal in journals.into_iter().filter(|journal| days.contains(&journal.date)) {
        let path = path(folder, &journal.date.journal());
        match parts.files.read(&path, limits::JOURNAL_SEARCHED_BYTES) {
            Ok(Some(found)) => recent.said.push((journal.date, text(&found.bytes))),
            Ok(None) => {}
            Err(error) => recent.unread.push(Unread { path: journal.path, why: error.to_string() }),
        }
    }
    Ok(recent)
}

/// The journals in a folder, newest first.
fn journals(parts: &Parts, folder: &Folder) -> Result<Journals, FileError> {
    let mut listed = parts.files.list(folder, FOLDER, limits::FILES_LISTED)?;
    let unread = unlisted(&mut listed, folder, FOLDER);
    let journal = |file: FileEntry| {
        let date = day_of(&file.path)?;
        Some(JournalFile { date, path: file.path.to_string(), size: file.stamp.size, stamp: file.stamp })
    };
    let mut journals: Vec<JournalFile> = listed.files.into_iter().filter_map(journal).collect();
    journals.sort_by_key(|journal| std::cmp::Reverse(journal.date));
    Ok(Journals { journals, unread })
}

/// What is below a folder and was not listed.
fn unlisted(listed: &mut FileList, folder: &Folder, below: &str) -> Vec<Unread> {
    let more = listed.more.then(|| Unread {
        path: folder.join(below),
        why: format!("there are more than {} files; the others are left out", limits::FILES_LISTED),
    });
    let refused = std::mem::take(&mut listed.refused).into_iter().map(|(path, why)| Unread { path, why });
    more.into_iter().chain(refused).collect()
}

/// What is left of a path below a folder; `None` where it leads elsewhere.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The day that a file is the journal of.
fn day_of(path: &FilePath) -> Option<Day> {
    Day::of_path(path.name())
}

/// The folder of the caller's space, for who may read there; `None` for a member who does not share its files, to whom
/// there are none.
fn readable(parts: &Parts, caller: &Caller) -> Result<Option<Folder>, Error> {
    let space = readable_space(parts, caller)?;
    Ok(access::shares_files(caller, &space).then(|| Folder::of(&space)))
}

fn readable_space(parts: &Parts, caller: &Caller) -> Result<Space, Error> {
    access::require(parts, caller, caller.space, Role::Reader)?;
    access::space_of_call(parts, caller)
}

/// A file in the folder of journals.
fn path(folder: &Folder, name: &str) -> FilePath {
    FilePath::new(folder, &format!("{FOLDER}/{name}")).expect("the names of journals are fit")
}
