//! Reads the parts that the answers of all services have in common, and assumes nothing about them.

use serde_json::Value;
use tulving_core::model::llm::{LlmReply, Prompt, StopReason, Tokens, ToolCall, tokens_of};

/// Returns the text at a path in the value, or an empty text.
pub(super) fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the items at a path in the value, or an empty list.
pub(super) fn items<'a>(value: &'a Value, place: &str) -> &'a [Value] {
    value.pointer(place).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A tool call of the model. A call without an id gets one from its position.
pub(super) fn call(at: usize, id: &str, name: &str, arguments: Option<&Value>) -> ToolCall {
    let id = if id.is_empty() { format!("call_{at}") } else { id.to_owned() };
    match arguments {
        Some(Value::String(written)) => ToolCall::written(id, name.to_owned(), written),
        None | Some(Value::Null) => ToolCall::written(id, name.to_owned(), ""),
        Some(arguments) => ToolCall { id, name: name.to_owned(), arguments: Ok(arguments.clone()) },
    }
}

/// Returns a reply with its cost: the number of tokens that the service reported, or an estimate from the number of
/// bytes. A reported number of zero counts as missing, because a service that does not count tokens must not appear to
/// be free.
pub(super) fn reply(
    text: String,
    calls: Vec<ToolCall>,
    ended: StopReason,
    counted: (Option<u64>, Option<u64>),
    prompt: &Prompt,
) -> LlmReply {
    let ended = match ended {
        StopReason::Stop | StopReason::Other if !calls.is_empty() => StopReason::ToolCalls,
        StopReason::ToolCalls if calls.is_empty() => StopReason::Stop,
        ended => ended,
    };
    let written = text.len() + calls.iter().map(written).sum::<usize>();
    let said = |tokens: Option<u64>| tokens.filter(|tokens| *tokens > 0);
    let tokens = Tokens {
        input: said(counted.0).unwrap_or_else(|| prompt.estimate()),
        output: said(counted.1).unwrap_or_else(|| tokens_of(written)),
    };
    LlmReply { text, calls, tokens, ended }
}

fn written(call: &ToolCall) -> usize {
    call.name.len() + call.arguments_again().to_string().len()
}
