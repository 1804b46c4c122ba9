//! Splits a text into words, prepared for the search for orders: in lower case, without hidden characters, and
//! identified by number.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::phrase;
use crate::visible;

/// Maximum length of a word that can be recognized, in bytes.
const LONGEST: usize = 24;

/// The number of a word that a phrase uses. All other words have the number 0.
pub(super) type WordNumber = u16;

/// The separator before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordGap {
    /// A space, or no separator.
    Blank,
    /// A punctuation mark or the beginning of a line: an order may follow.
    Clause,
    /// The end of a sentence: no phrase continues after this separator.
    Sentence,
}

/// A word.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberedWord {
    /// The offset of the word's first byte.
    pub(super) start: usize,
    /// The offset after the word's last byte.
    pub(super) end: usize,
    /// The number of the word.
    pub(super) number: WordNumber,
    /// The separator before the word.
    pub(super) gap: WordGap,
}

/// The words of a text.
pub(super) struct NumberedWords<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// The words of the text, in order.
    pub(super) all: Vec<NumberedWord>,
}

impl<'a> NumberedWords<'a> {
    /// Splits the text into words.
    pub(super) fn of(text: &'a str) -> Self {
        let mut all = Vec::new();
        // One buffer is shared by all words, because most words are only looked up and not stored.
        let (mut word, mut open) = (String::new(), None::<(usize, usize)>);
        let mut gap = WordGap::Sentence;
        let mut between = SeparatorState::default();
        for (at, c) in text.char_indices() {
            if visible::is_hidden(c) {
                continue;
            }
            if c.is_alphanumeric() {
                let (_, end) = open.get_or_insert((at, at));
                *end = at + c.len_utf8();
                if word.len() <= LONGEST {
                    push_plain(&mut word, c);
                }
            } else if is_apostrophe(c) && open.is_some() {
                // The apostrophe is within a word or ends a word: `don't`, `users'`.
            } else {
                if let Some(place) = open.take() {
                    all.push(closed(place, &word, std::mem::replace(&mut gap, WordGap::Blank)));
                    word.clear();
                    between = SeparatorState::default();
                }
                gap = gap.max(between.see(c));
            }
        }
        all.extend(open.map(|place| closed(place, &word, gap)));
        Self { text, all }
    }

    /// Returns the indices of the words that begin within this byte range.
    pub(super) fn within(&self, bytes: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.all.partition_point(|word| word.start < at);
        place(bytes.start)..place(bytes.end)
    }
}

fn closed((start, end): (usize, usize), word: &str, gap: WordGap) -> NumberedWord {
    // Phrases use very few words, and the filter excludes most other words by their first bytes.
    let number = if BEGINNINGS.has(word) { NUMBERS.get(word).copied().unwrap_or_default() } else { 0 };
    NumberedWord { start, end, number, gap }
}

/// A filter with a bit for the first two bytes and the length of each word that phrases use.
struct WordPrefixFilter(Vec<u64>);

impl WordPrefixFilter {
    fn place(word: &str) -> usize {
        let byte = |at: usize| word.as_bytes().get(at).map_or(0, |byte| usize::from(*byte));
        (byte(0) * 961 + byte(1) * 31 + word.len()) % BEGINNING_BITS
    }

    fn has(&self, word: &str) -> bool {
        let place = Self::place(word);
        self.0[place / 64] >> (place % 64) & 1 == 1
    }
}

const BEGINNING_BITS: usize = 1 << 14;

static BEGINNINGS: LazyLock<WordPrefixFilter> = LazyLock::new(|| {
    let mut bits = vec![0; BEGINNING_BITS / 64];
    for place in NUMBERS.keys().map(|word| WordPrefixFilter::place(word)) {
        bits[place / 64] |= 1 << (place % 64);
    }
    WordPrefixFilter(bits)
});

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// The separators since the last word.
#[derive(Default)]
struct SeparatorState {
    stopped: bool,
    lines: u8,
}

impl SeparatorState {
    fn see(&mut self, c: char) -> WordGap {
        let stopped = std::mem::replace(&mut self.stopped, matches!(c, '.' | '!' | '?' | '。' | '！' | '？'));
        match c {
            '\n' => {
                self.lines = self.lines.saturating_add(1);
                if self.lines > 1 || stopped { WordGap::Sentence } else { WordGap::Clause }
            }
            c if c.is_whitespace() => {
                if stopped {
                    return WordGap::Sentence;
                }
                WordGap::Blank
            }
            '-' | '_' | '/' | '&' | '@' | '+' | '%' | '$' => WordGap::Blank,
            _ => WordGap::Clause,
        }
    }
}

/// Adds a letter in lower case. A letter that looks like a Latin letter is replaced by the Latin letter.
fn push_plain(word: &mut String, c: char) {
    match c {
        'A'..='Z' => word.push(c.to_ascii_lowercase()),
        c if c.is_ascii() => word.push(c),
        '\u{ff00}'..='\u{ffef}'
        | '\u{1d400}'..='\u{1d7ff}'
        | '\u{24b6}'..='\u{24e9}'
        | '\u{2100}'..='\u{214f}' => {
            word.extend(std::iter::once(c).nfkc().flat_map(char::to_lowercase));
        }
        c => match look_alike(c) {
            Some(latin) => word.push(latin),
            None => word.extend(c.to_lowercase()),
        },
    }
}

/// Returns the Latin letter that a Cyrillic or Greek letter looks like.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' => 'a',
        'е' | 'Е' | 'ε' | 'Ε' => 'e',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'с' | 'С' => 'c',
        'у' | 'У' => 'y',
        'х' | 'Х' => 'x',
        'і' | 'І' | 'ι' | 'Ι' => 'i',
        'ѕ' | 'Ѕ' => 's',
        'ј' | 'Ј' => 'j',
        'ν' => 'v',
        _ => return None,
    })
}

/// The numbers of the words that phrases use.
static NUMBERS: LazyLock<HashMap<String, WordNumber>> = LazyLock::new(|| {
    let mut numbers = HashMap::new();
    for word in phrase::vocabulary() {
        let next = WordNumber::try_from(numbers.len() + 1).expect("phrases use few words");
        numbers.entry(plain(word)).or_insert(next);
    }
    numbers
});

/// Returns the number of a word that phrases use.
pub(super) fn number(word: &str) -> WordNumber {
    NUMBERS.get(&plain(word)).copied().unwrap_or_default()
}

fn plain(word: &str) -> String {
    let mut plain = String::new();
    word.chars().for_each(|c| push_plain(&mut plain, c));
    plain
}
