//! The questions: every route and every tool, with names from another group.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::serve::client::{Answer, Server, request};

/// The names that a question may contain, each as `$NAME`.
pub(super) type Names = BTreeMap<&'static str, String>;

/// One question. A `$NAME` in it is replaced by that name from kitchen, and by a name that does not exist.
#[derive(Clone)]
pub(super) struct Question {
    /// The operation of `/openapi.json`: a method and a path.
    pub(super) operation: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

pub(super) fn q(operation: &'static str, path: &str, body: Value) -> Question {
    Question { operation, path: path.to_owned(), headers: Vec::new(), body }
}

impl Question {
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn method(&self) -> &'static str {
        self.operation.split_once(' ').expect("a method and a path").0
    }

    /// True if it adds data to garden.
    pub(super) fn adds(&self) -> bool {
        let tool =
            self.body["params"]["name"].as_str().or_else(|| self.path.rsplit('/').next()).unwrap_or_default();
        let tools = [
            "save",
            "remember",
            "log_turn",
            "archive_conversation",
            "memax_push",
            "save_memory",
            "memory_save",
        ];
        let routes = [
            "/v1/memories",
            "/v1/journals",
            "/v1/turns",
            "/v1/conversations/archive",
            "/v1/spaces",
            "/v1/hubs",
            "/v1/tokens",
        ];
        tools.contains(&tool)
            || self.method() == "PUT"
            || self.path == "/v1/memories/2"
            || self.method() == "POST" && routes.contains(&self.path.as_str())
    }

    pub(super) fn ask(&self, server: &Server, token: &str, names: &Names) -> Answer {
        let fill = |text: &str| {
            let mut text = text.to_owned();
            // `$SPACE_ID` before `$SPACE`.
            for (name, value) in names.iter().rev() {
                text = text.replace(&format!("${name}"), value);
            }
            assert!(!text.contains('$'), "{text}");
            text
        };
        let bearer = format!("Bearer {token}");
        let headers: Vec<(&str, String)> =
            self.headers.iter().map(|(name, value)| (*name, fill(value))).collect();
        let mut sent = vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        if self.path.starts_with("/mcp") {
            sent.push(("Accept", "application/json, text/event-stream"));
        }
        sent.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
        let body = if self.body.is_null() { String::new() } else { fill(&self.body.to_string()) };
        server.send(&request(server.address, self.method(), &fill(&self.path), &sent, body.as_bytes()))
    }
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {:?} {}", self.method(), self.path, self.headers, self.body)
    }
}

/// The questions to each route.
pub(super) fn routes() -> Vec<Question> {
    let none = || Value::Null;
    let mut all = vec![
        q("GET /healthz", "/healthz", none()),
        q("GET /openapi.json", "/openapi.json", none()),
        q("GET /metrics", "/metrics", none()),
        q("GET /memory", "/memory", none()),
        q("GET /v1/context", "/v1/context", none()),
        q("GET /v1/context", "/v1/context?about=$WORD&token_budget=4000", none()),
        q("GET /v1/context", "/v1/context?sections=true", none()),
        q("GET /v1/context", "/v1/context?dialect=max", none()),
        q("GET /v1/context", "/v1/context?dialect=maven", none()),
        q("GET /v1/conversations", "/v1/conversations", none()),
        q("GET /v1/conversations/{conversation}", "/v1/conversations/$CONVERSATION", none()),
        q("GET /v1/conversations/{conversation}", "/v1/conversations/conversation-$CONVERSATION", none()),
        q("GET /v1/conversations/{conversation}", "/v1/conversations/..%2F$SPACE%2F$TITLE", none()),
        q("POST /v1/conversations/archive", "/v1/conversations/archive", json!({ "channel": "$CHANNEL" })),
        q(
            "POST /v1/conversations/archive",
            "/v1/conversations/archive",
            json!({ "channel": "$CHANNEL", "title": "x" }),
        ),
        // The name of a file that kitchen has on this day.
        q(
            "POST /v1/conversations/archive",
            "/v1/conversations/archive",
            json!({ "title": "$TITLE $WORD", "summary": "of garden", "messages": [{ "role": "user", "content": "of garden" }] }),
        ),
        q("GET /v1/dialects", "/v1/dialects", none()),
        q("GET /v1/dialects/{dialect}/tools", "/v1/dialects/groups/tools", none()),
        q("GET /v1/dump", "/v1/dump", none()),
        q("POST /v1/load", "/v1/load", none()).with("Content-Type", "application/x-ndjson"),
        q("GET /v1/files", "/v1/files", none()),
        q("GET /v1/hubs", "/v1/hubs", none()),
        q("GET /v1/spaces", "/v1/spaces", none()),
        q("POST /v1/spaces", "/v1/spaces", json!({ "name": "$SPACE" })),
        q("POST /v1/spaces", "/v1/spaces", json!({ "name": "$SPACE", "kind": "group" })),
        q("POST /v1/hubs", "/v1/hubs", json!({ "name": "$SPACE", "kind": "group" })),
        q("POST /v1/tend", "/v1/tend", json!({ "dry_run": true })),
        q("POST /v1/tend", "/v1/tend", json!({ "limit": 5 })),
        q("GET /v1/jobs", "/v1/jobs?limit=5&states=failed", none()),
        q("POST /v1/jobs/{job_id}/retry", "/v1/jobs/1/retry", none()),
        q("POST /v1/jobs/{job_id}/retry", "/v1/jobs/$MEM_UUID/retry", none()),
        q("GET /v1/passes", "/v1/passes?limit=1000&before=$PASS", none()),
        q("GET /v1/passes", "/v1/passes?kind=proactive", none()),
        q("GET /v1/passes/{pass_id}", "/v1/passes/$PASS", none()),
        q("POST /v1/passes/{pass_id}/undo", "/v1/passes/$PASS/undo", json!({ "dry_run": true })),
        q("POST /v1/passes/{pass_id}/undo", "/v1/passes/$PASS/undo", none()),
        q("POST /v1/undo", "/v1/undo", json!({ "dry_run": true })),
        q("POST /v1/undo", "/v1/undo", none()),
        q("POST /v1/consolidate", "/v1/consolidate", json!({ "dry_run": true })),
        q("POST /v1/consolidate", "/v1/consolidate", json!({ "apply": true })),
        q("GET /v1/usage", "/v1/usage?days=30", none()),
        q("GET /v1/journals", "/v1/journals", none()),
        q("GET /v1/journals", "/v1/journals?query=$WORD&limit=50", none()),
        q("POST /v1/journals", "/v1/journals", json!({ "content": "of garden" })),
        q("POST /v1/journals", "/v1/journals", json!({ "content": "of garden too" }))
            .with("Idempotency-Key", "$ONCE"),
        q("GET /v1/journals/{date}", "/v1/journals/$DATE", none()),
        q("GET /v1/journals/{date}", "/v1/journals/..%2F..%2F$SPACE%2Fmemory%2F$DATE", none()),
        q("GET /v1/long-term", "/v1/long-term", none()),
        q("PUT /v1/long-term", "/v1/long-term", json!({ "content": "taken over", "seen": "$DIGEST" })),
        q("PUT /v1/long-term", "/v1/long-term", json!({ "content": "taken over" }))
            .with("If-Match", "\"$DIGEST\""),
        q("GET /v1/long-term/history", "/v1/long-term/history", none()),
        q("GET /v1/long-term/history/{previous}", "/v1/long-term/history/$PREVIOUS", none()),
        q("POST /v1/long-term/restore", "/v1/long-term/restore", json!({ "previous": "$PREVIOUS" })),
        q("GET /v1/memories", "/v1/memories?limit=1000&all_spaces=true&include_archived=true", none()),
        q("GET /v1/memories", "/v1/memories?limit=1&sort=newest", none()),
        q("GET /v1/memories", "/v1/memories?forgotten=true&all_spaces=true", none()),
        q("GET /v1/memories", "/v1/memories?tags=shared-tag&all_spaces=true", none()),
        q(
            "GET /v1/memories",
            "/v1/memories?types=preference&kinds=semantic&stabilities=stable&content_types=text&states=active&all_spaces=true",
            none(),
        ),
        q(
            "GET /v1/memories",
            "/v1/memories?pinned=true&author=user&since=2020-01-01&until=2099-01-01&happened_since=2020-01-01&happened_until=2099-01-01&all_spaces=true",
            none(),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "file": { "name": "$KEY.txt", "base64": "cGxhaW4gdGV4dA==" }, "language": "rust" }),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "content": "of garden under a key", "key": "$KEY", "boundary": "hub" }),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "content": "of garden with a path", "source_path": "$SOURCE", "boundary": "hub" }),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "content": "of garden with a mirror's path", "source_path": "$MIRROR", "boundary": "hub" }),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "content": "of garden in a chat", "conversation": "$CHAT", "project": "$CHAT", "position": 1, "speaker": "$SPEAKER", "boundary": "hub" }),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "content": "of garden with a tag", "tags": ["$TAG"], "boundary": "org", "source": "hook", "source_agent": "$COOK" }),
        ),
        q("POST /v1/memories", "/v1/memories", json!({ "content": "of garden for once", "boundary": "hub" }))
            .with("Idempotency-Key", "$ONCE"),
        q(
            "PATCH /v1/memories/{id}",
            "/v1/memories/2",
            json!({ "key": "$KEY", "tags": ["$TAG"], "language": "rust", "project": "$CHAT" }),
        ),
        q("POST /v1/memories/batch-delete", "/v1/memories/batch-delete", json!({ "ids": ["$MEM"] })),
        q("POST /v1/memories/batch-delete", "/v1/memories/batch-delete", json!({ "ids": ["$NUMBER"] })),
        q(
            "POST /v1/memories/forget-where",
            "/v1/memories/forget-where",
            json!({ "where": { "tags": ["$TAG"] }, "dry_run": true }),
        ),
        q(
            "POST /v1/memories/forget-where",
            "/v1/memories/forget-where",
            json!({ "where": { "contains": "$WORD", "include_archived": true }, "expect": 0 }),
        ),
        q(
            "POST /v1/memories/forget-where",
            "/v1/memories/forget-where",
            json!({ "where": { "source_path": "$SOURCE", "states": ["archived"] }, "expect": 1, "hard": true }),
        ),
        q(
            "POST /v1/memories/forget-where",
            "/v1/memories/forget-where",
            json!({ "where": { "key": "$KEY" }, "expect": 0, "hard": true, "reason": "mine" }),
        ),
        q(
            "POST /v1/memories/batch-move",
            "/v1/memories/batch-move",
            json!({ "ids": ["$MEM"], "hub_id": "garden" }),
        ),
        q(
            "POST /v1/memories/batch-move",
            "/v1/memories/batch-move",
            json!({ "ids": ["1"], "hub_id": "$SPACE" }),
        ),
        q(
            "POST /v1/memories/batch-move",
            "/v1/memories/batch-move",
            json!({ "ids": ["1"], "hub_id": "$SPACE_ID" }),
        ),
        q("GET /v1/quality", "/v1/quality", none()),
        q("GET /v1/quality", "/v1/quality?kinds=never_recalled&older_than=0&limit=1000", none()),
        q("POST /v1/quality/apply", "/v1/quality/apply", json!({ "proposal": "$PROPOSAL" })),
        q("GET /v1/recovery", "/v1/recovery", none()),
        q("GET /v1/recovery", "/v1/recovery?channel=$CHANNEL&assistant=Ada", none()),
        q("GET /v1/timeline", "/v1/timeline?about=$WORD&all_spaces=true", none()),
        q("GET /v1/timeline", "/v1/timeline?about=roses&limit=50&since=2020-01-01&until=2099-01-01", none()),
        q("GET /v1/review", "/v1/review", none()),
        q("GET /v1/review", "/v1/review?limit=1&cursor=$CURSOR", none()),
        q("GET /v1/tokens", "/v1/tokens", none()),
        q("POST /v1/tokens", "/v1/tokens", json!({ "name": "$COOK", "spaces": ["$SPACE"] })),
        q("POST /v1/tokens", "/v1/tokens", json!({ "name": "$COOK", "spaces": ["garden"] })),
        q(
            "POST /v1/tokens",
            "/v1/tokens",
            json!({ "name": "$COOK", "spaces": ["$SPACE_ID"], "role": "reader" }),
        ),
        q("POST /v1/tokens", "/v1/tokens", json!({ "name": "$COOK", "label": "$LABEL", "kind": "agent" })),
        q("DELETE /v1/tokens/{token_id}", "/v1/tokens/$TOKEN_ID", none()),
        q("GET /v1/turns", "/v1/turns?limit=200&before=150", none()),
        q("GET /v1/turns", "/v1/turns?channel=$CHANNEL", none()),
        q(
            "POST /v1/turns",
            "/v1/turns",
            json!({ "role": "user", "content": "of garden", "channel": "$CHANNEL", "source": "$TELEGRAM", "speaker": "$SPEAKER" }),
        ),
    ];
    for by in [
        "key=$KEY",
        "tags=$TAG",
        "source_path=$SOURCE",
        "source_path=$MIRROR",
        "source_path=$FILE",
        "conversation=$CHAT",
        "conversation=$CONVERSATION",
        "contains=$WORD",
        "source_agent=$COOK",
        "project=$CHAT",
        "cursor=$CURSOR",
    ] {
        for also in ["", "&all_spaces=true"] {
            all.push(q("GET /v1/memories", &format!("/v1/memories?{by}{also}"), none()));
        }
    }
    for by in [
        "",
        "&all_spaces=true",
        "&key=$KEY",
        "&tags=$TAG",
        "&source_path=$MIRROR",
        "&source_path=$FILE",
        "&conversation=$CHAT",
        "&contains=$WORD",
        "&channel=$CHANNEL",
        "&source_agent=$COOK",
        "&project=$CHAT",
        "&explain=true&all_spaces=true",
        "&fusion=rrf&all_spaces=true&explain=true",
        "&lanes=keyword&limit=100&all_spaces=true",
        "&as_of=2099-01-01&asked_at=2099-01-01",
        "&abstain_below=weak&token_budget=4000",
        "&prefix=true&all_spaces=true",
        "&types=preference&kinds=semantic&stabilities=stable&content_types=text",
        "&pinned=true&author=user&since=2020-01-01&until=2099-01-01&happened_since=2020-01-01&happened_until=2099-01-01",
    ] {
        for word in ["$WORD", "roses"] {
            all.push(q("GET /v1/memories/search", &format!("/v1/memories/search?q={word}{by}"), none()));
        }
    }
    for more in [
        json!({}),
        json!({ "all_spaces": true, "explain": true, "limit": 100 }),
        json!({ "key": "$KEY" }),
        json!({ "tags": ["$TAG"] }),
        json!({ "source_path": "$MIRROR" }),
        json!({ "conversation": "$CHAT" }),
        json!({ "contains": "$WORD" }),
        json!({ "channel": "$CHANNEL" }),
        json!({ "source_agent": "$COOK" }),
        json!({ "project": "$CHAT" }),
        json!({ "fusion": "rrf", "lanes": ["keyword"], "as_of": "2099-01-01", "asked_at": "2099-01-01", "abstain_below": "weak",
            "token_budget": 4000, "prefix": true, "all_spaces": true }),
        json!({ "types": ["preference"], "kinds": ["semantic"], "stabilities": ["stable"], "content_types": ["text"],
            "pinned": true, "author": "user", "since": "2020-01-01", "until": "2099-01-01", "happened_since": "2020-01-01", "happened_until": "2099-01-01" }),
    ] {
        for word in ["$WORD", "roses in March"] {
            let mut body = more.clone();
            body["query"] = json!(word);
            all.push(q("POST /v1/recall", "/v1/recall", body));
        }
    }
    for file in [
        "$FILE",
        "$LIST",
        "$BARE",
        "memory/$DATE.md",
        "conversations/$CONVERSATION.md",
        "..%2F$SPACE%2F$LIST",
        "$MIRROR",
        "groups%2F$SPACE%2F$LIST",
        "menus",
    ] {
        let path = format!("/v1/files/{file}");
        all.push(q("GET /v1/files/{file}", &path, none()));
        all.push(q("DELETE /v1/files/{file}", &path, none()));
    }
    all.push(q("PUT /v1/files/{file}", "/v1/files/..%2F$SPACE%2F$LIST", json!({ "content": "taken over" })));
    all.push(q("PUT /v1/files/{file}", "/v1/files/$FILE", json!({ "content": "of garden", "new": true })));
    all.push(q("PUT /v1/files/{file}", "/v1/files/$LIST", json!({ "content": "of garden" })));
    for id in ["$MEM", "$MEM_UUID", "$NUMBER", "%23$NUMBER"] {
        let at = |rest: &str| format!("/v1/memories/{id}{rest}");
        all.extend([
            q("GET /v1/memories/{id}", &at(""), none()),
            q("PATCH /v1/memories/{id}", &at(""), json!({ "content": "taken over" })),
            q("PATCH /v1/memories/{id}", &at(""), json!({ "boundary": "org", "if_version": 7 })),
            q("PATCH /v1/memories/{id}", &at(""), json!({ "title": "taken over" })).with("If-Match", "\"2\""),
            q("POST /v1/memories/{id}/access", &at("/access"), none()),
            q("POST /v1/memories/{id}/archive", &at("/archive"), none()),
            q("DELETE /v1/memories/{id}/archive", &at("/archive"), none()),
            q("POST /v1/memories/{id}/done", &at("/done"), none()),
            q("DELETE /v1/memories/{id}/done", &at("/done"), none()),
            q("GET /v1/memories/{id}/associations", &at("/associations"), none()),
            q("GET /v1/memories/{id}/attachment", &at("/attachment"), none()),
            q("POST /v1/memories/{id}/associations", &at("/associations"), json!({ "target": "1" })),
            q(
                "POST /v1/memories/{id}/associations",
                "/v1/memories/1/associations",
                json!({ "target": id.replace("%23", "#"), "relation": "updates", "weight": 0.5 }),
            ),
            q(
                "DELETE /v1/memories/{id}/associations",
                &at("/associations?target=1&relation=updates"),
                none(),
            ),
            q(
                "DELETE /v1/memories/{id}/associations",
                &format!("/v1/memories/1/associations?target={id}"),
                none(),
            ),
            q("GET /v1/memories/{id}/history", &at("/history"), none()),
            q("GET /v1/timeline", &format!("/v1/timeline?about={id}"), none()),
            q("POST /v1/memories/{id}/pin", &at("/pin"), none()),
            q("DELETE /v1/memories/{id}/pin", &at("/pin"), none()),
            q("POST /v1/review/{id}/accept", &format!("/v1/review/{id}/accept"), none()),
            q("POST /v1/review/{id}/reject", &format!("/v1/review/{id}/reject"), none()),
            q("GET /v1/memories/{id}/related", &at("/related?depth=5"), none()),
            q("POST /v1/memories/{id}/restore", &at("/restore"), none()),
            q("POST /v1/memories/{id}/revert", &at("/revert"), json!({ "version": 1 })),
            q("DELETE /v1/memories/{id}", &at("?soft=true&reason=mine"), none()),
            q("DELETE /v1/memories/{id}", &at("?forgotten=true"), none()),
            q("DELETE /v1/memories/{id}", &at(""), none()),
            q(
                "POST /v1/memories",
                "/v1/memories",
                json!({ "content": "of garden with a link", "boundary": "hub",
                "associations": [{ "target_id": id.replace("%23", "#"), "relation_type": "updates" }] }),
            ),
            q(
                "POST /v1/memories",
                "/v1/memories",
                json!({ "content": "of garden with another link", "boundary": "hub",
                "associations": [{ "target": id.replace("%23", "#"), "relation": "updates" }] }),
            ),
            q(
                "POST /v1/memories",
                "/v1/memories",
                json!({ "content": "of garden instead of another", "boundary": "hub", "updates": id.replace("%23", "#") }),
            ),
        ]);
    }
    for (one, members, give, take, at) in [
        (
            "GET /v1/spaces/{space_id}",
            "GET /v1/spaces/{space_id}/members",
            "PUT /v1/spaces/{space_id}/members/{name}",
            "DELETE /v1/spaces/{space_id}/members/{name}",
            "/v1/spaces",
        ),
        (
            "GET /v1/hubs/{space_id}",
            "GET /v1/hubs/{space_id}/members",
            "PUT /v1/hubs/{space_id}/members/{name}",
            "DELETE /v1/hubs/{space_id}/members/{name}",
            "/v1/hubs",
        ),
    ] {
        for space in ["$SPACE", "$SPACE_ID"] {
            all.push(q(one, &format!("{at}/{space}"), none()));
            all.push(q(members, &format!("{at}/{space}/members"), none()));
            for name in ["$COOK", "gardener"] {
                all.push(q(give, &format!("{at}/{space}/members/{name}"), json!({ "role": "admin" })));
                all.push(q(take, &format!("{at}/{space}/members/{name}"), none()));
            }
        }
        all.push(q(members, &format!("{at}/garden/members"), none()));
    }
    all
}

/// The questions to each tool.
pub(super) fn tools() -> Vec<(&'static str, &'static str, Value)> {
    let mut all = vec![
        ("native", "save", json!({ "memories": [{ "content": "of garden by a tool", "key": "$KEY" }] })),
        (
            "native",
            "save",
            json!({ "memories": [{ "content": "of garden in its stead", "updates": "$MEM" }] }),
        ),
        (
            "native",
            "save",
            json!({ "memories": [{ "content": "of garden in its stead", "updates": "#$NUMBER" }] }),
        ),
        ("native", "recall", json!({ "query": "$WORD" })),
        ("native", "recall", json!({ "query": "$WORD", "done": false, "explain": true })),
        ("native", "recall", json!({ "query": "$WORD", "project": "$CHAT" })),
        (
            "native",
            "recall",
            json!({ "query": "roses", "tags": ["$TAG"], "types": ["fact"], "limit": 100, "token_budget": 4000, "as_of": "2099-01-01" }),
        ),
        ("native", "recall", json!({ "query": "list all facts" })),
        (
            "native",
            "recall",
            json!({ "types": ["fact"], "since": "2020-01-01", "until": "2099-01-01", "happened_since": "2020-01-01", "happened_until": "2099-01-01" }),
        ),
        ("native", "list", json!({})),
        ("native", "list", json!({ "cursor": "$CURSOR" })),
        ("native", "list", json!({ "project": "$CHAT" })),
        (
            "native",
            "list",
            json!({ "types": ["fact"], "tags": ["$TAG"], "states": ["active"], "pinned": false, "contains": "$WORD", "since": "2020-01-01", "until": "2099-01-01", "happened_since": "2020-01-01", "happened_until": "2099-01-01", "sort": "happened", "limit": 100 }),
        ),
        ("native", "list", json!({ "types": ["todo"], "done": false, "sort": "agenda" })),
        ("native", "context", json!({ "about": "$WORD", "token_budget": 4000 })),
        (
            "native",
            "log_turn",
            json!({ "role": "user", "content": "of garden", "channel": "$CHANNEL", "source": "$TELEGRAM", "speaker": "$SPEAKER" }),
        ),
        ("native", "archive_conversation", json!({ "channel": "$CHANNEL", "title": "$TITLE $WORD" })),
        (
            "native",
            "archive_conversation",
            json!({ "title": "$TITLE $WORD", "summary": "of garden", "messages": [{ "role": "user", "content": "of garden" }] }),
        ),
        ("max", "remember", json!({ "category": "fact", "content": "of garden in max", "source": "user" })),
        ("max", "recall", json!({ "keyword": "$WORD" })),
        ("max", "recall", json!({ "category": "preference" })),
        ("max", "recall", json!({})),
        ("max", "forget", json!({ "memory_id": 290 })),
        (
            "memax",
            "memax_push",
            json!({ "content": "of garden in memax", "source_path": "$SOURCE", "tags": ["$TAG"], "title": "x", "boundary": "org" }),
        ),
        ("memax", "memax_push", json!({ "content": "of garden for another", "hub_id": "$SPACE_ID" })),
        ("memax", "memax_push", json!({ "content": "of garden for another", "hub_id": "$SPACE" })),
        (
            "memax",
            "memax_push",
            json!({ "content": "of garden with all", "assisted_by_agent": "$COOK", "source": "hook", "source_agent": "$COOK", "content_type": "text", "kind": "semantic", "stability": "stable", "ttl": 900000 }),
        ),
        ("memax", "memax_recall", json!({ "query": "$WORD" })),
        (
            "memax",
            "memax_recall",
            json!({ "query": "roses", "tags": ["shared-tag"], "kinds": ["semantic"], "limit": 100 }),
        ),
        ("memax", "memax_recall", json!({ "query": "$WORD", "hub_id": "$SPACE_ID" })),
        ("memax", "memax_recall", json!({ "query": "$WORD", "hub_id": "$SPACE" })),
        ("memax", "memax_list", json!({ "limit": 100, "include_archived": true, "tags": ["$TAG"] })),
        (
            "memax",
            "memax_list",
            json!({ "limit": 100, "stabilities": ["stable"], "kinds": ["semantic"], "states": ["active"] }),
        ),
        ("memax", "memax_list", json!({ "hub_id": "$SPACE_ID" })),
        ("memax", "memax_list", json!({ "hub_id": "$SPACE" })),
        ("memax", "memax_list", json!({ "cursor": "$CURSOR" })),
        ("memax", "memax_hubs", json!({})),
        ("memax", "memax_hub_members", json!({ "hub_id": "$SPACE_ID" })),
        ("memax", "memax_hub_members", json!({ "hub_id": "$SPACE" })),
        ("memax", "memax_hub_members", json!({})),
        (
            "groups",
            "save_memory",
            json!({ "key": "$KEY", "content": "of garden in groups", "category": "core" }),
        ),
        (
            "groups",
            "save_memory",
            json!({ "key": "conversation-$CONVERSATION", "content": "of garden in groups", "category": "conversation" }),
        ),
        ("groups", "recall_memories", json!({ "query": "$WORD" })),
        ("groups", "recall_memories", json!({ "query": "roses", "limit": 50, "category": "core" })),
        ("groups", "forget_memory", json!({ "key": "$TITLE" })),
        ("groups", "forget_memory", json!({ "key": "#$NUMBER" })),
        ("groups", "forget_memory", json!({ "key": "$MEM" })),
        ("groups", "forget_memory", json!({ "key": "$MIRROR:1" })),
        ("groups", "list_memories", json!({})),
        ("groups", "list_memories", json!({ "category": "conversation" })),
        ("maven", "remember", json!({ "content": "of garden in maven" })),
        ("maven", "memory_search", json!({ "query": "$WORD", "limit": 100 })),
        ("maven", "memory_search", json!({ "query": "roses" })),
        ("maven", "memory_get", json!({ "date": "$DATE" })),
        ("maven", "memory_get", json!({ "date": "today" })),
        ("maven", "memory_get", json!({ "date": "../../$SPACE/memory/$DATE" })),
        (
            "spacebot",
            "memory_save",
            json!({ "content": "of garden in spacebot", "channel_id": "$CHAT", "memory_type": "fact", "importance": 0.5, "source": "$TELEGRAM" }),
        ),
        (
            "spacebot",
            "memory_save",
            json!({ "content": "of garden linked", "associations": [{ "target_id": "$MEM_UUID", "relation_type": "updates" }] }),
        ),
        ("spacebot", "memory_recall", json!({ "query": "$WORD", "max_results": 50 })),
        ("spacebot", "memory_recall", json!({ "mode": "recent", "sort_by": "recent" })),
        ("spacebot", "memory_recall", json!({ "mode": "important", "sort_by": "importance" })),
        (
            "spacebot",
            "memory_recall",
            json!({ "mode": "typed", "memory_type": "preference", "sort_by": "most_accessed" }),
        ),
        ("spacebot", "memory_delete", json!({ "memory_id": "$MIRROR:1", "reason": "mine" })),
    ];
    for id in ["$MEM", "$MEM_UUID", "$NUMBER", "#$NUMBER"] {
        all.extend([
            ("native", "update", json!({ "id": id, "content": "taken over", "importance": 1.0, "tags": ["x"], "type": "fact", "project": "x", "valid_until": "2099-01-01" })),
            ("native", "done", json!({ "id": id, "at": "2026-05-27" })),
            ("native", "done", json!({ "id": id, "undo": true })),
            ("native", "forget", json!({ "id": id, "reason": "mine" })),
            ("native", "forget", json!({ "id": id, "hard": true })),
            ("native", "associate", json!({ "id": id, "target": "1" })),
            ("native", "associate", json!({ "id": "1", "target": id, "relation": "updates", "weight": 0.5 })),
            ("memax", "memax_get", json!({ "id": id })),
            ("memax", "memax_forget", json!({ "id": id })),
            ("spacebot", "memory_delete", json!({ "memory_id": id, "reason": "mine" })),
        ]);
    }
    all
}

/// A call of the protocol that stands by itself.
pub(super) fn mcp(operation: &'static str, path: &str, method: &str, params: &Value) -> Question {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    q(operation, path, body).with("MCP-Protocol-Version", "2025-11-25")
}

pub(super) fn protocol() -> Vec<Question> {
    let mut all = Vec::new();
    for (dialect, tool, arguments) in tools() {
        all.push(q(
            "POST /v1/dialects/{dialect}/tools/{tool}",
            &format!("/v1/dialects/{dialect}/tools/{tool}"),
            arguments.clone(),
        ));
        let params = json!({ "name": tool, "arguments": arguments });
        all.push(mcp("POST /mcp/{dialect}", &format!("/mcp/{dialect}"), "tools/call", &params));
    }
    all.push(mcp("POST /mcp", "/mcp", "tools/list", &json!({})));
    all.push(mcp("POST /mcp", "/mcp", "resources/list", &json!({})));
    all.push(mcp("POST /mcp", "/mcp", "resources/list", &json!({ "cursor": "$CURSOR" })));
    all.push(mcp("POST /mcp", "/mcp", "resources/templates/list", &json!({})));
    all.push(mcp("POST /mcp", "/mcp", "prompts/list", &json!({})));
    all.push(mcp("POST /mcp", "/mcp", "prompts/get", &json!({ "name": "session-start" })));
    for uri in [
        "context",
        "$MEM",
        "$MEM_UUID",
        "$NUMBER",
        "%23$NUMBER",
        "files/$FILE",
        "files/$LIST",
        "files/menus/../$LIST",
        "files/..%2F$SPACE%2F$LIST",
        "files/memory/$DATE.md",
        "files/conversations/$CONVERSATION.md",
        "files/$MIRROR",
        "files/menus",
    ] {
        all.push(mcp("POST /mcp", "/mcp", "resources/read", &json!({ "uri": format!("memory://{uri}") })));
    }
    all
}
