//! Attachments in a bucket of a service that speaks as Amazon S3 does.
//!
//! `object_store` knows how to ask and how to sign; [`wire`] carries what it says, on the thread of whoever calls, so that no
//! runtime is needed: nothing here ever waits for another task. Every request ends within the time that is set up.

mod keys;
mod trouble;
mod wire;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use futures_executor::block_on;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload, RetryConfig};
use tulving_core::error::ObjectError;
use tulving_core::ports::{Hold, ObjectKey, Objects};

pub use keys::S3Keys;
use trouble::Told;
use wire::Connector;

use super::ObjectSizes;
use super::held::Held;

/// Where the bucket is and with which keys it is opened.
#[derive(Clone, Debug)]
pub struct S3Config {
    /// The bucket.
    pub bucket: String,
    /// The region of the bucket, such as `eu-central-1`. Services other than Amazon's mostly take any.
    pub region: String,
    /// Where the service answers; `None` is Amazon's own address for the region.
    pub endpoint: Option<String>,
    /// What stands before every key, such as `tulving`; may be empty.
    pub prefix: String,
    /// Whether the endpoint may be one without encryption.
    pub allow_http: bool,
    /// With what the bucket is opened.
    pub keys: S3Keys,
    /// How long one request may take, with all its attempts.
    pub time_out: Duration,
    /// The file that all processes of the home lock while they keep or remove something.
    pub lock: PathBuf,
}

impl S3Config {
    /// How long one request may take unless it is said otherwise.
    pub const TIME_OUT: Duration = Duration::from_secs(60);
}

/// Attachments in a bucket.
pub struct S3 {
    bucket: AmazonS3,
    prefix: String,
    keys: S3Keys,
    held: Held,
}

impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl S3 {
    /// The attachments in this bucket. Asks nothing of it yet; that it cannot be used is said by the first call.
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
            // Not every service knows how to remove several at once, and one is all that is ever removed.
            .with_disable_bulk_delete(true)
            // What is tried again is for the wire to say, which does not need a timer of a runtime for it.
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
            .with_http_connector(Connector { time_out: config.time_out, allow_http: config.allow_http });
        if let Some(token) = config.keys.session() {
            builder = builder.with_token(token);
        }
        if let Some(endpoint) = config.endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        let bucket = builder.build().map_err(|error| unusable(config.keys.hide_in(&error.to_string())))?;
        let prefix = config.prefix.trim_matches('/').to_owned();
        Ok(Self { bucket, prefix, keys: config.keys, held: Held::by(config.lock) })
    }

    fn path(&self, below: &str) -> Path {
        match self.prefix.is_empty() {
            true => Path::from(below),
            false => Path::from(format!("{}/{below}", self.prefix)),
        }
    }

    /// What a caller hears, and `None` where it is only that there is no such object.
    fn told(&self, verb: &'static str, error: &object_store::Error) -> Option<ObjectError> {
        trouble::of(verb, &Told::by(error), |said| self.keys.hide_in(said))
    }
}

impl Objects for S3 {
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError> {
        let key = ObjectKey::of(bytes, hash)?;
        let payload = PutPayload::from(bytes.to_vec());
        match block_on(self.bucket.put(&self.path(key.as_str()), payload)) {
            Ok(_) => Ok(key.into()),
            Err(error) => {
                let no_bucket = || ObjectError::Missing { why: "there is no such bucket".to_owned() };
                Err(self.told("written", &error).unwrap_or_else(no_bucket))
            }
        }
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        let path = self.path(key.as_str());
        match block_on(async { self.bucket.get(&path).await?.bytes().await }) {
            Ok(bytes) => key.check(bytes.into()).map(Some),
            Err(error) => self.told("read", &error).map_or(Ok(None), Err),
        }
    }

    fn remove(&self, key: &str) -> Result<(), ObjectError> {
        let key = ObjectKey::parse(key)?;
        match block_on(self.bucket.delete(&self.path(key.as_str()))) {
            Ok(()) => Ok(()),
            Err(error) => self.told("removed", &error).map_or(Ok(()), Err),
        }
    }

    fn keeping(&self) -> Result<Hold, ObjectError> {
        self.held.keeping()
    }

    fn removing(&self) -> Result<Option<Hold>, ObjectError> {
        self.held.removing()
    }
}

impl ObjectSizes for S3 {
    fn size(&self, key: &str) -> Result<Option<u64>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        match block_on(self.bucket.head(&self.path(key.as_str()))) {
            Ok(found) => Ok(Some(found.size)),
            Err(error) => self.told("read", &error).map_or(Ok(None), Err),
        }
    }

    fn is_remote(&self) -> bool {
        true
    }
}
