//! The content of the log, and content that must never be in it.

use serde_json::{Value, json};

use super::client::{Server, request};
use crate::binary::Tulving;

/// In everything that a client writes, and in nothing that is logged.
const CANARY: &str = "kanarienvogel";

fn lines(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn a_request_is_one_line_with_who_what_and_how_long() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "log.format = \"json\"\n");
    server.tool("max", "recall", &json!({ "keyword": "kettle" }));
    let answer = server.ask("GET", "/nowhere?a=b", &[("X-Request-Id", "mine.1")], b"");
    assert_eq!(answer.header("x-request-id"), Some("mine.1"));
    let wrong = server.send(&request(server.address, "BREW", "/healthz", &[], b""));
    assert_eq!(wrong.status, 405);
    let fresh = wrong.header("x-request-id").expect("an id").to_owned();
    let log = lines(&server.stop());
    let said: Vec<&str> = log.iter().filter_map(|line| line["message"].as_str()).collect();
    assert_eq!(said, ["started", "request", "request", "request", "stopping", "stopped"]);
    let [tool, nowhere, brew] = [&log[1], &log[2], &log[3]];
    assert_eq!((&tool["method"], &tool["status"]), (&json!("POST"), &json!(200)));
    assert_eq!(tool["route"], "/v1/dialects/{dialect}/tools/{tool}");
    assert!(tool["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{tool}");
    assert!(tool["principal"].as_str().is_some_and(|id| id.len() == 36), "{tool}");
    assert!(tool["peer"].as_str().is_some_and(|peer| peer.starts_with("127.0.0.1:")), "{tool}");
    assert_eq!(
        (&nowhere["route"], &nowhere["id"], &nowhere["status"]),
        (&json!("none"), &json!("mine.1"), &json!(404))
    );
    assert_eq!(nowhere.get("principal"), None, "nobody was asked who they are");
    assert_eq!(
        (&brew["method"], &brew["id"], &brew["status"]),
        (&json!("other"), &json!(fresh), &json!(405))
    );
}

#[test]
fn nothing_that_a_client_writes_is_in_it() {
    let tulving = Tulving::new();
    for format in ["text", "json"] {
        let server = Server::start_with(&tulving, |command| {
            command.env("TULVING_LOG", "debug").env("TULVING_LOG_FORMAT", format);
        });
        let body = json!({ "category": "fact", "content": format!("the {CANARY} sings"), CANARY: 1 });
        server.tool(
            "max",
            "remember",
            &json!({ "category": "fact", "content": format!("the {CANARY} sings") }),
        );
        server.call("max", "remember", &[], &body);
        server.call("max", "recall", &[("X-Tulving-Agent", CANARY)], &json!({ "keyword": CANARY }));
        server.call("max", "recall", &[("X-Tulving-Space", CANARY)], &json!({}));
        server.call("max", CANARY, &[], &json!({}));
        server.get(&format!("/{CANARY}?q={CANARY}"));
        server.get(&format!("/v1/dialects?space={CANARY}"));
        let wrong = format!("Bearer {CANARY}");
        server.send(&request(server.address, "GET", "/v1/dialects", &[("Authorization", &wrong)], b""));
        let strange = [
            ("X-Request-Id", "kanarien vogel"),
            ("Host", "kanarienvogel.example"),
            ("Origin", "https://kanarienvogel.example"),
        ];
        server.ask("GET", "/healthz", &strange, b"");
        let call = json!({ "jsonrpc": "2.0", "id": CANARY, "method": "tools/call", "params": {
            "name": "save", "arguments": { "content": format!("{CANARY} again") } } });
        let headers =
            [("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];
        server.ask("POST", "/mcp", &headers, call.to_string().as_bytes());
        server.ask("POST", "/mcp", &headers, format!("{{\"{CANARY}").as_bytes());
        server.send(format!("{CANARY} / HTTP/1.1\r\n{CANARY}\r\n\r\n").as_bytes());
        let token = server.token.clone();
        let log = server.stop();
        assert!(log.lines().count() > 10, "{log}");
        for hidden in [CANARY, "kanarien vogel", &token, "Bearer"] {
            assert!(!log.contains(hidden), "{format}: `{hidden}` in {log}");
        }
    }
}

#[test]
fn it_says_as_much_as_the_level_lets_it() {
    let tulving = Tulving::new();
    for (level, said) in [("off", 0), ("error", 0), ("warn", 0), ("info", 4)] {
        let server = Server::start_with(&tulving, |command| {
            command.env("TULVING_LOG", level);
        });
        assert_eq!(server.get("/healthz").status, 200);
        let log = server.stop();
        assert_eq!(log.lines().count(), said, "{level}: {log}");
    }
    let run = crate::binary::finish(
        {
            let mut command = tulving.command(&["serve"]);
            command.env("TULVING_LOG", "loud");
            command
        },
        b"",
    );
    assert_eq!(run.code, 2, "{}", run.err);
}

/// A server whose standard error nobody reads, as some programs start one.
#[test]
fn a_log_that_nobody_reads_holds_nobody_up() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    let tulving = Tulving::new();
    let mut command = tulving.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a document");
    let document: Value = serde_json::from_str(&line).expect("one document");
    let address =
        document["url"].as_str().expect("an address").strip_prefix("http://").expect("HTTP").to_owned();
    let address = address.parse().expect("an address");
    // Much more than a pipe holds.
    let last = String::from_utf8(request(address, "GET", "/healthz", &[], b"")).expect("text");
    let many = last.replace("Connection: close\r\n", "").repeat(99) + &last;
    for _ in 0..100 {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(super::client::PATIENCE)).expect("set");
        stream.write_all(many.as_bytes()).expect("sent");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("answers");
        assert_eq!(said.matches("HTTP/1.1 200 OK").count(), 100, "all are answered");
    }
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it runs");
    assert!(child.wait().expect("it ends").success());
}
