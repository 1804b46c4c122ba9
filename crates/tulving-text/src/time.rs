//! Instants with microsecond precision, always in UTC.
//!
//! This module reads no clock. The clock port of `tulving-core` does.

mod zone;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::preview;

pub use self::zone::Zone;

/// 9999-12-30T22:00:00Z, the last instant that can be converted in both directions. Later fractions of a second cannot
/// be converted.
const LAST_MICROS: i64 = 253_402_207_200_000_000;
const DAY_SECONDS: i32 = 86_400;
const DAY_MICROS: i64 = 86_400_000_000;

/// A text that is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTime {
    /// The text cannot be read as a time.
    #[error("`{got}` is not a time")]
    Unreadable {
        /// The given text.
        got: String,
    },
    /// The offset of the time is impossible.
    #[error("`{got}` is {offset} from UTC, and an offset must be less than a day")]
    Offset {
        /// The given text.
        got: String,
        /// The offset.
        offset: String,
    },
}

/// An instant, as microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates an instant from microseconds since the epoch, clamped to the range of years that can be written.
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(jiff::Timestamp::MIN.as_microsecond(), LAST_MICROS))
    }

    /// Returns the microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns this instant moved by a number of milliseconds, which may be negative.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_micros(self.0.saturating_add(millis.saturating_mul(1_000)))
    }

    /// Returns the instant that is later by the given duration.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        self.plus_millis(i64::try_from(by.as_millis()).unwrap_or(i64::MAX))
    }

    /// Returns the UTC day, as `YYYY-MM-DD`.
    pub fn date(self) -> String {
        self.to_jiff().strftime("%Y-%m-%d").to_string()
    }

    /// Returns true if the instant represents a complete UTC day: the first instant represents a date without a time,
    /// and the last millisecond represents the journal of that day.
    pub fn is_day(self) -> bool {
        matches!(DAY_MICROS - self.0.rem_euclid(DAY_MICROS), DAY_MICROS | 1_000)
    }

    fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).expect("the constructors keep it in range")
    }
}

/// A half-open interval. An instant that represents a complete day is compared by days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    /// The first instant of the interval.
    pub from: Timestamp,
    /// The first instant after the interval.
    pub until: Timestamp,
    /// The days of the interval, including the first and excluding the last. They are used for instants that are given
    /// only as a day.
    pub days: (Timestamp, Timestamp),
}

impl Period {
    /// Returns true if an instant is within the interval.
    pub fn has(&self, at: Timestamp) -> bool {
        let (from, until) = if at.is_day() { self.days } else { (self.from, self.until) };
        (from..until).contains(&at)
    }

    /// Returns true if an instant is before the end of the interval.
    pub fn ends_after(&self, at: Timestamp) -> bool {
        at < if at.is_day() { self.days.1 } else { self.until }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", self.to_jiff())
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTime;

    /// Parses RFC 3339 with an offset of less than a day, or a bare `YYYY-MM-DD`, which is that day's first instant in
    /// UTC.
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let text = text.trim();
        let wrong = |_| InvalidTime::Unreadable { got: preview::short(text) };
        let far = offset(text).map(|offset| offset.seconds()).filter(|seconds| seconds.abs() >= DAY_SECONDS);
        if let Some(seconds) = far {
            let offset = format!("{:+03}:{:02}", seconds / 3_600, seconds.abs() / 60 % 60);
            return Err(InvalidTime::Offset { got: preview::short(text), offset });
        }
        let full = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
        match full.parse::<jiff::Timestamp>() {
            Ok(time) => Ok(Self::from_micros(time.as_microsecond())),
            // People write the last day of the year 9999 for "never". This day is slightly outside the range, so it is
            // clamped.
            Err(error) => match full.strip_prefix("9999-12-3") {
                Some(rest) => {
                    let a_year_before = format!("9998-12-3{rest}").parse::<jiff::Timestamp>();
                    a_year_before.map(|_| Self(LAST_MICROS)).map_err(wrong)
                }
                None => Err(wrong(error)),
            },
        }
    }
}

/// Returns the UTC offset at the end of a text that is a time.
pub fn offset(text: &str) -> Option<jiff::tz::Offset> {
    jiff::fmt::temporal::Pieces::parse(text).ok()?.to_numeric_offset()
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bare_date_is_its_first_instant() {
        let day: Timestamp = "2026-05-27".parse().expect("a date");
        assert_eq!(day.to_string(), "2026-05-27T00:00:00.000000Z");
        assert_eq!(day.date(), "2026-05-27");
    }

    #[test]
    fn an_offset_is_less_than_a_day() {
        for fits in ["2026-05-27T09:30:00+14:00", "2026-05-27T09:30:00-23:59", "2026-05-27T09:30:00+00:00"] {
            assert!(fits.parse::<Timestamp>().is_ok(), "{fits}");
        }
        for wrong in ["2026-05-27T09:30:00+25:00", "2026-05-27 09:30-24:00", "9999-12-31T00:00:00+25:00"] {
            let error = wrong.parse::<Timestamp>().expect_err(wrong).to_string();
            assert!(
                error.contains(wrong) && error.contains(&format!("is {} from", &wrong[wrong.len() - 6..])),
                "{error}"
            );
        }
    }

    #[test]
    fn the_last_day_of_all_means_never() {
        for never in ["9999-12-31", "9999-12-31T23:59:59Z", "9999-12-30T23:00:00+01:00"] {
            let time: Timestamp = never.parse().expect(never);
            assert_eq!(time.date(), "9999-12-30", "{never}");
        }
        assert!(
            "9999-12-32".parse::<Timestamp>().is_err()
                && "9999-12-31T25:00:00Z".parse::<Timestamp>().is_err()
        );
    }

    #[test]
    fn impossible_times_are_refused() {
        for wrong in ["", "2026-02-30", "yesterday", "2026-05-27T25:00:00Z", "2026-05-27T10:00:00"] {
            assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_ends_of_time_can_be_written_down() {
        for micros in [i64::MIN, i64::MAX, LAST_MICROS + 1] {
            let time = Timestamp::from_micros(micros);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        let last: Timestamp = "9999-12-30T22:00:00.9Z".parse().expect("a time");
        assert_eq!(last.date(), "9999-12-30");
    }

    proptest! {
        #[test]
        fn parse_inverts_print(micros in any::<i64>()) {
            let time = Timestamp::from_micros(micros);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }
    }
}
