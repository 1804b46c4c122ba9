//! Errors of a backend, and of a set of backends.

use std::time::Duration;

use crate::model::backend::BUILT_IN;

use super::Class;

/// The reason why a backend failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The program cannot be started.
    #[error("cannot be started: {why}")]
    NotStarted {
        /// The message of the system.
        why: String,
    },
    /// The backend took too long. It was terminated, unless it is still starting.
    #[error("did not answer within {} ms", after.as_millis())]
    TimedOut {
        /// The time waited.
        after: Duration,
    },
    /// The process ended.
    #[error("has ended: {why}")]
    Gone {
        /// The exit status and the last output of the process.
        why: String,
    },
    /// The backend violated the protocol.
    #[error("answered wrongly: {why}")]
    Wrong {
        /// The violation.
        why: String,
    },
    /// The backend does not support the operation.
    #[error("does not offer {what}")]
    NotOffered {
        /// The operation.
        what: &'static str,
    },
    /// The backend refused.
    #[error("refused: {message}")]
    Refused {
        /// Its own message.
        message: String,
    },
}

impl BackendError {
    /// Returns the class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::NotOffered { .. } => Class::Caller,
            _ => Class::Upstream,
        }
    }

    /// Returns a stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotStarted { .. } => "backend_not_started",
            Self::TimedOut { .. } => "backend_timed_out",
            Self::Gone { .. } => "backend_gone",
            Self::Wrong { .. } => "backend_wrong",
            Self::NotOffered { .. } => "not_offered",
            Self::Refused { .. } => "backend_refused",
        }
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotOffered { .. } => "`tulving doctor` shows what each backend offers",
            Self::NotStarted { .. } => "check its `command` in config.toml",
            Self::TimedOut { .. } => {
                "`timeout_ms` in config.toml gives it more time; `tulving doctor` tries it"
            }
            Self::Gone { .. } | Self::Wrong { .. } => "`tulving doctor` tries it",
            Self::Refused { .. } => return None,
        })
    }
}

/// The reason why a set of backends cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// No backend is primary.
    #[error("no backend is primary: {}; exactly one must be", names.join(", "))]
    NoPrimary {
        /// All backends.
        names: Vec<String>,
    },
    /// More than one backend is primary.
    #[error("{} backends are primary: {}; exactly one must be", names.len(), names.join(", "))]
    SeveralPrimaries {
        /// The primary backends.
        names: Vec<String>,
    },
    /// A name is not valid.
    #[error("a backend is named `{got}`; a name is 1 to {limit} letters, digits, `-`, `_` or `.`")]
    BadName {
        /// The given name.
        got: String,
        /// Maximum length of a name, in characters.
        limit: usize,
    },
    /// Two backends have the same name.
    #[error("two backends are named `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
}

impl RegistryError {
    /// Returns a stable code for programs.
    pub const fn code(&self) -> &'static str {
        "invalid_backends"
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> String {
        match self {
            Self::NoPrimary { .. } => format!(
                "set role = \"primary\" for one of them, or add one named \"{BUILT_IN}\", which is built in"
            ),
            Self::SeveralPrimaries { .. } => {
                "set role = \"secondary\" for all but one of them: only the primary is written to".to_owned()
            }
            Self::BadName { .. } | Self::Twice { .. } => "give each of them a name of its own".to_owned(),
        }
    }
}
