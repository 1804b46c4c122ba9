//! The data of another memory system, converted to our types. A reader parses that system's own files, then
//! [`foreign_import`](crate::verbs::foreign_import) imports the result.
//!
//! Names come from the other system. Each import gives the same names, wherever the files of the other system are.

use sha2::{Digest, Sha256};

use crate::model::id::{MemoryId, MemoryNumber};
use crate::model::request::SaveRequest;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{LinkedBy, Relation, System, TurnRole};

/// All data found in another system.
#[derive(Clone, Debug)]
pub struct ForeignCollection {
    /// The system.
    pub system: System,
    /// Its memories, oldest first.
    pub memories: Vec<ForeignMemory>,
    /// The links between them.
    pub links: Vec<ForeignLink>,
    /// The log of its conversation, oldest first.
    pub turns: Vec<ForeignTurn>,
    /// The items that could not be read.
    pub unread: Vec<SkippedItem>,
    /// Other messages for the user.
    pub notes: Vec<String>,
}

impl ForeignCollection {
    /// Creates an empty collection.
    pub fn new(system: System) -> Self {
        let (memories, links, turns) = (Vec::new(), Vec::new(), Vec::new());
        Self { system, memories, links, turns, unread: Vec::new(), notes: Vec::new() }
    }

    /// Records that something could not be read.
    pub fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.unread.push(SkippedItem { what: what.into(), why: why.into() });
    }
}

/// An item that was not imported, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SkippedItem {
    /// The name of the item in the other system.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// A memory of another system.
#[derive(Clone, Debug)]
pub struct ForeignMemory {
    /// The unique name of the memory in the other system, which does not change when the memory is edited.
    pub name: String,
    /// The name that the other system shows to people, such as `#12`.
    pub label: String,
    /// The id of the memory in the other system, if Tulving accepts this id.
    pub id: Option<MemoryId>,
    /// The number of the memory in the other system.
    pub number: Option<MemoryNumber>,
    /// Its content.
    pub request: SaveRequest,
    /// The agent that saved it.
    pub agent: Option<String>,
    /// The times at which it was saved, edited and used.
    pub times: ForeignTimes,
    /// Its status.
    pub stands: ForeignStatus,
}

impl ForeignMemory {
    /// Creates a memory with this content, and with the name as its label.
    pub fn new(name: impl Into<String>, request: SaveRequest) -> Self {
        let name = name.into();
        Self {
            label: name.clone(),
            name,
            id: None,
            number: None,
            request,
            agent: None,
            times: ForeignTimes::default(),
            stands: ForeignStatus::Active,
        }
    }

    /// Returns a digest of its content. Access counts and the place where the memory was found do not affect the digest.
    pub fn says(&self) -> [u8; 32] {
        let request = &self.request;
        let mut digest = TextDigest(Sha256::new());
        digest.text(Some(&request.content));
        for text in [&request.key, &request.title, &request.summary, &request.source_path, &request.language]
        {
            digest.text(text.as_deref());
        }
        for words in [
            request.content_type.map(|word| word.as_str()),
            request.memory_type.map(|word| word.as_str()),
            request.kind.map(|word| word.as_str()),
            request.stability.map(|word| word.as_str()),
            request.boundary.map(|word| word.as_str()),
        ] {
            digest.text(words);
        }
        digest.text(request.importance.map(|importance| importance.to_string()).as_deref());
        for time in [request.occurred_at, request.valid_from, request.valid_until, request.expires_at] {
            digest.text(time.map(|time| time.to_string()).as_deref());
        }
        match &request.tags {
            None => digest.text(None),
            Some(tags) => tags.iter().for_each(|tag| digest.text(Some(tag))),
        }
        digest.text(Some(self.stands.as_str()));
        digest.0.finalize().into()
    }
}

/// The times at which a memory was saved, edited and used, as far as the other system knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignTimes {
    /// Time of the first save.
    pub created_at: Option<Timestamp>,
    /// Time of the last edit.
    pub updated_at: Option<Timestamp>,
    /// Time of the last use.
    pub accessed_at: Option<Timestamp>,
    /// Number of uses.
    pub access_count: u64,
}

/// The status of a memory in another system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignStatus {
    /// Found by recall.
    Active,
    /// Aged and little used.
    Cooling,
    /// Hidden from recall.
    Archived,
    /// Forgotten, but still stored.
    Forgotten,
}

impl ForeignStatus {
    const fn as_str(self) -> &'static str {
        match self {
            // Cooling is not an edit.
            Self::Active | Self::Cooling => "active",
            Self::Archived => "archived",
            Self::Forgotten => "forgotten",
        }
    }
}

/// A link between two memories of another system, by their names.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignLink {
    /// The memory that it starts from.
    pub source: String,
    /// The memory that it points to.
    pub target: String,
    /// The relation, read from source to target.
    pub relation: Relation,
    /// The strength of the relation, 0 to 1.
    pub weight: f64,
    /// The maker of the link.
    pub linked_by: LinkedBy,
    /// Time of creation.
    pub created_at: Option<Timestamp>,
}

/// A line of a conversation in the log of another system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignTurn {
    /// The unique name of the turn in the other system.
    pub name: String,
    /// The role of its speaker.
    pub role: TurnRole,
    /// The text.
    pub content: String,
    /// The source of the turn.
    pub source: Option<String>,
    /// Time of the turn.
    pub at: Option<Timestamp>,
}

/// The files of a Maven workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignWorkspace {
    /// The content of `MEMORY.md`.
    pub long_term: Option<Vec<u8>>,
    /// The journals by file name, oldest first.
    pub journals: Vec<(String, Vec<u8>)>,
    /// The files that could not be read.
    pub unread: Vec<SkippedItem>,
    /// Number of other files and folders, which are not imported.
    pub beside: usize,
}

/// A digest of a list of optional texts. Different lists never give the digest the same input.
struct TextDigest(Sha256);

impl TextDigest {
    fn text(&mut self, text: Option<&str>) {
        match text {
            None => self.0.update([0]),
            Some(text) => {
                self.0.update([1]);
                self.0.update((text.len() as u64).to_be_bytes());
                self.0.update(text.as_bytes());
            }
        }
    }
}

/// Returns the digest of several texts, as one name.
pub(crate) fn name(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

/// Bounds above which a number means milliseconds, microseconds or nanoseconds instead of seconds. The first bound, as
/// seconds, is a date in the year 5138.
const MILLIS: f64 = 1e11;
const MICROS: f64 = 1e14;
const NANOS: f64 = 1e17;

/// Converts a number to an instant: seconds since 1970, or milliseconds, microseconds or nanoseconds if it is large.
pub fn instant(number: f64) -> Option<Timestamp> {
    let micros = match number.abs() {
        size if !size.is_finite() => return None,
        size if size < MILLIS => number * 1e6,
        size if size < MICROS => number * 1e3,
        size if size < NANOS => number,
        _ => number / 1e3,
    };
    // A float out of range saturates, and timestamps are then clamped to a smaller range.
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, and the timestamp is clamped")]
    Some(Timestamp::from_micros(micros.round() as i64))
}

/// Parses an instant: RFC 3339, a date, a date and time without an offset (which is UTC, as SQLite writes it), or a number.
pub fn instant_of(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let bare = text.strip_suffix("UTC").map_or(text, str::trim_end);
    if let Ok(time) = bare.parse::<Timestamp>() {
        return Some(time);
    }
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    if !bare.is_empty() && bare.chars().all(digits) && !bare.trim_start_matches('-').contains('-') {
        return bare.parse().ok().and_then(instant);
    }
    // If a text has an offset but is not a valid time, it must not be parsed as a UTC time.
    if crate::model::time::offset(bare).is_some() {
        return None;
    }
    let civil: jiff::civil::DateTime = bare.parse().ok()?;
    let time = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(Timestamp::from_micros(time.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::vocabulary::MemoryType;

    #[test]
    fn times_are_read_however_they_are_written() {
        let expected: Timestamp = "2026-05-27T09:30:15Z".parse().expect("a time");
        for text in [
            "2026-05-27T09:30:15Z",
            "2026-05-27T11:30:15+02:00",
            "2026-05-27 09:30:15",
            "2026-05-27T09:30:15",
            "2026-05-27 09:30:15+00:00",
            "2026-05-27 09:30:15 UTC",
            "2026-05-27T09:30:15.000000000+00:00",
            "1779874215",
            "1779874215000",
            " 1779874215.0 ",
        ] {
            assert_eq!(instant_of(text), Some(expected), "{text}");
        }
        for number in [1_779_874_215.0, 1_779_874_215e3, 1_779_874_215e6, 1_779_874_215e9] {
            assert_eq!(instant(number), Some(expected), "{number}");
        }
        let day: Timestamp = "2026-05-27".parse().expect("a day");
        assert_eq!(instant_of("2026-05-27"), Some(day));
        assert_eq!(instant_of("2026-05-27 09:30:15.250"), Some(expected.plus_millis(250)));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["", "yesterday", "2026-02-30 10:00:00", "12:30", "-", "2026-", "NaN", "1e400"] {
            assert_eq!(instant_of(text), None, "{text}");
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(instant(number), None, "{number}");
        }
        assert!(instant(f64::MAX).is_some() && instant(f64::MIN).is_some());
    }

    #[test]
    fn what_a_memory_says_has_a_digest_of_its_own() {
        let memory = ForeignMemory::new("1", SaveRequest::new("tea"));
        let same = ForeignMemory {
            name: "2".to_owned(),
            times: ForeignTimes { access_count: 9, ..ForeignTimes::default() },
            stands: ForeignStatus::Cooling,
            ..memory.clone()
        };
        assert_eq!(memory.says(), same.says(), "to be used and to cool is no edit");
        let others = [
            SaveRequest::new("coffee"),
            SaveRequest { memory_type: Some(MemoryType::Fact), ..SaveRequest::new("tea") },
            SaveRequest { title: Some("tea".to_owned()), ..SaveRequest::new("tea") },
            SaveRequest { summary: Some("tea".to_owned()), ..SaveRequest::new("tea") },
            SaveRequest { tags: Some(vec!["a".to_owned(), "b".to_owned()]), ..SaveRequest::new("tea") },
            SaveRequest { tags: Some(vec!["ab".to_owned()]), ..SaveRequest::new("tea") },
        ];
        let mut digests: Vec<[u8; 32]> =
            others.into_iter().map(|request| ForeignMemory::new("1", request).says()).collect();
        digests.push(memory.says());
        digests.push(ForeignMemory { stands: ForeignStatus::Forgotten, ..memory }.says());
        let count = digests.len();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
