//! The answer to a successful request: `{"data": …}`.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::problem::Problem;

/// The data in its envelope.
pub(super) fn data(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => json(enveloped(&text)),
        Err(_) => Problem::fault().into_response(),
    }
}

/// Data that is JSON already, in its envelope.
pub(super) fn enveloped(data: &str) -> String {
    format!("{{\"data\":{data}}}")
}

/// A body that is JSON already.
pub(super) fn json(body: impl Into<axum::body::Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.into()).into_response()
}
