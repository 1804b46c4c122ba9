//! The sources of settings, and errors in them.

use serde_json::json;

use crate::binary::{Transcript, Tulving, assert_transcript, finish};

fn with_config(text: &str) -> Tulving {
    let tulving = Tulving::new();
    tulving.configure(text);
    tulving
}

#[test]
fn each_value_is_shown_with_where_it_came_from() {
    let tulving = with_config("space = \"team-a\"\nagent = \"file\"\n\n[store]\nreaders = 2\n");
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["config"]).run(&["config", "path"]);
    let mut command = tulving.command(&["config", "--space", "team-b"]);
    command.env("TULVING_AGENT", "environment").env("TULVING_SPACE", "team-c");
    transcript.note(
        "$ TULVING_AGENT=environment TULVING_SPACE=team-c tulving config --space team-b",
        &finish(command, b""),
    );
    assert_transcript!(transcript.without_columns());
    assert!(!tulving.home().join("tulving.db").exists(), "looking at settings opens nothing");
}

#[test]
fn a_json_block_of_the_seed_is_pasted_into_config_json() {
    let tulving = Tulving::new();
    std::fs::create_dir_all(tulving.home()).expect("a home");
    let json = tulving.home().join("config.json");
    let of = |key: &str| {
        let described = tulving.json(&["config"]);
        let found =
            described["settings"].as_array().expect("a list").iter().find(|one| one["key"] == key).cloned();
        found.expect("a setting")
    };
    std::fs::write(&json, "\"shadowJournal\": {\n  \"enabled\": true,\n  \"model\": \"cheap\"\n}\n")
        .expect("written");
    assert_eq!(of("shadow_journal.model")["value"], "cheap");
    assert_eq!(of("shadow_journal.model")["source"]["line"], 3);
    let block = "{\n  \"memConsolidate\": {\n    \"enabled\": true,\n    \"intervalHours\": 12\n  }\n}\n";
    std::fs::write(&json, block).expect("written");
    assert_eq!(of("consolidate.interval_hours")["source"]["line"], 4);
    tulving.configure("[consolidate]\nenabled = true\n");
    let (error, code) = tulving.json_error(&["config"]);
    assert_eq!(code, 2, "{error}");
    let said = error.to_string();
    assert!(
        said.contains("consolidate.enabled was already set at ") && said.contains("config.json:3"),
        "{said}"
    );
    tulving.configure(block);
    std::fs::remove_file(&json).expect("removed");
    assert!(tulving.json_error(&["config"]).0.to_string().contains("put it into config.json"));
    tulving.configure("");
    std::fs::write(&json, "{\"memConsolidate\": {\"intervalHour\": 24}}").expect("written");
    let (error, _) = tulving.json_error(&["config"]);
    assert!(
        error.to_string().contains("config.json:1: there is no setting `memConsolidate.intervalHour`"),
        "{error}"
    );
}

#[test]
fn values_have_their_types_for_programs() {
    let tulving = with_config(
        "space = \"team-a\"\n[server]\nmax_page = 5\nopen_metrics = true\ncors_origins = [\"https://a.example\", \"https://b.example\"]\n\
         [[tend.space]]\nname = \"notes\"\ncool_volatile_days = 7\n\
         [[backends]]\nname = \"sqlite-memory\"\nrole = \"primary\"\n\
         [[backends]]\nname = \"notes\"\nrole = \"secondary\"\ncommand = [\"python3\", \"notes.py\"]\ntimeout_ms = 5000\n",
    );
    let document = tulving.json(&["config"]);
    let value = |key: &str| {
        let settings = document["settings"].as_array().expect("a list").iter();
        settings
            .filter(|setting| setting["key"] == key)
            .map(|setting| setting["value"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(value("space"), ["team-a"]);
    assert_eq!(value("server.max_page"), [5]);
    assert_eq!(value("server.open_metrics"), [true]);
    assert_eq!(value("server.cors_origins"), [json!(["https://a.example", "https://b.example"])]);
    assert_eq!(value("server.allowed_hosts"), [json!([])]);
    assert_eq!(value("tend.space"), [json!({ "name": "notes", "cool_volatile_days": 7 })]);
    let notes = json!({ "name": "notes", "role": "secondary", "command": ["python3", "notes.py"], "timeout_ms": 5_000 });
    assert_eq!(value("backends"), [json!({ "name": "sqlite-memory", "role": "primary" }), notes]);
}

#[test]
fn the_later_source_wins() {
    let tulving = with_config("agent = \"file\"\n");
    let agent_of = |number: &str| tulving.json(&["get", number])["source_agent"].clone();
    tulving.ok(&["save", "one"]);
    assert_eq!(agent_of("1"), "file");
    let mut command = tulving.command(&["save", "two"]);
    command.env("TULVING_AGENT", "environment");
    assert_eq!(finish(command, b"").code, 0);
    assert_eq!(agent_of("2"), "environment");
    let mut command = tulving.command(&["save", "three", "--agent", "flag"]);
    command.env("TULVING_AGENT", "environment");
    assert_eq!(finish(command, b"").code, 0);
    assert_eq!(agent_of("3"), "flag");
}

#[test]
fn what_is_wrong_is_named_with_file_line_and_the_nearest_name() {
    let mut described = String::new();
    for (name, text) in [
        ("unknown key", "space = \"default\"\ncolour = \"never\"\n"),
        ("unknown key of a table", "[limits]\ncontent_byte = 5\n"),
        ("unknown table", "[server]\nport = 7777\n"),
        ("wrong type", "[limits]\ncontent_bytes = \"many\"\n"),
        ("text for a number", "[store]\nreaders = \"4\"\n"),
        ("number for a text", "space = 5\n"),
        ("table for a value", "[space]\n"),
        ("table of another setting", "[agent]\nname = \"x\"\n"),
        ("unknown empty table", "[sever]\n"),
        ("out of bounds", "store.readers = 0\n"),
        ("unknown word", "output.color = \"sometimes\"\n"),
        ("float", "limits.content_bytes = 1.5\n"),
        (
            "said twice, in words of two tools",
            "[consolidate]\nenabled = false\n[memConsolidate]\nenabled = true\n",
        ),
        ("two rules of one space", "[[tend.space]]\nname = \"a\"\n[[tend.space]]\nname = \"a\"\n"),
        ("no TOML", "space = \n"),
    ] {
        let tulving = with_config(text);
        let mut transcript = Transcript::new(&tulving);
        transcript.note(text, &tulving.run(&["list"]));
        described.push_str(&format!("{name}:\n{}", transcript.text()));
        assert!(!tulving.home().join("tulving.db").exists(), "{name}: nothing was opened");
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(described) });
}

#[test]
fn the_environment_is_checked_like_the_file() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    for (name, value) in [
        ("TULVING_STORE_READERS", "none"),
        ("TULVING_SPACE", ""),
        ("TULVING_TOKEN", "tlv_made_up"),
        ("TULVING_TOKEN", ""),
    ] {
        let mut command = tulving.command(&["list"]);
        command.env(name, value);
        transcript.note(&format!("$ {name}={value} tulving list"), &finish(command, b""));
    }
    assert_transcript!(transcript);
}

#[test]
fn a_variable_that_kubernetes_sets_for_a_service_named_tulving_stops_no_command() {
    let tulving = Tulving::new();
    let with = |args: &[&str]| {
        let mut command = tulving.command(args);
        command.env("TULVING_PORT", "tcp://10.0.0.1:7777").env("TULVING_SERVICE_HOST", "10.0.0.1");
        command.env("TULVING_COLOR", "never");
        finish(command, b"")
    };
    let saved = with(&["save", "one"]);
    assert_eq!((saved.code, saved.err.as_str()), (0, ""), "nothing is said of it");
    assert_eq!(with(&["recall", "one"]).code, 0);
    let config = with(&["config"]);
    assert_eq!(config.code, 0);
    let warned: Vec<&str> = config.err.lines().collect();
    let text = |name: &str| {
        format!("warning: the environment variable `{name}` is not a setting, so it is ignored; ")
    };
    assert_eq!(warned.len(), 3, "{warned:?}");
    for (line, name) in warned.iter().zip(["TULVING_COLOR", "TULVING_PORT", "TULVING_SERVICE_HOST"]) {
        assert!(line.starts_with(&text(name)), "{line}");
    }
    assert!(warned[0].contains("did you mean `TULVING_OUTPUT_COLOR`?"), "{}", warned[0]);
    let doctor = with(&["doctor", "--json"]);
    assert_eq!(doctor.code, 0, "{}", doctor.err);
    let found: serde_json::Value = serde_json::from_str(&doctor.out).expect("a document");
    let found: Vec<&serde_json::Value> = found["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|line| line["name"] == "environment")
        .collect();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|line| line["verdict"] == "warn"));
}

#[test]
fn the_home_is_where_the_platform_keeps_data() {
    let tulving = Tulving::new();
    let mut command = tulving.command(&["config", "path"]);
    command.env_remove("TULVING_HOME").env("HOME", "/nonexistent").env_remove("XDG_DATA_HOME");
    let run = finish(command, b"");
    assert_eq!((run.code, run.out.trim()), (0, "/nonexistent/.local/share/tulving/config.toml"));
}
