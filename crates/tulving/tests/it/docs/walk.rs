//! Runs the commands of a page in one shell, and compares their output with the page.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use regex::Regex;
use tulving_testkit::markdown::{MarkdownPiece, MarkdownPieceKind};

use crate::binary::{Tulving, WITHOUT_MODEL};
use crate::serve::client::Server;

/// The address of a server on the pages.
const ADDRESS: &str = "127.0.0.1:7777";

/// A marker in the output after each command, with the exit code.
const END: char = '\u{1}';

/// Values that differ from run to run, and their masks.
const MASKS: [(&str, &str); 9] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]"),
    (r"tlv_[A-Za-z0-9_-]{43}", "[token]"),
    (r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d+)?( UTC|Z)", "[time]"),
    (r"\d{4}-\d{2}-\d{2}", "[day]"),
    (r"\b\d{2}:\d{2}:\d{2}\b", "[clock]"),
    (r"\b[0-9a-f]{12}\b", "[proposal]"),
    (r"\b(just now|\d+ min)\b", "[age]"),
    (r"\b\d+(\.\d+)? m?s\b", "[duration]"),
    (r"(?m)(\S) {2,}", "$1  "),
];

/// One command.
pub(super) struct Step {
    line: usize,
    command: String,
    /// The output on the page; `None` for a preparation.
    shown: Option<String>,
}

impl Step {
    pub(super) fn hidden(line: usize, command: &str) -> Self {
        Self { line, command: command.to_owned(), shown: None }
    }
}

/// Reads the commands of a block that begins in this line.
pub(super) fn read(first: usize, block: &str, steps: &mut Vec<Step>) {
    let mut lines = (first..).zip(block.lines()).peekable();
    while let Some((line, text)) = lines.next() {
        if let Some(command) = text.strip_prefix("$ ") {
            let mut command = command.to_owned();
            loop {
                let continues = command.ends_with('\\');
                match lines.next_if(|(_, next)| continues || next.starts_with("> ")) {
                    Some((_, next)) => {
                        command.push('\n');
                        command.push_str(next.strip_prefix("> ").unwrap_or(next));
                    }
                    None => break,
                }
            }
            steps.push(Step { line, command, shown: Some(String::new()) });
        } else if let Some(shown) = steps.last_mut().and_then(|step| step.shown.as_mut()) {
            shown.push_str(text);
            shown.push('\n');
        } else {
            panic!("line {line}: a block `console` begins with a command");
        }
    }
}

/// The steps of a page whose output differs from the page.
pub(super) fn differences(pieces: &[MarkdownPiece]) -> Vec<(usize, String)> {
    let steps = super::steps(pieces);
    if steps.is_empty() {
        return Vec::new();
    }
    let tulving = Tulving::new();
    let home = tulving.folder().join(".local/share/tulving");
    let serves = pieces.iter().any(|piece| piece.kind == MarkdownPieceKind::Comment && piece.text == "serve");
    let server = serves.then(|| {
        Server::start_with(&tulving, |command| {
            command.env("TULVING_HOME", &home).env_remove(WITHOUT_MODEL.0);
        })
    });
    let address = server.as_ref().map(|server| server.address.to_string());
    let address = address.as_deref().unwrap_or(ADDRESS);
    let ends = play(&tulving, &steps, address);
    let folder = tulving.folder().display().to_string();
    let plain = |text: &str| text.replace(&folder, "~").replace(address, ADDRESS);
    let described = steps.iter().zip(&ends).filter_map(|(step, (said, code))| {
        let said = plain(said);
        let what = match &step.shown {
            Some(shown) if fits(shown, &said) => None,
            Some(_) => Some(format!("`{}` printed:\n{said}", step.command)),
            None if *code == 0 => None,
            None => Some(format!("`{}` ended with {code}:\n{said}", step.command)),
        };
        what.map(|what| (step.line, what))
    });
    let mut described: Vec<(usize, String)> = described.collect();
    if let Some(step) = steps.get(ends.len()) {
        described.push((step.line, format!("the shell ended in `{}`", step.command)));
    }
    described
}

/// The output and the exit code of each command.
fn play(tulving: &Tulving, steps: &[Step], address: &str) -> Vec<(String, i32)> {
    let (bin, work) = (tulving.folder().join("bin"), tulving.folder().join("work"));
    fs::create_dir(&bin).expect("a folder");
    fs::create_dir(&work).expect("a folder");
    symlink(env!("CARGO_BIN_EXE_tulving"), bin.join("tulving")).expect("a link");
    let script: String = steps
        .iter()
        .map(|step| {
            let command = step.command.replace(ADDRESS, address);
            format!("{{\n{command}\n}} </dev/null\nprintf '{END}%d{END}' $?\n")
        })
        .collect();
    let file = tulving.folder().join("walk.sh");
    fs::write(&file, format!("exec 2>&1\n{script}")).expect("a file");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("/bin/sh")
        .arg(&file)
        .env_clear()
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("HOME", tulving.folder())
        .env("COLUMNS", "120")
        .current_dir(&work)
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let output = String::from_utf8(output.stdout).expect("text");
    let parts: Vec<&str> = output.split(END).collect();
    let ends = parts.chunks_exact(2).map(|end| (end[0].to_owned(), end[1].parse().expect("a code")));
    ends.collect()
}

/// Returns true if the output is the one on the page, except for `…` and values that differ from run to run.
fn fits(shown: &str, said: &str) -> bool {
    let (shown, said) = (masked(shown), masked(said));
    let lines = shown.trim_end().lines().map(|line| match line.trim() {
        "…" => "(?:.*\n)*?".to_owned(),
        _ => regex::escape(line.trim_end()).replace('…', ".*") + "\n",
    });
    let pattern: String = lines.collect();
    let said: String = said.trim_end().lines().map(|line| format!("{}\n", line.trim_end())).collect();
    Regex::new(&format!(r"\A{pattern}\z")).expect("a pattern").is_match(&said)
}

fn masked(text: &str) -> String {
    MASKS.iter().fold(text.to_owned(), |text, (pattern, name)| {
        Regex::new(pattern).expect("a pattern").replace_all(&text, *name).into_owned()
    })
}

#[test]
fn commands_and_what_is_open_in_their_output_are_read() {
    let mut steps = Vec::new();
    read(7, "$ a \\\n    b\nc\n\n$ d <<E\n> e\n> E\n", &mut steps);
    let described: Vec<(usize, &str, Option<&str>)> =
        steps.iter().map(|step| (step.line, step.command.as_str(), step.shown.as_deref())).collect();
    assert_eq!(described, [(7, "a \\\n    b", Some("c\n\n")), (11, "d <<E\ne\nE", Some(""))]);

    assert!(fits("Saved #1\n\n", "Saved #1\n"));
    assert!(fits("2026-01-02  just now  x", "2027-03-04  3 min     x\n"), "days and ages may differ");
    assert!(fits("a\n…\nd", "a\nb\nc\nd\n") && fits("a\n…\nd", "a\nd\n"));
    assert!(fits("a … d", "a b (c) d"));
    assert!(!fits("a … d", "a b\nd"), "a part of a line is not two lines");
    assert!(!fits("", "something"), "what prints nothing must say nothing");
    assert!(!fits("Saved #1", "Saved #2"));
    assert!(!fits("a\nb", "a"));
}
