//! Archived conversations: a file and a memory, both or none.

use std::sync::Arc;

use tulving_core::files::archive::ConversationArchiveRequest;
use tulving_core::files::transcript::TranscriptMessage;
use tulving_core::model::error::Error;
use tulving_core::model::file::PendingFile;
use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{Caller, Filter, Mode, RecallRequest};
use tulving_core::model::vocabulary::{ContentType, Role, SpaceKind, TurnRole};
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::NoEmbedder;

use crate::bed::{Bed, turn, words};

fn message(role: TurnRole, content: &str) -> TranscriptMessage {
    TranscriptMessage { role, speaker: None, content: content.to_owned(), at: None }
}

fn request() -> ConversationArchiveRequest {
    let messages = vec![
        message(TurnRole::User, "Fix the JWT expiry bug"),
        message(TurnRole::Assistant, "Done:\n\n## User\nthe token lives an hour now"),
    ];
    ConversationArchiveRequest { messages: Some(messages), ..ConversationArchiveRequest::default() }
}

fn group() -> (Bed, Caller) {
    let bed = Bed::with(ManualClock::new(), Arc::new(NoEmbedder));
    let space = bed.space("kitchen", SpaceKind::Group);
    let cook = bed.member("cook", space, Role::Writer);
    (bed, cook)
}

fn keys(bed: &Bed, caller: &Caller) -> Vec<String> {
    let filter = Filter {
        space: Some(caller.space),
        content_types: vec![ContentType::Transcript],
        ..Filter::default()
    };
    let request = RecallRequest { mode: Mode::Recent, filter, sort: None, limit: 100 };
    let hits = bed.engine.recall(caller, &request).expect("an answer").hits;
    let mut keys: Vec<String> = hits.into_iter().filter_map(|hit| hit.memory.fields.key).collect();
    keys.sort();
    keys
}

#[test]
fn a_conversation_becomes_a_file_and_a_memory_and_reads_back_as_it_was() {
    let (bed, cook) = group();
    let archived = bed.engine.archive_conversation(&cook, request()).expect("archived");
    let day = bed.engine.now().date();
    assert_eq!(archived.name, format!("{day}-fix-the-jwt-expiry-bug"));
    assert_eq!(archived.path, format!("groups/kitchen/conversations/{day}-fix-the-jwt-expiry-bug.md"));
    assert_eq!(archived.key, format!("conversation-{day}-fix-the-jwt-expiry-bug"));
    assert!(!archived.from_log);
    for name in [&archived.name, &archived.key, &format!("conversations/{}.md", archived.name)] {
        let read = bed.engine.conversation(&cook, name).expect("read");
        assert_eq!(Some(read.messages), request().messages, "{name}");
    }
    let memory = bed.get(&cook, archived.id);
    assert_eq!(memory.fields.text.content_type, ContentType::Transcript);
    assert!(memory.fields.text.content.contains("the token lives an hour now"));
    let names: Vec<String> = bed
        .engine
        .conversations(&cook)
        .expect("listed")
        .conversations
        .into_iter()
        .map(|file| file.name)
        .collect();
    assert_eq!(names, [archived.name]);
}

#[test]
fn a_second_of_the_same_name_overwrites_nothing() {
    let (bed, cook) = group();
    let first = bed.engine.archive_conversation(&cook, request()).expect("archived");
    let second = bed.engine.archive_conversation(&cook, request()).expect("archived");
    let third = bed.engine.archive_conversation(&cook, request()).expect("archived");
    assert_eq!(second.name, format!("{}-2", first.name));
    assert_eq!(third.key, format!("{}-3", first.key));
    assert_eq!(keys(&bed, &cook), [first.key, second.key, third.key]);
    // A file that a person put there is not overwritten either.
    let other = ConversationArchiveRequest { title: Some("By hand".to_owned()), ..request() };
    let name = format!("conversations/{}-by-hand.md", bed.engine.now().date());
    bed.edit(&cook, &name, "mine\n");
    let archived = bed.engine.archive_conversation(&cook, other).expect("archived");
    assert!(archived.name.ends_with("-by-hand-2"), "{}", archived.name);
    assert_eq!(bed.files.content(&bed.path(&cook, &name)).as_deref(), Some("mine\n"));
}

#[test]
fn without_messages_it_is_what_the_log_has_and_says_so() {
    let (bed, cook) = group();
    let error = bed
        .engine
        .archive_conversation(&cook, ConversationArchiveRequest::default())
        .expect_err("nothing to archive");
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    for n in 0..210 {
        bed.engine.log_turn(&cook, &turn(&format!("turn {n}"))).expect("logged");
    }
    let archived =
        bed.engine.archive_conversation(&cook, ConversationArchiveRequest::default()).expect("archived");
    assert!(archived.from_log && archived.messages >= 200, "{archived:?}");
    let text =
        bed.files.content(&bed.path(&cook, &format!("conversations/{}.md", archived.name))).expect("a file");
    assert!(text.contains("From the log, which keeps the last 200 turns."), "{text}");
}

#[test]
fn whichever_call_of_the_store_fails_both_are_there_or_neither() {
    for nth in 1..200 {
        let (bed, cook) = group();
        bed.store.fail_at(nth);
        let result = bed.engine.archive_conversation(&cook, request());
        let failed = bed.store.has_failed();
        bed.store.fail_at(0);
        // The process ends, and another one starts.
        bed.files.abandon();
        let files = bed.engine.conversations(&cook).expect("listed").conversations;
        assert_eq!(keys(&bed, &cook).len(), files.len(), "call {nth}: {result:?}");
        if result.is_ok() {
            assert_eq!(files.len(), 1, "call {nth}: what was acknowledged is there");
        }
        if !failed {
            assert!(nth > 3, "there was something to fail");
            return;
        }
    }
    panic!("it never ends");
}

#[test]
fn what_a_killed_process_left_is_settled_both_ways() {
    let (bed, cook) = group();
    let kept = bed.engine.archive_conversation(&cook, request()).expect("archived");
    let orphan = bed.path(&cook, "conversations/2026-05-27-half.md");
    bed.files.edit(&orphan, "# Half\n");
    bed.files.leave(PendingFile { path: orphan.clone(), memory: MemoryId::mint(bed.engine.now()) });
    let whole = bed.path(&cook, &format!("conversations/{}.md", kept.name));
    bed.files.leave(PendingFile { path: whole.clone(), memory: kept.id });
    bed.engine.follow_files();
    assert_eq!((bed.files.content(&orphan), bed.files.content(&whole).is_some()), (None, true));
}

#[test]
fn what_is_left_in_one_group_is_no_affair_of_another() {
    let (bed, cook) = group();
    let garden = bed.space("garden", SpaceKind::Group);
    let gardener = bed.member("gardener", garden, Role::Writer);
    let theirs = bed.path(&cook, "conversations/2026-05-27-secret-merger.md");
    bed.files.edit(&theirs, "# Secret\n");
    bed.files.leave(PendingFile { path: theirs, memory: MemoryId::mint(bed.engine.now()) });
    let mut refused = 0;
    for nth in 1.. {
        bed.store.fail_at(nth);
        let listed = bed.engine.conversations(&gardener);
        let failed = bed.store.has_failed();
        bed.store.fail_at(0);
        if listed.is_err() {
            assert!(!words(listed).contains("merger"), "call {nth}");
            refused += 1;
        }
        if !failed {
            break;
        }
    }
    assert!(refused > 0, "there was something to fail");
    assert_eq!(bed.engine.conversations(&gardener).expect("listed").conversations, []);
    let request = RecallRequest {
        mode: Mode::Substring("merger".to_owned()),
        filter: Filter::default(),
        sort: None,
        limit: 10,
    };
    assert_eq!(bed.engine.recall(&gardener, &request).expect("an answer").unread, []);
}

#[test]
fn an_archive_from_the_log_has_all_that_the_log_has() {
    let (bed, cook) = group();
    for n in 1..=249 {
        bed.engine.log_turn(&cook, &turn(&format!("turn {n}"))).expect("logged");
    }
    let archived =
        bed.engine.archive_conversation(&cook, ConversationArchiveRequest::default()).expect("archived");
    let read = bed.engine.conversation(&cook, &archived.name).expect("read");
    let said: Vec<&str> = read.messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!((said.len(), said[0], said[248]), (249, "turn 1", "turn 249"));
}
