//! Attachments in a bucket of a service with the protocol of Amazon S3.
//!
//! `object_store` creates and signs the requests. [`wire`] sends them on the caller's thread, so that no async runtime
//! is needed: no call in this module ever waits for another task. Every request ends within the configured time.

mod errors;
mod keys;
mod wire;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use futures_executor::block_on;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload, RetryConfig};
use tulving_core::model::error::ObjectError;
use tulving_core::ports::{ObjectKey, Objects, ObjectsHold};

use errors::S3ErrorReply;
pub use keys::S3Keys;
use wire::S3Connector;

use super::ObjectSizes;
use super::locks::ObjectsLock;

/// The address and the keys of a bucket.
#[derive(Clone, Debug)]
pub struct S3Config {
    /// The bucket.
    pub bucket: String,
    /// The region of the bucket, such as `eu-central-1`. Most services other than Amazon accept any region.
    pub region: String,
    /// The address of the service; `None` for Amazon's own address in the region.
    pub endpoint: Option<String>,
    /// The prefix of every key, such as `tulving`. May be empty.
    pub prefix: String,
    /// True if the endpoint may be unencrypted.
    pub allow_http: bool,
    /// The keys of the bucket.
    pub keys: S3Keys,
    /// The time limit for a request, including all of its attempts.
    pub time_out: Duration,
    /// The file that all processes of the home lock while they add or remove objects.
    pub lock: PathBuf,
}

impl S3Config {
    /// The default time limit for a request.
    pub const TIME_OUT: Duration = Duration::from_secs(60);
}

/// Attachments in a bucket.
pub struct S3Objects {
    bucket: AmazonS3,
    prefix: String,
    keys: S3Keys,
    held: ObjectsLock,
}

impl fmt::Debug for S3Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl S3Objects {
    /// Creates the store without sending a request. If the bucket cannot be used, the first call returns an error.
    pub fn new(config: S3Config) -> Result<Self, ObjectError> {
        let unusable = |why| ObjectError::Unusable { verb: "kept", why };
        if let Some(endpoint) = &config.endpoint {
            let scheme = endpoint.split_once("://").map(|(scheme, _)| scheme);
            match scheme {
                Some("https") => {}
                Some("http") if config.allow_http => {}
                Some("http") => {
                    let why = format!("the endpoint {endpoint} is not encrypted; allow http, or use https");
                    return Err(unusable(why));
                }
                _ => return Err(unusable(format!("the endpoint {endpoint} does not begin with https://"))),
            }
        }
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&config.bucket)
            .with_region(&config.region)
            .with_access_key_id(config.keys.id())
            .with_secret_access_key(config.keys.secret())
            .with_allow_http(config.allow_http)
            // Some services cannot remove several objects in one request, and Tulving removes only one object at a
            // time.
            .with_disable_bulk_delete(true)
            // `wire` retries requests, because the retries of `object_store` need the timer of an async runtime.
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
            .with_http_connector(S3Connector { time_out: config.time_out, allow_http: config.allow_http });
        if let Some(token) = config.keys.session() {
            builder = builder.with_token(token);
        }
        if let Some(endpoint) = config.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let bucket = builder.build().map_err(|error| unusable(config.keys.hide_in(&error.to_string())))?;
        let prefix = config.prefix.trim_matches('/').to_owned();
        Ok(Self { bucket, prefix, keys: config.keys, held: ObjectsLock::by(config.lock) })
    }

    fn path(&self, below: &str) -> Path {
        match self.prefix.is_empty() {
            true => Path::from(below),
            false => Path::from(format!("{}/{below}", self.prefix)),
        }
    }

    /// Returns the error for a caller, or `None` if the only problem is a missing object.
    fn described(&self, verb: &'static str, error: &object_store::Error) -> Option<ObjectError> {
        errors::of(verb, &S3ErrorReply::by(error), |said| self.keys.hide_in(said))
    }
}

impl Objects for S3Objects {
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError> {
        let key = ObjectKey::of(bytes, hash)?;
        let payload = PutPayload::from(bytes.to_vec());
        match block_on(self.bucket.put(&self.path(key.as_str()), payload)) {
            Ok(_) => Ok(key.into()),
            Err(error) => {
                let no_bucket = || ObjectError::Missing { why: "there is no such bucket".to_owned() };
                Err(self.described("written", &error).unwrap_or_else(no_bucket))
            }
        }
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        let path = self.path(key.as_str());
        match block_on(async { self.bucket.get(&path).await?.bytes().await }) {
            Ok(bytes) => key.check(bytes.into()).map(Some),
            Err(error) => self.described("read", &error).map_or(Ok(None), Err),
        }
    }

    fn remove(&self, key: &str) -> Result<(), ObjectError> {
        let key = ObjectKey::parse(key)?;
        match block_on(self.bucket.delete(&self.path(key.as_str()))) {
            Ok(()) => Ok(()),
            Err(error) => self.described("removed", &error).map_or(Ok(()), Err),
        }
    }

    fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        self.held.keeping()
    }

    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        self.held.removing()
    }
}

impl ObjectSizes for S3Objects {
    fn size(&self, key: &str) -> Result<Option<u64>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        match block_on(self.bucket.head(&self.path(key.as_str()))) {
            Ok(found) => Ok(Some(found.size)),
            Err(error) => self.described("read", &error).map_or(Ok(None), Err),
        }
    }

    fn is_remote(&self) -> bool {
        true
    }
}
