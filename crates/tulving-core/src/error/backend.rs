//! Why a backend did not do what it was asked, and why a set of backends cannot be used.

use std::time::Duration;

use crate::backend::BUILT_IN;

use super::Class;

/// Why a backend did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// Its program cannot be started.
    #[error("cannot be started: {why}")]
    NotStarted {
        /// What the system said.
        why: String,
    },
    /// It took too long. It was ended, unless it is still starting.
    #[error("did not answer within {} ms", after.as_millis())]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
    },
    /// It ended.
    #[error("has ended: {why}")]
    Gone {
        /// How, and what it said last.
        why: String,
    },
    /// What it said is not what was agreed on.
    #[error("answered wrongly: {why}")]
    Wrong {
        /// What is wrong with it.
        why: String,
    },
    /// It does not do such things.
    #[error("does not offer {what}")]
    NotOffered {
        /// What was asked for.
        what: &'static str,
    },
    /// It said no.
    #[error("refused: {message}")]
    Refused {
        /// In its own words.
        message: String,
    },
}

impl BackendError {
    /// What sort of trouble it is.
    pub fn class(&self) -> Class {
        match self {
            Self::NotOffered { .. } => Class::Caller,
            _ => Class::Upstream,
        }
    }

    /// A stable name for programs.
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

    /// What to do about it.
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

/// Why a set of backends cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// None is primary.
    #[error("no backend is primary: {}; exactly one must be", names.join(", "))]
    NoPrimary {
        /// All of them.
        names: Vec<String>,
    },
    /// More than one is primary.
    #[error("{} backends are primary: {}; exactly one must be", names.len(), names.join(", "))]
    SeveralPrimaries {
        /// Those that are.
        names: Vec<String>,
    },
    /// A name is not one.
    #[error("a backend is named `{got}`; a name is 1 to {limit} letters, digits, `-`, `_` or `.`")]
    BadName {
        /// What was given.
        got: String,
        /// How long it may be.
        limit: usize,
    },
    /// Two have the same name.
    #[error("two backends are named `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
}

impl RegistryError {
    /// A stable name for programs.
    pub const fn code(&self) -> &'static str {
        "invalid_backends"
    }

    /// What to do about it.
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
