//! All errors, with their values, their class, and advice on what to do.
//!
//! Behaviour follows [`Class`]: only `Busy` and `Upstream` are retried, `Conflict` is decided again, `Corrupt` stops
//! writes. Exit codes, HTTP statuses and MCP results are matches on the class, each in one file of its surface.

mod backend;
mod extract;
mod file;
mod invalid;
mod llm;
mod object;
mod store;
mod verb;

pub use crate::model::request::Field;
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
        "the stored vectors are from {model}, which is not set up here; `tulving embed` replaces them with vectors of the current model"
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
