//! `/openapi.json`: the service described for programs, from the same table that it is routed by.

mod others;

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::response::Response;
use serde_json::{Map, Value, json};
use tulving_dialects::rest::{Method, Operation, example, operations};

use super::reply;

/// `GET /openapi.json`
pub(super) async fn document() -> Response {
    static WRITTEN: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(described().to_string()));
    reply::json(WRITTEN.clone())
}

/// The whole description.
fn described() -> Value {
    let mut paths = Map::new();
    for operation in operations() {
        add(&mut paths, operation.path, operation.method.as_str(), described_one(operation, operation.name));
        if let Some(path) = operation.also {
            let name = format!("{}OfHubs", operation.name);
            add(&mut paths, path, operation.method.as_str(), described_one(operation, &name));
        }
    }
    for other in others::all() {
        add(&mut paths, other.path, other.method, other.described());
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tulving",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The long-term memory of agents. Data comes as {\"data\": …}, what is refused as \
                application/problem+json with a stable code.",
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "The token of the home is in its file api-token; `tulving token create` makes others.",
            } },
            "parameters": { "space": {
                "name": "X-Hub-ID",
                "in": "header",
                "description": "The space, by id or name; without it the first of the token, else `default`.",
                "schema": { "type": "string" },
                "example": "default",
            } },
            "responses": { "problem": {
                "description": "Why it was not done.",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            } },
            "schemas": { "Problem": problem() },
        },
    })
}

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    // OpenAPI has no word for an argument with `/` in it: there they are written as `%2F`.
    let at = paths.entry(path.replace("{*", "{")).or_insert_with(|| json!({}));
    at[method] = operation;
}

fn described_one(operation: &Operation, name: &str) -> Value {
    let in_path: Vec<&str> = operation.in_path().collect();
    let data = Value::Object(operation.output.clone());
    let shown = example("", &operation.output);
    let (schema, shown) = match operation.is_bare {
        true => (data, shown),
        false => (
            json!({ "type": "object", "required": ["data"], "properties": { "data": data } }),
            json!({ "data": shown }),
        ),
    };
    let content = json!({ "application/json": { "schema": schema, "example": shown } });
    let mut told = json!({
        "operationId": name,
        "tags": [operation.group],
        "summary": operation.title,
        "description": if operation.description.is_empty() { operation.title } else { operation.description },
        "parameters": parameters(operation, &in_path),
        "responses": { "200": { "description": "Done.", "content": content }, "default": refused() },
    });
    if operation.creates {
        told["responses"]["201"] = json!({ "description": "Something new is there.", "content": content });
    }
    if operation.method.has_body() {
        let schema = without(&operation.input, &in_path);
        if schema.get("properties").and_then(Value::as_object).is_some_and(|own| !own.is_empty()) {
            let required = ["required", "minProperties"].iter().any(|name| schema.contains_key(*name));
            let shown = example("", &schema);
            told["requestBody"] = json!({
                "required": required,
                "content": { "application/json": { "schema": schema, "example": shown } },
            });
            if operation.takes_file() {
                told["requestBody"]["content"]["multipart/form-data"] = json!({ "schema": in_parts(&schema), "example": { "file": "%PDF-1.7 …", "title": "Report" } });
            }
        }
    }
    told
}

/// The same arguments as parts of a body: the file as it is, what is no list or text left to JSON.
fn in_parts(schema: &Map<String, Value>) -> Value {
    let simple = |schema: &Value| {
        let kinds = schema.get("type");
        kinds.is_some_and(|kinds| kinds != "array" && kinds != "object") || schema.get("enum").is_some()
    };
    let own = schema.get("properties").and_then(Value::as_object);
    let mut parts: Map<String, Value> = own
        .into_iter()
        .flatten()
        .filter(|(name, schema)| *name != "content" && simple(schema))
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect();
    parts.insert(
        "file".to_owned(),
        json!({ "type": "string", "contentMediaType": "application/octet-stream" }),
    );
    parts.insert("tags".to_owned(), json!({ "type": "array", "items": { "type": "string" } }));
    json!({ "type": "object", "properties": parts, "required": ["file"], "additionalProperties": false })
}

fn refused() -> Value {
    json!({ "$ref": "#/components/responses/problem" })
}

fn parameters(operation: &Operation, in_path: &[&str]) -> Vec<Value> {
    let own = operation.input.get("properties").and_then(Value::as_object);
    let required = operation.input.get("required").and_then(Value::as_array);
    let one = |(name, schema): (&String, &Value)| {
        let of_path = in_path.contains(&name.as_str());
        if operation.method.has_body() && !of_path {
            return None;
        }
        let mut schema = schema.as_object()?.clone();
        let description = schema.remove("description");
        let shown = example(name, &schema);
        let needed = of_path || required.is_some_and(|required| required.contains(&json!(name)));
        let mut told = json!({
            "name": name,
            "in": if of_path { "path" } else { "query" },
            "required": needed,
            "description": description,
            "schema": plain(schema, of_path),
            "example": shown,
        });
        if told["schema"]["type"] == "array" {
            told["explode"] = json!(false);
            told["style"] = json!("form");
        }
        Some(told)
    };
    let mut all: Vec<Value> = own.into_iter().flatten().filter_map(one).collect();
    all.push(json!({ "$ref": "#/components/parameters/space" }));
    if operation.method == Method::Post && operation.writes && !operation.is_secret {
        all.push(header(
            "Idempotency-Key",
            "A request with a key that was answered before is not done again.",
        ));
    }
    if operation.condition.is_some() {
        all.push(header("If-Match", "The ETag that was read: edit only where it still has that version."));
    }
    all
}

fn header(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "header",
        "description": description,
        "schema": { "type": "string", "pattern": "^[!-~]{1,255}$" },
    })
}

/// What stands in an address is never null, and in a path never empty.
fn plain(mut schema: Map<String, Value>, of_path: bool) -> Value {
    if let Some(Value::Array(kinds)) = schema.get("type")
        && let Some(first) = kinds.first().cloned()
    {
        schema.insert("type".to_owned(), first);
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    schema.remove("default");
    if of_path {
        schema.insert("minLength".to_owned(), json!(1));
    }
    Value::Object(schema)
}

/// The schema without the arguments of the address.
fn without(schema: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let mut rest = schema.clone();
    if let Some(Value::Object(own)) = rest.get_mut("properties") {
        own.retain(|name, _| !names.contains(&name.as_str()));
    }
    if let Some(Value::Array(required)) = rest.get_mut("required") {
        required.retain(|name| !names.iter().any(|own| name == own));
        if required.is_empty() {
            rest.remove("required");
        }
    }
    rest
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "code": { "type": "string", "description": "A stable name for programs." },
            "detail": { "type": "string", "description": "What is wrong, in a sentence." },
            "hint": { "type": "string", "description": "What to do." },
            "field": { "type": "string", "description": "The part of the request that it is about." },
            "request_id": { "type": "string", "description": "The id in `X-Request-Id` and in the log." },
        },
        "example": {
            "type": "about:blank",
            "title": "Not Found",
            "status": 404,
            "code": "not_found",
            "detail": "there is no memory #12",
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `look` with every object of a document and the path to it.
    fn walk(value: &Value, path: &str, look: &mut dyn FnMut(&Map<String, Value>, &str)) {
        match value {
            Value::Object(fields) => {
                look(fields, path);
                fields.iter().for_each(|(name, value)| walk(value, &format!("{path}/{name}"), look));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, path, look)),
            _ => {}
        }
    }

    #[test]
    fn formats_that_json_schema_does_not_know_are_left_out() {
        walk(&described(), "", &mut |schema, path| {
            if let Some(Value::String(format)) = schema.get("format") {
                assert!(["date-time", "uuid"].contains(&format.as_str()), "{path}: {format}");
            }
        });
    }

    #[test]
    fn bodies_are_objects_that_generated_clients_understand() {
        let mut bodies = 0;
        walk(&described(), "", &mut |schema, path| {
            if path.ends_with("/requestBody/content/application/json/schema") {
                bodies += 1;
                assert_eq!(schema["type"], "object", "{path}");
                assert!(schema.get("oneOf").or(schema.get("anyOf")).is_none(), "{path}: {schema:?}");
            }
        });
        assert!(bodies > 10, "{bodies}");
    }
}
