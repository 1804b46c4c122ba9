use serde_json::json;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_dialects::Dialect::{Groups, Max, Memax, Native, Spacebot};
use tulving_dialects::{Dialect, max};

use crate::bed::Bed;

fn bed() -> Bed {
    let bed = Bed::new();
    bed.text(Max, "remember", json!({ "category": "fact", "content": "The boat is moored in Bern" }));
    bed.edit("memory/2026-05-27.md", "Something else\n\nThe boat was painted red\n");
    bed
}

#[test]
fn native_and_memax_have_file_and_line_as_fields() {
    let bed = bed();
    let answer = bed.data(Native, "recall", json!({ "query": "what about the boat painted red?" }));
    let memories = answer["memories"].as_array().expect("memories");
    let painted =
        memories.iter().find(|memory| memory["content"] == "The boat was painted red").expect("found");
    assert_eq!(
        (&painted["source_path"], &painted["mirror"]["line"]),
        (&json!("memory/2026-05-27.md"), &json!(3))
    );
    let moored = memories.iter().find(|memory| memory["number"] == 1).expect("found");
    assert!(moored.get("source_path").is_none() && moored.get("mirror").is_none(), "{moored}");
    let answer = bed.data(Memax, "memax_recall", json!({ "query": "what about the boat painted red?" }));
    let memories = answer["memories"].as_array().expect("memories");
    let painted =
        memories.iter().find(|memory| memory["content"] == "The boat was painted red").expect("found");
    assert_eq!((&painted["source_path"], &painted["line"]), (&json!("memory/2026-05-27.md"), &json!(3)));
    let id = painted["id"].as_str().expect("an id");
    assert_eq!(bed.data(Memax, "memax_get", json!({ "id": id }))["line"], 3);
    let listed = bed.data(Memax, "memax_list", json!({}));
    assert_eq!(listed["memories"].as_array().map(Vec::len), Some(1), "a list has records");
}

#[test]
fn groups_calls_them_by_file_and_line() {
    let bed = Bed::new();
    let group = bed.space("kitchen", SpaceKind::Group);
    let call = |tool: &str, arguments| {
        bed.call_as(&group, Groups, tool, arguments).expect("an answer").into_parts().0
    };
    call("save_memory", json!({ "key": "soup", "content": "The soup needs thyme" }));
    bed.edit_as(&group, "recipes.md", "# Soups\n\n- thyme and leek\n");
    let text = call("recall_memories", json!({ "query": "thyme" }));
    assert!(text.starts_with("Found 2 memories:"), "{text}");
    assert!(text.contains("\n- groups/kitchen/recipes.md:3 [core]: thyme and leek"), "{text}");
    assert_eq!(call("list_memories", json!({})), "1 memory:\n- soup [core]");
    let gone = call("forget_memory", json!({ "key": "groups/kitchen/recipes.md:3" }));
    assert!(gone.contains("it comes from the file recipes.md"), "{gone}");
}

#[test]
fn forgetting_a_file_by_its_name_says_that_it_is_a_file() {
    let bed = Bed::new();
    let group = bed.space("kitchen", SpaceKind::Group);
    let call = |tool: &str, arguments| {
        bed.call_as(&group, Groups, tool, arguments).expect("an answer").as_text().to_owned()
    };
    bed.edit_as(&group, "recipes.md", "# Soups\n\n- thyme and leek\n");
    for key in ["recipes.md", "recipes.md:3", "groups/kitchen/recipes.md", " groups/kitchen/recipes.md:3 "] {
        let said = call("forget_memory", json!({ "key": key }));
        let explained = format!(
            "\"{}\" is not a saved memory: it comes from the file recipes.md. Nothing was removed. To forget it, edit or \
             remove the file.",
            key.trim()
        );
        assert_eq!(said, explained);
    }
    for key in ["recipes", "other.md", "recipes.md:x", "groups/cellar/recipes.md:3"] {
        let said = call("forget_memory", json!({ "key": key }));
        assert_eq!(said, format!("No memory with key \"{key}\"."));
    }
    // A key that equals the name of a file names the memory.
    call("save_memory", json!({ "key": "recipes.md", "content": "See the recipes" }));
    assert_eq!(call("forget_memory", json!({ "key": "recipes.md" })), "Removed memory \"recipes.md\".");
    assert!(call("recall_memories", json!({ "query": "thyme" })).contains("thyme and leek"));
}

#[test]
fn spacebot_names_them_in_its_summary() {
    let bed = bed();
    let answer = bed.data(Spacebot, "memory_recall", json!({ "query": "boat painted red" }));
    let summary = answer["summary"].as_str().expect("a summary");
    assert!(summary.contains("**memory/2026-05-27.md:3** fact"), "{summary}");
    let answer = bed.data(Spacebot, "memory_recall", json!({ "mode": "recent" }));
    assert_eq!(answer["memories"].as_array().map(Vec::len), Some(1), "{answer}");
    let id = bed.data(Spacebot, "memory_recall", json!({ "query": "boat painted red" }))["memories"]
        .as_array()
        .and_then(|memories| memories.iter().find(|memory| memory["content"] == "The boat was painted red"))
        .map(|memory| memory["id"].clone())
        .expect("found");
    let refused = bed.refused(Spacebot, "memory_delete", json!({ "memory_id": id }));
    assert!(refused.contains("mirrors line 3 of memory/2026-05-27.md"), "{refused}");
}

#[test]
fn max_has_records_alone() {
    let bed = bed();
    let text = bed.text(Max, "recall", json!({ "keyword": "boat" }));
    assert!(text.starts_with("Found 1 memory:") && text.contains("#1"), "{text}");
    let summary = max::summary(&bed.context(Max)).expect("a summary");
    assert!(summary.contains("moored") && !summary.contains("painted"), "{summary}");
}

#[test]
fn nowhere_is_a_mirror_called_by_no_number() {
    let bed = bed();
    for (dialect, tool, arguments) in [
        (Native, "recall", json!({ "query": "boat painted red" })),
        (Max, "recall", json!({ "keyword": "red" })),
        (Memax, "memax_recall", json!({ "query": "boat painted red" })),
        (Groups, "recall_memories", json!({ "query": "painted" })),
        (Spacebot, "memory_recall", json!({ "query": "boat painted red" })),
        (Native, "context", json!({ "about": "the boat that was painted red" })),
    ] as [(Dialect, &str, _); 6]
    {
        let text = bed.text(dialect, tool, arguments);
        assert!(!text.contains("None") && !text.contains("#null"), "{dialect} {tool}: {text}");
    }
}
