//! What can go wrong, with the values, what class of thing it is, and what to do about it.
//!
//! Behaviour follows [`Class`]: only `Busy` and `Upstream` are retried, `Conflict` is decided again, `Corrupt` stops
//! writes. Exit codes, HTTP statuses and MCP results are matches on it, each in one file of its surface.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::id::{MemoryId, MemoryRef, Version};
use crate::vocabulary::Role;

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
    /// The label of a token.
    Label,
    /// A name of a space or principal.
    Name,
    /// The source of a turn.
    Source,
    /// The associations of a save.
    Associations,
    /// The limit.
    Limit,
    /// The depth.
    Depth,
    /// The batch.
    Batch,
    /// The text to look for.
    Text,
}

impl Field {
    /// The field as it is written in JSON and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Key => "key",
            Self::Title => "title",
            Self::Summary => "summary",
            Self::Tag => "tag",
            Self::Tags => "tags",
            Self::Importance => "importance",
            Self::Weight => "weight",
            Self::Score => "score",
            Self::SourceNote => "source_note",
            Self::SourcePath => "source_path",
            Self::Conversation => "conversation",
            Self::Speaker => "speaker",
            Self::Agent => "agent",
            Self::Reason => "reason",
            Self::Label => "label",
            Self::Name => "name",
            Self::Source => "source",
            Self::Associations => "associations",
            Self::Limit => "limit",
            Self::Depth => "depth",
            Self::Batch => "batch",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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
    #[error("`{got}` is not a {label}; it is one of {}", valid.join(", "))]
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
    /// Time runs backwards.
    #[error("valid_until {until} is before valid_from {from}")]
    EndsBeforeStart {
        /// The start.
        from: crate::time::Timestamp,
        /// The end.
        until: crate::time::Timestamp,
    },
    /// An association of a memory with itself.
    #[error("a memory cannot be associated with itself")]
    SelfAssociation,
    /// A typed recall without a type.
    #[error("recall by type needs a type")]
    TypeMissing,
    /// An edit that says nothing.
    #[error("nothing to update was given")]
    NothingToUpdate,
    /// Wider than a sealed space allows.
    #[error("the boundary {boundary} is wider than a group allows")]
    BoundaryTooWide {
        /// What was asked.
        boundary: crate::vocabulary::Boundary,
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
    /// A dump of a later format.
    #[error("the dump has format {got} and this version reads up to {known}")]
    DumpFormat {
        /// What it has.
        got: u32,
        /// What is known.
        known: u32,
    },
}

impl Invalid {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { field: Field::Content } => "missing_content",
            Self::Empty { field: Field::Text } => "missing_query",
            Self::Empty { .. } => "missing_field",
            Self::TooLong { .. } => "too_long",
            Self::TooMany { .. } => "too_many",
            Self::Control { .. } => "control_character",
            Self::OutsideUnit { .. } | Self::OutsideRange { .. } => "out_of_range",
            Self::UnknownWord { .. } => "unknown_word",
            Self::Id { .. } | Self::MemoryRef { .. } => "invalid_id",
            Self::Time { .. } => "invalid_time",
            Self::Cursor { .. } => "invalid_cursor",
            Self::Name { .. } => "invalid_name",
            Self::EndsBeforeStart { .. } => "ends_before_start",
            Self::SelfAssociation => "self_association",
            Self::TypeMissing => "missing_type",
            Self::NothingToUpdate => "nothing_to_update",
            Self::BoundaryTooWide { .. } => "boundary_too_wide",
            Self::InBatch { source, .. } => source.code(),
            Self::DumpLine { .. } => "invalid_dump",
            Self::DumpFormat { .. } => "newer_dump",
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
            | Self::OutsideRange { field, .. } => Some(*field),
            Self::InBatch { source, .. } => source.field(),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Empty { field: Field::Content } => "say what to remember".to_owned(),
            Self::Empty { field: Field::Text } => "say what to look for".to_owned(),
            Self::TooLong { field: Field::Content, .. } => {
                "split it into several memories, or raise limits.content_bytes".to_owned()
            }
            Self::Control { .. } => "remove it; tabs and line breaks are fine".to_owned(),
            Self::MemoryRef { .. } => "name it by its number, like #12, or by its full id".to_owned(),
            Self::Time { .. } => "write 2026-05-27 or 2026-05-27T09:30:00Z".to_owned(),
            Self::Cursor { .. } => {
                "use the cursor of the last page with the same filters, or start again without one".to_owned()
            }
            Self::Name { .. } => {
                "use 1 to 64 lower-case letters, digits, `-`, `_` and `.`, beginning with a letter or digit"
                    .to_owned()
            }
            Self::NothingToUpdate => "give new content or at least one field to change".to_owned(),
            Self::TypeMissing => "name one or more types".to_owned(),
            Self::DumpFormat { .. } => "load it with a newer Tulving".to_owned(),
            Self::InBatch { source, .. } => return source.hint(),
            _ => return None,
        })
    }
}

/// What stood in the way of a write that was decided on what is no longer so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// The memory has another version by now.
    #[error("memory {id} is at version {found} and the edit was made on version {expected}")]
    Stale {
        /// Which memory.
        id: MemoryId,
        /// What the writer saw.
        expected: Version,
        /// What is there.
        found: Version,
    },
    /// The memory stands otherwise by now.
    #[error("memory {id} was moved by somebody else")]
    Moved {
        /// Which memory.
        id: MemoryId,
    },
    /// The memory is gone by now.
    #[error("memory {id} is gone")]
    Gone {
        /// Which memory.
        id: MemoryId,
    },
    /// Another memory holds what must be unique.
    #[error("the {what} is taken")]
    Taken {
        /// What must be unique.
        what: Unique,
    },
    /// The actor's role is not what it was.
    #[error("the right to do this was taken away")]
    RightLost,
    /// The job is not as it was.
    #[error("the job was taken by somebody else")]
    JobMoved,
}

/// What must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unique {
    /// A key in a space.
    Key,
    /// A source path in a space.
    SourcePath,
    /// A content in a space.
    Content,
    /// A name of a space in its team.
    SpaceName,
    /// A name of a principal.
    PrincipalName,
    /// An id.
    Id,
}

impl fmt::Display for Unique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::SourcePath => "source path",
            Self::Content => "content",
            Self::SpaceName => "name of the space",
            Self::PrincipalName => "name of the principal",
            Self::Id => "id",
        })
    }
}

/// What a store cannot do, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Decided on what is no longer so; decide again.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// Others held the store for too long.
    #[error("the store was busy for {} s", waited.as_secs())]
    Busy {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The disk is full.
    #[error("no space is left on the disk that holds {}", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file or folder may not be written or opened.
    #[error("{} cannot be {verb}: {why}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: `opened`, `written`, `created`.
        verb: &'static str,
        /// What the system said.
        why: String,
    },
    /// A file that was to be made is there.
    #[error("{} is there already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("{} is damaged: {why}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// The file is not a store of Tulving.
    #[error("{} is not a store of Tulving: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// The file was written by a later version.
    #[error("{} has schema {found} and this version knows up to {known}", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest known.
        known: i64,
    },
    /// Anything that should not happen.
    #[error("the store failed: {what}")]
    Failed {
        /// What was being done.
        what: String,
        /// What the database said.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl StoreError {
    /// What sort of trouble it is.
    pub fn class(&self) -> Class {
        match self {
            Self::Conflict(_) | Self::Exists { .. } => Class::Conflict,
            Self::Busy { .. } => Class::Busy,
            Self::DiskFull { .. } | Self::Unusable { .. } => Class::Host,
            Self::Corrupt { .. } | Self::Foreign { .. } | Self::NewerSchema { .. } => Class::Corrupt,
            Self::Failed { .. } => Class::Bug,
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conflict(Conflict::Taken { what }) => match what {
                Unique::Key => "key_taken",
                Unique::SourcePath => "source_path_taken",
                Unique::Content => "content_taken",
                Unique::SpaceName | Unique::PrincipalName => "name_taken",
                Unique::Id => "id_taken",
            },
            Self::Conflict(_) => "conflict",
            Self::Busy { .. } => "busy",
            Self::DiskFull { .. } => "disk_full",
            Self::Unusable { .. } => "store_unusable",
            Self::Exists { .. } => "file_exists",
            Self::Corrupt { .. } => "store_damaged",
            Self::Foreign { .. } => "store_foreign",
            Self::NewerSchema { .. } => "store_newer",
            Self::Failed { .. } => "store_failed",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Conflict(Conflict::Taken { what: Unique::SpaceName | Unique::PrincipalName }) => {
                "choose another name"
            }
            Self::Conflict(Conflict::Taken { .. }) => {
                "another memory has it; update that one, or choose another"
            }
            Self::Conflict(_) => "look at it again and repeat",
            Self::Busy { .. } => "try again; if it stays so, see which process holds the store",
            Self::DiskFull { .. } => "free some space and repeat; what was acknowledged before is safe",
            Self::Unusable { .. } => {
                "check that it exists, is a folder or file as expected, and is yours to write"
            }
            Self::Exists { .. } => "choose another name, or say that it may be replaced",
            Self::Corrupt { .. } => {
                "run `tulving doctor`; restore a backup with `tulving backup restore FILE`"
            }
            Self::Foreign { .. } => "it was left untouched; choose another home with TULVING_HOME",
            Self::NewerSchema { .. } => "it was left untouched; use the newer Tulving that wrote it",
            Self::Failed { .. } => return None,
        })
    }
}

/// Why a verb was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no such memory, or the caller may not see it.
    #[error("there is no memory {which}{}", place(space.as_deref()))]
    NoMemory {
        /// As it was named.
        which: MemoryRef,
        /// The space that was looked in, where a number was given.
        space: Option<String>,
    },
    /// There is no such version, or the caller may not see it.
    #[error("memory {which} has no version {version}")]
    NoVersion {
        /// As it was named.
        which: MemoryRef,
        /// The version.
        version: Version,
    },
    /// There is no such association.
    #[error("there is no such association from {source_ref} to {target_ref}")]
    NoAssociation {
        /// As it was named.
        source_ref: MemoryRef,
        /// As it was named.
        target_ref: MemoryRef,
    },
    /// There is no such space, or the caller may not see it.
    #[error("there is no space `{name}`")]
    NoSpace {
        /// As it was named.
        name: String,
    },
    /// There is no such principal.
    #[error("there is no principal `{name}`")]
    NoPrincipal {
        /// As it was named.
        name: String,
    },
    /// There is no such token.
    #[error("there is no token `{which}`")]
    NoToken {
        /// As it was named.
        which: String,
    },
    /// There is no such job.
    #[error("there is no job `{which}`")]
    NoJob {
        /// As it was named.
        which: String,
    },
    /// The token is unknown or revoked.
    #[error("the token is not valid")]
    BadToken,
    /// The caller's role does not reach.
    #[error("this needs the role {need} in {place}")]
    Denied {
        /// The role that is needed.
        need: Role,
        /// Where.
        place: String,
    },
    /// Only the owner may.
    #[error("only the owner of memory {which} may do this")]
    OwnerOnly {
        /// As it was named.
        which: MemoryRef,
    },
    /// It was forgotten before.
    #[error("memory {which} is already forgotten")]
    Forgotten {
        /// As it was named.
        which: MemoryRef,
    },
    /// Somebody edited it since the caller looked.
    #[error("memory {which} is at version {found} and you saw version {expected}")]
    Changed {
        /// As it was named.
        which: MemoryRef,
        /// What the caller saw.
        expected: Version,
        /// What is there.
        found: Version,
    },
    /// A mirror follows its file.
    #[error("memory {id} mirrors line {line} of {path}")]
    Mirrored {
        /// Which memory.
        id: MemoryId,
        /// The file.
        path: String,
        /// The line.
        line: u32,
    },
    /// Another memory, which the caller sees, already holds what would be written.
    #[error("memory {other} already holds this {what}")]
    Held {
        /// The other memory.
        other: MemoryRef,
        /// What it holds.
        what: Unique,
    },
    /// The last admin of a space cannot go.
    #[error("`{principal}` is the last admin of `{space}`")]
    LastAdmin {
        /// Who.
        principal: String,
        /// Where.
        space: String,
    },
    /// The listing that a cursor points into is gone.
    #[error("the cursor has expired")]
    CursorExpired,
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn place(space: Option<&str>) -> String {
    space.map(|name| format!(" in the space `{name}`")).unwrap_or_default()
}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        Self::Store(conflict.into())
    }
}

impl Error {
    /// What sort of trouble it is.
    pub fn class(&self) -> Class {
        match self {
            Self::Invalid(_) | Self::Mirrored { .. } | Self::CursorExpired => Class::Caller,
            Self::NoMemory { .. }
            | Self::NoVersion { .. }
            | Self::NoAssociation { .. }
            | Self::NoSpace { .. }
            | Self::NoPrincipal { .. }
            | Self::NoToken { .. }
            | Self::NoJob { .. }
            | Self::Forgotten { .. } => Class::Absent,
            Self::BadToken | Self::Denied { .. } | Self::OwnerOnly { .. } => Class::Denied,
            Self::Held { .. } | Self::LastAdmin { .. } | Self::Changed { .. } => Class::Conflict,
            Self::Store(error) => error.class(),
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::NoMemory { .. } => "not_found",
            Self::NoVersion { .. } => "version_not_found",
            Self::NoAssociation { .. } => "association_not_found",
            Self::NoSpace { .. } => "space_not_found",
            Self::NoPrincipal { .. } => "principal_not_found",
            Self::NoToken { .. } => "token_not_found",
            Self::NoJob { .. } => "job_not_found",
            Self::BadToken => "bad_token",
            Self::Denied { need: Role::Writer, .. } => "no_write_access",
            Self::Denied { .. } => "denied",
            Self::OwnerOnly { .. } => "owner_only",
            Self::Forgotten { .. } => "already_forgotten",
            Self::Changed { .. } => "version_mismatch",
            Self::Mirrored { .. } => "mirrored",
            Self::Held { .. } => "duplicate",
            Self::LastAdmin { .. } => "last_admin",
            Self::CursorExpired => "cursor_expired",
            Self::Store(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Invalid(invalid) => return invalid.hint(),
            Self::NoMemory { .. } => "`tulving list` shows what is there; `--space` looks elsewhere",
            Self::NoVersion { .. } => "`tulving history` shows its versions",
            Self::NoAssociation { .. } => "`tulving related` shows what it is linked with",
            Self::NoSpace { .. } => "`tulving space list` shows yours; `tulving space create NAME` makes one",
            Self::NoPrincipal { .. } => "`tulving token create --for NAME` makes one",
            Self::NoToken { .. } => "`tulving token list` shows them",
            Self::BadToken => "check TULVING_TOKEN, or make a new one with `tulving token create`",
            Self::Denied { .. } => "ask an admin of it",
            Self::Forgotten { .. } => {
                "`tulving restore` brings it back; `tulving forget --hard` makes it final"
            }
            Self::Changed { .. } => "look at it again and repeat",
            Self::Mirrored { .. } => "edit the file; the memory follows",
            Self::Held { .. } => "update that memory instead, or forget it first",
            Self::LastAdmin { .. } => "make somebody else an admin first",
            Self::CursorExpired => "start the list again without a cursor",
            Self::Store(error) => return error.hint().map(str::to_owned),
            Self::NoJob { .. } | Self::OwnerOnly { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// The field of the request that it is about.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::Invalid(invalid) => invalid.field(),
            _ => None,
        }
    }
}

/// Why a model did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// None is set up.
    #[error("no embedding model is set up")]
    None,
    /// It failed.
    #[error("the model {model} failed: {why}")]
    Failed {
        /// Which.
        model: String,
        /// Why.
        why: String,
    },
}
