//! Times as people write them in a filter.

use std::str::FromStr;

use jiff::civil::Date;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::named;
use crate::time::{InvalidTime, Timestamp, Zone};

/// A time as people write it: an instant or a day. The first instant of a day depends on the zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeInput {
    /// An instant.
    At(Timestamp),
    /// A day of the calendar.
    Day(Date),
    /// A time in words, such as `yesterday`, `last week`, `3 days ago` or `May 2026`. It means its first instant.
    Words(String),
}

impl TimeInput {
    /// Returns the instant that a person in this zone means, relative to `now`.
    pub fn instant(&self, zone: &Zone, now: Timestamp) -> Timestamp {
        let found = match self {
            Self::At(at) => return *at,
            Self::Day(day) => zone.start(*day),
            Self::Words(words) => named(words, now, zone).map(|interval| interval.from),
        };
        found.unwrap_or(now)
    }

    /// Returns the first instant of the day that a person in this zone means. It is written in UTC, because times that
    /// have only a day are stored in this form.
    pub fn day(&self, zone: &Zone, now: Timestamp) -> Timestamp {
        let found = match self {
            Self::At(at) => return *at,
            Self::Day(day) => Zone::default().start(*day),
            Self::Words(words) => named(words, now, zone).map(|interval| interval.days.0),
        };
        found.unwrap_or(now)
    }
}

impl FromStr for TimeInput {
    type Err = InvalidTime;

    /// Parses the texts that [`Timestamp`] parses, and times in words. A bare date is a day.
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let bare = text.trim();
        let at: Timestamp = match bare.parse() {
            Ok(at) => at,
            // Any current time is good enough here: it does not affect whether words name a time.
            Err(_) if named(bare, Timestamp::from_micros(0), &Zone::default()).is_some() => {
                return Ok(Self::Words(bare.to_owned()));
            }
            Err(invalid) => return Err(invalid),
        };
        // The last days of the range mean "never", so the zone does not change them.
        let day = (bare.len() == 10 && !bare.starts_with("9999-12-3")).then(|| bare.parse::<Date>().ok());
        Ok(day.flatten().map_or(Self::At(at), Self::Day))
    }
}

impl<'de> Deserialize<'de> for TimeInput {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TimeInput {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeInput".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn zone(name: &str) -> Zone {
        Zone::named(name).expect("a zone")
    }

    #[test]
    fn a_bare_date_and_yesterday_begin_at_midnight_of_the_zone() {
        let now = at("2026-05-27T22:30:00Z");
        let read = |text: &str, name: &str| {
            text.parse::<TimeInput>().expect("a moment").instant(&zone(name), now).to_string()
        };
        assert_eq!(read("2026-05-27", "Europe/Vienna"), "2026-05-26T22:00:00.000000Z");
        assert_eq!(read("2026-01-27", "Europe/Vienna"), "2026-01-26T23:00:00.000000Z");
        assert_eq!(read("Yesterday", "Europe/Vienna"), "2026-05-26T22:00:00.000000Z");
        assert_eq!(read("yesterday", "Asia/Tokyo"), "2026-05-26T15:00:00.000000Z");
        assert_eq!(read("2026-05-27T09:30:00Z", "Asia/Tokyo"), "2026-05-27T09:30:00.000000Z");
        assert_eq!(read("9999-12-31", "Asia/Tokyo"), at("9999-12-31").to_string());
        for wrong in ["soon", "2026-02-30", "", "the 40th of May", "yesterday or so", "last week of all"] {
            assert!(wrong.parse::<TimeInput>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_in_words_means_its_first_instant() {
        let now = at("2026-05-27T22:30:00Z");
        let vienna = zone("Europe/Vienna");
        for (words, day) in [
            ("today", "2026-05-28"),
            ("last week", "2026-05-18"),
            ("this month", "2026-05-01"),
            ("3 days ago", "2026-05-25"),
            ("monday", "2026-05-25"),
            ("May 2025", "2025-05-01"),
            ("early may 2025", "2025-05-01"),
        ] {
            let input: TimeInput = words.parse().expect(words);
            assert_eq!(vienna.date(input.instant(&vienna, now)), day, "{words}");
            assert_eq!(input.day(&vienna, now).date(), day, "{words}");
        }
    }
}
