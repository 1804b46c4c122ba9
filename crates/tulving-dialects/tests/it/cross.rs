use std::sync::Arc;

use serde_json::json;
use tulving_core::model::id::{MemoryNumber, MemoryRef};
use tulving_core::model::request::{ForgetMode, ForgetRequest};
use tulving_dialects::Dialect::{Groups, Max, Memax, Native, Spacebot};
use tulving_testkit::embedder::BrokenEmbedder;

use crate::bed::Bed;

/// A save in one dialect, and how each dialect shows it.
struct DialectSaveCase {
    by: tulving_dialects::Dialect,
    tool: &'static str,
    arguments: serde_json::Value,
    content: &'static str,
    max: &'static str,
    spacebot: &'static str,
    groups: &'static str,
    kind: &'static str,
    native: &'static str,
}

#[test]
fn what_one_dialect_saved_every_other_shows_in_its_own_words() {
    let saved = [
        DialectSaveCase {
            by: Max,
            tool: "remember",
            arguments: json!({ "category": "routine", "content": "Alpha standup at nine" }),
            content: "Alpha standup at nine",
            max: "routine",
            spacebot: "fact",
            groups: "core",
            kind: "procedural",
            native: "routine",
        },
        DialectSaveCase {
            by: Spacebot,
            tool: "memory_save",
            arguments: json!({ "content": "Bravo was decided", "memory_type": "decision" }),
            content: "Bravo was decided",
            max: "project",
            spacebot: "decision",
            groups: "core",
            kind: "rationale",
            native: "decision",
        },
        DialectSaveCase {
            by: Spacebot,
            tool: "memory_save",
            arguments: json!({ "content": "Charlie is my name", "memory_type": "identity" }),
            content: "Charlie is my name",
            max: "person",
            spacebot: "identity",
            groups: "core",
            kind: "semantic",
            native: "identity",
        },
        DialectSaveCase {
            by: Spacebot,
            tool: "memory_save",
            arguments: json!({ "content": "Delta was observed", "memory_type": "observation" }),
            content: "Delta was observed",
            max: "fact",
            spacebot: "observation",
            groups: "core",
            kind: "semantic",
            native: "observation",
        },
        DialectSaveCase {
            by: Spacebot,
            tool: "memory_save",
            arguments: json!({ "content": "Echo has to be done", "memory_type": "todo" }),
            content: "Echo has to be done",
            max: "project",
            spacebot: "todo",
            groups: "daily",
            kind: "episodic",
            native: "todo",
        },
        DialectSaveCase {
            by: Groups,
            tool: "save_memory",
            arguments: json!({ "key": "fox", "content": "Foxtrot for today", "category": "daily" }),
            content: "Foxtrot for today",
            max: "fact",
            spacebot: "fact",
            groups: "daily",
            kind: "semantic",
            native: "fact",
        },
        DialectSaveCase {
            by: Groups,
            tool: "save_memory",
            arguments: json!({ "key": "talk", "content": "Golf was talked about", "category": "conversation" }),
            content: "Golf was talked about",
            max: "fact",
            spacebot: "fact",
            groups: "conversation",
            kind: "episodic",
            native: "fact",
        },
        DialectSaveCase {
            by: Memax,
            tool: "memax_push",
            arguments: json!({ "content": "Hotel runbook", "kind": "procedural", "stability": "volatile" }),
            content: "Hotel runbook",
            max: "fact",
            spacebot: "fact",
            groups: "daily",
            kind: "procedural",
            native: "fact",
        },
        DialectSaveCase {
            by: Native,
            tool: "save",
            arguments: json!({ "memories": [{ "content": "India is a person", "type": "person" }] }),
            content: "India is a person",
            max: "person",
            spacebot: "fact",
            groups: "core",
            kind: "semantic",
            native: "person",
        },
    ];
    let bed = Bed::new();
    for one in &saved {
        bed.call(one.by, one.tool, one.arguments.clone())
            .unwrap_or_else(|refusal| panic!("{}: {refusal}", one.content));
    }
    for (number, one) in (1..).zip(&saved) {
        let word = one.content.split(' ').next().expect("a word");
        let max = bed.text(Max, "recall", json!({ "keyword": word }));
        assert_eq!(
            max,
            format!("Found 1 memory:\n  • #{number} [{}] {} (user, 2026-01-01)", one.max, one.content)
        );
        let of_category = bed.text(Max, "recall", json!({ "keyword": word, "category": one.max }));
        assert!(of_category.starts_with("Found 1"), "{of_category}");
        let arguments = json!({ "mode": "typed", "memory_type": one.spacebot, "max_results": 50 });
        let spacebot = bed.data(Spacebot, "memory_recall", arguments);
        let memories = spacebot["memories"].as_array().expect("a list");
        let shown = memories.iter().find(|memory| memory["content"] == one.content).expect(one.content);
        assert_eq!(shown["memory_type"], one.spacebot);
        let hybrid = bed.data(Spacebot, "memory_recall", json!({ "query": word }));
        assert_eq!(hybrid["memories"][0]["content"], one.content);
        let groups = bed.text(Groups, "recall_memories", json!({ "query": word }));
        assert!(groups.contains(&format!(" [{}]: {}", one.groups, one.content)), "{groups}");
        let listed = bed.text(Groups, "list_memories", json!({ "category": one.groups }));
        assert!(listed.contains(&format!("- #{number} [")) || one.by == Groups, "{listed}");
        let memax = bed.data(Memax, "memax_recall", json!({ "query": word, "kinds": [one.kind] }));
        assert_eq!(memax["memories"][0]["content"], one.content);
        assert_eq!(memax["memories"][0]["kind"], one.kind);
        let native = bed.data(Native, "recall", json!({ "query": word, "types": [one.native] }));
        assert_eq!(
            (&native["memories"][0]["content"], &native["memories"][0]["number"]),
            (&json!(one.content), &json!(number))
        );
    }
    let summary = tulving_dialects::max::summary(&bed.context(Max)).expect("a summary");
    assert_eq!(summary.matches("\n  - [#").count(), saved.len());
}

#[test]
fn what_one_dialect_forgets_none_shows() {
    let bed = Bed::new();
    for (dialect, tool, field) in [
        (Max, "forget", "memory_id"),
        (Spacebot, "memory_delete", "memory_id"),
        (Memax, "memax_forget", "id"),
        (Native, "forget", "id"),
        (Groups, "forget_memory", "key"),
    ] {
        let saved = bed.data(Spacebot, "memory_save", json!({ "content": "To be forgotten everywhere" }));
        let number = bed.memory(saved["memory_id"].as_str().expect("an id")).reference().to_string();
        bed.call(dialect, tool, json!({ field: number }))
            .unwrap_or_else(|refusal| panic!("{dialect}: {refusal}"));
        assert_eq!(bed.text(Max, "recall", json!({})), "No memories found.");
        assert_eq!(bed.text(Groups, "list_memories", json!({})), "No memories saved.");
        assert_eq!(bed.data(Spacebot, "memory_recall", json!({ "mode": "recent" }))["total_found"], 0);
        assert_eq!(bed.data(Memax, "memax_list", json!({ "include_archived": true }))["memories"], json!([]));
        assert_eq!(bed.data(Native, "recall", json!({ "query": "forgotten" }))["total"], 0);
    }
}

#[test]
fn what_could_not_be_looked_at_is_said_by_every_dialect_that_searches() {
    let bed = Bed::with(Arc::new(BrokenEmbedder));
    bed.text(Groups, "save_memory", json!({ "key": "tea", "content": "Tea is served at four" }));
    for (dialect, tool, asked) in [
        (Native, "recall", json!({ "query": "tea" })),
        (Memax, "memax_recall", json!({ "query": "tea" })),
        (Spacebot, "memory_recall", json!({ "query": "tea" })),
    ] {
        let found = bed.data(dialect, tool, asked);
        assert_eq!(found["memories"][0]["content"], "Tea is served at four", "{dialect}");
        if dialect == Native {
            let failed = &found["failed_lanes"][0];
            assert_eq!(failed["lane"], "vector");
            assert!(failed["why"].as_str().expect("a reason").starts_with("the model broken failed"));
            continue;
        }
        let said = found["warnings"][0].as_str().expect("a warning");
        assert!(said.starts_with("vector: the model broken failed"), "{dialect}: {said}");
    }
    let groups = |bed: &Bed| bed.text(Groups, "recall_memories", json!({ "query": "tea" }));
    assert_eq!(groups(&bed), "Found 1 memory:\n- tea [core]: Tea is served at four");
    bed.files.set_broken(true);
    let said = groups(&bed);
    assert!(said.contains("\n(The answer is incomplete: "), "{said}");
}

#[test]
fn what_spacebot_deleted_softly_is_kept_from_the_deletes_of_other_systems() {
    let bed = Bed::new();
    let save = |content: &str| {
        let saved = bed.data(Spacebot, "memory_save", json!({ "content": content }));
        saved["memory_id"].as_str().expect("an id").to_owned()
    };
    for n in 1..=3 {
        let id = save(&format!("row {n} is kept for the audit"));
        bed.data(Spacebot, "memory_delete", json!({ "memory_id": id, "reason": "outdated" }));
        let which: MemoryRef = id.parse().expect("an id");
        match n {
            1 => assert_eq!(bed.text(Max, "forget", json!({ "memory_id": 1 })), "Memory #1 not found."),
            2 => assert_eq!(
                bed.text(Groups, "forget_memory", json!({ "key": "#2" })),
                "No memory with key \"#2\"."
            ),
            _ => assert_eq!(bed.data(Memax, "memax_forget", json!({ "id": id }))["deleted"], false),
        }
        let kept = bed.engine.get_forgotten(&bed.caller, which).expect("looked up");
        assert!(kept.is_some(), "row {n} is gone");
    }
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    bed.engine.forget(&bed.caller, MemoryRef::Number(MemoryNumber(1)), &hard).expect("erased on purpose");
    assert!(
        bed.engine
            .get_forgotten(&bed.caller, MemoryRef::Number(MemoryNumber(1)))
            .expect("looked up")
            .is_none()
    );
}
