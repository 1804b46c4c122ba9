//! The metrics.

use std::collections::BTreeMap;

use serde_json::json;

use super::client::{Server, request};
use crate::binary::Tulving;

/// Every row by its name and labels. Whatever is no row or comment is an error.
fn rows(text: &str) -> BTreeMap<String, f64> {
    let mut rows = BTreeMap::new();
    let mut kinds = BTreeMap::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<&str> = comment.splitn(3, ' ').collect();
            assert!(matches!(words[0], "HELP" | "TYPE") && !words[2].is_empty(), "{line}");
            if words[0] == "TYPE" {
                assert!(matches!(words[2], "counter" | "gauge" | "histogram"), "{line}");
                assert_eq!(kinds.insert(words[1], words[2]), None, "said once: {line}");
            }
            continue;
        }
        let (key, value) = line.rsplit_once(' ').expect("a row");
        let name = key.split('{').next().expect("a name");
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        let known =
            kinds.contains_key(name) || family.is_some_and(|family| kinds.get(family) == Some(&"histogram"));
        assert!(known, "a row comes after its kind: {line}");
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
        if let Some(labels) = key.strip_prefix(name).and_then(|rest| rest.strip_prefix('{')) {
            let labels = labels.strip_suffix('}').expect("closed");
            for label in labels.split(',') {
                let (_, value) = label.split_once('=').expect("a label");
                assert!(value.starts_with('"') && value.ends_with('"') && !value.contains('\\'), "{line}");
            }
        }
        let value = value.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(rows.insert(key.to_owned(), value), None, "said once: {line}");
    }
    rows
}

/// The value of one row, where there is an answer.
pub(super) fn value(server: &Server, row: &str) -> Option<f64> {
    let answer = server.get("/metrics");
    (answer.status == 200).then(|| rows(&answer.text()).get(row).copied()).flatten()
}

#[test]
fn requests_are_counted_by_method_route_and_class_of_status() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let server = Server::start(&tulving);
    for _ in 0..3 {
        server.tool("max", "remember", &json!({ "category": "fact", "content": "two" }));
    }
    server.call("max", "remember", &[], &json!({}));
    for at in 0..50 {
        server.get(&format!("/made/up/{at}?q={at}"));
        let brewed = request(server.address, &format!("BREW{at}"), "/healthz", &[], b"");
        server.send(&brewed);
    }
    let answer = server.get("/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let rows = rows(&answer.text());
    let tool = "route=\"/v1/dialects/{dialect}/tools/{tool}\"";
    for (row, expected) in [
        (format!("tulving_http_requests_total{{method=\"POST\",{tool},status=\"2xx\"}}"), 3.0),
        (format!("tulving_http_requests_total{{method=\"POST\",{tool},status=\"4xx\"}}"), 1.0),
        ("tulving_http_requests_total{method=\"GET\",route=\"none\",status=\"4xx\"}".to_owned(), 50.0),
        ("tulving_http_requests_total{method=\"other\",route=\"/healthz\",status=\"4xx\"}".to_owned(), 50.0),
        (format!("tulving_http_request_duration_seconds_count{{{tool}}}"), 4.0),
        (format!("tulving_http_request_duration_seconds_bucket{{{tool},le=\"+Inf\"}}"), 4.0),
        ("tulving_http_requests_in_flight".to_owned(), 1.0),
        ("tulving_http_refused_total{reason=\"rate\"}".to_owned(), 0.0),
        ("tulving_memories".to_owned(), 2.0),
        ("tulving_memories_waiting".to_owned(), 0.0),
        ("tulving_passes_dropped".to_owned(), 0.0),
    ] {
        assert_eq!(rows.get(&row), Some(&expected), "{row}");
    }
    for row in [
        "tulving_change_log_head",
        "process_start_time_seconds",
        "tulving_http_bytes_total{direction=\"in\"}",
    ] {
        assert!(rows[row] > 0.0, "{row}");
    }
    let below: Vec<f64> = rows
        .iter()
        .filter(|(row, _)| row.starts_with("tulving_http_request_duration_seconds_bucket{route=\"none\""))
        .map(|(_, value)| *value)
        .collect();
    assert_eq!((below.len(), below.iter().copied().fold(0.0, f64::max)), (13, 50.0));
    assert!(rows.len() < 100, "clients make no rows: {}", rows.len());
}

#[test]
fn they_tell_of_everybody_and_so_they_are_for_admins_unless_they_are_opened() {
    let tulving = Tulving::new();
    let made = tulving.json(&["token", "create", "--for", "helper", "--kind", "agent"]);
    let helper = format!("Bearer {}", made["token"].as_str().expect("a token"));
    let server = Server::start(&tulving);
    let ask =
        |headers: &[(&str, &str)]| server.send(&request(server.address, "GET", "/metrics", headers, b""));
    ask(&[]).assert_problem(401, "missing_token");
    ask(&[("Authorization", "Bearer wrong")]).assert_problem(401, "bad_token");
    assert_eq!(ask(&[("Authorization", &helper)]).status, 403);
    assert_eq!(server.get("/metrics").status, 200);
    server.stop();
    let server = Server::configured(&tulving, "[server]\nopen_metrics = true\n");
    let answer = server.send(&request(server.address, "GET", "/metrics", &[], b""));
    assert!(rows(&answer.text()).contains_key("tulving_memories"));
    let evil = [("Host", "evil.example")];
    server.send(&request(server.address, "GET", "/metrics", &evil, b"")).assert_problem(403, "wrong_host");
}
