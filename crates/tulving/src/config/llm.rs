//! The settings of the language model, and the sources of its key.
//!
//! The key itself is not a setting: it is in the environment, in its own file or in the system's keyring. So output of the
//! settings never contains the key.

use std::ffi::OsString;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tulving_core::Llm;
use tulving_core::model::error::LlmError;
use tulving_core::model::llm::{LlmName, LlmReply, Prompt};
use tulving_core::ports::LanguageModel;
use tulving_models::{ApiKey, LlmConfig, LlmProvider, ServiceUrl, language_model};

use crate::keyring::Keyring;

/// The environment variable that contains the key, for every service.
pub(crate) const LLM_KEY: &str = "TULVING_LLM_API_KEY";
/// Upper limit for the length of a key; anything longer is not a key.
pub(crate) const KEY_BYTES: u64 = 16 * 1_024;

/// The settings below `llm`.
#[derive(Clone, Debug, Default)]
pub(crate) struct LlmSettings {
    /// The provider; `None` means no language model.
    pub(super) provider: Option<LlmProvider>,
    /// The URL of the service; empty means the provider's own URL.
    pub(super) base_url: ServiceUrl,
    pub(super) model: String,
    /// Empty for none.
    pub(super) key_file: PathBuf,
    /// Empty for none.
    pub(super) key_entry: String,
    pub(super) time_out: Duration,
    pub(super) max_concurrent: usize,
    /// Maximum number of tokens per day; 0 means no limit.
    pub(super) tokens_per_day: u64,
}

/// The place where a key was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    Nowhere,
    Environment(&'static str),
    File(PathBuf),
    Keyring(String),
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("none"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Keyring(entry) => write!(f, "keyring entry {entry}"),
        }
    }
}

impl LlmSettings {
    /// Opens the language model with its budget. If the model cannot be used, only a call to the model fails, so that a
    /// wrong setting does not block access to the memories.
    pub(crate) fn open(&self, home: &Path) -> Llm {
        let Some(provider) = self.provider else {
            return Llm::default();
        };
        let made = self.config(home).and_then(|(config, _)| language_model(&config));
        let model = made.unwrap_or_else(|why| {
            let name = LlmName { provider: provider.to_string(), model: self.model.clone() };
            Arc::new(UnusableLlm { name, why })
        });
        Llm::new(model, Some(self.tokens_per_day).filter(|limit| *limit > 0))
    }

    /// True if no language model is set up.
    pub(crate) fn is_off(&self) -> bool {
        self.provider.is_none()
    }

    /// The keyring entry for the key, if one is named.
    pub(crate) fn key_entry(&self) -> Option<&str> {
        (!self.key_entry.is_empty()).then_some(self.key_entry.as_str())
    }

    /// Finds the source of the key.
    pub(crate) fn key_source(&self, home: &Path) -> Result<KeySource, LlmError> {
        let provider = self.provider.ok_or(LlmError::None)?;
        Ok(self.key(provider, home, |name| std::env::var_os(name), Keyring::system)?.1)
    }

    /// Time limit for an answer.
    pub(crate) fn time_out(&self) -> Duration {
        self.time_out
    }

    /// Returns the configuration of the model, and the source of its key.
    pub(crate) fn config(&self, home: &Path) -> Result<(LlmConfig, KeySource), LlmError> {
        let provider = self.provider.ok_or(LlmError::None)?;
        let (key, source) = self.key(provider, home, |name| std::env::var_os(name), Keyring::system)?;
        let config = LlmConfig {
            provider,
            base_url: self.base_url.clone(),
            model: self.model.clone(),
            key,
            time_out: self.time_out,
            max_concurrent: self.max_concurrent,
            failures: LlmConfig::FAILURES,
            pause: LlmConfig::PAUSE,
        };
        Ok((config, source))
    }

    /// Finds the key in `TULVING_LLM_API_KEY`, the configured file, the configured keyring entry, or the service's own
    /// variable, in this order. An empty variable counts as unset.
    fn key(
        &self,
        provider: LlmProvider,
        home: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
        keyring: impl FnOnce() -> Keyring,
    ) -> Result<(Option<ApiKey>, KeySource), LlmError> {
        let named = |name: &'static str| {
            let text = variable(name)?.to_string_lossy().trim().to_owned();
            (!text.is_empty()).then(|| (Some(ApiKey::new(text)), KeySource::Environment(name)))
        };
        if let Some(found) = named(LLM_KEY) {
            return Ok(found);
        }
        if !self.key_file.as_os_str().is_empty() {
            let path = home.join(&self.key_file);
            let key = read_key(&path)?;
            return Ok((Some(ApiKey::new(key)), KeySource::File(path)));
        }
        if let Some(entry) = self.key_entry() {
            let key = keyring().key(entry)?;
            return Ok((Some(ApiKey::new(key)), KeySource::Keyring(entry.to_owned())));
        }
        Ok(provider.key_variable().and_then(named).unwrap_or((None, KeySource::Nowhere)))
    }
}

/// Reads the only line of a file.
fn read_key(path: &Path) -> Result<String, LlmError> {
    let wrong = |why: String| LlmError::NotSetUp { why: format!("llm.key_file {} {why}", path.display()) };
    let mut text = String::new();
    let file =
        tulving_store::open_regular(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    // Errors never repeat the content.
    file.take(KEY_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|_| wrong("cannot be read as text".to_owned()))?;
    match text.trim() {
        "" => Err(wrong("is empty".to_owned())),
        _ if text.len() as u64 > KEY_BYTES => Err(wrong("is too large to hold a key".to_owned())),
        key => Ok(key.to_owned()),
    }
}

/// Replaces a language model that cannot be used. Every call to the model returns the reason.
struct UnusableLlm {
    name: LlmName,
    why: LlmError,
}

impl LanguageModel for UnusableLlm {
    fn name(&self) -> Option<LlmName> {
        Some(self.name.clone())
    }

    fn complete(&self, _: &Prompt) -> Result<LlmReply, LlmError> {
        Err(self.why.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyring::tests::own;

    #[test]
    fn the_key_comes_from_our_variable_the_file_the_keyring_and_that_of_the_service_in_this_order() {
        let home = tempfile::tempdir().expect("a folder");
        std::fs::write(home.path().join("key"), "sk-file\n").expect("written");
        let entered = LlmSettings { key_entry: "openai".to_owned(), ..LlmSettings::default() };
        let filed = LlmSettings { key_file: "key".into(), ..entered.clone() };
        let bare = LlmSettings::default();
        let found = |settings: &LlmSettings, provider, set: &[&str]| {
            let variable = |name: &str| set.contains(&name).then(|| OsString::from(" sk-variable\n"));
            let keyring = || {
                let keyring = own();
                keyring.keep("openai", "sk-kept").expect("kept");
                keyring
            };
            settings.key(provider, home.path(), variable, keyring).expect("a key or none").1
        };
        let (openai, ollama) = (LlmProvider::OpenAi, LlmProvider::Ollama);
        assert_eq!(found(&filed, openai, &[LLM_KEY, "OPENAI_API_KEY"]), KeySource::Environment(LLM_KEY));
        assert_eq!(found(&filed, openai, &["OPENAI_API_KEY"]), KeySource::File(home.path().join("key")));
        let kept = KeySource::Keyring("openai".to_owned());
        assert_eq!(found(&entered, openai, &[LLM_KEY]), KeySource::Environment(LLM_KEY));
        assert_eq!(found(&entered, openai, &["OPENAI_API_KEY"]), kept);
        assert_eq!(kept.to_string(), "keyring entry openai");
        assert_eq!(found(&bare, openai, &["OPENAI_API_KEY"]), KeySource::Environment("OPENAI_API_KEY"));
        assert_eq!(found(&bare, openai, &["ANTHROPIC_API_KEY"]), KeySource::Nowhere);
        assert_eq!(found(&bare, ollama, &["OPENAI_API_KEY"]), KeySource::Nowhere);
        let empty = |_: &str| Some(OsString::from(" "));
        assert_eq!(bare.key(openai, home.path(), empty, own).expect("none").1, KeySource::Nowhere);
        let nobody = |_: &str| None;
        let missing = entered.key(openai, home.path(), nobody, own).expect_err("no such entry");
        assert_eq!(missing, LlmError::NoEntry { entry: "openai".to_owned() });
    }

    #[test]
    fn a_file_that_holds_no_key_is_named_and_not_repeated() {
        let home = tempfile::tempdir().expect("a folder");
        let described = |bytes: Option<&[u8]>| {
            let path = home.path().join("key");
            match bytes {
                None => drop(std::fs::remove_file(&path)),
                Some(bytes) => std::fs::write(&path, bytes).expect("written"),
            }
            read_key(&path).expect_err("no key").to_string()
        };
        assert!(described(None).contains("cannot be read"));
        assert!(described(Some(b" \n")).ends_with("is empty"));
        assert!(described(Some(b"sk-\xff")).ends_with("cannot be read as text"));
        let large = described(Some(&vec![b'k'; 20_000]));
        assert!(large.ends_with("is too large to hold a key") && !large.contains("kk"), "{large}");
    }
}
