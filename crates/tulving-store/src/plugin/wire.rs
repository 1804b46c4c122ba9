//! The messages between Tulving and a plugin. `docs/plugins.md` describes them for authors of plugins.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tulving_core::model::backend::{
    BackendDescription, BackendItem, BackendList, BackendListQuery, BackendRecallQuery, BackendScope, Verb,
};
use tulving_core::model::error::BackendError;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::model::preview;
use tulving_core::model::request::Filter;

/// The version of the protocol.
const PROTOCOL: u64 = 1;
/// JSON-RPC's error code for an unknown method.
const UNKNOWN_METHOD: i64 = -32_601;
/// Maximum number of characters of a plugin's text that an error message repeats.
const SAID: usize = 200;

/// Encodes a request as a line.
pub(super) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    #[derive(Serialize)]
    struct PluginRpcRequest<'a> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: &'a Value,
    }
    let request = PluginRpcRequest { jsonrpc: "2.0", id, method, params };
    let mut line = serde_json::to_vec(&request).expect("texts and numbers are JSON");
    line.push(b'\n');
    line
}

/// Reads a line as the answer to a request. Returns the number of the request, and its result or error. Returns `Err`
/// if the line is not an answer.
pub(super) fn answer(line: &[u8]) -> Result<(u64, Result<Value, BackendError>), String> {
    #[derive(Deserialize)]
    struct PluginRpcResponse {
        jsonrpc: Option<String>,
        id: Option<u64>,
        #[serde(default)]
        result: Option<Value>,
        error: Option<PluginRpcError>,
    }
    #[derive(Deserialize)]
    struct PluginRpcError {
        code: i64,
        message: String,
    }
    let read: PluginRpcResponse = serde_json::from_slice(line).map_err(|error| {
        let text = String::from_utf8_lossy(&line[..line.len().min(4 * SAID)]);
        format!("`{}` is not a JSON-RPC answer ({error})", preview::short(&text))
    })?;
    let id = read.id.filter(|_| read.jsonrpc.as_deref() == Some("2.0"));
    let id =
        id.ok_or_else(|| "an answer has \"jsonrpc\": \"2.0\" and the \"id\" of its request".to_owned())?;
    Ok((
        id,
        match read.error {
            None => Ok(read.result.unwrap_or(Value::Null)),
            Some(PluginRpcError { code: UNKNOWN_METHOD, .. }) => {
                Err(BackendError::NotOffered { what: "this" })
            }
            Some(PluginRpcError { message, .. }) => {
                Err(BackendError::Refused { message: preview::cut(&message, SAID) })
            }
        },
    ))
}

/// Returns the parameters of a request for the description.
pub(super) fn describe() -> Value {
    json!({ "protocol": PROTOCOL })
}

/// Reads the description of a plugin.
pub(super) fn description(said: Value) -> Result<BackendDescription, String> {
    #[derive(Deserialize)]
    struct PluginDescriptionReply {
        protocol: u64,
        #[serde(default)]
        version: String,
        verbs: Vec<String>,
    }
    let said: PluginDescriptionReply =
        serde_json::from_value(said).map_err(|error| format!("its description: {error}"))?;
    if said.protocol != PROTOCOL {
        return Err(format!("it speaks the protocol {} and not {PROTOCOL}", said.protocol));
    }
    if let Some(other) = said.verbs.iter().find(|said| Verb::ALL.iter().all(|verb| verb.as_str() != *said)) {
        return Err(format!("it offers the unknown verb `{}`", preview::short(other)));
    }
    let offers = |verb: &Verb| said.verbs.iter().any(|said| said == verb.as_str());
    Ok(BackendDescription {
        version: preview::short(&said.version),
        verbs: Verb::ALL.into_iter().filter(offers).collect(),
    })
}

pub(super) fn save(memory: &Memory) -> Value {
    json!({ "memory": memory })
}

pub(super) fn saved(said: &Value, id: MemoryId) -> Result<(), String> {
    match said.get("id") {
        Some(said) if MemoryId::deserialize(said).is_ok_and(|saved| saved == id) => Ok(()),
        Some(said) => {
            Err(format!("it was given the memory {id} and saved {}", preview::short(&said.to_string())))
        }
        None => Err("it did not say the id of what it saved".to_owned()),
    }
}

pub(super) fn recall(query: &BackendRecallQuery) -> Value {
    within(
        &query.scope,
        json!({
            "mode": query.way.as_str(),
            "query": query.query,
            "limit": query.limit,
        }),
    )
}

pub(super) fn list(query: &BackendListQuery) -> Value {
    within(
        &query.scope,
        json!({
            "order": if query.oldest_first { "oldest" } else { "newest" },
            "after": query.after.map(|(at, id)| json!({ "created_at": at, "id": id })),
            "limit": query.limit,
        }),
    )
}

pub(super) fn get(id: MemoryId, spaces: &[SpaceId], viewer: PrincipalId) -> Value {
    json!({ "id": id, "hub_ids": spaces, "viewer": viewer })
}

pub(super) fn forget(id: MemoryId, space: SpaceId, hard: bool) -> Value {
    json!({ "id": id, "hub_id": space, "hard": hard })
}

/// Reads the memories of an answer one by one, so that an invalid memory does not make the others unusable. Reads at
/// most one memory beyond the limit, which shows that there are more.
pub(super) fn memories(said: Value, limit: usize) -> Result<BackendList, String> {
    #[derive(Deserialize)]
    struct PluginMemoriesReply {
        memories: Vec<Value>,
        #[serde(default)]
        more: bool,
    }
    let said: PluginMemoriesReply =
        serde_json::from_value(said).map_err(|error| format!("its memories: {error}"))?;
    let taken = said.memories.into_iter().take(limit.saturating_add(1));
    Ok(BackendList { given: taken.map(given).collect(), more: said.more })
}

pub(super) fn memory(said: Value) -> Result<Option<BackendItem>, String> {
    #[derive(Deserialize)]
    struct PluginMemoryReply {
        memory: Option<Value>,
    }
    let said: PluginMemoryReply =
        serde_json::from_value(said).map_err(|error| format!("its memory: {error}"))?;
    Ok(said.memory.map(given))
}

pub(super) fn forgotten(said: &Value) -> Result<bool, String> {
    let forgotten = said.get("forgotten").and_then(Value::as_bool);
    forgotten.ok_or_else(|| "it did not say whether anything was forgotten".to_owned())
}

fn given(said: Value) -> BackendItem {
    serde_json::from_value(said).map(Box::new).map_err(|error| preview::cut(&error.to_string(), SAID))
}

fn within(scope: &BackendScope, params: Value) -> Value {
    let mut params = params;
    params["hub_ids"] = json!(scope.spaces);
    params["viewer"] = json!(scope.viewer);
    params["filter"] = filter(&scope.filter);
    params
}

/// Returns the fields of a filter that are sent to a plugin.
fn filter(filter: &Filter) -> Value {
    let mut said = Map::new();
    let mut say = |name: &str, value: Value| {
        let is_said = !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
        if is_said {
            said.insert(name.to_owned(), value);
        }
    };
    say("types", json!(filter.types));
    say("kinds", json!(filter.kinds));
    say("stabilities", json!(filter.stabilities));
    say("states", json!(filter.states));
    say("content_types", json!(filter.content_types));
    say("tags", json!(filter.tags));
    for (name, value) in filter.exact() {
        say(name, json!(value));
    }
    say("source_path", json!(filter.source_path));
    say("author", json!(filter.author));
    say("pinned", json!(filter.pinned));
    say("done", json!(filter.done));
    say("since", json!(filter.since));
    say("until", json!(filter.until));
    say("text", json!(filter.substring));
    Value::Object(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_its_number() {
        let (id, result) = answer(br#"{"jsonrpc":"2.0","id":7,"result":{"id":"x"}}"#).expect("an answer");
        assert_eq!((id, result), (7, Ok(json!({ "id": "x" }))));
        let (_, result) = answer(br#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no\nroom"}}"#)
            .expect("an answer");
        assert_eq!(result, Err(BackendError::Refused { message: "no room".to_owned() }));
        for wrong in ["", "{}", "[]", "hello", r#"{"id":7,"result":1}"#, r#"{"jsonrpc":"2.0","result":1}"#] {
            assert!(answer(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn of_more_memories_than_were_asked_for_one_is_taken() {
        let said = |count: usize| json!({ "memories": vec![json!({}); count], "more": true });
        for (count, taken) in [(0, 0), (2, 2), (3, 3), (4, 4), (5, 4), (100_000, 4)] {
            let listed = memories(said(count), 3).expect("a list");
            assert_eq!((listed.given.len(), listed.more), (taken, true));
        }
    }

    #[test]
    fn a_description_of_another_protocol_or_verb_is_refused() {
        let said = |protocol: u64, verbs: &[&str]| {
            description(json!({ "protocol": protocol, "version": "1", "verbs": verbs }))
        };
        assert_eq!(said(1, &["recall", "save", "save"]).expect("good").verbs, [Verb::Save, Verb::Recall]);
        assert_eq!(said(2, &[]), Err("it speaks the protocol 2 and not 1".to_owned()));
        assert_eq!(said(1, &["sing"]), Err("it offers the unknown verb `sing`".to_owned()));
    }
}
