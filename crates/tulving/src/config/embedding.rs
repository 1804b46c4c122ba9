//! The settings of the embedding model.

use std::path::PathBuf;
use std::time::Duration;

use tulving_models::{
    EmbedderConfig, EmbeddingServiceConfig, FolderConfig, RetryPolicy, ServiceUrl, TextPrefixes,
};

/// Time limit of a service for the work of a command after its answer, and for `doctor`.
const HURRY: Duration = Duration::from_secs(3);

/// The settings below `embedding`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EmbeddingSettings {
    pub(super) provider: EmbeddingProvider,
    pub(super) folder: PathBuf,
    pub(super) prefixes: TextPrefixes,
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
    /// The file in which processes record the hashes of models in folders.
    pub(crate) hash_file: Option<PathBuf>,
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

    /// The name of the provider, as in the settings.
    pub(crate) fn provider(&self) -> &'static str {
        match self.provider {
            EmbeddingProvider::BuiltIn => "built-in",
            EmbeddingProvider::Off => "off",
            EmbeddingProvider::Folder => "folder",
            EmbeddingProvider::OpenAi => "openai",
            EmbeddingProvider::Ollama => "ollama",
        }
    }

    /// The place of the model, for people: its folder, or its name at the service; `None` for the built-in model.
    pub(crate) fn place(&self) -> Option<String> {
        match self.provider {
            EmbeddingProvider::BuiltIn | EmbeddingProvider::Off => None,
            EmbeddingProvider::Folder => Some(self.folder.display().to_string()),
            EmbeddingProvider::OpenAi | EmbeddingProvider::Ollama => {
                Some(format!("{} at {}", self.model, self.base_url))
            }
        }
    }

    /// The prefixes of the texts. The built-in model has none.
    pub(crate) fn prefixes(&self) -> TextPrefixes {
        match self.provider {
            EmbeddingProvider::BuiltIn | EmbeddingProvider::Off => TextPrefixes::default(),
            EmbeddingProvider::Folder | EmbeddingProvider::OpenAi | EmbeddingProvider::Ollama => {
                self.prefixes.clone()
            }
        }
    }

    fn service(&self, calling: EmbeddingCallOptions) -> Result<EmbeddingServiceConfig, String> {
        let EmbeddingCallOptions { patience, known, pause_file, .. } = calling;
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
        let (base_url, model, prefixes) = (self.base_url.clone(), self.model.clone(), self.prefixes.clone());
        Ok(EmbeddingServiceConfig { base_url, model, prefixes, time_out, patience, known, pause_file })
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
            EmbeddingProvider::Folder => EmbedderConfig::Folder(FolderConfig {
                folder: self.folder.clone(),
                prefixes: self.prefixes.clone(),
                hash_file: calling.hash_file,
            }),
            EmbeddingProvider::OpenAi => EmbedderConfig::OpenAi { service: self.service(calling)?, key_env },
            EmbeddingProvider::Ollama => EmbedderConfig::Ollama(self.service(calling)?),
        })
    }
}
