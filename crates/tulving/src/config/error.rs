//! Errors in settings.

use std::io;
use std::path::PathBuf;

use tulving_core::model::error::{Class, RegistryError};
use tulving_server::http::TlsError;

use super::{HOME, SettingSource};

/// The reason why the settings cannot be used. After this error, no home is opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    /// There is no such setting.
    #[error("{place}: there is no setting `{got}`")]
    Unknown {
        /// The place in the settings.
        place: SettingSource,
        /// The key that was given.
        got: String,
        /// The key that was probably meant, if one is similar.
        nearest: Option<&'static str>,
    },
    /// A value is not valid.
    #[error("{place}: {key} is `{got}` and must be {expects}")]
    Value {
        /// The place in the settings.
        place: SettingSource,
        /// The key.
        key: &'static str,
        /// The value that was given.
        got: String,
        /// A description of the valid values.
        expects: &'static str,
    },
    /// A setting is given twice, under the names of two tools.
    #[error("{place}: {got} is another name of {key}, which line {line} already sets")]
    Twice {
        /// The place of the second value.
        place: SettingSource,
        /// The name that the second place uses.
        got: String,
        /// The key.
        key: &'static str,
        /// The line of the first value.
        line: usize,
    },
    /// Two files set the same key.
    #[error("{place}: {key} was already set at {first}")]
    InBoth {
        /// The place of the second value.
        place: SettingSource,
        /// The key.
        key: &'static str,
        /// The place of the first value.
        first: SettingSource,
    },
    /// A required part is missing.
    #[error("{place}: {key} has no {what}")]
    Missing {
        /// The place in the settings.
        place: SettingSource,
        /// The key.
        key: &'static str,
        /// The missing part.
        what: &'static str,
    },
    /// The file is not TOML, or not JSON.
    #[error("{}:{line}: {why}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// The message of the parser.
        why: String,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A setting was to be written, and another source overrides it.
    #[error("{key} is set by {place}, which overrides config.toml")]
    SetElsewhere {
        /// The key.
        key: &'static str,
        /// The place of the present value.
        place: SettingSource,
    },
    /// The file cannot be written.
    #[error("{} was not changed: {why}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// Two settings need each other, and one is missing.
    #[error("{given} is set and {missing} is not")]
    Alone {
        /// The setting that is set.
        given: &'static str,
        /// The setting that is missing.
        missing: &'static str,
    },
    /// The certificate of the server cannot be used.
    #[error(transparent)]
    Tls(Box<TlsError>),
    /// A backend is not completely set up.
    #[error("{place}: the backend `{name}` {why}")]
    Backend {
        /// The place in the settings.
        place: SettingSource,
        /// Its name, if it has one.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The backends do not fit together.
    #[error("{}: {source}", path.display())]
    Registry {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: RegistryError,
    },
    /// The platform has no folder for the home.
    #[error("the platform names no folder for data")]
    NoHome,
}

impl From<TlsError> for SettingError {
    fn from(error: TlsError) -> Self {
        Self::Tls(Box::new(error))
    }
}

/// True if the key looks like an attempt to write the language model's API key into the file.
fn is_key_of_model(key: &str) -> bool {
    matches!(key, "llm.key" | "llm.api_key" | "llm.apiKey" | "llm.token")
}

impl SettingError {
    /// Returns the class of the error.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } | Self::NotWritten { .. } | Self::NoHome => Class::Host,
            _ => Class::Caller,
        }
    }

    /// Returns a stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_setting",
            Self::Value { .. } | Self::Twice { .. } | Self::InBoth { .. } => "invalid_setting",
            Self::Syntax { .. } => "invalid_config",
            Self::Alone { .. } | Self::Missing { .. } => "incomplete_setting",
            Self::Tls(_) => "invalid_certificate",
            Self::Backend { .. } => "invalid_backend",
            Self::Registry { source, .. } => source.code(),
            Self::Unreadable { .. } => "unreadable",
            Self::SetElsewhere { .. } => "setting_overridden",
            Self::NotWritten { .. } => "config_not_written",
            Self::NoHome => "no_home",
        }
    }

    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { got, .. } if is_key_of_model(got) => Some(
                "a key is not written here: `tulving llm key set` keeps it in the keyring, llm.key_file names a file with it, and TULVING_LLM_API_KEY is read too"
                    .to_owned(),
            ),
            Self::Unknown { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`? `tulving config --help` lists all settings"))
            }
            Self::Twice { .. } | Self::InBoth { .. } => Some("keep one of the two".to_owned()),
            Self::Unknown { nearest: None, .. } => {
                Some("`tulving config --help` lists all settings".to_owned())
            }
            Self::Syntax { path, .. } if path.extension().is_some_and(|end| end == "json") => {
                Some("write {\"space\": \"work\"}; `tulving config --help` lists the keys".to_owned())
            }
            Self::Syntax { .. } => Some(
                "write key = value on each line, texts in quotes; `tulving config --help` lists the keys"
                    .to_owned(),
            ),
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::InvalidData => {
                Some("save it as UTF-8".to_owned())
            }
            Self::Unreadable { .. } => Some(format!(
                "make it a file that you may read, or choose another home with --home or {HOME}"
            )),
            Self::Alone { missing, .. } => Some(format!("set {missing} too, or neither for plain HTTP")),
            Self::Tls(_) => Some("server.tls_certificate and server.tls_key name the files".to_owned()),
            Self::Backend { .. } => Some(
                "name = \"notes\", role = \"secondary\", command = [\"python3\", \"/path/notes.py\"]"
                    .to_owned(),
            ),
            Self::Registry { source, .. } => Some(source.hint()),
            Self::SetElsewhere { .. } => Some("remove it there, and repeat the command".to_owned()),
            Self::NotWritten { .. } => {
                Some("make the home and config.toml writable, or change the setting by hand".to_owned())
            }
            Self::NoHome => Some(format!("name a folder with --home or {HOME}")),
            _ => None,
        }
    }
}
