//! Servers and their clients: addresses, ports, requests, and the protocol by hand.

use serde_json::Value;

use crate::binary::{Transcript, Tulving, assert_transcript, finish};
use crate::serve::client::{Answer, Server, request};
use crate::shell::terminal::{CTRL_D, Terminal};

#[test]
fn an_address_that_cannot_be_listened_on_is_named() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    for address in ["7777", ":7777", "nonsense", "127.0.0.1:99999", "0.0.0.0:0"] {
        transcript.run(&["serve", "--listen", address]);
    }
    // An address of documentation, which no machine has.
    transcript.run(&["serve", "--listen", "203.0.113.5:7777", "--allow-remote"]);
    assert_transcript!(transcript.run(&["serve", "--space", "team"]));
}

#[test]
fn a_second_server_on_one_port_is_told_of_the_first_and_one_beside_it_is_fine() {
    let tulving = Tulving::new();
    let first = Server::start(&tulving);
    let address = first.address.to_string();
    let mut transcript = Transcript::new(&tulving);
    transcript.run(&["serve", "--listen", &address]);
    transcript.run(&["save", "I like tea"]);
    let text = transcript.text().replace(&address, "[address]");
    let filters = [(r"process \d+", "process [id]"), (r"kill \d+", "kill [id]")];
    insta::with_settings!({ filters => filters, omit_expression => true }, { insta::assert_snapshot!(text) });
    let second = Server::start(&tulving);
    for server in [&first, &second] {
        assert!(server.get("/v1/memories").text().contains("I like tea"));
    }
}

/// The names and values of headers.
type Headers<'a> = &'a [(&'a str, &'a str)];

/// The request and the answer, in readable form.
fn described(typed: &str, answer: &Answer) -> String {
    let body: Value = answer.json();
    let said = ["code", "detail", "hint", "field"].map(|name| match &body[name] {
        Value::Null => String::new(),
        value => format!("  {name}: {}\n", value.as_str().expect("text")),
    });
    format!("{typed}\n{}\n{}\n", answer.status, said.concat())
}

#[test]
fn wrong_requests_are_answered_with_what_is_right() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let bearer = format!("Bearer {}", server.token);
    let bare = server.token.clone();
    let mut text = String::new();
    let askers: &[(&str, Headers<'_>)] = &[
        ("GET /v1/memories without a token", &[]),
        ("GET /v1/memories with a token and no Bearer", &[("Authorization", bare.as_str())]),
        ("GET /v1/memories with a wrong token", &[("Authorization", "Bearer nope")]),
        ("GET /v1/memories of another host", &[("Authorization", &bearer), ("Host", "memory.example")]),
        ("GET /v1/memories of another space", &[("Authorization", &bearer), ("X-Tulving-Space", "nowhere")]),
    ];
    for (typed, headers) in askers {
        let answer = server.send(&request(server.address, "GET", "/v1/memories", headers, b""));
        text.push_str(&described(typed, &answer));
    }
    let json = ("Content-Type", "application/json");
    let asked: &[(&str, &str, Headers<'_>, &str)] = &[
        ("GET", "/", &[], ""),
        ("GET", "/memories", &[], ""),
        ("GET", "/v1/memory", &[], ""),
        ("PUT", "/v1/memories", &[], ""),
        ("GET", "/v1/recall", &[], ""),
        ("GET", "/mcp", &[], ""),
        ("POST", "/v1/memories", &[("Content-Type", "text/plain")], "I like tea"),
        ("POST", "/v1/memories", &[json], "{\"content\": \"I like tea\""),
        ("POST", "/v1/memories", &[json], "[]"),
        ("POST", "/v1/memories", &[json], "{}"),
        ("POST", "/v1/memories", &[json], "{\"content\": \"\"}"),
        ("POST", "/v1/memories", &[json], "{\"text\": \"I like tea\"}"),
        ("POST", "/v1/memories", &[json], "{\"content\": \"I like tea\", \"type\": \"drink\"}"),
        ("GET", "/v1/memories/abc", &[], ""),
        ("GET", "/v1/memories/99", &[], ""),
        ("GET", "/v1/memories?limit=0", &[], ""),
        ("GET", "/v1/memories?limit=many", &[], ""),
        ("GET", "/v1/memories?page=2", &[], ""),
        ("GET", "/v1/memories?since=2026-05-02&until=2026-05-01", &[], ""),
        ("GET", "/v1/dialects/klingon/tools", &[], ""),
        ("POST", "/v1/dialects/max/tools/remeber", &[json], "{}"),
        ("POST", "/v1/dialects/max/tools/remember", &[json], "{}"),
        ("POST", "/mcp/klingon", &[json], "{}"),
    ];
    for (method, path, headers, body) in asked {
        let answer = server.ask(method, path, headers, body.as_bytes());
        text.push_str(&described(format!("{method} {path} {body}").trim_end(), &answer));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(text) });
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn garbage_for_the_protocol_is_answered_and_the_end_of_it_is_an_end() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    transcript.run_with(&["mcp"], b"hello?\n");
    transcript.run_with(&["mcp"], b"\xff\xfe\n");
    transcript.run_with(&["mcp"], b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\"}\n");
    transcript.run_with(&["mcp"], b"");
    transcript.run(&["mcp", "--dialect", "klingon"]);
    assert_transcript!(transcript.run(&["mcp", "native"]));
}

#[test]
fn who_speaks_the_protocol_by_hand_is_told_that_a_client_does() {
    let tulving = Tulving::new();
    let mut terminal = Terminal::start(tulving.command(&["mcp"]), 100);
    terminal.sees("An MCP client starts this command and talks to it");
    terminal.sees("Ctrl-D ends this.");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends().code(), Some(0));
}

#[test]
fn an_output_that_nobody_reads_is_no_error_and_an_input_that_is_closed_is_empty() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "I like tea"]);
    let mut transcript = Transcript::new(&tulving);
    for script in [
        "\"$0\" dump - | head -c 1 > /dev/null",
        "\"$0\" list | true",
        "\"$0\" save - <&-",
        "\"$0\" save - < /dev/null",
        "\"$0\" list > /dev/full",
    ] {
        let run = finish(tulving.shell(script, &[]), b"");
        transcript.note(&format!("$ {}", script.replace("\"$0\"", "tulving")), &run);
    }
    assert_transcript!(transcript);
}
