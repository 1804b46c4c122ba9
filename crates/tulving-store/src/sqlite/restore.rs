//! Replaces the live database with that of a backup, in one transaction that other processes see as one commit.
//!
//! The [`restore_lock`](super::restore_lock) is taken before the previous content is copied, and released after the
//! replacement. So every acknowledged write is in that copy or was made on the restored content.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use tulving_core::model::copy::{RestoreContent, StoreRestore};
use tulving_core::model::error::StoreError;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{CopyProgress, PreparedRestore, RestoreSteps};

use super::failure::SqliteError;
use super::{SqliteStore, backup, copies, migrate, open, schema, scrub, sums};
use crate::draft::DraftFile;
use crate::files;
use crate::home::{self, Home};

/// A checked copy of a backup's database. It has the newest schema and its own epoch.
pub(super) struct RestoreCandidate {
    draft: DraftFile,
    schema: i64,
    pub(super) content: RestoreContent,
}

/// A candidate, and the store that it will replace.
pub(super) struct PreparedDatabase<'a> {
    pub(super) store: &'a SqliteStore,
    pub(super) candidate: RestoreCandidate,
}

impl PreparedRestore for PreparedDatabase<'_> {
    fn content(&self) -> &RestoreContent {
        &self.candidate.content
    }

    fn commit(self: Box<Self>, steps: &mut dyn RestoreSteps) -> Result<StoreRestore, StoreError> {
        self.store.replace_by(&self.candidate, steps)
    }
}

impl SqliteStore {
    /// Replaces the database with the one in a file, under a new epoch. A token that was ever revoked in this store
    /// stays revoked.
    ///
    /// This process and others may have the store open meanwhile. Their writes wait until the restore is done, and so
    /// does another restore. The file is first checked and migrated to the newest schema in a copy. The previous
    /// content is saved in the home's backups. A failure changes nothing.
    pub fn restore(&self, from: &Path, progress: &mut CopyProgress<'_>) -> Result<StoreRestore, StoreError> {
        self.home.require_writable()?;
        self.refuse_unfit(from)?;
        let candidate = self.candidate(from, from, progress)?;
        self.replace_by(&candidate, &mut DatabaseRestoreSteps(self))
    }

    /// Returns an error if a file cannot be a backup. Does not read the file.
    fn refuse_unfit(&self, from: &Path) -> Result<(), StoreError> {
        refuse_unfit(&self.file, from)
    }

    /// Makes a candidate from the database at `from`. Errors name `backup`, from which the database was taken.
    pub(super) fn candidate(
        &self,
        from: &Path,
        backup: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<RestoreCandidate, StoreError> {
        self.try_candidate(from, backup, progress).map_err(|fault| self.blame_backup(fault, backup))
    }

    /// Saves the previous content and replaces it with a candidate, with no write in between.
    pub(super) fn replace_by(
        &self,
        candidate: &RestoreCandidate,
        around: &mut dyn RestoreSteps,
    ) -> Result<StoreRestore, StoreError> {
        self.swap(candidate, around).map_err(|fault| self.explain(fault))
    }

    /// Converts an error while a backup is read into an error about the backup. The home is unchanged.
    fn blame_backup(&self, fault: SqliteError, from: &Path) -> StoreError {
        match fault.explained(from, self.options.busy_wait) {
            StoreError::Foreign { path, why } => StoreError::BadBackup { path, why },
            StoreError::Corrupt { path, why } => {
                StoreError::BadBackup { path, why: format!("it is damaged: {why}") }
            }
            // The backup is only read, but its copy in the home is written, so it is the home's disk that is full.
            StoreError::DiskFull { .. } => StoreError::DiskFull { path: self.file.clone() },
            other => other,
        }
    }

    fn try_candidate(
        &self,
        from: &Path,
        backup: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<RestoreCandidate, SqliteError> {
        let wait = self.options.busy_wait;
        let source = open::connect_read_only(from, wait)?;
        let marks = open::DatabaseMarks::read(&source)?;
        marks.accept(backup)?;
        if marks.is_blank() {
            return Err(StoreError::Foreign { path: backup.to_owned(), why: "it is empty".to_owned() }.into());
        }
        let draft = DraftFile::beside(&self.file, ".db")?;
        backup::copy_into(&source, draft.path(), wait, progress)?;
        drop(source);
        let mut copy = open::connect_draft(draft.path())?;
        backup::refuse_damaged(&copy, backup)?;
        match_page_size(&copy, &self.live()?.writer())?;
        migrate::run(&mut copy, backup, self.clock.now(), || Ok(()))?;
        schema::refuse_other(&copy, backup)?;
        migrate::renew_epoch(&copy)?;
        // The log must not contain the old content after the replacement.
        scrub::raise_log(&copy)?;
        let epoch = copy.query_row("SELECT value FROM meta WHERE name = 'epoch'", [], |row| row.get(0))?;
        let (memories, attached) = (backup::memories_in(&copy)?, backup::attached(&copy)?);
        copy.close().map_err(|(_, error)| error)?;
        let content = RestoreContent { epoch, memories, attached };
        Ok(RestoreCandidate { draft, schema: marks.schema, content })
    }

    fn swap(
        &self,
        candidate: &RestoreCandidate,
        around: &mut dyn RestoreSteps,
    ) -> Result<StoreRestore, SqliteError> {
        let wait = self.options.busy_wait;
        let opened = self.live()?;
        opened.place.require_whole(&opened.writer())?;
        // A separate connection has no prepared statements, which could block the replacement.
        let mut live = open::connect(&self.file, wait)?;
        live.pragma_update(None, "synchronous", "FULL")?;
        let shut = self.restore_lock.shut(&live, wait)?;
        let previous = around.keep()?;
        let source = open::connect_draft(candidate.draft.path())?;
        sums::watch(&source)?;
        let kept_revoked = keep_revoked(&live, &source)?;
        copies::take_over_mark(&live, &source)?;
        backup::copy(&source, &mut live, -1, wait, &mut |_, _| ())?;
        opened.place.require_whole(&opened.writer())?;
        let followed = around.follow();
        drop((live, shut));
        // If another connection still reads from the log, the next write truncates it.
        self.scrub.ask();
        self.scrub.after_write(&opened.writer());
        followed?;
        let RestoreCandidate { schema, content, .. } = candidate;
        Ok(StoreRestore { previous, memories: content.memories, schema: *schema, kept_revoked })
    }

    /// Copies the live database into the home's backups.
    fn keep_previous(&self) -> Result<PathBuf, StoreError> {
        let first = first_copy(&self.home, "before-restore", ".db", self.clock.now())?;
        let (draft, _) = self.draft(&first, &mut |_, _| ())?;
        place_copy(draft, &first)
    }
}

/// The steps of a restore that replaces only the database.
struct DatabaseRestoreSteps<'a>(&'a SqliteStore);

impl RestoreSteps for DatabaseRestoreSteps<'_> {
    fn keep(&mut self) -> Result<PathBuf, StoreError> {
        self.0.keep_previous()
    }

    fn follow(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The name for a copy made at this time in the home's backups, if the name is free. Creates the folder.
pub(crate) fn first_copy(
    home: &Home,
    what: &str,
    suffix: &str,
    now: Timestamp,
) -> Result<PathBuf, StoreError> {
    let folder = home.backups();
    home::make_folder(&folder)?;
    Ok(folder.join(format!("{what}-{}{suffix}", copies::time_in_name(now))))
}

/// Moves a copy to this path, durably, or to the next free name.
pub(crate) fn place_copy(mut draft: DraftFile, first: &Path) -> Result<PathBuf, StoreError> {
    let folder = files::folder_of(first);
    let (stem, suffix) = (first.file_stem().unwrap_or_default(), first.extension().unwrap_or_default());
    for round in 1.. {
        let path = match round {
            1 => first.to_owned(),
            _ => folder.join(format!("{}-{round}.{}", stem.display(), suffix.display())),
        };
        match draft.place(&path) {
            Ok(()) => {
                files::sync_folder(folder)?;
                return Ok(path);
            }
            Err((back, error)) if error.kind() == std::io::ErrorKind::AlreadyExists => draft = back,
            Err((_, error)) => return Err(files::unwritten(&path, "written", &error)),
        }
    }
    unreachable!("the loop ends by returning")
}

/// Returns an error if a file cannot be a backup of the home with the database `live`. Does not read the file.
pub(crate) fn refuse_unfit(live: &Path, from: &Path) -> Result<(), StoreError> {
    let refused = |why: String| StoreError::Unusable { path: from.to_owned(), verb: "restored", why };
    if files::same_file(from, live) {
        return Err(refused("it is the live store itself, not a backup of it".to_owned()));
    }
    match from.metadata() {
        Ok(found) if found.is_file() => Ok(()),
        Ok(found) => Err(refused(format!("it is {}, not a backup", files::sort(found.file_type())))),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// Revokes the tokens in the candidate that are revoked in the live store. A revocation is recorded even if the
/// candidate does not contain the token, because a later restore may bring the token back.
fn keep_revoked(live: &Connection, candidate: &Connection) -> Result<u64, SqliteError> {
    let mut statement = live.prepare(
        "SELECT id, at FROM revocations \
         UNION ALL SELECT id, revoked_at FROM tokens WHERE revoked_at IS NOT NULL",
    )?;
    let revoked = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let revoked: Vec<([u8; 16], i64)> = revoked.collect::<Result<_, _>>()?;
    let step = candidate.unchecked_transaction()?;
    let mut kept = 0;
    for (id, at) in revoked {
        step.execute("INSERT OR IGNORE INTO revocations (id, at) VALUES (?1, ?2)", params![id, at])?;
        let revoke = "UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        kept += u64::from(step.execute(revoke, params![id, at])? > 0);
    }
    step.commit()?;
    Ok(kept)
}

/// Gives the copy the page size of the live database, because with a write-ahead log SQLite copies only between
/// databases of equal page size.
fn match_page_size(copy: &Connection, live: &Connection) -> Result<(), SqliteError> {
    let size = |connection: &Connection| {
        connection.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0))
    };
    let live = size(live)?;
    if size(copy)? != live {
        copy.execute_batch(&format!("PRAGMA page_size = {live}; VACUUM;"))?;
    }
    Ok(())
}
