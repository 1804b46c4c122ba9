//! Measures recall and compares it with other systems: `cargo xtask bench recall` prints Markdown tables.
//!
//! Every system gets the same texts, vectors, spaces and questions. Each answers in its own process, with one thread, in
//! turns with the others, and returns the ten best memories with their texts. No system embeds: the vectors are given.
//! Tulving is called through `Engine::recall`, with all lanes, on a home on disk. `peers.py` contains the other systems;
//! `data.rs` and `words.rs` describe the data. Only the ratios are meaningful: milliseconds depend on the machine and its load.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

mod data;
mod ours;
#[path = "../peer/mod.rs"]
mod peer;
mod sentences;
mod system;
mod table;
mod words;

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::data::{MOST_QUESTIONS, REAL, Set};
use crate::ours::Detail;
use crate::peer::Answering;
use crate::system::{Asked, Frequency, Layout, Loaded, Memory, Program, Row, forget_pages, read_pages};

const USAGE: &str = "\
usage: bench recall -- [FLAGS]
  --sizes LIST     how many memories, default 10000,100000,1000000
  --peers LIST     of sqlite-vec,sqlite-vec-bits,chromadb,lancedb,mem0, default all; `none` for none
  --queries N      how many questions for each row, default 200
  --minutes N      how long a peer may load a size, default 10
  --keep           keep what was loaded under target/, and use it again";
/// The name of Tulving among the systems.
pub(crate) const OURS: &str = "Tulving";
const PEERS: [&str; 5] = ["sqlite-vec", "sqlite-vec-bits", "chromadb", "lancedb", "mem0"];
const PACKAGES: [&str; 7] =
    ["numpy", "pysqlite3-binary", "sqlite-vec", "chromadb", "lancedb", "mem0ai", "qdrant-client"];
const PEER_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/recall/peers.py");
/// Number of turns in which each row is measured.
const ROUNDS: usize = 4;
/// Maximum seconds of a turn; a slower system gets fewer questions.
const TURN: f64 = 8.0;
const WARM_UP: usize = 20;
/// Number of questions before the memory is measured.
const ASKED_BEFORE: usize = 100;
/// Number of questions whose nearest memories are compared with the exact ones.
const COMPARED: usize = 100;

struct Options {
    sizes: Vec<usize>,
    peers: Vec<&'static str>,
    queries: usize,
    most: Duration,
    keep: bool,
}

fn main() -> anyhow::Result<()> {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The bench starts itself with these arguments, as it starts the peers.
    match words.as_slice() {
        [detail @ ("sentences" | "wholes"), act, set, folder, size, ..] => {
            let set = Set::at(Path::new(set), size.parse()?);
            if *act == "serve" {
                return ours::serve(&set, Path::new(folder));
            }
            let loaded = match *detail {
                "wholes" => ours::load(&set, Path::new(folder), &[Layout::One], Detail::Wholes)?,
                _ => ours::load(&set, Path::new(folder), &[Layout::One, Layout::Spaces], Detail::Sentences)?,
            };
            println!("{}", json!(loaded));
            Ok(())
        }
        _ => compare(&options(&words)?),
    }
}

fn options(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        sizes: vec![10_000, 100_000, 1_000_000],
        peers: PEERS.to_vec(),
        queries: 200,
        most: Duration::from_secs(600),
        keep: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
        match *word {
            "--sizes" => options.sizes = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--peers" => options.peers = peers(value()?)?,
            "--queries" => options.queries = value()?.parse::<usize>()?.clamp(ROUNDS, MOST_QUESTIONS),
            "--minutes" => options.most = Duration::from_secs(60 * value()?.parse::<u64>()?),
            "--keep" => options.keep = true,
            other => bail!("there is no flag {other}\n{USAGE}"),
        }
    }
    Ok(options)
}

fn peers(list: &str) -> anyhow::Result<Vec<&'static str>> {
    let names = list.split(',').filter(|name| *name != "none");
    let known = |name: &str| PEERS.into_iter().find(|peer| *peer == name);
    names.map(|name| known(name).with_context(|| format!("there is no peer {name}\n{USAGE}"))).collect()
}

fn compare(options: &Options) -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recall");
    eprintln!("embedding sentences, where that was not done before");
    let embedded = data::embedded(&folder)?;
    let python = match options.peers.as_slice() {
        [] => None,
        _ => Some(peer::environment(&folder.join("venv"), &[&PACKAGES])),
    };
    if let Some(Err(error)) = &python {
        println!("The peers were not measured: {error:#}.\n");
    }
    let python = python.and_then(Result::ok);
    table::machine()?;
    for size in &options.sizes {
        let folder = folder.join(size.to_string());
        let set = prepared(&folder, *size, &embedded, options)?;
        let mut programs = vec![tulving(&folder, "sentences")?];
        if let Some(python) = &python {
            programs.extend(options.peers.iter().map(|name| Program {
                name,
                command: vec![python.clone(), PathBuf::from(PEER_SCRIPT), PathBuf::from(name)],
                folder: folder.join(name),
            }));
        }
        table::print(*size, &measure(programs, &set, options)?);
        clear(&folder, options)?;
    }
    let folder = folder.join("real");
    let set = prepared(&folder, REAL, &embedded, options)?;
    let program = tulving(&folder, "wholes")?;
    program.load(&set.folder, set.size, options.most)?;
    let asked = json!(Asked::Nearest { count: options.queries });
    let found: Vec<Vec<usize>> = program.start(&set.folder, set.size)?.0.ask(&asked)?;
    table::real(share(&found, &set.questions()?.nearest));
    clear(&folder, options)
}

fn tulving(folder: &Path, detail: &str) -> anyhow::Result<Program> {
    let command = vec![env::current_exe()?, PathBuf::from(detail)];
    Ok(Program { name: OURS, command, folder: folder.join("tulving") })
}

fn prepared(folder: &Path, size: usize, embedded: &[f32], options: &Options) -> anyhow::Result<Set> {
    let set = Set::at(&folder.join("set"), size);
    if !(options.keep && set.is_there(options.queries)) {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        eprintln!("{size}: making the set");
        set.make(embedded, options.queries)?;
    }
    Ok(set)
}

fn clear(folder: &Path, options: &Options) -> anyhow::Result<()> {
    if !options.keep {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// The measurements of one system.
pub(crate) struct System {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    pub(crate) loaded: Loaded,
    /// Seconds to the first answer, with and without its files in memory.
    pub(crate) first: (f64, f64),
    pub(crate) memory: Memory,
    pub(crate) times: HashMap<Row, Vec<f64>>,
    /// The times of the index alone.
    pub(crate) index_times: HashMap<Row, Vec<f64>>,
    /// The share of the nearest memories that its vector search finds.
    pub(crate) recall: f64,
}

fn measure(programs: Vec<Program>, set: &Set, options: &Options) -> anyhow::Result<Vec<System>> {
    let mut running: Vec<(System, Option<Answering>)> = Vec::new();
    for program in programs {
        eprintln!("{}: loading {}", set.size, program.name);
        let measured = begun(&program, set, options);
        running.push(measured.unwrap_or_else(|error| (unmeasured(&program, &format!("{error:#}")), None)));
    }
    let turn = options.queries.div_ceil(ROUNDS);
    for round in 0..ROUNDS {
        eprintln!("{}: turn {} of {ROUNDS}", set.size, round + 1);
        let (from, to) = (round * turn, options.queries.min((round + 1) * turn));
        for row in Row::ALL {
            for (system, answering) in &mut running {
                let Some(answering) = answering else { continue };
                if round == 0 {
                    let warm_up =
                        Asked::Row { row, from: 0, to: WARM_UP.min(options.queries), seconds: TURN / 2.0 };
                    answering.ask::<Vec<f64>>(&json!(warm_up))?;
                }
                let times: Vec<f64> = answering.ask(&json!(Asked::Row { row, from, to, seconds: TURN }))?;
                system.times.entry(row).or_default().extend(times);
                if system.name == OURS {
                    let times: Vec<f64> =
                        answering.ask(&json!(Asked::Index { row, from, to, seconds: TURN }))?;
                    system.index_times.entry(row).or_default().extend(times);
                }
            }
        }
    }
    Ok(running.into_iter().map(|(system, _)| system).collect())
}

fn unmeasured(program: &Program, why: &str) -> System {
    System {
        name: program.name,
        version: String::new(),
        loaded: Loaded { not_reached: Some(why.to_owned()), ..Loaded::default() },
        first: (0.0, 0.0),
        memory: Memory::default(),
        times: HashMap::new(),
        index_times: HashMap::new(),
        recall: 0.0,
    }
}

/// A system that is loaded and open, and its measurements except for the rows.
fn begun(program: &Program, set: &Set, options: &Options) -> anyhow::Result<(System, Option<Answering>)> {
    let loaded = program.load(&set.folder, set.size, options.most)?;
    if let Some(why) = &loaded.not_reached {
        return Ok((unmeasured(program, why), None));
    }
    forget_pages(&program.folder)?;
    let cold = program.first_answer(&set.folder, set.size)?;
    read_pages(&program.folder)?;
    let (mut answering, version) = program.start(&set.folder, set.size)?;
    let warm = answering.ask(&json!(Asked::Open))?;
    for words in [Frequency::Common, Frequency::Rare] {
        let row = Row { layout: Layout::One, words };
        let to = options.queries.min(ASKED_BEFORE / 2);
        answering.ask::<Vec<f64>>(&json!(Asked::Row { row, from: 0, to, seconds: TURN }))?;
    }
    let memory = answering.ask(&json!(Asked::Memory))?;
    let asked = json!(Asked::Nearest { count: options.queries.min(COMPARED) });
    let found: Vec<Vec<usize>> = answering.ask(&asked)?;
    let questions = set.questions()?;
    let exact = if program.name == OURS { questions.nearest_by_sentence } else { questions.nearest };
    let system = System {
        version,
        loaded,
        first: (cold, warm),
        memory,
        recall: share(&found, &exact),
        ..unmeasured(program, "")
    };
    Ok((system, Some(answering)))
}

/// Returns the share of the exact results that was found.
fn share(found: &[Vec<usize>], exact: &[Vec<usize>]) -> f64 {
    let pairs = found.iter().zip(exact);
    let (mut hits, mut all) = (0, 0);
    for (found, exact) in pairs {
        hits += exact.iter().filter(|place| found.contains(place)).count();
        all += exact.len();
    }
    hits as f64 / all.max(1) as f64
}
