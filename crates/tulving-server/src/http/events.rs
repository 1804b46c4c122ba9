//! `/v1/events/stream`: every change that the caller may see, as server-sent events.
//!
//! One task checks the store for new writes several times a second, for all streams. The id of an event is the position
//! where the next stream continues. An id is valid only within the store's current epoch.

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
use tulving_core::model::answer::Changes;
use tulving_core::model::change::Change;
use tulving_core::model::id::Seq;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, ChangeKind, Origin};
use tulving_dialects::memax;

use super::app::HttpApp;
use super::auth::Credentials;
use super::pages::{BodyPage, pages};
use super::problem::Problem;

const LAST: &str = "last-event-id";
/// The interval between checks for new writes.
const BEAT: Duration = Duration::from_millis(200);
/// Maximum time between two messages of a stream. After this time the stream also checks that its token is still valid.
const SILENCE: Duration = Duration::from_secs(15);
/// Maximum number of events that are read at a time.
const PAGE: usize = 500;
/// Maximum number of events that wait for a slow client. If the queue is full, the stream waits.
const AHEAD: usize = 4;

/// The position of a stream: the epoch of the store, and the last entry that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StreamPosition {
    epoch: [u8; 16],
    seq: Seq,
}

impl StreamPosition {
    fn written(self) -> String {
        format!("{}-{}", HEXLOWER.encode(&self.epoch[..4]), self.seq.0)
    }

    /// Reads the position from an id: `None` if it is not an id, an error if it is from another epoch.
    fn read(id: &str, epoch: [u8; 16]) -> Option<Result<Self, ()>> {
        let (of, seq) = id.trim().split_once('-')?;
        let seq = Seq(seq.parse().ok()?);
        Some(if of == HEXLOWER.encode(&epoch[..4]) { Ok(Self { epoch, seq }) } else { Err(()) })
    }
}

/// The data of an event.
#[derive(Serialize)]
struct ChangeEvent {
    id: String,
    hub_id: String,
    owner_id: String,
    #[serde(rename = "type")]
    kind: ChangeKind,
    boundary: Boundary,
    at: Timestamp,
}

impl From<&Change> for ChangeEvent {
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

/// Notifies streams of new writes. It checks the store only while at least one stream is open.
#[derive(Debug, Default)]
pub(super) struct ChangeNotifier(std::sync::Mutex<Weak<watch::Sender<Seq>>>);

impl ChangeNotifier {
    fn follow(&self, app: &HttpApp) -> (Arc<watch::Sender<Seq>>, watch::Receiver<Seq>) {
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

async fn beat(app: HttpApp, to: Weak<watch::Sender<Seq>>) {
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
    State(app): State<HttpApp>,
    given: Credentials,
    request: Request,
) -> Result<Response, Problem> {
    app.caller(given.clone(), Origin::Api).await?;
    let last = last(request.headers())?;
    let (epoch, head) =
        app.blocking(|engine| Ok::<_, tulving_core::Error>((engine.epoch()?, engine.head()?))).await??;
    let now = StreamPosition { epoch, seq: head };
    let (from, lost) = match last
        .as_deref()
        .map(|id| StreamPosition::read(id, epoch).ok_or_else(|| unreadable(id)))
        .transpose()?
    {
        None => (now, false),
        Some(Ok(place)) => (place, false),
        Some(Err(())) => (now, true),
    };
    let (sender, body) = pages(AHEAD);
    tokio::spawn(async move {
        let StreamEnd::Failed(problem) =
            tell(app, given, from, lost, EventSender { to: sender, at: Instant::now() }).await
        else {
            return;
        };
        // The client only sees that the stream ended, so the reason is logged.
        tracing::warn!(code = problem.code(), reason = problem.detail(), "an event stream ended early");
    });
    Ok(([(CONTENT_TYPE, "text/event-stream")], body).into_response())
}

fn last(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(id) = headers.get(LAST) else { return Ok(None) };
    id.to_str().map(|id| Some(id.to_owned())).map_err(|_| unreadable("…"))
}

fn unreadable(id: &str) -> Problem {
    let said = format!("`{}` is not the id of an event", tulving_core::model::preview::short(id));
    Problem::new(StatusCode::BAD_REQUEST, "invalid_header", said).about("Last-Event-ID")
}

/// The reason why a stream ended.
#[derive(Debug)]
enum StreamEnd {
    /// The client disconnected, or the token is no longer valid.
    Left,
    /// The server failed.
    Failed(Problem),
}

impl From<Problem> for StreamEnd {
    fn from(problem: Problem) -> Self {
        if problem.is_of_server() { Self::Failed(problem) } else { Self::Left }
    }
}

/// Sends every new write until the stream ends.
async fn tell(
    app: HttpApp,
    given: Credentials,
    from: StreamPosition,
    lost: bool,
    mut to: EventSender,
) -> StreamEnd {
    match follow(&app, &given, from, lost, &mut to).await {
        Err(over) => over,
        Ok(never) => match never {},
    }
}

async fn follow(
    app: &HttpApp,
    given: &Credentials,
    from: StreamPosition,
    lost: bool,
    to: &mut EventSender,
) -> Result<Infallible, StreamEnd> {
    let (_keep, mut changes) = app.changes.follow(app);
    let mut at = from;
    send(to, format!("retry: 1000\n: {}\n\n", at.written())).await?;
    if lost {
        send(to, gap(at)).await?;
    }
    loop {
        changes.mark_unchanged();
        at = catch_up(app, given, at, to).await?;
        // New writes may be invisible to the caller, so the silence is measured from the last message and not from the
        // last write.
        match tokio::time::timeout(SILENCE.saturating_sub(to.at.elapsed()), changes.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(StreamEnd::Left),
            Err(_) => send(to, ":\n\n".to_owned()).await?,
        }
    }
}

/// Sends everything that was written since `at`, and returns the new position.
async fn catch_up(
    app: &HttpApp,
    given: &Credentials,
    mut at: StreamPosition,
    to: &mut EventSender,
) -> Result<StreamPosition, StreamEnd> {
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
            at = StreamPosition { epoch, seq: head };
            send(to, gap(at)).await?;
            continue;
        }
        if missing {
            send(to, gap(StreamPosition { seq: after, ..at })).await?;
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
    let id = StreamPosition { epoch, seq: change.seq }.written();
    let data = serde_json::to_string(&ChangeEvent::from(change)).unwrap_or_default();
    format!("id: {id}\nevent: {}\ndata: {data}\n\n", change.kind)
}

/// Returns the event for missed changes. After this event, a client with a copy of the data must read everything again.
fn gap(at: StreamPosition) -> String {
    format!("id: {}\nevent: gap\ndata: {{}}\n\n", at.written())
}

/// Sends events to the client of a stream, and records the time of the last message.
struct EventSender {
    to: Sender<BodyPage>,
    at: Instant,
}

async fn send(described: &mut EventSender, text: String) -> Result<(), StreamEnd> {
    described.at = Instant::now();
    described.to.send(Ok(Bytes::from(text))).await.map_err(|_| StreamEnd::Left)
}

#[cfg(test)]
mod tests {
    use tulving_core::model::request::TokenRequest;
    use tulving_core::model::vocabulary::Role;
    use tulving_testkit::fault::FaultyStore;

    use super::*;
    use crate::http::test_app::{IdleUpkeep, app_with};

    #[tokio::test]
    async fn a_stream_that_ends_because_the_store_failed_says_so_and_one_whose_token_was_revoked_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut faulty = None;
        let app = app_with(folder.path(), Arc::new(IdleUpkeep), |store| {
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
            trace: None,
        };
        let at = StreamPosition {
            epoch: app.engine.epoch().expect("an epoch"),
            seq: app.engine.head().expect("a head"),
        };
        let (sender, _body) = pages(AHEAD);
        let mut described = EventSender { to: sender, at: Instant::now() };
        let mut failures = 0;
        loop {
            faulty.fail_at(failures + 1);
            let read = catch_up(&app, &given, at, &mut described).await;
            if !faulty.has_failed() {
                read.expect("nothing failed");
                break;
            }
            assert!(matches!(read, Err(StreamEnd::Failed(_))), "{read:?}");
            failures += 1;
        }
        faulty.fail_at(0);
        assert!(failures >= 4, "who asks, the epoch, the changes and the head are read");
        app.engine.revoke_token(&user, "stream").expect("revoked");
        assert!(matches!(catch_up(&app, &given, at, &mut described).await, Err(StreamEnd::Left)));
    }

    #[test]
    fn an_id_leads_back_to_its_place_and_only_in_the_same_content() {
        let place = StreamPosition { epoch: [7; 16], seq: Seq(12) };
        assert_eq!(place.written(), "07070707-12");
        assert_eq!(StreamPosition::read(&place.written(), [7; 16]), Some(Ok(place)));
        assert_eq!(StreamPosition::read(&place.written(), [8; 16]), Some(Err(())));
        for wrong in ["", "12", "07070707-", "07070707-x", "-"] {
            assert_eq!(StreamPosition::read(wrong, [7; 16]), None, "{wrong}");
        }
    }
}
