//! Puts a backup in the place of a store that is too damaged to be opened or read.

use std::fs;
use std::path::Path;

use tulving_core::error::StoreError;
use tulving_core::ports::{Clock, SystemClock};

use super::{Options, RestoreReport, SqliteStore};
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
        let scratch = tempfile::Builder::new()
            .prefix(".tulving-rescue-")
            .tempdir_in(&folder)
            .map_err(|error| files::unwritten(&folder, "written", &error))?;
        let aside = Home::open_or_create(&scratch.path().join("home"))?;
        let report = Self::open(&aside, options)?.restore(from, progress)?;
        let time = SystemClock.now().to_string().replace([':', '-', '.'], "");
        let previous = folder.join(format!("damaged-{time}.db"));
        for suffix in ["-wal", "-shm", ""] {
            let (old, kept) = (files::beside(&home.database(), suffix), files::beside(&previous, suffix));
            match fs::rename(&old, &kept) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                moved => moved.map_err(|error| files::unwritten(&old, "moved away", &error))?,
            }
        }
        fs::rename(aside.database(), home.database())
            .map_err(|error| files::unwritten(&home.database(), "written", &error))?;
        files::sync_folder(&folder)?;
        files::sync_folder(home.path())?;
        Ok(RestoreReport { previous, ..report })
    }
}
