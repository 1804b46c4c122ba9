//! Vectors kept by model and text below the target folder.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;
use tulving_core::text::normalize;

/// An embedder that calls another one only for texts that are not in its cache.
pub(crate) struct Cached {
    inner: Arc<dyn Embedder>,
    known: Mutex<Known>,
}

struct Known {
    vectors: HashMap<[u8; 32], Vec<f32>>,
    file: File,
}

impl Cached {
    pub(crate) fn over(inner: Arc<dyn Embedder>) -> anyhow::Result<Self> {
        let model = inner.model()?.replace(['/', ':', ' '], "_");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vectors");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{model}.bin"));
        let mut bytes = Vec::new();
        if path.exists() {
            File::open(&path)?.read_to_end(&mut bytes)?;
        }
        let (vectors, sound) = parse(&bytes);
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path).context("the cache of vectors")?;
        // Drops a record that a killed run left incomplete at the end.
        file.set_len(sound as u64)?;
        Ok(Self { inner, known: Mutex::new(Known { vectors, file }) })
    }
}

/// Reads records of a hash, a length and that many numbers. Also returns the number of bytes of complete records.
fn parse(bytes: &[u8]) -> (HashMap<[u8; 32], Vec<f32>>, usize) {
    let mut vectors = HashMap::new();
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 36) {
        let key: [u8; 32] = head[..32].try_into().expect("32 bytes");
        let length = u32::from_le_bytes(head[32..].try_into().expect("4 bytes")) as usize;
        let Some(body) = bytes.get(at + 36..at + 36 + 4 * length) else {
            break;
        };
        let numbers = body.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("4 bytes")));
        vectors.insert(key, numbers.collect());
        at += 36 + 4 * length;
    }
    (vectors, at)
}

impl Embedder for Cached {
    fn model(&self) -> Result<String, ModelError> {
        self.inner.model()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| normalize::hash(text).0).collect();
        let new: Vec<usize> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            (0..keys.len()).filter(|at| !known.vectors.contains_key(&keys[*at])).collect()
        };
        let asked: Vec<&str> = new.iter().map(|at| texts[*at]).collect();
        let made = if asked.is_empty() { Vec::new() } else { self.inner.embed(&asked)? };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for (at, vector) in new.into_iter().zip(made) {
            bytes.extend_from_slice(&keys[at]);
            bytes.extend_from_slice(&u32::try_from(vector.len()).unwrap_or(0).to_le_bytes());
            bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
            known.vectors.insert(keys[at], vector);
        }
        known.file.write_all(&bytes).map_err(|error| ModelError::Failed {
            model: "of the evaluation".to_owned(),
            why: format!("the cache of vectors cannot be written: {error}"),
        })?;
        Ok(keys.iter().map(|key| known.vectors[key].clone()).collect())
    }
}
