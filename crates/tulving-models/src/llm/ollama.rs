//! The chat API of Ollama.

use serde_json::{Value, json};
use tulving_core::model::llm::{LlmReply, Message, Prompt, StopReason, ToolCall};

use super::UnusableReply;
use super::openai;
use super::read::{self, items, text};

/// Number of tokens in the default context of a model. A longer prompt is silently cut at its start.
const USUAL_CONTEXT: u64 = 4_096;
/// Maximum context that is requested, in tokens. The context must fit into memory.
const MOST_CONTEXT: u64 = 131_072;

/// The request for a prompt.
pub(super) fn question(model: &str, prompt: &Prompt) -> Value {
    let messages: Vec<Value> = prompt.messages.iter().map(message).collect();
    let mut question = json!({ "model": model, "messages": messages, "stream": false });
    question["options"] = options(prompt);
    if !prompt.tools.is_empty() {
        question["tools"] = prompt.tools.iter().map(openai::tool).collect();
    }
    if let Some(schema) = &prompt.answer {
        question["format"] = schema.clone();
    }
    question
}

fn options(prompt: &Prompt) -> Value {
    let needed = prompt.estimate() + u64::from(prompt.max_tokens);
    let mut options = json!({ "num_predict": prompt.max_tokens });
    if needed > USUAL_CONTEXT {
        options["num_ctx"] = needed.min(MOST_CONTEXT).next_power_of_two().into();
    }
    options
}

fn message(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::ToolResult { name, content, .. } => {
            json!({ "role": "tool", "tool_name": name, "content": content })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    json!({ "function": { "name": call.name, "arguments": call.arguments_again() } })
}

/// Reads the reply of the service.
pub(super) fn reply(answer: &Value, prompt: &Prompt) -> Result<LlmReply, UnusableReply> {
    let message = answer.get("message").ok_or(UnusableReply::Malformed("it has no message"))?;
    let calls = items(message, "/tool_calls").iter().enumerate().map(|(at, call)| {
        read::call(at, text(call, "/id"), text(call, "/function/name"), call.pointer("/function/arguments"))
    });
    let ended = match text(answer, "/done_reason") {
        "stop" => StopReason::Stop,
        "length" => StopReason::Length,
        _ => StopReason::Other,
    };
    let counted = |name: &str| answer.get(name).and_then(Value::as_u64);
    let counted = (counted("prompt_eval_count"), counted("eval_count"));
    Ok(read::reply(text(message, "/content").to_owned(), calls.collect(), ended, counted, prompt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_prompt_asks_for_the_room_that_it_needs() {
        let room =
            |bytes: usize| question("m", &Prompt::new("", "x".repeat(bytes)))["options"]["num_ctx"].clone();
        assert_eq!(room(1_000), Value::Null);
        assert_eq!(room(16_000), 8_192);
        assert_eq!(room(4_000_000), 131_072);
    }
}
