//! Joins the parts of attachments and files in a dump, and writes the files.

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use crate::model::error::{Error, FileError, Invalid, ObjectError};
use crate::model::file::{self, FilePath, Folder};
use crate::model::job::Job;
use crate::model::limits;
use crate::model::record::{PartRecord, Record};
use crate::model::space::Space;
use crate::ports::{From, ObjectKey, ObjectsHold, Stage};
use crate::verbs::access::Ports;
use crate::verbs::jobs;
use crate::verbs::objects;

use super::report::LoadReport;

/// Checks that the parts of each attachment or file are complete, in order and match their hash.
#[derive(Debug, Default)]
pub(super) struct DumpPartChecker {
    under_way: Option<(String, PartRecord, Sha256)>,
}

impl DumpPartChecker {
    /// Checks a part of the item `what`.
    pub(super) fn check(&mut self, what: &str, part: &PartRecord) -> Result<(), String> {
        let bytes = bytes(part)?;
        let (known, mut last, mut digest) = match self.under_way.take() {
            None => (what.to_owned(), PartRecord { offset: 0, ..part.clone() }, Sha256::new()),
            Some(under_way) => under_way,
        };
        if known != what || (last.size, &last.hash, last.offset) != (part.size, &part.hash, part.offset) {
            return Err(format!("a part of the {known} is missing"));
        }
        digest.update(&bytes);
        last.offset += bytes.len() as u64;
        last.data.clear();
        if last.offset < part.size && !bytes.is_empty() {
            self.under_way = Some((known, last, digest));
            return Ok(());
        }
        let hash = data_encoding::HEXLOWER.encode(&digest.finalize());
        match last.offset == part.size && hash == part.hash {
            true => Ok(()),
            false => Err(format!("the {known} does not match its hash")),
        }
    }

    /// Returns an error if an item is incomplete.
    pub(super) fn require_whole(&self) -> Result<(), String> {
        match &self.under_way {
            Some((what, ..)) => Err(format!("a part of the {what} is missing")),
            None => Ok(()),
        }
    }
}

/// Decodes the bytes of a part.
pub(super) fn bytes(part: &PartRecord) -> Result<Vec<u8>, String> {
    if part.size > limits::DUMPED_FILE_BYTES {
        return Err(format!("it has {} bytes, more than a load accepts for one file", part.size));
    }
    BASE64.decode(part.data.as_bytes()).map_err(|_| "its data is not base64".to_owned())
}

/// Adds a part to the parts before it. Returns the joined bytes after the last part, and `None` before.
pub(super) fn joined(before: &mut Vec<u8>, line: u64, part: &PartRecord) -> Result<Option<Vec<u8>>, Error> {
    let more = bytes(part).map_err(|why| Invalid::DumpLine { line, why })?;
    before.extend(more);
    let is_whole = before.len() as u64 == part.size;
    Ok(is_whole.then(|| std::mem::take(before)))
}

/// Attachments stored for memories that are about to be loaded.
///
/// Like every attachment they are stored before the memories. A job enqueued earlier deletes those that no memory
/// describes, even after a crash or if the load is refused.
#[derive(Default)]
pub(super) struct LoadedAttachments {
    hold: Option<ObjectsHold>,
    drops: Vec<Job>,
    pub(super) added: u64,
    pub(super) present: u64,
}

impl LoadedAttachments {
    /// Stores all staged attachments.
    pub(super) fn keep(&mut self, parts: &Ports, stage: &mut dyn Stage) -> Result<(), Error> {
        self.hold = Some(parts.objects.keeping()?);
        let mut before = Vec::new();
        while let Some((line, record)) = stage.next()? {
            let Record::Attachment(part) = record else { continue };
            let Some(bytes) = joined(&mut before, line, &part)? else { continue };
            let key = ObjectKey::of(&bytes, &part.hash)?;
            let is_here = match parts.objects.get(key.as_str()) {
                Ok(found) => found.is_some(),
                // A damaged object is replaced.
                Err(ObjectError::Damaged { .. }) => false,
                Err(error) => return Err(error.into()),
            };
            if is_here {
                self.present += 1;
                continue;
            }
            let now = parts.clock.now();
            let drop = Job { due_at: now.plus(objects::SOON), ..Job::drop_of(key.as_str(), now) };
            self.drops.push(jobs::add(parts, drop)?);
            parts.objects.put(&bytes, &part.hash)?;
            self.added += 1;
        }
        Ok(())
    }

    /// Deletes the stored attachments that no memory describes.
    pub(super) fn release(self, parts: &Ports) {
        drop(self.hold);
        for job in self.drops {
            objects::drop_now(parts, job);
        }
    }
}

/// A file that a load has created.
pub(super) struct LoadedFile {
    path: FilePath,
    digest: [u8; 32],
}

/// Writes a file of a dump into the folder of its space. An existing file stays unchanged.
pub(super) fn write(
    parts: &Ports,
    space: &Space,
    (line, name): (u64, &str),
    content: &[u8],
    made: &mut Vec<LoadedFile>,
    report: &mut LoadReport,
) -> Result<(), Error> {
    let path = FilePath::kept(&Folder::of(space), name)
        .map_err(|invalid| Invalid::DumpLine { line, why: invalid.to_string() })?;
    match parts.files.read(&path, limits::DUMPED_FILE_BYTES) {
        Ok(Some(here)) if here.bytes == content => report.files_present += 1,
        Ok(Some(_)) | Err(FileError::TooLarge { .. }) => report.files_differ.push(path.to_string()),
        Ok(None) => match parts.files.create(&path, content) {
            Ok(()) => {
                let digest = Sha256::digest(content).into();
                made.push(LoadedFile { path, digest });
                report.files += 1;
            }
            Err(FileError::NoWorkspace) => {
                report.missing.push((format!("file {path}"), FileError::NoWorkspace.to_string()));
            }
            Err(error) => return Err(error.into()),
        },
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Removes files that a refused load had created, unless somebody has changed them since.
pub(super) fn unmake(parts: &Ports, made: Vec<LoadedFile>) {
    for LoadedFile { path, digest } in made {
        // The load has already failed, and that error is reported.
        let _ = parts.files.remove(&path, From::Digest(digest));
    }
}

/// Returns true if the text has the form of an attachment's hash.
pub(super) fn is_hash(text: &str) -> bool {
    text.len() == file::HASH_CHARS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
