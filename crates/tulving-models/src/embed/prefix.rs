//! Prefixes that a model expects before a text, such as `query: ` and `passage: ` of the E5 models.

use sha2::{Digest, Sha256};

/// Number of bytes of the hash in the id of a model.
const ID_BYTES: usize = 4;

/// The texts that are put before every question and before every stored text. Empty texts change nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextPrefixes {
    /// The prefix of a question.
    pub query: String,
    /// The prefix of a stored text.
    pub passage: String,
}

impl TextPrefixes {
    /// Returns true if no text is changed.
    pub fn is_empty(&self) -> bool {
        self.query.is_empty() && self.passage.is_empty()
    }

    /// The part of a model's id for these prefixes; empty if there are none. With other prefixes, a model computes other
    /// vectors.
    pub(super) fn id(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut hash = Sha256::new();
        hash.update(self.query.as_bytes());
        hash.update([0]);
        hash.update(self.passage.as_bytes());
        let hash = hash.finalize();
        let short: String = hash[..ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("+{short}")
    }

    /// Calls `embed` with the texts as stored texts.
    pub(super) fn with_passages<T>(&self, texts: &[&str], embed: impl FnOnce(&[&str]) -> T) -> T {
        if self.passage.is_empty() {
            return embed(texts);
        }
        let texts: Vec<String> = texts.iter().map(|text| [&self.passage, *text].concat()).collect();
        embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns the text as a question.
    pub(super) fn question(&self, text: &str) -> String {
        [self.query.as_str(), text].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_its_own_id() {
        let prefixes = |query: &str, passage: &str| TextPrefixes {
            query: query.to_owned(),
            passage: passage.to_owned(),
        };
        assert_eq!(prefixes("", "").id(), "");
        let ids = [("a", ""), ("", "a"), ("ab", ""), ("a", "b"), ("b", "a")]
            .map(|(one, two)| prefixes(one, two).id());
        for (at, id) in ids.iter().enumerate() {
            assert!(id.len() == 9 && !ids[..at].contains(id), "{ids:?}");
        }
    }
}
