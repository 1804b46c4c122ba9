//! Errors in `config.toml`, the environment, tokens and the settings of models.

use std::fs;

use super::run_with;
use crate::binary::{Transcript, Tulving, assert_transcript};

#[test]
fn a_config_that_cannot_be_read_is_named_with_its_line() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    for text in [
        "this is my configuration\n",
        "[server\n",
        "space = team\n",
        "spcae = \"team\"\n",
        "[server]\nport = 7777\n",
        "[server]\ntimeout_seconds = \"60s\"\n",
        "[limits]\ncontent_bytes = \"3MB\"\n",
        "[llm]\nprovider = \"gpt\"\n",
        "[llm]\nkey = \"sk-123\"\n",
        "[tend]\nenabled = \"yes\"\n",
        "[[backends]]\nname = \"notes\"\n",
    ] {
        tulving.write("home/config.toml", text);
        transcript.note(&format!("# config.toml: {}", text.trim_end()), &tulving.run(&["list"]));
    }
    tulving.write("home/config.toml", b"space = \"caf\xe9\"\n");
    transcript.note("# config.toml is not UTF-8", &tulving.run(&["list"]));
    fs::remove_file(tulving.home().join("config.toml")).expect("removed");
    fs::create_dir(tulving.home().join("config.toml")).expect("made");
    transcript.note("# config.toml is a folder", &tulving.run(&["list"]));
    assert_transcript!(transcript);
    assert!(!tulving.home().join("tulving.db").exists(), "nothing was opened");
}

#[test]
fn a_wrong_variable_of_the_environment_is_named() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    for variable in [
        ("TULVING_SPACE", "nowhere"),
        ("TULVING_LIMITS_CONTENT_BYTES", "many"),
        ("TULVING_SERVER_TIMEOUT_SECONDS", "1h"),
        ("TULVING_EMBEDDING_PROVIDER", "on"),
        ("TULVING_LLM_BASE_URL", "localhost"),
    ] {
        run_with(&mut transcript, &tulving, &[variable], &["list"]);
    }
    assert_transcript!(transcript);
}

#[test]
fn a_token_that_does_not_reach_says_so() {
    let tulving = Tulving::new();
    tulving.ok(&["space", "create", "team"]);
    tulving.ok(&["save", "We like tea", "--space", "team"]);
    let made = tulving.json(&["token", "create", "--for", "bot", "--space", "team", "--role", "reader"]);
    let token = made["token"].as_str().expect("a token").to_owned();
    let mut transcript = Transcript::new(&tulving);
    let run = |transcript: &mut Transcript<'_>, token: &str, args: &[&str]| {
        run_with(transcript, &tulving, &[("TULVING_TOKEN", token)], args);
    };
    for args in [
        &["list"][..],
        &["save", "tea", "--space", "team"],
        &["list", "--space", "default"],
        &["token", "create", "--for", "me"],
        &["backup", "create", "all.db"],
        &["doctor"],
    ] {
        run(&mut transcript, &token, args);
    }
    run(&mut transcript, "nonsense", &["list"]);
    run(&mut transcript, "", &["list"]);
    tulving.ok(&["token", "revoke", "bot"]);
    run(&mut transcript, &token, &["list"]);
    run(&mut transcript, &token, &["mcp"]);
    assert_transcript!(transcript);
}

#[test]
fn a_language_model_that_is_not_set_up_says_what_is_missing() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    let (openai, model) = (("TULVING_LLM_PROVIDER", "openai"), ("TULVING_LLM_MODEL", "small"));
    let reached = [("TULVING_LLM_API_KEY", "sk-wrong"), ("TULVING_LLM_BASE_URL", "http://127.0.0.1:1")];
    let tries: [&[(&str, &str)]; 3] = [&[], &[openai], &[openai, model, reached[0], reached[1]]];
    for variables in tries {
        run_with(&mut transcript, &tulving, variables, &["llm", "test"]);
    }
    assert_transcript!(transcript.run(&["consolidate"]));
}

#[test]
fn a_model_for_meanings_that_is_not_there_costs_only_meanings() {
    let tulving = Tulving::new();
    let mut transcript = Transcript::new(&tulving);
    let provider = |name| ("TULVING_EMBEDDING_PROVIDER", name);
    run_with(&mut transcript, &tulving, &[provider("ollama")], &["save", "tea"]);
    run_with(&mut transcript, &tulving, &[provider("folder")], &["recall", "tea"]);
    let nowhere = ("TULVING_EMBEDDING_FOLDER", "/nowhere");
    run_with(&mut transcript, &tulving, &[provider("folder"), nowhere], &["embed"]);
    assert_transcript!(transcript);
}
