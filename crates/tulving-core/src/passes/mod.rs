//! Work in the background that reads what was said and says what is to be saved.
//!
//! A pass gets text and gives requests. It holds no store: the engine saves, by the path of every save.

pub(crate) mod consolidate;
pub(crate) mod proactive;
pub(crate) mod records;

pub use self::consolidate::{Consolidated, Consolidation};
pub use self::proactive::Gleaned;
