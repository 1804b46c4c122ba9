//! `tulving demo`: an invented year of an agent in a temporary home, and a walk-through of the commands for its memories.
//!
//! [`life`] plays the year. The walk-through runs commands as a person would type them: each command is a separate process
//! without this process's settings, so that the output is the command's real output.

mod life;

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fs, io, thread};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use tulving_core::model::error::Class;
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{Clock as _, SystemClock};

use self::life::{DemoClock, DemoYear, days_before};
use crate::config::{self, Settings};
use crate::exit::Outcome;
use crate::failure::{Failure, InputError};
use crate::global::GlobalArgs;
use crate::interrupt;
use crate::print::Printer;
use crate::show::style::{self, FAINT, STRONG, WORD};
use crate::show::text::counted;
use crate::wire;

const EXAMPLES: &str = "\
Examples:
  tulving demo
  tulving demo --keep /tmp/juno
  TULVING_HOME=/tmp/juno tulving shell

At a terminal it waits for Enter before each step. Your own memories are not touched: the demo has its own home, a temporary folder
that is removed at the end or after Ctrl-C. --keep names a folder that stays, once the year in it is complete.";

/// Number of attempts to remove the home of an interrupted demo, and the time between two attempts.
const REMOVALS: usize = 100;
const BETWEEN_REMOVALS: Duration = Duration::from_millis(10);

/// Flags of `demo`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Keep the demo's home in this folder, which must be empty or not exist
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Do not wait between the steps
    #[arg(long)]
    no_pause: bool,
}

/// One step: its title, and the commands to run. `{name}` is replaced by the number of a memory of the year, and `{250}` by
/// the date 250 days ago.
struct DemoStep {
    title: &'static str,
    about: &'static str,
    typed: &'static [&'static [&'static str]],
}

const STEPS: &[DemoStep] = &[
    DemoStep {
        title: "Save",
        about: "A memory is one sentence. Recall finds it at once.",
        typed: &[&["save", "Ines wants a boat with a roof for the party", "--type", "preference"]],
    },
    DemoStep {
        title: "Recall",
        about: "A question does not have to use the words of the answer.",
        typed: &[&["recall", "is seafood fine for Marta?", "--limit", "2"]],
    },
    DemoStep {
        title: "Explain",
        about: "Each score is explained: what matched, and how much it counts.",
        typed: &[&["recall", "whom do I call when the site is down?", "--limit", "2", "--explain"]],
    },
    DemoStep {
        title: "Supersede",
        about: "An old fact is not overwritten. It ranks lower, and recall still finds it as of an earlier day.",
        typed: &[
            &[
                "save",
                "The staging database runs in Dublin, beside the replica",
                "--updates",
                "{staginghetzner}",
            ],
            &["recall", "where does the staging database run?", "--limit", "3"],
            &["recall", "where does the staging database run?", "--as-of", "{250}", "--limit", "1"],
            &["timeline", "where does the staging database run?", "--limit", "3"],
        ],
    },
    DemoStep {
        title: "Relations",
        about: "Memories are linked: these are the results of an outage, and the results of those.",
        typed: &[&["related", "{outage}", "--depth", "2"]],
    },
    DemoStep {
        title: "Documents",
        about: "Recall shows the section of a long document that answers the question.",
        typed: &[&["recall", "the controller of a marina forgot its codes", "--limit", "2"]],
    },
    DemoStep {
        title: "Journal",
        about: "The notes of a day are a file that people can edit. Recall finds them too, with file and line.",
        typed: &[
            &[
                "journal",
                "--note",
                "Looked at three boats for the party; the one with the roof is called Gaivota",
            ],
            &["journal", "{6}"],
            &["recall", "what is the name of the boat with the roof?", "--limit", "2"],
        ],
    },
    DemoStep {
        title: "Context",
        about: "An agent gets this text at the start of its next session, within a budget and fenced as data.",
        typed: &[&["context", "--budget", "600"]],
    },
    DemoStep {
        title: "Lifecycle",
        about: "Unused memories cool, and are archived later. Memories in use stay. Nothing is deleted.",
        typed: &[&["list", "--state", "cooling", "--limit", "5"], &["tend", "--dry-run"]],
    },
    DemoStep {
        title: "Forget",
        about: "Forgetting can be undone, unless it is --hard. The audit lists everything that was done.",
        typed: &[
            &["forget", "{shellfish}", "--reason", "told in confidence"],
            &["restore", "{shellfish}"],
            &["audit", "--limit", "3"],
        ],
    },
];

/// The home of the demo. It is removed at the end, unless the user keeps it.
enum DemoHome {
    Thrown(tempfile::TempDir),
    Kept { path: PathBuf, was_there: bool },
}

/// The resources that an interrupt cleans up. During the cleanup the lock is held, so that no new command starts.
#[derive(Clone)]
struct DemoCleanup(Arc<Mutex<CleanupState>>);

struct CleanupState {
    /// The unfinished home, and whether the folder existed before.
    home: Option<(PathBuf, bool)>,
    /// The command that is running in the home.
    command: Option<Pid>,
}

impl DemoHome {
    fn open(keep: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = keep else {
            let folder = tempfile::Builder::new().prefix("tulving-demo-").tempdir();
            let made = |source| InputError::Unwritable { path: env::temp_dir(), source };
            return Ok(Self::Thrown(folder.map_err(made)?));
        };
        let (was_there, is_taken) = match fs::read_dir(path) {
            Ok(mut entries) => (true, entries.next().is_some()),
            Err(error) => (false, error.kind() != io::ErrorKind::NotFound),
        };
        if is_taken {
            return Err(Failure::usage(format!("{} is not an empty folder", path.display()))
                .hinted("name a folder that does not exist yet"));
        }
        Ok(Self::Kept { path: path.to_owned(), was_there })
    }

    fn path(&self) -> &Path {
        match self {
            Self::Thrown(folder) => folder.path(),
            Self::Kept { path, .. } => path,
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self, Self::Kept { .. })
    }
}

impl DemoCleanup {
    /// From now on, a signal also removes the home.
    fn open(stage: &DemoHome, home: &Path) -> io::Result<Self> {
        let was_there = matches!(stage, DemoHome::Kept { was_there: true, .. });
        let ends = CleanupState { home: Some((home.to_owned(), was_there)), command: None };
        let scene = Self(Arc::new(Mutex::new(ends)));
        let interrupted = scene.clone();
        interrupt::first(move || {
            let ends = interrupted.ends();
            ends.end();
            // The lock is never released, so that no other thread continues before the process ends.
            std::mem::forget(ends);
        })?;
        Ok(scene)
    }

    fn ends(&self) -> MutexGuard<'_, CleanupState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CleanupState {
    fn end(&self) {
        if let Some(command) = self.command {
            // The command may already have ended.
            let _ = kill_process(command, Signal::KILL);
        }
        let Some((home, was_there)) = &self.home else { return };
        // The removal can fail while a process still writes to the folder, so it is repeated.
        for _ in 0..REMOVALS {
            match remove(home, *was_there) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(BETWEEN_REMOVALS),
                _ => return,
            }
        }
    }
}

/// Removes a folder, or only its content.
fn remove(home: &Path, only_inside: bool) -> io::Result<()> {
    if !only_inside {
        return fs::remove_dir_all(home);
    }
    for entry in fs::read_dir(home)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

pub(super) fn run(args: &DemoArgs, global: &GlobalArgs, printer: &mut Printer) -> Result<Outcome, Failure> {
    if global.home.is_some() || global.space.is_some() {
        return Err(
            Failure::usage("the demo has its own home").hinted("to choose and keep it, use `--keep DIR`")
        );
    }
    let stage = DemoHome::open(args.keep.as_deref())?;
    let home = std::path::absolute(stage.path())
        .map_err(|source| InputError::Unwritable { path: stage.path().to_owned(), source })?;
    let scene = DemoCleanup::open(&stage, &home)
        .map_err(|source| InputError::Unreadable { name: "signals".to_owned(), source })?;
    let played = play(args, &stage, &home, &scene, printer);
    // After an interrupt, this call waits until the process ends, so that the consequences of the interrupt are not reported
    // as errors.
    drop(scene.ends());
    played
}

fn play(
    args: &DemoArgs,
    stage: &DemoHome,
    home: &Path,
    scene: &DemoCleanup,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let now = SystemClock.now();
    let lived = live(home, now, printer)?;
    if stage.is_kept() {
        scene.ends().home = None;
    }
    if printer.json() {
        printer.document(&serde_json::json!({
            "home": stage.is_kept().then_some(home),
            "memories": lived.memories,
            "notes": lived.notes,
            "documents": lived.documents,
            "links": lived.links,
        }))?;
        return Ok(Outcome::Done);
    }
    introduce(&lived, home, printer)?;
    let walk = DemoRun { lived: &lived, home, now, scene };
    for (number, step) in (1..).zip(STEPS) {
        if !args.no_pause && !pause(printer)? {
            break;
        }
        let walked = walk.show(number, step, printer)?;
        if walked != Outcome::Done {
            return Ok(walked);
        }
    }
    conclude(stage, printer)?;
    Ok(Outcome::Done)
}

/// Plays the year, in a home with default settings.
fn live(home: &Path, now: Timestamp, printer: &Printer) -> Result<DemoYear, Failure> {
    let settings = Settings { agent: Some("juno".to_owned()), ..Settings::of_home(home.to_owned())? };
    let clock = Arc::new(DemoClock::default());
    clock.set(days_before(now, 365));
    let app = wire::open_with(&settings, clock.clone())?;
    let bar = printer.bar("Living through a year", Some(life::lines().count() as u64));
    let lived = life::live(&app, &clock, now, || bar.inc(1));
    bar.finish_and_clear();
    lived
}

fn introduce(lived: &DemoYear, home: &Path, printer: &mut Printer) -> Result<(), Failure> {
    let DemoYear { memories, notes, documents, links, .. } = lived;
    printer.line(style::paint(STRONG, "A year of Juno, an agent that works for Ines Vidal in Porto"))?;
    printer.line(format!(
        "{memories} memories, {} among them, {notes} notes in journals and {links} links, in {}.",
        counted(*documents as u64, "document", "documents"),
        home.display()
    ))?;
    printer.line("All of it is made up. The output below is the real output of the commands.")
}

/// Waits until the user at the terminal continues. Returns true if the user wants to continue.
fn pause(printer: &mut Printer) -> Result<bool, Failure> {
    if !printer.asks() || printer.columns().is_none() {
        return Ok(true);
    }
    printer.line("")?;
    printer.line(style::paint(FAINT, "Enter continues, q quits"))?;
    printer.finish()?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok_and(|length| length > 0) && !answer.trim().eq_ignore_ascii_case("q"))
}

/// The context in which the steps are shown.
struct DemoRun<'a> {
    lived: &'a DemoYear,
    home: &'a Path,
    now: Timestamp,
    scene: &'a DemoCleanup,
}

impl DemoRun<'_> {
    fn show(&self, number: usize, step: &DemoStep, printer: &mut Printer) -> Result<Outcome, Failure> {
        printer.line("")?;
        printer.line(style::paint(STRONG, format!("{number}. {}", step.title)))?;
        printer.line(step.about)?;
        for typed in step.typed {
            let words: Vec<String> = typed.iter().map(|word| self.filled(word)).collect();
            let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            printer.line("")?;
            printer.line(style::paint(WORD, format!("$ tulving {}", shown.join(" "))))?;
            printer.finish()?;
            if !self.type_it(&words)? {
                // The command itself has printed why it failed.
                return Ok(Outcome::Partly(Class::Host));
            }
        }
        Ok(Outcome::Done)
    }

    /// Replaces the placeholder in a word.
    fn filled(&self, word: &str) -> String {
        let Some(name) = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
            return word.to_owned();
        };
        match name.parse() {
            Ok(days) => days_before(self.now, days).date(),
            Err(_) => self.lived.named.get(name).map_or_else(
                || word.to_owned(),
                |number| number.to_string().trim_start_matches('#').to_owned(),
            ),
        }
    }

    /// Runs a command that uses only the home of the demo. Returns true if the command succeeded.
    fn type_it(&self, words: &[String]) -> Result<bool, Failure> {
        let unreadable = |source| InputError::Unreadable { name: "the program itself".to_owned(), source };
        let program = env::current_exe().map_err(unreadable)?;
        let mut command = Command::new(&program);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with(config::PREFIX) {
                command.env_remove(name);
            }
        }
        command.args(words).env(config::HOME, self.home).stdin(Stdio::null());
        let mut ends = self.scene.ends();
        let mut child = command.spawn().map_err(unreadable)?;
        ends.command = Some(Pid::from_child(&child));
        drop(ends);
        let status = child.wait();
        self.scene.ends().command = None;
        Ok(status.map_err(unreadable)?.success())
    }
}

fn quoted(word: &str) -> String {
    if word.contains(|c: char| c.is_whitespace() || "?;'".contains(c)) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

fn conclude(stage: &DemoHome, printer: &mut Printer) -> Result<(), Failure> {
    printer.line("")?;
    match stage {
        DemoHome::Thrown(_) => {
            printer.line(
                "The home of the demo was removed. `tulving demo --keep DIR` keeps it, so that you can try more.",
            )?;
        }
        DemoHome::Kept { path, .. } => {
            let path = path.display();
            printer.line(format!(
                "The home of the demo is in {path}. To ask it more, run `TULVING_HOME={path} tulving shell`."
            ))?;
        }
    }
    printer.line(
        "Begin your own memory with `tulving save`, an agent's with `tulving mcp`; `tulving` shows more.",
    )
}
