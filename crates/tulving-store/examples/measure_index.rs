//! Measures the search index on synthetic memories: `measure_index MEMORIES SPACES TURNS FOLDER`.
//!
//! Memories have 30 words by Zipf's law, a vector near one of 1,000 centres and two sentence vectors; with TURNS above
//! 1 that many form a conversation. Prints the wall-clock time of building and opening, and the CPU time of searching.
//! Run it with `--release`.

#![expect(clippy::print_stdout, reason = "it is there to print")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "sizes here are small"
)]

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::Change;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, PrincipalId, Seq, SpaceId};
use tulving_core::model::memory::{Chunk, ConversationPlace, Embedding, Memory};
use tulving_core::model::request::{AuditFilter, Filter};
use tulving_core::model::search::{IndexEntry, QueryVector, SearchQuery, SearchScope, VisibilityScope};
use tulving_core::model::space::Viewer;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, State};
use tulving_core::ports::{Feed, Index, Log};
use tulving_store::SearchIndex;
use tulving_testkit::build;
use tulving_text::terms;

const DIMENSIONS: usize = 384;
const WORDS: usize = 30;
const VOCABULARY: f64 = 50_000.0;
const CENTRES: u64 = 1_000;

/// A store whose memories are derived from their number.
struct Synthetic {
    memories: u64,
    spaces: u64,
    turns: u64,
    /// Number of memories present so far.
    head: std::sync::atomic::AtomicU64,
}

fn word(rank: u64) -> String {
    const PARTS: [&str; 16] =
        ["ba", "ko", "mi", "tu", "za", "re", "po", "shi", "na", "go", "vu", "le", "dra", "cho", "fi", "wo"];
    let mut text = String::new();
    let mut rest = rank + 16;
    while rest > 0 {
        text.push_str(PARTS[(rest % 16) as usize]);
        rest /= 16;
    }
    text
}

fn zipf(random: &mut fastrand::Rng) -> u64 {
    // The inverse of the integral of 1/x.
    (VOCABULARY.powf(random.f64())) as u64
}

fn near(centre: u64, spread: f32, random: &mut fastrand::Rng) -> Vec<f32> {
    let mut around = fastrand::Rng::with_seed(centre);
    let numbers: Vec<f32> = (0..DIMENSIONS)
        .map(|_| (around.f32() - around.f32()) + spread * (random.f32() - random.f32()))
        .collect();
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter().map(|x| x / length).collect()
}

impl Synthetic {
    fn content(n: u64) -> String {
        let mut random = fastrand::Rng::with_seed(n);
        let words: Vec<String> = (0..WORDS).map(|_| word(zipf(&mut random))).collect();
        words.join(" ")
    }

    fn entry(&self, n: u64) -> IndexEntry {
        let mut random = fastrand::Rng::with_seed(!n);
        let content = Self::content(n);
        let now = Timestamp::from_micros(1_700_000_000_000_000 + n as i64 * 1_000_000);
        let centre = random.u64(..CENTRES);
        let embedding = Embedding {
            model: "synthetic".to_owned(),
            vector: near(centre, 1.0, &mut random),
            sentences: (0..2).map(|_| near(centre, 1.5, &mut random)).collect(),
        };
        let chunk =
            Chunk { start: 0, end: content.len(), heading_path: Vec::new(), embedding: Some(embedding) };
        let mut memory = memory(id(n), now, content);
        memory.space = space(n / self.turns.max(1) % self.spaces);
        if self.turns > 1 {
            memory.place = ConversationPlace {
                conversation: Some(format!("conversation {}", n / self.turns)),
                position: Some((n % self.turns) as i64),
                speaker: Some(["Ann", "Bob"][(n % 2) as usize].to_owned()),
            };
        }
        IndexEntry { memory, chunks: vec![chunk] }
    }

    fn there(&self) -> u64 {
        self.head.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn id(n: u64) -> MemoryId {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    MemoryId::from_bytes(bytes)
}

fn number(id: MemoryId) -> u64 {
    u64::from_be_bytes(id.as_bytes()[..8].try_into().expect("eight bytes"))
}

fn space(n: u64) -> SpaceId {
    let mut bytes = [9; 16];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    SpaceId::from_bytes(bytes)
}

fn memory(id: MemoryId, now: Timestamp, content: String) -> Memory {
    // Without the content: hashing it would be measured too.
    let mut memory = build::memory(now, SpaceId::DEFAULT, PrincipalId::USER, "");
    memory.id = id;
    memory.fields.text.content = content;
    memory
}

impl Log for Synthetic {
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError> {
        let numbers = after.0 + 1..=self.there().min(after.0 + limit as u64);
        let change = |seq: u64| Change {
            seq: Seq(seq),
            at: Timestamp::from_micros(0),
            kind: tulving_core::model::vocabulary::ChangeKind::Saved,
            memory: id(seq - 1),
            space: SpaceId::DEFAULT,
            owner: PrincipalId::USER,
            boundary: Boundary::Hub,
        };
        Ok(numbers.map(change).collect())
    }

    fn trim(&self, _: Seq, _: usize) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn head(&self) -> Result<Seq, StoreError> {
        Ok(Seq(self.there()))
    }

    fn change_counter(&self) -> Result<u64, StoreError> {
        Ok(self.there())
    }

    fn epoch(&self) -> Result<[u8; 16], StoreError> {
        Ok([1; 16])
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

impl Feed for Synthetic {
    fn entries(&self, ids: &[MemoryId], _: Option<&str>) -> Result<Vec<IndexEntry>, StoreError> {
        Ok(ids.iter().map(|id| self.entry(number(*id))).collect())
    }

    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        _: Option<&str>,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let from = after.map_or(0, |id| number(id) + 1);
        Ok((from..self.there().min(from + limit as u64)).map(|n| self.entry(n)).collect())
    }

    fn holding(&self, _: &[&str], _: Option<SpaceId>, _: usize) -> Result<Vec<MemoryId>, StoreError> {
        Ok(Vec::new())
    }

    fn size(&self) -> Result<u64, StoreError> {
        Ok(self.there())
    }

    fn model(&self) -> Result<Option<String>, StoreError> {
        Ok(Some("synthetic".to_owned()))
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

/// Returns a question of words with these ranks. About one item of 20 to one of 4 has a common word.
fn question(n: u64, words: std::ops::Range<u64>, with_vector: bool) -> SearchQuery {
    let mut random = fastrand::Rng::with_seed(n ^ 0xabcd);
    let asked: Vec<String> = (0..5).map(|_| word(random.u64(words.clone()))).collect();
    let vector = near(random.u64(..CENTRES), 1.0, &mut random);
    let meaning = QueryVector { model: "synthetic".to_owned(), vector };
    SearchQuery {
        terms: terms::terms(&asked.join(" ")),
        meaning: with_vector.then_some(meaning),
        depth: 400,
        ..SearchQuery::default()
    }
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    println!("{what}: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    done
}

/// Returns the CPU time of this thread, so that other load on the machine does not count.
fn on_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn percentiles(what: &str, runs: u64, mut work: impl FnMut(u64)) {
    work(0);
    let mut times: Vec<Duration> = (1..=runs)
        .map(|n| {
            let began = on_cpu();
            work(n);
            on_cpu() - began
        })
        .collect();
    times.sort_unstable();
    let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.3} ms, p99 {:.3} ms", at(0.5), at(0.99));
}

/// Describes the resident memory: the process's own, and that of files, which the system may drop at any time.
fn resident() -> String {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| {
        let found = text.lines().find(|line| line.starts_with(name));
        found.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
    };
    format!(
        "resident: {} MB own, {} MB files, {} MB at most",
        line("RssAnon:"),
        line("RssFile:"),
        line("VmHWM:")
    )
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let count = |n: usize, usual: u64| arguments.get(n).map_or(usual, |text| text.parse().expect("a number"));
    let (memories, spaces, turns) = (count(1, 100_000), count(2, 1), count(3, 1));
    let folder = arguments.get(4).map_or("/tmp/measure-index", String::as_str);
    let folder = Path::new(folder).join(format!("{memories}-{spaces}-{turns}"));
    let store = Arc::new(Synthetic { memories, spaces, turns, head: memories.into() });
    let all = SearchScope {
        visibility: VisibilityScope {
            principal: PrincipalId::USER,
            spaces: (0..spaces).map(|n| (space(n), Boundary::Hub)).collect::<HashMap<_, _>>(),
        },
        filter: Filter {
            states: vec![State::Processing, State::Active, State::Cooling],
            states_at: Some(Timestamp::from_micros(1_800_000_000_000_000)),
            ..Filter::default()
        },
        among: None,
    };
    let one = SearchScope { filter: Filter { space: Some(space(0)), ..all.filter.clone() }, ..all.clone() };
    println!("{} memories, {spaces} spaces, {turns} turns; {}", store.memories, resident());

    let index = SearchIndex::open(Arc::clone(&store), &folder);
    let common = |n| question(n, 10..200, true);
    timed("first answer without a base", || index.search(&all, &common(0)).expect("an answer"));
    println!("{:?}", timed("make the base", || index.tend().expect("made")));
    println!("{:?}; {}", index.status().expect("a status"), resident());
    drop(index);
    let index = SearchIndex::open(Arc::clone(&store), &folder);
    timed("open again and first answer", || index.search(&all, &common(1)).expect("an answer"));
    println!("{}", resident());

    let search = |scope: &SearchScope, question: &SearchQuery| {
        let found = index.search(scope, question).expect("an answer");
        assert!(found.items.len() <= 4_000, "{}", found.items.len());
    };
    let count = |question: &SearchQuery| index.search(&all, question).expect("an answer").items.len();
    percentiles("common words and vector", 300, |n| search(&all, &common(n)));
    percentiles("common words", 300, |n| search(&all, &question(n, 10..200, false)));
    percentiles("rare words and vector", 300, |n| search(&all, &question(n, 5_000..40_000, true)));
    percentiles("vector", 300, |n| search(&all, &SearchQuery { terms: Vec::new(), ..common(n) }));
    let unknown = |n| SearchQuery { terms: vec!["bakomizz".to_owned(), "omituz".to_owned()], ..common(n) };
    percentiles("two unknown words and vector", 100, |n| search(&all, &unknown(n)));
    percentiles("one space: common words and vector", 300, |n| search(&one, &common(n)));
    percentiles("speakers", 100, |_| drop(index.speakers(&all).expect("names")));
    println!("{} items in the last answer; {}", count(&common(7)), resident());

    percentiles("a new memory and the next search", 50, |n| {
        store.head.store(memories + n + 1, std::sync::atomic::Ordering::SeqCst);
        search(&all, &common(n));
    });
    store.head.store(memories + 5_051, std::sync::atomic::Ordering::SeqCst);
    timed("5,000 new memories and the next search", || search(&all, &common(1)));
    println!("{:?}", timed("fold", || index.tend_now().expect("folded")));
    percentiles("common words and vector after it", 300, |n| search(&all, &common(n)));
    let recall = (0..3).map(|n| recall_at_ten(&store, &index, &all, &question(n, 10..200, true)));
    println!("recall@10 of the vector lane: {:.3}", recall.sum::<f64>() / 3.0);
    drop(timed("verify", || index.verify()));
}

/// Returns the share of the ten nearest wholes, compared in full, that are among the candidates.
fn recall_at_ten(store: &Synthetic, index: &SearchIndex, scope: &SearchScope, question: &SearchQuery) -> f64 {
    if store.memories > 100_000 {
        return f64::NAN;
    }
    let Some(meaning) = &question.meaning else {
        return 0.0;
    };
    let mut all: Vec<(f32, u64)> = Vec::new();
    for n in 0..store.there() {
        let entry = store.entry(n);
        let embedding = entry.chunks[0].embedding.as_ref().expect("a vector");
        let dot = |v: &[f32]| v.iter().zip(&meaning.vector).map(|(a, b)| a * b).sum::<f32>();
        let sentence = embedding.sentences.iter().map(|v| dot(v)).fold(f32::MIN, f32::max);
        all.push((0.5 * dot(&embedding.vector) + 0.5 * sentence, n));
    }
    all.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
    let found =
        index.search(scope, &SearchQuery { terms: Vec::new(), ..question.clone() }).expect("an answer");
    let hit = |n: u64| found.items.iter().any(|item| item.candidate && item.memory == id(n));
    all[..10].iter().filter(|(_, n)| hit(*n)).count() as f64 / 10.0
}
