//! The tools for conversations: log turns one by one, and archive them when a session ends or becomes too long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::files::archive::{ConversationArchiveReceipt, ConversationArchiveRequest};
use tulving_core::files::transcript::TranscriptMessage;
use tulving_core::model::answer;
use tulving_core::model::error::Field;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::TurnRequest;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::TurnRole;

use crate::tool::{self, DialectTool, ToolContext, ToolEffect, ToolError};
use crate::words;

/// Returns the tool that logs a turn.
pub(crate) fn log_turn() -> DialectTool {
    DialectTool::data(
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
    DialectTool::data(
        "archive_conversation",
        "Archive a conversation",
        ToolEffect::Adds,
        "Archive this conversation before its context is lost: the messages become a file in conversations/, the summary a \
         memory that recall finds. Without messages, the turns in the log are archived.",
        archived,
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogTurnToolArguments {
    /// The role of the speaker.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// The text.
    content: String,
    /// The source, such as telegram (default: unknown).
    #[serde(default)]
    #[schemars(with = "String")]
    source: Option<String>,
    /// The channel that it belongs to.
    #[serde(default)]
    #[schemars(with = "String")]
    channel: Option<String>,
    /// The speaker's name.
    #[serde(default)]
    #[schemars(with = "String")]
    speaker: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct LogTurnToolReply {
    /// Its place in the log of the space.
    position: u64,
    /// Time of the turn.
    at: String,
    /// Parts of the text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn log(context: &ToolContext<'_>, said: LogTurnToolArguments) -> Result<LogTurnToolReply, ToolError> {
    let LogTurnToolArguments { role, content, source, channel, speaker } = said;
    let answer::LoggedTurn { turn, warnings } =
        context.engine.log_turn(&context.caller, &TurnRequest { channel, role, speaker, content, source })?;
    let warnings = tool::warnings(&warnings);
    Ok(LogTurnToolReply { position: turn.position, at: turn.at.to_string(), warnings })
}

/// A message of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewMessage")]
pub struct NewMessage {
    /// The role of the speaker.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// The text.
    content: String,
    /// The speaker's name.
    #[serde(default)]
    #[schemars(with = "String")]
    speaker: Option<String>,
    /// Time of the message: 2026-05-27T09:30:00Z.
    #[serde(default)]
    #[schemars(with = "String")]
    at: Option<Timestamp>,
}

impl From<NewMessage> for TranscriptMessage {
    fn from(said: NewMessage) -> Self {
        let NewMessage { role, content, speaker, at } = said;
        Self { role, speaker, content, at }
    }
}

/// A conversation to archive.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveConversationArguments {
    /// The messages, in order (default: the turns in the log).
    #[serde(default)]
    #[schemars(with = "Vec<NewMessage>")]
    messages: Option<Vec<NewMessage>>,
    /// The title (default: the beginning of the conversation).
    #[serde(default)]
    #[schemars(with = "String")]
    title: Option<String>,
    /// A summary, by which recall finds it.
    #[serde(default)]
    #[schemars(with = "String")]
    summary: Option<String>,
    /// Only turns of this channel of the log.
    #[serde(default)]
    #[schemars(with = "String")]
    channel: Option<String>,
}

impl From<ArchiveConversationArguments> for ConversationArchiveRequest {
    fn from(said: ArchiveConversationArguments) -> Self {
        let ArchiveConversationArguments { messages, title, summary, channel } = said;
        let messages = messages.map(|messages| messages.into_iter().map(TranscriptMessage::from).collect());
        Self { messages, title, summary, channel }
    }
}

/// An archived conversation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ArchivedConversation")]
pub struct ArchiveConversationReply {
    /// Its name.
    name: String,
    /// The file, below the workspace.
    path: String,
    /// The memory, such as #12.
    id: String,
    /// The key of the memory.
    key: String,
    /// The content of the memory.
    summary: String,
    /// Number of messages in the file.
    messages: usize,
    /// True if the messages came from the log.
    from_log: bool,
    /// Parts of the text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl From<ConversationArchiveReceipt> for ArchiveConversationReply {
    fn from(archived: ConversationArchiveReceipt) -> Self {
        let ConversationArchiveReceipt { path, name, key, id, number, summary, messages, from_log, warnings } =
            archived;
        let id = MemoryRef::of(number, id).to_string();
        Self { name, path, id, key, summary, messages, from_log, warnings: tool::warnings(&warnings) }
    }
}

/// Archives a conversation. An error in its content is reported as an error in its messages.
pub fn archived(
    context: &ToolContext<'_>,
    said: ArchiveConversationArguments,
) -> Result<ArchiveConversationReply, ToolError> {
    let done = context.engine.archive_conversation(&context.caller, said.into());
    done.map(ArchiveConversationReply::from).map_err(|error| match ToolError::from(error) {
        refusal if refusal.field.as_deref() == Some(Field::Conversation.as_str()) => {
            ToolError { field: Some("messages".to_owned()), ..refusal }
        }
        refusal => refusal,
    })
}
