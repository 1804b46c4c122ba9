//! What turns text into vectors, as the settings say.

use std::path::PathBuf;
use std::time::Duration;

use tulving_models::{Address, EmbedderConfig, Patience, Service};

/// How long work that nobody asked for may wait for a service, and how long `doctor` tries one.
const HURRY: Duration = Duration::from_secs(3);

/// The settings below `embedding`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Embedding {
    pub(super) provider: Provider,
    pub(super) folder: PathBuf,
    pub(super) base_url: Address,
    pub(super) model: String,
    pub(super) key_variable: String,
    pub(super) time_out: Duration,
}

/// How a model is called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calling {
    /// Whether somebody waits for it.
    pub(crate) patience: Patience,
    /// The model that the store answers with, which a service need not be asked about.
    pub(crate) known: Option<String>,
    /// The file in which processes note that the service did not answer.
    pub(crate) pause_file: Option<PathBuf>,
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Provider {
    #[default]
    BuiltIn,
    Off,
    Folder,
    OpenAi,
    Ollama,
}

impl Embedding {
    /// Whether it was turned off on purpose.
    pub(crate) fn is_off(&self) -> bool {
        self.provider == Provider::Off
    }

    /// Whether it is somebody else who embeds, and may be slow or away.
    pub(crate) fn is_service(&self) -> bool {
        matches!(self.provider, Provider::OpenAi | Provider::Ollama)
    }

    fn service(&self, calling: Calling) -> Result<Service, String> {
        let Calling { patience, known, pause_file } = calling;
        if self.base_url.is_empty() {
            return Err("embedding.base_url is not set".to_owned());
        }
        if self.model.is_empty() {
            return Err("embedding.model is not set".to_owned());
        }
        let time_out = match patience {
            Patience::Patient => self.time_out,
            Patience::Hurried => self.time_out.min(HURRY),
        };
        let (base_url, model) = (self.base_url.clone(), self.model.clone());
        Ok(Service { base_url, model, time_out, patience, known, pause_file })
    }

    /// What the models are asked for, or which setting is missing.
    pub(crate) fn config(&self, calling: Calling) -> Result<EmbedderConfig, String> {
        let key_env = Some(self.key_variable.clone()).filter(|name| !name.is_empty());
        Ok(match self.provider {
            Provider::BuiltIn => EmbedderConfig::BuiltIn,
            Provider::Off => EmbedderConfig::Off,
            Provider::Folder if self.folder.as_os_str().is_empty() => {
                return Err("embedding.folder is not set".to_owned());
            }
            Provider::Folder => EmbedderConfig::Folder(self.folder.clone()),
            Provider::OpenAi => EmbedderConfig::OpenAi { service: self.service(calling)?, key_env },
            Provider::Ollama => EmbedderConfig::Ollama(self.service(calling)?),
        })
    }
}
