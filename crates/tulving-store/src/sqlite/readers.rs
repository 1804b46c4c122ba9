//! The connections that read. Opened when they are first needed, then lent out again and again.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::Options;
use super::failure::Fault;
use super::reach::Reach;
use crate::files;

/// A pool that opens no more connections than it may.
pub(super) struct Readers {
    reach: Arc<Reach>,
    options: Options,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    open: usize,
}

impl Readers {
    pub(super) fn new(reach: Arc<Reach>, options: Options) -> Self {
        Self { reach, options, pool: Mutex::default(), returned: Condvar::new() }
    }

    /// A connection for one piece of work; waits while all are lent out. Where the process can open no more files, those
    /// that are open have to do.
    pub(super) fn take(&self) -> Result<Reader<'_>, Fault> {
        let mut pool = self.pool();
        let mut short = false;
        loop {
            if let Some(connection) = pool.idle.pop() {
                return Ok(Reader { readers: self, connection: Some(connection) });
            }
            if pool.open == 0 || (pool.open < self.options.readers.max(1) && !short) {
                pool.open += 1;
                drop(pool);
                // Made before the attempt, so that a failed one gives its place back.
                let mut reader = Reader { readers: self, connection: None };
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

    /// Closes those that nobody uses, so that the process can open other files. Says whether there were any.
    pub(super) fn release(&self) -> bool {
        let mut pool = self.pool();
        let idle = std::mem::take(&mut pool.idle);
        pool.open -= idle.len();
        drop(pool);
        !idle.is_empty()
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection on loan.
pub(super) struct Reader<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Deref for Reader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a reader is handed out only with its connection")
    }
}

impl Drop for Reader<'_> {
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
