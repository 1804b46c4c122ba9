//! Writes background work.

use rusqlite::params;
use tulving_core::model::error::Conflict;
use tulving_core::model::job::Job;

use super::super::failure::SqliteError;
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn enqueue(&mut self, job: &Job) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO jobs (id, kind, payload, state, due_at, lease_holder, lease_until, attempts, max_attempts, \
             last_error, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        statement.execute(params![
            job.id.as_bytes(),
            job.kind,
            job.payload.to_string(),
            job.state.as_str(),
            job.due_at.as_micros(),
            job.lease.as_ref().map(|lease| &lease.holder),
            job.lease.as_ref().map(|lease| lease.until.as_micros()),
            job.attempts,
            job.max_attempts,
            job.last_error,
            job.created_at.as_micros(),
        ])?;
        Ok(())
    }

    pub(super) fn remove_job(&mut self, job: &Job) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "DELETE FROM jobs \
             WHERE id = ?1 AND state = ?2 AND attempts = ?3 AND lease_holder IS ?4 AND lease_until IS ?5",
        )?;
        let removed = statement.execute(params![
            job.id.as_bytes(),
            job.state.as_str(),
            job.attempts,
            job.lease.as_ref().map(|lease| &lease.holder),
            job.lease.as_ref().map(|lease| lease.until.as_micros()),
        ])?;
        if removed == 1 { Ok(()) } else { Err(Conflict::JobMoved.into()) }
    }

    pub(super) fn move_job(&mut self, from: &Job, to: &Job) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "UPDATE jobs SET payload = ?2, state = ?3, due_at = ?4, lease_holder = ?5, lease_until = ?6, \
             attempts = ?7, max_attempts = ?8, last_error = ?9 \
             WHERE id = ?1 AND state = ?10 AND attempts = ?11 AND lease_holder IS ?12 AND lease_until IS ?13",
        )?;
        let moved = statement.execute(params![
            from.id.as_bytes(),
            to.payload.to_string(),
            to.state.as_str(),
            to.due_at.as_micros(),
            to.lease.as_ref().map(|lease| &lease.holder),
            to.lease.as_ref().map(|lease| lease.until.as_micros()),
            to.attempts,
            to.max_attempts,
            to.last_error,
            from.state.as_str(),
            from.attempts,
            from.lease.as_ref().map(|lease| &lease.holder),
            from.lease.as_ref().map(|lease| lease.until.as_micros()),
        ])?;
        if moved == 1 { Ok(()) } else { Err(Conflict::JobMoved.into()) }
    }
}
