//! Memories that were edited, forgotten or archived after the import, there or here.

use tulving_core::model::foreign::{ForeignMemory, ForeignStatus};
use tulving_core::model::id::{MemoryId, Version};
use tulving_core::model::record::Record;
use tulving_core::model::request::{AuditFilter, ForgetMode, SaveRequest};
use tulving_core::model::vocabulary::{AuditAct, MemoryType, State};
use tulving_core::verbs::foreign_import::ForeignImportOptions;

use super::{adopt, adopt_as, collection, counts, item, only};
use crate::bed::{Bed, said};

#[test]
fn what_was_edited_there_becomes_a_new_version() {
    let bed = Bed::new();
    let user = bed.user();
    adopt(&bed, &user, collection(vec![item("1", "tea"), item("2", "standup at nine")]));
    let retyped = ForeignMemory::new(
        "1",
        SaveRequest { memory_type: Some(MemoryType::Preference), ..SaveRequest::new("tea") },
    );
    let adopted = adopt(&bed, &user, collection(vec![retyped, item("2", "standup at ten")]));
    assert_eq!(counts(&adopted), (0, 2, 0, 0));
    let standup = only(&bed, &user, "standup at ten");
    assert_eq!(standup.version, Version(2));
    let history = bed.engine.history(&user, standup.id.into()).expect("its versions");
    assert_eq!(history.len(), 2);
    assert_eq!(only(&bed, &user, "tea").fields.class.memory_type, MemoryType::Preference);
    let third = adopt(&bed, &user, collection(vec![item("2", "standup at eleven")]));
    assert_eq!(counts(&third), (0, 1, 0, 0), "a version of the import's own is no edit of somebody's");
}

#[test]
fn what_was_edited_here_is_left_and_said() {
    let bed = Bed::new();
    let user = bed.user();
    adopt(&bed, &user, collection(vec![item("1", "tea")]));
    let tea = only(&bed, &user, "tea");
    bed.update(&user, tea.id, &said("green tea"));
    let same = adopt(&bed, &user, collection(vec![item("1", "tea")]));
    assert_eq!((counts(&same), same.left.len()), ((0, 0, 1, 0), 0), "nothing is new there");
    let both = adopt(&bed, &user, collection(vec![item("1", "black tea")]));
    assert_eq!(counts(&both), (0, 0, 0, 0));
    assert_eq!(
        (both.left[0].what.as_str(), both.left[0].why.as_str()),
        ("1", "it has been edited here since")
    );
    assert_eq!(bed.contents(&user), ["green tea"]);
}

#[test]
fn what_was_forgotten_there_is_forgotten_here() {
    let bed = Bed::new();
    let user = bed.user();
    let forgotten =
        |name: &str, content: &str| ForeignMemory { stands: ForeignStatus::Forgotten, ..item(name, content) };
    let first = adopt(&bed, &user, collection(vec![item("1", "stays"), forgotten("2", "gone before")]));
    assert_eq!(counts(&first), (2, 0, 0, 1));
    assert_eq!(bed.contents(&user), ["stays"]);
    let second = adopt(&bed, &user, collection(vec![forgotten("1", "stays"), forgotten("2", "gone before")]));
    assert_eq!(counts(&second), (0, 0, 1, 1));
    assert!(bed.contents(&user).is_empty());
    let audit =
        bed.engine.audit(&user, &AuditFilter { last: 10, ..AuditFilter::default() }).expect("the audit");
    let reasons: Vec<_> = audit
        .iter()
        .filter(|entry| entry.act == AuditAct::Forgot)
        .map(|entry| entry.reason.clone())
        .collect();
    assert_eq!(reasons, [Some("forgotten in max".to_owned()), Some("forgotten in max".to_owned())]);
    let known = only_record(&bed, "stays");
    bed.engine.restore(&user, known.into()).expect("it can be restored");
    assert_eq!(bed.contents(&user), ["stays"]);
}

#[test]
fn what_the_import_had_forgotten_or_archived_comes_back_when_it_does_there() {
    let bed = Bed::new();
    let user = bed.user();
    let status = |stands: [ForeignStatus; 2]| {
        let [one, two] = stands;
        let with = |name: &str, content: &str, stands| ForeignMemory { stands, ..item(name, content) };
        collection(vec![with("1", "one", one), with("2", "two", two)])
    };
    let (active, forgotten, archived) =
        (ForeignStatus::Active, ForeignStatus::Forgotten, ForeignStatus::Archived);
    let state = |content: &str| only(&bed, &user, content).status.state;
    adopt(&bed, &user, status([active, active]));
    adopt(&bed, &user, status([forgotten, archived]));
    assert_eq!(bed.contents(&user), ["two"]);
    assert_eq!(state("two"), State::Archived);
    let predicted = ForeignImportOptions { dry_run: true, ..ForeignImportOptions::default() };
    assert_eq!(adopt_as(&bed, &user, status([active, active]), &predicted).restored, 2);
    let back = adopt(&bed, &user, status([active, active]));
    assert_eq!((counts(&back), back.restored, back.left.len()), ((0, 0, 0, 0), 2, 0));
    assert_eq!((state("one"), state("two")), (State::Active, State::Active));
    assert_eq!(only(&bed, &user, "one").version, Version::FIRST, "that is no edit");
    let audit =
        bed.engine.audit(&user, &AuditFilter { last: 10, ..AuditFilter::default() }).expect("the audit");
    assert!(audit.iter().any(|entry| entry.reason.as_deref() == Some("restored in max")), "{audit:?}");
    assert_eq!(counts(&adopt(&bed, &user, status([active, active]))), (0, 0, 2, 0));
}

#[test]
fn what_somebody_here_had_forgotten_or_archived_stays_so_whatever_happens_there() {
    let bed = Bed::new();
    let user = bed.user();
    let status = |one, two| {
        let with = |name: &str, content: &str, stands| ForeignMemory { stands, ..item(name, content) };
        collection(vec![with("1", "one", one), with("2", "two", two)])
    };
    adopt(&bed, &user, status(ForeignStatus::Active, ForeignStatus::Active));
    bed.forget(&user, only(&bed, &user, "one").id, ForgetMode::Soft);
    bed.engine.archive(&user, only(&bed, &user, "two").id.into()).expect("archived");
    for _ in 0..2 {
        let (forgotten, archived) = (ForeignStatus::Forgotten, ForeignStatus::Archived);
        assert_eq!(counts(&adopt(&bed, &user, status(forgotten, archived))), (0, 0, 2, 0));
        let back = adopt(&bed, &user, status(ForeignStatus::Active, ForeignStatus::Active));
        assert_eq!((counts(&back), back.restored), ((0, 0, 2, 0), 0));
    }
    assert_eq!(bed.contents(&user), ["two"]);
    assert_eq!(only(&bed, &user, "two").status.state, State::Archived);
}

fn only_record(bed: &Bed, content: &str) -> MemoryId {
    let found = bed.dump().into_iter().find_map(|record| match record {
        Record::Memory(record) if record.memory.fields.text.content == content => Some(record.memory.id),
        _ => None,
    });
    found.expect("it is in the dump")
}

#[test]
fn what_was_forgotten_here_stays_so() {
    let bed = Bed::new();
    let user = bed.user();
    let all = || collection(vec![item("1", "twice there"), item("2", "twice there"), item("3", "once")]);
    let first = adopt(&bed, &user, all());
    assert_eq!(counts(&first), (2, 0, 1, 0), "what is said twice is one memory");
    bed.forget(&user, only(&bed, &user, "twice there").id, ForgetMode::Soft);
    bed.forget(&user, only(&bed, &user, "once").id, ForgetMode::Soft);
    let again = adopt(&bed, &user, all());
    assert_eq!((counts(&again), again.left.len()), ((0, 0, 3, 0), 0));
    assert!(bed.contents(&user).is_empty());
}

#[test]
fn twins_are_told_apart_once_one_of_them_changes() {
    let bed = Bed::new();
    let user = bed.user();
    let mine = bed.save(&user, "said by hand");
    adopt(&bed, &user, collection(vec![item("1", "said by hand"), item("2", "same"), item("3", "same")]));
    assert_eq!(bed.contents(&user).len(), 2);
    let changed = || collection(vec![item("1", "no longer that"), item("2", "another"), item("3", "same")]);
    let adopted = adopt(&bed, &user, changed());
    assert_eq!(counts(&adopted), (2, 1, 0, 0), "{adopted:?}");
    let mut contents = bed.contents(&user);
    contents.sort();
    assert_eq!(contents, ["another", "no longer that", "said by hand", "same"]);
    assert_eq!(bed.get(&user, mine.memory.id).version, Version::FIRST, "what somebody wrote is theirs");
    assert_eq!(counts(&adopt(&bed, &user, changed())), (0, 0, 3, 0));
}

#[test]
fn what_moved_away_is_not_made_anew() {
    let bed = Bed::new();
    let user = bed.user();
    bed.hub("hub");
    adopt(&bed, &user, collection(vec![item("1", "moves")]));
    let memory = only(&bed, &user, "moves");
    bed.engine.move_to(&user, &[memory.id.into()], "hub").expect("moved");
    assert_eq!(counts(&adopt(&bed, &user, collection(vec![item("1", "moves")]))), (0, 0, 1, 0));
    let changed = adopt(&bed, &user, collection(vec![item("1", "moves on")]));
    assert_eq!(changed.left[0].why, "it is now in another space");
}

#[test]
fn what_is_archived_there_is_archived_here() {
    let bed = Bed::new();
    let user = bed.user();
    let archived = ForeignMemory { stands: ForeignStatus::Archived, ..item("1", "old") };
    adopt(&bed, &user, collection(vec![item("1", "old")]));
    let id = only(&bed, &user, "old").id;
    assert_eq!(adopt(&bed, &user, collection(vec![archived.clone()])).updated, 1);
    let memory = bed.get(&user, id);
    assert_eq!((memory.status.state, memory.version), (State::Archived, Version::FIRST));
    assert_eq!(adopt(&bed, &user, collection(vec![archived])).known, 1);
}
