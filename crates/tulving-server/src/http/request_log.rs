//! Handles each request from start to end: gives it an id, counts it, logs it in one line, and catches panics.
//!
//! The log line contains the caller, the kind of request, its result and its duration. The client's own request id is the
//! only text from the client: the line contains no path, query, header or body.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONNECTION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use tulving_core::model::id::PrincipalId;

use super::app::HttpApp;
use super::connections::ConnectionSlot;
use super::problem::Problem;

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of a request id from a client, in characters.
const ID_CHARS: usize = 64;
/// The logged status of a request whose client went away before it was answered.
const GONE: u16 = 499;
/// The prefix of the routes on which every refusal is a [`Problem`], because their clients recognise only this form.
const SERVICE: &str = "/v1/";
/// The logged route of a request that matches none.
const NOWHERE: &str = "none";

/// The address that a request comes from, set by the listener.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerAddress(pub(super) SocketAddr);

/// Returns the address that identifies a client. For IPv6 this is the network, because one person usually has many addresses
/// in a network.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) >> 64 << 64).into()),
        ip => ip,
    }
}

/// Information about a request that is not part of the request itself.
#[derive(Clone, Debug)]
pub(super) struct RequestTrace(Arc<RequestTraceFields>);

#[derive(Debug)]
struct RequestTraceFields {
    id: HeaderValue,
    peer: Option<SocketAddr>,
    /// The slot of the request's connection. A connection that showed a valid token is not dropped for another.
    seat: Option<Arc<ConnectionSlot>>,
    principal: OnceLock<PrincipalId>,
}

impl RequestTrace {
    fn new(request: &Request) -> Self {
        let id = given_id(request.headers()).unwrap_or_else(fresh_id);
        let peer = request.extensions().get::<PeerAddress>().map(|peer| peer.0);
        let seat = request.extensions().get().cloned();
        Self(Arc::new(RequestTraceFields { id, peer, seat, principal: OnceLock::new() }))
    }

    /// Returns the client's address. For IPv6 this is the network, because one person usually has many addresses in a
    /// network.
    pub(super) fn origin(&self) -> Option<IpAddr> {
        self.0.peer.map(|peer| network(peer.ip()))
    }

    /// Records the caller of a valid token.
    pub(super) fn by(&self, principal: PrincipalId) {
        if let Some(seat) = &self.0.seat {
            seat.trust();
        }
        let _ = self.0.principal.set(principal);
    }

    fn id(&self) -> &str {
        self.0.id.to_str().unwrap_or_default()
    }
}

/// Logs the end of a request, even if the client disconnected before the answer.
struct RequestLogEntry {
    app: HttpApp,
    trace: RequestTrace,
    method: &'static str,
    route: Option<MatchedPath>,
    begun: Instant,
    status: u16,
    code: Option<&'static str>,
}

impl Drop for RequestLogEntry {
    fn drop(&mut self) {
        let route = self.route.as_ref().map_or(NOWHERE, MatchedPath::as_str);
        let time = self.begun.elapsed();
        self.app.shared.counters.answered(self.method, route, self.status, time);
        tracing::info!(
            method = self.method,
            route,
            status = self.status,
            code = self.code,
            ms = milliseconds(time),
            id = self.trace.id(),
            principal = self.trace.0.principal.get().map(display),
            peer = self.trace.0.peer.map(display),
            "request"
        );
    }
}

/// Handles a request from start to end: gives it an id, counts and logs it.
pub(super) async fn accompany(State(app): State<HttpApp>, mut request: Request, next: Next) -> Response {
    let trace = RequestTrace::new(&request);
    let mut record = RequestLogEntry {
        app: app.clone(),
        trace: trace.clone(),
        method: known_method(request.method()),
        route: request.extensions().get().cloned(),
        begun: Instant::now(),
        status: GONE,
        code: None,
    };
    let is_of_service = request.uri().path().starts_with(SERVICE);
    let counted = app.shared.counters.begin();
    request.extensions_mut().insert(trace.clone());
    let mut response = sheltered(next.run(request)).await.unwrap_or_else(|| Problem::fault().into_response());
    let problem = response.extensions_mut().remove::<Problem>();
    if problem.is_none() && is_of_service && is_refusal(response.status()) {
        response = Problem::bare(response.status()).into_response();
    }
    if let Some(problem) = problem.or_else(|| response.extensions_mut().remove()) {
        record.code = Some(problem.code());
        *response.body_mut() = problem.document(Some(trace.id())).into();
    }
    response.headers_mut().insert(REQUEST_ID, trace.0.id.clone());
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if app.shared.stopping.load(Ordering::Relaxed) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    record.status = response.status().as_u16();
    // An event stream never ends, so a stopping server does not wait for it.
    if is_endless(response.headers()) {
        return response;
    }
    // The closure holds the counter until the last part of the body is sent. Mapping errors does not change the known length
    // of the body.
    response.map(|body| {
        Body::new(body.map_err(move |error| {
            let _counted = &counted;
            error
        }))
    })
}

/// Returns the result of the work, or `None` if the work panicked. The panic hook has already logged the panic.
async fn sheltered<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(Some(done)),
        Err(_) => Poll::Ready(None),
    })
    .await
}

fn is_refusal(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

fn is_endless(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Returns the client's own request id, if it is safe to log.
fn given_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(REQUEST_ID)?;
    let sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let fits = (1..=ID_CHARS).contains(&id.len()) && id.as_bytes().iter().all(sane);
    fits.then(|| id.clone())
}

/// Returns a random id that is practically unique and does not reveal the number of requests.
fn fresh_id() -> HeaderValue {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    let id = SEED.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
    HeaderValue::try_from(format!("{id:016x}")).unwrap_or(HeaderValue::from_static("none"))
}

/// Returns the name of a known method, or a fixed name for all other methods, because a client may send any text as a
/// method.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Returns a duration in milliseconds, rounded to microseconds.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;

    use super::*;
    use crate::http::test_app::app;

    async fn ask(app: &HttpApp, path: &str) -> Response {
        let routes: Router = Router::new()
            .route(
                "/fails",
                get(|| async {
                    if true {
                        panic!("what the panic says")
                    }
                }),
            )
            .route("/plain", get(|| async { "plain" }))
            .route("/v1/bare", get(|| async { (StatusCode::URI_TOO_LONG, "a text of the framework") }))
            .route("/v1/broken", get(|| async { StatusCode::BAD_GATEWAY }))
            .route("/events", get(|| async { ([(CONTENT_TYPE, "text/event-stream")], "data: 1\n\n") }))
            .layer(from_fn_with_state(app.clone(), accompany));
        let request = Request::builder().uri(path).body(Body::empty()).expect("a request");
        TowerToHyperService::new(routes).call(request).await.expect("an answer")
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_and_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = app(folder.path());
        let response = ask(&app, "/fails").await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let id = response.headers()[REQUEST_ID].to_str().expect("an id").to_owned();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let document: serde_json::Value = serde_json::from_slice(&body).expect("a document");
        assert_eq!((&document["code"], &document["request_id"]), (&"internal".into(), &id.into()));
        assert_eq!(
            (&document["error"]["code"], &document["error"]["message"]),
            (&document["code"], &document["detail"])
        );
        assert!(!document.to_string().contains("what the panic says"));
        assert_eq!(app.shared.counters.in_flight(), 0);
        let asked = &app.shared.counters.routes()["/fails"];
        assert_eq!(asked.answers[&("GET", 5)], 1);
    }

    #[tokio::test]
    async fn a_bare_status_under_v1_becomes_a_problem_with_an_error_object() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = app(folder.path());
        for (path, status, code) in [("/v1/bare", 414, "invalid_request"), ("/v1/broken", 502, "internal")] {
            let response = ask(&app, path).await;
            assert_eq!(response.status().as_u16(), status, "{path}");
            assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json", "{path}");
            let body = response.into_body().collect().await.expect("a body").to_bytes();
            let document: serde_json::Value = serde_json::from_slice(&body).expect("a document");
            assert_eq!(document["error"]["code"], code, "{path}");
            assert!(document["request_id"].is_string(), "{path}: {document}");
        }
    }

    #[tokio::test]
    async fn an_answer_is_in_flight_until_it_was_handed_over_unless_it_never_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let app = app(folder.path());
        let events = ask(&app, "/events").await;
        assert_eq!(app.shared.counters.in_flight(), 0);
        let plain = ask(&app, "/plain").await;
        assert_eq!(app.shared.counters.in_flight(), 1);
        assert_eq!(axum::body::HttpBody::size_hint(plain.body()).exact(), Some(5), "its length is kept");
        drop(plain);
        assert_eq!(app.shared.counters.in_flight(), 0);
        drop(events);
    }

    #[test]
    fn an_id_of_the_client_is_taken_where_it_is_sane() {
        let given = |id: &'static [u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id).expect("a header"));
            given_id(&headers)
        };
        for good in [&b"a"[..], b"3f2.A-b_c", &[b'x'; 64]] {
            assert_eq!(given(good).expect("taken").as_bytes(), good);
        }
        for bad in [&b""[..], &[b'x'; 65], b"a b", b"a\tb", b"caf\xc3\xa9", b"a=b", b"a\"b"] {
            assert_eq!(given(bad), None, "{bad:?}");
        }
        assert_ne!(fresh_id(), fresh_id());
    }

    #[test]
    fn one_network_of_ipv6_is_one_origin() {
        let from = |peer: &str| {
            let mut request = Request::new(Body::empty());
            request.extensions_mut().insert(PeerAddress(peer.parse().expect("an address")));
            RequestTrace::new(&request).origin().expect("a peer").to_string()
        };
        assert_eq!(from("[2001:db8:1:2:3:4:5:6]:1"), "2001:db8:1:2::");
        assert_eq!(from("[::ffff:10.1.2.3]:1"), "10.1.2.3");
        assert_eq!(from("10.1.2.3:1"), "10.1.2.3");
    }

    #[tokio::test]
    async fn a_panic_is_caught_and_leaves_nothing_behind() {
        assert_eq!(sheltered(async { 5 }).await, Some(5));
        let fails = async {
            tokio::task::yield_now().await;
            panic!("what the panic says stays inside");
        };
        assert_eq!(sheltered(fails).await, None::<()>);
    }
}
