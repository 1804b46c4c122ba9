//! Stretches of whole days, by the clock on the wall of who asks, written down as if it were UTC.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use super::Stretch;
use super::vocabulary::{Feast, Season, Unit};
use crate::time::Timestamp;

/// Days from the first up to, and without, the last. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Days {
    /// The first of them.
    pub(super) from: Date,
    /// The day after the last.
    pub(super) until: Date,
}

impl Days {
    pub(super) fn new(from: Date, until: Date) -> Option<Self> {
        (from < until).then_some(Self { from, until })
    }

    pub(super) fn one(day: Date) -> Option<Self> {
        Self::new(day, moved(day, 1)?)
    }

    pub(super) fn year(year: i16) -> Option<Self> {
        Self::new(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?)
    }

    /// So many months from the first of one on.
    fn months(year: i16, month: i8, count: i64) -> Option<Self> {
        let from = Date::new(year, month, 1).ok()?;
        Self::new(from, shifted(from, Span::new().try_months(count).ok()?)?)
    }

    pub(super) fn stretch(self) -> Option<Stretch> {
        let (from, until) = (instant(self.from)?, instant(self.until)?);
        Some(Stretch { from, until, told_until: until, days: (from, until) })
    }

    /// The same as something that may have been told of up to the end of `today`.
    pub(super) fn told_until(self, today: Date) -> Option<Stretch> {
        let stretch = self.stretch()?;
        Some(Stretch { told_until: stretch.until.max(instant(moved(today, 1)?)?), ..stretch })
    }
}

/// The day that the clock on the wall shows.
pub(super) fn day_of(time: Timestamp) -> Option<Date> {
    let time = jiff::Timestamp::from_microsecond(time.as_micros()).ok()?;
    Some(jiff::tz::Offset::UTC.to_datetime(time).date())
}

fn instant(day: Date) -> Option<Timestamp> {
    let time = jiff::tz::Offset::UTC.to_timestamp(day.to_datetime(jiff::civil::Time::midnight())).ok()?;
    Some(Timestamp::from_micros(time.as_microsecond()))
}

/// The day so many days later.
pub(super) fn moved(day: Date, days: i64) -> Option<Date> {
    shifted(day, Span::new().try_days(days).ok()?)
}

fn shifted(day: Date, span: Span) -> Option<Date> {
    day.checked_add(span).ok()
}

/// What comes back every year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A month and a day of it.
    Day(i8, i8),
    Month(i8),
    Season(Season),
    Feast(Feast),
}

/// Which one of those that come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// The latest that has begun.
    Latest,
    /// The latest that is over.
    Last,
    /// The one of this year or week.
    This,
    /// The first that has not begun.
    Next,
}

impl Shape {
    pub(super) fn in_year(self, year: i16) -> Option<Days> {
        match self {
            Self::Day(month, day) => Days::one(Date::new(year, month, day).ok()?),
            Self::Month(month) => Days::months(year, month, 1),
            Self::Season(Season::Spring) => Days::months(year, 3, 3),
            Self::Season(Season::Summer) => Days::months(year, 6, 3),
            Self::Season(Season::Autumn) => Days::months(year, 9, 3),
            Self::Season(Season::Winter) => Days::months(year, 12, 3),
            Self::Feast(Feast::Fixed(month, day)) => Self::Day(month, day).in_year(year),
            Self::Feast(Feast::Thanksgiving) => {
                let first = Date::new(year, 11, 1).ok()?;
                Days::one(first.nth_weekday_of_month(4, Weekday::Thursday).ok()?)
            }
        }
    }

    /// The one that is meant, seen from `today`. The 29th of February is looked for over eight years.
    pub(super) fn seen_from(self, today: Date, which: Which) -> Option<Days> {
        let year = today.year();
        let mut before = (year - 8..=year).rev().filter_map(|year| self.in_year(year));
        match which {
            Which::Latest => before.find(|days| days.from <= today),
            Which::Last => before.find(|days| days.until <= today),
            Which::This => self.in_year(year),
            Which::Next => (year..=year.checked_add(8)?)
                .filter_map(|year| self.in_year(year))
                .find(|days| days.from > today),
        }
    }
}

/// The day of the week that is meant, from 1 for Monday.
pub(super) fn weekday(today: Date, weekday: i8, which: Which) -> Option<Days> {
    let here = today.weekday().to_monday_one_offset();
    let back = i64::from(here - weekday).rem_euclid(7);
    let days = match which {
        Which::Latest => -back,
        Which::Last if back == 0 => -7,
        Which::Last => -back,
        Which::This => i64::from(weekday - here),
        Which::Next => 7 - back,
    };
    Days::one(moved(today, days)?)
}

/// The unit of the calendar that lies `offset` units from the one around `today`.
pub(super) fn calendar_unit(today: Date, unit: Unit, offset: i64) -> Option<Days> {
    let monday = || moved(today, -i64::from(today.weekday().to_monday_zero_offset()));
    match unit {
        Unit::Hour => Days::one(today),
        Unit::Day => Days::one(moved(today, offset)?),
        Unit::Week => {
            let from = moved(monday()?, 7 * offset)?;
            Days::new(from, moved(from, 7)?)
        }
        Unit::Weekend => {
            let from = moved(monday()?, 7 * offset + 5)?;
            Days::new(from, moved(from, 2)?)
        }
        Unit::Month => {
            let first = shifted(today.first_of_month(), Span::new().try_months(offset).ok()?)?;
            Days::months(first.year(), first.month(), 1)
        }
        Unit::Quarter => {
            let first = shifted(today.first_of_month(), Span::new().try_months(3 * offset).ok()?)?;
            Days::months(first.year(), (first.month() - 1) / 3 * 3 + 1, 3)
        }
        Unit::Year => Days::year(i16::try_from(i64::from(today.year()) + offset).ok()?),
        Unit::Decade => {
            let year = i16::try_from(i64::from(today.year()) / 10 * 10 + 10 * offset).ok()?;
            Days::new(Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(10)?, 1, 1).ok()?)
        }
    }
}

/// The day that lies so many units before `today`.
pub(super) fn back(today: Date, unit: Unit, count: i64) -> Option<Date> {
    let span = match unit {
        Unit::Hour => 0.days(),
        Unit::Day => Span::new().try_days(-count).ok()?,
        Unit::Week | Unit::Weekend => Span::new().try_weeks(-count).ok()?,
        Unit::Month => Span::new().try_months(-count).ok()?,
        Unit::Quarter => Span::new().try_months(count.checked_mul(-3)?).ok()?,
        Unit::Year => Span::new().try_years(-count).ok()?,
        Unit::Decade => Span::new().try_years(count.checked_mul(-10)?).ok()?,
    };
    shifted(today, span)
}

/// A stretch as wide as `widths` units around the day that lies `count` units before `today`.
pub(super) fn around(today: Date, unit: Unit, count: i64, widths: i64) -> Option<Days> {
    let middle = back(today, unit, count)?;
    if unit == Unit::Weekend {
        return calendar_unit(middle, unit, 0);
    }
    let days = widths
        * match unit {
            Unit::Hour | Unit::Day => 1,
            Unit::Week | Unit::Weekend => 7,
            Unit::Month => 30,
            Unit::Quarter => 91,
            Unit::Year => 365,
            Unit::Decade => 3_650,
        };
    let from = moved(middle, -(days / 2))?;
    Days::new(from, moved(from, days)?)
}
