//! Parses one message of a client, in the same way for every transport.
//!
//! If the input is no message, names an unknown method or has wrong parameters, the parser returns the error to send to the
//! client. The library rmcp treats such input as a custom request, so its answer would not explain the mistake.

use std::io::Read;

use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, JsonRpcMessage, JsonRpcVersion2_0, RequestId};
use serde::de::{DeserializeSeed as _, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::method;

/// The answer to a refused message. If the message has no id, the answer contains the id `null`, because JSON-RPC clients
/// expect an id.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RefusedMessage {
    jsonrpc: JsonRpcVersion2_0,
    id: Option<RequestId>,
    error: ErrorData,
}

impl RefusedMessage {
    pub(super) fn new(id: Option<RequestId>, error: ErrorData) -> Self {
        Self { jsonrpc: JsonRpcVersion2_0, id, error }
    }

    /// Returns the refusal of a message that is too long.
    pub(super) fn too_long(id: Option<RequestId>, limit: usize) -> Self {
        Self::new(id, ErrorData::invalid_request(format!("the message is longer than {limit} bytes"), None))
    }

    /// Returns the refusal of a request whose id is the id of an unanswered request.
    pub(super) fn twice(id: RequestId) -> Self {
        let said = "another request with this id is not answered yet";
        Self::new(Some(id), ErrorData::invalid_request(said, None))
    }

    /// Returns the JSON-RPC error code.
    pub(crate) fn code(&self) -> ErrorCode {
        self.error.code
    }

    /// Returns the answer as JSON.
    pub(crate) fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain texts and numbers are JSON")
    }
}

/// Parses the message in these bytes.
pub(crate) fn read(bytes: &[u8]) -> Result<ClientJsonRpcMessage, RefusedMessage> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| not_json(format!("it is not UTF-8 at byte {}", error.valid_up_to())))?;
    // Some editors write a byte order mark first.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(JsonRpcMessage::Request(request)) => match method::refusal(&request.request, text) {
            Some(error) => Err(RefusedMessage::new(Some(request.id), error)),
            None => Ok(JsonRpcMessage::Request(request)),
        },
        Ok(message) => Ok(message),
        Err(error) => Err(refusal(text, &error)),
    }
}

/// The fields that every request has.
#[derive(Deserialize)]
struct JsonRpcEnvelope {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    method: String,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

fn refusal(text: &str, error: &serde_json::Error) -> RefusedMessage {
    if !error.is_data() {
        return not_json(error);
    }
    // A data error stops the parser early, so the rest of the text may still be invalid JSON.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return not_json(error);
    }
    let invalid =
        |why: String| RefusedMessage::new(id_in(text.as_bytes()), ErrorData::invalid_request(why, None));
    match serde_json::from_str::<JsonRpcEnvelope>(text) {
        _ if text.trim_start().starts_with('[') => {
            invalid("batches are not supported; send one message at a time".to_owned())
        }
        Ok(JsonRpcEnvelope { id, method, result: None, error: None, .. }) => {
            RefusedMessage::new(Some(id), method::wrong(&method, text))
        }
        Ok(_) => invalid("a message has a method, a result or an error, and only one of them".to_owned()),
        Err(error) => invalid(format!("it is not a message of JSON-RPC 2.0: {}", method::reason(&error))),
    }
}

fn not_json(why: impl std::fmt::Display) -> RefusedMessage {
    RefusedMessage::new(None, ErrorData::parse_error(format!("the message is not JSON: {why}"), None))
}

/// Returns the id of a message, if the id occurs before the bytes end or become invalid. All other content is discarded.
pub(super) fn id_in(bytes: impl Read) -> Option<RequestId> {
    let mut seen = None;
    let mut bytes = serde_json::Deserializer::from_reader(bytes);
    // The deserializer always returns an error, even after it has found the id.
    let _ = RequestIdFinder(&mut seen).deserialize(&mut bytes);
    seen
}

struct RequestIdFinder<'a>(&'a mut Option<RequestId>);

impl<'de> serde::de::DeserializeSeed<'de> for RequestIdFinder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RequestIdFinder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "id" {
                *self.0 = Some(map.next_value()?);
                return Err(A::Error::custom("the id was seen"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// Returns the code, the id and the message of a refusal.
    fn refused(text: &str) -> (i64, Value, String) {
        let refused = read(text.as_bytes()).expect_err(text);
        let answer: Value = serde_json::from_slice(&refused.json()).expect("JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.as_object().expect("an object").contains_key("id"), "{answer}");
        let said = answer["error"]["message"].as_str().expect("a sentence").to_owned();
        (answer["error"]["code"].as_i64().expect("a code"), answer["id"].clone(), said)
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        let deep = "[".repeat(100_000);
        let deep_params = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{deep}");
        for text in ["garbage", "{", "{\"a\":1} x", "\"\\ud800\"", "{\"hello\":1}{", &deep, &deep_params] {
            let (code, id, said) = refused(text);
            assert_eq!((code, id), (-32700, Value::Null), "{said}");
        }
        let refused = read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}").expect_err("not UTF-8");
        assert_eq!(refused.code(), ErrorCode::PARSE_ERROR);
    }

    #[test]
    fn json_that_is_no_message_is_an_invalid_request_with_its_id() {
        for (text, id, part) in [
            ("[]", Value::Null, "batches"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, "batches"),
            ("7", Value::Null, "JSON-RPC"),
            (r#"{"hello":1}"#, Value::Null, "`jsonrpc`"),
            (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, json!(4), "2.0"),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, json!("a"), "`method`"),
            (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, json!(5), "integer `7`"),
            (r#"{"jsonrpc":"2.0","id":6,"method":"ping","result":{}}"#, json!(6), "only one"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, "integer"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null, "number or string"),
        ] {
            let (code, got, said) = refused(text);
            assert_eq!((code, got), (-32600, id), "{text}: {said}");
            assert!(said.contains(part), "{text}: {said}");
        }
    }

    #[test]
    fn wrong_params_are_told_from_an_unknown_method() {
        let request = |method: &str, rest: &str| {
            refused(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}"{rest}}}"#))
        };
        for (method, rest, part) in [
            ("tools/call", "", "missing field `params`"),
            ("tools/call", r#","params":null"#, "`params`: invalid type: null, expected an object"),
            ("tools/call", r#","params":["save"]"#, "`params`: invalid type: sequence, expected an object"),
            ("tools/call", r#","params":{}"#, "missing field `name`"),
            ("tools/call", r#","params":{"name":"save","arguments":[1]}"#, "`params.arguments`"),
            ("tools/call", r#","params":{"name":"a","name":"b"}"#, "duplicate field `name`"),
            ("tools/list", r#","params":"x""#, "`params`"),
            ("ping", r#","params":7"#, "`params`"),
            ("initialize", r#","params":{"protocolVersion":5}"#, "`params.protocolVersion`"),
            (
                "initialize",
                r#","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":9}"#,
                "`params.clientInfo`: invalid type: integer `9`, expected an object",
            ),
            ("server/discover", "", "missing field `params`"),
        ] {
            let (code, id, said) = request(method, rest);
            assert_eq!((code, id), (-32602, json!(3)), "{method}{rest}: {said}");
            assert!(said.contains(part) && said.contains(method), "{method}{rest}: {said}");
        }
        for method in ["no/such", "logging/setLevel", "tasks/get", "", "tools/Call"] {
            let (code, id, said) = request(method, r#","params":{"level":"info"}"#);
            assert_eq!((code, id), (-32601, json!(3)), "{method}: {said}");
            assert!(said.starts_with("there is no method") && said.contains(method), "{said}");
        }
        for method in ["initialize", "ping"] {
            let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
            let (code, _, said) = request(method, &format!(r#","params":{meta}"#));
            assert_eq!(code, -32601, "{method}: {said}");
        }
    }

    #[test]
    fn a_sentence_does_not_repeat_all_that_was_sent() {
        let long = "x".repeat(1 << 20);
        let (_, _, said) = refused(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":"{long}"}}}}"#
        ));
        assert!(said.len() < 1_000, "{} bytes", said.len());
        let (_, _, said) = refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#));
        assert!(said.len() < 1_000, "{} bytes", said.len());
    }

    #[test]
    fn what_is_right_is_read() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"cursor":null}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(read(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_id_is_seen_wherever_it_stands_and_only_on_the_outside() {
        let seen = |text: &str| id_in(text.as_bytes()).map(RequestId::into_json_value);
        assert_eq!(seen(r#"{"id":7,"params":{"a":"#), Some(json!(7)));
        assert_eq!(seen(r#"{"params":{"id":1,"x":["]","{"]},"id":"seven"}"#), Some(json!("seven")));
        for none in ["", "{", "[{\"id\":1}]", r#"{"params":{"id":1}}"#, r#"{"id":{}}"#, r#"{"id":"unfin"#] {
            assert_eq!(seen(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_sent_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Err(refused) = read(&bytes) {
                let answer = serde_json::from_slice::<Value>(&refused.json());
                prop_assert!(answer.is_ok_and(|answer| answer["error"]["message"].is_string()));
            }
        }
    }
}
