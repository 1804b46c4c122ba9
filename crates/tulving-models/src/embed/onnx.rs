//! A folder with an ONNX model and its tokenizer, as models are published.
//!
//! The folder contains `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` or `vocab.txt`, and may contain
//! `1_Pooling/config.json`. The model is of the BERT family: it takes ids of word pieces and returns a vector for each. It is
//! loaded on first use.

mod pooling;
mod tokenizer;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rten::{Model, NodeId, RunError, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
use sha2::{Digest, Sha256};
use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;

use self::pooling::Pooling;
use self::tokenizer::Tokenizer;
use super::unit;

/// The possible paths of the model. Published models use the second.
const MODEL_FILES: [&str; 2] = ["model.onnx", "onnx/model.onnx"];
/// The weights of a large model, in the same folder.
const DATA_FILES: [&str; 2] = ["model.onnx_data", "model.onnx.data"];
/// Number of texts of one length in a batch.
const BATCH: usize = 16;
/// Number of bytes of the hash in the id.
const ID_BYTES: usize = 6;

/// A model in a folder.
pub(crate) struct OnnxFolder {
    name: String,
    folder: PathBuf,
    model_file: PathBuf,
    id: OnceLock<Result<String, OnnxFolderError>>,
    loaded: OnceLock<Result<LoadedOnnxModel, OnnxFolderError>>,
}

/// An error of a folder, or of the model in it.
#[derive(Debug, thiserror::Error)]
enum OnnxFolderError {
    #[error("{} has no {what}", folder.display())]
    Missing { folder: PathBuf, what: &'static str },
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not the expected JSON: {source}", path.display())]
    NotJson { path: PathBuf, source: serde_json::Error },
    #[error("{}: {what}", path.display())]
    Unsuited { path: PathBuf, what: String },
    #[error("{} cannot be loaded: {source}", path.display())]
    NotLoaded { path: PathBuf, source: rten::LoadError },
    #[error("{} cannot be run: {source}", path.display())]
    NotRun { path: PathBuf, source: RunError },
}

struct LoadedOnnxModel {
    path: PathBuf,
    model: Model,
    tokenizer: Tokenizer,
    pooling: Pooling,
    inputs: Vec<(NodeId, OnnxInput)>,
    output: NodeId,
}

#[derive(Clone, Copy)]
enum OnnxInput {
    Ids,
    Mask,
    Types,
}

impl OnnxFolder {
    /// Opens the model in this folder. The folder must contain the files of a model.
    pub(crate) fn open(folder: &Path) -> Result<Self, ModelError> {
        let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
        let failed = |what| ModelError::Failed {
            model: name.clone(),
            why: OnnxFolderError::Missing { folder: folder.to_owned(), what }.to_string(),
        };
        let model_file = MODEL_FILES.iter().map(|file| folder.join(file)).find(|path| path.is_file());
        let model_file = model_file.ok_or_else(|| failed("model.onnx"))?;
        if !tokenizer::FILES.iter().any(|file| folder.join(file).is_file()) {
            return Err(failed("tokenizer.json and no vocab.txt"));
        }
        Ok(Self { name, folder: folder.to_owned(), model_file, id: OnceLock::new(), loaded: OnceLock::new() })
    }

    /// The name of the folder with a hash of everything that the vectors depend on.
    fn hashed_name(&self) -> Result<String, OnnxFolderError> {
        let beside = DATA_FILES.iter().map(|file| self.model_file.with_file_name(file));
        let settings = tokenizer::FILES.iter().chain(&tokenizer::SETTINGS).chain(&[pooling::FILE]);
        let mut hash = Sha256::new();
        hash.update(read(&self.model_file)?);
        for path in beside.chain(settings.map(|file| self.folder.join(file))) {
            if path.is_file() {
                hash.update(read(&path)?);
            }
        }
        let hash = hash.finalize();
        let short: String = hash[..ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!("{}-{short}", self.name))
    }

    fn load(&self) -> Result<LoadedOnnxModel, OnnxFolderError> {
        let path = self.model_file.clone();
        let model = Model::load_file(&path)
            .map_err(|source| OnnxFolderError::NotLoaded { path: path.clone(), source })?;
        let tokenizer = Tokenizer::read(&self.folder)?;
        let pooling = Pooling::read(&self.folder)?;
        let inputs = inputs(&model, &path)?;
        let output = output(&model).ok_or_else(|| OnnxFolderError::Unsuited {
            path: path.clone(),
            what: "the model has no output".to_owned(),
        })?;
        Ok(LoadedOnnxModel { path, model, tokenizer, pooling, inputs, output })
    }

    fn failed(&self, error: &OnnxFolderError) -> ModelError {
        ModelError::Failed { model: self.name.clone(), why: error.to_string() }
    }
}

impl Embedder for OnnxFolder {
    fn model(&self) -> Result<String, ModelError> {
        let id = self.id.get_or_init(|| self.hashed_name());
        id.as_ref().cloned().map_err(|error| self.failed(error))
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let loaded = self.loaded.get_or_init(|| self.load()).as_ref();
        let loaded = loaded.map_err(|error| self.failed(error))?;
        loaded.embed(texts).map_err(|error| self.failed(&error))
    }
}

impl LoadedOnnxModel {
    /// Embeds texts of the same length together, so that nothing is padded.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, OnnxFolderError> {
        let encoded: Vec<Vec<u32>> = texts.iter().map(|text| self.tokenizer.encode(text)).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|index| encoded[*index].len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for alike in order.chunk_by(|one, other| encoded[*one].len() == encoded[*other].len()) {
            for batch in alike.chunks(BATCH) {
                let ids: Vec<&[u32]> = batch.iter().map(|index| encoded[*index].as_slice()).collect();
                for (index, vector) in batch.iter().zip(self.run(&ids)?) {
                    vectors[*index] = vector;
                }
            }
        }
        Ok(vectors)
    }

    /// Returns a vector for each text. All texts must have the same number of word pieces.
    fn run(&self, texts: &[&[u32]]) -> Result<Vec<Vec<f32>>, OnnxFolderError> {
        let shape = [texts.len(), texts.first().map_or(0, |text| text.len())];
        let inputs = self.inputs.iter().map(|(node, input)| {
            let values: Vec<i32> = match input {
                OnnxInput::Ids => texts.concat().into_iter().map(u32::cast_signed).collect(),
                OnnxInput::Mask => vec![1; shape[0] * shape[1]],
                OnnxInput::Types => vec![0; shape[0] * shape[1]],
            };
            (*node, ValueOrView::from(NdTensor::from_data(shape, values)))
        });
        let not_run = |source| OnnxFolderError::NotRun { path: self.path.clone(), source };
        let [output] = self.model.run_n(inputs.collect(), [self.output], None).map_err(not_run)?;
        let output: Tensor<f32> = output.try_into().map_err(|_| self.unsuited("its output is not of f32"))?;
        let shape_of_output = output.shape().to_vec();
        let values = output.into_data();
        let vectors: Vec<Vec<f32>> = match shape_of_output[..] {
            [count, pieces, size] if count == shape[0] && pieces == shape[1] && size > 0 => {
                values.chunks_exact(pieces * size).map(|rows| self.pooling.pool(rows, size)).collect()
            }
            // Some models pool themselves.
            [count, size] if count == shape[0] && size > 0 => {
                values.chunks_exact(size).map(<[f32]>::to_vec).collect()
            }
            _ => return Err(self.unsuited("its output has no vector for each text")),
        };
        let units = vectors.into_iter().map(unit).collect::<Option<_>>();
        units.ok_or_else(|| self.unsuited("it gave a vector that cannot be normalised"))
    }

    fn unsuited(&self, what: &str) -> OnnxFolderError {
        OnnxFolderError::Unsuited { path: self.path.clone(), what: what.to_owned() }
    }
}

fn inputs(model: &Model, path: &Path) -> Result<Vec<(NodeId, OnnxInput)>, OnnxFolderError> {
    let unsuited = |what| OnnxFolderError::Unsuited { path: path.to_owned(), what };
    let named = model.input_ids().iter().map(|node| {
        let info = model.node_info(*node);
        match info.as_ref().and_then(rten::NodeInfo::name).unwrap_or_default() {
            "input_ids" => Ok((*node, OnnxInput::Ids)),
            "attention_mask" => Ok((*node, OnnxInput::Mask)),
            "token_type_ids" => Ok((*node, OnnxInput::Types)),
            other => Err(unsuited(format!("the model needs the input `{other}`, which is not supported"))),
        }
    });
    let inputs: Vec<_> = named.collect::<Result<_, _>>()?;
    if inputs.iter().any(|(_, input)| matches!(input, OnnxInput::Ids)) {
        Ok(inputs)
    } else {
        Err(unsuited("the model has no input `input_ids`".to_owned()))
    }
}

/// The output with a vector for each word piece, found by its usual names, or else the first output.
fn output(model: &Model) -> Option<NodeId> {
    let usual = ["last_hidden_state", "token_embeddings"];
    let named = usual.iter().filter_map(|name| model.find_node(name));
    let mut named = named.filter(|node| model.output_ids().contains(node));
    named.next().or_else(|| model.output_ids().first().copied())
}

fn read(path: &Path) -> Result<Vec<u8>, OnnxFolderError> {
    fs::read(path).map_err(|source| OnnxFolderError::Unreadable { path: path.to_owned(), source })
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, OnnxFolderError> {
    serde_json::from_slice(&read(path)?)
        .map_err(|source| OnnxFolderError::NotJson { path: path.to_owned(), source })
}
