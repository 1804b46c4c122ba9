//! Measures what may not grow with the store: `cargo xtask bench sizes` prints one table.
//!
//! Each row is one operation, each column a store of another size, made of the same kinds of memories. Sizes can be given:
//! `cargo xtask bench sizes -- 1000 1000000`. Nothing is embedded, so the times are those of the store and the index.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod prose;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tulving_core::model::limits::Limits;
use tulving_core::model::request::{
    BriefingRequest, Caller, Filter, ListRequest, Mode, QualityRequest, RecallQuestion, RecallRequest,
    SaveRequest, Sort,
};
use tulving_core::model::vocabulary::{MemoryType, Origin};
use tulving_core::ports::{NoExtractor, NoFiles, NoObjects, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_models::{EmbedderConfig, embedder};
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore};

/// The sizes that are measured if none are given.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const BATCH: usize = 1_000;
/// Number of times that each operation runs. The table shows the median.
const RUNS: usize = 15;
/// One memory of this many has the rare tag, one of ten the common one.
const RARE: usize = 1_000;

fn main() -> anyhow::Result<()> {
    let given: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if given.is_empty() { SIZES.to_vec() } else { given };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("a folder for the bench")?;
    let mut columns = Vec::new();
    for size in &sizes {
        columns.push(measured(&folder.path().join(size.to_string()), *size)?);
    }
    println!("| median, ms | {} |", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(sizes.len()));
    for (row, (what, _)) in columns.first().into_iter().flatten().enumerate() {
        let times = columns.iter().map(|column| format!("{:.1}", column[row].1.as_secs_f64() * 1e3));
        println!("| {what} | {} |", times.collect::<Vec<_>>().join(" | "));
    }
    Ok(())
}

/// Returns each operation with its median time in a new store of this size.
fn measured(home: &Path, size: usize) -> anyhow::Result<Vec<(&'static str, Duration)>> {
    fastrand::seed(7);
    let (engine, user, index) = engine(home)?;
    for batch in 0..size.div_ceil(BATCH) {
        let first = batch * BATCH;
        engine.save_many(&user, (first..size.min(first + BATCH)).map(request).collect())?;
    }
    index.tend()?;
    let recall = |tags: &[&str]| {
        let filter = Filter { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..Filter::default() };
        let mode = Mode::Hybrid(Box::new(RecallQuestion::new("why did the deploy of the service fail")));
        RecallRequest { mode, filter, sort: None, limit: 10 }
    };
    let list = |filter, sort| ListRequest { filter, sort, limit: 20, cursor: None };
    let tagged = Filter { tags: vec!["rare".to_owned()], ..Filter::default() };
    let block = BriefingRequest::default();
    let audit = QualityRequest::default();
    Ok(vec![
        ("context", median(|| engine.briefing(&user, &block))?),
        ("recall", median(|| engine.recall(&user, &recall(&[])))?),
        ("recall with a rare tag", median(|| engine.recall(&user, &recall(&["rare"])))?),
        ("recall with a common tag", median(|| engine.recall(&user, &recall(&["common"])))?),
        ("list, newest first", median(|| engine.list(&user, &list(Filter::default(), Sort::Newest)))?),
        ("list of a rare tag", median(|| engine.list(&user, &list(tagged.clone(), Sort::Newest)))?),
        ("list by importance", median(|| engine.list(&user, &list(Filter::default(), Sort::Importance)))?),
        ("quality audit", median(|| engine.quality(&user, &audit, &mut |_| {}))?),
    ])
}

fn request(nth: usize) -> SaveRequest {
    let types = [MemoryType::Fact; 12].into_iter().chain(MemoryType::ALL.iter().copied());
    let types: Vec<MemoryType> = types.collect();
    let mut tags = vec![format!("area-{}", nth % 50)];
    if nth.is_multiple_of(RARE) {
        tags.push("rare".to_owned());
    }
    if nth.is_multiple_of(10) {
        tags.push("common".to_owned());
    }
    SaveRequest {
        memory_type: Some(types[nth % types.len()]),
        tags: Some(tags),
        ..SaveRequest::new(format!("memory {nth} {}", prose::words(28)))
    }
}

fn engine(home: &Path) -> anyhow::Result<(Engine, Caller, Arc<SearchIndex>)> {
    let home = Home::open_or_create(home)?;
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default())?);
    let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
    let engine = Engine::new(Ports {
        store,
        embedder: embedder(&EmbedderConfig::Off)?,
        former: Vec::new(),
        index: index.clone(),
        files: Arc::new(NoFiles),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Limits::default(),
        secret_policies: SecretPolicies::default(),
    });
    let user = engine.user(Origin::Cli, None)?;
    Ok((engine, user, index))
}

fn median<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<Duration, E> {
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let begun = Instant::now();
        work()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[RUNS / 2])
}
