//! Puts a backup in the place of a store that is too damaged to be opened or read.

use std::fs;
use std::io;
use std::path::Path;

use tulving_core::error::StoreError;
use tulving_core::ports::{Clock, SystemClock};

use super::{Options, RestoreReport, SqliteStore, copies};
use crate::draft::DraftFolder;
use crate::files;
use crate::home::{self, Home};

impl SqliteStore {
    /// Restores a backup over a damaged store, which moves as it is into the home's backups.
    ///
    /// The backup is restored into a folder of its own first, so a bad one changes nothing. A sound store is restored by
    /// [`restore`](Self::restore), which other processes may watch; here they must not have the store open. What was
    /// revoked since the backup cannot be read any more, so it is not carried over.
    pub fn rescue(
        home: &Home,
        options: Options,
        from: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        let folder = home.backups();
        home::make_folder(&folder)?;
        let scratch =
            DraftFolder::within(&folder).map_err(|error| files::unwritten(&folder, "written", &error))?;
        let aside = Home::open_or_create(&scratch.path().join("home"))?;
        let report = Self::open(&aside, options)?.restore(from, progress)?;
        let previous = folder.join(format!("damaged-{}.db", copies::time_in_name(SystemClock.now())));
        for suffix in ["-wal", "-shm", "-journal"] {
            let (old, kept) = (files::beside(&home.database(), suffix), files::beside(&previous, suffix));
            if_there(&old, fs::rename(&old, &kept))?;
        }
        // By a second name, and replaced only then: at no moment is there no database, in whose place another would be begun.
        if_there(&home.database(), name_again(&home.database(), &previous))?;
        files::sync_folder(&folder)?;
        fs::rename(aside.database(), home.database())
            .map_err(|error| files::unwritten(&home.database(), "written", &error))?;
        files::sync_folder(home.path())?;
        Ok(RestoreReport { previous, ..report })
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
