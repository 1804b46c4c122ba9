//! Settings of the models: the embedding model and the language model.

use std::time::Duration;

use tulving_models::LlmProvider;

use super::super::embedding::EmbeddingProvider;
use super::{Setting, SettingType, address, entry, within};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "embedding.provider",
        variable: "TULVING_EMBEDDING_PROVIDER",
        default: "built-in",
        about: "the model that turns text into vectors: the built-in one, none, a folder with an ONNX model, or a service",
        expects: "one of built-in, off, folder, openai, ollama",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.embedding.provider = match text.trim() {
                "built-in" => EmbeddingProvider::BuiltIn,
                "off" => EmbeddingProvider::Off,
                "folder" => EmbeddingProvider::Folder,
                "openai" => EmbeddingProvider::OpenAi,
                "ollama" => EmbeddingProvider::Ollama,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "embedding.folder",
        variable: "TULVING_EMBEDDING_FOLDER",
        default: "",
        about: "the folder of provider folder, with model.onnx and tokenizer.json or vocab.txt",
        expects: "a path",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.embedding.folder = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "embedding.query_prefix",
        variable: "TULVING_EMBEDDING_QUERY_PREFIX",
        default: "",
        about: "a text before every question, such as \"query: \" for E5 models; not for the built-in model",
        expects: "a text",
        shape: SettingType::Text,
        take: |settings, text| {
            text.clone_into(&mut settings.embedding.prefixes.query);
            Some(())
        },
    },
    Setting {
        key: "embedding.passage_prefix",
        variable: "TULVING_EMBEDDING_PASSAGE_PREFIX",
        default: "",
        about: "a text before every stored text, such as \"passage: \" for E5 models; not for the built-in model",
        expects: "a text",
        shape: SettingType::Text,
        take: |settings, text| {
            text.clone_into(&mut settings.embedding.prefixes.passage);
            Some(())
        },
    },
    Setting {
        key: "embedding.base_url",
        variable: "TULVING_EMBEDDING_BASE_URL",
        default: "",
        about: "the address of the service for provider openai or ollama, such as http://127.0.0.1:11434",
        expects: "an address that begins with http:// or https://",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.embedding.base_url = address(text)?;
            Some(())
        },
    },
    Setting {
        key: "embedding.model",
        variable: "TULVING_EMBEDDING_MODEL",
        default: "",
        about: "the name of the model at that service",
        expects: "a name",
        shape: SettingType::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.embedding.model);
            Some(())
        },
    },
    Setting {
        key: "embedding.key_variable",
        variable: "TULVING_EMBEDDING_KEY_VARIABLE",
        default: "",
        about: "the environment variable with the key of the service",
        expects: "the name of a variable",
        shape: SettingType::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.embedding.key_variable);
            Some(())
        },
    },
    Setting {
        key: "embedding.timeout_seconds",
        variable: "TULVING_EMBEDDING_TIMEOUT_SECONDS",
        default: "30",
        about: "maximum seconds for an answer of the service; work after a command waits at most 3 seconds",
        expects: "a whole number from 1 to 600",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.embedding.time_out = Duration::from_secs(within(text, 1, 600)?);
            Some(())
        },
    },
    Setting {
        key: "llm.provider",
        variable: "TULVING_LLM_PROVIDER",
        default: "none",
        about: "the service of the language model for background work; without one, rules do the work",
        expects: "one of none, openai, anthropic, ollama",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.llm.provider = match text.trim() {
                "none" => None,
                "openai" => Some(LlmProvider::OpenAi),
                "anthropic" => Some(LlmProvider::Anthropic),
                "ollama" => Some(LlmProvider::Ollama),
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "llm.base_url",
        variable: "TULVING_LLM_BASE_URL",
        default: "",
        about: "the address of the service; empty means its usual address",
        expects: "an address that begins with http:// or https://",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.llm.base_url = address(text)?;
            Some(())
        },
    },
    Setting {
        key: "llm.model",
        variable: "TULVING_LLM_MODEL",
        default: "",
        about: "the name of the model at that service",
        expects: "a name",
        shape: SettingType::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.llm.model);
            Some(())
        },
    },
    Setting {
        key: "llm.key_file",
        variable: "TULVING_LLM_KEY_FILE",
        default: "",
        about: "a file that contains only the key of the service",
        expects: "a path, absolute or relative to the home",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.llm.key_file = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "llm.key_entry",
        variable: "TULVING_LLM_KEY_ENTRY",
        default: "",
        about: "the entry of the system's keyring with that key; `tulving llm key set` sets it",
        expects: "a name of up to 24 letters, digits, dots, hyphens and underscores",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.llm.key_entry = entry(text)?.to_owned();
            Some(())
        },
    },
    Setting {
        key: "llm.timeout_seconds",
        variable: "TULVING_LLM_TIMEOUT_SECONDS",
        default: "60",
        about: "maximum seconds for one answer, including further attempts",
        expects: "a whole number from 1 to 600",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.llm.time_out = Duration::from_secs(within(text, 1, 600)?);
            Some(())
        },
    },
    Setting {
        key: "llm.max_concurrent",
        variable: "TULVING_LLM_MAX_CONCURRENT",
        default: "2",
        about: "maximum number of calls of one process at once",
        expects: "a whole number from 1 to 64",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.llm.max_concurrent = within(text, 1, 64)?;
            Some(())
        },
    },
    Setting {
        key: "llm.tokens_per_day",
        variable: "TULVING_LLM_TOKENS_PER_DAY",
        default: "0",
        about: "maximum tokens per day (UTC); 0 means no limit",
        expects: "a whole number from 0 to 1000000000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.llm.tokens_per_day = within(text, 0, 1_000_000_000_000)?;
            Some(())
        },
    },
];
