//! Reads the arguments of an operation from all parts of a request: path, query, body and headers.

use crate::api::{self, Operation};
use axum::http::header::IF_MATCH;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};
use tulving_core::model::preview;

use super::body;
use super::problem::Problem;
use super::rules::RequestLimits;

/// Parameters that name the space. They are not arguments of any operation.
const SPACES: [&str; 2] = ["space", "default_space"];

/// Collects all arguments. An argument that is given twice is refused.
pub(super) fn gather(
    limits: &RequestLimits,
    operation: &Operation,
    path: &[(String, String)],
    parts: &Parts,
    bytes: &[u8],
    in_parts: Option<Map<String, Value>>,
) -> Result<Map<String, Value>, Problem> {
    let mut said = Map::new();
    for (name, value) in path {
        said.insert(name.clone(), json!(value));
    }
    for (name, value) in query(operation, parts.uri.query().unwrap_or_default())? {
        add(&mut said, name, value)?;
    }
    if operation.method.has_body() {
        let body = match (in_parts, bytes.trim_ascii()) {
            (Some(said), _) => said,
            (None, []) => Map::new(),
            _ => object(body::arguments(limits, &parts.headers, bytes)?)?,
        };
        for (name, value) in body {
            add(&mut said, name, value)?;
        }
    } else if !bytes.is_empty() {
        let said = "this operation takes no body";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "unexpected_body", said)
            .hinting("send its arguments in the query string"));
    }
    match (if_match(&parts.headers)?, operation.condition) {
        (Some(tag), Some(condition)) => {
            let seen = typed(kind(operation, condition), tag).ok_or_else(no_tag)?;
            add(&mut said, condition.to_owned(), seen)?;
        }
        // Ignoring the condition could cause the write that the caller wanted to prevent.
        (Some(_), None) if operation.writes => {
            let said = "If-Match is supported only when you edit a memory or replace MEMORY.md";
            return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_header", said).about("If-Match"));
        }
        _ => {}
    }
    Ok(said)
}

fn add(said: &mut Map<String, Value>, name: String, value: Value) -> Result<(), Problem> {
    match said.contains_key(&name) {
        true => Err(twice(&name)),
        false => {
            said.insert(name, value);
            Ok(())
        }
    }
}

/// Returns the problem for an argument that is given twice.
pub(super) fn twice(name: &str) -> Problem {
    let detail = format!("`{}` is given twice", preview::short(name));
    Problem::new(StatusCode::BAD_REQUEST, "given_twice", detail).about(name)
}

/// Converts an argument from text to its type in the schema. A list is either separated by commas, as in a query, or written
/// as JSON.
pub(super) fn read(operation: &Operation, name: &str, text: &str) -> Result<Value, Problem> {
    match kind(operation, name) {
        "array" if text.trim_start().starts_with('[') => {
            serde_json::from_str(text).map_err(|_| wrong(name, text, "a list, as JSON"))
        }
        "array" => Ok(listed(text).collect()),
        kind => typed(kind, text).ok_or_else(|| wrong(name, text, expected(kind))),
    }
}

/// Returns the problem for a text that cannot be converted to the argument's type.
fn wrong(name: &str, text: &str, expected: &str) -> Problem {
    let detail = format!("`{name}`: `{}`, expected {expected}", preview::short(text));
    Problem::new(StatusCode::BAD_REQUEST, "invalid_argument", detail).about(name)
}

fn object(body: Value) -> Result<Map<String, Value>, Problem> {
    match body {
        Value::Object(said) => Ok(said),
        _ => {
            Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_arguments", "the body must be a JSON object")
                .hinting("send one, such as {\"content\": \"…\"}"))
        }
    }
}

/// Returns the arguments of the query, each converted to its type in the schema. The items of a list are repeated
/// parameters, or are separated by commas.
fn query(operation: &Operation, query: &str) -> Result<Map<String, Value>, Problem> {
    let mut said = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if SPACES.contains(&name.as_ref()) {
            continue;
        }
        if operation.method.has_body() || operation.in_path().any(|own| own == name) {
            let detail = format!("`{}` is not an argument of the query string", preview::short(&name));
            return Err(Problem::new(StatusCode::BAD_REQUEST, "unknown_argument", detail).about(&name));
        }
        let kind = kind(operation, &name);
        if kind == "array" {
            let parts = listed(&value);
            match said.entry(name.into_owned()).or_insert_with(|| json!([])) {
                Value::Array(list) => list.extend(parts),
                other => *other = parts.collect(),
            }
            continue;
        }
        let read = typed(kind, &value).ok_or_else(|| wrong(&name, &value, expected(kind)))?;
        add(&mut said, name.into_owned(), read)?;
    }
    Ok(said)
}

/// Returns the items of a list that is written as one text.
fn listed(text: &str) -> impl Iterator<Item = Value> {
    text.split(',').map(|part| json!(part))
}

/// Returns the type of an argument, or an empty string if the argument does not exist.
fn kind<'a>(operation: &'a Operation, name: &str) -> &'a str {
    operation.argument(name).map_or("", api::kind)
}

fn typed(kind: &str, value: &str) -> Option<Value> {
    match kind {
        "boolean" => value.parse::<bool>().ok().map(Value::Bool),
        "integer" => value.parse::<i64>().ok().map(|number| json!(number)),
        "number" => value.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| json!(number)),
        _ => Some(json!(value)),
    }
}

fn expected(kind: &str) -> &'static str {
    match kind {
        "boolean" => "true or false",
        "integer" => "a whole number",
        _ => "a number",
    }
}

/// Returns the version in `If-Match`, or `None` for `*`, which matches any version.
fn if_match(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    if value == "*" {
        return Ok(None);
    }
    let tag = value.to_str().ok().and_then(|tag| tag.strip_prefix('"')?.strip_suffix('"'));
    tag.filter(|tag| !tag.is_empty()).map(Some).ok_or_else(no_tag)
}

fn no_tag() -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_header", "If-Match is not a valid ETag here")
        .about("If-Match")
        .hinting("send the ETag that GET returned, such as \"3\"")
}
