//! Reads times from tokens.

use std::ops::Range;

use jiff::civil::Date;

use super::QuestionInterval;
use super::calendar::{
    DayInterval, OccurrenceChoice, YearlyTime, around, back, calendar_unit, moved, weekday,
};
use super::token::TimeToken;
use super::vocabulary::{self, TimeUnit, leads_to_time};
use super::{word_at, word_before};
use crate::time::Timestamp;

/// A parsed value and the position after it.
type TimeParse<T> = Option<(T, usize)>;

/// A time as it is named in the text.
#[derive(Clone, Copy)]
enum TimeExpression {
    /// A time that recurs every year, with its year if the year is named.
    Yearly { shape: YearlyTime, year: Option<i16>, which: OccurrenceChoice },
    /// A time that needs no year.
    Fixed(DayInterval),
}

impl TimeExpression {
    fn seen_from(self, today: Date) -> Option<DayInterval> {
        match self {
            Self::Yearly { shape, year: Some(year), .. } => shape.in_year(year),
            Self::Yearly { shape, year: None, which } => shape.seen_from(today, which),
            Self::Fixed(days) => Some(days),
        }
    }

    /// Returns the beginning of a range that ends with `days`: "March" in "between March and May 2023".
    fn up_to(self, days: DayInterval, today: Date) -> Option<DayInterval> {
        match self {
            Self::Yearly { shape, year: None, which: OccurrenceChoice::Latest } => {
                shape.seen_from(days.from, OccurrenceChoice::Latest)
            }
            other => other.seen_from(today),
        }
    }
}

/// Returns the only day that is named with its year. `None` if there is no such day, or if there are several.
pub(super) fn only_date(tokens: &[TimeToken]) -> Option<Date> {
    let mut only = None;
    let mut at = 0;
    while at < tokens.len() {
        let Some((named, after)) = dated(tokens, at) else {
            at += 1;
            continue;
        };
        let day = match named {
            TimeExpression::Yearly { shape: shape @ YearlyTime::Day(..), year: Some(year), .. } => {
                shape.in_year(year)
            }
            TimeExpression::Yearly { .. } => None,
            TimeExpression::Fixed(day) => Some(day),
        };
        match (day, only) {
            (Some(_), Some(_)) => return None,
            (Some(day), None) => only = Some(day.from),
            (None, _) => {}
        }
        at = after.max(at + 1);
    }
    only
}

/// Returns all times that the tokens name, in order, each with the range of its tokens.
pub(super) fn all(tokens: &[TimeToken], today: Date) -> Vec<(QuestionInterval, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match interval(tokens, at, today) {
            Some((interval, after)) => {
                let after = after.max(at + 1);
                found.push((interval, at..after));
                at = after;
            }
            None => at += 1,
        }
    }
    found
}

/// Reads the time at this position, even if no word introduces it.
pub(super) fn one(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<QuestionInterval> {
    interval(tokens, at, today).or_else(|| {
        let (named, after) = bare(tokens, at, today)?;
        Some((named.seen_from(today)?.interval()?, after))
    })
}

fn interval(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<QuestionInterval> {
    let part = || {
        let (days, after) = part(tokens, at, today)?;
        Some((days.interval()?, after))
    };
    bounded(tokens, at, today).or_else(part).or_else(|| counted_from(tokens, at, today)).or_else(|| {
        let (days, after) = beside(tokens, at, today).or_else(|| {
            let (named, after) = named(tokens, at, today)?;
            Some((named.seen_from(today)?, after))
        })?;
        Some((days.interval()?, after))
    })
}

/// Reads a time relative to today. A question with such a time may be about everything since then, so the time may have
/// been mentioned until today.
fn counted_from(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<QuestionInterval> {
    let (named, after) = relative(tokens, at, today)?;
    Some((named.seen_from(today)?.mentioned_until(today)?, after))
}

/// Reads "between … and …", "from … to …", "since …", "before …", "after …", "until …".
fn bounded(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<QuestionInterval> {
    let word = word_at(tokens, at);
    let start = at + 1 + usize::from(word_at(tokens, at + 1) == "the");
    if matches!(word, "between" | "from") {
        let (first, middle) = bare(tokens, start, today)?;
        if !matches!(word_at(tokens, middle), "and" | "to" | "until" | "till" | "through") {
            return None;
        }
        let (last, after) = bare(tokens, middle + 1, today)?;
        let last = last.seen_from(today)?;
        let days = DayInterval::new(first.up_to(last, today)?.from, last.until)?;
        return Some((days.interval()?, after));
    }
    if !matches!(word, "since" | "before" | "after" | "until" | "till" | "by") {
        return None;
    }
    let (named, after) = bare(tokens, start, today)?;
    let days = named.seen_from(today)?.interval()?;
    let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    let open = match word {
        "since" => (days.from, last),
        "after" => (days.until, last),
        "before" => (first, days.from),
        _ => (first, days.until),
    };
    let open = QuestionInterval { from: open.0, until: open.1, mentioned_until: open.1, days: open };
    (open.from < open.until).then_some((open, after))
}

/// Reads "early May", "the beginning of May", "the second week of May", "the first half of 2024".
fn part(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<DayInterval> {
    let word = word_at(tokens, at);
    let (part, after) = if let Some(part) = vocabulary::part(word) {
        let dash = tokens.get(at + 1).is_some_and(|token| token.mark() == Some('-'));
        (part, at + 1 + usize::from(dash))
    } else if let Some(part) = vocabulary::part_of(word).filter(|_| word_at(tokens, at + 1) == "of") {
        (part, at + 2)
    } else {
        let ordinal = tokens.get(at).and_then(TimeToken::number).filter(|number| number.ordinal);
        let nth = ordinal.map(|number| number.value).or_else(|| vocabulary::ordinal(word));
        let part = vocabulary::nth_part(nth, word, word_at(tokens, at + 1))?;
        if word_at(tokens, at + 2) != "of" {
            return None;
        }
        (part, at + 3)
    };
    let start = after + usize::from(word_at(tokens, after) == "the");
    let (named, after) = bare(tokens, start, today)?;
    Some((named.seen_from(today)?.part(part)?, after))
}

/// Reads "the week before 9 June", "the Sunday after …", "two days before …".
fn beside(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<DayInterval> {
    let (count, at) = counted(tokens, at).map_or((None, at), |(count, at)| (Some(count), at));
    let word = word_at(tokens, at);
    let side = word_at(tokens, at + 1);
    if !matches!(side, "before" | "after" | "of") {
        return None;
    }
    let (unit, day) = (vocabulary::unit(word), vocabulary::weekday(word));
    if unit.is_none() && day.is_none() {
        return None;
    }
    let start = at + 2 + usize::from(word_at(tokens, at + 2) == "the");
    let (named, after) = bare(tokens, start, today)?;
    let days = named.seen_from(today)?;
    let last = moved(days.until, -1)?;
    let found = match (side, day, unit, count) {
        ("of", None, Some(TimeUnit::Week), None) => calendar_unit(days.from, TimeUnit::Week, 0),
        ("of", ..) => None,
        ("before", Some(day), ..) => weekday(days.from, day, OccurrenceChoice::Last),
        (_, Some(day), ..) => weekday(last, day, OccurrenceChoice::Next),
        ("before", None, Some(unit), Some(count)) => {
            around(days.from, unit, i64::from(count.value), count.widths())
        }
        (_, None, Some(unit), Some(count)) => around(last, unit, -i64::from(count.value), count.widths()),
        ("before", None, Some(TimeUnit::Weekend), None) => {
            let saturday = weekday(days.from, 6, OccurrenceChoice::Last)?.from;
            DayInterval::new(saturday, moved(saturday, 2)?)
        }
        ("before", None, Some(unit), None) => DayInterval::new(back(days.from, unit, 1)?, days.from),
        (_, None, Some(TimeUnit::Weekend), None) => {
            let saturday = weekday(last, 6, OccurrenceChoice::Next)?.from;
            DayInterval::new(saturday, moved(saturday, 2)?)
        }
        (_, None, Some(unit), None) => DayInterval::new(days.until, back(days.until, unit, -1)?),
        (_, None, None, _) => None,
    };
    Some((found?, after))
}

/// Reads a time that needs no word before it, or whose required word is before it.
fn named(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<TimeExpression> {
    let before = word_before(tokens, at);
    // "mid-May"
    let before = match at.checked_sub(2) {
        Some(two) if tokens[at - 1].mark() == Some('-') => word_at(tokens, two),
        _ => before,
    };
    dated(tokens, at)
        .or_else(|| relative(tokens, at, today))
        .or_else(|| undated(tokens, at, before))
        .or_else(|| {
            // "on a Friday" is any Friday.
            let any = matches!(before, "a" | "an" | "any" | "each" | "every" | "some" | "per");
            let day = vocabulary::weekday(word_at(tokens, at)).filter(|_| !any)?;
            Some((TimeExpression::Fixed(weekday(today, day, OccurrenceChoice::Latest)?), at + 1))
        })
        .or_else(|| nth_of_month(tokens, at, today))
        .or_else(|| {
            (is_year(tokens, at) && is_year_by_neighbours(tokens, at)).then(|| whole_year(tokens, at))?
        })
}

/// Reads a time after a word that introduces a time.
fn bare(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<TimeExpression> {
    if let Some((days, after)) = part(tokens, at, today) {
        return Some((TimeExpression::Fixed(days), after));
    }
    named(tokens, at, today).or_else(|| undated(tokens, at, "in")).or_else(|| whole_year(tokens, at))
}

fn whole_year(tokens: &[TimeToken], at: usize) -> TimeParse<TimeExpression> {
    let number = tokens.get(at)?.number().filter(|_| is_year(tokens, at))?;
    Some((TimeExpression::Fixed(DayInterval::year(i16::try_from(number.value).ok()?)?), at + 1))
}

/// Reads dates with a number: "8 May 2023", "May 8th", "2023-05-08", "summer of 2022".
fn dated(tokens: &[TimeToken], at: usize) -> TimeParse<TimeExpression> {
    let yearly = |shape, year| TimeExpression::Yearly { shape, year, which: OccurrenceChoice::Latest };
    if let Some((date, after)) = numeric_date(tokens, at) {
        return Some((TimeExpression::Fixed(DayInterval::one(date)?), after));
    }
    if let Some(day) = day_number(tokens, at) {
        let month_at = at + 1 + usize::from(word_at(tokens, at + 1) == "of");
        let month = any_month(word_at(tokens, month_at))?;
        // "5 may" without a capital is just as likely "5 may be too many".
        if matches!(word_at(tokens, month_at), "may" | "march" | "mar") && !tokens[month_at].capital {
            return None;
        }
        let (year, after) = year_after(tokens, month_at + 1);
        return Some((yearly(YearlyTime::Day(month, day), year), after));
    }
    let word = word_at(tokens, at);
    if let Some(month) = any_month(word) {
        let dot = usize::from(tokens.get(at + 1).is_some_and(|next| next.glued && next.mark() == Some('.')));
        let next = at + 1 + dot + usize::from(dot == 0 && word_at(tokens, at + 1) == "the");
        if let Some(day) = day_number(tokens, next).filter(|_| !is_followed_by_unit(tokens, next)) {
            let (year, after) = year_after(tokens, next + 1);
            return Some((yearly(YearlyTime::Day(month, day), year), after));
        }
        if let (Some(year), after) = year_after(tokens, at + 1 + dot) {
            return Some((yearly(YearlyTime::Month(month), Some(year)), after));
        }
        return None;
    }
    let (shape, after) = recurring(tokens, at)?;
    match year_after(tokens, after) {
        (Some(year), after) => Some((yearly(shape, Some(year)), after)),
        (None, _) => None,
    }
}

/// Reads a season or a holiday.
fn recurring(tokens: &[TimeToken], at: usize) -> TimeParse<YearlyTime> {
    let word = word_at(tokens, at);
    if let Some(season) = vocabulary::season(word) {
        return Some((YearlyTime::Season(season), at + 1));
    }
    let (feast, words) = vocabulary::feast(word, word_at(tokens, at + 1), word_at(tokens, at + 2))?;
    Some((YearlyTime::Feast(feast), at + words))
}

/// Reads a month, season or holiday alone, if the previous word shows that it is a time.
fn undated(tokens: &[TimeToken], at: usize, before: &str) -> TimeParse<TimeExpression> {
    let word = word_at(tokens, at);
    let yearly = |shape, after| {
        Some((TimeExpression::Yearly { shape, year: None, which: OccurrenceChoice::Latest }, after))
    };
    if let Some(month) = any_month(word) {
        let the = before == "the" && tokens[at].capital && word != "march";
        // "May-Britt"
        let hyphened = tokens.get(at + 1).is_some_and(|next| next.glued && next.mark() == Some('-'));
        return if (leads_to_time(before) || the) && !hyphened {
            yearly(YearlyTime::Month(month), at + 1)
        } else {
            None
        };
    }
    if let Some(season) = vocabulary::season(word) {
        let led =
            |word: &str| matches!(word, "in" | "during" | "over" | "since" | "before" | "after" | "until");
        let article = before == "the" && at >= 2 && led(word_at(tokens, at - 2));
        return if article || (led(before) && word != "fall") {
            yearly(YearlyTime::Season(season), at + 1)
        } else {
            None
        };
    }
    let (shape, after) = recurring(tokens, at)?;
    if leads_to_time(before) && before != "of" { yearly(shape, after) } else { None }
}

/// Reads times relative to today.
fn relative(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<TimeExpression> {
    let fixed = |days: Option<DayInterval>, after: usize| Some((TimeExpression::Fixed(days?), after));
    let word = word_at(tokens, at);
    match word {
        "today" | "tonight" | "today's" => return fixed(DayInterval::one(today), at + 1),
        "yesterday" | "yesterday's" => return fixed(DayInterval::one(moved(today, -1)?), at + 1),
        "tomorrow" | "tomorrow's" => return fixed(DayInterval::one(moved(today, 1)?), at + 1),
        "day" => match (word_at(tokens, at + 1), word_at(tokens, at + 2)) {
            ("before", "yesterday") => return fixed(DayInterval::one(moved(today, -2)?), at + 3),
            ("after", "tomorrow") => return fixed(DayInterval::one(moved(today, 2)?), at + 3),
            _ => {}
        },
        "last" | "this" | "next" | "past" | "previous" | "coming" => return last_or_next(tokens, at, today),
        _ => {}
    }
    let (count, after) = counted(tokens, at)?;
    let unit = vocabulary::unit(word_at(tokens, after))?;
    if !matches!(word_at(tokens, after + 1), "ago" | "back") {
        return None;
    }
    fixed(around(today, unit, i64::from(count.value), count.widths()), after + 2)
}

/// Reads "last week", "this Tuesday", "next May", "the past ten days".
fn last_or_next(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<TimeExpression> {
    let fixed = |days: Option<DayInterval>, after: usize| Some((TimeExpression::Fixed(days?), after));
    let word = word_at(tokens, at);
    let (which, offset) = match word {
        "last" | "previous" | "past" => (OccurrenceChoice::Last, -1),
        "this" => (OccurrenceChoice::This, 0),
        _ => (OccurrenceChoice::Next, 1),
    };
    let next = word_at(tokens, at + 1);
    if let Some((count, after)) = counted(tokens, at + 1) {
        let unit = vocabulary::unit(word_at(tokens, after))?;
        let (from, until) = match which {
            OccurrenceChoice::Last => (back(today, unit, i64::from(count.value))?, moved(today, 1)?),
            OccurrenceChoice::Next => (today, back(moved(today, 1)?, unit, -i64::from(count.value))?),
            _ => return None,
        };
        return fixed(DayInterval::new(from, until), after + 1);
    }
    if let Some(unit) = vocabulary::unit(next) {
        let days = match (word, unit, next) {
            ("this", TimeUnit::Hour, _) => None,
            // "last night" was yesterday, "this morning" is today.
            (_, TimeUnit::Day, "day" | "days") => None,
            ("past", TimeUnit::Week | TimeUnit::Month | TimeUnit::Year | TimeUnit::Quarter, _) => {
                DayInterval::new(back(today, unit, 1)?, moved(today, 1)?)
            }
            _ => calendar_unit(today, unit, offset),
        };
        return fixed(days, at + 2);
    }
    if let Some(day) = vocabulary::weekday(next) {
        return fixed(weekday(today, day, which), at + 2);
    }
    let (shape, after) = match any_month(next) {
        Some(month) => (YearlyTime::Month(month), at + 2),
        None => recurring(tokens, at + 1)?,
    };
    Some((TimeExpression::Yearly { shape, year: None, which }, after))
}

/// A number that may be vague.
#[derive(Clone, Copy)]
struct TimeCount {
    value: u32,
    vague: bool,
}

impl TimeCount {
    /// Returns the width, in units, of the interval that "this many units ago" means. A vague number means a wider
    /// interval.
    fn widths(self) -> i64 {
        if self.vague { 2 } else { 1 }
    }
}

/// Reads "3", "two", "a", "a couple of", "a few", "several".
fn counted(tokens: &[TimeToken], at: usize) -> TimeParse<TimeCount> {
    let token = tokens.get(at)?;
    if let Some(number) = token.number() {
        let fits = !number.ordinal && number.digits <= 4;
        return fits.then_some((TimeCount { value: number.value, vague: false }, at + 1));
    }
    if let Some(value) = vocabulary::vague_count(token.word()) {
        return Some((TimeCount { value, vague: true }, at + 1));
    }
    let value = vocabulary::count(token.word())?;
    let next = word_at(tokens, at + 1);
    if token.word() == "a" && (next == "couple" || vocabulary::vague_count(next).is_some()) {
        return counted(tokens, at + 1);
    }
    let vague = token.word() == "couple";
    Some((TimeCount { value, vague }, at + 1 + usize::from(vague && next == "of")))
}

fn any_month(word: &str) -> Option<i8> {
    vocabulary::month(word).or_else(|| vocabulary::short_month(word))
}

fn day_number(tokens: &[TimeToken], at: usize) -> Option<i8> {
    let number = tokens.get(at)?.number().filter(|number| number.digits <= 2)?;
    i8::try_from(number.value).ok().filter(|day| (1..=31).contains(day))
}

/// Returns true if the number counts things, as in "May 5 people came".
fn is_followed_by_unit(tokens: &[TimeToken], at: usize) -> bool {
    let next = tokens.get(at + 1);
    let plural = next.is_some_and(|next| {
        let word = next.word();
        !next.capital && (word == "people" || (word.len() > 3 && word.ends_with('s') && !word.contains('\'')))
    });
    let ordinal = tokens[at].number().is_some_and(|number| number.ordinal);
    plural && !ordinal && !matches!(word_at(tokens, at + 1), "was" | "does" | "this" | "his" | "as")
}

/// Reads the year at this position, after an optional comma, "of" or "in". Without a year, the position does not
/// change.
fn year_after(tokens: &[TimeToken], at: usize) -> (Option<i16>, usize) {
    let comma = tokens.get(at).is_some_and(|token| token.mark() == Some(','));
    let skip = usize::from(comma || matches!(word_at(tokens, at), "of" | "in"));
    let year = tokens
        .get(at + skip)
        .and_then(TimeToken::number)
        .filter(|_| is_year(tokens, at + skip))
        .and_then(|number| i16::try_from(number.value).ok());
    match year {
        Some(year) => (Some(year), at + skip + 1),
        None => (None, at),
    }
}

/// Returns true if the number at this position can be a year: it has four digits, begins with 19 or 20, and has nothing
/// attached.
pub(super) fn is_year(tokens: &[TimeToken], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let shaped = token
        .number()
        .is_some_and(|number| number.digits == 4 && !number.ordinal && (1900..2100).contains(&number.value));
    let money = token.glued
        && tokens[at - 1]
            .mark()
            .is_some_and(|mark| !matches!(mark, '(' | '"' | '\'' | '-' | '/' | '–' | ','));
    let counted = is_followed_by_unit(tokens, at)
        || tokens.get(at + 1).is_some_and(|next| {
            next.glued
                && (matches!(next.mark(), Some('%' | '$' | '€' | '£' | '+')) || !next.word().is_empty())
                || next.glued
                    && matches!(next.mark(), Some('.' | ','))
                    && tokens.get(at + 2).is_some_and(|two| two.glued && two.number().is_some())
        });
    shaped && !money && !counted
}

/// Returns true if a bare number that can be a year is meant as a year: true for "in 2022" and "the 2022 trip", false
/// for "2022 steps".
fn is_year_by_neighbours(tokens: &[TimeToken], at: usize) -> bool {
    let before = word_before(tokens, at);
    let lower_noun = tokens.get(at + 1).is_some_and(|next| {
        !next.capital && !next.word().is_empty() && !crate::terms::is_stop_word(next.word())
    });
    match before {
        "of" | "to" | "for" | "than" | "about" | "over" | "or" | "and" => {
            !lower_noun && before != "than" && before != "about"
        }
        "year" | "the" => true,
        word => leads_to_time(word),
    }
}

/// Reads "on the 5th", which means the latest 5th of a month.
fn nth_of_month(tokens: &[TimeToken], at: usize, today: Date) -> TimeParse<TimeExpression> {
    let number = tokens.get(at)?.number().filter(|number| number.ordinal)?;
    let led = at >= 2 && word_at(tokens, at - 1) == "the" && word_at(tokens, at - 2) == "on";
    let closed = tokens.get(at + 1).is_none_or(|next| next.mark().is_some());
    if !led || !closed {
        return None;
    }
    let day = i8::try_from(number.value).ok()?;
    let found = (0..12).find_map(|months| {
        let month = back(today.first_of_month(), TimeUnit::Month, months)?;
        Date::new(month.year(), month.month(), day).ok().filter(|date| *date <= today)
    })?;
    Some((TimeExpression::Fixed(DayInterval::one(found)?), at + 1))
}

/// Reads `2023-05-08`, `2023/05/08`, `05/08/2023`, `8.5.2023`.
///
/// With slashes, the month comes first, unless the first number cannot be a month. With dots, the day comes first.
pub(super) fn numeric_date(tokens: &[TimeToken], at: usize) -> TimeParse<Date> {
    let number = |at: usize| tokens.get(at)?.number().filter(|number| number.digits <= 4 && !number.ordinal);
    let mark = |at: usize| tokens.get(at).filter(|token| token.glued)?.mark();
    let (first, second, third) = (number(at)?, number(at + 2)?, number(at + 4)?);
    let sign = mark(at + 1)?;
    if mark(at + 3)? != sign || !tokens[at + 2].glued || !tokens[at + 4].glued {
        return None;
    }
    if tokens[at].glued && tokens[at - 1].mark().is_some_and(|mark| matches!(mark, '.' | '/' | '-' | '$')) {
        return None;
    }
    let (year, month, day) = match (sign, first.digits, third.digits) {
        ('-' | '/' | '.', 4, 1..=2) => (first.value, second.value, third.value),
        ('/' | '-', 1..=2, 4 | 2) if first.value > 12 => (full_year(third.value), second.value, first.value),
        ('/' | '-', 1..=2, 4 | 2) => (full_year(third.value), first.value, second.value),
        ('.', 1..=2, 4) => (third.value, second.value, first.value),
        _ => return None,
    };
    if !(1000..=9000).contains(&year) {
        return None;
    }
    let date =
        Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some((date, at + 5))
}

fn full_year(written: u32) -> u32 {
    if written < 100 { 2000 + written } else { written }
}
