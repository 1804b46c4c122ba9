//! A home of its own, the binary in a clean environment, and transcripts for snapshots.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The binary with a home of its own.
pub struct Tulving {
    folder: TempDir,
}

/// What a run said, and how it ended.
#[derive(Debug)]
pub struct Run {
    pub out: String,
    pub err: String,
    pub code: i32,
}

/// The binary, with nothing of this process' environment.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tulving"));
    command.env_clear().env("TULVING_HOME", home).stdin(Stdio::null());
    command
}

/// Runs a command to its end, with `input` as its standard input.
pub fn finish(mut command: Command, input: &[u8]) -> Run {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A child that reads nothing closes its end, which is its right.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the binary ends");
    Run {
        out: String::from_utf8(output.stdout).expect("the output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("the messages are UTF-8"),
        code: output.status.code().expect("it ended by itself"),
    }
}

impl Tulving {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A folder for other files of the test.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.home());
        command.args(args).current_dir(self.folder());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args), b"")
    }

    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Run {
        finish(self.command(args), input)
    }

    /// Runs what must succeed, and gives its standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, 0, "tulving {args:?}: {}", run.err);
        run.out
    }

    /// Runs what must succeed with `--json`, and gives the document.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let out = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("tulving {args:?}: {error}: {out}"))
    }

    /// Runs what must fail with `--json`, and gives the error and the exit code.
    pub fn json_error(&self, args: &[&str]) -> (serde_json::Value, i32) {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!(run.out, "", "nothing but results on standard output");
        let document: serde_json::Value = serde_json::from_str(&run.err).expect("one document");
        (document["error"].clone(), run.code)
    }
}

/// What was typed and what came, one command after the other.
pub struct Transcript<'a> {
    tulving: &'a Tulving,
    text: String,
}

impl<'a> Transcript<'a> {
    pub fn new(tulving: &'a Tulving) -> Self {
        Self { tulving, text: String::new() }
    }

    /// Runs a command and writes down what it said. Lines of standard error begin with `! `.
    pub fn run(&mut self, args: &[&str]) -> &mut Self {
        self.run_with(args, b"")
    }

    pub fn run_with(&mut self, args: &[&str], input: &[u8]) -> &mut Self {
        let shown: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        self.note(&format!("$ tulving {}", shown.join(" ")), &self.tulving.run_with(args, input))
    }

    pub fn note(&mut self, typed: &str, run: &Run) -> &mut Self {
        self.text.push_str(typed.trim_end());
        self.text.push('\n');
        self.text.push_str(&run.out);
        for line in run.err.lines() {
            self.text.push_str(format!("! {line}").trim_end());
            self.text.push('\n');
        }
        if run.code != 0 {
            self.text.push_str(&format!("[exit {}]\n", run.code));
        }
        self.text.push('\n');
        self
    }

    /// The transcript, with the folder of the test called `[folder]`.
    pub fn text(&self) -> String {
        self.text.replace(&self.tulving.folder().display().to_string(), "[folder]")
    }
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        return arg.to_owned();
    }
    let shown: String = arg.chars().take(60).collect();
    let rest = if shown.len() < arg.len() { "…" } else { "" };
    format!("'{}{rest}'", shown.escape_debug())
}

/// What differs from run to run, by its name.
pub const FILTERS: [(&str, &str); 7] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]"),
    (r"tlv_[A-Za-z0-9_-]{43}", "[token]"),
    (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC", "[time]"),
    (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z", "[time]"),
    (r"before-restore-\w+\.db", "before-restore-[time].db"),
    (r"--cursor [A-Za-z0-9_-]{50}", "--cursor [cursor]"),
    (r"\d+ (KiB|MiB|GiB) are free", "[size] are free"),
];

/// Compares a transcript with its snapshot.
macro_rules! assert_transcript {
    ($transcript:expr) => {
        insta::with_settings!({ filters => $crate::binary::FILTERS, omit_expression => true }, {
            insta::assert_snapshot!($transcript.text());
        });
    };
}
pub(crate) use assert_transcript;
