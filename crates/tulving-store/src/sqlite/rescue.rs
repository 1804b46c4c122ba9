//! Puts a backup in the place of a store that is too damaged to be opened or read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tulving_core::error::StoreError;
use tulving_core::ports::{Clock, SystemClock};

use super::restore::{AroundCommit, Candidate, refuse_unfit};
use super::{DatabaseRestore, Options, SqliteStore, copies};
use crate::draft::DraftFolder;
use crate::files;
use crate::home::{self, Home};

impl SqliteStore {
    /// Restores a backup over a damaged store, which moves as it is into the home's backups.
    ///
    /// The backup is restored into a folder of its own first, so a bad one changes nothing, and what fails later is taken
    /// back. A sound store is restored by [`restore`](Self::restore), which other processes may watch; here they must not
    /// have the store open. What was revoked since the backup cannot be read any more, so it is not carried over.
    pub fn rescue(
        home: &Home,
        options: Options,
        from: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<DatabaseRestore, StoreError> {
        Self::rescue_with(home, options, from, from, &mut |_| Ok(()), progress)
    }

    /// The same with the database at `from`, which came from `backup`. `prepare` is called with the new database, before
    /// the commit; where it fails, nothing changes.
    pub(crate) fn rescue_with(
        home: &Home,
        options: Options,
        from: &Path,
        backup: &Path,
        prepare: &mut dyn FnMut(&Candidate) -> Result<(), StoreError>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<DatabaseRestore, StoreError> {
        refuse_unfit(&home.database(), backup)?;
        let folder = home.backups();
        home::make_folder(&folder)?;
        let scratch =
            DraftFolder::within(&folder).map_err(|error| files::unwritten(&folder, "written", &error))?;
        let aside = Home::open_or_create(&scratch.path().join("home"))?;
        let store = Self::open(&aside, options)?;
        let candidate = store.candidate(from, backup, progress)?;
        let report = store.replace_by(&candidate, &mut NothingElse)?;
        drop(store);
        refuse_divided(&aside.database(), backup)?;
        prepare(&candidate)?;
        let previous = folder.join(format!("damaged-{}.db", copies::time_in_name(SystemClock.now())));
        put_in_place(&aside.database(), &home.database(), &previous)?;
        files::sync_folder(home.path())?;
        Ok(DatabaseRestore { previous, ..report })
    }
}

/// Restores into a folder in the making, where nothing was before.
struct NothingElse;

impl AroundCommit for NothingElse {
    fn keep(&mut self) -> Result<PathBuf, StoreError> {
        Ok(PathBuf::new())
    }

    fn follow(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Refuses a database of which a part is still in its log: the file alone is moved.
fn refuse_divided(database: &Path, from: &Path) -> Result<(), StoreError> {
    match files::beside(database, "-wal").metadata() {
        Ok(log) if log.len() > 0 => {
            let why =
                "its copy in the home is not whole, because a log was left beside it; try again".to_owned();
            Err(StoreError::Unusable { path: from.to_owned(), verb: "restored", why })
        }
        _ => Ok(()),
    }
}

/// Puts a database in the place of a damaged one, which gets the name `previous`, and so does what lies beside it: that would
/// be played back into what comes in its place. Where this fails, all of it is where it was.
fn put_in_place(sound: &Path, damaged: &Path, previous: &Path) -> Result<(), StoreError> {
    let names = ["", "-wal", "-shm", "-journal"]
        .map(|suffix| (files::beside(damaged, suffix), files::beside(previous, suffix)));
    let put = || {
        // By a second name, and replaced only then: at no moment is there no database, in whose place another would be begun.
        if_there(damaged, name_again(damaged, previous))?;
        for (old, kept) in &names[1..] {
            if_there(old, fs::rename(old, kept))?;
        }
        files::sync_folder(files::folder_of(previous))?;
        fs::rename(sound, damaged).map_err(|error| files::unwritten(damaged, "written", &error))
    };
    put().inspect_err(|_| names.iter().for_each(|(old, kept)| move_back(old, kept)))
}

/// Gives a file its former name back, and takes the second one from a file that has both. Nothing is replaced.
fn move_back(old: &Path, kept: &Path) {
    if files::same_file(old, kept) {
        drop(fs::remove_file(kept));
    } else if old.symlink_metadata().is_err() {
        drop(fs::rename(kept, old));
    }
}

/// What a caller hears of a file that was to have another name. One that is not there needs none.
fn if_there(old: &Path, moved: io::Result<()>) -> Result<(), StoreError> {
    match moved {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        moved => moved.map_err(|error| files::unwritten(old, "moved away", &error)),
    }
}

/// Gives a file a second name, or another one where the file system knows no second names.
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
