//! Settings that change while it runs.

use std::io::Write as _;

use rustix::process::Signal;
use serde_json::json;

use super::client::{Answer, Server, eventually};
use crate::binary::Tulving;

const REREAD: &str = "the configuration was reloaded";

fn body_of(server: &Server, bytes: usize) -> u16 {
    let body = json!({ "category": "fact", "content": "x".repeat(bytes) });
    server.call("max", "remember", &[], &body).status
}

#[test]
fn a_change_of_the_file_holds_for_what_is_asked_from_then_on() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let mut kept = server.connect();
    assert_eq!(body_of(&server, 1_000), 200);
    tulving.configure("[server]\nmax_body_bytes = 500\n[log]\nformat = \"json\"\n");
    server.says(&format!("\"message\":\"{REREAD}\""));
    assert_eq!(body_of(&server, 1_000), 413);
    let authorization = format!("Authorization: Bearer {}\r\n", server.token);
    let body = "x".repeat(1_000);
    let save = format!(
        "POST /v1/dialects/max/tools/remember HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{authorization}\
         Content-Length: 1000\r\n\r\n{body}"
    );
    kept.write_all(save.as_bytes()).expect("sent");
    assert_eq!(Answer::read(&mut kept).status, 413, "also on a connection from before");
    std::fs::remove_file(tulving.home().join("config.toml")).expect("removed");
    eventually("the defaults hold again", || body_of(&server, 1_000) == 200);
}

#[test]
fn a_signal_reads_it_again_also_where_nothing_has_changed() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    assert_eq!(server.get("/healthz").status, 200);
    server.send_signal(Signal::HUP);
    server.says(REREAD);
    assert_eq!(server.get("/healthz").status, 200);
    server.stop();
}

#[test]
fn a_bad_file_is_said_once_and_the_old_settings_go_on() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.max_body_bytes = 500\n");
    let wrong = "config.toml:2: there is no setting `server.max_bodies`";
    tulving.configure("[server]\nmax_bodies = 5\n");
    server.says(wrong);
    // Another change is another matter, so by then the first was looked at for long enough.
    tulving.configure("server.max_body_bytes = \n");
    server.says("config.toml:1: ");
    assert_eq!(body_of(&server, 1_000), 413, "the one of before goes on");
    tulving.configure("server.max_body_bytes = 5000\n");
    eventually("a good one holds", || body_of(&server, 1_000) == 200);
    let log = server.stop();
    assert_eq!(log.matches(wrong).count(), 1, "{log}");
    assert_eq!(log.matches("cannot be used; the old one stays in use").count(), 2, "{log}");
}

#[test]
fn what_cannot_change_while_it_runs_is_said() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    tulving.configure("[store]\nreaders = 7\n[server]\nrequests_per_minute = 2\n");
    server.says("has changed; it takes effect when the server is restarted setting=\"store.readers\"");
    let statuses: Vec<u16> = (0..3).map(|_| server.get("/v1/dialects").status).collect();
    assert_eq!(statuses, [200, 200, 429]);
    assert!(!server.log().contains("setting=\"server."));
}

#[test]
fn the_log_and_the_bound_on_connections_follow_too() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    tulving.configure("[server]\nmax_connections = 1\n[log]\nlevel = \"warn\"\n");
    // One that has shown a valid token is not dropped for another.
    let mut held = server.connect();
    let token = &server.token;
    let known =
        format!("GET /v1/dialects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    held.write_all(known.as_bytes()).expect("sent");
    eventually("the bound holds", || {
        let mut stream = server.connect();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        Answer::read(&mut stream).status == 503
    });
    drop(held);
    eventually("there is room again", || {
        let mut stream = server.connect();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        Answer::read(&mut stream).status == 200
    });
    assert!(!server.stop().contains("stopped"), "that is said on another level");
}
