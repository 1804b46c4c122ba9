//! Adds dates to days that are relative to the day of the turn, because "tomorrow" means another day when it is read
//! later.

use jiff::ToSpan;
use jiff::civil::Date;

use super::clause::{Clause, around};
use crate::classify::lexicon::listed;
use crate::time::Timestamp;
use crate::when::{MONTHS, WEEKDAYS};

/// Returns the UTC day of an instant.
fn day_of(at: Timestamp) -> Option<Date> {
    at.date().parse().ok()
}

/// Returns true if a clause names a day, either relative to the turn or by date.
pub(super) fn is_dated(clause: &Clause<'_>) -> bool {
    let day = |at: usize| listed("today tonight tomorrow", clause.word(at)) || is_weekday_at(clause, at);
    let named = |at: usize| {
        listed("by on until before next this", clause.word(at))
            && (MONTHS.contains(&clause.word(at + 1)) || is_numbered(clause.word(at + 1)))
    };
    let soon = |at: usize| clause.word(at) == "next" && listed("week month", clause.word(at + 1));
    (0..clause.words.len()).any(|at| day(at) || named(at) || soon(at))
}

fn is_numbered(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

fn is_weekday_at(clause: &Clause<'_>, at: usize) -> bool {
    WEEKDAYS.contains(&clause.word(at))
        && at.checked_sub(1).is_some_and(|before| listed(BEFORE, clause.word(before)))
}

/// Words that precede one particular weekday.
const BEFORE: &str = "by on until till before next this is coming";

/// Adds dates to the days that a text names, relative to `at`.
pub(super) fn dated(text: &str, at: Timestamp) -> String {
    let Some(today) = day_of(at) else { return text.to_owned() };
    let pieces: Vec<(&str, &str, &str)> = text.split_inclusive(char::is_whitespace).map(around).collect();
    let lower: Vec<String> = pieces.iter().map(|(_, word, _)| word.to_lowercase()).collect();
    let word = |at: usize| lower.get(at).map_or("", String::as_str);
    let mut described = String::with_capacity(text.len() + 16);
    for (at, (opening, said, closing)) in pieces.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", &word);
        described.push_str(opening);
        match meant(today, before, word(at), word(at + 1)) {
            None => described.push_str(said),
            Some((false, date)) => described.push_str(&format!("{said} ({date})")),
            Some((true, date)) if listed("by on until till before since from for", before) => {
                described.push_str(&date);
            }
            Some((true, date)) => described.push_str(&format!("on {date}")),
        }
        described.push_str(closing);
    }
    described
}

/// Returns the date that a word means, and true if the date should replace the word.
fn meant(today: Date, before: &str, word: &str, after: &str) -> Option<(bool, String)> {
    let moved = |days: i64| today.checked_add(days.days()).ok().map(|day| day.to_string());
    match word {
        "today" | "tonight" => return Some((word == "today", today.to_string())),
        "tomorrow" => return Some((true, moved(1)?)),
        "yesterday" => return Some((true, moved(-1)?)),
        "week" if before == "next" => {
            return Some((
                false,
                format!("from {}", moved(7 - i64::from(today.weekday().to_monday_zero_offset()))?),
            ));
        }
        "month" if before == "next" => {
            let next = today.checked_add(1.month()).ok()?;
            return Some((false, format!("{:04}-{:02}", next.year(), next.month())));
        }
        "year" if before == "this" => return Some((false, today.year().to_string())),
        "year" if before == "next" => return Some((false, (today.year() + 1).to_string())),
        _ => {}
    }
    let weekday = WEEKDAYS.iter().position(|name| *name == word)?;
    // "on Friday mornings" and "the last Friday of the month" are not a single day.
    if !listed(BEFORE, before) || listed("mornings afternoons evenings nights of and or", after) {
        return None;
    }
    let ahead = i64::try_from(weekday).ok()? - i64::from(today.weekday().to_monday_zero_offset());
    Some((false, moved(if ahead <= 0 { ahead + 7 } else { ahead })?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_are_counted_from_the_turn_get_their_dates() {
        let wednesday: Timestamp = "2026-05-27T10:00:00Z".parse().expect("a time");
        for (said, described) in [
            ("call Tom tomorrow.", "call Tom on 2026-05-28."),
            ("done by tomorrow", "done by 2026-05-28"),
            ("ship by Friday", "ship by Friday (2026-05-29)"),
            ("on Wednesday it rains", "on Wednesday (2026-06-03) it rains"),
            ("is next Monday", "is next Monday (2026-06-01)"),
            ("the last Friday of the month", "the last Friday of the month"),
            ("every Friday and on Fridays", "every Friday and on Fridays"),
            ("dive this year", "dive this year (2026)"),
            ("leave next week", "leave next week (from 2026-06-01)"),
            ("nothing of the kind", "nothing of the kind"),
        ] {
            assert_eq!(dated(said, wednesday), described);
        }
    }

    #[test]
    fn a_day_in_brackets_keeps_both_of_them() {
        let wednesday: Timestamp = "2026-05-27T10:00:00Z".parse().expect("a time");
        assert_eq!(dated("the demo (tomorrow) is long", wednesday), "the demo (on 2026-05-28) is long");
        assert_eq!(dated("ship (by \"Friday\")", wednesday), "ship (by \"Friday (2026-05-29)\")");
    }
}
