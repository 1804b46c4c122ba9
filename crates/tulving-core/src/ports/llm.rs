//! The port to a language model.

use crate::model::error::LlmError;
use crate::model::llm::{LlmName, Prompt, Reply};

/// Answers prompts. Anybody may have influenced an answer, so it is data and never a command.
pub trait LanguageModel: Send + Sync {
    /// Returns the service and model in use; `None` if none is configured. Makes no call.
    fn name(&self) -> Option<LlmName>;

    /// Answers a prompt within its timeout. Nothing is remembered between calls.
    fn complete(&self, prompt: &Prompt) -> Result<Reply, LlmError>;
}

/// No language model: it never opens a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLanguageModel;

impl LanguageModel for NoLanguageModel {
    fn name(&self) -> Option<LlmName> {
        None
    }

    fn complete(&self, _: &Prompt) -> Result<Reply, LlmError> {
        Err(LlmError::None)
    }
}
