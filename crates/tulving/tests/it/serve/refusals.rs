//! Refused requests: the status, a stable code, and a server that goes on.

use std::collections::BTreeSet;
use std::io::Write as _;

use serde_json::json;

use super::client::{Answer, Server, request};
use crate::binary::Tulving;

const REMEMBER: &str = "/v1/dialects/max/tools/remember";
const RECALL: &str = "/v1/dialects/max/tools/recall";

#[test]
fn without_a_right_token_nothing_is_answered() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let made = tulving.json(&["token", "create", "--for", "helper", "--kind", "agent"]);
    let revoked = made["token"].as_str().expect("a token").to_owned();
    let id = made["id"].as_str().expect("an id");
    let good = format!("Bearer {revoked}");
    let ask = |path: &str, headers: &[(&str, &str)]| {
        server.send(&request(server.address, "GET", path, headers, b""))
    };
    assert_eq!(ask("/v1/dialects", &[("Authorization", &good)]).status, 200);
    tulving.ok(&["token", "revoke", id]);
    let longer = format!("Bearer {}x", server.token);
    let basic = format!("Basic {}", server.token);
    for path in ["/v1/dialects", "/v1/dialects/max/tools", "/v1/dialects/nobody/tools"] {
        ask(path, &[]).assert_problem(401, "missing_token");
        ask(path, &[("Authorization", &basic)]).assert_problem(401, "missing_token");
        for wrong in ["Bearer nonsense", "Bearer \u{e4}", &longer, &good] {
            ask(path, &[("Authorization", wrong)]).assert_problem(401, "bad_token");
        }
    }
    for path in [REMEMBER, "/mcp", "/mcp/max", "/mcp/nobody"] {
        let body = json!({ "category": "fact", "content": "nobody said this" }).to_string();
        let post = |headers: &[(&str, &str)]| {
            server.send(&request(server.address, "POST", path, headers, body.as_bytes()))
        };
        post(&[]).assert_problem(401, "missing_token");
        post(&[("Authorization", &good)]).assert_problem(401, "bad_token");
    }
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn a_request_that_a_web_page_may_have_made_is_turned_away() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for host in [
        "evil.example",
        "evil.example:7777",
        "localhost.evil.example",
        "10.1.2.3",
        "[::1].evil.example",
        "evil.example@127.0.0.1",
    ] {
        for path in ["/healthz", "/v1/dialects", "/mcp", "/nowhere"] {
            server.ask("GET", path, &[("Host", host)], b"").assert_problem(403, "wrong_host");
        }
    }
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://localhost:3000",
        "http://10.1.2.3",
    ] {
        server.ask("POST", RECALL, &[("Origin", origin)], b"").assert_problem(403, "wrong_origin");
        server.ask("POST", "/mcp", &[("Origin", origin)], b"").assert_problem(403, "wrong_origin");
    }
    let port = server.address.port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(server.ask("GET", "/healthz", &[("Host", &host)], b"").status, 200, "{host}");
    }
    let own = format!("http://{}", server.address);
    let answer = server.ask("POST", RECALL, &[("Origin", &own)], b"");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), None, "no page is let in");
    let old = format!("GET /healthz HTTP/1.0\r\nAuthorization: Bearer {}\r\n\r\n", server.token);
    server.send(old.as_bytes()).assert_problem(400, "invalid_host");
}

#[test]
fn no_answer_is_guessed_at_by_browsers() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for path in ["/healthz", "/v1/memories", "/openapi.json", "/nowhere", "/metrics"] {
        let answer = server.get(path);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("strict-transport-security"), None, "{path}: it is not encrypted");
    }
    let refused = server.ask("GET", "/healthz", &[("Host", "evil.example")], b"");
    assert_eq!(refused.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn a_query_that_is_not_utf_8_is_refused_and_its_parameter_named() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for path in ["/v1/memories?cursor=%ff", "/v1/dialects?cursor=caf%E9"] {
        let problem = server.get(path).assert_problem(400, "invalid_query");
        assert_eq!(problem["field"], "cursor", "{path}");
    }
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    server.get("/").assert_problem(404, "no_such_address");
    server.get("/v1/dialects/").assert_problem(404, "no_such_address");
    let problem = server.get("/v1/dialects/klingon/tools").assert_problem(404, "unknown_dialect");
    assert!(problem["detail"].as_str().expect("text").contains("native, max, memax"), "{problem}");
    server.ask("POST", "/mcp/klingon", &[], b"{}").assert_problem(404, "unknown_dialect");
    let problem = server.call("max", "memorise", &[], &json!({})).assert_problem(404, "unknown_tool");
    assert_eq!(problem["hint"], "it has remember, recall, forget");
    server.ask("POST", "/v1/dialects/max/tools/%ff", &[], b"").assert_problem(400, "invalid_path");
    server.ask("POST", "/v1/dialects/max/tools/..%2f..%2fetc", &[], b"").assert_problem(404, "unknown_tool");
    for (method, path, allowed) in [
        ("GET", RECALL, "POST"),
        ("DELETE", "/mcp", "POST"),
        ("GET", "/mcp/max", "POST"),
        ("POST", "/healthz", "GET,HEAD"),
    ] {
        let answer = server.ask(method, path, &[], b"");
        answer.assert_problem(405, "wrong_method");
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {path}");
    }
    let other = [("X-Tulving-Space", "elsewhere")];
    server.call("max", "recall", &other, &json!({})).assert_problem(404, "space_not_found");
    let empty = [("X-Hub-ID", "")];
    server.call("max", "recall", &empty, &json!({})).assert_problem(404, "space_not_found");
    let two = [("X-Hub-ID", "default"), ("X-Tulving-Space", "elsewhere")];
    server.call("max", "recall", &two, &json!({})).assert_problem(400, "two_spaces");
    let long = "a".repeat(5_000);
    let agent = server.call("max", "recall", &[("X-Tulving-Agent", &long)], &json!({}));
    assert_eq!(agent.status, 400, "{}", agent.text());
}

#[test]
fn wrong_arguments_are_named() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let post = |headers: &[(&str, &str)], body: &[u8]| server.ask("POST", REMEMBER, headers, body);
    post(&[], b"{").assert_problem(400, "invalid_json");
    post(&[], b"{\"content\": \"\xff\xfe\"}").assert_problem(400, "invalid_utf8");
    post(&[], b"[1]").assert_problem(400, "invalid_arguments");
    let deep = [b"{\"content\": ".to_vec(), vec![b'['; 100_000]].concat();
    post(&[], &deep).assert_problem(400, "invalid_json");
    post(&[("Content-Type", "text/plain")], b"{}").assert_problem(415, "not_json");
    let problem = post(&[], b"").assert_problem(400, "missing_argument");
    assert_eq!(problem["field"], "category", "{problem}");
    let problem = post(
        &[("Content-Type", "application/json; charset=utf-8")],
        b"{\"content\": \"x\", \"category\": 5}",
    );
    assert_eq!(problem.assert_problem(400, "invalid_argument")["field"], "category");
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn a_body_that_is_too_large_is_refused_however_it_comes() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let body = vec![b' '; 9 * 1024 * 1024];
    server.ask("POST", REMEMBER, &[], &body).assert_problem(413, "body_too_large");
    server.ask("POST", "/mcp", &[], &body).assert_problem(413, "body_too_large");
    // Who asks first is answered before anything is sent.
    let first = [("Content-Length", "9000000"), ("Expect", "100-continue")];
    server.ask("POST", REMEMBER, &first, b"").assert_problem(413, "body_too_large");
    let announced = [("Content-Length", "99999999999")];
    server.ask("POST", REMEMBER, &announced, b"").assert_problem(413, "body_too_large");
    let mut chunked = Vec::new();
    for _ in 0..9 {
        chunked.extend_from_slice(b"100000\r\n");
        chunked.extend_from_slice(&vec![b' '; 0x10_0000]);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    server
        .ask("POST", REMEMBER, &[("Transfer-Encoding", "chunked")], &chunked)
        .assert_problem(413, "body_too_large");
    let large = json!({ "category": "fact", "content": "z".repeat(4_000_000) });
    let refused = server.call("max", "remember", &[], &large);
    assert_eq!(refused.status, 400, "larger than a memory may be: {}", refused.text());
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn garbage_is_refused_and_the_server_goes_on() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let head =
        format!("POST {REMEMBER} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n", server.token);
    let lies = format!("{head}Content-Length: 5\r\nContent-Length: 7\r\n\r\n{{}}");
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    let many = format!("{head}{}\r\n", "X-A: b\r\n".repeat(5_000));
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"nonsense\r\n\r\n",
        b"GET\0/ HTTP/1.1\r\n\r\n",
        lies.as_bytes(),
        long.as_bytes(),
        many.as_bytes(),
    ] {
        let answer = server.send(garbage);
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    // Half a request, and then nobody is there.
    let mut gone = server.connect();
    gone.write_all(format!("{head}Content-Length: 500\r\n\r\n{{\"content\"").as_bytes()).expect("sent");
    drop(gone);
    server.connect().write_all(b"GET /hea").expect("sent");
    assert_eq!(server.get("/healthz").json(), json!({ "data": { "status": "ok" } }));
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let tulving = Tulving::new();
    let server = Server::start_with(&tulving, |command| {
        command.env("TULVING_SERVER_TIMEOUT_SECONDS", "1");
    });
    let mut slow = server.connect();
    let head = request(
        server.address,
        "POST",
        REMEMBER,
        &[("Authorization", &format!("Bearer {}", server.token)), ("Content-Length", "100")],
        b"{",
    );
    slow.write_all(&head).expect("sent");
    assert_eq!(server.get("/healthz").status, 200, "others are served meanwhile");
    Answer::read(&mut slow).assert_problem(408, "body_timeout");
}

/// Every operation under `/v1` as `/openapi.json` has it: the method and the address with names filled in.
fn operations(server: &Server, name: &str) -> Vec<(String, String)> {
    let document = server.get("/openapi.json").json();
    let paths = document["paths"].as_object().expect("paths");
    let filled = |path: &str| {
        let parts = path.split('/').map(|part| if part.starts_with('{') { name } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    let mut found = Vec::new();
    for (path, methods) in paths.iter().filter(|(path, _)| path.starts_with("/v1/")) {
        for method in methods.as_object().expect("methods").keys() {
            found.push((method.to_uppercase(), filled(path)));
        }
    }
    assert!(found.len() > 50, "{found:?}");
    found
}

#[test]
fn every_refusal_under_v1_carries_an_error_object_for_clients_that_ignore_the_status() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let mut seen = BTreeSet::new();
    let mut check = |what: &str, answer: Answer| {
        // A successful act is no refusal, and an empty list is a list.
        if answer.status >= 400 {
            let code =
                answer.json()["code"].as_str().unwrap_or_else(|| panic!("{what}: {answer:?}")).to_owned();
            answer.assert_problem(answer.status, &code);
            seen.insert((answer.status, code));
        }
    };
    for (method, path) in operations(&server, "mem_a1b2c3d4") {
        let what = format!("{method} {path}");
        let bare =
            |headers: &[(&str, &str)]| server.send(&request(server.address, &method, &path, headers, b""));
        check(&what, bare(&[]));
        check(&what, bare(&[("Authorization", "Bearer nonsense")]));
        check(&what, bare(&[("Host", "evil.example")]));
        check(&what, bare(&[("Origin", "https://evil.example")]));
        check(&what, server.ask("TRACE", &path, &[], b""));
        check(&what, server.ask(&method, &path, &[("X-Hub-ID", "elsewhere")], b""));
        if method != "GET" {
            check(&what, server.ask(&method, &path, &[], b"{"));
            check(&what, server.ask(&method, &path, &[("Content-Type", "text/plain")], b"{}"));
            // A load may be of any length.
            if path != "/v1/load" {
                check(&what, server.ask(&method, &path, &[("Content-Length", "99999999999")], b""));
            }
            check(&what, server.ask(&method, &path, &[("Idempotency-Key", "")], b"{}"));
        }
        check(&what, server.ask(&method, &format!("{path}?unheard_of=%ff"), &[], b""));
        check(&what, server.ask(&method, &format!("{path}/nowhere/at/all"), &[], b""));
    }
    for (method, path) in operations(&server, "%ff").iter().filter(|(_, path)| path.contains('%')) {
        check(&format!("{method} {path}"), server.ask(method, path, &[], b"{}"));
    }
    check("an absent memory", server.get("/v1/memories/mem_a1b2c3d4"));
    for wrong in 0..70 {
        let token = format!("Bearer wrong{wrong}");
        let headers = [("Authorization", token.as_str())];
        check("a wrong token", server.send(&request(server.address, "GET", "/v1/memories", &headers, b"")));
    }
    for expected in [
        (400, "invalid_json"),
        (400, "invalid_path"),
        (400, "invalid_query"),
        (401, "bad_token"),
        (401, "missing_token"),
        (403, "wrong_host"),
        (403, "wrong_origin"),
        (404, "no_such_address"),
        (404, "not_found"),
        (404, "space_not_found"),
        (405, "wrong_method"),
        (413, "body_too_large"),
        (415, "not_json"),
        (429, "too_many_requests"),
    ] {
        assert!(seen.contains(&(expected.0, expected.1.to_owned())), "{expected:?} is not among {seen:?}");
    }
}
