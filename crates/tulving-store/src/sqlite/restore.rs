//! Puts a backup in the place of the live content, as one transaction that other processes see as one commit.
//!
//! From before the copy of what was there until after the replacement the [`gate`](super::gate) is shut, so that every
//! write that was acknowledged is in that copy or was made on the restored content.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use tulving_core::error::StoreError;

use super::failure::Fault;
use super::{SqliteStore, backup, copies, migrate, open, schema, scrub, sums};
use crate::draft::Draft;
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
    /// How many tokens were still good in the backup and stay revoked, because they had been revoked since.
    pub kept_revoked: u64,
}

impl SqliteStore {
    /// Replaces everything in the store by what a backup holds, under a new epoch. A token that was ever revoked here
    /// stays revoked.
    ///
    /// Works while this and other processes have the store open; their writes wait until it is done, and so does another
    /// restore. The backup is checked and brought to the newest schema in a copy first, and what was there before is kept
    /// in the home's backups; a failure changes nothing.
    pub fn restore(
        &self,
        from: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        self.home.require_writable()?;
        self.refuse_unfit(from)?;
        let (candidate, schema) =
            self.candidate(from, progress).map_err(|fault| self.blame_backup(fault, from))?;
        self.swap(&candidate, schema).map_err(|fault| self.explain(fault))
    }

    fn refuse_unfit(&self, from: &Path) -> Result<(), StoreError> {
        let refused = |verb, why: String| StoreError::Unusable { path: from.to_owned(), verb, why };
        if files::same_file(from, &self.file) {
            return Err(refused("restored", "it is the live store itself, not a backup of it".to_owned()));
        }
        match from.metadata() {
            Ok(found) if found.is_file() => Ok(()),
            Ok(found) => {
                let why = format!("it is {}, not a backup", files::sort(found.file_type()));
                Err(refused("restored", why))
            }
            Err(error) => Err(refused("restored", error.to_string())),
        }
    }

    /// What goes wrong while a backup is looked at is the backup's fault, and the home is as it was.
    fn blame_backup(&self, fault: Fault, from: &Path) -> StoreError {
        match fault.explained(from, self.options.busy_wait) {
            StoreError::Foreign { path, why } => StoreError::BadBackup { path, why },
            StoreError::Corrupt { path, why } => {
                StoreError::BadBackup { path, why: format!("it is damaged: {why}") }
            }
            // It is only read; what is written is a copy of it in the home.
            StoreError::DiskFull { .. } => StoreError::DiskFull { path: self.file.clone() },
            other => other,
        }
    }

    /// A checked copy of the backup in the home, at the newest schema and with an epoch of its own.
    fn candidate(&self, from: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(Draft, i64), Fault> {
        let wait = self.options.busy_wait;
        let source = open::connect_read_only(from, wait)?;
        let marks = open::Marks::read(&source)?;
        marks.accept(from)?;
        if marks.is_blank() {
            return Err(StoreError::Foreign { path: from.to_owned(), why: "it is empty".to_owned() }.into());
        }
        let draft = Draft::beside(&self.file, ".db")?;
        backup::copy_into(&source, draft.path(), wait, progress)?;
        drop(source);
        let mut copy = open::connect_draft(draft.path())?;
        refuse_damaged(&copy, from)?;
        match_page_size(&copy, &self.live()?.writer())?;
        migrate::run(&mut copy, from, self.clock.now(), || Ok(()))?;
        schema::refuse_other(&copy, from)?;
        migrate::renew_epoch(&copy)?;
        // What is there before must not linger in the log once it was replaced.
        scrub::raise_log(&copy)?;
        copy.close().map_err(|(_, error)| error)?;
        Ok((draft, marks.schema))
    }

    /// Keeps what is there and puts the candidate in its place, with nothing written in between.
    fn swap(&self, candidate: &Draft, schema: i64) -> Result<RestoreReport, Fault> {
        let wait = self.options.busy_wait;
        let opened = self.live()?;
        opened.place.require_whole(&opened.writer())?;
        // A connection of its own, so that none with prepared statements is in the way.
        let mut live = open::connect(&self.file, wait)?;
        live.pragma_update(None, "synchronous", "FULL")?;
        let shut = self.gate.shut(&live, wait)?;
        let previous = self.keep_previous()?;
        let source = open::connect_draft(candidate.path())?;
        sums::watch(&source)?;
        let kept_revoked = keep_revoked(&live, &source)?;
        copies::take_over_mark(&live, &source)?;
        let memories: i64 = source.query_row("SELECT count(*) FROM memories", [], |row| row.get(0))?;
        backup::copy(&source, &mut live, -1, wait, &mut |_, _| ())?;
        opened.place.require_whole(&opened.writer())?;
        drop((live, shut));
        // If somebody still reads from the log, the next write sees to it.
        self.scrub.ask();
        self.scrub.after_write(&opened.writer());
        Ok(RestoreReport { previous, memories: memories.unsigned_abs(), schema, kept_revoked })
    }

    /// Copies the live content into the home's backups.
    fn keep_previous(&self) -> Result<PathBuf, StoreError> {
        let folder = self.home.backups();
        home::make_folder(&folder)?;
        let time = copies::time_in_name(self.clock.now());
        let first = folder.join(format!("before-restore-{time}.db"));
        let (mut draft, _) = self.draft(&first, &mut |_, _| ())?;
        for round in 1.. {
            let path = match round {
                1 => first.clone(),
                _ => folder.join(format!("before-restore-{time}-{round}.db")),
            };
            match draft.place(&path) {
                Ok(()) => {
                    files::sync_folder(&folder)?;
                    return Ok(path);
                }
                Err((back, error)) if error.kind() == std::io::ErrorKind::AlreadyExists => draft = back,
                Err((_, error)) => return Err(files::unwritten(&path, "written", &error)),
            }
        }
        unreachable!("the loop ends by returning")
    }
}

/// Revokes in the candidate what is revoked in the live store. A revocation is remembered also where the candidate does
/// not know the token: a later restore may bring it back.
fn keep_revoked(live: &Connection, candidate: &Connection) -> Result<u64, Fault> {
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

fn refuse_damaged(copy: &Connection, from: &Path) -> Result<(), Fault> {
    let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(StoreError::Corrupt { path: from.to_owned(), why: verdict }.into());
    }
    if copy.prepare("PRAGMA foreign_key_check")?.exists([])? {
        let why = "some of its rows refer to what is not there".to_owned();
        return Err(StoreError::Corrupt { path: from.to_owned(), why }.into());
    }
    Ok(())
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
