//! Reads the text out of files that are not text, in a process of its own for each file.
//!
//! A file may come from anybody and be made to harm. So [`ChildExtractor`] starts this very program once more, which limits
//! itself ([`limits`]) before it looks at the file, reads it ([`read`]), says what it found ([`wire`]) and ends. Whatever the file does
//! to it costs that file and nothing else.

mod child;
mod limits;
mod parent;
mod read;
mod wire;

pub use child::{ChildTask, run_child};
pub use limits::Limits;
pub use parent::ChildExtractor;
