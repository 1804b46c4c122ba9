//! Many clients at once with persistent connections, four recalls for each save, and a server that is killed or stopped during
//! the load. Every acknowledged save exists afterwards, and no save is partial.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, ErrorKind, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Server;
use crate::binary::Tulving;

const CLIENTS: usize = 200;
/// More memories than an index without a complete base reads before it answers, so that such an answer is recognisable.
const MEMORIES: usize = 6_000;
/// One of this many requests is a save.
const SAVES: usize = 5;
const KILLS: usize = 20;
/// Maximum time of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with a persistent connection.
struct Client {
    stream: BufReader<TcpStream>,
    head: String,
    /// The time at which the last request was sent completely.
    sent: Option<Instant>,
}

/// A complete answer.
struct Answered {
    status: u16,
    data: Value,
}

impl Client {
    fn connect(server: &Server) -> io::Result<Self> {
        let head = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", server.address, server.token);
        let stream = TcpStream::connect(server.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream), head, sent: None })
    }

    /// Reads an answer. An incomplete answer is [`ErrorKind::InvalidData`].
    fn ask(&mut self, first: &str, body: &str) -> io::Result<Answered> {
        let Self { stream, head, sent } = self;
        let request = format!("{first} HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
        *sent = None;
        stream.get_mut().write_all(request.as_bytes())?;
        *sent = Some(Instant::now());
        if stream.fill_buf()?.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Answered::read(stream).map_err(|_| ErrorKind::InvalidData.into())
    }

    fn save(&mut self, content: &str) -> io::Result<Answered> {
        self.ask("POST /v1/memories", &json!({ "content": content }).to_string())
    }

    fn recall(&mut self, query: &str) -> io::Result<Answered> {
        self.ask("POST /v1/recall", &json!({ "query": query }).to_string())
    }

    fn get(&mut self, id: &str) -> Value {
        let found = self.ask(&format!("GET /v1/memories/{id}"), "").expect("it answers");
        assert_eq!(found.status, 200, "{id} was acknowledged and is not found: {}", found.data);
        found.data
    }
}

impl Answered {
    fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut headers = head.lines().filter_map(|line| line.split_once(": "));
        let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length = length.and_then(|(_, length)| length.parse().ok()).expect("answers have a length");
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let mut document: Value = serde_json::from_slice(&body).expect("a whole answer is JSON");
        let data = document.get_mut("data").map(Value::take).unwrap_or(document);
        Ok(Self { status, data })
    }
}

/// The requests and answers of the clients.
#[derive(Default)]
struct Book {
    /// Every content that was sent to be saved.
    sent: HashSet<String>,
    /// The content of every memory that was acknowledged, by its id.
    acknowledged: HashMap<String, String>,
    recalls: usize,
    /// The time, if sent at all, and the port of each request without an answer.
    unanswered: Vec<(Option<Instant>, u16)>,
    /// Number of incomplete answers.
    cut_off: usize,
}

impl Book {
    fn with<T>(book: &Mutex<Self>, note: impl FnOnce(&mut Self) -> T) -> T {
        note(&mut book.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Sends requests until it is stopped, or until the server is gone, which is recorded.
fn keep_asking(server: &Server, name: &str, client: usize, stop: &AtomicBool, book: &Mutex<Book>) {
    let Ok(mut connection) = Client::connect(server) else {
        return Book::with(book, |book| book.unanswered.push((None, 0)));
    };
    let port = connection.stream.get_ref().local_addr().expect("it is connected").port();
    for turn in client.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let entry = format!("z{name}w{client:03}n{turn:05}e");
        if let Err(error) = ask_once(&mut connection, turn, &entry, book) {
            return Book::with(book, |book| {
                book.unanswered.push((connection.sent, port));
                book.cut_off += usize::from(error.kind() == ErrorKind::InvalidData);
            });
        }
    }
}

/// Saves or recalls. Every answer must be successful. `entry` is a unique word.
fn ask_once(connection: &mut Client, turn: usize, entry: &str, book: &Mutex<Book>) -> io::Result<()> {
    if turn.is_multiple_of(SAVES) {
        let content = format!("The ledger has a new entry {entry}");
        Book::with(book, |book| book.sent.insert(content.clone()));
        let answer = connection.save(&content)?;
        assert_eq!(answer.status, 201, "{}", answer.data);
        let id = answer.data["id"].as_str().expect("an id").to_owned();
        Book::with(book, |book| book.acknowledged.insert(id, content));
    } else {
        let answer = connection.recall(&format!("which entry of the ledger is {turn}?"))?;
        assert_eq!(answer.status, 200, "{}", answer.data);
        assert_ne!(answer.data["memories"], json!([]));
        assert_eq!(
            answer.data["failed_lanes"],
            json!([{ "lane": "vector", "why": "no embedding model is set up" }])
        );
        Book::with(book, |book| book.recalls += 1);
    }
    Ok(())
}

/// Runs clients until `end`.
fn under_load(
    server: &Server,
    name: &str,
    clients: usize,
    book: &Mutex<Book>,
    end: impl FnOnce(&AtomicBool),
) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for client in 0..clients {
            let stop = &stop;
            scope.spawn(move || keep_asking(server, name, client, stop, book));
        }
        end(&stop);
    });
}

/// Checks that each of these can be read by its id and has the saved text.
fn assert_found(server: &Server, acknowledged: &HashMap<String, String>) {
    let mut client = Client::connect(server).expect("it listens");
    for (id, content) in acknowledged {
        assert_eq!(client.get(id)["content"], content.as_str(), "{id}");
    }
}

/// Checks that a list has every acknowledged memory once, and otherwise only memories that were sent.
fn assert_listed(tulving: &Tulving, book: &Book, others: usize) {
    let page = tulving.json(&["list", "--all"]);
    let mut listed: HashSet<&str> = HashSet::new();
    let mut strange = 0;
    for memory in page["memories"].as_array().expect("a list") {
        let content = memory["content"].as_str().expect("a content");
        strange += usize::from(!book.sent.contains(content));
        assert!(listed.insert(content), "`{content}` is there twice");
    }
    assert_eq!(strange, others, "something is there that nobody has sent");
    for content in book.acknowledged.values() {
        assert!(listed.contains(content.as_str()), "`{content}` was acknowledged and is gone");
    }
}

/// A server on which all clients use one token, without a rate limit.
fn unbounded(tulving: &Tulving) -> Server {
    Server::start_with(tulving, |command| {
        command.env("TULVING_SERVER_REQUESTS_PER_MINUTE", "0");
    })
}

#[test]
fn two_hundred_clients_get_every_answer_and_find_all_that_was_acknowledged() {
    let tulving = Tulving::new();
    let lines: String =
        (0..MEMORIES).map(|n| format!("{{\"content\":\"The ledger has page {n}\"}}\n")).collect();
    assert_eq!(tulving.run_with(&["save", "--batch", "-"], lines.as_bytes()).code, 0);
    let server = unbounded(&tulving);
    let book = Mutex::default();
    under_load(&server, "all", CLIENTS, &book, |stop| {
        thread::sleep(Duration::from_secs(4));
        stop.store(true, Ordering::Relaxed);
    });
    let book = book.into_inner().expect("whole");
    assert!(book.unanswered.is_empty(), "{} requests had no answer", book.unanswered.len());
    assert!(book.recalls > CLIENTS / 2, "only {} recalls", book.recalls);
    assert!(book.acknowledged.len() > CLIENTS / SAVES / 2, "only {} saves", book.acknowledged.len());
    assert_found(&server, &book.acknowledged);
    server.stop();
    assert_listed(&tulving, &book, MEMORIES);
    assert_found(&unbounded(&tulving), &book.acknowledged);
    tulving.assert_healthy();
}

#[test]
fn a_server_killed_under_load_has_all_that_was_acknowledged_and_nothing_by_half() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The ledger is kept"]);
    let book = Mutex::default();
    for round in 0..KILLS {
        let server = unbounded(&tulving);
        let known = Book::with(&book, |book| book.acknowledged.clone());
        assert_found(&server, &known);
        under_load(&server, &format!("{round:02}"), CLIENTS / SAVES, &book, |_| {
            let begun = Instant::now();
            while Book::with(&book, |book| book.acknowledged.len()) == known.len() {
                assert!(begun.elapsed() < PATIENCE, "nothing is acknowledged");
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(fastrand::u64(..300)));
            server.kill();
        });
        drop(server);
        Book::with(&book, |book| assert_listed(&tulving, book, 1));
    }
    let server = unbounded(&tulving);
    let book = book.into_inner().expect("whole");
    assert_found(&server, &book.acknowledged);
    assert!(book.unanswered.len() >= KILLS, "the kills came at the wrong time");
    // A memory that exists without an acknowledgement exists for every verb.
    let listed = tulving.json(&["list", "--all"]);
    let mut client = Client::connect(&server).expect("it listens");
    for memory in listed["memories"].as_array().expect("a list") {
        let id = memory["id"].as_str().expect("an id");
        let content = memory["content"].as_str().expect("a content");
        let described = book.acknowledged.values().any(|known| known == content);
        if !described && let Some((_, word)) = content.rsplit_once(" entry ") {
            let found = client.recall(word).expect("it answers");
            assert_eq!(found.data["memories"][0]["content"], content, "{word} is not found");
            assert_eq!(client.get(id)["content"], content);
        }
    }
    drop(server);
    tulving.assert_healthy();
}

/// The ports of connections with data that the server has not read yet.
#[cfg(target_os = "linux")]
fn unread(server: &Server) -> HashSet<u16> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the connections of this machine");
    let port = |address: &str| u16::from_str_radix(address.split_once(':')?.1, 16).ok();
    let of_client = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, here, there, _, queues, ..] = fields.as_slice() else { return None };
        let waits = !queues.ends_with(":00000000");
        (port(here) == Some(server.address.port()) && waits).then(|| port(there)).flatten()
    };
    table.lines().filter_map(of_client).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_stop_under_load_answers_what_was_read_before() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The ledger is kept"]);
    let server = unbounded(&tulving);
    let book = Mutex::default();
    let mut looked = Instant::now();
    let (mut late, mut before) = (HashSet::new(), 0);
    under_load(&server, "all", CLIENTS, &book, |_| {
        thread::sleep(Duration::from_secs(2));
        before = Book::with(&book, |book| book.recalls + book.acknowledged.len());
        looked = Instant::now();
        late = unread(&server);
        server.signal();
    });
    server.ended();
    let book = book.into_inner().expect("whole");
    let sent = book.unanswered.iter().filter(|(sent, _)| sent.is_some_and(|sent| sent < looked));
    let lost = sent.filter(|(_, port)| !late.contains(port)).count();
    assert_eq!(lost, 0, "{lost} requests were under way and had no answer");
    assert_eq!(book.cut_off, 0, "answers were cut off");
    let after = book.recalls + book.acknowledged.len() - before;
    assert!(after > 0, "nothing was under way");
    assert_listed(&tulving, &book, 1);
    assert_found(&unbounded(&tulving), &book.acknowledged);
    tulving.assert_healthy();
}
