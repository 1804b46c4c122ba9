//! Cuts text into the pieces of a Unigram model, as SentencePiece and the tokenizers of the XLM-R family do.
//!
//! The text is normalised, cut at spaces, and each part is cut into the pieces with the highest sum of scores (Viterbi). The
//! ids equal those of Hugging Face's `tokenizers` library.

mod charsmap;
mod pieces;

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

pub(crate) use self::charsmap::CharsMap;
pub(crate) use self::pieces::UnigramPieces;

/// A tokenizer with a Unigram model.
pub(crate) struct UnigramTokenizer {
    pub(crate) pieces: UnigramPieces,
    pub(crate) normalizers: Vec<NormalizerStep>,
    pub(crate) splits: Vec<SplitStep>,
    /// Tokens that a text may contain literally.
    pub(crate) added: Vec<LiteralToken>,
    /// The ids at the start of every text.
    pub(crate) begin: Vec<u32>,
    /// The ids at the end of every text.
    pub(crate) end: Vec<u32>,
}

/// A token that is searched for in the original text.
#[derive(Clone, Debug)]
pub(crate) struct LiteralToken {
    pub(crate) content: String,
    pub(crate) id: u32,
    /// True if the token includes the white space before it.
    pub(crate) strips_left: bool,
    /// True if the token includes the white space after it.
    pub(crate) strips_right: bool,
}

/// One change of a text before it is cut.
#[derive(Debug)]
pub(crate) enum NormalizerStep {
    /// Replaces characters by the rules of SentencePiece.
    CharsMap(CharsMap),
    /// A normal form of Unicode.
    Form(UnicodeForm),
    Lowercase,
    /// Removes white space at the ends.
    Strip {
        left: bool,
        right: bool,
    },
    /// Replaces a text.
    Replace {
        text: String,
        by: String,
    },
    /// Replaces two or more spaces.
    ReplaceSpaces {
        by: String,
    },
}

/// A normal form of Unicode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnicodeForm {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

/// One way to cut a text into parts. Pieces never extend over two parts.
#[derive(Debug)]
pub(crate) enum SplitStep {
    /// Cuts at white space, which is removed.
    Whitespace,
    /// Replaces each space by a mark and cuts before each mark.
    Metaspace { mark: char, prepend: PrependMark, cuts: bool },
}

/// The parts that get a mark at their start, if they do not begin with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrependMark {
    Always,
    /// The part at the start of the text.
    First,
    Never,
}

impl UnigramTokenizer {
    /// Returns the ids of a text between the ids at the start and the end, at most `most` ids in total.
    pub(crate) fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let room = most.saturating_sub(self.end.len());
        let mut ids = self.begin.clone();
        let mut rest = text;
        while ids.len() < room && !rest.is_empty() {
            let (plain, token, after) = self.split_at_added(rest);
            if !plain.is_empty() {
                self.encode_plain(plain, rest.len() == text.len(), room, &mut ids);
            }
            ids.extend(token);
            rest = after;
        }
        ids.truncate(room);
        ids.extend(&self.end);
        ids
    }

    fn encode_plain(&self, text: &str, first: bool, room: usize, ids: &mut Vec<u32>) {
        let normal = self.normalizers.iter().fold(Cow::Borrowed(text), |text, step| step.apply(&text).into());
        if normal.is_empty() {
            return;
        }
        let mut parts = vec![normal.into_owned()];
        for step in &self.splits {
            let cut = |(at, part): (usize, &String)| step.cut(part, first && at == 0);
            parts = parts.iter().enumerate().flat_map(cut).filter(|part| !part.is_empty()).collect();
        }
        for part in parts {
            if ids.len() >= room {
                return;
            }
            self.pieces.encode(&part, ids);
        }
    }

    /// Splits a text at its first added token: the part before it, the token, and the part after it.
    fn split_at_added<'a>(&self, text: &'a str) -> (&'a str, Option<u32>, &'a str) {
        let begins = |char: char| self.added.iter().any(|token| token.content.starts_with(char));
        for (at, _) in text.match_indices(begins) {
            let here = self.added.iter().filter(|token| text[at..].starts_with(&token.content));
            if let Some(token) = here.max_by_key(|token| token.content.len()) {
                let (mut before, mut after) = (&text[..at], &text[at + token.content.len()..]);
                if token.strips_left {
                    before = before.trim_end();
                }
                if token.strips_right {
                    after = after.trim_start();
                }
                return (before, Some(token.id), after);
            }
        }
        (text, None, "")
    }
}

impl NormalizerStep {
    fn apply(&self, text: &str) -> String {
        match self {
            Self::CharsMap(map) => map.apply(text),
            Self::Form(UnicodeForm::Nfc) => text.nfc().collect(),
            Self::Form(UnicodeForm::Nfd) => text.nfd().collect(),
            Self::Form(UnicodeForm::Nfkc) => text.nfkc().collect(),
            Self::Form(UnicodeForm::Nfkd) => text.nfkd().collect(),
            // `str::to_lowercase` is not used, because it changes the last sigma of a Greek word.
            Self::Lowercase => text.chars().flat_map(char::to_lowercase).collect(),
            Self::Strip { left, right } => {
                let text = if *left { text.trim_start() } else { text };
                if *right { text.trim_end() } else { text }.to_owned()
            }
            Self::Replace { text: old, by } => text.replace(old.as_str(), by),
            Self::ReplaceSpaces { by } => replace_spaces(text, by),
        }
    }
}

/// Replaces each run of two or more spaces.
fn replace_spaces(text: &str, by: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("  ") {
        replaced.push_str(&rest[..at]);
        replaced.push_str(by);
        rest = rest[at..].trim_start_matches(' ');
    }
    replaced.push_str(rest);
    replaced
}

impl SplitStep {
    /// Cuts a part. `first` is true for the part at the start of the text.
    fn cut(&self, part: &str, first: bool) -> Vec<String> {
        match *self {
            Self::Whitespace => part.split_whitespace().map(str::to_owned).collect(),
            Self::Metaspace { mark, prepend, cuts } => {
                let mut marked = part.replace(' ', mark.encode_utf8(&mut [0; 4]));
                let wanted = prepend == PrependMark::Always || (prepend == PrependMark::First && first);
                if wanted && !marked.starts_with(mark) {
                    marked.insert(0, mark);
                }
                if cuts { cut_before(&marked, mark) } else { vec![marked] }
            }
        }
    }
}

/// Cuts a text before each mark.
fn cut_before(text: &str, mark: char) -> Vec<String> {
    let mut starts: Vec<usize> = text.match_indices(mark).map(|(at, _)| at).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_replaced_in_runs() {
        assert_eq!(replace_spaces("a  b c     d", " "), "a b c d");
        assert_eq!(replace_spaces("   ", "_"), "_");
        assert_eq!(replace_spaces(" a ", "_"), " a ");
    }

    #[test]
    fn marks_begin_the_parts() {
        let step = SplitStep::Metaspace { mark: '▁', prepend: PrependMark::First, cuts: true };
        assert_eq!(step.cut("a  bc ", true), ["▁a", "▁", "▁bc", "▁"]);
        assert_eq!(step.cut("a", false), ["a"]);
        let whole = SplitStep::Metaspace { mark: '▁', prepend: PrependMark::Always, cuts: false };
        assert_eq!(whole.cut("a b", false), ["▁a▁b"]);
    }
}
