//! The words of a text as orders are looked for in them: in lower case, without what hides in them, known by number.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::phrase;
use crate::text::visible;

/// Longest word that can be known.
const LONGEST: usize = 24;

/// The number of a word that phrases use; 0 is any other word.
pub(super) type Number = u16;

/// What stands before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// A blank, or nothing that parts.
    Blank,
    /// A mark or the beginning of a line: what follows may be an order.
    Clause,
    /// The end of a sentence: nothing goes on after it.
    Sentence,
}

/// One word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Where it begins.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Which word it is.
    pub(super) number: Number,
    /// What stands before it.
    pub(super) gap: Gap,
}

/// The words of a text.
pub(super) struct Words<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// In their order.
    pub(super) all: Vec<Word>,
}

impl<'a> Words<'a> {
    /// The words of this text.
    pub(super) fn of(text: &'a str) -> Self {
        let mut all = Vec::new();
        // One buffer for all of them: most words are looked up and never kept.
        let (mut word, mut open) = (String::new(), None::<(usize, usize)>);
        let mut gap = Gap::Sentence;
        let mut between = Between::default();
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
                // Within a word, or the end of one: `don't`, `users'`.
            } else {
                if let Some(place) = open.take() {
                    all.push(closed(place, &word, std::mem::replace(&mut gap, Gap::Blank)));
                    word.clear();
                    between = Between::default();
                }
                gap = gap.max(between.see(c));
            }
        }
        all.extend(open.map(|place| closed(place, &word, gap)));
        Self { text, all }
    }

    /// The places of the words that begin within these bytes.
    pub(super) fn within(&self, bytes: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.all.partition_point(|word| word.start < at);
        place(bytes.start)..place(bytes.end)
    }
}

fn closed((start, end): (usize, usize), word: &str, gap: Gap) -> Word {
    // Almost no word is one that phrases use, and its beginning tells.
    let number = if BEGINNINGS.has(word) { NUMBERS.get(word).copied().unwrap_or_default() } else { 0 };
    Word { start, end, number, gap }
}

/// A bit for the first two bytes of each word that phrases use, and for how long it is.
struct Beginnings(Vec<u64>);

impl Beginnings {
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

static BEGINNINGS: LazyLock<Beginnings> = LazyLock::new(|| {
    let mut bits = vec![0; BEGINNING_BITS / 64];
    for place in NUMBERS.keys().map(|word| Beginnings::place(word)) {
        bits[place / 64] |= 1 << (place % 64);
    }
    Beginnings(bits)
});

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// What was seen since the last word.
#[derive(Default)]
struct Between {
    stopped: bool,
    lines: u8,
}

impl Between {
    fn see(&mut self, c: char) -> Gap {
        let stopped = std::mem::replace(&mut self.stopped, matches!(c, '.' | '!' | '?' | '。' | '！' | '？'));
        match c {
            '\n' => {
                self.lines = self.lines.saturating_add(1);
                if self.lines > 1 || stopped { Gap::Sentence } else { Gap::Clause }
            }
            c if c.is_whitespace() => {
                if stopped {
                    return Gap::Sentence;
                }
                Gap::Blank
            }
            '-' | '_' | '/' | '&' | '@' | '+' | '%' | '$' => Gap::Blank,
            _ => Gap::Clause,
        }
    }
}

/// Adds a letter in lower case, and one that only looks like a Latin one as that.
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

/// The Latin letter that a Cyrillic or Greek one looks like.
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
static NUMBERS: LazyLock<HashMap<String, Number>> = LazyLock::new(|| {
    let mut numbers = HashMap::new();
    for word in phrase::vocabulary() {
        let next = Number::try_from(numbers.len() + 1).expect("phrases use few words");
        numbers.entry(plain(word)).or_insert(next);
    }
    numbers
});

/// The number of a word that phrases use.
pub(super) fn number(word: &str) -> Number {
    NUMBERS.get(&plain(word)).copied().unwrap_or_default()
}

fn plain(word: &str) -> String {
    let mut plain = String::new();
    word.chars().for_each(|c| push_plain(&mut plain, c));
    plain
}
