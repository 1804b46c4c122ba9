//! The part of a long prompt by which memories are searched: what the user wrote, and the lines that report a failure.
//!
//! An agent passes on whole logs. A model reads only their beginning, and the words of thousands of ordinary lines hide
//! the words that matter. A text without such lines is not changed. English words only.

use std::collections::HashMap;

/// Minimum length of a prompt of which an excerpt is made, in bytes: about what a model reads at once.
const LONG: usize = 1_200;
/// Minimum number of lines of such a prompt.
const LINES: usize = 8;
/// Maximum length of the excerpt, in bytes.
const MOST: usize = 800;
/// Maximum length of each line of it.
const MOST_OF_A_LINE: usize = 300;
/// Words of lines that report a failure.
const FAILURES: [&str; 27] = [
    "abort",
    "cannot",
    "can't",
    "corrupt",
    "crash",
    "deadlock",
    "denied",
    "error",
    "exception",
    "exceeded",
    "fail",
    "fatal",
    "forbidden",
    "invalid",
    "killed",
    "mismatch",
    "missing",
    "no such",
    "not found",
    "oom",
    "panic",
    "refused",
    "timed out",
    "timeout",
    "unable",
    "undefined",
    "unexpected",
];

/// Returns the excerpt of a prompt; `None` if the prompt is searched as it is.
pub fn excerpt(prompt: &str) -> Option<String> {
    if prompt.len() < LONG {
        return None;
    }
    let lines: Vec<&str> = prompt.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() < LINES {
        return None;
    }
    let shapes: Vec<String> = lines.iter().map(|line| shape(line)).collect();
    let mut times: HashMap<&str, usize> = HashMap::new();
    shapes.iter().for_each(|shape| *times.entry(shape).or_default() += 1);
    let mut failures: Vec<usize> = (0..lines.len()).filter(|at| reports_failure(lines[*at])).collect();
    if failures.is_empty() {
        return None;
    }
    // A failure that is reported once tells more than one that is reported in every second line.
    failures.sort_by_key(|at| (times[shapes[*at].as_str()], *at));
    let own = [0, lines.len() - 1].into_iter().filter(|at| is_prose(lines[*at]));
    let (mut taken, mut room, mut known): (Vec<usize>, usize, Vec<&str>) = (Vec::new(), MOST, Vec::new());
    for at in own.chain(failures) {
        let length = lines[at].len().min(MOST_OF_A_LINE);
        if length > room || known.contains(&shapes[at].as_str()) {
            continue;
        }
        room -= length;
        known.push(&shapes[at]);
        taken.push(at);
    }
    taken.sort_unstable();
    let short = |line: &'_ str| line[..line.floor_char_boundary(MOST_OF_A_LINE)].to_owned();
    Some(taken.into_iter().map(|at| short(lines[at])).collect::<Vec<_>>().join("\n"))
}

/// Returns a line without its digits, so that lines that differ by times and numbers are alike.
fn shape(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit()).take(MOST_OF_A_LINE).collect()
}

fn reports_failure(line: &str) -> bool {
    let line = line.to_lowercase();
    FAILURES.iter().any(|word| line.contains(word))
}

/// Returns true if a line is written by a person: it begins with a letter, and most of it is words.
fn is_prose(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic() || *c == ' ' || *c == '\'').count();
    line.starts_with(char::is_alphabetic) && letters * 10 >= line.chars().count() * 9
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_the_user_wrote_and_what_failed_is_left_of_a_log() {
        let ordinary = (0..200).map(|n| format!("10:00:{n:02} INFO loaded {n} rows"));
        let mut lines: Vec<String> = ordinary.collect();
        lines.insert(120, "10:02:00 ERROR could not lock the table: deadlock detected".to_owned());
        (0..20).for_each(|n| lines.insert(5 * n, format!("10:00:{n:02} WARN cache entry {n} missing")));
        let log = format!("what went wrong last night?\n\n{}", lines.join("\n"));
        let left = excerpt(&log).expect("an excerpt");
        let left: Vec<&str> = left.lines().collect();
        assert_eq!(left[0], "what went wrong last night?");
        assert!(left.iter().any(|line| line.ends_with("deadlock detected")), "{left:?}");
        assert_eq!(left.iter().filter(|line| line.contains("cache entry")).count(), 1, "{left:?}");
        assert!(!left.iter().any(|line| line.contains("INFO")), "{left:?}");
    }

    #[test]
    fn prose_and_short_texts_stay() {
        assert_eq!(excerpt("error: no such file"), None);
        assert_eq!(excerpt(&"We walked along the river and talked.\n".repeat(200)), None);
        assert_eq!(excerpt(&"it failed ".repeat(500)), None, "one line");
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short(line in "\\PC{0,400}") {
            let text = format!("{line} error\n{line}\n").repeat(40);
            if let Some(left) = excerpt(&text) {
                prop_assert!(left.len() <= MOST + LINES * 4);
            }
        }
    }
}
