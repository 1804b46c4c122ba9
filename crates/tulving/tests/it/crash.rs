//! The real binary, killed while it saves: what was acknowledged is there afterwards, and nothing is half there.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::binary::Tulving;

const ROUNDS: usize = 50;

/// Saves one memory after another, each by a process of its own, and prints each receipt.
const ENDLESS_SAVES: &str = r#"i=0; while :; do i=$((i+1)); "$0" save "round $1 memory $i" --json; done"#;

/// Saves batches of a thousand, edits and hard deletes, until it is killed.
const ENDLESS_WRITES: &str = r#"
i=0
while :; do
  i=$((i+1))
  "$0" save "edited $1 $i" --key "key-$1" >/dev/null
  "$0" save "short-lived $1 $i" --key "gone-$1" --json | grep -o '"id": *"[^"]*"' | head -1 | cut -d'"' -f4 |
    xargs -r "$0" forget --hard >/dev/null
  "$0" save --batch "$2" --space bulk >/dev/null
done"#;

fn endless(tulving: &Tulving, script: &str, arguments: &[&str]) -> Child {
    let mut command = tulving.shell(script, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    command.spawn().expect("a shell starts")
}

/// Kills the shell and whatever it runs at this moment, and gives all that was printed before.
fn kill(mut child: Child, after: Duration) -> String {
    std::thread::sleep(after);
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("the group is ours");
    let mut printed = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
    child.wait().expect("it is gone");
    printed
}

/// The ids of receipts that were printed whole.
fn receipts(printed: &str) -> Vec<String> {
    let mut documents = serde_json::Deserializer::from_str(printed).into_iter::<serde_json::Value>();
    let mut ids = Vec::new();
    while let Some(Ok(receipt)) = documents.next() {
        ids.push(receipt["id"].as_str().expect("a receipt has an id").to_owned());
    }
    ids
}

#[test]
fn every_acknowledged_memory_survives_a_kill() {
    let tulving = Tulving::new();
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        let child = endless(&tulving, ENDLESS_SAVES, &[&round.to_string()]);
        let printed = kill(child, Duration::from_millis(fastrand::u64(5..120)));
        acknowledged.extend(receipts(&printed));
    }
    assert!(acknowledged.len() > ROUNDS, "only {} saves were acknowledged", acknowledged.len());
    let there = tulving.all_ids("default");
    for id in &acknowledged {
        assert!(there.contains(id), "{id} was acknowledged and is gone");
    }
    tulving.assert_healthy();
}

#[test]
fn batches_edits_and_deletes_are_whole_or_absent_after_a_kill() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "bulk"]);
    let file = tulving.folder().join("batch.jsonl");
    for round in 0..ROUNDS {
        let lines: String = (0..1_000).map(|i| format!("{{\"content\": \"bulk {round} {i}\"}}\n")).collect();
        std::fs::write(&file, lines).expect("a batch file");
        let child = endless(&tulving, ENDLESS_WRITES, &[&round.to_string(), &file.to_string_lossy()]);
        kill(child, Duration::from_millis(fastrand::u64(20..150)));
    }
    let bulk = tulving.all_ids("bulk").len();
    assert!(bulk > 0, "no batch was ever whole, so nothing was tested");
    assert_eq!(bulk % 1_000, 0, "a batch is half there");
    tulving.assert_healthy();
}
