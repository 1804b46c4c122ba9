//! The listener: takes connections until a signal comes, then lets what is in flight end.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::app::App;
use super::routes::router;

/// How long a client may take to send the head of a request, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(30);
/// The pause after a connection could not be taken, as when too many files are open.
const PAUSE: Duration = Duration::from_millis(50);
/// Connections on which nothing was asked keep a stopping server for so many rounds of this length: a second, in which
/// the last answer reaches its client.
const QUIET_ROUNDS: u32 = 10;
const ROUND: Duration = Duration::from_millis(100);
/// How many requests work at once; others wait for their turn.
const WORKERS: usize = 64;

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
}

#[derive(Debug)]
struct Stop {
    interrupt: Signal,
    terminate: Signal,
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
        let socket = TcpListener::bind(address).map_err(|source| match source.kind() {
            ErrorKind::AddrInUse => ListenError::Taken(address),
            _ => ListenError::Refused { address, source },
        })?;
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(WORKERS).build()?;
        let stop = {
            let _inside = runtime.enter();
            Stop { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? }
        };
        Ok(Self { runtime, socket, address, stop })
    }

    /// Where it listens, with the port that the system gave where none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until a signal comes and what was asked by then is answered. A second signal waits for no answer; what was
    /// begun still goes to its end.
    pub fn serve(self, app: App) -> Result<(), ListenError> {
        let Self { runtime, socket, address, mut stop } = self;
        let served = runtime.block_on(async move {
            let socket = tokio::net::TcpListener::from_std(socket)?;
            accept(socket, app, address, &mut stop).await;
            Ok(())
        });
        // Waits for work that was begun.
        drop(runtime);
        served
    }
}

async fn accept(socket: tokio::net::TcpListener, app: App, address: SocketAddr, stop: &mut Stop) {
    let routes = router(app.clone(), address.ip());
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = stop.comes() => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // Answers are small; waiting to fill a packet would only delay them.
        let _ = stream.set_nodelay(true);
        let connection =
            http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.clone()));
        // How a connection ends is the client's affair.
        tokio::spawn(connections.watch(connection));
    }
    drop(socket);
    tokio::select! {
        () = connections.shutdown() => {}
        () = quiet(&app) => {}
        () = stop.comes() => {}
    }
}

/// Until nothing has been answered for a while. A connection on which a request never became whole does not count.
async fn quiet(app: &App) {
    let mut rounds = 0;
    while rounds < QUIET_ROUNDS {
        tokio::time::sleep(ROUND).await;
        rounds = if app.in_flight() == 0 { rounds + 1 } else { 0 };
    }
}
