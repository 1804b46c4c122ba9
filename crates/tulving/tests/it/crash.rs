//! The real binary, killed while it saves or folds. Every acknowledged save exists afterwards, and no save is partial.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::binary::Tulving;

const ROUNDS: usize = 50;

/// Saves one memory after another, each in a separate process, and prints each receipt.
const ENDLESS_SAVES: &str = r#"i=0; while :; do i=$((i+1)); "$0" save "round $1 memory $i" --json; done"#;

/// Repeatedly edits one memory and erases another, each in a separate process.
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

/// Starts a shell script and its child processes in a separate process group.
pub(crate) fn endless(tulving: &Tulving, script: &str, arguments: &[&str]) -> Child {
    let mut command = tulving.shell(script, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    command.spawn().expect("a shell starts")
}

/// Kills the shell and its child processes, and returns everything printed before.
pub(crate) fn kill(mut child: Child, after: Duration) -> String {
    std::thread::sleep(after);
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).expect("the group is ours");
    let mut printed = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
    child.wait().expect("it is gone");
    printed
}

/// Random times after which a process is killed, so that some are killed before they have done their work and some after.
/// The duration of the work depends on the machine and its load, so the range follows the outcomes.
pub(crate) struct KillTimes {
    longest: Duration,
}

impl KillTimes {
    pub(crate) fn up_to(longest: Duration) -> Self {
        Self { longest: longest.max(Duration::from_millis(5)) }
    }

    pub(crate) fn next(&self) -> Duration {
        self.longest.mul_f64(fastrand::f64())
    }

    /// Widens the range after a kill that came before the work was done, and narrows it after one that came later. In the long
    /// run about half of the kills come before.
    pub(crate) fn adapt(&mut self, done: bool) {
        if done { self.narrow() } else { self.widen() }
    }

    fn narrow(&mut self) {
        self.longest = self.longest.mul_f64(0.8).max(Duration::from_millis(5));
    }

    fn widen(&mut self) {
        self.longest = self.longest.mul_f64(1.3).min(Duration::from_secs(60));
    }
}

/// The ids of complete receipts in the output.
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
    // Where the machine is busy, few saves come to their end before they are killed; then there are more rounds.
    for round in 0..10 * ROUNDS {
        let child = endless(&tulving, ENDLESS_SAVES, &[&round.to_string()]);
        let printed = kill(child, Duration::from_millis(fastrand::u64(5..120)));
        acknowledged.extend(receipts(&printed));
        if round >= ROUNDS && acknowledged.len() > ROUNDS {
            break;
        }
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
    let mut times = KillTimes::up_to(Duration::from_millis(200));
    for round in 0..ROUNDS {
        let before = tulving.all_ids("default").len();
        let child = endless(&tulving, ENDLESS_CHANGES, &[&round.to_string()]);
        kill(child, times.next() + Duration::from_millis(20));
        // Most rounds shall write something, so the range is never narrowed.
        if tulving.all_ids("default").len() == before {
            times.widen();
        }
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
    let mut times = KillTimes::up_to(Duration::from_millis(100));
    for round in 0..ROUNDS {
        let lines: String = (0..1_000).map(|i| format!("{{\"content\": \"bulk {round} {i}\"}}\n")).collect();
        std::fs::write(&file, lines).expect("a batch file");
        let child = endless(&tulving, ONE_BATCH, &[&file.to_string_lossy()]);
        kill(child, times.next());
        let there = tulving.all_ids("default").len();
        assert_eq!(there % 1_000, 0, "a batch is half there");
        times.adapt(there > 1_000 * whole);
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
    let began = Instant::now();
    tulving.ok(&["backup", "restore", &backup, "--yes"]);
    let mut times = KillTimes::up_to(began.elapsed());
    tulving.ok(&["save", "newer"]);
    let (mut old, mut new) = (0, 0);
    for _ in 0..ROUNDS {
        let child = endless(&tulving, r#"exec "$0" backup restore "$1" --yes"#, &[&backup]);
        kill(child, times.next());
        let there = tulving.all_ids("default").len();
        times.adapt(there == 2_000);
        match there {
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

/// Enough for the tail of the index to be folded after each save.
const A_LONG_TAIL: usize = 520;
const FOLDS: usize = 30;

/// The memories in the store by the word that all memories of a save share: the own word and the number of each.
#[derive(Default)]
struct Saved {
    there: BTreeSet<(String, u64)>,
    gone: BTreeSet<String>,
}

/// Makes a save that is folded after it was acknowledged. Returns the process, which is folding.
fn save_and_fold(tulving: &Tulving, save: usize) -> (Child, Saved) {
    let word = |n: usize| format!("zw{save:02}n{n:03}e");
    let line = |n| format!("{{\"content\":\"the ledger zr{save:02}q has an entry {}\"}}\n", word(n));
    let file = tulving.folder().join("batch.jsonl");
    std::fs::write(&file, (0..A_LONG_TAIL).map(line).collect::<String>()).expect("a batch file");
    let mut command = tulving.command(&["save", "--batch", &file.to_string_lossy(), "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let out = child.stdout.as_mut().expect("piped");
    let mut documents = serde_json::Deserializer::from_reader(out).into_iter::<serde_json::Value>();
    let report = documents.next().expect("a report").expect("a whole one");
    let numbers = report["memories"].as_array().expect("receipts").iter();
    let numbers = numbers.map(|receipt| receipt["number"].as_u64().expect("a number"));
    let there = (0..).map(word).zip(numbers).collect();
    (child, Saved { there, gone: BTreeSet::new() })
}

/// Checks that a new process finds exactly the stored memories of a save.
fn assert_found(tulving: &Tulving, save: usize, saved: &Saved) {
    let answer = tulving.json(&["recall", &format!("zr{save:02}q"), "--limit", "1000"]);
    let failed = answer.get("failed_lanes").and_then(serde_json::Value::as_array).into_iter().flatten();
    assert!(failed.clone().all(|lane| lane["lane"] != "keyword"), "{:?}", failed.collect::<Vec<_>>());
    let memories = answer["memories"].as_array().expect("memories").iter();
    let last_word = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    let found: BTreeSet<String> =
        memories.map(|memory| last_word(memory["content"].as_str().expect("a content"))).collect();
    let there: BTreeSet<String> = saved.there.iter().map(|(word, _)| word.clone()).collect();
    assert!(found.is_disjoint(&saved.gone), "save {save}: what was forgotten is found");
    assert_eq!(found, there, "save {save}");
}

#[test]
fn a_process_killed_while_it_folds_costs_nothing_that_was_acknowledged() {
    let tulving = Tulving::new();
    let (mut first, saved) = save_and_fold(&tulving, 0);
    let began = Instant::now();
    first.wait().expect("it ends");
    let mut times = KillTimes::up_to(began.elapsed());
    let mut all = vec![saved];
    let mut killed = 0;
    for round in 1..=FOLDS {
        let (mut child, saved) = save_and_fold(&tulving, round);
        all.push(saved);
        std::thread::sleep(times.next());
        // Most shall be killed while they fold, so the range is never widened.
        if child.try_wait().expect("ours").is_none() {
            killed += 1;
        } else {
            times.narrow();
        }
        child.kill().expect("ours");
        child.wait().expect("it is gone");
        // Some kills follow one another, with nobody in between who folds what was left.
        if round % 2 == 0 {
            continue;
        }
        assert_found(&tulving, round, &all[round]);
        let some = fastrand::usize(..=round);
        let (word, number) = all[some].there.pop_first().expect("few are forgotten");
        let hard = if round % 5 == 0 { "--hard" } else { "--json" };
        tulving.ok(&["forget", &number.to_string(), hard]);
        all[some].gone.insert(word);
        assert_found(&tulving, some, &all[some]);
        let run = tulving.run(&["doctor"]);
        let sound = run.out.lines().any(|line| line.starts_with("ok") && line.contains("index"));
        assert!(sound, "{}{}", run.out, run.err);
    }
    assert!(killed > FOLDS / 3, "only {killed} of {FOLDS} were killed while they folded");
    for (save, saved) in all.iter().enumerate().step_by(4) {
        assert_found(&tulving, save, saved);
    }
    tulving.assert_healthy();
}

/// Erases these memories in one command.
const ERASE_NAMED: &str = r#"exec "$0" forget --hard "$@""#;

#[test]
fn memories_that_are_named_together_are_erased_together_or_not_at_all() {
    const NAMED: usize = 40;
    const KILLS: u32 = 12;
    let numbers: Vec<String> = (1..=NAMED).map(|number| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let filled = || {
        let tulving = Tulving::new();
        let lines: String = (0..NAMED).map(|n| format!("{{\"content\":\"memory {n}\"}}\n")).collect();
        assert_eq!(tulving.run_with(&["save", "--batch", "-"], lines.as_bytes()).code, 0);
        tulving
    };
    let whole = filled();
    let began = Instant::now();
    let mut child = endless(&whole, ERASE_NAMED, &numbers);
    assert!(child.wait().expect("it ends").success());
    let takes = began.elapsed();
    assert_eq!(whole.all_ids("default").len(), 0);
    for kill_at in 0..KILLS {
        let tulving = filled();
        kill(endless(&tulving, ERASE_NAMED, &numbers), takes * kill_at / KILLS);
        let left = tulving.all_ids("default").len();
        assert!(left == 0 || left == NAMED, "{left} of {NAMED} are left");
    }
}
