//! Lifecycle rules, run by hand and in the background.

use std::time::Duration;

use tulving_core::background::lifecycle::judge::LifecycleStep;
use tulving_core::background::lifecycle::rules::{ExpiryRule, LifecyclePolicies, LifecyclePolicy};
use tulving_core::model::error::Error;
use tulving_core::model::id::{JobId, MemoryId, SpaceId};
use tulving_core::model::request::{
    AuditFilter, Caller, Filter, ForgetMode, Mode, RecallRequest, SaveRequest, UpdateRequest,
};
use tulving_core::model::vocabulary::{
    AuditAct, Boundary, JobState, MemoryType, Role, SpaceKind, Stability, State,
};
use tulving_core::{Engine, TendRequest, TendingResult};

use crate::bed::{Bed, refused};

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

fn volatile(content: &str) -> SaveRequest {
    SaveRequest { stability: Some(Stability::Volatile), ..SaveRequest::new(content) }
}

fn tend(engine: &Engine, caller: &Caller, request: TendRequest) -> TendingResult {
    engine.tend(caller, &TendRequest { shown: 100, ..request }).expect("tended")
}

fn now(bed: &Bed, caller: &Caller) -> TendingResult {
    tend(&bed.engine, caller, TendRequest::default())
}

fn state(bed: &Bed, caller: &Caller, id: MemoryId) -> State {
    bed.get(caller, id).status.state
}

fn recalled(engine: &Engine, caller: &Caller, text: &str) -> Vec<MemoryId> {
    let mode = Mode::Substring(text.to_owned());
    let request = RecallRequest { mode, filter: Filter::default(), sort: None, limit: 9 };
    engine.recall(caller, &request).expect("an answer").hits.into_iter().map(|hit| hit.memory.id).collect()
}

fn steps(tended: &TendingResult) -> Vec<(&str, &str)> {
    tended.steps.iter().map(|step| (step.step.as_str(), step.memory.fields.text.content.as_str())).collect()
}

fn with(bed: &mut Bed, usual: LifecyclePolicy) {
    bed.engine = bed.beside().with_rules(LifecyclePolicies { usual, ..LifecyclePolicies::default() });
}

#[test]
fn a_memory_cools_is_brought_back_by_use_and_in_the_end_is_archived() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, volatile("standup moved to ten")).memory.id;
    bed.clock.advance(21 * DAY);
    let tended = now(&bed, &user);
    assert_eq!((steps(&tended), tended.cooled), (vec![("cool", "standup moved to ten")], 1));
    assert_eq!(tended.steps[0].why, "not used for 21 days; it cools after 21 days");
    assert_eq!(state(&bed, &user, id), State::Cooling);
    assert_eq!(recalled(&bed.engine, &user, "standup"), [id], "it is still found");
    bed.engine.flush().expect("counted");
    assert_eq!(state(&bed, &user, id), State::Active, "and use brings it back");
    bed.clock.advance(40 * DAY);
    assert_eq!(now(&bed, &user).cooled, 1);
    bed.clock.advance(29 * DAY);
    assert_eq!(now(&bed, &user).moved(), 0, "it has not cooled for long enough");
    bed.clock.advance(60 * DAY);
    let tended = now(&bed, &user);
    assert_eq!((tended.archived, tended.steps[0].step), (1, LifecycleStep::Archive));
    assert!(recalled(&bed.engine, &user, "standup").is_empty());
    assert_eq!(bed.get(&user, id).fields.text.content, "standup moved to ten", "it can be read");
    let audit =
        bed.engine.audit(&user, &AuditFilter { last: 1, ..AuditFilter::default() }).expect("the audit");
    assert_eq!((audit[0].act, audit[0].memory), (AuditAct::Archived, Some(id)));
    let reason = audit[0].reason.as_deref().expect("a reason");
    assert!(reason.starts_with("by rule: cooling for 89 days, and its importance is 0."), "{reason}");
    assert_eq!(bed.get(&user, id).version.0, 1, "no rule makes a version");
}

#[test]
fn what_somebody_brought_back_stays_and_what_somebody_archived_too() {
    let mut bed = Bed::new();
    with(
        &mut bed,
        LifecyclePolicy {
            expire: vec![ExpiryRule { after_days: 10, ..ExpiryRule::default() }],
            ..LifecyclePolicy::default()
        },
    );
    let user = bed.user();
    let (ended, put_away) =
        (bed.save(&user, "ends by rule").memory.id, bed.save(&user, "ends by hand").memory.id);
    bed.engine.archive(&user, put_away.into()).expect("archived");
    bed.clock.advance(10 * DAY);
    assert_eq!(now(&bed, &user).archived, 1);
    bed.engine.unarchive(&user, ended.into()).expect("back");
    bed.clock.advance(9 * DAY);
    assert_eq!(now(&bed, &user).moved(), 0);
    bed.clock.advance(DAY);
    assert_eq!(steps(&now(&bed, &user)), [("archive", "ends by rule")]);
    let again = bed.save(&user, "ends by rule");
    assert!(again.revived && again.memory.id == ended, "saving it again brings it back");
    assert_eq!(now(&bed, &user).moved(), 0);
    assert_eq!(state(&bed, &user, put_away), State::Archived);
}

#[test]
fn what_has_expired_is_archived_and_comes_back_with_a_later_end_only() {
    let bed = Bed::new();
    let user = bed.user();
    let end = bed.engine.now().plus_millis(86_400_000);
    let id =
        bed.save(&user, SaveRequest { expires_at: Some(end), ..SaveRequest::new("a voucher") }).memory.id;
    assert_eq!(now(&bed, &user).moved(), 0);
    bed.clock.advance(2 * DAY);
    assert_eq!(steps(&now(&bed, &user)), [("archive", "a voucher")]);
    refused!(bed.engine.unarchive(&user, id.into()), Error::Expired { .. });
    let later = UpdateRequest { expires_at: Some(None), ..UpdateRequest::default() };
    assert_eq!(bed.update(&user, id, &later).status.state, State::Active);
    assert_eq!(recalled(&bed.engine, &user, "voucher"), [id]);
    // A memory that somebody archived stays archived, whatever its expiry.
    bed.engine.archive(&user, id.into()).expect("archived");
    let sooner = UpdateRequest { expires_at: Some(Some(end)), ..UpdateRequest::default() };
    bed.update(&user, id, &sooner);
    assert_eq!(bed.update(&user, id, &later).status.state, State::Archived);
}

#[test]
fn an_edit_brings_a_cooling_memory_back() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, volatile("parking on level two")).memory.id;
    bed.clock.advance(30 * DAY);
    assert_eq!(now(&bed, &user).cooled, 1);
    let request =
        UpdateRequest { content: Some("parking on level three".to_owned()), ..UpdateRequest::default() };
    assert_eq!(bed.update(&user, id, &request).status.state, State::Active);
    assert_eq!(state(&bed, &user, id), State::Active);
    assert_eq!(now(&bed, &user).moved(), 0);
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let mut bed = Bed::new();
    with(
        &mut bed,
        LifecyclePolicy {
            keep_forgotten_days: Some(5),
            keep_audit_days: Some(5),
            ..LifecyclePolicy::default()
        },
    );
    let user = bed.user();
    for n in 0..12 {
        bed.save(&user, volatile(&format!("note {n}")));
    }
    let gone = bed.save(&user, "forgotten").memory.id;
    bed.forget(&user, gone, ForgetMode::Soft);
    now(&bed, &user);
    bed.clock.advance(25 * DAY);
    let before = bed.dump();
    let dry = tend(&bed.engine, &user, TendRequest { dry_run: true, ..TendRequest::default() });
    assert_eq!(bed.dump(), before);
    assert_eq!((dry.looked_at, dry.cooled, dry.erased, dry.audit_removed), (13, 12, 1, 1));
    let done = now(&bed, &user);
    let described = |tended: &TendingResult| -> Vec<(MemoryId, String)> {
        tended.steps.iter().map(|step| (step.memory.id, step.why.clone())).collect()
    };
    // An erased memory cannot be shown any more.
    assert_eq!(described(&dry)[..12], described(&done)[..]);
    assert_eq!((done.cooled, done.erased, done.audit_removed), (12, 1, 1));
    assert_eq!(now(&bed, &user).moved(), 0, "and nothing is due twice");
    let few = tend(&bed.engine, &user, TendRequest { dry_run: true, ..TendRequest::default() });
    assert!(few.steps.is_empty());
}

#[test]
fn what_cannot_be_undone_waits_until_the_clock_has_been_steady_for_a_day() {
    let mut bed = Bed::new();
    with(
        &mut bed,
        LifecyclePolicy {
            keep_forgotten_days: Some(30),
            keep_audit_days: Some(30),
            ..LifecyclePolicy::default()
        },
    );
    let user = bed.user();
    let id = bed.save(&user, "forgotten").memory.id;
    bed.forget(&user, id, ForgetMode::Soft);
    let here = bed.engine.now();
    bed.clock.set("2099-01-01".parse().expect("a time"));
    for _ in 0..3 {
        let tended = now(&bed, &user);
        assert_eq!((tended.erased, tended.held_back, tended.audit_removed), (0, 1, 0));
        bed.clock.advance(7 * HOUR);
    }
    bed.clock.set(here);
    assert_eq!(now(&bed, &user).held_back, 0);
    assert!(bed.engine.restore(&user, id.into()).is_ok(), "nothing is lost by a wrong clock");
    bed.forget(&user, id, ForgetMode::Soft);
    for _ in 0..2 {
        bed.clock.advance(20 * DAY);
        now(&bed, &user);
    }
    assert!(
        bed.engine.get_forgotten(&user, id.into()).expect("asked").is_none(),
        "it was kept for thirty days"
    );
    let erased =
        bed.engine.audit(&user, &AuditFilter { last: 9, ..AuditFilter::default() }).expect("the audit");
    assert!(erased.iter().any(|entry| entry.act == AuditAct::Erased
        && entry.reason.as_deref()
            == Some("by rule: forgotten 40 days ago; such memories are kept for 30 days")));
}

#[test]
fn each_space_has_its_own_rules_and_only_its_admins_apply_them() {
    let mut bed = Bed::new();
    let (kitchen, garden) = (bed.space("kitchen", SpaceKind::Group), bed.hub("garden"));
    let quick = LifecyclePolicy {
        expire: vec![ExpiryRule {
            memory_type: Some(MemoryType::Event),
            after_days: 1,
            ..ExpiryRule::default()
        }],
        ..LifecyclePolicy::default()
    };
    let rules =
        LifecyclePolicies { spaces: [("kitchen".to_owned(), quick)].into(), ..LifecyclePolicies::default() };
    bed.engine = bed.beside().with_rules(rules);
    let (chef, cook) = (bed.member("chef", kitchen, Role::Admin), bed.member("cook", kitchen, Role::Writer));
    let (gardener, user) = (bed.member("gardener", garden, Role::Writer), bed.user());
    let todo = |caller: &Caller, content: &str, boundary| {
        let (memory_type, boundary) = (Some(MemoryType::Event), Some(boundary));
        bed.save(caller, SaveRequest { memory_type, boundary, ..SaveRequest::new(content) }).memory.id
    };
    todo(&cook, "buy salt", Boundary::Hub);
    todo(&cook, "ask for a rise", Boundary::Private);
    todo(&gardener, "water the roses", Boundary::Hub);
    bed.clock.advance(DAY);
    refused!(bed.engine.tend(&cook, &TendRequest::default()), Error::Denied { need: Role::Admin, .. });
    refused!(
        bed.engine.tend(&chef, &TendRequest { space: Some(garden), ..TendRequest::default() }),
        Error::Denied { need: Role::Admin, .. }
    );
    let dry = TendRequest { dry_run: true, ..TendRequest::default() };
    let seen = tend(&bed.engine, &chef, dry);
    assert_eq!(
        (steps(&seen), seen.looked_at),
        (vec![("archive", "buy salt")], 1),
        "not what is private to others"
    );
    let whole = tend(&bed.engine, &user, dry);
    assert_eq!((whole.looked_at, whole.archived), (3, 2));
    assert_eq!(
        steps(&whole),
        [("archive", "buy salt")],
        "what is private to others is counted and not shown"
    );
    assert_eq!(tend(&bed.engine, &chef, TendRequest::default()).archived, 1);
    assert_eq!(tend(&bed.engine, &user, TendRequest { space: Some(garden), ..dry }).looked_at, 1);
    assert_eq!(tend(&bed.engine, &user, TendRequest { space: Some(SpaceId::DEFAULT), ..dry }).looked_at, 0);
}

#[test]
fn of_several_processes_one_tends_each_time() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, volatile("aging")).memory.id;
    let other = bed.beside();
    bed.clock.advance(30 * DAY);
    let due = |engine: &Engine, name: &str| engine.tend_due(name, HOUR, &mut || true).expect("no trouble");
    assert_eq!(due(&bed.engine, "one").map(|tended| tended.cooled), Some(1));
    assert_eq!(due(&other, "other"), None, "it was done");
    bed.clock.advance(2 * HOUR);
    // While one is at work, the other does nothing; if the first dies, the other takes over after a while.
    let mut beside = None;
    let done = bed.engine.tend_due("one", HOUR, &mut || {
        beside = Some(due(&other, "other"));
        true
    });
    assert!(done.expect("no trouble").is_some());
    assert_eq!(beside, Some(None));
    let jobs = bed.engine.jobs(&user, &[], 9).expect("jobs");
    assert_eq!(
        (jobs.len(), jobs[0].id, jobs[0].state, jobs[0].attempts),
        (1, JobId::TEND, JobState::Waiting, 0)
    );
    bed.clock.advance(2 * HOUR);
    bed.take_job("tend", "killed", HOUR).expect("it was due");
    assert_eq!(due(&other, "other"), None);
    bed.clock.advance(2 * HOUR);
    assert!(due(&other, "other").is_some());
    assert_eq!(state(&bed, &user, id), State::Cooling);
}

#[test]
fn who_tends_slowly_keeps_the_job_until_it_is_done() {
    let bed = Bed::new();
    let user = bed.user();
    let world = bed.world();
    for n in 0..1_001 {
        world.put(user.space, user.viewer.principal, &format!("note {n}"), |_| ());
    }
    let other = bed.beside();
    let mut beside = Vec::new();
    let tended = bed.engine.tend_due("one", HOUR, &mut || {
        beside.push(other.tend_due("other", HOUR, &mut || true).expect("no trouble"));
        bed.clock.advance(Duration::from_secs(400));
        true
    });
    assert_eq!(tended.expect("it keeps its job").map(|tended| tended.looked_at), Some(1_001));
    assert_eq!(beside, [None, None, None], "three pages take longer than one lease");
}

#[test]
fn what_somebody_changes_meanwhile_stands() {
    let bed = Bed::new();
    let user = bed.user();
    for n in 0..30 {
        bed.save(&user, volatile(&format!("note {n}")));
    }
    let pinned = bed.save(&user, volatile("pinned at the last moment")).memory.id;
    bed.clock.advance(30 * DAY);
    let other = bed.beside();
    // Between the read and the write.
    bed.store.before_next_apply(move |_| drop(other.pin(&user, pinned.into())));
    let user = bed.user();
    let tended = now(&bed, &user);
    assert_eq!(tended.cooled, 30);
    let seen = bed.get(&user, pinned).status;
    assert_eq!((seen.state, seen.pinned), (State::Active, true));
}

#[test]
fn wherever_the_store_fails_each_memory_is_moved_or_not_and_the_next_time_does_the_rest() {
    for nth in 1.. {
        let bed = Bed::new();
        let user = bed.user();
        let ids: Vec<MemoryId> =
            (0..3).map(|n| bed.save(&user, volatile(&format!("note {n}"))).memory.id).collect();
        let end = Some(bed.engine.now().plus_millis(1_000));
        let ended = bed.save(&user, SaveRequest { expires_at: end, ..volatile("a voucher") }).memory.id;
        bed.clock.advance(30 * DAY);
        bed.store.fail_at(nth);
        let tended = bed.engine.tend_due("one", HOUR, &mut || true);
        let failed = bed.store.has_failed();
        assert_eq!(tended.is_err(), failed, "call {nth}");
        bed.store.fail_at(0);
        // A job that was not released is free once its lease is over.
        bed.clock.advance(DAY);
        bed.engine.tend_due("other", HOUR, &mut || true).expect("the store is well again");
        for id in &ids {
            assert_eq!(state(&bed, &user, *id), State::Cooling, "call {nth}");
        }
        assert_eq!(state(&bed, &user, ended), State::Archived, "call {nth}");
        let filter = AuditFilter { memory: Some(ended), last: 9, ..AuditFilter::default() };
        assert_eq!(bed.engine.audit(&user, &filter).expect("the audit").len(), 1, "call {nth}");
        if !failed {
            return;
        }
    }
}

#[test]
fn what_a_rule_put_away_has_still_replaced_what_it_did_and_is_found_as_of_before() {
    let bed = Bed::new();
    let user = bed.user();
    let stable =
        |content: &str| SaveRequest { stability: Some(Stability::Stable), ..SaveRequest::new(content) };
    let old = bed.save(&user, stable("the standup is at nine")).memory.id;
    bed.clock.advance(DAY);
    let new = bed.save(&user, volatile("the standup is at ten")).memory.id;
    bed.link(&user, new, old, tulving_core::model::vocabulary::Relation::Updates);
    bed.clock.advance(DAY);
    let before = bed.engine.now();
    bed.clock.advance(200 * DAY);
    for _ in 0..2 {
        now(&bed, &user);
        bed.clock.advance(31 * DAY);
    }
    assert_eq!(state(&bed, &user, new), State::Archived);
    let asked = |as_of| {
        let ask = tulving_core::model::request::RecallQuestion {
            as_of,
            ..tulving_core::model::request::RecallQuestion::new("standup")
        };
        let mode = Mode::Hybrid(Box::new(ask));
        let request = RecallRequest { mode, filter: Filter::default(), sort: None, limit: 9 };
        let hits = bed.engine.recall(&user, &request).expect("an answer").hits;
        hits.into_iter().map(|hit| (hit.memory.id, hit.memory.superseded_by)).collect::<Vec<_>>()
    };
    assert_eq!(asked(None), [(old, Some(new))], "it is marked, although what replaced it is out of sight");
    assert_eq!(asked(Some(before)), [(new, None)], "what rules do later does not change what was");
    // A memory that somebody archives on purpose replaces nothing.
    bed.engine.unarchive(&user, new.into()).expect("back");
    bed.engine.archive(&user, new.into()).expect("archived");
    assert_eq!(asked(None), [(old, None)]);
}

#[test]
fn a_change_that_is_announced_does_not_take_what_holds_today_out_of_the_context() {
    let bed = Bed::new();
    let user = bed.user();
    let old = bed.save(&user, "the rent is 900 euros").memory.id;
    let from = bed.engine.now().plus_millis(86_400_000);
    let request = SaveRequest { valid_from: Some(from), ..SaveRequest::new("the rent is 950 euros") };
    let new = bed.save(&user, request).memory.id;
    bed.link(&user, new, old, tulving_core::model::vocabulary::Relation::Updates);
    let described = || {
        let request = tulving_core::model::request::BriefingRequest::default();
        let briefing = bed.engine.briefing(&user, &request).expect("a briefing");
        let sections = briefing.sections.into_iter().flat_map(|section| section.memories);
        sections.map(|described| described.id).collect::<Vec<_>>()
    };
    assert_eq!(described(), [old]);
    bed.clock.advance(2 * DAY);
    assert_eq!(described(), [new]);
}
