//! forget_where: forgets all memories that match a condition, within one space, in one act.

use tulving_core::model::answer::{ForgetWherePreview, ForgottenMatches};
use tulving_core::model::error::{Class, Error, Field, Invalid};
use tulving_core::model::id::MemoryId;
use tulving_core::model::limits;
use tulving_core::model::request::{
    AuditFilter, Caller, Filter, ForgetMode, ForgetRequest, ForgetWhere, ForgottenFilter, SaveRequest,
    UpdateRequest,
};
use tulving_core::model::vocabulary::{AuditAct, Boundary, MemoryType, Role, State};

use crate::bed::{Bed, refused, said, within, words};

fn tagged(tag: &str, content: &str) -> SaveRequest {
    SaveRequest { tags: Some(vec![tag.to_owned()]), ..SaveRequest::new(content) }
}

fn with_tag(tag: &str) -> Filter {
    Filter { tags: vec![tag.to_owned()], ..Filter::default() }
}

fn asked(filter: Filter, mode: ForgetMode, expect: Option<u64>) -> ForgetWhere {
    ForgetWhere { filter, request: ForgetRequest { mode, reason: Some("enough".to_owned()) }, expect }
}

fn old(mode: ForgetMode) -> ForgetWhere {
    asked(with_tag("old"), mode, None)
}

fn ids(gone: &ForgottenMatches) -> Vec<MemoryId> {
    gone.forgotten.iter().map(|gone| gone.id).collect()
}

#[track_caller]
fn predicted(bed: &Bed, caller: &Caller, asked: &ForgetWhere) -> ForgetWherePreview {
    bed.engine.foresee_forget_where(caller, asked).expect("it would be done")
}

#[test]
fn a_dry_run_counts_shows_the_newest_and_writes_nothing() {
    let bed = Bed::new();
    let user = bed.user();
    let mut all: Vec<MemoryId> =
        (0..25).map(|n| bed.save(&user, tagged("old", &format!("old {n}"))).memory.id).collect();
    all.reverse();
    bed.save(&user, tagged("new", "new"));
    let before = format!("{:?}", bed.dump());
    let described = predicted(&bed, &user, &old(ForgetMode::Hard));
    assert_eq!(described.count, 25);
    let newest: Vec<MemoryId> = described.newest.iter().map(|memory| memory.id).collect();
    assert_eq!(newest, all[..limits::FORESEEN]);
    assert!(described.newest.iter().all(|memory| memory.fields.text.content.starts_with("old ")));
    assert_eq!(format!("{:?}", bed.dump()), before);
}

#[test]
fn all_that_match_go_as_one_act_and_nothing_else() {
    let bed = Bed::new();
    let user = bed.user();
    let elsewhere = within(&user, bed.hub("elsewhere"));
    let there = bed.save(&elsewhere, tagged("old", "old elsewhere")).memory.id;
    let [one, two] = ["old one", "old two"].map(|content| bed.save(&user, tagged("old", content)).memory.id);
    let kept = bed.save(&user, tagged("new", "new")).memory.id;
    // Whatever the filter says of space: it is that of the call.
    for space in [None, Some(elsewhere.space)] {
        let filter = Filter { space, ..with_tag("old") };
        assert_eq!(predicted(&bed, &user, &asked(filter, ForgetMode::Soft, None)).count, 2);
    }
    let gone = bed.engine.forget_where(&user, &asked(with_tag("old"), ForgetMode::Soft, Some(2))).unwrap();
    assert_eq!(ids(&gone), [two, one]);
    for id in [one, two] {
        refused!(bed.engine.get(&user, id.into()), Error::Forgotten { .. });
    }
    for id in [kept, there] {
        bed.get(&user, id);
    }
    let filter = AuditFilter { memory: Some(one), last: 9, ..AuditFilter::default() };
    let entries = bed.engine.audit(&user, &filter).unwrap();
    let described: Vec<_> = entries.iter().map(|entry| (entry.act, entry.reason.as_deref())).collect();
    assert_eq!(described, [(AuditAct::Forgot, Some("enough"))]);
    assert_eq!(
        bed.engine.forget_where(&user, &old(ForgetMode::Hard)).unwrap().forgotten,
        [],
        "those are forgotten already"
    );
    bed.engine.restore(&user, one.into()).unwrap();
    let gone = bed.engine.forget_where(&user, &old(ForgetMode::Hard)).unwrap();
    assert_eq!(ids(&gone), [one]);
    refused!(bed.engine.get(&user, one.into()), Error::NoMemory { .. });
    let fresh = Filter { forgotten: ForgottenFilter::Only, ..with_tag("old") };
    assert_eq!(predicted(&bed, &user, &asked(fresh, ForgetMode::Hard, None)).count, 0, "two stays as it is");
    bed.engine.restore(&user, two.into()).unwrap();
}

#[test]
fn a_condition_has_to_name_something() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "here");
    let bare = [
        Filter::default(),
        Filter { space: Some(user.space), records_only: true, ..Filter::default() },
        Filter { states: State::ALL.to_vec(), content_only: true, ..Filter::default() },
    ];
    for filter in bare {
        let asked = asked(filter, ForgetMode::Soft, None);
        refused!(bed.engine.forget_where(&user, &asked), Error::Invalid(Invalid::ConditionMissing));
        refused!(bed.engine.foresee_forget_where(&user, &asked), Error::Invalid(Invalid::ConditionMissing));
    }
    let all = Filter { substring: Some(" ".to_owned()), ..Filter::default() };
    refused!(
        bed.engine.forget_where(&user, &asked(all, ForgetMode::Soft, None)),
        Error::Invalid(Invalid::Empty { field: Field::Text })
    );
    assert_eq!(bed.contents(&user), ["here"]);
}

#[test]
fn another_count_than_expected_forgets_nothing_and_both_are_named() {
    let bed = Bed::new();
    let user = bed.user();
    for content in ["one", "two", "three"] {
        bed.save(&user, tagged("old", content));
    }
    let asked = asked(with_tag("old"), ForgetMode::Soft, Some(2));
    let error = bed.engine.forget_where(&user, &asked).expect_err("another count");
    assert_eq!((error.class(), error.code()), (Class::Conflict, "count_mismatch"));
    assert_eq!(error.to_string(), "expected 2 matching memories, found 3");
    assert_eq!(bed.contents(&user).len(), 3);
}

#[test]
fn the_count_is_looked_at_again_where_somebody_was_faster() {
    let bed = Bed::new();
    let user = bed.user();
    let [one, _two] = ["one", "two"].map(|content| bed.save(&user, tagged("old", content)).memory.id);
    let (other, theirs) = (bed.beside(), user.clone());
    bed.store.before_next_apply(move |_| {
        other.forget(&theirs, one.into(), &ForgetRequest::default()).expect("the other was faster");
    });
    let asked = asked(with_tag("old"), ForgetMode::Soft, Some(2));
    refused!(bed.engine.forget_where(&user, &asked), Error::CountChanged { expected: 2, found: 1 });
    assert_eq!(bed.contents(&user), ["two"]);
}

#[test]
fn private_memories_of_others_are_neither_counted_nor_touched() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    let admin = within(&bed.user(), hub);
    let private = |content: &str| SaveRequest { boundary: Some(Boundary::Private), ..tagged("old", content) };
    let hers = bed.save(&ann, private("hers")).memory.id;
    let his = bed.save(&bob, private("his")).memory.id;
    let shared = bed.save(&ann, tagged("old", "shared")).memory.id;
    for (who, count) in [(&ann, 2), (&bob, 2), (&admin, 1)] {
        assert_eq!(predicted(&bed, who, &old(ForgetMode::Soft)).count, count);
    }
    let gone = bed.engine.forget_where(&bob, &old(ForgetMode::Soft)).unwrap();
    assert_eq!(ids(&gone), [shared, his]);
    bed.get(&ann, hers);
    assert_eq!(bed.engine.forget_where(&admin, &old(ForgetMode::Hard)).unwrap().forgotten, []);
    bed.get(&ann, hers);
}

#[test]
fn to_erase_takes_the_owner_or_an_admin_and_one_of_others_holds_all_back() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    let reader = bed.member("reader", hub, Role::Reader);
    let admin = within(&bed.user(), hub);
    for content in ["her one", "her two"] {
        bed.save(&ann, tagged("old", content));
    }
    bed.save(&bob, tagged("old", "his"));
    for asked in [old(ForgetMode::Soft), old(ForgetMode::Hard)] {
        refused!(bed.engine.forget_where(&reader, &asked), Error::Denied { need: Role::Writer, .. });
        refused!(bed.engine.foresee_forget_where(&reader, &asked), Error::Denied { need: Role::Writer, .. });
    }
    refused!(
        bed.engine.foresee_forget_where(&bob, &old(ForgetMode::Hard)),
        Error::OfOthers { count: 2, of: 3 }
    );
    assert_eq!(
        words(bed.engine.forget_where(&bob, &old(ForgetMode::Hard))),
        "2 of the 3 memories that match belong to others; only an admin of the space may erase those"
    );
    assert_eq!(bed.contents(&bob).len(), 3);
    let own = Filter { substring: Some("his".to_owned()), ..with_tag("old") };
    assert_eq!(
        bed.engine.forget_where(&bob, &asked(own, ForgetMode::Hard, Some(1))).unwrap().forgotten.len(),
        1
    );
    assert_eq!(bed.engine.forget_where(&admin, &old(ForgetMode::Hard)).unwrap().forgotten.len(), 2);
    assert_eq!(bed.contents(&ann), [] as [&str; 0]);
}

#[test]
fn what_its_owner_made_private_meanwhile_is_not_erased_by_an_admin() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let owner = bed.member("owner", hub, Role::Writer);
    let admin = within(&bed.user(), hub);
    let [one, two] = ["one", "two"].map(|content| bed.save(&owner, tagged("old", content)).memory.id);
    let (other, theirs) = (bed.beside(), owner.clone());
    bed.store.before_next_apply(move |_| {
        let private = UpdateRequest { boundary: Some(Boundary::Private), ..UpdateRequest::default() };
        other.update(&theirs, one.into(), &private).expect("the owner was faster");
    });
    assert_eq!(ids(&bed.engine.forget_where(&admin, &old(ForgetMode::Hard)).unwrap()), [two]);
    assert_eq!(bed.get(&owner, one).fields.text.content, "one");
}

#[test]
fn what_was_edited_out_of_the_condition_stays() {
    let bed = Bed::new();
    let user = bed.user();
    let [one, two] = ["one", "two"].map(|content| bed.save(&user, tagged("old", content)).memory.id);
    let (other, theirs) = (bed.beside(), user.clone());
    bed.store.before_next_apply(move |_| {
        let kept = UpdateRequest { tags: Some(vec!["keep".to_owned()]), ..said("one after all") };
        other.update(&theirs, one.into(), &kept).expect("the other was faster");
    });
    assert_eq!(ids(&bed.engine.forget_where(&user, &old(ForgetMode::Hard)).unwrap()), [two]);
    assert_eq!(bed.get(&user, one).fields.text.content, "one after all");
}

#[test]
fn what_files_say_and_what_is_archived_is_left_out_unless_the_archive_is_named() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-27.md", "Likes green tea\n");
    let archived = bed.save(&user, "archived tea").memory.id;
    bed.engine.archive(&user, archived.into()).unwrap();
    let tea = bed.save(&user, "tea").memory.id;
    let filter =
        |states: Vec<State>| Filter { states, substring: Some("tea".to_owned()), ..Filter::default() };
    // Read in, so that it is in the store.
    let file = Filter { source_path: Some("memory/2026-05-27.md".to_owned()), ..Filter::default() };
    let mut list = crate::bed::listing(tulving_core::model::request::Sort::Newest, 10);
    list.filter = file.clone();
    assert_eq!(bed.engine.list(&user, &list).unwrap().memories.len(), 1);
    assert_eq!(bed.engine.forget_where(&user, &asked(file, ForgetMode::Hard, None)).unwrap().forgotten, []);
    let gone = bed.engine.forget_where(&user, &asked(filter(Vec::new()), ForgetMode::Hard, Some(1))).unwrap();
    assert_eq!(ids(&gone), [tea]);
    let gone = bed.engine.forget_where(&user, &asked(filter(vec![State::Archived]), ForgetMode::Soft, None));
    assert_eq!(ids(&gone.unwrap()), [archived]);
    assert_eq!(bed.engine.list(&user, &list).unwrap().memories.len(), 1, "the file still says it");
}

#[test]
fn more_than_one_act_may_forget_is_refused_with_the_number() {
    let bed = Bed::new();
    let user = bed.user();
    let request = |n: usize| SaveRequest {
        memory_type: Some(MemoryType::Observation),
        ..SaveRequest::new(format!("observation {n}"))
    };
    let requests = (0..limits::BATCH).map(request).collect();
    bed.engine.save_many(&user, requests).expect("saved");
    let filter = Filter { types: vec![MemoryType::Observation], ..Filter::default() };
    let all = asked(filter, ForgetMode::Soft, None);
    let last = bed.save(&user, request(limits::BATCH)).memory.id;
    for refused in [
        bed.engine.forget_where(&user, &all).map(drop),
        bed.engine.foresee_forget_where(&user, &all).map(drop),
    ] {
        let error = refused.expect_err("too many");
        assert_eq!(error.code(), "too_many");
        assert_eq!(error.to_string(), "10001 memories match and the limit is 10000");
        assert!(error.hint().is_some_and(|hint| hint.starts_with("narrow it down")));
    }
    bed.forget(&user, last, ForgetMode::Hard);
    assert_eq!(bed.engine.forget_where(&user, &all).unwrap().forgotten.len(), limits::BATCH);
    assert_eq!(bed.contents(&user), [] as [&str; 0]);
}
