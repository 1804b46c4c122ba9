//! Conversations: turns are logged one by one, and archived when a session ends or grows too long.

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
        "Log what was just said, by the user or by you, so that a session that is lost can be taken up again. For hosts \
         that keep the log, of which the newest 200 turns of the space stay. Recall does not look there; but what is worth \
         keeping of what the user says becomes a memory, unless that is turned off.",
        log,
    )
}

/// Returns the tool that archives a conversation.
pub(crate) fn archive() -> DialectTool {
    DialectTool::data(
        "archive_conversation",
        "Archive a conversation",
        ToolEffect::Adds,
        "Archive this conversation before its context is cut or ends: the messages become a file in conversations/, and \
         what it came to becomes a memory that recall finds. Give the messages, or leave them out to archive what the \
         log has; give a title and a summary where you can.",
        archived,
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogTurnToolArguments {
    /// Who said it.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// What was said.
    content: String,
    /// Where it was said, such as telegram (default: unknown).
    #[serde(default)]
    #[schemars(with = "String")]
    source: Option<String>,
    /// The channel it belongs to.
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
    /// When it was logged.
    at: String,
    /// What was held back of it: secrets, private parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn log(desk: &ToolContext<'_>, said: LogTurnToolArguments) -> Result<LogTurnToolReply, ToolError> {
    let LogTurnToolArguments { role, content, source, channel, speaker } = said;
    let answer::Logged { turn, warnings } =
        desk.engine.log_turn(&desk.caller, &TurnRequest { channel, role, speaker, content, source })?;
    let warnings = tool::warnings(&warnings);
    Ok(LogTurnToolReply { position: turn.position, at: turn.at.to_string(), warnings })
}

/// A message of a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewMessage")]
pub struct NewMessage {
    /// Who said it.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// What was said.
    content: String,
    /// The speaker's name.
    #[serde(default)]
    #[schemars(with = "String")]
    speaker: Option<String>,
    /// When: 2026-05-27T09:30:00Z.
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
    /// The messages, in order (default: what the log has).
    #[serde(default)]
    #[schemars(with = "Vec<NewMessage>")]
    messages: Option<Vec<NewMessage>>,
    /// What it is about (default: how it begins).
    #[serde(default)]
    #[schemars(with = "String")]
    title: Option<String>,
    /// What it came to; recall finds it by this (default: made by rules).
    #[serde(default)]
    #[schemars(with = "String")]
    summary: Option<String>,
    /// Only of this channel of the log.
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

/// What was archived.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ArchivedConversation")]
pub struct ArchiveConversationReply {
    /// What it is called by.
    name: String,
    /// The file, below the workspace.
    path: String,
    /// The memory, such as #12.
    id: String,
    /// The key of the memory.
    key: String,
    /// What the memory says.
    summary: String,
    /// How many messages the file has.
    messages: usize,
    /// Whether they are what the log still had.
    from_log: bool,
    /// What was held back of them: secrets, private parts.
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
    desk: &ToolContext<'_>,
    said: ArchiveConversationArguments,
) -> Result<ArchiveConversationReply, ToolError> {
    let done = desk.engine.archive_conversation(&desk.caller, said.into());
    done.map(ArchiveConversationReply::from).map_err(|error| match ToolError::from(error) {
        refusal if refusal.field.as_deref() == Some(Field::Conversation.as_str()) => {
            ToolError { field: Some("messages".to_owned()), ..refusal }
        }
        refusal => refusal,
    })
}
