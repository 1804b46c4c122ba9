//! The changes of passes are shown and undone, as far as they still exist, and only to those who may.

use tulving_core::Engine;
use tulving_core::model::answer::Warning;
use tulving_core::model::error::Error;
use tulving_core::model::id::PassId;
use tulving_core::model::pass::{Pass, PassAct, PassFilter, PassUndoResult};
use tulving_core::model::request::{AuditFilter, Caller, ForgetMode, ForgetRequest, TurnRequest};
use tulving_core::model::turn::{TURNS_BETWEEN_PRUNES, TURNS_KEPT, TurnReadingSettings};
use tulving_core::model::vocabulary::{AuditAct, PassKind, PassOutcome, Role};

use super::proactive::all;
use crate::bed::{Bed, refused, said, turn, within};

const TWO: &str = "I prefer tea over coffee. My wife Anna works at the city library.";

/// Creates a bed, and an engine on it that listens.
fn ears() -> (Bed, Engine) {
    let bed = Bed::new();
    let listening = TurnReadingSettings {
        enabled: true,
        untrusted: vec!["email".to_owned()],
        ..TurnReadingSettings::default()
    };
    let engine = bed.beside().with_listening(listening);
    (bed, engine)
}

#[track_caller]
fn hear(engine: &Engine, caller: &Caller, content: &str, source: &str) -> Pass {
    let turn = TurnRequest { source: Some(source.to_owned()), ..turn(content) };
    engine.log_turn(caller, &turn).expect("logged");
    while engine.process_waiting("test").expect("heard").is_some() {}
    passes(engine, caller).into_iter().next().expect("a pass")
}

pub(super) fn passes(engine: &Engine, caller: &Caller) -> Vec<Pass> {
    let filter = PassFilter { space: Some(caller.space), limit: 100, ..PassFilter::default() };
    engine.passes(caller, &filter).expect("passes")
}

/// Undoes a pass repeatedly on a store that fails one call later each time, until none fails.
#[track_caller]
pub(super) fn undo_until_done(bed: &Bed, caller: &Caller, pass: PassId) -> PassUndoResult {
    for at in 1..100 {
        bed.store.fail_at(at);
        let undone = bed.engine.undo(caller, pass, false);
        bed.store.fail_at(0);
        match undone {
            Ok(undone) => {
                assert!(at > 1, "it asks the store");
                return undone;
            }
            Err(error) => assert!(matches!(error, Error::Store(_)), "{error}"),
        }
    }
    panic!("it does not end");
}

fn described(undone: &PassUndoResult) -> Vec<(&str, Option<&str>)> {
    let short = |text: &'static str, step: &str| step.starts_with(text);
    let steps = undone.steps.iter().map(|step| {
        let what = ["saved", "forgot", "linked", "noted", "rewrote"].into_iter();
        (what.into_iter().find(|word| short(word, &step.text)).unwrap_or("?"), step.stays.as_deref())
    });
    steps.collect()
}

#[test]
fn a_pass_is_one_act_that_is_shown_and_taken_back() {
    let (bed, engine) = ears();
    let user = bed.user();
    let pass = hear(&engine, &user, TWO, "tui");
    assert_eq!((pass.kind, pass.outcome, pass.acts.len()), (PassKind::Proactive, PassOutcome::Done, 2));
    assert_eq!(pass.note.as_deref(), Some("turn 1 (tui)"));
    let memories = all(&engine, &user);
    assert_eq!(memories.len(), 2);
    assert!(memories.iter().all(|memory| memory.provenance.pass == Some(pass.id)));
    let shown = engine.pass(&user, pass.id).expect("shown");
    assert!(shown.described[0].text.starts_with("saved #1 (User prefers tea"), "{:?}", shown.described);
    let predicted = engine.undo(&user, pass.id, true).expect("foreseen");
    assert_eq!((predicted.taken_back(), predicted.pass.outcome), (2, PassOutcome::Done));
    assert_eq!(all(&engine, &user).len(), 2, "nothing was changed");
    let undone = engine.undo(&user, pass.id, false).expect("undone");
    assert_eq!(described(&undone), [("saved", None), ("saved", None)]);
    assert_eq!(undone.pass.outcome, PassOutcome::Undone);
    assert!(all(&engine, &user).is_empty());
    refused!(engine.undo(&user, pass.id, false), Error::PassUndone { .. });
    refused!(engine.undo(&user, pass.id, true), Error::PassUndone { .. });
    let audit = engine.audit(&user, &AuditFilter { last: 10, ..AuditFilter::default() }).expect("the audit");
    let acts: Vec<AuditAct> = audit.iter().map(|entry| entry.act).collect();
    assert_eq!(acts, [AuditAct::Undone, AuditAct::Forgot, AuditAct::Forgot]);
    engine.restore(&user, memories[0].id.into()).expect("it can be restored");
}

#[test]
fn erasing_what_was_noted_of_a_turn_says_that_the_turn_stays() {
    let (bed, engine) = ears();
    let user = bed.user();
    hear(&engine, &user, TWO, "tui");
    let memories = all(&engine, &user);
    let forget = |which: usize, mode| {
        let request = ForgetRequest { mode, reason: None };
        engine.forget(&user, memories[which].id.into(), &request).expect("forgotten").warnings
    };
    assert_eq!(forget(0, ForgetMode::Soft), [], "it is still there itself");
    assert_eq!(forget(0, ForgetMode::Hard), [Warning::TurnsStay { turns: vec![1] }]);
    for n in 0..TURNS_KEPT + TURNS_BETWEEN_PRUNES {
        engine.log_turn(&user, &turn(&format!("Hello number {n}"))).expect("logged");
    }
    assert_eq!(forget(1, ForgetMode::Hard), [], "the log has it no more");
    let own = bed.save(&user, "I like cocoa");
    let hard = ForgetRequest { mode: ForgetMode::Hard, reason: None };
    assert_eq!(engine.forget(&user, own.memory.id.into(), &hard).expect("erased").warnings, []);
}

#[test]
fn what_somebody_changed_since_stays_and_is_said() {
    let (bed, engine) = ears();
    let user = bed.user();
    let pass = hear(&engine, &user, TWO, "tui");
    let memories = all(&engine, &user);
    engine.update(&user, memories[0].id.into(), &said("User prefers green tea")).expect("edited");
    let undone = engine.undo(&user, pass.id, false).expect("undone");
    assert_eq!(described(&undone), [("saved", None), ("saved", Some("it has been edited since"))]);
    let left = all(&engine, &user);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].fields.text.content, "User prefers green tea");
}

#[test]
fn what_was_pinned_accepted_or_forgotten_since_stays() {
    let (bed, engine) = ears();
    let user = bed.user();
    let pass = hear(&engine, &user, TWO, "email");
    let waiting = engine.review(&user, 10, None).expect("in review").memories;
    assert_eq!(waiting.len(), 2);
    engine.accept(&user, waiting[0].id.into()).expect("accepted");
    engine.reject(&user, waiting[1].id.into()).expect("rejected");
    let undone = engine.undo(&user, pass.id, false).expect("looked at");
    let mut stays: Vec<&str> = described(&undone).into_iter().filter_map(|(_, why)| why).collect();
    stays.sort_unstable();
    assert_eq!(stays, ["it has been accepted since", "it has been forgotten since"]);
    assert_eq!(undone.pass.outcome, PassOutcome::Done, "nothing was taken back");
    engine.pin(&user, waiting[0].id.into()).expect("pinned");
    let pinned = engine.undo(&user, pass.id, true).expect("looked at");
    assert!(described(&pinned).contains(&("saved", Some("it has been pinned since"))));
}

#[test]
fn what_is_gone_for_good_is_told_no_more() {
    let (bed, engine) = ears();
    let user = bed.user();
    let pass = hear(&engine, &user, TWO, "tui");
    for memory in all(&engine, &user) {
        bed.forget(&user, memory.id, ForgetMode::Hard);
    }
    assert!(engine.pass(&user, pass.id).expect("shown").described.is_empty());
    assert!(engine.undo(&user, pass.id, false).expect("looked at").steps.is_empty());
}

#[test]
fn a_pass_is_told_to_those_who_may_see_what_it_is_about() {
    let (bed, engine) = ears();
    let kitchen = bed.hub("kitchen");
    let ana = bed.member("ana", kitchen, Role::Writer);
    let bo = bed.member("bo", kitchen, Role::Reader);
    let stranger = bed.person("stranger");
    let shared = hear(&engine, &ana, TWO, "tui");
    assert_eq!(passes(&engine, &bo).len(), 1, "it is the members'");
    refused!(engine.undo(&bo, shared.id, false), Error::Denied { need: Role::Writer, .. });
    refused!(engine.undo(&bo, shared.id, true), Error::Denied { .. });
    for nobody in [&stranger, &within(&stranger, kitchen)] {
        assert!(passes(&engine, nobody).is_empty());
        refused!(engine.pass(nobody, shared.id), Error::NoPass { .. });
        refused!(engine.undo(nobody, shared.id, false), Error::NoPass { .. });
    }
    // Private since then: nobody else learns that it existed.
    let memory = all(&engine, &ana).remove(0);
    let private = tulving_core::model::request::UpdateRequest {
        boundary: Some(tulving_core::model::vocabulary::Boundary::Private),
        ..Default::default()
    };
    engine.update(&ana, memory.id.into(), &private).expect("private");
    assert_eq!(passes(&engine, &bo)[0].acts.len(), 1);
    assert_eq!(engine.pass(&bo, shared.id).expect("shown").described.len(), 1);
    assert_eq!(passes(&engine, &ana)[0].acts.len(), 2);
    let user = bed.user();
    let undone = engine.undo(&within(&user, kitchen), shared.id, false).expect("undone by an admin");
    assert_eq!(described(&undone), [("saved", None)]);
    assert_eq!(all(&engine, &ana).len(), 1, "the private one is as it was");
}

#[test]
fn a_pass_on_private_memories_is_its_owners() {
    let (bed, engine) = ears();
    let ana = bed.member("ana", tulving_core::model::id::SpaceId::DEFAULT, Role::Writer);
    let pass = hear(&engine, &ana, TWO, "tui");
    let user = bed.user();
    assert!(passes(&engine, &user).is_empty(), "also not an admin's");
    refused!(engine.pass(&user, pass.id), Error::NoPass { .. });
    refused!(engine.undo(&user, pass.id, false), Error::NoPass { .. });
    assert_eq!(described(&engine.undo(&ana, pass.id, false).expect("undone")).len(), 2);
}

#[test]
fn a_turn_that_gives_nothing_leaves_no_pass() {
    let (bed, engine) = ears();
    let user = bed.user();
    hear(&engine, &user, TWO, "tui");
    let before = passes(&engine, &user).len();
    hear(&engine, &user, "Can you run the tests?", "tui");
    hear(&engine, &user, TWO, "tui");
    assert_eq!(passes(&engine, &user).len(), before);
}

#[test]
fn a_look_that_was_cut_short_and_is_done_again_is_another_pass() {
    let (bed, engine) = ears();
    let user = bed.user();
    engine.log_turn(&user, &turn(TWO)).expect("logged");
    // Another process has saved, and died before the job ended; its memory was erased since then.
    let job = bed.take_job("proactive", "gone", std::time::Duration::from_secs(1)).expect("a job");
    let first = PassId::from_bytes(*job.id.as_bytes());
    let by = user.viewer.principal;
    let pass = Pass::begun(first, PassKind::Proactive, user.space, by, bed.engine.now());
    let pass = pass.ended(PassOutcome::Done, bed.engine.now());
    bed.world().apply(vec![tulving_core::model::change::Write::Pass { from: None, to: Box::new(pass) }]);
    bed.clock.advance(std::time::Duration::from_secs(2));
    while engine.process_waiting("test").expect("heard").is_some() {}
    assert_eq!(all(&engine, &user).len(), 2);
    let ids: Vec<PassId> = passes(&engine, &user).into_iter().map(|pass| pass.id).collect();
    assert!(ids.len() == 2 && ids.contains(&first), "{ids:?}");
}

#[test]
fn a_pass_that_nobody_can_be_at_any_more_was_interrupted() {
    let (bed, engine) = ears();
    let user = bed.user();
    let now = bed.engine.now();
    let by = user.viewer.principal;
    let pass = Pass::begun(PassId::mint(now), PassKind::Consolidate, user.space, by, now);
    bed.world().apply(vec![tulving_core::model::change::Write::Pass { from: None, to: Box::new(pass) }]);
    let interrupted = || passes(&engine, &user)[0].is_interrupted(bed.engine.now());
    assert!(!interrupted());
    bed.clock.advance(std::time::Duration::from_secs(301));
    assert!(interrupted());
    let done = hear(&engine, &user, TWO, "tui");
    bed.clock.advance(std::time::Duration::from_secs(301));
    assert!(!done.is_interrupted(bed.engine.now()), "one that came to its end was not");
}

#[test]
fn an_unknown_pass_is_said_and_lists_have_bounds() {
    let (bed, engine) = ears();
    let user = bed.user();
    let nothing = PassId::mint(bed.engine.now());
    refused!(engine.pass(&user, nothing), Error::NoPass { id } if id == nothing);
    refused!(engine.undo(&user, nothing, false), Error::NoPass { .. });
    refused!(engine.passes(&user, &PassFilter::default()), Error::Invalid(_));
    let act = PassAct::Noted { file: "memory/2026-05-27.md".to_owned(), entry: String::new() };
    assert_eq!(act.file(), Some("memory/2026-05-27.md"));
}
