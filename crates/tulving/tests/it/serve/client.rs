//! A server for one test, and a client that sends exact bytes.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::Tulving;

/// No test waits longer than this for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. It is killed where a test does not stop it.
pub(crate) struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    said: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
    pub(crate) scheme: String,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

/// The answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub(crate) fn start(tulving: &Tulving) -> Self {
        Self::start_with(tulving, |_| {})
    }

    pub(crate) fn start_with(tulving: &Tulving, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = tulving.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        change(&mut command);
        Self::spawn(command)
    }

    /// A server by this command, which says as JSON where it listens.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let said = Arc::<Mutex<Vec<u8>>>::default();
        let listening = listen(child.stderr.take().expect("piped"), Arc::clone(&said));
        let mut line = String::new();
        out.read_line(&mut line).expect("it says where it listens");
        let document: Value = serde_json::from_str(&line).expect("one document");
        let url = document["url"].as_str().expect("an address");
        let (scheme, address) = url.split_once("://").expect("an address");
        let (scheme, address) = (scheme.to_owned(), address.parse().expect("an address and a port"));
        assert_eq!(document["mcp_url"], format!("{url}/mcp"));
        let file = document["token_file"].as_str().expect("a file");
        let token = std::fs::read_to_string(file).expect("the token").trim().to_owned();
        Self { child, out, said, listening: Some(listening), scheme, address, token }
    }

    /// A server with this configuration.
    pub(super) fn configured(tulving: &Tulving, text: &str) -> Self {
        tulving.configure(text);
        Self::start(tulving)
    }

    /// Its output on standard error so far.
    pub(crate) fn log(&self) -> String {
        String::from_utf8(self.said.lock().expect("whole").clone()).expect("text")
    }

    /// Waits until it has said this.
    pub(crate) fn says(&self, text: &str) {
        eventually(&format!("it says `{text}`"), || self.log().contains(text));
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        stream
    }

    /// Sends these bytes on a connection of their own, and reads all that comes.
    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // One that is turned away early may close before it has read everything.
        let _ = stream.write_all(bytes);
        Answer::read(&mut stream)
    }

    /// A request with the token of the home and these additional headers.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let authorization = format!("Bearer {}", self.token);
        let headers = [&[("Authorization", authorization.as_str())], headers].concat();
        self.send(&request(self.address, method, path, &headers, body))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    /// The same for an answer of any length, which comes in chunks.
    pub(crate) fn stream(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let authorization = format!("Bearer {}", self.token);
        let headers = [&[("Authorization", authorization.as_str())], headers].concat();
        let mut stream = self.connect();
        stream.write_all(&request(self.address, method, path, &headers, body)).expect("it reads");
        let answer = Answer::take(&mut stream);
        assert_eq!(answer.header("transfer-encoding"), Some("chunked"), "{}", answer.head);
        Answer { body: unchunked(&answer.body), ..answer }
    }

    /// Calls a tool, which must succeed, and returns its answer.
    pub(crate) fn tool(&self, dialect: &str, tool: &str, arguments: &Value) -> Value {
        let answer = self.call(dialect, tool, &[], arguments);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"].clone()
    }

    /// Calls a tool.
    pub(crate) fn call(
        &self,
        dialect: &str,
        tool: &str,
        headers: &[(&str, &str)],
        arguments: &Value,
    ) -> Answer {
        let path = format!("/v1/dialects/{dialect}/tools/{tool}");
        self.ask("POST", &path, headers, arguments.to_string().as_bytes())
    }

    /// Asks it to stop.
    pub(crate) fn signal(&self) {
        self.send_signal(rustix::process::Signal::TERM);
    }

    /// Kills it in the middle of its work.
    pub(crate) fn kill(&self) {
        self.send_signal(rustix::process::Signal::KILL);
    }

    pub(crate) fn send_signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).expect("it runs");
    }

    /// Waits until it has ended by itself, and returns its output on standard error.
    pub(crate) fn ended(mut self) -> String {
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "", "one document and nothing else on standard output");
        let status = self.child.wait().expect("it ends");
        self.listening.take().expect("it listens").join().expect("it heard all");
        let said = self.log();
        assert!(status.success(), "{status}: {said}");
        said
    }

    /// Stops it as a service manager does.
    pub(crate) fn stop(self) -> String {
        self.signal();
        self.ended()
    }
}

/// Takes in what a child says, so that it never waits for a reader.
fn listen(mut from: impl Read + Send + 'static, said: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut part = [0; 16_384];
        while let Ok(read @ 1..) = from.read(&mut part) {
            said.lock().expect("whole").extend_from_slice(&part[..read]);
        }
    })
}

/// Waits until a condition is true.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The answer without the number of the request.
pub(crate) fn without_request_id(text: &str) -> String {
    match text.split_once(",\"request_id\":\"") {
        Some((before, after)) => format!("{before}{}", after.split_once('"').map_or("", |(_, rest)| rest)),
        None => text.to_owned(),
    }
}

/// The id of a memory as a UUID with dashes.
pub(crate) fn dashed(id: &str) -> String {
    let hex = id.trim_start_matches("mem_");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// A request as bytes, with `Host` and `Content-Length` unless they are among the headers.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let has = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !has("host") {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    if !has("content-length") && !has("transfer-encoding") {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    [text.as_bytes(), body].concat()
}

/// The data of chunks, which must end with an empty chunk.
fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = bytes.windows(2).position(|window| window == b"\r\n").expect("the length of a chunk");
        let length = std::str::from_utf8(&bytes[..end]).expect("text");
        let length = usize::from_str_radix(length, 16).expect("a length");
        if length == 0 {
            return whole;
        }
        whole.extend_from_slice(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
}

impl Answer {
    /// Reads until the other side closes. A reset after the answer is no matter.
    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let answer = Self::take(stream);
        assert_eq!(answer.header("transfer-encoding"), None, "answers have a length");
        answer
    }

    fn take(stream: &mut impl Read) -> Self {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 16_384]);
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => bytes.extend_from_slice(&buffer[..read]),
                Err(_) if !bytes.is_empty() => break,
                Err(error) => panic!("no answer: {error}"),
            }
        }
        Self::parse(&bytes)
    }

    pub(super) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(bytes[..end].to_vec()).expect("a head is text");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = bytes[end + 4..].to_vec();
        Self { status, head, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.filter(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Checks that it is a complete and well-formed refusal with this status and code.
    pub(crate) fn assert_problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        let document = self.json();
        assert_eq!(document["code"], code, "{document}");
        assert_eq!(document["status"], status, "{document}");
        assert_eq!(document["type"], "about:blank", "{document}");
        assert_eq!(document["request_id"].as_str(), self.header("x-request-id"), "{document}");
        let error = json!({ "code": document["code"], "message": document["detail"] });
        assert_eq!(document["error"], error, "{document}");
        for field in ["title", "detail"] {
            assert!(document[field].as_str().is_some_and(|text| !text.is_empty()), "{document}");
        }
        assert_eq!(self.header("www-authenticate").is_some(), status == 401, "{}", self.head);
        document
    }
}
