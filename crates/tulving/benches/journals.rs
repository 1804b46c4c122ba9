//! Measures journals: `cargo xtask bench journals` prints one table.
//!
//! The data is ten years of journals, one file for each day. The table compares each search with reading all the files in the
//! same run, so that the ratio is meaningful. No entry contains the words searched for. This is the most expensive search,
//! because it cannot stop early.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod prose;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tulving_core::files::Day;
use tulving_core::model::limits::Limits;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{NoExtractor, NoObjects, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_models::{EmbedderConfig, embedder};
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore, Workspace};

const DAYS: usize = 3_650;
const ENTRIES: usize = 10;
const SEARCHES: usize = 50;
const NOTES: usize = 200;
/// A text that no entry contains.
const ABSENT: &str = "Zanzibar";

fn main() -> anyhow::Result<()> {
    fastrand::seed(7);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("a folder for the bench")?;
    let home = folder.path().join("home");
    let journals = home.join("workspace/memory");
    let bytes = write_journals(&journals)?;
    println!("| work | p50 | p99 |\n|---|---|---|");
    println!("| {DAYS} files, {:.1} MB | | |", bytes as f64 / 1e6);
    row("read every file", &mut repeated(SEARCHES, || read_all(&journals))?);
    for watched in [true, false] {
        let (engine, user) = engine(&home, watched)?;
        let name = if watched { "watched" } else { "not watched" };
        let first = timed(|| engine.search_journals(&user, ABSENT, 5))?;
        row(&format!("first search of a process, {name}"), &mut [first]);
        let search = || engine.search_journals(&user, ABSENT, 5).map(drop);
        row(&format!("search for what is nowhere, {name}"), &mut repeated(SEARCHES, search)?);
        let search = || engine.search_journals(&user, "deploy", 5).map(drop);
        row(&format!("search for what is everywhere, {name}"), &mut repeated(SEARCHES, search)?);
    }
    let (engine, user) = engine(&home, true)?;
    row("note, durable", &mut repeated(NOTES, || engine.remember(&user, &sentence()).map(drop))?);
    let began = Instant::now();
    while engine.follow_files().left > 0 {}
    row("mirror all of it the first time", &mut [began.elapsed()]);
    row(
        "look whether anything changed, watched",
        &mut repeated(SEARCHES, || {
            let _ = engine.follow_files();
            anyhow::Ok(())
        })?,
    );
    Ok(())
}

fn engine(home: &Path, watched: bool) -> anyhow::Result<(Engine, Caller)> {
    let home = Home::open_or_create(home)?;
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default())?);
    let files = Workspace::open(&home, &home.workspace());
    if watched {
        files.watch();
    }
    let engine = Engine::new(Ports {
        store: store.clone(),
        embedder: embedder(&EmbedderConfig::Off)?,
        former: Vec::new(),
        index: Arc::new(SearchIndex::open(store, &home.index_dir())),
        files: Arc::new(files),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Limits::default(),
        secret_policies: SecretPolicies::default(),
    });
    let user = engine.user(Origin::Cli, None)?;
    Ok((engine, user))
}

/// Writes a journal for each day before the first of 2026, and returns their total size in bytes.
fn write_journals(folder: &Path) -> anyhow::Result<u64> {
    fs::create_dir_all(folder)?;
    let mut day: Day = "2026-01-01".parse()?;
    let mut bytes = 0;
    for _ in 0..DAYS {
        day = day.before();
        let text: String = (0..ENTRIES).map(|_| format!("{}\n", sentence())).collect();
        bytes += text.len() as u64;
        fs::write(folder.join(day.journal()), text)?;
    }
    Ok(bytes)
}

/// Returns twenty-five words that look like an entry.
fn sentence() -> String {
    prose::words(25)
}

fn read_all(folder: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        std::hint::black_box(fs::read(entry?.path())?);
    }
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn repeated<E>(times: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<Vec<Duration>, E> {
    (0..times).map(|_| timed(&mut work)).collect()
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
    let ms = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    println!("| {name} | {} | {} |", ms(at(0.5)), ms(at(0.99)));
}
