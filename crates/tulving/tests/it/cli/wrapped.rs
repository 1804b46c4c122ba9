//! Answers on a terminal, which are wrapped to its width, and in a pipe, where each memory is on one line.

use unicode_width::UnicodeWidthStr;

use crate::binary::Tulving;
use crate::shell::terminal::Terminal;

const LONG: &str = "The billing service is deployed every Tuesday at nine, because finance closes its books on Monday \
    evening; see https://wiki.example.org/calendar before you move it, and tell Marta, who has the keys of the vault.";

/// The output on a terminal of that width.
fn shown(tulving: &Tulving, args: &[&str], columns: u16) -> String {
    let text = Terminal::start(tulving.command(args), columns).says();
    for line in text.lines() {
        assert!(line.width() <= usize::from(columns), "wider than {columns}: {line:?}\n{text}");
    }
    text
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn answers_on_a_terminal_are_wrapped_instead_of_cut() {
    let tulving = Tulving::new();
    tulving.ok(&["save", LONG]);
    for columns in [200, 80, 66] {
        let listed = shown(&tulving, &["list"], columns);
        let (heading, content) =
            (listed.find("just now").expect("an age"), listed.find("The bil").expect("shown"));
        assert_eq!(words(&listed[heading + 8..]), words(LONG), "all of it, in {columns}: {listed}");
        let indent = " ".repeat(content);
        assert!(listed.lines().skip(1).all(|line| line.starts_with(&indent)), "it hangs: {listed}");
    }
    let found = shown(&tulving, &["recall", "billing", "--explain"], 50);
    assert!(words(&found).windows(3).any(|three| three == ["of", "the", "vault."]), "{found}");
}

#[test]
fn a_long_memory_ends_with_the_command_that_shows_all_of_it() {
    let tulving = Tulving::new();
    let long = "word ".repeat(1_000) + "end";
    tulving.ok(&["save", &long]);
    for args in [&["list"][..], &["recall", "word"], &["memory"]] {
        let text = shown(&tulving, args, 80);
        assert!(text.contains("… (more: tulving get 1)") && text.lines().count() < 10, "{text}");
    }
    tulving.ok(&["space", "create", "work"]);
    tulving.ok(&["save", &long, "--space", "work"]);
    let there = shown(&tulving, &["list", "--space", "work"], 80);
    assert!(there.contains("… (more: tulving get 1 --space work)"), "{there}");
    assert!(words(&tulving.ok(&["get", "1", "--space", "work"])).ends_with(&["word", "end"]));
    let everywhere = shown(&tulving, &["list", "--all-spaces"], 120);
    let named = words(&everywhere).iter().filter(|word| word.len() > 30).count();
    assert_eq!(named, 2, "a number says nothing there: {everywhere}");
    let whole = Terminal::start(tulving.command(&["get", "1"]), 80).says();
    assert!(words(&whole).contains(&"end"), "get prints everything");
    // In a pipe it is one line.
    let piped = tulving.ok(&["list"]);
    assert_eq!(piped.lines().count(), 1);
    assert!(piped.ends_with("word… (more: tulving get 1)\n"), "{}", &piped[piped.len() - 60..]);
    assert_eq!(tulving.json(&["list"])["memories"][0]["content"], long.as_str());
}

#[test]
fn a_narrow_terminal_has_contents_below_their_headings() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The billing service is deployed every Tuesday"]);
    tulving.ok(&["save", "It moved to Wednesday", "--updates", "1"]);
    let text = shown(&tulving, &["list"], 20);
    assert!(text.contains("#1 fact just now\n  [superseded] The\n  billing service is\n"), "{text}");
    shown(&tulving, &["related", "1"], 20);
    shown(&tulving, &["timeline", "1"], 20);
    shown(&tulving, &["history", "1"], 20);
}

#[test]
fn the_width_is_that_of_columns_where_the_terminal_reports_none() {
    let tulving = Tulving::new();
    tulving.ok(&["save", LONG]);
    let widest = |columns: Option<&str>| {
        let mut command = tulving.command(&["list"]);
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        let text = Terminal::start(command, 0).says();
        text.lines().map(UnicodeWidthStr::width).max().expect("lines")
    };
    assert!((81..=120).contains(&widest(Some("120"))));
    assert!((61..=80).contains(&widest(None)));
    assert!((61..=80).contains(&widest(Some("wide"))));
}

#[test]
fn wide_letters_and_emoji_are_wrapped_by_the_columns_they_take() {
    let tulving = Tulving::new();
    let said = "東京の事務所は毎週火曜日の朝九時に開きます。".repeat(2) + &" 👩‍👩‍👧‍👦 café".repeat(3);
    tulving.ok(&["save", &said, "--title", "事務所"]);
    for columns in [40, 60, 81] {
        let text = shown(&tulving, &["list"], columns);
        let without = |text: &str| text.replace([' ', '\n'], "");
        assert!(without(&text).ends_with(&without(&said)), "in {columns}: {text}");
    }
}

#[test]
fn links_versions_timelines_and_journals_are_wrapped_too() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "It runs"]);
    tulving.ok(&["save", LONG, "--updates", "1"]);
    tulving.ok(&["update", "2", &format!("{LONG} Really.")]);
    tulving.ok(&["journal", "--note", LONG]);
    tulving.ok(&["turn", "log", "user", LONG, "--source", "cron"]);
    for args in [
        &["related", "1"][..],
        &["history", "2"],
        &["timeline", "2"],
        &["journal", "--search", "finance"],
        &["turn", "list"],
        &["get", "1"],
    ] {
        for columns in [100, 70] {
            let text = shown(&tulving, args, columns);
            if args[0] != "get" {
                // Next to two dates there is little room: a text that does not fit gets a pointer.
                let whole = words(&text).contains(&"vault.");
                assert!(
                    whole || columns < 100 && text.contains("… (more: "),
                    "{args:?} in {columns}: {text}"
                );
            }
        }
    }
    let saved = shown(&tulving, &["save", &format!("{LONG} Again.")], 60);
    assert!(saved.starts_with("Saved #") && saved.trim_end().ends_with('…'), "{saved}");
    assert_eq!(saved.lines().count(), 3, "{saved}");
}

#[test]
fn versions_and_turns_in_a_pipe_are_bounded_with_a_pointer() {
    let tulving = Tulving::new();
    let long = "word ".repeat(1_000);
    tulving.ok(&["save", &long]);
    tulving.ok(&["turn", "log", "user", &long, "--source", "cron"]);
    let history = tulving.ok(&["history", "1"]);
    assert!(history.ends_with("… (more: tulving history 1 --full)\n"), "{}", &history[history.len() - 60..]);
    let timeline = tulving.ok(&["timeline", "1"]);
    assert!(timeline.contains("… (more: tulving history 1 --full)"), "{timeline}");
    let turns = tulving.ok(&["turn", "list"]);
    assert!(turns.ends_with("… (more: tulving turn list --json)\n"), "{turns}");
    assert!(turns.len() > 1_900, "more than a glimpse of it");
}
