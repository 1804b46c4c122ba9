//! Several processes save, delete, recall and fold at once on one home, and a checker knows what each recall must find.
//!
//! Every act runs in a separate process, so each acknowledged change is read by another process. The test runs for a
//! minute; with `CHECK_SECONDS=3600 cargo nextest run -p tulving together` for an hour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::binary::{Tulving, finish};

const THREADS: usize = 3;
const SECONDS: u64 = 60;
/// Number of memories in one save, so that the tail of the index grows long and is sometimes folded.
const AT_ONCE: usize = 40;

/// The saves of one thread: each memory by its unique word.
struct Known {
    thread: usize,
    next: usize,
    /// The words of existing memories, with the number of each memory.
    there: Vec<(String, u64)>,
    gone: Vec<String>,
    random: fastrand::Rng,
}

impl Known {
    fn save(&mut self, tulving: &Tulving) {
        let words: Vec<String> =
            (0..AT_ONCE).map(|n| format!("zq{}w{:06}e", self.thread, self.next + n)).collect();
        self.next += AT_ONCE;
        let line = |word: &String| format!("{{\"content\":\"the ledger has an entry {word} of today\"}}\n");
        let lines: String = words.iter().map(line).collect();
        let run = finish(tulving.command(&["save", "--batch", "-", "--json"]), lines.as_bytes());
        assert_eq!(run.code, 0, "{}", run.err);
        let report: serde_json::Value = serde_json::from_str(&run.out).expect("a report");
        let numbers = report["memories"].as_array().expect("receipts").iter();
        let numbers = numbers.map(|receipt| receipt["number"].as_u64().expect("a number"));
        self.there.extend(words.into_iter().zip(numbers));
    }

    /// Checks that an existing memory is found first, and that a deleted one is not found.
    fn look(&mut self, tulving: &Tulving) {
        let (word, _) = self.random.choice(&self.there).expect("something was saved").clone();
        let found = tulving.ok(&["recall", &word, "--limit", "3"]);
        assert!(found.lines().next().is_some_and(|line| line.contains(&word)), "{word} is lost: {found}");
        if let Some(word) = self.random.choice(&self.gone) {
            let found = tulving.ok(&["recall", word, "--limit", "3"]);
            assert!(!found.contains(word.as_str()), "{word} is back: {found}");
        }
    }

    fn delete(&mut self, tulving: &Tulving) {
        let (word, number) = self.there.swap_remove(self.random.usize(..self.there.len()));
        let mut args = vec!["forget".to_owned(), number.to_string()];
        args.extend(self.random.bool().then(|| "--hard".to_owned()));
        tulving.ok(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let found = tulving.ok(&["recall", &word, "--limit", "3"]);
        assert!(!found.contains(word.as_str()), "{word} was forgotten and is found: {found}");
        self.gone.push(word);
    }
}

#[test]
fn what_was_acknowledged_is_found_and_what_was_forgotten_is_not_while_others_save_and_fold() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "the first entry"]);
    let seconds = std::env::var("CHECK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS);
    let end = Instant::now() + Duration::from_secs(seconds);
    let looks = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (tulving, looks) = (&tulving, &looks);
            scope.spawn(move || {
                let random = fastrand::Rng::with_seed(thread as u64);
                let mut known = Known { thread, next: 0, there: Vec::new(), gone: Vec::new(), random };
                known.save(tulving);
                while Instant::now() < end {
                    match known.random.u32(..10) {
                        0..=2 => known.save(tulving),
                        3 => known.delete(tulving),
                        _ => known.look(tulving),
                    }
                    looks.fetch_add(1, Ordering::Relaxed);
                }
                for _ in 0..5 {
                    known.look(tulving);
                }
            });
        }
    });
    assert!(looks.into_inner() > 30, "too little was done to prove anything");
    assert!(tulving.home().join("index").is_dir(), "nothing was folded");
    tulving.assert_healthy();
}
