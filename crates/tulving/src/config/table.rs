//! Every setting, declared once: its key, its variable, its default, what it takes and what it is for.

use std::time::Duration;

use anstream::ColorChoice;
use tulving_core::text::secrets;
use tulving_models::{Address, LlmProvider};

use super::embedding::Provider;
use super::llm::LLM_KEY;
use super::{HOME, PREFIX, Settings, TOKEN, server, tend};
use crate::log::{Format, Level};
use crate::nearest::nearest;

/// One setting.
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    pub(super) default: &'static str,
    pub(super) about: &'static str,
    pub(super) expects: &'static str,
    pub(super) shape: Shape,
    /// Takes the value over, or refuses it.
    pub(super) take: fn(&mut Settings, &str) -> Option<()>,
}

/// What a value is in `config.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Number,
    /// `true` or `false`.
    Choice,
    /// Texts, in the environment with commas between them.
    List,
}

/// Every setting there is.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "space",
        variable: "TULVING_SPACE",
        default: "default",
        about: "the space that commands work in",
        expects: "the name or id of a space",
        shape: Shape::Text,
        take: |settings, text| {
            let text = text.trim();
            settings.space = (!text.is_empty()).then(|| text.to_owned())?;
            Some(())
        },
    },
    Setting {
        key: "agent",
        variable: "TULVING_AGENT",
        default: "",
        about: "the agent that speaks for the user; kept with what it saves",
        expects: "a name",
        shape: Shape::Text,
        take: |settings, text| {
            settings.agent = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            Some(())
        },
    },
    Setting {
        key: "workspace",
        variable: "TULVING_WORKSPACE",
        default: "",
        about: "the folder of journals and other files that people can read, such as one of an agent; else workspace in the home",
        expects: "a path without ~, absolute or from the home",
        shape: Shape::Text,
        take: |settings, text| {
            settings.workspace = Some(text.trim()).filter(|path| !path.starts_with('~'))?.into();
            Some(())
        },
    },
    Setting {
        key: "limits.content_bytes",
        variable: "TULVING_LIMITS_CONTENT_BYTES",
        default: "3000000",
        about: "most bytes of one memory",
        expects: "a whole number from 1 to 100000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.limits.content_bytes = within(text, 1, 100_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "limits.attachment_bytes",
        variable: "TULVING_LIMITS_ATTACHMENT_BYTES",
        default: "100000000",
        about: "most bytes of one file that is kept as an attachment",
        expects: "a whole number from 1 to 1000000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.limits.attachment_bytes = within(text, 1, 1_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "store.busy_wait_seconds",
        variable: "TULVING_STORE_BUSY_WAIT_SECONDS",
        default: "60",
        about: "how long to wait while other processes write",
        expects: "a whole number from 0 to 3600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.busy_wait = Duration::from_secs(within(text, 0, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "store.readers",
        variable: "TULVING_STORE_READERS",
        default: "4",
        about: "how many connections read at once",
        expects: "a whole number from 1 to 64",
        shape: Shape::Number,
        take: |settings, text| {
            settings.readers = within(text, 1, 64)?;
            Some(())
        },
    },
    Setting {
        key: "embedding.provider",
        variable: "TULVING_EMBEDDING_PROVIDER",
        default: "built-in",
        about: "what turns text into vectors: the model inside, none, a folder with an ONNX model, or a service",
        expects: "one of built-in, off, folder, openai, ollama",
        shape: Shape::Text,
        take: |settings, text| {
            settings.embedding.provider = match text.trim() {
                "built-in" => Provider::BuiltIn,
                "off" => Provider::Off,
                "folder" => Provider::Folder,
                "openai" => Provider::OpenAi,
                "ollama" => Provider::Ollama,
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
        shape: Shape::Text,
        take: |settings, text| {
            settings.embedding.folder = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "embedding.base_url",
        variable: "TULVING_EMBEDDING_BASE_URL",
        default: "",
        about: "where the service of provider openai or ollama answers, such as http://127.0.0.1:11434",
        expects: "an address that begins with http:// or https://",
        shape: Shape::Text,
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
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.embedding.model);
            Some(())
        },
    },
    Setting {
        key: "embedding.key_variable",
        variable: "TULVING_EMBEDDING_KEY_VARIABLE",
        default: "",
        about: "the variable of the environment that holds the key of the service",
        expects: "the name of a variable",
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.embedding.key_variable);
            Some(())
        },
    },
    Setting {
        key: "embedding.timeout_seconds",
        variable: "TULVING_EMBEDDING_TIMEOUT_SECONDS",
        default: "30",
        about: "how long the service may take for an answer; what is done after a command waits 3 seconds at the most",
        expects: "a whole number from 1 to 600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.embedding.time_out = Duration::from_secs(within(text, 1, 600)?);
            Some(())
        },
    },
    Setting {
        key: "llm.provider",
        variable: "TULVING_LLM_PROVIDER",
        default: "none",
        about: "which language model works in the background; without one, rules do",
        expects: "one of none, openai, anthropic, ollama",
        shape: Shape::Text,
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
        about: "where the service answers; its usual address where empty",
        expects: "an address that begins with http:// or https://",
        shape: Shape::Text,
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
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.llm.model);
            Some(())
        },
    },
    Setting {
        key: "llm.key_file",
        variable: "TULVING_LLM_KEY_FILE",
        default: "",
        about: "a file with nothing but the key of the service",
        expects: "a path, from the home",
        shape: Shape::Text,
        take: |settings, text| {
            settings.llm.key_file = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "llm.key_entry",
        variable: "TULVING_LLM_KEY_ENTRY",
        default: "",
        about: "the entry of the system's keyring with that key; `tulving llm key set` fills it",
        expects: "a name of up to 24 letters, digits, dots, hyphens and underscores",
        shape: Shape::Text,
        take: |settings, text| {
            settings.llm.key_entry = entry(text)?.to_owned();
            Some(())
        },
    },
    Setting {
        key: "llm.timeout_seconds",
        variable: "TULVING_LLM_TIMEOUT_SECONDS",
        default: "60",
        about: "how long one answer may take, further attempts included",
        expects: "a whole number from 1 to 600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.llm.time_out = Duration::from_secs(within(text, 1, 600)?);
            Some(())
        },
    },
    Setting {
        key: "llm.max_concurrent",
        variable: "TULVING_LLM_MAX_CONCURRENT",
        default: "2",
        about: "most calls of one process at once",
        expects: "a whole number from 1 to 64",
        shape: Shape::Number,
        take: |settings, text| {
            settings.llm.max_concurrent = within(text, 1, 64)?;
            Some(())
        },
    },
    Setting {
        key: "llm.tokens_per_day",
        variable: "TULVING_LLM_TOKENS_PER_DAY",
        default: "0",
        about: "most tokens that a day (UTC) may cost; 0 is no bound",
        expects: "a whole number from 0 to 1000000000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.llm.tokens_per_day = within(text, 0, 1_000_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "objects.bucket",
        variable: "TULVING_OBJECTS_BUCKET",
        default: "",
        about: "the bucket, of S3 or a service like it, for files that memories describe; else objects in the home",
        expects: "the name of a bucket",
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.objects.bucket);
            Some(())
        },
    },
    Setting {
        key: "objects.region",
        variable: "TULVING_OBJECTS_REGION",
        default: "us-east-1",
        about: "the region of the bucket",
        expects: "a region such as eu-central-1",
        shape: Shape::Text,
        take: |settings, text| {
            settings.objects.region = Some(text.trim()).filter(|region| !region.is_empty())?.to_owned();
            Some(())
        },
    },
    Setting {
        key: "objects.endpoint",
        variable: "TULVING_OBJECTS_ENDPOINT",
        default: "",
        about: "where the service of the bucket answers; that of Amazon where empty",
        expects: "an address that begins with https:// or http://",
        shape: Shape::Text,
        take: |settings, text| {
            settings.objects.endpoint = match text.trim() {
                "" => String::new(),
                address if address.contains("://") => address.to_owned(),
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "objects.prefix",
        variable: "TULVING_OBJECTS_PREFIX",
        default: "",
        about: "what stands before every key in the bucket",
        expects: "a text",
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.objects.prefix);
            Some(())
        },
    },
    Setting {
        key: "objects.allow_http",
        variable: "TULVING_OBJECTS_ALLOW_HTTP",
        default: "false",
        about: "whether the service may answer without encryption",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.objects.allow_http = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "objects.keys_file",
        variable: "TULVING_OBJECTS_KEYS_FILE",
        default: "",
        about: "a file with the keys of the bucket; else AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        expects: "a path",
        shape: Shape::Text,
        take: |settings, text| {
            settings.objects.keys_file = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "extract.languages",
        variable: "TULVING_EXTRACT_LANGUAGES",
        default: "",
        about: "the languages of the text in images, as tesseract names them: eng, deu+eng",
        expects: "names of languages with + between them",
        shape: Shape::Text,
        take: |settings, text| {
            let text = text.trim();
            let named = |name: &str| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            if !text.is_empty() && !text.split('+').all(named) {
                return None;
            }
            settings.languages = (!text.is_empty()).then(|| text.to_owned());
            Some(())
        },
    },
    Setting {
        key: "proactive.enabled",
        variable: "TULVING_PROACTIVE_ENABLED",
        default: "true",
        about: "whether turns of users are looked at for what is worth keeping",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.listening.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "proactive.except",
        variable: "TULVING_PROACTIVE_EXCEPT",
        default: "",
        about: "spaces whose turns are not looked at",
        expects: "a list of names or ids of spaces, such as [\"clients\"]",
        shape: Shape::List,
        take: |settings, text| {
            settings.listening.except = server::items(text).map(str::to_owned).collect();
            Some(())
        },
    },
    Setting {
        key: "proactive.untrusted",
        variable: "TULVING_PROACTIVE_UNTRUSTED",
        default: "email,mail,rss,web,webhook",
        about: "where turns come from that are not trusted: what is noted of them waits for review",
        expects: "a list of sources of turns, such as [\"email\"]",
        shape: Shape::List,
        take: |settings, text| {
            settings.listening.untrusted = server::items(text).map(str::to_owned).collect();
            Some(())
        },
    },
    Setting {
        key: "proactive.by",
        variable: "TULVING_PROACTIVE_BY",
        default: "auto",
        about: "who looks at them: the language model where one is set up and else rules (auto), or always rules",
        expects: "one of auto, rules",
        shape: Shape::Text,
        take: |settings, text| {
            settings.listening.by_rules = match text.trim() {
                "auto" => false,
                "rules" => true,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "shadow_journal.enabled",
        variable: "TULVING_SHADOW_JOURNAL_ENABLED",
        default: "false",
        about: "whether the language model notes what is new of answers to users in the journal of the day",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.listening.journal.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "shadow_journal.model",
        variable: "TULVING_SHADOW_JOURNAL_MODEL",
        default: "",
        about: "another model of the same service that does it; llm.model where empty",
        expects: "a name",
        shape: Shape::Text,
        take: |settings, text| {
            settings.listening.journal.model = Some(text.trim().to_owned()).filter(|model| !model.is_empty());
            Some(())
        },
    },
    Setting {
        key: "consolidate.enabled",
        variable: "TULVING_CONSOLIDATE_ENABLED",
        default: "false",
        about: "whether a server lets the language model promote what journals say to MEMORY.md",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.consolidation.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "consolidate.interval_hours",
        variable: "TULVING_CONSOLIDATE_INTERVAL_HOURS",
        default: "24",
        about: "how many hours are between two such passes",
        expects: "a whole number from 1 to 8760",
        shape: Shape::Number,
        take: |settings, text| {
            settings.consolidation.interval = Duration::from_secs(3_600 * within(text, 1, 8_760)?);
            Some(())
        },
    },
    Setting {
        key: "consolidate.max_loss",
        variable: "TULVING_CONSOLIDATE_MAX_LOSS",
        default: "0.3",
        about: "the share of the lines of MEMORY.md that may go without the model saying why",
        expects: "a number from 0 to 1",
        shape: Shape::Number,
        take: |settings, text| {
            settings.consolidation.max_loss = within(text, 0.0, 1.0)?;
            Some(())
        },
    },
    Setting {
        key: "consolidate.apply",
        variable: "TULVING_CONSOLIDATE_APPLY",
        default: "false",
        about: "whether such a pass also does what is proposed about memories, as far as the model finds it right",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.consolidation.apply = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "secrets.policy",
        variable: "TULVING_SECRETS_POLICY",
        default: "redact",
        about: "what is done with keys, passwords and other secrets in what is saved; see docs/secrets.md",
        expects: super::secrets::POLICY,
        shape: Shape::Text,
        take: |settings, text| {
            settings.secrecy.usual = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "tend.enabled",
        variable: "TULVING_TEND_ENABLED",
        default: "true",
        about: "whether a server applies the rules for what has aged",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.tending.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "tend.interval_seconds",
        variable: "TULVING_TEND_INTERVAL_SECONDS",
        default: "3600",
        about: "how often it does",
        expects: "a whole number from 1 to 86400",
        shape: Shape::Number,
        take: |settings, text| {
            settings.tending.interval = Duration::from_secs(within(text, 1, 86_400)?);
            Some(())
        },
    },
    Setting {
        key: "tend.cool_stable_days",
        variable: "TULVING_TEND_COOL_STABLE_DAYS",
        default: "365",
        about: "idle days after which an unused stable memory cools",
        expects: tend::DAYS,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "cool_stable_days", text),
    },
    Setting {
        key: "tend.cool_evolving_days",
        variable: "TULVING_TEND_COOL_EVOLVING_DAYS",
        default: "120",
        about: "the same of an evolving one",
        expects: tend::DAYS,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "cool_evolving_days", text),
    },
    Setting {
        key: "tend.cool_volatile_days",
        variable: "TULVING_TEND_COOL_VOLATILE_DAYS",
        default: "21",
        about: "the same of a volatile one",
        expects: tend::DAYS,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "cool_volatile_days", text),
    },
    Setting {
        key: "tend.archive_after_days",
        variable: "TULVING_TEND_ARCHIVE_AFTER_DAYS",
        default: "30",
        about: "days of cooling after which a memory that matters little is archived",
        expects: tend::DAYS,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "archive_after_days", text),
    },
    Setting {
        key: "tend.archive_below",
        variable: "TULVING_TEND_ARCHIVE_BELOW",
        default: "0.1",
        about: "below which importance it is archived then",
        expects: tend::IMPORTANCE,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "archive_below", text),
    },
    Setting {
        key: "tend.keep_forgotten_days",
        variable: "TULVING_TEND_KEEP_FORGOTTEN_DAYS",
        default: "0",
        about: "days after which what was forgotten softly goes for good",
        expects: tend::DAYS,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "keep_forgotten_days", text),
    },
    Setting {
        key: "tend.keep_audit_days",
        variable: "TULVING_TEND_KEEP_AUDIT_DAYS",
        default: "0",
        about: "days after which an entry of the audit goes",
        expects: tend::DAYS,
        shape: Shape::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "keep_audit_days", text),
    },
    Setting {
        key: "server.timeout_seconds",
        variable: "TULVING_SERVER_TIMEOUT_SECONDS",
        default: "60",
        about: "how long a request to `tulving serve` may take",
        expects: "a whole number from 1 to 3600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.time = Duration::from_secs(within(text, 1, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "server.max_body_bytes",
        variable: "TULVING_SERVER_MAX_BODY_BYTES",
        default: "8388608",
        about: "most bytes of the body of a request",
        expects: "a whole number from 1 to 1000000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.body_bytes = within(text, 1, 1_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_upload_bytes",
        variable: "TULVING_SERVER_MAX_UPLOAD_BYTES",
        default: "33554432",
        about: "most bytes of the body of a request that holds a file",
        expects: "a whole number from 1 to 1000000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.upload_bytes = within(text, 1, 1_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_depth",
        variable: "TULVING_SERVER_MAX_DEPTH",
        default: "127",
        about: "how deep the JSON of a body may be nested",
        expects: "a whole number from 1 to 127",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.depth = within(text, 1, 127)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_page",
        variable: "TULVING_SERVER_MAX_PAGE",
        default: "1000",
        about: "most items that one request under /v1 may ask for",
        expects: "a whole number from 1 to 1000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.page = within(text, 1, 1_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_connections",
        variable: "TULVING_SERVER_MAX_CONNECTIONS",
        default: "1024",
        about: "most connections at once",
        expects: "a whole number from 1 to 1000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.connections = within(text, 1, 1_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.requests_per_minute",
        variable: "TULVING_SERVER_REQUESTS_PER_MINUTE",
        default: "6000",
        about: "how often one token may ask in a minute; 0 is no bound",
        expects: "a whole number from 0 to 10000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.requests_per_minute = within(text, 0, 10_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.failures_per_minute",
        variable: "TULVING_SERVER_FAILURES_PER_MINUTE",
        default: "60",
        about: "how many wrong tokens may come from one address in a minute; 0 is no bound",
        expects: "a whole number from 0 to 10000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.server.limits.failures_per_minute = within(text, 0, 10_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.tls_certificate",
        variable: "TULVING_SERVER_TLS_CERTIFICATE",
        default: "",
        about: "the file (PEM) of the certificate and those that vouch for it; with tls_key, HTTPS",
        expects: "a path, from the home",
        shape: Shape::Text,
        take: |settings, text| {
            settings.server.tls_certificate = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "server.tls_key",
        variable: "TULVING_SERVER_TLS_KEY",
        default: "",
        about: "the file (PEM) of its private key",
        expects: "a path, from the home",
        shape: Shape::Text,
        take: |settings, text| {
            settings.server.tls_key = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "server.allowed_hosts",
        variable: "TULVING_SERVER_ALLOWED_HOSTS",
        default: "",
        about: "names that the server is called by, besides its address",
        expects: "a list of names without ports, such as [\"memory.lan\"]",
        shape: Shape::List,
        take: |settings, text| {
            settings.server.allowed_hosts = server::hosts(text)?;
            Some(())
        },
    },
    Setting {
        key: "server.cors_origins",
        variable: "TULVING_SERVER_CORS_ORIGINS",
        default: "",
        about: "sites whose pages may call the server",
        expects: "a list of origins, such as [\"https://app.example\"]",
        shape: Shape::List,
        take: |settings, text| {
            settings.server.cors_origins = server::origins(text)?;
            Some(())
        },
    },
    Setting {
        key: "server.open_metrics",
        variable: "TULVING_SERVER_OPEN_METRICS",
        default: "false",
        about: "whether /metrics is answered without a token",
        expects: "true or false",
        shape: Shape::Choice,
        take: |settings, text| {
            settings.server.open_metrics = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "log.level",
        variable: "TULVING_LOG",
        default: "info",
        about: "how much a server says on standard error; info is a line for each request",
        expects: "one of off, error, warn, info, debug",
        shape: Shape::Text,
        take: |settings, text| {
            settings.logging.level = match text.trim() {
                "off" => Level::OFF,
                "error" => Level::ERROR,
                "warn" => Level::WARN,
                "info" => Level::INFO,
                "debug" => Level::DEBUG,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "log.format",
        variable: "TULVING_LOG_FORMAT",
        default: "text",
        about: "how it says it: lines for people, or JSON for programs",
        expects: "one of text, json",
        shape: Shape::Text,
        take: |settings, text| {
            settings.logging.format = match text.trim() {
                "text" => Format::Text,
                "json" => Format::Json,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "output.color",
        variable: "TULVING_OUTPUT_COLOR",
        default: "auto",
        about: "whether to colour what is printed",
        expects: "one of auto, always, never",
        shape: Shape::Text,
        take: |settings, text| {
            settings.color = match text.trim() {
                "auto" => ColorChoice::Auto,
                "always" => ColorChoice::Always,
                "never" => ColorChoice::Never,
                _ => return None,
            };
            Some(())
        },
    },
];

fn within<N: std::str::FromStr + PartialOrd + Copy>(text: &str, least: N, most: N) -> Option<N> {
    text.trim().parse().ok().filter(|number| *number >= least && *number <= most)
}

/// An address, or none.
fn address(text: &str) -> Option<Address> {
    let text = text.trim();
    let fits = text.is_empty() || text.starts_with("http://") || text.starts_with("https://");
    fits.then(|| Address::new(text))
}

/// The name of an entry of the keyring, or none. What belongs in the entry is not taken for its name.
fn entry(text: &str) -> Option<&str> {
    let text = text.trim();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (text.len() <= 24 && text.bytes().all(fits) && secrets::find(text).is_empty()).then_some(text)
}

impl Setting {
    /// A value as it may be shown: an address may hold a password, and what is no name of an entry may be the key itself.
    pub(super) fn shown(&self, text: &str) -> String {
        match self.key {
            "embedding.base_url" | "llm.base_url" => Address::new(text).to_string(),
            "llm.key_entry" if entry(text).is_none() => "***".to_owned(),
            _ => text.to_owned(),
        }
    }
}

/// How other tools spell settings, in `config.toml`.
const SPELLINGS: &[(&str, &str)] = &[
    ("shadowJournal.enabled", "shadow_journal.enabled"),
    ("shadowJournal.model", "shadow_journal.model"),
    ("memConsolidate.enabled", "consolidate.enabled"),
    ("memConsolidate.intervalHours", "consolidate.interval_hours"),
];

/// The key as it is spelled here.
pub(super) fn spelled(key: &str) -> &str {
    SPELLINGS.iter().find(|(theirs, _)| *theirs == key).map_or(key, |(_, ours)| ours)
}

/// Whether another tool has settings below this table.
pub(super) fn is_spelled_below(table: &str) -> bool {
    SPELLINGS.iter().any(|(theirs, _)| theirs.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
}

/// The tables of `config.toml` that may stand there several times.
const TABLES: [(&str, &str); 4] = [
    ("[[backends]]", "in config.toml sets up where memories are kept: name, role, command, timeout_ms"),
    (
        "[[tend.expire]]",
        "says what is archived after a time: after_days, and any of space, type, kind, stability, tag",
    ),
    ("[[tend.space]]", "says what holds in a space: name, and any of the days and the importance below tend"),
    ("[[secrets.space]]", "says what is done with secrets in a space: name, policy"),
];

/// Every setting with its variable, for the help.
pub(crate) fn reference() -> String {
    let mut text = String::from("Settings, with the variable of the environment and the default:\n");
    for Setting { key, variable, default, about, expects, .. } in SETTINGS {
        let default = if default.is_empty() { "none" } else { default };
        text.push_str(&format!("  {key} ({variable}, {default})\n      {about}; {expects}\n"));
    }
    text.push('\n');
    for (table, about) in TABLES {
        text.push_str(&format!("{table} {about}.\n"));
    }
    text.push_str(&format!(
        "\nBesides: {HOME} is the home, {TOKEN} the token to act by, {LLM_KEY} the key of the language model."
    ));
    text
}

/// The reference of the settings, as a page.
#[cfg(test)]
pub(crate) fn reference_page() -> String {
    let mut page = String::from(
        "# Settings\n\n<!-- Made by `cargo xtask reference` from the declarations of the settings. -->\n\n\
         `config.toml` in the home, then the environment, then flags: the later one wins. `tulving config` shows each \
         setting and where it came from. What is unknown is an error that names the nearest known one.\n",
    );
    let mut section = None;
    for Setting { key, variable, default, about, expects, .. } in SETTINGS {
        let of = key.split_once('.').map_or("", |(section, _)| section);
        if section != Some(of) {
            let title = if of.is_empty() { "At the top".to_owned() } else { format!("`[{of}]`") };
            page.push_str(&format!(
                "\n## {title}\n\n| key | variable | default | what it is |\n|---|---|---|---|\n"
            ));
            section = Some(of);
        }
        let default = if default.is_empty() { "none".to_owned() } else { format!("`{default}`") };
        page.push_str(&format!("| `{key}` | `{variable}` | {default} | {about}; {expects} |\n"));
    }
    page.push_str("\n## Tables\n\n");
    for (table, about) in TABLES {
        page.push_str(&format!("- `{table}` {about}.\n"));
    }
    page.push_str("\n## Besides\n\n");
    page.push_str(&format!("- `{HOME}`: the home.\n- `{TOKEN}`: the token to act by.\n"));
    page.push_str(&format!("- `{LLM_KEY}`: the key of the language model.\n"));
    page
}

/// Every key of `config.toml`.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.key)
}

/// Every variable of the environment.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.variable).chain([HOME, TOKEN, LLM_KEY])
}

/// The variable that was meant. What all of them begin with makes none more like another.
pub(super) fn nearest_variable(got: &str) -> Option<&'static str> {
    let own = |name: &'static str| name.strip_prefix(PREFIX).unwrap_or(name);
    let meant = nearest(got.strip_prefix(PREFIX).unwrap_or(got), variables().map(own))?;
    variables().find(|name| own(name) == meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_what_was_meant() {
        for (got, meant) in [
            ("store.busy_wait", Some("store.busy_wait_seconds")),
            ("content_byte", Some("limits.content_bytes")),
            ("server.port", None),
        ] {
            assert_eq!(nearest(got, keys()), meant, "{got}");
        }
        for (got, meant) in [
            ("TULVING_COLOR", Some("TULVING_OUTPUT_COLOR")),
            ("TULVING_SPACES", Some("TULVING_SPACE")),
            ("TULVING_HOMES", Some("TULVING_HOME")),
            ("TULVING_PORT", None),
        ] {
            assert_eq!(nearest_variable(got), meant, "{got}");
        }
    }

    #[test]
    fn a_key_is_no_name_of_its_entry() {
        assert_eq!((entry(" openai-2.test_x "), entry("")), (Some("openai-2.test_x"), Some("")));
        let key = format!("sk-{}", "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3".repeat(2));
        let setting = SETTINGS.iter().find(|setting| setting.key == "llm.key_entry").expect("a setting");
        for wrong in [key.as_str(), &key[..27], "two words", "a@b"] {
            assert_eq!((entry(wrong), setting.shown(wrong).as_str()), (None, "***"), "{wrong}");
        }
    }

    #[test]
    fn every_setting_is_declared_once_and_its_default_fits() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..at].iter().all(|other| other.key != setting.key), "{}", setting.key);
            // Shorter, for it is set by hand.
            let key = if setting.key == "log.level" { "log" } else { setting.key };
            assert_eq!(setting.variable, format!("TULVING_{}", key.replace('.', "_").to_uppercase()));
        }
    }
}
