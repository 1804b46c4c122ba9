//! Reads a line of `tulving save --batch`: one memory as JSON. An error names the field and the reason, for the person who
//! wrote the line.

use serde_json::Value;
use serde_json::error::Category;
use tulving_core::model::preview;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::Relation;
use tulving_dialects::input::{SingleInput, ToolInput as _, names_of};
use tulving_dialects::reading::deserialize;

use crate::nearest::nearest;

/// Wrong field names that people write, each with the right name. The spellings are too different for [`nearest`] to
/// find the right name.
const OTHERWISE: [(&str, &str); 3] = [("text", "content"), ("memory", "content"), ("auto", "author")];

/// Reads a memory to save from a line of a batch, or returns what is wrong with the line.
pub(crate) fn save_request(line: &str) -> Result<SaveRequest, String> {
    let error = match serde_json::from_str(line) {
        // Serde would also accept a list of the field values in order.
        Ok(request) if line.trim_start().starts_with('{') => return Ok(request),
        Ok(_) => return Err(NOT_AN_OBJECT.to_owned()),
        Err(error) => error,
    };
    match serde_json::from_str(line) {
        Err(error) => Err(no_json(&error)),
        Ok(value @ Value::Object(_)) => Err(match deserialize::<SaveRequest>(value) {
            Err(refusal) if refusal.code == "unknown_argument" => unknown(&refusal.field.unwrap_or_default()),
            Err(refusal) => match refusal.hint {
                Some(hint) => format!("{}; {hint}", refusal.message),
                None => refusal.message,
            },
            Ok(_) => twice(&error).unwrap_or_else(|| error.to_string()),
        }),
        Ok(_) => Err(NOT_AN_OBJECT.to_owned()),
    }
}

const NOT_AN_OBJECT: &str = "it is not a JSON object";

fn no_json(error: &serde_json::Error) -> String {
    match error.classify() {
        Category::Eof => "it is not JSON: it ends too soon".to_owned(),
        _ => format!("it is not JSON: see column {}", error.column()),
    }
}

/// Returns a message that names an unknown field, and the known field that was probably meant.
fn unknown(name: &str) -> String {
    let there_is = format!("there is no field `{}`", preview::short(name));
    let known = names_of(&SingleInput::<SaveRequest>::schema());
    let otherwise = OTHERWISE.iter().find(|(written, _)| *written == name).map(|(_, meant)| *meant);
    let relation = || name.replace('-', "_").parse::<Relation>().ok().map(|_| "associations");
    let like = || nearest(name, known.iter().map(String::as_str));
    match otherwise.or_else(relation).or_else(like) {
        Some(meant) => format!("{there_is}; did you mean `{meant}`?"),
        None => format!("{there_is}; there are {}", known.join(", ")),
    }
}

fn twice(error: &serde_json::Error) -> Option<String> {
    let said = error.to_string();
    let name = said.strip_prefix("duplicate field ")?.split(" at ").next()?;
    Some(format!("{name} occurs twice"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_without_a_word_of_rust() {
        for (line, said) in [
            (r#"["one"]"#, "it is not a JSON object"),
            (r#"one"#, "it is not JSON: see column 1"),
            (r#"{"content": "#, "it is not JSON: it ends too soon"),
            (r#"{"content": "one",}"#, "it is not JSON: see column 19"),
            (r#"{"content": 1}"#, "`content`: integer `1`, expected a string"),
            (r#"{"content": null}"#, "`content`: null, expected a string"),
            (r#"{"content": "x", "importance": "high"}"#, "`importance`: string \"high\", expected a number"),
            (r#"{"content": "x", "tags": "a"}"#, "`tags`: string \"a\", expected a list"),
            (r#"{"content": "x", "pinned": "yes"}"#, "`pinned`: string \"yes\", expected a boolean"),
            (r#"{"content": "x", "pin": true}"#, "there is no field `pin`; did you mean `pinned`?"),
            (r#"{"text": "x"}"#, "there is no field `text`; did you mean `content`?"),
            (
                r#"{"content": "x", "contradicts": 3}"#,
                "there is no field `contradicts`; did you mean `associations`?",
            ),
            (
                r#"{"content": "x", "associations": [{"relation": "updates"}]}"#,
                "`associations[0].target` is missing",
            ),
            (
                r#"{"content": "x", "associations": [{"target": "three"}]}"#,
                "`three` does not name a memory; name it by its number, like #12, or by its full id",
            ),
            (
                r#"{"content": "x", "occurred_at": "yesterday"}"#,
                "`occurred_at`: `yesterday` is not a time; write 2026-05-27 or 2026-05-27T09:30:00Z",
            ),
            (r#"{"content": "x", "content": "y"}"#, "`content` occurs twice"),
        ] {
            assert_eq!(save_request(line).expect_err(line), said);
        }
        let target = save_request(r##"{"content": "x", "associations": [{"target": 3}, {"target": "#4"}]}"##);
        assert_eq!(target.expect("a memory").associations.len(), 2, "a memory is named by number or text");
        let error = save_request(r#"{"content": "x", "type": "facts"}"#).expect_err("no type");
        assert!(error.starts_with("`type`: `facts` is not a type; it is one of fact, "), "{error}");
        let error = save_request(r#"{"content": "x", "zzz": 1}"#).expect_err("no field");
        assert!(error.starts_with("there is no field `zzz`; there are "), "{error}");
    }
}
