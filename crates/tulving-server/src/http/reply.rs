//! The answer to a successful request: `{"data": …}`.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::problem::Problem;

/// Returns a response with the data in its envelope.
pub(super) fn data(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => json(enveloped(&text)),
        Err(_) => Problem::fault().into_response(),
    }
}

/// Wraps data that is already JSON in its envelope.
pub(super) fn enveloped(data: &str) -> String {
    format!("{{\"data\":{data}}}")
}

/// Returns a response with a body that is already JSON.
pub(super) fn json(body: impl Into<axum::body::Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.into()).into_response()
}
