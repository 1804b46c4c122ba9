//! Intervals of complete days in the local time of the person who asks, written as if it were UTC.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use super::QuestionInterval;
use super::vocabulary::{Holiday, Season, TimeUnit};
use crate::time::Timestamp;

/// Number of days of the shortest month.
const SHORTEST_MONTH: i64 = 28;
/// Number of days of the shortest year.
const SHORTEST_YEAR: i64 = 365;

/// A part of a month, a season or a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimePart {
    /// The week with this number, from 0, counted from the first day.
    Week(u8),
    /// The last seven days.
    LastWeek,
    /// The part with this number, from 0, of so many equal parts.
    Share(u8, u8),
}

/// An interval of days, including the first day and excluding the end. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DayInterval {
    /// The first day of the interval.
    pub(super) from: Date,
    /// The day after the last day.
    pub(super) until: Date,
}

impl DayInterval {
    pub(super) fn new(from: Date, until: Date) -> Option<Self> {
        (from < until).then_some(Self { from, until })
    }

    pub(super) fn one(day: Date) -> Option<Self> {
        Self::new(day, moved(day, 1)?)
    }

    pub(super) fn year(year: i16) -> Option<Self> {
        Self::new(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?)
    }

    /// Returns the interval of `count` months from the first day of a month.
    fn months(year: i16, month: i8, count: i64) -> Option<Self> {
        let from = Date::new(year, month, 1).ok()?;
        Self::new(from, shifted(from, Span::new().try_months(count).ok()?)?)
    }

    /// Returns a part of a month, a season or a year; `None` for a shorter interval.
    pub(super) fn part(self, part: TimePart) -> Option<Self> {
        let days = i64::from(self.from.until(self.until).ok()?.get_days());
        if days < SHORTEST_MONTH {
            return None;
        }
        let (from, until) = match part {
            TimePart::Week(nth) => (7 * i64::from(nth), (7 * i64::from(nth) + 7).min(days)),
            TimePart::LastWeek => (days - 7, days),
            TimePart::Share(nth, of) => {
                let (nth, of) = (i64::from(nth), i64::from(of));
                // A year has parts of whole months.
                if days >= SHORTEST_YEAR {
                    let month = |nth: i64| shifted(self.from, Span::new().try_months(12 * nth / of).ok()?);
                    return Self::new(month(nth)?, month(nth + 1)?);
                }
                (days * nth / of, days * (nth + 1) / of)
            }
        };
        Self::new(moved(self.from, from)?, moved(self.from, until)?)
    }

    pub(super) fn interval(self) -> Option<QuestionInterval> {
        let (from, until) = (instant(self.from)?, instant(self.until)?);
        Some(QuestionInterval { from, until, mentioned_until: until, days: (from, until) })
    }

    /// Returns the interval for a time that may have been mentioned until the end of `today`.
    pub(super) fn mentioned_until(self, today: Date) -> Option<QuestionInterval> {
        let interval = self.interval()?;
        Some(QuestionInterval { mentioned_until: interval.until.max(instant(moved(today, 1)?)?), ..interval })
    }
}

/// Returns the day of a local time.
pub(super) fn day_of(time: Timestamp) -> Option<Date> {
    let time = jiff::Timestamp::from_microsecond(time.as_micros()).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(time).date())
}

fn instant(day: Date) -> Option<Timestamp> {
    let time = jiff::tz::Offset::UTC.to_timestamp(day.to_datetime(jiff::civil::Time::midnight())).ok()?;
    Some(Timestamp::from_micros(time.as_microsecond()))
}

/// Returns the day that is the given number of days later.
pub(super) fn moved(day: Date, days: i64) -> Option<Date> {
    shifted(day, Span::new().try_days(days).ok()?)
}

fn shifted(day: Date, span: Span) -> Option<Date> {
    day.checked_add(span).ok()
}

/// A time that recurs every year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum YearlyTime {
    /// A month and a day of the month.
    Day(i8, i8),
    Month(i8),
    Season(Season),
    Feast(Holiday),
}

/// The occurrence that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OccurrenceChoice {
    /// The latest occurrence that has begun.
    Latest,
    /// The latest occurrence that has ended.
    Last,
    /// The occurrence in this year or week.
    This,
    /// The first occurrence that has not begun.
    Next,
}

impl YearlyTime {
    pub(super) fn in_year(self, year: i16) -> Option<DayInterval> {
        match self {
            Self::Day(month, day) => DayInterval::one(Date::new(year, month, day).ok()?),
            Self::Month(month) => DayInterval::months(year, month, 1),
            Self::Season(Season::Spring) => DayInterval::months(year, 3, 3),
            Self::Season(Season::Summer) => DayInterval::months(year, 6, 3),
            Self::Season(Season::Autumn) => DayInterval::months(year, 9, 3),
            Self::Season(Season::Winter) => DayInterval::months(year, 12, 3),
            Self::Feast(Holiday::Fixed(month, day)) => Self::Day(month, day).in_year(year),
            Self::Feast(Holiday::Thanksgiving) => {
                let first = Date::new(year, 11, 1).ok()?;
                DayInterval::one(first.nth_weekday_of_month(4, Weekday::Thursday).ok()?)
            }
        }
    }

    /// Returns the occurrence that is meant, relative to `today`. The 29th of February is searched over eight years.
    pub(super) fn seen_from(self, today: Date, which: OccurrenceChoice) -> Option<DayInterval> {
        let year = today.year();
        let mut before = (year - 8..=year).rev().filter_map(|year| self.in_year(year));
        match which {
            OccurrenceChoice::Latest => before.find(|days| days.from <= today),
            OccurrenceChoice::Last => before.find(|days| days.until <= today),
            OccurrenceChoice::This => self.in_year(year),
            OccurrenceChoice::Next => (year..=year.checked_add(8)?)
                .filter_map(|year| self.in_year(year))
                .find(|days| days.from > today),
        }
    }
}

/// Returns the day of the week that is meant, with 1 for Monday.
pub(super) fn weekday(today: Date, weekday: i8, which: OccurrenceChoice) -> Option<DayInterval> {
    let here = today.weekday().to_monday_one_offset();
    let back = i64::from(here - weekday).rem_euclid(7);
    let days = match which {
        OccurrenceChoice::Latest => -back,
        OccurrenceChoice::Last if back == 0 => -7,
        OccurrenceChoice::Last => -back,
        OccurrenceChoice::This => i64::from(weekday - here),
        OccurrenceChoice::Next => 7 - back,
    };
    DayInterval::one(moved(today, days)?)
}

/// Returns the calendar unit that is `offset` units after the unit that contains `today`. A negative offset means an
/// earlier unit.
pub(super) fn calendar_unit(today: Date, unit: TimeUnit, offset: i64) -> Option<DayInterval> {
    let monday = || moved(today, -i64::from(today.weekday().to_monday_zero_offset()));
    match unit {
        TimeUnit::Hour => DayInterval::one(today),
        TimeUnit::Day => DayInterval::one(moved(today, offset)?),
        TimeUnit::Week => {
            let from = moved(monday()?, 7 * offset)?;
            DayInterval::new(from, moved(from, 7)?)
        }
        TimeUnit::Weekend => {
            let from = moved(monday()?, 7 * offset + 5)?;
            DayInterval::new(from, moved(from, 2)?)
        }
        TimeUnit::Month => {
            let first = shifted(today.first_of_month(), Span::new().try_months(offset).ok()?)?;
            DayInterval::months(first.year(), first.month(), 1)
        }
        TimeUnit::Quarter => {
            let first = shifted(today.first_of_month(), Span::new().try_months(3 * offset).ok()?)?;
            DayInterval::months(first.year(), (first.month() - 1) / 3 * 3 + 1, 3)
        }
        TimeUnit::Year => DayInterval::year(i16::try_from(i64::from(today.year()) + offset).ok()?),
        TimeUnit::Decade => {
            let year = i16::try_from(i64::from(today.year()) / 10 * 10 + 10 * offset).ok()?;
            DayInterval::new(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(10)?, 1, 1).ok()?)
        }
    }
}

/// Returns the day that is `count` units before `today`.
pub(super) fn back(today: Date, unit: TimeUnit, count: i64) -> Option<Date> {
    let span = match unit {
        TimeUnit::Hour => 0.days(),
        TimeUnit::Day => Span::new().try_days(-count).ok()?,
        TimeUnit::Week | TimeUnit::Weekend => Span::new().try_weeks(-count).ok()?,
        TimeUnit::Month => Span::new().try_months(-count).ok()?,
        TimeUnit::Quarter => Span::new().try_months(count.checked_mul(-3)?).ok()?,
        TimeUnit::Year => Span::new().try_years(-count).ok()?,
        TimeUnit::Decade => Span::new().try_years(count.checked_mul(-10)?).ok()?,
    };
    shifted(today, span)
}

/// Returns an interval of `widths` units around the day that is `count` units before `today`.
pub(super) fn around(today: Date, unit: TimeUnit, count: i64, widths: i64) -> Option<DayInterval> {
    let middle = back(today, unit, count)?;
    if unit == TimeUnit::Weekend {
        return calendar_unit(middle, unit, 0);
    }
    let days = widths
        * match unit {
            TimeUnit::Hour | TimeUnit::Day => 1,
            TimeUnit::Week | TimeUnit::Weekend => 7,
            TimeUnit::Month => 30,
            TimeUnit::Quarter => 91,
            TimeUnit::Year => 365,
            TimeUnit::Decade => 3_650,
        };
    let from = moved(middle, -(days / 2))?;
    DayInterval::new(from, moved(from, days)?)
}
