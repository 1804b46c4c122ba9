//! `GET /v1/memories/{id}/attachment`: the file that a memory describes, unchanged.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::Response;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tulving_core::model::error::Invalid;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::memory::Attachment;
use tulving_dialects::tool::ToolError;

use super::app::HttpApp;
use super::auth::AuthenticatedCaller;
use super::dialects::{PathParameters, unreadable};
use super::problem::Problem;

/// The route to the file of a memory.
pub(super) const AT: &str = "/v1/memories/{id}/attachment";

/// Returns a file. The headers ask a browser to download the file instead of displaying it: a displayed file could run its
/// author's scripts with this server's origin.
pub(super) async fn show(
    State(app): State<HttpApp>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    id: PathParameters<String>,
) -> Result<Response, Problem> {
    let Path(id) = id.map_err(unreadable)?;
    let which: MemoryRef =
        id.parse().map_err(|error: Invalid| Problem::from(ToolError::from(error)).about("id"))?;
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
