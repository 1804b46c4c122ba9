//! Writes the tensors of the original in the file format that `tulving-models` reads.
//!
//! The tensors have the order in which `crates/tulving-models/src/embed/minilm/weights.rs` reads them.

use anyhow::{Context, Result, ensure};
use safetensors::{Dtype, SafeTensors};

use super::quantise;

const MAGIC: &[u8; 8] = b"tulvbert";
const VERSION: u32 = 1;
const WORDS: usize = 30_522;
const HIDDEN: usize = 384;
const INNER: usize = 1_536;
const LAYERS: usize = 6;
const HEADS: usize = 12;
/// The model has 512 positions and was trained on 256. Only those 256 are used.
const PLACES: usize = 256;
/// Rows of a matrix that are stored together, so that one load gives the kernel a number of each.
const PANEL: usize = 16;

/// The whole file.
pub(super) fn pack(safetensors: &[u8]) -> Result<Vec<u8>> {
    let tensors = Tensors(SafeTensors::deserialize(safetensors)?);
    let mut file = MAGIC.to_vec();
    for number in [VERSION as usize, WORDS, HIDDEN, INNER, LAYERS, HEADS, PLACES, PANEL] {
        file.extend(u32::try_from(number)?.to_le_bytes());
    }
    embeddings(&tensors, &mut file)?;
    for layer in 0..LAYERS {
        encode(&tensors, &format!("encoder.layer.{layer}"), &mut file)?;
    }
    Ok(file)
}

fn embeddings(tensors: &Tensors<'_>, file: &mut Vec<u8>) -> Result<()> {
    let words = tensors.get("embeddings.word_embeddings.weight", &[WORDS, HIDDEN])?;
    let quantised = quantise::rows(&words, HIDDEN);
    file.extend(quantised.bytes.iter().map(|byte| byte.cast_unsigned()));
    floats(&quantised.scales, file);
    // Every text has the first token type, so its embedding is the same in all positions and is added
    // here once.
    let places = tensors.get("embeddings.position_embeddings.weight", &[512, HIDDEN])?;
    let types = tensors.get("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
    let summed: Vec<f32> = places[..PLACES * HIDDEN]
        .iter()
        .zip(types[..HIDDEN].iter().cycle())
        .map(|(place, first_type)| place + first_type)
        .collect();
    floats(&summed, file);
    norm(tensors, "embeddings", file)
}

fn encode(tensors: &Tensors<'_>, layer: &str, file: &mut Vec<u8>) -> Result<()> {
    let parts = ["query", "key", "value"].map(|part| format!("{layer}.attention.self.{part}"));
    linear(tensors, &parts, HIDDEN, HIDDEN, file)?;
    linear(tensors, &[format!("{layer}.attention.output.dense")], HIDDEN, HIDDEN, file)?;
    norm(tensors, &format!("{layer}.attention.output"), file)?;
    linear(tensors, &[format!("{layer}.intermediate.dense")], INNER, HIDDEN, file)?;
    linear(tensors, &[format!("{layer}.output.dense")], HIDDEN, INNER, file)?;
    norm(tensors, &format!("{layer}.output"), file)
}

/// Matrices of the same shape, one below the other: bytes in panels, with a scale and a bias for each
/// row.
fn linear(
    tensors: &Tensors<'_>,
    names: &[String],
    outputs: usize,
    inputs: usize,
    file: &mut Vec<u8>,
) -> Result<()> {
    let mut matrix = Vec::new();
    let mut bias = Vec::new();
    for name in names {
        matrix.extend(tensors.get(&format!("{name}.weight"), &[outputs, inputs])?);
        bias.extend(tensors.get(&format!("{name}.bias"), &[outputs])?);
    }
    let quantised = quantise::rows(&matrix, inputs);
    file.extend(quantised.panels(PANEL));
    floats(&quantised.scales, file);
    floats(&bias, file);
    Ok(())
}

fn norm(tensors: &Tensors<'_>, name: &str, file: &mut Vec<u8>) -> Result<()> {
    floats(&tensors.get(&format!("{name}.LayerNorm.weight"), &[HIDDEN])?, file);
    floats(&tensors.get(&format!("{name}.LayerNorm.bias"), &[HIDDEN])?, file);
    Ok(())
}

fn floats(values: &[f32], file: &mut Vec<u8>) {
    file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

struct Tensors<'a>(SafeTensors<'a>);

impl Tensors<'_> {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let tensor = self.0.tensor(name).with_context(|| format!("the tensor {name}"))?;
        ensure!(tensor.dtype() == Dtype::F32, "{name} is not of f32");
        ensure!(
            tensor.shape() == shape,
            "{name} has the shape {:?} and should have {shape:?}",
            tensor.shape()
        );
        let (numbers, _) = tensor.data().as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}
