//! Where attachments are kept: a [folder](Local) of the home, or a [bucket](S3) that others serve.
//!
//! Both give out only bytes that have the hash in their key, and need no runtime: whoever calls may be on a thread of one.

mod held;
mod local;
mod s3;

pub use local::Local;
pub use s3::{S3, S3Config, S3Keys};
