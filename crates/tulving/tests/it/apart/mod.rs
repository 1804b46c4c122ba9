//! Two groups, `kitchen` and `garden`, each with its own token, memories, files, journals, `MEMORY.md`, archived
//! conversations and a log. With garden's token, every route and every tool is called with names from kitchen.
//!
//! Each question is asked four times: with a name from kitchen and with a name that does not exist, and both again on a
//! server without kitchen, which otherwise gets the same questions in the same order. All answers must be the same,
//! including status, counts, scores and warnings, except for the name in the question, ids and times.
//!
//! The routes come from `/openapi.json` and the tools from `/v1/dialects`. A route or tool without a question, or a parameter
//! that no question uses, fails the test.

mod mask;
mod question;
mod town;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::mask::{each_own, numbered};
use self::question::{Names, Question, protocol, q, routes, tools};
use self::town::{SECRET, Side, ask, of_kitchen, of_nobody, secret, text};
use crate::binary::Tulving;
use crate::serve::client::{Server, request};

/// Each operation of `/openapi.json`, with its parameters and the fields of its body.
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

/// The arguments that could name something of another group, and so must be in a question. The other arguments are contents,
/// times, sizes and choices.
const HARMLESS: [&str; 22] = [
    "at",
    "states",
    "done",
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

/// Asks four times, and returns the differences.
fn differences(
    question: &Question,
    with: &Side,
    without: &Side,
    kitchen: &Names,
    nobody: &Names,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut described = Vec::new();
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
        described.push(here);
    }
    let writes = question.method() != "GET" && described[0].0 < 300;
    // What was written by the first of the two is there for the second, which may be known already: 201, then 200.
    let same = if writes {
        described[0].0 / 100 == described[1].0 / 100
    } else {
        let blunt = |described: &(u16, String)| {
            (described.0, without_digits(&each_own(&described.1, |_| "‹own›".to_owned())))
        };
        blunt(&described[0]) == blunt(&described[1])
    };
    if !same {
        let (one, two) = apart_at(&described[0].1, &described[1].1);
        let (kitchens, nobodys) = (described[0].0, described[1].0);
        faults.push(format!(
            "{question:?}\n    for kitchen's: {kitchens} {one}\n    for nobody's:  {nobodys} {two}"
        ));
    }
    faults
}

/// The position at which two texts begin to differ.
fn apart_at(one: &str, two: &str) -> (String, String) {
    let same = one.chars().zip(two.chars()).take_while(|(one, two)| one == two).count().saturating_sub(60);
    let part = |text: &str| text.chars().skip(same).take(240).collect::<String>().replace('\n', "⏎");
    (part(one), part(two))
}

fn without_digits(described: &str) -> String {
    described
        .split(|c: char| c.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("N")
}

/// Everything that kitchen sees of its own data.
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

/// Adding a member reveals whether the principal exists; removing a member does not.
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
        let (begun, mut described, mut part) = (Instant::now(), Vec::new(), [0; 4096]);
        while begun.elapsed() < Duration::from_secs(2) {
            if let Ok(read) = stream.read(&mut part) {
                described.extend_from_slice(&part[..read]);
            }
        }
        let described = String::from_utf8(described).expect("text");
        assert!(described.contains("event: saved"), "{described}");
        for word in
            [SECRET, "zq", names["SPACE_ID"].as_str(), names["MEM"].as_str(), names["MEM_UUID"].as_str()]
        {
            assert!(!described.contains(word), "after {last:?}: {described}");
        }
        let id = described.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id");
        let digits = id.len() - id.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        first = Some(format!("{}1", &id[..id.len() - digits]));
    }
}

/// Checks that the questions name existing things: kitchen itself gets answers.
#[test]
fn kitchen_is_told_of_its_own() {
    let mut names = of_kitchen();
    let side = Side::new("writer", true, &mut names);
    let kitchen = side.kitchen.as_ref().expect("a kitchen");
    let described: BTreeSet<String> = [routes(), protocol()]
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
        assert!(described.contains(path), "{path} is not among {described:#?}");
    }
}
