//! Errors in the extraction of text from a file.

use std::time::Duration;

use super::Class;

/// The end of the message of [`ExtractError::NotInstalled`]. A job stores only the message of an error.
const NOT_INSTALLED: &str = "which reads such files, is not installed";

/// The reason why no text was extracted from a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// No extractor reads such files.
    #[error("files of the type `{media_type}` are not read")]
    Unsupported {
        /// The given type.
        media_type: String,
    },
    /// The program that reads such files is not on this machine.
    #[error("`{program}`, {NOT_INSTALLED}")]
    NotInstalled {
        /// The program.
        program: String,
    },
    /// The file is not of the type that it claims, or a part of it is missing.
    #[error("the file is damaged: {why}")]
    Damaged {
        /// The damage.
        why: String,
    },
    /// The file is locked with a password.
    #[error("the file is locked with a password")]
    Encrypted,
    /// The content exceeds a limit.
    #[error("the file is too large to be read: {why}")]
    TooLarge {
        /// The exceeded limit.
        why: String,
    },
    /// The extraction used up the processor time for one file.
    #[error("reading the file took more than {} s of CPU time", limit.as_secs())]
    TookTooLong {
        /// The limit.
        limit: Duration,
    },
    /// The extraction did not finish in time, and the file may not be the only cause.
    #[error("reading the file did not finish within {} s", after.as_secs())]
    Late {
        /// The time waited.
        after: Duration,
    },
    /// The extraction needed more memory than one file may use.
    #[error("reading the file took more than {} MB of memory", limit >> 20)]
    TooMuchMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The extractor ended before it finished.
    #[error("the process that reads the file crashed: {how}")]
    Crashed {
        /// The way it ended.
        how: String,
    },
    /// The extractor could not be started.
    #[error("the process that reads the file cannot be started: {why}")]
    NotStarted {
        /// The message of the system.
        why: String,
    },
}

impl ExtractError {
    /// Returns true if a retry may succeed without any change.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Late { .. } | Self::NotStarted { .. })
    }

    /// Returns true if this is the message of [`NotInstalled`](Self::NotInstalled), for any program.
    pub fn says_not_installed(text: &str) -> bool {
        text.ends_with(NOT_INSTALLED)
    }

    /// Returns the class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::Unsupported { .. }
            | Self::Damaged { .. }
            | Self::Encrypted
            | Self::TooLarge { .. }
            | Self::TookTooLong { .. }
            | Self::TooMuchMemory { .. }
            | Self::Crashed { .. } => Class::Caller,
            Self::NotInstalled { .. } => Class::Host,
            Self::Late { .. } | Self::NotStarted { .. } => Class::Busy,
        }
    }

    /// Returns a stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } => "unsupported_media_type",
            Self::NotInstalled { .. } => "extractor_not_installed",
            Self::Damaged { .. } => "file_damaged",
            Self::Encrypted => "file_encrypted",
            Self::TooLarge { .. } => "file_too_large",
            Self::TookTooLong { .. } => "extraction_took_too_long",
            Self::Late { .. } => "extraction_late",
            Self::TooMuchMemory { .. } => "extraction_took_too_much_memory",
            Self::Crashed { .. } => "extraction_crashed",
            Self::NotStarted { .. } => "extraction_not_started",
        }
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unsupported { .. } => "push the text itself, or the file as a PDF",
            Self::NotInstalled { .. } => {
                "install it; then `tulving jobs retry` and `tulving jobs run` read the remaining files"
            }
            Self::Damaged { .. } | Self::Crashed { .. } => "open the file and save it again, then push that",
            Self::Encrypted => "push a copy without a password",
            Self::TooLarge { .. } | Self::TookTooLong { .. } | Self::TooMuchMemory { .. } => {
                "split the file, or push its text"
            }
            Self::Late { .. } | Self::NotStarted { .. } => "the machine is busy; try again later",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_the_fault_of_the_file_is_tried_again() {
        assert!(ExtractError::Late { after: Duration::from_secs(30) }.retryable());
        assert!(ExtractError::NotStarted { why: "no more processes".to_owned() }.retryable());
        let limit = Duration::from_secs(20);
        let damaged = ExtractError::Damaged { why: "it has no pages".to_owned() };
        for last in [ExtractError::TookTooLong { limit }, ExtractError::Encrypted, damaged] {
            assert!(!last.retryable(), "{last}");
        }
    }

    #[test]
    fn that_a_program_is_missing_is_known_from_the_text_alone() {
        let missing = ExtractError::NotInstalled { program: "tesseract".to_owned() };
        assert_eq!(missing.to_string(), "`tesseract`, which reads such files, is not installed");
        assert!(ExtractError::says_not_installed(&missing.to_string()));
        assert!(!ExtractError::says_not_installed("the file is damaged: a font is not installed"));
    }

    #[test]
    fn limits_are_said_in_units_of_people() {
        let error = ExtractError::TooMuchMemory { limit: 1 << 30 };
        assert_eq!(error.to_string(), "reading the file took more than 1024 MB of memory");
    }
}
