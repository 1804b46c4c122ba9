//! What the engine asks of a language model.

use crate::error::LlmError;
use crate::llm::{LlmName, Prompt, Reply};

/// Answers prompts. What comes back is written by a machine that anybody may have talked to: it is data and no command.
pub trait LanguageModel: Send + Sync {
    /// Which service and model are asked; `None` where none is set up. Asks nobody.
    fn name(&self) -> Option<LlmName>;

    /// The answer to a prompt, at the latest after as long as it may take. Nothing is remembered from one call to the next.
    fn complete(&self, prompt: &Prompt) -> Result<Reply, LlmError>;
}

/// No language model: no connection is ever made.
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
