//! `/openapi.json`: the OpenAPI description of the service, generated from the same table as the routes.

mod other_endpoints;

use std::sync::LazyLock;

use crate::api::{
    Components, Operation, OperationMethod, OperationSchemas, example, operations, shared, shared_name,
};
use axum::body::Bytes;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::reply;

/// `GET /openapi.json`
pub(super) async fn document() -> Response {
    static WRITTEN: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(described().to_string()));
    reply::json(WRITTEN.clone())
}

/// Returns the whole OpenAPI description.
fn described() -> Value {
    let (mut paths, mut components, mut schemas) = (Map::new(), Components::default(), Map::new());
    for operation in operations() {
        let types = components.describe(operation);
        let mut described = described_one(operation, &types, &mut schemas);
        if let Some(path) = operation.also {
            let mut also = described.clone();
            also["operationId"] = json!(format!("{}OfHubs", operation.name));
            add(&mut paths, path, operation.method.as_str(), also);
        }
        described["operationId"] = json!(operation.name);
        add(&mut paths, operation.path, operation.method.as_str(), described);
    }
    schemas.extend(components.into_schemas());
    schemas.extend(other_endpoints::schemas());
    schemas.insert("Problem".to_owned(), problem());
    schemas.insert("ProblemError".to_owned(), problem_error());
    for other in other_endpoints::all() {
        add(&mut paths, other.path, other.method, other.described());
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tulving",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The long-term memory of agents. Data comes as {\"data\": …}, errors as \
                application/problem+json with a stable code and an object error with code and message.",
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "The home's token is in its file api-token; `tulving token create` creates others.",
            } },
            "parameters": { "space": {
                "name": "X-Hub-ID",
                "in": "header",
                "description": "The space, by id or name (default: the token's first space, else `default`).",
                "schema": { "type": "string" },
                "example": "default",
            } },
            "responses": { "problem": {
                "description": "The request failed.",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            } },
            "schemas": schemas,
        },
    })
}

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    // OpenAPI cannot express a path argument that contains `/`. Clients write `/` as `%2F`.
    let at = paths.entry(path.replace("{*", "{")).or_insert_with(|| json!({}));
    at[method] = operation;
}

/// Describes one operation, without its path. The schemas of bodies and envelopes have names, so that a client generator
/// makes one class for each.
fn described_one(operation: &Operation, types: &OperationSchemas, schemas: &mut Map<String, Value>) -> Value {
    let in_path: Vec<&str> = operation.in_path().collect();
    let shown = example("", &operation.output);
    let (schema, shown) = match operation.is_bare {
        true => (Value::Object(types.output.clone()), shown),
        false => (enveloped(&types.output, schemas), json!({ "data": shown })),
    };
    let content = json!({ "application/json": { "schema": schema, "example": shown } });
    let mut described = json!({
        "operationId": operation.name,
        "tags": [operation.group],
        "summary": operation.title,
        "description": if operation.description.is_empty() { operation.title } else { operation.description },
        "parameters": parameters(operation, types, &in_path),
        "responses": { "200": { "description": "Done.", "content": content }, "default": refused() },
    });
    if operation.creates {
        described["responses"]["201"] = json!({ "description": "Created.", "content": content });
    }
    if operation.method.has_body() {
        let (schema, inline) = (without(&types.input, &in_path), without(&operation.input, &in_path));
        if schema.get("properties").and_then(Value::as_object).is_some_and(|own| !own.is_empty()) {
            let required = ["required", "minProperties"].iter().any(|name| schema.contains_key(*name));
            let shown = example("", &inline);
            let name = format!("{}Request", capitalised(operation.name));
            described["requestBody"] = json!({
                "required": required,
                "content": { "application/json": { "schema": shared(&name), "example": shown } },
            });
            if operation.takes_file() {
                let parts = format!("{}Upload", capitalised(operation.name));
                described["requestBody"]["content"]["multipart/form-data"] = json!({ "schema": shared(&parts), "example": { "file": "%PDF-1.7 …", "title": "Report" } });
                schemas.insert(parts, in_parts(&schema, &inline));
            }
            schemas.insert(name, Value::Object(schema));
        }
    }
    described
}

/// Returns the schema of the envelope around the data. If the data type has a name, the envelope is a named type too.
fn enveloped(data: &Map<String, Value>, schemas: &mut Map<String, Value>) -> Value {
    let envelope = json!({ "type": "object", "required": ["data"], "properties": { "data": data } });
    let Some(name) = shared_name(data) else { return envelope };
    let name = format!("{name}Response");
    let reference = shared(&name);
    schemas.insert(name, envelope);
    reference
}

fn capitalised(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}

/// Describes the arguments as parts of a multipart body: the file, `tags` and simple values. Other lists and objects must be
/// sent as JSON. The inlined schema determines which arguments are simple.
fn in_parts(schema: &Map<String, Value>, inline: &Map<String, Value>) -> Value {
    let simple = |schema: &Value| {
        let kinds = schema.get("type");
        kinds.is_some_and(|kinds| kinds != "array" && kinds != "object") || schema.get("enum").is_some()
    };
    let is_simple =
        |name: &String| inline.get("properties").and_then(|own| own.get(name)).is_some_and(simple);
    let own = schema.get("properties").and_then(Value::as_object);
    let mut parts: Map<String, Value> = own
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "content" && is_simple(name))
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

fn parameters(operation: &Operation, types: &OperationSchemas, in_path: &[&str]) -> Vec<Value> {
    let own = types.input.get("properties").and_then(Value::as_object);
    let required = operation.input.get("required").and_then(Value::as_array);
    let one = |(name, schema): (&String, &Value)| {
        let of_path = in_path.contains(&name.as_str());
        if operation.method.has_body() && !of_path {
            return None;
        }
        let mut schema = schema.as_object()?.clone();
        let description = schema.remove("description");
        let shown = operation.argument(name).map(|inline| example(name, inline));
        let needed = of_path || required.is_some_and(|required| required.contains(&json!(name)));
        let mut described = json!({
            "name": name,
            "in": if of_path { "path" } else { "query" },
            "required": needed,
            "description": description,
            "schema": plain(schema, of_path),
            "example": shown,
        });
        if described["schema"]["type"] == "array" {
            described["explode"] = json!(false);
            described["style"] = json!("form");
        }
        Some(described)
    };
    let mut all: Vec<Value> = own.into_iter().flatten().filter_map(one).collect();
    all.push(json!({ "$ref": "#/components/parameters/space" }));
    if operation.method == OperationMethod::Post && operation.writes && !operation.is_secret {
        all.push(header(
            "Idempotency-Key",
            "Repeating a request with the same key returns the first answer and does nothing.",
        ));
    }
    if operation.condition.is_some() {
        all.push(header(
            "If-Match",
            "The ETag that you read. The change is made only if the version is still this one.",
        ));
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

/// Returns the schema of an argument in the path or the query: the value cannot be null, and in a path it cannot be empty.
fn plain(mut schema: Map<String, Value>, of_path: bool) -> Value {
    if let Some(Value::Array(kinds)) = schema.get("type")
        && let Some(first) = kinds.first().cloned()
    {
        schema.insert("type".to_owned(), first);
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            schema = only.clone();
        }
    }
    schema.remove("default");
    if of_path {
        schema.insert("minLength".to_owned(), json!(1));
    }
    Value::Object(schema)
}

/// Returns the schema without the arguments in the path.
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
        "required": ["type", "title", "status", "code", "detail", "error"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "code": { "type": "string", "description": "A stable name for programs." },
            "detail": { "type": "string", "description": "The error, in one sentence." },
            "hint": { "type": "string", "description": "Advice on what to do." },
            "field": { "type": "string", "description": "The field of the request that caused the error." },
            "request_id": { "type": "string", "description": "The id in `X-Request-Id` and in the log." },
            "error": shared("ProblemError"),
        },
        "example": {
            "type": "about:blank",
            "title": "Not Found",
            "status": 404,
            "code": "not_found",
            "detail": "there is no memory #12 in the space `default`",
            "error": { "code": "not_found", "message": "there is no memory #12 in the space `default`" },
        },
    })
}

/// Returns the schema of the `error` member, by which clients of the memax service recognise a refusal.
fn problem_error() -> Value {
    json!({
        "type": "object",
        "description": "The same error, for clients that expect this object.",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "string", "description": "The same as `code`." },
            "message": { "type": "string", "description": "The same as `detail`." },
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
                assert!(["date", "date-time", "uuid"].contains(&format.as_str()), "{path}: {format}");
            }
        });
    }

    #[test]
    fn bodies_are_objects_that_generated_clients_understand() {
        let mut bodies = 0;
        let described = described();
        walk(&described, "", &mut |schema, path| {
            if path.ends_with("/requestBody/content/application/json/schema") {
                bodies += 1;
                let name = shared_name(schema).unwrap_or_else(|| panic!("{path} has no name: {schema:?}"));
                let body = &described["components"]["schemas"][name];
                assert_eq!(body["type"], "object", "{path}");
                assert!(body.get("oneOf").or(body.get("anyOf")).is_none(), "{path}: {body}");
            }
        });
        assert!(bodies > 10, "{bodies}");
    }

    #[test]
    fn every_reference_leads_to_a_schema_and_every_schema_is_referred_to() {
        let described = described();
        let schemas = described["components"]["schemas"].as_object().expect("schemas");
        let mut met = std::collections::BTreeSet::new();
        walk(&described, "", &mut |schema, path| {
            if let Some(name) = shared_name(schema) {
                assert!(schemas.contains_key(name), "{path}: {name}");
                met.insert(name.to_owned());
            }
        });
        let unmet: Vec<_> = schemas.keys().filter(|name| !met.contains(*name)).collect();
        assert!(unmet.is_empty(), "{unmet:?}");
    }

    #[test]
    fn objects_of_operations_have_names_and_are_described_once() {
        walk(&described(), "", &mut |schema, path| {
            let is_anonymous = schema.get("properties").is_some_and(Value::is_object)
                && schema.get("type").is_some_and(|kind| kind == "object")
                && path.matches('/').count() != 3;
            assert!(!is_anonymous || !path.contains("schema"), "{path} has no name: {schema:?}");
        });
    }
}
