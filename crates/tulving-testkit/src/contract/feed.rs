//! The reads for derived data return every memory unchanged, and know which memories still need vectors.

use std::collections::BTreeMap;

use tulving_core::model::change::{NewMemory, Revision, Write};
use tulving_core::model::error::Conflict;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use tulving_core::model::memory::{Chunk, Embedding, Memory, Status};
use tulving_core::model::search::IndexEntry;
use tulving_core::model::vocabulary::{Boundary, ChangeKind, State, VersionAct};

use super::{StoreFactory, conflict, good, world};
use crate::build::{self, StoreFixture, eyes};
use crate::seed::{RandomSeed, SeedPanicGuard};

/// Returns the vectors of a model for a chunk with two sentences. Different values of `n` give different vectors.
fn vectors(model: &str, n: f32) -> Embedding {
    Embedding {
        model: model.to_owned(),
        vector: vec![n, 0.6, -0.8],
        sentences: vec![vec![0.25, -1.0, n], vec![0.0, 0.5, 0.0]],
    }
}

/// One chunk of two bytes for each item, with vectors of the named models.
fn chunks(models: &[Option<&str>]) -> Vec<Chunk> {
    let chunk = |(n, model): (usize, &Option<&str>)| Chunk {
        start: n * 2,
        end: n * 2 + 2,
        heading_path: (0..n % 3).map(|depth| format!("Überschrift {depth}")).collect(),
        embedding: model.map(|model| vectors(model, 0.25)),
    };
    models.iter().enumerate().map(chunk).collect()
}

fn insert(memory: &Memory, models: &[Option<&str>]) -> Write {
    Write::Insert(Box::new(NewMemory { memory: memory.clone(), chunks: chunks(models) }))
}

/// Stores a memory with chunks that have vectors of the named models.
#[track_caller]
fn put(
    world: &StoreFixture,
    space: SpaceId,
    owner: PrincipalId,
    content: &str,
    models: &[Option<&str>],
) -> Memory {
    let mut memory = world.draft(space, owner, content);
    memory.number = world.apply(vec![insert(&memory, models)]).numbers[0];
    memory
}

fn embed(memory: &Memory, embeddings: Vec<(u32, Embedding)>) -> Write {
    Write::Embed { id: memory.id, from: memory.version, embeddings }
}

fn choose(from: Option<&str>, to: &str) -> Write {
    Write::ChooseModel { from: from.map(str::to_owned), to: to.to_owned() }
}

fn entry(world: &StoreFixture, id: MemoryId, model: Option<&str>) -> IndexEntry {
    let mut found = good(world.store.entries(&[id], model));
    assert_eq!(found.len(), 1);
    found.remove(0)
}

/// Returns, for each chunk of a memory, true if the chunk has vectors of the model.
fn embedded(world: &StoreFixture, id: MemoryId, model: &str) -> Vec<bool> {
    entry(world, id, Some(model)).chunks.iter().map(|chunk| chunk.embedding.is_some()).collect()
}

fn waiting(world: &StoreFixture, model: &str) -> Vec<MemoryId> {
    let ids = good(world.store.unembedded_ids(model, u32::MAX, usize::MAX));
    assert_eq!(good(world.store.unembedded(model)), ids.len() as u64);
    ids
}

/// Entries contain every memory, whatever its status or visibility, in the requested order.
pub fn entries_hold_everything(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("everything");
    let (_, other) = world.hub_with_writer("elsewhere");
    let plain = world.put(space, owner, "plain", |m| m.fields.text.tags = vec!["a".to_owned()]);
    let private = world.put(space, other, "private", |m| m.fields.boundary = Boundary::Private);
    let now = world.now();
    let forgotten = world.put(space, owner, "forgotten", |_| ());
    let forgotten = world.shift(&forgotten, |s| s.forgotten_at = Some(now));
    let aside = world.put(space, owner, "aside", |_| ());
    let aside = world.shift(&aside, |s| s.quarantined_at = Some(now));
    let archived = world.put(space, owner, "archived", |_| ());
    let archived = world.shift(&archived, |s| s.state = State::Archived);
    let edited = world.put(space, owner, "before", |_| ());
    let edited = world.edit(&edited, |e| e.text.content = "after".to_owned());
    let erased = world.put(space, owner, "erased", |_| ());
    world.erase(erased.id);
    let all = [&edited, &archived, &aside, &forgotten, &private, &plain];
    let mut ids: Vec<MemoryId> = all.iter().map(|memory| memory.id).collect();
    ids.insert(2, erased.id);
    ids.push(MemoryId::mint(now));
    let found = good(world.store.entries(&ids, None));
    assert_eq!(found.len(), all.len());
    for (entry, written) in found.iter().zip(all) {
        assert_eq!(entry.memory, *written);
        assert!(!entry.chunks.is_empty());
        assert!(entry.chunks.iter().all(|chunk| chunk.embedding.is_none()));
    }
    assert_eq!(good(world.store.entries(&[], None)), []);
}

/// Pages of any size contain the same entries, by ascending ids.
pub fn entries_can_be_paged(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("paged");
    assert_eq!(good(world.store.entries_after(None, 9, None)), []);
    let made: Vec<Memory> = (0..20)
        .map(|n| put(&world, space, owner, &format!("memory {n}"), &vec![Some("a"); n % 4 + 1]))
        .collect();
    world.forget(&made[3]);
    world.erase(made[7].id);
    let mut ids: Vec<MemoryId> = made.iter().map(|memory| memory.id).collect();
    ids.remove(7);
    ids.sort();
    for model in [None, Some("a"), Some("b")] {
        let whole = good(world.store.entries(&ids, model));
        for limit in [1, 2, 7, 19, 20, 1_000] {
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let page = good(world.store.entries_after(after, limit, model));
                let Some(last) = page.last() else { break };
                assert!(page.len() <= limit);
                after = Some(last.memory.id);
                paged.extend(page);
            }
            assert_eq!(paged, whole, "pages of {limit}");
        }
    }
}

/// Chunks are returned in order, with the vectors of the requested model. The vector of a whole chunk is unchanged; the
/// vectors of its sentences are rounded to bytes.
pub fn vectors_read_back_as_they_were_written(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("vectors");
    let memory = put(&world, space, owner, "twelve bytes", &[Some("a"), None, Some("b"), Some("a")]);
    let written = chunks(&[Some("a"), None, Some("b"), Some("a")]);
    for model in [None, Some("a"), Some("b"), Some("c")] {
        let found = entry(&world, memory.id, model).chunks;
        assert_eq!(found.len(), written.len());
        for (found, written) in found.iter().zip(&written) {
            assert_eq!((found.start, found.end), (written.start, written.end));
            assert_eq!(found.heading_path, written.heading_path);
            let written = written.embedding.as_ref().filter(|made| Some(made.model.as_str()) == model);
            assert_eq!(found.embedding.is_some(), written.is_some(), "{model:?}");
            if let (Some(found), Some(written)) = (&found.embedding, written) {
                assert_eq!((&found.model, &found.vector), (&written.model, &written.vector));
                assert_eq!(found.sentences.len(), written.sentences.len());
                for (found, written) in found.sentences.iter().zip(&written.sentences) {
                    assert_eq!(found.len(), written.len());
                    assert!(found.iter().zip(written).all(|(a, b)| (a - b).abs() <= 1.0 / 254.0));
                }
            }
        }
    }
}

/// The chunks of a memory are returned to a viewer that may see it.
pub fn sections_are_the_chunks_of_what_is_seen(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("sections");
    let stranger = world.principal("stranger");
    let memory = put(&world, space, owner, "six bytes", &[Some("a"), None, None]);
    let described: Vec<_> = good(world.store.sections(&eyes(owner), memory.id))
        .into_iter()
        .map(|section| (section.range, section.heading_path.len()))
        .collect();
    assert_eq!(described, [(0..2, 0), (2..4, 1), (4..6, 2)]);
    assert_eq!(good(world.store.sections(&eyes(stranger), memory.id)), []);
    assert_eq!(good(world.store.sections(&eyes(owner), MemoryId::mint(world.now()))), []);
    world.forget(&memory);
    assert_eq!(good(world.store.sections(&eyes(owner), memory.id)), []);
}

/// A store has no model until it gets the first vectors, with a save or later. Later vectors do not change the model.
pub fn the_first_vectors_choose_the_model(fresh: StoreFactory<'_>) {
    for afterwards in [false, true] {
        let world = world(fresh);
        let (space, owner) = world.hub_with_writer("first");
        let before = put(&world, space, owner, "before", &[None]);
        assert_eq!(good(world.store.model()), None);
        assert_eq!(waiting(&world, "a"), [before.id], "all wait for any model");
        let first = put(&world, space, owner, "first", &[if afterwards { None } else { Some("a") }]);
        if afterwards {
            world.apply(vec![embed(&first, vec![(0, vectors("a", 0.5))])]);
        }
        assert_eq!(good(world.store.model()).as_deref(), Some("a"));
        assert_eq!(waiting(&world, "a"), [before.id]);
        let second = put(&world, space, owner, "second", &[Some("b")]);
        assert_eq!(good(world.store.model()).as_deref(), Some("a"));
        assert_eq!(waiting(&world, "a"), [before.id, second.id], "those of another model do not count");
        assert_eq!(waiting(&world, "b"), [before.id, first.id]);
        assert_eq!(embedded(&world, second.id, "b"), [true]);
    }
}

/// A request names the next model, and another request replaces it. A request for the current model ends the change. A
/// store without a model needs no change.
pub fn a_requested_model_is_the_next_one(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("requested");
    let request = |model: &str| Write::RequestModel { model: model.to_owned() };
    let next = || good(world.store.next_model());
    world.apply(vec![request("b")]);
    assert_eq!((good(world.store.model()), next()), (None, None));
    let memory = put(&world, space, owner, "memory", &[Some("a")]);
    let head = good(world.store.head());
    world.apply(vec![request("a")]);
    assert_eq!(next(), None);
    for model in ["b", "c", "c"] {
        world.apply(vec![request(model)]);
        assert_eq!(next().as_deref(), Some(model));
        assert_eq!((waiting(&world, model), waiting(&world, "a")), (vec![memory.id], vec![]));
    }
    assert_eq!(good(world.store.head()), head, "no memory changed");
    world.apply(vec![embed(&memory, vec![(0, vectors("c", 0.5))])]);
    assert_eq!((waiting(&world, "c"), next().as_deref()), (vec![], Some("c")));
    assert_eq!(["a", "b", "c"].map(|model| good(world.store.embedded(model))), [1, 0, 1]);
    world.apply(vec![request("a")]);
    assert_eq!((next(), good(world.store.model()).as_deref()), (None, Some("a")));
    world.apply(vec![request("c"), choose(Some("a"), "c")]);
    assert_eq!((next(), good(world.store.model()).as_deref()), (None, Some("c")));
}

/// A choice that is based on another model than the current one conflicts. After a choice, every memory without vectors
/// of the new model waits.
pub fn a_model_is_chosen_on_what_is_so(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("chosen");
    let old = put(&world, space, owner, "old", &[Some("a")]);
    let both = put(&world, space, owner, "both", &[Some("a")]);
    world.apply(vec![embed(&both, vec![(0, vectors("b", 0.5))])]);
    let head = good(world.store.head());
    for from in [None, Some("b"), Some("A")] {
        let found = Some("a".to_owned());
        assert_eq!(conflict(world.try_apply(vec![choose(from, "b")])), Conflict::OtherModel { found });
    }
    assert_eq!((good(world.store.model()).as_deref(), waiting(&world, "a")), (Some("a"), vec![]));
    world.apply(vec![choose(Some("a"), "b")]);
    assert_eq!(good(world.store.model()).as_deref(), Some("b"));
    assert_eq!(waiting(&world, "b"), [old.id]);
    assert_eq!(embedded(&world, both.id, "b"), [true]);
    assert_eq!(good(world.store.head()), head, "no memory changed");
    let new = put(&world, space, owner, "new", &[Some("b")]);
    assert_eq!(waiting(&world, "b"), [old.id]);
    world.apply(vec![choose(Some("b"), "c")]);
    assert_eq!(waiting(&world, "c"), [old.id, both.id, new.id]);
    let empty = super::world(fresh);
    empty.apply(vec![choose(None, "a")]);
    assert_eq!(good(empty.store.model()).as_deref(), Some("a"));
    let memory = put(&empty, SpaceId::DEFAULT, PrincipalId::USER, "memory", &[None]);
    assert_eq!(waiting(&empty, "a"), [memory.id]);
}

/// Vectors are stored only for the chunks that they were made from. Each such write has an entry in the log.
pub fn vectors_of_what_is_no_longer_so_conflict(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("late");
    let memory = put(&world, space, owner, "memory", &[None, None]);
    let gone = put(&world, space, owner, "gone", &[None]);
    world.erase(gone.id);
    let late = |memory: &Memory, ordinal| {
        conflict(
            world.try_apply(vec![embed(memory, vec![(0, vectors("a", 0.5)), (ordinal, vectors("a", 0.5))])]),
        )
    };
    let head = good(world.store.head());
    assert_eq!(late(&gone, 0), Conflict::Gone { id: gone.id });
    assert_eq!(late(&memory, 2), Conflict::NoChunk { id: memory.id, ordinal: 2 });
    assert_eq!(good(world.store.model()), None, "nothing was written");
    assert_eq!(embedded(&world, memory.id, "a"), [false, false]);
    let edited = world.edit(&memory, |e| e.text.content = "edited".to_owned());
    let stale = Conflict::Stale { id: memory.id, expected: Version(1), found: Version(2) };
    assert_eq!(late(&memory, 0), stale);
    let after = good(world.store.changes(head, 9));
    assert_eq!(after.iter().map(|change| change.kind).collect::<Vec<_>>(), [ChangeKind::Revised]);
    let applied = world.apply(vec![embed(&edited, vec![(0, vectors("a", 0.5))])]);
    let last = good(world.store.changes(head, 9)).pop().expect("an entry");
    assert_eq!((last.kind, last.memory, last.space), (ChangeKind::Embedded, memory.id, space));
    assert_eq!(applied.seq, Some(last.seq));
    assert_eq!(entry(&world, memory.id, None).memory, edited, "no version, nothing else");
}

/// New vectors replace the old vectors of the same model. Vectors of other models and of other chunks stay. Forgotten
/// memories may get vectors.
pub fn vectors_replace_those_of_their_model(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("replaced");
    let memory = put(&world, space, owner, "memory", &[Some("a"), Some("a")]);
    world.apply(vec![embed(&memory, vec![(1, vectors("a", 0.75)), (0, vectors("b", 0.5))])]);
    let firsts = |model: &str| -> Vec<Option<f32>> {
        let chunks = entry(&world, memory.id, Some(model)).chunks;
        chunks.into_iter().map(|chunk| chunk.embedding.map(|made| made.vector[0])).collect()
    };
    assert_eq!(firsts("a"), [Some(0.25), Some(0.75)]);
    assert_eq!(firsts("b"), [Some(0.5), None]);
    let forgotten = world.forget(&memory);
    world.apply(vec![embed(&forgotten, vec![(1, vectors("b", 0.25))])]);
    assert_eq!(firsts("b"), [Some(0.5), Some(0.25)]);
}

/// A search for a text in contents ignores case, covers one space or all, and finds only memories that can be recalled.
pub fn contents_that_hold_a_text_are_found(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("holding");
    let (other, stranger) = world.hub_with_writer("elsewhere");
    let one = world.put(space, owner, "Deploy on Friday", |_| ());
    let both = world.put(space, owner, "deploying after REVIEW", |_| ());
    let last = world.put(space, owner, "a review", |_| ());
    let far = world.put(other, stranger, "100% deployed_", |_| ());
    let gone = world.put(space, owner, "deploy never", |_| ());
    world.forget(&gone);
    let holding = |texts: &[&str], space, limit| good(world.store.holding(texts, space, limit));
    assert_eq!(holding(&["deploy", "review"], Some(space), 9), [both.id, last.id, one.id]);
    assert_eq!(holding(&["deploy", "review"], Some(space), 2), [both.id, last.id]);
    assert_eq!(holding(&["deploy"], None, 9), [far.id, both.id, one.id]);
    assert_eq!(holding(&["0% d", "_x"], None, 9), [far.id]);
    assert_eq!(holding(&[], None, 9), []);
}

/// Memories that a model failed on come after memories that it was not tried on. After a change of its content, a
/// memory is tried again.
pub fn what_cannot_be_embedded_comes_last(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("failing");
    put(&world, space, owner, "done", &[Some("a")]);
    let [one, two, three] = ["one", "two", "three"].map(|text| put(&world, space, owner, text, &[None]));
    let failed = |memory: &Memory| Write::NotEmbedded { id: memory.id, model: "a".to_owned() };
    let head = good(world.store.head());
    world.apply(vec![failed(&one), failed(&one), failed(&two)]);
    assert_eq!(good(world.store.head()), head, "nothing that others follow has changed");
    assert_eq!(waiting(&world, "a"), [three.id, two.id, one.id]);
    let tried = |tried| good(world.store.unembedded_ids("a", tried, 9));
    assert_eq!(tried(2), [three.id, two.id]);
    assert_eq!(tried(1), [three.id]);
    assert_eq!(tried(0), []);
    world.apply(vec![Write::NotEmbedded { id: one.id, model: "unknown".to_owned() }]);
    let pinned = world.shift(&two, |status| status.pinned = true);
    world.apply(vec![embed(&pinned, vec![(0, vectors("a", 0.5))])]);
    assert_eq!(waiting(&world, "a"), [three.id, one.id]);
    world.edit(&one, |fields| fields.text.content = "another".to_owned());
    assert_eq!(waiting(&world, "a"), [one.id, three.id]);
}

/// A memory waits while it is neither forgotten nor quarantined nor archived, and stops when it is erased.
pub fn what_waits_follows_every_move(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("moves");
    let done = put(&world, space, owner, "done", &[Some("a"), Some("a")]);
    let part = put(&world, space, owner, "part", &[Some("a"), None]);
    let cold = put(&world, space, owner, "cold", &[None]);
    assert_eq!(waiting(&world, "a"), [part.id, cold.id], "oldest first");
    assert_eq!(good(world.store.unembedded_ids("a", 1, 1)), [part.id]);
    let now = world.now();
    let moves: [fn(&mut Status, _); 3] = [
        |status, now| status.forgotten_at = Some(now),
        |status, now| status.quarantined_at = Some(now),
        |status, _| status.state = State::Archived,
    ];
    for out in moves {
        let back = cold.status;
        let away = world.shift(&cold, |s| out(s, now));
        assert_eq!(waiting(&world, "a"), [part.id]);
        world.shift(&away, |s| *s = back);
        assert_eq!(waiting(&world, "a"), [part.id, cold.id]);
        let away = world.shift(&done, |s| out(s, now));
        world.shift(&away, |s| *s = back);
        assert_eq!(waiting(&world, "a"), [part.id, cold.id], "what has its vectors does not wait");
    }
    for state in [State::Cooling, State::Processing, State::Active] {
        world.shift(&part, |s| s.state = state);
        world.apply(vec![Write::Move {
            id: part.id,
            from: Status { state, ..part.status },
            to: part.status,
        }]);
        assert_eq!(waiting(&world, "a"), [part.id, cold.id], "{state}");
    }
    world.apply(vec![embed(&part, vec![(1, vectors("a", 0.5))])]);
    assert_eq!(waiting(&world, "a"), [cold.id]);
    let untouched = world.edit(&part, |e| e.text.title = Some("title".to_owned()));
    assert_eq!(waiting(&world, "a"), [cold.id], "its chunks are the same");
    world.edit(&untouched, |e| e.text.content = "other".to_owned());
    assert_eq!(waiting(&world, "a"), [part.id, cold.id]);
    world.erase(part.id);
    assert_eq!(waiting(&world, "a"), [cold.id]);
    let records = world.dump();
    let loaded = super::world(fresh);
    loaded.apply(vec![choose(None, "a")]);
    loaded.apply(records.into_iter().map(|record| Write::Load(Box::new(record))).collect());
    assert_eq!(waiting(&loaded, "a"), [done.id, cold.id], "a dump has no vectors");
}

/// The expected state of a memory, and for each chunk the models that have vectors of it.
struct ExpectedMemory {
    memory: Memory,
    chunks: Vec<Vec<&'static str>>,
}

impl ExpectedMemory {
    fn waits(&self, model: &str) -> bool {
        let status = &self.memory.status;
        status.forgotten_at.is_none()
            && status.quarantined_at.is_none()
            && status.state != State::Archived
            && self.chunks.iter().any(|models| !models.contains(&model))
    }
}

/// After each of many random acts, the store and a plain map agree about which memories wait, for both models.
pub fn what_waits_agrees_with_a_plain_count(fresh: StoreFactory<'_>) {
    const MODELS: [Option<&str>; 4] = [None, Some("a"), Some("b"), Some("a")];
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut random = seed.random();
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("random");
    world.apply(vec![choose(None, "a")]);
    let mut plain: BTreeMap<MemoryId, ExpectedMemory> = BTreeMap::new();
    for round in 0..300 {
        let some: Vec<Option<&str>> =
            (0..random.usize(1..4)).map(|_| MODELS[random.usize(..MODELS.len())]).collect();
        let models = || some.iter().map(|model| model.iter().copied().collect()).collect();
        let at = plain.len().checked_sub(1).map(|last| random.usize(..=last));
        let picked = at.and_then(|at| plain.values_mut().nth(at));
        let act = random.u8(..10);
        match (act, picked) {
            (0..3, _) | (_, None) => {
                let memory = put(&world, space, owner, &format!("memory {round}"), &some);
                plain.insert(memory.id, ExpectedMemory { memory, chunks: models() });
            }
            (3..5, Some(picked)) => {
                let now = world.now();
                let status = Status {
                    state: State::ALL[random.usize(..State::ALL.len())],
                    forgotten_at: (random.u8(..4) == 0).then_some(now),
                    quarantined_at: (random.u8(..4) == 0).then_some(now),
                    pinned: random.bool(),
                    ruled_at: random.bool().then_some(now),
                    done_at: random.bool().then_some(now),
                };
                picked.memory = world.shift(&picked.memory, |s| *s = status);
            }
            (5..8, Some(picked)) => {
                let ordinal = random.usize(..picked.chunks.len());
                let model = ["a", "b"][random.usize(..2)];
                let made = (u32::try_from(ordinal).expect("few"), vectors(model, 0.5));
                world.apply(vec![embed(&picked.memory, vec![made])]);
                picked.chunks[ordinal].push(model);
            }
            (8, Some(picked)) if picked.memory.status.forgotten_at.is_none() => {
                let new = random.bool();
                let status =
                    Status { state: State::ALL[random.usize(..State::ALL.len())], ..picked.memory.status };
                world.apply(vec![Write::Revise(Box::new(Revision {
                    id: picked.memory.id,
                    attachment: None,
                    from: picked.memory.version,
                    act: VersionAct::Updated,
                    fields: build::fields(&format!("edited {round}")),
                    stood: picked.memory.status,
                    status,
                    chunks: new.then(|| chunks(&some)),
                    confirmed: None,
                }))]);
                picked.memory.version = picked.memory.version.next();
                picked.memory.status = status;
                if new {
                    picked.chunks = models();
                }
            }
            (_, Some(picked)) => {
                let id = picked.memory.id;
                world.erase(id);
                plain.remove(&id);
            }
        }
        for model in ["a", "b"] {
            let expected: Vec<MemoryId> =
                plain.values().filter(|one| one.waits(model)).map(|one| one.memory.id).collect();
            assert_eq!(waiting(&world, model), expected, "round {round}, model {model}");
        }
    }
    world.apply(vec![choose(Some("a"), "b")]);
    let expected: Vec<MemoryId> =
        plain.values().filter(|one| one.waits("b")).map(|one| one.memory.id).collect();
    assert_eq!(waiting(&world, "b"), expected, "chosen anew");
}

/// A memory that was inserted without all of its vectors counts as unlinked until it gets vectors. A memory from a dump
/// does not.
pub fn what_was_saved_without_vectors_is_unlinked_until_it_has_some(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("unlinked");
    let bare = put(&world, space, owner, "bare", &[None]);
    let partly = put(&world, space, owner, "in parts", &[Some("m"), None]);
    let whole = put(&world, space, owner, "whole", &[Some("m")]);
    let unlinked = |world: &StoreFixture| {
        let ids = [whole.id, partly.id, bare.id, MemoryId::mint(world.now())];
        good(world.store.unlinked(&ids))
    };
    assert_eq!(unlinked(&world), [partly.id, bare.id], "in the order of the ids");
    let to = super::world(fresh);
    to.apply(world.dump().into_iter().map(|record| Write::Load(Box::new(record))).collect());
    assert!(to.seen(&eyes(owner), bare.id).is_some());
    assert_eq!(unlinked(&to), []);
    world.apply(vec![embed(&bare, vec![(0, vectors("m", 0.5))])]);
    assert_eq!(unlinked(&world), [partly.id]);
    world.erase(partly.id);
    assert_eq!(unlinked(&world), []);
}
