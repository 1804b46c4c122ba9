//! The real binary, killed while it writes files that people can read, or follows them: every file is whole, and what was
//! acknowledged is there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::Tulving;
use crate::crash::{endless, kill};

const ROUNDS: usize = 50;

/// Notes one entry after another, each in a separate process. An entry is long enough to be written in several steps, and ends
/// with a mark.
const ENDLESS_NOTES: &str = r#"
i=0
while :; do
  i=$((i+1))
  printf '{"content": "begin %s-%s %s end %s-%s"}' "$1" "$i" "$2" "$1" "$i" | "$0" tool maven remember - >/dev/null && echo "$1-$i"
done"#;

/// Replaces `MEMORY.md` over and over.
const ENDLESS_REPLACEMENTS: &str = r#"
i=0
while :; do
  i=$((i+1))
  printf 'begin %s-%s %s end %s-%s\n' "$1" "$i" "$2" "$1" "$i" | "$0" long-term replace - >/dev/null && echo "$1-$i"
done"#;

/// Archives a conversation over and over.
const ENDLESS_ARCHIVES: &str = r#"
i=0
while :; do
  i=$((i+1))
  printf '[{"role": "user", "content": "begin %s"}, {"role": "assistant", "content": "%s end"}]' "$1" "$2" \
    | "$0" archive-conversation - --title "kill $1" --json
done"#;

/// Asks over and over, which follows the files.
const ENDLESS_QUESTIONS: &str = r#"while :; do "$0" recall "what was said" --json >/dev/null; done"#;

/// Some ten pages of a file.
fn padding() -> String {
    "all work and no play ".repeat(2_000)
}

/// The lines that were printed whole.
fn lines(printed: &str) -> Vec<&str> {
    printed.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).collect()
}

/// Measures how long a command takes on this machine as it is now, in a home of its own: in the home under test it would settle
/// what a killed process left.
struct Pace(Tulving);

impl Pace {
    fn new() -> Self {
        Self(Tulving::new())
    }

    /// Returns a random time after which a process is killed. The longest is enough for some processes to end.
    fn life(&self, usual: u64) -> Duration {
        let began = Instant::now();
        self.0.ok(&["list"]);
        let longest = Duration::from_millis(usual).max(began.elapsed() * 4);
        longest.mul_f64(fastrand::f64()) + Duration::from_millis(5)
    }
}

fn journals(tulving: &Tulving) -> String {
    let folder = tulving.home().join("workspace/memory");
    let Ok(entries) = fs::read_dir(folder) else { return String::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("text")).collect()
}

#[test]
fn an_entry_is_whole_or_absent_after_a_kill() {
    let tulving = Tulving::new();
    let padding = padding();
    let (mut acknowledged, pace) = (BTreeSet::new(), Pace::new());
    for round in 0..10 * ROUNDS {
        let life = pace.life(150);
        let child = endless(&tulving, ENDLESS_NOTES, &[&round.to_string(), &padding]);
        let printed = kill(child, life);
        acknowledged.extend(lines(&printed).into_iter().map(str::to_owned));
        if round >= ROUNDS && acknowledged.len() > ROUNDS {
            break;
        }
    }
    assert!(acknowledged.len() > ROUNDS, "only {} were acknowledged", acknowledged.len());
    // The next process finishes the interrupted write.
    tulving.ok(&["tool", "maven", "remember", r#"{"content": "begin last end last"}"#]);
    let said = journals(&tulving);
    assert!(said.ends_with('\n'));
    let mut there = BTreeSet::new();
    for line in said.lines() {
        let name = line.strip_prefix("begin ").and_then(|rest| rest.split(' ').next()).expect("a beginning");
        assert!(line.ends_with(&format!(" end {name}")), "{name} is half there");
        assert!(there.insert(name.to_owned()), "{name} is there twice");
    }
    for name in &acknowledged {
        assert!(there.contains(name), "{name} was acknowledged and is gone");
    }
    tulving.assert_healthy();
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_after_a_kill() {
    let tulving = Tulving::new();
    let padding = padding();
    let (mut last, pace) = (None, Pace::new());
    for round in 0..10 * ROUNDS {
        let life = pace.life(150);
        let child = endless(&tulving, ENDLESS_REPLACEMENTS, &[&round.to_string(), &padding]);
        let printed = kill(child, life);
        let acknowledged = lines(&printed).last().map(|name| (*name).to_owned());
        let folder = tulving.home().join("workspace/memory");
        if let Ok(said) = fs::read_to_string(folder.join("MEMORY.md")) {
            let name = said.split(' ').nth(1).expect("a name").to_owned();
            assert!(said.ends_with(&format!(" end {name}\n")), "it is half there");
            // What was acknowledged last, or what was being written when it was killed.
            let number = |name: &str| name.split_once('-').and_then(|(_, number)| number.parse::<u32>().ok());
            if let Some(acknowledged) = &acknowledged {
                assert!(
                    name.starts_with(&format!("{round}-")),
                    "{acknowledged} was acknowledged, {name} is there"
                );
                assert!(
                    number(&name) >= number(acknowledged),
                    "{acknowledged} was acknowledged, {name} is there"
                );
            }
        }
        last = acknowledged.or(last);
        if round >= ROUNDS && last.is_some() {
            break;
        }
    }
    assert!(last.is_some(), "nothing was replaced");
    tulving.ok(&["long-term", "show"]);
    let left = fs::read_dir(tulving.home().join("workspace/memory")).expect("a folder");
    let left: Vec<_> =
        left.map(|entry| entry.expect("an entry").file_name()).filter(|name| name != "MEMORY.md").collect();
    assert!(left.len() <= 1, "drafts were left behind: {left:?}");
    // What was kept of before is whole too.
    let history = tulving.json(&["long-term", "history"]);
    let previous = history["texts"].as_array().expect("a list");
    assert!(!previous.is_empty(), "nothing was kept");
    tulving.assert_healthy();
}

#[test]
fn an_archive_is_a_file_and_a_memory_or_neither_after_a_kill() {
    let tulving = Tulving::new();
    let padding = padding();
    let (mut acknowledged, pace) = (BTreeSet::new(), Pace::new());
    for round in 0..10 * ROUNDS {
        let life = pace.life(200);
        let child = endless(&tulving, ENDLESS_ARCHIVES, &[&round.to_string(), &padding]);
        let printed = kill(child, life);
        let mut documents = serde_json::Deserializer::from_str(&printed).into_iter::<Value>();
        while let Some(Ok(archived)) = documents.next() {
            acknowledged.insert(archived["key"].as_str().expect("a key").to_owned());
        }
        if round >= ROUNDS && acknowledged.len() > ROUNDS / 2 {
            break;
        }
    }
    assert!(acknowledged.len() > ROUNDS / 2, "only {} were acknowledged", acknowledged.len());
    // The next process cleans up.
    tulving.ok(&["conversation", "list"]);
    let folder = tulving.home().join("workspace/conversations");
    let files: BTreeSet<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    let named = |file: &String| format!("conversation-{}", file.strip_suffix(".md").expect("Markdown"));
    let files: BTreeSet<String> = files.iter().filter(|name| !name.starts_with('.')).map(named).collect();
    let list = tulving.json(&["list", "--all"]);
    let memories = list["memories"].as_array().expect("a list").iter();
    let keys: BTreeSet<String> =
        memories.filter_map(|memory| memory["key"].as_str()).map(str::to_owned).collect();
    assert_eq!(files, keys, "each file has its memory and each memory its file");
    assert!(acknowledged.is_subset(&keys), "what was acknowledged is there");
    for key in acknowledged.iter().take(5) {
        let read = tulving.json(&["conversation", "show", key]);
        let messages = read["messages"].as_array().expect("messages");
        assert!(messages[1]["content"].as_str().expect("text").ends_with(" end"), "{key} is whole");
    }
    tulving.assert_healthy();
}

#[test]
fn the_mirror_catches_up_after_a_kill() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "the store is there"]);
    let folder = tulving.home().join("workspace/memory");
    fs::create_dir_all(&folder).expect("a folder");
    for round in 0..ROUNDS {
        // Many entries, so that several acts are needed, and the last ones go with the next round.
        let day = 1 + round % 28;
        let text: String = (0..1_200).map(|i| format!("entry {i} of round {round}\n")).collect();
        fs::write(folder.join(format!("2026-01-{day:02}.md")), text).expect("written");
        let child = endless(&tulving, ENDLESS_QUESTIONS, &[]);
        kill(child, Duration::from_millis(fastrand::u64(5..120)));
    }
    let mut file = fs::File::options().append(true).open(folder.join("2026-01-05.md")).expect("a file");
    writeln!(file, "zebra crossing").expect("written");
    drop(file);
    let found = tulving.json(&["recall", "zebra crossing"]);
    let first = &found["memories"][0];
    assert_eq!(
        (&first["content"], &first["source_path"], &first["mirror"]["line"]),
        (&json!("zebra crossing"), &json!("memory/2026-01-05.md"), &json!(1_201))
    );
    for _ in 0..50 {
        let found = tulving.json(&["recall", "zebra crossing"]);
        if found["unread"].is_null() {
            break;
        }
    }
    // Every entry once, and none of what was there before.
    let last = ROUNDS - 1;
    let path = format!("memory/2026-01-{:02}.md", 1 + last % 28);
    let list = tulving.json(&["list", "--all", "--source-path", &path]);
    let contents: Vec<&str> = list["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|memory| memory["content"].as_str())
        .collect();
    let distinct: BTreeSet<&str> = contents.iter().copied().collect();
    let extra = usize::from(path.ends_with("05.md"));
    assert_eq!((contents.len(), distinct.len()), (1_200 + extra, 1_200 + extra));
    assert!(
        contents
            .iter()
            .all(|content| content.ends_with(&format!("round {last}")) || *content == "zebra crossing")
    );
    // So many entries came that the index is rebuilt by a process of its own.
    for _ in 0..300 {
        if !tulving.ok(&["doctor"]).contains("rebuilt") {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    tulving.assert_healthy();
}
