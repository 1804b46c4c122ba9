//! A separate home, the binary in a clean environment, and transcripts for snapshots.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The binary with its own home.
pub(crate) struct Tulving {
    folder: TempDir,
}

/// The output of a run, and its exit code.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// Most tests are about other things than the model, and loading it takes longer than all else they do.
pub(crate) const WITHOUT_MODEL: (&str, &str) = ("TULVING_EMBEDDING_PROVIDER", "off");

/// The binary, without the environment of this process, and without the model.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tulving"));
    let (variable, value) = WITHOUT_MODEL;
    command.env_clear().env("TULVING_HOME", home).env(variable, value).stdin(Stdio::null());
    command
}

/// Runs a command to its end, with `input` as its standard input.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Run {
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
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A folder for other files of the test.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes such a file, by its path below that folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.home());
        command.args(args).current_dir(self.folder());
        command
    }

    /// A shell that runs `script` on this home, with the binary as `$0` and `args` after it.
    pub(crate) fn shell(&self, script: &str, args: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let (variable, value) = WITHOUT_MODEL;
        command.env_clear().env("PATH", path).env("TULVING_HOME", self.home()).current_dir(self.folder());
        command.env(variable, value);
        command.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_tulving")).args(args).stdin(Stdio::null());
        command
    }

    /// The ids of all memories of a space.
    pub(crate) fn all_ids(&self, space: &str) -> HashSet<String> {
        let page = self.json(&["list", "--all", "--space", space]);
        let memories = page["memories"].as_array().expect("a list");
        memories.iter().map(|memory| memory["id"].as_str().expect("an id").to_owned()).collect()
    }

    /// The files of the home that contain a text, at any depth.
    pub(crate) fn files_with(&self, text: &str) -> Vec<String> {
        let (mut holding, mut folders) = (Vec::new(), vec![self.home()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(bytes) = std::fs::read(&path)
                    && bytes.windows(text.len()).any(|part| part == text.as_bytes())
                {
                    holding.push(path.display().to_string());
                }
            }
        }
        holding
    }

    /// Runs `doctor --deep`, which must find nothing bad.
    pub(crate) fn assert_healthy(&self) {
        let run = self.run(&["doctor", "--deep"]);
        assert_eq!(run.code, 0, "{}{}", run.out, run.err);
        assert!(!run.out.lines().any(|line| line.starts_with("warn")), "{}", run.out);
    }

    /// Writes the configuration of the home in one step, as editors do, readable only by its owner.
    pub(crate) fn configure(&self, text: &str) {
        std::fs::create_dir_all(self.home()).expect("a home");
        let new = self.home().join("config.toml.new");
        std::fs::write(&new, text).expect("written");
        std::fs::set_permissions(&new, Permissions::from_mode(0o600)).expect("changed");
        std::fs::rename(new, self.home().join("config.toml")).expect("in place");
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args), b"")
    }

    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Run {
        finish(self.command(args), input)
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, 0, "tulving {args:?}: {}", run.err);
        run.out
    }

    /// Runs a command that must succeed with `--json`, and returns the document.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let out = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("tulving {args:?}: {error}: {out}"))
    }

    /// Runs a command that must fail with `--json`, and returns the error and the exit code.
    pub(crate) fn json_error(&self, args: &[&str]) -> (serde_json::Value, i32) {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!(run.out, "", "nothing but results on standard output");
        let document: serde_json::Value = serde_json::from_str(&run.err).expect("one document");
        (document["error"].clone(), run.code)
    }
}

/// The contents of the memories of a document.
pub(crate) fn contents(document: &serde_json::Value) -> Vec<&str> {
    let memories = document["memories"].as_array().expect("a list");
    memories.iter().map(|memory| memory["content"].as_str().expect("a text")).collect()
}

/// The commands and their output, in order.
pub(crate) struct Transcript<'a> {
    tulving: &'a Tulving,
    text: String,
}

impl<'a> Transcript<'a> {
    pub(crate) fn new(tulving: &'a Tulving) -> Self {
        Self { tulving, text: String::new() }
    }

    /// Runs a command and records its output. Lines of standard error begin with `! `.
    pub(crate) fn run(&mut self, args: &[&str]) -> &mut Self {
        self.run_with(args, b"")
    }

    pub(crate) fn run_with(&mut self, args: &[&str], input: &[u8]) -> &mut Self {
        let shown: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        self.note(&format!("$ tulving {}", shown.join(" ")), &self.tulving.run_with(args, input))
    }

    pub(crate) fn note(&mut self, typed: &str, run: &Run) -> &mut Self {
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

    /// Removes the width of columns with paths, which differs from machine to machine.
    pub(crate) fn without_columns(&mut self) -> &mut Self {
        let squeezed: Vec<String> = self.text.lines().map(squeeze).collect();
        self.text = squeezed.join("\n");
        self
    }

    /// The transcript, with the folder of the test called `[folder]`.
    pub(crate) fn text(&self) -> String {
        self.text.replace(&self.tulving.folder().display().to_string(), "[folder]")
    }
}

fn squeeze(line: &str) -> String {
    let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    cells.join("  ")
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

/// The values that differ from run to run, by name.
pub(crate) const FILTERS: [(&str, &str); 9] = [
    (r"mem_[0-9a-f]{32}", "[id]"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]"),
    (r"tlv_[A-Za-z0-9_-]{43}", "[token]"),
    (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} UTC", "[time]"),
    (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z", "[time]"),
    (r"before-restore-\w+\.tar", "before-restore-[time].tar"),
    (r"--cursor [A-Za-z0-9_-]{50}", "--cursor [cursor]"),
    (r"\d+ (KiB|MiB|GiB) are free", "[size] are free"),
    (r"\b[0-9a-f]{12}\b", "[proposal]"),
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

/// The plain UUID of a memory's id.
pub(crate) fn uuid_of(id: &str) -> String {
    let id = id.trim_start_matches("mem_");
    [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-")
}
