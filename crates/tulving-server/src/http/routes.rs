//! Every address there is.

use std::net::IpAddr;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::json;

use super::app::App;
use super::gate::{self, Gate};
use super::problem::Problem;
use super::{attachment, dialects, events, mcp, metrics, openapi, operations, reply, transfer, visit};

/// The routes, behind the gate of a listener at `address`.
pub(super) fn router(app: App, address: IpAddr) -> Router {
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
        .layer(from_fn_with_state(Gate { app: app.clone(), address }, gate::pass))
        .layer(from_fn_with_state(app, visit::accompany))
}

/// That the process answers. It says nothing of what is stored, so nobody has to say who asks.
async fn healthy() -> Response {
    reply::data(&json!({ "status": "ok" }))
}

async fn nowhere() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no_such_address", "there is nothing at this address")
}

async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "this address does not take the method")
}
