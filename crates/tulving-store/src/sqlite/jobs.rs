//! Reads background work.

use rusqlite::{OptionalExtension, params};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::JobId;
use tulving_core::model::job::Job;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::JobState;
use tulving_core::ports::Jobs;

use super::SqliteStore;
use super::rows::{self, JOB};

/// Maximum time that a job waits or is leased, in milliseconds.
const DAY_MILLIS: i64 = 86_400_000;

impl Jobs for SqliteStore {
    fn job(&self, id: JobId) -> Result<Option<Job>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&format!("SELECT {JOB} FROM jobs WHERE id = ?1"))?;
            Ok(statement.query_row([id.as_bytes()], rows::job).optional()?)
        })
    }

    fn jobs(&self, states: &[JobState], kinds: &[&str], limit: usize) -> Result<Vec<Job>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&format!(
                "SELECT {JOB} FROM jobs \
                 WHERE (?1 = '[]' OR state IN (SELECT value FROM json_each(?1))) \
                 AND (?2 = '[]' OR kind IN (SELECT value FROM json_each(?2))) ORDER BY due_at, id LIMIT ?3"
            ))?;
            let (states, kinds) = (serde_json::to_string(states)?, serde_json::to_string(kinds)?);
            let found = statement.query_map(params![states, kinds, rows::limit(limit)], rows::job)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    fn claimable(&self, kinds: &[&str], now: Timestamp, limit: usize) -> Result<Vec<Job>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(&format!(
                "SELECT {JOB} FROM jobs \
                 WHERE ((state = 'waiting' AND (due_at <= ?2 OR due_at > ?4)) \
                 OR (state = 'running' AND (lease_until <= ?2 OR lease_until > ?4))) AND kind IN (SELECT value FROM json_each(?1)) ORDER BY due_at, id LIMIT ?3"
            ))?;
            let kinds = serde_json::to_string(kinds)?;
            let ahead = now.plus_millis(DAY_MILLIS).as_micros();
            let key = params![kinds, now.as_micros(), rows::limit(limit), ahead];
            let found = statement.query_map(key, rows::job)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}
