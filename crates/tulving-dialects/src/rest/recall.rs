//! `/v1/recall`, `/v1/memories/search` and `/v1/context`: finding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tulving_core::answer::{BestSection, Explanation, FurtherSection, Hit, Lane, Strength};
use tulving_core::request::{Ask, BriefingRequest, Filter, Fusion, Mode, RecallRequest};
use tulving_core::time::{TimeInput, Timestamp};
use tulving_core::vocabulary::{Author, ContentType, Kind, MemoryType, Stability};

use super::operation::{Input, Made, Method, One, Operation, Reader, Two};
use super::shown::{self, Shown};
use crate::argument::{Whole, block_budget, limited, token_budget};
use crate::tool::{Desk, Refusal};
use crate::words;
use crate::{Dialect, NoDialect, context};

/// Most memories of a recall, and how many where it is not said.
const MOST: i64 = 1_000;
const USUAL: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Post, "/v1/recall", "recall", "Find what a question is about", recall).reading().saying(
            "By meaning, by word and by relation. Of a long document the best section is given. `evidence` says whether \
             anything found is really about the question.",
        ),
        Operation::new(Method::Get, "/v1/memories/search", "searchMemories", "Find what a question is about", search)
            .saying("The same as `POST /v1/recall`, by address."),
        Operation::new(Method::Get, "/v1/context", "getContext", "What to know at the start of a session", block)
            .saying("A block to put into a system prompt, fenced as data, within a token budget."),
    ]
}

/// Among which memories.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Which {
    /// Only of these types.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<MemoryType>")]
    types: Vec<MemoryType>,
    /// Only of these kinds.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<Kind>")]
    kinds: Vec<Kind>,
    /// Only of these stabilities.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<Stability>")]
    stabilities: Vec<Stability>,
    /// Only of these forms.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<ContentType>")]
    content_types: Vec<ContentType>,
    /// Only with all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Only with this key.
    key: Option<String>,
    /// Only from this file.
    source_path: Option<String>,
    /// Only from this channel.
    conversation: Option<String>,
    /// Only by this author.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Author>")]
    author: Option<Author>,
    /// Only saved by this agent.
    source_agent: Option<String>,
    /// Only pinned ones, or only others.
    pinned: Option<bool>,
    /// Only todos and goals that are done, or only open ones.
    done: Option<bool>,
    /// Only saved at or after this. A date without a time is a day of your time zone, and so is `yesterday`.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time_input")]
    since: Option<TimeInput>,
    /// Only saved before this.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time_input")]
    until: Option<TimeInput>,
    /// Only those whose content, title or key holds this text, in any case.
    contains: Option<String>,
    /// In every space that you may see, not only in that of the call.
    #[serde(default)]
    all_spaces: bool,
}

impl Which {
    pub(super) fn filter(self, desk: &Desk<'_>) -> Filter {
        Filter {
            space: (!self.all_spaces).then_some(desk.caller.space),
            types: self.types,
            kinds: self.kinds,
            stabilities: self.stabilities,
            content_types: self.content_types,
            tags: self.tags,
            key: self.key,
            source_path: self.source_path,
            conversation: self.conversation,
            author: self.author,
            source_agent: self.source_agent,
            pinned: self.pinned,
            done: self.done,
            since: desk.instant(self.since),
            until: desk.instant(self.until),
            substring: self.contains,
            ..Filter::default()
        }
    }
}

/// A question.
#[derive(Deserialize, JsonSchema)]
struct Question {
    /// What you want to know, in plain words.
    #[schemars(length(min = 1))]
    query: String,
    /// Most memories to return, 1 to 1000 (default 10).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<Whole>,
    /// As things stood at this time.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    as_of: Option<Timestamp>,
    /// The time of asking, which "last week" is seen from (default: now).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time")]
    asked_at: Option<Timestamp>,
    /// The channel that you speak in; its memories are preferred.
    channel: Option<String>,
    /// Answer with nothing where the evidence is weaker than this.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Strength>")]
    abstain_below: Option<Strength>,
    /// Most tokens that the contents of all memories may take together.
    #[schemars(range(min = 1, max = 10_000_000))]
    token_budget: Option<Whole>,
    /// How the ways of finding come together (default: measured).
    fusion: Option<Fused>,
    /// Only these ways of finding (default: all).
    #[serde(default)]
    lanes: Vec<LaneName>,
    /// Whether each memory says where its score comes from.
    #[serde(default)]
    explain: bool,
}

/// How the ways of finding come together.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Fused {
    Measured,
    Rrf,
}

/// A way of finding.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LaneName {
    Keyword,
    Vector,
    Graph,
}

impl From<LaneName> for Lane {
    fn from(name: LaneName) -> Self {
        match name {
            LaneName::Keyword => Self::Keyword,
            LaneName::Vector => Self::Vector,
            LaneName::Graph => Self::Graph,
        }
    }
}

/// The same by address, where the question is called `q`.
struct Searched(Two<Question, Which>);

impl Input for Searched {
    fn schema() -> Map<String, Value> {
        let mut schema = Two::<Question, Which>::schema();
        if let Some(Value::Object(own)) = schema.get_mut("properties")
            && let Some(query) = own.remove("query")
        {
            own.insert("q".to_owned(), query);
        }
        schema.insert("required".to_owned(), json!(["q"]));
        schema
    }

    fn reader() -> Reader<Self> {
        let read = Two::reader();
        Box::new(move |mut said| {
            if let Some(query) = said.remove("q") {
                said.insert("query".to_owned(), query);
            }
            let renamed = |refusal: Refusal| match refusal.field.as_deref() {
                Some("query") => Refusal {
                    message: refusal.message.replace("`query`", "`q`"),
                    field: Some("q".to_owned()),
                    ..refusal
                },
                _ => refusal,
            };
            read(said).map(Self).map_err(renamed)
        })
    }
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// The memories, best first.
    memories: Vec<Recalled>,
    /// How many there were before the limit.
    total: u64,
    /// Whether anything given is really about the question.
    #[schemars(schema_with = "words::word::<Strength>")]
    evidence: Strength,
    /// How many were kept back because the evidence was weaker than was asked for.
    withheld: u64,
    /// How many had no room in the token budget.
    left_out: u64,
    /// Archived memories that have every word of the question, at most five; they are not among those above.
    /// `GET /v1/memories/{id}` reads one, and `DELETE /v1/memories/{id}/archive` brings it back.
    archived_matches: Vec<String>,
    /// What could not be looked at, and why.
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Recalled {
    #[serde(flatten)]
    memory: Shown,
    /// How well it fits, 0 to 1.
    relevance_score: f64,
    /// Why it is here.
    why: String,
    /// The headings above the section that is shown, outermost first.
    heading_path: Vec<String>,
    /// Where in the whole content the section is that is shown, where it is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<Whereabouts>,
    /// Further sections that fit well, best first; at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<Further>,
    /// Where its score comes from, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    explanation: Option<Explanation>,
}

#[derive(Serialize, JsonSchema)]
struct Whereabouts {
    /// Its first byte.
    start: usize,
    /// The byte after its last.
    end: usize,
    /// The line that it begins in, from 1.
    line: usize,
}

impl From<&BestSection> for Whereabouts {
    fn from(section: &BestSection) -> Self {
        Self { start: section.start, end: section.end, line: section.line }
    }
}

#[derive(Serialize, JsonSchema)]
struct Further {
    /// What it says.
    content: String,
    /// How well it fits, 0 to 1.
    relevance_score: f64,
    /// The headings above it, outermost first.
    heading_path: Vec<String>,
    /// Where in the whole content it is.
    section: Whereabouts,
}

impl From<FurtherSection> for Further {
    fn from(further: FurtherSection) -> Self {
        Self {
            section: Whereabouts::from(&further.section),
            heading_path: further.section.heading_path,
            relevance_score: further.relevance_score.get(),
            content: further.content,
        }
    }
}

fn recalled(hit: Hit, explain: bool, now: Timestamp) -> Recalled {
    Recalled {
        memory: shown::with_content(&hit.memory, hit.shown(), now),
        relevance_score: hit.relevance_score.get(),
        heading_path: hit.heading_path().to_owned(),
        section: hit.section.as_ref().map(Whereabouts::from),
        further: hit.further.into_iter().map(Further::from).collect(),
        why: hit.why,
        explanation: hit.explanation.filter(|_| explain),
    }
}

fn search(desk: &Desk<'_>, Searched(asked): Searched) -> Result<Made<Found>, Refusal> {
    recall(desk, asked)
}

fn recall(desk: &Desk<'_>, Two(asked, which): Two<Question, Which>) -> Result<Made<Found>, Refusal> {
    let ask = Ask {
        fusion: match asked.fusion {
            None | Some(Fused::Measured) => Fusion::Measured,
            Some(Fused::Rrf) => Fusion::Ranks,
        },
        lanes: match asked.lanes.is_empty() {
            true => Lane::ALL.to_vec(),
            false => asked.lanes.into_iter().map(Lane::from).collect(),
        },
        asked_at: asked.asked_at,
        as_of: asked.as_of,
        channel: asked.channel,
        abstain_below: asked.abstain_below,
        token_budget: token_budget(asked.token_budget)?,
        ..Ask::new(asked.query)
    };
    let limit = limited(desk, asked.limit, USUAL, MOST)?;
    let request =
        RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter: which.filter(desk), sort: None, limit };
    let answer = desk.engine.recall(&desk.caller, &request)?;
    let now = desk.engine.now();
    let warnings: Vec<String> = answer.troubles().collect();
    Ok(Found {
        warnings,
        total: answer.total_found,
        evidence: answer.evidence.unwrap_or(Strength::None),
        withheld: answer.withheld,
        left_out: answer.left_out,
        archived_matches: answer.archived.iter().map(ToString::to_string).collect(),
        memories: answer.hits.into_iter().map(|hit| recalled(hit, asked.explain, now)).collect(),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
struct About {
    /// What the session is about, where that is known.
    about: Option<String>,
    /// Most tokens that it may take, 50 to 100000 (default 2000).
    #[schemars(range(min = 50, max = 100_000))]
    token_budget: Option<Whole>,
    /// Whose form it has (default: native).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Dialect>")]
    dialect: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Block {
    /// The block; empty where there is nothing to know.
    context: String,
}

fn block(desk: &Desk<'_>, One(asked): One<About>) -> Result<Made<Block>, Refusal> {
    let dialect = asked
        .dialect
        .as_deref()
        .map_or(Ok(Dialect::default()), str::parse)
        .map_err(|error: NoDialect| Refusal::invalid("unknown_word", "dialect", error.to_string()))?;
    let request = BriefingRequest { about: asked.about, token_budget: block_budget(asked.token_budget)? };
    let desk = Desk::open(desk.engine, &desk.caller, dialect)?;
    Ok(Block { context: context::block(&desk, dialect, &request)? }.into())
}
