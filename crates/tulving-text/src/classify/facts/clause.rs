//! Splits a sentence into parts with one statement each, and splits each part into words.

use std::ops::Range;

use crate::classify::lexicon::{listed, phrases};

/// A word, as written and as compared. Both words of a contraction ("I'm") have the range of the contraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClauseWord {
    /// The word in lower case, without punctuation around it.
    pub(super) lower: String,
    /// The range of the word in the turn.
    pub(super) place: Range<usize>,
}

/// A part of a sentence with one statement.
#[derive(Clone, Debug)]
pub(super) struct Clause<'a> {
    /// The turn, as written.
    pub(super) turn: &'a str,
    /// The words of the clause, without the words that only introduce the statement.
    pub(super) words: Vec<ClauseWord>,
    /// The start of the clause in the turn, including the introductory words.
    pub(super) start: usize,
    /// The end of the clause in the turn.
    pub(super) end: usize,
    /// True if the speaker asked the agent to remember the statement.
    pub(super) asked: bool,
}

impl<'a> Clause<'a> {
    /// Returns the word at a position, in lower case. Empty if there is no word at the position.
    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.lower.as_str())
    }

    /// Returns the word at a position as written, with the punctuation around it.
    pub(super) fn marked(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| &self.turn[word.place.clone()])
    }

    /// Returns the word at a position as written, without the punctuation around it.
    pub(super) fn written(&self, at: usize) -> &'a str {
        trimmed(self.marked(at))
    }

    /// Returns true if the clause contains these words at a position.
    pub(super) fn says(&self, at: usize, words: &str) -> bool {
        words.split(' ').enumerate().all(|(offset, word)| self.word(at + offset) == word)
    }

    /// Returns the end of the first phrase of the list that occurs at a position.
    pub(super) fn any(&self, at: usize, list: &str) -> Option<usize> {
        let found = phrases(list).find(|phrase| self.says(at, phrase))?;
        Some(at + found.split(' ').count())
    }

    /// Returns true if the clause contains these words.
    pub(super) fn holds(&self, words: &str) -> bool {
        (0..self.words.len()).any(|at| self.says(at, words))
    }

    /// Skips the words of this list from a position on, and returns the position after them.
    pub(super) fn past(&self, mut at: usize, list: &str) -> usize {
        while listed(list, self.word(at)) {
            at += 1;
        }
        at
    }

    /// Returns the range in the turn from a word to the end of the clause.
    pub(super) fn span(&self, from: usize) -> Range<usize> {
        let start = self.words.get(from).map_or(self.end, |word| word.place.start);
        start..self.end.max(start)
    }

    /// Returns the text from a word to the end of the clause.
    pub(super) fn rest(&self, from: usize) -> &'a str {
        trimmed_end(&self.turn[self.span(from)])
    }

    /// Returns the number of words from a position to the end of the clause.
    pub(super) fn left(&self, from: usize) -> usize {
        self.words.len().saturating_sub(from)
    }
}

/// Splits a sentence of a turn into clauses. `own` is the turn, in which everything except the speaker's own words is
/// blanked.
pub(super) fn clauses<'a>(turn: &'a str, own: &str, sentence: Range<usize>) -> Vec<Clause<'a>> {
    let mut all = Vec::new();
    let mut start = sentence.start;
    let said = &own[sentence.clone()];
    for at in cuts(said) {
        all.push(start..sentence.start + at);
        start = sentence.start + at;
    }
    all.push(start..sentence.end);
    let clause = |part: Range<usize>| {
        let words = words(own, part.clone());
        let start = words.first().map_or(part.end, |word| word.place.start);
        let mut clause = Clause { turn, words, start, end: end_of(own, part), asked: false };
        let (first, asked) = opening(&clause);
        clause.words.drain(..first);
        Clause { asked, ..clause }
    };
    all.into_iter().map(clause).filter(|clause| !clause.words.is_empty()).collect()
}

/// Returns the end of a part, without punctuation and remarks at the end.
fn end_of(own: &str, part: Range<usize>) -> usize {
    let mut said = trimmed_end(&own[part.clone()]);
    for aside in phrases(ASIDES) {
        let lower = said.to_lowercase();
        if lower.len() == said.len() && lower.ends_with(aside) {
            said = trimmed_end(&said[..said.len() - aside.len()]);
        }
    }
    let said = said.strip_suffix(" and").or_else(|| said.strip_suffix(" but")).unwrap_or(said);
    part.start + trimmed_end(said).len()
}

/// Remarks that may follow any statement.
const ASIDES: &str = "just so you know, by the way, btw, fyi, for what it's worth";

/// Returns the positions at which a new statement begins.
fn cuts(said: &str) -> Vec<usize> {
    let lower = said.to_lowercase();
    if lower.len() != said.len() {
        return Vec::new();
    }
    let mut cuts: Vec<usize> = Vec::new();
    for joint in [" and ", " but ", ", ", "; ", " — ", " – ", " - ", ": "] {
        for (at, _) in lower.match_indices(joint) {
            let next = &lower[at + joint.len()..];
            let next = next.strip_prefix("and ").or_else(|| next.strip_prefix("but ")).unwrap_or(next);
            let speaker = [
                "i ", "i'm ", "i’m ", "i've ", "i’ve ", "we ", "we're ", "we’re ", "my ", "our ", "please ",
                "let's ",
            ];
            if speaker.iter().any(|word| next.starts_with(word))
                || matches!(joint, "; " | " — " | " – " | " - ")
            {
                cuts.push(at + joint.len());
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Returns the words of a part, in lower case and with contractions split.
fn words(own: &str, part: Range<usize>) -> Vec<ClauseWord> {
    let mut words = Vec::new();
    let mut at = part.start;
    for piece in own[part].split_inclusive(char::is_whitespace) {
        let start = at;
        at += piece.len();
        let bare = trimmed(piece);
        if bare.is_empty() {
            continue;
        }
        let place = start..start + piece.trim_end().len();
        let lower = bare.to_lowercase().replace('’', "'");
        words.extend(apart(&lower).into_iter().map(|lower| ClauseWord { lower, place: place.clone() }));
    }
    words
}

/// Splits a contraction.
fn apart(word: &str) -> Vec<String> {
    let whole = |first: &str, second: &str| vec![first.to_owned(), second.to_owned()];
    match word {
        "i'm" | "im" => return whole("i", "am"),
        "can't" | "cannot" => return whole("can", "not"),
        "won't" => return whole("will", "not"),
        "let's" => return whole("let", "us"),
        "name's" => return whole("name", "is"),
        "dont" => return whole("do", "not"),
        _ => {}
    }
    for (ending, meant) in [("'ve", "have"), ("'re", "are"), ("'ll", "will"), ("n't", "not")] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| !stem.is_empty()) {
            return whole(stem, meant);
        }
    }
    match word.strip_suffix("'d") {
        Some(stem) if listed("i we you he she they it", stem) => return whole(stem, "would"),
        _ => {}
    }
    match word.strip_suffix("'s") {
        Some(stem) if listed("it he she that there here what who where how", stem) => whole(stem, "is"),
        _ => vec![word.to_owned()],
    }
}

/// Returns the number of introductory words of a clause, and true if these words ask the agent to remember the
/// statement.
fn opening(clause: &Clause<'_>) -> (usize, bool) {
    let (mut at, mut asked) = (0, false);
    loop {
        let wanted = |next: &usize| !listed("to when how what who this it me", clause.word(*next));
        if let Some(next) = clause.any(at, ASKING).filter(wanted) {
            (at, asked) = (next, true);
        } else if let Some(next) = clause.any(at, OPENING) {
            at = next;
        } else {
            return (at, asked);
        }
    }
}

const ASKING: &str = "\
    please remember that, remember that, please note that, note that, do not forget that, keep in mind that, \
    bear in mind that, remember, for your memory";

const OPENING: &str = "\
    just so you know, so you know, for the record, for context, for reference, by the way, as you know, \
    as i said, nice to meet you, to be clear, to be honest, hi there, hello there, hey there, good morning, \
    good evening, after all, in general, in the end, from now on, first of all, hi, hello, hey, btw, fyi, ok, \
    okay, alright, so, well, and, but, also, oh, yes, yeah, no, honestly, frankly, personally, actually, \
    basically, anyway, right, sure, great, thanks";

fn is_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '.' | ','
                | ';'
                | ':'
                | '!'
                | '?'
                | '…'
                | '('
                | ')'
                | '['
                | ']'
                | '"'
                | '“'
                | '”'
                | '`'
                | '*'
                | '\''
                | '’'
                | '-'
                | '—'
                | '–'
        )
}

/// Removes the punctuation around a piece. A path keeps its first symbol, as in `./src` or `~/dev`.
fn trimmed(piece: &str) -> &str {
    trimmed_end(piece).trim_start_matches(|c: char| is_mark(c) && c != '.' && c != '-')
}

fn trimmed_end(piece: &str) -> &str {
    piece.trim_end_matches(is_mark)
}

/// Splits a piece into the marks before its word, the word, and the marks and white space after it.
pub(super) fn around(piece: &str) -> (&str, &str, &str) {
    let is_mark = |c: char| !c.is_alphanumeric();
    let (rest, closing) = piece.split_at(piece.trim_end_matches(is_mark).len());
    let (opening, word) = rest.split_at(rest.len() - rest.trim_start_matches(is_mark).len());
    (opening, word, closing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(turn: &str) -> Vec<String> {
        let all = clauses(turn, turn, 0..turn.len());
        all.iter().map(|clause| clause.rest(0).to_owned()).collect()
    }

    #[test]
    fn a_sentence_is_cut_where_its_speaker_goes_on() {
        assert_eq!(described("Hi, I'm a translator and I use a Mac."), ["I'm a translator", "I use a Mac"]);
        assert_eq!(described("I love hiking, and I enjoy tea"), ["I love hiking", "I enjoy tea"]);
        assert_eq!(described("I like tea and cake, btw"), ["I like tea and cake"]);
    }

    #[test]
    fn a_clause_after_a_gap_keeps_its_end() {
        assert_eq!(described("I like tea;  I use Vim"), ["I like tea", "I use Vim"]);
    }

    #[test]
    fn words_that_were_drawn_together_are_taken_apart() {
        let turn = "I don't, we're";
        let all = clauses(turn, turn, 0..turn.len());
        let words: Vec<&str> =
            all.iter().flat_map(|clause| &clause.words).map(|word| word.lower.as_str()).collect();
        assert_eq!(words, ["i", "do", "not", "we", "are"]);
    }
}
