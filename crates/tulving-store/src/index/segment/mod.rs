//! A segment: an immutable set of docs with their columns, terms and vectors, in one file or in memory.
//!
//! What a process holds in memory is in the very same form as what is in files, so both score alike by construction.

mod bytes;
mod doc;
mod fresh;
mod layout;
mod merge;
mod read;
mod sink;
mod sound;
mod tables;
mod terms;
mod vectors;
mod view;
mod write;

pub(super) use doc::{Details, Key, NONE, SessionKind, vocabulary};
pub(super) use fresh::Fresh;
pub(super) use layout::MAGIC;
pub(super) use merge::Merged;
pub(super) use read::Segment;
pub(super) use terms::Postings;
pub(super) use vectors::Vectors;
pub(super) use view::{Tally, View};
pub(super) use write::{Checks, Content, WriteError, stride, write};

use super::trouble::Damaged;

/// A segment in memory.
pub(super) fn held(content: &dyn Content) -> Result<Segment, Damaged> {
    let mut bytes = Vec::new();
    match write(content, &mut bytes, Checks::None) {
        Ok(()) => Segment::held(&bytes),
        Err(WriteError::In(damaged)) => Err(damaged),
        Err(WriteError::Out(_)) => {
            Err(Damaged { file: "memory".to_owned(), what: "it could not be written" })
        }
    }
}
