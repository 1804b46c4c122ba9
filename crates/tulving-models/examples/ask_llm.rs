//! Asks a language model what a script says, so that services which others wrote can be tried from any language.
//!
//! Each line of standard input is a prompt as JSON, the first one with the service too (`provider`, `base_url`, `model`, `key`,
//! `failures`, `pause_ms`); each line of standard output is a reply, or an error with its code.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tulving_core::model::error::LlmError;
use tulving_core::model::llm::{LlmReply, Message, Prompt, Tool, ToolCall};
use tulving_core::ports::LanguageModel;
use tulving_models::{ApiKey, LlmConfig, LlmProvider, language_model};

fn main() -> Result<(), Box<dyn Error>> {
    let mut llm: Option<Arc<dyn LanguageModel>> = None;
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let llm = match &llm {
            Some(llm) => Arc::clone(llm),
            None => Arc::clone(llm.insert(language_model(&config(&asked)?)?)),
        };
        let begun = Instant::now();
        let mut described = match llm.complete(&prompt(&asked)) {
            Ok(reply) => shown(&reply),
            Err(error) => failed(&error),
        };
        described["took_ms"] = json!(begun.elapsed().as_secs_f64() * 1_000.0);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{described}")?;
        out.flush()?;
    }
    Ok(())
}

fn config(asked: &Value) -> Result<LlmConfig, Box<dyn Error>> {
    let provider = match text(asked, "provider").as_str() {
        "openai" => LlmProvider::OpenAi,
        "anthropic" => LlmProvider::Anthropic,
        "ollama" => LlmProvider::Ollama,
        other => return Err(format!("`{other}` is no provider").into()),
    };
    let usual = LlmConfig::new(provider, &text(asked, "base_url"), &text(asked, "model"));
    let failures = asked["failures"].as_u64().and_then(|failures| u32::try_from(failures).ok());
    Ok(LlmConfig {
        key: asked["key"].as_str().map(ApiKey::new),
        failures: failures.unwrap_or(usual.failures),
        pause: asked["pause_ms"].as_u64().map_or(usual.pause, Duration::from_millis),
        ..usual
    })
}

fn prompt(asked: &Value) -> Prompt {
    let items = |name: &str| asked[name].as_array().cloned().unwrap_or_default();
    Prompt {
        messages: items("messages").iter().map(message).collect(),
        tools: items("tools").iter().map(tool).collect(),
        answer: asked.get("answer").cloned(),
        max_tokens: asked["max_tokens"].as_u64().and_then(|most| u32::try_from(most).ok()).unwrap_or(256),
        within: Duration::from_millis(asked["within_ms"].as_u64().unwrap_or(60_000)),
        model: None,
    }
}

fn message(said: &Value) -> Message {
    match said["role"].as_str() {
        Some("system") => Message::System(text(said, "text")),
        Some("assistant") => Message::Assistant {
            text: text(said, "text"),
            calls: said["calls"].as_array().map_or_else(Vec::new, |calls| calls.iter().map(call).collect()),
        },
        Some("tool") => Message::ToolResult {
            id: text(said, "id"),
            name: text(said, "name"),
            content: text(said, "text"),
            failed: said["failed"] == true,
        },
        _ => Message::User(text(said, "text")),
    }
}

fn call(call: &Value) -> ToolCall {
    ToolCall::written(text(call, "id"), text(call, "name"), &call["arguments"].to_string())
}

fn tool(tool: &Value) -> Tool {
    Tool { name: text(tool, "name"), description: text(tool, "description"), schema: tool["schema"].clone() }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn shown(reply: &LlmReply) -> Value {
    let calls = reply.calls.iter().map(|call| match &call.arguments {
        Ok(arguments) => json!({ "id": call.id, "name": call.name, "arguments": arguments }),
        Err(garbled) => json!({ "id": call.id, "name": call.name, "garbled": garbled.to_string() }),
    });
    json!({
        "text": reply.text,
        "calls": calls.collect::<Vec<_>>(),
        "tokens_in": reply.tokens.input,
        "tokens_out": reply.tokens.output,
        "ended": reply.ended,
    })
}

fn failed(error: &LlmError) -> Value {
    json!({ "error": error.code(), "message": error.to_string(), "hint": error.hint() })
}
