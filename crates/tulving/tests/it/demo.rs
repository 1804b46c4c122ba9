//! `tulving demo`: a year in a home of its own, and nobody else's.

use std::fs;

use crate::binary::{Run, Tulving, finish};

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

/// What the demo says of a step, up to the next.
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
    let told: serde_json::Value = serde_json::from_str(&run.out).expect("one document");
    assert_eq!(told["home"], kept);
    assert!(told["memories"].as_u64().is_some_and(|count| count > 200), "{told}");

    let archived = tulving.json(&["--home", kept, "list", "--state", "archived", "--limit", "100"]);
    assert!(archived["memories"].as_array().is_some_and(|list| list.len() > 10), "a year leaves its marks");
    let found = tulving.json(&["--home", kept, "doctor", "--deep"]);
    assert!(found.to_string().contains("ok"), "{found}");

    let again = demo(&tulving, &["--keep", kept]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("is not an empty folder"), "{}", again.err);
    let elsewhere = tulving.run(&["demo", "--home", kept]);
    assert_eq!(elsewhere.code, 2);
    assert!(elsewhere.err.contains("--keep DIR"), "{}", elsewhere.err);
}
