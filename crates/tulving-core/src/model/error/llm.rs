//! Errors of a language model.
//!
//! Other people may read these messages. Therefore no message contains a key, or a part of an address that may contain a
//! key.

use std::time::Duration;

use super::Class;

/// The reason why a language model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// No language model is configured.
    #[error("no language model is set up")]
    None,
    /// A setting is missing or cannot be used.
    #[error("the language model is not fully set up: {why}")]
    NotSetUp {
        /// The problem.
        why: String,
    },
    /// The service needs a key and there is none.
    #[error("there is no key for {provider}")]
    NoKey {
        /// The provider of the service.
        provider: String,
        /// The usual environment variable of such a key.
        variable: &'static str,
    },
    /// The system's keyring has no such entry.
    #[error("the system's keyring has no entry `{entry}` of Tulving")]
    NoEntry {
        /// The name of the entry.
        entry: String,
    },
    /// The system's keyring cannot be used.
    #[error("the entry `{entry}` of the system's keyring cannot be used: {why}")]
    Keyring {
        /// The name of the entry.
        entry: String,
        /// The message of the system.
        why: String,
    },
    /// The token budget of the day is spent.
    #[error("{spent} tokens were spent today; the limit is {limit}")]
    BudgetSpent {
        /// The number of spent tokens.
        spent: u64,
        /// The limit.
        limit: u64,
    },
    /// The model failed so often in a row that calls are paused for a while.
    #[error("the language model is paused for {} s more after it failed {failures} times in a row: {why}", left.as_secs().max(1))]
    CircuitOpen {
        /// The number of failures.
        failures: u32,
        /// The remaining time.
        left: Duration,
        /// The last failure.
        why: String,
    },
    /// The maximum number of calls was in progress during the whole timeout.
    #[error("{limit} calls of the language model are already in progress")]
    Busy {
        /// The maximum number of calls.
        limit: usize,
    },
    /// The service does not respond.
    #[error("{url} cannot be reached: {why}")]
    Unreachable {
        /// The address.
        url: String,
        /// The message of the system.
        why: String,
        /// True if the connection was refused, so that no work can have begun.
        refused: bool,
    },
    /// No encrypted connection can be made.
    #[error("{url} cannot be reached over TLS: {why}")]
    Tls {
        /// The address.
        url: String,
        /// The problem with its certificate or its encryption.
        why: String,
    },
    /// The service took too long.
    #[error("{url} did not answer within {} s", within.as_secs_f32())]
    Timeout {
        /// The address.
        url: String,
        /// The time waited.
        within: Duration,
    },
    /// The service asks for fewer calls.
    #[error("{url} asks for a pause (429){}", said_by(said))]
    RateLimited {
        /// The address.
        url: String,
        /// The message of the service.
        said: String,
        /// The requested pause, if there is one.
        pause: Option<Duration>,
    },
    /// The account has no credit left.
    #[error("the account at {url} has no credit left{}", said_by(said))]
    QuotaSpent {
        /// The address.
        url: String,
        /// The message of the service.
        said: String,
    },
    /// The service has an error of its own.
    #[error("{url} failed ({status}){}", said_by(said))]
    Failing {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// The message of the service.
        said: String,
    },
    /// The service does not know the key, or the key has no permission for this.
    #[error("{url} does not accept the key ({status}){}", said_by(said))]
    WrongKey {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// The message of the service.
        said: String,
    },
    /// The service has no model with that name.
    #[error("{url} has no model `{model}`{}", said_by(said))]
    NoModel {
        /// The address.
        url: String,
        /// The model.
        model: String,
        /// The message of the service.
        said: String,
    },
    /// There is nothing at that address.
    #[error("there is nothing at {url} ({status}){}", said_by(said))]
    WrongAddress {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// The message of the service.
        said: String,
    },
    /// The service redirects. Redirects are not followed, because the key must not be sent to another address.
    #[error("{url} redirects ({status}), and redirects are not followed")]
    Redirected {
        /// The address.
        url: String,
        /// The status.
        status: u16,
    },
    /// The service does not accept the request.
    #[error("{url} refused the request ({status}){}", said_by(said))]
    Refused {
        /// The address.
        url: String,
        /// The status.
        status: u16,
        /// The message of the service.
        said: String,
    },
    /// The model or the service refuses to answer.
    #[error("the language model refused to answer{}", said_by(said))]
    Policy {
        /// The message.
        said: String,
    },
    /// The prompt exceeds the limit of the model.
    #[error("the prompt is too large for the language model{}", said_by(said))]
    PromptTooLarge {
        /// The message of the service.
        said: String,
    },
    /// The answer exceeds the limit.
    #[error("the answer of {url} is larger than {limit} bytes")]
    AnswerTooLarge {
        /// The address.
        url: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The connection ended during the answer.
    #[error("the answer of {url} is cut off: {why}")]
    CutOff {
        /// The address.
        url: String,
        /// The message of the system.
        why: String,
    },
    /// The answer is a web page.
    #[error("{url} answered with a web page")]
    WebPage {
        /// The address.
        url: String,
    },
    /// The answer does not have the format of such a service.
    #[error("the answer of {url} is not from a language model service: {why}")]
    Malformed {
        /// The address.
        url: String,
        /// The problem.
        why: String,
    },
}

fn said_by(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

impl LlmError {
    /// Returns true if a retry may soon succeed without any change.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Busy { .. }
            | Self::CircuitOpen { .. }
            | Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::RateLimited { .. }
            | Self::Failing { .. }
            | Self::CutOff { .. } => true,
            Self::None
            | Self::NotSetUp { .. }
            | Self::NoKey { .. }
            | Self::NoEntry { .. }
            | Self::Keyring { .. }
            | Self::BudgetSpent { .. }
            | Self::Tls { .. }
            | Self::QuotaSpent { .. }
            | Self::WrongKey { .. }
            | Self::NoModel { .. }
            | Self::WrongAddress { .. }
            | Self::Redirected { .. }
            | Self::Refused { .. }
            | Self::Policy { .. }
            | Self::PromptTooLarge { .. }
            | Self::AnswerTooLarge { .. }
            | Self::WebPage { .. }
            | Self::Malformed { .. } => false,
        }
    }

    /// Returns true if the service itself fails, independent of the request.
    pub fn is_the_services(&self) -> bool {
        !matches!(
            self,
            Self::None
                | Self::NotSetUp { .. }
                | Self::NoKey { .. }
                | Self::NoEntry { .. }
                | Self::Keyring { .. }
                | Self::BudgetSpent { .. }
                | Self::CircuitOpen { .. }
                | Self::Busy { .. }
                | Self::NoModel { .. }
                | Self::Refused { .. }
                | Self::Policy { .. }
                | Self::PromptTooLarge { .. }
        )
    }

    /// Returns true if a request was sent to the service.
    pub fn was_asked(&self) -> bool {
        !matches!(
            self,
            Self::None
                | Self::NotSetUp { .. }
                | Self::NoKey { .. }
                | Self::NoEntry { .. }
                | Self::Keyring { .. }
                | Self::BudgetSpent { .. }
                | Self::CircuitOpen { .. }
                | Self::Busy { .. }
        )
    }

    /// Returns true if the service may have read and charged for the prompt, although there is no
    /// answer.
    pub fn may_have_cost(&self) -> bool {
        matches!(
            self,
            Self::Timeout { .. }
                | Self::Policy { .. }
                | Self::AnswerTooLarge { .. }
                | Self::CutOff { .. }
                | Self::Malformed { .. }
        )
    }

    /// Returns the class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::None
            | Self::NotSetUp { .. }
            | Self::NoKey { .. }
            | Self::NoEntry { .. }
            | Self::Keyring { .. }
            | Self::WrongKey { .. }
            | Self::NoModel { .. }
            | Self::WrongAddress { .. } => Class::Host,
            Self::BudgetSpent { .. } | Self::CircuitOpen { .. } | Self::Busy { .. } => Class::Busy,
            Self::PromptTooLarge { .. } => Class::Caller,
            _ => Class::Upstream,
        }
    }

    /// Returns a stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::None => "no_llm",
            Self::NotSetUp { .. } => "llm_not_set_up",
            Self::NoKey { .. } => "llm_no_key",
            Self::NoEntry { .. } => "llm_no_entry",
            Self::Keyring { .. } => "llm_keyring",
            Self::BudgetSpent { .. } => "llm_budget_spent",
            Self::CircuitOpen { .. } => "llm_circuit_open",
            Self::Busy { .. } => "llm_busy",
            Self::Unreachable { .. } => "llm_unreachable",
            Self::Tls { .. } => "llm_tls",
            Self::Timeout { .. } => "llm_timeout",
            Self::RateLimited { .. } => "llm_rate_limited",
            Self::QuotaSpent { .. } => "llm_quota_spent",
            Self::Failing { .. } => "llm_failing",
            Self::WrongKey { .. } => "llm_wrong_key",
            Self::NoModel { .. } => "llm_no_model",
            Self::WrongAddress { .. } => "llm_wrong_address",
            Self::Redirected { .. } => "llm_redirected",
            Self::Refused { .. } => "llm_refused",
            Self::Policy { .. } => "llm_policy",
            Self::PromptTooLarge { .. } => "llm_prompt_too_large",
            Self::AnswerTooLarge { .. } => "llm_answer_too_large",
            Self::CutOff { .. } => "llm_cut_off",
            Self::WebPage { .. } => "llm_web_page",
            Self::Malformed { .. } => "llm_malformed",
        }
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<String> {
        Some(
            match self {
                Self::None => "set llm.provider to openai, anthropic or ollama; without one, rules do the work",
                Self::NotSetUp { .. } => "`tulving config` shows the settings below llm",
                Self::NoKey { variable, .. } => {
                    return Some(format!(
                        "put it into TULVING_LLM_API_KEY or {variable}, into a file that llm.key_file names, or into the keyring entry that llm.key_entry names"
                    ));
                }
                Self::NoEntry { .. } => {
                    "`tulving llm key set` stores the key; on Linux the kernel forgets it when the machine restarts, or when it was not used for some days"
                }
                Self::Keyring { .. } => {
                    "`tulving llm key set` stores it again; where there is no keyring, as in many containers, put it into TULVING_LLM_API_KEY or into a file that llm.key_file names"
                }
                Self::BudgetSpent { .. } => {
                    "calls resume tomorrow (UTC); `tulving usage` shows what was spent, llm.tokens_per_day is the limit"
                }
                Self::CircuitOpen { .. } => "`tulving llm test` tries it at once",
                Self::Busy { .. } => "try again later, or raise llm.max_concurrent",
                Self::Unreachable { .. } => {
                    "check llm.base_url and the network, and that the service is running there"
                }
                Self::Tls { .. } => {
                    "check that llm.base_url begins with https:// only if the service supports it, and that its certificate is from a public authority"
                }
                Self::Timeout { .. } => {
                    "raise llm.timeout_seconds, or choose a faster model; the first answer is slow while a model is being loaded"
                }
                Self::RateLimited { .. } => "wait a while, or lower llm.max_concurrent",
                Self::QuotaSpent { .. } => "check your account at the service",
                Self::Failing { .. } => "try again later, and check the status page of the service",
                Self::WrongKey { .. } => {
                    "check the key in TULVING_LLM_API_KEY, in llm.key_file, in the keyring (llm.key_entry) or in the variable of the service; they count in this order"
                }
                Self::NoModel { .. } => {
                    "check llm.model; for Ollama, `ollama pull` fetches a model"
                }
                Self::WrongAddress { .. } => {
                    "check llm.base_url: for an OpenAI-compatible service it usually ends in /v1, for Ollama with the port"
                }
                Self::Redirected { .. } => "set llm.base_url to the final address",
                Self::Refused { .. } => {
                    "check that llm.provider matches the service, and that the model supports tools"
                }
                Self::PromptTooLarge { .. } => "choose a model with a larger context",
                Self::WebPage { .. } => {
                    "a proxy or a sign-in page may be in front of the service; check llm.base_url and the proxy of this machine"
                }
                Self::Malformed { .. } => "check that llm.provider matches the service",
                Self::CutOff { .. } => "try again; a proxy between here and there may end long answers",
                Self::Policy { .. } | Self::AnswerTooLarge { .. } => return None,
            }
            .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_person_can_mend_is_not_tried_again() {
        let url = || "https://host/v1".to_owned();
        let key = LlmError::WrongKey { url: url(), status: 401, said: String::new() };
        assert!(!key.retryable() && key.is_the_services() && key.class() == Class::Host);
        assert_eq!(key.to_string(), "https://host/v1 does not accept the key (401)");
        let spent = LlmError::BudgetSpent { spent: 12, limit: 10 };
        assert!(!spent.retryable() && !spent.was_asked());
        assert_eq!(spent.to_string(), "12 tokens were spent today; the limit is 10");
        let failing = LlmError::Failing { url: url(), status: 503, said: "overloaded".to_owned() };
        assert!(failing.retryable() && !failing.may_have_cost());
        assert_eq!(failing.to_string(), "https://host/v1 failed (503): overloaded");
        let late = LlmError::Timeout { url: url(), within: Duration::from_secs(60) };
        assert!(late.retryable() && late.may_have_cost());
    }
}
