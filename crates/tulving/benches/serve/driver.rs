//! Many clients on one thread: each keeps its connection open, and sends a request as soon as it has the last answer.
//!
//! The machine is shared with the server, so a client costs little more than its bytes: no runtime, one `epoll` over all
//! sockets. The sockets are blocking, but no call ever waits: a socket is read only if it has data, and a request fits into
//! an empty socket buffer.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

/// One of this many requests is a save.
const SAVES: usize = 5;
/// Maximum time of an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number of bytes read at once; most answers fit.
const AT_ONCE: usize = 32 * 1_024;

/// The requests to one server, and the checks of its answers.
pub(crate) trait Traffic {
    /// Appends a request that asks a question.
    fn recall(&self, number: usize, bytes: &mut Vec<u8>);
    /// Appends a request that saves a memory.
    fn save(&self, number: usize, bytes: &mut Vec<u8>);
    /// Returns true if this answer to a question is not empty.
    fn is_answer(&self, body: &[u8]) -> bool;
    /// Returns the id of the saved memory.
    fn receipt(&self, number: usize, body: &[u8]) -> anyhow::Result<String>;
    /// Returns true if a saved memory exists and has the saved text.
    fn is_there(&self, asking: &mut Connection, number: usize, receipt: &str) -> anyhow::Result<bool>;
}

/// The numbers of the next question and of the next memory.
#[derive(Clone, Copy)]
pub(crate) struct Next {
    pub(crate) question: usize,
    pub(crate) memory: usize,
}

/// The results of a load.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Milliseconds of each recall.
    pub(crate) recalls: Vec<f64>,
    /// Milliseconds of each save.
    pub(crate) saves: Vec<f64>,
    /// The number and the id of each acknowledged memory.
    pub(crate) acknowledged: Vec<(usize, String)>,
    /// Seconds from the first request to the last answer.
    pub(crate) seconds: f64,
}

/// Runs this many clients for this long. A status other than 200 and 201 is an error, and so is a broken connection.
pub(crate) fn run(
    address: SocketAddr,
    traffic: &dyn Traffic,
    clients: usize,
    time: Duration,
    next: &mut Next,
) -> anyhow::Result<Outcome> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    // Each client begins at another position of the cycle, so that not all save at once.
    let mut clients =
        (0..clients).map(|n| Client::connect(address, n)).collect::<anyhow::Result<Vec<_>>>()?;
    for (number, client) in (0..).zip(&clients) {
        let data = epoll::EventData::new_u64(number);
        epoll::add(&poll, &client.connection.stream, data, epoll::EventFlags::IN)?;
    }
    let mut outcome = Outcome::default();
    let begun = Instant::now();
    for client in &mut clients {
        client.ask(traffic, next)?;
    }
    let mut waiting = clients.len();
    let mut events = Vec::with_capacity(clients.len());
    let patience = Timespec::try_from(PATIENCE)?;
    while waiting > 0 {
        events.clear();
        epoll::wait(&poll, spare_capacity(&mut events), Some(&patience))?;
        ensure!(!events.is_empty(), "{waiting} requests were not answered within {PATIENCE:?}");
        for event in &events {
            let client = &mut clients[usize::try_from(event.data.u64())?];
            if !client.hear(traffic, &mut outcome)? {
                continue;
            }
            if begun.elapsed() < time {
                client.ask(traffic, next)?;
            } else {
                waiting -= 1;
            }
        }
    }
    outcome.seconds = begun.elapsed().as_secs_f64();
    Ok(outcome)
}

/// The request that a client waits for.
#[derive(Clone, Copy)]
enum Asked {
    Question,
    Memory(usize),
}

struct Client {
    connection: Connection,
    request: Vec<u8>,
    asked: Asked,
    begun: Instant,
    round: usize,
}

impl Client {
    fn connect(address: SocketAddr, round: usize) -> anyhow::Result<Self> {
        let connection = Connection::open(address)?;
        Ok(Self { connection, request: Vec::new(), asked: Asked::Question, begun: Instant::now(), round })
    }

    fn ask(&mut self, traffic: &dyn Traffic, next: &mut Next) -> anyhow::Result<()> {
        self.request.clear();
        if self.round.is_multiple_of(SAVES) {
            traffic.save(next.memory, &mut self.request);
            self.asked = Asked::Memory(next.memory);
            next.memory += 1;
        } else {
            traffic.recall(next.question, &mut self.request);
            self.asked = Asked::Question;
            next.question += 1;
        }
        self.round += 1;
        self.begun = Instant::now();
        self.connection.send(&self.request)
    }

    /// Reads the available bytes. Returns true if the answer is complete.
    fn hear(&mut self, traffic: &dyn Traffic, outcome: &mut Outcome) -> anyhow::Result<bool> {
        self.connection.read()?;
        let Some(body) = self.connection.answer()? else {
            return Ok(false);
        };
        let milliseconds = self.begun.elapsed().as_secs_f64() * 1e3;
        match self.asked {
            Asked::Question => {
                ensure!(traffic.is_answer(body), "that is no answer: {}", String::from_utf8_lossy(body));
                outcome.recalls.push(milliseconds);
            }
            Asked::Memory(number) => {
                outcome.acknowledged.push((number, traffic.receipt(number, body)?));
                outcome.saves.push(milliseconds);
            }
        }
        Ok(true)
    }
}

/// A persistent connection.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).context("nobody listens")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, received: Vec::new() })
    }

    /// Sends a request, waits, and returns the body of the answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.send(request)?;
        while self.answer()?.is_none() {
            self.read()?;
        }
        self.answer()?.context("it was whole")
    }

    fn send(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.received.clear();
        self.stream.write_all(request).context("a connection broke")
    }

    fn read(&mut self) -> anyhow::Result<()> {
        let before = self.received.len();
        self.received.resize(before + AT_ONCE, 0);
        let read = self.stream.read(&mut self.received[before..]).context("a connection broke")?;
        self.received.truncate(before + read);
        ensure!(read > 0, "a connection was closed before its answer was whole");
        Ok(())
    }

    /// Returns the body of a successful answer once it is complete.
    fn answer(&self) -> anyhow::Result<Option<&[u8]>> {
        let bytes = &self.received;
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = std::str::from_utf8(&bytes[..end])?;
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let (_, length) = length.with_context(|| format!("an answer without its length: {head}"))?;
        let Some(body) = bytes.get(end + 4..end + 4 + length.trim().parse::<usize>()?) else {
            return Ok(None);
        };
        let status = head.split(' ').nth(1).unwrap_or_default();
        ensure!(matches!(status, "200" | "201"), "{status}: {}", String::from_utf8_lossy(body));
        Ok(Some(body))
    }
}

/// The bytes of a request. `authorization` is a whole header line, or nothing.
pub(crate) fn write_request(bytes: &mut Vec<u8>, first: &str, authorization: &str, body: &[u8]) {
    // Writing to a vector cannot fail.
    let _ = write!(
        bytes,
        "{first} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization}Content-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    bytes.extend_from_slice(body);
}
