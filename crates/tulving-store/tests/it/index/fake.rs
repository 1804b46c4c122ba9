//! An in-memory store for the index, and random acts on it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::Change;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, PrincipalId, Seq, SpaceId};
use tulving_core::model::memory::{Chunk, Embedding, Memory, MemoryTimes, Mirror};
use tulving_core::model::request::AuditFilter;
use tulving_core::model::score::Importance;
use tulving_core::model::search::IndexEntry;
use tulving_core::model::space::Viewer;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{
    Author, Boundary, ChangeKind, ContentType, Kind, MemoryType, Stability, State,
};
use tulving_core::ports::{Feed, Log};
use tulving_testkit::build;

/// The vocabulary of the texts; the first words are common.
pub(super) const WORDS: [&str; 24] = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
    "deployment",
];

/// A memory with the vectors of each model.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) memory: Memory,
    pub(super) chunks: Vec<Chunk>,
    pub(super) vectors: HashMap<String, Vec<Option<Embedding>>>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) kept: BTreeMap<MemoryId, Kept>,
    pub(super) log: Vec<Change>,
    /// The last entry that was trimmed from the log.
    pub(super) trimmed: u64,
    pub(super) epoch: [u8; 16],
    pub(super) model: Option<String>,
    /// A text to save right after the next empty page of the log.
    pub(super) meanwhile: Option<String>,
    change_counter: u64,
    clock: i64,
}

/// The store.
#[derive(Default)]
pub(super) struct Fake(Mutex<Inner>);

impl Fake {
    pub(super) fn new(model: Option<&str>) -> Arc<Self> {
        let made = Self::default();
        made.inner().model = model.map(str::to_owned);
        Arc::new(made)
    }

    /// Locks everything. After a change, call [`logged`](Self::logged) or [`beat`](Self::beat).
    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no test panics with it")
    }

    /// Records a commit.
    pub(super) fn beat(&self) {
        self.inner().change_counter += 1;
    }

    /// Logs a change of a memory.
    pub(super) fn logged(&self, kind: ChangeKind, memory: &Memory) {
        let mut inner = self.inner();
        inner.change_counter += 1;
        let seq = Seq(inner.trimmed + inner.log.len() as u64 + 1);
        let change = Change {
            seq,
            at: Timestamp::from_micros(0),
            kind,
            memory: memory.id,
            space: memory.space,
            owner: memory.owner,
            boundary: memory.fields.boundary,
        };
        inner.log.push(change);
    }

    pub(super) fn now(&self) -> Timestamp {
        let mut inner = self.inner();
        inner.clock += 1_000_000;
        Timestamp::from_micros(1_700_000_000_000_000 + inner.clock)
    }

    /// Stores a memory as it is now, and logs the change.
    pub(super) fn keep(&self, kind: ChangeKind, kept: Kept) -> MemoryId {
        let memory = kept.memory.clone();
        self.inner().kept.insert(memory.id, kept);
        self.logged(kind, &memory);
        memory.id
    }

    pub(super) fn save(&self, memory: Memory, chunks: Vec<Chunk>) -> MemoryId {
        self.keep(ChangeKind::Saved, Kept { memory, chunks, vectors: HashMap::new() })
    }

    /// Saves a text as one chunk.
    pub(super) fn say(&self, content: &str) -> MemoryId {
        let memory = memory(self.now(), content);
        let chunks = cut(content, 1);
        self.save(memory, chunks)
    }

    pub(super) fn erase(&self, id: MemoryId) {
        let gone = self.inner().kept.remove(&id).expect("it was there");
        self.logged(ChangeKind::Erased, &gone.memory);
    }

    /// Gives all chunks of a memory vectors derived from their words.
    pub(super) fn embed(&self, id: MemoryId, model: &str, dimensions: usize) {
        let mut kept = self.inner().kept[&id].clone();
        let content = kept.memory.fields.text.content.clone();
        let vectors = kept
            .chunks
            .iter()
            .map(|chunk| Some(embedding(&content[chunk.start..chunk.end], model, dimensions)));
        kept.vectors.insert(model.to_owned(), vectors.collect());
        self.keep(ChangeKind::Embedded, kept);
    }

    fn entry(kept: &Kept, model: Option<&str>) -> IndexEntry {
        let vectors = model.and_then(|model| kept.vectors.get(model));
        let mut chunks = kept.chunks.clone();
        for (n, chunk) in chunks.iter_mut().enumerate() {
            chunk.embedding = vectors.and_then(|vectors| vectors.get(n)?.clone());
        }
        IndexEntry { memory: kept.memory.clone(), chunks }
    }

    /// Returns all entries, for searches by hand.
    pub(super) fn all(&self, model: Option<&str>) -> Vec<IndexEntry> {
        self.inner().kept.values().map(|kept| Self::entry(kept, model)).collect()
    }
}

impl Log for Fake {
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError> {
        let mut inner = self.inner();
        let newer = inner.log.iter().filter(|change| change.seq > after);
        let page: Vec<Change> = newer.take(limit).cloned().collect();
        let meanwhile = if page.is_empty() { inner.meanwhile.take() } else { None };
        drop(inner);
        meanwhile.map(|content| self.say(&content));
        Ok(page)
    }

    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError> {
        let mut inner = self.inner();
        let old = inner.log.iter().rev().skip(1).filter(|change| change.seq <= up_to).count().min(most);
        inner.log.drain(..old);
        inner.trimmed += old as u64;
        inner.change_counter += 1;
        Ok(old)
    }

    fn head(&self) -> Result<Seq, StoreError> {
        let inner = self.inner();
        Ok(Seq(inner.trimmed + inner.log.len() as u64))
    }

    fn change_counter(&self) -> Result<u64, StoreError> {
        Ok(self.inner().change_counter)
    }

    fn epoch(&self) -> Result<[u8; 16], StoreError> {
        Ok(self.inner().epoch)
    }

    fn audit(&self, _: &Viewer, _: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError> {
        Ok(Vec::new())
    }

    fn last_change(
        &self,
        _: &tulving_core::model::change::Actor,
        _: SpaceId,
    ) -> Result<Option<tulving_core::model::audit::LastChange>, StoreError> {
        Ok(None)
    }
}

impl Feed for Fake {
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<IndexEntry>, StoreError> {
        let inner = self.inner();
        Ok(ids.iter().filter_map(|id| Some(Self::entry(inner.kept.get(id)?, model))).collect())
    }

    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let inner = self.inner();
        let later = inner.kept.iter().filter(|(id, _)| after.is_none_or(|after| **id > after));
        Ok(later.take(limit).map(|(_, kept)| Self::entry(kept, model)).collect())
    }

    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError> {
        let inner = self.inner();
        let held = |kept: &Kept| {
            let content = kept.memory.fields.text.content.to_lowercase();
            texts.iter().filter(|text| content.contains(**text)).count()
        };
        let within = inner.kept.values().filter(|kept| space.is_none_or(|space| space == kept.memory.space));
        let mut found: Vec<(usize, MemoryId)> = within.map(|kept| (held(kept), kept.memory.id)).collect();
        found.retain(|(held, _)| *held > 0);
        found.sort_unstable_by(|a, b| b.cmp(a));
        Ok(found.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    fn size(&self) -> Result<u64, StoreError> {
        Ok(self.inner().kept.len() as u64)
    }

    fn model(&self) -> Result<Option<String>, StoreError> {
        Ok(self.inner().model.clone())
    }

    fn next_model(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn embedded(&self, _: &str) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn unembedded(&self, _: &str) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn unlinked(&self, _: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError> {
        Ok(Vec::new())
    }

    fn unembedded_ids(&self, _: &str, _: u32, _: usize) -> Result<Vec<MemoryId>, StoreError> {
        Ok(Vec::new())
    }
}

/// The spaces of the tests.
pub(super) fn space(n: u8) -> SpaceId {
    SpaceId::from_bytes([n + 1; 16])
}

/// The people of the tests.
pub(super) fn person(n: u8) -> PrincipalId {
    PrincipalId::from_bytes([n + 101; 16])
}

/// A plain memory of the first person in the first space.
pub(super) fn memory(now: Timestamp, content: &str) -> Memory {
    build::memory(now, space(0), person(0), content)
}

/// Cuts a content into `parts` chunks, at spaces.
pub(super) fn cut(content: &str, parts: usize) -> Vec<Chunk> {
    let spaces: Vec<usize> = content.match_indices(' ').map(|(at, _)| at + 1).collect();
    let mut ends: Vec<usize> =
        (1..parts).filter_map(|n| spaces.get(n * spaces.len() / parts).copied()).collect();
    ends.dedup();
    ends.push(content.len());
    let mut start = 0;
    let chunks = ends.into_iter().map(|end| {
        let chunk = Chunk { start, end, heading_path: Vec::new(), embedding: None };
        start = end;
        chunk
    });
    chunks.collect()
}

/// Returns a normalised vector derived from the words; texts with common words are near each other.
pub(super) fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions];
    for word in text.split_whitespace() {
        let mut random = fastrand::Rng::with_seed(
            word.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into())),
        );
        vector.iter_mut().for_each(|x| *x += random.f32() - 0.5);
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
    vector.iter().map(|x| x / length).collect()
}

/// Returns a vector of the whole and, for longer texts, one for every three words.
pub(super) fn embedding(text: &str, model: &str, dimensions: usize) -> Embedding {
    let words: Vec<&str> = text.split_whitespace().collect();
    let sentences = words.chunks(3).map(|some| vector(&some.join(" "), dimensions));
    Embedding {
        model: model.to_owned(),
        vector: vector(text, dimensions),
        sentences: if words.len() > 3 { sentences.collect() } else { Vec::new() },
    }
}

/// Returns a text of random words, the first of the list more often.
pub(super) fn text(random: &mut fastrand::Rng, words: usize) -> String {
    let word =
        |random: &mut fastrand::Rng| WORDS[random.usize(..WORDS.len()).min(random.usize(..WORDS.len()))];
    (0..words).map(|_| word(random)).collect::<Vec<_>>().join(" ")
}

fn one_of<T: Copy>(random: &mut fastrand::Rng, words: &[T]) -> T {
    words[random.usize(..words.len())]
}

/// Returns a memory with random fields of every kind.
fn any_memory(store: &Fake, random: &mut fastrand::Rng) -> (Memory, Vec<Chunk>) {
    let now = store.now();
    let words = random.usize(1..20);
    let mut made = memory(now, &text(random, words));
    made.space = space(random.u8(..3));
    made.owner = person(random.u8(..2));
    vary(&mut made, random);
    if random.u8(..10) < 5 {
        made.place.conversation = Some(format!("talk {}", random.u8(..3)));
        made.place.position = (random.u8(..10) < 7).then(|| random.i64(-3..20));
    }
    made.place.speaker = (random.u8(..10) < 6).then(|| one_of(random, &["Ann", "Bob", "Eve"]).to_owned());
    made.provenance.author = one_of(random, Author::ALL);
    made.provenance.mirror = (random.u8(..8) == 0).then_some(Mirror { line: 1, occurrence: 0 });
    let parts = if random.u8(..4) == 0 { random.usize(2..5) } else { 1 };
    let chunks = cut(&made.fields.text.content, parts);
    (made, chunks)
}

/// Changes all fields that an edit may change.
fn vary(memory: &mut Memory, random: &mut fastrand::Rng) {
    let fields = &mut memory.fields;
    fields.boundary = one_of(random, Boundary::ALL);
    fields.class.memory_type = one_of(random, MemoryType::ALL);
    fields.class.kind = one_of(random, Kind::ALL);
    fields.class.stability = one_of(random, Stability::ALL);
    fields.class.importance = Importance::new(random.f64()).expect("within");
    fields.text.content_type = one_of(random, ContentType::ALL);
    fields.text.tags = if random.bool() { vec![one_of(random, &WORDS).to_owned()] } else { Vec::new() };
    let mut time = || {
        let when = Timestamp::from_micros(1_700_000_000_000_000 + random.i64(0..400) * 1_000_000);
        (random.u8(..4) == 0).then_some(when)
    };
    fields.span =
        MemoryTimes { occurred_at: time(), valid_from: time(), valid_until: time(), expires_at: time() };
}

/// Does a random act on the store.
pub(super) fn any_act(store: &Fake, random: &mut fastrand::Rng) {
    let ids: Vec<MemoryId> = store.inner().kept.keys().copied().collect();
    let act = if ids.is_empty() { 0 } else { random.u8(..13) };
    if act < 5 {
        let (memory, chunks) = any_memory(store, random);
        let id = store.save(memory, chunks);
        if random.u8(..3) > 0 {
            store.embed(id, "m1", 96);
        }
        return;
    }
    let id = ids[random.usize(..ids.len())];
    let mut kept = store.inner().kept[&id].clone();
    match act {
        5 | 6 => {
            let words = random.usize(1..20);
            let content = text(random, words);
            let parts = random.usize(1..3);
            kept.chunks = cut(&content, parts);
            kept.memory.fields.text.content = content;
            kept.vectors.clear();
            let before = kept.memory.clone();
            vary(&mut kept.memory, random);
            if kept.memory.fields.boundary < before.fields.boundary {
                store.logged(ChangeKind::Erased, &before);
            }
            store.keep(ChangeKind::Revised, kept);
        }
        7 => {
            kept.memory.status.state = one_of(random, State::ALL);
            kept.memory.status.pinned = random.bool();
            store.keep(ChangeKind::Moved, kept);
        }
        8 => {
            let back = kept.memory.status.forgotten_at.is_some();
            kept.memory.status.forgotten_at = (!back).then(|| Timestamp::from_micros(5));
            store.keep(ChangeKind::Moved, kept);
        }
        9 => {
            let back = kept.memory.status.quarantined_at.is_some();
            kept.memory.status.quarantined_at = (!back).then(|| Timestamp::from_micros(5));
            store.keep(ChangeKind::Moved, kept);
        }
        10 => {
            // Only some of its chunks, as if the worker stopped early.
            store.embed(id, "m1", 96);
            if random.bool() {
                let mut kept = store.inner().kept[&id].clone();
                kept.vectors.get_mut("m1").expect("made just now")[0] = None;
                store.keep(ChangeKind::Embedded, kept);
            }
        }
        11 => {
            store.logged(ChangeKind::Erased, &kept.memory);
            kept.memory.space = space(random.u8(..3));
            store.keep(ChangeKind::Saved, kept);
        }
        _ if random.bool() => store.erase(id),
        _ => store.logged(ChangeKind::Linked, &kept.memory),
    }
}
