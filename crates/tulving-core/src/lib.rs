//! The core of Tulving: what a memory is, how it is saved and found again, and who may see it.
//!
//! It decides and touches nothing: no database, no disk, no network, no model. What it needs of the world it asks
//! through the [`ports`], which other crates fill. [`Engine`] is the front door, with one method for each verb.

pub mod adopt;
pub mod answer;
pub mod association;
pub mod audit;
pub mod backend;
pub mod change;
pub mod claim;
pub mod classify;
pub mod error;
pub mod file;
pub mod foreign;
pub mod id;
pub mod import;
pub mod job;
pub mod journal;
pub mod lifecycle;
pub mod limits;
pub mod memory;
pub mod ports;
pub mod preview;
pub mod rank;
pub mod record;
pub mod request;
pub mod score;
pub mod search;
pub mod space;
pub mod text;
pub mod time;
pub mod turn;
pub mod vocabulary;

mod access;
mod associate;
mod backends;
mod briefing;
mod conversation;
mod directory;
mod edit;
mod embedding;
mod engine;
mod follow;
mod forget;
mod history;
mod jobs;
mod objects;
mod once;
mod passes;
mod process;
mod push;
mod read;
mod recall;
mod related;
mod relocate;
mod review;
mod save;
mod standing;
mod touch;
mod transfer;

pub use access::Parts;
pub use backends::{BackendEntry, Backends, Keeps};
pub use embedding::{Embedded, Failed};
pub use engine::Engine;
pub use error::Error;
pub use passes::Gleaned;
pub use process::Processed;
pub use push::Document;
pub use transfer::{LeftOut, Loading};
