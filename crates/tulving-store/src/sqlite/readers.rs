//! The connections that read. Opened when they are first needed, then reused.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::SqliteOptions;
use super::failure::SqliteError;
use super::reach::DatabaseAccess;
use crate::files;

/// A pool with a limited number of connections.
pub(super) struct ReaderPool {
    reach: Arc<DatabaseAccess>,
    options: SqliteOptions,
    pool: Mutex<ReaderPoolState>,
    returned: Condvar,
}

#[derive(Default)]
struct ReaderPoolState {
    idle: Vec<Connection>,
    open: usize,
}

impl ReaderPool {
    pub(super) fn new(reach: Arc<DatabaseAccess>, options: SqliteOptions) -> Self {
        Self { reach, options, pool: Mutex::default(), returned: Condvar::new() }
    }

    /// A connection for one piece of work. Waits while all are in use. If the process can open no more files, the open
    /// ones must suffice.
    pub(super) fn take(&self) -> Result<PooledReader<'_>, SqliteError> {
        let mut pool = self.pool();
        let mut short = false;
        loop {
            if let Some(connection) = pool.idle.pop() {
                return Ok(PooledReader { readers: self, connection: Some(connection) });
            }
            if pool.open == 0 || (pool.open < self.options.readers.max(1) && !short) {
                pool.open += 1;
                drop(pool);
                // Created before the attempt, so that a failed one gives its place back.
                let mut reader = PooledReader { readers: self, connection: None };
                match self.reach.reader(self.options.busy_wait) {
                    Ok(connection) => reader.connection = Some(connection),
                    Err(_) if !short && files::is_short_of_handles() => {
                        short = true;
                        drop(reader);
                        pool = self.pool();
                        continue;
                    }
                    Err(fault) => return Err(fault),
                }
                return Ok(reader);
            }
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the unused ones, so that the process can open other files. Returns true if there were any.
    pub(super) fn release(&self) -> bool {
        let mut pool = self.pool();
        let idle = std::mem::take(&mut pool.idle);
        pool.open -= idle.len();
        drop(pool);
        !idle.is_empty()
    }

    fn pool(&self) -> MutexGuard<'_, ReaderPoolState> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A borrowed connection.
pub(super) struct PooledReader<'a> {
    readers: &'a ReaderPool,
    connection: Option<Connection>,
}

impl Deref for PooledReader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a reader is handed out only with its connection")
    }
}

impl Drop for PooledReader<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        match self.connection.take() {
            Some(connection) => pool.idle.push(connection),
            None => pool.open -= 1,
        }
        drop(pool);
        self.readers.returned.notify_one();
    }
}
