//! Does the work that memories wait for: reads the text out of files, makes links ready, drops files that nobody needs.
//!
//! What came of it and the end of the job are one act. A file that cannot be read leaves its memory active, found by the name
//! of the file, with what went wrong; and the job is given up with the reason. What somebody wrote in place of the name stays.

use std::time::Duration;

use crate::access::{self, Parts};
use crate::change::{Settled, Write};
use crate::embedding::Source;
use crate::error::{Conflict, Error, ExtractError, Field, Invalid, ObjectError, StoreError};
use crate::id::PrincipalId;
use crate::job::{self, Job};
use crate::jobs;
use crate::limits;
use crate::memory::{Attachment, Memory};
use crate::objects;
use crate::ports::Extracted;
use crate::preview;
use crate::save::derive::About;
use crate::save::embed;
use crate::save::intake::Patch;
use crate::space::Viewer;
use crate::text::normalize;
use crate::text::withhold::Sieve;
use crate::vocabulary::{Derivable, JobState, State};

/// What is said of a file whose text holds what is not stored.
const AS_IT_IS: &str = "the file itself is kept as it is";
/// The work that is done here.
const KINDS: &[&str] = &[job::EXTRACT, job::LINK, job::DROP];
/// For how long a job is taken. The text of a file is read within much less.
const LEASE: Duration = Duration::from_secs(300);
/// Where somebody is keeping files, others are dropped this much later.
const PAUSE: Duration = Duration::from_secs(60);
/// Where somebody changed the memory, its work is done this much later.
const SHORT_PAUSE: Duration = Duration::from_secs(1);

/// What came of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Processed {
    /// The job, as it is now.
    pub job: Job,
    /// What went wrong, where something did.
    pub trouble: Option<String>,
    /// Whether a program would have read the file that is not on this machine.
    pub lacking: bool,
    /// What to do about it, where that is known.
    pub remedy: Option<&'static str>,
}

impl Processed {
    /// A job of which nothing is to be told.
    pub(crate) fn well(job: Job) -> Self {
        Self { job, trouble: None, lacking: false, remedy: None }
    }

    /// A job that went wrong for this reason.
    pub(crate) fn badly(job: Job, why: impl Into<String>) -> Self {
        Self { trouble: Some(why.into()), ..Self::well(job) }
    }
}

/// Why a file could not be read, whether it may be at another time, and whether a program for it is not on this machine.
struct Trouble {
    why: String,
    passing: bool,
    lacking: bool,
    remedy: Option<&'static str>,
}

impl Trouble {
    fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), passing: false, lacking: false, remedy: None }
    }
}

impl From<ExtractError> for Trouble {
    fn from(error: ExtractError) -> Self {
        let lacking = matches!(error, ExtractError::NotInstalled { .. });
        Self { why: error.to_string(), passing: error.retryable(), lacking, remedy: error.hint() }
    }
}

impl From<ObjectError> for Trouble {
    fn from(error: ObjectError) -> Self {
        Self { why: error.to_string(), passing: error.retryable(), lacking: false, remedy: error.hint() }
    }
}

/// Whether there is work that is due.
pub(crate) fn is_due(parts: &Parts) -> Result<bool, Error> {
    Ok(!parts.store.claimable(KINDS, parts.clock.now(), 1)?.is_empty())
}

/// Does one piece of work that is due, where there is one.
pub(crate) fn one(parts: &Parts, holder: &str) -> Result<Option<Processed>, Error> {
    let Some(job) = jobs::claim_any(parts, KINDS, holder, LEASE)? else {
        return Ok(None);
    };
    if job.kind == job::DROP {
        return drop_file(parts, job).map(Some);
    }
    let Some(memory) = waiting(parts, &job)? else {
        // Erased, or replaced by something that nobody has to work on.
        return jobs::complete(parts, job).map(|job| Some(Processed::well(job)));
    };
    let everybody = Viewer { principal: PrincipalId::USER, within: None };
    let sieve = parts.sieve_of(&everybody, memory.space)?;
    let read = match (job.kind.as_str(), &memory.provenance.attachment) {
        _ if job.is_spent() => Err(Trouble::lasting(jobs::NEVER_ENDED)),
        (job::EXTRACT, Some(attachment)) if memory.is_unread() => read(parts, attachment, sieve).map(Some),
        _ => Ok(None),
    };
    let passing = |trouble: &Trouble| trouble.passing && job.attempts < job.max_attempts;
    if let Err(trouble) = &read
        && passing(trouble)
    {
        let job = jobs::fail(parts, job, &trouble.why)?;
        return Ok(Some(Processed::badly(job, trouble.why.as_str())));
    }
    let (read, trouble, lacking, remedy) = match read {
        Ok(read) => (read, None, false, None),
        Err(trouble) => (None, Some(trouble.why), trouble.lacking, trouble.remedy),
    };
    let done = finish(parts, job, &memory, read, trouble)?;
    Ok(Some(Processed { lacking, remedy, ..done }))
}

/// Drops a file, where no memory describes it. Nothing is to be known of that afterwards.
fn drop_file(parts: &Parts, job: Job) -> Result<Processed, Error> {
    match job.object().map(|key| objects::drop_unused(parts, key)) {
        None | Some(Ok(true)) => {
            let done = Job { state: JobState::Done, lease: None, ..job.clone() };
            jobs::remove(parts, job)?;
            Ok(Processed::well(done))
        }
        Some(Ok(false)) => {
            let job = jobs::postpone(parts, job, PAUSE)?;
            Ok(Processed::well(job))
        }
        Some(Err(error)) => {
            let why = error.to_string();
            Ok(Processed::badly(jobs::fail(parts, job, &why)?, why))
        }
    }
}

/// The memory that a job is about, where it still waits for it: also one that was archived or forgotten meanwhile, since
/// that may be undone.
fn waiting(parts: &Parts, job: &Job) -> Result<Option<Memory>, Error> {
    let Some(id) = job.memory() else { return Ok(None) };
    let found = parts.store.entries(&[id], None)?.pop().map(|entry| entry.memory);
    Ok(found.filter(|memory| memory.standing.state == State::Processing || memory.is_unread()))
}

/// The text of a file, and what is to be told of it.
fn read(
    parts: &Parts,
    attachment: &Attachment,
    mut sieve: Sieve,
) -> Result<(Extracted, Vec<String>), Trouble> {
    let bytes = parts.objects.get(&attachment.object_key)?;
    let gone = || Trouble::lasting("the file is not where files are kept");
    let mut read = parts.extractor.extract(&attachment.media_type, &bytes.ok_or_else(gone)?)?;
    let text = normalize::content(&read.text)
        .map_err(|error| Trouble::lasting(format!("its text is none: {error}")))?;
    if text.is_empty() {
        return Err(Trouble::lasting("there is no text in it"));
    }
    // The file itself cannot be written anew: whoever keeps it is told.
    let refused = |error: Invalid| Trouble::lasting(format!("{error}; {AS_IT_IS}"));
    let text = sieve.content(Field::Content, text).map_err(refused)?;
    let title =
        read.title.take().and_then(|title| normalize::line(Field::Title, &title, limits::TITLE_CHARS).ok());
    read.title = title
        .map(|title| sieve.line(Field::Title, title, limits::TITLE_CHARS))
        .transpose()
        .map_err(refused)?
        .flatten();
    read.cut |= text.len() > parts.limits.content_bytes;
    let end = text.floor_char_boundary(parts.limits.content_bytes);
    normalize::trimmed(&text[..end]).clone_into(&mut read.text);
    let mut notes: Vec<String> = sieve.withheld().warnings().iter().map(ToString::to_string).collect();
    notes.extend((!notes.is_empty()).then(|| AS_IT_IS.to_owned()));
    if read.cut {
        notes.push("it holds more text than is kept; what is too much was left out".to_owned());
    }
    Ok((read, notes))
}

fn finish(
    parts: &Parts,
    job: Job,
    memory: &Memory,
    read: Option<(Extracted, Vec<String>)>,
    trouble: Option<String>,
) -> Result<Processed, Error> {
    let mut trouble = trouble.map(|why| preview::cut(&why, limits::NOTE_CHARS));
    let state = if trouble.is_some() { JobState::Dead } else { JobState::Done };
    let mut edition = memory.edition.clone();
    if let Some((read, notes)) = read {
        trouble = trouble.or_else(|| (!notes.is_empty()).then(|| notes.join("; ")));
        let patch = Patch { content: Some(read.text), ..Patch::default() };
        edition = patch.onto(&edition, About::memory(memory));
        if let Some(title) =
            read.title.filter(|title| edition.auto.has(Derivable::Title) && !title.is_empty())
        {
            edition.text.title = Some(title);
        }
    }
    let chunks = edition.differs_in_meaning(&memory.edition).then(|| {
        let (mut chunks, _) = embed::embed(parts, &[Source::of(&edition)]);
        chunks.pop().unwrap_or_default()
    });
    let attachment = memory.provenance.attachment.clone();
    let settled = Settled {
        id: memory.id,
        from: memory.version,
        edition,
        stood: memory.standing,
        standing: match memory.standing.state {
            State::Processing => memory.standing.moved(State::Active),
            _ => memory.standing,
        },
        attachment: attachment.map(|object| Attachment { trouble: trouble.clone(), ..object }),
        chunks,
    };
    let ended = Job { state, lease: None, last_error: trouble.clone(), ..job.clone() };
    let writes = vec![
        Write::Settle(Box::new(settled)),
        Write::MoveJob { from: Box::new(job.clone()), to: Box::new(ended.clone()) },
    ];
    match parts.store.apply(&access::own_changes(parts.clock.now(), writes)) {
        Ok(_) => Ok(Processed { trouble, ..Processed::well(ended) }),
        // Somebody else has the job by now: it is theirs.
        Err(StoreError::Conflict(Conflict::JobMoved)) => Ok(Processed { trouble, ..Processed::well(job) }),
        // Somebody has changed the memory meanwhile. What still has to be done is decided on it as it is now.
        Err(StoreError::Conflict(_)) => jobs::postpone(parts, job, SHORT_PAUSE).map(Processed::well),
        Err(error) => Err(error.into()),
    }
}
