//! What a caller got wrong. Nothing was changed.

use crate::preview;
use crate::time::Timestamp;
use crate::vocabulary::{Boundary, SecretKind};

use super::Field;

/// What was asked is wrong. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A required text is empty.
    #[error("the {field} is empty")]
    Empty {
        /// Which.
        field: Field,
    },
    /// A text is too long.
    #[error("the {field} is {got} {unit} and the limit is {limit}")]
    TooLong {
        /// Which.
        field: Field,
        /// How long it is.
        got: usize,
        /// How long it may be.
        limit: usize,
        /// What is counted.
        unit: &'static str,
    },
    /// A list is too long.
    #[error("there are {got} {field} and the limit is {limit}")]
    TooMany {
        /// Which.
        field: Field,
        /// How many there are.
        got: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A text holds a character that cannot be shown.
    #[error("the {field} holds the control character U+{code:04X} at byte {at}")]
    Control {
        /// Which.
        field: Field,
        /// The character's code.
        code: u32,
        /// Where it is.
        at: usize,
    },
    /// A number is not within 0 and 1.
    #[error("the {field} is {got} and must be within 0 and 1")]
    OutsideUnit {
        /// Which.
        field: Field,
        /// The number.
        got: f64,
    },
    /// A count is not within its bounds.
    #[error("the {field} is {got} and must be within {least} and {most}")]
    OutsideRange {
        /// Which.
        field: Field,
        /// The number.
        got: i64,
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A word that is not in its list.
    #[error("`{got}` is not {} {label}; it is one of {}", preview::article(label), valid.join(", "))]
    UnknownWord {
        /// What list it should be from.
        label: &'static str,
        /// The word.
        got: String,
        /// The list.
        valid: &'static [&'static str],
    },
    /// Not an id.
    #[error("`{got}` is not an id")]
    Id {
        /// What was given.
        got: String,
    },
    /// Not a way to name a memory.
    #[error("`{got}` does not name a memory")]
    MemoryRef {
        /// What was given.
        got: String,
    },
    /// Not a time.
    #[error("`{got}` is not a time")]
    Time {
        /// What was given.
        got: String,
    },
    /// A time as it is nowhere.
    #[error("`{got}` is {offset} from UTC, and no time is a day or more from it")]
    Offset {
        /// What was given.
        got: String,
        /// The offset.
        offset: String,
    },
    /// Not a cursor of this list.
    #[error("`{got}` is not a cursor of this list")]
    Cursor {
        /// What was given.
        got: String,
    },
    /// Not a name for a space or principal.
    #[error("`{got}` cannot be a name")]
    Name {
        /// What was given.
        got: String,
    },
    /// Not a name of a file below a folder.
    #[error("`{got}` cannot be the name of a file: {why}")]
    FileName {
        /// What was given.
        got: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Not a day.
    #[error("`{got}` is not a day")]
    Day {
        /// What was given.
        got: String,
    },
    /// Not a key by which a request is done once.
    #[error("`{got}` cannot be an idempotency key")]
    OnceKey {
        /// What was given.
        got: String,
    },
    /// Time runs backwards.
    #[error("valid_until {until} is before valid_from {from}")]
    EndsBeforeStart {
        /// The start.
        from: Timestamp,
        /// The end.
        until: Timestamp,
    },
    /// Nothing is done before its time.
    #[error("{at} is more than a day ahead; a todo is done when it was done")]
    NotYet {
        /// When.
        at: Timestamp,
    },
    /// Nothing can be after the one and before the other.
    #[error("until {until} is not after since {since}, so nothing can match")]
    NoTimeBetween {
        /// From when on.
        since: Timestamp,
        /// Before when.
        until: Timestamp,
    },
    /// An attachment that no object store has written.
    #[error("`{got}` is not part of an attachment")]
    Attachment {
        /// What was given.
        got: String,
    },
    /// An order in a conversation that is not named.
    #[error("position {position} means nothing without a conversation")]
    PositionAlone {
        /// The position.
        position: i64,
    },
    /// An association of a memory with itself.
    #[error("a memory cannot be associated with itself")]
    SelfAssociation,
    /// A typed recall without a type.
    #[error("recall by type needs a type")]
    TypeMissing,
    /// Recall by nothing but relation, or by no lane at all.
    #[error("recall by relation needs another lane beside it")]
    LaneMissing,
    /// Forgetting without saying what.
    #[error("nothing says which memories to forget")]
    ConditionMissing,
    /// More memories match than one act may forget.
    #[error("{got} memories match and the limit is {limit}")]
    TooManyMatch {
        /// How many match.
        got: usize,
        /// How many may.
        limit: usize,
    },
    /// An edit that says nothing.
    #[error("nothing to update was given")]
    NothingToUpdate,
    /// Wider than a sealed space allows.
    #[error("the boundary {boundary} is wider than a group allows")]
    BoundaryTooWide {
        /// What was asked.
        boundary: Boundary,
    },
    /// One request of a batch is wrong.
    #[error("memory {} of the batch: {source}", index + 1)]
    InBatch {
        /// Which, from 0.
        index: usize,
        /// Why.
        source: Box<Invalid>,
    },
    /// A line of a dump that cannot be read.
    #[error("line {line} of the dump cannot be read: {why}")]
    DumpLine {
        /// Which, from 1.
        line: u64,
        /// Why.
        why: String,
    },
    /// A record of a dump that no store has written.
    #[error("{why}")]
    Record {
        /// What is wrong with it.
        why: String,
    },
    /// A dump of a later format.
    #[error("the dump has format {got} and this version reads up to {known}")]
    DumpFormat {
        /// What it has.
        got: u32,
        /// What is known.
        known: u32,
    },
    /// A dump without its last line.
    #[error("the dump was cut off: after {got} {} it ends without the line that ends one", if *.got == 1 { "record" } else { "records" })]
    DumpCut {
        /// How many records it has.
        got: u64,
    },
    /// A dump of which lines are missing, or that has too many.
    #[error("the dump should have {stated} {} and has {got}", if *.stated == 1 { "record" } else { "records" })]
    DumpCount {
        /// How many records it has.
        got: u64,
        /// How many its last line says there are.
        stated: u64,
    },
    /// A text holds a secret, where none is stored.
    #[error("the {field} holds a secret ({what}), and none is stored {}", if *.field == Field::SourcePath { "in a path" } else { "in this space" })]
    Secret {
        /// Which text.
        field: Field,
        /// What it is. Never the secret itself.
        what: SecretKind,
    },
    /// A text is private, and nothing else.
    #[error("all of the {field} is private, so nothing was stored")]
    OnlyPrivate {
        /// Which text.
        field: Field,
    },
    /// It cannot be the id of a proposal.
    #[error("`{got}` is not the id of a proposal")]
    ProposalId {
        /// What was given.
        got: String,
    },
}

impl Invalid {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { field: Field::Content | Field::Said } => "missing_content",
            Self::Empty { field: Field::Text | Field::Question } => "missing_query",
            Self::Empty { .. } => "missing_field",
            Self::TooLong { .. } => "too_long",
            Self::TooMany { .. } | Self::TooManyMatch { .. } => "too_many",
            Self::Control { .. } => "control_character",
            Self::OutsideUnit { .. } | Self::OutsideRange { .. } => "out_of_range",
            Self::UnknownWord { .. } => "unknown_word",
            Self::Id { .. } | Self::MemoryRef { .. } | Self::ProposalId { .. } => "invalid_id",
            Self::Time { .. } | Self::Offset { .. } => "invalid_time",
            Self::Cursor { .. } => "invalid_cursor",
            Self::Name { .. } => "invalid_name",
            Self::FileName { .. } => "invalid_file_name",
            Self::Day { .. } => "invalid_date",
            Self::OnceKey { .. } => "invalid_idempotency_key",
            Self::EndsBeforeStart { .. } => "ends_before_start",
            Self::NotYet { .. } => "not_yet",
            Self::NoTimeBetween { .. } => "no_time_between",
            Self::Attachment { .. } => "invalid_attachment",
            Self::PositionAlone { .. } => "missing_conversation",
            Self::SelfAssociation => "self_association",
            Self::TypeMissing => "missing_type",
            Self::LaneMissing => "missing_lane",
            Self::ConditionMissing => "missing_condition",
            Self::NothingToUpdate => "nothing_to_update",
            Self::BoundaryTooWide { .. } => "boundary_too_wide",
            Self::Secret { .. } => "secret_refused",
            Self::OnlyPrivate { .. } => "only_private",
            Self::InBatch { source, .. } => source.code(),
            Self::DumpLine { .. } | Self::Record { .. } => "invalid_dump",
            Self::DumpFormat { .. } => "newer_dump",
            Self::DumpCut { .. } | Self::DumpCount { .. } => "incomplete_dump",
        }
    }

    /// The field it is about, where there is one.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::Empty { field }
            | Self::TooLong { field, .. }
            | Self::TooMany { field, .. }
            | Self::Control { field, .. }
            | Self::OutsideUnit { field, .. }
            | Self::OutsideRange { field, .. }
            | Self::Secret { field, .. }
            | Self::OnlyPrivate { field } => Some(*field),
            Self::FileName { .. } => Some(Field::File),
            Self::Day { .. } => Some(Field::Date),
            Self::InBatch { source, .. } => source.field(),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Empty { field: Field::Content } => "say what to remember".to_owned(),
            Self::Empty { field: Field::Said } => "give what was said".to_owned(),
            Self::Empty { field: Field::Conversation } => {
                "give its messages; without them there must be turns in the log".to_owned()
            }
            Self::Empty { field: Field::Text | Field::Question } => "say what to look for".to_owned(),
            Self::TooLong { field: Field::Content, .. } => {
                "split it into several memories, or raise limits.content_bytes".to_owned()
            }
            Self::TooLong { field: Field::Said, .. } => "log it as several turns".to_owned(),
            Self::Control { code: 0x09 | 0x0A | 0x0D, .. } => "remove it; this has to be one line".to_owned(),
            Self::Control { field: Field::Content, .. } => {
                "remove it; tabs and line breaks are fine".to_owned()
            }
            Self::Control { .. } => "remove it".to_owned(),
            Self::MemoryRef { .. } => "name it by its number, like #12, or by its full id".to_owned(),
            Self::Time { .. } | Self::Offset { .. } => "write 2026-05-27 or 2026-05-27T09:30:00Z".to_owned(),
            Self::NoTimeBetween { .. } => "give the earlier time as since and the later one as until".to_owned(),
            Self::Cursor { .. } => {
                "use the cursor of the last page with the same filters, or start again without one".to_owned()
            }
            Self::Name { .. } => {
                "use 1 to 64 lower-case letters, digits, `-`, `_` and `.`, beginning with a letter or digit"
                    .to_owned()
            }
            Self::FileName { .. } => "give a path below the folder, such as notes/plan.md".to_owned(),
            Self::Day { .. } => "write today, yesterday or a date as YYYY-MM-DD".to_owned(),
            Self::OnceKey { .. } => "use 1 to 255 visible ASCII characters, without blanks".to_owned(),
            Self::Attachment { .. } => {
                "give an object key, a media type, a size and the SHA-256 as 64 hexadecimal digits".to_owned()
            }
            Self::ProposalId { .. } => {
                "it has 12 hexadecimal digits; `tulving audit-quality` shows them".to_owned()
            }
            Self::Secret { field: Field::SourcePath, .. } => {
                "a path is kept as it is, so that the file is known again: rename the file or the folder"
                    .to_owned()
            }
            Self::Secret { .. } => {
                "leave it out and say where it is kept; [secrets] in config.toml decides this (docs/secrets.md)"
                    .to_owned()
            }
            Self::OnlyPrivate { .. } => {
                "what stands between <private> and </private> is never stored; put what may be kept outside"
                    .to_owned()
            }
            Self::NothingToUpdate => "give new content or at least one field to change".to_owned(),
            Self::ConditionMissing => "name at least one condition, such as a type or a tag".to_owned(),
            Self::TooManyMatch { .. } => {
                "narrow it down, for example by time, and do it in several steps".to_owned()
            }
            Self::TypeMissing => "name one or more types".to_owned(),
            Self::LaneMissing => {
                "it begins from what other lanes find: add the lane keyword or vector".to_owned()
            }
            Self::DumpFormat { .. } => "load it with a newer Tulving".to_owned(),
            Self::DumpCut { .. } | Self::DumpCount { .. } => {
                "get the whole file, or dump again where it comes from".to_owned()
            }
            Self::InBatch { source, .. } => return source.hint(),
            _ => return None,
        })
    }
}
