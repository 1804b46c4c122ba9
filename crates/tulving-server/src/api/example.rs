//! Example values for schemas, for the description of the service.

use serde_json::{Map, Value, json};

/// Returns an example of a value that fits a schema, for a field of this name.
pub fn example(field: &str, schema: &Map<String, Value>) -> Value {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.first().cloned().unwrap_or(Value::Null);
    }
    if let Some(shown) = schema.get("examples").and_then(|shown| shown.get(0)) {
        return shown.clone();
    }
    if let Some(known) = known(field).filter(|known| is_of(kind(schema), known)) {
        return known;
    }
    if let Some(first) =
        ["oneOf", "anyOf"].iter().find_map(|any| schema.get(*any)?.as_array()?.first()?.as_object())
        && !schema.contains_key("properties")
    {
        return example(field, first);
    }
    match kind(schema) {
        "object" => fields(schema),
        "array" => match schema.get("items").and_then(Value::as_object) {
            Some(items) => json!([example(field, items)]),
            None => json!([]),
        },
        "integer" => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        "number" => json!(0.5),
        "boolean" => json!(false),
        "string" if schema.get("format").is_some_and(|format| format == "date-time") => {
            json!("2026-05-27T09:30:00.000000Z")
        }
        "string" => json!("text"),
        _ => Value::Null,
    }
}

/// Returns examples of the fields that an object requires.
fn fields(schema: &Map<String, Value>) -> Value {
    let Some(own) = schema.get("properties").and_then(Value::as_object) else { return json!({}) };
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let described = own.iter().filter(|(name, _)| required.contains(&name.as_str()));
    let described =
        described.filter_map(|(name, schema)| Some((name.clone(), example(name, schema.as_object()?))));
    Value::Object(described.collect())
}

/// Returns the first type that a schema names; for a value that may be null, the other type.
pub fn kind(schema: &Map<String, Value>) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        _ => "",
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match value {
        Value::String(_) => kind == "string",
        Value::Number(_) => kind == "number" || kind == "integer",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        _ => false,
    }
}

/// Returns a likely value for a field of this name.
fn known(field: &str) -> Option<Value> {
    let memory = "mem_0198c5a2b4e07c1f9d3a5e6f70812345";
    let digest = "3f0a377ba0a4a460ecb616f6507ce0d8cfa3e704025d4fda3ed0c5ca05468728";
    Some(match field {
        "id" | "target" | "source" | "superseded_by" => json!(memory),
        "ids" | "deleted" | "contradicts" => json!([memory]),
        "where" => json!({ "tags": ["scratch"] }),
        "date" => json!("2026-05-27"),
        "previous" => json!("2026-05-27T09-30-00.000000Z"),
        "file" => json!("memory/notes.md"),
        "path" => json!("memory/2026-05-27.md"),
        "conversation" => json!("2026-05-27-languages"),
        "digest" | "content_hash" => json!(digest),
        "hub_id" | "space_id" => json!("team-notes"),
        "token_id" | "job_id" | "pass_id" => json!("0198c5a2-b4e0-7c1f-9d3a-5e6f70812345"),
        "content" => json!("Prefers TypeScript over JavaScript"),
        "query" | "q" | "about" => json!("which language for new projects?"),
        "title" => json!("Languages"),
        "tags" => json!(["language"]),
        "name" | "label" => json!("reviewer"),
        "token" => json!("tlv_…"),
        "proposal" => json!("3f0a377ba0a4"),
        "why" => json!("words 0.42, meaning 0.31"),
        "created_at" | "updated_at" | "accessed_at" | "at" => json!("2026-05-27T09:30:00.000000Z"),
        "importance" | "importance_now" => json!(0.7),
        "relevance_score" => json!(0.83),
        "version" | "number" => json!(1),
        _ => return None,
    })
}
