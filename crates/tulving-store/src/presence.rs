//! Checks that the data that memories refer to is there: the attachments in their place, and the files of mirrors.
//!
//! Nothing is changed. Missing data is reported with the number of its memory, so that somebody can restore it.

use std::path::{Component, Path};

use tulving_core::model::checkup::{MemoryAttachment, MirroredMemory, StoreCheckDepth, StoreCheckFinding};
use tulving_core::model::error::{ObjectError, StoreError};
use tulving_core::ports::{Checkup, Objects};

use crate::objects::ObjectSizes;
use crate::workspace::Workspace;

/// Number of memories of one kind that are named.
const NAMED: usize = 20;
/// Number of attachments in a bucket that are checked unless the check is deep: each is a request over the network.
const ASKED_OF_A_BUCKET: usize = 200;

const BRING_BACK: &str = "`tulving backup restore FILE` brings back what a backup has; else push the file again, or forget the memory";
const FILES_GONE: &str =
    "bring the files back, or do nothing: the next recall removes what is in no file any more";

/// The parts of a home that are compared with each other.
pub struct PresenceCheck<'a> {
    /// The memories.
    pub store: &'a dyn Checkup,
    /// The files that people can read.
    pub files: &'a Workspace,
    /// The attachments.
    pub objects: &'a dyn Objects,
    /// The sizes of the attachments, which are cheap to get.
    pub sizes: &'a dyn ObjectSizes,
}

impl PresenceCheck<'_> {
    /// Looks for every attachment and every file. A deep check also compares each attachment with its hash.
    pub fn look(&self, depth: StoreCheckDepth) -> Result<Vec<StoreCheckFinding>, StoreError> {
        let attachments = self.attachments(&self.store.memories_with_attachments()?, depth);
        let files = self.mirrors(&self.store.mirrored_memories()?);
        Ok(attachments.into_iter().chain([files]).collect())
    }

    fn attachments(&self, all: &[MemoryAttachment], depth: StoreCheckDepth) -> Vec<StoreCheckFinding> {
        let bound = match depth == StoreCheckDepth::Usual && self.sizes.is_remote() {
            true => ASKED_OF_A_BUCKET,
            false => usize::MAX,
        };
        let (mut faults, mut looked_at, mut findings) = (Vec::new(), 0, Vec::new());
        for attached in all.iter().take(bound) {
            match self.fault(attached, depth) {
                Ok(fault) => {
                    looked_at += 1;
                    faults.extend(fault);
                }
                // A place that does not answer is not asked again for each attachment.
                Err(error) => {
                    let text = format!("they cannot be looked at: {error}");
                    let hint = "see that the place of attachments can be read";
                    findings.push(StoreCheckFinding::warn("attachments", text, hint));
                    break;
                }
            }
        }
        if !faults.is_empty() {
            findings.push(StoreCheckFinding::bad("attachments", named(&faults), BRING_BACK));
        }
        if findings.is_empty() {
            let how = if depth == StoreCheckDepth::Deep { "are what their hashes say" } else { "are there" };
            let text = match all.len() {
                0 => "no memory has one".to_owned(),
                all if looked_at < all => format!("{looked_at} of {all} {how}; the rest was not looked at"),
                all => format!("all of them {how} ({all})"),
            };
            findings.push(StoreCheckFinding::fine("attachments", text));
        }
        findings
    }

    /// Returns the problem of an attachment, or an error if it cannot be checked.
    fn fault(
        &self,
        attached: &MemoryAttachment,
        depth: StoreCheckDepth,
    ) -> Result<Option<String>, ObjectError> {
        let fault = |what: String| Ok(Some(format!("{}: its file {} {what}", attached.memory, attached.key)));
        let found = match depth {
            StoreCheckDepth::Usual => self.sizes.size(&attached.key),
            StoreCheckDepth::Deep => {
                self.objects.get(&attached.key).map(|found| found.map(|bytes| bytes.len() as u64))
            }
        };
        match found {
            Ok(None) => fault("is missing".to_owned()),
            Ok(Some(size)) if size != attached.size => {
                fault(format!("has {size} bytes instead of {}", attached.size))
            }
            Ok(Some(_)) => Ok(None),
            Err(ObjectError::Damaged { .. }) => fault("is damaged: it is not what its hash says".to_owned()),
            Err(ObjectError::NotAKey { .. }) => fault("has no key that names a file".to_owned()),
            Err(error) => Err(error),
        }
    }

    fn mirrors(&self, all: &[MirroredMemory]) -> StoreCheckFinding {
        let root = self.files.folder();
        let gone = all.iter().filter(|mirrored| !is_file(root, &mirrored.path));
        let gone: Vec<String> =
            gone.map(|mirrored| format!("{}: no file {}", mirrored.memory, mirrored.path)).collect();
        match gone.as_slice() {
            [] if all.is_empty() => StoreCheckFinding::fine("files", "no memory is of a file"),
            [] => StoreCheckFinding::fine("files", "every memory that is of a file has it"),
            gone => StoreCheckFinding::warn("files", named(gone), FILES_GONE),
        }
    }
}

/// Returns true if there is a file at a path below a folder. A path that leads out of it has none.
fn is_file(root: &Path, below: &str) -> bool {
    let below = Path::new(below);
    below.components().all(|part| matches!(part, Component::Normal(_))) && root.join(below).is_file()
}

/// The first few of many, and their number.
fn named(all: &[String]) -> String {
    let named = all[..all.len().min(NAMED)].join("; ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}
