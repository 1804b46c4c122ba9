//! A small server that does what a script says, also what no good one does.

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

/// A server that answers each request with what the script makes of it and of its number.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// What the server does with a request.
pub(crate) enum Reply {
    /// Status, further headers, body.
    Say(u16, &'static str, String),
    /// Says that so many bytes more come than do, and closes the connection.
    Cut(String, usize),
    /// Says one byte of a body each time after so long, without an end.
    Drip(Duration),
    /// Says spaces without an end, and never how many.
    Flood,
    /// Says something that is not HTTP.
    Babble(&'static [u8]),
    /// Closes the connection.
    HangUp,
    /// Says nothing for so long.
    Wait(Duration),
}

impl Server {
    pub(crate) fn start(script: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, script) = (Arc::clone(&seen), Arc::new(script));
        // Ends with the process: a listener cannot be told to stop.
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
                    // Whoever asked may have gone.
                    let _ = answer(stream, script(number, &request.body));
                });
            }
        });
        Self { url, seen }
    }

    /// As it is part of an id.
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
