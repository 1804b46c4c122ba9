//! Parses the arguments of a call. An error names the wrong argument and the reason, so that the model can correct the call.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tulving_core::model::preview;

use crate::error::ToolError;

/// Converts arguments that a model wrote as strings to the types of the schema, if the meaning is clear: `"5"` for a number,
/// `"true"`, `"[\"a\"]"` for a list, `"{…}"` for an object. A string stays a string if the schema allows one, and [`read`]
/// refuses anything that cannot be converted.
pub(crate) fn unquoted(schema: &Map<String, Value>, value: Value) -> Value {
    let schema = of_several(schema);
    let value = match value {
        Value::String(text) => match serde_json::from_str::<Value>(text.trim()) {
            Ok(meant) if !allows(schema, "string") && is_allowed(schema, &meant) => meant,
            _ => Value::String(text),
        },
        value => value,
    };
    let below = |name: &str| schema.get(name).and_then(Value::as_object);
    match value {
        Value::Object(fields) => {
            let one = |(name, value): (String, Value)| {
                let schema = below("properties").and_then(|own| own.get(&name)?.as_object());
                let value = match schema {
                    Some(schema) => unquoted(schema, value),
                    None => value,
                };
                (name, value)
            };
            Value::Object(fields.into_iter().map(one).collect())
        }
        Value::Array(items) => match below("items") {
            Some(schema) => items.into_iter().map(|item| unquoted(schema, item)).collect(),
            None => Value::Array(items),
        },
        value => value,
    }
}

/// Returns the non-null form of a schema that also allows null.
fn of_several(schema: &Map<String, Value>) -> &Map<String, Value> {
    let forms = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let mut forms = forms.filter_map(Value::as_object);
    forms.find(|form| form.get("type").is_none_or(|kind| kind != "null")).unwrap_or(schema)
}

/// True if the schema allows the type of a value that was written as a string. False for null, because null would mean that
/// the argument is missing.
fn is_allowed(schema: &Map<String, Value>, meant: &Value) -> bool {
    let kinds: &[&str] = match meant {
        Value::Number(_) => &["integer", "number"],
        Value::Bool(_) => &["boolean"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
        Value::Null | Value::String(_) => &[],
    };
    kinds.iter().any(|kind| allows(schema, kind))
}

fn allows(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|known| known == kind),
        Some(known) => known == kind,
        None => false,
    }
}

/// Parses the arguments of a call. Null instead of the object means that there are no arguments, and null as a value means
/// that this argument is missing.
pub(crate) fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    deserialize(Value::Object(object(arguments)?))
}

/// Returns the arguments of a call as an object, without those that are null.
pub(crate) fn object(arguments: Value) -> Result<Map<String, Value>, ToolError> {
    match arguments {
        Value::Null => Ok(Map::new()),
        // Some clients send every argument, with null for those that are not set.
        Value::Object(mut said) => {
            said.retain(|_, value| !value.is_null());
            Ok(said)
        }
        other => {
            let message = format!("the arguments must be a JSON object, not {}", what(&other));
            Err(ToolError { field: None, ..ToolError::invalid("invalid_arguments", "", message) })
        }
    }
}

/// Parses an object of arguments. The error names the wrong argument and the reason.
pub fn deserialize<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    if let Some(path) = listed_within(&arguments) {
        return Err(about("invalid_argument", &path, "a list within a list, which no argument accepts"));
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let said = error.into_inner().to_string();
        wrong(&path, &said)
    })
}

/// Returns the position of a list within a list. Serde would read the inner list as the fields of an object, in order.
fn listed_within(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let (name, at) = (preview::short(name), listed_within(value)?);
            Some(if at.starts_with('[') { format!("{name}{at}") } else { format!("{name}.{at}") })
        }),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| match item {
            Value::Array(_) => Some(format!("[{at}]")),
            item => listed_within(item).map(|within| format!("[{at}].{within}")),
        }),
        _ => None,
    }
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Rewrites an error of serde for the model that wrote the arguments.
fn wrong(path: &str, said: &str) -> ToolError {
    let named = |quoted: &str| quoted.split('`').nth(1).unwrap_or_default().to_owned();
    if said.starts_with("missing field") {
        let field = named(said);
        let code = match field.as_str() {
            "content" => "missing_content",
            "query" | "question" => "missing_query",
            _ => "missing_argument",
        };
        let message = format!("`{}` is missing", inside(path, &field));
        return ToolError::invalid(code, &field, message);
    }
    if let Some(rest) = said.strip_prefix("unknown field ") {
        let field = named(rest);
        let known = rest.split_once(", ").map(|(_, known)| match known {
            "there are no fields" => "the tool takes none".to_owned(),
            known => known.to_owned(),
        });
        let refusal = ToolError::invalid(
            "unknown_argument",
            &field,
            format!("there is no argument `{}`", preview::short(&field)),
        );
        return match known {
            Some(known) => refusal.hinting(known),
            None => refusal,
        };
    }
    let said =
        said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: ")).unwrap_or(said);
    if said.ends_with("does not name a memory") {
        let field = path.split(['.', '[']).next().unwrap_or(path);
        return ToolError::invalid("invalid_id", field, said)
            .hinting("name it by its number, like #12, or by its full id");
    }
    if said.ends_with("is not a cursor of this list") {
        return ToolError::invalid("invalid_cursor", path, said)
            .hinting("use the cursor of the last page with the same filters, or start again without one");
    }
    let code = if said.contains("; it is one of ") { "unknown_word" } else { "invalid_argument" };
    let refusal = about(code, path, &preview::cut(&plainly(said), 300));
    match said.ends_with("is not a time") {
        true => refusal.hinting("write 2026-05-27 or 2026-05-27T09:30:00Z"),
        false => refusal,
    }
}

fn about(code: &'static str, path: &str, said: &str) -> ToolError {
    let field = path.split(['.', '[']).next().unwrap_or(path);
    ToolError::invalid(code, field, format!("`{path}`: {said}"))
}

/// Describes the found and the expected value with JSON terms instead of Rust terms.
fn plainly(said: &str) -> String {
    let Some((found, expected)) = said.rsplit_once(", expected ") else {
        return said.to_owned();
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        found => found,
    };
    let expected = match expected {
        "f64" => "a number",
        "a sequence" => "a list",
        "i64" | "u64" | "u32" | "usize" => "a whole number",
        expected if expected.starts_with("struct ") => "an object",
        expected => expected,
    };
    format!("{found}, expected {expected}")
}

fn inside(path: &str, field: &str) -> String {
    // The path ends at the object that lacks the field.
    match path {
        "." | "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read from JSON")]
    struct Arguments {
        content: String,
        #[serde(default)]
        weight: Option<f64>,
    }

    fn refused(json: &str) -> String {
        let value = serde_json::from_str(json).expect("JSON");
        read::<Arguments>(value).expect_err("refused").to_string()
    }

    #[test]
    fn numbers_lists_and_objects_that_a_model_wrote_as_strings_are_taken() {
        let schema = json!({ "type": "object", "properties": {
            "limit": { "type": ["integer", "null"] },
            "weight": { "type": "number" },
            "hard": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "links": { "type": "array", "items": { "type": "object", "properties": { "weight": { "type": "number" } } } },
            "place": { "anyOf": [{ "type": "object", "properties": { "line": { "type": "integer" } } }, { "type": "null" }] },
            "id": { "type": ["string", "integer"] },
            "content": { "type": "string" },
        } });
        let Value::Object(schema) = schema else { unreachable!("it is written above") };
        let read = |value: Value| unquoted(&schema, value);
        let written = json!({
            "limit": "5", "weight": " 0.5 ", "hard": "true", "tags": "[\"a\", \"7\"]", "links": [{ "weight": "1" }],
            "place": { "line": "12" }, "id": "12", "content": "5", "other": "6",
        });
        let meant = json!({
            "limit": 5, "weight": 0.5, "hard": true, "tags": ["a", "7"], "links": [{ "weight": 1 }],
            "place": { "line": 12 }, "id": "12", "content": "5", "other": "6",
        });
        assert_eq!(read(written), meant);
        assert_eq!(read(json!({ "links": "[{\"weight\": \"1\"}]" })), json!({ "links": [{ "weight": 1 }] }));
        // All other strings stay as written and are refused later.
        let unclear =
            json!({ "limit": "five", "hard": "yes", "tags": "a, b", "weight": "null", "place": "[1]" });
        assert_eq!(read(unclear.clone()), unclear);
        assert_eq!(read(json!("[1]")), json!("[1]"));
    }

    #[test]
    fn what_is_wrong_with_arguments_is_said_with_their_name() {
        assert_eq!(refused("{}"), "`content` is missing");
        assert_eq!(refused("null"), "`content` is missing");
        assert_eq!(
            refused(r#"{"content": "x", "wieght": 1}"#),
            "there is no argument `wieght`; expected `content` or `weight`"
        );
        assert_eq!(refused(r#"{"content": 5}"#), "`content`: integer `5`, expected a string");
        assert_eq!(refused(r#"{"content": {}}"#), "`content`: an object, expected a string");
        assert_eq!(
            refused(r#"{"content": "x", "weight": "heavy"}"#),
            "`weight`: string \"heavy\", expected a number"
        );
        assert_eq!(
            refused(r#"{"content": [["x"]]}"#),
            "`content[0]`: a list within a list, which no argument accepts"
        );
        assert_eq!(
            refused(r##"{"memories": [{}, {"associations": [{"a": {"b": 1}}, ["#1"]]}]}"##),
            "`memories[1].associations[1]`: a list within a list, which no argument accepts"
        );
        assert_eq!(refused("[1]"), "the arguments must be a JSON object, not a list");
    }
}
