//! Background jobs, from the request to giving up, with files whose text is read later.

use std::time::Duration;

use tulving_core::model::error::{Error, ExtractError};
use tulving_core::model::id::JobId;
use tulving_core::model::job::Job;
use tulving_core::model::request::SaveRequest;
use tulving_core::model::vocabulary::{JobState, Role};
use tulving_core::{Document, Engine};
use tulving_testkit::build;

use crate::bed::{Bed, refused};

const LEASE: Duration = Duration::from_secs(60);
const KIND: &str = "application/pdf";

/// Requests a job: to read the text of a file.
#[track_caller]
fn ask(bed: &Bed, n: usize) {
    let bytes = format!("%PDF-1.7\n\0 {n}").into_bytes();
    let document = Document { name: Some(format!("{n}.pdf")), bytes, about: SaveRequest::default() };
    bed.engine.push(&bed.user(), document).expect("pushed");
}

/// Runs one job, and returns its state afterwards.
#[track_caller]
fn work(engine: &Engine) -> Option<Job> {
    engine.process_waiting("worker").expect("worked").map(|processed| processed.job)
}

#[test]
fn a_job_whose_lease_ran_out_is_claimed_again() {
    let bed = Bed::new();
    bed.extractor.answer_text(KIND, "text of the file");
    ask(&bed, 1);
    bed.take_job("extract", "killed", LEASE).expect("due");
    bed.clock.advance(LEASE - Duration::from_secs(1));
    assert_eq!(work(&bed.engine), None, "its holder still has it");
    bed.clock.advance(Duration::from_secs(1));
    let done = work(&bed.engine).expect("the lease is over");
    assert_eq!((done.state, done.attempts, done.lease), (JobState::Done, 2, None));
    assert_eq!(work(&bed.engine), None, "it is done once");
}

#[test]
fn a_job_whose_holder_is_gone_is_claimed_at_once() {
    let bed = Bed::new();
    bed.extractor.answer_text(KIND, "text of the file");
    ask(&bed, 1);
    bed.take_job("extract", "killed", LEASE).expect("due");
    assert_eq!(bed.engine.release_jobs(&|name| name != "killed").unwrap(), 0);
    assert_eq!(work(&bed.engine), None, "its holder still has it");
    assert_eq!(bed.engine.release_jobs(&|name| name == "killed").unwrap(), 1);
    assert_eq!(work(&bed.engine).expect("nobody has it").attempts, 2);
    assert_eq!(bed.engine.release_jobs(&|_| true).unwrap(), 0);
}

#[test]
fn a_failed_job_comes_back_after_a_growing_pause_and_then_is_dead() {
    let bed = Bed::new();
    let late = ExtractError::NotStarted { why: "no\nmore processes".to_owned() };
    bed.extractor.answer(KIND, Err(late));
    ask(&bed, 1);
    for (attempt, pause) in [(1, 5_000), (2, 10_000)] {
        let failed = work(&bed.engine).expect("due");
        assert_eq!((failed.state, failed.attempts), (JobState::Waiting, attempt));
        assert!(failed.last_error.as_deref().is_some_and(|why| why.contains("no more processes")));
        assert_eq!(work(&bed.engine), None, "not before its time");
        bed.clock.advance(Duration::from_millis(pause - 100));
        assert_eq!(work(&bed.engine), None, "not before {pause} ms");
        bed.clock.advance(Duration::from_millis(100 + pause / 5));
    }
    let dead = work(&bed.engine).expect("due");
    assert_eq!((dead.state, dead.attempts), (JobState::Dead, 3));
    bed.clock.advance(Duration::from_secs(86_400));
    assert_eq!(work(&bed.engine), None, "a dead job stays dead");
    let letters = bed.engine.jobs(&bed.user(), &[JobState::Dead], 10).unwrap();
    assert_eq!(letters.iter().map(|job| job.id).collect::<Vec<_>>(), [dead.id]);
}

#[test]
fn a_dead_job_can_be_given_all_its_attempts_back() {
    let bed = Bed::new();
    let user = bed.user();
    bed.extractor.answer(KIND, Err(ExtractError::Damaged { why: "cut off".to_owned() }));
    ask(&bed, 1);
    let dead = work(&bed.engine).expect("due");
    assert_eq!(dead.state, JobState::Dead);
    let back = bed.engine.retry_job(&user, dead.id).unwrap();
    assert_eq!((back.state, back.attempts), (JobState::Waiting, 0));
    assert_eq!(bed.engine.retry_job(&user, dead.id).unwrap(), back, "only dead ones are moved");
    assert!(work(&bed.engine).is_some());
    let unknown = JobId::mint(build::second(5));
    refused!(bed.engine.retry_job(&user, unknown), Error::NoJob { .. });
}

#[test]
fn looking_after_jobs_takes_an_admin_of_the_org() {
    let bed = Bed::new();
    let member = bed.member("member", bed.hub("hub"), Role::Admin);
    ask(&bed, 1);
    let job = bed.engine.jobs(&bed.user(), &[], 10).expect("jobs").remove(0);
    refused!(bed.engine.jobs(&member, &[], 10), Error::Denied { .. });
    refused!(bed.engine.retry_job(&member, job.id), Error::Denied { .. });
}

#[test]
fn workers_side_by_side_get_each_job_once() {
    let bed = Bed::new();
    bed.extractor.answer_text(KIND, "text of the file");
    (0..40).for_each(|n| ask(&bed, n));
    let engines: Vec<_> = (0..4).map(|_| bed.beside()).collect();
    let mut done: Vec<JobId> = std::thread::scope(|scope| {
        let workers: Vec<_> = engines
            .iter()
            .map(|engine| {
                scope.spawn(move || std::iter::from_fn(|| work(engine)).map(|job| job.id).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    done.sort();
    let all = done.len();
    done.dedup();
    assert_eq!((done.len(), all, bed.extractor.asked().len()), (40, 40, 40));
}
