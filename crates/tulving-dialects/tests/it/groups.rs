use serde_json::json;
use tulving_core::model::request::{Filter, ListRequest, SaveRequest, Sort};
use tulving_core::model::vocabulary::{ContentType, SpaceKind, Stability};
use tulving_dialects::Dialect::{Groups, Native};

use crate::bed::Bed;

fn save(bed: &Bed, key: &str, content: &str) -> String {
    bed.text(Groups, "save_memory", json!({ "key": key, "content": content }))
}

fn recall(bed: &Bed, query: &str) -> String {
    bed.text(Groups, "recall_memories", json!({ "query": query }))
}

#[test]
fn a_key_that_exists_is_updated_in_place() {
    let bed = Bed::new();
    assert_eq!(
        save(&bed, "favorite-color", "The user likes blue"),
        "Saved memory \"favorite-color\" (core)."
    );
    let old = bed.memory("#1");
    assert_eq!(
        save(&bed, "favorite-color", "The user likes green"),
        "Updated memory \"favorite-color\" (core)."
    );
    assert_eq!(
        save(&bed, "favorite-color", "The user likes green"),
        "Already saved memory \"favorite-color\" (core)."
    );
    let new = bed.memory("#1");
    assert_eq!((new.id, new.usage.created_at, new.version.0), (old.id, old.usage.created_at, 2));
    assert_eq!(new.fields.text.content, "The user likes green");
    assert_eq!(bed.count(), 1);
}

#[test]
fn core_is_the_default_and_each_category_sets_what_it_means() {
    let bed = Bed::new();
    save(&bed, "a", "permanent");
    for (key, category) in [("b", "daily"), ("c", "conversation"), ("d", "core")] {
        let arguments = json!({ "key": key, "content": "a thing", "category": category });
        let said = bed.text(Groups, "save_memory", arguments);
        assert_eq!(said, format!("Saved memory \"{key}\" ({category})."));
    }
    assert_eq!(bed.memory("#1").fields.class.stability, Stability::Stable);
    assert_eq!(bed.memory("#2").fields.class.stability, Stability::Volatile);
    assert_eq!(bed.memory("#3").fields.text.content_type, ContentType::Transcript);
    assert_eq!(
        bed.refused(Groups, "save_memory", json!({ "key": "k", "content": "c", "category": "research" })),
        "unknown category `research`; use one of core, daily, conversation"
    );
    let changed = json!({ "key": "b", "content": "a thing", "category": "core" });
    assert_eq!(bed.text(Groups, "save_memory", changed), "Updated memory \"b\" (core).");
    let changed = json!({ "key": "c", "content": "a thing", "category": "daily" });
    assert_eq!(bed.text(Groups, "save_memory", changed), "Updated memory \"c\" (daily).");
}

#[test]
fn full_text_ranks_by_how_often_a_word_is_there() {
    let bed = Bed::new();
    save(&bed, "lunch", "The project lunch is on Friday at noon in the canteen");
    save(&bed, "deadline", "The project deadline: the deadline of the project is March 3");
    save(&bed, "favorite-color", "It is blue");
    assert_eq!(
        recall(&bed, "project deadline"),
        "Found 2 memories:\n\
         - deadline [core]: The project deadline: the deadline of the project is March 3\n\
         - lunch [core]: The project lunch is on Friday at noon in the canteen"
    );
    assert_eq!(recall(&bed, "favorite color"), "Found 1 memory:\n- favorite-color [core]: It is blue");
}

#[test]
fn where_no_word_matches_a_substring_does() {
    let bed = Bed::new();
    save(&bed, "docs", "See https://example.com/docs?page=2&x=100%25#top");
    // A part of a word is text, not the beginning of another word.
    save(&bed, "lunch", "The project lunch is on Friday at noon in the canteen");
    save(&bed, "odd", "C++ & \"quoted\" 100% snake_case \\ back — ¿qué?");
    for (query, key) in [
        ("https://example.com/docs?page=2", "docs"),
        ("m/docs?p", "docs"),
        ("%25#t", "docs"),
        ("& \"", "odd"),
        ("++", "odd"),
        ("_", "odd"),
        ("\\", "odd"),
        ("ake_ca", "odd"),
        ("cante", "lunch"),
        ("¿", "odd"),
    ] {
        let said = recall(&bed, query);
        assert!(said.starts_with(&format!("Found 1 memory:\n- {key} [core]")), "{query}: {said}");
    }
}

#[test]
fn operators_and_quotes_are_text() {
    let bed = Bed::new();
    save(&bed, "tea", "Tea is made with boiling water");
    save(&bed, "coffee", "Coffee is made with hot milk");
    for query in
        ["tea AND NOT tea", "\"tea", "tea*", "(tea", "key:tea", "tea OR", "NEAR(tea)", "-tea", "tea^2"]
    {
        let said = recall(&bed, query);
        assert!(said.contains("- tea [core]"), "{query}: {said}");
    }
    for query in ["%", "_", "*", "\"\"", "'; DROP TABLE memories; --"] {
        assert_eq!(recall(&bed, query), "No memories found.", "{query}");
    }
    assert_eq!(bed.refused(Groups, "recall_memories", json!({ "query": "  " })), "`query` is empty");
    assert_eq!(
        bed.refused(Groups, "recall_memories", json!({ "query": "x", "limit": 51 })),
        "limit is 51; give 1 to 50"
    );
    assert_eq!(
        bed.refused(Groups, "recall_memories", json!({ "query": "x", "limit": 0 })),
        "limit is 0; give 1 to 50"
    );
}

#[test]
fn keys_are_listed_newest_first_and_by_category() {
    let bed = Bed::new();
    assert_eq!(bed.text(Groups, "list_memories", json!({})), "No memories saved.");
    for (key, category) in [("one", "core"), ("two", "daily"), ("three", "conversation"), ("four", "core")] {
        bed.text(Groups, "save_memory", json!({ "key": key, "content": key, "category": category }));
    }
    assert_eq!(
        bed.text(Groups, "list_memories", json!({})),
        "4 memories:\n- four [core]\n- three [conversation]\n- two [daily]\n- one [core]"
    );
    assert_eq!(
        bed.text(Groups, "list_memories", json!({ "category": "core" })),
        "2 memories:\n- four [core]\n- one [core]"
    );
    assert_eq!(bed.text(Groups, "list_memories", json!({ "category": "daily" })), "1 memory:\n- two [daily]");
    assert!(
        bed.refused(Groups, "list_memories", json!({ "category": "x" }))
            .ends_with("use one of core, daily, conversation")
    );
}

#[test]
fn forgetting_by_key_is_final_and_says_whether_something_was_removed() {
    let bed = Bed::new();
    save(&bed, "temp", "soon gone");
    assert_eq!(bed.text(Groups, "forget_memory", json!({ "key": " temp " })), "Removed memory \"temp\".");
    assert_eq!(bed.text(Groups, "forget_memory", json!({ "key": "temp" })), "No memory with key \"temp\".");
    assert_eq!(recall(&bed, "gone"), "No memories found.");
    let filter =
        Filter { forgotten: tulving_core::model::request::ForgottenFilter::Only, ..Filter::default() };
    let page = ListRequest { filter, sort: Sort::Newest, limit: 9, cursor: None };
    assert!(bed.engine.list(&bed.caller, &page).expect("a list").memories.is_empty());
    bed.save(SaveRequest::new("saved without a key"));
    assert_eq!(bed.text(Groups, "list_memories", json!({})), "1 memory:\n- #2 [core]");
    assert_eq!(bed.text(Groups, "forget_memory", json!({ "key": "#2" })), "Removed memory \"#2\".");
}

#[test]
fn groups_know_nothing_of_one_another_through_any_dialect() {
    use tulving_dialects::Dialect::{Max, Memax, Native, Spacebot};
    let bed = Bed::new();
    let (red, blue) = (bed.space("red", SpaceKind::Group), bed.space("blue", SpaceKind::Group));
    let secret =
        bed.save_as(&red, SaveRequest { key: Some("plan".to_owned()), ..SaveRequest::new("the red plan") });
    let id = secret.to_string();
    for (dialect, tool, arguments) in [
        (Groups, "recall_memories", json!({ "query": "red plan" })),
        (Groups, "list_memories", json!({})),
        (Groups, "forget_memory", json!({ "key": "plan" })),
        (Groups, "forget_memory", json!({ "key": "#1" })),
        (Max, "recall", json!({ "keyword": "plan" })),
        (Max, "forget", json!({ "memory_id": id })),
        (Memax, "memax_get", json!({ "id": id })),
        (Memax, "memax_forget", json!({ "id": id })),
        (Memax, "memax_list", json!({ "hub_id": "red" })),
        (Memax, "memax_list", json!({ "hub_id": red.space.to_string() })),
        (Memax, "memax_push", json!({ "content": "blue was here", "hub_id": "red" })),
        (Memax, "memax_recall", json!({ "query": "plan", "hub_id": "red" })),
        (Memax, "memax_hubs", json!({})),
        (Memax, "memax_hub_members", json!({ "hub_id": "red" })),
        (Spacebot, "memory_delete", json!({ "memory_id": id })),
        (Spacebot, "memory_recall", json!({ "query": "red plan" })),
        (Native, "recall", json!({ "query": "what is the red plan?" })),
        (Native, "update", json!({ "id": id, "content": "changed" })),
        (Native, "forget", json!({ "id": id })),
        (Native, "context", json!({ "about": "red plan" })),
    ] {
        for caller in [&blue, &bed.caller] {
            let said = match bed.call_as(caller, dialect, tool, arguments.clone()) {
                Ok(reply) => reply.into_parts().0,
                Err(refusal) => refusal.to_string(),
            };
            let asked = arguments.to_string();
            assert!(!said.contains("the red plan"), "{dialect} {tool} {asked}: {said}");
            assert!(
                !said.contains("\"red\"") && !said.contains("blue was here"),
                "{dialect} {tool} {asked}: {said}"
            );
        }
    }
    let memory = bed.engine.get(&red, secret.into()).expect("still there");
    assert_eq!((memory.fields.text.content.as_str(), memory.version.0), ("the red plan", 1));
    let count = |space| {
        bed.engine.count(&bed.caller, &Filter { space: Some(space), ..Filter::default() }).expect("a count")
    };
    assert_eq!((count(red.space), count(blue.space)), (1, 0));
    let own = bed.call_as(&red, Memax, "memax_get", json!({ "id": id })).expect("its own");
    assert!(own.as_text().contains("the red plan"));
}

#[test]
fn what_has_a_key_is_not_forgotten_by_its_number() {
    let bed = Bed::new();
    bed.text(Groups, "save_memory", json!({ "key": "wifi", "content": "hunter2" }));
    let plain = bed.save(SaveRequest::new("saved without a key"));
    assert_eq!(bed.text(Groups, "forget_memory", json!({ "key": "#1" })), "No memory with key \"#1\".");
    assert_eq!(bed.text(Groups, "forget_memory", json!({ "key": "#9" })), "No memory with key \"#9\".");
    assert_eq!(bed.count(), 2);
    assert_eq!(bed.text(Groups, "forget_memory", json!({ "key": "#2" })), "Removed memory \"#2\".");
    assert!(bed.engine.get(&bed.caller, plain.into()).is_err());
    let said = bed.refused(Groups, "save_memory", json!({ "key": "#8", "content": "x" }));
    assert_eq!(said, "`#8` is the number of a memory, not a key; choose a name, such as favorite-color");
}

#[test]
fn an_archived_conversation_is_found_under_its_category() {
    let bed = Bed::new();
    bed.clock.set("2026-05-27T09:00:00Z".parse().expect("a time"));
    let group = bed.space("kitchen", SpaceKind::Group);
    let messages = json!([
        { "role": "user", "content": "How long does the stock simmer?" },
        { "role": "assistant", "content": "Four hours, with bay leaves." },
    ]);
    let archived = bed
        .call_as(&group, Native, "archive_conversation", json!({ "messages": messages, "title": "Stock" }))
        .expect("archived");
    assert_eq!(archived.as_data().expect("data")["path"], "groups/kitchen/conversations/2026-05-27-stock.md");
    let call = |tool: &str, arguments| {
        bed.call_as(&group, Groups, tool, arguments).expect("an answer").into_parts().0
    };
    let text = call("recall_memories", json!({ "query": "bay leaves" }));
    assert!(text.contains("\n- conversation-2026-05-27-stock [conversation]: Stock\n"), "{text}");
    assert_eq!(
        call("list_memories", json!({ "category": "conversation" })),
        "1 memory:\n- conversation-2026-05-27-stock [conversation]"
    );
}

#[test]
fn recall_is_narrowed_to_a_category() {
    let bed = Bed::new();
    for (key, category) in [("a", "core"), ("b", "daily"), ("c", "conversation")] {
        let arguments =
            json!({ "key": key, "content": format!("the harbour, {category}"), "category": category });
        bed.text(Groups, "save_memory", arguments);
    }
    for (key, category) in [("a", "core"), ("b", "daily"), ("c", "conversation")] {
        // By words, and by a part of a word.
        for query in ["harbour", "arbou"] {
            let found = bed.text(Groups, "recall_memories", json!({ "query": query, "category": category }));
            assert_eq!(found, format!("Found 1 memory:\n- {key} [{category}]: the harbour, {category}"));
        }
    }
    assert!(recall(&bed, "harbour").starts_with("Found 3 memories:"));
    assert_eq!(
        bed.refused(Groups, "recall_memories", json!({ "query": "harbour", "category": "research" })),
        "unknown category `research`; use one of core, daily, conversation"
    );
}
