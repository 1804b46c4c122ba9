//! The exact output of every command for people.

/// The output format, for people and for pipes.
mod output;

/// The audit of quality.
mod quality;

/// Output that depends on the owner of the token.
mod rights;

/// Undoing the last change.
mod undo;

/// Answers on a terminal, wrapped to its width.
mod wrapped;

use crate::binary::{Transcript, Tulving, assert_transcript, finish};

/// A home with three memories, the third of which updates the first.
fn furnished() -> Tulving {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Prefers TypeScript over JavaScript", "--type", "preference", "--tag", "code"]);
    tulving.ok(&["save", "The deploy key is rotated on Mondays", "--type", "routine", "--key", "deploy-key"]);
    tulving.ok(&["save", "Prefers Rust over TypeScript", "--type", "preference", "--updates", "1"]);
    tulving
}

#[test]
fn the_bare_command_says_what_to_do_next() {
    let tulving = Tulving::new();
    assert_transcript!(Transcript::new(&tulving).run(&[]).run(&["--version"]));
    assert!(!tulving.home().exists(), "neither opens a home");
    tulving.ok(&["save", "Prefers tea"]);
    assert_transcript!(Transcript::new(&tulving).run(&[]));
}

#[test]
fn help_lists_commands_flags_and_exit_codes() {
    let tulving = Tulving::new();
    assert_transcript!(Transcript::new(&tulving).run(&["--help"]));
    let short = tulving.ok(&["-h"]);
    assert!(short.contains("\nKeeping it good:\n  review "), "{short}");
    assert!(!short.contains("Exit codes:"), "{short}");
}

#[test]
fn every_command_has_examples() {
    let tulving = Tulving::new();
    let help = tulving.ok(&["--help"]);
    let commands =
        help.split("Everyday:").nth(1).and_then(|text| text.split("Options:").next()).expect("commands");
    let mut seen = 0;
    let listed = commands.lines().filter(|line| line.starts_with("  "));
    for command in listed.filter_map(|line| line.split_whitespace().next()) {
        let help = tulving.ok(&[command, "--help"]);
        assert!(help.contains("Examples:\n  "), "{command} has no examples");
        assert!(
            help.lines().all(|line| line.chars().count() <= 120),
            "{command} has a line that is too long"
        );
        seen += 1;
    }
    assert_eq!(seen, 56);
}

#[test]
fn help_of_single_commands() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    for command in ["save", "recall", "list", "update", "config"] {
        transcript.run(&[command, "--help"]);
    }
    assert_transcript!(transcript);
}

#[test]
fn save_says_what_became_of_it() {
    let tulving = Tulving::new();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["save", "Prefers dark roast", "--type", "preference"])
            .run(&["save", "Prefers dark roast"])
            .run(&["save", "Standup", "is", "at", "9:30", "--type", "routine"])
            .run(&["save", "SQLite it is", "--key", "database", "--type", "decision"])
            .run(&["save", "PostgreSQL it is", "--key", "database"])
            .run(&["save", "PostgreSQL it is", "--key", "database"])
            .run(&["archive", "1"])
            .run(&["save", "Prefers dark roast"])
            .run(&["save", "Prefers light roast", "--updates", "1:0.9", "--related-to", "99"])
            .run_with(&["save", "-", "--content-type", "markdown"], b"# Title\n\nFrom standard input.\n")
    );
}

#[test]
fn save_takes_every_field() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "First"]);
    let all = [
        "save",
        "Met Ada in Turin",
        "--type=event",
        "--kind=episodic",
        "--stability=stable",
        "--importance=0.75",
        "--tag=people",
        "--tag=travel",
        "--key=ada",
        "--title=Ada",
        "--summary=A meeting",
        "--content-type=text",
        "--boundary=private",
        "--pin",
        "--auto",
        "--source-note=diary",
        "--source-path=diary/2026.md",
        "--assisted-by=scribe",
        "--trust=shared",
        "--conversation=general",
        "--position=-3",
        "--speaker=Grace",
        "--occurred-at=2026-05-27",
        "--valid-from=2026-05-27T09:30:00Z",
        "--valid-until=2027-05-27T09:30:00+02:00",
        "--expires-at=2099-01-01",
        "--agent=helper",
        "--related-to=1",
        "--caused-by=1:0.2",
    ];
    assert_transcript!(Transcript::new(&tulving).run(&all).run(&["get", "2"]).run(&["related", "2"]));
}

#[test]
fn right_to_left_wide_letters_and_emoji_come_back_as_they_were() {
    let tulving = Tulving::new();
    for text in ["שלום עולם", "日本語のメモ", "👩‍👩‍👧‍👦 family", "cafe\u{301}", "line one\nline two\ttabbed"]
    {
        tulving.ok(&["save", text]);
        assert_eq!(tulving.json(&["list", "--limit", "1"])["memories"][0]["content"], text);
    }
    assert_transcript!(Transcript::new(&tulving).run(&["list"]).run(&["get", "5"]));
}

#[test]
fn recall_finds_by_text_mode_and_filter() {
    let tulving = furnished();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["recall"])
            .run(&["recall", "RUST"])
            .run(&["recall", "over", "typescript", "--explain"])
            .run(&["recall", "ER TYPE", "--mode", "text"])
            .run(&["recall", "quantum", "--abstain-below", "weak"])
            .run(&["recall", "--mode", "important"])
            .run(&["recall", "--mode", "typed", "--type", "routine"])
            .run(&["recall", "--sort", "most-accessed", "--limit", "2"])
            .run(&["recall", "--tag", "code"])
            .run(&["recall", "100%_sure"])
            .run(&["recall", "--type", "goal"])
            .run(&["recall", "--since", "2099-01-01"])
    );
}

#[test]
fn further_sections_stand_below_a_long_memory() {
    let tulving = Tulving::new();
    let section =
        |name: &str, described: &str| format!("## {name}\n\n{described} {}\n\n", "All is clean. ".repeat(30));
    let text = [
        section("Boiler", "The relief valve opens at nine bar."),
        section("Hose", "It is blue."),
        section("Tank", "Its relief valve opens at three bar."),
    ];
    let text = format!("# Manual\n\n{}", text.concat());
    assert_eq!(tulving.run_with(&["save", "-", "--content-type", "markdown"], text.as_bytes()).code, 0);
    let question = "the relief valve opens at nine bar";
    assert_transcript!(
        Transcript::new(&tulving).run(&["recall", question]).run(&["recall", question, "--budget", "150"])
    );
    let found = &tulving.json(&["recall", question])["memories"][0];
    assert_eq!(
        (&found["section"]["line"], &found["more_sections"][0]["line"]),
        (&1.into(), &11.into()),
        "{found}"
    );
    let memory = tulving.json(&["get", "1"]);
    let content = memory["content"].as_str().expect("a text");
    let place = |end: &str| found["more_sections"][0][end].as_u64().and_then(|at| usize::try_from(at).ok());
    let (start, end) = (place("start").expect("a start"), place("end").expect("an end"));
    assert_eq!(found["more_sections"][0]["content"], content[start..end]);
    assert_eq!(found["more_sections"][0]["heading_path"], serde_json::json!(["Manual", "Tank"]));
}

#[test]
fn list_pages_and_filters() {
    let tulving = furnished();
    tulving.ok(&["save", "Old news"]);
    tulving.ok(&["archive", "4"]);
    tulving.ok(&["forget", "2"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["list"])
            .run(&["list", "--limit", "1"])
            .run(&["list", "--archived"])
            .run(&["list", "--forgotten"])
            .run(&["list", "--sort", "oldest", "--all"])
            .run(&["list", "--contains", "rust"])
            .run(&["list", "--tag", "nothing"])
    );
}

#[test]
fn following_the_cursors_neither_skips_nor_repeats() {
    let tulving = Tulving::new();
    let lines: String = (0..25).map(|n| format!("{{\"content\":\"memory {n}\"}}\n")).collect();
    assert_eq!(tulving.run_with(&["save", "--batch", "-"], lines.as_bytes()).code, 0);
    for sort in ["newest", "oldest", "updated", "accessed", "importance", "most-accessed"] {
        let mut numbers = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut args = vec!["list", "--sort", sort, "--limit", "7"];
            if let Some(cursor) = &cursor {
                args.extend(["--cursor", cursor]);
            }
            let page = tulving.json(&args);
            let memories = page["memories"].as_array().expect("a list");
            numbers.extend(memories.iter().map(|memory| memory["number"].as_u64().expect("a number")));
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=25).collect::<Vec<_>>(), "{sort}");
    }
}

#[test]
fn update_history_and_revert() {
    let tulving = furnished();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["update", "1", "Prefers TypeScript\nand nothing else", "--agent", "editor"])
            .run(&["update", "1", "--title", "Language", "--tag", "a", "--tag", "b", "--importance", "0.9"])
            .run(&["update", "1", "--clear", "title", "--clear", "tags"])
            .run(&["update", "#2", "--key", "key-of-deploys", "--expires-at", "2099-01-01"])
            .run(&["history", "1"])
            .run(&["history", "1", "--full"])
            .run(&["revert", "1", "1"])
            .run(&["get", "1"])
    );
}

#[test]
fn forget_restore_and_erase() {
    let tulving = furnished();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["forget", "1", "2", "--reason", "no longer true"])
            .run(&["get", "1"])
            .run(&["recall", "typescript"])
            .run(&["forget", "1"])
            .run(&["restore", "1", "2"])
            .run(&["forget", "1", "--hard"])
            .run(&["forget", "1", "--hard"])
            .run(&["restore", "1"])
            .run(&["forget", "2", "99", "3"])
            .run(&["list", "--forgotten"])
            .run(&["audit", "2"])
    );
}

#[test]
fn all_that_a_condition_holds_of_is_forgotten_after_a_count() {
    let tulving = furnished();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["save", "Deploys elsewhere", "--type", "preference", "--space", "team-a"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["forget", "--where", "type=preference", "--where", "contains=rust", "--dry-run"])
            .run(&["forget", "--where", "type=goal", "--dry-run"])
            .run(&["forget", "--where", "type=preference"])
            .run(&["forget", "--where", "type=preference", "--expect", "7"])
            .run(&["forget", "--where", "type=preference", "--expect", "2", "--reason", "enough"])
            .run(&["forget", "--where", "type=preference", "--yes"])
            .run(&["list", "--forgotten"])
            .run(&["forget", "--where", "since=2020-01-01", "--yes", "--hard"])
            .run(&["list"])
            .run(&["list", "--space", "team-a"])
    );
    tulving.ok(&["save", "one more"]);
    let seen = tulving.json(&["forget", "--where", "contains=one more", "--dry-run"]);
    assert_eq!((&seen["count"], &seen["memories"][0]["content"]), (&1.into(), &"one more".into()));
    let (error, code) = tulving.json_error(&["forget", "--where", "contains=one more"]);
    assert_eq!((&error["code"], code), (&"unconfirmed".into(), 2));
    let gone = tulving.json(&["forget", "--where", "contains=one more", "--expect", "1"]);
    assert_eq!((&gone["count"], &gone["forgotten"][0]["id"]), (&1.into(), &seen["memories"][0]["id"]));
    let gone = tulving.json(&["forget", "--where", "contains=one more", "--yes"]);
    assert_eq!(gone, serde_json::json!({ "count": 0, "forgotten": [] }));
}

#[test]
fn a_timeline_tells_what_held_and_when() {
    let tulving = Tulving::new();
    let said = |content: &str, from: &str, more: &[&str]| {
        tulving.ok(&[&["save", content, "--valid-from", from], more].concat());
    };
    said("The API retries five times", "2024-01-03", &[]);
    said("The API retries three times", "2024-03-10", &["--updates", "1"]);
    said("Nothing is attempted again", "2025-02-01", &["--updates", "2"]);
    said("The API retries over HTTP", "2024-02-01", &["--valid-until", "2024-02-01T08:00:00Z"]);
    said("API retries are planned", "2999-01-01", &["--contradicts", "4"]);
    tulving.ok(&["archive", "1"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["timeline", "API", "retries"])
            .run(&["timeline", "#3"])
            .run(&["timeline", "3", "--since", "2024-06-01", "--until", "2025-01-01"])
            .run(&["timeline", "submarines"])
            .run(&["timeline", "99"])
            .run(&["timeline"])
            .run(&["timeline", " "])
            .run(&["timeline", "API", "--limit", "51"])
            .run(&["timeline", "API", "--since", "soon"])
    );
    let described = tulving.json(&["timeline", "2"]);
    let entry = &described["entries"][0];
    assert_eq!((&entry["number"], &entry["hub_name"]), (&1.into(), &"default".into()));
    assert_eq!((&entry["ended"]["why"], &entry["ended"]["by"]["number"]), (&"superseded".into(), &2.into()));
    assert_eq!((&entry["archived"], &entry["holds"]), (&true.into(), &false.into()));
}

#[test]
fn archive_and_pin() {
    let tulving = furnished();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["archive", "1", "#2"])
            .run(&["archive", "1"])
            .run(&["recall", "typescript"])
            .run(&["unarchive", "1", "2"])
            .run(&["unarchive", "1"])
            .run(&["pin", "1"])
            .run(&["pin", "1", "2"])
            .run(&["list", "--pinned"])
            .run(&["unpin", "1", "2"])
            .run(&["unpin", "1"])
            .run(&["restore", "1"])
            .run(&["list", "--pinned"])
    );
}

#[test]
fn memories_move_to_another_space() {
    let tulving = furnished();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["save", "Was there before", "--space", "team-a"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["move", "2", "99", "#2", "--to", "team-a"])
            .run(&["get", "2"])
            .run(&["list", "--space", "team-a"])
            .run(&["move", "2", "--space", "team-a", "--to", "default"])
            .run(&["move", "1", "--to", "nowhere"])
            .run(&["move", "1"])
            .run(&["save", "Was there before", "--boundary", "hub"])
            .run(&["move", "5", "--to", "team-a"])
            .run(&["audit", "4"])
    );
}

#[test]
fn associations_are_made_shown_and_removed() {
    let tulving = furnished();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["associate", "1", "2"])
            .run(&["associate", "2", "3", "--relation", "caused_by", "--weight", "0.8"])
            .run(&["related", "1"])
            .run(&["related", "1", "--depth", "3"])
            .run(&["dissociate", "1", "2"])
            .run(&["dissociate", "2", "3", "--relation", "caused_by"])
            .run(&["related", "2"])
    );
}

#[test]
fn spaces_members_and_tokens() {
    let tulving = Tulving::new();
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["space", "create", "team-a"])
            .run(&["space", "create", "family", "--group"])
            .run(&["space", "list"])
            .run(&["token", "create", "--for", "bot", "--space", "team-a", "--label", "laptop"])
            .run(&["token", "create", "--for", "ada", "--kind", "person", "--role", "reader"])
            .run(&["space", "members", "team-a"])
            .run(&["space", "members", "default"])
            .run(&["space", "add-member", "team-a", "ada", "--role", "reader"])
            .run(&["space", "add-member", "team-a", "ada", "--role", "admin"])
            .run(&["token", "create", "--for", "ada", "--role", "admin", "--label", "second"])
            .run(&["space", "remove-member", "team-a", "bot"])
            .run(&["save", "--space", "team-a", "Deploys on Fridays are fine"])
            .run(&["save", "Only mine"])
            .run(&["list"])
            .run(&["list", "--all-spaces"])
            .run(&["token", "list"])
            .run(&["token", "revoke", "laptop"])
            .run(&["audit"])
    );
}

#[test]
fn a_token_acts_as_whom_it_is_for() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["save", "Only mine"]);
    tulving.ok(&["save", "--space", "team-a", "For the team"]);
    let token = tulving.ok(&["token", "create", "--for", "bot", "--space", "team-a", "--role", "reader"]);
    let mut transcript = Transcript::new(&tulving);
    let mut run = |args: &[&str]| run_as(&mut transcript, &tulving, &token, args);
    run(&["list"]);
    run(&["list", "--all-spaces"]);
    run(&["save", "hello"]);
    run(&["list", "--space", "default"]);
    run(&["token", "list"]);
    run(&["dump"]);
    tulving.ok(&["token", "revoke", "bot"]);
    run(&["list"]);
    assert_transcript!(transcript);
}

#[test]
fn the_first_use_makes_the_home_and_its_token() {
    use std::os::unix::fs::PermissionsExt;
    let tulving = Tulving::new();
    tulving.ok(&["list"]);
    let mode = |path: &std::path::Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    let file = tulving.home().join("api-token");
    assert_eq!((mode(&tulving.home()), mode(&file)), (0o700, 0o600));
    let token = std::fs::read_to_string(&file).expect("a token");
    tulving.ok(&["list"]);
    assert_eq!(std::fs::read_to_string(&file).expect("a token"), token, "it is made once");
    let files = std::fs::read_dir(tulving.home()).expect("a home").map(|file| file.expect("a file").path());
    let databases: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "db")).collect();
    assert_eq!(databases, [tulving.home().join("tulving.db")], "everything is in one database");
    let mut command = tulving.command(&["save", "by token"]);
    command.env("TULVING_TOKEN", token.trim());
    assert_eq!(finish(command, b"").code, 0);
}

#[test]
fn of_several_first_uses_at_once_one_makes_the_token() {
    let tulving = Tulving::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let tulving = &tulving;
            scope.spawn(move || tulving.ok(&["save", &format!("memory {n}")]));
        }
    });
    assert_eq!(tulving.json(&["token", "list"])["tokens"].as_array().map(Vec::len), Some(1));
    assert_eq!(tulving.ok(&["list"]).lines().count(), 8);
}

#[test]
fn backup_and_restore() {
    let tulving = furnished();
    let mut transcript = Transcript::new(&tulving);
    transcript
        .run(&["backup", "create", "copy.db"])
        .run(&["backup", "create", "copy.db"])
        .run(&["backup", "create", "copy.db", "--force"]);
    tulving.ok(&["save", "After the backup"]);
    transcript
        .run(&["backup", "restore", "copy.db"])
        .run(&["list"])
        .run(&["backup", "restore", "copy.db", "--yes"])
        .run(&["list"])
        .run(&["backup", "restore", "nothing.db", "--yes"]);
    let text = transcript.text();
    let sizes = [(r"\([\d,]+ bytes\)", "([size] bytes)")];
    let filters: Vec<_> = crate::binary::FILTERS.into_iter().chain(sizes).collect();
    insta::with_settings!({ filters => filters, omit_expression => true }, { insta::assert_snapshot!(text) });
}

#[test]
fn the_token_in_the_home_still_works_after_a_restore() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    tulving.ok(&["backup", "create", "copy.db"]);
    let other = Tulving::new();
    other.ok(&["save", "two"]);
    let copy = tulving.folder().join("copy.db");
    other.ok(&["backup", "restore", copy.to_str().expect("UTF-8"), "--yes"]);
    let token = std::fs::read_to_string(other.home().join("api-token")).expect("a token");
    let mut command = other.command(&["list"]);
    command.env("TULVING_TOKEN", token.trim());
    let run = finish(command, b"");
    assert_eq!((run.code, run.out.contains("one")), (0, true), "{}", run.err);
}

#[test]
fn dump_and_load_carry_everything_over() {
    let tulving = furnished();
    tulving.ok(&["update", "1", "Prefers TypeScript, mostly"]);
    tulving.ok(&["forget", "2"]);
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["save", "--space", "team-a", "For the team"]);
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["dump", "all.jsonl"]).run(&["dump", "all.jsonl"]).run(&["load", "all.jsonl"]);
    let other = ["--home", "other"];
    transcript
        .run(&[&other[..], &["load", "all.jsonl"]].concat())
        .run(&[&other[..], &["list", "--all-spaces"]].concat())
        .run(&[&other[..], &["list", "--forgotten"]].concat())
        .run(&[&other[..], &["history", "1"]].concat())
        .run(&[&other[..], &["related", "1"]].concat());
    assert_transcript!(transcript);
    let standard_output = tulving.ok(&["dump"]);
    let again = tulving.run_with(&["--home", "third", "load", "-"], standard_output.as_bytes());
    assert_eq!(again.code, 0, "{}", again.err);
    let memories =
        |home: &str| tulving.json(&["--home", home, "list", "--all-spaces", "--all"])["memories"].clone();
    assert_eq!(memories("third"), memories(tulving.home().to_str().expect("UTF-8")));
}

#[test]
fn doctor_says_what_it_found() {
    use std::os::unix::fs::PermissionsExt;
    let tulving = furnished();
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["doctor"]).run(&["doctor", "--deep"]).run(&["--home", "nowhere", "doctor"]);
    let home = tulving.home();
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755)).expect("changed");
    transcript.run(&["doctor"]);
    std::fs::write(home.join("workspace"), "a file where a folder should be").expect("written");
    transcript.run(&["doctor"]).run(&["journal", "--note", "one"]);
    std::fs::write(home.join("tulving.db"), "this is not a database, it only says so".repeat(100))
        .expect("broken");
    transcript.run(&["doctor"]).run(&["list"]);
    assert_transcript!(transcript);
}

#[test]
fn a_batch_is_saved_up_to_the_wrong_line() {
    let tulving = Tulving::new();
    let good = b"{\"content\":\"one\",\"type\":\"goal\",\"tags\":[\"a\"]}\n\n{\"content\":\"two\",\"key\":\"k\"}\n{\"content\":\"one\"}\n";
    let unknown_field =
        b"{\"content\":\"three\"}\n{\"content\":\"four\",\"colour\":\"red\"}\n{\"content\":\"five\"}\n";
    let empty = b"{\"content\":\"six\"}\n{\"content\":\" \"}\n";
    let no_json = b"{\"content\":\n";
    let no_object = b"\"seven\"\n";
    let no_number = b"{\"content\":\"seven\",\"importance\":\"high\"}\n";
    let marked = b"\xef\xbb\xbf{\"content\":\"after a byte order mark\"}\n";
    let no_utf8 = b"{\"content\":\"seven\"}\n{\"content\":\"\xff\"}\n";
    std::fs::write(tulving.folder().join("good.jsonl"), good).expect("written");
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["save", "--batch", "good.jsonl"])
            .run_with(&["save", "--batch", "-"], unknown_field)
            .run_with(&["save", "--batch", "-"], empty)
            .run_with(&["save", "--batch", "-"], no_json)
            .run_with(&["save", "--batch", "-"], no_object)
            .run_with(&["save", "--batch", "-"], no_number)
            .run_with(&["save", "--batch", "-"], marked)
            .run_with(&["save", "--batch", "-"], no_utf8)
            .run(&["save", "--batch", "missing.jsonl"])
            .run(&["list", "--sort", "oldest"])
    );
}

#[test]
fn a_batch_of_several_transactions_keeps_all_before_the_wrong_line() {
    let tulving = Tulving::new();
    let mut lines: String = (0..2_500).map(|n| format!("{{\"content\":\"memory {n}\"}}\n")).collect();
    lines.push_str("{\"content\":\"\"}\n{\"content\":\"never\"}\n");
    let run = tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    assert_eq!(run.code, 2);
    assert!(run.err.contains("line 2501 of standard input: the content is empty"), "{}", run.err);
    assert!(run.err.contains("2,500 memories before it stayed saved"), "{}", run.err);
    assert_eq!(tulving.ok(&["list", "--all"]).lines().count(), 2_500);
}

#[test]
fn an_edit_that_changes_nothing_says_so() {
    let tulving = furnished();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["save", "For the team", "--space", "team-a"]);
    tulving.ok(&["update", "1", "For the whole team", "--boundary", "private", "--space", "team-a"]);
    assert_transcript!(
        Transcript::new(&tulving)
            .run(&["update", "1", "Prefers TypeScript over JavaScript"])
            .run(&["revert", "1", "1"])
            .run(&["update", "1", "Prefers TypeScript"])
            .run(&["update", "1", "--tag", "code"])
            .run(&["revert", "1", "1", "--space", "team-a"])
            .run(&["revert", "1", "1", "--space", "team-a"])
    );
}

#[test]
fn what_has_expired_is_marked_and_listed_as_archived() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    transcript
        .run(&["save", "Last year's code", "--expires-at", "2001-01-01"])
        .run(&["save", "Next century's code", "--expires-at", "2101-01-01"])
        .run(&["save", "Next century's code", "--title", "Another title"])
        .run(&["list"])
        .run(&["list", "--archived"])
        .run(&["get", "1"])
        .run_with(
            &["save", "--batch", "-"],
            b"{\"content\": \"Older\", \"expires_at\": \"1999-01-01\", \"associations\": [{\"target\": \"#99\"}]}\n",
        );
    assert_transcript!(transcript);
}

#[test]
fn a_fact_that_changes_back_holds_again_and_says_so() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    transcript
        .run(&["save", "The office is in Berlin"])
        .run(&["save", "The office is in Hamburg", "--updates", "1"])
        .run(&["save", "The office is in Berlin"])
        .run(&["save", "The office is in Berlin", "--updates", "2"])
        .run(&["list"])
        .run(&["context"])
        .run(&["associate", "2", "1", "--relation", "updates"])
        .run(&["save", "The rent is 900", "--valid-until", "2001-01-01"])
        .run(&["save", "The rent is 900"])
        .run(&["archive", "2"])
        .run(&["archive", "1"])
        .run(&["context"]);
    assert_transcript!(transcript);
}

#[test]
fn the_text_to_look_for_is_trimmed() {
    let tulving = furnished();
    let text = |text: &str| tulving.ok(&["recall", text, "--mode", "text"]);
    assert_eq!(text("  rust\n"), text("rust"));
    assert_eq!(text("  rust  ").lines().count(), 1);
}

/// Runs with a token, and writes down what it said.
fn run_as(transcript: &mut Transcript<'_>, tulving: &Tulving, token: &str, args: &[&str]) {
    let mut command = tulving.command(args);
    command.env("TULVING_TOKEN", token.trim());
    let run = finish(command, b"");
    transcript.note(&format!("$ TULVING_TOKEN=[token] tulving {}", args.join(" ")), &run);
}

#[test]
fn who_is_in_no_space_is_told_so() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["space", "create", "team-b"]);
    let token = tulving.ok(&["token", "create", "--for", "bot", "--space", "team-a"]);
    let free = tulving.ok(&["token", "create", "--for", "bot", "--label", "free"]);
    let mut transcript = Transcript::new(&tulving);
    let mut run = |token: &str, args: &[&str]| run_as(&mut transcript, &tulving, token, args);
    run(&free, &["list"]);
    run(&free, &["recall", "anything"]);
    run(&free, &["save", "hello"]);
    tulving.ok(&["space", "remove-member", "team-a", "bot"]);
    run(&token, &["list"]);
    run(&token, &["recall"]);
    run(&token, &["save", "hello"]);
    run(&free, &["list", "--all-spaces"]);
    assert_transcript!(transcript);
}

#[test]
fn what_a_load_leaves_out_is_named() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    tulving.ok(&["save", "two", "--related-to", "1"]);
    let dump = tulving.ok(&["dump"]);
    tulving.ok(&["--home", "other", "save", "one"]);
    std::fs::write(tulving.folder().join("all.jsonl"), &dump).expect("written");
    // Without its first line and its last, nobody counts the lines between them.
    let lines: Vec<&str> = dump.lines().collect();
    let between = &lines[1..lines.len() - 1];
    let is_kept = |line: &&&str| !line.contains("\"content\":\"two\"");
    let widowed: Vec<&str> = between.iter().filter(is_kept).copied().collect();
    std::fs::write(tulving.folder().join("widowed.jsonl"), widowed.join("\n")).expect("written");
    assert_transcript!(Transcript::new(&tulving).run(&["--home", "other", "load", "all.jsonl"]).run(&[
        "--home",
        "third",
        "load",
        "widowed.jsonl"
    ]));
    let loading = tulving.json(&["--home", "fourth", "load", "widowed.jsonl"]);
    assert_eq!(loading["left_out"].as_array().map(Vec::len), Some(1), "{loading}");
}
