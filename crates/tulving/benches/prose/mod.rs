//! Words that benchmarks make their memories of, drawn at random.

const WORDS: &[&str] = &[
    "deploy", "the", "service", "on", "friday", "after", "review", "team", "prefers", "postgres", "over",
    "with", "retry", "limit", "token", "budget", "meeting", "notes", "about", "index", "vector", "memory",
    "agent", "session", "cache", "latency", "user", "asked", "for", "a", "smaller", "image", "because",
    "builds", "were", "slow", "and", "tests", "failed", "twice",
];

/// So many words.
pub(crate) fn words(count: usize) -> String {
    (0..count).map(|_| WORDS[fastrand::usize(..WORDS.len())]).collect::<Vec<_>>().join(" ")
}
