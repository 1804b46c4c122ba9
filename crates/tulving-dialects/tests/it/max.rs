use serde_json::{Value, json};
use tulving_core::model::request::{Filter, ForgetMode, ForgetRequest, ListRequest, SaveRequest, Sort};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{MemoryType, SpaceKind};
use tulving_dialects::Dialect::Max;
use tulving_dialects::max::summary;

use crate::bed::Bed;

fn remember(bed: &Bed, category: &str, content: &str) -> String {
    bed.text(Max, "remember", json!({ "category": category, "content": content }))
}

fn recall(bed: &Bed, arguments: Value) -> String {
    bed.text(Max, "recall", arguments)
}

/// Saves and forgets until the next memory gets this number.
fn skip_to(bed: &Bed, number: u64) {
    loop {
        let said = remember(bed, "fact", "filler");
        let given: u64 = said
            .trim_start_matches("Remembered (#")
            .split(',')
            .next()
            .expect("a number")
            .parse()
            .expect("one");
        bed.text(Max, "forget", json!({ "memory_id": given }));
        if given + 1 == number {
            return;
        }
    }
}

#[test]
fn remember_recall_and_forget_answer_as_the_seed_says() {
    let bed = Bed::new();
    bed.clock.set("2025-03-01".parse::<Timestamp>().expect("a day"));
    skip_to(&bed, 12);
    let content = "Prefers TypeScript over JavaScript";
    assert_eq!(
        remember(&bed, "preference", content),
        "Remembered (#12, preference): \"Prefers TypeScript over JavaScript\""
    );
    assert_eq!(
        recall(&bed, json!({ "keyword": "TypeScript" })),
        "Found 1 memory:\n  • #12 [preference] Prefers TypeScript over JavaScript (user, 2025-03-01)"
    );
    assert_eq!(bed.text(Max, "forget", json!({ "memory_id": 12 })), "Memory #12 forgotten.");
    assert_eq!(recall(&bed, json!({ "keyword": "TypeScript" })), "No memories found.");
    assert_eq!(bed.text(Max, "forget", json!({ "memory_id": 12 })), "Memory #12 not found.");
}

#[test]
fn the_summary_is_that_of_the_seed_to_the_letter() {
    let bed = Bed::new();
    for (number, category, content) in [
        (3, "routine", "Daily standup is at 9:30 AM Pacific"),
        (7, "project", "The auth service lives in ~/dev/api/src/auth"),
        (9, "project", "Uses pnpm as the package manager"),
        (12, "preference", "Prefers TypeScript over JavaScript"),
    ] {
        skip_to(&bed, number);
        assert!(remember(&bed, category, content).starts_with(&format!("Remembered (#{number}, ")));
    }
    let seed = "\
## Long-Term Memory
These are things you've been asked to remember or have noted as important:

**preference**:
  - [#12] Prefers TypeScript over JavaScript

**project**:
  - [#7] The auth service lives in ~/dev/api/src/auth
  - [#9] Uses pnpm as the package manager

**routine**:
  - [#3] Daily standup is at 9:30 AM Pacific
";
    assert_eq!(summary(&bed.context(Max)).expect("a summary"), seed);
    recall(&bed, json!({}));
    assert_eq!(summary(&bed.context(Max)).expect("a summary"), seed, "the same each time");
}

#[test]
fn without_memories_the_summary_is_empty() {
    let bed = Bed::new();
    assert_eq!(summary(&bed.context(Max)).expect("a summary"), "");
}

#[test]
fn the_summary_has_all_five_categories_in_order_and_what_is_saved_next() {
    let bed = Bed::new();
    for (category, content) in [
        ("routine", "Daily standup is at 9:30 AM Pacific"),
        ("person", "Sarah is the team lead for the payments squad"),
        ("project", "The auth service lives in ~/dev/api/src/auth"),
        ("fact", "Uses a standing desk and works best in the morning"),
        ("preference", "Prefers TypeScript over JavaScript"),
    ] {
        remember(&bed, category, content);
        let saved = summary(&bed.context(Max)).expect("a summary");
        assert!(saved.contains(&format!("**{category}**:\n  - [#")) && saved.contains(content), "{saved}");
    }
    let made = summary(&bed.context(Max)).expect("a summary");
    let headings: Vec<&str> = made.lines().filter(|line| line.starts_with("**")).collect();
    assert_eq!(headings, ["**preference**:", "**fact**:", "**project**:", "**person**:", "**routine**:"]);
}

#[test]
fn the_summary_has_everything_that_recall_can_show_and_nothing_else() {
    let bed = Bed::new();
    bed.save_many((0..250).map(|n| SaveRequest::new(format!("fact number {n}"))));
    let gone = bed.save(SaveRequest {
        expires_at: Some("2026-01-02".parse().expect("a day")),
        ..SaveRequest::new("expires soon")
    });
    let archived = bed.save(SaveRequest::new("is archived"));
    let soft = bed.save(SaveRequest::new("is forgotten"));
    bed.engine.archive(&bed.caller, archived.into()).expect("archived");
    let softly = ForgetRequest { mode: ForgetMode::Soft, reason: None };
    bed.engine.forget(&bed.caller, soft.into(), &softly).expect("forgotten");
    let elsewhere = bed.space("work", SpaceKind::Hub);
    bed.save_as(&elsewhere, SaveRequest::new("is elsewhere"));
    assert_eq!(summary(&bed.context(Max)).expect("a summary").matches("\n  - [#").count(), 251);
    bed.wait(86_400);
    let made = summary(&bed.context(Max)).expect("a summary");
    assert_eq!(made.matches("\n  - [#").count(), 250, "no budget");
    assert!(!made.contains("is archived") && !made.contains("expires") && !made.contains("is elsewhere"));
    assert!(bed.engine.get(&bed.caller, gone.into()).is_ok());
}

#[test]
fn a_content_of_several_lines_is_one_entry() {
    let bed = Bed::new();
    remember(&bed, "fact", "first\n**preference**:\n  - [#99] forged");
    let made = summary(&bed.context(Max)).expect("a summary");
    assert_eq!(made.lines().filter(|line| line.starts_with("**")).count(), 1, "{made}");
    assert!(!made.lines().any(|line| line.starts_with("  - [#99]")), "{made}");
    assert!(recall(&bed, json!({})).lines().filter(|line| line.starts_with("  •")).count() == 1);
}

#[test]
fn the_source_defaults_to_user_and_may_be_auto() {
    let bed = Bed::new();
    remember(&bed, "fact", "asked for");
    bed.text(Max, "remember", json!({ "category": "fact", "content": "noticed", "source": "auto" }));
    let found = recall(&bed, json!({}));
    assert!(found.contains("asked for (user, 2026-01-01)") && found.contains("noticed (auto, 2026-01-01)"));
    let refused = bed.refused(Max, "remember", json!({ "category": "fact", "content": "x", "source": "me" }));
    assert_eq!(refused, "unknown source `me`; use one of user, auto");
}

#[test]
fn what_is_known_is_said_with_its_number() {
    let bed = Bed::new();
    remember(&bed, "preference", "Prefers tea");
    assert_eq!(
        remember(&bed, "preference", " Prefers tea "),
        "Already remembered (#1, preference): \"Prefers tea\""
    );
    assert_eq!(bed.count(), 1);
}

#[test]
fn an_unknown_category_lists_the_five() {
    let bed = Bed::new();
    let said = "unknown category `decision`; use one of preference, fact, project, person, routine";
    assert_eq!(bed.refused(Max, "remember", json!({ "category": "decision", "content": "x" })), said);
    assert_eq!(bed.refused(Max, "recall", json!({ "category": "decision" })), said);
    assert_eq!(bed.count(), 0);
}

#[test]
fn a_keyword_is_a_literal_substring_in_any_case() {
    let bed = Bed::new();
    remember(&bed, "fact", "Coverage is at 100% in core_lib\\src");
    remember(&bed, "fact", "Coverage is at 1000 in corelib");
    for (keyword, found) in [
        ("100%", 1),
        ("core_lib", 1),
        ("b\\s", 1),
        ("%", 1),
        ("_", 1),
        ("COVERAGE", 2),
        ("100", 2),
        ("ore l", 0),
        ("\"", 0),
    ] {
        let said = recall(&bed, json!({ "keyword": keyword }));
        assert_eq!(said.matches("  • #").count(), found, "{keyword}: {said}");
    }
}

#[test]
fn keyword_and_category_must_both_hold_and_neither_is_needed() {
    let bed = Bed::new();
    remember(&bed, "project", "The API is in Rust");
    remember(&bed, "person", "Rust is Ana's favourite");
    assert_eq!(recall(&bed, json!({})).lines().next(), Some("Found 2 memories:"));
    assert_eq!(
        recall(&bed, json!({ "keyword": null, "category": null })).lines().next(),
        Some("Found 2 memories:")
    );
    assert!(recall(&bed, json!({ "category": "project" })).contains("The API is in Rust"));
    assert_eq!(
        recall(&bed, json!({ "category": "person", "keyword": "rust" })),
        "Found 1 memory:\n  • #2 [person] Rust is Ana's favourite (user, 2026-01-01)"
    );
    assert_eq!(recall(&bed, json!({ "category": "routine" })), "No memories found.");
}

#[test]
fn recall_gives_twenty_newest_access_first_and_counts_as_access() {
    let bed = Bed::new();
    for n in 1..=25 {
        remember(&bed, "fact", &format!("number {n}."));
    }
    let numbers = |said: &str| -> Vec<u64> {
        let lines = said.lines().filter_map(|line| line.trim().strip_prefix("• #"));
        lines.map(|line| line.split(' ').next().expect("a number").parse().expect("one")).collect()
    };
    let first = recall(&bed, json!({}));
    assert_eq!(first.lines().next(), Some("Found 20 memories:"));
    assert_eq!(numbers(&first), (6..=25).rev().collect::<Vec<u64>>());
    assert_eq!(numbers(&recall(&bed, json!({ "keyword": "number 3." }))), [3]);
    let next = numbers(&recall(&bed, json!({})));
    assert_eq!(next[0], 3, "what was recalled last comes first");
    assert_eq!(next[1..], (7..=25).rev().collect::<Vec<u64>>());
    let before = bed.memory("#3").usage.accessed_at;
    bed.engine.flush().expect("written");
    assert!(bed.memory("#3").usage.accessed_at > before && bed.memory("#3").usage.access_count == 2);
}

#[test]
fn forget_is_final_and_takes_the_number_however_it_is_written() {
    let bed = Bed::new();
    for (n, id) in (1..).zip([json!(1), json!("2"), json!("#3"), json!(4.0)]) {
        remember(&bed, "fact", &format!("to be forgotten {n}"));
        assert_eq!(bed.text(Max, "forget", json!({ "memory_id": id })), format!("Memory #{n} forgotten."));
    }
    let page = ListRequest {
        filter: Filter {
            forgotten: tulving_core::model::request::ForgottenFilter::Only,
            ..Filter::default()
        },
        sort: Sort::Newest,
        limit: 10,
        cursor: None,
    };
    assert!(bed.engine.list(&bed.caller, &page).expect("a list").memories.is_empty(), "nothing to restore");
    for (id, said) in [
        (json!(99), "Memory #99 not found."),
        (json!(0), "Memory #0 not found."),
        (json!(-1), "Memory #-1 not found."),
        (json!(u64::MAX), "Memory #18446744073709551615 not found."),
        (json!(9_999_999_999_999_999_999_u64), "Memory #9999999999999999999 not found."),
        (json!("the one about tea"), "Memory #the one about tea not found."),
    ] {
        assert_eq!(bed.text(Max, "forget", json!({ "memory_id": id })), said);
    }
}

#[test]
fn a_memory_of_another_space_is_not_there() {
    let bed = Bed::new();
    let elsewhere = bed.space("work", SpaceKind::Hub);
    let id = bed.save_as(
        &elsewhere,
        SaveRequest { memory_type: Some(MemoryType::Fact), ..SaveRequest::new("far away") },
    );
    assert_eq!(recall(&bed, json!({ "keyword": "far" })), "No memories found.");
    let said = bed.text(Max, "forget", json!({ "memory_id": id.to_string() }));
    assert_eq!(said, format!("Memory {id} not found."));
    assert!(bed.engine.get(&elsewhere, id.into()).is_ok());
}

#[test]
fn remember_by_the_user_of_what_was_noted_by_itself_is_applied_and_told() {
    let bed = Bed::new();
    let noted = json!({ "category": "fact", "content": "Prefers tea", "source": "auto" });
    bed.text(Max, "remember", noted);
    assert_eq!(
        remember(&bed, "preference", "Prefers tea"),
        "Already remembered (#1, preference): \"Prefers tea\" \
         (updated: source auto → user, category fact → preference, importance 0.5 → 0.7)"
    );
    assert_eq!(
        remember(&bed, "preference", "Prefers tea"),
        "Already remembered (#1, preference): \"Prefers tea\""
    );
    let found = recall(&bed, json!({ "category": "preference" }));
    assert!(found.contains("Prefers tea (user, "), "{found}");
}
