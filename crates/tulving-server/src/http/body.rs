//! Reads a request body, with limits on its size and on the time to receive it.

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tulving_dialects::strict;

use super::app::HttpApp;
use super::multipart;
use super::problem::Problem;
use super::rules::RequestLimits;

/// The server reads and discards up to this multiple of the limit from a body that is too long. A client whose connection is
/// closed while it is still writing rarely reads the reason.
const READ_AWAY: usize = 4;

/// Reads the whole body.
pub(super) async fn read(app: &HttpApp, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    within(app, headers, body, app.limits().body_bytes).await
}

/// Reads the whole body of a request that may contain a file.
pub(super) async fn read_file(app: &HttpApp, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    let limit = match multipart::is_multipart(headers) {
        true => app.limits().upload_bytes.max(app.limits().body_bytes),
        false => app.limits().body_bytes,
    };
    within(app, headers, body, limit).await
}

async fn within(app: &HttpApp, headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Problem> {
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let asks_first = headers.contains_key(EXPECT);
    if announced.is_some_and(|length| length > limit && (asks_first || length > limit * READ_AWAY)) {
        return Err(Problem::too_large(limit));
    }
    // The other half of the time is for the operation itself.
    let time = app.limits().time / 2;
    match tokio::time::timeout(time, collect(body, limit)).await {
        Ok(read) => read,
        Err(_) => {
            let said = format!("the body did not arrive within {} seconds", time.as_secs_f32());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", said))
        }
    }
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    let (mut bytes, mut read) = (Vec::new(), 0usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::broken_body())?;
        let Ok(data) = frame.into_data() else { continue };
        read += data.len();
        if read <= limit {
            bytes.extend_from_slice(&data);
        } else {
            bytes = Vec::new();
            if read > limit * READ_AWAY {
                break;
            }
        }
    }
    if read > limit { Err(Problem::too_large(limit)) } else { Ok(bytes.into()) }
}

/// Parses the body as arguments. The body is JSON or empty.
pub(super) fn arguments(limits: &RequestLimits, headers: &HeaderMap, bytes: &[u8]) -> Result<Value, Problem> {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
    let is_json = |kind: &str| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    };
    if !bytes.is_empty() && kind.is_some_and(|kind| !is_json(kind)) {
        let said = "the body must be JSON";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", said)
            .hinting("send it with Content-Type: application/json"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let said = format!("the body is not UTF-8 at byte {}", error.valid_up_to());
        Problem::new(StatusCode::BAD_REQUEST, "invalid_utf8", said)
    })?;
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let read = strict::parse(text).map_err(|error| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_json", format!("the body is not JSON: {error}"))
            .hinting("send an object, such as {\"content\": \"…\"}")
    })?;
    if depth(&read) > limits.depth {
        let said = format!("the JSON of the body is nested deeper than {}", limits.depth);
        return Err(Problem::new(StatusCode::BAD_REQUEST, "too_deep", said));
    }
    Ok(read)
}

fn depth(value: &Value) -> usize {
    let below = |most: Option<usize>| 1 + most.unwrap_or(0);
    match value {
        Value::Array(items) => below(items.iter().map(depth).max()),
        Value::Object(fields) => below(fields.values().map(depth).max()),
        _ => 0,
    }
}
