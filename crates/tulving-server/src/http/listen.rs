//! The listener: takes connections until a signal comes, then lets what is in flight end.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::app::App;
use super::connections::{Admitted, Connections, Seat};
use super::crowd::{self, Crowd};
use super::room::WORKERS;
use super::routes::router;
use super::rules::{Live, Reload, Rules};
use super::stream::Stream;
use super::tally::{Reason, Tally};
use super::visit::{Peer, network};

/// How long a client may take to send the head of a request, and how long a connection may be idle. Less where a whole
/// request may only take less.
const HEAD: Duration = Duration::from_secs(30);
/// How long a client may take to agree on encryption.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take to read a part of its answer.
const READING: Duration = Duration::from_secs(30);
/// Most bytes of the head of a request, and of what is kept of one connection at a time.
const HEAD_BYTES: usize = 32 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// Connections that wait to be taken. With more the system lets clients wait a second before they try again.
const WAITING: u32 = 1_024;
/// The pause after a connection could not be taken, as when too many files are open.
const PAUSE: Duration = Duration::from_millis(50);
/// The number of connections that are given up at the most for the files of the store once the process could open no more, how many
/// are held in any case, and for how long.
const SPARE: usize = 16;
const HELD: usize = 8;
const SHORTAGE: Duration = Duration::from_secs(10);
/// How long connections that were turned away stay open, for their clients to read why.
const LINGERING: Duration = Duration::from_secs(1);
/// The number of dropped connections that may still be closing before another one is dropped, and how often and how long it waits
/// for them: each has its file open until its task ran.
const CLOSING: usize = 32;
const CLOSING_ROUNDS: usize = 50;
const CLOSING_PAUSE: Duration = Duration::from_millis(1);
/// How often the rules are looked at.
const LOOKING: Duration = Duration::from_secs(1);
/// How long requests are still read after the signal.
const READING_ON: Duration = Duration::from_millis(250);
/// Connections on which nothing was asked keep a stopping server for so many rounds of this length: a second, in which
/// the last answer reaches its client.
const QUIET_ROUNDS: u32 = 10;
const ROUND: Duration = Duration::from_millis(100);

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Somebody else has the port.
    #[error("{0} is taken by another program")]
    Taken(SocketAddr),
    /// The machine refuses the address.
    #[error("nothing can listen on {address}: {source}")]
    Refused {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The runtime could not start.
    #[error("the server could not start: {0}")]
    Start(#[from] io::Error),
}

/// Has its port, and stops at SIGINT or SIGTERM.
#[derive(Debug)]
pub struct Listener {
    runtime: Runtime,
    socket: TcpListener,
    address: SocketAddr,
    stop: Stop,
    hangup: Signal,
}

#[derive(Debug)]
struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

/// What holds at one time.
struct Current {
    rules: Arc<Rules>,
    routes: Router,
    /// Most connections, as many as there is room for.
    connections: usize,
}

impl Current {
    fn new(app: App, address: IpAddr) -> Self {
        let rules = Arc::clone(&app.rules);
        Self { connections: crowd::room(rules.limits.connections), routes: router(app, address), rules }
    }
}

impl Stop {
    async fn comes(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

impl Listener {
    /// Takes the port. From here on a signal does not end the process but [`serve`](Self::serve).
    pub fn open(address: SocketAddr) -> Result<Self, ListenError> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(WORKERS).build()?;
        let inside = runtime.enter();
        let socket = bind(address).map_err(|source| match source.kind() {
            ErrorKind::AddrInUse => ListenError::Taken(address),
            _ => ListenError::Refused { address, source },
        })?;
        let address = socket.local_addr()?;
        let stop =
            Stop { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? };
        let hangup = signal(SignalKind::hangup())?;
        drop(inside);
        Ok(Self { runtime, socket, address, stop, hangup })
    }

    /// Where it listens, with the port that the system gave where none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until a signal comes and what was asked by then is answered. A second signal waits for no answer; what was
    /// begun still goes to its end. Rules that `reload` brings hold for what is asked from then on.
    pub fn serve(self, app: App, reload: impl Reload + 'static) {
        let Self { runtime, socket, address, mut stop, hangup } = self;
        runtime.block_on(async move {
            let current = Arc::new(Live::new(Current::new(app.clone(), address.ip())));
            tokio::spawn(follow(Box::new(reload), hangup, app.clone(), address.ip(), Arc::clone(&current)));
            accept(socket, &app, &current, &mut stop).await;
        });
        // Waits for work that was begun.
        drop(runtime);
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // The port may be had again at once after a server was stopped.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Puts new rules in the place of the old ones, for as long as the server runs.
async fn follow(
    mut reload: Box<dyn Reload>,
    mut hangup: Signal,
    app: App,
    address: IpAddr,
    current: Arc<Live<Current>>,
) {
    let mut tick = interval(LOOKING);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let asked = tokio::select! {
            Some(()) = hangup.recv() => true,
            _ = tick.tick() => false,
        };
        let looked = tokio::task::spawn_blocking(move || {
            let found = reload.look(asked);
            (reload, found)
        });
        let Ok((again, found)) = looked.await else { return };
        reload = again;
        let Some(rules) = found else { continue };
        // A file that is gone for a moment must not send tokens and memories over a network unencrypted.
        if rules.tls.is_none() && current.get().rules.tls.is_some() && !address.is_loopback() {
            tracing::error!(
                "the new configuration has no certificate, and others can reach the server; the one of before goes on"
            );
        } else {
            current.set(Current::new(app.clone().under(rules), address));
            // Not before they hold: who reads it may rely on it.
            tracing::info!("the configuration was read again");
        }
    }
}

/// Takes connections until a signal comes.
async fn accept(socket: TcpListener, app: &App, current: &Arc<Live<Current>>, stop: &mut Stop) {
    let tally = &app.shared.tally;
    let (connections, table) = (GracefulShutdown::new(), Arc::new(Connections::default()));
    let (mut crowd, mut shortage) = (Crowd::default(), Shortage::default());
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = tokio::time::sleep(LINGERING), if crowd.waits() => {
                crowd.disperse(current.get().connections);
                continue;
            }
            () = stop.comes() => break,
        };
        let now = current.get();
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if is_shortage(&error) {
                    crowd.disperse(now.connections);
                    shortage.begin(tally, &table);
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let most = shortage.most(now.connections);
        let Ok(Admitted { seat, displaced }) =
            table.admit(network(peer.ip()), most, now.rules.limits.strangers, Instant::now())
        else {
            tally.refused(Reason::Connections);
            if let Ok(stream) = stream.into_std() {
                crowd.turn_away(stream, now.rules.tls.is_none(), most);
            }
            continue;
        };
        if displaced {
            tally.refused(Reason::Displaced);
            let room = || tally.connections() < most + CLOSING;
            for _ in 0..CLOSING_ROUNDS {
                if room() {
                    break;
                }
                tokio::time::sleep(CLOSING_PAUSE).await;
            }
        }
        let (seat, open) = (Arc::new(seat), tally.open());
        let (counts, live, watcher) = (Arc::clone(tally), Arc::clone(current), connections.watcher());
        tokio::spawn(async move {
            tokio::select! {
                () = attend(stream, Peer(peer), &seat, &counts, &now.rules, live, watcher) => {}
                () = seat.dropped() => {}
            }
            drop(open);
        });
    }
    drop(socket);
    finish(app, connections, stop).await;
}

/// Lets what was asked be answered.
async fn finish(app: &App, connections: GracefulShutdown, stop: &mut Stop) {
    let tally = &app.shared.tally;
    tracing::info!(in_flight = tally.in_flight(), connections = tally.connections(), "stopping");
    if tally.connections() > 0 {
        // What was sent by now may not have been read; a connection that seems idle is closed only after that.
        app.shared.stopping.store(true, Ordering::Relaxed);
        tokio::select! {
            () = tokio::time::sleep(READING_ON) => {}
            () = stop.comes() => return,
        }
    }
    tokio::select! {
        () = connections.shutdown() => {}
        () = quiet(app) => {}
        () = stop.comes() => {}
    }
}

/// Tells whether the process, or the machine, can open no more files.
fn is_shortage(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// The time after the process could open no more files. The store needs some of them too, so for a while fewer connections
/// are held.
#[derive(Debug, Default)]
struct Shortage {
    /// Most connections, and since when.
    bound: Option<(usize, Instant)>,
}

impl Shortage {
    fn begin(&mut self, tally: &Tally, table: &Connections) {
        let now = Instant::now();
        if self.bound.is_none_or(|(_, since)| now - since > SHORTAGE) {
            tracing::warn!(connections = tally.connections(), "the process can open no more files");
        }
        let (open, spare) = (tally.connections(), SPARE.min(tally.connections().div_ceil(2)));
        self.bound = Some(((open - spare).max(HELD), now));
        for _ in 0..table.relieve(spare, now) {
            tally.refused(Reason::Displaced);
        }
    }

    /// Most connections, of those that there is room for otherwise.
    fn most(&self, usual: usize) -> usize {
        match self.bound {
            Some((bound, since)) if since.elapsed() < SHORTAGE => bound.min(usual),
            _ => usual,
        }
    }
}

/// One connection, encrypted or not, from its beginning to its end.
async fn attend(
    stream: TcpStream,
    peer: Peer,
    seat: &Arc<Seat>,
    tally: &Arc<Tally>,
    rules: &Rules,
    current: Arc<Live<Current>>,
    watcher: Watcher,
) {
    // Answers are small; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let time = rules.limits.time;
    let stream = Stream::new(stream, Arc::clone(tally), READING.min(time));
    let wait = Wait { head: HEAD.min(time), first: rules.limits.first_request.min(time) };
    let Some(tls) = &rules.tls else {
        return converse(stream, peer, seat, tally, wait, current, watcher).await;
    };
    // Boxed, so that plain connections do not pay for its size.
    match Box::pin(timeout(HANDSHAKE.min(time), tls.0.accept(stream))).await {
        Ok(Ok(stream)) => Box::pin(converse(stream, peer, seat, tally, wait, current, watcher)).await,
        Ok(Err(_)) | Err(_) => {
            tally.refused(Reason::Handshake);
            tracing::debug!(peer = %peer.0, "no encryption was agreed upon");
        }
    }
}

/// The time that a connection may take to send the head of a request.
#[derive(Clone, Copy)]
struct Wait {
    /// Each of them.
    head: Duration,
    /// The first one.
    first: Duration,
}

/// Requests and answers. Each request is for the routes that there are when it comes.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    peer: Peer,
    seat: &Arc<Seat>,
    tally: &Tally,
    wait: Wait,
    current: Arc<Live<Current>>,
    watcher: Watcher,
) {
    let own = Arc::clone(seat);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(Arc::clone(&own));
        let asking = own.asks();
        let answer = TowerToHyperService::new(current.get().routes.clone()).call(request);
        async move {
            let answer = answer.await;
            drop(asking);
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(wait.head)
        .max_header_size(HEAD_BYTES)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // How a connection ends is the client's affair.
        _ = watcher.watch(connection) => {}
        () = silent(seat, wait.first) => tally.refused(Reason::Silent),
    }
}

/// Returns when no request came whole in this time, and never where one did.
async fn silent(seat: &Seat, time: Duration) {
    tokio::time::sleep(time).await;
    if !seat.is_silent() {
        std::future::pending::<()>().await;
    }
}

/// Until nothing has been answered for a while. A connection on which a request never became whole does not count.
async fn quiet(app: &App) {
    let mut rounds = 0;
    while rounds < QUIET_ROUNDS {
        tokio::time::sleep(ROUND).await;
        let busy = app.shared.tally.in_flight() > 0 || app.shared.tally.writing() > 0;
        rounds = if busy { 0 } else { rounds + 1 };
    }
}
