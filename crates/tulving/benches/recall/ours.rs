//! Tulving in the benchmark: loads a home through the verbs of the engine, then answers in its own process, as the peers do.
//!
//! Memories are loaded with `save_many` in batches, as a user would. Then `Write::Embed` adds the vectors, a thousand in one
//! act. The background worker would embed one memory at a time and search for similar ones; another benchmark measures that.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, Lines, Write as _, stdin, stdout};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tulving_core::model::answer::{Receipt, SaveOutcome};
use tulving_core::model::change::{Actor, ChangeSet, Write};
use tulving_core::model::error::ModelError;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::limits::Limits;
use tulving_core::model::memory::Embedding;
use tulving_core::model::request::{Caller, Filter, Mode, RecallQuestion, RecallRequest, SaveRequest};
use tulving_core::model::search::{Item, QueryVector, SearchQuery, SearchScope};
use tulving_core::model::vocabulary::{Origin, SpaceKind, State};
use tulving_core::ports::{
    Clock as _, Directory as _, Embedder, Index as _, NoExtractor, NoFiles, NoObjects, Store as _,
    SystemClock,
};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_store::{FoldOutcome, Home, SearchIndex, SqliteOptions, SqliteStore};
use tulving_text::terms::terms;

use crate::data::{NEAREST, Questions, SPACES, Set, Vectors};
use crate::system::{Asked, Layout, Loaded, Memory, Row, size_of};

const MODEL: &str = "prepared";
/// Number of memories that are saved, and that get their vectors, in one act.
const BATCH: usize = 1_000;
/// Number of memories that are read before they are saved, space by space.
const READ: usize = BATCH * SPACES;
/// Number of candidates that the engine requests from the index.
const DEPTH: usize = 400;

/// The vectors of the memories.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The vectors of whole texts and of their sentences.
    Sentences,
    /// Only the vectors of whole texts.
    Wholes,
}

/// An embedder that returns prepared vectors at once.
#[derive(Default)]
struct Prepared(Mutex<Vec<f32>>);

impl Prepared {
    fn set(&self, vector: &[f32]) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vector.to_vec();
    }
}

impl Embedder for Prepared {
    fn model(&self) -> Result<String, ModelError> {
        Ok(MODEL.to_owned())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let vector = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(texts.iter().map(|_| vector.clone()).collect())
    }
}

/// An open home.
struct Bed {
    engine: Engine,
    store: Arc<SqliteStore>,
    index: Arc<SearchIndex>,
    embedder: Arc<Prepared>,
    user: Caller,
}

impl Bed {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let home = Home::open_or_create(folder)?;
        let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default())?);
        let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
        let embedder = Arc::new(Prepared::default());
        let engine = Engine::new(Ports {
            store: store.clone(),
            embedder: embedder.clone(),
            former: Vec::new(),
            index: index.clone(),
            files: Arc::new(NoFiles),
            objects: Arc::new(NoObjects),
            extractor: Arc::new(NoExtractor),
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            secret_policies: SecretPolicies::default(),
        });
        let user = engine.user(Origin::Api, None)?;
        Ok(Self { engine, store, index, embedder, user })
    }

    /// The ids of the spaces, in the order of their numbers.
    fn spaces(&self, layout: Layout) -> anyhow::Result<Vec<SpaceId>> {
        match layout {
            Layout::One => Ok(Vec::new()),
            Layout::Spaces => {
                let enter = |number| Ok(self.engine.enter(&self.user, &space_name(number))?.space);
                (0..SPACES).map(enter).collect()
            }
        }
    }
}

fn space_name(number: usize) -> String {
    format!("space-{number:02}")
}

/// Loads a home for each layout below `folder`.
pub(crate) fn load(set: &Set, folder: &Path, layouts: &[Layout], detail: Detail) -> anyhow::Result<Loaded> {
    let mut loaded = Loaded::default();
    for layout in layouts {
        let home = folder.join(layout.as_str());
        let begun = Instant::now();
        let ids = save(set, &Bed::open(&home)?, *layout, detail)?;
        let seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let bed = Bed::open(&home)?;
        while bed.index.tend_now()? != FoldOutcome::NoNeed {}
        let index_seconds = begun.elapsed().as_secs_f64();
        drop(bed);
        fs::write(folder.join(format!("{}.ids", layout.as_str())), ids)?;
        if *layout == Layout::One {
            loaded = Loaded { seconds, index_seconds, bytes: size_of(&home)?, not_reached: None };
        }
    }
    Ok(loaded)
}

/// Saves everything, and returns the ids in the order of the set.
fn save(set: &Set, bed: &Bed, layout: Layout, detail: Detail) -> anyhow::Result<Vec<u8>> {
    let callers: Vec<Caller> = match layout {
        Layout::One => vec![bed.user.clone()],
        Layout::Spaces => {
            for number in 0..SPACES {
                bed.engine.create_space(&bed.user, &space_name(number), SpaceKind::Hub)?;
            }
            let enter = |number| bed.engine.enter(&bed.user, &space_name(number));
            (0..SPACES).map(enter).collect::<Result<_, _>>()?
        }
    };
    let mut source = Source { texts: set.texts()?.lines(), vectors: set.vectors()?, detail };
    let mut ids = vec![0; set.size * 16];
    for start in (0..set.size).step_by(READ) {
        let mut groups: Vec<Vec<(usize, String, Embedding)>> = vec![Vec::new(); callers.len()];
        for index in start..set.size.min(start + READ) {
            let (text, embedding) = source.next()?;
            groups[index % callers.len()].push((index, text, embedding));
        }
        for (caller, group) in callers.iter().zip(groups) {
            for some in group.chunks(BATCH) {
                let requests = some.iter().map(|(_, text, _)| SaveRequest::new(text.as_str())).collect();
                let receipts = bed.engine.save_many(caller, requests)?;
                embed(bed, &receipts, some)?;
                for (receipt, (index, ..)) in receipts.iter().zip(some) {
                    ids[index * 16..index * 16 + 16].copy_from_slice(receipt.memory.id.as_bytes());
                }
            }
        }
    }
    Ok(ids)
}

fn embed(bed: &Bed, receipts: &[Receipt], saved: &[(usize, String, Embedding)]) -> anyhow::Result<()> {
    ensure!(
        receipts.iter().all(|receipt| receipt.outcome == SaveOutcome::Created),
        "two memories have one text"
    );
    let writes = receipts.iter().zip(saved).map(|(receipt, (.., embedding))| Write::Embed {
        id: receipt.memory.id,
        from: receipt.memory.version,
        embeddings: vec![(0, embedding.clone())],
    });
    let by = Actor { principal: PrincipalId::USER, agent: None };
    let act = ChangeSet { by, at: SystemClock.now(), rights: Vec::new(), writes: writes.collect() };
    bed.store.apply(&act)?;
    Ok(())
}

/// Reads the texts and vectors of a set, one after the other.
struct Source<T> {
    texts: Lines<T>,
    vectors: Vectors,
    detail: Detail,
}

impl<T: BufRead> Source<T> {
    fn next(&mut self) -> anyhow::Result<(String, Embedding)> {
        let text = self.texts.next().context("the texts end too soon")??;
        let (vector, mut sentences) = self.vectors.next()?;
        if self.detail == Detail::Wholes {
            sentences.clear();
        }
        Ok((text, Embedding { model: MODEL.to_owned(), vector, sentences }))
    }
}

/// Answers questions from standard input until it ends.
pub(crate) fn serve(set: &Set, folder: &Path) -> anyhow::Result<()> {
    let mut served =
        Served { folder, questions: set.questions()?, asked: set.asked()?, beds: HashMap::new() };
    answer(&json!(env!("CARGO_PKG_VERSION")))?;
    for line in stdin().lines() {
        answer(&served.answer(&serde_json::from_str(&line?)?)?)?;
    }
    Ok(())
}

fn answer(answer: &Value) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{answer}")?;
    Ok(out.flush()?)
}

struct Served<'a> {
    folder: &'a Path,
    questions: Questions,
    asked: Vec<Vec<f32>>,
    beds: HashMap<Layout, (Bed, Vec<SpaceId>)>,
}

impl Served<'_> {
    fn answer(&mut self, asked: &Asked) -> anyhow::Result<Value> {
        Ok(match asked {
            Asked::Open => {
                let begun = Instant::now();
                self.recall(Row::FIRST, 0)?;
                json!(begun.elapsed().as_secs_f64())
            }
            Asked::Row { row, from, to, seconds } => {
                json!(self.timed(*from..*to, *seconds, |served, number| { served.recall(*row, number) })?)
            }
            Asked::Index { row, from, to, seconds } => {
                json!(self.timed(*from..*to, *seconds, |served, number| { served.search(*row, number) })?)
            }
            Asked::Memory => json!(Memory::of_this_process()?),
            Asked::Nearest { count } => json!(self.nearest(*count)?),
        })
    }

    fn bed(&mut self, layout: Layout) -> anyhow::Result<()> {
        if !self.beds.contains_key(&layout) {
            let bed = Bed::open(&self.folder.join(layout.as_str()))?;
            let spaces = bed.spaces(layout)?;
            self.beds.insert(layout, (bed, spaces));
        }
        Ok(())
    }

    /// Repeats a call for the given seconds, and returns the milliseconds of each.
    fn timed(
        &mut self,
        numbers: std::ops::Range<usize>,
        seconds: f64,
        mut each: impl FnMut(&mut Self, usize) -> anyhow::Result<f64>,
    ) -> anyhow::Result<Vec<f64>> {
        let begun = Instant::now();
        let mut times = Vec::new();
        for number in numbers {
            times.push(each(self, number)?);
            if begun.elapsed().as_secs_f64() > seconds {
                break;
            }
        }
        Ok(times)
    }

    /// Makes one recall through the engine.
    fn recall(&mut self, row: Row, number: usize) -> anyhow::Result<f64> {
        self.bed(row.layout)?;
        let (bed, spaces) = &self.beds[&row.layout];
        bed.embedder.set(&self.asked[number]);
        let filter = Filter { space: self.space(spaces, number), ..Filter::default() };
        let mode = Mode::Hybrid(Box::new(RecallQuestion::new(row.question(&self.questions, number))));
        let request = RecallRequest { mode, filter, sort: None, limit: NEAREST };
        let begun = Instant::now();
        let found = bed.engine.recall(&bed.user, &request)?;
        let time = milliseconds(begun);
        ensure!(found.missing.is_empty(), "a lane is missing: {:?}", found.missing);
        ensure!(found.hits.len() == NEAREST, "{} hits", found.hits.len());
        Ok(time)
    }

    /// Makes one search of the index, as the engine does.
    fn search(&mut self, row: Row, number: usize) -> anyhow::Result<f64> {
        self.bed(row.layout)?;
        let (bed, spaces) = &self.beds[&row.layout];
        let scope = scope(bed, self.space(spaces, number))?;
        let meaning = Some(QueryVector { model: MODEL.to_owned(), vector: self.asked[number].clone() });
        let terms = terms(row.question(&self.questions, number));
        let begun = Instant::now();
        bed.index.search(&scope, &SearchQuery { terms, meaning, depth: DEPTH, ..SearchQuery::default() })?;
        Ok(milliseconds(begun))
    }

    fn space(&self, spaces: &[SpaceId], number: usize) -> Option<SpaceId> {
        spaces.get(self.questions.spaces[number]).copied()
    }

    /// Returns the results of the vector lane, by their position in the set.
    fn nearest(&mut self, count: usize) -> anyhow::Result<Vec<Vec<usize>>> {
        self.bed(Layout::One)?;
        let (bed, _) = &self.beds[&Layout::One];
        let ids = fs::read(self.folder.join(format!("{}.ids", Layout::One.as_str())))?;
        let ids = ids.chunks_exact(16).map(|id| id.try_into().expect("sixteen bytes"));
        let places: HashMap<MemoryId, usize> = ids.map(MemoryId::from_bytes).zip(0..).collect();
        let scope = scope(bed, None)?;
        let mut all = Vec::new();
        for vector in self.asked.iter().take(count) {
            let meaning = Some(QueryVector { model: MODEL.to_owned(), vector: vector.clone() });
            let found =
                bed.index.search(&scope, &SearchQuery { meaning, depth: DEPTH, ..SearchQuery::default() })?;
            let mut items: Vec<&Item> = found.items.iter().filter(|item| item.candidate).collect();
            items.sort_by(|one, other| other.closeness().total_cmp(&one.closeness()));
            all.push(
                items.iter().take(NEAREST).filter_map(|item| places.get(&item.memory).copied()).collect(),
            );
        }
        Ok(all)
    }
}

/// The scope that the engine would search.
fn scope(bed: &Bed, space: Option<SpaceId>) -> anyhow::Result<SearchScope> {
    let states = State::ALL.iter().copied().filter(|state| *state != State::Archived).collect();
    let filter = Filter { space, states, states_at: Some(SystemClock.now()), ..Filter::default() };
    Ok(SearchScope { visibility: bed.store.visibility(&bed.user.viewer)?, filter, among: None })
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}
