//! `/v1/events/stream`: every change that the caller may see, as server-sent events.
//!
//! The store is asked whether anything was written for all streams together, a few times a second. An event's id says
//! where the next stream goes on; it holds only for the store's present content.

use std::convert::Infallible;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use serde::Serialize;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tulving_core::answer::Changes;
use tulving_core::change::Change;
use tulving_core::id::Seq;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{Boundary, ChangeKind, Origin};
use tulving_dialects::memax;

use super::app::App;
use super::auth::Credentials;
use super::pages::{Page, pages};
use super::problem::Problem;

const LAST: &str = "last-event-id";
/// How often the store is asked whether anything was written.
const BEAT: Duration = Duration::from_millis(200);
/// How long a stream is silent at the most. Then it also looks whether its token still holds.
const SILENCE: Duration = Duration::from_secs(15);
/// Most events that are read at a time.
const PAGE: usize = 500;
/// Events that wait for a client that reads slowly; after that the stream waits too.
const AHEAD: usize = 4;

/// Where a stream stands: the content that it follows, and the last entry that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    epoch: [u8; 16],
    seq: Seq,
}

impl Place {
    fn written(self) -> String {
        format!("{}-{}", HEXLOWER.encode(&self.epoch[..4]), self.seq.0)
    }

    /// Where an id leads in a store of this epoch; nothing where it is of another.
    fn read(id: &str, epoch: [u8; 16]) -> Option<Result<Self, ()>> {
        let (of, seq) = id.trim().split_once('-')?;
        let seq = Seq(seq.parse().ok()?);
        Some(if of == HEXLOWER.encode(&epoch[..4]) { Ok(Self { epoch, seq }) } else { Err(()) })
    }
}

/// What is told of a change.
#[derive(Serialize)]
struct Event {
    id: String,
    hub_id: String,
    owner_id: String,
    #[serde(rename = "type")]
    kind: ChangeKind,
    boundary: Boundary,
    at: Timestamp,
}

impl From<&Change> for Event {
    fn from(change: &Change) -> Self {
        Self {
            id: memax::id(change.memory),
            hub_id: change.space.to_string(),
            owner_id: change.owner.to_string(),
            kind: change.kind,
            boundary: change.boundary,
            at: change.at,
        }
    }
}

/// Tells streams that something was written. It asks the store for as long as anybody listens.
#[derive(Debug, Default)]
pub(super) struct Pulse(std::sync::Mutex<Weak<watch::Sender<Seq>>>);

impl Pulse {
    fn follow(&self, app: &App) -> (Arc<watch::Sender<Seq>>, watch::Receiver<Seq>) {
        let mut beating = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(sender) = beating.upgrade() {
            let receiver = sender.subscribe();
            return (sender, receiver);
        }
        let (sender, receiver) = watch::channel(Seq(0));
        let sender = Arc::new(sender);
        *beating = Arc::downgrade(&sender);
        tokio::spawn(beat(app.clone(), Arc::downgrade(&sender)));
        (sender, receiver)
    }
}

async fn beat(app: App, to: Weak<watch::Sender<Seq>>) {
    loop {
        let head = app.blocking(|engine| engine.head()).await;
        let Some(to) = to.upgrade() else { return };
        if let Ok(Ok(head)) = head {
            to.send_if_modified(|last| std::mem::replace(last, head) != head);
        }
        drop(to);
        tokio::time::sleep(BEAT).await;
    }
}

/// `GET /v1/events/stream`
pub(super) async fn stream(
    State(app): State<App>,
    given: Credentials,
    request: Request,
) -> Result<Response, Problem> {
    app.caller(given.clone(), Origin::Api).await?;
    let last = last(request.headers())?;
    let (epoch, head) =
        app.blocking(|engine| Ok::<_, tulving_core::Error>((engine.epoch()?, engine.head()?))).await??;
    let now = Place { epoch, seq: head };
    let (from, lost) =
        match last.as_deref().map(|id| Place::read(id, epoch).ok_or_else(|| unreadable(id))).transpose()? {
            None => (now, false),
            Some(Ok(place)) => (place, false),
            Some(Err(())) => (now, true),
        };
    let (sender, body) = pages(AHEAD);
    tokio::spawn(async move {
        let Over::Failed(problem) =
            tell(app, given, from, lost, Told { to: sender, at: Instant::now() }).await
        else {
            return;
        };
        // Its client only sees that it ended.
        tracing::warn!(code = problem.code(), reason = problem.detail(), "a stream of events broke off");
    });
    Ok(([(CONTENT_TYPE, "text/event-stream")], body).into_response())
}

fn last(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(id) = headers.get(LAST) else { return Ok(None) };
    id.to_str().map(|id| Some(id.to_owned())).map_err(|_| unreadable("…"))
}

fn unreadable(id: &str) -> Problem {
    let said = format!("`{}` is not the id of an event", tulving_core::preview::short(id));
    Problem::new(StatusCode::BAD_REQUEST, "invalid_header", said).about("Last-Event-ID")
}

/// Why a stream is over.
#[derive(Debug)]
enum Over {
    /// Nobody listens, or the token does not hold any more.
    Left,
    /// The server failed.
    Failed(Problem),
}

impl From<Problem> for Over {
    fn from(problem: Problem) -> Self {
        if problem.is_of_server() { Self::Failed(problem) } else { Self::Left }
    }
}

/// Tells what is written until that is over.
async fn tell(app: App, given: Credentials, from: Place, lost: bool, mut to: Told) -> Over {
    match follow(&app, &given, from, lost, &mut to).await {
        Err(over) => over,
        Ok(never) => match never {},
    }
}

async fn follow(
    app: &App,
    given: &Credentials,
    from: Place,
    lost: bool,
    to: &mut Told,
) -> Result<Infallible, Over> {
    let (_keep, mut pulse) = app.pulse.follow(app);
    let mut at = from;
    send(to, format!("retry: 1000\n: {}\n\n", at.written())).await?;
    if lost {
        send(to, gap(at)).await?;
    }
    loop {
        pulse.mark_unchanged();
        at = catch_up(app, given, at, to).await?;
        // Much may be written that is not for this caller.
        match tokio::time::timeout(SILENCE.saturating_sub(to.at.elapsed()), pulse.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Over::Left),
            Err(_) => send(to, ":\n\n".to_owned()).await?,
        }
    }
}

/// Tells everything that was written since, and says how far that is.
async fn catch_up(app: &App, given: &Credentials, mut at: Place, to: &mut Told) -> Result<Place, Over> {
    loop {
        let caller = app.still(given.clone(), Origin::Api).await?;
        let after = at.seq;
        let read = app.blocking(move |engine| {
            Ok::<_, tulving_core::Error>((
                engine.epoch()?,
                engine.changes(&caller, after, PAGE)?,
                engine.head()?,
            ))
        });
        let (epoch, Changes { changes, read_to, gap: missing }, head) = read.await?.map_err(Problem::from)?;
        if epoch != at.epoch {
            at = Place { epoch, seq: head };
            send(to, gap(at)).await?;
            continue;
        }
        if missing {
            send(to, gap(Place { seq: after, ..at })).await?;
        }
        let events: String = changes.iter().map(|change| event(at.epoch, change)).collect();
        if !events.is_empty() {
            send(to, events).await?;
        }
        at.seq = read_to;
        if read_to >= head {
            return Ok(at);
        }
    }
}

fn event(epoch: [u8; 16], change: &Change) -> String {
    let id = Place { epoch, seq: change.seq }.written();
    let data = serde_json::to_string(&Event::from(change)).unwrap_or_default();
    format!("id: {id}\nevent: {}\ndata: {data}\n\n", change.kind)
}

/// That something was missed: who keeps a copy has to read everything again.
fn gap(at: Place) -> String {
    format!("id: {}\nevent: gap\ndata: {{}}\n\n", at.written())
}

/// Where a stream leads, and when it last said anything.
struct Told {
    to: Sender<Page>,
    at: Instant,
}

async fn send(told: &mut Told, text: String) -> Result<(), Over> {
    told.at = Instant::now();
    told.to.send(Ok(Bytes::from(text))).await.map_err(|_| Over::Left)
}

#[cfg(test)]
mod tests {
    use tulving_core::request::TokenRequest;
    use tulving_core::vocabulary::Role;
    use tulving_testkit::fault::FaultyStore;

    use super::*;
    use crate::http::bed::{Idle, app_with};

    #[tokio::test]
    async fn a_stream_that_ends_because_the_store_failed_says_so_and_one_whose_token_was_revoked_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut faulty = None;
        let app = app_with(folder.path(), Arc::new(Idle), |store| {
            let store = Arc::new(FaultyStore::new(store));
            faulty = Some(Arc::clone(&store));
            store
        });
        let faulty = faulty.expect("a store");
        let user = app.engine.user(Origin::Cli, None).expect("the user");
        let names = app.engine.names(&[user.viewer.principal]).expect("names");
        let request = TokenRequest {
            label: "stream".to_owned(),
            introduce: None,
            principal: names[&user.viewer.principal].clone(),
            spaces: Vec::new(),
            role: Role::Reader,
        };
        let (token, _) = app.engine.create_token(&user, &request).expect("a token");
        let given = Credentials {
            token,
            space: None,
            default_space: None,
            confined: false,
            agent: None,
            zone: None,
            visit: None,
        };
        let at =
            Place { epoch: app.engine.epoch().expect("an epoch"), seq: app.engine.head().expect("a head") };
        let (sender, _body) = pages(AHEAD);
        let mut told = Told { to: sender, at: Instant::now() };
        let mut failures = 0;
        loop {
            faulty.fail_at(failures + 1);
            let read = catch_up(&app, &given, at, &mut told).await;
            if !faulty.has_failed() {
                read.expect("nothing failed");
                break;
            }
            assert!(matches!(read, Err(Over::Failed(_))), "{read:?}");
            failures += 1;
        }
        faulty.fail_at(0);
        assert!(failures >= 4, "who asks, the epoch, the changes and the head are read");
        app.engine.revoke_token(&user, "stream").expect("revoked");
        assert!(matches!(catch_up(&app, &given, at, &mut told).await, Err(Over::Left)));
    }

    #[test]
    fn an_id_leads_back_to_its_place_and_only_in_the_same_content() {
        let place = Place { epoch: [7; 16], seq: Seq(12) };
        assert_eq!(place.written(), "07070707-12");
        assert_eq!(Place::read(&place.written(), [7; 16]), Some(Ok(place)));
        assert_eq!(Place::read(&place.written(), [8; 16]), Some(Err(())));
        for wrong in ["", "12", "07070707-", "07070707-x", "-"] {
            assert_eq!(Place::read(wrong, [7; 16]), None, "{wrong}");
        }
    }
}
