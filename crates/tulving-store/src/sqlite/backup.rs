//! Copies of the whole database: to a file of the caller's while others write, and back and forth for a restore.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use tulving_core::error::StoreError;

use super::failure::Fault;
use super::{SqliteStore, busy, open};
use crate::draft::Draft;
use crate::files;

/// How many pages are copied between two reports of progress.
const PAGES_PER_STEP: i32 = 2_000;

/// What to do where a file is in the way of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfExists {
    /// Leave it and say so.
    #[default]
    Refuse,
    /// Put the backup in its place.
    Replace,
}

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How many memories are in it, forgotten ones among them.
    pub memories: u64,
}

impl SqliteStore {
    /// Writes a copy of the store as it is at this moment into one file, while others go on reading and writing.
    ///
    /// `progress` hears how many bytes are done and how many there are. The file appears only when it is whole. What it
    /// must not replace is said by [`check_target`](crate::check_target).
    pub fn backup(
        &self,
        to: &Path,
        if_exists: IfExists,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BackupReport, StoreError> {
        let target = files::check_target(&self.home, to)?;
        let in_the_way = || StoreError::Exists { path: to.to_owned() };
        if if_exists == IfExists::Refuse && to.symlink_metadata().is_ok() {
            return Err(in_the_way());
        }
        let (draft, memories) = self.draft(&target, progress)?;
        let bytes = draft.path().metadata().map_or(0, |file| file.len());
        let placed = match if_exists {
            IfExists::Replace => draft.replace(&target),
            IfExists::Refuse => draft.place(&target).map_err(|(_, error)| error),
        };
        placed.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => in_the_way(),
            _ => files::unwritten(to, "written", &error),
        })?;
        files::sync_folder(files::folder_of(&target))?;
        Ok(BackupReport { path: to.to_owned(), bytes, memories })
    }

    /// A whole copy beside where `to` is to be, and how many memories are in it.
    pub(super) fn draft(
        &self,
        to: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Draft, u64), StoreError> {
        let draft = Draft::beside(to, ".db")?;
        let wait = self.options.busy_wait;
        // Held until the copy is made, so that it is of one and the same store.
        let live = self.live().map_err(|fault| self.explain(fault))?;
        live.place.require()?;
        let source = live.reach.reader(wait).map_err(|fault| self.explain(fault))?;
        // One moment for all steps: writers do not make the copy begin again.
        source
            .execute_batch("BEGIN; SELECT 1 FROM sqlite_schema;")
            .map_err(|error| self.explain(error.into()))?;
        let memories = copy_into(&source, draft.path(), wait, progress)
            .and_then(|()| {
                Ok(source.query_row("SELECT count(*) FROM memories", [], |row| row.get::<_, i64>(0))?)
            })
            .map_err(|fault| fault.explained(to, wait))?;
        live.place.require()?;
        draft.sync().map_err(|error| files::unwritten(to, "written", &error))?;
        Ok((draft, memories.unsigned_abs()))
    }
}

/// Copies a database into an empty draft and leaves it as one file, without a log beside it. It is not durable yet.
pub(super) fn copy_into(
    source: &Connection,
    file: &Path,
    wait: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), Fault> {
    let mut target = open::connect_draft(file)?;
    copy(source, &mut target, PAGES_PER_STEP, wait, progress)?;
    target.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
    target.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Copies one database over another, so many pages at a time; all at once is one transaction on the target.
pub(super) fn copy(
    source: &Connection,
    target: &mut Connection,
    pages: i32,
    wait: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), Fault> {
    let page_size: i64 = source.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let backup = Backup::new(source, target)?;
    let mut blocked: Option<(Instant, i32)> = None;
    loop {
        match backup.step(pages)? {
            StepResult::Busy | StepResult::Locked => {
                let (since, round) = blocked.unwrap_or_else(|| (Instant::now(), 0));
                if since.elapsed() >= wait {
                    return Err(StoreError::Busy { waited: since.elapsed() }.into());
                }
                std::thread::sleep(busy::pause(round));
                blocked = Some((since, round.saturating_add(1)));
                continue;
            }
            result => {
                blocked = None;
                let state = backup.progress();
                let bytes = |pages: i32| u64::from(pages.unsigned_abs()) * page_size.unsigned_abs();
                progress(bytes(state.pagecount - state.remaining), bytes(state.pagecount));
                if result == StepResult::Done {
                    return Ok(());
                }
            }
        }
    }
}
