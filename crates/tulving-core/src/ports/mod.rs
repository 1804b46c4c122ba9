//! The traits that other crates implement. The documentation of each trait is a contract, which the test kit checks.

mod backend;
mod clock;
mod copies;
mod extractor;
mod files;
mod index;
mod llm;
mod models;
mod objects;
mod store;
mod upkeep;

pub use backend::Backend;
pub use clock::{Clock, Held, HeldClock, SystemClock};
pub use copies::{Copies, CopyProgress, PreparedRestore, Rescue, RestoreSteps};
pub use extractor::{Extracted, Extractor, NoExtractor};
pub use files::{Files, From, NoFiles};
pub use index::Index;
pub use llm::{LanguageModel, NoLanguageModel};
pub use models::Embedder;
pub use objects::{Hold, NoObjects, ObjectKey, Objects};
pub use store::{
    Aging, ApplyLoad, Claims, Directory, Extent, Feed, Imports, Jobs, LoadWork, Log, Memories, Mirrors,
    Passes, Probe, Stage, Store, Transfer, Usages,
};
pub use upkeep::{Checkup, Upkeep};
