//! Replaces a store that is too damaged to be opened or read with a backup.

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
/// A backup is restored into a separate folder first, so a bad one changes nothing. The damaged database moves unchanged into the
/// home's backups. A sound store is restored by [`Copies`](tulving_core::ports::Copies), while other processes have it open.
#[derive(Clone, Debug)]
pub struct DamagedDatabase {
    /// The home.
    pub home: Home,
    /// The options that its store is opened with.
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

/// Restores into a new folder without previous content.
struct NoRestoreSteps;

impl RestoreSteps for NoRestoreSteps {
    fn keep(&mut self) -> Result<PathBuf, StoreError> {
        Ok(PathBuf::new())
    }

    fn follow(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Refuses a database with content that is still in its log: only the file is moved.
fn refuse_divided(database: &Path, from: &Path) -> Result<(), StoreError> {
    match files::beside(database, "-wal").metadata() {
        Ok(log) if log.len() > 0 => {
            let why =
                "its copy in the home is not whole, because a log was left next to it; try again".to_owned();
            Err(StoreError::Unusable { path: from.to_owned(), verb: "restored", why })
        }
        _ => Ok(()),
    }
}

/// Replaces a damaged database, which gets the name `previous`. Its companion files move too: they would be applied to the
/// new database. On failure everything is back in its place.
fn put_in_place(sound: &Path, damaged: &Path, previous: &Path) -> Result<(), StoreError> {
    let names = ["", "-wal", "-shm", "-journal"]
        .map(|suffix| (files::beside(damaged, suffix), files::beside(previous, suffix)));
    let put = || {
        // It gets a second name first and is replaced only then: there is always a database, or another process would create
        // a new one.
        if_there(damaged, name_again(damaged, previous))?;
        for (old, kept) in &names[1..] {
            if_there(old, fs::rename(old, kept))?;
        }
        files::sync_folder(files::folder_of(previous))?;
        fs::rename(sound, damaged).map_err(|error| files::unwritten(damaged, "written", &error))
    };
    put().inspect_err(|_| names.iter().for_each(|(old, kept)| move_back(old, kept)))
}

/// Gives a file its former name back, and removes the second name of a file that has both. Nothing is replaced.
fn move_back(old: &Path, kept: &Path) {
    if files::same_file(old, kept) {
        drop(fs::remove_file(kept));
    } else if old.symlink_metadata().is_err() {
        drop(fs::rename(kept, old));
    }
}

/// The error for a file that could not be renamed. A missing file is none.
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
