//! `tulving file`: the files in the folder of a space.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tulving_core::files::workspace::{FileWriteMode, WorkspaceFileList};
use tulving_core::model::answer::UnreadableFile;
use tulving_core::model::error::Field;
use tulving_core::model::limits;
use tulving_server::api::RemoveFileReply;

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show::style::{self, FAINT};
use crate::show::text::counted;
use crate::show::time::instant;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving file list --space kitchen
  tulving file read plan.md --space kitchen
  tulving file write plan.md draft.md --space kitchen
  echo \"- milk\" | tulving file write lists/shopping.md --new --space kitchen
  tulving file remove plan.md --space kitchen

Everyone in a space may read its files. In the space `default` only `memory/` and `conversations/` are included.";

/// Flags of `file`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FileArgs {
    #[command(subcommand)]
    command: FileCommand,
}

#[derive(Debug, Subcommand)]
enum FileCommand {
    /// List the files of the space
    List,
    /// Print the text of a file
    Read {
        /// Its path below the folder of the space
        name: String,
    },
    /// Create or replace a file
    Write {
        /// Its path below the folder of the space
        name: String,
        /// The file with the content; - is standard input
        #[arg(default_value = "-")]
        file: PathBuf,
        /// Fail if the file exists
        #[arg(long)]
        new: bool,
    },
    /// Remove a file
    Remove {
        /// Its path below the folder of the space
        name: String,
    },
}

pub(super) fn run(args: &FileArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    match &args.command {
        FileCommand::List => list(&app.engine.files(&caller)?, printer),
        FileCommand::Read { name } => {
            let found = app.engine.file(&caller, name)?;
            if printer.json() {
                printer.document(&found)?;
            } else {
                printer.written(&found.content)?;
            }
            Ok(Outcome::Done)
        }
        FileCommand::Write { name, file, new } => {
            let content = input::file(file, Field::Content, limits::FILE_BYTES)?;
            let writing = if *new { FileWriteMode::New } else { FileWriteMode::Any };
            let written = app.engine.put_file(&caller, name, &content, writing)?;
            if printer.json() {
                printer.document(&written)?;
            } else {
                printer.line(format!(
                    "Wrote {} ({})",
                    written.path,
                    counted(written.size, "byte", "bytes")
                ))?;
                printer.warnings(&written.warnings)?;
            }
            Ok(Outcome::Done)
        }
        FileCommand::Remove { name } => {
            app.engine.remove_file(&caller, name)?;
            if printer.json() {
                printer.document(&RemoveFileReply { name: name.clone() })?;
            } else {
                printer.line(format!("Removed {name}"))?;
            }
            Ok(Outcome::Done)
        }
    }
}

fn list(file_list: &WorkspaceFileList, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(file_list)?;
        return Ok(Outcome::Done);
    }
    for file in &file_list.files {
        let about = format!("{}, {}", counted(file.size, "byte", "bytes"), instant(file.modified_at));
        printer.line(format!("{}  {}", file.name, style::paint(FAINT, about)))?;
    }
    for UnreadableFile { path, why } in &file_list.refused {
        printer.warning(format!("{path} is not used: {why}"))?;
    }
    if file_list.more {
        printer.note("There are more.")?;
    } else if file_list.files.is_empty() {
        printer.note("No files. Create one with `tulving file write NAME`.")?;
    }
    Ok(Outcome::Done)
}
