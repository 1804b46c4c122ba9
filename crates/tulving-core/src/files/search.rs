//! Finds journal entries that contain a text, ignoring case.
//!
//! The case-folded text of each journal is cached while the journal is unchanged. All journals are read once; later searches
//! read only journals that changed or may contain the text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;
use tulving_text::fold;

use crate::model::answer::UnreadableFile;
use crate::model::error::{Error, Field, FileError, Invalid};
use crate::model::file::{FilePath, FileStamp, Folder};
use crate::model::limits;
use crate::model::request::Caller;
use crate::text::normalize;
use crate::verbs::access::Ports;
use crate::verbs::read;

use super::day::Day;
use super::format::{self, EntryLayout};
use super::{JournalFile, JournalFileList, journals, readable};

/// Maximum number of characters shown of an entry, around the match.
const SHOWN: usize = 500;
/// Maximum number of cached bytes, for all journals together and for one journal.
const KEPT: usize = 64 << 20;
const KEPT_OF_ONE: usize = 4 << 20;

/// An entry of a journal that contains the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "JournalEntry")]
pub struct JournalHit {
    /// The day of the journal.
    pub date: Day,
    /// The path of the journal below the workspace.
    pub path: String,
    /// The number of the entry's first line, from 1.
    pub line: u32,
    /// The text of the entry, cut to 500 characters around the match.
    pub snippet: String,
}

/// The entries that contain the text, and the journals that could not be searched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JournalHits {
    /// The entries, newest first.
    pub entries: Vec<JournalHit>,
    /// The journals that could not be read.
    pub unread: Vec<UnreadableFile>,
}

/// The cached texts of journals from earlier searches.
#[derive(Default)]
pub(crate) struct JournalTextCache(Mutex<CachedJournalTexts>);

#[derive(Default)]
struct CachedJournalTexts {
    texts: HashMap<FilePath, (FileStamp, Arc<str>)>,
    bytes: usize,
}

/// Returns the newest entries that contain a text, at most `limit` entries.
pub(crate) fn search(
    ports: &Ports,
    memo: &JournalTextCache,
    caller: &Caller,
    query: &str,
    limit: usize,
) -> Result<JournalHits, Error> {
    let limit = read::bounded(Field::Limit, limit, limits::JOURNAL_HITS)?;
    let query = query.trim();
    let (got, most) = (query.len(), limits::QUESTION_BYTES);
    if query.is_empty() {
        return Err(Invalid::Empty { field: Field::Text }.into());
    }
    if got > most {
        return Err(Invalid::TooLong { field: Field::Text, got, limit: most, unit: "bytes" }.into());
    }
    let needle = fold::folded(&normalize::unified(query));
    let Some(folder) = readable(ports, caller)? else { return Ok(JournalHits::default()) };
    let search = JournalSearch { ports, memo, folder, needle };
    let JournalFileList { journals, unread } = journals(ports, &search.folder)?;
    let mut hits = JournalHits { entries: Vec::new(), unread };
    for journal in journals {
        if hits.entries.len() == limit {
            break;
        }
        match search.entries(&journal, limit - hits.entries.len()) {
            Ok(found) => hits.entries.extend(found),
            Err(error) => hits.unread.push(UnreadableFile { path: journal.path, why: error.to_string() }),
        }
    }
    Ok(hits)
}

/// The text to search for, and the folder to search.
struct JournalSearch<'a> {
    ports: &'a Ports,
    memo: &'a JournalTextCache,
    folder: Folder,
    /// The case-folded text to search for.
    needle: String,
}

impl JournalSearch<'_> {
    /// Returns true if an entry of this journal may contain the text. Compares line by line, because the file has indents
    /// and line breaks that the text of an entry does not have.
    fn may_hold(&self, folded: &str) -> bool {
        self.needle.split('\n').all(|line| folded.contains(line))
    }

    /// Returns the entries of one journal that contain the text, in reverse order.
    fn entries(&self, journal: &JournalFile, most: usize) -> Result<Vec<JournalHit>, FileError> {
        let needle = self.needle.as_str();
        let path = super::path(&self.folder, &journal.date.journal());
        let known = self.memo.known(&path, journal.stamp);
        if known.is_some_and(|known| !self.may_hold(&known)) {
            return Ok(Vec::new());
        }
        let Some(found) = self.ports.files.read(&path, limits::JOURNAL_SEARCHED_BYTES)? else {
            return Ok(Vec::new());
        };
        let text = super::text(&found.bytes);
        let folded = fold::folded(&text);
        let holds = self.may_hold(&folded);
        if found.stamp.is_settled(self.ports.clock.now()) {
            self.memo.keep(path, found.stamp, folded);
        }
        if !holds {
            return Ok(Vec::new());
        }
        let hit = |entry: &format::TextEntry| {
            let said = format::said(&text[entry.range.clone()]);
            fold::folded(&said).contains(needle).then(|| JournalHit {
                date: journal.date,
                path: journal.path.clone(),
                line: entry.line,
                snippet: around(&said, fold::find(&said, needle).unwrap_or(0), needle.chars().count()),
            })
        };
        Ok(format::entries(&text, EntryLayout::Journal).iter().rev().filter_map(hit).take(most).collect())
    }
}

/// Returns at most [`SHOWN`] characters of a text, around a match of `length` characters that begins at byte `at`. Each cut
/// is marked with `…`.
fn around(text: &str, at: usize, length: usize) -> String {
    let total = text.chars().count();
    if total <= SHOWN {
        return text.to_owned();
    }
    let before = text.get(..at).map_or(0, |before| before.chars().count());
    // The match is in the middle of the result, unless it is near the start or the end of the text.
    let start = before.saturating_sub(SHOWN.saturating_sub(length) / 2).min(total - SHOWN);
    let mut shown: Vec<char> = text.chars().skip(start).take(SHOWN).collect();
    if start > 0 {
        shown[0] = '…';
    }
    if start + SHOWN < total {
        shown[SHOWN - 1] = '…';
    }
    shown.into_iter().collect()
}

impl JournalTextCache {
    /// Returns the cached, case-folded text of a journal if the journal has not changed since.
    fn known(&self, path: &FilePath, stamp: FileStamp) -> Option<Arc<str>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.texts.get(path).filter(|(known, _)| *known == stamp).map(|(_, text)| Arc::clone(text))
    }

    fn keep(&self, path: FilePath, stamp: FileStamp, folded: String) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, old)) = kept.texts.remove(&path) {
            kept.bytes -= old.len();
        }
        if folded.len() > KEPT_OF_ONE {
            return;
        }
        if kept.bytes + folded.len() > KEPT {
            // The cache may contain texts of journals that no longer exist, so it is emptied.
            *kept = CachedJournalTexts::default();
        }
        kept.bytes += folded.len();
        kept.texts.insert(path, (stamp, folded.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_in_what_is_shown() {
        let long = format!("{}NEEDLE{}", "a ".repeat(1_000), " b".repeat(1_000));
        for (text, starts, ends) in [
            (long.clone(), true, true),
            (long[1_990..].to_owned(), false, true),
            (long[..2_010].to_owned(), true, false),
        ] {
            let at = fold::find(&text, "needle").expect("it is there");
            let shown = around(&text, at, 6);
            assert_eq!(shown.chars().count(), SHOWN);
            assert!(shown.contains("NEEDLE"), "{shown}");
            assert_eq!((shown.starts_with('…'), shown.ends_with('…')), (starts, ends));
        }
        assert_eq!(around("short", 0, 2), "short");
    }
}
