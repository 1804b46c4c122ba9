//! The results of a recall, with reasons.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::model::id::MemoryRef;
use crate::model::limits::BYTES_PER_TOKEN;
use crate::model::memory::Memory;
use crate::model::score::Score;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Lane, MemoryType, Strength};

/// A memory that was found, and why. The content of a long memory is its best section.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(rename = "RecallHit")]
pub struct Hit {
    /// The memory.
    #[schemars(flatten)]
    pub memory: Memory,
    /// Relevance to the question, 0 to 1.
    pub relevance_score: Score,
    /// The reason for the hit, in a few words. Native tools give it only on request.
    #[schemars(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The part of a long content that fits best.
    #[schemars(skip_serializing_if = "Option::is_none")]
    pub section: Option<BestSection>,
    /// Other sections that fit well on their own, best first.
    #[schemars(rename = "more_sections", skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<FurtherSection>,
    /// True if the content was cut to the section, for the token budget or because the answer is long.
    #[schemars(skip)]
    pub cut: bool,
    /// The parts of its score, if there was a question.
    #[schemars(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Json<'a> {
            #[serde(flatten)]
            memory: &'a Memory,
            relevance_score: Score,
            #[serde(skip_serializing_if = "str::is_empty")]
            why: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            section: Option<&'a BestSection>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            more_sections: &'a [FurtherSection],
            #[serde(skip_serializing_if = "Option::is_none")]
            explanation: Option<&'a Explanation>,
        }
        let mut shown = None;
        if self.shown().len() < self.memory.fields.text.content.len() {
            let mut memory = self.memory.clone();
            memory.fields.text.content = self.shown().to_owned();
            shown = Some(memory);
        }
        let Self { relevance_score, why, section, further, cut: _, explanation, memory } = self;
        Json {
            memory: shown.as_ref().unwrap_or(memory),
            relevance_score: *relevance_score,
            why,
            section: section.as_ref(),
            more_sections: further,
            explanation: explanation.as_ref(),
        }
        .serialize(out)
    }
}

impl Hit {
    /// Returns the text to show: the best section of a long content, or else the content.
    pub fn shown(&self) -> &str {
        let content = self.memory.fields.text.content.as_str();
        let section = self.section.as_ref().filter(|_| !self.cut);
        section.and_then(|section| content.get(section.start..section.end)).unwrap_or(content)
    }

    /// Returns the evidence for this hit alone; see [`Explanation::evidence`].
    pub fn evidence(&self) -> f64 {
        self.explanation.as_ref().map_or(0.0, |explanation| explanation.evidence)
    }

    /// Returns the headings above the text shown, outermost first.
    pub fn heading_path(&self) -> &[String] {
        self.section.as_ref().map_or(&[], |section| &section.heading_path)
    }

    /// Removes the additional sections that do not fit into the rest of the token budget.
    pub(crate) fn fit_further(&mut self, left: &mut usize) {
        self.further.retain(|section| {
            let rest = left.checked_sub(section.content.len().div_ceil(BYTES_PER_TOKEN));
            *left = rest.unwrap_or(*left);
            rest.is_some()
        });
    }
}

/// A part of a long content that fits a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Section")]
pub struct BestSection {
    /// First byte in the content.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// The line of the content in which it begins, from 1.
    pub line: usize,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
}

/// Another section of a long content that fits well, after the best.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MoreSection")]
pub struct FurtherSection {
    /// Its position.
    #[serde(flatten)]
    pub section: BestSection,
    /// Relevance to the question, 0 to 1: the score of its memory, reduced in proportion to the best section.
    pub relevance_score: Score,
    /// Its text.
    pub content: String,
}

/// The parts of a hit's score.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// The score that it was ranked by: the sum of the parts' values, in their order.
    pub score: f64,
    /// Its rank in each lane that found it.
    pub lanes: Vec<LaneMark>,
    /// The parts of the score.
    pub parts: Vec<ScorePart>,
    /// The evidence for this memory alone, independent of the other hits. The best of the first few hits sets the evidence
    /// of the whole answer.
    pub evidence: f64,
    /// The memory above that says the same. It is the reason why this one is ranked so low.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<MemoryRef>,
}

/// The rank of a memory in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "LaneRank")]
pub struct LaneMark {
    /// The lane.
    pub lane: Lane,
    /// The rank of the memory in the lane, from 1.
    pub rank: u32,
    /// The lane's own score.
    pub raw: f64,
}

/// One part of a score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ScorePart")]
pub struct ScorePart {
    /// The name of the part.
    pub name: PartName,
    /// The measured amount.
    pub raw: f64,
    /// The weight of the part.
    pub weight: f64,
    /// The contribution to the score: `raw` times `weight`.
    pub value: f64,
}

impl ScorePart {
    /// Creates a part from an amount and its weight.
    pub fn new(name: PartName, raw: f64, weight: f64) -> Self {
        Self { name, raw, weight, value: raw * weight }
    }
}

/// The name of a part of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ScorePartName")]
pub enum PartName {
    /// Similarity of meaning, including shares from neighbouring items.
    Meaning,
    /// Common words, including shares from neighbouring items.
    Words,
    /// Common words counted again, in place of the meaning of a content that is not embedded yet.
    Unembedded,
    /// Associations with other memories that were found.
    Graph,
    /// The difference to the score of the memory that it updates, if that memory matches better.
    Succession,
    /// The question is about the speaker.
    Speaker,
    /// The words of its whole session or document.
    SessionWords,
    /// The nearest item of its session or document.
    SessionMeaning,
    /// The memory asks a question, and somebody else answers next.
    Asks,
    /// The memory falls into the time that the question names.
    Date,
    /// The memory names a time, and the question asks for one.
    When,
    /// The memory was said only after the question was asked.
    Unsaid,
    /// The form of the turn shows that it states something, such as names and what the speaker did.
    States,
    /// Rare words that it shares with the best memories of the first ranking.
    SharedWords,
    /// Its stability.
    Stability,
    /// Its importance now.
    Importance,
    /// The memory is aged and little used.
    Cooling,
    /// Another memory updates it. The penalty is larger if it would otherwise come before that one.
    Superseded,
    /// The memory is no longer valid, or not yet.
    Lapsed,
    /// The memory was valid at the past time that the question names.
    ValidThen,
    /// The memory belongs to the caller's channel.
    Channel,
    /// The memory is newer than one that states the same thing with another value and matches a little better.
    Newer,
    /// Nothing seems to answer the question, so no relevance is high.
    NoEvidence,
}

impl PartName {
    /// Returns the part for a lane's rank.
    pub const fn of(lane: Lane) -> Self {
        match lane {
            Lane::Keyword => Self::Words,
            Lane::Vector => Self::Meaning,
            Lane::Graph => Self::Graph,
        }
    }

    /// Returns the name of the part for people.
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
            Self::Unsaid => "said after the question",
            Self::States => "states something",
            Self::SharedWords => "shared words",
            Self::Stability => "stability",
            Self::Importance => "importance",
            Self::Cooling => "cooling",
            Self::Superseded => "superseded",
            Self::Lapsed => "not valid now",
            Self::ValidThen => "valid then",
            Self::Channel => "channel",
            Self::Newer => "newer value",
            Self::NoEvidence => "no evidence",
        }
    }
}

/// A lane that failed in whole or in part, and why. The other lanes did their work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FailedLane")]
pub struct FailedLane {
    /// The lane.
    pub lane: Lane,
    /// The reason.
    pub why: String,
}

/// A file that could not be read, and why. Its content may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UnreadFile")]
pub struct UnreadableFile {
    /// Its path below the workspace; empty if all files are affected.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// A backend that failed or gave a bad answer. The other backends answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedBackend {
    /// Its name.
    pub backend: String,
    /// A stable error code, for programs.
    pub code: &'static str,
    /// The error in words.
    pub why: String,
}

impl std::fmt::Display for FailedBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the backend `{}` {}", self.backend, self.why)
    }
}

/// The list that an answer contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListAnswer {
    /// A description with the count: `6 open todos`.
    pub what: String,
    /// The memory types in the list; empty means all.
    pub types: Vec<MemoryType>,
    /// True if the list has only todos and goals that are done, false if it has only open ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// The first instant of the time that the question names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// The first instant after that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// True if the question asks how many there are.
    pub counted: bool,
    /// Number of memories left out because another one superseded them.
    pub superseded: u64,
    /// True if no memory of these types is saved. The hits are then ranked by the question instead.
    pub ranked: bool,
}

/// The results of a recall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RecallAnswer")]
pub struct Answer {
    /// The hits, best first.
    #[serde(rename = "memories")]
    pub hits: Vec<Hit>,
    /// Number of hits before the limit.
    #[serde(rename = "total")]
    pub total_found: u64,
    /// The list that it is, if it has all memories of a type or a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListAnswer>,
    /// Strength of the evidence, if there was a question. If hits were left out, that of the remaining ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Strength>,
    /// A remark for the reader: nothing seems to answer the question, or somebody else said what it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Number of hits held back because their evidence is weaker than requested.
    pub withheld: u64,
    /// Number of hits left out because they did not fit into the token budget.
    pub left_out: u64,
    /// Archived memories that have every word of the question, best match first; at most five. They are not among the
    /// hits.
    #[serde(rename = "archived_matches", skip_serializing_if = "Vec::is_empty")]
    pub archived: Vec<MemoryRef>,
    /// The lanes that failed in whole or in part.
    #[serde(rename = "failed_lanes", skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<FailedLane>,
    /// The files that could not be read.
    #[serde(rename = "unread_files", skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadableFile>,
    /// The backends that failed in whole or in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_backends: Vec<FailedBackend>,
}

impl Answer {
    /// Returns one line for each source that could not be searched.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        let found = self.missing.iter().map(ToString::to_string);
        found
            .chain(self.unread.iter().map(ToString::to_string))
            .chain(self.failed_backends.iter().map(ToString::to_string))
    }
}

impl std::fmt::Display for FailedLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.lane.as_str(), self.why)
    }
}

impl std::fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.why),
            path => write!(f, "{path}: {}", self.why),
        }
    }
}
