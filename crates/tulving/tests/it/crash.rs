//! The real binary, killed while it saves: what was acknowledged is there afterwards, and nothing is half there.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::binary::Tulving;

const ROUNDS: usize = 50;

/// Saves one memory after another, each by a process of its own, and prints each receipt.
const ENDLESS_SAVES: &str = r#"i=0; while :; do i=$((i+1)); "$0" save "round $1 memory $i" --json; done"#;

/// Edits one memory and erases another, over and over, each by a process of its own.
const ENDLESS_CHANGES: &str = r#"
i=0
while :; do
  i=$((i+1))
  "$0" save "edited $1 $i" --key "key-$1" >/dev/null
  "$0" save "short-lived $1 $i" --key "gone-$1" --json | grep -o '"id": *"[^"]*"' | head -1 | cut -d'"' -f4 |
    xargs -r "$0" forget --hard >/dev/null
done"#;

/// Saves a file of memories, a thousand to a transaction.
const ONE_BATCH: &str = r#"exec "$0" save --batch "$1""#;

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
fn edits_and_erasures_are_whole_or_absent_after_a_kill() {
    let tulving = Tulving::new();
    for round in 0..ROUNDS {
        let child = endless(&tulving, ENDLESS_CHANGES, &[&round.to_string()]);
        kill(child, Duration::from_millis(fastrand::u64(20..200)));
    }
    let edited = tulving.json(&["list", "--all"]);
    let keys = edited["memories"].as_array().expect("a list").iter().map(|memory| memory["key"].as_str());
    assert!(keys.clone().count() > ROUNDS / 2, "too few rounds came to write anything");
    assert!(keys.clone().all(|key| key.is_some()), "a memory without its key");
    tulving.assert_healthy();
}

#[test]
fn batches_are_whole_or_absent_after_a_kill() {
    let tulving = Tulving::new();
    let file = tulving.folder().join("batch.jsonl");
    let (mut whole, mut absent) = (0, 0);
    for round in 0..ROUNDS {
        let lines: String = (0..1_000).map(|i| format!("{{\"content\": \"bulk {round} {i}\"}}\n")).collect();
        std::fs::write(&file, lines).expect("a batch file");
        let child = endless(&tulving, ONE_BATCH, &[&file.to_string_lossy()]);
        kill(child, Duration::from_millis(fastrand::u64(0..=40 * round as u64)));
        let there = tulving.all_ids("default").len();
        assert_eq!(there % 1_000, 0, "a batch is half there");
        if there > 1_000 * whole {
            whole += 1;
        } else {
            absent += 1;
        }
        if whole >= 5 && absent >= 5 {
            break;
        }
    }
    assert!(
        whole > 0 && absent > 0,
        "{whole} batches were whole and {absent} absent: the kills came at the wrong time"
    );
    tulving.assert_healthy();
}

#[test]
fn a_killed_restore_leaves_the_old_content_or_the_new_and_no_copy_behind() {
    let tulving = Tulving::new();
    let lines: String = (0..2_000).map(|i| format!("{{\"content\": \"old {i}\"}}\n")).collect();
    tulving.run_with(&["save", "--batch", "-"], lines.as_bytes());
    let backup = tulving.folder().join("copy.db").to_string_lossy().into_owned();
    tulving.ok(&["backup", "create", &backup]);
    tulving.ok(&["save", "newer"]);
    let (mut old, mut new) = (0, 0);
    for round in 0..ROUNDS {
        let child = endless(&tulving, r#"exec "$0" backup restore "$1" --yes"#, &[&backup]);
        kill(child, Duration::from_millis(fastrand::u64(0..=8 * round as u64)));
        match tulving.all_ids("default").len() {
            2_001 => old += 1,
            2_000 => {
                new += 1;
                tulving.ok(&["save", "newer"]);
            }
            other => panic!("{other} memories are neither the old content nor the new"),
        }
        if old >= 10 && new >= 5 {
            break;
        }
    }
    assert!(old > 0 && new > 0, "{old} old and {new} new: the kills came at the wrong time");
    let drafts = |folder: &std::path::Path| {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().contains("draft")).count()
    };
    assert_eq!(
        drafts(&tulving.home()) + drafts(&tulving.home().join("backups")),
        0,
        "a copy was left behind"
    );
    let run = tulving.run(&["doctor", "--deep"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
}
