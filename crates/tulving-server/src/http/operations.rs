//! The routes of the service's operations.

use crate::api::{Operation, OperationMethod, OperationReply, operations};
use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_MATCH};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use serde::{Deserialize, Serialize};
use tulving_core::Engine;
use tulving_core::model::request::Caller;

use super::app::HttpApp;
use super::auth::AuthenticatedCaller;
use super::problem::Problem;
use super::reply::enveloped;
use super::{arguments, body, idempotency, multipart};

/// Returns the routes of all operations.
pub(super) fn routes() -> Router<HttpApp> {
    operations().iter().fold(Router::new(), |router, operation| {
        let handler = move |state, called, path, request| call(operation, state, called, path, request);
        let addresses = [Some(operation.path), operation.also];
        addresses
            .into_iter()
            .flatten()
            .fold(router, |router, path| router.route(path, on(filter(operation.method), handler)))
    })
}

const fn filter(method: OperationMethod) -> MethodFilter {
    match method {
        OperationMethod::Get => MethodFilter::GET,
        OperationMethod::Post => MethodFilter::POST,
        OperationMethod::Patch => MethodFilter::PATCH,
        OperationMethod::Put => MethodFilter::PUT,
        OperationMethod::Delete => MethodFilter::DELETE,
    }
}

/// The answer to an operation. It is sent, and also stored if the request has an idempotency key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OperationResponse {
    status: u16,
    tag: Option<String>,
    body: String,
}

async fn call(
    operation: &'static Operation,
    State(app): State<HttpApp>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let path = path
        .map_err(|rejection| Problem::new(StatusCode::BAD_REQUEST, "invalid_path", rejection.body_text()))?;
    let path: Vec<(String, String)> =
        path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (parts, body) = request.into_parts();
    let conditional = operation.condition.is_some() && parts.headers.contains_key(IF_MATCH);
    let bytes = body::read_file(&app, &parts.headers, body).await?;
    let in_parts = multipart::arguments(operation, &parts.headers, &bytes).await?;
    let (upkeep, limits) = (app.upkeep.clone(), *app.limits());
    let done = app.work(operation.writes, move |engine| {
        let said = arguments::gather(&limits, operation, &path, &parts, &bytes, in_parts)?;
        let once = idempotency::asked(operation, &parts.headers, &caller, &said)?;
        let work = |engine: &Engine, caller: &Caller| {
            Ok(sent(operation, operation.call(engine, caller, limits.page, said)?))
        };
        let done = match once {
            None => work(engine, &caller),
            Some(once) => once.run(engine, &caller, work),
        };
        upkeep.tend();
        done
    });
    match done.await? {
        Ok(sent) => Ok(sent.into_response()),
        Err(problem) if conditional && matches!(problem.code(), "version_mismatch" | "file_changed") => {
            Err(problem.answered(StatusCode::PRECONDITION_FAILED))
        }
        Err(problem) => Err(problem),
    }
}

fn sent(operation: &Operation, answer: OperationReply) -> OperationResponse {
    let status = if answer.created { StatusCode::CREATED } else { StatusCode::OK };
    let body = if operation.is_bare { answer.data } else { enveloped(&answer.data) };
    OperationResponse { status: status.as_u16(), tag: answer.tag, body }
}

impl OperationResponse {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let mut response = (status, [(CONTENT_TYPE, "application/json")], self.body).into_response();
        if let Some(tag) = self.tag.and_then(|tag| HeaderValue::try_from(format!("\"{tag}\"")).ok()) {
            response.headers_mut().insert(ETAG, tag);
        }
        response
    }
}
