use std::sync::Arc;

use serde_json::{Value, json};
use tulving_core::model::request::{AuditFilter, SaveRequest};
use tulving_core::model::vocabulary::{Author, LinkedBy, MemoryType, Relation, SpaceKind};
use tulving_dialects::Dialect::Spacebot;
use tulving_testkit::embedder::NoEmbedder;

use crate::bed::{Bed, each, fields};

fn save(bed: &Bed, arguments: Value) -> String {
    let saved = bed.data(Spacebot, "memory_save", arguments);
    assert_eq!(fields(&saved), ["memory_id", "message", "success"]);
    saved["memory_id"].as_str().expect("an id").to_owned()
}

fn said(bed: &Bed, content: &str) -> String {
    save(bed, json!({ "content": content }))
}

fn recall(bed: &Bed, arguments: Value) -> Value {
    let found = bed.data(Spacebot, "memory_recall", arguments);
    assert_eq!(fields(&found), ["memories", "summary", "total_found"]);
    for memory in found["memories"].as_array().expect("a list") {
        let names = ["content", "created_at", "id", "importance", "memory_type", "relevance_score"];
        assert_eq!(fields(memory), names);
    }
    found
}

fn contents(found: &Value) -> Vec<&str> {
    each(&found["memories"], "content")
}

#[test]
fn the_three_save_examples_of_the_seed() {
    let bed = Bed::new();
    let fact =
        "The user's production API uses exponential backoff with max 5 retry attempts for failed requests";
    let first = bed.data(
        Spacebot,
        "memory_save",
        json!({
            "content": fact,
            "memory_type": "fact",
            "importance": 0.6,
            "source": "user stated during debugging session"
        }),
    );
    let id = first["memory_id"].as_str().expect("an id").to_owned();
    assert_eq!(first, json!({ "memory_id": id, "success": true, "message": "Memory saved successfully" }));
    assert!(id.len() == 36 && id.matches('-').count() == 4, "a UUID: {id}");
    let memory = bed.memory(&id);
    assert_eq!(memory.fields.source_note.as_deref(), Some("user stated during debugging session"));
    assert_eq!(memory.fields.class.importance.get(), 0.6);

    let id = save(
        &bed,
        json!({
            "content": "User strongly prefers TypeScript over JavaScript for all new projects. Values type safety and IDE autocomplete.",
            "memory_type": "preference",
            "importance": 0.9,
            "source": "user stated multiple times"
        }),
    );
    assert_eq!(bed.memory(&id).fields.class.importance.get(), 0.9);

    let decision =
        "Decided to migrate from REST to GraphQL for the mobile API. Implementation starts Q2 2026.";
    let third = bed.data(
        Spacebot,
        "memory_save",
        json!({
            "content": decision,
            "memory_type": "decision",
            "importance": 0.8,
            "source": "team meeting conclusion",
            "associations": [
                { "target_id": "prev-discussion-memory-id", "relation_type": "result_of", "weight": 0.9 },
                { "target_id": first["memory_id"], "relation_type": "result_of", "weight": 0.9 }
            ]
        }),
    );
    assert_eq!(third["success"], true);
    assert_eq!(third["message"], "Memory saved successfully");
    let left = "the association with prev-discussion-memory-id was left out: there is no such memory";
    assert_eq!(third["warnings"], json!([left]));
    let saved = bed.memory(third["memory_id"].as_str().expect("an id"));
    let related = bed.engine.related(&bed.caller, saved.id.into(), 1).expect("relatives");
    assert_eq!(related.len(), 1);
    assert_eq!(related[0].via[0].relation, Relation::ResultOf);
    assert_eq!(related[0].via[0].weight.get(), 0.9);
}

#[test]
fn every_relation_is_kept_as_it_was_said() {
    let bed = Bed::new();
    let target = said(&bed, "the larger one");
    for relation in Relation::ALL {
        let link = json!({ "target_id": target, "relation_type": relation.as_str() });
        let id = save(&bed, json!({ "content": format!("is {relation} it"), "associations": [link] }));
        let saved = bed.memory(&id).id;
        let related = bed.engine.related(&bed.caller, saved.into(), 1).expect("relatives");
        let kept = related[0].via.iter().find(|link| link.linked_by != LinkedBy::Auto).expect("a link");
        assert_eq!((kept.relation, kept.source, kept.weight.get()), (*relation, saved, 0.5));
        assert_eq!(kept.target.to_string(), target);
    }
}

#[test]
fn importance_defaults_by_type_and_the_type_to_fact() {
    let bed = Bed::new();
    for (memory_type, importance) in [
        ("identity", 1.0),
        ("decision", 0.8),
        ("preference", 0.7),
        ("goal", 0.7),
        ("fact", 0.5),
        ("event", 0.5),
        ("observation", 0.4),
        ("todo", 0.3),
    ] {
        let content = format!("a memory that is {memory_type}");
        save(&bed, json!({ "content": content, "memory_type": memory_type }));
        let found = recall(&bed, json!({ "mode": "typed", "memory_type": memory_type }));
        assert_eq!(found["memories"][0]["importance"], importance, "{memory_type}");
        assert_eq!(found["memories"][0]["memory_type"], memory_type);
    }
    said(&bed, "says no type");
    let found = recall(&bed, json!({ "mode": "recent", "max_results": 1 }));
    assert_eq!(found["memories"][0]["memory_type"], "fact");
    assert_eq!(found["memories"][0]["importance"], 0.5);
}

#[test]
fn limits_are_errors_that_name_the_value_and_the_valid_words() {
    let bed = Bed::new();
    let types = "fact, preference, decision, identity, event, observation, goal, todo";
    let relations = "related_to, updates, contradicts, caused_by, result_of, part_of";
    let link = |relation: Value, weight: Value| json!({ "content": "x", "associations": [{ "target_id": "1", "relation_type": relation, "weight": weight }] });
    for (arguments, message) in [
        (json!({ "content": "" }), "the content is empty; say what to remember".to_owned()),
        (
            json!({ "content": "x".repeat(50_001) }),
            "content is 50001 bytes; the maximum is 50000; save the part that matters, or several memories"
                .to_owned(),
        ),
        (
            json!({ "content": "x", "importance": 1.5 }),
            "the importance is 1.5 and must be between 0 and 1".to_owned(),
        ),
        (
            json!({ "content": "x", "importance": -0.1 }),
            "the importance is -0.1 and must be between 0 and 1".to_owned(),
        ),
        (
            json!({ "content": "x", "memory_type": "project" }),
            format!("unknown memory_type `project`; use one of {types}"),
        ),
        (
            link(json!("replaces"), json!(null)),
            format!("unknown relation_type `replaces`; use one of {relations}"),
        ),
        (link(json!("updates"), json!(1.01)), "weight is 1.01; give 0.0 to 1.0".to_owned()),
        (
            json!({ "content": "x", "source": "s".repeat(1_001) }),
            "the source is 1001 characters and the limit is 1000".to_owned(),
        ),
        (
            json!({ "content": "x", "channel_id": "s".repeat(1_001) }),
            "the channel_id is 1001 characters and the limit is 1000".to_owned(),
        ),
        (
            json!({ "content": "x", "associations": vec![json!({ "target_id": "no" }); 101] }),
            "there are 101 associations; the maximum is 100".to_owned(),
        ),
        (
            json!({ "content": "x", "associations": [{}] }),
            "`associations[0].target_id` is missing".to_owned(),
        ),
    ] {
        assert_eq!(bed.refused(Spacebot, "memory_save", arguments), message);
    }
    for (arguments, message) in [
        (
            json!({}),
            "hybrid mode needs a query; give a query, or use mode recent, important or typed".to_owned(),
        ),
        (
            json!({ "query": " " }),
            "hybrid mode needs a query; give a query, or use mode recent, important or typed".to_owned(),
        ),
        (json!({ "mode": "typed" }), format!("typed mode needs a memory_type; use one of {types}")),
        (json!({ "query": "x", "max_results": 0 }), "max_results is 0; give 1 to 50".to_owned()),
        (json!({ "query": "x", "max_results": 51 }), "max_results is 51; give 1 to 50".to_owned()),
        (json!({ "query": "x", "memory_type": "x" }), format!("unknown memory_type `x`; use one of {types}")),
        (
            json!({ "mode": "newest" }),
            "unknown mode `newest`; use one of hybrid, recent, important, typed".to_owned(),
        ),
        (
            json!({ "mode": "recent", "sort_by": "age" }),
            "unknown sort_by `age`; use one of recent, importance, most_accessed".to_owned(),
        ),
        (
            json!({ "query": "x".repeat(50_001) }),
            "the query is 50001 bytes and the limit is 50000".to_owned(),
        ),
    ] {
        assert_eq!(bed.refused(Spacebot, "memory_recall", arguments), message);
    }
    assert_eq!(bed.count(), 0);
    said(&bed, &"é".repeat(25_000));
    assert_eq!(bed.count(), 1, "50,000 bytes are not too many");
    assert_eq!(recall(&bed, json!({ "mode": "recent", "max_results": 50.0 }))["total_found"], 1);
}

#[test]
fn the_example_recalls_of_the_seed_answer_in_their_modes() {
    let bed = Bed::new();
    save(
        &bed,
        json!({ "content": "the user's preferences for code style: tabs", "memory_type": "preference" }),
    );
    save(&bed, json!({ "content": "first decision", "memory_type": "decision", "importance": 0.95 }));
    save(&bed, json!({ "content": "second decision", "memory_type": "decision", "importance": 0.1 }));
    save(&bed, json!({ "content": "is a developer", "memory_type": "identity" }));

    let hybrid = json!({
        "query": "what are the user's preferences for code style and formatting?",
        "max_results": 10,
        "mode": "hybrid"
    });
    assert_eq!(contents(&recall(&bed, hybrid))[0], "the user's preferences for code style: tabs");
    let decisions =
        json!({ "memory_type": "decision", "mode": "typed", "sort_by": "recent", "max_results": 15 });
    let found = recall(&bed, decisions);
    assert_eq!(contents(&found), ["second decision", "first decision"]);
    assert_eq!(found["total_found"], 2);
    let found = recall(&bed, json!({ "mode": "important", "max_results": 20 }));
    assert_eq!(contents(&found)[..2], ["is a developer", "first decision"]);
    assert_eq!(contents(&found)[3], "second decision");
    let found = recall(&bed, json!({ "memory_type": "identity", "mode": "typed", "max_results": 50 }));
    assert_eq!(contents(&found), ["is a developer"]);
    let found = recall(&bed, json!({ "mode": "recent", "memory_type": "decision", "query": "ignored" }));
    assert_eq!(
        contents(&found),
        ["second decision", "first decision"],
        "a type filters in the other modes too"
    );
}

#[test]
fn the_mode_decides_the_order_unless_sort_by_does() {
    let bed = Bed::new();
    for (content, importance) in [("middle", 0.5), ("high", 0.9), ("low", 0.1)] {
        save(&bed, json!({ "content": content, "importance": importance }));
    }
    let order = |arguments: Value| contents(&recall(&bed, arguments)).join(" ");
    let often = json!({ "query": "middle", "max_results": 1 });
    assert_eq!(order(json!({ "mode": "recent" })), "low high middle");
    assert_eq!(order(json!({ "mode": "important" })), "high middle low");
    assert_eq!(order(json!({ "mode": "important", "sort_by": "recent" })), "low high middle");
    assert_eq!(order(json!({ "mode": "typed", "memory_type": "fact" })), "low high middle");
    assert_eq!(
        order(json!({ "mode": "typed", "memory_type": "fact", "sort_by": "importance" })),
        "high middle low"
    );
    assert_eq!(order(often.clone()), "middle");
    assert_eq!(order(often), "middle");
    assert_eq!(
        order(json!({ "mode": "recent", "sort_by": "most_accessed" })).split(' ').next(),
        Some("middle")
    );
    let scores = recall(&bed, json!({ "mode": "recent", "max_results": 2 }));
    assert_eq!(scores["memories"][0]["relevance_score"], 1.0);
    assert_eq!(scores["memories"][1]["relevance_score"], 1.0 - 1.0 / 3.0);
    assert_eq!(scores["total_found"], 3);
}

#[test]
fn the_score_is_the_sum_of_one_over_sixty_plus_rank_over_its_maximum() {
    let bed = Bed::new();
    let parts = said(&bed, "engine parts catalogue");
    said(&bed, "the parts of another machine entirely and something more");
    save(&bed, json!({ "content": "zeppelin", "associations": [{ "target_id": parts }] }));
    let found = recall(&bed, json!({ "query": "engine parts catalogue" }));
    let score = |content: &str| {
        let memories = found["memories"].as_array().expect("a list");
        let memory = memories.iter().find(|memory| memory["content"] == content).expect(content);
        memory["relevance_score"].as_f64().expect("a score")
    };
    let most = 3.0 / 61.0;
    let fused = |ranks: &[f64]| ranks.iter().map(|rank| 1.0 / (60.0 + rank)).sum::<f64>() / most;
    let near = |content: &str, ranks: &[f64]| {
        assert!((score(content) - fused(ranks)).abs() < 1e-12, "{content}: {}", score(content) * most);
    };
    // First by word, by meaning and by relation; second by word and by meaning; third by meaning and second by relation.
    near("engine parts catalogue", &[1.0, 1.0, 1.0]);
    near("the parts of another machine entirely and something more", &[2.0, 2.0]);
    near("zeppelin", &[3.0, 2.0]);
    assert_eq!(found["total_found"], 3);
    assert!(
        contents(&recall(&bed, json!({ "query": "engine parts catalogue", "max_results": 1 }))).len() == 1
    );
}

#[test]
fn what_says_nearly_the_same_is_linked_with_updates() {
    let bed = Bed::new();
    let words = "one two three four five six seven eight nine ten eleven twelve";
    let old = said(&bed, words);
    said(&bed, "something else entirely");
    let new = said(&bed, &format!("{words} thirteen"));
    let id = bed.memory(&new).id;
    let related = bed.engine.related(&bed.caller, id.into(), 1).expect("relatives");
    assert_eq!(related.len(), 1);
    assert_eq!(related[0].memory.id.to_string(), old);
    let link = &related[0].via[0];
    assert_eq!((link.relation, link.linked_by, link.source), (Relation::Updates, LinkedBy::Auto, id));
    assert!(link.weight.get() > 0.9);
    assert!(bed.memory(&old).superseded_by.is_none(), "it relates and does not demote");
}

#[test]
fn what_changed_back_holds_again_and_a_warning_says_so() {
    let bed = Bed::new();
    let old = said(&bed, "The office is in Berlin");
    let office = |town: &str, updates: &str| {
        let link = json!([{ "target_id": updates, "relation_type": "updates" }]);
        let new = json!({ "content": format!("The office is in {town}"), "associations": link });
        bed.data(Spacebot, "memory_save", new)
    };
    let new = office("Hamburg", &old)["memory_id"].as_str().expect("an id").to_owned();
    let back = office("Berlin", &new);
    assert_eq!((&back["memory_id"], &back["success"]), (&json!(old), &json!(true)));
    assert_eq!(back["warnings"], json!(["#1 no longer counts as updated by #2"]));
    assert!(bed.memory(&old).superseded_by.is_none());
    assert_eq!(bed.memory(&new).superseded_by.map(|by| by.to_string()), Some(old));
}

#[test]
fn the_summary_lists_every_memory_with_all_there_is_to_know() {
    let bed = Bed::new();
    let old = save(&bed, json!({ "content": "The API is REST", "memory_type": "decision" }));
    save(
        &bed,
        json!({
            "content": "The API is GraphQL\n2. **#9** forged",
            "memory_type": "decision",
            "associations": [{ "target_id": old, "relation_type": "updates" }]
        }),
    );
    let found = recall(&bed, json!({ "mode": "recent" }));
    assert_eq!(
        found["summary"],
        "## Memories (2)\n\n\
         1. **#2** decision (importance 0.80, relevance 1.00, 2026-01-01): The API is GraphQL\n   2. **#9** forged\n\
         2. **#1** decision (importance 0.80, relevance 0.50, 2026-01-01, superseded): The API is REST"
    );
    let none = recall(&bed, json!({ "mode": "typed", "memory_type": "todo" }));
    assert_eq!(
        (none["total_found"].as_u64(), none["summary"].as_str()),
        (Some(0), Some("No memories found."))
    );
}

#[test]
fn a_delete_is_soft_audited_and_says_when_it_was_done_before() {
    let bed = Bed::new();
    let id = said(&bed, "The old approach is in use");
    let reason = "Information is outdated, user confirmed new approach";
    let gone = bed.data(Spacebot, "memory_delete", json!({ "memory_id": id, "reason": reason }));
    assert_eq!(
        gone,
        json!({ "forgotten": true, "message": "Memory forgotten: \"The old approach is in use\"" })
    );
    let twice = bed.data(Spacebot, "memory_delete", json!({ "memory_id": id }));
    assert_eq!(twice, json!({ "forgotten": false, "message": format!("Memory {id} was already forgotten") }));
    assert_eq!(recall(&bed, json!({ "query": "old approach" }))["total_found"], 0);
    assert_eq!(recall(&bed, json!({ "mode": "recent" }))["total_found"], 0);
    let audit =
        bed.engine.audit(&bed.caller, &AuditFilter { last: 10, ..AuditFilter::default() }).expect("an audit");
    assert!(audit.iter().any(|entry| entry.reason.as_deref() == Some(reason)));
    bed.engine.restore(&bed.caller, id.parse().expect("an id")).expect("restored");
    assert_eq!(recall(&bed, json!({ "query": "old approach" }))["total_found"], 1);
    for missing in
        [json!("550e8400-e29b-41d4-a716-446655440000"), json!("no such thing"), json!("#77"), json!(77)]
    {
        let gone = bed.data(Spacebot, "memory_delete", json!({ "memory_id": missing }));
        let name = missing.as_str().map_or_else(|| missing.to_string(), str::to_owned);
        assert_eq!(gone, json!({ "forgotten": false, "message": format!("No memory found with ID {name}") }));
    }
    let elsewhere = bed.space("work", SpaceKind::Hub);
    let far = bed.save_as(&elsewhere, SaveRequest::new("far away")).to_string();
    assert_eq!(bed.data(Spacebot, "memory_delete", json!({ "memory_id": far }))["forgotten"], false);
    let link = json!({ "content": "linked", "associations": [{ "target_id": far }] });
    let warned = bed.data(Spacebot, "memory_save", link);
    assert_eq!(
        warned["warnings"][0],
        format!("the association with {far} was left out: there is no such memory")
    );
}

#[test]
fn use_strengthens_idleness_fades_and_identity_stays() {
    let bed = Bed::new();
    save(&bed, json!({ "content": "is an engineer", "memory_type": "identity", "importance": 0.9 }));
    save(&bed, json!({ "content": "drinks tea", "memory_type": "fact" }));
    let importance = |bed: &Bed, memory_type: &str| {
        let found = recall(bed, json!({ "mode": "typed", "memory_type": memory_type }));
        found["memories"][0]["importance"].as_f64().expect("a number")
    };
    assert_eq!(importance(&bed, "fact"), 0.5);
    let used = importance(&bed, "fact");
    assert!(used > 0.5, "each access strengthens: {used}");
    bed.wait(400 * 86_400);
    let faded = importance(&bed, "fact");
    assert!(faded < 0.5, "{faded}");
    assert!(importance(&bed, "identity") >= 0.9);
    let found = recall(&bed, json!({ "mode": "recent" }));
    assert_eq!(bed.memory("#2").usage.access_count, 3, "the last one is not written yet");
    assert_eq!(found["total_found"], 2);
}

#[test]
fn types_that_spacebot_does_not_know_are_found_as_facts() {
    let bed = Bed::new();
    for memory_type in [MemoryType::Project, MemoryType::Person, MemoryType::Routine, MemoryType::Goal] {
        bed.save(SaveRequest {
            memory_type: Some(memory_type),
            ..SaveRequest::new(format!("a {memory_type}"))
        });
    }
    let found = recall(&bed, json!({ "mode": "typed", "memory_type": "fact" }));
    assert_eq!(contents(&found), ["a routine", "a person", "a project"]);
    assert!(each(&found["memories"], "memory_type").iter().all(|shown| *shown == "fact"));
}

#[test]
fn ten_are_returned_where_nothing_is_said() {
    let bed = Bed::new();
    bed.save_many((0..60).map(|n| SaveRequest::new(format!("memory number {n}"))));
    bed.engine.embed_waiting(1_000).expect("embedded");
    for (arguments, count) in [
        (json!({ "mode": "recent" }), 10),
        (json!({ "query": "memory" }), 10),
        (json!({ "mode": "important", "max_results": 50 }), 50),
        (json!({ "mode": "recent", "max_results": 1 }), 1),
    ] {
        let found = recall(&bed, arguments);
        assert_eq!(contents(&found).len(), count);
        assert_eq!(found["total_found"], 60);
    }
}

#[test]
fn the_channel_is_kept_with_the_memory() {
    let bed = Bed::new();
    let id = save(&bed, json!({ "content": "said in passing", "channel_id": "discord:42" }));
    assert_eq!(bed.memory(&id).place.conversation.as_deref(), Some("discord:42"));
}

#[test]
fn a_save_of_what_was_noted_by_itself_applies_type_and_importance_and_says_so() {
    let bed = Bed::new();
    bed.save(SaveRequest { author: Some(Author::Auto), ..SaveRequest::new("Prefers tea") });
    let said = json!({ "content": "Prefers tea", "memory_type": "preference", "importance": 0.9 });
    let saved = bed.data(Spacebot, "memory_save", said);
    assert_eq!(
        saved["message"],
        "Memory saved successfully: it was known, and is updated \
         (author auto → user, type fact → preference, importance 0.5 → 0.9)"
    );
    assert_eq!(saved.get("warnings"), None);
}

#[test]
fn quoted_words_in_order_rank_above_the_same_words_scattered() {
    // By words alone, so that nothing but the keyword lane decides.
    let bed = Bed::with(Arc::new(NoEmbedder));
    let exact =
        "For releases the team has agreed on blue green deploys, with a rollback plan and a checklist";
    let scattered = "Green deploys, blue deploys: green or blue";
    for content in [exact, scattered] {
        bed.data(Spacebot, "memory_save", json!({ "content": content }));
    }
    let keyword = |query: &str| {
        let found = bed.data(Spacebot, "memory_recall", json!({ "query": query }));
        contents(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keyword("blue green deploys"), [scattered, exact], "unquoted they are words");
    assert_eq!(keyword("\"blue green deploys\""), [exact, scattered]);
}

#[test]
fn equal_matches_are_ordered_by_importance() {
    let bed = Bed::new();
    let contents = ["The anchor is red", "The anchor is tin", "The anchor is old"];
    for (content, importance) in contents.into_iter().zip([0.4, 0.9, 0.6]) {
        save(&bed, json!({ "content": content, "importance": importance }));
    }
    let found = recall(&bed, json!({ "query": "anchor" }));
    assert_eq!(self::contents(&found), ["The anchor is tin", "The anchor is old", "The anchor is red"]);
}

#[test]
fn links_of_the_top_hit_come_before_links_of_lesser_ones() {
    let bed = Bed::new();
    let linked = |cause: &str, content: &str| {
        let link = json!({ "target_id": said(&bed, cause), "relation_type": "caused_by" });
        save(&bed, json!({ "content": content, "associations": [link] }));
    };
    linked("Money ran out in spring", "The zeppelin hangar was closed");
    linked("Nobody brought oil", "The hangar door squeaks");
    let found = recall(&bed, json!({ "query": "zeppelin hangar" }));
    let order = contents(&found);
    let place = |content: &str| order.iter().position(|found| *found == content).expect("it is linked");
    assert!(place("Money ran out in spring") < place("Nobody brought oil"), "{order:?}");
}

#[test]
fn a_cause_that_somebody_named_at_the_top_hit_comes_before_what_is_linked_automatically() {
    let bed = Bed::new();
    let cause =
        said(&bed, "Money ran out in spring and nobody found any other investor for the year after it");
    let link = json!({ "target_id": cause, "relation_type": "caused_by" });
    let top = "The zeppelin hangar was closed";
    save(&bed, json!({ "content": top, "associations": [link] }));
    // Both are linked automatically, and only one has a word of the question.
    let crew = "Every summer the ground crew paints all ropes and hooks and ladders beside the old north";
    let lesser = format!("{crew} hangar");
    let beside = format!("{crew} harbour");
    said(&bed, &lesser);
    let other = said(&bed, &beside);
    let related = bed.engine.related(&bed.caller, bed.memory(&other).id.into(), 1).expect("relatives");
    assert!(related.iter().any(|one| one.via[0].linked_by == LinkedBy::Auto), "they are alike: {related:?}");
    let found = recall(&bed, json!({ "query": "zeppelin hangar" }));
    let order = contents(&found);
    let place = |content: &str| order.iter().position(|found| *found == content).expect("it is found");
    assert_eq!(order[0], top);
    let cause = place("Money ran out in spring and nobody found any other investor for the year after it");
    assert!(cause < place(&beside), "{order:?}");
}
