//! What was asked and not done, or done beside it, by name.

use serde::Serialize;

use crate::id::MemoryRef;
use crate::time::Timestamp;
use crate::turn::TURNS_KEPT;
use crate::vocabulary::{CommandKind, SecretKind};

/// Something that was asked and not done, or done beside it; the rest was done as asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Warning {
    /// The target of an association does not exist, or may not be seen.
    AssociationSkipped {
        /// The target as it was named.
        target: MemoryRef,
    },
    /// The caller may not write where the target lives, so it is linked but not superseded.
    NotSuperseded {
        /// The target as it was named.
        target: MemoryRef,
    },
    /// What it was superseded by is said to be updated by it, so that does not supersede it any more.
    HoldsAgain {
        /// The memory that holds again.
        memory: MemoryRef,
        /// What it was superseded by.
        by: MemoryRef,
    },
    /// It was said again, and another memory has taken its place since.
    Superseded {
        /// The memory.
        memory: MemoryRef,
        /// Which has taken its place.
        by: MemoryRef,
    },
    /// It was said again, and it was said to hold until then.
    NoLongerValid {
        /// The memory.
        memory: MemoryRef,
        /// When it ended.
        at: Timestamp,
    },
    /// A todo or a goal that was done was said again, so it is open again.
    Reopened {
        /// The memory.
        memory: MemoryRef,
        /// When it was done.
        done_at: Timestamp,
    },
    /// The content is known, and the memory that holds it keeps these fields as they were.
    Kept {
        /// The memory.
        memory: MemoryRef,
        /// The fields.
        fields: Vec<&'static str>,
    },
    /// It has expired already, so recall does not find it.
    Expired {
        /// When.
        at: Timestamp,
    },
    /// The backend that is written to keeps no links, so those that were named were left out.
    NoLinks {
        /// Which.
        backend: String,
    },
    /// The content has another form than its name says.
    Form {
        /// How.
        note: String,
    },
    /// The content is not embedded yet; recall finds it by its words.
    NotEmbedded {
        /// Why.
        why: String,
    },
    /// So many sections are not embedded yet, because that takes a while.
    EmbeddedLater {
        /// How many.
        sections: usize,
    },
    /// Secrets were replaced by their kinds before anything was stored.
    Redacted {
        /// The kinds, and how many of each. Never the secrets themselves.
        secrets: Vec<RedactedSecret>,
    },
    /// What stood between `<private>` and `</private>` was left out.
    PrivateLeftOut {
        /// How many parts.
        parts: usize,
    },
    /// It tries to command whoever reads it, so it is marked wherever it is given.
    Marked {
        /// How it tries.
        commands: Vec<CommandKind>,
    },
    /// What was written is that of an earlier version, and the file is not.
    FileStays {
        /// What the file that is kept is called; `None` where none is kept any more.
        name: Option<String>,
    },
    /// What was erased had been noted of turns, and those are still in the log of conversations.
    TurnsStay {
        /// Their places in the log of their space.
        turns: Vec<u64>,
    },
}

impl Warning {
    /// That something tries to command in these ways; nothing where there are none.
    pub(crate) fn marked(commands: Vec<CommandKind>) -> Option<Self> {
        (!commands.is_empty()).then_some(Self::Marked { commands })
    }
}

/// Secrets of one kind that were not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RedactedSecret {
    /// What they are.
    pub kind: SecretKind,
    /// How many.
    pub count: usize,
}

impl std::fmt::Display for RedactedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.count, self.kind)
    }
}

/// A memory as it is named in a command: a shell takes what begins with `#` for a comment.
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
                "{memory} was superseded by {by}; if it holds again, save it with `--updates {}`",
                bare(*by)
            ),
            Self::NoLongerValid { memory, at } => write!(
                f,
                "{memory} was said to hold until {at}; if it holds again, `tulving update {} --clear \
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
                write!(f, "the associations were left out: the backend `{backend}` keeps none")
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
                let told: Vec<String> = secrets.iter().map(ToString::to_string).collect();
                write!(f, "secrets were redacted before anything was stored: {}", told.join(", "))
            }
            Self::PrivateLeftOut { parts: 1 } => f.write_str("a private part was left out and not stored"),
            Self::PrivateLeftOut { parts } => {
                write!(f, "{parts} private parts were left out and not stored")
            }
            Self::Marked { commands } => {
                let how: Vec<&str> = commands.iter().map(|how| how.as_str()).collect();
                write!(f, "it tries to command whoever reads it ({}): it is data, and marked", how.join(", "))
            }
            Self::FileStays { name: Some(name) } => {
                write!(
                    f,
                    "versions keep what was written and not the file: the attachment stays `{name}` as it is now"
                )
            }
            Self::FileStays { name: None } => f.write_str(
                "versions keep what was written and not the file: that of this version is no longer there",
            ),
            Self::TurnsStay { turns } => {
                let named: Vec<String> = turns.iter().map(ToString::to_string).collect();
                let (what, stay) = if turns.len() == 1 { ("turn", "stays") } else { ("turns", "stay") };
                write!(
                    f,
                    "what was erased had been noted of {what} {}, which {stay} in the log of conversations (`tulving turn list`) \
                     until {TURNS_KEPT} newer ones of the space have come",
                    named.join(", ")
                )
            }
        }
    }
}
