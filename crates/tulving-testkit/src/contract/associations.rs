//! Edges are visible only between visible memories. A caller's `updates` marks the memory that it replaces.

use tulving_core::model::association::Association;
use tulving_core::model::change::{NewMemory, Write};
use tulving_core::model::id::{MemoryId, MemoryRef, PrincipalId};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Filter, ForgottenFilter, Sort};
use tulving_core::model::score::Weight;
use tulving_core::model::space::MemberOf;
use tulving_core::model::vocabulary::{Boundary, LinkedBy, Relation, Role, State};
use tulving_core::ports::DuplicateQuery;

use super::{StoreFactory, good, world};
use crate::build::{self, StoreFixture, confined, eyes};

fn weight(value: f64) -> Weight {
    Weight::new(value).expect("within bounds")
}

fn edges(world: &StoreFixture, who: PrincipalId, memory: &Memory) -> Vec<Association> {
    good(world.store.associations(&eyes(who), &[memory.id]))
}

/// An edge is visible if both of its ends are visible and neither forgotten nor quarantined. Archived ends are allowed.
pub fn an_edge_shows_only_between_what_shows(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("edges");
    let reader = world.principal("reader");
    world.join(reader, MemberOf::Space(space), Role::Reader);
    let (other_space, _) = world.hub_with_writer("other");
    world.join(owner, MemberOf::Space(other_space), Role::Writer);
    let centre = world.put(space, owner, "centre", |_| ());
    let shared = world.put(space, owner, "shared", |_| ());
    let private = world.put(space, owner, "private", |m| m.fields.boundary = Boundary::Private);
    let elsewhere = world.put(other_space, owner, "elsewhere", |_| ());
    let out = world.link(&centre, &shared, Relation::RelatedTo);
    world.link(&private, &centre, Relation::PartOf);
    world.link(&centre, &elsewhere, Relation::CausedBy);
    assert_eq!(edges(&world, owner, &centre).len(), 3);
    assert_eq!(edges(&world, reader, &centre), [out]);
    assert_eq!(edges(&world, reader, &shared), [out], "an edge is found from either end");
    assert_eq!(edges(&world, reader, &private), [], "not even its own edges");
    let inside = good(world.store.associations(&confined(owner, &[space]), &[centre.id]));
    assert_eq!(inside.len(), 2, "the edge out of the confinement is not shown");
    let all = [centre.id, shared.id, private.id, elsewhere.id];
    assert_eq!(
        good(world.store.associations(&eyes(owner), &all)).len(),
        3,
        "an edge between two that are asked for is shown once"
    );
    let archived = world.shift(&shared, |s| s.state = State::Archived);
    assert_eq!(edges(&world, reader, &centre), [out]);
    let now = world.now();
    let aside = world.shift(&archived, |s| s.quarantined_at = Some(now));
    assert_eq!(edges(&world, reader, &centre), []);
    let back = world.shift(&aside, |s| s.quarantined_at = None);
    assert_eq!(edges(&world, reader, &centre), [out]);
    let forgotten = world.forget(&back);
    assert_eq!(edges(&world, reader, &centre), []);
    assert_eq!(edges(&world, reader, &forgotten), []);
    world.shift(&forgotten, |s| s.forgotten_at = None);
    assert_eq!(edges(&world, reader, &centre), [out], "restoring brings the edge back");
}

/// Edges are sorted by weight, descending.
pub fn the_strongest_comes_first(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("strong");
    let centre = world.put(space, owner, "centre", |_| ());
    for (n, value) in [0.3, 1.0, 0.0, 0.75, 0.5].into_iter().enumerate() {
        let end = world.put(space, owner, &format!("end {n}"), |_| ());
        let mut edge = build::link(world.now(), end.id, centre.id, Relation::RelatedTo);
        if n % 2 == 0 {
            std::mem::swap(&mut edge.source, &mut edge.target);
        }
        edge.weight = weight(value);
        world.apply(vec![Write::Link(edge)]);
    }
    let weights: Vec<f64> = edges(&world, owner, &centre).iter().map(|edge| edge.weight.get()).collect();
    assert_eq!(weights, [1.0, 0.75, 0.5, 0.3, 0.0]);
}

/// Linking the same pair again replaces the weight and the origin. Other relations and directions are separate edges.
pub fn an_edge_is_unique_per_pair_and_relation(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("pairs");
    let [a, b] = ["a", "b"].map(|content| world.put(space, owner, content, |_| ()));
    world.link(&a, &b, Relation::RelatedTo);
    let mut again = build::link(world.now(), a.id, b.id, Relation::RelatedTo);
    again.weight = weight(0.9);
    world.apply(vec![Write::Link(again)]);
    let found = edges(&world, owner, &a);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].weight, found[0].linked_by), (weight(0.9), LinkedBy::Caller));
    world.link(&b, &a, Relation::RelatedTo);
    for relation in Relation::ALL {
        world.link(&a, &b, *relation);
    }
    let found = edges(&world, owner, &b);
    assert_eq!(found.len(), 7, "six relations one way and one the other");
    assert!(found.iter().all(|edge| edge.linked_by == LinkedBy::Caller));
}

/// A removal deletes exactly one edge.
pub fn an_edge_can_be_removed(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("removed");
    let [a, b] = ["a", "b"].map(|content| world.put(space, owner, content, |_| ()));
    let stays = [world.link(&a, &b, Relation::PartOf), world.link(&b, &a, Relation::Contradicts)];
    world.link(&a, &b, Relation::Contradicts);
    world.apply(vec![Write::Unlink { source: a.id, target: b.id, relation: Relation::Contradicts }]);
    let found = edges(&world, owner, &a);
    assert_eq!(found.len(), 2);
    assert!(stays.iter().all(|edge| found.contains(edge)), "{found:?}");
}

/// A memory that replaces another takes over all its associations, even those with memories that the actor cannot see.
pub fn a_replacement_keeps_every_edge(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("kept");
    let reader = world.principal("reader");
    world.join(reader, MemberOf::Space(space), Role::Reader);
    let old = world.put(space, owner, "old", |m| m.fields.key = Some("key".to_owned()));
    let shared = world.put(space, owner, "shared", |_| ());
    let forgotten = world.put(space, owner, "forgotten", |_| ());
    let private = world.put(space, owner, "private", |m| m.fields.boundary = Boundary::Private);
    let out = world.link(&old, &shared, Relation::PartOf);
    let hidden = world.link(&private, &old, Relation::Updates);
    world.link(&old, &forgotten, Relation::CausedBy);
    let forgotten = world.forget(&forgotten);
    let new = Memory { id: MemoryId::mint(world.now()), number: None, ..old.clone() };
    let copy = Box::new(NewMemory { memory: new.clone(), chunks: Vec::new() });
    world.apply(vec![Write::Replace { id: old.id, from: old.version, new: copy }]);
    assert!(world.seen(&eyes(owner), old.id).is_none(), "it is gone");
    let (out, hidden) = (Association { source: new.id, ..out }, Association { target: new.id, ..hidden });
    assert_eq!(edges(&world, reader, &new), [out], "who saw an edge sees it, and nobody else does");
    let seen = edges(&world, owner, &new);
    assert!(seen.len() == 2 && seen.contains(&hidden), "{seen:?}");
    assert_eq!(world.seen(&eyes(owner), new.id).expect("there").superseded_by, Some(private.id));
    world.shift(&forgotten, |s| s.forgotten_at = None);
    assert_eq!(edges(&world, reader, &new).len(), 2, "an edge comes back with its end");
}

/// Every read that returns a memory also returns its replacement.
pub fn a_callers_update_supersedes(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("superseded");
    let viewer = eyes(owner);
    let old = world.put(space, owner, "old", |_| ());
    let [first, second] = ["first", "second"].map(|content| world.put(space, owner, content, |_| ()));
    for relation in Relation::ALL.iter().filter(|relation| **relation != Relation::Updates) {
        world.link(&first, &old, *relation);
    }
    let mut auto = build::link(world.now(), first.id, old.id, Relation::Updates);
    auto.linked_by = LinkedBy::Auto;
    world.apply(vec![Write::Link(auto)]);
    let described = || {
        let store = &world.store;
        let listed = Filter { substring: Some("old".to_owned()), ..Filter::default() };
        let content_hash = Some(old.fields.text.content_hash);
        let duplicate_query =
            DuplicateQuery { content_hash, ..DuplicateQuery::new(space, owner, Boundary::Hub) };
        let number = MemoryRef::Number(old.number.expect("a record"));
        let answers = [
            world.seen(&viewer, old.id),
            good(store.memory(&viewer, space, number, ForgottenFilter::Without)),
            good(store.memories(&viewer, &[old.id])).pop(),
            good(store.list(&viewer, &listed, Sort::Newest, 1, None)).pop(),
            good(store.duplicate(&viewer, &duplicate_query)),
        ];
        let described = answers.map(|memory| memory.expect("it is seen").superseded_by);
        assert!(described.windows(2).all(|pair| pair[0] == pair[1]), "reads differ: {described:?}");
        described[0]
    };
    assert_eq!(described(), None, "neither other relations nor the engine's own edges supersede");
    let newer = world.link(&first, &old, Relation::Updates);
    assert_eq!(described(), Some(first.id), "a caller's word replaces the engine's");
    world.link(&second, &old, Relation::Updates);
    assert_eq!(described(), Some(second.id), "the newest counts");
    world.erase(second.id);
    assert_eq!(described(), Some(first.id));
    world.apply(vec![Write::Unlink { source: newer.source, target: newer.target, relation: newer.relation }]);
    assert_eq!(described(), None);
    assert_eq!(world.seen(&viewer, first.id).expect("there").superseded_by, None);
}

/// If a reader cannot see an update, or the update was forgotten, it supersedes nothing for that reader.
pub fn only_what_is_seen_supersedes(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("seen");
    let reader = world.principal("reader");
    world.join(reader, MemberOf::Space(space), Role::Reader);
    let old = world.put(space, owner, "old", |_| ());
    let private = world.put(space, owner, "private", |m| m.fields.boundary = Boundary::Private);
    let shared = world.put(space, owner, "shared", |_| ());
    let described = |who| world.seen(&eyes(who), old.id).expect("it is shared").superseded_by;
    world.link(&private, &old, Relation::Updates);
    assert_eq!((described(owner), described(reader)), (Some(private.id), None));
    world.link(&shared, &old, Relation::Updates);
    assert_eq!(described(reader), Some(shared.id));
    let shared = world.forget(&shared);
    assert_eq!((described(owner), described(reader)), (Some(private.id), None));
    world.shift(&shared, |s| s.forgotten_at = None);
    assert_eq!(described(reader), Some(shared.id));
}

/// A chain of replacements is returned up to the last memory that the reader can see. A cycle ends.
pub fn a_succession_is_told_as_far_as_it_is_seen(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("chain");
    let reader = world.principal("reader");
    world.join(reader, MemberOf::Space(space), Role::Reader);
    let put = |content: &str| world.put(space, owner, content, |_| ());
    let [first, second, third, ring] = ["first", "second", "third", "ring"].map(put);
    let private = world.put(space, owner, "private", |m| m.fields.boundary = Boundary::Private);
    for (new, old) in
        [(&second, &first), (&third, &second), (&private, &third), (&ring, &private), (&first, &ring)]
    {
        world.link(new, old, Relation::Updates);
    }
    world.link(&ring, &second, Relation::Contradicts);
    let described = |who, id| {
        let mut described = good(world.store.succession(&eyes(who), &[id]));
        described.sort_unstable();
        described
    };
    let sorted = |mut pairs: Vec<(MemoryId, MemoryId)>| {
        pairs.sort_unstable();
        pairs
    };
    let seen = sorted(vec![(first.id, second.id), (second.id, third.id)]);
    assert_eq!(described(reader, first.id), seen);
    assert_eq!(described(reader, private.id), [], "what cannot be seen has no successors");
    let hidden = [(third.id, private.id), (private.id, ring.id), (ring.id, first.id)];
    let all = sorted(seen.into_iter().chain(hidden).collect());
    assert_eq!(described(owner, first.id), all);
    assert_eq!(described(owner, third.id), all, "a ring is told once, wherever it is begun");
    world.forget(&second);
    assert_eq!((described(reader, first.id), described(owner, second.id)), (Vec::new(), Vec::new()));
    assert_eq!(good(world.store.succession(&eyes(owner), &[])), []);
}

/// A caller's association stays, even if the engine makes the same association.
pub fn what_a_caller_said_outlasts_what_the_engine_says(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("linked");
    let (new, old) = (world.put(space, owner, "new", |_| ()), world.put(space, owner, "old", |_| ()));
    let said = |linked_by, weight| {
        let mut link = build::link(world.now(), new.id, old.id, Relation::Updates);
        (link.linked_by, link.weight) = (linked_by, Weight::new(weight).expect("a weight"));
        world.apply(vec![Write::Link(link)]);
        let found = good(world.store.associations(&eyes(owner), &[new.id]));
        (found[0].linked_by, found[0].weight.get())
    };
    assert_eq!(said(LinkedBy::Auto, 0.9), (LinkedBy::Auto, 0.9));
    assert_eq!(said(LinkedBy::Caller, 0.5), (LinkedBy::Caller, 0.5));
    assert_eq!(said(LinkedBy::Auto, 0.99), (LinkedBy::Caller, 0.5));
    assert_eq!(said(LinkedBy::Caller, 0.7), (LinkedBy::Caller, 0.7));
}
