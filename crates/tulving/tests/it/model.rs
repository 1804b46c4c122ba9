//! `tulving model` through the binary: a model in a folder is checked and added, recall finds memories in another language
//! with it, and a server embeds with it in the background.
//!
//! The model is the one of `tests/multilingual`: English, German and Chinese words for a thing have the same vector.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::{Run, Tulving, WITHOUT_MODEL, contents, finish};
use crate::mcp::{Client, initialize};
use crate::serve::client::Server;

const MODEL: &[u8] = include_bytes!("../multilingual/model.onnx");
const TOKENIZER: &str = include_str!("../multilingual/tokenizer.json");
const BUILT_IN: &str = "all-MiniLM-L6-v2-int8";

const GERMAN: &str = "Das Ausrollen läuft auf dem Rechner im Keller.";
const CHINESE: &str = "会议改到星期五了。";
const MEMORIES: [&str; 7] = [
    "Marta verträgt keine Meeresfrüchte.",
    CHINESE,
    GERMAN,
    "Ada likes pasta with tomatoes",
    "Grace sings in a choir",
    "Peter built a boat",
    "Cats sleep most of the day",
];
/// Questions that share no word with their answer.
const QUESTIONS: [(&str, &str); 3] = [
    ("where does the deployment run?", GERMAN),
    ("is seafood a problem?", MEMORIES[0]),
    ("when is the meeting?", CHINESE),
];

/// A home whose commands embed.
struct EmbeddingHome(Tulving);

impl EmbeddingHome {
    /// Makes a home with the memories, and the folder `multilingual` with the model.
    fn new() -> Self {
        let home = Self(Tulving::new());
        write_model(&home.folder());
        for memory in MEMORIES {
            home.ok(&["save", memory]);
        }
        home
    }

    /// The folder with the model.
    fn folder(&self) -> PathBuf {
        self.0.folder().join("multilingual")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        command.env_remove(WITHOUT_MODEL.0);
        command
    }

    fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args), b"")
    }

    fn ok(&self, args: &[&str]) -> String {
        let run = self.run(args);
        assert_eq!(run.code, 0, "tulving {args:?}: {}", run.err);
        run.out
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["--json"]].concat())).expect("one document")
    }
}

fn write_model(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("model.onnx"), MODEL).expect("a model");
    fs::write(folder.join("tokenizer.json"), TOKENIZER).expect("a tokenizer");
}

/// Adds the model of the folder `multilingual`.
fn add(home: &EmbeddingHome, flags: &[&str]) -> Value {
    let folder = home.folder().display().to_string();
    home.json(&[&["model", "add", &folder], flags].concat())
}

/// The first memory that answers each question.
fn answers(home: &EmbeddingHome) -> Vec<String> {
    let first = |question: &str| {
        let answer = home.json(&["recall", question]);
        assert!(answer.get("missing").is_none(), "{answer}");
        contents(&answer).first().map_or_else(String::new, |content| (*content).to_owned())
    };
    QUESTIONS.map(|(question, _)| first(question)).to_vec()
}

fn right() -> Vec<String> {
    QUESTIONS.map(|(_, answer)| answer.to_owned()).to_vec()
}

fn config(home: &EmbeddingHome) -> String {
    fs::read_to_string(home.0.home().join("config.toml")).unwrap_or_default()
}

fn status(home: &EmbeddingHome) -> Value {
    home.json(&["model"])
}

#[test]
fn a_question_in_english_finds_memories_in_german_and_chinese_once_a_multilingual_model_is_added() {
    let home = EmbeddingHome::new();
    assert_ne!(answers(&home)[0], GERMAN);
    let added = add(&home, &[]);
    assert_eq!(
        (&added["dimensions"], &added["tokenizer"], &added["pooling"]),
        (&json!(768), &json!("Unigram"), &json!("mean"))
    );
    assert_eq!(
        (&added["answers"], &added["waiting"], &added["max_length"]),
        (&json!(BUILT_IN), &json!(7), &json!(512))
    );
    assert_eq!(added["warnings"], json!([]), "{added}");
    home.ok(&["embed"]);
    assert_eq!(answers(&home), right());
    let now = status(&home);
    assert_eq!((&now["answers"], &now["embedded"], &now["next"]), (&added["model"], &json!(7), &Value::Null));
    assert_eq!((&now["set_up"]["provider"], &now["set_up"]["dimensions"]), (&json!("folder"), &json!(768)));
    home.0.assert_healthy();
}

#[test]
fn recall_answers_with_the_old_model_until_the_new_one_has_embedded_everything() {
    let home = EmbeddingHome::new();
    let before = answers(&home);
    // No command embeds anything after its answer.
    let folder = home.folder().display().to_string();
    home.ok(&["model", "add", &folder]);
    let shown = status(&home);
    assert_eq!(shown["answers"], BUILT_IN);
    assert_eq!(before.len(), QUESTIONS.len());
    home.ok(&["embed"]);
    assert_eq!(answers(&home), right());
    // Back to the built-in model: the model in the folder answers until the change is complete.
    let reset = home.json(&["model", "reset"]);
    assert_eq!((&reset["model"], &reset["waiting"]), (&json!(BUILT_IN), &json!(7)));
    let answer = home.json(&["recall", QUESTIONS[0].0]);
    assert_eq!((contents(&answer)[0], answer.get("missing")), (GERMAN, None));
    home.ok(&["embed"]);
    assert_eq!(status(&home)["answers"], BUILT_IN);
    assert_eq!(answers(&home), before);
    home.0.assert_healthy();
}

#[test]
fn the_settings_keep_their_comments_and_prefixes_are_theirs_or_the_models() {
    let home = EmbeddingHome::new();
    home.0.configure(
        "# Ours.\n[embedding]\nprovider = \"built-in\" # for now\n\n[limits]\ncontent_bytes = 5000 # small\n",
    );
    let plain = add(&home, &[]);
    let added = add(&home, &["--query-prefix", "query: ", "--passage-prefix", "passage: "]);
    assert_ne!(plain["model"], added["model"], "the prefixes are part of the id");
    let folder = added["folder"].as_str().expect("a path");
    assert_eq!(
        config(&home),
        format!(
            "# Ours.\n[embedding]\nprovider = \"folder\" # for now\nfolder = \"{folder}\"\nquery_prefix = \"query: \"\n\
             passage_prefix = \"passage: \"\n\n[limits]\ncontent_bytes = 5000 # small\n"
        )
    );
    home.ok(&["embed"]);
    assert_eq!(answers(&home), right());
    let settings = home.json(&["config"]);
    let prefix = settings["settings"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["key"] == "embedding.query_prefix");
    assert_eq!(prefix.expect("a setting")["value"], "query: ");
    let prompts = r#"{"prompts": {"query": "Q: ", "document": "D: "}}"#;
    fs::write(Path::new(folder).join("config_sentence_transformers.json"), prompts).expect("written");
    let added = add(&home, &["--passage-prefix", ""]);
    assert_eq!((&added["query_prefix"], &added["passage_prefix"]), (&json!("Q: "), &json!("")));
    assert!(config(&home).contains("query_prefix = \"Q: \"\npassage_prefix = \"\"\n"), "{}", config(&home));
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_and_changes_nothing() {
    let home = EmbeddingHome::new();
    let folder = home.folder();
    let path = folder.display().to_string();
    let refused = |code: &str, part: &str| {
        let run = home.run(&["model", "add", &path, "--json"]);
        assert_eq!((run.out.as_str(), run.code), ("", 2), "{}", run.err);
        let document: Value = serde_json::from_str(&run.err).expect("one document");
        let error = &document["error"];
        let message = error["message"].as_str().expect("a message");
        assert_eq!(error["code"], code, "{error}");
        assert!(message.contains(part) && message.contains(&path), "{message}");
        assert!(error["hint"].is_string(), "{error}");
    };
    fs::write(folder.join("tokenizer.json"), r#"{"model": {"type": "BPE", "vocab": {}, "merges": []}}"#)
        .unwrap();
    refused("unsupported_model", "BPE");
    fs::remove_file(folder.join("tokenizer.json")).unwrap();
    refused("incomplete_model", "tokenizer.json");
    fs::write(folder.join("tokenizer.json"), TOKENIZER).unwrap();
    fs::write(folder.join("model.onnx"), "no model").unwrap();
    refused("unusable_model", "model.onnx");
    fs::remove_file(folder.join("model.onnx")).unwrap();
    refused("incomplete_model", "model.onnx");
    fs::remove_dir_all(&folder).unwrap();
    refused("not_a_folder", "multilingual");
    assert_eq!(config(&home), "");
    let now = status(&home);
    assert_eq!((&now["answers"], &now["next"], &now["waiting"]), (&json!(BUILT_IN), &Value::Null, &json!(0)));
}

#[test]
fn a_setting_that_the_environment_overrides_is_not_written() {
    let home = EmbeddingHome::new();
    let folder = home.folder().display().to_string();
    // The commands of other tests have this variable.
    let run = home.0.run(&["model", "add", &folder]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(
        run.err.contains("embedding.provider is set by environment TULVING_EMBEDDING_PROVIDER"),
        "{}",
        run.err
    );
    assert_eq!(config(&home), "");
}

#[test]
fn a_server_and_an_mcp_client_take_the_new_model_while_they_run() {
    let home = EmbeddingHome::new();
    let server = Server::start_with(&home.0, |command| {
        command.env_remove(WITHOUT_MODEL.0);
    });
    let mut client = Client::spawn(home.command(&["mcp"]));
    client.send(initialize("tests").to_string().as_bytes());
    client.answer();
    add(&home, &[]);
    let since = Instant::now();
    let recall = |question: &str| server.tool("native", "recall", &json!({ "query": question })).to_string();
    // No other command runs meanwhile, so the server or the client embeds.
    while !recall(QUESTIONS[0].0).contains("Ausrollen") {
        assert!(since.elapsed() < Duration::from_secs(60), "{}", recall(QUESTIONS[0].0));
        std::thread::sleep(Duration::from_millis(200));
    }
    for (question, right) in QUESTIONS {
        let asked = json!({ "name": "recall", "arguments": { "query": question } });
        let answer = client.ask("tools/call", &asked).to_string();
        let word = right.trim_end_matches(['.', '。']);
        assert!(answer.contains(word) && recall(question).contains(word), "{answer}");
    }
    assert_ne!(status(&home)["answers"], BUILT_IN);
    drop(server);
    assert_eq!(answers(&home), right());
}
