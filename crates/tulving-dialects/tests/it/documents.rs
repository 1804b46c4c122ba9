//! Long documents in the answers of max, groups and spacebot.

use serde_json::{Map, Value, json};
use tulving_core::Document;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_dialects::Dialect::{Groups, Max, Native, Spacebot};
use tulving_dialects::context;
use tulving_server::api::operations;

use crate::bed::Bed;

/// Returns a manual of about 100 KB, with a section that names zinc.
fn manual() -> String {
    let part = |n: usize| {
        format!("## Part {n}\n\n{}\n\n", format!("Part {n} is greased and tightened. ").repeat(30))
    };
    let mut text = String::from("# Manual\n\nRead it before you begin.\n\n");
    for n in 0..100 {
        text.push_str(&part(n));
        if n == 60 {
            text.push_str("## Anodes\n\nThe zinc anodes are replaced every spring.\n\n");
        }
    }
    text.trim_end().to_owned()
}

fn push(bed: &Bed, name: &str, text: &str) {
    let about = SaveRequest { source_path: Some(format!("/docs/{name}")), ..SaveRequest::default() };
    let document = Document { name: Some(name.to_owned()), bytes: text.as_bytes().to_vec(), about };
    bed.engine.push(&bed.caller, document).expect("pushed");
    bed.engine.embed_waiting(1_000).expect("embedded");
}

/// Returns the pointer of a part of the manual.
fn pointer(part: &str, text: &str) -> String {
    let count = text.chars().count();
    format!(
        "[{part} of manual.md, {count} characters in all; `tulving get 1` and the resource memory://1 return all of it]"
    )
}

#[test]
fn a_document_flooded_the_summary_of_max() {
    let bed = Bed::new();
    let text = manual();
    assert!(text.len() > 95_000);
    push(&bed, "manual.md", &text);
    bed.text(Max, "remember", json!({ "category": "fact", "content": "The boat is white" }));
    let summary = tulving_dialects::max::summary(&bed.context(Max)).expect("a summary");
    assert!(summary.chars().count() < 3_000, "{}", summary.len());
    assert!(summary.contains("  - [#1] # Manual\n    \n    Read it before you begin."), "{summary}");
    assert!(
        summary.contains(&pointer("the beginning", &text)) && summary.contains("  - [#2] The boat is white")
    );
    let opening = context::opening(&bed.context(Max), Max).expect("an opening").expect("memories");
    assert!(
        opening.contains("- [#1] # Manual") && opening.contains(&pointer("the beginning", &text)),
        "{opening}"
    );
    assert!(opening.chars().count() <= context::OPENING_CHARS);
    let rows = rows(&bed);
    let row = rows.iter().find(|row| row["id"] == 1).expect("the manual");
    let content = row["content"].as_str().expect("a text");
    assert!(content.len() < 3_000 && content.ends_with(&pointer("the beginning", &text)), "{content}");
}

fn rows(bed: &Bed) -> Vec<Value> {
    let operation = operations().iter().find(|one| one.name == "listAsMax").expect("an operation");
    let answer = operation.call(&bed.engine, &bed.caller, 1_000, Map::new()).expect("an answer");
    serde_json::from_str(&answer.data).expect("JSON")
}

#[test]
fn recall_of_max_shows_the_section_that_holds_the_keyword() {
    let bed = Bed::new();
    let text = manual();
    push(&bed, "manual.md", &text);
    let line = text.lines().position(|line| line == "## Anodes").expect("it is there") + 1;
    let found = bed.text(Max, "recall", json!({ "keyword": "ZINC anodes" }));
    let place = pointer(&format!("Manual › Anodes, line {line}"), &text);
    assert_eq!(
        found,
        format!(
            "Found 1 memory:\n  • #1 [fact] ## Anodes\n    \n    The zinc anodes are replaced every spring.\n    {place} (user, 2026-01-01)"
        )
    );
    let recent = bed.text(Max, "recall", json!({}));
    assert!(recent.len() < 3_000 && recent.contains(&pointer("the beginning", &text)), "{recent}");
}

#[test]
fn recall_of_groups_shows_the_section_that_matched() {
    let bed = Bed::new();
    let caller = bed.space("family", SpaceKind::Group);
    let text = manual();
    let request =
        SaveRequest { source_path: Some("/docs/manual.md".to_owned()), ..SaveRequest::new(text.as_str()) };
    let id = bed.save_as(&caller, request);
    for query in ["zinc anodes", "nodes are repl"] {
        let reply =
            bed.call_as(&caller, Groups, "recall_memories", json!({ "query": query })).expect("found");
        let found = reply.as_text();
        assert!(found.len() < 1_000, "{found}");
        assert!(found.contains(
            "]: ## Anodes\n  \n  The zinc anodes are replaced every spring.\n  [Manual › Anodes, line "
        ));
        let whole = format!("`tulving get {id}` and the resource memory://{id} return all of it]");
        assert!(found.contains(&whole), "a number would be one of another space: {found}");
    }
}

#[test]
fn a_recall_of_spacebot_with_one_result_had_two_hundred_thousand_characters() {
    let bed = Bed::new();
    let text = manual();
    push(&bed, "manual.md", &text);
    let found = bed.data(Spacebot, "memory_recall", json!({ "query": "zinc anodes", "max_results": 1 }));
    assert!(found.to_string().len() < 2_000, "{found}");
    let content = found["memories"][0]["content"].as_str().expect("a text");
    assert!(
        content.starts_with("## Anodes\n\nThe zinc anodes") && content.contains("tulving get 1"),
        "{content}"
    );
    let summary = found["summary"].as_str().expect("a text");
    assert!(
        summary.contains("The zinc anodes are replaced every spring.") && !summary.contains("tulving get")
    );
    let recent = bed.data(Spacebot, "memory_recall", json!({ "mode": "recent" }));
    let content = recent["memories"][0]["content"].as_str().expect("a text");
    assert!(
        content.starts_with("# Manual") && content.ends_with(&pointer("the beginning", &text)),
        "{content}"
    );
}

#[test]
fn what_was_saved_through_the_dialect_returns_whole_and_its_summary_does_not_repeat_it() {
    let bed = Bed::new();
    let long = format!("It begins. {}It ends.", "The pump is greased with care in May. ".repeat(1_200));
    assert!(long.len() > 45_000 && long.len() <= 50_000);
    bed.text(Max, "remember", json!({ "category": "fact", "content": long }));
    assert!(bed.text(Max, "recall", json!({ "keyword": "it ends" })).contains(&long));
    assert!(tulving_dialects::max::summary(&bed.context(Max)).expect("a summary").contains(&long));
    let found = bed.data(Spacebot, "memory_recall", json!({ "query": "greased pump", "max_results": 1 }));
    assert_eq!(found["memories"][0]["content"], json!(long));
    let summary = found["summary"].as_str().expect("a text");
    assert!(
        summary.chars().count() < 450 && summary.contains("It begins. The pump") && summary.ends_with('…')
    );
    let short = "A content of one line\nand another";
    bed.data(Spacebot, "memory_save", json!({ "content": short }));
    let found =
        bed.data(Spacebot, "memory_recall", json!({ "query": "one line and another", "max_results": 1 }));
    assert!(found["summary"].as_str().expect("a text").ends_with(": A content of one line\n   and another"));
    let caller = bed.space("family", SpaceKind::Group);
    let saved = json!({ "key": "pump", "content": long });
    bed.call_as(&caller, Groups, "save_memory", saved).expect("saved");
    let found =
        bed.call_as(&caller, Groups, "recall_memories", json!({ "query": "greased" })).expect("found");
    assert!(found.as_text().contains(&long));
}

#[test]
fn a_text_pushed_without_a_path_is_a_document_from_fifty_thousand_bytes_on() {
    let bed = Bed::new();
    let text = "The pump is greased with care in May. ".repeat(2_000);
    bed.engine.save(&bed.caller, SaveRequest::new(text.trim_end())).expect("pushed");
    let found = bed.data(Spacebot, "memory_recall", json!({ "query": "pump", "max_results": 1 }));
    assert!(found.to_string().len() < 4_000, "{}", found.to_string().len());
    let native = bed.data(Native, "recall", json!({ "query": "pump" }));
    assert!(native.to_string().len() < 10_000);
}
