//! Pages of other sites, and names of this one.

use super::client::Server;
use crate::binary::Tulving;

const RECALL: &str = "/v1/dialects/max/tools/recall";
const APP: &str = "https://app.example";

#[test]
fn a_page_of_a_site_that_is_named_may_call_and_no_other() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, &format!("server.cors_origins = [\"{APP}\"]\n"));
    let ask = |method: &str, path: &str, headers: &[(&str, &str)]| server.ask(method, path, headers, b"");
    let question = [
        ("Origin", APP),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
    ];
    for path in [RECALL, "/mcp", "/healthz"] {
        let answer = ask("OPTIONS", path, &question);
        assert_eq!(answer.status, 204, "{}", answer.text());
        assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
        assert!(answer.header("access-control-allow-methods").expect("methods").contains("POST"));
        let headers = answer.header("access-control-allow-headers").expect("headers");
        assert!(headers.contains("authorization") && headers.contains("content-type"), "{headers}");
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert_eq!(answer.header("vary"), Some("origin"));
    }
    let answer = ask("POST", RECALL, &[("Origin", APP)]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
    assert!(answer.header("access-control-expose-headers").expect("headers").contains("x-request-id"));
    // A page may also read why it was refused.
    let refused = ask("POST", RECALL, &[("Origin", APP), ("X-Tulving-Space", "elsewhere")]);
    refused.assert_problem(404, "space_not_found");
    assert_eq!(refused.header("access-control-allow-origin"), Some(APP));
    let plain = ask("POST", RECALL, &[]);
    assert_eq!((plain.status, plain.header("access-control-allow-origin")), (200, None));
    assert_eq!(plain.header("vary"), Some("origin"));
    for origin in [
        "http://app.example",
        "https://app.example:444",
        "https://APP.example",
        "null",
        "https://evil.example",
    ] {
        let answer = ask("POST", RECALL, &[("Origin", origin)]);
        answer.assert_problem(403, "wrong_origin");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{origin}");
        let question = [("Origin", origin), ("Access-Control-Request-Method", "POST")];
        ask("OPTIONS", RECALL, &question).assert_problem(403, "wrong_origin");
    }
    ask("POST", RECALL, &[("Origin", APP), ("Origin", "https://evil.example")])
        .assert_problem(403, "wrong_origin");
    ask("OPTIONS", RECALL, &[("Origin", APP)]).assert_problem(405, "wrong_method");
    ask("POST", RECALL, &[("Origin", APP), ("Host", "evil.example")]).assert_problem(403, "wrong_host");
}

#[test]
fn a_wildcard_is_refused() {
    let tulving = Tulving::new();
    for list in
        ["[\"*\"]", "[\"https://*.example\"]", "[\"https://app.example/\"]", "\"https://app.example\"", "[1]"]
    {
        tulving.configure(&format!("server.cors_origins = {list}\n"));
        let (error, code) = tulving.json_error(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!((error["code"].as_str(), code), (Some("invalid_setting"), 2), "{list}: {error}");
    }
}

#[test]
fn a_name_that_is_allowed_is_one_of_this_server() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "server.allowed_hosts = [\"memory.lan\", \"box\"]\n");
    for host in ["memory.lan", "Memory.LAN:8443", "box"] {
        assert_eq!(server.ask("GET", "/healthz", &[("Host", host)], b"").status, 200, "{host}");
        let origin = format!("https://{host}");
        let headers = [("Host", host), ("Origin", origin.as_str())];
        assert_eq!(server.ask("POST", RECALL, &headers, b"").status, 200, "{host}");
    }
    for host in ["lan", "xmemory.lan", "memory.lan.evil.example", "box.lan"] {
        server.ask("GET", "/healthz", &[("Host", host)], b"").assert_problem(403, "wrong_host");
    }
}
