//! The files that memories describe: kept before the memory is, dropped after the last memory of them.
//!
//! Before a file is kept, and with the act that takes it from its last memory, a job is noted that drops it where no memory
//! needs it. So nothing stays behind, wherever a process is killed, and nothing goes that any memory here has.

use std::time::Duration;

use crate::access::{self, Parts};
use crate::change::Write;
use crate::error::{Error, Field, Invalid};
use crate::file;
use crate::id::MemoryRef;
use crate::job::Job;
use crate::jobs;
use crate::memory::Attachment;
use crate::ports::{Hold, ObjectKey};
use crate::request::Caller;
use crate::time::Timestamp;

/// A memory is there this soon after its file was kept, or nobody is going to make it.
pub(crate) const SOON: Duration = Duration::from_secs(600);

/// A file whose memory is not there yet.
pub(crate) struct Kept {
    pub(crate) attachment: Attachment,
    /// Drops it where its memory never comes.
    drop: Job,
    /// Nobody drops anything meanwhile.
    hold: Hold,
}

/// Keeps a file, and says what a memory says of it.
pub(crate) fn keep(parts: &Parts, bytes: &[u8], media_type: &str, name: &str) -> Result<Kept, Error> {
    let (got, limit) = (bytes.len(), parts.limits.attachment_bytes);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::File, got, limit, unit: "bytes" }.into());
    }
    let hash = file::digest(bytes);
    let key = ObjectKey::of(bytes, &hash)?;
    let hold = parts.objects.keeping()?;
    let now = parts.clock.now();
    let drop = jobs::add(parts, Job { due_at: now.plus(SOON), ..Job::drop_of(key.as_str(), now) })?;
    let put = parts.objects.put(bytes, &hash);
    let attachment = |object_key| Attachment {
        object_key,
        media_type: media_type.to_owned(),
        size: bytes.len() as u64,
        hash,
        name: Some(name.to_owned()),
        trouble: None,
    };
    match put {
        Ok(key) => Ok(Kept { attachment: attachment(key), drop, hold }),
        Err(error) => {
            std::mem::drop(hold);
            drop_now(parts, drop);
            Err(error.into())
        }
    }
}

impl Kept {
    /// The memory of it is there.
    pub(crate) fn stays(self, parts: &Parts) {
        // Who is killed before this leaves a job that finds the memory.
        let _ = jobs::remove(parts, self.drop);
    }

    /// There will be no memory of it.
    pub(crate) fn goes(self, parts: &Parts) {
        drop(self.hold);
        drop_now(parts, self.drop);
    }
}

/// Writes that let a file go, and the job that they ask for: for the act that takes it from a memory.
pub(crate) fn leaves(attachment: &Attachment, now: Timestamp) -> (Write, Job) {
    let job = Job::drop_of(&attachment.object_key, now);
    (Write::Enqueue(job.clone()), job)
}

/// Does such a job at once, where that is possible; else it is done later.
pub(crate) fn drop_now(parts: &Parts, job: Job) {
    if let Some(key) = job.object()
        && drop_unused(parts, key).is_ok_and(|done| done)
    {
        let _ = jobs::remove(parts, job);
    }
}

/// Drops a file that no memory describes. False where that cannot be found out now, because somebody is keeping a file.
pub(crate) fn drop_unused(parts: &Parts, key: &str) -> Result<bool, Error> {
    let Some(_hold) = parts.objects.removing()? else {
        return Ok(false);
    };
    if !parts.store.is_attached(key)? {
        parts.objects.remove(key)?;
    }
    Ok(true)
}

/// The file that a memory describes.
pub(crate) fn attachment(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
) -> Result<(Attachment, Vec<u8>), Error> {
    let memory = access::find(parts, caller, which)?;
    let attachment = memory.provenance.attachment.ok_or(Error::NoAttachment { which })?;
    let bytes = parts.objects.get(&attachment.object_key)?;
    let bytes = bytes.ok_or_else(|| Error::AttachmentGone { which })?;
    Ok((attachment, bytes))
}
