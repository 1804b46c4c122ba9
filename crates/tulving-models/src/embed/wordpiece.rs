//! Cuts text into word pieces, as the tokenizers of the BERT family do.
//!
//! Cleans the text, separates Chinese characters, removes accents and lowers the case; splits at white space and
//! punctuation; then takes the longest known piece from the left, repeatedly. The ids equal those of Hugging Face's
//! `tokenizers` library.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// The default maximum length of a word, in characters. A longer word is unknown.
pub(crate) const LONGEST_WORD: usize = 100;

/// Marks a piece that does not begin a word.
const INNER: &str = "##";

/// The pieces of a vocabulary with their ids.
pub(crate) type Vocabulary = HashMap<Cow<'static, str>, u32, BuildHasherDefault<FnvHasher>>;

/// A vocabulary and the rules for using it.
pub(crate) struct WordPiece {
    vocabulary: Vocabulary,
    marks: SpecialTokens,
    /// Length of the longest piece, in bytes. Longer texts are never looked up.
    longest: usize,
    /// Maximum length of a word, in characters. A longer word is unknown.
    longest_word: usize,
    rules: NormalizerRules,
}

/// The tokens that are not pieces of text.
#[derive(Debug)]
pub(crate) struct SpecialTokens {
    /// The token at the start of every text.
    pub(crate) begin: u32,
    /// The token at the end of every text.
    pub(crate) end: u32,
    /// The token for a word that cannot be built from pieces.
    pub(crate) unknown: u32,
    /// Tokens that a text may contain literally, with their ids.
    pub(crate) special: Vec<(Cow<'static, str>, u32)>,
}

impl SpecialTokens {
    /// The tokens of BERT. `None` if the vocabulary lacks `[CLS]`, `[SEP]` or `[UNK]`.
    pub(crate) fn of_bert(vocabulary: &Vocabulary) -> Option<Self> {
        const NAMES: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
        let id = |name| vocabulary.get(name).copied();
        let special = NAMES.into_iter().filter_map(|name| Some((Cow::Borrowed(name), id(name)?))).collect();
        Some(Self { begin: id("[CLS]")?, end: id("[SEP]")?, unknown: id("[UNK]")?, special })
    }

    /// Splits a text at its first special token: the part before it, the token, and the part after it.
    fn split<'a>(&self, text: &'a str) -> (&'a str, Option<u32>, &'a str) {
        // Special tokens are mostly written in brackets. Other text need not be searched.
        let begins = |char: char| self.special.iter().any(|(name, _)| name.starts_with(char));
        for (at, _) in text.match_indices(begins) {
            let named = self.special.iter().find(|(name, _)| text[at..].starts_with(&**name));
            if let Some((name, id)) = named {
                return (&text[..at], Some(*id), &text[at + name.len()..]);
            }
        }
        (text, None, "")
    }
}

/// The changes to a text before it is split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormalizerRules {
    pub(crate) clean: bool,
    pub(crate) chinese_apart: bool,
    pub(crate) strip_accents: bool,
    pub(crate) lower_case: bool,
}

impl NormalizerRules {
    /// The rules of the models called "uncased".
    pub(crate) const UNCASED: Self =
        Self { clean: true, chinese_apart: true, strip_accents: true, lower_case: true };

    /// Returns true if this character separates two words.
    fn parts(self, char: char) -> bool {
        char.is_whitespace() && !(self.clean && is_noise(char))
    }

    /// The form of a word in the vocabulary. Chinese characters in it get spaces around them.
    fn apply(self, word: &str) -> Cow<'_, str> {
        if word.bytes().all(|byte| byte.is_ascii_graphic()) {
            let as_it_is = !self.lower_case || !word.bytes().any(|byte| byte.is_ascii_uppercase());
            return if as_it_is { word.into() } else { word.to_ascii_lowercase().into() };
        }
        let mut normal = String::with_capacity(word.len() + 8);
        for char in word.chars() {
            if self.clean && is_noise(char) {
                continue;
            }
            if self.chinese_apart && is_chinese(char) {
                normal.extend([' ', char, ' ']);
            } else {
                normal.push(char);
            }
        }
        if self.strip_accents {
            normal = normal.nfd().filter(|char| !char.is_mark_nonspacing()).collect();
        }
        if self.lower_case {
            // `str::to_lowercase` is not used, because it changes the last sigma of a Greek word.
            normal = normal.chars().flat_map(char::to_lowercase).collect();
        }
        normal.into()
    }
}

impl WordPiece {
    pub(crate) fn new(vocabulary: Vocabulary, marks: SpecialTokens, rules: NormalizerRules) -> Self {
        let longest = vocabulary.keys().map(|piece| piece.len()).max().unwrap_or(0);
        Self { vocabulary, marks, longest, longest_word: LONGEST_WORD, rules }
    }

    /// Returns the same tokenizer with a different maximum length of a word.
    pub(crate) fn with_words_of(self, longest_word: usize) -> Self {
        Self { longest_word, ..self }
    }

    /// Creates the tokenizer of an uncased BERT model from the lines of its vocabulary. `None` if they lack a mark.
    pub(crate) fn uncased(lines: impl Iterator<Item = &'static str>) -> Option<Self> {
        let vocabulary = lines.map(Cow::Borrowed).zip(0..).collect();
        let marks = SpecialTokens::of_bert(&vocabulary)?;
        Some(Self::new(vocabulary, marks, NormalizerRules::UNCASED))
    }

    /// Number of pieces. Each id is below it if the ids are the line numbers.
    pub(crate) fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// Returns the ids of a text between the start and end tokens, at most `most` ids in total.
    pub(crate) fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let room = most.saturating_sub(1);
        let mut ids = vec![self.marks.begin];
        let mut rest = text;
        while ids.len() < room && !rest.is_empty() {
            let (plain, special, after) = self.marks.split(rest);
            self.encode_plain(plain, room, &mut ids);
            ids.extend(special);
            rest = after;
        }
        ids.truncate(room);
        ids.push(self.marks.end);
        ids
    }

    /// Encodes word after word, so that text beyond the limit is never read.
    fn encode_plain(&self, text: &str, room: usize, ids: &mut Vec<u32>) {
        for word in text.split(|char| self.rules.parts(char)) {
            let normal = self.rules.apply(word);
            for word in normal.split(char::is_whitespace) {
                if ids.len() >= room {
                    return;
                }
                self.encode_parts(word, ids);
            }
        }
    }

    /// Encodes each punctuation mark, and each text between two, as a word.
    fn encode_parts(&self, text: &str, ids: &mut Vec<u32>) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = if is_punctuation(first) {
                first.len_utf8()
            } else {
                rest.find(is_punctuation).unwrap_or(rest.len())
            };
            let (part, after) = rest.split_at(length);
            self.encode_word(part, ids);
            rest = after;
        }
    }

    fn encode_word(&self, word: &str, ids: &mut Vec<u32>) {
        let begun = ids.len();
        if word.chars().count() > self.longest_word {
            ids.push(self.marks.unknown);
            return;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let lead = if rest.len() == word.len() { "" } else { INNER };
            let Some((id, length)) = self.longest_piece(lead, rest) else {
                // One unknown part makes the whole word unknown.
                ids.truncate(begun);
                ids.push(self.marks.unknown);
                return;
            };
            ids.push(id);
            rest = &rest[length..];
        }
    }

    /// The longest piece that `text` begins with, and its length.
    fn longest_piece(&self, lead: &str, text: &str) -> Option<(u32, usize)> {
        let mut length = text.floor_char_boundary(self.longest);
        let mut piece = [lead, &text[..length]].concat();
        while length > 0 {
            if let Some(id) = self.vocabulary.get(piece.as_str()) {
                return Some((*id, length));
            }
            length -= piece.pop().map_or(length, char::len_utf8);
        }
        None
    }
}

fn is_noise(char: char) -> bool {
    match char {
        '\t' | '\n' | '\r' => false,
        '\0' | char::REPLACEMENT_CHARACTER => true,
        _ => char.is_other(),
    }
}

fn is_punctuation(char: char) -> bool {
    char.is_ascii_punctuation() || char.is_punctuation()
}

/// Returns true for the blocks that BERT counts as Chinese. Japanese kana and Korean are not among them.
fn is_chinese(char: char) -> bool {
    matches!(u32::from(char),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

/// The hash of Fowler, Noll and Vo. The keys are a fixed vocabulary, so nobody can choose them to collide. Filling the map
/// takes most of the time to load the model.
#[derive(Clone, Copy)]
pub(crate) struct FnvHasher(u64);

impl Default for FnvHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for FnvHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn vocabulary() -> WordPiece {
        WordPiece::uncased(include_str!("../../models/all-minilm-l6-v2/vocab.txt").lines()).unwrap()
    }

    #[test]
    fn every_text_is_cut_as_the_original_cuts_it() {
        let texts: Value = serde_json::from_str(include_str!("../../tests/reference/texts.json")).unwrap();
        let right: Vec<Vec<u32>> =
            serde_json::from_str(include_str!("../../tests/reference/pieces.json")).unwrap();
        let texts: Vec<&str> = ["sentences", "tricky"]
            .into_iter()
            .flat_map(|group| texts[group].as_array().unwrap())
            .map(|text| text.as_str().unwrap())
            .collect();
        assert_eq!(texts.len(), right.len());
        let pieces = vocabulary();
        let wrong: Vec<_> = texts
            .into_iter()
            .zip(right)
            .map(|(text, right)| (text, pieces.encode(text, 256), right))
            .filter(|(_, got, right)| got != right)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn what_is_too_long_is_cut_and_still_has_its_end() {
        let pieces = vocabulary();
        assert_eq!(pieces.encode("one two three four", 4), [101, 2028, 2048, 102]);
        assert_eq!(pieces.encode("", 256), [101, 102]);
    }

    #[test]
    fn a_vocabulary_without_its_special_tokens_is_refused() {
        assert!(WordPiece::uncased(["[CLS]", "[SEP]", "word"].into_iter()).is_none());
        assert!(WordPiece::uncased(std::iter::empty()).is_none());
    }
}
