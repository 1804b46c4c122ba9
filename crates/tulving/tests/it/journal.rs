//! Journals and `MEMORY.md` on the command line, as files that people edit too.

use std::fs;

use crate::binary::{Tulving, finish};

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
        format!("# {day}\n\nthe first line\ntwo\n  lines\nby hand, about Postgres\n")
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
    assert!(run.err.contains("No journal entry for 2026-01-01."), "{}", run.err);
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
    let id = history["history"][0]["id"].as_str().expect("an id");
    assert_eq!(tulving.ok(&["long-term", "show", "--before", id]), "- Is called Ana\n");
    tulving.ok(&["long-term", "restore", id]);
    assert_eq!(tulving.ok(&["long-term", "show"]), "- Is called Ana\n");
    assert_eq!(tulving.json(&["long-term", "history"])["history"].as_array().map(Vec::len), Some(2));
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
