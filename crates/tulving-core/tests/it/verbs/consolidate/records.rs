//! A model decides about near duplicates; shown, undone, and asked about once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tulving_core::model::error::{Error, LlmError};
use tulving_core::model::llm::{LlmName, LlmReply, Message, Prompt};
use tulving_core::model::request::{AssociationRequest, AuditFilter, SaveRequest};
use tulving_core::model::vocabulary::{
    AuditAct, LinkedBy, MemoryType, PassKind, PassOutcome, Relation, Role,
};
use tulving_core::ports::{LanguageModel, Memories};
use tulving_core::{ConsolidationSettings, ConsolidationTick, Engine, Llm};
use tulving_testkit::embedder::FakeEmbedder;
use tulving_testkit::fault::FaultyStore;
use tulving_testkit::llm::ScriptedLlm;

use super::{DAY, journal, on, tick, turn_on};
use crate::bed::{Bed, link, refused, said, within};
use crate::verbs::near::WORDS;
use crate::verbs::passes::passes;

/// Creates a bed with an embedding model, an engine on it with a language model that also decides about memories, and
/// that model.
fn judging() -> (Bed, Engine, Arc<ScriptedLlm>) {
    let bed = Bed::embedding(Arc::new(FakeEmbedder));
    let llm = Arc::new(ScriptedLlm::new());
    let engine = bed.beside_with(Arc::new(FakeEmbedder), Vec::new()).with_llm(Llm::new(llm.clone(), None));
    turn_on(&bed, &engine);
    engine.set_consolidation(ConsolidationSettings { apply: true, ..on() });
    (bed, engine, llm)
}

fn decide(llm: &ScriptedLlm, decision: &str) {
    let one = json!({ "group": 1, "decision": decision, "reason": "the room was changed" });
    llm.answer_call("decide", &json!({ "decisions": [one] }).to_string());
}

#[test]
fn a_model_decides_what_takes_the_place_of_what_and_that_is_one_act_that_can_be_undone() {
    let (bed, engine, llm) = judging();
    let hub = within(&bed.user(), bed.hub("hub"));
    let old = bed.save(&hub, format!("{WORDS} in room 12").as_str()).memory.id;
    let new = bed.save(&hub, format!("{WORDS} in room 14").as_str());
    assert_eq!(new.near.len(), 1);
    let new = new.memory.id;
    decide(&llm, "updates");
    assert_eq!(tick(&engine), 1);
    assert_eq!(llm.asked().len(), 1, "where there is nothing to decide nobody is asked");
    let Message::User(shown) = &llm.asked()[0].messages[1] else { panic!() };
    assert!(shown.contains("in room 12") && shown.contains("in room 14"), "{shown}");
    assert_eq!(bed.get(&hub, old).superseded_by, Some(new));
    let pass = passes(&engine, &hub).remove(0);
    assert_eq!((pass.kind, pass.outcome, pass.acts.len()), (PassKind::Records, PassOutcome::Done, 1));
    let audit = engine.audit(&hub, &AuditFilter { last: 1, ..AuditFilter::default() }).expect("the audit");
    assert_eq!(
        (audit[0].act, audit[0].reason.as_deref()),
        (AuditAct::Associated, Some("the room was changed"))
    );
    let undone = engine.undo(&hub, pass.id, false).expect("undone");
    assert_eq!((undone.taken_back(), undone.pass.acts), (1, pass.acts));
    assert_eq!(bed.get(&hub, old).superseded_by, None);
    let near = engine.related(&hub, new.into(), 1).expect("related");
    assert_eq!(near.len(), 1, "the automatic link is back");
    bed.clock.advance(2 * DAY);
    let quiet = engine.consolidate_due("test").expect("a tick");
    assert!(
        matches!(quiet, ConsolidationTick::Done(done) if done.is_empty()),
        "who undid it is not overruled"
    );
    assert_eq!(llm.asked().len(), 1);
    bed.clock.advance(2 * DAY);
    let edited = said(&format!("{WORDS} in room 15"));
    bed.engine.update(&hub, new.into(), &edited).expect("edited");
    decide(&llm, "contradicts");
    tick(&engine);
    let pass = passes(&engine, &hub).remove(0);
    bed.engine
        .dissociate(&hub, new.into(), old.into(), Some(Relation::Contradicts))
        .expect("somebody knows better");
    let undone = engine.undo(&hub, pass.id, false).expect("looked at");
    assert!(undone.steps[0].stays.as_deref().is_some_and(|why| why.starts_with("the link has been removed")));
}

#[test]
fn what_would_be_done_about_memories_is_shown_first_and_nothing_of_it_is_kept() {
    let (bed, engine, llm) = judging();
    let hub = within(&bed.user(), bed.hub("hub"));
    let old = bed.save(&hub, format!("{WORDS} in room 12").as_str()).memory.id;
    bed.save(&hub, format!("{WORDS} in room 14").as_str());
    for _ in 0..2 {
        decide(&llm, "updates");
        let described = engine.consolidate(&hub, false).expect("foreseen");
        assert!(described.records.is_empty());
        assert_eq!(described.predicted.len(), 1);
        assert!(described.predicted[0].starts_with("linked #2 (one two"), "{:?}", described.predicted);
        assert!(described.predicted[0].contains(" updates #1 (one two"), "{:?}", described.predicted);
        assert_eq!(bed.get(&hub, old).superseded_by, None);
        assert!(passes(&engine, &hub).is_empty());
    }
    decide(&llm, "updates");
    let described = engine.consolidate(&hub, true).expect("done");
    assert_eq!((described.records.len(), described.predicted.len()), (1, 0));
    assert!(bed.get(&hub, old).superseded_by.is_some());
}

#[test]
fn what_was_answered_is_not_asked_again_until_it_changes() {
    let (bed, engine, llm) = judging();
    let hub = within(&bed.user(), bed.hub("hub"));
    let old = bed.save(&hub, format!("{WORDS} in room 12").as_str()).memory.id;
    bed.save(&hub, format!("{WORDS} in room 14").as_str());
    engine.pin(&hub, old.into()).expect("pinned");
    let asked = |expected: usize| {
        engine.consolidate(&hub, true).expect("done");
        assert_eq!(llm.asked().len(), expected);
    };
    decide(&llm, "updates");
    asked(1);
    let pass = passes(&engine, &hub).remove(0);
    assert_eq!((pass.outcome, pass.acts.len()), (PassOutcome::Nothing, 0), "what is pinned stays");
    assert_eq!(pass.note.as_deref(), Some("1 group of memories, 1 decided"));
    asked(1);
    // "Not sure" is an answer too.
    engine.unpin(&hub, old.into()).expect("unpinned");
    llm.answer_call("decide", &json!({ "decisions": [] }).to_string());
    asked(2);
    asked(2);
    bed.save(&hub, format!("{WORDS} in room 16").as_str());
    llm.answer_call("decide", &json!({ "decisions": [] }).to_string());
    asked(3);
}

#[test]
fn what_is_distinct_is_parted_and_nonsense_changes_nothing() {
    let (bed, engine, llm) = judging();
    let hub = within(&bed.user(), bed.hub("hub"));
    bed.save(&hub, format!("{WORDS} in room 12").as_str());
    let other = bed.save(&hub, format!("{WORDS} in room 14").as_str()).memory.id;
    llm.answer_call("forget", "{}");
    assert!(
        matches!(engine.consolidate_due("test").expect("a tick"), ConsolidationTick::Done(done) if done.is_empty())
    );
    assert_eq!(passes(&engine, &hub)[0].outcome, PassOutcome::Nothing);
    bed.clock.advance(2 * DAY);
    decide(&llm, "distinct");
    tick(&engine);
    assert!(engine.related(&hub, other.into(), 1).expect("related").is_empty());
    bed.clock.advance(2 * DAY);
    assert!(
        matches!(engine.consolidate_due("test").expect("a tick"), ConsolidationTick::Done(done) if done.is_empty())
    );
    assert_eq!(llm.asked().len(), 2, "it is not asked about again");
    let pass = passes(&engine, &hub).remove(0);
    assert_eq!(engine.undo(&hub, pass.id, false).expect("undone").taken_back(), 1);
    assert_eq!(engine.related(&hub, other.into(), 1).expect("related").len(), 1);
}

/// A model that decides that the largest group is a fact.
struct Observing;

impl LanguageModel for Observing {
    fn name(&self) -> Option<LlmName> {
        ScriptedLlm::new().name()
    }

    fn complete(&self, prompt: &Prompt) -> Result<LlmReply, LlmError> {
        let Message::User(said) = &prompt.messages[1] else { panic!("what is asked comes second") };
        let groups = said.split("## Group ").skip(1).map(|group| group.matches("\n- ").count());
        let (at, _) = groups.enumerate().max_by_key(|(_, size)| *size).expect("a group");
        let one = json!({ "group": at + 1, "decision": "fact", "reason": "seen three times" });
        let script = ScriptedLlm::new();
        script.answer_call("decide", &json!({ "decisions": [one] }).to_string());
        script.complete(prompt)
    }
}

#[test]
fn an_observation_that_became_a_fact_is_one_again_once_that_is_undone() {
    let (bed, _, _) = judging();
    let engine =
        bed.beside_with(Arc::new(FakeEmbedder), Vec::new()).with_llm(Llm::new(Arc::new(Observing), None));
    engine.set_consolidation(ConsolidationSettings { apply: true, ..on() });
    let user = bed.user();
    let observed = |content: String| {
        let request = SaveRequest { memory_type: Some(MemoryType::Observation), ..SaveRequest::new(content) };
        bed.save(&user, request).memory.id
    };
    let all = ["", " again", " indeed"].map(|more| observed(format!("{WORDS}{more}")));
    let described = engine.consolidate(&user, true).expect("done");
    let pass = *described.records.first().expect("a pass");
    assert_eq!(engine.pass(&user, pass).expect("shown").described.len(), 3);
    assert_eq!(bed.get(&user, all[2]).fields.class.memory_type, MemoryType::Fact);
    assert!(all[..2].iter().all(|old| bed.get(&user, *old).superseded_by == Some(all[2])));
    let friend = bed.member("friend", user.space, Role::Admin);
    refused!(engine.pass(&friend, pass), Error::NoPass { .. });
    assert_eq!(engine.undo(&user, pass, false).expect("undone").taken_back(), 3);
    for id in all {
        let memory = bed.get(&user, id);
        assert_eq!(memory.fields.class.memory_type, MemoryType::Observation);
        assert_eq!(memory.superseded_by, None);
    }
    assert_eq!(
        engine.related(&user, all[2].into(), 1).expect("related").len(),
        2,
        "the automatic links are back"
    );
}

#[test]
fn what_updates_another_is_linked_as_strongly_as_the_two_are_alike() {
    let (bed, engine, llm) = judging();
    let hub = within(&bed.user(), bed.hub("hub"));
    let old = bed.save(&hub, format!("{WORDS} in room 12").as_str()).memory.id;
    let new = bed.save(&hub, format!("{WORDS} in room 14").as_str()).memory.id;
    let links = || bed.store.associations(&hub.viewer, &[new]).expect("links");
    let alike = links()[0].weight;
    let stronger = AssociationRequest { weight: Some(1.0), ..link(old, Relation::CausedBy) };
    bed.engine.associate(&hub, new.into(), &stronger).expect("linked");
    assert!(alike < links()[0].weight, "the strongest link says something else");
    decide(&llm, "updates");
    engine.consolidate(&hub, true).expect("done");
    let made = links().into_iter().find(|edge| edge.relation == Relation::Updates).expect("a link");
    assert_eq!((made.linked_by, made.weight), (LinkedBy::Caller, alike));
}

/// A model that leaves journals unchanged. When it is asked about memories, the store fails once right after.
struct Tripping {
    store: Arc<FaultyStore>,
    asked: Mutex<Vec<&'static str>>,
}

impl LanguageModel for Tripping {
    fn name(&self) -> Option<LlmName> {
        ScriptedLlm::new().name()
    }

    fn complete(&self, prompt: &Prompt) -> Result<LlmReply, LlmError> {
        let Message::User(said) = &prompt.messages[1] else { panic!("what is asked comes second") };
        let about = if said.contains("## Group ") { "memories" } else { "journals" };
        self.asked.lock().expect("nobody panicked").push(about);
        let script = ScriptedLlm::new();
        match about {
            "memories" => {
                self.store.fail_at(1);
                decide(&script, "updates");
            }
            _ => script.answer_text("UNCHANGED"),
        }
        script.complete(prompt)
    }
}

#[test]
fn a_store_that_fails_at_the_memories_of_a_space_costs_no_other_and_no_journal_twice() {
    let bed = Bed::embedding(Arc::new(FakeEmbedder));
    let llm = Arc::new(Tripping { store: bed.store.clone(), asked: Mutex::default() });
    let engine = bed.shipped(Arc::new(FakeEmbedder)).with_llm(Llm::new(llm.clone(), None));
    turn_on(&bed, &engine);
    engine.set_consolidation(ConsolidationSettings { apply: true, ..on() });
    for name in ["kitchen", "garden"] {
        let hub = within(&bed.user(), bed.hub(name));
        journal(&bed, &hub, 0, "Bo joined\n");
        for room in [12, 14] {
            bed.save(&hub, format!("{WORDS} in room {room}").as_str());
        }
    }
    let ConsolidationTick::Done(done) = engine.consolidate_due("test").expect("a tick") else { panic!() };
    bed.store.fail_at(0);
    let described: Vec<_> =
        done.iter().map(|(_, described)| (described.journals, described.undecided.is_some())).collect();
    assert_eq!(described, [(1, true), (1, true)], "what failed is said of each space");
    assert_eq!(*llm.asked.lock().expect("asked"), ["journals", "memories", "journals", "memories"]);
    bed.clock.advance(Duration::from_secs(3_700));
    assert_eq!(engine.consolidate_due("test").expect("a tick"), ConsolidationTick::NotDue);
}
