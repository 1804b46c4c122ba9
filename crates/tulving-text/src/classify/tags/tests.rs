use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::classify::form::of_text;

fn tagged(name: Option<&str>, content: &str) -> Vec<String> {
    tags(content, &of_text(name, content), name)
}

const QUEUE: &str = "# The job queue\n\n\
    Jobs are rows of a table in Postgres. A worker takes a job with a row lock and holds it under a lease. \
    When the worker dies, the lease runs out and the job goes back into the job queue. The row lock is gone by then. \
    Dead letters are kept: a job that failed five times becomes a dead letter, and dead letters are looked at by hand. \
    Postgres was there already, which is why there is no broker. Every worker has one connection to Postgres.\n";

#[test]
fn tags_are_the_phrases_that_a_document_repeats() {
    let tags = tagged(Some("queue.md"), QUEUE);
    for expected in ["job queue", "worker", "postgres", "dead letters", "row lock"] {
        assert!(tags.iter().any(|tag| tag == expected), "{expected}: {tags:?}");
    }
    assert!(tags.len() <= TAGS);
}

#[test]
fn what_is_short_or_no_prose_has_none() {
    assert_eq!(tagged(None, "The user prefers dark mode and dark colours in dark rooms."), [""; 0]);
    assert_eq!(tagged(Some("a.json"), &format!("[{}1]", "\"word\", ".repeat(60))), [""; 0]);
    assert_eq!(tagged(None, "https://example.org"), [""; 0]);
    assert_eq!(tagged(Some("a.md"), &"```\nworker worker\n```\n".repeat(60)), [""; 0]);
}

#[test]
fn code_has_its_language() {
    assert_eq!(tagged(Some("src/main.rs"), "fn main() {}"), ["rust"]);
    assert_eq!(tagged(Some("x.ts"), ""), ["typescript"]);
}

#[test]
fn tags_are_written_as_people_write_them() {
    let content = "Running deployments is work. Deployments fail. A deployment of the billing service failed, and the \
        deployments before it did too. The billing service needs Kubernetes; Kubernetes needs patience. We know of \
        Kubernetes that the billing service is slow in it, and that is all that there is to say about it for today.";
    let tags = tagged(None, content);
    assert!(tags.contains(&"deployments".to_owned()), "{tags:?}");
    assert!(
        tags.contains(&"billing service".to_owned()) && tags.contains(&"kubernetes".to_owned()),
        "{tags:?}"
    );
    assert!(!tags.iter().any(|tag| tag.contains("servic ") || tag == "deploy"), "{tags:?}");
}

#[test]
fn speakers_and_times_are_no_tags() {
    let content: String = (10..50)
        .map(|at| {
            format!(
                "[10:{at}] {}: the nightly export is slow again\n",
                if at % 2 == 0 { "Anneke" } else { "Bartosz" }
            )
        })
        .collect();
    let tags = tagged(None, &content);
    assert!(tags.iter().any(|tag| tag.contains("export")), "{tags:?}");
    assert!(!tags.iter().any(|tag| tag.contains("anneke") || tag.contains("bartosz")), "{tags:?}");
}

#[test]
fn the_longest_content_takes_no_time() {
    let content: String =
        (0..60_000).map(|at| format!("Sentence {at} speaks of thing{at} and others. ")).collect();
    let started = Instant::now();
    assert!(tagged(Some("a.md"), &content).len() <= TAGS);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tags_are_few_short_different_and_the_same_each_time(
        words in proptest::collection::vec("[a-dA-D]{1,5}[.,]{0,1}|\\PC{1,6}|\n|# |漢字|テスト", 0..160),
    ) {
        let content = words.join(" ");
        let tags = tagged(None, &content);
        prop_assert!(tags.len() <= TAGS);
        for (at, tag) in tags.iter().enumerate() {
            prop_assert!(!tag.is_empty() && tag.chars().count() <= TAG_CHARS && tag.split(' ').count() <= WORDS, "{}", tag);
            prop_assert_eq!(&tag.to_lowercase(), tag);
            prop_assert!(!tags[..at].contains(tag));
        }
        prop_assert_eq!(tags, tagged(None, &content));
    }
}
