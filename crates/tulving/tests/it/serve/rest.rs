//! The routes under `/v1`: each verb once, and what a client may rely on.

use serde_json::{Value, json};

use super::client::{Answer, Server};
use crate::binary::{Tulving, contents};

/// A request with a body, or without one.
fn send(server: &Server, method: &str, path: &str, body: &Value) -> Answer {
    let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    server.ask(method, path, &[("Content-Type", "application/json")], &bytes)
}

/// The data of a request that succeeds.
#[track_caller]
fn done(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    let answer = send(server, method, path, body);
    assert!((200..300).contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.text());
    answer.json()["data"].clone()
}

#[track_caller]
fn saved(server: &Server, content: &str) -> String {
    let memory = done(server, "POST", "/v1/memories", &json!({ "content": content }));
    memory["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_memory_is_saved_read_edited_and_deleted() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let body =
        json!({ "content": "Prefers TypeScript", "type": "preference", "tags": ["lang"], "key": "lang" });
    let made = send(&server, "POST", "/v1/memories", &body);
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")), "{}", made.text());
    let memory = made.json()["data"].clone();
    assert_eq!(
        (&memory["status"], &memory["source"], &memory["number"]),
        (&json!("created"), &json!("api"), &json!(1))
    );
    let again = send(&server, "POST", "/v1/memories", &body);
    assert_eq!(
        (again.status, &again.json()["data"]["status"]),
        (200, &json!("unchanged")),
        "{}",
        again.text()
    );

    let id = memory["id"].as_str().expect("an id");
    assert!(id.starts_with("mem_"), "{id}");
    for name in [id, "1", "%231"] {
        let read = server.get(&format!("/v1/memories/{name}"));
        assert_eq!((read.status, read.header("etag")), (200, Some("\"1\"")), "{name}: {}", read.text());
        assert_eq!(read.json()["data"]["content"], "Prefers TypeScript");
    }
    let path = format!("/v1/memories/{id}");
    let edited = done(&server, "PATCH", &path, &json!({ "title": "Languages", "importance": 0.9 }));
    assert_eq!(
        (&edited["title"], &edited["importance"], &edited["version"]),
        (&json!("Languages"), &json!(0.9), &json!(2))
    );
    let cleared = done(&server, "PATCH", &path, &json!({ "title": null, "key": null }));
    assert_eq!(
        (&cleared["title"], &cleared["key"], &cleared["importance"]),
        (&Value::Null, &Value::Null, &json!(0.9))
    );

    let versions = done(&server, "GET", &format!("{path}/history"), &Value::Null);
    let numbers: Vec<_> =
        versions["versions"].as_array().expect("a list").iter().map(|v| v["version"].clone()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    let back = done(&server, "POST", &format!("{path}/revert"), &json!({ "version": 2 }));
    assert_eq!((&back["title"], &back["version"]), (&json!("Languages"), &json!(4)));

    let deleted = done(&server, "DELETE", &path, &Value::Null);
    assert_eq!((&deleted["id"], &deleted["deleted"]), (&json!(id), &json!(true)), "{deleted}");
    assert!(deleted["content"].is_string(), "the memory as it was: {deleted}");
    server.get(&path).assert_problem(404, "not_found");
    send(&server, "POST", &format!("{path}/restore"), &Value::Null).assert_problem(404, "not_found");
}

#[test]
fn two_editors_do_not_overwrite_each_other() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let path = format!("/v1/memories/{}", saved(&server, "first"));
    let edit = |tag: &str, content: &str| {
        let body = json!({ "content": content }).to_string();
        server.ask("PATCH", &path, &[("If-Match", tag)], body.as_bytes())
    };
    let done = edit("\"1\"", "second");
    assert_eq!((done.status, done.header("etag")), (200, Some("\"2\"")), "{}", done.text());
    edit("\"1\"", "third").assert_problem(412, "version_mismatch");
    edit("nonsense", "third").assert_problem(400, "invalid_header");
    send(&server, "PATCH", &path, &json!({ "content": "third", "if_version": 1 }))
        .assert_problem(409, "version_mismatch");
    assert_eq!(server.get(&path).json()["data"]["content"], "second");
    assert_eq!(edit("*", "third").status, 200);
    server.ask("DELETE", &path, &[("If-Match", "\"1\"")], b"").assert_problem(400, "invalid_header");
}

#[test]
fn what_is_always_known_is_not_overwritten_unseen_and_files_have_slashes_in_their_address() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let replace = |tag: &str, content: &str| {
        let body = json!({ "content": content }).to_string();
        server.ask("PUT", "/v1/long-term", &[("If-Match", tag)], body.as_bytes())
    };
    let archive = server.ask("POST", "/v1/conversations/archive", &[], b"null");
    archive.assert_problem(400, "invalid_arguments");
    let none = server.get("/v1/long-term");
    assert_eq!((none.status, none.header("etag")), (200, None), "{}", none.text());
    done(&server, "PUT", "/v1/long-term", &json!({ "content": "- one\n", "seen": "" }));
    let tag = server.get("/v1/long-term").header("etag").expect("a tag").to_owned();
    assert_eq!(replace(&tag, "- two\n").status, 200);
    replace(&tag, "- three\n").assert_problem(412, "file_changed");
    send(&server, "PUT", "/v1/long-term", &json!({ "content": "x", "seen": "" }))
        .assert_problem(409, "file_changed");
    let put = send(
        &server,
        "PUT",
        "/v1/files/memory/notes/plan.md",
        &json!({ "content": "- plan\n", "new": true }),
    );
    assert_eq!(put.status, 201, "{}", put.text());
    for path in ["/v1/files/memory/notes/plan.md", "/v1/files/memory%2Fnotes%2Fplan.md"] {
        assert_eq!(server.get(path).json()["data"]["content"], "- plan\n", "{path}");
    }
    server.get("/v1/files/memory/none.md").assert_problem(404, "file_not_found");
    server.get("/v1/files/..%2Fapi-token").assert_problem(400, "invalid_file_name");
    server.get("/v1/journals/2026-01-01").assert_problem(404, "journal_not_found");
}

#[test]
fn a_request_that_comes_again_is_answered_as_before_and_done_once() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let log = |key: &str, body: &Value| {
        let headers = [("Idempotency-Key", key), ("Content-Type", "application/json")];
        server.ask("POST", "/v1/turns", &headers, body.to_string().as_bytes())
    };
    let turn = json!({ "role": "user", "content": "Fix the JWT expiry bug" });
    let first = log("k1", &turn);
    assert_eq!(first.status, 201, "{}", first.text());
    let second = log("k1", &turn);
    assert_eq!((second.status, second.json()), (201, first.json()));
    log("k1", &json!({ "role": "user", "content": "Something else" })).assert_problem(422, "key_reused");
    assert_eq!(log("k2", &turn).status, 201);
    let turns = done(&server, "GET", "/v1/turns", &Value::Null);
    assert_eq!(turns["turns"].as_array().map(Vec::len), Some(2), "{turns}");
    // What failed may be tried again under the same key.
    let wrong = json!({ "role": "user", "content": "" });
    assert_eq!(log("k3", &wrong).status, 400);
    assert_eq!(log("k3", &turn).status, 201);
    log("", &turn).assert_problem(400, "invalid_idempotency_key");
    for (path, body) in [("/v1/dialects/max/tools/recall", "{}"), ("/v1/load", "")] {
        let answer = server.ask("POST", path, &[("Idempotency-Key", "k")], body.as_bytes());
        answer.assert_problem(400, "invalid_header");
    }
    let token = server.ask("POST", "/v1/tokens", &[("Idempotency-Key", "k")], br#"{"name": "helper"}"#);
    token.assert_problem(400, "invalid_header");
    // It is also known to the next process.
    server.stop();
    let server = Server::start(&tulving);
    let headers = [("Idempotency-Key", "k1"), ("Content-Type", "application/json")];
    let third = server.ask("POST", "/v1/turns", &headers, turn.to_string().as_bytes());
    assert_eq!((third.status, third.json()), (201, first.json()));
}

#[test]
fn many_are_saved_as_one_act() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let saved = send(
        &server,
        "POST",
        "/v1/memories",
        &json!({ "memories": [{ "content": "one" }, { "content": "two" }, { "content": "one" }] }),
    );
    assert_eq!(saved.status, 201, "{}", saved.text());
    let outcomes: Vec<_> = saved.json()["data"]["memories"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|m| m["status"].clone())
        .collect();
    assert_eq!(outcomes, ["created", "created", "duplicate"]);
    let wrong = json!({ "memories": [{ "content": "three" }, { "content": " " }] });
    send(&server, "POST", "/v1/memories", &wrong).assert_problem(400, "missing_content");
    let wrong = json!({ "memories": [{ "content": "three" }], "tags": ["x"] });
    send(&server, "POST", "/v1/memories", &wrong).assert_problem(400, "unknown_argument");
    let wrong = json!({ "memories": [{ "content": "three", "importance": "high" }] });
    let problem = send(&server, "POST", "/v1/memories", &wrong).assert_problem(400, "invalid_argument");
    assert!(problem["detail"].as_str().expect("a text").contains("memories[0].importance"), "{problem}");
    let listed = done(&server, "GET", "/v1/memories?sort=oldest", &Value::Null);
    assert_eq!(contents(&listed), ["one", "two"]);
}

#[test]
fn lists_are_filtered_and_paged_by_the_address() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for (content, memory_type, tag) in [
        ("Deploys on Fridays", "decision", "ops"),
        ("Likes tea", "preference", "me"),
        ("Ship, soon", "todo", "ops"),
    ] {
        done(
            &server,
            "POST",
            "/v1/memories",
            &json!({ "content": content, "type": memory_type, "tags": [tag] }),
        );
    }
    let list = |query: &str| done(&server, "GET", &format!("/v1/memories?{query}"), &Value::Null);
    assert_eq!(contents(&list("sort=oldest&tags=ops")), ["Deploys on Fridays", "Ship, soon"]);
    assert_eq!(contents(&list("sort=oldest&types=decision,todo")), ["Deploys on Fridays", "Ship, soon"]);
    assert_eq!(
        contents(&list("sort=oldest&types=decision&types=preference")),
        ["Deploys on Fridays", "Likes tea"]
    );
    assert_eq!(contents(&list("contains=TEA&pinned=false")), ["Likes tea"]);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = list(&format!("limit=1{cursor}"));
        seen.extend(contents(&page).into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["Ship, soon", "Likes tea", "Deploys on Fridays"]);
    done(&server, "POST", "/v1/memories/2/archive", &Value::Null);
    assert_eq!(contents(&list("sort=oldest")), ["Deploys on Fridays", "Ship, soon"]);
    assert_eq!(contents(&list("states=archived")), ["Likes tea"]);
    assert_eq!(contents(&list("sort=oldest&include_archived=true")).len(), 3);
    let over = json!({ "content": "Is over", "expires_at": "2020-01-01" });
    let over = done(&server, "POST", "/v1/memories", &over)["id"].as_str().expect("an id").to_owned();
    assert_eq!(contents(&list("sort=oldest&states=archived")), ["Likes tea", "Is over"]);
    assert_eq!(contents(&list("sort=oldest&states=active")), ["Deploys on Fridays", "Ship, soon"]);
    done(&server, "DELETE", &format!("/v1/memories/{over}"), &Value::Null);
    done(&server, "DELETE", "/v1/memories/2/archive", &Value::Null);
    done(&server, "DELETE", "/v1/memories/1?soft=true&reason=wrong", &Value::Null);
    assert_eq!(contents(&list("forgotten=true")), ["Deploys on Fridays"]);
    done(&server, "POST", "/v1/memories/1/restore", &Value::Null);
    assert_eq!(done(&server, "POST", "/v1/memories/1/pin", &Value::Null)["pinned"], true);
    assert_eq!(contents(&list("pinned=true")), ["Deploys on Fridays"]);
    assert_eq!(done(&server, "DELETE", "/v1/memories/1/pin", &Value::Null)["pinned"], false);
    for (wrong, code) in [
        ("limit=abc", "invalid_argument"),
        ("limit=0", "out_of_range"),
        ("limit=1&limit=2", "given_twice"),
        ("types=opinion", "unknown_word"),
        ("pinned=maybe", "invalid_argument"),
        ("nonsense=1", "unknown_argument"),
        ("since=soon", "invalid_argument"),
        ("cursor=text", "invalid_cursor"),
    ] {
        server.get(&format!("/v1/memories?{wrong}")).assert_problem(400, code);
    }
    server
        .ask("POST", "/v1/memories", &[], br#"{"content": "y", "content": "z"}"#)
        .assert_problem(400, "invalid_json");
    send(&server, "POST", "/v1/memories?content=x", &json!({ "content": "y" }))
        .assert_problem(400, "unknown_argument");
    server.ask("GET", "/v1/memories", &[], b"{}").assert_problem(400, "unexpected_body");
}

#[test]
fn a_question_is_answered_by_body_and_by_address() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    saved(&server, "Deploys go through make ship, never on Fridays");
    saved(&server, "Lunch is at noon");
    let found = done(
        &server,
        "POST",
        "/v1/recall",
        &json!({ "query": "how do we deploy?", "limit": 1, "explain": true }),
    );
    assert_eq!(contents(&found), ["Deploys go through make ship, never on Fridays"]);
    let first = &found["memories"][0];
    assert!(first["relevance_score"].as_f64().is_some_and(|score| score > 0.0), "{first}");
    assert!(first["explanation"]["parts"].is_array() && first["why"].is_string(), "{first}");
    assert_eq!(found["evidence"], "strong");
    let same = done(&server, "GET", "/v1/memories/search?q=how+do+we+deploy%3F&limit=1", &Value::Null);
    assert_eq!(contents(&same), contents(&found));
    assert!(same["memories"][0].get("explanation").is_none());
    let nothing = json!({ "query": "who won the cup in 1987?", "abstain_below": "strong" });
    assert_eq!(contents(&done(&server, "POST", "/v1/recall", &nothing)), Vec::<&str>::new());
    for (method, path, body) in [
        ("POST", "/v1/recall", json!({ "query": "what goes through ma", "prefix": true, "limit": 1 })),
        ("GET", "/v1/memories/search?q=what+goes+through+ma&prefix=true&limit=1", Value::Null),
    ] {
        assert_eq!(contents(&done(&server, method, path, &body)), contents(&found), "{path}");
    }
    let listed = json!({ "types": ["fact"], "prefix": true });
    send(&server, "POST", "/v1/recall", &listed).assert_problem(400, "conflicting_arguments");
    send(&server, "POST", "/v1/recall", &json!({})).assert_problem(400, "missing_query");
    assert_eq!(server.get("/v1/memories/search").assert_problem(400, "missing_query")["field"], "q");
    let block = done(&server, "GET", "/v1/context?about=deploy&token_budget=500", &Value::Null);
    assert!(block["context"].as_str().expect("a text").contains("make ship"), "{block}");
    let block = done(&server, "GET", "/v1/context?dialect=max", &Value::Null);
    assert!(block["context"].as_str().expect("a text").starts_with("## Long-Term Memory"), "{block}");
    done(&server, "POST", "/v1/memories/1/access", &Value::Null);
    assert!(done(&server, "GET", "/v1/memories/1", &Value::Null)["access_count"].as_u64() >= Some(1));
}

#[test]
fn memories_are_linked_and_what_is_near_is_found() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let (one, two) = (saved(&server, "alpha"), saved(&server, "beta"));
    saved(&server, "gamma");
    let link = send(
        &server,
        "POST",
        &format!("/v1/memories/{one}/associations"),
        &json!({ "target": two, "relation": "part_of", "weight": 0.8 }),
    );
    assert_eq!(link.status, 201, "{}", link.text());
    done(&server, "POST", &format!("/v1/memories/{two}/associations"), &json!({ "target": 3 }));
    let links = done(&server, "GET", &format!("/v1/memories/{two}/associations"), &Value::Null);
    assert_eq!(links["associations"].as_array().map(Vec::len), Some(2), "{links}");
    assert_eq!(
        contents(&done(&server, "GET", &format!("/v1/memories/{one}/related"), &Value::Null)),
        ["beta"]
    );
    assert_eq!(
        contents(&done(&server, "GET", &format!("/v1/memories/{one}/related?depth=2"), &Value::Null)),
        ["beta", "gamma"]
    );
    done(&server, "DELETE", &format!("/v1/memories/{one}/associations?target={two}"), &Value::Null);
    assert_eq!(
        contents(&done(&server, "GET", &format!("/v1/memories/{one}/related"), &Value::Null)),
        Vec::<&str>::new()
    );
}

#[test]
fn many_are_deleted_or_moved_as_one_act() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let made = send(&server, "POST", "/v1/hubs", &json!({ "name": "team-notes" }));
    assert_eq!(made.status, 201, "{}", made.text());
    let ids = ["a one", "a two", "a three"].map(|content| saved(&server, content));
    let gone = "mem_0198c5a2b4e07c1f9d3a5e6f70812345";
    let moved = done(
        &server,
        "POST",
        "/v1/memories/batch-move",
        &json!({ "ids": [ids[0], gone], "hub_id": "team-notes" }),
    );
    assert_eq!((&moved["moved"][0]["id"], &moved["not_found"]), (&json!(ids[0]), &json!([gone])));
    let there = server.ask("GET", "/v1/memories", &[("X-Hub-ID", "team-notes")], b"").json();
    assert_eq!(contents(&there["data"]), ["a one"]);
    assert_eq!(
        contents(&done(&server, "GET", "/v1/memories?sort=oldest", &Value::Null)),
        ["a two", "a three"]
    );
    assert_eq!(contents(&done(&server, "GET", "/v1/memories?all_spaces=true", &Value::Null)).len(), 3);
    let deleted =
        done(&server, "POST", "/v1/memories/batch-delete", &json!({ "ids": [ids[1], gone, ids[1]] }));
    assert_eq!(deleted, json!({ "deleted": [ids[1]], "not_found": [gone] }));
    let many: Vec<&str> = std::iter::repeat_n(gone, 101).collect();
    send(&server, "POST", "/v1/memories/batch-delete", &json!({ "ids": many }))
        .assert_problem(400, "too_many");
    send(&server, "POST", "/v1/memories/batch-move", &json!({ "ids": [gone], "hub_id": "nowhere" }))
        .assert_problem(404, "space_not_found");
}

#[test]
fn all_that_a_condition_holds_of_is_forgotten_once_it_was_counted() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let saved = |content: &str| {
        let body = json!({ "content": content, "tags": ["old"] });
        done(&server, "POST", "/v1/memories", &body)["id"].clone()
    };
    let (one, two) = (saved("one"), saved("two"));
    let path = "/v1/memories/forget-where";
    let ask = |body: &Value| send(&server, "POST", path, body);
    let old = json!({ "tags": ["old"] });
    let predicted = done(&server, "POST", path, &json!({ "where": old, "dry_run": true }));
    assert_eq!(predicted["count"], 2);
    assert_eq!(contents(&predicted), ["two", "one"]);
    assert_eq!(predicted.get("forgotten"), None);
    ask(&json!({ "where": old })).assert_problem(400, "missing_argument");
    ask(&json!({ "dry_run": true })).assert_problem(400, "missing_argument");
    ask(&json!({ "where": {}, "dry_run": true })).assert_problem(400, "missing_condition");
    let everything = json!({ "where": { "include_archived": true }, "expect": 2 });
    ask(&everything).assert_problem(400, "missing_condition");
    ask(&json!({ "where": { "tag": ["old"] }, "expect": 2 })).assert_problem(400, "unknown_argument");
    let all_spaces = json!({ "where": { "tags": ["old"], "all_spaces": true }, "expect": 2 });
    ask(&all_spaces).assert_problem(400, "unknown_argument");
    ask(&json!({ "where": { "types": ["chore"] }, "expect": 2 })).assert_problem(400, "unknown_word");
    ask(&json!({ "where": old, "expect": -1 })).assert_problem(400, "out_of_range");
    ask(&json!({ "where": old, "expect": 3 })).assert_problem(409, "count_mismatch");
    let gone = done(&server, "POST", path, &json!({ "where": old, "expect": 2, "reason": "enough" }));
    assert_eq!(gone, json!({ "count": 2, "forgotten": [two, one] }));
    let one = one.as_str().expect("an id");
    done(&server, "POST", &format!("/v1/memories/{one}/restore"), &Value::Null);
    done(&server, "POST", &format!("/v1/memories/{one}/archive"), &Value::Null);
    assert_eq!(done(&server, "POST", path, &json!({ "where": old, "dry_run": true }))["count"], 0);
    let archived = json!({ "tags": ["old"], "states": ["archived"] });
    let gone = done(&server, "POST", path, &json!({ "where": archived, "expect": 1, "hard": true }));
    assert_eq!(gone, json!({ "count": 1, "forgotten": [one] }));
    send(&server, "POST", &format!("/v1/memories/{one}/restore"), &Value::Null)
        .assert_problem(404, "not_found");
}

#[test]
fn a_timeline_tells_what_held_and_when() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let said = |content: &str, from: &str| {
        let body = json!({ "content": content, "valid_from": from });
        done(&server, "POST", "/v1/memories", &body)["id"].clone()
    };
    let (old, new) =
        (said("The office is in Berlin", "2024-01-01"), said("It moved to Munich", "2024-06-01"));
    let path = format!("/v1/memories/{}/associations", new.as_str().expect("an id"));
    done(&server, "POST", &path, &json!({ "target": old, "relation": "updates" }));
    for about in ["office%20in%20Berlin&limit=5", "2&all_spaces=true", "%231"] {
        let described = done(&server, "GET", &format!("/v1/timeline?about={about}"), &Value::Null);
        let entries = described["entries"].as_array().expect("a list");
        assert_eq!(entries.len(), 2, "{described}");
        assert_eq!((&entries[0]["id"], &entries[1]["id"]), (&old, &new));
        assert_eq!(
            (&entries[0]["ended"]["why"], &entries[0]["ended"]["by"]["id"]),
            (&json!("superseded"), &new)
        );
        assert_eq!(entries[0]["until"], entries[1]["from"]);
        assert_eq!((&entries[1]["holds"], &entries[1]["until"]), (&json!(true), &Value::Null));
        assert_eq!((&described["cut"], &entries[0]["chain"]), (&json!(false), &json!(1)));
    }
    let since = done(&server, "GET", "/v1/timeline?about=1&since=2024-07-01&until=2025-01-01", &Value::Null);
    assert_eq!(since["entries"].as_array().expect("a list").len(), 1);
    for (query, status, code) in [
        ("", 400, "missing_argument"),
        ("?about=", 400, "missing_query"),
        ("?about=9", 404, "not_found"),
        ("?about=x&limit=51", 400, "out_of_range"),
        ("?about=x&since=soon", 400, "invalid_argument"),
        ("?about=x&sort=newest", 400, "unknown_argument"),
    ] {
        send(&server, "GET", &format!("/v1/timeline{query}"), &Value::Null).assert_problem(status, code);
    }
}

#[test]
fn spaces_members_and_tokens_are_managed() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    done(&server, "POST", "/v1/spaces", &json!({ "name": "team-notes" }));
    let made = send(
        &server,
        "POST",
        "/v1/tokens",
        &json!({ "name": "helper", "spaces": ["team-notes"], "role": "reader" }),
    );
    assert_eq!(made.status, 201, "{}", made.text());
    let made = made.json()["data"].clone();
    let unconfined = json!({ "name": "helper", "spaces": [] });
    send(&server, "POST", "/v1/tokens", &unconfined).assert_problem(400, "missing_space");
    let bearer = format!("Bearer {}", made["token"].as_str().expect("a token"));
    let as_helper = |method: &str, path: &str, body: &str| {
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        server.send(&super::client::request(server.address, method, path, &headers, body.as_bytes()))
    };
    assert_eq!(as_helper("GET", "/v1/memories", "").status, 200);
    as_helper("POST", "/v1/memories", r#"{"content": "x"}"#).assert_problem(403, "no_write_access");
    as_helper("GET", "/v1/memories?space=default", "").assert_problem(404, "space_not_found");
    as_helper("GET", "/v1/dump", "").assert_problem(403, "denied");
    as_helper("POST", "/v1/load", "").assert_problem(403, "denied");
    let members = done(&server, "GET", "/v1/hubs/team-notes/members", &Value::Null);
    assert_eq!(members["members"].as_array().map(Vec::len), Some(2), "{members}");
    assert_eq!(
        done(&server, "PUT", "/v1/spaces/team-notes/members/helper", &json!({ "role": "writer" }))["role"],
        "writer"
    );
    as_helper("POST", "/v1/memories", r#"{"content": "x"}"#).assert_problem(403, "no_write_access");
    done(&server, "DELETE", "/v1/spaces/team-notes/members/helper", &Value::Null);
    assert_eq!(contents(&as_helper("GET", "/v1/memories", "").json()["data"]), Vec::<&str>::new());
    as_helper("GET", "/v1/spaces/team-notes", "").assert_problem(404, "space_not_found");
    let id = made["id"].as_str().expect("an id");
    assert!(done(&server, "DELETE", &format!("/v1/tokens/{id}"), &Value::Null)["revoked_at"].is_string());
    as_helper("GET", "/v1/spaces", "").assert_problem(401, "bad_token");
    assert!(
        done(&server, "GET", "/v1/tokens", &Value::Null)["tokens"]
            .as_array()
            .is_some_and(|all| all.len() == 2)
    );
}

#[test]
fn max_lists_its_memories_as_rows() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for number in 0..101 {
        saved(&server, &format!("number {number}"));
    }
    let rows = server.get("/memory").json();
    assert_eq!(rows.as_array().map(Vec::len), Some(100));
    assert_eq!(
        (&rows[0]["id"], &rows[0]["category"], &rows[0]["source"]),
        (&json!(101), &json!("fact"), &json!("user"))
    );
    server.ask("GET", "/memory", &[("Authorization", "Bearer no")], b"").assert_problem(401, "missing_token");
}

#[test]
fn what_was_dumped_is_loaded_elsewhere() {
    let (here, there) = (Tulving::new(), Tulving::new());
    let (server, other) = (Server::start(&here), Server::start(&there));
    for content in ["one", "two"] {
        saved(&server, content);
    }
    let dump = server.stream("GET", "/v1/dump", &[], b"");
    assert_eq!(dump.header("content-type"), Some("application/x-ndjson"));
    let loaded = other.ask("POST", "/v1/load", &[], &dump.body);
    assert_eq!(loaded.status, 200, "{}", loaded.text());
    assert_eq!(contents(&done(&other, "GET", "/v1/memories?sort=oldest", &Value::Null)), ["one", "two"]);
    let again = other.ask("POST", "/v1/load", &[], &dump.body);
    assert_eq!(again.json()["data"]["added"], 0, "{}", again.text());
    let wrong = other.ask("POST", "/v1/load", &[], b"{\"record\": \"fish\"}\n");
    assert!(
        wrong.assert_problem(400, "invalid_line")["detail"]
            .as_str()
            .is_some_and(|said| said.starts_with("line 1: "))
    );
}

#[test]
fn every_operation_is_described_and_every_description_leads_somewhere() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let document =
        server.send(&super::client::request(server.address, "GET", "/openapi.json", &[], b"")).json();
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/routes.md"))
        .expect("the page");
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() > 30, "{}", paths.len());
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = format!("{} {path}", method.to_uppercase());
            for field in ["operationId", "summary", "description"] {
                assert!(
                    operation[field].as_str().is_some_and(|text| !text.is_empty()),
                    "{name} has no {field}"
                );
            }
            assert!(docs.contains(&format!("`{name}`")), "docs/routes.md does not list {name}");
            for content in [&operation["requestBody"]["content"], &operation["responses"]["200"]["content"]] {
                for media in content.as_object().into_iter().flat_map(|content| content.values()) {
                    assert!(!media["example"].is_null(), "{name} has no example");
                }
            }
            let real = path.split('/').map(|part| {
                if part.starts_with('{') { "0198c5a2-b4e0-7c1f-9d3a-5e6f70812345" } else { part }
            });
            let real = real.collect::<Vec<_>>().join("/");
            let answer =
                server.send(&super::client::request(server.address, &method.to_uppercase(), &real, &[], b""));
            if !["/healthz", "/openapi.json"].contains(&path.as_str()) {
                answer.assert_problem(401, "missing_token");
            }
        }
    }
}

#[test]
fn what_is_wrong_with_memories_is_told_and_done_once() {
    let tulving = Tulving::new();
    let server = Server::configured(&tulving, "secrets.policy = \"off\"\n");
    let id = saved(&server, "thanks!");
    saved(&server, "The router's password: Winter2031!");
    let report = server.get("/v1/quality");
    assert!(!report.text().contains("Winter2031"), "{}", report.text());
    let report = report.json()["data"].clone();
    assert_eq!((&report["looked_at"], &report["counts"]["junk"]), (&json!(2), &json!(1)));
    let junk = done(&server, "GET", "/v1/quality?kinds=junk&limit=1", &Value::Null);
    assert_eq!(junk["counts"], json!({ "junk": 1 }));
    let finding = &junk["findings"][0];
    assert_eq!((&finding["memories"][0]["id"], &finding["advice"]), (&json!(id), &Value::Null));
    let proposal = json!({ "proposal": finding["proposals"][0]["id"] });
    let applied = done(&server, "POST", "/v1/quality/apply", &proposal);
    assert_eq!(
        (&applied["act"], &applied["message"], &applied["saved"]),
        (&json!("forget"), &json!("Forgot #1; it can be restored"), &Value::Null)
    );
    send(&server, "POST", "/v1/quality/apply", &proposal).assert_problem(404, "proposal_not_found");
    let secret = done(&server, "GET", "/v1/quality?kinds=secret", &Value::Null);
    let proposal = json!({ "proposal": secret["findings"][0]["proposals"][0]["id"] });
    let applied = done(&server, "POST", "/v1/quality/apply", &proposal);
    let new = applied["saved"].as_str().expect("a memory");
    let content = done(&server, "GET", &format!("/v1/memories/{new}"), &Value::Null)["content"].clone();
    assert_eq!(content, "The router's password: [redacted: password]");

    server.get("/v1/quality?kinds=nonsense").assert_problem(400, "unknown_word");
    server.get("/v1/quality?limit=0").assert_problem(400, "out_of_range");
    server.get("/v1/quality?older_than=-1").assert_problem(400, "out_of_range");
    send(&server, "POST", "/v1/quality/apply", &json!({ "proposal": "nonsense" }))
        .assert_problem(400, "invalid_argument");
}

#[test]
fn a_short_id_that_no_memory_has_is_answered_404_by_every_route() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let there = saved(&server, "The only one");
    for id in ["mem_a1b2c3d4", "mem_0"] {
        let at = |part: &str| format!("/v1/memories/{id}{part}");
        for (method, path, body) in [
            ("GET", at(""), json!(null)),
            ("PATCH", at(""), json!({ "title": "Other" })),
            ("DELETE", at(""), json!(null)),
            ("POST", at("/access"), json!(null)),
            ("GET", at("/related"), json!(null)),
            ("GET", at("/history"), json!(null)),
            ("GET", at("/attachment"), json!(null)),
            ("POST", at("/revert"), json!({ "version": 1 })),
            ("POST", at("/restore"), json!(null)),
            ("POST", at("/done"), json!(null)),
            ("POST", at("/archive"), json!(null)),
            ("DELETE", at("/archive"), json!(null)),
            ("POST", at("/pin"), json!(null)),
            ("DELETE", at("/pin"), json!(null)),
        ] {
            let problem = send(&server, method, &path, &body).assert_problem(404, "not_found");
            assert_eq!(problem["detail"], format!("there is no memory {id}"), "{method} {path}");
        }
        let deleted = done(&server, "POST", "/v1/memories/batch-delete", &json!({ "ids": [id] }));
        assert_eq!(deleted["not_found"], json!([id]), "{deleted}");
        let moved = json!({ "ids": [id], "hub_id": "default" });
        assert_eq!(done(&server, "POST", "/v1/memories/batch-move", &moved)["not_found"], json!([id]));
        let linked = json!({ "content": format!("Leads to {id}"), "associations": [{ "target": id }] });
        let linked = done(&server, "POST", "/v1/memories", &linked);
        assert!(
            linked["warnings"][0]["message"].as_str().is_some_and(|warning| warning.contains(id)),
            "{linked}"
        );
    }
    for id in ["mem_xyz", "a1b2c3d4"] {
        send(&server, "GET", &format!("/v1/memories/{id}"), &json!(null)).assert_problem(400, "invalid_id");
    }
    assert_eq!(done(&server, "GET", &format!("/v1/memories/{there}"), &json!(null))["id"], there.as_str());
}

#[test]
fn a_save_may_say_its_source_and_its_agent() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let said = json!({ "content": "Sent by a library", "source": "sdk", "source_agent": "claude-code" });
    let memory = done(&server, "POST", "/v1/memories", &said);
    assert_eq!((&memory["source"], &memory["source_agent"]), (&json!("sdk"), &json!("claude-code")));
    let id = memory["id"].as_str().expect("an id");
    let shown = tulving.json(&["get", id]);
    assert_eq!((&shown["source"], &shown["source_agent"]), (&json!("sdk"), &json!("claude-code")), "{shown}");
    let plain = done(&server, "POST", "/v1/memories", &json!({ "content": "Sent by nobody" }));
    assert_eq!((&plain["source"], &plain["source_agent"]), (&json!("api"), &json!(null)));
    let header = [("X-Tulving-Agent", "cursor"), ("Content-Type", "application/json")];
    let named = server.ask("POST", "/v1/memories", &header, b"{\"content\": \"Sent by cursor\"}").json();
    assert_eq!(named["data"]["source_agent"], "cursor");
    let wrong = json!({ "content": "x", "source": "mcp/capture" });
    let problem = send(&server, "POST", "/v1/memories", &wrong).assert_problem(400, "unknown_word");
    assert_eq!(problem["field"], "source");
    let detail = problem["detail"].as_str().expect("text");
    assert!(detail.contains("cli, import, hook, web, api, sdk, mcp, extraction"), "{detail}");
    let many = json!({ "memories": [{ "content": "One of many", "source": "hook" }] });
    let many = done(&server, "POST", "/v1/memories", &many);
    let one = format!("/v1/memories/{}", many["memories"][0]["id"].as_str().expect("an id"));
    assert_eq!(done(&server, "GET", &one, &json!(null))["source"], "hook");
    tulving.ok(&["save", "From the command line", "--origin", "import"]);
    assert_eq!(tulving.json(&["list", "--limit", "1"])["memories"][0]["source"], "import");
}
