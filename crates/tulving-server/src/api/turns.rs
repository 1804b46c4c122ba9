//! Operations on the conversation log, and the recovery prompt after a lost session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{LoggedTurn, TurnPage};
use tulving_core::model::request::{TurnFilter, TurnRequest};

use tulving_dialects::argument::{WholeNumber, limited, within};
use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::recovery;
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of turns on a page.
const TURNS: i64 = 1_000;
const USUAL_TURNS: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Post, "/v1/turns", "logTurn", "Log a turn of a conversation", log)
            .creating()
            .saying("The log keeps the newest 200 turns of a space, so that a lost session can be recovered."),
        Operation::new(OperationMethod::Get, "/v1/turns", "listTurns", "List the newest turns, oldest first", turns)
            .read_by(Audience::Relays)
            .saying(
                "Returns up to `limit` turns, or fewer if they are long. `earlier` is true if the log has earlier ones; to get \
                 them, send the position of the first turn of the page as `before`.",
            ),
        Operation::new(
            OperationMethod::Get,
            "/v1/recovery",
            "getRecovery",
            "Get the prompt to recover a lost session",
            recover,
        )
        .saying("Contains the last ten turns, in the format of max. Empty if there are none."),
    ]
}

fn log(
    context: &ToolContext<'_>,
    SingleInput(turn): SingleInput<TurnRequest>,
) -> Result<OperationOutput<LoggedTurn>, ToolError> {
    Ok(OperationOutput::from(context.engine.log_turn(&context.caller, &turn)?).new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct ListTurnsArguments {
    /// Only turns of this channel.
    channel: Option<String>,
    /// Maximum number of turns, 1 to 1000 (default 10). The newest are returned.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
    /// Only turns before the one at this position.
    #[schemars(range(min = 1))]
    before: Option<WholeNumber>,
}

fn turns(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ListTurnsArguments>,
) -> Result<OperationOutput<TurnPage>, ToolError> {
    let last = limited(context, asked.limit, USUAL_TURNS, TURNS)?;
    let position = |before| within("before", Some(before), 1, 1..=i64::MAX).map(|before| before as u64);
    let before = asked.before.map(position).transpose()?;
    let filter = TurnFilter { channel: asked.channel, before, last };
    Ok(context.engine.turns(&context.caller, &filter)?.into())
}

#[derive(Deserialize, JsonSchema)]
struct RecoveryArguments {
    /// Only turns of this channel.
    channel: Option<String>,
    /// The name of the assistant (default: Max).
    assistant: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RecoveryPrompt")]
struct RecoveryReply {
    /// The prompt.
    prompt: String,
}

fn recover(
    context: &ToolContext<'_>,
    SingleInput(lost): SingleInput<RecoveryArguments>,
) -> Result<OperationOutput<RecoveryReply>, ToolError> {
    let assistant = lost.assistant.as_deref().unwrap_or(recovery::ASSISTANT);
    Ok(RecoveryReply { prompt: recovery::prompt(context, assistant, lost.channel)? }.into())
}
