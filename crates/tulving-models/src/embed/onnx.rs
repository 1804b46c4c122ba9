//! A folder with an ONNX model and its tokenizer, as models are published.
//!
//! The folder contains `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` or `vocab.txt`, and may contain
//! `1_Pooling/config.json`. The model is of the BERT family: it takes ids of word pieces and returns a vector for each. It is
//! loaded on first use.

mod check;
mod error;
mod hash_file;
mod modules;
mod pooling;
mod prompts;
mod tokenizer;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rten::{Model, NodeId, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, Tensor};
use sha2::{Digest, Sha256};
use tulving_core::model::error::ModelError;
use tulving_core::ports::{Embedder, first_vector};

use self::hash_file::HashFile;
use self::pooling::Pooling;
use self::tokenizer::Tokenizer;
use super::{FolderConfig, TextPrefixes, unit};

pub use self::check::{FolderReport, check_folder};
pub use self::error::ModelFolderError;
pub use self::prompts::folder_prompts;

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
    prefixes: TextPrefixes,
    hash_file: HashFile,
    model_file: PathBuf,
    id: OnceLock<Result<String, ModelFolderError>>,
    loaded: OnceLock<Result<LoadedOnnxModel, ModelFolderError>>,
}

struct LoadedOnnxModel {
    path: PathBuf,
    model: Model,
    tokenizer: Tokenizer,
    pooling: Pooling,
    /// A step after the network that is not supported.
    unsupported: Option<String>,
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
    /// Opens the model in a folder. The folder must contain the files of a model.
    pub(crate) fn open(config: FolderConfig) -> Result<Self, ModelError> {
        let name = name_of(&config.folder);
        Self::in_folder(config).map_err(|error| ModelError::Failed { model: name, why: error.to_string() })
    }

    fn in_folder(config: FolderConfig) -> Result<Self, ModelFolderError> {
        let FolderConfig { folder, prefixes, hash_file } = config;
        let missing = |what| ModelFolderError::Missing { folder: folder.clone(), what };
        let model_file = MODEL_FILES.iter().map(|file| folder.join(file)).find(|path| path.is_file());
        let model_file = model_file.ok_or_else(|| missing("model.onnx"))?;
        if !tokenizer::FILES.iter().any(|file| folder.join(file).is_file()) {
            return Err(missing("tokenizer.json and no vocab.txt"));
        }
        Ok(Self {
            name: name_of(&folder),
            prefixes,
            hash_file: HashFile::new(hash_file),
            model_file,
            id: OnceLock::new(),
            loaded: OnceLock::new(),
            folder,
        })
    }

    /// The name of the folder with a hash of everything that the vectors depend on.
    fn hashed_name(&self) -> Result<String, ModelFolderError> {
        let beside = DATA_FILES.iter().map(|file| self.model_file.with_file_name(file));
        let settings = tokenizer::FILES.iter().chain(&tokenizer::SETTINGS).chain(&[pooling::FILE]);
        let others = beside.chain(settings.map(|file| self.folder.join(file))).filter(|path| path.is_file());
        let files: Vec<PathBuf> = std::iter::once(self.model_file.clone()).chain(others).collect();
        let short = self.hash_file.hash(&files, || {
            let mut hash = Sha256::new();
            for path in &files {
                hash.update(read(path)?);
            }
            let hash = hash.finalize();
            Ok(hash[..ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect())
        })?;
        Ok(format!("{}-{short}{}", self.name, self.prefixes.id()))
    }

    fn load(&self) -> Result<LoadedOnnxModel, ModelFolderError> {
        let path = self.model_file.clone();
        error::refuse_pointer(&path)?;
        let model = Model::load_file(&path)
            .map_err(|source| ModelFolderError::NotLoaded { path: path.clone(), source })?;
        let tokenizer = Tokenizer::read(&self.folder)?;
        let pooling = Pooling::read(&self.folder)?;
        let unsupported = modules::unsupported(&self.folder)?;
        let inputs = inputs(&model, &path)?;
        let output = output(&model).ok_or_else(|| ModelFolderError::Unsuited {
            path: path.clone(),
            what: "the model has no output".to_owned(),
        })?;
        Ok(LoadedOnnxModel { path, model, tokenizer, pooling, unsupported, inputs, output })
    }

    fn failed(&self, error: &ModelFolderError) -> ModelError {
        ModelError::Failed { model: self.name.clone(), why: error.to_string() }
    }
}

impl Embedder for OnnxFolder {
    fn model(&self) -> Result<String, ModelError> {
        let id = self.id.get_or_init(|| self.hashed_name());
        id.as_ref().cloned().map_err(|error| self.failed(error))
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.prefixes.with_passages(texts, |texts| self.embed_as_is(texts))
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        first_vector(&self.name, self.embed_as_is(&[&self.prefixes.question(text)])?)
    }
}

impl OnnxFolder {
    /// Embeds texts that have their prefixes.
    fn embed_as_is(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let loaded = self.loaded.get_or_init(|| self.load()).as_ref();
        let loaded = loaded.map_err(|error| self.failed(error))?;
        loaded.embed(texts).map_err(|error| self.failed(&error))
    }
}

impl LoadedOnnxModel {
    /// Embeds texts of the same length together, so that nothing is padded.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelFolderError> {
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
    fn run(&self, texts: &[&[u32]]) -> Result<Vec<Vec<f32>>, ModelFolderError> {
        let (shape, values) = self.output(texts)?;
        if let (3, Some(step)) = (shape.len(), &self.unsupported) {
            let file = modules::FILE;
            return Err(self.unsuited(&format!(
                "{file} names the step {step}, which is supported only inside the network"
            )));
        }
        let vectors: Vec<Vec<f32>> = match shape[..] {
            [_, pieces, size] => {
                values.chunks_exact(pieces * size).map(|rows| self.pooling.pool(rows, size)).collect()
            }
            // Some models pool themselves.
            [_, size] => values.chunks_exact(size).map(<[f32]>::to_vec).collect(),
            _ => Vec::new(),
        };
        let units = vectors.into_iter().map(unit).collect::<Option<_>>();
        units.ok_or_else(|| self.unsuited("it gave a vector that cannot be normalised"))
    }

    /// Runs the model. The result has two or three dimensions: the texts, perhaps the word pieces, and the numbers.
    fn output(&self, texts: &[&[u32]]) -> Result<(Vec<usize>, Vec<f32>), ModelFolderError> {
        let given = [texts.len(), texts.first().map_or(0, |text| text.len())];
        let inputs = self.inputs.iter().map(|(node, input)| {
            let values: Vec<i32> = match input {
                OnnxInput::Ids => texts.concat().into_iter().map(u32::cast_signed).collect(),
                OnnxInput::Mask => vec![1; given[0] * given[1]],
                OnnxInput::Types => vec![0; given[0] * given[1]],
            };
            (*node, ValueOrView::from(NdTensor::from_data(given, values)))
        });
        let not_run = |source| ModelFolderError::NotRun { path: self.path.clone(), source };
        let [output] = self.model.run_n(inputs.collect(), [self.output], None).map_err(not_run)?;
        let output: Tensor<f32> = output.try_into().map_err(|_| self.unsuited("its output is not of f32"))?;
        let shape = output.shape().to_vec();
        let fits = match shape[..] {
            [count, pieces, size] => [count, pieces] == given && size > 0,
            [count, size] => count == given[0] && size > 0,
            _ => false,
        };
        if fits {
            Ok((shape, output.into_data()))
        } else {
            Err(self.unsuited("its output has no vector for each text"))
        }
    }

    fn unsuited(&self, what: &str) -> ModelFolderError {
        ModelFolderError::Unsuited { path: self.path.clone(), what: what.to_owned() }
    }
}

/// The name of a model: that of its folder.
fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

fn inputs(model: &Model, path: &Path) -> Result<Vec<(NodeId, OnnxInput)>, ModelFolderError> {
    let unsuited = |what| ModelFolderError::Unsuited { path: path.to_owned(), what };
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

fn read(path: &Path) -> Result<Vec<u8>, ModelFolderError> {
    fs::read(path).map_err(|source| ModelFolderError::Unreadable { path: path.to_owned(), source })
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, ModelFolderError> {
    error::refuse_pointer(path)?;
    serde_json::from_slice(&read(path)?)
        .map_err(|source| ModelFolderError::NotJson { path: path.to_owned(), source })
}
