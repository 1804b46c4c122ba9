//! Files over HTTP: sent in parts, worked on in the background, given back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answer, Server};
use crate::binary::Tulving;
use crate::documents::PICTURE;

/// A part of a body: its name, the name of its file, its bytes.
type Part<'a> = (&'a str, Option<&'a str>, &'a [u8]);

fn send(server: &Server, parts: &[Part<'_>]) -> Answer {
    let mut body = Vec::new();
    for (name, file, bytes) in parts {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let head = format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--edge--\r\n");
    let kind = [("Content-Type", "multipart/form-data; boundary=edge")];
    server.ask("POST", "/v1/memories", &kind, &body)
}

/// The memory once nothing has to be done for it any more.
fn settled(server: &Server, id: &str) -> Value {
    let began = Instant::now();
    loop {
        let memory = server.get(&format!("/v1/memories/{id}")).json()["data"].clone();
        if memory["state"] != "processing" || began.elapsed() > Duration::from_secs(30) {
            return memory;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_file_is_sent_in_parts_and_given_back() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let made = send(
        &server,
        &[("tags", None, b"art,tiny"), ("tags", None, b"small"), ("file", Some("dot.png"), PICTURE)],
    );
    assert_eq!(made.status, 201, "{}", made.text());
    let memory = made.json()["data"].clone();
    assert_eq!((&memory["state"], &memory["tags"]), (&json!("processing"), &json!(["art", "tiny", "small"])));
    let id = memory["id"].as_str().expect("an id");
    let memory = settled(&server, id);
    assert_eq!(memory["state"], "active", "{memory}");
    assert_eq!(memory["attachment"]["media_type"], "image/png");
    let file = server.get(&format!("/v1/memories/{id}/attachment"));
    assert_eq!((file.status, file.body.as_slice()), (200, PICTURE));
    assert_eq!(file.header("content-type"), Some("image/png"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert!(file.header("content-disposition").is_some_and(|said| said.starts_with("attachment;")));
    assert_eq!(send(&server, &[("file", Some("dot.png"), PICTURE)]).json()["data"]["status"], "duplicate");
}

#[test]
fn a_text_that_is_sent_as_a_file_is_a_text() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let made = send(
        &server,
        &[("file", Some("notes.md"), b"# The harbour\n\nShips."), ("importance", None, b"0.9")],
    );
    let memory = made.json()["data"].clone();
    assert_eq!(
        (&memory["content_type"], &memory["state"]),
        (&json!("markdown"), &json!("active")),
        "{memory}"
    );
    assert_eq!((&memory["title"], &memory["importance"]), (&json!("The harbour"), &json!(0.9)));
    let id = memory["id"].as_str().expect("an id");
    let none = server.get(&format!("/v1/memories/{id}/attachment"));
    assert_eq!((none.status, &none.json()["code"]), (404, &json!("no_attachment")));
}

#[test]
fn bad_bodies_are_refused_with_a_name_and_save_nothing() {
    let tulving = Tulving::new();
    let server = Server::start_with(&tulving, |command| {
        command.env("TULVING_SERVER_MAX_UPLOAD_BYTES", "20000").env("TULVING_SERVER_MAX_BODY_BYTES", "10000");
    });
    let code =
        |answer: &Answer| (answer.status, answer.json()["code"].as_str().unwrap_or_default().to_owned());
    let said = |status, code: &str| (status, code.to_owned());
    let file: Part<'_> = ("file", Some("a.png"), PICTURE);
    assert_eq!(code(&send(&server, &[file, file])), said(400, "given_twice"));
    assert_eq!(code(&send(&server, &[("title", None, b"no file")])), said(400, "missing_content"));
    assert_eq!(code(&send(&server, &[file, ("content", None, b"and a text")])), said(400, "two_contents"));
    assert_eq!(code(&send(&server, &[file, ("colour", None, b"red")])), said(400, "unknown_argument"));
    assert_eq!(code(&send(&server, &[file, ("importance", None, b"high")])), said(400, "invalid_argument"));
    assert_eq!(code(&send(&server, &[file, ("title", None, b"\xff")])), said(400, "invalid_utf8"));
    assert_eq!(code(&send(&server, &[("file", Some("a.txt"), b" ")])), said(400, "missing_content"));
    let large = vec![b'a'; 15_000];
    assert_eq!(
        send(&server, &[("file", Some("a.txt"), &large)]).status,
        201,
        "an upload may be larger than JSON"
    );
    let larger = vec![b'a'; 25_000];
    assert_eq!(send(&server, &[("file", Some("a.txt"), &larger)]).status, 413);
    let kinds = [
        ("multipart/form-data", "invalid_multipart"),
        ("multipart/form-data; boundary=other", "invalid_multipart"),
    ];
    for (kind, name) in kinds {
        let answer = server.ask("POST", "/v1/memories", &[("Content-Type", kind)], b"--edge\r\n\r\n--edge--");
        assert_eq!(code(&answer), said(400, name), "{kind}");
    }
    let cut = server.ask(
        "POST",
        "/v1/memories",
        &[("Content-Type", "multipart/form-data; boundary=edge")],
        b"--edge\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nhalf",
    );
    assert_eq!(code(&cut), said(400, "invalid_multipart"));
    let elsewhere = server.ask(
        "POST",
        "/v1/recall",
        &[("Content-Type", "multipart/form-data; boundary=edge")],
        b"--edge--",
    );
    assert_eq!(code(&elsewhere), said(415, "not_json"));
    assert_eq!(server.get("/v1/memories").json()["data"]["memories"].as_array().map(Vec::len), Some(1));
}

#[test]
fn base64_in_json_does_too_and_jobs_are_visible() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let body = json!({ "file": { "name": "dot.png", "base64": data_encoding::BASE64.encode(PICTURE) } });
    let kind = [("Content-Type", "application/json")];
    let made = server.ask("POST", "/v1/memories", &kind, body.to_string().as_bytes());
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["data"]["id"].clone();
    let memory = settled(&server, id.as_str().expect("an id"));
    let work = server.get("/v1/jobs").json()["data"].clone();
    assert_eq!(
        (&work["jobs"][0]["kind"], &work["waiting_to_be_embedded"]),
        (&json!("extract"), &json!(0)),
        "{work}"
    );
    let job = tulving.json(&["jobs"])["jobs"][0].clone();
    assert_eq!(work["jobs"][0]["payload"], job["payload"], "as on the command line, {memory}");
    assert!(job["payload"]["memory"].is_string(), "{job}");
    let wrong = json!({ "file": { "name": "dot.png", "base64": "*" } });
    let wrong = server.ask("POST", "/v1/memories", &kind, wrong.to_string().as_bytes());
    assert_eq!((wrong.status, &wrong.json()["code"]), (400, &json!("invalid_base64")));
}
