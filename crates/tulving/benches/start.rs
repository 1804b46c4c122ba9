//! Measures the start of the program: `cargo xtask bench start` prints one table.
//!
//! Each row is a process from its start to its end, on a store of 10,000 memories that the model has embedded. The table
//! compares it with `true`, the cheapest process there is, measured in turns in the same run. Memory is the peak of the
//! process, read every half millisecond.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

const MEMORIES: usize = 10_000;
const ROUNDS: usize = 40;
const LOOK: Duration = Duration::from_micros(500);

/// The command to start, and its name in the table.
const WORK: &[(&str, &[&str])] = &[
    ("`tulving --version`", &["--version"]),
    ("`tulving --help`", &["--help"]),
    ("`tulving`", &[]),
    ("`tulving get 77`", &["get", "77"]),
    ("`tulving list`", &["list"]),
    ("`tulving recall`, by words", &["recall", "--mode", "text", "smaller image"]),
    ("`tulving recall`, with the model", &["recall", "why did we want a smaller image?"]),
    ("`tulving context`", &["context"]),
    ("`tulving save`, with the model", &["save", "The image is built from scratch since Friday"]),
];

fn main() -> anyhow::Result<()> {
    fastrand::seed(11);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("a folder for the bench")?;
    let home = folder.path().join("home");
    let began = Instant::now();
    fill(&home, folder.path())?;
    println!("{MEMORIES} memories saved and embedded in {:.0} s", began.elapsed().as_secs_f64());
    let program = env!("CARGO_BIN_EXE_tulving");
    println!(
        "the program has {:.1} MB, the home {:.1} MB\n",
        megabytes(size(program.as_ref())?),
        megabytes(size(&home)?)
    );
    println!("| process | p50 | p99 | times `true` | memory |\n|---|---|---|---|---|");
    let mut idle = Vec::new();
    for (name, words) in WORK {
        let mut times = Vec::new();
        let mut most = 0;
        for _ in 0..ROUNDS {
            idle.push(run(Command::new("true"))?);
            times.push(run(tulving(&home, words))?);
        }
        for _ in 0..3 {
            most = most.max(held(tulving(&home, words))?);
        }
        times.sort_unstable();
        idle.sort_unstable();
        let (half, idle_half) = (times[times.len() / 2], idle[idle.len() / 2]);
        let ratio = half.as_secs_f64() / idle_half.as_secs_f64();
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "| {name} | {:.1} ms | {:.1} ms | {ratio:.1} | {:.0} MB |",
            milliseconds(half),
            milliseconds(times[times.len() * 99 / 100]),
            megabytes(most),
        );
    }
    Ok(())
}

fn tulving(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tulving"));
    command.args(words).env_clear().env("TULVING_HOME", home);
    command
}

/// Creates the store: different sentences, saved and embedded by the program itself.
fn fill(home: &Path, folder: &Path) -> anyhow::Result<()> {
    let lines: String = (0..MEMORIES).map(|at| format!("{{\"content\": \"{}\"}}\n", sentence(at))).collect();
    let file = folder.join("memories.jsonl");
    fs::write(&file, lines)?;
    let file = file.to_str().context("a path that is text")?;
    run(tulving(home, &["save", "--batch", file]))?;
    run(tulving(home, &["embed"]))?;
    Ok(())
}

fn sentence(at: usize) -> String {
    const WORDS: &[&str] = &[
        "deploy", "service", "friday", "review", "team", "prefers", "postgres", "retry", "limit", "token",
        "budget", "meeting", "notes", "index", "vector", "memory", "agent", "session", "cache", "latency",
        "user", "asked", "smaller", "image", "builds", "slow", "tests", "failed", "twice", "invoice",
        "harbour", "berth", "tide",
    ];
    let words: Vec<&str> = (0..14).map(|_| WORDS[fastrand::usize(..WORDS.len())]).collect();
    format!("Note {at}: {}", words.join(" "))
}

/// Measures the duration of a process, which must succeed.
fn run(mut command: Command) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let took = began.elapsed();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(took)
}

/// Returns the peak memory of a process in bytes, sampled as often as possible.
fn held(mut command: Command) -> anyhow::Result<u64> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut most = 0;
    while child.try_wait()?.is_none() {
        most = most.max(high_water(&child).unwrap_or(0));
        thread::sleep(LOOK);
    }
    Ok(most)
}

fn high_water(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Returns the size of a file, or of all files of a folder.
fn size(path: &Path) -> anyhow::Result<u64> {
    let about = fs::metadata(path)?;
    if !about.is_dir() {
        return Ok(about.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
