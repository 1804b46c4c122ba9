//! The data that lifecycle rules read.

use tulving_core::model::change::{RecallCount, Write};
use tulving_core::model::id::{MemoryId, SpaceId};
use tulving_core::model::job::{Job, Lease};
use tulving_core::model::life::LifecycleData;
use tulving_core::model::memory::{Mirror, Status};
use tulving_core::model::vocabulary::{AuditAct, JobState, State};

use super::{StoreFactory, good, world};
use crate::build::{self, StoreFixture, eyes};

fn lives(world: &StoreFixture, spaces: &[SpaceId]) -> Vec<LifecycleData> {
    good(world.store.lives(spaces, None, 1_000))
}

/// The lifecycle data of a memory equals the values of the memory, including its usage. It is returned only for the
/// named spaces.
pub fn a_life_is_that_of_its_memory(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("here");
    let (elsewhere, other) = world.hub_with_writer("there");
    let memory = world.put(space, owner, "a goal", |m| {
        m.fields.text.tags = vec!["api".to_owned(), "später".to_owned()];
        m.fields.span.expires_at = Some(build::second(900));
        m.status = Status { pinned: true, ..Status::new(State::Cooling) };
        m.status.ruled_at = Some(build::second(5));
    });
    world.put(elsewhere, other, "another", |_| ());
    world.apply(vec![Write::Touch(vec![RecallCount { id: memory.id, count: 3, at: build::second(700) }])]);
    let seen = world.seen(&eyes(owner), memory.id).expect("there");
    assert_eq!(seen.usage.access_count, 3);
    assert_eq!(seen.status, Status { pinned: true, ..Status::new(State::Active) }, "use brought it back");
    assert_eq!(lives(&world, &[space]), [LifecycleData::of(&seen)]);
    assert_eq!(lives(&world, &[space, elsewhere]).len(), 2);
    assert_eq!(lives(&world, &[]), []);
}

/// Pages follow one another by id. They contain no mirrors, and no memories whose state a rule may not change.
pub fn lives_come_in_pages_without_what_no_rule_moves(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("here");
    let put = |content: &str, change: &dyn Fn(&mut Status)| {
        world.put(space, owner, content, |m| change(&mut m.status)).id
    };
    let mut moved: Vec<MemoryId> = vec![
        put("active", &|_| ()),
        put("cooling", &|s| s.state = State::Cooling),
        put("archived by a rule", &|s| *s = s.ruled(State::Archived, build::second(9))),
        put("archived and forgotten", &|s| {
            *s = Status { forgotten_at: Some(build::second(9)), ..s.moved(State::Archived) };
        }),
    ];
    put("archived by hand", &|s| s.state = State::Archived);
    put("being made", &|s| s.state = State::Processing);
    put("put aside", &|s| s.quarantined_at = Some(build::second(9)));
    world.put(space, owner, "a line of a file", |m| {
        m.provenance.source_path = Some("memory/a.md".to_owned());
        m.provenance.mirror = Some(Mirror { line: 1, occurrence: 0 });
    });
    moved.sort();
    let (mut after, mut paged) = (None, Vec::new());
    loop {
        let page = good(world.store.lives(&[space], after, 3));
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        paged.extend(page.into_iter().map(|life| life.id));
    }
    assert_eq!(paged, moved);
}

/// A move is refused if a rule has moved the memory in the meantime. The move of the rule stays.
pub fn a_move_knows_from_when_rules_count(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (space, owner) = world.hub_with_writer("here");
    let memory = world.put(space, owner, "aging", |_| ());
    let cooled = world.shift(&memory, |status| *status = status.ruled(State::Cooling, build::second(50)));
    assert_eq!(world.seen(&eyes(owner), memory.id).expect("there").status, cooled.status);
    let stale = Status { ruled_at: None, ..cooled.status };
    let write = Write::Move { id: memory.id, from: stale, to: stale.moved(State::Archived) };
    assert!(world.try_apply(vec![write]).is_err());
}

/// Old audit entries of one space, or of no space, are removed in batches. Other entries stay.
pub fn old_audit_entries_go_and_others_stay(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let (here, there) = (world.hub("here"), world.hub("there"));
    let entry = |space, at| {
        let mut entry = world.audit(AuditAct::Archived, space, None);
        entry.at = build::second(at);
        Write::Audit(entry)
    };
    let all = [(Some(here), 1), (Some(here), 2), (Some(here), 3), (Some(there), 1), (None, 1), (None, 9)];
    world.apply(all.into_iter().map(|(space, at)| entry(space, at)).collect());
    let counts =
        |before| [Some(here), Some(there), None].map(|space| good(world.store.audited_before(space, before)));
    let before = build::second(3);
    assert_eq!(counts(before), [2, 1, 1]);
    let prune = |space, most| world.apply(vec![Write::PruneAudit { space, before, most }]).pruned;
    assert_eq!((prune(Some(here), 1), prune(Some(here), 9), prune(Some(here), 9)), (1, 1, 0));
    assert_eq!(prune(None, 9), 1);
    assert_eq!(counts(build::second(99)), [1, 1, 1]);
}

/// If a clock ran more than a day ahead when a job was postponed or started, the job may be started now.
pub fn a_clock_that_ran_ahead_holds_no_job_up(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let now = build::second(0);
    let ahead = |hours: i64| now.plus_millis(hours * 3_600_000);
    let lease = |until| Some(Lease { holder: "gone".to_owned(), until });
    let job = |state, due_at, lease| Job { state, due_at, lease, ..world.job("work") };
    let jobs = [
        job(JobState::Waiting, ahead(23), None),
        job(JobState::Waiting, ahead(25), None),
        job(JobState::Running, now, lease(ahead(23))),
        job(JobState::Running, now, lease(ahead(25))),
    ];
    world.apply(jobs.iter().cloned().map(Write::Enqueue).collect());
    let mut found: Vec<_> =
        good(world.store.claimable(&["work"], now, 9)).into_iter().map(|job| job.id).collect();
    found.sort();
    let mut expected = [jobs[1].id, jobs[3].id];
    expected.sort();
    assert_eq!(found, expected);
}
