//! Background jobs: a worker claims a job with a lease. A failed job is retried after increasing pauses, and given up
//! with a reason after the last attempt.

use std::time::Duration;

use crate::model::change::Write;
use crate::model::error::{Conflict, Error, StoreError};
use crate::model::id::{JobId, MemoryId};
use crate::model::job::{self, Job, Lease};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::JobState;
use crate::verbs::access::{self, Ports};

/// Number of due jobs that a claim reads at a time. If other workers have claimed all of them, the claim reads more
/// jobs.
const LOOKED_AT: usize = 16;
/// The pause after the first failure. Each further failure doubles the pause.
const FIRST_PAUSE_MILLIS: i64 = 5_000;
/// Maximum pause between two attempts.
const LONGEST_PAUSE_MILLIS: i64 = 3_600_000;
/// The error of a job that has used all its attempts, and whose last attempt never ended.
pub(crate) const NEVER_ENDED: &str = "it reached the maximum number of attempts and never finished";
/// Maximum number of dead jobs read to find the job of a memory.
const GIVEN_UP: usize = 1_000;
/// Maximum number of running jobs read to find abandoned jobs.
const HELD: usize = 1_000;
/// Maximum number of characters of an error that is stored with a failed attempt.
const REASON_CHARS: usize = 500;

/// Enqueues a job.
pub(crate) fn add(ports: &Ports, job: Job) -> Result<Job, Error> {
    write(ports, job.created_at, Write::Enqueue(job.clone()))?;
    Ok(job)
}

/// Returns a job that exists only once in a store, and enqueues the job if it is missing. If another process enqueues
/// the job at the same time, returns the job of that process.
pub(crate) fn sole(ports: &Ports, id: JobId, kind: &str, payload: serde_json::Value) -> Result<Job, Error> {
    if let Some(job) = ports.store.job(id)? {
        return Ok(job);
    }
    match add(ports, Job { id, ..Job::new(kind, payload, u32::MAX, ports.clock.now()) }) {
        Ok(job) => Ok(job),
        Err(error) => ports.store.job(id)?.ok_or(error),
    }
}

/// Claims the oldest due job of these kinds for the duration of the lease; `None` if no job is due. A job whose worker
/// died is claimed again, even after its last attempt: see [`Job::is_spent`].
pub(crate) fn claim_any(
    ports: &Ports,
    kinds: &[&str],
    holder: &str,
    lease: Duration,
) -> Result<Option<Job>, Error> {
    let now = ports.clock.now();
    loop {
        let due = ports.store.claimable(kinds, now, LOOKED_AT)?;
        if due.is_empty() {
            return Ok(None);
        }
        if let Some(job) = claim_one(ports, due, now, holder, lease)? {
            return Ok(Some(job));
        }
    }
}

/// Claims one of these jobs: the first job that no other process has claimed.
fn claim_one(
    ports: &Ports,
    due: Vec<Job>,
    now: Timestamp,
    holder: &str,
    lease: Duration,
) -> Result<Option<Job>, Error> {
    for job in due {
        if let Some(next) = claim_this(ports, job, now, holder, lease)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// Claims a job, unless another process claims the job first.
pub(crate) fn claim_this(
    ports: &Ports,
    job: Job,
    now: Timestamp,
    holder: &str,
    lease: Duration,
) -> Result<Option<Job>, Error> {
    let next = Job {
        state: JobState::Running,
        attempts: job.attempts.saturating_add(1),
        lease: Some(Lease { holder: holder.to_owned(), until: now.plus(lease) }),
        ..job.clone()
    };
    match moved(ports, now, job, next) {
        Ok(next) => Ok(Some(next)),
        Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Extends the lease of a claimed job.
pub(crate) fn extend(ports: &Ports, job: Job, lease: Duration) -> Result<Job, Error> {
    let now = ports.clock.now();
    let mut next = job.clone();
    next.lease = job.lease.clone().map(|held| Lease { until: now.plus(lease), ..held });
    moved(ports, now, job, next)
}

/// Ends the leases of workers that no longer run, so that their jobs can be claimed at once. Returns the number of
/// ended leases.
pub(crate) fn release(ports: &Ports, is_gone: &dyn Fn(&str) -> bool) -> Result<usize, Error> {
    let now = ports.clock.now();
    let mut released = 0;
    for job in ports.store.jobs(&[JobState::Running], &[], HELD)? {
        let lease = job.lease.clone().filter(|lease| lease.until > now && is_gone(&lease.holder));
        let Some(lease) = lease else { continue };
        let next = Job { lease: Some(Lease { until: now, ..lease }), ..job.clone() };
        match moved(ports, now, job, next) {
            Ok(_) => released += 1,
            Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(released)
}

/// Marks a claimed job as done.
pub(crate) fn complete(ports: &Ports, job: Job) -> Result<Job, Error> {
    let next = Job { state: JobState::Done, lease: None, last_error: None, ..job.clone() };
    moved(ports, ports.clock.now(), job, next)
}

/// Removes a job and every trace of it.
pub(crate) fn remove(ports: &Ports, job: Job) -> Result<(), Error> {
    write(ports, ports.clock.now(), Write::RemoveJob(Box::new(job)))
}

/// Releases a claimed job until after the pause. The attempt does not count.
pub(crate) fn postpone(ports: &Ports, job: Job, pause: Duration) -> Result<Job, Error> {
    let now = ports.clock.now();
    let attempts = job.attempts.saturating_sub(1);
    let next =
        Job { state: JobState::Waiting, due_at: now.plus(pause), lease: None, attempts, ..job.clone() };
    moved(ports, now, job, next)
}

/// Releases a claimed job and restores the state that the job had before the claim.
pub(crate) fn give_back(ports: &Ports, job: Job) -> Result<Job, Error> {
    let attempts = job.attempts.saturating_sub(1);
    let next = Job { state: JobState::Waiting, lease: None, attempts, ..job.clone() };
    moved(ports, ports.clock.now(), job, next)
}

/// Ends a round of a claimed periodic job, with success or with this error. The job waits for its next run and keeps
/// the payload until then.
pub(crate) fn rest(
    ports: &Ports,
    job: Job,
    payload: serde_json::Value,
    due_at: Timestamp,
    error: Option<&Error>,
) -> Result<Job, Error> {
    let next = Job {
        state: JobState::Waiting,
        payload,
        due_at,
        lease: None,
        attempts: 0,
        last_error: error.map(|error| error.code().to_owned()),
        ..job.clone()
    };
    moved(ports, ports.clock.now(), job, next)
}

/// Ends a failed attempt: the job is retried later, or given up after the last attempt.
pub(crate) fn fail(ports: &Ports, job: Job, reason: &str) -> Result<Job, Error> {
    let now = ports.clock.now();
    let dead = job.attempts >= job.max_attempts;
    let next = Job {
        state: if dead { JobState::Dead } else { JobState::Waiting },
        due_at: now.plus_millis(jittered(pause_millis(job.attempts))),
        lease: None,
        last_error: Some(crate::model::preview::cut(reason, REASON_CHARS)),
        ..job.clone()
    };
    moved(ports, now, job, next)
}

/// Allows a dead job the full number of attempts again.
pub(crate) fn retry(ports: &Ports, caller: &Caller, id: JobId) -> Result<Job, Error> {
    access::require_org_admin(ports, caller)?;
    access::decide_again(|| {
        let job = ports.store.job(id)?.ok_or_else(|| Error::NoJob { which: id.to_string() })?;
        if job.state != JobState::Dead {
            return Ok(job);
        }
        let now = ports.clock.now();
        let next = renewed(&job, now);
        moved(ports, now, job, next)
    })
}

/// Finds the dead extraction job of a memory among the first dead jobs.
pub(crate) fn given_up(ports: &Ports, memory: MemoryId) -> Result<Option<Job>, Error> {
    let dead = ports.store.jobs(&[JobState::Dead], &[job::EXTRACT], GIVEN_UP)?;
    Ok(dead.into_iter().find(|job| job.memory() == Some(memory)))
}

/// Builds the write that allows a dead job the full number of attempts again.
pub(crate) fn anew(job: Job, now: Timestamp) -> Write {
    let to = renewed(&job, now);
    Write::MoveJob { from: Box::new(job), to: Box::new(to) }
}

/// Returns the job with the full number of attempts, due at once.
fn renewed(job: &Job, now: Timestamp) -> Job {
    Job { state: JobState::Waiting, due_at: now, attempts: 0, ..job.clone() }
}

/// Returns the jobs in these states, sorted by due time, earliest first.
pub(crate) fn jobs(
    ports: &Ports,
    caller: &Caller,
    states: &[JobState],
    limit: usize,
) -> Result<Vec<Job>, Error> {
    access::require_org_admin(ports, caller)?;
    Ok(ports.store.jobs(states, &[], limit)?)
}

/// Returns the pause after a number of attempts, before jitter.
fn pause_millis(attempts: u32) -> i64 {
    let doublings = attempts.saturating_sub(1).min(20);
    (FIRST_PAUSE_MILLIS << doublings).min(LONGEST_PAUSE_MILLIS)
}

/// Adds up to a fifth to a pause, so that jobs that failed at the same time are not retried at the same time.
fn jittered(millis: i64) -> i64 {
    millis + fastrand::i64(0..=millis / 5)
}

/// Writes a changed job, unless the job has been changed in the meantime.
pub(crate) fn moved(ports: &Ports, now: Timestamp, from: Job, to: Job) -> Result<Job, Error> {
    write(ports, now, Write::MoveJob { from: Box::new(from), to: Box::new(to.clone()) })?;
    Ok(to)
}

fn write(ports: &Ports, at: Timestamp, write: Write) -> Result<(), Error> {
    ports.store.apply(&access::own_changes(at, vec![write]))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour() {
        let pauses: Vec<i64> = [1, 2, 3, 10, 11, 400].into_iter().map(pause_millis).collect();
        assert_eq!(pauses, [5_000, 10_000, 20_000, 2_560_000, 3_600_000, 3_600_000]);
    }
}
