//! Errors in a request. Nothing was changed.

use crate::model::time::{InvalidTime, Timestamp};
use crate::model::vocabulary::{Boundary, SecretKind, UnknownWord};

use super::Field;

/// An error in a request. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A required text is empty.
    #[error("the {field} is empty")]
    Empty {
        /// The field.
        field: Field,
    },
    /// A text is too long.
    #[error("the {field} is {got} {unit} and the limit is {limit}")]
    TooLong {
        /// The field.
        field: Field,
        /// Its length.
        got: usize,
        /// The limit.
        limit: usize,
        /// The unit of the length and of the limit.
        unit: &'static str,
    },
    /// A list is too long.
    #[error("there are {got} {field} and the limit is {limit}")]
    TooMany {
        /// The field.
        field: Field,
        /// The number of entries.
        got: usize,
        /// The limit.
        limit: usize,
    },
    /// A text contains a character that cannot be shown.
    #[error("the {field} contains the control character U+{code:04X} at byte {at}")]
    Control {
        /// The field.
        field: Field,
        /// The character's code.
        code: u32,
        /// The position of the character, in bytes.
        at: usize,
    },
    /// A number is not between 0 and 1.
    #[error("the {field} is {got} and must be between 0 and 1")]
    OutsideUnit {
        /// The field.
        field: Field,
        /// The number.
        got: f64,
    },
    /// A count is out of range.
    #[error("the {field} is {got} and must be between {least} and {most}")]
    OutsideRange {
        /// The field.
        field: Field,
        /// The number.
        got: i64,
        /// The lower bound.
        least: i64,
        /// The upper bound.
        most: i64,
    },
    /// A word is not in its list.
    #[error(transparent)]
    UnknownWord(#[from] UnknownWord),
    /// Text that is not an id.
    #[error("`{got}` is not an id")]
    Id {
        /// The given text.
        got: String,
    },
    /// Text that does not name a memory.
    #[error("`{got}` does not name a memory")]
    MemoryRef {
        /// The given text.
        got: String,
    },
    /// Text that is not a time.
    #[error(transparent)]
    Time(#[from] InvalidTime),
    /// Text that is not a cursor of this list.
    #[error("`{got}` is not a cursor of this list")]
    Cursor {
        /// The given text.
        got: String,
    },
    /// Text that is not a valid name of a space or principal.
    #[error("`{got}` cannot be a name")]
    Name {
        /// The given text.
        got: String,
    },
    /// Text that is not a valid name of a file in a folder.
    #[error("`{got}` cannot be the name of a file: {why}")]
    FileName {
        /// The given text.
        got: String,
        /// The reason.
        why: &'static str,
    },
    /// A file of the default space outside the folders for memory files.
    #[error(
        "`{got}` cannot be the name of a file: the space `default` keeps only files below memory/ and conversations/"
    )]
    FileOutside {
        /// The name that was given.
        got: String,
    },
    /// Text that is not a day.
    #[error("`{got}` is not a day")]
    Day {
        /// The given text.
        got: String,
    },
    /// Text that is not a valid idempotency key.
    #[error("`{got}` cannot be an idempotency key")]
    OnceKey {
        /// The given text.
        got: String,
    },
    /// The end of a period is before its start.
    #[error("valid_until {until} is before valid_from {from}")]
    EndsBeforeStart {
        /// The start.
        from: Timestamp,
        /// The end.
        until: Timestamp,
    },
    /// A todo is marked as done in the future.
    #[error("{at} is more than a day in the future; a todo cannot be done later than now")]
    NotYet {
        /// The given time.
        at: Timestamp,
    },
    /// An empty period: its end is not after its start.
    #[error("until {until} is not after since {since}, so nothing can match")]
    NoTimeBetween {
        /// The start.
        since: Timestamp,
        /// The end, exclusive.
        until: Timestamp,
    },
    /// An attachment that was not written by an object store.
    #[error("`{got}` is not part of an attachment")]
    Attachment {
        /// The given text.
        got: String,
    },
    /// A position without a conversation.
    #[error("position {position} needs a conversation")]
    PositionAlone {
        /// The position.
        position: i64,
    },
    /// Two times of expiry.
    #[error("`ttl` and `expires_at` both say when it expires")]
    TwoExpiries,
    /// An association of a memory with itself.
    #[error("a memory cannot be associated with itself")]
    SelfAssociation,
    /// A typed recall without a type.
    #[error("recall by type needs a type")]
    TypeMissing,
    /// A recall only by relation, or without any lane.
    #[error("recall by relation needs another lane as well")]
    LaneMissing,
    /// A request to forget without a condition.
    #[error("no condition says which memories to forget")]
    ConditionMissing,
    /// More memories match than one request may forget.
    #[error("{got} memories match and the limit is {limit}")]
    TooManyMatch {
        /// The number of matches.
        got: usize,
        /// The limit.
        limit: usize,
    },
    /// An edit without changes.
    #[error("nothing to update was given")]
    NothingToUpdate,
    /// A boundary wider than a sealed space allows.
    #[error("the boundary {boundary} is wider than a group allows")]
    BoundaryTooWide {
        /// The requested boundary.
        boundary: Boundary,
    },
    /// A request of a batch is wrong.
    #[error("memory {} of the batch: {source}", index + 1)]
    InBatch {
        /// Its index, from 0.
        index: usize,
        /// The error.
        source: Box<Invalid>,
    },
    /// A line of a dump that cannot be read.
    #[error("line {line} of the dump cannot be read: {why}")]
    DumpLine {
        /// The line number, from 1.
        line: u64,
        /// The reason.
        why: String,
    },
    /// A record of a dump that was not written by a store.
    #[error("{why}")]
    Record {
        /// The fault in it.
        why: String,
    },
    /// A dump of a later format.
    #[error("the dump has format {got} and this version reads up to {known}")]
    DumpFormat {
        /// Its format.
        got: u32,
        /// The latest known format.
        known: u32,
    },
    /// A dump without its last line.
    #[error("the dump was cut off: after {got} {} its last line is missing", if *.got == 1 { "record" } else { "records" })]
    DumpCut {
        /// The number of records in it.
        got: u64,
    },
    /// A dump with missing or extra lines.
    #[error("the dump should have {stated} {} and has {got}", if *.stated == 1 { "record" } else { "records" })]
    DumpCount {
        /// The number of records in it.
        got: u64,
        /// The number of records according to its last line.
        stated: u64,
    },
    /// A text contains a secret, and the space or the field stores no secrets.
    #[error("the {field} contains a secret ({what}), and secrets are not stored {}", if *.field == Field::SourcePath { "in a path" } else { "in this space" })]
    Secret {
        /// The field.
        field: Field,
        /// The kind of secret, never the secret itself.
        what: SecretKind,
    },
    /// A text is entirely private.
    #[error("all of the {field} is private, so nothing was stored")]
    OnlyPrivate {
        /// The field.
        field: Field,
    },
    /// Text that is not the id of a proposal.
    #[error("`{got}` is not the id of a proposal")]
    ProposalId {
        /// The given text.
        got: String,
    },
}

impl Invalid {
    /// Returns a stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { field: Field::Content | Field::Said } => "missing_content",
            Self::Empty { field: Field::Text | Field::Question } => "missing_query",
            Self::Empty { .. } => "missing_field",
            Self::TooLong { .. } => "too_long",
            Self::TooMany { .. } | Self::TooManyMatch { .. } => "too_many",
            Self::Control { .. } => "control_character",
            Self::OutsideUnit { .. } | Self::OutsideRange { .. } => "out_of_range",
            Self::UnknownWord(_) => "unknown_word",
            Self::Id { .. } | Self::MemoryRef { .. } | Self::ProposalId { .. } => "invalid_id",
            Self::Time(_) => "invalid_time",
            Self::Cursor { .. } => "invalid_cursor",
            Self::Name { .. } => "invalid_name",
            Self::FileName { .. } | Self::FileOutside { .. } => "invalid_file_name",
            Self::Day { .. } => "invalid_date",
            Self::OnceKey { .. } => "invalid_idempotency_key",
            Self::EndsBeforeStart { .. } => "ends_before_start",
            Self::NotYet { .. } => "not_yet",
            Self::NoTimeBetween { .. } => "no_time_between",
            Self::Attachment { .. } => "invalid_attachment",
            Self::PositionAlone { .. } => "missing_conversation",
            Self::TwoExpiries => "two_expiries",
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

    /// Returns the field that the error is about, if there is one.
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
            Self::TwoExpiries => Some(Field::Ttl),
            Self::FileName { .. } | Self::FileOutside { .. } => Some(Field::File),
            Self::Day { .. } => Some(Field::Date),
            Self::InBatch { source, .. } => source.field(),
            _ => None,
        }
    }

    /// Returns advice on what to do.
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
            Self::Time(_) => "write 2026-05-27 or 2026-05-27T09:30:00Z".to_owned(),
            Self::NoTimeBetween { .. } => "give the earlier time as since and the later one as until".to_owned(),
            Self::Cursor { .. } => {
                "use the cursor of the last page with the same filters, or start again without one".to_owned()
            }
            Self::Name { .. } => {
                "use 1 to 64 lower-case letters, digits, `-`, `_` and `.`, beginning with a letter or digit"
                    .to_owned()
            }
            Self::FileName { .. } => "give a path below the folder, such as notes/plan.md".to_owned(),
            Self::FileOutside { .. } => {
                "give a path such as memory/plan.md, or use another space, which keeps files of any name"
                    .to_owned()
            }
            Self::Day { .. } => "write today, yesterday or a date as YYYY-MM-DD".to_owned(),
            Self::OnceKey { .. } => "use 1 to 255 visible ASCII characters, without blanks".to_owned(),
            Self::Attachment { .. } => {
                "give an object key, a media type, a size and the SHA-256 as 64 hexadecimal digits".to_owned()
            }
            Self::ProposalId { .. } => {
                "it has 12 hexadecimal digits; `tulving audit-quality` shows them".to_owned()
            }
            Self::Secret { field: Field::SourcePath, .. } => {
                "paths are stored unchanged, to recognise the file later: rename the file or the folder"
                    .to_owned()
            }
            Self::Secret { .. } => {
                "leave it out and say where it is kept; [secrets] in config.toml decides this (docs/secrets.md)"
                    .to_owned()
            }
            Self::OnlyPrivate { .. } => {
                "text between <private> and </private> is never stored; put the text to store outside"
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
