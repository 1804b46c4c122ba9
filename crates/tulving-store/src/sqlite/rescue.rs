//! Restores a backup in place of a store that is too damaged to be opened or read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tulving_core::model::copy::{RestoreContent, StoreRestore};
use tulving_core::model::error::StoreError;
use tulving_core::ports::{Clock, CopyProgress, Rescue, RestoreSteps, SystemClock};

use super::restore::refuse_unfit;
use super::{SqliteOptions, SqliteStore, copies};
use crate::draft::DraftFolder;
use crate::files;
use crate::home::{self, Home};

/// The database of a home that is too damaged to be opened or read.
///
/// A backup is first restored into a separate folder, so a bad backup changes nothing. The damaged database then moves
/// unchanged into the home's backups. An undamaged store is instead restored by
/// [`Copies`](tulving_core::ports::Copies), even while other processes have it open.
#[derive(Clone, Debug)]
pub struct DamagedDatabase {
    /// The home of the database.
    pub home: Home,
    /// The options for opening the store of the home.
    pub options: SqliteOptions,
}

impl Rescue for DamagedDatabase {
    fn rescue(
        &self,
        file: &Path,
        backup: &Path,
        ready: &mut dyn FnMut(&RestoreContent) -> Result<(), StoreError>,
        progress: &mut CopyProgress<'_>,
    ) -> Result<StoreRestore, StoreError> {
        let home = &self.home;
        refuse_unfit(&home.database(), backup)?;
        let folder = home.backups();
        home::make_folder(&folder)?;
        let scratch =
            DraftFolder::within(&folder).map_err(|error| files::unwritten(&folder, "written", &error))?;
        let aside = Home::open_or_create(&scratch.path().join("home"))?;
        let store = SqliteStore::open(&aside, self.options)?;
        let candidate = store.candidate(file, backup, progress)?;
        let report = store.replace_by(&candidate, &mut NoRestoreSteps)?;
        drop(store);
        refuse_divided(&aside.database(), backup)?;
        ready(&candidate.content)?;
        let previous = folder.join(format!("damaged-{}.db", copies::time_in_name(SystemClock.now())));
        put_in_place(&aside.database(), &home.database(), &previous)?;
        files::sync_folder(home.path())?;
        Ok(StoreRestore { previous, ..report })
    }
}

/// The steps of a restore into a new folder, which has no previous content to save.
struct NoRestoreSteps;

impl RestoreSteps for NoRestoreSteps {
    fn keep(&mut self) -> Result<PathBuf, StoreError> {
        Ok(PathBuf::new())
    }

    fn follow(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Returns an error if some content of a database is still in its log, because only the database file is moved.
fn refuse_divided(database: &Path, from: &Path) -> Result<(), StoreError> {
    match files::beside(database, "-wal").metadata() {
        Ok(log) if log.len() > 0 => {
            let why =
                "its copy in the home is incomplete, because a log was left next to it; try again".to_owned();
            Err(StoreError::Unusable { path: from.to_owned(), verb: "restored", why })
        }
        _ => Ok(()),
    }
}

/// Replaces a damaged database, which is renamed to `previous`. Its companion files are renamed too, because SQLite
/// would otherwise apply them to the new database. On failure, all files get their former names back.
fn put_in_place(sound: &Path, damaged: &Path, previous: &Path) -> Result<(), StoreError> {
    let names = ["", "-wal", "-shm", "-journal"]
        .map(|suffix| (files::beside(damaged, suffix), files::beside(previous, suffix)));
    let put = || {
        // The damaged database first gets a second name, and is replaced later. So a database always exists; otherwise
        // another process would create a new one.
        if_there(damaged, name_again(damaged, previous))?;
        for (old, kept) in &names[1..] {
            if_there(old, fs::rename(old, kept))?;
        }
        files::sync_folder(files::folder_of(previous))?;
        fs::rename(sound, damaged).map_err(|error| files::unwritten(damaged, "written", &error))
    };
    put().inspect_err(|_| names.iter().for_each(|(old, kept)| move_back(old, kept)))
}

/// Gives a file its former name back. If the file has both names, removes the second one. Never replaces another file.
fn move_back(old: &Path, kept: &Path) {
    if files::same_file(old, kept) {
        drop(fs::remove_file(kept));
    } else if old.symlink_metadata().is_err() {
        drop(fs::rename(kept, old));
    }
}

/// The error of a failed renaming, except that a missing file is no error.
fn if_there(old: &Path, moved: io::Result<()>) -> Result<(), StoreError> {
    match moved {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        moved => moved.map_err(|error| files::unwritten(old, "moved away", &error)),
    }
}

/// Gives a file a second name, or renames it if the file system has no hard links.
fn name_again(old: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(old, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => fs::rename(old, name),
        named => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_goes_back_to_its_database_where_a_rescue_fails() {
        let folder = tempfile::tempdir().expect("a folder");
        let (damaged, previous) =
            (folder.path().join("tulving.db"), folder.path().join("backups/damaged.db"));
        fs::create_dir(files::folder_of(&previous)).expect("made");
        let suffixes = ["", "-wal", "-shm"];
        for suffix in suffixes {
            fs::write(files::beside(&damaged, suffix), format!("damaged{suffix}")).expect("written");
        }
        let error = put_in_place(&folder.path().join("missing.db"), &damaged, &previous);
        assert!(matches!(error, Err(StoreError::Unusable { .. })), "{error:?}");
        for suffix in suffixes {
            let there = fs::read_to_string(files::beside(&damaged, suffix)).expect("where it was");
            assert_eq!(there, format!("damaged{suffix}"));
        }
        assert_eq!(fs::read_dir(files::folder_of(&previous)).expect("a folder").count(), 0);
    }
}
