//! The vocabulary of a `tokenizer.json`: a table of ids, or a list of scores.
//!
//! A vocabulary may have 250,000 entries, so it is read directly, without an intermediate JSON value.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The vocabulary of a model.
pub(super) enum VocabularyField {
    /// The ids of the pieces, for WordPiece and BPE.
    Table(HashMap<String, u32>),
    /// The pieces with their scores, for Unigram. The id of a piece is its position.
    Scored(Vec<(String, f64)>),
}

impl<'de> Deserialize<'de> for VocabularyField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VocabularyVisitor)
    }
}

struct VocabularyVisitor;

impl<'de> Visitor<'de> for VocabularyVisitor {
    type Value = VocabularyField;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of pieces with ids, or a list of pieces with scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut table = HashMap::new();
        while let Some((piece, id)) = map.next_entry()? {
            table.insert(piece, id);
        }
        Ok(VocabularyField::Table(table))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut scored = Vec::new();
        while let Some(piece) = list.next_element()? {
            scored.push(piece);
        }
        Ok(VocabularyField::Scored(scored))
    }
}
