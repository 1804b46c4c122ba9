//! Requests whose bytes do not add up, and addresses that try to be others.

use std::io::Write as _;
use std::net::Shutdown;

use serde_json::json;

use super::client::{Answer, Server, request};
use crate::binary::Tulving;

const REMEMBER: &str = "/v1/dialects/max/tools/remember";

/// The head of a save, with these headers, and what follows it.
fn save(server: &Server, headers: &str, rest: &str) -> Vec<u8> {
    let token = &server.token;
    format!(
        "POST {REMEMBER} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         {headers}\r\n{rest}"
    )
    .into_bytes()
}

#[test]
fn a_body_that_is_shorter_than_it_says_saves_nothing() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let body = json!({ "category": "fact", "content": "half of this" }).to_string();
    for headers in
        [format!("Content-Length: {}\r\n", body.len() + 10), "Transfer-Encoding: chunked\r\n".into()]
    {
        let rest =
            if headers.starts_with('C') { body.clone() } else { format!("{:x}\r\n{body}", body.len() + 10) };
        let mut stream = server.connect();
        stream.write_all(&save(&server, &headers, &rest)).expect("sent");
        stream.shutdown(Shutdown::Write).expect("half closed");
        Answer::read(&mut stream).assert_problem(400, "broken_body");
    }
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn what_follows_a_body_is_not_part_of_it() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let body = json!({ "category": "fact", "content": "the whole of this" }).to_string();
    let headers = format!("Content-Length: {}\r\n", body.len());
    let answer =
        server.send(&save(&server, &headers, &format!("{body}and more, which is no request\r\n\r\n")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let kept = save(&server, &headers, &format!("{body}and more\r\n\r\n"));
    let kept = String::from_utf8(kept).expect("text").replace("Connection: close\r\n", "");
    let mut stream = server.connect();
    stream.write_all(kept.as_bytes()).expect("sent");
    let answers = String::from_utf8(read_all(&mut stream)).expect("text");
    let statuses: Vec<&str> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "400"], "{answers}");
    assert_eq!(tulving.all_ids("default").len(), 1);
}

fn read_all(stream: &mut std::net::TcpStream) -> Vec<u8> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

#[test]
fn a_length_that_is_said_in_two_ways_is_refused() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let inner = json!({ "category": "fact", "content": "smuggled" }).to_string();
    let smuggled = String::from_utf8(save(&server, &format!("Content-Length: {}\r\n", inner.len()), &inner));
    let smuggled = smuggled.expect("text");
    let chunk = format!("0\r\n\r\n{smuggled}");
    for headers in [
        "Content-Length: 5\r\nContent-Length: 7\r\n",
        "Content-Length: 5, 7\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding: chunked\r\n Content-Length: 5\r\n",
    ] {
        let answer = server.send(&save(&server, headers, &chunk));
        assert!((400..500).contains(&answer.status), "{headers:?}: {answer:?}");
    }
    // Where both are given, the chunks count, and the connection ends after it: nothing can follow.
    let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
    let both = String::from_utf8(save(&server, both, &chunk)).expect("text");
    let mut stream = server.connect();
    stream.write_all(both.replace("Connection: close\r\n", "").as_bytes()).expect("sent");
    let answers = String::from_utf8(read_all(&mut stream)).expect("text");
    assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
    assert!(tulving.all_ids("default").is_empty(), "nothing was smuggled in");
}

#[test]
fn an_address_is_what_it_is_and_leads_nowhere_else() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for path in [
        "/v1/../healthz",
        "/v1/%2e%2e/healthz",
        "/%2e%2e/healthz",
        "//healthz",
        "/healthz/",
        "/./healthz",
        "/healthz/..",
        "/HEALTHZ",
        "/%68ealthz",
        "/healthz%00",
        "/healthz;a=b",
        "/metrics/",
        "//metrics",
        "/v1//dialects",
        "/v1/dialects/..",
    ] {
        server.get(path).assert_problem(404, "no_such_address");
        // The same without a token, so that nothing lies behind it.
        let plain = request(server.address, "GET", path, &[], b"");
        server.send(&plain).assert_problem(404, "no_such_address");
    }
    server.get("/v1/dialects/%2e%2e/tools").assert_problem(404, "unknown_dialect");
    server.get("/v1/dialects/%ff%fe/tools").assert_problem(400, "invalid_path");
    let raw = [b"GET /v1/dialects/\xff\xfe/tools HTTP/1.1\r\nHost: localhost\r\n\r\n".as_slice()].concat();
    let status = server.send(&raw).status;
    assert!((400..500).contains(&status), "{status}");
    for line in ["GET  /healthz HTTP/1.1", "GET /heal thz HTTP/1.1", "GET healthz HTTP/1.1", "GET * HTTP/1.1"]
    {
        let answer =
            server.send(format!("{line}\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes());
        assert!((400..500).contains(&answer.status), "{line}: {answer:?}");
    }
    assert_eq!(server.get("/healthz?x=/../../etc").status, 200);
}

#[test]
fn nothing_of_a_request_becomes_a_header_of_an_answer() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for value in ["a\rInjected: yes", "a\nInjected: yes", "a\0b", "a\r\n\tInjected: yes"] {
        let bytes = request(server.address, "GET", "/healthz", &[("X-Request-Id", value)], b"");
        let answer = server.send(&bytes);
        assert!(answer.header("injected").is_none(), "{answer:?}");
        assert!(!answer.header("x-request-id").unwrap_or_default().contains("Injected"), "{answer:?}");
    }
    for path in ["/%0d%0aInjected:%20yes", "/v1/dialects/%0d%0aInjected:%20yes/tools"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404);
        assert!(answer.header("injected").is_none(), "{answer:?}");
    }
    let space = [("X-Tulving-Space", "\u{85}\u{2028}Injected: yes")];
    let answer = server.ask("GET", "/v1/dialects", &space, b"");
    assert_eq!(answer.status, 404, "{}", answer.text());
    // The name of a client comes back as its session id, and only as letters and digits.
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a\r\nInjected: yes", "version": "1" }
    }});
    let headers = [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];
    let answer = server.ask("POST", "/mcp", &headers, begin.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.header("injected").is_none(), "{answer:?}");
}
