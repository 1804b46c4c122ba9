//! Aged memories, as people and a server see them: memories from years ago, imported from another system.

use serde_json::{Value, json};

use crate::binary::{Transcript, Tulving, WITHOUT_MODEL, finish};
use crate::serve::client::{Server, eventually};

/// Takes in memories of these contents and stabilities, as old as the year 2020.
fn old(tulving: &Tulving, memories: &[(&str, &str)]) {
    let one = |(n, (content, stability)): (usize, &(&str, &str))| {
        let at = format!("2020-03-0{}T10:00:00Z", n + 1);
        json!({
            "id": format!("mem_{n:032x}"), "content": content, "stability": stability, "kind": "semantic", "state": "active",
            "content_type": "text", "created_at": at, "updated_at": at, "accessed_at": at, "access_count": 0,
        })
    };
    let memories: Vec<Value> = memories.iter().enumerate().map(one).collect();
    let file = tulving.folder().join("export.json");
    std::fs::write(&file, json!({ "memories": memories }).to_string()).expect("written");
    tulving.ok(&["import", "export.json"]);
}

fn states(tulving: &Tulving) -> Vec<(u64, String)> {
    let mut all = Vec::new();
    for flags in [&["list", "--all"][..], &["list", "--all", "--archived"]] {
        let page = tulving.json(flags);
        for memory in page["memories"].as_array().expect("a list") {
            let state = memory["state"].as_str().expect("a state").to_owned();
            all.push((memory["number"].as_u64().expect("a number"), state));
        }
    }
    all.sort();
    all.dedup();
    all
}

#[test]
fn what_would_be_done_is_listed_with_the_reason_and_then_done() {
    let tulving = Tulving::new();
    old(
        &tulving,
        &[
            ("The staging server is called heron", "evolving"),
            ("Standup is at nine today", "volatile"),
            ("Photosynthesis makes sugar of light", "stable"),
        ],
    );
    tulving.ok(&["pin", "3"]);
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["tend", "--dry-run", "--limit", "1"]);
    assert!(states(&tulving).iter().all(|(_, state)| state == "active"), "nothing was written");
    let tended = tulving.json(&["tend"]);
    assert_eq!((tended["cooled"].as_u64(), tended["looked_at"].as_u64()), (Some(2), Some(3)));
    let why = tended["steps"][0]["why"].as_str().expect("why");
    assert!(why.starts_with("not used for ") && why.ends_with("; it cools after 120 days"), "{why}");
    let expected = [(1, "cooling"), (2, "cooling"), (3, "active")].map(|(n, state)| (n, state.to_owned()));
    assert_eq!(states(&tulving), expected);
    assert_eq!(tulving.ok(&["tend"]), "Checked 3 memories; nothing is due\n");
    tulving.ok(&["recall", "--mode", "text", "heron"]);
    assert_eq!(states(&tulving)[0].1, "active", "use brings it back");
    insta::assert_snapshot!(whenever(&transcript.text()));
}

/// The same on any day.
fn whenever(text: &str) -> String {
    let parts: Vec<&str> = text.split("not used for ").collect();
    let later = parts[1..].iter().map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
    [parts[0].to_owned()].into_iter().chain(later.map(|part| format!("not used for MANY{part}"))).collect()
}

#[test]
fn rules_of_the_settings_hold_in_their_space() {
    let tulving = Tulving::new();
    old(&tulving, &[("Standup is at nine today", "volatile"), ("The roof was mended", "stable")]);
    tulving.configure(
        "[tend]\ncool_stable_days = 0\n[[tend.expire]]\nspace = \"default\"\nstability = \"volatile\"\nafter_days = 30\n\
         [[tend.space]]\nname = \"nowhere\"\narchive_below = 0.5\n",
    );
    let run = tulving.run(&["tend"]);
    assert!(run.out.ends_with("Checked 2 memories; 1 archived\n"), "{}", run.out);
    assert!(
        run.err.contains("config.toml has rules for `nowhere`, and there is no such space"),
        "{}",
        run.err
    );
    assert_eq!(tulving.ok(&["unarchive", "1"]), "Unarchived #1 (fact): Standup is at nine today\n");
    assert!(tulving.ok(&["tend"]).ends_with("nothing is due\n"), "it stays as if it were new");
    let shown = tulving.ok(&["config"]);
    assert!(shown.contains("tend.expire") && shown.contains("stability = \"volatile\""), "{shown}");
}

#[test]
fn a_space_that_is_out_of_sight_is_not_said_to_be_missing() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team"]);
    tulving.ok(&["space", "create", "vault"]);
    tulving.configure("[[tend.space]]\nname = \"vault\"\narchive_below = 0.5\n");
    let made = tulving.json(&["token", "create", "--for", "caretaker", "--space", "team", "--role", "admin"]);
    let mut command = tulving.command(&["tend"]);
    command.env("TULVING_TOKEN", made["token"].as_str().expect("a token"));
    let run = finish(command, b"");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!run.err.contains("no such space"), "{}", run.err);
}

#[test]
fn of_two_servers_one_applies_the_rules_each_time() {
    let tulving = Tulving::new();
    old(&tulving, &[("Standup is at nine today", "volatile"), ("The roof was mended", "stable")]);
    tulving.configure("tend.interval_seconds = 1\n");
    let servers = [Server::start(&tulving), Server::start(&tulving)];
    eventually("the rules are applied", || states(&tulving).iter().all(|(_, state)| state == "cooling"));
    let logs: Vec<String> = servers.into_iter().map(Server::stop).collect();
    let cooled: Vec<&str> =
        logs.iter().flat_map(|log| log.lines()).filter(|line| line.contains("cooled=2")).collect();
    assert_eq!(cooled.len(), 1, "{logs:?}");
    assert!(logs.iter().all(|log| !log.contains("Standup")), "the log says nothing of what memories say");
}

#[test]
fn off_means_that_no_server_applies_them() {
    let tulving = Tulving::new();
    old(&tulving, &[("Standup is at nine today", "volatile")]);
    tulving.configure("tend.enabled = false\ntend.interval_seconds = 1\n");
    let server = Server::start(&tulving);
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    assert_eq!(states(&tulving), [(1, "active".to_owned())]);
    assert!(!server.stop().contains("applied lifecycle rules"));
}

#[test]
fn they_are_applied_over_http_in_the_space_of_the_call() {
    let tulving = Tulving::new();
    old(&tulving, &[("Standup is at nine today", "volatile")]);
    tulving.configure("tend.enabled = false\n");
    let server = Server::start(&tulving);
    let tend = |body: Value| server.ask("POST", "/v1/tend", &[], body.to_string().as_bytes());
    let dry = tend(json!({ "dry_run": true })).json();
    assert_eq!((&dry["data"]["cooled"], &dry["data"]["steps"][0]["step"]), (&json!(1), &json!("cool")));
    assert_eq!(states(&tulving)[0].1, "active");
    let done = tend(json!({})).json();
    assert_eq!(done["data"]["steps"][0]["memory"]["content"], "Standup is at nine today");
    assert_eq!(states(&tulving)[0].1, "cooling");
    assert_eq!(tend(json!({ "dry": true })).status, 400);
}

/// Saves a room of each stability, and returns the order of the stabilities in the answers to questions, with the real model.
fn ordered(rooms: [(&str, &str); 3], questions: &[&str]) -> Vec<Vec<String>> {
    let tulving = Tulving::new();
    let with_model = |args: &[&str]| {
        let mut command = tulving.command(args);
        command.env_remove(WITHOUT_MODEL.0);
        let run = finish(command, b"");
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    for (stability, room) in rooms {
        let content = format!("The meeting room {room} is on the third floor");
        with_model(&["save", &content, "--stability", stability]);
    }
    let order = |question: &&str| -> Vec<String> {
        let out = with_model(&["recall", question, "--json"]);
        let answer: Value = serde_json::from_str(&out).expect("JSON");
        let hits = answer["memories"].as_array().expect("memories").iter();
        hits.map(|hit| hit["stability"].as_str().expect("a stability").to_owned()).collect()
    };
    questions.iter().map(order).collect()
}

#[test]
fn stable_memories_lead_on_unrelated_questions_and_volatile_ones_need_to_fit() {
    let [volatile, evolving, stable] = ["volatile", "evolving", "stable"];
    let unrelated = ["what do we know about the office?", "places in the building", "who likes jazz?"];
    // Each text with each stability in turn, so that none is ahead by what it says.
    let turns = [
        [(volatile, "Oslo"), (evolving, "Bergen"), (stable, "Narvik")],
        [(evolving, "Oslo"), (stable, "Bergen"), (volatile, "Narvik")],
        [(stable, "Oslo"), (volatile, "Bergen"), (evolving, "Narvik")],
    ];
    let mut places = std::collections::BTreeMap::<String, usize>::new();
    for rooms in turns {
        let transient = rooms.iter().find(|(stability, _)| *stability == volatile).expect("one").1;
        let named = format!("where is the meeting room {transient}?");
        let mut orders = ordered(rooms, &[&unrelated[..], &[&named]].concat());
        let strong = orders.pop().expect("an answer");
        assert_eq!(strong[0], volatile, "where it fits best it comes first");
        for order in orders {
            for (place, stability) in order.into_iter().enumerate() {
                *places.entry(stability).or_default() += place;
            }
        }
    }
    assert!(places[stable] < places[evolving] && places[evolving] < places[volatile], "{places:?}");
}
