//! The settings of `tulving serve`.

use std::path::{Path, PathBuf};

use tulving_server::http::{RequestLimits, ServerRules, Tls};

use super::SettingError;

/// The settings below `server`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerSettings {
    pub(crate) limits: RequestLimits,
    pub(super) tls_certificate: PathBuf,
    pub(super) tls_key: PathBuf,
    pub(super) cors_origins: Vec<String>,
    pub(super) allowed_hosts: Vec<String>,
    pub(super) open_metrics: bool,
}

impl ServerSettings {
    /// Returns the files of the certificate and its key, if encryption is on. A relative path starts at the home,
    /// wherever the server is started.
    pub(crate) fn tls_files(&self, home: &Path) -> Result<Option<[PathBuf; 2]>, SettingError> {
        let missing = |given, missing| Err(SettingError::Alone { given, missing });
        match (self.tls_certificate.as_os_str().is_empty(), self.tls_key.as_os_str().is_empty()) {
            (true, true) => Ok(None),
            (false, true) => missing("server.tls_certificate", "server.tls_key"),
            (true, false) => missing("server.tls_key", "server.tls_certificate"),
            (false, false) => Ok(Some([home.join(&self.tls_certificate), home.join(&self.tls_key)])),
        }
    }

    /// Returns the rules, with the certificate read from its files now.
    pub(crate) fn rules(&self, home: &Path) -> Result<ServerRules, SettingError> {
        let tls = match self.tls_files(home)? {
            None => None,
            Some([certificate, key]) => Some(Tls::read(&certificate, &key)?),
        };
        let Self { limits, cors_origins, allowed_hosts, open_metrics, .. } = self.clone();
        Ok(ServerRules { limits, tls, cors_origins, allowed_hosts, open_metrics })
    }
}

/// Splits a list, as the environment and the table give it.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Reads origins: scheme, name and port, without path or wildcard.
pub(super) fn origins(text: &str) -> Option<Vec<String>> {
    let is_origin = |item: &str| {
        let host = item.strip_prefix("https://").or_else(|| item.strip_prefix("http://"));
        host.is_some_and(|host| is_host(host, b"-.:[]")) && item.bytes().all(|b| !b.is_ascii_uppercase())
    };
    items(text).map(|item| is_origin(item).then(|| item.to_owned())).collect()
}

/// Reads host names without port.
pub(super) fn hosts(text: &str) -> Option<Vec<String>> {
    items(text).map(|item| is_host(item, b"-.").then(|| item.to_owned())).collect()
}

fn is_host(text: &str, besides: &[u8]) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || besides.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_site_and_never_a_pattern() {
        assert_eq!(origins("").as_deref(), Some(&[][..]));
        let two = origins("https://app.example, http://localhost:3000").expect("good");
        assert_eq!(two, ["https://app.example", "http://localhost:3000"]);
        for wrong in [
            "*",
            "https://*.example",
            "app.example",
            "https://app.example/",
            "null",
            "https://",
            "https://App.example",
        ] {
            assert_eq!(origins(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_host_has_no_port_and_no_wildcard() {
        assert_eq!(hosts("memory.lan,box").expect("good"), ["memory.lan", "box"]);
        for wrong in ["memory.lan:443", "*.lan", "http://memory.lan", "a b"] {
            assert_eq!(hosts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let server = ServerSettings { tls_key: "key.pem".into(), ..ServerSettings::default() };
        let error = server.rules(Path::new("/home")).expect_err("one is missing");
        assert_eq!(error.to_string(), "server.tls_key is set and server.tls_certificate is not");
    }
}
