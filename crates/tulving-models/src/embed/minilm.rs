//! The embedder that is built in: all-MiniLM-L6-v2, with no file to find and no network.
//!
//! The weights are bytes inside the binary and stay bytes in memory; the product kernel widens them to f32 in registers.
//! So there is nothing to unpack at the start, and a query reads 11 MB instead of 42. The arithmetic is that of f32.

mod batch;
mod kernel;
mod network;
mod weights;

use std::sync::OnceLock;

use tulving_core::error::ModelError;
use tulving_core::ports::Embedder;

use self::network::Network;
use self::weights::Malformed;
use super::wordpiece::WordPiece;

const MODEL: &str = "all-MiniLM-L6-v2-int8";
const WEIGHTS: &[u8] = include_bytes!("../../models/all-minilm-l6-v2/weights.bin");
const VOCABULARY: &str = include_str!("../../models/all-minilm-l6-v2/vocab.txt");

/// all-MiniLM-L6-v2: 384 dimensions, the mean over at most 256 word pieces.
///
/// Read when it is first needed, once in a process. The vector of a text is the same, to the bit, whatever else is embedded with
/// it, and an empty text has one too.
#[derive(Clone, Copy, Debug, Default)]
pub struct MiniLm;

/// What is read once.
struct Loaded {
    pieces: WordPiece,
    network: Network,
}

static LOADED: OnceLock<Result<Loaded, Malformed>> = OnceLock::new();

impl Embedder for MiniLm {
    fn model(&self) -> Result<String, ModelError> {
        Ok(MODEL.to_owned())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let Loaded { pieces, network } = LOADED.get_or_init(load).as_ref().map_err(|malformed| {
            ModelError::Failed { model: MODEL.to_owned(), why: malformed.to_string() }
        })?;
        let encoded: Vec<Vec<u32>> = texts.iter().map(|text| pieces.encode(text, network.places())).collect();
        Ok(batch::embed(network, &encoded))
    }
}

fn load() -> Result<Loaded, Malformed> {
    let network = Network::new(weights::read(WEIGHTS)?);
    let pieces = WordPiece::uncased(VOCABULARY.lines()).filter(|pieces| pieces.len() == network.words());
    let pieces = pieces.ok_or(Malformed { what: "the vocabulary" })?;
    Ok(Loaded { pieces, network })
}
