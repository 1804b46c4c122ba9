//! Which embedder a configuration asks for, and how it is made.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tulving_core::error::ModelError;
use tulving_core::ports::Embedder;

use crate::address::Address;
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
        /// Which; its addresses begin with what is before `/embeddings`.
        service: Service,
        /// The environment variable that holds the key; none where the service asks for none.
        key_env: Option<String>,
    },
    /// Ollama; its addresses begin with what is before `/api`.
    Ollama(Service),
}

/// A model behind an address, and how it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// What its addresses begin with.
    pub base_url: Address,
    /// Its name for the model.
    pub model: String,
    /// How long an answer may take.
    pub time_out: Duration,
    /// Whether somebody waits for what is asked.
    pub patience: Patience,
    /// The id of a model that is taken to be this one, where it is of the same name and place: its dimensions need not
    /// be asked for.
    pub known: Option<String>,
    /// The file in which all processes note that the service did not answer; `None` where each finds out for itself.
    pub pause_file: Option<PathBuf>,
}

/// How much an answer is worth waiting for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// Each request may take as long as was said, and is made again where that may help.
    #[default]
    Patient,
    /// All requests for one answer together may take as long as was said, and none is made again.
    Hurried,
}

impl Service {
    /// How long a service is waited for where nothing else is said.
    pub const TIME_OUT: Duration = Duration::from_secs(30);

    /// A model at this address, called as is usual.
    pub fn new(base_url: &str, model: &str) -> Self {
        Self {
            base_url: Address::new(base_url),
            model: model.to_owned(),
            time_out: Self::TIME_OUT,
            patience: Patience::Patient,
            known: None,
            pause_file: None,
        }
    }
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
        EmbedderConfig::OpenAi { service, key_env } => {
            let key = key_env.as_deref().map(|name| key(&service.model, name)).transpose()?;
            Arc::new(HttpEmbedder::open_ai(service.clone(), key))
        }
        EmbedderConfig::Ollama(service) => Arc::new(HttpEmbedder::ollama(service.clone())),
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
