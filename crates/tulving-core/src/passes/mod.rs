//! Work in the background that reads what was said and says what is to be saved.
//!
//! A pass gets text and gives requests. It holds no store and no model: the engine asks and saves, by the path of every save.

pub(crate) mod consolidate;
mod grounded;
pub(crate) mod model;
pub(crate) mod proactive;
pub(crate) mod records;
pub(crate) mod shadow;

pub use self::consolidate::{Consolidated, Consolidation};
pub use self::proactive::Gleaned;
