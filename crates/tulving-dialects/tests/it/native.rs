use std::sync::Arc;

use serde_json::{Value, json};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_dialects::Dialect::Native;
use tulving_testkit::embedder::BrokenEmbedder;

use crate::bed::{Bed, each};

#[test]
fn many_are_saved_as_one_act_or_none() {
    let bed = Bed::new();
    let wrong = json!({ "memories": [{ "content": "good" }, { "content": " " }] });
    let said = bed.refused(Native, "save", wrong);
    assert_eq!(said, "memory 2 of the batch: the content is empty; say what to remember");
    let wrong = json!({ "memories": [{ "content": "good" }, { "content": "x", "updates": "that one" }] });
    assert!(bed.refused(Native, "save", wrong).starts_with("`that one` does not name a memory"));
    assert_eq!(bed.count(), 0);
    let many = json!({ "memories": [{ "content": "one" }, { "content": "two" }, { "content": "one" }] });
    let saved = bed.data(Native, "save", many);
    let status: Vec<&str> = saved["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["status"].as_str().expect("a word"))
        .collect();
    assert_eq!(status, ["created", "created", "duplicate"]);
    assert_eq!(bed.count(), 2);
}

#[test]
fn list_has_all_of_a_sort_page_by_page_with_how_many_there_are() {
    let bed = Bed::new();
    let todos: Vec<_> =
        (1..=6).map(|n| json!({ "content": format!("errand {n}"), "type": "todo" })).collect();
    bed.data(Native, "save", json!({ "memories": todos }));
    bed.data(
        Native,
        "save",
        json!({ "memories": [{ "content": "tea", "type": "preference", "tags": ["drink"] }] }),
    );
    bed.data(Native, "done", json!({ "id": "#2" }));
    let contents =
        |page: &Value| each(&page["memories"], "content").into_iter().map(str::to_owned).collect::<Vec<_>>();
    let first = bed.data(Native, "list", json!({ "types": ["todo"], "limit": 4 }));
    assert_eq!(contents(&first), ["errand 6", "errand 5", "errand 4", "errand 3"]);
    assert_eq!(first["total"], 6);
    let rest = json!({ "types": ["todo"], "limit": 4, "cursor": first["next_cursor"] });
    let rest = bed.data(Native, "list", rest);
    assert_eq!(contents(&rest), ["errand 1", "errand 2"], "what is done comes last");
    assert_eq!((&rest["next_cursor"], &rest["total"]), (&json!(null), &json!(6)));
    assert!(rest["memories"][1]["done_at"].is_string() && rest["memories"][0]["done_at"].is_null());
    let open = bed.data(Native, "list", json!({ "types": ["todo"], "done": false }));
    assert_eq!((&open["total"], contents(&open).len()), (&json!(5), 5));
    assert_eq!(contents(&bed.data(Native, "list", json!({ "tags": ["drink"] }))), ["tea"]);
    assert_eq!(bed.data(Native, "list", json!({ "contains": "nothing" }))["total"], 0);
}

#[test]
fn recall_lists_what_a_question_only_names_and_what_has_no_question() {
    let bed = Bed::new();
    let todos: Vec<_> =
        (1..=12).map(|n| json!({ "content": format!("errand {n}"), "type": "todo" })).collect();
    bed.data(Native, "save", json!({ "memories": todos }));
    let answer = bed.data(Native, "recall", json!({ "query": "what are my open todos?" }));
    assert_eq!((&answer["listed"]["what"], &answer["evidence"]), (&json!("12 open todos"), &json!("strong")));
    assert_eq!(each(&answer["memories"], "content").len(), 12, "more than the usual eight");
    let few = bed.data(Native, "recall", json!({ "query": "how many todos are open?", "limit": 2 }));
    assert_eq!((&few["total"], each(&few["memories"], "content").len()), (&json!(12), 2));
    let unasked = bed.data(Native, "recall", json!({ "types": ["todo"], "since": "yesterday" }));
    assert_eq!((&unasked["total"], &unasked["evidence"]), (&json!(12), &json!(null)));
    let nothing = bed.refused(Native, "recall", json!({}));
    assert_eq!(nothing, "`query` is missing; give a question, or filter by types, tags or times");
}

#[test]
fn further_sections_of_a_long_memory_are_told_and_left_out_where_there_are_none() {
    let bed = Bed::new();
    let section =
        |name: &str, described: &str| format!("## {name}\n\n{described} {}\n\n", "All is clean. ".repeat(30));
    let boiler = section("Boiler", "The relief valve opens at nine bar.");
    let tank = section("Tank", "The relief valve opens at three bar.");
    let content = format!("# Manual\n\n{boiler}{}{tank}", section("Hose", "It is blue."));
    bed.data(
        Native,
        "save",
        json!({ "memories": [{ "content": content }, { "content": "A relief valve" }] }),
    );
    let found = bed.data(Native, "recall", json!({ "query": "The relief valve opens at nine bar" }));
    let (long, short) = (&found["memories"][0], &found["memories"][1]);
    let further = &long["more_sections"][0];
    assert_eq!(long["more_sections"].as_array().map(Vec::len), Some(1), "{long}");
    assert_eq!((&further["heading_path"], &further["line"]), (&json!(["Manual", "Tank"]), &json!(11)));
    assert_eq!(further["content"], tank.trim_end());
    assert!(further["relevance_score"].as_f64() <= long["relevance_score"].as_f64());
    assert!(short.get("more_sections").is_none(), "{short}");
}

#[test]
fn the_six_tools_work_together() {
    let bed = Bed::new();
    let saved = bed.data(
        Native,
        "save",
        json!({ "memories": [{ "content": "We deploy with make ship", "type": "decision" }] }),
    );
    assert_eq!(saved["memories"][0]["number"], 1);
    let found = bed.data(Native, "recall", json!({ "query": "how do we deploy?", "limit": 3.0 }));
    assert_eq!(found["memories"][0]["number"], 1);
    let replaced =
        json!({ "memories": [{ "content": "We deploy with cargo ship", "type": "decision", "updates": 1 }] });
    bed.data(Native, "save", replaced);
    let found = bed.data(Native, "recall", json!({ "query": "how do we deploy?" }));
    assert_eq!(
        (&found["memories"][0]["number"], &found["memories"][1]["superseded_by"]),
        (&json!(2), &found["memories"][0]["id"])
    );
    let updated = bed.data(Native, "update", json!({ "id": 2, "content": "We deploy with just ship" }));
    assert_eq!(
        (&updated["number"], &updated["content"], &updated["version"]),
        (&json!(2), &json!("We deploy with just ship"), &json!(2))
    );
    let linked =
        bed.data(Native, "associate", json!({ "id": "#2", "target": "#1", "relation": "caused_by" }));
    assert_eq!((&linked["relation"], &linked["weight"]), (&json!("caused_by"), &json!(0.5)));
    let context = bed.data(Native, "context", json!({}));
    let context = context["context"].as_str().expect("a block");
    assert!(
        context.contains("- [#2] We deploy with just ship") && !context.contains("make ship"),
        "{context}"
    );
    bed.data(Native, "forget", json!({ "id": "#2", "reason": "wrong" }));
    assert_eq!(
        bed.refused(Native, "update", json!({ "id": "#2", "content": "x" })),
        "memory #2 is forgotten"
    );
    bed.data(Native, "forget", json!({ "id": "#1", "hard": true }));
    assert_eq!(bed.count(), 0);
}

#[test]
fn what_changed_back_replaces_what_had_replaced_it() {
    let bed = Bed::new();
    let save = |content: &str, replaces: Option<&str>| {
        let mut new = json!({ "content": content });
        if let Some(replaces) = replaces {
            new["updates"] = json!(replaces);
        }
        let saved = bed.data(Native, "save", json!({ "memories": [new] }));
        saved["memories"][0]["warnings"][0]["message"].clone()
    };
    save("The office is in Berlin", None);
    save("The office is in Hamburg", Some("#1"));
    assert_eq!(
        save("The office is in Berlin", None),
        json!("#1 was superseded by #2; if it is true again, save it with an association that `updates` #2")
    );
    let back = json!("#1 no longer counts as updated by #2");
    assert_eq!(save("The office is in Berlin", Some("#2")), back);
    save("The office is in Hamburg", Some("#1"));
    let link = json!({ "id": "#1", "target": "#2", "relation": "updates" });
    assert_eq!(bed.data(Native, "associate", link)["warnings"][0]["message"], back);
    let context = bed.data(Native, "context", json!({}))["context"].to_string();
    assert!(context.contains("Berlin") && !context.contains("Hamburg"), "{context}");
}

#[test]
fn what_is_known_keeps_its_own_and_the_answer_says_so_without_naming_commands() {
    let bed = Bed::new();
    bed.data(Native, "save", json!({ "memories": [{ "content": "Tea" }] }));
    let again = bed.data(Native, "save", json!({ "memories": [{ "content": "Tea", "importance": 0.9 }] }));
    assert_eq!(
        again["memories"][0]["warnings"][0]["message"],
        "#1 has the same content and keeps its own importance"
    );
}

#[test]
fn an_id_of_another_space_names_nothing() {
    let bed = Bed::new();
    let elsewhere = bed.space("work", SpaceKind::Hub);
    let far = bed.save_as(&elsewhere, SaveRequest::new("far away")).to_string();
    for (tool, arguments) in [
        ("update", json!({ "id": far, "content": "near" })),
        ("forget", json!({ "id": far })),
        ("associate", json!({ "id": far, "target": far })),
    ] {
        assert_eq!(bed.refused(Native, tool, arguments), format!("there is no memory {far}"));
    }
}

#[test]
fn what_could_not_be_embedded_is_said_by_save_and_by_update() {
    let bed = Bed::with(Arc::new(BrokenEmbedder));
    let saved =
        bed.data(Native, "save", json!({ "memories": [{ "content": "Deploys go through make ship" }] }));
    let edited = bed.data(
        Native,
        "update",
        json!({ "id": saved["memories"][0]["id"], "content": "Deploys go through make land" }),
    );
    for answer in [&saved["memories"][0], &edited] {
        let warning = answer["warnings"][0]["message"].as_str().expect("a warning");
        assert!(warning.contains("embedded"), "{warning}");
    }
    assert_eq!(edited["content"], "Deploys go through make land", "it is changed all the same");
}

#[test]
fn turns_are_logged_and_archived_without_messages() {
    let bed = Bed::new();
    bed.clock.set("2026-05-27T09:00:00Z".parse().expect("a time"));
    for (role, content) in [("user", "Fix the JWT expiry bug"), ("assistant", "On it")] {
        let turn = json!({ "role": role, "content": content, "source": "telegram", "channel": "dm" });
        bed.data(Native, "log_turn", turn);
    }
    let again =
        bed.data(Native, "log_turn", json!({ "role": "assistant", "content": "On it", "speaker": "Max" }));
    assert_eq!(again["position"], 3, "what is said again is logged again");
    assert_eq!(bed.count(), 0, "a turn is no memory");
    let kept = bed.data(Native, "archive_conversation", json!({ "channel": "dm" }));
    assert_eq!((&kept["messages"], &kept["from_log"]), (&json!(2), &json!(true)));
    assert_eq!(kept["name"], "2026-05-27-fix-the-jwt-expiry-bug");
    let found = bed.data(Native, "recall", json!({ "query": "what about the JWT expiry bug?" }));
    assert_eq!(found["memories"][0]["key"], "conversation-2026-05-27-fix-the-jwt-expiry-bug");
}

#[test]
fn done_closes_a_todo_says_so_twice_and_takes_it_back() {
    let bed = Bed::new();
    bed.data(Native, "save", json!({ "memories": [{ "content": "buy milk", "type": "todo" }] }));
    bed.data(Native, "save", json!({ "memories": [{ "content": "milk is white" }] }));
    let closed = bed.data(Native, "done", json!({ "id": "#1", "at": "2025-12-24" }));
    assert_eq!(closed["changed"], true);
    assert!(closed["done_at"].as_str().is_some_and(|at| at.starts_with("2025-12-24")), "{closed}");
    assert_eq!(bed.data(Native, "done", json!({ "id": "#1" }))["changed"], false);
    let open = bed.data(Native, "recall", json!({ "query": "milk", "done": false }));
    assert_eq!(open["memories"], json!([]));
    let done = bed.data(Native, "recall", json!({ "query": "milk", "done": true }));
    assert_eq!(done["memories"][0]["done_at"], closed["done_at"]);
    let opened = bed.data(Native, "done", json!({ "id": "#1", "undo": true }));
    assert_eq!((&opened["done_at"], &opened["changed"]), (&json!(null), &json!(true)));
    let refused = bed.refused(Native, "done", json!({ "id": "#2" }));
    assert!(refused.contains("of the type fact; only a todo or a goal can be marked as done"), "{refused}");
}

#[test]
fn a_save_names_once_what_it_may_update() {
    let bed = Bed::new();
    let save = |contents: &[&str]| {
        let memories: Vec<Value> = contents.iter().map(|content| json!({ "content": content })).collect();
        bed.data(Native, "save", json!({ "memories": memories }))
    };
    assert!(save(&["The demo is on Thursday", "Standup is at 9:30"]).get("resembles").is_none());
    let saved = save(&["The demo is on Friday", "Standup is at 10:00", "note 1", "note 2"]);
    let how = "if one replaces the other, link the newer to the older with an association that `updates` it";
    assert_eq!(saved["resembles"], format!("possible updates: #3 of #1, #4 of #2; {how}"));
    assert_eq!(each_number(&saved["memories"][0]["possible_updates"]), [1]);
    assert!(saved["memories"][3].get("possible_updates").is_none(), "{saved}");
}

fn each_number(memories: &Value) -> Vec<u64> {
    memories.as_array().into_iter().flatten().filter_map(|memory| memory["number"].as_u64()).collect()
}
