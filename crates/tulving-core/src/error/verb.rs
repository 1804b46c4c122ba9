//! Why a verb was not done: the one error that surfaces see.

use crate::id::{MemoryId, MemoryRef, PassId, ProposalId, Version};
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, Role};

use super::{
    BackendError, Class, Conflict, Field, FileError, Invalid, LlmError, ModelError, ObjectError, StoreError,
    Unique,
};

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
    /// The principal is not a member.
    #[error("`{principal}` is not a member of `{space}`")]
    NoMember {
        /// Who.
        principal: String,
        /// Where.
        space: String,
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
    /// There is no such pass, or the caller may not see it.
    #[error("there is no pass {id}")]
    NoPass {
        /// As it was named.
        id: PassId,
    },
    /// What the pass did was taken back before.
    #[error("the pass {id} was undone already")]
    PassUndone {
        /// Which.
        id: PassId,
    },
    /// Nothing like that is proposed: it was done, or what it was about is no longer so.
    #[error("no proposal {id} stands by now")]
    NoProposal {
        /// As it was named.
        id: ProposalId,
    },
    /// The memory describes no file.
    #[error("memory {which} has no file")]
    NoAttachment {
        /// As it was named.
        which: MemoryRef,
    },
    /// The file that the memory describes is not where files are kept.
    #[error("the file of memory {which} is missing")]
    AttachmentGone {
        /// As it was named.
        which: MemoryRef,
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
    /// The files of the space are private to the user of the home.
    #[error("the files of the space `{space}` are private to the user of this home")]
    PrivateFiles {
        /// The space.
        space: String,
    },
    /// Only the owner may.
    #[error("only the owner of memory {which} may do this")]
    OwnerOnly {
        /// As it was named.
        which: MemoryRef,
    },
    /// Only the owner or an admin of the space may.
    #[error("only the owner of memory {which} or an admin of its space may do this")]
    OwnerOrAdmin {
        /// As it was named.
        which: MemoryRef,
    },
    /// Several live tokens have this label.
    #[error("{count} live tokens are labelled `{label}`")]
    AmbiguousToken {
        /// The label.
        label: String,
        /// How many there are.
        count: usize,
    },
    /// It was forgotten softly, and the caller may restore it.
    #[error("memory {which} is forgotten")]
    Forgotten {
        /// As it was named.
        which: MemoryRef,
    },
    /// It was not put aside for review.
    #[error("memory {which} does not wait for review")]
    NotInReview {
        /// As it was named.
        which: MemoryRef,
    },
    /// Only a todo or a goal can be done.
    #[error("memory {which} is of the type {memory_type}; only a todo or a goal can be done")]
    CannotBeDone {
        /// As it was named.
        which: MemoryRef,
        /// Its type.
        memory_type: MemoryType,
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
    /// Another number of memories match than the caller expected.
    #[error("{found} memories match by now and {expected} were expected")]
    CountChanged {
        /// How many the caller expected.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Some of those that match are not the caller's to erase.
    #[error(
        "{count} of the {of} memories that match belong to others; only an admin of the space may erase those"
    )]
    OfOthers {
        /// How many.
        count: usize,
        /// How many match.
        of: usize,
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
    /// A memory that has expired stays hidden until it expires later, or never.
    #[error("memory {which} expired on {}", at.date())]
    Expired {
        /// Which memory.
        which: MemoryRef,
        /// When.
        at: Timestamp,
    },
    /// Another memory, which the caller sees, already holds what would be written.
    #[error("memory {other} already holds this {what}")]
    Held {
        /// The other memory.
        other: MemoryRef,
        /// What it holds.
        what: Unique,
    },
    /// A space of that name is there, whether or not the caller may see it.
    #[error("there is a space `{name}` already")]
    NameTaken {
        /// The name.
        name: String,
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
    /// It cannot be done with the file.
    #[error(transparent)]
    File(#[from] FileError),
    /// It cannot be done with the attachment.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A model could not do it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The language model did not answer.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// A backend could not do it.
    #[error("the backend `{name}` {source}{}", so_far(*done))]
    Backend {
        /// Which.
        name: String,
        /// How many memories of a batch it had taken before.
        done: usize,
        /// Why.
        source: BackendError,
    },
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn so_far(done: usize) -> String {
    match done {
        0 => String::new(),
        done => format!("; {done} of the memories before were done"),
    }
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
            Self::Invalid(_)
            | Self::Mirrored { .. }
            | Self::Expired { .. }
            | Self::CannotBeDone { .. }
            | Self::CursorExpired => Class::Caller,
            Self::NoMemory { .. }
            | Self::NoVersion { .. }
            | Self::NoAssociation { .. }
            | Self::NoSpace { .. }
            | Self::NoPrincipal { .. }
            | Self::NoMember { .. }
            | Self::NoToken { .. }
            | Self::NoJob { .. }
            | Self::NoPass { .. }
            | Self::NoProposal { .. }
            | Self::NoAttachment { .. }
            | Self::Forgotten { .. } => Class::Absent,
            Self::BadToken
            | Self::Denied { .. }
            | Self::OwnerOnly { .. }
            | Self::OwnerOrAdmin { .. }
            | Self::PrivateFiles { .. }
            | Self::OfOthers { .. } => Class::Denied,
            Self::Held { .. }
            | Self::NameTaken { .. }
            | Self::CountChanged { .. }
            | Self::AmbiguousToken { .. }
            | Self::LastAdmin { .. }
            | Self::NotInReview { .. }
            | Self::PassUndone { .. }
            | Self::Changed { .. } => Class::Conflict,
            Self::File(error) => error.class(),
            Self::AttachmentGone { .. } => Class::Host,
            Self::Object(error) => error.class(),
            Self::Model(_) => Class::Upstream,
            Self::Llm(error) => error.class(),
            Self::Backend { source, .. } => source.class(),
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
            Self::NoMember { .. } => "member_not_found",
            Self::NoToken { .. } => "token_not_found",
            Self::NoJob { .. } => "job_not_found",
            Self::NoPass { .. } => "pass_not_found",
            Self::PassUndone { .. } => "already_undone",
            Self::NoProposal { .. } => "proposal_not_found",
            Self::BadToken => "bad_token",
            Self::Denied { need: Role::Writer, .. } => "no_write_access",
            Self::Denied { .. } => "denied",
            Self::OwnerOnly { .. } => "owner_only",
            Self::PrivateFiles { .. } => "private_files",
            Self::OwnerOrAdmin { .. } | Self::OfOthers { .. } => "owner_or_admin",
            Self::CountChanged { .. } => "count_mismatch",
            Self::AmbiguousToken { .. } => "ambiguous_token",
            Self::Forgotten { .. } => "already_forgotten",
            Self::NotInReview { .. } => "not_in_review",
            Self::CannotBeDone { .. } => "cannot_be_done",
            Self::Changed { .. } => "version_mismatch",
            Self::Mirrored { .. } => "mirrored",
            Self::Expired { .. } => "expired",
            Self::Held { .. } => "duplicate",
            Self::NameTaken { .. } => "name_taken",
            Self::LastAdmin { .. } => "last_admin",
            Self::CursorExpired => "cursor_expired",
            Self::NoAttachment { .. } => "no_attachment",
            Self::AttachmentGone { .. } => "attachment_missing",
            Self::File(error) => error.code(),
            Self::Object(error) => error.code(),
            Self::Model(_) => "model_failed",
            Self::Llm(error) => error.code(),
            Self::Backend { source, .. } => source.code(),
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
            Self::NoPrincipal { .. } => {
                "an admin of the org makes one with `tulving token create --for NAME`"
            }
            Self::NoMember { .. } => "`tulving space members` shows who is",
            Self::NoToken { .. } => "`tulving token list` shows them",
            Self::NoProposal { .. } => {
                "it was done, or a memory has changed; `tulving audit-quality` shows what stands"
            }
            Self::NoPass { .. } => "`tulving passes` shows those of a space; `--space` looks elsewhere",
            Self::PassUndone { .. } => "`tulving passes ID` shows what it had done",
            Self::BadToken => {
                "TULVING_TOKEN is empty, unknown to this home or was revoked; without it you act as the owner of the \
                 home, and `tulving token create` makes another"
            }
            Self::Denied { .. } => "ask an admin of it",
            Self::PrivateFiles { .. } => "work in a space that you share, or with a token of that user",
            Self::Forgotten { .. } => {
                "`tulving restore` brings it back; `tulving forget --hard` makes it final"
            }
            Self::NotInReview { .. } => {
                "`tulving review` lists those that do; `tulving forget` takes any other"
            }
            Self::CannotBeDone { .. } => {
                "`tulving update --type todo` makes it one; `tulving archive` hides what is over"
            }
            Self::Changed { .. } => "look at it again and repeat",
            Self::CountChanged { .. } => "count again with a dry run, look at what matches, and repeat",
            Self::OfOthers { .. } => {
                "softly they can be forgotten by every writer; or narrow it down to your own"
            }
            Self::Mirrored { .. } => "edit the file; the memory follows",
            Self::Expired { .. } => "give it a later end, or none: `tulving update --clear expires-at`",
            Self::Held { .. } => "update that memory instead, or forget it first",
            Self::LastAdmin { .. } => "make somebody else an admin first",
            Self::CursorExpired => "start the list again without a cursor",
            Self::NoAttachment { .. } => "`tulving get` shows what it says",
            Self::AttachmentGone { .. } => {
                "push the file again, or bring the folder `objects` back from a copy"
            }
            Self::File(error) => return error.hint().map(str::to_owned),
            Self::Object(error) => return error.hint().map(str::to_owned),
            Self::Model(_) => "`tulving config` shows which model is set up, `tulving doctor` tries it",
            Self::Llm(error) => return error.hint(),
            Self::Backend { source, .. } => return source.hint().map(str::to_owned),
            Self::Store(error) => return error.hint().map(str::to_owned),
            Self::AmbiguousToken { .. } => "name one by its id; `tulving token list` shows them",
            Self::NoJob { .. } => "`tulving jobs` shows them",
            Self::NameTaken { .. } => "choose another name, or use that one",
            Self::OwnerOnly { .. } | Self::OwnerOrAdmin { .. } => return None,
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
