//! `tulving jobs`: shows the waiting background jobs, and the failed jobs with the reasons; runs and retries jobs.

use clap::{Args, Subcommand};
use serde::Serialize;
use tulving_core::model::error::ExtractError;
use tulving_core::model::job::Job;
use tulving_core::model::preview;
use tulving_core::model::vocabulary::JobState;
use tulving_core::{JobResult, TurnReadingCounts};

use tulving_server::api::JobListReply;

use crate::args::word;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::maintenance;
use crate::print::Printer;
use crate::show::table::table;
use crate::show::text::counted;
use crate::show::time::age;
use crate::wire::App;
use crate::worker;

const EXAMPLES: &str = "\
Examples:
  tulving jobs
  tulving jobs --state dead
  tulving jobs run
  tulving jobs retry 0199a1b2-…
  tulving jobs retry

Background jobs extract the text of files, prepare links and read turns. A running server does them, else `jobs run`; a few turns
are read after each command. If a language model is needed, the command starts another process and does not wait for it. A failed
job is retried a few times with growing pauses, and then given up with the reason.";

/// Flags of `jobs`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    command: Option<JobsCommand>,
    /// Only in this state; may be repeated
    #[arg(long = "state", value_name = "STATE", value_parser = word!(JobState))]
    states: Vec<JobState>,
    /// Maximum number of jobs
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, Subcommand)]
enum JobsCommand {
    /// Run the due jobs now
    Run {
        /// Only jobs for the language model, and only if no other process runs them
        #[arg(long, hide = true)]
        background: bool,
    },
    /// Retry a job that was given up, or all of them
    Retry {
        /// Its id; without it, all that were given up
        #[arg(value_name = "JOB")]
        job: Option<String>,
    },
}

pub(super) fn run(args: &JobsArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &args.command {
        None => list(args, app, printer),
        Some(JobsCommand::Run { background: true }) => run_llm_jobs(app),
        Some(JobsCommand::Run { background: false }) => work(app, printer),
        Some(JobsCommand::Retry { job: None }) => retry_all(app, printer),
        Some(JobsCommand::Retry { job: Some(job) }) => {
            let id = job.parse().map_err(|_| {
                Failure::usage(format!("`{}` is not the id of a job", preview::short(job)))
                    .hinted("`tulving jobs` shows them")
            })?;
            let job = app.engine.retry_job(app.everywhere("jobs")?, id)?;
            if printer.json() {
                printer.document(&job)?;
            } else {
                printer.line(format!("{} is {}", job.id, job.state))?;
            }
            Ok(Outcome::Done)
        }
    }
}

/// Schedules all failed jobs for another attempt.
fn retry_all(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut retried = Vec::new();
    for job in app.engine.jobs(app.everywhere("jobs")?, &[JobState::Dead], usize::MAX)? {
        retried.push(app.engine.retry_job(app.everywhere("jobs")?, job.id)?);
    }
    if printer.json() {
        printer.document(&serde_json::json!({ "jobs": retried }))?;
        return Ok(Outcome::Done);
    }
    match retried.len() as u64 {
        0 => printer.line("No job was given up")?,
        count => {
            printer.line(format!("{} again", counted(count, "job waits", "jobs wait")))?;
            printer.note("a server runs them, or `tulving jobs run`")?;
        }
    }
    Ok(Outcome::Done)
}

fn list(args: &JobsArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let jobs = app.engine.jobs(app.everywhere("jobs")?, &args.states, args.limit)?;
    let waiting_to_be_embedded = app.engine.waiting_to_be_embedded(app.everywhere("jobs")?)?;
    if printer.json() {
        printer.document(&JobListReply { jobs, waiting_to_be_embedded })?;
        return Ok(Outcome::Done);
    }
    let row = |job: &Job| {
        let what = job.memory().map_or_else(String::new, |memory| memory.to_string());
        let tried = match job.max_attempts {
            // A job with this maximum is never given up.
            u32::MAX => job.attempts.to_string(),
            most => format!("{} of {most}", job.attempts),
        };
        let asked = age(job.created_at, printer.now());
        let why = job.last_error.clone().unwrap_or_default();
        [job.id.to_string(), job.kind.clone(), job.state.to_string(), tried, asked, what, why]
    };
    let rows: Vec<_> = jobs.iter().map(row).collect();
    if !rows.is_empty() {
        printer.lines(&table(["job", "kind", "state", "tried", "asked", "memory", "why"], &rows))?;
    }
    if jobs.is_empty() {
        printer.line("No jobs")?;
    }
    let dead = || jobs.iter().filter(|job| job.state == JobState::Dead);
    let lacks = |job: &Job| job.last_error.as_deref().is_some_and(ExtractError::says_not_installed);
    if dead().any(lacks) {
        app.engine.missing_extractors().into_iter().try_for_each(|missing| printer.note(missing))?;
    } else if dead().next().is_some() {
        printer.note("`tulving jobs retry` retries the jobs that were given up")?;
    }
    if waiting_to_be_embedded > 0 {
        let waiting = counted(waiting_to_be_embedded, "memory waits", "memories wait");
        printer.note(format!("{waiting} to be embedded; `tulving embed` does it now"))?;
    }
    Ok(Outcome::Done)
}

/// The result of running the due jobs.
#[derive(Default, Serialize)]
pub(super) struct JobRunReport {
    done: u64,
    pub(super) failed: u64,
    /// Number of jobs to be tried again.
    later: u64,
    /// True if some jobs failed because a program is missing.
    #[serde(skip)]
    pub(super) lacking: bool,
    /// The result for the turns that were read.
    turns: TurnReadingCounts,
}

fn work(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("jobs")?)?;
    let done = process_all(app, printer)?;
    if printer.json() {
        printer.document(&done)?;
        return Ok(Outcome::Done);
    }
    let failed = match done.failed {
        0 => String::new(),
        failed => format!("; {failed} failed, `tulving jobs` shows why"),
    };
    let later = match done.later {
        0 => String::new(),
        later => format!("; {later} will be retried later"),
    };
    let turns = gleaned(done.turns);
    printer.line(format!("Did {}{turns}{failed}{later}", counted(done.done, "job", "jobs")))?;
    Ok(Outcome::Done)
}

/// Runs the jobs that call a language model, unless another process of the home already does so.
fn run_llm_jobs(app: &App<'_>) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("jobs")?)?;
    if let Some(_alone) = maintenance::lock_llm_work(app.store.home()) {
        app.engine.release_jobs(&worker::is_gone)?;
        while app.engine.think_waiting(worker::own())?.is_some() {}
    }
    Ok(Outcome::Done)
}

/// Describes the result for turns, if there is one.
fn gleaned(TurnReadingCounts { saved, aside, known, journaled }: TurnReadingCounts) -> String {
    let described = [
        (saved, format!("{saved} noted")),
        (aside, format!("{aside} quarantined, `tulving review` lists them")),
        (known, format!("{known} already known")),
        (journaled, format!("{journaled} written into journals")),
    ];
    described
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, described)| format!("; {described}"))
        .collect()
}

/// Runs one due job.
fn one(app: &App<'_>) -> Result<Option<JobResult>, Failure> {
    Ok(match app.engine.process_waiting(worker::own())? {
        None => app.engine.think_waiting(worker::own())?,
        done => done,
    })
}

/// Runs all due jobs.
pub(super) fn process_all(app: &App<'_>, printer: &mut Printer) -> Result<JobRunReport, Failure> {
    app.engine.release_jobs(&worker::is_gone)?;
    let bar = printer.bar("Reading", None);
    let mut all = JobRunReport::default();
    while let Some(processed) = one(app)? {
        all.lacking |= processed.lacking;
        match processed.job.state {
            JobState::Done => all.done += 1,
            JobState::Dead => all.failed += 1,
            // The job will be retried later, or another process is running it.
            _ => all.later += 1,
        }
        bar.set_position(all.done + all.failed + all.later);
    }
    bar.finish_and_clear();
    all.turns = app.engine.gleaned();
    Ok(all)
}
