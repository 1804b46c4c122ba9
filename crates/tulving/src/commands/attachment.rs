//! `tulving attachment`: writes the file that a memory describes.

use std::path::PathBuf;

use clap::Args;

use crate::args::reference;
use crate::exit::Outcome;
use crate::failure::{Failure, InputError};
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving attachment 12 --output report.pdf
  tulving attachment 12 > report.pdf";

/// Flags of `attachment`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AttachmentArgs {
    /// The memory: 12, '#12' or its id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &AttachmentArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let (attachment, bytes) = app.engine.attachment(&app.here()?, reference(&args.memory)?)?;
    let Some(path) = &args.output else {
        printer.bytes(&bytes)?;
        return Ok(Outcome::Done);
    };
    if path.exists() && !args.force {
        return Err(InputError::Exists { path: path.clone() }.into());
    }
    tulving_store::replace(path, &bytes)?;
    if printer.json() {
        printer.document(&attachment)?;
    } else {
        let size = counted(attachment.size, "byte", "bytes");
        printer.line(format!("Wrote {} ({}, {size})", path.display(), attachment.media_type))?;
    }
    Ok(Outcome::Done)
}
