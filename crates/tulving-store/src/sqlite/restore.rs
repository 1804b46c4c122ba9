//! Puts a backup in the place of the live content, as one transaction that other processes see as one commit.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempPath;
use tulving_core::error::StoreError;

use super::failure::Fault;
use super::{SqliteStore, backup, migrate, open, scrub};
use crate::{files, home};

/// What a restore did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// A copy of what was there before.
    pub previous: PathBuf,
    /// How many memories are there now, forgotten ones among them.
    pub memories: u64,
    /// The schema that the backup had before it was brought to the newest.
    pub schema: i64,
}

impl SqliteStore {
    /// Replaces everything in the store by what a backup holds, under a new epoch.
    ///
    /// Works while this and other processes have the store open. The backup is checked and brought to the newest
    /// schema in a copy first, and what was there before is kept in the home's backups; a failure changes nothing.
    pub fn restore(
        &self,
        from: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        if files::same_file(from, &self.file) {
            let why = "it is the live store itself".to_owned();
            return Err(StoreError::Unusable { path: from.to_owned(), verb: "restored", why });
        }
        let wait = self.options.busy_wait;
        let (candidate, schema) =
            self.candidate(from, progress).map_err(|fault| fault.explained(from, wait))?;
        let previous = self.keep_previous()?;
        let memories = self.replace_content(&candidate).map_err(|fault| self.explain(fault))?;
        Ok(RestoreReport { previous, memories, schema })
    }

    /// A checked copy of the backup in the home, at the newest schema and with an epoch of its own.
    fn candidate(&self, from: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(TempPath, i64), Fault> {
        let wait = self.options.busy_wait;
        let source = open::connect_read_only(from, wait)?;
        let marks = open::Marks::read(&source)?;
        marks.accept(from)?;
        if marks.is_blank() {
            return Err(StoreError::Foreign { path: from.to_owned(), why: "it is empty".to_owned() }.into());
        }
        let draft = files::draft_beside(&self.file)?;
        backup::copy_into(&source, &draft, wait, progress)?;
        drop(source);
        let mut copy = open::connect(&draft, wait)?;
        refuse_damaged(&copy, from)?;
        match_page_size(&copy, &self.writer())?;
        migrate::run(&mut copy, from, self.clock.now())?;
        refuse_other_tables(&copy, from)?;
        migrate::renew_epoch(&copy)?;
        copy.close().map_err(|(_, error)| error)?;
        Ok((draft, marks.schema))
    }

    /// Copies the live content into the home's backups.
    fn keep_previous(&self) -> Result<PathBuf, StoreError> {
        let folder = self.home.backups();
        home::make_folder(&folder)?;
        let time: String =
            self.clock.now().to_string().chars().filter(|c| !matches!(c, ':' | '-' | '.')).collect();
        let first = folder.join(format!("before-restore-{time}.db"));
        let (mut draft, _) = self.draft(&first, &mut |_, _| ())?;
        for round in 1.. {
            let path = match round {
                1 => first.clone(),
                _ => folder.join(format!("before-restore-{time}-{round}.db")),
            };
            match draft.persist_noclobber(&path) {
                Ok(()) => {
                    files::sync_folder(&folder)?;
                    return Ok(path);
                }
                Err(failed) if failed.error.kind() == std::io::ErrorKind::AlreadyExists => {
                    draft = failed.path;
                }
                Err(failed) => return Err(files::unwritten(&path, "written", &failed.error)),
            }
        }
        unreachable!("the loop ends by returning")
    }

    fn replace_content(&self, candidate: &Path) -> Result<u64, Fault> {
        let wait = self.options.busy_wait;
        let source = open::connect(candidate, wait)?;
        let writer = self.writer();
        // A connection of its own, so that none with prepared statements is in the way.
        let mut target = open::connect(&self.file, wait)?;
        target.pragma_update(None, "synchronous", "FULL")?;
        backup::copy(&source, &mut target, -1, wait, &mut |_, _| ())?;
        drop(target);
        let memories: i64 = writer.query_row("SELECT count(*) FROM memories", [], |row| row.get(0))?;
        // What was there before must not linger in the log; if somebody still reads, the next write sees to it.
        scrub::raise_log(&writer)?;
        self.scrub.ask();
        self.scrub.after_write(&writer);
        Ok(memories.unsigned_abs())
    }
}

fn refuse_damaged(copy: &Connection, from: &Path) -> Result<(), Fault> {
    let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(StoreError::Corrupt { path: from.to_owned(), why: verdict }.into())
}

/// SQLite copies only between equal page sizes where the target has a write-ahead log.
fn match_page_size(copy: &Connection, live: &Connection) -> Result<(), Fault> {
    let size = |connection: &Connection| {
        connection.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0))
    };
    let live = size(live)?;
    if size(copy)? != live {
        copy.execute_batch(&format!("PRAGMA page_size = {live}; VACUUM;"))?;
    }
    Ok(())
}

/// A file may carry our mark and yet other tables or triggers; none of those shall come to live here.
fn refuse_other_tables(copy: &Connection, from: &Path) -> Result<(), Fault> {
    let objects = |connection: &Connection| -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = connection.prepare(
            "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema \
             WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY 1",
        )?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        found.collect()
    };
    let mut model = Connection::open_in_memory()?;
    migrate::run(&mut model, from, tulving_core::time::Timestamp::from_micros(0))?;
    let (found, known) = (objects(copy)?, objects(&model)?);
    match found
        .iter()
        .find(|object| !known.contains(object))
        .or(known.iter().find(|object| !found.contains(object)))
    {
        None => Ok(()),
        Some((name, _)) => {
            let why = format!("its {name} is not as Tulving makes it");
            Err(StoreError::Foreign { path: from.to_owned(), why }.into())
        }
    }
}
