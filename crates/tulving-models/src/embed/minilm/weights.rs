//! Reads the file of weights, which `cargo xtask model` writes; `PROVENANCE.md` in its folder describes the
//! format.
//!
//! The large tables are borrowed from the file, so that reading takes no time and no memory.

/// Number of matrix rows that are stored together in a panel.
pub(super) const PANEL: usize = 16;

const MAGIC: &[u8; 8] = b"tulvbert";
const VERSION: usize = 1;

/// The reason why the file cannot be read.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{what} of the built-in model is damaged")]
pub(super) struct DamagedWeightsError {
    pub(super) what: &'static str,
}

/// A whole model of the BERT family.
#[derive(Debug)]
pub(super) struct BertWeights {
    /// The bytes of each word's embedding.
    pub(super) words: &'static [u8],
    pub(super) word_scales: &'static [[u8; 4]],
    /// The embedding of each position.
    pub(super) places: &'static [[u8; 4]],
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
    pub(super) shape: BertShape,
}

/// The sizes of a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct BertShape {
    pub(super) words: usize,
    pub(super) hidden: usize,
    pub(super) inner: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) places: usize,
}

#[derive(Debug)]
pub(super) struct Layer {
    /// The matrices for query, key and value, one after the other.
    pub(super) look: Linear,
    pub(super) attended: Linear,
    pub(super) attended_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
    pub(super) norm: Norm,
}

/// A matrix of bytes, with the scales and biases that turn them into numbers.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) inputs: usize,
    /// For [`PANEL`] outputs, input after input, a byte of each output.
    pub(super) panels: &'static [[u8; PANEL]],
    pub(super) scales: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

#[derive(Debug)]
pub(super) struct Norm {
    pub(super) gain: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

/// Reads the model in this file.
pub(super) fn read(file: &'static [u8]) -> Result<BertWeights, DamagedWeightsError> {
    let mut rest = WeightsReader(file);
    let shape = rest.shape()?;
    let words = rest.take(shape.words * shape.hidden, "the table of words")?;
    let word_scales = rest.numbers(shape.words, "the scales of the words")?;
    let places = rest.numbers(shape.places * shape.hidden, "the table of places")?;
    let norm = rest.norm(shape.hidden)?;
    let layers = (0..shape.layers).map(|_| rest.layer(shape)).collect::<Result<_, _>>()?;
    if !rest.0.is_empty() {
        return Err(DamagedWeightsError { what: "the end" });
    }
    Ok(BertWeights { words, word_scales, places, norm, layers, shape })
}

/// The unread rest of the file.
struct WeightsReader(&'static [u8]);

impl WeightsReader {
    fn shape(&mut self) -> Result<BertShape, DamagedWeightsError> {
        let damaged = DamagedWeightsError { what: "the head" };
        if self.take(MAGIC.len(), "the head")? != MAGIC {
            return Err(damaged);
        }
        let mut number = || {
            let number = u32::from_le_bytes(self.numbers(1, "the head")?[0]);
            usize::try_from(number).map_err(|_| damaged)
        };
        let version = number()?;
        let shape = BertShape {
            words: number()?,
            hidden: number()?,
            inner: number()?,
            layers: number()?,
            heads: number()?,
            places: number()?,
        };
        let whole = shape.heads > 0 && shape.hidden.is_multiple_of(shape.heads * PANEL);
        if version != VERSION || number()? != PANEL || !whole || !shape.inner.is_multiple_of(PANEL) {
            return Err(damaged);
        }
        Ok(shape)
    }

    fn layer(&mut self, shape: BertShape) -> Result<Layer, DamagedWeightsError> {
        Ok(Layer {
            look: self.linear(shape.hidden, 3 * shape.hidden)?,
            attended: self.linear(shape.hidden, shape.hidden)?,
            attended_norm: self.norm(shape.hidden)?,
            up: self.linear(shape.hidden, shape.inner)?,
            down: self.linear(shape.inner, shape.hidden)?,
            norm: self.norm(shape.hidden)?,
        })
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Result<Linear, DamagedWeightsError> {
        let (panels, _) = self.take(inputs * outputs, "a matrix")?.as_chunks();
        let scales = self.floats(outputs, "the scales of a matrix")?;
        let bias = self.floats(outputs, "the bias of a matrix")?;
        Ok(Linear { inputs, panels, scales, bias })
    }

    fn norm(&mut self, size: usize) -> Result<Norm, DamagedWeightsError> {
        Ok(Norm { gain: self.floats(size, "a norm")?, shift: self.floats(size, "a norm")? })
    }

    fn floats(&mut self, count: usize, what: &'static str) -> Result<Vec<f32>, DamagedWeightsError> {
        Ok(self.numbers(count, what)?.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn numbers(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<&'static [[u8; 4]], DamagedWeightsError> {
        Ok(self.take(count * 4, what)?.as_chunks().0)
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'static [u8], DamagedWeightsError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(DamagedWeightsError { what })?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_or_too_long_is_refused() {
        let whole = super::super::WEIGHTS;
        assert!(read(whole).is_ok());
        for length in [0, 7, 30, 1_000, whole.len() - 1] {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        let longer = [whole, &[0]].concat().leak();
        assert_eq!(read(longer).unwrap_err().to_string(), "the end of the built-in model is damaged");
    }
}
