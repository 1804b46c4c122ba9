//! Background jobs, and the cost of the language model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::id::JobId;
use tulving_core::model::job::Job;
use tulving_core::model::llm::{Spending, Usage};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::JobState;

use super::operation::{Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;

/// Maximum and default number of jobs.
const JOBS: i64 = 1_000;
const USUAL_JOBS: i64 = 100;
/// Default number of past days.
const USUAL_DAYS: i64 = 7;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/jobs", "listJobs", "Background work", jobs)
            .saying("For admins."),
        Operation::new(
            OperationMethod::Post,
            "/v1/jobs/{job_id}/retry",
            "retryJob",
            "Try a job again that was given up",
            retry,
        )
        .saying("For admins."),
        Operation::new(
            OperationMethod::Get,
            "/v1/usage",
            "getUsage",
            "What the language model has cost",
            usage,
        )
        .saying("For admins of the org. Days are UTC."),
    ]
}

/// A piece of background work.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Job")]
struct JobReply {
    /// Its id.
    id: String,
    /// Which worker does it.
    kind: String,
    /// What it is about: the id of a memory, or the key of a file.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    payload: serde_json::Value,
    /// Where it stands.
    #[schemars(schema_with = "words::word::<JobState>")]
    state: JobState,
    /// Not before this.
    #[schemars(schema_with = "words::time")]
    due_at: Timestamp,
    /// How often it was begun.
    attempts: u32,
    /// After how many it is given up.
    max_attempts: u32,
    /// Why the last attempt failed.
    last_error: Option<String>,
    /// When it was asked for.
    #[schemars(schema_with = "words::time")]
    created_at: Timestamp,
}

impl From<Job> for JobReply {
    fn from(job: Job) -> Self {
        Self {
            id: job.id.to_string(),
            kind: job.kind,
            payload: job.payload,
            state: job.state,
            due_at: job.due_at,
            attempts: job.attempts,
            max_attempts: job.max_attempts,
            last_error: job.last_error,
            created_at: job.created_at,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct ListJobsArguments {
    /// Only in these states.
    #[serde(default)]
    #[schemars(schema_with = "words::several::<JobState>")]
    states: Vec<JobState>,
    /// Most jobs to give, 1 to 1000 (default 100).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JobList")]
struct JobListReply {
    /// The jobs, those first that were due first.
    jobs: Vec<JobReply>,
    /// How many memories wait for their vectors.
    waiting_to_be_embedded: u64,
}

fn jobs(
    desk: &ToolContext<'_>,
    SingleInput(which): SingleInput<ListJobsArguments>,
) -> Result<OperationOutput<JobListReply>, ToolError> {
    let limit = limited(desk, which.limit, USUAL_JOBS, JOBS)?;
    let jobs = desk.engine.jobs(&desk.caller, &which.states, limit)?;
    let waiting_to_be_embedded = desk.engine.waiting_to_be_embedded(&desk.caller)?;
    Ok(JobListReply { jobs: jobs.into_iter().map(JobReply::from).collect(), waiting_to_be_embedded }.into())
}

/// Which job.
#[derive(Deserialize, JsonSchema)]
struct RetryJobArguments {
    /// The job.
    #[schemars(extend("format" = "uuid"))]
    job_id: String,
}

fn retry(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<RetryJobArguments>,
) -> Result<OperationOutput<JobReply>, ToolError> {
    let id: JobId = this
        .job_id
        .parse()
        .map_err(|_| ToolError::invalid("invalid_argument", "job_id", "`job_id` is not the id of a job"))?;
    Ok(JobReply::from(desk.engine.retry_job(&desk.caller, id)?).into())
}

#[derive(Deserialize, JsonSchema)]
struct UsageArguments {
    /// How many days to look back at, today included, 1 to 3660 (default 7).
    #[schemars(range(min = 1, max = 3660))]
    days: Option<WholeNumber>,
}

/// What was spent, and what may be.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageReport")]
struct UsageReply {
    /// The service that is set up; null where there is none.
    provider: Option<String>,
    /// The model that is set up there.
    model: Option<String>,
    /// How many tokens a day may cost; null is no bound.
    tokens_per_day: Option<u64>,
    /// How many today has cost.
    today: u64,
    /// By day, service, model and purpose, the newest day first.
    usage: Vec<UsageEntryReply>,
}

/// What was spent on a day with one model for one purpose.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageEntry")]
struct UsageEntryReply {
    /// The day, in UTC.
    day: String,
    /// The service.
    provider: String,
    /// The model.
    model: String,
    /// What it was asked for.
    pass: String,
    /// How often it was asked.
    calls: u64,
    /// How often there was no answer, of these.
    failures: u64,
    /// Tokens of the prompts.
    tokens_in: u64,
    /// Tokens of the answers.
    tokens_out: u64,
    /// How often it was to be asked and was not, since too much waited for it.
    dropped: u64,
}

impl From<Usage> for UsageEntryReply {
    fn from(usage: Usage) -> Self {
        let Usage { day, provider, model, pass, calls, failures, tokens_in, tokens_out, dropped } = usage;
        Self { day, provider, model, pass, calls, failures, tokens_in, tokens_out, dropped }
    }
}

fn usage(
    desk: &ToolContext<'_>,
    SingleInput(which): SingleInput<UsageArguments>,
) -> Result<OperationOutput<UsageReply>, ToolError> {
    let days = which.days.map_or(USUAL_DAYS, |days| days.0);
    let Spending { llm, tokens_per_day, today, usage } = desk.engine.usage(&desk.caller, days)?;
    let (provider, model) = llm.map(|llm| (llm.provider, llm.model)).unzip();
    Ok(UsageReply {
        provider,
        model,
        tokens_per_day,
        today,
        usage: usage.into_iter().map(UsageEntryReply::from).collect(),
    }
    .into())
}
