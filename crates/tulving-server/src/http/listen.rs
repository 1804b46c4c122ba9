//! The listener: accepts connections until the process receives a signal, then waits for the requests in progress.

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

use super::app::HttpApp;
use super::concurrency::WORKERS;
use super::connection_limit::{self, ConnectionRefuser};
use super::connections::{AdmittedConnection, ConnectionSlot, ConnectionTable};
use super::counters::{RefusalReason, ServerCounters};
use super::request_log::{PeerAddress, network};
use super::routes::router;
use super::rules::{LiveValue, RulesReloader, ServerRules};
use super::stream::CountedStream;

/// The time limit for the head of a request, and for an idle connection. If the limit for a whole request is shorter, the
/// shorter limit applies.
const HEAD: Duration = Duration::from_secs(30);
/// The time limit for the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The time limit for a client to read a part of its answer.
const READING: Duration = Duration::from_secs(30);
/// Maximum size of a request head, and of the buffer of one connection, in bytes.
const HEAD_BYTES: usize = 32 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;
/// Maximum number of connections that wait to be accepted. Above this number, the operating system lets clients wait a
/// second before they try again.
const WAITING: u32 = 1_024;
/// The pause after a connection could not be accepted, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(50);
/// The response to a shortage of open files: the maximum number of connections that are closed to free files for the store,
/// the lowest limit on connections during the shortage, and the duration of the shortage.
const SPARE: usize = 16;
const HELD: usize = 8;
const SHORTAGE: Duration = Duration::from_secs(10);
/// The time that refused connections stay open, so that their clients can read the reason.
const LINGERING: Duration = Duration::from_secs(1);
/// Maximum number of dropped connections that may still be closing before another connection is dropped, and the number and
/// length of the waits for them. A dropped connection keeps its file open until its task has run.
const CLOSING: usize = 32;
const CLOSING_ROUNDS: usize = 50;
const CLOSING_PAUSE: Duration = Duration::from_millis(1);
/// The interval between checks for changed rules.
const LOOKING: Duration = Duration::from_secs(1);
/// The time after the signal during which the server still reads requests.
const READING_ON: Duration = Duration::from_millis(250);
/// A stopping server waits for idle connections for this many rounds of this length: one second in total, so that the last
/// answer can reach its client.
const QUIET_ROUNDS: u32 = 10;
const ROUND: Duration = Duration::from_millis(100);

/// The reason why the server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another process uses the port.
    #[error("{0} is taken by another program")]
    Taken(SocketAddr),
    /// The operating system refuses the address.
    #[error("cannot listen on {address}: {source}")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The runtime could not start.
    #[error("the server could not start: {0}")]
    Start(#[from] io::Error),
}

/// A listener with an open port. It stops at SIGINT or SIGTERM.
#[derive(Debug)]
pub struct Listener {
    runtime: Runtime,
    socket: TcpListener,
    address: SocketAddr,
    stop: StopSignals,
    hangup: Signal,
}

#[derive(Debug)]
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

/// The current rules, and the routes under these rules.
struct CurrentRoutes {
    rules: Arc<ServerRules>,
    routes: Router,
    /// Maximum number of connections, limited by the number of files that the process may open.
    connections: usize,
}

impl CurrentRoutes {
    fn new(app: HttpApp, address: IpAddr) -> Self {
        let rules = Arc::clone(&app.rules);
        Self {
            connections: connection_limit::allowed(rules.limits.connections),
            routes: router(app, address),
            rules,
        }
    }
}

impl StopSignals {
    async fn comes(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

impl Listener {
    /// Opens the port. From then on, a signal ends [`serve`](Self::serve) and not the process.
    pub fn open(address: SocketAddr) -> Result<Self, ListenError> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(WORKERS).build()?;
        let inside = runtime.enter();
        let socket = bind(address).map_err(|source| match source.kind() {
            ErrorKind::AddrInUse => ListenError::Taken(address),
            _ => ListenError::Refused { address, source },
        })?;
        let address = socket.local_addr()?;
        let stop = StopSignals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        };
        let hangup = signal(SignalKind::hangup())?;
        drop(inside);
        Ok(Self { runtime, socket, address, stop, hangup })
    }

    /// Returns the listener's address. If no port was given, the system has chosen one.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves requests until the process receives a signal and all earlier requests are answered. After a second signal the
    /// server waits for no answer, but completes work that has begun. New rules from `reload` apply to later requests.
    pub fn serve(self, app: HttpApp, reload: impl RulesReloader + 'static) {
        let Self { runtime, socket, address, mut stop, hangup } = self;
        runtime.block_on(async move {
            let current = Arc::new(LiveValue::new(CurrentRoutes::new(app.clone(), address.ip())));
            tokio::spawn(follow(Box::new(reload), hangup, app.clone(), address.ip(), Arc::clone(&current)));
            accept(socket, &app, &current, &mut stop).await;
        });
        // Dropping the runtime waits for work that has begun.
        drop(runtime);
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Without this option, the port cannot be opened again immediately after a server has stopped.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Replaces the rules whenever they change, until the server stops.
async fn follow(
    mut reload: Box<dyn RulesReloader>,
    mut hangup: Signal,
    app: HttpApp,
    address: IpAddr,
    current: Arc<LiveValue<CurrentRoutes>>,
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
        // A file that is missing for a moment must not send tokens and memories over a network unencrypted.
        if rules.tls.is_none() && current.get().rules.tls.is_some() && !address.is_loopback() {
            tracing::error!(
                "the new configuration has no certificate, but others can reach the server; the old configuration stays in use"
            );
        } else {
            current.set(CurrentRoutes::new(app.clone().under(rules), address));
            // Logged only after the new rules apply, because readers of the log may rely on this order.
            tracing::info!("the configuration was reloaded");
        }
    }
}

/// Accepts connections until the process receives a signal.
async fn accept(
    socket: TcpListener,
    app: &HttpApp,
    current: &Arc<LiveValue<CurrentRoutes>>,
    stop: &mut StopSignals,
) {
    let counters = &app.shared.counters;
    let (connections, table) = (GracefulShutdown::new(), Arc::new(ConnectionTable::default()));
    let (mut refuser, mut shortage) = (ConnectionRefuser::default(), FileShortage::default());
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = tokio::time::sleep(LINGERING), if refuser.waits() => {
                refuser.disperse(current.get().connections);
                continue;
            }
            () = stop.comes() => break,
        };
        let now = current.get();
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                if is_shortage(&error) {
                    refuser.disperse(now.connections);
                    shortage.begin(counters, &table);
                }
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let most = shortage.most(now.connections);
        let Ok(AdmittedConnection { seat, displaced }) =
            table.admit(network(peer.ip()), most, now.rules.limits.strangers, Instant::now())
        else {
            counters.refused(RefusalReason::Connections);
            if let Ok(stream) = stream.into_std() {
                refuser.turn_away(stream, now.rules.tls.is_none(), most);
            }
            continue;
        };
        if displaced {
            counters.refused(RefusalReason::Displaced);
            let room = || counters.connections() < most + CLOSING;
            for _ in 0..CLOSING_ROUNDS {
                if room() {
                    break;
                }
                tokio::time::sleep(CLOSING_PAUSE).await;
            }
        }
        let (seat, open) = (Arc::new(seat), counters.open());
        let (counts, live, watcher) = (Arc::clone(counters), Arc::clone(current), connections.watcher());
        tokio::spawn(async move {
            tokio::select! {
                () = attend(stream, PeerAddress(peer), &seat, &counts, &now.rules, live, watcher) => {}
                () = seat.dropped() => {}
            }
            drop(open);
        });
    }
    drop(socket);
    finish(app, connections, stop).await;
}

/// Waits until all requests are answered.
async fn finish(app: &HttpApp, connections: GracefulShutdown, stop: &mut StopSignals) {
    let counters = &app.shared.counters;
    tracing::info!(in_flight = counters.in_flight(), connections = counters.connections(), "stopping");
    if counters.connections() > 0 {
        // The server may not have read all requests that clients have sent. It reads for a short time before it closes
        // connections that seem idle.
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

/// Returns true if the process, or the machine, can open no more files.
fn is_shortage(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// The state after the process could open no more files. The store needs open files too, so the limit on connections is
/// lower for a while.
#[derive(Debug, Default)]
struct FileShortage {
    /// Maximum number of connections during the shortage, and the start of the shortage.
    bound: Option<(usize, Instant)>,
}

impl FileShortage {
    fn begin(&mut self, counters: &ServerCounters, table: &ConnectionTable) {
        let now = Instant::now();
        if self.bound.is_none_or(|(_, since)| now - since > SHORTAGE) {
            tracing::warn!(connections = counters.connections(), "the process cannot open more files");
        }
        let (open, spare) = (counters.connections(), SPARE.min(counters.connections().div_ceil(2)));
        self.bound = Some(((open - spare).max(HELD), now));
        for _ in 0..table.relieve(spare, now) {
            counters.refused(RefusalReason::Displaced);
        }
    }

    /// Returns the maximum number of connections, given the usual limit.
    fn most(&self, usual: usize) -> usize {
        match self.bound {
            Some((bound, since)) if since.elapsed() < SHORTAGE => bound.min(usual),
            _ => usual,
        }
    }
}

/// Serves one connection from start to end, with or without encryption.
async fn attend(
    stream: TcpStream,
    peer: PeerAddress,
    seat: &Arc<ConnectionSlot>,
    counters: &Arc<ServerCounters>,
    rules: &ServerRules,
    current: Arc<LiveValue<CurrentRoutes>>,
    watcher: Watcher,
) {
    // Answers are small; waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let time = rules.limits.time;
    let stream = CountedStream::new(stream, Arc::clone(counters), READING.min(time));
    let wait = HeadTimeouts { head: HEAD.min(time), first: rules.limits.first_request.min(time) };
    let Some(tls) = &rules.tls else {
        return converse(stream, peer, seat, counters, wait, current, watcher).await;
    };
    // The large future of the handshake is boxed, so that unencrypted connections need less memory.
    match Box::pin(timeout(HANDSHAKE.min(time), tls.0.accept(stream))).await {
        Ok(Ok(stream)) => Box::pin(converse(stream, peer, seat, counters, wait, current, watcher)).await,
        Ok(Err(_)) | Err(_) => {
            counters.refused(RefusalReason::Handshake);
            tracing::debug!(peer = %peer.0, "the TLS handshake failed");
        }
    }
}

/// The time limits for the head of a request.
#[derive(Clone, Copy)]
struct HeadTimeouts {
    /// The limit for each head.
    head: Duration,
    /// The limit for the first head on a connection.
    first: Duration,
}

/// Serves the requests of a connection. Each request uses the routes that are current when it arrives.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    peer: PeerAddress,
    seat: &Arc<ConnectionSlot>,
    counters: &ServerCounters,
    wait: HeadTimeouts,
    current: Arc<LiveValue<CurrentRoutes>>,
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
        // Every kind of end is acceptable, because the client decides how a connection ends.
        _ = watcher.watch(connection) => {}
        () = silent(seat, wait.first) => counters.refused(RefusalReason::Silent),
    }
}

/// Returns if no complete request arrives in this time. If a request arrives, the future never completes.
async fn silent(seat: &ConnectionSlot, time: Duration) {
    tokio::time::sleep(time).await;
    if !seat.is_silent() {
        std::future::pending::<()>().await;
    }
}

/// Waits until the server has answered no request for a while. Connections without a complete request do not count.
async fn quiet(app: &HttpApp) {
    let mut rounds = 0;
    while rounds < QUIET_ROUNDS {
        tokio::time::sleep(ROUND).await;
        let busy = app.shared.counters.in_flight() > 0 || app.shared.counters.writing() > 0;
        rounds = if busy { 0 } else { rounds + 1 };
    }
}
