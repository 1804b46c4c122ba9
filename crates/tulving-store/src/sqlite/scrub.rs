//! Removes erased text from the files, even where SQLite itself would leave it.
//!
//! SQLite overwrites deleted data in the database, but its log keeps old pages until it is cut. An erasure raises a counter in
//! its own transaction. The counter returns to zero only when the log was cut after it.
//!
//! Inside the database a row that once moved to another page may have left a copy in the unused part of the old one (18 of
//! 74,000 erased rows, in a simulation with short rows and many edits on SQLite 3.40). Only rewriting the file surely removes
//! those, so a second counter requests that, and [`Upkeep::scrub`] does it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};
use tulving_core::model::error::StoreError;
use tulving_core::ports::Upkeep;

use super::failure::SqliteError;
use super::{SqliteStore, apply, busy, copies, open};

/// The time that a writer waits for readers of the log before it leaves the cut to a later write.
const PATIENCE: Duration = Duration::from_millis(20);
/// The time between a failed attempt and the next one.
const BETWEEN: Duration = Duration::from_millis(500);

/// The known state of erased text in the log, and the earliest time of the next attempt.
pub(super) struct ScrubSchedule {
    wanted: Mutex<ScrubTiming>,
}

#[derive(Clone, Copy)]
enum ScrubTiming {
    No,
    Now,
    After(Instant),
}

impl ScrubSchedule {
    /// Creates the state with `pending` erasures from before.
    pub(super) fn new(pending: i64) -> Self {
        Self { wanted: Mutex::new(if pending > 0 { ScrubTiming::Now } else { ScrubTiming::No }) }
    }

    /// Records an erasure.
    pub(super) fn ask(&self) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = ScrubTiming::Now;
    }

    /// Cuts the log if that is requested and nobody reads from it. Cheap if it is not; a failure is retried later.
    pub(super) fn after_write(&self, writer: &Connection) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        match *wanted {
            ScrubTiming::No => return,
            ScrubTiming::After(time) if Instant::now() < time => return,
            ScrubTiming::Now | ScrubTiming::After(_) => {}
        }
        let done = busy::in_a_hurry(PATIENCE, || attempt(writer)).unwrap_or(false);
        *wanted = if done { ScrubTiming::No } else { ScrubTiming::After(Instant::now() + BETWEEN) };
    }
}

impl Upkeep for SqliteStore {
    /// Rewrites the database file if anything was erased since the last time.
    fn scrub(&self) -> Result<bool, StoreError> {
        self.home.require_writable()?;
        self.restore_lock.pass(self.options.busy_wait, || self.rewrite()).map_err(|fault| self.explain(fault))
    }

    /// Moves the content of the write-ahead log into the database.
    ///
    /// SQLite does so only after many writes or at the last close. Until then the latest saves are only in the log, and a
    /// program that removes it destroys them.
    fn checkpoint(&self) -> Result<(), StoreError> {
        if self.home.is_read_only() {
            return Ok(());
        }
        self.attached(|live| {
            let writer = live.writer();
            live.place.require_whole(&writer)?;
            Ok(writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
        })
    }

    fn erased_lingers(&self) -> Result<bool, StoreError> {
        self.attached(|live| {
            let writer = live.writer();
            Ok(counter(&writer, LOG)? + counter(&writer, REWRITE)? > 0)
        })
    }

    /// Choosing another model leaves the old vectors in place, because removing those of 1,000,000 memories would block every
    /// writer for as long as it takes. Nobody reads them.
    fn drop_stale_vectors(&self, chosen: Option<&str>, limit: usize) -> Result<bool, StoreError> {
        self.write(|writer, allowed| apply::drop_stale_vectors(writer, allowed, chosen, limit))
    }
}

impl SqliteStore {
    fn rewrite(&self) -> Result<bool, SqliteError> {
        let live = self.live()?;
        let writer = live.writer();
        live.place.require_whole(&writer)?;
        // A restore may still start meanwhile. It loses nothing by that, and then the counter is another store's.
        self.restore_lock.require_open()?;
        let seen = ScrubCounter::read(&writer, REWRITE)?;
        if seen.count == 0 {
            return Ok(false);
        }
        let rewriting = open::connect(&self.file, self.options.busy_wait)?;
        // Rewriting goes through a temporary database, which may be larger than memory.
        rewriting.execute_batch("PRAGMA synchronous = FULL; PRAGMA temp_store = FILE; VACUUM;")?;
        drop(rewriting);
        seen.lower(&writer)?;
        raise_log(&writer)?;
        self.scrub.ask();
        self.scrub.after_write(&writer);
        Ok(true)
    }
}

/// Counts the erasures that may still be in the log.
const LOG: &str = "scrub_pending";
/// Counts the erasures since the file was last rewritten.
const REWRITE: &str = "rewrite_pending";

/// Counts the mirrors erased since they last caused a rewrite.
const MIRRORS: &str = "mirrors_erased";
/// Number of erased mirrors that cause a rewrite.
const MANY_MIRRORS: i64 = 1_000;

/// Number of erasures that may still be in the log.
pub(super) fn pending(connection: &Connection) -> rusqlite::Result<i64> {
    counter(connection, LOG)
}

/// Number of erasures since the file was last rewritten.
pub(super) fn rewrite_pending(connection: &Connection) -> rusqlite::Result<i64> {
    counter(connection, REWRITE)
}

/// Raises the counters and marks existing copies as older, inside the transaction that erases.
pub(super) fn raise(transaction: &Connection) -> rusqlite::Result<()> {
    copies::mark_erasure(transaction)?;
    raise_log(transaction)?;
    add_one(transaction, REWRITE)
}

/// Raises the counter of the log, and the other one only after many erased mirrors: files change all the time, and the whole
/// database is not rewritten for each line. In the database itself their text is overwritten at once, like all deleted data.
pub(super) fn raise_for_mirrors(transaction: &Connection, erased: u32) -> rusqlite::Result<()> {
    if erased == 0 {
        return Ok(());
    }
    let gone = counter(transaction, MIRRORS)? + i64::from(erased);
    let mut statement = transaction.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?;
    statement.execute(rusqlite::params![MIRRORS, if gone < MANY_MIRRORS { gone } else { 0 }])?;
    if gone < MANY_MIRRORS { raise_log(transaction) } else { raise(transaction) }
}

/// Raises only the counter of the log.
pub(super) fn raise_log(connection: &Connection) -> rusqlite::Result<()> {
    add_one(connection, LOG)
}

fn counter(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?.unwrap_or(0))
}

fn add_one(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO meta (name, value) VALUES (?1, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
    )?;
    statement.execute([name]).map(drop)
}

/// A counter as it was before the work that it requests.
struct ScrubCounter {
    name: &'static str,
    count: i64,
    epoch: Option<[u8; 16]>,
}

impl ScrubCounter {
    fn read(connection: &Connection, name: &'static str) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT coalesce((SELECT value FROM meta WHERE name = ?1), 0), \
             (SELECT value FROM meta WHERE name = 'epoch')",
        )?;
        statement.query_row([name], |row| Ok(Self { name, count: row.get(0)?, epoch: row.get(1)? }))
    }

    /// Removes the counter. If somebody has erased since, the counter is higher and stays. After a restore it is another
    /// store's counter, and the work was not done on that store.
    fn lower(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "DELETE FROM meta WHERE name = ?1 AND value = ?2 \
             AND (SELECT value FROM meta WHERE name = 'epoch') IS ?3",
        )?;
        statement.execute(rusqlite::params![self.name, self.count, self.epoch]).map(drop)
    }
}

/// Moves the log into the database and cuts it. Returns true if the log is empty now.
pub(super) fn truncate_log(writer: &Connection) -> rusqlite::Result<bool> {
    writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        let (busy, frames): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(busy == 0 && frames == 0)
    })
}

fn attempt(writer: &Connection) -> rusqlite::Result<bool> {
    let seen = ScrubCounter::read(writer, LOG)?;
    if seen.count == 0 {
        return Ok(true);
    }
    if !truncate_log(writer)? {
        return Ok(false);
    }
    seen.lower(writer)?;
    Ok(pending(writer)? == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate::renew_epoch;

    /// The file was rewritten, then a restore brought other content with an equal counter.
    #[test]
    fn the_counter_of_restored_content_is_not_lowered_for_work_done_before() {
        let store = Connection::open_in_memory().expect("opened");
        store.execute_batch("CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL)").expect("made");
        renew_epoch(&store).expect("renewed");
        raise(&store).expect("raised");
        let before = ScrubCounter::read(&store, REWRITE).expect("read");
        renew_epoch(&store).expect("renewed");
        before.lower(&store).expect("asked");
        assert_eq!(rewrite_pending(&store).expect("read"), 1);
        ScrubCounter::read(&store, REWRITE).and_then(|seen| seen.lower(&store)).expect("lowered");
        assert_eq!(rewrite_pending(&store).expect("read"), 0);
    }
}
