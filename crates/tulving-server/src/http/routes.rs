//! All routes of the server.

use std::net::IpAddr;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::json;
use tulving_core::model::preview;

use super::app::HttpApp;
use super::host_check::{self, HostCheck};
use super::problem::Problem;
use super::{attachment, dialects, events, mcp, metrics, openapi, operations, reply, request_log, transfer};

/// The routes, behind the host check of a listener at `address`.
pub(super) fn router(app: HttpApp, address: IpAddr) -> Router {
    Router::new()
        .route("/healthz", get(healthy))
        .route("/metrics", get(metrics::show))
        .route("/v1/dialects", get(dialects::list))
        .route("/v1/dialects/{dialect}/tools", get(dialects::tools))
        .route("/v1/dialects/{dialect}/tools/{tool}", post(dialects::call))
        .route("/v1/events/stream", get(events::stream))
        .route("/v1/dump", get(transfer::dump))
        .route(transfer::LOAD, post(transfer::load))
        .route(attachment::AT, get(attachment::show))
        .route("/openapi.json", get(openapi::document))
        .merge(operations::routes())
        .route("/mcp", post(mcp::native))
        .route("/mcp/{dialect}", post(mcp::spoken))
        .fallback(nowhere)
        .method_not_allowed_fallback(wrong_method)
        .with_state(app.clone())
        .layer(from_fn_with_state(HostCheck { app: app.clone(), address }, host_check::pass))
        .layer(from_fn_with_state(app, request_log::accompany))
}

/// Answers that the process is running. The answer reveals nothing about the store, so the route needs no token.
async fn healthy() -> Response {
    reply::data(&json!({ "status": "ok" }))
}

async fn nowhere(uri: Uri) -> Problem {
    let said = format!("there is nothing at `{}`", preview::short(uri.path()));
    Problem::new(StatusCode::NOT_FOUND, "no_such_address", said)
        .hinting("GET /openapi.json lists all addresses below /v1; agents are served at /mcp")
}

async fn wrong_method(method: Method) -> Problem {
    let said = format!("this address does not support {}", preview::short(method.as_str()));
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", said)
        .hinting("the Allow header lists the supported methods")
}
