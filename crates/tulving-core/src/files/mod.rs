//! Journals: the notes of a day, in a file that people can read and edit.
//!
//! Each UTC day has one Markdown file in the folder `memory` of the space. The file is the source of truth: every call reads
//! the file, so changes made with an editor take effect. Members of the space may read journals; members who may write in
//! the space may append to them.

pub mod archive;
pub mod day;
pub mod format;
pub mod journal_import;
pub mod long_term;
pub(crate) mod mirror;
mod search;
pub mod transcript;
pub mod workspace;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::answer::{UnreadableFile, Warning, WarningMessage, with_messages};
use crate::model::change::{RequiredRole, Write};
use crate::model::error::{Error, Field, FileError};
use crate::model::file::{FileEntry, FileList, FilePath, FileStamp, Folder};
use crate::model::limits;
use crate::model::request::Caller;
use crate::model::space::Space;
use crate::model::vocabulary::{AuditAct, Boundary, Role};
use crate::text::normalize;
use crate::verbs::access::{self, Ports};

pub use self::day::Day;
pub use self::mirror::MirrorReport;
pub use self::search::{JournalHit, JournalHits};
pub(crate) use self::search::{JournalTextCache, search};
pub(crate) use crate::model::file::{JOURNALS as FOLDER, text};

/// A journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Journal {
    /// The day of the journal.
    pub date: Day,
    /// The path of the journal below the workspace.
    pub path: String,
    /// The text of the journal. Bytes that are not text are shown as `�`.
    pub content: String,
}

/// A journal in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "JournalInfo")]
pub struct JournalFile {
    /// The day of the journal.
    pub date: Day,
    /// The path of the journal below the workspace.
    pub path: String,
    /// The size of the journal in bytes.
    pub size: u64,
    #[serde(skip)]
    pub(crate) stamp: FileStamp,
}

/// The journals of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JournalFileList {
    /// The journals, newest first.
    pub journals: Vec<JournalFile>,
    /// Files that are not listed, each with the reason.
    pub unread: Vec<UnreadableFile>,
}

/// The journals of the last days.
pub(crate) struct RecentJournals {
    /// The text of each journal, with its day.
    pub(crate) said: Vec<(Day, String)>,
    /// The journals that could not be read.
    pub(crate) unread: Vec<UnreadableFile>,
}

/// The result of adding a note.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "JournalNote")]
pub struct JournalReceipt {
    /// The day of the journal.
    pub date: Day,
    /// The path of the journal below the workspace.
    pub path: String,
    /// The text of the note as written to the file.
    pub entry: String,
    /// True if this note created the journal.
    pub created: bool,
    /// Parts of the text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

impl Journal {
    /// Returns the texts of the journal's entries, in order.
    pub(crate) fn entries(&self) -> Vec<String> {
        let said = |entry: format::TextEntry| format::said(&self.content[entry.range]);
        format::entries(&self.content, format::EntryLayout::Journal).into_iter().map(said).collect()
    }
}

/// Appends an entry to the journal of today.
pub(crate) fn remember(ports: &Ports, caller: &Caller, content: &str) -> Result<JournalReceipt, Error> {
    let content = normalize::content(content)?;
    let (space, right) = access::file_workplace(ports, caller)?;
    let mut redactor = ports.redactor(&space);
    let content = redactor.content(Field::Content, content)?;
    let entry = format::entry(&content, ports.limits.content_bytes)?;
    let day = Day::of(ports.clock.now());
    audit(
        ports,
        caller,
        (&space, right),
        AuditAct::Noted,
        format!("{} {}", day.path(), format::digest(&entry)),
    )?;
    let noted = append(ports, caller, day, &entry)?;
    Ok(JournalReceipt { warnings: redactor.withheld().warnings(), ..noted })
}

/// Records a change of a file in the audit log, before the file is changed. If the process ends between the two, the file
/// itself shows that it was not changed.
fn audit(
    ports: &Ports,
    caller: &Caller,
    (space, right): (&Space, RequiredRole),
    act: AuditAct,
    detail: String,
) -> Result<(), Error> {
    let now = ports.clock.now();
    let mut entry = access::audit(caller, now, act);
    (entry.space, entry.detail) = (Some(space.id), Some(detail));
    // The files of a space have its default boundary.
    let private = space.default_boundary() == Boundary::Private;
    entry.private_to = private.then_some(caller.viewer.principal);
    ports.store.apply(&access::changes(caller, now, vec![right], vec![Write::Audit(entry)]))?;
    Ok(())
}

/// Appends lines unchanged to the journal of a day, all of them or none. The caller has already removed text that must not
/// be stored.
pub(crate) fn append(
    ports: &Ports,
    caller: &Caller,
    date: Day,
    lines: &str,
) -> Result<JournalReceipt, Error> {
    let (space, _) = access::file_workplace(ports, caller)?;
    let path = path(&Folder::of(&space), &date.journal());
    let appended = ports.files.append(&path, lines)?;
    let (path, entry, created) = (path.to_string(), lines.to_owned(), appended.created);
    Ok(JournalReceipt { date, path, entry, created, warnings: Vec::new() })
}

/// Returns the journal of a day, or `None` if there is none.
pub(crate) fn get(ports: &Ports, caller: &Caller, date: Day) -> Result<Option<Journal>, Error> {
    let Some(folder) = readable(ports, caller)? else { return Ok(None) };
    let path = path(&folder, &date.journal());
    let found = ports.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?;
    Ok(found.map(|found| Journal { date, path: path.to_string(), content: text(&found.bytes) }))
}

/// Lists the journals of the caller's space, newest first.
pub(crate) fn list(ports: &Ports, caller: &Caller) -> Result<JournalFileList, Error> {
    let Some(folder) = readable(ports, caller)? else { return Ok(JournalFileList::default()) };
    Ok(journals(ports, &folder)?)
}

/// Reads the journals of the last `days` days, including today, newest first. Also returns the journals that could not be
/// read.
pub(crate) fn recent(ports: &Ports, folder: &Folder, days: usize) -> Result<RecentJournals, FileError> {
    let today = Day::of(ports.clock.now());
    let days: Vec<Day> = std::iter::successors(Some(today), |day| Some(day.before())).take(days).collect();
    let JournalFileList { journals, mut unread } = journals(ports, folder)?;
    // Only files that may be one of the requested journals are reported.
    let names: Vec<String> = days.iter().map(|day| path(folder, &day.journal()).to_string()).collect();
    unread.retain(|one| one.path == folder.join(FOLDER) || names.contains(&one.path));
    let mut recent = RecentJournals { said: Vec::new(), unread };
    for journal in journals.into_iter().filter(|journal| days.contains(&journal.date)) {
        let path = path(folder, &journal.date.journal());
        match ports.files.read(&path, limits::JOURNAL_SEARCHED_BYTES) {
            Ok(Some(found)) => recent.said.push((journal.date, text(&found.bytes))),
            Ok(None) => {}
            Err(error) => recent.unread.push(UnreadableFile { path: journal.path, why: error.to_string() }),
        }
    }
    Ok(recent)
}

/// Lists the journals in a folder, newest first.
fn journals(ports: &Ports, folder: &Folder) -> Result<JournalFileList, FileError> {
    let mut listed = ports.files.list(folder, FOLDER, limits::FILES_LISTED)?;
    let unread = unlisted(&mut listed, folder, FOLDER);
    let journal = |file: FileEntry| {
        let date = day_of(&file.path)?;
        Some(JournalFile { date, path: file.path.to_string(), size: file.stamp.size, stamp: file.stamp })
    };
    let mut journals: Vec<JournalFile> = listed.files.into_iter().filter_map(journal).collect();
    journals.sort_by_key(|journal| std::cmp::Reverse(journal.date));
    Ok(JournalFileList { journals, unread })
}

/// Returns the files below a folder that were not listed.
fn unlisted(listed: &mut FileList, folder: &Folder, below: &str) -> Vec<UnreadableFile> {
    let more = listed.more.then(|| UnreadableFile {
        path: folder.join(below),
        why: format!("there are more than {} files; the others are left out", limits::FILES_LISTED),
    });
    let refused =
        std::mem::take(&mut listed.refused).into_iter().map(|(path, why)| UnreadableFile { path, why });
    more.into_iter().chain(refused).collect()
}

/// Returns the part of a path below a folder, or `None` if the path is not below the folder.
fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// Returns the day of a journal file.
fn day_of(path: &FilePath) -> Option<Day> {
    Day::of_path(path.name())
}

/// Returns the folder of the caller's space. Returns an error if the caller may not read in the space, and `None` if
/// the caller is a member but may not see the files of the space.
fn readable(ports: &Ports, caller: &Caller) -> Result<Option<Folder>, Error> {
    let space = readable_space(ports, caller)?;
    Ok(access::shares_files(caller, &space).then(|| Folder::of(&space)))
}

fn readable_space(ports: &Ports, caller: &Caller) -> Result<Space, Error> {
    access::require(ports, caller, caller.space, Role::Reader)?;
    access::space_of_call(ports, caller)
}

/// Returns the path of a file in the folder of journals.
fn path(folder: &Folder, name: &str) -> FilePath {
    FilePath::new(folder, &format!("{FOLDER}/{name}")).expect("the names of journals are fit")
}
