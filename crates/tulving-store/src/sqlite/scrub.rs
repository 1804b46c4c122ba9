//! Gets erased text out of the files, also where SQLite itself would leave it.
//!
//! SQLite overwrites what is deleted in the database, but the log beside it keeps old pages until it is cut. An erase
//! raises a counter in its own transaction; the counter goes back to nought only when the log was cut after it.
//!
//! Inside the database a row that once moved to another page may have left a copy in the unused part of the old one (18
//! of 74,000 erased rows, in a simulation with short rows and many edits on SQLite 3.40). Only rewriting the file is sure
//! to remove those, so a second counter asks for that, and [`SqliteStore::scrub`] does it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};
use tulving_core::error::StoreError;

use super::failure::Fault;
use super::{SqliteStore, busy, copies, open};

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

impl SqliteStore {
    /// Rewrites the database file if anything was erased since it was last done. Says whether it was needed.
    ///
    /// Costs about as much as writing the whole file once, and holds up other writers for as long. Work for the
    /// background, or for a process that has given its answer.
    pub fn scrub(&self) -> Result<bool, StoreError> {
        self.home.require_writable()?;
        self.gate.pass(self.options.busy_wait, || self.rewrite()).map_err(|fault| self.explain(fault))
    }

    /// Moves what is in the write-ahead log into the database, as far as those who read from the log allow. Nobody waits for it.
    ///
    /// SQLite does so only after many writes or at the last close. Until then the log holds what was saved last, and a
    /// program that removes it takes that with it.
    pub fn move_log(&self) -> Result<(), StoreError> {
        if self.home.is_read_only() {
            return Ok(());
        }
        self.attached(|live| {
            let writer = live.writer();
            live.place.require_whole(&writer)?;
            Ok(writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
        })
    }

    /// Whether erased text may still be in the files, because another process reads from them.
    pub fn erased_lingers(&self) -> Result<bool, StoreError> {
        self.attached(|live| {
            let writer = live.writer();
            Ok(counter(&writer, LOG)? + counter(&writer, REWRITE)? > 0)
        })
    }

    fn rewrite(&self) -> Result<bool, Fault> {
        let live = self.live()?;
        let writer = live.writer();
        live.place.require_whole(&writer)?;
        // A restore may still begin meanwhile. It loses nothing by that, and then the counter is another store's.
        self.gate.require_open()?;
        let seen = Seen::read(&writer, REWRITE)?;
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

/// Counts the erases that may still be in the log.
const LOG: &str = "scrub_pending";
/// Counts the erases since the file was last rewritten.
const REWRITE: &str = "rewrite_pending";

/// Counts the mirrors that went since the last time that their going asked for a rewrite.
const MIRRORS: &str = "mirrors_erased";
/// So many of them ask for one.
const MANY_MIRRORS: i64 = 1_000;

/// How many erases may still be in the log.
pub(super) fn pending(connection: &Connection) -> rusqlite::Result<i64> {
    counter(connection, LOG)
}

/// How many erases there were since the file was last rewritten.
pub(super) fn rewrite_pending(connection: &Connection) -> rusqlite::Result<i64> {
    counter(connection, REWRITE)
}

/// Raises the counters and says that copies are older now, inside the transaction that erases.
pub(super) fn raise(transaction: &Connection) -> rusqlite::Result<()> {
    copies::mark_erasure(transaction)?;
    raise_log(transaction)?;
    add_one(transaction, REWRITE)
}

/// Raises the counter of the log, and the other one only once many mirrors have gone: files change all the time, and the whole
/// database is not rewritten for each line. In the database itself what they said is overwritten at once, as everything is.
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

/// A counter as it was before the work that it asks for.
struct Seen {
    name: &'static str,
    count: i64,
    epoch: Option<[u8; 16]>,
}

impl Seen {
    fn read(connection: &Connection, name: &'static str) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT coalesce((SELECT value FROM meta WHERE name = ?1), 0), \
             (SELECT value FROM meta WHERE name = 'epoch')",
        )?;
        statement.query_row([name], |row| Ok(Self { name, count: row.get(0)?, epoch: row.get(1)? }))
    }

    /// Takes the counter away. Whoever erased since has raised it, and it stays up for them; after a restore it is
    /// another store's counter, and the work was not done on that.
    fn lower(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "DELETE FROM meta WHERE name = ?1 AND value = ?2 \
             AND (SELECT value FROM meta WHERE name = 'epoch') IS ?3",
        )?;
        statement.execute(rusqlite::params![self.name, self.count, self.epoch]).map(drop)
    }
}

/// Moves the log into the database and cuts it. Says whether the log is empty now.
pub(super) fn truncate_log(writer: &Connection) -> rusqlite::Result<bool> {
    writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        let (busy, frames): (i64, i64) = (row.get(0)?, row.get(1)?);
        Ok(busy == 0 && frames == 0)
    })
}

fn attempt(writer: &Connection) -> rusqlite::Result<bool> {
    let seen = Seen::read(writer, LOG)?;
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

    /// The file was rewritten, then a restore brought other content, which asks for the same as often.
    #[test]
    fn the_counter_of_restored_content_is_not_lowered_for_work_done_before() {
        let store = Connection::open_in_memory().expect("opened");
        store.execute_batch("CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL)").expect("made");
        renew_epoch(&store).expect("renewed");
        raise(&store).expect("raised");
        let before = Seen::read(&store, REWRITE).expect("read");
        renew_epoch(&store).expect("renewed");
        before.lower(&store).expect("asked");
        assert_eq!(rewrite_pending(&store).expect("read"), 1);
        Seen::read(&store, REWRITE).and_then(|seen| seen.lower(&store)).expect("lowered");
        assert_eq!(rewrite_pending(&store).expect("read"), 0);
    }
}
