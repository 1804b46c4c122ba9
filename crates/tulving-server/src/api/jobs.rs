//! Operations on background jobs, and on the token usage of the language model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::id::JobId;
use tulving_core::model::job::Job;
use tulving_core::model::llm::LlmSpending;
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
    pub jobs: Vec<Job>,
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
    Ok(JobListReply { jobs, waiting_to_be_embedded }.into())
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
) -> Result<OperationOutput<Job>, ToolError> {
    let id: JobId = this
        .job_id
        .parse()
        .map_err(|_| ToolError::invalid("invalid_argument", "job_id", "`job_id` is not the id of a job"))?;
    Ok(context.engine.retry_job(&context.caller, id)?.into())
}

#[derive(Deserialize, JsonSchema)]
struct UsageArguments {
    /// Number of past days, including today, 1 to 3660 (default 7).
    #[schemars(range(min = 1, max = 3660))]
    days: Option<WholeNumber>,
}

fn usage(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<UsageArguments>,
) -> Result<OperationOutput<LlmSpending>, ToolError> {
    let days = which.days.map_or(USUAL_DAYS, |days| days.0);
    Ok(context.engine.usage(&context.caller, days)?.into())
}
