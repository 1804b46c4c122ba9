//! Rules of writing systems for the keyword lane: the characters of words, and the marks that can be dropped.

use unicode_normalization::char::{decompose_canonical, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Maximum number of characters of a term. A longer term (encoded data) is cut, both in texts and in questions.
pub(super) const TERM_CHARS: usize = 64;

/// Returns true if a word can begin with this character.
pub(super) fn begins_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() && !is_fraction(c) }
}

/// Returns true if this character can continue a word. Marks and invisible joiners can also continue a word.
pub(super) fn continues_word(c: char) -> bool {
    begins_word(c) || (!c.is_ascii() && (is_joiner(c) || is_combining_mark(c)))
}

/// Returns true if this is an apostrophe.
pub(super) fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{ff07}')
}

/// Returns true for vulgar fractions, whose compatibility form would join two numbers.
fn is_fraction(c: char) -> bool {
    matches!(c, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215f}' | '\u{2189}')
}

/// Returns true for soft hyphens, zero-width joiners and Arabic tatweel, which change the appearance of a word but not
/// its identity.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{640}')
}

/// Returns true if the script has no spaces between words, or, like Hangul, attaches particles to them.
pub(crate) fn is_unspaced(c: char) -> bool {
    is_han(c)
        || is_hangul(c)
        || matches!(c,
        '\u{e00}'..='\u{eff}'            // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}' // Myanmar
        | '\u{1780}'..='\u{17ff}'        // Khmer
        | '\u{3006}' | '\u{3031}'..='\u{3035}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // kana
        | '\u{3105}'..='\u{312f}'        // Bopomofo
        | '\u{ff66}'..='\u{ff9f}'        // half-width kana
        | '\u{1b000}'..='\u{1b16f}')
}

/// Returns true for Chinese characters.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
}

/// Returns true for Korean syllables and their letters.
pub(crate) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{ffa0}'..='\u{ffdc}')
}

/// Returns true for Latin, Greek, Cyrillic and characters of no script. Their marks are accents, which a question may
/// omit. In Indic scripts, marks are vowels and are preserved.
fn drops_marks(c: char) -> bool {
    matches!(c, '\0'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{1d00}'..='\u{1fff}' | '\u{2000}'..='\u{20cf}'
        | '\u{2c60}'..='\u{2c7f}' | '\u{2de0}'..='\u{2dff}' | '\u{a640}'..='\u{a69f}' | '\u{a720}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab6f}')
}

/// Returns true for Arabic and Hebrew vowel points, which most texts omit.
fn is_optional_point(c: char) -> bool {
    matches!(c, '\u{64b}'..='\u{652}' | '\u{670}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}'
        | '\u{5c4}'..='\u{5c5}' | '\u{5c7}')
}

/// Folds a text for comparison: compatibility forms are resolved, letters are in lower case and without accents, and
/// the text is cut to `limit` characters. Punctuation is preserved.
pub(super) fn folded(text: &str, limit: usize) -> String {
    if text.is_ascii() {
        return text[..text.len().min(limit)].to_ascii_lowercase();
    }
    // Twice the limit is read: the second half replaces dropped characters, and the cost of a long run of marks is
    // bounded.
    let near = text.char_indices().nth(limit.saturating_mul(2)).map_or(text, |(at, _)| &text[..at]);
    let fold = TermFolding { out: String::with_capacity(near.len()), room: limit, drops: true };
    match is_nfkc_quick(near.chars()) {
        IsNormalized::Yes => fold.of(near.chars()),
        _ => fold.of(near.nfkc()),
    }
}

struct TermFolding {
    out: String,
    /// Number of characters that still fit.
    room: usize,
    /// True if the marks of the previous letter are dropped.
    drops: bool,
}

impl TermFolding {
    fn of(mut self, chars: impl Iterator<Item = char>) -> String {
        for c in chars {
            self.push(c);
        }
        self.out
    }

    fn push(&mut self, c: char) {
        if is_joiner(c) || is_optional_point(c) {
            return;
        }
        if is_combining_mark(c) {
            if !self.drops {
                self.put(c);
            }
            return;
        }
        self.drops = drops_marks(c);
        if !self.drops {
            self.put(c);
            return;
        }
        for lower in c.to_lowercase() {
            decompose_canonical(lower, |part| {
                if !is_combining_mark(part) {
                    self.put_plain(part);
                }
            });
        }
    }

    /// Replaces letters that Unicode does not decompose with their common spelling in plain letters.
    fn put_plain(&mut self, c: char) {
        let spelled = match c {
            'ß' => "ss",
            'æ' => "ae",
            'œ' => "oe",
            'ø' => "o",
            'đ' | 'ð' => "d",
            'ł' => "l",
            'ı' => "i",
            'þ' => "th",
            'ħ' => "h",
            'ς' => "σ",
            '\u{2019}' | '\u{2bc}' => "'",
            '\u{2010}' | '\u{2011}' => "-",
            c => return self.put(c),
        };
        for c in spelled.chars() {
            self.put(c);
        }
    }

    fn put(&mut self, c: char) {
        if self.room > 0 {
            self.out.push(c);
            self.room -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(text: &str) -> String {
        folded(text, TERM_CHARS)
    }

    #[test]
    fn accents_and_forms_do_not_make_another_word() {
        for (written, compared) in [
            ("Café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("ﬁne", "fine"),
            ("ＡＢＣ１", "abc1"),
            ("Łódź", "lodz"),
            ("Ёлка", "елка"),
            ("Άθήνας", "αθηνασ"),
            ("İstanbul", "istanbul"),
            ("co\u{ad}op", "coop"),
            ("ｶﾞｷﾞ", "ガギ"),
        ] {
            assert_eq!(fold(written), compared, "{written}");
        }
    }

    #[test]
    fn vowel_signs_of_indic_scripts_stay() {
        assert_eq!(fold("हिन्दी"), "हिन्दी");
        assert_ne!(fold("கை"), fold("க"));
        assert_ne!(fold("が"), fold("か"));
    }

    #[test]
    fn vowel_points_of_arabic_and_hebrew_go() {
        assert_eq!(fold("مُحَمَّد"), fold("محمد"));
        assert_eq!(fold("שָׁלוֹם"), fold("שלום"));
    }
}
