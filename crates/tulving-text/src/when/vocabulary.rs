//! English words for times.

use super::calendar::TimePart;

/// The months, January first.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The days of the week, Monday first.
pub const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns 1 to 12 for the full name of a month.
pub(super) fn month(word: &str) -> Option<i8> {
    position(&MONTHS, word)
}

/// Returns 1 to 12 for the short form of a month.
pub(super) fn short_month(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if word == "sept" { Some(9) } else { position(&NAMES, word) }
}

/// Returns 1 for Monday to 7 for Sunday. Short forms that are also words ("sun", "sat") do not count.
pub(super) fn weekday(word: &str) -> Option<i8> {
    match word {
        "tues" => Some(2),
        "thurs" => Some(4),
        _ => {
            let word = word.strip_suffix("'s").unwrap_or(word);
            position(&WEEKDAYS, word)
        }
    }
}

fn position(names: &[&str], word: &str) -> Option<i8> {
    names.iter().position(|name| *name == word).and_then(|at| i8::try_from(at + 1).ok())
}

/// A season of the northern hemisphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

pub(super) fn season(word: &str) -> Option<Season> {
    match word {
        "spring" => Some(Season::Spring),
        "summer" => Some(Season::Summer),
        "autumn" | "fall" => Some(Season::Autumn),
        "winter" => Some(Season::Winter),
        _ => None,
    }
}

/// A holiday.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holiday {
    /// A fixed month and day.
    Fixed(i8, i8),
    /// The fourth Thursday of November.
    Thanksgiving,
}

/// Returns the holiday whose name begins with the first of these words, and the number of words in the name.
pub(super) fn feast(first: &str, second: &str, third: &str) -> Option<(Holiday, usize)> {
    match (first, second, third) {
        ("christmas" | "xmas", "eve", _) => Some((Holiday::Fixed(12, 24), 2)),
        ("christmas" | "xmas", "day", _) => Some((Holiday::Fixed(12, 25), 2)),
        ("christmas" | "xmas", ..) => Some((Holiday::Fixed(12, 25), 1)),
        ("boxing", "day", _) => Some((Holiday::Fixed(12, 26), 2)),
        ("new", "year's" | "years" | "year", "eve") => Some((Holiday::Fixed(12, 31), 3)),
        ("new", "year's" | "years" | "year", "day") => Some((Holiday::Fixed(1, 1), 3)),
        ("new", "year's", _) => Some((Holiday::Fixed(1, 1), 2)),
        ("valentine's" | "valentines" | "valentine", "day", _) => Some((Holiday::Fixed(2, 14), 2)),
        ("valentine's", ..) => Some((Holiday::Fixed(2, 14), 1)),
        ("halloween", ..) => Some((Holiday::Fixed(10, 31), 1)),
        ("thanksgiving", "day", _) => Some((Holiday::Thanksgiving, 2)),
        ("thanksgiving", ..) => Some((Holiday::Thanksgiving, 1)),
        ("independence", "day", _) => Some((Holiday::Fixed(7, 4), 2)),
        _ => None,
    }
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
    Decade,
}

pub(super) fn unit(word: &str) -> Option<TimeUnit> {
    match word {
        "minute" | "minutes" | "hour" | "hours" => Some(TimeUnit::Hour),
        "day" | "days" | "night" | "nights" | "morning" | "afternoon" | "evening" => Some(TimeUnit::Day),
        "week" | "weeks" | "fortnight" => Some(TimeUnit::Week),
        "weekend" | "weekends" => Some(TimeUnit::Weekend),
        "month" | "months" => Some(TimeUnit::Month),
        "quarter" | "quarters" => Some(TimeUnit::Quarter),
        "year" | "years" => Some(TimeUnit::Year),
        "decade" | "decades" => Some(TimeUnit::Decade),
        _ => None,
    }
}

/// Returns a number written as a word.
pub(super) fn count(word: &str) -> Option<u32> {
    const NAMES: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        _ => position(&NAMES, word).and_then(|count| u32::try_from(count).ok()),
    }
}

/// Returns the number of an ordinal written as a word.
pub(super) fn ordinal(word: &str) -> Option<u32> {
    const NAMES: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    position(&NAMES, word).and_then(|nth| u32::try_from(nth).ok())
}

/// Returns the part of a time that a word directly before it means: "early May".
pub(super) fn part(word: &str) -> Option<TimePart> {
    match word {
        "early" => Some(TimePart::Share(0, 3)),
        "mid" => Some(TimePart::Share(1, 3)),
        "late" => Some(TimePart::Share(2, 3)),
        _ => None,
    }
}

/// Returns the part that a word before "of" means: "the beginning of May".
pub(super) fn part_of(word: &str) -> Option<TimePart> {
    match word {
        "beginning" | "start" => Some(TimePart::Share(0, 3)),
        "middle" => Some(TimePart::Share(1, 3)),
        "end" => Some(TimePart::Share(2, 3)),
        _ => None,
    }
}

/// Returns the part that an ordinal and a unit mean: "the second week of May", "the last week of May".
pub(super) fn nth_part(nth: Option<u32>, word: &str, unit: &str) -> Option<TimePart> {
    match (nth, unit) {
        (Some(nth @ 1..=5), "week") => Some(TimePart::Week(u8::try_from(nth - 1).ok()?)),
        (None, "week") if word == "last" => Some(TimePart::LastWeek),
        (Some(nth @ 1..=2), "half") => Some(TimePart::Share(u8::try_from(nth - 1).ok()?, 2)),
        (Some(nth @ 1..=4), "quarter") => Some(TimePart::Share(u8::try_from(nth - 1).ok()?, 4)),
        _ => None,
    }
}

/// Returns the middle of the range that a vague number means.
pub(super) fn vague_count(word: &str) -> Option<u32> {
    match word {
        "few" => Some(3),
        "several" | "some" => Some(4),
        _ => None,
    }
}

/// Returns true for words that show that a following month or holiday is a time, and not a name, a verb or a topic.
pub(super) fn leads_to_time(word: &str) -> bool {
    matches!(
        word,
        "in" | "on"
            | "at"
            | "since"
            | "until"
            | "till"
            | "before"
            | "after"
            | "during"
            | "over"
            | "of"
            | "early"
            | "late"
            | "mid"
            | "by"
            | "from"
            | "between"
            | "and"
            | "or"
            | "to"
            | "through"
            | "throughout"
            | "around"
            | "last"
            | "this"
            | "next"
            | "past"
            | "for"
            | "within"
            | "begin"
            | "beginning"
            | "end"
    )
}

/// Returns true for words that a question for any event may contain.
pub(super) fn asks_for_anything(word: &str) -> bool {
    matches!(
        word,
        "happen"
            | "happened"
            | "happening"
            | "happens"
            | "occur"
            | "occurred"
            | "went"
            | "go"
            | "going"
            | "gone"
            | "done"
            | "doing"
            | "up"
            | "new"
            | "news"
            | "event"
            | "events"
            | "thing"
            | "things"
            | "stuff"
            | "anything"
            | "something"
            | "everything"
            | "all"
            | "any"
            | "else"
            | "there"
            | "tell"
            | "show"
            | "list"
            | "remember"
            | "know"
            | "recap"
            | "summary"
            | "summarise"
            | "summarize"
            | "during"
            | "since"
            | "until"
            | "before"
            | "after"
    )
}
