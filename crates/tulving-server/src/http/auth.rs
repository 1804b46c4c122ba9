//! Authentication: reads the bearer token, the space and the agent of a call.

use axum::extract::{FromRequestParts, Query};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tulving_core::model::preview;
use tulving_core::model::request::Caller;
use tulving_core::model::space::Secret;
use tulving_core::model::time::Zone;
use tulving_core::model::vocabulary::Origin;

use super::app::HttpApp;
use super::problem::Problem;
use super::request_log::RequestTrace;

/// Headers that name the space. The memax service uses the first header.
const SPACE: [&str; 2] = ["x-hub-id", "x-tulving-space"];
/// The header with the default space, for a call that names no space. Unlike the headers in `SPACE`, this header never
/// confines the call to a space.
const DEFAULT_SPACE: &str = "x-tulving-default-space";
/// The header that names the agent.
const AGENT: &str = "x-tulving-agent";
/// The header that names the time zone, as clients of the memax service send it.
const ZONE: &str = "x-timezone";
/// The name that programs give if they do not know their zone.
const UNKNOWN_ZONE: &str = "Etc/Unknown";

/// The credentials in a request, not yet checked.
#[derive(Clone, Debug)]
pub(super) struct Credentials {
    pub(super) token: Secret,
    pub(super) space: Option<String>,
    pub(super) default_space: Option<String>,
    /// True if the call is confined to the space that the request names. A model writes the arguments of the call, and the
    /// host writes the rest of the request.
    pub(super) confined: bool,
    pub(super) agent: Option<String>,
    /// The time zone that determines where a day begins.
    pub(super) zone: Option<Zone>,
    /// The log record of the request that contained the credentials.
    pub(super) trace: Option<RequestTrace>,
}

impl Credentials {
    /// Confines the credentials to the space that the request names.
    pub(super) fn confined(self) -> Self {
        Self { confined: true, ..self }
    }
}

/// The caller, authenticated by a valid token.
pub(super) struct AuthenticatedCaller(pub(super) Caller);

#[derive(Deserialize)]
struct SpaceQuery {
    space: Option<String>,
    default_space: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for Credentials {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let token = token(&parts.headers)?;
        let agent = one(&parts.headers, AGENT)?.map(str::to_owned);
        let zone = zone(&parts.headers)?;
        let asked = asked(parts)?;
        let space = named(&parts.headers, asked.space, &SPACE, "X-Hub-ID, X-Tulving-Space or ?space=")?;
        let hint = "X-Tulving-Default-Space or ?default_space=";
        let default_space = named(&parts.headers, asked.default_space, &[DEFAULT_SPACE], hint)?;
        let trace = parts.extensions.get().cloned();
        Ok(Self { token, space, default_space, confined: false, agent, zone, trace })
    }
}

impl FromRequestParts<HttpApp> for AuthenticatedCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &HttpApp) -> Result<Self, Problem> {
        let given = Credentials::from_request_parts(parts, app).await?;
        app.caller(given, Origin::Api).await.map(Self)
    }
}

fn token(headers: &HeaderMap) -> Result<Secret, Problem> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else {
        return Err(Problem::no_token());
    };
    let value = value.to_str().map_err(|_| Problem::wrong_token())?;
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(Secret::new(token.trim().to_owned()))
        }
        _ => Err(Problem::no_token()),
    }
}

fn asked(parts: &Parts) -> Result<SpaceQuery, Problem> {
    let Query(asked) = Query::<SpaceQuery>::try_from_uri(&parts.uri).map_err(|_| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_query", "cannot read the query string")
    })?;
    Ok(asked)
}

/// Returns the space that the address or one of these headers names. An empty name is an error and does not mean the default
/// space, so that a host with a missing space name cannot write to the wrong space.
fn named(
    headers: &HeaderMap,
    asked: Option<String>,
    by: &[&'static str],
    hint: &str,
) -> Result<Option<String>, Problem> {
    let mut named = asked;
    for header in by {
        let Some(space) = one(headers, header)? else { continue };
        match &named {
            Some(other) if other != space => {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "two_spaces",
                    "the request names two different spaces",
                )
                .hinting(format!("name one, with {hint}")));
            }
            _ => named = Some(space.to_owned()),
        }
    }
    Ok(named)
}

/// Returns the time zone of the caller. An unknown name is an error, so that "today" never means the day of another zone.
fn zone(headers: &HeaderMap) -> Result<Option<Zone>, Problem> {
    let name = one(headers, ZONE)?.map(str::trim).unwrap_or_default();
    if name.is_empty() || name == UNKNOWN_ZONE {
        return Ok(None);
    }
    Zone::named(name).map(Some).ok_or_else(|| {
        let message = format!("`{}` is not a time zone", preview::short(name));
        Problem::new(StatusCode::BAD_REQUEST, "invalid_header", message)
            .about(ZONE)
            .hinting("give the name of a zone, such as Europe/Vienna, or leave out X-Timezone")
    })
}

/// Returns the value of a header that may occur only once. Unlike most headers, the value may contain letters of any
/// language.
fn one<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, Problem> {
    let mut given = headers.get_all(name).iter();
    let first = given.next();
    let read = match (first, given.next()) {
        (None, _) => Some(None),
        (Some(value), None) => std::str::from_utf8(value.as_bytes()).ok().map(Some),
        (Some(_), Some(_)) => None,
    };
    read.ok_or_else(|| {
        let said = format!("the header {name} must be given once, in UTF-8");
        Problem::new(StatusCode::BAD_REQUEST, "invalid_header", said).about(name)
    })
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let request = Request::builder().uri(uri);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(()).expect("a request").into_parts().0
    }

    #[test]
    fn a_token_is_a_bearer_token_and_given_once() {
        let read =
            |headers: &[(&str, &str)]| token(&parts("/", headers).headers).map(|t| t.reveal().to_owned());
        assert_eq!(read(&[("authorization", "Bearer abc")]).ok().as_deref(), Some("abc"));
        assert_eq!(read(&[("authorization", "bearer  abc")]).ok().as_deref(), Some("abc"));
        for wrong in [&[][..], &[("authorization", "Basic abc")], &[("authorization", "abc")]] {
            assert_eq!(read(wrong).expect_err("refused").code(), "missing_token");
        }
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert_eq!(read(&twice).expect_err("refused").code(), "missing_token");
    }

    #[test]
    fn the_space_is_named_by_header_or_address_and_not_twice_differently() {
        let read = |uri: &str, headers: &[(&str, &str)]| {
            let parts = parts(uri, headers);
            named(&parts.headers, asked(&parts)?.space, &SPACE, "a header")
        };
        assert_eq!(read("/mcp", &[]).expect("none"), None);
        assert_eq!(read("/mcp?space=team%20a", &[]).expect("one").as_deref(), Some("team a"));
        assert_eq!(read("/mcp", &[("x-hub-id", "work")]).expect("one").as_deref(), Some("work"));
        let both = [("x-hub-id", "work"), ("x-tulving-space", "work")];
        assert_eq!(read("/mcp?space=work", &both).expect("the same").as_deref(), Some("work"));
        let error = read("/mcp?space=home", &both).expect_err("two");
        assert_eq!(error.code(), "two_spaces");
        assert_eq!(read("/mcp?space=", &[]).expect("empty is not none").as_deref(), Some(""));
    }

    #[test]
    fn an_unknown_time_zone_is_refused_by_name() {
        let read = |name: &str| zone(&parts("/", &[(ZONE, name)]).headers);
        assert_eq!(read("Europe/Vienna").expect("a zone"), Zone::named("Europe/Vienna"));
        assert_eq!(read("").expect("none"), None);
        assert_eq!(read("Etc/Unknown").expect("none"), None);
        let error = read("Europe/Atlantis").expect_err("no such zone");
        assert_eq!(error.code(), "invalid_header");
    }
}
