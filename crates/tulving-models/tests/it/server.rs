//! A small server that follows a script, even in ways that no good server would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

/// A server that answers each request by a script, from the request and its number.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// The reaction of the server to a request.
pub(crate) enum Reply {
    /// Sends a status, further headers and a body.
    Say(u16, &'static str, String),
    /// Sends a body that is so many bytes shorter than announced, and closes the connection.
    Cut(String, usize),
    /// Sends one byte of a body after each such interval, without an end.
    Drip(Duration),
    /// Sends spaces without an end or a length.
    Flood,
    /// Sends bytes that are not HTTP.
    Babble(&'static [u8]),
    /// Closes the connection.
    HangUp,
    /// Sends nothing for this long.
    Wait(Duration),
}

impl Server {
    pub(crate) fn start(script: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, script) = (Arc::clone(&seen), Arc::new(script));
        // Ends with the process: a listener cannot be stopped.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, script) = (Arc::clone(&log), Arc::clone(&script));
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    let number = {
                        let mut log = log.lock().expect("the log");
                        log.push(request.clone());
                        log.len() - 1
                    };
                    // The client may have gone.
                    let _ = answer(stream, script(number, &request.body));
                });
            }
        });
        Self { url, seen }
    }

    /// Returns the host as it is part of an id.
    pub(crate) fn host(&self) -> String {
        self.url.replace("http://", "")
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("the log").clone()
    }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim_end() {
            "" => break,
            header => headers.push(header.to_lowercase()),
        }
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length: ")?.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { line: line.trim_end().to_owned(), headers, body: serde_json::from_slice(&body).ok()? })
}

fn answer(mut stream: TcpStream, reply: Reply) -> std::io::Result<()> {
    match reply {
        Reply::HangUp => Ok(()),
        Reply::Wait(time) => {
            thread::sleep(time);
            Ok(())
        }
        Reply::Babble(bytes) => stream.write_all(bytes),
        Reply::Say(status, headers, body) => stream.write_all(whole(status, headers, &body, 0).as_bytes()),
        Reply::Cut(body, missing) => stream.write_all(whole(200, "", &body, missing).as_bytes()),
        Reply::Drip(pause) => {
            stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n")?;
            loop {
                stream.write_all(b" ")?;
                thread::sleep(pause);
            }
        }
        Reply::Flood => {
            stream.write_all(b"HTTP/1.1 200 X\r\nconnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[b' '; 65_536])?;
            }
        }
    }
}

fn whole(status: u16, headers: &str, body: &str, missing: usize) -> String {
    let length = body.len() + missing;
    format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}")
}
