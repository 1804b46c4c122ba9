//! Gets erased text out of the write-ahead log.
//!
//! SQLite overwrites what is deleted in the database, but the log beside it keeps old pages until it is cut. An erase
//! raises a counter in its own transaction; the counter goes back to nought only when the log was cut after it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

use super::busy;

/// How long a writer waits for readers of the log before it leaves the cut to a later write.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long after a failed attempt the next one is made.
const BETWEEN: Duration = Duration::from_millis(500);

/// Whether there is erased text in the log, as far as this process knows, and since when not to try again.
pub(super) struct Scrub {
    wanted: Mutex<Wanted>,
}

#[derive(Clone, Copy)]
enum Wanted {
    No,
    Now,
    After(Instant),
}

impl Scrub {
    /// `pending` erases were left by somebody before.
    pub(super) fn new(pending: i64) -> Self {
        Self { wanted: Mutex::new(if pending > 0 { Wanted::Now } else { Wanted::No }) }
    }

    /// Something was erased.
    pub(super) fn ask(&self) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = Wanted::Now;
    }

    /// Cuts the log if that is wanted and nobody reads from it. Cheap where it is not; a failure is tried again later.
    pub(super) fn after_write(&self, writer: &Connection) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        match *wanted {
            Wanted::No => return,
            Wanted::After(time) if Instant::now() < time => return,
            Wanted::Now | Wanted::After(_) => {}
        }
        let done = busy::in_a_hurry(PATIENCE, || attempt(writer)).unwrap_or(false);
        *wanted = if done { Wanted::No } else { Wanted::After(Instant::now() + BETWEEN) };
    }
}

/// How many erases may still be in the log.
pub(super) fn pending(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = 'scrub_pending'")?;
    Ok(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Raises the counter, inside the transaction that erases.
pub(super) fn raise(transaction: &Connection) -> rusqlite::Result<()> {
    transaction
        .execute(
            "INSERT INTO meta (name, value) VALUES ('scrub_pending', 1) \
             ON CONFLICT (name) DO UPDATE SET value = value + 1",
            [],
        )
        .map(drop)
}

/// Moves the log into the database and cuts it. Says whether the log is empty now.
pub(super) fn truncate_log(writer: &Connection) -> rusqlite::Result<bool> {
    writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        let (busy, frames): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(busy == 0 && frames == 0)
    })
}

fn attempt(writer: &Connection) -> rusqlite::Result<bool> {
    let seen = pending(writer)?;
    if seen == 0 {
        return Ok(true);
    }
    if !truncate_log(writer)? {
        return Ok(false);
    }
    // Whoever erased since then has raised the counter, and it stays up for them.
    writer.execute("DELETE FROM meta WHERE name = 'scrub_pending' AND value = ?1", [seen])?;
    Ok(pending(writer)? == 0)
}
