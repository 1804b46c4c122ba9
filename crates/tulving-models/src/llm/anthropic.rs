//! The messages API of Anthropic.
//!
//! If a prompt has a schema, the request offers an additional tool, and the arguments of the tool call are the answer.
//! All models of Anthropic support tools.

use serde_json::{Map, Value, json};
use tulving_core::model::llm::{LlmReply, Message, Prompt, StopReason, Tool, ToolCall};

use super::UnusableReply;
use super::read::{self, text};

/// The version of the protocol.
pub(super) const VERSION: &str = "2023-06-01";
/// The tool whose arguments are the answer.
const ANSWER: &str = "give_answer";

/// The request for a prompt.
pub(super) fn question(model: &str, prompt: &Prompt) -> Value {
    let mut question = Map::new();
    question.insert("model".to_owned(), json!(model));
    question.insert("max_tokens".to_owned(), json!(prompt.max_tokens));
    let system = system(prompt);
    if !system.is_empty() {
        question.insert("system".to_owned(), json!(system));
    }
    question.insert("messages".to_owned(), messages(prompt).into());
    let mut tools: Vec<Value> = prompt.tools.iter().map(tool).collect();
    if let Some(schema) = &prompt.answer {
        let about = "Gives the answer. Call it once, with the whole answer.";
        let choice = match tools.is_empty() {
            true => json!({ "type": "tool", "name": ANSWER }),
            false => json!({ "type": "any" }),
        };
        tools.push(json!({ "name": ANSWER, "description": about, "input_schema": schema }));
        question.insert("tool_choice".to_owned(), choice);
    }
    if !tools.is_empty() {
        question.insert("tools".to_owned(), tools.into());
    }
    question.into()
}

fn system(prompt: &Prompt) -> String {
    let texts = prompt.messages.iter().filter_map(|message| match message {
        Message::System(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The messages. Consecutive messages of one side are merged: all tool results must be in one message.
fn messages(prompt: &Prompt) -> Vec<Value> {
    let mut sides: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &prompt.messages {
        let (side, blocks) = match message {
            Message::System(_) => continue,
            Message::User(text) => ("user", words(text)),
            Message::Assistant { text, calls } => {
                ("assistant", words(text).into_iter().chain(calls.iter().map(call)).collect())
            }
            Message::ToolResult { id, content, failed, .. } => {
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed });
                ("user", vec![result])
            }
        };
        match sides.last_mut() {
            Some((last, before)) if *last == side => before.extend(blocks),
            // The service refuses an empty message.
            _ if blocks.is_empty() => {}
            _ => sides.push((side, blocks)),
        }
    }
    sides.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// A text as a block. An empty text is left out because the service refuses it.
fn words(text: &str) -> Vec<Value> {
    if text.trim().is_empty() { Vec::new() } else { vec![json!({ "type": "text", "text": text })] }
}

fn call(call: &ToolCall) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments_again() })
}

fn tool(tool: &Tool) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
}

/// Reads the reply of the service.
pub(super) fn reply(answer: &Value, prompt: &Prompt) -> Result<LlmReply, UnusableReply> {
    let blocks = answer
        .get("content")
        .and_then(Value::as_array)
        .ok_or(UnusableReply::Malformed("it has no content"))?;
    let ended = match text(answer, "/stop_reason") {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::Length,
        "refusal" => return Err(UnusableReply::Policy(said(blocks))),
        "model_context_window_exceeded" => return Err(UnusableReply::TooLarge),
        _ => StopReason::Other,
    };
    let (mut words, mut calls) = (said(blocks), Vec::new());
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| text(block, "/type") == "tool_use") {
        let (name, arguments) = (text(block, "/name"), block.get("input"));
        match arguments {
            Some(given) if prompt.answer.is_some() && name == ANSWER => words = given.to_string(),
            _ => calls.push(read::call(at, text(block, "/id"), name, arguments)),
        }
    }
    Ok(read::reply(words, calls, ended, counted(answer), prompt))
}

fn said(blocks: &[Value]) -> String {
    blocks.iter().filter(|block| text(block, "/type") == "text").map(|block| text(block, "/text")).collect()
}

/// The tokens, including those read from a cache or written to one.
fn counted(answer: &Value) -> (Option<u64>, Option<u64>) {
    let count = |name: &str| answer.pointer(&format!("/usage/{name}")).and_then(Value::as_u64);
    let cached =
        ["cache_creation_input_tokens", "cache_read_input_tokens"].map(|name| count(name).unwrap_or(0));
    let input = count("input_tokens").map(|tokens| cached.into_iter().fold(tokens, u64::saturating_add));
    (input, count("output_tokens"))
}

#[cfg(test)]
mod tests {
    use super::super::read::items;
    use super::*;

    #[test]
    fn results_of_tools_come_together_and_nothing_empty_is_sent() {
        let result = |id: &str| Message::ToolResult {
            id: id.to_owned(),
            name: "note".to_owned(),
            content: "done".to_owned(),
            failed: id == "b",
        };
        let call = |id: &str| ToolCall::written(id.to_owned(), "note".to_owned(), "{}");
        let mut prompt = Prompt::new("one", "ask");
        prompt.messages.extend([
            Message::Assistant { text: String::new(), calls: vec![call("a"), call("b")] },
            result("a"),
            result("b"),
            Message::User(" ".to_owned()),
            Message::System("two".to_owned()),
        ]);
        let question = question("m", &prompt);
        assert_eq!(question["system"], "one\n\ntwo");
        let messages = items(&question, "/messages");
        assert_eq!(messages.len(), 3);
        assert_eq!(items(&messages[1], "/content").len(), 2);
        let results = items(&messages[2], "/content");
        assert_eq!((&results[0]["tool_use_id"], &results[1]["is_error"]), (&json!("a"), &json!(true)));
        assert_eq!(results.len(), 2);
    }
}
