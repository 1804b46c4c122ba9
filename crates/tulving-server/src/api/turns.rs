//! The log of conversations, the recovery prompt, and the memories as max lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{Logged, TurnPage};
use tulving_core::model::request::{TurnFilter, TurnRequest};
use tulving_core::model::time::Timestamp;
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::TurnRole;

use super::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use super::people::NoArguments;
use tulving_dialects::argument::{WholeNumber, limited, within};
use tulving_dialects::tool::{self, ToolContext, ToolError};
use tulving_dialects::{Dialect, max, recovery, words};

/// Maximum and default number of turns on a page.
const TURNS: i64 = 1_000;
const USUAL_TURNS: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/turns", "logTurn", "Log a turn of a conversation", log)
            .creating()
            .saying("The newest 200 of a space are kept, for when a session is lost."),
        Operation::new(OperationMethod::Get, "/v1/turns", "listTurns", "The newest turns, oldest first", turns)
            .read_by(Audience::Relays)
            .saying(
                "As many as were asked for, or fewer where they are long: `earlier` says whether the log has more. Earlier ones \
                 come with `before` and the position of the first turn of the page.",
            ),
        Operation::new(
            OperationMethod::Get,
            "/v1/recovery",
            "getRecovery",
            "The prompt after a session was lost",
            recover,
        )
        .saying("The last ten turns, in the frame of max; empty where there are none."),
        Operation::new(
            OperationMethod::Get,
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
struct LogTurnArguments {
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
#[schemars(rename = "Turn")]
struct TurnReply {
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

impl From<Turn> for TurnReply {
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

fn log(
    desk: &ToolContext<'_>,
    SingleInput(new): SingleInput<LogTurnArguments>,
) -> Result<OperationOutput<TurnReply>, ToolError> {
    let LogTurnArguments { role, content, channel, speaker, source } = new;
    let request = TurnRequest { channel, role, speaker, content, source };
    let Logged { turn, warnings } = desk.engine.log_turn(&desk.caller, &request)?;
    Ok(OperationOutput::from(TurnReply { warnings: tool::warnings(&warnings), ..TurnReply::from(turn) })
        .new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct ListTurnsArguments {
    /// Only of this channel.
    channel: Option<String>,
    /// How many of the newest, 1 to 1000 (default 10).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
    /// Only turns before the one at this position.
    #[schemars(range(min = 1))]
    before: Option<WholeNumber>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TurnList")]
struct TurnListReply {
    /// The turns, oldest first.
    turns: Vec<TurnReply>,
    /// Whether the log has earlier ones.
    earlier: bool,
}

fn turns(
    desk: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ListTurnsArguments>,
) -> Result<OperationOutput<TurnListReply>, ToolError> {
    let last = limited(desk, asked.limit, USUAL_TURNS, TURNS)?;
    let position = |before| within("before", Some(before), 1, 1..=i64::MAX).map(|before| before as u64);
    let before = asked.before.map(position).transpose()?;
    let filter = TurnFilter { channel: asked.channel, before, last };
    let TurnPage { turns, earlier } = desk.engine.turns(&desk.caller, &filter)?;
    Ok(TurnListReply { turns: turns.into_iter().map(TurnReply::from).collect(), earlier }.into())
}

#[derive(Deserialize, JsonSchema)]
struct RecoveryArguments {
    /// Only of this channel.
    channel: Option<String>,
    /// What the assistant is called (default: Max).
    assistant: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecoveryPrompt")]
struct RecoveryReply {
    /// The prompt.
    prompt: String,
}

fn recover(
    desk: &ToolContext<'_>,
    SingleInput(lost): SingleInput<RecoveryArguments>,
) -> Result<OperationOutput<RecoveryReply>, ToolError> {
    let assistant = lost.assistant.as_deref().unwrap_or(recovery::ASSISTANT);
    Ok(RecoveryReply { prompt: recovery::prompt(desk, assistant, lost.channel)? }.into())
}

fn rows(
    desk: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<Vec<max::MaxMemoryRow>>, ToolError> {
    let desk = ToolContext::open(desk.engine, &desk.caller, Dialect::Max)?;
    Ok(max::rows(&desk)?.into())
}
