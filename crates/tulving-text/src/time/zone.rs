//! The time zone in which a person counts days, and the formats in which people write times.
//!
//! Instants are stored in UTC. A zone only decides where days begin and end.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer};

use super::{InvalidTime, Timestamp};

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    /// UTC.
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// Returns the zone with this IANA name, such as `Europe/Vienna`. `None` if there is no such zone.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
        let plain = !name.is_empty() && name.len() <= 64 && name.bytes().all(fits);
        plain.then(|| TimeZone::get(name).ok()).flatten().map(Self)
    }

    /// Returns the zone of the system (`TZ`, `/etc/localtime`), or UTC if the system has no zone.
    pub fn system() -> Self {
        Self(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    /// Returns the day of an instant, as `YYYY-MM-DD`. An instant given as a day without a time is that day in every
    /// zone.
    pub fn date(&self, at: Timestamp) -> String {
        if at.is_day() {
            return at.date();
        }
        self.0.to_datetime(at.to_jiff()).strftime("%Y-%m-%d").to_string()
    }

    /// Returns an instant to the minute in local time: `2026-05-27 09:30`.
    pub fn minute(&self, at: Timestamp) -> String {
        self.0.to_datetime(at.to_jiff()).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns the first instant of a day.
    fn start(&self, day: Date) -> Option<Timestamp> {
        let start = day.to_zoned(self.0.clone()).ok()?.timestamp();
        Some(Timestamp::from_micros(start.as_microsecond()))
    }

    /// Returns the local time of an instant, written as if it were UTC. It is used to count days.
    pub fn wall(&self, at: Timestamp) -> Timestamp {
        let shown = self.0.to_datetime(at.to_jiff()).to_zoned(TimeZone::UTC);
        shown.map_or(at, |shown| Timestamp::from_micros(shown.timestamp().as_microsecond()))
    }

    /// Returns the instant of a local time. The minimum and maximum of the range are not converted.
    pub fn instant(&self, wall: Timestamp) -> Timestamp {
        if wall == Timestamp::from_micros(i64::MAX) || wall == Timestamp::from_micros(i64::MIN) {
            return wall;
        }
        let shown = TimeZone::UTC.to_datetime(wall.to_jiff());
        let at = shown.to_zoned(self.0.clone()).ok();
        at.map_or(wall, |at| Timestamp::from_micros(at.timestamp().as_microsecond()))
    }
}

/// Formats the name of the zone, if the zone has one.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.iana_name().unwrap_or("the zone of the system"))
    }
}

/// A time as people write it: an instant or a day. The first instant of a day depends on the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeInput {
    /// An instant.
    At(Timestamp),
    /// A day of the calendar.
    Day(Date),
    /// A number of days before today.
    DaysAgo(i8),
}

impl TimeInput {
    /// Returns the instant that a person in this zone means, relative to `now`.
    pub fn instant(self, zone: &Zone, now: Timestamp) -> Timestamp {
        let start = |day: Date| zone.start(day);
        let found = match self {
            Self::At(at) => return at,
            Self::Day(day) => start(day),
            Self::DaysAgo(days) => {
                let today = zone.0.to_datetime(now.to_jiff()).date();
                today.checked_sub(jiff::Span::new().days(days)).ok().and_then(start)
            }
        };
        found.unwrap_or(now)
    }
}

impl FromStr for TimeInput {
    type Err = InvalidTime;

    /// Parses the texts that [`Timestamp`] parses, and `today` and `yesterday`. A bare date is a day.
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let bare = text.trim();
        match bare.to_ascii_lowercase().as_str() {
            "today" => return Ok(Self::DaysAgo(0)),
            "yesterday" => return Ok(Self::DaysAgo(1)),
            _ => {}
        }
        let at: Timestamp = bare.parse()?;
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
    fn a_zone_is_known_by_its_name_without_a_file_of_the_system() {
        assert_eq!(zone("Europe/Vienna").to_string(), "Europe/Vienna");
        for wrong in ["", "Vienna", "../../etc/passwd", "Europe/Vienna; rm", &"a".repeat(70)] {
            assert_eq!(Zone::named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_day_is_that_of_the_zone() {
        let late = at("2026-05-27T22:30:00Z");
        assert_eq!(zone("Europe/Vienna").date(late), "2026-05-28");
        assert_eq!(zone("America/Los_Angeles").date(late), "2026-05-27");
        assert_eq!(Zone::default().date(late), "2026-05-27");
        assert_eq!(zone("Europe/Vienna").minute(late), "2026-05-28 00:30");
        assert_eq!(zone("America/Los_Angeles").date(at("2026-05-27")), "2026-05-27", "given as a day");
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
        assert!("tomorrow".parse::<TimeInput>().is_err() && "2026-02-30".parse::<TimeInput>().is_err());
    }

    #[test]
    fn the_wall_and_back_is_the_same_instant_and_the_ends_of_time_stay() {
        for name in ["Europe/Vienna", "Asia/Tokyo", "America/Los_Angeles", "UTC"] {
            let (zone, now) = (zone(name), at("2026-05-27T22:30:00Z"));
            assert_eq!(zone.instant(zone.wall(now)), now);
            let end = Timestamp::from_micros(i64::MAX);
            assert_eq!(zone.instant(end), end);
        }
    }
}
