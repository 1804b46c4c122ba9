//! Days, always in UTC, and the names of their journals.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::model::error::Invalid;
use crate::model::file::JOURNALS;
use crate::model::time::Timestamp;

/// A day of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

impl Day {
    /// Returns the day that contains an instant.
    pub fn of(at: Timestamp) -> Self {
        at.date().parse().expect("a date that was printed is one")
    }

    /// Returns the day before.
    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.yesterday().unwrap_or(self.0))
    }

    /// Parses a day relative to an instant: `today` or `yesterday`, in any case, or `YYYY-MM-DD`.
    pub fn named(text: &str, now: Timestamp) -> Result<Self, Invalid> {
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "today" => Ok(Self::of(now)),
            "yesterday" => Ok(Self::of(now).before()),
            _ => text.parse(),
        }
    }

    /// Returns the day of the journal with this name, or `None` if it is not a journal's name.
    pub fn of_journal(name: &str) -> Option<Self> {
        name.strip_suffix(".md")?.parse().ok()
    }

    /// Returns the name of the day's journal.
    pub fn journal(self) -> String {
        format!("{self}.md")
    }

    /// Returns the path of the day's journal below the folder of a space.
    pub(crate) fn path(self) -> String {
        format!("{JOURNALS}/{}", self.journal())
    }

    /// Returns the day of the journal with this path, or `None` if it is not a journal's path.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        Self::of_journal(super::below(path, JOURNALS)?)
    }

    /// Returns the first instant of the day.
    pub fn start(self) -> Timestamp {
        self.to_string().parse().unwrap_or(Timestamp::from_micros(0))
    }
}

/// Formats as `YYYY-MM-DD`.
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl FromStr for Day {
    type Err = Invalid;

    /// Parses a valid day in exactly the form `YYYY-MM-DD`.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = || Invalid::Day { got: crate::model::preview::short(text) };
        let number = |range: std::ops::Range<usize>| -> Option<i16> {
            let digits = text.get(range)?;
            digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        let shaped = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let parts = || Some((number(0..4)?, number(5..7)?, number(8..10)?));
        let (year, month, day) = shaped.then(parts).flatten().ok_or_else(wrong)?;
        let (month, day) =
            (i8::try_from(month).map_err(|_| wrong())?, i8::try_from(day).map_err(|_| wrong())?);
        Date::new(year, month, day).map(Self).map_err(|_| wrong())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl JsonSchema for Day {
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_days_in_these_digits_are_days() {
        for wrong in [
            "2026-02-30",
            "2026-13-01",
            "2026-00-10",
            "2026-1-01",
            "26-01-01",
            "2026-01-01 ",
            "2026/01/01",
            "20260101",
            "+026-01-01",
            "-026-01-01",
            "٢٠٢٦-01-01",
            "2026-01-0١",
            "",
            "Today",
            "tomorrow",
        ] {
            assert!(wrong.parse::<Day>().is_err(), "{wrong}");
        }
        let leap: Day = "2024-02-29".parse().expect("a leap day");
        assert_eq!(leap.to_string(), "2024-02-29");
        assert_eq!("2024-03-01".parse::<Day>().expect("a day").before(), leap);
    }

    #[test]
    fn only_a_days_own_name_is_a_journals() {
        assert_eq!(Day::of_journal("2026-05-27.md").map(Day::journal).as_deref(), Some("2026-05-27.md"));
        for other in [
            "MEMORY.md",
            "2026-02-30.md",
            "2026-05-27-notes.md",
            "2026-05-27.txt",
            "2026-05-27.MD",
            "2026-05-27",
        ] {
            assert_eq!(Day::of_journal(other), None, "{other}");
        }
    }

    #[test]
    fn today_and_yesterday_are_days_of_utc() {
        let now: Timestamp = "2026-03-01T00:30:00+02:00".parse().expect("a time");
        assert_eq!(Day::named("today", now).expect("a day").to_string(), "2026-02-28");
        assert_eq!(Day::named(" yesterday ", now).expect("a day").to_string(), "2026-02-27");
        for (name, day) in [("Today", "2026-02-28"), ("TODAY", "2026-02-28"), ("Yesterday", "2026-02-27")] {
            assert_eq!(Day::named(name, now).expect("in any case").to_string(), day, "{name}");
        }
        let error = Day::named("2026-02-30", now).expect_err("no such day");
        assert_eq!(error.to_string(), "`2026-02-30` is not a day");
    }
}
