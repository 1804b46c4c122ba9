//! Attachments in a folder. Each attachment is a file that only its owner can read. The files are in 256 subfolders, by
//! the first byte of the hash.
//!
//! A file is written as a [draft](crate::DraftFile) in its folder, and renamed after it is durable. So a file whose
//! name is a key is always complete. The drafts of a killed process are removed when the next attachment is written to
//! the same folder.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, Timespec, Timestamps};
use tulving_core::model::error::ObjectError;
use tulving_core::ports::{ObjectKey, Objects, ObjectsHold};

use super::ObjectSizes;
use super::locks::ObjectsLock;
use crate::draft::DraftFile;
use crate::{files, home};

/// The name of the lock file in the folder of the attachments. Both the processes that add attachments and those that
/// remove attachments lock this file.
const LOCK: &str = "lock";

/// Attachments in a folder.
#[derive(Clone, Debug)]
pub struct LocalObjects {
    folder: PathBuf,
    held: ObjectsLock,
}

impl LocalObjects {
    /// Creates a store of attachments in this folder. The folder itself is created with the first attachment.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { held: ObjectsLock::by(folder.join(LOCK)), folder }
    }

    fn path(&self, key: &ObjectKey) -> PathBuf {
        self.folder.join(key.as_str())
    }

    /// If a file with exactly these bytes exists, makes it durable and updates its times. Returns true if the file
    /// exists.
    fn renew(path: &Path, bytes: &[u8]) -> io::Result<bool> {
        let Some(mut file) = open(path)? else {
            return Ok(false);
        };
        if file.metadata()?.len() != bytes.len() as u64 || !has(&mut file, bytes)? {
            return Ok(false);
        }
        let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        rustix::fs::futimens(&file, &Timestamps { last_access: now, last_modification: now })?;
        file.sync_all()?;
        Ok(true)
    }

    fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = files::folder_of(path);
        home::try_make_folder(folder)?;
        if !Self::renew(path, bytes)? {
            let mut draft = DraftFile::within(folder, "")?;
            draft.write_all(bytes)?;
            draft.sync()?;
            draft.replace(path)?;
        }
        files::sync_names(folder)
    }

    fn erase(path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Ok(()) => files::sync_names(files::folder_of(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Objects for LocalObjects {
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError> {
        let key = ObjectKey::of(bytes, hash)?;
        Self::write(&self.path(&key), bytes).map_err(|error| trouble("written", &error))?;
        Ok(key.into())
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some(mut file) = open(&self.path(&key))? else {
                return Ok(None);
            };
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        let found = read().map_err(|error| trouble("read", &error))?;
        found.map(|bytes| key.check(bytes)).transpose()
    }

    fn remove(&self, key: &str) -> Result<(), ObjectError> {
        let key = ObjectKey::parse(key)?;
        Self::erase(&self.path(&key)).map_err(|error| trouble("removed", &error))
    }

    fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        self.held.keeping()
    }

    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        self.held.removing()
    }
}

impl ObjectSizes for LocalObjects {
    fn size(&self, key: &str) -> Result<Option<u64>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        let look = || -> io::Result<Option<u64>> {
            open(&self.path(&key))?.map(|file| Ok(file.metadata()?.len())).transpose()
        };
        look().map_err(|error| trouble("read", &error))
    }

    fn is_remote(&self) -> bool {
        false
    }
}

/// Opens a regular file for reading; `None` if there is no such file. Opening a pipe or a device does not block.
fn open(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).expect("flags of the system are a C int");
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.metadata()?.file_type() {
        found if found.is_file() => Ok(Some(file)),
        found => Err(io::Error::other(format!("{} is in its place", files::sort(found)))),
    }
}

/// Returns true if the rest of a file equals these bytes.
fn has(file: &mut File, mut bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        match bytes.split_at_checked(count) {
            Some((these, rest)) if *these == buffer[..count] => bytes = rest,
            _ => return Ok(false),
        }
        if count == 0 {
            return Ok(bytes.is_empty());
        }
    }
}

/// Returns the error for a caller. It does not contain the path of the folder, because the caller may be on another
/// machine.
pub(super) fn trouble(verb: &'static str, error: &io::Error) -> ObjectError {
    let why = match (error.raw_os_error(), error.get_ref()) {
        (Some(code), _) => io::Error::from_raw_os_error(code).to_string(),
        (None, Some(own)) if error.kind() == io::ErrorKind::Other => own.to_string(),
        (None, _) => error.kind().to_string(),
    };
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ObjectError::Full,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ObjectError::Denied { verb, why }
        }
        _ => ObjectError::Unusable { verb, why },
    }
}
