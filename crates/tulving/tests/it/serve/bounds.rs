//! The limits of one client: connections, requests, time, memory.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::client::{Answer, PATIENCE, Server, eventually, request};
use super::metrics::value;
use crate::binary::Tulving;

const REMEMBER: &str = "/v1/dialects/max/tools/remember";
const HEALTHY: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Reads one answer of a connection that stays open.
fn next_answer(stream: &mut TcpStream) -> Answer {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        bytes.push(byte[0]);
    }
    let length = Answer::parse(&bytes).header("content-length").expect("a length").parse().expect("a number");
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("a body");
    bytes.extend(body);
    Answer::parse(&bytes)
}

/// Checks that the other side closes the connection, in any way.
fn assert_closed(mut stream: TcpStream) {
    let mut away = [0; 4_096];
    loop {
        match stream.read(&mut away) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                assert!(!matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ));
                return;
            }
        }
    }
}

#[test]
fn a_body_may_have_as_many_bytes_as_the_configuration_says() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.max_body_bytes = 100\n");
    let body = json!({ "category": "fact", "content": "short" });
    assert_eq!(server.call("max", "remember", &[], &body).status, 200);
    let body = json!({ "category": "fact", "content": "x".repeat(100) });
    server.call("max", "remember", &[], &body).assert_problem(413, "body_too_large");
    server.ask("POST", "/mcp", &[], body.to_string().as_bytes()).assert_problem(413, "body_too_large");
}

#[test]
fn connections_beyond_the_bound_are_told_so_and_the_others_are_served() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.max_connections = 8\n");
    let mut held: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
    // Connections that have shown a valid token are not dropped for others.
    for stream in &mut held {
        stream.write_all(&known(&server)).expect("sent");
        assert_eq!(next_answer(stream).status, 200);
    }
    for _ in 0..300 {
        let answer = Answer::read(&mut server.connect());
        answer.assert_problem(503, "too_many_connections");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.header("connection"), Some("close"));
    }
    // Those that write first read why all the same.
    for _ in 0..20 {
        server.send(HEALTHY).assert_problem(503, "too_many_connections");
    }
    for stream in &mut held {
        stream.write_all(&known(&server)).expect("sent");
        assert_eq!(next_answer(stream).status, 200);
    }
    server.says("too many connections");
    assert!(server.log().matches("too many connections").count() < 10, "not a line for each");
    drop(held);
    eventually("there is room again", || Answer::read(&mut healthy(&server)).status == 200);
}

/// A request with the token of the home, on a connection that stays open.
fn known(server: &Server) -> Vec<u8> {
    let token = &server.token;
    format!("GET /v1/dialects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n")
        .into_bytes()
}

#[test]
fn idle_connections_without_a_token_do_not_keep_others_out() {
    let tulving = Tulving::new();
    let settings = "server.max_connections = 64\nserver.max_strangers_per_address = 64\n";
    let server = Server::configured(&tulving, settings);
    let mut kept = server.connect();
    kept.write_all(&known(&server)).expect("sent");
    assert_eq!(next_answer(&mut kept).status, 200);
    // Silent ones, ones that never end their head, and ones that asked once and stay.
    let held: Vec<TcpStream> = (0..200)
        .map(|at| {
            let mut stream = server.connect();
            match at % 3 {
                0 => {}
                1 => stream.write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ").expect("sent"),
                _ => stream.write_all(HEALTHY).expect("sent"),
            }
            stream
        })
        .collect();
    for _ in 0..100 {
        assert_eq!(server.get("/v1/dialects").status, 200, "every request of others is served");
    }
    kept.write_all(&known(&server)).expect("sent");
    assert_eq!(next_answer(&mut kept).status, 200, "it has shown a token and stays");
    let displaced = value(&server, "tulving_http_refused_total{reason=\"displaced\"}");
    assert!(displaced.is_some_and(|count| count >= 100.0), "{displaced:?}");
    drop(held);
}

#[test]
fn one_address_holds_a_bounded_number_of_connections_without_a_token() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.max_strangers_per_address = 5\n");
    let held: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    eventually("the oldest of them are dropped", || {
        // The one that asks has a token by the time it is answered.
        value(&server, "tulving_http_connections").is_some_and(|open| open <= 6.0)
    });
    held.into_iter().take(40).for_each(assert_closed);
}

#[test]
fn who_asks_nothing_in_the_first_seconds_is_cut_off() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.first_request_seconds = 1\n");
    let silent = server.connect();
    let mut partial = server.connect();
    partial.write_all(b"GET /healthz HTTP/1.1\r\nHost: ").expect("sent");
    let mut asked = server.connect();
    asked.write_all(HEALTHY).expect("sent");
    assert_eq!(next_answer(&mut asked).status, 200);
    [silent, partial].into_iter().for_each(assert_closed);
    asked.write_all(HEALTHY).expect("it is still open");
    assert_eq!(next_answer(&mut asked).status, 200, "who has asked may be idle for longer");
    assert_eq!(value(&server, "tulving_http_refused_total{reason=\"silent\"}"), Some(2.0));
}

fn healthy(server: &Server) -> TcpStream {
    let mut stream = server.connect();
    let _ = stream.write_all(&request(server.address, "GET", "/healthz", &[], b""));
    stream
}

#[test]
fn a_token_may_ask_so_often_and_others_are_not_held_up() {
    let tulving = Tulving::new();
    let made = tulving.json(&["token", "create", "--for", "helper", "--kind", "agent"]);
    let other = format!("Bearer {}", made["token"].as_str().expect("a token"));
    let server = Server::configured(&tulving, "server.requests_per_minute = 3\n");
    for _ in 0..3 {
        assert_eq!(server.get("/v1/dialects").status, 200);
    }
    for path in ["/v1/dialects", "/v1/dialects/max/tools", "/metrics"] {
        let answer = server.get(path);
        let problem = answer.assert_problem(429, "too_many_requests");
        assert_eq!(problem["detail"], "the token is limited to 3requests per minute");
        let wait: u32 = answer.header("retry-after").expect("when").parse().expect("seconds");
        assert!((1..=20).contains(&wait), "{wait}");
    }
    server.ask("POST", "/mcp", &[], b"{}").assert_problem(429, "too_many_requests");
    assert_eq!(server.get("/healthz").status, 200, "what needs no token is not counted");
    let other = request(server.address, "GET", "/v1/dialects", &[("Authorization", &other)], b"");
    assert_eq!(server.send(&other).status, 200);
}

#[test]
fn tokens_cannot_be_found_by_trying_and_who_has_one_is_not_locked_out() {
    let tulving = Tulving::new();
    let made = tulving.json(&["token", "create", "--for", "helper", "--kind", "agent"]);
    let unused = format!("Bearer {}", made["token"].as_str().expect("a token"));
    let server = Server::configured(&tulving, "server.failures_per_minute = 3\n");
    let ask = |authorization: &str| {
        let headers = [("Authorization", authorization)];
        server.send(&request(server.address, "GET", "/v1/dialects", &headers, b""))
    };
    assert_eq!(server.get("/v1/dialects").status, 200);
    for guess in 0..3 {
        ask(&format!("Bearer tlv_{guess}")).assert_problem(401, "bad_token");
    }
    let refused = ask("Bearer tlv_4");
    refused.assert_problem(429, "too_many_requests");
    assert!(refused.header("retry-after").is_some());
    ask(&unused).assert_problem(429, "too_many_requests");
    assert_eq!(server.get("/v1/dialects").status, 200, "it was right before");
    server
        .send(&request(server.address, "GET", "/v1/dialects", &[], b""))
        .assert_problem(401, "missing_token");
}

#[test]
fn heads_are_bounded_in_bytes_and_in_number() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let with = |more: &str| {
        server.send(format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{more}\r\n").as_bytes())
    };
    assert_eq!(with(&format!("Connection: close\r\nX-Long: {}\r\n", "a".repeat(20_000))).status, 200);
    assert_eq!(with(&format!("X-Long: {}\r\n", "a".repeat(40_000))).status, 431);
    assert_eq!(with(&format!("X-Long: {}\r\n", "a".repeat(400_000))).status, 431);
    assert_eq!(with(&"X-Many: a\r\n".repeat(200)).status, 431);
    for length in [40_000, 70_000, 400_000] {
        let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(length));
        let status = server.send(long.as_bytes()).status;
        assert!(matches!(status, 414 | 431), "{status}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn who_dribbles_or_says_nothing_is_cut_off_while_others_are_served() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.timeout_seconds = 2\n");
    let silent: Vec<TcpStream> = (0..5).map(|_| server.connect()).collect();
    let mut kept = server.connect();
    kept.write_all(HEALTHY).expect("sent");
    assert_eq!(next_answer(&mut kept).status, 200);
    thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                let mut slow = server.connect();
                slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").expect("sent");
                // It ends because it is cut off, and not because it ever comes to an end.
                let rounds = PATIENCE.as_millis() / 50;
                let cut = (0..rounds).any(|_| {
                    thread::sleep(Duration::from_millis(50));
                    slow.write_all(b"a").is_err()
                });
                assert!(cut, "it dribbled for {PATIENCE:?}");
            });
        }
        for _ in 0..50 {
            assert_eq!(server.get("/v1/dialects").status, 200);
        }
    });
    silent.into_iter().chain([kept]).for_each(assert_closed);
}

#[test]
fn who_does_not_read_its_answers_is_cut_off() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.timeout_seconds = 1\n");
    let authorization = format!("Bearer {}", server.token);
    let one = format!(
        "GET /v1/dialects/native/tools HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n"
    );
    let mut deaf = server.connect();
    deaf.set_write_timeout(Some(PATIENCE)).expect("set");
    // More answers than the buffers of the two sides hold; the writing ends when the server no longer takes any.
    let asking = one.repeat(100);
    thread::scope(|scope| {
        scope.spawn(|| while deaf.write_all(asking.as_bytes()).is_ok() {});
        eventually("it is cut off", || {
            value(&server, "tulving_http_refused_total{reason=\"slow_reader\"}") == Some(1.0)
        });
    });
    eventually("its connection is gone", || value(&server, "tulving_http_connections") == Some(1.0));
}

/// The memory of a process in bytes, as reported by Linux.
fn memory(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1_024
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_connections_are_held_in_bounded_memory() {
    const MANY: usize = 10_000;
    let need = MANY as u64 + 1_000;
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if maximum.is_some_and(|maximum| maximum < need) {
        eprintln!("skipped: this machine lets a process open {maximum:?} files, and {need} are needed");
        return;
    }
    let tulving = Tulving::new();
    // The server, which begins with few, raises its own bound.
    setrlimit(Resource::Nofile, Rlimit { current: Some(256), maximum }).expect("fewer are always allowed");
    let settings =
        "[server]\nmax_connections = 10500\nmax_strangers_per_address = 10500\nfirst_request_seconds = 60\n";
    let server = Server::configured(&tulving, settings);
    setrlimit(Resource::Nofile, Rlimit { current: Some(need), maximum }).expect("as many as allowed");
    let before = memory(server.id());
    let held: Vec<TcpStream> = (0..MANY)
        .map(|at| {
            let mut stream = TcpStream::connect(server.address).expect("it takes all of them");
            if at % 2 == 0 {
                stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: ").expect("sent");
            }
            stream
        })
        .collect();
    eventually("all are taken", || {
        value(&server, "tulving_http_connections").is_some_and(|open| open > MANY as f64)
    });
    for _ in 0..20 {
        assert_eq!(server.get("/v1/dialects").status, 200, "others are served meanwhile");
    }
    let used = memory(server.id()).saturating_sub(before);
    println!("{} KiB for each connection", used / 1_024 / MANY as u64);
    assert!(used < 400 * 1_024 * 1_024, "{MANY} connections take {used} bytes");
    drop(held);
    eventually("all are let go", || value(&server, "tulving_http_connections") == Some(1.0));
    let saved = json!({ "category": "fact", "content": "It still works" }).to_string();
    assert_eq!(server.ask("POST", REMEMBER, &[], saved.as_bytes()).status, 200);
}

#[test]
fn pages_and_depth_are_as_large_as_the_configuration_says() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.max_page = 5\nserver.max_depth = 2\n");
    assert_eq!(server.get("/v1/memories?limit=5").status, 200);
    assert_eq!(
        server.get("/v1/memories").status,
        200,
        "the usual number is beyond it, and was not asked for"
    );
    server.get("/v1/memories?limit=6").assert_problem(400, "out_of_range");
    let save = |body: &str| server.ask("POST", "/v1/memories", &[], body.as_bytes());
    assert_eq!(save(r#"{"content": "a", "tags": ["b"]}"#).status, 201);
    save(r#"{"memories": [{"content": "a"}]}"#).assert_problem(400, "too_deep");
}

/// A server that can open so many files, however many it wants.
#[cfg(target_os = "linux")]
fn short_of_handles(tulving: &Tulving, handles: u64) -> Server {
    let server = Server::start(tulving);
    let id = rustix::process::Pid::from_raw(i32::try_from(server.id()).expect("small")).expect("a process");
    let limit = Rlimit { current: Some(handles), maximum: Some(handles) };
    rustix::process::prlimit(Some(id), Resource::Nofile, limit).expect("its owner may lower it");
    server
}

#[cfg(target_os = "linux")]
#[test]
fn a_crowd_that_takes_all_file_handles_keeps_nobody_out_and_leaves_nothing_broken() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Before the crowd"]);
    // About 17 are open before anybody comes.
    let server = short_of_handles(&tulving, 48);
    let crowd: Vec<TcpStream> = (0..150).map(|_| server.connect()).collect();
    server.says("the process cannot open more files");
    eventually("others are served while the crowd is there", || {
        let saved = json!({ "content": "During the crowd" }).to_string();
        server.ask("POST", "/v1/memories", &[], saved.as_bytes()).status == 201
    });
    drop(crowd);
    eventually("the crowd is gone", || value(&server, "tulving_http_connections") == Some(1.0));
    for number in 0..5 {
        let saved = json!({ "content": format!("After the crowd, number {number}") }).to_string();
        assert_eq!(server.ask("POST", "/v1/memories", &[], saved.as_bytes()).status, 201);
        let found = server.get("/v1/memories?contains=crowd&limit=100");
        assert_eq!(found.json()["data"]["memories"].as_array().expect("a list").len(), 3 + number);
        let asked = json!({ "query": "crowd" }).to_string();
        assert_eq!(server.ask("POST", "/v1/recall", &[], asked.as_bytes()).status, 200);
    }
}

#[test]
fn a_page_ends_where_its_contents_have_so_many_bytes_and_its_cursor_leads_on() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "limits.answer_bytes = 1000\n");
    for number in 0..12 {
        let saved = json!({ "content": format!("{number} {}", "x".repeat(300)) }).to_string();
        assert_eq!(server.ask("POST", "/v1/memories", &[], saved.as_bytes()).status, 201);
    }
    let saved = json!({ "content": format!("long {}", "y".repeat(5_000)) }).to_string();
    assert_eq!(server.ask("POST", "/v1/memories", &[], saved.as_bytes()).status, 201);
    for sort in ["newest", "importance"] {
        let (mut seen, mut pages, mut cursor) = (0, 0, String::new());
        loop {
            let page = server.get(&format!("/v1/memories?limit=100&sort={sort}{cursor}")).json();
            let memories = page["data"]["memories"].as_array().expect("a list").len();
            assert!((1..=4).contains(&memories), "{memories} on a page");
            (seen, pages) = (seen + memories, pages + 1);
            match page["data"]["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, 13, "{sort} in {pages} pages");
    }
}
