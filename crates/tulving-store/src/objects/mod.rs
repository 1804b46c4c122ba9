//! Where attachments are kept: a [folder](Local) of the home, or a [bucket](S3) that others serve.
//!
//! Both give out only bytes that have the hash in their key, and need no runtime: whoever calls may be on a thread of one.

mod held;
mod local;
mod s3;

use tulving_core::error::ObjectError;

pub use local::Local;
pub use s3::{S3, S3Config, S3Keys};

/// Says how large attachments are without reading them, so that a check of all of them is cheap.
pub trait ObjectSizes {
    /// The size of what is under a key; `None` where there is nothing.
    fn size(&self, key: &str) -> Result<Option<u64>, ObjectError>;

    /// Tells if each question goes over the network.
    fn is_remote(&self) -> bool;
}
