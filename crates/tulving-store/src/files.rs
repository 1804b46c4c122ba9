//! Functions for single files and folders: opening, comparing, syncing, and errors that contain the path. The functions
//! do not use the home.

use std::fs::{File, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use tulving_core::model::error::StoreError;

/// Returns the name of the kind of a file that is not a regular file.
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

/// Returns at most `most` bytes from the start of a regular file; `None` if there is no such file, or it cannot be
/// read.
pub(crate) fn beginning(path: &Path, most: u64) -> Option<Vec<u8>> {
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).ok()?;
    Some(bytes)
}

/// Opens a regular file for reading. For a pipe, device, socket or folder the error names its kind: reading from a pipe
/// could block forever.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let require_regular = |found: std::fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::other(format!("it is {}, not a file", sort(found.file_type())))),
    };
    require_regular(path.metadata()?)?;
    // If a pipe has replaced the file in the meantime, this flag keeps the open from blocking.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    require_regular(file.metadata()?)?;
    Ok(file)
}

/// Returns the text of a regular file; see [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the bytes of a regular file; see [`open_regular`].
pub(crate) fn read_regular_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the folder that contains a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    sync_names(path).map_err(|error| unwritten(path, "written", &error))
}

/// Makes the names in a folder durable, and returns the original error of the system.
pub(crate) fn sync_names(path: &Path) -> io::Result<()> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot sync a folder, and there is no other way to make its names durable.
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        done => done,
    }
}

/// Creates an empty file with mode 0600 if the file does not exist. Returns true if the file was created.
pub(crate) fn create_empty(path: &Path) -> Result<bool, StoreError> {
    match File::options().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => sync_folder(folder_of(path)).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unwritten(path, "created", &error)),
    }
}

/// Returns true if both paths lead to the same file. Returns false if one of the files does not exist.
pub(crate) fn same_file(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Returns the device and inode numbers of a file, which are the same under all of its names; `None` if the file does
/// not exist.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// Returns the permission bits of a file or folder; `None` if it does not exist.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    path.metadata().ok().map(|found| found.permissions().mode() & 0o777)
}

/// Returns the path of a companion file that SQLite creates next to a database, such as its write-ahead log.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Converts an I/O error on a path to a [`StoreError`].
pub(crate) fn unwritten(path: &Path, verb: &'static str, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::DiskFull { path: path.to_owned() }
        }
        _ => StoreError::Unusable { path: path.to_owned(), verb, why: error.to_string() },
    }
}

/// Returns true if this process cannot open more files at the moment.
pub(crate) fn is_short_of_handles() -> bool {
    let error = File::open("/dev/null").err().and_then(|error| Errno::from_io_error(&error));
    matches!(error, Some(Errno::MFILE | Errno::NFILE))
}
