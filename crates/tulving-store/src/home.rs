//! The folder that holds everything of one Tulving, and the names of what is in it.
//!
//! Made for its owner alone: folders 0700, files 0600.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use tulving_core::error::StoreError;

use crate::files;

/// A home that exists and may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    /// What the database is called.
    pub const DATABASE: &str = "tulving.db";

    /// The home at `path`, made where there is none.
    ///
    /// A path that is a file, or a folder that may not be read and written, is [`StoreError::Unusable`] and stays as
    /// it is.
    pub fn open_or_create(path: &Path) -> Result<Self, StoreError> {
        match path.metadata() {
            Ok(found) if !found.is_dir() => {
                return Err(unusable(path, "used as a home", &"it is a file, not a folder"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(unusable(path, "used as a home", &"a part of its path is a file"));
            }
            Err(error) => return Err(unusable(path, "opened", &error)),
        }
        rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|error| unusable(path, "written", &io::Error::from(error)))?;
        Ok(Self { path: path.to_owned() })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database. Only SQLite opens it.
    pub fn database(&self) -> PathBuf {
        self.path.join(Self::DATABASE)
    }

    /// The folder of the search index, there or not. It can be deleted at any time.
    pub fn index_dir(&self) -> PathBuf {
        self.path.join("index")
    }

    /// The user's own token.
    pub fn token_file(&self) -> PathBuf {
        self.path.join("api-token")
    }

    /// The configuration.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// What was typed at the prompt.
    pub fn shell_history(&self) -> PathBuf {
        self.path.join("shell-history")
    }

    /// The folder of the copies that a restore leaves behind.
    pub(crate) fn backups(&self) -> PathBuf {
        self.path.join("backups")
    }

    /// The folder of the files that people can read, unless another one is set up for them.
    pub fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    /// The folder of the attachments, there or not, unless a bucket is set up for them.
    pub fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// The folder of what is being appended to files of the workspace.
    pub(crate) fn appends(&self) -> PathBuf {
        self.path.join("appends")
    }

    /// The folder of the pledges that are not settled.
    pub(crate) fn pledges(&self) -> PathBuf {
        self.path.join("pledges")
    }

    /// The folder of the texts that files of the workspace had before.
    pub(crate) fn previous(&self) -> PathBuf {
        self.path.join("previous")
    }

    /// What a restore locks to keep writers out.
    pub(crate) fn restore_lock(&self) -> PathBuf {
        self.path.join("restore.lock")
    }

    /// The note of a restore that is not finished.
    pub(crate) fn pending_restore(&self) -> PathBuf {
        self.path.join("restore.json")
    }

    /// What is locked by a process that does what asks a language model.
    pub fn thinking_lock(&self) -> PathBuf {
        self.path.join("thinking.lock")
    }

    /// The files that only Tulving itself may write, there or not, and what each is.
    pub(crate) fn own_files(&self) -> [(PathBuf, &'static str); 10] {
        let live = ["", "-wal", "-shm", "-journal"].map(|suffix| files::beside(&self.database(), suffix));
        let [database, log, memory, journal] = live.map(|path| (path, "the live store itself"));
        [
            database,
            log,
            memory,
            journal,
            (self.token_file(), "the token of the home"),
            (self.config_file(), "the configuration of the home"),
            (self.restore_lock(), "the lock of the home"),
            (self.pending_restore(), "the note of a restore"),
            (self.thinking_lock(), "a lock of the home"),
            (self.shell_history(), "the history of the prompt"),
        ]
    }

    /// The folders in which only Tulving itself may write, there or not, and what is in each.
    pub(crate) fn own_folders(&self) -> [(PathBuf, &'static str); 5] {
        [
            (self.index_dir(), "the search index"),
            (self.objects(), "the attachments"),
            (self.previous(), "the former texts of files"),
            (self.appends(), "what is being appended to files"),
            (self.pledges(), "the pledges"),
        ]
    }
}

/// Makes a folder, and those above it, for its owner alone. One that is there already stays as it is.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    try_make_folder(path).map_err(|error| files::unwritten(path, "created", &error))
}

/// Makes a folder likewise; what the system says is passed on.
pub(crate) fn try_make_folder(path: &Path) -> io::Result<()> {
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let missing = missing.count().max(1);
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    // Each new name is in the folder above it.
    for parent in path.ancestors().skip(1).take(missing).filter(|parent| !parent.as_os_str().is_empty()) {
        files::sync_names(parent)?;
    }
    Ok(())
}

fn unusable(path: &Path, verb: &'static str, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unusable { path: path.to_owned(), verb, why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_new_home_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/home");
        let home = Home::open_or_create(&path).expect("a home");
        assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o700);
        assert_eq!(Home::open_or_create(&path).expect("again"), home);
    }

    #[test]
    fn a_home_that_is_a_file_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "mine").expect("written");
        for wrong in [path.clone(), path.join("below")] {
            let error = Home::open_or_create(&wrong).expect_err("not a folder");
            assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
            assert!(error.to_string().contains("file"), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).expect("still there"), "mine");
    }
}
