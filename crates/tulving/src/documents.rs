//! Checks the documents: the commands and flags in them exist, and the reference pages match the code.
//!
//! `docs/cli.md`, `docs/config.md` and `docs/tools.md` are made from the declarations of the commands, the settings and
//! the tools; `cargo xtask reference` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command, CommandFactory as _};
use serde_json::Value;
use tulving_dialects::Dialect;
use tulving_testkit::markdown::{MarkdownPieceKind, pages, pieces};

use crate::commands::Cli;
use crate::config;
use crate::help;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn command_line() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

#[test]
fn the_commands_and_flags_that_documents_name_exist() {
    let command = command_line();
    let mut wrong = Vec::new();
    for page in pages(&root()) {
        let text = fs::read_to_string(root().join(&page)).expect("the page");
        for piece in pieces(&text) {
            let lines: Vec<(usize, &str)> = match &piece.kind {
                MarkdownPieceKind::Block(language) if language == "sh" => {
                    (piece.line + 1..).zip(piece.text.lines()).collect()
                }
                MarkdownPieceKind::Code => vec![(piece.line, piece.text.as_str())],
                _ => Vec::new(),
            };
            for (line, text) in lines {
                wrong.extend(
                    unknown(&command, text).map(|what| format!("{page}:{line}: {what}, in `{text}`")),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_references_are_what_the_code_says() {
    let pages = [
        ("docs/cli.md", commands()),
        ("docs/config.md", config::reference_page()),
        ("docs/tools.md", tools()),
    ];
    for (page, text) in pages {
        let file = root().join(page);
        if std::env::var_os("REFERENCE").is_some_and(|value| value == "write") {
            fs::write(&file, &text).expect("the page is written");
        }
        let there = fs::read_to_string(&file).unwrap_or_default();
        assert!(there == text, "{page} is not what the code says; `cargo xtask reference` rewrites it");
    }
}

#[test]
fn what_does_not_exist_is_told_from_what_does() {
    let command = command_line();
    for fine in [
        "tulving recall --limit 3 \"what --nonsense\"",
        "echo x | tulving save - --type fact && tulving list",
        "claude mcp add tulving -- tulving mcp --dialect max",
        "TULVING_HOME=/x tulving --json token create --for a",
        "KEY=$(lookup tulving) tulving serve",
        "tulving COMMAND --help",
        "tulving",
        "cargo test --nonsense",
    ] {
        assert_eq!(unknown(&command, fine), None, "{fine}");
    }
    for (wrong, what) in [
        ("tulving recal", "there is no `tulving recal`"),
        ("tulving recall --nonsense", "`tulving recall` has no --nonsense"),
        ("tulving token creat --for x", "there is no `tulving token creat`"),
    ] {
        assert_eq!(unknown(&command, wrong).as_deref(), Some(what), "{wrong}");
    }
}

/// Returns the first command or flag of `tulving` in a shell line that does not exist.
fn unknown(root: &Command, line: &str) -> Option<String> {
    let words = words(line);
    let starts = words.iter().enumerate().filter(|(_, word)| *word == "tulving").map(|(at, _)| at + 1);
    let ends = |word: &&String| !["|", "||", "&&", ";", ">", "<", "#", "&"].contains(&word.as_str());
    starts.into_iter().find_map(|start| {
        let call: Vec<&String> = words[start..].iter().take_while(ends).collect();
        if call.first().is_some_and(|word| *word == "--") { None } else { wrong_word(root, &call) }
    })
}

fn wrong_word(root: &Command, call: &[&String]) -> Option<String> {
    let (mut command, mut path) = (root, "tulving".to_owned());
    let mut takes_value = false;
    for word in call {
        if std::mem::take(&mut takes_value) {
            continue;
        }
        if let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) {
            let (name, value) =
                flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
            let known = command.get_arguments().find(|arg| arg.get_long() == Some(name));
            match known {
                None if name == "help" || name == "version" => {}
                None => return Some(format!("`{path}` has no --{name}")),
                Some(arg) => takes_value = value.is_none() && takes_one(arg),
            }
        } else if let Some(next) = command.find_subcommand(word) {
            command = next;
            path = format!("{path} {word}");
        } else if !word.starts_with('-') && is_command(word) && command.has_subcommands() {
            let takes_words = command.get_positionals().next().is_some();
            return (!takes_words).then(|| format!("there is no `{path} {word}`"));
        } else {
            // The other words are values, and flags may be between them.
        }
    }
    None
}

fn takes_one(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// True if a word could be the name of a command, and is not a placeholder.
fn is_command(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Splits a shell line into words approximately: quoted text stays one word.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => words.last_mut().expect("one").push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                // A quoted word is always a value.
                words.last_mut().expect("one").push('\u{0}');
            }
            // Parentheses contain another call.
            None if c == '(' || c == ')' => words.extend([";".to_owned(), String::new()]),
            None if c.is_whitespace() => words.push(String::new()),
            None => words.last_mut().expect("one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Renders the reference of the command line.
fn commands() -> String {
    let mut command = command_line();
    let mut page = String::from(
        "# The command line\n\n<!-- Made by `cargo xtask reference` from the declarations of the commands. -->\n\n",
    );
    page.push_str(
        "Every command prints its own help with `--help`. In what follows, `…` after an argument means that it may be \
         repeated.\n\n## Everywhere\n\n",
    );
    let global: Vec<Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    page.push_str(&arguments(global.iter()));
    if let Some(codes) = command.get_after_long_help() {
        page.push_str(&format!("\n```text\n{}\n```\n", codes.to_string().trim_end()));
    }
    for (title, names) in help::GROUPS {
        page.push_str(&format!("\n## {title}\n"));
        for name in *names {
            describe(command.find_subcommand_mut(name).expect("a command"), 3, &mut page);
        }
    }
    page
}

/// Renders one command and its subcommands.
fn describe(command: &mut Command, level: usize, page: &mut String) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    page.push_str(&format!("\n{} {name}\n\n", "#".repeat(level)));
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        page.push_str(&format!("{about}.\n\n"));
    }
    page.push_str(&format!("```text\n{usage}\n```\n"));
    let own = command.get_arguments().filter(|arg| {
        !arg.is_global_set() && !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version"
    });
    let table = arguments(own);
    if !table.is_empty() {
        page.push_str(&format!("\n{table}"));
    }
    if let Some(after) = command.get_after_help().filter(|_| name != "tulving config") {
        page.push_str(&format!("\n```text\n{}\n```\n", after.to_string().trim_end()));
    } else if name == "tulving config" {
        page.push_str("\n[config.md](config.md) lists the settings.\n");
    }
    for sub in command.get_subcommands_mut().filter(|sub| !sub.is_hide_set()) {
        describe(sub, level + 1, page);
    }
}

/// Renders arguments as a table.
fn arguments<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<String> = args.map(argument).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("| argument | what it is |\n|---|---|\n{}\n", rows.join("\n"))
}

fn argument(arg: &Arg) -> String {
    let value = || arg.get_value_names().map_or(String::new(), |names| names.join(" "));
    let mut name = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) if takes_one(arg) => format!("--{long} {}", value()),
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => value(),
    };
    let many = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    if many || matches!(arg.get_action(), ArgAction::Append) {
        name.push('…');
    }
    let mut about = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && takes_one(arg))
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        about.push_str(&format!(" (one of {})", values.join(", ")));
    }
    let default: Vec<&str> = arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    if !default.is_empty() && takes_one(arg) {
        about.push_str(&format!(" (default `{}`)", default.join(" ")));
    }
    let cell = |text: &str| text.replace('\n', " ").replace('|', "\\|");
    format!("| `{}` | {} |", cell(&name), cell(&about))
}

/// Renders the reference of the tools of every dialect.
fn tools() -> String {
    let mut page = String::from(
        "# The tools\n\n<!-- Made by `cargo xtask reference` from the declarations of the tools. -->\n\n\
         What agents call, dialect by dialect: over MCP (`tulving mcp --dialect NAME`, `/mcp/NAME`), over HTTP \
         (`POST /v1/dialects/NAME/tools/TOOL`) and on the command line (`tulving tool NAME TOOL '{…}'`). Models read these \
         descriptions.\n",
    );
    for dialect in Dialect::ALL {
        page.push_str(&format!("\n## {dialect}\n"));
        for tool in dialect.tools() {
            page.push_str(&format!(
                "\n### {dialect}: `{}`\n\n```text\n{}\n```\n",
                tool.name, tool.description
            ));
            let mut rows = Vec::new();
            properties(&Value::Object(tool.input.clone()), "", &mut rows);
            if !rows.is_empty() {
                page.push_str(&format!(
                    "\n| argument | type | what it is |\n|---|---|---|\n{}\n",
                    rows.join("\n")
                ));
            }
        }
    }
    page
}

/// Adds a row for each argument, and for each field of arguments that are objects.
fn properties(schema: &Value, path: &str, rows: &mut Vec<String>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, about) in schema["properties"].as_object().into_iter().flatten() {
        let must = if required.iter().any(|one| one == name) { ", required" } else { "" };
        let values: Vec<String> = about["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|value| format!("`{value}`").replace('"', ""))
            .collect();
        let values =
            if values.is_empty() { String::new() } else { format!(" (one of {})", values.join(", ")) };
        let text = about["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let kind = match &about["type"] {
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
            _ => "any".to_owned(),
        };
        let name = format!("{path}{name}");
        rows.push(format!("| `{name}` | {kind}{must} | {text}{values} |"));
        properties(about, &format!("{name}."), rows);
        properties(&about["items"], &format!("{name}[]."), rows);
    }
}
