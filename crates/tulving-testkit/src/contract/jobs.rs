//! Background work: the jobs that may be started, and their times.

use tulving_core::model::change::Write;
use tulving_core::model::error::Conflict;
use tulving_core::model::id::JobId;
use tulving_core::model::job::{Job, Lease};
use tulving_core::model::vocabulary::JobState;

use super::{StoreFactory, conflict, good, world};
use crate::build::StoreFixture;

fn enqueue(world: &StoreFixture, kind: &str, change: impl FnOnce(&mut Job)) -> Job {
    let mut job = world.job(kind);
    change(&mut job);
    world.apply(vec![Write::Enqueue(job.clone())]);
    job
}

fn move_job(from: &Job, to: &Job) -> Write {
    Write::MoveJob { from: Box::new(from.clone()), to: Box::new(to.clone()) }
}

fn running(job: &Job, until: tulving_core::model::time::Timestamp) -> Job {
    Job {
        state: JobState::Running,
        attempts: job.attempts + 1,
        lease: Some(Lease { holder: "worker".to_owned(), until }),
        ..job.clone()
    }
}

/// A read returns a job exactly as it was written, in each of its states.
pub fn a_job_reads_back_as_it_was_written(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let job = enqueue(&world, "embed", |job| {
        job.payload =
            serde_json::json!({ "memory": "x", "list": [1, null, "ä\u{1f980}"], "deep": { "a": 1.5 } });
    });
    let find = || good(world.store.job(job.id));
    assert_eq!(find(), Some(job.clone()));
    let claimed = running(&job, world.now());
    world.apply(vec![move_job(&job, &claimed)]);
    assert_eq!(find(), Some(claimed.clone()));
    let dead = Job {
        state: JobState::Dead,
        lease: None,
        last_error: Some("it broke".to_owned()),
        ..claimed.clone()
    };
    world.apply(vec![move_job(&claimed, &dead)]);
    assert_eq!(find(), Some(dead));
    assert_eq!(good(world.store.job(JobId::mint(world.now()))), None);
}

/// The due jobs are those of the requested kinds that are waiting and due, or running with an expired lease. The oldest
/// due job comes first.
pub fn due_jobs_can_be_claimed_oldest_first(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let now = crate::build::second(1_000);
    let due = |millis: i64| now.plus_millis(millis);
    let late = enqueue(&world, "a", |job| job.due_at = due(-10));
    let later = enqueue(&world, "a", |job| job.due_at = due(-5));
    let oldest = enqueue(&world, "b", |job| job.due_at = due(-20));
    let at_once = enqueue(&world, "a", |job| job.due_at = now);
    enqueue(&world, "a", |job| job.due_at = due(1));
    enqueue(&world, "c", |job| job.due_at = due(-99));
    let leased = |until| {
        let job = enqueue(&world, "a", |job| job.due_at = due(-30));
        let held = running(&job, until);
        world.apply(vec![move_job(&job, &held)]);
        held
    };
    let lapsed = leased(due(-1));
    leased(due(1));
    for state in [JobState::Done, JobState::Dead] {
        enqueue(&world, "a", |job| {
            job.due_at = due(-50);
            job.state = state;
        });
    }
    let claimable = |kinds: &[&str], limit| -> Vec<JobId> {
        good(world.store.claimable(kinds, now, limit)).iter().map(|job| job.id).collect()
    };
    let expected = [lapsed.id, oldest.id, late.id, later.id, at_once.id];
    assert_eq!(claimable(&["a", "b"], 99), expected);
    assert_eq!(claimable(&["a", "b"], 2), expected[..2]);
    assert_eq!(claimable(&["b"], 99), [oldest.id]);
    assert_eq!(claimable(&["z"], 99), []);
    assert!(good(world.store.claimable(&["a"], now, 9)).contains(&lapsed), "it is given whole");
}

/// If two workers claim the same job, the second worker is refused.
pub fn a_job_that_moved_conflicts(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let job = enqueue(&world, "work", |_| ());
    let until = world.now();
    let first = running(&job, until);
    world.apply(vec![move_job(&job, &first)]);
    let second = running(&job, until.plus_millis(1));
    assert_eq!(conflict(world.try_apply(vec![move_job(&job, &second)])), Conflict::JobMoved);
    let lapsed = running(&first, until.plus_millis(2));
    world.apply(vec![move_job(&first, &lapsed)]);
    let done = Job { state: JobState::Done, lease: None, ..first.clone() };
    let late = conflict(world.try_apply(vec![move_job(&first, &done)]));
    assert_eq!(late, Conflict::JobMoved, "who lost the lease cannot end the job");
    let unknown = world.job("unknown");
    let nothing = conflict(world.try_apply(vec![move_job(&unknown, &unknown)]));
    assert_eq!(nothing, Conflict::JobMoved);
}

/// An empty list selects all states or kinds.
pub fn jobs_are_listed_by_state_and_kind(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    for (n, state) in JobState::ALL.iter().enumerate() {
        for kind in ["a", "b"] {
            enqueue(&world, kind, |job| {
                job.state = *state;
                job.due_at = crate::build::second(100 - i64::try_from(n).expect("small"));
            });
        }
    }
    let list = |states: &[JobState], kinds: &[&str], limit| good(world.store.jobs(states, kinds, limit));
    let all = list(&[], &[], 99);
    assert_eq!(all.len(), 8);
    assert!(all.windows(2).all(|pair| pair[0].due_at <= pair[1].due_at), "oldest due first");
    assert_eq!(list(&[], &[], 3), all[..3]);
    assert_eq!(list(&[JobState::Dead], &[], 99).len(), 2);
    assert_eq!(list(&[JobState::Dead, JobState::Done], &["b"], 99).len(), 2);
    assert_eq!(list(&[], &["a"], 99).len(), 4);
    assert_eq!(list(&[], &["z"], 99), []);
}
