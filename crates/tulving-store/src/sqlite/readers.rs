//! The connections that read. They are opened when they are first needed, and then reused.

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

    /// Returns a connection for one read. Waits while all connections are in use. If the process cannot open more
    /// files, it waits for one of the open connections.
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
                // The reader is created before the attempt to open, so that dropping it after a failure corrects the
                // count of open connections.
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

    /// Closes the unused connections, so that the process can open other files. Returns true if there were any.
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
