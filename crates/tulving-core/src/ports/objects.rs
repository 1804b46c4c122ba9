//! What the engine asks of the place where attachments are kept.
//!
//! An attachment is named by the hash of its bytes, so it never changes, is kept once however many memories have it, and can be
//! checked whenever it is read. Every implementation keeps these promises, from however many processes it is used at once:
//!
//! - What was put is whole or absent, also where the process is killed in its middle, and durable when the call returns.
//! - What is given is what was put: bytes that do not have the hash in their key are never given.
//! - No call takes for ever: a place that cannot be reached is named within a time that was set up.
//! - While somebody is keeping, nobody is removing, in any process of the home.

use std::any::Any;

use crate::error::ObjectError;
use crate::file;
use crate::preview;

/// How every key begins: by which hash it names.
const BY_SHA256: &str = "sha256/";
/// Characters of a hash.
const HASH: usize = 64;

/// Where attachments are kept, by the hash of their bytes.
///
/// A key says how its bytes are hashed and what came of it: `sha256/ab/abcdef…`, all in lower case.
pub trait Objects: Send + Sync {
    /// Keeps these bytes, whose SHA-256 is `hash` in hex, and says under which key. The same bytes have the same key and are
    /// kept once. Returns after they are durable.
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError>;

    /// The bytes under a key, checked against the hash in it; `None` where there are none.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError>;

    /// Removes what is under a key; that nothing is there is no error.
    fn remove(&self, key: &str) -> Result<(), ObjectError>;

    /// Waits until nobody is removing, and lets nobody begin to for as long as this is held: from before bytes are put until
    /// the memory of them is there.
    fn keeping(&self) -> Result<Hold, ObjectError>;

    /// Lets nobody keep anything for as long as this is held: while somebody finds out that no memory needs what is removed.
    /// `None` where somebody is keeping something.
    fn removing(&self) -> Result<Option<Hold>, ObjectError>;
}

/// Holds others off until it is dropped.
#[derive(Debug)]
pub struct Hold(#[expect(dead_code, reason = "what counts is that it is there")] Box<dyn Any + Send>);

impl Hold {
    /// Lasts for as long as this is there.
    pub fn by(what: impl Any + Send) -> Self {
        Self(Box::new(what))
    }
}

/// A key that is well formed: `sha256/`, the first two characters of the hash, `/`, the hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// The key of these bytes; [`ObjectError::WrongHash`] where they do not have the hash that is said.
    pub fn of(bytes: &[u8], hash: &str) -> Result<Self, ObjectError> {
        match file::digest(bytes) == hash {
            true => Ok(Self(format!("{BY_SHA256}{}/{hash}", &hash[..2]))),
            false => Err(ObjectError::WrongHash { hash: preview::short(hash) }),
        }
    }

    /// Reads a key. Nothing else can be one, so a key never leads anywhere else.
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

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hash in it.
    pub fn hash(&self) -> &str {
        &self.0[self.0.len() - HASH..]
    }

    /// These bytes, if they are those that it is the key of.
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

/// Nowhere: nothing is kept and nothing is there.
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

    fn keeping(&self) -> Result<Hold, ObjectError> {
        Ok(Hold::by(()))
    }

    fn removing(&self) -> Result<Option<Hold>, ObjectError> {
        Ok(Some(Hold::by(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the word `hello`.
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
