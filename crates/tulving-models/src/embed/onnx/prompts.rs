//! Reads the prefixes that a model names itself, in `config_sentence_transformers.json`.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::super::TextPrefixes;
use super::{ModelFolderError, read_json};

const FILE: &str = "config_sentence_transformers.json";
/// The names of the prefix of a stored text. The first one that exists is used.
const PASSAGE: [&str; 2] = ["passage", "document"];
const QUERY: &str = "query";

#[derive(Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: Option<HashMap<String, String>>,
}

/// Returns the prefixes that the model in this folder names; they are empty if it names none.
pub fn folder_prompts(folder: &Path) -> Result<TextPrefixes, ModelFolderError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Ok(TextPrefixes::default());
    }
    let prompts = read_json::<PromptsFile>(&path)?.prompts.unwrap_or_default();
    let named = |name: &str| prompts.get(name).cloned();
    Ok(TextPrefixes {
        query: named(QUERY).unwrap_or_default(),
        passage: PASSAGE.into_iter().find_map(named).unwrap_or_default(),
    })
}
