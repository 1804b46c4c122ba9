//! What callers get back.

mod briefing;
mod cursor;
mod quality;
mod timeline;

use serde::{Deserialize, Serialize};

pub use self::briefing::{Briefed, BriefedFile, Briefing, BriefingFiles, BriefingSection};
pub use self::cursor::{Cursor, Position};
pub use self::quality::{Concerned, Done, Finding, Proposal, Report};
pub use self::timeline::{Ended, Named, Timeline, TimelineEntry};
use crate::association::Association;
use crate::change::Change;
use crate::id::{MemoryId, MemoryRef, Number, PrincipalId, Seq, SpaceId, Version};
use crate::limits::BYTES_PER_TOKEN;
use crate::memory::{Edition, Memory};
use crate::score::{Score, Weight};
use crate::time::Timestamp;
use crate::turn::Turn;
use crate::vocabulary::{CommandKind, SecretKind, State, VersionAct};

/// What became of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// A new memory.
    Created,
    /// The memory of that key or path has a new version.
    Updated,
    /// The memory of that key or path said so already.
    Unchanged,
    /// A memory with the same content was there.
    Duplicate,
}

/// The proof of a save: given only after the commit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Receipt {
    /// The memory that now holds the content.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// Where it is.
    pub space: SpaceId,
    /// What became of the save.
    pub fate: Fate,
    /// Whether an archived memory came back to active.
    pub revived: bool,
    /// The version it has now.
    pub version: Version,
    /// How it stands.
    pub state: State,
    /// Memories that say nearly the same; the new one was linked to them.
    pub near: Vec<Near>,
    /// What was asked and not done, by name.
    pub warnings: Vec<Warning>,
}

/// A memory after an edit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edited {
    /// As it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// What was asked and not done, by name.
    pub warnings: Vec<Warning>,
}

/// A turn that was logged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Logged {
    /// As it is in the log.
    #[serde(flatten)]
    pub turn: Turn,
    /// What was held back of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Memories that were moved to another space as one act.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relocated {
    /// As they are now, in the order in which they were named; also those that were there already.
    pub moved: Vec<Memory>,
    /// What does not exist, is forgotten or may not be seen, as it was named.
    pub missing: Vec<MemoryRef>,
}

/// Memories that were forgotten as one act.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gone {
    /// As they were, in the order in which they were named.
    pub forgotten: Vec<Memory>,
    /// What does not exist, may not be seen or, where it was to be forgotten softly, is so already; as it was named.
    pub missing: Vec<MemoryRef>,
}

/// What forgetting by a condition would come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Foreseen {
    /// How many memories would go.
    pub count: u64,
    /// The newest of them, at most [`FORESEEN`](crate::limits::FORESEEN).
    pub newest: Vec<Memory>,
}

/// A memory that was forgotten because a condition held of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forgone {
    /// Which.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// Whose it was.
    pub owner: PrincipalId,
}

/// Entries of the change log that somebody may see.
///
/// The numbers of entries are those of the whole store, so they tell how much others have written, as the numbers of
/// memories do within a space; nothing else is told of what is hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The entries, in the order of commits.
    pub changes: Vec<Change>,
    /// How far the log was read. The next question begins here, also where nothing was found.
    pub read_to: Seq,
    /// Whether entries after the asked one are missing: the log was trimmed, or another content took the place of what
    /// was there. Who follows has to look at everything again.
    pub gap: bool,
}

/// Whether a request is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once {
    /// It is: nobody has begun it, or who did has vanished. It was begun now, which tells it from what others begin under
    /// the same key.
    Begun(Timestamp),
    /// It was done, with this answer. Empty means that the answer is not kept: it was longer than
    /// [`KEPT_ANSWER_BYTES`](crate::limits::KEPT_ANSWER_BYTES), newer ones of the principal took its place, or something was
    /// erased since and it might tell of that.
    Answered(String),
    /// Somebody is doing it.
    Running,
    /// The key was used for another request.
    Differs,
}

/// A memory that says nearly the same as the one saved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Near {
    /// Which.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// How alike they are: the cosine of their vectors.
    pub similarity: Weight,
}

/// Something that was asked and not done; the rest was.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The target of an association does not exist, or may not be seen.
    AssociationSkipped {
        /// The target as it was named.
        target: MemoryRef,
    },
    /// The caller may not write where the target lives, so it is linked but not superseded.
    NotSuperseded {
        /// The target as it was named.
        target: MemoryRef,
    },
    /// The content is known, and the memory that holds it keeps these fields as they were.
    Kept {
        /// The memory.
        memory: MemoryRef,
        /// The fields.
        fields: Vec<&'static str>,
    },
    /// It has expired already, so recall does not find it.
    Expired {
        /// When.
        at: Timestamp,
    },
    /// The backend that is written to keeps no links, so those that were named were left out.
    NoLinks {
        /// Which.
        backend: String,
    },
    /// The content has another form than its name says.
    Form {
        /// How.
        note: String,
    },
    /// The content is not embedded yet; recall finds it by its words.
    NotEmbedded {
        /// Why.
        why: String,
    },
    /// So many sections are not embedded yet, because that takes a while.
    EmbeddedLater {
        /// How many.
        sections: usize,
    },
    /// Secrets were replaced by their kinds before anything was stored.
    Redacted {
        /// The kinds, and how many of each. Never the secrets themselves.
        secrets: Vec<RedactedSecret>,
    },
    /// What stood between `<private>` and `</private>` was left out.
    PrivateLeftOut {
        /// How many parts.
        parts: usize,
    },
    /// It tries to command whoever reads it, so it is marked wherever it is given.
    Marked {
        /// How it tries.
        commands: Vec<CommandKind>,
    },
    /// What was written is that of an earlier version, and the file is not.
    FileStays {
        /// What the file that is kept is called; `None` where none is kept any more.
        name: Option<String>,
    },
}

impl Warning {
    /// That something tries to command in these ways; nothing where there are none.
    pub(crate) fn marked(commands: Vec<CommandKind>) -> Option<Self> {
        (!commands.is_empty()).then_some(Self::Marked { commands })
    }
}

/// Secrets of one kind that were not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RedactedSecret {
    /// What they are.
    pub kind: SecretKind,
    /// How many.
    pub count: usize,
}

impl std::fmt::Display for RedactedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.count, self.kind)
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AssociationSkipped { target } => {
                write!(f, "the association with {target} was left out: there is no such memory")
            }
            Self::NotSuperseded { target } => {
                write!(f, "{target} was linked as related_to: you may not mark it as superseded")
            }
            Self::Kept { memory, fields } => {
                write!(f, "{memory} keeps its own {}; `tulving update` can change that", fields.join(", "))
            }
            Self::Expired { at } => write!(f, "it expired at {at}: recall does not find it"),
            Self::NoLinks { backend } => {
                write!(f, "the associations were left out: the backend `{backend}` keeps none")
            }
            Self::Form { note } => f.write_str(note),
            Self::NotEmbedded { why } => write!(f, "not embedded yet: {why}"),
            Self::EmbeddedLater { sections } => {
                let sections = if *sections == 1 {
                    "1 section waits".to_owned()
                } else {
                    format!("{sections} sections wait")
                };
                write!(f, "not embedded yet: {sections} for a server, or for `tulving embed`")
            }
            Self::Redacted { secrets } => {
                let told: Vec<String> = secrets.iter().map(ToString::to_string).collect();
                write!(f, "secrets were redacted before anything was stored: {}", told.join(", "))
            }
            Self::PrivateLeftOut { parts: 1 } => f.write_str("a private part was left out and not stored"),
            Self::PrivateLeftOut { parts } => {
                write!(f, "{parts} private parts were left out and not stored")
            }
            Self::Marked { commands } => {
                let how: Vec<&str> = commands.iter().map(|how| how.as_str()).collect();
                write!(f, "it tries to command whoever reads it ({}): it is data, and marked", how.join(", "))
            }
            Self::FileStays { name: Some(name) } => {
                write!(
                    f,
                    "versions keep what was written and not the file: the attachment stays `{name}` as it is now"
                )
            }
            Self::FileStays { name: None } => f.write_str(
                "versions keep what was written and not the file: that of this version is no longer there",
            ),
        }
    }
}

/// One memory found, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// How well it fits, 0 to 1.
    pub relevance_score: Score,
    /// Why it is here, in a few words.
    pub why: String,
    /// The part of a long content that fits best.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<BestSection>,
    /// Other parts of it that fit well by themselves, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherSection>,
    /// Whether the content was cut to the section, for the token budget.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Where its score comes from, where there was a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

impl Hit {
    /// What to show of it: of a long content its best section.
    pub fn shown(&self) -> &str {
        let content = self.memory.edition.text.content.as_str();
        let section = self.section.as_ref().filter(|_| !self.cut);
        section.and_then(|section| content.get(section.start..section.end)).unwrap_or(content)
    }

    /// How much speaks for it by itself; see [`Explanation::evidence`].
    pub fn evidence(&self) -> f64 {
        self.explanation.as_ref().map_or(0.0, |explanation| explanation.evidence)
    }

    /// The headings above what is shown, outermost first.
    pub fn heading_path(&self) -> &[String] {
        self.section.as_ref().map_or(&[], |section| &section.heading_path)
    }

    /// Leaves out the further sections that have no room in a token budget, of which so much is left.
    pub(crate) fn fit_further(&mut self, left: &mut usize) {
        self.further.retain(|section| {
            let rest = left.checked_sub(section.content.len().div_ceil(BYTES_PER_TOKEN));
            *left = rest.unwrap_or(*left);
            rest.is_some()
        });
    }
}

/// A part of a long content that fits a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BestSection {
    /// First byte in the content.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The line of the content that it begins in, from 1.
    pub line: usize,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
}

/// Another part of a long content that fits well, beside the best.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FurtherSection {
    /// Where it is.
    #[serde(flatten)]
    pub section: BestSection,
    /// How well it fits, 0 to 1: what its memory scores, in the proportion in which it scores less than the best section.
    pub relevance_score: Score,
    /// What it says.
    pub content: String,
}

/// Where the score of a hit comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The score by which it was ranked: the sum of the parts' values, in their order.
    pub score: f64,
    /// Its place in each lane that found it.
    pub lanes: Vec<LaneMark>,
    /// What the score is made of.
    pub parts: Vec<Part>,
    /// How much speaks for it by itself, whatever else was found; the best of the first few decides how strong the
    /// evidence of the whole answer is.
    pub evidence: f64,
    /// The memory above that says the same, which is why this one stands so far behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin_of: Option<MemoryRef>,
}

/// The place of a memory in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LaneMark {
    /// Which lane.
    pub lane: Lane,
    /// Its rank there, from 1.
    pub rank: u32,
    /// The lane's own score.
    pub raw: f64,
}

/// One way to find memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// By word.
    Keyword,
    /// By meaning.
    Vector,
    /// By relation.
    Graph,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Keyword, Self::Vector, Self::Graph];

    /// The lane as it is written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Vector => "vector",
            Self::Graph => "graph",
        }
    }
}

/// One part of a score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is for.
    pub name: PartName,
    /// How much of it there is.
    pub raw: f64,
    /// How much it counts.
    pub weight: f64,
    /// What it adds to the score: the two multiplied.
    pub value: f64,
}

impl Part {
    /// So much of something that counts so much.
    pub fn new(name: PartName, raw: f64, weight: f64) -> Self {
        Self { name, raw, weight, value: raw * weight }
    }
}

/// What a part of a score is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartName {
    /// Nearness of meaning, with what neighbours lend.
    Meaning,
    /// Common words, with what neighbours lend.
    Words,
    /// Common words once more, in place of the meaning of what is not embedded yet.
    Unembedded,
    /// Associations with what else was found.
    Graph,
    /// How much better what it updates matches.
    Succession,
    /// The question is about who said it.
    Speaker,
    /// The words of its whole session or document.
    SessionWords,
    /// The nearest item of its session or document.
    SessionMeaning,
    /// It asks, and somebody else answers next.
    Asks,
    /// It is of the time that the question names.
    Date,
    /// It names a time, and the question asks for one.
    When,
    /// It was said only after the question was asked.
    Unsaid,
    /// How lasting it is.
    Stability,
    /// How much it matters now.
    Importance,
    /// It is aged and little used.
    Cooling,
    /// Another memory updates it; more where it would else come before that one.
    Superseded,
    /// It does not hold any more, or not yet.
    Lapsed,
    /// It is of the channel that the caller speaks in.
    Channel,
}

impl PartName {
    /// The part that a lane's rank is.
    pub const fn of(lane: Lane) -> Self {
        match lane {
            Lane::Keyword => Self::Words,
            Lane::Vector => Self::Meaning,
            Lane::Graph => Self::Graph,
        }
    }

    /// The part in a word or two, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Meaning => "meaning",
            Self::Words => "words",
            Self::Unembedded => "words for meaning",
            Self::Graph => "links",
            Self::Succession => "what it updates",
            Self::Speaker => "speaker",
            Self::SessionWords => "session words",
            Self::SessionMeaning => "session meaning",
            Self::Asks => "asks",
            Self::Date => "date",
            Self::When => "names a time",
            Self::Unsaid => "said after the asking",
            Self::Stability => "stability",
            Self::Importance => "importance",
            Self::Cooling => "cooling",
            Self::Superseded => "superseded",
            Self::Lapsed => "not valid now",
            Self::Channel => "channel",
        }
    }
}

/// How strong the evidence is that anything here is about the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// There is none.
    None,
    /// Something may be.
    Weak,
    /// Something is.
    Strong,
}

impl Strength {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
        }
    }
}

/// A lane that could not do all its work, and why. The others did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Which lane.
    pub lane: Lane,
    /// Why.
    pub why: String,
}

/// A file that could not be read, and why; what it says may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Its path below the workspace; empty where it is about all of them.
    pub path: String,
    /// Why.
    pub why: String,
}

/// A backend that did not answer, or not well. The others did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedBackend {
    /// Its name.
    pub backend: String,
    /// A stable name of what happened, for programs.
    pub code: &'static str,
    /// What happened.
    pub why: String,
}

impl std::fmt::Display for FailedBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the backend `{}` {}", self.backend, self.why)
    }
}

/// What a recall found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How many there were before the limit.
    pub total_found: u64,
    /// How strong the evidence is, where there was a question. Where hits were left out, that of those that are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Strength>,
    /// What was found and kept back, because the evidence is weaker than what was asked for.
    pub withheld: u64,
    /// Hits that were left out because the token budget has no room for them.
    pub left_out: u64,
    /// The lanes that could not do all their work.
    pub missing: Vec<Missing>,
    /// The files that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// The backends that could not do all their work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_backends: Vec<FailedBackend>,
}

impl Answer {
    /// What could not be looked at, each in a line.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        let found = self.missing.iter().map(ToString::to_string);
        found
            .chain(self.unread.iter().map(ToString::to_string))
            .chain(self.failed_backends.iter().map(ToString::to_string))
    }
}

impl Timeline {
    /// What could not be looked at, each in a line.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(ToString::to_string).chain(self.unread.iter().map(ToString::to_string))
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.lane.as_str(), self.why)
    }
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.why),
            path => write!(f, "{path}: {}", self.why),
        }
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The memories, in order.
    pub memories: Vec<Memory>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Cursor>,
    /// The backends that could not do all their work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_backends: Vec<FailedBackend>,
}

impl Page {
    /// A page of the built-in backend.
    pub(crate) const fn of(memories: Vec<Memory>, next: Option<Cursor>) -> Self {
        Self { memories, next, failed_backends: Vec::new() }
    }
}

/// One version in a memory's history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// Which version.
    pub version: Version,
    /// Whether it is the one that holds now.
    pub current: bool,
    /// Why it was written.
    pub act: VersionAct,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// The name of whom.
    pub by_name: String,
    /// With which agent.
    pub agent: Option<String>,
    /// The fields that differ from the version before.
    pub changed: Vec<&'static str>,
    /// What it said.
    pub edition: Edition,
    /// Whether the content is left out of the edition, because those of newer versions fill the answer. To revert to it
    /// brings it back whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// A memory near another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relative {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// How many hops away.
    pub distance: usize,
    /// The associations by which it was reached, strongest first.
    pub via: Vec<Association>,
}
