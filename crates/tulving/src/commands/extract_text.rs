//! `tulving extract-text`: extracts the text of one file, in a process with limits. Other commands start it automatically.
//!
//! It opens no home and reads no settings: its limits are flags, and the file comes on standard input.

use std::time::Duration;

use clap::Args;
use tulving_store::extract::{ChildTask, ExtractLimits, run_child};

use crate::exit::Outcome;
use crate::failure::{Cause, Failure};

/// Flags of `extract-text`.
#[derive(Debug, Args)]
pub(crate) struct ExtractTextArgs {
    /// The media type of the file
    #[arg(long, value_name = "TYPE")]
    media_type: String,
    /// Maximum processor time in seconds
    #[arg(long, value_name = "SECONDS")]
    cpu: Option<u64>,
    /// Maximum memory in bytes
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    /// Maximum length of the text in bytes
    #[arg(long, value_name = "BYTES")]
    text: Option<usize>,
    /// Maximum size of an image in pixels
    #[arg(long, value_name = "COUNT")]
    pixels: Option<u64>,
    /// Languages of text in images, as tesseract names them
    #[arg(long, value_name = "NAMES")]
    languages: Option<String>,
    /// Exit when this process exits
    #[arg(long, value_name = "ID")]
    parent: Option<u32>,
}

/// Extracts the text of the file on standard input. The output is for the program that started this one.
pub(super) fn run(args: &ExtractTextArgs) -> Result<Outcome, Failure> {
    let usual = ExtractLimits::default();
    let limits = ExtractLimits {
        cpu: args.cpu.map_or(usual.cpu, Duration::from_secs),
        wall: usual.wall,
        memory: args.memory.unwrap_or(usual.memory),
        text: args.text.unwrap_or(usual.text),
        pixels: args.pixels.unwrap_or(usual.pixels),
    };
    let ExtractTextArgs { media_type, languages, parent, .. } = args;
    run_child(&ChildTask {
        media_type: media_type.clone(),
        limits,
        languages: languages.clone(),
        parent: *parent,
    })
    .map_err(Cause::Output)?;
    Ok(Outcome::Done)
}
