//! Background work, from asking to giving up.

use std::time::Duration;

use serde_json::json;
use tulving_core::error::{Conflict, Error, StoreError};
use tulving_core::id::JobId;
use tulving_core::job::Job;
use tulving_core::vocabulary::{JobState, Role};
use tulving_testkit::build;

use crate::bed::{Bed, refused};

const LEASE: Duration = Duration::from_secs(60);

fn claim(bed: &Bed) -> Option<Job> {
    bed.engine.claim_job(&["work"], "worker", LEASE).expect("a claim")
}

#[test]
fn a_job_is_claimed_once_and_ends_well() {
    let bed = Bed::new();
    let asked = bed.engine.enqueue("work", json!({"memory": 1}), 3).unwrap();
    bed.engine.enqueue("other", json!(null), 3).unwrap();
    let job = claim(&bed).expect("it is due");
    assert_eq!((job.id, job.state, job.attempts), (asked.id, JobState::Running, 1));
    assert_eq!(job.payload, json!({"memory": 1}));
    assert_eq!(claim(&bed), None, "nobody else gets it, nor another kind");
    let done = bed.engine.complete_job(job.clone()).unwrap();
    assert_eq!((done.state, done.lease), (JobState::Done, None));
    refused!(bed.engine.fail_job(job, "late"), Error::Store(StoreError::Conflict(Conflict::JobMoved)));
}

#[test]
fn a_job_whose_lease_ran_out_is_claimed_again() {
    let bed = Bed::new();
    bed.engine.enqueue("work", json!(null), 3).unwrap();
    let first = claim(&bed).expect("due");
    bed.clock.advance(LEASE - Duration::from_secs(1));
    assert_eq!(claim(&bed), None, "its holder still has it");
    let longer = bed.engine.extend_job(first, LEASE).unwrap();
    bed.clock.advance(Duration::from_secs(30));
    assert_eq!(claim(&bed), None, "and kept it for longer");
    bed.clock.advance(LEASE);
    let second = claim(&bed).expect("the lease is over");
    assert_eq!(second.attempts, 2);
    refused!(bed.engine.complete_job(longer), Error::Store(StoreError::Conflict(Conflict::JobMoved)));
    bed.engine.complete_job(second).unwrap();
}

#[test]
fn a_job_whose_holder_is_gone_is_claimed_at_once() {
    let bed = Bed::new();
    bed.engine.enqueue("work", json!(null), 3).unwrap();
    let first = claim(&bed).expect("due");
    let holder = first.lease.clone().expect("a lease").holder;
    assert_eq!(bed.engine.release_jobs(&|name| name != holder).unwrap(), 0);
    assert_eq!(claim(&bed), None, "its holder still has it");
    assert_eq!(bed.engine.release_jobs(&|name| name == holder).unwrap(), 1);
    let second = claim(&bed).expect("nobody has it");
    assert_eq!(second.attempts, 2);
    refused!(bed.engine.complete_job(first), Error::Store(StoreError::Conflict(Conflict::JobMoved)));
    bed.engine.complete_job(second).unwrap();
    assert_eq!(bed.engine.release_jobs(&|_| true).unwrap(), 0);
}

#[test]
fn a_failed_job_comes_back_after_a_growing_pause_and_then_is_dead() {
    let bed = Bed::new();
    let asked = bed.engine.enqueue("work", json!(null), 3).unwrap();
    for (attempt, pause) in [(1, 5_000), (2, 10_000)] {
        let job = claim(&bed).expect("due");
        assert_eq!(job.attempts, attempt);
        let failed = bed.engine.fail_job(job, "no\nconnection").unwrap();
        assert_eq!(failed.state, JobState::Waiting);
        assert_eq!(failed.last_error.as_deref(), Some("no connection"));
        assert_eq!(claim(&bed), None, "not before its time");
        bed.clock.advance(Duration::from_millis(pause - 100));
        assert_eq!(claim(&bed), None, "not before {pause} ms");
        bed.clock.advance(Duration::from_millis(100 + pause / 5));
    }
    let last = claim(&bed).expect("due");
    let dead = bed.engine.fail_job(last, "gave up").unwrap();
    assert_eq!((dead.state, dead.attempts), (JobState::Dead, 3));
    assert_eq!(dead.last_error.as_deref(), Some("gave up"));
    bed.clock.advance(Duration::from_secs(86_400));
    assert_eq!(claim(&bed), None, "a dead job stays dead");
    let letters = bed.engine.jobs(&bed.user(), &[JobState::Dead], 10).unwrap();
    assert_eq!(letters.iter().map(|job| job.id).collect::<Vec<_>>(), [asked.id]);
}

#[test]
fn a_job_that_vanished_with_its_last_attempt_is_given_up() {
    let bed = Bed::new();
    let asked = bed.engine.enqueue("work", json!(null), 1).unwrap();
    let next = bed.engine.enqueue("work", json!(null), 1).unwrap();
    claim(&bed).expect("due");
    bed.clock.advance(LEASE * 2);
    assert_eq!(claim(&bed).map(|job| job.id), Some(next.id), "the next one is begun");
    let dead = bed.engine.jobs(&bed.user(), &[JobState::Dead], 10).unwrap();
    assert_eq!(dead[0].id, asked.id);
    assert!(dead[0].last_error.as_deref().is_some_and(|why| why.contains("never came to an end")));
}

#[test]
fn a_dead_job_can_be_given_all_its_attempts_back() {
    let bed = Bed::new();
    let user = bed.user();
    bed.engine.enqueue("work", json!(null), 1).unwrap();
    let job = claim(&bed).expect("due");
    let dead = bed.engine.fail_job(job, "broken").unwrap();
    let back = bed.engine.retry_job(&user, dead.id).unwrap();
    assert_eq!((back.state, back.attempts), (JobState::Waiting, 0));
    assert_eq!(bed.engine.retry_job(&user, dead.id).unwrap(), back, "only dead ones are moved");
    assert!(claim(&bed).is_some());
    let unknown = JobId::mint(build::second(5));
    refused!(bed.engine.retry_job(&user, unknown), Error::NoJob { .. });
}

#[test]
fn looking_after_jobs_takes_an_admin_of_the_org() {
    let bed = Bed::new();
    let member = bed.member("member", bed.hub("hub"), Role::Admin);
    let job = bed.engine.enqueue("work", json!(null), 1).unwrap();
    refused!(bed.engine.jobs(&member, &[], 10), Error::Denied { .. });
    refused!(bed.engine.retry_job(&member, job.id), Error::Denied { .. });
}

#[test]
fn workers_side_by_side_get_each_job_once() {
    let bed = Bed::new();
    for n in 0..40 {
        bed.engine.enqueue("work", json!({ "n": n }), 3).unwrap();
    }
    let engines: Vec<_> = (0..4).map(|_| bed.beside()).collect();
    let mut done: Vec<JobId> = std::thread::scope(|scope| {
        let workers: Vec<_> = engines
            .iter()
            .map(|engine| {
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    while let Some(job) = engine.claim_job(&["work"], "w", LEASE).expect("a claim") {
                        mine.push(job.id);
                        engine.complete_job(job).expect("it is ours");
                    }
                    mine
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    done.sort();
    let all = done.len();
    done.dedup();
    assert_eq!((done.len(), all), (40, 40));
}
