//! Measures the import of a tree of files: `cargo xtask bench import` prints one table.
//!
//! The tree consists of the beginnings of source files of the crates that Tulving depends on, as cargo keeps them: code,
//! Markdown and data in many folders. It has 10,700 files unless `--files` sets another number; `--tree PATH` uses another
//! tree. The binary imports it as a user would: with embedding postponed, again without changes, and into another home with
//! embedding. The last run takes minutes; `--no-embedding` skips it. The table also shows the time of reading all files in
//! the same run.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use tulving_store::tree::{self, WalkOptions};
use tulving_text::classify::form;

/// Maximum bytes of a file, so that the tree has many files and the model embeds it within half an hour.
const LARGEST: usize = 1_024;
const FILES: usize = 10_700;
/// The modification time of the files of the tree.
const LONG_AGO: Duration = Duration::from_secs(1_700_000_000);

fn main() -> anyhow::Result<()> {
    let asked = Asked::read()?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).context("a folder for the bench")?;
    let tree = match &asked.tree {
        Some(tree) => tree.clone(),
        None => made(&folder.path().join("tree"), asked.files)?,
    };
    let (files, bytes) = measured(&tree)?;
    println!("| work | time | processor time | files a second | peak memory |\n|---|---|---|---|---|");
    println!("| {files} files, {:.1} MB | | | | |", bytes as f64 / 1e6);
    let began = Instant::now();
    read_all(&tree)?;
    let took = began.elapsed().as_secs_f64();
    println!("| read every file | {took:.2} s | | {:.0} | |", files as f64 / took);
    let home = folder.path().join("home");
    let tree = tree.display().to_string();
    let first = run(&home, &["import", &tree, "--later", "--json"])?;
    row("import, embedding left to later", &first, taken(&first, "new")?);
    let before = stored(&home)?;
    let again = run(&home, &["import", &tree, "--later", "--json"])?;
    row("import again, nothing changed", &again, taken(&again, "unchanged")?);
    if stored(&home)? != before {
        bail!("an import that changed nothing has written to the database");
    }
    if asked.embedding {
        let embedded = run(&folder.path().join("embedded"), &["import", &tree, "--json"])?;
        row("import with embedding", &embedded, taken(&embedded, "new")?);
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
            if !about.is_file() || form::is_importable(&path.display().to_string()).is_err() {
                continue;
            }
            let Some(beginning) = fs::read_to_string(&path).ok().map(beginning) else { continue };
            if beginning.trim().is_empty() {
                continue;
            }
            let to = tree.join(path.strip_prefix(&sources)?);
            fs::create_dir_all(to.parent().context("a folder")?)?;
            fs::write(&to, beginning)?;
            // Old enough that the clock of the file system can distinguish a later change.
            fs::File::options().append(true).open(&to)?.set_modified(UNIX_EPOCH + LONG_AGO)?;
            made += 1;
            if made == most {
                return Ok(tree.to_owned());
            }
        }
    }
    bail!("{} has {made} such files and {most} are wanted; give --files or --tree", sources.display())
}

/// Returns a text up to the end of the last line that fits.
fn beginning(mut text: String) -> String {
    let most = text.floor_char_boundary(LARGEST);
    if most < text.len() {
        text.truncate(most);
        text.truncate(text.rfind('\n').map_or(most, |end| end + 1));
    }
    text
}

fn each(tree: &Path, see: &mut dyn FnMut(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut found = Vec::new();
    let unseen = tree::walk(tree, WalkOptions::default(), &mut |file| found.push(file.path));
    if let Some(trouble) = unseen.unread.first() {
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

/// The cost and the output of a run of the binary.
struct Run {
    took: Duration,
    /// Processor time on all cores, without other processes.
    processor: Duration,
    /// Peak memory in bytes.
    peak: u64,
    out: serde_json::Value,
}

fn run(home: &Path, args: &[&str]) -> anyhow::Result<Run> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tulving"));
    command.args(args).env("TULVING_HOME", home).stdin(Stdio::null()).stderr(Stdio::inherit());
    let began = Instant::now();
    let child = command.stdout(Stdio::piped()).spawn()?;
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let watch = std::thread::spawn(move || {
        let (mut peak, mut processor) = (0, Duration::ZERO);
        while let Ok(text) = fs::read_to_string(process.join("status")) {
            let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(most) = most.and_then(|most| most.trim().trim_end_matches(" kB").parse::<u64>().ok())
            else {
                break;
            };
            peak = peak.max(most * 1_024);
            processor = processor_time(&process).unwrap_or_default().max(processor);
            std::thread::sleep(Duration::from_millis(2));
        }
        (peak, processor)
    });
    let done = child.wait_with_output()?;
    let took = began.elapsed();
    let (peak, processor) = watch.join().unwrap_or_default();
    if !done.status.success() {
        bail!("tulving {args:?} failed");
    }
    Ok(Run { took, processor, peak, out: serde_json::from_slice(&done.stdout)? })
}

/// Returns the processor time of a process so far, in user and kernel mode: the 14th and 15th field, in hundredths of a second.
fn processor_time(process: &Path) -> Option<Duration> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis(ticks.sum::<u64>() * 10))
}

fn taken(run: &Run, what: &str) -> anyhow::Result<u64> {
    run.out[what].as_u64().with_context(|| format!("the report has no {what}"))
}

/// The size and the last change of the database and of its write-ahead log.
fn stored(home: &Path) -> anyhow::Result<Vec<(u64, SystemTime)>> {
    let about = |name: &str| fs::metadata(home.join(name)).ok();
    let files = [about("tulving.db"), about("tulving.db-wal")].into_iter().flatten();
    files.map(|about| Ok((about.len(), about.modified()?))).collect()
}

fn row(name: &str, run: &Run, files: u64) {
    let Run { took, processor, peak, .. } = run;
    let rate = files as f64 / took.as_secs_f64();
    let (took, processor, peak) = (took.as_secs_f64(), processor.as_secs_f64(), *peak as f64 / 1e6);
    println!("| {name} | {took:.2} s | {processor:.2} s | {rate:.1} | {peak:.0} MB |");
}
