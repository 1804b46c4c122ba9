//! Conversations that are archived, on the command line.

use std::fs;

use crate::binary::Tulving;

#[test]
fn a_conversation_is_archived_listed_and_shown() {
    let tulving = Tulving::new();
    let lines = b"{\"role\": \"user\", \"content\": \"Fix the JWT expiry bug\"}\n\n{\"role\": \"assistant\", \"content\": \"On it\", \"speaker\": \"Max\"}\n";
    let run = tulving.run_with(&["archive-conversation", "-", "--json"], lines);
    assert_eq!(run.code, 0, "{}", run.err);
    let archived: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let (name, path) =
        (archived["name"].as_str().expect("a name"), archived["path"].as_str().expect("a path"));
    assert!(name.ends_with("-fix-the-jwt-expiry-bug"), "{name}");
    let text = fs::read_to_string(tulving.home().join("workspace").join(path)).expect("a file");
    assert!(
        text.starts_with("# Fix the JWT expiry bug\n") && text.contains("## Assistant: Max\n\nOn it\n"),
        "{text}"
    );
    let shown = tulving.ok(&["conversation", "show", name]);
    assert!(shown.contains("assistant, Max\nOn it\n"), "{shown}");
    let key = archived["key"].as_str().expect("a key");
    assert_eq!(tulving.json(&["conversation", "show", key])["messages"].as_array().map(Vec::len), Some(2));
    let array = br#"[{"role": "user", "content": "Fix the JWT expiry bug"}]"#;
    let run = tulving.run_with(&["archive-conversation", "-"], array);
    assert!(run.out.contains("-fix-the-jwt-expiry-bug-2.md"), "{}", run.out);
    assert_eq!(tulving.json(&["conversation", "list"])["conversations"].as_array().map(Vec::len), Some(2));
    assert!(tulving.ok(&["get", "1"]).contains("The whole conversation (2 messages) is in conversations/"));
}

#[test]
fn without_messages_it_is_what_the_log_has_and_a_wrong_line_is_named() {
    let tulving = Tulving::new();
    tulving.ok(&["turn", "log", "user", "Where are the keys?"]);
    let run = tulving.run(&["archive-conversation"]);
    assert!(run.out.starts_with("Archived 1 message in conversations/"), "{}", run.out);
    assert!(run.err.contains("still in the log"), "{}", run.err);
    let run = tulving.run_with(
        &["archive-conversation", "-"],
        b"{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": 3}\n",
    );
    assert!(run.code == 2 && run.err.contains("line 2"), "{}", run.err);
}

#[test]
fn a_wrong_line_that_came_from_standard_input_is_not_said_to_be_of_a_dash() {
    let tulving = Tulving::new();
    let run = tulving.run_with(&["archive-conversation", "-"], b"{\"role\": 3}\n");
    assert!(run.err.contains("line 1 of standard input: "), "{}", run.err);
}
