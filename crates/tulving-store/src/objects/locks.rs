//! Keeps writers and removers of attachments from working at the same time, in all processes of a home. The lock on a
//! file ends with its process.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use tulving_core::model::error::ObjectError;
use tulving_core::ports::ObjectsHold;

use super::local::trouble;
use crate::{files, home};

/// The lock for a store of attachments. The lock file is never removed: otherwise two processes could have the lock at
/// the same time.
#[derive(Clone, Debug)]
pub(super) struct ObjectsLock {
    file: PathBuf,
}

impl ObjectsLock {
    pub(super) fn by(file: PathBuf) -> Self {
        Self { file }
    }

    pub(super) fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        let shared = || -> io::Result<File> {
            let file = self.open()?;
            file.lock_shared()?;
            Ok(file)
        };
        shared().map(ObjectsHold::by).map_err(|error| trouble("locked", &error))
    }

    pub(super) fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        let file = self.open().map_err(|error| trouble("locked", &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(ObjectsHold::by(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(trouble("locked", &error)),
        }
    }

    fn open(&self) -> io::Result<File> {
        let mut options = File::options();
        options.create(true).append(true).mode(0o600);
        match options.open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                home::try_make_folder(files::folder_of(&self.file))?;
                options.open(&self.file)
            }
            opened => opened,
        }
    }
}
