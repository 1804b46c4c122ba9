//! forget, restore, archive, unarchive and pin.

use tulving_core::model::error::{Error, Unique};
use tulving_core::model::id::{MemoryNumber, MemoryRef, Version};
use tulving_core::model::request::{
    AuditFilter, Caller, Filter, ForgetMode, ForgetRequest, ForgottenFilter, Mode, SaveRequest, Sort,
};
use tulving_core::model::vocabulary::{AuditAct, Boundary, Relation, Role, State};

use crate::bed::{Bed, keyed, listing, recall, refused, said, within, words};

fn acts(bed: &Bed, caller: &Caller) -> Vec<AuditAct> {
    let filter = AuditFilter { last: 100, ..AuditFilter::default() };
    let entries = bed.engine.audit(caller, &filter).expect("an admin may look");
    entries.into_iter().map(|entry| entry.act).collect()
}

#[test]
fn a_forgotten_memory_is_gone_from_every_read_and_can_be_restored() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "secret plan");
    let friend = bed.save(&user, "friend");
    bed.link(&user, friend.memory.id, memory.memory.id, Relation::RelatedTo);
    let before = bed.get(&user, memory.memory.id);
    let number = MemoryRef::Number(memory.memory.number.expect("a record"));
    let as_it_was = bed.engine.forget(&user, number, &ForgetRequest::default()).unwrap();
    assert_eq!(as_it_was.memory, before, "forgetting gives the memory as it was");
    for which in [number, memory.memory.id.into()] {
        refused!(bed.engine.get(&user, which), Error::Forgotten { .. });
        refused!(bed.engine.history(&user, which), Error::Forgotten { .. });
        refused!(bed.engine.update(&user, which, &said("x")), Error::Forgotten { .. });
        refused!(bed.engine.archive(&user, which), Error::Forgotten { .. });
    }
    assert_eq!(bed.contents(&user), ["friend"]);
    assert_eq!(bed.engine.count(&user, &Filter::default()).unwrap(), 1);
    let found = bed.engine.recall(&user, &recall(Mode::Substring("plan".to_owned()))).unwrap();
    assert_eq!(found.total_found, 0);
    assert!(bed.engine.related(&user, friend.memory.id.into(), 3).unwrap().is_empty());
    let restored = bed.engine.restore(&user, number).unwrap().memory;
    assert_eq!(restored, before);
    assert_eq!(bed.get(&user, memory.memory.id), before);
    assert_eq!(bed.engine.related(&user, friend.memory.id.into(), 1).unwrap().len(), 1);
    assert_eq!(bed.engine.restore(&user, number).unwrap().memory, before, "again is nothing");
}

#[test]
fn forgetting_is_audited_with_its_reason() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "old");
    let request = ForgetRequest { mode: ForgetMode::Soft, reason: Some("  out of date ".to_owned()) };
    bed.engine.forget(&user, memory.memory.id.into(), &request).unwrap();
    bed.engine.restore(&user, memory.memory.id.into()).unwrap();
    bed.forget(&user, memory.memory.id, ForgetMode::Hard);
    assert_eq!(acts(&bed, &user), [AuditAct::Erased, AuditAct::Restored, AuditAct::Forgot]);
    let filter = AuditFilter { memory: Some(memory.memory.id), last: 9, ..AuditFilter::default() };
    let entries = bed.engine.audit(&user, &filter).unwrap();
    assert_eq!(entries[2].reason.as_deref(), Some("out of date"));
    assert!(!format!("{entries:?}").contains("old"), "never the content");
}

#[test]
fn forgetting_twice_is_said() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "once");
    let which = MemoryRef::Number(MemoryNumber(1));
    bed.engine.forget(&user, which, &ForgetRequest::default()).unwrap();
    assert_eq!(words(bed.engine.forget(&user, which, &ForgetRequest::default())), "memory #1 is forgotten");
    assert_eq!(acts(&bed, &user), [AuditAct::Forgot]);
}

#[test]
fn a_hard_forget_is_final_also_after_a_soft_one() {
    let bed = Bed::new();
    let user = bed.user();
    for softly_first in [false, true] {
        let memory = bed.save(&user, "doomed");
        bed.update(&user, memory.memory.id, &said("doomed twice"));
        if softly_first {
            bed.forget(&user, memory.memory.id, ForgetMode::Soft);
        }
        bed.forget(&user, memory.memory.id, ForgetMode::Hard);
        refused!(bed.engine.get(&user, memory.memory.id.into()), Error::NoMemory { .. });
        refused!(bed.engine.restore(&user, memory.memory.id.into()), Error::NoMemory { .. });
        let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
        refused!(bed.engine.forget(&user, memory.memory.id.into(), &hard), Error::NoMemory { .. });
        assert!(!format!("{:?}", bed.dump()).contains("doomed"));
    }
    assert_eq!(bed.save(&user, "next").memory.number, Some(MemoryNumber(3)), "numbers are not reused");
}

#[test]
fn what_another_memory_holds_by_now_cannot_be_restored() {
    let bed = Bed::new();
    let user = bed.user();
    for (request, held) in [
        (SaveRequest::new("content"), Unique::Content),
        (keyed("k", "keyed"), Unique::Key),
        (SaveRequest { source_path: Some("p".to_owned()), ..SaveRequest::new("file") }, Unique::Content),
    ] {
        let first = bed.save(&user, request.clone());
        bed.forget(&user, first.memory.id, ForgetMode::Soft);
        let second = bed.save(&user, request);
        refused!(
            bed.engine.restore(&user, first.memory.id.into()),
            Error::Held { what, .. } if what == held
        );
        bed.forget(&user, second.memory.id, ForgetMode::Hard);
        bed.engine.restore(&user, first.memory.id.into()).unwrap();
    }
}

#[test]
fn an_admin_may_restore_what_was_shared_and_nobody_else_but_the_owner() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let admin = within(&bed.user(), hub);
    let [owner, other] = ["owner", "other"].map(|name| bed.member(name, hub, Role::Writer));
    let shared = bed.save(&owner, "shared");
    let private =
        bed.save(&owner, SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("private") });
    for memory in [&shared, &private] {
        bed.forget(&owner, memory.memory.id, ForgetMode::Soft);
        refused!(bed.engine.restore(&other, memory.memory.id.into()), Error::NoMemory { .. });
    }
    refused!(bed.engine.restore(&admin, private.memory.id.into()), Error::NoMemory { .. });
    bed.engine.restore(&admin, shared.memory.id.into()).unwrap();
    assert_eq!(bed.contents(&other), ["shared"]);
    bed.engine.restore(&owner, private.memory.id.into()).unwrap();
}

#[test]
fn forgotten_memories_can_be_listed_by_their_owner() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "gone");
    bed.save(&user, "here");
    bed.forget(&user, memory.memory.id, ForgetMode::Soft);
    let mut request = listing(Sort::Newest, 10);
    request.filter.forgotten = ForgottenFilter::Only;
    let page = bed.engine.list(&user, &request).unwrap();
    assert_eq!(page.memories.len(), 1);
    assert!(page.memories[0].status.forgotten_at.is_some());
}

#[test]
fn archiving_hides_from_recall_and_from_nothing_else() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "archived");
    let archived = bed.engine.archive(&user, memory.memory.id.into()).unwrap();
    assert_eq!((archived.status.state, archived.version), (State::Archived, Version(1)));
    for mode in [Mode::Recent, Mode::Important, Mode::Substring("archived".to_owned())] {
        assert_eq!(bed.engine.recall(&user, &recall(mode)).unwrap().total_found, 0);
    }
    assert_eq!(bed.get(&user, memory.memory.id), archived);
    assert_eq!(bed.contents(&user), ["archived"]);
    bed.engine.archive(&user, memory.memory.id.into()).unwrap();
    bed.engine.unarchive(&user, memory.memory.id.into()).unwrap();
    let active = bed.engine.unarchive(&user, memory.memory.id.into()).unwrap();
    assert_eq!(active.status.state, State::Active);
    assert_eq!(bed.engine.recall(&user, &recall(Mode::Recent)).unwrap().total_found, 1);
    assert_eq!(
        acts(&bed, &user),
        [AuditAct::Unarchived, AuditAct::Archived],
        "what changes nothing is not audited"
    );
}

#[test]
fn a_pin_is_audited_and_makes_no_version() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "pinned");
    for _ in 0..2 {
        assert!(bed.engine.pin(&user, memory.memory.id.into()).unwrap().status.pinned);
    }
    for _ in 0..2 {
        assert!(!bed.engine.unpin(&user, memory.memory.id.into()).unwrap().status.pinned);
    }
    assert_eq!(bed.get(&user, memory.memory.id).version, Version(1));
    assert_eq!(acts(&bed, &user), [AuditAct::Unpinned, AuditAct::Pinned]);
}

#[test]
fn a_memory_forgotten_meanwhile_is_not_archived() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "contended");
    let (other, theirs, id) = (bed.beside(), user.clone(), memory.memory.id);
    bed.store.before_next_apply(move |_| {
        other.forget(&theirs, id.into(), &ForgetRequest::default()).expect("the other was faster");
    });
    refused!(bed.engine.archive(&user, memory.memory.id.into()), Error::Forgotten { .. });
    let restored = bed.engine.restore(&user, memory.memory.id.into()).unwrap().memory;
    assert_eq!(restored.status.state, State::Active);
}

#[test]
fn to_erase_what_another_saved_takes_an_admin() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let [owner, other] = ["owner", "other"].map(|name| bed.member(name, hub, Role::Writer));
    let admin = bed.member("admin", hub, Role::Admin);
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    let (first, second) = (bed.save(&owner, "first"), bed.save(&owner, "second"));
    refused!(bed.engine.forget(&other, first.memory.id.into(), &hard), Error::OwnerOrAdmin { .. });
    bed.engine.forget(&other, first.memory.id.into(), &ForgetRequest::default()).unwrap();
    bed.engine.forget(&owner, first.memory.id.into(), &hard).unwrap();
    bed.engine.forget(&admin, second.memory.id.into(), &hard).unwrap();
}

#[test]
fn what_its_owner_made_private_meanwhile_is_not_erased_by_an_admin() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let owner = bed.member("owner", hub, Role::Writer);
    let admin = bed.member("admin", hub, Role::Admin);
    let memory = bed.save(&owner, "mine after all");
    let (other, theirs, id) = (bed.beside(), owner.clone(), memory.memory.id);
    bed.store.before_next_apply(move |_| {
        let private = tulving_core::model::request::UpdateRequest {
            boundary: Some(Boundary::Private),
            ..Default::default()
        };
        other.update(&theirs, id.into(), &private).expect("the owner was faster");
    });
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    refused!(bed.engine.forget(&admin, memory.memory.id.into(), &hard), Error::NoMemory { .. });
    assert_eq!(bed.get(&owner, memory.memory.id).fields.text.content, "mine after all");
}
