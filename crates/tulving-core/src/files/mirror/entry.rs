//! The mirrors of a file: one for each entry, with the headings above it.
//!
//! An entry that is too long for one mirror becomes several mirrors, so that no part of it is left out.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::model::change::NewMemory;
use crate::model::file::{FileEntry, FilePath, LONG_TERM};
use crate::model::id::{MemoryId, PrincipalId, Version};
use crate::model::limits;
use crate::model::memory::{
    Classification, ContentHash, ConversationPlace, Memory, MemoryText, MemoryTimes, Mirror, Provenance,
    Status, Usage, VersionFields,
};
use crate::model::preview;
use crate::model::score::Importance;
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Author, ContentType, Kind, MemoryType, Origin, Stability, State, Trust};
use crate::text::{chunk, normalize};

use super::super::day::Day;
use super::super::format::{self, EntryLayout};
use super::super::{archive, below, day_of};

/// An entry to mirror. Its text is read again when the mirror is written, so that the text of a file with many entries is
/// not in memory twice.
pub(super) struct PlannedMirror {
    /// The hash of the entry's text.
    pub(super) hash: ContentHash,
    /// The number of the entry among entries with the same text, from 0.
    pub(super) occurrence: u32,
    /// The number of the first line, from 1.
    pub(super) line: u32,
    /// The headings above the entry.
    pub(super) title: Option<Arc<str>>,
    /// The byte range of the entry in the text.
    range: Range<usize>,
}

/// Returns the wanted mirrors of a file, and true if the file has more entries than the limit.
pub(super) fn wanted(path: &FilePath, text: &str) -> (Vec<PlannedMirror>, bool) {
    let form = if day_of(path).is_some() { EntryLayout::Journal } else { EntryLayout::Document };
    let conversation = below(path.name(), archive::FOLDER).is_some();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut title: Option<Arc<str>> = None;
    let mut seen: HashMap<ContentHash, u32> = HashMap::new();
    let mut wanted = Vec::new();
    for entry in format::entries(text, form) {
        if entry.level > 0 {
            let said = format::said(&text[entry.range.clone()]);
            let (heading, rest) = said.split_once('\n').unwrap_or((&said, ""));
            headings.retain(|(level, _)| *level < entry.level);
            headings
                .push((entry.level, preview::cut(heading.trim_start_matches('#'), limits::TITLE_CHARS / 6)));
            title = joined(if conversation { &headings[headings.len() - 1..] } else { &headings });
            if rest.trim().is_empty() {
                continue;
            }
        }
        // The text above the first message describes the conversation file.
        if conversation && headings.last().is_none_or(|(level, _)| *level < 2) {
            continue;
        }
        for (line, range) in pieces(text, &entry) {
            let content = content(text, &range);
            if !content.chars().any(char::is_alphanumeric) {
                continue;
            }
            if wanted.len() == limits::MIRRORED_ENTRIES {
                return (wanted, true);
            }
            let hash = normalize::hash(&content);
            let occurrence = *seen.entry(hash).and_modify(|count| *count += 1).or_default();
            wanted.push(PlannedMirror { hash, occurrence, line, title: title.clone(), range });
        }
    }
    (wanted, false)
}

fn joined(headings: &[(usize, String)]) -> Option<Arc<str>> {
    let titles: Vec<&str> =
        headings.iter().map(|(_, title)| title.as_str()).filter(|title| !title.is_empty()).collect();
    (!titles.is_empty()).then(|| titles.join(" › ").into())
}

/// Returns an entry, or the parts of a long entry. Cuts between lines if possible; a single long line may be cut at any
/// position.
fn pieces(text: &str, entry: &format::TextEntry) -> Vec<(u32, Range<usize>)> {
    let (mut pieces, mut line, mut start) = (Vec::new(), entry.line, entry.range.start);
    while entry.range.end - start > limits::ENTRY_BYTES {
        let most = text.floor_char_boundary(start + limits::ENTRY_BYTES);
        let end = text[start..most].rfind('\n').map_or(most, |at| start + at + 1);
        pieces.push((line, start..end));
        line = line.saturating_add(u32::try_from(text[start..end].matches('\n').count()).unwrap_or(u32::MAX));
        start = end;
    }
    pieces.push((line, start..entry.range.end));
    pieces
}

/// Returns a part of a text, formatted as the content of a memory.
fn content(text: &str, range: &Range<usize>) -> String {
    let said = format::said(&text[range.clone()]);
    let seen = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c };
    let clean: String = format::unmarked(&said).chars().map(seen).collect();
    normalize::content(&clean).unwrap_or(clean)
}

/// A file to be mirrored.
pub(super) struct MirrorSource<'a> {
    /// The space that owns the folder of the file.
    pub(super) space: &'a Space,
    /// The file.
    pub(super) file: &'a FileEntry,
    /// The time of the update.
    pub(super) now: Timestamp,
}

/// Builds the mirror of an entry.
pub(super) fn made(source: &MirrorSource<'_>, text: &str, entry: &PlannedMirror) -> NewMemory {
    let day = day_of(&source.file.path);
    let now = source.now;
    let path = source.file.path.to_string();
    let created_at = match day {
        // An entry in the journal of a past day was known by the end of that day.
        Some(day) if day < Day::of(now) => day.start().plus_millis(24 * 3_600_000 - 1),
        Some(_) => now,
        None => source.file.stamp.modified_at().min(now),
    };
    let content = content(text, &entry.range);
    let text = MemoryText {
        content,
        content_type: ContentType::Markdown,
        language: None,
        content_hash: entry.hash,
        title: entry.title.as_deref().map(str::to_owned),
        summary: None,
        tags: Vec::new(),
    };
    let chunks = chunk::of(&text);
    let long_term = source.file.path.name() == LONG_TERM;
    let class = Classification {
        memory_type: MemoryType::Fact,
        kind: if day.is_some() { Kind::Episodic } else { Kind::Semantic },
        stability: if long_term { Stability::Stable } else { Stability::Evolving },
        importance: Importance::of(MemoryType::Fact),
    };
    let memory = Memory {
        id: MemoryId::mint(now),
        number: None,
        space: source.space.id,
        owner: PrincipalId::USER,
        version: Version::FIRST,
        // The mirror has the same audience as the file.
        fields: VersionFields {
            span: MemoryTimes { occurred_at: day.map(Day::start), ..MemoryTimes::default() },
            ..VersionFields::new(text, class, source.space.default_boundary())
        },
        status: Status::new(State::Active),
        provenance: Provenance {
            author: Author::User,
            origin: Origin::Import,
            source_agent: None,
            assisted_by_agent: None,
            trust: Trust::Own,
            pass: None,
            source_path: Some(path.clone()),
            source_paths: Vec::new(),
            also_without_path: false,
            mirror: Some(Mirror { line: entry.line, occurrence: entry.occurrence }),
            attachment: None,
        },
        place: ConversationPlace {
            conversation: Some(path),
            position: Some(entry.line.into()),
            speaker: None,
        },
        usage: Usage { created_at, updated_at: created_at, accessed_at: created_at, access_count: 0 },
        superseded_by: None,
        backend: None,
        commands: Vec::new(),
        importance_now: None,
        space_name: None,
    };
    NewMemory { memory, chunks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::file::Folder;

    fn path(name: &str) -> FilePath {
        FilePath::new(&Folder::parse("groups/kitchen").expect("a folder"), name).expect("a path")
    }

    #[test]
    fn a_file_of_many_entries_is_cut_and_says_so() {
        let text: String = (0..=limits::MIRRORED_ENTRIES).map(|n| format!("{n}\n")).collect();
        let journal = path("memory/2026-05-27.md");
        let (entries, capped) = wanted(&journal, &text);
        assert_eq!((entries.len(), capped), (limits::MIRRORED_ENTRIES, true));
        let (_, capped) = wanted(&journal, "one\ntwo\n");
        assert!(!capped);
    }

    #[test]
    fn the_parts_of_a_long_entry_are_all_of_it() {
        let rows: String = (0..9_000).map(|n| format!("row {n} é\n")).collect();
        for text in [rows.clone(), rows.replace('\n', " "), format!("- {}", "é".repeat(limits::ENTRY_BYTES))]
        {
            let (entries, _) = wanted(&path("table.txt"), &text);
            assert!(entries.len() > 1);
            let said: String = entries.iter().map(|entry| &text[entry.range.clone()]).collect();
            assert_eq!(said, text.trim_end_matches('\n'));
            for entry in &entries {
                assert!(entry.range.len() <= limits::ENTRY_BYTES);
                assert_eq!(text[..entry.range.start].matches('\n').count() + 1, entry.line as usize);
            }
        }
    }
}
