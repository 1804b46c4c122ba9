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
pub use clock::{Clock, ClockPause, PausableClock, SystemClock};
pub use copies::{Copies, CopyProgress, PreparedRestore, Rescue, RestoreSteps};
pub use extractor::{ExtractedText, Extractor, NoExtractor};
pub use files::{Files, From, NoFiles};
pub use index::Index;
pub use llm::{LanguageModel, NoLanguageModel};
pub use models::{Embedder, first_vector};
pub use objects::{NoObjects, ObjectKey, Objects, ObjectsHold};
pub use store::{
    Aging, ApplyLoad, Claims, Directory, DuplicateQuery, Feed, Imports, Jobs, LoadWork, Log, Memories,
    Mirrors, Passes, ReadLimit, Stage, Store, Transfer, Usages,
};
pub use upkeep::{IntegrityChecks, Upkeep};
