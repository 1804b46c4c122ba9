//! `tulving import` of what other memories have kept: first, again, and after they have changed.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::Value;

use crate::binary::{Transcript, Tulving, assert_transcript};

const MAX: &str = concat!(
    include_str!("../../../tulving-store/tests/it/foreign/max.sql"),
    "
    INSERT INTO memories VALUES
        (3, 'routine', 'Daily standup is at 9:30 AM Pacific', 'user', '2025-01-10 09:00:00', '2025-01-10 09:00:00'),
        (7, 'project', 'The auth service lives in ~/dev/api/src/auth', 'auto', '2025-02-01 09:00:00', '2025-02-03 10:00:00'),
        (12, 'preference', 'Prefers TypeScript over JavaScript', 'user', '2025-03-01 08:30:00', '2025-03-01 08:30:00');
    INSERT INTO conversation_log VALUES
        (1, 'user', 'Fix the JWT expiry bug', 'telegram', '2025-03-01 08:00:00'),
        (2, 'assistant', 'On it.', 'unknown', '2025-03-01 08:00:05');
"
);

const SPACEBOT: &str = concat!(
    include_str!("../../../tulving-store/tests/it/foreign/spacebot.sql"),
    "
    INSERT INTO memories VALUES
        ('550e8400-e29b-41d4-a716-446655440001', 'Decided to migrate to GraphQL', 'decision', 0.8,
         '2026-02-11T10:00:00+00:00', '2026-02-11T10:00:00+00:00', '2026-02-11T10:00:00+00:00', 0, NULL, NULL, 0),
        ('550e8400-e29b-41d4-a716-446655440002', 'REST was discussed at length', 'event', 0.5,
         '2026-02-10T10:00:00+00:00', '2026-02-10T10:00:00+00:00', '2026-02-10T10:00:00+00:00', 0, NULL, NULL, 0),
        ('550e8400-e29b-41d4-a716-446655440003', 'Uses SOAP', 'fact', 0.5,
         '2026-02-09T10:00:00+00:00', '2026-02-14T10:00:00+00:00', '2026-02-09T10:00:00+00:00', 1, NULL, NULL, 1);
    INSERT INTO associations VALUES
        ('a', '550e8400-e29b-41d4-a716-446655440001', '550e8400-e29b-41d4-a716-446655440002', 'result_of', 0.9,
         '2026-02-11T10:00:00+00:00');
"
);

const GROUPS: &str = concat!(
    include_str!("../../../tulving-store/tests/it/foreign/groups.sql"),
    "
    INSERT INTO memories VALUES
        ('1', 'main', 'favorite-color', 'Blue', 'core', '{}', '2026-01-01T10:00:00+00:00', '2026-01-01T10:00:00+00:00'),
        ('2', 'family', 'favorite-color', 'Red', 'core', '{}', '2026-01-01T10:00:00+00:00', '2026-01-01T10:00:00+00:00');
"
);

fn database(tulving: &Tulving, name: &str, statements: &str) -> (PathBuf, Connection) {
    let path = tulving.folder().join(name);
    let connection = Connection::open(&path).expect("a database");
    connection.execute_batch(statements).expect("made");
    (path, connection)
}

/// Runs an import that must succeed, and returns the report of its only source.
#[track_caller]
fn import(tulving: &Tulving, args: &[&str]) -> Value {
    let report = tulving.json(&[&["import"], args].concat());
    let sources = report["sources"].as_array().expect("sources");
    assert_eq!(sources.len(), 1, "{report}");
    sources[0].clone()
}

#[track_caller]
fn counts(source: &Value) -> [u64; 3] {
    ["new", "updated", "known"].map(|field| source[field].as_u64().expect("a count"))
}

#[test]
fn what_a_person_sees_of_an_import_of_max() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "This is the first here"]);
    let (_, max) = database(&tulving, "max.db", MAX);
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["import", "max.db", "--dry-run"]).run(&["import", "max.db"]).run(&["import", "max.db"]);
    max.execute_batch(
        "UPDATE memories SET content = 'Daily standup is at 10:00 AM Pacific' WHERE id = 3;
         UPDATE memories SET content = 'Prefers Rust' WHERE id = 12;
         INSERT INTO memories (id, category, content) VALUES (1, 'fact', 'Wants the number that is taken'), (13, 'fact', '');",
    )
    .expect("changed there");
    tulving.ok(&["update", "12", "Prefers Zig"]);
    transcript.run(&["import", "max.db"]).run(&["import", "max.db"]);
    assert_transcript!(transcript);
    assert_eq!(tulving.json(&["get", "12"])["content"], "Prefers Zig");
    assert_eq!(tulving.json(&["get", "3"])["version"], 2);
    assert_eq!(tulving.json(&["get", "14"])["content"], "Wants the number that is taken");
}

#[test]
fn maxs_numbers_times_and_conversation_are_kept() {
    let tulving = Tulving::new();
    database(&tulving, "max.db", MAX);
    let first = import(&tulving, &["max.db"]);
    assert_eq!((counts(&first), first["system"].as_str()), ([3, 0, 0], Some("max")));
    assert_eq!((first["turns"]["new"].as_u64(), first["path"].as_str()), (Some(2), Some("max.db")));
    let memory = tulving.json(&["get", "12"]);
    assert_eq!(memory["content"], "Prefers TypeScript over JavaScript");
    assert_eq!((&memory["type"], &memory["source"]), (&Value::from("preference"), &Value::from("import")));
    assert_eq!(memory["created_at"], "2025-03-01T08:30:00.000000Z");
    assert_eq!(memory["source_note"], "max.db");
    assert_eq!(tulving.json(&["get", "7"])["author"], "auto");
    let prompt = tulving.ok(&["recover"]);
    assert!(prompt.contains("[telegram] User: Fix the JWT expiry bug\nMax: On it."), "{prompt}");
    let summary = tulving.ok(&["tool", "max", "recall", "{\"keyword\": \"TypeScript\"}"]);
    assert!(
        summary.contains("#12 [preference] Prefers TypeScript over JavaScript (user, 2025-03-01)"),
        "{summary}"
    );
    let again = import(&tulving, &["max.db"]);
    assert_eq!((counts(&again), again["turns"]["known"].as_u64()), ([0, 0, 3], Some(2)));
    tulving.assert_healthy();
}

#[test]
fn a_dry_run_writes_nothing_at_all() {
    let tulving = Tulving::new();
    database(&tulving, "max.db", MAX);
    let described = import(&tulving, &["max.db", "--dry-run"]);
    assert_eq!(counts(&described), [3, 0, 0]);
    assert_eq!(described["would_be"].as_array().map(Vec::len), Some(3));
    assert!(tulving.all_ids("default").is_empty());
    assert_eq!(tulving.ok(&["recover"]), "");
}

#[test]
fn spacebots_links_and_what_it_forgot_come_along() {
    let tulving = Tulving::new();
    let (_, spacebot) = database(&tulving, "agent.db", SPACEBOT);
    let first = import(&tulving, &["agent.db"]);
    assert_eq!(
        (counts(&first), first["forgotten"].as_u64(), first["links"]["new"].as_u64()),
        ([3, 0, 0], Some(1), Some(1))
    );
    let related = tulving.ok(&["related", "550e8400-e29b-41d4-a716-446655440001"]);
    assert!(related.contains("result_of") && related.contains("REST was discussed"), "{related}");
    assert!(!tulving.ok(&["list"]).contains("SOAP"));
    let audit = tulving.ok(&["audit"]);
    assert!(audit.contains("forgotten in spacebot"), "{audit}");
    spacebot
        .execute_batch("UPDATE memories SET forgotten = 1 WHERE memory_type = 'event'")
        .expect("forgotten there");
    let second = import(&tulving, &["agent.db"]);
    assert_eq!((counts(&second), second["forgotten"].as_u64()), ([0, 0, 2], Some(1)));
    assert!(!tulving.ok(&["list"]).contains("REST was discussed"));
    tulving.ok(&["restore", "550e8400-e29b-41d4-a716-446655440003"]);
    let third = import(&tulving, &["agent.db"]);
    assert_eq!(counts(&third), [0, 0, 3], "what was restored here stays");
    assert!(tulving.ok(&["list"]).contains("Uses SOAP"));
    tulving.assert_healthy();
}

#[test]
fn each_group_goes_into_a_space_of_its_own() {
    let tulving = Tulving::new();
    database(&tulving, "memories.db", GROUPS);
    let (error, code) = tulving.json_error(&["import", "memories.db"]);
    assert_eq!((error["code"].as_str(), code), (Some("several_groups"), 2), "{error}");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.ends_with("the memories of 2 groups: family, main")),
        "{error}"
    );
    for group in ["main", "family"] {
        tulving.ok(&["space", "create", group, "--group"]);
        assert_eq!(
            counts(&import(&tulving, &["memories.db", "--group", group, "--space", group])),
            [1, 0, 0]
        );
    }
    let color = |group: &str| {
        let recalled =
            tulving.ok(&["tool", "groups", "recall_memories", "{\"query\": \"favorite\"}", "--space", group]);
        (recalled.contains("Blue"), recalled.contains("Red"))
    };
    assert_eq!((color("main"), color("family")), ((true, false), (false, true)));
    let (error, _) = tulving.json_error(&["import", "memories.db", "--group", "work"]);
    assert_eq!(error["code"], "group_not_found");
}

#[test]
fn a_key_that_was_made_anew_there_is_the_same_memory_here() {
    let tulving = Tulving::new();
    let (_, groups) = database(&tulving, "memories.db", GROUPS);
    import(&tulving, &["memories.db", "--group", "main"]);
    groups
        .execute_batch(
            "DELETE FROM memories WHERE id = '1';
             INSERT INTO memories VALUES ('9', 'main', 'favorite-color', 'Green', 'daily', '{}', '2026-02-01', '2026-02-01');",
        )
        .expect("made anew");
    assert_eq!(counts(&import(&tulving, &["memories.db", "--group", "main"])), [0, 1, 0]);
    let memory = tulving.json(&["get", "1"]);
    assert_eq!(
        (&memory["content"], &memory["key"], &memory["version"]),
        (&"Green".into(), &"favorite-color".into(), &2.into())
    );
    assert_eq!(memory["stability"], "volatile");
}

#[test]
fn memax_keeps_ids_and_what_was_said_of_them() {
    let tulving = Tulving::new();
    let export = |content: &str| {
        format!(
            r#"{{"memories": [{{"id": "mem_550e8400e29b41d4a716446655440000", "hub_id": "h", "title": "Deploying", "content": "{content}",
                "content_type": "markdown", "kind": "procedural", "stability": "evolving", "boundary": "private", "tags": ["ops"],
                "state": "active", "access_count": 9, "created_at": "2026-01-01T10:00:00Z"}}], "has_more": false}}"#
        )
    };
    tulving.write("export.json", export("Run make deploy."));
    assert_eq!(counts(&import(&tulving, &["export.json", "--tag", "from-memax"])), [1, 0, 0]);
    let memory = tulving.json(&["get", "mem_550e8400e29b41d4a716446655440000"]);
    assert_eq!((&memory["kind"], &memory["title"]), (&"procedural".into(), &"Deploying".into()));
    assert_eq!(memory["tags"], serde_json::json!(["ops", "from-memax"]));
    assert_eq!(memory["access_count"], 9);
    assert_eq!(counts(&import(&tulving, &["export.json"])), [0, 0, 1], "without the flag it is the same");
    tulving.write("elsewhere/renamed.json", export("Run make release."));
    assert_eq!(counts(&import(&tulving, &["elsewhere/renamed.json"])), [0, 1, 0], "wherever the file lies");
    assert_eq!(tulving.json(&["get", "1"])["version"], 2);
}

#[test]
fn entities_of_the_mcp_server_are_found_by_what_they_say() {
    let tulving = Tulving::new();
    let graph = concat!(
        r#"{"type":"entity","name":"John_Smith","entityType":"person","observations":["Speaks fluent Spanish"]}"#,
        "\n",
        r#"{"type":"entity","name":"Anthropic","entityType":"organization","observations":["Makes Claude"]}"#,
        "\n",
        r#"{"type":"relation","from":"John_Smith","to":"Anthropic","relationType":"works_at"}"#,
        "\n"
    );
    tulving.write("memory.jsonl", graph);
    let first = import(&tulving, &["memory.jsonl"]);
    assert_eq!((counts(&first), first["links"]["new"].as_u64()), ([2, 0, 0], Some(1)));
    let found = tulving.ok(&["recall", "who speaks Spanish"]);
    assert!(found.contains("John_Smith"), "{found}");
    tulving.write("memory.jsonl", graph.replace("Makes Claude", "Makes Claude and tea"));
    let second = import(&tulving, &["memory.jsonl"]);
    assert_eq!((counts(&second), second["links"]["known"].as_u64()), ([0, 1, 1], Some(1)));
}

#[test]
fn a_chat_is_recalled_message_by_message() {
    let tulving = Tulving::new();
    let message = |n: usize, speaker: &str, content: &str| {
        format!(
            r#"{{"role": "user", "speaker": "{speaker}", "content": "{content}", "at": "2026-05-27T09:00:{n:02}Z"}}"#
        )
    };
    let chat = |messages: &[String]| {
        format!(r#"{{"conversation": "kitchen", "messages": [{}]}}"#, messages.join(","))
    };
    let mut messages =
        vec![message(1, "Ana", "Where is the sourdough starter?"), message(2, "Ben", "Behind the jam.")];
    tulving.write("chat.json", chat(&messages));
    assert_eq!(counts(&import(&tulving, &["chat.json"])), [2, 0, 0]);
    messages.push(message(3, "Ana", "Behind the jam."));
    tulving.write("chat.json", chat(&messages));
    assert_eq!(counts(&import(&tulving, &["chat.json"])), [1, 0, 2]);
    let found = tulving.json(&["recall", "sourdough starter", "--conversation", "kitchen"]);
    let first = &found["memories"][0];
    assert_eq!(
        (&first["speaker"], &first["content"]),
        (&"Ben".into(), &"Behind the jam.".into()),
        "what was answered: {found}"
    );
    let listed = tulving.json(&["list", "--conversation", "kitchen"]);
    let mut positions: Vec<(i64, String)> = listed["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|memory| {
            (
                memory["position"].as_i64().expect("a place"),
                memory["speaker"].as_str().expect("who").to_owned(),
            )
        })
        .collect();
    positions.sort();
    assert_eq!(positions.iter().map(|(_, who)| who.as_str()).collect::<Vec<_>>(), ["Ana", "Ben", "Ana"]);
}

#[test]
fn mavens_journals_are_taken_over_entry_by_entry() {
    let tulving = Tulving::new();
    tulving.write("agent/memory/MEMORY.md", "# Known\n\nLikes tea.\n");
    tulving.write("agent/memory/2026-05-25.md", "Noted on Monday\n");
    tulving.write("agent/memory/2026-05-26.md", "Noted on Tuesday\nand twice\nand twice\n");
    tulving.write("agent/SOUL.md", "something else");
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["import", "agent", "--dry-run"]).run(&["import", "agent"]).run(&["import", "agent"]);
    let journal = tulving.home().join("workspace/memory/2026-05-26.md");
    fs::write(&journal, "Written here\nand twice\n").expect("written");
    tulving.write("agent/memory/MEMORY.md", "# Known\n\nLikes coffee.\n");
    transcript.run(&["import", "agent"]).run(&["import", "agent/memory"]).run(&["journal", "2026-05-26"]);
    assert_transcript!(transcript);
    assert_eq!(
        fs::read_to_string(&journal).expect("read"),
        "Written here\nand twice\nNoted on Tuesday\nand twice\n"
    );
    let found = tulving.ok(&["recall", "what was noted on Monday"]);
    assert!(found.contains("2026-05-25.md"), "{found}");
}

#[test]
fn a_database_in_a_tree_is_left_with_a_hint() {
    let tulving = Tulving::new();
    fs::create_dir(tulving.folder().join("tree")).expect("made");
    database(&tulving, "tree/max.db", MAX);
    tulving.write("tree/notes.md", "# Notes\n\nText.\n");
    let report = tulving.json(&["import", "tree"]);
    assert_eq!(report["new"], 1, "{report}");
    let skipped = report["skipped"][0].clone();
    assert_eq!(
        skipped["why"], "it contains Max's memories; import them with `tulving import tree/max.db`",
        "{report}"
    );
    let both = tulving.json(&["import", "tree", "tree/max.db"]);
    assert_eq!(
        (both["unchanged"].as_u64(), both["sources"][0]["new"].as_u64()),
        (Some(1), Some(3)),
        "{both}"
    );
}

#[test]
fn what_cannot_be_imported_says_why_and_what_to_do() {
    let tulving = Tulving::new();
    database(&tulving, "songs.db", "CREATE TABLE songs (title TEXT)");
    let (_, locked) = database(&tulving, "locked.db", MAX);
    locked.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    fs::write(tulving.folder().join("secret.db"), [7; 4096]).expect("written");
    tulving.write("notes.md", "# Notes");
    fs::write(tulving.folder().join("broken.json"), "{\"memories\": [").expect("written");
    let mut transcript = Transcript::new(&tulving);
    transcript
        .run(&["import", "songs.db"])
        .run(&["import", "locked.db"])
        .run(&["import", "secret.db"])
        .run(&["import", "missing.db"])
        .run(&["import", "notes.md", "--as", "max"])
        .run(&["import", "notes.md", "--as", "mcp"])
        .run(&["import", "broken.json", "--as", "memax"])
        .run(&["import", "songs.db", "--as", "spacebot"])
        .run(&["import", "notes.md", "--as", "nobody"])
        .run(&["import", "notes.md", "--group", "main"])
        .run(&["import", "home/tulving.db"]);
    assert_transcript!(transcript);
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn files_can_be_meant_whatever_they_look_like() {
    let tulving = Tulving::new();
    tulving.write("chat.json", r#"[{"role": "user", "content": "a chat that is kept as it is"}]"#);
    let report = tulving.json(&["import", "chat.json", "--as", "files"]);
    assert_eq!((report["new"].as_u64(), report.get("sources")), (Some(1), None), "{report}");
    let (error, _) = tulving.json_error(&["import", "chat.json", "--watch"]);
    assert_eq!(error["code"], "usage", "{error}");
}

#[test]
fn what_notes_say_of_themselves_is_kept_beside_them() {
    let tulving = Tulving::new();
    let note = |tags: &str| {
        format!(
            "---\ntitle: The plan\ntags: [{tags}]\ntype: decision\nimportance: 0.9\ndate: 2026-05-27\nstatus: open\n---\n# Plan\n\nWe ship on Monday.\n"
        )
    };
    tulving.write("notes/plan.md", note("work, q2"));
    let import = |args: &[&str]| tulving.json(&[&["import", "notes"], args].concat());
    assert_eq!(import(&["--tag", "vault"])["new"], 1);
    let memory = tulving.json(&["get", "1"]);
    assert_eq!((&memory["title"], &memory["type"]), (&"The plan".into(), &"decision".into()));
    assert_eq!(memory["tags"], serde_json::json!(["work", "q2", "vault"]));
    assert_eq!(
        (&memory["importance"], &memory["occurred_at"]),
        (&0.9.into(), &"2026-05-27T00:00:00.000000Z".into())
    );
    assert_eq!(memory["content"], "---\nstatus: open\n---\n# Plan\n\nWe ship on Monday.");
    tulving.write("notes/plan.md", note("work, q3"));
    assert_eq!(import(&[])["updated"], 1, "the text is the same, and what it says of itself is not");
    assert_eq!(tulving.json(&["get", "1"])["tags"], serde_json::json!(["work", "q3"]));
    assert_eq!(import(&[])["unchanged"], 1);
}

#[test]
fn instructions_for_agents_are_told_apart_by_their_folders() {
    let tulving = Tulving::new();
    tulving.write("dev/api/CLAUDE.md", "# Working here\n\nRun `make test` before every commit.\n");
    tulving.write("dev/web/AGENTS.md", "Use pnpm, never npm.\n");
    assert_eq!(tulving.json(&["import", "dev"])["new"], 2);
    let page = tulving.json(&["list"]);
    let mut titles: Vec<(String, String, String)> = page["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|memory| {
            ["title", "kind", "stability"].map(|field| memory[field].as_str().unwrap_or_default().to_owned())
        })
        .map(|[title, kind, stability]| (title, kind, stability))
        .collect();
    titles.sort();
    let expected = |title: &str| (title.to_owned(), "procedural".to_owned(), "evolving".to_owned());
    assert_eq!(titles, [expected("AGENTS.md (web)"), expected("CLAUDE.md (api)")]);
}
