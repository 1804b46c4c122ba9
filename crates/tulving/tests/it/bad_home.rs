//! Homes that cannot be used: a file, read-only, on a full disk. A clear error, exit code 9, nothing lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{Run, Transcript, Tulving, WITHOUT_MODEL, assert_transcript, finish};
use crate::serve::client::Server;

/// The user id of `nobody`, or of any other user than root.
const NOBODY: u32 = 65_534;

#[test]
fn a_home_that_is_a_file_is_named_and_left_alone() {
    let tulving = Tulving::new();
    fs::write(tulving.home(), "mine").expect("written");
    assert_transcript!(Transcript::new(&tulving).run(&["save", "one"]).run(&["doctor"]).run(&[
        "list",
        "--home",
        "home/below"
    ]));
    assert_eq!(fs::read_to_string(tulving.home()).expect("still there"), "mine");
}

#[test]
fn files_of_others_are_named_and_left_alone() {
    let tulving = Tulving::new();
    fs::create_dir(tulving.home()).expect("a home");
    let database = tulving.home().join("tulving.db");
    fs::write(&database, "not a database at all, but a letter to a friend. ".repeat(50)).expect("written");
    let before = fs::read(&database).expect("there");
    let run = tulving.run(&["save", "one"]);
    assert_eq!(run.code, 7, "{}", run.err);
    assert!(run.err.contains("tulving.db"), "{}", run.err);
    assert_eq!(fs::read(&database).expect("there"), before);
}

/// Runs a command that must end by itself soon.
fn run_soon(tulving: &Tulving, args: &[&str]) -> Run {
    let mut command = tulving.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let begun = Instant::now();
    while child.try_wait().expect("ours").is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().expect("ours");
            child.wait().expect("ours");
            panic!("tulving {args:?} waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it ended");
    Run {
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
        code: output.status.code().expect("it ended by itself"),
    }
}

#[test]
fn what_is_no_file_in_the_place_of_one_is_named_and_not_waited_for() {
    let pipe = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    };
    let socket = |path: &Path| drop(UnixListener::bind(path).expect("bound"));
    let folder = |path: &Path| fs::create_dir(path).expect("made");
    let device = |path: &Path| symlink("/dev/zero", path).expect("linked");
    type Make = dyn Fn(&Path);
    let makes: [(&str, &Make); 4] =
        [("a pipe", &pipe), ("a socket", &socket), ("a folder", &folder), ("a device", &device)];
    for (what, make) in makes {
        for (name, args) in [
            ("config.toml", &["list"][..]),
            ("restore.lock", &["save", "one"]),
            ("tulving.db", &["list"]),
            ("tulving.db-wal", &["list"]),
            ("key.txt", &["llm", "test"]),
        ] {
            let tulving = Tulving::new();
            match name {
                "key.txt" => tulving.configure(
                    "[llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9\"\nkey_file = \"key.txt\"\n",
                ),
                _ => fs::create_dir(tulving.home()).expect("a home"),
            }
            make(&tulving.home().join(name));
            let run = run_soon(&tulving, args);
            assert_ne!(run.code, 0, "{what} as {name}: {}", run.out);
            assert!(run.err.contains(name) && run.err.contains(what), "{what} as {name}: {}", run.err);
        }
    }
}

/// A copy of the binary that anybody may run, in a folder that anybody may enter.
pub(crate) fn public_binary(folder: &Path) -> PathBuf {
    let binary = folder.join("tulving");
    // Another process copies the file: if this one had it open for writing, it would be "busy" in a child of another test.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_tulving")).arg(&binary).status();
    assert!(copied.is_ok_and(|status| status.success()), "the binary could not be copied");
    fs::set_permissions(&binary, Permissions::from_mode(0o755)).expect("changed");
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("changed");
    binary
}

/// Runs the binary without root's privileges.
pub(crate) fn run_unprivileged(binary: &Path, home: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(binary);
    command.env_clear().env("TULVING_HOME", home).args(args);
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    finish(command, b"")
}

#[test]
fn a_read_only_home_is_said_to_be_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = public_binary(folder.path());
    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a home");
    let run = |args: &[&str]| run_unprivileged(&binary, &home, args);

    // A home that is empty and cannot be written.
    fs::set_permissions(&home, Permissions::from_mode(0o555)).expect("changed");
    let refused = run(&["save", "never"]);
    assert_eq!((refused.code, refused.out.as_str()), (9, ""), "{}", refused.err);
    assert!(refused.err.contains("cannot be written: Permission denied"), "{}", refused.err);
    assert!(refused.err.contains("hint: "), "{}", refused.err);

    // The same home, used first and read-only afterwards.
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    assert_eq!(run(&["save", "one"]).code, 0);
    fs::set_permissions(&home, Permissions::from_mode(0o555)).expect("changed");
    assert_eq!(run(&["save", "never"]).code, 9);
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    let listed = run(&["list"]);
    assert_eq!((listed.code, listed.out.lines().count()), (0, 1), "{}", listed.err);

    // A database that cannot be written in a home that can.
    let database = home.join("tulving.db");
    fs::set_permissions(&database, Permissions::from_mode(0o444)).expect("changed");
    let refused = run(&["save", "never"]);
    assert_eq!((refused.code, refused.out.as_str()), (9, ""), "{}", refused.err);
    assert!(refused.err.contains("tulving.db"), "{}", refused.err);
    fs::set_permissions(&database, Permissions::from_mode(0o600)).expect("changed");
    assert_eq!(run(&["list"]).out.lines().count(), 1);

    // A parent in which no home can be made.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).expect("changed");
    let refused = run_unprivileged(&binary, &folder.path().join("new"), &["save", "never"]);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("changed");
    assert_eq!(refused.code, 9, "{}", refused.err);
    assert!(refused.err.contains("cannot be created: Permission denied"), "{}", refused.err);
}

#[test]
fn doctor_finds_the_journal_of_a_home_that_can_only_be_read_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = public_binary(folder.path());
    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a home");
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    assert_eq!(run_unprivileged(&binary, &home, &["save", "one"]).code, 0);
    fs::set_permissions(&home, Permissions::from_mode(0o555)).expect("changed");
    let found = run_unprivileged(&binary, &home, &["doctor"]);
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    let journal = found.out.lines().find(|line| line.contains("journal")).expect("a finding");
    assert!(journal.starts_with("ok") && journal.ends_with("write-ahead log"), "{}", found.out);
    assert_eq!(found.code, 0, "{}", found.out);
}

/// Leaves a log with content next to the database, as a killed process does.
fn leave_log(database: &Path) {
    use rusqlite::config::DbConfig;
    let connection = rusqlite::Connection::open(database).expect("opened");
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("set");
    connection
        .execute_batch("INSERT OR REPLACE INTO meta (name, value) VALUES ('left', random())")
        .expect("written");
}

#[test]
fn a_home_that_can_only_be_read_answers_what_only_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = public_binary(folder.path());
    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a home");
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    let run = |args: &[&str]| {
        let mut command = Command::new(&binary);
        command.env_clear().env("TULVING_HOME", &home).env(WITHOUT_MODEL.0, WITHOUT_MODEL.1).args(args);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        finish(command, b"")
    };
    assert_eq!(run(&["save", "The build needs nasm", "--key", "build"]).code, 0);
    assert_eq!(run(&["save", "The build needs nasm and cmake", "--key", "build"]).code, 0);
    let database = home.join("tulving.db");
    let (log, memory) = (home.join("tulving.db-wal"), home.join("tulving.db-shm"));
    let open_to_all = || {
        for path in [&database, &log, &memory] {
            if path.exists() {
                fs::set_permissions(path, Permissions::from_mode(0o666)).expect("changed");
            }
        }
    };
    for state in ["closed", "killed", "killed, without its shared memory"] {
        fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
        if state != "closed" {
            leave_log(&database);
            assert!(log.metadata().is_ok_and(|log| log.len() > 0), "a log is left");
        }
        if state.ends_with("memory") {
            fs::remove_file(&memory).expect("removed");
        }
        open_to_all();
        fs::set_permissions(&home, Permissions::from_mode(0o555)).expect("changed");
        let before = fs::read(&database).expect("there");
        for args in [
            &["list"][..],
            &["get", "1"],
            &["recall", "what does the build need?"],
            &["recall", "nasm", "--json"],
            &["context"],
            &["history", "1"],
            &["timeline", "build"],
            &["related", "1"],
            &["audit", "1"],
            &["doctor"],
            &["usage"],
        ] {
            let answered = run(args);
            assert!(answered.code < 2, "{state}: {args:?}: {}", answered.err);
            assert!(!answered.err.contains("warning"), "{state}: {args:?}: {}", answered.err);
        }
        for args in [&["list"][..], &["recall", "nasm"]] {
            assert!(run(args).out.contains("nasm and cmake"), "{state}: {args:?}");
        }
        for args in [&["save", "never"][..], &["forget", "1"], &["pin", "1"]] {
            let refused = run(args);
            assert_eq!((refused.code, refused.out.as_str()), (9, ""), "{state}: {}", refused.err);
            assert!(refused.err.contains("cannot be written: Permission denied"), "{state}: {}", refused.err);
        }
        assert_eq!(fs::read(&database).expect("there"), before, "{state}: nothing was written");
    }
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    assert_eq!(run(&["save", "again"]).code, 0);
}

/// Checks a server on a read-only home: reads succeed, writes are refused with their own code, and nothing is written. Returns
/// its output on standard error.
fn serves_what_only_reads(command: impl Fn(&[&str]) -> Command, home: &Path) -> String {
    let before = fs::read(home.join("tulving.db")).expect("there");
    let server = Server::spawn(command(&["serve", "--listen", "127.0.0.1:0", "--json"]));
    for path in [
        "/v1/memories",
        "/v1/memories/1",
        "/v1/memories/1/history",
        "/v1/memories/1/related",
        "/v1/memories/search?q=nasm",
        "/v1/timeline?about=nasm",
        "/v1/context",
        "/v1/recovery",
        "/v1/turns",
        "/v1/journals",
        "/v1/long-term",
        "/v1/files",
        "/v1/quality",
        "/v1/spaces",
        "/v1/jobs",
        "/memory",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    assert!(server.get("/v1/memories/search?q=nasm").text().contains("nasm and cmake"));
    let json = [("Content-Type", "application/json")];
    for (method, path, body) in [
        ("POST", "/v1/memories", r#"{"content":"never"}"#),
        ("PATCH", "/v1/memories/1", r#"{"content":"never"}"#),
        ("DELETE", "/v1/memories/1", ""),
        ("POST", "/v1/memories/1/access", ""),
        ("POST", "/v1/memories/1/pin", ""),
        ("POST", "/v1/turns", r#"{"role":"user","content":"never"}"#),
        ("POST", "/v1/journals", r#"{"content":"never"}"#),
        ("PUT", "/v1/long-term", r#"{"content":"never"}"#),
        ("PUT", "/v1/files/memory/notes.md", r#"{"content":"never"}"#),
        ("POST", "/v1/memories", r#"{"file":{"name":"never.pdf","base64":"JVBERi0xLjc="}}"#),
        ("POST", "/v1/spaces", r#"{"name":"never"}"#),
        ("POST", "/v1/tokens", r#"{"name":"never"}"#),
        ("POST", "/v1/dialects/max/tools/remember", r#"{"category":"fact","content":"never"}"#),
        ("POST", "/v1/dialects/maven/tools/remember", r#"{"content":"never"}"#),
    ] {
        let answer = server.ask(method, path, &json, body.as_bytes());
        assert_eq!(answer.status, 503, "{method} {path}: {}", answer.text());
        let problem = answer.json();
        assert_eq!(problem["code"], "home_read_only", "{method} {path}: {problem}");
        let detail = problem["detail"].as_str().expect("a sentence");
        assert!(detail.starts_with("the store is read-only"), "{problem}");
        assert!(!detail.contains(&home.display().to_string()), "{problem}");
    }
    // By now all background work has tried to run.
    std::thread::sleep(Duration::from_secs(1));
    let said = server.stop();
    let warnings: Vec<&str> =
        said.lines().filter(|line| line.contains(" WARN ") || line.contains(" ERROR ")).collect();
    assert_eq!(warnings.len(), 1, "{said}");
    assert!(warnings[0].contains("can only be read"), "{said}");
    assert_eq!(fs::read(home.join("tulving.db")).expect("there"), before, "nothing was written");
    said
}

/// Checks the same for `tulving mcp`.
fn speaks_what_only_reads(command: impl Fn(&[&str]) -> Command) {
    let call = |id: u8, name: &str, arguments: serde_json::Value| {
        let params = serde_json::json!({ "name": name, "arguments": arguments });
        serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            .to_string()
    };
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let lines = [
        hello.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        call(2, "recall", serde_json::json!({ "query": "nasm" })),
        call(3, "context", serde_json::json!({})),
        call(4, "save", serde_json::json!({ "memories": [{ "content": "never" }] })),
        call(5, "forget", serde_json::json!({ "id": "#1" })),
        call(6, "log_turn", serde_json::json!({ "role": "user", "content": "never" })),
        call(
            7,
            "archive_conversation",
            serde_json::json!({ "messages": [{ "role": "user", "content": "never" }] }),
        ),
    ];
    let run = finish(command(&["mcp"]), format!("{}\n", lines.join("\n")).as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    let answers: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let answer = |id: u8| answers.iter().find(|answer| answer["id"] == id).expect("an answer");
    for id in [2, 3] {
        assert!(answer(id).to_string().contains("nasm and cmake"), "{}", answer(id));
    }
    for id in 4..=7 {
        let result = &answer(id)["result"];
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a sentence");
        assert!(text.starts_with("the store is read-only"), "{text}");
    }
    let warnings: Vec<&str> = run.err.lines().filter(|line| line.contains(" WARN ")).collect();
    assert_eq!(warnings.len(), 1, "{}", run.err);
}

#[test]
fn a_home_that_can_only_be_read_is_served_and_spoken_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = public_binary(folder.path());
    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a home");
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    let command = |args: &[&str]| {
        let mut command = Command::new(&binary);
        command.env_clear().env("TULVING_HOME", &home).env(WITHOUT_MODEL.0, WITHOUT_MODEL.1).args(args);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    assert_eq!(finish(command(&["save", "The build needs nasm and cmake"]), b"").code, 0);
    fs::set_permissions(&home, Permissions::from_mode(0o555)).expect("changed");
    serves_what_only_reads(command, &home);
    speaks_what_only_reads(command);
    fs::set_permissions(&home, Permissions::from_mode(0o777)).expect("changed");
    assert_eq!(finish(command(&["save", "again"]), b"").code, 0);
}

#[test]
fn a_home_on_a_read_only_file_system_is_served_and_spoken_for() {
    let Some(disk) = SmallDisk::mount(16) else {
        eprintln!("not tested: this machine does not allow to mount a small disk");
        return;
    };
    let home = disk.folder.path().join("home");
    let command = |args: &[&str]| {
        let mut command = crate::binary::command(&home);
        command.args(args);
        command
    };
    assert_eq!(finish(command(&["save", "The build needs nasm and cmake"]), b"").code, 0);
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(disk.folder.path()).status();
    assert!(remounted.is_ok_and(|status| status.success()), "the disk could not be made read-only");
    let said = serves_what_only_reads(command, &home);
    assert!(said.contains("can only be read"), "{said}");
    speaks_what_only_reads(command);
}

/// A separate file system, removed when it is dropped.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` where mounting is not allowed.
    fn mount(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={megabytes}m,mode=0755");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).output();
        mounted.ok().filter(|output| output.status.success()).map(|_| Self { folder })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.folder.path()).status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "the disk of the test could not be unmounted"
        );
    }
}

#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let Some(disk) = SmallDisk::mount(4) else {
        eprintln!("not tested: this machine does not allow to mount a small disk");
        return;
    };
    let home = disk.folder.path().join("home");
    let run = |args: &[&str], input: &[u8]| {
        let mut command = crate::binary::command(&home);
        command.args(args);
        finish(command, input)
    };
    assert_eq!(run(&["list"], b"").code, 0);
    let text = "x".repeat(50_000);
    let mut acknowledged = 0;
    let refused = loop {
        let saved = run(&["save", "-"], format!("{acknowledged} {text}").as_bytes());
        if saved.code != 0 {
            break saved;
        }
        acknowledged += 1;
        assert!(acknowledged < 200, "the disk never filled up");
    };
    assert!(acknowledged > 10, "only {acknowledged} fitted: {}", refused.err);
    assert_eq!((refused.code, refused.out.as_str()), (9, ""), "{}", refused.err);
    assert!(refused.err.contains("no space is left on the disk"), "{}", refused.err);
    assert!(refused.err.contains("what was acknowledged before is safe"), "{}", refused.err);

    // Still full: reading works, or says why it does not, and is not an excuse to lose anything.
    let listed = run(&["list", "--all"], b"");
    assert!(matches!(listed.code, 0 | 9), "{}", listed.err);

    let grown = Command::new("mount").args(["-o", "remount,size=64m"]).arg(disk.folder.path()).status();
    assert!(grown.is_ok_and(|status| status.success()), "the disk could not be enlarged");
    let listed = run(&["list", "--all", "--sort", "oldest", "--json"], b"");
    assert_eq!(listed.code, 0, "{}", listed.err);
    let document: serde_json::Value = serde_json::from_str(&listed.out).expect("a document");
    let memories = document["memories"].as_array().expect("a list");
    for (at, memory) in memories.iter().enumerate() {
        assert_eq!(memory["content"], format!("{at} {text}"));
    }
    assert_eq!(memories.len(), acknowledged, "what was refused is not there, what was acknowledged is");
    assert_eq!(run(&["save", "there is room again"], b"").code, 0);
    let doctor = run(&["doctor", "--deep"], b"");
    assert_eq!(doctor.code, 0, "{}", doctor.out);
}

#[test]
fn a_damaged_store_is_replaced_by_a_backup_and_kept() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "kept in the backup"]);
    tulving.ok(&["backup", "create", "copy.db"]);
    let database = tulving.home().join("tulving.db");
    let whole = fs::read(&database).expect("a database");
    for damaged in [whole[..whole.len() / 2].to_vec(), scrambled(&whole)] {
        fs::write(&database, &damaged).expect("damaged");
        let bad = tulving.run(&["backup", "restore", "nothing.db", "--yes"]);
        assert_ne!(bad.code, 0, "a backup that is not there restores nothing");
        assert_eq!(fs::read(&database).expect("still there"), damaged, "nor does it change anything");
        let run = tulving.run(&["backup", "restore", "copy.db", "--yes"]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.err.contains("damaged"), "{}", run.err);
        assert!(tulving.ok(&["recall", "kept"]).contains("kept in the backup"));
    }
    let kept = fs::read_dir(tulving.home().join("backups")).expect("backups").flatten();
    let damaged = kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("damaged-")).count();
    assert!(damaged >= 2, "{damaged}");
    let run = tulving.run(&["doctor", "--deep"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
}

#[test]
fn a_rescue_by_the_backup_of_another_home_renews_the_token() {
    let (tulving, other) = (Tulving::new(), Tulving::new());
    other.ok(&["save", "of another home"]);
    other.ok(&["backup", "create", "copy.db"]);
    let copy = other.folder().join("copy.db");
    tulving.ok(&["save", "of this home"]);
    let database = tulving.home().join("tulving.db");
    let whole = fs::read(&database).expect("a database");
    fs::write(&database, &whole[..whole.len() / 2]).expect("cut short");
    let run = tulving.run(&["backup", "restore", &copy.to_string_lossy(), "--yes"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let token = fs::read_to_string(tulving.home().join("api-token")).expect("a token");
    let mut command = tulving.command(&["list"]);
    command.env("TULVING_TOKEN", token.trim());
    let listed = finish(command, b"");
    assert_eq!((listed.code, listed.out.contains("of another home")), (0, true), "{}", listed.err);
    assert!(tulving.ok(&["audit"]).contains("backup_restored"));
}

#[test]
fn a_damaged_store_is_not_an_empty_one() {
    let tulving = Tulving::new();
    let lines: String = (0..200).map(|n| format!("{{\"content\":\"Line {n} of the ledger\"}}\n")).collect();
    tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    let database = tulving.home().join("tulving.db");
    let whole = fs::read(&database).expect("a database");
    for begin in (1..whole.len() / 4_096).map(|page| page * 4_096) {
        let mut damaged = whole.clone();
        for byte in &mut damaged[begin..] {
            *byte ^= 0x5a;
        }
        fs::write(&database, &damaged).expect("damaged");
        let run = tulving.run(&["recall", "ledger line 77"]);
        let found = run.code == 0 && run.out.contains("ledger");
        assert!(found || run.code == 7, "from {begin}: {} {}{}", run.code, run.out, run.err);
        for file in ["tulving.db-wal", "tulving.db-shm"] {
            let _ = fs::remove_file(tulving.home().join(file));
        }
    }
}

/// The same file with its pages after the first overwritten.
fn scrambled(whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for byte in &mut bytes[4_096..] {
        *byte ^= 0x5a;
    }
    bytes
}

#[test]
fn the_api_token_of_another_program_is_named_and_left_alone() {
    let tulving = Tulving::new();
    fs::create_dir(tulving.home()).expect("a home");
    let token = tulving.home().join("api-token");
    fs::write(&token, "ghp_16C7e42F292c6912E7710c838347Ae178B4a\n").expect("written");
    for command in [&["save", "one"][..], &["list"], &["serve", "--listen", "127.0.0.1:0"]] {
        let run = tulving.run(command);
        assert_eq!(run.code, 9, "{}", run.err);
        assert!(run.err.contains("api-token cannot be used as the token of this home"), "{}", run.err);
    }
    let left: Vec<_> = fs::read_dir(tulving.home()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "nothing was made beside it: {left:?}");
    assert_eq!(fs::read_to_string(&token).expect("there"), "ghp_16C7e42F292c6912E7710c838347Ae178B4a\n");
}
