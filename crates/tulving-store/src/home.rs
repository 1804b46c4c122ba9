//! The folder with all data of one Tulving, and the names of the files in it.
//!
//! A home is readable only by its owner: folders have mode 0700, files have mode 0600.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use tulving_core::model::error::StoreError;
use tulving_core::model::space::is_token;

use crate::files;

/// A home that exists. It is writable, or it is at least readable and contains a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
    /// The reason why the home is read-only; `None` if it is writable.
    read_only: Option<String>,
}

impl Home {
    /// The file name of the database.
    pub const DATABASE: &str = "tulving.db";

    /// Opens the home at `path`, or creates it.
    ///
    /// Returns [`StoreError::Unusable`] and changes nothing if the path is a file, or a folder that cannot be read and
    /// written. A read-only folder is accepted if it contains a store.
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
        let readable = Access::READ_OK | Access::EXEC_OK;
        let read_only = match rustix::fs::access(path, readable | Access::WRITE_OK) {
            Ok(()) => None,
            Err(error) => {
                let error = io::Error::from(error);
                let has_store = rustix::fs::access(path, readable).is_ok()
                    && rustix::fs::access(path.join(Self::DATABASE), Access::READ_OK).is_ok();
                if !has_store {
                    return Err(unusable(path, "written", &error));
                }
                Some(error.to_string())
            }
        };
        Ok(Self { path: path.to_owned(), read_only })
    }

    /// Returns true if the home is read-only.
    pub fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Refuses to write if the home is read-only.
    pub(crate) fn require_writable(&self) -> Result<(), StoreError> {
        match &self.read_only {
            None => Ok(()),
            Some(why) => Err(StoreError::ReadOnly { path: self.path.clone(), why: why.clone() }),
        }
    }

    /// The path of the home.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the database. Only SQLite may open this file.
    pub fn database(&self) -> PathBuf {
        self.path.join(Self::DATABASE)
    }

    /// The path of the folder of the search index, which may not exist. This folder can be deleted at any time.
    pub fn index_dir(&self) -> PathBuf {
        self.path.join("index")
    }

    /// The path of the file with the user's own token.
    pub fn token_file(&self) -> PathBuf {
        self.path.join("api-token")
    }

    /// The path of the configuration file `config.toml`.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The path of the configuration file `config.json`.
    pub(crate) fn config_json_file(&self) -> PathBuf {
        self.path.join("config.json")
    }

    /// The path of the file with the history of the interactive prompt.
    pub fn shell_history(&self) -> PathBuf {
        self.path.join("shell-history")
    }

    /// The path of the folder for the backups that a restore makes of the previous content.
    pub(crate) fn backups(&self) -> PathBuf {
        self.path.join("backups")
    }

    /// The default path of the workspace: the folder of the files that people can read.
    pub fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    /// The path of the folder of the attachments, which may not exist. It is not used if a bucket is configured.
    pub fn objects(&self) -> PathBuf {
        self.path.join("objects")
    }

    /// The path of the folder with the notes about pending appends to files of the workspace.
    pub(crate) fn appends(&self) -> PathBuf {
        self.path.join("appends")
    }

    /// The path of the folder with the notes about pending files; see `workspace::pending_file`.
    pub(crate) fn pending_files(&self) -> PathBuf {
        self.path.join("pledges")
    }

    /// The path of the folder with the previous texts of files of the workspace.
    pub(crate) fn previous(&self) -> PathBuf {
        self.path.join("previous")
    }

    /// The path of the lock file. A restore locks it to keep writers out.
    pub(crate) fn restore_lock(&self) -> PathBuf {
        self.path.join("restore.lock")
    }

    /// The path of the note about an unfinished restore.
    pub(crate) fn pending_restore(&self) -> PathBuf {
        self.path.join("restore.json")
    }

    /// The path of the lock file of the process that does the background work with a language model.
    pub fn thinking_lock(&self) -> PathBuf {
        self.path.join("thinking.lock")
    }

    /// Refuses a home without a database if a file of another program has a name that Tulving would write. Changes
    /// nothing.
    pub(crate) fn refuse_foreign(&self) -> Result<(), StoreError> {
        if self.database().exists() {
            return Ok(());
        }
        refuse_foreign_token(self)?;
        let manifest = self.index_dir().join("manifest");
        match files::beginning(&manifest, MANIFEST_BEGINNING) {
            Some(bytes) if !begins_as_manifest(&bytes) => {
                let why = "it is not a manifest of Tulving, so another program wrote it";
                Err(unusable(&manifest, "used as the index of this home", &why))
            }
            _ => Ok(()),
        }
    }

    /// Returns the files that only Tulving may write, with their descriptions. They may not exist.
    pub(crate) fn own_files(&self) -> [(PathBuf, &'static str); 11] {
        let live = ["", "-wal", "-shm", "-journal"].map(|suffix| files::beside(&self.database(), suffix));
        let [database, log, memory, journal] = live.map(|path| (path, "the live store itself"));
        [
            database,
            log,
            memory,
            journal,
            (self.token_file(), "the token of the home"),
            (self.config_file(), "the configuration of the home"),
            (self.config_json_file(), "the configuration of the home"),
            (self.restore_lock(), "the lock of the home"),
            (self.pending_restore(), "the note of a restore"),
            (self.thinking_lock(), "a lock of the home"),
            (self.shell_history(), "the history of the prompt"),
        ]
    }

    /// Returns the folders that only Tulving may write to, with their descriptions. They may not exist.
    pub(crate) fn own_folders(&self) -> [(PathBuf, &'static str); 5] {
        [
            (self.index_dir(), "the search index"),
            (self.objects(), "the attachments"),
            (self.previous(), "the previous texts of files"),
            (self.appends(), "unfinished additions to files"),
            (self.pending_files(), "the pledges"),
        ]
    }
}

/// Maximum number of bytes of a token file that are read. A token has 47 characters.
const TOKEN_BYTES: u64 = 256;

/// Refuses a file `api-token` that Tulving has not written: the file is not a regular file, or its content is not a
/// token. An empty file is accepted, and may be replaced.
fn refuse_foreign_token(home: &Home) -> Result<(), StoreError> {
    let path = home.token_file();
    let refused = |why: &str| StoreError::Unusable {
        path: path.clone(),
        verb: "used as the token of this home",
        why: why.to_owned(),
    };
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(files::unwritten(&path, "read", &error)),
        Ok(found) if !found.is_file() => {
            return Err(refused(&format!("it is {}", files::sort(found.file_type()))));
        }
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(TOKEN_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| files::unwritten(&path, "read", &error))?;
    match std::str::from_utf8(&bytes).map(str::trim) {
        Ok(text) if text.is_empty() || is_token(text) => Ok(()),
        _ => Err(refused("it contains no token of Tulving, so another program wrote it")),
    }
}

/// Number of bytes that identify a manifest: eight digits of the checksum, a line break, and a brace.
const MANIFEST_BEGINNING: u64 = 10;

fn begins_as_manifest(bytes: &[u8]) -> bool {
    let digits = |sum: &[u8]| sum.iter().all(u8::is_ascii_hexdigit);
    bytes.is_empty() || (bytes.len() == 10 && digits(&bytes[..8]) && &bytes[8..] == b"\n{")
}

/// Creates a folder and its missing parents, accessible only to their owner. Existing folders do not change.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    try_make_folder(path).map_err(|error| files::unwritten(path, "created", &error))
}

/// Creates a folder and its missing parents like [`make_folder`], and returns the original error of the system.
pub(crate) fn try_make_folder(path: &Path) -> io::Result<()> {
    let missing = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let missing = missing.count().max(1);
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    // The name of each new folder is an entry of its parent, so each parent must be synced.
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
    fn files_of_another_program_are_named_and_left_alone_where_there_is_no_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        home.refuse_foreign().expect("an empty folder is as good as none");
        let ours = format!("tlv_{}\n", "Az09-_".repeat(8)[..43].to_owned());
        for (content, is_ours) in [
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", false),
            ("{\"token\": \"tlv_\"}", false),
            ("", true),
            (ours.as_str(), true),
        ] {
            std::fs::write(home.token_file(), content).expect("written");
            let refused = home.refuse_foreign();
            assert_eq!(refused.is_ok(), is_ours, "{content}");
            if let Err(error) = refused {
                assert!(error.to_string().contains("api-token"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(home.token_file()).expect("there"), content);
        }
        std::fs::create_dir(home.index_dir()).expect("a folder");
        let manifest = home.index_dir().join("manifest");
        std::fs::write(&manifest, "Manifest-Version: 1.0").expect("written");
        let error = home.refuse_foreign().expect_err("of another program");
        assert!(error.to_string().contains("index/manifest"), "{error}");
        std::fs::write(&manifest, "00c0ffee\n{\n").expect("written");
        home.refuse_foreign().expect("it looks like one of ours");
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
