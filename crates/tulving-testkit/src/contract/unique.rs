//! Keys, source paths and contents are unique among those who would mistake one memory for the other.

use tulving_core::error::{Conflict, StoreError, Unique};
use tulving_core::id::{PrincipalId, SpaceId};
use tulving_core::memory::{Memory, Mirror};
use tulving_core::ports::Probe;
use tulving_core::space::MemberOf;
use tulving_core::vocabulary::{Boundary, Role, State};

use super::{Fresh, conflict, good, world};
use crate::build::{self, World, eyes};

type Change = fn(&mut Memory);

/// What a memory may hold, and how it comes to hold it.
const HELD: [(Unique, Change); 3] = [
    (Unique::Key, |m| m.edition.key = Some("k".to_owned())),
    (Unique::SourcePath, |m| m.provenance.source_path = Some("p".to_owned())),
    (Unique::Content, |_| ()),
];

/// Two spaces and two people who write in both.
struct Place {
    world: World,
    here: SpaceId,
    there: SpaceId,
    ann: PrincipalId,
    bob: PrincipalId,
}

impl Place {
    fn new(fresh: Fresh<'_>) -> Self {
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
        memory.edition.boundary = boundary;
        change(&mut memory);
        memory
    }

    fn insert(&self, memory: &Memory) -> Result<(), StoreError> {
        self.world.apply_as(memory.owner, Vec::new(), vec![build::insert(memory)]).map(drop)
    }

    /// Inserts two memories that have `change` in common, and says whether the second was taken in.
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
pub fn a_key_is_unique_within_its_audience(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    place.check_audience(Unique::Key, |m| m.edition.key = Some("k".to_owned()));
    let two_keys = ["k", "K"].map(|key| {
        place.draft(place.here, place.ann, Boundary::Hub, key, |m| m.edition.key = Some(key.to_owned()))
    });
    for memory in two_keys {
        good(place.insert(&memory));
    }
}

/// A source path likewise.
pub fn a_source_path_is_unique_within_its_audience(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    place.check_audience(Unique::SourcePath, |m| m.provenance.source_path = Some("p".to_owned()));
}

/// A content is unique within its very boundary; private, within its owner's.
pub fn a_content_is_unique_within_its_boundary(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    place.check_audience(Unique::Content, |_| ());
}

/// Memories with a key, a source path or a conversation may repeat a content.
pub fn key_path_and_conversation_lift_the_rule_of_content(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    let hub = |change: &dyn Fn(&mut Memory)| {
        let memory = place.draft(place.here, place.ann, Boundary::Hub, "the same", |m| change(m));
        place.insert(&memory)
    };
    good(hub(&|_| ()));
    for n in ["one", "two"] {
        good(hub(&|m| m.edition.key = Some(n.to_owned())));
        good(hub(&|m| m.provenance.source_path = Some(n.to_owned())));
        good(hub(&|m| m.place.conversation = Some("both".to_owned())));
    }
    let what = Unique::Content;
    assert_eq!(conflict(hub(&|_| ())), Conflict::Taken { what });
    assert_eq!(
        conflict(hub(&|m| m.place.speaker = Some("Ada".to_owned()))),
        Conflict::Taken { what },
        "a speaker alone is no conversation"
    );
}

/// A forgotten memory gives its key, path and content free, and cannot come back while they are held.
pub fn what_is_forgotten_holds_nothing(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    for (what, change) in HELD {
        let first = place.world.put(place.here, place.ann, "the same", change);
        let forgotten = place.world.forget(&first);
        let second = place.world.put(place.here, place.bob, "the same", change);
        let back = || place.world.try_apply(vec![build::shift(&forgotten, |s| s.forgotten_at = None)]);
        assert_eq!(conflict(back()), Conflict::Taken { what });
        place.world.forget(&second);
        good(back());
        place.world.erase(first.id);
    }
}

/// Archiving, cooling, quarantine and pins give nothing free.
pub fn what_is_archived_or_quarantined_still_holds(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
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

/// Edits are held to the same rule as new memories.
pub fn an_edit_or_a_wider_boundary_cannot_take_what_is_held(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    let world = &place.world;
    world.put(place.here, place.ann, "held", |_| ());
    world.put(place.here, place.ann, "keyed", |m| m.edition.key = Some("k".to_owned()));
    let other = world.put(place.here, place.bob, "other", |_| ());
    let private = world.put(place.here, place.bob, "held", |m| m.edition.boundary = Boundary::Private);
    let private_key = world.put(place.here, place.bob, "another", |m| {
        m.edition.boundary = Boundary::Private;
        m.edition.key = Some("k".to_owned());
    });
    let attempt = |memory: &Memory, change: &dyn Fn(&mut Memory)| {
        let mut to = memory.clone();
        change(&mut to);
        to.edition.text.content_hash = build::text(&to.edition.text.content).content_hash;
        let write = build::revise(memory, to.edition);
        conflict(world.try_apply(vec![write]))
    };
    let taken = |what| Conflict::Taken { what };
    let content = attempt(&other, &|m| m.edition.text.content = "held".to_owned());
    assert_eq!(content, taken(Unique::Content));
    let key = attempt(&other, &|m| m.edition.key = Some("k".to_owned()));
    assert_eq!(key, taken(Unique::Key));
    let wider = attempt(&private, &|m| m.edition.boundary = Boundary::Hub);
    assert_eq!(wider, taken(Unique::Content));
    let wider = attempt(&private_key, &|m| m.edition.boundary = Boundary::Org);
    assert_eq!(wider, taken(Unique::Key));
    world.edit(&private, |e| e.boundary = Boundary::Team);
    let keyed = world.edit(&other, |e| {
        e.key = Some("free".to_owned());
        e.text.content = "held".to_owned();
    });
    let loses_its_key = attempt(&keyed, &|m| m.edition.key = None);
    assert_eq!(loses_its_key, taken(Unique::Content));
}

/// A memory that goes to another space meets the rules there, and stays where it is where it breaks one.
pub fn what_goes_to_another_space_cannot_take_what_is_held_there(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    for (what, change) in HELD {
        let content = what.to_string();
        let [mine, theirs] = [place.here, place.there].map(|space| {
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

/// Many entries of one file are mirrored, some of them alike.
pub fn mirrors_share_their_path(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
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

/// A save finds the memory that it would collide with, in the audience of the save and nowhere else.
pub fn a_twin_is_found_by_key_then_path_then_content(fresh: Fresh<'_>) {
    let place = Place::new(fresh);
    let world = &place.world;
    let (here, ann, bob) = (place.here, place.ann, place.bob);
    let content = world.put(here, ann, "said", |_| ());
    let path = world.put(here, ann, "said", |m| m.provenance.source_path = Some("p".to_owned()));
    let key = world.put(here, ann, "said", |m| m.edition.key = Some("k".to_owned()));
    let private = world.put(here, ann, "said", |m| {
        m.edition.boundary = Boundary::Private;
        m.edition.key = Some("k".to_owned());
    });
    let hash = Some(content.edition.text.content_hash);
    let all = Probe {
        space: here,
        boundary: Boundary::Hub,
        owner: bob,
        key: Some("k"),
        source_path: Some("p"),
        content_hash: hash,
        attachment_hash: None,
    };
    let twin = |who, probe: &Probe<'_>| good(world.store.twin(&eyes(who), probe)).map(|m| m.id);
    assert_eq!(twin(bob, &all), Some(key.id), "the key first");
    let no_key = Probe { key: None, ..all.clone() };
    assert_eq!(twin(bob, &no_key), Some(path.id), "then the path");
    let bare = Probe { source_path: None, ..no_key.clone() };
    assert_eq!(twin(bob, &bare), Some(content.id), "then the content");
    let free = Probe {
        key: Some("free"),
        source_path: None,
        content_hash: None,
        attachment_hash: None,
        ..all.clone()
    };
    assert_eq!(twin(bob, &free), None);
    let wider = |probe: &Probe<'static>| Probe { boundary: Boundary::Org, ..probe.clone() };
    let key_alone = Probe { content_hash: None, source_path: None, ..all.clone() };
    assert_eq!(twin(bob, &wider(&key_alone)), Some(key.id), "shared keys are one audience");
    assert_eq!(twin(bob, &wider(&bare)), None, "contents of another boundary are none");
    let mine = |owner| Probe { boundary: Boundary::Private, owner, ..key_alone.clone() };
    assert_eq!(twin(ann, &mine(ann)), Some(private.id));
    assert_eq!(twin(bob, &mine(bob)), None, "another's private memory is no twin");
    assert_eq!(twin(bob, &mine(ann)), None, "and cannot be asked for");
    let elsewhere = Probe { space: place.there, ..all.clone() };
    assert_eq!(twin(bob, &elsewhere), None);
    world.forget(&key);
    assert_eq!(twin(bob, &key_alone), None, "a forgotten memory is no twin");
}
