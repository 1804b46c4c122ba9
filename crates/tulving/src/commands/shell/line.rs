//! Reads a line of the shell: a question, or a command that begins with `/`.
//!
//! This module does no I/O. Commands accept their usual flags before or after their text. The text itself is used literally,
//! with its quotes and dashes, so that users need not escape anything.

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use tulving_core::model::preview;

use super::super::cli::Cli;
use crate::commands::{context, done, forget, get, journal, memory, recall, save, status_changes};
use crate::failure::Failure;
use crate::nearest::nearest;

/// A line, as clap reads it.
#[derive(Debug, Parser)]
#[command(
    name = "",
    bin_name = "",
    no_binary_name = true,
    disable_help_subcommand = true,
    help_template = "{subcommands}{after-help}",
    max_term_width = 100,
    after_help = "\
Everything else is a question; write // before one that begins with /.
/help COMMAND shows the flags of a command; they go before or after its text."
)]
pub(super) struct ShellLine {
    /// Work in this space (name or id)
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub(super) space: Option<String>,
    #[command(subcommand)]
    pub(super) command: ShellCommand,
}

/// The commands of the prompt.
#[derive(Debug, Subcommand)]
pub(super) enum ShellCommand {
    /// Ask with flags: /recall --type decision why SQLite?
    #[command(name = "/recall", after_help = "Examples:\n  /recall --type decision why SQLite?")]
    Recall(Box<recall::RecallArgs>),
    /// Explain the last answer, or one of its memories: /why 12
    #[command(name = "/why", after_help = "Examples:\n  /why\n  /why 12")]
    Why {
        /// A memory of the last answer
        #[arg(value_name = "MEMORY")]
        memory: Option<String>,
    },
    /// Print all memories, by category
    #[command(name = "/memory", after_help = "Examples:\n  /memory")]
    Memory(memory::MemoryArgs),
    /// Show one memory with all its details: /get 12
    #[command(name = "/get", after_help = "Examples:\n  /get 12")]
    Get(get::GetArgs),
    /// Save a memory: /remember Prefers tea
    #[command(
        name = "/remember",
        alias = "/save",
        after_help = "Examples:\n  /remember Prefers tea\n  /remember Standup is at 9:30 --type routine --tag work"
    )]
    Remember(Box<save::SaveArgs>),
    /// Forget memories: /forget 12
    #[command(
        name = "/forget",
        after_help = "Examples:\n  /forget 12 --reason \"no longer true\"\n  /forget --where tag=scratch"
    )]
    Forget(forget::ForgetArgs),
    /// Close todos and goals: /done 12
    #[command(
        name = "/done",
        after_help = "Examples:\n  /done 12\n  /done 12 --at 2026-05-27\n  /done --undo 12"
    )]
    Done(done::DoneArgs),
    /// Restore forgotten memories: /restore 12
    #[command(name = "/restore", after_help = "Examples:\n  /restore 12")]
    Restore(status_changes::MemoriesArgs),
    /// Show the journal of today or of a day, or note a text in it
    #[command(
        name = "/journal",
        after_help = "Examples:\n  /journal\n  /journal yesterday\n  /journal Moved the database to Hetzner"
    )]
    Journal(journal::JournalArgs),
    /// Print the context for the start of a session, or of one about a topic
    #[command(name = "/context", after_help = "Examples:\n  /context\n  /context the payments service")]
    Context(context::ContextArgs),
    /// Show this, or the flags of a command: /help remember
    #[command(name = "/help", after_help = "Examples:\n  /help remember")]
    Help {
        /// The command
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
    /// End, as Ctrl-D does
    #[command(name = "/quit", alias = "/exit", after_help = "Examples:\n  /quit")]
    Quit,
}

/// Commands that take a text, each with the flag before the text; `--` if the text needs no flag.
const TEXTS: [(&str, &str); 4] =
    [("/recall", "--"), ("/remember", "--"), ("/journal", "--note"), ("/context", "--about")];

/// Returns all commands with all their flags.
pub(super) fn grammar() -> clap::Command {
    let mut grammar = ShellLine::command();
    grammar.build();
    grammar
}

/// Reads a line that is not blank.
pub(super) fn read(text: &str) -> Result<ShellLine, Failure> {
    let text = text.trim();
    if let Some(question) = question(text) {
        return parse(vec!["/recall".to_owned(), "--".to_owned(), whole(question)?]);
    }
    let (name, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let grammar = grammar();
    let Some(command) = grammar.find_subcommand(name) else { return Err(unknown(name, &grammar)) };
    let name = command.get_name();
    let mut words = vec![name.to_owned()];
    match TEXTS.iter().find(|(known, _)| *known == name) {
        None => words.extend(split(rest)),
        Some((_, carrier)) => {
            let (flags, text, is_said) = part(rest, command);
            for flag in flags {
                words.push(whole(&flag)?);
            }
            words.extend(carry(carrier, &text, is_said)?);
        }
    }
    parse(words)
}

/// Returns the help of a command, or of all, with colours.
pub(super) fn help(name: Option<&str>) -> Result<String, Failure> {
    let mut grammar = grammar();
    let Some(name) = name else { return Ok(rendered(&mut grammar)) };
    let name = if name.starts_with('/') { name.to_owned() } else { format!("/{name}") };
    match grammar.find_subcommand_mut(&name) {
        Some(command) => Ok(rendered(command)),
        None => Err(unknown(&name, &grammar)),
    }
}

fn rendered(command: &mut clap::Command) -> String {
    let text = command.render_help().ansi().to_string();
    // clap puts a space where the name of the program would be.
    match text.split_once("Usage:") {
        None => text.trim_end().to_owned(),
        Some((above, usage)) => {
            let name = command.get_name();
            let usage = usage.replacen(&format!(" {name}"), name, 1);
            format!("{above}Usage:{}", usage.trim_end())
        }
    }
}

/// Returns the question, if the line is one.
fn question(text: &str) -> Option<&str> {
    if text.starts_with("//") { Some(&text[1..]) } else { Some(text).filter(|text| !text.starts_with('/')) }
}

fn parse(words: Vec<String>) -> Result<ShellLine, Failure> {
    let name = words.first().cloned();
    match ShellLine::try_parse_from(words) {
        Ok(line) => Ok(line),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Ok(ShellLine { space: None, command: ShellCommand::Help { command: name } })
        }
        Err(error) => {
            let failure = Failure::of_flags(&error);
            if failure.hint().is_some() {
                return Err(failure);
            }
            let name = name.unwrap_or_default();
            let quotes = match error.kind() {
                ErrorKind::ArgumentConflict => "put a value of several words into quotes; ",
                _ => "",
            };
            Err(failure.hinted(format!("{quotes}`/help {}` shows how", name.trim_start_matches('/'))))
        }
    }
}

/// Refuses a word that a command would take for standard input.
fn whole(word: &str) -> Result<String, Failure> {
    if word == "-" || word.starts_with("--") && word.ends_with("=-") {
        let failure = Failure::usage("`-` reads standard input, from which the shell reads its lines");
        return Err(failure.hinted("run that command outside the shell"));
    }
    Ok(word.to_owned())
}

/// Returns the words that pass a text to a command. For the journal, a text that names a day is that day, unless it is
/// marked as text.
fn carry(carrier: &str, text: &str, is_said: bool) -> Result<Vec<String>, Failure> {
    let text = whole(text)?;
    Ok(match carrier {
        _ if text.is_empty() => Vec::new(),
        "--" => vec!["--".to_owned(), text],
        "--note" if !is_said && names_a_day(&text) => vec![text],
        flag => vec![format!("{flag}={text}")],
    })
}

fn names_a_day(text: &str) -> bool {
    let date = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    date || matches!(text, "today" | "yesterday")
}

/// Returns the failure for an unknown command, with the command that was probably meant.
fn unknown(name: &str, grammar: &clap::Command) -> Failure {
    let failure = Failure::usage(format!("there is no command `{}` here", preview::short(name)));
    let elsewhere = name.strip_prefix('/').filter(|name| Cli::command().find_subcommand(name).is_some());
    let known = grammar.get_subcommands().map(clap::Command::get_name);
    failure.hinted(match (elsewhere, nearest(name, known)) {
        (Some(command), _) => format!("run `tulving {command}` outside the shell"),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => "/help lists them; write // before a question that begins with /".to_owned(),
    })
}

/// Splits the rest of a line after the command: returns the flags at both ends, the text between them, and true if `--`
/// before the text marks it as text. Everything after that `--` is text; inside the text, `--` stays a dash. Quotes around
/// the whole text are removed.
fn part(rest: &str, command: &clap::Command) -> (Vec<String>, String, bool) {
    let mut flags = Vec::new();
    let mut rest = rest.trim();
    while rest.starts_with("--") {
        let (flag, after) = word(rest);
        if flag == "--" {
            return (flags, after.trim().to_owned(), true);
        }
        rest = take_flag(flag, after, command, &mut flags);
    }
    let quoted = if rest.starts_with('"') { rest.len() - word(rest).1.len() } else { 0 };
    let starts = rest.match_indices("--").map(|(at, _)| at).filter(|at| *at >= quoted);
    let ends = starts.filter(|at| rest[..*at].ends_with(char::is_whitespace));
    let mut ends = ends.take_while(|at| word(&rest[*at..]).0 != "--");
    let end = ends.find_map(|at| Some((at, only_flags(&rest[at..], command)?)));
    if let Some((at, more)) = end {
        flags.extend(more);
        rest = rest[..at].trim_end();
    }
    let inside = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    (flags, inside.filter(|inside| !inside.contains('"')).unwrap_or(rest).to_owned(), false)
}

/// Returns the flags that a text consists of; `None` if it contains anything else.
fn only_flags(mut rest: &str, command: &clap::Command) -> Option<Vec<String>> {
    let mut flags = Vec::new();
    while !rest.is_empty() {
        let (flag, after) = word(rest);
        takes_value(&flag, command)?;
        rest = take_flag(flag, after, command, &mut flags);
    }
    Some(flags)
}

/// Takes a flag and its value, and returns the rest.
fn take_flag<'a>(flag: String, after: &'a str, command: &clap::Command, flags: &mut Vec<String>) -> &'a str {
    let wants = !flag.contains('=') && takes_value(&flag, command) == Some(true);
    flags.push(flag);
    let after = after.trim_start();
    if !wants || after.is_empty() {
        return after;
    }
    let (value, rest) = word(after);
    flags.push(value);
    rest.trim_start()
}

/// True if a flag takes a value; `None` if the command has no such flag. `--help` counts only before the text.
fn takes_value(flag: &str, command: &clap::Command) -> Option<bool> {
    let name = flag.strip_prefix("--")?.split('=').next()?;
    let known = command.get_arguments().find(|known| known.get_long() == Some(name))?;
    Some(known.get_action().takes_values()).filter(|_| name != "help")
}

fn split(mut rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    while !rest.trim_start().is_empty() {
        let (word, after) = word(rest);
        words.push(word);
        rest = after;
    }
    words
}

/// Returns the first word and the rest. Quotes around a word, or around the value of a flag, keep it together.
fn word(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let value = text[..end].find('=').filter(|_| text.starts_with("--")).map_or(0, |at| at + 1);
    let closed = text[value..].chars().next().filter(|quote| matches!(quote, '"' | '\'')).and_then(|quote| {
        let mut closing = text[value + 1..].match_indices(quote);
        closing.find_map(|(at, _)| {
            let (inside, after) = (&text[value + 1..value + 1 + at], &text[value + 2 + at..]);
            (after.is_empty() || after.starts_with(char::is_whitespace)).then_some((inside, after))
        })
    });
    match closed {
        Some((inside, after)) => (format!("{}{inside}", &text[..value]), after),
        None => (text[..end].to_owned(), &text[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(name: &str, rest: &str) -> (Vec<String>, String) {
        let grammar = grammar();
        let (flags, text, _) = part(rest, grammar.find_subcommand(name).expect("a command"));
        (flags, text)
    }

    #[test]
    fn the_grammar_is_sound() {
        ShellLine::command().debug_assert();
    }

    #[test]
    fn a_line_without_a_slash_is_a_question_and_so_is_one_with_two() {
        assert_eq!(question("who owns billing?"), Some("who owns billing?"));
        assert_eq!(question("//etc/hosts"), Some("/etc/hosts"));
        assert_eq!(question("/memory"), None);
        for text in ["--type fact", "it's", "日本語のメモ", "a \"b\" -- c", "-x", "?"] {
            assert!(
                matches!(read(text), Ok(ShellLine { command: ShellCommand::Recall(_), space: None })),
                "{text}"
            );
        }
    }

    #[test]
    fn flags_stand_before_or_after_a_text_that_stays_as_it_is() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let none = Vec::<String>::new;
        for (rest, flags, text) in [
            (" It's \"quoted\" - really", none(), "It's \"quoted\" - really"),
            ("--type fact Tea", words("--type fact"), "Tea"),
            ("Tea --type fact --pin", words("--type fact --pin"), "Tea"),
            ("--type=fact Tea --tag a --tag b", words("--type=fact --tag a --tag b"), "Tea"),
            ("\"Tea\" --pin", words("--pin"), "Tea"),
            ("Build with --release", none(), "Build with --release"),
            ("Build with --release --pin", words("--pin"), "Build with --release"),
            ("--pin is a flag --of ours", words("--pin"), "is a flag --of ours"),
            ("-- --pin is a flag --pin", none(), "--pin is a flag --pin"),
            ("foo -- --type x", none(), "foo -- --type x"),
            ("Tea -- not coffee --pin", none(), "Tea -- not coffee --pin"),
            ("\"Tea -- not coffee\" --pin", words("--pin"), "Tea -- not coffee"),
            ("Tea --type fact -- --pin", none(), "Tea --type fact -- --pin"),
            ("use --help", none(), "use --help"),
            ("two\nlines --pin", words("--pin"), "two\nlines"),
            ("Tea --space work", words("--space work"), "Tea"),
            ("", none(), ""),
        ] {
            assert_eq!(parted("/remember", rest), (flags, text.to_owned()), "{rest}");
        }
        let title = vec!["--title".to_owned(), "A cup".to_owned()];
        assert_eq!(parted("/remember", "Tea --title \"A cup\""), (title, "Tea".to_owned()));
    }

    #[test]
    fn quotes_hold_words_together() {
        for (text, words) in [
            ("1 #2  3", vec!["1", "#2", "3"]),
            ("1 --reason \"no longer true\"", vec!["1", "--reason", "no longer true"]),
            ("1 --reason='it is not' 2", vec!["1", "--reason=it is not", "2"]),
            ("it's 'so", vec!["it's", "'so"]),
            ("  ", vec![]),
        ] {
            assert_eq!(split(text), words, "{text}");
        }
    }

    #[test]
    fn a_day_is_shown_and_a_text_is_noted() {
        let words = |text: &str| carry("--note", text, false).expect("words");
        assert_eq!(words("2026-05-27"), ["2026-05-27"]);
        assert_eq!(words("yesterday"), ["yesterday"]);
        assert_eq!(words("--list is a flag"), ["--note=--list is a flag"]);
        assert_eq!(words(""), Vec::<String>::new());
        for line in ["/journal -- yesterday", "/journal --space work -- yesterday"] {
            let Ok(ShellLine { command: ShellCommand::Journal(args), .. }) = read(line) else {
                panic!("{line}")
            };
            assert!(format!("{args:?}").contains("note: Some(\"yesterday\")"), "{args:?}");
        }
    }

    #[test]
    fn what_is_wrong_names_what_was_meant() {
        let hint = |text: &str| read(text).expect_err(text).hint().expect("a hint");
        assert_eq!(hint("/rember tea"), "did you mean `/remember`?");
        assert_eq!(hint("/list"), "run `tulving list` outside the shell");
        assert_eq!(hint("/etc/hosts"), "/help lists them; write // before a question that begins with /");
        assert_eq!(hint("/forget"), "`/help forget` shows how");
        assert!(
            hint("/journal --search dark roast").starts_with("put a value of several words into quotes;")
        );
        assert_eq!(hint("/remember --typ fact x"), "a similar argument exists: '--type'");
        for text in ["-", "/remember -", "/journal -", "/remember --batch -", "/remember --batch=-"] {
            assert_eq!(hint(text), "run that command outside the shell", "{text}");
        }
    }
}
