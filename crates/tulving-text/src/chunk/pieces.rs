//! Estimates the number of word pieces into which the embedding model splits a text, without the model's vocabulary.
//!
//! The estimate counts words by their length, digits, and symbols. It was compared with the model's own tokenizer. The
//! true number divided by the estimate is 1.01 on average for 5,183 scientific abstracts (0.85 to 1.18 for 98 of 100
//! texts), 0.92 for chat turns, and 0.94 for long answers of assistants (below 1.09 for 99 of 100).

use crate::terms::{is_hangul, is_stop_word, is_unspaced};

/// Maximum number of estimated pieces of a chunk, including the headings above it.
///
/// The model accepts 256 pieces, including two marks of its own. With an estimate of at most 220, only 6 of 10,950
/// chunks of the scientific abstracts had more than 256 pieces, and 99 of 100 had at most 233. The remaining pieces
/// leave room for a title.
pub(super) const WINDOW: u32 = 220;

/// The estimate counts in tenths of a piece.
const ONE: u32 = 10;

/// Tenths of a piece of an English word, indexed by its number of letters. Measured on the texts named above.
const BY_LETTERS: [u32; 16] = [0, 10, 10, 11, 11, 11, 11, 12, 13, 15, 16, 19, 21, 23, 31, 35];

/// The class of a text's language, by the way in which the model's English vocabulary splits its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextLanguage {
    /// Words are mostly one piece.
    English,
    /// Words are split into syllables.
    Other,
}

/// Minimum number of words needed to detect the language.
const TOLD_BY: usize = 20;

/// Number of characters that are read to detect the language.
const TOLD_WITHIN: usize = 4_000;

impl TextLanguage {
    /// Detects the language by the share of English stop words. The share is a third in prose, a fifth in terse notes,
    /// and nearly zero in other languages. If the share is below a tenth, the text is not English, or it is a list or
    /// code. The words of lists and code are split into as many pieces as other languages.
    pub(super) fn of(text: &str) -> Self {
        let beginning = text.char_indices().nth(TOLD_WITHIN).map_or(text, |(at, _)| &text[..at]);
        let (mut all, mut stops) = (0, 0);
        for word in beginning.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1) {
            all += 1;
            stops += usize::from(is_stop_word(&word.to_ascii_lowercase()));
        }
        if all >= TOLD_BY && stops * 10 < all { Self::Other } else { Self::English }
    }
}

/// The kind of a run of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterRunKind {
    Letters,
    Digits,
    Sign,
    Space,
}

fn sort(c: char) -> CharacterRunKind {
    match c {
        'a'..='z' | 'A'..='Z' => CharacterRunKind::Letters,
        '0'..='9' => CharacterRunKind::Digits,
        c if c.is_whitespace() => CharacterRunKind::Space,
        c if c.is_ascii() || is_unspaced(c) => CharacterRunKind::Sign,
        c if c.is_alphanumeric() => CharacterRunKind::Letters,
        _ => CharacterRunKind::Sign,
    }
}

/// Counts pieces as characters are pushed.
#[derive(Clone, Debug)]
pub(super) struct PieceCounter {
    language: TextLanguage,
    tenths: u32,
    letters: u32,
    digits: u32,
}

impl PieceCounter {
    pub(super) fn new(language: TextLanguage) -> Self {
        Self { language, tenths: 0, letters: 0, digits: 0 }
    }

    pub(super) fn push(&mut self, c: char) {
        match sort(c) {
            // A letter of another script is about one piece.
            CharacterRunKind::Letters if u32::from(c) > 0x24f => {
                self.close();
                self.tenths = self.tenths.saturating_add(ONE);
            }
            CharacterRunKind::Letters => {
                self.tenths = self.tenths.saturating_add(number(self.digits));
                self.digits = 0;
                self.letters += 1;
            }
            CharacterRunKind::Digits => {
                self.tenths = self.tenths.saturating_add(word(self.letters, self.language));
                self.letters = 0;
                self.digits += 1;
            }
            CharacterRunKind::Sign => {
                self.close();
                // The model splits a Korean syllable into its letters.
                self.tenths = self.tenths.saturating_add(if is_hangul(c) { 2 * ONE } else { ONE });
            }
            CharacterRunKind::Space => self.close(),
        }
    }

    fn close(&mut self) {
        self.tenths = self.tenths.saturating_add(word(self.letters, self.language) + number(self.digits));
        (self.letters, self.digits) = (0, 0);
    }

    /// Returns the number of pieces so far, rounded up.
    pub(super) fn pieces(&self) -> u32 {
        let open = word(self.letters, self.language) + number(self.digits);
        self.tenths.saturating_add(open).div_ceil(ONE)
    }
}

fn word(letters: u32, language: TextLanguage) -> u32 {
    let in_english = match BY_LETTERS.get(letters as usize) {
        Some(tenths) => *tenths,
        None => (letters - 5) * 4,
    };
    match language {
        TextLanguage::English => in_english,
        TextLanguage::Other => in_english.max(4 * letters).max(if letters > 0 { ONE } else { 0 }),
    }
}

fn number(digits: u32) -> u32 {
    match digits {
        0 => 0,
        1..=2 => ONE,
        3..=4 => 13,
        _ => digits * ONE - 25,
    }
}

/// Returns the number of pieces in a text, at least one.
pub(super) fn pieces(text: &str, language: TextLanguage) -> u32 {
    let mut counter = PieceCounter::new(language);
    for c in text.chars() {
        counter.push(c);
    }
    counter.pieces().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The true counts come from the model's own tokenizer.
    #[test]
    fn the_guess_is_near_the_truth() {
        for (text, truth) in [
            ("fn main() { let x_y = foo.bar(1, 2); }", 21),
            ("https://example.com/a/b-c?x=1", 17),
            ("Съешь ещё этих мягких французских булок", 33),
            ("東京都に住んでいます", 10),
            ("안녕하세요 세계", 13),
        ] {
            let guess = pieces(text, TextLanguage::English);
            assert!((truth * 8 / 10..=truth * 13 / 10).contains(&guess), "{text}: {guess}, not {truth}");
        }
    }

    #[test]
    fn a_text_without_english_stop_words_counts_more() {
        let german = "Der Ausschuss beriet gestern über die Umgehungsstraße und vertagte seine Entscheidung auf die \
                      nächste Sitzung, weil wichtige Gutachten noch fehlten und mehrere Mitglieder verreist waren";
        let english = "The committee talked about the new road yesterday and put off what it should have done to the \
                       next meeting, for a number of reports were not there and some of its members had left";
        assert_eq!(
            (TextLanguage::of(german), TextLanguage::of(english)),
            (TextLanguage::Other, TextLanguage::English)
        );
        assert!(pieces(german, TextLanguage::Other) > pieces(german, TextLanguage::English));
    }
}
