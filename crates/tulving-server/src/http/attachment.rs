//! `GET /v1/memories/{id}/attachment`: the file that a memory describes, as it is.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tulving_core::id::MemoryRef;
use tulving_core::memory::Attachment;

use super::app::App;
use super::auth::Called;
use super::problem::Problem;

/// Where files are given.
pub(super) const AT: &str = "/v1/memories/{id}/attachment";

/// Gives a file. A browser is told to keep it and not to show it: whoever pushed it could else speak for this server.
pub(super) async fn show(
    State(app): State<App>,
    Called(caller): Called,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let which: MemoryRef = id.parse().map_err(|_| {
        let said = format!("`{}` is not the id of a memory", tulving_core::preview::short(&id));
        Problem::new(StatusCode::BAD_REQUEST, "invalid_id", said).about("id")
    })?;
    let read = app.blocking(move |engine| Ok::<_, Problem>(engine.attachment(&caller, which)?));
    let (attachment, bytes) = read.await??;
    let Attachment { media_type, name, .. } = attachment;
    let name = utf8_percent_encode(name.as_deref().unwrap_or("file"), NON_ALPHANUMERIC).to_string();
    let kind = HeaderValue::from_str(&media_type);
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename*=UTF-8''{name}")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}
