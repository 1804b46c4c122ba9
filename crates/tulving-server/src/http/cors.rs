//! Pages of other sites that may call: those of the sites that the configuration names, and no others.
//!
//! Tokens travel in a header and never in a cookie, so no credentials are allowed for.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::rules::Rules;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// What a page may send beside what every page may.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, x-hub-id, x-tulving-space, x-tulving-default-space, x-tulving-agent, x-request-id, idempotency-key, \
     if-match, if-none-match, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
);
/// What a page may read beside what every page may.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-request-id, retry-after, etag, location, mcp-session-id, www-authenticate");
/// How many seconds a browser may remember the answer to its question.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The origin of a request, where its pages may call.
pub(super) fn allowed(rules: &Rules, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
    rules.cors_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

/// Whether a browser only asks what a page may do.
pub(super) fn is_question(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to that question.
pub(super) fn answer() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets a page of this origin read the answer.
pub(super) fn open(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
}

/// Says that the answer is another one for other origins.
pub(super) fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("origin"));
}
