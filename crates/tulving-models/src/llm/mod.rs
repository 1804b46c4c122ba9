//! Language models behind an address: those that speak as OpenAI does, Anthropic and Ollama.
//!
//! One call is one question and one whole answer, nothing is streamed. Its way: [`crate::breaker`] (is it worth trying) → for each
//! attempt [`gate`] (how many at once) → [`wire`] (the request, and what its failure means) → the words of the service
//! ([`openai`], [`anthropic`], [`ollama`]). All of it ends when the time of the prompt is over.

mod anthropic;
mod gate;
mod ollama;
mod openai;
mod read;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tulving_core::error::LlmError;
use tulving_core::llm::{LlmName, Prompt, Reply};
use tulving_core::ports::LanguageModel;

use crate::address::Address;
use crate::breaker::{Breaker, Ending, Open};
use crate::retry::{Failure, retry_until};
use crate::secret::Secret;
use gate::Gate;
use wire::Wire;

/// Which words a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmProvider {
    /// As OpenAI does; many others do too.
    OpenAi,
    /// As Anthropic does.
    Anthropic,
    /// As Ollama does.
    Ollama,
}

impl LlmProvider {
    /// As it is written in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Where it answers when nothing else is said.
    pub const fn usual_address(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// The variable of the environment that its key is usually in.
    pub const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Ollama => None,
        }
    }

    /// The address that is asked, below the one that is set up.
    fn endpoint(self, base: &Address) -> Address {
        match self {
            Self::OpenAi => base.below("chat/completions"),
            Self::Anthropic if base.ends_in("/v1") => base.below("messages"),
            Self::Anthropic => base.below("v1/messages"),
            Self::Ollama => base.below("api/chat"),
        }
    }

    /// A prompt in its words.
    fn question(self, model: &str, prompt: &Prompt, address: &Address) -> Value {
        match self {
            Self::OpenAi => openai::question(model, prompt, openai::Dialect::at(address)),
            Self::Anthropic => anthropic::question(model, prompt),
            Self::Ollama => ollama::question(model, prompt),
        }
    }

    /// What it answered.
    fn reply(self, answer: &Value, prompt: &Prompt) -> Result<Reply, Unfit> {
        match self {
            Self::OpenAi => openai::reply(answer, prompt),
            Self::Anthropic => anthropic::reply(answer, prompt),
            Self::Ollama => ollama::reply(answer, prompt),
        }
    }

    /// The headers that hold its key, and what else it wants to be told.
    fn headers(self, key: Option<&Secret>) -> Vec<(&'static str, String)> {
        match (self, key) {
            (Self::Anthropic, key) => {
                let version = ("anthropic-version", anthropic::VERSION.to_owned());
                key.map(|key| ("x-api-key", key.reveal().to_owned())).into_iter().chain([version]).collect()
            }
            (_, Some(key)) => vec![("authorization", format!("Bearer {}", key.reveal()))],
            (_, None) => Vec::new(),
        }
    }
}

impl fmt::Display for LlmProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an answer of the right form is none.
enum Unfit {
    /// Something is missing in it.
    Malformed(&'static str),
    /// Model or service will not answer.
    Policy(String),
    /// The prompt is more than the model takes.
    TooLarge,
}

/// Which language model is asked, and how.
#[derive(Clone, Debug)]
pub struct LlmConfig {
    /// Which words it speaks.
    pub provider: LlmProvider,
    /// What its addresses begin with; empty for the usual ones.
    pub base_url: Address,
    /// Its name for the model.
    pub model: String,
    /// The key, where there is one.
    pub key: Option<Secret>,
    /// How long an answer may take, whatever a prompt says.
    pub time_out: Duration,
    /// How many calls may be under way at once in this process.
    pub max_concurrent: usize,
    /// After how many failures in a row it is left alone.
    pub failures: u32,
    /// For how long.
    pub pause: Duration,
}

impl LlmConfig {
    /// How long an answer may take where nothing else is said.
    pub const TIME_OUT: Duration = Duration::from_secs(60);
    /// How many calls may be under way at once where nothing else is said.
    pub const MAX_CONCURRENT: usize = 2;
    /// After how many failures in a row it is left alone where nothing else is said.
    pub const FAILURES: u32 = 5;
    /// For how long.
    pub const PAUSE: Duration = Duration::from_secs(30);

    /// A model of a service, asked as is usual.
    pub fn new(provider: LlmProvider, base_url: &str, model: &str) -> Self {
        Self {
            provider,
            base_url: Address::new(base_url),
            model: model.to_owned(),
            key: None,
            time_out: Self::TIME_OUT,
            max_concurrent: Self::MAX_CONCURRENT,
            failures: Self::FAILURES,
            pause: Self::PAUSE,
        }
    }

    /// Where the service answers.
    pub fn address(&self) -> Address {
        match self.base_url.is_empty() {
            true => Address::new(self.provider.usual_address()),
            false => self.base_url.clone(),
        }
    }

    /// Whether the key would go to another machine without encryption.
    pub fn sends_key_in_the_clear(&self) -> bool {
        let address = self.address();
        self.key.is_some() && !address.is_encrypted() && !address.is_here()
    }

    /// Whether the service is the one of that name itself, and not another that speaks its words.
    fn is_the_usual(&self) -> bool {
        self.address().host() == Address::new(self.provider.usual_address()).host()
    }
}

/// The language model that is asked for. Nobody is called before it is needed; what can be known already, such as a missing
/// key, is said here.
pub fn language_model(config: &LlmConfig) -> Result<Arc<dyn LanguageModel>, LlmError> {
    let wrong = |why: &str| Err(LlmError::NotSetUp { why: why.to_owned() });
    if config.model.is_empty() {
        return wrong("llm.model is not set");
    }
    match (&config.key, config.provider.key_variable()) {
        (Some(key), _) if !key.is_sendable() => {
            return wrong("the key has characters that no key has; it may be cut off, or more than the key");
        }
        (None, Some(variable)) if config.is_the_usual() => {
            return Err(LlmError::NoKey { provider: config.provider.to_string(), variable });
        }
        _ => {}
    }
    Ok(Arc::new(HttpLlm::new(config)))
}

/// A language model behind an address.
#[derive(Debug)]
struct HttpLlm {
    provider: LlmProvider,
    model: String,
    time_out: Duration,
    wire: Wire,
    gate: Gate,
    breaker: Breaker,
}

impl HttpLlm {
    fn new(config: &LlmConfig) -> Self {
        let endpoint = config.provider.endpoint(&config.address());
        let headers = config.provider.headers(config.key.as_ref());
        Self {
            provider: config.provider,
            model: config.model.clone(),
            time_out: config.time_out,
            wire: Wire::new(endpoint, config.key.clone(), headers),
            gate: Gate::new(config.max_concurrent),
            breaker: Breaker::new(config.failures, config.pause),
        }
    }

    /// The answer, after as many attempts as it takes and may take.
    fn converse(&self, prompt: &Prompt, within: Duration) -> Result<Reply, LlmError> {
        let end = Instant::now() + within;
        let model = prompt.model.as_deref().unwrap_or(&self.model);
        let question = self.provider.question(model, prompt, self.wire.address()).to_string();
        let answer = retry_until(end, || {
            let slot = self.gate.enter(end).map_err(Failure::Final)?;
            let answer = self.wire.ask(&question, model, within, end);
            drop(slot);
            answer.map_err(|error| match error {
                LlmError::RateLimited { pause, .. } => Failure::Passing(error, pause),
                LlmError::Failing { status: 500 | 502 | 503 | 529, .. }
                | LlmError::Unreachable { refused: true, .. } => Failure::Passing(error, None),
                error => Failure::Final(error),
            })
        })?;
        self.provider.reply(&answer, prompt).map_err(|unfit| match unfit {
            Unfit::Malformed(why) => self.wire.malformed(why),
            Unfit::Policy(said) => LlmError::Policy { said: self.wire.repeated(&said) },
            Unfit::TooLarge => LlmError::PromptTooLarge { said: String::new() },
        })
    }
}

impl LanguageModel for HttpLlm {
    fn name(&self) -> Option<LlmName> {
        Some(LlmName { provider: self.provider.to_string(), model: self.model.clone() })
    }

    fn complete(&self, prompt: &Prompt) -> Result<Reply, LlmError> {
        let pass = self
            .breaker
            .pass(Instant::now())
            .map_err(|Open { failures, left, why }| LlmError::CircuitOpen { failures, left, why })?;
        let replied = self.converse(prompt, prompt.within.min(self.time_out));
        let ending = match &replied {
            Err(LlmError::Busy { .. }) => Ending::NotAsked,
            Err(error) if error.is_the_services() => Ending::Failed(error.to_string()),
            // That it will not answer this one thing says that it is well.
            Ok(_) | Err(_) => Ending::Answered,
        };
        self.breaker.note(pass, ending, Instant::now());
        replied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_each_service() {
        let endpoint = |provider: LlmProvider, base: &str| {
            let config = LlmConfig::new(provider, base, "m");
            provider.endpoint(&config.address()).to_string()
        };
        use LlmProvider::{Anthropic, Ollama, OpenAi};
        for (provider, base, right) in [
            (OpenAi, "", "https://api.openai.com/v1/chat/completions"),
            (OpenAi, "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions"),
            (Anthropic, "", "https://api.anthropic.com/v1/messages"),
            (Anthropic, "https://host/v1/", "https://host/v1/messages"),
            (Anthropic, "https://host/proxy", "https://host/proxy/v1/messages"),
            (Ollama, "", "http://127.0.0.1:11434/api/chat"),
        ] {
            assert_eq!(endpoint(provider, base), right);
        }
    }

    #[test]
    fn what_is_missing_is_said_before_anybody_is_called() {
        let told = |config: &LlmConfig| language_model(config).err().map(|error| error.to_string());
        let bare = |provider| LlmConfig::new(provider, "", "m");
        assert_eq!(told(&bare(LlmProvider::OpenAi)).as_deref(), Some("there is no key for openai"));
        assert_eq!(told(&bare(LlmProvider::Anthropic)).as_deref(), Some("there is no key for anthropic"));
        assert_eq!(told(&bare(LlmProvider::Ollama)), None);
        assert_eq!(told(&LlmConfig::new(LlmProvider::OpenAi, "http://localhost:1/v1", "m")), None);
        let unnamed = LlmConfig::new(LlmProvider::Ollama, "", "");
        assert_eq!(
            told(&unnamed).as_deref(),
            Some("the language model is not wholly set up: llm.model is not set")
        );
        for key in ["", "sk-1\nsk-2", "sk ü"] {
            let config = LlmConfig { key: Some(Secret::new(key)), ..bare(LlmProvider::OpenAi) };
            let told = told(&config).expect("no key");
            assert!(told.contains("characters that no key has"), "{told}");
        }
    }
}
