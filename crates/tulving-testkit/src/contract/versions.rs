//! Former versions of a memory, for viewers who could have read them then.

use std::collections::HashMap;

use tulving_core::model::change::{Revision, Write};
use tulving_core::model::id::{MemoryId, Version};
use tulving_core::model::space::MemberOf;
use tulving_core::model::vocabulary::{Boundary, Role, VersionAct};

use super::{StoreFactory, good, world};
use crate::build::{self, eyes};

/// Each version has its author, time, reason and agent; the current one comes last.
pub fn versions_come_oldest_first_with_their_makers(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("versions");
    let editor = world.principal("editor");
    world.join(editor, MemberOf::Space(space), Role::Writer);
    let first = world.put(space, owner, "one", |m| m.fields.text.tags = vec!["a".to_owned()]);
    good(world.apply_as(editor, Vec::new(), vec![build::revise(&first, build::fields("two"))]));
    let second = world.seen(&eyes(owner), first.id).expect("there");
    let back = Write::Revise(Box::new(Revision {
        id: first.id,
        from: second.version,
        act: VersionAct::Reverted,
        fields: first.fields.clone(),
        stood: second.status,
        status: second.status,
        chunks: None,
        attachment: None,
        confirmed: None,
    }));
    good(world.apply_as(owner, Vec::new(), vec![back]));
    let third = world.seen(&eyes(owner), first.id).expect("there");
    let versions = good(world.store.versions(&eyes(editor), first.id));
    let described: Vec<_> =
        versions.iter().map(|v| (v.version, v.act, v.by, v.fields.text.content.as_str(), v.at)).collect();
    let at = |memory: &tulving_core::model::memory::Memory| memory.usage.updated_at;
    assert_eq!(
        described,
        [
            (Version(1), VersionAct::Created, owner, "one", at(&first)),
            (Version(2), VersionAct::Updated, editor, "two", at(&second)),
            (Version(3), VersionAct::Reverted, owner, "one", at(&third)),
        ]
    );
    assert!(versions.iter().all(|v| v.agent.as_deref() == Some("kit")));
    assert_eq!(versions[0].fields, first.fields);
    assert_eq!(versions[2].fields, third.fields);
    let mut shown = Vec::new();
    good(world.store.each_version(&eyes(editor), first.id, &mut |version| shown.push(version)));
    shown.reverse();
    assert_eq!(shown, versions);
    let writers = |who| good(world.store.writers(&eyes(who), &[first.id]));
    assert_eq!(writers(editor), HashMap::from([(first.id, owner)]));
    good(world.apply_as(editor, Vec::new(), vec![build::revise(&third, build::fields("four"))]));
    assert_eq!(writers(owner), HashMap::from([(first.id, editor)]));
}

/// A private version stays private after the memory was shared.
pub fn a_version_is_hidden_by_its_own_boundary(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("hidden");
    let reader = world.principal("reader");
    world.join(reader, MemberOf::Space(space), Role::Reader);
    let teammate = world.principal("teammate");
    world.join(teammate, MemberOf::Team(tulving_core::model::id::TeamId::LOCAL), Role::Reader);
    let memory = world.put(space, owner, "diary", |m| m.fields.boundary = Boundary::Private);
    let memory = world.edit(&memory, |e| {
        e.text.content = "for the hub".to_owned();
        e.boundary = Boundary::Hub;
    });
    let memory = world.edit(&memory, |e| {
        e.text.content = "for the team".to_owned();
        e.boundary = Boundary::Team;
    });
    let described = |who| -> Vec<String> {
        good(world.store.versions(&eyes(who), memory.id)).into_iter().map(|v| v.fields.text.content).collect()
    };
    assert_eq!(described(owner), ["diary", "for the hub", "for the team"]);
    assert_eq!(described(reader), ["for the hub", "for the team"]);
    assert_eq!(described(teammate), ["for the team"]);
    world.edit(&memory, |e| e.boundary = Boundary::Private);
    assert_eq!(described(reader), [""; 0], "a memory taken back takes its versions with it");
    assert_eq!(described(owner).len(), 4);
}

/// There are no versions of a memory that is invisible, forgotten or missing.
pub fn versions_follow_the_memorys_visibility(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("gone");
    let stranger = world.principal("stranger");
    let memory = world.put(space, owner, "here", |_| ());
    let memory = world.edit(&memory, |e| e.text.title = Some("t".to_owned()));
    assert_eq!(good(world.store.versions(&eyes(stranger), memory.id)), []);
    assert!(good(world.store.writers(&eyes(stranger), &[memory.id])).is_empty());
    assert_eq!(good(world.store.writers(&eyes(owner), &[memory.id])).len(), 1);
    assert_eq!(good(world.store.versions(&eyes(owner), memory.id)).len(), 2);
    world.forget(&memory);
    assert_eq!(good(world.store.versions(&eyes(owner), memory.id)), []);
    assert!(good(world.store.writers(&eyes(owner), &[memory.id])).is_empty());
    assert_eq!(good(world.store.versions(&eyes(owner), MemoryId::mint(world.now()))), []);
}
