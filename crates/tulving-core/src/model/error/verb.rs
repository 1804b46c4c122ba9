//! The error of a verb, the only one that surfaces see.

use crate::model::id::{MemoryId, MemoryRef, PassId, ProposalId, Version};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{MemoryType, Role};

use super::{
    BackendError, Class, Conflict, Field, FileError, Invalid, LlmError, ModelError, ObjectError, StoreError,
    Unique,
};

/// The reason why a verb failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is wrong.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no such memory, or the caller may not see it.
    #[error("there is no memory {which}{}", place(space.as_deref()))]
    NoMemory {
        /// The memory as named by the caller.
        which: MemoryRef,
        /// The searched space, if a number was given.
        space: Option<String>,
    },
    /// There is no such version, or the caller may not see it.
    #[error("memory {which} has no version {version}")]
    NoVersion {
        /// The memory as named by the caller.
        which: MemoryRef,
        /// The version.
        version: Version,
    },
    /// There is no such association.
    #[error("there is no such association from {source_ref} to {target_ref}")]
    NoAssociation {
        /// The source as named by the caller.
        source_ref: MemoryRef,
        /// The target as named by the caller.
        target_ref: MemoryRef,
    },
    /// There is no such space, or the caller may not see it.
    #[error("there is no space `{name}`")]
    NoSpace {
        /// The name as given.
        name: String,
    },
    /// There is no such principal.
    #[error("there is no principal `{name}`")]
    NoPrincipal {
        /// The name as given.
        name: String,
    },
    /// The principal is not a member.
    #[error("`{principal}` is not a member of `{space}`")]
    NoMember {
        /// The principal.
        principal: String,
        /// The space.
        space: String,
    },
    /// There is no such token.
    #[error("there is no token `{which}`")]
    NoToken {
        /// The token as named by the caller.
        which: String,
    },
    /// There is no such job.
    #[error("there is no job `{which}`")]
    NoJob {
        /// The job as named by the caller.
        which: String,
    },
    /// There is no such pass, or the caller may not see it.
    #[error("there is no pass {id}")]
    NoPass {
        /// The given id.
        id: PassId,
    },
    /// The pass was already undone.
    #[error("the pass {id} was already undone")]
    PassUndone {
        /// The pass.
        id: PassId,
    },
    /// The space has no known change by the caller or a pass.
    #[error("there is nothing to undo here")]
    NothingToUndo,
    /// The last change cannot be undone; nothing was changed.
    #[error("the last change cannot be undone: {what}; {why}")]
    CannotUndo {
        /// The change, in words.
        what: String,
        /// The reason.
        why: String,
        /// The alternative; empty if there is none.
        hint: String,
    },
    /// There is no such proposal: the proposal was carried out, or no longer applies.
    #[error("there is no open proposal {id}")]
    NoProposal {
        /// The given id.
        id: ProposalId,
    },
    /// The memory has no file.
    #[error("memory {which} has no file")]
    NoAttachment {
        /// The memory as named by the caller.
        which: MemoryRef,
    },
    /// The file of the memory is missing from the object store.
    #[error("the file of memory {which} is missing")]
    AttachmentGone {
        /// The memory as named by the caller.
        which: MemoryRef,
    },
    /// The token is unknown or revoked.
    #[error("the token is not valid")]
    BadToken,
    /// The caller's role is not sufficient.
    #[error("this needs the role {need} in {place}")]
    Denied {
        /// The role that is needed.
        need: Role,
        /// The place where it is needed.
        place: String,
    },
    /// The files of the space are private to the user of the home.
    #[error("the files of the space `{space}` are private to the user of this home")]
    PrivateFiles {
        /// The space.
        space: String,
    },
    /// The caller is not the owner, and only the owner may do this.
    #[error("only the owner of memory {which} may do this")]
    OwnerOnly {
        /// The memory as named by the caller.
        which: MemoryRef,
    },
    /// The caller is neither the owner nor an admin of the space, and only these may do this.
    #[error("only the owner of memory {which} or an admin of its space may do this")]
    OwnerOrAdmin {
        /// The memory as named by the caller.
        which: MemoryRef,
    },
    /// Several active tokens have this label.
    #[error("{count} active tokens have the label `{label}`")]
    AmbiguousToken {
        /// The label.
        label: String,
        /// The number of such tokens.
        count: usize,
    },
    /// The memory was forgotten softly, and the caller may restore it.
    #[error("memory {which} is forgotten")]
    Forgotten {
        /// The memory as named by the caller.
        which: MemoryRef,
    },
    /// The memory is not in quarantine.
    #[error("memory {which} does not wait for review")]
    NotInReview {
        /// The memory as named by the caller.
        which: MemoryRef,
    },
    /// The memory is neither a todo nor a goal, and only these can be done.
    #[error("memory {which} is of the type {memory_type}; only a todo or a goal can be marked as done")]
    CannotBeDone {
        /// The memory as named by the caller.
        which: MemoryRef,
        /// Its type.
        memory_type: MemoryType,
    },
    /// Somebody edited the memory since the caller read it.
    #[error("memory {which} is at version {found} and you saw version {expected}")]
    Changed {
        /// The memory as named by the caller.
        which: MemoryRef,
        /// The version that the caller saw.
        expected: Version,
        /// The current version.
        found: Version,
    },
    /// The number of matching memories differs from the number that the caller expected.
    #[error("expected {expected} matching memories, found {found}")]
    CountChanged {
        /// The expected number.
        expected: u64,
        /// The actual number.
        found: u64,
    },
    /// The caller may not erase some of the matching memories.
    #[error(
        "{count} of the {of} memories that match belong to others; only an admin of the space may erase those"
    )]
    OfOthers {
        /// The number of memories that the caller may not erase.
        count: usize,
        /// The number of all matches.
        of: usize,
    },
    /// The memory is a mirror, which follows its file.
    #[error("memory {id} mirrors line {line} of {path}")]
    Mirrored {
        /// The memory.
        id: MemoryId,
        /// The file.
        path: String,
        /// The line.
        line: u32,
    },
    /// The memory has expired. It stays hidden until its expiry is moved or removed.
    #[error("memory {which} expired on {}", at.date())]
    Expired {
        /// The memory.
        which: MemoryRef,
        /// The time of its expiry.
        at: Timestamp,
    },
    /// Another memory, which the caller can see, already has the value to write.
    #[error("memory {other} already has this {what}")]
    Held {
        /// The other memory.
        other: MemoryRef,
        /// The value.
        what: Unique,
    },
    /// A space with that name exists, even if the caller cannot see it.
    #[error("the space `{name}` already exists")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The last admin of a space cannot leave.
    #[error("`{principal}` is the last admin of `{space}`")]
    LastAdmin {
        /// The principal.
        principal: String,
        /// The space.
        space: String,
    },
    /// The listing of a cursor no longer exists.
    #[error("the cursor has expired")]
    CursorExpired,
    /// The operation on the file failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The operation on the attachment failed.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The embedding model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The language model did not answer.
    #[error(transparent)]
    Llm(#[from] LlmError),
    /// A backend failed.
    #[error("the backend `{name}` {source}{}", so_far(*done))]
    Backend {
        /// The backend.
        name: String,
        /// The number of memories of a batch that the backend had stored before.
        done: usize,
        /// The cause.
        source: BackendError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn so_far(done: usize) -> String {
    match done {
        0 => String::new(),
        done => format!("; {done} of the memories before it were done"),
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
    /// Returns the class of the error.
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
            | Self::NothingToUndo
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
            | Self::CannotUndo { .. }
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

    /// Returns true if it failed because the home is read-only.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::Store(StoreError::ReadOnly { .. }) | Self::File(FileError::ReadOnly { .. }))
    }

    /// Returns a stable code for programs.
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
            Self::NothingToUndo => "nothing_to_undo",
            Self::CannotUndo { .. } => "cannot_undo",
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

    /// Returns advice on what to do.
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
            Self::NoMember { .. } => "`tulving space members` lists the members",
            Self::NoToken { .. } => "`tulving token list` shows them",
            Self::NoProposal { .. } => {
                "it was done, or a memory has changed; `tulving audit-quality` lists the open proposals"
            }
            Self::NoPass { .. } => "`tulving passes` shows those of a space; `--space` looks elsewhere",
            Self::PassUndone { .. } => "`tulving passes ID` shows what it had done",
            Self::NothingToUndo => {
                "`tulving passes` shows passes, `tulving audit` what was done; `--space` looks elsewhere"
            }
            Self::CannotUndo { hint, .. } => return (!hint.is_empty()).then(|| hint.clone()),
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
                "`tulving review` lists the waiting memories; use `tulving forget` for any other"
            }
            Self::CannotBeDone { .. } => {
                "`tulving update --type todo` makes it one; `tulving archive` hides a memory that is no longer needed"
            }
            Self::Changed { .. } => "read it again, then repeat",
            Self::CountChanged { .. } => "count again with a dry run, look at what matches, and repeat",
            Self::OfOthers { .. } => {
                "every writer can forget them softly; or narrow the condition to your own memories"
            }
            Self::Mirrored { .. } => "edit the file; the memory follows",
            Self::Expired { .. } => "give it a later end, or none: `tulving update --clear expires-at`",
            Self::Held { .. } => "update that memory instead, or forget it first",
            Self::LastAdmin { .. } => "make somebody else an admin first",
            Self::CursorExpired => "start the list again without a cursor",
            Self::NoAttachment { .. } => "`tulving get` shows its content",
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

    /// Returns the field of the request that the error is about.
    pub fn field(&self) -> Option<Field> {
        match self {
            Self::Invalid(invalid) => invalid.field(),
            _ => None,
        }
    }
}
