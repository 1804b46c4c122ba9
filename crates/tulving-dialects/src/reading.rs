//! Reads the arguments of a call, or says which of them is wrong and how, in words for the model that wrote them.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tulving_core::preview;

use crate::tool::Refusal;

/// The arguments of a call; null stands for none, and where it is the value of one, for what was not said.
pub(crate) fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, Refusal> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        // Some clients send every argument that there is, and null for what was not said.
        Value::Object(mut said) => {
            said.retain(|_, value| !value.is_null());
            Value::Object(said)
        }
        other => {
            let message = format!("the arguments must be a JSON object, not {}", what(&other));
            return Err(Refusal { field: None, ..Refusal::invalid("invalid_arguments", "", message) });
        }
    };
    deserialize(arguments)
}

/// An object of arguments, with everything that it says, or which of them is wrong and how.
pub(crate) fn deserialize<A: DeserializeOwned>(arguments: Value) -> Result<A, Refusal> {
    if let Some(path) = listed_within(&arguments) {
        return Err(about("invalid_argument", &path, "a list within a list, which no argument is"));
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let said = error.into_inner().to_string();
        wrong(&path, &said)
    })
}

/// Where a list stands in a list. What reads an object would take it for the object's fields in their order.
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

/// What serde says, for a model that wrote the arguments.
fn wrong(path: &str, said: &str) -> Refusal {
    let named = |quoted: &str| quoted.split('`').nth(1).unwrap_or_default().to_owned();
    if said.starts_with("missing field") {
        let field = named(said);
        let code = match field.as_str() {
            "content" => "missing_content",
            "query" | "question" => "missing_query",
            _ => "missing_argument",
        };
        let message = format!("`{}` is missing", inside(path, &field));
        return Refusal::invalid(code, &field, message);
    }
    if let Some(rest) = said.strip_prefix("unknown field ") {
        let field = named(rest);
        let known = rest.split_once(", ").map(|(_, known)| match known {
            "there are no fields" => "the tool takes none".to_owned(),
            known => known.to_owned(),
        });
        let refusal = Refusal::invalid(
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
    let code = if said.contains("; it is one of ") { "unknown_word" } else { "invalid_argument" };
    let refusal = about(code, path, &preview::cut(&plainly(said), 300));
    match said.ends_with("is not a time") {
        true => refusal.hinting("write 2026-05-27 or 2026-05-27T09:30:00Z"),
        false => refusal,
    }
}

fn about(code: &'static str, path: &str, said: &str) -> Refusal {
    let field = path.split(['.', '[']).next().unwrap_or(path);
    Refusal::invalid(code, field, format!("`{path}`: {said}"))
}

/// What was found and what was expected, in the words of JSON.
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
            "`content[0]`: a list within a list, which no argument is"
        );
        assert_eq!(
            refused(r##"{"memories": [{}, {"associations": [{"a": {"b": 1}}, ["#1"]]}]}"##),
            "`memories[1].associations[1]`: a list within a list, which no argument is"
        );
        assert_eq!(refused("[1]"), "the arguments must be a JSON object, not a list");
    }
}
