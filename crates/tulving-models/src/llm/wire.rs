//! Sends one question over HTTP and classifies a failure.
//!
//! The answer is limited in size and in time. The key and the text are sent only to the configured address. No message
//! contains the key.

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;
use tulving_core::model::error::LlmError;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::address::ServiceUrl;
use crate::agent;
use crate::retry::asked;
use crate::secret::ApiKey;
use crate::service_message;

/// Maximum size of an answer, in bytes. A larger answer is refused.
const LARGEST_ANSWER: u64 = 1 << 20;

/// The connection to one address.
pub(super) struct LlmHttpClient {
    address: ServiceUrl,
    key: Option<ApiKey>,
    headers: Vec<(&'static str, String)>,
    agent: OnceLock<Agent>,
}

/// Leaves out the headers, which contain the key.
impl std::fmt::Debug for LlmHttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("address", &self.address).field("key", &self.key).finish_non_exhaustive()
    }
}

/// An answer with any HTTP status.
struct LlmHttpResponse {
    status: u16,
    /// The pause that the service has requested before the next call.
    pause: Option<Duration>,
    is_page: bool,
    body: Vec<u8>,
}

impl LlmHttpClient {
    pub(super) fn new(
        address: ServiceUrl,
        key: Option<ApiKey>,
        headers: Vec<(&'static str, String)>,
    ) -> Self {
        Self { address, key, headers, agent: OnceLock::new() }
    }

    pub(super) fn address(&self) -> &ServiceUrl {
        &self.address
    }

    /// Sends a single request and waits for the answer until `end`. `model` and `within` are only used in messages.
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
            // Some proxies report an error with a success status.
            Some(error) if !error.is_null() => {
                let status =
                    error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
                let status = status.filter(|status| (400..600).contains(status)).unwrap_or(502);
                Err(self.refusal(&LlmHttpResponse { status, ..answer }, model))
            }
            _ => Ok(value),
        }
    }

    fn send(&self, question: &str, left: Duration, within: Duration) -> Result<LlmHttpResponse, LlmError> {
        let mut request = self.agent().post(self.address.reveal()).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.config().timeout_global(Some(left)).build();
        let mut response = request.send(question).map_err(|error| self.unsent(&error, within))?;
        let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.cut(&error, within))?;
        let status = response.status().as_u16();
        Ok(LlmHttpResponse {
            status,
            pause: asked(response.headers()),
            is_page: is_page(&response, &body),
            body,
        })
    }

    fn agent(&self) -> &Agent {
        self.agent.get_or_init(|| {
            agent::config(&self.address)
                // Connections are not reused. The server may have closed an idle connection unnoticed; the request
                // would then fail, and it must not be sent again, because the server may have received it.
                .max_idle_connections(0)
                .user_agent(concat!("tulving/", env!("CARGO_PKG_VERSION")))
                .build()
                .into()
        })
    }

    /// Returns the error for a request that got no answer.
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

    /// Returns the error for an answer that began but was not complete.
    fn cut(&self, error: &ureq::Error, within: Duration) -> LlmError {
        match error {
            ureq::Error::Timeout(_) => self.late(within),
            ureq::Error::BodyExceedsLimit(_) => {
                LlmError::AnswerTooLarge { url: self.url(), limit: LARGEST_ANSWER }
            }
            error => LlmError::CutOff { url: self.url(), why: self.repeated(&error.to_string()) },
        }
    }

    /// Returns true if an encrypted connection met an untrusted certificate or bytes that are not encrypted.
    fn is_about_tls(&self, error: &io::Error) -> bool {
        self.address.is_encrypted() && error.kind() == io::ErrorKind::InvalidData
    }

    fn refusal(&self, answer: &LlmHttpResponse, model: &str) -> LlmError {
        let LlmHttpResponse { status, pause, is_page, .. } = *answer;
        let url = self.url();
        let complaint = if is_page { String::new() } else { service_message::complaint(&answer.body) };
        let said = self.repeated(&complaint);
        let sort = LlmRefusalKind::of(&answer.body);
        match status {
            300..=399 => LlmError::Redirected { url, status },
            404 | 400 if sort == LlmRefusalKind::Model => {
                LlmError::NoModel { url, model: model.to_owned(), said }
            }
            404 | 405 | 410 => LlmError::WrongAddress { url, status, said },
            401..=499 if is_page && status != 429 => LlmError::WebPage { url },
            401 | 403 => LlmError::WrongKey { url, status, said },
            402 => LlmError::QuotaSpent { url, said },
            429 if sort == LlmRefusalKind::Quota => LlmError::QuotaSpent { url, said },
            429 => LlmError::RateLimited { url, said, pause },
            413 => LlmError::PromptTooLarge { said },
            400 | 422 if sort == LlmRefusalKind::TooLong => LlmError::PromptTooLarge { said },
            400 | 422 if sort == LlmRefusalKind::Policy => LlmError::Policy { said },
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

    /// The address for messages. User name, password and query are masked.
    fn url(&self) -> String {
        self.address.to_string()
    }

    /// Returns a message of the service, made safe to repeat.
    pub(super) fn repeated(&self, said: &str) -> String {
        service_message::repeated(said, &self.address, self.key.as_ref())
    }
}

/// The subject of a refusal, found by the words that services use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LlmRefusalKind {
    Model,
    Quota,
    TooLong,
    Policy,
    Other,
}

impl LlmRefusalKind {
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

/// Returns true if the answer is a web page, by its content type or its first bytes.
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
                LlmRefusalKind::Model,
            ),
            (r#"{"error": "model 'tiny' not found, try pulling it first"}"#, LlmRefusalKind::Model),
            (
                r#"{"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}}"#,
                LlmRefusalKind::Model,
            ),
            (r#"{"error": {"code": "insufficient_quota"}}"#, LlmRefusalKind::Quota),
            (
                r#"{"error": {"message": "This model's maximum context length is 8192 tokens"}}"#,
                LlmRefusalKind::TooLong,
            ),
            (
                r#"{"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}"#,
                LlmRefusalKind::TooLong,
            ),
            (r#"{"error": {"code": "content_policy_violation"}}"#, LlmRefusalKind::Policy),
            (r#"{"error": "404 page not found"}"#, LlmRefusalKind::Other),
        ] {
            assert_eq!(LlmRefusalKind::of(said.as_bytes()), sort, "{said}");
        }
    }
}
