//! The answer to a refused request: `application/problem+json` (RFC 9457) with a stable `code`.
//!
//! The answer also contains an `error` object for clients of the memax service, because they ignore the HTTP status.

use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tulving_core::model::error::{Class, Error};
use tulving_dialects::tool::ToolError;

use super::status::status;

/// Number of seconds that a client should wait before it retries a request that failed because the server was busy.
const SOON: u64 = 1;

/// The reason why a request was refused or failed.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    hint: Option<String>,
    field: Option<String>,
    /// Number of seconds to wait before the next try.
    wait: Option<u64>,
}

#[derive(Serialize)]
struct ProblemDocument<'a> {
    r#type: &'static str,
    title: &'a str,
    status: u16,
    code: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    error: ErrorObject<'a>,
}

/// The refusal as clients of the memax service read it.
#[derive(Serialize)]
struct ErrorObject<'a> {
    code: &'a str,
    message: &'a str,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), hint: None, field: None, wait: None }
    }

    /// Replaces the status of the problem's class by another status.
    pub(super) fn answered(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Sets the hint.
    pub(super) fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Sets the field of the request that caused the problem.
    pub(super) fn about(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// Appends a text to the hint.
    pub(super) fn hinting_too(self, more: &str) -> Self {
        let hint = self.hint.as_ref().map_or_else(|| more.to_owned(), |hint| format!("{hint}; {more}"));
        self.hinting(hint)
    }

    /// Returns true if the server caused the failure, and not the request.
    pub(super) fn is_of_server(&self) -> bool {
        self.status.is_server_error()
    }

    /// The description of the problem.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// A stable name for programs.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the problem for a request that the web framework refused with only a status.
    pub(super) fn bare(status: StatusCode) -> Self {
        if status.is_server_error() {
            return Self::fault().answered(status);
        }
        let reason = status.canonical_reason().unwrap_or("refused").to_lowercase();
        Self::new(status, "invalid_request", format!("the request was refused: {reason}"))
    }

    pub(super) fn no_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "missing_token", "the request has no token")
            .hinting("send it as Authorization: Bearer TOKEN; `tulving serve` says where the token is")
    }

    pub(super) fn wrong_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "bad_token", "the token is unknown or was revoked")
            .hinting("`tulving token create` makes one")
    }

    pub(super) fn too_large(limit: usize) -> Self {
        let said = format!("the body is longer than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", said)
    }

    pub(super) fn broken_body() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "broken_body", "the body ended early")
    }

    pub(super) fn too_slow(time: Duration) -> Self {
        let said = format!("the request took longer than {} seconds", time.as_secs_f32());
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", said)
            .hinting("it may still finish; check whether it did before you repeat it");
        Self { wait: Some(SOON), ..problem }
    }

    pub(super) fn too_many(said: impl Into<String>, wait: Duration) -> Self {
        let wait = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", said);
        Self { wait: Some(wait), ..problem.hinting(format!("try again in {wait} seconds")) }
    }

    pub(super) fn crowded(most: usize) -> Self {
        let said = format!("the server has {most} connections, which is its limit");
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_connections", said)
            .hinting("close unused connections, or raise server.max_connections");
        Self { wait: Some(SOON), ..problem }
    }

    pub(super) fn fault() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "internal error in Tulving; the request was not carried out",
        )
    }

    /// Returns the problem document, with the id of the request if there is one.
    pub(super) fn document(&self, request_id: Option<&str>) -> String {
        let document = ProblemDocument {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            code: self.code,
            detail: &self.detail,
            hint: self.hint.as_deref(),
            field: self.field.as_deref(),
            request_id,
            error: ErrorObject { code: self.code, message: &self.detail },
        };
        serde_json::to_string(&document).expect("plain texts are JSON")
    }
}

/// The code of the only host error whose text is sent to the client: the text contains no file name, and the client can
/// continue to read.
const READ_ONLY: &str = "home_read_only";

impl From<ToolError> for Problem {
    fn from(refusal: ToolError) -> Self {
        let ToolError { code, message, hint, field, class } = refusal;
        let status = StatusCode::from_u16(status(class)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if matches!(class, Class::Corrupt | Class::Bug | Class::Host) && code != READ_ONLY {
            // The text may contain file names, so it is logged for the operator and not sent to the client.
            tracing::error!(code, reason = message, "a request failed");
            return Self::new(status, code, "the server could not finish the request; its log says why");
        }
        let wait = (class == Class::Busy).then_some(SOON);
        Self { status, code, detail: message, hint, field, wait }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        ToolError::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.document(None)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tulving\""));
        }
        if let Some(wait) = self.wait {
            headers.insert(RETRY_AFTER, wait.into());
        }
        // `accompany` writes the id of the request into the document.
        response.extensions_mut().insert(self);
        response
    }
}
