//! What a recall found, and why.

use serde::{Deserialize, Serialize};

use crate::id::MemoryRef;
use crate::limits::BYTES_PER_TOKEN;
use crate::memory::Memory;
use crate::score::Score;

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
    /// Whether the content was cut to the section, for the token budget or because the answer is long.
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
    /// Archived memories that have every word of the question, those that fit best first; at most five. They are not among
    /// the hits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub archived: Vec<MemoryRef>,
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
