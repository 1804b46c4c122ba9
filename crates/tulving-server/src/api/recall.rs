//! `/v1/recall`, `/v1/memories/search` and `/v1/context`: finding.

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tulving_core::model::answer::{BestSection, Explanation, FurtherSection, Hit, Lane, Strength};
use tulving_core::model::request::{Ask, BriefingRequest, Filter, Fusion, ListBounds, Mode, RecallRequest};
use tulving_core::model::time::{TimeInput, Timestamp};
use tulving_core::model::vocabulary::{Author, ContentType, Kind, MemoryType, Stability};

use super::operation::{
    ArgumentReader, CombinedInput, Operation, OperationInput, OperationMethod, OperationOutput, SingleInput,
};
use super::shown::{self, MemoryReply};
use tulving_dialects::argument::{WholeNumber, block_budget, limited, list_limited, token_budget};
use tulving_dialects::finding::{ListSummary, nothing_asked};
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;
use tulving_dialects::{Dialect, UnknownDialectError, context};

/// Maximum and default number of memories in a recall.
const MOST: i64 = 1_000;
const USUAL: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/recall", "recall", "Find what a question is about", recall).reading().saying(
            "By meaning, by word and by relation. Of a long document the best section is given. `evidence` says whether \
             anything found is really about the question. A question that only names a type (\"what are my open todos?\", \
             \"all decisions from the last two weeks\", \"how many goals are open?\") is answered by all of them (`listed`), \
             and so is a call without a question and with filters.",
        ),
        Operation::new(OperationMethod::Get, "/v1/memories/search", "searchMemories", "Find what a question is about", search)
            .saying("The same as `POST /v1/recall`, by address."),
        Operation::new(OperationMethod::Get, "/v1/context", "getContext", "What to know at the start of a session", block)
            .saying("A block to put into a system prompt, fenced as data, within a token budget."),
    ]
}

/// Among which memories.
#[derive(Deserialize, JsonSchema)]
pub(super) struct MemoryFilterArguments {
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

impl MemoryFilterArguments {
    pub(super) fn filter(self, desk: &ToolContext<'_>) -> Filter {
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
struct RecallArguments {
    /// What you want to know, in plain words. Without it, all memories of the filters are given, at least one of which is needed.
    #[schemars(length(min = 1))]
    query: Option<String>,
    /// Most memories to return, 1 to 1000 (default 10, or 100 where all of a type or a filter are listed).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
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
    token_budget: Option<WholeNumber>,
    /// How the ways of finding come together (default: measured).
    fusion: Option<FusionArgument>,
    /// Only these ways of finding (default: all).
    #[serde(default)]
    lanes: Vec<LaneArgument>,
    /// Whether each memory says where its score comes from.
    #[serde(default)]
    explain: bool,
}

/// How the ways of finding come together.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Fusion")]
enum FusionArgument {
    Measured,
    Rrf,
}

/// A way of finding.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Lane")]
enum LaneArgument {
    Keyword,
    Vector,
    Graph,
}

impl From<LaneArgument> for Lane {
    fn from(name: LaneArgument) -> Self {
        match name {
            LaneArgument::Keyword => Self::Keyword,
            LaneArgument::Vector => Self::Vector,
            LaneArgument::Graph => Self::Graph,
        }
    }
}

/// The same as a query string, where the question is called `q`.
struct SearchInput(CombinedInput<RecallArguments, MemoryFilterArguments>);

impl OperationInput for SearchInput {
    fn schema_from(generator: &mut SchemaGenerator) -> Map<String, Value> {
        let mut schema = CombinedInput::<RecallArguments, MemoryFilterArguments>::schema_from(generator);
        if let Some(Value::Object(own)) = schema.get_mut("properties")
            && let Some(query) = own.remove("query")
        {
            own.insert("q".to_owned(), query);
        }
        schema
    }

    fn reader() -> ArgumentReader<Self> {
        let read = CombinedInput::reader();
        Box::new(move |mut said| {
            if let Some(query) = said.remove("q") {
                said.insert("query".to_owned(), query);
            }
            let renamed = |refusal: ToolError| match refusal.field.as_deref() {
                Some("query") => ToolError {
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

/// The memories that were found, and how strong the evidence is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecallResults")]
struct RecallReply {
    /// The memories, best first.
    memories: Vec<RecallHitReply>,
    /// How many there were before the limit.
    total: u64,
    /// The list that the answer is, where it has all memories of a type or a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<ListSummary>,
    /// Whether anything given is really about the question; null where none was asked.
    #[schemars(schema_with = "words::maybe::<Strength>")]
    evidence: Option<Strength>,
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

/// A memory that was found, and why.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecallHit")]
struct RecallHitReply {
    #[serde(flatten)]
    memory: MemoryReply,
    /// How well it fits, 0 to 1.
    relevance_score: f64,
    /// Why it is here.
    why: String,
    /// The headings above the section that is shown, outermost first.
    heading_path: Vec<String>,
    /// Where in the whole content the section is that is shown, where it is not all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<SectionRangeReply>,
    /// Further sections that fit well, best first; at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<RecallSectionReply>,
    /// Where its score comes from, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    explanation: Option<Explanation>,
}

/// A part of a content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SectionRange")]
struct SectionRangeReply {
    /// Its first byte.
    start: usize,
    /// The byte after its last.
    end: usize,
    /// The line that it begins in, from 1.
    line: usize,
}

impl From<&BestSection> for SectionRangeReply {
    fn from(section: &BestSection) -> Self {
        Self { start: section.start, end: section.end, line: section.line }
    }
}

/// A further section of a memory that was found.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecallSection")]
struct RecallSectionReply {
    /// What it says.
    content: String,
    /// How well it fits, 0 to 1.
    relevance_score: f64,
    /// The headings above it, outermost first.
    heading_path: Vec<String>,
    /// Where in the whole content it is.
    section: SectionRangeReply,
}

impl From<FurtherSection> for RecallSectionReply {
    fn from(further: FurtherSection) -> Self {
        Self {
            section: SectionRangeReply::from(&further.section),
            heading_path: further.section.heading_path,
            relevance_score: further.relevance_score.get(),
            content: further.content,
        }
    }
}

fn recalled(hit: Hit, explain: bool, now: Timestamp) -> RecallHitReply {
    RecallHitReply {
        memory: shown::with_content(&hit.memory, hit.shown(), now),
        relevance_score: hit.relevance_score.get(),
        heading_path: hit.heading_path().to_owned(),
        section: hit.section.as_ref().map(SectionRangeReply::from),
        further: hit.further.into_iter().map(RecallSectionReply::from).collect(),
        why: hit.why,
        explanation: hit.explanation.filter(|_| explain),
    }
}

fn search(
    desk: &ToolContext<'_>,
    SearchInput(asked): SearchInput,
) -> Result<OperationOutput<RecallReply>, ToolError> {
    found(desk, asked, "q")
}

fn recall(
    desk: &ToolContext<'_>,
    asked: CombinedInput<RecallArguments, MemoryFilterArguments>,
) -> Result<OperationOutput<RecallReply>, ToolError> {
    found(desk, asked, "query")
}

/// Finds memories for the question in the field of this name, or all that pass the filters.
fn found(
    desk: &ToolContext<'_>,
    CombinedInput(asked, which): CombinedInput<RecallArguments, MemoryFilterArguments>,
    field: &str,
) -> Result<OperationOutput<RecallReply>, ToolError> {
    let filter = which.filter(desk);
    let explain = asked.explain;
    let (mode, limit) = match asked.query {
        None if filter.is_empty() => return Err(nothing_asked(field)),
        None => (asked.unasked(field)?, list_limited(desk, asked.limit, MOST)?),
        Some(_) => (asked.asked(desk)?, limited(desk, asked.limit, USUAL, MOST)?),
    };
    let request = RecallRequest { mode, filter, sort: None, limit };
    let answer = desk.engine.recall(&desk.caller, &request)?;
    let now = desk.engine.now();
    let warnings: Vec<String> = answer.troubles().collect();
    Ok(RecallReply {
        warnings,
        total: answer.total_found,
        listed: answer.listed.map(ListSummary::from),
        evidence: answer.evidence,
        withheld: answer.withheld,
        left_out: answer.left_out,
        archived_matches: answer.archived.iter().map(ToString::to_string).collect(),
        memories: answer.hits.into_iter().map(|hit| recalled(hit, explain, now)).collect(),
    }
    .into())
}

impl RecallArguments {
    /// Returns the question with its options.
    fn asked(&self, desk: &ToolContext<'_>) -> Result<Mode, ToolError> {
        let ask = Ask {
            fusion: match self.fusion {
                None | Some(FusionArgument::Measured) => Fusion::Measured,
                Some(FusionArgument::Rrf) => Fusion::Ranks,
            },
            lanes: match self.lanes.is_empty() {
                true => Lane::ALL.to_vec(),
                false => self.lanes.iter().copied().map(Lane::from).collect(),
            },
            asked_at: self.asked_at,
            as_of: self.as_of,
            channel: self.channel.clone(),
            abstain_below: self.abstain_below,
            list_limit: Some(list_limited(desk, self.limit, MOST)?),
            token_budget: token_budget(self.token_budget)?,
            ..Ask::new(self.query.clone().unwrap_or_default())
        };
        Ok(Mode::Hybrid(Box::new(ask)))
    }

    /// Returns a list without a question. Options that apply only to a question are refused.
    fn unasked(&self, field: &str) -> Result<Mode, ToolError> {
        let given = [
            ("asked_at", self.asked_at.is_some()),
            ("channel", self.channel.is_some()),
            ("abstain_below", self.abstain_below.is_some()),
            ("fusion", self.fusion.is_some()),
            ("lanes", !self.lanes.is_empty()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let message = format!("`{name}` goes with a question, and `{field}` is missing");
            return Err(ToolError::invalid("conflicting_arguments", name, message));
        }
        Ok(Mode::Filtered(ListBounds { as_of: self.as_of, token_budget: token_budget(self.token_budget)? }))
    }
}

#[derive(Deserialize, JsonSchema)]
struct ContextArguments {
    /// What the session is about, where that is known.
    about: Option<String>,
    /// Most tokens that it may take, 50 to 100000 (default 2000).
    #[schemars(range(min = 50, max = 100_000))]
    token_budget: Option<WholeNumber>,
    /// Whose form it has (default: native).
    #[serde(default)]
    #[schemars(schema_with = "words::maybe::<Dialect>")]
    dialect: Option<String>,
}

/// The block for the start of a session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionContext")]
struct ContextReply {
    /// The block; empty where there is nothing to know.
    context: String,
}

fn block(
    desk: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ContextArguments>,
) -> Result<OperationOutput<ContextReply>, ToolError> {
    let dialect = asked.dialect.as_deref().map_or(Ok(Dialect::default()), str::parse).map_err(
        |error: UnknownDialectError| ToolError::invalid("unknown_word", "dialect", error.to_string()),
    )?;
    let request = BriefingRequest { about: asked.about, token_budget: block_budget(asked.token_budget)? };
    let desk = ToolContext::open(desk.engine, &desk.caller, dialect)?;
    Ok(ContextReply { context: context::block(&desk, dialect, &request)? }.into())
}
