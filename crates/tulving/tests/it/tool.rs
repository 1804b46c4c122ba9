//! The tools of the dialects and the block for the start of a session, as `tulving tool` and `tulving context` give them.

use serde_json::{Value, json};

use crate::binary::Tulving;

fn call(tulving: &Tulving, dialect: &str, tool: &str, arguments: &Value) -> String {
    let out = tulving.ok(&["tool", dialect, tool, &arguments.to_string()]);
    out.strip_suffix('\n').expect("a line end").to_owned()
}

fn data(tulving: &Tulving, dialect: &str, tool: &str, arguments: &Value) -> Value {
    serde_json::from_str(&call(tulving, dialect, tool, arguments)).expect("JSON")
}

#[test]
fn max_answers_as_the_seed_says() {
    let tulving = Tulving::new();
    let content = json!({ "category": "preference", "content": "Prefers TypeScript over JavaScript" });
    assert_eq!(
        call(&tulving, "max", "remember", &content),
        "Remembered (#1, preference): \"Prefers TypeScript over JavaScript\""
    );
    let today = &tulving.json(&["get", "#1"])["created_at"].as_str().expect("a time")[..10].to_owned();
    assert_eq!(
        call(&tulving, "max", "recall", &json!({ "keyword": "TypeScript" })),
        format!("Found 1 memory:\n  • #1 [preference] Prefers TypeScript over JavaScript (user, {today})")
    );
    assert_eq!(tulving.json(&["get", "#1"])["access_count"], 1, "the recall of another process counts");
    assert_eq!(
        tulving.ok(&["context", "--dialect", "max"]),
        "## Long-Term Memory\nThese are things you've been asked to remember or have noted as important:\n\n\
         **preference**:\n  - [#1] Prefers TypeScript over JavaScript\n"
    );
    assert_eq!(call(&tulving, "max", "forget", &json!({ "memory_id": 1 })), "Memory #1 forgotten.");
    assert_eq!(tulving.ok(&["context", "--dialect", "max"]), "");
}

#[test]
fn a_tool_that_answers_with_data_prints_it_and_json_is_always_a_document() {
    let tulving = Tulving::new();
    let saved = data(&tulving, "spacebot", "memory_save", &json!({ "content": "The API is GraphQL" }));
    assert_eq!((&saved["success"], &saved["message"]), (&json!(true), &json!("Memory saved successfully")));
    let got = data(&tulving, "memax", "memax_get", &json!({ "id": saved["memory_id"] }));
    assert_eq!((&got["content"], &got["source"]), (&json!("The API is GraphQL"), &json!("cli")));
    let document =
        tulving.json(&["tool", "memax", "memax_get", &json!({ "id": saved["memory_id"] }).to_string()]);
    assert_eq!(document["id"], got["id"]);
    let text = tulving.json(&["tool", "groups", "list_memories"]);
    assert_eq!(text, json!({ "text": "1 memory:\n- #1 [core]" }));
    let (error, code) = tulving.json_error(&["tool", "groups", "recall_memories", "{}"]);
    assert_eq!(
        (&error["code"], &error["message"], code),
        (&json!("missing_query"), &json!("`query` is missing"), 2)
    );
}

#[test]
fn arguments_that_are_no_json_are_refused_and_nothing_is_saved() {
    let tulving = Tulving::new();
    let deep = format!("{{\"content\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for input in [deep.as_bytes(), b"{\"content\": \"\xff\xfe\"}", b"{\"content\": ", b"", b"[1] [2]"] {
        let run = tulving.run_with(&["tool", "maven", "remember", "-"], input);
        assert_eq!(run.code, 2, "{}", run.err);
        let run = tulving.run_with(&["tool", "spacebot", "memory_save", "-"], input);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    }
    assert!(tulving.all_ids("default").is_empty());
    assert_eq!(tulving.run(&["tool", "max", "rember"]).code, 2);
    assert_eq!(tulving.run(&["tool", "mex"]).code, 2);
    let said = tulving.ok(&["tool", "maven", "memory_get", "{\"date\": \"today\"}"]);
    assert!(said.starts_with("No journal entry for "), "{said}");
}

#[test]
fn the_context_is_fenced_within_its_budget_and_of_its_space() {
    let tulving = Tulving::new();
    assert_eq!(tulving.ok(&["context"]), "");
    tulving.ok(&["save", "Prefers tea", "--type", "preference"]);
    tulving.ok(&["save", "The </memory> of all things", "--type", "project"]);
    tulving.ok(&["space", "create", "red", "--group"]);
    tulving.ok(&["save", "A red secret", "--space", "red"]);
    let block = tulving.ok(&["context"]);
    assert!(block.starts_with("<memory>\n") && block.ends_with("\n</memory>\n"), "{block}");
    assert!(block.contains("\n## Preferences\n- [#1] Prefers tea\n"), "{block}");
    assert_eq!(block.matches("</memory").count(), 1);
    assert!(
        !block.contains("red secret") && tulving.ok(&["context", "--space", "red"]).contains("A red secret")
    );
    tulving.ok(&["save", "A fact that has no room beside the others in the least budget that there is"]);
    let tiny = tulving.ok(&["context", "--budget", "50"]);
    assert!(tiny.contains("- [#1] Prefers tea\n"), "{tiny}");
    assert!(tiny.contains("\nLeft out: 2. `recall` finds them.\n") && tiny.len() <= 200, "{tiny}");
    let document = tulving.json(&["context", "--dialect", "max"]);
    assert!(document["context"].as_str().expect("a block").starts_with("## Long-Term Memory\n"));
    assert_eq!(tulving.json(&["context"])["sections"][0]["heading"], "Preferences");
    assert_eq!(tulving.run(&["context", "--dialect", "groups"]).code, 2);
    for outside in ["0", "49", "100001"] {
        let run = tulving.run(&["context", "--budget", outside]);
        assert_eq!(run.code, 2);
        assert!(run.err.contains("must be between 50 and 100000"), "{}", run.err);
    }
}
