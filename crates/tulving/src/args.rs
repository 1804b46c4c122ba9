//! The command line: flags of every command, the commands, and what several of them share.
//!
//! A command's own flags are defined next to the command in [`commands`](crate::commands).

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use tulving_core::model::error::{Field, Invalid};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::Filter;
use tulving_core::model::time::{TimeInput, Timestamp, Zone};
use tulving_core::model::vocabulary::{Author, ContentType, Kind, MemoryType, Stability};
use tulving_core::ports::{Clock as _, SystemClock};
use tulving_dialects::{Dialect, UnknownDialectError};

use crate::commands::{
    associate, attachment, audit, audit_quality, backup, completions, config, consolidate, context,
    conversation, demo, dissociate, doctor, done, dump, embed, extract_text, file, fold, forget, get,
    history, import, jobs, journal, list, llm, load, long_term, mcp, memory, r#move, moves, passes, push,
    recall, related, revert, review, save, serve, shell, space, tend, timeline, token, tool, turn, update,
    usage,
};
use crate::exit;
use crate::failure::Failure;
use crate::help;
use crate::meant;

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
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Work in this space (name or id) and reach no other
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "default_space")]
    pub(crate) space: Option<String>,
    /// Work in this space where nothing else is named; other spaces stay in reach
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) default_space: Option<String>,
    /// Keep everything in this folder instead of TULVING_HOME
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The agent that speaks for you; kept with what is saved
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// When to colour the output; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    pub(crate) color: Option<Color>,
}

/// When to colour the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        })
    }
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Save a memory
    Save(Box<save::Save>),
    /// Save a document: a file, a URL, or what comes from standard input
    Push(Box<push::Push>),
    /// Take in folders of files, or what another memory system kept
    Import(import::Import),
    /// Find memories again
    Recall(recall::Recall),
    /// Show one memory with everything that is known of it
    Get(get::Get),
    /// List memories, page by page
    List(list::List),
    /// Print all memories by category
    Memory(memory::AllMemories),
    /// Ask, remember and forget at a prompt
    Shell(shell::Shell),
    /// Change a memory; the old version stays in its history
    Update(Box<update::Update>),
    /// Show the versions of a memory
    History(history::History),
    /// Bring an old version back
    Revert(revert::Revert),
    /// Forget memories; they can be restored, unless --hard
    Forget(forget::Forget),
    /// Close todos and goals, or open them again
    Done(done::DoneArgs),
    /// Bring forgotten memories back
    #[command(after_help = moves::RESTORE_EXAMPLES)]
    Restore(moves::Which),
    /// Hide memories from recall; they stay readable
    #[command(after_help = moves::ARCHIVE_EXAMPLES)]
    Archive(moves::Which),
    /// Bring archived memories back into recall
    #[command(after_help = moves::UNARCHIVE_EXAMPLES)]
    Unarchive(moves::Which),
    /// Pin memories: mark them as ones to keep
    #[command(after_help = moves::PIN_EXAMPLES)]
    Pin(moves::Which),
    /// Unpin memories
    #[command(after_help = moves::UNPIN_EXAMPLES)]
    Unpin(moves::Which),
    /// Look at notes that wait for you, and accept or reject them
    Review(review::Review),
    /// Move memories to another space
    Move(r#move::Move),
    /// Apply the rules for memories that have aged
    Tend(tend::Tend),
    /// Link one memory to another
    Associate(associate::Associate),
    /// Remove links between two memories
    Dissociate(dissociate::Dissociate),
    /// Show what a memory is linked with
    Related(related::Related),
    /// Show how what is known about something changed
    Timeline(timeline::TimelineArgs),
    /// Print what to know at the start of a session, for a system prompt
    Context(context::Context),
    /// Show the journal of a day, or note something today
    Journal(journal::Journal),
    /// Show or change MEMORY.md, which is always known
    LongTerm(long_term::LongTermArgs),
    /// Take over what the last journals say into MEMORY.md
    Consolidate(consolidate::Consolidate),
    /// List, read and write the files of a space
    File(file::File),
    /// Archive a conversation as a file and a memory
    ArchiveConversation(conversation::ArchiveConversation),
    /// List and read archived conversations
    Conversation(conversation::Conversation),
    /// Log what was said, turn by turn, and show it
    Turn(turn::TurnArgs),
    /// Print the prompt for a session that begins after one was lost
    Recover(turn::Recover),
    /// Call a tool of a dialect, as an agent would
    Tool(tool::Tool),
    /// Serve an agent over MCP, on standard input and output
    Mcp(mcp::Mcp),
    /// Start the server for programs and agents: HTTP, and MCP over it
    Serve(serve::Serve),
    /// Manage spaces and who is in them
    Space(space::Space),
    /// Manage the tokens of agents and programs
    Token(token::Token),
    /// Show what was done, by whom and why
    Audit(audit::Audit),
    /// Show what is wrong with memories, and do what is proposed about it
    AuditQuality(audit_quality::AuditQuality),
    /// Copy the whole home into a file, or back
    Backup(backup::Backup),
    /// Write everything as JSON Lines
    Dump(dump::Dump),
    /// Take in what dump wrote
    Load(load::Load),
    /// Show the work that waits in the background, or do it now
    Jobs(jobs::Jobs),
    /// Show what was done in the background
    Passes(passes::Passes),
    /// Take back the last change, or what a pass did
    Undo(passes::Undo),
    /// Get back the file that a memory describes
    Attachment(attachment::AttachmentArgs),
    /// Compute the vectors that are still missing
    Embed(embed::Embed),
    /// Try the language model that is set up
    Llm(llm::LlmArgs),
    /// Show what the language model has cost
    Usage(usage::Usage),
    /// Check that the home is sound, and say what is not
    Doctor(doctor::Doctor),
    /// Show each setting and where it came from
    Config(config::Config),
    /// Walk through a made-up year of an agent, in a home that is thrown away
    Demo(demo::Demo),
    /// Print the completions for a shell
    Completions(completions::Completions),
    /// Read the text out of a file; other commands start it by themselves
    #[command(hide = true)]
    ExtractText(extract_text::ExtractText),
    /// Look after the index; other commands start it by themselves
    #[command(hide = true)]
    Fold(fold::Fold),
    /// Show this help, or that of a command
    #[command(hide = true)]
    Help {
        /// The command
        #[arg(value_name = "COMMAND")]
        commands: Vec<OsString>,
    },
}

/// Reads the command line. Errors are clap's.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    let line: Vec<OsString> = std::env::args_os().collect();
    let matches = matches(&line)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))?;
    match &cli.command {
        Some(Command::Help { commands }) => Err(help_of(commands)),
        _ => Ok(cli),
    }
}

/// Parses a command line with clap. An error also says what was probably meant.
fn matches(line: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let read = command().try_get_matches_from(line);
    read.map_err(|error| meant::explained(error, &Cli::command(), line))
}

/// The command line as clap reads it, with its commands in groups.
fn command() -> clap::Command {
    help::grouped(Cli::command())
}

/// Returns the help of a command: `tulving help save` is `tulving save --help`. To clap, help and an unknown command
/// are errors.
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

/// A parser for one of the closed lists of words, which also offers them in help and completions.
macro_rules! word {
    ($list:ty) => {
        clap::builder::TypedValueParser::try_map(
            clap::builder::PossibleValuesParser::new(<$list>::WORDS),
            |word| word.parse::<$list>(),
        )
    };
}
pub(crate) use word;

/// Parses references to memories. All are checked before the first is acted on.
pub(crate) fn references(names: &[String]) -> Result<Vec<MemoryRef>, Failure> {
    names.iter().map(|name| reference(name)).collect()
}

/// Parses one reference to a memory.
pub(crate) fn reference(name: &str) -> Result<MemoryRef, Failure> {
    Ok(name.parse::<MemoryRef>()?)
}

/// Parses the name of a dialect.
pub(crate) fn dialect(name: &str) -> Result<Dialect, Failure> {
    name.parse().map_err(|error: UnknownDialectError| Failure::usage(error.to_string()))
}

/// Parses a time, if one was given.
pub(crate) fn time(text: Option<&String>) -> Result<Option<Timestamp>, Failure> {
    Ok(text.map(|text| Timestamp::from_str(text)).transpose()?)
}

/// Parses a time as people write it, if one was given. A date without a time, `today` and `yesterday` are days of this zone.
pub(crate) fn moment(text: Option<&String>, zone: &Zone) -> Result<Option<Timestamp>, Failure> {
    let read = |text: &String| Ok::<_, Failure>(TimeInput::from_str(text)?.instant(zone, SystemClock.now()));
    text.map(read).transpose()
}

/// Parses a whole number of the command line. The engine checks its range.
pub(crate) fn whole_number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "it is not a whole number".to_owned())
}

/// Parses a number of the command line. The engine checks its range.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it is not a number".to_owned())
}

/// Checks a count from 1 to `most`.
pub(crate) fn count(field: Field, got: i64, most: usize) -> Result<usize, Failure> {
    count_within(field, got, 1, most)
}

/// Checks a count from `least` to `most`.
pub(crate) fn count_within(field: Field, got: i64, least: usize, most: usize) -> Result<usize, Failure> {
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let (least, most) = (number(least), number(most));
    usize::try_from(got)
        .ok()
        .filter(|_| (least..=most).contains(&got))
        .ok_or_else(|| Invalid::OutsideRange { field, got, least, most }.into())
}

/// Flags that choose among memories.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which memories")]
pub(crate) struct Chooser {
    /// Of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = word!(MemoryType), hide_possible_values = true)]
    types: Vec<MemoryType>,
    /// Of this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND", value_parser = word!(Kind), hide_possible_values = true)]
    kinds: Vec<Kind>,
    /// Of this stability; may be repeated
    #[arg(long = "stability", value_name = "STABILITY", value_parser = word!(Stability), hide_possible_values = true)]
    stabilities: Vec<Stability>,
    /// Of this form; may be repeated
    #[arg(long = "content-type", value_name = "FORM", value_parser = word!(ContentType), hide_possible_values = true)]
    content_types: Vec<ContentType>,
    /// With this tag; repeated, with all of them
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// With exactly this key
    #[arg(long)]
    key: Option<String>,
    /// From this file
    #[arg(long, value_name = "PATH")]
    source_path: Option<String>,
    /// From this conversation
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
    /// By this author: user or auto
    #[arg(long, value_parser = word!(Author), hide_possible_values = true)]
    author: Option<Author>,
    /// Saved by this agent
    #[arg(long, value_name = "NAME")]
    by_agent: Option<String>,
    /// Pinned ones only
    #[arg(long)]
    pinned: bool,
    /// Todos and goals that are not done
    #[arg(long, conflicts_with = "done")]
    open: bool,
    /// Todos and goals that are done
    #[arg(long)]
    done: bool,
    /// Saved at or after this time: 2026-05-27, yesterday or 2026-05-27T09:30:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Saved before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// In every space that you may see
    #[arg(long, conflicts_with = "space")]
    pub(crate) all_spaces: bool,
}

impl Chooser {
    /// Returns the filter of these flags. The caller still has to set the space.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<Filter, Failure> {
        Ok(Filter {
            types: self.types.clone(),
            kinds: self.kinds.clone(),
            stabilities: self.stabilities.clone(),
            content_types: self.content_types.clone(),
            tags: self.tags.clone(),
            key: self.key.clone(),
            source_path: self.source_path.clone(),
            conversation: self.conversation.clone(),
            author: self.author,
            source_agent: self.by_agent.clone(),
            pinned: self.pinned.then_some(true),
            done: (self.open || self.done).then_some(self.done),
            since: moment(self.since.as_ref(), zone)?,
            until: moment(self.until.as_ref(), zone)?,
            ..Filter::default()
        })
    }

    /// True if a type was given.
    pub(crate) fn has_types(&self) -> bool {
        !self.types.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn counts_have_bounds() {
        assert_eq!(count(Field::Limit, 5, 10).expect("within"), 5);
        let error = count(Field::Limit, -5, 10).expect_err("negative");
        assert_eq!(error.message(), "the limit is -5 and must be within 1 and 10");
    }

    #[test]
    fn json_is_seen_before_the_end_of_flags_only() {
        let line = |words: &[&str]| wants_json(words.iter().map(OsString::from));
        assert!(line(&["tulving", "save", "--json"]));
        assert!(!line(&["tulving", "save", "--", "--json"]));
    }
}
