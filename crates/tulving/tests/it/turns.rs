//! The log of conversations on the command line.

use crate::binary::Tulving;

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
fn erasing_what_was_noted_of_a_turn_says_that_the_turn_stays() {
    let tulving = Tulving::new();
    for said in ["I prefer Zanzibar tea over coffee", "My wife Anna works at the city library"] {
        tulving.ok(&["turn", "log", "user", said]);
    }
    tulving.ok(&["jobs", "run"]);
    let stays = "which stays in the log of conversations (`tulving turn list`) until 200 newer ones of the space have come";
    let told = tulving.run(&["forget", "1", "--hard"]);
    assert!(told.err.contains(&format!("noted of turn 1, {stays}")), "{}", told.err);
    let told = tulving.run(&["forget", "2", "--hard", "--json"]);
    assert!(told.err.contains(&format!("noted of turn 2, {stays}")), "{}", told.err);
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
