//! Warnings: parts of a request that were not carried out, and side effects, by name.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::model::id::MemoryRef;
use crate::model::time::Timestamp;
use crate::model::turn::TURNS_KEPT;
use crate::model::vocabulary::{CommandKind, SecretKind};

/// A part of a request that was not carried out, or a side effect. The rest was done as requested.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The target of an association does not exist, or may not be seen.
    AssociationSkipped {
        /// The target as the caller named it.
        target: MemoryRef,
    },
    /// The caller may not write in the target's space, so the target is linked but not superseded.
    NotSuperseded {
        /// The target as the caller named it.
        target: MemoryRef,
    },
    /// The new link says that this memory updates the one that superseded it, so it is no longer superseded.
    HoldsAgain {
        /// The memory that is valid again.
        memory: MemoryRef,
        /// The memory that had superseded it.
        by: MemoryRef,
    },
    /// The content was saved again, but another memory has superseded it since.
    Superseded {
        /// The memory.
        memory: MemoryRef,
        /// The memory that superseded it.
        by: MemoryRef,
    },
    /// The content was saved again, but its validity has ended.
    NoLongerValid {
        /// The memory.
        memory: MemoryRef,
        /// End of its validity.
        at: Timestamp,
    },
    /// A completed todo or goal was saved again, so it is open again.
    Reopened {
        /// The memory.
        memory: MemoryRef,
        /// Time at which it was done.
        done_at: Timestamp,
    },
    /// The content is already stored, and its memory keeps these fields unchanged.
    Kept {
        /// The memory.
        memory: MemoryRef,
        /// The unchanged fields.
        fields: Vec<&'static str>,
    },
    /// The memory has expired already, so recall does not find it.
    Expired {
        /// Time of expiry.
        at: Timestamp,
    },
    /// The primary backend stores no links, so the given ones were left out.
    NoLinks {
        /// The name of the backend.
        backend: String,
    },
    /// The content has another format than its name says.
    Form {
        /// The difference in words.
        note: String,
    },
    /// The content is not embedded yet; recall finds it by its words.
    NotEmbedded {
        /// The reason.
        why: String,
    },
    /// Some sections are not embedded yet, because that takes a while.
    EmbeddedLater {
        /// Number of sections.
        sections: usize,
    },
    /// Secrets were replaced by their kinds before anything was stored.
    Redacted {
        /// The kinds, and how many of each. Never the secrets themselves.
        secrets: Vec<RedactedSecret>,
    },
    /// Text between `<private>` and `</private>` was left out.
    PrivateLeftOut {
        /// Number of private passages.
        parts: usize,
    },
    /// The content tries to give commands to its reader, so it is marked in every answer.
    Marked {
        /// The kinds of commands.
        commands: Vec<CommandKind>,
    },
    /// The text of an earlier version was restored, but not its file.
    FileStays {
        /// The name of the stored file; `None` if no file is stored any more.
        name: Option<String>,
    },
    /// A memory was restored without one of its paths, which now belongs to another memory.
    PathLeftOut {
        /// The memory.
        memory: MemoryRef,
        /// The path.
        path: String,
        /// The memory that has the path.
        by: MemoryRef,
    },
    /// An erased memory came from turns that are still in the conversation log.
    TurnsStay {
        /// Their positions in the log of their space.
        turns: Vec<u64>,
    },
}

impl Warning {
    /// Returns a warning if there are any commands.
    pub(crate) fn marked(commands: Vec<CommandKind>) -> Option<Self> {
        (!commands.is_empty()).then_some(Self::Marked { commands })
    }
}

/// Secrets of one kind that were not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RedactedSecret {
    /// The kind of secret.
    pub kind: SecretKind,
    /// Number of secrets.
    pub count: usize,
}

impl std::fmt::Display for RedactedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.count, self.kind)
    }
}

/// A warning in JSON: a stable code, a message, and the values of this warning by name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Warning")]
pub struct WarningMessage {
    #[serde(flatten)]
    #[schemars(with = "WarningCode")]
    warning: Warning,
    /// The warning in words.
    message: String,
}

/// The code of a warning, for its schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct WarningCode {
    /// A stable code, for programs.
    code: String,
}

/// Writes warnings with their messages.
pub(crate) fn with_messages<S: Serializer>(warnings: &[Warning], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(warnings.iter().cloned().map(WarningMessage::from))
}

impl From<Warning> for WarningMessage {
    fn from(warning: Warning) -> Self {
        let message = warning.message();
        Self { warning, message }
    }
}

impl Warning {
    /// Returns the warning in words for a caller without a command line.
    pub fn message(&self) -> String {
        match self {
            Self::Superseded { memory, by } => format!(
                "{memory} was superseded by {by}; if it is true again, save it with an association that `updates` {by}"
            ),
            Self::NoLongerValid { memory, at } => {
                format!("{memory} was valid until {at}; if it is valid again, give it a later `valid_until`")
            }
            Self::Reopened { memory, done_at } => {
                format!("{memory} was done on {} and is open again", done_at.date())
            }
            Self::Kept { memory, fields } => {
                format!("{memory} has the same content and keeps its own {}", fields.join(", "))
            }
            Self::EmbeddedLater { sections } => {
                let (noun, verb) = if *sections == 1 { ("section", "waits") } else { ("sections", "wait") };
                format!("not embedded yet: {sections} {noun} {verb} for the background")
            }
            other => other.to_string(),
        }
    }
}

/// Formats a reference for a command line: a shell reads `#` as the start of a comment.
fn bare(which: MemoryRef) -> String {
    which.to_string().trim_start_matches('#').to_owned()
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AssociationSkipped { target } => {
                write!(f, "the association with {target} was left out: there is no such memory")
            }
            Self::NotSuperseded { target } => {
                write!(f, "{target} was linked as related_to: you may not mark it as superseded")
            }
            Self::HoldsAgain { memory, by } => write!(f, "{memory} no longer counts as updated by {by}"),
            Self::Superseded { memory, by } => write!(
                f,
                "{memory} was superseded by {by}; if it is true again, save it with `--updates {}`",
                bare(*by)
            ),
            Self::NoLongerValid { memory, at } => write!(
                f,
                "{memory} was valid until {at}; if it is true again, `tulving update {} --clear \
                 valid-until` says so",
                bare(*memory)
            ),
            Self::Reopened { memory, done_at } => write!(
                f,
                "{memory} was done on {} and is open again; `tulving done {}` closes it",
                done_at.date(),
                bare(*memory)
            ),
            Self::Kept { memory, fields } => {
                write!(f, "{memory} keeps its own {}; `tulving update` can change that", fields.join(", "))
            }
            Self::Expired { at } => write!(f, "it expired at {at}: recall does not find it"),
            Self::NoLinks { backend } => {
                write!(f, "the associations were left out: the backend `{backend}` does not store any")
            }
            Self::Form { note } => f.write_str(note),
            Self::NotEmbedded { why } => write!(f, "not embedded yet: {why}"),
            Self::EmbeddedLater { sections } => {
                let sections = if *sections == 1 {
                    "1 section waits".to_owned()
                } else {
                    format!("{sections} sections wait")
                };
                write!(f, "not embedded yet: {sections} for a server, or for `tulving embed`")
            }
            Self::Redacted { secrets } => {
                let described: Vec<String> = secrets.iter().map(ToString::to_string).collect();
                write!(f, "secrets were redacted before anything was stored: {}", described.join(", "))
            }
            Self::PrivateLeftOut { parts: 1 } => f.write_str("a private passage was left out and not stored"),
            Self::PrivateLeftOut { parts } => {
                write!(f, "{parts} private passages were left out and not stored")
            }
            Self::Marked { commands } => {
                let how: Vec<&str> = commands.iter().map(|how| how.as_str()).collect();
                write!(f, "it tries to command its reader ({}): it is marked as data", how.join(", "))
            }
            Self::FileStays { name: Some(name) } => {
                write!(f, "versions contain the text and not the file: the attachment stays `{name}`")
            }
            Self::FileStays { name: None } => f.write_str(
                "versions contain the text and not the file: the file of this version no longer exists",
            ),
            Self::PathLeftOut { memory, path, by } => {
                write!(f, "{memory} came back without the path {path}: it now belongs to {by}")
            }
            Self::TurnsStay { turns } => {
                let named: Vec<String> = turns.iter().map(ToString::to_string).collect();
                let (what, stay) = if turns.len() == 1 { ("turn", "stays") } else { ("turns", "stay") };
                write!(
                    f,
                    "the erased text came from {what} {}, which {stay} in the log of conversations \
                     (`tulving turn list`) until the space has {TURNS_KEPT} newer turns",
                    named.join(", ")
                )
            }
        }
    }
}
