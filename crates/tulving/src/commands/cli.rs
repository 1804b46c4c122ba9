//! The whole command line: the global flags and the commands.
//!
//! The flags of one command are defined in the file of the command.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::{
    associate, attachment, audit, audit_quality, backup, completions, config, consolidate, context,
    conversation, demo, dissociate, doctor, done, dump, embed, extract_text, file, fold, forget, get,
    history, import, jobs, journal, list, llm, load, long_term, mcp, memory, model, r#move, passes, push,
    recall, related, revert, review, save, serve, shell, space, status_changes, tend, timeline, token, tool,
    turn, update, usage,
};
use crate::exit;
use crate::global::GlobalArgs;
use crate::help;
use crate::suggestions;

/// The end of the short help.
const SHORT_HELP: &str =
    "`tulving COMMAND --help` explains a command, with examples; `tulving --help` has the exit codes too.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "tulving",
    version,
    about = "The long-term memory of AI agents: saves what was learned and finds it again",
    after_help = SHORT_HELP,
    after_long_help = exit::HELP,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    /// The flags of every command.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Save a memory
    Save(Box<save::SaveArgs>),
    /// Save a document: a file, a URL, or standard input
    Push(Box<push::PushArgs>),
    /// Import folders of files, or the data of another memory system
    Import(import::ImportArgs),
    /// Find memories
    Recall(recall::RecallArgs),
    /// Show one memory with all its details
    Get(get::GetArgs),
    /// List memories, page by page
    List(list::ListArgs),
    /// Print all memories by category
    Memory(memory::MemoryArgs),
    /// Ask, remember and forget at a prompt
    Shell(shell::ShellArgs),
    /// Change a memory; the old version stays in its history
    Update(Box<update::UpdateArgs>),
    /// Show the versions of a memory
    History(history::HistoryArgs),
    /// Restore an old version
    Revert(revert::RevertArgs),
    /// Forget memories; they can be restored, unless --hard
    Forget(forget::ForgetArgs),
    /// Close todos and goals, or open them again
    Done(done::DoneArgs),
    /// Restore forgotten memories
    #[command(after_help = status_changes::RESTORE_EXAMPLES)]
    Restore(status_changes::MemoriesArgs),
    /// Hide memories from recall; they stay readable
    #[command(after_help = status_changes::ARCHIVE_EXAMPLES)]
    Archive(status_changes::MemoriesArgs),
    /// Make archived memories visible to recall again
    #[command(after_help = status_changes::UNARCHIVE_EXAMPLES)]
    Unarchive(status_changes::MemoriesArgs),
    /// Pin memories: mark them as ones to keep
    #[command(after_help = status_changes::PIN_EXAMPLES)]
    Pin(status_changes::MemoriesArgs),
    /// Unpin memories
    #[command(after_help = status_changes::UNPIN_EXAMPLES)]
    Unpin(status_changes::MemoriesArgs),
    /// List quarantined memories, and accept or reject them
    Review(review::ReviewArgs),
    /// Move memories to another space
    Move(r#move::MoveArgs),
    /// Apply the lifecycle rules to aged memories
    Tend(tend::TendArgs),
    /// Link one memory to another
    Associate(associate::AssociateArgs),
    /// Remove links between two memories
    Dissociate(dissociate::DissociateArgs),
    /// Show the memories that a memory is linked with
    Related(related::RelatedArgs),
    /// Show how the facts about something changed over time
    Timeline(timeline::TimelineArgs),
    /// Print the context for the start of a session, for a system prompt
    Context(context::ContextArgs),
    /// Show the journal of a day, or note something today
    Journal(journal::JournalArgs),
    /// Show or change MEMORY.md, which is part of every context
    LongTerm(long_term::LongTermArgs),
    /// Update MEMORY.md from the last journals
    Consolidate(consolidate::ConsolidateArgs),
    /// List, read and write the files of a space
    File(file::FileArgs),
    /// Archive a conversation as a file and a memory
    ArchiveConversation(conversation::ArchiveConversationArgs),
    /// List and read archived conversations
    Conversation(conversation::ConversationArgs),
    /// Log the turns of a conversation, and list them
    Turn(turn::TurnArgs),
    /// Print the prompt to resume a lost session
    Recover(turn::RecoverArgs),
    /// Call a tool of a dialect, as an agent would
    Tool(tool::ToolArgs),
    /// Serve an agent over MCP, on standard input and output
    Mcp(mcp::McpArgs),
    /// Start the server for programs and agents: HTTP, and MCP over it
    Serve(serve::ServeArgs),
    /// Manage spaces and their members
    Space(space::SpaceArgs),
    /// Manage the tokens of agents and programs
    Token(token::TokenArgs),
    /// Show what was done, by whom and why
    Audit(audit::AuditArgs),
    /// Find problems in memories, and apply proposed fixes
    AuditQuality(audit_quality::AuditQualityArgs),
    /// Back up the whole home to a file, or restore it
    Backup(backup::BackupArgs),
    /// Write everything as JSON Lines
    Dump(dump::DumpArgs),
    /// Load the output of dump
    Load(load::LoadArgs),
    /// Show the waiting background jobs, or run them now
    Jobs(jobs::JobsArgs),
    /// Show what was done in the background
    Passes(passes::PassesArgs),
    /// Undo the last change, or a background pass
    Undo(passes::UndoArgs),
    /// Get back the file that a memory describes
    Attachment(attachment::AttachmentArgs),
    /// Compute the vectors that are still missing
    Embed(embed::EmbedArgs),
    /// Show or change the embedding model
    Model(model::ModelArgs),
    /// Test the configured language model
    Llm(llm::LlmArgs),
    /// Show what the language model has cost
    Usage(usage::UsageArgs),
    /// Check the home, and report problems
    Doctor(doctor::DoctorArgs),
    /// Show each setting and where it came from
    Config(config::ConfigArgs),
    /// Walk through a made-up year of an agent, in a temporary home
    Demo(demo::DemoArgs),
    /// Print the completions for a shell
    Completions(completions::CompletionsArgs),
    /// Read the text out of a file; other commands start it by themselves
    #[command(hide = true)]
    ExtractText(extract_text::ExtractTextArgs),
    /// Look after the index; other commands start it by themselves
    #[command(hide = true)]
    Fold(fold::FoldArgs),
    /// Show this help, or that of a command
    #[command(hide = true)]
    Help {
        /// The command
        #[arg(value_name = "COMMAND")]
        commands: Vec<OsString>,
    },
}

/// Reads the command line. The error for a wrong command line, and for a request for help, comes from clap.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let line: Vec<OsString> = std::env::args_os().collect();
    let matches = matches(&line)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))?;
    match &cli.command {
        Some(Command::Help { commands }) => Err(help_of(commands)),
        _ => Ok(cli),
    }
}

/// Parses a command line with clap. An error also suggests what the user probably meant.
fn matches(line: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let read = command().try_get_matches_from(line);
    read.map_err(|error| suggestions::explained(error, &Cli::command(), line))
}

/// Returns the clap definition of the command line, with the commands in groups.
fn command() -> clap::Command {
    help::grouped(Cli::command())
}

/// Returns the help of a command: `tulving help save` is `tulving save --help`. clap reports both the help and an
/// unknown command as errors.
fn help_of(commands: &[OsString]) -> clap::Error {
    let line = ["tulving".into()].into_iter().chain(commands.iter().cloned()).chain(["--help".into()]);
    match matches(&line.collect::<Vec<_>>()) {
        Err(error) => error,
        Ok(_) => Cli::command().error(ErrorKind::InvalidSubcommand, "there is no help for this"),
    }
}

/// True if the command line, valid or not, asks for JSON.
pub(crate) fn wants_json(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.by_ref().take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_is_seen_before_the_end_of_flags_only() {
        let line = |words: &[&str]| wants_json(words.iter().map(OsString::from));
        assert!(line(&["tulving", "save", "--json"]));
        assert!(!line(&["tulving", "save", "--", "--json"]));
    }
}
