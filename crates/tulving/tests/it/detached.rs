//! The files next to the database, removed or cut under running processes, as sync and cleaning programs do.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::Stdio;

use crate::binary::Tulving;
use crate::serve::client::Server;

/// Asks the server to save, and returns true if it acknowledged.
fn saves(server: &Server, content: &str) -> Result<(), String> {
    let body = serde_json::json!({ "content": content }).to_string();
    let answer = server.ask("POST", "/v1/memories", &[], body.as_bytes());
    if answer.status < 300 { Ok(()) } else { Err(answer.text()) }
}

/// Everything that is there after all have closed the store.
fn there(tulving: &Tulving) -> BTreeSet<String> {
    tulving.assert_healthy();
    let page = tulving.json(&["list", "--all"]);
    let memories = page["memories"].as_array().expect("a list");
    memories.iter().map(|memory| memory["content"].as_str().expect("a text").to_owned()).collect()
}

fn assert_all_there(tulving: &Tulving, acknowledged: &BTreeSet<String>) {
    let there = there(tulving);
    let missing: Vec<&String> = acknowledged.difference(&there).collect();
    assert!(missing.is_empty(), "{} of {} are gone: {missing:?}", missing.len(), acknowledged.len());
}

#[test]
fn saves_of_others_survive_the_end_of_a_server_whose_shared_memory_was_removed() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let mut acknowledged = BTreeSet::new();
    for n in 0..5 {
        let content = format!("before, number {n}");
        saves(&server, &content).expect("saved");
        acknowledged.insert(content);
    }
    fs::remove_file(tulving.home().join("tulving.db-shm")).expect("removed");
    for n in 0..12 {
        let content = format!("by another process, number {n}");
        if tulving.run(&["save", &content]).code == 0 {
            acknowledged.insert(content);
        }
    }
    assert!(acknowledged.len() > 5, "no other process could save");
    server.stop();
    assert_all_there(&tulving, &acknowledged);
}

#[test]
fn a_server_whose_shared_memory_was_removed_answers_with_what_others_saved() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    saves(&server, "before").expect("saved");
    fs::remove_file(tulving.home().join("tulving.db-shm")).expect("removed");
    tulving.ok(&["save", "by another process"]);
    let listed = server.get("/v1/memories").text();
    assert!(listed.contains("by another process"), "{listed}");
    saves(&server, "after").expect("it has opened the store again");
    server.stop();
    let all = ["before", "by another process", "after"].map(str::to_owned);
    assert_all_there(&tulving, &all.into());
}

#[test]
fn acknowledged_saves_survive_a_kill_after_the_log_was_removed() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let (mut acknowledged, mut refused) = (BTreeSet::new(), Vec::new());
    for n in 0..30 {
        if n == 10 {
            fs::remove_file(tulving.home().join("tulving.db-wal")).expect("removed");
        }
        let content = format!("number {n}");
        match saves(&server, &content) {
            Ok(()) => drop(acknowledged.insert(content)),
            Err(problem) => refused.push(problem),
        }
    }
    assert!(refused.iter().all(|problem| problem.contains("store_detached")), "{refused:?}");
    assert!(refused.len() < 3, "it did not open the store again: {refused:?}");
    server.kill();
    drop(server);
    assert_all_there(&tulving, &acknowledged);
}

#[test]
fn a_log_that_was_cut_is_named_and_the_store_goes_on() {
    for left in [0, 32, 5_000] {
        let tulving = Tulving::new();
        // Closed once, so that what a home begins with is in the database.
        tulving.ok(&["save", "the first"]);
        let server = Server::start(&tulving);
        for n in 0..10 {
            saves(&server, &format!("number {n}")).expect("saved");
        }
        let log = tulving.home().join("tulving.db-wal");
        // Held, because it notices by itself before long.
        server.send_signal(rustix::process::Signal::STOP);
        File::options().write(true).open(&log).and_then(|log| log.set_len(left)).expect("cut");
        let doctor = tulving.run(&["doctor"]);
        assert_ne!(doctor.code, 0, "{}", doctor.out);
        server.send_signal(rustix::process::Signal::CONT);
        let mut acknowledged = BTreeSet::new();
        let mut refused = Vec::new();
        for n in 0..10 {
            let content = format!("after, number {n}");
            match saves(&server, &content) {
                Ok(()) => drop(acknowledged.insert(content)),
                Err(problem) => refused.push(problem),
            }
        }
        assert!(refused.iter().all(|problem| problem.contains("store_detached")), "{refused:?}");
        assert!(refused.len() < 3, "it did not open the store again: {refused:?}");
        server.kill();
        drop(server);
        assert_all_there(&tulving, &acknowledged);
    }
}

/// SQLite itself removes both files whenever the last process closes the store.
#[test]
fn processes_that_open_and_close_raise_no_false_alarm() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "the first"]);
    let seconds = std::env::var("TULVING_TEST_SECONDS").unwrap_or_else(|_| "4".to_owned());
    let script = r#"end=$(($(date +%s) + $2)); i=0
while [ $(date +%s) -lt $end ]; do i=$((i+1)); "$0" save "process $1 memory $i" >/dev/null || exit 1; "$0" list >/dev/null || exit 1
[ $((i % 5)) -eq 0 ] && { "$0" forget --hard "$("$0" save "short-lived $1 $i" --json | grep -o '"id": *"[^"]*"' | head -1 | cut -d'"' -f4)" >/dev/null || exit 1; }
done; echo $i"#;
    let children: Vec<_> = (0..8)
        .map(|process| {
            let mut command = tulving.shell(script, &[&process.to_string(), &seconds]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell starts")
        })
        .collect();
    let mut saved = 1;
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "a false alarm: {}", String::from_utf8_lossy(&output.stderr));
        saved += String::from_utf8_lossy(&output.stdout).trim().parse::<usize>().expect("a number");
    }
    assert_eq!(tulving.all_ids("default").len(), saved);
}
