//! All errors, with their values, their class, and advice on what to do.
//!
//! Behaviour follows [`Class`]: only `Busy` and `Upstream` are retried, `Conflict` is decided again, `Corrupt` stops
//! writes. Exit codes, HTTP statuses and MCP results are matches on it, each in one file of its surface.

mod backend;
mod extract;
mod file;
mod invalid;
mod llm;
mod object;
mod store;
mod verb;

use std::fmt;

pub use backend::{BackendError, RegistryError};
pub use extract::ExtractError;
pub use file::FileError;
pub use invalid::Invalid;
pub use llm::LlmError;
pub use object::ObjectError;
pub use store::{Conflict, StoreError, Unique};
pub use verb::Error;

/// The class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The request is wrong.
    Caller,
    /// The object does not exist, or the caller may not see it.
    Absent,
    /// The caller may see it, but not do this.
    Denied,
    /// A concurrent change came first.
    Conflict,
    /// Another process is at work; a retry may succeed.
    Busy,
    /// A remote model or service failed.
    Upstream,
    /// The machine refuses: no space, no permission, no such folder.
    Host,
    /// The stored data is damaged or not Tulving's.
    Corrupt,
    /// A bug in Tulving.
    Bug,
}

/// A named field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The content.
    Content,
    /// The content of a turn.
    Said,
    /// The key.
    Key,
    /// The title.
    Title,
    /// The summary.
    Summary,
    /// One tag.
    Tag,
    /// The list of tags.
    Tags,
    /// The importance.
    Importance,
    /// The weight of an association.
    Weight,
    /// The seconds until a memory expires.
    Ttl,
    /// A score.
    Score,
    /// The language of code.
    Language,
    /// The source note.
    SourceNote,
    /// The source path.
    SourcePath,
    /// The conversation or channel.
    Conversation,
    /// The speaker.
    Speaker,
    /// The agent.
    Agent,
    /// The agent that a save names as its source.
    SourceAgent,
    /// The reason for a change.
    Reason,
    /// Further details in the audit log.
    Detail,
    /// The label of a token.
    Label,
    /// The source of a turn.
    Source,
    /// The associations of a save.
    Associations,
    /// The limit.
    Limit,
    /// The depth.
    Depth,
    /// The memories that a request is about.
    Memories,
    /// The text to search for.
    Text,
    /// The question.
    Question,
    /// The token budget.
    Budget,
    /// The name of a file.
    File,
    /// A day.
    Date,
    /// A number of days.
    Days,
    /// An age in days.
    OlderThan,
    /// The idempotency key of a request.
    OnceKey,
}

impl Field {
    /// Returns the name of the field in JSON and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Content | Self::Said => "content",
            Self::Key => "key",
            Self::Title => "title",
            Self::Summary => "summary",
            Self::Tag => "tag",
            Self::Tags => "tags",
            Self::Importance => "importance",
            Self::Weight => "weight",
            Self::Ttl => "ttl",
            Self::Score => "score",
            Self::Language => "language",
            Self::SourceNote => "source_note",
            Self::SourcePath => "source_path",
            Self::Conversation => "conversation",
            Self::Speaker => "speaker",
            Self::Agent => "agent",
            Self::SourceAgent => "source_agent",
            Self::Reason => "reason",
            Self::Detail => "detail",
            Self::Label => "label",
            Self::Source => "source",
            Self::Associations => "associations",
            Self::Limit => "limit",
            Self::Depth => "depth",
            Self::Memories => "memories",
            Self::Text => "text",
            Self::Question => "question",
            Self::Budget => "budget",
            Self::File => "file",
            Self::Date => "date",
            Self::Days => "days",
            Self::OnceKey => "idempotency_key",
            Self::OlderThan => "older_than",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The reason why the index did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The store beneath it failed.
    #[error("the index could not follow the store")]
    Store(#[from] StoreError),
    /// A file of the index could not be read or written.
    #[error("the index cannot use {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// The reason why a model did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No embedding model is configured.
    #[error("no embedding model is set up")]
    None,
    /// The stored vectors come from a model that is not configured here.
    #[error(
        "what is stored was embedded by {model}, which is not set up here; `tulving embed` lets the one that is take over"
    )]
    NotAtHand {
        /// The model.
        model: String,
    },
    /// The model failed.
    #[error("the model {model} failed: {why}")]
    Failed {
        /// The model.
        model: String,
        /// The reason.
        why: String,
    },
}
