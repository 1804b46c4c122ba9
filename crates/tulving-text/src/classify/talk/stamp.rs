//! The time at the beginning or the end of a line of a conversation.

/// Maximum length of a time in brackets, in bytes.
const BRACKET_BYTES: usize = 48;

/// A time, by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTime {
    /// A clock time: a time with a day or an `AM`, or without seconds.
    Clock,
    /// A time of hours, minutes and seconds only. It is either relative to the beginning or a clock time.
    Seconds(u32),
}

/// Reads a time at the beginning of a line. Returns the time, true if the time was in brackets, and the rest of the
/// line.
pub(super) fn leading(line: &str) -> Option<(LineTime, bool, &str)> {
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

/// Reads a time at the end of a line, with or without brackets. Returns the time and the text before it.
pub(super) fn trailing(line: &str) -> Option<(LineTime, &str)> {
    let line = line.trim_end();
    let (before, inner) = match line.strip_suffix([')', ']']) {
        Some(open) => {
            let at = open.rfind(['(', '['])?;
            (&open[..at], &open[at + 1..])
        }
        None => {
            let at = line.find(|c: char| c.is_ascii_digit())?;
            // In "Speaker 1 00:01:02", the number before the time is part of the name.
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

/// Reads the words of a time at the beginning of a text. One of the words must contain hours and minutes. Returns the
/// time and the rest of the text.
fn words(text: &str) -> Option<(LineTime, &str)> {
    let mut rest = text.trim_start();
    let mut found: Option<LineTime> = None;
    loop {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches(',');
        let read = match found {
            Some(_) if is_half(word) => Some(LineTime::Clock),
            _ => time(word),
        };
        match read {
            Some(stamp) => found = Some(if found.is_some() { LineTime::Clock } else { stamp }),
            None if found.is_none() && is_day(word) => {
                return Some((LineTime::Clock, after_time(rest[end..].trim_start())?));
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

/// Returns the text after a time and its `AM` or `PM`.
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

/// Returns true if a word is a date that consists of digits: `2024-05-12`, `12/05/24`, `12.05.2024`.
fn is_day(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
    parts.len() == 3
        && parts.iter().all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads a time that consists of one word: `10:32`, `10:32:15`, `00:01:02.500`, `9:05pm`, `2024-05-12T10:32:00Z`.
fn time(word: &str) -> Option<LineTime> {
    if let Some((day, clock)) = word.split_once('T') {
        return (is_day(day) && time(clock.trim_end_matches('Z')).is_some()).then_some(LineTime::Clock);
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
        Some(seconds) if !halved => LineTime::Seconds(hours * 3600 + minutes * 60 + seconds),
        _ => LineTime::Clock,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_at_the_beginning_is_read_in_its_usual_forms() {
        for (line, stamp, rest) in [
            ("[10:32] Ann: hi", LineTime::Clock, "Ann: hi"),
            ("[12/05/2024, 10:32:15] Ann: hi", LineTime::Clock, "Ann: hi"),
            ("[2024-05-12 10:32] <ann> hi", LineTime::Clock, "<ann> hi"),
            ("2024-05-12T10:32:00Z Ann: hi", LineTime::Clock, "Ann: hi"),
            ("12.05.24, 9:05 pm - Ann: hi", LineTime::Clock, "Ann: hi"),
            ("9:05pm Ann: hi", LineTime::Clock, "Ann: hi"),
            ("00:01:02 Ann: hi", LineTime::Seconds(62), "Ann: hi"),
            ("(00:01:02.500) Ann: hi", LineTime::Seconds(62), "Ann: hi"),
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
            ("Speaker 1 (00:01:02)", LineTime::Seconds(62), "Speaker 1"),
            ("Speaker 1 00:01:02", LineTime::Seconds(62), "Speaker 1"),
            ("Ann Lee  10:32 AM", LineTime::Clock, "Ann Lee"),
            ("ann — 12/05/2024 10:32", LineTime::Clock, "ann"),
            ("Ann Lee [00:00:04]", LineTime::Seconds(4), "Ann Lee"),
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
