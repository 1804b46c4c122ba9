//! Short builders of memories, acts and stores for the tests of this crate.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::change::{Actor, Applied, ChangeSet, NewMemory, Write};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::memory::{Memory, VersionFields};
use tulving_core::model::record::{DumpPosition, Record};
use tulving_core::model::space::Viewer;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::Boundary;
use tulving_core::ports::{Store, Transfer};
use tulving_core::text::chunk;
use tulving_store::{Home, SqliteOptions, SqliteStore};
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;

/// Opens a store in this folder.
pub(crate) fn store(folder: &Path) -> SqliteStore {
    try_store(folder).expect("it opens")
}

/// Opens a store in this folder, or returns the error.
pub(crate) fn try_store(folder: &Path) -> Result<SqliteStore, StoreError> {
    let home = Home::open_or_create(folder)?;
    let options = SqliteOptions { busy_wait: Duration::from_secs(30), ..SqliteOptions::default() };
    SqliteStore::open_with_clock(&home, options, Arc::new(ManualClock::ticking(Duration::from_secs(1))))
}

/// Returns the user, unconfined.
pub(crate) fn user() -> Viewer {
    Viewer { principal: PrincipalId::USER, within: None }
}

/// Returns the time of the `n`th act of a test.
pub(crate) fn time(n: i64) -> Timestamp {
    Timestamp::from_micros(1_779_900_000_000_000 + n * 1_000_000)
}

/// Returns a plain memory of the user in `default`.
pub(crate) fn memory(content: &str) -> Memory {
    let memory = build::memory(time(0), SpaceId::DEFAULT, PrincipalId::USER, content);
    Memory { fields: fields(content), ..memory }
}

/// Returns a plain, private edition.
pub(crate) fn fields(content: &str) -> VersionFields {
    VersionFields { boundary: Boundary::Private, ..build::fields(content) }
}

/// Returns the write that inserts a memory as one chunk.
pub(crate) fn insert(memory: Memory) -> Write {
    let chunks = chunk::of(&memory.fields.text);
    Write::Insert(Box::new(NewMemory { memory, chunks }))
}

/// Returns an act of the user.
pub(crate) fn act(writes: Vec<Write>) -> ChangeSet {
    let by = Actor { principal: PrincipalId::USER, agent: None };
    ChangeSet { by, at: time(1), rights: Vec::new(), writes }
}

/// Applies an act of the user that must succeed.
pub(crate) fn apply(store: &SqliteStore, writes: Vec<Write>) -> Applied {
    store.apply(&act(writes)).expect("it is applied")
}

/// Saves a plain memory.
pub(crate) fn save(store: &SqliteStore, content: &str) -> MemoryId {
    let memory = memory(content);
    let id = memory.id;
    apply(store, vec![insert(memory)]);
    id
}

/// Ignores the progress of a copy.
pub(crate) fn quiet() -> impl FnMut(u64, u64) {
    |_, _| ()
}

/// Returns everything in a store, in pages of `page` records.
pub(crate) fn dump(store: &SqliteStore, page: usize) -> Vec<Record> {
    let mut records = Vec::new();
    let mut position = Some(DumpPosition::default());
    while let Some(at) = position {
        let (some, next) = store.dump(at, page).expect("it is read");
        assert!(some.len() <= page.max(1));
        records.extend(some);
        position = next;
    }
    records
}
