use serde_json::{Value, json};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{Role, SpaceKind};
use tulving_dialects::Dialect::Memax;

use crate::bed::{Bed, each, fields};

/// The fields of the seed's table, with the content and the path it may have.
const TABLE: [&str; 22] = [
    "access_count",
    "accessed_at",
    "assisted_by_agent",
    "boundary",
    "content",
    "content_hash",
    "content_type",
    "created_at",
    "hub_id",
    "id",
    "kind",
    "owner_id",
    "source",
    "source_agent",
    "source_path",
    "stability",
    "state",
    "summary",
    "tags",
    "title",
    "updated_at",
    "version",
];

fn push(bed: &Bed, arguments: Value) -> Value {
    bed.data(Memax, "memax_push", arguments)
}

fn id(pushed: &Value) -> String {
    pushed["memory"]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn every_answer_has_the_whole_table_of_fields() {
    let bed = Bed::new();
    let pushed = push(
        &bed,
        json!({
            "content": "# Deploy\n\nRun make ship.", "title": "Deploying", "content_type": "markdown", "tags": ["ops"],
            "kind": "procedural", "stability": "evolving", "boundary": "team", "assisted_by_agent": "cursor"
        }),
    );
    assert_eq!(fields(&pushed), ["memory", "status"]);
    assert_eq!(fields(&pushed["memory"]), TABLE);
    assert_eq!(pushed["status"], "created");
    let memory = &pushed["memory"];
    for (field, value) in [
        ("title", json!("Deploying")),
        ("content_type", json!("markdown")),
        ("tags", json!(["ops"])),
        ("kind", json!("procedural")),
        ("stability", json!("evolving")),
        ("boundary", json!("team")),
        ("state", json!("active")),
        ("source", json!("mcp")),
        ("source_agent", json!("claude-code")),
        ("assisted_by_agent", json!("cursor")),
        ("access_count", json!(0)),
        ("version", json!(1)),
        ("created_at", json!("2026-01-01T00:00:01.000000Z")),
    ] {
        assert_eq!(memory[field], value, "{field}");
    }
    assert_eq!(memory["hub_id"], bed.caller.space.to_string());
    assert_eq!(memory["owner_id"], bed.caller.viewer.principal.to_string());
    assert_eq!(memory["content_hash"].as_str().map(str::len), Some(64));
    let name = id(&pushed);
    assert!(name.starts_with("mem_") && name.len() == 36, "{name}");
    assert_eq!(fields(&bed.data(Memax, "memax_get", json!({ "id": name }))), TABLE);
    let again = bed.data(Memax, "memax_get", json!({ "id": name }));
    assert_eq!(
        (&again["access_count"], &again["accessed_at"]),
        (&json!(1), &json!("2026-01-01T00:00:02.000000Z"))
    );
    let found = bed.data(Memax, "memax_recall", json!({ "query": "make ship" }));
    assert_eq!(fields(&found), ["memories", "total"]);
    let mut more: Vec<&str> = TABLE.to_vec();
    more.push("relevance_score");
    more.sort_unstable();
    assert_eq!(fields(&found["memories"][0]), more);
    let page = bed.data(Memax, "memax_list", json!({}));
    assert_eq!(fields(&page), ["memories", "next_cursor"]);
    assert_eq!(fields(&page["memories"][0]), TABLE);
}

#[test]
fn an_id_is_taken_in_every_form() {
    let bed = Bed::new();
    let name = id(&push(&bed, json!({ "content": "named" })));
    let uuid = bed.memory(&name).id.to_string();
    for form in [json!(name), json!(uuid), json!("#1"), json!("1"), json!(1)] {
        assert_eq!(bed.data(Memax, "memax_get", json!({ "id": form }))["id"], name);
    }
    use tulving_dialects::Dialect::{Max, Native, Spacebot};
    bed.data(Native, "update", json!({ "id": name, "content": "renamed" }));
    let linked = json!({ "content": "linked", "associations": [{ "target_id": name }] });
    assert!(bed.data(Spacebot, "memory_save", linked).get("warnings").is_none());
    assert_eq!(bed.text(Max, "forget", json!({ "memory_id": name })), "Memory #1 forgotten.");
    assert_eq!(
        bed.refused(Memax, "memax_get", json!({ "id": "mem_a1b2c3x4" })),
        "`mem_a1b2c3x4` does not name a memory; name it by its number, like #12, or by its full id"
    );
}

#[test]
fn a_source_path_replaces_what_was_there() {
    let bed = Bed::new();
    let push_path =
        |content: &str| push(&bed, json!({ "content": content, "source_path": "docs/deploy.md" }));
    let first = push_path("Run make ship.");
    assert_eq!(
        (&first["status"], &first["memory"]["source_path"]),
        (&json!("created"), &json!("docs/deploy.md"))
    );
    let same = push_path("Run make ship.\r\n");
    assert_eq!((&same["status"], &same["memory"]["version"]), (&json!("unchanged"), &json!(1)));
    let other = push_path("Run just ship.");
    assert_eq!((&other["status"], &other["memory"]["version"]), (&json!("updated"), &json!(2)));
    assert_eq!(id(&other), id(&first));
    assert_ne!(other["memory"]["content_hash"], first["memory"]["content_hash"]);
    assert_eq!(other["memory"]["created_at"], first["memory"]["created_at"]);
    assert_eq!(bed.count(), 1);
}

#[test]
fn identical_content_makes_no_second_row() {
    let bed = Bed::new();
    let first = push(&bed, json!({ "content": "said once" }));
    let again = push(&bed, json!({ "content": "said once" }));
    assert_eq!((&again["status"], id(&again)), (&json!("duplicate"), id(&first)));
    assert_eq!(bed.count(), 1);
    let hub = bed.space("work", SpaceKind::Hub);
    let there = push(&bed, json!({ "content": "said once", "hub_id": "work" }));
    assert_eq!(
        (&there["status"], &there["memory"]["hub_id"]),
        (&json!("created"), &json!(hub.space.to_string()))
    );
}

#[test]
fn a_url_is_stored_as_a_link_and_nothing_else_is() {
    let bed = Bed::new();
    let kind = |arguments: Value| push(&bed, arguments)["memory"]["content_type"].clone();
    assert_eq!(kind(json!({ "content": "https://example.com/a?b=c" })), "link");
    assert_eq!(kind(json!({ "content": " HTTP://EXAMPLE.COM " })), "link");
    assert_eq!(kind(json!({ "content": "see https://example.com" })), "text");
    assert_eq!(kind(json!({ "content": "https://" })), "text");
    assert_eq!(kind(json!({ "content": "https://é.example" , "content_type": "markdown" })), "markdown");
    for form in ["text", "markdown", "code", "chat", "transcript", "file", "link"] {
        assert_eq!(kind(json!({ "content": format!("in the form of {form}"), "content_type": form })), form);
    }
    assert_eq!(kind(json!({ "content": "{\"a\": 1}", "content_type": "structured" })), "structured");
    assert_eq!(kind(json!({ "content": "in no such form", "content_type": "structured" })), "text");
}

#[test]
fn kinds_and_stabilities_are_those_of_the_seed_and_no_category_is() {
    let bed = Bed::new();
    for kind in ["core", "decisions", "reference", "daily", "research"] {
        assert_eq!(
            bed.refused(Memax, "memax_push", json!({ "content": "x", "kind": kind })),
            format!("`kind`: `{kind}` is not a kind; it is one of semantic, episodic, procedural, rationale")
        );
    }
    for kind in ["semantic", "episodic", "procedural", "rationale"] {
        let pushed = push(&bed, json!({ "content": format!("of kind {kind}"), "kind": kind }));
        assert_eq!(pushed["memory"]["kind"], kind);
        assert!(pushed["memory"]["stability"].is_string(), "always filled");
        let list = bed.data(Memax, "memax_list", json!({ "kinds": [kind] }));
        assert_eq!(each(&list["memories"], "kind"), [kind]);
        let found = bed.data(Memax, "memax_recall", json!({ "query": "kind", "kinds": [kind] }));
        assert_eq!(each(&found["memories"], "kind"), [kind]);
    }
    for stability in ["stable", "evolving", "volatile"] {
        push(
            &bed,
            json!({ "content": format!("that is {stability}"), "stability": stability, "kind": "semantic" }),
        );
        let list =
            bed.data(Memax, "memax_list", json!({ "stabilities": [stability], "kinds": ["semantic"] }));
        assert!(each(&list["memories"], "stability").iter().all(|shown| *shown == stability));
    }
}

#[test]
fn tags_filter_and_archived_ones_are_asked_for() {
    let bed = Bed::new();
    push(&bed, json!({ "content": "tagged twice", "tags": ["a", "b"] }));
    push(&bed, json!({ "content": "tagged once", "tags": ["a"] }));
    let old = id(&push(&bed, json!({ "content": "archived", "tags": ["a"] })));
    bed.engine.archive(&bed.caller, old.parse().expect("an id")).expect("archived");
    let list = |arguments: Value| {
        let page = bed.data(Memax, "memax_list", arguments);
        each(&page["memories"], "content").iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list(json!({ "tags": ["a"] })), ["tagged once", "tagged twice"]);
    assert_eq!(list(json!({ "tags": ["a", "b"] })), ["tagged twice"]);
    assert_eq!(
        list(json!({ "tags": null, "kinds": null, "include_archived": null })),
        ["tagged once", "tagged twice"]
    );
    assert_eq!(list(json!({ "include_archived": true })), ["archived", "tagged once", "tagged twice"]);
    assert_eq!(list(json!({ "states": ["archived"] })), ["archived"]);
    assert_eq!(
        list(json!({ "states": ["active"], "include_archived": true })),
        ["tagged once", "tagged twice"],
        "the states that are named are meant"
    );
    let found = bed.data(Memax, "memax_recall", json!({ "query": "tagged archived", "tags": ["b"] }));
    assert_eq!(each(&found["memories"], "content"), ["tagged twice"]);
    let found = bed.data(Memax, "memax_recall", json!({ "query": "archived" }));
    assert!(!each(&found["memories"], "content").contains(&"archived"));
}

#[test]
fn a_time_to_live_ends_in_the_archive() {
    let bed = Bed::new();
    let name = id(&push(&bed, json!({ "content": "short lived", "ttl": 60 })));
    let found =
        |bed: &Bed| bed.data(Memax, "memax_recall", json!({ "query": "short lived" }))["total"].clone();
    assert_eq!(found(&bed), 1);
    bed.wait(60);
    assert_eq!(found(&bed), 0);
    assert_eq!(bed.data(Memax, "memax_list", json!({}))["memories"], json!([]));
    for archived in [json!({ "include_archived": true }), json!({ "states": ["archived"] })] {
        let all = bed.data(Memax, "memax_list", archived);
        assert_eq!(each(&all["memories"], "state"), ["archived"]);
    }
    for alive in [json!({ "states": ["active"] }), json!({ "states": ["active"], "include_archived": true })]
    {
        assert_eq!(bed.data(Memax, "memax_list", alive)["memories"], json!([]));
    }
    assert_eq!(bed.data(Memax, "memax_get", json!({ "id": name }))["state"], "archived");
    assert_eq!(
        bed.refused(Memax, "memax_push", json!({ "content": "x", "ttl": -1 })),
        "ttl is -1; give 0 or more seconds"
    );
    let dead = push(&bed, json!({ "content": "stillborn", "ttl": 0 }));
    assert!(dead["warnings"][0].as_str().is_some_and(|text| text.starts_with("it expired at")), "{dead}");
}

#[test]
fn lists_go_page_by_page() {
    let bed = Bed::new();
    for n in 0..25 {
        push(&bed, json!({ "content": format!("memory number {n}") }));
    }
    let first = bed.data(Memax, "memax_list", json!({}));
    assert_eq!(first["memories"].as_array().map(Vec::len), Some(10));
    let next = bed.data(Memax, "memax_list", json!({ "cursor": first["next_cursor"], "limit": 15 }));
    assert_eq!(next["memories"].as_array().map(Vec::len), Some(15));
    assert_eq!(next["next_cursor"], Value::Null);
    assert_eq!(each(&next["memories"], "content").last(), Some(&"memory number 0"));
    assert_eq!(bed.refused(Memax, "memax_list", json!({ "limit": 101 })), "limit is 101; give 1 to 100");
    assert!(
        bed.refused(Memax, "memax_list", json!({ "cursor": "next" })).starts_with("`next` is not a cursor")
    );
}

#[test]
fn hubs_and_their_members_are_listed() {
    let bed = Bed::new();
    let hub = bed.space("work", SpaceKind::Hub);
    bed.space("sealed", SpaceKind::Group);
    let hubs = bed.data(Memax, "memax_hubs", json!({}));
    assert_eq!(each(&hubs["hubs"], "name"), ["default", "work"], "groups are no hubs");
    assert_eq!(fields(&hubs["hubs"][0]), ["created_at", "current", "id", "name"]);
    assert_eq!((&hubs["hubs"][0]["current"], &hubs["hubs"][1]["current"]), (&json!(true), &json!(false)));
    let ana = bed.engine.create_principal(
        &bed.caller,
        "ana",
        tulving_core::model::vocabulary::PrincipalKind::Person,
    );
    bed.engine.set_member(&bed.caller, "work", "ana", Role::Reader).expect("a member");
    for named in [json!("work"), json!(hub.space.to_string())] {
        let members = bed.data(Memax, "memax_hub_members", json!({ "hub_id": named }));
        assert_eq!(each(&members["members"], "name"), ["ana", "user"]);
        assert_eq!(each(&members["members"], "role"), ["reader", "admin"]);
        assert_eq!(members["members"][0]["id"], ana.as_ref().expect("ana").id.to_string());
    }
    assert_eq!(
        bed.refused(Memax, "memax_list", json!({ "hub_id": "nowhere" })),
        "there is no space `nowhere`; memax_hubs lists them"
    );
}

#[test]
fn hubs_are_chosen_by_name_or_id_and_do_not_mix() {
    let bed = Bed::new();
    let hub = bed.space("work", SpaceKind::Hub);
    push(&bed, json!({ "content": "at home we eat" }));
    push(&bed, json!({ "content": "at work we eat", "hub_id": hub.space.to_string() }));
    let found = |arguments: Value| {
        let found = bed.data(Memax, "memax_recall", arguments);
        each(&found["memories"], "content").join(", ")
    };
    assert_eq!(found(json!({ "query": "eat" })), "at home we eat");
    assert_eq!(found(json!({ "query": "eat", "hub_id": "work" })), "at work we eat");
    assert_eq!(found(json!({ "query": "eat", "hub_id": "" })), "at home we eat");
}

#[test]
fn of_a_long_document_the_best_section_is_returned_with_its_headings() {
    let bed = Bed::new();
    let section = |name: &str, word: &str| {
        format!("## {name}\n\n{}\n\n", format!("{word} is all that matters here. ").repeat(60))
    };
    let content = format!(
        "# Handbook\n\n{}{}{}",
        section("Travel", "luggage"),
        section("Food", "porridge"),
        section("Sleep", "blankets")
    );
    push(&bed, json!({ "content": content, "content_type": "markdown" }));
    let found = bed.data(Memax, "memax_recall", json!({ "query": "porridge" }));
    let memory = &found["memories"][0];
    let shown = memory["content"].as_str().expect("a text");
    assert!(shown.contains("porridge") && !shown.contains("luggage"), "{shown}");
    assert!(memory["heading_path"].to_string().contains("Food"), "{memory}");
}

#[test]
fn a_forget_is_final_and_says_whether_something_went() {
    let bed = Bed::new();
    let name = id(&push(&bed, json!({ "content": "to be deleted" })));
    assert_eq!(
        bed.data(Memax, "memax_forget", json!({ "id": name })),
        json!({ "id": name, "deleted": true })
    );
    assert_eq!(
        bed.data(Memax, "memax_forget", json!({ "id": name })),
        json!({ "id": name, "deleted": false })
    );
    let all = bed.data(Memax, "memax_list", json!({ "include_archived": true }));
    assert_eq!(all["memories"], json!([]), "a delete makes no archived row");
    let which = bed.save(SaveRequest::new("other"));
    assert!(bed.engine.get_forgotten(&bed.caller, which.into()).expect("a look").is_none());
}

#[test]
fn a_push_may_say_its_source_and_its_agent() {
    let bed = Bed::new();
    for source in ["cli", "import", "hook", "web", "api", "sdk", "mcp", "extraction"] {
        let said =
            json!({ "content": format!("came by {source}"), "source": source, "source_agent": "cursor" });
        let memory = &push(&bed, said)["memory"];
        assert_eq!((&memory["source"], &memory["source_agent"]), (&json!(source), &json!("cursor")));
    }
    let memory = &push(&bed, json!({ "content": "said neither", "source_agent": " " }))["memory"];
    assert_eq!((&memory["source"], &memory["source_agent"]), (&json!("mcp"), &json!("claude-code")));
    let refused = bed.call(Memax, "memax_push", json!({ "content": "x", "source": "mcp/capture" }));
    let refusal = refused.expect_err("no such source");
    assert_eq!((refusal.code, refusal.field.as_deref()), ("unknown_word", Some("source")));
    assert!(
        refusal.message.ends_with("it is one of cli, import, hook, web, api, sdk, mcp, extraction"),
        "{}",
        refusal.message
    );
    let long = "a".repeat(5_000);
    let refused = bed.call(Memax, "memax_push", json!({ "content": "x", "source_agent": long }));
    assert_eq!(refused.expect_err("too long").field.as_deref(), Some("source_agent"));
}

#[test]
fn a_short_id_that_no_memory_has_is_not_found() {
    let bed = Bed::new();
    let refused = bed.call(Memax, "memax_get", json!({ "id": "mem_a1b2c3d4" })).expect_err("none");
    assert_eq!((refused.code, refused.message.as_str()), ("not_found", "there is no memory mem_a1b2c3d4"));
    let gone = bed.data(Memax, "memax_forget", json!({ "id": "mem_a1b2c3d4" }));
    assert_eq!(gone, json!({ "id": "mem_a1b2c3d4", "deleted": false }));
}

#[test]
fn title_and_summary_are_always_filled() {
    let bed = Bed::new();
    for (content, title, summary) in [
        ("The user prefers dark mode.", "The user prefers dark mode", "The user prefers dark mode."),
        (
            "Glossary\n\nARR: annual recurring revenue\nMRR: monthly recurring revenue",
            "Glossary",
            "Glossary; ",
        ),
        ("https://example.org/changelog", "example.org/changelog", "https://example.org/changelog"),
        ("{\"host\": \"a.example\", \"port\": 8080}", "json: host, port", "json: host, port"),
        ("🎉🎉🎉", "🎉🎉🎉", "🎉🎉🎉"),
    ] {
        let memory = &push(&bed, json!({ "content": content }))["memory"];
        assert_eq!(memory["title"], title, "{content}");
        assert!(memory["summary"].as_str().is_some_and(|found| found.starts_with(summary)), "{memory}");
    }
    for memory in bed.data(Memax, "memax_list", json!({}))["memories"].as_array().expect("memories") {
        assert!(memory["title"].as_str().is_some_and(|title| !title.is_empty()), "{memory}");
    }
}
