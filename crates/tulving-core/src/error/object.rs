//! What cannot be done with an attachment, and why.
//!
//! Whoever asks may be far away: nothing here tells where on this machine attachments are, nor with which key they are reached.

use super::Class;

/// What cannot be done with an attachment, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// Nothing is set up to keep attachments in.
    #[error("no place is set up to keep attachments in")]
    None,
    /// What was given is not a key.
    #[error("`{got}` is not the key of an attachment")]
    NotAKey {
        /// What was given.
        got: String,
    },
    /// The bytes to be kept do not have the hash that was given with them.
    #[error("the bytes to be kept do not have the SHA-256 `{hash}`")]
    WrongHash {
        /// What was given.
        hash: String,
    },
    /// What is there is not what was put.
    #[error("the attachment {key} is damaged: its bytes no longer have the hash in its key")]
    Damaged {
        /// Which.
        key: String,
    },
    /// No space is left.
    #[error("no space is left to keep attachments in")]
    Full,
    /// It may not be used.
    #[error("attachments may not be {verb}: {why}")]
    Denied {
        /// What was tried: `read`, `written`, `removed`, `listed`.
        verb: &'static str,
        /// What was said.
        why: String,
    },
    /// The place itself is not there: no such bucket or folder.
    #[error("the place where attachments are kept is not there: {why}")]
    Missing {
        /// What is missing.
        why: String,
    },
    /// It did not answer, or not with what was asked for.
    #[error("the place where attachments are kept cannot be reached: {why}")]
    Unreachable {
        /// What happened.
        why: String,
    },
    /// The system refused.
    #[error("attachments cannot be {verb}: {why}")]
    Unusable {
        /// What was tried.
        verb: &'static str,
        /// What the system said.
        why: String,
    },
}

impl ObjectError {
    /// Whether the same may do later, with nothing changed by anybody.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// What sort of trouble it is.
    pub fn class(&self) -> Class {
        match self {
            Self::NotAKey { .. } => Class::Caller,
            Self::WrongHash { .. } => Class::Bug,
            Self::Damaged { .. } => Class::Corrupt,
            Self::Unreachable { .. } => Class::Upstream,
            Self::None | Self::Full | Self::Denied { .. } | Self::Missing { .. } | Self::Unusable { .. } => {
                Class::Host
            }
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::None => "no_objects",
            Self::NotAKey { .. } => "invalid_object_key",
            Self::WrongHash { .. } => "object_wrong_hash",
            Self::Damaged { .. } => "object_damaged",
            Self::Full => "disk_full",
            Self::Denied { .. } => "objects_denied",
            Self::Missing { .. } => "objects_missing",
            Self::Unreachable { .. } => "objects_unreachable",
            Self::Unusable { .. } => "objects_unusable",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::None => "attachments need a home or a bucket; push the text itself instead",
            Self::Damaged { .. } => "push the file again, or bring the attachment back from a backup",
            Self::Full => "make room and repeat; nothing was changed",
            Self::Denied { .. } => {
                "check the permissions of the folder, or the keys and rights of the bucket"
            }
            Self::Missing { .. } => "check the folder, or the bucket and the region that are set up",
            Self::Unreachable { .. } => "check the endpoint and the network, and repeat",
            Self::Unusable { .. } => "check that the folder is there and may be read and written",
            Self::NotAKey { .. } | Self::WrongHash { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_others_may_mend_is_tried_again() {
        let unreachable = ObjectError::Unreachable { why: "connection refused".to_owned() };
        assert!(unreachable.retryable() && unreachable.class() == Class::Upstream);
        for last in [ObjectError::Full, ObjectError::None, ObjectError::Damaged { key: "k".to_owned() }] {
            assert!(!last.retryable(), "{last}");
        }
    }
}
