//! What turns text into vectors, as the settings say.

use std::path::PathBuf;

use tulving_models::EmbedderConfig;

/// The settings below `embedding`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Embedding {
    pub(super) provider: Provider,
    pub(super) folder: PathBuf,
    pub(super) base_url: String,
    pub(super) model: String,
    pub(super) key_variable: String,
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Provider {
    #[default]
    BuiltIn,
    Off,
    Folder,
    OpenAi,
    Ollama,
}

impl Embedding {
    /// Whether it was turned off on purpose.
    pub(crate) fn is_off(&self) -> bool {
        self.provider == Provider::Off
    }

    /// What the models are asked for, or which setting is missing.
    pub(crate) fn config(&self) -> Result<EmbedderConfig, String> {
        let given = |text: &str, key: &str| match text {
            "" => Err(format!("embedding.{key} is not set")),
            text => Ok(text.to_owned()),
        };
        let key_env = Some(self.key_variable.clone()).filter(|name| !name.is_empty());
        Ok(match self.provider {
            Provider::BuiltIn => EmbedderConfig::BuiltIn,
            Provider::Off => EmbedderConfig::Off,
            Provider::Folder if self.folder.as_os_str().is_empty() => {
                return Err("embedding.folder is not set".to_owned());
            }
            Provider::Folder => EmbedderConfig::Folder(self.folder.clone()),
            Provider::OpenAi => EmbedderConfig::OpenAi {
                base_url: given(&self.base_url, "base_url")?,
                model: given(&self.model, "model")?,
                key_env,
            },
            Provider::Ollama => EmbedderConfig::Ollama {
                base_url: given(&self.base_url, "base_url")?,
                model: given(&self.model, "model")?,
            },
        })
    }
}
