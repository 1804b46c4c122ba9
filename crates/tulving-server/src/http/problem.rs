//! What is answered where nothing was done: `application/problem+json` (RFC 9457) with a stable `code`.

use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tulving_core::error::Error;
use tulving_dialects::tool::Refusal;

use super::status::status;

/// Why a request was not done.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    hint: Option<String>,
    field: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: &'static str,
    title: &'a str,
    status: u16,
    code: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), hint: None, field: None }
    }

    /// The same with another status than that of its class.
    pub(super) fn answered(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same with what to do about it.
    pub(super) fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same with the part of the request that it is about.
    pub(super) fn about(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// The same with another status.
    pub(super) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// A stable name for programs.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    pub(super) fn no_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "missing_token", "the request has no token")
            .hinting("send it as Authorization: Bearer TOKEN; `tulving serve` says where the token is")
    }

    pub(super) fn wrong_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "bad_token", "the token is not known or was revoked")
            .hinting("`tulving token create` makes one")
    }

    pub(super) fn too_large(limit: usize) -> Self {
        let said = format!("the body is longer than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", said)
    }

    pub(super) fn broken_body() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "broken_body", "the body ended before it was whole")
    }

    pub(super) fn too_slow(time: Duration) -> Self {
        let said = format!("the request was not done within {} seconds", time.as_secs_f32());
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "timeout", said)
            .hinting("what was begun goes to its end; look whether it was done before you repeat it")
    }

    pub(super) fn fault() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "a fault in Tulving; the request was not done",
        )
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, message, hint, field, class } = refusal;
        let status = StatusCode::from_u16(status(class)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code, detail: message, hint, field }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Refusal::from(error).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Document {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            code: self.code,
            detail: &self.detail,
            hint: self.hint.as_deref(),
            field: self.field.as_deref(),
        };
        let body = serde_json::to_string(&document).expect("plain texts are JSON");
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tulving\""));
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
