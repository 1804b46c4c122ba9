//! What is known of mirrored files: one state of each, decided on what was known.

use tulving_core::change::Write;
use tulving_core::error::{Conflict, Unique};
use tulving_core::file::{MirroredFile, Stamp};
use tulving_core::id::SpaceId;
use tulving_core::memory::Mirror;

use super::{Fresh, conflict, good, world};
use crate::build::World;

fn file(path: &str, size: u64) -> MirroredFile {
    let stamp = Stamp { size, modified: -5, inode: u64::MAX };
    MirroredFile { path: path.to_owned(), stamp, digest: [7; 32], settled: size.is_multiple_of(2) }
}

fn note(space: SpaceId, path: &str, from: Option<MirroredFile>, to: Option<MirroredFile>) -> Write {
    Write::Mirrored { space, path: path.to_owned(), from, to }
}

/// A file is known as it was last mirrored, in its own space alone, and is known no more once it is gone. Nothing of it is in the
/// log.
pub fn a_mirrored_file_is_known_as_it_was(fresh: Fresh<'_>) {
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

/// Who mirrors a file that somebody else has mirrored since decides again, and nothing of the set is written.
pub fn a_file_that_others_have_mirrored_conflicts(fresh: Fresh<'_>) {
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

/// The mirrors of a file are known by hash and occurrence, one of each, and follow their lines without a version. They are in no dump.
pub fn a_mirror_follows_its_line(fresh: Fresh<'_>) {
    let world: World = world(fresh);
    let (here, owner) = (SpaceId::DEFAULT, tulving_core::id::PrincipalId::USER);
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
    let hash = first.edition.text.content_hash;
    assert_eq!(known(), [(hash, 0, 1), (hash, 1, 2)]);
    let mut twin = world.draft(here, owner, "one");
    twin.provenance = first.provenance.clone();
    let refused = world.try_apply(vec![crate::build::insert(&twin)]);
    assert_eq!(conflict(refused), Conflict::Taken { what: Unique::Entry });
    let head = good(world.store.head());
    world.apply(vec![Write::Reline { id: first.id, line: 9 }]);
    assert_eq!(known(), [(hash, 0, 9), (hash, 1, 2)]);
    assert_eq!(good(world.store.head()), head, "the log says nothing of it");
    assert_eq!(world.dump(), dump);
}
