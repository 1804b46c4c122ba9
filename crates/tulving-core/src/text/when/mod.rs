//! The times that a question speaks of, and whether it asks for one.
//!
//! English rules over words and numbers. Days are those of the zone of who asks. A word that may mean something else ("may", "march", "second",
//! "2000 people") counts only where its neighbours make it a time: to miss one costs less than to invent one.

mod calendar;
mod read;
mod token;
mod vocabulary;

use self::token::{Kind, Token, tokens};
pub(crate) use self::vocabulary::{MONTHS, WEEKDAYS};
use crate::text::terms;
use crate::time::{Timestamp, Zone};

/// Most stretches of one question.
const STRETCHES: usize = 8;

/// A stretch of time, from its first instant up to, and without, its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first instant.
    pub from: Timestamp,
    /// The first instant after it.
    pub until: Timestamp,
    /// The first instant after all times at which one would have told of it. For what is counted from the time of asking
    /// ("last month") that reaches on to the end of the day of asking; else it is `until`.
    pub told_until: Timestamp,
    /// Its days, from the first up to, and without, the last, as they are kept where only a day was given.
    pub days: (Timestamp, Timestamp),
}

impl Stretch {
    /// Whether an instant is within it.
    pub(crate) fn has(&self, at: Timestamp) -> bool {
        let (from, until) = if at.is_day() { self.days } else { (self.from, self.until) };
        (from..until).contains(&at)
    }

    /// The instants that may be within it.
    pub(crate) fn span(&self) -> std::ops::Range<Timestamp> {
        self.from.min(self.days.0)..self.until.max(self.days.1)
    }

    /// The same, counted by the clock on the wall, as instants of this zone.
    fn in_zone(self, zone: &Zone) -> Self {
        let [from, until, told_until] = [self.from, self.until, self.told_until].map(|at| zone.instant(at));
        Self { from, until, told_until, ..self }
    }
}

/// The stretches of time that a question names, seen from `now` in a zone, in the order of the question.
///
/// What names no year means the latest such time up to now; where the question has one whole date ("last week, as you
/// said on 6 May 2023"), up to that. An open end ("since May") is as far away as time goes.
pub(crate) fn stretches(question: &str, now: Timestamp, zone: &Zone) -> Vec<Stretch> {
    let Some(today) = calendar::day_of(zone.wall(now)) else { return Vec::new() };
    let tokens = tokens(question);
    let today = read::only_date(&tokens).unwrap_or(today);
    let mut found: Vec<Stretch> = Vec::new();
    for (stretch, _) in read::all(&tokens, today) {
        let stretch = stretch.in_zone(zone);
        if found.len() < STRETCHES && !found.contains(&stretch) {
            found.push(stretch);
        }
    }
    found
}

/// Whether a question names a time and hardly asks for anything else: "what happened last week?". Then no other word of it
/// says what it is about.
pub(crate) fn asks_of_time_alone(question: &str, now: Timestamp) -> bool {
    let Some(today) = calendar::day_of(now) else { return false };
    let tokens = tokens(question);
    let named = read::all(&tokens, read::only_date(&tokens).unwrap_or(today));
    let is_named = |at: usize| named.iter().any(|(_, places)| places.contains(&at));
    let mut others = (0..tokens.len()).filter(|at| !is_named(*at));
    !named.is_empty() && others.all(|at| tokens[at].number().is_none() && says_nothing(tokens[at].word()))
}

/// Whether a word is no more than a part of asking what there was.
fn says_nothing(word: &str) -> bool {
    let stem = word.split('\'').next().unwrap_or(word);
    stem.is_empty() || terms::is_stop_word(stem) || vocabulary::asks_for_anything(stem)
}

/// Whether a question asks for a time.
pub(crate) fn asks_when(question: &str) -> bool {
    let tokens = tokens(question);
    let first = tokens.iter().position(|token| !token.word().is_empty());
    (0..tokens.len()).any(|at| asks_at(&tokens, at, Some(at) == first))
}

fn word_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", Token::word)
}

fn word_before(tokens: &[Token], at: usize) -> &str {
    at.checked_sub(1).map_or("", |before| word_at(tokens, before))
}

/// Whether the word at this place, which may be the first, asks for a time.
fn asks_at(tokens: &[Token], at: usize, opens: bool) -> bool {
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

/// Whether the "when" at this place asks, rather than joins: "what did she say when it rained?".
fn is_asking_when(tokens: &[Token], at: usize, opens: bool) -> bool {
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
    let told = matches!(
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
    let closes = tokens[at + 1..].first().is_none_or(|next| matches!(next.kind, Kind::Mark(_)));
    // "When I was in Paris, what did I eat?" opens with a when that joins.
    let joins = opens && tokens[at..].iter().any(|token| token.mark() == Some(','));
    (opens && !joins) || follows || told || closes
}

/// Whether a text names a time: a day, a month, a year, a date, an hour, "last week", "two years ago".
pub(super) fn names_time(text: &str) -> bool {
    let tokens = tokens(text);
    (0..tokens.len()).any(|at| names_at(&tokens, at))
}

fn names_at(tokens: &[Token], at: usize) -> bool {
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

/// Whether "am", "pm", "a.m." or "p.m." stands at this place.
fn is_half_day(tokens: &[Token], at: usize) -> bool {
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

/// Whether a number of weeks, months or years stands at this place.
fn is_length(tokens: &[Token], at: usize) -> bool {
    let counted = tokens[at].number().is_some_and(|number| !number.ordinal)
        || vocabulary::count(tokens[at].word()).is_some_and(|count| count > 1)
        || vocabulary::vague_count(tokens[at].word()).is_some();
    let unit = if word_at(tokens, at + 1) == "of" { at + 2 } else { at + 1 };
    counted && matches!(word_at(tokens, unit), "days" | "weeks" | "months" | "years" | "year" | "decades")
}

#[cfg(test)]
mod tests;
