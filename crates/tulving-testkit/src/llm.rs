//! A language model that says what it was told to say, and notes what it was asked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tulving_core::error::LlmError;
use tulving_core::llm::{Ended, LlmName, Prompt, Reply, Tokens, ToolCall};
use tulving_core::ports::LanguageModel;

/// Says what it was told to say, in that order; then that it fails.
#[derive(Default)]
pub struct ScriptedLlm {
    script: Mutex<Script>,
}

#[derive(Default)]
struct Script {
    next: std::collections::VecDeque<Result<Reply, LlmError>>,
    asked: Vec<Prompt>,
}

impl ScriptedLlm {
    /// One that has nothing to say yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// This is said next, after what was told before.
    pub fn answer(&self, said: Result<Reply, LlmError>) {
        self.script().next.push_back(said);
    }

    /// These words are said next. They cost 10 tokens, and 5 for being asked.
    pub fn answer_text(&self, text: &str) {
        self.answer(Ok(Reply {
            text: text.to_owned(),
            calls: Vec::new(),
            tokens: Tokens { input: 5, output: 10 },
            ended: Ended::Stop,
        }));
    }

    /// This tool is called next, with arguments as they are written.
    pub fn answer_call(&self, name: &str, arguments: &str) {
        let call = ToolCall::written(format!("call_{name}"), name.to_owned(), arguments);
        self.answer(Ok(Reply {
            text: String::new(),
            calls: vec![call],
            tokens: Tokens { input: 5, output: 10 },
            ended: Ended::ToolCalls,
        }));
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<Prompt> {
        self.script().asked.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LanguageModel for ScriptedLlm {
    fn name(&self) -> Option<LlmName> {
        Some(LlmName { provider: "script".to_owned(), model: "scripted".to_owned() })
    }

    fn complete(&self, prompt: &Prompt) -> Result<Reply, LlmError> {
        let mut script = self.script();
        script.asked.push(prompt.clone());
        let nothing = LlmError::Failing { url: "script".to_owned(), status: 500, said: String::new() };
        script.next.pop_front().unwrap_or(Err(nothing))
    }
}
