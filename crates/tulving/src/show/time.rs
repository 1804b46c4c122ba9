//! Formats times for people.

use tulving_core::model::time::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// Returns how long ago a time was: `just now`, `5 min`, `2 h`, `3 d`, `4 mo`, `2 y`. A time in the future is `just now`.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_micros().saturating_sub(then.as_micros()) / 1_000_000;
    if seconds < MINUTE {
        "just now".to_owned()
    } else if seconds < HOUR {
        format!("{} min", seconds / MINUTE)
    } else if seconds < DAY {
        format!("{} h", seconds / HOUR)
    } else if seconds < 30 * DAY {
        format!("{} d", seconds / DAY)
    } else if seconds < YEAR {
        // A month is a twelfth of a year (30.4 days), so that twelve months end with the year.
        format!("{} mo", (seconds * 12 / YEAR).max(1))
    } else {
        format!("{} y", seconds / YEAR)
    }
}

/// Formats an instant to the second: `2026-05-27 09:30:12 UTC`.
pub(crate) fn instant(time: Timestamp) -> String {
    let text = time.to_string();
    let seconds = text.split('.').next().unwrap_or(&text);
    format!("{} UTC", seconds.replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let now: Timestamp = "2026-05-27T12:00:00Z".parse().expect("a time");
        for (then, shown) in [
            ("2026-05-27T11:59:30Z", "just now"),
            ("2026-05-28T00:00:00Z", "just now"),
            ("2026-05-27T11:55:00Z", "5 min"),
            ("2026-05-27T10:00:00Z", "2 h"),
            ("2026-05-24T10:00:00Z", "3 d"),
            ("2026-04-27T10:00:00Z", "1 mo"),
            ("2025-05-29T10:00:00Z", "11 mo"),
            ("2024-05-27T10:00:00Z", "2 y"),
        ] {
            assert_eq!(age(then.parse().expect("a time"), now), shown, "{then}");
        }
    }

    #[test]
    fn instants_are_to_the_second() {
        let time: Timestamp = "2026-05-27T09:30:12.5Z".parse().expect("a time");
        assert_eq!(instant(time), "2026-05-27 09:30:12 UTC");
    }
}
