//! Questions that only name a type, and recalls without a question: answered with all matches, in order.

use std::time::Duration;

use tulving_core::model::answer::{Answer, Strength};
use tulving_core::model::request::{
    Caller, Filter, ListBounds, Mode, RecallQuestion, RecallRequest, SaveRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, MemoryType, Relation, Role, State};

use crate::bed::{Bed, said};

const DAY: Duration = Duration::from_secs(86_400);

fn of_type(memory_type: MemoryType, content: &str) -> SaveRequest {
    SaveRequest { memory_type: Some(memory_type), ..SaveRequest::new(content) }
}

fn todo(content: &str) -> SaveRequest {
    of_type(MemoryType::Todo, content)
}

fn question(text: &str) -> RecallQuestion {
    RecallQuestion { list_limit: Some(100), ..RecallQuestion::new(text) }
}

fn asked(bed: &Bed, caller: &Caller, ask: RecallQuestion, filter: Filter) -> Answer {
    let request = RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter, sort: None, limit: 10 };
    bed.engine.recall(caller, &request).expect("an answer")
}

fn ask(bed: &Bed, caller: &Caller, text: &str) -> Answer {
    asked(bed, caller, question(text), Filter::default())
}

fn contents(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.memory.fields.text.content.as_str()).collect()
}

fn what(answer: &Answer) -> &str {
    answer.listed.as_ref().map_or("", |list| list.what.as_str())
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

#[test]
fn a_question_that_only_names_a_type_is_answered_by_all_of_that_type() {
    let bed = Bed::new();
    let user = bed.user();
    for n in 1..=12 {
        bed.save(&user, todo(&format!("errand {n}")));
        bed.save(&user, of_type(MemoryType::Fact, &format!("the todo app has {n} columns")));
    }
    let answer = ask(&bed, &user, "what are my open todos?");
    assert_eq!((answer.hits.len(), answer.total_found, what(&answer)), (12, 12, "12 open todos"));
    assert_eq!(answer.evidence, Some(Strength::Strong));
    assert!(answer.hits.iter().all(|hit| hit.memory.fields.class.memory_type == MemoryType::Todo));
    assert_eq!(answer.hits[0].why, "is an open todo, importance 0.3");
    let count = ask(&bed, &user, "how many todos are open?");
    assert!(count.listed.as_ref().is_some_and(|list| list.counted) && count.total_found == 12);
    let ranked = asked(&bed, &user, RecallQuestion::new("what are my open todos?"), Filter::default());
    assert_eq!(ranked.listed, None, "only who asks for lists gets them");
    let about = ask(&bed, &user, "how many columns does the todo app have?");
    assert_eq!(about.listed, None);
}

#[test]
fn the_todos_of_a_project_are_a_list_if_the_project_is_known() {
    let bed = Bed::new();
    let user = bed.user();
    let of =
        |project: &str, content: &str| SaveRequest { project: Some(project.to_owned()), ..todo(content) };
    bed.save(&user, of("gantry", "oil the crane"));
    bed.save(&user, of("gantry", "paint the crane"));
    bed.save(&user, of("tidepool", "count the crabs"));
    bed.save(&user, todo("buy milk"));
    for question in ["my todos for gantry", "what are my open todos in the gantry project?"] {
        let answer = ask(&bed, &user, question);
        assert_eq!((what(&answer), contents(&answer).len()), ("2 open todos", 2), "{question}");
        assert!(contents(&answer).iter().all(|content| content.ends_with("crane")), "{question}");
    }
    assert_eq!(ask(&bed, &user, "my todos for nowhere").listed, None, "no memory has such a project");
    assert_eq!(ask(&bed, &user, "what about the crane in gantry?").listed, None, "it names no type");
    let ranked = asked(&bed, &user, RecallQuestion::new("my todos for gantry"), Filter::default());
    assert_eq!(ranked.listed, None, "only who asks for lists gets them");
    let other = Filter { project: Some("tidepool".to_owned()), ..Filter::default() };
    assert_eq!(asked(&bed, &user, question("my todos for gantry"), other).listed, None);
}

#[test]
fn a_list_leaves_out_what_is_no_longer_valid_and_keeps_what_is_overdue() {
    let bed = Bed::new();
    let user = bed.user();
    let until = |request: SaveRequest| SaveRequest { valid_until: Some(at("2025-06-01")), ..request };
    bed.save(&user, until(of_type(MemoryType::Preference, "tea without milk")));
    bed.save(&user, of_type(MemoryType::Preference, "coffee with milk"));
    bed.save(&user, until(todo("renew the passport")));
    assert_eq!(contents(&ask(&bed, &user, "what are my preferences?")), ["coffee with milk"]);
    assert_eq!(contents(&ask(&bed, &user, "what are my open todos?")), ["renew the passport"]);
}

#[test]
fn open_todos_come_by_due_date_then_importance_and_done_ones_last() {
    let bed = Bed::new();
    let user = bed.user();
    let plain = bed.save(&user, todo("plain")).memory.id;
    bed.save(&user, SaveRequest { importance: Some(0.95), ..todo("matters") });
    bed.save(&user, SaveRequest { occurred_at: Some(at("2026-03-01")), ..todo("due in March") });
    bed.save(&user, SaveRequest { valid_until: Some(at("2026-02-01")), ..todo("due in February") });
    let done = bed.save(&user, todo("done")).memory.id;
    bed.engine.done(&user, done.into(), None).expect("done");
    let open = ["due in February", "due in March", "matters", "plain"];
    assert_eq!(contents(&ask(&bed, &user, "todos")), open);
    let all = ask(&bed, &user, "show all todos");
    assert_eq!(contents(&all), [&open[..], &["done"]].concat());
    assert_eq!(all.hits[0].why, "is an open todo, due 2026-02-01");
    assert_eq!(contents(&ask(&bed, &user, "which todos are done?")), ["done"]);
    assert_eq!(
        contents(&ask(&bed, &user, "what do I have to do this month?")),
        ["matters", "plain"],
        "what is due later is not of this month"
    );
    bed.engine.done(&user, plain.into(), Some(at("2025-12-30"))).expect("done");
    assert_eq!(contents(&ask(&bed, &user, "what have I completed this month?")), ["done"]);
}

#[test]
fn a_time_in_a_list_is_when_it_happened_in_the_zone_of_who_asks() {
    let bed = Bed::new();
    let mut user = bed.user();
    let event = |content: &str, day: &str| {
        let occurred_at = Some(at(day));
        bed.save(&user, SaveRequest { occurred_at, ..of_type(MemoryType::Event, content) });
    };
    event("first", "2025-12-01");
    event("second", "2025-12-31T23:30:00Z");
    event("before", "2025-11-30");
    event("today", "2026-01-01");
    let answer = ask(&bed, &user, "which events were there last month?");
    assert_eq!(contents(&answer), ["second", "first"], "the last first");
    assert_eq!(what(&answer), "2 events from 2025-12-01 to 2025-12-31");
    user.zone = tulving_core::model::time::Zone::named("Europe/Vienna").expect("a zone");
    let answer = ask(&bed, &user, "which events were there last month?");
    assert_eq!(
        contents(&answer),
        ["first"],
        "in Vienna it was January already, and a date is of its day everywhere"
    );
}

#[test]
fn an_empty_list_says_so_and_where_nothing_is_of_the_type_the_question_is_ranked() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "todo: buy milk");
    let fallen_back = ask(&bed, &user, "what are my open todos?");
    assert_eq!(contents(&fallen_back), ["todo: buy milk"]);
    assert!(fallen_back.listed.as_ref().is_some_and(|list| list.ranked), "{fallen_back:?}");
    let id = bed.save(&user, todo("call Ana")).memory.id;
    bed.engine.done(&user, id.into(), None).expect("done");
    let none = ask(&bed, &user, "what are my open todos?");
    assert_eq!((what(&none), none.evidence), ("no open todos", Some(Strength::None)));
    assert!(none.hits.is_empty() && none.listed.is_some_and(|list| !list.ranked));
}

#[test]
fn a_list_respects_filters_boundaries_states_and_budget() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("work");
    let ann = bed.member("ann", hub, Role::Writer);
    bed.save(&user, SaveRequest { tags: Some(vec!["home".to_owned()]), ..todo("paint the fence") });
    let milk = bed.save(&user, todo("buy milk")).memory.id;
    bed.save(&ann, SaveRequest { boundary: Some(Boundary::Private), ..todo("theirs") });
    let tagged = Filter { tags: vec!["home".to_owned()], ..Filter::default() };
    assert_eq!(contents(&asked(&bed, &user, question("todos"), tagged)), ["paint the fence"]);
    assert_eq!(contents(&ask(&bed, &ann, "todos")), ["theirs"]);
    let other = Filter { types: vec![MemoryType::Person], ..Filter::default() };
    assert_eq!(
        asked(&bed, &user, question("todos"), other).listed,
        None,
        "the filter asks for something else"
    );
    let done = Filter { done: Some(true), ..Filter::default() };
    assert_eq!(asked(&bed, &user, question("open todos"), done).listed, None);
    let tight = RecallQuestion { token_budget: Some(3), ..question("todos") };
    let cut = asked(&bed, &user, tight, Filter::default());
    assert_eq!((contents(&cut), cut.total_found, cut.left_out), (vec!["buy milk"], 2, 1));
    let few =
        asked(&bed, &user, RecallQuestion { list_limit: Some(1), ..question("todos") }, Filter::default());
    assert_eq!((few.hits.len(), few.total_found, few.left_out), (1, 2, 0));
    bed.engine.archive(&user, milk.into()).expect("archived");
    assert_eq!(contents(&ask(&bed, &user, "todos")), ["paint the fence"]);
}

#[test]
fn what_is_superseded_is_no_answer_to_a_question_and_comes_last_without_one() {
    let bed = Bed::new();
    let user = bed.user();
    let old = bed.save(&user, of_type(MemoryType::Decision, "we use Redis")).memory.id;
    let new = bed.save(&user, of_type(MemoryType::Decision, "we use Valkey")).memory.id;
    bed.link(&user, new, old, Relation::Updates);
    let answer = ask(&bed, &user, "list all decisions");
    assert_eq!((contents(&answer), what(&answer)), (vec!["we use Valkey"], "1 decision"));
    assert_eq!(answer.listed.map(|list| list.superseded), Some(1));
    let filter = Filter { types: vec![MemoryType::Decision], ..Filter::default() };
    let mode = Mode::Filtered(ListBounds::default());
    let unasked = bed.engine.recall(&user, &RecallRequest { mode, filter, sort: None, limit: 10 });
    let unasked = unasked.expect("an answer");
    assert_eq!(contents(&unasked), ["we use Valkey", "we use Redis"], "who asks nothing gets it last");
    assert_eq!(unasked.hits[1].memory.superseded_by, Some(new));
}

#[test]
fn a_list_as_of_a_day_has_what_was_open_then_in_the_words_of_then() {
    let bed = Bed::new();
    let user = bed.user();
    let milk = bed.save(&user, todo("buy milk")).memory.id;
    let old = bed.save(&user, todo("call Ana")).memory.id;
    bed.clock.advance(10 * DAY);
    let then = bed.engine.now();
    bed.clock.advance(10 * DAY);
    bed.engine.done(&user, milk.into(), None).expect("done");
    bed.update(&user, milk, &said("buy oat milk"));
    let new = bed.save(&user, todo("write to Ana")).memory.id;
    bed.link(&user, new, old, Relation::Updates);
    let mut open =
        contents(&ask(&bed, &user, "open todos")).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(open, ["write to Ana"]);
    let answer =
        asked(&bed, &user, RecallQuestion { as_of: Some(then), ..question("open todos") }, Filter::default());
    open = contents(&answer).into_iter().map(str::to_owned).collect();
    open.sort();
    assert_eq!((open, answer.total_found), (vec!["buy milk".to_owned(), "call Ana".to_owned()], 2));
}

#[test]
fn a_recall_without_a_question_has_all_of_the_filter_in_order() {
    let bed = Bed::new();
    let user = bed.user();
    for n in 1..=30 {
        bed.save(&user, of_type(MemoryType::Person, &format!("person {n}")));
    }
    bed.save(
        &user,
        SaveRequest { occurred_at: Some(at("2025-06-01")), ..of_type(MemoryType::Person, "met long ago") },
    );
    bed.save(&user, "a fact");
    let filter = Filter { types: vec![MemoryType::Person], ..Filter::default() };
    let mode = Mode::Filtered(ListBounds::default());
    let request = RecallRequest { mode, filter, sort: None, limit: 100 };
    let answer = bed.engine.recall(&user, &request).expect("an answer");
    assert_eq!((answer.hits.len(), answer.total_found, what(&answer)), (31, 31, "31 people"));
    assert_eq!((contents(&answer)[0], contents(&answer)[30]), ("person 30", "met long ago"));
    assert_eq!(answer.evidence, None, "nobody asked anything");
    let archived = Filter { states: vec![State::Archived], ..request.filter.clone() };
    let none = bed.engine.recall(&user, &RecallRequest { filter: archived, ..request }).expect("an answer");
    assert!(none.hits.is_empty());
}
