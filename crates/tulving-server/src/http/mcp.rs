//! `/mcp`: the Model Context Protocol as streamable HTTP, in all its revisions.
//!
//! Every request is independent in all revisions: the token, the headers and the address determine the caller, the space and
//! the dialect. The server stores no sessions, so it can be restarted between two requests. A client of a revision before
//! 2026-07-28 sends its name only once. The server returns the name as the session id, and the client sends this id with
//! every later request.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, GetMeta as _, ProtocolVersion};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tulving_core::model::preview;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::Origin;
use tulving_dialects::Dialect;

use super::app::HttpApp;
use super::auth::Credentials;
use super::body;
use super::dialects::{PathParameters, known, unreadable};
use super::problem::Problem;
use crate::mcp::REVISIONS;
use crate::mcp::message::{self, RefusedMessage};
use crate::mcp::name::tidy;

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The prefix of the name in a session id.
const NAMED: &str = "client-";

/// Answers one request of one caller in one dialect.
pub(super) type McpHandler = dyn Fn(Caller, Dialect, Request) -> McpResponseFuture + Send + Sync;
type McpResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// `POST /mcp`
pub(super) async fn native(
    State(app): State<HttpApp>,
    given: Credentials,
    request: Request,
) -> Result<Response, Problem> {
    serve(&app, given, Dialect::default(), request).await
}

/// `POST /mcp/{dialect}`
pub(super) async fn spoken(
    State(app): State<HttpApp>,
    given: Credentials,
    dialect: PathParameters<String>,
    request: Request,
) -> Result<Response, Problem> {
    let Path(dialect) = dialect.map_err(unreadable)?;
    // The server authenticates the caller first, so that only valid callers learn which dialects exist.
    match known(&dialect) {
        Ok(dialect) => serve(&app, given, dialect, request).await,
        Err(problem) => app.caller(given, Origin::Mcp).await.and(Err(problem)),
    }
}

async fn serve(
    app: &HttpApp,
    given: Credentials,
    dialect: Dialect,
    request: Request,
) -> Result<Response, Problem> {
    let mut caller = app.caller(given.confined(), Origin::Mcp).await?;
    let (parts, body) = request.into_parts();
    let bytes = body::read(app, &parts.headers, body).await?;
    let revision = revision(&parts.headers);
    let message = match message::read(&bytes) {
        Ok(message) => message,
        Err(refused) => return Ok(answered(&refused, revision.as_deref())),
    };
    let named = introduced(&message);
    if caller.agent.is_none() {
        caller.agent = name(&message).or_else(|| named.clone()).or_else(|| remembered(&parts.headers));
    }
    let request = Request::from_parts(parts, Body::from(bytes));
    // The server does not know yet which tool the message calls, so every call counts as one that may write.
    let place = app.place(true).await?;
    let mut response = (app.answer)(caller, dialect, request).await;
    drop(place);
    if let Some(problem) = bare(&response, revision.as_deref()) {
        return Err(problem);
    }
    if let Some(id) = named.filter(|_| response.status() == StatusCode::OK).and_then(|name| session(&name)) {
        response.headers_mut().insert(SESSION, id);
    }
    Ok(response)
}

/// Returns a handler that creates an MCP server for each request and drops it afterwards.
pub(super) fn answering<S: ServerHandler + Clone>(
    server: impl Fn(Caller, Dialect) -> S + Send + Sync + 'static,
) -> Arc<McpHandler> {
    // The host check has already checked `Host` and `Origin`, and the body was read with a size limit.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX)
        .disable_allowed_hosts();
    Arc::new(move |caller, dialect, request| {
        let server = server(caller, dialect);
        let sessions = Arc::<NeverSessionManager>::default();
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config.clone());
        Box::pin(async move { service.handle(request).await.map(Body::new) })
    })
}

/// Returns the client name in the metadata of a request.
fn name(message: &ClientJsonRpcMessage) -> Option<String> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    request.request.get_meta().client_info().and_then(|client| tidy(&client.name))
}

/// Returns the client name in the first message of a session.
fn introduced(message: &ClientJsonRpcMessage) -> Option<String> {
    match message {
        ClientJsonRpcMessage::Request(request) => match &request.request {
            ClientRequest::InitializeRequest(begin) => tidy(&begin.params.client_info.name),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a session id that contains only a client name. This id grants no rights.
fn session(name: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{NAMED}{}", HEXLOWER.encode(name.as_bytes()))).ok()
}

/// Returns the client name in a session id that this server created. Other session ids are ignored.
fn remembered(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION)?.to_str().ok()?.strip_prefix(NAMED)?;
    let name = HEXLOWER.decode(id.as_bytes()).ok()?;
    tidy(std::str::from_utf8(&name).ok()?)
}

/// Returns the protocol revision of a request.
fn revision(headers: &HeaderMap) -> Option<String> {
    headers.get(REVISION).map(|revision| String::from_utf8_lossy(revision.as_bytes()).into_owned())
}

/// Returns the MCP answer to a request that could not be handled. In the older revisions, the answer to an unknown method or
/// to wrong parameters has the status of a successful answer.
fn answered(refused: &RefusedMessage, revision: Option<&str>) -> Response {
    let is_new = revision.is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28.as_str());
    let status = match refused.code() {
        ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND if !is_new => StatusCode::OK,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    (status, [(CONTENT_TYPE, "application/json")], refused.json()).into_response()
}

/// Returns the problem for a request to which the MCP library answered only with plain text.
fn bare(response: &Response, revision: Option<&str>) -> Option<Problem> {
    let status = response.status();
    if status.is_success() || response.headers().contains_key(CONTENT_TYPE) {
        return None;
    }
    Some(match status {
        StatusCode::NOT_ACCEPTABLE => {
            let said = "the client must accept application/json and text/event-stream";
            Problem::new(status, "not_acceptable", said)
                .hinting("send Accept: application/json, text/event-stream")
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Problem::new(status, "not_json", "the body must be JSON")
            .hinting("send it with Content-Type: application/json"),
        StatusCode::BAD_REQUEST => {
            let named = preview::short(revision.unwrap_or_default());
            let said = format!("the revision `{named}` of the protocol is not supported");
            let spoken = REVISIONS.map(|revision| revision.to_string()).join(", ");
            Problem::new(status, "unsupported_protocol_version", said)
                .hinting(format!("send one of them as MCP-Protocol-Version: {spoken}"))
        }
        _ => Problem::fault().answered(status),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_client_comes_back_from_its_session_id() {
        let described = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, HeaderValue::try_from(id).expect("a header"));
            remembered(&headers)
        };
        for name in ["claude-code", "Überwachung 7"] {
            let id = session(name).expect("an id");
            assert!(id.as_bytes().iter().all(u8::is_ascii_graphic));
            assert_eq!(described(id.to_str().expect("ASCII")).as_deref(), Some(name));
        }
        for id in ["", "abc", "client-", "client-zz", "client-ff"] {
            assert_eq!(described(id), None, "{id}");
        }
    }
}
