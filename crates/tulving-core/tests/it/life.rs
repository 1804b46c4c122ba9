//! Two years of an agent in accelerated time: which memories the rules keep and archive, and that a wrong clock does
//! no harm.

use std::collections::BTreeMap;
use std::time::Duration;

use tulving_core::background::lifecycle::rules::{IdleDays, LifecyclePolicies, LifecyclePolicy};
use tulving_core::model::id::MemoryId;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{AuditFilter, Caller, Filter, ListRequest, SaveRequest, Sort};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{AuditAct, Stability, State};
use tulving_testkit::life::{self, LifecycleSimulation};

use crate::bed::Bed;
use crate::plots;

const TWO_YEARS: u32 = 728;

fn bed() -> (Bed, Caller) {
    let bed = Bed::new();
    let user = bed.user();
    (bed, user)
}

fn lived(bed: &Bed, user: &Caller, each_day: impl FnMut(u32)) -> LifecycleSimulation {
    life::live(&bed.engine, user, &bed.clock, TWO_YEARS, 7, each_day)
}

/// Returns every memory that can be listed, in any state.
fn all(bed: &Bed, user: &Caller) -> BTreeMap<MemoryId, Memory> {
    let mut found = BTreeMap::new();
    let mut cursor = None;
    loop {
        let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
        let request = ListRequest { filter, sort: Sort::Oldest, limit: 1_000, cursor };
        let page = bed.engine.list(user, &request).expect("a page");
        found.extend(page.memories.into_iter().map(|memory| (memory.id, memory)));
        cursor = page.next;
        if cursor.is_none() {
            return found;
        }
    }
}

#[test]
fn two_years_leave_a_bounded_store_that_keeps_what_is_used_and_loses_nothing() {
    let (bed, user) = bed();
    let life = lived(&bed, &user, |_| ());
    plots::shows("two-years.svg", &plots::two_years(&life.weeks));
    let at = |week: usize| life.weeks[week - 1];
    let (year, end) = (at(52), at(104));
    assert_eq!(end.saved, life.saved.len() as u64);
    assert_eq!(end.active + end.cooling + end.archived, end.saved, "nothing is lost");
    let in_sight = |week: life::LifecycleWeek| week.active + week.cooling;
    assert!(end.saved > 2 * year.saved * 9 / 10, "as much is saved in the second year: {year:?} {end:?}");
    let stays = in_sight(end) - in_sight(year);
    assert!(stays < (end.saved - year.saved) / 5, "of a year's memories few stay: {year:?} {end:?}");
    assert!(in_sight(end) < end.saved / 3, "{end:?}");
    let memories = all(&bed, &user);
    let state = |id: &MemoryId| memories[id].status.state;
    assert!(life.regular.len() > 50, "{}", life.regular.len());
    assert!(life.regular.iter().all(|id| state(id) == State::Active), "what is used is kept");
    assert_eq!(memories.len(), life.saved.len());

    let ruled = |id: &MemoryId| {
        let filter = AuditFilter { memory: Some(*id), last: 9, ..AuditFilter::default() };
        let audit = bed.engine.audit(&user, &filter).expect("the audit");
        let reason = |reason: &str| reason.starts_with("by rule: cooling for ");
        audit
            .iter()
            .any(|entry| entry.act == AuditAct::Archived && entry.reason.as_deref().is_some_and(reason))
    };
    let archived: Vec<&MemoryId> = life.saved.iter().filter(|id| state(id) == State::Archived).collect();
    assert_eq!(archived.len() as u64, life.archived);
    assert!(archived.into_iter().all(ruled), "each was put away by a rule that says why");
}

#[test]
fn without_rules_nothing_moves() {
    let (mut bed, user) = bed();
    let never = IdleDays { stable: None, evolving: None, volatile: None };
    let usual = LifecyclePolicy { cool_after: never, archive_after_days: None, ..LifecyclePolicy::default() };
    bed.engine = bed.beside().with_rules(LifecyclePolicies { usual, ..LifecyclePolicies::default() });
    let life = life::live(&bed.engine, &user, &bed.clock, 200, 7, |_| ());
    let end = life.weeks.last().expect("weeks");
    assert_eq!((end.active, end.cooling, end.archived), (end.saved, 0, 0));
}

#[test]
fn a_clock_that_leaps_ahead_and_comes_back_puts_nothing_away_that_would_not_be() {
    let (steady, user) = bed();
    let expected = life::live(&steady.engine, &user, &steady.clock, 340, 7, |_| ());
    let (bed, user) = bed();
    let engine = &bed.engine;
    let leapt = life::live(engine, &user, &bed.clock, 340, 7, |day| {
        // The last leap is long enough ago that memories due to cool for thirty days have done so.
        if day % 50 != 20 || day > 300 {
            return;
        }
        let before = engine.now();
        // The year 2099 for an hour, then the first second of 1970, as with an empty battery.
        for wrong in ["2099-01-01T00:00:00Z", "2099-01-01T13:00:00Z", "1970-01-01T00:00:01Z"] {
            bed.clock.set(wrong.parse().expect("a time"));
            life::tend(engine);
        }
        bed.clock.set(before);
        life::tend(engine);
    });
    assert_eq!(leapt.saved.len(), expected.saved.len());
    let states =
        |bed: &Bed| all(bed, &user).into_values().map(|memory| memory.status.state).collect::<Vec<_>>();
    let (leapt, expected) = (states(&bed), states(&steady));
    let order = |state: &State| State::ALL.iter().position(|one| one == state);
    let ahead = leapt.iter().zip(&expected).filter(|(one, other)| order(one) > order(other));
    assert_eq!((ahead.count(), leapt.len()), (0, expected.len()), "what is put away is put away later");
}

#[test]
fn the_year_2038_and_the_far_ends_of_time_are_times_like_others() {
    let (bed, user) = bed();
    for (at, content) in [
        ("1901-12-13T20:45:51Z", "before the first second that 32 bits can tell"),
        ("2038-01-19T03:14:08Z", "after the last one"),
        ("9999-12-30T00:00:00Z", "near the end"),
    ] {
        bed.clock.set(at.parse().expect("a time"));
        let id = bed.save(&user, content).memory.id;
        assert_eq!(bed.get(&user, id).usage.created_at.date(), at[..10]);
        life::tend(&bed.engine);
    }
    bed.clock.set("2038-02-01T00:00:00Z".parse().expect("a time"));
    for _ in 0..2 {
        life::tend(&bed.engine);
        bed.clock.advance(Duration::from_secs(86_400));
    }
    let states: Vec<State> = all(&bed, &user).into_values().map(|memory| memory.status.state).collect();
    // A memory from the future is as new as possible; one from 1901 was idle for long.
    assert_eq!(states.iter().filter(|state| **state == State::Active).count(), 2, "{states:?}");
}

#[test]
fn a_day_begins_at_the_same_instant_whatever_the_zone_and_its_summer() {
    // Instants are UTC: 2026-03-29 has 23 hours in Berlin, and a rule in days ignores that.
    let (bed, user) = bed();
    let at = |text: &str| text.parse::<Timestamp>().expect("a time");
    bed.clock.set(at("2026-03-08T01:30:00+01:00"));
    let id = bed.save(
        &user,
        SaveRequest {
            stability: Some(Stability::Volatile),
            ..SaveRequest::new("said before the clocks were changed")
        },
    );
    let state = || bed.get(&user, id.memory.id).status.state;
    bed.clock.set(at("2026-03-29T02:29:00+02:00"));
    life::tend(&bed.engine);
    assert_eq!(state(), State::Active, "a minute before 21 days of 24 hours");
    bed.clock.set(at("2026-03-29T14:31:00+02:00"));
    life::tend(&bed.engine);
    assert_eq!(state(), State::Cooling);
}
