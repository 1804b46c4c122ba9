//! `/v1/dialects`: the tools of every dialect, listed and called.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tulving_core::model::vocabulary::Origin;
use tulving_dialects::Dialect;
use tulving_dialects::listed::ToolDescription;
use tulving_dialects::outgoing::ToolReply;
use tulving_dialects::tool::{ToolContext, ToolEffect};

use super::app::HttpApp;
use super::auth::{AuthenticatedCaller, Credentials};
use super::problem::Problem;
use super::reply::{data, enveloped, json};
use super::{body, idempotency};

/// The parameters of a path, if they can be read.
pub(super) type PathParameters<T> = Result<Path<T>, PathRejection>;

/// The description of a dialect for programs.
#[derive(Serialize)]
struct DialectDescription {
    name: &'static str,
    tools: Vec<&'static str>,
    mcp: String,
}

/// `GET /v1/dialects`
pub(super) async fn list(_: AuthenticatedCaller) -> Response {
    let offers = Dialect::ALL.map(|dialect| DialectDescription {
        name: dialect.as_str(),
        tools: dialect.tools().iter().map(|tool| tool.name).collect(),
        mcp: format!("/mcp/{dialect}"),
    });
    data(&offers)
}

/// `GET /v1/dialects/{dialect}/tools`
pub(super) async fn tools(
    _: AuthenticatedCaller,
    dialect: PathParameters<String>,
) -> Result<Response, Problem> {
    let Path(dialect) = dialect.map_err(unreadable)?;
    Ok(data(&known(&dialect)?.tools().iter().map(ToolDescription::from).collect::<Vec<_>>()))
}

/// `POST /v1/dialects/{dialect}/tools/{tool}`
pub(super) async fn call(
    State(app): State<HttpApp>,
    given: Credentials,
    named: PathParameters<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let caller = app.caller(given.confined(), Origin::Api).await?;
    let Path((dialect, tool)) = named.map_err(unreadable)?;
    let dialect = known(&dialect)?;
    // The tool's name is part of the path, so a wrong name is answered as an unknown path.
    let tool =
        dialect.find(&tool).map_err(|refusal| Problem::from(refusal).answered(StatusCode::NOT_FOUND))?;
    let (parts, body) = request.into_parts();
    let bytes = body::read(&app, &parts.headers, body).await?;
    idempotency::refuse(&parts.headers)?;
    let (upkeep, limits) = (app.upkeep.clone(), *app.limits());
    let done = app.work(tool.effect != ToolEffect::Reads, move |engine| {
        let arguments = body::arguments(&limits, &parts.headers, &bytes)?;
        let done =
            ToolContext::open(engine, &caller, dialect).and_then(|context| tool.call(&context, arguments));
        upkeep.tend();
        Ok::<_, Problem>(done?)
    });
    Ok(replied(&done.await??))
}

/// Returns the dialect with this name.
pub(super) fn known(name: &str) -> Result<Dialect, Problem> {
    name.parse().map_err(|error: tulving_dialects::UnknownDialectError| {
        Problem::new(StatusCode::NOT_FOUND, "unknown_dialect", error.to_string())
    })
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn unreadable(rejection: PathRejection) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "invalid_path", rejection.body_text())
}

/// Sends the reply of a tool. The JSON is not parsed and written again, so that the fields keep their order.
fn replied(reply: &ToolReply) -> Response {
    match reply.as_data() {
        Some(_) => json(enveloped(reply.as_text())),
        None => data(&serde_json::json!({ "text": reply.as_text() })),
    }
}
