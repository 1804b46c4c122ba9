//! Backends as separate programs: the example `examples/plugin`, and one that misbehaves.
//!
//! No test measures durations, except for limits that only a hanging process would reach.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::{Tulving, contents, finish};
use crate::serve::client::Server;

/// A duration that only a hanging process reaches.
const HANGS: Duration = Duration::from_secs(30);
/// The timeout of a plugin that is expected to answer.
const PATIENT: u64 = 25_000;
/// The timeout of a plugin that never answers.
const HASTY: u64 = 300;

fn python() -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("python3"));
    found.find(|file| file.exists()).expect("Python 3 is there")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The example plugin, with its memories in this file of the test.
fn notes(tulving: &Tulving, file: &str) -> Vec<String> {
    let example = repository().join("examples/plugin/notes.py");
    let words = [python(), example, tulving.folder().join(file)];
    words.iter().map(|word| word.to_str().expect("text").to_owned()).collect()
}

/// The plugin that misbehaves in this way.
fn bad(tulving: &Tulving, how: &str, extra: &str) -> Vec<String> {
    let mut words = notes(tulving, "bad.json");
    words.insert(
        1,
        repository().join("crates/tulving/tests/plugin/bad.py").to_str().expect("text").to_owned(),
    );
    words.extend([how.to_owned(), extra.to_owned()]);
    words
}

fn backend(name: &str, role: &str, command: &[String], timeout: u64) -> String {
    let command = json!(command);
    format!(
        "[[backends]]\nname = \"{name}\"\nrole = \"{role}\"\ncommand = {command}\ntimeout_ms = {timeout}\n\n"
    )
}

fn built_in(role: &str) -> String {
    format!("[[backends]]\nname = \"sqlite-memory\"\nrole = \"{role}\"\n\n")
}

/// A home whose only backend is the example.
fn with_notes() -> Tulving {
    let tulving = Tulving::new();
    tulving.configure(&backend("notes", "primary", &notes(&tulving, "notes.json"), PATIENT));
    tulving
}

fn call(tulving: &Tulving, dialect: &str, tool: &str, arguments: &Value) -> String {
    let out = tulving.ok(&["tool", dialect, tool, &arguments.to_string()]);
    out.trim_end().to_owned()
}

/// The fields of a process after its name: its state, its parent, and more.
fn known_of(id: &str) -> Vec<String> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name.split_whitespace().map(str::to_owned).collect()
}

/// Waits until these processes have ended.
#[track_caller]
fn ended(ids: &[String]) {
    let begun = Instant::now();
    while ids.iter().any(|id| runs(id)) {
        assert!(begun.elapsed() < HANGS, "of {ids:?} one still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns true if a process runs. A process that has ended but was not waited for does not run.
fn runs(id: &str) -> bool {
    known_of(id).first().is_some_and(|state| state != "Z" && state != "X")
}

#[test]
fn the_example_as_primary_does_all_that_it_offers() {
    let tulving = with_notes();
    let saved = tulving.json(&["save", "Marta owns billing", "--key", "billing", "--tag", "team"]);
    let id = saved["id"].as_str().expect("an id");
    assert_eq!((&saved["status"], &saved["number"]), (&json!("created"), &Value::Null));
    assert_eq!(tulving.json(&["save", "Jonas owns billing", "--key", "billing"])["status"], "updated");
    tulving.ok(&["save", "The kettle is in the kitchen"]);
    let memory = tulving.json(&["get", id]);
    let shown = [&memory["content"], &memory["backend"], &memory["version"], &memory["tags"][0]];
    assert_eq!(shown, [&json!("Jonas owns billing"), &json!("notes"), &json!(2), &json!("team")]);
    let found = tulving.json(&["recall", "who owns billing?"]);
    assert_eq!(contents(&found), ["Jonas owns billing"]);
    assert_eq!((&found["evidence"], &found["memories"][0]["backend"]), (&json!("weak"), &json!("notes")));
    assert_eq!(contents(&tulving.json(&["list"])), ["The kettle is in the kitchen", "Jonas owns billing"]);
    let first = tulving.json(&["list", "--limit", "1"]);
    let cursor = first["next_cursor"].as_str().expect("a second page");
    assert_eq!(
        contents(&tulving.json(&["list", "--limit", "1", "--cursor", cursor])),
        ["Jonas owns billing"]
    );
    let text = tulving.ok(&["list"]);
    assert!(text.contains("[from notes] The kettle is in the kitchen"), "{text}");
    let (error, code) = tulving.json_error(&["update", id, "other"]);
    assert_eq!((&error["code"], code), (&json!("not_offered"), 2), "{error}");
    assert_eq!(error["message"], "the backend `notes` does not offer update");
    tulving.ok(&["forget", id]);
    assert_eq!(tulving.json_error(&["get", id]).1, 3);
    // The store has none of it: without the plugin there is nothing.
    std::fs::remove_file(tulving.home().join("config.toml")).expect("removed");
    assert_eq!(contents(&tulving.json(&["list"])), [""; 0]);
}

#[test]
fn the_dialects_speak_to_a_plugin_as_they_do_to_the_store() {
    let tulving = with_notes();
    let said =
        call(&tulving, "max", "remember", &json!({ "category": "preference", "content": "Likes tea" }));
    let id =
        said.strip_prefix("Remembered (").and_then(|rest| rest.split(',').next()).expect("an id").to_owned();
    assert_eq!(said, format!("Remembered ({id}, preference): \"Likes tea\""));
    let found = call(&tulving, "max", "recall", &json!({ "keyword": "TEA" }));
    assert!(
        found.starts_with(&format!("Found 1 memory:\n  • {id} [preference] Likes tea (user, ")),
        "{found}"
    );
    assert_eq!(
        call(&tulving, "max", "forget", &json!({ "memory_id": id })),
        format!("Memory {id} forgotten.")
    );
    let save = json!({ "key": "favorite-color", "content": "blue" });
    assert_eq!(call(&tulving, "groups", "save_memory", &save), "Saved memory \"favorite-color\" (core).");
    let save = json!({ "key": "favorite-color", "content": "green" });
    assert_eq!(call(&tulving, "groups", "save_memory", &save), "Updated memory \"favorite-color\" (core).");
    assert_eq!(call(&tulving, "groups", "list_memories", &json!({})), "1 memory:\n- favorite-color [core]");
    assert_eq!(
        call(&tulving, "groups", "recall_memories", &json!({ "query": "green" })),
        "Found 1 memory:\n- favorite-color [core]: green"
    );
    let forget = json!({ "key": "favorite-color" });
    assert_eq!(call(&tulving, "groups", "forget_memory", &forget), "Removed memory \"favorite-color\".");
    let saved =
        call(&tulving, "native", "save", &json!({ "memories": [{ "content": "Marta owns billing" }] }));
    assert!(saved.contains("\"created\""), "{saved}");
    let found = call(&tulving, "native", "recall", &json!({ "query": "who owns billing" }));
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(
        (contents(&found), &found["memories"][0]["backend"]),
        (vec!["Marta owns billing"], &json!("notes"))
    );
}

#[test]
fn the_example_as_secondary_is_read_and_merged() {
    let tulving = Tulving::new();
    let command = notes(&tulving, "notes.json");
    tulving.configure(&backend("notes", "primary", &command, PATIENT));
    tulving.ok(&["save", "billing is in the wiki"]);
    tulving.ok(&["save", "billing is known to both"]);
    tulving.configure(&(built_in("primary") + &backend("notes", "secondary", &command, PATIENT)));
    tulving.ok(&["save", "billing is known to both"]);
    let found = tulving.json(&["recall", "billing"]);
    assert_eq!(contents(&found), ["billing is known to both", "billing is in the wiki"]);
    let from = |at: usize| found["memories"][at].get("backend").cloned();
    assert_eq!((from(0), from(1)), (None, Some(json!("notes"))));
    assert_eq!((&found["total"], found.get("failed_backends")), (&json!(2), None));
    assert_eq!(contents(&tulving.json(&["list"])), ["billing is known to both", "billing is in the wiki"]);
    let id = found["memories"][1]["id"].as_str().expect("an id");
    assert_eq!(tulving.json(&["get", id])["backend"], "notes");
    assert_eq!(tulving.json_error(&["forget", id]).1, 3, "it is only read");
    let run = tulving.run(&["doctor"]);
    assert_eq!(run.code, 0, "{}", run.out);
    for line in [
        "ok    backend       sqlite-memory (primary): built in",
        "ok    backend       notes (secondary): version 1.0, offers save, recall, get, list, forget",
    ] {
        assert!(run.out.contains(line), "{}", run.out);
    }
}

/// The error for each kind of misbehaviour.
const WAYS: [(&str, &str, u64, &str); 10] = [
    ("hangs", "backend_timed_out", HASTY, "did not answer within 300 ms"),
    ("is deaf", "backend_timed_out", HASTY, "did not answer within 300 ms"),
    (
        "ends at once",
        "backend_gone",
        PATIENT,
        "exit status: 1; it said: ModuleNotFoundError: No module named 'wiki'",
    ),
    ("ends in the middle", "backend_gone", PATIENT, "exit status: 3; it said: RuntimeError: out of ideas"),
    ("floods its output", "backend_wrong", PATIENT, "it wrote a line of more than 16777216 bytes"),
    ("answers unasked", "backend_wrong", PATIENT, "it answered request 4711, which was not open"),
    ("answers garbage", "backend_wrong", PATIENT, "is not a JSON-RPC answer"),
    ("closes its output", "backend_gone", PATIENT, "it closed its standard output"),
    ("speaks otherwise", "backend_wrong", PATIENT, "it speaks the protocol 2 and not 1"),
    ("refuses", "backend_refused", PATIENT, "refused: the [31m disk is full"),
];

#[test]
fn a_secondary_that_misbehaves_is_named_and_costs_nothing_else() {
    let tulving = Tulving::new();
    let described = tulving.folder().join("ids").to_str().expect("text").to_owned();
    tulving.ok(&["save", "Marta owns billing"]);
    for (how, code, timeout, why) in WAYS {
        let command = bad(&tulving, how, &described);
        tulving.configure(&(built_in("primary") + &backend("bad", "secondary", &command, timeout)));
        let begun = Instant::now();
        let found = tulving.json(&["recall", "billing"]);
        assert!(begun.elapsed() < HANGS, "{how}");
        assert_eq!(contents(&found), ["Marta owns billing"], "{how}");
        let failed = &found["failed_backends"][0];
        assert_eq!((&failed["backend"], &failed["code"]), (&json!("bad"), &json!(code)), "{how}: {failed}");
        assert!(failed["why"].as_str().is_some_and(|text| text.contains(why)), "{how}: {failed}");
        let run = tulving.run(&["recall", "billing"]);
        assert!(run.err.contains("the backend `bad` "), "{how}: {}", run.err);
    }
    // The last of them is still there, and every dialect says so in its own way.
    for (dialect, tool, arguments) in [
        ("native", "recall", json!({ "query": "billing" })),
        ("max", "recall", json!({ "keyword": "billing" })),
        ("memax", "memax_recall", json!({ "query": "billing" })),
        ("memax", "memax_list", json!({})),
        ("groups", "recall_memories", json!({ "query": "billing" })),
        ("groups", "list_memories", json!({})),
        ("spacebot", "memory_recall", json!({ "query": "billing" })),
    ] {
        let said = call(&tulving, dialect, tool, &arguments);
        let failed = match dialect {
            "native" => {
                "\"backend\":\"bad\",\"code\":\"backend_refused\",\"why\":\"refused: the [31m disk is full\""
            }
            _ => "the backend `bad` refused: the [31m disk is full",
        };
        assert!(said.contains(failed), "{dialect}: {said}");
    }
}

#[test]
fn a_primary_that_misbehaves_is_an_error_with_a_name() {
    let tulving = Tulving::new();
    let described = tulving.folder().join("ids").to_str().expect("text").to_owned();
    let saves_another = ("saves another", "backend_wrong", PATIENT, "and saved");
    for (how, code, timeout, why) in WAYS.into_iter().chain([saves_another]) {
        tulving.configure(&backend("bad", "primary", &bad(&tulving, how, &described), timeout));
        let begun = Instant::now();
        let (error, exit) = tulving.json_error(&["save", "Marta owns billing"]);
        assert!(begun.elapsed() < HANGS, "{how}");
        assert_eq!(
            (&error["code"], &error["class"], exit),
            (&json!(code), &json!("upstream"), 6),
            "{how}: {error}"
        );
        let message = error["message"].as_str().expect("a message");
        assert!(message.starts_with("the backend `bad` ") && message.contains(why), "{how}: {message}");
    }
    let command = vec![tulving.folder().join("nothing").to_str().expect("text").to_owned()];
    tulving.configure(&backend("bad", "primary", &command, PATIENT));
    let (error, exit) = tulving.json_error(&["recall", "billing"]);
    assert_eq!((&error["code"], exit), (&json!("backend_not_started"), 6), "{error}");
    let run = tulving.run(&["doctor"]);
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(run.out.contains("bad   backend       bad (primary) cannot be started"), "{}", run.out);
    // What has nothing to do with memories goes on.
    tulving.ok(&["space", "list"]);
}

#[test]
fn what_a_plugin_lies_about_is_dropped_and_the_plugin_is_named() {
    let tulving = Tulving::new();
    let saved = tulving.json(&["save", "Marta owns billing"]);
    let own = saved["id"].as_str().expect("an id").to_owned();
    for (how, why, left) in [
        ("other space", Some("its space was not asked for"), 1),
        ("same id twice", Some("was given twice"), 2),
        ("id of another", Some("is that of a memory of the primary"), 1),
        ("malformed id", Some("is not an id"), 1),
        ("too long", Some("the limit is 3000000"), 1),
        ("private of another", None, 1),
    ] {
        let command = bad(&tulving, how, &own);
        tulving.configure(&(built_in("primary") + &backend("bad", "secondary", &command, PATIENT)));
        for args in [&["recall", "billing"][..], &["list"][..]] {
            let found = tulving.json(args);
            assert_eq!(contents(&found).len(), left, "{how}: {found}");
            assert_eq!(contents(&found)[0], "Marta owns billing", "{how}");
            let described = found["failed_backends"][0]["why"].as_str();
            match why {
                Some(why) => {
                    assert!(described.is_some_and(|described| described.contains(why)), "{how}: {found}");
                }
                None => assert_eq!(described, None, "{how}: to name it would say that it is there"),
            }
        }
        assert_eq!(tulving.json(&["get", &own])["content"], "Marta owns billing", "{how}");
    }
}

#[test]
fn a_plugin_that_complains_a_lot_or_is_told_a_lot_does_not_block() {
    let tulving = Tulving::new();
    tulving.configure(&backend("bad", "primary", &bad(&tulving, "complains a lot", ""), PATIENT));
    let begun = Instant::now();
    // More than a pipe holds, in both directions.
    let long = "word ".repeat(400_000);
    let run = tulving.run_with(&["save", "-"], long.as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(contents(&tulving.json(&["list"]))[0].len(), long.trim().len());
    assert!(begun.elapsed() < HANGS);
}

#[test]
fn nothing_is_left_of_a_plugin_that_hangs_nor_of_its_children() {
    let tulving = Tulving::new();
    let described = tulving.folder().join("ids");
    let command = bad(&tulving, "hangs", described.to_str().expect("text"));
    tulving.configure(&backend("bad", "primary", &command, 6_000));
    let (error, _) = tulving.json_error(&["save", "x"]);
    assert_eq!(error["code"], "backend_timed_out");
    let ids = std::fs::read_to_string(&described).expect("it was asked");
    ended(&ids.split(' ').map(str::to_owned).collect::<Vec<_>>());
}

#[test]
fn a_verb_that_a_plugin_does_not_offer_has_a_name_and_nothing_steps_in() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "billing is in the store"]);
    let command = bad(&tulving, "only recalls", "");
    tulving.configure(&(backend("bad", "primary", &command, PATIENT) + &built_in("secondary")));
    for args in [&["save", "x"][..], &["forget", "1"][..]] {
        let (error, code) = tulving.json_error(args);
        assert!([3, 2].contains(&code), "{error}");
    }
    let (error, _) = tulving.json_error(&["save", "x"]);
    assert_eq!(error["message"], "the backend `bad` does not offer save");
    assert_eq!(
        contents(&tulving.json(&["list"])),
        ["billing is in the store"],
        "nothing was saved elsewhere"
    );
}

#[test]
fn a_plugin_is_told_little_of_the_environment_and_no_token() {
    let tulving = Tulving::new();
    tulving.ok(&["list"]);
    let token = std::fs::read_to_string(tulving.home().join("api-token")).expect("a token");
    let command = bad(&tulving, "tells its environment", "");
    tulving.configure(&(built_in("primary") + &backend("bad", "secondary", &command, PATIENT)));
    let mut run = tulving.command(&["doctor"]);
    run.env("TULVING_TOKEN", token.trim()).env("SECRET", "x").env("LANG", "C.UTF-8");
    let run = finish(run, b"");
    let line = run.out.lines().find(|line| line.contains("bad (secondary)")).expect("its line");
    assert!(line.contains("LANG") && !line.contains("TULVING") && !line.contains("SECRET"), "{line}");
}

#[test]
fn a_server_starts_a_plugin_once_and_takes_it_along() {
    let tulving = with_notes();
    let server = Server::start(&tulving);
    let body = json!({ "content": "Marta owns billing" }).to_string();
    let json = [("Content-Type", "application/json")];
    let made = server.ask("POST", "/v1/memories", &json, body.as_bytes());
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json()["data"]["backend"], "notes");
    let found = server.ask("POST", "/v1/recall", &json, json!({ "query": "billing" }).to_string().as_bytes());
    assert_eq!(found.json()["data"]["memories"][0]["backend"], "notes", "{}", found.text());
    let listed = server.get("/v1/memories").json();
    assert_eq!(contents(&listed["data"]), ["Marta owns billing"]);
    let id = made.json()["data"]["id"].as_str().expect("an id").to_owned();
    let edited = server.ask("PATCH", &format!("/v1/memories/{id}"), &json, b"{\"content\":\"x\"}");
    assert_eq!(edited.json()["code"], "not_offered", "{}", edited.text());
    assert!(edited.status < 500, "{}", edited.text());
    // All these requests were answered by one process, which ends with the server, also where that is killed.
    let plugins = children(server.id());
    assert_eq!(plugins.len(), 1);
    drop(server);
    ended(&plugins);
}

/// The running child processes of a process.
fn children(of: u32) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("the processes").flatten();
    let ids = all.filter_map(|entry| entry.file_name().into_string().ok());
    ids.filter(|id| known_of(id).get(1) == Some(&of.to_string())).collect()
}

#[test]
fn exactly_one_backend_is_primary_or_nothing_starts() {
    let tulving = Tulving::new();
    let command = notes(&tulving, "notes.json");
    let one = |name: &str, role: &str| backend(name, role, &command, PATIENT);
    for (config, code, message) in [
        (
            one("a", "primary") + &one("b", "primary"),
            "invalid_backends",
            "2 backends are primary: a, b; exactly one must be",
        ),
        (
            one("a", "secondary") + &one("b", "secondary"),
            "invalid_backends",
            "no backend is primary: a, b; exactly one must be",
        ),
        (
            one("a", "primary") + &built_in("primary"),
            "invalid_backends",
            "2 backends are primary: a, sqlite-memory",
        ),
        (one("a", "primary") + &one("a", "secondary"), "invalid_backends", "two backends are named `a`"),
        (one("", "primary"), "invalid_backends", "a backend is named ``"),
        (
            one("a", "first"),
            "invalid_setting",
            "backends.role is `\"first\"` and must be one of primary, secondary",
        ),
        (
            "[[backends]]\nname = \"a\"\nrole = \"primary\"\n".to_owned(),
            "invalid_backend",
            "the backend `a` has no command",
        ),
        (
            "[[backends]]\nname = \"a\"\ncommand = [\"x\"]\n".to_owned(),
            "invalid_backend",
            "the backend `a` has no role",
        ),
        (
            "[[backends]]\nname = \"sqlite-memory\"\nrole = \"primary\"\ncommand = [\"x\"]\n".to_owned(),
            "invalid_backend",
            "the backend `sqlite-memory` is built in and takes no command",
        ),
        (
            "[[backends]]\nnam = \"a\"\n".to_owned(),
            "unknown_setting",
            "config.toml:2: there is no setting `backends.nam`",
        ),
        (
            "[backends]\nname = \"a\"\n".to_owned(),
            "invalid_setting",
            "must be tables, each under [[backends]]",
        ),
        ("backends = 5\n".to_owned(), "invalid_setting", "must be tables, each under [[backends]]"),
    ] {
        tulving.configure(&config);
        for args in [&["list"][..], &["serve", "--listen", "127.0.0.1:0"][..]] {
            let (error, exit) = tulving.json_error(args);
            assert_eq!((&error["code"], exit), (&json!(code), 2), "{config}: {error}");
            assert!(
                error["message"].as_str().is_some_and(|described| described.contains(message)),
                "{config}: {error}"
            );
        }
    }
    assert!(!tulving.home().join("tulving.db").exists(), "nothing was opened");
    // No variable of the environment sets a command.
    tulving.configure("");
    let mut run = tulving.command(&["list", "--json"]);
    run.env("TULVING_BACKENDS", "[\"x\"]");
    let run = finish(run, b"");
    assert_eq!(run.code, 0, "{}", run.err);
    let listed: Value = serde_json::from_str(&run.out).expect("a document");
    assert_eq!(listed["failed_backends"], Value::Null, "there is no backend that could fail");
}

#[test]
fn the_built_in_backend_is_called_sqlite_memory_and_is_the_default() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Marta owns billing"]);
    let plain = tulving.ok(&["list", "--json"]);
    tulving.configure(&built_in("primary"));
    assert_eq!(tulving.ok(&["list", "--json"]), plain);
    let shown = tulving.ok(&["config"]);
    let line = shown.lines().find(|line| line.starts_with("backends")).expect("its line");
    assert!(line.contains("sqlite-memory (primary): built in") && line.ends_with("config.toml:1"), "{line}");
}
