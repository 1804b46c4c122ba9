//! Files of the home other than the database: replaced as a whole or not at all, and readable only by their owner.

use std::fs::{File, FileType};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use tulving_core::model::error::StoreError;
use tulving_core::model::space::{Secret, is_token};

use crate::draft::{self, DraftFile};
use crate::home::Home;

/// The most links in a row; a longer chain leads nowhere.
const MOST_LINKS: usize = 40;

/// Replaces or creates a file, with mode 0600.
///
/// A reader sees the old content or the new one, and after a crash one of the two is there. A symbolic link is replaced by a
/// file.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let failed = |error: io::Error| unwritten(path, "written", &error);
    let mut draft = DraftFile::beside(path, "")?;
    draft.write_all(content).map_err(failed)?;
    draft.sync().map_err(failed)?;
    draft.replace(path).map_err(failed)?;
    sync_folder(folder_of(path))
}

/// The file that a copy of the store is written to for the target `path`, existing or not. A symbolic link stays, and its
/// target is replaced.
///
/// Refuses with [`StoreError::Unusable`] anything that must not be replaced: the home's own files under any name, files in
/// its own folders, and anything but a regular file.
pub fn check_target(home: &Home, path: &Path) -> Result<PathBuf, StoreError> {
    let refused = |why: String| StoreError::Unusable { path: path.to_owned(), verb: "written", why };
    match path.metadata() {
        Ok(found) if !found.is_file() => return Err(refused(format!("it is {}", sort(found.file_type())))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(error.to_string())),
        Ok(_) | Err(_) => {}
    }
    let target = followed(path);
    let Some(name) = target.file_name() else {
        return Err(refused("it names no file".to_owned()));
    };
    if name.as_encoded_bytes().starts_with(draft::PREFIX.as_bytes()) {
        return Err(refused("names that begin so are for files in the making".to_owned()));
    }
    if target.exists() && same_file(folder_of(&target), &home.backups()) {
        return Err(refused("what is in the home's backups is not replaced".to_owned()));
    }
    // A missing folder is not one of the home's.
    let folder = folder_of(&target).canonicalize().unwrap_or_default();
    let holds = |own: &Path| folder.ancestors().any(|folder| same_file(folder, own));
    if let Some((_, what)) = home.own_folders().iter().find(|(own, _)| holds(own)) {
        return Err(refused(format!("it is in the folder of {what}")));
    }
    let in_home = same_file(folder_of(&target), home.path());
    // Some file systems ignore case.
    let named = |own: &Path| in_home && own.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name));
    match home.own_files().iter().find(|(own, _)| named(own) || same_file(own, &target)) {
        Some((_, what)) => Err(refused(format!("it is {what}"))),
        None => Ok(target),
    }
}

/// The target of a symbolic link, also if nothing is there yet.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match path.read_link() {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}

/// The kind of a file that is not a regular one.
pub(crate) fn sort(found: FileType) -> &'static str {
    if found.is_dir() {
        "a folder"
    } else if found.is_fifo() {
        "a pipe"
    } else if found.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// The most bytes of a token file that are read; a token has 47 characters.
const TOKEN_BYTES: u64 = 256;

/// Refuses a file `api-token` that Tulving has not written: it is not a regular file, or contains something other than a
/// token. An empty one may be replaced.
pub(crate) fn refuse_foreign_token(home: &Home) -> Result<(), StoreError> {
    let path = home.token_file();
    let refused = |why: &str| StoreError::Unusable {
        path: path.clone(),
        verb: "used as the token of this home",
        why: why.to_owned(),
    };
    match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unwritten(&path, "read", &error)),
        Ok(found) if !found.is_file() => return Err(refused(&format!("it is {}", sort(found.file_type())))),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(TOKEN_BYTES).read_to_end(&mut bytes));
    read.map_err(|error| unwritten(&path, "read", &error))?;
    match std::str::from_utf8(&bytes).map(str::trim) {
        Ok(text) if text.is_empty() || is_token(text) => Ok(()),
        _ => Err(refused("it holds no token of Tulving, so another program wrote it")),
    }
}

/// The first bytes of a regular file; `None` if there is none, or it cannot be read.
pub(crate) fn beginning(path: &Path, most: u64) -> Option<Vec<u8>> {
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).ok()?;
    Some(bytes)
}

/// Writes the user's token into the home. Opening the home has already checked that the file is not another program's.
pub fn write_token_file(home: &Home, token: &Secret) -> Result<(), StoreError> {
    replace(&home.token_file(), format!("{}\n", token.reveal()).as_bytes())
}

/// Removes the user's token from the home, if there is one.
pub fn remove_token_file(home: &Home) -> Result<(), StoreError> {
    let path = home.token_file();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritten(&path, "removed", &error)),
        _ => sync_folder(home.path()),
    }
}

/// Opens a regular file for reading. A pipe, device, socket or folder is an error that names its kind: reading from a pipe
/// could wait forever.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let require_regular = |found: std::fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::other(format!("it is {}, not a file", sort(found.file_type())))),
    };
    require_regular(path.metadata()?)?;
    // If it is replaced just now, opening a pipe does not wait.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    require_regular(file.metadata()?)?;
    Ok(file)
}

/// The text of a regular file; see [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The bytes of a regular file; see [`open_regular`].
pub(crate) fn read_regular_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The user's token in the home; `None` if there is none.
pub fn read_token_file(home: &Home) -> Result<Option<Secret>, StoreError> {
    let path = home.token_file();
    match read_regular(&path) {
        Ok(text) => {
            Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Secret::new(text.to_owned())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritten(&path, "read", &error)),
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    sync_names(path).map_err(|error| unwritten(path, "written", &error))
}

/// Makes the names in a folder durable, and returns the system's error.
pub(crate) fn sync_names(path: &Path) -> io::Result<()> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot sync a folder; nothing more can be done on them.
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        done => done,
    }
}

/// Creates an empty file, 0600, if there is none. Returns true if it did.
pub(crate) fn create_empty(path: &Path) -> Result<bool, StoreError> {
    match File::options().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => sync_folder(folder_of(path)).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unwritten(path, "created", &error)),
    }
}

/// Returns true if two names are of one file. A name without a file is of none.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// The identity of a file, whatever its name; `None` if there is none.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// The permission bits of a file or folder; `None` if there is none.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    path.metadata().ok().map(|found| found.permissions().mode() & 0o777)
}

/// The name of a file that SQLite keeps next to a database.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Converts an I/O error on a path.
pub(crate) fn unwritten(path: &Path, verb: &'static str, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::DiskFull { path: path.to_owned() }
        }
        _ => StoreError::Unusable { path: path.to_owned(), verb, why: error.to_string() },
    }
}

/// Returns true if this process can open no more files at the moment.
pub(crate) fn is_short_of_handles() -> bool {
    let error = File::open("/dev/null").err().and_then(|error| Errno::from_io_error(&error));
    matches!(error, Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_is_whole_and_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        replace(&path, b"one").expect("written");
        replace(&path, b"two").expect("replaced");
        assert_eq!(std::fs::read(&path).expect("there"), b"two");
        assert_eq!(mode(&path), Some(0o600));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "no draft is left");
    }

    #[test]
    fn a_token_comes_back_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        assert_eq!(read_token_file(&home).expect("read"), None);
        let token = Secret::new("tlv_abc".to_owned());
        write_token_file(&home, &token).expect("written");
        assert_eq!(read_token_file(&home).expect("read"), Some(token));
        assert_eq!(mode(&home.token_file()), Some(0o600));
    }

    #[test]
    fn a_token_that_is_a_pipe_is_named_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        let made = std::process::Command::new("mkfifo").arg(home.token_file()).status();
        assert!(made.expect("mkfifo").success());
        let error = read_token_file(&home).expect_err("it is no file").to_string();
        assert!(error.ends_with("api-token cannot be read: it is a pipe, not a file"), "{error}");
    }
}
