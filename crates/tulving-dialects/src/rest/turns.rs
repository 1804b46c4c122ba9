//! The log of conversations, the prompt after a session was lost, and the memories as max lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::answer::Logged;
use tulving_core::request::{TurnFilter, TurnRequest};
use tulving_core::time::Timestamp;
use tulving_core::turn::Turn;
use tulving_core::vocabulary::TurnRole;

use super::operation::{Audience, Made, Method, One, Operation};
use super::people::Nothing;
use crate::argument::{Whole, limited};
use crate::tool::{self, Desk, Refusal};
use crate::{Dialect, max, recovery, words};

/// Most turns that are given, which is as many as are kept, and how many where it is not said.
const TURNS: i64 = 200;
const USUAL_TURNS: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Post, "/v1/turns", "logTurn", "Log a turn of a conversation", log)
            .creating()
            .saying("The newest 200 of a space are kept, for when a session is lost."),
        Operation::new(Method::Get, "/v1/turns", "listTurns", "The newest turns, oldest first", turns)
            .read_by(Audience::Relays),
        Operation::new(
            Method::Get,
            "/v1/recovery",
            "getRecovery",
            "The prompt after a session was lost",
            recover,
        )
        .saying("The last ten turns, in the frame of max; empty where there are none."),
        Operation::new(
            Method::Get,
            "/memory",
            "listAsMax",
            "The memories as rows, the last used first",
            rows,
        )
        .read_by(Audience::Models)
        .bare()
        .saying("Up to 100, in the words of max. Looking at them does not count as use."),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTurn {
    /// Who said it.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// What was said.
    #[schemars(length(min = 1))]
    content: String,
    /// The channel it belongs to.
    channel: Option<String>,
    /// The speaker's name.
    speaker: Option<String>,
    /// Where it was said (default: unknown).
    source: Option<String>,
}

/// A line of a conversation.
#[derive(Serialize, JsonSchema)]
struct Line {
    /// Its id.
    id: String,
    /// Its place in the space's log.
    position: u64,
    /// Who said it.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// The speaker's name.
    speaker: Option<String>,
    /// What was said.
    content: String,
    /// The channel it belongs to.
    channel: Option<String>,
    /// Where it was said.
    source: String,
    /// When.
    #[schemars(schema_with = "words::time")]
    at: Timestamp,
    /// What was held back of what was just logged: secrets, private parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl From<Turn> for Line {
    fn from(turn: Turn) -> Self {
        Self {
            id: turn.id.to_string(),
            position: turn.position,
            role: turn.role,
            speaker: turn.speaker,
            content: turn.content,
            channel: turn.channel,
            source: turn.source,
            at: turn.at,
            warnings: Vec::new(),
        }
    }
}

fn log(desk: &Desk<'_>, One(new): One<NewTurn>) -> Result<Made<Line>, Refusal> {
    let NewTurn { role, content, channel, speaker, source } = new;
    let request = TurnRequest { channel, role, speaker, content, source };
    let Logged { turn, warnings } = desk.engine.log_turn(&desk.caller, &request)?;
    Ok(Made::from(Line { warnings: tool::warnings(&warnings), ..Line::from(turn) }).new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct Newest {
    /// Only of this channel.
    channel: Option<String>,
    /// How many of the newest, 1 to 200 (default 10).
    #[schemars(range(min = 1, max = 200))]
    limit: Option<Whole>,
}

#[derive(Serialize, JsonSchema)]
struct Lines {
    /// The turns, oldest first.
    turns: Vec<Line>,
}

fn turns(desk: &Desk<'_>, One(asked): One<Newest>) -> Result<Made<Lines>, Refusal> {
    let filter = TurnFilter { channel: asked.channel, last: limited(desk, asked.limit, USUAL_TURNS, TURNS)? };
    let turns = desk.engine.turns(&desk.caller, &filter)?;
    Ok(Lines { turns: turns.into_iter().map(Line::from).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
struct Lost {
    /// Only of this channel.
    channel: Option<String>,
    /// What the assistant is called (default: Max).
    assistant: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Recovery {
    /// The prompt.
    prompt: String,
}

fn recover(desk: &Desk<'_>, One(lost): One<Lost>) -> Result<Made<Recovery>, Refusal> {
    let assistant = lost.assistant.as_deref().unwrap_or(recovery::ASSISTANT);
    Ok(Recovery { prompt: recovery::prompt(desk, assistant, lost.channel)? }.into())
}

fn rows(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<Vec<max::Row>>, Refusal> {
    let desk = Desk::open(desk.engine, &desk.caller, Dialect::Max)?;
    Ok(max::rows(&desk)?.into())
}
