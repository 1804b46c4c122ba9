//! What it costs to import a tree: `cargo xtask bench import` prints one table.
//!
//! The tree is made of small files of the crates that Tulving is built from, as cargo keeps their sources: code, Markdown and
//! data in many folders, 12,000 files unless `--files` says otherwise; `--tree PATH` takes any other. The binary itself
//! imports it, as a user would: with embedding left to later, once more with nothing changed, and into another home with
//! embedding (`--no-embedding` leaves that out, which takes minutes). Beside it stands what it costs to read all the files, in
//! the same run.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use tulving_core::classify::form;

/// Larger files are left out of the tree.
const LARGEST: u64 = 4_096;
const FILES: usize = 12_000;
/// When the files of the tree were written.
const LONG_AGO: Duration = Duration::from_secs(1_700_000_000);

fn main() -> anyhow::Result<()> {
    let asked = Asked::read()?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("a folder for the bench")?;
    let tree = match &asked.tree {
        Some(tree) => tree.clone(),
        None => made(&folder.path().join("tree"), asked.files)?,
    };
    let (files, bytes) = measured(&tree)?;
    println!("| work | time | files a second | peak memory |\n|---|---|---|---|");
    println!("| {files} files, {:.1} MB | | | |", bytes as f64 / 1e6);
    let began = Instant::now();
    read_all(&tree)?;
    row("read every file", began.elapsed(), files, None);
    let home = folder.path().join("home");
    let tree = tree.display().to_string();
    let first = run(&home, &["import", &tree, "--later", "--json"])?;
    row("import, embedding left to later", first.took, taken(&first, "new")?, Some(first.peak));
    let before = stored(&home)?;
    let again = run(&home, &["import", &tree, "--later", "--json"])?;
    let unchanged = taken(&again, "unchanged")?;
    row("import again, nothing changed", again.took, unchanged, Some(again.peak));
    if stored(&home)? != before {
        bail!("an import that changed nothing has written to the database");
    }
    if asked.embedding {
        let embedded = run(&folder.path().join("embedded"), &["import", &tree, "--json"])?;
        row("import with embedding", embedded.took, taken(&embedded, "new")?, Some(embedded.peak));
    }
    Ok(())
}

struct Asked {
    tree: Option<PathBuf>,
    files: usize,
    embedding: bool,
}

impl Asked {
    fn read() -> anyhow::Result<Self> {
        let mut asked = Self { tree: None, files: FILES, embedding: true };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match word.as_str() {
                "--tree" => asked.tree = Some(value()?.into()),
                "--files" => asked.files = value()?.parse()?,
                "--no-embedding" => asked.embedding = false,
                // cargo adds it.
                "--bench" => {}
                _ => bail!("`{word}` is not known; there are --tree PATH, --files NUMBER and --no-embedding"),
            }
        }
        Ok(asked)
    }
}

/// A tree of small files of the sources that cargo keeps.
fn made(tree: &Path, most: usize) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = cargo.context("no CARGO_HOME")?.join("registry/src");
    let mut made = 0;
    let mut folders = vec![sources.clone()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, about) = (entry.path(), entry.metadata()?);
            if about.is_dir() {
                folders.push(path);
                continue;
            }
            let fits = about.is_file() && (1..=LARGEST).contains(&about.len());
            if !fits || form::is_importable(&path.display().to_string()).is_err() {
                continue;
            }
            let to = tree.join(path.strip_prefix(&sources)?);
            fs::create_dir_all(to.parent().context("a folder")?)?;
            fs::copy(&path, &to)?;
            // Older than what a clock of a file system cannot tell apart.
            fs::File::options().append(true).open(&to)?.set_modified(UNIX_EPOCH + LONG_AGO)?;
            made += 1;
            if made == most {
                return Ok(tree.to_owned());
            }
        }
    }
    bail!("{} has {made} such files and {most} are wanted; give --files or --tree", sources.display())
}

fn each(tree: &Path, see: &mut dyn FnMut(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut found = Vec::new();
    let unread = tulving_store::tree::walk(tree, false, &mut |file| found.push(file.path));
    if let Some(trouble) = unread.first() {
        bail!("{}", trouble.why);
    }
    found.iter().try_for_each(|path| see(path))
}

fn measured(tree: &Path) -> anyhow::Result<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    each(tree, &mut |path| {
        files += 1;
        bytes += fs::metadata(path)?.len();
        Ok(())
    })?;
    Ok((files, bytes))
}

fn read_all(tree: &Path) -> anyhow::Result<()> {
    each(tree, &mut |path| {
        std::hint::black_box(fs::read(path)?);
        Ok(())
    })
}

/// What a run of the binary took and printed.
struct Run {
    took: Duration,
    /// Most memory at once, in bytes.
    peak: u64,
    out: serde_json::Value,
}

fn run(home: &Path, args: &[&str]) -> anyhow::Result<Run> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tulving"));
    command.args(args).env("TULVING_HOME", home).stdin(Stdio::null()).stderr(Stdio::inherit());
    let began = Instant::now();
    let child = command.stdout(Stdio::piped()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(text) = fs::read_to_string(&status) {
            let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(most) = most.and_then(|most| most.trim().trim_end_matches(" kB").parse::<u64>().ok())
            else {
                break;
            };
            peak = peak.max(most * 1_024);
            std::thread::sleep(Duration::from_millis(2));
        }
        peak
    });
    let done = child.wait_with_output()?;
    let took = began.elapsed();
    let peak = watch.join().unwrap_or_default();
    if !done.status.success() {
        bail!("tulving {args:?} failed");
    }
    Ok(Run { took, peak, out: serde_json::from_slice(&done.stdout)? })
}

fn taken(run: &Run, what: &str) -> anyhow::Result<u64> {
    run.out[what].as_u64().with_context(|| format!("the report has no {what}"))
}

/// Size and last change of the database and of what it has still to take over.
fn stored(home: &Path) -> anyhow::Result<Vec<(u64, SystemTime)>> {
    let about = |name: &str| fs::metadata(home.join(name)).ok();
    let files = [about("tulving.db"), about("tulving.db-wal")].into_iter().flatten();
    files.map(|about| Ok((about.len(), about.modified()?))).collect()
}

fn row(name: &str, took: Duration, files: u64, peak: Option<u64>) {
    let rate = files as f64 / took.as_secs_f64();
    let peak = peak.map_or_else(String::new, |peak| format!("{:.0} MB", peak as f64 / 1e6));
    println!("| {name} | {:.2} s | {rate:.0} | {peak} |", took.as_secs_f64());
}
