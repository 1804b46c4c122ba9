use super::*;

/// The time of the questions: a Wednesday.
const NOW: &str = "2026-11-18T10:00:00Z";

/// Formats a list in the format of the tables. Returns `-` if there is no list.
fn written(question: &str) -> String {
    let now: Timestamp = NOW.parse().expect("a time");
    let Some(list) = read(question, now, &Zone::default()) else { return "-".to_owned() };
    let mut parts: Vec<String> = list.types.iter().map(ToString::to_string).collect();
    parts.extend(list.done.map(|done| if done { "done".to_owned() } else { "open".to_owned() }));
    parts.extend(list.counts.then(|| "count".to_owned()));
    parts.extend(list.by_importance.then(|| "importance".to_owned()));
    parts.extend(list.time.map(|time| {
        let QuestionInterval { from, until, .. } = *time.interval();
        let end = |at: Timestamp, is_open: bool| if is_open { "*".to_owned() } else { at.date() };
        let open_from = from.as_micros() < 0;
        let open_until = until.date().as_str() > "9000";
        format!("{}..{}", end(from, open_from), end(until.plus_millis(-1), open_until))
    }));
    parts.join(" ")
}

/// Returns the questions of a table whose result differs from the expected one.
fn wrong(table: &str) -> Vec<String> {
    let rows = table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    let wrong = rows.filter_map(|(question, expected)| {
        let got = written(question);
        (got != expected).then(|| format!("{question}: {got}, not {expected}"))
    });
    wrong.collect()
}

#[test]
fn questions_that_only_name_a_type_are_lists_and_others_are_not() {
    let wrong = [wrong(include_str!("questions.txt")), wrong(include_str!("questions_second.txt"))].concat();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_name_of_a_project_is_split_from_the_end() {
    assert_eq!(without_project("my todos for gantry?"), Some(("my todos", "gantry")));
    assert_eq!(
        without_project("number of open todos in the tidepool project"),
        Some(("number of open todos", "tidepool"))
    );
    assert_eq!(without_project("what do you know about me?"), None);
    assert_eq!(without_project("todos"), None);
}
