//! Operations on background jobs, and on the token usage of the language model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::id::JobId;
use tulving_core::model::job::Job;
use tulving_core::model::llm::{LlmSpending, LlmUsage};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::JobState;

use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::operation::{Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of jobs.
const JOBS: i64 = 1_000;
const USUAL_JOBS: i64 = 100;
/// Default number of past days in a usage report.
const USUAL_DAYS: i64 = 7;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/jobs", "listJobs", "List background jobs", jobs)
            .saying("For admins."),
        Operation::new(
            OperationMethod::Post,
            "/v1/jobs/{job_id}/retry",
            "retryJob",
            "Retry a job that was given up",
            retry,
        )
        .saying("For admins."),
        Operation::new(
            OperationMethod::Get,
            "/v1/usage",
            "getUsage",
            "Show what the language model has cost",
            usage,
        )
        .saying("For admins of the org. Days are UTC."),
    ]
}

/// A piece of background work.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Job")]
pub struct JobReply {
    /// Its id.
    id: String,
    /// The worker that runs it.
    kind: String,
    /// Its input: the id of a memory, or the key of a file.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    payload: serde_json::Value,
    /// Its state.
    state: JobState,
    /// Earliest time of the next attempt.
    due_at: Timestamp,
    /// Number of attempts so far.
    attempts: u32,
    /// Number of attempts after which it is given up.
    max_attempts: u32,
    /// Error of the last attempt.
    last_error: Option<String>,
    /// Time at which it was queued.
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
    states: Vec<JobState>,
    /// Maximum number of jobs, 1 to 1000 (default 100).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// Jobs, and the number of memories that wait for their embeddings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JobList")]
pub struct JobListReply {
    /// The jobs, the earliest due first.
    pub jobs: Vec<JobReply>,
    /// Number of memories that wait for their embeddings.
    pub waiting_to_be_embedded: u64,
}

fn jobs(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<ListJobsArguments>,
) -> Result<OperationOutput<JobListReply>, ToolError> {
    let limit = limited(context, which.limit, USUAL_JOBS, JOBS)?;
    let jobs = context.engine.jobs(&context.caller, &which.states, limit)?;
    let waiting_to_be_embedded = context.engine.waiting_to_be_embedded(&context.caller)?;
    Ok(JobListReply { jobs: jobs.into_iter().map(JobReply::from).collect(), waiting_to_be_embedded }.into())
}

/// Names a job.
#[derive(Deserialize, JsonSchema)]
struct RetryJobArguments {
    /// The job.
    #[schemars(extend("format" = "uuid"))]
    job_id: String,
}

fn retry(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<RetryJobArguments>,
) -> Result<OperationOutput<JobReply>, ToolError> {
    let id: JobId = this
        .job_id
        .parse()
        .map_err(|_| ToolError::invalid("invalid_argument", "job_id", "`job_id` is not the id of a job"))?;
    Ok(JobReply::from(context.engine.retry_job(&context.caller, id)?).into())
}

#[derive(Deserialize, JsonSchema)]
struct UsageArguments {
    /// Number of past days, including today, 1 to 3660 (default 7).
    #[schemars(range(min = 1, max = 3660))]
    days: Option<WholeNumber>,
}

/// Tokens used, and the daily limit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageReport")]
struct UsageReply {
    /// The configured service; null if there is none.
    provider: Option<String>,
    /// The configured model.
    model: Option<String>,
    /// Maximum number of tokens per day; null means no limit.
    tokens_per_day: Option<u64>,
    /// Number of tokens used today.
    today: u64,
    /// By day, service, model and purpose, the newest day first.
    usage: Vec<UsageEntryReply>,
}

/// Tokens used on one day with one model for one purpose.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UsageEntry")]
struct UsageEntryReply {
    /// The day, in UTC.
    day: String,
    /// The service.
    provider: String,
    /// The model.
    model: String,
    /// Its purpose.
    pass: String,
    /// Number of requests to it.
    calls: u64,
    /// Number of those requests that failed.
    failures: u64,
    /// Tokens of the prompts.
    tokens_in: u64,
    /// Tokens of the answers.
    tokens_out: u64,
    /// Number of requests that were dropped because the queue was full.
    dropped: u64,
}

impl From<LlmUsage> for UsageEntryReply {
    fn from(usage: LlmUsage) -> Self {
        let LlmUsage { day, provider, model, pass, calls, failures, tokens_in, tokens_out, dropped } = usage;
        Self { day, provider, model, pass, calls, failures, tokens_in, tokens_out, dropped }
    }
}

fn usage(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<UsageArguments>,
) -> Result<OperationOutput<UsageReply>, ToolError> {
    let days = which.days.map_or(USUAL_DAYS, |days| days.0);
    let LlmSpending { llm, tokens_per_day, today, usage } = context.engine.usage(&context.caller, days)?;
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
