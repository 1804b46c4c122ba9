//! One measured system: its loading, its answering process, and its measurements.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::data::Questions;
use crate::peer::Answering;

/// The layout of the memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layout {
    /// All memories in one space.
    One,
    /// A hundred spaces; one of them is searched.
    Spaces,
}

impl Layout {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Spaces => "spaces",
        }
    }
}

/// The frequency of the words of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Frequency {
    Common,
    Rare,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) layout: Layout,
    pub(crate) words: Frequency,
}

impl Row {
    pub(crate) const FIRST: Self = Self { layout: Layout::One, words: Frequency::Common };
    pub(crate) const ALL: [Self; 4] = [
        Self::FIRST,
        Self { layout: Layout::One, words: Frequency::Rare },
        Self { layout: Layout::Spaces, words: Frequency::Common },
        Self { layout: Layout::Spaces, words: Frequency::Rare },
    ];

    pub(crate) fn question(self, questions: &Questions, number: usize) -> &str {
        match self.words {
            Frequency::Common => &questions.common[number],
            Frequency::Rare => &questions.rare[number],
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match (self.layout, self.words) {
            (Layout::One, Frequency::Common) => "one space, common words",
            (Layout::One, Frequency::Rare) => "one space, rare words",
            (Layout::Spaces, Frequency::Common) => "one space of 100, common words",
            (Layout::Spaces, Frequency::Rare) => "one space of 100, rare words",
        }
    }
}

/// The requests to an answering process: one line of JSON each.
#[derive(Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Asked {
    /// Seconds until the first answer, with nothing open before.
    Open,
    /// Milliseconds of recalls.
    Row { row: Row, from: usize, to: usize, seconds: f64 },
    /// Milliseconds of searches of the index alone; only Tulving is asked.
    Index { row: Row, from: usize, to: usize, seconds: f64 },
    /// The memory of the process.
    Memory,
    /// The nearest memories by vector alone, as positions in the set.
    Nearest { count: usize },
}

/// The result of loading, in the layout of one space.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) seconds: f64,
    /// Seconds to build the index, if that is a separate step.
    pub(crate) index_seconds: f64,
    /// Bytes on disk.
    pub(crate) bytes: u64,
    /// The reason if the size was not reached.
    #[serde(default)]
    pub(crate) not_reached: Option<String>,
}

/// The memory of a process, in kilobytes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Private memory.
    pub(crate) own: u64,
    /// Pages of files, which the system may reclaim.
    pub(crate) files: u64,
}

impl Memory {
    pub(crate) fn of_this_process() -> anyhow::Result<Self> {
        let status = fs::read_to_string("/proc/self/status").context("this needs Linux")?;
        let field = |name: &str| {
            let line =
                status.lines().find_map(|line| line.strip_prefix(name)).context("a field is missing")?;
            anyhow::Ok(line.split_whitespace().next().unwrap_or_default().parse::<u64>()?)
        };
        Ok(Self { own: field("RssAnon:")?, files: field("RssFile:")? + field("RssShmem:")? })
    }
}

/// The way to run a system.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The program and its first arguments; the operation follows.
    pub(crate) command: Vec<PathBuf>,
    /// The folder of its loaded data.
    pub(crate) folder: PathBuf,
}

impl Program {
    fn command(&self, act: &str, set: &Path, size: usize) -> Command {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).arg(act).arg(set).arg(&self.folder).arg(size.to_string());
        // One thread for each library that reads one of these variables.
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"] {
            command.env(name, "1");
        }
        command
    }

    /// Loads the data, unless it was loaded before. Waits at most `most`.
    pub(crate) fn load(&self, set: &Path, size: usize, most: Duration) -> anyhow::Result<Loaded> {
        let note = self.folder.join("loaded.json");
        if let Ok(known) = fs::read(&note) {
            return Ok(serde_json::from_slice(&known)?);
        }
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir_all(&self.folder)?;
        let mut command = self.command("load", set, size);
        let mut process = command.arg(most.as_secs().to_string()).stdout(Stdio::piped()).spawn()?;
        // The process stops by itself after that time; a process that hangs is killed.
        if !ends_within(&mut process, most * 3 / 2)? {
            process.kill()?;
            process.wait()?;
            let why = format!("not loaded within {} min", most.as_secs() / 60);
            return Ok(Loaded { not_reached: Some(why), ..Loaded::default() });
        }
        let mut said = String::new();
        process.stdout.take().context("its output")?.read_to_string(&mut said)?;
        let Ok(loaded) = serde_json::from_str::<Loaded>(&said) else {
            bail!("loading failed");
        };
        fs::write(note, said)?;
        Ok(loaded)
    }

    /// Starts the answering process, and returns its version.
    pub(crate) fn start(&self, set: &Path, size: usize) -> anyhow::Result<(Answering, String)> {
        let mut answering = Answering::start(&mut self.command("serve", set, size))?;
        let version = answering.answer()?;
        Ok((answering, version))
    }

    /// Returns the seconds until the first answer of a new process.
    pub(crate) fn first_answer(&self, set: &Path, size: usize) -> anyhow::Result<f64> {
        self.start(set, size)?.0.ask(&json!(Asked::Open))
    }
}

fn ends_within(process: &mut Child, most: Duration) -> anyhow::Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < most {
        if process.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(false)
}

/// Returns the total size of the files of a folder.
pub(crate) fn size_of(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    each_file(folder, &mut |file| {
        bytes += file.metadata()?.len();
        Ok(())
    })?;
    Ok(bytes)
}

/// Asks the system to drop the cached pages of all files of a folder.
pub(crate) fn forget_pages(folder: &Path) -> anyhow::Result<()> {
    each_file(folder, &mut |path| {
        let file = File::open(path)?;
        file.sync_all()?;
        Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
    })
}

/// Reads all files of a folder once, so that their pages are in memory.
pub(crate) fn read_pages(folder: &Path) -> anyhow::Result<()> {
    each_file(folder, &mut |path| {
        std::io::copy(&mut File::open(path)?, &mut std::io::sink())?;
        Ok(())
    })
}

fn each_file(folder: &Path, each: &mut impl FnMut(&Path) -> anyhow::Result<()>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            each_file(&path, each)?;
        } else {
            each(&path)?;
        }
    }
    Ok(())
}
