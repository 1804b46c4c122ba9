//! Checks that the data that memories refer to exists: the attachments and the files of mirrors.
//!
//! The check changes nothing. It reports missing data with the number of its memory, so that the data can be
//! restored.

use std::path::{Component, Path};

use tulving_core::model::error::{ObjectError, StoreError};
use tulving_core::model::integrity::{MemoryAttachment, MirroredMemory, StoreCheckDepth, StoreCheckFinding};
use tulving_core::ports::{IntegrityChecks, Objects};

use crate::objects::ObjectSizes;
use crate::workspace::Workspace;

/// Maximum number of memories that a finding names.
const NAMED: usize = 20;
/// Maximum number of attachments in a bucket that are checked, unless the check is deep: each attachment costs one
/// request over the network.
const ASKED_OF_A_BUCKET: usize = 200;

const BRING_BACK: &str =
    "restore it with `tulving backup restore FILE`, push the file again, or forget the memory";
const FILES_GONE: &str =
    "restore the files, or do nothing: the next recall removes memories whose files are gone";

/// The parts of a home that are compared with each other.
pub struct PresenceCheck<'a> {
    /// The store with the memories.
    pub store: &'a dyn IntegrityChecks,
    /// The workspace, with the files of mirrors.
    pub files: &'a Workspace,
    /// The store of the attachments.
    pub objects: &'a dyn Objects,
    /// Returns the sizes of the attachments, which is cheaper than reading them.
    pub sizes: &'a dyn ObjectSizes,
}

impl PresenceCheck<'_> {
    /// Checks that every attachment and every file exists. A deep check also compares the content of each attachment
    /// with its hash.
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
                // If the store of the attachments does not answer, the other attachments are not requested.
                Err(error) => {
                    let text = format!("they cannot be checked: {error}");
                    let hint = "check that the storage of attachments can be read";
                    findings.push(StoreCheckFinding::warn("attachments", text, hint));
                    break;
                }
            }
        }
        if !faults.is_empty() {
            findings.push(StoreCheckFinding::bad("attachments", named(&faults), BRING_BACK));
        }
        if findings.is_empty() {
            let how = if depth == StoreCheckDepth::Deep { "match their hashes" } else { "are there" };
            let text = match all.len() {
                0 => "no memory has one".to_owned(),
                all if looked_at < all => format!("{looked_at} of {all} {how}; the rest was not checked"),
                all => format!("all of them {how} ({all})"),
            };
            findings.push(StoreCheckFinding::fine("attachments", text));
        }
        findings
    }

    /// Returns a description of the problem of an attachment, or an error if the attachment cannot be checked.
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
            Err(ObjectError::Damaged { .. }) => fault("is damaged: it does not match its hash".to_owned()),
            Err(ObjectError::NotAKey { .. }) => fault("has an invalid key".to_owned()),
            Err(error) => Err(error),
        }
    }

    fn mirrors(&self, all: &[MirroredMemory]) -> StoreCheckFinding {
        let root = self.files.folder();
        let gone = all.iter().filter(|mirrored| !is_file(root, &mirrored.path));
        let gone: Vec<String> =
            gone.map(|mirrored| format!("{}: no file {}", mirrored.memory, mirrored.path)).collect();
        match gone.as_slice() {
            [] if all.is_empty() => StoreCheckFinding::fine("files", "no memory has a file"),
            [] => StoreCheckFinding::fine("files", "the files of all memories exist"),
            gone => StoreCheckFinding::warn("files", named(gone), FILES_GONE),
        }
    }
}

/// Returns true if a file exists at a path below a folder. Returns false for a path that leads out of the folder.
fn is_file(root: &Path, below: &str) -> bool {
    let below = Path::new(below);
    below.components().all(|part| matches!(part, Component::Normal(_))) && root.join(below).is_file()
}

/// Returns the first few names of a list, and the number of the others.
fn named(all: &[String]) -> String {
    let named = all[..all.len().min(NAMED)].join("; ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}
