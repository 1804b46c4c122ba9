//! The words and values of a statement, in the form in which statements are compared.
//!
//! A value has one form, regardless of how it is written: `6 pm` is `18:00`, `May 3rd` is `3 May`, `five` is `5`. Words
//! that do not change the meaning are removed.

use rust_stemmers::{Algorithm, Stemmer};

use super::words;
use crate::classify::lexicon::listed;
use crate::secrets::REDACTED;
use crate::when::{MONTHS, WEEKDAYS};

/// A word or a value.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    /// The form for comparison: a stem, or the normalized form of a value.
    pub(super) form: String,
    /// The original text in lower case.
    pub(super) lower: String,
    /// The original text.
    pub(super) shown: String,
    /// The kind of the lexeme.
    pub(super) kind: LexemeKind,
    /// True if the lexeme begins with a capital.
    pub(super) capital: bool,
    /// True if `a` or `an` precedes the lexeme.
    pub(super) indefinite: bool,
}

/// The kind of a word or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexemeKind {
    /// A word.
    Word,
    /// A day of the week, or a day relative to today.
    Weekday,
    /// A date, a month or a year.
    Date,
    /// A time of day.
    Time,
    /// A number, or a version.
    Number,
    /// An identifier, an address, a path.
    Code,
    /// A number that names something, such as `#12`.
    Label,
    /// A colon or an equals sign between a name and its value.
    Divider,
    /// The mark that replaces a secret, such as `[redacted: password]`. The original text is unknown.
    Redacted,
}

impl LexemeKind {
    /// Returns true if the kind is a day.
    pub(super) const fn is_day(self) -> bool {
        matches!(self, Self::Weekday | Self::Date)
    }

    /// Returns true if a lexeme of this kind is a value because of its form alone.
    pub(super) const fn is_value(self) -> bool {
        matches!(self, Self::Weekday | Self::Date | Self::Time | Self::Number)
    }
}

impl Lexeme {
    fn new(kind: LexemeKind, form: impl Into<String>, shown: &str) -> Self {
        let capital = shown.starts_with(char::is_uppercase);
        let (lower, shown) = (shown.to_lowercase(), shown.to_owned());
        Self { form: form.into(), lower, shown, kind, capital, indefinite: false }
    }

    /// Returns true if the lexeme is a word of this list.
    pub(super) fn is(&self, list: &str) -> bool {
        self.kind == LexemeKind::Word && listed(list, &self.lower)
    }

    /// Returns the value of the lexeme, if it is a whole number.
    fn whole(&self) -> Option<u32> {
        (self.kind == LexemeKind::Number).then(|| self.form.parse().ok()).flatten()
    }
}

/// Returns the lexemes of one sentence, and the number of negations.
pub(super) fn lexemes(sentence: &str) -> (Vec<Lexeme>, usize) {
    let mut reader = LexemeReader { stemmer: Stemmer::create(Algorithm::English), found: Vec::new() };
    let mut rest = sentence;
    while let Some((before, (kind, after))) =
        rest.split_once(REDACTED).and_then(|(before, after)| Some((before, after.split_once(']')?)))
    {
        reader.take_in_all(before);
        reader.value(LexemeKind::Redacted, kind, &format!("{REDACTED}{kind}]"));
        rest = after;
    }
    reader.take_in_all(rest);
    let dated = dates(&reader.found);
    let (described, negations) = without_negations(dated);
    (without_fillers(described), negations)
}

struct LexemeReader {
    stemmer: Stemmer,
    found: Vec<Lexeme>,
}

impl LexemeReader {
    fn take_in_all(&mut self, text: &str) {
        // The text after the equals sign is a redaction mark, which is read separately.
        let (text, divides) = text.strip_suffix('=').map_or((text, false), |text| (text, true));
        text.split_whitespace().for_each(|piece| self.take_in(piece));
        if divides {
            self.divide("=");
        }
    }

    fn take_in(&mut self, piece: &str) {
        if let Some((name, value)) = piece.split_once('=').filter(|(name, value)| {
            !name.is_empty() && !value.is_empty() && !name.contains(['/', '?']) && !value.starts_with('=')
        }) {
            self.take_in(name);
            self.divide(piece);
            self.take_in(value);
            return;
        }
        let opened = piece.trim_start_matches(['(', '[', '"', '\'', '“', '„', '‘', '«', '`', '*']);
        let bare = opened.trim_end_matches([
            '.', ',', ';', '!', '?', ')', ']', '"', '\'', '”', '’', '“', '»', '`', '*', ':',
        ]);
        if bare == "=" || (bare.is_empty() && opened.contains(':')) {
            return self.divide(piece);
        }
        self.read(bare);
        if opened[bare.len()..].contains(':') {
            self.divide(piece);
        }
    }

    fn divide(&mut self, piece: &str) {
        self.found.push(Lexeme::new(LexemeKind::Divider, ":", piece));
    }

    fn word(&mut self, shown: &str) {
        let lower = shown.to_lowercase();
        let form = self.stemmer.stem(&lower).into_owned();
        self.found.push(Lexeme::new(LexemeKind::Word, form, shown));
    }

    fn unit(&mut self, unit: &'static str, shown: &str) {
        self.found.push(Lexeme { capital: false, ..Lexeme::new(LexemeKind::Word, unit, shown) });
    }

    fn value(&mut self, kind: LexemeKind, form: impl Into<String>, shown: &str) {
        self.found.push(Lexeme::new(kind, form, shown));
    }

    fn read(&mut self, bare: &str) {
        let Some(first) = bare.chars().next() else { return };
        if !bare.contains(char::is_alphanumeric) && words::unit(bare).is_none() {
            return;
        }
        let lower = bare.to_lowercase().replace('’', "'");
        if let Some(verb) =
            lower.strip_suffix("n't").or_else(|| lower.strip_suffix("not").filter(|v| *v == "can"))
        {
            self.word(match verb {
                "ca" => "can",
                "wo" => "will",
                other => other,
            });
            return self.word("not");
        }
        if let Some(unit) = words::unit(&first.to_string()).filter(|_| "€$£".contains(first)) {
            self.number(&bare[first.len_utf8()..]);
            return self.unit(unit, &first.to_string());
        }
        if first == '#' && bare[1..].starts_with(|c: char| c.is_ascii_digit()) {
            return self.value(LexemeKind::Label, bare, bare);
        }
        if first.is_ascii_digit() || version(&lower).is_some() {
            return self.number(bare);
        }
        if let Some(number) = words::NUMBERS.iter().position(|number| *number == lower) {
            return self.value(LexemeKind::Number, number.to_string(), bare);
        }
        if let Some(day) = weekday(&lower) {
            return self.value(LexemeKind::Weekday, day, bare);
        }
        match lower.as_str() {
            "noon" => self.value(LexemeKind::Time, "12:00", bare),
            "midnight" => self.value(LexemeKind::Time, "00:00", bare),
            "once" | "twice" => {
                self.value(LexemeKind::Number, if lower == "once" { "1" } else { "2" }, bare);
                self.word("times");
            }
            _ => match words::unit(&lower)
                .filter(|_| lower.len() > 1 || !lower.starts_with(char::is_alphabetic))
            {
                Some(unit) => self.unit(unit, bare),
                None if is_code(bare) => self.value(LexemeKind::Code, lower, bare),
                None => self.word(bare),
            },
        }
    }

    /// Reads a piece that begins with a digit, or with a `v` before a digit.
    fn number(&mut self, bare: &str) {
        let lower = bare.to_lowercase();
        if let Some(time) = clock(&lower) {
            return self.value(LexemeKind::Time, time, bare);
        }
        if let Some(date) = numeric_date(&lower) {
            return self.value(LexemeKind::Date, date, bare);
        }
        if let Some(version) = version(&lower) {
            return self.value(LexemeKind::Number, version, bare);
        }
        let digits =
            lower.len() - lower.trim_start_matches(|c: char| c.is_ascii_digit() || ",.".contains(c)).len();
        let (amount, rest) = lower.split_at(digits);
        let amount = amount.trim_end_matches([',', '.']);
        let Some(amount) = plain_number(amount) else {
            return self.value(LexemeKind::Code, lower, bare);
        };
        match rest {
            "" | "st" | "nd" | "rd" | "th" => self.value(LexemeKind::Number, amount, bare),
            _ => match words::unit(rest) {
                Some(unit) => {
                    self.value(LexemeKind::Number, amount, bare);
                    self.unit(unit, "");
                }
                None => self.value(LexemeKind::Code, lower, bare),
            },
        }
    }
}

/// Returns the name of a weekday, in the singular. Days relative to today count as weekdays.
fn weekday(lower: &str) -> Option<&str> {
    if matches!(lower, "today" | "tomorrow" | "tonight" | "yesterday") {
        return Some(lower);
    }
    let one = lower.strip_suffix('s').unwrap_or(lower);
    WEEKDAYS.iter().copied().find(|day| *day == lower || *day == one)
}

/// Returns true if a piece is an identifier, a path or an address, not a word.
fn is_code(bare: &str) -> bool {
    bare.contains(|c: char| c.is_ascii_digit()) || bare.contains(['_', '@', '\\']) || {
        let inner = bare.trim_start_matches(['.', '/', '~']).trim_end_matches(['.', '/']);
        inner.len() < bare.len() || inner.contains(['/', '.'])
    }
}

/// Returns a version number without a leading `v`: `1.2` for `v1.2`, and `1.2.3` unchanged.
fn version(lower: &str) -> Option<String> {
    let bare = lower.strip_prefix('v').unwrap_or(lower);
    let numbers: Vec<&str> = bare.split('.').collect();
    let all = numbers.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (all && (bare.len() < lower.len() || numbers.len() > 2)).then(|| bare.to_owned())
}

/// Returns `18:00` for `18:00`, `6pm` and `6:00pm`.
fn clock(lower: &str) -> Option<String> {
    let (bare, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(bare), _) => (bare, Some(0)),
        (_, Some(bare)) => (bare, Some(12)),
        _ => (lower, None),
    };
    let (hour, minute) = match bare.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour, minute),
        None if half.is_some() => (bare, "0"),
        _ => return None,
    };
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = half.map_or(hour, |half| hour % 12 + half);
    (hour < 25 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

/// Formats a date for comparison. Unknown parts are `?`.
fn date(year: Option<u32>, month: Option<u32>, day: Option<u32>) -> String {
    let part = |part: Option<u32>| part.map_or_else(|| "?".to_owned(), |part| part.to_string());
    format!("{}-{}-{}", part(year), part(month), part(day))
}

/// Reads `2026-05-03`, `3.5.2026` and `3/5/2026`.
fn numeric_date(lower: &str) -> Option<String> {
    let parts: Vec<&str> = lower.split(['-', '.', '/']).collect();
    let [one, two, three] = parts[..] else { return None };
    let (a, b, c): (u32, u32, u32) = (one.parse().ok()?, two.parse().ok()?, three.parse().ok()?);
    match (one.len(), three.len()) {
        (4, 1 | 2) if b < 13 && c < 32 => Some(date(Some(a), Some(b), Some(c))),
        (1 | 2, 4) if a < 32 && b < 32 => Some(date(Some(c), Some(b), Some(a))),
        _ => None,
    }
}

/// Returns a number without thousands separators.
fn plain_number(amount: &str) -> Option<String> {
    let (whole, parts) = amount.split_once(',').map_or((amount, None), |(whole, rest)| (whole, Some(rest)));
    let joined = match parts {
        None => amount.to_owned(),
        Some(rest)
            if rest.split(',').all(|part| part.split('.').next().is_some_and(|part| part.len() == 3)) =>
        {
            amount.replace(',', "")
        }
        // The comma is a decimal comma.
        Some(rest) if !rest.contains([',', '.']) => format!("{whole}.{rest}"),
        Some(_) => return None,
    };
    let dots = joined.matches('.').count();
    (dots < 2 && !joined.is_empty()).then_some(joined)
}

/// Returns the number of the month that a word means, counted from 1. Returns `None` if the word does not mean a month.
fn month(lexeme: &Lexeme) -> Option<u32> {
    if lexeme.kind != LexemeKind::Word || !lexeme.capital {
        return None;
    }
    let short = |name: &&str| lexeme.lower.len() == 3 && name.starts_with(lexeme.lower.as_str());
    let at = MONTHS.iter().position(|name| *name == lexeme.lower || short(name))?;
    u32::try_from(at + 1).ok()
}

/// Joins the lexemes of each date and each time into one lexeme.
fn dates(all: &[Lexeme]) -> Vec<Lexeme> {
    let mut found: Vec<Lexeme> = Vec::with_capacity(all.len());
    let mut at = 0;
    while let Some(lexeme) = all.get(at) {
        let before = found.last();
        let (form, kind, taken) = match dated(before, &all[at..]) {
            Some(found) => found,
            None => {
                found.push(lexeme.clone());
                at += 1;
                continue;
            }
        };
        let shown: Vec<&str> = all[at..at + taken].iter().map(|one| one.shown.as_str()).collect();
        found.push(Lexeme::new(kind, form, &shown.join(" ")));
        at += taken;
    }
    found
}

/// Returns the date or time at the beginning of the lexemes, and the number of lexemes that it takes.
fn dated(before: Option<&Lexeme>, rest: &[Lexeme]) -> Option<(String, LexemeKind, usize)> {
    let first = rest.first()?;
    let day = |lexeme: &Lexeme| lexeme.whole().filter(|day| (1..32).contains(day));
    let year = |at: usize| {
        rest.get(at)
            .and_then(|one| one.whole().filter(|year| (1900..2100).contains(year) && one.form.len() == 4))
    };
    let after = |word: &str| rest.get(1).is_some_and(|next| next.lower.replace('.', "") == word);
    if let Some(hour) = first.whole().filter(|hour| *hour < 13)
        && (after("am") || after("pm"))
    {
        let half = if after("pm") { 12 } else { 0 };
        return Some((format!("{:02}:00", hour % 12 + half), LexemeKind::Time, 2));
    }
    if first.kind == LexemeKind::Time && (after("am") || after("pm")) {
        let time = clock(&format!("{}{}", first.form, if after("pm") { "pm" } else { "am" }))?;
        return Some((time, LexemeKind::Time, 2));
    }
    if let Some(number) = day(first) {
        let of = usize::from(rest.get(1).is_some_and(|next| next.lower == "of"));
        if let Some(month) = rest.get(1 + of).and_then(month) {
            let year = year(2 + of);
            let taken = 2 + of + usize::from(year.is_some());
            return Some((date(year, Some(month), Some(number)), LexemeKind::Date, taken));
        }
    }
    if let Some(month) = month(first) {
        let day = rest.get(1).and_then(day);
        let next = 1 + usize::from(day.is_some());
        let year = year(next);
        let led = before
            .is_some_and(|before| before.is("in by until since of end early late next last from for to"));
        // "May" and "March" also have other meanings.
        if day.is_some() || year.is_some() || led || !first.is("may march mar") {
            return Some((
                date(year, Some(month), day),
                LexemeKind::Date,
                next + usize::from(year.is_some()),
            ));
        }
    }
    let led = before.is_some_and(|before| before.is("in since until by from of"));
    year(0).filter(|_| led).map(|year| (date(Some(year), None, None), LexemeKind::Date, 1))
}

/// Removes the negations, and returns their number.
fn without_negations(all: Vec<Lexeme>) -> (Vec<Lexeme>, usize) {
    let mut described: Vec<Lexeme> = Vec::with_capacity(all.len());
    let mut negations = 0;
    for lexeme in all {
        if lexeme.is(words::NEGATIONS) && !described.is_empty() {
            negations += 1;
            // "does not eat" is the opposite of "eats".
            if described.last().is_some_and(|last| last.is("do does did")) {
                described.pop();
            }
            continue;
        }
        if negations > 0 && lexeme.is("longer anymore more") && lexeme.lower != "more" {
            continue;
        }
        described.push(lexeme);
    }
    (described, negations)
}

/// Removes words that do not change the meaning.
fn without_fillers(all: Vec<Lexeme>) -> Vec<Lexeme> {
    let mut described: Vec<Lexeme> = Vec::with_capacity(all.len());
    let mut indefinite = false;
    for lexeme in all {
        if lexeme.is(words::FILLERS) || (lexeme.lower == "new" && !lexeme.capital) {
            indefinite = lexeme.is("a an");
            continue;
        }
        if lexeme.kind.is_day() || lexeme.kind == LexemeKind::Time {
            while described.len() > 1 && described.last().is_some_and(|last| last.is(words::BEFORE_TIMES)) {
                described.pop();
            }
        }
        described.push(Lexeme { indefinite, ..lexeme });
        indefinite = false;
    }
    described
}
