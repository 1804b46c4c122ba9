//! The built-in embedder: all-MiniLM-L6-v2. It needs no files and no network.
//!
//! The weights are bytes inside the binary and stay bytes in memory; the product kernel converts them to f32 in
//! registers. So nothing is unpacked at the start, and a query reads 11 MB instead of 42 MB. All calculations use f32.

mod batch;
mod kernel;
mod network;
mod weights;

use std::sync::OnceLock;

use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;

use self::network::Network;
use self::weights::DamagedWeightsError;
use super::wordpiece::WordPiece;

const MODEL: &str = "all-MiniLM-L6-v2-int8";
const WEIGHTS: &[u8] = include_bytes!("../../models/all-minilm-l6-v2/weights.bin");
const VOCABULARY: &str = include_str!("../../models/all-minilm-l6-v2/vocab.txt");

/// all-MiniLM-L6-v2: 384 dimensions, the mean over at most 256 word pieces.
///
/// The model is read on first use, once per process. The vector of a text is always the same to the last bit; it does
/// not depend on the other texts of the call. An empty text has a vector too.
#[derive(Clone, Copy, Debug, Default)]
pub struct MiniLm;

/// The parts of the model that are read once.
struct LoadedMiniLm {
    pieces: WordPiece,
    network: Network,
}

static LOADED: OnceLock<Result<LoadedMiniLm, DamagedWeightsError>> = OnceLock::new();

impl Embedder for MiniLm {
    fn model(&self) -> Result<String, ModelError> {
        Ok(MODEL.to_owned())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let LoadedMiniLm { pieces, network } = LOADED.get_or_init(load).as_ref().map_err(|malformed| {
            ModelError::Failed { model: MODEL.to_owned(), why: malformed.to_string() }
        })?;
        let encoded: Vec<Vec<u32>> = texts.iter().map(|text| pieces.encode(text, network.places())).collect();
        Ok(batch::embed(network, &encoded))
    }
}

fn load() -> Result<LoadedMiniLm, DamagedWeightsError> {
    let network = Network::new(weights::read(WEIGHTS)?);
    let pieces = WordPiece::uncased(VOCABULARY.lines()).filter(|pieces| pieces.len() == network.words());
    let pieces = pieces.ok_or(DamagedWeightsError { what: "the vocabulary" })?;
    Ok(LoadedMiniLm { pieces, network })
}
