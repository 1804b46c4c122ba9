//! Reads the steps of a model that are not in its network, from `modules.json`.
//!
//! The steps after the network that we do are pooling and normalising. Another step, such as a dense layer, would change
//! the vectors, so a model with it is refused unless its network includes all steps.

use std::path::Path;

use serde::Deserialize;

use super::{ModelFolderError, read_json};

pub(super) const FILE: &str = "modules.json";
const KNOWN: [&str; 3] = ["Transformer", "Pooling", "Normalize"];

#[derive(Deserialize)]
struct ModelStep {
    #[serde(rename = "type")]
    kind: String,
}

/// Returns the name of the first step that is not supported.
pub(super) fn unsupported(folder: &Path) -> Result<Option<String>, ModelFolderError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Ok(None);
    }
    let steps: Vec<ModelStep> = read_json(&path)?;
    let mut names = steps.iter().map(|step| step.kind.rsplit('.').next().unwrap_or(&step.kind));
    Ok(names.find(|name| !KNOWN.contains(name)).map(str::to_owned))
}
