//! Explains what is wrong with a line of JSON in our own words: the parser's errors speak of Rust types.
//!
//! Runs only after a line could not be read, so that good lines cost nothing extra.

use serde_json::Value;
use serde_json::error::Category;
use tulving_core::model::preview;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::Relation;

use crate::nearest::nearest;

/// The shape that a value must have.
enum JsonShape {
    Text,
    Number,
    WholeNumber,
    Truth,
    Texts,
    Objects(&'static ObjectFields),
}

/// The fields of an object.
struct ObjectFields {
    /// The name of the object in messages.
    name: &'static str,
    known: &'static [(&'static str, JsonShape)],
    /// The required fields.
    needed: &'static [&'static str],
}

/// The fields of a memory to save.
const MEMORY: ObjectFields = ObjectFields {
    name: "memory",
    known: &[
        ("content", JsonShape::Text),
        ("content_type", JsonShape::Text),
        ("language", JsonShape::Text),
        ("key", JsonShape::Text),
        ("title", JsonShape::Text),
        ("summary", JsonShape::Text),
        ("tags", JsonShape::Texts),
        ("type", JsonShape::Text),
        ("kind", JsonShape::Text),
        ("stability", JsonShape::Text),
        ("importance", JsonShape::Number),
        ("boundary", JsonShape::Text),
        ("author", JsonShape::Text),
        ("source_note", JsonShape::Text),
        ("origin", JsonShape::Text),
        ("source_agent", JsonShape::Text),
        ("assisted_by_agent", JsonShape::Text),
        ("trust", JsonShape::Text),
        ("pass", JsonShape::Text),
        ("source_path", JsonShape::Text),
        ("conversation", JsonShape::Text),
        ("position", JsonShape::WholeNumber),
        ("speaker", JsonShape::Text),
        ("occurred_at", JsonShape::Text),
        ("valid_from", JsonShape::Text),
        ("valid_until", JsonShape::Text),
        ("expires_at", JsonShape::Text),
        ("pinned", JsonShape::Truth),
        ("associations", JsonShape::Objects(&ASSOCIATION)),
    ],
    needed: &[],
};

const ASSOCIATION: ObjectFields = ObjectFields {
    name: "association",
    known: &[("target", JsonShape::Text), ("relation", JsonShape::Text), ("weight", JsonShape::Number)],
    needed: &["target"],
};

/// Names that people write and that resemble no known name.
const OTHERWISE: [(&str, &str); 3] = [("text", "content"), ("memory", "content"), ("auto", "author")];

/// Reads a memory to save from a line of a batch, or returns what is wrong with the line.
pub(crate) fn save_request(line: &str) -> Result<SaveRequest, String> {
    let read = serde_json::from_str(line);
    let wrong = match read {
        // Serde would also accept a list, as the fields in their order.
        Ok(request) if line.trim_start().starts_with('{') => return Ok(request),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    Err(match serde_json::from_str(line) {
        Err(error) => no_json(&error),
        Ok(value) => wrong_object(&value, &MEMORY)
            .or_else(|| wrong_word(&value))
            .or_else(|| twice(&wrong?))
            .unwrap_or_else(|| "it is not a memory".to_owned()),
    })
}

fn no_json(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "it is not JSON: it ends too soon".to_owned(),
        _ => format!("it is not JSON: see column {}", error.column()),
    }
}

/// Returns the first field that is unknown, missing, or of the wrong shape.
fn wrong_object(value: &Value, fields: &ObjectFields) -> Option<String> {
    let Some(object) = value.as_object() else {
        return Some(if fields.name == MEMORY.name {
            "it is not a JSON object".to_owned()
        } else {
            format!("the {} is not an object", fields.name)
        });
    };
    let wrong = object.iter().find_map(|(name, value)| {
        let known = fields.known.iter().find(|(known, _)| known == name);
        known.map_or_else(|| Some(unknown(name, fields)), |(_, shape)| wrong_shape(name, value, shape))
    });
    let missing = || fields.needed.iter().find(|name| !object.contains_key(**name));
    wrong.or_else(|| missing().map(|name| format!("the {} has no `{name}`", fields.name)))
}

fn unknown(name: &str, fields: &ObjectFields) -> String {
    let there_is = format!("there is no field `{}`", preview::short(name));
    let otherwise = OTHERWISE.iter().find(|(written, _)| *written == name).map(|(_, meant)| *meant);
    let relation = || name.replace('-', "_").parse::<Relation>().ok().map(|_| "associations");
    let like = || nearest(name, fields.known.iter().map(|(known, _)| *known));
    let meant = if fields.name == MEMORY.name { otherwise.or_else(relation) } else { None };
    match meant.or_else(like) {
        Some(meant) => format!("{there_is}; did you mean `{meant}`?"),
        None => {
            let known: Vec<&str> = fields.known.iter().map(|(known, _)| *known).collect();
            format!("{there_is}; there are {}", known.join(", "))
        }
    }
}

/// Returns why a value has the wrong shape. Most may be `null`, which counts as absent.
fn wrong_shape(name: &str, value: &Value, shape: &JsonShape) -> Option<String> {
    let optional = name != "content" && !matches!(shape, JsonShape::Truth | JsonShape::Objects(_));
    let (fits, what) = match shape {
        _ if value.is_null() && optional => return None,
        JsonShape::Text => (value.is_string(), "a text in quotes"),
        JsonShape::Number => (value.is_number(), "a number"),
        JsonShape::WholeNumber => (value.is_i64() || value.is_u64(), "a whole number"),
        JsonShape::Truth => (value.is_boolean(), "true or false"),
        JsonShape::Texts => {
            (value.as_array().is_some_and(|list| list.iter().all(Value::is_string)), "a list of texts")
        }
        JsonShape::Objects(fields) => match value.as_array() {
            Some(list) => return list.iter().find_map(|item| wrong_object(item, fields)),
            None => (false, "a list of objects"),
        },
    };
    (!fits).then(|| format!("`{name}` is not {what}"))
}

/// Returns the first field whose value is not an allowed word, time, id or memory. The message is the core's.
fn wrong_word(value: &Value) -> Option<String> {
    value.as_object()?.iter().find_map(|(name, value)| {
        let alone = serde_json::json!({ name: value });
        let error = serde_json::from_value::<SaveRequest>(alone).err()?;
        Some(format!("`{name}`: {error}"))
    })
}

fn twice(error: &serde_json::Error) -> Option<String> {
    let said = error.to_string();
    let name = said.strip_prefix("duplicate field ")?.split(" at ").next()?;
    Some(format!("{name} is there twice"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_request_has_its_shape() {
        let request = serde_json::to_value(SaveRequest::default()).expect("JSON");
        let mut fields: Vec<&str> =
            request.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut known: Vec<&str> = MEMORY.known.iter().map(|(name, _)| *name).collect();
        fields.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, fields);
    }

    #[test]
    fn what_is_wrong_is_said_without_a_word_of_rust() {
        for (line, said) in [
            (r#"["one"]"#, "it is not a JSON object"),
            (r#"one"#, "it is not JSON: see column 1"),
            (r#"{"content": "#, "it is not JSON: it ends too soon"),
            (r#"{"content": "one",}"#, "it is not JSON: see column 19"),
            (r#"{"content": 1}"#, "`content` is not a text in quotes"),
            (r#"{"content": null}"#, "`content` is not a text in quotes"),
            (r#"{"content": "x", "importance": "high"}"#, "`importance` is not a number"),
            (r#"{"content": "x", "position": 1.5}"#, "`position` is not a whole number"),
            (r#"{"content": "x", "tags": "a"}"#, "`tags` is not a list of texts"),
            (r#"{"content": "x", "pinned": "yes"}"#, "`pinned` is not true or false"),
            (r#"{"content": "x", "pin": true}"#, "there is no field `pin`; did you mean `pinned`?"),
            (r#"{"text": "x"}"#, "there is no field `text`; did you mean `content`?"),
            (
                r#"{"content": "x", "updates": 3}"#,
                "there is no field `updates`; did you mean `associations`?",
            ),
            (r#"{"content": "x", "associations": ["1"]}"#, "the association is not an object"),
            (
                r#"{"content": "x", "associations": [{"relation": "updates"}]}"#,
                "the association has no `target`",
            ),
            (r#"{"content": "x", "associations": [{"target": 3}]}"#, "`target` is not a text in quotes"),
            (
                r#"{"content": "x", "associations": [{"target": "three"}]}"#,
                "`associations`: `three` does not name a memory",
            ),
            (r#"{"content": "x", "occurred_at": "yesterday"}"#, "`occurred_at`: `yesterday` is not a time"),
            (r#"{"content": "x", "content": "y"}"#, "`content` is there twice"),
        ] {
            assert_eq!(save_request(line).expect_err(line), said);
        }
        let error = save_request(r#"{"content": "x", "type": "facts"}"#).expect_err("no type");
        assert!(error.starts_with("`type`: `facts` is not a type; it is one of fact, "), "{error}");
        let error = save_request(r#"{"content": "x", "zzz": 1}"#).expect_err("no field");
        assert!(error.starts_with("there is no field `zzz`; there are content, "), "{error}");
    }
}
