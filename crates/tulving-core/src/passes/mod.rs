//! Work in the background that reads what was said and says what is to be saved.
//!
//! A pass gets text and gives requests. It holds no store and no model: the engine asks and saves, by the path of every save.

mod grounded;
pub(crate) mod model;
pub(crate) mod proactive;
pub(crate) mod shadow;

pub use self::proactive::Gleaned;
