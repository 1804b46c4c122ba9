use serde_json::json;
use tulving_core::model::request::{BriefingRequest, Filter, Mode, RecallRequest};
use tulving_core::model::vocabulary::{Role, SpaceKind};
use tulving_dialects::Dialect::Maven;
use tulving_dialects::context;

use crate::bed::Bed;

fn at(moment: &str) -> Bed {
    let bed = Bed::new();
    bed.clock.set(moment.parse().expect("a time"));
    bed
}

fn block(bed: &Bed) -> String {
    context::block(&bed.context(Maven), Maven, &BriefingRequest::default()).expect("a block")
}

#[test]
fn the_example_of_the_seed_is_noted_found_and_read_again() {
    let bed = at("2026-05-27T09:00:00Z");
    let said = "User prefers Postgres on Hetzner, not RDS.";
    assert_eq!(
        bed.text(Maven, "remember", json!({ "content": said })),
        format!("Noted in 2026-05-27.md: \"{said}\"")
    );
    assert_eq!(
        bed.text(Maven, "memory_search", json!({ "query": "postgres", "limit": 5 })),
        format!("Found 1 entry:\n- 2026-05-27: {said}")
    );
    assert_eq!(bed.text(Maven, "memory_get", json!({ "date": "today" })), format!("# 2026-05-27\n\n{said}"));
    assert_eq!(bed.text(Maven, "memory_get", json!({ "date": "TODAY" })), format!("# 2026-05-27\n\n{said}"));
    let names: Vec<String> = bed.files.names();
    assert_eq!(names, ["memory/2026-05-27.md"], "nothing else is written");
    assert_eq!(bed.count(), 0, "the file is the truth, and no record beside it");
}

#[test]
fn journals_are_of_utc_days_and_read_by_name_or_date() {
    let bed = at("2026-05-27T00:30:00+02:00");
    bed.text(Maven, "remember", json!({ "content": "late" }));
    bed.clock.set("2026-05-27T00:30:00Z".parse().expect("a time"));
    bed.text(Maven, "remember", json!({ "content": "early" }));
    for (date, expected) in [
        ("yesterday", "# 2026-05-26\n\nlate"),
        ("2026-05-26", "# 2026-05-26\n\nlate"),
        ("today", "# 2026-05-27\n\nearly"),
    ] {
        assert_eq!(bed.text(Maven, "memory_get", json!({ "date": date })), expected, "{date}");
    }
    bed.clock.set("2026-05-29T12:00:00Z".parse().expect("a time"));
    assert_eq!(
        bed.text(Maven, "memory_get", json!({ "date": "yesterday" })),
        "No journal entry for 2026-05-28."
    );
    assert_eq!(
        bed.text(Maven, "memory_get", json!({ "date": "2026-01-01" })),
        "No journal entry for 2026-01-01."
    );
    for wrong in ["2026-02-30", "tomorrow", "27.5.2026", ""] {
        let refused = bed.refused(Maven, "memory_get", json!({ "date": wrong }));
        assert!(refused.ends_with("write today, yesterday or a date as YYYY-MM-DD"), "{refused}");
    }
}

#[test]
fn a_search_takes_the_text_as_it_is_and_gives_five_entries_newest_first() {
    let bed = at("2026-05-27T09:00:00Z");
    for day in 21..=27 {
        bed.edit(
            &format!("memory/2026-05-{day}.md"),
            format!("Morning of {day}\nTook 100% of it\n  and more\n"),
        );
    }
    bed.edit("memory/2026-02-30.md", "Morning of no day\n");
    bed.edit("memory/2026-05-27-notes.md", "Morning of notes\n");
    bed.edit("memory/MEMORY.md", "Morning person\n");
    let text = bed.text(Maven, "memory_search", json!({ "query": "MORNING" }));
    let days: Vec<&str> = text.lines().skip(1).map(|line| &line[2..12]).collect();
    assert_eq!(days, ["2026-05-27", "2026-05-26", "2026-05-25", "2026-05-24", "2026-05-23"]);
    let text = bed.text(Maven, "memory_search", json!({ "query": "100%", "limit": 1 }));
    assert_eq!(text, "Found 1 entry:\n- 2026-05-27: Took 100% of it\n  and more");
    assert_eq!(
        bed.text(Maven, "memory_search", json!({ "query": "evening" })),
        "No journal entry holds \"evening\"."
    );
    bed.edit("memory/2026-05-20.md", format!("{}needle{}", "a ".repeat(2_000), " b".repeat(2_000)));
    let text = bed.text(Maven, "memory_search", json!({ "query": "needle" }));
    let snippet = text.rsplit(": ").next().expect("a snippet");
    assert_eq!(snippet.chars().count(), 500);
    assert!(snippet.contains("needle") && snippet.starts_with('…') && snippet.ends_with('…'));
    for limit in [0, 1_001] {
        let refused = bed.refused(Maven, "memory_search", json!({ "query": "x", "limit": limit }));
        assert_eq!(refused, format!("limit is {limit}; give 1 to 1000"));
    }
    assert_eq!(
        bed.refused(Maven, "memory_search", json!({ "query": " " })),
        "the query is empty; say what to look for"
    );
}

#[test]
fn what_is_noted_has_lines_of_its_own_and_the_rest_stays_as_it_was() {
    let bed = at("2026-05-27T09:00:00Z");
    let before = "- by hand\n\n  * odd\u{a0}spaces\r\nno end";
    bed.edit("memory/2026-05-27.md", before);
    bed.text(Maven, "remember", json!({ "content": "Runs:\nmake ship\n\nthen waits" }));
    let text = bed.text(Maven, "memory_get", json!({ "date": "today" }));
    assert_eq!(text, format!("# 2026-05-27\n\n{before}\nRuns:\n  make ship\n\n  then waits"));
    let found = bed.text(Maven, "memory_search", json!({ "query": "then waits" }));
    assert_eq!(found, "Found 1 entry:\n- 2026-05-27: Runs:\n  make ship\n  \n  then waits");
}

#[test]
fn what_is_always_known_stands_in_the_prompt_under_its_heading() {
    let bed = Bed::new();
    assert_eq!(block(&bed), "", "no file adds nothing");
    bed.edit("memory/MEMORY.md", "- Is called Ana\n- Runs Postgres on Hetzner\n");
    assert_eq!(block(&bed), "# Long-term Memory\n\n- Is called Ana\n- Runs Postgres on Hetzner\n");
    bed.edit("memory/MEMORY.md", "- Is called Anna\n");
    assert_eq!(block(&bed), "# Long-term Memory\n\n- Is called Anna\n", "an edit is seen at once");
    bed.edit("memory/MEMORY.md", "é".repeat(12_289));
    assert_eq!(block(&bed), format!("# Long-term Memory\n\n{}…\n", "é".repeat(12_288)));
    bed.edit("memory/MEMORY.md", " \n");
    assert_eq!(block(&bed), "");
}

#[test]
fn what_is_noted_is_found_by_recall_in_any_dialect() {
    let bed = at("2026-05-27T09:00:00Z");
    bed.text(Maven, "remember", json!({ "content": "The backup runs at four" }));
    let filter = Filter { space: Some(bed.caller.space), ..Filter::default() };
    let request = RecallRequest { mode: Mode::Substring("backup".to_owned()), filter, sort: None, limit: 5 };
    let hits = bed.engine.recall(&bed.caller, &request).expect("an answer").hits;
    assert_eq!(hits.iter().map(|hit| hit.memory.label()).collect::<Vec<_>>(), ["memory/2026-05-27.md:1"]);
}

#[test]
fn each_space_has_its_own_journals() {
    let bed = at("2026-05-27T09:00:00Z");
    let group = bed.space("kitchen", SpaceKind::Group);
    let cook = bed.member(&group, "cook");
    bed.call_as(&cook, Maven, "remember", json!({ "content": "The soup is ready" })).expect("noted");
    assert_eq!(bed.files.names(), ["groups/kitchen/memory/2026-05-27.md"]);
    assert_eq!(bed.text(Maven, "memory_get", json!({ "date": "today" })), "No journal entry for 2026-05-27.");
    let space = group.space.to_string();
    bed.engine.set_member(&bed.caller, &space, "cook", Role::Reader).expect("a reader");
    let refusal = bed.call_as(&cook, Maven, "remember", json!({ "content": "x" })).expect_err("refused");
    assert_eq!(refusal.code, "no_write_access");
    assert!(bed.call_as(&cook, Maven, "memory_get", json!({ "date": "today" })).is_ok());
}

#[test]
fn journals_that_cannot_be_read_are_named() {
    let bed = at("2026-05-27T09:00:00Z");
    bed.files.set_broken(true);
    let refused = bed.refused(Maven, "remember", json!({ "content": "x" }));
    assert!(refused.contains("memory/2026-05-27.md cannot be written"), "{refused}");
}
