//! Records of mirrored files: each file has one state, and every change names the state that it is based on.

use tulving_core::model::change::Write;
use tulving_core::model::error::{Conflict, Unique};
use tulving_core::model::file::{FileStamp, MirroredFile};
use tulving_core::model::id::SpaceId;
use tulving_core::model::memory::Mirror;

use super::{StoreFactory, conflict, good, world};
use crate::build::StoreFixture;

fn file(path: &str, size: u64) -> MirroredFile {
    let stamp = FileStamp { size, modified: -5, inode: u64::MAX };
    MirroredFile { path: path.to_owned(), stamp, digest: [7; 32], settled: size.is_multiple_of(2) }
}

fn note(space: SpaceId, path: &str, from: Option<MirroredFile>, to: Option<MirroredFile>) -> Write {
    Write::Mirrored { space, path: path.to_owned(), from, to }
}

/// A file has the state of its last mirroring, only in its own space, until the file is removed. Writing
/// the record adds no entry to the change log.
pub fn a_mirrored_file_is_known_as_it_was(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (here, there) = (SpaceId::DEFAULT, world.hub("elsewhere"));
    let head = good(world.store.head());
    let (one, other) = (file("memory/b.md", 4), file("memory/a.md", 5));
    world.apply(vec![
        note(here, &one.path, None, Some(one.clone())),
        note(here, &other.path, None, Some(other.clone())),
    ]);
    assert_eq!(good(world.store.mirrored(here)), [other.clone(), one.clone()], "by path");
    assert_eq!(good(world.store.mirrored(there)), []);
    let later = MirroredFile { digest: [8; 32], ..file("memory/b.md", 6) };
    world.apply(vec![note(here, "memory/b.md", Some(one), Some(later.clone()))]);
    world.apply(vec![note(here, "memory/a.md", Some(other), None)]);
    assert_eq!(good(world.store.mirrored(here)), [later]);
    assert_eq!(good(world.store.head()), head);
}

/// If the file was mirrored by somebody else in the meantime, the change conflicts, and nothing of the set is written.
pub fn a_file_that_others_have_mirrored_conflicts(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let here = SpaceId::DEFAULT;
    let (one, other) = (file("memory/a.md", 4), file("memory/a.md", 6));
    let path = one.path.clone();
    world.apply(vec![note(here, &path, None, Some(one.clone()))]);
    let before = world.dump();
    for from in [None, Some(other.clone())] {
        let writes = vec![
            note(here, "memory/b.md", None, Some(file("memory/b.md", 1))),
            note(here, &path, from, Some(other.clone())),
        ];
        let refused = world.try_apply(writes);
        assert_eq!(conflict(refused), Conflict::Mirrored { path: path.clone() });
    }
    assert_eq!(good(world.store.mirrored(here)), [one]);
    assert_eq!(world.dump(), before);
}

/// The mirrors of a file are identified by hash and occurrence. They follow their lines without a new version, and are
/// in no dump.
pub fn a_mirror_follows_its_line(fresh: StoreFactory<'_>) {
    let world: StoreFixture = world(fresh);
    let (here, owner) = (SpaceId::DEFAULT, tulving_core::model::id::PrincipalId::USER);
    let dump = world.dump();
    let mirror = |content: &str, path: &str, line, occurrence| {
        world.put(here, owner, content, |memory| {
            memory.provenance.source_path = Some(path.to_owned());
            memory.provenance.mirror = Some(Mirror { line, occurrence });
        })
    };
    let first = mirror("one", "memory/a.md", 1, 0);
    mirror("one", "memory/a.md", 2, 1);
    mirror("one", "memory/b.md", 3, 0);
    let known = || {
        let mut known = good(world.store.mirrors(here, "memory/a.md"));
        known.sort_by_key(|entry| entry.occurrence);
        known.into_iter().map(|entry| (entry.hash, entry.occurrence, entry.line)).collect::<Vec<_>>()
    };
    let hash = first.fields.text.content_hash;
    assert_eq!(known(), [(hash, 0, 1), (hash, 1, 2)]);
    let mut duplicate = world.draft(here, owner, "one");
    duplicate.provenance = first.provenance.clone();
    let refused = world.try_apply(vec![crate::build::insert(&duplicate)]);
    assert_eq!(conflict(refused), Conflict::Taken { what: Unique::Entry });
    let head = good(world.store.head());
    world.apply(vec![Write::Reline { id: first.id, line: 9 }]);
    assert_eq!(known(), [(hash, 0, 9), (hash, 1, 2)]);
    assert_eq!(good(world.store.head()), head, "the log says nothing of it");
    assert_eq!(world.dump(), dump);
}
