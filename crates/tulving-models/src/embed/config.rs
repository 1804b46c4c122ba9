//! The configuration of the embedder, and the embedder made from it.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;

use super::none::NoModel;
use super::onnx::OnnxFolder;
use super::{HttpEmbedder, MiniLm, TextPrefixes};
use crate::address::ServiceUrl;
use crate::secret::ApiKey;

/// The model that turns text into vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderConfig {
    /// The built-in model.
    #[default]
    BuiltIn,
    /// No model: memories are found by their words.
    Off,
    /// An ONNX model with its tokenizer in a folder.
    Folder(FolderConfig),
    /// A service with the protocol of OpenAI.
    OpenAi {
        /// The service; its base address is the part before `/embeddings`.
        service: EmbeddingServiceConfig,
        /// The environment variable with the key; `None` if the service needs no key.
        key_env: Option<String>,
    },
    /// Ollama; its base address is the part before `/api`.
    Ollama(EmbeddingServiceConfig),
}

/// A model in a folder, and the way to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderConfig {
    /// The folder.
    pub folder: PathBuf,
    /// The prefixes of the texts.
    pub prefixes: TextPrefixes,
    /// The file in which processes record the hash of the model's files; `None` if each process must compute the hash.
    pub hash_file: Option<PathBuf>,
}

impl FolderConfig {
    /// Creates the configuration of the model in this folder, without prefixes.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), prefixes: TextPrefixes::default(), hash_file: None }
    }
}

/// A model behind an address, and the way to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingServiceConfig {
    /// The base of its addresses.
    pub base_url: ServiceUrl,
    /// Its name for the model.
    pub model: String,
    /// The prefixes of the texts.
    pub prefixes: TextPrefixes,
    /// The time limit for an answer.
    pub time_out: Duration,
    /// Selects retries and the meaning of the time limit.
    pub patience: RetryPolicy,
    /// The id of a known model. If the id has the name and the host of this model, its number of dimensions is used
    /// without calling the service.
    pub known: Option<String>,
    /// The file in which all processes record that the service did not answer; `None` if each process must detect this
    /// itself.
    pub pause_file: Option<PathBuf>,
}

/// Selects retries and the meaning of the time limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryPolicy {
    /// The time limit applies to each request, and a request is retried if a retry may help.
    #[default]
    Patient,
    /// The time limit applies to all requests for an answer together, and no request is retried.
    Hurried,
}

impl EmbeddingServiceConfig {
    /// The default time limit for an answer.
    pub const TIME_OUT: Duration = Duration::from_secs(30);

    /// Creates the configuration of a model at this address, with default settings.
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: ServiceUrl::new(base_url),
            model: model.to_owned(),
            prefixes: TextPrefixes::default(),
            time_out: Self::TIME_OUT,
            patience: RetryPolicy::Patient,
            known: None,
            pause_file: None,
        }
    }
}

/// Creates the embedder for a configuration.
///
/// Models are loaded and services are called only when they are needed. Errors that can be detected at once, such as a
/// missing file or an unset key, are returned by this call.
pub fn embedder(config: &EmbedderConfig) -> Result<Arc<dyn Embedder>, ModelError> {
    Ok(match config {
        EmbedderConfig::BuiltIn => Arc::new(MiniLm),
        EmbedderConfig::Off => Arc::new(NoModel),
        EmbedderConfig::Folder(config) => Arc::new(OnnxFolder::open(config.clone())?),
        EmbedderConfig::OpenAi { service, key_env } => {
            let key = key_env.as_deref().map(|name| key(&service.model, name)).transpose()?;
            Arc::new(HttpEmbedder::open_ai(service.clone(), key))
        }
        EmbedderConfig::Ollama(service) => Arc::new(HttpEmbedder::ollama(service.clone())),
    })
}

fn key(model: &str, name: &str) -> Result<ApiKey, ModelError> {
    env::var(name).map(ApiKey::new).map_err(|error| ModelError::Failed {
        model: format!("openai:{model}"),
        why: match error {
            env::VarError::NotPresent => {
                format!("the environment variable {name} should contain its key but is not set")
            }
            env::VarError::NotUnicode(_) => format!("the environment variable {name} is not text"),
        },
    })
}
