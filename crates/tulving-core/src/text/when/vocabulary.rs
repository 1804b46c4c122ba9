//! English words for times.

/// The months, January first.
pub(crate) const MONTHS: [&str; 12] = [
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
pub(crate) const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// 1 to 12 for the full name of a month.
pub(super) fn month(word: &str) -> Option<i8> {
    position(&MONTHS, word)
}

/// 1 to 12 for the short form of a month.
pub(super) fn short_month(word: &str) -> Option<i8> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if word == "sept" { Some(9) } else { position(&NAMES, word) }
}

/// 1 for Monday to 7 for Sunday. Short forms that are words of their own ("sun", "sat") are none.
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

/// A part of the year, on the northern half of the earth.
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

/// A day that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feast {
    /// Month and day.
    Fixed(i8, i8),
    /// The fourth Thursday of November.
    Thanksgiving,
}

/// The feast that begins with the first of these words, and how many of them name it.
pub(super) fn feast(first: &str, second: &str, third: &str) -> Option<(Feast, usize)> {
    match (first, second, third) {
        ("christmas" | "xmas", "eve", _) => Some((Feast::Fixed(12, 24), 2)),
        ("christmas" | "xmas", "day", _) => Some((Feast::Fixed(12, 25), 2)),
        ("christmas" | "xmas", ..) => Some((Feast::Fixed(12, 25), 1)),
        ("boxing", "day", _) => Some((Feast::Fixed(12, 26), 2)),
        ("new", "year's" | "years" | "year", "eve") => Some((Feast::Fixed(12, 31), 3)),
        ("new", "year's" | "years" | "year", "day") => Some((Feast::Fixed(1, 1), 3)),
        ("new", "year's", _) => Some((Feast::Fixed(1, 1), 2)),
        ("valentine's" | "valentines" | "valentine", "day", _) => Some((Feast::Fixed(2, 14), 2)),
        ("valentine's", ..) => Some((Feast::Fixed(2, 14), 1)),
        ("halloween", ..) => Some((Feast::Fixed(10, 31), 1)),
        ("thanksgiving", "day", _) => Some((Feast::Thanksgiving, 2)),
        ("thanksgiving", ..) => Some((Feast::Thanksgiving, 1)),
        ("independence", "day", _) => Some((Feast::Fixed(7, 4), 2)),
        _ => None,
    }
}

/// A measure of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
    Decade,
}

pub(super) fn unit(word: &str) -> Option<Unit> {
    match word {
        "minute" | "minutes" | "hour" | "hours" => Some(Unit::Hour),
        "day" | "days" | "night" | "nights" | "morning" | "afternoon" | "evening" => Some(Unit::Day),
        "week" | "weeks" | "fortnight" => Some(Unit::Week),
        "weekend" | "weekends" => Some(Unit::Weekend),
        "month" | "months" => Some(Unit::Month),
        "quarter" | "quarters" => Some(Unit::Quarter),
        "year" | "years" => Some(Unit::Year),
        "decade" | "decades" => Some(Unit::Decade),
        _ => None,
    }
}

/// A number written as a word.
pub(super) fn count(word: &str) -> Option<u32> {
    const NAMES: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        _ => position(&NAMES, word).and_then(|count| u32::try_from(count).ok()),
    }
}

/// A number that is only hinted at, as its middle.
pub(super) fn vague_count(word: &str) -> Option<u32> {
    match word {
        "few" => Some(3),
        "several" | "some" => Some(4),
        _ => None,
    }
}

/// Words after which a month or a feast by itself is a time and not a name, a verb or a topic.
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

/// Words with which one asks for whatever there was.
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
