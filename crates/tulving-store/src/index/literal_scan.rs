//! Finds memories by literal text while the index contains only some of the memories.
//!
//! The store searches the content of every memory for the words of the question. The matches are searched together with
//! the existing part of the index. Words that differ in more than their ending are not found this way.

use tulving_core::model::search::{IndexEntry, SearchQuery, SearchScope};

use super::SearchIndex;
use super::build::ENTRIES;
use super::errors::{DamagedIndexFile, IndexStepError};
use super::snapshot::IndexSnapshot;

/// Maximum number of memories that are read in addition to the indexed ones, which takes about a tenth of a second.
const MOST: usize = 1_000;
/// Maximum number of words to search for, the longest first. Each word costs another search of the content of every
/// memory.
const WORDS: usize = 6;
/// Minimum length of a word. Shorter words are in almost every content, unless they are numbers.
const SHORTEST: usize = 3;

impl SearchIndex {
    /// The memories whose contents contain words of the question, with their vectors of this model.
    pub(super) fn held(
        &self,
        scope: &SearchScope,
        question: &SearchQuery,
        model: Option<&str>,
    ) -> Result<Vec<IndexEntry>, IndexStepError> {
        let ids = self.source.holding(&letters(&question.terms), scope.filter.space, MOST)?;
        let mut entries = Vec::with_capacity(ids.len());
        for some in ids.chunks(ENTRIES) {
            entries.extend(self.source.entries(some, model)?);
        }
        Ok(entries)
    }
}

impl IndexSnapshot {
    /// A copy of this snapshot with these memories added.
    pub(super) fn and(&self, entries: &[IndexEntry], model: Option<&str>) -> Result<Self, DamagedIndexFile> {
        let mut both = self.clone();
        for entry in entries {
            both.kill(entry.memory.id.as_bytes(), false)?;
        }
        both.absorb(entries, model)?;
        Ok(both)
    }
}

/// The part of each term that occurs literally in contents. A stem ends in "i" where the word ends in "y" or "ies".
fn letters(terms: &[String]) -> Vec<&str> {
    let stems = terms.iter().map(|term| match term.strip_suffix('i') {
        Some(stem) if stem.len() >= SHORTEST => stem,
        _ => term,
    });
    let telling = |stem: &&str| stem.len() >= SHORTEST || stem.bytes().any(|byte| byte.is_ascii_digit());
    let mut stems: Vec<&str> = stems.filter(telling).collect();
    stems.sort_by_key(|stem| std::cmp::Reverse(stem.len()));
    stems.truncate(WORDS);
    stems
}

#[cfg(test)]
mod tests {
    use super::*;
    use tulving_text::terms;

    #[test]
    fn a_stem_is_looked_for_as_it_stands_in_a_content() {
        for (asked, content) in [
            ("memories", "a memory of it"),
            ("how do we deploy", "deploying takes an hour"),
            ("databases", "the database is down"),
            ("who is in 42", "room 42"),
            ("東京都", "東京都に行く"),
        ] {
            let terms = terms::terms(asked);
            assert!(letters(&terms).iter().any(|stem| content.contains(stem)), "{asked}: {terms:?}");
        }
        assert!(letters(&terms::terms("is it a b")).is_empty());
    }
}
