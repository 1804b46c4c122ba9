//! Reads times out of tokens.

use std::ops::Range;

use jiff::civil::Date;

use super::Stretch;
use super::calendar::{Days, Shape, Which, around, back, calendar_unit, moved, weekday};
use super::token::Token;
use super::vocabulary::{self, Unit, leads_to_time};
use super::{word_at, word_before};
use crate::time::Timestamp;

/// A time that was read, and the place after it.
type Read<T> = Option<(T, usize)>;

/// A time as it is named.
#[derive(Clone, Copy)]
enum Named {
    /// What comes back every year, with the year if that is named.
    Yearly { shape: Shape, year: Option<i16>, which: Which },
    /// What needs no year.
    Fixed(Days),
}

impl Named {
    fn seen_from(self, today: Date) -> Option<Days> {
        match self {
            Self::Yearly { shape, year: Some(year), .. } => shape.in_year(year),
            Self::Yearly { shape, year: None, which } => shape.seen_from(today, which),
            Self::Fixed(days) => Some(days),
        }
    }

    /// The beginning of a range that ends with `days`: "March" of "between March and May 2023".
    fn up_to(self, days: Days, today: Date) -> Option<Days> {
        match self {
            Self::Yearly { shape, year: None, which: Which::Latest } => {
                shape.seen_from(days.from, Which::Latest)
            }
            other => other.seen_from(today),
        }
    }
}

/// The one day that tokens name with its year. `None` if there is none, or there are several.
pub(super) fn only_date(tokens: &[Token]) -> Option<Date> {
    let mut only = None;
    let mut at = 0;
    while at < tokens.len() {
        let Some((named, after)) = dated(tokens, at) else {
            at += 1;
            continue;
        };
        let day = match named {
            Named::Yearly { shape: shape @ Shape::Day(..), year: Some(year), .. } => shape.in_year(year),
            Named::Yearly { .. } => None,
            Named::Fixed(day) => Some(day),
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

/// All times that tokens name, in order, each with the places that name it.
pub(super) fn all(tokens: &[Token], today: Date) -> Vec<(Stretch, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match stretch(tokens, at, today) {
            Some((stretch, after)) => {
                let after = after.max(at + 1);
                found.push((stretch, at..after));
                at = after;
            }
            None => at += 1,
        }
    }
    found
}

fn stretch(tokens: &[Token], at: usize, today: Date) -> Read<Stretch> {
    bounded(tokens, at, today).or_else(|| counted_from(tokens, at, today)).or_else(|| {
        let (days, after) = beside(tokens, at, today).or_else(|| {
            let (named, after) = named(tokens, at, today)?;
            Some((named.seen_from(today)?, after))
        })?;
        Some((days.stretch()?, after))
    })
}

/// A time counted from today. One asks so about what has come up since, so it may have been told of up to today.
fn counted_from(tokens: &[Token], at: usize, today: Date) -> Read<Stretch> {
    let (named, after) = relative(tokens, at, today)?;
    Some((named.seen_from(today)?.told_until(today)?, after))
}

/// "between … and …", "from … to …", "since …", "before …", "after …", "until …".
fn bounded(tokens: &[Token], at: usize, today: Date) -> Read<Stretch> {
    let word = word_at(tokens, at);
    let start = at + 1 + usize::from(word_at(tokens, at + 1) == "the");
    if matches!(word, "between" | "from") {
        let (first, middle) = bare(tokens, start, today)?;
        if !matches!(word_at(tokens, middle), "and" | "to" | "until" | "till" | "through") {
            return None;
        }
        let (last, after) = bare(tokens, middle + 1, today)?;
        let last = last.seen_from(today)?;
        let days = Days::new(first.up_to(last, today)?.from, last.until)?;
        return Some((days.stretch()?, after));
    }
    if !matches!(word, "since" | "before" | "after" | "until" | "till" | "by") {
        return None;
    }
    let (named, after) = bare(tokens, start, today)?;
    let days = named.seen_from(today)?.stretch()?;
    let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
    let open = match word {
        "since" => (days.from, last),
        "after" => (days.until, last),
        "before" => (first, days.from),
        _ => (first, days.until),
    };
    let open = Stretch { from: open.0, until: open.1, told_until: open.1, days: open };
    (open.from < open.until).then_some((open, after))
}

/// "the week before 9 June", "the Sunday after …", "two days before …".
fn beside(tokens: &[Token], at: usize, today: Date) -> Read<Days> {
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
        ("of", None, Some(Unit::Week), None) => calendar_unit(days.from, Unit::Week, 0),
        ("of", ..) => None,
        ("before", Some(day), ..) => weekday(days.from, day, Which::Last),
        (_, Some(day), ..) => weekday(last, day, Which::Next),
        ("before", None, Some(unit), Some(count)) => {
            around(days.from, unit, i64::from(count.value), count.widths())
        }
        (_, None, Some(unit), Some(count)) => around(last, unit, -i64::from(count.value), count.widths()),
        ("before", None, Some(Unit::Weekend), None) => {
            let saturday = weekday(days.from, 6, Which::Last)?.from;
            Days::new(saturday, moved(saturday, 2)?)
        }
        ("before", None, Some(unit), None) => Days::new(back(days.from, unit, 1)?, days.from),
        (_, None, Some(Unit::Weekend), None) => {
            let saturday = weekday(last, 6, Which::Next)?.from;
            Days::new(saturday, moved(saturday, 2)?)
        }
        (_, None, Some(unit), None) => Days::new(days.until, back(days.until, unit, -1)?),
        (_, None, None, _) => None,
    };
    Some((found?, after))
}

/// A time that needs no word before it to be one, or has it.
fn named(tokens: &[Token], at: usize, today: Date) -> Read<Named> {
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
            let day = vocabulary::weekday(word_at(tokens, at))?;
            Some((Named::Fixed(weekday(today, day, Which::Latest)?), at + 1))
        })
        .or_else(|| nth_of_month(tokens, at, today))
        .or_else(|| {
            (is_year(tokens, at) && is_year_by_neighbours(tokens, at)).then(|| whole_year(tokens, at))?
        })
}

/// A time after a word that has already said that one follows.
fn bare(tokens: &[Token], at: usize, today: Date) -> Read<Named> {
    named(tokens, at, today).or_else(|| undated(tokens, at, "in")).or_else(|| whole_year(tokens, at))
}

fn whole_year(tokens: &[Token], at: usize) -> Read<Named> {
    let number = tokens.get(at)?.number().filter(|_| is_year(tokens, at))?;
    Some((Named::Fixed(Days::year(i16::try_from(number.value).ok()?)?), at + 1))
}

/// Dates of which a number is part: "8 May 2023", "May 8th", "2023-05-08", "summer of 2022".
fn dated(tokens: &[Token], at: usize) -> Read<Named> {
    let yearly = |shape, year| Named::Yearly { shape, year, which: Which::Latest };
    if let Some((date, after)) = numeric_date(tokens, at) {
        return Some((Named::Fixed(Days::one(date)?), after));
    }
    if let Some(day) = day_number(tokens, at) {
        let month_at = at + 1 + usize::from(word_at(tokens, at + 1) == "of");
        let month = any_month(word_at(tokens, month_at))?;
        // "5 may" without a capital is as likely "5 may be too many".
        if matches!(word_at(tokens, month_at), "may" | "march" | "mar") && !tokens[month_at].capital {
            return None;
        }
        let (year, after) = year_after(tokens, month_at + 1);
        return Some((yearly(Shape::Day(month, day), year), after));
    }
    let word = word_at(tokens, at);
    if let Some(month) = any_month(word) {
        let dot = usize::from(tokens.get(at + 1).is_some_and(|next| next.glued && next.mark() == Some('.')));
        let next = at + 1 + dot + usize::from(dot == 0 && word_at(tokens, at + 1) == "the");
        if let Some(day) = day_number(tokens, next).filter(|_| !is_followed_by_unit(tokens, next)) {
            let (year, after) = year_after(tokens, next + 1);
            return Some((yearly(Shape::Day(month, day), year), after));
        }
        if let (Some(year), after) = year_after(tokens, at + 1 + dot) {
            return Some((yearly(Shape::Month(month), Some(year)), after));
        }
        return None;
    }
    let (shape, after) = recurring(tokens, at)?;
    match year_after(tokens, after) {
        (Some(year), after) => Some((yearly(shape, Some(year)), after)),
        (None, _) => None,
    }
}

/// A season or feast.
fn recurring(tokens: &[Token], at: usize) -> Read<Shape> {
    let word = word_at(tokens, at);
    if let Some(season) = vocabulary::season(word) {
        return Some((Shape::Season(season), at + 1));
    }
    let (feast, words) = vocabulary::feast(word, word_at(tokens, at + 1), word_at(tokens, at + 2))?;
    Some((Shape::Feast(feast), at + words))
}

/// A month, season or feast by itself, where the word before makes it a time.
fn undated(tokens: &[Token], at: usize, before: &str) -> Read<Named> {
    let word = word_at(tokens, at);
    let yearly = |shape, after| Some((Named::Yearly { shape, year: None, which: Which::Latest }, after));
    if let Some(month) = any_month(word) {
        let the = before == "the" && tokens[at].capital && word != "march";
        // "May-Britt"
        let hyphened = tokens.get(at + 1).is_some_and(|next| next.glued && next.mark() == Some('-'));
        return if (leads_to_time(before) || the) && !hyphened {
            yearly(Shape::Month(month), at + 1)
        } else {
            None
        };
    }
    if let Some(season) = vocabulary::season(word) {
        let led =
            |word: &str| matches!(word, "in" | "during" | "over" | "since" | "before" | "after" | "until");
        let article = before == "the" && at >= 2 && led(word_at(tokens, at - 2));
        return if article || (led(before) && word != "fall") {
            yearly(Shape::Season(season), at + 1)
        } else {
            None
        };
    }
    let (shape, after) = recurring(tokens, at)?;
    if leads_to_time(before) && before != "of" { yearly(shape, after) } else { None }
}

/// Times counted from today.
fn relative(tokens: &[Token], at: usize, today: Date) -> Read<Named> {
    let fixed = |days: Option<Days>, after: usize| Some((Named::Fixed(days?), after));
    let word = word_at(tokens, at);
    match word {
        "today" | "tonight" | "today's" => return fixed(Days::one(today), at + 1),
        "yesterday" | "yesterday's" => return fixed(Days::one(moved(today, -1)?), at + 1),
        "tomorrow" | "tomorrow's" => return fixed(Days::one(moved(today, 1)?), at + 1),
        "day" => match (word_at(tokens, at + 1), word_at(tokens, at + 2)) {
            ("before", "yesterday") => return fixed(Days::one(moved(today, -2)?), at + 3),
            ("after", "tomorrow") => return fixed(Days::one(moved(today, 2)?), at + 3),
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

/// "last week", "this Tuesday", "next May", "the past ten days".
fn last_or_next(tokens: &[Token], at: usize, today: Date) -> Read<Named> {
    let fixed = |days: Option<Days>, after: usize| Some((Named::Fixed(days?), after));
    let word = word_at(tokens, at);
    let (which, offset) = match word {
        "last" | "previous" | "past" => (Which::Last, -1),
        "this" => (Which::This, 0),
        _ => (Which::Next, 1),
    };
    let next = word_at(tokens, at + 1);
    if let Some((count, after)) = counted(tokens, at + 1) {
        let unit = vocabulary::unit(word_at(tokens, after))?;
        let (from, until) = match which {
            Which::Last => (back(today, unit, i64::from(count.value))?, moved(today, 1)?),
            Which::Next => (today, back(moved(today, 1)?, unit, -i64::from(count.value))?),
            _ => return None,
        };
        return fixed(Days::new(from, until), after + 1);
    }
    if let Some(unit) = vocabulary::unit(next) {
        let days = match (word, unit, next) {
            ("this", Unit::Hour, _) => None,
            // "last night" was yesterday, "this morning" is today.
            (_, Unit::Day, "day" | "days") => None,
            ("past", Unit::Week | Unit::Month | Unit::Year | Unit::Quarter, _) => {
                Days::new(back(today, unit, 1)?, moved(today, 1)?)
            }
            _ => calendar_unit(today, unit, offset),
        };
        return fixed(days, at + 2);
    }
    if let Some(day) = vocabulary::weekday(next) {
        return fixed(weekday(today, day, which), at + 2);
    }
    let (shape, after) = match any_month(next) {
        Some(month) => (Shape::Month(month), at + 2),
        None => recurring(tokens, at + 1)?,
    };
    Some((Named::Yearly { shape, year: None, which }, after))
}

/// How many, and whether only roughly.
#[derive(Clone, Copy)]
struct Count {
    value: u32,
    vague: bool,
}

impl Count {
    /// How many units wide what lies so many units back may be.
    fn widths(self) -> i64 {
        if self.vague { 2 } else { 1 }
    }
}

/// "3", "two", "a", "a couple of", "a few", "several".
fn counted(tokens: &[Token], at: usize) -> Read<Count> {
    let token = tokens.get(at)?;
    if let Some(number) = token.number() {
        let fits = !number.ordinal && number.digits <= 4;
        return fits.then_some((Count { value: number.value, vague: false }, at + 1));
    }
    if let Some(value) = vocabulary::vague_count(token.word()) {
        return Some((Count { value, vague: true }, at + 1));
    }
    let value = vocabulary::count(token.word())?;
    let next = word_at(tokens, at + 1);
    if token.word() == "a" && (next == "couple" || vocabulary::vague_count(next).is_some()) {
        return counted(tokens, at + 1);
    }
    let vague = token.word() == "couple";
    Some((Count { value, vague }, at + 1 + usize::from(vague && next == "of")))
}

fn any_month(word: &str) -> Option<i8> {
    vocabulary::month(word).or_else(|| vocabulary::short_month(word))
}

fn day_number(tokens: &[Token], at: usize) -> Option<i8> {
    let number = tokens.get(at)?.number().filter(|number| number.digits <= 2)?;
    i8::try_from(number.value).ok().filter(|day| (1..=31).contains(day))
}

/// "May 5 people came": the number counts something.
fn is_followed_by_unit(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1);
    let plural = next.is_some_and(|next| {
        let word = next.word();
        !next.capital && (word == "people" || (word.len() > 3 && word.ends_with('s') && !word.contains('\'')))
    });
    let ordinal = tokens[at].number().is_some_and(|number| number.ordinal);
    plural && !ordinal && !matches!(word_at(tokens, at + 1), "was" | "does" | "this" | "his" | "as")
}

/// The year at this place, after a comma or "of" if there is one. Without a year the place stays.
fn year_after(tokens: &[Token], at: usize) -> (Option<i16>, usize) {
    let comma = tokens.get(at).is_some_and(|token| token.mark() == Some(','));
    let skip = usize::from(comma || matches!(word_at(tokens, at), "of" | "in"));
    let year = tokens
        .get(at + skip)
        .and_then(Token::number)
        .filter(|_| is_year(tokens, at + skip))
        .and_then(|number| i16::try_from(number.value).ok());
    match year {
        Some(year) => (Some(year), at + skip + 1),
        None => (None, at),
    }
}

/// Whether the number at this place can be a year: four digits that begin with 19 or 20, with nothing stuck to them.
pub(super) fn is_year(tokens: &[Token], at: usize) -> bool {
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

/// Whether a bare number that can be a year is one: "in 2022", "the 2022 trip", not "2022 steps".
fn is_year_by_neighbours(tokens: &[Token], at: usize) -> bool {
    let before = word_before(tokens, at);
    let lower_noun = tokens.get(at + 1).is_some_and(|next| {
        !next.capital && !next.word().is_empty() && !crate::text::terms::is_stop_word(next.word())
    });
    match before {
        "of" | "to" | "for" | "than" | "about" | "over" | "or" | "and" => {
            !lower_noun && before != "than" && before != "about"
        }
        "year" | "the" => true,
        word => leads_to_time(word),
    }
}

/// "on the 5th", which is the latest such day.
fn nth_of_month(tokens: &[Token], at: usize, today: Date) -> Read<Named> {
    let number = tokens.get(at)?.number().filter(|number| number.ordinal)?;
    let led = at >= 2 && word_at(tokens, at - 1) == "the" && word_at(tokens, at - 2) == "on";
    let closed = tokens.get(at + 1).is_none_or(|next| next.mark().is_some());
    if !led || !closed {
        return None;
    }
    let day = i8::try_from(number.value).ok()?;
    let found = (0..12).find_map(|months| {
        let month = back(today.first_of_month(), Unit::Month, months)?;
        Date::new(month.year(), month.month(), day).ok().filter(|date| *date <= today)
    })?;
    Some((Named::Fixed(Days::one(found)?), at + 1))
}

/// `2023-05-08`, `2023/05/08`, `05/08/2023`, `8.5.2023`.
///
/// With slashes the month comes first, unless it cannot be one; with dots the day does.
pub(super) fn numeric_date(tokens: &[Token], at: usize) -> Read<Date> {
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
