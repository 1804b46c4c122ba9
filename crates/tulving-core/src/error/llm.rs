//! Why a language model did not answer.
//!
//! Others may read it: no key, and nothing of an address that may hold one, is in any of these.

use std::time::Duration;

use super::Class;

/// Why a language model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// None is set up.
    #[error("no language model is set up")]
    None,
    /// A setting is missing or cannot be used.
    #[error("the language model is not wholly set up: {why}")]
    NotSetUp {
        /// What is wrong.
        why: String,
    },
    /// The service needs a key and there is none.
    #[error("there is no key for {provider}")]
    NoKey {
        /// Which sort of service.
        provider: String,
        /// The variable of the environment that such a key is usually in.
        variable: &'static str,
    },
    /// The keyring of the system has no such entry.
    #[error("the keyring of the system has no entry `{entry}` of tulving")]
    NoEntry {
        /// Its name.
        entry: String,
    },
    /// The keyring of the system cannot be used.
    #[error("the entry `{entry}` of the keyring of the system cannot be used: {why}")]
    Keyring {
        /// Its name.
        entry: String,
        /// What the system said.
        why: String,
    },
    /// As many tokens were spent today as may be.
    #[error("{spent} tokens were spent today and {limit} may be")]
    BudgetSpent {
        /// How many were.
        spent: u64,
        /// How many may be.
        limit: u64,
    },
    /// It failed so often in a row that it is left alone for a while.
    #[error("the language model is left alone for {} s more after it failed {failures} times in a row: {why}", left.as_secs().max(1))]
    CircuitOpen {
        /// How often.
        failures: u32,
        /// For how long still.
        left: Duration,
        /// How it failed last.
        why: String,
    },
    /// As many calls as may be were under way for all of the time that there was.
    #[error("{limit} calls of the language model are under way already")]
    Busy {
        /// How many may be.
        limit: usize,
    },
    /// Nobody answers there.
    #[error("{url} cannot be reached: {why}")]
    Unreachable {
        /// Where.
        url: String,
        /// What the system said.
        why: String,
        /// Whether the connection was refused, so that nothing can have been begun.
        refused: bool,
    },
    /// No encrypted connection can be made.
    #[error("{url} cannot be reached over TLS: {why}")]
    Tls {
        /// Where.
        url: String,
        /// What is wrong with its certificate or its encryption.
        why: String,
    },
    /// It took too long.
    #[error("{url} did not answer within {} s", within.as_secs_f32())]
    Timeout {
        /// Where.
        url: String,
        /// How long it was waited for.
        within: Duration,
    },
    /// The service asks for fewer calls.
    #[error("{url} asks for a pause (429){}", said_by(said))]
    RateLimited {
        /// Where.
        url: String,
        /// What it said.
        said: String,
        /// How long, where it said so.
        pause: Option<Duration>,
    },
    /// Nothing is left of what was paid for.
    #[error("the account at {url} has nothing left to spend{}", said_by(said))]
    QuotaSpent {
        /// Where.
        url: String,
        /// What it said.
        said: String,
    },
    /// The service has trouble of its own.
    #[error("{url} failed ({status}){}", said_by(said))]
    Failing {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The key is not one that the service knows, or it may not do this.
    #[error("{url} does not accept the key ({status}){}", said_by(said))]
    WrongKey {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// The service has no model of that name.
    #[error("{url} has no model `{model}`{}", said_by(said))]
    NoModel {
        /// Where.
        url: String,
        /// Which.
        model: String,
        /// What it said.
        said: String,
    },
    /// There is nothing at that address.
    #[error("there is nothing at {url} ({status}){}", said_by(said))]
    WrongAddress {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// It sends elsewhere, where no key goes.
    #[error("{url} sends elsewhere ({status}), and neither key nor text goes there")]
    Redirected {
        /// Where.
        url: String,
        /// The status.
        status: u16,
    },
    /// The service does not take the request as it is.
    #[error("{url} refused the request ({status}){}", said_by(said))]
    Refused {
        /// Where.
        url: String,
        /// The status.
        status: u16,
        /// What it said.
        said: String,
    },
    /// Model or service will not answer this.
    #[error("the language model refused to answer{}", said_by(said))]
    Policy {
        /// What it said.
        said: String,
    },
    /// The prompt is more than the model takes.
    #[error("the prompt is too large for the language model{}", said_by(said))]
    PromptTooLarge {
        /// What the service said.
        said: String,
    },
    /// The answer is more than is taken in.
    #[error("the answer of {url} is larger than {limit} bytes")]
    AnswerTooLarge {
        /// Where.
        url: String,
        /// How much is taken.
        limit: u64,
    },
    /// The connection ended within the answer.
    #[error("the answer of {url} is cut off: {why}")]
    CutOff {
        /// Where.
        url: String,
        /// What the system said.
        why: String,
    },
    /// A web page came back.
    #[error("{url} answered with a web page")]
    WebPage {
        /// Where.
        url: String,
    },
    /// What came back is no answer of such a service.
    #[error("the answer of {url} is not one of a language model: {why}")]
    Malformed {
        /// Where.
        url: String,
        /// What is wrong with it.
        why: String,
    },
}

fn said_by(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

impl LlmError {
    /// Whether the same may do soon, with nothing changed by anybody.
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

    /// Whether it is the service that fails, whatever it is asked, and not what was asked.
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

    /// Whether the service was asked at all.
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

    /// Whether the service may have read the prompt, and have it paid for, although there is no answer.
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

    /// What sort of trouble it is.
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

    /// A stable name for programs.
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

    /// What to do about it.
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
                    "`tulving llm key set` puts the key in; on Linux the kernel forgets it when the machine restarts, or when it was not used for some days"
                }
                Self::Keyring { .. } => {
                    "`tulving llm key set` puts the key in anew; where there is no keyring, as in many containers, put it into TULVING_LLM_API_KEY or into a file that llm.key_file names"
                }
                Self::BudgetSpent { .. } => {
                    "it goes on tomorrow (UTC); `tulving usage` shows what was spent, llm.tokens_per_day is the bound"
                }
                Self::CircuitOpen { .. } => "`tulving llm test` tries it at once",
                Self::Busy { .. } => "try again later, or raise llm.max_concurrent",
                Self::Unreachable { .. } => {
                    "check llm.base_url and the network, and that the service is running there"
                }
                Self::Tls { .. } => {
                    "check that llm.base_url begins with https:// only where the service speaks it, and that its certificate is one that is known everywhere"
                }
                Self::Timeout { .. } => {
                    "raise llm.timeout_seconds, or choose a faster model; a model that is just being loaded is slow once"
                }
                Self::RateLimited { .. } => "wait a while, or lower llm.max_concurrent",
                Self::QuotaSpent { .. } => "look at the account with the service",
                Self::Failing { .. } => "try again later; the service may tell of its trouble elsewhere",
                Self::WrongKey { .. } => {
                    "check the key in TULVING_LLM_API_KEY, in llm.key_file, in the keyring (llm.key_entry) or in the variable of the service; they count in this order"
                }
                Self::NoModel { .. } => {
                    "check llm.model; for Ollama, `ollama pull` fetches a model"
                }
                Self::WrongAddress { .. } => {
                    "check llm.base_url: of a service that speaks as OpenAI does it usually ends in /v1, of Ollama it ends with the port"
                }
                Self::Redirected { .. } => "set llm.base_url to the address that answers itself",
                Self::Refused { .. } => {
                    "check that llm.provider is what the service speaks, and that the model knows tools"
                }
                Self::PromptTooLarge { .. } => "choose a model with a larger context",
                Self::WebPage { .. } => {
                    "a proxy or a sign-in page may stand before the service; check llm.base_url and the proxy of this machine"
                }
                Self::Malformed { .. } => "check that llm.provider is what the service speaks",
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
        assert_eq!(spent.to_string(), "12 tokens were spent today and 10 may be");
        let failing = LlmError::Failing { url: url(), status: 503, said: "overloaded".to_owned() };
        assert!(failing.retryable() && !failing.may_have_cost());
        assert_eq!(failing.to_string(), "https://host/v1 failed (503): overloaded");
        let late = LlmError::Timeout { url: url(), within: Duration::from_secs(60) };
        assert!(late.retryable() && late.may_have_cost());
    }
}
