//! Extracts the text of files that are not text, in a separate process for each file.
//!
//! A file may come from anybody and be malicious. So [`ChildExtractor`] starts this same program again, which limits itself
//! ([`limits`]) before it looks at the file, reads it ([`read`]), reports the result ([`wire`]) and ends. Any harm that the file
//! does is limited to that file.

mod child;
mod limits;
mod parent;
mod read;
mod wire;

pub use child::{ChildTask, run_child};
pub use limits::ExtractLimits;
pub use parent::ChildExtractor;
