//! Embedding by a service, against a small server of our own: what is sent, what is believed, what is tried again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tulving_core::ports::Embedder;
use tulving_models::{EmbedderConfig, HttpEmbedder, Secret, embedder};

/// A request as the server saw it.
#[derive(Clone, Debug)]
struct Seen {
    line: String,
    headers: Vec<String>,
    body: Value,
}

/// A server that answers each request with what the script makes of it and of its number.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// What the server does with a request.
enum Reply {
    /// Status, further headers, body.
    Say(u16, &'static str, String),
    /// Closes the connection.
    HangUp,
    /// Says nothing for so long.
    Wait(Duration),
}

impl Server {
    fn start(script: impl Fn(usize, &Value) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        // Ends with the process: a listener cannot be told to stop.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(request) = read(&stream) else { continue };
                let number = {
                    let mut log = log.lock().expect("the log");
                    log.push(request.clone());
                    log.len() - 1
                };
                answer(stream, script(number, &request.body));
            }
        });
        Self { url, seen }
    }

    fn seen(&self) -> Vec<Seen> {
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

fn answer(mut stream: TcpStream, reply: Reply) {
    match reply {
        Reply::HangUp => {}
        Reply::Wait(time) => thread::sleep(time),
        Reply::Say(status, headers, body) => {
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
            );
            // Whoever asked may have gone.
            let _ = stream.write_all(text.as_bytes());
        }
    }
}

/// The vectors 3 4 and 4 3 in turn, as OpenAI says it, the last first.
fn vectors(question: &Value) -> Reply {
    let count = question["input"].as_array().map_or(0, Vec::len);
    let vector = |index| if index % 2 == 0 { [3, 4] } else { [4, 3] };
    let data: Vec<Value> =
        (0..count).rev().map(|index| json!({ "index": index, "embedding": vector(index) })).collect();
    say(&json!({ "object": "list", "data": data }))
}

fn say(body: &Value) -> Reply {
    Reply::Say(200, "", body.to_string())
}

fn status(status: u16) -> Reply {
    Reply::Say(status, "", "{\"error\": \"not now\"}".to_owned())
}

fn open_ai(server: &Server) -> HttpEmbedder {
    HttpEmbedder::open_ai(&server.url, "small", None)
}

/// What embedding fails with, the address left out, and how many requests it took.
fn refusal(script: impl Fn(usize, &Value) -> Reply + Send + 'static) -> (String, usize) {
    let server = Server::start(script);
    let error = open_ai(&server).embed(&["one", "two"]).expect_err("the answer is not right");
    (error.to_string().replace(&server.url, "URL"), server.seen().len())
}

#[test]
fn it_speaks_as_open_ai_does() {
    let server = Server::start(|_, question| vectors(question));
    let key = Some(Secret::new("sk-1"));
    let model = HttpEmbedder::open_ai(&format!("{}/v1/", server.url), "small", key);
    assert_eq!(model.model().unwrap(), "openai:small");
    assert_eq!(model.embed(&["one", ""]).unwrap(), [[0.6, 0.8], [0.8, 0.6]]);
    let seen = &server.seen()[0];
    assert_eq!(seen.line, "POST /v1/embeddings HTTP/1.1");
    assert!(seen.headers.contains(&"authorization: bearer sk-1".to_owned()), "{:?}", seen.headers);
    assert_eq!(seen.body, json!({ "model": "small", "input": ["one", " "] }));
}

#[test]
fn it_speaks_as_ollama_does() {
    let server = Server::start(|_, _| say(&json!({ "embeddings": [[0.0, 2.0], [5.0, 0.0]] })));
    let config = EmbedderConfig::Ollama { base_url: server.url.clone(), model: "tiny".to_owned() };
    let model = embedder(&config).unwrap();
    assert_eq!(model.model().unwrap(), "ollama:tiny");
    assert_eq!(model.embed(&["one", "two"]).unwrap(), [[0.0, 1.0], [1.0, 0.0]]);
    assert_eq!(server.seen()[0].line, "POST /api/embed HTTP/1.1");
    assert!(server.seen()[0].headers.iter().all(|header| !header.starts_with("authorization")));
}

#[test]
fn many_texts_go_in_batches() {
    let server = Server::start(|_, question| vectors(question));
    assert_eq!(open_ai(&server).embed(&["text"; 150]).unwrap().len(), 150);
    let sizes: Vec<usize> =
        server.seen().iter().map(|seen| seen.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [64, 64, 22]);
    assert!(open_ai(&server).embed(&[]).unwrap().is_empty());
}

#[test]
fn a_busy_or_broken_service_is_asked_again() {
    let server = Server::start(|number, question| match number {
        0 => Reply::Say(429, "retry-after: 0\r\n", String::new()),
        1 => Reply::HangUp,
        _ => vectors(question),
    });
    assert_eq!(open_ai(&server).embed(&["one"]).unwrap().len(), 1);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn three_failures_are_enough() {
    let told = "the model openai:small failed: URL/embeddings answered 503: {\"error\": \"not now\"}";
    assert_eq!(refusal(|_, _| status(503)), (told.to_owned(), 3));
}

#[test]
fn a_refusal_is_final() {
    let told = "the model openai:small failed: URL/embeddings answered 401: {\"error\": \"not now\"}";
    assert_eq!(refusal(|_, _| status(401)), (told.to_owned(), 1));
}

#[test]
fn a_redirection_is_not_followed() {
    let (told, requests) = refusal(|_, _| Reply::Say(307, "location: /elsewhere\r\n", String::new()));
    assert!(told.contains("answered 307"), "{told}");
    assert_eq!(requests, 1);
}

#[test]
fn nobody_there_is_said() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told =
        HttpEmbedder::ollama(&format!("http://{free}"), "tiny").embed(&["one"]).unwrap_err().to_string();
    assert!(
        told.contains("ollama:tiny failed: http://127.0.0.1") && told.contains("cannot be reached"),
        "{told}"
    );
}

#[test]
fn a_slow_service_is_left_after_the_time_out() {
    let server = Server::start(|_, _| Reply::Wait(Duration::from_secs(20)));
    let model = open_ai(&server).within(Duration::from_millis(200));
    let told = model.embed(&["one"]).unwrap_err().to_string();
    assert!(told.contains("did not answer within 0.2 s"), "{told}");
}

#[test]
fn what_is_not_an_answer_is_not_believed() {
    let told = |body: &'static str| {
        let (told, requests) = refusal(move |_, _| Reply::Say(200, "", body.to_owned()));
        assert_eq!(requests, 1);
        told.trim_start_matches("the model openai:small failed: ").to_owned()
    };
    assert_eq!(told(r#"{"data": [{"embedding": [1, 0]}]}"#), "1 vectors came back for 2 texts");
    assert_eq!(
        told(r#"{"data": [{"embedding": [1, 0]}, {"embedding": [1, 0, 0]}]}"#),
        "a vector of 3 dimensions came back where the others have 2"
    );
    let twice = r#"{"data": [{"index": 1, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 1]}]}"#;
    assert_eq!(told(twice), "the vectors that came back are numbered wrongly");
    for empty in ["[0, 0]", "[]"] {
        let body = format!(r#"{{"data": [{{"embedding": {empty}}}, {{"embedding": {empty}}}]}}"#);
        assert_eq!(told(body.leak()), "a vector came back that cannot be normalised");
    }
    let no_numbers = [r#"{"data": [{"embedding": [NaN]}]}"#, r#"{"data": [{"embedding": [1e39]}]}"#];
    for garbage in ["", "<html>", r#"{"embeddings": [[1]]}"#].into_iter().chain(no_numbers) {
        assert!(told(garbage).starts_with("the answer of URL/embeddings is not one about embeddings: "));
    }
}

#[test]
fn a_key_is_in_no_error_and_in_no_debug_text() {
    let server = Server::start(|_, _| Reply::Say(401, "", "wrong key: sk-secret".to_owned()));
    let model = HttpEmbedder::open_ai(&server.url, "small", Some(Secret::new("sk-secret")));
    let told = model.embed(&["one"]).unwrap_err();
    assert!(told.to_string().ends_with("answered 401: wrong key: ***"), "{told}");
    assert!(!format!("{model:?} {told:?}").contains("sk-secret"));
}

#[test]
fn the_key_comes_from_the_variable_that_is_named() {
    let config = |name: &str, url: &str| EmbedderConfig::OpenAi {
        base_url: url.to_owned(),
        model: "small".to_owned(),
        key_env: Some(name.to_owned()),
    };
    let server = Server::start(|_, question| vectors(question));
    // Cargo sets this one for every test.
    embedder(&config("CARGO_PKG_NAME", &server.url)).unwrap().embed(&["one"]).unwrap();
    assert!(server.seen()[0].headers.contains(&"authorization: bearer tulving-models".to_owned()));
    let told = embedder(&config("TULVING_NO_SUCH_KEY", &server.url)).err().unwrap().to_string();
    assert!(
        told.ends_with("the environment variable TULVING_NO_SUCH_KEY should hold its key and is not set"),
        "{told}"
    );
}
