//! CORS: in a browser, only pages of the sites in the configuration may call the server.
//!
//! Tokens are sent in a header and never in a cookie, so credentials are not allowed.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::rules::ServerRules;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// Headers that a page may send in addition to the standard ones.
const HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, x-hub-id, x-tulving-space, x-tulving-default-space, x-tulving-agent, x-request-id, idempotency-key, \
     if-match, if-none-match, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
);
/// Headers that a page may read in addition to the standard ones.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("x-request-id, retry-after, etag, location, mcp-session-id, www-authenticate");
/// Number of seconds that a browser may cache a preflight answer.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Returns the origin of a request, if pages of this origin may call the server.
pub(super) fn allowed(rules: &ServerRules, headers: &HeaderMap) -> Option<HeaderValue> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
    rules.cors_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

/// Returns true if the request is a preflight.
pub(super) fn is_question(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the answer to a preflight request.
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

/// Adds `Vary: Origin`, because the answer differs between origins.
pub(super) fn vary(headers: &mut HeaderMap) {
    headers.append(VARY, HeaderValue::from_static("origin"));
}
