//! `/v1/dump` and `/v1/load`: everything, line by line, without ever holding it all.

use std::io;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use tulving_core::Loading;
use tulving_core::record::{self, DumpPosition, Record};
use tulving_core::request::Caller;

use super::app::App;
use super::auth::Called;
use super::problem::Problem;
use super::reply;

/// Where a dump is taken in.
pub(super) const LOAD: &str = "/v1/load";
const LINES: &str = "application/x-ndjson";
/// Records that are read at a time, and lines that are taken in as one act.
const PAGE: usize = 1_000;
/// As many bytes of lines are also enough for one act.
const ACT_BYTES: usize = 8 * 1024 * 1024;
/// Longest line: a memory with all its versions.
const LINE_BYTES: usize = 64 * 1024 * 1024;
/// Pages that wait for a client that reads slowly.
const AHEAD: usize = 2;

/// `GET /v1/dump`
pub(super) async fn dump(State(app): State<App>, Called(caller): Called) -> Result<Response, Problem> {
    // Who may not is told so, and not by a stream that breaks off.
    let (first, next) = page(&app, &caller, DumpPosition::default()).await?;
    let (mut sender, body) = Channel::<Bytes, io::Error>::new(AHEAD);
    tokio::spawn(async move {
        if sender.send_data(first).await.is_ok()
            && let Err(problem) = rest(&app, &caller, next, &mut sender).await
        {
            // Without its end the client knows that the dump is not whole.
            sender.abort(io::Error::other(problem.code()));
        }
    });
    Ok(([(CONTENT_TYPE, LINES)], Body::new(body)).into_response())
}

async fn rest(
    app: &App,
    caller: &Caller,
    mut next: Option<DumpPosition>,
    to: &mut Sender<Bytes, io::Error>,
) -> Result<(), Problem> {
    while let Some(position) = next {
        let (lines, after) = page(app, caller, position).await?;
        if to.send_data(lines).await.is_err() {
            return Ok(());
        }
        next = after;
    }
    Ok(())
}

async fn page(
    app: &App,
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
    State(app): State<App>,
    Called(caller): Called,
    request: Request,
) -> Result<Response, Problem> {
    let mut lines = Lines { body: request.into_body(), rest: Vec::new(), number: 0, ended: false };
    let (mut loading, mut waiting, mut bytes) = (Loading::default(), Vec::new(), 0);
    while let Some((number, line)) = lines.next(&app).await? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        bytes += line.len();
        waiting.push((number, read(number, &line)?));
        if waiting.len() == PAGE || bytes >= ACT_BYTES {
            loading = take(&app, &caller, loading, std::mem::take(&mut waiting)).await?;
            bytes = 0;
        }
    }
    loading = take(&app, &caller, loading, waiting).await?;
    let upkeep = app.upkeep.clone();
    let done = app.blocking(move |engine| {
        engine.finish_load(&caller, &loading)?;
        upkeep.tend();
        Ok::<_, tulving_core::Error>(loading)
    });
    Ok(reply::data(&done.await??))
}

fn read(number: u64, line: &[u8]) -> Result<Record, Problem> {
    let wrong = |why: &str| {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_line", format!("line {number}: {why}"))
            .hinting("the lines before it may have been loaded; what is there already is not loaded twice")
    };
    let line = std::str::from_utf8(line).map_err(|_| wrong("it is not UTF-8"))?;
    record::from_line(line).map_err(|why| wrong(&why))
}

async fn take(
    app: &App,
    caller: &Caller,
    mut loading: Loading,
    lines: Vec<(u64, Record)>,
) -> Result<Loading, Problem> {
    let caller = caller.clone();
    let done = app.blocking(move |engine| {
        engine.load(&caller, &mut loading, lines)?;
        Ok::<_, tulving_core::Error>(loading)
    });
    Ok(done.await??)
}

/// The lines of a body, as they come.
struct Lines {
    body: Body,
    rest: Vec<u8>,
    number: u64,
    ended: bool,
}

impl Lines {
    async fn next(&mut self, app: &App) -> Result<Option<(u64, Vec<u8>)>, Problem> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let rest = self.rest.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.rest, rest);
                line.pop();
                self.number += 1;
                return Ok(Some((self.number, line)));
            }
            if self.ended {
                let line = std::mem::take(&mut self.rest);
                self.number += 1;
                return Ok((!line.is_empty()).then_some((self.number, line)));
            }
            self.more(app).await?;
        }
    }

    async fn more(&mut self, app: &App) -> Result<(), Problem> {
        let frame = tokio::time::timeout(app.limits.time / 2, self.body.frame()).await;
        let Ok(frame) = frame else {
            let said = "the body stopped coming";
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", said));
        };
        match frame {
            None => self.ended = true,
            Some(Ok(frame)) => self.rest.extend_from_slice(frame.data_ref().map_or(&[], Bytes::as_ref)),
            Some(Err(_)) => return Err(Problem::broken_body()),
        }
        if self.rest.len() > LINE_BYTES && !self.rest.contains(&b'\n') {
            return Err(Problem::too_large(LINE_BYTES));
        }
        Ok(())
    }
}
