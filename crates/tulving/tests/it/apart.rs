//! Two groups, `kitchen` and `garden`, each with a token of its own, memories, files, journals, `MEMORY.md`, archived
//! conversations and a log. With garden's token every route and every tool is asked for what is kitchen's.
//!
//! Each question is put four times: for a name of kitchen's and for one that exists nowhere, and both once more to a
//! server that has no kitchen at all and is otherwise asked the same in the same order. What comes back must be the same,
//! status, counts, scores and warnings too, but for the name that was asked for, and for ids and times.
//!
//! The routes are those of `/openapi.json` and the tools those of `/v1/dialects`: one that is not known here, or a
//! parameter that no question uses, is a failure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::Tulving;
use crate::serve::client::{Answer, Server, request};

/// The names that a question may hold, each as `$NAME`.
type Names = BTreeMap<&'static str, String>;

/// One question. A `$NAME` in it stands for what kitchen calls so, and for what nobody does.
#[derive(Clone)]
struct Question {
    /// What of `/openapi.json` it asks: a method and a path.
    operation: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Value,
}

fn q(operation: &'static str, path: &str, body: Value) -> Question {
    Question { operation, path: path.to_owned(), headers: Vec::new(), body }
}

impl Question {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    fn method(&self) -> &'static str {
        self.operation.split_once(' ').expect("a method and a path").0
    }

    /// Whether garden has more of its own afterwards.
    fn adds(&self) -> bool {
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

    fn ask(&self, server: &Server, token: &str, names: &Names) -> Answer {
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

/// What is in no question, so that whoever is told it was told of kitchen.
const SECRET: &str = "zqsecret";

fn secret(number: usize) -> String {
    format!("{SECRET}{number}")
}

/// A home with garden in it, and with kitchen or without.
struct Side {
    _tulving: Tulving,
    server: Server,
    garden: String,
    kitchen: Option<String>,
}

fn ok(answer: &Answer) -> Value {
    assert!(matches!(answer.status, 200 | 201), "{} {}", answer.status, answer.text());
    answer.json()["data"].clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// The answer to a request with a token.
fn ask(server: &Server, token: &str, method: &str, path: &str, body: &Value) -> Value {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    ok(&server.send(&request(server.address, method, path, &headers, body.as_bytes())))
}

impl Side {
    fn new(role: &str, with_kitchen: bool, names: &mut Names) -> Self {
        let tulving = Tulving::new();
        let server = Server::start_with(&tulving, |command| {
            command.env("TULVING_SERVER_REQUESTS_PER_MINUTE", "0");
        });
        let root = server.token.clone();
        let mut kitchen = None;
        if with_kitchen {
            let space =
                ask(&server, &root, "POST", "/v1/spaces", &json!({ "name": "zqkitchen", "kind": "group" }));
            let made =
                json!({ "name": "zqcook", "spaces": ["zqkitchen"], "role": "admin", "label": "zqlabel" });
            let token = ask(&server, &root, "POST", "/v1/tokens", &made);
            let secret_token = text(&token["token"]);
            names.insert("SPACE_ID", text(&space["id"]));
            names.insert("TOKEN_ID", text(&token["id"]));
            populate_kitchen(&server, &secret_token, names);
            kitchen = Some(secret_token);
        }
        ask(&server, &root, "POST", "/v1/spaces", &json!({ "name": "garden", "kind": "group" }));
        let made = json!({ "name": "gardener", "spaces": ["garden"], "role": role });
        let garden = text(&ask(&server, &root, "POST", "/v1/tokens", &made)["token"]);
        populate_garden(&server, &garden);
        if let Some(kitchen) = &kitchen {
            // The newest of everything is kitchen's: what is cut before it is filtered would show.
            fill_kitchen(&server, kitchen, "later");
            let tokens = ask(&server, &root, "GET", "/v1/spaces/zqkitchen/members", &Value::Null);
            let cook = tokens["members"].as_array().expect("members").iter();
            let cook = cook.filter(|member| member.to_string().contains("zqcook")).map(|member| {
                ["user_id", "principal_id", "id"]
                    .iter()
                    .find_map(|name| member[*name].as_str())
                    .map(str::to_owned)
            });
            if let Some(id) = cook.flatten().next() {
                names.insert("COOK_ID", id);
            }
        }
        Self { _tulving: tulving, server, garden, kitchen }
    }

    /// The answer to a question of garden's, with names masked.
    fn answer(&self, question: &Question, asked: &Names, all: &[&Names]) -> (u16, String) {
        let answer = question.ask(&self.server, &self.garden, asked);
        let told = answer.text();
        assert!(!told.contains(SECRET), "{question:?} told {told}");
        let head = ["content-type", "etag", "location", "retry-after", "mcp-session-id"]
            .map(|name| answer.header(name).map(|value| format!("{name}: {value}\n")).unwrap_or_default());
        let told = masked(&format!("{}{told}", head.concat()), all);
        for word in ["zq", "kitchen"] {
            assert!(!told.contains(word), "{question:?} told {told}");
        }
        (answer.status, told)
    }
}

/// With ids in the order in which they stand there, and without times.
fn numbered(told: &str) -> String {
    let mut met: HashMap<String, usize> = HashMap::new();
    each_own(told, |own| {
        let next = met.len();
        if is_time(own) {
            "‹time›".to_owned()
        } else {
            format!("‹{}›", *met.entry(own.to_owned()).or_insert(next))
        }
    })
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {:?} {}", self.method(), self.path, self.headers, self.body)
    }
}

/// With what was asked for in one word, whatever it was, and without the number of the request.
fn masked(told: &str, all: &[&Names]) -> String {
    let mut told = told.to_owned();
    let mut values: Vec<(&str, &str)> =
        all.iter().flat_map(|names| names.iter()).map(|(name, value)| (*name, value.as_str())).collect();
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    for (name, value) in values {
        // Numbers and days stand for themselves where nobody asked for them.
        if !matches!(name, "NUMBER") {
            told = told
                .replace(value, &format!("‹{name}›"))
                .replace(&value.replace('/', "%2F"), &format!("‹{name}›"));
        }
    }
    let told = shortened(&told.replace("‹MEM_UUID›", "‹MEM›"));
    let told = match told.split_once("\"next_cursor\":\"") {
        Some((before, after)) => {
            format!("{before}‹page›{}", after.split_once('"').map_or("", |(_, rest)| rest))
        }
        None => told,
    };
    match told.split_once("\"request_id\":\"") {
        Some((before, after)) => format!("{before}{}", after.split_once('"').map_or("", |(_, rest)| rest)),
        None => told,
    }
}

/// With three digits after a point: what is recent counts for more, and time goes by. How often something was read is
/// counted a little later, at a time of the server's own.
fn shortened(told: &str) -> String {
    let mut out = String::new();
    let mut rest = told;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end =
            number.find(|c: char| !c.is_ascii_alphanumeric() && !"._-:".contains(c)).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        out.push_str(before);
        match number.parse::<f64>() {
            Ok(_) if before.ends_with("access_count\":") || before.ends_with("access_count\\\":") => {
                out.push('…');
            }
            Ok(value) if number.contains('.') || number.contains("e-") => {
                out.push_str(&format!("{value:.3}"));
            }
            _ => out.push_str(number),
        }
        rest = after;
    }
    out.push_str(rest);
    out.replace("-0.000", "0.000")
}

/// Changes each id, token and time.
fn each_own(told: &str, mut change: impl FnMut(&str) -> String) -> String {
    let part_of = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
    let mut out = String::new();
    let mut rest = told;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !part_of(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let core = word.trim_end_matches(['.', ':']);
        if is_own(core) {
            out.push_str(&change(core));
            out.push_str(&word[core.len()..]);
        } else {
            out.push_str(word);
        }
        let skip = after.find(part_of).unwrap_or(after.len());
        out.push_str(&after[..skip]);
        rest = &after[skip..];
    }
    out
}

fn is_time(word: &str) -> bool {
    word.len() >= 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T' && word.starts_with("20")
}

fn is_own(word: &str) -> bool {
    let hex = |text: &str, length: usize| text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit());
    let uuid = word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    // The digest of a text with a time in it.
    uuid || is_time(word)
        || hex(word, 64)
        || word.starts_with("tlv_")
        || word.strip_prefix("mem_").is_some_and(|id| hex(id, 32))
}

fn populate_kitchen(server: &Server, token: &str, names: &mut Names) {
    let today = "2026-03-14";
    let saved = json!({
        "content": format!("saffron is kept in the {}", secret(1)), "key": "zqkey", "title": secret(2),
        "tags": ["zqtag"], "source_path": "zqsource.md", "conversation": "zqchat", "source_note": secret(3),
        "speaker": "zqspeaker", "boundary": "hub", "pinned": true,
    });
    let saved = ask(server, token, "POST", "/v1/memories", &saved);
    let id = text(&saved["id"]);
    let hex = id.trim_start_matches("mem_");
    let uuid = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
    names.insert("MEM", id.clone());
    names.insert("MEM_UUID", uuid);
    let other = json!({ "content": format!("saffron costs {}", secret(4)), "boundary": "hub" });
    let other = text(&ask(server, token, "POST", "/v1/memories", &other)["id"]);
    ask(server, token, "POST", &format!("/v1/memories/{id}/associations"), &json!({ "target": other }));
    ask(server, token, "PATCH", &format!("/v1/memories/{id}"), &json!({ "summary": secret(5) }));
    for (file, number) in [("menus/zqmenu.md", 6), ("zqlist.txt", 7), ("zqbare", 8)] {
        let body = json!({ "content": format!("saffron risotto {}\n", secret(number)) });
        ask(server, token, "PUT", &format!("/v1/files/{file}"), &body);
    }
    let body = json!({ "content": format!("- saffron noted {}\n", secret(9)) });
    ask(server, token, "PUT", &format!("/v1/files/memory/{today}.md"), &body);
    ask(
        server,
        token,
        "PUT",
        "/v1/long-term",
        &json!({ "content": format!("saffron first {}", secret(10)) }),
    );
    let now = json!({ "content": format!("saffron second {}", secret(11)) });
    names.insert("DIGEST", text(&ask(server, token, "PUT", "/v1/long-term", &now)["digest"]));
    let before = ask(server, token, "GET", "/v1/long-term/history", &Value::Null);
    names.insert("PREVIOUS", text(&before["texts"][0]["previous"]));
    let archive = json!({
        "title": "zqtitle saffron", "summary": format!("saffron was agreed on {}", secret(12)),
        "messages": [{ "role": "user", "content": format!("saffron? {}", secret(13)), "speaker": "zqguest" }],
    });
    let archived = ask(server, token, "POST", "/v1/conversations/archive", &archive);
    names.insert("CONVERSATION", text(&archived["name"]));
    fill_kitchen(server, token, "early");
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "zqonce"),
    ];
    let note = json!({ "content": format!("saffron once {}", secret(14)) }).to_string();
    ok(&server.send(&request(server.address, "POST", "/v1/journals", &headers, note.as_bytes())));
    let page = ask(server, token, "GET", "/v1/memories?limit=1", &Value::Null);
    names.insert("CURSOR", text(&page["next_cursor"]));
}

/// Much of everything.
fn fill_kitchen(server: &Server, token: &str, when: &str) {
    let memories: Vec<Value> = (0..150)
        .map(|number| {
            json!({ "content": format!("saffron roses {when} {number} {}", secret(100 + number)), "type": "preference",
                "importance": 1.0, "boundary": "hub", "tags": ["zqtag", "shared-tag"] })
        })
        .collect();
    ask(server, token, "POST", "/v1/memories", &json!({ "memories": memories }));
    ask(
        server,
        token,
        "POST",
        "/v1/journals",
        &json!({ "content": format!("saffron {when} {}", secret(15)) }),
    );
    for number in 0..12 {
        let turn = json!({ "role": "user", "content": format!("saffron {when} {}", secret(20 + number)),
            "channel": "zqchannel", "source": "zqtelegram", "speaker": "zqspeaker" });
        ask(server, token, "POST", "/v1/turns", &turn);
        ask(server, token, "POST", "/v1/turns", &json!({ "role": "user", "content": secret(40 + number) }));
    }
    let body = json!({ "content": format!("roses and saffron {when} {}", secret(16)) });
    ask(server, token, "PUT", &format!("/v1/files/roses-{when}.md"), &body);
}

fn populate_garden(server: &Server, token: &str) {
    let saved = json!({ "content": "The roses are watered at six", "key": "roses", "tags": ["shared-tag"],
        "boundary": "hub", "conversation": "chat" });
    ask(server, token, "POST", "/v1/memories", &saved);
    ask(server, token, "POST", "/v1/memories", &json!({ "content": "The hose leaks", "boundary": "hub" }));
    ask(
        server,
        token,
        "PUT",
        "/v1/files/beds/roses.md",
        &json!({ "content": "# Roses\n\nPrune the roses in March\n" }),
    );
    ask(
        server,
        token,
        "POST",
        "/v1/journals",
        &json!({ "content": "The bees came early to the roses this year, says the neighbour across the fence" }),
    );
    ask(server, token, "PUT", "/v1/long-term", &json!({ "content": "Roses first\n" }));
    ask(server, token, "PUT", "/v1/long-term", &json!({ "content": "Roses always\n" }));
    let archive = json!({ "title": "Roses", "messages": [{ "role": "user", "content": "Which roses?" }] });
    ask(server, token, "POST", "/v1/conversations/archive", &archive);
    ask(server, token, "POST", "/v1/turns", &json!({ "role": "user", "content": "Water the roses" }));
}

/// What kitchen's things are called, but for what is known once they are made.
fn of_kitchen() -> Names {
    BTreeMap::from([
        ("SPACE", "zqkitchen".to_owned()),
        ("COOK", "zqcook".to_owned()),
        ("COOK_ID", "0198aaaa-0000-7000-8000-00000000c00c".to_owned()),
        ("KEY", "zqkey".to_owned()),
        ("TAG", "zqtag".to_owned()),
        ("SOURCE", "zqsource.md".to_owned()),
        ("CHAT", "zqchat".to_owned()),
        ("CHANNEL", "zqchannel".to_owned()),
        ("TELEGRAM", "zqtelegram".to_owned()),
        ("SPEAKER", "zqspeaker".to_owned()),
        ("FILE", "menus/zqmenu.md".to_owned()),
        ("LIST", "zqlist.txt".to_owned()),
        ("BARE", "zqbare".to_owned()),
        ("MIRROR", "groups/zqkitchen/menus/zqmenu.md".to_owned()),
        ("DATE", "2026-03-14".to_owned()),
        ("TITLE", "zqtitle".to_owned()),
        ("ONCE", "zqonce".to_owned()),
        ("WORD", "saffron".to_owned()),
        ("LABEL", "zqlabel".to_owned()),
        // Kitchen has that many; garden never will.
        ("NUMBER", "290".to_owned()),
    ])
}

/// What nothing is called anywhere, of the same form.
fn of_nobody(kitchen: &Names) -> Names {
    let mut names: Names = kitchen
        .iter()
        .map(|(name, value)| (*name, value.replace("zq", "xw").replace("kitchen", "nowhere")))
        .collect();
    names.insert("NUMBER", "291000".to_owned());
    names.insert("DATE", "2026-03-15".to_owned());
    names.insert("WORD", "zafrane".to_owned());
    names.insert("SPACE_ID", "0198aaaa-0000-7000-8000-000000000001".to_owned());
    names.insert("TOKEN_ID", "0198aaaa-0000-7000-8000-000000000002".to_owned());
    names.insert("COOK_ID", "0198aaaa-0000-7000-8000-000000000003".to_owned());
    names.insert("MEM_UUID", "0198aaaa-0000-7000-8000-000000000004".to_owned());
    names.insert("MEM", "mem_0198aaaa000070008000000000000004".to_owned());
    names.insert("DIGEST", "ab".repeat(32));
    names.insert("PREVIOUS", "2026-03-15T10-00-00.000000Z".to_owned());
    names
}

/// What is asked of each route.
fn routes() -> Vec<Question> {
    let none = || Value::Null;
    let mut all = vec![
        q("GET /healthz", "/healthz", none()),
        q("GET /openapi.json", "/openapi.json", none()),
        q("GET /metrics", "/metrics", none()),
        q("GET /memory", "/memory", none()),
        q("GET /v1/context", "/v1/context", none()),
        q("GET /v1/context", "/v1/context?about=$WORD&token_budget=4000", none()),
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
        q("GET /v1/jobs", "/v1/jobs?limit=5&states=failed", none()),
        q("POST /v1/jobs/{job_id}/retry", "/v1/jobs/1/retry", none()),
        q("POST /v1/jobs/{job_id}/retry", "/v1/jobs/$MEM_UUID/retry", none()),
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
            "/v1/memories?pinned=true&author=user&since=2020-01-01&until=2099-01-01&all_spaces=true",
            none(),
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
            json!({ "content": "of garden in a chat", "conversation": "$CHAT", "position": 1, "speaker": "$SPEAKER", "boundary": "hub" }),
        ),
        q(
            "POST /v1/memories",
            "/v1/memories",
            json!({ "content": "of garden with a tag", "tags": ["$TAG"], "boundary": "org" }),
        ),
        q("POST /v1/memories", "/v1/memories", json!({ "content": "of garden for once", "boundary": "hub" }))
            .with("Idempotency-Key", "$ONCE"),
        q("PATCH /v1/memories/{id}", "/v1/memories/2", json!({ "key": "$KEY", "tags": ["$TAG"] })),
        q("POST /v1/memories/batch-delete", "/v1/memories/batch-delete", json!({ "ids": ["$MEM"] })),
        q("POST /v1/memories/batch-delete", "/v1/memories/batch-delete", json!({ "ids": ["$NUMBER"] })),
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
        q("GET /v1/recovery", "/v1/recovery", none()),
        q("GET /v1/recovery", "/v1/recovery?channel=$CHANNEL&assistant=Ada", none()),
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
        q("GET /v1/turns", "/v1/turns?limit=200", none()),
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
        "&explain=true&all_spaces=true",
        "&fusion=rrf&all_spaces=true&explain=true",
        "&lanes=keyword&limit=100&all_spaces=true",
        "&as_of=2099-01-01&asked_at=2099-01-01",
        "&abstain_below=weak&token_budget=4000",
        "&types=preference&kinds=semantic&stabilities=stable&content_types=text",
        "&pinned=true&author=user&since=2020-01-01&until=2099-01-01",
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
        json!({ "fusion": "rrf", "lanes": ["keyword"], "as_of": "2099-01-01", "asked_at": "2099-01-01", "abstain_below": "weak",
            "token_budget": 4000, "all_spaces": true }),
        json!({ "types": ["preference"], "kinds": ["semantic"], "stabilities": ["stable"], "content_types": ["text"],
            "pinned": true, "author": "user", "since": "2020-01-01", "until": "2099-01-01" }),
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
            q("GET /v1/memories/{id}/associations", &at("/associations"), none()),
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
            q("POST /v1/memories/{id}/pin", &at("/pin"), none()),
            q("DELETE /v1/memories/{id}/pin", &at("/pin"), none()),
            q("GET /v1/memories/{id}/related", &at("/related?depth=5"), none()),
            q("POST /v1/memories/{id}/restore", &at("/restore"), none()),
            q("POST /v1/memories/{id}/revert", &at("/revert"), json!({ "version": 1 })),
            q("DELETE /v1/memories/{id}", &at("?soft=true&reason=mine"), none()),
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

/// What is asked of each tool.
fn tools() -> Vec<(&'static str, &'static str, Value)> {
    let mut all = vec![
        ("native", "save", json!({ "memories": [{ "content": "of garden by a tool", "key": "$KEY" }] })),
        (
            "native",
            "save",
            json!({ "memories": [{ "content": "of garden in its stead", "replaces": "$MEM" }] }),
        ),
        (
            "native",
            "save",
            json!({ "memories": [{ "content": "of garden in its stead", "replaces": "#$NUMBER" }] }),
        ),
        ("native", "recall", json!({ "question": "$WORD" })),
        (
            "native",
            "recall",
            json!({ "question": "roses", "tags": ["$TAG"], "types": ["fact"], "limit": 100, "token_budget": 4000, "as_of": "2099-01-01" }),
        ),
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
            json!({ "content": "of garden with all", "assisted_by_agent": "$COOK", "content_type": "text", "kind": "semantic", "stability": "stable", "ttl": 900000 }),
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
        ("groups", "recall_memories", json!({ "query": "roses", "limit": 50 })),
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
            ("native", "update", json!({ "id": id, "content": "taken over", "importance": 1.0, "tags": ["x"], "type": "fact", "valid_until": "2099-01-01" })),
            ("native", "forget", json!({ "id": id, "reason": "mine" })),
            ("native", "forget", json!({ "id": id, "forever": true })),
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
fn mcp(operation: &'static str, path: &str, method: &str, params: &Value) -> Question {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    q(operation, path, body).with("MCP-Protocol-Version", "2025-11-25")
}

fn protocol() -> Vec<Question> {
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

/// Each operation of `/openapi.json`, with its parameters and what its body may have.
fn operations(server: &Server) -> BTreeMap<String, BTreeSet<String>> {
    let document = server.get("/openapi.json").json();
    let resolve = |value: &Value| match value["$ref"].as_str() {
        Some(pointer) => document.pointer(pointer.trim_start_matches('#')).expect("it is there").clone(),
        None => value.clone(),
    };
    let mut all = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            if method == "parameters" {
                continue;
            }
            let mut takes = BTreeSet::new();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = resolve(parameter);
                if parameter["in"] == "query" {
                    takes.insert(text(&parameter["name"]));
                }
            }
            for content in
                operation["requestBody"]["content"].as_object().into_iter().flat_map(|all| all.values())
            {
                let schema = resolve(&content["schema"]);
                takes
                    .extend(schema["properties"].as_object().into_iter().flat_map(|all| all.keys()).cloned());
            }
            all.insert(format!("{} {path}", method.to_uppercase()), takes);
        }
    }
    all
}

/// What of a question's arguments could name something of another group, and so must be in a question.
/// The rest are words of the request's own: contents, times, sizes and choices.
const HARMLESS: [&str; 19] = [
    "title",
    "space",
    "assisted_by_agent",
    "author",
    "content_type",
    "expires_at",
    "importance",
    "kind",
    "occurred_at",
    "pinned",
    "stability",
    "summary",
    "trust",
    "ttl",
    "type",
    "valid_from",
    "valid_until",
    "source_note",
    "memories",
];

#[test]
fn every_operation_and_every_tool_is_known_here() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    let questions = [routes(), protocol()].concat();
    let mut asked: BTreeMap<&str, BTreeSet<String>> =
        BTreeMap::from([("GET /v1/events/stream", BTreeSet::new())]);
    for question in &questions {
        let used = asked.entry(question.operation).or_default();
        let query = question.path.split_once('?').map_or("", |(_, query)| query);
        used.extend(
            query.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, _)| name.to_owned()),
        );
        used.extend(question.body.as_object().into_iter().flat_map(|body| body.keys()).cloned());
    }
    let operations = operations(&server);
    assert_eq!(
        operations.keys().map(String::as_str).collect::<Vec<_>>(),
        asked.keys().copied().collect::<Vec<_>>(),
        "operations of /openapi.json, and those that are asked here"
    );
    for (operation, takes) in &operations {
        let missed: Vec<&String> = takes
            .iter()
            .filter(|name| !asked[operation.as_str()].contains(*name) && !HARMLESS.contains(&name.as_str()))
            .collect();
        assert!(missed.is_empty(), "{operation} takes {missed:?}, which no question uses");
    }
    let mut called: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (dialect, tool, arguments) in tools() {
        let used = called.entry((dialect.to_owned(), tool.to_owned())).or_default();
        used.extend(arguments.as_object().expect("an object").keys().cloned());
    }
    let mut there = BTreeMap::new();
    for dialect in server.get("/v1/dialects").json()["data"].as_array().expect("dialects") {
        let name = text(&dialect["name"]);
        let tools = server.get(&format!("/v1/dialects/{name}/tools")).json()["data"].clone();
        for tool in tools.as_array().or_else(|| tools["tools"].as_array()).expect("tools") {
            let schema = ["inputSchema", "input_schema", "schema", "parameters"]
                .into_iter()
                .find(|key| tool[*key].is_object());
            let schema = &tool[schema.unwrap_or_else(|| panic!("{tool} has no schema"))];
            let takes: BTreeSet<String> =
                schema["properties"].as_object().into_iter().flat_map(|all| all.keys()).cloned().collect();
            there.insert((name.clone(), text(&tool["name"])), takes);
        }
    }
    assert_eq!(called, there, "the arguments of each tool that are used here, and those that there are");
}

/// The answers to all questions, asked four times each.
fn compare(role: &str, questions: &[Question]) {
    let mut kitchen = of_kitchen();
    let (with, without) = (Side::new(role, true, &mut kitchen), Side::new(role, false, &mut BTreeMap::new()));
    let mut nobody = of_nobody(&kitchen);
    // A page of another list is one all the same; there is no other that nobody has.
    nobody.insert("CURSOR", kitchen["CURSOR"].clone());
    let before = of_kitchens(&with);
    let mut faults = Vec::new();
    // What garden adds comes last, so that nothing of it ties with what is looked for.
    let (adding, looking): (Vec<&Question>, Vec<&Question>) =
        questions.iter().partition(|question| question.adds());
    for question in looking.into_iter().chain(adding) {
        let mut found = differences(question, &with, &without, &kitchen, &nobody);
        // How often something was read counts for its place, and is counted a little later: then both sides are even.
        for _ in 0..4 {
            if found.is_empty() || question.adds() || question.method() == "DELETE" {
                break;
            }
            std::thread::sleep(Duration::from_millis(1_500));
            found = differences(question, &with, &without, &kitchen, &nobody);
        }
        faults.extend(found);
    }
    assert_eq!(before, of_kitchens(&with), "what is kitchen's was touched");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// Asks four times, and says what is not the same.
fn differences(
    question: &Question,
    with: &Side,
    without: &Side,
    kitchen: &Names,
    nobody: &Names,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut told = Vec::new();
    for names in [kitchen, nobody] {
        let here = with.answer(question, names, &[kitchen, nobody]);
        let there = without.answer(question, names, &[kitchen, nobody]);
        let (numbered, other) = (numbered(&here.1), numbered(&there.1));
        if (here.0, &numbered) != (there.0, &other) {
            let (one, two) = apart_at(&numbered, &other);
            faults.push(format!(
                "{question:?} for {}\n    where there is a kitchen: {} {one}\n    where there is none:      {} {two}",
                names["SPACE"], here.0, there.0
            ));
        }
        told.push(here);
    }
    let writes = question.method() != "GET" && told[0].0 < 300;
    // What was written by the first of the two is there for the second, which may be known already: 201, then 200.
    let same = if writes {
        told[0].0 / 100 == told[1].0 / 100
    } else {
        let blunt =
            |told: &(u16, String)| (told.0, without_digits(&each_own(&told.1, |_| "‹own›".to_owned())));
        blunt(&told[0]) == blunt(&told[1])
    };
    if !same {
        let (one, two) = apart_at(&told[0].1, &told[1].1);
        let (kitchens, nobodys) = (told[0].0, told[1].0);
        faults.push(format!(
            "{question:?}\n    for kitchen's: {kitchens} {one}\n    for nobody's:  {nobodys} {two}"
        ));
    }
    faults
}

/// Where two texts begin to differ.
fn apart_at(one: &str, two: &str) -> (String, String) {
    let same = one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count().saturating_sub(60);
    let part = |text: &str| text.chars().skip(same).take(240).collect::<String>().replace('\n', "⏎");
    (part(one), part(two))
}

fn without_digits(told: &str) -> String {
    told.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("N")
}

/// All that kitchen sees of its own.
fn of_kitchens(side: &Side) -> Vec<String> {
    let token = side.kitchen.as_ref().expect("a kitchen");
    [
        "/v1/memories?limit=1000&include_archived=true",
        "/v1/files",
        "/v1/long-term",
        "/v1/long-term/history",
        "/v1/journals",
        "/v1/journals/2026-03-14",
        "/v1/conversations",
        "/v1/turns?limit=200",
        "/v1/spaces/zqkitchen/members",
        "/v1/files/zqlist.txt",
        "/v1/files/menus/zqmenu.md",
    ]
    .iter()
    .map(|path| ask(&side.server, token, "GET", path, &Value::Null).to_string())
    .collect()
}

#[test]
fn no_route_tells_a_writer_of_another_group() {
    compare("writer", &routes());
}

#[test]
fn no_tool_tells_a_writer_of_another_group() {
    compare("writer", &protocol());
}

#[test]
fn no_route_tells_an_admin_of_another_group() {
    compare("admin", &routes());
}

#[test]
fn no_tool_tells_an_admin_of_another_group() {
    compare("admin", &protocol());
}

/// To let somebody in takes knowing that they are there; to put somebody out does not.
#[test]
fn an_admin_cannot_tell_who_is_in_another_group() {
    compare(
        "admin",
        &[
            q("DELETE /v1/spaces/{space_id}/members/{name}", "/v1/spaces/garden/members/$COOK", Value::Null),
            q("DELETE /v1/hubs/{space_id}/members/{name}", "/v1/hubs/garden/members/$COOK", Value::Null),
        ],
    );
}

#[test]
fn naming_another_group_as_the_space_of_a_call_is_naming_nothing() {
    let mut questions = Vec::new();
    for question in [routes(), protocol()].concat() {
        // These are of no space, or answer before they look at one.
        if matches!(question.operation, "GET /healthz" | "GET /openapi.json")
            || !question.headers.is_empty() && question.operation == "POST /v1/load"
        {
            continue;
        }
        let more = if question.path.contains('?') { '&' } else { '?' };
        let path = question.path.clone();
        questions.push(question.clone().with("X-Tulving-Space", "$SPACE"));
        questions.push(question.clone().with("X-Hub-ID", "$SPACE_ID"));
        questions.push(Question { path: format!("{path}{more}space=$SPACE"), ..question });
    }
    compare("writer", &questions);
}

#[test]
fn events_tell_nothing_of_another_group() {
    let mut names = of_kitchen();
    let side = Side::new("admin", true, &mut names);
    let mut first: Option<String> = None;
    for round in 0..2 {
        // Where the store began.
        let last = first.as_deref();
        let bearer = format!("Bearer {}", side.garden);
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(last.map(|id| ("Last-Event-ID", id)));
        let mut stream = side.server.connect();
        stream.set_read_timeout(Some(Duration::from_millis(100))).expect("set");
        stream
            .write_all(&request(side.server.address, "GET", "/v1/events/stream", &headers, b""))
            .expect("it reads");
        let kitchen = side.kitchen.as_ref().expect("a kitchen");
        ask(
            &side.server,
            kitchen,
            "POST",
            "/v1/memories",
            &json!({ "content": format!("now {}", secret(50)), "boundary": "hub" }),
        );
        ask(
            &side.server,
            kitchen,
            "POST",
            "/v1/journals",
            &json!({ "content": format!("now {}", secret(51)) }),
        );
        ask(
            &side.server,
            &side.garden,
            "POST",
            "/v1/memories",
            &json!({ "content": format!("mine {round}"), "boundary": "hub" }),
        );
        let (begun, mut told, mut part) = (Instant::now(), Vec::new(), [0; 4096]);
        while begun.elapsed() < Duration::from_secs(2) {
            if let Ok(read) = stream.read(&mut part) {
                told.extend_from_slice(&part[..read]);
            }
        }
        let told = String::from_utf8(told).expect("text");
        assert!(told.contains("event: saved"), "{told}");
        for word in
            [SECRET, "zq", names["SPACE_ID"].as_str(), names["MEM"].as_str(), names["MEM_UUID"].as_str()]
        {
            assert!(!told.contains(word), "after {last:?}: {told}");
        }
        let id = told.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id");
        let digits = id.len() - id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        first = Some(format!("{}1", &id[..id.len() - digits]));
    }
}

/// That the questions ask for what there is: kitchen itself is told.
#[test]
fn kitchen_is_told_of_its_own() {
    let mut names = of_kitchen();
    let side = Side::new("writer", true, &mut names);
    let kitchen = side.kitchen.as_ref().expect("a kitchen");
    let told: BTreeSet<String> = [routes(), protocol()]
        .concat()
        .iter()
        .filter(|question| {
            question.method() == "GET"
                || question.path.contains("recall")
                || question.path.starts_with("/mcp")
        })
        .filter(|question| !question.adds())
        .filter(|question| {
            !question.body["params"]["name"]
                .as_str()
                .is_some_and(|tool| ["forget", "delete", "update"].iter().any(|word| tool.contains(word)))
        })
        .filter(|question| question.ask(&side.server, kitchen, &names).text().contains(SECRET))
        .map(|question| match question.body["params"]["uri"].as_str() {
            Some(uri) => uri.to_owned(),
            None => question.path.clone(),
        })
        .collect();
    for path in [
        "/memory",
        "/v1/context",
        "/v1/context?dialect=maven",
        "/v1/conversations/$CONVERSATION",
        "/v1/conversations/conversation-$CONVERSATION",
        "/v1/files/$FILE",
        "/v1/files/$LIST",
        "/v1/files/$BARE",
        "/v1/files/memory/$DATE.md",
        "/v1/files/conversations/$CONVERSATION.md",
        "/v1/journals?query=$WORD&limit=50",
        "/v1/journals/$DATE",
        "/v1/long-term",
        "/v1/long-term/history/$PREVIOUS",
        "/v1/memories/$MEM",
        "/v1/memories/$MEM_UUID",
        "/v1/memories/$NUMBER",
        "/v1/memories/%23$NUMBER",
        "/v1/memories/$MEM/history",
        "/v1/memories/$MEM/related?depth=5",
        "/v1/memories?key=$KEY",
        "/v1/memories?tags=$TAG",
        "/v1/memories?source_path=$SOURCE",
        "/v1/memories?source_path=$MIRROR",
        "/v1/memories?conversation=$CHAT",
        "/v1/memories?contains=$WORD",
        "/v1/memories?cursor=$CURSOR",
        "/v1/memories/search?q=$WORD",
        "/v1/recall",
        "/v1/recovery",
        "/v1/recovery?channel=$CHANNEL&assistant=Ada",
        "/v1/turns?channel=$CHANNEL",
        "/mcp/native",
        "/mcp/max",
        "/mcp/memax",
        "/mcp/groups",
        "/mcp/maven",
        "/mcp/spacebot",
        "memory://context",
        "memory://$MEM",
        "memory://$NUMBER",
        "memory://files/$FILE",
        "memory://files/memory/$DATE.md",
    ] {
        assert!(told.contains(path), "{path} is not among {told:#?}");
    }
}
