//! The texts by which a question is searched: without the name of a project, with abbreviations written out, without relative
//! days, and the excerpt of a log.

use tulving_core::model::answer::Lane;
use tulving_core::model::request::{Fusion, RecallQuestion, SaveRequest};

use super::{ask, bed};
use crate::bed::Bed;

/// Returns the contents that were found by one lane, best first.
fn found(bed: &Bed, lane: Lane, question: RecallQuestion) -> Vec<String> {
    let answer = ask(bed, &bed.user(), RecallQuestion { lanes: vec![lane], ..question });
    answer.hits.into_iter().map(|hit| hit.memory.fields.text.content).collect()
}

#[test]
fn the_name_of_a_project_says_nothing_about_the_meaning() {
    let bed = bed();
    let about = |project: &str, content: &str| {
        bed.save(&bed.user(), SaveRequest { project: Some(project.to_owned()), ..SaveRequest::new(content) });
    };
    about("gantry", "gantry gantry gantry");
    about("gantry", "Smoke tests run in a container");
    let first = |lane, question: &str| found(&bed, lane, RecallQuestion::new(question)).remove(0);
    assert_eq!(first(Lane::Vector, "smoke tests of Gantry"), "Smoke tests run in a container");
    assert_eq!(first(Lane::Vector, "gantry"), "gantry gantry gantry", "nothing else is asked");
    assert!(first(Lane::Keyword, "gantry").contains("gantry"), "the words have it");
}

#[test]
fn usual_abbreviations_are_searched_written_out_too() {
    let bed = bed();
    for content in
        ["The pull request waits for Bence", "The PR template has five lines", "Tea is in the kitchen"]
    {
        bed.save(&bed.user(), content);
    }
    let words = |question: RecallQuestion| found(&bed, Lane::Keyword, question).len();
    assert_eq!(words(RecallQuestion::new("whose PR?")), 2);
    assert_eq!(words(RecallQuestion { fusion: Fusion::Ranks, ..RecallQuestion::new("whose PR?") }), 1);
}

#[test]
fn a_log_is_searched_by_what_failed_in_it() {
    let bed = bed();
    bed.save(&bed.user(), "A deadlock at night: sort the stations before the upsert");
    bed.save(&bed.user(), "The loader logs each batch of rows with its station");
    let batch = |n: u32| format!("02:{:02}:10 INFO loader batch {n} rows of station {n} written", n % 60);
    let mut log: Vec<String> = (0..400).map(batch).collect();
    log.insert(211, "02:31:10 ERROR could not write: deadlock detected".to_owned());
    let prompt = format!("what went wrong in this run?\n\n{}", log.join("\n"));
    let first = found(&bed, Lane::Keyword, RecallQuestion::new(prompt)).remove(0);
    assert_eq!(first, "A deadlock at night: sort the stations before the upsert");
}
