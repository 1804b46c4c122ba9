//! The traits that other crates fill. Their contract is in their docs, and the suites of the test kit hold it.

mod backend;
mod clock;
mod files;
mod index;
mod models;
mod store;

pub use backend::Backend;
pub use clock::{Clock, SystemClock};
pub use files::{Files, From, NoFiles};
pub use index::Index;
pub use models::Embedder;
pub use store::{Claims, Directory, Feed, Jobs, Log, Memories, Mirrors, Probe, Store, Transfer};
