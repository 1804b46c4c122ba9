//! Explains what a user meant by an unknown command or flag, such as another tool's name for it.
//!
//! clap proposes names with a similar spelling, which often mean something else: `find` is not `pin`. The entries in this
//! module take precedence.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::nearest::nearest;

/// Command names of other tools, and a tip with Tulving's command.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["ask", "search", "find", "query", "lookup", "look", "grep"],
        "tulving recall \"what do I drink?\" finds memories",
    ),
    (
        &["add", "remember", "store", "put", "note", "learn", "new", "create", "memorize", "insert"],
        "tulving save \"Prefers dark roast\" saves a memory",
    ),
    (&["delete", "rm", "remove", "del", "erase", "drop"], "tulving forget 12 forgets a memory"),
    (&["ls", "all", "dir"], "tulving list lists memories"),
    (&["show", "view", "cat", "read", "open", "inspect"], "tulving get 12 shows one memory"),
    (&["edit", "change", "modify", "set"], "tulving update 12 \"…\" changes a memory"),
    (&["server", "start", "run", "listen", "daemon", "up"], "tulving serve starts the server"),
    (&["stop", "down", "kill"], "Ctrl-C stops a server, in the terminal where it runs"),
    (&["export"], "tulving dump memories.jsonl writes everything, tulving backup create copies the store"),
    (&["upload", "ingest", "crawl"], "tulving push FILE saves a file, tulving import FOLDER a whole folder"),
    (&["status", "stats", "info", "check", "health", "ping"], "tulving doctor checks the home"),
    (
        &["settings", "configure"],
        "tulving config shows the settings, tulving config path where they are kept",
    ),
    (&["link", "relate", "connect"], "tulving associate 12 7 links two memories"),
    (&["log", "logs"], "tulving audit shows what was done, tulving turn list the conversation"),
    (&["undelete", "unforget"], "tulving restore 12 restores a memory"),
    (&["use", "switch"], "--space NAME, or TULVING_SPACE, chooses the space of a command"),
    (&["version"], "tulving --version prints it"),
    (
        &["init", "setup", "install", "login", "signup", "register"],
        "no setup is needed: the first tulving save \"…\" creates the home",
    ),
    (
        &["uninstall", "reset", "clear", "wipe", "destroy"],
        "all data is in one folder, which tulving config shows as home",
    ),
];

/// Represents a word that is not a flag.
const WORD: &str = "";

/// Flags of other tools, for one command or for all: the command, the flag, and a tip with ours.
const FLAGS: &[(Option<&str>, &[&str], &str)] = &[
    (None, &["-v"], "-V or --version prints the version"),
    (None, &["--verbose", "--debug"], "a server logs more with TULVING_LOG=debug"),
    (None, &["--db", "--database", "--data-dir"], "--home DIR chooses where everything is kept"),
    (Some("serve"), &["-p", "--port", "--host", "--bind", WORD], "--listen 127.0.0.1:7778 sets the address"),
    (Some("save"), &["-f", "--file"], "tulving push FILE saves a file"),
    (Some("save"), &["-t"], "--type fact sets the type of the memory, --tag adds a label"),
    (Some("save"), &["--content", "--text", "-m", "--message"], "the text needs no flag: tulving save \"…\""),
    (Some("recall"), &["-q", "--query", "--question"], "the question needs no flag: tulving recall \"…\""),
    (Some("recall"), &["-n", "-k", "--top", "--top-k", "--count"], "--limit 5 sets the maximum number"),
    (Some("list"), &["-n", "--top", "--count"], "--limit 5 sets the maximum number"),
    (Some("list"), &[WORD], "tulving get shows one memory, tulving recall finds some"),
    (Some("import"), &["--from", "--format"], "the type is detected from the content: give only the path"),
    (Some("journal"), &[WORD], "tulving journal --note \"…\" notes something"),
    (Some("token create"), &[WORD], "--for NAME names the principal"),
];

/// Adds to clap's error what was probably meant, if that is known.
pub(crate) fn explained(mut error: clap::Error, root: &Command, line: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            if let Some(ContextValue::String(got)) = error.remove(ContextKind::InvalidSubcommand) {
                command(&mut error, root, line, &got);
                error.insert(ContextKind::InvalidSubcommand, ContextValue::String(got));
            }
        }
        ErrorKind::UnknownArgument => flag(&mut error, root, line),
        ErrorKind::MissingRequiredArgument => missing(&mut error, root, line),
        _ => {}
    }
    error
}

/// Adds the command that was probably meant.
fn command(error: &mut clap::Error, root: &Command, line: &[OsString], got: &str) {
    error.remove(ContextKind::SuggestedSubcommand);
    let (names, parent) = reached(root, line, Some(got));
    let known = || parent.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
    let plain = got.to_lowercase();
    let synonym = COMMANDS.iter().find(|(words, _)| names.is_empty() && words.contains(&plain.as_str()));
    if let Some((_, meant)) = synonym {
        tip(error, meant);
    } else if let Some(nearest) = nearest(got, known()) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(nearest.to_owned()));
    } else if names.is_empty() {
        tip(error, "to ask something: tulving recall \"…\"; to save something: tulving save \"…\"");
    } else if names == "config" {
        tip(error, "settings are lines of a file; `tulving config path` says where it is");
    } else {
        let all: Vec<&str> = known().collect();
        tip(error, &format!("`tulving {names}` has {}", all.join(", ")));
    }
}

/// Adds the flag that was probably meant, if it is one of another tool.
fn flag(error: &mut clap::Error, root: &Command, line: &[OsString]) {
    let Some(ContextValue::String(got)) = error.get(ContextKind::InvalidArg) else { return };
    let got = if got.starts_with('-') { got.clone() } else { WORD.to_owned() };
    let (names, _) = reached(root, line, None);
    let fits = |command: &Option<&str>| command.is_none_or(|command| command == names);
    let known = FLAGS.iter().find(|(command, flags, _)| fits(command) && flags.contains(&got.as_str()));
    if let Some((_, _, meant)) = known {
        // Both are about the flag with a similar spelling, not about the flag that was probably meant.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        tip(error, meant);
    }
}

/// Adds a tip for a missing argument whose name alone does not help.
fn missing(error: &mut clap::Error, root: &Command, line: &[OsString]) {
    let Some(ContextValue::Strings(names)) = error.get(ContextKind::InvalidArg) else { return };
    let is_missing = |what: &str| names.iter().any(|name| name.contains(what));
    if is_missing("MEMORY") {
        tip(error, "write 12 or '#12': for most shells a bare #12 begins a comment");
    } else if is_missing("CONTENT") && reached(root, line, None).0 == "save" {
        tip(
            error,
            "give the content to remember: tulving save \"Prefers dark roast\"; - reads standard input",
        );
    }
}

fn tip(error: &mut clap::Error, tip: &str) {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_owned().into()]));
}

/// Returns the command that the words before `end` lead to, and its name below the program's.
fn reached<'a>(root: &'a Command, line: &[OsString], end: Option<&str>) -> (String, &'a Command) {
    let (mut names, mut command) = (Vec::new(), root);
    let words = line.iter().skip(1).map_while(|word| word.to_str().filter(|word| Some(*word) != end));
    for word in words {
        if let Some(next) = command.find_subcommand(word) {
            names.push(next.get_name());
            command = next;
        }
    }
    (names.join(" "), command)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Cli;

    fn described(line: &[&str]) -> String {
        let line: Vec<OsString> = line.iter().map(OsString::from).collect();
        let root = Cli::command();
        let error = root.clone().try_get_matches_from(&line).expect_err("a wrong line");
        explained(error, &root, &line).render().to_string()
    }

    #[test]
    fn every_command_that_is_named_is_there() {
        let root = Cli::command();
        for (words, _) in COMMANDS {
            for word in *words {
                assert!(root.find_subcommand(word).is_none(), "`{word}` is a command");
            }
        }
        let meant = COMMANDS.iter().map(|(_, meant)| *meant).chain(FLAGS.iter().map(|(.., meant)| *meant));
        for name in meant.flat_map(|meant| meant.split("tulving ").skip(1)) {
            let name = name.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
            assert!(name.starts_with("--") || root.find_subcommand(name).is_some(), "no `{name}`");
        }
    }

    #[test]
    fn what_is_spelled_alike_and_means_something_else_is_not_proposed() {
        let text = described(&["tulving", "find", "tea"]);
        assert!(text.contains("tulving recall") && !text.contains("pin"), "{text}");
        let text = described(&["tulving", "--space", "x", "space", "delete", "team"]);
        assert!(text.contains("`tulving space` has list, create"), "{text}");
        let text = described(&["tulving", "recal", "tea"]);
        assert!(text.contains("a similar subcommand exists: 'recall'"), "{text}");
    }
}
