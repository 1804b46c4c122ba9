//! Finds the times that a question mentions, and detects questions that ask for a time.
//!
//! Uses English rules on words and numbers. Days are counted in the time zone of the person who asks. An ambiguous word
//! ("may", "march", "second", "2000 people") counts only if its neighbours show that it is a time. Missing a time costs
//! less than inventing one.

mod calendar;
mod input;
mod read;
mod token;
mod vocabulary;

pub use self::input::TimeInput;
use self::token::{TimeToken, TimeTokenKind, tokens};
pub use self::vocabulary::{MONTHS, WEEKDAYS};
use crate::terms;
use crate::time::{Period, Timestamp, Zone};

/// Maximum number of intervals of one question.
const STRETCHES: usize = 8;

/// A time interval, including its first instant and excluding its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionInterval {
    /// The first instant of the interval.
    pub from: Timestamp,
    /// The first instant after the interval.
    pub until: Timestamp,
    /// The end of the period in which people may have mentioned this time. For times relative to the question ("last
    /// month"), it is the end of the day of the question. Otherwise it equals `until`.
    pub mentioned_until: Timestamp,
    /// The days of the interval, including the first and excluding the last. They are compared with times that have
    /// only a day.
    pub days: (Timestamp, Timestamp),
}

impl QuestionInterval {
    /// Returns true if an instant is within the interval.
    pub fn has(&self, at: Timestamp) -> bool {
        self.period().has(at)
    }

    /// Returns the interval without the time at which it was mentioned.
    pub const fn period(&self) -> Period {
        Period { from: self.from, until: self.until, days: self.days }
    }

    /// Returns the range of all instants that may be within the interval.
    pub fn span(&self) -> std::ops::Range<Timestamp> {
        self.from.min(self.days.0)..self.until.max(self.days.1)
    }

    /// Converts the interval from local time to instants of this zone.
    fn in_zone(self, zone: &Zone) -> Self {
        let [from, until, mentioned_until] =
            [self.from, self.until, self.mentioned_until].map(|at| zone.instant(at));
        Self { from, until, mentioned_until, ..self }
    }
}

/// Returns the time intervals that a question names, relative to `now` in a zone, in the order of the question.
///
/// A time without a year means its latest occurrence up to now. If the question has exactly one full date ("last week,
/// as you said on 6 May 2023"), the time means its latest occurrence up to that date. An open end ("since May") extends
/// to the limit of time.
pub fn intervals(question: &str, now: Timestamp, zone: &Zone) -> Vec<QuestionInterval> {
    let Some(today) = calendar::day_of(zone.wall(now)) else { return Vec::new() };
    let tokens = tokens(question);
    let today = read::only_date(&tokens).unwrap_or(today);
    let mut found: Vec<QuestionInterval> = Vec::new();
    for (interval, _) in read::all(&tokens, today) {
        let interval = interval.in_zone(zone);
        if found.len() < STRETCHES && !found.contains(&interval) {
            found.push(interval);
        }
    }
    found
}

/// Returns the time that a text names, if the text names nothing else: "last week", "3 days ago", "the beginning of
/// May".
pub fn named(text: &str, now: Timestamp, zone: &Zone) -> Option<QuestionInterval> {
    let today = calendar::day_of(zone.wall(now))?;
    let tokens = tokens(text);
    let start = usize::from(word_at(&tokens, 0) == "the");
    let (interval, after) = read::one(&tokens, start, today)?;
    (after == tokens.len()).then(|| interval.in_zone(zone))
}

/// Returns true if a question names a time and contains almost no other content: "what happened last week?". Such a
/// question has no other subject.
pub fn asks_of_time_alone(question: &str, now: Timestamp) -> bool {
    let Some(today) = calendar::day_of(now) else { return false };
    let tokens = tokens(question);
    let named = read::all(&tokens, read::only_date(&tokens).unwrap_or(today));
    let is_named = |at: usize| named.iter().any(|(_, places)| places.contains(&at));
    let mut others = (0..tokens.len()).filter(|at| !is_named(*at));
    !named.is_empty() && others.all(|at| tokens[at].number().is_none() && says_nothing(tokens[at].word()))
}

/// A question, split into the times that it names and its other words.
#[derive(Debug, Default)]
pub(crate) struct SplitQuestion {
    /// The words in lower case and in order. A number is represented by its digits. A mark that is not punctuation is
    /// represented by the mark itself.
    pub(crate) words: Vec<String>,
    /// The times, each with its position among the words.
    pub(crate) times: Vec<(QuestionInterval, usize)>,
}

/// Splits a question into times and other words, relative to `now` in a zone.
pub(crate) fn apart(question: &str, now: Timestamp, zone: &Zone) -> SplitQuestion {
    let tokens = tokens(question);
    let today = read::only_date(&tokens).or_else(|| calendar::day_of(zone.wall(now)));
    let named = today.map_or_else(Vec::new, |today| read::all(&tokens, today));
    let mut apart = SplitQuestion::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some((interval, places)) = named.iter().find(|(_, places)| places.start == at) {
            apart.times.push((interval.in_zone(zone), apart.words.len()));
            at = places.end;
            continue;
        }
        match &token.kind {
            TimeTokenKind::Word(word) => apart.words.push(word.clone()),
            TimeTokenKind::Number(number) => apart.words.push(number.value.to_string()),
            TimeTokenKind::Mark('?' | '!' | '.' | ',' | ';' | '-' | '–' | '…') => {}
            TimeTokenKind::Mark(mark) => apart.words.push(mark.to_string()),
        }
        at += 1;
    }
    apart
}

/// Milliseconds of the day on which summer time ends.
const MILLIS_OF_LONGEST_DAY: i64 = 25 * 3_600_000;
/// Words that lead to a time, and say nothing without it.
const LEADS: [&str; 11] = ["in", "on", "at", "from", "since", "during", "over", "the", "of", "until", "by"];

/// Returns a question without the past days that are relative to now, such as "last Monday" and "yesterday", because the
/// texts of that day do not have these words, and texts about other Mondays do. Longer times stay. If the question has no
/// other content, it is not changed.
pub fn without_relative_days(question: &str, now: Timestamp, zone: &Zone) -> String {
    let tokens = tokens(question);
    let Some(today) = calendar::day_of(zone.wall(now)) else { return question.to_owned() };
    let (mut left, mut at) = (String::with_capacity(question.len()), 0);
    for (interval, places) in read::all(&tokens, read::only_date(&tokens).unwrap_or(today)) {
        let is_day = interval.until <= interval.from.plus_millis(MILLIS_OF_LONGEST_DAY);
        if !is_day || interval.mentioned_until <= interval.until {
            continue;
        }
        let mut first = places.start;
        while first > 0 && LEADS.contains(&word_at(&tokens, first - 1)) {
            first -= 1;
        }
        let (from, to) = (tokens[first].range.start, tokens[places.end - 1].range.end);
        if from >= at {
            left.push_str(question[at..from].trim_end());
            at = to;
        }
    }
    left.push_str(&question[at..]);
    let mut words = left.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    match at > 0 && words.any(|word| !says_nothing(&word.to_lowercase())) {
        true => left.trim().to_owned(),
        false => question.to_owned(),
    }
}

/// Returns true if a word only helps to ask what happened.
fn says_nothing(word: &str) -> bool {
    let stem = word.split('\'').next().unwrap_or(word);
    stem.is_empty() || terms::is_stop_word(stem) || vocabulary::asks_for_anything(stem)
}

/// Returns true if a question asks for a time.
pub fn asks_when(question: &str) -> bool {
    let tokens = tokens(question);
    let first = tokens.iter().position(|token| !token.word().is_empty());
    (0..tokens.len()).any(|at| asks_at(&tokens, at, Some(at) == first))
}

fn word_at(tokens: &[TimeToken], at: usize) -> &str {
    tokens.get(at).map_or("", TimeToken::word)
}

fn word_before(tokens: &[TimeToken], at: usize) -> &str {
    at.checked_sub(1).map_or("", |before| word_at(tokens, before))
}

/// Returns true if the word at this position asks for a time. `opens` is true for the first word.
fn asks_at(tokens: &[TimeToken], at: usize, opens: bool) -> bool {
    let next = word_at(tokens, at + 1);
    match word_at(tokens, at) {
        "when" | "when's" | "when'd" => is_asking_when(tokens, at, opens),
        "what" | "which" | "what's" => {
            // "what exact date", "what was the date"
            let named = (at + 1..at + 4).find(|at| !is_filler(word_at(tokens, *at)));
            named.is_some_and(|at| {
                matches!(
                    word_at(tokens, at),
                    "date"
                        | "dates"
                        | "day"
                        | "time"
                        | "year"
                        | "month"
                        | "week"
                        | "weekday"
                        | "weekend"
                        | "season"
                        | "decade"
                        | "century"
                        | "hour"
                        | "days"
                        | "years"
                        | "months"
                        | "times"
                        | "month's"
                        | "year's"
                ) && !matches!(word_at(tokens, at + 1), "zone" | "zones" | "trip" | "job")
            })
        }
        "how" => match next {
            "long" | "recently" => true,
            "many" => matches!(
                word_at(tokens, at + 2),
                "days" | "weeks" | "months" | "years" | "hours" | "minutes" | "decades" | "weekends"
            ),
            _ => false,
        },
        _ => false,
    }
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "is" | "was"
            | "the"
            | "exact"
            | "exactly"
            | "specific"
            | "s"
            | "calendar"
            | "precise"
            | "particular"
            | "are"
    )
}

/// Returns true if the "when" at this position asks a question. In "what did she say when it rained?", it joins two
/// clauses.
fn is_asking_when(tokens: &[TimeToken], at: usize, opens: bool) -> bool {
    let before = word_before(tokens, at);
    let follows = matches!(
        word_at(tokens, at + 1),
        "did"
            | "do"
            | "does"
            | "was"
            | "were"
            | "is"
            | "are"
            | "will"
            | "has"
            | "have"
            | "had"
            | "should"
            | "can"
            | "could"
            | "would"
            | "exactly"
            | "else"
            | "approximately"
            | "might"
            | "didn't"
    );
    let described = matches!(
        before,
        "know"
            | "remember"
            | "recall"
            | "me"
            | "tell"
            | "and"
            | "or"
            | "since"
            | "until"
            | "till"
            | "by"
            | "from"
            | "exactly"
            | "mention"
            | "mentioned"
    );
    let closes = tokens[at + 1..].first().is_none_or(|next| matches!(next.kind, TimeTokenKind::Mark(_)));
    // "When I was in Paris, what did I eat?" begins with a "when" that joins two clauses.
    let joins = opens && tokens[at..].iter().any(|token| token.mark() == Some(','));
    (opens && !joins) || follows || described || closes
}

/// Returns true if a text names a time: a day, a month, a year, a date, an hour, "last week", "two years ago".
pub(super) fn names_time(text: &str) -> bool {
    let tokens = tokens(text);
    (0..tokens.len()).any(|at| names_at(&tokens, at))
}

fn names_at(tokens: &[TimeToken], at: usize) -> bool {
    let before = word_before(tokens, at);
    let next = tokens.get(at + 1);
    if let Some(number) = tokens[at].number() {
        let time_of_day = next.is_some_and(|next| {
            next.word() == "o'clock"
                || is_half_day(tokens, at + 1)
                || (next.mark() == Some(':')
                    && next.glued
                    && tokens.get(at + 2).is_some_and(|two| {
                        number.digits <= 2 && two.glued && two.number().is_some_and(|two| two.digits == 2)
                    }))
        });
        return time_of_day
            || read::is_year(tokens, at)
            || read::numeric_date(tokens, at).is_some()
            || is_length(tokens, at);
    }
    match tokens[at].word() {
        "yesterday" | "today" | "tomorrow" | "tonight" | "ago" | "since" | "noon" | "midnight"
        | "weekend" | "christmas" | "halloween" | "thanksgiving" | "easter" | "o'clock" | "yesterday's"
        | "today's" | "tomorrow's" => true,
        word if vocabulary::weekday(word.strip_suffix('s').unwrap_or(word)).is_some() => true,
        "may" | "march" => {
            let numbered = next.is_some_and(|next| next.number().is_some())
                || at.checked_sub(1).is_some_and(|at| tokens[at].number().is_some());
            numbered || (tokens[at].capital && (vocabulary::leads_to_time(before) || before == "the"))
        }
        word if vocabulary::month(word).is_some() => tokens[at].capital || vocabulary::leads_to_time(before),
        word if vocabulary::short_month(word).is_some() => next.is_some_and(|next| next.number().is_some()),
        word if vocabulary::season(word).is_some() => {
            matches!(before, "last" | "this" | "next" | "past" | "in" | "the" | "during") && word != "fall"
                || matches!(before, "last" | "this" | "next" | "past")
        }
        word if vocabulary::unit(word).is_some() => {
            matches!(before, "last" | "this" | "next" | "past" | "previous" | "coming" | "every" | "each")
        }
        _ => is_length(tokens, at),
    }
}

/// Returns true if "am", "pm", "a.m." or "p.m." is at this position.
fn is_half_day(tokens: &[TimeToken], at: usize) -> bool {
    let glued = |at: usize| tokens.get(at).filter(|token| token.glued);
    match word_at(tokens, at) {
        "am" | "pm" => true,
        "a" | "p" => {
            glued(at + 1).is_some_and(|dot| dot.mark() == Some('.'))
                && glued(at + 2).is_some_and(|m| m.word() == "m")
        }
        _ => false,
    }
}

/// Returns true if a number of days, weeks, months, years or decades is at this position.
fn is_length(tokens: &[TimeToken], at: usize) -> bool {
    let counted = tokens[at].number().is_some_and(|number| !number.ordinal)
        || vocabulary::count(tokens[at].word()).is_some_and(|count| count > 1)
        || vocabulary::vague_count(tokens[at].word()).is_some();
    let unit = if word_at(tokens, at + 1) == "of" { at + 2 } else { at + 1 };
    counted && matches!(word_at(tokens, unit), "days" | "weeks" | "months" | "years" | "year" | "decades")
}

#[cfg(test)]
mod tests;
