//! Counts what was recalled, on the side: noted in memory at once, written together soon after.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::access::{self, Parts};
use crate::change::{Touch, Write};
use crate::error::Error;
use crate::id::MemoryId;
use crate::time::Timestamp;

/// What was recalled and is not written yet.
#[derive(Default)]
pub(crate) struct Touches {
    waiting: Mutex<BTreeMap<MemoryId, Touch>>,
    /// Held by the one who writes.
    writing: Mutex<()>,
}

impl Touches {
    /// Notes that memories were recalled. Never waits for the store.
    pub(crate) fn note(&self, ids: impl IntoIterator<Item = MemoryId>, at: Timestamp) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            let touch = waiting.entry(id).or_insert(Touch { id, count: 0, at });
            touch.count += 1;
            touch.at = touch.at.max(at);
        }
    }

    /// Writes what waits, and says how many memories it was. What could not be written waits on. Afterwards all that was
    /// noted before counts, also what somebody else was about to write.
    pub(crate) fn flush(&self, parts: &Parts) -> Result<u64, Error> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: Vec<Touch> = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting).into_values().collect()
        };
        if taken.is_empty() {
            return Ok(0);
        }
        let set = access::own_changes(parts.clock.now(), vec![Write::Touch(taken.clone())]);
        if let Err(error) = parts.store.apply(&set) {
            self.put_back(&taken);
            return Err(error.into());
        }
        Ok(taken.len() as u64)
    }

    fn put_back(&self, touches: &[Touch]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for touch in touches {
            let entry = waiting.entry(touch.id).or_insert(Touch { count: 0, ..*touch });
            entry.count += touch.count;
            entry.at = entry.at.max(touch.at);
        }
    }
}
