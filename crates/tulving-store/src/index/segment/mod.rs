//! A segment: an immutable set of docs with their columns, terms and vectors, in one file or in memory.
//!
//! Segments in memory have exactly the same layout as segments in files, so both get the same scores.

mod bytes;
mod consistency;
mod doc;
mod layout;
mod merge;
mod new_docs;
mod read;
mod sink;
mod tables;
mod terms;
mod vectors;
mod view;
mod write;

pub(super) use doc::{DocDetailFields, NONE, SessionKey, SessionKind, vocabulary};
pub(super) use layout::MAGIC;
pub(super) use merge::MergedSegmentContent;
pub(super) use new_docs::NewSegmentContent;
pub(super) use read::Segment;
pub(super) use terms::Postings;
pub(super) use vectors::DocVectors;
pub(super) use view::{DocCounts, SegmentView};
pub(super) use write::{ChecksumMode, SegmentContent, SegmentWriteError, stride, write};

use super::errors::DamagedIndexFile;

/// Creates a segment in memory.
pub(super) fn held(content: &dyn SegmentContent) -> Result<Segment, DamagedIndexFile> {
    let mut bytes = Vec::new();
    match write(content, &mut bytes, ChecksumMode::None) {
        Ok(()) => Segment::held(&bytes),
        Err(SegmentWriteError::In(damaged)) => Err(damaged),
        Err(SegmentWriteError::Out(_)) => {
            Err(DamagedIndexFile { file: "memory".to_owned(), what: "it could not be written" })
        }
    }
}
