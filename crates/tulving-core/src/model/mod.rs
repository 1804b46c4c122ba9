//! The plain data of Tulving: memories, spaces, requests, answers and errors.
//!
//! These types make no decisions and do no I/O. Every other folder uses them.

pub mod answer;
pub mod association;
pub mod audit;
pub mod backend;
pub mod change;
pub mod claim;
pub mod copy;
pub mod error;
pub mod file;
pub mod foreign;
pub mod id;
pub mod integrity;
pub mod job;
pub mod life;
pub mod limits;
pub mod llm;
pub mod memory;
pub mod pass;
pub mod record;
pub mod request;
mod schema;
pub mod score;
pub mod search;
pub mod space;
pub mod turn;

pub use tulving_text::{preview, time, vocabulary};
