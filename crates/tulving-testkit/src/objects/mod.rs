//! Attachments in memory that fail on command, and the [`contract`] of every store of attachments.

pub mod contract;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tulving_core::model::error::ObjectError;
use tulving_core::ports::{ObjectKey, Objects, ObjectsHold};

/// The hash that is the key of these bytes.
pub fn hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Attachments in memory.
#[derive(Default)]
pub struct InMemoryObjects {
    kept: Mutex<InMemoryObjectsState>,
    held: Arc<HoldCounter>,
}

/// Number of callers that are storing an object; negative while somebody is removing objects.
#[derive(Default)]
struct HoldCounter {
    count: Mutex<isize>,
    changed: Condvar,
}

impl HoldCounter {
    fn change(&self, by: isize) {
        *self.count.lock().expect("nobody panicked") += by;
        self.changed.notify_all();
    }
}

/// Reverts its change to the count when dropped.
struct HoldGuard(Arc<HoldCounter>, isize);

impl Drop for HoldGuard {
    fn drop(&mut self) {
        self.0.change(-self.1);
    }
}

#[derive(Default)]
struct InMemoryObjectsState {
    objects: BTreeMap<ObjectKey, Vec<u8>>,
    /// The error of every call.
    failing: Option<ObjectError>,
}

impl InMemoryObjects {
    /// No attachments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every call fail with this error, or none.
    pub fn fail(&self, error: Option<ObjectError>) {
        self.kept().failing = error;
    }

    /// Changes the bytes under a key unnoticed.
    pub fn damage(&self, key: &str) {
        let key = ObjectKey::parse(key).expect("a key");
        let mut kept = self.kept();
        kept.objects.get_mut(&key).expect("it is there").push(0);
    }

    /// Number of attachments.
    pub fn count(&self) -> usize {
        self.kept().objects.len()
    }

    fn kept(&self) -> MutexGuard<'_, InMemoryObjectsState> {
        self.kept.lock().expect("nobody panicked")
    }

    fn working(&self) -> Result<MutexGuard<'_, InMemoryObjectsState>, ObjectError> {
        let kept = self.kept();
        match &kept.failing {
            Some(error) => Err(error.clone()),
            None => Ok(kept),
        }
    }
}

impl Objects for InMemoryObjects {
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError> {
        let key = ObjectKey::of(bytes, hash)?;
        self.working()?.objects.insert(key.clone(), bytes.to_vec());
        Ok(key.into())
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        let key = ObjectKey::parse(key)?;
        let found = self.working()?.objects.get(&key).cloned();
        found.map(|bytes| key.check(bytes)).transpose()
    }

    fn remove(&self, key: &str) -> Result<(), ObjectError> {
        let key = ObjectKey::parse(key)?;
        self.working()?.objects.remove(&key);
        Ok(())
    }

    fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        let count = self.held.count.lock().expect("nobody panicked");
        let mut count = self.held.changed.wait_while(count, |count| *count < 0).expect("nobody panicked");
        *count += 1;
        Ok(ObjectsHold::by(HoldGuard(self.held.clone(), 1)))
    }

    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        let mut count = self.held.count.lock().expect("nobody panicked");
        if *count != 0 {
            return Ok(None);
        }
        *count = -1;
        Ok(Some(ObjectsHold::by(HoldGuard(self.held.clone(), -1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_the_contract() {
        for (name, check) in contract::ALL {
            eprintln!("{name}");
            check(&|| Box::new(InMemoryObjects::new()));
        }
    }

    #[test]
    fn it_fails_and_is_damaged_on_command() {
        let objects = InMemoryObjects::new();
        let key = objects.put(b"bytes", &hash(b"bytes")).expect("kept");
        objects.fail(Some(ObjectError::Full));
        assert_eq!(objects.get(&key), Err(ObjectError::Full));
        objects.fail(None);
        assert_eq!(objects.get(&key), Ok(Some(b"bytes".to_vec())));
        objects.damage(&key);
        assert_eq!(objects.get(&key), Err(ObjectError::Damaged { key }));
    }
}
