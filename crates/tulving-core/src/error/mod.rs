//! What can go wrong, with the values, what class of thing it is, and what to do about it.
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

/// What sort of trouble an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// What was asked is wrong.
    Caller,
    /// What was asked for is not there, or may not be seen.
    Absent,
    /// It may be seen, and not done.
    Denied,
    /// Something else happened first.
    Conflict,
    /// Another process is at work; later may do.
    Busy,
    /// A model or service elsewhere failed.
    Upstream,
    /// The machine refuses: no space, no permission, no such folder.
    Host,
    /// What is stored is damaged or not ours.
    Corrupt,
    /// A fault of Tulving's own.
    Bug,
}

/// A named place in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The content.
    Content,
    /// What was said in a turn, which is its content.
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
    /// The reason of an act.
    Reason,
    /// What else the audit says of an act.
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
    /// The memories that an act is on.
    Memories,
    /// The text to look for.
    Text,
    /// The question.
    Question,
    /// The token budget.
    Budget,
    /// The name of a file.
    File,
    /// A day.
    Date,
    /// How many days.
    Days,
    /// How many days old.
    OlderThan,
    /// What tells a request that is sent again.
    OnceKey,
}

impl Field {
    /// The field as it is written in JSON and in messages.
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
            Self::Score => "score",
            Self::Language => "language",
            Self::SourceNote => "source_note",
            Self::SourcePath => "source_path",
            Self::Conversation => "conversation",
            Self::Speaker => "speaker",
            Self::Agent => "agent",
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

/// Why the index did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The store beneath it failed.
    #[error("the index could not follow the store")]
    Store(#[from] StoreError),
    /// A file of it could not be read or written.
    #[error("the index cannot use {path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// Why a model did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// None is set up.
    #[error("no embedding model is set up")]
    None,
    /// What is stored was embedded by a model that is not set up here.
    #[error(
        "what is stored was embedded by {model}, which is not set up here; `tulving embed` lets the one that is take over"
    )]
    NotAtHand {
        /// Which.
        model: String,
    },
    /// It failed.
    #[error("the model {model} failed: {why}")]
    Failed {
        /// Which.
        model: String,
        /// Why.
        why: String,
    },
}
