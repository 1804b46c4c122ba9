//! Prompts to a language model, its replies, and their cost.
//!
//! Each service's format is built from these types: a [`Prompt`] goes out, a [`LlmReply`] comes back, a [`LlmUsage`] is
//! recorded.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::limits;

/// The purpose of a call that tests the configuration.
pub const TEST: &str = "test";

/// A service and its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LlmName {
    /// The kind of service: `openai`, `anthropic`, `ollama`.
    pub provider: String,
    /// The name that the service uses for the model.
    pub model: String,
}

impl fmt::Display for LlmName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.model, self.provider)
    }
}

/// A message, or the result of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Instructions for the whole conversation.
    System(String),
    /// The question.
    User(String),
    /// An earlier answer of the model.
    Assistant {
        /// The text.
        text: String,
        /// The tool calls.
        calls: Vec<ToolCall>,
    },
    /// The result of a tool call in the message before.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// The result, or the error.
        content: String,
        /// True if the tool failed.
        failed: bool,
    },
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Its description, for the model.
    pub description: String,
    /// The JSON Schema of its arguments, which is that of an object.
    pub schema: Value,
}

/// A question to a language model. The model remembers no earlier questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// The JSON Schema, of an object, for the text of the answer. A weak model may not follow it, so the answer must be
    /// parsed as untrusted input.
    pub answer: Option<Value>,
    /// Maximum tokens of the answer.
    pub max_tokens: u32,
    /// Timeout for everything, including waiting and retries.
    pub within: Duration,
    /// A model of the same service to use instead of the configured one.
    pub model: Option<String>,
}

impl Prompt {
    /// Default timeout of an answer.
    pub const WITHIN: Duration = Duration::from_secs(60);
    /// Default maximum number of tokens of an answer.
    pub const MAX_TOKENS: u32 = 1_024;

    /// Creates a question, preceded by instructions for the whole conversation.
    pub fn new(system: impl Into<String>, user: impl Into<String>) -> Self {
        Self {
            messages: vec![Message::System(system.into()), Message::User(user.into())],
            tools: Vec::new(),
            answer: None,
            max_tokens: Self::MAX_TOKENS,
            within: Self::WITHIN,
            model: None,
        }
    }

    /// Returns the approximate number of tokens sent, estimated by bytes.
    pub fn estimate(&self) -> u64 {
        let said: usize = self.messages.iter().map(Message::bytes).sum();
        let tools: usize = self.tools.iter().map(Tool::bytes).sum();
        tokens_of(said + tools + self.answer.as_ref().map_or(0, |schema| schema.to_string().len()))
    }
}

impl Message {
    fn bytes(&self) -> usize {
        match self {
            Self::System(text) | Self::User(text) => text.len(),
            Self::Assistant { text, calls } => text.len() + calls.iter().map(ToolCall::bytes).sum::<usize>(),
            Self::ToolResult { content, .. } => content.len(),
        }
    }
}

impl Tool {
    fn bytes(&self) -> usize {
        self.name.len() + self.description.len() + self.schema.to_string().len()
    }
}

/// Returns the approximate number of tokens of a text: four bytes are one token in English, fewer elsewhere.
pub fn tokens_of(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(limits::BYTES_PER_TOKEN)).unwrap_or(u64::MAX)
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmReply {
    /// The text; empty if the answer only calls tools.
    pub text: String,
    /// The tool calls, in order. Names and arguments are as the model wrote them, unchecked.
    pub calls: Vec<ToolCall>,
    /// The number of tokens, estimated by bytes if the service does not report it.
    pub tokens: Tokens,
    /// The reason why it ended.
    pub ended: StopReason,
}

impl LlmReply {
    /// Returns the answer as a message for the next prompt.
    pub fn message(&self) -> Message {
        Message::Assistant { text: self.text.clone(), calls: self.calls.clone() }
    }
}

/// A model's call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id of the call, which the tool's result names.
    pub id: String,
    /// The name of the tool. There may be no such tool.
    pub name: String,
    /// The arguments. Invalid JSON is an error of this call alone, to be reported to the model.
    pub arguments: Result<Value, InvalidToolArguments>,
}

impl ToolCall {
    /// Creates a call with arguments as the model wrote them. An empty text means no arguments.
    pub fn written(id: String, name: String, arguments: &str) -> Self {
        let read = match arguments.trim() {
            "" => Ok(Value::Object(serde_json::Map::new())),
            written => serde_json::from_str(written),
        };
        let garbled = |error: serde_json::Error| InvalidToolArguments {
            got: arguments.to_owned(),
            why: error.to_string(),
        };
        Self { id, name, arguments: read.map_err(garbled) }
    }

    /// Returns the arguments to send back to the model: always an object, whatever the model wrote.
    pub fn arguments_again(&self) -> Value {
        match &self.arguments {
            Ok(arguments @ Value::Object(_)) => arguments.clone(),
            Ok(other) => serde_json::json!({ "arguments": other }),
            Err(InvalidToolArguments { got, .. }) => serde_json::json!({ "arguments": got }),
        }
    }

    fn bytes(&self) -> usize {
        let arguments = match &self.arguments {
            Ok(value) => value.to_string().len(),
            Err(InvalidToolArguments { got, .. }) => got.len(),
        };
        self.id.len() + self.name.len() + arguments
    }
}

/// Tool arguments that are not valid JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arguments are not JSON: {why}")]
pub struct InvalidToolArguments {
    /// The text as the model wrote it.
    pub got: String,
    /// The parse error.
    pub why: String,
}

/// The reason why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The answer is complete.
    Stop,
    /// Tools must be called first.
    ToolCalls,
    /// The length limit was reached.
    Length,
    /// The reason is unknown.
    Other,
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Tokens of the prompt.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
}

/// The usage of one model for one purpose on one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UsageEntry")]
pub struct LlmUsage {
    /// The day, in UTC, as `YYYY-MM-DD`.
    pub day: String,
    /// The kind of service.
    pub provider: String,
    /// The name that the service uses for the model.
    pub model: String,
    /// The purpose, such as [`TEST`].
    pub pass: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls without an answer.
    pub failures: u64,
    /// Tokens of the prompts.
    pub tokens_in: u64,
    /// Tokens of the answers.
    pub tokens_out: u64,
    /// Number of calls that were dropped because too many waited.
    pub dropped: u64,
}

impl LlmUsage {
    /// Creates the usage for a number of dropped calls.
    pub fn dropped(day: String, llm: &LlmName, pass: &str, dropped: u64) -> Self {
        let LlmName { provider, model } = llm.clone();
        let pass = pass.to_owned();
        Self { day, provider, model, pass, calls: 0, failures: 0, tokens_in: 0, tokens_out: 0, dropped }
    }

    /// Returns the sum of all tokens.
    pub const fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }
}

/// The usage of the last days, and the budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UsageReport")]
pub struct LlmSpending {
    /// The configured service and model, if any.
    #[serde(flatten)]
    pub llm: Option<LlmName>,
    /// Daily token budget; `None` means unlimited.
    pub tokens_per_day: Option<u64>,
    /// Number of tokens used today.
    pub today: u64,
    /// The usage by day, service, model and purpose, newest day first.
    pub usage: Vec<LlmUsage>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(arguments: &str) -> ToolCall {
        ToolCall::written("1".to_owned(), "note".to_owned(), arguments)
    }

    #[test]
    fn arguments_that_are_no_json_are_an_error_of_the_call() {
        assert_eq!(written(r#"{"a": 1}"#).arguments, Ok(json!({ "a": 1 })));
        assert_eq!(written(" ").arguments, Ok(json!({})));
        let broken = written(r#"{"a": "#);
        let garbled = broken.arguments.clone().expect_err("it is cut off");
        assert_eq!(garbled.got, r#"{"a": "#);
        assert!(garbled.to_string().starts_with("the arguments are not JSON: EOF"), "{garbled}");
        assert_eq!(broken.arguments_again(), json!({ "arguments": r#"{"a": "# }));
        assert_eq!(written("[1]").arguments_again(), json!({ "arguments": [1] }));
    }

    #[test]
    fn nested_arguments_of_any_depth_are_no_crash() {
        assert!(written(&"[".repeat(100_000)).arguments.is_err());
    }

    #[test]
    fn a_prompt_is_estimated_by_all_that_goes_out() {
        let mut prompt = Prompt::new("four", "fourfour");
        assert_eq!(prompt.estimate(), 3);
        let bare = prompt.estimate();
        prompt.tools.push(Tool {
            name: "note".to_owned(),
            description: "Notes.".to_owned(),
            schema: json!({}),
        });
        assert!(prompt.estimate() > bare);
    }
}
