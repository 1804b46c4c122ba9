//! The time zone in which a person counts days.
//!
//! Instants are stored in UTC. A zone only decides where days begin and end.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::Timestamp;

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
    pub(crate) fn start(&self, day: Date) -> Option<Timestamp> {
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
    fn the_wall_and_back_is_the_same_instant_and_the_ends_of_time_stay() {
        for name in ["Europe/Vienna", "Asia/Tokyo", "America/Los_Angeles", "UTC"] {
            let (zone, now) = (zone(name), at("2026-05-27T22:30:00Z"));
            assert_eq!(zone.instant(zone.wall(now)), now);
            let end = Timestamp::from_micros(i64::MAX);
            assert_eq!(zone.instant(end), end);
        }
    }
}
