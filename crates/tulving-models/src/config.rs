//! Which embedder a configuration asks for, and how it is made.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use tulving_core::error::ModelError;
use tulving_core::ports::Embedder;

use crate::embed::{HttpEmbedder, MiniLm, OnnxFolder};
use crate::none::NoModel;
use crate::secret::Secret;

/// Which model turns text into vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbedderConfig {
    /// The one built in.
    #[default]
    BuiltIn,
    /// None: memories are found by their words.
    Off,
    /// An ONNX model with its tokenizer in a folder.
    Folder(PathBuf),
    /// A service that speaks as OpenAI does.
    OpenAi {
        /// What its addresses begin with, up to `/embeddings`.
        base_url: String,
        /// Its name for the model.
        model: String,
        /// The environment variable that holds the key; none where the service asks for none.
        key_env: Option<String>,
    },
    /// Ollama.
    Ollama {
        /// What its addresses begin with, up to `/api`.
        base_url: String,
        /// Its name for the model.
        model: String,
    },
}

/// The embedder that is asked for.
///
/// No model is loaded and no service is called before it is needed; what can be known already, such as a missing file or
/// an unset key, is said here.
pub fn embedder(config: &EmbedderConfig) -> Result<Arc<dyn Embedder>, ModelError> {
    Ok(match config {
        EmbedderConfig::BuiltIn => Arc::new(MiniLm),
        EmbedderConfig::Off => Arc::new(NoModel),
        EmbedderConfig::Folder(folder) => Arc::new(OnnxFolder::open(folder)?),
        EmbedderConfig::OpenAi { base_url, model, key_env } => {
            let key = key_env.as_deref().map(|name| key(model, name)).transpose()?;
            Arc::new(HttpEmbedder::open_ai(base_url, model, key))
        }
        EmbedderConfig::Ollama { base_url, model } => Arc::new(HttpEmbedder::ollama(base_url, model)),
    })
}

fn key(model: &str, name: &str) -> Result<Secret, ModelError> {
    env::var(name).map(Secret::new).map_err(|error| ModelError::Failed {
        model: format!("openai:{model}"),
        why: match error {
            env::VarError::NotPresent => {
                format!("the environment variable {name} should hold its key and is not set")
            }
            env::VarError::NotUnicode(_) => format!("the environment variable {name} is not text"),
        },
    })
}
