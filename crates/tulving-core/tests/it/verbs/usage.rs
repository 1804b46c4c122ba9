//! The cost of the language model: what may be spent, and what was.

use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::error::{Error, Invalid, LlmError};
use tulving_core::model::llm::{LlmUsage, Prompt, Tokens};
use tulving_core::model::vocabulary::Role;
use tulving_core::{Engine, Llm};
use tulving_testkit::embedder::NoEmbedder;
use tulving_testkit::llm::ScriptedLlm;

use crate::bed::{Bed, refused};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn with_llm(bed: &Bed, tokens_per_day: Option<u64>) -> (Engine, Arc<ScriptedLlm>) {
    let llm = Arc::new(ScriptedLlm::new());
    (bed.beside().with_llm(Llm::new(llm.clone(), tokens_per_day)), llm)
}

fn prompt() -> Prompt {
    Prompt::new("Be brief.", "How are you?")
}

fn usage(bed: &Bed, engine: &Engine, days: i64) -> Vec<LlmUsage> {
    engine.usage(&bed.user(), days).expect("told").usage
}

#[test]
fn without_a_model_nobody_is_asked() {
    let bed = Bed::new();
    refused!(bed.engine.ask("test", &prompt()), Error::Llm(LlmError::None));
    let described = bed.engine.usage(&bed.user(), 7).expect("told");
    assert_eq!((described.llm, described.today, described.usage.len()), (None, 0, 0));
}

#[test]
fn what_is_spent_is_kept_by_day_model_and_pass() {
    let bed = Bed::new();
    let (engine, llm) = with_llm(&bed, None);
    for text in ["one", "two", "three"] {
        llm.answer_text(text);
    }
    assert_eq!(engine.ask("shadow", &prompt()).expect("answered").text, "one");
    engine.ask("shadow", &prompt()).expect("answered");
    let large = Prompt { model: Some("large".to_owned()), ..prompt() };
    engine.ask("consolidate", &large).expect("answered");
    refused!(engine.ask("shadow", &prompt()), Error::Llm(LlmError::Failing { .. }));
    let row = |usage: &LlmUsage| {
        (usage.model.clone(), usage.pass.clone(), usage.calls, usage.failures, usage.tokens())
    };
    let rows: Vec<_> = usage(&bed, &engine, 1).iter().map(row).collect();
    let named = |model: &str, pass: &str| (model.to_owned(), pass.to_owned());
    let ((large, consolidate), (small, shadow)) =
        (named("large", "consolidate"), named("scripted", "shadow"));
    assert_eq!(rows, [(large, consolidate, 1, 0, 15), (small, shadow, 3, 1, 30)]);
    bed.clock.advance(DAY);
    assert_eq!(usage(&bed, &engine, 1), []);
    assert_eq!(usage(&bed, &engine, 2).len(), 2);
    assert_eq!(llm.asked().len(), 4);
}

#[test]
fn a_budget_that_is_spent_is_an_error_before_any_call_of_any_process() {
    let bed = Bed::new();
    let ((engine, llm), (other, other_llm)) = (with_llm(&bed, Some(16)), with_llm(&bed, Some(16)));
    for _ in 0..2 {
        llm.answer_text("well");
    }
    other_llm.answer_text("well");
    engine.ask("shadow", &prompt()).expect("within the budget");
    other.ask("shadow", &prompt()).expect("one that was not spent is spent to its end");
    for engine in [&engine, &other] {
        let spent = Error::Llm(LlmError::BudgetSpent { spent: 30, limit: 16 });
        let error = engine.ask("shadow", &prompt()).expect_err("spent");
        assert_eq!(error.to_string(), spent.to_string());
    }
    assert_eq!((llm.asked().len(), other_llm.asked().len()), (1, 1));
    bed.clock.advance(DAY);
    engine.ask("shadow", &prompt()).expect("a new day");
}

#[test]
fn an_answer_that_never_came_may_have_cost_what_was_asked() {
    let bed = Bed::new();
    let (engine, llm) = with_llm(&bed, None);
    let url = || "http://host".to_owned();
    llm.answer(Err(LlmError::Timeout { url: url(), within: DAY }));
    llm.answer(Err(LlmError::Unreachable { url: url(), why: String::new(), refused: true }));
    llm.answer(Err(LlmError::CircuitOpen { failures: 5, left: DAY, why: String::new() }));
    for _ in 0..3 {
        engine.ask("shadow", &prompt()).expect_err("no answer");
    }
    let [row] = &usage(&bed, &engine, 1)[..] else { panic!("one row") };
    assert_eq!((row.calls, row.failures), (2, 2), "where nobody was asked, nothing is counted");
    assert_eq!((row.tokens_in, row.tokens_out), (prompt().estimate(), 0));
}

#[test]
fn a_service_that_lies_about_its_tokens_breaks_no_sum() {
    let bed = Bed::new();
    let (engine, llm) = with_llm(&bed, Some(1_000));
    llm.answer_text("well");
    let mut lie = engine.ask("shadow", &prompt()).expect("answered");
    lie.tokens = Tokens { input: u64::MAX, output: u64::MAX };
    llm.answer(Ok(lie));
    engine.ask("shadow", &prompt()).expect("answered");
    refused!(engine.ask("shadow", &prompt()), Error::Llm(LlmError::BudgetSpent { .. }));
}

#[test]
fn looking_at_it_takes_an_admin_of_the_org_and_days_that_make_sense() {
    let bed = Bed::new();
    let member = bed.member("member", bed.hub("hub"), Role::Admin);
    refused!(bed.engine.usage(&member, 7), Error::Denied { .. });
    for days in [0, -1, 3_661, i64::MIN, i64::MAX] {
        refused!(bed.engine.usage(&bed.user(), days), Error::Invalid(Invalid::OutsideRange { .. }));
    }
}

#[test]
fn where_the_store_fails_nothing_is_asked_or_the_answer_is_not_given() {
    let bed = Bed::new();
    let llm = Arc::new(ScriptedLlm::new());
    llm.answer_text("well");
    llm.answer_text("well");
    let engine = bed.shipped(Arc::new(NoEmbedder)).with_llm(Llm::new(llm.clone(), Some(1_000)));
    bed.store.fail_at(1);
    refused!(engine.ask("shadow", &prompt()), Error::Store(_));
    assert_eq!(llm.asked().len(), 0, "what cannot be bounded is not spent");
    bed.store.fail_at(2);
    refused!(engine.ask("shadow", &prompt()), Error::Store(_));
    assert_eq!(llm.asked().len(), 1);
}
