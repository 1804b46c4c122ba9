//! The two groups, the names of their contents, and the servers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::mask::masked;
use super::question::{Names, Question};
use crate::binary::Tulving;
use crate::serve::client::{Answer, Server, dashed, request};

/// A word that no question contains, so an answer with it must come from kitchen's data.
pub(super) const SECRET: &str = "zqsecret";

pub(super) fn secret(number: usize) -> String {
    format!("{SECRET}{number}")
}

/// A home with garden, and with or without kitchen.
pub(super) struct Side {
    pub(super) _tulving: Tulving,
    pub(super) server: Server,
    pub(super) garden: String,
    pub(super) kitchen: Option<String>,
}

pub(super) fn ok(answer: &Answer) -> Value {
    assert!(matches!(answer.status, 200 | 201), "{} {}", answer.status, answer.text());
    answer.json()["data"].clone()
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// The answer to a request with a token.
pub(super) fn ask(server: &Server, token: &str, method: &str, path: &str, body: &Value) -> Value {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    ok(&server.send(&request(server.address, method, path, &headers, body.as_bytes())))
}

/// Reads the files, so that they become memories. Files read one after the other get ids in the same order on both servers, and
/// ids decide between equal scores. A list reads files only if it names one; otherwise they are read later in the background.
fn look(server: &Server, token: &str) {
    ask(server, token, "GET", "/v1/memories?limit=1&source_path=read-the-files", &Value::Null);
}

impl Side {
    pub(super) fn new(role: &str, with_kitchen: bool, names: &mut Names) -> Self {
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
        }
        Self { _tulving: tulving, server, garden, kitchen }
    }

    /// The answer to a question of garden's, with names masked.
    pub(super) fn answer(&self, question: &Question, asked: &Names, all: &[&Names]) -> (u16, String) {
        let answer = question.ask(&self.server, &self.garden, asked);
        if question.adds() {
            look(&self.server, &self.garden);
        }
        let described = answer.text();
        assert!(!described.contains(SECRET), "{question:?} told {described}");
        let head = ["content-type", "etag", "location", "retry-after", "mcp-session-id"]
            .map(|name| answer.header(name).map(|value| format!("{name}: {value}\n")).unwrap_or_default());
        let described = masked(&format!("{}{described}", head.concat()), all);
        for word in ["zq", "kitchen"] {
            assert!(!described.contains(word), "{question:?} told {described}");
        }
        (answer.status, described)
    }
}

pub(super) fn populate_kitchen(server: &Server, token: &str, names: &mut Names) {
    let today = "2026-03-14";
    let saved = json!({
        "content": format!("saffron is kept in the {}", secret(1)), "key": "zqkey", "title": secret(2),
        "tags": ["zqtag"], "source_path": "zqsource.md", "conversation": "zqchat", "source_note": secret(3),
        "speaker": "zqspeaker", "project": "zqchat", "boundary": "hub", "pinned": true,
    });
    let saved = ask(server, token, "POST", "/v1/memories", &saved);
    let id = text(&saved["id"]);
    names.insert("MEM", id.clone());
    names.insert("MEM_UUID", dashed(&id));
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
    names.insert("PREVIOUS", text(&before["texts"][0]["id"]));
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
    let idle = ask(server, token, "GET", "/v1/quality?kinds=never_recalled&older_than=0", &Value::Null);
    names.insert("PROPOSAL", text(&idle["findings"][0]["proposals"][0]["id"]));
    let turn = json!({ "role": "user", "content": format!("I prefer saffron {} over pepper.", secret(17)) });
    ask(server, token, "POST", "/v1/turns", &turn);
    names.insert("PASS", pass(server, token));
}

/// Waits for the pass that reads the turns, and returns it.
fn pass(server: &Server, token: &str) -> String {
    for _ in 0..600 {
        let passes = ask(server, token, "GET", "/v1/passes", &Value::Null);
        if let Some(id) = passes["passes"][0]["id"].as_str() {
            return id.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the turn was not looked at");
}

/// Fills kitchen with much data of every kind.
pub(super) fn fill_kitchen(server: &Server, token: &str, when: &str) {
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

pub(super) fn populate_garden(server: &Server, token: &str) {
    let saved = json!({ "content": "The roses are watered at six", "key": "roses", "tags": ["shared-tag"],
        "boundary": "hub", "conversation": "chat" });
    let bees = "The bees came early to the roses this year, says the neighbour across the fence";
    let archive = json!({ "title": "Roses", "messages": [{ "role": "user", "content": "Which roses?" }] });
    for (method, path, body) in [
        ("POST", "/v1/memories", saved),
        ("POST", "/v1/memories", json!({ "content": "The hose leaks", "boundary": "hub" })),
        ("PUT", "/v1/files/beds/roses.md", json!({ "content": "# Roses\n\nPrune the roses in March\n" })),
        ("POST", "/v1/journals", json!({ "content": bees })),
        ("PUT", "/v1/long-term", json!({ "content": "Roses first\n" })),
        ("PUT", "/v1/long-term", json!({ "content": "Roses always\n" })),
        ("POST", "/v1/conversations/archive", archive),
        ("POST", "/v1/turns", json!({ "role": "user", "content": "Water the roses" })),
    ] {
        ask(server, token, method, path, &body);
        look(server, token);
    }
}

/// The names in kitchen, except for ids that are known only after the contents are created.
pub(super) fn of_kitchen() -> Names {
    BTreeMap::from([
        ("SPACE", "zqkitchen".to_owned()),
        ("COOK", "zqcook".to_owned()),
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

/// Names of the same form that do not exist anywhere.
pub(super) fn of_nobody(kitchen: &Names) -> Names {
    let mut names: Names = kitchen
        .iter()
        .map(|(name, value)| (*name, value.replace("zq", "xw").replace("kitchen", "nowhere")))
        .collect();
    names.insert("NUMBER", "291000".to_owned());
    names.insert("DATE", "2026-03-15".to_owned());
    names.insert("WORD", "zafrane".to_owned());
    names.insert("SPACE_ID", "0198aaaa-0000-7000-8000-000000000001".to_owned());
    names.insert("TOKEN_ID", "0198aaaa-0000-7000-8000-000000000002".to_owned());
    names.insert("MEM_UUID", "0198aaaa-0000-7000-8000-000000000004".to_owned());
    names.insert("MEM", "mem_0198aaaa000070008000000000000004".to_owned());
    names.insert("PASS", "0198aaaa-0000-7000-8000-000000000005".to_owned());
    names.insert("DIGEST", "ab".repeat(32));
    names.insert("PROPOSAL", "ab".repeat(6));
    names.insert("PREVIOUS", "2026-03-15T10-00-00.000000Z".to_owned());
    names
}
