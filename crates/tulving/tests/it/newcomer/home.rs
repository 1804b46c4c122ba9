//! Homes that are not there, not a folder, read-only, full, copied, damaged, of another version, or deleted while in use.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{note, run_with};
use crate::bad_home::{public_binary, run_unprivileged};
use crate::binary::{Transcript, Tulving, assert_transcript, finish};
use crate::serve::client::Server;

/// The database of a home with one memory, and no other files.
fn used() -> Tulving {
    let tulving = Tulving::new();
    tulving.ok(&["save", "I like tea"]);
    tulving
}

#[test]
fn a_home_that_cannot_be_one_is_named() {
    let tulving = Tulving::new();
    fs::write(tulving.home(), "mine").expect("written");
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["save", "I like tea"]).run(&["save", "I like tea", "--home", "home/below"]);
    transcript.run(&["save", "I like tea", "--home", "~/memories"]);
    run_with(&mut transcript, &tulving, &[("TULVING_HOME", "~/memories")], &["list"]);
    let mut command = tulving.command(&["list"]);
    command.env_remove("TULVING_HOME").env("HOME", "/dev/null");
    note(&mut transcript, "HOME=/dev/null tulving list", command);
    assert_transcript!(transcript.run(&["doctor", "--home", "nowhere"]));
    assert!(!tulving.folder().join("~").exists() && !tulving.folder().join("nowhere").exists());
}

#[test]
fn a_store_that_was_deleted_is_missed_and_its_token_is_made_anew() {
    let tulving = used();
    let before = fs::read_to_string(tulving.home().join("api-token")).expect("a token");
    for name in ["tulving.db", "tulving.db-wal", "tulving.db-shm"] {
        let _ = fs::remove_file(tulving.home().join(name));
    }
    assert_transcript!(Transcript::new(&tulving).run(&["list"]).run(&["list"]));
    let token = fs::read_to_string(tulving.home().join("api-token")).expect("a token");
    assert_ne!(token, before);
    let mut command = tulving.command(&["list"]);
    command.env("TULVING_TOKEN", token.trim());
    assert_eq!(finish(command, b"").code, 0, "the token in the home is one");
}

#[test]
fn a_token_that_was_rotated_or_whose_file_was_deleted_is_worth_nothing() {
    let tulving = used();
    tulving.ok(&["token", "create", "--for", "helper", "--label", "home"]);
    let file = tulving.home().join("api-token");
    let in_home = || fs::read_to_string(&file).expect("a token").trim().to_owned();
    let acts = |token: &str| {
        let mut command = tulving.command(&["list"]);
        command.env("TULVING_TOKEN", token);
        finish(command, b"").code
    };
    let first = in_home();
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["token", "rotate"]);
    let second = in_home();
    fs::remove_file(&file).expect("removed");
    transcript.run(&["list"]).run(&["list"]);
    let third = in_home();
    tulving.write("home/api-token", "broken\n");
    transcript.run(&["token", "rotate", "--json"]);
    assert_transcript!(transcript);
    let codes = [&first, &second, &third, &in_home()].map(|token| acts(token));
    assert_eq!(codes, [8, 8, 8, 0], "only the last one is worth something");
    let tokens = tulving.json(&["token", "list"])["tokens"].clone();
    let live = |token: &&serde_json::Value| token["revoked_at"].is_null();
    let live: Vec<_> = tokens.as_array().expect("a list").iter().filter(live).collect();
    assert_eq!(live.len(), 2, "that of the helper stays, whatever its label: {live:?}");
}

#[test]
fn a_dump_that_is_imported_leads_to_load() {
    let tulving = used();
    tulving.ok(&["dump", "memories.jsonl"]);
    assert_transcript!(Transcript::new(&tulving).run(&["import", "memories.jsonl"]));
}

#[test]
fn a_read_only_home_is_named_with_another_choice() {
    let tulving = Tulving::new();
    let binary = public_binary(tulving.folder());
    fs::create_dir(tulving.home()).expect("a home");
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    let mut transcript = Transcript::new(&tulving);
    let mut run = |home: &Path, args: &[&str]| {
        transcript.note(&format!("$ tulving {}", args.join(" ")), &run_unprivileged(&binary, home, args));
    };
    mode(&tulving.home(), 0o555);
    run(&tulving.home(), &["save", "tea"]);
    run(&tulving.home(), &["doctor"]);
    mode(&tulving.home(), 0o777);
    tulving.write("home/config.toml", "");
    mode(&tulving.home().join("config.toml"), 0o000);
    run(&tulving.home(), &["list"]);
    mode(&tulving.home().join("config.toml"), 0o600);
    mode(tulving.folder(), 0o555);
    run(&tulving.folder().join("new"), &["save", "tea"]);
    mode(tulving.folder(), 0o755);
    assert_transcript!(transcript);
}

#[test]
fn where_nothing_more_can_be_written_that_is_said_and_nothing_is_lost() {
    let tulving = used();
    let mut transcript = Transcript::new(&tulving);
    tulving.write("long.txt", "tea ".repeat(200_000));
    // Without the signal a write beyond the limit fails as one on a full disk does.
    let mut limited = |typed: &str, script: &str, blocks: u32| {
        let command = tulving.shell(&format!("trap '' XFSZ; ulimit -f {blocks}; {script}"), &[]);
        note(&mut transcript, typed, command);
    };
    limited("tulving save - < long.txt", "\"$0\" save - < long.txt", 900);
    limited("tulving --home new save tea", "\"$0\" --home new save tea", 40);
    assert_transcript!(transcript.run(&["list"]));
    tulving.assert_healthy();
}

#[test]
fn a_database_that_is_none_is_named_and_left_alone() {
    let mut described = String::new();
    let mut tell = |name: &str, damage: &dyn Fn(&Path), lines: &[&[&str]]| {
        let tulving = used();
        let database = tulving.home().join("tulving.db");
        damage(&database);
        let before = fs::read(&database).ok();
        let mut transcript = Transcript::new(&tulving);
        for line in lines {
            transcript.run(line);
        }
        assert_eq!(fs::read(&database).ok(), before, "{name}: it was touched");
        described.push_str(&format!("# {name}\n{}", transcript.text()));
    };
    let usual: &[&[&str]] = &[&["list"], &["doctor"]];
    tell("a letter", &|file| fs::write(file, "Dear friend, ".repeat(100)).expect("written"), usual);
    tell("another program's", &|file| other_programs(file), usual);
    tell("cut in half", &|file| cut(file, 2), &[&["list"], &["save", "tea"], &["doctor"]]);
    tell("emptied", &|file| fs::write(file, "").expect("emptied"), usual);
    tell("of a newer version", &|file| newer(file), usual);
    let folder = |file: &Path| {
        fs::remove_file(file).expect("removed");
        fs::create_dir(file).expect("made");
    };
    tell("a folder", &folder, usual);
    let filters = [(r"knows up to \d+", "knows up to [schema]")];
    insta::with_settings!({ filters => filters, omit_expression => true }, { insta::assert_snapshot!(described) });
}

fn other_programs(file: &Path) {
    fs::remove_file(file).expect("removed");
    let connection = rusqlite::Connection::open(file).expect("a database");
    connection.execute_batch("CREATE TABLE recipes (name TEXT);").expect("made");
}

fn newer(file: &Path) {
    let connection = rusqlite::Connection::open(file).expect("a database");
    connection.execute_batch("PRAGMA user_version = 999; PRAGMA journal_mode = DELETE;").expect("set");
}

fn cut(file: &Path, parts: usize) {
    let whole = fs::read(file).expect("there");
    fs::write(file, &whole[..whole.len() / parts]).expect("cut");
}

#[test]
fn an_emptied_database_is_replaced_by_a_backup() {
    let tulving = used();
    tulving.ok(&["backup", "create", "copy.db"]);
    fs::write(tulving.home().join("tulving.db"), "").expect("emptied");
    let run = tulving.run(&["backup", "restore", "copy.db", "--yes"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(tulving.ok(&["list"]).contains("I like tea"));
}

#[test]
fn a_home_that_was_copied_is_a_home_and_what_both_have_is_told_apart() {
    let tulving = used();
    let copy = tulving.folder().join("copy");
    let copied = Command::new("cp").arg("-r").arg(tulving.home()).arg(copy).status();
    assert!(copied.expect("cp starts").success());
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["save", "I like coffee"]).run(&["--home", "copy", "save", "I like cocoa"]);
    transcript.run(&["dump", "first.jsonl"]).run(&["--home", "copy", "load", "first.jsonl"]);
    assert_transcript!(transcript.run(&["--home", "copy", "list"]));
}

#[test]
fn a_home_that_is_deleted_under_a_server_takes_nothing_more_and_gives_nothing() {
    let tulving = used();
    let server = Server::start(&tulving);
    fs::remove_dir_all(tulving.home()).expect("deleted");
    let answer = server.ask("POST", "/v1/memories", &[], b"{\"content\": \"I like coffee\"}");
    answer.assert_problem(503, "store_replaced");
    server.ask("GET", "/v1/memories", &[], b"").assert_problem(503, "store_replaced");
    server.says("was deleted or replaced while it was in use");
}

#[test]
fn a_damaged_index_is_made_anew() {
    let tulving = Tulving::new();
    let lines: String = (0..2_100).map(|n| format!("{{\"content\":\"Tea number {n}\"}}\n")).collect();
    tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    let manifest = tulving.home().join("index/manifest");
    assert!(manifest.exists(), "so many are in an index");
    let mut transcript = Transcript::new(&tulving);
    let mut look = |what: &str| {
        let mut run = finish(tulving.command(&["doctor"]), b"");
        let lines: Vec<&str> = run.out.lines().collect();
        let at = lines.iter().position(|line| line.contains("  index  ")).expect("a line");
        let hints = lines[at + 1..].iter().take_while(|line| line.trim_start().starts_with("hint:")).count();
        run.out = lines[at..=at + hints].join("\n") + "\n";
        transcript.note(&format!("# {what}\n$ tulving doctor"), &run);
        let found = tulving.ok(&["recall", "Tea number 77", "--limit", "1"]);
        assert!(found.contains("Tea number 77"), "{what}: {found}");
    };
    fs::write(&manifest, "garbage").expect("written");
    look("the manifest is garbage");
    fs::remove_dir_all(tulving.home().join("index")).expect("removed");
    look("the index was deleted");
    fs::remove_dir_all(tulving.home().join("index")).expect("removed");
    fs::write(tulving.home().join("index"), "mine").expect("written");
    look("a file is in its place");
    assert_transcript!(transcript);
}

#[test]
fn a_token_file_that_holds_none_is_said_by_the_server() {
    let tulving = used();
    tulving.write("home/api-token", "broken\n");
    let mut command = tulving.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("a line");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let line = line.replace(&tulving.folder().display().to_string(), "[folder]");
    assert_eq!(
        line.trim(),
        "warning: [folder]/home/api-token contains no valid token of this home; `tulving token rotate` makes a \
         new one"
    );
}
