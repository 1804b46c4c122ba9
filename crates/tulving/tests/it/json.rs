//! The structure of the `--json` output.

use serde_json::{Value, json};

use crate::binary::{Tulving, uuid_of};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn every_command_prints_one_document() {
    let tulving = Tulving::new();
    let commands: &[&[&str]] = &[
        &[],
        &["save", "one"],
        &["save", "two"],
        &["save", "one"],
        &["recall"],
        &["recall", "nothing"],
        &["get", "1"],
        &["list"],
        &["list", "--all"],
        &["list", "--tag", "none"],
        &["update", "1", "one and a half"],
        &["history", "1"],
        &["revert", "1", "1"],
        &["archive", "1"],
        &["unarchive", "1"],
        &["pin", "1"],
        &["unpin", "1"],
        &["associate", "1", "2"],
        &["related", "1"],
        &["dissociate", "1", "2"],
        &["forget", "1", "2"],
        &["restore", "1"],
        &["space", "create", "team-a"],
        &["save", "three"],
        &["move", "3", "--to", "team-a"],
        &["space", "list"],
        &["space", "members", "team-a"],
        &["token", "create", "--for", "bot"],
        &["space", "add-member", "team-a", "bot"],
        &["space", "remove-member", "team-a", "bot"],
        &["token", "list"],
        &["token", "revoke", "bot"],
        &["audit"],
        &["audit-quality"],
        &["backup", "create", "copy.db"],
        &["backup", "restore", "copy.db", "--yes"],
        &["dump", "all.jsonl"],
        &["load", "all.jsonl"],
        &["doctor"],
        &["config"],
        &["config", "path"],
        &["completions", "bash"],
    ];
    for command in commands {
        assert!(tulving.json(command).is_object(), "{command:?}");
    }
}

#[test]
fn a_memory_has_all_its_fields_flat_and_the_name_of_its_space() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one", "--tag", "a", "--occurred-at", "2026-05-27"]);
    let memory = tulving.json(&["get", "1"]);
    let fields = [
        "access_count",
        "accessed_at",
        "author",
        "auto",
        "boundary",
        "content",
        "content_hash",
        "content_type",
        "created_at",
        "hub_id",
        "hub_name",
        "id",
        "importance",
        "importance_now",
        "kind",
        "number",
        "occurred_at",
        "owner_id",
        "pinned",
        "source",
        "stability",
        "state",
        "tags",
        "trust",
        "type",
        "updated_at",
        "version",
    ];
    assert_eq!(keys(&memory), fields, "and no field without a value");
    assert_eq!(memory["number"], 1);
    assert_eq!(memory["hub_name"], "default");
    assert_eq!(memory["tags"], json!(["a"]));
    assert_eq!(memory["occurred_at"], "2026-05-27T00:00:00.000000Z");
    assert_eq!(memory["source"], "cli");
    assert_eq!(tulving.json(&["list"])["memories"][0], memory);
}

#[test]
fn a_save_answers_with_its_receipt() {
    let tulving = Tulving::new();
    let receipt = tulving.json(&["save", "one", "--related-to", "9"]);
    assert_eq!(receipt["status"], "created");
    assert_eq!(receipt["number"], 1);
    assert_eq!(receipt["warnings"][0]["code"], "association_skipped");
    assert_eq!(tulving.json(&["save", "one"])["status"], "duplicate");
}

#[test]
fn a_recall_says_how_many_there_are_and_why() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one fish"]);
    tulving.ok(&["save", "two fish"]);
    let answer = tulving.json(&["recall", "fish", "--mode", "text", "--limit", "1"]);
    assert_eq!(keys(&answer), ["left_out", "memories", "total", "withheld"]);
    assert_eq!(answer["total"], 2);
    let hit = &answer["memories"][0];
    assert_eq!(hit["relevance_score"], 1.0);
    assert!(hit["why"].as_str().is_some_and(|why| why.contains("fish")), "{hit}");
    let nothing = json!({ "memories": [], "total": 0, "withheld": 0, "left_out": 0 });
    assert_eq!(tulving.json(&["recall", "whale", "--mode", "text"]), nothing);
}

#[test]
fn an_explanation_is_given_on_demand_and_adds_up() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one fish"]);
    let answer = tulving.json(&["recall", "which fish?"]);
    assert_eq!(keys(&answer), ["evidence", "failed_lanes", "left_out", "memories", "total", "withheld"]);
    assert_eq!(answer["failed_lanes"][0]["lane"], "vector");
    assert!(answer["memories"][0].get("explanation").is_none());
    let answer = tulving.json(&["recall", "which fish?", "--explain"]);
    let explanation = &answer["memories"][0]["explanation"];
    let parts = explanation["parts"].as_array().expect("parts");
    let sum: f64 = parts.iter().map(|part| part["value"].as_f64().expect("a number")).sum();
    assert_eq!(explanation["score"], sum);
    assert_eq!(explanation["lanes"][0]["lane"], "keyword");
}

#[test]
fn recall_counts_and_looking_does_not() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    for _ in 0..3 {
        tulving.ok(&["recall", "one"]);
    }
    tulving.ok(&["list"]);
    assert_eq!(tulving.json(&["get", "1"])["access_count"], 3);
}

#[test]
fn errors_have_class_code_message_hint_and_field() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    tulving.ok(&["backup", "create", "x.db"]);
    let cases: &[(&[&str], i32, &str, &str, Value)] = &[
        (&["save", ""], 2, "caller", "missing_content", json!("content")),
        (&["save", "x", "--importance", "2"], 2, "caller", "out_of_range", json!("importance")),
        (&["save", "x", "--colour"], 2, "caller", "usage", Value::Null),
        (&["save", "x", "--type", "colour"], 2, "caller", "usage", Value::Null),
        (&["get", "99"], 3, "absent", "not_found", Value::Null),
        (&["get", "x"], 2, "caller", "invalid_id", Value::Null),
        (&["list", "--cursor", "x"], 2, "caller", "invalid_cursor", Value::Null),
        (&["list", "--limit", "0"], 2, "caller", "out_of_range", json!("limit")),
        (&["list", "--space", "nowhere"], 3, "absent", "space_not_found", Value::Null),
        (&["forget", "99"], 3, "absent", "not_found", Value::Null),
        (&["load", "nothing.jsonl"], 9, "host", "unreadable", Value::Null),
        (&["backup", "restore", "x.db"], 2, "caller", "unconfirmed", Value::Null),
    ];
    for (args, exit, class, code, field) in cases {
        let (error, got) = tulving.json_error(args);
        assert_eq!(keys(&error), ["class", "code", "field", "hint", "message"]);
        assert_eq!(
            (got, &error["class"], &error["code"], &error["field"]),
            (*exit, &json!(class), &json!(code), field),
            "{args:?}: {error}"
        );
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{args:?}: {error}");
    }
}

#[test]
fn a_wrong_word_lists_the_right_ones_to_programs_too() {
    let (error, _) = Tulving::new().json_error(&["save", "x", "--type", "facts"]);
    assert!(error["message"].as_str().is_some_and(|message| message.contains("preference")), "{error}");
    assert_eq!(error["hint"], "a similar value exists: 'fact'");
}

#[test]
fn several_memories_are_one_document_and_failures_stand_apart() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let run = tulving.run(&["archive", "1", "99", "--json"]);
    let done: Value = serde_json::from_str(&run.out).expect("a document");
    let failed: Value = serde_json::from_str(&run.err).expect("a document");
    assert_eq!((run.code, &done["memories"][0]["state"]), (3, &json!("archived")));
    assert_eq!(failed["error"]["code"], "not_found");
    assert_eq!(keys(&failed), ["error"], "one failure is said once");
}

#[test]
fn several_failures_are_one_document() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let run = tulving.run(&["pin", "98", "1", "99", "--json"]);
    assert_eq!(run.code, 3);
    let failed: Value = serde_json::from_str(&run.err).expect("one document");
    assert_eq!(keys(&failed), ["error", "errors"]);
    let errors = failed["errors"].as_array().expect("a list");
    assert_eq!((errors.len(), &errors[0]), (2, &failed["error"]));
    assert!(errors[1]["message"].as_str().is_some_and(|message| message.contains("#99")), "{failed}");
}

#[test]
fn a_dump_with_the_older_names_of_fields_is_loaded() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Marta owns billing", "--tag", "team"]);
    tulving.ok(&["save", "Jonas owns billing", "--updates", "1"]);
    let memories = |tulving: &Tulving| tulving.json(&["list", "--sort", "oldest"])["memories"].clone();
    let mut older = String::new();
    for line in tulving.ok(&["dump"]).lines() {
        let mut line = line.to_owned();
        while let Some(at) = line.find("\"mem_") {
            let id = uuid_of(&line[at + 1..at + 37]);
            line = format!("{}\"{id}{}", &line[..at], &line[at + 37..]);
        }
        for (name, before) in
            [("hub_id", "space"), ("owner_id", "owner"), ("source\":\"cli", "origin\":\"cli")]
        {
            line = line.replace(&format!("\"{name}\""), &format!("\"{before}\""));
        }
        older += &line;
        older.push('\n');
    }
    assert!(older.contains("\"origin\":\"cli\"") && !older.contains("mem_"), "{older}");
    let other = Tulving::new();
    let loaded = other.run_with(&["load", "-"], older.as_bytes());
    assert_eq!(loaded.code, 0, "{}", loaded.err);
    let (there, here) = (memories(&tulving), memories(&other));
    assert_eq!(there[0]["superseded_by"], there[1]["id"]);
    for field in ["id", "content", "tags", "hub_id", "owner_id", "source", "created_at", "superseded_by"] {
        for at in 0..2 {
            assert_eq!(here[at].get(field), there[at].get(field), "{field}");
        }
    }
}

#[test]
fn a_project_is_saved_filtered_changed_and_taken_away() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "We deploy with make ship", "--project", "harbour"]);
    tulving.ok(&["save", "We deploy with a script", "--project", "lighthouse"]);
    tulving.ok(&["save", "Likes tea"]);
    let contents = |args: &[&str]| -> Vec<String> {
        let found = tulving.json(args);
        let memories = found["memories"].as_array().expect("a list").iter();
        memories.map(|memory| memory["content"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(tulving.json(&["get", "1"])["project"], "harbour");
    assert_eq!(tulving.json(&["get", "3"]).get("project"), None);
    assert!(tulving.ok(&["get", "1"]).contains("project"), "it is shown to people");
    assert_eq!(contents(&["list", "--project", "harbour"]), ["We deploy with make ship"]);
    assert_eq!(
        contents(&["recall", "how do we deploy?", "--project", "lighthouse"]),
        ["We deploy with a script"]
    );
    assert_eq!(contents(&["recall", "--project", "harbour"]), ["We deploy with make ship"]);
    assert_eq!(contents(&["list", "--project", "elsewhere"]), [""; 0]);
    let edited = tulving.json(&["update", "1", "--project", "dock"]);
    assert_eq!((&edited["project"], &edited["version"]), (&json!("dock"), &json!(2)));
    let history = tulving.json(&["history", "1"]);
    assert_eq!(history["versions"][0]["changed"], json!(["project"]), "{history}");
    assert_eq!(history["versions"][1]["project"], "harbour");
    assert_eq!(tulving.json(&["update", "1", "--clear", "project"]).get("project"), None);
    assert_eq!(tulving.json(&["revert", "1", "1"])["project"], "harbour");
    let line = "{\"content\": \"Ships leave at dawn\", \"project\": \"harbour\"}";
    assert_eq!(tulving.run_with(&["save", "--batch", "-"], line.as_bytes()).code, 0);
    let other = Tulving::new();
    assert_eq!(other.run_with(&["load", "-"], tulving.ok(&["dump"]).as_bytes()).code, 0);
    let there = other.json(&["list", "--project", "harbour", "--sort", "oldest"]);
    assert_eq!(there["memories"][1]["content"], "Ships leave at dawn", "{there}");
    let long = "x".repeat(2_000);
    assert_eq!(tulving.json_error(&["save", "x", "--project", &long]).0["code"], "too_long");
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).chars().take(36).collect::<String>());
    let saved = tulving.json(&["save", "A note", "--project", &secret]);
    assert!(!saved.to_string().contains(&secret), "a project is redacted like every other line: {saved}");
}
