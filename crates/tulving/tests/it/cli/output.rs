//! The output format: for people, for pipes, for readers that close early, and with marks for memories that are no longer true.

use super::furnished;
use crate::binary::{Tulving, finish};

#[test]
fn completions_are_written_without_a_home() {
    let tulving = Tulving::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(tulving.ok(&["completions", shell]).contains("tulving"), "{shell}");
    }
    assert!(!tulving.home().exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let tulving = Tulving::new();
    let lines: String =
        (0..3_000).map(|n| format!("{{\"content\":\"memory {n} {}\"}}\n", "x".repeat(200))).collect();
    assert_eq!(tulving.run_with(&["save", "--batch", "-"], lines.as_bytes()).code, 0);
    let mut command = tulving.command(&["list", "--all"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let mut first = [0; 10];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut first).expect("some output");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let tulving = furnished();
    let escaped = |args: &[&str]| tulving.ok(args).contains('\u{1b}');
    assert!(!escaped(&["list"]));
    assert!(escaped(&["list", "--color", "always"]));
    assert!(!escaped(&["list", "--color", "never"]));
    let mut command = tulving.command(&["list"]);
    command.env("TULVING_OUTPUT_COLOR", "always");
    assert!(finish(command, b"").out.contains('\u{1b}'));
}

#[test]
fn help_is_also_a_command() {
    let tulving = Tulving::new();
    assert_eq!(tulving.ok(&["help"]), tulving.ok(&["--help"]));
    assert_eq!(tulving.ok(&["help", "save"]), tulving.ok(&["save", "--help"]));
    assert_eq!(tulving.ok(&["help", "space", "create"]), tulving.ok(&["space", "create", "--help"]));
    assert_eq!(tulving.run(&["help", "sav"]).code, 2);
    assert!(!tulving.home().exists());
}

#[test]
fn a_line_of_a_pipe_is_cut_where_it_is_very_long() {
    let tulving = Tulving::new();
    let run = tulving.run_with(&["save", "-"], "word ".repeat(10_000).as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    let listed = tulving.ok(&["list"]);
    let shown = listed.trim_end().rsplit("  ").next().expect("a content");
    let (shown, pointer) = shown.split_at(shown.find('…').expect("it is cut"));
    assert!((1_990..=2_000).contains(&shown.chars().count()), "{listed}");
    assert_eq!(pointer, "… (more: tulving get 1)");
    assert_eq!(tulving.json(&["list"])["memories"][0]["content"].as_str().map(str::len), Some(49_999));
    tulving.ok(&["forget", "1", "--hard"]);
    tulving.ok(&["save", &"x".repeat(1_999)]);
    assert!(tulving.ok(&["list"]).contains(&"x".repeat(1_999)));
}

#[test]
fn what_does_not_hold_now_is_marked() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The office is in Turin", "--valid-until", "2020-01-01"]);
    tulving.ok(&["save", "The office is in Milan", "--valid-from", "2999-01-01"]);
    let found = tulving.ok(&["recall", "office"]);
    assert!(found.contains("[no longer valid] The office is in Turin"), "{found}");
    assert!(found.contains("[not yet valid] The office is in Milan"), "{found}");
}

#[test]
fn weights_of_links_have_three_digits_at_the_most() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    tulving.ok(&["save", "two", "--related-to", "1:0.9705582857131958"]);
    tulving.ok(&["save", "three", "--related-to", "1:0.5"]);
    let related = tulving.ok(&["related", "1"]);
    assert!(related.contains("← related_to 0.971 ") && related.contains("← related_to 0.5 "), "{related}");
}

#[test]
fn related_names_the_space_of_what_is_in_another() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team-notes"]);
    tulving.ok(&["save", "one"]);
    let there = tulving.json(&["save", "two", "--space", "team-notes"]);
    tulving.ok(&["save", "three", "--related-to", "1"]);
    let related = tulving.ok(&["related", "1"]);
    assert!(related.contains("  #2  "), "{related}");
    tulving.ok(&["associate", "1", there["id"].as_str().expect("an id")]);
    let related = tulving.ok(&["related", "1"]);
    assert!(related.contains(" team-notes #1 ") && related.contains(" default #2 "), "{related}");
    let related = tulving.ok(&["related", "1", "--default-space", "team-notes"]);
    assert!(related.contains(" default #1 "), "{related}");
    let related = tulving.ok(&["related", "1", "--space", "team-notes"]);
    assert!(!related.contains("one"), "what is linked in another space is not there: {related}");
}
