//! Output that depends on the owner of the token: settings, check-up, audit, and commands that everybody may run.

use crate::binary::{Tulving, finish};

#[test]
fn config_shows_the_space_of_a_confined_token() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team-a"]);
    let token = tulving.ok(&["token", "create", "--for", "bot", "--space", "team-a"]);
    let space = |token: &str, args: &[&str]| {
        let mut command = tulving.command(&[&["config", "--json"], args].concat());
        command.env("TULVING_TOKEN", token.trim());
        let run = finish(command, b"");
        assert_eq!(run.code, 0, "{}", run.err);
        let document: serde_json::Value = serde_json::from_str(&run.out).expect("a document");
        let settings = document["settings"].as_array().expect("a list");
        let space = settings.iter().find(|setting| setting["key"] == "space").expect("a space").clone();
        (space["value"].clone(), space["source"]["from"].clone(), run.err)
    };
    assert_eq!(space(&token, &[]), ("team-a".into(), "token".into(), String::new()));
    assert_eq!(space(&token, &["--space", "team-a"]), ("team-a".into(), "flag".into(), String::new()));
    let (value, source, said) = space("tlv_made_up", &[]);
    assert_eq!((value, source), ("default".into(), "default".into()));
    assert!(said.contains("the token is not valid"), "{said}");
}

#[test]
fn doctor_is_for_admins_of_the_org() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "one"]);
    let token = tulving.ok(&["token", "create", "--for", "bot", "--role", "admin"]);
    let own = std::fs::read_to_string(tulving.home().join("api-token")).expect("a token");
    let code = |token: &str, args: &[&str]| {
        let mut command = tulving.command(args);
        command.env("TULVING_TOKEN", token.trim());
        let run = finish(command, b"");
        (run.code, run.out.is_empty())
    };
    assert_eq!(code(&own, &["doctor"]), (0, false));
    assert_eq!(code("tlv_made_up", &["doctor"]), (8, true));
    assert_eq!(code("", &["doctor"]), (8, true));
    assert_eq!(code(&token, &["doctor"]), (8, true));
    assert_eq!(code("tlv_made_up", &["doctor", "--home", "nowhere"]), (8, true));
    assert!(!tulving.folder().join("nowhere").exists());
}

#[test]
fn the_audit_of_one_space_is_of_that_space() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["space", "create", "team-b"]);
    let acts = |args: &[&str]| tulving.json(args)["entries"].as_array().expect("a list").len();
    let all = acts(&["audit"]);
    assert_eq!(acts(&["audit", "--space", "team-a"]), 1);
    assert!(all > 2, "{all} entries");
    assert_eq!(tulving.run(&["audit", "--space", "nowhere"]).code, 3);
    let mut command = tulving.command(&["audit", "--json"]);
    command.env("TULVING_SPACE", "team-a");
    let run = finish(command, b"");
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("a document");
    assert_eq!(document["entries"].as_array().map(Vec::len), Some(all));
}

#[test]
fn what_is_for_the_org_is_shown_with_the_start_of_its_space() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team-a"]);
    tulving.ok(&["save", "For everybody", "--space", "team-a", "--boundary", "org"]);
    let space =
        tulving.json(&["get", "1", "--space", "team-a"])["hub_id"].as_str().expect("an id").to_owned();
    let token = tulving.ok(&["token", "create", "--for", "bot", "--role", "reader"]);
    let mut command = tulving.command(&["list", "--all-spaces"]);
    command.env("TULVING_TOKEN", token.trim());
    let run = finish(command, b"");
    assert!(run.out.starts_with(&format!("{}… #1  fact", &space[..13])), "{}{}", run.out, run.err);
    let mut command = tulving.command(&["list", "--all-spaces", "--json"]);
    command.env("TULVING_TOKEN", token.trim());
    let run = finish(command, b"");
    assert!(run.out.contains("For everybody") && !run.out.contains("team-a"), "{}", run.out);
}
