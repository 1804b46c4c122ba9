//! Embedding by a service, through the binary: the service is slow, unreachable, replaced, or has a password in its address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::{Run, Tulving, WITHOUT_MODEL, finish};
use crate::serve::client::Server;

/// Answers as Ollama does, with vectors of `size` dimensions; where that is nought it never answers.
struct Service {
    host: String,
    size: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
}

impl Service {
    fn start(size: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let host = listener.local_addr().expect("an address").to_string();
        let service = Self { host, size: Arc::new(size.into()), asked: Arc::default() };
        let (size, asked) = (service.size.clone(), service.asked.clone());
        // Ends with the process, because a listener cannot be stopped.
        thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming().flatten() {
                asked.fetch_add(1, Ordering::SeqCst);
                match size.load(Ordering::SeqCst) {
                    0 => held.push(stream),
                    size => answer(stream, size),
                }
            }
        });
        service
    }

    fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn is_now(&self, size: usize) {
        self.size.store(size, Ordering::SeqCst);
    }
}

fn answer(mut stream: TcpStream, size: usize) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let question: Value = serde_json::from_slice(&body).expect("a question");
    let texts = question["input"].as_array().expect("texts").iter();
    let vectors: Vec<Vec<f32>> = texts.map(|text| vector(text.as_str().expect("a text"), size)).collect();
    let body = json!({ "embeddings": vectors }).to_string();
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
}

/// Counts letters, so that no text is far from itself.
fn vector(text: &str, size: usize) -> Vec<f32> {
    let mut vector = vec![0.01; size];
    for byte in text.bytes() {
        vector[usize::from(byte) % size] += 1.0;
    }
    vector
}

fn by(tulving: &Tulving, url: &str, seconds: &str, args: &[&str]) -> Run {
    finish(asking(tulving, url, seconds, args), b"")
}

fn asking(tulving: &Tulving, url: &str, seconds: &str, args: &[&str]) -> Command {
    let mut command = tulving.command(args);
    command
        .env(WITHOUT_MODEL.0, "ollama")
        .env("TULVING_EMBEDDING_BASE_URL", url)
        .env("TULVING_EMBEDDING_MODEL", "tiny")
        .env("TULVING_EMBEDDING_TIMEOUT_SECONDS", seconds);
    command
}

#[track_caller]
fn good(run: Run) -> Run {
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    run
}

/// An address where nobody listens.
fn nowhere() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    format!("http://{free}")
}

#[test]
fn a_hung_service_holds_a_save_up_once_and_other_commands_for_a_moment() {
    let tulving = Tulving::new();
    let hung = Service::start(0);
    let saved = good(by(&tulving, &hung.url(), "1", &["save", "one"]));
    assert_eq!(saved.err.matches("did not answer").count(), 1, "{}", saved.err);
    assert_eq!(hung.asked(), 1, "a service that has failed the command is not asked again");
    let begun = Instant::now();
    let listed = good(by(&tulving, &hung.url(), "60", &["list"]));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(listed.out.contains("one"), "{}", listed.out);
    assert!(listed.err.contains("could not embed the waiting memories"), "{}", listed.err);
    assert!(listed.err.contains("it is paused for"), "{}", listed.err);
    assert_eq!(hung.asked(), 1, "nor by another command");
}

#[test]
fn a_hung_service_costs_one_call_its_time_and_the_next_ones_answer_by_words_at_once() {
    let tulving = Tulving::new();
    let service = Service::start(0);
    good(by(&tulving, &service.url(), "2", &["save", "one apple"]));
    let begun = Instant::now();
    let found = good(by(&tulving, &service.url(), "60", &["recall", "apple", "--json"]));
    let found: Value = serde_json::from_str(&found.out).expect("a document");
    assert_eq!(found["memories"][0]["content"], "one apple", "{found}");
    assert!(found["failed_lanes"].to_string().contains("it is paused for"), "{found}");
    good(by(&tulving, &service.url(), "60", &["save", "two pears"]));
    let doctor = good(by(&tulving, &service.url(), "60", &["doctor"]));
    assert!(doctor.out.contains("it is paused for"), "{}", doctor.out);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(service.asked(), 1, "it is left alone by all of them");
    // Who asks for it is not kept from trying, and what waited gets its vectors.
    service.is_now(4);
    let embedded = good(by(&tulving, &service.url(), "30", &["embed"]));
    assert_eq!(embedded.out, "Embedded 2 memories\n");
    let found = good(by(&tulving, &service.url(), "30", &["recall", "pears", "--json"]));
    let found: Value = serde_json::from_str(&found.out).expect("a document");
    assert_eq!(found.get("failed_lanes"), None, "the note is gone");
}

#[test]
fn a_server_does_not_wait_for_a_hung_service_with_every_call() {
    let tulving = Tulving::new();
    let service = Service::start(0);
    let server = Server::start_with(&tulving, |command| {
        command
            .env(WITHOUT_MODEL.0, "ollama")
            .env("TULVING_EMBEDDING_BASE_URL", service.url())
            .env("TULVING_EMBEDDING_MODEL", "tiny")
            .env("TULVING_EMBEDDING_TIMEOUT_SECONDS", "2");
    });
    let save = |content: &str| {
        let begun = Instant::now();
        let body = json!({ "content": content }).to_string();
        assert_eq!(server.ask("POST", "/v1/memories", &[], body.as_bytes()).status, 201);
        begun.elapsed()
    };
    let first = save("one apple");
    assert!(first >= Duration::from_secs(2), "{first:?}: it was waited for");
    let begun = Instant::now();
    for number in 0..10 {
        save(&format!("pear number {number}"));
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(service.asked() <= 2, "{}", service.asked());
}

#[test]
fn a_service_of_this_machine_is_not_asked_through_a_proxy() {
    let tulving = Tulving::new();
    let (service, proxy) = (Service::start(4), Service::start(4));
    let mut command = asking(&tulving, &service.url(), "30", &["save", "one"]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        command.env(name, proxy.url());
    }
    good(finish(command, b""));
    assert!(service.asked() > 0);
    assert_eq!(proxy.asked(), 0);
}

#[test]
fn a_service_that_is_not_needed_is_not_asked() {
    let tulving = Tulving::new();
    let service = Service::start(4);
    good(by(&tulving, &service.url(), "30", &["save", "one"]));
    let asked = service.asked();
    service.is_now(0);
    let listed = good(by(&tulving, &service.url(), "30", &["list"]));
    assert_eq!((service.asked(), listed.err.as_str()), (asked, ""));
}

#[test]
fn embed_says_once_that_it_failed() {
    let tulving = Tulving::new();
    let nowhere = nowhere();
    good(by(&tulving, &nowhere, "5", &["save", "one"]));
    let run = by(&tulving, &nowhere, "5", &["embed"]);
    assert_ne!(run.code, 0);
    assert_eq!(run.err.matches("cannot be reached").count(), 1, "{}", run.err);
    assert!(run.err.contains("`tulving config` shows which model is set up"), "{}", run.err);
}

#[test]
fn embed_goes_on_until_nothing_waits_however_long_a_document_is() {
    let tulving = Tulving::new();
    let service = Service::start(4);
    let part = |n: usize| format!("## Part {n}\n\n{}\n\n", format!("A line about {n}. ").repeat(60));
    let long: String = (0..200).map(part).collect();
    std::fs::write(tulving.folder().join("long.md"), long).expect("written");
    std::fs::write(tulving.folder().join("short.md"), "# Short\n\nA note behind it.\n").expect("written");
    good(by(&tulving, &service.url(), "30", &["import", "long.md", "short.md", "--later"]));
    let embedded = good(by(&tulving, &service.url(), "30", &["embed"]));
    assert_eq!(embedded.out, "Embedded 2 memories\n");
}

#[test]
fn a_long_document_that_is_pushed_says_that_its_vectors_come_later() {
    let tulving = Tulving::new();
    let service = Service::start(4);
    let part = |n: usize| format!("## Part {n}\n\n{}\n\n", format!("A line about {n}. ").repeat(60));
    let long: String = (0..60).map(part).collect();
    std::fs::write(tulving.folder().join("long.md"), long).expect("written");
    let pushed = good(by(&tulving, &service.url(), "30", &["push", "long.md", "--json"]));
    let pushed: Value = serde_json::from_str(&pushed.out).expect("a document");
    assert_eq!(pushed["warnings"][0]["code"], "embedded_later", "{pushed}");
}

#[test]
fn the_same_name_at_another_place_is_another_model_and_embed_leads_there() {
    let tulving = Tulving::new();
    let (first, second) = (Service::start(4), Service::start(6));
    for text in ["one apple", "two pears", "three plums"] {
        good(by(&tulving, &first.url(), "30", &["save", text]));
    }
    let doctor = good(by(&tulving, &second.url(), "30", &["doctor"]));
    let pending = format!(
        "ollama:tiny@{}/6 is set up and works, but the stored vectors are from ollama:tiny@{}/4",
        second.host, first.host
    );
    assert!(doctor.out.contains(&pending), "{}", doctor.out);
    assert!(doctor.out.contains("`tulving embed`"), "{}", doctor.out);
    let embedded = good(by(&tulving, &second.url(), "30", &["embed"]));
    assert!(
        embedded.out.contains(&format!("uses the vectors of ollama:tiny@{}/6", second.host)),
        "{}",
        embedded.out
    );
    settled(&tulving, &second);
}

#[test]
fn other_dimensions_at_the_same_place_are_another_model_and_embed_leads_there() {
    let tulving = Tulving::new();
    let service = Service::start(4);
    for text in ["one apple", "two pears", "three plums"] {
        good(by(&tulving, &service.url(), "30", &["save", text]));
    }
    service.is_now(6);
    let found = good(by(&tulving, &service.url(), "30", &["recall", "plums"]));
    assert!(found.out.contains("three plums"), "{}", found.out);
    assert!(found.err.contains("6 dimensions came back where the others have 4"), "{}", found.err);
    let doctor = good(by(&tulving, &service.url(), "30", &["doctor"]));
    assert!(doctor.out.contains("warn  model"), "{}", doctor.out);
    let embedded = good(by(&tulving, &service.url(), "30", &["embed"]));
    let said = |line: &str| line.starts_with("Recall now uses the vectors of ") && line.ends_with("/6");
    assert!(embedded.out.lines().any(said), "{}", embedded.out);
    settled(&tulving, &service);
}

/// Nothing is left to be done or said.
#[track_caller]
fn settled(tulving: &Tulving, service: &Service) {
    let found = good(by(tulving, &service.url(), "30", &["recall", "plums", "--json"]));
    let found: Value = serde_json::from_str(&found.out).expect("a document");
    assert_eq!(found.get("failed_lanes"), None);
    let doctor = good(by(tulving, &service.url(), "30", &["doctor", "--deep"]));
    assert!(!doctor.out.contains("warn"), "{}", doctor.out);
    assert!(doctor.out.contains("all memories are embedded"), "{}", doctor.out);
}

#[test]
fn a_password_in_the_address_is_nowhere_to_be_seen() {
    let tulving = Tulving::new();
    let secret = |text: &str| text.contains("hunter2") || text.contains("k123");
    let with_password = |url: &str| format!("{}/?key=k123", url.replace("http://", "http://me:hunter2@"));
    let broken = with_password(&nowhere());
    for args in [
        &["save", "one"][..],
        &["recall", "one"],
        &["recall", "one", "--json"],
        &["embed"],
        &["embed", "--json"],
        &["doctor"],
        &["config"],
        &["config", "--json"],
    ] {
        let run = by(&tulving, &broken, "5", args);
        assert!(!secret(&run.out) && !secret(&run.err), "{args:?}: {}{}", run.out, run.err);
    }
    assert!(by(&tulving, &broken, "5", &["config"]).out.contains("http://***@127.0.0.1"));
    let wrong = by(&tulving, "ftp://me:hunter2@host", "5", &["config"]);
    assert!(wrong.err.contains("ftp://***@host") && !secret(&wrong.err), "{}", wrong.err);
    let service = Service::start(4);
    good(by(&tulving, &with_password(&service.url()), "30", &["embed"]));
    let doctor = good(by(&tulving, &with_password(&service.url()), "30", &["doctor"]));
    assert!(doctor.out.contains(&format!("ollama:tiny@{}/4", service.host)), "{}", doctor.out);
    assert!(!secret(&good(by(&tulving, &service.url(), "30", &["dump", "-"])).out));
    let database = std::fs::read(tulving.home().join("tulving.db")).expect("a database");
    assert!(!secret(&String::from_utf8_lossy(&database)));
}

#[test]
fn doctor_tries_the_model_that_is_set_up() {
    let tulving = Tulving::new();
    good(by(&tulving, &Service::start(4).url(), "30", &["save", "one"]));
    let doctor = good(by(&tulving, &nowhere(), "30", &["doctor"]));
    assert!(doctor.out.contains("warn  model") && doctor.out.contains("cannot be reached"), "{}", doctor.out);
    let begun = Instant::now();
    let doctor = good(by(&tulving, &Service::start(0).url(), "60", &["doctor"]));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(doctor.out.contains("did not answer within 3 s"), "{}", doctor.out);
    let mut command = tulving.command(&["doctor"]);
    command.env(WITHOUT_MODEL.0, "folder").env("TULVING_EMBEDDING_FOLDER", "/nowhere/at/all");
    let doctor = good(finish(command, b""));
    assert!(doctor.out.contains("warn  model"), "{}", doctor.out);
    assert!(doctor.out.contains("/nowhere/at/all has no model.onnx"), "{}", doctor.out);
}
