//! Recall with the real model and the real index, through the binary.

use std::process::Command;
use std::time::{Duration, Instant};

use tulving_core::model::change::{Actor, ChangeSet, Write};
use tulving_core::model::id::{MemoryId, PrincipalId};
use tulving_core::model::memory::{Embedding, Memory};
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{Feed as _, Store as _};
use tulving_store::{Home, SqliteOptions, SqliteStore};

use crate::binary::{Tulving, WITHOUT_MODEL, finish};

fn with_model(tulving: &Tulving, args: &[&str]) -> Command {
    let mut command = tulving.command(args);
    command.env_remove(WITHOUT_MODEL.0);
    command
}

#[track_caller]
fn ok(tulving: &Tulving, args: &[&str], input: &str) -> String {
    let run = finish(with_model(tulving, args), input.as_bytes());
    assert_eq!(run.code, 0, "tulving {args:?}: {}", run.err);
    run.out
}

#[track_caller]
fn contents(tulving: &Tulving, args: &[&str]) -> Vec<String> {
    let out = ok(tulving, &[args, &["--json"]].concat(), "");
    let answer: serde_json::Value = serde_json::from_str(&out).expect("a document");
    let memories = answer["memories"].as_array().expect("memories").iter();
    memories.map(|memory| memory["content"].as_str().expect("a content").to_owned()).collect()
}

const LIFE: [&str; 6] = [
    "We ship by pushing a tag to main; the pipeline does the rest",
    "Marta is allergic to shellfish",
    "The quarterly review is on the last Thursday of the month",
    "Invoices above ten thousand euros need two signatures",
    "The printer on the second floor is out of toner",
    "Our cat is called Schroedinger",
];

#[test]
fn what_was_said_in_other_words_is_found() {
    let tulving = Tulving::new();
    for memory in LIFE {
        ok(&tulving, &["save", memory], "");
    }
    for (question, first) in [
        ("how do we deploy?", LIFE[0]),
        ("can I serve prawns to Marta?", LIFE[1]),
        ("who has to approve a large bill?", LIFE[3]),
        ("what is the name of the pet?", LIFE[5]),
    ] {
        assert_eq!(contents(&tulving, &["recall", question])[0], first, "{question}");
    }
}

#[test]
fn a_word_is_found_while_it_is_typed() {
    let tulving = Tulving::new();
    for memory in LIFE {
        ok(&tulving, &["save", memory], "");
    }
    for (typed, first) in
        [("shel", LIFE[1]), ("the pipe", LIFE[0]), ("invoices above ten thousand eu", LIFE[3])]
    {
        assert_eq!(contents(&tulving, &["recall", typed, "--prefix"])[0], first, "{typed}");
    }
    let listed = finish(with_model(&tulving, &["recall", "--type", "fact", "--prefix"]), b"");
    assert_eq!(listed.code, 2);
    assert!(listed.err.contains("--prefix needs a question"), "{}", listed.err);
}

#[test]
fn six_of_six_todos_and_eight_of_eight_people_are_listed() {
    let tulving = Tulving::new();
    for n in 1..=6 {
        ok(&tulving, &["save", "--type", "todo", &format!("Errand number {n}: call the office")], "");
    }
    for name in ["Ana", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"] {
        ok(&tulving, &["save", "--type", "person", &format!("{name} works on the third floor")], "");
    }
    assert_eq!(contents(&tulving, &["recall", "what are my open todos?"]).len(), 6);
    assert_eq!(contents(&tulving, &["recall", "people"]).len(), 8);
    ok(&tulving, &["done", "6"], "");
    let out = ok(&tulving, &["recall", "how many todos are open?", "--limit", "1", "--explain"], "");
    assert!(out.starts_with("5 open todos:\n#5 ") && out.contains("is an open todo, importance"), "{out}");
    let script = "what is left to do?\nwhich routines do I have?\n";
    let out = ok(&tulving, &["shell"], script);
    assert!(out.contains("5 open todos:"), "{out}");
    let unasked = contents(&tulving, &["recall", "--type", "todo"]);
    assert_eq!(
        (unasked.len(), unasked[5].as_str()),
        (6, "Errand number 6: call the office"),
        "done ones last"
    );
    assert_eq!(
        contents(&tulving, &["recall", "who works on the third floor with Ana?", "--limit", "3"]).len(),
        3
    );
}

#[test]
fn a_bulk_save_is_found_by_word_at_once_and_by_meaning_after_embed() {
    let tulving = Tulving::new();
    let lines: String = (0..80)
        .map(|n| format!("{{\"content\":\"Entry {n}: the warehouse counted {n} crates of apples\"}}\n"))
        .chain([format!("{{\"content\":\"{}\"}}\n", LIFE[1])])
        .collect();
    ok(&tulving, &["save", "--batch", "-"], &lines);
    let run = finish(with_model(&tulving, &["recall", "shellfish", "--limit", "1"]), b"");
    assert!(run.out.contains("shellfish"), "{}", run.out);
    assert!(run.err.contains("wait to be embedded"), "{}", run.err);
    ok(&tulving, &["embed"], "");
    assert_eq!(contents(&tulving, &["recall", "may I cook prawns for her?"])[0], LIFE[1]);
    assert!(ok(&tulving, &["doctor"], "").contains("all memories are embedded"));
    assert_eq!(ok(&tulving, &["embed"], ""), "Nothing is waiting to be embedded\n");
}

#[test]
fn another_process_sees_a_save_and_a_delete_in_its_next_recall() {
    let tulving = Tulving::new();
    ok(&tulving, &["save", LIFE[0]], "");
    ok(&tulving, &["save", LIFE[5]], "");
    assert_eq!(contents(&tulving, &["recall", "what is the cat called?"])[0], LIFE[5]);
    ok(&tulving, &["forget", "2"], "");
    assert!(!contents(&tulving, &["recall", "what is the cat called?"]).contains(&LIFE[5].to_owned()));
    ok(&tulving, &["restore", "2"], "");
    assert_eq!(contents(&tulving, &["recall", "what is the cat called?"])[0], LIFE[5]);
}

#[test]
fn the_index_can_be_deleted_and_comes_back() {
    let tulving = Tulving::new();
    let lines: String = (0..3_000).map(|n| format!("{{\"content\":\"Line {n} of the ledger\"}}\n")).collect();
    tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    assert_eq!(tulving.ok(&["recall", "ledger line 77", "--limit", "1"]).lines().count(), 1);
    let index = tulving.home().join("index");
    assert!(index.is_dir(), "a long tail was folded");
    std::fs::remove_dir_all(&index).expect("it can be deleted");
    let out = tulving.ok(&["recall", "ledger line 77", "--limit", "1"]);
    assert!(out.contains("Line 77 of the ledger"), "{out}");
    tulving.assert_healthy();
}

#[test]
fn a_large_store_whose_index_is_gone_answers_at_once_and_makes_it_anew_behind_the_answer() {
    let tulving = Tulving::new();
    let lines: String = (0..6_000).map(|n| format!("{{\"content\":\"Line {n} of the ledger\"}}\n")).collect();
    tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    let ask = |line: &str| tulving.json(&["recall", &format!("ledger line {line}"), "--limit", "1"]);
    let first = |answer: &serde_json::Value| answer["memories"][0]["content"].to_string();
    let whole = |answer: &serde_json::Value| {
        let failed = answer.get("failed_lanes").and_then(serde_json::Value::as_array);
        !failed.into_iter().flatten().any(|failed| failed["lane"] == "keyword")
    };
    let answer = ask("7");
    assert!(whole(&answer) && first(&answer).contains("Line 7 "), "{answer}");
    std::fs::remove_dir_all(tulving.home().join("index")).expect("it can be deleted");
    let answer = ask("5987");
    assert!(!whole(&answer), "nobody waits until everything was read: {answer}");
    assert!(first(&answer).contains("Line 5987 "), "{answer}");
    // What is older is found by its letters, if the index is not there already.
    assert!(first(&ask("77")).contains("Line 77 "));
    // Nobody has to ask for it, and nobody has to wait for it.
    let end = Instant::now() + Duration::from_secs(60);
    while !whole(&ask("5987")) {
        assert!(Instant::now() < end, "it was not made anew");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(first(&ask("7")).contains("Line 7 "));
    tulving.assert_healthy();
}

#[test]
fn saves_alone_are_folded_too() {
    let tulving = Tulving::new();
    for round in 0..6 {
        let lines: String = (0..100).map(|n| format!("{{\"content\":\"Line {n} of {round}\"}}\n")).collect();
        tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    }
    assert!(tulving.home().join("index/manifest").is_file(), "nobody has recalled anything");
}

#[test]
fn another_model_takes_over_with_embed_alone_and_then_the_old_vectors_go() {
    let tulving = Tulving::new();
    for memory in LIFE {
        tulving.ok(&["save", memory]);
    }
    let home = Home::open_or_create(&tulving.home()).expect("a home");
    let store = SqliteStore::open(&home, SqliteOptions::default()).expect("a store");
    let all = || store.entries_after(None, 100, None).expect("read").into_iter().map(|entry| entry.memory);
    let vectors = |model: &str| {
        let ids: Vec<MemoryId> = all().map(|memory| memory.id).collect();
        let entries = store.entries(&ids, Some(model)).expect("read");
        entries.iter().filter(|entry| entry.chunks[0].embedding.is_some()).count()
    };
    // Another model answered before.
    let earlier = Embedding { model: "earlier".to_owned(), vector: vec![0.6, 0.8], sentences: Vec::new() };
    let embed = |memory: Memory| Write::Embed {
        id: memory.id,
        from: memory.version,
        embeddings: vec![(0, earlier.clone())],
    };
    let by = Actor { principal: PrincipalId::USER, agent: None };
    let writes = all().map(embed).collect();
    let changes = ChangeSet { by, at: Timestamp::from_micros(0), rights: Vec::new(), writes };
    store.apply(&changes).expect("embedded");

    let found = finish(with_model(&tulving, &["recall", "quarterly review"]), b"");
    assert!(found.out.contains(LIFE[2]) && found.err.contains("earlier"), "{}{}", found.out, found.err);
    let saved = finish(with_model(&tulving, &["save", "one more"]), b"");
    assert!(saved.err.contains("not embedded yet"), "{}", saved.err);
    let edited = finish(with_model(&tulving, &["update", "7", "yet one more"]), b"");
    assert!(edited.err.contains("not embedded yet"), "{}", edited.err);
    assert_eq!(vectors("earlier"), 6, "nothing but `embed` changes the model");
    assert!(ok(&tulving, &["doctor"], "").contains("is set up"));
    assert!(ok(&tulving, &["embed"], "").contains("Recall now uses the vectors of"));
    let model = store.model().expect("known").expect("one answers");
    assert_eq!((vectors("earlier"), vectors(&model)), (0, 7));
    assert!(contents(&tulving, &["recall", "what is the pet called?"])[0].contains("cat"));
}

#[test]
fn erased_text_is_in_no_file_of_the_index() {
    let tulving = Tulving::new();
    let mut lines: String =
        (0..2_500).map(|n| format!("{{\"content\":\"Page {n} of the diary\"}}\n")).collect();
    lines.push_str("{\"content\":\"the zyzzyvaquux is hidden in the attic\"}\n");
    tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    assert!(tulving.ok(&["recall", "zyzzyvaquux"]).contains("attic"));
    let held = tulving.files_with("zyzzyvaquux");
    assert!(held.iter().any(|file| file.contains("/index/")), "it was folded: {held:?}");
    tulving.ok(&["forget", "2501", "--hard"]);
    assert_eq!(tulving.files_with("zyzzyvaquux"), [""; 0]);
    assert!(!tulving.ok(&["recall", "zyzzyvaquux"]).contains("attic"));
}

#[test]
fn a_model_that_cannot_be_had_costs_nothing_but_the_vectors() {
    let tulving = Tulving::new();
    let broken = |args: &[&str]| {
        let mut command = tulving.command(args);
        command.env(WITHOUT_MODEL.0, "folder").env("TULVING_EMBEDDING_FOLDER", "/nowhere/at/all");
        finish(command, b"")
    };
    let saved = broken(&["save", LIFE[2]]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    assert!(saved.err.contains("not embedded yet"), "{}", saved.err);
    let found = broken(&["recall", "quarterly review"]);
    assert!(found.out.contains(LIFE[2]), "{}", found.err);
    assert!(found.err.contains("/nowhere/at/all"), "{}", found.err);
}

#[test]
fn off_is_off_on_a_home_that_has_vectors() {
    let tulving = Tulving::new();
    ok(&tulving, &["save", LIFE[0]], "");
    ok(&tulving, &["save", LIFE[1]], "");
    let saved = tulving.run(&["save", LIFE[5]]);
    assert_eq!((saved.code, saved.err.as_str()), (0, ""), "no warning about what was turned off");
    assert!(tulving.ok(&["doctor"]).contains("1 memory waits to be embedded"));
    let found = tulving.json(&["recall", "what is the name of the pet?", "--explain"]);
    let missing = serde_json::json!([{ "lane": "vector", "why": "no embedding model is set up" }]);
    assert_eq!(found["failed_lanes"], missing);
    assert!(!found["memories"].to_string().contains("\"vector\""), "{}", found["memories"]);
    let quiet = tulving.run(&["recall", "shellfish"]);
    assert!(quiet.out.contains(LIFE[1]) && !quiet.err.contains("model"), "{}", quiet.err);
    let asked = tulving.run(&["recall", "shellfish", "--lane", "vector"]);
    assert_eq!(asked.err.matches("no embedding model is set up").count(), 1, "{}", asked.err);
    assert_eq!(tulving.ok(&["embed"]), "Nothing is waiting to be embedded\n");
    assert!(tulving.ok(&["doctor"]).contains("1 memory waits to be embedded"), "nor was it embedded later");
}

#[test]
fn what_nothing_speaks_for_does_not_count_as_used() {
    let tulving = Tulving::new();
    ok(&tulving, &["save", LIFE[1]], "");
    let used = || tulving.json(&["get", "1"])["access_count"].clone();
    let found = ok(&tulving, &["recall", "which animals live in the deep sea?", "--json"], "");
    let found: serde_json::Value = serde_json::from_str(&found).expect("a document");
    assert_eq!((&found["evidence"], found["memories"].as_array().map(Vec::len)), (&"none".into(), Some(1)));
    assert_eq!(used(), 0);
    ok(&tulving, &["recall", "can I serve prawns to Marta?"], "");
    assert_eq!(used(), 1);
    ok(&tulving, &["recall"], "");
    assert_eq!(used(), 2, "what is listed counts as before");
}

#[test]
fn the_best_section_does_not_repeat_its_heading() {
    let tulving = Tulving::new();
    let filler = "The walls are painted every spring, and the floor is waxed in autumn. ".repeat(30);
    let text = format!("# House\n\n## Rooms\n\n{filler}\n\n### Visitors\n\nVisitors ring twice. {filler}");
    ok(&tulving, &["save", "-", "--content-type", "markdown"], &text);
    let found = ok(&tulving, &["recall", "how often do visitors ring?"], "");
    assert!(found.contains("Visitors › line 7 › Visitors ring twice"), "{found}");
    assert!(!found.contains('#') || found.matches('#').count() == 1, "only the number: {found}");
}

#[test]
fn ranks_that_are_added_up_give_the_sum_that_is_shown() {
    let tulving = Tulving::new();
    ok(&tulving, &["save", "Standup is at 9:30 every day"], "");
    let described = ok(&tulving, &["recall", "when is the standup?", "--fusion", "rrf", "--explain"], "");
    assert!(described.contains(" 0.0164 + ") && described.contains(" = 0.0328"), "{described}");
}

#[test]
fn what_says_nearly_the_same_is_named_with_how_it_is_replaced() {
    let tulving = Tulving::new();
    let described = |args: &[&str]| finish(with_model(&tulving, args), b"").err;
    assert_eq!(described(&["save", "Standup is at 9:30 every day"]), "");
    let how = "tulving associate 2 1 --relation updates";
    let said = format!(
        "Possible update of #1 (Standup is at 9:30 every day); if it replaces that: {how}, or save with --updates 1 next time\n"
    );
    assert_eq!(described(&["save", "Standup is at 10:15 every day"]), said);
    ok(&tulving, &how.split_whitespace().skip(1).collect::<Vec<_>>(), "");
    let third = described(&["save", "Standup is at 10:45 every day", "--updates", "2"]);
    assert_eq!(third, "", "what it replaces was named, and the first was replaced already");
}

#[test]
fn a_batch_names_once_what_resembles_something_and_not_what_differs_by_a_label() {
    let tulving = Tulving::new();
    let described = |args: &[&str], input: &str| finish(with_model(&tulving, args), input.as_bytes()).err;
    let batch = |lines: &[&str]| {
        let lines: Vec<String> =
            lines.iter().map(|line| serde_json::json!({ "content": line }).to_string()).collect();
        described(&["save", "--batch", "-"], &lines.join("\n"))
    };
    let rooms = [
        "Room 12 has a projector",
        "Room 14 has a projector",
        "Ticket 1041 is closed",
        "Ticket 1042 is closed",
    ];
    assert_eq!(batch(&rooms), "");
    assert_eq!(batch(&["The shop closes at 18:00", "The demo is on Thursday", "note 1", "note 2"]), "");
    assert_eq!(
        batch(&["The shop closes at 19:00", "The demo is on Friday", "Room 15 has a projector"]),
        "Check these: possible updates: #9 of #5, #10 of #6; \
         if one replaces the other: tulving associate NEWER OLDER --relation updates\n"
    );
}

#[test]
fn a_list_that_the_budget_cut_names_the_budget() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Call the plumber", "--type", "todo"]);
    tulving.ok(&["save", "Buy milk and bread", "--type", "todo"]);
    let described = |args: &[&str]| tulving.run(args).err;
    let cut = described(&["recall", "todos", "--budget", "5"]);
    assert!(cut.contains("1 of 2; --budget shows more"), "{cut}");
    assert!(described(&["recall", "--type", "todo", "--budget", "5"]).contains("--budget shows more"));
    assert!(described(&["recall", "todos", "--limit", "1"]).contains("1 of 2; --limit shows more"));
}

#[test]
fn a_list_by_importance_is_answered_without_a_word_in_common() {
    let tulving = Tulving::new();
    for (content, importance) in
        [("Buy milk", "0.2"), ("Call the plumber", "0.9"), ("Water the plants", "0.5")]
    {
        tulving.ok(&["save", content, "--type", "todo", "--importance", importance]);
    }
    let found = tulving.json(&["recall", "list my todos by importance"]);
    let contents: Vec<&str> = found["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|memory| memory["content"].as_str())
        .collect();
    assert_eq!(contents, ["Call the plumber", "Water the plants", "Buy milk"]);
}
