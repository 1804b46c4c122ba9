//! Runs or calls models. The only crate that does.
//!
//! [`embedder`] makes the embedder of a configuration; the default is [`MiniLm`], which is built in.
//! [`language_model`] makes the language model; by default there is none.

mod address;
mod agent;
mod breaker;
mod config;
mod embed;
mod llm;
mod none;
mod retry;
mod said;
mod secret;

pub use address::ServiceUrl;
pub use config::{EmbedderConfig, EmbeddingServiceConfig, RetryPolicy, embedder};
pub use embed::{HttpEmbedder, MiniLm};
pub use llm::{LlmConfig, LlmProvider, language_model};
pub use secret::ApiKey;
