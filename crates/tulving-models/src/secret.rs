//! A key that is never printed by accident.

use std::fmt;

/// A key. It is masked wherever it is printed, and removed from the messages of services.
#[derive(Clone)]
pub struct ApiKey(String);

/// The text that replaces the key.
const MASK: &str = "***";

impl ApiKey {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for the request that needs it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns true if the key can be sent: only visible ASCII characters, and at least one.
    pub(crate) fn is_sendable(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Returns the text with the key masked, because some services repeat the key in their errors.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, MASK) }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = ApiKey::new("sk-123");
        assert_eq!(format!("{key} {key:?} {:#?}", Some(&key)), "*** *** Some(\n    ***,\n)");
        assert_eq!(key.hide_in("the key sk-123 is wrong"), "the key *** is wrong");
        assert_eq!(ApiKey::new("").hide_in("as it is"), "as it is");
    }
}
