//! Runs or calls models. The only crate that does.

mod none;

pub use none::NoModel;
