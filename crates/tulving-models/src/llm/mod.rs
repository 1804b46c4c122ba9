//! Language models behind an address: those with the protocol of OpenAI, Anthropic and Ollama.
//!
//! A call sends one prompt and receives one complete answer, without streaming. First [`crate::breaker`] decides
//! whether to call the service. Then each attempt waits in [`concurrency`] for a free slot and is sent by [`wire`],
//! which also classifies a failure. [`openai`], [`anthropic`] and [`ollama`] convert the messages to the format of the
//! service. All of this ends at the time limit of the prompt.

mod anthropic;
mod concurrency;
mod ollama;
mod openai;
mod read;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tulving_core::model::error::LlmError;
use tulving_core::model::llm::{LlmName, LlmReply, Prompt};
use tulving_core::ports::LanguageModel;

use crate::address::ServiceUrl;
use crate::breaker::{CallOutcome, CircuitBreaker, CircuitOpenError};
use crate::retry::{AttemptError, retry_until};
use crate::secret::ApiKey;
use concurrency::CallLimit;
use wire::LlmHttpClient;

/// The protocol of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmProvider {
    /// The protocol of OpenAI, which many other services use too.
    OpenAi,
    /// The protocol of Anthropic.
    Anthropic,
    /// The protocol of Ollama.
    Ollama,
}

impl LlmProvider {
    /// The name used in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// The default address.
    pub const fn usual_address(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    /// The environment variable that usually contains the key.
    pub const fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Ollama => None,
        }
    }

    /// The address for requests, below the configured one.
    fn endpoint(self, base: &ServiceUrl) -> ServiceUrl {
        match self {
            Self::OpenAi => base.below("chat/completions"),
            Self::Anthropic if base.ends_in("/v1") => base.below("messages"),
            Self::Anthropic => base.below("v1/messages"),
            Self::Ollama => base.below("api/chat"),
        }
    }

    /// The request for a prompt.
    fn question(self, model: &str, prompt: &Prompt, address: &ServiceUrl) -> Value {
        match self {
            Self::OpenAi => openai::question(model, prompt, openai::OpenAiVariant::at(address)),
            Self::Anthropic => anthropic::question(model, prompt),
            Self::Ollama => ollama::question(model, prompt),
        }
    }

    /// Reads the reply of the service.
    fn reply(self, answer: &Value, prompt: &Prompt) -> Result<LlmReply, UnusableReply> {
        match self {
            Self::OpenAi => openai::reply(answer, prompt),
            Self::Anthropic => anthropic::reply(answer, prompt),
            Self::Ollama => ollama::reply(answer, prompt),
        }
    }

    /// The headers with the key, and others that the service requires.
    fn headers(self, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
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

/// The reason why a well-formed answer is not usable.
enum UnusableReply {
    /// A part is missing.
    Malformed(&'static str),
    /// The model or the service refuses to answer.
    Policy(String),
    /// The prompt is too large for the model.
    TooLarge,
}

/// The language model to call, and the way to call it.
#[derive(Clone, Debug)]
pub struct LlmConfig {
    /// The protocol of the service.
    pub provider: LlmProvider,
    /// The base address of the service; empty for the default.
    pub base_url: ServiceUrl,
    /// Its name for the model.
    pub model: String,
    /// The key, if there is one.
    pub key: Option<ApiKey>,
    /// The time limit for an answer, even if a prompt allows more time.
    pub time_out: Duration,
    /// Maximum number of concurrent calls in this process.
    pub max_concurrent: usize,
    /// Number of failures in a row after which the service is paused.
    pub failures: u32,
    /// The time for which the service is paused.
    pub pause: Duration,
}

impl LlmConfig {
    /// The default time limit for an answer.
    pub const TIME_OUT: Duration = Duration::from_secs(60);
    /// The default number of concurrent calls.
    pub const MAX_CONCURRENT: usize = 2;
    /// The default number of failures in a row after which the service is paused.
    pub const FAILURES: u32 = 5;
    /// The default time for which the service is paused.
    pub const PAUSE: Duration = Duration::from_secs(30);

    /// A model of a service, with default settings.
    pub fn new(provider: LlmProvider, base_url: &str, model: &str) -> Self {
        Self {
            provider,
            base_url: ServiceUrl::new(base_url),
            model: model.to_owned(),
            key: None,
            time_out: Self::TIME_OUT,
            max_concurrent: Self::MAX_CONCURRENT,
            failures: Self::FAILURES,
            pause: Self::PAUSE,
        }
    }

    /// The address of the service.
    pub fn address(&self) -> ServiceUrl {
        match self.base_url.is_empty() {
            true => ServiceUrl::new(self.provider.usual_address()),
            false => self.base_url.clone(),
        }
    }

    /// Returns true if the key would go to another machine without encryption.
    pub fn sends_key_in_the_clear(&self) -> bool {
        let address = self.address();
        self.key.is_some() && !address.is_encrypted() && !address.is_here()
    }

    /// Returns true if the address is that of the provider itself, and not of another service with the same protocol.
    fn is_the_usual(&self) -> bool {
        self.address().host() == ServiceUrl::new(self.provider.usual_address()).host()
    }
}

/// Creates the language model for a configuration. The service is called only when it is needed. Errors that can be
/// detected at once, such as a missing key, are returned by this call.
pub fn language_model(config: &LlmConfig) -> Result<Arc<dyn LanguageModel>, LlmError> {
    let wrong = |why: &str| Err(LlmError::NotSetUp { why: why.to_owned() });
    if config.model.is_empty() {
        return wrong("llm.model is not set");
    }
    match (&config.key, config.provider.key_variable()) {
        (Some(key), _) if !key.is_sendable() => {
            return wrong(
                "the key contains invalid characters; it may be cut off, or contain more than the key",
            );
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
    wire: LlmHttpClient,
    call_limit: CallLimit,
    breaker: CircuitBreaker,
}

impl HttpLlm {
    fn new(config: &LlmConfig) -> Self {
        let endpoint = config.provider.endpoint(&config.address());
        let headers = config.provider.headers(config.key.as_ref());
        Self {
            provider: config.provider,
            model: config.model.clone(),
            time_out: config.time_out,
            wire: LlmHttpClient::new(endpoint, config.key.clone(), headers),
            call_limit: CallLimit::new(config.max_concurrent),
            breaker: CircuitBreaker::new(config.failures, config.pause),
        }
    }

    /// Returns the answer, with retries if they are needed and allowed.
    fn converse(&self, prompt: &Prompt, within: Duration) -> Result<LlmReply, LlmError> {
        let end = Instant::now() + within;
        let model = prompt.model.as_deref().unwrap_or(&self.model);
        let question = self.provider.question(model, prompt, self.wire.address()).to_string();
        let answer = retry_until(end, || {
            let slot = self.call_limit.enter(end).map_err(AttemptError::Final)?;
            let answer = self.wire.ask(&question, model, within, end);
            drop(slot);
            answer.map_err(|error| match error {
                LlmError::RateLimited { pause, .. } => AttemptError::Passing(error, pause),
                LlmError::Failing { status: 500 | 502 | 503 | 529, .. }
                | LlmError::Unreachable { refused: true, .. } => AttemptError::Passing(error, None),
                error => AttemptError::Final(error),
            })
        })?;
        self.provider.reply(&answer, prompt).map_err(|unfit| match unfit {
            UnusableReply::Malformed(why) => self.wire.malformed(why),
            UnusableReply::Policy(said) => LlmError::Policy { said: self.wire.repeated(&said) },
            UnusableReply::TooLarge => LlmError::PromptTooLarge { said: String::new() },
        })
    }
}

impl LanguageModel for HttpLlm {
    fn name(&self) -> Option<LlmName> {
        Some(LlmName { provider: self.provider.to_string(), model: self.model.clone() })
    }

    fn complete(&self, prompt: &Prompt) -> Result<LlmReply, LlmError> {
        let pass =
            self.breaker.pass(Instant::now()).map_err(|CircuitOpenError { failures, left, why }| {
                LlmError::CircuitOpen { failures, left, why }
            })?;
        let replied = self.converse(prompt, prompt.within.min(self.time_out));
        let ending = match &replied {
            Err(LlmError::Busy { .. }) => CallOutcome::NotAsked,
            Err(error) if error.is_the_services() => CallOutcome::Failed(error.to_string()),
            // If the service refuses only this request, the service works.
            Ok(_) | Err(_) => CallOutcome::Answered,
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
        let described = |config: &LlmConfig| language_model(config).err().map(|error| error.to_string());
        let bare = |provider| LlmConfig::new(provider, "", "m");
        assert_eq!(described(&bare(LlmProvider::OpenAi)).as_deref(), Some("there is no key for openai"));
        assert_eq!(
            described(&bare(LlmProvider::Anthropic)).as_deref(),
            Some("there is no key for anthropic")
        );
        assert_eq!(described(&bare(LlmProvider::Ollama)), None);
        assert_eq!(described(&LlmConfig::new(LlmProvider::OpenAi, "http://localhost:1/v1", "m")), None);
        let unnamed = LlmConfig::new(LlmProvider::Ollama, "", "");
        assert_eq!(
            described(&unnamed).as_deref(),
            Some("the language model is not fully set up: llm.model is not set")
        );
        for key in ["", "sk-1\nsk-2", "sk ü"] {
            let config = LlmConfig { key: Some(ApiKey::new(key)), ..bare(LlmProvider::OpenAi) };
            let described = described(&config).expect("no key");
            assert!(described.contains("invalid characters"), "{described}");
        }
    }
}
