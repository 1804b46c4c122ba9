//! Runs models or calls them over the network. No other crate does this.
//!
//! [`embedder`] makes the embedder of a configuration; the default is [`MiniLm`], which is built in.
//! [`language_model`] makes the language model; by default there is none.

mod address;
mod agent;
mod breaker;
mod embed;
mod llm;
mod retry;
mod secret;
mod service_message;

pub use address::ServiceUrl;
pub use embed::{
    EmbedderConfig, EmbeddingServiceConfig, FolderConfig, FolderReport, HttpEmbedder, MiniLm,
    ModelFolderError, RetryPolicy, TextPrefixes, check_folder, embedder, folder_prompts,
};
pub use llm::{LlmConfig, LlmProvider, language_model};
pub use secret::ApiKey;
