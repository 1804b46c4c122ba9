//! The error of a tool call, in the form for the model that called the tool.

use std::fmt;

use tulving_core::model::error::{Class, Error, Field, FileError, Invalid};

/// The reason why a tool did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// A stable name for programs.
    pub code: &'static str,
    /// A description of the error.
    pub message: String,
    /// A hint on what to change.
    pub hint: Option<String>,
    /// The argument that is wrong.
    pub field: Option<String>,
    /// The class of the error.
    pub class: Class,
}

impl ToolError {
    /// Creates a refusal of an invalid argument.
    pub fn invalid(code: &'static str, field: &str, message: impl Into<String>) -> Self {
        let (message, field) = (message.into(), Some(field.to_owned()));
        Self { code, message, hint: None, field, class: Class::Caller }
    }

    /// Replaces the engine's name of the field with the dialect's.
    pub fn renamed(self, (own, theirs): &(&str, &str)) -> Self {
        if self.field.as_deref() != Some(*own) {
            return self;
        }
        // If the dialect's name is the plural, the message still uses the singular, because only one of the values is wrong.
        let message = match theirs.strip_suffix('s') == Some(own) {
            true => self.message,
            false => self.message.replacen(&format!("the {own} "), &format!("the {theirs} "), 1),
        };
        Self { field: Some((*theirs).to_owned()), message, ..self }
    }

    /// Adds an example of correct arguments, if their shape is wrong.
    pub(crate) fn showing(self, example: &str) -> Self {
        if !["unknown_argument", "missing_argument"].contains(&self.code) {
            return self;
        }
        let hint = match &self.hint {
            Some(hint) => format!("{hint}, for example {example}"),
            None => format!("for example {example}"),
        };
        self.hinting(hint)
    }

    /// Adds a hint.
    #[must_use]
    pub fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        if error.is_read_only() {
            // The caller must not learn the path of the home.
            let message = "the store is read-only because its home is not writable; nothing was changed";
            let hint = Some("ask the operator to make the home writable".to_owned());
            let (code, class) = (error.code(), error.class());
            return Self { code, message: message.to_owned(), hint, field: None, class };
        }
        // Other hints name terminal commands, which a caller of a tool does not have.
        let hint = match &error {
            Error::Invalid(Invalid::TooLong { field: Field::Content, .. }) => {
                Some("split it into several memories".to_owned())
            }
            Error::Invalid(invalid) => invalid.hint(),
            Error::File(
                FileError::TooLarge { .. } | FileError::Changed { .. } | FileError::Exists { .. },
            ) => error.hint(),
            Error::CannotBeDone { .. } => Some("give it the type todo or goal first".to_owned()),
            Error::Changed { .. }
            | Error::Mirrored { .. }
            | Error::Held { .. }
            | Error::NameTaken { .. }
            | Error::CursorExpired => error.hint(),
            _ => None,
        };
        let field = error.field().map(|field| field.to_string());
        Self { code: error.code(), message: error.to_string(), hint, field, class: error.class() }
    }
}

impl From<Invalid> for ToolError {
    fn from(invalid: Invalid) -> Self {
        Error::from(invalid).into()
    }
}
