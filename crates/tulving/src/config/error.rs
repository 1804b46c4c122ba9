//! What can be wrong with settings.

use std::io;
use std::path::PathBuf;

use tulving_core::error::{Class, RegistryError};
use tulving_server::http::TlsError;

use super::{HOME, Source};

/// Why the settings cannot be used. Nothing was opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    /// There is no such setting.
    #[error("{place}: there is no setting `{got}`")]
    Unknown {
        /// Where it was found.
        place: Source,
        /// What was given.
        got: String,
        /// The one that was meant, where one is like it.
        nearest: Option<&'static str>,
    },
    /// A value does not fit.
    #[error("{place}: {key} is `{got}` and must be {expects}")]
    Value {
        /// Where it was found.
        place: Source,
        /// The key.
        key: &'static str,
        /// What was given.
        got: String,
        /// What it must be.
        expects: &'static str,
    },
    /// It is said twice, in the words of two tools.
    #[error("{place}: {got} is another name of {key}, which line {line} has set")]
    Twice {
        /// Where it was found again.
        place: Source,
        /// What it is called there.
        got: String,
        /// The key.
        key: &'static str,
        /// The line where it was set first.
        line: usize,
    },
    /// Two files set it.
    #[error("{place}: {key} is set already at {first}")]
    InBoth {
        /// Where it was found again.
        place: Source,
        /// The key.
        key: &'static str,
        /// Where it was set first.
        first: Source,
    },
    /// Something that belongs to it is not said.
    #[error("{place}: {key} has no {what}")]
    Missing {
        /// Where it was found.
        place: Source,
        /// The key.
        key: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// The file is not TOML, or not JSON.
    #[error("{}:{line}: {why}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What the parser said.
        why: String,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Two settings go together.
    #[error("{given} is set and {missing} is not")]
    Alone {
        /// The one.
        given: &'static str,
        /// The other.
        missing: &'static str,
    },
    /// The certificate of the server cannot be used.
    #[error(transparent)]
    Tls(Box<TlsError>),
    /// A backend is not wholly set up.
    #[error("{place}: the backend `{name}` {why}")]
    Backend {
        /// Where it was found.
        place: Source,
        /// Its name, where it has one.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The backends do not go together.
    #[error("{}: {source}", path.display())]
    Registry {
        /// The file.
        path: PathBuf,
        /// Why.
        source: RegistryError,
    },
    /// There is no place for the home.
    #[error("the platform names no folder for data")]
    NoHome,
}

impl From<TlsError> for SettingError {
    fn from(error: TlsError) -> Self {
        Self::Tls(Box::new(error))
    }
}

/// Whether somebody wanted to write the key of the language model into the file.
fn is_key_of_model(key: &str) -> bool {
    matches!(key, "llm.key" | "llm.api_key" | "llm.apiKey" | "llm.token")
}

impl SettingError {
    /// What sort of trouble it is.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } | Self::NoHome => Class::Host,
            _ => Class::Caller,
        }
    }

    /// A stable name for programs.
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
            Self::NoHome => "no_home",
        }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { got, .. } if is_key_of_model(got) => Some(
                "a key is not written here: `tulving llm key set` keeps it in the keyring, llm.key_file names a file with it, and TULVING_LLM_API_KEY is read too"
                    .to_owned(),
            ),
            Self::Unknown { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`? `tulving config --help` lists all of them"))
            }
            Self::Twice { .. } | Self::InBoth { .. } => Some("keep one of the two".to_owned()),
            Self::Unknown { nearest: None, .. } => {
                Some("`tulving config --help` lists all of them".to_owned())
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
                "make it a file that is yours to read, or choose another home with --home or {HOME}"
            )),
            Self::Alone { missing, .. } => Some(format!("set {missing} too, or neither for plain HTTP")),
            Self::Tls(_) => Some("server.tls_certificate and server.tls_key name the files".to_owned()),
            Self::Backend { .. } => Some(
                "name = \"notes\", role = \"secondary\", command = [\"python3\", \"/path/notes.py\"]"
                    .to_owned(),
            ),
            Self::Registry { source, .. } => Some(source.hint()),
            Self::NoHome => Some(format!("name a folder with --home or {HOME}")),
            _ => None,
        }
    }
}
