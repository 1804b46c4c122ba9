//! A language model that gives scripted answers and records its prompts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tulving_core::model::error::LlmError;
use tulving_core::model::llm::{LlmName, LlmReply, Prompt, StopReason, Tokens, ToolCall};
use tulving_core::ports::LanguageModel;

/// A language model that gives scripted answers in order, and fails after the last answer.
#[derive(Default)]
pub struct ScriptedLlm {
    script: Mutex<LlmScript>,
}

#[derive(Default)]
struct LlmScript {
    next: std::collections::VecDeque<Result<LlmReply, LlmError>>,
    asked: Vec<Prompt>,
}

impl ScriptedLlm {
    /// A model without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer after the ones before it.
    pub fn answer(&self, said: Result<LlmReply, LlmError>) {
        self.script().next.push_back(said);
    }

    /// Adds a text as an answer. It costs 5 input and 10 output tokens.
    pub fn answer_text(&self, text: &str) {
        self.answer(Ok(LlmReply {
            text: text.to_owned(),
            calls: Vec::new(),
            tokens: Tokens { input: 5, output: 10 },
            ended: StopReason::Stop,
        }));
    }

    /// Adds a call of this tool, with the arguments as written.
    pub fn answer_call(&self, name: &str, arguments: &str) {
        let call = ToolCall::written(format!("call_{name}"), name.to_owned(), arguments);
        self.answer(Ok(LlmReply {
            text: String::new(),
            calls: vec![call],
            tokens: Tokens { input: 5, output: 10 },
            ended: StopReason::ToolCalls,
        }));
    }

    /// Returns the prompts so far.
    pub fn asked(&self) -> Vec<Prompt> {
        self.script().asked.clone()
    }

    fn script(&self) -> MutexGuard<'_, LlmScript> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LanguageModel for ScriptedLlm {
    fn name(&self) -> Option<LlmName> {
        Some(LlmName { provider: "script".to_owned(), model: "scripted".to_owned() })
    }

    fn complete(&self, prompt: &Prompt) -> Result<LlmReply, LlmError> {
        let mut script = self.script();
        script.asked.push(prompt.clone());
        let nothing = LlmError::Failing { url: "script".to_owned(), status: 500, said: String::new() };
        script.next.pop_front().unwrap_or(Err(nothing))
    }
}
