//! What is asked of a language model, what it answers, and what that costs.
//!
//! The words of every service are made from these: a [`Prompt`] goes out, a [`Reply`] comes back, a [`Usage`] is kept.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits;

/// The call by which a set-up is tried.
pub const TEST: &str = "test";

/// A service and the model that is asked there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LlmName {
    /// Which sort of service: `openai`, `anthropic`, `ollama`.
    pub provider: String,
    /// Its name for the model.
    pub model: String,
}

impl fmt::Display for LlmName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.model, self.provider)
    }
}

/// Something that was said, or that a tool gave back.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// What holds for the whole conversation.
    System(String),
    /// What is asked.
    User(String),
    /// What the model said before.
    Assistant {
        /// In words.
        text: String,
        /// By calling tools.
        calls: Vec<ToolCall>,
    },
    /// What a tool gave back to a call of the message before.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// What it gave back, or why it could not.
        content: String,
        /// Whether it could not.
        failed: bool,
    },
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments, which is that of an object.
    pub schema: Value,
}

/// One question to a language model. It knows nothing of earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// The JSON Schema, of an object, that the text of the answer shall keep to. A weak model may not: what comes back is
    /// still to be read as if anybody had written it.
    pub answer: Option<Value>,
    /// Most tokens of the answer.
    pub max_tokens: u32,
    /// How long all of it may take, waiting and further attempts included.
    pub within: Duration,
    /// Another model of the same service than the one that is set up.
    pub model: Option<String>,
}

impl Prompt {
    /// How long an answer is waited for where nothing else is said.
    pub const WITHIN: Duration = Duration::from_secs(60);
    /// How long an answer may be where nothing else is said.
    pub const MAX_TOKENS: u32 = 1_024;

    /// A question, with what holds for the whole conversation before it.
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

    /// About how many tokens go out, counted by their bytes.
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

/// About how many tokens a text of so many bytes is: four bytes are one in English, fewer elsewhere.
pub fn tokens_of(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(limits::BYTES_PER_TOKEN)).unwrap_or(u64::MAX)
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// In words; empty where it only calls tools.
    pub text: String,
    /// The tools that it calls, in its order. Names and arguments are as it wrote them: nothing of them is checked.
    pub calls: Vec<ToolCall>,
    /// What it cost. Where the service does not say, it is counted by bytes.
    pub tokens: Tokens,
    /// Why it ended.
    pub ended: Ended,
}

impl Reply {
    /// What the model said, to be a part of the next prompt.
    pub fn message(&self) -> Message {
        Message::Assistant { text: self.text.clone(), calls: self.calls.clone() }
    }
}

/// That a model calls a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its id, which the result of the tool names.
    pub id: String,
    /// Which tool. There may be none of that name.
    pub name: String,
    /// With what. Where it is no JSON, that is an error of this call alone, to be told to the model.
    pub arguments: Result<Value, Garbled>,
}

impl ToolCall {
    /// The call with arguments as a model wrote them. Nothing at all is no arguments.
    pub fn written(id: String, name: String, arguments: &str) -> Self {
        let read = match arguments.trim() {
            "" => Ok(Value::Object(serde_json::Map::new())),
            written => serde_json::from_str(written),
        };
        let garbled =
            |error: serde_json::Error| Garbled { got: arguments.to_owned(), why: error.to_string() };
        Self { id, name, arguments: read.map_err(garbled) }
    }

    /// The arguments as they are sent back to the model: an object, whatever it wrote.
    pub fn arguments_again(&self) -> Value {
        match &self.arguments {
            Ok(arguments @ Value::Object(_)) => arguments.clone(),
            Ok(other) => serde_json::json!({ "arguments": other }),
            Err(Garbled { got, .. }) => serde_json::json!({ "arguments": got }),
        }
    }

    fn bytes(&self) -> usize {
        let arguments = match &self.arguments {
            Ok(value) => value.to_string().len(),
            Err(Garbled { got, .. }) => got.len(),
        };
        self.id.len() + self.name.len() + arguments
    }
}

/// Arguments of a tool that are no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arguments are not JSON: {why}")]
pub struct Garbled {
    /// As the model wrote them.
    pub got: String,
    /// What is wrong with them.
    pub why: String,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All was said.
    Stop,
    /// Tools are to be called first.
    ToolCalls,
    /// It became as long as it may.
    Length,
    /// For a reason that is not known here.
    Other,
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Of the prompt.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
}

/// What was spent on a day with one model for one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The day, in UTC, as `YYYY-MM-DD`.
    pub day: String,
    /// Which sort of service.
    pub provider: String,
    /// Its name for the model.
    pub model: String,
    /// What it was asked for, such as [`TEST`].
    pub pass: String,
    /// How often it was asked.
    pub calls: u64,
    /// How often there was no answer, of these.
    pub failures: u64,
    /// Tokens of the prompts.
    pub tokens_in: u64,
    /// Tokens of the answers.
    pub tokens_out: u64,
    /// How often it was to be asked and was not, since too much waited for it.
    pub dropped: u64,
}

impl Usage {
    /// That so many times a model was not asked.
    pub fn dropped(day: String, llm: &LlmName, pass: &str, dropped: u64) -> Self {
        let LlmName { provider, model } = llm.clone();
        let pass = pass.to_owned();
        Self { day, provider, model, pass, calls: 0, failures: 0, tokens_in: 0, tokens_out: 0, dropped }
    }

    /// All tokens together.
    pub const fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }
}

/// What was spent on the last days, and what may be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Spending {
    /// The service and model that are set up, where there are.
    #[serde(flatten)]
    pub llm: Option<LlmName>,
    /// How many tokens a day may cost; `None` is no bound.
    pub tokens_per_day: Option<u64>,
    /// How many today has cost.
    pub today: u64,
    /// By day, service, model and purpose, the newest day first.
    pub usage: Vec<Usage>,
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
