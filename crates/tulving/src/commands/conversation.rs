//! `tulving archive-conversation` and `tulving conversation`: archive ended conversations as files and memories, and show
//! them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use tulving_core::files::archive::{ConversationArchiveRequest, ConversationFileList};
use tulving_core::files::transcript::TranscriptMessage;
use tulving_core::model::error::{Error, Field, FileError};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::limits;

use crate::exit::Outcome;
use crate::failure::{Failure, InputError};
use crate::input;
use crate::print::Printer;
use crate::show::style::{self, FAINT, STRONG};
use crate::show::text::{block, counted};
use crate::show::time::instant;
use crate::wire::App;

const ARCHIVE_EXAMPLES: &str = "\
Examples:
  tulving archive-conversation messages.json --title \"The JWT expiry bug\"
  cat session.jsonl | tulving archive-conversation - --space kitchen
  tulving archive-conversation --channel support

Messages are a JSON array, or a JSON object on each line: {\"role\": \"user\", \"content\": \"…\"}, with speaker and at.
Without messages, the turns that are still in the log are archived.";

const EXAMPLES: &str = "\
Examples:
  tulving conversation list
  tulving conversation show 2026-05-27-fix-the-jwt-expiry-bug
  tulving conversation show 2026-05-27-fix-the-jwt-expiry-bug --json";

/// Flags of `archive-conversation`.
#[derive(Debug, Args)]
#[command(after_help = ARCHIVE_EXAMPLES)]
pub(crate) struct ArchiveConversationArgs {
    /// The messages; - is standard input
    file: Option<PathBuf>,
    /// The title [default: the beginning of the conversation]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// The summary [default: made by rules]
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Only turns of this channel of the log
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    channel: Option<String>,
}

/// Flags of `conversation`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConversationArgs {
    #[command(subcommand)]
    command: ConversationCommand,
}

#[derive(Debug, Subcommand)]
enum ConversationCommand {
    /// List the archived conversations, newest first
    List,
    /// Print an archived conversation
    Show {
        /// Its name, or the key of its memory
        name: String,
    },
}

pub(super) fn archive(
    args: &ArchiveConversationArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let request = ConversationArchiveRequest {
        messages: args.file.as_deref().map(messages).transpose()?,
        title: args.title.clone(),
        summary: args.summary.clone(),
        channel: args.channel.clone(),
    };
    let archived = app.engine.archive_conversation(&app.here()?, request)?;
    if printer.json() {
        printer.document(&archived)?;
        return Ok(Outcome::Done);
    }
    let count = counted(archived.messages as u64, "message", "messages");
    let memory = MemoryRef::of(archived.number, archived.id);
    printer.line(format!("Archived {count} in {} and as {memory} ({})", archived.path, archived.key))?;
    if archived.from_log {
        printer.note("These are the turns that were still in the log.")?;
    }
    printer.warnings(&archived.warnings)?;
    Ok(Outcome::Done)
}

/// Returns the messages in a file that contains a JSON array, or one JSON object per line.
fn messages(path: &Path) -> Result<Vec<TranscriptMessage>, Failure> {
    let text = input::file(path, Field::Conversation, limits::CONVERSATION_BYTES * 2)?;
    let name = input::name(path);
    let wrong = |line: u64, why: String| InputError::Line { line, name: name.clone(), why, invalid: None };
    if text.trim_start().starts_with('[') {
        let read = serde_json::from_str(&text);
        return Ok(read.map_err(|error| wrong(error.line() as u64, error.to_string()))?);
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let message = |(at, line): (u64, &str)| {
        serde_json::from_str(line).map_err(|error| Failure::from(wrong(at, error.to_string())))
    };
    lines.map(message).collect()
}

pub(super) fn run(args: &ConversationArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &args.command {
        ConversationCommand::List => list(app, printer),
        ConversationCommand::Show { name } => show(name, app, printer),
    }
}

fn list(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let found = app.engine.conversations(&app.here()?)?;
    if printer.json() {
        printer.document(&found)?;
        return Ok(Outcome::Done);
    }
    let ConversationFileList { conversations, unread } = &found;
    for one in conversations {
        let about = format!("{}, {}", counted(one.size, "byte", "bytes"), instant(one.modified_at));
        printer.line(format!("{}  {}", one.name, style::paint(FAINT, about)))?;
    }
    for unread in unread {
        printer.warning(unread)?;
    }
    if conversations.is_empty() {
        printer.note("No conversations are archived here.")?;
    }
    Ok(Outcome::Done)
}

fn show(name: &str, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let transcript = app.engine.conversation(&app.here()?, name).map_err(|error| match error {
        Error::File(FileError::Absent { .. }) => {
            Failure::from(error).hinted("`tulving conversation list` shows what is archived")
        }
        other => other.into(),
    })?;
    if printer.json() {
        printer.document(&transcript)?;
        return Ok(Outcome::Done);
    }
    printer.line(style::paint(STRONG, block(&transcript.title)))?;
    for TranscriptMessage { role, speaker, content, at } in &transcript.messages {
        let who = speaker.as_deref().map_or_else(|| role.to_string(), |speaker| format!("{role}, {speaker}"));
        let when = at.map(|at| format!(" {}", style::paint(FAINT, instant(at)))).unwrap_or_default();
        printer.line("")?;
        printer.line(format!("{}{when}", style::paint(STRONG, block(&who))))?;
        printer.line(block(content))?;
    }
    Ok(Outcome::Done)
}
