//! The settings for the storage of files that memories describe.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tulving_core::model::error::ObjectError;
use tulving_core::ports::{Objects, ObjectsHold};
use tulving_store::objects::{LocalObjects, ObjectSizes, S3Config, S3Keys, S3Objects};

/// The settings below `objects`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectSettings {
    /// The bucket; empty means a folder in the home.
    pub(super) bucket: String,
    pub(super) region: String,
    pub(super) endpoint: String,
    pub(super) prefix: String,
    pub(super) allow_http: bool,
    /// The file with the keys; empty means the usual environment variables of S3 clients.
    pub(super) keys_file: PathBuf,
}

impl ObjectSettings {
    /// Opens the storage. If the storage cannot be used, only its use fails, so that a wrong setting does not block access
    /// to the memories.
    pub(crate) fn open(&self, folder: &Path) -> Arc<dyn Objects> {
        if self.bucket.is_empty() {
            return Arc::new(LocalObjects::new(folder));
        }
        match self.bucket(folder) {
            Ok(bucket) => Arc::new(bucket),
            Err(why) => Arc::new(UnusableObjects { why }),
        }
    }

    /// Opens the storage to read the sizes of its objects.
    pub(crate) fn sizes(&self, folder: &Path) -> Result<Box<dyn ObjectSizes>, ObjectError> {
        match self.bucket.is_empty() {
            true => Ok(Box::new(LocalObjects::new(folder))),
            false => Ok(Box::new(self.bucket(folder)?)),
        }
    }

    fn bucket(&self, folder: &Path) -> Result<S3Objects, ObjectError> {
        let keys = match self.keys_file.as_os_str().is_empty() {
            true => S3Keys::from_variables(|name| std::env::var(name).ok())?,
            false => S3Keys::from_file(&self.keys_file)?,
        };
        S3Objects::new(S3Config {
            bucket: self.bucket.clone(),
            region: self.region.clone(),
            endpoint: Some(self.endpoint.clone()).filter(|endpoint| !endpoint.is_empty()),
            prefix: self.prefix.clone(),
            allow_http: self.allow_http,
            keys,
            time_out: S3Config::TIME_OUT,
            lock: folder.join("lock"),
        })
    }
}

/// Replaces a storage that cannot be used. Every call returns the reason.
struct UnusableObjects {
    why: ObjectError,
}

impl Objects for UnusableObjects {
    fn put(&self, _: &[u8], _: &str) -> Result<String, ObjectError> {
        Err(self.why.clone())
    }

    fn get(&self, _: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        Err(self.why.clone())
    }

    fn remove(&self, _: &str) -> Result<(), ObjectError> {
        Err(self.why.clone())
    }

    fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        Err(self.why.clone())
    }

    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        Err(self.why.clone())
    }
}
