//! Measures the server under load and compares it with a peer: `cargo xtask bench serve` prints a Markdown table.
//!
//! The release binary serves a home with 100,000 memories. 200 clients with persistent connections send four recalls for each
//! save, each client as soon as it has its answer. Every system gets the same texts and questions in the same order and
//! proportions, in turns with the others, each on a copy of the loaded data. Afterwards every acknowledged save is read by its
//! id and must have the saved text; this is repeated after a restart. Any error fails the run. Clients and server share the
//! machine; the table shows the share of the clients.
//!
//! The server of chromadb gets its vectors and does not run a model; `prepared` is Tulving's server with given vectors too.
//! mem0 is missing: its package has no server, and the one in its repository needs PostgreSQL and the key of a model service.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

mod chroma;
#[path = "../recall/data.rs"]
#[expect(dead_code, reason = "the benchmark of recall uses the rest")]
mod data;
mod driver;
#[path = "../../src/maintenance/mod.rs"]
#[expect(dead_code, unused_imports, reason = "a server has more in the background")]
mod maintenance;
mod ours;
#[path = "../peer/mod.rs"]
#[expect(dead_code, reason = "other benchmarks use the rest")]
mod peer;
mod process;
#[path = "../recall/sentences.rs"]
mod sentences;
mod table;
#[path = "../recall/words.rs"]
mod words;
#[path = "../../src/worker.rs"]
mod worker;

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use crate::driver::{Connection, Next, Outcome, Traffic, write_request};
use crate::ours::Model;
use crate::process::{Cost, Server};

const USAGE: &str = "\
usage: bench serve -- [FLAGS]
  --memories N     how many are loaded, default 100000
  --clients N      how many ask at once, default 200
  --seconds N      for how long each system is asked, default 30
  --systems LIST   of tulving,prepared,words,chromadb, default all
  --keep           keep what was loaded under target/, and use it again";
const SYSTEMS: [&str; 4] = ["tulving", "prepared", "words", "chromadb"];
/// Number of turns into which the seconds of a system are divided, so that other work on the machine affects all systems.
const TURNS: u32 = 3;
/// The number of clients, and their time, before the measurement starts.
const WARM_UP: (usize, Duration) = (10, Duration::from_secs(2));

pub(crate) struct Options {
    pub(crate) memories: usize,
    pub(crate) clients: usize,
    pub(crate) time: Duration,
    systems: Vec<&'static str>,
    keep: bool,
}

fn main() -> anyhow::Result<()> {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The bench starts itself with this argument.
    match words.as_slice() {
        ["prepared", home, vectors] => ours::serve_prepared(Path::new(home), Path::new(vectors)),
        _ => compare(&options(&words)?),
    }
}

fn options(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options {
        memories: 100_000,
        clients: 200,
        time: Duration::from_secs(30),
        systems: SYSTEMS.to_vec(),
        keep: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
        match *word {
            "--memories" => options.memories = value()?.parse()?,
            "--clients" => options.clients = value()?.parse()?,
            "--seconds" => options.time = Duration::from_secs(value()?.parse()?),
            "--systems" => options.systems = systems(value()?)?,
            "--keep" => options.keep = true,
            other => bail!("there is no flag {other}\n{USAGE}"),
        }
    }
    Ok(options)
}

fn systems(list: &str) -> anyhow::Result<Vec<&'static str>> {
    let known = |name: &str| SYSTEMS.into_iter().find(|system| *system == name);
    list.split(',')
        .map(|name| known(name).with_context(|| format!("there is no system {name}\n{USAGE}")))
        .collect()
}

fn compare(options: &Options) -> anyhow::Result<()> {
    let vectors = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recall");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("serve").join(options.memories.to_string());
    eprintln!("embedding sentences, where that was not done before");
    let embedded: Arc<[f32]> = data::embedded(&vectors)?.into();
    let mut systems = Vec::new();
    for name in &options.systems {
        match prepared(name, &folder, &vectors, &embedded, options) {
            Ok(system) => systems.push(system),
            Err(error) if *name == "chromadb" => println!("chromadb was not measured: {error:#}.\n"),
            Err(error) => return Err(error),
        }
    }
    let load_before = table::load();
    let ceiling = measure(&mut systems, options)?;
    for system in &mut systems {
        eprintln!("{}: looking again after a restart", system.name);
        let server = system.start()?;
        system.lost_after_restart = system.missing(&server)?;
        server.process.stop()?;
        fs::remove_dir_all(&system.folder)?;
    }
    table::print(options, &load_before, ceiling, &systems)?;
    if !options.keep {
        fs::remove_dir_all(&folder)?;
    }
    let ours = systems.iter().filter(|system| !system.is_peer());
    let lost: usize = ours.map(|system| system.lost + system.lost_after_restart).sum();
    ensure!(lost == 0, "{lost} acknowledged saves are not there");
    Ok(())
}

/// Runs clients against all systems in turns. Returns the requests per second that the clients reach if an answer costs
/// almost nothing.
fn measure(systems: &mut [System], options: &Options) -> anyhow::Result<Option<f64>> {
    let running = systems.iter().map(System::start).collect::<anyhow::Result<Vec<_>>>()?;
    for (system, server) in systems.iter_mut().zip(&running) {
        eprintln!("{}: warming up", system.name);
        system.ask(server, WARM_UP.0, WARM_UP.1)?;
        system.before = server.process.cost()?;
        system.measured = Measured::default();
    }
    for turn in 1..=TURNS {
        for (system, server) in systems.iter_mut().zip(&running) {
            eprintln!("{}: turn {turn} of {TURNS}", system.name);
            system.ask(server, options.clients, options.time / TURNS)?;
        }
    }
    let ours = systems.iter().zip(&running).find(|(system, _)| !system.is_peer());
    let ceiling = ours.map(|(_, server)| healthy(server.address, options.clients)).transpose()?;
    for (system, server) in systems.iter_mut().zip(running) {
        system.after = server.process.cost()?;
        eprintln!("{}: looking for what was acknowledged", system.name);
        system.lost = system.missing(&server)?;
        server.process.stop()?;
    }
    Ok(ceiling)
}

/// One system under measurement.
pub(crate) struct System {
    pub(crate) name: String,
    kind: Kind,
    /// The server.
    folder: PathBuf,
    next: Next,
    pub(crate) measured: Measured,
    /// All memories that it has acknowledged, including those before the measurement.
    pub(crate) acknowledged: Vec<(usize, String)>,
    pub(crate) before: Cost,
    pub(crate) after: Cost,
    /// Number of acknowledged memories that are missing.
    pub(crate) lost: usize,
    pub(crate) lost_after_restart: usize,
}

enum Kind {
    Tulving { model: Model, vectors: PathBuf },
    Chroma { programs: PathBuf, embedded: Arc<[f32]> },
}

/// The measurements of all turns.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) recalls: Vec<f64>,
    pub(crate) saves: Vec<f64>,
    pub(crate) seconds: f64,
    /// Seconds of processor time of the clients and of the server.
    pub(crate) clients: f64,
    pub(crate) server: f64,
}

/// Loads a system unless it is already loaded, and copies the loaded data.
fn prepared(
    name: &str,
    folder: &Path,
    vectors: &Path,
    embedded: &Arc<[f32]>,
    options: &Options,
) -> anyhow::Result<System> {
    let tulving = |model| Kind::Tulving { model, vectors: vectors.to_owned() };
    let (kind, loaded) = match name {
        "tulving" => (tulving(Model::BuiltIn), folder.join("tulving")),
        "prepared" => (tulving(Model::Prepared), folder.join("tulving")),
        "words" => (tulving(Model::Off), folder.join("tulving")),
        _ => {
            let programs = chroma::environment(folder.parent().context("a folder above")?)?;
            (Kind::Chroma { programs, embedded: embedded.clone() }, folder.join("chroma"))
        }
    };
    let note = loaded.with_extension("version");
    if !note.exists() {
        eprintln!("{name}: loading {}", options.memories);
        if loaded.exists() {
            fs::remove_dir_all(&loaded)?;
        }
        fs::create_dir_all(&loaded)?;
        let version = match &kind {
            Kind::Tulving { .. } => {
                ours::load(&loaded, options.memories, embedded)?;
                env!("CARGO_PKG_VERSION").to_owned()
            }
            Kind::Chroma { programs, .. } => chroma::load(programs, &loaded, options.memories, embedded)?,
        };
        fs::write(&note, version)?;
    }
    let version = fs::read_to_string(note)?;
    let copy = folder.join(format!("run-{name}"));
    let name = match &kind {
        Kind::Tulving { model: Model::BuiltIn, .. } => format!("Tulving {version}"),
        Kind::Tulving { model: Model::Prepared, .. } => "the same, given vectors".to_owned(),
        Kind::Tulving { model: Model::Off, .. } => "the same, words only".to_owned(),
        Kind::Chroma { .. } => format!("chromadb {version}, given vectors (vectors only)"),
    };
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_folder(&loaded, &copy)?;
    Ok(System {
        name,
        kind,
        folder: copy,
        next: Next { question: 0, memory: options.memories },
        measured: Measured::default(),
        acknowledged: Vec::new(),
        before: Cost::default(),
        after: Cost::default(),
        lost: 0,
        lost_after_restart: 0,
    })
}

impl System {
    fn start(&self) -> anyhow::Result<Server> {
        let server = match &self.kind {
            Kind::Tulving { model, vectors } => ours::start(&self.folder, *model, vectors),
            Kind::Chroma { programs, embedded } => chroma::start(programs, &self.folder, embedded.clone()),
        };
        server.with_context(|| format!("{} does not start", self.name))
    }

    pub(crate) fn is_peer(&self) -> bool {
        matches!(self.kind, Kind::Chroma { .. })
    }

    /// Runs clients against it, and adds the results.
    fn ask(&mut self, server: &Server, clients: usize, time: Duration) -> anyhow::Result<()> {
        let (ours, theirs) = (Cost::of_this_process()?, server.process.cost()?);
        let outcome = driver::run(server.address, &*server.traffic, clients, time, &mut self.next)
            .with_context(|| self.name.clone())?;
        let Outcome { recalls, saves, acknowledged, seconds } = outcome;
        self.measured.recalls.extend(recalls);
        self.measured.saves.extend(saves);
        self.measured.seconds += seconds;
        self.measured.clients += Cost::of_this_process()?.seconds - ours.seconds;
        self.measured.server += server.process.cost()?.seconds - theirs.seconds;
        self.acknowledged.extend(acknowledged);
        Ok(())
    }

    /// Returns the number of acknowledged memories that are missing or have another text.
    fn missing(&self, server: &Server) -> anyhow::Result<usize> {
        let mut asking = Connection::open(server.address)?;
        let mut missing = 0;
        for (number, receipt) in &self.acknowledged {
            missing += usize::from(!server.traffic.is_there(&mut asking, *number, receipt)?);
        }
        Ok(missing)
    }
}

/// Returns the requests per second that the clients reach if an answer costs almost nothing.
fn healthy(address: SocketAddr, clients: usize) -> anyhow::Result<f64> {
    struct Healthy(Vec<u8>);
    impl Traffic for Healthy {
        fn recall(&self, _: usize, bytes: &mut Vec<u8>) {
            bytes.extend_from_slice(&self.0);
        }
        fn save(&self, number: usize, bytes: &mut Vec<u8>) {
            self.recall(number, bytes);
        }
        fn is_answer(&self, _: &[u8]) -> bool {
            true
        }
        fn receipt(&self, _: usize, _: &[u8]) -> anyhow::Result<String> {
            Ok(String::new())
        }
        fn is_there(&self, _: &mut Connection, _: usize, _: &str) -> anyhow::Result<bool> {
            Ok(true)
        }
    }
    let mut request = Vec::new();
    write_request(&mut request, "GET /healthz", "", b"");
    let mut next = Next { question: 0, memory: 0 };
    let outcome = driver::run(address, &Healthy(request), clients, Duration::from_secs(3), &mut next)?;
    Ok((outcome.recalls.len() + outcome.saves.len()) as f64 / outcome.seconds)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}
