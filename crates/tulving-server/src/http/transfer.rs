//! `/v1/dump` and `/v1/load`: transfer the whole store line by line, with bounded memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use tokio::sync::mpsc::Sender;
use tulving_core::model::record::{self, DumpPosition, Record};
use tulving_core::model::request::Caller;
use tulving_core::{DumpLoad, LoadOptions, LoadReport};

use super::app::HttpApp;
use super::auth::AuthenticatedCaller;
use super::pages::{BodyPage, pages};
use super::problem::Problem;
use super::{idempotency, reply};

/// The route for loading a dump.
pub(super) const LOAD: &str = "/v1/load";
const LINES: &str = "application/x-ndjson";
/// Maximum number of records that are read at a time, and of lines that are loaded in one write.
const PAGE: usize = 1_000;
/// Lines of this total size, in bytes, are loaded in one write, even if there are fewer of them than [`PAGE`].
const ACT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum length of a line, in bytes. A line contains a memory with all its versions.
const LINE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of pages that wait for a slow client.
const AHEAD: usize = 2;

/// `GET /v1/dump`
pub(super) async fn dump(
    State(app): State<HttpApp>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
) -> Result<Response, Problem> {
    // The first page is read before the answer begins, so that a caller without permission gets an error and not an
    // incomplete stream.
    let (first, next) = page(&app, &caller, DumpPosition::default()).await?;
    let (sender, body) = pages(AHEAD);
    tokio::spawn(async move {
        if sender.send(Ok(first)).await.is_ok()
            && let Err(problem) = rest(&app, &caller, next, &sender).await
        {
            let _ = sender.send(Err(io::Error::other(problem.code()))).await;
        }
    });
    Ok(([(CONTENT_TYPE, LINES)], body).into_response())
}

async fn rest(
    app: &HttpApp,
    caller: &Caller,
    mut next: Option<DumpPosition>,
    to: &Sender<BodyPage>,
) -> Result<(), Problem> {
    while let Some(position) = next {
        let (lines, after) = page(app, caller, position).await?;
        if to.send(Ok(lines)).await.is_err() {
            return Ok(());
        }
        next = after;
    }
    Ok(())
}

async fn page(
    app: &HttpApp,
    caller: &Caller,
    position: DumpPosition,
) -> Result<(Bytes, Option<DumpPosition>), Problem> {
    let caller = caller.clone();
    let read = app.blocking(move |engine| {
        let (records, next) = engine.dump(&caller, position, PAGE)?;
        let mut lines = Vec::new();
        for record in &records {
            serde_json::to_writer(&mut lines, record).map_err(|_| Problem::fault())?;
            lines.push(b'\n');
        }
        Ok::<_, Problem>((Bytes::from(lines), next))
    });
    read.await?
}

/// `POST /v1/load`
pub(super) async fn load(
    State(app): State<HttpApp>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    request: Request,
) -> Result<Response, Problem> {
    idempotency::refuse(request.headers())?;
    // The permission is checked before the body is read.
    let asking = caller.clone();
    app.blocking(move |engine| engine.require_org_admin(&asking)).await??;
    let options = options(request.uri())?;
    let lines = BodyLines::of(request.into_body(), app.limits().time / 2);
    let loaded = take_all(&app, &caller, options, lines).await;
    let report = loaded.map_err(|problem| problem.hinting_too("nothing was loaded"))?;
    app.upkeep.tend();
    Ok(reply::data(&report))
}

/// The query arguments of a load. An unknown argument is refused, because ignoring a misspelled argument could change access
/// rights.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LoadArguments {
    with_roles: bool,
    /// Read by [`auth`](super::auth).
    #[serde(rename = "space")]
    _space: Option<String>,
}

fn options(uri: &Uri) -> Result<LoadOptions, Problem> {
    let Query(LoadArguments { with_roles, .. }) = Query::try_from_uri(uri).map_err(|wrong| {
        let said = format!("cannot read the query string: {wrong}");
        Problem::new(StatusCode::BAD_REQUEST, "invalid_query", said).hinting("with_roles is true or false")
    })?;
    Ok(LoadOptions { with_roles })
}

/// A load in progress. Each write takes the value out, and puts it back on success.
type LoadInProgress = Mutex<Option<DumpLoad>>;

fn taken(underway: &LoadInProgress) -> Result<DumpLoad, Problem> {
    underway.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(Problem::fault)
}

async fn take_all(
    app: &HttpApp,
    caller: &Caller,
    options: LoadOptions,
    mut lines: BodyLines,
) -> Result<LoadReport, Problem> {
    let asking = caller.clone();
    let begun = app.blocking(move |engine| engine.begin_load(&asking, options)).await??;
    let underway = &Arc::new(Mutex::new(Some(begun)));
    let (mut waiting, mut bytes) = (Vec::new(), 0);
    while let Some((number, line)) = lines.next().await? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        bytes += line.len();
        waiting.push((number, line));
        if waiting.len() == PAGE || bytes >= ACT_BYTES {
            take(app, caller, underway, std::mem::take(&mut waiting)).await?;
            bytes = 0;
        }
    }
    take(app, caller, underway, waiting).await?;
    let (caller, loading) = (caller.clone(), taken(underway)?);
    Ok(app.work(true, move |engine| engine.finish_load(&caller, loading)).await??)
}

fn read(number: u64, line: &[u8]) -> Result<Record, Problem> {
    let wrong =
        |why: &str| Problem::new(StatusCode::BAD_REQUEST, "invalid_line", format!("line {number}: {why}"));
    let line = std::str::from_utf8(line).map_err(|_| wrong("it is not UTF-8"))?;
    record::from_line(line).map_err(|why| wrong(&why))
}

async fn take(
    app: &HttpApp,
    caller: &Caller,
    underway: &Arc<LoadInProgress>,
    lines: Vec<(u64, Vec<u8>)>,
) -> Result<(), Problem> {
    let (caller, underway) = (caller.clone(), Arc::clone(underway));
    let done = app.work(true, move |engine| {
        let lines = lines.into_iter().map(|(number, line)| Ok((number, read(number, &line)?)));
        let lines = lines.collect::<Result<_, Problem>>()?;
        let mut loading = taken(&underway)?;
        engine.load(&caller, &mut loading, lines)?;
        *underway.lock().unwrap_or_else(PoisonError::into_inner) = Some(loading);
        Ok::<_, Problem>(())
    });
    done.await?
}

/// The lines of a body, as they arrive.
struct BodyLines {
    body: Body,
    /// The received bytes. The first `given` bytes were already returned.
    come: Vec<u8>,
    given: usize,
    number: u64,
    ended: bool,
    /// The time limit for the next bytes.
    patience: Duration,
}

impl BodyLines {
    fn of(body: Body, patience: Duration) -> Self {
        Self { body, come: Vec::new(), given: 0, number: 0, ended: false, patience }
    }

    async fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, Problem> {
        let mut looked_at = 0;
        loop {
            let rest = &self.come[self.given..];
            let end = rest[looked_at..].iter().position(|byte| *byte == b'\n').map(|end| looked_at + end);
            if let Some(end) = end.or_else(|| (self.ended && !rest.is_empty()).then_some(rest.len())) {
                let line = rest[..end].to_vec();
                self.given = (self.given + end + 1).min(self.come.len());
                self.number += 1;
                return Ok(Some((self.number, line)));
            }
            if self.ended {
                return Ok(None);
            }
            looked_at = rest.len();
            if looked_at > LINE_BYTES {
                let said = format!("line {} is longer than {LINE_BYTES} bytes", self.number + 1);
                return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "line_too_large", said)
                    .hinting("use `tulving load`, which accepts lines of any length"));
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), Problem> {
        self.come.drain(..self.given);
        self.given = 0;
        let Ok(frame) = tokio::time::timeout(self.patience, self.body.frame()).await else {
            let said = "the body did not arrive in time";
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", said));
        };
        match frame {
            None => self.ended = true,
            Some(Ok(frame)) => self.come.extend_from_slice(frame.data_ref().map_or(&[], Bytes::as_ref)),
            Some(Err(_)) => return Err(Problem::broken_body()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tulving_core::model::request::{Filter, ListRequest, SaveRequest, Sort};
    use tulving_core::model::vocabulary::Origin;

    use super::*;
    use crate::MaintenanceHook;
    use crate::http::test_app::{app, app_with};

    /// Counts its notifications.
    #[derive(Default)]
    struct NotificationCounter(AtomicU64);

    impl MaintenanceHook for NotificationCounter {
        fn tend(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn text(body: Body) -> String {
        let bytes = body.collect().await.expect("it comes whole").to_bytes();
        String::from_utf8(bytes.to_vec()).expect("text")
    }

    #[tokio::test]
    async fn a_dump_that_was_cut_off_leaves_nothing_and_a_whole_one_is_tended_to() {
        let (here, there) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let source = app(here.path());
        let user = source.engine.user(Origin::Cli, None).expect("the user");
        source.engine.save(&user, SaveRequest::new("Tea at four")).expect("saved");
        let dumped = dump(State(source), AuthenticatedCaller(user)).await.expect("a dump").into_body();
        let mut lines: Vec<String> = text(dumped).await.lines().map(str::to_owned).collect();
        let whole = lines.join("\n");
        lines.pop().expect("the line that ends it");

        let bell = Arc::new(NotificationCounter::default());
        let app = app_with(there.path(), bell.clone(), |store| store);
        let user = app.engine.user(Origin::Cli, None).expect("the user");
        let hint = async |body: String| {
            let asked = Request::new(Body::from(body));
            let problem = load(State(app.clone()), AuthenticatedCaller(user.clone()), asked)
                .await
                .expect_err("refused");
            let document: serde_json::Value =
                serde_json::from_str(&problem.document(None)).expect("a document");
            (problem.code(), document["hint"].as_str().expect("a hint").to_owned())
        };
        assert_eq!(hint("{}".to_owned()).await, ("invalid_line", "nothing was loaded".to_owned()));
        let before = bell.0.load(Ordering::SeqCst);
        let (code, described) = hint(lines.join("\n")).await;
        assert_eq!(code, "incomplete_dump");
        assert!(described.starts_with("get the whole file"), "{described}");
        assert!(described.ends_with("nothing was loaded"), "{described}");
        assert_eq!(bell.0.load(Ordering::SeqCst), before);
        let count = || {
            app.engine
                .list(
                    &user,
                    &ListRequest { filter: Filter::default(), sort: Sort::Newest, limit: 10, cursor: None },
                )
                .expect("a list")
                .memories
                .len()
        };
        assert_eq!(count(), 0);
        let mistaken = Request::builder().uri("/v1/load?with_role=true").body(Body::from(whole.clone()));
        let refused =
            load(State(app.clone()), AuthenticatedCaller(user.clone()), mistaken.expect("a request")).await;
        assert_eq!(refused.expect_err("a mistaken argument").code(), "invalid_query");
        let asked = Request::builder().uri("/v1/load?with_roles=true").body(Body::from(whole));
        load(State(app.clone()), AuthenticatedCaller(user.clone()), asked.expect("a request"))
            .await
            .expect("loaded");
        assert_eq!((count(), bell.0.load(Ordering::SeqCst)), (1, before + 1));
    }

    #[tokio::test]
    async fn lines_are_the_same_however_they_come() {
        for pieces in [
            &["one\ntwo\n\nthree"][..],
            &["o", "ne\ntw", "o\n", "\n", "thr", "ee"],
            &["", "one\n", "two\n\nthree\n"],
        ] {
            let (sender, body) = pages(1);
            let pieces: Arc<[String]> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            tokio::spawn(async move {
                for piece in pieces.iter() {
                    sender.send(Ok(Bytes::from(piece.clone()))).await.expect("somebody reads");
                }
            });
            let mut lines = BodyLines::of(body, Duration::from_secs(60));
            let mut read = Vec::new();
            while let Some((number, line)) = lines.next().await.expect("a line") {
                read.push((number, String::from_utf8(line).expect("text")));
            }
            let wanted = [(1, "one"), (2, "two"), (3, ""), (4, "three")]
                .map(|(number, line)| (number, line.to_owned()));
            assert_eq!(read, wanted);
        }
    }
}
