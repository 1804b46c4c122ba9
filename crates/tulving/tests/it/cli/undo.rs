//! `tulving undo` without a pass: the last change by hand, on the command line and over HTTP.

use serde_json::json;

use crate::binary::Tulving;
use crate::serve::client::Server;

#[test]
fn undo_takes_back_the_last_change_by_hand_and_names_it() {
    let tulving = Tulving::new();
    let nothing = tulving.run(&["undo"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (3, ""), "{}", nothing.err);
    tulving.ok(&["save", "Prefers tea"]);
    tulving.ok(&["save", "Ships on Monday", "--type", "todo"]);
    let forgot = tulving.run(&["forget", "1"]);
    assert_eq!(forgot.err, "`tulving restore 1` or `tulving undo` brings it back\n");
    assert_eq!(tulving.ok(&["undo", "--dry-run"]), "would undo: forgot #1 (Prefers tea)\n");
    assert!(tulving.run(&["get", "1"]).err.contains("is forgotten"), "nothing was changed");
    let undone = tulving.run(&["undo"]);
    assert_eq!(undone.out, "undone: forgot #1 (Prefers tea)\n");
    assert_eq!(undone.err, "That was done just now; run `tulving undo` again to redo it\n");
    assert!(tulving.ok(&["get", "1"]).contains("Prefers tea"));
    let both = tulving.run(&["forget", "1", "2"]);
    assert_eq!(both.err, "`tulving restore 1 2` or `tulving undo` brings them back\n");
    assert_eq!(tulving.ok(&["undo"]).lines().count(), 2);
    for (done, described) in [
        (&["update", "1", "Prefers coffee"][..], "undone: edited #1 (Prefers coffee)\n"),
        (&["done", "2"], "undone: done #2 (Ships on Monday)\n"),
        (&["pin", "2"], "undone: pinned #2 (Ships on Monday)\n"),
        (&["archive", "2"], "undone: archived #2 (Ships on Monday)\n"),
        (&["associate", "1", "2"], "undone: linked #1 (Prefers tea) related_to #2 (Ships on Monday)\n"),
        (&["save", "New"], "undone: saved #3 (New)\n"),
    ] {
        tulving.ok(done);
        assert_eq!(tulving.ok(&["undo"]), described);
    }
    assert!(tulving.ok(&["get", "1"]).contains("Prefers tea"));
    let list = tulving.ok(&["list"]);
    assert!(list.contains("  Ships on Monday\n") && !list.contains("New"), "{list}");
    let noted = tulving.json(&["journal", "--note", "Talked to Ada"]);
    let undone = tulving.run(&["undo"]);
    assert_eq!(
        undone.out,
        format!("undone: noted an entry in {}\n", noted["path"].as_str().expect("a path"))
    );
    assert_eq!(undone.err, "That was done just now; undo cannot redo it\n", "a note is not made again");
    assert!(!tulving.ok(&["journal"]).contains("Ada"));
}

#[test]
fn undo_takes_back_what_an_agent_did_and_names_it() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Mine"]);
    tulving.ok(&["--agent", "codex", "save", "Of an agent"]);
    let undone = tulving.run(&["undo"]);
    assert_eq!(undone.out, "undone: saved #2 (Of an agent)\n");
    assert_eq!(undone.err, "That was done just now by codex; run `tulving undo` again to redo it\n");
    let mine = tulving.run(&["--agent", "claude", "undo"]);
    assert_eq!(mine.code, 3, "{} {}", mine.out, mine.err);
}

#[test]
fn what_one_command_did_to_several_memories_is_undone_together() {
    let tulving = Tulving::new();
    for content in ["aa cats", "bb boats", "cc trees"] {
        tulving.ok(&["save", content, "--type", "todo"]);
    }
    let marked = |flag: &str| tulving.json(&["list", flag])["memories"].as_array().map(Vec::len);
    for (command, flag) in [("pin", "--pinned"), ("archive", "--archived"), ("done", "--done")] {
        tulving.ok(&[command, "1", "2", "3"]);
        assert_eq!(marked(flag), Some(3));
        assert_eq!(tulving.ok(&["undo"]).lines().count(), 3, "{command}");
        assert_eq!(marked(flag), Some(0), "{command}");
    }
    tulving.ok(&["forget", "1", "2"]);
    tulving.ok(&["restore", "1", "2"]);
    tulving.ok(&["undo"]);
    assert_eq!(marked("--forgotten"), Some(2));
}

#[test]
fn undo_refuses_what_an_import_changed() {
    let tulving = Tulving::new();
    for content in ["v1", "v2"] {
        for file in ["a", "b"] {
            tulving.write(&format!("i/{file}.md"), format!("of {file} {content}\n"));
        }
        tulving.ok(&["import", "i"]);
    }
    let run = tulving.run(&["undo"]);
    assert!(run.code == 4 && run.err.contains("the memory follows its file"), "{}", run.err);
    std::fs::remove_dir_all(tulving.folder().join("i")).expect("removed");
    std::fs::create_dir(tulving.folder().join("i")).expect("made");
    tulving.ok(&["import", "i", "--prune"]);
    let run = tulving.run(&["undo"]);
    assert!(run.code == 4 && run.err.contains("the memory follows its file"), "{}", run.err);
    assert_eq!(tulving.json(&["list", "--archived"])["memories"].as_array().map(Vec::len), Some(2));
}

#[test]
fn undo_of_a_move_within_one_space_names_what_is_out_of_reach() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "x"]);
    tulving.ok(&["space", "create", "work"]);
    tulving.ok(&["move", "1", "--to", "work"]);
    for space in ["work", "default"] {
        let run = tulving.run(&["--space", space, "undo"]);
        assert!(run.code == 4 && run.err.contains("without `--space`"), "{space}: {}", run.err);
    }
    assert!(tulving.ok(&["undo"]).contains("moved"));
}

#[test]
fn undo_does_not_take_an_archived_conversation_apart() {
    let tulving = Tulving::new();
    let turns = [("user", "hello"), ("assistant", "hi")];
    let lines = turns.map(|(role, content)| format!("{}\n", json!({ "role": role, "content": content })));
    tulving.write("c.jsonl", lines.concat());
    tulving.ok(&["archive-conversation", "c.jsonl", "--title", "Talk"]);
    let run = tulving.run(&["undo"]);
    assert!(run.code == 4 && run.err.contains("wrote the file"), "{} {}", run.out, run.err);
}

#[test]
fn undo_of_a_restore_that_left_a_path_out_forgets_again() {
    let tulving = Tulving::new();
    for name in ["l1.md", "l2.md"] {
        tulving.write(name, "lions\n");
        tulving.ok(&["push", name]);
    }
    tulving.ok(&["forget", "1"]);
    tulving.write("l2.md", "tigers\n");
    tulving.ok(&["push", "l2.md"]);
    let restored = tulving.run(&["restore", "1"]);
    assert!(restored.err.contains("came back without the path"), "{}", restored.err);
    tulving.ok(&["undo"]);
    assert_eq!(tulving.json(&["list", "--forgotten"])["memories"].as_array().map(Vec::len), Some(1));
}

#[test]
fn undo_refuses_by_name_what_cannot_be_taken_back() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Prefers tea"]);
    tulving.ok(&["save", "A secret of mine"]);
    tulving.ok(&["forget", "2", "--hard"]);
    let (error, code) = tulving.json_error(&["undo"]);
    assert_eq!((error["code"].as_str(), code), (Some("cannot_undo"), 4), "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("forgotten for good")), "{error}");
    assert!(tulving.ok(&["get", "1"]).contains("Prefers tea"), "nothing older is taken in its place");
    tulving.ok(&["space", "create", "work"]);
    let run = tulving.run(&["undo"]);
    assert!(run.err.contains("cannot be undone: space created work"), "{}", run.err);
    tulving.write("notes/one.md", "# One\n\nA note.\n");
    tulving.write("notes/two.md", "# Two\n\nAnother note.\n");
    tulving.ok(&["import", "notes"]);
    let run = tulving.run(&["undo"]);
    assert!(run.code == 4 && run.err.contains("an import saves its files one by one"), "{}", run.err);
}

#[test]
fn the_last_change_is_undone_over_http() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let post = |path: &str, body: &serde_json::Value| {
        server.ask("POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
    };
    post("/v1/undo", &json!({})).assert_problem(404, "nothing_to_undo");
    assert_eq!(post("/v1/memories", &json!({ "content": "Prefers tea" })).status, 201);
    let predicted = post("/v1/undo", &json!({ "dry_run": true })).json();
    assert_eq!(predicted["data"]["steps"][0]["text"], "saved #1 (Prefers tea)", "{predicted}");
    let undone = post("/v1/undo", &json!({})).json();
    assert_eq!(undone["data"], predicted["data"], "{undone}");
    assert_eq!(undone["data"]["pass"], serde_json::Value::Null);
    assert_eq!((&undone["data"]["agent"], &undone["data"]["redoable"]), (&json!(null), &json!(true)));
    assert_eq!(tulving.json(&["list"])["memories"].as_array().map(Vec::len), Some(0));
}
