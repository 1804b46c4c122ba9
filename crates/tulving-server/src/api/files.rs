//! The files in the folder of a space, and the conversations that are archived there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::files::archive::ConversationFile;
use tulving_core::files::transcript::TranscriptMessage;
use tulving_core::files::workspace::{FileWriteMode, WorkspaceFile, WorkspaceFileList};
use tulving_core::model::answer::WarningMessage;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::TurnRole;

use super::messages;
use tulving_core::model::answer::UnreadableFile;
use tulving_dialects::conversation::{ArchiveConversationArguments, ArchiveConversationReply, archived};
use tulving_dialects::input::NoArguments;
use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/files", "listFiles", "List the files of the space", list).read_by(Audience::Relays)
            .saying("In the default space, only the folders `memory` and `conversations` are listed."),
        Operation::new(OperationMethod::Get, "/v1/files/{*file}", "getFile", "Read a file", get).read_by(Audience::Relays)
            .saying("Text only, up to 8 MB."),
        Operation::new(OperationMethod::Put, "/v1/files/{*file}", "putFile", "Create or replace a file", put)
            .creating()
            .saying("With `new`, the file must not exist yet."),
        Operation::new(OperationMethod::Delete, "/v1/files/{*file}", "removeFile", "Remove a file", remove),
        Operation::new(
            OperationMethod::Post,
            "/v1/conversations/archive",
            "archiveConversation",
            "Archive a conversation",
            archive,
        )
        .creating()
        .saying(
            "Writes the messages to a file and their summary to a memory: both or neither. Without messages, it archives the \
             turns that are still in the log. Nothing is overwritten: a second conversation of the same name and day ends in `-2`.",
        ),
        Operation::new(
            OperationMethod::Get,
            "/v1/conversations",
            "listConversations",
            "List archived conversations, newest first",
            conversations,
        ).read_by(Audience::Relays),
        Operation::new(
            OperationMethod::Get,
            "/v1/conversations/{conversation}",
            "getConversation",
            "Read an archived conversation",
            conversation,
        ).read_by(Audience::Relays)
        .saying("Returns its messages. Name it by its name, or by the key of its memory."),
    ]
}

/// A file.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FileInfo")]
struct FileReply {
    /// Its path below the folder of the space.
    file: String,
    /// Its path below the workspace.
    path: String,
    /// Its size in bytes.
    size: u64,
    /// Time of the last write.
    modified_at: Timestamp,
    /// Parts of the new text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningMessage>,
}

impl From<WorkspaceFile> for FileReply {
    fn from(file: WorkspaceFile) -> Self {
        let WorkspaceFile { name, path, size, modified_at, warnings } = file;
        Self { file: name, path, size, modified_at, warnings: messages(warnings) }
    }
}

/// A file that is not used.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RefusedFile")]
struct RefusedFileReply {
    /// Its path below the workspace.
    path: String,
    /// The reason.
    why: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FileList")]
struct FileListReply {
    /// The folder of the space, below the workspace.
    folder: String,
    /// Its files, by name.
    files: Vec<FileReply>,
    /// True if there are more.
    more: bool,
    /// The files that are not used.
    refused: Vec<RefusedFileReply>,
}

fn list(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<FileListReply>, ToolError> {
    let WorkspaceFileList { folder, files, more, refused } = context.engine.files(&context.caller)?;
    let refused = refused.into_iter().map(|(path, why)| RefusedFileReply { path, why }).collect();
    Ok(FileListReply { folder, files: files.into_iter().map(FileReply::from).collect(), more, refused }
        .into())
}

#[derive(Deserialize, JsonSchema)]
struct FileNameArguments {
    /// Its path below the folder of the space.
    file: String,
}

/// A file and its content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FileContent")]
struct FileContentReply {
    #[serde(flatten)]
    of: FileReply,
    /// Its text.
    content: String,
}

fn get(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<FileNameArguments>,
) -> Result<OperationOutput<FileContentReply>, ToolError> {
    let found = context.engine.file(&context.caller, &this.file)?;
    Ok(FileContentReply { of: found.file.into(), content: found.content }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PutFileArguments {
    /// Its path below the folder of the space.
    file: String,
    /// The new text.
    content: String,
    /// True if the file must not exist yet (default false).
    #[serde(default)]
    new: bool,
}

fn put(
    context: &ToolContext<'_>,
    SingleInput(new): SingleInput<PutFileArguments>,
) -> Result<OperationOutput<FileReply>, ToolError> {
    let writing = if new.new { FileWriteMode::New } else { FileWriteMode::Any };
    let made = context.engine.put_file(&context.caller, &new.file, &new.content, writing)?;
    Ok(OperationOutput::from(FileReply::from(made)).new_if(new.new))
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedFile")]
struct RemoveFileReply {
    /// The file that was removed.
    file: String,
}

fn remove(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<FileNameArguments>,
) -> Result<OperationOutput<RemoveFileReply>, ToolError> {
    context.engine.remove_file(&context.caller, &this.file)?;
    Ok(RemoveFileReply { file: this.file }.into())
}

fn archive(
    context: &ToolContext<'_>,
    SingleInput(said): SingleInput<ArchiveConversationArguments>,
) -> Result<OperationOutput<ArchiveConversationReply>, ToolError> {
    Ok(OperationOutput::from(archived(context, said)?).new_if(true))
}

/// A conversation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConversationInfo")]
struct ConversationFileReply {
    /// Its name.
    conversation: String,
    /// Its path below the workspace.
    path: String,
    /// Its size in bytes.
    size: u64,
    /// Time of the last write.
    modified_at: Timestamp,
}

impl From<ConversationFile> for ConversationFileReply {
    fn from(file: ConversationFile) -> Self {
        let ConversationFile { name, path, size, modified_at } = file;
        Self { conversation: name, path, size, modified_at }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConversationList")]
struct ConversationListReply {
    /// The conversations, newest first.
    conversations: Vec<ConversationFileReply>,
    /// The files that are not listed.
    unread: Vec<UnreadableFile>,
}

fn conversations(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<ConversationListReply>, ToolError> {
    let found = context.engine.conversations(&context.caller)?;
    let conversations = found.conversations.into_iter().map(ConversationFileReply::from).collect();
    Ok(ConversationListReply { conversations, unread: found.unread }.into())
}

#[derive(Deserialize, JsonSchema)]
struct GetConversationArguments {
    /// Its name, or the key of its memory.
    conversation: String,
}

/// A message.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConversationMessage")]
struct ConversationMessageReply {
    /// The role of the speaker.
    role: TurnRole,
    /// The speaker's name.
    speaker: Option<String>,
    /// The text.
    content: String,
    /// Time of the message.
    at: Option<Timestamp>,
}

impl From<TranscriptMessage> for ConversationMessageReply {
    fn from(message: TranscriptMessage) -> Self {
        let TranscriptMessage { role, speaker, content, at } = message;
        Self { role, speaker, content, at }
    }
}

#[derive(Serialize, JsonSchema)]
struct ConversationReply {
    /// Its title.
    title: String,
    /// The messages, in order.
    messages: Vec<ConversationMessageReply>,
}

fn conversation(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<GetConversationArguments>,
) -> Result<OperationOutput<ConversationReply>, ToolError> {
    let found = context.engine.conversation(&context.caller, &which.conversation)?;
    Ok(ConversationReply {
        title: found.title,
        messages: found.messages.into_iter().map(ConversationMessageReply::from).collect(),
    }
    .into())
}
