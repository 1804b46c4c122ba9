//! The tools over HTTP: the same answers as everywhere, spaces, several at once.

use serde_json::{Value, json};

use super::client::{Answer, Server, request};
use crate::binary::Tulving;

#[test]
fn every_dialect_and_its_tools_are_listed_with_their_schemas() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let dialects = server.get("/v1/dialects").json();
    let names: Vec<&str> =
        dialects["data"].as_array().expect("a list").iter().filter_map(|d| d["name"].as_str()).collect();
    assert_eq!(names, ["native", "max", "memax", "groups", "maven", "spacebot"]);
    for dialect in names {
        let listed = server.get(&format!("/v1/dialects/{dialect}/tools"));
        assert_eq!(listed.header("content-type"), Some("application/json"));
        assert_eq!(listed.header("cache-control"), Some("no-store"));
        assert_eq!(listed.json()["data"], tulving.json(&["tool", dialect]), "{dialect}");
    }
}

#[test]
fn a_tool_answers_as_it_does_on_the_command_line() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for (category, content) in [
        ("preference", "Prefers TypeScript over JavaScript"),
        ("project", "The API retries \"failed\" requests — five times\nand then gives up"),
        ("person", "Ж and 日本語 and 🦀"),
    ] {
        let said = server.tool("max", "remember", &json!({ "category": category, "content": content }));
        assert!(said["text"].as_str().expect("text").starts_with("Remembered"), "{said}");
    }
    for (dialect, tool, arguments) in [
        // First of all, because it shows how often each was recalled. What finds nothing uses nothing, and so may be asked twice.
        ("memax", "memax_list", json!({})),
        ("spacebot", "memory_recall", json!({ "mode": "typed", "memory_type": "todo" })),
        ("max", "recall", json!({})),
        ("max", "recall", json!({ "keyword": "requests" })),
        ("max", "remember", json!({ "category": "person", "content": "Ж and 日本語 and 🦀" })),
        ("groups", "list_memories", json!({})),
        ("groups", "recall_memories", json!({ "query": "TypeScript" })),
        ("memax", "memax_hubs", json!({})),
        ("native", "context", json!({})),
    ] {
        let over_http = server.call(dialect, tool, &[], &arguments);
        let typed = tulving.ok(&["tool", dialect, tool, &arguments.to_string()]);
        let typed = typed.strip_suffix('\n').expect("a line");
        assert_eq!(over_http.status, 200, "{}", over_http.text());
        match over_http.json()["data"].get("text").and_then(Value::as_str).filter(|_| dialect != "native") {
            Some(text) => assert_eq!(text, typed, "{dialect} {tool}"),
            None if typed.starts_with('{') => {
                assert_eq!(over_http.text(), format!("{{\"data\":{typed}}}"), "{dialect} {tool}");
            }
            None => assert_eq!(over_http.json()["data"]["text"], typed, "{dialect} {tool}"),
        }
    }
    for (dialect, tool, arguments) in [
        ("max", "recall", json!({ "keyword": 5 })),
        ("native", "update", json!({ "id": "#99", "content": "x" })),
        ("memax", "memax_get", json!({ "id": "mem_nothing" })),
    ] {
        let (refused, _) = tulving.json_error(&["tool", dialect, tool, &arguments.to_string()]);
        let over_http = server.call(dialect, tool, &[], &arguments).json();
        assert_eq!(over_http["code"], refused["code"], "{over_http}");
        assert_eq!(over_http["detail"], refused["message"], "{over_http}");
    }
}

#[test]
fn who_asks_and_where_comes_from_the_request() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "work"]);
    let made = tulving.json(&[
        "token", "create", "--for", "helper", "--kind", "agent", "--space", "work", "--role", "writer",
    ]);
    let helper = format!("Bearer {}", made["token"].as_str().expect("a token"));
    let server = Server::start(&tulving);
    let save = |text: &str| json!({ "category": "fact", "content": text });
    for (at, header) in [[("X-Hub-ID", "work")], [("x-tulving-space", "work")]].iter().enumerate() {
        let answer = server.call("max", "remember", header, &save(&format!("the work has part {at}")));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let path = "/v1/dialects/max/tools/remember?space=work";
    assert_eq!(
        server.ask("POST", path, &[], save("the work has another part").to_string().as_bytes()).status,
        200
    );
    assert_eq!(tulving.all_ids("work").len(), 3);
    assert!(tulving.all_ids("default").is_empty());
    // A confined token needs to name no space, and sees no other.
    let ask = |space: Option<&str>, body: &Value| {
        let mut headers = vec![("Authorization", helper.as_str()), ("X-Tulving-Agent", "robot 7")];
        headers.push(("X-Request-Id", "the-same"));
        headers.extend(space.map(|space| ("X-Tulving-Space", space)));
        let path = "/v1/dialects/max/tools/remember";
        server.send(&request(server.address, "POST", path, &headers, body.to_string().as_bytes()))
    };
    assert_eq!(ask(None, &save("the helper was here")).status, 200);
    let hidden =
        ask(Some("default"), &save("the helper was elsewhere")).assert_problem(404, "space_not_found");
    let absent =
        ask(Some("defaulu"), &save("the helper was elsewhere")).assert_problem(404, "space_not_found");
    assert_eq!(hidden.to_string().replace("default", "defaulu"), absent.to_string());
    let saved = tulving.json(&["list", "--space", "work"]);
    let newest = &saved["memories"][0];
    assert_eq!(
        (&newest["content"], &newest["source_agent"]),
        (&json!("the helper was here"), &json!("robot 7"))
    );
    assert_eq!(newest["source"], "api");
}

#[test]
fn several_clients_save_at_once_and_each_gets_its_own_answer() {
    const CLIENTS: usize = 8;
    const SAVES: usize = 12;
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let server = &server;
            scope.spawn(move || {
                for at in 0..SAVES {
                    let content = format!("client {client} says number {at}");
                    let said =
                        server.tool("max", "remember", &json!({ "category": "fact", "content": content }));
                    assert!(said["text"].as_str().expect("text").contains(&content), "{said}");
                }
            });
        }
    });
    assert_eq!(tulving.all_ids("default").len(), CLIENTS * SAVES);
    server.stop();
    tulving.assert_healthy();
}

#[test]
fn one_connection_carries_many_requests() {
    use std::io::Write as _;
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let mut stream = server.connect();
    let one = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(format!("{one}{one}{last}").as_bytes()).expect("sent");
    let all = Answer::read(&mut stream).text();
    assert_eq!(all.matches("\"status\":\"ok\"").count(), 3, "{all}");
}
