//! A folder with a model: how it is read, run and named, and the errors when something is wrong with it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;
use tulving_models::{EmbedderConfig, FolderConfig, TextPrefixes, check_folder, embedder, folder_prompts};

/// The model, with these vectors by id: nothing, 1 0, 0 1, 3 4, -1 0, 0 -2. Made by `make.py` in the same
/// folder.
const MODEL: &[u8] = include_bytes!("../folder/model.onnx");
/// The words in the order of the ids.
const VOCABULARY: &str = "[UNK]\n[CLS]\n[SEP]\nword\nleft\ndown\n";

fn write(folder: &Path, file: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder for the file");
    fs::write(path, content).expect("the file is written");
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "small/model.onnx", MODEL);
    write(folder.path(), "small/vocab.txt", VOCABULARY);
    folder
}

fn open(path: &Path) -> Result<Arc<dyn Embedder>, ModelError> {
    embedder(&EmbedderConfig::Folder(FolderConfig::new(path)))
}

fn opened(folder: &TempDir) -> Arc<dyn Embedder> {
    open(&folder.path().join("small")).expect("the folder of a model")
}

/// Returns the error of embedding with this folder, without the folder's path.
fn refusal(folder: &TempDir) -> String {
    let path = folder.path().join("small");
    let error = match open(&path) {
        Ok(model) => model.embed(&["word"]).expect_err("the folder is not right"),
        Err(error) => error,
    };
    error.to_string().replace(&path.display().to_string(), "DIR")
}

fn close(vector: &[f32], right: [f32; 2]) -> bool {
    vector.len() == 2 && vector.iter().zip(right).all(|(value, right)| (value - right).abs() < 1e-6)
}

#[test]
fn the_mean_of_the_pieces_is_the_vector() {
    let folder = folder();
    let vectors = opened(&folder).embed(&["word", "left", "word word word", "unheard", ""]).unwrap();
    // [CLS] and [SEP] count: 1 0 and 0 1.
    let length = |x: f32, y: f32| x.hypot(y);
    assert!(close(&vectors[0], [4.0 / length(4.0, 5.0), 5.0 / length(4.0, 5.0)]));
    assert!(close(&vectors[1], [0.0, 1.0]));
    assert!(close(&vectors[2], [10.0 / length(10.0, 13.0), 13.0 / length(10.0, 13.0)]));
    assert!(close(&vectors[3], [0.5_f32.sqrt(), 0.5_f32.sqrt()]));
    assert!(close(&vectors[4], [0.5_f32.sqrt(), 0.5_f32.sqrt()]));
}

#[test]
fn many_texts_come_back_in_their_order() {
    let folder = folder();
    let model = opened(&folder);
    let texts: Vec<String> = (0..100).map(|index| format!("{}down", "word ".repeat(index % 7))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let alone = model.embed(&[text]).unwrap();
        assert!(close(vector, [alone[0][0], alone[0][1]]), "{text}");
    }
}

#[test]
fn the_pooling_is_what_the_folder_says() {
    let folder = folder();
    write(folder.path(), "small/1_Pooling/config.json", r#"{"pooling_mode_cls_token": true}"#);
    assert!(close(&opened(&folder).embed(&["word down"]).unwrap()[0], [1.0, 0.0]));
}

#[test]
fn what_is_too_long_is_cut_where_the_folder_says() {
    let folder = folder();
    write(folder.path(), "small/sentence_bert_config.json", r#"{"max_seq_length": 3}"#);
    let vectors = opened(&folder).embed(&["word", "word down down down"]).unwrap();
    assert_eq!(vectors[0], vectors[1]);
}

#[test]
fn its_name_changes_with_what_its_vectors_depend_on() {
    let folder = folder();
    let name = || opened(&folder).model().unwrap();
    let first = name();
    assert!(first.starts_with("small-") && first.len() == "small-".len() + 12, "{first}");
    assert_eq!(name(), first);
    write(folder.path(), "small/1_Pooling/config.json", r#"{"pooling_mode": "cls"}"#);
    assert_ne!(name(), first);
}

#[test]
fn the_layout_of_published_models_is_known() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "small/onnx/model.onnx", MODEL);
    write(folder.path(), "small/vocab.txt", VOCABULARY);
    assert_eq!(opened(&folder).embed(&["word"]).unwrap().len(), 1);
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let folder = folder();
    let small = folder.path().join("small");
    fs::remove_file(small.join("vocab.txt")).unwrap();
    assert_eq!(refusal(&folder), "the model small failed: DIR has no tokenizer.json and no vocab.txt");
    write(&small, "tokenizer.json", "{");
    assert!(refusal(&folder).contains("DIR/tokenizer.json is not the expected JSON"), "{}", refusal(&folder));
    fs::remove_file(small.join("tokenizer.json")).unwrap();
    write(&small, "vocab.txt", "word\n");
    assert_eq!(refusal(&folder), "the model small failed: DIR/vocab.txt: it lacks [CLS], [SEP] or [UNK]");
    write(&small, "vocab.txt", VOCABULARY);
    write(&small, "1_Pooling/config.json", r#"{"pooling_mode": "lasttoken"}"#);
    assert_eq!(
        refusal(&folder),
        "the model small failed: DIR/1_Pooling/config.json: the pooling `lasttoken` is not supported; \
         mean, cls and max are"
    );
    write(&small, "model.onnx", "not a model");
    assert!(refusal(&folder).starts_with("the model small failed: DIR/model.onnx cannot be loaded: "));
    fs::remove_file(small.join("model.onnx")).unwrap();
    assert_eq!(refusal(&folder), "the model small failed: DIR has no model.onnx");
}

#[test]
fn a_configuration_leads_to_it() {
    let folder = folder();
    let config = EmbedderConfig::Folder(FolderConfig::new(folder.path().join("small")));
    assert!(embedder(&config).unwrap().model().unwrap().starts_with("small-"));
    let nowhere = embedder(&EmbedderConfig::Folder(FolderConfig::new(folder.path().join("nowhere"))));
    assert!(nowhere.err().unwrap().to_string().contains("nowhere has no model.onnx"));
}

fn configured(folder: &TempDir, query: &str, passage: &str) -> FolderConfig {
    let prefixes = TextPrefixes { query: query.to_owned(), passage: passage.to_owned() };
    FolderConfig { prefixes, ..FolderConfig::new(folder.path().join("small")) }
}

#[test]
fn prefixes_are_put_before_texts_and_belong_to_the_id() {
    let folder = folder();
    let plain = opened(&folder);
    let prefixed = embedder(&EmbedderConfig::Folder(configured(&folder, "left ", "word "))).unwrap();
    assert_eq!(prefixed.embed(&["down"]).unwrap(), plain.embed(&["word down"]).unwrap());
    assert_eq!(prefixed.embed_query("down").unwrap(), plain.embed(&["left down"]).unwrap()[0]);
    assert_eq!(plain.embed_query("down").unwrap(), plain.embed(&["down"]).unwrap()[0]);
    let (one, other) = (plain.model().unwrap(), prefixed.model().unwrap());
    assert!(other.starts_with(&format!("{one}+")), "{other}");
}

#[test]
fn a_model_that_works_is_described() {
    let folder = folder();
    write(folder.path(), "small/sentence_bert_config.json", r#"{"max_seq_length": 32}"#);
    let report = check_folder(&configured(&folder, "", "")).unwrap();
    assert_eq!(report.model, opened(&folder).model().unwrap());
    assert_eq!(
        (report.dimensions, report.tokenizer, report.pooling, report.max_length),
        (2, "WordPiece", "mean", 32)
    );
    // It knows no word of the texts, so all of them are the same to it.
    assert!(report.similarity.unrelated > 0.99);
}

#[test]
fn a_folder_that_cannot_be_used_has_a_code_and_a_hint() {
    let folder = folder();
    let small = folder.path().join("small");
    let code = || check_folder(&configured(&folder, "", "")).map_or_else(|error| error.code(), |_| "");
    write(
        &small,
        "model.onnx",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 470000000\n",
    );
    assert_eq!(code(), "incomplete_model");
    write(&small, "model.onnx", "damaged");
    assert_eq!(code(), "unusable_model");
    write(&small, "model.onnx", MODEL);
    let bpe = r#"{"model": {"type": "BPE", "vocab": {}, "merges": []}}"#;
    write(&small, "tokenizer.json", bpe);
    assert_eq!(code(), "unsupported_model");
    write(&small, "tokenizer.json", "{}");
    assert_eq!(code(), "invalid_model");
    fs::remove_file(small.join("tokenizer.json")).unwrap();
    write(&small, "modules.json", r#"[{"type": "sentence_transformers.models.Pooling"}]"#);
    assert_eq!(code(), "");
    // With a dense layer that is not in the network, the vectors would be wrong.
    write(&small, "modules.json", r#"[{"type": "sentence_transformers.models.Dense"}]"#);
    assert_eq!(code(), "unsupported_model");
    fs::remove_dir_all(&small).unwrap();
    assert_eq!(code(), "not_a_folder");
}

#[test]
fn the_prefixes_that_a_model_names_are_read() {
    let folder = folder();
    let small = folder.path().join("small");
    assert!(folder_prompts(&small).unwrap().is_empty());
    let file = "config_sentence_transformers.json";
    for (text, query, passage) in [
        (r#"{"__version__": {}}"#, "", ""),
        (r#"{"prompts": null}"#, "", ""),
        (r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#, "query: ", "passage: "),
        (r#"{"prompts": {"query": "Q: ", "document": "", "other": "x"}}"#, "Q: ", ""),
        (r#"{"prompts": {"document": "D: "}}"#, "", "D: "),
    ] {
        write(&small, file, text);
        let prompts = folder_prompts(&small).unwrap();
        assert_eq!((prompts.query.as_str(), prompts.passage.as_str()), (query, passage), "{text}");
    }
    write(&small, file, "{");
    assert!(folder_prompts(&small).is_err());
}
