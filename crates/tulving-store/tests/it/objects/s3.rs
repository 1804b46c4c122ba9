//! The errors of a bucket whose service is away, slow or refuses: always typed, in time, and without a key.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tulving_core::model::error::ObjectError;
use tulving_core::model::space::Secret;
use tulving_core::ports::Objects;
use tulving_store::objects::{S3Config, S3Keys, S3Objects};
use tulving_testkit::objects::hash;

const ID: &str = "AKIAEXAMPLE";
const SECRET: &str = "very-secret";

fn config(endpoint: &str) -> S3Config {
    S3Config {
        bucket: "bucket".to_owned(),
        region: "us-east-1".to_owned(),
        endpoint: Some(endpoint.to_owned()),
        prefix: "/some/where/".to_owned(),
        allow_http: true,
        keys: S3Keys::new(Secret::new(ID.to_owned()), Secret::new(SECRET.to_owned()), None),
        time_out: Duration::from_secs(5),
        lock: std::env::temp_dir().join("tulving-objects-lock"),
    }
}

fn bucket(endpoint: &str) -> S3Objects {
    S3Objects::new(config(endpoint)).expect("well set up")
}

/// Makes every call, on a missing object.
fn every_call(objects: &S3Objects) -> [Result<(), ObjectError>; 3] {
    let key = format!("sha256/{}/{}", &hash(b"bytes")[..2], hash(b"bytes"));
    [objects.put(b"bytes", &hash(b"bytes")).map(drop), objects.get(&key).map(drop), objects.remove(&key)]
}

/// Reads one request, and returns its head.
fn request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.to_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some(head)
}

/// Starts a service that gives these answers, one for each request, and reports the requests.
fn service(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
    let asked = thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a client");
            asked.push(request(&mut stream).expect("a request"));
            stream.write_all(answer.as_bytes()).expect("answered");
        }
        asked
    });
    (endpoint, asked)
}

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// The answer of a service that has stored an object.
const KEPT: &str = "200 OK\r\netag: \"x\"";

fn error(status: &str, code: &str) -> String {
    answer(
        status,
        &format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{ID} {SECRET}</Message></Error>"),
    )
}

#[test]
fn a_service_that_is_away_is_unreachable_at_once() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    let objects = bucket(&format!("http://127.0.0.1:{port}"));
    let begun = Instant::now();
    for result in every_call(&objects) {
        let error = result.expect_err("nobody is there");
        assert!(matches!(error, ObjectError::Unreachable { .. }) && error.retryable(), "{error}");
        assert!(error.to_string().contains("refused"), "{error}");
    }
    assert!(begun.elapsed() < 4 * Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_service_that_does_not_answer_is_not_waited_for_beyond_the_time() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("http://{}", listener.local_addr().expect("bound"));
    let time_out = Duration::from_millis(400);
    let objects = S3Objects::new(S3Config { time_out, ..config(&endpoint) }).expect("well set up");
    let begun = Instant::now();
    for result in every_call(&objects) {
        let error = result.expect_err("nobody answers");
        let why = "no answer came within 0.4 s".to_owned();
        assert_eq!(error, ObjectError::Unreachable { why });
    }
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn what_a_service_refuses_is_told_apart_and_no_key_is_in_it() {
    let denied = "403 Forbidden";
    let cases = [
        (denied, "InvalidAccessKeyId", "objects_denied"),
        (denied, "SignatureDoesNotMatch", "objects_denied"),
        (denied, "AccessDenied", "objects_denied"),
        ("404 Not Found", "NoSuchBucket", "objects_missing"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", "objects_missing"),
        ("507 Insufficient Storage", "XMinioStorageFull", "disk_full"),
        ("400 Bad Request", "EntityTooLarge", "objects_unusable"),
    ];
    for (status, code, expected) in cases {
        let (endpoint, asked) = service(vec![error(status, code); 3]);
        for result in every_call(&bucket(&endpoint)) {
            let error = result.expect_err(code);
            assert_eq!(error.code(), expected, "{error}");
            let described = format!("{error} {error:?}");
            assert!(!described.contains(ID) && !described.contains(SECRET), "{described}");
        }
        for head in asked.join().expect("it answered") {
            assert!(head.contains("AWS4-HMAC-SHA256") && !head.contains(SECRET), "{head}");
            assert!(head.contains("/bucket"), "{head}");
        }
    }
}

#[test]
fn a_service_that_is_busy_is_asked_again() {
    let slow = error("503 Service Unavailable", "SlowDown");
    let (endpoint, asked) = service(vec![slow.clone(), slow.clone(), answer(KEPT, "")]);
    let key = bucket(&endpoint).put(b"bytes", &hash(b"bytes")).expect("kept at last");
    let asked = asked.join().expect("it answered");
    assert_eq!(asked.len(), 3);
    assert!(asked[2].starts_with(&format!("PUT /bucket/some/where/{key} HTTP/1.1")), "{}", asked[2]);

    let (endpoint, asked) = service(vec![slow; 3]);
    let error = bucket(&endpoint).put(b"bytes", &hash(b"bytes")).expect_err("busy for ever");
    assert!(error.retryable() && error.to_string().contains("SlowDown"), "{error}");
    asked.join().expect("it was asked three times");
}

#[test]
fn bytes_that_are_not_those_of_the_key_are_never_given() {
    let (endpoint, asked) = service(vec![answer(
        "200 OK\r\nlast-modified: Wed, 01 Jan 2020 00:00:00 GMT\r\netag: \"x\"",
        "other bytes",
    )]);
    let key = format!("sha256/{}/{}", &hash(b"bytes")[..2], hash(b"bytes"));
    assert_eq!(bucket(&endpoint).get(&key), Err(ObjectError::Damaged { key }));
    asked.join().expect("it answered");
}

#[test]
fn an_endpoint_without_encryption_has_to_be_allowed() {
    let error =
        S3Objects::new(S3Config { allow_http: false, ..config("http://localhost:9000") }).expect_err("http");
    assert!(error.to_string().contains("http://localhost:9000 is not encrypted"), "{error}");
    let error = S3Objects::new(config("localhost:9000")).expect_err("no scheme");
    assert!(error.to_string().contains("does not begin with https://"), "{error}");
    let printed = format!("{:?}", config("https://host"));
    assert!(!printed.contains(SECRET) && !printed.contains(ID), "{printed}");
}

#[test]
fn it_can_be_called_from_a_thread_of_a_runtime() {
    let (endpoint, asked) = service(vec![answer(KEPT, "")]);
    let objects = bucket(&endpoint);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let put = runtime.block_on(async {
        tokio::task::spawn_blocking(move || objects.put(b"bytes", &hash(b"bytes"))).await
    });
    assert!(put.expect("no panic").is_ok());
    asked.join().expect("it answered");
}
