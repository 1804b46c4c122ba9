//! Files, journals and turns have the default boundary of memories in the space: in `default` they are private to the user
//! of the home, whatever role a token has there; elsewhere all members share them.

use tulving_core::files::archive::ConversationArchiveRequest;
use tulving_core::files::workspace::FileWriteMode;
use tulving_core::model::change::{Actor, ChangeSet, Revision, Write};
use tulving_core::model::error::Error;
use tulving_core::model::file::MirroredFile;
use tulving_core::model::id::{PrincipalId, SpaceId};
use tulving_core::model::memory::VersionFields;
use tulving_core::model::pass::PassFilter;
use tulving_core::model::request::{
    BriefingRequest, Caller, Filter, Mode, RecallQuestion, RecallRequest, TurnFilter,
};
use tulving_core::model::vocabulary::{Boundary, Role, VersionAct};
use tulving_core::ports::{Feed, Mirrors, Store};

use crate::bed::{Bed, refused, turn, within};

const WORD: &str = "zanzibar";

/// A journal, `MEMORY.md`, a turn and an archived conversation in a space, all with the word.
fn fill(bed: &Bed, owner: &Caller) {
    bed.engine.remember(owner, "we went to zanzibar").expect("noted");
    bed.engine.replace_long_term(owner, "- born in zanzibar\n", None).expect("written");
    bed.engine.replace_long_term(owner, "- born in zanzibar, they say\n", None).expect("written");
    bed.engine
        .put_file(owner, "memory/plan.md", "- sail to zanzibar\n", FileWriteMode::New)
        .expect("written");
    bed.engine.log_turn(owner, &turn("tell me about zanzibar")).expect("logged");
    let request = ConversationArchiveRequest {
        title: Some("zanzibar".to_owned()),
        ..ConversationArchiveRequest::default()
    };
    bed.engine.archive_conversation(owner, request).expect("archived");
}

/// Returns the names of the ways in which a caller finds the word.
fn ways(bed: &Bed, caller: &Caller) -> Vec<&'static str> {
    let engine = &bed.engine;
    let today = engine.journals(caller).expect("a list").journals;
    let by = |mode: Mode| {
        let filter = Filter { space: Some(caller.space), ..Filter::default() };
        let request = RecallRequest { mode, filter, sort: None, limit: 50 };
        let answer = engine.recall(caller, &request).expect("an answer");
        format!("{:?} {}", answer.hits, answer.total_found)
    };
    let briefing = BriefingRequest { about: Some(WORD.to_owned()), token_budget: 4_000 };
    let turns = TurnFilter { last: 50, ..TurnFilter::default() };
    let file_list = engine.files(caller).expect("files");
    let conversations = engine.conversations(caller).expect("a list").conversations;
    let previous = engine.long_term_history(caller).expect("a list");
    let passes = PassFilter { space: Some(caller.space), kind: None, before: None, limit: 50 };
    let described = [
        ("journal", format!("{today:?}").contains("memory/")),
        ("search", !engine.search_journals(caller, WORD, 5).expect("hits").entries.is_empty()),
        ("MEMORY.md", engine.long_term(caller).expect("read").content.contains(WORD)),
        ("its history", !previous.is_empty()),
        ("files", !file_list.files.is_empty()),
        ("file", engine.file(caller, "memory/plan.md").is_ok()),
        ("turns", !engine.turns(caller, &turns).expect("turns").turns.is_empty()),
        ("conversations", !conversations.is_empty()),
        ("recall by text", by(Mode::Substring(WORD.to_owned())).contains(WORD)),
        ("recall", by(Mode::Hybrid(Box::new(RecallQuestion::new(WORD)))).contains(WORD)),
        ("context", format!("{:?}", engine.briefing(caller, &briefing).expect("a briefing")).contains(WORD)),
        ("count", engine.count(caller, &Filter::default()).expect("a count") > 0),
        ("passes", !engine.passes(caller, &passes).expect("passes").is_empty()),
    ];
    described.into_iter().filter(|(_, met)| *met).map(|(way, _)| way).collect()
}

#[test]
fn the_files_of_the_default_space_are_private_to_its_user_on_every_way() {
    let bed = Bed::new();
    let user = bed.user();
    fill(&bed, &user);
    let met = ways(&bed, &user);
    assert_eq!(met.len(), 12, "the user meets them on all ways but passes: {met:?}");
    for role in [Role::Reader, Role::Writer, Role::Admin] {
        let other = bed.member(&format!("{role}"), SpaceId::DEFAULT, role);
        assert_eq!(ways(&bed, &other), [""; 0], "a {role}");
        refused!(bed.engine.file(&other, "memory/plan.md"), Error::File(_));
    }
    let agent = bed.member("agent", SpaceId::DEFAULT, Role::Writer);
    refused!(bed.engine.remember(&agent, "a note"), Error::PrivateFiles { .. });
    refused!(bed.engine.replace_long_term(&agent, "mine", None), Error::PrivateFiles { .. });
    refused!(bed.engine.put_file(&agent, "memory/x.md", "x", FileWriteMode::New), Error::PrivateFiles { .. });
    refused!(bed.engine.remove_file(&agent, "memory/plan.md"), Error::PrivateFiles { .. });
    refused!(
        bed.engine.archive_conversation(&agent, ConversationArchiveRequest::default()),
        Error::PrivateFiles { .. }
    );
    // An agent can read its own turns again, so that it can resume a session; the user reads all of them.
    bed.engine.log_turn(&agent, &turn("the agent was here")).expect("logged");
    let all = TurnFilter { last: 50, ..TurnFilter::default() };
    let own: Vec<String> =
        bed.engine.turns(&agent, &all).expect("turns").turns.into_iter().map(|turn| turn.content).collect();
    assert_eq!(own, ["the agent was here"]);
    assert_eq!(bed.engine.turns(&user, &all).expect("turns").turns.len(), 2);
}

#[test]
fn the_files_of_another_space_are_for_all_its_members() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let here = within(&bed.user(), hub);
    fill(&bed, &here);
    let member = bed.member("member", hub, Role::Reader);
    assert_eq!(ways(&bed, &member), ways(&bed, &here));
    assert!(ways(&bed, &member).len() >= 12);
}

#[test]
fn mirrors_that_were_made_for_all_members_become_private() {
    let bed = Bed::new();
    let user = bed.user();
    fill(&bed, &user);
    ways(&bed, &user);
    let agent = bed.member("agent", SpaceId::DEFAULT, Role::Reader);
    // As before files had a boundary.
    for known in bed.store.mirrored(SpaceId::DEFAULT).expect("files") {
        let ids: Vec<_> = bed
            .store
            .mirrors(SpaceId::DEFAULT, &known.path)
            .expect("mirrors")
            .iter()
            .map(|old| old.id)
            .collect();
        let opened = bed.store.entries(&ids, None).expect("entries").into_iter().map(|entry| {
            let memory = entry.memory;
            assert_eq!(memory.fields.boundary, Boundary::Private);
            Write::Revise(Box::new(Revision {
                id: memory.id,
                from: memory.version,
                act: VersionAct::Updated,
                fields: VersionFields { boundary: Boundary::Hub, ..memory.fields },
                stood: memory.status,
                status: memory.status,
                chunks: None,
                confirmed: None,
                attachment: None,
            }))
        });
        let mut writes: Vec<Write> = opened.collect();
        let to = MirroredFile { digest: [7; 32], settled: true, ..known.clone() };
        let (space, path) = (SpaceId::DEFAULT, known.path.clone());
        writes.push(Write::Mirrored { space, path, from: Some(known), to: Some(to) });
        let by = Actor { principal: PrincipalId::USER, agent: None };
        let at = bed.engine.now();
        bed.store.apply(&ChangeSet { by, at, rights: Vec::new(), writes }).expect("applied");
    }
    // Another process starts, and finds them so.
    let engine = bed.beside();
    let filter = Filter { space: Some(SpaceId::DEFAULT), ..Filter::default() };
    let mode = Mode::Substring(WORD.to_owned());
    let request = RecallRequest { mode, filter, sort: None, limit: 50 };
    assert_eq!(engine.recall(&agent, &request).expect("an answer").total_found, 0);
    assert!(engine.recall(&user, &request).expect("an answer").total_found > 3);
}
