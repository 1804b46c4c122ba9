//! Calls the language model: checks the budget, redacts the prompt, calls, and records the cost.
//!
//! All calls of a language model use this module. If the budget is spent, a new call returns an error; calls that have
//! already begun still finish.

use std::sync::Arc;

use serde_json::Value;
use tulving_text::visible;

use crate::model::change::Write;
use crate::model::error::{Error, LlmError};
use crate::model::llm::{
    InvalidToolArguments, LlmName, LlmReply, LlmUsage, Message, Prompt, Tokens, ToolCall,
};
use crate::ports::{LanguageModel, NoLanguageModel};
use crate::text::redact;
use crate::verbs::access::{self, Ports};

/// Upper bound for the tokens of one call.
const MOST_TOKENS: u64 = 1 << 32;

/// The language model and its daily token budget.
#[derive(Clone)]
pub struct Llm {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) tokens_per_day: Option<u64>,
}

impl Llm {
    /// Creates a language model with a token budget for each day in UTC; `None` means unlimited.
    pub fn new(model: Arc<dyn LanguageModel>, tokens_per_day: Option<u64>) -> Self {
        Self { model, tokens_per_day }
    }
}

impl Default for Llm {
    fn default() -> Self {
        Self::new(Arc::new(NoLanguageModel), None)
    }
}

/// Sends a prompt of this pass to the language model, and returns the answer.
pub(crate) fn ask(ports: &Ports, llm: &Llm, pass: &str, prompt: &Prompt) -> Result<LlmReply, Error> {
    let name = llm.model.name().ok_or(LlmError::None)?;
    if let Some(limit) = llm.tokens_per_day {
        let spent = spent_today(ports)?;
        if spent >= limit {
            return Err(LlmError::BudgetSpent { spent, limit }.into());
        }
    }
    let prompt = public(prompt);
    let replied = llm.model.complete(&prompt);
    if let Some(usage) = cost(ports, name, pass, &prompt, &replied) {
        note(ports, usage)?;
    }
    Ok(replied?)
}

/// Returns the prompt without hidden characters, secrets and private passages. No model receives them, even if the
/// model runs locally or the space's policy allows secrets. Any message can contain the text of a file that people
/// edit, and such a file may contain secrets and private passages. Therefore every message is redacted, and no pass may
/// use the tags of private passages in its own text.
fn public(prompt: &Prompt) -> Prompt {
    let message = |message: &Message| match message {
        Message::System(text) => Message::System(public_text(text)),
        Message::User(text) => Message::User(public_text(text)),
        Message::Assistant { text, calls } => {
            let call = |call: &ToolCall| {
                let arguments = match &call.arguments {
                    Ok(value) => Ok(values(value, &public_text)),
                    Err(InvalidToolArguments { got, why }) => {
                        Err(InvalidToolArguments { got: public_text(got), why: why.clone() })
                    }
                };
                ToolCall { arguments, ..call.clone() }
            };
            Message::Assistant { text: public_text(text), calls: calls.iter().map(call).collect() }
        }
        Message::ToolResult { id, name, content, failed } => {
            let (id, name, failed) = (id.clone(), name.clone(), *failed);
            Message::ToolResult { id, name, content: public_text(content), failed }
        }
    };
    Prompt { messages: prompt.messages.iter().map(message).collect(), ..prompt.clone() }
}

/// Returns a text in the form that a model may read. Hidden characters are removed first, because they could split a
/// secret. Then secrets and private passages are removed.
fn public_text(text: &str) -> String {
    redact::public(&visible::for_models(text))
}

/// Applies `change` to every string in a JSON value.
fn values(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.iter().map(|item| values(item, change)).collect(),
        Value::Object(fields) => {
            let field = |(name, item): (&String, &Value)| (name.clone(), values(item, change));
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// Returns the number of tokens spent today by all processes.
pub(crate) fn spent_today(ports: &Ports) -> Result<u64, Error> {
    let today = ports.clock.now().date();
    let usage = ports.store.usage(&today)?;
    Ok(usage.iter().filter(|usage| usage.day == today).map(LlmUsage::tokens).fold(0, u64::saturating_add))
}

/// Returns the token usage of a call; `None` if no model was called.
fn cost(
    ports: &Ports,
    name: LlmName,
    pass: &str,
    prompt: &Prompt,
    replied: &Result<LlmReply, LlmError>,
) -> Option<LlmUsage> {
    let (failures, tokens) = match replied {
        Ok(reply) => (0, reply.tokens),
        Err(error) if !error.was_asked() => return None,
        Err(error) => {
            (1, Tokens { input: if error.may_have_cost() { prompt.estimate() } else { 0 }, output: 0 })
        }
    };
    // The token counts of a service are capped, so that their sum cannot overflow.
    let believed = |tokens: u64| tokens.min(MOST_TOKENS);
    Some(LlmUsage {
        day: ports.clock.now().date(),
        provider: name.provider,
        model: prompt.model.clone().unwrap_or(name.model),
        pass: pass.to_owned(),
        calls: 1,
        failures,
        tokens_in: believed(tokens.input),
        tokens_out: believed(tokens.output),
        dropped: 0,
    })
}

fn note(ports: &Ports, usage: LlmUsage) -> Result<(), Error> {
    ports.store.apply(&access::own_changes(ports.clock.now(), vec![Write::Spend(usage)]))?;
    Ok(())
}
