//! Runs or calls models. The only crate that does.
//!
//! [`embedder`] makes the embedder that a configuration asks for; without any it is [`MiniLm`], which is built in.
//! [`language_model`] makes the language model; without any there is none.

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

pub use address::Address;
pub use config::{EmbedderConfig, Patience, Service, embedder};
pub use embed::{HttpEmbedder, MiniLm};
pub use llm::{LlmConfig, LlmProvider, language_model};
pub use secret::Secret;
