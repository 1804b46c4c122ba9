//! Journals and `MEMORY.md` on the command line, as files that people edit too.

use std::fs;

use crate::binary::{Tulving, finish};
use crate::serve::client::Server;

/// Today, as the journals call it.
fn today(tulving: &Tulving) -> String {
    let noted = tulving.json(&["journal", "--note", "the first line"]);
    noted["date"].as_str().expect("a date").to_owned()
}

#[test]
fn what_is_noted_is_in_the_file_of_the_day_and_found_again() {
    let tulving = Tulving::new();
    let day = today(&tulving);
    let file = tulving.home().join(format!("workspace/memory/{day}.md"));
    assert_eq!(fs::read_to_string(&file).expect("a file"), "the first line\n");
    tulving.run_with(&["journal", "--note", "-"], b"two\nlines\n");
    fs::write(&file, fs::read_to_string(&file).expect("a file") + "by hand, about Postgres\n")
        .expect("written");
    assert_eq!(
        tulving.ok(&["journal"]),
        format!("# {day} (UTC)\n\nthe first line\ntwo\n  lines\nby hand, about Postgres\n")
    );
    assert_eq!(
        tulving.json(&["journal", &day])["content"],
        "the first line\ntwo\n  lines\nby hand, about Postgres\n"
    );
    let found = tulving.ok(&["journal", "--search", "POSTGRES", "--limit", "1"]);
    assert_eq!(found, format!("{day}  by hand, about Postgres  memory/{day}.md:4\n"));
    assert!(tulving.ok(&["journal", "--list"]).starts_with(&format!("{day}  memory/{day}.md")));
    let recalled = tulving.ok(&["recall", "--mode", "text", "Postgres"]);
    assert!(recalled.contains(&format!("memory/{day}.md:4")), "{recalled}");
    assert_eq!(
        tulving.json(&["list"])["memories"].as_array().map(Vec::len),
        Some(0),
        "no record beside the file"
    );
}

#[test]
fn a_day_without_a_journal_and_a_day_that_is_none() {
    let tulving = Tulving::new();
    let run = tulving.run(&["journal", "2026-01-01"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    assert!(run.err.contains("No journal entry for 2026-01-01 (UTC)."), "{}", run.err);
    let (error, code) = tulving.json_error(&["journal", "2026-02-30"]);
    assert_eq!((error["code"].as_str(), code), (Some("invalid_date"), 2), "{error}");
    assert_eq!(tulving.run(&["journal", "today", "--list"]).code, 2);
}

#[test]
fn what_is_always_known_is_replaced_and_brought_back() {
    let tulving = Tulving::new();
    assert_eq!(tulving.ok(&["long-term", "show"]), "");
    let file = tulving.home().join("workspace/memory/MEMORY.md");
    assert_eq!(tulving.run_with(&["long-term", "replace", "-"], b"- Is called Ana\n").code, 0);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "- Is called Ana\n");
    assert_eq!(tulving.ok(&["context", "--dialect", "maven"]), "# Long-term Memory\n\n- Is called Ana\n");
    tulving.run_with(&["long-term", "replace", "-"], b"- Is called Anna\n");
    let history = tulving.json(&["long-term", "history"]);
    let id = history["texts"][0]["id"].as_str().expect("an id");
    assert_eq!(tulving.ok(&["long-term", "show", "--before", id]), "- Is called Ana\n");
    tulving.ok(&["long-term", "restore", id]);
    assert_eq!(tulving.ok(&["long-term", "show"]), "- Is called Ana\n");
    assert_eq!(tulving.json(&["long-term", "history"])["texts"].as_array().map(Vec::len), Some(2));
}

#[test]
fn an_edit_replaces_only_what_was_shown() {
    let tulving = Tulving::new();
    tulving.run_with(&["long-term", "replace", "-"], b"- one\n");
    let edit = |editor: &str| {
        let mut command = tulving.command(&["long-term", "edit"]);
        command.env("EDITOR", editor).env_remove("VISUAL").env("TMPDIR", tulving.folder());
        finish(command, b"")
    };
    let run = edit("true");
    assert!(run.code == 0 && run.err.contains("Nothing changed."), "{}", run.err);
    assert_eq!(edit("sh -c 'echo \"- two\" >> \"$0\"'").code, 0);
    assert_eq!(tulving.ok(&["long-term", "show"]), "- one\n- two\n");
    let file = tulving.home().join("workspace/memory/MEMORY.md");
    let meanwhile = format!("sh -c 'echo mine > \"$0\"; echo theirs > {}'", file.display());
    let run = edit(&meanwhile);
    assert_ne!(run.code, 0);
    assert_eq!(tulving.ok(&["long-term", "show"]), "theirs\n");
    let kept = run.err.split("kept in ").nth(1).and_then(|rest| rest.split(';').next()).expect("where");
    assert_eq!(fs::read_to_string(kept).expect("the copy"), "mine\n");
}

/// Runs a command in the time zone of this variable, and returns its output.
fn in_zone(tulving: &Tulving, variable: &str, zone: &str, args: &[&str]) -> String {
    let mut command = tulving.command(args);
    command.env(variable, zone);
    let run = finish(command, b"");
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

#[test]
fn days_are_those_of_the_users_time_zone_and_journals_stay_one_for_each_utc_day() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The demo went well", "--occurred-at", "2026-05-27T22:30:00Z"]);
    let shown = |variable: &str, zone: &str| in_zone(&tulving, variable, zone, &["timeline", "the demo"]);
    assert!(shown("TULVING_TIMEZONE", "Europe/Vienna").starts_with("2026-05-28"), "the setting");
    assert!(shown("TZ", "Europe/Vienna").starts_with("2026-05-28"), "the zone of the system");
    assert!(shown("TZ", "UTC").starts_with("2026-05-27"));
    let saved = tulving.json(&["get", "1"])["created_at"].as_str().expect("a time").to_owned();
    let day = &saved[..10];
    // It is a day later there as soon as the day has begun here, and a day earlier until it ends.
    let zones = [("Pacific/Kiritimati", 14), ("Pacific/Pago_Pago", -11)];
    for (zone, hours) in zones {
        let at: i64 = saved[11..13].parse().expect("an hour");
        let since = in_zone(&tulving, "TULVING_TIMEZONE", zone, &["list", "--since", "today"]);
        assert!(since.contains("The demo"), "{zone}: what was saved now was saved today");
        let bare = in_zone(&tulving, "TULVING_TIMEZONE", zone, &["list", "--since", day]);
        assert_eq!(bare.contains("The demo"), at + hours >= 0, "{zone} at {saved}");
    }
    let noted = in_zone(&tulving, "TULVING_TIMEZONE", "Pacific/Kiritimati", &["journal", "--note", "a line"]);
    let now = tulving.json(&["journal", "today"])["date"].as_str().expect("a day").to_owned();
    assert!(noted.contains(&now), "{noted}: the day of the journal is that of UTC");
    let run = {
        let mut command = tulving.command(&["list"]);
        command.env("TULVING_TIMEZONE", "Vienna");
        finish(command, b"")
    };
    assert!(run.code == 2 && run.err.contains("must be a name such as Europe/Vienna"), "{}", run.err);
}

#[test]
fn a_client_that_names_its_time_zone_counts_days_in_it() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The demo went well"]);
    let saved = tulving.json(&["get", "1"])["created_at"].as_str().expect("a time").to_owned();
    let (day, hour): (&str, i64) = (&saved[..10], saved[11..13].parse().expect("an hour"));
    let server = Server::start(&tulving);
    for (zone, offset) in [("Pacific/Kiritimati", 14), ("Pacific/Pago_Pago", -11), ("Etc/Unknown", 0)] {
        let path = format!("/v1/memories?since={day}");
        let found = server.ask("GET", &path, &[("X-Timezone", zone)], b"");
        assert_eq!(found.status, 200, "{zone}: {}", found.text());
        assert_eq!(found.text().contains("The demo"), hour + offset >= 0, "{zone} at {saved}");
        let today = server.ask("GET", "/v1/memories?since=today", &[("X-Timezone", zone)], b"");
        assert!(today.text().contains("The demo"), "{zone}: {}", today.text());
    }
    let unknown = server.ask("GET", "/v1/memories", &[("X-Timezone", "Europe/Atlantis")], b"");
    unknown.assert_problem(400, "invalid_header");
    assert!(unknown.text().contains("`Europe/Atlantis` is not a time zone"), "{}", unknown.text());
}
