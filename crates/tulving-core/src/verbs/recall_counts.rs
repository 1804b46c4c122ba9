//! Counts recalls. The counts are collected in RAM, and written together soon after.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::model::change::{RecallCount, Write};
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::time::Timestamp;
use crate::verbs::access::{self, Ports};

/// The recalls that are not written yet.
#[derive(Default)]
pub(crate) struct UnwrittenRecallCounts {
    waiting: Mutex<BTreeMap<MemoryId, RecallCount>>,
    /// The lock of the thread that writes the counts.
    writing: Mutex<()>,
}

impl UnwrittenRecallCounts {
    /// Counts recalls of memories. Never waits for the store.
    pub(crate) fn note(&self, ids: impl IntoIterator<Item = MemoryId>, at: Timestamp) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            let touch = waiting.entry(id).or_insert(RecallCount { id, count: 0, at });
            touch.count += 1;
            touch.at = touch.at.max(at);
        }
    }

    /// Writes the waiting counts, and returns the number of memories. After a failed write the counts wait for the next
    /// call; in a read-only home they are dropped. When the call returns without an error, all earlier counts are
    /// written, including counts that another thread was writing.
    pub(crate) fn flush(&self, ports: &Ports) -> Result<u64, Error> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let taken: Vec<RecallCount> = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting).into_values().collect()
        };
        if taken.is_empty() {
            return Ok(0);
        }
        let set = access::own_changes(ports.clock.now(), vec![Write::Touch(taken.clone())]);
        if let Err(error) = ports.store.apply(&set) {
            let error = Error::from(error);
            if !error.is_read_only() {
                self.put_back(&taken);
            }
            return Err(error);
        }
        Ok(taken.len() as u64)
    }

    fn put_back(&self, touches: &[RecallCount]) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for touch in touches {
            let entry = waiting.entry(touch.id).or_insert(RecallCount { count: 0, ..*touch });
            entry.count += touch.count;
            entry.at = entry.at.max(touch.at);
        }
    }
}
