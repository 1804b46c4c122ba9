//! The files that memories describe. A file is stored before its first memory, and deleted after its last memory.
//!
//! A cleanup job deletes a file if no memory describes it. The job is enqueued before the file is stored, and again in
//! the transaction that removes the file from a memory. So if a process is killed at any point, no unused file remains,
//! and every file that a memory still describes stays.

use std::time::Duration;

use crate::model::change::Write;
use crate::model::error::{Error, Field, Invalid};
use crate::model::file;
use crate::model::id::MemoryRef;
use crate::model::job::Job;
use crate::model::memory::Attachment;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::ports::{ObjectKey, ObjectsHold};
use crate::verbs::access::{self, Ports};
use crate::verbs::jobs;

/// Time to wait for the memory of a stored file. A file that has no memory after this time is unused.
pub(crate) const SOON: Duration = Duration::from_secs(600);

/// A file whose memory is not saved yet.
pub(crate) struct UnsavedFile {
    pub(crate) attachment: Attachment,
    /// The job that deletes the file if its memory is never saved.
    drop: Job,
    /// Prevents the deletion of files until the memory is saved.
    hold: ObjectsHold,
}

/// Returns the attachment that a memory of this file would have. Does not store the file.
pub(crate) fn describe(
    ports: &Ports,
    bytes: &[u8],
    media_type: &str,
    name: &str,
) -> Result<Attachment, Error> {
    let (got, limit) = (bytes.len(), ports.limits.attachment_bytes);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::File, got, limit, unit: "bytes" }.into());
    }
    let hash = file::digest(bytes);
    Ok(Attachment {
        object_key: ObjectKey::of(bytes, &hash)?.as_str().to_owned(),
        media_type: media_type.to_owned(),
        size: bytes.len() as u64,
        hash,
        name: Some(name.to_owned()),
        trouble: None,
    })
}

/// Stores a file, and returns it with the attachment for its memory.
pub(crate) fn keep(ports: &Ports, bytes: &[u8], media_type: &str, name: &str) -> Result<UnsavedFile, Error> {
    let attachment = describe(ports, bytes, media_type, name)?;
    ports.store.require_writable()?;
    let hold = ports.objects.keeping()?;
    let now = ports.clock.now();
    let drop = jobs::add(ports, Job { due_at: now.plus(SOON), ..Job::drop_of(&attachment.object_key, now) })?;
    match ports.objects.put(bytes, &attachment.hash) {
        Ok(object_key) => Ok(UnsavedFile { attachment: Attachment { object_key, ..attachment }, drop, hold }),
        Err(error) => {
            std::mem::drop(hold);
            drop_now(ports, drop);
            Err(error.into())
        }
    }
}

impl UnsavedFile {
    /// Removes the cleanup job and the hold after the memory was saved.
    pub(crate) fn stays(self, ports: &Ports) {
        // If this fails, the job runs later, finds the memory and does not delete the file.
        let _ = jobs::remove(ports, self.drop);
    }

    /// Deletes the file, because no memory will be saved.
    pub(crate) fn goes(self, ports: &Ports) {
        drop(self.hold);
        drop_now(ports, self.drop);
    }
}

/// Returns the cleanup job of a file, and the write that enqueues the job. The write belongs in the transaction that
/// removes the file from a memory.
pub(crate) fn leaves(attachment: &Attachment, now: Timestamp) -> (Write, Job) {
    let job = Job::drop_of(&attachment.object_key, now);
    (Write::Enqueue(job.clone()), job)
}

/// Runs a cleanup job at once if possible; otherwise the job runs later.
pub(crate) fn drop_now(ports: &Ports, job: Job) {
    if let Some(key) = job.object()
        && drop_unused(ports, key).is_ok_and(|done| done)
    {
        let _ = jobs::remove(ports, job);
    }
}

/// Deletes a file that no memory describes. Returns false if a file is being stored at the moment, because the use of the
/// file cannot be determined then.
pub(crate) fn drop_unused(ports: &Ports, key: &str) -> Result<bool, Error> {
    let Some(_hold) = ports.objects.removing()? else {
        return Ok(false);
    };
    if !ports.store.is_attached(key)? {
        ports.objects.remove(key)?;
    }
    Ok(true)
}

/// Returns the file that a memory describes.
pub(crate) fn attachment(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
) -> Result<(Attachment, Vec<u8>), Error> {
    let memory = access::find(ports, caller, which)?;
    let attachment = memory.provenance.attachment.ok_or(Error::NoAttachment { which })?;
    let bytes = ports.objects.get(&attachment.object_key)?;
    let bytes = bytes.ok_or_else(|| Error::AttachmentGone { which })?;
    Ok((attachment, bytes))
}
