//! Errors with attachments.
//!
//! The caller may be remote: no message shows where on this machine attachments are, nor the key to reach them.

use super::Class;

/// The reason why an operation on an attachment failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// No object store is configured.
    #[error("no storage for attachments is set up")]
    None,
    /// The given text is not a key.
    #[error("`{got}` is not the key of an attachment")]
    NotAKey {
        /// The given text.
        got: String,
    },
    /// The bytes to store do not have the given hash.
    #[error("the bytes do not have the SHA-256 `{hash}`")]
    WrongHash {
        /// The given hash.
        hash: String,
    },
    /// The stored bytes differ from those that were written.
    #[error("the attachment {key} is damaged: its bytes no longer have the hash in its key")]
    Damaged {
        /// The key.
        key: String,
    },
    /// No space is left.
    #[error("no space is left for attachments")]
    Full,
    /// Access is denied.
    #[error("attachments may not be {verb}: {why}")]
    Denied {
        /// The attempted operation: `read`, `written`, `removed`, `listed`.
        verb: &'static str,
        /// The message.
        why: String,
    },
    /// The bucket or folder does not exist.
    #[error("the storage of attachments does not exist: {why}")]
    Missing {
        /// The missing thing.
        why: String,
    },
    /// The object store did not answer, or not as expected.
    #[error("the storage of attachments cannot be reached: {why}")]
    Unreachable {
        /// The cause.
        why: String,
    },
    /// The system refused.
    #[error("attachments cannot be {verb}: {why}")]
    Unusable {
        /// The attempted operation.
        verb: &'static str,
        /// The message of the system.
        why: String,
    },
}

impl ObjectError {
    /// Returns true if a retry may succeed without any change.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// Returns the class of the error.
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

    /// Returns a stable code for programs.
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

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::None => "attachments need a home or a bucket; push the text itself instead",
            Self::Damaged { .. } => "push the file again, or bring the attachment back from a backup",
            Self::Full => "make room and repeat; nothing was changed",
            Self::Denied { .. } => {
                "check the permissions of the folder, or the keys and rights of the bucket"
            }
            Self::Missing { .. } => "check the folder, or the bucket and the region in the settings",
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
