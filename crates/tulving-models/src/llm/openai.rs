//! The chat completions API of OpenAI, which most other services and local servers use too.

use serde_json::{Map, Value, json};
use tulving_core::model::llm::{LlmReply, Message, Prompt, StopReason, Tool, ToolCall};

use super::read::{self, items, text};
use super::{LlmProvider, UnusableReply};
use crate::address::ServiceUrl;

/// The name of the answer's schema, which the service requires.
const ANSWER: &str = "answer";

/// The differences between OpenAI and the services that follow its older API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenAiVariant {
    /// The service of OpenAI itself.
    Itself,
    /// Another service with OpenAI's older API.
    Like,
}

impl OpenAiVariant {
    /// The dialect of the service at this address.
    pub(super) fn at(address: &ServiceUrl) -> Self {
        let usual = ServiceUrl::new(LlmProvider::OpenAi.usual_address());
        if address.host() == usual.host() { Self::Itself } else { Self::Like }
    }

    /// The name of the field for the token limit. OpenAI's newer models refuse the name that other services use.
    const fn max_tokens(self) -> &'static str {
        match self {
            Self::Itself => "max_completion_tokens",
            Self::Like => "max_tokens",
        }
    }
}

/// The request for a prompt.
pub(super) fn question(model: &str, prompt: &Prompt, dialect: OpenAiVariant) -> Value {
    let mut question = Map::new();
    question.insert("model".to_owned(), json!(model));
    question.insert("messages".to_owned(), prompt.messages.iter().map(message).collect());
    question.insert(dialect.max_tokens().to_owned(), json!(prompt.max_tokens));
    if !prompt.tools.is_empty() {
        question.insert("tools".to_owned(), prompt.tools.iter().map(tool).collect());
    }
    if let Some(schema) = &prompt.answer {
        let form = json!({ "name": ANSWER, "schema": schema, "strict": is_closed(schema) });
        question.insert("response_format".to_owned(), json!({ "type": "json_schema", "json_schema": form }));
    }
    question.into()
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Message::ToolResult { id, content, .. } => {
            json!({ "role": "tool", "tool_call_id": id, "content": content })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = call.arguments_again().to_string();
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

/// A tool, in the form that Ollama uses too.
pub(super) fn tool(tool: &Tool) -> Value {
    let Tool { name, description, schema } = tool;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}

/// Returns true if every object in a schema lists all of its properties as required and allows no others. The service
/// enforces only such schemas.
fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            let fits = match object.get("properties").and_then(Value::as_object) {
                None => true,
                Some(properties) => {
                    let required = items(schema, "/required");
                    object.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(|name| required.contains(&json!(name)))
                }
            };
            fits && object.values().all(is_closed)
        }
        Value::Array(items) => items.iter().all(is_closed),
        _ => true,
    }
}

/// Reads the reply of the service.
pub(super) fn reply(answer: &Value, prompt: &Prompt) -> Result<LlmReply, UnusableReply> {
    let choice = answer.pointer("/choices/0").ok_or(UnusableReply::Malformed("it has no choices"))?;
    let message = choice.get("message").ok_or(UnusableReply::Malformed("its choice has no message"))?;
    let refusal = text(message, "/refusal");
    let reason = text(choice, "/finish_reason");
    if !refusal.is_empty() || reason == "content_filter" {
        return Err(UnusableReply::Policy(refusal.to_owned()));
    }
    let calls = items(message, "/tool_calls").iter().enumerate().map(|(at, call)| {
        read::call(at, text(call, "/id"), text(call, "/function/name"), call.pointer("/function/arguments"))
    });
    let ended = match reason {
        "stop" => StopReason::Stop,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" => StopReason::Length,
        _ => StopReason::Other,
    };
    let counted = |name: &str| answer.pointer(name).and_then(Value::as_u64);
    let counted = (counted("/usage/prompt_tokens"), counted("/usage/completion_tokens"));
    Ok(read::reply(content(message), calls.collect(), ended, counted, prompt))
}

/// The text of a message. Some services send it in parts.
fn content(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "/text")).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_schema_that_leaves_nothing_open_is_strict() {
        let closed = |inner: Value| json!({ "type": "object", "properties": { "a": inner }, "required": ["a"], "additionalProperties": false });
        assert!(is_closed(&closed(json!({ "type": "string" }))));
        assert!(is_closed(&closed(json!({ "type": "array", "items": closed(json!({})) }))));
        assert!(!is_closed(&closed(json!({ "type": "object", "properties": { "b": {} } }))));
        let mut optional = closed(json!({}));
        optional["required"] = json!([]);
        assert!(!is_closed(&optional));
    }

    #[test]
    fn the_bound_of_the_answer_has_the_name_that_the_service_knows() {
        let named = |url: &str| OpenAiVariant::at(&ServiceUrl::new(url)).max_tokens();
        assert_eq!(named("https://api.openai.com/v1/chat/completions"), "max_completion_tokens");
        assert_eq!(named("http://127.0.0.1:8080/v1/chat/completions"), "max_tokens");
    }
}
