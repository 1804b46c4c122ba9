//! The files in the folder of a space, and the conversations that are archived there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::journal::archive::ArchivedFile;
use tulving_core::journal::shelf::{Shelf, ShelfFile, Writing};
use tulving_core::journal::transcript::Message;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::TurnRole;

use super::journals::Unread;
use super::operation::{Audience, Made, Method, One, Operation};
use super::people::Nothing;
use crate::conversation::{Archive, Kept, archived};
use crate::tool::{self, Desk, Refusal};
use crate::words;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Get, "/v1/files", "listFiles", "The files of the space", list).read_by(Audience::Relays)
            .saying("In the default space, those of memory and conversations alone."),
        Operation::new(Method::Get, "/v1/files/{*file}", "getFile", "What a file says", get).read_by(Audience::Relays)
            .saying("Text only, up to 8 MB."),
        Operation::new(Method::Put, "/v1/files/{*file}", "putFile", "Make or replace a file", put)
            .creating()
            .saying("With `new` it must not be there."),
        Operation::new(Method::Delete, "/v1/files/{*file}", "removeFile", "Remove a file", remove),
        Operation::new(
            Method::Post,
            "/v1/conversations/archive",
            "archiveConversation",
            "Archive a conversation",
            archive,
        )
        .creating()
        .saying(
            "The messages become a file, and what they came to a memory: both or neither. Without messages, what the log \
             still has. Nothing is overwritten: a second of the same name on a day is `-2`.",
        ),
        Operation::new(
            Method::Get,
            "/v1/conversations",
            "listConversations",
            "The archived conversations, newest first",
            conversations,
        ).read_by(Audience::Relays),
        Operation::new(
            Method::Get,
            "/v1/conversations/{conversation}",
            "getConversation",
            "An archived conversation, message by message",
            conversation,
        ).read_by(Audience::Relays)
        .saying("By its name, or by the key of its memory."),
    ]
}

/// A file.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// Its path below the folder of the space.
    file: String,
    /// Its path below the workspace.
    path: String,
    /// Its size in bytes.
    size: u64,
    /// When it was last written.
    #[schemars(schema_with = "words::time")]
    modified_at: Timestamp,
    /// What was held back of what was just written: secrets, private parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl From<ShelfFile> for Listed {
    fn from(file: ShelfFile) -> Self {
        let ShelfFile { name, path, size, modified_at, warnings } = file;
        Self { file: name, path, size, modified_at, warnings: tool::warnings(&warnings) }
    }
}

/// What is there and is not used.
#[derive(Serialize, JsonSchema)]
struct Refused {
    /// Its path below the workspace.
    path: String,
    /// Why.
    why: String,
}

#[derive(Serialize, JsonSchema)]
struct Files {
    /// The folder of the space, below the workspace.
    folder: String,
    /// Its files, by name.
    files: Vec<Listed>,
    /// Whether there are more.
    more: bool,
    /// What is there and is not used.
    refused: Vec<Refused>,
}

fn list(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<Files>, Refusal> {
    let Shelf { folder, files, more, refused } = desk.engine.files(&desk.caller)?;
    let refused = refused.into_iter().map(|(path, why)| Refused { path, why }).collect();
    Ok(Files { folder, files: files.into_iter().map(Listed::from).collect(), more, refused }.into())
}

#[derive(Deserialize, JsonSchema)]
struct This {
    /// Its path below the folder of the space.
    file: String,
}

/// A file and what it says.
#[derive(Serialize, JsonSchema)]
struct Text {
    #[serde(flatten)]
    of: Listed,
    /// What it says.
    content: String,
}

fn get(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Text>, Refusal> {
    let found = desk.engine.file(&desk.caller, &this.file)?;
    Ok(Text { of: found.file.into(), content: found.content }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    /// Its path below the folder of the space.
    file: String,
    /// What it shall say.
    content: String,
    /// Whether it must not be there.
    #[serde(default)]
    new: bool,
}

fn put(desk: &Desk<'_>, One(new): One<New>) -> Result<Made<Listed>, Refusal> {
    let writing = if new.new { Writing::New } else { Writing::Any };
    let made = desk.engine.put_file(&desk.caller, &new.file, &new.content, writing)?;
    Ok(Made::from(Listed::from(made)).new_if(new.new))
}

#[derive(Serialize, JsonSchema)]
struct Gone {
    /// The file that was removed.
    file: String,
}

fn remove(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Gone>, Refusal> {
    desk.engine.remove_file(&desk.caller, &this.file)?;
    Ok(Gone { file: this.file }.into())
}

fn archive(desk: &Desk<'_>, One(said): One<Archive>) -> Result<Made<Kept>, Refusal> {
    Ok(Made::from(archived(desk, said)?).new_if(true))
}

/// A conversation.
#[derive(Serialize, JsonSchema)]
struct Archived {
    /// What it is called by.
    conversation: String,
    /// Its path below the workspace.
    path: String,
    /// Its size in bytes.
    size: u64,
    /// When it was last written.
    #[schemars(schema_with = "words::time")]
    modified_at: Timestamp,
}

impl From<ArchivedFile> for Archived {
    fn from(file: ArchivedFile) -> Self {
        let ArchivedFile { name, path, size, modified_at } = file;
        Self { conversation: name, path, size, modified_at }
    }
}

#[derive(Serialize, JsonSchema)]
struct Conversations {
    /// The conversations, newest first.
    conversations: Vec<Archived>,
    /// The files that are not listed.
    unread: Vec<Unread>,
}

fn conversations(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<Conversations>, Refusal> {
    let found = desk.engine.conversations(&desk.caller)?;
    let conversations = found.conversations.into_iter().map(Archived::from).collect();
    Ok(Conversations { conversations, unread: found.unread.into_iter().map(Unread::from).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
struct Which {
    /// Its name, or the key of its memory.
    conversation: String,
}

/// A message.
#[derive(Serialize, JsonSchema)]
struct Spoken {
    /// Who said it.
    #[schemars(schema_with = "words::word::<TurnRole>")]
    role: TurnRole,
    /// The speaker's name.
    speaker: Option<String>,
    /// What was said.
    content: String,
    /// When.
    #[schemars(schema_with = "words::maybe_time")]
    at: Option<Timestamp>,
}

impl From<Message> for Spoken {
    fn from(message: Message) -> Self {
        let Message { role, speaker, content, at } = message;
        Self { role, speaker, content, at }
    }
}

#[derive(Serialize, JsonSchema)]
struct Conversation {
    /// What it is about.
    title: String,
    /// The messages, in order.
    messages: Vec<Spoken>,
}

fn conversation(desk: &Desk<'_>, One(which): One<Which>) -> Result<Made<Conversation>, Refusal> {
    let found = desk.engine.conversation(&desk.caller, &which.conversation)?;
    Ok(Conversation { title: found.title, messages: found.messages.into_iter().map(Spoken::from).collect() }
        .into())
}
