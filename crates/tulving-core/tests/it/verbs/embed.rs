//! Embedding of waiting memories, models that fail, and model changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tulving_core::model::answer::{Hit, Lane, Warning};
use tulving_core::model::error::{Error, ModelError};
use tulving_core::model::request::{RecallQuestion, SaveRequest};
use tulving_core::ports::{Embedder, Feed as _};
use tulving_testkit::embedder::{FakeEmbedder, NoEmbedder};

use crate::bed::refused;

use super::ask::{ask, bed, request};

/// Another model: the fake one with its numbers in another order.
pub(super) struct Other;

impl Embedder for Other {
    fn model(&self) -> Result<String, ModelError> {
        Ok("other".to_owned())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut made = FakeEmbedder.embed(texts)?;
        made.iter_mut().for_each(|vector| vector.reverse());
        Ok(made)
    }
}

#[test]
fn another_model_takes_over_in_one_step_and_the_old_one_answers_until_then() {
    let bed = bed();
    let user = bed.user();
    for n in 0..10 {
        bed.save(&user, format!("Measurement {n} of the tide").as_str());
    }
    let engine = bed.beside_with(Arc::new(Other), vec![Arc::new(FakeEmbedder)]);
    let vectors = |engine: &tulving_core::Engine| {
        let answer = engine.recall(&user, &request(RecallQuestion::new("tide"))).expect("an answer");
        assert_eq!(answer.missing, []);
        let in_lane = |hit: &&Hit| {
            hit.explanation.as_ref().is_some_and(|why| why.lanes.iter().any(|mark| mark.lane == Lane::Vector))
        };
        answer.hits.iter().filter(in_lane).count()
    };
    assert_eq!(vectors(&engine), 10);
    let step = engine.change_model(4).expect("embedded");
    assert_eq!((step.done, step.left, step.took_over), (4, 6, None));
    assert_eq!(vectors(&engine), 10, "the old vectors still answer");
    bed.save(&user, "Measurement 10 of the tide");
    let step = engine.change_model(100).expect("embedded");
    assert_eq!((step.done, step.left, step.took_over), (7, 0, Some("other".to_owned())));
    assert_eq!(vectors(&engine), 10);
    // A process that only has the old model reports it, and answers by word.
    let answer = ask(&bed, &user, RecallQuestion::new("tide"));
    assert!(answer.missing[0].why.contains("other"), "{:?}", answer.missing);
    assert_eq!(answer.hits.len(), 10);
}

#[test]
fn two_processes_with_different_models_do_not_embed_the_store_in_turns() {
    let bed = bed();
    let user = bed.user();
    for n in 0..5 {
        bed.save(&user, format!("Measurement {n} of the tide").as_str());
    }
    let other = bed.beside_with(Arc::new(Other), Vec::new());
    for _ in 0..3 {
        for engine in [&other, &bed.engine] {
            let step = engine.embed_waiting(100).expect("embedded");
            assert_eq!((step.done, step.left, step.took_over), (0, 0, None));
        }
    }
    assert_eq!(bed.store.model().expect("known"), Some("fake".to_owned()));
    // An engine with another model answers by word and reports it, and its saves wait for the model of the
    // store.
    let answer = other.recall(&user, &request(RecallQuestion::new("tide"))).expect("an answer");
    assert!(answer.missing[0].why.contains("fake"), "{:?}", answer.missing);
    assert_eq!(answer.hits.len(), 5);
    let receipt = other.save(&user, SaveRequest::new("Measurement 5 of the tide")).expect("saved");
    assert!(matches!(receipt.warnings.as_slice(), [Warning::NotEmbedded { .. }]), "{:?}", receipt.warnings);
    assert_eq!(other.embed_waiting(100).expect("nothing to do").done, 0);
    assert_eq!(bed.engine.embed_waiting(100).expect("embedded").done, 1);
    // The user's request changes it, and then for all.
    assert_eq!(other.change_model(100).expect("embedded").took_over, Some("other".to_owned()));
    assert_eq!(bed.engine.embed_waiting(100).expect("nothing to do").done, 0);
    assert_eq!(bed.store.model().expect("known"), Some("other".to_owned()));
}

#[test]
fn a_requested_change_is_completed_in_the_background() {
    let bed = bed();
    let user = bed.user();
    for n in 0..10 {
        bed.save(&user, format!("Measurement {n} of the tide").as_str());
    }
    let other = bed.beside_with(Arc::new(Other), vec![Arc::new(FakeEmbedder)]);
    assert!(!other.has_to_embed().expect("known"));
    let status = other.request_model(&user).expect("requested");
    assert_eq!((status.answers.as_deref(), status.next.as_deref()), (Some("fake"), Some("other")));
    assert_eq!(status.waiting, 10);
    // A process with the old model does not take part.
    assert!(!bed.engine.has_to_embed().expect("known"));
    assert_eq!(bed.engine.embed_waiting(100).expect("nothing to do").done, 0);
    assert!(other.has_to_embed().expect("known"));
    let step = other.embed_waiting(4).expect("embedded");
    assert_eq!((step.done, step.left, step.took_over), (4, 6, None));
    assert_eq!(other.recall(&user, &request(RecallQuestion::new("tide"))).expect("an answer").missing, []);
    let step = other.embed_waiting(100).expect("embedded");
    assert_eq!((step.done, step.left, step.took_over), (6, 0, Some("other".to_owned())));
    assert!(!other.has_to_embed().expect("known"));
    let status = other.model_status(&user).expect("known");
    assert_eq!((status.answers.as_deref(), status.next, status.waiting), (Some("other"), None, 0));
}

#[test]
fn a_request_for_the_model_in_use_cancels_the_change() {
    let bed = bed();
    let user = bed.user();
    for n in 0..5 {
        bed.save(&user, format!("Measurement {n} of the tide").as_str());
    }
    let other = bed.beside_with(Arc::new(Other), vec![Arc::new(FakeEmbedder)]);
    other.request_model(&user).expect("requested");
    assert_eq!(other.embed_waiting(2).expect("embedded").done, 2);
    assert_eq!(bed.engine.request_model(&user).expect("requested").next, None);
    let step = other.embed_waiting(100).expect("nothing to do");
    assert_eq!((step.done, step.took_over), (0, None));
    assert_eq!(bed.store.model().expect("known").as_deref(), Some("fake"));
}

#[test]
fn a_memory_that_the_next_model_cannot_embed_does_not_stop_the_change() {
    let bed = bed();
    let user = bed.user();
    for n in 0..5 {
        bed.save(&user, format!("Measurement {n} of the tide").as_str());
    }
    bed.save(&user, "poison");
    /// `Other`, but it fails like `Choosy`.
    struct ChoosyOther;
    impl Embedder for ChoosyOther {
        fn model(&self) -> Result<String, ModelError> {
            Other.model()
        }
        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
            Choosy(AtomicUsize::new(0)).embed(texts)?;
            Other.embed(texts)
        }
    }
    let other = bed.beside_with(Arc::new(ChoosyOther), vec![Arc::new(FakeEmbedder)]);
    other.request_model(&user).expect("requested");
    let steps: Vec<_> = (0..5).map(|_| other.embed_waiting(100).expect("embedded").took_over).collect();
    assert!(steps.contains(&Some("other".to_owned())), "{steps:?}");
}

/// Two embedders in the place of one, like a setting that is changed while a server runs.
struct Replaced(AtomicUsize);

impl Embedder for Replaced {
    fn pinned(&self) -> Option<Arc<dyn Embedder>> {
        let turn = self.0.fetch_add(1, Ordering::SeqCst);
        Some(if turn.is_multiple_of(2) { Arc::new(FakeEmbedder) } else { Arc::new(Other) })
    }

    fn model(&self) -> Result<String, ModelError> {
        unreachable!("an operation calls only the embedder that it got")
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        unreachable!("an operation calls only the embedder that it got")
    }
}

#[test]
fn an_operation_uses_one_embedder_from_start_to_end() {
    let bed = crate::bed::Bed::embedding(Arc::new(Replaced(AtomicUsize::new(0))));
    let user = bed.user();
    for n in 0..6 {
        bed.save(&user, format!("Measurement {n} of the tide").as_str());
        drop(bed.engine.recall(&user, &request(RecallQuestion::new("tide"))));
        drop(bed.engine.embed_waiting(10));
    }
    let ids = bed.store.unembedded_ids("fake", u32::MAX, 10).expect("ids");
    assert_eq!(bed.store.model().expect("known").as_deref(), Some("fake"));
    for entry in bed.store.entries_after(None, 10, Some("fake")).expect("entries") {
        let text = entry.memory.fields.text.content.clone();
        if ids.contains(&entry.memory.id) {
            continue;
        }
        let made = entry.chunks[0].embedding.clone().expect("a vector");
        assert_eq!(made.vector, FakeEmbedder.embed(&[&text]).expect("a vector")[0]);
    }
}

/// A model that fails on every text with a certain word, and on no other.
struct Choosy(AtomicUsize);

impl Embedder for Choosy {
    fn model(&self) -> Result<String, ModelError> {
        FakeEmbedder.model()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match texts.iter().find(|text| text.contains("poison")) {
            Some(_) => Err(ModelError::Failed { model: "fake".to_owned(), why: "poison".to_owned() }),
            None => FakeEmbedder.embed(texts),
        }
    }
}

#[test]
fn a_memory_that_cannot_be_embedded_holds_up_no_other() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The first of all");
    // No model for a while, so that all of them wait.
    let without = bed.beside();
    for n in 0..100 {
        without.save(&user, SaveRequest::new(format!("poison {n}"))).expect("saved");
    }
    for n in 0..20 {
        without.save(&user, SaveRequest::new(format!("Measurement {n} of the tide"))).expect("saved");
    }
    let choosy = Arc::new(Choosy(AtomicUsize::new(0)));
    let engine = bed.beside_with(choosy.clone(), Vec::new());
    // In small batches, everything that can be embedded is embedded after some time.
    let mut done = 0;
    for _ in 0..6 {
        let step = engine.embed_waiting(32).expect("the others are embedded");
        assert!(step.failed.iter().all(|failed| failed.why.contains("poison")));
        done += step.done;
    }
    assert_eq!(done, 20);
    // A memory that failed a few times is not retried after every command for ever.
    (0..10).for_each(|_| drop(engine.embed_waiting(32).expect("nothing to do")));
    let calls = choosy.0.load(Ordering::SeqCst);
    let step = engine.embed_waiting(32).expect("nothing to do");
    assert_eq!((step.done, step.left, step.failed), (0, 100, Vec::new()));
    assert_eq!(choosy.0.load(Ordering::SeqCst), calls);
    // An explicit request tries again.
    assert_eq!(engine.change_model(1_000).expect("tried").failed.len(), 100);
}

#[test]
fn a_model_takes_over_although_it_fails_on_a_memory() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "poison");
    bed.save(&user, "Measurement of the tide");
    let other = bed.beside_with(Arc::new(Other), Vec::new());
    assert_eq!(other.change_model(9).expect("embedded").took_over, Some("other".to_owned()));
    let engine = bed.beside_with(Arc::new(Choosy(AtomicUsize::new(0))), Vec::new());
    bed.save(&user, "more poison");
    let step = engine.change_model(9).expect("embedded");
    assert_eq!((step.left, step.took_over), (1, Some("fake".to_owned())));
    assert_eq!(step.failed.len(), 1);
}

/// A model that cannot be reached.
struct Down;

impl Embedder for Down {
    fn model(&self) -> Result<String, ModelError> {
        FakeEmbedder.model()
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::Failed { model: "fake".to_owned(), why: "it cannot be reached".to_owned() })
    }
}

#[test]
fn a_model_that_embeds_nothing_is_not_blamed_on_the_memories() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The first of all");
    let without = bed.beside();
    without.save(&user, SaveRequest::new("Measurement of the tide")).expect("saved");
    let down = bed.beside_with(Arc::new(Down), Vec::new());
    for _ in 0..5 {
        refused!(down.embed_waiting(9), Error::Model(_));
    }
    assert_eq!(
        bed.engine.embed_waiting(9).expect("embedded").done,
        1,
        "it is tried as soon as the model is back"
    );
}

#[test]
fn off_is_off_whatever_the_store_holds() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "Backups are kept for thirty days");
    let off = bed.beside_with(Arc::new(NoEmbedder), vec![Arc::new(FakeEmbedder)]);
    let saved = off.save(&user, SaveRequest::new("Logs are kept for ten days")).expect("saved");
    assert_eq!(saved.warnings, []);
    let answer =
        off.recall(&user, &request(RecallQuestion::new("how long are backups kept?"))).expect("an answer");
    assert!(answer.missing.iter().any(|missing| missing.why == "no embedding model is set up"), "{answer:?}");
    assert_eq!(bed.engine.waiting_to_be_embedded(&user).expect("a count"), 1);
}

#[test]
fn a_long_memory_is_embedded_section_by_section_and_nothing_is_done_twice() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, long(30).as_str());
    let mut steps = Vec::new();
    while let step @ tulving_core::EmbeddingProgress { sections: 1.., .. } =
        bed.engine.embed_waiting(8).expect("embedded")
    {
        steps.push((step.sections, step.done, step.left));
    }
    let sections: usize = steps.iter().map(|(sections, ..)| sections).sum();
    assert!(steps.len() >= 4 && sections >= 30, "{steps:?}");
    assert!(steps[..steps.len() - 1].iter().all(|step| *step == (8, 0, 1)), "{steps:?}");
    assert_eq!(steps.last().map(|(_, done, left)| (*done, *left)), Some((1, 0)));
}

/// Returns a text of so many sections, each with its own content.
fn long(sections: usize) -> String {
    let part = |n: usize| format!("## Part {n}\n\n{}\n\n", format!("Sentence about thing {n}. ").repeat(40));
    (0..sections).map(part).collect()
}

#[test]
fn a_long_memory_holds_up_no_short_one_behind_it() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, long(60).as_str());
    let notes = (0..20).map(|n| SaveRequest::new(format!("Measurement {n} of the tide"))).collect();
    bed.engine.save_many(&user, notes).expect("saved");
    let step = bed.engine.embed_waiting(32).expect("embedded");
    assert_eq!((step.done, step.left), (20, 1), "{step:?}");
}

#[test]
fn a_step_that_ends_no_memory_is_not_the_last() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, long(60).as_str());
    let step = bed.engine.embed_waiting(16).expect("embedded");
    assert_eq!((step.done, step.goes_on()), (0, true), "{step:?}");
    let mut steps = 0;
    while bed.engine.change_model(16).expect("embedded").goes_on() {
        steps += 1;
        assert!(steps < 100, "it comes to an end");
    }
    assert_eq!(bed.engine.waiting_to_be_embedded(&user).expect("a count"), 0);
    assert!(!bed.engine.has_to_embed().expect("known"));
}

#[test]
fn what_failed_often_enough_is_nothing_to_embed() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The first of all");
    bed.beside().save(&user, SaveRequest::new("poison")).expect("saved");
    let engine = bed.beside_with(Arc::new(Choosy(AtomicUsize::new(0))), Vec::new());
    assert!(engine.has_to_embed().expect("known"));
    for _ in 0..3 {
        assert!(!engine.embed_waiting(9).expect("tried").goes_on());
    }
    assert!(!engine.has_to_embed().expect("known"));
    let without = bed.beside_with(Arc::new(NoEmbedder), Vec::new());
    assert!(!without.has_to_embed().expect("known"), "who has no model has nothing to do");
}

#[test]
fn one_long_memory_can_be_embedded_by_itself() {
    let bed = bed();
    let user = bed.user();
    let receipt = bed.save(&user, long(40).as_str());
    let which = receipt.memory.id.into();
    let sections = bed.engine.embed_memory(&user, which, 0).expect("a count");
    assert!(sections >= 40, "{sections}");
    assert_eq!(bed.engine.embed_memory(&user, which, 10).expect("embedded"), sections - 10);
    assert_eq!(bed.engine.embed_memory(&user, which, 1_000).expect("embedded"), 0);
    assert_eq!(bed.engine.waiting_to_be_embedded(&user).expect("a count"), 0);
    let off = bed.beside_with(Arc::new(NoEmbedder), Vec::new());
    let silent = off.save(&user, SaveRequest::new(long(41))).expect("saved");
    assert_eq!(off.embed_memory(&user, silent.memory.id.into(), 9).expect("nothing to do"), 0);
    let other = bed.person("other");
    refused!(bed.engine.embed_memory(&other, which, 9), Error::NoMemory { .. });
}
