//! The precompiled character map of SentencePiece: rules that replace characters before a text is cut into pieces.
//!
//! The map is a double-array trie (Darts) of the characters to replace, and a text with the replacements. It is applied as
//! the `Precompiled` normalizer of Hugging Face's `tokenizers` library does, because the published `tokenizer.json` files
//! describe that library. A damaged map is refused or replaces nothing; it never causes a panic.

use data_encoding::BASE64;
use unicode_segmentation::UnicodeSegmentation;

/// Length in bytes from which a grapheme is replaced character by character. The number is that of `tokenizers`.
const LONG_GRAPHEME: usize = 6;

/// A map from characters to their replacements.
#[derive(Debug)]
pub(crate) struct CharsMap {
    units: Vec<TrieUnit>,
    /// The replacements; each ends with a zero byte.
    replacements: String,
}

/// One unit of the double array, with the bit layout of Darts.
#[derive(Clone, Copy, Debug)]
struct TrieUnit(u32);

impl TrieUnit {
    fn has_leaf(self) -> bool {
        self.0 >> 8 & 1 == 1
    }

    fn value(self) -> usize {
        (self.0 & 0x7fff_ffff) as usize
    }

    /// The byte that leads to this unit. A leaf has a bit that no byte has.
    fn label(self) -> u32 {
        self.0 & 0x8000_00ff
    }

    fn offset(self) -> usize {
        ((self.0 >> 10) << ((self.0 & 1 << 9) >> 6)) as usize
    }
}

impl CharsMap {
    /// Reads a map in base64: the number of bytes of the trie (u32, little-endian), the trie, and the replacements.
    pub(crate) fn read(base64: &str) -> Result<Self, String> {
        let bytes = BASE64.decode(base64.as_bytes()).map_err(|error| error.to_string())?;
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or("it is too short")?;
        let length = u32::from_le_bytes(*length) as usize;
        let (trie, replacements) = rest.split_at_checked(length).ok_or("its trie is too short")?;
        let (units, incomplete) = trie.as_chunks::<4>();
        if units.is_empty() || !incomplete.is_empty() {
            return Err("its trie is incomplete".to_owned());
        }
        let units = units.iter().map(|unit| TrieUnit(u32::from_le_bytes(*unit))).collect();
        let replacements = String::from_utf8(replacements.to_vec()).map_err(|error| error.to_string())?;
        Ok(Self { units, replacements })
    }

    /// Replaces the characters of a text. A short grapheme is replaced as a whole if it begins with characters of the map;
    /// the models were trained with texts that were changed like this.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut normal = String::with_capacity(text.len());
        for grapheme in text.graphemes(true) {
            if grapheme.len() < LONG_GRAPHEME
                && let Some(replacement) = self.replacement(grapheme)
            {
                normal.push_str(replacement);
                continue;
            }
            for char in grapheme.chars() {
                match self.replacement(char.encode_utf8(&mut [0; 4])) {
                    Some(replacement) => normal.push_str(replacement),
                    None => normal.push(char),
                }
            }
        }
        normal
    }

    /// The replacement of the shortest entry that this text begins with.
    fn replacement(&self, text: &str) -> Option<&str> {
        let mut at = self.units.first()?.offset();
        for byte in text.bytes().take_while(|byte| *byte != 0) {
            at ^= usize::from(byte);
            let unit = self.units.get(at)?;
            if unit.label() != u32::from(byte) {
                return None;
            }
            at ^= unit.offset();
            if unit.has_leaf() {
                let replacement = self.replacements.get(self.units.get(at)?.value()..)?;
                return replacement.split('\0').next();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(trie: &[u32], replacements: &str) -> String {
        let mut bytes = (trie.len() as u32 * 4).to_le_bytes().to_vec();
        bytes.extend(trie.iter().flat_map(|unit| unit.to_le_bytes()));
        bytes.extend(replacements.bytes());
        BASE64.encode(&bytes)
    }

    /// A trie with the one entry `a`, which is replaced by `bc`.
    fn small() -> CharsMap {
        let mut trie = [0_u32; 256];
        // The root has the offset 1. Its child for `a` is a unit with a leaf at the offset 2.
        trie[0] = 1 << 10;
        let child = 1 ^ usize::from(b'a');
        trie[child] = u32::from(b'a') | 1 << 8 | 2 << 10;
        trie[child ^ 2] = 1 << 31 | 3;
        CharsMap::read(&encoded(&trie, "xx\0bc\0")).unwrap()
    }

    #[test]
    fn an_entry_is_replaced_and_other_text_stays() {
        assert_eq!(small().apply("a b\0 ä a"), "bc b\0 ä bc");
        // The grapheme has three bytes and begins with an entry, so the accent is lost with it.
        assert_eq!(small().apply("a\u{301}"), "bc");
        // A long grapheme is replaced character by character.
        assert_eq!(small().apply("a\u{301}\u{302}\u{303}"), "bc\u{301}\u{302}\u{303}");
    }

    #[test]
    fn a_damaged_map_is_refused_or_replaces_nothing() {
        for damaged in ["?", "", "AAAA", &encoded(&[], "a"), &encoded(&[1], "")[..8]] {
            assert!(CharsMap::read(damaged).is_err(), "{damaged}");
        }
        let mut outside = [u32::MAX; 4];
        outside[0] = 1 << 10;
        let map = CharsMap::read(&encoded(&outside, "a")).unwrap();
        assert_eq!(map.apply("abc äöü"), "abc äöü");
    }
}
