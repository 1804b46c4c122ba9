//! Runs the jobs of memories: extracts the text of files, prepares links, and deletes unused files.
//!
//! One transaction writes the result of a job and ends the job. If a file cannot be read, its memory stays active with the
//! error, recall finds the memory by the name of the file, and the job is given up with the reason. If somebody has written
//! a text in place of the file name, that text is not replaced.

use std::time::Duration;

use crate::model::change::{BackgroundResult, Write};
use crate::model::error::{Conflict, Error, ExtractError, Field, Invalid, ObjectError, StoreError};
use crate::model::id::PrincipalId;
use crate::model::job::{self, Job};
use crate::model::limits;
use crate::model::memory::{Attachment, Memory};
use crate::model::preview;
use crate::model::space::Viewer;
use crate::model::vocabulary::{Derivable, JobState, State};
use crate::ports::ExtractedText;
use crate::text::normalize;
use crate::text::redact::Redactor;
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::Source;
use crate::verbs::jobs;
use crate::verbs::objects;
use crate::verbs::save::derive::DraftContext;
use crate::verbs::save::embed;
use crate::verbs::save::intake::Patch;

/// The note for a file whose text contains something that must not be stored.
const AS_IT_IS: &str = "the file itself is kept as it is";
/// The job kinds that this module handles.
const KINDS: &[&str] = &[job::EXTRACT, job::LINK, job::DROP];
/// Lease of a job. Extracting the text of a file takes much less time.
const LEASE: Duration = Duration::from_secs(300);
/// Pause before deleting a file while files are being stored.
const PAUSE: Duration = Duration::from_secs(60);
/// Pause if somebody changed the memory while the job was running.
const SHORT_PAUSE: Duration = Duration::from_secs(1);

/// The result of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobResult {
    /// The current state of the job.
    pub job: Job,
    /// The error, if any.
    pub trouble: Option<String>,
    /// True if a program that can read the file is missing on this machine.
    pub lacking: bool,
    /// The remedy for the error, if known.
    pub remedy: Option<&'static str>,
}

impl JobResult {
    /// Creates the result of a job without errors.
    pub(crate) fn well(job: Job) -> Self {
        Self { job, trouble: None, lacking: false, remedy: None }
    }

    /// Creates the result of a job that failed, with the reason.
    pub(crate) fn badly(job: Job, why: impl Into<String>) -> Self {
        Self { trouble: Some(why.into()), ..Self::well(job) }
    }
}

/// The reason why a file could not be read, whether a retry may help, and whether a program is missing on this machine.
struct ReadFailure {
    why: String,
    passing: bool,
    lacking: bool,
    remedy: Option<&'static str>,
}

impl ReadFailure {
    fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), passing: false, lacking: false, remedy: None }
    }
}

impl From<ExtractError> for ReadFailure {
    fn from(error: ExtractError) -> Self {
        let lacking = matches!(error, ExtractError::NotInstalled { .. });
        Self { why: error.to_string(), passing: error.retryable(), lacking, remedy: error.hint() }
    }
}

impl From<ObjectError> for ReadFailure {
    fn from(error: ObjectError) -> Self {
        Self { why: error.to_string(), passing: error.retryable(), lacking: false, remedy: error.hint() }
    }
}

/// Returns true if a job is due.
pub(crate) fn is_due(ports: &Ports) -> Result<bool, Error> {
    Ok(!ports.store.claimable(KINDS, ports.clock.now(), 1)?.is_empty())
}

/// Runs one job that is due, if any.
pub(crate) fn one(ports: &Ports, holder: &str) -> Result<Option<JobResult>, Error> {
    let Some(job) = jobs::claim_any(ports, KINDS, holder, LEASE)? else {
        return Ok(None);
    };
    if job.kind == job::DROP {
        return drop_file(ports, job).map(Some);
    }
    let Some(memory) = waiting(ports, &job)? else {
        // The memory was erased, or replaced by a memory that needs no job.
        return jobs::complete(ports, job).map(|job| Some(JobResult::well(job)));
    };
    let everybody = Viewer { principal: PrincipalId::USER, within: None };
    let redactor = ports.redactor_for(&everybody, memory.space)?;
    let read = match (job.kind.as_str(), &memory.provenance.attachment) {
        _ if job.is_spent() => Err(ReadFailure::lasting(jobs::NEVER_ENDED)),
        (job::EXTRACT, Some(attachment)) if memory.is_unread() => read(ports, attachment, redactor).map(Some),
        _ => Ok(None),
    };
    let passing = |trouble: &ReadFailure| trouble.passing && job.attempts < job.max_attempts;
    if let Err(trouble) = &read
        && passing(trouble)
    {
        let job = jobs::fail(ports, job, &trouble.why)?;
        return Ok(Some(JobResult::badly(job, trouble.why.as_str())));
    }
    let (read, trouble, lacking, remedy) = match read {
        Ok(read) => (read, None, false, None),
        Err(trouble) => (None, Some(trouble.why), trouble.lacking, trouble.remedy),
    };
    let done = finish(ports, job, &memory, read, trouble)?;
    Ok(Some(JobResult { lacking, remedy, ..done }))
}

/// Deletes a file if no memory describes it. The deletion is not recorded.
fn drop_file(ports: &Ports, job: Job) -> Result<JobResult, Error> {
    match job.object().map(|key| objects::drop_unused(ports, key)) {
        None | Some(Ok(true)) => {
            let done = Job { state: JobState::Done, lease: None, ..job.clone() };
            jobs::remove(ports, job)?;
            Ok(JobResult::well(done))
        }
        Some(Ok(false)) => {
            let job = jobs::postpone(ports, job, PAUSE)?;
            Ok(JobResult::well(job))
        }
        Some(Err(error)) => {
            let why = error.to_string();
            Ok(JobResult::badly(jobs::fail(ports, job, &why)?, why))
        }
    }
}

/// Returns the memory of a job if the memory still waits for the job. An archived or forgotten memory is included, because
/// archiving and forgetting can be undone.
fn waiting(ports: &Ports, job: &Job) -> Result<Option<Memory>, Error> {
    let Some(id) = job.memory() else { return Ok(None) };
    let found = ports.store.entries(&[id], None)?.pop().map(|entry| entry.memory);
    Ok(found.filter(|memory| memory.status.state == State::Processing || memory.is_unread()))
}

/// Extracts the text of a file, and returns it with notes about the file.
fn read(
    ports: &Ports,
    attachment: &Attachment,
    mut redactor: Redactor,
) -> Result<(ExtractedText, Vec<String>), ReadFailure> {
    let bytes = ports.objects.get(&attachment.object_key)?;
    let gone = || ReadFailure::lasting("the file is not in the storage of attachments");
    let mut read = ports.extractor.extract(&attachment.media_type, &bytes.ok_or_else(gone)?)?;
    let text = normalize::content(&read.text)
        .map_err(|error| ReadFailure::lasting(format!("its text cannot be used: {error}")))?;
    if text.is_empty() {
        return Err(ReadFailure::lasting("there is no text in it"));
    }
    // Tulving cannot remove text from the file itself, so the owner of the file is informed.
    let refused = |error: Invalid| ReadFailure::lasting(format!("{error}; {AS_IT_IS}"));
    let text = redactor.content(Field::Content, text).map_err(refused)?;
    let title =
        read.title.take().and_then(|title| normalize::line(Field::Title, &title, limits::TITLE_CHARS).ok());
    read.title = title
        .map(|title| redactor.line(Field::Title, title, limits::TITLE_CHARS))
        .transpose()
        .map_err(refused)?
        .flatten();
    read.cut |= text.len() > ports.limits.content_bytes;
    let end = text.floor_char_boundary(ports.limits.content_bytes);
    normalize::trimmed(&text[..end]).clone_into(&mut read.text);
    let mut notes: Vec<String> = redactor.withheld().warnings().iter().map(ToString::to_string).collect();
    notes.extend((!notes.is_empty()).then(|| AS_IT_IS.to_owned()));
    if read.cut {
        notes.push("it has more text than can be kept; the rest was left out".to_owned());
    }
    Ok((read, notes))
}

fn finish(
    ports: &Ports,
    job: Job,
    memory: &Memory,
    read: Option<(ExtractedText, Vec<String>)>,
    trouble: Option<String>,
) -> Result<JobResult, Error> {
    let mut trouble = trouble.map(|why| preview::cut(&why, limits::NOTE_CHARS));
    let state = if trouble.is_some() { JobState::Dead } else { JobState::Done };
    let mut fields = memory.fields.clone();
    if let Some((read, notes)) = read {
        trouble = trouble.or_else(|| (!notes.is_empty()).then(|| notes.join("; ")));
        let patch = Patch { content: Some(read.text), ..Patch::default() };
        fields = patch.onto(&fields, DraftContext::memory(memory));
        if let Some(title) = read.title.filter(|title| fields.auto.has(Derivable::Title) && !title.is_empty())
        {
            fields.text.title = Some(title);
        }
    }
    let chunks = fields.differs_in_meaning(&memory.fields).then(|| {
        let (mut chunks, _) = embed::embed(ports, &[Source::of(&fields)]);
        chunks.pop().unwrap_or_default()
    });
    let attachment = memory.provenance.attachment.clone();
    let settled = BackgroundResult {
        id: memory.id,
        from: memory.version,
        fields,
        stood: memory.status,
        status: match memory.status.state {
            State::Processing => memory.status.moved(State::Active),
            _ => memory.status,
        },
        attachment: attachment.map(|object| Attachment { trouble: trouble.clone(), ..object }),
        chunks,
    };
    let ended = Job { state, lease: None, last_error: trouble.clone(), ..job.clone() };
    let writes = vec![
        Write::Settle(Box::new(settled)),
        Write::MoveJob { from: Box::new(job.clone()), to: Box::new(ended.clone()) },
    ];
    match ports.store.apply(&access::own_changes(ports.clock.now(), writes)) {
        Ok(_) => Ok(JobResult { trouble, ..JobResult::well(ended) }),
        // Another process has the job now, so the result is left to that process.
        Err(StoreError::Conflict(Conflict::JobMoved)) => Ok(JobResult { trouble, ..JobResult::well(job) }),
        // Somebody has changed the memory meanwhile. The postponed job continues from the current state of the memory.
        Err(StoreError::Conflict(_)) => jobs::postpone(ports, job, SHORT_PAUSE).map(JobResult::well),
        Err(error) => Err(error.into()),
    }
}
