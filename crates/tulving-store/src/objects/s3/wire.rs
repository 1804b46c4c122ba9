//! Sends the requests of `object_store` with the same HTTP client that is used for models.
//!
//! A request blocks the calling thread on purpose, because that thread may wait. If a request fails because the service
//! is busy or unreachable, it is retried at most twice within its time limit. Every request can be repeated without
//! harm.

use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use ureq::http::{Request, StatusCode, request};
use ureq::{Agent, RequestExt as _};

/// Maximum number of attempts of a request.
const ATTEMPTS: u32 = 3;
/// The approximate length of the first wait between two attempts. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The time limit for connecting. This time is a part of the time limit of a request.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum size of an answer, in bytes. Attachments are far smaller, so a larger answer cannot be an attachment.
const LARGEST_ANSWER: u64 = 1 << 30;

/// Creates the client.
#[derive(Debug)]
pub(super) struct S3Connector {
    pub(super) time_out: Duration,
    pub(super) allow_http: bool,
}

impl HttpConnector for S3Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(!self.allow_http)
            // A request is signed for one address, so redirects are not followed.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .into();
        Ok(HttpClient::new(S3HttpClient { agent, time_out: self.time_out }))
    }
}

#[derive(Debug)]
struct S3HttpClient {
    agent: Agent,
    time_out: Duration,
}

/// The reason why the service did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum S3RequestError {
    /// The request took too long.
    #[error("no answer came within {} s", after.as_secs_f32())]
    TimedOut {
        /// The time that the client waited.
        after: Duration,
    },
    /// The connection failed.
    #[error("{why}")]
    NotReached {
        /// The message of the client.
        why: String,
    },
}

#[async_trait]
impl HttpService for S3HttpClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        self.ask(&parts, &body).map_err(|error| {
            let kind = match error {
                S3RequestError::TimedOut { .. } => HttpErrorKind::Timeout,
                S3RequestError::NotReached { .. } => HttpErrorKind::Connect,
            };
            HttpError::new(kind, error)
        })
    }
}

impl S3HttpClient {
    fn ask(&self, parts: &request::Parts, body: &[u8]) -> Result<HttpResponse, S3RequestError> {
        let begun = Instant::now();
        let mut made = 1;
        loop {
            let left = self.time_out.saturating_sub(begun.elapsed());
            let answer = self.attempt(parts, body, left);
            let wait = FIRST_WAIT.mul_f64((0.5 + fastrand::f64()) * f64::from(2_u32.pow(made - 1)));
            let may_pass = match &answer {
                Ok(response) => is_passing(response.status()),
                Err(S3RequestError::NotReached { .. }) => true,
                Err(S3RequestError::TimedOut { .. }) => false,
            };
            if !may_pass || made == ATTEMPTS || begun.elapsed() + wait >= self.time_out {
                return answer;
            }
            thread::sleep(wait);
            made += 1;
        }
    }

    fn attempt(
        &self,
        parts: &request::Parts,
        body: &[u8],
        left: Duration,
    ) -> Result<HttpResponse, S3RequestError> {
        let timed_out = || S3RequestError::TimedOut { after: self.time_out };
        if left.is_zero() {
            return Err(timed_out());
        }
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => timed_out(),
            error => S3RequestError::NotReached { why: error.to_string() },
        };
        let connect = left.min(CONNECT);
        macro_rules! run {
            ($body:expr) => {
                Request::from_parts(parts.clone(), $body)
                    .with_agent(&self.agent)
                    .configure()
                    .timeout_global(Some(left))
                    .timeout_connect(Some(connect))
                    .run()
            };
        }
        // A PUT request with an empty body must still send the body.
        let sent = if body.is_empty() && parts.method != "PUT" { run!(()) } else { run!(body) };
        let (parts, body) = sent.map_err(failed)?.into_parts();
        let body = body.into_with_config().limit(LARGEST_ANSWER).read_to_vec().map_err(failed)?;
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
}

/// Returns true if the same request may succeed later.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}
