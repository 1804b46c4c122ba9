//! Carries the requests of `object_store` over the HTTP client that the models use, too.
//!
//! It blocks the thread that it is called on, on purpose: that is a thread which may wait. What fails because the service is
//! busy or away is tried again, twice, as long as the time of the request allows; nothing that is asked does harm twice.

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

/// How often a request is made at the most.
const ATTEMPTS: u32 = 3;
/// The first wait is around this long, each next one twice that.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// How long it may take to be connected, of the time of a request.
const CONNECT: Duration = Duration::from_secs(10);
/// Attachments are far smaller; whoever sends more sends something else.
const LARGEST_ANSWER: u64 = 1 << 30;

/// Makes the client.
#[derive(Debug)]
pub(super) struct Connector {
    pub(super) time_out: Duration,
    pub(super) allow_http: bool,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(!self.allow_http)
            // What is signed for one address is not sent to another.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .into();
        Ok(HttpClient::new(Wire { agent, time_out: self.time_out }))
    }
}

#[derive(Debug)]
struct Wire {
    agent: Agent,
    time_out: Duration,
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    /// It took too long.
    #[error("no answer came within {} s", after.as_secs_f32())]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
    },
    /// The connection failed.
    #[error("{why}")]
    NotReached {
        /// What the client said.
        why: String,
    },
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        self.ask(&parts, &body).map_err(|error| {
            let kind = match error {
                Unanswered::TimedOut { .. } => HttpErrorKind::Timeout,
                Unanswered::NotReached { .. } => HttpErrorKind::Connect,
            };
            HttpError::new(kind, error)
        })
    }
}

impl Wire {
    fn ask(&self, parts: &request::Parts, body: &[u8]) -> Result<HttpResponse, Unanswered> {
        let begun = Instant::now();
        let mut made = 1;
        loop {
            let left = self.time_out.saturating_sub(begun.elapsed());
            let answer = self.attempt(parts, body, left);
            let wait = FIRST_WAIT.mul_f64((0.5 + fastrand::f64()) * f64::from(2_u32.pow(made - 1)));
            let may_pass = match &answer {
                Ok(response) => is_passing(response.status()),
                Err(Unanswered::NotReached { .. }) => true,
                Err(Unanswered::TimedOut { .. }) => false,
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
    ) -> Result<HttpResponse, Unanswered> {
        let timed_out = || Unanswered::TimedOut { after: self.time_out };
        if left.is_zero() {
            return Err(timed_out());
        }
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => timed_out(),
            error => Unanswered::NotReached { why: error.to_string() },
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
        // An empty body is still one where something is put.
        let sent = if body.is_empty() && parts.method != "PUT" { run!(()) } else { run!(body) };
        let (parts, body) = sent.map_err(failed)?.into_parts();
        let body = body.into_with_config().limit(LARGEST_ANSWER).read_to_vec().map_err(failed)?;
        Ok(HttpResponse::from_parts(parts, body.into()))
    }
}

/// Whether the same may be answered otherwise a moment later.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}
