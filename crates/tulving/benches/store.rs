//! Measures the store: `cargo xtask bench store` prints one table.
//!
//! Every row is measured in this one run. Durable saves alternate with plain fdatasync calls on the same file system, so that
//! both see the same noise and their ratio is meaningful. A save writes eleven pages to the write-ahead log, each with a
//! header of 24 bytes; the plain calls write the same amount.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod prose;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tulving_core::model::id::{MemoryNumber, MemoryRef};
use tulving_core::model::limits::Limits;
use tulving_core::model::request::{Caller, Filter, ListRequest, Mode, RecallRequest, SaveRequest, Sort};
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{NoExtractor, NoFiles, NoObjects, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies, TendRequest};
use tulving_models::{EmbedderConfig, embedder};
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore};

const SINGLE_SAVES: usize = 2_000;
const BULK: usize = 100_000;
const BATCH: usize = 1_000;
const POINT_READS: usize = 20_000;
const OPENS: usize = 20;
const SCANS: usize = 20;

fn main() -> anyhow::Result<()> {
    // Cargo adds `--bench`; `single` measures only the single saves.
    let only_single = std::env::args().any(|argument| argument == "single");
    fastrand::seed(7);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("a folder for the bench")?;
    let mut table = Table::default();
    single_saves(folder.path(), &mut table)?;
    if !only_single {
        let home = folder.path().join("bulk");
        bulk_load(&home, &mut table)?;
        reads(&home, &mut table)?;
        opens(&home, &mut table)?;
    }
    table.print();
    Ok(())
}

fn engine(home: &Path) -> anyhow::Result<(Engine, Caller)> {
    let home = Home::open_or_create(home)?;
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default())?);
    let engine = Engine::new(Ports {
        store: store.clone(),
        embedder: embedder(&EmbedderConfig::Off)?,
        former: Vec::new(),
        index: Arc::new(SearchIndex::open(store, &home.index_dir())),
        files: Arc::new(NoFiles),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Limits::default(),
        secret_policies: SecretPolicies::default(),
    });
    let user = engine.user(Origin::Cli, None)?;
    Ok((engine, user))
}

/// Returns thirty words that look like a sentence, never the same twice.
fn sentence(index: usize) -> String {
    format!("memory {index} {}", prose::words(28))
}

fn single_saves(folder: &Path, table: &mut Table) -> anyhow::Result<()> {
    let (engine, user) = engine(&folder.join("single"))?;
    let mut file = File::create(folder.join("fdatasync"))?;
    file.write_all(&vec![0; 4 << 20])?;
    file.sync_all()?;
    let page = [7_u8; 4096];
    let (mut syncs, mut frames, mut saves) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..SINGLE_SAVES {
        let offset = (index % 1024) as u64 * 4096;
        syncs.push(timed(|| {
            file.write_all_at(&page, offset)?;
            file.sync_data()
        })?);
        let offset = (index % 64) as u64 * 11 * 4120;
        frames.push(timed(|| {
            for frame in 0..11 {
                file.write_all_at(&page[..24], offset + frame * 4120)?;
                file.write_all_at(&page, offset + frame * 4120 + 24)?;
            }
            file.sync_data()
        })?);
        let request = SaveRequest::new(sentence(index));
        saves.push(timed(|| engine.save(&user, request))?);
    }
    let (sync_p50, sync_p99) = percentiles(&mut syncs);
    let (frames_p50, frames_p99) = percentiles(&mut frames);
    let (save_p50, save_p99) = percentiles(&mut saves);
    table.row("write 4 KiB and fdatasync, p50 / p99", format!("{} / {}", ms(sync_p50), ms(sync_p99)));
    let frames = format!("{} / {}", ms(frames_p50), ms(frames_p99));
    table.row("write eleven frames of a log and fdatasync, p50 / p99", frames);
    table.row("durable single save, p50 / p99", format!("{} / {}", ms(save_p50), ms(save_p99)));
    let ratio = save_p50.as_secs_f64() / sync_p50.as_secs_f64();
    table.row("save ÷ fdatasync, p50", format!("{ratio:.2}"));
    let ratio = save_p50.as_secs_f64() / frames_p50.as_secs_f64();
    table.row("save ÷ eleven frames and fdatasync, p50", format!("{ratio:.2}"));
    Ok(())
}

fn bulk_load(home: &Path, table: &mut Table) -> anyhow::Result<()> {
    let (engine, user) = engine(home)?;
    let batches: Vec<Vec<SaveRequest>> = (0..BULK / BATCH)
        .map(|batch| (0..BATCH).map(|i| SaveRequest::new(sentence(batch * BATCH + i))).collect())
        .collect();
    let begun = Instant::now();
    for batch in batches {
        engine.save_many(&user, batch)?;
    }
    let spent = begun.elapsed();
    let rate = BULK as f64 / spent.as_secs_f64();
    table.row("bulk save of 100,000, batches of 1,000, no embedding", format!("{rate:.0} memories/s"));
    let bytes = std::fs::metadata(home.join("tulving.db"))?.len();
    table.row("database of 100,000", format!("{:.0} MB", bytes as f64 / 1e6));
    Ok(())
}

fn reads(home: &Path, table: &mut Table) -> anyhow::Result<()> {
    let (engine, user) = engine(home)?;
    let mut gets = Vec::new();
    for _ in 0..POINT_READS {
        let which = MemoryRef::Number(MemoryNumber(fastrand::u64(1..=BULK as u64)));
        gets.push(timed(|| engine.get(&user, which))?);
    }
    table.percentile_row("point read by number", &mut gets);
    let page = ListRequest { filter: Filter::default(), sort: Sort::Newest, limit: 20, cursor: None };
    let mut lists = Vec::new();
    for _ in 0..SCANS {
        lists.push(timed(|| engine.list(&user, &page))?);
    }
    table.percentile_row("list of the newest 20", &mut lists);
    let request = RecallRequest {
        mode: Mode::Substring("memory 4711 ".to_owned()),
        filter: Filter::default(),
        sort: None,
        limit: 10,
    };
    let mut scans = Vec::new();
    for _ in 0..SCANS {
        scans.push(timed(|| engine.recall(&user, &request))?);
    }
    table.percentile_row("recall by substring over 100,000 (a scan)", &mut scans);
    let request = TendRequest { dry_run: true, ..TendRequest::default() };
    let mut looks = Vec::new();
    for _ in 0..SCANS {
        looks.push(timed(|| engine.tend(&user, &request))?);
    }
    table.percentile_row("look at 100,000 by the rules for what has aged", &mut looks);
    Ok(())
}

fn opens(home: &Path, table: &mut Table) -> anyhow::Result<()> {
    let mut opens = Vec::new();
    for _ in 0..OPENS {
        let begun = Instant::now();
        let (engine, user) = engine(home)?;
        engine.get(&user, MemoryRef::Number(MemoryNumber(1)))?;
        opens.push(begun.elapsed());
    }
    table.percentile_row("open a store of 100,000 and read one", &mut opens);
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

fn percentiles(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// Rows to print at the end, so that the progress of the build is not mixed with them.
#[derive(Default)]
struct Table(Vec<(String, String)>);

impl Table {
    fn row(&mut self, what: &str, value: String) {
        self.0.push((what.to_owned(), value));
    }

    fn percentile_row(&mut self, what: &str, times: &mut [Duration]) {
        let (p50, p99) = percentiles(times);
        self.row(&format!("{what}, p50 / p99"), format!("{} / {}", ms(p50), ms(p99)));
    }

    fn print(&self) {
        println!("| what | measured |\n|---|---|");
        for (what, value) in &self.0 {
            println!("| {what} | {value} |");
        }
    }
}
