//! The files in the folder of a space, and the conversations that are archived there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::files::archive::{
    ConversationArchiveReceipt, ConversationArchiveRequest, ConversationFileList,
};
use tulving_core::files::transcript::Transcript;
use tulving_core::files::workspace::{FileWriteMode, WorkspaceFile, WorkspaceFileList, WorkspaceFileText};
use tulving_dialects::conversation::archived;
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

fn list(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<WorkspaceFileList>, ToolError> {
    Ok(context.engine.files(&context.caller)?.into())
}

#[derive(Deserialize, JsonSchema)]
struct FileNameArguments {
    /// Its path below the folder of the space.
    file: String,
}

fn get(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<FileNameArguments>,
) -> Result<OperationOutput<WorkspaceFileText>, ToolError> {
    Ok(context.engine.file(&context.caller, &this.file)?.into())
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
) -> Result<OperationOutput<WorkspaceFile>, ToolError> {
    let writing = if new.new { FileWriteMode::New } else { FileWriteMode::Any };
    let made = context.engine.put_file(&context.caller, &new.file, &new.content, writing)?;
    Ok(OperationOutput::from(made).new_if(new.new))
}

/// A file that was removed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedFile")]
pub struct RemoveFileReply {
    /// The file that was removed.
    pub name: String,
}

fn remove(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<FileNameArguments>,
) -> Result<OperationOutput<RemoveFileReply>, ToolError> {
    context.engine.remove_file(&context.caller, &this.file)?;
    Ok(RemoveFileReply { name: this.file }.into())
}

fn archive(
    context: &ToolContext<'_>,
    SingleInput(said): SingleInput<ConversationArchiveRequest>,
) -> Result<OperationOutput<ConversationArchiveReceipt>, ToolError> {
    Ok(OperationOutput::from(archived(context, said)?).new_if(true))
}

fn conversations(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<ConversationFileList>, ToolError> {
    Ok(context.engine.conversations(&context.caller)?.into())
}

#[derive(Deserialize, JsonSchema)]
struct GetConversationArguments {
    /// Its name, or the key of its memory.
    conversation: String,
}

fn conversation(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<GetConversationArguments>,
) -> Result<OperationOutput<Transcript>, ToolError> {
    Ok(context.engine.conversation(&context.caller, &which.conversation)?.into())
}
