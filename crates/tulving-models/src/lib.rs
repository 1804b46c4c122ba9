//! Runs or calls models. The only crate that does.
//!
//! [`embedder`] makes the one that a configuration asks for; without any it is [`MiniLm`], which is built in.

mod address;
mod config;
mod embed;
mod none;
mod retry;
mod secret;

pub use address::Address;
pub use config::{EmbedderConfig, Patience, Service, embedder};
pub use embed::{HttpEmbedder, MiniLm, OnnxFolder};
pub use none::NoModel;
pub use secret::Secret;
