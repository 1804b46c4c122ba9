//! The port to the storage of attachments.
//!
//! An attachment is named by the hash of its bytes. Therefore an attachment never changes, is stored once even if many
//! memories have it, and can be checked at every read. Every implementation keeps these promises, for any number of
//! processes:
//!
//! - An object is stored completely or not at all, even if the process is killed during the call. The object is durable when
//!   the call returns.
//! - A read returns only the bytes that were stored. Bytes that do not match the hash in their key are never returned.
//! - No call blocks forever: if the storage cannot be reached, the call fails within a configured time.
//! - While one process stores an object, no process of the home deletes objects.

use std::any::Any;

use crate::model::error::ObjectError;
use crate::model::file;
use crate::model::preview;

/// The prefix of every key: the hash function.
const BY_SHA256: &str = "sha256/";
/// Number of characters of a hash.
const HASH: usize = 64;

/// Stores attachments by the hash of their bytes.
///
/// A key consists of the hash function and the hash, in lower case: `sha256/ab/abcdef…`.
pub trait Objects: Send + Sync {
    /// Stores bytes whose SHA-256 is `hash` in hex, and returns their key. The same bytes have the same key and are stored
    /// once. The call returns after the bytes are durable.
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError>;

    /// Returns the bytes under a key, after checking the bytes against the hash in the key; `None` if there is no such
    /// object.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError>;

    /// Deletes the object under a key; a missing object is not an error.
    fn remove(&self, key: &str) -> Result<(), ObjectError>;

    /// Waits until no process deletes objects, then blocks deletion until the result is dropped. The caller keeps the result
    /// from before it stores bytes until the memory of the bytes is saved.
    fn keeping(&self) -> Result<ObjectsHold, ObjectError>;

    /// Blocks storing until the result is dropped, so that the caller can check that no memory needs an object before
    /// deleting it. Returns `None` if any process is storing an object.
    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError>;
}

/// A lock that is released on drop.
#[derive(Debug)]
pub struct ObjectsHold(
    #[expect(dead_code, reason = "the value only has to exist until it is dropped")] Box<dyn Any + Send>,
);

impl ObjectsHold {
    /// Creates a lock that lasts until this value is dropped.
    pub fn by(what: impl Any + Send) -> Self {
        Self(Box::new(what))
    }
}

/// A well-formed key: `sha256/`, the first two characters of the hash, `/`, the hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// Returns the key of these bytes; [`ObjectError::WrongHash`] if the bytes do not match the given hash.
    pub fn of(bytes: &[u8], hash: &str) -> Result<Self, ObjectError> {
        match file::digest(bytes) == hash {
            true => Ok(Self(format!("{BY_SHA256}{}/{hash}", &hash[..2]))),
            false => Err(ObjectError::WrongHash { hash: preview::short(hash) }),
        }
    }

    /// Parses a key. Any other text is refused, so that a key can never lead to a path outside the storage.
    pub fn parse(key: &str) -> Result<Self, ObjectError> {
        let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let parts = key.strip_prefix(BY_SHA256).and_then(|rest| rest.split_once('/'));
        match parts {
            Some((first, hash))
                if hash.len() == HASH && first.len() == 2 && is_hex(hash) && hash.starts_with(first) =>
            {
                Ok(Self(key.to_owned()))
            }
            _ => Err(ObjectError::NotAKey { got: preview::short(key) }),
        }
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the hash in the key.
    pub fn hash(&self) -> &str {
        &self.0[self.0.len() - HASH..]
    }

    /// Returns the bytes if they match the key.
    pub fn check(&self, bytes: Vec<u8>) -> Result<Vec<u8>, ObjectError> {
        match file::digest(&bytes) == self.hash() {
            true => Ok(bytes),
            false => Err(ObjectError::Damaged { key: self.0.clone() }),
        }
    }
}

impl From<ObjectKey> for String {
    fn from(key: ObjectKey) -> Self {
        key.0
    }
}

/// A storage without objects: storing fails, and nothing is ever found.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObjects;

impl Objects for NoObjects {
    fn put(&self, _: &[u8], _: &str) -> Result<String, ObjectError> {
        Err(ObjectError::None)
    }

    fn get(&self, _: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        Ok(None)
    }

    fn remove(&self, _: &str) -> Result<(), ObjectError> {
        Ok(())
    }

    fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        Ok(ObjectsHold::by(()))
    }

    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        Ok(Some(ObjectsHold::by(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of the word `hello`.
    const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    #[test]
    fn a_key_is_made_of_the_hash_and_of_nothing_else() {
        let key = ObjectKey::of(b"hello", HELLO).expect("its hash");
        assert_eq!(key.as_str(), format!("sha256/2c/{HELLO}"));
        assert_eq!((key.hash(), ObjectKey::parse(key.as_str())), (HELLO, Ok(key.clone())));
        for hash in ["", "2c", &HELLO.to_uppercase(), &HELLO.replace('2', "3")] {
            let wrong = ObjectKey::of(b"hello", hash).expect_err(hash);
            assert!(matches!(wrong, ObjectError::WrongHash { .. }), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_a_key_is_named_and_leads_nowhere() {
        let short = &HELLO[..63];
        let wrong = [
            String::new(),
            HELLO.to_owned(),
            format!("sha256/2c/{short}"),
            format!("sha256/2c/{short}/"),
            format!("sha256/2d/{HELLO}"),
            format!("sha256/2c/../{HELLO}"),
            format!("sha256/../{HELLO}"),
            format!("md5/2c/{HELLO}"),
            format!("sha256/2C/{}", HELLO.to_uppercase()),
            format!("sha256/é/{short}é"),
        ];
        for key in &wrong {
            assert!(matches!(ObjectKey::parse(key), Err(ObjectError::NotAKey { .. })), "{key}");
        }
    }

    #[test]
    fn bytes_that_do_not_fit_are_never_given() {
        let key = ObjectKey::of(b"hello", HELLO).expect("its hash");
        assert_eq!(key.check(b"hello".to_vec()), Ok(b"hello".to_vec()));
        let damaged = ObjectError::Damaged { key: key.as_str().to_owned() };
        assert_eq!(key.check(b"hallo".to_vec()), Err(damaged));
    }
}
