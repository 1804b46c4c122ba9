//! The address of a service. It may contain a password or a key, which are never printed.

use std::fmt;
use std::net::Ipv4Addr;
use std::ops::Range;

/// The text that replaces the hidden parts.
const MASK: &str = "***";

/// The address of a service as it was written. `Display` and `Debug` hide the user and everything after `?`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServiceUrl(String);

impl ServiceUrl {
    /// Creates an address from its text, unchanged.
    pub fn new(written: impl Into<String>) -> Self {
        Self(written.into())
    }

    /// Returns true if the address is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The host and its port, in lower case. The default port is left out.
    pub(crate) fn host(&self) -> String {
        let parts = self.parts();
        let host = self.0[parts.host].to_lowercase();
        let usual = match parts.scheme {
            UrlScheme::Http => host.strip_suffix(":80"),
            UrlScheme::Https => host.strip_suffix(":443"),
            UrlScheme::Other => None,
        };
        usual.unwrap_or(&host).to_owned()
    }

    /// Returns true if the path ends with `end`, ignoring a trailing slash.
    pub(crate) fn ends_in(&self, end: &str) -> bool {
        self.0[self.parts().path].trim_end_matches('/').ends_with(end)
    }

    /// Returns true if the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self.parts().scheme, UrlScheme::Https)
    }

    /// Returns true if the address is on this machine.
    pub(crate) fn is_here(&self) -> bool {
        let host = self.host();
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = name.map_or(host.as_str(), |(name, _)| name);
        name == "localhost" || name == "[::1]" || name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Returns the address of a path below this address. The part after `?` stays at the end.
    pub(crate) fn below(&self, path: &str) -> Self {
        let end = self.parts().path.end;
        let (above, query) = self.0.split_at(end);
        let query = query.split('#').next().unwrap_or_default();
        Self(format!("{}/{path}{query}", above.trim_end_matches('/')))
    }

    /// The address as it was written, for the request that needs it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the text without the hidden parts of the address.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        let parts = self.parts();
        let user = &self.0[parts.user];
        let query = &self.0[parts.path.end..];
        let words =
            [user.split_once(':').map_or("", |(_, password)| password), query.trim_matches(['?', '#'])];
        let values = query.split(['?', '&', '#']).filter_map(|pair| Some(pair.split_once('=')?.1));
        let mut hidden: Vec<&str> = [user].into_iter().chain(words).chain(values).collect();
        hidden.retain(|word| !word.is_empty());
        // The longest hidden part is replaced first. Otherwise a part of it would remain if it contains a shorter one.
        hidden.sort_by_key(|word| std::cmp::Reverse(word.len()));
        hidden.into_iter().fold(text.to_owned(), |text, word| text.replace(word, MASK))
    }

    fn parts(&self) -> UrlParts {
        let text = &self.0;
        let begin = text.find("://").map_or(0, |at| at + 3);
        let scheme = match &text[..begin] {
            "http://" => UrlScheme::Http,
            "https://" => UrlScheme::Https,
            _ => UrlScheme::Other,
        };
        let after = |from: usize, ends: &[char]| text[from..].find(ends).map_or(text.len(), |at| from + at);
        let end = after(begin, &['/', '?', '#']);
        let host = text[begin..end].rfind('@').map_or(begin, |at| begin + at + 1);
        let user = begin..host.saturating_sub(1).max(begin);
        UrlParts { scheme, user, host: host..end, path: end..after(end, &['?', '#']) }
    }
}

enum UrlScheme {
    Http,
    Https,
    Other,
}

/// The positions of the parts of an address.
struct UrlParts {
    scheme: UrlScheme,
    /// The part before `@`.
    user: Range<usize>,
    host: Range<usize>,
    path: Range<usize>,
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts();
        f.write_str(&self.0[..parts.user.start])?;
        if parts.host.start > parts.user.start {
            write!(f, "{MASK}@")?;
        }
        f.write_str(&self.0[parts.host.start..parts.path.end])?;
        if parts.path.end < self.0.len() { write!(f, "?{MASK}") } else { Ok(()) }
    }
}

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_and_what_comes_after_the_question_mark_is_not_shown() {
        for (written, shown, host) in [
            ("http://localhost:11434", "http://localhost:11434", "localhost:11434"),
            ("https://me:p@ss@Host/v1/?key=k#x", "https://***@Host/v1/?***", "host"),
            ("https://host:443", "https://host:443", "host"),
            ("http://token@[::1]:80/a", "http://***@[::1]:80/a", "[::1]"),
            ("me:pass@host", "***@host", "host"),
            ("", "", ""),
        ] {
            let address = ServiceUrl::new(written);
            assert_eq!(format!("{address}"), shown);
            assert_eq!(format!("{address:?}"), shown);
            assert_eq!(address.host(), host);
        }
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (written, here) in [
            ("http://localhost:11434", true),
            ("http://127.0.0.9/v1", true),
            ("http://[::1]:8080", true),
            ("http://[::1]", true),
            ("http://127.0.0.1.example.com", false),
            ("http://localhost@host", false),
            ("http://10.0.0.1:80", false),
        ] {
            assert_eq!(ServiceUrl::new(written).is_here(), here, "{written}");
        }
    }

    #[test]
    fn what_is_below_keeps_what_the_request_needs() {
        let below = |written: &str| ServiceUrl::new(written).below("embeddings").reveal().to_owned();
        assert_eq!(below("http://me:pass@host/v1/?key=k#x"), "http://me:pass@host/v1/embeddings?key=k");
        assert_eq!(below("http://host"), "http://host/embeddings");
    }

    #[test]
    fn a_text_is_rid_of_what_is_not_shown() {
        let address = ServiceUrl::new("http://me:secret@host/v1?api-key=k123&version=2024");
        let described = "bad password secret of me:secret, key k123, api-key=k123&version=2024";
        assert_eq!(address.hide_in(described), "bad password *** of ***, key ***, ***");
        assert_eq!(ServiceUrl::new("http://host").hide_in("as it is"), "as it is");
    }
}
