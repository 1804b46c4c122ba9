//! Measures how well recall finds: `cargo xtask eval locomo FILE`, `… longmemeval FILE`, `… beir DIR`, `… daily`,
//! `… evidence FILE`.
//!
//! Reads the official formats, also compressed with gzip, and uses the same save and recall verbs as a user, with the
//! default settings of the engine and a new home for each haystack. Vectors are cached by model and text below the target
//! folder, so that a second run is quick.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an evaluation prints its table")]

mod bed;
mod beir;
mod cache;
mod daily;
mod evidence;
mod locomo;
mod longmemeval;
mod metrics;
mod read;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use tulving_core::model::answer::Lane;

use self::daily::Half;

const USAGE: &str = "\
usage: eval locomo FILE | longmemeval FILE | beir DIR | daily | evidence FILE
  --json FILE      every question with what was found, for reading the errors
  --fusion ranks   reciprocal rank fusion instead of the engine's own way
  --lanes LIST     only these lanes, such as keyword,vector
  --model DIR      another model: a folder with model.onnx and tokenizer.json
  --only N         the first N haystacks (locomo, longmemeval) or questions (beir)
  --foreign        ask each haystack the questions of the next one, which it cannot answer (locomo)
  --swapped        ask for another attribute of the same things, which the haystack does not have (locomo)
  --half HALF      only this half of the questions: open, or held (daily)
evidence: how often answers of each strength are right, with the LoCoMo file and the daily set";

/// The arguments of the command line.
#[derive(Clone)]
pub(crate) struct Options {
    set: String,
    pub(crate) path: PathBuf,
    json: Option<PathBuf>,
    pub(crate) ranks: bool,
    pub(crate) lanes: Option<Vec<Lane>>,
    pub(crate) model: Option<PathBuf>,
    pub(crate) only: usize,
    pub(crate) foreign: bool,
    pub(crate) swapped: bool,
    half: Option<Half>,
}

fn main() -> anyhow::Result<()> {
    let options = options()?;
    let begun = Instant::now();
    if options.set == "daily" {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let grades = daily::grade(bed::embedder(&options)?, folder, options.half)?;
        println!("{}\n\n{:.0} s in all", grades.tables(), begun.elapsed().as_secs_f64());
        return write_json(&options, &grades);
    }
    if options.set == "evidence" {
        println!("{}\n\n{:.0} s in all", evidence::table(&options)?, begun.elapsed().as_secs_f64());
        return Ok(());
    }
    let reports = match options.set.as_str() {
        "locomo" => locomo::run(&options.path, &options)?,
        "longmemeval" => longmemeval::run(&options.path, &options)?,
        "beir" => beir::run(&options.path, &options)?,
        other => bail!("there is no set `{other}`\n{USAGE}"),
    };
    for report in &reports {
        report.print();
    }
    println!("\n{:.0} s in all", begun.elapsed().as_secs_f64());
    write_json(&options, &reports)
}

fn write_json(options: &Options, results: &impl serde::Serialize) -> anyhow::Result<()> {
    if let Some(file) = &options.json {
        std::fs::write(file, serde_json::to_vec_pretty(results)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn options() -> anyhow::Result<Options> {
    // Cargo adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut positional = Vec::new();
    let mut options = Options {
        set: String::new(),
        path: PathBuf::new(),
        json: None,
        ranks: false,
        lanes: None,
        model: None,
        only: usize::MAX,
        foreign: false,
        swapped: false,
        half: None,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value\n{USAGE}"));
        match argument.as_str() {
            "--json" => options.json = Some(value()?.into()),
            "--fusion" => match value()?.as_str() {
                "ranks" => options.ranks = true,
                other => bail!("there is no fusion `{other}`\n{USAGE}"),
            },
            "--lanes" => options.lanes = Some(value()?.split(',').map(lane).collect::<Result<_, _>>()?),
            "--model" => options.model = Some(value()?.into()),
            "--only" => options.only = value()?.parse().context("--only takes a number")?,
            "--foreign" => options.foreign = true,
            "--swapped" => options.swapped = true,
            "--half" => {
                options.half = Some(match value()?.as_str() {
                    "open" => Half::Open,
                    "held" => Half::Held,
                    other => bail!("there is no half `{other}`\n{USAGE}"),
                });
            }
            flag if flag.starts_with("--") => bail!("there is no flag {flag}\n{USAGE}"),
            _ => positional.push(argument),
        }
    }
    let (set, path) = match <[String; 2]>::try_from(positional) {
        Ok([set, path]) => (set, path),
        Err(one) if one == ["daily"] => ("daily".to_owned(), String::new()),
        Err(_) => bail!("{USAGE}"),
    };
    Ok(Options { set, path: path.into(), ..options })
}

fn lane(name: &str) -> anyhow::Result<Lane> {
    name.parse().with_context(|| format!("there is no lane `{name}`\n{USAGE}"))
}
