//! The shadow journaler: which parts of answers it adds to the journal of the day, when, once, and which not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tulving_core::files::Day;
use tulving_core::model::error::LlmError;
use tulving_core::model::job::{SHADOW, SHADOWS};
use tulving_core::model::llm::{LlmName, LlmReply, LlmUsage, Message, Prompt, StopReason, Tokens, ToolCall};
use tulving_core::model::pass::PassFilter;
use tulving_core::model::request::{Caller, TurnFilter, TurnRequest};
use tulving_core::model::turn::{JournalSettings, TurnReadingSettings};
use tulving_core::model::vocabulary::{JobState, PassKind, PassOutcome, Role, TurnRole};
use tulving_core::ports::{Jobs, LanguageModel};
use tulving_core::{Engine, Llm};
use tulving_testkit::embedder::NoEmbedder;
use tulving_testkit::files::InMemoryFiles;
use tulving_testkit::llm::ScriptedLlm;

use super::passes::{passes, undo_until_done};
use crate::bed::{self, Bed, within};

const SAID: &str = "I prefer Postgres on Hetzner, not RDS.";
const ANSWERED: &str = "Understood, Postgres it is.";
const NOTED: &str = "User prefers Postgres on Hetzner, not RDS.";
const SEARCH: &str = r#"{"query": "postgres", "limit": 5}"#;
const REMEMBER: &str = r#"{"content": "User prefers Postgres on Hetzner, not RDS."}"#;

fn listening() -> TurnReadingSettings {
    TurnReadingSettings {
        except: vec!["quiet".to_owned()],
        untrusted: vec!["email".to_owned()],
        journal: JournalSettings { enabled: true, model: None },
        ..TurnReadingSettings::default()
    }
}

fn keeping(bed: &Bed, listening: TurnReadingSettings) -> (Engine, Arc<ScriptedLlm>) {
    let llm = Arc::new(ScriptedLlm::new());
    (bed.beside().with_listening(listening).with_llm(Llm::new(llm.clone(), None)), llm)
}

fn turn(role: TurnRole, content: &str) -> TurnRequest {
    let (channel, source) = (Some("support".to_owned()), Some("tui".to_owned()));
    TurnRequest { channel, role, source, ..bed::turn(content) }
}

/// Logs the words of a user and the answer.
#[track_caller]
fn converse(engine: &Engine, caller: &Caller, said: &str, answered: &str) {
    engine.log_turn(caller, &turn(TurnRole::User, said)).expect("logged");
    engine.log_turn(caller, &turn(TurnRole::Assistant, answered)).expect("logged");
}

/// Runs all jobs that ask a model, and returns their number.
#[track_caller]
fn think(engine: &Engine) -> usize {
    let mut done = 0;
    while let Some(processed) = engine.think_waiting("test").expect("thought") {
        assert_eq!((processed.job.state, processed.trouble), (JobState::Done, None));
        done += 1;
    }
    done
}

fn journal(engine: &Engine, caller: &Caller) -> String {
    let today = Day::of(engine.now());
    engine.journal(caller, today).expect("read").map_or_else(String::new, |journal| journal.content)
}

fn jobs(bed: &Bed) -> Vec<tulving_core::model::job::Job> {
    Jobs::jobs(&*bed.store, &[], &[SHADOW], 999).expect("jobs")
}

fn usage(bed: &Bed, engine: &Engine) -> Vec<LlmUsage> {
    engine.usage(&bed.user(), 1).expect("told").usage
}

/// A model that searches when it is asked, and then asks to remember, any number of times.
#[derive(Default)]
struct SteadyLlm {
    asked: AtomicUsize,
    /// The files to break once, after the model has asked to remember.
    breaks: Mutex<Option<Arc<InMemoryFiles>>>,
}

impl LanguageModel for SteadyLlm {
    fn name(&self) -> Option<LlmName> {
        Some(LlmName { provider: "steady".to_owned(), model: "steady".to_owned() })
    }

    fn complete(&self, prompt: &Prompt) -> Result<LlmReply, LlmError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let searched = prompt.messages.iter().any(|message| matches!(message, Message::ToolResult { .. }));
        if let Some(files) = searched.then(|| self.breaks.lock().expect("whole").take()).flatten() {
            files.set_broken(true);
        }
        let (name, arguments) = if searched { ("remember", REMEMBER) } else { ("memory_search", SEARCH) };
        let calls = vec![ToolCall::written("c".to_owned(), name.to_owned(), arguments)];
        Ok(LlmReply { text: String::new(), calls, tokens: Tokens::default(), ended: StopReason::ToolCalls })
    }
}

#[test]
fn what_is_new_of_an_answer_comes_into_the_journal_of_the_day() {
    let bed = Bed::new();
    let model = Some("cheap".to_owned());
    let (engine, llm) = keeping(
        &bed,
        TurnReadingSettings { journal: JournalSettings { enabled: true, model }, ..listening() },
    );
    let user = bed.user();
    engine.remember(&user, "The demo went well.").expect("noted");
    converse(&engine, &user, SAID, ANSWERED);
    assert!(engine.has_to_think().expect("known"));
    assert_eq!(
        (llm.asked().len(), journal(&engine, &user).lines().count()),
        (0, 1),
        "logging waits for nobody"
    );
    assert_eq!(
        engine.process_waiting("test").expect("nothing"),
        None,
        "what is quick does not wait for it either"
    );
    llm.answer_call("memory_search", SEARCH);
    llm.answer_call("remember", REMEMBER);
    assert_eq!(think(&engine), 1);
    assert_eq!(journal(&engine, &user), format!("The demo went well.\n{NOTED}\n"), "a plain line");
    assert_eq!(engine.gleaned().journaled, 1);
    assert_eq!(jobs(&bed), [], "nothing is left of it");
    let passes = engine.passes(&user, &PassFilter { limit: 9, ..PassFilter::default() }).expect("passes");
    let [pass] = &passes[..] else { panic!("one pass") };
    assert_eq!(
        (pass.kind, pass.outcome, pass.by),
        (PassKind::Shadow, PassOutcome::Done, user.viewer.principal)
    );
    assert_eq!(pass.model.as_deref(), Some("cheap of script"));
    assert_eq!(pass.note.as_deref(), Some("turn 2 (tui); author auto"));
    let [row] = &usage(&bed, &engine)[..] else { panic!("one row") };
    assert_eq!((row.model.as_str(), row.pass.as_str(), row.calls), ("cheap", SHADOW, 2));
    let asked = llm.asked();
    assert_eq!(asked.len(), 2, "two rounds");
    assert!(asked.iter().all(|prompt| prompt.model.as_deref() == Some("cheap") && prompt.tools.len() == 2));
    let Message::User(shown) = &asked[0].messages[1] else { panic!("a question") };
    assert!(shown.contains(SAID) && shown.contains(ANSWERED), "{shown}");
    // The next one starts without it.
    converse(&engine, &user, "And the cache runs on port 6380.", "Port 6380 for the cache, fine.");
    llm.answer_text("nothing");
    assert_eq!(think(&engine), 1);
    assert_eq!(llm.asked()[2].messages.len(), 2, "stateless");
    assert_eq!(journal(&engine, &user).lines().count(), 2);
}

#[test]
fn only_answers_to_users_are_looked_at() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    let log = |caller: &Caller, role, source: &str, channel: &str| {
        let source = Some(source.to_owned());
        let channel = Some(channel.to_owned());
        engine.log_turn(caller, &TurnRequest { source, channel, ..turn(role, SAID) }).expect("logged");
    };
    let asked_for = || jobs(&bed).len();
    for source in ["cron", "Heartbeat", "scheduler", "pass", "system", "email"] {
        log(&user, TurnRole::User, source, "a");
        log(&user, TurnRole::Assistant, source, "a");
    }
    log(&user, TurnRole::User, "tui", "b");
    log(&user, TurnRole::System, "tui", "b");
    let quiet = within(&user, bed.hub("quiet"));
    log(&quiet, TurnRole::User, "tui", "b");
    log(&quiet, TurnRole::Assistant, "tui", "b");
    assert_eq!(asked_for(), 0);
    // Answers in a channel where nobody asked, and where only clocks and untrusted sources did.
    log(&user, TurnRole::Assistant, "tui", "c");
    log(&user, TurnRole::Assistant, "tui", "a");
    assert_eq!(asked_for(), 2);
    assert_eq!((think(&engine), llm.asked().len()), (2, 0), "which is found out when it is read");
    converse(&engine, &user, "Good morning!", "Good morning! How can I help?");
    converse(&engine, &user, "Thanks a lot", "You're welcome");
    assert_eq!((think(&engine), llm.asked().len()), (2, 0), "greetings are not asked about");
    log(&user, TurnRole::Assistant, "tui", "b");
    llm.answer_text("nothing");
    assert_eq!((think(&engine), llm.asked().len()), (1, 1));
    assert_eq!(journal(&engine, &user), "");
}

#[test]
fn off_or_without_a_model_nothing_is_asked_for_and_a_change_holds_at_once() {
    let bed = Bed::new();
    let user = bed.user();
    let (engine, llm) = keeping(&bed, TurnReadingSettings::default());
    converse(&engine, &user, SAID, ANSWERED);
    assert!(!engine.thinks() && think(&engine) == 0);
    let alone = bed.beside().with_listening(listening());
    converse(&alone, &user, SAID, ANSWERED);
    assert!(!alone.thinks() && think(&alone) == 0);
    assert_eq!(jobs(&bed), []);
    engine.listen(listening());
    converse(&engine, &user, SAID, ANSWERED);
    assert_eq!(jobs(&bed).len(), 1);
    engine.listen(TurnReadingSettings::default());
    assert_eq!(
        (think(&engine), jobs(&bed).len(), llm.asked().len()),
        (0, 1, 0),
        "off is off for what waits too"
    );
    engine.listen(listening());
    llm.answer_call("remember", REMEMBER);
    llm.answer_text("nothing");
    assert_eq!(think(&engine), 1);
    assert_eq!(journal(&engine, &user), format!("{NOTED}\n"));
}

#[test]
fn the_oldest_that_waits_is_dropped_and_counted_and_no_turn_is() {
    let bed = Bed::new();
    let (engine, _) = keeping(&bed, listening());
    let user = bed.user();
    for n in 0..SHADOWS + 6 {
        converse(&engine, &user, &format!("Part {n} arrived."), "Good to know.");
    }
    let waiting = jobs(&bed);
    assert_eq!(waiting.len(), SHADOWS);
    let filter = TurnFilter { last: 1_000, ..TurnFilter::default() };
    let turns = engine.turns(&user, &filter).expect("turns").turns;
    assert_eq!(turns.len(), 2 * (SHADOWS + 6));
    let first = waiting.iter().map(|job| job.turn().expect("a turn").1).min().expect("one");
    assert_eq!(turns.iter().position(|turn| turn.id == first), Some(13), "the oldest are gone");
    let [row] = &usage(&bed, &engine)[..] else { panic!("one row") };
    assert_eq!((row.pass.as_str(), row.calls, row.tokens(), row.dropped), (SHADOW, 0, 0, 6));
}

#[test]
fn a_pass_that_is_begun_while_it_is_to_be_dropped_costs_no_turn() {
    let bed = Bed::new();
    let llm = Arc::new(ScriptedLlm::new());
    let engine = bed.shipped(Arc::new(NoEmbedder)).with_listening(listening()).with_llm(Llm::new(llm, None));
    let user = bed.user();
    for n in 0..SHADOWS {
        converse(&engine, &user, &format!("Part {n} arrived."), "Good to know.");
    }
    engine.log_turn(&user, &turn(TurnRole::User, SAID)).expect("logged");
    let now = bed.engine.now();
    bed.store.before_next_apply(move |store| {
        bed::take_job(&*store, SHADOW, "other", now, Duration::from_secs(60)).expect("one");
    });
    let logged = engine.log_turn(&user, &turn(TurnRole::Assistant, ANSWERED)).expect("logged");
    assert_eq!(logged.turn.position, 2 * SHADOWS as u64 + 2);
    assert_eq!(jobs(&bed).len(), SHADOWS + 1, "one runs, and the others fit");
}

#[test]
fn what_was_written_before_a_process_ended_is_not_written_again() {
    let bed = Bed::new();
    let steady = Arc::new(SteadyLlm::default());
    let llm = Llm::new(steady.clone(), None);
    let engine = bed.shipped(Arc::new(NoEmbedder)).with_listening(listening()).with_llm(llm);
    let user = bed.user();
    converse(&engine, &user, SAID, ANSWERED);
    let mut at = 1;
    let mut written_at = None;
    loop {
        let before = steady.asked.load(Ordering::SeqCst);
        let was_written = !journal(&engine, &user).is_empty();
        bed.store.fail_at(at);
        let done = engine.think_waiting("test");
        let failed = bed.store.has_failed();
        bed.store.fail_at(0);
        let content = journal(&engine, &user);
        assert!(content.is_empty() || content == format!("{NOTED}\n"), "whole, and once: {content}");
        if was_written {
            assert_eq!(steady.asked.load(Ordering::SeqCst), before, "nobody is asked again");
            written_at.get_or_insert(at);
        }
        if done.is_ok_and(|done| done.is_some_and(|done| done.job.state == JobState::Done)) && !failed {
            break;
        }
        assert!(at < 300);
        at += u64::from(failed);
        bed.clock.advance(Duration::from_secs(3_600));
        if let Some(job) = Jobs::jobs(&*bed.store, &[JobState::Dead], &[], 9).expect("jobs").first() {
            engine.retry_job(&user, job.id).expect("again");
        }
    }
    assert!(written_at.is_some(), "a process ended between the entry and the end of its job");
    assert_eq!(journal(&engine, &user), format!("{NOTED}\n"));
    assert_eq!(jobs(&bed), []);
}

#[test]
fn what_was_only_about_to_be_written_is_done_again() {
    let bed = Bed::new();
    let breaks = Mutex::new(Some(bed.files.clone()));
    let llm = Llm::new(Arc::new(SteadyLlm { breaks, ..SteadyLlm::default() }), None);
    let engine = bed.shipped(Arc::new(NoEmbedder)).with_listening(listening()).with_llm(llm);
    let user = bed.user();
    converse(&engine, &user, SAID, ANSWERED);
    // The process ends between its note of a pending write and the write.
    let done = engine.think_waiting("test").expect("thought").expect("one");
    assert_eq!(done.job.state, JobState::Waiting);
    bed.files.set_broken(false);
    let passes = |engine: &Engine| engine.passes(&user, &PassFilter { limit: 9, ..PassFilter::default() });
    let [pass] = &passes(&engine).expect("passes")[..] else { panic!("one pass") };
    assert_eq!((pass.outcome, journal(&engine, &user).as_str()), (PassOutcome::Begun, ""));
    bed.clock.advance(Duration::from_secs(60));
    assert_eq!(think(&engine), 1);
    assert_eq!(journal(&engine, &user), format!("{NOTED}\n"));
    let [pass] = &passes(&engine).expect("passes")[..] else { panic!("one pass") };
    assert_eq!((pass.outcome, pass.acts.len()), (PassOutcome::Done, 1));
}

#[test]
fn a_model_that_fails_is_asked_again_later_and_then_given_up() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    converse(&engine, &user, SAID, ANSWERED);
    for state in [JobState::Waiting, JobState::Waiting, JobState::Dead] {
        let done = engine.think_waiting("test").expect("thought").expect("one");
        assert_eq!((done.job.state, done.trouble.as_deref()), (state, Some("llm_failing")));
        assert_eq!(done.job.last_error.as_deref(), Some("llm_failing"));
        assert_eq!(engine.think_waiting("test").expect("not yet"), None);
        bed.clock.advance(Duration::from_secs(60));
    }
    assert_eq!((llm.asked().len(), journal(&engine, &user).as_str()), (3, ""));
    engine.retry_job(&user, jobs(&bed)[0].id).expect("again");
    llm.answer_call("remember", REMEMBER);
    llm.answer(Err(LlmError::Timeout { url: "x".to_owned(), within: Duration::from_secs(1) }));
    assert_eq!(think(&engine), 1, "what was asked for before it failed holds");
    assert_eq!(journal(&engine, &user), format!("{NOTED}\n"));
}

#[test]
fn where_the_budget_is_spent_it_waits_and_costs_no_attempt() {
    let bed = Bed::new();
    let llm = Arc::new(ScriptedLlm::new());
    let engine = bed.beside().with_listening(listening()).with_llm(Llm::new(llm.clone(), Some(10)));
    let user = bed.user();
    llm.answer_text("it costs 15");
    engine.ask("test", &Prompt::new("a", "b")).expect("answered");
    converse(&engine, &user, SAID, ANSWERED);
    for _ in 0..5 {
        let done = engine.think_waiting("test").expect("thought").expect("one");
        assert_eq!((done.job.state, done.job.attempts), (JobState::Waiting, 0));
        assert_eq!(done.trouble.as_deref(), Some("llm_budget_spent"));
        bed.clock.advance(Duration::from_secs(3_600));
    }
    assert_eq!(llm.asked().len(), 1);
    bed.clock.advance(Duration::from_secs(24 * 3_600));
    llm.answer_call("remember", REMEMBER);
    llm.answer_text("done");
    assert_eq!(think(&engine), 1);
    assert_eq!(journal(&engine, &user), format!("{NOTED}\n"), "of the day on which it was noted");
}

#[test]
fn it_is_noted_in_the_space_of_the_turn_by_who_logged_it() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let hub = bed.hub("hub");
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, hub, Role::Writer));
    engine.remember(&bed.user(), "Postgres is what the user likes, in another space.").expect("noted");
    converse(&engine, &ann, SAID, ANSWERED);
    llm.answer_call("memory_search", SEARCH);
    llm.answer_call("remember", REMEMBER);
    assert_eq!(think(&engine), 1);
    let Some(Message::ToolResult { content, .. }) = llm.asked()[1].messages.last().cloned() else {
        panic!("a result")
    };
    assert_eq!(content, "No journal entry holds \"postgres\".", "nothing of another space is found");
    assert_eq!(journal(&engine, &bob), format!("{NOTED}\n"));
    assert!(!journal(&engine, &bed.user()).contains("Hetzner"));
    // A person who may no longer write there notes nothing there.
    converse(&engine, &ann, "The cache runs on port 6380.", "Port 6380, fine.");
    bed.engine.set_member(&bed.user(), "hub", "ann", Role::Reader).expect("a reader");
    assert_eq!((think(&engine), llm.asked().len()), (1, 2), "and asks nobody");
    assert_eq!(journal(&engine, &bob), format!("{NOTED}\n"));
    assert_eq!(jobs(&bed), []);
}

#[test]
fn a_model_that_means_harm_writes_nothing_but_lines_of_today() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    bed.edit(&user, "memory/MEMORY.md", "# Always\n\nThe user likes Postgres.\n");
    bed.edit(&user, "memory/2020-01-01.md", "Postgres was new then.\n");
    let before = bed.files.all();
    let huge = format!(r#"{{"content": "User prefers Postgres {}"}}"#, "!".repeat(900_000));
    for (name, arguments) in [
        ("remember", r#"{"content": "User prefers Postgres on Hetzner", "path": "../../../etc/passwd"}"#),
        ("remember", r#"{"content": "User prefers Postgres on Hetzner", "date": "2020-01-01"}"#),
        ("remember", r#"{"content": "../MEMORY.md"}"#),
        ("remember", huge.as_str()),
        ("remember", "{\"content\": "),
        ("write_file", r#"{"path": "memory/MEMORY.md", "content": "Postgres"}"#),
        ("memory_search", r#"{"query": "../../MEMORY.md", "limit": 18446744073709551615}"#),
    ] {
        converse(&engine, &user, SAID, ANSWERED);
        llm.answer_call(name, arguments);
        llm.answer_call(name, arguments);
        let asked = llm.asked().len();
        assert_eq!(think(&engine), 1);
        assert!(llm.asked().len() <= asked + 2, "a loop ends");
        assert_eq!(bed.files.all(), before, "{name}");
        // Leftover scripted answers must not answer the next question.
        while llm.asked().len() < asked + 2 {
            let _ = llm.complete(&Prompt::new("", ""));
        }
    }
    assert_eq!(usage(&bed, &engine).iter().map(|row| row.failures).sum::<u64>(), 0);
}

#[test]
fn a_note_whose_first_word_is_capitalised_is_written_and_every_drop_is_in_the_pass() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    converse(
        &engine,
        &user,
        "let's take option B for the login page",
        "Good, option B for the login page then.",
    );
    llm.answer_call("remember", r#"{"content": "Decided on option B for the login page."}"#);
    llm.answer_call("remember", r#"{"content": "Carla designs the login page."}"#);
    assert_eq!(think(&engine), 1);
    assert_eq!(journal(&engine, &user), "Decided on option B for the login page.\n");
    let filter = PassFilter { limit: 9, ..PassFilter::default() };
    let passes = engine.passes(&user, &filter).expect("passes");
    let note = passes[0].note.as_deref().expect("a note");
    assert!(
        note.ends_with(
            "; 1 note left out: the exchange does not say so; use its own words, names and numbers"
        ),
        "{note}"
    );
    converse(&engine, &user, SAID, ANSWERED);
    llm.answer_call("remember", r#"{"content": "Carla prefers Postgres on Hetzner."}"#);
    llm.answer_call("remember", r#"{"content": "Carla prefers Postgres on Hetzner."}"#);
    assert_eq!(think(&engine), 1);
    let passes = engine.passes(&user, &filter).expect("passes");
    assert_eq!(
        (passes.len(), passes[0].outcome),
        (2, PassOutcome::Nothing),
        "also where nothing was written"
    );
    let note = passes[0].note.as_deref().expect("a note");
    assert!(note.contains("2 notes left out: ") && !note.contains("Carla"), "{note}");
    assert_eq!(jobs(&bed), []);
}

#[test]
fn a_pass_is_shown_and_taken_back() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    engine.remember(&user, "Before.").expect("noted");
    converse(&engine, &user, SAID, "Postgres it is, and the cache runs on port 6380.");
    llm.answer_call("remember", REMEMBER);
    llm.answer_call("remember", r#"{"content": "The cache runs on port 6380."}"#);
    assert_eq!(think(&engine), 1);
    engine.remember(&user, "After.").expect("noted");
    assert_eq!(journal(&engine, &user), format!("Before.\n{NOTED}\nThe cache runs on port 6380.\nAfter.\n"));
    let passes = engine.passes(&user, &PassFilter { limit: 9, ..PassFilter::default() }).expect("passes");
    let shown = engine.pass(&user, passes[0].id).expect("a pass");
    assert!(shown.described.iter().all(|act| act.text.starts_with("noted an entry in memory/")), "{shown:?}");
    let undone = engine.undo(&user, passes[0].id, false).expect("undone");
    assert_eq!(undone.taken_back(), 2);
    assert_eq!(journal(&engine, &user), "Before.\nAfter.\n");
}

#[test]
fn entries_that_an_undo_took_out_before_it_was_cut_off_are_found_gone() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    converse(&engine, &user, SAID, "Postgres it is, and the cache runs on port 6380.");
    llm.answer_call("remember", REMEMBER);
    llm.answer_call("remember", r#"{"content": "The cache runs on port 6380."}"#);
    assert_eq!(think(&engine), 1);
    engine.remember(&user, "After.").expect("noted");
    let pass = passes(&engine, &user).remove(0).id;
    let undone = undo_until_done(&bed, &user, pass);
    assert_eq!((undone.taken_back(), undone.pass.outcome), (2, PassOutcome::Undone));
    assert_eq!(journal(&engine, &user), "After.\n");
}

#[test]
fn an_entry_that_somebody_took_out_by_hand_is_not_taken_back() {
    let bed = Bed::new();
    let (engine, llm) = keeping(&bed, listening());
    let user = bed.user();
    converse(&engine, &user, SAID, "Postgres it is.");
    llm.answer_call("remember", REMEMBER);
    assert_eq!(think(&engine), 1);
    let name = engine.journals(&user).expect("journals").journals.remove(0).path;
    bed.edit(&user, &name, "Something else.\n");
    let undone = engine.undo(&user, passes(&engine, &user).remove(0).id, false).expect("looked at");
    assert_eq!(undone.steps[0].stays.as_deref(), Some("the entry was edited or removed since"));
}
