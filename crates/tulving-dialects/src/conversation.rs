//! The tools for conversations: log turns one by one, and archive them when a session ends or becomes too long.

use tulving_core::files::archive::{ConversationArchiveReceipt, ConversationArchiveRequest};
use tulving_core::model::answer::LoggedTurn;
use tulving_core::model::error::Field;
use tulving_core::model::request::TurnRequest;

use crate::input::SingleInput;
use crate::tool::{DialectTool, ToolContext, ToolEffect, ToolError};

/// Returns the tool that logs a turn.
pub(crate) fn log_turn() -> DialectTool {
    DialectTool::own(
        "log_turn",
        "Log a turn",
        ToolEffect::Adds,
        "Log a turn of the conversation, by the user or by you, so that a lost session can be resumed. For hosts that keep \
         the log. Recall does not search it, but lasting facts that the user states become memories, unless that is off.",
        log,
    )
}

/// Returns the tool that archives a conversation.
pub(crate) fn archive() -> DialectTool {
    DialectTool::own(
        "archive_conversation",
        "Archive a conversation",
        ToolEffect::Adds,
        "Archive this conversation before its context is lost: the messages become a file in conversations/, the summary a \
         memory that recall finds. Without messages, the turns in the log are archived.",
        archive_tool,
    )
}

fn log(
    context: &ToolContext<'_>,
    SingleInput(turn): SingleInput<TurnRequest>,
) -> Result<LoggedTurn, ToolError> {
    Ok(context.engine.log_turn(&context.caller, &turn)?)
}

fn archive_tool(
    context: &ToolContext<'_>,
    SingleInput(request): SingleInput<ConversationArchiveRequest>,
) -> Result<ConversationArchiveReceipt, ToolError> {
    archived(context, request)
}

/// Archives a conversation. An error in its content is reported as an error in its messages.
pub fn archived(
    context: &ToolContext<'_>,
    request: ConversationArchiveRequest,
) -> Result<ConversationArchiveReceipt, ToolError> {
    let done = context.engine.archive_conversation(&context.caller, request);
    done.map_err(|error| match ToolError::from(error) {
        refusal if refusal.field.as_deref() == Some(Field::Conversation.as_str()) => {
            ToolError { field: Some("messages".to_owned()), ..refusal }
        }
        refusal => refusal,
    })
}
