//! Checks a folder with a model before it is used: the files, the tokenizer, and the vectors of a few texts.

use std::path::Path;

use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder as _;

use super::super::FolderConfig;
use super::{LoadedOnnxModel, ModelFolderError, OnnxFolder};

/// A statement, and texts to compare with it.
const STATEMENT: &str = "The meeting was moved to Friday.";
const PARAPHRASE: &str = "The meeting now takes place on Friday.";
const GERMAN: &str = "Die Besprechung wurde auf Freitag verschoben.";
const CHINESE: &str = "会议改到星期五了。";
const UNRELATED: &str = "Marta cannot eat shellfish.";
/// Number of pieces of the longest text that is tried. No section of a memory has more.
const LONG: usize = 512;
/// The largest difference of a length from one.
const ROUNDING: f32 = 1e-3;

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FolderReport {
    /// The id of the model.
    pub model: String,
    /// Number of dimensions of a vector.
    pub dimensions: usize,
    /// The kind of the tokenizer.
    pub tokenizer: &'static str,
    /// The way in which the vectors of pieces become one: `mean`, `cls`, `max`, or `model` if the model does it.
    pub pooling: &'static str,
    /// Maximum number of pieces of a text.
    pub max_length: usize,
    /// Similarities of a statement with other texts.
    pub similarity: FolderSimilarities,
}

/// The cosine similarities of an English statement with other texts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FolderSimilarities {
    /// The same in other words.
    pub paraphrase: f32,
    /// The same in German.
    pub german: f32,
    /// The same in Chinese.
    pub chinese: f32,
    /// An unrelated statement.
    pub unrelated: f32,
}

/// Checks that the model in a folder can be used, by using it.
pub fn check_folder(config: &FolderConfig) -> Result<FolderReport, ModelFolderError> {
    let folder = &config.folder;
    if !folder.is_dir() {
        return Err(ModelFolderError::NotAFolder { folder: folder.clone() });
    }
    let model = OnnxFolder::in_folder(config.clone())?;
    let loaded = model.load()?;
    let vector = loaded.check_length()?;
    let pooling = if loaded.pools_itself()? { "model" } else { loaded.pooling.name() };
    let (max_length, tokenizer) = (loaded.tokenizer.most(), loaded.tokenizer.kind());
    let id = model.hashed_name()?;
    let _ = model.loaded.set(Ok(loaded));
    let path = model.model_file.clone();
    let similarity = similarities(&model).map_err(|error| unsuited(&path, error.to_string()))?;
    Ok(FolderReport { model: id, dimensions: vector.len(), tokenizer, pooling, max_length, similarity })
}

fn unsuited(path: &Path, what: String) -> ModelFolderError {
    ModelFolderError::Unsuited { path: path.to_owned(), what }
}

fn similarities(model: &OnnxFolder) -> Result<FolderSimilarities, ModelError> {
    let question = model.embed_query(STATEMENT)?;
    let others = model.embed(&[PARAPHRASE, GERMAN, CHINESE, UNRELATED])?;
    let mut cosines = others.iter().map(|other| question.iter().zip(other).map(|(one, two)| one * two).sum());
    let mut next = || cosines.next().unwrap_or_default();
    Ok(FolderSimilarities { paraphrase: next(), german: next(), chinese: next(), unrelated: next() })
}

impl LoadedOnnxModel {
    /// Embeds a text of the maximum length, which fails if the model has fewer places than its settings say.
    fn check_length(&self) -> Result<Vec<f32>, ModelFolderError> {
        let long = [STATEMENT, " "].concat().repeat(LONG);
        let mut ids = self.tokenizer.encode(&long);
        ids.truncate(LONG);
        let vector = self.run(&[&ids])?.pop().unwrap_or_default();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if (length - 1.0).abs() > ROUNDING {
            return Err(self.unsuited("its vectors cannot be normalised"));
        }
        Ok(vector)
    }

    /// Returns true if the model returns one vector for a text instead of one for each piece.
    fn pools_itself(&self) -> Result<bool, ModelFolderError> {
        let ids = self.tokenizer.encode(STATEMENT);
        Ok(self.output(&[&ids])?.0.len() == 2)
    }
}
