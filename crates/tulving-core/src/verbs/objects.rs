//! The files that memories describe: stored before the memory, deleted after the last memory of them.
//!
//! A job that deletes the file if no memory needs it is enqueued before the file is stored, and in the transaction that
//! takes it from its last memory. So nothing is left behind, wherever a process is killed, and no file is deleted that a
//! memory still has.

use std::time::Duration;

use crate::model::change::Write;
use crate::model::error::{Error, Field, Invalid};
use crate::model::file;
use crate::model::id::MemoryRef;
use crate::model::job::Job;
use crate::model::memory::Attachment;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::ports::{Hold, ObjectKey};
use crate::verbs::access::{self, Ports};
use crate::verbs::jobs;

/// Time after which a stored file without a memory will never get one.
pub(crate) const SOON: Duration = Duration::from_secs(600);

/// A file whose memory is not saved yet.
pub(crate) struct Kept {
    pub(crate) attachment: Attachment,
    /// Deletes the file if its memory never comes.
    drop: Job,
    /// Keeps everybody from deleting files meanwhile.
    hold: Hold,
}

/// Describes a file as a memory of it would. Nothing is kept.
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

/// Keeps a file, and says what a memory says of it.
pub(crate) fn keep(ports: &Ports, bytes: &[u8], media_type: &str, name: &str) -> Result<Kept, Error> {
    let attachment = describe(ports, bytes, media_type, name)?;
    ports.store.require_writable()?;
    let hold = ports.objects.keeping()?;
    let now = ports.clock.now();
    let drop = jobs::add(ports, Job { due_at: now.plus(SOON), ..Job::drop_of(&attachment.object_key, now) })?;
    match ports.objects.put(bytes, &attachment.hash) {
        Ok(object_key) => Ok(Kept { attachment: Attachment { object_key, ..attachment }, drop, hold }),
        Err(error) => {
            std::mem::drop(hold);
            drop_now(ports, drop);
            Err(error.into())
        }
    }
}

impl Kept {
    /// Ends the wait after the memory was saved.
    pub(crate) fn stays(self, ports: &Ports) {
        // If the process is killed before this, the job stays and finds the memory.
        let _ = jobs::remove(ports, self.drop);
    }

    /// Deletes the file, because no memory will be saved.
    pub(crate) fn goes(self, ports: &Ports) {
        drop(self.hold);
        drop_now(ports, self.drop);
    }
}

/// Returns the write that enqueues the deletion of a file, and its job, for the transaction that takes the file from a
/// memory.
pub(crate) fn leaves(attachment: &Attachment, now: Timestamp) -> (Write, Job) {
    let job = Job::drop_of(&attachment.object_key, now);
    (Write::Enqueue(job.clone()), job)
}

/// Runs such a job at once if possible; otherwise it runs later.
pub(crate) fn drop_now(ports: &Ports, job: Job) {
    if let Some(key) = job.object()
        && drop_unused(ports, key).is_ok_and(|done| done)
    {
        let _ = jobs::remove(ports, job);
    }
}

/// Deletes a file that no memory describes. Returns false if that cannot be determined now, because somebody is storing a
/// file.
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
