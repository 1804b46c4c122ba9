//! `tulving mcp --space`, as docs/mcp.md recommends it, in every dialect and without a token: each tool is called with
//! ids, numbers, keys, hubs, paths and words of another space, and must answer as for something that does not exist.

use serde_json::{Value, json};

use crate::binary::Tulving;
use crate::mcp::{Client, initialize};

/// A word that only the other space contains.
const WORD: &str = "zanzibar";
/// The space of the host, and the other one.
const HERE: &str = "team-notes";
const THERE: &str = "diary";
/// The dialects, as docs/mcp.md lists them.
const DIALECTS: [&str; 6] = ["native", "max", "memax", "groups", "maven", "spacebot"];

/// The names of something, as arguments give them.
struct Names {
    id: String,
    key: String,
    path: String,
    space: String,
    space_id: String,
}

/// A home with a private memory, a journal, a turn and a file in the other space, and their names.
fn home() -> (Tulving, Names) {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", HERE]);
    tulving.ok(&["space", "create", THERE]);
    let text = format!("the password hint is {WORD}");
    let saved = tulving.json(&[
        "save",
        &text,
        "--space",
        THERE,
        "--key",
        "hint",
        "--source-path",
        "notes/hint.md",
        "--boundary",
        "private",
    ]);
    tulving.ok(&["journal", "--note", &format!("went to {WORD}"), "--space", THERE]);
    tulving.ok(&["turn", "log", "user", &format!("book {WORD}"), "--space", THERE]);
    let spaces = tulving.json(&["space", "list"]);
    let there = spaces["spaces"].as_array().expect("a list").iter().find(|space| space["name"] == THERE);
    let names = Names {
        id: saved["id"].as_str().expect("an id").to_owned(),
        key: "hint".to_owned(),
        path: "notes/hint.md".to_owned(),
        space: THERE.to_owned(),
        space_id: there.expect("the space")["id"].as_str().expect("an id").to_owned(),
    };
    (tulving, names)
}

/// The same shapes, and nothing has them.
fn nothing(of: &Names) -> Names {
    let other = |id: &str| {
        let (start, last) = id.split_at(id.len() - 1);
        format!("{start}{}", if last == "1" { "2" } else { "1" })
    };
    Names {
        id: other(&of.id),
        key: "hins".to_owned(),
        path: "notes/hins.md".to_owned(),
        space: "diarz".to_owned(),
        space_id: other(&of.space_id),
    }
}

/// The calls of a tool that name something; `None` for a tool that this test does not know.
fn calls(dialect: &str, tool: &str, names: &Names) -> Option<Vec<Value>> {
    let Names { id, key, path, space, space_id } = names;
    let hubs = [space, space_id];
    Some(match (dialect, tool) {
        ("native", "save") => {
            vec![json!({ "memories": [{ "content": "a note", "key": key, "updates": id }] })]
        }
        ("native", "recall") => {
            vec![json!({ "query": WORD }), json!({ "query": "list all facts" }), json!({ "types": ["fact"] })]
        }
        ("native", "list") => vec![json!({}), json!({ "types": ["fact"], "contains": WORD })],
        ("native", "update") => {
            vec![json!({ "id": id, "content": "other" }), json!({ "id": "#1", "content": "other" })]
        }
        ("native", "done") => vec![json!({ "id": id }), json!({ "id": id, "undo": true })],
        ("native", "forget") => vec![json!({ "id": id, "hard": true }), json!({ "id": id })],
        ("native", "associate") => vec![json!({ "id": id, "target": id })],
        ("native", "context") => vec![json!({ "about": WORD })],
        ("native", "log_turn") => vec![json!({ "role": "user", "content": "hello" })],
        ("native", "archive_conversation") => {
            vec![json!({ "messages": [{ "role": "user", "content": "hello" }], "title": "hello" })]
        }
        ("max", "remember") => vec![json!({ "category": "fact", "content": "a fact" })],
        ("max", "recall") => vec![json!({}), json!({ "keyword": WORD })],
        ("max", "forget") => vec![json!({ "memory_id": 1 })],
        ("memax", "memax_push") => {
            let push = |hub: &String| json!({ "content": "a push", "source_path": path, "hub_id": hub });
            hubs.into_iter().map(push).chain([json!({ "content": "a push", "source_path": path })]).collect()
        }
        ("memax", "memax_recall") => {
            let recall = |hub: &String| json!({ "query": WORD, "hub_id": hub });
            hubs.into_iter().map(recall).chain([json!({ "query": WORD })]).collect()
        }
        ("memax", "memax_get" | "memax_forget") => {
            vec![json!({ "id": id }), json!({ "id": format!("mem_{}", id.replace('-', "")) })]
        }
        ("memax", "memax_list" | "memax_hub_members") => {
            hubs.into_iter().map(|hub| json!({ "hub_id": hub })).collect()
        }
        ("memax", "memax_hubs") => vec![json!({})],
        ("groups", "save_memory") => vec![json!({ "key": key, "content": "mine" })],
        ("groups", "recall_memories") => vec![json!({ "query": WORD }), json!({ "query": key })],
        ("groups", "forget_memory") => vec![json!({ "key": key }), json!({ "key": key })],
        ("groups", "list_memories") => vec![json!({})],
        ("maven", "remember") => vec![json!({ "content": "noted" })],
        ("maven", "memory_search") => vec![json!({ "query": WORD })],
        ("maven", "memory_get") => vec![json!({ "date": "today" })],
        ("spacebot", "memory_save") => {
            vec![
                json!({ "content": "a save", "associations": [{ "target_id": id, "relation_type": "updates" }] }),
            ]
        }
        ("spacebot", "memory_recall") => vec![json!({ "query": WORD }), json!({ "mode": "recent" })],
        ("spacebot", "memory_delete") => vec![json!({ "memory_id": id, "reason": "why not" })],
        _ => return None,
    })
}

/// The answers of a session in the space to all calls with these names, with the names replaced by one word.
fn answers(dialect: &str, flag: &str) -> (Vec<String>, Vec<String>) {
    let described = |hidden: bool| {
        let (tulving, there) = home();
        let names = if hidden { there } else { nothing(&there) };
        let mut client = Client::with(&tulving, &["mcp", "--dialect", dialect, flag, HERE]);
        client.send(initialize("x").to_string().as_bytes());
        client.answer();
        let tools = client.ask("tools/list", &json!({}));
        let mut answers = Vec::new();
        for tool in tools["result"]["tools"].as_array().expect("tools") {
            let name = tool["name"].as_str().expect("a name");
            let calls = calls(dialect, name, &names);
            for arguments in calls.unwrap_or_else(|| panic!("no call of {dialect} {name} is known here")) {
                let answer = client.ask("tools/call", &json!({ "name": name, "arguments": arguments }));
                answers.push(plain(&format!("{name} {arguments} {answer}"), &names));
            }
        }
        for uri in [format!("memory://{}", names.id), format!("memory://files/{}", names.path)] {
            let answer = client.ask("resources/read", &json!({ "uri": uri }));
            answers.push(plain(&answer.to_string(), &names));
        }
        // The memory of the other space is unchanged.
        let there = tulving.json(&["list", "--space", THERE, "--all"]);
        let content = format!("the password hint is {WORD}");
        let kept = there["memories"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|memory| memory["content"] == content);
        assert!(kept.count() == 1 || flag != "--space", "{dialect}: {there}");
        answers
    };
    (described(true), described(false))
}

/// An answer without the names, and without what differs from one run to the next.
fn plain(answer: &str, names: &Names) -> String {
    let bare = names.id.replace('-', "");
    let mut text = answer.to_owned();
    for name in [&names.id, &bare, &names.space_id, &names.space, &names.path, &names.key] {
        text = text.replace(name.as_str(), "…");
    }
    // Ids and times of what this run itself has saved.
    let is_made = |word: &str| word.len() >= 20 && word.bytes().any(|byte| byte.is_ascii_digit());
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    words.map(|word| if is_made(word) { "~" } else { word }).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_space_flag_confines_every_tool_of_every_dialect() {
    for dialect in DIALECTS {
        let (hidden, absent) = answers(dialect, "--space");
        assert!(hidden.len() > 4, "{dialect} was asked {} times", hidden.len());
        for (hidden, absent) in hidden.iter().zip(&absent) {
            assert_eq!(hidden, absent, "{dialect} tells what is hidden from what is not there");
            let (_, answer) = hidden.split_once('~').unwrap_or(("", hidden));
            assert!(!answer.contains("password hint"), "{dialect} shows it: {hidden}");
        }
    }
}

#[test]
fn a_default_space_only_chooses_where_nothing_is_named() {
    let (tulving, there) = home();
    let mut client = Client::with(&tulving, &["mcp", "--dialect", "memax", "--default-space", HERE]);
    client.send(initialize("x").to_string().as_bytes());
    client.answer();
    let mut call = |name: &str, arguments: Value| {
        client.ask("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].clone()
    };
    let pushed = call("memax_push", json!({ "content": "the office has a piano" }));
    assert_ne!(pushed["isError"], true, "{pushed}");
    let listed = call("memax_list", json!({ "hub_id": THERE }));
    assert!(listed.to_string().contains(WORD), "{listed}");
    let got = call("memax_get", json!({ "id": there.id }));
    assert!(got.to_string().contains(WORD), "{got}");
    let here = tulving.json(&["list", "--space", HERE]);
    assert_eq!(here["memories"][0]["content"], "the office has a piano");
}

#[test]
fn the_space_flag_confines_commands_and_the_settings_only_choose() {
    let (tulving, there) = home();
    let absent = tulving.run(&["get", &there.id, "--space", HERE]);
    assert_eq!((absent.code, absent.out.as_str()), (3, ""), "{}", absent.err);
    assert!(absent.err.contains("there is no memory"), "{}", absent.err);
    for command in [&["forget", &there.id, "--hard", "--yes"][..], &["update", &there.id, "--content", "x"]] {
        assert_ne!(tulving.run(&[command, &["--space", HERE]].concat()).code, 0, "{command:?}");
    }
    // The same by the default, a variable and the file, which leave other spaces in reach.
    assert!(tulving.ok(&["get", &there.id, "--default-space", HERE]).contains(WORD));
    let mut command = tulving.command(&["get", &there.id]);
    command.env("TULVING_SPACE", HERE);
    assert!(crate::binary::finish(command, b"").out.contains(WORD));
    tulving.configure(&format!("space = \"{HERE}\"\n"));
    assert!(tulving.ok(&["get", &there.id]).contains(WORD));
    assert!(tulving.ok(&["recall", WORD, "--all-spaces"]).contains(WORD));
    // What contradicts itself is refused, and what is about the whole store is not narrowed silently.
    assert_eq!(tulving.run(&["recall", WORD, "--space", HERE, "--all-spaces"]).code, 2);
    assert_eq!(tulving.run(&["list", "--space", HERE, "--default-space", THERE]).code, 2);
    for command in [&["dump", "all.jsonl"][..], &["usage"], &["jobs"]] {
        let refused = tulving.run(&[command, &["--space", HERE]].concat());
        assert_eq!(refused.code, 2, "{command:?}: {}", refused.err);
        assert!(
            refused.err.contains("works on all spaces and takes no --space"),
            "{command:?}: {}",
            refused.err
        );
    }
    let spaces = tulving.json(&["space", "list", "--space", HERE]);
    assert_eq!(spaces["spaces"].as_array().expect("a list").len(), 1, "{spaces}");
    assert_ne!(tulving.run(&["space", "members", THERE, "--space", HERE]).code, 0);
    // For a token, the answer names its spaces; its creator may be an admin of the org.
    tulving.ok(&["token", "create", "--for", "one", "--space", HERE]);
    tulving.ok(&["--space", HERE, "token", "create", "--for", "two"]);
    tulving.ok(&["token", "create", "--for", "both", "--space", HERE, "--space", THERE]);
    let spaces = |label: &str| {
        let tokens = tulving.json(&["token", "list"])["tokens"].as_array().expect("a list").clone();
        let token = tokens.into_iter().find(|token| token["label"] == label).expect("the token");
        token["space_ids"].as_array().expect("a list").len()
    };
    assert_eq!((spaces("one"), spaces("two"), spaces("both")), (1, 1, 2));
    // A command that names a second space itself reaches that one too.
    tulving.ok(&["move", "1", "--space", THERE, "--to", HERE]);
    assert!(tulving.ok(&["get", &there.id, "--space", HERE]).contains(WORD));
}
