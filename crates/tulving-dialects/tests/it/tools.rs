use serde_json::{Value, json};
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::SpaceKind;
use tulving_dialects::Dialect;
use tulving_dialects::outgoing::ToolReply;
use tulving_dialects::tool::ToolError;

use crate::bed::Bed;

/// Values that differ from run to run, and the names that replace them.
const FILTERS: [(&str, &str); 3] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]"),
    (r"mem_[0-9a-f]{32}", "mem_[id]"),
    (r#""next_cursor": "[A-Za-z0-9_-]+""#, r#""next_cursor": "[cursor]""#),
];

#[test]
fn schemas() {
    for dialect in Dialect::ALL {
        let tools = dialect.tools().iter().map(|tool| {
            let schemas = json!({ "input": tool.input, "output": tool.output });
            let schemas = serde_json::to_string_pretty(&schemas).expect("JSON");
            format!("# {}: {} ({:?})\n{}\n{schemas}\n", tool.name, tool.title, tool.effect, tool.description)
        });
        insta::assert_snapshot!(format!("schemas_{dialect}"), tools.collect::<Vec<_>>().join("\n"));
    }
}

fn shown(called: Result<ToolReply, ToolError>) -> String {
    match called {
        Ok(reply) => match reply.into_parts() {
            (_, Some(data)) => serde_json::to_string_pretty(&data).expect("JSON"),
            (text, None) => text,
        },
        Err(refusal) => {
            let field = refusal.field.as_deref().unwrap_or("-");
            format!("! {} [{}, {field}, {:?}]", refusal, refusal.code, refusal.class)
        }
    }
}

/// Returns JSON as deep as the reader allows.
fn deep() -> Value {
    (0..120).fold(json!("deep"), |inner, _| json!([inner]))
}

/// Returns calls with every possible error in the arguments of any tool.
fn wrong_everywhere(dialect: Dialect, tool: &str) -> Vec<(String, Value)> {
    let tool = dialect.tool(tool).expect("a tool");
    let mut calls = vec![
        ("no arguments".to_owned(), Value::Null),
        ("a list for arguments".to_owned(), json!(["x"])),
        ("an argument that is not there".to_owned(), json!({ "colour": "red" })),
    ];
    let properties = tool.input.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required: Vec<String> = tool
        .input
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let good = |name: &str| match properties[name]["type"].as_str() {
        Some("integer") => json!(1),
        Some("array") => json!([]),
        _ if name == "category" => json!("fact"),
        _ => json!("#1"),
    };
    for name in properties.keys() {
        let mut arguments: serde_json::Map<String, Value> =
            required.iter().map(|name| (name.clone(), good(name))).collect();
        arguments.insert(name.clone(), json!({ "a": true }));
        calls.push((format!("{name} of the wrong type"), Value::Object(arguments.clone())));
        arguments.insert(name.clone(), deep());
        calls.push((format!("{name} is deep"), Value::Object(arguments)));
    }
    calls
}

fn transcript(dialect: Dialect, tool: &str, calls: &[(&str, Value)]) {
    let bed = Bed::new();
    bed.save(SaveRequest { key: Some("deploy".to_owned()), ..SaveRequest::new("We deploy with make ship") });
    bed.save(SaveRequest::new("Tea is served at four"));
    let elsewhere = bed.space("work", SpaceKind::Hub);
    let far = bed.save_as(&elsewhere, SaveRequest::new("Far away")).to_string();
    let mut text = String::new();
    let own = calls.iter().map(|(what, arguments)| ((*what).to_owned(), arguments.clone()));
    for (what, arguments) in own.chain(wrong_everywhere(dialect, tool)) {
        let arguments = swapped(arguments, &far);
        let shown = shown(bed.call(dialect, tool, arguments));
        text.push_str(&format!("{what}:\n{shown}\n\n"));
    }
    insta::with_settings!({ filters => FILTERS, omit_expression => true }, {
        insta::assert_snapshot!(format!("{dialect}_{tool}"), text);
    });
}

/// Replaces FAR in the arguments with the id of a memory of another space.
fn swapped(arguments: Value, far: &str) -> Value {
    match arguments {
        Value::String(text) if text == "FAR" => json!(far),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, swapped(value, far))).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| swapped(item, far)).collect(),
        other => other,
    }
}

fn huge() -> Value {
    json!("x".repeat(3_000_001))
}

#[test]
fn max() {
    let d = Dialect::Max;
    transcript(
        d,
        "remember",
        &[
            ("good", json!({ "category": "preference", "content": "Prefers tea" })),
            ("known", json!({ "category": "preference", "content": "Prefers tea" })),
            ("content missing", json!({ "category": "fact" })),
            ("empty", json!({ "category": "fact", "content": " " })),
            ("unknown category", json!({ "category": "tea", "content": "x" })),
            ("unknown source", json!({ "category": "fact", "content": "x", "source": "me" })),
            ("a control character", json!({ "category": "fact", "content": "a\u{1b}[31mb" })),
            ("huge", json!({ "category": "fact", "content": huge() })),
        ],
    );
    transcript(
        d,
        "recall",
        &[
            ("good", json!({ "keyword": "tea" })),
            ("nothing", json!({ "keyword": "coffee" })),
            ("unknown category", json!({ "category": "tea" })),
        ],
    );
    transcript(
        d,
        "forget",
        &[
            ("good", json!({ "memory_id": 1 })),
            ("again", json!({ "memory_id": 1 })),
            ("of another space", json!({ "memory_id": "FAR" })),
        ],
    );
}

#[test]
fn memax() {
    let d = Dialect::Memax;
    transcript(
        d,
        "memax_push",
        &[
            ("good", json!({ "content": "Glossary: SLA is a promise", "tags": ["docs"] })),
            ("empty", json!({ "content": "" })),
            ("unknown kind", json!({ "content": "x", "kind": "core" })),
            ("unknown hub", json!({ "content": "x", "hub_id": "nowhere" })),
            ("ttl out of range", json!({ "content": "x", "ttl": -5 })),
            ("too many tags", json!({ "content": "x", "tags": vec!["t"; 101] })),
            ("an empty tag", json!({ "content": "x", "tags": [""] })),
            ("huge", json!({ "content": huge() })),
        ],
    );
    transcript(
        d,
        "memax_recall",
        &[
            ("good", json!({ "query": "tea", "limit": 1 })),
            ("empty", json!({ "query": " " })),
            ("out of range", json!({ "query": "x", "limit": 0 })),
            ("unknown kind", json!({ "query": "x", "kinds": ["core"] })),
            ("huge", json!({ "query": huge() })),
        ],
    );
    transcript(
        d,
        "memax_get",
        &[
            ("good", json!({ "id": "#2" })),
            ("not found", json!({ "id": "#77" })),
            ("no id", json!({ "id": "that one" })),
        ],
    );
    transcript(
        d,
        "memax_list",
        &[
            ("good", json!({ "limit": 1 })),
            ("out of range", json!({ "limit": 101 })),
            ("unknown state", json!({ "states": ["gone"] })),
            ("no cursor", json!({ "cursor": "next" })),
        ],
    );
    transcript(d, "memax_hubs", &[("good", json!({}))]);
    transcript(
        d,
        "memax_hub_members",
        &[("good", json!({ "hub_id": "work" })), ("unknown hub", json!({ "hub_id": "nowhere" }))],
    );
    transcript(
        d,
        "memax_forget",
        &[
            ("good", json!({ "id": "#2" })),
            ("again", json!({ "id": "#2" })),
            ("no id", json!({ "id": "that one" })),
        ],
    );
}

#[test]
fn groups() {
    let d = Dialect::Groups;
    transcript(
        d,
        "save_memory",
        &[
            ("good", json!({ "key": "color", "content": "Blue" })),
            ("updated", json!({ "key": "color", "content": "Green", "category": "daily" })),
            ("content missing", json!({ "key": "color" })),
            ("empty key", json!({ "key": " ", "content": "x" })),
            ("a key too long", json!({ "key": "k".repeat(257), "content": "x" })),
            ("unknown category", json!({ "key": "k", "content": "x", "category": "research" })),
            ("huge", json!({ "key": "k", "content": huge() })),
        ],
    );
    transcript(
        d,
        "recall_memories",
        &[
            ("good", json!({ "query": "deploy" })),
            ("nothing", json!({ "query": "coffee" })),
            ("empty", json!({ "query": "" })),
            ("out of range", json!({ "query": "x", "limit": 51 })),
            ("huge", json!({ "query": huge() })),
        ],
    );
    transcript(
        d,
        "forget_memory",
        &[
            ("good", json!({ "key": "deploy" })),
            ("not found", json!({ "key": "deploy" })),
            ("of another space", json!({ "key": "FAR" })),
        ],
    );
    transcript(
        d,
        "list_memories",
        &[("good", json!({})), ("unknown category", json!({ "category": "research" }))],
    );
}

#[test]
fn maven() {
    let d = Dialect::Maven;
    transcript(
        d,
        "remember",
        &[
            ("good", json!({ "content": "User prefers Postgres on Hetzner, not RDS." })),
            ("two lines", json!({ "content": "Runs:\nmake ship" })),
            ("empty", json!({ "content": " " })),
            ("a control character", json!({ "content": "a\u{1b}[31mb" })),
            ("huge", json!({ "content": huge() })),
        ],
    );
    transcript(
        d,
        "memory_search",
        &[
            ("none", json!({ "query": "postgres", "limit": 5 })),
            ("empty", json!({ "query": "" })),
            ("out of range", json!({ "query": "x", "limit": 0 })),
            ("huge", json!({ "query": huge() })),
        ],
    );
    transcript(
        d,
        "memory_get",
        &[
            ("today", json!({ "date": "today" })),
            ("a date", json!({ "date": "2026-05-27" })),
            ("no day", json!({ "date": "2026-02-30" })),
            ("empty", json!({ "date": "" })),
        ],
    );
}

#[test]
fn spacebot() {
    let d = Dialect::Spacebot;
    transcript(
        d,
        "memory_save",
        &[
            ("good", json!({ "content": "The API is GraphQL", "memory_type": "decision" })),
            (
                "with warnings",
                json!({ "content": "Linked", "associations": [{ "target_id": "prev-discussion-memory-id" }, { "target_id": "FAR" }] }),
            ),
            ("empty", json!({ "content": "" })),
            ("too long", json!({ "content": "x".repeat(50_001) })),
            ("importance out of range", json!({ "content": "x", "importance": 2 })),
            ("unknown type", json!({ "content": "x", "memory_type": "project" })),
            (
                "unknown relation",
                json!({ "content": "x", "associations": [{ "target_id": "#1", "relation_type": "is" }] }),
            ),
            (
                "weight out of range",
                json!({ "content": "x", "associations": [{ "target_id": "#1", "weight": -1 }] }),
            ),
            ("no target", json!({ "content": "x", "associations": [{}] })),
            (
                "unknown in a link",
                json!({ "content": "x", "associations": [{ "target_id": "#1", "why": "x" }] }),
            ),
        ],
    );
    transcript(
        d,
        "memory_recall",
        &[
            ("good", json!({ "query": "deploy make", "max_results": 1 })),
            ("without a query", json!({})),
            ("typed without a type", json!({ "mode": "typed" })),
            ("unknown mode", json!({ "mode": "all" })),
            ("unknown order", json!({ "mode": "recent", "sort_by": "age" })),
            ("unknown type", json!({ "query": "x", "memory_type": "person" })),
            ("out of range", json!({ "query": "x", "max_results": 51 })),
            ("huge", json!({ "query": huge() })),
        ],
    );
    transcript(
        d,
        "memory_delete",
        &[
            (
                "good",
                json!({ "memory_id": "#2", "reason": "Information is outdated, user confirmed new approach" }),
            ),
            ("again", json!({ "memory_id": "#2" })),
            ("not found", json!({ "memory_id": "550e8400-e29b-41d4-a716-446655440000" })),
            ("of another space", json!({ "memory_id": "FAR" })),
            ("a reason too long", json!({ "memory_id": "#1", "reason": "r".repeat(1_001) })),
        ],
    );
}

#[test]
fn native() {
    let d = Dialect::Native;
    transcript(
        d,
        "save",
        &[
            ("good", json!({ "memories": [{ "content": "Ana leads payments", "type": "person" }] })),
            ("none", json!({ "memories": [] })),
            ("too many", json!({ "memories": vec![json!({ "content": "x" }); 101] })),
            ("unknown type", json!({ "memories": [{ "content": "x", "type": "note" }] })),
            ("importance out of range", json!({ "memories": [{ "content": "x", "importance": 7 }] })),
            ("no time", json!({ "memories": [{ "content": "x", "occurred_at": "yesterday" }] })),
            ("content missing", json!({ "memories": [{ "type": "fact" }] })),
            ("replaces another space's", json!({ "memories": [{ "content": "Linked", "updates": "FAR" }] })),
            ("huge", json!({ "memories": [{ "content": huge() }] })),
        ],
    );
    transcript(
        d,
        "recall",
        &[
            ("good", json!({ "query": "how do we deploy?" })),
            ("empty", json!({ "query": "" })),
            ("out of range", json!({ "query": "x", "limit": 101 })),
            ("budget out of range", json!({ "query": "x", "token_budget": 0 })),
            ("unknown type", json!({ "query": "x", "types": ["note"] })),
            ("huge", json!({ "query": huge() })),
        ],
    );
    transcript(
        d,
        "update",
        &[
            ("good", json!({ "id": "#1", "content": "We deploy with just ship" })),
            ("nothing to update", json!({ "id": "#1" })),
            ("not found", json!({ "id": "#77", "content": "x" })),
            ("of another space", json!({ "id": "FAR", "content": "x" })),
            ("no id", json!({ "id": "that one", "content": "x" })),
        ],
    );
    transcript(
        d,
        "forget",
        &[
            ("good", json!({ "id": "#1" })),
            ("again", json!({ "id": "#1" })),
            ("of another space", json!({ "id": "FAR" })),
        ],
    );
    transcript(
        d,
        "list",
        &[
            ("good", json!({})),
            ("of a sort", json!({ "types": ["preference"], "limit": 1 })),
            ("unknown sort", json!({ "types": ["hunch"] })),
            ("unknown order", json!({ "sort": "best" })),
            ("out of range", json!({ "limit": 101 })),
            ("no cursor", json!({ "cursor": "next" })),
        ],
    );
    transcript(
        d,
        "associate",
        &[
            ("good", json!({ "id": "#1", "target": "#2", "relation": "part_of", "weight": 0.7 })),
            ("with itself", json!({ "id": "#1", "target": "#1" })),
            ("unknown relation", json!({ "id": "#1", "target": "#2", "relation": "is" })),
            ("weight out of range", json!({ "id": "#1", "target": "#2", "weight": 2 })),
            ("not found", json!({ "id": "#1", "target": "#77" })),
            ("of another space", json!({ "id": "#1", "target": "FAR" })),
        ],
    );
    transcript(d, "context", &[("good", json!({})), ("out of range", json!({ "token_budget": 49 }))]);
    transcript(
        d,
        "log_turn",
        &[
            ("good", json!({ "role": "user", "content": "Fix the bug", "source": "telegram" })),
            ("unknown role", json!({ "role": "tool", "content": "x" })),
            ("empty", json!({ "role": "user", "content": " " })),
        ],
    );
    transcript(
        d,
        "archive_conversation",
        &[
            ("nothing to archive", json!({})),
            ("good", json!({ "messages": [{ "role": "user", "content": "Fix the bug" }], "title": "A bug" })),
            (
                "again",
                json!({ "messages": [{ "role": "user", "content": "Fix the bug" }], "title": "A bug" }),
            ),
            ("no messages", json!({ "messages": [] })),
            ("unknown role", json!({ "messages": [{ "role": "tool", "content": "x" }] })),
            ("content missing", json!({ "messages": [{ "role": "user" }] })),
        ],
    );
}
