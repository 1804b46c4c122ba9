//! Files that say the same are one memory with several paths.

use tulving_core::Document;
use tulving_core::model::answer::{Receipt, SaveOutcome};
use tulving_core::model::error::Error;
use tulving_core::model::id::{MemoryId, Version};
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{AuditFilter, Caller, ForgetMode, SaveRequest};
use tulving_core::model::vocabulary::{AuditAct, Boundary, Role, State};

use crate::bed::{Bed, keyed, said, within};

fn at_path(path: &str, content: &str) -> SaveRequest {
    SaveRequest { source_path: Some(path.to_owned()), ..SaveRequest::new(content) }
}

fn paths(bed: &Bed, caller: &Caller, id: MemoryId) -> Vec<String> {
    bed.get(caller, id).provenance.paths().to_vec()
}

fn count(bed: &Bed, caller: &Caller) -> usize {
    bed.contents(caller).len()
}

#[track_caller]
fn joined(receipt: &Receipt, id: MemoryId) {
    assert_eq!((receipt.memory.id, receipt.outcome), (id, SaveOutcome::Duplicate));
    assert_eq!(receipt.warnings, [], "nothing that was said is left out");
}

#[test]
fn the_same_content_under_two_paths_and_none_is_one_memory() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, at_path("/p1", "the same"));
    joined(&bed.save(&user, at_path("/p2", "the same")), first.memory.id);
    assert_eq!(paths(&bed, &user, first.memory.id), ["/p1", "/p2"]);
    joined(&bed.save(&user, "the same"), first.memory.id);
    let memory = bed.get(&user, first.memory.id);
    assert_eq!(memory.provenance.source_path.as_deref(), Some("/p1"));
    assert_eq!(memory.provenance.source_paths, ["/p1", "/p2"]);
    assert!(memory.provenance.also_without_path);
    assert_eq!((memory.version, count(&bed, &user)), (Version::FIRST, 1), "no version, no second row");
    let head = bed.engine.head().expect("the log");
    for again in [at_path("/p1", "the same"), at_path("/p2", "the same")] {
        let again = bed.save(&user, again);
        assert_eq!((again.memory.id, again.outcome), (first.memory.id, SaveOutcome::Unchanged));
    }
    joined(&bed.save(&user, "the same"), first.memory.id);
    assert_eq!(bed.engine.head().expect("the log"), head, "what is known is not written again");
}

#[test]
fn a_memory_without_a_path_gains_one_and_stays_when_the_file_changes() {
    let bed = Bed::new();
    let user = bed.user();
    let by_hand = bed.save(&user, "said by hand");
    joined(&bed.save(&user, at_path("/p", "said by hand")), by_hand.memory.id);
    assert_eq!(paths(&bed, &user, by_hand.memory.id), ["/p"]);
    let changed = bed.save(&user, at_path("/p", "the file says more"));
    assert_eq!((changed.outcome, changed.memory.version), (SaveOutcome::Created, Version::FIRST));
    let memory = bed.get(&user, by_hand.memory.id);
    assert_eq!(memory.fields.text.content, "said by hand", "somebody said it without the file");
    assert_eq!((memory.provenance.paths().len(), memory.version), (0, Version::FIRST));
    assert_eq!(paths(&bed, &user, changed.memory.id), ["/p"]);
}

#[test]
fn a_path_whose_content_changes_leaves_the_memory_that_others_share() {
    let bed = Bed::new();
    let user = bed.user();
    let private = SaveRequest {
        boundary: Some(Boundary::Private),
        tags: Some(vec!["kept".to_owned()]),
        ..at_path("/p1", "the same")
    };
    let hub = within(&user, bed.hub("kitchen"));
    let first = bed.save(&hub, private);
    let joins = SaveRequest { boundary: Some(Boundary::Private), ..at_path("/p2", "the same") };
    bed.save(&hub, joins);
    let own = bed.save(&hub, at_path("/p2", "something else"));
    assert_eq!((own.outcome, own.memory.version), (SaveOutcome::Created, Version::FIRST));
    assert_eq!(
        (paths(&bed, &hub, first.memory.id), paths(&bed, &hub, own.memory.id)),
        (vec!["/p1".to_owned()], vec!["/p2".to_owned()])
    );
    assert_eq!(bed.get(&hub, first.memory.id).version, Version::FIRST, "the other is as it was");
    let memory = bed.get(&hub, own.memory.id);
    assert_eq!(memory.fields.boundary, Boundary::Private, "what was private is not published");
    assert_eq!(memory.fields.text.tags, ["kept"]);
    let alone = bed.save(&hub, at_path("/p1", "the first one changes"));
    assert_eq!(
        (alone.memory.id, alone.outcome, alone.memory.version),
        (first.memory.id, SaveOutcome::Updated, Version(2)),
        "in place"
    );
}

#[test]
fn a_path_that_comes_to_say_what_another_memory_says_goes_there() {
    let bed = Bed::new();
    let user = bed.user();
    let first = bed.save(&user, at_path("/p1", "one"));
    let second = bed.save(&user, at_path("/p2", "two"));
    joined(&bed.save(&user, at_path("/p2", "one")), first.memory.id);
    assert_eq!(paths(&bed, &user, first.memory.id), ["/p1", "/p2"]);
    let left = bed.get(&user, second.memory.id);
    assert_eq!(left.status.state, State::Archived, "no file says it any more");
    assert_eq!((left.provenance.paths().len(), left.version), (0, Version::FIRST));
    let audit =
        bed.engine.audit(&user, &AuditFilter { last: 9, ..AuditFilter::default() }).expect("the audit");
    assert!(
        audit.iter().any(|entry| entry.memory == Some(second.memory.id) && entry.act == AuditAct::Archived)
    );
    let back = bed.save(&user, at_path("/p2", "two"));
    assert_eq!(
        (back.memory.id, back.outcome, back.revived),
        (second.memory.id, SaveOutcome::Duplicate, true),
        "and it comes back"
    );
    assert_eq!(
        (paths(&bed, &user, first.memory.id), paths(&bed, &user, second.memory.id)),
        (vec!["/p1".to_owned()], vec!["/p2".to_owned()])
    );
    let changed = bed.save(&user, at_path("/p2", "three"));
    assert_eq!(
        (changed.memory.id, changed.outcome),
        (second.memory.id, SaveOutcome::Updated),
        "the file is its only source again"
    );
}

#[test]
fn what_has_a_key_or_is_of_a_conversation_or_private_to_another_stays_apart() {
    let bed = Bed::new();
    let space = bed.hub("kitchen");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, space, Role::Writer));
    let plain = bed.save(&ann, at_path("/p", "the same"));
    let with_key = bed.save(&ann, keyed("k", "the same"));
    let turn = SaveRequest { conversation: Some("chat".to_owned()), ..SaveRequest::new("the same") };
    let turn = bed.save(&ann, turn);
    let private = |path: &str| SaveRequest { boundary: Some(Boundary::Private), ..at_path(path, "the same") };
    let (anns, bobs) = (bed.save(&ann, private("/a")), bed.save(&bob, private("/a")));
    let all = [&plain, &with_key, &turn, &anns, &bobs];
    assert!(all.iter().all(|receipt| receipt.outcome == SaveOutcome::Created));
    joined(&bed.save(&bob, at_path("/q", "the same")), plain.memory.id);
    joined(&bed.save(&bob, private("/b")), bobs.memory.id);
    assert_eq!(paths(&bed, &ann, plain.memory.id), ["/p", "/q"]);
    assert_eq!(paths(&bed, &ann, anns.memory.id), ["/a"]);
    let keyed_file = SaveRequest { key: Some("own".to_owned()), ..at_path("/q", "the same") };
    let own = bed.save(&bob, keyed_file);
    assert_eq!(own.outcome, SaveOutcome::Created, "a key makes it a memory of its own");
    assert_eq!(paths(&bed, &ann, plain.memory.id), ["/p"]);
}

#[test]
fn files_that_are_no_text_are_shared_by_their_bytes() {
    let bed = Bed::new();
    let user = bed.user();
    let pdf = b"%PDF-1.7\n\xff\xfe\x00 first".to_vec();
    let push = |path: &str, bytes: &[u8]| {
        let about = SaveRequest { source_path: Some(path.to_owned()), ..SaveRequest::default() };
        let document = Document { name: Some(path.to_owned()), bytes: bytes.to_vec(), about };
        bed.engine.push(&user, document).expect("pushed")
    };
    let first = push("/a.pdf", &pdf);
    let second = push("/b.pdf", &pdf);
    assert_eq!((second.memory.id, second.outcome), (first.memory.id, SaveOutcome::Duplicate));
    assert_eq!(paths(&bed, &user, first.memory.id), ["/a.pdf", "/b.pdf"]);
    let changed = push("/b.pdf", b"%PDF-1.7\n\xff\xfe\x00 second");
    assert_eq!(changed.outcome, SaveOutcome::Created);
    let hash = |id| bed.get(&user, id).provenance.attachment.map(|file| file.hash);
    assert_ne!(hash(first.memory.id), hash(changed.memory.id));
    assert_eq!(paths(&bed, &user, first.memory.id), ["/a.pdf"]);
}

#[test]
fn paths_go_where_the_memory_goes() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, at_path("/p1", "the same")).memory.id;
    bed.save(&user, at_path("/p2", "the same"));
    bed.forget(&user, memory, ForgetMode::Soft);
    let meanwhile = bed.save(&user, at_path("/p2", "meanwhile"));
    bed.forget(&user, meanwhile.memory.id, ForgetMode::Hard);
    bed.engine.restore(&user, memory.into()).expect("restored");
    let edited = bed.update(&user, memory, &said("edited here"));
    assert_eq!(edited.provenance.paths(), ["/p1", "/p2"]);
    let reverted = bed.engine.revert(&user, memory.into(), Version::FIRST).expect("reverted").memory;
    assert_eq!(reverted.provenance.paths(), ["/p1", "/p2"]);
    let hub = within(&user, bed.hub("kitchen"));
    bed.engine.move_to(&user, &[memory.into()], "kitchen").expect("moved");
    assert_eq!(paths(&bed, &hub, memory), ["/p1", "/p2"]);
    let other = Bed::new();
    other.load(bed.dump());
    let there = within(&other.user(), hub.space);
    let loaded: Memory = other.get(&there, memory);
    assert_eq!(loaded.provenance, bed.get(&hub, memory).provenance);
    bed.forget(&hub, memory, ForgetMode::Hard);
    assert_eq!(bed.save(&hub, at_path("/p2", "after")).outcome, SaveOutcome::Created);
}

#[test]
fn a_restored_memory_leaves_out_the_paths_that_others_have_by_now() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, at_path("/p1", "the same")).memory.id;
    for path in ["/p2", "/p3"] {
        bed.save(&user, at_path(path, "the same"));
    }
    bed.forget(&user, memory, ForgetMode::Soft);
    let [second, first] = ["/p2", "/p1"].map(|path| bed.save(&user, at_path(path, &format!("of {path}"))));
    let restored = bed.engine.restore(&user, memory.into()).expect("restored");
    assert_eq!(restored.memory.provenance.paths(), ["/p3"]);
    assert_eq!(paths(&bed, &user, memory), ["/p3"]);
    let described: Vec<String> = restored.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        described,
        [
            "#1 came back without the path /p1: it now belongs to #3",
            "#1 came back without the path /p2: it now belongs to #2"
        ]
    );
    assert_eq!(paths(&bed, &user, second.memory.id), ["/p2"], "the others keep theirs");
    // Without its last path it is a memory that somebody wants back.
    bed.forget(&user, memory, ForgetMode::Soft);
    let third = bed.save(&user, at_path("/p3", "of /p3"));
    let restored = bed.engine.restore(&user, memory.into()).expect("restored");
    assert_eq!((restored.memory.provenance.paths().len(), restored.warnings.len()), (0, 1));
    let changed = bed.save(&user, at_path("/p3", "more of /p3"));
    assert_eq!(
        (changed.memory.id, changed.outcome),
        (third.memory.id, SaveOutcome::Updated),
        "the file has nothing to do with it"
    );
    assert_eq!(paths(&bed, &user, third.memory.id), ["/p3"]);
    assert_eq!(paths(&bed, &user, first.memory.id), ["/p1"]);
}

#[test]
fn an_edit_cannot_make_a_memory_of_a_file_say_what_another_says() {
    let bed = Bed::new();
    let user = bed.user();
    let one = bed.save(&user, at_path("/p1", "one"));
    bed.save(&user, at_path("/p2", "two"));
    let refused = bed.engine.update(&user, one.memory.id.into(), &said("two"));
    assert!(matches!(refused, Err(Error::Held { .. })), "{refused:?}");
}
