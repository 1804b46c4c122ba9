//! Ten thousand requests of random principals, against a model of who may see what.
//!
//! Each memory contains a unique word. No answer may contain a word that its reader may not see, and a request that names
//! something hidden must be answered like one that names something that never existed: same status, same text, same time.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Server, dashed, request, without_request_id};
use crate::binary::Tulving;

const REQUESTS: usize = 10_000;
const MEMORIES: usize = 150;
const SPACES: [(&str, &str); 4] = [("red", "hub"), ("green", "hub"), ("blue", "group"), ("grey", "group")];

/// A connection that is kept.
struct Line {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Line {
    fn open(server: &Server, token: &str) -> Self {
        let stream = server.connect();
        stream.set_nodelay(true).expect("set");
        Self {
            stream: BufReader::new(stream),
            head: format!("Authorization: Bearer {token}\r\nHost: {}\r\n", server.address),
        }
    }

    fn ask(&mut self, method: &str, path: &str, space: Option<&str>, body: &Value) -> (u16, String) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let space = space.map(|space| format!("X-Hub-ID: {space}\r\n")).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{}{space}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.head,
            body.len()
        );
        self.stream.get_mut().write_all(format!("{head}{body}").as_bytes()).expect("it reads");
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            let read = self
                .stream
                .read_line(&mut line)
                .unwrap_or_else(|error| panic!("{method} {path} {body}: {error}"));
            assert_ne!(read, 0, "{method} {path} {body}: the connection was closed");
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().expect("a status");
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        (status, String::from_utf8(body).expect("text"))
    }
}

/// Somebody with a token.
struct Person {
    line: Line,
    /// The spaces that they belong to; the token leads nowhere else.
    spaces: BTreeSet<usize>,
}

struct Memory {
    id: String,
    word: String,
    owner: usize,
    space: usize,
    boundary: &'static str,
}

fn sees(people: &[Person], who: usize, memory: &Memory) -> bool {
    let person = &people[who];
    // A token reaches only its own spaces, even if its owner may see others.
    person.spaces.contains(&memory.space)
        && match memory.boundary {
            "private" => memory.owner == who,
            _ => true,
        }
}

/// The words of memories in a text.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.starts_with("zq") && word.len() == 10)
        .collect()
}

fn populate(server: &Server, random: &mut fastrand::Rng) -> (Vec<Person>, Vec<Memory>) {
    for (name, kind) in SPACES {
        let body = json!({ "name": name, "kind": kind }).to_string();
        assert_eq!(server.ask("POST", "/v1/spaces", &[], body.as_bytes()).status, 201);
    }
    let mut people = Vec::new();
    for number in 0..6 {
        let mut spaces: BTreeSet<usize> = (0..SPACES.len()).filter(|_| random.bool()).collect();
        spaces.insert(number % SPACES.len());
        let names: Vec<&str> = spaces.iter().map(|space| SPACES[*space].0).collect();
        let body = json!({ "name": format!("agent-{number}"), "spaces": names }).to_string();
        let made = server.ask("POST", "/v1/tokens", &[], body.as_bytes());
        assert_eq!(made.status, 201, "{}", made.text());
        let token = made.json()["data"]["token"].as_str().expect("a token").to_owned();
        people.push(Person { line: Line::open(server, &token), spaces });
    }
    let mut memories = Vec::new();
    for number in 0..MEMORIES {
        let owner = random.usize(..people.len());
        let spaces: Vec<usize> = people[owner].spaces.iter().copied().collect();
        let space = spaces[random.usize(..spaces.len())];
        let widest = if SPACES[space].1 == "group" { 2 } else { 4 };
        let boundary = ["private", "hub", "team", "org"][random.usize(..widest)];
        let word = format!("zq{number:03}{}", (0..5).map(|_| random.lowercase()).collect::<String>());
        // Keys of one space meet where one may not see the other.
        let key = (boundary == "private").then(|| format!("key-{}", random.u8(..4)));
        let mut body =
            json!({ "content": format!("the deploy of {word} goes by make ship"), "boundary": boundary });
        if let Some(key) = key {
            body["key"] = json!(key);
        }
        let (status, text) = people[owner].line.ask("POST", "/v1/memories", Some(SPACES[space].0), &body);
        assert!(status == 201 || status == 200, "{status} {text}");
        let saved: Value = serde_json::from_str(&text).expect("JSON");
        let id = saved["data"]["id"].as_str().expect("an id").to_owned();
        // A key that its owner used before names the same memory, which says something else now.
        memories.retain(|memory: &Memory| memory.id != id);
        memories.push(Memory { id, word, owner, space, boundary });
    }
    (people, memories)
}

#[test]
fn not_one_of_ten_thousand_requests_tells_of_what_is_hidden() {
    let tulving = Tulving::new();
    let server = Server::start_with(&tulving, |command| {
        command.env("TULVING_SERVER_REQUESTS_PER_MINUTE", "0");
    });
    let mut random = fastrand::Rng::with_seed(20_261_116);
    let (mut people, memories) = populate(&server, &mut random);
    let (mut hidden_time, mut absent_time) = (Vec::new(), Vec::new());
    for round in 0..REQUESTS {
        let who = random.usize(..people.len());
        let memory = &memories[random.usize(..memories.len())];
        let visible: BTreeSet<&str> = memories
            .iter()
            .filter(|memory| sees(&people, who, memory))
            .map(|memory| memory.word.as_str())
            .collect();
        let sees_it = sees(&people, who, memory);
        let own: Vec<usize> = people[who].spaces.iter().copied().collect();
        let at = own[random.usize(..own.len())];
        let here = Some(SPACES[at].0);
        let line = &mut people[who].line;
        let check = |text: &str, asked: &str| {
            // What was asked may come back in a refusal.
            let described: Vec<&str> =
                words(text).into_iter().filter(|word| !visible.contains(word) && *word != asked).collect();
            assert!(described.is_empty(), "round {round}: {who} was told {described:?}: {text}");
        };
        match round % 10 {
            0 => {
                let (status, text) =
                    line.ask("GET", "/v1/memories?limit=1000&all_spaces=true", here, &Value::Null);
                assert_eq!((status, words(&text)), (200, visible), "round {round}");
            }
            1 => {
                let body = json!({ "query": format!("how is {} deployed?", memory.word), "all_spaces": true, "limit": 1000 });
                let (status, text) = line.ask("POST", "/v1/recall", here, &body);
                assert_eq!(status, 200, "{text}");
                check(&text, &memory.word);
                assert_eq!(words(&text).contains(memory.word.as_str()), sees_it, "round {round}: {text}");
                let found: Value = serde_json::from_str(&text).expect("JSON");
                assert!(found["data"]["total"].as_u64().expect("a count") <= visible.len() as u64, "{text}");
            }
            2 => {
                let (status, text) = line.ask("GET", "/v1/spaces", None, &Value::Null);
                let named: BTreeSet<usize> = (0..SPACES.len())
                    .filter(|space| text.contains(&format!("\"{}\"", SPACES[*space].0)))
                    .collect();
                assert_eq!((status, &named), (200, &people[who].spaces), "{text}");
                let (name, _) = SPACES[random.usize(..SPACES.len())];
                let line = &mut people[who].line;
                let (status, text) = line.ask("GET", "/v1/memories", Some(name), &Value::Null);
                let (absent, said) = line.ask("GET", "/v1/memories", Some("xyz"), &Value::Null);
                if status != 200 {
                    let texts = [text.replace(name, "xyz"), said].map(|text| without_request_id(&text));
                    assert_eq!((status, &texts[0]), (absent, &texts[1]), "round {round}");
                }
            }
            3 => {
                let tool = json!({ "query": format!("deploy of {}", memory.word), "limit": 100 });
                let (_, text) = line.ask("POST", "/v1/dialects/native/tools/recall", here, &tool);
                check(&text, &memory.word);
                let (_, text) = line.ask(
                    "POST",
                    "/v1/dialects/max/tools/recall",
                    here,
                    &json!({ "keyword": memory.word }),
                );
                check(&text, &memory.word);
            }
            4 => {
                // A key of another user's private memory is free: a save under it creates the caller's own memory.
                let key = format!("free-{}", random.u8(..4));
                let body =
                    json!({ "content": format!("scratch of {who}"), "boundary": "private", "key": key });
                let (status, text) = line.ask("POST", "/v1/memories", here, &body);
                assert!(status == 200 || status == 201, "round {round}: {status} {text}");
                assert!(text.contains(&format!("scratch of {who}")), "round {round}: {text}");
                let (_, text) =
                    line.ask("GET", &format!("/v1/memories?key=key-{}", random.u8(..4)), here, &Value::Null);
                check(&text, "");
            }
            _ if sees_it => {
                let (status, text) =
                    line.ask("GET", &format!("/v1/memories/{}", memory.id), here, &Value::Null);
                assert!(status == 200 && text.contains(&memory.word), "round {round}: {status} {text}");
                check(&text, "");
            }
            _ => {
                let absent = format!("mem_0198{:028x}", random.u128(..) >> 16);
                let (method, rest, body) = [
                    ("GET", "", Value::Null),
                    ("GET", "/history", Value::Null),
                    ("GET", "/related?depth=5", Value::Null),
                    ("GET", "/associations", Value::Null),
                    ("PATCH", "", json!({ "content": "taken over" })),
                    ("PATCH", "", json!({ "boundary": "org", "if_version": 7 })),
                    ("DELETE", "", Value::Null),
                    ("DELETE", "?soft=true", Value::Null),
                    ("POST", "/access", Value::Null),
                    ("POST", "/restore", Value::Null),
                    ("POST", "/archive", Value::Null),
                    ("POST", "/pin", Value::Null),
                    ("POST", "/revert", json!({ "version": 1 })),
                    ("POST", "/associations", json!({ "target": "1" })),
                    ("POST", "/batch-delete", json!({ "ids": [memory.id] })),
                    ("POST", "/batch-move", json!({ "ids": [memory.id], "hub_id": SPACES[at].0 })),
                ][random.usize(..16)]
                .clone();
                let mut ask = |id: &str| {
                    let batch = rest.starts_with("/batch");
                    let path = if batch {
                        format!("/v1/memories{rest}")
                    } else {
                        format!("/v1/memories/{id}{rest}")
                    };
                    let body: Value =
                        serde_json::from_str(&body.to_string().replace(&memory.id, id)).expect("JSON");
                    let begun = Instant::now();
                    let (status, text) = line.ask(method, &path, here, &body);
                    let text = text.replace(id, "THAT").replace(&dashed(id), "THAT");
                    (begun.elapsed(), status, without_request_id(&text))
                };
                // The first of two asks may wait for what the last one left behind.
                let turn = random.bool();
                let (first, second) = if turn { (&memory.id, &absent) } else { (&absent, &memory.id) };
                let (one, two) = (ask(first), ask(second));
                assert_eq!((one.1, &one.2), (two.1, &two.2), "round {round}: {method} {rest}");
                check(&one.2, "");
                let (hidden, nothing) = if turn { (one.0, two.0) } else { (two.0, one.0) };
                hidden_time.push(hidden);
                absent_time.push(nothing);
            }
        }
    }
    // Nothing that was hidden was touched.
    for memory in &memories {
        let (status, text) =
            people[memory.owner].line.ask("GET", &format!("/v1/memories/{}", memory.id), None, &Value::Null);
        let kept: Value = serde_json::from_str(&text).expect("JSON");
        let kept = &kept["data"];
        assert!(status == 200 && text.contains(&memory.word), "{status} {text}");
        assert_eq!(
            (&kept["version"].as_u64().is_some_and(|version| version < 40), &kept["boundary"]),
            (&true, &json!(memory.boundary))
        );
        assert_eq!((&kept["state"], &kept["pinned"]), (&json!("active"), &json!(false)));
    }
    let (hidden, absent) = (median(&mut hidden_time), median(&mut absent_time));
    assert!(hidden_time.len() > 1_000, "{} pairs", hidden_time.len());
    let ratio = hidden.as_secs_f64() / absent.as_secs_f64();
    assert!((0.33..3.0).contains(&ratio), "what is hidden takes {hidden:?}, what is not there {absent:?}");
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn what_a_token_may_not_do_is_refused_in_the_same_words_whatever_there_is() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for answer in ["GET /v1/memories", "GET /v1/spaces", "POST /v1/recall", "GET /nowhere", "GET /v1/tokens"]
    {
        let (method, path) = answer.split_once(' ').expect("two words");
        for token in ["", "tlv_nonsense", "tlv_0000000000000000000000000000000000000000000"] {
            let bearer = format!("Bearer {token}");
            let bytes = request(server.address, method, path, &[("Authorization", bearer.as_str())], b"");
            let code = if path == "/nowhere" { (404, "no_such_address") } else { (401, "bad_token") };
            let answer = server.send(&bytes);
            if path != "/nowhere" && token.is_empty() {
                assert_eq!(answer.status, 401);
                continue;
            }
            answer.assert_problem(code.0, code.1);
        }
    }
}
