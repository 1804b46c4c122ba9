//! The help of the program: its commands in groups, in the order in which people need them.
//!
//! clap does not support groups of commands, so this module puts the groups into clap's help template. This module contains
//! only the names; the descriptions are at the declarations of the commands. A test detects a command without a group.

use std::fmt::Write as _;

use clap::Command;

use crate::print;
use crate::show::text::HangingText;

/// Maximum width of a line, in columns; the same as clap's own `max_term_width`.
const WIDEST: usize = 100;

/// The groups, each with the names of its commands.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    (
        "Everyday",
        &[
            "save", "recall", "get", "list", "update", "forget", "restore", "undo", "done", "context",
            "shell", "demo",
        ],
    ),
    (
        "Memories in detail",
        &[
            "history",
            "revert",
            "timeline",
            "related",
            "associate",
            "dissociate",
            "pin",
            "unpin",
            "archive",
            "unarchive",
            "move",
            "memory",
        ],
    ),
    ("Documents and files", &["push", "import", "attachment", "journal", "long-term", "file"]),
    ("Conversations", &["turn", "recover", "archive-conversation", "conversation"]),
    ("Keeping it good", &["review", "audit-quality", "consolidate", "passes", "tend"]),
    ("Agents and programs", &["mcp", "serve", "tool"]),
    ("Sharing and access", &["space", "token", "audit"]),
    (
        "Running it",
        &[
            "doctor",
            "config",
            "backup",
            "dump",
            "load",
            "jobs",
            "embed",
            "model",
            "llm",
            "usage",
            "completions",
        ],
    ),
];

/// Returns the command line with its commands in groups in the help.
pub(crate) fn grouped(command: Command) -> Command {
    let columns = print::terminal_columns().unwrap_or(WIDEST).min(WIDEST);
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{}{{options}}{{after-help}}",
        commands(&command, columns),
        heading(&command, "Options"),
    );
    flowing(command.help_template(template))
}

/// Returns the command with each paragraph of its epilogues on one line, so that clap wraps them only once, to the width of
/// the terminal.
fn flowing(command: Command) -> Command {
    let text = command.get_after_help().map(|text| unwrapped(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// Returns the text with each paragraph on one line. The line breaks of lists, examples and texts with a heading are
/// kept.
fn unwrapped(text: &str) -> String {
    let paragraph = |part: &str| match part.contains("\n ") || part.lines().any(|line| line.ends_with(':')) {
        true => part.to_owned(),
        false => part.lines().collect::<Vec<_>>().join(" "),
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Returns the printed form of the groups.
fn commands(command: &Command, columns: usize) -> String {
    let literal = command.get_styles().get_literal();
    let widest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut groups = String::new();
    for (title, names) in GROUPS {
        write!(groups, "\n{}", heading(command, title)).expect("a text is written");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let name = format!("  {literal}{name}{literal:#}{}  ", " ".repeat(widest - name.len()));
            let hanging = HangingText { heading: &name, taken: widest + 4, columns };
            for line in hanging.lines(&about) {
                writeln!(groups, "{line}").expect("a text is written");
            }
        }
    }
    groups
}

fn heading(command: &Command, title: &str) -> String {
    let header = command.get_styles().get_header();
    format!("{header}{title}:{header:#}\n")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;
    use crate::show::text::width;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
        let mut visible: Vec<&str> = visible.collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn paragraphs_of_epilogues_are_one_line_and_examples_keep_theirs() {
        let text =
            "Examples:\n  tulving undo\n  tulving undo --dry-run\n\nTwo lines\nof one paragraph.\n\nThe end.";
        let expected =
            "Examples:\n  tulving undo\n  tulving undo --dry-run\n\nTwo lines of one paragraph.\n\nThe end.";
        assert_eq!(unwrapped(text), expected);
        let command = grouped(Cli::command());
        let undo = command.find_subcommand("undo").and_then(Command::get_after_help).map(ToString::to_string);
        assert_eq!(undo.as_deref().map(unwrapped), undo);
    }

    #[test]
    fn no_example_line_is_wider_than_a_terminal() {
        let mut wide = Vec::new();
        gather_wide_lines(&grouped(Cli::command()), "tulving", &mut wide);
        assert!(wide.is_empty(), "{} lines over 80 columns:\n{}", wide.len(), wide.join("\n"));
    }

    /// Gathers the indented lines below the flags that are wider than a terminal. clap would wrap such a line, and a
    /// wrapped example is no longer a valid command. More deeply indented prose, such as the description of a setting,
    /// may be wrapped.
    fn gather_wide_lines(command: &Command, name: &str, wide: &mut Vec<String>) {
        for text in [command.get_after_help(), command.get_after_long_help()].into_iter().flatten() {
            let text = text.to_string();
            let lines = text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("      "));
            wide.extend(lines.filter(|line| width(line) > 80).map(|line| format!("{name}: {line}")));
        }
        for below in command.get_subcommands() {
            gather_wide_lines(below, &format!("{name} {}", below.get_name()), wide);
        }
    }

    #[test]
    fn descriptions_are_one_line_that_fits_a_usual_terminal() {
        for command in Cli::command().get_subcommands().filter(|one| !one.is_hide_set()) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            // The names take 22 columns.
            assert!((1..=76).contains(&about.chars().count()), "{}: {about}", command.get_name());
            assert!(!about.contains(['{', '}', '\n']), "{about}");
        }
    }

    #[test]
    fn a_narrow_terminal_wraps_what_commands_do_below_itself() {
        let text = commands(&Cli::command(), 40);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(plain.lines().all(|line| width(line) <= 40), "{plain}");
        assert!(plain.contains("\nsave\n  Save a memory\n"), "{plain}");
    }
}
