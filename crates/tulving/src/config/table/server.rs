//! Settings of the server, its log and the output.

use std::time::Duration;

use anstream::ColorChoice;

use super::super::server;
use super::{Setting, SettingType, within};
use crate::log::{Level, LogFormat};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "server.timeout_seconds",
        variable: "TULVING_SERVER_TIMEOUT_SECONDS",
        default: "60",
        about: "maximum seconds for a request to `tulving serve`",
        expects: "a whole number from 1 to 3600",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.time = Duration::from_secs(within(text, 1, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "server.max_body_bytes",
        variable: "TULVING_SERVER_MAX_BODY_BYTES",
        default: "8388608",
        about: "maximum bytes of the body of a request",
        expects: "a whole number from 1 to 1000000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.body_bytes = within(text, 1, 1_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_upload_bytes",
        variable: "TULVING_SERVER_MAX_UPLOAD_BYTES",
        default: "33554432",
        about: "maximum bytes of the body of a request with a file",
        expects: "a whole number from 1 to 1000000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.upload_bytes = within(text, 1, 1_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_depth",
        variable: "TULVING_SERVER_MAX_DEPTH",
        default: "127",
        about: "maximum nesting depth of the JSON of a body",
        expects: "a whole number from 1 to 127",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.depth = within(text, 1, 127)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_page",
        variable: "TULVING_SERVER_MAX_PAGE",
        default: "1000",
        about: "maximum number of items that one request under /v1 may ask for",
        expects: "a whole number from 1 to 1000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.page = within(text, 1, 1_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_connections",
        variable: "TULVING_SERVER_MAX_CONNECTIONS",
        default: "1024",
        about: "maximum number of connections at once",
        expects: "a whole number from 1 to 1000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.connections = within(text, 1, 1_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.max_strangers_per_address",
        variable: "TULVING_SERVER_MAX_STRANGERS_PER_ADDRESS",
        default: "512",
        about: "maximum number of connections of one address without a valid token; a new one replaces the oldest",
        expects: "a whole number from 1 to 1000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.strangers = within(text, 1, 1_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.first_request_seconds",
        variable: "TULVING_SERVER_FIRST_REQUEST_SECONDS",
        default: "10",
        about: "maximum seconds until the head of the first request of a connection is complete",
        expects: "a whole number from 1 to 3600",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.first_request = Duration::from_secs(within(text, 1, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "server.requests_per_minute",
        variable: "TULVING_SERVER_REQUESTS_PER_MINUTE",
        default: "6000",
        about: "maximum requests of one token per minute; 0 means no limit",
        expects: "a whole number from 0 to 10000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.requests_per_minute = within(text, 0, 10_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.failures_per_minute",
        variable: "TULVING_SERVER_FAILURES_PER_MINUTE",
        default: "60",
        about: "maximum wrong tokens from one address per minute; 0 means no limit",
        expects: "a whole number from 0 to 10000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.server.limits.failures_per_minute = within(text, 0, 10_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "server.tls_certificate",
        variable: "TULVING_SERVER_TLS_CERTIFICATE",
        default: "",
        about: "the file (PEM) with the certificate chain; with tls_key, it turns on HTTPS",
        expects: "a path, absolute or relative to the home",
        shape: SettingType::Text,
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
        expects: "a path, absolute or relative to the home",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.server.tls_key = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "server.allowed_hosts",
        variable: "TULVING_SERVER_ALLOWED_HOSTS",
        default: "",
        about: "host names of the server, in addition to its address",
        expects: "a list of names without ports, such as [\"memory.lan\"]",
        shape: SettingType::List,
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
        shape: SettingType::List,
        take: |settings, text| {
            settings.server.cors_origins = server::origins(text)?;
            Some(())
        },
    },
    Setting {
        key: "server.open_metrics",
        variable: "TULVING_SERVER_OPEN_METRICS",
        default: "false",
        about: "true to answer /metrics without a token",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.server.open_metrics = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "log.level",
        variable: "TULVING_LOG",
        default: "info",
        about: "the log level of a server on standard error; info logs a line for each request",
        expects: "one of off, error, warn, info, debug",
        shape: SettingType::Text,
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
        about: "the log format: lines for people, or JSON for programs",
        expects: "one of text, json",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.logging.format = match text.trim() {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "output.color",
        variable: "TULVING_OUTPUT_COLOR",
        default: "auto",
        about: "the use of colour in the output",
        expects: "one of auto, always, never",
        shape: SettingType::Text,
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
