//! The log of conversations on the command line.

use crate::binary::Tulving;
use crate::serve::client::Server;

#[test]
fn turns_are_logged_listed_and_recovered() {
    let tulving = Tulving::new();
    assert_eq!(tulving.ok(&["recover"]), "");
    assert_eq!(
        tulving.ok(&["turn", "log", "user", "Fix the JWT expiry bug", "--source", "telegram"]),
        "Logged turn 1 (user, telegram)\n"
    );
    tulving.ok(&["turn", "log", "assistant", "On it — I'll let you know when auth-fix finishes."]);
    let listed = tulving.ok(&["turn", "list", "--last", "1"]);
    assert!(listed.contains("assistant: On it") && !listed.contains("JWT"), "{listed}");
    let prompt = tulving.ok(&["recover"]);
    assert!(prompt.starts_with("[System: Session recovered]"), "{prompt}");
    assert!(prompt.contains("\n[telegram] User: Fix the JWT expiry bug\nMax: On it"), "{prompt}");
    assert_eq!(tulving.json(&["recover"])["prompt"], prompt);
    assert_eq!(tulving.json(&["turn", "list"])["turns"][0]["role"], "user");
    // They are no memories.
    assert_eq!(tulving.json(&["list"])["memories"].as_array().map(Vec::len), Some(0));
}

#[test]
fn the_list_of_turns_reaches_as_far_as_the_log() {
    let tulving = Tulving::new();
    let server = Server::start(&tulving);
    for n in 1..=249 {
        let turn = serde_json::json!({ "role": "user", "content": format!("line {n}"), "source": "cron" });
        let headers = [("Content-Type", "application/json")];
        assert_eq!(server.ask("POST", "/v1/turns", &headers, turn.to_string().as_bytes()).status, 201);
    }
    let listed = tulving.ok(&["turn", "list", "--last", "249"]);
    assert_eq!(listed.lines().count(), 249);
    assert!(listed.lines().next().is_some_and(|line| line.ends_with("line 1")), "{listed}");
    assert_eq!(tulving.ok(&["turn", "list", "--last", "5000"]), listed, "there are no more than these");
    let page = server.get("/v1/turns?limit=1000").json();
    assert_eq!(page["data"]["turns"].as_array().map(Vec::len), Some(249));
    assert_eq!(page["data"]["earlier"], false);
    let page = server.get("/v1/turns?limit=2&before=4").json();
    let positions: Vec<_> = (0..3).map(|n| page["data"]["turns"][n]["position"].as_u64()).collect();
    assert_eq!((positions, &page["data"]["earlier"]), (vec![Some(2), Some(3), None], &true.into()));
    server.get("/v1/turns?before=0").assert_problem(400, "out_of_range");
    for last in ["0", "-1", "1000001"] {
        assert!(tulving.run(&["turn", "list", "--last", last]).err.contains("1000000"), "{last}");
    }
}

#[test]
fn a_list_of_long_turns_is_not_cut_where_one_page_of_it_ends() {
    let tulving = Tulving::new();
    let long = "word ".repeat(300_000);
    for n in 1..=4 {
        let said = format!("{n} {long}");
        let run = tulving.run_with(&["turn", "log", "user", "-", "--source", "cron"], said.as_bytes());
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let listed = tulving.json(&["turn", "list"]);
    let turns = listed["turns"].as_array().expect("a list");
    assert_eq!(
        turns.iter().map(|turn| turn["position"].as_u64()).collect::<Vec<_>>(),
        [1, 2, 3, 4].map(Some)
    );
}

#[test]
fn erasing_what_was_noted_of_a_turn_says_that_the_turn_stays() {
    let tulving = Tulving::new();
    for said in ["I prefer Zanzibar tea over coffee", "My wife Anna works at the city library"] {
        tulving.ok(&["turn", "log", "user", said]);
    }
    tulving.ok(&["jobs", "run"]);
    let stays =
        "which stays in the log of conversations (`tulving turn list`) until the space has 200 newer turns";
    let described = tulving.run(&["forget", "1", "--hard"]);
    assert!(described.err.contains(&format!("came from turn 1, {stays}")), "{}", described.err);
    let described = tulving.run(&["forget", "2", "--hard", "--json"]);
    assert!(described.err.contains(&format!("came from turn 2, {stays}")), "{}", described.err);
    assert!(tulving.ok(&["turn", "list"]).contains("Zanzibar"), "so it is");
}

#[test]
fn memories_are_printed_by_category() {
    let tulving = Tulving::new();
    for (content, kind) in [("Likes tea", "preference"), ("Ship on Monday", "todo"), ("Uses pnpm", "project")]
    {
        tulving.ok(&["save", content, "--type", kind]);
    }
    let printed = tulving.ok(&["memory"]);
    let places: Vec<usize> = ["preference\n", "Likes tea", "\nproject\n", "Ship on Monday", "Uses pnpm"]
        .iter()
        .map(|text| printed.find(text).expect("printed"))
        .collect();
    assert!(places.is_sorted(), "{printed}");
    let document = tulving.json(&["memory"]);
    assert_eq!(document["memories"]["project"].as_array().map(Vec::len), Some(2), "{document}");
}
