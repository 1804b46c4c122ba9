//! `tulving long-term`: shows and edits `MEMORY.md`, which contains what is always known.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};
use tulving_core::files::long_term::LongTermFile;
use tulving_core::model::error::Field;
use tulving_core::model::id::MemoryId;
use tulving_core::model::limits;
use tulving_server::api::{LongTermHistoryReply, LongTermTextReply};

use crate::exit::Outcome;
use crate::failure::{Failure, InputError};
use crate::input;
use crate::print::Printer;
use crate::show::style::{self, FAINT, WORD};
use crate::show::text::counted;
use crate::show::time::instant;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving long-term show
  tulving long-term edit
  tulving long-term replace MEMORY.md
  tulving long-term history
  tulving long-term restore 2026-05-27T09-30-00.000000Z

It is the file `memory/MEMORY.md` of the workspace, which you can edit with any editor. Previous texts are kept.";

/// Flags of `long-term`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LongTermArgs {
    #[command(subcommand)]
    command: LongTermCommand,
}

#[derive(Debug, Subcommand)]
enum LongTermCommand {
    /// Print MEMORY.md
    Show {
        /// Print this earlier text, by its id in the history
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Edit MEMORY.md with VISUAL or EDITOR
    Edit,
    /// Replace MEMORY.md with a file; - reads standard input
    Replace {
        /// The file
        file: PathBuf,
    },
    /// List the earlier texts of MEMORY.md, newest first
    History,
    /// Restore an earlier text
    Restore {
        /// The version, from the history
        id: String,
    },
}

pub(super) fn run(args: &LongTermArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    match &args.command {
        LongTermCommand::Show { before: None } => show(&app.engine.long_term(&caller)?, printer),
        LongTermCommand::Show { before: Some(id) } => {
            let content = app.engine.long_term_before(&caller, id)?;
            if printer.json() {
                printer.document(&LongTermTextReply { id: id.clone(), content })?;
            } else {
                printer.written(&content)?;
            }
            Ok(Outcome::Done)
        }
        LongTermCommand::Edit => edit(app, printer),
        LongTermCommand::Replace { file } => {
            let content = input::file(file, Field::Content, limits::LONG_TERM_BYTES)?;
            replaced(&app.engine.replace_long_term(&caller, &content, None)?, "Replaced", printer)
        }
        LongTermCommand::History => history(app, printer),
        LongTermCommand::Restore { id } => {
            replaced(&app.engine.restore_long_term(&caller, id)?, "Restored", printer)
        }
    }
}

fn show(long_term: &LongTermFile, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(long_term)?;
        return Ok(Outcome::Done);
    }
    if long_term.digest.is_none() {
        printer
            .note(format!("There is no {} yet. Create it with `tulving long-term edit`.", long_term.path))?;
    }
    printer.written(&long_term.content)?;
    Ok(Outcome::Done)
}

fn replaced(now: &LongTermFile, done: &str, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(now)?;
    } else {
        let size = counted(now.content.len() as u64, "byte", "bytes");
        printer.line(format!("{done} {} ({size}); its earlier texts are in its history", now.path))?;
        printer.warnings(&now.warnings)?;
    }
    Ok(Outcome::Done)
}

fn history(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let texts = app.engine.long_term_history(&app.here()?)?;
    if printer.json() {
        printer.document(&LongTermHistoryReply { texts })?;
        return Ok(Outcome::Done);
    }
    for text in &texts {
        let about = format!("until {}, {}", instant(text.at), counted(text.size, "byte", "bytes"));
        printer.line(format!("{}  {}", style::paint(WORD, &text.id), style::paint(FAINT, about)))?;
    }
    if texts.is_empty() {
        printer.note("It has no earlier texts.")?;
    }
    Ok(Outcome::Done)
}

/// Opens a copy in the user's editor, and writes the copy back. If the original has changed in the meantime, the copy is not
/// deleted and its path is printed.
fn edit(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let said = |name: &&str| std::env::var(name).ok().filter(|editor| !editor.trim().is_empty());
    let Some(editor) = ["VISUAL", "EDITOR"].iter().find_map(said) else {
        return Err(
            Failure::usage("no editor is set").hinted("set VISUAL or EDITOR, or edit the file itself")
        );
    };
    let caller = app.here()?;
    let shown = app.engine.long_term(&caller)?;
    let copy = EditorCopy::of(&shown.content, &MemoryId::mint(app.engine.now()).to_string())?;
    // The shell splits the editor's command line, such as `code --wait`.
    let ended =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(&copy.path).status();
    let ended =
        ended.map_err(|source| InputError::Unreadable { name: format!("the editor {editor}"), source })?;
    let edited = input::file(&copy.path, Field::Content, limits::LONG_TERM_BYTES);
    match edited {
        Ok(text) if text == shown.content && ended.success() => {
            copy.remove();
            printer.note("Nothing changed.")?;
            Ok(Outcome::Done)
        }
        Ok(text) if ended.success() => {
            let seen = shown.digest.as_deref().unwrap_or_default();
            match app.engine.replace_long_term(&caller, &text, Some(seen)) {
                Ok(now) => {
                    copy.remove();
                    replaced(&now, "Replaced", printer)
                }
                Err(error) => Err(copy.kept(error.into())),
            }
        }
        Ok(text) if text == shown.content => {
            copy.remove();
            Err(Failure::usage(format!("the editor {editor} ended with an error; nothing changed")))
        }
        Ok(_) => Err(copy.kept(Failure::usage(format!("the editor {editor} ended with an error")))),
        Err(failure) => Err(copy.kept(failure)),
    }
}

/// A file for the editor that no other user may read.
struct EditorCopy {
    path: PathBuf,
}

impl EditorCopy {
    fn of(content: &str, id: &str) -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("tulving-{id}-MEMORY.md"));
        write_new(&path, content).map_err(|source| InputError::Unwritable { path: path.clone(), source })?;
        Ok(Self { path })
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Adds the path of the text to the failure.
    fn kept(&self, failure: Failure) -> Failure {
        if !self.path.exists() {
            return failure.hinted("the editor removed the text; nothing was replaced");
        }
        let place = self.path.display();
        failure.hinted(format!(
            "your text is kept in {place}; put it in place with `tulving long-term replace {place}`"
        ))
    }
}

fn write_new(path: &Path, content: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content.as_bytes())
}
