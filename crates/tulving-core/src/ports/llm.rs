//! The port to a language model.

use crate::model::error::LlmError;
use crate::model::llm::{LlmName, LlmReply, Prompt};

/// Answers prompts. Anybody may have influenced an answer, so an answer is treated as data and never as a command.
pub trait LanguageModel: Send + Sync {
    /// Returns the service and model in use; `None` if no model is configured. Makes no call to the service.
    fn name(&self) -> Option<LlmName>;

    /// Answers a prompt within its timeout. The model remembers nothing between calls.
    fn complete(&self, prompt: &Prompt) -> Result<LlmReply, LlmError>;
}

/// A missing language model: every call fails, and no connection is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLanguageModel;

impl LanguageModel for NoLanguageModel {
    fn name(&self) -> Option<LlmName> {
        None
    }

    fn complete(&self, _: &Prompt) -> Result<LlmReply, LlmError> {
        Err(LlmError::None)
    }
}
