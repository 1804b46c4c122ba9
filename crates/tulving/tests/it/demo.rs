//! `tulving demo`: a made-up year in its own home; other homes are not touched.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use crate::binary::{Run, Tulving, finish};
use crate::shell::terminal::{CTRL_C, Terminal};

/// Walks through the demo with settings of a user that must not matter.
fn demo(tulving: &Tulving, args: &[&str]) -> Run {
    let places = tulving.folder().join("places");
    fs::create_dir_all(&places).expect("a folder");
    let mut command = tulving.command(&["demo"]);
    command
        .args(args)
        .env("TMPDIR", &places)
        .env("TULVING_TOKEN", "nonsense")
        .env("TULVING_SPACE", "nowhere");
    finish(command, b"")
}

/// The output of the demo for one step.
fn step<'a>(out: &'a str, title: &str) -> &'a str {
    let start = out.find(&format!(". {title}\n")).unwrap_or_else(|| panic!("no step {title}: {out}"));
    let rest = &out[start..];
    rest.match_indices("\n\n")
        .find(|(at, _)| rest[at + 2..].starts_with(|c: char| c.is_ascii_digit()))
        .map_or(rest, |(at, _)| &rest[..at])
}

#[test]
fn every_step_shows_what_it_is_about_and_nothing_is_left() {
    let tulving = Tulving::new();
    let run = demo(&tulving, &[]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(!run.err.contains("warning") && !run.err.contains("error"), "{}", run.err);
    for (title, shown) in [
        ("Save", "Saved #"),
        ("Recall", "Marta cannot eat shellfish"),
        ("Explain", "meaning "),
        ("Supersede", "[superseded] The staging database moves to Hetzner"),
        ("Supersede", "The staging database runs on Fly Postgres in Madrid"),
        ("Supersede", "superseded by #"),
        ("Relations", "caused_by"),
        ("Documents", "harbor: what to do when it is down › Gate codes do not arrive"),
        ("Journal", "Cobh signed. The party is on a boat."),
        ("Journal", ".md:1"),
        ("Context", "My name is Juno"),
        ("Lifecycle", "[cooling]"),
        ("Lifecycle", "Would archive #"),
        ("Forget", "Restored #"),
    ] {
        assert!(step(&run.out, title).contains(shown), "{title}: {shown}: {}", step(&run.out, title));
    }
    assert!(!tulving.home().exists(), "the user's home is not touched");
    let left: Vec<_> = fs::read_dir(tulving.folder().join("places")).expect("a folder").collect();
    assert!(left.is_empty(), "the home of the demo is gone: {left:?}");
}

#[test]
fn a_home_that_is_kept_can_be_used_and_is_never_one_that_was_there() {
    let tulving = Tulving::new();
    let kept = tulving.folder().join("juno");
    let kept = kept.to_str().expect("text");
    let run = demo(&tulving, &["--keep", kept, "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let described: serde_json::Value = serde_json::from_str(&run.out).expect("one document");
    assert_eq!(described["home"], kept);
    assert!(described["memories"].as_u64().is_some_and(|count| count > 200), "{described}");

    let archived = tulving.json(&["--home", kept, "list", "--state", "archived", "--limit", "100"]);
    assert!(archived["memories"].as_array().is_some_and(|list| list.len() > 10), "a year leaves its marks");
    let found = tulving.json(&["--home", kept, "doctor", "--deep"]);
    assert_eq!(found["sound"], true, "{found}");

    let again = demo(&tulving, &["--keep", kept]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("is not an empty folder"), "{}", again.err);
    let elsewhere = tulving.run(&["demo", "--home", kept]);
    assert_eq!(elsewhere.code, 2);
    assert!(elsewhere.err.contains("--keep DIR"), "{}", elsewhere.err);
}

#[test]
fn a_signal_leaves_nothing_while_the_year_is_lived() {
    let tulving = Tulving::new();
    let places = tulving.folder().join("places");
    let (new, empty) = (tulving.folder().join("new"), tulving.folder().join("empty"));
    fs::create_dir_all(&places).expect("a folder");
    fs::create_dir_all(&empty).expect("a folder");
    for (keep, made_in) in [(None, &places), (Some(&new), &new), (Some(&empty), &empty)] {
        let mut command = tulving.command(&["demo"]);
        command.env("TMPDIR", &places).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(keep) = keep {
            command.arg("--keep").arg(keep);
        }
        let mut child = command.spawn().expect("the binary starts");
        until(|| files_in(made_in) > 3);
        kill_process(Pid::from_child(&child), Signal::TERM).expect("it runs");
        assert_eq!(child.wait().expect("it ended").code(), Some(143), "{keep:?}");
        assert_eq!(files_in(made_in), 0, "{keep:?}");
    }
    assert!(fs::read_dir(&places).expect("a folder").next().is_none());
    assert!(!new.exists() && empty.exists(), "what it made itself is gone, and nothing else");
}

#[test]
fn control_c_leaves_nothing_at_the_prompt_and_what_is_kept_stays() {
    let tulving = Tulving::new();
    let (places, kept) = (tulving.folder().join("places"), tulving.folder().join("juno"));
    fs::create_dir_all(&places).expect("a folder");
    for keep in [None, Some(&kept)] {
        let mut command = tulving.command(&["demo"]);
        command.env("TMPDIR", &places);
        if let Some(keep) = keep {
            command.arg("--keep").arg(keep);
        }
        let mut terminal = Terminal::start(command, 100);
        terminal.sees("Enter continues");
        terminal.types(CTRL_C);
        assert_eq!(terminal.ends().code(), Some(130));
        assert!(fs::read_dir(&places).expect("a folder").next().is_none());
    }
    let kept = kept.to_str().expect("text");
    assert_eq!(
        tulving.json(&["--home", kept, "list", "--limit", "5"])["memories"].as_array().map(Vec::len),
        Some(5)
    );
}

/// Number of files in a folder, at any depth.
fn files_in(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files_in(&entry.path()) } else { 1 }).sum()
}

fn until(holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come");
}
