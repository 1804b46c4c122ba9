//! Finds the ends of the sentences in a line.

/// Words that never end a sentence if a dot follows them. "No." counts only before a number.
const ABBREVIATIONS: [&str; 27] = [
    "approx", "capt", "cf", "col", "dr", "e.g", "eg", "fig", "gen", "gov", "hon", "i.e", "ie", "lt", "mr",
    "mrs", "ms", "mt", "nr", "pp", "prof", "rev", "sen", "sgt", "st", "viz", "vs",
];

/// Words with a dot that end a sentence only if a capital follows.
const MAYBE: [&str; 27] = [
    "a.m", "al", "apr", "aug", "ave", "co", "corp", "dec", "dept", "est", "etc", "feb", "inc", "jan", "jr",
    "jul", "jun", "ltd", "mar", "nov", "oct", "p.m", "sep", "sept", "sr", "u.k", "u.s",
];

/// Maximum length of a word that is looked up, in bytes.
const WORD_BYTES: usize = 8;

/// Calls `give` with the end of each sentence except the last. The line may consist of several wrapped lines.
pub(super) fn ends(line: &str, mut give: impl FnMut(usize)) {
    let opening = line.len() - line.trim_start().len();
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !is_terminator(c) {
            continue;
        }
        let mut mark = SentenceEndMark {
            at,
            dots: usize::from(c == '.'),
            soft: is_soft(c),
            wide: is_wide(c),
            closed: false,
        };
        let mut end = at + c.len_utf8();
        while let Some((next_at, next)) = chars.next_if(|(_, c)| is_terminator(*c) || is_closer(*c)) {
            mark.closed |= is_closer(next);
            mark.soft &= is_soft(next) || is_closer(next);
            mark.wide |= is_wide(next);
            mark.dots += usize::from(next == '.');
            end = next_at + next.len_utf8();
        }
        if end < line.len() && mark.ends_sentence(line, opening, &line[end..]) {
            give(end);
        }
    }
}

/// The marks at the possible end of a sentence.
struct SentenceEndMark {
    /// The position of the first mark.
    at: usize,
    /// Number of dots.
    dots: usize,
    /// True if all marks are dots of any kind. Dots do not always end a sentence.
    soft: bool,
    /// True if one of the marks belongs to a script without spaces after it.
    wide: bool,
    /// True if a quote or bracket is closed after the marks.
    closed: bool,
}

impl SentenceEndMark {
    /// Returns true if the marks end a sentence in a line that begins at `opening` and continues with `after`.
    fn ends_sentence(&self, line: &str, opening: usize, after: &str) -> bool {
        if self.wide {
            return true;
        }
        if !after.starts_with(char::is_whitespace) {
            return false;
        }
        let Some(next) = after.trim_start().chars().next() else { return false };
        let goes_on = next.is_lowercase();
        if self.closed && goes_on {
            return false;
        }
        if !self.soft {
            return true;
        }
        match self.dots {
            1 if !self.closed => !is_short_form(&line[opening..self.at], next),
            1 => true,
            // Several dots are an ellipsis.
            _ => !goes_on,
        }
    }
}

/// Returns true if the dot after `before`, which is the line up to the dot, belongs to an abbreviation, an initial or a
/// list number: "Dr.", "J.", "1.".
fn is_short_form(before: &str, next: char) -> bool {
    let window = before.len().saturating_sub(WORD_BYTES + 4);
    let window = (window..=before.len()).find(|at| before.is_char_boundary(*at)).unwrap_or(before.len());
    let tail = &before[window..];
    let word =
        tail.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“')).next().unwrap_or(tail);
    let opens_line = before.len() == word.len();
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (Some(only), None) if only.is_uppercase() => return only != 'I',
        (Some(only), None) if only.is_alphabetic() && opens_line => return true,
        _ => {}
    }
    if opens_line && !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    if word.len() > WORD_BYTES {
        return false;
    }
    let word = word.to_ascii_lowercase();
    match word.as_str() {
        "no" => next.is_ascii_digit(),
        word if ABBREVIATIONS.binary_search(&word).is_ok() => true,
        word => MAYBE.binary_search(&word).is_ok() && !next.is_uppercase(),
    }
}

fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '॥' | '‼' | '⁇' | '⁈' | '⁉') || is_wide(c)
}

fn is_wide(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡')
}

fn is_soft(c: char) -> bool {
    matches!(c, '.' | '…')
}

fn is_closer(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '」' | '』' | '）' | '*' | '_' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        assert!(ABBREVIATIONS.is_sorted() && MAYBE.is_sorted());
    }
}
