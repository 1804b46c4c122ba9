//! Copies the database: to a file that the caller names, while other processes write; and in both directions for a
//! restore.
//!
//! The database is one part of a home; [`HomeContent`](crate::HomeContent) backs up all parts.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use tulving_core::model::copy::StoreCopy;
use tulving_core::model::error::StoreError;
use tulving_core::ports::{Copies, CopyProgress, PreparedRestore};

use super::failure::SqliteError;
use super::restore::PreparedDatabase;
use super::{SqliteStore, busy, copies, open, scrub};
use crate::draft::DraftFile;
use crate::files;
use crate::home::Home;
use crate::target::check_target;

/// Number of pages that are copied between two progress reports.
const PAGES_PER_STEP: i32 = 2_000;

/// The action if the target file of a backup exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExistingFilePolicy {
    /// Keep the file and return an error.
    #[default]
    Refuse,
    /// Replace the file.
    Replace,
}

/// A finished copy of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseBackup {
    /// The path of the copy.
    pub path: PathBuf,
    /// The size of the copy, in bytes.
    pub bytes: u64,
    /// Number of memories in the copy, including forgotten ones. Memories that mirror files are not counted.
    pub memories: u64,
}

impl SqliteStore {
    /// Writes a copy of the database as it is at this moment into one file, while other processes continue to read and
    /// write.
    ///
    /// `progress` is called with the number of copied bytes and the total. The file appears only when it is complete.
    /// [`check_target`] lists the files that a backup must not replace.
    pub fn backup(
        &self,
        to: &Path,
        if_exists: ExistingFilePolicy,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<DatabaseBackup, StoreError> {
        let target = free_target(&self.home, to, if_exists)?;
        let (draft, memories) = self.draft(&target, progress)?;
        let bytes = put(draft, to, &target, if_exists)?;
        Ok(DatabaseBackup { path: to.to_owned(), bytes, memories })
    }

    /// Writes a complete copy in the folder of `to`, and counts its memories.
    pub(super) fn draft(
        &self,
        to: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<(DraftFile, u64), StoreError> {
        let draft = DraftFile::beside(to, ".db")?;
        let memories = self.fill(draft.path(), to, progress)?;
        Ok((draft, memories))
    }

    /// Writes a complete, durable copy into an empty draft, and counts its memories. Errors name `to`.
    fn fill(&self, file: &Path, to: &Path, progress: &mut CopyProgress<'_>) -> Result<u64, StoreError> {
        let wait = self.options.busy_wait;
        // The connections stay open until the copy is made, so that all of it comes from the same store.
        let live = self.live().map_err(|fault| self.explain(fault))?;
        live.place.require()?;
        let source = live.reach.reader(wait).map_err(|fault| self.explain(fault))?;
        // One read transaction covers all steps, so that a write does not restart the copy.
        source
            .execute_batch("BEGIN; SELECT 1 FROM sqlite_schema;")
            .map_err(|error| self.explain(error.into()))?;
        let memories = copy_into(&source, file, wait, progress)
            .and_then(|()| Ok(memories_in(&source)?))
            .map_err(|fault| fault.explained(to, wait))?;
        live.place.require()?;
        File::open(file)
            .and_then(|file| file.sync_all())
            .map_err(|error| files::unwritten(to, "written", &error))?;
        Ok(memories)
    }
}

impl Copies for SqliteStore {
    fn copy_into(
        &self,
        file: &Path,
        target: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<StoreCopy, StoreError> {
        let memories = self.fill(file, target, progress)?;
        let look = || -> Result<StoreCopy, SqliteError> {
            let copy = open::connect_draft(file)?;
            refuse_damaged(&copy, &self.file)?;
            Ok(StoreCopy {
                memories,
                attached: attached(&copy)?,
                erasure: copies::mark(&copy)?,
                erased_text_left: scrub::rewrite_pending(&copy)? > 0,
            })
        };
        look().map_err(|fault| self.explain(fault))
    }

    fn prepare_restore(
        &self,
        file: &Path,
        backup: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<Box<dyn PreparedRestore + '_>, StoreError> {
        let candidate = self.candidate(file, backup, progress)?;
        Ok(Box::new(PreparedDatabase { store: self, candidate }))
    }
}

/// Returns the target file of a copy, if it may be written; see [`check_target`].
pub(crate) fn free_target(
    home: &Home,
    to: &Path,
    if_exists: ExistingFilePolicy,
) -> Result<PathBuf, StoreError> {
    let target = check_target(home, to)?;
    match if_exists == ExistingFilePolicy::Refuse && to.symlink_metadata().is_ok() {
        true => Err(StoreError::Exists { path: to.to_owned() }),
        false => Ok(target),
    }
}

/// Moves a complete copy to its path, durably, and returns its size.
pub(crate) fn put(
    draft: DraftFile,
    to: &Path,
    target: &Path,
    if_exists: ExistingFilePolicy,
) -> Result<u64, StoreError> {
    let bytes = draft.path().metadata().map_or(0, |file| file.len());
    let placed = match if_exists {
        ExistingFilePolicy::Replace => draft.replace(target),
        ExistingFilePolicy::Refuse => draft.place(target).map_err(|(_, error)| error),
    };
    placed.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Exists { path: to.to_owned() },
        _ => files::unwritten(to, "written", &error),
    })?;
    files::sync_folder(files::folder_of(target))?;
    Ok(bytes)
}

/// Counts the memories, without those that mirror entries of files.
pub(super) fn memories_in(database: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM memories WHERE mirror_line IS NULL";
    database.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
}

/// The keys of all attachments, in order.
pub(super) fn attached(database: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare(
        "SELECT DISTINCT attachment_key FROM memories WHERE attachment_key IS NOT NULL ORDER BY 1",
    )?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Returns an error if a copy is damaged or if its rows refer to missing rows.
pub(super) fn refuse_damaged(copy: &Connection, from: &Path) -> Result<(), SqliteError> {
    let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(StoreError::Corrupt { path: from.to_owned(), why: verdict }.into());
    }
    if copy.prepare("PRAGMA foreign_key_check")?.exists([])? {
        let why = "some of its rows reference missing records".to_owned();
        return Err(StoreError::Corrupt { path: from.to_owned(), why }.into());
    }
    Ok(())
}

/// Copies a database into an empty draft as a single file, without a write-ahead log. The copy is not durable yet.
pub(super) fn copy_into(
    source: &Connection,
    file: &Path,
    wait: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), SqliteError> {
    let mut target = open::connect_draft(file)?;
    copy(source, &mut target, PAGES_PER_STEP, wait, progress)?;
    target.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
    target.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Copies one database over another, this many pages in each step. If one step copies all pages, the copy is one
/// transaction on the target.
pub(super) fn copy(
    source: &Connection,
    target: &mut Connection,
    pages: i32,
    wait: Duration,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), SqliteError> {
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
