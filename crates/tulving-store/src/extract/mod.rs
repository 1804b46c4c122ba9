//! Extracts the text of files that are not plain text. Each file is read in a separate process.
//!
//! A file may be malicious. So [`ChildExtractor`] starts this same program again for each file. The new process limits
//! itself ([`limits`]) before it looks at the file, reads the file ([`read`]), reports the result ([`wire`]) and ends. A
//! malicious file can only affect the result for that file.

mod child;
mod limits;
mod parent;
mod read;
mod wire;

pub use child::{ChildTask, run_child};
pub use limits::ExtractLimits;
pub use parent::ChildExtractor;
