//! The start and the stop of the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Answer, Server, request};
use crate::binary::Tulving;

#[test]
fn it_says_where_it_listens_and_how_to_connect() {
    let tulving = Tulving::new();
    let mut child = tulving
        .command(&["serve", "--listen", "localhost:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines =
        BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    let said: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("Ctrl-C")).collect();
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it runs");
    assert_eq!(lines.count(), 0);
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.status.success());
    let log = String::from_utf8_lossy(&ended.stderr);
    let log: Vec<&str> =
        log.lines().filter_map(|line| line.split_once(" INFO ").map(|line| line.1)).collect();
    assert!(
        matches!(log[..], [started, stopping, "stopped"]
        if started.starts_with("started address=127.0.0.1:") && stopping.starts_with("stopping")),
        "{log:?}"
    );
    let port = said[0].strip_prefix("Tulving listens on http://127.0.0.1:").expect("the address").to_owned();
    let said =
        said.join("\n").replace(&port, "[port]").replace(&tulving.folder().display().to_string(), "[folder]");
    let token = std::fs::read_to_string(tulving.home().join("api-token")).expect("made");
    assert!(!said.contains(token.trim()), "the token itself is not shown");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(said) });
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_do() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let address = server.address.to_string();
    let run = tulving.run(&["serve", "--listen", &address]);
    assert_eq!((run.code, run.out.as_str()), (4, ""));
    assert_eq!(
        run.err,
        format!(
            "error: {address} is taken by tulving (process {id}), which serves {}\n  hint: stop it with `kill {id}`, or \
             choose another port with --listen 127.0.0.1:7778\n",
            tulving.home().display(),
            id = server.id()
        )
    );
    assert_eq!(server.get("/healthz").status, 200);
    drop(server);
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (error, code) =
        tulving.json_error(&["serve", "--listen", &other.local_addr().expect("an address").to_string()]);
    assert_eq!((code, error["code"].as_str()), (4, Some("address_taken")), "{error}");
    let message = error["message"].as_str().expect("text");
    assert!(message.ends_with(&format!("(process {})", std::process::id())), "{message}");
}

#[test]
fn other_machines_are_let_in_only_where_that_is_said() {
    let tulving = Tulving::new();
    let (error, code) = tulving.json_error(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!((code, error["code"].as_str()), (2, Some("usage")), "{error}");
    assert!(error["hint"].as_str().expect("a hint").contains("--allow-remote"), "{error}");
    for flags in [&["--space", "work"], &["--agent", "robot"], &["--listen", "somewhere"]] {
        let run = tulving.run(&[&["serve"], &flags[..]].concat());
        assert_eq!(run.code, 2, "{}", run.err);
    }
    let server = Server::start_with(&tulving, |command| {
        command.args(["--allow-remote"]);
    });
    assert!(!server.stop().contains("other machines"), "loopback is nothing to warn of");
    let mut everywhere = tulving.command(&["serve", "--listen", "0.0.0.0:0", "--allow-remote"]);
    let mut child = everywhere.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut warned = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut warned).expect("text");
    let _ = child.kill();
    child.wait().expect("it ends");
    assert!(warned.starts_with("warning: other machines can reach this server"), "{warned}");
}

#[test]
fn a_stop_in_the_middle_of_saves_loses_nothing_that_was_acknowledged() {
    const CLIENTS: usize = 6;
    let tulving = Tulving::new();
    let acknowledged = Mutex::new(Vec::new());
    for round in 0..5 {
        let server = Server::start(&tulving);
        let bodies = |client: usize, at: usize| {
            let content = format!("round {round} client {client} memory {at}");
            (json!({ "category": "fact", "content": content }).to_string(), content)
        };
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (server, acknowledged) = (&server, &acknowledged);
                scope.spawn(move || {
                    for at in 0.. {
                        let (body, content) = bodies(client, at);
                        let Some(answer) = save(server, &body) else { return };
                        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                        acknowledged.lock().expect("whole").push(content);
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(150 + 40 * round));
            server.signal();
        });
        server.ended();
    }
    let acknowledged = acknowledged.into_inner().expect("whole");
    let page = tulving.json(&["list", "--all"]);
    let there: std::collections::HashSet<&str> =
        page["memories"].as_array().expect("a list").iter().filter_map(|m| m["content"].as_str()).collect();
    for content in &acknowledged {
        assert!(there.contains(content.as_str()), "`{content}` was acknowledged and is gone");
    }
    assert!(acknowledged.len() > 20, "only {} were acknowledged", acknowledged.len());
    tulving.assert_healthy();
}

/// The whole answer to a save; none where the server was no longer there.
fn save(server: &Server, body: &str) -> Option<String> {
    use std::io::Read as _;
    let mut stream = std::net::TcpStream::connect(server.address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let token = format!("Bearer {}", server.token);
    let path = "/v1/dialects/max/tools/remember";
    let bytes = request(server.address, "POST", path, &[("Authorization", &token)], body.as_bytes());
    stream.write_all(&bytes).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    (!answer.is_empty()).then_some(answer)
}

#[test]
fn what_was_recalled_is_counted_when_it_stops() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "The kettle is in the left cupboard"]);
    let server = Server::start(&tulving);
    server.tool("native", "recall", &json!({ "query": "kettle" }));
    server.stop();
    assert_eq!(tulving.json(&["list"])["memories"][0]["access_count"], 1);
}

#[test]
fn an_idle_or_half_asked_connection_does_not_keep_it_from_stopping() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let idle = server.connect();
    let mut half = server.connect();
    half.write_all(b"GET /healthz HT").expect("sent");
    assert_eq!(server.get("/healthz").status, 200);
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop((idle, half));
}

/// A server whose model is a service that takes connections and never says anything, so that a save takes a while.
fn slow(tulving: &Tulving, silent: &TcpListener, seconds: &str) -> Server {
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    Server::start_with(tulving, |command| {
        command.env("TULVING_EMBEDDING_PROVIDER", "ollama").env("TULVING_EMBEDDING_BASE_URL", &url);
        command.env("TULVING_EMBEDDING_MODEL", "silent").env("TULVING_EMBEDDING_TIMEOUT_SECONDS", "2");
        command.env("TULVING_SERVER_TIMEOUT_SECONDS", seconds);
    })
}

/// Asks for a save, and does not wait for it.
fn begin_save(server: &Server, content: &str) -> std::net::TcpStream {
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let body = json!({ "category": "fact", "content": content }).to_string();
    let path = "/v1/dialects/max/tools/remember";
    let bytes = request(server.address, "POST", path, &[("Authorization", &token)], body.as_bytes());
    stream.write_all(&bytes).expect("sent");
    stream
}

#[test]
fn what_is_in_flight_when_it_stops_is_answered() {
    let tulving = Tulving::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = slow(&tulving, &silent, "60");
    let mut stream = begin_save(&server, "it was asked before the stop");
    // The service was called, so the save is being done.
    let called = silent.accept().expect("called");
    server.signal();
    let answer = Answer::read(&mut stream);
    assert_eq!(answer.status, 200, "{}", answer.text());
    server.ended();
    drop(called);
    assert_eq!(tulving.all_ids("default").len(), 1);
}

#[test]
fn what_takes_too_long_is_answered_in_time_and_still_goes_to_its_end() {
    let tulving = Tulving::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = slow(&tulving, &silent, "1");
    let answer = Answer::read(&mut begin_save(&server, "it was slow and was saved"));
    answer.assert_problem(503, "timeout");
    assert_eq!(answer.header("retry-after"), Some("1"));
    server.stop();
    assert_eq!(tulving.all_ids("default").len(), 1);
}

#[test]
fn an_answer_that_is_being_read_when_it_stops_is_read_to_its_end() {
    let tulving = Tulving::new();
    for word in ["one", "two", "three", "four", "five"] {
        tulving.run_with(&["save", "-"], format!("{word} ").repeat(2_900_000 / (word.len() + 1)).as_bytes());
    }
    let server = Server::configured(&tulving, "limits.answer_bytes = 20000000\n");
    let mut stream = server.connect();
    let token = format!("Bearer {}", server.token);
    let bytes = request(server.address, "GET", "/v1/memories", &[("Authorization", &token)], b"");
    stream.write_all(&bytes).expect("sent");
    // It is more than fits between the two, so the server waits for its reader.
    server.says("status=200");
    server.signal();
    server.says("stopping");
    std::thread::sleep(Duration::from_secs(2));
    let answer = Answer::read(&mut stream);
    let length: usize = answer.header("content-length").expect("a length").parse().expect("a number");
    assert!(length > 14_000_000, "{length}");
    assert_eq!(answer.body.len(), length);
    server.ended();
}
