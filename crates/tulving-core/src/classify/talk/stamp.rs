//! The time at the beginning or the end of a line of a conversation.

/// Most bytes of a time in brackets.
const BRACKET_BYTES: usize = 48;

/// A time, as far as it matters what sort it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// With a day, an `AM` or no seconds: the time of a clock.
    Clock,
    /// Hours, minutes and seconds and nothing else: seconds since a beginning, or the time of a clock.
    Seconds(u32),
}

/// A time at the beginning of a line, whether it was in brackets, and what follows it.
pub(super) fn leading(line: &str) -> Option<(Stamp, bool, &str)> {
    if let Some(inner) = line.strip_prefix(['[', '(']) {
        let end = inner.bytes().take(BRACKET_BYTES).position(|b| matches!(b, b']' | b')'))?;
        let (stamp, rest) = words(&inner[..end])?;
        return rest.is_empty().then(|| (stamp, true, inner[end + 1..].trim_start()));
    }
    if !line.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (stamp, rest) = words(line)?;
    let rest = rest.strip_prefix(['-', '–', '—', '|']).unwrap_or(rest);
    Some((stamp, false, rest.trim_start()))
}

/// A time at the end of a line, in brackets or not, and what stands before it.
pub(super) fn trailing(line: &str) -> Option<(Stamp, &str)> {
    let line = line.trim_end();
    let (before, inner) = match line.strip_suffix([')', ']']) {
        Some(open) => {
            let at = open.rfind(['(', '['])?;
            (&open[..at], &open[at + 1..])
        }
        None => {
            let at = line.find(|c: char| c.is_ascii_digit())?;
            // "Speaker 1 00:01:02": a number is part of the name where a time follows it.
            let next = line[at..].find(' ').map(|space| at + space + 1);
            match next {
                Some(next) if !line[at..next].contains([':', '/', '-', '.']) => {
                    (&line[..next], &line[next..])
                }
                _ => (&line[..at], &line[at..]),
            }
        }
    };
    if inner.len() > BRACKET_BYTES {
        return None;
    }
    let (stamp, rest) = words(inner)?;
    rest.is_empty()
        .then(|| (stamp, before.trim_end_matches(|c: char| c.is_whitespace() || "—–-,·".contains(c))))
}

/// The words of a time that a text begins with, of which one says hours and minutes, and what follows them.
fn words(text: &str) -> Option<(Stamp, &str)> {
    let mut rest = text.trim_start();
    let mut found: Option<Stamp> = None;
    loop {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches(',');
        let read = match found {
            Some(_) if is_half(word) => Some(Stamp::Clock),
            _ => time(word),
        };
        match read {
            Some(stamp) => found = Some(if found.is_some() { Stamp::Clock } else { stamp }),
            None if found.is_none() && is_day(word) => {
                return Some((Stamp::Clock, after_time(rest[end..].trim_start())?));
            }
            None => break,
        }
        rest = rest[end..].trim_start();
        if rest.is_empty() {
            break;
        }
    }
    found.map(|stamp| (stamp, rest))
}

/// What follows the time that a text begins with, and the half of the day after it.
fn after_time(text: &str) -> Option<&str> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    time(text[..end].trim_end_matches(','))?;
    let rest = text[end..].trim_start();
    let half = rest.find(char::is_whitespace).unwrap_or(rest.len());
    Some(if is_half(&rest[..half]) { rest[half..].trim_start() } else { rest })
}

fn is_half(word: &str) -> bool {
    ["am", "pm", "a.m.", "p.m."].iter().any(|half| word.eq_ignore_ascii_case(half))
}

/// Whether a word is a date of digits: `2024-05-12`, `12/05/24`, `12.05.2024`.
fn is_day(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
    parts.len() == 3
        && parts.iter().all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// A time of one word: `10:32`, `10:32:15`, `00:01:02.500`, `9:05pm`, `2024-05-12T10:32:00Z`.
fn time(word: &str) -> Option<Stamp> {
    if let Some((day, clock)) = word.split_once('T') {
        return (is_day(day) && time(clock.trim_end_matches('Z')).is_some()).then_some(Stamp::Clock);
    }
    let halved = word.get(word.len().checked_sub(2)?..).is_some_and(is_half);
    let digits = if halved { &word[..word.len() - 2] } else { word };
    let (digits, _) = digits.split_once(['.', ',']).unwrap_or((digits, ""));
    let mut parts = digits.split(':').map(|part| {
        let fits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        fits.then(|| part.parse::<u32>().ok()).flatten()
    });
    let hours = parts.next()??;
    let minutes = parts.next()?.filter(|minutes| *minutes < 60)?;
    let seconds = match parts.next() {
        Some(seconds) => Some(seconds.filter(|seconds| *seconds < 60)?),
        None => None,
    };
    if parts.next().is_some() {
        return None;
    }
    Some(match seconds {
        Some(seconds) if !halved => Stamp::Seconds(hours * 3600 + minutes * 60 + seconds),
        _ => Stamp::Clock,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_at_the_beginning_is_read_in_its_usual_forms() {
        for (line, stamp, rest) in [
            ("[10:32] Ann: hi", Stamp::Clock, "Ann: hi"),
            ("[12/05/2024, 10:32:15] Ann: hi", Stamp::Clock, "Ann: hi"),
            ("[2024-05-12 10:32] <ann> hi", Stamp::Clock, "<ann> hi"),
            ("2024-05-12T10:32:00Z Ann: hi", Stamp::Clock, "Ann: hi"),
            ("12.05.24, 9:05 pm - Ann: hi", Stamp::Clock, "Ann: hi"),
            ("9:05pm Ann: hi", Stamp::Clock, "Ann: hi"),
            ("00:01:02 Ann: hi", Stamp::Seconds(62), "Ann: hi"),
            ("(00:01:02.500) Ann: hi", Stamp::Seconds(62), "Ann: hi"),
        ] {
            let read = leading(line).map(|(stamp, _, rest)| (stamp, rest));
            assert_eq!(read, Some((stamp, rest)), "{line}");
        }
        for line in
            ["", "[x] Ann: hi", "[1] Ann", "10 people: yes", "1:2:3:4 x", "25:99 x", "[10:32", "12.05.2024 x"]
        {
            assert_eq!(leading(line), None, "{line}");
        }
    }

    #[test]
    fn a_time_at_the_end_is_read_in_its_usual_forms() {
        for (line, stamp, before) in [
            ("Speaker 1 (00:01:02)", Stamp::Seconds(62), "Speaker 1"),
            ("Speaker 1 00:01:02", Stamp::Seconds(62), "Speaker 1"),
            ("Ann Lee  10:32 AM", Stamp::Clock, "Ann Lee"),
            ("ann — 12/05/2024 10:32", Stamp::Clock, "ann"),
            ("Ann Lee [00:00:04]", Stamp::Seconds(4), "Ann Lee"),
        ] {
            assert_eq!(trailing(line), Some((stamp, before)), "{line}");
        }
        for line in ["", "Ann", "Room 3.12", "(a)", "10:32 and on", "version 1.2.3", ")"] {
            assert_eq!(trailing(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "([\\[\\]()0-9:/.,TZapm —-]|\\PC){0,60}") {
            let _ = (leading(&line), trailing(&line));
        }
    }
}
