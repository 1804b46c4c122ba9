//! The stores of attachments: a [folder](LocalObjects) of the home, or a [bucket](S3Objects) of a service.
//!
//! Both stores return only bytes that match the hash in their key. They work without an async runtime, because the
//! caller may already be on a thread of one.

mod local;
mod locks;
mod s3;

use tulving_core::model::error::ObjectError;

pub use local::LocalObjects;
pub use s3::{S3Config, S3Keys, S3Objects};

/// Returns the sizes of attachments without reading them, so that checking all of them is cheap.
pub trait ObjectSizes {
    /// Returns the size of the attachment with a key, in bytes; `None` if there is no such attachment.
    fn size(&self, key: &str) -> Result<Option<u64>, ObjectError>;

    /// Returns true if each call is a request over the network.
    fn is_remote(&self) -> bool;
}
