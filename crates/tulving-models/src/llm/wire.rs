//! Sends one question over HTTP and says what its failure means.
//!
//! What comes back is bounded in bytes and in time. Key and text go to the address that was set up and to no other. Nothing
//! that is said repeats the key.

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tulving_core::error::LlmError;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::address::Address;
use crate::agent;
use crate::retry::asked;
use crate::said;
use crate::secret::Secret;

/// Whoever answers with more answers something else.
const LARGEST_ANSWER: u64 = 1 << 20;

/// The way to one address.
pub(super) struct Wire {
    address: Address,
    key: Option<Secret>,
    headers: Vec<(&'static str, String)>,
    agent: OnceLock<Agent>,
}

/// Headers hold the key.
impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("address", &self.address).field("key", &self.key).finish_non_exhaustive()
    }
}

/// What came back, whatever its status.
struct Answer {
    status: u16,
    /// How long the service asks to be left alone.
    pause: Option<Duration>,
    is_page: bool,
    body: Vec<u8>,
}

impl Wire {
    pub(super) fn new(address: Address, key: Option<Secret>, headers: Vec<(&'static str, String)>) -> Self {
        Self { address, key, headers, agent: OnceLock::new() }
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Asks once, until `end`. `model` and `within` are only told of.
    pub(super) fn ask(
        &self,
        question: &str,
        model: &str,
        within: Duration,
        end: Instant,
    ) -> Result<Value, LlmError> {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.late(within));
        }
        let answer = self.send(question, left, within)?;
        if !(200..300).contains(&answer.status) {
            return Err(self.refusal(&answer, model));
        }
        if answer.is_page {
            return Err(LlmError::WebPage { url: self.url() });
        }
        let value: Value =
            serde_json::from_slice(&answer.body).map_err(|error| self.malformed(&error.to_string()))?;
        match value.get("error") {
            // Some that stand between say so with the status of a success.
            Some(error) if !error.is_null() => {
                let status =
                    error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
                let status = status.filter(|status| (400..600).contains(status)).unwrap_or(502);
                Err(self.refusal(&Answer { status, ..answer }, model))
            }
            _ => Ok(value),
        }
    }

    fn send(&self, question: &str, left: Duration, within: Duration) -> Result<Answer, LlmError> {
        let mut request = self.agent().post(self.address.reveal()).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.config().timeout_global(Some(left)).build();
        let mut response = request.send(question).map_err(|error| self.unsent(&error, within))?;
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.cut(&error, within))?;
        let status = response.status().as_u16();
        Ok(Answer { status, pause: asked(response.headers()), is_page: is_page(&response, &body), body })
    }

    fn agent(&self) -> &Agent {
        self.agent.get_or_init(|| {
            agent::config(&self.address)
                // One that was idle may be closed without being seen to be, and no question is sent twice on a guess.
                .max_idle_connections(0)
                .user_agent(concat!("tulving/", env!("CARGO_PKG_VERSION")))
                .build()
                .into()
        })
    }

    /// What it means that no answer began.
    fn unsent(&self, error: &ureq::Error, within: Duration) -> LlmError {
        let (url, why) = (self.url(), self.repeated(&error.to_string()));
        match error {
            ureq::Error::Timeout(_) => self.late(within),
            ureq::Error::Io(error) if self.is_about_tls(error) => LlmError::Tls { url, why },
            ureq::Error::Io(error) => {
                LlmError::Unreachable { url, why, refused: error.kind() == io::ErrorKind::ConnectionRefused }
            }
            ureq::Error::Tls(_) | ureq::Error::TlsRequired | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
                LlmError::Tls { url, why }
            }
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
                LlmError::NotSetUp { why: format!("llm.base_url cannot be used: {why}") }
            }
            ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
                LlmError::Malformed { url, why }
            }
            _ => LlmError::Unreachable { url, why, refused: false },
        }
    }

    /// What it means that an answer began and did not end.
    fn cut(&self, error: &ureq::Error, within: Duration) -> LlmError {
        match error {
            ureq::Error::Timeout(_) => self.late(within),
            ureq::Error::BodyExceedsLimit(_) => {
                LlmError::AnswerTooLarge { url: self.url(), limit: LARGEST_ANSWER }
            }
            error => LlmError::CutOff { url: self.url(), why: self.repeated(&error.to_string()) },
        }
    }

    /// An encrypted connection tells so of a certificate that it does not trust, and of bytes that are not encrypted.
    fn is_about_tls(&self, error: &io::Error) -> bool {
        self.address.is_encrypted() && error.kind() == io::ErrorKind::InvalidData
    }

    fn refusal(&self, answer: &Answer, model: &str) -> LlmError {
        let Answer { status, pause, is_page, .. } = *answer;
        let url = self.url();
        let complaint = if is_page { String::new() } else { said::complaint(&answer.body) };
        let said = self.repeated(&complaint);
        let sort = Sort::of(&answer.body);
        match status {
            300..=399 => LlmError::Redirected { url, status },
            404 | 400 if sort == Sort::Model => LlmError::NoModel { url, model: model.to_owned(), said },
            404 | 405 | 410 => LlmError::WrongAddress { url, status, said },
            401..=499 if is_page && status != 429 => LlmError::WebPage { url },
            401 | 403 => LlmError::WrongKey { url, status, said },
            402 => LlmError::QuotaSpent { url, said },
            429 if sort == Sort::Quota => LlmError::QuotaSpent { url, said },
            429 => LlmError::RateLimited { url, said, pause },
            413 => LlmError::PromptTooLarge { said },
            400 | 422 if sort == Sort::TooLong => LlmError::PromptTooLarge { said },
            400 | 422 if sort == Sort::Policy => LlmError::Policy { said },
            500..=599 => LlmError::Failing { url, status, said },
            _ => LlmError::Refused { url, status, said },
        }
    }

    pub(super) fn malformed(&self, why: &str) -> LlmError {
        LlmError::Malformed { url: self.url(), why: self.repeated(why) }
    }

    fn late(&self, within: Duration) -> LlmError {
        LlmError::Timeout { url: self.url(), within }
    }

    /// The address as it may be shown.
    fn url(&self) -> String {
        self.address.to_string()
    }

    /// What others said, as it may be repeated.
    pub(super) fn repeated(&self, said: &str) -> String {
        said::repeated(said, &self.address, self.key.as_ref())
    }
}

/// What a refusal is about, by the words that services use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Model,
    Quota,
    TooLong,
    Policy,
    Other,
}

impl Sort {
    fn of(body: &[u8]) -> Self {
        let said = String::from_utf8_lossy(body).to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if has(&["insufficient_quota", "billing_hard_limit", "credit balance"]) {
            Self::Quota
        } else if has(&["context_length_exceeded", "context length", "prompt is too long", "context window"])
        {
            Self::TooLong
        } else if has(&["content_filter", "content_policy", "content management policy"]) {
            Self::Policy
        } else if said.contains("model")
            && has(&[
                "not found",
                "not_found",
                "does not exist",
                "unknown model",
                "invalid model",
                "not a valid model",
            ])
        {
            Self::Model
        } else {
            Self::Other
        }
    }
}

/// Whether a web page came back, by what it says of itself or how it begins.
fn is_page(response: &Response<Body>, body: &[u8]) -> bool {
    let said =
        response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    said.to_ascii_lowercase().contains("text/html") || body.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_sorted_by_what_services_say() {
        for (said, sort) in [
            (
                r#"{"error": {"message": "The model `gpt-9` does not exist", "code": "model_not_found"}}"#,
                Sort::Model,
            ),
            (r#"{"error": "model 'tiny' not found, try pulling it first"}"#, Sort::Model),
            (
                r#"{"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}}"#,
                Sort::Model,
            ),
            (r#"{"error": {"code": "insufficient_quota"}}"#, Sort::Quota),
            (
                r#"{"error": {"message": "This model's maximum context length is 8192 tokens"}}"#,
                Sort::TooLong,
            ),
            (
                r#"{"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                Sort::TooLong,
            ),
            (r#"{"error": {"code": "content_policy_violation"}}"#, Sort::Policy),
            (r#"{"error": "404 page not found"}"#, Sort::Other),
        ] {
            assert_eq!(Sort::of(said.as_bytes()), sort, "{said}");
        }
    }
}
