//! `/v1/dialects`: the tools of every dialect, listed and called.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tulving_core::vocabulary::Origin;
use tulving_dialects::Dialect;
use tulving_dialects::listed::Listed;
use tulving_dialects::outgoing::Reply;
use tulving_dialects::tool::{Desk, Effect};

use super::app::App;
use super::auth::{Called, Credentials};
use super::problem::Problem;
use super::reply::{data, enveloped, json};
use super::{body, once};

/// What a path names, where it can be read.
pub(super) type Named<T> = Result<Path<T>, PathRejection>;

/// A dialect, for programs.
#[derive(Serialize)]
struct Offer {
    name: &'static str,
    tools: Vec<&'static str>,
    mcp: String,
}

/// `GET /v1/dialects`
pub(super) async fn list(_: Called) -> Response {
    let offers = Dialect::ALL.map(|dialect| Offer {
        name: dialect.as_str(),
        tools: dialect.tools().iter().map(|tool| tool.name).collect(),
        mcp: format!("/mcp/{dialect}"),
    });
    data(&offers)
}

/// `GET /v1/dialects/{dialect}/tools`
pub(super) async fn tools(_: Called, dialect: Named<String>) -> Result<Response, Problem> {
    let Path(dialect) = dialect.map_err(unreadable)?;
    Ok(data(&known(&dialect)?.tools().iter().map(Listed::from).collect::<Vec<_>>()))
}

/// `POST /v1/dialects/{dialect}/tools/{tool}`
pub(super) async fn call(
    State(app): State<App>,
    given: Credentials,
    named: Named<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let caller = app.caller(given.confined(), Origin::Api).await?;
    let Path((dialect, tool)) = named.map_err(unreadable)?;
    let dialect = known(&dialect)?;
    // It stands in the address, so that a wrong one is no address.
    let tool =
        dialect.find(&tool).map_err(|refusal| Problem::from(refusal).answered(StatusCode::NOT_FOUND))?;
    let (parts, body) = request.into_parts();
    let bytes = body::read(&app, &parts.headers, body).await?;
    once::refuse(&parts.headers)?;
    let (upkeep, limits) = (app.upkeep.clone(), *app.limits());
    let done = app.work(tool.effect != Effect::Reads, move |engine| {
        let arguments = body::arguments(&limits, &parts.headers, &bytes)?;
        let done = Desk::open(engine, &caller, dialect).and_then(|desk| tool.call(&desk, arguments));
        upkeep.tend();
        Ok::<_, Problem>(done?)
    });
    Ok(replied(&done.await??))
}

/// The dialect with this name.
pub(super) fn known(name: &str) -> Result<Dialect, Problem> {
    name.parse().map_err(|error: tulving_dialects::NoDialect| {
        Problem::new(StatusCode::NOT_FOUND, "unknown_dialect", error.to_string())
    })
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn unreadable(rejection: PathRejection) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_path", rejection.body_text())
}

/// What a tool answered. Its JSON goes out as the tool wrote it, so that the fields keep their order.
fn replied(reply: &Reply) -> Response {
    match reply.as_data() {
        Some(_) => json(enveloped(reply.as_text())),
        None => data(&serde_json::json!({ "text": reply.as_text() })),
    }
}
