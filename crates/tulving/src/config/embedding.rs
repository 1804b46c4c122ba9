//! The settings of the embedding model.

use std::path::PathBuf;
use std::time::Duration;

use tulving_models::{EmbedderConfig, EmbeddingServiceConfig, RetryPolicy, ServiceUrl};

/// Time limit of a service for the work of a command after its answer, and for `doctor`.
const HURRY: Duration = Duration::from_secs(3);

/// The settings below `embedding`.
#[derive(Clone, Debug, Default)]
pub(crate) struct EmbeddingSettings {
    pub(super) provider: EmbeddingProvider,
    pub(super) folder: PathBuf,
    pub(super) base_url: ServiceUrl,
    pub(super) model: String,
    pub(super) key_variable: String,
    pub(super) time_out: Duration,
}

/// The way to call a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct EmbeddingCallOptions {
    /// The retries, and what the time limit applies to. `doctor`, and the work of a command after its answer, use the
    /// hurried policy.
    pub(crate) patience: RetryPolicy,
    /// The model whose vectors the store uses for recall. If this model is known, the service need not be called for its
    /// name.
    pub(crate) known: Option<String>,
    /// The file in which processes note that the service did not answer.
    pub(crate) pause_file: Option<PathBuf>,
}

/// The source of vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EmbeddingProvider {
    #[default]
    BuiltIn,
    Off,
    Folder,
    OpenAi,
    Ollama,
}

impl EmbeddingSettings {
    /// True if the user turned embedding off.
    pub(crate) fn is_off(&self) -> bool {
        self.provider == EmbeddingProvider::Off
    }

    /// True if a service computes the vectors. A service may be slow or unreachable.
    pub(crate) fn is_service(&self) -> bool {
        matches!(self.provider, EmbeddingProvider::OpenAi | EmbeddingProvider::Ollama)
    }

    fn service(&self, calling: EmbeddingCallOptions) -> Result<EmbeddingServiceConfig, String> {
        let EmbeddingCallOptions { patience, known, pause_file } = calling;
        if self.base_url.is_empty() {
            return Err("embedding.base_url is not set".to_owned());
        }
        if self.model.is_empty() {
            return Err("embedding.model is not set".to_owned());
        }
        let time_out = match patience {
            RetryPolicy::Patient => self.time_out,
            RetryPolicy::Hurried => self.time_out.min(HURRY),
        };
        let (base_url, model) = (self.base_url.clone(), self.model.clone());
        Ok(EmbeddingServiceConfig { base_url, model, time_out, patience, known, pause_file })
    }

    /// Returns the configuration for the models, or the setting that is missing.
    pub(crate) fn config(&self, calling: EmbeddingCallOptions) -> Result<EmbedderConfig, String> {
        let key_env = Some(self.key_variable.clone()).filter(|name| !name.is_empty());
        Ok(match self.provider {
            EmbeddingProvider::BuiltIn => EmbedderConfig::BuiltIn,
            EmbeddingProvider::Off => EmbedderConfig::Off,
            EmbeddingProvider::Folder if self.folder.as_os_str().is_empty() => {
                return Err("embedding.folder is not set".to_owned());
            }
            EmbeddingProvider::Folder => EmbedderConfig::Folder(self.folder.clone()),
            EmbeddingProvider::OpenAi => EmbedderConfig::OpenAi { service: self.service(calling)?, key_env },
            EmbeddingProvider::Ollama => EmbedderConfig::Ollama(self.service(calling)?),
        })
    }
}
