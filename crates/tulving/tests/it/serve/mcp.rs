//! The Model Context Protocol over HTTP, in its revisions, by requests that are written by hand.

use serde_json::{Value, json};

use super::client::{Answer, Server};
use crate::binary::{Tulving, uuid_of};

const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("Content-Type", "application/json");
const OLD: (&str, &str) = ("MCP-Protocol-Version", "2025-11-25");
const NEW: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

fn post(server: &Server, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    server.ask("POST", path, &[&[BOTH, JSON], headers].concat(), body.to_string().as_bytes())
}

/// A message of the older revision, after the session has begun.
fn old(server: &Server, path: &str, session: &str, method: &str, params: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let answer = post(server, path, &[OLD, ("Mcp-Session-Id", session)], &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    answer.json()
}

/// A message of the newer revision, which stands by itself.
fn new(server: &Server, path: &str, headers: &[(&str, &str)], method: &str, params: Value) -> Answer {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "stateless-client", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut all = vec![NEW, ("Mcp-Method", method)];
    all.extend((!name.is_empty()).then_some(("Mcp-Name", name.as_str())));
    post(server, path, &[&all, headers].concat(), &body)
}

fn begin(server: &Server, path: &str, client: &str) -> (Value, String) {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": client, "version": "1" },
    });
    let answer = post(
        server,
        path,
        &[],
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
    );
    assert_eq!(answer.status, 200, "{}", answer.text());
    let session = answer.header("mcp-session-id").expect("a session").to_owned();
    let described = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(server, path, &[OLD, ("Mcp-Session-Id", &session)], &described).status, 202);
    (answer.json()["result"].clone(), session)
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn a_client_of_the_revision_2025_11_25_is_served() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let (began, session) = begin(&server, "/mcp/max", "old-client");
    assert_eq!(began["protocolVersion"], "2025-11-25");
    assert_eq!(began["serverInfo"]["name"], "tulving");
    assert!(began["instructions"].as_str().is_some_and(|text| text.contains("remember")), "{began}");
    let listed = old(&server, "/mcp/max", &session, "tools/list", &json!({}));
    assert_eq!(names(&listed), ["remember", "recall", "forget"]);
    let arguments = json!({ "category": "fact", "content": "The older revision is spoken" });
    let called = old(
        &server,
        "/mcp/max",
        &session,
        "tools/call",
        &json!({ "name": "remember", "arguments": arguments }),
    );
    let text = called["result"]["content"][0]["text"].as_str().expect("text");
    assert!(text.starts_with("Remembered"), "{called}");
    // The same through the command line and in the other revision.
    let recalled =
        old(&server, "/mcp/max", &session, "tools/call", &json!({ "name": "recall", "arguments": {} }));
    let typed = tulving.ok(&["tool", "max", "recall"]);
    assert_eq!(recalled["result"]["content"][0]["text"], typed.trim_end_matches('\n'));
    let newer =
        new(&server, "/mcp/max", &[], "tools/call", json!({ "name": "recall", "arguments": {} })).json();
    assert_eq!(newer["result"]["content"][0]["text"], recalled["result"]["content"][0]["text"]);
    // Its name came with the first request, and is kept with what it saved by the third.
    let saved = &tulving.json(&["list"])["memories"][0];
    assert_eq!((&saved["source_agent"], &saved["source"]), (&json!("old-client"), &json!("mcp")));
}

#[test]
fn clients_of_older_revisions_are_served_in_their_own() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": revision, "version": "1" },
        });
        let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let began = post(&server, "/mcp/max", &[], &begin);
        assert_eq!(began.json()["result"]["protocolVersion"], revision, "{}", began.text());
        let session = began.header("mcp-session-id").expect("a session").to_owned();
        let arguments = json!({ "category": "fact", "content": format!("Said in {revision}") });
        let params = json!({ "name": "remember", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        // Those before 2025-06-18 do not say with each request which they speak.
        let named = [("MCP-Protocol-Version", revision), ("Mcp-Session-Id", &session)];
        let headers = if revision < "2025-06-18" { &named[1..] } else { &named };
        let called = post(&server, "/mcp/max", headers, &call).json();
        let text = called["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("Remembered"), "{called}");
        assert_eq!(tulving.json(&["list"])["memories"][0]["source_agent"], revision);
    }
}

#[test]
fn a_client_of_the_revision_2026_07_28_is_served_without_a_session() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let found = new(&server, "/mcp", &[], "server/discover", json!({}));
    assert_eq!(found.status, 200, "{}", found.text());
    let versions = found.json()["result"]["supportedVersions"].clone();
    let spoken = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(versions, spoken, "{}", found.text());
    let listed = new(&server, "/mcp", &[], "tools/list", json!({}));
    assert_eq!(
        names(&listed.json()),
        [
            "save",
            "recall",
            "list",
            "update",
            "forget",
            "done",
            "associate",
            "context",
            "log_turn",
            "archive_conversation"
        ]
    );
    assert_eq!(listed.header("mcp-session-id"), None);
    let save = |text: &str| json!({ "name": "save", "arguments": { "memories": [{ "content": text, "type": "preference" }] } });
    let called = new(&server, "/mcp", &[], "tools/call", save("The newer revision is spoken")).json();
    assert_eq!(called["result"]["isError"], json!(false), "{called}");
    assert!(called["result"]["structuredContent"].is_object(), "{called}");
    let named = [("X-Tulving-Agent", "named by header")];
    new(&server, "/mcp", &named, "tools/call", save("A header names the agent too"));
    let saved = tulving.json(&["list"]);
    let agents: Vec<&Value> = [1, 0].map(|at| &saved["memories"][at]["source_agent"]).to_vec();
    assert_eq!(agents, [&json!("stateless-client"), &json!("named by header")]);
    let context = new(
        &server,
        "/mcp",
        &[("Mcp-Name", "memory://context")],
        "resources/read",
        json!({ "uri": "memory://context" }),
    );
    assert!(context.text().contains("The newer revision is spoken"), "{}", context.text());
}

#[test]
fn the_server_may_be_started_anew_in_the_middle_of_a_session() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let (_, session) = begin(&server, "/mcp", "patient");
    server.stop();
    let server = Server::start(&tulving);
    let call = json!({ "name": "save", "arguments": { "memories": [{ "content": "It went on" }] } });
    old(&server, "/mcp", &session, "tools/call", &call);
    assert_eq!(tulving.json(&["list"])["memories"][0]["source_agent"], "patient");
}

#[test]
fn a_session_id_gives_no_right_to_anything() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "Only the user may see this"]);
    let made = tulving.json(&["token", "create", "--for", "stranger", "--kind", "agent"]);
    let stranger = format!("Bearer {}", made["token"].as_str().expect("a token"));
    let server = Server::start(&tulving);
    let (_, session) = begin(&server, "/mcp/max", "client");
    let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "recall", "arguments": {} } });
    let ask = |token: &str| {
        let headers = [BOTH, JSON, OLD, ("Mcp-Session-Id", &session), ("Authorization", token)];
        let address = server.address;
        server.send(&super::client::request(
            address,
            "POST",
            "/mcp/max",
            &headers,
            body.to_string().as_bytes(),
        ))
    };
    let own = format!("Bearer {}", server.token);
    assert!(ask(&own).text().contains("Only the user"));
    let others = ask(&stranger);
    assert!(!others.text().contains("Only the user"), "{}", others.text());
    ask("Bearer nonsense").assert_problem(401, "bad_token");
}

#[test]
fn what_is_no_message_is_an_error_of_the_protocol() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let send = |body: &[u8]| server.ask("POST", "/mcp", &[BOTH, JSON, OLD], body);
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"\xff\"}", -32700),
        (b"[]", -32600),
        (b"{\"hello\": 1}", -32600),
    ] {
        let answer = send(body);
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert_eq!(answer.json()["error"]["code"], code, "{}", answer.text());
        assert_eq!(answer.json().get("id"), Some(&Value::Null), "{}", answer.text());
    }
    let deep = [b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": ".to_vec(), vec![b'['; 100_000]].concat();
    assert_eq!(send(&deep).json()["error"]["code"], -32700);
    let unknown = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "fly" } });
    assert_eq!(post(&server, "/mcp", &[OLD], &unknown).json()["error"]["code"], -32602);
    let wrong = json!({ "name": "save", "arguments": { "contents": "x" } });
    let refused = old(&server, "/mcp", "", "tools/call", &wrong);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(tulving.all_ids("default").is_empty());
}

#[test]
fn wrong_params_are_told_from_an_unknown_method_in_both_revisions() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let ask = |revision, method: &str, rest: &str| {
        let body = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"{method}"{rest}}}"#);
        server.ask("POST", "/mcp", &[BOTH, JSON, revision, ("Mcp-Method", method)], body.as_bytes())
    };
    for (method, rest, code, part) in [
        ("tools/call", "", -32602, "missing field `params`"),
        ("tools/call", r#","params":{"name":"save","arguments":[1]}"#, -32602, "`params.arguments`"),
        ("tools/call", r#","params":{"name":"a","name":"b"}"#, -32602, "duplicate field `name`"),
        ("initialize", r#","params":{"protocolVersion":5}"#, -32602, "`params.protocolVersion`"),
        ("no/such", "", -32601, "there is no method `no/such` here"),
        (
            "logging/setLevel",
            r#","params":{"level":"info"}"#,
            -32601,
            "there is no method `logging/setLevel` here",
        ),
    ] {
        for (revision, status) in [(OLD, 200), (NEW, if code == -32601 { 404 } else { 400 })] {
            let answer = ask(revision, method, rest);
            assert_eq!(answer.status, status, "{}", answer.text());
            assert_eq!(answer.header("content-type"), Some("application/json"));
            let document = answer.json();
            assert_eq!(
                (&document["id"], &document["error"]["code"]),
                (&json!(3), &json!(code)),
                "{document}"
            );
            assert!(
                document["error"]["message"].as_str().is_some_and(|said| said.contains(part)),
                "{document}"
            );
        }
    }
}

#[test]
fn what_cannot_be_spoken_is_a_problem_with_a_code() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let ask = |headers: &[(&str, &str)]| server.ask("POST", "/mcp", headers, list.to_string().as_bytes());
    let revision = ask(&[BOTH, JSON, ("MCP-Protocol-Version", "1999-01-01")]);
    let problem = revision.assert_problem(400, "unsupported_protocol_version");
    assert!(problem["detail"].as_str().is_some_and(|said| said.contains("1999-01-01")), "{problem}");
    assert!(
        problem["hint"].as_str().is_some_and(|said| said.contains("2026-07-28, 2025-11-25, 2025-06-18")),
        "{problem}"
    );
    ask(&[JSON, OLD]).assert_problem(406, "not_acceptable");
    ask(&[("Accept", "application/json"), JSON, OLD]).assert_problem(406, "not_acceptable");
    ask(&[BOTH, ("Content-Type", "text/plain"), OLD]).assert_problem(415, "not_json");
}

#[test]
fn a_memory_is_read_by_whatever_names_it() {
    let tulving = Tulving::new();
    let id = tulving.json(&["save", "Is called Ada"])["id"].as_str().expect("an id").to_owned();
    let plain = uuid_of(&id);
    let server = Server::start(&tulving);
    for name in ["#1", "1", "%231", &id, &plain] {
        let read = old(&server, "/mcp", "", "resources/read", &json!({ "uri": format!("memory://{name}") }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        assert!(text.contains("Is called Ada"), "{read}");
    }
}

#[test]
fn the_name_of_a_client_is_cleaned_before_it_is_kept() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let (_, session) = begin(&server, "/mcp", "a\u{7}b\u{1b}\u{202e}c");
    let call = json!({ "name": "save", "arguments": { "memories": [{ "content": "Said by somebody" }] } });
    old(&server, "/mcp", &session, "tools/call", &call);
    // A session id may be written by hand.
    let crafted = "client-611be280ae62"; // a, escape, right-to-left override, b
    let call = json!({ "name": "save", "arguments": { "memories": [{ "content": "Said by another" }] } });
    old(&server, "/mcp", crafted, "tools/call", &call);
    let saved = tulving.json(&["list"]);
    let agents: Vec<&Value> = [1, 0].map(|at| &saved["memories"][at]["source_agent"]).to_vec();
    assert_eq!(agents, [&json!("a b c"), &json!("a b")]);
}
