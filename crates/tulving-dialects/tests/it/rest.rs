use serde_json::{Map, Value, json};
use tulving_core::model::error::Class;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_dialects::tool::ToolError;
use tulving_server::api::{OperationReply, operations};

use crate::bed::Bed;

/// Most items of a page.
const PAGE: u64 = 1_000;

fn call_as(bed: &Bed, caller: &Caller, name: &str, said: &Value) -> Result<OperationReply, ToolError> {
    call_within(bed, caller, PAGE, name, said)
}

fn call_within(
    bed: &Bed,
    caller: &Caller,
    page: u64,
    name: &str,
    said: &Value,
) -> Result<OperationReply, ToolError> {
    bed.wait(1);
    let operation = operations().iter().find(|one| one.name == name).expect("an operation");
    let said: Map<String, Value> = said.as_object().expect("arguments").clone();
    operation.call(&bed.engine, caller, page, said)
}

#[track_caller]
fn data(bed: &Bed, name: &str, said: &Value) -> Value {
    let answer = call_as(bed, &bed.caller, name, said).expect("an answer");
    serde_json::from_str(&answer.data).expect("JSON")
}

#[track_caller]
fn refused(bed: &Bed, name: &str, said: &Value) -> ToolError {
    call_as(bed, &bed.caller, name, said).expect_err("refused")
}

fn bed() -> Bed {
    let bed = Bed::new();
    bed.clock.set("2026-05-27T09:00:00Z".parse().expect("a time"));
    bed
}

#[test]
fn a_page_that_is_smaller_than_usual_bounds_what_was_asked_for_without_a_limit_too() {
    let bed = bed();
    for number in 0..12 {
        data(&bed, "saveMemory", &json!({ "content": format!("Tea number {number}") }));
    }
    let shown = |name: &str, said: &Value| -> usize {
        let answer = call_within(&bed, &bed.caller, 5, name, said).expect("an answer");
        let read: Value = serde_json::from_str(&answer.data).expect("JSON");
        read["memories"].as_array().expect("memories").len()
    };
    assert_eq!(shown("listMemories", &json!({})), 5);
    assert_eq!(shown("listMemories", &json!({ "limit": null })), 5);
    assert_eq!(shown("listMemories", &json!({ "limit": 5.0 })), 5);
    assert_eq!(shown("listMemories", &json!({ "limit": 2 })), 2);
    assert_eq!(shown("recall", &json!({ "query": "tea number 7" })), 5);
    // Nothing answers this with confidence, so the nearest few are enough.
    assert_eq!(shown("recall", &json!({ "query": "tea" })), 3);
    for limit in [json!(6), json!(6.0), json!(1e300)] {
        let said = json!({ "query": "tea", "limit": limit });
        let refusal = call_within(&bed, &bed.caller, 5, "recall", &said).expect_err("refused");
        assert_eq!((refusal.code, refusal.field.as_deref()), ("out_of_range", Some("limit")), "{limit}");
        assert!(refusal.message.ends_with("; give 1 to 5"), "{}", refusal.message);
    }
}

#[test]
fn what_is_wrong_with_a_condition_is_told_of_the_part_that_the_caller_wrote() {
    let bed = bed();
    let said = json!({ "where": { "contains": " " }, "dry_run": true });
    let refusal = refused(&bed, "forgetWhere", &said);
    assert_eq!(
        (refusal.field.as_deref(), refusal.message.as_str()),
        (Some("contains"), "the contains is empty")
    );
}

#[test]
fn no_argument_that_may_be_null_is_said_to_be_required() {
    for operation in operations() {
        let required = operation.input.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            let schema = operation.argument(name).expect("a schema");
            let may_be_null = schema
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|words| words.contains(&Value::Null))
                || schema
                    .get("type")
                    .and_then(Value::as_array)
                    .is_some_and(|kinds| kinds.contains(&json!("null")));
            assert!(!may_be_null, "{operation:?}: {name}");
        }
    }
}

#[test]
fn an_empty_question_is_told_by_the_name_that_the_operation_has_for_it() {
    let bed = bed();
    for (name, field) in [("recall", "query"), ("searchMemories", "q")] {
        let refusal = refused(&bed, name, &json!({ field: " " }));
        assert_eq!((refusal.code, refusal.field.as_deref()), ("missing_query", Some(field)));
        assert_eq!(refusal.to_string(), format!("the {field} is empty; say what to look for"));
    }
}

#[test]
fn journals_are_noted_listed_searched_and_read() {
    let bed = bed();
    let answer =
        call_as(&bed, &bed.caller, "note", &json!({ "content": "Prefers Postgres" })).expect("noted");
    assert!(answer.created);
    bed.edit("memory/2026-05-26.md", "Nothing\nabout postgres\n");
    let listed = data(&bed, "listJournals", &json!({}));
    assert_eq!(listed["journals"][0]["date"], "2026-05-27");
    assert_eq!(listed["journals"].as_array().map(Vec::len), Some(2));
    let found = data(&bed, "listJournals", &json!({ "query": "POSTGRES", "limit": 5 }));
    assert_eq!(
        found["entries"],
        json!([
            { "date": "2026-05-27", "path": "memory/2026-05-27.md", "line": 1, "snippet": "Prefers Postgres" },
            { "date": "2026-05-26", "path": "memory/2026-05-26.md", "line": 2, "snippet": "about postgres" },
        ])
    );
    assert_eq!(data(&bed, "getJournal", &json!({ "date": "today" }))["content"], "Prefers Postgres\n");
    let refusal = refused(&bed, "getJournal", &json!({ "date": "2026-01-01" }));
    assert_eq!((refusal.code, refusal.class), ("journal_not_found", Class::Absent));
    assert_eq!(refused(&bed, "getJournal", &json!({ "date": "2026-02-30" })).code, "invalid_date");
    let refusal = refused(&bed, "listJournals", &json!({ "query": " " }));
    assert_eq!(refusal.field.as_deref(), Some("query"));
}

#[test]
fn further_sections_of_a_long_memory_are_told_with_their_places() {
    let bed = bed();
    let section =
        |name: &str, described: &str| format!("## {name}\n\n{described} {}\n\n", "All is clean. ".repeat(30));
    let boiler = section("Boiler", "The relief valve opens at nine bar.");
    let tank = section("Tank", "The relief valve opens at three bar.");
    let content = format!("# Manual\n\n{boiler}{}{tank}", section("Hose", "It is blue."));
    let content = content.trim_end();
    data(&bed, "saveMemory", &json!({ "content": content, "content_type": "markdown" }));
    data(&bed, "saveMemory", &json!({ "content": "A relief valve" }));
    let question = json!({ "query": "The relief valve opens at nine bar" });
    let found = data(&bed, "recall", &question);
    let long = &found["memories"][0];
    let end = 10 + boiler.trim_end().len();
    let best = json!({ "start": 0, "end": end, "line": 1, "heading_path": ["Manual", "Boiler"] });
    assert_eq!(long["section"], best);
    let start = content.find("## Tank").expect("it is there");
    let further = &long["more_sections"][0];
    assert_eq!(
        (&further["start"], &further["end"], &further["line"]),
        (&json!(start), &json!(content.len()), &json!(11))
    );
    assert_eq!(
        (&further["content"], &further["heading_path"]),
        (&json!(content[start..]), &json!(["Manual", "Tank"]))
    );
    assert!(further["relevance_score"].as_f64() <= long["relevance_score"].as_f64());
    let short = &found["memories"][1];
    assert!(short.get("more_sections").is_none() && short.get("section").is_none(), "{short}");
    let little = json!({ "query": question["query"], "token_budget": 150 });
    let found = data(&bed, "recall", &little);
    assert_eq!(found["memories"].as_array().map(Vec::len), Some(2));
    assert!(
        found["memories"][0].get("more_sections").is_none(),
        "both memories have room, and nothing further"
    );
}

#[test]
fn what_is_always_known_is_replaced_only_where_it_is_what_was_seen() {
    let bed = bed();
    let none = call_as(&bed, &bed.caller, "getLongTerm", &json!({})).expect("an answer");
    assert_eq!(none.tag, None);
    data(&bed, "replaceLongTerm", &json!({ "content": "- one\n", "seen": "" }));
    let one = call_as(&bed, &bed.caller, "getLongTerm", &json!({})).expect("an answer");
    let digest = one.tag.expect("a tag");
    bed.edit("memory/MEMORY.md", "- one, by hand\n");
    let refusal = refused(&bed, "replaceLongTerm", &json!({ "content": "- two\n", "seen": digest }));
    assert_eq!((refusal.code, refusal.class), ("file_changed", Class::Conflict));
    data(&bed, "replaceLongTerm", &json!({ "content": "- two\n" }));
    let history = data(&bed, "listLongTermHistory", &json!({}));
    let previous = history["texts"][0]["id"].clone();
    let before = data(&bed, "getLongTermBefore", &json!({ "previous": previous }));
    assert_eq!(before["content"], "- one, by hand\n");
    let restored = data(&bed, "restoreLongTerm", &json!({ "previous": previous }));
    assert_eq!(restored["content"], "- one, by hand\n");
    assert_eq!(refused(&bed, "restoreLongTerm", &json!({ "previous": "x" })).code, "file_not_found");
}

#[test]
fn files_are_made_read_listed_and_removed_in_the_space_of_the_call() {
    let bed = bed();
    let group = bed.space("kitchen", SpaceKind::Group);
    let call = |name: &str, said: Value| call_as(&bed, &group, name, &said);
    let described = |name: &str, said: Value| -> Value {
        serde_json::from_str(&call(name, said).expect("an answer").data).expect("JSON")
    };
    let new = json!({ "file": "lists/shopping.md", "content": "- milk\n", "new": true });
    assert!(call("putFile", new.clone()).expect("made").created);
    assert_eq!(call("putFile", new).expect_err("refused").code, "file_exists");
    let read = described("getFile", json!({ "file": "lists/shopping.md" }));
    assert_eq!(
        (&read["content"], &read["path"]),
        (&json!("- milk\n"), &json!("groups/kitchen/lists/shopping.md"))
    );
    assert_eq!(described("listFiles", json!({}))["files"][0]["name"], "lists/shopping.md");
    assert_eq!(
        refused(&bed, "getFile", &json!({ "file": "groups/kitchen/lists/shopping.md" })).code,
        "invalid_file_name"
    );
    assert_eq!(call("getFile", json!({ "file": "../x.md" })).expect_err("refused").code, "invalid_file_name");
    described("removeFile", json!({ "file": "lists/shopping.md" }));
    assert_eq!(
        call("getFile", json!({ "file": "lists/shopping.md" })).expect_err("refused").class,
        Class::Absent
    );
}

#[test]
fn conversations_are_archived_listed_and_read() {
    let bed = bed();
    let messages =
        json!([{ "role": "user", "content": "Fix the bug" }, { "role": "assistant", "content": "Done" }]);
    let kept = call_as(&bed, &bed.caller, "archiveConversation", &json!({ "messages": messages }))
        .expect("archived");
    assert!(kept.created);
    let kept: Value = serde_json::from_str(&kept.data).expect("JSON");
    assert_eq!(kept["name"], "2026-05-27-fix-the-bug");
    assert_eq!(kept["number"], 1);
    let listed = data(&bed, "listConversations", &json!({}));
    assert_eq!(listed["conversations"][0]["name"], "2026-05-27-fix-the-bug");
    let read = data(&bed, "getConversation", &json!({ "conversation": kept["key"] }));
    assert_eq!(read["messages"][1]["content"], "Done");
    assert_eq!(refused(&bed, "getConversation", &json!({ "conversation": "x" })).code, "file_not_found");
    assert_eq!(refused(&bed, "archiveConversation", &json!({ "messages": [] })).class, Class::Caller);
}

#[test]
fn a_memory_that_mirrors_a_file_has_its_line_and_is_listed_only_where_the_file_is_named() {
    let bed = bed();
    bed.edit("memory/MEMORY.md", "- Is called Ana\n");
    let found = data(&bed, "recall", &json!({ "query": "who is called Ana?" }));
    let memory = &found["memories"][0];
    assert_eq!(
        (&memory["source_path"], &memory["mirror"]["line"], &memory["number"]),
        (&json!("memory/MEMORY.md"), &json!(1), &Value::Null)
    );
    assert_eq!(data(&bed, "listMemories", &json!({}))["memories"], json!([]));
    let named = data(&bed, "listMemories", &json!({ "source_path": "memory/MEMORY.md" }));
    assert_eq!(named["memories"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_todo_is_closed_with_a_date_listed_as_done_and_opened_again() {
    let bed = bed();
    let id = data(&bed, "saveMemory", &json!({ "content": "buy milk", "type": "todo" }))["id"].clone();
    let closed = data(&bed, "completeMemory", &json!({ "id": id, "at": "2025-12-24" }));
    assert_eq!(closed["changed"], true);
    assert!(closed["done_at"].as_str().is_some_and(|at| at.starts_with("2025-12-24")), "{closed}");
    assert_eq!(data(&bed, "completeMemory", &json!({ "id": id }))["changed"], false);
    let listed = |done: bool| {
        let page = data(&bed, "listMemories", &json!({ "done": done }));
        page["memories"].as_array().expect("a list").len()
    };
    assert_eq!((listed(true), listed(false)), (1, 0));
    let opened = data(&bed, "reopenMemory", &json!({ "id": id }));
    assert_eq!((&opened["done_at"], &opened["changed"]), (&Value::Null, &json!(true)));
    assert_eq!((listed(true), listed(false)), (0, 1));
    let fact = data(&bed, "saveMemory", &json!({ "content": "milk is white" }))["id"].clone();
    let refusal = refused(&bed, "completeMemory", &json!({ "id": fact }));
    assert_eq!((refusal.code, refusal.class), ("cannot_be_done", Class::Caller));
}

#[test]
fn a_delete_leaves_what_was_softly_forgotten_for_the_audit_unless_that_is_meant() {
    let bed = bed();
    let id = data(&bed, "saveMemory", &json!({ "content": "kept for the audit" }))["id"].clone();
    data(&bed, "deleteMemory", &json!({ "id": id, "soft": true }));
    assert_eq!(refused(&bed, "deleteMemory", &json!({ "id": id })).code, "not_found");
    assert_eq!(data(&bed, "deleteMemories", &json!({ "ids": [id] }))["not_found"], json!([id]));
    assert_eq!(data(&bed, "listMemories", &json!({ "forgotten": true }))["memories"][0]["id"], id);
    data(&bed, "deleteMemory", &json!({ "id": id, "forgotten": true }));
    assert_eq!(data(&bed, "listMemories", &json!({ "forgotten": true }))["memories"], json!([]));
}
