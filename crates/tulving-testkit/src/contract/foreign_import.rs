//! Memories imported from other systems: the records that connect each foreign memory to a memory here, and the content
//! at the import.

use tulving_core::model::change::{ForeignItem, ImportRecord, ImportedRecord, Write};
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{MemoryNumber, PrincipalId, SpaceId, Version};
use tulving_core::model::memory::{Chunk, Memory};
use tulving_core::model::record::{CurrentVersion, LoadOutcome, MemoryRecord};
use tulving_core::model::vocabulary::{System, VersionAct};

use super::{StoreFactory, conflict, good, world};
use crate::build::StoreFixture;

const HERE: SpaceId = SpaceId::DEFAULT;
const USER: PrincipalId = PrincipalId::USER;

fn item(name: u8, says: u8) -> ForeignItem {
    ForeignItem { space: HERE, system: System::Max, name: [name; 32], says: [says; 32] }
}

fn adopt(item: ForeignItem, memory: &Memory, above: u64) -> Write {
    let current = CurrentVersion { act: VersionAct::Created, by: USER, agent: None };
    let record = MemoryRecord { memory: memory.clone(), versions: Vec::new(), current };
    Write::Adopt(Box::new(ImportedRecord { item, record, chunks: chunks(), above }))
}

/// Chunks that no splitter would make.
fn chunks() -> Vec<Chunk> {
    let chunk = |start| Chunk { start, end: start + 1, heading_path: Vec::new(), embedding: None };
    vec![chunk(0), chunk(1)]
}

fn known(world: &StoreFixture, name: u8) -> Option<ImportRecord> {
    let mut found = good(world.store.adopted(HERE, USER, System::Max, &[[name; 32]]));
    assert!(found.len() <= 1);
    found.pop()
}

/// A foreign memory is found by its own imported memory, or by an existing memory with the same content. Nothing is
/// recorded for an id that is already taken. Other principals, spaces and systems do not see the record, and it is
/// deleted with the memory.
pub fn what_stands_for_a_foreign_memory_is_known(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let there = world.hub("elsewhere");
    let mine = world.put(HERE, USER, "said here", |_| {});
    let (new, duplicate) = (world.draft(HERE, USER, "new"), world.draft(HERE, USER, "said here"));
    let loaded = world.apply(vec![
        adopt(item(1, 1), &new, 0),
        adopt(item(2, 2), &duplicate, 0),
        adopt(item(3, 3), &Memory { id: mine.id, ..duplicate.clone() }, 0),
    ]);
    assert_eq!(
        loaded.loaded,
        [LoadOutcome::Added, LoadOutcome::Duplicate { of: mine.id }, LoadOutcome::Present]
    );
    let found = known(&world, 1).expect("it is known");
    assert_eq!((found.memory, found.says, found.space), (new.id, [1; 32], HERE));
    assert_eq!((found.version, found.current), (Version::FIRST, Version::FIRST));
    assert_eq!(known(&world, 2).map(|item| item.memory), Some(mine.id));
    assert_eq!(known(&world, 3), None);
    let entries = good(world.store.entries(&[new.id], None));
    assert_eq!(entries[0].chunks, chunks(), "it is cut as it came");
    for (space, owner, system) in [
        (there, USER, System::Max),
        (HERE, world.principal("friend"), System::Max),
        (HERE, USER, System::Memax),
    ] {
        assert_eq!(good(world.store.adopted(space, owner, system, &[[1; 32]])), []);
    }
    let seen = world.seen(&crate::build::eyes(USER), new.id).expect("it is there");
    world.edit(&seen, |fields| fields.key = Some("k".to_owned()));
    let edited = known(&world, 1).expect("it is known");
    assert_eq!((edited.version, edited.current), (Version::FIRST, Version(2)));
    world.apply(vec![Write::Adopted { item: item(1, 9), memory: new.id }]);
    let noted = known(&world, 1).expect("it is known");
    assert_eq!((noted.says, noted.version), ([9; 32], Version(2)));
    world.erase(new.id);
    assert_eq!(known(&world, 1), None);
    let refused = world.try_apply(vec![Write::Adopted { item: item(1, 9), memory: new.id }]);
    assert_eq!(conflict(refused), Conflict::Gone { id: new.id });
}

/// An imported number is kept if it is free. Otherwise the memory gets a number above all that may still be imported.
pub fn an_adopted_memory_leaves_the_numbers_of_the_others_free(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let first = world.put(HERE, USER, "mine", |_| {});
    assert_eq!(first.number, Some(MemoryNumber(1)));
    let numbered = |number: Option<u64>, content: &str| Memory {
        number: number.map(MemoryNumber),
        ..world.draft(HERE, USER, content)
    };
    let loaded = world.apply(vec![
        adopt(item(1, 1), &numbered(Some(1), "one"), 4),
        adopt(item(2, 1), &numbered(Some(2), "two"), 4),
        adopt(item(3, 1), &numbered(None, "none"), 4),
        adopt(item(4, 1), &numbered(Some(4), "four"), 4),
    ]);
    let moved = LoadOutcome::Renumbered { from: MemoryNumber(1), to: MemoryNumber(5) };
    assert_eq!(loaded.loaded, [moved, LoadOutcome::Added, LoadOutcome::Added, LoadOutcome::Added]);
    let next = world.put(HERE, USER, "the next", |_| {});
    assert_eq!(next.number, Some(MemoryNumber(7)));
}
