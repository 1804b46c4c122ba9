//! Commands, flags, ids and times as other tools have them, or as nobody has.

use crate::binary::{Transcript, Tulving, assert_transcript};

/// Runs each on one home.
fn transcribed<'a>(tulving: &'a Tulving, lines: &[&[&str]]) -> Transcript<'a> {
    let mut transcript = Transcript::new(tulving);
    for line in lines {
        transcript.run(line);
    }
    transcript
}

#[test]
fn commands_of_other_tools_lead_to_ours() {
    let tulving = Tulving::new();
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["what is my favourite tea?"],
            &["what", "do", "I", "drink"],
            &["search", "tea"],
            &["find", "tea"],
            &["add", "I like tea"],
            &["delete", "1"],
            &["ls"],
            &["show", "1"],
            &["export"],
            &["status"],
            &["init"],
            &["login"],
            &["server"],
            &["version"],
            &["use", "team"],
            &["recal", "tea"],
            &["space", "delete", "team"],
            &["config", "set", "space", "team"],
            &["backup", "make"],
            &["help", "search"],
        ],
    ));
}

#[test]
fn flags_of_other_tools_lead_to_ours() {
    let tulving = Tulving::new();
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["-v"],
            &["--verbose", "list"],
            &["--db", "memories.db", "list"],
            &["save", "--content", "I like tea"],
            &["save", "I like tea", "--tags", "drink"],
            &["save", "I like tea", "-t", "fact"],
            &["save", "--file", "tea.md"],
            &["recall", "tea", "--top-k", "3"],
            &["serve", "--port", "8080"],
            &["import", "--from", "mem0", "memories.json"],
            &["journal", "add", "hello"],
            &["token", "create", "claude"],
            &["list", "5"],
            &["turn", "log", "user"],
            &["move", "1", "team"],
            &["revert", "1", "first"],
        ],
    ));
}

#[test]
fn quotes_that_were_forgotten_do_no_harm() {
    let tulving = Tulving::new();
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["save", "I", "like", "tea"],
            &["save", "I like tea"],
            &["recall", "what", "do", "I", "like"],
            &["save", "x"],
        ],
    ));
}

#[test]
fn ids_that_name_nothing_are_told_from_those_that_are_none() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "I like tea"]);
    tulving.ok(&["save", "I like coffee"]);
    tulving.ok(&["forget", "2"]);
    tulving.ok(&["space", "create", "team"]);
    tulving.ok(&["save", "We like cake", "--space", "team"]);
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["get"],
            &["get", "#abc"],
            &["get", "0"],
            &["get", "-1"],
            &["get", "1.5"],
            &["get", ""],
            &["get", "99999999999999999999"],
            &["get", "mem_xxx"],
            &["get", "mem_a1b2c3d4"],
            &["forget", "mem_a1b2c3d4"],
            &["get", "0192f0c1"],
            &["get", "00000000-0000-7000-8000-00000000abcd"],
            &["get", "2"],
            &["update", "2", "I like espresso"],
            &["get", "1", "--space", "team"],
            &["get", "3"],
            &["get", "1", "2"],
            &["undo", "1"],
            &["undo", "0192f0c1-a2b3-7cde-8f00-112233445566"],
            &["jobs", "retry", "0192f0c1-a2b3-7cde-8f00-112233445566"],
            &["attachment", "1"],
            &["conversation", "show", "yesterday"],
            &["file", "read", "../config.toml"],
        ],
    ));
}

#[test]
fn times_that_cannot_be_are_named() {
    let tulving = Tulving::new();
    tulving.ok(&["save", "I like tea"]);
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["list", "--since", "soon"],
            &["list", "--since", "last week"],
            &["list", "--since", "2026-13-01"],
            &["list", "--since", "2026-05-02", "--until", "2026-05-01"],
            &["recall", "tea", "--since", "2026-05-01", "--until", "2026-05-01"],
            &["forget", "--where", "since=2026-05-02", "--where", "until=2026-05-01", "--yes"],
            &["journal", "2026-02-30"],
            &["save", "It was free until 2020", "--expires-at", "2020-01-01"],
        ],
    ));
}

#[test]
fn spaces_that_are_not_there_or_there_already_are_named() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team"]);
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["save", "I like tea", "--space", "nowhere"],
            &["space", "create", "team"],
            &["space", "create", "default"],
            &["space", "create", "My Team"],
            &["space", "create", ""],
            &["space", "add-member", "team", "bob"],
            &["space", "add-member", "team", "bob", "--role", "boss"],
            &["space", "remove-member", "team", "user"],
        ],
    ));
}

#[test]
fn tools_and_their_arguments_are_named_with_those_that_there_are() {
    let tulving = Tulving::new();
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["tool"],
            &["tool", "klingon"],
            &["tool", "Max", "remember"],
            &["tool", "max", "remeber", "{}"],
            &["tool", "max", "remember"],
            &["tool", "max", "remember", "{\"content\": \"I like tea\"}"],
            &["tool", "max", "remember", "{\"category\": \"drinks\", \"content\": \"I like tea\"}"],
            &[
                "tool",
                "max",
                "remember",
                "{\"category\": \"fact\", \"content\": \"I like tea\", \"colour\": 1}"
            ],
            &["tool", "max", "remember", "{\"category\": \"fact\", \"content\": 5}"],
            &["tool", "max", "remember", "content=tea"],
            &["tool", "max", "remember", "[]"],
            &["tool", "native", "save", "{\"content\": \"I like tea\"}"],
            &["context", "--dialect", "klingon"],
        ],
    ));
}

#[test]
fn programs_are_told_the_same_as_people() {
    let tulving = Tulving::new();
    assert_transcript!(transcribed(
        &tulving,
        &[
            &["search", "tea", "--json"],
            &["list", "--limit", "0", "--json"],
            &["get", "99", "--json"],
            &["save", " ", "--json"],
            &["space", "create", "default", "--json"],
        ],
    ));
}
