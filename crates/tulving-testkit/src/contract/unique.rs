//! Keys, source paths and contents are unique within an audience: the private memories of an owner, or the shared memories.

use tulving_core::model::change::Write;
use tulving_core::model::error::{Conflict, StoreError, Unique};
use tulving_core::model::id::{PrincipalId, SpaceId};
use tulving_core::model::memory::{Memory, Mirror, Sources};
use tulving_core::model::request::{Filter, Sort};
use tulving_core::model::space::MemberOf;
use tulving_core::model::vocabulary::{Boundary, Role, State};
use tulving_core::ports::DuplicateQuery;

use super::{StoreFactory, conflict, good, world};
use crate::build::{self, StoreFixture, eyes};

type MemoryMutation = fn(&mut Memory);

/// A unique value of a memory, and the change that sets it.
const HELD: [(Unique, MemoryMutation); 3] = [
    (Unique::Key, |m| m.fields.key = Some("k".to_owned())),
    (Unique::SourcePath, |m| m.provenance.source_path = Some("p".to_owned())),
    (Unique::Content, |_| ()),
];

/// Two spaces and two people who write in both.
struct UniquenessFixture {
    world: StoreFixture,
    here: SpaceId,
    there: SpaceId,
    ann: PrincipalId,
    bob: PrincipalId,
}

impl UniquenessFixture {
    fn new(fresh: StoreFactory<'_>) -> Self {
        let world = world(fresh);
        let [here, there] = ["here", "there"].map(|name| world.hub(name));
        let [ann, bob] = ["ann", "bob"].map(|name| world.principal(name));
        for space in [here, there] {
            for who in [ann, bob] {
                world.join(who, MemberOf::Space(space), Role::Writer);
            }
        }
        Self { world, here, there, ann, bob }
    }

    fn draft(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        boundary: Boundary,
        content: &str,
        change: impl FnOnce(&mut Memory),
    ) -> Memory {
        let mut memory = self.world.draft(space, owner, content);
        memory.fields.boundary = boundary;
        change(&mut memory);
        memory
    }

    fn insert(&self, memory: &Memory) -> Result<(), StoreError> {
        self.world.apply_as(memory.owner, Vec::new(), vec![build::insert(memory)]).map(drop)
    }

    /// Inserts two memories that have `change` in common, and returns true if the second was accepted.
    fn both_fit(
        &self,
        what: Unique,
        first: (SpaceId, PrincipalId, Boundary),
        second: (SpaceId, PrincipalId, Boundary),
        change: impl Fn(&mut Memory),
    ) -> bool {
        let contents = match what {
            Unique::Content => ["the same", "the same"],
            _ => ["first", "second"],
        };
        let [one, two] = [(first, contents[0]), (second, contents[1])]
            .map(|((space, owner, boundary), content)| self.draft(space, owner, boundary, content, &change));
        good(self.insert(&one));
        let fits = match self.insert(&two) {
            Ok(()) => true,
            Err(StoreError::Conflict(conflict)) => {
                assert_eq!(conflict, Conflict::Taken { what });
                false
            }
            Err(error) => panic!("{error}"),
        };
        self.world.erase(one.id);
        if fits {
            self.world.erase(two.id);
        }
        fits
    }

    fn check_audience(&self, what: Unique, change: impl Fn(&mut Memory)) {
        use Boundary::{Hub, Org, Private, Team};
        let (here, there, ann, bob) = (self.here, self.there, self.ann, self.bob);
        let cases = [
            ("one owner's private ones", (here, ann, Private), (here, ann, Private), false),
            ("two owners' private ones", (here, ann, Private), (here, bob, Private), true),
            ("a private and a shared one", (here, ann, Private), (here, ann, Hub), true),
            ("a shared and a private one", (here, ann, Team), (here, ann, Private), true),
            ("shared ones of one owner", (here, ann, Hub), (here, ann, Hub), false),
            ("shared ones of two owners", (here, ann, Hub), (here, bob, Hub), false),
            ("shared ones of two boundaries", (here, ann, Hub), (here, bob, Team), false),
            ("team and org", (here, ann, Team), (here, ann, Org), false),
            ("two spaces", (here, ann, Hub), (there, ann, Hub), true),
            ("private ones of two spaces", (here, ann, Private), (there, ann, Private), true),
        ];
        for (case, first, second, expected) in cases {
            let same_boundary = first.2 == second.2;
            let expected = expected || (what == Unique::Content && !same_boundary);
            assert_eq!(self.both_fit(what, first, second, &change), expected, "the {what} of {case}");
        }
    }
}

/// A key is unique among an owner's private memories of a space, and among its shared ones.
pub fn a_key_is_unique_within_its_audience(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    place.check_audience(Unique::Key, |m| m.fields.key = Some("k".to_owned()));
    let two_keys = ["k", "K"].map(|key| {
        place.draft(place.here, place.ann, Boundary::Hub, key, |m| m.fields.key = Some(key.to_owned()))
    });
    for memory in two_keys {
        good(place.insert(&memory));
    }
}

/// A source path is unique in the same way.
pub fn a_source_path_is_unique_within_its_audience(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    place.check_audience(Unique::SourcePath, |m| m.provenance.source_path = Some("p".to_owned()));
}

/// A content is unique within its exact boundary. The content of a private memory is unique among its owner's memories.
pub fn a_content_is_unique_within_its_boundary(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    place.check_audience(Unique::Content, |_| ());
}

/// Memories with a key or a conversation may have the content of another memory; memories with a source path may not.
pub fn a_key_and_a_conversation_lift_the_rule_of_content(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let hub = |change: &dyn Fn(&mut Memory)| {
        let memory = place.draft(place.here, place.ann, Boundary::Hub, "the same", |m| change(m));
        place.insert(&memory)
    };
    good(hub(&|_| ()));
    for n in ["one", "two"] {
        good(hub(&|m| m.fields.key = Some(n.to_owned())));
        good(hub(&|m| m.place.conversation = Some("both".to_owned())));
    }
    let what = Unique::Content;
    assert_eq!(conflict(hub(&|_| ())), Conflict::Taken { what });
    assert_eq!(
        conflict(hub(&|m| m.place.speaker = Some("Ada".to_owned()))),
        Conflict::Taken { what },
        "a speaker alone is no conversation"
    );
    let with_path = hub(&|m| m.provenance.source_path = Some("p".to_owned()));
    assert_eq!(conflict(with_path), Conflict::Taken { what }, "files that say the same are one memory");
}

/// A forgotten memory frees its key, path and content. The memory cannot be restored while another memory uses them.
pub fn what_is_forgotten_holds_nothing(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    for (what, change) in HELD {
        let first = place.world.put(place.here, place.ann, "the same", change);
        let forgotten = place.world.forget(&first);
        let says = if what == Unique::Content { "the same" } else { "something else" };
        let second = place.world.put(place.here, place.bob, says, change);
        let back = || place.world.try_apply(vec![build::shift(&forgotten, |s| s.forgotten_at = None)]);
        assert_eq!(conflict(back()), Conflict::Taken { what });
        place.world.forget(&second);
        good(back());
        place.world.erase(first.id);
    }
}

/// Archiving, cooling, quarantine and pins free nothing.
pub fn what_is_archived_or_quarantined_still_holds(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let world = &place.world;
    let now = world.now();
    let archived = world.put(place.here, place.ann, "archived", |_| ());
    world.shift(&archived, |s| s.state = State::Archived);
    let quarantined = world.put(place.here, place.ann, "quarantined", |_| ());
    world.shift(&quarantined, |s| s.quarantined_at = Some(now));
    for content in ["archived", "quarantined"] {
        let again = world.draft(place.here, place.bob, content);
        assert_eq!(conflict(place.insert(&again)), Conflict::Taken { what: Unique::Content });
    }
}

/// Edits follow the same rule as new memories.
pub fn an_edit_or_a_wider_boundary_cannot_take_what_is_held(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let world = &place.world;
    world.put(place.here, place.ann, "held", |_| ());
    world.put(place.here, place.ann, "keyed", |m| m.fields.key = Some("k".to_owned()));
    let other = world.put(place.here, place.bob, "other", |_| ());
    let private = world.put(place.here, place.bob, "held", |m| m.fields.boundary = Boundary::Private);
    let private_key = world.put(place.here, place.bob, "another", |m| {
        m.fields.boundary = Boundary::Private;
        m.fields.key = Some("k".to_owned());
    });
    let attempt = |memory: &Memory, change: &dyn Fn(&mut Memory)| {
        let mut to = memory.clone();
        change(&mut to);
        to.fields.text.content_hash = build::text(&to.fields.text.content).content_hash;
        let write = build::revise(memory, to.fields);
        conflict(world.try_apply(vec![write]))
    };
    let taken = |what| Conflict::Taken { what };
    let content = attempt(&other, &|m| m.fields.text.content = "held".to_owned());
    assert_eq!(content, taken(Unique::Content));
    let key = attempt(&other, &|m| m.fields.key = Some("k".to_owned()));
    assert_eq!(key, taken(Unique::Key));
    let wider = attempt(&private, &|m| m.fields.boundary = Boundary::Hub);
    assert_eq!(wider, taken(Unique::Content));
    let wider = attempt(&private_key, &|m| m.fields.boundary = Boundary::Org);
    assert_eq!(wider, taken(Unique::Key));
    world.edit(&private, |e| e.boundary = Boundary::Team);
    let keyed = world.edit(&other, |e| {
        e.key = Some("free".to_owned());
        e.text.content = "held".to_owned();
    });
    let loses_its_key = attempt(&keyed, &|m| m.fields.key = None);
    assert_eq!(loses_its_key, taken(Unique::Content));
}

/// A memory that moves to another space must follow the rules there. If it breaks one, it does not move.
pub fn what_goes_to_another_space_cannot_take_what_is_held_there(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    for (what, change) in HELD {
        let content = what.to_string();
        let [mine, theirs] = [place.here, place.there].map(|space| {
            let content = match what {
                Unique::Content => content.clone(),
                _ => format!("{content} {space}"),
            };
            let memory = place.draft(space, place.ann, Boundary::Hub, &content, change);
            place.world.save(memory)
        });
        let goes = || place.world.try_apply(vec![build::relocate(&mine, place.there)]);
        assert_eq!(conflict(goes()), Conflict::Taken { what });
        assert_eq!(place.world.seen(&eyes(place.ann), mine.id).expect("there").space, place.here);
        place.world.forget(&theirs);
        good(goes());
    }
}

/// Each additional path is as unique as the first path, whichever memory has it and however it was added.
pub fn every_path_of_a_memory_is_unique_within_its_audience(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let (world, here, ann, bob) = (&place.world, place.here, place.ann, place.bob);
    let filed = |paths: &[&str]| {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        move |memory: &mut Memory| memory.provenance.set_sources(Sources { paths, without_path: false })
    };
    let taken = Conflict::Taken { what: Unique::SourcePath };
    let held = world.put(here, ann, "held", filed(&["a", "b"]));
    let insert = |owner, boundary, paths: &[&str]| {
        place.insert(&place.draft(here, owner, boundary, &format!("{paths:?}"), filed(paths)))
    };
    assert_eq!(conflict(insert(bob, Boundary::Hub, &["b"])), taken);
    assert_eq!(conflict(insert(bob, Boundary::Team, &["c", "b"])), taken);
    assert_eq!(conflict(insert(bob, Boundary::Hub, &["c", "a"])), taken);
    good(insert(bob, Boundary::Private, &["b", "a"]));
    let other = world.put(here, bob, "other", filed(&["c"]));
    let gain = |path: &str| {
        let from = other.provenance.sources();
        let to = from.clone().with(Some(path));
        world.try_apply(vec![Write::SetSources { id: other.id, from, to }])
    };
    assert_eq!(conflict(gain("a")), taken);
    assert_eq!(conflict(gain("b")), taken);
    let repath = Write::Repath { id: other.id, from: "c".to_owned(), to: "b".to_owned() };
    assert_eq!(conflict(world.try_apply(vec![repath])), taken);
    let elsewhere = world.put(place.there, ann, "elsewhere", filed(&["d", "b"]));
    assert_eq!(conflict(world.try_apply(vec![build::relocate(&elsewhere, here)])), taken);
    let forgotten = world.forget(&held);
    good(gain("b"));
    let back = || world.try_apply(vec![build::shift(&forgotten, |s| s.forgotten_at = None)]);
    assert_eq!(conflict(back()), taken);
    world.forget(&other);
    good(back());
}

/// Adding or removing a path makes no new version. A change that is based on other paths conflicts. Erasing a memory
/// removes its paths.
pub fn the_paths_of_a_memory_change_without_a_version(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let (world, here, ann) = (&place.world, place.here, place.ann);
    let memory = world.put(here, ann, "said", |_| ());
    let set = |from: &Sources, to: &Sources| {
        world.try_apply(vec![Write::SetSources { id: memory.id, from: from.clone(), to: to.clone() }])
    };
    let bare = memory.provenance.sources();
    let filed = bare.clone().with(Some("a")).with(Some("b"));
    let before = good(world.store.head());
    good(set(&bare, &filed));
    assert!(good(world.store.head()) > before, "whoever follows the log hears of it");
    let seen = || world.seen(&eyes(ann), memory.id).expect("there");
    assert_eq!((seen().provenance.sources(), seen().version), (filed.clone(), memory.version));
    assert_eq!(seen().provenance.source_path.as_deref(), Some("a"));
    assert_eq!(seen().provenance.source_paths, ["a", "b"]);
    assert_eq!(conflict(set(&bare, &filed)), Conflict::Moved { id: memory.id });
    let listed = |path: &str| {
        let filter = Filter { source_path: Some(path.to_owned()), ..Filter::default() };
        good(world.store.ids(&eyes(ann), &filter, Sort::Newest))
    };
    assert_eq!((listed("a"), listed("b"), listed("c")), (vec![memory.id], vec![memory.id], vec![]));
    let repath =
        |from: &str, to: &str| Write::Repath { id: memory.id, from: from.to_owned(), to: to.to_owned() };
    good(world.try_apply(vec![repath("b", "c")]));
    assert_eq!(seen().provenance.source_paths, ["a", "c"]);
    good(world.try_apply(vec![repath("a", "c")]));
    assert_eq!(seen().provenance.paths(), ["c"], "a path is there once");
    good(set(&seen().provenance.sources(), &bare));
    assert_eq!(seen().provenance, memory.provenance);
    good(set(&bare, &filed));
    world.erase(memory.id);
    let again = world.put(here, ann, "other", |m| m.provenance.source_path = Some("b".to_owned()));
    assert_eq!(listed("b"), [again.id]);
}

/// A file may have many mirrors with the same path, and some of them may be equal.
pub fn mirrors_share_their_path(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let mirror = |content: &str, line, occurrence| {
        place.world.put(place.here, place.ann, content, |m| {
            m.provenance.source_path = Some("MEMORY.md".to_owned());
            m.provenance.mirror = Some(Mirror { line, occurrence });
        })
    };
    mirror("one", 1, 0);
    mirror("two", 2, 0);
    mirror("one", 3, 1);
    place
        .world
        .put(place.here, place.ann, "one", |m| m.provenance.source_path = Some("MEMORY.md".to_owned()));
}

/// A save finds the memory that it would conflict with, but not in another audience.
pub fn a_twin_is_found_by_key_then_path_then_content(fresh: StoreFactory<'_>) {
    let place = UniquenessFixture::new(fresh);
    let world = &place.world;
    let (here, ann, bob) = (place.here, place.ann, place.bob);
    let content = world.put(here, ann, "said", |_| ());
    let path = world.put(here, ann, "filed", |m| {
        m.provenance
            .set_sources(Sources { paths: vec!["o".to_owned(), "p".to_owned()], without_path: false });
    });
    let key = world.put(here, ann, "said", |m| m.fields.key = Some("k".to_owned()));
    let private = world.put(here, ann, "said", |m| {
        m.fields.boundary = Boundary::Private;
        m.fields.key = Some("k".to_owned());
    });
    let hash = Some(content.fields.text.content_hash);
    let all = DuplicateQuery {
        space: here,
        boundary: Boundary::Hub,
        owner: bob,
        key: Some("k"),
        source_path: Some("p"),
        content_hash: hash,
        attachment_hash: None,
    };
    let duplicate = |who, duplicate_query: &DuplicateQuery<'_>| {
        good(world.store.duplicate(&eyes(who), duplicate_query)).map(|m| m.id)
    };
    assert_eq!(duplicate(bob, &all), Some(key.id), "the key first");
    let no_key = DuplicateQuery { key: None, ..all.clone() };
    assert_eq!(duplicate(bob, &no_key), Some(path.id), "then the path");
    let bare = DuplicateQuery { source_path: None, ..no_key.clone() };
    assert_eq!(duplicate(bob, &bare), Some(content.id), "then the content");
    let free = DuplicateQuery {
        key: Some("free"),
        source_path: None,
        content_hash: None,
        attachment_hash: None,
        ..all.clone()
    };
    assert_eq!(duplicate(bob, &free), None);
    let wider = |duplicate_query: &DuplicateQuery<'static>| DuplicateQuery {
        boundary: Boundary::Org,
        ..duplicate_query.clone()
    };
    let key_alone = DuplicateQuery { content_hash: None, source_path: None, ..all.clone() };
    assert_eq!(duplicate(bob, &wider(&key_alone)), Some(key.id), "shared keys are one audience");
    assert_eq!(duplicate(bob, &wider(&bare)), None, "a memory with another boundary is no duplicate");
    let mine = |owner| DuplicateQuery { boundary: Boundary::Private, owner, ..key_alone.clone() };
    assert_eq!(duplicate(ann, &mine(ann)), Some(private.id));
    assert_eq!(duplicate(bob, &mine(bob)), None, "another's private memory is no duplicate");
    assert_eq!(duplicate(bob, &mine(ann)), None, "and cannot be asked for");
    let elsewhere = DuplicateQuery { space: place.there, ..all.clone() };
    assert_eq!(duplicate(bob, &elsewhere), None);
    world.forget(&key);
    assert_eq!(duplicate(bob, &key_alone), None, "a forgotten memory is no duplicate");
}
